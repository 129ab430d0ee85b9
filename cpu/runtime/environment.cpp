/* The variables CUCC_* of the environment, read when a program first needs the runner. A value that
 * means nothing ends the program with a sentence and status 2. */
#include "watch.h"
#include <string>
#include <thread>
#include <unistd.h>

namespace cucc
{
[[noreturn]] static void refuse(const char *name, const char *wanted, const char *text)
{
    fprintf(stderr, "cucc: %s must be %s, not %s\n", name, wanted, text);
    exit(2);
}

/* A whole number in digits alone that is all of the text; strtoull would take signs and blanks. */
static bool parse_number(const char *text, uint64_t &value)
{
    value = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > (UINT64_MAX - 9) / 10) return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    return true;
}

static uint64_t read_number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
{
    const char *text = getenv(name);
    uint64_t value;
    if (!text || !*text) return otherwise;
    if (parse_number(text, value) && value >= least && value <= most) return value;
    std::string wanted = "a number from " + std::to_string(least);
    if (most != UINT64_MAX) wanted += " to " + std::to_string(most);
    refuse(name, wanted.c_str(), text);
}

/* Half of this machine's memory, as a device has its own; from 4 to 16 GiB. */
static uint64_t usual_memory()
{
    const uint64_t least = (uint64_t)4 << 30, most = (uint64_t)16 << 30;
    uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    return std::min(std::max(half, least), most);
}

static void read_order(settings &s)
{
    const char *text = getenv("CUCC_ORDER");
    if (!text || !*text || !strcmp(text, "forward")) return;
    if (!strcmp(text, "backward"))
        s.order = backward;
    else if (!strncmp(text, "shuffle:", 8) && parse_number(text + 8, s.order_seed))
        s.order = shuffled;
    else
        refuse("CUCC_ORDER", "forward, backward or shuffle:SEED", text);
}

static void read_streams(settings &s)
{
    const char *text = getenv("CUCC_STREAMS");
#ifdef CUCC_CHECK
    s.late_streams = cucc_options.check;
#endif
    if (!text || !*text) return;
    if (!strcmp(text, "now")) {
        s.late_streams = false;
        return;
    }
    if (strncmp(text, "late", 4) ||
        (text[4] && (text[4] != ':' || !parse_number(text + 5, s.late_seed))))
        refuse("CUCC_STREAMS", "now, late or late:SEED", text);
    s.late_streams = true;
}

/* Tables "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide; the
 * multiprocessors and caches are those of NVIDIA's data sheets. */
static gpu_figures read_gpu()
{
    static const gpu_figures none = {"",           7,      0, 0, 2048, 32, 65536, shared_limit,
                                     shared_limit, 1 << 20};
    static const gpu_figures known[] = {
        {"v100", 7, 0, 80, 2048, 32, 65536, 96 << 10, 96 << 10, 6 << 20},
        {"t4", 7, 5, 40, 1024, 16, 65536, 64 << 10, 64 << 10, 4 << 20},
        {"a100", 8, 0, 108, 2048, 32, 65536, 164 << 10, 163 << 10, 40 << 20},
        {"rtx3090", 8, 6, 82, 1536, 16, 65536, 100 << 10, 99 << 10, 6 << 20},
        {"rtx4090", 8, 9, 128, 1536, 24, 65536, 100 << 10, 99 << 10, 72 << 20},
        {"h100", 9, 0, 132, 2048, 32, 65536, 228 << 10, 227 << 10, 50 << 20},
        {"h200", 9, 0, 132, 2048, 32, 65536, 228 << 10, 227 << 10, 50 << 20}};
    const char *text = getenv("CUCC_GPU");
    std::string names;
#ifdef CUCC_CHECK
    if (!text || !*text) text = cucc_options.gpu;
#endif
    if (!text || !*text) return none;
    for (const gpu_figures &gpu : known) {
        if (!strcmp(text, gpu.name)) return gpu;
        names += std::string(names.empty() ? "" : " ") + gpu.name;
    }
    refuse("CUCC_GPU", ("one of " + names).c_str(), text);
}

/* CUCC_FAIL=KIND:N. */
struct failure_plan {
    std::string text, kind;
    uint64_t call = 0; /* 0: none */
};

static failure_plan read_plan(const char *text)
{
    static const char *const kinds[] = {"malloc", "pinned", "copy",  "launch",
                                        "kernel", "stream", "event", "device"};
    failure_plan plan;
    plan.text = text;
    const char *colon = strchr(text, ':');
    plan.kind = plan.text.substr(0, colon ? (size_t)(colon - text) : plan.text.size());
    bool known = false;
    std::string wanted = "KIND:N, N from 1, KIND one of";
    for (const char *kind : kinds) {
        known |= plan.kind == kind;
        wanted += std::string(" ") + kind;
    }
    if (!known || !colon || !parse_number(colon + 1, plan.call) || !plan.call)
        refuse("CUCC_FAIL", wanted.c_str(), text);
    return plan;
}

/* Programs may set the variable while they run; calls are counted from then on. */
bool planted(const char *kind)
{
    static std::mutex lock;
    static failure_plan plan;
    static uint64_t calls;
    const char *text = getenv("CUCC_FAIL");
    if (!text || !*text) return false;
    std::lock_guard<std::mutex> guard(lock);
    if (plan.text != text) plan = read_plan(text), calls = 0;
    return plan.kind == kind && ++calls == plan.call;
}

const settings &environment()
{
    static const settings made = [] {
        settings s;
        s.gpu = read_gpu();
        uint64_t cores = std::thread::hardware_concurrency();
        cores = cores < 1 ? 1 : cores > max_workers ? (uint64_t)max_workers : cores;
        s.devices = (int)read_number("CUCC_DEVICES", 1, 0, max_devices);
        s.memory = read_number("CUCC_MEMORY", usual_memory(), 0, UINT64_MAX);
#ifdef CUCC_CHECK
        cores = 1; /* one block at a time, in order */
        s.workers = 1;
#else
        s.workers = (int)read_number("CUCC_THREADS", cores, 1, max_workers);
#endif
        read_order(s);
        read_streams(s);
        planted("");
        return s;
    }();
    return made;
}
} // namespace cucc
