/* Writes the loops over the threads of a block that stand between barriers (loops_write.h). */
#ifndef CUCC_LOOPS_CHUNKS_H
#define CUCC_LOOPS_CHUNKS_H

#include "loops_kernel.h"
#include <algorithm>

namespace loops
{
/* Not as a member, as the x of threadIdx.x. */
static bool names_in(const std::string &text, const std::string &name)
{
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        bool begins = at == 0 || (!is_name_char(text[at - 1]) && text[at - 1] != '.' &&
                                  text.compare(at < 2 ? 0 : at - 2, 2, "->") != 0);
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

struct chunk_writer : kernel {
    std::string arrays, out;
    std::vector<std::string> guards; /* what a thread must fulfil to do a loop's body */
    std::vector<accesses> interval;  /* of the loops since the last barrier */
    std::set<std::string> kept;      /* variables that have a place between loops */
    std::set<std::string>
        around_loops;    /* those that all threads share, declared where a loop might begin */
    int depth = 0;       /* of braces */
    int around = 0;      /* loops around what is written */
    int branches = 0;    /* that not all threads take */
    long branch_end = 0; /* of the outermost of them; 0 if it comes again */
    int exits = 0;       /* of the guards, those of threads that have returned */
    std::vector<const stride *> active;    /* strides around what is written */
    std::vector<const statement *> scopes; /* loops around it */
    bool ended = false;                    /* threads have returned: nothing may follow */
    bool stored = false;                   /* something that doing the block again would repeat */
    std::vector<long> renamed;             /* divisors */
    std::string turn_of,
        turn_step; /* the variable of a loop whose turns are done several at once, its step */

    /* Loops that each thread goes through alone. */
    void note_own_loops(const statement &s, std::vector<std::pair<long, long>> &all)
    {
        if (s.kind == statement::loop && !holds_barrier(s) && !is_promoted(s))
            all.push_back({s.begin, s.end});
        for (const statement &part : s.parts) note_own_loops(part, all);
    }

    /* Parameters that something is divided by get a name for what helps to do so (cucc_lanes.h). Returns its
     * declarations. */
    std::string name_divisors(const statement &body)
    {
        std::map<std::string, std::string> all;
        std::vector<std::pair<long, long>> own;
        note_own_loops(body, own);
        for (long i = next(body_begin); i < body_end; i = next(i)) {
            const long by = next(i), after = next(by);
            const variable *v = find(by);
            if (!(is(i, "/") || is(i, "%")) || !v || !v->parameter || v->pointer || v->assigned ||
                strchr("[(.-", source(after)[0]))
                continue;
            const bool alone = std::any_of(own.begin(), own.end(), [&](std::pair<long, long> o) {
                return o.first <= i && i < o.second;
            });
            if (alone && is(i, "/")) continue;
            const std::string name = (alone ? "cucc_ring_" : "cucc_by_") + source(by);
            all[name] = "const auto " + name +
                        (alone ? " = ::cucc::ring(" : " = ::cucc::divisor(") + source(by) + "); ";
            renamed.push_back(by);
            tokens[(size_t)by].text = name;
        }
        std::string declarations;
        for (const auto &d : all) declarations += d.second;
        return declarations;
    }

    void rename_back()
    {
        for (long i : renamed) tokens[(size_t)i].text = source(i);
        renamed.clear();
    }

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
        for (long i = v.begin; affine && i < v.end; i = next(i)) {
            const bool call = is_name(i) && is(next(i), "(") && !is_type_word(i);
            affine = !call && !is(i, "float") && !is(i, "double") &&
                     (is_name(i) || tokens[(size_t)i].kind == literal ||
                      strchr("=+*();.,", source(i)[0]));
        }
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
            const bool shared_by_all = around_loops.count(name) > 0;
            bool here = v.begin >= begin && v.begin < end && !shared_by_all;
            if ((v.uniform || shared_by_all) && !here && is_changed(name, begin, end))
                throw unsuitable();
            if (shared_by_all) continue;
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
        const bool of_block = body.find("cucc_block_") != body.npos; /* the first thread does it */
        if (of_block && !guards.empty()) throw unsuitable();
        bool apart = !names_in(body, "cucc_alive") && !names_in(body, "cucc_branch") && !of_block;
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
        const variable &v = variables[name];
        for (long i = begin; i < end; i = next(i))
            if (is(i, name.c_str()) && !is_member(i) && !(v.pointer && is(next(i), "[")) &&
                !(is(previous(i), "*") && is_unary(previous(i))) &&
                !(v.declarations == 1 && i >= v.begin && i < v.end) &&
                (is_assigned_after(after_subscripts(i)) || is_incremented_before(i)))
                return v.declarations == 1 || !is_declared_between(name, begin, end);
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
            if (!is_name(i) || !(is(next(i), "(") || is(next(i), "<"))) continue;
            if (is(i, "printf") || source(i).compare(0, 4, "surf") == 0) return true;
            if (own_names.count(source(i)) && facts_of(source(i)).trace) return true;
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

    enum { turns_at_once = 4 };

    std::string several_turns(const std::string &body) const
    {
        std::string all = "{ " + body + "} ";
        for (int k = 1; k < turns_at_once; k++)
            all += "{ const auto cucc_turn = " + turn_of + " + " + std::to_string(k) + " * (" +
                   turn_step + "); { const decltype(" + turn_of + ") " + turn_of +
                   " = cucc_turn; " + body + "} } ";
        return all;
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
        if (!turn_of.empty()) body = several_turns(body);
        name_way(body);
        if (leaves_a_trace(a, chunk.front()->begin, chunk.back()->end)) {
            write_mask_checks(body);
            stored = true;
        }
        add_to_interval(a);
        write_threads(chunk.front()->begin, chunk.back()->end, body);
        chunk.clear();
    }
};
} // namespace loops

#endif
