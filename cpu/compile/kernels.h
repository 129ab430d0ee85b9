/* Kernels for rewrite.cpp: what their declarations say, launches, and their addresses. */
#ifndef CUCC_KERNELS_H
#define CUCC_KERNELS_H

#include "loops_write.h"
#include "tokens.h"
#include <map>
#include <set>

/* ---- what is known of kernels ---------------------------------------------------------------- */

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
    std::vector<long> declarations;              /* the names in them; not of specialisations */
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

static bool begins_statement(long i)
{
    long p = previous(i);
    if (is(p, ")")) { /* of a condition, not of a cast */
        long before = previous(opening(p));
        return is(before, "if") || is(before, "for") || is(before, "while");
    }
    return is(p, ";") || is(p, "{") || is(p, "}") || is(p, ":") || is(p, "else") || is(p, "do");
}

/* The brace that opens the body of the lambda whose captures are at I; else -1. */
static long lambda_body(long i)
{
    long p = previous(i), j = next(closing(i));
    bool subscript = (is_name(p) && !is_keyword_before_expression(p)) || is(p, ")") || is(p, "]") ||
                     is(p, ">") || (p >= 0 && tokens[(size_t)p].kind == literal);
    if (!is(i, "[") || subscript || is(p, "[") || is(next(i), "[")) return -1;
    if (is(j, "<")) j = next(closing_angle(j));
    while (is_name(j) || is(j, "(") || is(j, "->") || is(j, "::") || is(j, "*") || is(j, "&") ||
           is(j, "<"))
        j = next(is(j, "(") ? closing(j) : is(j, "<") ? closing_angle(j) : j);
    return is(j, "{") ? j : -1;
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
        if (!specialised) facts.declarations.push_back(j);
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
    /* what comes after optimisation is not told by where it stands */
    std::string ignored = "#pragma GCC diagnostic push\n"
                          "#pragma GCC diagnostic ignored \"-Wuninitialized\"\n"
                          "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n";
    text(i) += aside(ignored + signature +
                         " { const ::cucc::no_thread threadIdx = {}; (void)threadIdx; "
                         "const ::uint3 blockIdx = ::cucc::value_of(::blockIdx); "
                         "const ::dim3 blockDim = ::cucc::value_of(::blockDim), "
                         "gridDim = ::cucc::value_of(::gridDim); " +
                         body + "}\n#pragma GCC diagnostic pop",
                     i + 1);
    facts.as_loops = true;
}

static std::map<long, std::string> put_before; /* text that is put before tokens at the end */

/* Before a declaration of a kernel that a call may choose: a function of the same parameters, never
 * defined, whose result is of the type of a pointer to the kernel. */
static void declare_type(long name)
{
    long begin = statement_begin(name), open = next(name), close = closing(open);
    std::string head, parameters, types;
    for (long i = begin; is(begin, "template") && i <= closing_angle(next(begin)); i++)
        head += tokens[(size_t)i].kind == blank ? " " : source(i);
    int angles = 0;
    bool in_default = false; /* which a type cannot have */
    for (long i = open; i <= close; i++) {
        std::string word = tokens[(size_t)i].kind == blank ? " " : source(i);
        if (i > open && opens(i)) { /* as in int (&a)[2] or = {1, 2} */
            word.clear();
            for (long end = closing(i); i <= end; i++)
                word += tokens[(size_t)i].kind == blank ? " " : source(i);
            i--;
        }
        angles += is(i, "<") - is(i, ">");
        if (is(i, "=") && !angles) in_default = true;
        if (i == close || (is(i, ",") && !angles)) in_default = false;
        parameters += word;
        if (!in_default) types += word;
    }
    put_before[begin] =
        aside(head + " auto cucc_type_" + source(name) + parameters + " -> void (*)" + types + ";",
              begin);
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
    for (const auto &kernel : kernels) {
        const kernel_facts &facts = kernel.second;
        if (facts.is_template || facts.has_defaults || facts.definitions > 1)
            for (long name : facts.declarations) declare_type(name);
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
    auto named = [&](const std::string &prefix) {
        std::string all;
        for (long j = begin; j <= last; j++)
            all += j == name                         ? prefix + source(j)
                   : tokens[(size_t)j].kind == blank ? " "
                                                     : source(j);
        return all;
    };
    std::string loops = as_loops ? named("cucc_block_") : "nullptr", types;
    if (call) { /* a pointer to the kernel, or to its loops, of the type that its arguments choose */
        types = "[](auto &...cucc_arguments) -> decltype(" + named("cucc_type_") +
                "(cucc_arguments...)) { return ";
        types = types + named("") + "; }, " + types + loops + "; }, ";
    }
    if (as_loops)
        loops = call ? "[](auto &...cucc_arguments) { " + loops + "(cucc_arguments...); }, "
                     : loops + ", ";
    text(begin) = std::string(" ::cucc::prepare") + (call ? "_call" : "") +
                  (as_loops ? "_loops(" + loops : "(") + types + "\"" + kernel + "\", " +
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

/* Whether a declaration of variables begins at I: a type, with what belongs to it, and a name. */
static bool begins_declaration(long i)
{
    bool type = false;
    for (; is_name(i) && !is_keyword_before_expression(i); i = next(i)) {
        if (type && !is_name(next(i))) return true;
        while (is(next(i), "::")) i = next(next(i));
        if (is(next(i), "<")) i = closing_angle(next(i));
        while (is(next(i), "*") || is(next(i), "&")) i = next(i);
        type = true;
    }
    return false;
}

/* Whether the comma or brace at I stands in a list of variables that are declared, or of enumerators. */
static bool is_in_declaration(long i)
{
    long p = i;
    while (p >= 0 && !is(p, ";") && !is(p, "{") && !is(p, "(") && !is(p, "[")) {
        long after = next(p);
        bool initialiser = is(after, ",") || is(after, ")") || is(after, "]");
        if (is(p, "}") && !initialiser) break;
        p = previous(closes(p) ? opening(p) : p);
    }
    if (is(p, "(")) return is(previous(p), "for") && begins_declaration(next(p));
    if (is(p, "[")) { /* structured bindings */
        while (is(previous(p), "&")) p = previous(p);
        return is(previous(p), "auto");
    }
    if (!is(p, "{")) return begins_declaration(next(p));
    long q = previous(p); /* enum name : type { */
    while (is_name(q) || is(q, ":")) {
        if (is(q, "enum")) return true;
        q = previous(q);
    }
    return begins_declaration(next(p));
}

static bool declares_name(long i)
{
    long before = previous(i), after = next(i), type = previous(before);
    bool named = is_name(before) && !is_keyword_before_expression(before);
    bool pointer =
        (is(before, "*") || is(before, "&")) && (is_name(type) || is(type, ">") || is(type, "*"));
    bool ends = is(after, ",") || is(after, ")") || is(after, "=") || is(after, ";") ||
                is(after, "[") || is(after, ":") || is(after, "{") || is(after, "}") ||
                is(after, "]");
    bool list = is(before, ",") || is(before, "{") || is(before, "[");
    if (list) return (ends || is(after, "(")) && is_in_declaration(before);
    return ends && (named || pointer || is(before, ">"));
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

#endif
