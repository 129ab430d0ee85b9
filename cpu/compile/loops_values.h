/* The expressions that kernels and functions may hold which become loops (loops_list.h): what each is a value of,
 * what it changes, and whose address it keeps. */
#ifndef CUCC_LOOPS_VALUES_H
#define CUCC_LOOPS_VALUES_H

#include "loops_program.h"
#include <algorithm>

namespace loops
{
/* What a function does, with all that it calls. */
struct facts {
    bool understood = false;
    bool threads = false; /* asks which thread runs */
    bool objects = false; /* has variables of classes, whose code is not written where it runs */
    bool vectors = false; /* has operands that operators of the program may be for */
    bool trace = false;   /* changes what the host or another thread can see without a pointer */
    bool memory = false;  /* reads or changes memory */
    bool changes = false; /* what its arguments point or refer to */
    std::set<std::string>
        plain; /* types that only the compiler knows, and that must be plain ones */
};

/* A variable as the grammar sees it. DEPTH: how often what it holds can be subscripted. */
struct local {
    meaning type = meaning::scalar;
    int depth = 0, bounds = 0; /* BOUNDS: of an array, which lies in the variable itself */
    bool reference = false, parameter = false, shared = false;
};

struct value {
    const local *root = nullptr;
    bool place = false;   /* that an assignment may change */
    bool memory = false;  /* not of a variable of the thread itself */
    bool wrapped = false; /* in parentheses, where nothing sees that it is assigned to */
    bool holds = false;   /* a pointer, or may have one within */
    int depth = 0, bounds = 0;
    bool in_memory_of_object = false;
};
struct expressions {
    enum kind { kernel, plain, hidden }; /* hidden: runs without a call, as operators do */
    kind what = plain;
    facts found;
    bool maker = false;       /* a constructor */
    bool changes_own = false; /* an operator that assigns to its object, or its first argument */
    bool of_class = false;
    std::string own_name;
    std::vector<std::map<std::string, local>> scopes;
    std::map<std::string, bool> template_names; /* whether they are of types */
    std::set<std::string> shared_names, other_names;
    std::set<std::string> declared, global; /* names in it, and of what is outside of it */
    int choice = 0;                         /* only some threads may come there */
    int escape = 0; /* a value that is kept, and must not be the address of a variable */
    int sized = 0;  /* in sizeof */

    virtual const facts &facts_of_called(
        const std::string &name) = 0; /* a function of the program */

    [[noreturn]] static void refuse()
    {
        throw unsuitable();
    }
    static void expect(long &i, const char *symbol)
    {
        if (!is(i, symbol)) refuse();
        i = next(i);
    }

    /* ---- names ---- */

    const local *find(long i) const
    {
        if (!is_name(i)) return nullptr;
        for (auto s = scopes.rbegin(); s != scopes.rend(); ++s) {
            auto v = s->find(source(i));
            if (v != s->end()) return &v->second;
        }
        return nullptr;
    }

    static bool is_reserved(long i)
    {
        const bool word = is_word_of_language(i) && !program::is_vector_word(i);
        return is_builtin(i) || is(i, "warpSize") || is(i, "this") || word;
    }

    void declare(long i, const local &v)
    {
        if (!is_name(i) || is_reserved(i)) refuse();
        scopes.back()[source(i)] = v;
        declared.insert(source(i));
        (v.shared ? shared_names : other_names).insert(source(i));
        if (what == kernel && shared_names.count(source(i)) && other_names.count(source(i)))
            refuse();
    }

    /* ---- types ---- */

    static bool is_qualifier(long i)
    {
        return is(i, "const") || is(i, "__restrict__") || is(i, "__restrict");
    }

    meaning word_of_type(long i) const
    {
        if (!is_name(i) || find(i)) return meaning::none;
        auto t = template_names.find(source(i));
        if (t != template_names.end()) return t->second ? meaning::object : meaning::none;
        return own.type(i);
    }

    void note_type(meaning m)
    {
        if (m == meaning::unclear) refuse();
        found.objects |= m == meaning::object;
        found.vectors |= m == meaning::vector || m == meaning::enumeration;
    }

    bool begins_type(long i) const
    {
        while (is_qualifier(i) || is(i, "constexpr") || program::is_class_word(i) || is(i, "enum"))
            i = next(i);
        if (is(i, "std") && is(next(i), "::")) i = next(next(i));
        return word_of_type(i) != meaning::none && !is(next(i), "::");
    }

    /* Without the stars behind it. */
    meaning type_words(long &i)
    {
        meaning m = meaning::none;
        for (;; i = next(i)) {
            if (is_qualifier(i) || is(i, "constexpr")) continue;
            if (m == meaning::none && (program::is_class_word(i) || is(i, "enum"))) continue;
            if (is(i, "std") && is(next(i), "::") && is_type_word(next(next(i)))) i = next(next(i));
            const meaning w = word_of_type(i);
            if (w == meaning::none || (m != meaning::none && !is_type_word(i))) break;
            if (m != meaning::none && (w != meaning::scalar || m != meaning::scalar)) break;
            if (is(i, "auto") && what == hidden) refuse();
            m = w;
            const bool named = program::is_class_word(previous(i)) || is(previous(i), "enum");
            if (!template_names.count(source(i)) && !named) global.insert(source(i));
        }
        if (m == meaning::none || is(i, "<") || is(i, "::")) refuse();
        note_type(m);
        return m;
    }

    local type_name(long &i) /* with its stars, as in a cast */
    {
        local v;
        v.type = type_words(i);
        v.depth = v.type == meaning::pointer;
        for (; is(i, "*") || is_qualifier(i); i = next(i)) v.depth += is(i, "*");
        return v;
    }

    static bool may_hold(const local &v)
    {
        return v.depth > v.bounds || v.type == meaning::object || v.type == meaning::pointer;
    }

    /* ---- expressions ---- */

    static bool joined(long i, const char *first, const char *second)
    {
        return is(i, first) && is(i + 1, second);
    }

    static bool is_assignment(long i, long &after)
    {
        if (is(i, "=")) {
            after = next(i);
            return !is(i + 1, "=");
        }
        for (const char *angle : {"<", ">"})
            if (joined(i, angle, angle) && is(i + 2, "=")) {
                after = next(i + 2);
                return true;
            }
        if (source(i).size() != 1 || !strchr("+-*/%&|^", source(i)[0]) || !is(i + 1, "="))
            return false;
        after = next(i + 1);
        return tokens[(size_t)i].kind == symbol;
    }

    /* Of a binary operator at I; what is behind it, or 0. */
    static long after_operator(long i)
    {
        long after;
        if (is(i, "?") || is(i, ":") || is(i, ",") || is_assignment(i, after)) return 0;
        for (const char *pair : {"&&", "||", "<<", ">>", "==", "!=", "<=", ">="}) {
            const char first[] = {pair[0], 0}, second[] = {pair[1], 0};
            if (joined(i, first, second)) return next(i + 1);
        }
        if (i >= count() || tokens[(size_t)i].kind != symbol || source(i).size() != 1) return 0;
        return strchr("+-*/%&|^<>", source(i)[0]) ? next(i) : 0;
    }

    void note_change(const value &v)
    {
        if (!v.place || (v.wrapped && !v.memory)) refuse();
        if (what == kernel && choice && v.root && !v.memory) refuse();
        found.changes |= v.memory || !v.root || v.root->reference;
        if (what != hidden || sized) return;
        const bool of_own = !v.root || v.root->parameter;
        if ((of_own || v.memory) && !maker && !changes_own) refuse();
        if (v.memory && !v.in_memory_of_object) refuse();
    }

    value expression(long &i)
    {
        value v = assignment(i);
        while (is(i, ",")) {
            i = next(i);
            v = assignment(i);
            v.place = false;
        }
        return v;
    }

    value assignment(long &i)
    {
        value v = conditional(i);
        long after;
        if (!is_assignment(i, after)) return v;
        note_change(v);
        const bool own_pointer = v.root && !v.memory && !v.root->parameter && what != kernel;
        const bool keeps = (v.depth > 0 || v.holds) && !own_pointer;
        i = after;
        escape += keeps;
        if (is(i, "{"))
            list(i);
        else
            assignment(i);
        escape -= keeps;
        v.place = false;
        return v;
    }

    value conditional(long &i)
    {
        value v = binary(i);
        if (!is(i, "?")) return v;
        i = next(i);
        choice++;
        value a = expression(i);
        expect(i, ":");
        value b = assignment(i);
        choice--;
        a.root = nullptr;
        a.place = false;
        a.depth = std::max(a.depth, b.depth);
        a.holds |= b.holds;
        return a;
    }

    value binary(long &i)
    {
        value v = unary(i);
        int choices = 0;
        while (long after = after_operator(i)) {
            const bool chooses = joined(i, "&", "&") || joined(i, "|", "|");
            if (is(i, "&") && is(next(i), "&") && !chooses) refuse(); /* & &x */
            choices += chooses;
            choice += chooses;
            i = after;
            value w = unary(i);
            v.place = false;
            v.root = nullptr;
            v.depth = std::max(v.depth, w.depth);
            v.holds |= w.holds;
        }
        choice -= choices;
        return v;
    }

    value unary(long &i)
    {
        for (const char *sign : {"+", "-"})
            if (joined(i, sign, sign)) {
                i = next(i + 1);
                value v = unary(i);
                note_change(v);
                v.place = false;
                return v;
            }
        if (is(i, "+") || is(i, "-") || is(i, "!") || is(i, "~")) {
            i = next(i);
            value v = unary(i);
            v.place = false;
            v.depth = 0;
            return v;
        }
        if (is(i, "*")) {
            i = next(i);
            const int around = escape;
            const bool itself = is(i, "this");
            escape = 0;
            value v = unary(i);
            escape = around;
            v.place = v.memory = true;
            v.in_memory_of_object = itself;
            found.memory |= !itself;
            v.depth = std::max(0, v.depth - 1);
            return v;
        }
        if (is(i, "&")) return address(i);
        if (is(i, "sizeof")) return size(i);
        if (is(i, "(") && begins_type(next(i))) {
            long j = next(i);
            local t = type_name(j);
            if (is(j, ")")) { /* a cast */
                i = next(j);
                if (is(i, "{")) refuse();
                value v = unary(i);
                v.place = false;
                v.root = nullptr;
                v.depth = t.depth;
                v.holds = may_hold(t);
                return v;
            }
        }
        return postfix(i);
    }

    value address(long &i)
    {
        if (joined(i, "&", "&")) refuse();
        i = next(i);
        value v = unary(i);
        if (!v.place || v.wrapped || is_builtin(previous(i))) refuse();
        if (!v.memory && (escape || !v.root)) refuse();
        if (escape && what != kernel) refuse();
        v.place = false;
        v.depth++;
        v.holds = true;
        return v;
    }

    value size(long &i)
    {
        i = next(i);
        sized++;
        if (is(i, "(") && begins_type(next(i))) {
            i = next(i);
            type_name(i);
            while (is(i, "[")) i = next(closing(i));
            expect(i, ")");
        } else {
            unary(i);
        }
        sized--;
        return {};
    }

    value postfix(long &i)
    {
        value v = primary(i);
        for (;;) {
            if (is(i, "[")) {
                if (what == kernel && v.depth <= 0 && v.root && !v.root->parameter) refuse();
                const int around = escape;
                escape = 0;
                i = next(i);
                expression(i);
                escape = around;
                expect(i, "]");
                const bool inside = v.bounds > 0;
                if (!inside) v.in_memory_of_object = false;
                if (!inside) v.memory = true;
                v.place = inside ? !v.wrapped : true;
                found.memory |= !inside;
                v.bounds -= inside;
                v.depth = std::max(0, v.depth - 1);
            } else if (is(i, ".") || is(i, "->")) {
                const bool through = is(i, "->");
                const long m = next(i);
                const bool coordinate = source(m).size() == 1 && strchr("xyzw", source(m)[0]);
                if (!is_name(m) || own.functions.count(source(m)) || is(next(m), "(") ||
                    (!coordinate && !own.members.count(source(m))))
                    refuse();
                if (through) {
                    if (!is(previous(previous(m)), "this")) v.in_memory_of_object = false;
                    v.memory = v.place = true;
                    found.memory = true;
                } else if (v.wrapped && !v.memory) {
                    v.place = false;
                }
                v.depth = v.bounds = own.arrays.count(source(m));
                v.holds = own.pointers.count(source(m)) > 0;
                v.depth += v.holds;
                i = next(m);
            } else if (joined(i, "+", "+") || joined(i, "-", "-")) {
                note_change(v);
                v.place = false;
                i = next(i + 1);
            } else if (is(i, "(") || is(i, "{") || is(i, "::")) {
                refuse();
            } else {
                break;
            }
        }
        /* An array turns into its address, and where a pointer is stored this might be one of a variable. */
        if (escape && v.root && !v.root->shared && v.bounds > 0 && !v.memory) refuse();
        if (escape && what != kernel && v.depth > 0 && !v.root) refuse();
        if (escape && what != kernel && v.depth > 0 && !v.memory) refuse();
        return v;
    }

    /* Between two brackets; I is the first. */
    void arguments(long &i, const char *close)
    {
        for (i = next(i); !is(i, close);) {
            if (is(i, "{"))
                list(i);
            else
                assignment(i);
            if (is(i, close)) break;
            expect(i, ",");
        }
        i = next(i);
    }

    void list(long &i)
    {
        arguments(i, "}");
    }

    value literal_at(long &i)
    {
        const std::string &s = source(i);
        const bool string = s.back() == '"' || s.back() == '\'';
        const bool own_suffix = !string && s.find('_') != s.npos;
        if (own_suffix || (!string && !isdigit((unsigned char)s[0]) && s[0] != '.')) refuse();
        value v;
        v.depth = s.back() == '"';
        for (i = next(i); i < count() && tokens[(size_t)i].kind == literal; i = next(i))
            if (!string || source(i).back() != '"') refuse();
        return v;
    }

    value primary(long &i)
    {
        if (i < count() && tokens[(size_t)i].kind == literal) return literal_at(i);
        if (is(i, "(")) {
            i = next(i);
            value v = expression(i);
            expect(i, ")");
            v.wrapped = true;
            v.place = v.place && v.memory;
            return v;
        }
        if (is(i, "static_cast") || is(i, "reinterpret_cast") || is(i, "const_cast")) {
            i = next(i);
            expect(i, "<");
            local t = type_name(i);
            expect(i, ">");
            if (!is(i, "(")) refuse();
            i = next(i);
            expression(i);
            expect(i, ")");
            return of_type(t);
        }
        if (is(i, "void") && is(next(i), "(")) { /* of assert */
            i = next(closing(next(i)));
            return {};
        }
        if (is(i, "__extension__")) i = next(i);
        if (is(i, "__PRETTY_FUNCTION__") || is(i, "true") || is(i, "false") || is(i, "nullptr") ||
            is(i, "__null") || (is(i, "warpSize") && !find(i))) {
            i = next(i);
            return {};
        }
        if (is(i, "this") && of_class && what != kernel) {
            i = next(i);
            if (!is(i, "->") && !is(previous(previous(i)), "*")) refuse();
            value v;
            v.in_memory_of_object = true;
            return v;
        }
        if (!is_name(i)) refuse();
        if (const local *v = find(i)) return variable(i, *v);
        if (begins_type(i)) return made(i);
        return other_name(i);
    }

    static value of_type(const local &t)
    {
        value v;
        v.depth = t.depth;
        v.holds = may_hold(t);
        return v;
    }

    value variable(long &i, const local &v)
    {
        value r;
        r.root = &v;
        r.place = true;
        r.memory = v.shared || (v.reference && what == kernel);
        r.depth = v.depth;
        r.bounds = v.bounds;
        r.holds = v.type == meaning::object;
        i = next(i);
        return r;
    }

    /* TYPE(...) and TYPE{...} */
    value made(long &i)
    {
        local t;
        t.type = type_words(i);
        t.depth = t.type == meaning::pointer;
        if (!is(i, "(") && !is(i, "{")) refuse();
        const bool keeps = t.type == meaning::object;
        escape += keeps;
        arguments(i, is(i, "(") ? ")" : "}");
        escape -= keeps;
        return of_type(t);
    }

    value other_name(long &i)
    {
        const std::string name = source(i);
        value v;
        if (is_builtin(i)) {
            found.threads |=
                name == "threadIdx" && what != kernel; /* where it is a variable of the loop */
            if (what == hidden && name == "threadIdx") refuse();
            if ((name == "cucc_t" || name == "cucc_way") && what != kernel) refuse();
            i = next(i);
            return v;
        }
        if (is(next(i), "::")) return qualified(i);
        if (is(next(i), "(") || (is(next(i), "<") && is_call(next(i)))) return call(i, false);
        global.insert(name);
        auto t = template_names.find(name);
        if (t != template_names.end() && !t->second) { /* a number */
            i = next(i);
            return v;
        }
        if (what == kernel && name.compare(0, 14, "cucc_exchange_") == 0) {
            i = next(i);
            return v;
        }
        if (of_class && own.members.count(name)) {
            i = next(i);
            v.place = true;
            v.in_memory_of_object = true;
            v.memory = what == hidden;
            v.depth = v.bounds = own.arrays.count(name);
            v.holds = own.pointers.count(name) > 0;
            v.depth += v.holds;
            found.memory |= v.holds;
            return v;
        }
        if (name.compare(0, 16, "cudaBoundaryMode") == 0 && !own.types.count(name)) {
            i = next(i);
            return v;
        }
        if (own.functions.count(name) || own.types.count(name)) refuse();
        if (device_variables.count(name)) {
            if (what == hidden) refuse();
            found.trace = found.memory = true;
            i = next(i);
            v.place = v.memory = v.holds = true;
            v.depth = 4;
            return v;
        }
        if (!own.constants.count(name) || own.hidden.count(name)) refuse();
        found.vectors |= own.enumerators.count(name) > 0;
        i = next(i);
        return v;
    }

    value qualified(long &i)
    {
        const long scope = i, name = next(next(i));
        if (!is_name(name) || is(next(name), "::")) refuse();
        if (is(scope, "std")) {
            if (!is_mathematics(source(name), false)) refuse();
            i = name;
            return call(i, true);
        }
        if (is(next(name), "(") || (is(next(name), "<") && is_call(next(name)))) {
            if (!own.functions.count(source(name))) refuse();
            i = name;
            return call(i, false);
        }
        if (own.type(scope) != meaning::enumeration || !own.enumerators.count(source(name)))
            refuse();
        found.vectors = true;
        i = next(name);
        return {};
    }

    /* Whether a < opens a list of template arguments that a call follows. */
    static bool is_call(long i)
    {
        for (long j = next(i); j < count(); j = next(j)) {
            if (is(j, ">")) return is(next(j), "(");
            if (is(j, "(") && !is_name(previous(j))) continue;
            if (!is_name(j) && tokens[(size_t)j].kind != literal && !is(j, ",") && !is(j, ")"))
                return false;
        }
        return false;
    }

    void template_arguments(long &i)
    {
        for (i = next(i); !is(i, ">"); i = next(i)) {
            if (is(i, ",") || is(i, "(") || is(i, ")") || is(i, "true") || is(i, "false") ||
                is_qualifier(i))
                continue;
            if (i < count() && tokens[(size_t)i].kind == literal) continue;
            if (!is_name(i) || find(i)) refuse();
            const meaning m = word_of_type(i);
            if (m != meaning::none)
                note_type(m);
            else if (!template_names.count(source(i)) && !own.constants.count(source(i)))
                refuse();
            if (!template_names.count(source(i))) global.insert(source(i));
        }
        i = next(i);
    }

    value call(long &i, bool of_std)
    {
        const std::string name = source(i);
        const bool statement = is(previous(i), ";") || is(previous(i), "{") ||
                               is(previous(i), "}") || is(previous(i), ")");
        const bool ours = own.functions.count(name) && !of_std;
        value v;
        global.insert(name);
        if (own.types.count(name) || own.constants.count(name) || own.hidden.count(name) ||
            template_names.count(name))
            refuse();
        if (is(next(i), "<")) {
            i = next(i);
            template_arguments(i);
        } else {
            i = next(i);
        }
        if (!is(i, "(")) refuse();
        if (ours && name == own_name) { /* itself, or one of the same name: each of them is read */
            v.depth = v.holds = returns_pointer(name);
        } else if (ours) {
            const facts &f = facts_of_called(name);
            if (!f.understood || (what == hidden && (f.threads || f.trace || f.changes))) refuse();
            found.threads |= f.threads;
            found.objects |= f.objects;
            found.vectors |= f.vectors;
            found.trace |= f.trace;
            found.memory |= f.memory;
            found.changes |= f.changes;
            v.depth = v.holds = returns_pointer(name);
            if (escape && v.holds && functions_of_references.count(name))
                refuse(); /* perhaps of an argument */
        } else if (is_atomic(name)) {
            if (what == hidden || (name == "atomicExch" && !statement)) refuse();
            found.memory = found.changes = true;
        } else if (is_harmless(name)) {
            if (what == hidden) refuse();
            if (is_of_lanes(name) && what != kernel) refuse();
            found.memory = true;
            found.trace |= name == "printf" || name.compare(0, 4, "surf") == 0;
            v.holds = name.compare(0, 2, "__") == 0; /* __ldg of anything */
        } else if (!is_mathematics(name, of_std)) {
            refuse();
        }
        arguments(i, ")");
        return v;
    }

    static bool returns_pointer(const std::string &name)
    {
        for (const function &f : own.functions[name])
            for (long i = f.begin; i < f.name; i = next(i)) {
                if (is(i, "template") && is(next(i), "<"))
                    i = previous(program::after_angles(next(i)));
                if (is(i, "*") || is(i, "&") || is(i, "auto")) return true;
                meaning m = is_name(i) ? own.type(i) : meaning::none;
                if (m == meaning::object || m == meaning::pointer || m == meaning::unclear)
                    return true;
                static const std::set<std::string> qualifiers = {"static",          "inline",
                                                                 "__device__",      "__host__",
                                                                 "__forceinline__", "__noinline__",
                                                                 "__inline__",      "const",
                                                                 "constexpr",       "template",
                                                                 "__attribute__"};
                if (is_name(i) && m == meaning::none && !qualifiers.count(source(i))) return true;
                if (opens(i)) i = closing(i);
            }
        return false;
    }
};
} // namespace loops

#endif
