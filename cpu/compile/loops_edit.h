/* Pieces of a kernel as tokens, for loops_expand.h: taking them, changing their names, reading new ones. */
#ifndef CUCC_LOOPS_EDIT_H
#define CUCC_LOOPS_EDIT_H

#include "loops_program.h"
#include <algorithm>

namespace loops
{
using sequence = std::vector<token>;

/* From BEGIN on, up to END, stands what is in TOKENS. */
struct edit {
    long begin, end;
    sequence instead;
};

static sequence read_tokens(const std::string &s, const token &like)
{
    sequence all;
    for (size_t i = 0, end; i < s.size(); i = end) {
        token_kind kind = scan_token(s, i, end);
        std::string text = s.substr(i, end - i);
        all.push_back({kind, text, text, like.file, like.line});
    }
    return all;
}

static sequence part(long begin, long end)
{
    return sequence(tokens.begin() + begin, tokens.begin() + end);
}

static void append(sequence &to, const sequence &more)
{
    to.insert(to.end(), more.begin(), more.end());
}

/* As the program has it. */
static std::string words(long begin, long end)
{
    std::string all;
    for (long i = begin; i < end; i++)
        all += tokens[(size_t)i].kind == blank ? " " : tokens[(size_t)i].source;
    return all + " ";
}

static bool is_warp_function(long i)
{
    static const std::set<std::string> names = {
        "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",  "__shfl_xor_sync",
        "__shfl",      "__shfl_up",      "__shfl_down",       "__shfl_xor",
        "__any_sync",  "__all_sync",     "__ballot_sync",     "__reduce_add_sync",
        "cucc_plus",   "cucc_less",      "__reduce_max_sync", "__reduce_min_sync",
        "cucc_greater"};
    return is_name(i) && names.count(source(i)) && is(next(i), "(") && !is_member(i);
}

/* What stands between the commas of a list in brackets. */
static std::vector<std::pair<long, long>> parts_of(long open, long close)
{
    std::vector<std::pair<long, long>> all;
    long begin = next(open);
    int angles = 0;
    for (long i = begin; i <= close && begin < close; i = next(i)) {
        if (i < close && opens(i)) i = closing(i);
        if (is(i, "<") && is(open, "<")) angles++;
        if (is(i, ">") && is(open, "<") && i < close) angles--;
        if (i < close && (!is(i, ",") || angles)) continue;
        all.push_back({begin, i});
        begin = next(i);
    }
    return all;
}

static bool is_assigned_between(const std::string &name, long begin, long end)
{
    for (long i = begin; i < end; i = next(i)) {
        if (!is(i, name.c_str()) || is_member(i)) continue;
        bool address = is(previous(i), "&") && is_unary(previous(i));
        if (address || is_assigned_after(after_subscripts(i)) || is_incremented_before(i))
            return true;
    }
    return false;
}

/* In tokens that are still to be placed: WORD becomes INSTEAD, in what was rewritten, too. */
static void replace_word(sequence &all, const std::string &word, const sequence &instead)
{
    sequence result;
    for (size_t i = 0; i < all.size(); i++) {
        size_t p = i;
        while (p > 0 && all[p - 1].kind == blank) p--;
        bool member = p > 0 && (all[p - 1].source == "." || all[p - 1].source == "->" ||
                                all[p - 1].source == "::");
        if (all[i].kind == name && all[i].source == word && all[i].text == word && !member) {
            append(result, instead);
            continue;
        }
        result.push_back(all[i]);
        if (all[i].text == all[i].source || instead.size() != 1) continue;
        std::string &text = result.back().text;
        const std::string &to = instead[0].text;
        for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + to.size())) {
            bool begins = at == 0 || !is_name_char(text[at - 1]);
            size_t behind = at + word.size();
            if (begins && (behind >= text.size() || !is_name_char(text[behind])))
                text.replace(at, word.size(), to);
            else
                at -= std::min(at, to.size() - 1);
        }
        if (all[i].kind == name && all[i].source == word) result.back().source = to;
    }
    all.swap(result);
}
} // namespace loops

#endif
