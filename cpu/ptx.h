/* PTX for rewrite.cpp: single instructions that are an expression of C. */
#ifndef CUCC_PTX_H
#define CUCC_PTX_H

#include "tokens.h"
#include <regex.h>
#include <set>

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
    regmatch_t found[5];
    std::vector<std::string> parts;
    if (regcomp(&compiled, expression, REG_EXTENDED)) abort(); /* the expressions are constants */
    if (regexec(&compiled, text.c_str(), 5, found, 0) == 0)
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
    long open = next(i);
    while (is(open, "volatile") || is(open, "__volatile__")) open = next(open);
    if (!is(open, "(")) return;
    std::string code = literal_text(next(open)), result;
    if (!is_ptx(code)) return;
    long close = closing(open), end_of_code = next(open);
    while (end_of_code < close && !is(end_of_code, ":")) end_of_code = next(end_of_code);
    std::vector<std::string> operands = asm_operands(end_of_code, close);
    std::vector<std::string> parts =
        matches("^\\s*([a-z0-9_.]+)\\s*(%0\\s*,?\\s*((%%?\\w+\\s*,?\\s*)*))?;?\\s*$", code);
    if (!parts.empty()) {
        std::string instruction = parts[1], rest = parts[3];
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

#endif
