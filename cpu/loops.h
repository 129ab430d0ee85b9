/* Kernels as loops over the threads of a block, for rewrite.cpp.
 *
 *   __global__ void k(float *a) {        void cucc_block_k(float *a) {
 *       __shared__ float s[64];              auto &s = shared memory;
 *       int t = threadIdx.x;                 for each thread { int t = threadIdx.x; s[t] = a[t]; }
 *       s[t] = a[t];
 *       __syncthreads();
 *       a[t] = s[63 - t];                    for each thread { int t = threadIdx.x; a[t] = s[63 - t]; }
 *   }                                    }
 *
 * So no thread needs a stack, and the compiler may do the threads of a loop eight at a time. A kernel
 * keeps to fibers if anything in it is unknown, or if its threads could tell the difference: what
 * stands between two barriers is one loop, unless the parts touch different memory. */
#ifndef CUCC_LOOPS_H
#define CUCC_LOOPS_H

#include "tokens.h"
#include <set>

namespace loops
{
struct statement {
    enum { leaf, compound, conditional, loop } kind = leaf;
    long begin = 0, end = 0;             /* tokens; the end is behind the last one */
    long open = -1, close = -1;          /* the parentheses of an if or a for */
    std::vector<statement> parts;        /* the statements of a compound, the branches, the body */
    bool is_for = false, opaque = false; /* a do or a switch is taken as a whole */
};

struct variable {
    std::string type, bounds; /* as it is declared; without const */
    bool pure = true;         /* never assigned to, and its value needs no memory */
    bool uniform = true;      /* the same in all threads of a block */
    bool assigned = false, array = false, pointer = false, reference = false, parameter = false;
    bool in_head = false;      /* all declarations are in heads of for loops */
    int declarations = 0;      /* of this name in the kernel */
    int number = 0;            /* in the name of what keeps it between loops */
    long begin = -1, end = -1; /* the last declaration */
};

/* What a part of a kernel reads and writes, by name; "*" may be any memory. */
struct accesses {
    std::set<std::string> loads, stores;
};

struct unsuitable { /* thrown: the kernel keeps to fibers */
};

/* ---- reading --------------------------------------------------------------------------------- */

static statement parse(long &i)
{
    statement s;
    s.begin = i;
    if (is(i, "{")) {
        s.kind = statement::compound;
        for (i = next(i); !is(i, "}");) {
            if (i >= count()) throw unsuitable();
            s.parts.push_back(parse(i));
        }
        i = next(i);
    } else if (is(i, "if") || is(i, "for") || is(i, "while")) {
        s.kind = is(i, "if") ? statement::conditional : statement::loop;
        s.is_for = is(i, "for");
        s.open = next(i);
        if (!is(s.open, "(")) throw unsuitable(); /* if constexpr */
        s.close = closing(s.open);
        i = next(s.close);
        s.parts.push_back(parse(i));
        if (s.kind == statement::conditional && is(i, "else")) {
            i = next(i);
            s.parts.push_back(parse(i));
        }
    } else if (is(i, "do")) {
        s.opaque = true;
        i = next(i);
        parse(i);
        while (i < count() && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
        i = next(i);
    } else if (is(i, "switch")) {
        s.opaque = true;
        i = next(closing(next(closing(next(i)))));
    } else {
        while (i < count() && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
        if (i >= count()) throw unsuitable();
        i = next(i);
    }
    s.end = i;
    return s;
}

static bool has(long begin, long end, const char *word)
{
    for (long i = begin; i < end; i = next(i))
        if (is(i, word)) return true;
    return false;
}

static bool is_member(long i)
{
    return is(previous(i), ".") || is(previous(i), "->") || is(previous(i), "::");
}

static bool is_type_word(long i)
{
    static const std::set<std::string> words = {
        "const",   "unsigned", "signed",  "int",     "float",  "double",  "char",    "short",
        "long",    "bool",     "auto",    "void",    "size_t", "uchar",   "uint",    "ushort",
        "float2",  "float3",   "float4",  "double2", "int2",   "int3",    "int4",    "uint2",
        "uint4",   "uchar4",   "uint3",   "dim3",    "int8_t", "uint8_t", "int16_t", "uint16_t",
        "int32_t", "uint32_t", "int64_t", "uint64_t"};
    return words.count(source(i)) > 0;
}

static bool is_word_of_language(long i)
{
    static const std::set<std::string> words = {"if",   "else",    "for",    "while",
                                                "do",   "break",   "return", "continue",
                                                "true", "false",   "sizeof", "switch",
                                                "case", "default", "nullptr"};
    return is_type_word(i) || words.count(source(i)) > 0;
}

static bool is_builtin(long i)
{
    return is(i, "threadIdx") || is(i, "blockIdx") || is(i, "blockDim") || is(i, "gridDim");
}

static bool is_shared(const statement &s)
{
    return has(s.begin, s.end, "__shared__");
}

static bool is_barrier(const statement &s)
{
    return s.kind == statement::leaf && is(s.begin, "__syncthreads");
}

/* A leaf that declares variables of each thread. */
static bool is_declaration(const statement &s)
{
    if (s.kind != statement::leaf || s.opaque || is_shared(s)) return false;
    long i = s.begin;
    while (is(i, "const")) i = next(i);
    if (is_type_word(i)) return !is(next(i), "(");
    if (!is_name(i) || is_word_of_language(i)) return false;
    i = next(i);
    while (is(i, "*") || is(i, "&") || is(i, "const")) i = next(i);
    return is_name(i) &&
           (is(next(i), "=") || is(next(i), ";") || is(next(i), "[") || is(next(i), ","));
}

/* How a name's value is changed behind position I, if it is: an assignment or an increment. */
static bool is_assigned_after(long i)
{
    if (is(i, "=")) return !is(next(i), "=");
    bool both = is(next(i), source(i).c_str());
    if ((is(i, "+") || is(i, "-")) && both) return true;
    if ((is(i, "<") || is(i, ">")) && both) return is(next(next(i)), "=");
    return strchr("+-*/%&|^", source(i)[0]) && source(i).size() == 1 && is(next(i), "=") &&
           !is(next(next(i)), "=");
}

static bool is_incremented_before(long i)
{
    long p = previous(i), q = previous(p);
    return (is(p, "+") && is(q, "+")) || (is(p, "-") && is(q, "-"));
}

static bool is_unary(long i) /* an operator & or * at I */
{
    long p = previous(i);
    return !(is_name(p) && !is_word_of_language(p)) && !closes(p) &&
           tokens[(size_t)p].kind != literal;
}

static long after_subscripts(long i)
{
    for (i = next(i); is(i, "[") || is(i, ".");) i = is(i, "[") ? next(closing(i)) : next(next(i));
    return i;
}

/* ---- which calls are harmless ---------------------------------------------------------------- */

/* Functions that read no memory. */
static bool is_mathematics(const std::string &name)
{
    static const std::set<std::string> names = {"sqrt",
                                                "rsqrt",
                                                "exp",
                                                "exp2",
                                                "exp10",
                                                "log",
                                                "log2",
                                                "log10",
                                                "log1p",
                                                "expm1",
                                                "pow",
                                                "sin",
                                                "cos",
                                                "tan",
                                                "sinh",
                                                "cosh",
                                                "tanh",
                                                "asin",
                                                "acos",
                                                "atan",
                                                "atan2",
                                                "fabs",
                                                "abs",
                                                "fmin",
                                                "fmax",
                                                "min",
                                                "max",
                                                "floor",
                                                "ceil",
                                                "round",
                                                "rint",
                                                "trunc",
                                                "fmod",
                                                "fma",
                                                "hypot",
                                                "cbrt",
                                                "erf",
                                                "erfc",
                                                "isnan",
                                                "isinf",
                                                "__exp",
                                                "__log",
                                                "__sin",
                                                "__cos",
                                                "__pow",
                                                "__fdividef",
                                                "__mul24",
                                                "__umul24",
                                                "__umulhi",
                                                "__mulhi",
                                                "__popc",
                                                "__clz",
                                                "__fmul_rn",
                                                "__fadd_rn",
                                                "__fmaf_rn",
                                                "__saturatef",
                                                "__int_as_float",
                                                "__float_as_int",
                                                "__float2int_rn",
                                                "__float2int_rz",
                                                "__int2float_rn",
                                                "fdividef",
                                                "__sinf",
                                                "__cosf"};
    if (names.count(name)) return true;
    if (name.back() == 'f' && names.count(name.substr(0, name.size() - 1))) return true;
    return name.compare(0, 5, "make_") == 0 && isdigit((unsigned char)name.back());
}

static bool is_atomic(const std::string &name)
{
    static const std::set<std::string> names = {"atomicAdd", "atomicSub", "atomicMin",
                                                "atomicMax", "atomicAnd", "atomicOr",
                                                "atomicXor", "atomicInc", "atomicDec"};
    return names.count(name) > 0;
}

/* Functions of the runtime that never stop a thread. */
static bool is_harmless(const std::string &name)
{
    static const std::set<std::string> names = {
        "printf",        "__assert_fail",      "__ldg",      "tex1D",      "tex2D",
        "tex3D",         "tex1Dfetch",         "tex2DLod",   "tex3DLod",   "tex1DLayered",
        "surf1Dread",    "tex2DLayered",       "surf2Dread", "surf3Dread", "surf1Dwrite",
        "surf2Dwrite",   "surf3Dwrite",        "__ldcg",     "__ldcs",     "__stcs",
        "__threadfence", "__threadfence_block"};
    return names.count(name) > 0;
}

static std::map<std::string, std::vector<long>> device_functions; /* the braces that open them */
static std::set<std::string> functions_of_references; /* those that may change their arguments */
static std::set<std::string> functions_of_threads;    /* those that ask which thread runs */

static bool is_simple_function(const std::string &name);

/* Whether nothing between BEGIN and END could stop a thread. OF_THREADS: a function that is called asks
 * which thread runs. */
static bool is_simple(long begin, long end, bool &of_threads)
{
    static const std::set<std::string> refused = {"volatile",  "asm",      "__asm__",  "__asm",
                                                  "goto",      "try",      "catch",    "throw",
                                                  "struct",    "class",    "union",    "enum",
                                                  "typedef",   "using",    "new",      "delete",
                                                  "this",      "clock",    "clock64",  "decltype",
                                                  "namespace", "typename", "template", "operator",
                                                  "constexpr"};
    for (long i = begin; i < end; i = next(i)) {
        if (is(i, "[") && !is_name(previous(i)) && !closes(previous(i)))
            return false; /* a lambda */
        if (is(i, "<") && is(next(i), "<") && is(next(next(i)), "<")) return false;
        if (is(i, "::")) return false;
        if (!is_name(i)) continue;
        if (refused.count(source(i))) return false;
        if (is(i, "static") && !is(next(i), "__shared__") && !is(previous(i), "__shared__"))
            return false;
        long open = next(i);
        bool own = device_functions.count(source(i)) > 0;
        if (is(open, "<") && is_harmless(source(i))) continue;
        if (is(open, "(") || (own && is(open, "<"))) {
            if (is_word_of_language(i) || is(i, "static_cast")) continue;
            if (is(previous(i), ".") || is(previous(i), "->")) return false;
            if (is(i, "__syncthreads") && is(next(open), ")")) continue;
            bool known =
                is_mathematics(source(i)) || is_atomic(source(i)) || is_harmless(source(i));
            bool declared = is_type_word(previous(i)) ||
                            (is_name(previous(i)) && !is_word_of_language(previous(i)));
            if ((known && !own) || declared) continue;
            if (!is_simple_function(source(i))) return false;
            of_threads |= functions_of_threads.count(source(i)) > 0;
        }
    }
    return true;
}

static bool is_simple_function(const std::string &name)
{
    static std::map<std::string, bool> known;
    auto found = device_functions.find(name);
    if (found == device_functions.end()) return false;
    if (known.count(name)) return known[name];
    known[name] = true; /* as far as it calls itself */
    bool all = true, of_threads = false;
    for (long open : found->second) {
        long close = closing(open);
        all = all && is_simple(next(open), close, of_threads) &&
              !has(open, close, "__syncthreads") && !has(open, close, "__shared__");
        of_threads |= has(open, close, "threadIdx");
    }
    if (of_threads) functions_of_threads.insert(name);
    return known[name] = all;
}

/* ---- what is known of a kernel --------------------------------------------------------------- */

static std::set<std::string> device_variables; /* memory that kernels name without a pointer */

struct kernel {
    std::map<std::string, variable> variables;
    std::set<std::string> shared;
    long body_begin = 0, body_end = 0;
    bool of_threads = false; /* a function that it calls asks which thread runs */
    bool promote = true;     /* loops in which threads only read go around the loop over threads */

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
            bool pointer = false;
            for (; i < end && !is(i, ",") && !is(i, "="); i = next(i)) {
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
        }
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
            v.pointer |= !stars.empty();
            v.reference |= reference;
            v.in_head = in_head && (v.in_head || v.declarations == 1);
            v.bounds = "";
            for (i = next(i); is(i, "["); i = next(closing(i))) {
                v.array = true;
                for (long j = i, last = closing(i); j <= last; j = next(j)) v.bounds += source(j);
            }
            if (!is(i, "=")) v.pure = false;
            if (v.array || v.reference) v.pure = v.uniform = false;
            while (i < end && !is(i, ",") && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
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

    /* What the token J of a value says of V, which gets it. */
    void note_value(variable &v, long j)
    {
        bool twice = is(next(j), source(j).c_str());
        bool call = is(j, "(") && is_name(previous(j)) && !is_word_of_language(previous(j)) &&
                    !is_mathematics(source(previous(j)));
        bool changes = ((is(j, "+") || is(j, "-")) && twice) ||
                       (is(j, "=") && !twice && !is(previous(j), "=") && !is(previous(j), "<") &&
                        !is(previous(j), ">") && !is(previous(j), "!"));
        bool memory = is(j, "[") || is(j, "->") || ((is(j, "*") || is(j, "&")) && is_unary(j));
        if (call || changes || memory) v.pure = v.uniform = false;
        if (is(j, "threadIdx")) v.uniform = false;
        if (!is_name(j) || is_member(j)) return;
        if (const variable *other = find(j)) {
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
            if (is(j, "(") && is_name(previous(j)) &&
                functions_of_references.count(source(previous(j))))
                return true;
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
            bool memory = v->pointer && !v->array && is(next(i), "["); /* which it points to */
            bool assigned = !memory && (is_assigned_after(after) || is_incremented_before(i) ||
                                        address || in_call(i, begin));
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
                if (!uniform) v->uniform = false;
            }
            changed |= before.uniform != v->uniform || before.pure != v->pure ||
                       before.assigned != v->assigned;
        }
        return changed;
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
        if (s.kind != statement::compound) {
            together = uniform && is_uniform_control(s) && (holds_barrier(s) || holds_promoted(s));
            changed = note_changes(s.open, s.close, together);
        }
        for (const statement &part : s.parts) changed |= note_changes(part, together);
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
        return source(i).compare(0, 4, "__ld") == 0 || source(i).compare(0, 3, "tex") == 0 ||
               is(i, "printf") || is(i, "__assert_fail") || is(i, "__syncthreads");
    }

    void note_accesses(accesses &a, long begin, long end)
    {
        for (long i = begin; i < end; i = next(i)) {
            bool through = is(i, "->") || (is(i, "*") && is_unary(i) && !is_type_word(previous(i)));
            if (through) {
                a.loads.insert("*");
                a.stores.insert("*");
            }
            if (!is_name(i) || is_member(i) || is_builtin(i) || is_word_of_language(i)) continue;
            variable *v = find(i);
            long after = after_subscripts(i);
            bool value = v && !v->pointer && !v->reference; /* of the thread itself */
            if (value || (v && !v->parameter && after == next(i))) continue;
            std::string name = v && !v->parameter ? "*" : source(i);
            bool call = !v && is(next(i), "(");
            if (call && is_mathematics(source(i))) continue;
            if (!call) a.loads.insert(name);
            if (is_assigned_after(after) || is_incremented_before(i)) a.stores.insert(name);
            long close = call ? closing(next(i)) : i;
            for (long j = next(i); j < close; j = next(j)) {
                variable *w = find(j);
                if (!is_name(j) || is_builtin(j) || is_word_of_language(j) || is_member(j))
                    continue;
                if (w && !w->pointer && !w->reference) continue;
                if (!is_load(i)) a.stores.insert(w && !w->parameter ? "*" : source(j));
            }
        }
    }

    /* ---- what is done by all threads together ---- */

    static bool holds_barrier(const statement &s)
    {
        return has(s.begin, s.end, "__syncthreads") || has(s.begin, s.end, "__shared__");
    }

    bool is_promoted(const statement &s)
    {
        if (!promote || !s.is_for || !is_uniform_control(s)) return false;
        accesses a;
        note_accesses(a, next(s.close), s.end);
        return a.stores.empty() && !a.loads.empty();
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

static bool meet(const std::set<std::string> &a, const std::set<std::string> &b)
{
    if ((a.count("*") && !b.empty()) || (b.count("*") && !a.empty())) return true;
    for (const std::string &name : a)
        if (b.count(name)) return true;
    return false;
}
} // namespace loops

#endif
