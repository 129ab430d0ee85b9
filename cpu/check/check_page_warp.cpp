/* The page of a run: what would be right for a line that takes more than it needs, and one warp of it drawn, as
 * it is and laid out well. */
#include "check_page.h"
#include <cmath>

namespace cucc
{
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

page_advice advise(const row &r)
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
instance laid_out_well(const instance &i, int space)
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

std::string warp_figure(const instance &i, int space, bool good)
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
} // namespace cucc
