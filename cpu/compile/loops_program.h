/* What a program declares outside of its functions, as far as kernels may use it: loops_list.h says of each name in
 * a kernel what it is, and refuses the kernel if it cannot. System headers are not read (tokens.h). */
#ifndef CUCC_LOOPS_PROGRAM_H
#define CUCC_LOOPS_PROGRAM_H

#include "loops.h"

namespace loops
{
/* One definition or declaration of a function. */
struct function {
    long begin = 0;                     /* of the declaration */
    long name = 0, open = 0;            /* the parameters' parenthesis */
    long brace = -1;                    /* of the body */
    bool device = false;                /* as the declaration says, or constexpr */
    bool member = false, maker = false; /* of a class; a constructor or destructor */
};

enum class meaning { none, scalar, vector, pointer, object, enumeration, unclear };

struct program {
    std::map<std::string, std::vector<function>> functions; /* operators by "operator" */
    std::map<std::string, meaning> types;
    std::set<std::string> constants; /* numbers that are the same in all threads */
    std::set<std::string> enumerators;
    std::set<std::string> members, arrays,
        pointers;                 /* data members; those that are or may have such */
    std::set<std::string> hidden; /* other variables of the host */
    std::vector<std::pair<long, long>> initialisers; /* of members, where they are declared */

    static bool is_vector_word(long i)
    {
        static const std::set<std::string> stems = {"char",  "uchar",    "short",     "ushort",
                                                    "int",   "uint",     "long",      "ulong",
                                                    "float", "longlong", "ulonglong", "double"};
        const std::string &word = source(i);
        return is(i, "dim3") || (!word.empty() && strchr("1234", word.back()) &&
                                 stems.count(word.substr(0, word.size() - 1)));
    }

    /* Of the runtime's own types. */
    static bool is_other_word(long i)
    {
        static const std::set<std::string> words = {"half",
                                                    "__half",
                                                    "half2",
                                                    "__half2",
                                                    "__nv_bfloat16",
                                                    "__nv_bfloat162",
                                                    "ptrdiff_t",
                                                    "uintptr_t",
                                                    "intptr_t",
                                                    "ulong",
                                                    "nv_bfloat16",
                                                    "nv_bfloat162",
                                                    "clock_t",
                                                    "ssize_t",
                                                    "cudaTextureObject_t",
                                                    "cudaSurfaceObject_t",
                                                    "cudaSurfaceBoundaryMode"};
        return words.count(source(i)) > 0;
    }

    meaning type(long i) const
    {
        if (!is_name(i)) return meaning::none;
        auto own = types.find(source(i));
        if (own != types.end()) return own->second;
        if (is_vector_word(i)) return meaning::vector;
        if (is_other_word(i)) return meaning::vector;
        return is_type_word(i) ? meaning::scalar : meaning::none;
    }

    void add_type(const std::string &name, meaning m)
    {
        auto known = types.find(name);
        types[name] = known == types.end() || known->second == m ? m : meaning::unclear;
    }

    /* ---- reading ---- */

    static long after_angles(long i) /* I is a < */
    {
        for (int depth = 0; i < count(); i = next(i)) {
            if (opens(i)) i = closing(i);
            depth += is(i, "<") - is(i, ">");
            if (!depth) return next(i);
        }
        return i;
    }

    /* What stands for a type in typedef or using. */
    meaning aliased(long begin, long end) const
    {
        meaning m = meaning::none;
        for (long i = begin; i < end; i = next(i)) {
            if (is(i, "struct") || is(i, "class") || is(i, "union")) return meaning::object;
            if (is(i, "enum")) return meaning::enumeration;
            if (is(i, "const")) continue;
            if (is(i, "*") && m != meaning::none) {
                m = meaning::pointer;
                continue;
            }
            if (is(i, "::") && is(previous(i), "std")) continue;
            if (is(i, "std") && is(next(i), "::")) continue;
            meaning word = type(i);
            if (word == meaning::none || (m != meaning::none && word != m)) return meaning::unclear;
            m = word;
        }
        return m == meaning::none ? meaning::unclear : m;
    }

    static std::string scope_of(long i)
    {
        return source(is(i, ">") ? previous(opening(i)) : i);
    }

    static bool is_class_word(long i)
    {
        return is(i, "struct") || is(i, "class") || is(i, "union");
    }

    /* The enumerators between two braces. */
    void note_enumerators(long open)
    {
        for (long i = next(open), close = closing(open); i < close; i = next(i)) {
            if (is_name(i)) constants.insert(source(i)), enumerators.insert(source(i));
            while (i < close && !is(i, ",")) i = next(opens(i) ? closing(i) : i);
        }
    }

    void note_function(const function &f, const std::string &name)
    {
        functions[name].push_back(f);
    }

    /* The declaration that begins at I, at the level of namespaces or in class OWNER; returns what follows. */
    long note_declaration(long i, const std::string &owner)
    {
        const long begin = i;
        function f;
        f.begin = begin;
        f.member = !owner.empty();
        bool is_class = false, is_enum = false, alias = is(i, "typedef"),
             using_name = is(i, "using"), constant = false, plain = true, pointer = false,
             initialised = false, body = false, makes = false, friendly = false;
        std::string name;
        long last = -1, list = -1;
        if (is(i, "template")) i = is(next(i), "<") ? after_angles(next(i)) : next(i);
        if (using_name) {
            long end = statement_end(i), equal = next(next(i));
            if (is(equal, "=")) add_type(source(next(i)), aliased(next(equal), end));
            return next(end);
        }
        for (; i < count() && !is(i, ";") && !is(i, "}"); i = next(i)) {
            if (is(i, "namespace") || (is(i, "extern") && source(next(i)) == "\"C\"")) {
                long open = next(i);
                while (!is(open, "{") && !is(open, ";") &&
                       (is_name(open) || is(open, "::") || source(open) == "\"C\""))
                    open = next(open);
                if (is(open, "{")) {
                    note_all(next(open), closing(open), "");
                    return next(closing(open));
                }
                if (is(i, "namespace")) return next(statement_end(i));
                i = next(i);
                continue;
            }
            if (is(i, "__attribute__") || is(i, "alignas") || is(i, "__align__") ||
                is(i, "__launch_bounds__") || is(i, "__cluster_dims__") || is(i, "decltype")) {
                plain &= !is(i, "decltype");
                if (is(next(i), "(")) i = closing(next(i));
                continue;
            }
            if (is(i, "operator") && list < 0) {
                long open = next(i);
                if (is(open, "(") && is(next(open), ")")) open = next(next(open));
                bool call = open != next(i);
                while (!is(open, "(") && open < count()) open = next(open);
                name = call ? "operator()" : "operator";
                if (is(next(i), "new") || is(next(i), "delete")) name = "operator new";
                f.name = i;
                f.open = list = open;
                i = closing(open);
                continue;
            }
            if (is(i, "<") && list < 0 && !initialised && is_name(previous(i))) {
                long after = after_angles(i);
                plain = false;
                i = previous(after);
                continue;
            }
            if (list < 0 && !initialised && is_class_word(i)) is_class = true;
            if (list < 0 && !initialised && is(i, "enum")) is_enum = true;
            friendly |= is(i, "friend");
            f.device |= is(i, "__device__") || is(i, "__global__") || is(i, "constexpr");
            constant |= is(i, "const") || is(i, "constexpr");
            pointer |= list < 0 && (is(i, "*") || is(i, "&"));
            if (is(i, "{")) {
                const bool of_type = (is_class || is_enum) && list < 0 && !initialised;
                if (of_type) {
                    std::string own;
                    for (long k = begin; k < i; k = next(k))
                        if ((is_class_word(k) || is(k, "enum")) && own.empty()) {
                            long n = next(k);
                            while (is_class_word(n) || is(n, "__attribute__") || is(n, "alignas") ||
                                   is(n, "__align__"))
                                n = is_class_word(n) ? next(n) : next(closing(next(n)));
                            if (is_name(n)) own = source(n);
                        }
                    if (is_enum) {
                        if (!own.empty()) add_type(own, meaning::enumeration);
                        note_enumerators(i);
                    } else {
                        if (!own.empty()) add_type(own, meaning::object);
                        note_all(next(i), closing(i), own.empty() ? "?" : own);
                    }
                    i = closing(i);
                    plain = false;
                    last = -1;
                    if (is(next(i), ";")) { /* an unnamed one has its members around it */
                        return next(next(i));
                    }
                    continue;
                }
                if (list >= 0 && !initialised &&
                    !(makes && (is_name(previous(i)) || is(previous(i), ">")))) {
                    f.brace = i;
                    body = true;
                    i = closing(i);
                    break;
                }
                if (list < 0 && last >= 0 && !alias)
                    note_variable(begin, last, owner, constant && plain && !pointer);
                if (list < 0) initialised = true, last = -1;
                if (f.member && list < 0) initialisers.push_back({i, next(closing(i))});
                i = closing(i);
                continue;
            }
            if (is(i, "=") && list < 0) {
                initialised = true;
                long end = i;
                while (end < count() && !is(end, ";") && !is(end, ",") && !is(end, "}"))
                    end = next(opens(end) ? closing(end) : end);
                if (f.member) initialisers.push_back({next(i), end});
                if (last >= 0 && !alias)
                    note_variable(begin, last, owner, constant && plain && !pointer);
                last = -1;
                i = previous(end);
                continue;
            }
            if (is(i, ":") && list >= 0) makes = true;
            if (is(i, "(")) {
                long before = previous(i);
                if (list < 0 && !initialised && (is(next(i), "*") || is(next(i), "&"))) {
                    long inner = previous(closing(i)); /* a pointer to a function or an array */
                    while (inner > i && (!is_name(inner) || is(inner, "const")))
                        inner = is(inner, "]") ? previous(opening(inner)) : previous(inner);
                    if (is_name(inner) && alias)
                        add_type(source(inner), meaning::unclear);
                    else if (is_name(inner))
                        note_variable(begin, inner, owner, false);
                    plain = false;
                    last = -1;
                    i = closing(i);
                    if (is(next(i), "(")) i = closing(next(i));
                    continue;
                }
                if (list < 0 && !initialised && (is_name(before) || is(before, ">"))) {
                    if (is(before, ">")) before = previous(opening(before));
                    f.name = before;
                    f.open = list = i;
                    name = source(before);
                    std::string scope =
                        is(previous(before), "::") ? scope_of(previous(previous(before))) : owner;
                    f.maker = (!scope.empty() && name == scope);
                    f.member |= is(previous(before), "::");
                    if (is(previous(before), "~")) f.maker = true;
                }
                plain = false;
                i = closing(i);
                continue;
            }
            if (is(i, "[")) {
                if (last >= 0 && !alias) note_variable(begin, last, owner, false);
                if (alias && last >= 0) types[source(last)] = meaning::unclear;
                last = -1;
                i = closing(i);
                continue;
            }
            if (is(i, ",") && list < 0) {
                if (last >= 0 && !alias) note_variable(begin, last, owner, false);
                last = -1;
                continue;
            }
            if (is(i, ":") && f.member && list < 0 &&
                (is(previous(i), "public") || is(previous(i), "private") ||
                 is(previous(i), "protected")))
                return next(i);
            if (is_name(i) && list < 0) last = i;
        }
        if (list >= 0 && !alias) {
            f.member &= !friendly;
            note_function(f, name);
            if (f.maker && !f.member) functions[name].back().member = true;
        } else if (alias && list >= 0) {
            add_type(name, meaning::unclear); /* of a function */
        } else if (alias && last >= 0) {
            add_type(source(last), is_class           ? meaning::object
                                   : is_enum          ? meaning::enumeration
                                   : pointer || plain ? aliased(next(begin), last)
                                                      : meaning::unclear);
        } else if (last >= 0 && !initialised) {
            if ((is_class || is_enum) && previous(last) >= begin &&
                (is_class_word(previous(last)) || is(previous(last), "enum")))
                add_type(source(last),
                         is_class ? meaning::object : meaning::enumeration); /* declared only */
            else
                note_variable(begin, last, owner, false);
        } else if (last >= 0) {
            note_variable(begin, last, owner, constant && plain && !pointer);
        }
        if (body) return is(next(i), ";") ? next(next(i)) : next(i);
        return next(i);
    }

    /* A variable at AT, in the declaration that begins at BEGIN. CONSTANT: it has a value, and is const. */
    void note_variable(long begin, long at, const std::string &owner, bool constant)
    {
        bool number = true;
        for (long i = begin; i < at; i = next(i)) {
            static const std::set<std::string> qualifiers = {"static", "inline", "const",
                                                             "constexpr", "mutable"};
            const long after = next(i);
            if (is(i, ",") || is(i, "=")) break;
            if (is_name(i) &&
                (is(after, ",") || is(after, "=") || is(after, "[") || is(after, "{")))
                break;
            if (opens(i))
                i = closing(i);
            else if (!qualifiers.count(source(i)) && !is(i, "__attribute__") && !is(i, "unused"))
                number &= type(i) == meaning::scalar || type(i) == meaning::vector;
        }
        const std::string &name = source(at);
        if (!owner.empty()) {
            members.insert(name);
            if (is(next(at), "[")) arrays.insert(name);
            if (!number || is(previous(at), "*") || is(previous(at), "&")) pointers.insert(name);
        } else if (constant && number) {
            constants.insert(name);
        } else {
            hidden.insert(name);
        }
    }

    void note_all(long i, long end, const std::string &owner)
    {
        while (i < end) {
            long after = note_declaration(i, owner);
            if (after <= i) after = next(i);
            i = after;
        }
    }
};

static program own;
static std::set<std::string> types_of_templates; /* parameters that are types */

static bool is_name_of_type(long i)
{
    return own.type(i) != meaning::none || types_of_templates.count(source(i));
}

/* Whether a parenthesis closes a cast, or the head of a branch or a loop: a value begins behind it. */
static bool ends_before_value(long close)
{
    const long open = opening(close), before = previous(open);
    if (is(before, "if") || is(before, "for") || is(before, "while")) return true;
    if ((is_name(before) && !is(before, "return")) || closes(before) || is(before, ">"))
        return false;
    bool type = false;
    for (long i = next(open); i < close; i = next(i)) {
        type |= is_name_of_type(i);
        if (!is_name(i) && !strchr("*&:<>,", source(i)[0])) return false;
    }
    return type;
}

static bool is_unary(long i) /* an operator & or * at I */
{
    long p = previous(i);
    if (is(i, "&") && is(p, "&")) return false; /* the second one of && */
    if (is(p, "}") || (is(p, ")") && ends_before_value(p))) return true;
    return !(is_name(p) && !is_word_of_language(p)) && !closes(p) &&
           tokens[(size_t)p].kind != literal;
}

static void note_device_functions()
{
    for (long i = next(-1); i < count(); i = next(i)) {
        if (!is(i, "__device__") && !is(i, "__constant__") && !is(i, "__managed__") &&
            !is(i, "__shared__"))
            continue;
        long j = i, name = -1;
        while (j < count() && !is(j, "{") && !is(j, ";") && !is(j, "=")) {
            if (is(j, "<") && is_name(previous(j)) && !is(previous(j), "operator")) {
                j = program::after_angles(j); /* arguments of a template are no variables */
                continue;
            }
            if (is(next(j), "(") && is_name(j) && !is(j, "__attribute__") && !is(j, "alignas"))
                name = j;
            if (is_name(j) &&
                (is(next(j), "[") || is(next(j), ";") || is(next(j), "=") || is(next(j), ",")))
                device_variables.insert(source(j));
            j = next(opens(j) ? closing(j) : j);
        }
        if (name < 0 || !is(j, "{")) continue;
        device_functions[source(name)].push_back(j);
        if (has(name, j, "&")) functions_of_references.insert(source(name));
        if (has(name, j, "volatile")) functions_of_steps.insert(source(name));
    }
}

static void note_program()
{
    note_device_functions();
    for (long i = next(-1); i < count(); i = next(i))
        if ((is(i, "typename") || is(i, "class")) && is_name(next(i)))
            types_of_templates.insert(source(next(i)));
    own.note_all(next(-1), count(), "");
    for (const auto &named : own.functions) {
        own_names.insert(named.first);
        for (const function &f : named.second)
            if (has(f.open, closing(f.open), "&")) functions_of_references.insert(named.first);
    }
}
} // namespace loops

#endif
