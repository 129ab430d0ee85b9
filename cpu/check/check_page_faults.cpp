/* The page of a run: what --check has told, each fault with the lines that it names side by side, what would be
 * right, and how often it came. */
#include "check_page.h"

namespace cucc
{
enum {
    lines_around = 4,
    most_of_faults = 250 * 1000, /* bytes of the section; what comes after has no excerpts */
};

static const char *title_of(const std::string &kind)
{
    static const char *const titles[][2] = {
        {"race", "Race"},
        {"unwritten", "Memory that nobody has written"},
        {"bounds", "Out of bounds"},
        {"misaligned", "Misaligned address"},
        {"in flight", "Missing wait for a copy"},
        {"early", "Missing wait of the host"},
        {"order", "No order between streams"},
        {"host", "Device memory on the host"},
        {"unchecked", "Error that nobody looked at"},
        {"leak", "Leak"},
        {"barrier", "Barrier that not all threads come to"},
        {"warp", "Lanes that do not come together"},
        {"launch", "Failed launch"},
        {"undefined", "Undefined behaviour"},
        {"constants", "Too many constants"},
        {"function", "Function of the host"},
        {"virtual", "Virtual function of the host"},
    };
    for (auto &t : titles)
        if (kind == t[0]) return t[1];
    return "Fault";
}

/* "2 x Race, 1 x Leak" in the order of the page. */
static std::string kinds_of(const std::vector<told_fault> &faults)
{
    std::vector<std::pair<std::string, int>> kinds;
    for (const told_fault &f : faults) {
        auto is = [&](const std::pair<std::string, int> &k) { return k.first == f.kind; };
        auto known = std::find_if(kinds.begin(), kinds.end(), is);
        if (known == kinds.end())
            kinds.push_back({f.kind, 1});
        else
            known->second++;
    }
    std::string text;
    for (auto &k : kinds)
        text += std::string("<li>") + std::to_string(k.second) + " &times; " + title_of(k.first) +
                "</li>";
    return "<ul class=\"kinds\">" + text + "</ul>\n";
}

/* "It came 12 times, in 3 of 16 blocks.", with a link to where these are drawn. */
static std::string how_often(const told_fault &f, const std::vector<kernel_grid> &grids)
{
    std::string text =
        f.times == 1 ? "It came once" : "It came " + std::to_string(f.times) + " times";
    for (size_t n = 0; n < grids.size(); n++) {
        std::vector<bool> blocks(grids[n].order.size());
        bool here = false;
        for (uint64_t finding : f.findings) {
            auto found = grids[n].faults.find(finding);
            if (found == grids[n].faults.end()) continue;
            here = true;
            for (size_t b = 0; b < found->second.size(); b++)
                if (found->second[b]) blocks[b] = true;
        }
        if (!here) continue;
        std::string which = std::to_string(std::count(blocks.begin(), blocks.end(), true)) +
                            " of " + count_of(blocks.size(), "blocks");
        if (grids[n].launches > 1) which += " of launch " + std::to_string(grids[n].drawn);
        return text + ", in <a href=\"#kernel" + std::to_string(n) + "\">" + which + "</a>.";
    }
    return text + ".";
}

/* Where memory was allocated one line says enough. */
static std::string side_of(const told_place &p, const page_sources &sources)
{
    bool allocation = p.label.find("allocated") != p.label.npos;
    return "<div class=\"side\"><h4>" + escaped(p.label) + "</h4><p class=\"soft\">" +
           escaped(shortened(p.line)) + "</p>\n" +
           excerpt(sources, p.line, allocation ? 0 : lines_around) + "</div>\n";
}

static std::string one_fault(size_t number, const told_fault &f,
                             const std::vector<kernel_grid> &grids, const page_sources &sources,
                             bool with_code)
{
    std::string anchor = "fault" + std::to_string(number);
    std::string page = "<section class=\"fault\" id=\"" + anchor + "\"><h3>" +
                       std::to_string(number) + ". " + title_of(f.kind);
    if (!f.places.empty()) page += ", " + escaped(shortened(f.places[0].line));
    page += "</h3>\n<p>" + escaped(f.where + f.what) + "</p>\n<p class=\"soft\">" +
            how_often(f, grids) + "</p>\n";
    if (!f.places.empty() && with_code) {
        page += "<div class=\"pair\">\n";
        for (const told_place &p : f.places) page += side_of(p, sources);
        page += "</div>\n";
    }
    if (!f.right.empty()) page += "<p class=\"right\"><b>Right:</b> " + escaped(f.right) + "</p>\n";
    return page + "</section>\n";
}

std::string faults_section(const std::vector<told_fault> &faults,
                           const std::vector<kernel_grid> &grids, const page_sources &sources)
{
    std::string page = "<h2 id=\"faults\">Faults</h2>\n";
    if (faults.empty())
        return page +
               "<p class=\"none\">No fault was found.</p>\n<p class=\"soft\">What a run does "
               "not reach is not seen: other inputs may show more.</p>\n";
    page += kinds_of(faults);
    bool all_code = true;
    for (size_t n = 0; n < faults.size(); n++) {
        all_code = page.size() < most_of_faults;
        page += one_fault(n + 1, faults[n], grids, sources, all_code);
    }
    if (!all_code) page += "<p>The last ones are told without their lines of code.</p>\n";
    if (faults_untold())
        page += "<p>" + std::to_string(faults_untold()) + " more findings are not told.</p>\n";
    return page;
}

std::string notes_section(const std::vector<std::string> &notes)
{
    if (notes.empty()) return "";
    std::string page = "<h2 id=\"notes\">Notes</h2>\n<ul>\n";
    for (const std::string &text : notes) page += "<li>" + escaped(text) + "</li>\n";
    return page + "</ul>\n";
}
} // namespace cucc
