/* PTX for rewrite.cpp: single instructions that are an expression of C, loads and stores. */
#ifndef CUCC_PTX_H
#define CUCC_PTX_H

#include "tokens.h"
#include <regex.h>
#include <set>
#include <sstream>

/* The text of all string literals from I on. */
static std::string literal_text(long i)
{
    std::string all;
    for (; i < count() && tokens[(size_t)i].kind == literal && source(i)[0] == '"'; i = next(i))
        all += source(i).substr(1, source(i).size() - 2);
    return all;
}

/* Where a POSIX regular expression is found in a text: the whole, then its groups. Empty if nowhere.
 * <regex> would lengthen the build of the rewriter, which a first program waits for, from 3.8 s to 5.4. */
static std::vector<std::string> matches(const char *expression, const std::string &text)
{
    regex_t compiled;
    regmatch_t found[8];
    std::vector<std::string> parts;
    if (regcomp(&compiled, expression, REG_EXTENDED)) abort(); /* the expressions are constants */
    if (regexec(&compiled, text.c_str(), 8, found, 0) == 0)
        for (const regmatch_t &f : found)
            parts.push_back(
                f.rm_so < 0 ? "" : text.substr((size_t)f.rm_so, (size_t)(f.rm_eo - f.rm_so)));
    regfree(&compiled);
    return parts;
}

static bool is_ptx(const std::string &code)
{
    return !matches("\\.(pred|[subf](8|16|32|64)|bf16|aligned|sync|shared|global|cta|gl|"
                    "sys|gpu|cg|L1|L2|x2|x4|wait_all|commit_group|wait_group|release|"
                    "acquire)|%%|^ *(trap|exit|brkpt);",
                    code)
                .empty();
}

/* Instructions that are an expression of C, with their arguments as $1 and so on, $0 the result. */
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

/* An instruction as it is written: add.u32 %0, %1, 1; and the operands of its text. */
struct instruction {
    std::string name;
    std::vector<std::string> arguments; /* %0, %%laneid, [%1+4], {%0, %1}, 0x1f */
};

/* Whether the code is one instruction. */
static bool parse_instruction(std::string code, instruction &parsed)
{
    for (size_t at = 0; (at = code.find('\\', at)) != code.npos; at++)
        if (at + 1 < code.size() && strchr("ntr", code[at + 1])) code.replace(at, 2, " ");
    std::vector<std::string> parts =
        matches("^[[:space:]]*([a-z][A-Za-z0-9_.:]*)([[:space:]]+([^;]*))?;?[[:space:]]*$", code);
    if (parts.empty()) return false;
    parsed.name = parts[1];
    int depth = 0;
    std::string argument;
    for (char c : parts[3] + ",") {
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c == ',' && depth == 0) {
            if (!argument.empty()) parsed.arguments.push_back(argument);
            argument.clear();
        } else if (!isspace((unsigned char)c)) {
            argument += c;
        }
    }
    return depth == 0;
}

/* The C of an argument: an operand of the statement or a whole number; empty if it is something else. */
static std::string expression_of(const std::string &argument,
                                 const std::vector<std::string> &operands)
{
    std::vector<std::string> parts = matches("^%([0-9]+)$", argument);
    if (!parts.empty() && parts[1].length() < 4) {
        size_t i = (size_t)std::stoi(parts[1]);
        return i < operands.size() ? "(" + operands[i] + ")" : "";
    }
    return matches("^-?(0x[0-9a-fA-F]+|[0-9]+)U?$", argument).empty() ? "" : argument;
}

/* The expressions of {%0, %1} or of %0, before each a comma. Empty if one is not known. */
static std::string list_of(const std::string &argument, const std::vector<std::string> &operands,
                           size_t expected)
{
    bool braces = argument[0] == '{';
    std::istringstream words(braces ? argument.substr(1, argument.size() - 2) : argument);
    std::string word, all;
    for (; std::getline(words, word, ','); expected--) {
        std::string expression = expression_of(word, operands);
        if (expression.empty() || expected == 0) return "";
        all += ", " + expression;
    }
    return expected == 0 ? all : "";
}

/* The pointer of [%1] or [%1+4]; empty if it is something else. A shared address of PTX has 32 or 64 bits,
 * and is a pointer here: 64. */
static std::string address_of(const std::string &argument, const std::vector<std::string> &operands)
{
    std::vector<std::string> at =
        matches("^\\[(%[0-9]+)(\\+?(-?(0x[0-9a-fA-F]+|[0-9]+)))?\\]$", argument);
    std::string pointer = at.empty() ? "" : expression_of(at[1], operands);
    return pointer.empty() ? "" : "(char *)" + pointer + " + " + (at[3].empty() ? "0" : at[3]);
}

/* Loads and stores of generic and global addresses (PTX ISA, ld and st). What says how to cache is of no
 * meaning here. */
static std::string load_or_store(const instruction &parsed,
                                 const std::vector<std::string> &operands)
{
    static const std::map<std::string, const char *> types = {{"b8", "unsigned char"},
                                                              {"u8", "unsigned char"},
                                                              {"s8", "signed char"},
                                                              {"b16", "unsigned short"},
                                                              {"u16", "unsigned short"},
                                                              {"s16", "short"},
                                                              {"b32", "unsigned int"},
                                                              {"u32", "unsigned int"},
                                                              {"s32", "int"},
                                                              {"b64", "unsigned long long"},
                                                              {"s64", "long long"},
                                                              {"u64", "unsigned long long"},
                                                              {"f32", "float"},
                                                              {"f64", "double"}};
    std::vector<std::string> parts =
        matches("^(ld|st)((\\.(weak|relaxed|acquire|release|volatile|cta|cluster|gpu|sys|global|nc|"
                "ca|cg|cs|lu|cv|wb|wt|L[12]::[A-Za-z0-9_]+))*)(\\.v([24]))?\\.([bsuf][0-9]+)$",
                parsed.name);
    if (parts.empty() || parsed.arguments.size() != 2) return "";
    bool load = parts[1] == "ld";
    auto type = types.find(parts[7]);
    if (type == types.end()) return "";
    std::string address = address_of(parsed.arguments[load ? 1 : 0], operands), ordering = parts[2];
    std::string values = list_of(parsed.arguments[load ? 0 : 1], operands,
                                 parts[6].empty() ? 1 : (size_t)std::stoi(parts[6]));
    if (address.empty() || values.empty()) return "";
    const bool alone = matches("\\.(relaxed|acquire|release|volatile)(\\.|$)", ordering).empty();
    const char *order = alone                                        ? "::cucc::alone"
                        : ordering.find(".acquire") != ordering.npos ? "::cucc::acquires"
                        : ordering.find(".release") != ordering.npos ? "::cucc::releases"
                                                                     : "::cucc::relaxed";
    return std::string("::cucc::special_") + (load ? "ld" : "st") + "<" + type->second + ", " +
           order + ">(" + address + values + ")";
}

/* Matrices in the registers of a warp (PTX ISA, ldmatrix and mma), of halves and bfloat16. */
static std::string matrices(const instruction &parsed, const std::vector<std::string> &operands)
{
    const std::vector<std::string> &arguments = parsed.arguments;
    std::vector<std::string> parts =
        matches("^ldmatrix\\.sync\\.aligned\\.m8n8\\.x([124])(\\.trans)?\\.shared(::cta)?\\.b16$",
                parsed.name);
    if (!parts.empty() && arguments.size() == 2) {
        std::string address = address_of(arguments[1], operands);
        std::string to = list_of(arguments[0], operands, (size_t)std::stoi(parts[1]));
        if (address.empty() || to.empty()) return "";
        return "::cucc::special_ldmatrix<" + std::string(parts[2].empty() ? "false" : "true") +
               ">(" + address + to + ")";
    }
    parts =
        matches("^mma\\.sync\\.aligned\\.m16n8k(8|16)\\.row\\.col\\.f32\\.(b?f16)\\.(b?f16)\\.f32$",
                parsed.name);
    if (parts.empty() || parts[2] != parts[3] || arguments.size() != 4) return "";
    std::string call = "::cucc::special_mma<" + std::string(parts[2] == "f16" ? "10" : "7") + ", " +
                       parts[1] + ">(";
    for (size_t i = 0, k = (size_t)std::stoi(parts[1]); i < 4; i++) { /* D, A, B, C */
        std::string all = list_of(arguments[i], operands, i == 1 ? k / 4 : i == 2 ? k / 8 : 4);
        if (all.empty()) return "";
        call += i == 0 ? all.substr(2) : ", {" + all.substr(2) + "}";
    }
    return call + ")";
}

/* What sets the first argument, or only acts; empty for all that needs a GPU. */
static std::string in_c(const instruction &parsed, const std::vector<std::string> &operands)
{
    const std::vector<std::string> &arguments = parsed.arguments;
    std::string result;
    auto known = simple_instructions.find(parsed.name);
    if (known != simple_instructions.end()) {
        for (size_t i = 0; i < known->second.size(); i++) {
            char c = known->second[i];
            if (c != '$') {
                result += c;
                continue;
            }
            size_t wanted = (size_t)(known->second[++i] - '0');
            std::string value =
                wanted < arguments.size() ? expression_of(arguments[wanted], operands) : "";
            if (value.empty()) return "";
            result += value;
        }
    } else if (parsed.name.compare(0, 4, "mov.") == 0 && arguments.size() == 2 &&
               arguments[1].compare(0, 2, "%%") == 0 &&
               special_registers.count(arguments[1].substr(2))) {
        result = "::cucc::special_" + arguments[1].substr(2) + "()";
    } else {
        result = load_or_store(parsed, operands);
        return result.empty() ? matrices(parsed, operands) : result;
    }
    if (arguments.empty()) return result;
    std::string to = arguments[0][0] == '%' ? expression_of(arguments[0], operands) : "";
    return to.empty() ? "" : to + " = " + result;
}

static void rewrite_asm(long i)
{
    long open = next(i);
    while (is(open, "volatile") || is(open, "__volatile__")) open = next(open);
    if (!is(open, "(")) return;
    std::string code = literal_text(next(open)), result;
    if (!is_ptx(code)) return;
    long close = closing(open), end_of_code = next(open);
    while (end_of_code < close && !is(end_of_code, ":") && !is(end_of_code, "::"))
        end_of_code = next(end_of_code);
    instruction parsed;
    if (parse_instruction(code, parsed)) result = in_c(parsed, asm_operands(end_of_code, close));
    if (result.empty()) {
        std::string name = code.substr(std::min(code.find_first_not_of(" \\tn{"), code.size()));
        name = name.substr(0, name.find_first_of(" ;\\"));
        stop(tokens[(size_t)i], ("needs PTX (" + name + "), which only a GPU runs").c_str());
    }
    for (long j = i; j <= close; j = next(j)) text(j) = "";
    text(i) = result;
}

#endif
