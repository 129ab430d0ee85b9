/* A kernel's tokens while it is written out (loops_expand.h): edits of them, one name for each variable, and
 * initialisers with an equals sign. */
#ifndef CUCC_LOOPS_NAMES_H
#define CUCC_LOOPS_NAMES_H

#include "loops_edit.h"
#include "loops_list.h"

namespace loops
{
/* A name that a kernel gives a cooperative group. */
struct group {
    enum { block, grid, tile } kind = block;
    std::string size; /* of a tile */
};

/* A kernel whose body stands at the end of all tokens while it is written out. */
struct rewritten_kernel {
    std::string checks;                  /* that what is taken for 32 is so */
    std::map<std::string, group> groups; /* by their names */
    std::vector<edit> edits;
    int exchanges = 0; /* as many values as one statement exchanges */
    long begin = 0, end = 0;
    long kernel = 0; /* functions behind it are not yet rewritten */

    const token &here(long i) const
    {
        return tokens[(size_t)i];
    }
    void replace(long from, long to, const std::string &instead)
    {
        edits.push_back({from, to, read_tokens(instead, here(from))});
    }
    long parameters_begin = 0, parameters_end = 0;

    /* ---- names ---- */

    static void note_names(const statement &s, std::set<std::string> &names)
    {
        if (s.kind == statement::leaf && (is_shared(s) || is_declaration(s)))
            for (long j : declared_names(s.begin, previous(s.end))) names.insert(source(j));
        if (s.is_for) {
            statement head;
            head.begin = next(s.open);
            head.end = end_of_head(head.begin);
            if (is_declaration(head))
                for (long j : declared_names(head.begin, head.end)) names.insert(source(j));
        }
        for (const statement &p : s.parts) note_names(p, names);
    }

    /* The names of the kernel's variables. */
    std::set<std::string> declared_here() const
    {
        std::set<std::string> all;
        long i = begin;
        note_names(parse(i), all);
        if (parameters_begin < parameters_end)
            for (auto &p : parts_of(previous(parameters_begin), parameters_end))
                for (long k = p.first; k < p.second && !is(k, "="); k = next(k))
                    if (is_name(k) && (!is_name_of_type(k) || next(k) == p.second ||
                                       is(next(k), "[") || is(next(k), "=")))
                        all.insert(source(k));
        for (auto &g : groups) all.insert(g.first);
        return all;
    }

    void rename(const std::string old, long from, long to)
    {
        const std::string own = old + "_cucc_" + std::to_string(++numbered);
        for (long i = from; i < to; i = next(i))
            if (is(i, old.c_str()) && !is_member(i))
                tokens[(size_t)i].text = tokens[(size_t)i].source = own;
    }

    /* Variables of one name get different ones, so that a name says which variable is meant. */
    void tell_apart(const statement &s, std::set<std::string> &seen, long scope_end)
    {
        std::vector<long> declared;
        if (is_declaration(s)) declared = declared_names(s.begin, previous(s.end));
        if (s.is_for) {
            statement head;
            head.begin = next(s.open);
            for (head.end = head.begin; !is(head.end, ";");)
                head.end = next(opens(head.end) ? closing(head.end) : head.end);
            if (is_declaration(head)) declared = declared_names(head.begin, head.end);
            scope_end = s.end;
        }
        for (long i : declared) {
            if (!seen.insert(source(i)).second) rename(source(i), i, scope_end);
            seen.insert(source(i));
        }
        for (const statement &p : s.parts)
            tell_apart(p, seen, s.kind == statement::leaf ? scope_end : s.end);
    }

    void tell_apart()
    {
        long i = begin;
        statement body = parse(i);
        std::set<std::string> seen;
        if (parameters_begin < parameters_end)
            for (auto &p : parts_of(previous(parameters_begin), parameters_end)) {
                long last = p.first;
                for (long k = p.first; k < p.second && !is(k, "="); k = next(k))
                    if (is_name(k)) last = k;
                seen.insert(source(last));
            }
        tell_apart(body, seen, end);
    }

    /* ---- initialisers ---- */

    /* What T x(a) and T x{a} are with an equals sign, as the analysis of a kernel reads them: a number or a pointer has
     * one value, all else keeps its list. */
    void write_initialisers(const statement &s, long from, long to)
    {
        long i = from;
        std::string type;
        bool number = true;
        for (; is_type_word(i) || is(i, "constexpr") || (type.empty() && is_name(i)); i = next(i)) {
            if (is(i, "const")) continue;
            if (is(i, "constexpr")) {
                replace(i, i + 1, "const");
                continue;
            }
            type += source(i) + " ";
            const meaning m = own.type(i);
            number &= m == meaning::scalar || m == meaning::pointer;
        }
        while (i < to) {
            bool pointer = false;
            for (; is(i, "*") || is(i, "&") || is(i, "const") || is(i, "__restrict__"); i = next(i))
                pointer |= is(i, "*");
            if (!is_name(i)) throw unsuitable();
            bool array = false;
            for (i = next(i); is(i, "["); i = next(closing(i))) array = true;
            const bool one_value = (number || pointer) && !array;
            if (is(i, "(") || is(i, "{")) {
                const auto values = parts_of(i, closing(i));
                const bool braces = is(i, "{"),
                           nested = !values.empty() && is(values[0].first, "{");
                if (one_value && values.size() == 1 && !nested) {
                    replace(i, i + 1, " = (");
                    replace(closing(i), closing(i) + 1, ")");
                } else if (braces) {
                    replace(i, i + 1, " = {");
                } else if (!pointer && !array && !values.empty()) {
                    replace(i, i + 1, " = " + type + "(");
                } else {
                    throw unsuitable();
                }
            }
            while (i < to && !is(i, ",") && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
            i = next(i);
        }
        (void)s;
    }

    /* a, b; becomes a; b; */
    void write_apart(const statement &s, bool in_compound)
    {
        std::vector<long> commas;
        for (long i = s.begin; i < s.end; i = next(opens(i) ? closing(i) : i))
            if (is(i, ",")) commas.push_back(i);
        for (long i = s.begin; i < s.end; i = next(opens(i) ? closing(i) : i))
            if (is(i, "<") && !commas.empty()) return; /* perhaps of template arguments */
        if (commas.empty() || is(s.begin, "return")) return;
        for (long i : commas) replace(i, i + 1, ";");
        if (in_compound) return;
        replace(s.begin, s.begin + 1, "{ " + source(s.begin));
        replace(previous(s.end), s.end, "; }");
    }

    void write_plainly(const statement &s, bool in_compound)
    {
        if (s.kind == statement::leaf && !s.opaque && is_declaration(s)) {
            write_initialisers(s, s.begin, s.end);
        } else if (s.kind == statement::leaf && !s.opaque && !is_shared(s)) {
            write_apart(s, in_compound);
        } else if (s.is_for) {
            statement head;
            head.begin = next(s.open);
            head.end = next(end_of_head(head.begin));
            if (is_declaration(head)) write_initialisers(s, head.begin, head.end);
        }
        for (const statement &p : s.parts) write_plainly(p, s.kind == statement::compound);
    }

    static long end_of_head(long i)
    {
        while (i < count() && !is(i, ";")) i = next(opens(i) ? closing(i) : i);
        return i;
    }

    void make_edits()
    {
        std::sort(edits.begin(), edits.end(),
                  [](const edit &a, const edit &b) { return a.begin < b.begin; });
        sequence result;
        long from = begin;
        for (const edit &e : edits) {
            if (e.begin < from) continue; /* within one before; the next turn finds it */
            append(result, part(from, e.begin));
            append(result, e.instead);
            from = e.end;
        }
        append(result, part(from, count()));
        tokens.resize((size_t)begin);
        tokens.insert(tokens.end(), result.begin(), result.end());
        end = count() - 1;
    }
};
} // namespace loops

#endif
