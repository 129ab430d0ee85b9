/* Turns preprocessed CUDA C++ into C++ for the CPU runner: rewrite INPUT OUTPUT [WORD...].
 *
 *   kernel<<<grid, block>>>(x)     ::cucc::prepare("kernel", kernel, grid, block)(x)
 *   template_kernel<<<1, 1>>>(x)    ::cucc::prepare_call("template_kernel", [](auto &...a) {
 *                                      template_kernel(a...); }, 1, 1)(x)
 *   kernel, not followed by <<<     ::cucc::kernel_pointer("kernel", kernel)
 *   __shared__ float a[8], b;      struct cucc_shared_1 { float a[8], b; };
 *                                  auto &a = ::cucc::shared_variable<...>("a"); and so for b
 *   extern __shared__ float s[];   float *s = ::cucc::dynamic_shared();
 *   __constant__ float c[4];       float c[4]; static ::cucc::symbol cucc_symbol_2(c);
 *   __syncthreads()                __syncthreads("file.cu:12 (site 3)")
 *   volatile T *v; ... v[i] += x;  { auto cucc_value = v[i] + (x); ::cucc::in_step(4); v[i] =
 *                                  cucc_value; ::cucc::in_step(5); }
 *   __global__, __device__, ...    dropped, or the like of g++
 *
 * It works on tokens and leaves those it does not know as they are; each stays on its line. System
 * headers pass through unread.
 *
 * The folder compile/ is this program, with what cucc knows of nvcc's options. It writes calls of what
 * include/ declares. Uses: no other folder. Used by: none. */
#include "kernels.h"
#include "ptx.h"
#include "spaces.h"
#include "tokens.h"
#include <set>

/* ---- declarations ---------------------------------------------------------------------------- */

static void rewrite_dynamic_shared(long begin, long end)
{
    long array = declared_names(begin, end)[0], bracket = next(array);
    if (!is(bracket, "[") || !is(next(bracket), "]"))
        stop(tokens[(size_t)array], "extern __shared__ must declare one array, as in T name[]");
    bool of_arrays = is(next(next(bracket)), "["); /* which the pointer then points to */
    text(array) = of_arrays ? "(*" + source(array) + ")" : "*" + source(array);
    text(bracket) = text(next(bracket)) = "";
    text(end) = " = ::cucc::dynamic_shared();";
    long depth = 0; /* the array as a reference to something else: it is a pointer here */
    for (long i = next(end); i < count() && depth >= 0; i = next(i)) {
        depth += is(i, "{") - is(i, "}");
        if (source(i) != source(array) || is(next(i), "[") || is(next(i), "(")) continue;
        long p = previous(i), q = previous(p);
        bool by_name = is(p, "(") && is(q, ">") && is(previous(q), "&") && is(next(i), ")");
        if (by_name || (is(p, ")") && is(q, "&"))) text(i) = "*" + source(i);
    }
}

/* Outside of functions: a variable of each OS thread. */
static void rewrite_file_shared(long i, long begin, long end, bool is_extern)
{
    std::vector<long> names = declared_names(begin, end);
    if (is_extern) {
        long array = names[0];
        if (!is(next(array), "[") || !is(next(next(array)), "]"))
            stop(tokens[(size_t)i], "extern __shared__ must declare one array, as in T name[]");
        for (long j = begin; j < array; j = next(j)) {
            if (!is(j, "__attribute__")) continue;
            for (long last = closing(next(j)); j < last; j = next(j)) text(j) = "";
            text(j) = "";
        }
        text(begin) = "static ::cucc::dynamic_shared_array<" + text(begin);
        text(array) = "> " + source(array);
        text(next(array)) = text(next(next(array))) = "";
        return;
    }
    text(begin) = "static thread_local " + text(begin);
    for (long j : names)
        text(end) += " static ::cucc::file_shared " + next_name("cucc_file_shared_") +
                     "([]() -> void * { return (void *)&" + source(j) + "; }, sizeof(" + source(j) +
                     "), \"" + source(j) + "\");";
}

static void rewrite_shared(long i, bool in_function)
{
    long begin = statement_begin(i), end = statement_end(i);
    if (end == count()) stop(tokens[(size_t)i], "cannot find the end of this declaration");
    text(i) = "";
    bool is_extern = false;
    for (long j = begin; j < end && !is(j, "=") && !is(j, "["); j = next(j)) {
        is_extern |= is(j, "extern");
        if (is(j, "extern") || is(j, "static") || is(j, "__device__")) text(j) = "";
    }
    if (!in_function) {
        rewrite_file_shared(i, begin, end, is_extern);
        return;
    }
    if (is_extern) {
        rewrite_dynamic_shared(begin, end);
        return;
    }
    std::string type = next_name("cucc_shared_"), references;
    int index = 0;
    for (long j : declared_names(begin, end)) {
        references += " auto &" + source(j) + " = ::cucc::shared_variable<" + type + ", " +
                      std::to_string(index++) + ", decltype(" + type + "::" + source(j) + ")>(\"" +
                      source(j) + "\");";
    }
    text(begin) = "struct " + type + " { " + text(begin);
    text(end) = "; };" + references;
}

/* Whether the declaration that goes on at I is one of variables: a function has a parameter list
 * before any initialiser. */
static bool declares_variable(long i)
{
    for (; i < count(); i = next(i)) {
        if (is(i, "__attribute__") || is(i, "alignas"))
            i = closing(next(i));
        else if (pointer_declarator(i) >= 0)
            i = closing(next(closing(i)));
        else if (is(i, "["))
            i = closing(i);
        else if (is(i, "(") || is(i, "{") || is(i, "operator"))
            return false;
        else if (is(i, "=") || is(i, ";"))
            return true;
    }
    return false;
}

/* The name at I with what stands before it, as in settings::x. */
static std::string qualified(long i)
{
    std::string name = source(i);
    for (i = previous(i); is(i, "::"); i = previous(i)) {
        name = "::" + name;
        if (is_name(previous(i))) name = source(i = previous(i)) + name;
    }
    return name;
}

/* Adds the record that lets the runtime give each device its own copy of the variables. Returns
 * the end of the declaration. */
static long rewrite_device_variables(long i)
{
    long begin = statement_begin(i), end = statement_end(i);
    bool is_managed = false, is_constant = false;
    if (is(begin, "template")) return end; /* which instances there are is not known here */
    for (long j = begin; j < end && !is(j, "=") && !opens(j); j = next(j)) {
        if (is(j, "extern")) return end;
        is_managed |= is(j, "__managed__");
        is_constant |= is(j, "__constant__");
    }
    for (long j : declared_names(begin, end))
        text(end) += std::string(" static ::cucc::") +
                     (is_managed    ? "managed_symbol "
                      : is_constant ? "constant_symbol "
                                    : "symbol ") +
                     next_name("cucc_symbol_") + "(" + qualified(j) + ");";
    return end;
}

/* ---- copies of built-in variables -------------------------------------------------------------- */

/* What the bodies of lambdas begin with, by their braces. It is put there last: kernels as loops are
 * written of lambdas without it. */
static std::map<long, std::string> lambda_copies;

/* Copies of threadIdx and its like, as far as what stands from the brace on names them outside of
 * lambdas; these, which need not capture, get their own. */
static std::string copies_of_builtins(long open)
{
    static const char *const names[][2] = {{"threadIdx", "::uint3"},
                                           {"blockIdx", "::uint3"},
                                           {"blockDim", "::dim3"},
                                           {"gridDim", "::dim3"}};
    bool used[4] = {};
    std::string copies;
    for (long i = next(open), end = closing(open); i < end; i = next(i)) {
        long body = is(i, "[") ? lambda_body(i) : -1;
        for (long j = i; j < body; j = next(j)) /* captures may name them */
            for (int k = 0; k < 4; k++) used[k] |= is(j, names[k][0]);
        if (body >= 0) {
            lambda_copies[body] = copies_of_builtins(body);
            i = closing(body);
        }
        for (int k = 0; k < 4; k++) used[k] |= is(i, names[k][0]) && !is(previous(i), "::");
    }
    for (int k = 0; k < 4; k++)
        if (used[k])
            copies += std::string(" const ") + names[k][1] + " " + names[k][0] +
                      " = ::cucc::value_of(::" + names[k][0] + ");";
    return copies.empty() ? copies : aside(copies, open + 1);
}

/* A function of the device that names threadIdx and its like begins with copies of them, which the
 * compiler may keep in registers: it cannot know that no store changes the variables themselves. Returns
 * the brace after which they are, or I. */
static long copy_builtins(long i)
{
    long open = i;
    for (; open < count() && !is(open, "{"); open = next(is(open, "(") ? closing(open) : open))
        if (is(open, ";") || is(open, "=") || is(open, ":") || is(open, "}")) return i;
    if (open == count() || !is(previous(open), ")") || lambda_copies.count(open)) return i;
    std::string copies = copies_of_builtins(open);
    for (long j = open, end = closing(open); j < end; j = next(j))
        if (is(j, "struct") || is(j, "class") || is(j, "union"))
            return open; /* in which copies cannot be named */
    text(open) += copies;
    return open;
}

/* ---- what cannot run here -------------------------------------------------------------------- */

/* Names of the toolkit by what they begin with. */
static void refuse_unsupported(long i)
{
    static const struct {
        const char *prefix, *need;
    } parts[] = {{"cudaGraphicsGL", "OpenGL"},
                 {"cudaGraphics", "OpenGL or another library of graphics"},
                 {"cuModule", "modules of the driver API: kernels must be in the program"},
                 {"cuLaunchKernel", "modules of the driver API: kernels must be in the program"},
                 {"cuMemCreate", "the virtual memory API"},
                 {"cuMemAddressReserve", "the virtual memory API"},
                 {"cuTensorMapEncode", "tensor maps, which only a GPU has"},
                 {"cudaMallocMipmappedArray", "mipmapped arrays"},
                 {"cudaGraphAddMem", "memory nodes of graphs"},
                 {"cudaGraphConditional", "conditional nodes of graphs"},
                 {"cublasLtMat", "the products of cuBLASLt (cublasSgemm and its like are there)"},
                 {"cudaImportExternal", "memory or semaphores of other libraries"}};
    static const std::set<std::string> taken = {"cudaGraphAddMemcpyNode",
                                                "cudaGraphAddMemcpyNode1D",
                                                "cudaGraphAddMemsetNode"};
    const std::string &name = source(i);
    if (name.compare(0, 2, "cu") || taken.count(name)) return;
    for (const auto &part : parts)
        if (name.compare(0, strlen(part.prefix), part.prefix) == 0)
            stop(tokens[(size_t)i], (name + " needs " + part.need).c_str());
}

/* ---- volatile memory ------------------------------------------------------------------------- */

/* Programs from before 2018 let the lanes of a warp exchange sums through volatile memory without
 * __syncwarp, since each instruction was done by all of them at once. So here all lanes read what an
 * assignment needs before one of them writes, and all write before one goes on. */
static std::set<std::string> volatile_names; /* pointers to volatile and volatile arrays in scope */

static void note_volatile(long i)
{
    bool pointer = false;
    for (i = next(i); i < count(); i = next(i)) {
        if (is(i, "*")) {
            pointer = true;
        } else if (is_name(i) && (pointer || is(next(i), "["))) {
            if (is(i, "const") || is(i, "__restrict__") || is(i, "__restrict")) continue;
            volatile_names.insert(source(i));
            while (i < count() && !is(i, ",") && !is(i, ";") && !closes(i))
                i = next(opens(i) ? closing(i) : i);
            long after = next(i);
            pointer = is(after, "*");
            while (is(after, "*")) after = next(after);
            bool another = is(i, ",") && is_name(after) && !is_name(next(after)) &&
                           !is(next(after), "*") && !is(next(after), "::");
            if (!another) return;
        } else if (opens(i) || closes(i) || is(i, ";") || is(i, ",") || is(i, "=") || is(i, ">")) {
            return;
        }
    }
}

/* An assignment to an element of volatile memory, alone in its statement. */
static void rewrite_step(long i)
{
    if (!begins_statement(i)) return;
    std::string target = source(i), operation;
    long j = next(i);
    for (; is(j, "["); j = next(j)) {
        long end = closing(j);
        for (; j < end; j = next(j)) target += source(j) + " ";
        target += "]";
    }
    if (is(j, "<") || is(j, ">")) { /* of <<= or >>= */
        if (!is(next(j), source(j).c_str())) return;
        operation = source(j);
        j = next(j);
    }
    if (!is(j, "=")) {
        operation += source(j);
        j = next(j);
    }
    long value = next(j), end = value;
    if (!is(j, "=") || is(value, "=") ||
        operation.find_first_not_of("+-*/%&|^<>") != operation.npos)
        return;
    for (; end < count() && !is(end, ";"); end = next(opens(end) ? closing(end) : end))
        if (closes(end)) return; /* in the head of a loop */
    int place = numbered += 2;
    for (long k = i; k < value; k = next(k)) text(k) = "";
    text(i) = "{ auto cucc_value = " + (operation.empty() ? "(" : target + " " + operation + " (");
    text(end) = "); ::cucc::in_step(" + std::to_string(place) + "); " + target +
                " = cucc_value; ::cucc::in_step(" + std::to_string(place + 1) + "); }";
}

/* ---- results that are thrown away, under --check ---------------------------------------------- */

static bool checking, reporting;

/* A call of the runtime that is a statement of its own: nobody sees its error. */
static void rewrite_thrown_away(long i)
{
    static const std::set<std::string> no_errors = {"cudaGetErrorString", "cudaGetErrorName",
                                                    "cudaGetLastError", "cudaPeekAtLastError",
                                                    "cudaCreateChannelDesc"};
    long open = next(i), close = is(open, "(") ? closing(open) : -1;
    if (close < 0 || !is(next(close), ";") || source(i).compare(0, 4, "cuda") ||
        no_errors.count(source(i)) || !begins_statement(i))
        return;
    text(i) = "::cucc::thrown_away(\"" + source(i) + "\", (" + text(i);
    text(close) += ", ::cucc::no_error()))";
}

/* Tells which way a branch goes: if (c) becomes if (::cucc::took((c) ? true : false)), and so for loops. */
static void rewrite_branch(long i)
{
    long open = next(i), begin = next(open), end = closing(open);
    if (!is(open, "(") || is(previous(i), "constexpr")) return;
    if (is(i, "for")) { /* the second part */
        while (begin < end && !is(begin, ";")) begin = next(opens(begin) ? closing(begin) : begin);
        long second = begin = next(begin);
        while (second < end && !is(second, ";"))
            second = next(opens(second) ? closing(second) : second);
        if (begin >= end || second >= end) return; /* one that ranges over something */
        end = second;
    }
    if (begin >= end) return;
    for (long j = begin; j < end; j = next(opens(j) ? closing(j) : j)) {
        bool compares = is(next(j), "=") || is(previous(j), "=") || is(previous(j), "<") ||
                        is(previous(j), ">") || is(previous(j), "!");
        if (is(j, ";") || (is(j, "=") && !compares)) return; /* it declares or assigns */
    }
    text(begin) = "::cucc::took((" + text(begin);
    text(end) = ") ? true : false)" + text(end);
}

/* ---- the whole file -------------------------------------------------------------------------- */

/* Whether the brace at I opens a namespace or an extern "C" block. */
static bool opens_namespace(long i)
{
    long p = previous(i);
    if (source(p) == "\"C\"" && is(previous(p), "extern")) return true;
    while (is_name(p) && !is(p, "namespace")) {
        p = previous(p);
        if (!is(p, "::")) break;
        p = previous(p);
    }
    return is(p, "namespace");
}

static void rewrite_barrier(long i)
{
    long open = next(i);
    if (!is(open, "(")) return;
    const token &t = tokens[(size_t)i];
    text(open) = "(\"" + *t.file + ":" + std::to_string(t.line) + " (site " +
                 std::to_string(++numbered) + ")\"" + (is(next(open), ")") ? "" : ", ");
}

static void rewrite_tokens()
{
    /* Qualifiers and what stands for them. A kernel that one program does not launch is no reason
     * for a warning. */
    static const std::map<std::string, std::string> qualifiers = {
        {"__global__", "__attribute__((unused))"},
        {"__device__", "__attribute__((unused))"},
        {"__constant__", "__attribute__((unused))"},
        {"__managed__", ""},
        {"__host__", ""},
        {"__forceinline__", "inline __attribute__((always_inline))"},
        {"__noinline__", "__attribute__((noinline))"}};
    note_kernels();
    loops::note_program();
    std::vector<bool> scopes; /* for each open brace, whether it is one of a namespace */
    int functions = 0;        /* how many are not */
    long copied = -1;         /* where the last function of the device begins */
    long declared = -1;       /* the end of the last declaration of device variables */
    for (long i = next(-1); i < count(); i = next(i)) {
        if (is(i, "{")) {
            scopes.push_back(opens_namespace(i));
            functions += !scopes.back();
        } else if (is(i, "}") && !scopes.empty()) {
            functions -= !scopes.back();
            if (kernel_ends.count(i)) add_loops(i);
            if (!functions) volatile_names.clear(), hidden_kernels.clear();
            scopes.pop_back();
        } else if (is(i, ";") && !functions) {
            hidden_kernels.clear();
        } else if (is(i, "volatile")) {
            note_volatile(i);
        } else if (is(i, "__shared__")) {
            rewrite_shared(i, functions > 0);
        } else if (is(i, "__syncthreads") || is(i, "__syncthreads_or") ||
                   is(i, "__syncthreads_and") || is(i, "__syncthreads_count")) {
            rewrite_barrier(i);
        } else if (is_triple(i, "<") && !is(previous(i), "operator")) {
            rewrite_launch(i);
        } else if (is(i, "__cluster_dims__")) {
            rewrite_cluster(i);
        } else if (is(i, "asm") || is(i, "__asm__") || is(i, "__asm")) {
            rewrite_asm(i);
        } else if (is_name(i)) {
            refuse_unsupported(i);
            if (checking && functions) rewrite_thrown_away(i);
            if (reporting && functions && (is(i, "if") || is(i, "for") || is(i, "while")))
                rewrite_branch(i);
            if (functions && is(next(i), "[") && volatile_names.count(source(i))) rewrite_step(i);
            auto found = qualifiers.find(source(i));
            if (found == qualifiers.end()) {
                auto kernel = kernels.find(source(i));
                if (kernel == kernels.end()) continue;
                if (declares_name(i)) hidden_kernels.insert(source(i));
                if (!hidden_kernels.count(source(i))) rewrite_kernel_pointer(i, kernel->second);
                continue;
            }
            if (is(previous(i), "(")) continue; /* the argument of an __attribute__ */
            if ((is(i, "__global__") || is(i, "__device__")) && i > copied)
                copied = copy_builtins(i);
            bool attribute = !functions || found->first.find("inline") != std::string::npos;
            text(i) = attribute ? found->second : "";
            bool variable = is(i, "__device__") || is(i, "__constant__") || is(i, "__managed__");
            if (variable && !functions && i > declared && declares_variable(i))
                declared = rewrite_device_variables(i);
        }
    }
    for (const auto &copies : lambda_copies) text(copies.first) += copies.second;
    for (const auto &before : put_before) text(before.first) = before.second + text(before.first);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::cerr << "usage: rewrite INPUT OUTPUT loops | spaces | WORD OF THE MODE...\n";
        return 2;
    }
    std::ifstream in(argv[1], std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    reader r;
    r.read(all.str());
    note_closings();
    std::set<std::string> words(argv + 3, argv + argc);
    write_loops = words.count("loops");
    reporting = words.count("report");
    checking = reporting || words.count("check");
    bool spaces_alone = words.count("spaces");
    if (spaces_alone) {
        spaces::answer answer = spaces::look();
        if (answer != spaces::doubtful) return answer == spaces::wrong ? 4 : 3;
        spaces::name_files();
    }
    rewrite_tokens();
    std::ofstream out(argv[2], std::ios::binary);
    if (spaces_alone)
        spaces::write(out);
    else
        for (const token &t : tokens) out << t.text;
    out.close();
    if (!in || !out) {
        std::cerr << "cucc: cannot rewrite " << argv[1] << "\n";
        return 1;
    }
    return 0;
}
