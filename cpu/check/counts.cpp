/* Counts the loads and stores of kernels, for --count.
 *
 * User code is compiled with g++'s -fsanitize=thread, which calls a function at each access to
 * memory; those functions are here in place of ThreadSanitizer's library. An access counts once
 * whatever its width. Those to local variables are not counted, and atomics apart from them. */
#include "../runtime/watch.h"
#include <algorithm>
#include <map>
#include <string>

namespace cucc
{
static thread_local access_counts counts;
static thread_local size_t last_range; /* where the last global access was */

static bool inside(const memory_range &range, const void *address)
{
    return (uintptr_t)address - range.begin < range.end - range.begin;
}

static bool inside_global_memory(const std::vector<memory_range> &ranges, const void *address)
{
    if (last_range < ranges.size() && inside(ranges[last_range], address)) return true;
    auto after = std::upper_bound(ranges.begin(), ranges.end(), (uintptr_t)address,
                                  [](uintptr_t value, const memory_range &range) {
                                      return value < range.begin;
                                  });
    if (after == ranges.begin() || !inside(*--after, address)) return false;
    last_range = (size_t)(after - ranges.begin());
    return true;
}

static void count_load(const void *address, size_t size)
{
    const launch_state *launch = current_launch();
    if (!launch) return;
    if (inside_shared_memory(address)) {
        counts.shared_loads++;
    } else if (inside_global_memory(launch->global_memory, address)) {
        counts.global_loads++;
        counts.global_load_bytes += size;
    }
}

static void count_store(const void *address, size_t size)
{
    const launch_state *launch = current_launch();
    if (!launch) return;
    if (inside_shared_memory(address)) {
        counts.shared_stores++;
    } else if (inside_global_memory(launch->global_memory, address)) {
        counts.global_stores++;
        counts.global_store_bytes += size;
    }
}

void count_atomic(const void *address)
{
    const launch_state *launch = current_launch();
    if (!launch) return;
    if (inside_shared_memory(address))
        counts.shared_atomics++;
    else if (inside_global_memory(launch->global_memory, address))
        counts.global_atomics++;
}

access_counts take_counts()
{
    access_counts taken = counts;
    counts = access_counts();
    return taken;
}

/* ---- the report ------------------------------------------------------------------------------ */

struct kernel_counts {
    uint64_t launches;
    access_counts accesses;
};

static std::map<std::string, kernel_counts> kernels; /* used under the launch lock */

static void write_report()
{
    const char *path = getenv("CUCC_COUNTS");
    FILE *file = path ? fopen(path, "a") : stderr;
    if (!file) {
        perror(path);
        return;
    }
    for (auto &kernel : kernels) {
        const access_counts &a = kernel.second.accesses;
        fprintf(file,
                "kernel %s launches %lu global_loads %lu global_stores %lu shared_loads %lu "
                "shared_stores %lu global_load_bytes %lu global_store_bytes %lu",
                kernel.first.c_str(), kernel.second.launches, a.global_loads, a.global_stores,
                a.shared_loads, a.shared_stores, a.global_load_bytes, a.global_store_bytes);
        if (a.global_atomics || a.shared_atomics)
            fprintf(file, " global_atomics %lu shared_atomics %lu", a.global_atomics,
                    a.shared_atomics);
        fputc('\n', file);
    }
    bool lost = ferror(file);
    if (path && (fclose(file) || lost)) perror(path);
}

void add(access_counts &sum, const access_counts &more)
{
    sum.global_loads += more.global_loads;
    sum.global_stores += more.global_stores;
    sum.shared_loads += more.shared_loads;
    sum.shared_stores += more.shared_stores;
    sum.global_load_bytes += more.global_load_bytes;
    sum.global_store_bytes += more.global_store_bytes;
    sum.global_atomics += more.global_atomics;
    sum.shared_atomics += more.shared_atomics;
}

void add_counts(const char *kernel, const access_counts &more)
{
    if (kernels.empty()) atexit(write_report);
    kernel_counts &known = kernels[kernel];
    known.launches++;
    add(known.accesses, more);
}
} // namespace cucc

/* ---- what instrumented code calls ------------------------------------------------------------ */

using cucc::count_load;
using cucc::count_store;

extern "C" {
void __tsan_init()
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit()
{
}
void __tsan_vptr_update(void **, void *)
{
}
void __tsan_vptr_read(void **)
{
}

void __tsan_read_range(void *p, size_t size)
{
    count_load(p, size);
}

void __tsan_write_range(void *p, size_t size)
{
    count_store(p, size);
}

#define CUCC_ACCESS(size)                      \
    void __tsan_read##size(void *p)            \
    {                                          \
        count_load(p, size);                   \
    }                                          \
    void __tsan_write##size(void *p)           \
    {                                          \
        count_store(p, size);                  \
    }                                          \
    void __tsan_unaligned_read##size(void *p)  \
    {                                          \
        count_load(p, size);                   \
    }                                          \
    void __tsan_unaligned_write##size(void *p) \
    {                                          \
        count_store(p, size);                  \
    }                                          \
    void __tsan_volatile_read##size(void *p)   \
    {                                          \
        count_load(p, size);                   \
    }                                          \
    void __tsan_volatile_write##size(void *p)  \
    {                                          \
        count_store(p, size);                  \
    }
CUCC_ACCESS(1)
CUCC_ACCESS(2)
CUCC_ACCESS(4)
CUCC_ACCESS(8)
CUCC_ACCESS(16)

/* Instrumented atomics come here instead of being inlined. */
#define CUCC_ATOMIC(bits, T)                                                     \
    T __tsan_atomic##bits##_load(const T *p, int)                                \
    {                                                                            \
        return __atomic_load_n(p, 5);                                            \
    }                                                                            \
    void __tsan_atomic##bits##_store(T *p, T v, int)                             \
    {                                                                            \
        __atomic_store_n(p, v, 5);                                               \
    }                                                                            \
    T __tsan_atomic##bits##_exchange(T *p, T v, int)                             \
    {                                                                            \
        return __atomic_exchange_n(p, v, 5);                                     \
    }                                                                            \
    T __tsan_atomic##bits##_fetch_add(T *p, T v, int)                            \
    {                                                                            \
        return __atomic_fetch_add(p, v, 5);                                      \
    }                                                                            \
    T __tsan_atomic##bits##_fetch_sub(T *p, T v, int)                            \
    {                                                                            \
        return __atomic_fetch_sub(p, v, 5);                                      \
    }                                                                            \
    T __tsan_atomic##bits##_fetch_or(T *p, T v, int)                             \
    {                                                                            \
        return __atomic_fetch_or(p, v, 5);                                       \
    }                                                                            \
    T __tsan_atomic##bits##_fetch_and(T *p, T v, int)                            \
    {                                                                            \
        return __atomic_fetch_and(p, v, 5);                                      \
    }                                                                            \
    T __tsan_atomic##bits##_fetch_xor(T *p, T v, int)                            \
    {                                                                            \
        return __atomic_fetch_xor(p, v, 5);                                      \
    }                                                                            \
    int __tsan_atomic##bits##_compare_exchange_strong(T *p, T *e, T v, int, int) \
    {                                                                            \
        return __atomic_compare_exchange_n(p, e, v, false, 5, 5);                \
    }                                                                            \
    int __tsan_atomic##bits##_compare_exchange_weak(T *p, T *e, T v, int, int)   \
    {                                                                            \
        return __atomic_compare_exchange_n(p, e, v, true, 5, 5);                 \
    }
CUCC_ATOMIC(8, unsigned char)
CUCC_ATOMIC(16, unsigned short)
CUCC_ATOMIC(32, unsigned int)
CUCC_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
}
