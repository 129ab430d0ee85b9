/* Who may call whom, for rewrite.cpp: functions and variables of the host in code of the device, functions of
 * the device in code of the host, and kernels that are called like functions.
 *
 * The tokens tell which functions and variables of the program have which execution space, and where a name of
 * the wrong one stands. Only g++ knows what such a name means there. So it reads a version of the file in which
 * these functions and variables are marked as deprecated. The names of files in it tell the space of the code:
 * "D:a.cu" is of the device, "B:a.cu" of both, "H:a.cu" of the host. cucc reads the warnings. */
#ifndef CUCC_SPACES_H
#define CUCC_SPACES_H

#include "kernels.h"
#include "tokens.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spaces
{
struct declaration {
    long begin, name,
        parameters;    /* tokens: of its first word, of its name, of the parenthesis; -1: none */
    long open;         /* the brace of its body; -1: none */
    std::string owner; /* the class that it is declared in */
    bool device, host, kernel; /* as it says */
    bool is_template, weak;    /* weak: nvcc looks at it if it is used */
    bool qualified, is_operator, markable;
};

static std::vector<declaration> functions, variables;
static std::set<long> declared; /* names where they are declared */
static std::map<std::string, std::pair<long, long>>
    classes;                    /* from the name to the end of the definition */
static std::vector<char> space; /* of each token: D, B, H, or 0 where nothing is told */

static const char *const qualifiers[] = {"__device__", "__constant__", "__managed__", "__shared__"};

static bool any(long begin, long end, const char *word)
{
    for (long i = begin; i < end; i = next(i)) {
        if (is(i, word)) return true;
        if (opens(i)) i = closing(i);
    }
    return false;
}

/* Behind what may stand before a declaration's own words: attributes. */
static long after_attributes(long i)
{
    for (;;) {
        if (is(i, "[") && is(next(i), "["))
            i = next(closing(i));
        else if (is(i, "__attribute__") || is(i, "alignas"))
            i = next(closing(next(i)));
        else
            return i;
    }
}

/* The brace of the body of the function whose parameters end at CLOSE, -1 if it has none; END: where its
 * declaration ends. */
static long body_of(long close, long &end)
{
    bool initialisers = false;
    for (long i = next(close); i < count(); i = next(i)) {
        if (is(i, ":")) initialisers = true;
        bool of_member =
            initialisers && is(i, "{") && (is_name(previous(i)) || is(previous(i), ">"));
        if (is(i, "{") && !of_member) {
            end = closing(i);
            return i;
        }
        if (is(i, ";") || is(i, "}")) {
            end = i;
            return -1;
        }
        if (opens(i)) i = closing(i);
    }
    end = count();
    return -1;
}

/* Whether the parentheses that follow a name may hold parameters, and not what a variable begins with. */
static bool may_be_parameters(long open)
{
    long first = next(open);
    return is(first, ")") || (is_name(first) && !is(first, "true") && !is(first, "false")) ||
           is(first, "::") || is(first, ".");
}

static void note_variables(long begin, long end, const std::string &owner, bool is_template)
{
    for (const char *word : qualifiers)
        if (any(begin, end, word)) return;
    for (const char *word : {"constexpr", "friend", "texture", "surface", "operator"})
        if (any(begin, end, word)) return;
    if (!owner.empty() && !any(begin, end, "static")) return;
    for (long name : declared_names(begin, end)) declared.insert(name);
    long first = declared_names(begin, end)[0];
    bool constant = any(begin, first, "const"), pointer = any(begin, first, "*");
    bool last_constant = is(previous(first), "const");
    /* Constants are known to kernels, but arrays of them are not. */
    if (last_constant && pointer) return;
    if (constant && !pointer && (!is(next(first), "[") || any(begin, end, "extern"))) return;
    if (is(previous(first), "::")) return; /* marked where it is declared */
    for (long name : declared_names(begin, end))
        variables.push_back({begin, name, -1, -1, owner, false, true, false, is_template, false,
                             false, false, true});
}

static long scan_declaration(long begin, const std::string &owner, bool is_template, bool weak);

/* Declarations up to the brace that closes a namespace or class, or the end of the file. */
static void scan(long i, const std::string &owner, bool is_template, bool weak)
{
    while (i < count() && !is(i, "}")) {
        bool of_template = is_template;
        while (is(i, "template") && is(next(i), "<")) {
            long close = closing_angle(next(i));
            of_template |= next(next(i)) != close;
            i = next(close);
        }
        i = scan_declaration(i, owner, of_template, weak);
    }
}

/* Returns the token behind it. */
static long scan_declaration(long begin, const std::string &owner, bool is_template, bool weak)
{
    if (is(begin, ";")) return next(begin);
    if (is(next(begin), ":") && is_name(begin)) return next(next(begin)); /* public: */
    if (is(begin, "inline") && is(next(begin), "namespace")) begin = next(begin);
    if (is(begin, "namespace") || (is(begin, "extern") && source(next(begin)) == "\"C\"")) {
        long open = next(begin);
        while (is_name(open) || is(open, "::") || source(open) == "\"C\"") {
            if (!is(begin, "namespace") && !is(next(open), "{")) break;
            open = next(open);
        }
        if (is(open, "{")) {
            scan(next(open), owner, is_template, weak || is(next(begin), "{"));
            return next(closing(open));
        }
        if (is(begin, "namespace")) return next(statement_end(begin));
        begin = next(next(begin));
    }
    for (const char *word :
         {"using", "typedef", "static_assert", "enum", "template", "asm", "concept"})
        if (is(begin, word)) return next(statement_end(begin));
    begin = after_attributes(begin);
    /* its shape */
    long name = -1, i = begin, klass = -1, end = -1;
    for (; i < count(); i = next(i)) {
        i = after_attributes(i);
        if (is(i, "struct") || is(i, "class") || is(i, "union")) {
            klass = i;
        } else if (is(i, "operator")) {
            name = i;
            i = next(i);
            if (is(i, "(") || is(i, "[")) i = next(i);
            while (i < count() && !is(i, "(") && !is(i, ";")) i = next(i);
            break;
        } else if (is(i, "decltype") || is(i, "explicit") || is(i, "__cluster_dims__")) {
            if (is(next(i), "(")) i = closing(next(i));
        } else if (is(i, "<") && is_name(previous(i))) {
            i = closing_angle(i);
        } else if (is(i, "(") || is(i, "=") || is(i, ";") || is(i, "{") || is(i, "[") ||
                   is(i, ",") || is(i, "}")) {
            break;
        } else if (is(i, ":") && klass < 0) {
            break; /* a field of bits */
        } else if (is_name(i)) {
            if (klass >= 0 && is(i, "final")) continue;
            name = i;
        }
    }
    if (i >= count() || is(i, "}")) return i;
    if (is(i, "{") && klass >= 0) { /* the definition of a class, and perhaps of variables of it */
        long named = after_attributes(next(klass));
        classes[source(named)] = {named, closing(i)};
        scan(next(i), source(named), is_template, true); /* "{" where it has no name */
        return next(statement_end(i));
    }
    bool is_operator = is(name, "operator");
    bool conversion = is_operator && is_name(next(name));
    if (is(i, "(") && name >= 0 && (is_operator || previous(i) == name || is(previous(i), ">")) &&
        pointer_declarator(i) < 0) {
        long open = body_of(closing(i), end);
        bool destructor = is(previous(name), "~"), friends = any(begin, name, "friend");
        bool settled = is(previous(end), "default") || is(previous(end), "delete");
        bool of_class = !owner.empty() && !friends;
        if (open >= 0 || may_be_parameters(i)) {
            bool device = any(begin, name, "__device__"), host = any(begin, name, "__host__"),
                 kernel = any(begin, name, "__global__");
            bool is_constant = any(begin, name, "constexpr") || any(begin, name, "consteval");
            bool once = any(begin, name, "static") || any(begin, name, "inline") ||
                        any(begin, name, "__forceinline__");
            bool qualified = is(previous(name), "::") || is(previous(previous(name)), "::");
            declared.insert(name);
            functions.push_back({begin, name, i, open, of_class ? owner : "", device, host, kernel,
                                 is_template, weak || once, qualified, is_operator,
                                 !destructor && !settled && !is_constant && !conversion &&
                                     !qualified && (!friends || open >= 0) && !is(name, "main")});
            return next(end);
        }
    }
    end = statement_end(begin);
    if (end < count() && name >= 0) note_variables(begin, end, owner, is_template);
    return next(end);
}

/* ---- which code is looked at ----------------------------------------------------------------- */

static bool of_device(const declaration &d)
{
    return d.device && !d.host;
}

static bool of_host(const declaration &d)
{
    return !d.device && !d.kernel;
}

/* The last name before the :: in front of a function's name: of a class, or of a namespace. */
static std::string named_owner(const declaration &d)
{
    long i = is(previous(d.name), "~") ? previous(d.name) : d.name;
    i = previous(previous(i));
    return source(is(i, ">") ? previous(opening(i)) : i);
}

static int parameters_of(const declaration &d)
{
    return count_parts(d.parameters, closing(d.parameters), nullptr);
}

/* nvcc merges the spaces of declarations of one function; those of which this may be true are left alone. */
static void settle_redeclared()
{
    for (declaration &a : functions)
        for (const declaration &b : functions) {
            if (source(a.name) != source(b.name) || of_host(a) == of_host(b)) continue;
            bool outside = b.qualified && a.owner == named_owner(b);
            bool both_free = a.owner.empty() && b.owner.empty();
            if ((outside || both_free) && (a.is_operator || parameters_of(a) == parameters_of(b)))
                a.markable = false;
        }
}

static void set_space(long open, char which)
{
    for (long j = open + 1, end = closing(open); j < end; j++) space[(size_t)j] = which;
}

/* What a constant decides on is not looked at in templates: g++ reads both branches. */
static void skip_constant_branches(long open)
{
    for (long i = next(open), end = closing(open); i < end; i = next(i)) {
        if (!is(i, "if") || !is(next(i), "constexpr")) continue;
        long j = next(closing(next(next(i))));
        for (;; j = next(j)) {
            j = is(j, "{") ? closing(j) : statement_end(j);
            if (!is(next(j), "else")) break;
            j = next(j);
        }
        for (long k = i; k < j && k < end; k++) space[(size_t)k] = 0;
    }
}

/* Lambdas and classes within a function's body. */
static void set_inner_spaces(long open, char which)
{
    for (long i = next(open), end = closing(open); i < end; i = next(i)) {
        long body = is(i, "[") ? lambda_body(i) : -1;
        if (body >= 0) {
            bool device = any(i, body, "__device__"), host = any(i, body, "__host__");
            bool generic = false;
            for (long j = i; j < body; j = next(j)) generic |= is(j, "auto");
            char inner = generic || (device && host) ? 0 : device ? 'D' : host ? 'H' : which;
            set_space(body, inner);
            set_inner_spaces(body, inner);
            i = closing(body);
        } else if (is(i, "struct") || is(i, "class") || is(i, "union")) {
            while (i < end && !is(i, "{") && !is(i, ";") && !is(i, "=") && !is(i, "(") &&
                   !is(i, ")") && !is(i, ">"))
                i = next(i);
            if (is(i, "{")) {
                set_space(i, 0);
                i = closing(i);
            }
        }
    }
}

static void set_spaces()
{
    std::map<std::string, std::vector<long>> places; /* of names where they are not declared */
    for (long i = next(-1); i < count(); i = next(i))
        if (is_name(i) && !declared.count(i)) places[source(i)].push_back(i);
    space.assign(tokens.size(), 0);
    for (const declaration &d : functions) {
        if (d.open < 0) continue;
        /* operators and constructors are used where the class is */
        bool of_class = d.is_operator || source(d.name) == d.owner, used = false;
        std::pair<long, long> own =
            of_class ? classes[d.owner] : std::make_pair(d.open, closing(d.open));
        for (long i : places[of_class ? d.owner : source(d.name)])
            used |= i < own.first || i > own.second;
        char which = 0;
        if (d.kernel || of_device(d)) {
            which = used || !(d.weak || d.is_template) ? 'D' : 0;
        } else if (!d.is_template) {
            which = d.device && (used || !d.weak) ? 'B' : 'H';
            for (const declaration &other :
                 functions) /* a member whose declaration has the words */
                if (of_host(d) && d.qualified && other.owner == named_owner(d) && other.device)
                    which = 0;
        }
        set_space(d.open, which);
        set_inner_spaces(d.open, which);
        if (d.is_template) skip_constant_branches(d.open);
    }
}

/* ---- suspicions ------------------------------------------------------------------------------ */

/* Names in operands that are not evaluated, and of functions whose address is taken: these may be of another
 * space, and g++ would not tell them apart. */
static std::set<std::string> harmless;

static void note_harmless()
{
    for (long i = next(-1); i < count(); i = next(i)) {
        for (const char *word : {"sizeof", "decltype", "typeid", "noexcept", "alignof"})
            if (is(i, word) && is(next(i), "("))
                for (long j = next(i), close = closing(j); j < close; j = next(j))
                    harmless.insert(source(j));
    }
    std::set<std::string> of_devices;
    for (const declaration &d : functions)
        if (of_device(d) && d.owner.empty()) of_devices.insert(source(d.name));
    for (long i = next(-1); i < count(); i = next(i))
        if (space[(size_t)i] && space[(size_t)i] != 'D' && is_name(i) && !is(next(i), "(") &&
            !is(next(i), "<") && of_devices.count(source(i)))
            harmless.insert(source(i));
}

static bool stands_at(long i, const declaration &d) /* the symbol of an operator */
{
    for (long j = next(d.name); j < d.parameters; j = next(j), i = next(i)) {
        if (is(j, "(")) return is(i, "(") && is_name(previous(i)); /* operator() */
        if (!is(i, source(j).c_str())) return false;
        if (is(j, "[")) return true;
    }
    return true;
}

/* Where names stand that functions and variables have, unless the function at hand declares them itself. */
static std::map<std::string, std::vector<long>> possible_uses()
{
    std::set<std::string> names;
    for (const std::vector<declaration> *all : {&functions, &variables})
        for (const declaration &d : *all) names.insert(source(d.name));
    std::map<std::string, std::vector<long>> places;
    for (const declaration &d : functions) {
        std::set<std::string> own;
        const long close = d.open < 0 ? -1 : closing(d.open);
        for (long i = d.parameters; i < close; i = next(i))
            if (is_name(i) && names.count(source(i)) && declares_name(i)) own.insert(source(i));
        for (long i = d.open; i < close; i = next(i)) {
            bool joined = is(previous(i), ".") || is(previous(i), "->") || is(previous(i), "::");
            if (is_name(i) && space[(size_t)i] && names.count(source(i)) &&
                (joined || !own.count(source(i))))
                places[source(i)].push_back(i);
        }
    }
    return places;
}

/* Whether code in which the declaration must not be named may name it. */
static bool is_suspicious(const declaration &d,
                          const std::map<std::string, std::vector<long>> &places)
{
    bool variable = d.parameters < 0, device = of_device(d);
    if (!d.markable || harmless.count(source(d.name))) return false;
    auto wrong = [&](long i) {
        char which = space[(size_t)i];
        return device ? which == 'H' || which == 'B' : which == 'D' || (variable && which == 'B');
    };
    if (d.is_operator) {
        for (long i = next(-1); i < count(); i = next(i))
            if (wrong(i) && stands_at(i, d)) return true;
        return false;
    }
    auto found = places.find(source(d.name));
    if (found == places.end()) return false;
    for (long i : found->second) {
        bool member = is(previous(i), ".") || is(previous(i), "->");
        if (wrong(i) && (!member || !d.owner.empty())) return true;
    }
    return false;
}

/* Kernels that are called like functions, in statements. */
static bool find_plain_calls()
{
    bool found = false;
    std::map<std::string, bool> names; /* of kernels: whether nothing else has the name */
    for (const declaration &d : functions)
        if (d.kernel) names[source(d.name)] = true;
    for (const declaration &d : functions)
        if (!d.kernel && names.count(source(d.name))) names[source(d.name)] = false;
    for (const declaration &d : variables)
        if (names.count(source(d.name))) names[source(d.name)] = false;
    for (long i = next(-1); i < count(); i = next(i)) {
        bool type =
            is(previous(i), "struct") || is(previous(i), "class") || is(previous(i), "using");
        if (is_name(i) && !declared.count(i) && names.count(source(i)) &&
            (type || declares_name(i)))
            names[source(i)] = false;
    }
    for (const declaration &d : functions) {
        const long close = d.open < 0 ? -1 : closing(d.open);
        for (long i = d.open; i < close; i = next(i)) {
            auto name = names.find(source(i));
            if (name == names.end() || !name->second) continue;
            long open = next(i), begin = i;
            if (is(open, "<") && !is(next(open), "<")) open = next(closing_angle(open));
            while (is(previous(begin), "::")) {
                begin = previous(begin);
                long before = previous(begin);
                if (is_name(before) && !is_keyword_before_expression(before)) begin = before;
            }
            if (!is(open, "(") || !is(next(closing(open)), ";") || !begins_statement(begin))
                continue;
            const token &t = tokens[(size_t)i];
            std::cerr << *t.file << ":" << t.line << ": error: kernel " << t.source
                      << " is called like a function: write " << t.source
                      << "<<<grid, block>>>(...)\n";
            found = true;
        }
    }
    return found;
}

static void mark(const declaration &d)
{
    std::string kind = d.parameters < 0 ? "variable" : "function", name;
    for (long i = d.name; i <= d.name || i < d.parameters; i = next(i)) name += source(i);
    put_before[d.begin] += std::string("__attribute__((deprecated(\"cucc ") +
                           (of_device(d) ? "device " : "host ") + kind + " " + name + "\"))) ";
}

enum answer { clean, wrong, doubtful };

/* Functions of the C library that only the host has, in code of the device: these are declared anew, marked,
 * before the function that may call one. */
static bool mark_library(const std::map<std::string, std::vector<long>> &places)
{
    static const std::set<std::string> names = {"rand", "srand",   "exit",  "fprintf",
                                                "puts", "putchar", "fopen", "fclose",
                                                "atoi", "getenv",  "scanf", "fflush"};
    bool found = false;
    for (const declaration &d : functions) {
        if (d.open < 0 || !d.owner.empty() || d.is_template || is(d.begin, "friend")) continue;
        const long close = closing(d.open);
        for (long i = d.open; i < close; i = next(i)) {
            const std::string &name = source(i);
            bool member = is(previous(i), ".") || is(previous(i), "->");
            if (space[(size_t)i] != 'D' || !is_name(i) || !names.count(name) || !is(next(i), "(") ||
                member || places.count(name))
                continue;
            put_before[d.begin] = "extern \"C\" __attribute__((deprecated(\"cucc host function " +
                                  name + "\"))) decltype(::" + name + ") " + name + "; " +
                                  put_before[d.begin];
            found = true;
        }
    }
    return found;
}

/* Looks for what is in the wrong space; DOUBTFUL: the compiler has to tell. */
static answer look()
{
    scan(next(-1), "", false, false);
    if (find_plain_calls()) return wrong;
    settle_redeclared();
    set_spaces();
    note_harmless();
    const std::map<std::string, std::vector<long>> places = possible_uses();
    answer result = mark_library(places) ? doubtful : clean;
    for (const std::vector<declaration> *all : {&functions, &variables})
        for (const declaration &d : *all) {
            if (d.kernel || (!of_host(d) && !of_device(d)) || !is_suspicious(d, places)) continue;
            mark(d);
            result = doubtful;
        }
    return result;
}

/* Writes the tokens with names of files that tell their spaces. */
static void write(std::ostream &out)
{
    char before = 0;
    for (size_t i = 0; i < tokens.size(); i++) {
        const token &t = tokens[i];
        char which = i < space.size() ? space[i] : 0;
        bool marker = t.kind == blank && t.source.size() > 2 && t.source[0] == '#' &&
                      isdigit((unsigned char)t.source[2]);
        if (which != before && !marker)
            out << "\n# " << t.line << " \"" << *t.file << "\"\n"
                << std::string(column_of((long)i), ' ');
        before = which;
        std::string text = t.text;
        if (marker && which) text.insert(text.find('"') + 1, {which, ':'});
        out << text;
    }
}

/* Tokens' files with their spaces, for what is written of them. */
static void name_files()
{
    static std::set<std::string> names;
    for (size_t i = 0; i < tokens.size(); i++)
        if (space[i])
            tokens[i].file = &*names.insert(std::string(1, space[i]) + ":" + *tokens[i].file).first;
}
} // namespace spaces

#endif
