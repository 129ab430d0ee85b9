/* Runs the blocks of a launch: blocks over OS threads ("workers"), the threads of a block as
 * fibers of one worker.
 *
 * A fiber runs the threads of its block one after another. Only when a thread meets a barrier does
 * its fiber stop, and another one goes on with the next thread; so a kernel without barriers never
 * switches. A thread that waits resumes when all others have arrived. When none can go on, the
 * block is stuck: that is how divergent barriers and deadlocks are found. */
#include "runtime.h"
#include <condition_variable>
#include <limits.h>
#include <memory>
#include <random>
#include <stdarg.h>
#include <sys/mman.h>
#include <thread>

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
/* ---- fibers ---------------------------------------------------------------------------------- */

enum {
#ifdef CUCC_SANITIZE
    stack_size = 256 * 1024, /* redzones make frames larger */
#else
    stack_size = 128 * 1024,
#endif
    page = 4096,
    /* Stacks with a page below that nobody may touch. Each adds two to the mappings of a process, which
     * may have 65530 (vm.max_map_count): 64 cores and blocks of 512 threads would take more. */
    most_guarded_stacks = 16 * 1024,
    /* Stacks begin at different cache sets, or 1024 of them evict one another. */
    stack_stagger = 192,
    staggered_stacks = 16,
};

struct fiber {
#ifdef CUCC_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer;
#endif
    char *stack;        /* null for the worker's own stack */
    size_t usable_size; /* of the stack, from its bottom */
    void *fake_stack;   /* AddressSanitizer's */
};

#ifdef CUCC_UCONTEXT
static void switch_context(fiber &from, fiber &to)
{
    swapcontext(&from.context, &to.context);
}

static void prepare_context(fiber &f, void (*entry)())
{
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack;
    f.context.uc_stack.ss_size = f.usable_size;
    f.context.uc_link = nullptr;
    makecontext(&f.context, entry, 0);
}
#else
/* Saves what the System V ABI asks a function to keep, and takes up the other stack. */
extern "C" void cucc_switch_stack(void **save_stack_pointer, void *stack_pointer);
asm(R"(
    .text
    .type cucc_switch_stack, @function
cucc_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cucc_switch_stack, .-cucc_switch_stack
)");

static void switch_context(fiber &from, fiber &to)
{
    cucc_switch_stack(&from.stack_pointer, to.stack_pointer);
}

static void prepare_context(fiber &f, void (*entry)())
{
    void **top = (void **)(f.stack + f.usable_size);
    *--top = nullptr; /* the caller's frame, so that entry starts with the alignment of a call */
    *--top = (void *)entry;
    top -= 6; /* the registers that the switch pops; their values do not matter */
    f.stack_pointer = top;
}
#endif

static void switch_fiber(fiber &from, fiber &to)
{
#ifdef CUCC_SANITIZE
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.usable_size);
#endif
    switch_context(from, to);
#ifdef CUCC_SANITIZE
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

/* ---- workers --------------------------------------------------------------------------------- */

enum thread_state : unsigned char {
    unstarted,
    ready,
    at_barrier,
    in_warp_function,
    at_step,
    finished
};

/* What a thread that waits in a warp function asked for, and its answer. */
struct lane_request {
    warp_function function;
    unsigned int mask;
    int source_lane;
    uint64_t value, result;
};

struct shared_block {
    char *address;
    size_t size;
    const char *name;
};

struct worker {
    launch_state *launch;
    unsigned int threads;

    /* The threads of the current block. */
    thread_state state[max_threads];
    fiber *fiber_of[max_threads];
    uint3 index[max_threads];
    lane_request lane[max_threads];
    int step[max_threads];              /* where a thread at_step is in the source */
    unsigned int live[max_warps];       /* lanes that have not finished, a bit each */
    unsigned int exchanging[max_warps]; /* lanes in_warp_function */
    unsigned int order[max_threads];    /* the order in which threads are run and released */
    std::minstd_rand random;
    unsigned int position; /* of the current thread in that order */
    unsigned int current;
    unsigned int unfinished;
    bool failed;

    /* The barrier that some threads wait at. */
    const char *barrier_site;
    unsigned int first_waiting, waiting;
    int predicates, released_predicates;

    fiber home; /* the worker's own stack */
    fiber *running;
    std::vector<std::unique_ptr<fiber>> fibers;
    std::vector<fiber *> idle;

    /* Shared memory: dynamic first, then each static variable that the kernel has used. */
    char *arena;
    size_t arena_used, shared_bytes;
    std::vector<shared_block> shared;
    std::vector<void *> slots;
};

static thread_local worker *self;

bool inside_kernel()
{
    return self != nullptr;
}

const launch_state *current_launch()
{
    return self ? self->launch : nullptr;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void print_place(const worker &w, unsigned int thread)
{
    uint3 t = w.index[thread];
    fprintf(stderr,
            "cucc: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", w.launch->request.kernel,
            blockIdx.x, blockIdx.y, blockIdx.z, t.x, t.y, t.z);
}

/* Reports a fault of the current thread, gives up the block and never comes back. */
[[noreturn]] static void fault(worker &w, const char *format, ...)
{
    static std::mutex one_message_at_a_time;
    {
        std::lock_guard<std::mutex> lock(one_message_at_a_time);
        va_list arguments;
        va_start(arguments, format);
        print_place(w, w.current);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    w.failed = true;
    switch_fiber(*w.running, w.home);
    abort(); /* nobody resumes a block that was given up */
}

static worker &worker_in_kernel(const char *function)
{
    if (!self) {
        fprintf(stderr, "cucc: %s was called outside of a kernel\n", function);
        abort();
    }
    return *self;
}

/* No thread can go on: says why, seen from a thread that waits. */
[[noreturn]] static void report_stuck(worker &w)
{
    unsigned int at_barriers = 0, in_warp_functions = 0;
    for (unsigned int t = 0; t < w.threads; t++) {
        at_barriers += w.state[t] == at_barrier;
        if (w.state[t] != in_warp_function) continue;
        in_warp_functions++;
        w.current = t;
    }
    if (!in_warp_functions) {
        w.current = w.first_waiting;
        fault(w, "barrier at %s is never complete: %u threads wait there, %u have exited",
              w.barrier_site, at_barriers, w.threads - w.unfinished);
    }
    const char *other = at_barriers ? "others wait at a barrier" : "the masks do not agree";
    fault(w, "deadlock in a warp function with mask 0x%08x: %s%s%s", w.lane[w.current].mask, other,
          at_barriers ? " at " : "", at_barriers ? w.barrier_site : "");
}

/* ---- running the threads of a block ---------------------------------------------------------- */

static void shuffle_order(worker &w)
{
    if (environment().order != shuffled) return;
    for (unsigned int i = w.threads; i > 1; i--) std::swap(w.order[i - 1], w.order[w.random() % i]);
}

/* Nobody can go on: those lanes of each warp that wait at the earliest step may. So lanes that took
 * another way, or are further on, do not run ahead of them. */
static bool release_steps(worker &w)
{
    bool any = false;
    for (unsigned int first = 0; first < w.threads; first += warp_lanes) {
        unsigned int end = std::min(first + warp_lanes, w.threads);
        int earliest = INT_MAX;
        for (unsigned int t = first; t < end; t++)
            if (w.state[t] == at_step) earliest = std::min(earliest, w.step[t]);
        for (unsigned int t = first; t < end; t++) {
            if (w.state[t] != at_step || w.step[t] != earliest) continue;
            w.state[t] = ready;
            any = true;
        }
    }
    return any;
}

/* Takes up the next thread that can run, if there is one. */
static bool choose_next(worker &w)
{
    do {
        for (unsigned int i = 0; i < w.threads; i++) {
            if (++w.position >= w.threads) w.position = 0;
            unsigned int thread = w.order[w.position];
            if (w.state[thread] > ready) continue;
            w.current = thread;
            threadIdx = w.index[thread];
            return true;
        }
    } while (release_steps(w));
    return false;
}

static fiber &new_fiber(worker &w);

/* Goes on with the chosen thread on its own fiber, or on a new one if it has not started. */
static void switch_to_current(worker &w)
{
    fiber &from = *w.running;
    fiber &to = w.state[w.current] == unstarted ? new_fiber(w) : *w.fiber_of[w.current];
    w.running = &to;
    switch_fiber(from, to);
}

/* Stops the current thread until somebody has made it ready and its turn has come. */
static void wait(worker &w)
{
    unsigned int thread = w.current;
    w.fiber_of[thread] = w.running;
    if (!choose_next(w)) report_stuck(w);
    if (w.current != thread) switch_to_current(w);
}

static void release_barrier(worker &w)
{
    w.waiting = 0;
    w.released_predicates = w.predicates;
    w.predicates = 0;
    memset(w.state, ready, w.threads);
    shuffle_order(w);
    w.position = w.threads - 1; /* the next one is the first in order */
}

int barrier(const char *site, int predicate)
{
    worker &w = worker_in_kernel("__syncthreads");
    if (!w.waiting) {
        w.barrier_site = site;
        w.first_waiting = w.current;
    } else if (site != w.barrier_site && strcmp(site, w.barrier_site)) {
        uint3 other = w.index[w.first_waiting];
        fault(w, "divergent barrier: it waits at %s, thread (%u,%u,%u) at %s", site, other.x,
              other.y, other.z, w.barrier_site);
    }
    w.predicates += predicate != 0;
    w.state[w.current] = at_barrier;
    if (++w.waiting == w.threads) release_barrier(w);
    wait(w);
    return w.released_predicates;
}

/* ---- warp functions -------------------------------------------------------------------------- */

/* Answers the lanes of MASK if all of them that live have arrived. The last one to arrive computes
 * everybody's result, so that a fast lane cannot overwrite what a slow one has yet to read. */
static void complete_warp_function(worker &w, unsigned int warp, unsigned int mask)
{
    lane_request *lane = w.lane + warp * warp_lanes;
    thread_state *state = w.state + warp * warp_lanes;
    unsigned int lanes = mask & w.live[warp];
    uint64_t ballot = 0;
    if ((w.exchanging[warp] & lanes) != lanes) return;
    for (unsigned int left = lanes; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        if (lane[i].mask != mask) return;
        ballot |= (lane[i].value & 1) << i;
    }
    for (unsigned int left = lanes; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        int source = lane[i].source_lane & (warp_lanes - 1);
        bool defined = lanes >> source & 1; /* else all ones, to be noticed */
        if (lane[i].function == warp_ballot)
            lane[i].result = ballot;
        else
            lane[i].result = defined ? lane[source].value : ~(uint64_t)0;
        state[i] = ready;
    }
    w.exchanging[warp] &= ~lanes;
}

uint64_t warp_exchange(warp_function function, unsigned int mask, uint64_t value, int source_lane)
{
    worker &w = worker_in_kernel("a warp function");
    unsigned int thread = w.current;
    if (!(mask >> thread % warp_lanes & 1))
        fault(w, "warp function called by lane %u, which is not in its mask 0x%08x",
              thread % warp_lanes, mask);
    w.lane[thread] = {function, mask, source_lane, value, 0};
    w.state[thread] = in_warp_function;
    w.exchanging[thread / warp_lanes] |= 1u << thread % warp_lanes;
    complete_warp_function(w, thread / warp_lanes, mask);
    wait(w);
    return w.lane[thread].result;
}

/* Before and after a thread writes to volatile memory (rewrite.cpp). */
void in_step(int place)
{
    if (!self) return;
    worker &w = *self;
    w.step[w.current] = place;
    w.state[w.current] = at_step;
    wait(w);
}

int lane_number()
{
    return (int)(worker_in_kernel("a warp function").current % warp_lanes);
}

unsigned int live_lanes()
{
    worker &w = worker_in_kernel("__activemask");
    return w.live[w.current / warp_lanes];
}

/* The lanes of its warp need not wait for a thread that has exited. */
static void leave_warp(worker &w, unsigned int thread)
{
    unsigned int warp = thread / warp_lanes;
    w.live[warp] &= ~(1u << thread % warp_lanes);
    for (unsigned int i = 0; i < warp_lanes; i++)
        if (w.exchanging[warp] >> i & 1)
            complete_warp_function(w, warp, w.lane[warp * warp_lanes + i].mask);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Where each fiber begins: runs threads until one is chosen that has its own fiber. Nothing
 * resumes it after that. */
static void fiber_main()
{
    worker &w = *self;
#ifdef CUCC_SANITIZE
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    const launch_request &request = w.launch->request;
    for (;;) {
        w.state[w.current] = ready;
        request.run_thread(request.closure);
        w.state[w.current] = finished;
        w.unfinished--;
        leave_warp(w, w.current);
        if (!w.unfinished) break;
        if (!choose_next(w)) report_stuck(w);
        if (w.state[w.current] != unstarted) break;
    }
    fiber &to = w.unfinished ? *w.fiber_of[w.current] : w.home;
    fiber &from = *w.running;
    w.idle.push_back(&from);
    w.running = &to;
#ifdef CUCC_SANITIZE
    __sanitizer_start_switch_fiber(nullptr, to.stack, to.usable_size);
#endif
    switch_context(from, to);
}

static fiber &new_fiber(worker &w)
{
    if (w.idle.empty()) {
        /* One page at the bottom stays without access, so that an overflow is noticed. */
        static std::atomic<int> stacks{0};
        void *memory = mmap(nullptr, stack_size + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            perror("cucc: no memory for the stack of a thread");
            abort();
        }
        if (stacks++ < most_guarded_stacks) mprotect(memory, page, PROT_NONE);
        std::unique_ptr<fiber> f(new fiber{});
        f->stack = (char *)memory + page;
        f->usable_size = stack_size - w.fibers.size() % staggered_stacks * stack_stagger;
        w.idle.push_back(f.get());
        w.fibers.push_back(std::move(f));
    }
    fiber &f = *w.idle.back();
    w.idle.pop_back();
    prepare_context(f, fiber_main);
    return f;
}

/* Fibers of a block that was given up stopped anywhere; they start afresh. */
static void abandon_fibers(worker &w)
{
    w.idle.clear();
    for (auto &f : w.fibers) {
#ifdef CUCC_SANITIZE
        __asan_unpoison_memory_region(f->stack, stack_size);
#endif
        w.idle.push_back(f.get());
    }
}

static void fill_shared_memory(worker &w)
{
    for (const shared_block &s : w.shared) memset(s.address, 0xff, s.size);
}

static void run_block(worker &w, uint64_t block)
{
    dim3 grid = w.launch->request.grid;
    blockIdx = {(unsigned int)(block % grid.x), (unsigned int)(block / grid.x % grid.y),
                (unsigned int)(block / grid.x / grid.y)};
    w.random.seed((unsigned int)(environment().order_seed * 1000003 + block + 1));
    shuffle_order(w);
    fill_shared_memory(w);
    memset(w.state, unstarted, w.threads);
    memset(w.exchanging, 0, sizeof w.exchanging);
    for (unsigned int t = 0; t < w.threads; t += warp_lanes)
        w.live[t / warp_lanes] =
            w.threads - t >= warp_lanes ? 0xffffffffu : (1u << (w.threads - t)) - 1;
    w.unfinished = w.threads;
    w.waiting = 0;
    w.predicates = 0;
    w.failed = false;
    w.position = w.threads - 1;
    choose_next(w);
    w.running = &w.home;
    switch_to_current(w);
    if (!w.failed) return;
    w.launch->failed = true;
    abandon_fibers(w);
}

/* ---- shared memory --------------------------------------------------------------------------- */

enum {
#ifdef CUCC_SANITIZE
    shared_gap = 256, /* poisoned, between variables */
#else
    shared_gap = 0,
#endif
    shared_alignment = 128,
    arena_size = 1024 * 1024,
};

static std::atomic<int> shared_slots{0};

int new_shared_slot()
{
    return shared_slots++;
}

static void *take_shared(worker &w, size_t size, const char *name)
{
    w.shared_bytes += size;
    char *address = w.arena + w.arena_used;
    size_t rounded = (size + shared_alignment - 1) / shared_alignment * shared_alignment;
    if (w.arena_used + rounded + shared_gap > arena_size)
        fault(w, "shared variable %s of %zu bytes is too large", name, size);
    w.arena_used += rounded + shared_gap;
#ifdef CUCC_SANITIZE
    __asan_unpoison_memory_region(address, size);
#endif
    memset(address, 0xff, size);
    w.shared.push_back({address, size, name});
    return address;
}

static void begin_shared_memory(worker &w)
{
    size_t dynamic = w.launch->request.dynamic_shared;
    w.shared.clear();
    w.slots.assign((size_t)shared_slots, nullptr);
    w.shared_bytes = 0;
    w.arena_used = shared_gap;
#ifdef CUCC_SANITIZE
    __asan_poison_memory_region(w.arena, arena_size);
#endif
    take_shared(w, dynamic, "(dynamic)");
}

void *shared_memory(int slot, size_t size, const char *name)
{
    worker &w = worker_in_kernel("a __shared__ variable");
    void *&address = w.slots[(size_t)slot];
    if (!address) {
        address = take_shared(w, size, name);
        size_t dynamic = w.launch->request.dynamic_shared;
        if (w.shared_bytes - dynamic > static_shared_limit)
            fault(w, "static shared memory (%zu bytes with %s) exceeds %d bytes",
                  w.shared_bytes - dynamic, name, (int)static_shared_limit);
        if (w.shared_bytes > w.launch->shared_bytes_allowed)
            fault(w, "static and dynamic shared memory (%zu bytes) exceed %zu bytes",
                  w.shared_bytes, w.launch->shared_bytes_allowed);
    }
    return address;
}

void *dynamic_shared_memory()
{
    return worker_in_kernel("extern __shared__").shared.front().address;
}

bool inside_shared_memory(const void *address)
{
    return self && (size_t)((const char *)address - self->arena) < arena_size;
}

/* ---- workers over blocks --------------------------------------------------------------------- */

static void begin_launch(worker &w, launch_state &launch)
{
    const dim3 &block = launch.request.block;
    w.launch = &launch;
    w.threads = launch.threads;
    for (unsigned int t = 0; t < w.threads; t++) {
        w.index[t] = {t % block.x, t / block.x % block.y, t / block.x / block.y};
        w.order[t] = environment().order == backward ? w.threads - 1 - t : t;
    }
    blockDim = block;
    gridDim = launch.request.grid;
    begin_shared_memory(w);
}

#ifdef CUCC_SANITIZE
/* The bounds of this OS thread's stack, which AddressSanitizer must know to come back to it. */
static void find_own_stack(fiber &home)
{
    static thread_local void *bottom;
    static thread_local size_t size;
    if (!bottom) {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &bottom, &size);
        pthread_attr_destroy(&attributes);
    }
    home.stack = (char *)bottom;
    home.usable_size = size;
}
#endif

static void work(worker &w, launch_state &launch)
{
    begin_launch(w, launch);
    self = &w;
#ifdef CUCC_SANITIZE
    find_own_stack(w.home);
#endif
    while (!launch.failed) {
        uint64_t block = launch.next_block++;
        if (block >= launch.blocks) break;
        run_block(w, block);
    }
#ifdef CUCC_COUNT
    access_counts counts = take_counts();
    std::lock_guard<std::mutex> lock(launch.counts_lock);
    add(launch.counts, counts);
#endif
    self = nullptr;
}

/* Workers other than the first, who is the host thread that launches, sleep between launches. */
struct worker_pool {
    std::mutex lock;
    std::condition_variable begin, end;
    std::vector<std::unique_ptr<worker>> workers;
    launch_state *launch = nullptr;
    int wanted = 0, running = 0;
};

static std::unique_ptr<worker> new_worker()
{
    std::unique_ptr<worker> w(new worker{});
    w->arena = (char *)aligned_alloc(page, arena_size);
    return w;
}

static void worker_main(worker_pool &pool, worker &w)
{
    std::unique_lock<std::mutex> lock(pool.lock);
    for (;;) {
        pool.begin.wait(lock, [&] { return pool.wanted > 0; });
        pool.wanted--;
        launch_state &launch = *pool.launch;
        lock.unlock();
        work(w, launch);
        lock.lock();
        if (!--pool.running) pool.end.notify_one();
    }
}

/* Never destroyed: its threads may sleep until the process has ended. */
static worker_pool &the_pool()
{
    static worker_pool *pool = [] {
        worker_pool *p = new worker_pool;
        for (int i = 0; i < environment().workers; i++) p->workers.push_back(new_worker());
        for (int i = 1; i < environment().workers; i++)
            std::thread(worker_main, std::ref(*p), std::ref(*p->workers[(size_t)i])).detach();
        return p;
    }();
    return *pool;
}

/* The caller holds the launch lock. */
void run_blocks(launch_state &launch)
{
    worker_pool &pool = the_pool();
    int helpers = environment().workers - 1;
    if (launch.blocks <= (uint64_t)helpers) helpers = (int)launch.blocks - 1;
    if (helpers) {
        std::lock_guard<std::mutex> lock(pool.lock);
        pool.launch = &launch;
        pool.wanted = pool.running = helpers;
    }
    for (int i = 0; i < helpers; i++) pool.begin.notify_one();
    work(*pool.workers[0], launch);
    if (helpers) {
        std::unique_lock<std::mutex> lock(pool.lock);
        /* Nobody needs a helper who has not woken up by now. */
        pool.running -= pool.wanted;
        pool.wanted = 0;
        pool.end.wait(lock, [&] { return pool.running == 0; });
    }
}
} // namespace cucc

/* ---- what the sanitizers call ---------------------------------------------------------------- */

#ifdef CUCC_SANITIZE
static void report_place()
{
    using namespace cucc;
    if (!self) return;
    print_place(*self, self->current);
    fprintf(stderr, "the fault below happened here\n");
}

/* Both are called just before a report is printed. */
extern "C" void __asan_on_error()
{
    using namespace cucc;
    report_place();
    const char *address = (const char *)__asan_get_report_address();
    if (!inside_shared_memory(address)) return;
    const shared_block *nearest = nullptr;
    for (const shared_block &s : self->shared)
        if (s.address <= address) nearest = &s;
    if (nearest)
        fprintf(stderr,
                "cucc: the address is %zd bytes after the start of shared memory %s, which has %zu "
                "bytes\n",
                (size_t)(address - nearest->address), nearest->name, nearest->size);
}

extern "C" void __ubsan_on_report()
{
    report_place();
}
#endif
