/* --report --html: the figures of check_report.cpp as one page. It needs no network and no script; colours
 * follow the reader's choice of light or dark. It stays below a megabyte: of long programs lines without
 * figures go first, then the last ones, and the page says so. */
#include "check_report.h"
#include <cmath>
#include <fstream>
#include <set>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cucc
{
enum {
    most_of_source = 550 * 1000, /* bytes of the page */
    most_of_kernels = 900 * 1000,
    most_of_line = 300, /* bytes of a line of code or of a kernel's name */
    context_lines = 6,  /* that are shown beside one with figures */
    heat_levels = 5,
};

static const char *const page_style =
    R"(:root{color-scheme:light dark;--back:#fff;--front:#1c2127;--soft:#5b6570;--line:#d5dae0;--box:#f4f6f8;
--link:#0a58b8;--bad:#b3261e;--good:#1b6e3c;--h1:#fbe3b6;--h2:#f7c26b;--h3:#ee9440;--h4:#d9622f;--h5:#b3261e}
@media (prefers-color-scheme:dark){:root{--back:#14181d;--front:#e4e8ec;--soft:#9aa5b1;--line:#39424c;
--box:#1d232a;--link:#7db7ff;--bad:#ff8a80;--good:#7fd6a0;--h1:#5a4519;--h2:#86611a;--h3:#b9762a;
--h4:#df7f45;--h5:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;padding:0 1rem 3rem;max-width:75rem;background:var(--back);color:var(--front);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:1rem 0 0}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:.5rem 0}
a{color:var(--link)}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);
outline-offset:2px}
p{margin:.4rem 0;max-width:50rem}nav a{display:inline-block;padding:.35rem .8rem .35rem 0}
code,.line,td,th{font-family:ui-monospace,monospace;font-size:.85rem}
.soft,figcaption{color:var(--soft);font-size:.9rem}
summary{cursor:pointer;padding:.4rem 0;font-weight:600}
.worst,.kernel{border:1px solid var(--line);border-radius:.4rem;padding:.2rem .8rem .6rem;margin:.6rem 0}
.worst>code{display:block;background:var(--box);padding:.4rem .6rem;white-space:pre-wrap}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}
figure{margin:.6rem 0}svg{display:block;width:100%;height:auto;background:var(--box);border-radius:.3rem}
svg text{font:11px system-ui,sans-serif;fill:var(--front)}
.lane{fill:var(--link)}.off{fill:none;stroke:var(--soft)}.cell{fill:none;stroke:var(--soft);stroke-width:.7}
.bad .used{fill:var(--bad)}.bad .wire{stroke:var(--bad)}.good .used{fill:var(--good)}.good .wire{stroke:var(--good)}
.wire{stroke-width:.8;opacity:.7}
.bad figcaption b{color:var(--bad)}.good figcaption b{color:var(--good)}
.code{border:1px solid var(--line);border-radius:.4rem;overflow:hidden;margin:.4rem 0}
.line{display:grid;grid-template-columns:3rem 3.5rem minmax(0,1fr) minmax(0,21rem);line-height:1.45}
.line:target{background:var(--box);outline:2px solid var(--link);outline-offset:-2px}
.heat{background:var(--box)}.heat i{display:block;height:100%;min-height:1.2em;min-width:3px}
.h1{background:var(--h1)}.h2{background:var(--h2)}.h3{background:var(--h3)}.h4{background:var(--h4)}
.h5{background:var(--h5)}
.no{color:var(--soft);text-align:right;padding-right:.8rem}.text{white-space:pre-wrap}
.figures{padding-left:.6rem}.figures span{display:block}.gap{grid-column:1/-1;padding-left:7rem;color:var(--soft)}
.bar{display:grid;grid-template-columns:8rem minmax(0,1fr) 6rem;gap:.6rem;align-items:center;font-size:.9rem}
.bar div{background:var(--box);border:1px solid var(--line);height:1rem}.bar i{display:block;height:100%;
background:var(--link)}.least i{background:var(--h4)}
.wide{overflow-x:auto}table{border-collapse:collapse}td,th{padding:.15rem .7rem;text-align:right;white-space:nowrap}
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}
@media (max-width:45rem){.line{grid-template-columns:1rem 2.8rem minmax(0,1fr)}.figures{grid-column:3;
padding:0 0 .3rem;color:var(--soft)}.bar{grid-template-columns:6rem minmax(0,1fr) 4.5rem}.gap{padding-left:4rem}})";

/* ---- texts ----------------------------------------------------------------------------------- */

static std::string escaped(const std::string &text)
{
    std::string result;
    for (char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += (unsigned char)c < ' ' && c != '\t' ? ' ' : c;
    }
    return result;
}

static std::string shortened(const std::string &text)
{
    return text.size() <= most_of_line ? text : text.substr(0, most_of_line) + " ...";
}

static std::string figure_of(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return text;
}

static std::string count_of(uint64_t n, const std::string &plural)
{
    return std::to_string(n) + " " + (n == 1 ? plural.substr(0, plural.size() - 1) : plural);
}

static std::string units_of(double n, int space)
{
    std::string plural = unit_of(space), one = space == shared_space ? "pass" : plural;
    if (space != shared_space) one.pop_back();
    return figure_of(n) + " " + (n == 1 ? one : plural);
}

/* "32 sectors, needs 4" for each request of a row. */
static std::string taken_by(const tally &t, int space)
{
    double n = (double)t.requests;
    std::string taken = units_of((double)t.units / n, space);
    return t.units == t.needed ? taken : taken + ", needs " + figure_of((double)t.needed / n);
}

/* ---- what would be right --------------------------------------------------------------------- */

/* How far neighbouring lanes are apart: most of them, or all. */
struct lane_steps {
    int64_t step = 0; /* bytes from a lane to the next; 0: there is no such distance */
    bool all = false;
    bool holes = false; /* lanes between others take nothing */
};

static lane_steps steps_of(const instance &i)
{
    std::map<int64_t, unsigned int> times;
    unsigned int pairs = 0, before = warp_lanes;
    lane_steps s;
    for (unsigned int lane = 0; lane < warp_lanes; lane++) {
        if (!(i.lanes >> lane & 1)) continue;
        if (before < warp_lanes) {
            int64_t apart = (int64_t)(i.address[lane] - i.address[before]), lanes = lane - before;
            s.holes |= lanes > 1;
            pairs++;
            if (apart % lanes == 0) times[apart / lanes]++;
        }
        before = lane;
    }
    for (auto &t : times)
        if (2 * t.second > pairs) s.step = t.first, s.all = t.second == pairs;
    return s;
}

struct page_advice {
    std::string is, right;
};

static page_advice advise_global(const row &r)
{
    const instance &i = r.sum.worst;
    lane_steps s = steps_of(i);
    char used[64];
    snprintf(used, sizeof used, "%.0f%% of the bytes that are fetched are used",
             100.0 * (double)r.sum.bytes / (double)(r.sum.units * sector_bytes));
    bool neighbours = std::abs(s.step) == (int64_t)i.size;
    if (!s.step)
        return {std::string("The lanes go to places without order: ") + used + ".",
                "Neighbouring lanes take neighbouring elements: sort the data or the indices, or "
                "bring a tile into shared memory in its order first, and pick from there."};
    if (neighbours && s.holes)
        return {std::string("Lanes between others take nothing, and what lies between is fetched "
                            "all the same: ") +
                    used + ".",
                "Neighbouring threads do the work, and those without any are whole warps; or the "
                "elements that are wanted lie side by side."};
    if (neighbours && !s.all)
        return {std::string("The lanes take several pieces that begin or end within a sector of 32 "
                            "bytes: ") +
                    used + ".",
                "A warp takes one piece: blocks whose x dimension is a multiple of 32, and rows "
                "that begin at a multiple of 32 bytes (cudaMallocPitch, or a padded width)."};
    if (neighbours)
        return {"Neighbouring lanes take neighbouring elements, but a warp begins within a sector "
                "of 32 bytes, so that it touches one more.",
                "Rows that begin at a multiple of 32 bytes (cudaMallocPitch, or a padded width), "
                "or an index that is shifted so that lane 0 begins there."};
    return {"Neighbouring lanes are " + std::to_string(std::abs(s.step)) +
                " bytes apart, and take " + std::to_string(i.size) + " each: " + used + ".",
            "Neighbouring threads (threadIdx.x) take neighbouring elements: let threadIdx.x be the "
            "last index, turn a tile in shared memory, or keep an array for each field in place of "
            "an array of structures."};
}

static page_advice advise_shared(const row &r)
{
    const instance &i = r.sum.worst;
    lane_steps s = steps_of(i);
    std::set<uint64_t> touched;
    for (unsigned int lane = 0; lane < warp_lanes; lane++)
        for (uint64_t a = i.address[lane]; a < i.address[lane] + i.size; a++)
            if (i.lanes >> lane & 1) touched.insert(a / bank_bytes % banks);
    uint64_t element = std::max((uint64_t)i.size, (uint64_t)bank_bytes);
    if (!s.step || (uint64_t)std::abs(s.step) % element)
        return {"Lanes want several words of the same bank, which gives one at a time.",
                "Neighbouring lanes take neighbouring words, or words an odd number apart."};
    return {"Neighbouring lanes are " + std::to_string(std::abs(s.step)) +
                " bytes apart, so that all of them go to " + std::to_string(touched.size()) +
                " of the 32 banks.",
            "A row of one element more, as in tile[32][32 + 1]: neighbouring lanes are then an odd "
            "number of elements of " +
                std::to_string(element) +
                " bytes apart, and go to different banks. Or neighbouring lanes take neighbouring "
                "elements."};
}

static page_advice advise(const row &r)
{
    switch (r.space) {
    case global_space: return advise_global(r);
    case shared_space: return advise_shared(r);
    case constant_space:
        return {"Lanes read different words, and constant memory gives one at a time.",
                "Constant memory for what all lanes of a warp read together; a table that lanes "
                "read at "
                "places of their own belongs into shared or global memory."};
    case branch_space:
        return {"Lanes of one warp go different ways, and the warp goes all of them, one after "
                "another.",
                "A condition that is the same for 32 neighbouring threads, as of threadIdx.x / 32, "
                "or work "
                "that is sorted so that neighbours go the same way."};
    case global_atomic:
        return {"Several lanes come to one word, one after another.",
                "One atomic for a warp or a block: sum up with __shfl_down_sync or "
                "__reduce_add_sync or in shared "
                "memory first."};
    default:
        return {"Several lanes come to one word of shared memory, one after another.",
                "Sum up in the warp first (__shfl_down_sync, __reduce_add_sync), or let each warp "
                "have a copy of "
                "its own that is added in the end."};
    }
}

/* The same lanes with what they take laid out well. Lanes that shared a word still do. */
static instance laid_out_well(const instance &i, int space)
{
    instance good = i;
    std::set<uint64_t> places;
    for (unsigned int lane = 0; lane < warp_lanes; lane++)
        if (i.lanes >> lane & 1) places.insert(i.address[lane]);
    bool atomic = space == global_atomic || space == shared_atomic;
    for (unsigned int lane = 0; lane < warp_lanes; lane++) {
        uint64_t rank = (uint64_t)std::distance(places.begin(), places.find(i.address[lane]));
        if (!(i.lanes >> lane & 1)) continue;
        if (space == global_space || space == shared_space)
            good.address[lane] = rank * i.size;
        else
            good.address[lane] = atomic ? (uint64_t)lane * i.size : *places.rbegin();
    }
    return good;
}

/* ---- the drawing of a warp ------------------------------------------------------------------- */

enum { /* pixels */
       draw_width = 344,
       draw_left = 12,
       draw_step = 10,
       lanes_at = 20,
       targets_at = 104,
       target_high = 14,
};

static void draw_rect(std::string &svg, const char *kind, double x, double y, double w, double h)
{
    char text[160];
    snprintf(text, sizeof text,
             "<rect class=\"%s\" x=\"%.4g\" y=\"%.4g\" width=\"%.4g\" height=\"%.4g\"/>", kind, x,
             y, w, h);
    svg += text;
}

static void draw_wire(std::string &svg, unsigned int lane, double to)
{
    char text[160];
    snprintf(text, sizeof text,
             "<line class=\"wire\" x1=\"%.4g\" y1=\"%d\" x2=\"%.4g\" y2=\"%d\"/>",
             draw_left + lane * draw_step + draw_step / 2.0, lanes_at + 12, to, +targets_at);
    svg += text;
}

static void draw_text(std::string &svg, double x, double y, const std::string &what)
{
    char text[64];
    snprintf(text, sizeof text, "<text x=\"%.4g\" y=\"%.4g\">", x, y);
    svg += text + escaped(what) + "</text>";
}

static void draw_lanes(std::string &svg, uint32_t lanes)
{
    draw_text(svg, draw_left, lanes_at - 6, "lanes 0 to 31");
    for (unsigned int lane = 0; lane < warp_lanes; lane++)
        draw_rect(svg, lanes >> lane & 1 ? "lane" : "off", draw_left + lane * draw_step + 1,
                  lanes_at, draw_step - 2, 12);
}

/* Sectors, each with its 8 words; those that lanes ask for are filled. Returns how far down it goes. */
static int draw_sectors(std::string &svg, const instance &i)
{
    std::map<uint64_t, uint32_t> bytes_of;
    for (unsigned int lane = 0; lane < warp_lanes; lane++) {
        if (!(i.lanes >> lane & 1)) continue;
        for (uint64_t a = i.address[lane]; a < i.address[lane] + i.size; a++)
            bytes_of[a / sector_bytes] |= 1u << a % sector_bytes;
    }
    const double all = warp_lanes * draw_step;
    double width = std::min(40.0, all / (double)bytes_of.size());
    double begin = draw_left + (all - width * (double)bytes_of.size()) / 2, x = begin;
    std::map<uint64_t, double> place;
    for (auto &s : bytes_of) {
        place[s.first] = x;
        for (int first = 0, last; first < sector_bytes; first = last + 1) {
            for (last = first; last < sector_bytes && s.second >> last & 1;) last++;
            if (last > first)
                draw_rect(svg, "used", x + width * first / sector_bytes, targets_at,
                          width * (last - first) / sector_bytes, target_high);
        }
        draw_rect(svg, "cell", x, targets_at, width, target_high);
        x += width;
    }
    for (unsigned int lane = 0; lane < warp_lanes; lane++) {
        if (!(i.lanes >> lane & 1)) continue;
        for (uint64_t s = i.address[lane] / sector_bytes;
             s <= (i.address[lane] + i.size - 1) / sector_bytes; s++) {
            double middle = (double)(std::max(i.address[lane], s * sector_bytes) +
                                     std::min(i.address[lane] + i.size, (s + 1) * sector_bytes)) /
                                2 -
                            (double)(s * sector_bytes);
            draw_wire(svg, lane, place[s] + width * middle / sector_bytes);
        }
    }
    draw_text(svg, draw_left, targets_at + target_high + 14,
              count_of(bytes_of.size(), "sectors") +
                  " of 32 bytes; filled: what the lanes ask for");
    return targets_at + target_high + 22;
}

/* Banks, below each the words that it has to give; of lanes that are served at once, those that take most. */
static int draw_banks(std::string &svg, const instance &i)
{
    unsigned int at_once = lanes_at_once(i), worst = 0;
    for (unsigned int first = 0; first < warp_lanes; first += at_once)
        if (passes_of(i, first, at_once) > passes_of(i, worst, at_once)) worst = first;
    std::set<uint64_t> words_of[banks];
    std::set<std::pair<unsigned int, unsigned int>> wires;
    for (unsigned int lane = worst; lane < worst + at_once; lane++) {
        if (!(i.lanes >> lane & 1)) continue;
        for (uint64_t w = i.address[lane] / bank_bytes;
             w <= (i.address[lane] + i.size - 1) / bank_bytes; w++) {
            words_of[w % banks].insert(w);
            wires.insert({lane, (unsigned int)(w % banks)});
        }
    }
    size_t most = 1;
    for (auto &words : words_of) most = std::max(most, words.size());
    double high = std::min((double)target_high, 96.0 / (double)most);
    for (unsigned int b = 0; b < banks; b++) {
        double x = draw_left + b * draw_step + 1;
        for (size_t n = 0; n < words_of[b].size(); n++)
            draw_rect(svg, "used", x, targets_at + high * (double)n, draw_step - 2, high - .6);
        draw_rect(svg, "cell", x, targets_at, draw_step - 2,
                  high * (double)std::max<size_t>(1, words_of[b].size()));
    }
    for (auto &w : wires)
        draw_wire(svg, w.first, draw_left + w.second * draw_step + draw_step / 2.0);
    int below = targets_at + (int)(high * (double)most);
    std::string part = at_once == warp_lanes ? ""
                                             : " (lanes " + std::to_string(worst) + " to " +
                                                   std::to_string(worst + at_once - 1) + ")";
    draw_text(svg, draw_left, below + 14,
              "banks 0 to 31; filled: words to give, " + units_of((double)most, shared_space) +
                  part);
    return below + 22;
}

/* Words, or ways of a branch, that lanes come to. */
static int draw_words(std::string &svg, const instance &i, int space)
{
    std::map<uint64_t, uint64_t> lanes_of;
    for (unsigned int lane = 0; lane < warp_lanes; lane++)
        if (i.lanes >> lane & 1) lanes_of[i.address[lane]]++;
    const double all = warp_lanes * draw_step;
    double width = std::min(80.0, all / (double)lanes_of.size());
    double x = draw_left + (all - width * (double)lanes_of.size()) / 2;
    std::map<uint64_t, double> place;
    for (auto &w : lanes_of) {
        place[w.first] = x + width / 2;
        draw_rect(svg, "used", x + 1, targets_at, width - 2, target_high);
        if (space == branch_space)
            draw_text(svg, x + 4, targets_at + target_high + 14, w.first ? "taken" : "not taken");
        x += width;
    }
    for (unsigned int lane = 0; lane < warp_lanes; lane++)
        if (i.lanes >> lane & 1) draw_wire(svg, lane, place[i.address[lane]]);
    if (space != branch_space)
        draw_text(svg, draw_left, targets_at + target_high + 14,
                  count_of(lanes_of.size(), "words"));
    return targets_at + target_high + 22;
}

static std::string warp_figure(const instance &i, int space, bool good)
{
    std::string svg, taken = units_of((double)tally_of(i, space).units, space);
    draw_lanes(svg, i.lanes);
    int high = space == global_space   ? draw_sectors(svg, i)
               : space == shared_space ? draw_banks(svg, i)
                                       : draw_words(svg, i, space);
    std::string begin = "<svg viewBox=\"0 0 " + std::to_string(+draw_width) + " " +
                        std::to_string(high) + "\" role=\"img\" aria-label=\"" +
                        count_of((uint64_t)__builtin_popcount(i.lanes), "lanes") + " of a warp, " +
                        taken + "\">";
    return std::string("<figure class=\"") + (good ? "good" : "bad") + "\">" + begin + svg +
           "</svg><figcaption><b>" + taken + "</b> " +
           (good ? "laid out well" : "as it is, where it takes most") + "</figcaption></figure>\n";
}

/* ---- the source ------------------------------------------------------------------------------ */

struct page_source {
    std::vector<std::string> text; /* empty: it was not found */
    bool changed = false;          /* since the program was built */
    std::map<size_t, std::map<std::pair<int, bool>, tally>> figures; /* by line, what */
};

static std::string program_path()
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return std::string(path, length > 0 ? (size_t)length : 0);
}

/* FILE:LINE; a line that is not known has line 0. */
static std::pair<std::string, size_t> place_of(const std::string &line)
{
    size_t colon = line.rfind(':');
    if (colon == line.npos) return {line, 0};
    return {line.substr(0, colon), strtoul(line.c_str() + colon + 1, nullptr, 10)};
}

/* A name may be relative to the folder of the build: here, or where the program lies. */
static void read_source(const std::string &name, page_source &source)
{
    std::string program = program_path(), beside = program.substr(0, program.rfind('/') + 1) + name;
    for (const std::string &path : {name, beside}) {
        std::ifstream file(path);
        std::string line;
        while (std::getline(file, line)) source.text.push_back(line);
        struct stat built, is;
        if (source.text.empty()) continue;
        source.changed = !stat(program.c_str(), &built) && !stat(path.c_str(), &is) &&
                         is.st_mtime > built.st_mtime;
        return;
    }
}

using page_sources = std::map<std::string, page_source>;

static page_sources read_sources(const std::vector<row> &rows)
{
    page_sources all;
    for (const row &r : rows) {
        auto place = place_of(r.line);
        if (place.second) all[place.first].figures[place.second][{r.space, r.write}].add(r.sum);
    }
    for (auto &s : all) read_source(s.first, s.second);
    return all;
}

static std::string anchor_of(const page_sources &sources, const std::string &line)
{
    auto place = place_of(line);
    auto file = sources.find(place.first);
    return "f" + std::to_string(std::distance(sources.begin(), file)) + "l" +
           std::to_string(place.second);
}

/* Whether the page will show a line is known once the source is written. */
static std::string link_to(const page_sources &sources, const std::set<std::string> &shown,
                           const std::string &line)
{
    std::string anchor = anchor_of(sources, line);
    if (!shown.count(anchor)) return escaped(shortened(line));
    return "<a href=\"#" + anchor + "\">" + escaped(shortened(line)) + "</a>";
}

using line_figures = std::map<std::pair<int, bool>, tally>;

static uint64_t extra_of(const line_figures &figures)
{
    uint64_t extra = 0;
    for (auto &f : figures) extra += f.second.units - f.second.needed;
    return extra;
}

static std::string source_line(const std::string &anchor, size_t number, const std::string &text,
                               const line_figures *figures, uint64_t most)
{
    std::string heat, beside;
    uint64_t extra = figures ? extra_of(*figures) : 0;
    if (extra) {
        int share = (int)(100.0 * (double)extra / (double)most);
        int level = 1 + std::min(heat_levels - 1, share * heat_levels / 100);
        heat = "<i class=\"h" + std::to_string(level) +
               "\" style=\"width:" + std::to_string(share) + "%\"></i>";
    }
    if (figures)
        for (auto &f : *figures) {
            row r{"", "", f.first.first, f.first.second, f.second};
            beside += std::string("<span>") + (r.extra() ? "<b>" : "") + name_of(r) +
                      (r.extra() ? "</b> " : " ") + std::to_string(r.sum.requests) + " &times; " +
                      taken_by(r.sum, r.space) + "</span>";
        }
    return "<div class=\"line\"" + (figures ? " id=\"" + anchor + "\"" : "") +
           "><span class=\"heat\">" + heat + "</span><span class=\"no\">" + std::to_string(number) +
           "</span><span class=\"text\">" + escaped(shortened(text)) + "</span>" +
           (figures ? "<span class=\"figures\">" + beside + "</span>" : "") + "</div>\n";
}

/* Adds the lines of one file that have figures, with those around them; false if the page is full. */
static bool add_source(std::string &page, const page_source &source, const std::string &file_anchor,
                       uint64_t most, std::set<std::string> &shown)
{
    size_t last = source.text.empty() ? source.figures.rbegin()->first : source.text.size(),
           before = 0;
    for (size_t number = 1; number <= last; number++) {
        auto near = source.figures.lower_bound(number > context_lines ? number - context_lines : 1);
        auto has = source.figures.find(number);
        if (source.text.empty()
                ? has == source.figures.end()
                : near == source.figures.end() || near->first > number + context_lines)
            continue;
        if (page.size() > most_of_source) return false;
        if (number != before + 1)
            page += "<div class=\"line\"><span class=\"gap\">...</span></div>\n";
        before = number;
        std::string anchor = file_anchor + "l" + std::to_string(number);
        bool any = has != source.figures.end();
        if (any) shown.insert(anchor);
        page += source_line(anchor, number, source.text.empty() ? "" : source.text[number - 1],
                            any ? &has->second : nullptr, most);
    }
    return true;
}

static std::string source_section(const page_sources &sources, std::set<std::string> &shown)
{
    std::string page =
        "<h2 id=\"source\">Source</h2>\n<p class=\"soft\">The strip says what a line takes beyond "
        "need; "
        "the longest belongs to the worst line. Beside it: requests &times; what each takes.</p>\n";
    uint64_t most = 1;
    size_t number = 0;
    for (auto &s : sources)
        for (auto &line : s.second.figures) most = std::max(most, extra_of(line.second));
    for (auto &s : sources) {
        page += "<details open><summary>" + escaped(s.first) + "</summary>\n";
        if (s.second.text.empty())
            page += "<p>The file was not found from where the program ran: there are figures "
                    "alone.</p>\n";
        if (s.second.changed) page += "<p>The file was changed after the program was built.</p>\n";
        page += "<div class=\"code\">\n";
        bool whole = add_source(page, s.second, "f" + std::to_string(number++), most, shown);
        page += "</div></details>\n";
        if (whole) continue;
        page += "<p>More lines would make the page too long. CUCC_REPORT=FILE.csv has all of "
                "them.</p>\n";
        break;
    }
    return page;
}

/* ---- the other sections ---------------------------------------------------------------------- */

static std::string worst_section(const run_report &report, const page_sources &sources,
                                 const std::set<std::string> &shown)
{
    std::string page = "<h2 id=\"worst\">The worst lines</h2>\n";
    if (report.kernels.empty()) return page + "<p>No kernel was launched.</p>\n";
    if (report.ranked.empty() || !report.ranked[0].extra())
        return page + "<p>No line takes more than it needs.</p>\n";
    for (size_t n = 0; n < report.ranked.size() && n < worst_lines && report.ranked[n].extra();
         n++) {
        const row &r = report.ranked[n];
        auto place = place_of(r.line);
        auto source = sources.find(place.first);
        page_advice advice = advise(r);
        page += "<section class=\"worst\"><h3>" + std::to_string(n + 1) + ". " +
                link_to(sources, shown, r.line) + ": " + name_of(r) + ", " +
                taken_by(r.sum, r.space) + "</h3>\n";
        if (source != sources.end() && place.second <= source->second.text.size()) {
            const std::string &text = source->second.text[place.second - 1];
            size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
            page += "<code>" + escaped(shortened(text.substr(begin))) + "</code>\n";
        }
        page += "<p class=\"soft\">kernel " + escaped(shortened(r.kernel)) + ": " +
                std::to_string(r.sum.requests) + " requests take " + std::to_string(r.extra()) +
                " " + unit_of(r.space) + " beyond need</p>\n";
        page += "<p>" + escaped(advice.is) + "</p>\n<p><b>Right:</b> " + escaped(advice.right) +
                "</p>\n";
        page += std::string("<details") + (n == 0 ? " open" : "") +
                "><summary>One warp, as it is and laid out well</summary><div class=\"pair\">\n" +
                warp_figure(r.sum.worst, r.space, false) +
                warp_figure(laid_out_well(r.sum.worst, r.space), r.space, true) +
                "</div></details></section>\n";
    }
    return page;
}

static std::string bar(const std::string &name, double share, const std::string &value, bool least)
{
    char width[32];
    snprintf(width, sizeof width, "%.0f%%", 100 * std::min(1.0, share));
    return std::string("<div class=\"bar") + (least ? " least" : "") + "\"><span>" + name +
           "</span><div><i style=\"width:" + width + "\"></i></div><span>" + value +
           "</span></div>\n";
}

static std::string occupancy_bars(const kernel_report &k)
{
    const gpu_figures &gpu = environment().gpu;
    occupancy o = occupancy_of(k);
    char share[32];
    snprintf(share, sizeof share, "%.0f%%", 100 * o.share);
    std::string page = bar("occupancy", o.share, share, false);
    for (auto &limit : o.limits)
        page += bar(limit.first, (double)limit.second / gpu.blocks,
                    count_of(limit.second, "blocks"), limit.first == std::string(o.limit));
    page += "<p class=\"soft\">Blocks that a multiprocessor would take by each of its limits; ";
    page += std::string(o.limit) + " bound" + (strcmp(o.limit, "shared memory") ? "" : "s") +
            " it. Registers: " +
            (cucc_options.registers ? std::to_string(cucc_options.registers) + " a thread"
                                    : "not stated (--registers N)") +
            ".</p>\n";
    return page;
}

static std::string kernel_table(const run_report &report, const std::string &kernel,
                                const page_sources &sources, const std::set<std::string> &shown,
                                size_t room)
{
    std::string page =
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"figures by "
        "line\"><table><tr><th>line</th><th>what</th>"
        "<th>requests</th><th>each takes</th><th>needs</th><th>used</th><th>extra</th></tr>\n";
    for (const row &r : report.rows) {
        if (r.kernel != kernel) continue;
        if (page.size() > room) return page + "</table></div><p>More lines are left out.</p>\n";
        double n = (double)r.sum.requests;
        std::string used;
        if (r.space == global_space)
            used = figure_of(std::round(100.0 * (double)r.sum.bytes /
                                        (double)(r.sum.units * sector_bytes))) +
                   "%";
        page += "<tr><td>" + link_to(sources, shown, r.line) + "</td><td>" + name_of(r) +
                "</td><td>" + std::to_string(r.sum.requests) + "</td><td>" +
                figure_of((double)r.sum.units / n) + " " + unit_of(r.space) + "</td><td>" +
                figure_of((double)r.sum.needed / n) + "</td><td>" + used + "</td><td>" +
                std::to_string(r.extra()) + "</td></tr>\n";
    }
    return page + "</table></div>\n";
}

static void add_kernels(std::string &page, const run_report &report, const page_sources &sources,
                        const std::set<std::string> &shown)
{
    const char *gpu = environment().gpu.name;
    page += std::string("<h2 id=\"kernels\">Kernels, on ") +
            (*gpu ? gpu : "compute capability 7.0") + "</h2>\n";
    size_t left = report.kernels.size();
    for (auto &k : report.kernels) {
        if (page.size() > most_of_kernels) break;
        left--;
        page += "<section class=\"kernel\"><h3>" + escaped(shortened(k.first)) +
                "</h3><p class=\"soft\">" + "launches " + std::to_string(k.second.launches) +
                ", threads of a block " + std::to_string(k.second.threads) +
                ", bytes of shared memory " + std::to_string(k.second.shared) + "</p>\n" +
                occupancy_bars(k.second);
        page += "<details><summary>Its lines</summary>\n" +
                kernel_table(report, k.first, sources, shown,
                             most_of_kernels - std::min<size_t>(page.size(), most_of_kernels)) +
                "</details></section>\n";
    }
    if (left) page += "<p>" + std::to_string(left) + " more kernels are left out.</p>\n";
}

static std::string make_page(const run_report &report)
{
    std::string program = program_path(), name = escaped(program.substr(program.rfind('/') + 1));
    page_sources sources = read_sources(report.rows);
    std::set<std::string> shown;
    std::string source = source_section(sources, shown);
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
        name + ": what its warps take</title>\n<style>\n" + page_style +
        "\n</style></head><body>\n";
    page += "<h1>" + name +
            ": what its warps take</h1>\n<nav><a href=\"#worst\">Worst lines</a><a "
            "href=\"#source\">Source</a>"
            "<a href=\"#kernels\">Kernels</a></nav>\n";
    page += "<details><summary>What is counted</summary><p>Global memory comes in sectors of 32 "
            "bytes. Shared memory "
            "has 32 banks of 4 bytes; a request takes as many passes as one bank has words to "
            "give. Constant memory "
            "gives one word a turn, an atomic lets one lane after another to a word, and a warp "
            "goes each way of a "
            "branch that one of its lanes goes. Nothing here is a time.</p></details>\n";
    page += worst_section(report, sources, shown) + source;
    add_kernels(page, report, sources, shown);
    return page + "</body></html>\n";
}

bool write_page(const char *path, const run_report &report)
{
    std::string page = make_page(report);
    FILE *file = fopen(path, "w");
    bool written = file && fwrite(page.data(), 1, page.size(), file) == page.size();
    int error = errno;
    if (file && fclose(file) && written) written = false, error = errno;
    if (written)
        fprintf(stderr, "cucc: the page of --report is %s\n", path);
    else
        fprintf(stderr, "cucc: the page of --report cannot be written to %s: %s\n", path,
                strerror(error));
    return written;
}
} // namespace cucc
