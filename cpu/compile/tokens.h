/* The tokens of preprocessed C++ for rewrite.cpp: reading them, and moving over them. */
#ifndef CUCC_TOKENS_H
#define CUCC_TOKENS_H

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
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

static bool is_symbol_of(long i, const char *characters)
{
    return i >= 0 && i < count() && tokens[(size_t)i].kind == symbol &&
           strchr(characters, tokens[(size_t)i].source[0]);
}

static bool opens(long i)
{
    return is_symbol_of(i, "([{");
}

static bool closes(long i)
{
    return is_symbol_of(i, ")]}");
}

/* Where the brackets of the program that was read close; 0 for all other tokens, and for a bracket that
 * nothing closes. What is put behind the program later has no place here. */
static std::vector<long> read_closings;

static void note_closings()
{
    std::vector<long> open;
    read_closings.assign(tokens.size(), 0);
    for (long i = 0; i < count(); i++) {
        if (opens(i)) open.push_back(i);
        if (!closes(i) || open.empty()) continue;
        read_closings[(size_t)open.back()] = i;
        open.pop_back();
    }
}

/* The bracket that closes the one at I; beyond the last token if none does. */
static long closing(long i)
{
    if (i >= 0 && i < (long)read_closings.size() && read_closings[(size_t)i])
        return read_closings[(size_t)i];
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

/* The name in parentheses of a declaration, as in int (*f)(int) or float (*rows)[4], if they are at I;
 * else -1. */
static long pointer_declarator(long i)
{
    if (!is(i, "(") || (!is(next(i), "*") && !is(next(i), "&"))) return -1;
    long found = -1, close = closing(i);
    for (i = next(i); i < close && !is(i, "["); i = next(i)) {
        if (is(i, "(")) return -1; /* a function that returns a pointer */
        if (is_name(i)) found = i;
    }
    return is(next(close), "(") || is(next(close), "[") ? found : -1;
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
        bool struct_body = false; /* or a union's */
        for (const char *word : {"struct", "union", "class"})
            struct_body |= is(last, word) || is(previous(last), word);
        if (!complete && pointer_declarator(i) >= 0) last = pointer_declarator(i), complete = true;
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

/* ---- text of the rewriter's own ----------------------------------------------------------- */

static std::string next_name(const char *stem)
{
    return stem + std::to_string(++numbered);
}

/* How many characters of its line stand before the token at I. */
static size_t column_of(long i)
{
    size_t column = 0;
    for (long j = i - 1; j >= 0; j--) {
        const std::string &s = source(j);
        size_t line_end = s.rfind('\n');
        column += line_end == s.npos ? s.size() : s.size() - line_end - 1;
        if (line_end != s.npos) break;
    }
    return column;
}

/* Code of the rewriter's own before the token at I: on lines of which the compiler does not warn, and so
 * that what follows keeps its place. */
static std::string aside(const std::string &code, long i)
{
    const token &t = tokens[(size_t)std::min(i, count() - 1)];
    std::string place = "\n# " + std::to_string(t.line) + " \"" + *t.file + "\"";
    return place + " 3\n" + code + place + "\n" + std::string(column_of(i), ' ');
}

#endif
