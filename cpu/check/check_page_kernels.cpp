/* The page of a run: the worst lines of --report, and each kernel with its occupancy, its lines and its blocks. */
#include "check_page.h"
#include <cmath>

namespace cucc
{
enum { /* of blocks that are drawn */
       most_columns = 32,
       most_rows = 16,
       most_cells = most_columns * most_rows,
       few_columns = 8,       /* of which a row of up to 64 blocks is made */
       numbered_columns = 16, /* with the how manieth a block was: more are too small */
};

/* ---- the worst lines ------------------------------------------------------------------------- */

std::string worst_section(const run_report &report, const page_sources &sources,
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

/* ---- blocks ---------------------------------------------------------------------------------- */

/* What is drawn of a grid: cells, each of which stands for PER blocks of x and y. */
struct drawn_grid {
    dim3 blocks; /* a row of many is drawn as several */
    dim3 cells, per;
};

static unsigned int parts(unsigned int all, unsigned int of)
{
    return (all + of - 1) / of;
}

static drawn_grid layout_of(const kernel_grid &g)
{
    drawn_grid d = {g.grid, {1, 1, 1}, {1, 1, 1}};
    if (g.grid.y * g.grid.z == 1)
        for (unsigned int columns : {few_columns, numbered_columns, most_columns})
            if (d.blocks.x > columns &&
                (g.grid.x <= columns * columns || columns == most_columns)) {
                unsigned int row = columns * std::max(1u, parts(g.grid.x, most_cells));
                if (columns < most_columns) row = columns;
                d.blocks = dim3(row, parts(g.grid.x, row), 1);
                break;
            }
    d.per = dim3(parts(d.blocks.x, most_columns), parts(d.blocks.y, most_rows), 1);
    d.cells = dim3(parts(d.blocks.x, d.per.x), parts(d.blocks.y, d.per.y), 1);
    d.cells.z = std::min(d.blocks.z, std::max(1u, most_cells / (d.cells.x * d.cells.y)));
    return d;
}

struct drawn_cell {
    uint32_t first = 0; /* of its blocks; 0: none ran */
    bool there = false, bad = false;
};

static drawn_cell cell_of(const kernel_grid &g, const drawn_grid &d, dim3 at)
{
    drawn_cell cell;
    for (unsigned int y = at.y * d.per.y; y < (at.y + 1) * d.per.y && y < d.blocks.y; y++)
        for (unsigned int x = at.x * d.per.x; x < (at.x + 1) * d.per.x && x < d.blocks.x; x++) {
            size_t block = ((size_t)at.z * d.blocks.y + y) * d.blocks.x + x;
            if (block >= g.order.size()) continue;
            cell.there = true;
            uint32_t order = g.order[block];
            if (order && (!cell.first || order < cell.first)) cell.first = order;
            for (auto &f : g.faults) cell.bad |= block < f.second.size() && f.second[block];
        }
    return cell;
}

static std::string name_of_block(const kernel_grid &g, size_t block)
{
    char text[64];
    snprintf(text, sizeof text, "(%zu,%zu,%zu)", block % g.grid.x, block / g.grid.x % g.grid.y,
             block / g.grid.x / g.grid.y);
    return text;
}

static void draw_cell(std::string &svg, const kernel_grid &g, const drawn_cell &cell, double x,
                      double y, double step, bool numbered)
{
    char text[256], opacity[32] = "";
    const char *kind = cell.bad ? "found" : cell.first ? "ran" : "idle";
    if (!cell.bad && cell.first)
        snprintf(opacity, sizeof opacity, " fill-opacity=\"%.2g\"",
                 .15 + .3 * (double)cell.first / (double)g.begun);
    snprintf(text, sizeof text,
             "<rect class=\"%s\" x=\"%.4g\" y=\"%.4g\" width=\"%.3g\" height=\"%.3g\"%s/>", kind,
             x + .5, y + .5, step - 1, step - 1, opacity);
    svg += text;
    if (!numbered || !cell.first) return;
    snprintf(text, sizeof text, "<text class=\"n%s\" x=\"%.4g\" y=\"%.4g\">%u</text>",
             cell.bad ? " on" : "", x + step / 2, y + step / 2 + 3, cell.first);
    svg += text;
}

static std::string draw_blocks(const kernel_grid &g)
{
    const double most = 320, left = 12, gap = 16,
                 largest = 1.5; /* units; how large one may be in pixels */
    drawn_grid d = layout_of(g);
    double step = std::min(26.0, most / d.cells.x), y = 0, width = step * d.cells.x + 2 * left;
    bool numbered = d.cells.x <= numbered_columns && d.per.x * d.per.y == 1;
    std::string svg;
    char text[256];
    for (unsigned int z = 0; z < d.cells.z; z++) {
        if (g.grid.z > 1) {
            snprintf(text, sizeof text, "<text x=\"%g\" y=\"%g\">z = %u</text>", left, y + 12, z);
            svg += text;
        }
        y += g.grid.z > 1 ? gap : 2;
        for (unsigned int row = 0; row < d.cells.y; row++, y += step)
            for (unsigned int column = 0; column < d.cells.x; column++) {
                drawn_cell cell = cell_of(g, d, {column, row, z});
                if (cell.there) draw_cell(svg, g, cell, left + step * column, y, step, numbered);
            }
    }
    snprintf(text, sizeof text,
             "<svg style=\"max-width:%gpx\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%u by "
             "%u by %u "
             "blocks, of which %lu ran\">",
             largest * width, width, y + 4, g.grid.x, g.grid.y, g.grid.z, g.begun);
    return text + svg + "</svg>";
}

static size_t number_of_fault(const std::vector<told_fault> &faults, uint64_t finding)
{
    for (size_t n = 0; n < faults.size(); n++)
        for (uint64_t own : faults[n].findings)
            if (own == finding) return n + 1;
    return 0;
}

/* "Fault 1 came in 3 blocks, (0,0,0) first." for each; those that were not told are left out. */
static std::string who_found(const kernel_grid &g, const std::vector<told_fault> &faults)
{
    std::map<size_t, std::vector<bool>> by_number;
    for (auto &f : g.faults) {
        size_t number = number_of_fault(faults, f.first);
        std::vector<bool> &blocks = by_number[number];
        blocks.resize(g.order.size());
        for (size_t b = 0; b < f.second.size(); b++)
            if (f.second[b]) blocks[b] = true;
    }
    by_number.erase(0);
    std::string text;
    for (auto &f : by_number) {
        size_t first = 0, count = 0;
        for (size_t b = 0; b < f.second.size(); b++)
            if (f.second[b] && (!count++ || g.order[b] < g.order[first])) first = b;
        if (!count) continue;
        std::string number = std::to_string(f.first);
        text +=
            " <a href=\"#fault" + number + "\">Fault " + number + "</a> came in " +
            (count == 1 ? "block " + name_of_block(g, first)
                        : std::to_string(count) + " blocks, first in " + name_of_block(g, first)) +
            ".";
    }
    return text;
}

static std::string sizes_of(dim3 d)
{
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

static std::string blocks_figure(const kernel_grid &g, const std::vector<told_fault> &faults)
{
    drawn_grid d = layout_of(g);
    uint64_t all = (uint64_t)g.grid.x * g.grid.y * g.grid.z;
    std::string page = "<figure>", caption = "A grid of " + sizes_of(g.grid) + " blocks of " +
                                             sizes_of(g.block) + " threads";
    if (!g.order.empty()) page += draw_blocks(g);
    if (g.launches > 1)
        caption += ", launch " + std::to_string(g.drawn) + " of " + std::to_string(g.launches);
    caption += ". ";
    if (g.order.empty())
        caption += "It is too large to be drawn. ";
    else if (d.per.x * d.per.y > 1)
        caption += "A square stands for " + std::to_string(d.per.x) + " x " +
                   std::to_string(d.per.y) + " blocks; the darker, the later they ran. ";
    else if (d.cells.x <= numbered_columns)
        caption += "The numbers say in which order they ran. ";
    else
        caption += "The darker, the later they ran. ";
    if (d.blocks.x != g.grid.x)
        caption += "The row is drawn in lines of " + std::to_string(d.blocks.x) + ". ";
    if (d.cells.z < g.grid.z)
        caption += std::to_string(g.grid.z - d.cells.z) + " more layers are left out. ";
    if (g.cooperative)
        caption += "They ran at once. ";
    else if (g.cluster.x * g.cluster.y * g.cluster.z > 1)
        caption += "Those of a cluster of " + sizes_of(g.cluster) + " ran at once. ";
    if (g.begun < all)
        caption += count_of(all - g.begun, "blocks") +
                   " did not run, since the launch had failed; " + "they are hollow. ";
    std::string found = who_found(g, faults);
    if (!found.empty()) caption += "Red: a fault was found there." + found;
    return page + "<figcaption>" + caption + "</figcaption></figure>\n";
}

/* ---- kernels --------------------------------------------------------------------------------- */

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

static std::string anchor_of_kernel(const std::vector<kernel_grid> &grids, size_t n)
{
    return n < grids.size() ? " id=\"kernel" + std::to_string(n) + "\"" : "";
}

void add_kernels(std::string &page, const run_report &report, const std::vector<kernel_grid> &grids,
                 const std::vector<told_fault> &faults, const page_sources &sources,
                 const std::set<std::string> &shown, size_t most)
{
    const char *gpu = environment().gpu.name;
    page += std::string("<h2 id=\"kernels\">Kernels") +
            (!cucc_options.report ? ""
             : *gpu               ? std::string(", on ") + gpu
                                  : ", on compute capability 7.0") +
            "</h2>\n";
    if (grids.empty()) page += "<p>No kernel was launched.</p>\n";
    for (size_t n = 0; n < grids.size(); n++) {
        const kernel_grid &g = grids[n];
        if (page.size() > most) {
            page += "<p>" + std::to_string(grids.size() - n) + " more kernels are left out.</p>\n";
            break;
        }
        auto has_name = [&](const std::pair<std::string, kernel_report> &k) {
            return k.first == g.kernel;
        };
        auto k = std::find_if(report.kernels.begin(), report.kernels.end(), has_name);
        bool counted = k != report.kernels.end();
        page += "<section class=\"kernel\"" + anchor_of_kernel(grids, n) + "><h3>" +
                escaped(shortened(g.kernel)) + "</h3><p class=\"soft\">launches " +
                std::to_string(g.launches);
        if (g.faulty) page += ", in " + std::to_string(g.faulty) + " of which a fault was found";
        if (counted)
            page += ", threads of a block " + std::to_string(k->second.threads) +
                    ", bytes of shared memory " + std::to_string(k->second.shared);
        page += "</p>\n";
        if (counted) page += occupancy_bars(k->second);
        page += std::string("<details") + (g.faults.empty() && counted ? "" : " open") +
                "><summary>Its blocks</summary>\n" + blocks_figure(g, faults) + "</details>\n";
        if (counted)
            page +=
                "<details><summary>Its lines</summary>\n" +
                kernel_table(report, g.kernel, sources, shown, most - std::min(page.size(), most)) +
                "</details>\n";
        page += "</section>\n";
    }
}
} // namespace cucc
