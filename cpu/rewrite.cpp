/* Turns preprocessed CUDA C++ into C++ for the CPU runner: rewrite INPUT OUTPUT.
 *
 *   kernel<<<grid, block>>>(x)     ::cucc::prepare("kernel", kernel, grid, block)(x)
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
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

enum token_kind { blank, name, literal, symbol };

struct token {
    token_kind kind;
    std::string text;   /* what is written; edits change it */
    std::string source; /* what was read */
    const std::string *file;
    int line;
};

static std::vector<token> tokens;
static int numbered; /* serial numbers in generated names */

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of a string or character literal whose prefix, if any, ends before the quote. */
static size_t literal_end(const std::string &s, size_t quote, bool raw)
{
    if (raw) {
        size_t parenthesis = s.find('(', quote);
        if (parenthesis == std::string::npos) return s.size();
        std::string close = ")" + s.substr(quote + 1, parenthesis - quote - 1) + "\"";
        size_t end = s.find(close, parenthesis);
        return end == std::string::npos ? s.size() : end + close.size();
    }
    size_t i = quote + 1;
    while (i < s.size() && s[i] != s[quote] && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
    return i + 1;
}

static bool is_string_prefix(const std::string &s)
{
    return s == "L" || s == "u" || s == "U" || s == "u8" || s == "R" || s == "LR" || s == "uR" ||
           s == "UR" || s == "u8R";
}

static token_kind scan_token(const std::string &s, size_t begin, size_t &end)
{
    char c = s[begin];
    end = begin + 1;
    if (isspace((unsigned char)c)) {
        while (end < s.size() && s[end] != '\n' && isspace((unsigned char)s[end])) end++;
        return blank;
    }
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)s[end]))) {
        while (end < s.size() && (is_name_char(s[end]) || s[end] == '.' || s[end] == '\'' ||
                                  ((s[end] == '+' || s[end] == '-') && strchr("eEpP", s[end - 1]))))
            end++;
        return literal;
    }
    if (is_name_char(c)) {
        while (end < s.size() && is_name_char(s[end])) end++;
        bool quoted = end < s.size() && (s[end] == '"' || s[end] == '\'');
        if (!quoted || !is_string_prefix(s.substr(begin, end - begin))) return name;
        end = literal_end(s, end, s[end - 1] == 'R');
        return literal;
    }
    if (c == '"' || c == '\'') {
        end = literal_end(s, begin, false);
        return literal;
    }
    if (!s.compare(begin, 2, "::") || !s.compare(begin, 2, "->")) end++;
    return symbol;
}

/* Line markers say where text comes from: # LINE "FILE" FLAGS, with flag 1 where a file begins and
 * 3 if it is a system header. A marker without flag 1 may carry 3 for one macro of a system header
 * in a user's line, so only the beginning counts. */
struct reader {
    std::map<std::string, bool> is_system;
    const std::string *file = nullptr;
    int line = 1;
    bool skipping = false;

    void read_marker(const std::string &text)
    {
        size_t open = text.find('"'), close = text.rfind('"');
        if (open == std::string::npos || close == open) return;
        std::string flags = text.substr(close);
        std::string path = text.substr(open + 1, close - open - 1);
        auto known = is_system.find(path);
        bool begins = flags.find(" 1") != std::string::npos;
        if (known == is_system.end() || begins) {
            bool system = flags.find(" 3") != std::string::npos || path[0] == '<';
            known = is_system.insert_or_assign(path, system).first;
        }
        file = &known->first;
        line = atoi(text.c_str() + 1) - 1; /* the marker's own line end makes up for it */
        skipping = known->second;
    }

    /* nvcc's own pragmas, of which g++ would warn. */
    static bool is_foreign_pragma(const std::string &text)
    {
        std::istringstream words(text.substr(text.find('#') + 1));
        std::string pragma, word;
        words >> pragma >> word;
        return pragma == "pragma" && (word.compare(0, 6, "unroll") == 0 || word == "nounroll" ||
                                      word.compare(0, 3, "nv_") == 0);
    }

    void add(token_kind kind, const std::string &text)
    {
        tokens.push_back({kind, text, text, file, line});
        for (char c : text) line += c == '\n';
    }

    void read(const std::string &s)
    {
        size_t i = 0;
        while (i < s.size()) {
            size_t first = s.find_first_not_of(" \t", i), end;
            bool line_begins = i == 0 || s[i - 1] == '\n';
            if (line_begins && first != std::string::npos && s[first] == '#') {
                end = s.find('\n', i);
                if (end == std::string::npos) end = s.size();
                std::string text = s.substr(i, end - i);
                bool marker = text.size() > 2 && isdigit((unsigned char)text[2]);
                if (marker) read_marker(text);
                add(blank, is_foreign_pragma(text) ? "" : text);
            } else if (skipping) {
                end = s.find("\n#", i);
                end = end == std::string::npos ? s.size() : end + 1;
                add(blank, s.substr(i, end - i));
            } else {
                token_kind kind = scan_token(s, i, end);
                add(kind, s.substr(i, end - i));
            }
            i = end;
        }
    }
};

/* ---- moving over tokens ---------------------------------------------------------------------- */

[[noreturn]] static void stop(const token &at, const char *sentence)
{
    std::cerr << *at.file << ":" << at.line << ": error: " << sentence << "\n";
    exit(1);
}

/* Positions are signed: -1 is before the first token, count() after the last. */
static long count()
{
    return (long)tokens.size();
}

static long next(long i)
{
    do i++;
    while (i < count() && tokens[(size_t)i].kind == blank);
    return i;
}

static long previous(long i)
{
    do i--;
    while (i >= 0 && tokens[(size_t)i].kind == blank);
    return i;
}

static const std::string &source(long i)
{
    static const std::string nothing;
    return i >= 0 && i < count() ? tokens[(size_t)i].source : nothing;
}

static std::string &text(long i)
{
    return tokens[(size_t)i].text;
}

static bool is(long i, const char *expected)
{
    return i >= 0 && i < count() && tokens[(size_t)i].kind != literal && source(i) == expected;
}

static bool is_name(long i)
{
    return i >= 0 && i < count() && tokens[(size_t)i].kind == name;
}

static bool opens(long i)
{
    return is(i, "(") || is(i, "[") || is(i, "{");
}

static bool closes(long i)
{
    return is(i, ")") || is(i, "]") || is(i, "}");
}

/* The bracket that closes the one at I; beyond the last token if none does. */
static long closing(long i)
{
    for (int depth = 0; i < count(); i = next(i)) {
        if (opens(i)) depth++;
        if (closes(i) && --depth == 0) return i;
    }
    return i;
}

/* The bracket that opens the one at I, or the < that belongs to a > at I. */
static long opening(long i)
{
    bool angle = is(i, ">");
    for (int depth = 0; i >= 0; i = previous(i)) {
        if (angle && is(i, ")"))
            i = opening(i);
        else if (angle ? is(i, ">") : closes(i))
            depth++;
        else if ((angle ? is(i, "<") : opens(i)) && --depth == 0)
            return i;
    }
    return i;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* The semicolon that ends the statement. */
static long statement_end(long i)
{
    while (i < count() && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
    return i;
}

static long statement_begin(long i)
{
    for (long p = previous(i); p >= 0; p = previous(i)) {
        if (is(p, ";") || is(p, "{") || is(p, "}") || is(p, ":")) break;
        i = p;
    }
    return i;
}

/* The names that a declaration declares: in each part between commas the last name before an array
 * bound or an initialiser. */
static std::vector<long> declared_names(long begin, long end)
{
    std::vector<long> names;
    long last = -1;
    int angles = 0;
    bool complete = false;
    for (long i = begin; i < end; i = next(i)) {
        bool struct_body = is(last, "struct") || is(previous(last), "struct");
        if (is(i, "[") || is(i, "=") || (is(i, "{") && !struct_body)) complete = true;
        if (opens(i)) {
            i = closing(i);
        } else if (is(i, "__attribute__") || is(i, "alignas")) {
            i = closing(next(i));
        } else if (is(i, "<") && !complete) {
            angles++;
        } else if (is(i, ">") && !complete) {
            angles--;
        } else if (is(i, ",") && !angles) {
            names.push_back(last);
            complete = false;
        } else if (is_name(i) && !complete && !angles) {
            last = i;
        }
    }
    names.push_back(last);
    for (long i : names)
        if (i < 0) stop(tokens[(size_t)begin], "cannot find the name in this declaration");
    return names;
}

static std::string next_name(const char *stem)
{
    return stem + std::to_string(++numbered);
}

static void rewrite_dynamic_shared(long begin, long end)
{
    long array = declared_names(begin, end)[0], bracket = next(array);
    if (!is(bracket, "[") || !is(next(bracket), "]") || next(next(bracket)) != end)
        stop(tokens[(size_t)array], "extern __shared__ must declare one array, as in T name[]");
    text(array) = "*" + source(array);
    text(bracket) = text(next(bracket)) = "";
    text(end) = " = ::cucc::dynamic_shared();";
}

static void rewrite_shared(long i, bool in_function)
{
    long begin = statement_begin(i), end = statement_end(i);
    if (!in_function || end == count())
        stop(tokens[(size_t)i], "__shared__ variables must be declared in functions");
    text(i) = "";
    bool is_extern = false;
    for (long j = begin; j < i; j = next(j)) {
        is_extern |= is(j, "extern");
        if (is(j, "extern") || is(j, "static")) text(j) = "";
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
    for (long j = begin; j < i; j = next(j))
        if (is(j, "extern")) return end;
    for (long j : declared_names(begin, end))
        text(end) += " static ::cucc::symbol " + next_name("cucc_symbol_") + "(" + source(j) + ");";
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
    text(begin) = " ::cucc::prepare(\"" + kernel + "\", " + text(begin);
    text(i) = ", ";
    text(next(i)) = text(next(next(i))) = "";
    text(end) = ")";
    text(next(end)) = text(next(next(end))) = "";
}

/* The names of all kernels that are no templates. */
static std::map<std::string, bool> kernel_names()
{
    std::map<std::string, bool> names;
    for (long i = next(-1); i < count(); i = next(i)) {
        if (!is(i, "__global__")) continue;
        bool from_template = is(statement_begin(i), "template");
        for (long j = next(i); j < count() && !is(j, ";") && !is(j, "{"); j = next(j)) {
            if (!is(next(j), "(")) continue;
            long after = next(closing(next(j)));
            if (is_name(j) && (is(after, "{") || is(after, ";"))) {
                names[source(j)] = !from_template;
                break;
            }
            j = closing(next(j));
        }
    }
    return names;
}

/* A kernel whose address is taken: as an argument, in an initializer, in an assignment. */
static void rewrite_kernel_pointer(long i)
{
    bool ends = is(next(i), ",") || is(next(i), ")") || is(next(i), "}") || is(next(i), ";") ||
                is(next(i), ":");
    long before = previous(i);
    if (!ends || is(before, "::") || is(before, ".") || is(before, "->") || is(before, "void"))
        return;
    if (is(before, "&")) text(before) = "";
    text(i) = "::cucc::kernel_pointer(\"" + source(i) + "\", " + source(i) + ")";
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
        {"__host__", ""},
        {"__forceinline__", "inline __attribute__((always_inline))"},
        {"__noinline__", "__attribute__((noinline))"}};
    const std::map<std::string, bool> kernels = kernel_names();
    std::vector<bool> scopes; /* for each open brace, whether it is one of a namespace */
    int functions = 0;        /* how many are not */
    long declared = -1;       /* the end of the last declaration of device variables */
    for (long i = next(-1); i < count(); i = next(i)) {
        if (is(i, "{")) {
            scopes.push_back(opens_namespace(i));
            functions += !scopes.back();
        } else if (is(i, "}") && !scopes.empty()) {
            functions -= !scopes.back();
            if (!functions) volatile_names.clear();
            scopes.pop_back();
        } else if (is(i, "volatile")) {
            note_volatile(i);
        } else if (is(i, "__shared__")) {
            rewrite_shared(i, functions > 0);
        } else if (is(i, "__syncthreads") || is(i, "__syncthreads_or") ||
                   is(i, "__syncthreads_and") || is(i, "__syncthreads_count")) {
            rewrite_barrier(i);
        } else if (is_triple(i, "<") && !is(previous(i), "operator")) {
            rewrite_launch(i);
        } else if (is_name(i)) {
            if (functions && is(next(i), "[") && volatile_names.count(source(i))) rewrite_step(i);
            auto found = qualifiers.find(source(i));
            if (found == qualifiers.end()) {
                auto kernel = kernels.find(source(i));
                if (kernel != kernels.end() && kernel->second) rewrite_kernel_pointer(i);
                continue;
            }
            if (is(previous(i), "(")) continue; /* the argument of an __attribute__ */
            bool attribute = !functions || found->first.find("inline") != std::string::npos;
            text(i) = attribute ? found->second : "";
            bool variable = is(i, "__device__") || is(i, "__constant__");
            if (variable && !functions && i > declared && declares_variable(i))
                declared = rewrite_device_variables(i);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::cerr << "usage: rewrite INPUT OUTPUT\n";
        return 2;
    }
    std::ifstream in(argv[1], std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    reader r;
    r.read(all.str());
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
