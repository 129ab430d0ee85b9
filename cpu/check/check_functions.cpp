/* What a GPU cannot follow, though the addresses are the same here: functions whose address the host has taken, and
 * objects with virtual functions that it has made. And constants beyond what a GPU has. Uses check_lines.cpp; used by
 * check_hooks.cpp, check_memory.cpp and launches. */
#include "check_state.h"
#include <unordered_map>
#include <unordered_set>

namespace cucc
{
static std::recursive_mutex &functions_lock()
{
    static auto *lock = new std::recursive_mutex;
    return *lock;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* UNIT: of each file its own. A file is a module, where it is not linked for devices. */
void count_constants(size_t size, const void *unit)
{
    const size_t most = 64 * 1024;
    struct of_unit {
        size_t bytes;
        bool told;
    };
    static auto *units = new std::unordered_map<const void *, of_unit>;
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    of_unit &u = (*units)[unit];
    u.bytes += size;
    if (u.bytes <= most || u.told || !cucc_options.check) return;
    u.told = true;
    found("constants", "",
          "the __constant__ variables of a file take " + std::to_string(u.bytes) +
              " bytes up to that of " + at(calling_code()) + ", and a GPU has 65536 for them",
          "a __device__ variable, or device memory");
}

/* ---- functions ------------------------------------------------------------------------------- */

extern "C" char __executable_start[], __data_start[];

static bool is_code(uintptr_t address)
{
    return address >= (uintptr_t)__executable_start && address < (uintptr_t)__data_start;
}

/* Addresses that the device has given: those are right. */
static std::unordered_set<uintptr_t> &of_device()
{
    static auto *all = new std::unordered_set<uintptr_t>;
    return *all;
}

/* The host has got SIZE bytes of the device's, or reads them in managed memory. Where a whole number looks like an address, it
 * passes for one. */
void host_gets(const void *memory, size_t size)
{
    const size_t most = 1 << 16;
    if (size > most || (uintptr_t)memory % sizeof(uintptr_t)) return;
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    for (size_t i = 0; i + sizeof(uintptr_t) <= size; i += sizeof(uintptr_t)) {
        uintptr_t value;
        memcpy(&value, (const char *)memory + i, sizeof value);
        if (is_code(value)) of_device().insert(value);
    }
}

void check_function(const char *kernel, int argument, const void *function)
{
    if (!function || self || !cucc_options.check) return;
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    if (of_device().count((uintptr_t)function)) return;
    found("function", "",
          std::string("kernel ") + kernel + " gets at " + at(calling_code()) + " as argument " +
              std::to_string(argument) +
              " the address of a function that the host has taken, which a GPU cannot call",
          "a __device__ variable that holds it, and cudaMemcpyFromSymbol");
}

/* ---- tables of virtual functions ------------------------------------------------------------- */

/* Where the host has written the address of a table, and what lies in memory that kernels reach. */
static std::map<uintptr_t, uintptr_t> &host_objects()
{
    static auto *all = new std::map<uintptr_t, uintptr_t>;
    return *all;
}
static std::map<uintptr_t, uintptr_t> &objects_of_host()
{
    static auto *all = new std::map<uintptr_t, uintptr_t>;
    return *all;
}
static std::atomic<size_t> copied_objects{0};

static void take_out_objects(uintptr_t begin, uintptr_t end)
{
    auto &all = objects_of_host();
    all.erase(all.lower_bound(begin), all.lower_bound(end));
    copied_objects = all.size();
}

/* The device's own objects have been copied over what the host had made. */
void forget_objects(const void *to, size_t size)
{
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    auto &all = host_objects();
    all.erase(all.lower_bound((uintptr_t)to), all.lower_bound((uintptr_t)to + size));
}

void writes_table(uintptr_t address, uintptr_t table)
{
    const size_t most = 1 << 20; /* objects */
    if ((self && !copied_objects) || !cucc_options.check) return;
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    if (self) return take_out_objects(address, address + 1);
    const watched *m = find_watched(all_watched(), address);
    if (m && !m->symbol) {
        objects_of_host()[address] = table;
        copied_objects = objects_of_host().size();
    } else if (host_objects().size() < most) {
        host_objects()[address] = table;
    }
}

/* A copy to memory that kernels reach, which is done: what was copied may be gone. */
void device_gets(const void *to, const void *from, size_t size)
{
    uintptr_t target = (uintptr_t)to, source = (uintptr_t)from;
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    if (copied_objects) take_out_objects(target, target + size);
    auto &all = host_objects();
    for (auto o = all.lower_bound(source);
         o != all.end() && o->first + sizeof(uintptr_t) <= source + size; ++o) {
        uintptr_t copied = target + (o->first - source), value;
        memcpy(&value, (const void *)copied, sizeof value);
        if (value == o->second) objects_of_host()[copied] = value;
    }
    copied_objects = objects_of_host().size();
}

void kernel_reads_table(const worker &w, uintptr_t address, uint32_t code)
{
    if (!copied_objects) return;
    std::lock_guard<std::recursive_mutex> lock(functions_lock());
    auto object = objects_of_host().find(address);
    if (object == objects_of_host().end() || *(const uintptr_t *)address != object->second) return;
    objects_of_host().erase(object);
    copied_objects = objects_of_host().size();
    found("virtual", here(w),
          "it calls at " + at(code) +
              " a virtual function of an object that the host has made, whose table is the host's",
          "an object that a kernel makes, with new or at an address");
}
} // namespace cucc
