/* A worker is an OS thread that runs blocks, one after another, the threads of a block as fibers. Used
 * by the files that run them: faults.cpp, fibers.cpp (stacks), shared.cpp (shared memory), blocks.cpp
 * (threads, barriers, warps) and workers.cpp (launches). */
#ifndef CUCC_WORKER_H
#define CUCC_WORKER_H

#include "runtime.h"
#include <algorithm>
#include <condition_variable>
#include <random>
#include <setjmp.h>

#if !defined(__x86_64__) && !defined(CUCC_UCONTEXT)
#define CUCC_UCONTEXT
#endif
#ifdef CUCC_UCONTEXT
#include <ucontext.h>
#endif
#ifdef CUCC_SANITIZE
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cucc
{
/* Where a thread that was stopped goes on. */
#ifdef CUCC_UCONTEXT
using context = ucontext_t;
#else
using context =
    void *; /* its stack pointer; what the ABI asks a function to keep is on the stack */
#endif

struct fiber {
    char *stack;
    size_t usable_size; /* of the stack, from its bottom */
    size_t size;        /* of what was mapped above the page that nobody may touch */
    void *fake_stack;   /* AddressSanitizer's */
};

/* ---- workers --------------------------------------------------------------------------------- */

enum thread_state : unsigned char {
    unstarted,
    ready,
    at_barrier,
    in_warp_function,
    at_step,
    finished
};

/* What the lanes of a warp that wait in a warp function asked for, and their answers. */
struct warp_requests {
    unsigned int waiting;     /* lanes that do, a bit each */
    unsigned int ballot;      /* the lowest bits of their values */
    bool alike;               /* all that wait asked for the same function with the same mask */
    unsigned int completions; /* counted so that other warps have their turn */
    warp_function function[warp_lanes];
    unsigned int mask[warp_lanes];
    unsigned int source[warp_lanes]; /* lane */
    uint64_t value[warp_lanes], result[warp_lanes];
};

struct shared_block {
    char *address;
    size_t size;
    const char *name;
};

struct worker;
struct block_check; /* check_state.h */

/* Blocks that run at once, each on an OS thread: a cluster, or the grid of a cooperative launch. */
struct block_group {
    std::mutex lock;
    std::condition_variable released;
    std::vector<worker *> members;
    unsigned int live, arrived;
    uint64_t generation, round; /* of barriers, and of blocks that begin together */
    bool whole_grid, failed;
};

struct worker {
    launch_state *launch;
    block_group *group; /* the blocks that run at once with this one, if any */
    unsigned int rank;  /* of the block in it */
    unsigned int number;
    dim3 block = {0, 0, 0}; /* that index and order are made for */
    unsigned int threads;

    /* The threads of the current block. */
    thread_state state[max_threads];
    context stopped_at[max_threads];
    fiber *fiber_of[max_threads];
    uint3 index[max_threads];
    warp_requests warp[max_warps];
    int step[max_threads];            /* where a thread at_step is in the source */
    unsigned int together[max_warps]; /* lanes that went on from there at once */
    unsigned int live[max_warps];     /* lanes that have not finished, a bit each */
    unsigned int order[max_threads];  /* the order in which threads are run and released */
    std::minstd_rand random;
    unsigned int position; /* of the current thread in that order */
    unsigned int current;
    unsigned int unfinished;
    bool failed;

    /* The barrier that some threads wait at. */
    const char *barrier_site;
    unsigned int first_waiting, waiting;
    int predicates, released_predicates;

    /* Loops over the threads instead of fibers. */
    bool loops, in_loops, done_twice, once_by_fibers;
    sigjmp_buf before_loops;

    fiber home; /* the worker's own stack */
    context home_context;
    std::vector<std::unique_ptr<fiber>> fibers;
    std::vector<fiber *> idle;

    /* Shared memory: dynamic first, then each static variable that the kernel has used. */
    char *arena;
    size_t shared_bytes;
    std::vector<shared_block> shared;
    std::vector<void *> slots;
    uint64_t gathered[max_threads]; /* warp_gather's */

    block_check *check; /* --check and --report only */
};

/* Why fibers do again what was begun as loops. */
enum { fault_in_loops = 1, lanes_apart };

extern __thread worker *self;

[[noreturn]] void called_outside(const char *function);
inline worker &worker_in_kernel(const char *function)
{
    if (__builtin_expect(!self, 0)) called_outside(function);
    return *self;
}
[[noreturn]] void fault(worker &w, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void give_up(worker &w); /* the block, without a word */
void print_place(const worker &w, unsigned int thread);
void run_block(worker &w, uint64_t block);

/* ---- fibers.cpp ------------------------------------------------------------------------------ */

fiber &take_fiber(worker &w);
void prepare_context(context &c, const fiber &f, void (*entry)()); /* that begins with ENTRY */
bool on_guard_page(const worker &w, const void *address);          /* below a stack */
void abandon_fibers(worker &w); /* those of a block that was given up stopped anywhere */

#ifdef CUCC_UCONTEXT
inline void switch_context(context &from, context &to)
{
    swapcontext(&from, &to);
}
#else
/* Saves what the System V ABI asks a function to keep, and takes up the other stack. */
extern "C" void cucc_switch_stack(void **save_stack_pointer, void *stack_pointer);
inline void switch_context(context &from, context &to)
{
    cucc_switch_stack(&from, to);
}
#endif

/* From the stack of a fiber to another. */
inline void switch_fiber(context &from, fiber &from_fiber, context &to, const fiber &to_fiber)
{
#ifdef CUCC_SANITIZE
    __sanitizer_start_switch_fiber(&from_fiber.fake_stack, to_fiber.stack, to_fiber.usable_size);
#endif
    switch_context(from, to);
#ifdef CUCC_SANITIZE
    __sanitizer_finish_switch_fiber(from_fiber.fake_stack, nullptr, nullptr);
#else
    (void)from_fiber;
    (void)to_fiber;
#endif
}

/* ---- shared.cpp ------------------------------------------------------------------------------ */

enum { shared_arena_size = 1024 * 1024 };
void lay_out_shared_memory(launch_state &launch);
void begin_shared_memory(worker &w);
void fill_shared_memory(worker &w);
} // namespace cucc

#endif
