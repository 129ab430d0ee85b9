/* What the parts of the CPU runner's runtime share: runtime.cpp (memory, devices, streams),
 * environment.cpp (the variables CUCC_*), blocks.cpp (runs the blocks of a launch) and counts.cpp (loads and stores, --count only). */
#ifndef CUCC_RUNTIME_H
#define CUCC_RUNTIME_H

#include "include/cuda_runtime.h"
#include <atomic>
#include <mutex>
#include <vector>

namespace cucc
{
enum {
    max_threads = 1024,
    warp_lanes = 32,
    max_warps = max_threads / warp_lanes,
    static_shared_limit = 48 * 1024,
    shared_limit = 227 * 1024,
    max_devices = 16,
    max_workers = 256,
};

struct memory_range {
    uintptr_t begin, end;
};

/* How often, and with how many bytes, the instructions of kernels reached each kind of memory. */
struct access_counts {
    uint64_t global_loads, global_stores, shared_loads, shared_stores;
    uint64_t global_load_bytes, global_store_bytes;
};

struct launch_state {
    explicit launch_state(const launch_request &r) : request(r)
    {
    }

    const launch_request &request;
    unsigned int threads = 0;                /* of a block */
    uint64_t blocks = 0;                     /* of the grid */
    size_t shared_bytes_allowed = 0;         /* static and dynamic together */
    std::vector<memory_range> global_memory; /* sorted; filled in for --count only */
    std::atomic<uint64_t> next_block{0};
    std::atomic<bool> failed{false};
    std::mutex counts_lock;
    access_counts counts{};
};

/* blocks.cpp: runs every block; afterwards launch.failed tells whether one had a fault. */
void run_blocks(launch_state &launch);
bool inside_kernel();
bool inside_shared_memory(const void *address);
const launch_state *current_launch();

/* environment.cpp */
enum thread_order { forward, backward, shuffled };
struct settings {
    int devices, workers;
    size_t memory; /* of each device */
    thread_order order = forward;
    uint64_t order_seed = 0;
    bool late_streams = false;
    uint64_t late_seed = 1;
};
const settings &environment();
bool planted(const char *kind); /* whether this call of that kind is to fail */

/* counts.cpp */
access_counts take_counts(); /* of this OS thread, since the last call */
void add(access_counts &sum, const access_counts &more);
void add_counts(const char *kernel, const access_counts &counts);
} // namespace cucc

#endif
