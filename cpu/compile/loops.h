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
 * keeps to fibers if anything in it is unknown, or if a missing barrier would not show: what stands
 * between two barriers is one loop, unless the parts touch different shared memory. */
#ifndef CUCC_LOOPS_H
#define CUCC_LOOPS_H

#include "tokens.h"
#include <set>

namespace loops
{
struct statement {
    enum { leaf, compound, conditional, loop } kind = leaf;
    long begin = 0, end = 0;      /* tokens; the end is behind the last one */
    long open = -1, close = -1;   /* the parentheses of an if or a for */
    std::vector<statement> parts; /* the statements of a compound, the branches, the body */
    bool is_for = false, is_do = false, opaque = false; /* a switch is taken as a whole */
};

struct variable {
    std::string type, bounds; /* as it is declared; without const */
    bool pure = true;         /* never assigned to, and its value needs no memory */
    bool uniform = true;      /* the same in all threads of a block */
    bool assigned = false, array = false, pointer = false, reference = false, parameter = false,
         object = false;             /* or of a type that is not known */
    bool in_head = false;            /* all declarations are in heads of for loops */
    int declarations = 0;            /* of this name in the kernel */
    int number = 0;                  /* in the name of what keeps it between loops */
    long begin = -1, end = -1;       /* the last declaration */
    long start = -1, start_end = -1; /* its initialiser */
};

/* What a part of a kernel reads and writes, by name: "@x" what the parameter x points to, "*" any memory. */
struct accesses {
    std::set<std::string> loads, stores;
};

/* A loop whose variable begins elsewhere in each thread, and in which all take the same steps. */
struct stride {
    std::string name, type;
    long start = 0, start_end = 0;         /* the value that it begins with */
    long condition = 0, condition_end = 0; /* the variable is less than a bound */
    long step = 0, step_end = 0;
    std::string offset; /* what the steps amount to, where the loop is written */
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
        s.kind = statement::loop;
        s.is_do = true;
        i = next(i);
        s.parts.push_back(parse(i));
        s.open = next(i);
        if (!is(i, "while") || !is(s.open, "(")) throw unsuitable();
        s.close = closing(s.open);
        i = next(next(s.close));
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
    return is(i, "threadIdx") || is(i, "blockIdx") || is(i, "blockDim") || is(i, "gridDim") ||
           is(i, "cucc_t") || is(i, "cucc_way");
}

static bool is_shared(const statement &s)
{
    return has(s.begin, s.end, "__shared__");
}

static bool is_barrier(const statement &s)
{
    return s.kind == statement::leaf && (is(s.begin, "__syncthreads") || is(s.begin, "__syncwarp"));
}

/* A leaf that declares variables of each thread. */
static bool is_declaration(const statement &s)
{
    if (s.kind != statement::leaf || s.opaque || is_shared(s)) return false;
    long i = s.begin;
    while (is(i, "const") || is(i, "constexpr")) i = next(i);
    if (is_type_word(i)) return !is(next(i), "(") && !is(next(i), "{");
    if (!is_name(i) || is_word_of_language(i) || is(i, "using") || is(i, "typedef")) return false;
    i = next(i);
    while (is(i, "*") || is(i, "&") || is(i, "const") || is(i, "__restrict__")) i = next(i);
    return is_name(i) && (is(next(i), "=") || is(next(i), ";") || is(next(i), "[") ||
                          is(next(i), ",") || is(next(i), "(") || is(next(i), "{"));
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

static long after_subscripts(long i)
{
    for (i = next(i); is(i, "[") || is(i, ".");) i = is(i, "[") ? next(closing(i)) : next(next(i));
    return i;
}

/* ---- which calls are harmless ---------------------------------------------------------------- */

static std::set<std::string> own_names; /* of functions of the program, which may do anything */

/* Functions that read no memory. OF_STD: named with std:: in front. */
static bool is_mathematics(const std::string &name, bool of_std = false)
{
    if (!of_std && own_names.count(name)) return false;
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
    static const std::set<std::string> of_numbers = {
        "__ffs",  "__ffsll",  "__clzll",   "__popcll",    "__brev",          "__brevll",
        "__sad",  "__usad",   "__rhadd",   "__byte_perm", "__funnelshift_l", "__funnelshift_r",
        "__tanf", "__exp10f", "__log2f",   "__log10f",    "tgamma",          "lgamma",
        "exp2f",  "copysign", "signbit",   "rcbrt",       "normcdf",         "sinpi",
        "cospi",  "erfinv",   "isfinite",  "__mul64hi",   "llmin",           "umin",
        "umax",   "fdim",     "nearbyint", "logb",        "ldexp",           "nextafter"};
    if (of_numbers.count(name)) return true;
    if (name.back() == 'f' && of_numbers.count(name.substr(0, name.size() - 1))) return true;
    for (const char *constant :
         {"__builtin_inf", "__builtin_huge", "__builtin_nan", "__builtin_is"})
        if (name.compare(0, strlen(constant), constant) == 0) return true;
    if (name.compare(0, 2, "__") == 0) { /* __fmul_rd, __half2float, __float_as_uint, __hfma */
        static const char *const parts[] = {"_rn",   "_rz",     "_ru",       "_rd", "2half",
                                            "half2", "2bfloat", "bfloat162", "_as_"};
        for (const char *part : parts)
            if (name.find(part) != name.npos) return true;
        static const std::set<std::string> halves = {
            "__hadd", "__hsub",      "__hmul",       "__hdiv",        "__hfma",  "__hneg",
            "__habs", "__hadd2",     "__hsub2",      "__hmul2",       "__hfma2", "__hmax",
            "__hmin", "__hlt",       "__hgt",        "__hle",         "__hge",   "__heq",
            "__hne",  "__low2float", "__high2float", "__halves2half2"};
        if (halves.count(name)) return true;
    }
    if (name.back() == 'f' && names.count(name.substr(0, name.size() - 1))) return true;
    return name.compare(0, 5, "make_") == 0 && isdigit((unsigned char)name.back());
}

static bool is_atomic(const std::string &name)
{
    static const std::set<std::string> names = {"atomicAdd", "atomicSub", "atomicMin", "atomicMax",
                                                "atomicAnd", "atomicOr",  "atomicXor", "atomicInc",
                                                "atomicDec", "atomicExch"};
    return names.count(name) > 0;
}

/* What stands for warp functions (loops_expand.h). */
static bool is_of_lanes(const std::string &name)
{
    static const std::set<std::string> names = {
        "cucc_items_sum",  "cucc_items_min", "cucc_items_max", "cucc_block_put", "cucc_block_sum",
        "cucc_block_min",  "cucc_block_max", "cucc_clear",     "cucc_put",       "cucc_shfl",
        "cucc_shfl_up",    "cucc_shfl_down", "cucc_shfl_xor",  "cucc_any",       "cucc_all_of",
        "cucc_ballot",     "cucc_plus",      "cucc_less",      "cucc_greater",   "cucc_reduce_add",
        "cucc_reduce_min", "cucc_reduce_max"};
    return names.count(name) > 0;
}

/* Functions of the runtime that never stop a thread. */
static bool is_harmless(const std::string &name)
{
    static const std::set<std::string> names = {"printf",        "__assert_fail",
                                                "__ldg",         "tex1D",
                                                "tex2D",         "tex3D",
                                                "tex1Dfetch",    "tex2DLod",
                                                "tex3DLod",      "tex1DLayered",
                                                "surf1Dread",    "tex2DLayered",
                                                "surf2Dread",    "surf3Dread",
                                                "surf1Dwrite",   "surf2Dwrite",
                                                "surf3Dwrite",   "__ldcg",
                                                "__ldcs",        "__stcs",
                                                "__ldca",        "__ldcv",
                                                "__ldlu",        "__stcg",
                                                "__stwt",        "__stwb",
                                                "sincosf",       "sincos",
                                                "__sincosf",     "__threadfence_system",
                                                "__threadfence", "__threadfence_block"};
    return !own_names.count(name) && (names.count(name) > 0 || is_of_lanes(name));
}

static std::set<std::string> device_variables; /* memory that kernels name without a pointer */
static std::map<std::string, std::vector<long>> device_functions; /* the braces that open them */
static std::set<std::string> functions_of_references; /* those that may change their arguments */
static std::set<std::string> functions_of_steps; /* with volatile parameters: lanes go in step */

} // namespace loops

#endif
