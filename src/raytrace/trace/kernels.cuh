/* src/raytrace/trace/kernels.cuh. The kernels that build a tree, and those that ask it.
   Uses: config.h, kernels/culling.cuh, trace/. Used by: trace/host/. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TREE_KERNELS)
#define RAYT__PART_TREE_KERNELS
/* ============================== KERNELS TREE ================================================== */
/* What BUILD and WALKS describe, for threads: one a sphere, a child of a node, or a ray. The bytes that
   each kernel of a build moves stand above it. Bounds, totals, queue, flags and meetings begin as 0. */

/* The bounds of every `step`-th sphere from `first` on, the thread's own, and of the whole block; to
   `most`, shared memory that begins as 0. */
static __device__ __forceinline__ void rayt__measure(const rayt__build *build, int first, int step,
                                                     unsigned *most)
{
    unsigned own[7] = {0, 0, 0, 0, 0, 0, 0};
#pragma unroll 4
    for (int i = first; i < build->count; i += step) { /* no branch: four loads are under way */
        float4 ball = rayt__ball_of(build->spheres, i);
        bool solid = rayt_solid(ball);
        unsigned keys[3] = {rayt__sort_key(ball.x), rayt__sort_key(ball.y), rayt__sort_key(ball.z)};
#pragma unroll
        for (int k = 0; k < 3; k++) {
            unsigned high = solid ? keys[k] : 0, low = solid ? ~keys[k] : 0;
            own[k] = high > own[k] ? high : own[k];
            own[3 + k] = low > own[3 + k] ? low : own[3 + k];
        }
        own[6] += solid;
    }
#pragma unroll
    for (int k = 0; k < 7; k++) {
        for (int step = 16; step > 0; step /= 2) {
            unsigned other = __shfl_xor_sync(0xffffffffu, own[k], step);
            own[k] = k == 6 ? own[k] + other : other > own[k] ? other : own[k];
        }
        if (threadIdx.x % 32 == 0) {
            if (k == 6) {
                atomicAdd(&most[k], own[k]);
            } else {
                atomicMax(&most[k], own[k]);
            }
        }
    }
    __syncthreads();
}

static __device__ __forceinline__ rayt__box rayt__measured(const unsigned *bounds)
{
    rayt__box all = {rayt__from_sort_key(~bounds[3]), rayt__from_sort_key(~bounds[4]),
                     rayt__from_sort_key(~bounds[5]), rayt__from_sort_key(bounds[0]),
                     rayt__from_sort_key(bounds[1]),  rayt__from_sort_key(bounds[2])};
    return all;
}

/* Bounds, codes and SORT of up to RAYT__FEW spheres, and the zeros that other kernels need. A block
   sorts 32 spheres: the place of each is how many of all have a lower code, or the same code and a
   lower index. Each block needs all codes for that. */
RAYT_KERNEL void __launch_bounds__(RAYT__FEW_THREADS) rayt_tree_few(rayt__build build)
{
    __shared__ unsigned long long words[RAYT__FEW]; /* code and index: no two are equal */
    __shared__ unsigned most[8];
    __shared__ int places[32];
    int thread = (int)threadIdx.x, lane = thread % 32, own = (int)blockIdx.x * 32 + lane;
    if (thread < 8) most[thread] = 0;
    if (thread < 32) places[thread] = 0;
    __syncthreads();
    rayt__measure(&build, thread, RAYT__FEW_THREADS, most);
    rayt__box all = rayt__measured(most);
    if (blockIdx.x == 0) {
        if (thread < 8) build.bounds[thread] = most[thread];
        if (thread < RAYT__QUEUE) build.queue[thread] = 0;
    }
    for (int i = thread; i < build.count; i += RAYT__FEW_THREADS)
        words[i] = rayt__code(rayt__ball_of(build.spheres, i), all) * RAYT__FEW | (unsigned)i;
    __syncthreads();
    unsigned long long word = own < build.count ? words[own] : 0;
    int lower = 0;
#pragma unroll 4
    for (int i = thread / 32; i < build.count; i += RAYT__FEW_THREADS / 32)
        lower += words[i] < word;
    atomicAdd(&places[lane], lower);
    __syncthreads();
    if (thread >= 32 || own >= build.count) return;
    build.keys[places[lane]] = word / RAYT__FEW;
    build.order[places[lane]] = own;
    build.meetings[own] = 0;
    if (own < (build.count + 3) / 4) build.flags[own] = 0;
}

/* 16 of each 32 bytes of a sphere are read. */
RAYT_KERNEL void __launch_bounds__(256) rayt_tree_bounds(rayt__build build)
{
    __shared__ unsigned most[7];
    if (threadIdx.x < 7) most[threadIdx.x] = 0;
    __syncthreads();
    rayt__measure(&build, (int)(blockIdx.x * 256 + threadIdx.x), (int)gridDim.x * 256, most);
    if (threadIdx.x < 6) atomicMax(&build.bounds[threadIdx.x], most[threadIdx.x]);
    if (threadIdx.x == 6) atomicAdd(&build.bounds[6], most[6]);
}

/* 16 of each 32 bytes read, 8 written. */
RAYT_KERNEL void __launch_bounds__(RAYT__DIGITS) rayt_tree_codes(rayt__build build)
{
    __shared__ unsigned counts[RAYT__PASSES][RAYT__DIGITS];
    int thread = (int)threadIdx.x;
    for (int pass = 0; pass < RAYT__PASSES; pass++) counts[pass][thread] = 0;
    rayt__box all = rayt__measured(build.bounds);
    __syncthreads();
#pragma unroll 4
    for (int i = blockIdx.x * RAYT__DIGITS + thread; i < build.count;
         i += gridDim.x * RAYT__DIGITS) {
        unsigned long long key = rayt__code(rayt__ball_of(build.spheres, i), all);
        build.keys[i] = key;
        for (int pass = 0; pass < RAYT__PASSES; pass++)
            atomicAdd(&counts[pass][rayt__digit(key, 8 * pass)], 1u);
    }
    __syncthreads();
    for (int pass = 0; pass < RAYT__PASSES; pass++)
        if (counts[pass][thread] > 0)
            atomicAdd(&build.totals[pass * RAYT__DIGITS + thread], counts[pass][thread]);
}

/* The difference between leaf i and the next one; at either end of all more than any. */
static __device__ __forceinline__ unsigned long long rayt__difference_at(const rayt__build *build,
                                                                         int i)
{
    return i >= 0 && i < (int)build->bounds[6] - 1 ? rayt__difference(build->keys, i) : ~0ull;
}

/* A thread begins with a leaf. In a block halves meet in shared memory, in rounds: right halves leave
   their box and end; left ones, once their other half is there, go on with the whole. A half whose
   other half belongs to another block climbs on in global memory: where two meet, the first leaves
   its end of the range and ends; the second goes on. A gather of 32 bytes a leaf, 32 written a pair.
   What bounds it: barriers, and the latency of the climb, whose every step waits for L2. */
RAYT_KERNEL void __launch_bounds__(RAYT__MERGE_THREADS) rayt_tree_merge(rayt__build build)
{
    __shared__ unsigned long long differences[RAYT__MERGE_THREADS + 1]; /* from the leaf before */
    __shared__ rayt__box boxes[RAYT__MERGE_THREADS];                    /* of right halves */
    __shared__ int ends[RAYT__MERGE_THREADS], names[RAYT__MERGE_THREADS];
    int thread = (int)threadIdx.x, begin = (int)blockIdx.x * RAYT__MERGE_THREADS;
    int i = begin + thread, count = (int)build.bounds[6];
    if (begin >= count) return; /* the same for all threads */
    int first = i, last = i, name = i, parent = 0;
    bool left = false, going = i < count && count > 1, moved = going;
    rayt__box box = {0, 0, 0, 0, 0, 0};
    if (i < count) box = rayt__range_box(&build, i, i, i);
    if (i < count) differences[thread + 1] = rayt__difference_at(&build, i);
    if (thread == 0) differences[0] = rayt__difference_at(&build, begin - 1);
    ends[thread] = -1;
    __syncthreads();
    do {
        if (moved) {
            left = differences[last - begin + 1] < differences[first - begin];
            parent = left ? last : first - 1;
            if (!left && parent >= begin) {
                boxes[parent - begin] = box;
                names[parent - begin] = name;
                ends[parent - begin] = last;
            }
        }
        __syncthreads();
        moved =
            going && left && parent < begin + RAYT__MERGE_THREADS - 1 && ends[parent - begin] >= 0;
        if (moved) {
            box = rayt__around(box, boxes[parent - begin]);
            rayt__set_pair(&build.pairs[parent], box, name, names[parent - begin]);
            last = ends[parent - begin];
            ends[parent - begin] = -1;
            name = parent;
            going = last - first + 1 < count;
            if (!going) build.bounds[7] = (unsigned)name;
            moved = going;
        }
    } while (__syncthreads_or(moved));
    if (!left && parent >= begin && ends[parent - begin] < 0) going = false; /* it was met */
    unsigned long long before = going ? rayt__difference_at(&build, first - 1) : 0;
    unsigned long long after = going ? rayt__difference_at(&build, last) : 0;
    while (going) {
        left = after < before;
        parent = left ? last : first - 1;
        __threadfence();
        unsigned long long met =
            atomicExch(&build.meetings[parent],
                       (unsigned long long)((left ? first : last) + 1) << 32 | (unsigned)name);
        if (met == 0) return;
        __threadfence();
        int end = (int)(met >> 32) - 1, other = (int)met;
        if (left) {
            after = rayt__difference_at(&build, end);
        } else {
            before = rayt__difference_at(&build, end - 1);
        }
        rayt__box sibling = left ? rayt__range_box(&build, last + 1, end, other)
                                 : rayt__range_box(&build, end, first - 1, other);
        box = rayt__around(box, sibling);
        rayt__set_pair(&build.pairs[parent], box, left ? name : other, left ? other : name);
        first = left ? first : end;
        last = left ? end : last;
        name = parent;
        going = last - first + 1 < count;
        if (!going) build.bounds[7] = (unsigned)name;
    }
}

/* What a lane knows of its child, one of 8 of a node to be; none if `last` is less than `first`. */
typedef struct rayt__child {
    int first, last, name, left, right;
    rayt__box box;
} rayt__child;

static __device__ __forceinline__ void rayt__load_child(const rayt__build *build, int first,
                                                        int last, int name, rayt__child *child)
{
    child->first = first;
    child->last = last;
    child->name = name;
    if (first == last) {
        child->box = rayt__own_box(rayt__ball_of(build->spheres, build->order[first]));
    } else if (first < last) {
        const float4 *pair = (const float4 *)&build->pairs[name];
        float4 low = pair[0], high = pair[1];
        rayt__box box = {low.x, low.y, low.z, high.x, high.y, high.z};
        child->box = box;
        child->left = __float_as_int(low.w);
        child->right = __float_as_int(high.w);
    }
}

/* Opens the widest of a node's descendants until there are 8; 8 lanes a node, a child each. At first
   all have the node itself, in the end those lanes that have no child none. Returns how many. */
static __device__ __forceinline__ int rayt__open_up(const rayt__build *build, rayt__child *own,
                                                    int level)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, shift = (int)threadIdx.x % 32 - lane;
    int many = own->first <= own->last, size = own->last - own->first + 1;
    float worth = lane == 0 && size > 1 ? rayt__worth(own->box, size, level) : -1;
    if (lane > 0) own->last = own->first - 1;
    for (int round = 1; round < RAYT__WIDTH; round++) {
        float most = worth;
#pragma unroll
        for (int step = 4; step > 0; step /= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        unsigned widest = __ballot_sync(0xffffffffu, worth == most && most >= 0);
        if (widest == 0) break; /* nothing to open in the whole warp */
        int from = rayt__lowest(widest >> shift | 128);
        int last = __shfl_sync(0xffffffffu, own->last, from, RAYT__WIDTH);
        int middle = __shfl_sync(0xffffffffu, own->name, from, RAYT__WIDTH);
        int right = __shfl_sync(0xffffffffu, own->right, from, RAYT__WIDTH);
        if (most < 0) continue;
        if (lane == from || lane == many) {
            rayt__load_child(build, lane == from ? own->first : middle + 1,
                             lane == from ? middle : last, lane == from ? own->left : right, own);
            size = own->last - own->first + 1;
            worth = size > 1 ? rayt__worth(own->box, size, level) : -1;
        }
        many++;
    }
    return many;
}

/* Moves each child to the lane that is its slot: each in turn takes the free slot whose octant it
   lies deepest in. */
static __device__ __forceinline__ void rayt__place(rayt__child *own, int many, rayt__box all)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, from = -1;
    float depths[RAYT__WIDTH];
    rayt__depths(rayt__lean(own->box, all), depths);
#pragma unroll
    for (int k = 0; k < RAYT__WIDTH; k++) {
        int slot = __shfl_sync(0xffffffffu, rayt__deepest(depths), k, RAYT__WIDTH);
        if (k >= many) slot = -1;
        if (slot == lane) from = k;
#pragma unroll
        for (int taken = 0; taken < RAYT__WIDTH; taken++)
            if (slot == taken) depths[taken] = -3e38f;
    }
    int source = from < 0 ? lane : from;
    own->first = __shfl_sync(0xffffffffu, own->first, source, RAYT__WIDTH);
    own->last = __shfl_sync(0xffffffffu, own->last, source, RAYT__WIDTH);
    own->name = __shfl_sync(0xffffffffu, own->name, source, RAYT__WIDTH);
    float *box = &own->box.low_x;
#pragma unroll
    for (int k = 0; k < 6; k++) box[k] = __shfl_sync(0xffffffffu, box[k], source, RAYT__WIDTH);
    if (from < 0) own->last = own->first - 1;
}

/* The sum of what lanes before this one have, of its 8. */
static __device__ __forceinline__ int rayt__lanes_before(int own)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, upto = own;
#pragma unroll
    for (int step = 1; step < RAYT__WIDTH; step *= 2) {
        int other = __shfl_up_sync(0xffffffffu, upto, step, RAYT__WIDTH);
        if (lane >= step) upto += other;
    }
    return upto - own;
}

/* Writes a node from its children, one a lane, in their slots, and the spheres of its leaves.
   `planes`: 48 bytes of shared memory for these 8 lanes. *task becomes that of the lane's child. */
static __device__ __forceinline__ void rayt__write(const rayt__build *build, rayt__task *task,
                                                   const rayt__child *own, rayt__box all,
                                                   uint4 *planes)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, shift = (int)threadIdx.x % 32 - lane;
    int size = own->last - own->first + 1, inner = size > RAYT__LEAF_MOST;
    rayt__raster grid = rayt__raster_of(all);
    unsigned char *bytes = (unsigned char *)planes + lane % 4 * 2 + lane / 4;
    bytes[0] = (unsigned char)(size ? rayt__step_low(own->box.low_x, grid.x, grid.ex) : 0);
    bytes[8] = (unsigned char)(size ? rayt__step_low(own->box.low_y, grid.y, grid.ey) : 0);
    bytes[16] = (unsigned char)(size ? rayt__step_low(own->box.low_z, grid.z, grid.ez) : 0);
    bytes[24] = (unsigned char)(size ? rayt__step_high(own->box.high_x, grid.x, grid.ex) : 0);
    bytes[32] = (unsigned char)(size ? rayt__step_high(own->box.high_y, grid.y, grid.ey) : 0);
    bytes[40] = (unsigned char)(size ? rayt__step_high(own->box.high_z, grid.z, grid.ez) : 0);
    unsigned nodes = __ballot_sync(0xffffffffu, inner) >> shift & 255;
    unsigned leaves = (inner ? 8 : (1u << size) - 1) << 4 * lane;
#pragma unroll
    for (int step = 4; step > 0; step /= 2) leaves |= __shfl_xor_sync(0xffffffffu, leaves, step);
    unsigned inners = leaves & 0x88888888u & ~((leaves & 0x11111111u) << 3); /* 8, not 15 */
    leaves ^= inners;
    int room = rayt__lanes_before(inner ? rayt__room(size) : 0);
    int spheres = rayt__lanes_before(inner ? size : 0), to = task->node;
    uint4 words = {rayt__bits_of(grid.x), rayt__bits_of(grid.y), rayt__bits_of(grid.z),
                   rayt__exponents(grid) | nodes << 24};
    uint4 links = {(unsigned)task->room, (unsigned)task->sphere, leaves, inners};
    __syncwarp();
    if (lane == 1) words = links;
    if (lane > 1 && lane < 5) words = planes[lane - 2];
    if (lane < 5 && to >= 0) build->nodes[(size_t)to * 5 + lane] = words;
    if (!inner) {
        int place = task->sphere + rayt__ones(leaves & ((1u << 4 * lane) - 1));
#pragma unroll
        for (int k = 0; k < RAYT__LEAF_MOST; k++) {
            if (k >= size) continue;
            int index = build->order[own->first + k];
            build->balls[place + k] = rayt__ball_of(build->spheres, index);
            build->indices[place + k] = index;
        }
    }
    task->first = own->first;
    task->last = own->last;
    task->name = own->name;
    task->node = task->room + rayt__ones(nodes & ((1u << lane) - 1));
    task->room += rayt__ones(nodes) + room;
    task->sphere += rayt__ones(leaves) + spheres;
}

/* All nodes, from the root down. 8 lanes take a task, make its node and put the tasks of its children
   at the end of the queue. They wait for a task that is not there yet until all are done: only for
   blocks that have tasks, and so run already. A node reads up to 14 halves of 32 bytes and writes 80,
   and 36 a sphere of its leaves, 32 a child. What bounds it: the latency of 7 halvings, one after the
   other, and where nodes are many instructions. */
RAYT_KERNEL void __launch_bounds__(RAYT__WIDEN_THREADS) rayt_tree_widen(rayt__build build, int most)
{
    __shared__ uint4 planes[RAYT__WIDEN_NODES][3];
    __shared__ int made, done, tail, taken; /* of this round; where tasks go; the next ones */
    int thread = (int)threadIdx.x, mine = thread / RAYT__WIDTH, lane = thread % 32;
    const volatile int *flags = build.flags, *open = &build.queue[RAYT__OPEN]; /* others write */
    if (thread == 0) {
        taken = atomicAdd(&build.queue[RAYT__TAKEN], RAYT__WIDEN_NODES);
        made = done = 0;
    }
    __syncthreads();
    for (int ticket = taken + mine;;) {
        bool ready = ticket == 0 || (ticket < most && flags[ticket] != 0);
        ready = __shfl_sync(0xffffffffu, ready, 0, RAYT__WIDTH); /* the same for all 8 lanes */
        if (!__syncthreads_or(ready)) {
            if (__syncthreads_or(thread == 0 && *open < 0)) return;
            __nanosleep(200); /* those who wait slow those who work */
            continue;
        }
        rayt__task task = {0, -1, 0, -1, 0, 0, 0, 0};
        unsigned here = __ballot_sync(0xffffffffu, ready);
        if (here != 0) {
            rayt__child child = {0, -1, 0, 0, 0, {0, 0, 0, 0, 0, 0}};
            __threadfence();
            if (ready && ticket == 0) {
                task.last = (int)build.bounds[6] - 1;
                task.name = (int)build.bounds[7];
                task.node = 0;
                task.room = 1;
            } else if (ready) {
                int4 range = __ldcg((const int4 *)&build.tasks[ticket]);
                int4 rest = __ldcg((const int4 *)&build.tasks[ticket] + 1);
                rayt__task whole = {range.x, range.y, range.z, range.w, rest.x, rest.y, rest.z, 0};
                task = whole;
            }
            rayt__load_child(&build, task.first, task.last, task.name, &child);
            rayt__box all = child.box;
            int children = rayt__open_up(&build, &child, task.level);
            rayt__place(&child, children, all);
            rayt__write(&build, &task, &child, all, planes[mine]);
            task.level++;
        }
        bool inner = task.last - task.first >= RAYT__LEAF_MOST;
        unsigned inners = __ballot_sync(0xffffffffu, inner), before = (1u << lane) - 1;
        int place = 0, turn = 0;
        if (lane == 0 && here != 0) {
            place = atomicAdd(&made, rayt__ones(inners));
            turn = atomicAdd(&done, rayt__ones(here) / RAYT__WIDTH);
        }
        place = __shfl_sync(0xffffffffu, place, 0) + rayt__ones(inners & before);
        turn = __shfl_sync(0xffffffffu, turn, 0) + rayt__ones(here & before) / RAYT__WIDTH;
        __syncthreads();
        if (thread == 0) {
            if (made > 0) tail = 1 + atomicAdd(&build.queue[RAYT__TAIL], made);
            atomicAdd(&build.queue[RAYT__OPEN], made - done); /* before anyone can do these */
            taken = atomicAdd(&build.queue[RAYT__TAKEN], done);
            made = done = 0;
        }
        __syncthreads();
        if (inner) {
            build.tasks[tail + place] = task;
            __threadfence();
            atomicExch(&build.flags[tail + place], 1);
        }
        if (ready) ticket = taken + turn;
    }
}

static __device__ __forceinline__ rayt_unit_ray rayt__ray_of(const rayt_ray *rays, int i, int end)
{
    rayt_ray none = {0, 0, 0, 0, 0, 0, 0, 0}; /* cannot hit */
    if (i >= end) return rayt_ready(none);
    const float4 *record = (const float4 *)&rays[i];
    float4 from = __ldg(record), to = __ldg(record + 1);
    rayt_ray ray = {from.x, from.y, from.z, from.w, to.x, to.y, to.z, to.w};
    return rayt_ready(ray);
}

/* Have the directions of a warp's rays the same signs? Others are no bundle, and this is soon seen. */
static __device__ __forceinline__ bool rayt__one_way(const rayt_ray *rays, int i, int end)
{
    float4 to = __ldg((const float4 *)&rays[i < end ? i : end - 1] + 1);
    unsigned x = __ballot_sync(0xffffffffu, to.x < 0), y = __ballot_sync(0xffffffffu, to.y < 0);
    unsigned z = __ballot_sync(0xffffffffu, to.z < 0);
    return (x + 1 <= 1) && (y + 1 <= 1) && (z + 1 <= 1); /* all or none */
}

static __device__ __forceinline__ int2 rayt__answer(int index, float t, bool any)
{
    if (any) return make_int2(index < 0 ? -1 : 0, 0);
    return make_int2(index, index < 0 ? 0 : __float_as_int(t));
}

/* A block asks for RAYT__QUERY_THREADS `rounds` rays, 32 neighbours at a time. Those that are side by
   side are a bundle. The others walk alone: a lane whose ray has ended waits until `enough` of its warp
   have; then they take the next rays together. */
RAYT_KERNEL void __launch_bounds__(RAYT__QUERY_THREADS, 8)
    rayt_query_rays(rayt__tree_view tree, const rayt_ray *__restrict__ rays, int count, int rounds,
                    int enough, bool any, int2 *__restrict__ found)
{
    __shared__ int taken, left, alone[RAYT__ROUNDS * RAYT__QUERY_THREADS / 32];
    __shared__ rayt__together together[RAYT__QUERY_THREADS / 32];
    int lane = (int)threadIdx.x % 32, own = -1;
    int begin = (int)blockIdx.x * RAYT__QUERY_THREADS * rounds;
    int end =
        count - begin < RAYT__QUERY_THREADS * rounds ? count : begin + RAYT__QUERY_THREADS * rounds;
    if (threadIdx.x == 0) taken = left = 0;
    __syncthreads();
    for (;;) {
        int next = 0;
        if (lane == 0) next = atomicAdd(&taken, 32);
        next = begin + __shfl_sync(0xffffffffu, next, 0);
        if (next >= end) break;
        bool done = rayt__one_way(rays, next + lane, end);
        if (done) {
            rayt_unit_ray ray = rayt__ray_of(rays, next + lane, end);
            rayt__bundle bundle;
            int index;
            done =
                rayt__bundle_of(ray, rayt__close(tree), &bundle) &&
                rayt__walk_together(tree, &together[threadIdx.x / 32], &bundle, any, &ray, &index);
            if (done && next + lane < end) found[next + lane] = rayt__answer(index, ray.t_max, any);
        }
        if (!done && lane == 0) alone[atomicAdd(&left, 1)] = next;
    }
    __syncthreads();
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    int all = 32 * left;
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk = {};
    for (bool more = all > 0;;) {
        if (walk.stage == RAYT__ENDED && own >= 0) {
            found[own] = rayt__answer(walk.found, walk.ray.t_max, any);
            own = -1;
        }
        unsigned idle = __ballot_sync(0xffffffffu, own < 0);
        if (more) {
            int next = 0;
            if (lane == 0) next = atomicAdd(&taken, __popc(idle));
            next = __shfl_sync(0xffffffffu, next, 0);
            if (own < 0) {
                int i = next + __popc(idle & ((1u << lane) - 1));
                if (i < all) own = alone[i / 32] + i % 32;
                if (own >= end) own = -1;
            }
            if (own >= 0 && walk.stage == RAYT__ENDED)
                rayt__begin_walk(&walk, rayt__ray_of(rays, own, end), true);
            more = next + __popc(idle) < all;
        } else if (idle == 0xffffffffu) {
            break;
        }
        __syncwarp();
        rayt__walk_on(tree, &walk, waiting, any, more ? enough : 32);
    }
}

RAYT_KERNEL void __launch_bounds__(RAYT__QUERY_THREADS)
    rayt_query_balls(rayt__tree_view tree, const float4 *__restrict__ points, int count,
                     int *__restrict__ counts, int *lists, int capacity)
{
    int i = blockIdx.x * RAYT__QUERY_THREADS + threadIdx.x;
    if (i >= count) return;
    counts[i] = rayt__tree_within(tree, __ldg(&points[i]), lists + (size_t)i * capacity, capacity);
}
#endif
