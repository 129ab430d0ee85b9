/* What is known of a kernel that may become loops: its variables, the memory that its parts touch, the
 * loops that all threads go through together. */
#ifndef CUCC_LOOPS_KERNEL_H
#define CUCC_LOOPS_KERNEL_H

#include "loops_list.h"

namespace loops
{
struct kernel {
    std::map<std::string, variable> variables;
    std::set<std::string> shared;
    std::string checks; /* that what is taken for pointers is so */
    long body_begin = 0, body_end = 0;
    bool of_threads = false; /* a function that it calls asks which thread runs */
    long branch = -1;     /* the innermost one that not all threads take, while changes are noted */
    bool promote = true;  /* loops that all threads go through go around the loop over threads */
    std::set<long> steps; /* where the variables of strides are changed */
    std::string zero;     /* what is 0 in the statement whose memory is noted */
    std::map<long, stride> strides; /* by the begin of the loop */

    variable *find(long i)
    {
        if (!is_name(i) || is_member(i)) return nullptr;
        auto found = variables.find(source(i));
        return found == variables.end() ? nullptr : &found->second;
    }

    variable &declare(long name)
    {
        variable &v = variables[source(name)];
        if (v.parameter) throw unsuitable();
        v.declarations++;
        v.number = ++numbered;
        return v;
    }

    /* BEGIN is that of the list, after its parenthesis. */
    void note_parameters(long begin, long end)
    {
        for (long i = begin; i < end; i = next(i)) {
            long name = -1;
            bool pointer = false, object = false;
            for (; i < end && !is(i, ",") && !is(i, "="); i = next(i)) {
                if (is(i, "<")) i = program::after_angles(i);
                if (is_name(i) && i + 0 < end && is_name(next(i)) && !is(i, "const"))
                    object |= own.type(i) != meaning::scalar;
                if (opens(i) && !is(i, "[")) throw unsuitable();
                pointer |= is(i, "*") || is(i, "[") || is(i, "&");
                if (is(i, "[")) i = closing(i);
                if (is_name(i)) name = i;
            }
            while (i < end && !is(i, ",")) i = next(opens(i) ? closing(i) : i);
            if (name < 0) throw unsuitable();
            variable &v = declare(name);
            v.parameter = true;
            v.pointer = pointer;
            v.object = object && !pointer;
            for (long j = body_begin; !v.pointer && j < body_end; j = next(j))
                v.pointer = is(j, source(name).c_str()) && is(next(j), "[") && !is_member(j);
            if (v.pointer && !pointer) /* by its type's name, as in T_pointer x */
                checks += "static_assert(::std::is_convertible<decltype(" + source(name) +
                          "), const volatile void *>::value, \"\"); ";
        }
    }

    static bool is_alias_of_pointer(long begin, long end)
    {
        for (long i = begin; i < end; i = next(i))
            if (own.type(i) == meaning::pointer) return true;
        return false;
    }

    /* Of a type that is not one of numbers, or not known. */
    static bool is_object(long begin, long end)
    {
        for (long i = begin; i < end; i = next(i))
            if (is_name(i) && !is(i, "const") && (own.type(i) != meaning::scalar || is(i, "auto")))
                return true;
        return false;
    }

    void note_declaration(long begin, long end, bool in_head)
    {
        std::string type;
        bool constant = false;
        long i = begin;
        for (; is_type_word(i) || (type.empty() && is_name(i)); i = next(i)) {
            constant |= is(i, "const");
            if (!is(i, "const")) type += source(i) + " ";
        }
        const bool object = is_object(begin, i), alias = is_alias_of_pointer(begin, i);
        while (i < end) {
            std::string stars;
            bool reference = false;
            for (; is(i, "*") || is(i, "&") || is(i, "const") || is(i, "__restrict__");
                 i = next(i)) {
                stars += is(i, "*") ? "*" : "";
                reference |= is(i, "&");
            }
            if (!is_name(i)) throw unsuitable();
            variable &v = declare(i);
            v.type = (constant && !stars.empty() ? "const " : "") + type + stars;
            v.begin = begin;
            v.end = end;
            v.pointer |= !stars.empty() || alias;
            v.object |= stars.empty() && object;
            v.reference |= reference;
            v.in_head = in_head && (v.in_head || v.declarations == 1);
            v.bounds = "";
            for (i = next(i); is(i, "["); i = next(closing(i))) {
                v.array = true;
                for (long j = i, last = closing(i); j <= last; j = next(j)) v.bounds += source(j);
            }
            if (!is(i, "=")) v.pure = false;
            if (v.array || v.reference) v.pure = v.uniform = false;
            v.start = next(i);
            while (i < end && !is(i, ",") && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
            v.start_end = i;
            i = next(i);
        }
    }

    void note_declarations(const statement &s)
    {
        if (s.kind == statement::leaf && is_shared(s)) {
            for (long name : declared_names(s.begin, previous(s.end))) shared.insert(source(name));
            return;
        }
        if (s.opaque) throw unsuitable();
        if (is_declaration(s)) note_declaration(s.begin, s.end, false);
        if (s.is_for) {
            statement head;
            head.begin = next(s.open);
            for (head.end = head.begin; !is(head.end, ";");)
                head.end = next(opens(head.end) ? closing(head.end) : head.end);
            head.end = next(head.end);
            if (is_declaration(head)) note_declaration(head.begin, head.end, true);
        }
        for (const statement &part : s.parts) note_declarations(part);
    }

    /* ---- strides ---- */

    static bool is_whole_number(const std::string &type)
    {
        static const std::set<std::string> types = {
            "int ",      "unsigned ",  "unsigned int ",  "size_t ",   "long ",
            "uint ",     "long long ", "unsigned long ", "long int ", "unsigned long long ",
            "uint32_t ", "int32_t ",   "uint64_t ",      "int64_t ",  "long unsigned int "};
        return types.count(type) > 0;
    }

    static long end_of_part(long i, long end)
    {
        while (i < end && !is(i, ";") && !is(i, ",")) i = next(opens(i) ? closing(i) : i);
        return i;
    }

    /* NAME += STEP or NAME = NAME + STEP from I to END, and nothing else. */
    bool note_step(stride &r, long i, long end)
    {
        if (!is(i, r.name.c_str())) return false;
        long at = i;
        i = next(i);
        bool adds = is(i, "+") && is(next(i), "=");
        if (!adds && !(is(i, "=") && is(next(i), r.name.c_str()) && is(next(next(i)), "+")))
            return false;
        r.step = adds ? next(next(i)) : next(next(next(i)));
        r.step_end = end;
        if (end_of_part(r.step, end) != end || r.step >= end) return false;
        steps.insert(at);
        return true;
    }

    /* NAME < BOUND, and nothing else. */
    static bool note_condition(stride &r, long i, long end)
    {
        if (!is(i, r.name.c_str()) || !is(next(i), "<") || is(next(next(i)), "<")) return false;
        r.condition = i;
        r.condition_end = end;
        for (long j = next(next(i)); j < end; j = next(j))
            if (is(j, r.name.c_str()) || is(j, "&") || is(j, "|") || is(j, "?") || is(j, ",") ||
                is(j, "<") || is(j, ">"))
                return false;
        return true;
    }

    /* Whether NAME only changes at steps between BEGIN and END. */
    bool is_left_alone(const std::string &name, long begin, long end)
    {
        for (long i = begin; i < end; i = next(i)) {
            if (!is(i, name.c_str()) || is_member(i) || steps.count(i)) continue;
            bool address = is(previous(i), "&") && is_unary(previous(i));
            if (address || is_assigned_after(next(i)) || is_incremented_before(i) ||
                in_call(i, begin))
                return false;
        }
        return true;
    }

    static bool leaves(const statement &s)
    {
        return has(s.begin, s.end, "break") || has(s.begin, s.end, "continue") ||
               has(s.begin, s.end, "return") || holds_barrier(s);
    }

    void note_for_stride(const statement &s)
    {
        stride r;
        long i = next(s.open);
        for (; is_type_word(i); i = next(i)) r.type += source(i) + " ";
        r.name = source(i);
        r.start = next(next(i));
        if (!is_whole_number(r.type) || !is(next(i), "=")) return;
        r.start_end = end_of_part(r.start, s.close);
        long condition = next(r.start_end), condition_end = end_of_part(condition, s.close);
        if (!is(r.start_end, ";") || !is(condition_end, ";")) return;
        if (!note_condition(r, condition, condition_end) ||
            !note_step(r, next(condition_end), s.close))
            return;
        if (is_left_alone(r.name, next(s.close), s.end))
            strides[s.begin] = r;
        else
            steps.erase(next(condition_end));
    }

    /* int i = START; ... while (i < BOUND) { ...; i += STEP; }, and not used behind it. */
    void note_while_stride(const statement &s)
    {
        stride r;
        variable *v = find(next(s.open));
        if (!v || v->declarations != 1 || v->parameter || v->in_head || v->start < 0 ||
            s.parts[0].kind != statement::compound || s.parts[0].parts.size() < 2)
            return;
        r.name = source(next(s.open));
        r.type = v->type;
        r.start = v->start;
        r.start_end = v->start_end;
        const statement &last = s.parts[0].parts.back();
        if (!is_whole_number(r.type) || v->array || last.kind != statement::leaf ||
            !note_condition(r, next(s.open), s.close) ||
            !note_step(r, last.begin, previous(last.end)))
            return;
        bool alone = is_left_alone(r.name, body_begin, body_end) || true;
        for (long i = next(v->end); alone && i < body_end; i = next(i))
            alone = !(i >= s.end && is(i, r.name.c_str()) && !is_member(i));
        for (long i = body_begin; alone && i < body_end; i = next(i))
            if (is(i, r.name.c_str()) && !is_member(i) && !steps.count(i) &&
                !(i >= v->begin && i < v->end))
                alone = is_left_alone(r.name, i, next(i));
        if (alone)
            strides[s.begin] = r;
        else
            steps.erase(last.begin);
    }

    void note_strides(const statement &s)
    {
        if (s.kind == statement::loop && !s.is_do && !leaves(s)) {
            if (s.is_for)
                note_for_stride(s);
            else
                note_while_stride(s);
        }
        for (const statement &part : s.parts) note_strides(part);
    }

    bool is_stride(const statement &s)
    {
        auto found = strides.find(s.begin);
        if (!promote || found == strides.end()) return false;
        const stride &r = found->second;
        bool each = is_pure(r.start, r.start_end) && !is_uniform(r.start, r.start_end);
        long bound = next(next(r.condition));
        if (is(bound, "=")) bound = next(bound);
        return each && is_together(bound, r.condition_end) && is_together(r.step, r.step_end);
    }

    /* Whether a value is the same in all threads, and always. */
    bool is_together(long begin, long end)
    {
        return is_uniform(begin, end) && is_pure(begin, end);
    }

    /* A pointer that is part of &POINTER[NUMBER], which reads no memory. */
    bool is_address(long pointer)
    {
        const variable *v = find(pointer);
        const long open = next(pointer), sign = previous(pointer);
        if (!v || !v->pointer || v->array || !is(open, "[") || !is(sign, "&") || !is_unary(sign))
            return false;
        const long after = next(closing(open));
        return !is(after, "[") && !is(after, ".") && !is(after, "->");
    }

    /* What the token J of a value says of V, which gets it. */
    void note_value(variable &v, long j)
    {
        bool twice = is(next(j), source(j).c_str());
        bool call = is(j, "(") && is_name(previous(j)) && !is_word_of_language(previous(j)) &&
                    !is_mathematics(source(previous(j)));
        bool changes = ((is(j, "+") || is(j, "-")) && twice) ||
                       (is(j, "=") && !twice && !is(previous(j), "=") && !is(previous(j), "<") &&
                        !is(previous(j), ">") && !is(previous(j), "!"));
        bool memory = (is(j, "[") && !is_address(previous(j))) || is(j, "->") ||
                      (is(j, "*") && is_unary(j)) ||
                      (is(j, "&") && is_unary(j) && !is_address(next(j)));
        if (is_name(j) && own_names.count(source(j)) && !is_member(j) && !find(j)) call = true;
        if (call || changes || memory) v.pure = v.uniform = false;
        if (is(j, "threadIdx") || is(j, "cucc_t")) v.uniform = false;
        if (!is_name(j) || is_member(j)) return;
        if (const variable *other = find(j)) {
            /* Operators of its class run where nobody sees them. */
            if (other->object && all_hidden_code().memory && !is(next(j), "."))
                v.pure = v.uniform = false;
            v.uniform = v.uniform && other->uniform;
            v.pure = v.pure && other->pure;
        } else if (shared.count(source(j)) || device_variables.count(source(j))) {
            v.pure = v.uniform = false;
        }
    }

    variable value_of(long begin, long end)
    {
        variable v;
        for (long j = begin; j < end; j = next(j)) note_value(v, j);
        return v;
    }
    bool is_uniform(long begin, long end)
    {
        return value_of(begin, end).uniform;
    }
    bool is_pure(long begin, long end)
    {
        return value_of(begin, end).pure;
    }

    /* As an argument of a function that may change it. */
    static bool in_call(long i, long begin)
    {
        for (long j = previous(i); j >= begin && !is(j, ";"); j = previous(j)) {
            if (is(j, ")") || is(j, "]")) {
                j = opening(j);
                continue;
            }
            if (is(j, "[")) return false;
            if (!is(j, "(") && !is(j, "<")) continue;
            const long function = previous(j);
            if (is(j, ">")) continue;
            if (!is_name(function) || !own_names.count(source(function))) continue;
            if (!functions_of_references.count(source(function))) continue;
            const facts &f = facts_of(source(function));
            if (!f.understood || f.changes) return true;
        }
        return false;
    }

    /* What happens to variables between BEGIN and END; UNIFORM: all threads come there together.
     * Returns whether more is known than before. */
    bool note_changes(long begin, long end, bool uniform)
    {
        bool changed = false;
        for (long i = begin; i < end; i = next(i)) {
            variable *v = find(i);
            if (!v) continue;
            variable before = *v;
            long after = after_subscripts(i);
            bool initialised = i > v->begin && i < v->end && is(after, "=") && !in_call(i, begin) &&
                               in_declarator(i, *v);
            bool address = is(previous(i), "&") && is_unary(previous(i));
            const bool moves =
                (is(after, "+") || is(after, "-")) && is(next(after), source(after).c_str());
            bool memory = v->pointer && !v->array && /* which it points to */
                          (is(next(i), "[") || (star_at(previous(i)) == element && !moves));
            bool assigned = !memory && !steps.count(i) &&
                            (is_assigned_after(after) || is_incremented_before(i) || address ||
                             in_call(i, begin));
            if (assigned && !initialised) {
                v->assigned = true;
                v->pure = false;
                if (after != next(i) || address || in_call(i, begin)) v->uniform = false;
            }
            if (assigned) {
                bool pure = v->pure;
                long value = next(after), last;
                while (value < end && (is(value, "=") || is(value, "+") || is(value, "-")))
                    value = next(value);
                for (last = value; last < end && !is(last, ";") && !is(last, ",") && !closes(last);)
                    last = next(opens(last) ? closing(last) : last);
                for (long j = value; j < last; j = next(j)) note_value(*v, j);
                if (!initialised) v->pure = pure;
                bool outlives = branch >= 0 && (v->begin < branch || v->declarations > 1);
                if (!uniform || outlives) v->uniform = false;
            }
            changed |= before.uniform != v->uniform || before.pure != v->pure ||
                       before.assigned != v->assigned;
        }
        return changed;
    }

    /* A branch that is written so that the threads that take it go through it together. */
    bool is_branch(const statement &s)
    {
        return s.kind == statement::conditional && s.parts.size() == 1 && !is_uniform_control(s) &&
               is_pure(next(s.open), s.close) && !has(s.begin, s.end, "return");
    }

    static bool in_declarator(long i, const variable &v)
    {
        for (long j = previous(i); j >= v.begin; j = previous(j)) {
            if (is(j, "=")) return false;
            if (is(j, ",")) return true;
        }
        return true;
    }

    bool note_changes(const statement &s, bool uniform)
    {
        if (s.kind == statement::leaf)
            return is_shared(s) ? false : note_changes(s.begin, s.end, uniform);
        bool changed = false, together = uniform;
        if (uniform && is_branch(s) && (holds_barrier(s) || holds_promoted(s))) {
            const long around = branch;
            changed = note_changes(s.open, s.close, true);
            branch = s.begin;
            changed |= note_changes(s.parts[0], true);
            branch = around;
            return changed;
        }
        if (s.kind != statement::compound) {
            together = uniform && is_uniform_control(s) && (holds_barrier(s) || holds_promoted(s));
            changed = note_changes(s.open, s.close, together);
        }
        for (const statement &part : s.parts) {
            const bool block = s.kind == statement::compound && part.kind == statement::compound;
            const bool alone = block && !holds_barrier(part) && !holds_promoted(part);
            changed |=
                note_changes(part, together && !alone); /* a block within a loop over threads */
        }
        return changed;
    }

    /* What one statement declares is uniform as a whole, or not. */
    bool level_declarations()
    {
        bool changed = false;
        for (auto &v : variables)
            for (auto &other : variables) {
                bool together = v.second.begin >= 0 && v.second.begin == other.second.begin;
                if (!together || v.second.uniform || !other.second.uniform) continue;
                other.second.uniform = false;
                changed = true;
            }
        return changed;
    }

    /* Whether all threads go the same way there. A loop's step may change its variable. */
    bool is_uniform_control(const statement &s)
    {
        if (has(s.begin, s.end, "break") || has(s.begin, s.end, "continue") ||
            has(s.begin, s.end, "return"))
            return false;
        if (s.kind == statement::loop && !s.is_for) return is_uniform(next(s.open), s.close);
        if (!s.is_for) return is_uniform(next(s.open), s.close);
        variable v;
        for (long j = next(s.open); j < s.close; j = next(j)) {
            variable before = v;
            note_value(v, j);
            bool step = is(j, "=") || is(j, "+") || is(j, "-");
            if (step) v = before;
        }
        return v.uniform;
    }

    /* ---- memory ---- */

    static bool is_load(long i)
    {
        bool lanes = is_of_lanes(source(i)) && !is(i, "cucc_put") && !is(i, "cucc_clear") &&
                     !is(i, "cucc_block_put");
        return lanes || source(i).compare(0, 4, "__ld") == 0 ||
               source(i).compare(0, 3, "tex") == 0 || is(i, "printf") || is(i, "__assert_fail") ||
               is(i, "__syncthreads") || is(i, "__syncwarp");
    }

    static bool is_zero(long i)
    {
        return i < count() && tokens[(size_t)i].kind == literal && source(i) == "0";
    }

    /* if (t == 0) of a thread's number: in it element 0 is element t. */
    void note_zero(const statement &s)
    {
        zero = "";
        if (s.kind != statement::conditional || s.parts.size() > 1) return;
        long equal = next(s.open);
        while (equal < s.close && !is(equal, "=")) equal = next(equal);
        long value = next(next(equal));
        if (!is(next(equal), "=") || !is_zero(value) || next(value) != s.close) return;
        if (!is_own(next(s.open), equal)) return;
        for (long j = next(s.open); j < equal; j = next(j)) zero += source(j);
    }

    /* Of a pointer that is a parameter and what is added to it, always: what that points to. */
    std::string memory_of_local(const variable &v, int depth = 0)
    {
        if (v.declarations != 1 || v.assigned || v.array || v.reference || v.start < 0 || depth > 4)
            return "*";
        const long at = is_address(next(v.start)) ? next(v.start) : v.start,
                   number = next(next(at)), end = at == v.start ? v.start_end : closing(next(at));
        const variable *from = find(at);
        const bool sum = at == v.start ? is(next(at), "+") : next(end) == v.start_end;
        if (!v.pointer || !from || !from->pointer || from->assigned || !sum) return "*";
        for (long j = number; j < end; j = next(j)) {
            const variable *w = find(j);
            const bool known =
                w ? !w->pointer && !w->array && !w->reference
                  : is_builtin(j) || is_type_word(j) || own.constants.count(source(j));
            if (is_name(j) && !is_member(j) && !known) return "*";
            if (strchr("?[&,", source(j)[0])) return "*";
        }
        return from->parameter ? "@" + source(at) : memory_of_local(*from, depth + 1);
    }

    std::string memory_of(const variable *v, long i)
    {
        if (v) return v->parameter ? "@" + source(i) : memory_of_local(*v);
        long open = next(i), close = is(open, "[") ? closing(open) : open;
        bool first = !zero.empty() && is_zero(next(open)) && next(next(open)) == close;
        if (!shared.count(source(i)) || !is(open, "[") || is(next(close), "[") ||
            !(first || is_own(next(open), close)))
            return source(i);
        std::string element = source(i); /* of this thread alone */
        if (first) return element + "[" + zero + "]";
        for (long j = open; j <= close; j = next(j)) element += source(j);
        return element;
    }

    /* Whether a subscript is another one in each thread, as far as can be seen. */
    bool is_own(long begin, long end, int depth = 0)
    {
        if (!is_pure(begin, end) || is_uniform(begin, end) || depth > 4) return false;
        for (long j = begin; j < end; j = next(j)) {
            if (strchr("/%>&|^~?", source(j)[0])) return false;
            const variable *v = find(j);
            if (v && !v->uniform && (v->start < 0 || !is_own(v->start, v->start_end, depth + 1)))
                return false;
        }
        return true;
    }

    /* Memory that a pointer within an object points to. */
    static void note_object(accesses &a, long i, long after, const variable &v)
    {
        bool through = is(after, "->");
        for (long j = i; j < after; j = next(j))
            through |= is_member(j) && own.pointers.count(source(j));
        if (!through) return;
        const std::string name = v.parameter ? "@" + source(i) : "*";
        a.loads.insert(name);
        if (is_assigned_after(after) || is_incremented_before(i) || is(previous(i), "&"))
            a.stores.insert(name);
    }

    /* *POINTER as an element; else a sign that declares POINTER, or that goes through more than a name. */
    enum star { none, declares, element, any };
    star star_at(long i)
    {
        const long name = next(i), after = next(name);
        const variable *v = find(name);
        if (!is(i, "*") || !is_unary(i)) return none;
        if (is_type_word(previous(i)) ||
            (v && is(previous(i), ",") && v->begin < i && i < v->end && v->start > i))
            return declares;
        const bool whole =
            v && v->pointer && !v->array && !is(after, "[") && !is(after, "(") && !is(after, ".") &&
            !is(after, "->") && !is_incremented_before(i) &&
            !(is(previous(i), "(") && is(after, ")")); /* perhaps changed behind it */
        return whole ? element : any;
    }

    /* A type, or a number that is the same always. */
    bool is_no_memory(long i)
    {
        return is_builtin(i) || is_word_of_language(i) || is_member(i) ||
               (!find(i) && !shared.count(source(i)) &&
                (own.type(i) != meaning::none || own.constants.count(source(i))));
    }

    void note_accesses(accesses &a, long begin, long end)
    {
        for (long i = begin; i < end; i = next(i)) {
            if (is(i, "->") || star_at(i) == any) {
                a.loads.insert("*");
                a.stores.insert("*");
            }
            if (!is_name(i) || is_no_memory(i)) continue;
            variable *v = find(i);
            long after = after_subscripts(i);
            bool value = v && !v->pointer && !v->reference; /* of the thread itself */
            if (value && v->object) note_object(a, i, after, *v);
            const bool element = star_at(previous(i)) == star::element;
            if (value || (v && !v->parameter && after == next(i) && !element)) continue;
            std::string name = memory_of(v, i);
            bool call = !v && is(next(i), "(");
            if (call && is_mathematics(source(i))) continue;
            if (!call) a.loads.insert(name);
            if (is_assigned_after(after) || is_incremented_before(i)) a.stores.insert(name);
            long close = call ? closing(next(i)) : i;
            const bool ours = own_names.count(source(i)) > 0,
                       reads = is_load(i) || (call && ours && facts_of(source(i)).understood &&
                                              !facts_of(source(i)).changes);
            std::set<std::string> &reached = reads ? a.loads : a.stores;
            for (long j = next(i); j < close; j = next(j)) {
                variable *w = find(j);
                if (!is_name(j) || is_no_memory(j)) continue;
                if (w && w->object && ours) reached.insert(w->parameter ? "@" + source(j) : "*");
                if (w && !w->pointer && !w->reference) continue;
                reached.insert(memory_of(w, j));
            }
        }
    }

    /* ---- what is done by all threads together ---- */

    static bool holds_barrier(const statement &s)
    {
        return has(s.begin, s.end, "__syncthreads") || has(s.begin, s.end, "__shared__") ||
               has(s.begin, s.end, "__syncwarp");
    }

    bool is_promoted(const statement &s)
    {
        if (is_stride(s)) return true;
        if (!promote || !s.is_for || !is_uniform_control(s)) return false;
        accesses a;
        note_accesses(a, next(s.close), s.end);
        for (const std::string &store : a.stores)
            if (store[0] != '@') return false;
        return !a.loads.empty() && (a.stores.empty() || !goes_along(s));
    }

    /* Whether a thread of loop S stores to neighbours one after another. */
    bool goes_along(const statement &s)
    {
        std::string name;
        for (long i = next(s.open); name.empty() && !is(i, ";"); i = next(i))
            if (is(next(i), "=")) name = source(i);
        for (long i = next(s.close); i < s.end; i = next(i)) {
            variable *v = find(i);
            if (!v || !v->pointer || !is(next(i), "[") || !is_assigned_after(after_subscripts(i)))
                continue;
            for (long j = next(i), last = closing(next(i)); j < last; j = next(j))
                if (is(j, name.c_str()) && !is(previous(j), "*") && !is(next(j), "*")) return true;
        }
        return name.empty();
    }

    bool holds_promoted(const statement &s)
    {
        if (is_promoted(s)) return true;
        bool loop = s.kind == statement::loop && is_uniform_control(s);
        bool branch = s.kind == statement::conditional && s.parts.size() == 1 &&
                      is_pure(next(s.open), s.close) && !has(s.begin, s.end, "return");
        if (!loop && !branch && s.kind != statement::compound) return false;
        for (const statement &part : s.parts)
            if (holds_promoted(part)) return true;
        return false;
    }
};

/* What parameters point to is left out: between barriers, threads that share it race. */
static bool meet(const std::set<std::string> &a, const std::set<std::string> &b)
{
    auto theirs = [](const std::set<std::string> &names) {
        for (const std::string &name : names)
            if (name[0] != '@') return true;
        return false;
    };
    if ((a.count("*") && theirs(b)) || (b.count("*") && theirs(a))) return true;
    auto array = [](const std::string &name) { return name.substr(0, name.find('[')); };
    for (const std::string &name : a)
        for (const std::string &other : b) {
            bool own = name == other && name.find('[') != name.npos;
            if (name[0] != '@' && !own && array(name) == array(other)) return true;
        }
    return false;
}
} // namespace loops

#endif
