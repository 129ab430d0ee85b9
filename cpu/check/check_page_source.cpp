/* The page of a run: lines of the program, alone with some around them, or all that have figures of --report. */
#include "check_page.h"
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace cucc
{
enum {
    context_lines = 6, /* that are shown beside one with figures */
    heat_levels = 5,
};

std::string program_path()
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return std::string(path, length > 0 ? (size_t)length : 0);
}

std::pair<std::string, size_t> place_of(const std::string &line)
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

page_sources read_sources(const std::vector<row> &rows, const std::vector<told_fault> &faults)
{
    page_sources all;
    for (const row &r : rows) {
        auto place = place_of(r.line);
        if (place.second) all[place.first].figures[place.second][{r.space, r.write}].add(r.sum);
    }
    for (const told_fault &f : faults)
        for (const told_place &p : f.places)
            if (place_of(p.line).second) all[place_of(p.line).first];
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

std::string link_to(const page_sources &sources, const std::set<std::string> &shown,
                    const std::string &line)
{
    std::string anchor = anchor_of(sources, line);
    if (!shown.count(anchor)) return escaped(shortened(line));
    return "<a href=\"#" + anchor + "\">" + escaped(shortened(line)) + "</a>";
}

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
                       uint64_t most, std::set<std::string> &shown, size_t room)
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
        if (page.size() > room) return false;
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

std::string source_section(const page_sources &sources, std::set<std::string> &shown, size_t room)
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
        size_t file = number++;
        if (s.second.figures.empty()) continue;
        page += "<details open><summary>" + escaped(s.first) + "</summary>\n";
        if (s.second.text.empty())
            page += "<p>The file was not found from where the program ran: there are figures "
                    "alone.</p>\n";
        if (s.second.changed) page += "<p>The file was changed after the program was built.</p>\n";
        page += "<div class=\"code\">\n";
        bool whole = add_source(page, s.second, "f" + std::to_string(file), most, shown, room);
        page += "</div></details>\n";
        if (whole) continue;
        page += "<p>More lines would make the page too long. CUCC_REPORT=FILE.csv has all of "
                "them.</p>\n";
        break;
    }
    return page;
}

/* ---- one line -------------------------------------------------------------------------------- */

std::string excerpt(const page_sources &sources, const std::string &line, size_t most)
{
    auto place = place_of(line);
    auto file = sources.find(place.first);
    if (file == sources.end() || !place.second || place.second > file->second.text.size())
        return "<p class=\"soft\">The file was not found from where the program ran.</p>\n";
    const std::vector<std::string> &text = file->second.text;
    size_t first = place.second > most ? place.second - most : 1;
    size_t last = std::min(text.size(), place.second + most);
    std::string code;
    for (size_t n = first; n <= last; n++) {
        bool is = n == place.second;
        code += std::string("<div class=\"line") + (is ? " hit\" aria-current=\"true" : "") +
                "\"><span class=\"no\">" + (is ? "&#9654; " : "") + std::to_string(n) +
                "</span><span class=\"text\">" + escaped(shortened(text[n - 1])) +
                "</span></div>\n";
    }
    return "<div class=\"code plain\">\n" + code + "</div>\n" +
           (file->second.changed
                ? "<p class=\"soft\">The file was changed after the program was built.</p>\n"
                : "");
}
} // namespace cucc
