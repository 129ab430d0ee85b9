/* cub::BlockReduce in a kernel that becomes loops (loops_expand.h): all threads put their values where the first one
 * finds them (cub/block/block_reduce.cuh). What it names and keeps is not needed any more:
 *
 *   using R = cub::BlockReduce<float, 256>;
 *   __shared__ R::TempStorage t;
 *   v = R(t).Sum(v);                 __syncwarp(); cucc_block_put(x, cucc_t, (float)(cucc_items_sum(v)));
 *                                  __syncthreads(); v = cucc_block_sum(x, cucc_t, blockDim, (float)(...), 1024);
 */
#ifndef CUCC_LOOPS_CUB_H
#define CUCC_LOOPS_CUB_H

#include "loops_names.h"

namespace loops
{
struct reduction {
    std::string type, arguments;
    bool of_kernel = false; /* a name within the kernel hides one outside */
    std::string check;      /* that it is of the block at hand, and of values that find place */
};

struct kernel_of_cub : rewritten_kernel {
    std::map<std::string, reduction> reductions; /* by the names that the program gives them */

    /* cub::BlockReduce<...> at I, or a name of one; moves I behind it. */
    bool read_reduction(long &i, reduction &r) const
    {
        long at = i;
        if (is(at, "typename")) at = next(at);
        auto known = reductions.find(source(at));
        if (known != reductions.end() && !known->second.type.empty() && !is(previous(at), "::")) {
            r = known->second;
            i = next(at);
            return true;
        }
        if (is(at, "::")) at = next(at);
        const bool named = is(at, "cub") && is(next(at), "::");
        if (named) at = next(next(at));
        const long angle = next(at);
        if (!is(at, "BlockReduce") || !is(angle, "<") || (!named && own.types.count("BlockReduce")))
            return false;
        const long after = program::after_angles(angle);
        const auto given = parts_of(angle, previous(after));
        if (given.size() < 2) return false;
        r.arguments = r.type = words(given[0].first, given[0].second);
        r.check = "if (sizeof(" + r.type + ") > 8";
        const char *const sides[] = {"x", "y", "z"};
        for (size_t side = 0; side < 3; side++) {
            const size_t k = side ? side + 2 : 1; /* the third argument is the algorithm */
            const std::string size =
                k < given.size() ? words(given[k].first, given[k].second) : "1";
            r.arguments += size;
            r.check +=
                std::string(" || blockDim.") + sides[side] + " != (unsigned int)(" + size + ")";
        }
        r.check += ") ::cucc::leave_loops(); ";
        i = after;
        return true;
    }

    /* using NAME = REDUCTION; and typedef REDUCTION NAME; from I on. */
    bool note_reduction(long i, bool of_kernel)
    {
        const bool alias = is(i, "using") && is(next(next(i)), "=");
        if (!alias && !is(i, "typedef")) return false;
        long at = alias ? next(next(next(i))) : next(i), name = alias ? next(i) : -1;
        reduction r;
        if (!read_reduction(at, r)) return false;
        if (!alias) {
            name = at;
            at = next(at);
        }
        if (!is_name(name) || !is(at, ";")) return false;
        auto known = reductions.find(source(name));
        if (known != reductions.end() && known->second.of_kernel == of_kernel &&
            known->second.check != r.check)
            r.type.clear(); /* in two scopes: which one is meant is not known */
        r.of_kernel = of_kernel;
        reductions[source(name)] = r;
        return true;
    }

    /* Which function does it, by the last name of an operator. */
    static std::string function_of(long begin, long end)
    {
        static const std::map<std::string, std::string> functions = {
            {"Sum", "sum"},     {"plus", "sum"}, {"Max", "max"},
            {"maximum", "max"}, {"Min", "min"},  {"minimum", "min"}};
        long last = -1;
        for (long i = begin; i < end && (is_name(i) || is(i, "::")); i = next(i)) last = i;
        auto found = last < 0 ? functions.end() : functions.find(source(last));
        for (long i = last < 0 ? begin : next(last); i < end; i = next(i))
            if (!strchr("<>(){}", source(i)[0])) return "";
        return found == functions.end() ? "" : "cucc_block_" + found->second;
    }

    /* Statement S, in which a call begins at CALL: REDUCTION(STORAGE).FUNCTION(...). */
    bool write_reduction(const statement &s, long call, bool in_compound)
    {
        reduction r;
        long open = call;
        if (is(previous(call), "::") || !read_reduction(open, r) || !is(open, "(")) return false;
        const long dot = next(closing(open)), function = next(dot), list = next(function);
        if (!is(dot, ".") || !is(list, "(")) return false;
        const long close = closing(list);
        const auto given = parts_of(list, close);
        const bool sum = is(function, "Sum");
        const size_t of_count = sum ? 1 : 2; /* the argument that says how many take part */
        if ((!sum && !is(function, "Reduce")) || given.size() < of_count ||
            given.size() > of_count + 1 || is(s.begin, "return"))
            return false;
        const std::string does =
            sum ? "cucc_block_sum" : function_of(given[1].first, given[1].second);
        for (long i = s.begin; i < s.end; i = next(i == call ? close : i)) {
            if (is(i, ",")) return false; /* what stands before it comes first */
            if (i < call && (is(i, "?") || is(i, "&") || is(i, "|"))) return false; /* a choice */
            if (opens(i) && closing(i) < call) i = closing(i);
        }
        for (long i = next(list); i < close; i = next(i)) { /* written twice */
            const bool call_of_it = is_name(i) && is(next(i), "(") && !is_type_word(i) &&
                                    !is_mathematics(source(i)) && i < given[0].second;
            if (call_of_it || is_incremented_before(i) ||
                (is_name(i) && is_assigned_after(after_subscripts(i))))
                return false;
        }
        const std::set<std::string> here_too = declared_here();
        for (const token &t : read_tokens(r.arguments, here(call)))
            if (t.kind == name && here_too.count(t.source)) return false;
        if (does.empty()) return false;
        const std::string items = "cucc_items" + does.substr(strlen("cucc_block")) + "(" +
                                  words(given[0].first, given[0].second) + ")",
                          value = "(" + r.type + ")(" + items + ")",
                          x = "cucc_exchange_0, cucc_t, ",
                          count = given.size() > of_count
                                      ? words(given[of_count].first, given[of_count].second)
                                      : "1024";
        if (checks.find(r.check) == checks.npos) checks += r.check;
        sequence all =
            read_tokens(std::string(in_compound ? "" : "{ ") + "__syncwarp(); cucc_block_put(" + x +
                            value + "); __syncthreads(); ",
                        here(s.begin));
        append(all, part(s.begin, call));
        append(all,
               read_tokens(does + "(" + x + "blockDim, " + value + ", " + count + ")", here(call)));
        append(all, part(next(close), s.end));
        append(all, read_tokens(in_compound ? " " : " }", here(call)));
        edits.push_back({s.begin, s.end, all});
        exchanges = std::max(exchanges, 1);
        return true;
    }

    bool write_of_cub(const statement &s, bool in_compound)
    {
        if (in_compound && note_reduction(s.begin, true)) {
            replace(s.begin, s.end, " ");
            return true;
        }
        if (is_shared(s)) {
            reduction r;
            long i = next(s.begin);
            if (!in_compound || !is(s.begin, "__shared__") || !read_reduction(i, r)) return false;
            const long name = next(next(i));
            if (!is(i, "::") || !is(next(i), "TempStorage") || next(name) != previous(s.end))
                return false;
            replace(s.begin, s.end, " ");
            return true;
        }
        for (long i = s.begin; i < s.end; i = next(i))
            if (is_name(i) && write_reduction(s, i, in_compound)) return true;
        return false;
    }

    /* Those outside of functions; each kernel has its own besides. */
    void note_reductions()
    {
        for (long i = next(-1); i < begin; i = next(i)) {
            if (is(i, "using") || is(i, "typedef")) note_reduction(i, false);
            if (is(i, "{") && is(previous(i), ")")) i = closing(i);
        }
    }
};
} // namespace loops

#endif
