/* What happens before what in a kernel. A barrier orders all that the threads of a block did before it; a
 * warp function, what its lanes did; an atomic or volatile store, what is behind the thread's last fence, for
 * those who see it; the barriers of a grid and of a cluster, everything. */
#include "check_state.h"
#include <sys/mman.h>

namespace cucc
{
static std::unordered_map<uintptr_t, shared_knowledge> &objects() /* atomics in global memory */
{
    static auto *all = new std::unordered_map<uintptr_t, shared_knowledge>;
    return *all;
}

/* ---- joining what is known ------------------------------------------------------------------- */

static void join_rows(lane_row &to, const lane_row &from)
{
    for (unsigned int i = 0; i < warp_lanes; i++) to[i] = std::max(to[i], from[i]);
}

static void join_block(known_block &to, const known_block &from)
{
    to.before = std::max(to.before, from.before);
    for (auto &warp : from.warps) join_rows(to.warps[warp.first], warp.second);
}

static shared_knowledge join(const shared_knowledge &a, const shared_knowledge &b)
{
    if (!a || a == b) return b;
    if (!b) return a;
    auto both = std::make_shared<knowledge>(*a);
    for (auto &block : *b) join_block((*both)[block.first], block.second);
    return both;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

template <class T> static T *reserve(size_t count)
{
    void *memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("cucc: no memory for --check");
        exit(2);
    }
    return (T *)memory;
}

/* Once for each worker. */
void make_block_check(worker &w)
{
    if (w.check) return;
    w.check = new block_check();
    w.check->words = reserve<word_record>(shared_arena_size / 4);
    w.check->written = reserve<uint8_t>(shared_arena_size / 4);
    w.check->in_flight = reserve<uint8_t>(shared_arena_size / 4);
}

static void forget_shared(worker &w)
{
    for (const shared_block &s : w.shared) {
        uint8_t *written = w.check->written + (s.address - w.arena) / 4;
        for (size_t i = 0; i < (s.size + 3) / 4; i++) written[i] &= byte_mask << 4;
    }
}

void clock_block(worker &w)
{
    make_block_check(w);
    block_check &b = *w.check;
    dim3 grid = w.launch->request.grid;
    b.block = (blockIdx.z * grid.y + blockIdx.y) * grid.x + blockIdx.x;
    b.start = b.barrier = ++b.now;
    b.published = 0;
    b.fenced = b.uses_atomics = false;
    memset(b.fence, 0, w.threads * sizeof *b.fence);
    if (b.learning) {
        b.block_learned = b.block_published = nullptr;
        for (unsigned int t = 0; t < max_threads; t++) b.learned[t] = b.to_publish[t] = nullptr;
        b.learning = false;
    }
    b.objects.clear();
    memset(b.recent, 0, sizeof b.recent);
    if (!++b.generation) { /* all have been used */
        madvise(b.words, shared_arena_size / 4 * sizeof *b.words, MADV_DONTNEED);
        b.generation = 1;
    }
    forget_shared(w);
    forget_copies(w);
    grid_block(w);
}

void clock_block_ends(worker &w)
{
    settle();
    if (cucc_options.report) report_block(w);
}

void clock_barrier(worker &w)
{
    block_check &b = *w.check;
    settle();
    b.barrier = ++b.now;
    if (b.fenced) b.published = b.now;
    if (b.learning)
        for (unsigned int t = 0; t < w.threads; t++) {
            b.block_learned = join(b.block_learned, b.learned[t]);
            if (b.fenced) b.block_published = join(b.block_published, b.to_publish[t]);
            b.learned[t] = nullptr;
        }
    b.fenced = false;
    if (cucc_options.report) report_block(w);
}

void clock_lanes(worker &w, unsigned int warp, unsigned int lanes)
{
    block_check &b = *w.check;
    lane_row known = {}, behind_fence = {};
    shared_knowledge learned, to_publish;
    settle();
    b.now++;
    for (unsigned int left = lanes; left; left &= left - 1) {
        unsigned int i = (unsigned int)__builtin_ctz(left), t = warp * warp_lanes + i;
        b.known[warp][i][i] = b.now;
        join_rows(known, b.known[warp][i]);
        join_rows(behind_fence, b.behind_fence[warp][i]);
        if (!b.learning) continue;
        learned = join(learned, b.learned[t]);
        to_publish = join(to_publish, b.to_publish[t]);
    }
    uint32_t fence = 0;
    for (unsigned int left = lanes; left; left &= left - 1)
        fence = std::max(fence, b.fence[warp * warp_lanes + (unsigned int)__builtin_ctz(left)]);
    for (unsigned int left = lanes; left; left &= left - 1) {
        unsigned int i = (unsigned int)__builtin_ctz(left), t = warp * warp_lanes + i;
        b.known[warp][i] = known;
        b.behind_fence[warp][i] = behind_fence;
        b.fence[t] = fence;
        b.synchronised[t] = b.now;
        if (!b.learning) continue;
        b.learned[t] = learned;
        b.to_publish[t] = to_publish;
    }
}

void fence_thread(worker &w)
{
    block_check &b = *w.check;
    unsigned int t = w.current, warp = t / warp_lanes, lane = t % warp_lanes;
    settle();
    b.known[warp][lane][lane] = ++b.now;
    b.behind_fence[warp][lane] = b.known[warp][lane];
    b.fence[t] = b.barrier;
    b.fenced = true;
    if (b.learning) b.to_publish[t] = join(b.block_learned, b.learned[t]);
}

/* ---- atomics --------------------------------------------------------------------------------- */

static shared_knowledge &object_at(const access_event &e, uintptr_t address)
{
    bool own = address - (uintptr_t)e.w.arena < shared_arena_size;
    return own ? e.b.objects[address] : objects()[address];
}

void publish(const access_event &e, uintptr_t address)
{
    block_check &b = e.b;
    bool fenced = b.fence[e.thread] >= b.start;
    if (!fenced && b.published <= b.start) return;
    shared_knowledge &object = object_at(e, address);
    auto all = std::make_shared<knowledge>();
    if (object) *all = *object;
    if (b.block_published)
        for (auto &block : *b.block_published) join_block((*all)[block.first], block.second);
    if (b.to_publish[e.thread])
        for (auto &block : *b.to_publish[e.thread]) join_block((*all)[block.first], block.second);
    known_block own;
    own.before = std::max(b.published, b.fence[e.thread]);
    unsigned int warp = e.thread / warp_lanes;
    if (fenced) own.warps[warp] = b.behind_fence[warp][e.thread % warp_lanes];
    join_block((*all)[b.block], own);
    object = all;
}

void learn(const access_event &e, uintptr_t address)
{
    bool own = address - (uintptr_t)e.w.arena < shared_arena_size;
    auto &all = own ? e.b.objects : objects();
    if (all.empty()) return;
    auto object = all.find(address);
    if (object == all.end() || !object->second) return;
    e.b.learning = true;
    e.b.learned[e.thread] = join(e.b.learned[e.thread], object->second);
}

/* ---- the question ---------------------------------------------------------------------------- */

static bool is_learned(const shared_knowledge &known, const access_record &r)
{
    if (!known) return false;
    auto block = known->find(r.block);
    if (block == known->end()) return false;
    if (r.stamp < block->second.before) return true;
    auto warp = block->second.warps.find(r.thread / warp_lanes);
    return warp != block->second.warps.end() && r.stamp < warp->second[r.thread % warp_lanes];
}

static bool in_group(const worker &w, uint32_t block)
{
    if (!w.group) return false;
    if (w.group->whole_grid) return true;
    for (const worker *member : w.group->members)
        if (member->check && member->check->block == block) return true;
    return false;
}

bool happened_before(const access_event &e, const access_record &r)
{
    const block_check &b = e.b;
    unsigned int warp = e.thread / warp_lanes;
    if (r.block == b.block) {
        if (r.thread == e.thread || r.stamp < b.barrier) return true;
        if (r.thread / warp_lanes == warp &&
            r.stamp < b.known[warp][e.thread % warp_lanes][r.thread % warp_lanes])
            return true;
    } else if (in_group(e.w, r.block) && r.stamp < e.w.launch->check->met[r.block]) {
        return true;
    }
    return b.learning && (is_learned(b.block_learned, r) || is_learned(b.learned[e.thread], r));
}

/* ---- blocks that run at once ----------------------------------------------------------------- */

/* Both are called with the lock of the group. */
void clock_group_arrives(worker &w)
{
    w.launch->check->arriving[w.check->block] = w.check->barrier;
}

void clock_group_leaves(block_group &group)
{
    launch_check &l = *group.members[0]->launch->check;
    l.met = l.arriving;
}

/* ---- launches -------------------------------------------------------------------------------- */

void clock_launch(launch_state &launch)
{
    static uint16_t generation = 0;
    if (!inside_kernel()) objects().clear();
    if (!++generation) {
        for (watched *m : all_watched())
            if (m->words) madvise(m->words, m->records, MADV_DONTNEED);
        generation = 1;
    }
    launch_check *l = launch.check = new launch_check();
    l->generation = generation;
    bool together =
        launch.request.cooperative || launch.cluster.x * launch.cluster.y * launch.cluster.z > 1;
    l->met.assign(together ? launch.blocks : 0, 0);
    l->arriving = l->met;
    l->launched = launch.request.launched;
    l->launched_at = launch.request.launched_at;
    launch_in_order(launch);
    l->memory = all_watched();
    l->low = l->memory.empty() ? 0 : l->memory.front()->begin;
    l->high = l->memory.empty() ? 0 : l->memory.back()->end;
    if (cucc_options.report) report_launch(launch);
    grid_begins(launch);
}

void clock_launch_ends(launch_state &launch)
{
    settle();
    grid_ends(launch);
    delete launch.check;
    launch.check = nullptr;
    print_findings();
}
} // namespace cucc
