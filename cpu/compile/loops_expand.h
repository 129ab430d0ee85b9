/* Before a kernel becomes loops (loops.h): what hides barriers is written out. Names of cooperative groups
 * become threadIdx and its like. Functions with barriers or warp functions take the place of their calls, and
 * so do lambdas. A warp function becomes a store and a load with __syncwarp() between them:
 *
 *   v += __shfl_down_sync(mask, v, 16);     __syncwarp(); cucc_clear(x); __syncwarp(); cucc_put(x, v);
 *                                           __syncwarp(); v += cucc_down(x, mask, v, 16);
 */
#ifndef CUCC_LOOPS_EXPAND_H
#define CUCC_LOOPS_EXPAND_H

#include "loops_cub.h"

namespace loops
{
struct expander : kernel_of_cub {
    /* ---- cooperative groups ---- */

    static long without_namespace(long i)
    {
        while (is_name(i) && is(next(i), "::")) i = next(next(i));
        return i;
    }

    static bool is_call_of(long i, const char *function)
    {
        return is(i, function) && is(next(i), "(") && is(next(next(i)), ")");
    }

    bool note_group(const statement &s)
    {
        if (s.kind != statement::leaf) return false;
        if (is(s.begin, "namespace")) { /* another name of cooperative_groups */
            replace(s.begin, s.end, " ");
            return true;
        }
        long i = s.begin;
        while (i < s.end && !is(i, "=")) i = next(opens(i) ? closing(i) : i);
        long name = previous(i), value = without_namespace(next(i));
        if (!is(i, "=") || !is_name(name) || name == s.begin) return false;
        group g;
        if (is_call_of(value, "this_thread_block")) {
            g.kind = group::block;
        } else if (is_call_of(value, "this_grid")) {
            g.kind = group::grid;
        } else if (is(value, "tiled_partition") && is(next(value), "<")) {
            long size = next(next(value)), open = next(next(size));
            if (!is(next(size), ">") || !is(open, "(")) return false;
            long of = without_namespace(next(open));
            auto found = groups.find(source(of));
            bool block = is_call_of(of, "this_thread_block") ||
                         (found != groups.end() && found->second.kind == group::block);
            if (!block) return false;
            g.kind = group::tile;
            g.size = source(size);
            static const std::set<std::string> sizes = {"1", "2", "4", "8", "16", "32"};
            if (is_name(size)) {
                checks += "static_assert(" + g.size + " == 32, \"\"); ";
                g.size = "32";
            } else if (!sizes.count(g.size)) {
                return false;
            }
        } else {
            return false;
        }
        auto known = groups.find(source(name));
        if (known != groups.end() && (known->second.kind != g.kind || known->second.size != g.size))
            throw unsuitable();
        groups[source(name)] = g;
        replace(s.begin, s.end, " ");
        return true;
    }

    static std::string mask_of(const group &g)
    {
        return g.size == "32" ? "0xffffffffu"
                              : "(((1u << " + g.size + ") - 1) << cucc_t % 32 / " + g.size + " * " +
                                    g.size + ")";
    }

    /* What the member function at I of a group says, or nothing; INT: an int wants it. */
    static std::string member_of(const group &g, const std::string &name, bool of_int)
    {
        const std::string threads = "(blockDim.x * blockDim.y * blockDim.z)",
                          block =
                              "(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))",
                          wide = of_int ? "" : "(unsigned long long)";
        bool size = name == "size" || name == "num_threads";
        if (g.kind == group::block) {
            if (size) return threads;
            if (name == "thread_rank") return of_int ? "cucc_t" : "((unsigned int)cucc_t)";
            if (name == "group_index") return "blockIdx";
            if (name == "thread_index") return "threadIdx";
            if (name == "group_dim" || name == "dim_threads") return "blockDim";
        } else if (g.kind == group::grid) {
            if (size) return "(" + wide + threads + " * gridDim.x * gridDim.y * gridDim.z)";
            if (name == "thread_rank") return "(" + wide + block + " * " + threads + " + cucc_t)";
            if (name == "block_rank") return "(" + wide + block + ")";
            if (name == "num_blocks") return "(" + wide + "gridDim.x * gridDim.y * gridDim.z)";
            if (name == "group_dim" || name == "dim_blocks") return "gridDim";
            if (name == "block_index") return "blockIdx";
        } else {
            if (size) return g.size + "u";
            if (name == "thread_rank") return "((unsigned int)cucc_t % " + g.size + ")";
            if (name == "meta_group_rank") return "((unsigned int)cucc_t / " + g.size + ")";
            if (name == "meta_group_size")
                return "((" + threads + " + " + g.size + " - 1) / " + g.size + ")";
        }
        return "";
    }

    /* GROUP.function(...), sync(GROUP) and reduce(GROUP, value, operation). */
    bool write_group(long i)
    {
        auto found = groups.find(source(i));
        if (!is_name(i) || is_member(i) || found == groups.end()) return false;
        const group &g = found->second;
        const std::string barrier = g.kind == group::block ? "__syncthreads()" : "__syncwarp()";
        bool tile = g.kind == group::tile;
        if (is(next(i), ".")) {
            long name = next(next(i)), open = next(name), close = closing(open);
            if (!is(open, "(")) return false;
            std::string function = source(name);
            if (next(open) == close) {
                bool of_int = is(previous(i), "=") && is(previous(previous(previous(i))), "int") &&
                              !is(previous(previous(previous(previous(i)))), "long");
                std::string value = function == "sync" && g.kind != group::grid
                                        ? barrier
                                        : member_of(g, function, of_int);
                if (value.empty()) return false;
                replace(i, next(close), value);
                return true;
            }
            static const std::set<std::string> known = {"shfl",     "shfl_up", "shfl_down",
                                                        "shfl_xor", "any",     "all"};
            bool lanes = function.compare(0, 4, "shfl") == 0;
            if (!tile || !(known.count(function) || (function == "ballot" && g.size == "32")))
                return false;
            std::string arguments = words(next(open), close);
            replace(i, next(close),
                    "__" + function + "_sync(" + mask_of(g) + ", " + arguments +
                        (lanes ? ", " + g.size + ")" : ")"));
            return true;
        }
        long open = previous(i), name = previous(open), first = name;
        if (!is(open, "(")) return false;
        while (is(previous(first), "::") && is_name(previous(previous(first))))
            first = previous(previous(first));
        long close = closing(open);
        if (is(name, "sync") && next(i) == close && g.kind != group::grid) {
            replace(first, next(close), barrier);
            return true;
        }
        auto arguments = parts_of(open, close);
        if (!is(name, "reduce") || !tile || arguments.size() != 3) return false;
        long operation = without_namespace(arguments[2].first);
        if (!is(operation, "plus") && !is(operation, "less") && !is(operation, "greater"))
            return false;
        replace(first, next(close),
                "cucc_" + source(operation) + "(" + mask_of(g) + ", " +
                    words(arguments[1].first, arguments[1].second) + ")");
        return true;
    }

    /* Whether the call at I does something, so that it must not be written twice. */
    static bool has_effects(long i)
    {
        if (is(i, "+") || is(i, "-")) return is(i + 1, source(i).c_str());
        if (!is_name(i) || !(is(next(i), "(") || is(next(i), "<")) || is_word_of_language(i))
            return false;
        if (is(next(i), "(") && own_names.count(source(i))) {
            const facts &f = facts_of(source(i));
            return !f.understood || f.trace || f.changes;
        }
        return is(next(i), "(") ? !is_mathematics(source(i)) && source(i).compare(0, 2, "__") &&
                                      source(i).compare(0, 3, "tex")
                                : own_names.count(source(i)) > 0;
    }

    /* Also as an argument that is a reference. */
    static bool is_changed_between(const std::string &name, long begin, long end)
    {
        if (is_assigned_between(name, begin, end)) return true;
        for (long i = begin; i < end; i = next(i))
            if (is_name(i) && own_names.count(source(i)) && is(next(i), "(") &&
                has(next(i), closing(next(i)), name.c_str()) &&
                functions_of_references.count(source(i)))
                return true;
        return false;
    }

    /* ---- lambdas ---- */

    /* auto NAME = [...](...) { return VALUE; }; whose value is computed of arguments and variables. */
    bool write_lambda(const statement &s)
    {
        long i = s.begin;
        if (s.kind != statement::leaf) return false;
        if (is(i, "const")) i = next(i);
        long name = next(i), square = next(next(name));
        if (!is(i, "auto") || !is(next(name), "=") || !is(square, "[")) return false;
        long open = next(closing(square)), brace;
        while (is(open, "__device__") || is(open, "__host__")) open = next(open);
        brace = next(closing(open));
        if (!is(open, "(") || !is(brace, "{") || !is(next(brace), "return")) return false;
        long value = next(next(brace)), last = statement_end(value);
        if (next(last) != closing(brace) || next(next(last)) != previous(s.end)) return false;
        for (long j = value; j < last; j = next(j))
            if (is(j, "[") || is(j, "->") || is(j, "=") || is(j, "{") || is(j, "&") ||
                is_incremented_before(j) || (is(j, "*") && is_unary(j)))
                return false;
        const bool by_reference = is(next(square), "&") && next(next(square)) == closing(square);
        for (long j = next(square); j < closing(square); j = next(j))
            if (is(j, "=") && j != next(square)) return false; /* a new variable */
        auto parameters = parts_of(open, closing(open));
        std::set<std::string> own_parameters;
        for (auto &p : parameters) own_parameters.insert(source(previous(p.second)));
        for (long j = value; j < last; j = next(j))
            if (is_name(j) && !by_reference && !own_parameters.count(source(j)) &&
                is_changed_between(source(j), s.end, end))
                return false;
        for (long j = s.end; j < end; j = next(j)) {
            if (!is(j, source(name).c_str()) || is_member(j)) continue;
            if (!is(next(j), "(")) return false;
            auto arguments = parts_of(next(j), closing(next(j)));
            if (arguments.size() != parameters.size()) return false;
            for (auto &a : arguments)
                for (long k = a.first; k < a.second; k = next(k)) {
                    bool again = is(k, source(name).c_str()); /* not all at once */
                    if (is(k, "=") || is(k, "{") || is_incremented_before(k) || again ||
                        has_effects(k))
                        return false;
                }
            sequence text = part(value, last), all = read_tokens("(", here(j));
            for (size_t k = 0; k < parameters.size(); k++) {
                long of = previous(parameters[k].second);
                if (!is_name(of) || of == parameters[k].first) return false;
                std::string type;
                for (long t = parameters[k].first; t < of; t = next(t))
                    if (!is(t, "&") && !is(t, "const")) type += source(t) + " ";
                std::string as = type == "auto " ? "" : "(" + type + ")";
                replace_word(text, source(of),
                             read_tokens("cucc_argument_" + std::to_string(k), here(of)));
                sequence argument = read_tokens("(" + as + "(", here(j));
                append(argument, part(arguments[k].first, arguments[k].second));
                append(argument, read_tokens("))", here(j)));
                values.push_back(argument);
            }
            for (size_t k = 0; k < parameters.size(); k++)
                replace_word(text, "cucc_argument_" + std::to_string(k), values[k]);
            values.clear();
            append(all, text);
            append(all, read_tokens(")", here(j)));
            edits.push_back({j, next(closing(next(j))), all});
        }
        replace(s.begin, s.end, " ");
        return true;
    }
    std::vector<sequence> values;

    /* ---- functions ---- */

    /* Of what stands in parentheses or brackets: whether only some of the threads may come there. */
    static bool has_choice(long begin, long end)
    {
        for (long i = begin; i < end; i = next(i)) {
            if (is(i, "?")) return true;
            if (is(i, "&") && is(next(i), "&")) return true;
            if (is(i, "|") && is(next(i), "|")) return true;
        }
        return false;
    }

    /* The type of a variable of the kernel, if it is one word. */
    std::string type_of(const std::string &name) const
    {
        long from = parameters_begin;
        for (long i = from; i < end; i = i == parameters_end ? begin : next(i)) {
            if (!is(i, name.c_str()) || is_member(i)) continue;
            bool declares = is_type_word(previous(i)) ||
                            (is_name(previous(i)) && !is_word_of_language(previous(i)));
            const bool one_word =
                !is_type_word(previous(previous(i))) || is(previous(previous(i)), "const");
            if (declares && one_word && !is(previous(i), "auto") && !is(next(i), "["))
                return source(previous(i));
            if (declares) return "";
        }
        return "";
    }

    /* Of a template: what stands for its parameters. */
    bool bind_template(long function, long call, const std::map<std::string, std::string> &deduced,
                       std::map<std::string, std::string> &bound)
    {
        long first = statement_begin(function);
        if (!is(first, "template")) return !is(next(call), "<");
        long angle = next(first), last = angle, depth = 0;
        for (long i = angle; i < function; i = next(i)) {
            depth += is(i, "<") - is(i, ">");
            if (!depth) {
                last = i;
                break;
            }
        }
        std::vector<std::pair<long, long>> given;
        if (is(next(call), "<")) {
            long open = call;
            while (open < end && !is(open, "(")) open = next(open);
            given = parts_of(next(call), previous(open));
        }
        size_t k = 0;
        for (auto &p : parts_of(angle, last)) {
            long name = p.first;
            while (next(name) < p.second && !is(next(name), "=")) name = next(name);
            auto found = deduced.find(source(name));
            if (k < given.size())
                bound[source(name)] = words(given[k].first, given[k].second);
            else if (is(next(name), "=") && next(name) < p.second &&
                     names_another(next(next(name)), p.second, angle, last))
                return false;
            else if (is(next(name), "=") && next(name) < p.second)
                bound[source(name)] = words(next(next(name)), p.second);
            else if (found != deduced.end())
                bound[source(name)] = found->second;
            else
                return false;
            bool type = is(p.first, "typename") || is(p.first, "class");
            if (!type) bound[source(name)] = "(" + bound[source(name)] + ")";
            k++;
        }
        return true;
    }

    /* Whether a default is computed of another parameter of the template. */
    static bool names_another(long begin, long end, long angle, long last)
    {
        for (long i = begin; i < end; i = next(i))
            for (auto &p : parts_of(angle, last))
                if (is_name(i) && !is_type_word(i) && has(p.first, p.second, source(i).c_str()) &&
                    !(p.first <= i && i < p.second))
                    return true;
        return false;
    }

    static bool is_plain(const std::pair<long, long> &p) /* a name or a number */
    {
        return next(p.first) == p.second && (is_name(p.first) || here_is_literal(p.first));
    }
    static bool here_is_literal(long i)
    {
        return tokens[(size_t)i].kind == literal;
    }

    /* Whether a function has what only loops over all threads can do, or asks which thread runs. */
    static bool is_written_out(const std::string &name)
    {
        auto found = device_functions.find(name);
        if (found == device_functions.end() || found->second.size() != 1) return false;
        int definitions = 0; /* with specialisations of a template, and others of the name */
        for (const function &f : own.functions[name]) definitions += f.brace >= 0;
        if (definitions != 1) return false;
        long brace = found->second[0], last = closing(brace);
        for (long i = brace; i < last; i = next(i)) {
            bool group =
                is(i, "sync") || is(i, "reduce") || is(i, "shfl_down") || is(i, "shfl_xor");
            if (is_warp_function(i) || is(i, "__syncthreads") || is(i, "__syncwarp") ||
                is(i, "__shared__") || is(i, "threadIdx") || (group && is(next(i), "(")))
                return true;
            if (is_name(i) && source(i) != name && device_functions.count(source(i)) &&
                (is(next(i), "(") || is(next(i), "<")) && is_written_out(source(i)))
                return true;
        }
        return false;
    }

    bool write_call(const statement &s, long call, bool in_compound)
    {
        const std::string &name = source(call);
        if (!is_name(call) || is_member(call) || !device_functions.count(name)) return false;
        long open = next(call);
        if (is(open, "<")) {
            while (open < s.end && !is(open, "(")) open = next(open);
        }
        if (!is(open, "(") || !is_written_out(name)) return false;
        long brace = device_functions[name][0], last = closing(brace);
        long close = previous(brace), list = opening(close), function = previous(list);
        if (last > kernel || !is(close, ")") || !is(function, name.c_str())) return false;
        if (has_choice(s.begin, call) || (s.kind == statement::leaf && is(s.begin, "return")))
            return false;
        auto parameters = parts_of(list, close), arguments = parts_of(open, closing(open));
        if (arguments.size() != parameters.size()) return false;
        for (long i = s.begin; i < call; i = next(opens(i) && closing(i) < call ? closing(i) : i))
            if (is(i, ",")) return false; /* what stands before it comes first */

        long at = brace;
        statement body = parse(at);
        std::set<std::string> names;
        note_names(body, names);
        long value = -1, value_end = -1;
        for (long i = next(brace); i < last; i = next(i))
            if (is(i, "return")) {
                if (value >= 0 || body.parts.empty() || body.parts.back().begin != i) return false;
                value = next(i);
                value_end = statement_end(i);
            }
        std::string number = std::to_string(++numbered), result = "cucc_result_" + number;
        sequence inner = part(next(brace), value >= 0 ? previous(value) : last), expression;
        if (value >= 0) expression = part(value, value_end);

        std::map<std::string, std::string> deduced, bound;
        for (size_t k = 0; k < parameters.size(); k++) {
            long of = previous(parameters[k].second);
            if (!is_name(of) || of == parameters[k].first) return false;
            names.insert(source(of));
            if (next(parameters[k].first) == of && is_name(arguments[k].first) &&
                is_plain(arguments[k]))
                deduced[source(parameters[k].first)] = type_of(source(arguments[k].first));
        }
        for (auto d = deduced.begin(); d != deduced.end();)
            d = d->second.empty() ? deduced.erase(d) : std::next(d);
        /* A function that is a template only for its group's sake needs no type for it. */
        for (size_t k = 0; k < parameters.size(); k++)
            if (groups.count(source(arguments[k].first)) && is_plain(arguments[k]))
                for (long t = parameters[k].first; t < parameters[k].second; t = next(t))
                    if (is_name(t)) deduced.insert({source(t), "int"});
        if (!bind_template(function, call, deduced, bound)) return false;
        const std::set<std::string> here_too = declared_here();
        for (long i = next(brace); i < last; i = next(i)) /* no name of it is one of the kernel's */
            if (is_name(i) && !is_member(i) && !names.count(source(i)) && !bound.count(source(i)) &&
                !is_type_word(i) && here_too.count(source(i)))
                return false;

        /* The function's own names first, so that none of them is one of the arguments. */
        sequence head;
        std::map<std::string, sequence> instead;
        for (size_t k = 0; k < parameters.size(); k++) {
            long of = previous(parameters[k].second);
            const std::string parameter = source(of), place = "cucc_argument_" + std::to_string(k);
            bool reference = is(previous(of), "&"), pointer = is(previous(of), "*");
            bool kept = !is_moved_between(parameter, brace, last) && !has(brace, last, "sizeof");
            if (has(parameters[k].first, parameters[k].second, "volatile")) return false;
            const bool group = groups.count(source(arguments[k].first)) > 0;
            if (reference && !group &&
                !is_same_type(parameters[k].first, previous(of), arguments[k], bound))
                return false;
            instead[place] = part(arguments[k].first, arguments[k].second);
            if (is_plain(arguments[k]) && (group || reference || (pointer && kept))) {
                instead[parameter + "_cucc_" + number] = instead[place];
                continue;
            }
            if (reference || pointer) return false;
            append(head, part(parameters[k].first, of));
            append(head, read_tokens(" " + parameter + " = " + place + "; ", here(of)));
        }
        sequence type;
        long first = statement_begin(function);
        if (is(first, "template")) {
            long depth = 0;
            for (first = next(first); first < function; first = next(first)) {
                depth += is(first, "<") - is(first, ">");
                if (!depth) break;
            }
            first = next(first);
        }
        for (long i = first; i < function; i = next(i)) {
            static const std::set<std::string> qualifiers = {"static",     "inline",
                                                             "__device__", "__forceinline__",
                                                             "__host__",   "__noinline__",
                                                             "__inline__", "extern",
                                                             "const",      "constexpr"};
            if (is(i, "__attribute__"))
                i = closing(next(i));
            else if (is_name(i) && !qualifiers.count(source(i)))
                append(type, read_tokens(source(i) + " ", here(call)));
            else if (!is_name(i) && !qualifiers.count(source(i)))
                return false;
        }
        bool alone = call == s.begin && next(closing(open)) == previous(s.end);
        if (value < 0 && !alone) return false;

        for (const std::string &n : names)
            for (sequence *all : {&head, &inner, &expression})
                replace_word(*all, n, read_tokens(n + "_cucc_" + number, here(call)));
        size_t k = 0;
        for (auto &b : bound) {
            const std::string place = "cucc_bound_" + std::to_string(k++);
            for (sequence *all : {&head, &inner, &expression, &type})
                replace_word(*all, b.first, read_tokens(place, here(call)));
            instead[place] = read_tokens(b.second, here(call));
        }
        for (auto &i : instead)
            for (sequence *all : {&head, &inner, &expression, &type})
                replace_word(*all, i.first, i.second);

        sequence all = read_tokens(in_compound ? "" : "{ ", here(call));
        if (value >= 0) {
            append(all, type);
            append(all, read_tokens(result + "; ", here(call)));
        }
        append(all, read_tokens("{ ", here(call)));
        append(all, head);
        append(all, inner);
        if (value >= 0) {
            append(all, read_tokens(result + " = ", here(call)));
            append(all, expression);
            append(all, read_tokens("; ", here(call)));
        }
        append(all, read_tokens("} ", here(call)));
        if (value >= 0) {
            append(all, part(s.begin, call));
            append(all, read_tokens(result, here(call)));
            append(all, part(next(closing(open)), s.end));
        }
        append(all, read_tokens(in_compound ? " " : " } ", here(call)));
        edits.push_back({s.begin, s.end, all});
        return true;
    }

    /* Whether a pointer itself changes, or its address is taken. */
    static bool is_moved_between(const std::string &name, long begin, long end)
    {
        for (long i = begin; i < end; i = next(i)) {
            if (!is(i, name.c_str()) || is_member(i)) continue;
            const bool address = is(previous(i), "&") && is_unary(previous(i));
            if (is_assigned_after(next(i)) || (is_incremented_before(i) && !is(next(i), "[")) ||
                (address && !is(next(i), "[")))
                return true;
        }
        return false;
    }

    /* Whether a reference to what is written from TYPE to LAST may be another name of a variable. */
    bool is_same_type(long type, long last, const std::pair<long, long> &argument,
                      const std::map<std::string, std::string> &bound) const
    {
        std::string wanted;
        if (!is_plain(argument) || !is_name(argument.first)) return false;
        for (long i = type; i < last; i = next(i)) {
            if (is(i, "const")) continue;
            auto b = bound.find(source(i));
            wanted += b == bound.end() ? source(i) : b->second;
        }
        return !wanted.empty() && wanted == type_of(source(argument.first));
    }

    /* ---- warp functions ---- */

    /* Whether a mask is the same in all lanes: a number, or the name of one. */
    bool is_constant(long from, long to) const
    {
        for (long i = from; i < to; i = next(i)) {
            if (!is_name(i) || is_type_word(i) || is(i, "cucc_t")) continue;
            for (long j = begin; j < end; j = next(j)) {
                if (!is(j, source(i).c_str()) || is_member(j)) continue;
                bool declared = is_name(previous(j)) && is(next(j), "=");
                bool number = declared && here_is_literal(next(next(j)));
                if (declared ? !number : is_assigned_between(source(i), j, next(j))) return false;
            }
            if (is(next(i), "(")) return false;
        }
        return true;
    }

    bool write_exchange(const statement &s, bool in_compound)
    {
        struct call {
            long begin, end;
        };
        std::vector<call> calls;
        std::vector<std::string> put, taken;
        for (long i = s.begin; i < s.end; i = next(i)) {
            if (!is_warp_function(i)) continue;
            long open = next(i), close = closing(open);
            auto arguments = parts_of(open, close);
            std::string name = source(i);
            bool old = name.size() < 5 || name.compare(name.size() - 5, 5, "_sync") != 0;
            old = old && name.compare(0, 5, "cucc_") != 0;
            size_t v = old ? 0 : 1;
            if (arguments.size() <= v) return false;
            std::string mask = old ? "-1LL"
                                   : "(unsigned int)(" +
                                         words(arguments[0].first, arguments[0].second) + ")",
                        value = words(arguments[v].first, arguments[v].second), rest;
            for (size_t k = v + 1; k < arguments.size(); k++)
                rest += ", " + words(arguments[k].first, arguments[k].second);
            for (long j = next(open); j < close; j = next(j))
                if (is_warp_function(j) || is_incremented_before(j) || has_effects(j) ||
                    (is_name(j) && is_assigned_after(after_subscripts(j))))
                    return false;
            if (has_choice(s.begin, i) || is(s.begin, "return")) return false;
            if (!old && !is_constant(arguments[0].first, arguments[0].second)) return false;
            if (name == "__all_sync") name = "__all_of";
            if (name.compare(0, 2, "__") == 0) name = "cucc_" + name.substr(2);
            if (name.size() > 5 && name.compare(name.size() - 5, 5, "_sync") == 0)
                name.resize(name.size() - 5);
            std::string x = "cucc_exchange_" + std::to_string(calls.size());
            put.push_back("cucc_put(cucc_way, " + x + ", cucc_t, " + value + "); ");
            taken.push_back(name + "(cucc_way, " + x + ", cucc_t, blockDim, " + mask + ", " +
                            value + rest + ")");
            calls.push_back({i, next(close)});
            i = close;
        }
        for (long i = s.begin; i < s.end; i = next(opens(i) ? closing(i) : i))
            if (is(i, ",")) return false;
        if (calls.empty()) return false;
        std::string all = in_compound ? "" : "{ ";
        all += "__syncwarp(); ";
        for (size_t k = 0; k < calls.size(); k++)
            all += "cucc_clear(cucc_way, cucc_exchange_" + std::to_string(k) + ", cucc_t); ";
        all += "__syncwarp(); ";
        for (const std::string &p : put) all += p;
        all += "__syncwarp(); ";
        sequence result = read_tokens(all, here(s.begin));
        long from = s.begin;
        for (size_t k = 0; k < calls.size(); k++) {
            append(result, part(from, calls[k].begin));
            append(result, read_tokens(taken[k], here(calls[k].begin)));
            from = calls[k].end;
        }
        append(result, part(from, s.end));
        append(result, read_tokens(in_compound ? " " : " }", here(s.begin)));
        edits.push_back({s.begin, s.end, result});
        exchanges = std::max(exchanges, (int)calls.size());
        return true;
    }

    /* ---- names ---- */

    /* T *NAME = ARRAY; where the array is shared memory: it is another name of it. */
    bool write_alias(const statement &s, bool in_compound)
    {
        if (!in_compound || !is_declaration(s)) return false;
        long of = previous(previous(s.end)), name = previous(previous(of));
        if (!is_name(of) || !is(previous(of), "=") || !is(previous(name), "*")) return false;
        for (long i = s.begin; i < s.end; i = next(i))
            if (is(i, ",") || is(i, "volatile")) return false;
        bool array = false;
        for (long i = begin; i < end; i = next(i)) {
            if (is(i, "__shared__"))
                for (long j : declared_names(statement_begin(i), statement_end(i)))
                    array |= source(j) == source(of) && is(next(j), "[") &&
                             !is(next(closing(next(j))), "[");
            if (i >= s.end && is(i, source(name).c_str()) &&
                (is_assigned_after(next(i)) || is_incremented_before(i) || is(previous(i), "&")))
                return false;
        }
        std::string type; /* what is cast is other memory to the compiler */
        for (long i = begin; i < end; i = next(i))
            if (is(i, source(of).c_str()) && is(next(i), "[") && type.empty())
                type = source(previous(i));
        if (!array || type != source(previous(previous(name)))) return false;
        for (long i = s.end; i < end; i = next(i))
            if (is(i, source(name).c_str()) && !is_member(i))
                edits.push_back({i, i + 1, part(of, of + 1)});
        replace(s.begin, s.end, " ");
        return true;
    }

    /* ---- one thing after another ---- */

    bool write_statements(const statement &s, bool in_compound,
                          bool (expander::*write)(const statement &, bool))
    {
        if (s.kind == statement::leaf && !s.opaque) return (this->*write)(s, in_compound);
        bool any = false;
        for (const statement &p : s.parts) {
            any |= write_statements(p, s.kind == statement::compound, write);
            bool one = write == &expander::write_one_lambda || write == &expander::write_alias;
            if (any && one) return true;
        }
        return any;
    }
    bool write_one_group(const statement &s, bool in_compound)
    {
        return in_compound && note_group(s);
    }
    bool write_one_lambda(const statement &s, bool in_compound)
    {
        return in_compound && write_lambda(s);
    }
    bool write_one_call(const statement &s, bool in_compound)
    {
        for (long i = s.begin; i < s.end; i = next(i))
            if (write_call(s, i, in_compound)) return true;
        return false;
    }

    bool write_once(int what)
    {
        edits.clear();
        long i = begin;
        statement body = parse(i);
        switch (what) {
        case 0: return write_statements(body, true, &expander::write_one_group);
        case 1: return write_statements(body, true, &expander::write_one_lambda);
        case 2: return write_statements(body, true, &expander::write_one_call);
        case 4: return write_statements(body, true, &expander::write_alias);
        case 6: return write_statements(body, true, &expander::write_of_cub);
        case 3: {
            bool any = false;
            for (i = begin; i < end; i = next(i)) {
                if (!write_group(i)) continue;
                any = true;
                i = edits.back().end - 1;
            }
            return any;
        }
        default: return write_statements(body, true, &expander::write_exchange);
        }
    }

    /* Puts the body between two braces, written out, behind all tokens. Returns where. */
    long write(long parameters, long brace)
    {
        const int most = 400;
        kernel = brace;
        parameters_begin = next(parameters);
        parameters_end = closing(parameters);
        sequence body = part(brace, closing(brace) + 1);
        begin = count();
        append(tokens, body);
        end = count() - 1;
        note_reductions();
        if (write_once(6)) make_edits();
        tell_apart(); /* what takes the place of a call or a lambda must not meet another name of the same sort */
        int turns = 0;
        for (int what : {0, 2, 1, 3, 4, 5}) {
            while (turns++ < most && count() - begin < 200000 && write_once(what)) {
                make_edits();
                if (what == 5) break;
            }
            if (what == 2) /* groups that functions have made */
                while (turns++ < most && write_once(0)) make_edits();
        }
        edits.clear();
        long i = begin;
        write_plainly(parse(i), true);
        make_edits();
        tell_apart();
        return begin;
    }
};
} // namespace loops

#endif
