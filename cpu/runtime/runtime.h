/* What the parts of the CPU runner's runtime share. Each calls those before it alone: environment.cpp (the
 * variables CUCC_*); those that run the blocks of a launch (worker.h): faults.cpp, fibers.cpp, shared.cpp,
 * blocks.cpp, workers.cpp; those of the runtime API (state.h): state.cpp, heap.cpp, streams.cpp, memory.cpp,
 * processes.cpp, copies.cpp, textures.cpp, launches.cpp, graphs.cpp, devices.cpp.
 *
 * The folder runtime/ does what the headers declare: the runtime API, and the threads of kernels. What is to
 * be watched it tells the functions of watch.h. Uses: include/. Used by: check/, libraries/. */
#ifndef CUCC_RUNTIME_H
#define CUCC_RUNTIME_H

#include "../include/cuda_runtime.h"
#include <atomic>
#include <functional>
#include <memory>
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
    memory_page = 4096, /* bytes; where memory of devices begins, so that processes can share it */
};

struct memory_range {
    uintptr_t begin, end;
};

/* How often, and with how many bytes, the instructions of kernels reached each kind of memory. */
struct access_counts {
    uint64_t global_loads, global_stores, shared_loads, shared_stores;
    uint64_t global_load_bytes, global_store_bytes;
    uint64_t global_atomics, shared_atomics;
};

cudaError_t put_into_stream(cudaStream_t stream, std::function<void()> work); /* streams.cpp */

/* A launch inside a kernel, with its own copy of the arguments. */
struct child_launch {
    launch_request request;
    std::shared_ptr<void> closure;
    const void *parent_block; /* the worker that runs it */
};

struct launch_check; /* check_state.h */

struct launch_state {
    explicit launch_state(const launch_request &r) : request(r)
    {
    }

    const launch_request &request;
    unsigned int threads = 0;                /* of a block */
    uint64_t blocks = 0;                     /* of the grid */
    dim3 cluster{1, 1, 1};                   /* blocks that run at once */
    size_t shared_bytes_allowed = 0;         /* static and dynamic together */
    size_t stack_bytes = 0;                  /* of a thread, as it was asked for */
    std::vector<memory_range> global_memory; /* sorted; filled in for --count only */
    std::atomic<uint64_t> next_block{0};
    std::atomic<bool> failed{false};
    std::atomic<cudaError_t> error{cudaErrorLaunchFailure}; /* if it failed */
    std::mutex counts_lock;
    access_counts counts{};

    /* Where each static shared variable is in every block, by its slot; taken when it is first used. */
    std::mutex layout_lock;
    std::vector<size_t> layout;
    size_t layout_end = 0;

    /* What kernels of this launch have launched, and nobody has run. */
    std::mutex children_lock;
    std::vector<child_launch> children;

    launch_check *check = nullptr; /* --check and --report only */
};

/* workers.cpp: runs every block; afterwards launch.failed tells whether one had a fault. */
void run_blocks(launch_state &launch);
void watch_signals(); /* workers.cpp; of the calling thread, what the processor refuses */
bool inside_kernel();
bool inside_shared_memory(const void *address);
launch_state *current_launch();
const void *current_block();
void run_children();                   /* of the current block */
void run_nested(launch_state &launch); /* in a kernel, by the thread that asks for it */

/* environment.cpp */
/* The GPU whose figures a program is told. */
struct gpu_figures {
    const char *name;
    int major, minor;
    int processors;                 /* 0: as many as there are workers */
    int threads, blocks, registers; /* of a multiprocessor */
    int shared, shared_block;       /* bytes of a multiprocessor, and a block's share of them */
    int l2_bytes;
};
enum thread_order { forward, backward, shuffled };
struct settings {
    gpu_figures gpu;
    int devices, workers;
    size_t memory; /* of each device */
    thread_order order = forward;
    uint64_t order_seed = 0;
    bool late_streams = false;
    uint64_t late_seed = 1;

    int processors() const
    {
        return gpu.processors ? gpu.processors : workers;
    }
};
const settings &environment();
/* memory.cpp: a library may write to what this points to. */
void given_to_library(const void *pointer);

bool planted(const char *kind); /* whether this call of that kind is to fail */
} // namespace cucc

#endif
