/* --report: what check_report.cpp counts, and the page shows (check_page.h). */
#ifndef CUCC_CHECK_REPORT_H
#define CUCC_CHECK_REPORT_H

#include "check_state.h"

namespace cucc
{
enum { sector_bytes = 32, banks = 32, bank_bytes = 4 };

/* One instruction of a warp. */
struct instance {
    uint32_t lanes = 0;
    uint32_t size = 0;
    uint64_t address[warp_lanes] = {}; /* of a branch: whether it was taken */
};

/* Sums over all warps of the program. */
struct tally {
    uint64_t requests = 0, units = 0,
             needed = 0; /* units: sectors, passes, turns, ways of a branch */
    uint64_t bytes = 0;  /* that lanes ask for, each once */
    instance worst;      /* one of those that took most beyond need */
    uint64_t worst_extra = 0;

    void add(const tally &other);
};

struct kernel_report {
    uint64_t launches = 0;
    unsigned int threads = 0;
    size_t shared = 0;
};

/* Of one line and kernel. */
struct row {
    std::string kernel, line;
    int space;
    bool write;
    tally sum;

    uint64_t extra() const
    {
        return sum.units - sum.needed;
    }
};

/* Blocks that a multiprocessor holds at once: the least of what each of its limits lets in. */
struct occupancy {
    unsigned int blocks = 0;
    double share = 0; /* of the warps */
    const char *limit = "";
    std::vector<std::pair<const char *, size_t>> limits;
};

/* All of it, in the order of kernels and lines. */
struct run_report {
    std::vector<row> rows, ranked; /* ranked: what takes most beyond need comes first */
    std::vector<std::pair<std::string, kernel_report>> kernels;
};

enum { worst_lines = 3 };

/* Shared memory is served to this many lanes at a time. */
unsigned int lanes_at_once(const instance &i);
uint64_t passes_of(const instance &i, unsigned int first, unsigned int lanes);
tally tally_of(const instance &i, int space);
occupancy occupancy_of(const kernel_report &k);
const char *name_of(const row &r);
const char *unit_of(int space);

run_report make_report();

/* Numbers in texts by what they count: line 20 before line 100. */
struct natural_order {
    bool operator()(const std::string &a, const std::string &b) const;
};
} // namespace cucc

#endif
