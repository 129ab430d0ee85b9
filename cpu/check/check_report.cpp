/* --report: what a GPU would make of the accesses of a warp. An instruction is met by each lane at a time of
 * its own here; the lanes that meet one for the Nth time since the last barrier are taken to meet it at once.
 *
 * Global memory comes in sectors of 32 bytes. Shared memory has 32 banks of 4 bytes: a request takes as many
 * passes as a bank has different words to give; 8 bytes a lane are served to half a warp at a time, 16 bytes to
 * a quarter. Constant memory gives one word at a time. Of an atomic it is counted how many lanes come to the
 * same word, one after another. */
#include "check_report.h"
#include <tuple>

namespace cucc
{
enum { most_instances = 16384 };

struct instruction {
    uint32_t code;
    int space;
    bool write;
    uint32_t piece; /* of an access that takes several */
    std::vector<instance> instances;
};

struct warp_log {
    std::vector<instruction> instructions;
    std::vector<uint32_t> met[warp_lanes]; /* how often each lane has met each instruction */
    size_t expected = 0;                   /* the instruction that comes next, most likely */
};

struct site {
    std::string kernel;
    uint32_t code;
    int space;
    bool write;
    bool operator<(const site &o) const
    {
        return std::tie(kernel, code, space, write) < std::tie(o.kernel, o.code, o.space, o.write);
    }
};
static std::mutex &report_lock()
{
    static auto *lock = new std::mutex;
    return *lock;
}
static std::map<site, tally> &tallies()
{
    static auto *all = new std::map<site, tally>;
    return *all;
}
static std::map<std::string, kernel_report> &kernels()
{
    static auto *all = new std::map<std::string, kernel_report>;
    return *all;
}
static std::map<worker *, std::vector<warp_log>> &logs()
{
    static auto *all = new std::map<worker *, std::vector<warp_log>>;
    return *all;
}

/* ---- one instruction of a warp --------------------------------------------------------------- */

/* How many different values there are. */
static uint64_t count_different(uint64_t *values, size_t count)
{
    std::sort(values, values + count);
    return (uint64_t)(std::unique(values, values + count) - values);
}

static void tally_global(const instance &i, tally &t)
{
    uint64_t sectors[warp_lanes * 4 + warp_lanes], words[warp_lanes * 4 + warp_lanes];
    size_t count = 0, word_count = 0;
    uint64_t most_bytes = 16;
    for (unsigned int lane = 0; lane < warp_lanes; lane++) {
        if (!(i.lanes >> lane & 1)) continue;
        uint64_t begin = i.address[lane], end = begin + std::min((uint64_t)i.size, most_bytes);
        for (uint64_t a = begin & ~(uint64_t)3; a < end; a += 4) words[word_count++] = a;
        sectors[count++] = begin / sector_bytes;
        if ((end - 1) / sector_bytes != begin / sector_bytes)
            sectors[count++] = (end - 1) / sector_bytes;
    }
    uint64_t bytes = 4 * count_different(words, word_count);
    t.units += count_different(sectors, count);
    t.bytes += bytes;
    t.needed += (bytes + sector_bytes - 1) / sector_bytes;
}

uint64_t passes_of(const instance &i, unsigned int first, unsigned int lanes)
{
    uint64_t words[warp_lanes * 4], most = 0;
    unsigned int of_bank[banks] = {};
    size_t count = 0;
    for (unsigned int lane = first; lane < first + lanes; lane++) {
        if (!(i.lanes >> lane & 1)) continue;
        for (uint64_t a = i.address[lane] & ~(uint64_t)3; a < i.address[lane] + i.size; a += 4)
            if (count < sizeof words / sizeof *words) words[count++] = a / bank_bytes;
    }
    count = count_different(words, count);
    for (size_t w = 0; w < count; w++) most = std::max(most, (uint64_t)++of_bank[words[w] % banks]);
    return most;
}

unsigned int lanes_at_once(const instance &i)
{
    return i.size > 8 ? warp_lanes / 4 : i.size > 4 ? warp_lanes / 2 : warp_lanes;
}

static void tally_shared(const instance &i, tally &t)
{
    unsigned int lanes = lanes_at_once(i);
    for (unsigned int first = 0; first < warp_lanes; first += lanes) {
        uint64_t passes = passes_of(i, first, lanes);
        t.units += passes;
        t.needed += passes > 0;
    }
    t.bytes += (uint64_t)__builtin_popcount(i.lanes) * i.size;
}

static void tally_different(const instance &i, tally &t)
{
    uint64_t values[warp_lanes];
    size_t count = 0;
    for (unsigned int lane = 0; lane < warp_lanes; lane++)
        if (i.lanes >> lane & 1) values[count++] = i.address[lane];
    t.units += count_different(values, count);
    t.needed++;
}

/* Lanes of an atomic that come to the same word. */
static void tally_atomic(const instance &i, tally &t)
{
    uint64_t most = 0;
    for (unsigned int lane = 0; lane < warp_lanes; lane++) {
        uint64_t same = 0;
        for (unsigned int other = 0; other < warp_lanes && i.lanes >> lane & 1; other++)
            same += (i.lanes >> other & 1) && i.address[other] == i.address[lane];
        most = std::max(most, same);
    }
    t.units += most;
    t.needed++;
    t.bytes += (uint64_t)__builtin_popcount(i.lanes) * i.size;
}

tally tally_of(const instance &i, int space)
{
    tally t;
    t.requests = 1;
    if (space == global_space)
        tally_global(i, t);
    else if (space == shared_space)
        tally_shared(i, t);
    else if (space == global_atomic || space == shared_atomic)
        tally_atomic(i, t);
    else
        tally_different(i, t);
    return t;
}

void tally::add(const tally &other)
{
    requests += other.requests;
    units += other.units;
    needed += other.needed;
    bytes += other.bytes;
    if (!worst.lanes || other.worst_extra > worst_extra) {
        worst = other.worst;
        worst_extra = other.worst_extra;
    }
}

static void take_stock(const std::string &kernel, warp_log &log)
{
    for (instruction &in : log.instructions) {
        tally sum;
        for (const instance &i : in.instances) {
            tally one = tally_of(i, in.space);
            one.worst_extra = one.units - one.needed;
            if (!sum.requests || one.worst_extra > sum.worst_extra) one.worst = i;
            sum.add(one);
        }
        if (!sum.requests) continue;
        tallies()[{kernel, in.code, in.space, in.write}].add(sum);
        in.instances.clear();
    }
    for (auto &met : log.met) std::fill(met.begin(), met.end(), 0);
}

/* ---- what the hooks tell --------------------------------------------------------------------- */

static std::vector<warp_log> &log_of(worker &w)
{
    static thread_local worker *last;
    static thread_local std::vector<warp_log> *found;
    if (last == &w) return *found;
    std::lock_guard<std::mutex> lock(report_lock());
    std::vector<warp_log> &log = logs()[&w];
    if (log.empty()) log.resize(max_warps);
    last = &w;
    found = &log;
    return log;
}

static size_t find_instruction(warp_log &log, uint32_t code, int space, bool write, uint32_t piece)
{
    size_t count = log.instructions.size();
    for (size_t i = 0; i < count; i++) {
        size_t at = (log.expected + i) % count;
        const instruction &in = log.instructions[at];
        if (in.code == code && in.space == space && in.write == write && in.piece == piece)
            return at;
    }
    log.instructions.push_back({code, space, write, piece, {}});
    return count;
}

static void note_lane(worker &w, unsigned int thread, uint64_t address, size_t size, int space,
                      bool write, uint32_t code, uint32_t piece)
{
    warp_log &log = log_of(w)[thread / warp_lanes];
    unsigned int lane = thread % warp_lanes;
    size_t at = find_instruction(log, code, space, write, piece);
    log.expected = at + 1;
    std::vector<uint32_t> &met = log.met[lane];
    if (met.size() <= at) met.resize(at + 1);
    uint32_t time = met[at]++;
    std::vector<instance> &all = log.instructions[at].instances;
    if (time >= most_instances) return;
    if (all.size() <= time) all.resize(time + 1);
    all[time].lanes |= 1u << lane;
    all[time].size = (uint32_t)size;
    all[time].address[lane] = address;
}

static void note_access(worker &w, unsigned int thread, uintptr_t address, size_t size, int space,
                        bool write, uint32_t code)
{
    const size_t word = 4, largest = 16;
    if (space == shared_space) address -= (uintptr_t)w.arena; /* its begin lies in bank 0 */
    if (!(size & (size - 1)) && size <= largest) {
        note_lane(w, thread, address, size, space, write, code, 0);
        return;
    }
    /* A GPU has no such instruction: one for each word. */
    for (size_t i = 0; i < size; i += word)
        note_lane(w, thread, address + i, std::min(word, size - i), space, write, code,
                  (uint32_t)i);
}

/* An atomic begins with a load here, so that such a load is not counted before it is known what follows. */
struct held_load {
    worker *w = nullptr;
    unsigned int thread;
    uintptr_t address;
    size_t size;
    int space;
    uint32_t code;
};
static thread_local held_load held;

static void let_go()
{
    worker *w = held.w;
    held.w = nullptr;
    if (w) note_access(*w, held.thread, held.address, held.size, held.space, false, held.code);
}

void report_access(worker &w, uintptr_t address, size_t size, report_space space, int kind,
                   uint32_t code)
{
    bool strong_read = kind & access_strong && kind & access_reads;
    bool atomic = strong_read && kind & (access_writes | access_compares);
    bool begun = held.w == &w && held.thread == w.current && held.address == address;
    if (atomic && begun)
        held.w = nullptr;
    else
        let_go();
    if (atomic)
        note_access(w, w.current, address, size,
                    space == shared_space ? shared_atomic : global_atomic, true, code);
    else if (strong_read)
        held = {&w, w.current, address, size, space, code};
    else
        note_access(w, w.current, address, size, space, (kind & access_writes) != 0, code);
}

/* The rewriter has put this around the conditions of if, for and while. */
void note_branch(bool taken)
{
    if (self && self->check && cucc_options.report)
        note_lane(*self, self->current, taken, 0, branch_space, false,
                  (uint32_t)(uintptr_t)__builtin_return_address(0), 0);
}

/* A kernel that is launched at several lines is told apart. */
std::string name_of(const launch_state &launch)
{
    return std::string(launch.request.kernel) + ", launched at " + at(launch.request.launched_at);
}

/* At a barrier, and when a block has ended. */
void report_block(worker &w)
{
    let_go();
    std::vector<warp_log> &log = log_of(w);
    std::lock_guard<std::mutex> lock(report_lock());
    std::string kernel = name_of(*w.launch);
    for (unsigned int warp = 0; warp * warp_lanes < w.threads; warp++)
        take_stock(kernel, log[warp]);
    kernel_report &k = kernels()[kernel];
    k.shared = std::max(k.shared, w.shared_bytes);
}

void report_launch(launch_state &launch)
{
    std::lock_guard<std::mutex> lock(report_lock());
    for (auto &log : logs())
        for (warp_log &warp : log.second) warp = warp_log(); /* instructions of another kernel */
    kernel_report &k = kernels()[name_of(launch)];
    k.launches++;
    k.threads = std::max(k.threads, launch.threads);
}

/* ---- occupancy ------------------------------------------------------------------------------- */

occupancy occupancy_of(const kernel_report &k)
{
    const size_t register_unit = 256, shared_unit = 128, reserved = 1024;
    const gpu_figures &gpu = environment().gpu;
    size_t warps = (k.threads + warp_lanes - 1) / warp_lanes;
    occupancy o;
    o.limits.push_back({"blocks", (size_t)gpu.blocks});
    o.limits.push_back({"threads", (size_t)gpu.threads / (warps * warp_lanes)});
    size_t shared = k.shared + (gpu.major >= 8 ? reserved : 0);
    shared = (shared + shared_unit - 1) / shared_unit * shared_unit;
    if (shared) o.limits.push_back({"shared memory", (size_t)gpu.shared / shared});
    size_t registers = (size_t)cucc_options.registers * warp_lanes;
    registers = (registers + register_unit - 1) / register_unit * register_unit;
    if (registers) o.limits.push_back({"registers", (size_t)gpu.registers / (registers * warps)});
    auto least = o.limits[0];
    for (auto &limit : o.limits)
        if (limit.second < least.second) least = limit;
    o.limit = least.first;
    o.blocks = (unsigned int)least.second;
    o.share = (double)(least.second * warps * warp_lanes) / gpu.threads;
    return o;
}

/* ---- the table ------------------------------------------------------------------------------- */

bool natural_order::operator()(const std::string &a, const std::string &b) const
{
    const char *x = a.c_str(), *y = b.c_str();
    while (*x && *y) {
        if (isdigit(*x) && isdigit(*y)) {
            char *after_x, *after_y;
            unsigned long m = strtoul(x, &after_x, 10), n = strtoul(y, &after_y, 10);
            if (m != n) return m < n;
            x = after_x, y = after_y;
            continue;
        }
        if (*x != *y) return *x < *y;
        x++, y++;
    }
    return *x || *y ? !*x : a < b;
}

struct row_order {
    bool operator()(const row &a, const row &b) const
    {
        natural_order before;
        if (a.kernel != b.kernel) return before(a.kernel, b.kernel);
        if (a.line != b.line) return before(a.line, b.line);
        return std::tie(a.space, a.write) < std::tie(b.space, b.write);
    }
};

static std::vector<row> make_rows()
{
    std::vector<uint32_t> codes;
    for (auto &t : tallies()) codes.push_back(t.first.code);
    std::vector<std::string> lines = lines_of(codes);
    std::map<std::string, std::string> names;
    for (auto &k : kernels()) names[k.first] = resolved(k.first);
    std::map<row, tally, row_order> sums;
    size_t n = 0;
    for (auto &t : tallies()) {
        sums[{names[t.first.kernel], lines[n++], t.first.space, t.first.write, {}}].add(t.second);
    }
    std::vector<row> rows;
    for (auto &s : sums) {
        rows.push_back(s.first);
        rows.back().sum = s.second;
    }
    return rows;
}

const char *name_of(const row &r)
{
    switch (r.space) {
    case global_space: return r.write ? "global store" : "global load";
    case shared_space: return r.write ? "shared store" : "shared load";
    case constant_space: return "constant load";
    case global_atomic: return "global atomic";
    case shared_atomic: return "shared atomic";
    default: return "branch";
    }
}

const char *unit_of(int space)
{
    static const char *const units[spaces] = {"sectors", "passes", "turns",
                                              "ways",    "turns",  "turns"};
    return units[space];
}

static std::string verdict(const row &r)
{
    char text[128];
    double requests = (double)r.sum.requests;
    snprintf(text, sizeof text, "%6.4g %-8s%7.4g", (double)r.sum.units / requests, unit_of(r.space),
             (double)r.sum.needed / requests);
    return text;
}

static void print_row(FILE *file, const char *mark, const row &r)
{
    char used[16] = "";
    if (r.space == global_space)
        snprintf(used, sizeof used, "%.0f%%",
                 100.0 * (double)r.sum.bytes / (double)(r.sum.units * sector_bytes));
    fprintf(file, "%-2s%-34s%-14s%10lu  %s%8s%12lu\n", mark, r.line.c_str(), name_of(r),
            r.sum.requests, verdict(r).c_str(), used, r.extra());
}

static void print_head(FILE *file)
{
    fprintf(file, "  %-34s%-14s%10s  %-15s%7s%8s%12s\n", "line", "what", "requests", "each takes",
            "needs", "used", "extra");
}

static void print_kernel(FILE *file, const std::string &name, const kernel_report &k)
{
    const gpu_figures &gpu = environment().gpu;
    occupancy o = occupancy_of(k);
    fprintf(file, "\nkernel %s: launches %lu, threads of a block %u, bytes of shared memory %zu\n",
            name.c_str(), k.launches, k.threads, k.shared);
    fprintf(file, "occupancy on %s: %u blocks, %.0f%% of the warps; limit: %s; registers: ",
            *gpu.name ? gpu.name : "compute capability 7.0", o.blocks, 100 * o.share, o.limit);
    if (cucc_options.registers)
        fprintf(file, "%d\n", cucc_options.registers);
    else
        fprintf(file, "not stated (--registers N)\n");
}

static void print_csv(const char *path, const std::vector<row> &rows)
{
    FILE *file = fopen(path, "a");
    if (!file) {
        perror(path);
        return;
    }
    for (const row &r : rows)
        fprintf(file, "\"%s\",%s,%s,%lu,%lu,%lu\n", r.kernel.c_str(), r.line.c_str(), name_of(r),
                r.sum.requests, r.sum.units, r.sum.needed);
    bool lost = ferror(file);
    if (fclose(file) || lost) perror(path);
}

static void print_worst(FILE *file, const std::vector<row> &ranked)
{
    fprintf(file, "\nThe worst lines, by what they take beyond need:\n");
    print_head(file);
    for (size_t i = 0; i < ranked.size() && i < worst_lines && ranked[i].extra(); i++)
        print_row(file, std::to_string(i + 1).c_str(), ranked[i]);
}

run_report make_report()
{
    run_report report;
    report.rows = report.ranked = make_rows();
    std::stable_sort(report.ranked.begin(), report.ranked.end(),
                     [](const row &a, const row &b) { return a.extra() > b.extra(); });
    std::map<std::string, kernel_report, natural_order> by_name;
    for (auto &k : kernels()) {
        kernel_report &sum = by_name[resolved(k.first)];
        sum.launches += k.second.launches;
        sum.threads = std::max(sum.threads, k.second.threads);
        sum.shared = std::max(sum.shared, k.second.shared);
    }
    report.kernels.assign(by_name.begin(), by_name.end());
    return report;
}

void print_report()
{
    FILE *file = stderr;
    run_report report = make_report();
    const char *path = getenv("CUCC_REPORT");
    if (path && *path) {
        print_csv(path, report.rows);
        return;
    }
    if (report.kernels.empty())
        fprintf(file, "\nNo kernel was launched.\n");
    else if (report.ranked.empty() || !report.ranked[0].extra())
        fprintf(file, "\nNo line takes more than it needs.\n");
    else
        print_worst(file, report.ranked);
    for (auto &k : report.kernels) {
        print_kernel(file, k.first, k.second);
        print_head(file);
        for (const row &r : report.rows)
            if (r.kernel == k.first) print_row(file, "", r);
    }
}
} // namespace cucc
