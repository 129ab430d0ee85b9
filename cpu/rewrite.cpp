/* Turns preprocessed CUDA C++ into C++ for the CPU runner: rewrite INPUT OUTPUT.
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
 * headers pass through unread. */
#include "loops_write.h"
#include "tokens.h"
#include <regex>
#include <set>

/* ---- declarations ---------------------------------------------------------------------------- */

static std::string next_name(const char *stem)
{
    return stem + std::to_string(++numbered);
}

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
        else if (is(i, "["))
            i = closing(i);
        else if (is(i, "(") || is(i, "{") || is(i, "operator"))
            return false;
        else if (is(i, "=") || is(i, ";"))
            return true;
    }
    return false;
}

/* Adds the record that lets the runtime give each device its own copy of the variables. Returns
 * the end of the declaration. */
static long rewrite_device_variables(long i)
{
    long begin = statement_begin(i), end = statement_end(i);
    bool is_managed = false, is_constant = false;
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
                     next_name("cucc_symbol_") + "(" + source(j) + ");";
    return end;
}

/* ---- launches -------------------------------------------------------------------------------- */

static bool is_keyword_before_expression(long i)
{
    return is(i, "return") || is(i, "else") || is(i, "do");
}

/* The first token of the expression that names the kernel and ends at I: names joined by ::, . and
 * ->, with template arguments, or something in parentheses. */
static long kernel_begin(long i)
{
    for (;;) {
        if (is(i, ">") || closes(i)) {
            i = opening(i);
            long before = previous(i);
            if (is_name(before) && !is_keyword_before_expression(before)) i = before;
        }
        long joint = previous(i);
        if (!is(joint, "::") && !is(joint, ".") && !is(joint, "->")) return i;
        long before = previous(joint);
        bool joined = is(before, ">") || closes(before) ||
                      (is_name(before) && !is_keyword_before_expression(before));
        if (!joined) return joint;
        i = before;
    }
}

static bool is_triple(long i, const char *angle)
{
    return is(i, angle) && is(next(i), angle) && is(next(next(i)), angle);
}

/* What the declarations of one kernel's name say. */
struct kernel_facts {
    bool is_template = false, has_pack = false, has_defaults = false;
    int template_parameters = 0;
    int definitions = 0, kernel_definitions = 0; /* with functions of this name; of kernels alone */
    long name = -1, brace = -1;                  /* of its definition */
    bool as_loops = false;                       /* there is cucc_block_NAME, too */
};
static bool write_loops;
static std::map<long, std::string> kernel_ends; /* the braces that close kernels, and their names */
static std::map<std::string, kernel_facts> kernels;

/* How many parts the commas make of what stands between two brackets; PACK: whether there is a "...". */
static int count_parts(long open, long close, bool *pack)
{
    int parts = next(open) < close, angles = 0;
    for (long i = next(open); i < close; i = next(i)) {
        if (opens(i)) i = closing(i);
        angles += is(i, "<") - is(i, ">");
        parts += is(i, ",") && !angles;
        if (pack) *pack |= is(i, ".");
    }
    return parts;
}

static long closing_angle(long i)
{
    for (int depth = 0; i < count(); i = next(i)) {
        if (opens(i)) i = closing(i);
        depth += is(i, "<") - is(i, ">");
        if (!depth) return i;
    }
    return i;
}

static void note_kernel(long i)
{
    long begin = statement_begin(i);
    for (long j = next(i); j < count() && !is(j, ";") && !is(j, "{"); j = next(j)) {
        if (!is(next(j), "(")) continue;
        long close = closing(next(j)), after = next(close);
        if (!is_name(j) || is(j, "__launch_bounds__") || is(j, "__cluster_dims__") ||
            (!is(after, "{") && !is(after, ";"))) {
            j = close;
            continue;
        }
        kernel_facts &facts = kernels[source(j)];
        bool specialised = false;
        if (is(begin, "template")) {
            long angle = next(begin), end = closing_angle(angle);
            facts.is_template = true;
            specialised = !is(angle, "<") || next(angle) == end;
            if (!specialised) facts.template_parameters = count_parts(angle, end, &facts.has_pack);
        }
        for (long k = next(next(j)); k < close; k = next(opens(k) ? closing(k) : k))
            facts.has_defaults |= is(k, "=");
        if (is(after, "{")) {
            facts.kernel_definitions++;
            facts.name = j;
            facts.brace = after;
            kernel_ends[closing(after)] = source(j);
        }
        return;
    }
}

/* Behind a kernel: the same as loops over the threads of a block, on lines that nobody sees. */
static void add_loops(long i)
{
    kernel_facts &facts = kernels[kernel_ends[i]];
    if (!write_loops || facts.kernel_definitions > 1 || facts.brace < 0 ||
        closing(facts.brace) != i)
        return;
    std::string body = loops::write_kernel(next(facts.name), facts.brace);
    if (body.empty()) return;
    std::string signature;
    for (long j = statement_begin(facts.name); j < facts.brace; j++)
        signature += tokens[(size_t)j].kind == blank ? " "
                     : j == facts.name               ? "cucc_block_" + source(j)
                                                     : text(j);
    const token &t = tokens[(size_t)i];
    std::string ignored;
    for (const char *warning :
         {"uninitialized", "maybe-uninitialized", "unused-variable", "unused-parameter",
          "unused-but-set-variable", "shadow", "unused-value"})
        ignored += std::string("#pragma GCC diagnostic ignored \"-W") + warning + "\"\n";
    text(i) += "\n#pragma GCC diagnostic push\n" + ignored + signature +
               " { const ::cucc::no_thread threadIdx = {}; (void)threadIdx; const ::uint3 blockIdx "
               "= ::blockIdx; const ::dim3 blockDim = ::blockDim, gridDim = "
               "::gridDim; " +
               body + "}\n#pragma GCC diagnostic pop\n# " + std::to_string(t.line) + " \"" +
               *t.file + "\"\n";
    facts.as_loops = true;
}

static void note_kernels()
{
    for (long i = next(-1); i < count(); i = next(i))
        if (is(i, "__global__")) note_kernel(i);
    for (long i = next(-1); i < count(); i = next(i)) { /* a function of the host may be one more */
        if (!is_name(i) || !is(next(i), "(")) continue;
        auto found = kernels.find(source(i));
        if (found != kernels.end() && is(next(closing(next(i))), "{")) found->second.definitions++;
    }
}

/* Whether only a call with its arguments tells which function is meant. */
static bool needs_call(long begin, long last)
{
    long name = last;
    int given = 0;
    if (is(last, ">")) {
        long angle = opening(last);
        given = count_parts(angle, last, nullptr);
        name = previous(angle);
    }
    auto found = kernels.find(source(name));
    if (found == kernels.end() || name < begin) return false;
    const kernel_facts &facts = found->second;
    return facts.definitions > 1 || facts.has_defaults ||
           (facts.is_template && (facts.has_pack || given != facts.template_parameters));
}

static void rewrite_launch(long i)
{
    long last = previous(i), begin = kernel_begin(last);
    std::string kernel;
    for (long j = begin; j <= last; j = next(j)) kernel += source(j);
    long end = next(next(next(i)));
    while (end < count() && !is_triple(end, ">") && !is(end, ";"))
        end = next(opens(end) ? closing(end) : end);
    long arguments = next(next(next(end)));
    if (!is_triple(end, ">") || !is(arguments, "("))
        stop(tokens[(size_t)i], "a launch must look like kernel<<<grid, block>>>(arguments)");
    bool call = needs_call(begin, last);
    long name = is(last, ">") ? previous(opening(last)) : last;
    auto facts = kernels.find(source(name));
    bool as_loops = facts != kernels.end() && facts->second.as_loops && name >= begin;
    std::string loops;
    for (long j = begin; as_loops && j <= last; j++)
        loops += j == name                         ? "cucc_block_" + source(j)
                 : tokens[(size_t)j].kind == blank ? " "
                                                   : source(j);
    if (as_loops)
        loops = call ? "[](auto &...cucc_arguments) { " + loops + "(cucc_arguments...); }, "
                     : loops + ", ";
    text(begin) = std::string(" ::cucc::prepare") + (call ? "_call" : "") +
                  (as_loops ? "_loops(" : "(") + loops + "\"" + kernel + "\", " +
                  (call ? "[](auto &...cucc_arguments) { " : "") + text(begin);
    text(i) = call ? "(cucc_arguments...); }, " : ", ";
    text(next(i)) = text(next(next(i))) = "";
    text(end) = ")";
    text(next(end)) = text(next(next(end))) = "";
    for (long j = next(arguments); call && j < closing(arguments); j = next(j))
        if (is(j, "__null")) text(j) = "nullptr";
}

/* Names of kernels that are those of variables in the function at hand. */
static std::set<std::string> hidden_kernels;

static bool declares_name(long i)
{
    long before = previous(i), after = next(i), type = previous(before);
    bool named = is_name(before) && !is_keyword_before_expression(before);
    bool pointer =
        (is(before, "*") || is(before, "&")) && (is_name(type) || is(type, ">") || is(type, "*"));
    return (named || pointer || is(before, ">")) &&
           (is(after, ",") || is(after, ")") || is(after, "=") || is(after, ";") || is(after, "["));
}

/* A kernel whose address is taken: as an argument, in an initializer, in an assignment. */
static void rewrite_kernel_pointer(long i, const kernel_facts &facts)
{
    long last = i;
    if (facts.definitions > 1 || facts.is_template != is(next(i), "<")) return;
    if (facts.is_template) {
        last = closing_angle(next(i));
        if (facts.has_pack || count_parts(next(i), last, nullptr) != facts.template_parameters)
            return;
    }
    bool ends = is(next(last), ",") || is(next(last), ")") || is(next(last), "}") ||
                is(next(last), ";") || is(next(last), ":");
    long before = previous(i);
    if (!ends || is(before, "::") || is(before, ".") || is(before, "->") || is(before, "void"))
        return;
    if (is(before, "&")) text(before) = "";
    std::string kernel;
    for (long j = i; j <= last; j = next(j)) kernel += source(j);
    text(i) = "::cucc::kernel_pointer(\"" + kernel + "\", " + source(i);
    text(last) += facts.as_loops ? ", cucc_block_" + kernel + ")" : ")";
}

/* __cluster_dims__(2, 1, 1) of a kernel becomes a record before it. */
static void rewrite_cluster(long i)
{
    long open = next(i), close = closing(open), name = close;
    while (name < count() && !is(next(name), "(") && !is(name, ";")) name = next(name);
    if (is(name, "__launch_bounds__")) name = closing(next(name));
    while (name < count() && !is(next(name), "(") && !is(name, ";")) name = next(name);
    std::string dimensions;
    for (long j = i; j <= close; j = next(j)) {
        if (j > open && j < close) dimensions += source(j);
        text(j) = "";
    }
    long begin = statement_begin(i);
    text(begin) = "static ::cucc::cluster_of " + next_name("cucc_cluster_") + "(\"" + source(name) +
                  "\", " + dimensions + "); " + text(begin);
}

/* A function of the device that names threadIdx and its like begins with copies of them, which the
 * compiler may keep in registers: it cannot know that no store changes the variables themselves. Returns
 * the brace after which they are, or I. */
static long copy_builtins(long i)
{
    static const char *const names[][2] = {{"threadIdx", "::uint3"},
                                           {"blockIdx", "::uint3"},
                                           {"blockDim", "::dim3"},
                                           {"gridDim", "::dim3"}};
    long open = i;
    for (; open < count() && !is(open, "{"); open = next(is(open, "(") ? closing(open) : open))
        if (is(open, ";") || is(open, "=") || is(open, ":") || is(open, "}")) return i;
    if (open == count() || !is(previous(open), ")")) return i;
    const long end = closing(open); /* which walks through the body */
    std::string copies;
    for (const auto &name : names) {
        bool used = false;
        for (long j = open; j < end; j = next(j)) {
            bool local_class = is(j, "struct") || is(j, "class") || is(j, "union");
            const bool lambda =
                is(j, "[") && !is_name(previous(j)) && !closes(previous(j)) && !is(next(j), "[");
            if (local_class || lambda) return open; /* in which copies cannot be named */
            used |= is(j, name[0]) && !is(previous(j), "::");
        }
        if (used)
            copies += std::string(" const ") + name[1] + " " + name[0] + " = ::" + name[0] + ";";
    }
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

/* ---- PTX ------------------------------------------------------------------------------------- */

/* The text of all string literals from I on. */
static std::string literal_text(long i)
{
    std::string all;
    for (; i < count() && tokens[(size_t)i].kind == literal && source(i)[0] == '"'; i = next(i))
        all += source(i).substr(1, source(i).size() - 2);
    return all;
}

static bool is_ptx(const std::string &code)
{
    static const std::regex typical(
        "\\.(pred|[subf](8|16|32|64)|bf16|aligned|sync|shared|global|cta|gl|"
        "sys|gpu|cg|L1|L2|x2|x4|wait_all|commit_group|wait_group|release|"
        "acquire)|%%|^ *(trap|exit|brkpt);");
    return std::regex_search(code, typical);
}

/* Instructions that are an expression of C, with their operands as $1 and so on; all else cannot run
 * here. */
static const std::map<std::string, std::string> simple_instructions = {
    {"bfe.u32", "::cucc::special_bfe($1, $2, $3)"},
    {"bfi.b32", "::cucc::special_bfi($1, $2, $3, $4)"},
    {"brev.b32", "__brev($1)"},
    {"clz.b32", "__clz((int)($1))"},
    {"popc.b32", "__popc($1)"},
    {"mul.hi.u32", "__umulhi($1, $2)"},
    {"prmt.b32", "__byte_perm($1, $2, $3)"},
    {"add.u32", "($1) + ($2)"},
    {"sqrt.approx.f32", "sqrtf($1)"},
    {"rcp.approx.f32", "1.0f / ($1)"},
    {"ex2.approx.f32", "exp2f($1)"},
    {"ex2.approx.ftz.f32", "exp2f($1)"},
    {"lg2.approx.f32", "log2f($1)"},
    {"membar.gl", "__threadfence()"},
    {"membar.cta", "__threadfence_block()"},
    {"membar.sys", "__threadfence_system()"},
    {"trap", "__trap()"}};
static const std::set<std::string> special_registers = {"laneid",      "warpid",      "smid",
                                                        "nsmid",       "nwarpid",     "clock",
                                                        "clock64",     "globaltimer", "lanemask_eq",
                                                        "lanemask_lt", "lanemask_le", "lanemask_gt",
                                                        "lanemask_ge"};

/* The expressions of the operands of an asm statement: what stands in parentheses after constraints. */
static std::vector<std::string> asm_operands(long begin, long close)
{
    std::vector<std::string> operands;
    for (long i = begin; i < close; i = next(i)) {
        if (!is(i, "(")) continue;
        std::string expression;
        for (long j = next(i); j < closing(i); j = next(j)) expression += source(j) + " ";
        operands.push_back(expression);
        i = closing(i);
    }
    return operands;
}

static std::string with_operands(std::string expression, const std::vector<std::string> &operands)
{
    for (size_t i = 1; i < operands.size(); i++) {
        std::string name = "$" + std::to_string(i);
        for (size_t at; (at = expression.find(name)) != expression.npos;)
            expression.replace(at, name.size(), operands[i]);
    }
    return expression;
}

static void rewrite_asm(long i)
{
    static const std::regex form(
        "\\s*([a-z0-9_.]+)\\s*(?:%0\\s*,?\\s*((?:%%?\\w+\\s*,?\\s*)*))?;?\\s*");
    long open = next(i);
    while (is(open, "volatile") || is(open, "__volatile__")) open = next(open);
    if (!is(open, "(")) return;
    std::string code = literal_text(next(open)), result;
    if (!is_ptx(code)) return;
    long close = closing(open), end_of_code = next(open);
    while (end_of_code < close && !is(end_of_code, ":")) end_of_code = next(end_of_code);
    std::vector<std::string> operands = asm_operands(end_of_code, close);
    std::smatch parts;
    if (std::regex_match(code, parts, form)) {
        std::string instruction = parts[1], rest = parts[2];
        auto known = simple_instructions.find(instruction);
        std::string reg = rest.substr(0, rest.find_first_of(" ,;"));
        if (known != simple_instructions.end())
            result = with_operands(known->second, operands);
        else if (instruction.compare(0, 4, "mov.") == 0 && reg.compare(0, 2, "%%") == 0 &&
                 special_registers.count(reg.substr(2)))
            result = "::cucc::special_" + reg.substr(2) + "()";
    }
    if (result.empty() || result.find('$') != result.npos) {
        std::string instruction =
            code.substr(std::min(code.find_first_not_of(" \\tn{"), code.size()));
        instruction = instruction.substr(0, instruction.find_first_of(" ;\\"));
        stop(tokens[(size_t)i], ("needs PTX (" + instruction + "), which only a GPU runs").c_str());
    }
    for (long j = i; j <= close; j = next(j)) text(j) = "";
    text(i) = operands.empty() ? result : "(" + operands[0] + ") = " + result;
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

static bool begins_statement(long i)
{
    long p = previous(i);
    if (is(p, ")")) { /* of a condition, not of a cast */
        long before = previous(opening(p));
        return is(before, "if") || is(before, "for") || is(before, "while");
    }
    return is(p, ";") || is(p, "{") || is(p, "}") || is(p, ":") || is(p, "else") || is(p, "do");
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
            /* Not of a lambda: g++ 12 takes a copy within a copy's scope for the same constant. */
            long before = previous(i);
            while (is(before, "__host__") || is(before, "__device__")) before = previous(before);
            const bool of_lambda = is(before, "]");
            if ((is(i, "__global__") || is(i, "__device__")) && i > copied && !of_lambda)
                copied = copy_builtins(i);
            bool attribute = !functions || found->first.find("inline") != std::string::npos;
            text(i) = attribute ? found->second : "";
            bool variable = is(i, "__device__") || is(i, "__constant__") || is(i, "__managed__");
            if (variable && !functions && i > declared && declares_variable(i))
                declared = rewrite_device_variables(i);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: rewrite INPUT OUTPUT MODE\n";
        return 2;
    }
    std::ifstream in(argv[1], std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    reader r;
    r.read(all.str());
    write_loops = !strcmp(argv[3], "loops");
    checking = !strcmp(argv[3], "check") || !strcmp(argv[3], "report");
    reporting = !strcmp(argv[3], "report");
    rewrite_tokens();
    std::ofstream out(argv[2], std::ios::binary);
    for (const token &t : tokens) out << t.text;
    out.close();
    if (!in || !out) {
        std::cerr << "cucc: cannot rewrite " << argv[1] << "\n";
        return 1;
    }
    return 0;
}
