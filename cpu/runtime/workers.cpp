/* Launches: their blocks over workers. Blocks that must run at once, those of a cluster or of a
 * cooperative launch, have an OS thread each. */
#include "watch.h"
#include "worker.h"
#include <signal.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace cucc
{
unsigned int worker_number()
{
    return worker_in_kernel("a special register").number;
}

unsigned int worker_count()
{
    return (unsigned int)environment().workers;
}

static void begin_launch(worker &w, launch_state &launch)
{
    static thread_local bool watched;
    if (!watched) watch_signals();
    watched = true;
    const dim3 &block = launch.request.block;
    w.launch = &launch;
    w.group = nullptr;
    w.rank = 0;
    w.loops = launch.request.run_block && environment().order == forward;
    w.in_loops = false;
    bool as_before = w.block.x == block.x && w.block.y == block.y && w.block.z == block.z &&
                     environment().order == forward;
    w.block = block;
    w.threads = launch.threads;
    for (unsigned int t = 0; t < w.threads && !as_before; t++) {
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

#ifndef CUCC_SANITIZE
#ifdef CUCC_CHECK
static const char *const names_the_line = "";
#else
static const char *const names_the_line = " (cucc --sanitize names the line)";
#endif

/* What the processor refuses a thread of a kernel fails the launch; elsewhere it ends the program. */
static void report_signal(int signal, siginfo_t *info, void *)
{
    if (self && self->in_loops) siglongjmp(self->before_loops, fault_in_loops);
    bool in_kernel = self && signal != SIGABRT;
    if (in_kernel && signal == SIGFPE)
        fault(*self, cudaErrorLaunchFailure, "a whole number is divided by zero");
    if (in_kernel)
        fault(*self, cudaErrorIllegalAddress, "it reads or writes %p, where there is no memory%s%s",
              info->si_addr, names_the_line,
              on_guard_page(*self, info->si_addr)
                  ? ": its stack is too small for its variables (cudaLimitStackSize)"
                  : "");
    struct sigaction otherwise = {};
    otherwise.sa_handler = SIG_DFL;
    sigaction(signal, &otherwise, nullptr);
#ifdef CUCC_CHECK        /* what was found may be why */
    const int most = 10; /* seconds: the heap may be spoilt, or its lock taken */
    alarm(most);
    print_findings();
    page_at_signal(signal);
    alarm(0);
#endif
    if (info->si_code <= 0) raise(signal); /* somebody has sent it: it does not come by itself */
}

/* On a stack of its own, since that of the thread may be full. */
void watch_signals()
{
    static thread_local char stack[64 * 1024];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = report_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
#ifdef CUCC_CHECK
    const int watched_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
#else
    const int watched_signals[] = {SIGSEGV, SIGBUS, SIGFPE};
#endif
    for (int signal : watched_signals) {
        struct sigaction present;
        sigaction(signal, nullptr, &present);
        if (present.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
    }
}
#else
void watch_signals()
{
}
#endif

static void end_launch(launch_state &launch)
{
#ifdef CUCC_COUNT
    access_counts counts = take_counts();
    std::lock_guard<std::mutex> lock(launch.counts_lock);
    add(launch.counts, counts);
#else
    (void)launch;
#endif
    self = nullptr;
}

static void work(worker &w, launch_state &launch)
{
    self = &w;
    begin_launch(w, launch);
#ifdef CUCC_SANITIZE
    find_own_stack(w.home);
#endif
    while (!launch.failed) {
        uint64_t block = launch.next_block++;
        if (block >= launch.blocks) break;
        run_block(w, block);
    }
    end_launch(launch);
}

/* Workers other than the first, who is the host thread that launches, sleep between launches. */
struct worker_pool {
    std::mutex lock;
    std::condition_variable begin, end;
    std::vector<std::unique_ptr<worker>> workers;
    launch_state *launch = nullptr;
    int wanted = 0, running = 0;
};

/* Shared memory, between two pages that nobody may touch; it is not among the memory of devices. */
static char *map_arena()
{
    char *memory = (char *)mmap(nullptr, shared_arena_size + 2 * memory_page, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED ||
        mprotect(memory + memory_page, shared_arena_size, PROT_READ | PROT_WRITE)) {
        perror("cucc: no memory for shared memory");
        abort();
    }
    return memory + memory_page;
}

static std::unique_ptr<worker> new_worker(unsigned int number = 0)
{
    std::unique_ptr<worker> w(new worker{});
    w->number = number;
    w->arena = map_arena();
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
        for (int i = 0; i < environment().workers; i++)
            p->workers.push_back(new_worker((unsigned int)i));
        for (int i = 1; i < environment().workers; i++)
            std::thread(worker_main, std::ref(*p), std::ref(*p->workers[(size_t)i])).detach();
        return p;
    }();
    return *pool;
}

static void run_spread(launch_state &launch)
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

/* ---- blocks that run at once ----------------------------------------------------------------- */

/* Waits until all blocks of the group that live have come. A block that has ended counts as one that has
 * come to a cluster's barrier; a grid's would wait for it for ever. */
static void meet(worker &w, block_group &group)
{
    std::unique_lock<std::mutex> lock(group.lock);
    uint64_t generation = group.generation;
    group.arrived++;
    clock_group_arrives(w);
    if (group.arrived >= group.live && !(group.whole_grid && group.live < group.members.size())) {
        group.arrived = 0;
        group.generation++;
        clock_group_leaves(group);
        group.released.notify_all();
    }
    group.released.wait(lock, [&] {
        return group.generation != generation || group.failed ||
               (group.whole_grid && group.live < group.members.size());
    });
    if (group.generation != generation) return;
    bool first = !group.failed;
    group.failed = true;
    lock.unlock();
    group.released.notify_all();
    if (first)
        fault(w, cudaErrorLaunchFailure,
              "the barrier of the grid is never complete: a block has ended without coming to it");
    give_up(w);
}

/* Ends a block, and waits until all others of the group have ended: the next ones begin together. */
static void leave(block_group &group, bool failed)
{
    std::unique_lock<std::mutex> lock(group.lock);
    uint64_t round = group.round;
    group.failed |= failed;
    if (--group.live == 0) {
        group.live = (unsigned int)group.members.size();
        group.arrived = 0;
        group.round++;
    } else if (!group.whole_grid && group.arrived >= group.live) {
        group.arrived = 0;
        group.generation++;
    }
    group.released.notify_all();
    group.released.wait(lock, [&] { return group.round != round; });
}

static void group_barrier(worker &w, const char *site)
{
    barrier(site, 0);
    if (w.current == 0) meet(w, *w.group);
    barrier(site, 0);
}

void grid_barrier()
{
    worker &w = worker_in_kernel("a grid's sync");
    if (w.launch->blocks == 1) {
        barrier("a grid's sync", 0);
        return;
    }
    if (!w.group || !w.group->whole_grid)
        trap("the sync of a grid needs a cooperative launch (cudaLaunchCooperativeKernel)");
    group_barrier(w, "a grid's sync");
}

bool is_cooperative()
{
    return worker_in_kernel("a grid's is_valid").launch->request.cooperative;
}

void cluster_barrier()
{
    worker &w = worker_in_kernel("a cluster's sync");
    if (w.group && !w.group->whole_grid)
        group_barrier(w, "a cluster's sync");
    else
        barrier("a cluster's sync", 0);
}

unsigned int cluster_rank()
{
    worker &w = worker_in_kernel("a cluster's block_rank");
    return w.group && !w.group->whole_grid ? w.rank : 0;
}

dim3 cluster_dimensions()
{
    return worker_in_kernel("a cluster").launch->cluster;
}

/* Block RANK of cluster number CLUSTER. */
static uint64_t block_of_cluster(const launch_state &launch, uint64_t cluster, unsigned int rank)
{
    const dim3 grid = launch.request.grid, c = launch.cluster;
    uint64_t wide = grid.x / c.x, high = grid.y / c.y;
    uint64_t x = cluster % wide * c.x + rank % c.x;
    uint64_t y = cluster / wide % high * c.y + rank / c.x % c.y;
    uint64_t z = cluster / wide / high * c.z + rank / c.x / c.y;
    return (z * grid.y + y) * grid.x + x;
}

/* One block after another of the same rank, each together with the others of its group. */
static void work_in_group(worker &w, launch_state &launch, block_group &group, unsigned int rank)
{
    self = &w;
    begin_launch(w, launch);
#ifdef CUCC_SANITIZE
    find_own_stack(w.home);
#endif
    w.group = &group;
    w.rank = rank;
    uint64_t groups = launch.blocks / group.members.size();
    for (uint64_t g = 0; g < groups; g++) {
        run_block(w, group.whole_grid ? rank : block_of_cluster(launch, g, rank));
        leave(group, launch.failed);
        if (launch.failed) break;
    }
    end_launch(launch);
}

static void run_in_groups(launch_state &launch, unsigned int size, bool whole_grid)
{
    static std::vector<std::unique_ptr<worker>> &crew = /* used under the launch lock */
        *new std::vector<std::unique_ptr<worker>>;
    block_group group;
    std::vector<std::thread> threads;
    while (crew.size() < size) crew.push_back(new_worker());
    group.live = size;
    group.arrived = 0;
    group.generation = group.round = 0;
    group.whole_grid = whole_grid;
    group.failed = false;
    for (unsigned int i = 0; i < size; i++) group.members.push_back(crew[i].get());
    for (unsigned int i = 0; i < size; i++)
        threads.emplace_back(work_in_group, std::ref(*crew[i]), std::ref(launch), std::ref(group),
                             i);
    for (std::thread &t : threads) t.join();
}

/* The caller holds the launch lock. */
void run_blocks(launch_state &launch)
{
    const dim3 &c = launch.cluster;
    lay_out_shared_memory(launch);
    clock_launch(launch);
    if (launch.request.cooperative && launch.blocks > 1)
        run_in_groups(launch, (unsigned int)launch.blocks, true);
    else if (c.x * c.y * c.z > 1)
        run_in_groups(launch, c.x * c.y * c.z, false);
    else
        run_spread(launch);
    clock_launch_ends(launch);
}

/* ---- launches inside kernels ----------------------------------------------------------------- */

/* Workers for them, used again since their stacks are. */
struct spare_workers {
    std::mutex lock;
    std::vector<std::unique_ptr<worker>> list;

    std::unique_ptr<worker> take()
    {
        std::lock_guard<std::mutex> guard(lock);
        if (list.empty()) return new_worker();
        std::unique_ptr<worker> w = std::move(list.back());
        list.pop_back();
        return w;
    }
    void give(std::unique_ptr<worker> w)
    {
        std::lock_guard<std::mutex> guard(lock);
        list.push_back(std::move(w));
    }
};

static spare_workers &spare()
{
    static spare_workers *s = new spare_workers;
    return *s;
}

/* On the stack of the thread that waits for it. */
void run_nested(launch_state &launch)
{
    worker *outer = self;
    uint3 thread = threadIdx, block = blockIdx;
    dim3 block_dimensions = blockDim, grid = gridDim;
    std::unique_ptr<worker> inner = spare().take();
    lay_out_shared_memory(launch);
    clock_launch(launch);
    self = inner.get();
    begin_launch(*inner, launch);
    const fiber &running = *outer->fiber_of[outer->current];
    inner->home.stack = running.stack;
    inner->home.usable_size = running.usable_size;
    while (!launch.failed && launch.next_block < launch.blocks)
        run_block(*inner, launch.next_block++);
    end_launch(launch);
    clock_launch_ends(launch);
    self = outer;
    threadIdx = thread;
    blockIdx = block;
    blockDim = block_dimensions;
    gridDim = grid;
    spare().give(std::move(inner));
}
} // namespace cucc
