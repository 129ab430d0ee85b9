/* The page of a run as a whole. It needs no network and no script; colours follow the reader's choice of light or
 * dark. It stays below a megabyte: of long programs lines without figures go first, then the last ones, and the
 * page says so. It is written beside its place and then moved there, so that what is there is always whole. */
#include "check_page.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cucc
{
enum {
    most_of_source = 550 * 1000, /* bytes of the page */
    most_of_kernels = 900 * 1000,
    most_of_line = 300, /* bytes of a line of code or of a kernel's name */
};

static const char *const page_style =
    R"(:root{color-scheme:light dark;--back:#fff;--front:#1c2127;--soft:#5b6570;--line:#d5dae0;--box:#f4f6f8;
--link:#0a58b8;--bad:#b3261e;--good:#1b6e3c;--h1:#fbe3b6;--h2:#f7c26b;--h3:#ee9440;--h4:#d9622f;--h5:#b3261e;--hit:#fff0c2}
@media (prefers-color-scheme:dark){:root{--back:#14181d;--front:#e4e8ec;--soft:#9aa5b1;--line:#39424c;
--box:#1d232a;--link:#7db7ff;--bad:#ff8a80;--good:#7fd6a0;--h1:#5a4519;--h2:#86611a;--h3:#b9762a;
--h4:#df7f45;--h5:#ff8a80;--hit:#40340f}}
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
.worst,.kernel,.fault{border:1px solid var(--line);border-radius:.4rem;padding:.2rem .8rem .6rem;margin:.6rem 0}
.worst>code{display:block;background:var(--box);padding:.4rem .6rem;white-space:pre-wrap}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}
figure{margin:.6rem 0}svg{display:block;width:100%;height:auto;background:var(--box);border-radius:.3rem}
svg text{font:11px system-ui,sans-serif;fill:var(--front)}
.lane{fill:var(--link)}.off{fill:none;stroke:var(--soft)}.cell{fill:none;stroke:var(--soft);stroke-width:.7}
.bad .used{fill:var(--bad)}.bad .wire{stroke:var(--bad)}.good .used{fill:var(--good)}.good .wire{stroke:var(--good)}
.wire{stroke-width:.8;opacity:.7}
.bad figcaption b{color:var(--bad)}.good figcaption b{color:var(--good)}
h4{font-size:.95rem;margin:.4rem 0 0}.kinds{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;padding:0}
.kinds li{border:1px solid var(--bad);border-radius:1rem;padding:.1rem .8rem}
.none,.right b{color:var(--good)}.fault>h3{color:var(--bad)}:target{scroll-margin-top:1rem}
.fault:target,.kernel:target{outline:2px solid var(--link)}
.plain .line{grid-template-columns:3.8rem minmax(0,1fr)}.hit{background:var(--hit);font-weight:600}
.hit .no{color:var(--front)}
.ran{fill:var(--link)}.idle{fill:none;stroke:var(--soft)}.found{fill:var(--bad)}
svg .n{font-size:9px;text-anchor:middle}svg .on{fill:var(--back);font-weight:700}
.code{border:1px solid var(--line);border-radius:.4rem;overflow:hidden;margin:.4rem 0}
.line{display:grid;grid-template-columns:3rem 3.5rem minmax(0,1fr) minmax(0,21rem);line-height:1.45}
.line:target{background:var(--box);outline:2px solid var(--link);outline-offset:-2px}
.heat{background:var(--box)}.heat i{display:block;height:100%;min-height:1.2em;min-width:3px}
.h1{background:var(--h1)}.h2{background:var(--h2)}.h3{background:var(--h3)}.h4{background:var(--h4)}
.h5{background:var(--h5)}
.no{color:var(--soft);text-align:right;padding-right:.8rem}.text{white-space:pre-wrap;padding-right:.5rem}
.figures{padding-left:.6rem}.figures span{display:block}.gap{grid-column:1/-1;padding-left:7rem;color:var(--soft)}
.bar{display:grid;grid-template-columns:8rem minmax(0,1fr) 6rem;gap:.6rem;align-items:center;font-size:.9rem}
.bar div{background:var(--box);border:1px solid var(--line);height:1rem}.bar i{display:block;height:100%;
background:var(--link)}.least i{background:var(--h4)}
.wide{overflow-x:auto}table{border-collapse:collapse}td,th{padding:.15rem .7rem;text-align:right;white-space:nowrap}
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}
@media (max-width:45rem){.line{grid-template-columns:1rem 2.8rem minmax(0,1fr)}.figures{grid-column:3;
padding:0 0 .3rem;color:var(--soft)}.bar{grid-template-columns:6rem minmax(0,1fr) 4.5rem}.gap{padding-left:4rem}})";

/* ---- texts ----------------------------------------------------------------------------------- */

std::string escaped(const std::string &text)
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

std::string shortened(const std::string &text)
{
    return text.size() <= most_of_line ? text : text.substr(0, most_of_line) + " ...";
}

std::string figure_of(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string count_of(uint64_t n, const std::string &plural)
{
    return std::to_string(n) + " " + (n == 1 ? plural.substr(0, plural.size() - 1) : plural);
}

std::string units_of(double n, int space)
{
    std::string plural = unit_of(space), one = space == shared_space ? "pass" : plural;
    if (space != shared_space) one.pop_back();
    return figure_of(n) + " " + (n == 1 ? one : plural);
}

std::string taken_by(const tally &t, int space)
{
    double n = (double)t.requests;
    std::string taken = units_of((double)t.units / n, space);
    return t.units == t.needed ? taken : taken + ", needs " + figure_of((double)t.needed / n);
}

/* ---- the page -------------------------------------------------------------------------------- */

static std::string head_of(const std::string &title, const std::string &links)
{
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
           title + "</title>\n<style>\n" + page_style + "\n</style></head><body>\n<h1>" + title +
           "</h1>\n<nav>" + links + "</nav>\n";
}

static std::string link(const char *anchor, const char *text)
{
    return std::string("<a href=\"#") + anchor + "\">" + text + "</a>";
}

static const char *const what_is_counted =
    "<details><summary>What is counted</summary><p>Global memory comes in sectors of 32 bytes. "
    "Shared memory has 32 banks of 4 bytes; a request takes as many passes as one bank has words "
    "to give. Constant memory gives one word a turn, an atomic lets one lane after another to a "
    "word, and a warp goes each way of a branch that one of its lanes goes. Nothing here is a "
    "time.</p></details>\n";

static std::string title_of(const std::string &program, size_t faults)
{
    if (!cucc_options.check) return program + ": what its warps take";
    return program + ": " + (faults ? count_of(faults, "faults") : "no faults");
}

/* WHOLE: the figures of --report are. */
static std::string make_page(const std::string &how_it_ended, bool whole)
{
    std::string path = program_path(), program = escaped(path.substr(path.rfind('/') + 1));
    bool check = cucc_options.check, counted = cucc_options.report && whole;
    run_report report;
    if (counted) report = make_report();
    std::vector<told_fault> faults = faults_for_page();
    std::vector<std::string> notes = notes_for_page();
    std::vector<kernel_grid> grids = grids_for_page();
    page_sources sources = read_sources(report.rows, faults);
    std::set<std::string> shown;
    std::string told = check ? faults_section(faults, grids, sources) + notes_section(notes) : "";
    std::string source;
    if (counted)
        source = source_section(sources, shown,
                                most_of_source - std::min<size_t>(told.size(), most_of_source));
    std::string page =
        head_of(title_of(program, faults.size()),
                (check ? link("faults", "Faults") : "") +
                    (check && !notes.empty() ? link("notes", "Notes") : "") +
                    (counted ? link("worst", "Worst lines") : "") +
                    (counted ? link("source", "Source") : "") + link("kernels", "Kernels"));
    if (!how_it_ended.empty()) page += "<p><b>" + escaped(how_it_ended) + "</b></p>\n";
    page += told;
    if (counted) page += what_is_counted + worst_section(report, sources, shown) + source;
    add_kernels(page, report, grids, faults, sources, shown, most_of_kernels);
    return page + "</body></html>\n";
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_page(const std::string &path)
{
    const std::string end = ".html";
    return path.size() > end.size() && !path.compare(path.size() - end.size(), end.size(), end);
}

static std::string page_as_asked()
{
    const char *path = getenv("CUCC_REPORT");
    if (!path || !*path) return cucc_options.page;
    if (is_page(path)) return path;
    return cucc_options.report ? "" : cucc_options.page; /* a table as CSV */
}

static std::string folder()
{
    char path[4096];
    return getcwd(path, sizeof path) ? path : ".";
}

/* Empty: none is wanted. A program may change its folder. */
static std::string page_path()
{
    static const std::string begun_in = folder();
    std::string path = page_as_asked();
    return path.empty() || path[0] == '/' || folder() == begun_in ? path : begun_in + "/" + path;
}

static bool write_text(const std::string &path, const std::string &text)
{
    FILE *file = fopen(path.c_str(), "w");
    if (!file) return false;
    bool written = fwrite(text.data(), 1, text.size(), file) == text.size();
    int error = errno;
    if (fclose(file)) return false;
    errno = error;
    return written;
}

/* A device or a pipe is written to as it is, and so is a file in a folder that takes no new one. */
static bool replace(const std::string &path, const std::string &text)
{
    char *known = realpath(path.c_str(), nullptr);
    std::string target = known ? known : path;
    free(known);
    struct stat is;
    bool there = !stat(target.c_str(), &is);
    if (there && (!S_ISREG(is.st_mode) || access(target.c_str(), W_OK)))
        return write_text(target, text);
    std::string beside =
        target.substr(0, target.rfind('/') + 1) + ".cucc-" + std::to_string(getpid()) + ".part";
    bool done = write_text(beside, text) && !rename(beside.c_str(), target.c_str());
    int error = errno;
    if (!done) unlink(beside.c_str());
    errno = error;
    return done || (there && (error == EACCES || error == EROFS) && write_text(target, text));
}

static bool write_page(const std::string &how, bool ended)
{
    std::string path = page_path();
    bool written = replace(path, make_page(how, ended));
    const char *mode = !cucc_options.check   ? "--report"
                       : cucc_options.report ? "--check and --report"
                                             : "--check";
    if (ended && written)
        fprintf(stderr, "cucc: the page of %s is %s\n", mode, path.c_str());
    else if (ended)
        fprintf(stderr, "cucc: the page of %s cannot be written to %s: %s\n", mode, path.c_str(),
                strerror(errno));
    return written;
}

__attribute__((constructor(101))) static void set_run_page()
{
    static const page_of_run page = {grid_fault, write_page};
    if (!page_path().empty()) run_page = &page;
}

void page_at_signal(int signal)
{
    if (run_page)
        write_page(std::string("The program was ended: ") + strsignal(signal) + ".", true);
}
} // namespace cucc
