/* Writes what loops_kernel.h has found out about a kernel as loops over the threads of a block: what all threads
 * go through together stands around these loops (loops_chunks.h). */
#ifndef CUCC_LOOPS_WRITE_H
#define CUCC_LOOPS_WRITE_H

#include "loops_chunks.h"
#include "loops_expand.h"

namespace loops
{
struct writer : chunk_writer {
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

    /* ---- bounds ---- */

    /* Whether a value grows by one from a thread to the next along one dimension: of all that it is computed
     * of, one token names a thread's number, and that is not multiplied. */
    bool is_rising(long begin, long end, int &threads, int depth = 0)
    {
        for (long i = begin; i < end; i = next(i)) {
            bool multiplied = is(previous(i), "*") || is(next(i), "*");
            if (is(i, "threadIdx")) {
                threads++;
                if (is(previous(i), "*") || is(next(next(next(i))), "*")) return false;
                continue;
            }
            bool plain = is_name(i) || here_is_number(i) || is(i, "+") || is(i, "*") ||
                         is(i, ".") || is(i, "(") || is(i, ")");
            if (!plain || (is_name(i) && is(next(i), "(") && !is_type_word(i))) return false;
            if (is_narrowing(i)) return false; /* which begins anew after some threads */
            if (is(i, "(") && (is(previous(i), "*") || is(next(closing(i)), "*")) &&
                !is_uniform(next(i), closing(i)))
                return false;
            const variable *v = find(i);
            if (!v || v->uniform) continue;
            if (multiplied || depth > 4 || v->start < 0 || !is_again(*v) || !v->pure ||
                !is_whole_number(v->type) || !is_rising(v->start, v->start_end, threads, depth + 1))
                return false;
        }
        return threads == 1;
    }

    /* A type of a cast that may not hold all numbers of threads. */
    bool is_narrowing(long i)
    {
        static const std::set<std::string> wide = {"int",     "unsigned", "long",    "size_t",
                                                   "signed",  "const",    "uint",    "int64_t",
                                                   "int32_t", "uint32_t", "uint64_t"};
        if (!is_name(i) || is_member(i)) return false;
        if (is_type_word(i)) return !wide.count(source(i));
        const long after = next(next(i));
        const bool cast = is(previous(i), "(") && is(next(i), ")") &&
                          (is_name(after) || is(after, "(") || here_is_number(after));
        return cast && !find(i) && !is_builtin(i);
    }

    static bool here_is_number(long i)
    {
        return tokens[(size_t)i].kind == literal;
    }

    /* What is compared with bounds in VALUE < BOUND && ..., or nothing. */
    std::vector<std::string> bounded_values(long begin, long end)
    {
        std::vector<std::string> values;
        for (long i = begin; i < end;) {
            long after = i;
            while (after < end && !(is(after, "&") && is(next(after), "&")))
                after = next(opens(after) ? closing(after) : after);
            long first = i, last = after;
            while (is(first, "(") && next(closing(first)) == last) {
                last = closing(first);
                first = next(first);
            }
            long less = first;
            while (less < last && !is(less, "<")) less = next(opens(less) ? closing(less) : less);
            long bound = next(less);
            if (less < last && is(bound, "=")) bound = next(bound);
            int threads = 0;
            bool same = less < last && is_together(first, less);
            if (less >= last || !is_together(bound, last) ||
                !(same || is_rising(first, less, threads)))
                return {};
            for (long j = bound; j < last; j = next(j))
                if (strchr("<>=!?|&", source(j)[0])) return {};
            values.push_back(copy(first, less));
            i = after < end ? next(next(after)) : end;
        }
        return values;
    }

    /* if (i < n) at the end of a kernel, which in most blocks all threads fulfil, or none: as these values
     * rise, the first and the last thread tell. */
    bool write_within_bounds(const statement &s)
    {
        if (s.kind != statement::conditional || s.parts.size() > 1 || !guards.empty() || around ||
            !active.empty() || branches || stored || s.end - s.begin > 2000 ||
            has(s.begin, s.end, "return"))
            return false;
        long begin = next(s.open);
        std::vector<std::string> values = bounded_values(begin, s.close);
        if (values.empty()) return false;
        std::map<long, std::string> declared;
        std::string condition = copy(begin, s.close), declarations;
        for (const std::string &name : needed(condition)) {
            const variable &v = variables[name];
            if (v.parameter || v.uniform) continue;
            if (!is_again(v) || !v.pure) return false;
            declared[v.begin] = copy(v.begin, v.end);
        }
        for (auto &d : declared) declarations += d.second;
        std::string number = std::to_string(++numbered), none = "cucc_none_" + number,
                    all = "cucc_all_" + number, low, rises;
        for (size_t k = 0; k < values.size(); k++) {
            std::string first = "cucc_first_" + number + "_" + std::to_string(k);
            low += "const long long " + first + " = (long long)(" + values[k] + "); ";
            rises += " && " + first + " <= (long long)(" + values[k] + ")";
        }
        const std::string thread = "const ::uint3 threadIdx = ";
        out += "bool " + none + ", " + all + "; { " + thread + "{0, 0, 0}; (void)threadIdx; " +
               declarations + none + " = !(" + condition + "); " + low + "{ " + thread +
               "{blockDim.x - 1, blockDim.y - 1, blockDim.z - 1}; (void)threadIdx; " +
               declarations + all + " = (" + condition + ")" + rises + "; " + none + " &= true" +
               rises + "; } } ";
        std::vector<accesses> entry = interval;
        const bool before = stored;
        out += "if (" + none + ") { } else if (" + all + ") ";
        write_body(s.parts[0]);
        if (holds_barrier(s)) { /* of the last block, in which some threads do not come there */
            out += "else ::cucc::leave_loops(); ";
            return true;
        }
        interval = entry;
        stored = before;
        out += "else ";
        guards.push_back(condition);
        write_body(s.parts[0]);
        guards.pop_back();
        return true;
    }

    bool is_pure_declaration(const statement &s)
    {
        if (!is_declaration(s)) return false;
        for (auto &v : variables)
            if (v.second.begin == s.begin && (!v.second.pure || !is_again(v.second))) return false;
        return true;
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
                for (auto &v : variables)
                    if (!shared_memory && v.second.begin == s.begin) around_loops.insert(v.first);
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
                if (guards.size() > (size_t)exits && !is(s.begin, "__syncwarp")) throw unsuitable();
                write_chunk(chunk);
                interval.clear();
            } else if (&s == &parts.back() && depth == 1 &&
                       std::all_of(chunk.begin(), chunk.end(),
                                   [&](const statement *c) { return is_pure_declaration(*c); }) &&
                       write_within_bounds(s)) {
                chunk.clear();
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
        const long again = write_several_turns(s);
        out += again ? "for (; " + copy(again, next(s.close)) : copy(s.begin, next(s.close));
        if (s.kind == statement::loop)
            write_turns(s);
        else
            write_body(s.parts[0]);
        if (again) out += "} ";
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

    /* Whether a statement is done by each thread, and can be done again in braces. */
    bool is_of_threads(const statement &s)
    {
        if (s.kind == statement::loop || s.opaque || is_shared(s) || is_uniform_declaration(s) ||
            uniform_assignment(s) || is_kept_array(s))
            return false;
        for (const statement &part : s.parts)
            if (!is_of_threads(part)) return false;
        return true;
    }

    /* for (int k = 0; k < n; k++) around the loop over threads: these go through several turns at a time, so
     * that what they sum up stays in registers meanwhile. The usual loop follows, for the last turns, from the
     * condition that is returned. */
    long write_several_turns(const statement &s)
    {
        if (!s.is_for || !is_promoted(s) || holds_barrier(s) || s.end - s.close > 400 ||
            !turn_of.empty())
            return 0;
        long i = next(s.open), first = i;
        while (is_type_word(i)) i = next(i);
        const std::string name = source(i);
        long start_end = end_of_part(i, s.close), condition = next(start_end),
             condition_end = end_of_part(condition, s.close), step = next(condition_end);
        bool whole = is_name(i) && is(next(i), "=") && is(start_end, ";") &&
                     is(condition_end, ";") && is(condition, name.c_str()) &&
                     is(next(condition), "<") && !strchr("<=", source(next(next(condition)))[0]);
        if (!whole || !is_together(next(next(condition)), condition_end)) return 0;
        for (long j = next(next(condition)); j < condition_end; j = next(j))
            if (strchr("<>=!?|&,", source(j)[0])) return 0;
        stride r;
        r.name = name;
        std::string by = "1", change;
        for (long j = step; j < s.close; j = next(j)) change += source(j);
        if (change != name + "++" && change != "++" + name) {
            if (!note_step(r, step, s.close) || !here_is_number(r.step) || next(r.step) != s.close)
                return 0;
            steps.erase(step);
            by = source(r.step);
        }
        if (!is_left_alone(name, next(s.close), s.end)) return 0;
        const statement &body = s.parts[0];
        if (body.kind == statement::compound ? body.parts.empty() : false) return 0;
        for (const statement &part :
             body.kind == statement::compound ? body.parts : std::vector<statement>{body})
            if (!is_of_threads(part)) return 0;
        std::string bound = copy(next(next(condition)), condition_end),
                    most = std::to_string(turns_at_once - 1) + " * (" + by + ")";
        out += "{ " + copy(first, start_end) + "; for (; " + name + " < " + bound +
               " && (long long)(" + bound + ") - (long long)(" + name + ") > " + most + "; " +
               name + " += " + std::to_string(turns_at_once) + " * (" + by + ")) ";
        turn_of = name;
        turn_step = by;
        write_turns(s);
        turn_of = "";
        return condition;
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

    /* Names a variable that tells whether a condition holds in all threads; another, in how many. */
    std::string write_vote(const std::string &condition, const std::string &count = "")
    {
        std::string all = "cucc_all_" + std::to_string(++numbered);
        out += "bool " + all + " = true; " + (count.empty() ? "" : "int " + count + " = 0; ");
        write_threads(0, 0,
                      all + " &= (bool)(" + condition + "); " +
                          (count.empty() ? "" : count + " += (bool)(" + condition + "); "));
        return all;
    }

    /* A branch that in most blocks all threads take. With a barrier in it, fibers do the others: they know who
     * waits there for whom. */
    void write_branch(const statement &s)
    {
        const bool barrier = has(s.begin, s.end, "__syncthreads");
        const std::string condition = copy(next(s.open), s.close),
                          some = barrier ? "cucc_some_" + std::to_string(++numbered) : "",
                          all = write_vote(condition, some);
        enter_branch(s);
        if (barrier) {
            if (stored) throw unsuitable();
            std::vector<accesses> around_it = interval;
            out += "if (" + some + ") { if (!" + all + ") ::cucc::leave_loops(); ";
            write_body(s.parts[0]);
            out += "} ";
            interval.insert(interval.end(), around_it.begin(), around_it.end());
            branches--;
            return;
        }
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
            facts found;
            if (!is_listed(statement_begin(parameters), parameters, brace, found)) return "";
            w.of_threads = found.threads;
            for (const std::string &type : found.plain)
                w.checks += "if (!::cucc::is_plain<" + type + ">) ::cucc::leave_loops(); ";
            long i = brace;
            statement body = parse(i);
            if (!is(next(parameters), ")"))
                w.note_parameters(next(parameters), closing(parameters));
            w.note_declarations(body);
            w.note_strides(body);
            while (w.note_changes(body, true) || w.level_declarations()) continue;
            const std::string divisors = w.name_divisors(body);
            w.write_sequence(body.parts);
            result = w.checks + divisors + w.arrays + w.out;
        } catch (const unsuitable &) {
        }
        w.rename_back();
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
