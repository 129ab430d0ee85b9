/* Writes what loops_kernel.h has found out about a kernel as loops over the threads of a block. */
#ifndef CUCC_LOOPS_WRITE_H
#define CUCC_LOOPS_WRITE_H

#include "loops_expand.h"
#include "loops_kernel.h"

namespace loops
{
static bool names_in(const std::string &text, const std::string &name)
{
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        bool begins = at == 0 || !is_name_char(text[at - 1]);
        bool ends = at + name.size() >= text.size() || !is_name_char(text[at + name.size()]);
        if (begins && ends) return true;
    }
    return false;
}

/* The rewritten text, on one line. AFFINE: an int that is computed of sums and products. Its operands may
 * be ints instead of unsigned: as long as it is not negative it is the same, and the compiler sees that
 * neighbours in memory are neighbours. */
static std::string copy(long begin, long end, bool affine = false)
{
    std::string all;
    for (long i = begin; i < end; i++) {
        const token &t = tokens[(size_t)i];
        bool lines = t.kind == blank && t.text.find_first_of("#\n") != t.text.npos;
        if (affine && is_builtin(i) && !is_member(i)) all += "(int)";
        all += lines ? " " : t.text;
    }
    return all + " ";
}

struct writer : kernel {
    std::string arrays, out;
    std::vector<std::string> guards;       /* what a thread must fulfil to do a loop's body */
    std::vector<accesses> interval;        /* of the loops since the last barrier */
    std::set<std::string> kept;            /* variables that have a place between loops */
    int depth = 0;                         /* of braces */
    int around = 0;                        /* loops around what is written */
    int branches = 0;                      /* that not all threads take */
    long branch_end = 0;                   /* of the outermost of them; 0 if it comes again */
    int exits = 0;                         /* of the guards, those of threads that have returned */
    std::vector<const stride *> active;    /* strides around what is written */
    std::vector<const statement *> scopes; /* loops around it */
    bool ended = false;                    /* threads have returned: nothing may follow */
    bool stored = false;                   /* something that doing the block again would repeat */

    void add_to_interval(const accesses &a)
    {
        for (const accesses &b : interval)
            if (meet(a.stores, b.loads) || meet(a.stores, b.stores) || meet(b.stores, a.loads))
                throw unsuitable();
        interval.push_back(a);
    }

    /* Variables that a loop's body declares do not outlive a turn of it. */
    bool is_needed_later(const std::string &name, const variable &v, long from)
    {
        if (scopes.empty()) return has(from, body_end, name.c_str());
        const statement &inner = *scopes.back();
        return v.begin < inner.begin || v.begin >= inner.end || has(from, inner.end, name.c_str());
    }

    const stride *active_stride(const std::string &name)
    {
        for (const stride *r : active)
            if (r->name == name) return r;
        return nullptr;
    }

    std::string at_this_step(const stride &r)
    {
        return r.type + r.name + " = (" + r.type + ")((" +
               copy(r.start, r.start_end, r.type == "int ") + ") + " + r.offset + "); ";
    }

    /* Whether a loop that needs it computes it again, with all of its declaration. */
    bool is_again(const variable &v)
    {
        if (v.parameter || v.declarations > 1) return false;
        for (auto &other : variables)
            if (other.second.begin == v.begin &&
                (!other.second.pure || other.second.assigned || other.second.in_head ||
                 other.second.declarations > 1))
                return false;
        return true;
    }

    static std::string home(const std::string &name, const variable &v)
    {
        return "cucc_kept_" + name + "_" + std::to_string(v.number);
    }

    void keep(const std::string &name, const variable &v)
    {
        if (v.declarations > 1 || v.reference || v.type.find("auto") != v.type.npos)
            throw unsuitable();
        if (!kept.insert(name).second) return;
        arrays += v.type + " " + home(name, v) + "[1024]" + v.bounds + "; static_assert(sizeof " +
                  home(name, v) + " <= 1 << 20, \"\"); ";
    }

    /* ---- a loop over the threads ---- */

    /* FIRST and END: which threads along x. APART: no thread stores where another one does. */
    static std::string thread_loop(bool of_threads, bool apart, const std::string &first,
                                   const std::string &end)
    {
        std::string s = "\nfor (int cucc_z = 0; cucc_z < (int)blockDim.z; cucc_z++) "
                        "for (int cucc_y = 0; cucc_y < (int)blockDim.y; cucc_y++)\n";
        s += std::string(first == "0" && apart ? "#pragma GCC ivdep\n" : "") +
             "for (int cucc_x = " + first + "; cucc_x < " + end +
             "; cucc_x++) { "
             "const ::uint3 threadIdx = {(unsigned int)cucc_x, (unsigned int)cucc_y, "
             "(unsigned int)cucc_z}; const int cucc_t = (cucc_z * (int)blockDim.y + "
             "cucc_y) * (int)blockDim.x + cucc_x; (void)threadIdx; (void)cucc_t; ";
        if (of_threads) s += "::cucc::begin_thread((unsigned int)cucc_t); ";
        return s;
    }

    /* The variables that BODY names, and those that these are computed of. */
    std::set<std::string> needed(const std::string &body)
    {
        std::set<std::string> used;
        std::string text = body;
        for (bool more = true; more;) {
            more = false;
            for (auto &entry : variables) {
                if (used.count(entry.first) || !names_in(text, entry.first)) continue;
                used.insert(entry.first);
                if (const stride *r = active_stride(entry.first))
                    text += copy(r->start, r->start_end);
                else if (is_again(entry.second))
                    text += copy(entry.second.begin, entry.second.end);
                more = true;
            }
        }
        return used;
    }

    bool is_affine(const variable &v)
    {
        bool affine = v.type == "int ";
        for (long i = v.begin; affine && i < v.end; i = next(i))
            affine =
                is_name(i) || tokens[(size_t)i].kind == literal || strchr("=+*();.,", source(i)[0]);
        return affine;
    }

    void write_threads(long begin, long end, const std::string &body,
                       const std::string &first_x = "0",
                       const std::string &end_x = "(int)blockDim.x")
    {
        if (ended) throw unsuitable();
        std::string conditions, before, after;
        for (const std::string &g : guards)
            conditions += (conditions.empty() ? "(" : " && (") + g + ")";
        std::map<long, std::string> ordered;
        for (const std::string &name : needed(body + conditions)) {
            variable &v = variables[name];
            if (const stride *r = active_stride(name)) {
                ordered[r->condition] = at_this_step(*r);
                continue;
            }
            std::string place = home(name, v) + "[cucc_t]";
            bool here = v.begin >= begin && v.begin < end;
            if (v.uniform && !here && is_changed(name, begin, end)) throw unsuitable();
            if (v.parameter) {
                if (!v.uniform) throw unsuitable();
            } else if (here) { /* declared here */
                bool crosses = is_needed_later(name, v, end) && !v.in_head && !is_again(v) &&
                               is_direct(v, begin, end);
                if (!crosses) continue;
                if (v.array) throw unsuitable();
                keep(name, v);
                after += place + " = " + name + "; ";
            } else if (is_again(v) && !v.uniform) {
                ordered[v.begin] = copy(v.begin, v.end, is_affine(v));
            } else if (kept.count(name)) {
                ordered[v.begin] +=
                    (v.array ? "auto &" : v.type + " ") + name + " = " + place + "; ";
                if (v.assigned && !v.array) after += place + " = " + name + "; ";
            }
            bool elsewhere =
                has(body_begin, begin, name.c_str()) || has(end, body_end, name.c_str());
            if (v.declarations > 1 && !v.in_head && elsewhere) throw unsuitable();
        }
        for (auto &o : ordered) before += o.second;
        bool apart = !names_in(body, "cucc_alive") && !names_in(body, "cucc_branch");
        out += thread_loop(of_threads, apart, first_x, end_x) + before;
        if (!conditions.empty()) out += "if (" + conditions + ") { ";
        if (begin < end && has(begin, end, "return")) {
            if (!after.empty() || around) throw unsuitable();
            out += "[&]() __attribute__((always_inline)) { " + body + "}(); ";
            ended = true;
        } else {
            out += body + after;
        }
        out += conditions.empty() ? "}\n" : "} }\n";
    }

    bool is_changed(const std::string &name, long begin, long end)
    {
        for (long i = begin; i < end; i = next(i))
            if (is(i, name.c_str()) && !is_member(i) &&
                !(variables[name].pointer && is(next(i), "[")) &&
                (is_assigned_after(after_subscripts(i)) || is_incremented_before(i)))
                return !is_declared_between(name, begin, end);
        return false;
    }

    /* Not within braces or the head of a loop. */
    static bool is_direct(const variable &v, long begin, long end)
    {
        for (long i = begin; i < end && i <= v.begin; i = next(i)) {
            if (i == v.begin) return true;
            if (opens(i)) i = closing(i);
        }
        return false;
    }

    static bool is_declared_between(const std::string &name, long begin, long end)
    {
        for (long i = begin; i < end; i = next(i))
            if (is(i, name.c_str()))
                return is_name(previous(i)) || is(previous(i), "*") || is(previous(i), ",");
        return false;
    }

    /* Which threads come to a warp function. Those that do not take a branch behind which nobody waits
     * are taken to have exited. */
    void name_way(std::string &body)
    {
        bool last = branch_end && !has(branch_end, body_end, "__syncthreads") &&
                    !has(branch_end, body_end, "__syncwarp");
        const std::string name = "cucc_way", way = guards.empty()  ? "cucc_all"
                                                   : exits || last ? "cucc_alive"
                                                                   : "cucc_branch";
        if (!names_in(body, name)) return;
        if (exits && (branches || guards.size() > (size_t)exits)) throw unsuitable();
        if (way == "cucc_branch" && stored) throw unsuitable();
        for (size_t at = body.find(name); at != body.npos; at = body.find(name, at + way.size()))
            body.replace(at, name.size(), way);
    }

    /* What another thread or the host sees of what stands between BEGIN and END. */
    bool leaves_a_trace(const accesses &a, long begin, long end)
    {
        for (const std::string &store : a.stores)
            if (!shared.count(store.substr(0, store.find('[')))) return true;
        for (long i = begin; i < end; i = next(i)) {
            if (!is_name(i) || !is(next(i), "(")) continue;
            if (is(i, "printf") || source(i).compare(0, 4, "surf") == 0) return true;
            auto own = device_functions.find(source(i));
            if (own == device_functions.end()) continue;
            for (long open : own->second)
                for (long j = open, last = closing(open); j < last; j = next(j))
                    if (device_variables.count(source(j)) || is(j, "printf")) return true;
        }
        return false;
    }

    /* Lanes that miss others in their branch find it out before any of them stores. */
    void write_mask_checks(const std::string &body)
    {
        std::string checks;
        const std::string call = "(cucc_branch, ", block = "blockDim, ";
        for (size_t at = body.find(call); at != body.npos; at = body.find(call, at + 1)) {
            size_t from = at + call.size(), mask = body.find(block, from), to, depth = 0;
            if (mask > body.find(';', from)) continue; /* cucc_put */
            for (to = mask + block.size(); depth || body[to] != ','; to++)
                depth += (body[to] == '(') - (body[to] == ')');
            checks += "cucc_check_mask" + body.substr(at, to - at) + "); ";
        }
        if (!checks.empty()) write_threads(0, 0, checks);
    }

    void write_chunk(std::vector<const statement *> &chunk)
    {
        if (chunk.empty()) return;
        accesses a;
        std::string body;
        for (const statement *s : chunk) {
            note_zero(*s);
            note_accesses(a, s->begin, s->end);
            zero = "";
            body += copy(s->begin, s->end);
        }
        name_way(body);
        if (leaves_a_trace(a, chunk.front()->begin, chunk.back()->end)) {
            write_mask_checks(body);
            stored = true;
        }
        add_to_interval(a);
        write_threads(chunk.front()->begin, chunk.back()->end, body);
        chunk.clear();
    }

    /* ---- what is done by all threads together ---- */

    bool is_uniform_declaration(const statement &s)
    {
        bool any = false;
        if (!is_declaration(s)) return false;
        for (auto &v : variables) {
            if (v.second.begin != s.begin) continue;
            if (!v.second.uniform || v.second.declarations > 1) return false;
            any = true;
        }
        return any;
    }

    /* The variable that an assignment gives the same value in all threads. */
    variable *uniform_assignment(const statement &s)
    {
        if (s.kind != statement::leaf || is_declaration(s)) return nullptr;
        long i = s.begin;
        while (is(i, "+") || is(i, "-")) i = next(i);
        variable *v = find(i);
        if (!v || !v->uniform) return nullptr;
        return is_assigned_after(next(i)) || is_incremented_before(i) ? v : nullptr;
    }

    /* if (condition) return; of threads that have nothing to do. */
    bool is_exit(const statement &s)
    {
        if (s.kind != statement::conditional || s.parts.size() > 1 || depth > 1) return false;
        const statement *only = &s.parts[0];
        if (only->kind == statement::compound && only->parts.size() == 1) only = &only->parts[0];
        return is(only->begin, "return") && is(next(only->begin), ";") &&
               is_pure(next(s.open), s.close);
    }

    /* An array of each thread that later loops need, too. */
    bool is_kept_array(const statement &s)
    {
        bool any = false;
        if (!is_declaration(s)) return false;
        for (auto &v : variables)
            any |= v.second.begin == s.begin && v.second.array &&
                   is_needed_later(v.first, v.second, s.end);
        if (!any) return false;
        for (long i = s.begin; i < s.end; i = next(i))
            if (is(i, "=")) return false;
        for (auto &v : variables)
            if (v.second.begin == s.begin) keep(v.first, v.second);
        return true;
    }

    /* if (t < bound) or if (t == bound) alone between two barriers, where t is threadIdx.x: a loop over
     * these threads. */
    bool write_some_threads(const statement &s)
    {
        long i = next(s.open), bound = i;
        std::string type = "unsigned int ";
        if (const variable *v = find(i)) {
            bool number = v->declarations == 1 && !v->assigned && is_whole_number(v->type);
            if (!number || v->start < 0 || !is_thread_number(v->start, v->start_end)) return false;
            type = v->type;
            bound = next(i);
        } else {
            if (!is(i, "threadIdx")) return false;
            bound = next(next(next(i)));
            if (!is_thread_number(i, bound)) return false;
        }
        bool less = is(bound, "<") && !is(next(bound), "<") && !is(next(bound), "="),
             equal = is(bound, "=") && is(next(bound), "=");
        if (s.parts.size() > 1 || !(less || equal) || leaves(s) || holds_promoted(s.parts[0]))
            return false;
        bound = next(bound);
        if (equal) bound = next(bound);
        for (long j = bound; j < s.close; j = next(j))
            if (strchr("&|?,<>=", source(j)[0])) return false;
        if (!is_together(bound, s.close)) return false;
        accesses a;
        note_zero(s);
        note_accesses(a, s.begin, s.end);
        zero = "";
        stored |= leaves_a_trace(a, s.begin, s.end);
        add_to_interval(a);
        std::string number = std::to_string(++numbered),
                    range = "<" + type + ">((int)blockDim.x, " + copy(bound, s.close) + ")";
        out += "const int cucc_end_" + number + " = ::cucc::threads_" + (less ? "below" : "at") +
               range + "; ";
        std::string end = "cucc_end_" + number;
        write_threads(s.parts[0].begin, s.parts[0].end, copy(s.parts[0].begin, s.parts[0].end),
                      less ? "0" : end + " - 1",
                      less ? end : "(int)(" + end + " ? " + end + " : -1)");
        return true;
    }

    static bool is_thread_number(long begin, long end)
    {
        return is(begin, "threadIdx") && is(next(begin), ".") && is(next(next(begin)), "x") &&
               next(next(next(begin))) == end;
    }

    void write_sequence(const std::vector<statement> &parts)
    {
        std::vector<const statement *> chunk;
        size_t guards_around = guards.size();
        int exits_around = exits;
        depth++;
        for (const statement &s : parts) {
            bool shared_memory = s.kind == statement::leaf && is_shared(s);
            if (shared_memory || is_uniform_declaration(s)) {
                out += copy(s.begin, s.end);
            } else if (is_kept_array(s)) {
                continue;
            } else if (is_exit(s)) {
                write_chunk(chunk);
                std::string stays = "!(" + copy(next(s.open), s.close) + ")";
                if (guards.empty() && body_end - s.end < 2000)
                    return write_unless_exits({&s + 1, &parts.back() + 1}, stays);
                guards.push_back(stays);
                exits++;
            } else if (uniform_assignment(s)) {
                write_chunk(chunk);
                out += copy(s.begin, s.end);
            } else if (is_barrier(s)) {
                if (branches && !is(s.begin, "__syncwarp")) throw unsuitable();
                write_chunk(chunk);
                interval.clear();
            } else if (holds_barrier(s) || holds_promoted(s)) {
                write_chunk(chunk);
                write_together(s);
            } else if (chunk.empty() && s.kind == statement::conditional &&
                       (&s == &parts.back() || is_barrier((&s)[1])) && write_some_threads(s)) {
                continue;
            } else {
                chunk.push_back(&s);
            }
        }
        write_chunk(chunk);
        guards.resize(guards_around);
        exits = exits_around;
        depth--;
    }

    void write_body(const statement &s)
    {
        out += "{ ";
        if (s.kind == statement::compound)
            write_sequence(s.parts);
        else
            write_sequence({s});
        out += "} ";
    }

    void enter_branch(const statement &s)
    {
        if (branches++ == 0) branch_end = around ? 0 : s.end;
    }

    void write_together(const statement &s)
    {
        if (s.kind == statement::compound) return write_body(s);
        if (s.parts.empty() || s.is_do) throw unsuitable();
        if (is_stride(s)) return write_stride(s);
        if (is_branch(s)) return write_branch(s);
        if (!is_uniform_control(s)) throw unsuitable();
        std::vector<accesses> entry = interval;
        const bool before = stored;
        out += copy(s.begin, next(s.close));
        if (s.kind == statement::loop)
            write_turns(s);
        else
            write_body(s.parts[0]);
        std::vector<accesses> left = interval;
        if (s.parts.size() > 1) {
            const bool then = stored;
            interval = entry;
            stored = before;
            out += "else ";
            write_body(s.parts[1]);
            stored |= then;
            left.insert(left.end(), interval.begin(), interval.end());
        }
        interval = left;
        interval.insert(interval.end(), entry.begin(), entry.end());
    }

    /* The body of a loop, in which what comes again meets what came last. */
    void write_turns(const statement &s)
    {
        statement body = s.parts[0];
        if (!s.is_for && strides.count(s.begin) && is_stride(s))
            body.parts.pop_back(); /* the step */
        around++;
        scopes.push_back(&s);
        write_body(body);
        std::string once = out;
        write_body(body);
        out = once;
        scopes.pop_back();
        around--;
    }

    /* Each turn for all threads, so that neighbours are read together: as long as the last of them is
     * within the bound no thread needs to ask. */
    void write_stride(const statement &s)
    {
        stride r = strides[s.begin];
        std::string number = std::to_string(++numbered), low = "cucc_low_" + number,
                    high = "cucc_high_" + number, bound = copy(next(r.condition), r.condition_end),
                    step = copy(r.step, r.step_end);
        r.offset = "cucc_offset_" + number;
        out += "{ long long " + low + " = 0x7fffffffffffffffLL, " + high + " = -" + low + " - 1; ";
        write_threads(0, 0,
                      "const long long cucc_start = (" + r.type + ")(" +
                          copy(r.start, r.start_end) + "); " + low + " = cucc_start < " + low +
                          " ? cucc_start : " + low + "; " + high + " = cucc_start > " + high +
                          " ? cucc_start : " + high + "; ");
        std::vector<accesses> entry = interval;
        active.push_back(&r);
        enter_branch(s);
        out += "for (" + r.type + r.offset + " = 0; " + low + " <= " + high + " && (" + r.type +
               ")(" + low + " + " + r.offset + ") " + bound + "; " + r.offset + " += " + step +
               ") if ((" + r.type + ")(" + high + " + " + r.offset + ") " + bound + ") ";
        write_turns(s);
        interval = entry;
        out += "else ";
        guards.push_back(r.name + " " + bound);
        write_turns(s);
        guards.pop_back();
        branches--;
        active.pop_back();
        interval.insert(interval.end(), entry.begin(), entry.end());
        out += "} ";
    }

    /* What follows an exit that in most blocks no thread takes. */
    void write_unless_exits(const std::vector<statement> &rest, const std::string &stays)
    {
        std::string all = write_vote(stays);
        std::vector<accesses> entry = interval;
        const bool before = stored;
        depth--;
        out += "if (" + all + ") { ";
        write_sequence(rest);
        bool was = ended;
        ended = false;
        stored = before;
        interval = entry;
        out += "} else { ";
        guards.push_back(stays);
        exits++;
        write_sequence(rest);
        guards.pop_back();
        exits--;
        out += "} ";
        ended |= was;
    }

    /* Names a variable that tells whether a condition holds in all threads. */
    std::string write_vote(const std::string &condition)
    {
        std::string all = "cucc_all_" + std::to_string(++numbered);
        out += "bool " + all + " = true; ";
        write_threads(0, 0, all + " &= (bool)(" + condition + "); ");
        return all;
    }

    /* A branch that in most blocks all threads take. */
    void write_branch(const statement &s)
    {
        std::string condition = copy(next(s.open), s.close), all = write_vote(condition);
        enter_branch(s);
        std::vector<accesses> entry = interval;
        const bool before = stored;
        out += "if (" + all + ") ";
        write_body(s.parts[0]);
        interval = entry;
        stored = before;
        out += "else ";
        guards.push_back(condition);
        write_body(s.parts[0]);
        guards.pop_back();
        branches--;
    }
};

/* The kernel whose parameters stand between two parentheses and whose body between two braces, or
 * nothing. */
static std::string write_loops(const expander &e, long parameters, long brace)
{
    for (bool together : {true, false}) {
        writer w;
        std::string result;
        w.promote = together;
        w.checks = e.checks;
        for (int k = 0; k < e.exchanges; k++) {
            std::string x = "cucc_exchange_" + std::to_string(k);
            w.shared.insert(x);
            w.arrays += "::cucc_exchange " + x + "; ";
        }
        try {
            w.body_begin = brace;
            w.body_end = closing(brace);
            if (!is_simple(next(brace), w.body_end, w.of_threads)) return "";
            long i = brace;
            statement body = parse(i);
            if (!is(next(parameters), ")"))
                w.note_parameters(next(parameters), closing(parameters));
            w.note_declarations(body);
            w.note_strides(body);
            while (w.note_changes(body, true) || w.level_declarations()) continue;
            w.write_sequence(body.parts);
            result = w.checks + w.arrays + w.out;
        } catch (const unsuitable &) {
        }
        if (!result.empty()) return result;
    }
    return "";
}

static std::string write_kernel(long parameters, long brace)
{
    const size_t all = tokens.size();
    expander e;
    try {
        brace = e.write(parameters, brace);
    } catch (const unsuitable &) {
        tokens.resize(all);
        e.exchanges = 0;
    }
    std::string result = write_loops(e, parameters, brace);
    tokens.resize(all);
    return result;
}
} // namespace loops

#endif
