/* The page of a run, --html: what its parts share.
 *
 * check_page.cpp         the page as a whole, and how it is written
 * check_page_source.cpp  lines of the program: excerpts, and all of them with the figures of --report
 * check_page_faults.cpp  what --check has told, each fault with its places
 * check_page_kernels.cpp the worst lines of --report, and each kernel with its blocks
 * check_page_warp.cpp    one warp of a line, drawn, and what would be right
 * check_grids.cpp        the blocks of launches, as they ran */
#ifndef CUCC_CHECK_PAGE_H
#define CUCC_CHECK_PAGE_H

#include "check_report.h"
#include <set>

namespace cucc
{
/* ---- what is kept for it --------------------------------------------------------------------- */

void grid_fault(uint64_t finding); /* the block that runs has come to it */

/* A line that a message names, and what the message says of it. */
struct told_place {
    std::string label, line;
};

/* What --check has printed, with all findings that were the same. */
struct told_fault {
    std::string kind, where, what, right;
    std::vector<told_place> places;
    std::vector<uint64_t> findings; /* their numbers */
    uint64_t times = 0;             /* that it happened, when the page is written */
};
std::vector<told_fault> faults_for_page();
std::vector<std::string> notes_for_page();
uint64_t faults_untold();

/* The blocks of one launch; of all launches of a kernel at a line, the first with a fault. */
struct kernel_grid {
    std::string kernel; /* and the line of its launch */
    dim3 grid, block, cluster;
    bool cooperative = false;
    uint64_t launches = 0, faulty = 0, drawn = 0; /* drawn: the number of this one */
    uint64_t begun = 0;                           /* blocks */
    std::vector<uint32_t> order; /* of each block: the how manieth it was; 0: it did not run */
    std::map<uint64_t, std::vector<bool>> faults; /* by the number of the finding: its blocks */
};
std::vector<kernel_grid> grids_for_page();

/* ---- texts ----------------------------------------------------------------------------------- */

std::string escaped(const std::string &text);
std::string shortened(const std::string &text);
std::string figure_of(double value);
std::string count_of(uint64_t n, const std::string &plural);
std::string units_of(double n, int space);
std::string taken_by(const tally &t,
                     int space); /* "32 sectors, needs 4" for each request of a row */

/* ---- lines of the program: check_page_source.cpp --------------------------------------------- */

using line_figures = std::map<std::pair<int, bool>, tally>; /* by what */
struct page_source {
    std::vector<std::string> text; /* empty: it was not found */
    bool changed = false;          /* since the program was built */
    std::map<size_t, line_figures> figures;
};
using page_sources = std::map<std::string, page_source>;

std::string program_path();
/* FILE:LINE; a line that is not known has line 0. */
std::pair<std::string, size_t> place_of(const std::string &line);
page_sources read_sources(const std::vector<row> &rows, const std::vector<told_fault> &faults);
/* Which lines a page shows is known once the section is made; it has at most ROOM bytes. */
std::string source_section(const page_sources &sources, std::set<std::string> &shown, size_t room);
std::string link_to(const page_sources &sources, const std::set<std::string> &shown,
                    const std::string &line);
/* The line with some around it; MOST lines on each side. */
std::string excerpt(const page_sources &sources, const std::string &line, size_t most);

/* ---- sections -------------------------------------------------------------------------------- */

struct page_advice {
    std::string is, right;
};
page_advice advise(const row &r);
instance laid_out_well(const instance &i, int space);
std::string warp_figure(const instance &i, int space, bool good);

std::string faults_section(const std::vector<told_fault> &faults,
                           const std::vector<kernel_grid> &grids, const page_sources &sources);
std::string notes_section(const std::vector<std::string> &notes);

std::string worst_section(const run_report &report, const page_sources &sources,
                          const std::set<std::string> &shown);
/* Until PAGE has MOST bytes. */
void add_kernels(std::string &page, const run_report &report, const std::vector<kernel_grid> &grids,
                 const std::vector<told_fault> &faults, const page_sources &sources,
                 const std::set<std::string> &shown, size_t most);
} // namespace cucc

#endif
