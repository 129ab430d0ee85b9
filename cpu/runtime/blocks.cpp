/* Runs the threads of a block as fibers of one worker.
 *
 * A fiber runs the threads of its block one after another. Only when a thread meets a barrier does
 * its fiber stop, and another one goes on with the next thread; so a kernel without barriers never
 * switches. A thread that waits resumes when all others have arrived. When none can go on, the
 * block is stuck: that is how divergent barriers and deadlocks are found. */
#include "watch.h"
#include "worker.h"
#include <limits.h>
#include <stdarg.h>
#include <thread>
#include <time.h>

namespace cucc
{
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
          w.warp[w.current / warp_lanes].mask[w.current % warp_lanes], other,
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

[[gnu::always_inline]] static inline void take_up(worker &w, unsigned int position,
                                                  unsigned int thread)
{
    w.position = position;
    w.current = thread;
    threadIdx = w.index[thread];
}

/* Takes up the next thread that can run, if there is one. */
static bool choose_next(worker &w)
{
    do {
        unsigned int position = w.position;
        for (unsigned int i = 0; i < w.threads; i++) {
            if (++position >= w.threads) position = 0;
            unsigned int thread = w.order[position];
            if (w.state[thread] > ready) continue;
            take_up(w, position, thread);
            return true;
        }
    } while (release_steps(w));
    return false;
}

static void fiber_main();

/* Stops the thread, and goes on with the chosen one: on its own fiber, or on a new one if it has not
 * started. */
static void switch_to_current(worker &w, context &from, fiber &from_fiber)
{
    unsigned int thread = w.current;
    if (w.state[thread] == unstarted) {
        w.fiber_of[thread] = &take_fiber(w);
        prepare_context(w.stopped_at[thread], *w.fiber_of[thread], fiber_main);
    }
    switch_fiber(from, from_fiber, w.stopped_at[thread], *w.fiber_of[thread]);
}

[[gnu::noinline]] static void wait_for_any(worker &w)
{
    unsigned int thread = w.current;
    if (!choose_next(w)) report_stuck(w);
    if (w.current != thread) switch_to_current(w, w.stopped_at[thread], *w.fiber_of[thread]);
}

/* Stops the current thread until somebody has made it ready and its turn has come. Mostly the next one
 * in order is ready, and this is no more than a jump to its stack, which is fetched into the cache one
 * turn before. */
[[gnu::always_inline]] static inline void wait(worker &w)
{
#if !defined(CUCC_UCONTEXT) && !defined(CUCC_SANITIZE)
    const unsigned int ahead = 2;
    unsigned int thread = w.current, position = w.position + 1;
    if (position + ahead < w.threads) {
        unsigned int next = w.order[position];
        const char *soon = (const char *)w.stopped_at[w.order[position + ahead]];
        __builtin_prefetch(soon);
        __builtin_prefetch(soon + 64);
        if (w.state[next] == ready) {
            take_up(w, position, next);
            cucc_switch_stack(&w.stopped_at[thread], w.stopped_at[next]);
            return;
        }
    }
#endif
    wait_for_any(w);
}

static void release_barrier(worker &w)
{
    clock_barrier(w);
    w.waiting = 0;
    w.released_predicates = w.predicates;
    w.predicates = 0;
    if (w.unfinished == w.threads) {
        memset(w.state, ready, w.threads);
    } else {
        for (unsigned int t = 0; t < w.threads; t++)
            if (w.state[t] == at_barrier) w.state[t] = ready;
    }
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

[[noreturn]] static void report_divergence(worker &w, const char *site)
{
    uint3 other = w.index[w.first_waiting];
    fault(w, cudaErrorLaunchFailure, "divergent barrier: it waits at %s, thread (%u,%u,%u) at %s",
          site, other.x, other.y, other.z, w.barrier_site);
}

/* A barrier does not wait for threads that have exited. When sanitized or checked it does, so that they are
 * reported, and where blocks run at once, which one thread of a block has to know. */
static unsigned int awaited(const worker &w)
{
#if defined(CUCC_SANITIZE) || defined(CUCC_CHECK)
    return w.threads;
#else
    return w.group ? w.threads : w.unfinished;
#endif
}

[[gnu::noinline]] static void wait_at_first(worker &w, const char *site)
{
    w.barrier_site = site;
    w.first_waiting = w.current;
    if (w.waiting == awaited(w)) release_barrier(w);
    wait_for_any(w);
}

[[gnu::noinline]] static void wait_at_other(worker &w, const char *site)
{
    if (strcmp(site, w.barrier_site)) report_divergence(w, site);
    if (w.waiting == awaited(w)) release_barrier(w);
    wait_for_any(w);
}

/* What it does rarely is elsewhere, so that it needs no stack of its own. */
void barrier(const char *site)
{
    worker &w = worker_in_kernel("__syncthreads");
    w.state[w.current] = at_barrier;
    unsigned int waiting = ++w.waiting;
    if (__builtin_expect(waiting == 1, 0)) return wait_at_first(w, site);
    if (__builtin_expect(site != w.barrier_site || waiting >= w.unfinished, 0))
        return wait_at_other(w, site);
    wait(w);
}

int barrier(const char *site, int predicate)
{
    worker &w = worker_in_kernel("__syncthreads");
    w.predicates += predicate != 0;
    barrier(site);
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
[[gnu::noinline]] static uint64_t answer(const warp_requests &r, unsigned int lanes, int i)
{
    uint64_t result = 0;
    bool first = true;
    for (unsigned int left = lanes; left; left &= left - 1) {
        int other = __builtin_ctz(left);
        uint64_t value = r.value[other];
        if (r.function[i] == warp_match)
            result |= (uint64_t)(value == r.value[i]) << other;
        else
            result = first ? value : combine(r.function[i], result, value);
        first = false;
    }
    return result;
}

/* The answer of each of LANES, and these can go on. */
static void answer_lanes(worker &w, unsigned int warp, unsigned int lanes)
{
    warp_requests &r = w.warp[warp];
    for (unsigned int left = lanes; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        unsigned int source = r.source[i];
        bool takes_part = lanes >> source & 1; /* else 0, as on an H200 */
        switch (r.function[i]) {
        case warp_sync: break;
        case warp_shuffle: r.result[i] = takes_part ? r.value[source] : 0; break;
        case warp_ballot: r.result[i] = r.ballot & lanes; break;
        case warp_table: w.gathered[warp * warp_lanes + (unsigned int)i] = r.value[i]; break;
        default: r.result[i] = answer(r, lanes, i);
        }
        w.state[warp * warp_lanes + (unsigned int)i] = ready;
    }
}

/* Answers the lanes of MASK if all of them that live have arrived. The last one to arrive computes
 * everybody's result, so that a fast lane cannot overwrite what a slow one has yet to read. */
static bool complete_warp_function(worker &w, unsigned int warp, unsigned int mask)
{
    warp_requests &r = w.warp[warp];
    unsigned int lanes = mask & w.live[warp];
    if ((r.waiting & lanes) != lanes) return false;
    for (unsigned int left = r.alike ? 0 : lanes; left; left &= left - 1)
        if (r.mask[__builtin_ctz(left)] != mask) return false;
    r.waiting &= ~lanes;
    if (r.alike && lanes == ~0u && r.function[0] == warp_shuffle) { /* the most frequent one */
        for (int i = 0; i < warp_lanes; i++) r.result[i] = r.value[r.source[i]];
        memset(w.state + warp * warp_lanes, ready, warp_lanes);
    } else {
        answer_lanes(w, warp, lanes);
    }
    clock_lanes(w, warp, lanes);
    return true;
}

/* Makes the warp's first lane the next thread: as long as its lanes wait for none but each other, their
 * stacks stay in the cache. Not for ever, since others may be what they really wait for. */
static void go_on_with_warp(worker &w, unsigned int warp)
{
    const unsigned int most = 64;
    thread_order order = environment().order;
    if (order == shuffled || ++w.warp[warp].completions % most == 0) return;
    unsigned int first = warp * warp_lanes;
    if (order == backward) first = w.threads - std::min(first + warp_lanes, w.threads);
    w.position = (first ? first : w.threads) - 1;
}

[[gnu::noinline]] static void complete_and_wait(worker &w, unsigned int warp, unsigned int mask)
{
    if (complete_warp_function(w, warp, mask)) go_on_with_warp(w, warp);
    wait_for_any(w);
}

/* Like barrier, it needs little of the stack. */
[[gnu::always_inline]] static inline void request(worker &w, warp_function function,
                                                  unsigned int mask, uint64_t value,
                                                  int source_lane)
{
    unsigned int thread = w.current, warp = thread / warp_lanes, lane = thread % warp_lanes;
    warp_requests &r = w.warp[warp];
    if (__builtin_expect(!(mask >> lane & 1), 0))
        fault(w, cudaErrorLaunchFailure,
              "warp function called by lane %u, which is not in its mask 0x%08x", lane, mask);
    unsigned int before = r.waiting, other = before ? (unsigned int)__builtin_ctz(before) : lane;
    r.function[lane] = function;
    r.mask[lane] = mask;
    r.source[lane] = (unsigned int)source_lane % warp_lanes;
    r.value[lane] = value;
    r.ballot = (before ? r.ballot & ~(1u << lane) : 0) | (unsigned int)(value & 1) << lane;
    r.alike = (!before || r.alike) && r.function[other] == function && r.mask[other] == mask;
    r.waiting = before | 1u << lane;
    w.state[thread] = in_warp_function;
    if ((r.waiting & mask & w.live[warp]) == (mask & w.live[warp]))
        complete_and_wait(w, warp, mask);
    else
        wait(w);
}

uint64_t warp_exchange(warp_function function, unsigned int mask, uint64_t value, int source_lane)
{
    request(worker_in_kernel("a warp function"), function, mask, value, source_lane);
    const worker &w = *self;
    return w.warp[w.current / warp_lanes].result[w.current % warp_lanes];
}

void whole_warp(const char *function)
{
    worker &w = worker_in_kernel(function);
    unsigned int live = w.live[w.current / warp_lanes];
    if (~live)
        fault(w, cudaErrorLaunchFailure,
              "%s is a function of all 32 lanes of a warp, and %d lanes are missing: the block has "
              "no such threads, or they have ended",
              function, __builtin_popcount(~live));
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
    for (unsigned int left = w.warp[warp].waiting; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        if (w.warp[warp].waiting >> i & 1) complete_warp_function(w, warp, w.warp[warp].mask[i]);
    }
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
    fiber &own = *w.fiber_of[w.current];
    for (;;) {
        w.fiber_of[w.current] = &own;
        w.state[w.current] = ready;
        request.run_thread(request.closure);
        w.state[w.current] = finished;
        w.unfinished--;
        leave_warp(w, w.current);
        if (!w.unfinished) break;
        if (w.waiting && w.waiting == awaited(w)) release_barrier(w);
        if (!choose_next(w)) report_stuck(w);
        if (w.state[w.current] != unstarted) break;
    }
    w.idle.push_back(&own);
#ifdef CUCC_SANITIZE
    const fiber &to = w.unfinished ? *w.fiber_of[w.current] : w.home;
    __sanitizer_start_switch_fiber(nullptr, to.stack, to.usable_size);
#endif
    context nobody;
    switch_context(nobody, w.unfinished ? w.stopped_at[w.current] : w.home_context);
}

void begin_thread(unsigned int number)
{
    worker &w = *self;
    w.current = number;
    threadIdx = w.index[number];
}

/* As loops over the threads, which is right for the forward order only. What the processor refuses is
 * done again by fibers, which know the thread. */
static bool run_as_loops(worker &w)
{
#ifdef CUCC_SANITIZE
    (void)w;
    return false;
#else
    const launch_request &request = w.launch->request;
    if (!w.loops) return false;
    if (int why = sigsetjmp(w.before_loops, 0)) {
        w.loops = w.in_loops = false;
        w.done_twice = why == fault_in_loops;
        w.once_by_fibers = why == lanes_apart;
        begin_shared_memory(w); /* theirs are other variables */
        return false;
    }
    w.in_loops = true;
    request.run_block(request.closure);
    w.in_loops = false;
    return true;
#endif
}

/* What stopped the loops did not come again, so what they had stored and added until then is there twice. */
static void report_done_twice(worker &w)
{
    fprintf(stderr,
            "cucc: kernel %s, block (%u,%u,%u): a fault of one of its threads came only once: the "
            "kernel "
            "depends on the order of its threads (cucc --check names races)\n",
            w.launch->request.kernel, blockIdx.x, blockIdx.y, blockIdx.z);
    w.launch->error = cudaErrorLaunchFailure;
    w.failed = true;
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
    for (unsigned int t = 0; t < w.threads; t += warp_lanes) {
        w.warp[t / warp_lanes].waiting = 0;
        w.live[t / warp_lanes] =
            w.threads - t >= warp_lanes ? 0xffffffffu : (1u << (w.threads - t)) - 1;
    }
    w.unfinished = w.threads;
    w.waiting = 0;
    w.predicates = 0;
    w.failed = w.done_twice = w.once_by_fibers = false;
    if (run_as_loops(w)) return;
    w.position = w.threads - 1;
    choose_next(w);
    switch_to_current(w, w.home_context, w.home);
    clock_block_ends(w);
    if (w.done_twice && !w.failed) report_done_twice(w);
    if (!w.failed) {
        if (w.once_by_fibers) begin_shared_memory(w);
        w.loops |= w.once_by_fibers;
        return;
    }
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

/* What .cu files call in place of printf (cucc). A fault in a text, which ends the thread, must not come while
 * it holds the lock of stdout. */
extern "C" int cucc_printf(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = cucc::self ? vsnprintf(nullptr, 0, format, arguments) : vprintf(format, arguments);
    if (cucc::self && length > 0) {
        std::vector<char> text((size_t)length + 1);
        vsnprintf(text.data(), text.size(), format, again);
        length = (int)fwrite(text.data(), 1, (size_t)length, stdout);
    }
    va_end(again);
    va_end(arguments);
    return length;
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
