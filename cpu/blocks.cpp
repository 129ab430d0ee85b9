/* Runs the threads of a block as fibers of one worker.
 *
 * A fiber runs the threads of its block one after another. Only when a thread meets a barrier does
 * its fiber stop, and another one goes on with the next thread; so a kernel without barriers never
 * switches. A thread that waits resumes when all others have arrived. When none can go on, the
 * block is stuck: that is how divergent barriers and deadlocks are found. */
#include "check.h"
#include <limits.h>
#include <stdarg.h>
#include <thread>
#include <time.h>

namespace cucc
{
__thread worker *self;

bool inside_kernel()
{
    return self != nullptr;
}

launch_state *current_launch()
{
    return self ? self->launch : nullptr;
}

const void *current_block()
{
    return self;
}

/* ---- faults ---------------------------------------------------------------------------------- */

void print_place(const worker &w, unsigned int thread)
{
    uint3 t = w.index[thread];
    fprintf(stderr,
            "cucc: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", w.launch->request.kernel,
            blockIdx.x, blockIdx.y, blockIdx.z, t.x, t.y, t.z);
}

void give_up(worker &w)
{
    w.failed = true;
    switch_fiber(*w.running, w.home);
    abort(); /* nobody resumes a block that was given up */
}

/* Reports a fault of the current thread, gives up the block and never comes back. */
void fault(worker &w, cudaError_t error, const char *format, ...)
{
    static std::mutex one_message_at_a_time;
    {
        std::lock_guard<std::mutex> lock(one_message_at_a_time);
        va_list arguments;
        fflush(stdout); /* what the kernel has printed */
        va_start(arguments, format);
        print_place(w, w.current);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    count_fault();
    w.launch->error = error;
    give_up(w);
}

void trap(const char *sentence)
{
    fault(worker_in_kernel("__trap"), cudaErrorLaunchFailure, "%s", sentence);
}

void called_outside(const char *function)
{
    fprintf(stderr, "cucc: %s was called outside of a kernel\n", function);
    abort();
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
        fault(w, cudaErrorLaunchFailure,
              "barrier at %s is never complete: %u threads wait there, %u have exited",
              w.barrier_site, at_barriers, w.threads - w.unfinished);
    }
    const char *other = at_barriers ? "others wait at a barrier" : "the masks do not agree";
    fault(w, cudaErrorLaunchFailure, "deadlock in a warp function with mask 0x%08x: %s%s%s",
          w.lane[w.current].mask, other, at_barriers ? " at " : "",
          at_barriers ? w.barrier_site : "");
}

/* ---- running the threads of a block ---------------------------------------------------------- */

static void shuffle_order(worker &w)
{
    if (environment().order != shuffled) return;
    for (unsigned int i = w.threads; i > 1; i--) std::swap(w.order[i - 1], w.order[w.random() % i]);
}

/* Nobody can go on: those lanes of each warp that wait at the earliest step may. So lanes that took
 * another way, or are further on, do not run ahead of them. */
[[gnu::noinline]] static bool release_steps(worker &w)
{
    bool any = false;
    for (unsigned int first = 0; first < w.threads; first += warp_lanes) {
        unsigned int end = std::min(first + warp_lanes, w.threads);
        int earliest = INT_MAX;
        for (unsigned int t = first; t < end; t++)
            if (w.state[t] == at_step) earliest = std::min(earliest, w.step[t]);
        unsigned int together = 0;
        for (unsigned int t = first; t < end; t++) {
            if (w.state[t] != at_step || w.step[t] != earliest) continue;
            w.state[t] = ready;
            together |= 1u << (t - first);
        }
        if (together) w.together[first / warp_lanes] = together;
        if (together) clock_lanes(w, first / warp_lanes, together);
        any |= together != 0;
    }
    return any;
}

/* Takes up the next thread that can run, if there is one. */
[[gnu::always_inline]] static inline bool choose_next(worker &w)
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

static void fiber_main();

/* Goes on with the chosen thread on its own fiber, or on a new one if it has not started. */
[[gnu::always_inline]] static inline void switch_to_current(worker &w)
{
    fiber &from = *w.running;
    fiber &to = w.state[w.current] == unstarted ? new_fiber(w, fiber_main) : *w.fiber_of[w.current];
    w.running = &to;
    switch_fiber(from, to);
}

/* Stops the current thread until somebody has made it ready and its turn has come. */
[[gnu::always_inline]] static inline void wait(worker &w)
{
    unsigned int thread = w.current;
    w.fiber_of[thread] = w.running;
    if (!choose_next(w)) report_stuck(w);
    if (w.current != thread) switch_to_current(w);
}

static void release_barrier(worker &w)
{
    clock_barrier(w);
    w.waiting = 0;
    w.released_predicates = w.predicates;
    w.predicates = 0;
    memset(w.state, ready, w.threads);
    shuffle_order(w);
    w.position = w.threads - 1; /* the next one is the first in order */
}

/* Lets the other threads go on first. What asks again and again for what another thread should do
 * would do so for ever if nobody did: after ten seconds it is a fault. */
void patience::yield(const char *waits_for)
{
    const unsigned int many_polls = 100000;
    const long seconds = 10;
    worker &w = worker_in_kernel(waits_for);
    if (!polls) since = time(nullptr);
    if (++polls % many_polls == 0 && time(nullptr) - since > seconds)
        fault(w, cudaErrorLaunchTimeout, "it waits for %s, which never comes", waits_for);
    if (w.group && polls % 64 == 0) std::this_thread::yield();
    w.state[w.current] = ready;
    wait(w);
}

void spin()
{
    const unsigned int many = 64;
    static thread_local unsigned int spins;
    if (!self || ++spins % many) return;
    worker &w = *self;
    w.state[w.current] = ready;
    wait(w);
    if (spins % (many * many) == 0) std::this_thread::yield();
}

/* The barrier of a cooperative group, whose place is a line and no site of its own. */
int barrier_at(const char *file, int line, int predicate)
{
    struct place {
        const char *file;
        int line;
        char text[256];
    };
    static thread_local std::vector<std::unique_ptr<place>> places;
    for (auto &p : places)
        if (p->file == file && p->line == line) return barrier(p->text, predicate);
    places.emplace_back(new place{file, line, ""});
    snprintf(places.back()->text, sizeof places.back()->text, "%s:%d", file, line);
    return barrier(places.back()->text, predicate);
}

int barrier(const char *site, int predicate)
{
    worker &w = worker_in_kernel("__syncthreads");
    if (!w.waiting) {
        w.barrier_site = site;
        w.first_waiting = w.current;
    } else if (site != w.barrier_site && strcmp(site, w.barrier_site)) {
        uint3 other = w.index[w.first_waiting];
        fault(w, cudaErrorLaunchFailure,
              "divergent barrier: it waits at %s, thread (%u,%u,%u) at %s", site, other.x, other.y,
              other.z, w.barrier_site);
    }
    w.predicates += predicate != 0;
    w.state[w.current] = at_barrier;
    if (++w.waiting == w.threads) release_barrier(w);
    wait(w);
    return w.released_predicates;
}

/* ---- warp functions -------------------------------------------------------------------------- */

static uint64_t combine(warp_function function, uint64_t a, uint64_t b)
{
    switch (function) {
    case warp_add: return a + b;
    case warp_and: return a & b;
    case warp_or: return a | b;
    case warp_xor: return a ^ b;
    case warp_min: return std::min((uint32_t)a, (uint32_t)b);
    case warp_max: return std::max((uint32_t)a, (uint32_t)b);
    case warp_min_signed: return (uint64_t)std::min((int64_t)a, (int64_t)b);
    case warp_max_signed: return (uint64_t)std::max((int64_t)a, (int64_t)b);
    default: return 0;
    }
}

/* Of all lanes that take part; lane I gets it. */
[[gnu::noinline]] static uint64_t answer(const lane_request *lane, unsigned int lanes, int i)
{
    uint64_t result = 0;
    bool first = true;
    for (unsigned int left = lanes; left; left &= left - 1) {
        int other = __builtin_ctz(left);
        uint64_t value = lane[other].value;
        if (lane[i].function == warp_match)
            result |= (uint64_t)(value == lane[i].value) << other;
        else
            result = first ? value : combine(lane[i].function, result, value);
        first = false;
    }
    return result;
}

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
        if (lane[i].function <= warp_ballot)
            lane[i].result = lane[i].function == warp_ballot ? ballot
                             : defined                       ? lane[source].value
                                                             : ~(uint64_t)0;
        else if (lane[i].function == warp_table)
            w.gathered[warp * warp_lanes + (unsigned int)i] = lane[i].value;
        else
            lane[i].result = answer(lane, lanes, i);
        state[i] = ready;
    }
    w.exchanging[warp] &= ~lanes;
    clock_lanes(w, warp, lanes);
}

uint64_t warp_exchange(warp_function function, unsigned int mask, uint64_t value, int source_lane)
{
    worker &w = worker_in_kernel("a warp function");
    unsigned int thread = w.current;
    if (!(mask >> thread % warp_lanes & 1))
        fault(w, cudaErrorLaunchFailure,
              "warp function called by lane %u, which is not in its mask 0x%08x",
              thread % warp_lanes, mask);
    w.lane[thread] = {function, mask, source_lane, value, 0};
    w.state[thread] = in_warp_function;
    w.exchanging[thread / warp_lanes] |= 1u << thread % warp_lanes;
    complete_warp_function(w, thread / warp_lanes, mask);
    wait(w);
    return w.lane[thread].result;
}

const uint64_t *warp_gather(unsigned int mask, uint64_t value)
{
    warp_exchange(warp_table, mask, value, 0);
    return self->gathered + self->current / warp_lanes * warp_lanes;
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

unsigned int converged(int place)
{
    worker &w = worker_in_kernel("a warp function");
    in_step(place);
    return w.together[w.current / warp_lanes];
}

unsigned int live_lanes()
{
    worker &w = worker_in_kernel("a cooperative group");
    return w.live[w.current / warp_lanes];
}

unsigned int thread_number()
{
    return worker_in_kernel("a cooperative group").current;
}

int lane_number()
{
    return (int)(worker_in_kernel("a warp function").current % warp_lanes);
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

void run_block(worker &w, uint64_t block)
{
    dim3 grid = w.launch->request.grid;
    blockIdx = {(unsigned int)(block % grid.x), (unsigned int)(block / grid.x % grid.y),
                (unsigned int)(block / grid.x / grid.y)};
    w.random.seed((unsigned int)(environment().order_seed * 1000003 + block + 1));
    shuffle_order(w);
    fill_shared_memory(w);
    clock_block(w);
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
    clock_block_ends(w);
    if (!w.failed) return;
    w.launch->failed = true;
    abandon_fibers(w);
}
} // namespace cucc

/* Nanoseconds stand for cycles. */
long long clock64()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In a kernel clock() counts cycles; elsewhere it is that of C. */
extern "C" clock_t clock() noexcept
{
    struct timespec used;
    if (cucc::inside_kernel()) return (clock_t)clock64();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (clock_t)(used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}

/* glibc's assert ends here; in a kernel it ends the launch. */
extern "C" void __assert_fail(const char *assertion, const char *file, unsigned int line,
                              const char *function) noexcept
{
    using namespace cucc;
    if (self)
        fault(*self, cudaErrorAssert, "assertion `%s' failed at %s:%u, %s", assertion, file, line,
              function);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    abort();
}

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
