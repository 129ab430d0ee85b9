/* The list of what kernels that become loops may hold. A kernel is read by the grammar below, with what it calls;
 * it becomes loops only if every construct and every name in it is one of these, and keeps to fibers otherwise:
 * what is not understood here could differ between threads, wait for one, or keep an address that is not there in
 * the next loop. */
#ifndef CUCC_LOOPS_LIST_H
#define CUCC_LOOPS_LIST_H

#include "loops_values.h"

namespace loops
{
static const facts &facts_of(const std::string &name);

struct grammar : expressions {
    const facts &facts_of_called(const std::string &name) override
    {
        return facts_of(name);
    }

    /* ---- declarations ---- */

    void declaration(long &i, const char *end)
    {
        const long begin = i;
        const meaning type = type_words(i);
        for (;;) {
            local v;
            v.type = type;
            v.depth = type == meaning::pointer;
            bool constant = has(begin, i, "const");
            for (; is(i, "*") || is(i, "&") || is_qualifier(i); i = next(i)) {
                if (v.reference || (is(i, "&") && is(next(i), "&"))) refuse();
                v.depth += is(i, "*");
                v.reference |= is(i, "&");
            }
            const long name = i;
            if (!is_name(name)) refuse();
            for (i = next(i); is(i, "["); v.bounds++, v.depth++) {
                i = next(i);
                if (!is(i, "]")) expression(i);
                expect(i, "]");
            }
            declare(name, v);
            const bool deduced = has(begin, name, "auto");
            const bool keeps = (what == kernel && (may_hold(v) || v.reference || deduced)) ||
                               (what != kernel && v.type == meaning::object && what == hidden);
            value first;
            const bool direct = is(i, "(") || is(i, "{");
            if (is(i, "=") || direct) {
                if (what == kernel && v.reference && direct) refuse();
                if (is(i, "=")) i = next(i);
                escape += keeps;
                if (is(i, "{"))
                    list(i);
                else if (direct)
                    arguments(i, ")");
                else
                    first = assignment(i);
                escape -= keeps;
            } else if (v.reference || deduced) {
                refuse();
            }
            if (what == kernel && v.reference && !(first.place ? first.memory : constant)) refuse();
            if (deduced && !v.depth) {
                if (what == kernel && first.depth > 0) refuse();
                if (direct && what != kernel) first.holds = true;
                local &known = scopes.back()[source(name)];
                known.depth = first.depth;
                if (first.holds) known.type = meaning::object;
            }
            if (!is(i, ",")) break;
            i = next(i);
        }
        expect(i, end);
    }

    void shared_declaration(const statement &s)
    {
        if (what != kernel) refuse();
        long i = s.begin;
        bool outside = false;
        for (; is(i, "__shared__") || is(i, "extern") || is(i, "static") || is(i, "__align__") ||
               is(i, "alignas") || is(i, "volatile") || is(i, "__attribute__");
             i = next(i)) {
            if (is(i, "volatile")) refuse();
            outside |= is(i, "extern");
            if (is(next(i), "(")) i = closing(next(i));
        }
        if (!begins_type(i)) refuse();
        const meaning type = type_words(i);
        while (is(i, "__shared__") || is(i, "__align__") || is(i, "__attribute__"))
            i = is(next(i), "(") ? next(closing(next(i))) : next(i);
        for (;;) {
            local v;
            v.type = type;
            v.shared = true;
            for (; is(i, "*") || is_qualifier(i); i = next(i)) v.depth += is(i, "*");
            const long name = i;
            for (i = next(i); is(i, "["); v.depth++) {
                i = next(i);
                if (!is(i, "]")) expression(i);
                expect(i, "]");
            }
            declare(name, v);
            if (!is(i, ",")) break;
            i = next(i);
        }
        expect(i, ";");
        (void)outside;
    }

    /* ---- statements ---- */

    struct scope {
        grammar &g;
        explicit scope(grammar &of) : g(of)
        {
            g.scopes.emplace_back();
        }
        ~scope()
        {
            g.scopes.pop_back();
        }
    };

    void statement_of(const statement &s)
    {
        scope inner(*this);
        plain_statement(s);
    }

    void plain_statement(const statement &s)
    {
        long i = s.begin;
        if (s.opaque) {
            choose(s);
        } else if (s.kind == statement::compound) {
            scope inner(*this);
            for (const statement &part : s.parts) plain_statement(part);
        } else if (s.kind == statement::conditional || (s.kind == statement::loop && !s.is_for)) {
            for (const statement &part : s.parts) statement_of(part);
            i = next(s.open);
            expression(i);
            if (i != s.close) refuse();
        } else if (s.is_for) {
            scope inner(*this);
            i = next(s.open);
            if (is(i, ";"))
                i = next(i);
            else if (begins_type(i))
                declaration(i, ";");
            else
                expression(i), expect(i, ";");
            if (!is(i, ";")) expression(i);
            expect(i, ";");
            if (i != s.close) expression(i);
            if (i != s.close) refuse();
            statement_of(s.parts[0]);
        } else {
            leaf(s);
        }
    }

    void leaf(const statement &s)
    {
        long i = s.begin;
        if (is(i, ";")) return;
        if (is_shared(s)) return shared_declaration(s);
        if (is(i, "break") || is(i, "continue") || (is(i, "return") && is(next(i), ";"))) {
            i = next(i);
        } else if (is(i, "return")) {
            if (what == kernel) refuse();
            i = next(i);
            if (is(i, "{"))
                list(i);
            else
                expression(i);
        } else if (is(i, "__syncthreads") || is(i, "__syncwarp")) {
            if (what != kernel || !is(next(i), "(") || !is(next(next(i)), ")") ||
                own.functions.count(source(i)))
                refuse();
            i = next(next(next(i)));
        } else if (begins_type(i) && !is(next(i), "(") && !is(next(i), "{")) {
            if (what == kernel && !is_declaration(s)) refuse();
            declaration(i, ";");
            if (i != s.end) refuse();
            return;
        } else if (is(i, "static_assert")) {
            i = next(closing(next(i)));
        } else {
            if (is_declaration(s)) refuse();
            const int around = choice;
            assignment(i);
            choice = around;
            if (is(i, ",")) { /* apart, they would be statements of their own */
                if (what == kernel) refuse();
                i = next(i);
                expression(i);
            }
        }
        expect(i, ";");
        if (i != s.end) refuse();
    }

    /* switch, in a function of its own */
    void choose(const statement &s)
    {
        if (what == kernel) refuse();
        long i = next(s.begin);
        const long close = closing(i);
        i = next(i);
        expression(i);
        if (i != close) refuse();
        i = next(i);
        if (!is(i, "{")) refuse();
        const long last = closing(i);
        scope inner(*this);
        for (i = next(i); i < last;) {
            if (is(i, "case")) {
                i = next(i);
                binary(i);
                expect(i, ":");
            } else if (is(i, "default")) {
                i = next(i);
                expect(i, ":");
            } else {
                statement part = parse(i);
                plain_statement(part);
            }
        }
    }

    /* ---- functions ---- */

    void note_template(long begin)
    {
        if (!is(begin, "template")) return;
        if (!is(next(begin), "<")) refuse();
        const long last = previous(program::after_angles(next(begin)));
        for (long i = next(next(begin)); i < last; i = next(i)) {
            const bool type = is(i, "typename") || is(i, "class");
            long name = -1;
            for (; i < last && !is(i, ",") && !is(i, "="); i = next(i)) {
                if (opens(i) || is(i, "<") || is(i, ".") || is(i, "auto")) refuse();
                if (!type && !is_type_word(i) && is_name(previous(i)) == false && is_name(i) &&
                    own.type(i) == meaning::none && !template_names.count(source(i)))
                    refuse();
                if (is_name(i)) name = i;
            }
            while (i < last && !is(i, ",")) i = next(opens(i) ? closing(i) : i);
            if (name < 0) continue;
            template_names[source(name)] = type;
            if (type && what == kernel) found.plain.insert(source(name));
        }
    }

    void parameters(long open)
    {
        const long close = closing(open);
        for (long i = next(open); i < close;) {
            const long begin = i;
            local v;
            v.parameter = true;
            bool constant = false;
            for (; is_qualifier(i) || is(i, "__grid_constant__") || (is(i, "volatile") && constant);
                 i = next(i))
                constant |= is(i, "const"); /* lanes do not go in step where nothing is assigned */
            if (what == kernel && is_name(i) && is(next(i), "<") &&
                is_name(program::after_angles(next(i)))) {
                i = program::after_angles(next(i));
                v.type = meaning::object;
                found.objects = true;
                found.plain.insert("decltype(" + source(i) + ")");
            } else {
                v.type = type_words(i);
            }
            if (is(begin, "void") && i == close) return;
            v.depth = v.type == meaning::pointer;
            for (; is(i, "*") || is(i, "&") || is_qualifier(i) || is(i, "__grid_constant__");
                 i = next(i)) {
                if (is(i, "&") && is(next(i), "&")) refuse();
                v.depth += is(i, "*");
                v.reference |= is(i, "&");
            }
            if (is_name(i)) {
                const long name = i;
                for (i = next(i); is(i, "["); i = next(closing(i))) v.depth++;
                declare(name, v);
            }
            const bool first = begin == next(open) && !of_class;
            const bool may_change = maker || (changes_own && !first);
            if (what == hidden && may_change && v.reference && !has(begin, i, "const")) refuse();
            if (is(i, "=")) {
                i = next(i);
                assignment(i);
            }
            if (i == close) break;
            expect(i, ",");
        }
    }

    /* What stands between a constructor's parameters and its body. */
    void makers(long i, long brace)
    {
        while (i < brace && !is(i, ":")) i = next(i);
        while (i < brace) {
            i = next(i);
            if (!is_name(i)) refuse();
            i = next(i);
            if (!is(i, "(") && !is(i, "{")) refuse();
            arguments(i, is(i, "(") ? ")" : "}");
            if (i < brace && !is(i, ",")) refuse();
        }
    }

    void read(long template_begin, long open, long brace)
    {
        scope outer(*this);
        note_template(template_begin);
        parameters(open);
        if (maker) makers(closing(open), brace);
        long i = brace;
        statement body = parse(i);
        plain_statement(body);
        for (const std::string &name : declared)
            if (global.count(name)) refuse(); /* one name for two things */
    }
};

/* The parameters of a declaration by their types. */
static std::string types_of(const function &f)
{
    std::string all;
    long last = -1;
    for (long i = next(f.open), close = closing(f.open); i <= close; i = next(i)) {
        if (is(i, "=")) /* a default */
            while (i < close && !is(i, ",")) i = next(opens(i) ? closing(i) : i);
        if (last >= 0 &&
            !(is_name(last) && (i == close || is(i, ",")) && all.size() && all.back() == ' '))
            all += source(last) + (is_name(last) ? " " : "");
        last = i;
    }
    return all;
}

static bool read_function(const function &f, grammar &g)
{
    try {
        g.of_class = f.member;
        g.read(f.begin, f.open, f.brace);
        return true;
    } catch (const unsuitable &) {
        return false;
    }
}

static const facts &facts_of(const std::string &name)
{
    static std::map<std::string, facts> known;
    auto before = known.find(name);
    if (before != known.end()) return before->second;
    known[name] = {}; /* one that calls itself is not understood */
    facts all;
    all.understood = !functions_of_steps.count(name);
    std::set<std::string> defined;
    for (const function &f : own.functions[name])
        if (f.brace >= 0) defined.insert(types_of(f));
    for (const function &f : own.functions[name]) {
        if (f.brace < 0) {
            all.understood &= defined.count(types_of(f)) > 0;
            continue;
        }
        grammar g;
        g.own_name = name;
        all.understood = all.understood && read_function(f, g);
        all.threads |= g.found.threads;
        all.objects |= g.found.objects;
        all.vectors |= g.found.vectors;
        all.trace |= g.found.trace;
        all.memory |= g.found.memory;
        all.changes |= g.found.changes;
    }
    return known[name] = all;
}

/* What runs without a call: operators, conversions, constructors, initialisers of members. */
struct hidden_code {
    bool operators = true, objects = true; /* all understood, and the same in all threads */
    bool memory = false;                   /* reads some */
};

static const hidden_code &all_hidden_code()
{
    static bool done = false;
    static hidden_code all;
    if (done) return all;
    done = true;
    for (const auto &named : own.functions)
        for (const function &f : named.second) {
            const bool is_operator = named.first == "operator";
            if (!f.device || !(is_operator || f.maker)) continue;
            if (f.brace < 0) { /* = default, or defined elsewhere */
                const long end = statement_end(f.open);
                bool here = has(f.open, end, "default") || has(f.open, end, "delete");
                for (const function &other : named.second) here |= other.brace >= 0;
                if (!here) (is_operator ? all.operators : all.objects) = false;
                continue;
            }
            grammar g;
            g.what = grammar::hidden;
            g.maker = f.maker;
            const long symbol = next(f.name);
            const bool same =
                (is(symbol, "=") || is(symbol, "!") || is(symbol, "<") || is(symbol, ">")) &&
                is(next(symbol), "=") && !is(next(next(symbol)), "=");
            g.changes_own =
                is_operator && !same &&
                (has(symbol, f.open, "=") || is(next(symbol), "+") || is(next(symbol), "-"));
            if (!read_function(f, g)) (is_operator ? all.operators : all.objects) = false;
            if (!is_operator || !is(symbol, "[")) all.memory |= g.found.memory;
        }
    for (const auto &part : own.initialisers) {
        grammar g;
        g.what = grammar::hidden;
        g.of_class = true;
        try {
            long i = part.first;
            grammar::scope outer(g);
            if (is(i, "{"))
                g.list(i);
            else if (i < part.second)
                g.assignment(i);
            if (i != part.second) throw unsuitable();
        } catch (const unsuitable &) {
            all.objects = false;
        }
        all.memory |= g.found.memory;
    }
    return all;
}

/* Whether the kernel is made of what is on the list. */
static bool is_listed(long template_begin, long parameters, long brace, facts &found)
{
    grammar g;
    g.what = grammar::kernel;
    try {
        g.read(template_begin, parameters, brace);
    } catch (const unsuitable &) {
        return false;
    }
    found = g.found;
    const hidden_code &code = all_hidden_code();
    return (!found.objects || (code.objects && code.operators)) &&
           (!found.vectors || code.operators);
}
} // namespace loops

#endif
