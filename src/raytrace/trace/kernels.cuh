/* src/raytrace/trace/kernels.cuh. The kernels that build a tree, and those that ask it.
   Uses: config.h, kernels/culling.cuh, trace/. Used by: trace/host/. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TREE_KERNELS)
#define RAYT__PART_TREE_KERNELS
/* ============================== KERNELS TREE ================================================== */
/* What BUILD and WALKS describe, for threads. One thread a sphere, a node or a ray; the bytes that
   each kernel moves stand above it. `build.bounds` and `build.meetings` begin as 0 and -1. */

/* 16 of each 32 bytes of a sphere are read. */
RAYT_KERNEL void __launch_bounds__(256) rayt_tree_bounds(rayt__build build)
{
    __shared__ unsigned most[7];
    unsigned own[7] = {0, 0, 0, 0, 0, 0, 0};
    if (threadIdx.x < 7) most[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < build.count; i += gridDim.x * 256) {
        float4 ball = rayt__ball_of(build.spheres, i);
        if (!rayt_solid(ball)) continue;
        unsigned x = rayt__sort_key(ball.x), y = rayt__sort_key(ball.y), z = rayt__sort_key(ball.z);
        own[0] = x > own[0] ? x : own[0];
        own[1] = y > own[1] ? y : own[1];
        own[2] = z > own[2] ? z : own[2];
        own[3] = ~x > own[3] ? ~x : own[3];
        own[4] = ~y > own[4] ? ~y : own[4];
        own[5] = ~z > own[5] ? ~z : own[5];
        own[6]++;
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
    if (threadIdx.x < 6) atomicMax(&build.bounds[threadIdx.x], most[threadIdx.x]);
    if (threadIdx.x == 6) atomicAdd(&build.bounds[6], most[6]);
}

/* 16 bytes read, 12 written. */
RAYT_KERNEL void __launch_bounds__(256) rayt_tree_codes(rayt__build build)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= build.count) return;
    rayt__box all = {rayt__from_sort_key(~build.bounds[3]), rayt__from_sort_key(~build.bounds[4]),
                     rayt__from_sort_key(~build.bounds[5]), rayt__from_sort_key(build.bounds[0]),
                     rayt__from_sort_key(build.bounds[1]),  rayt__from_sort_key(build.bounds[2])};
    build.keys[i] = rayt__code(rayt__ball_of(build.spheres, i), all);
    build.order[i] = i;
}

/* A thread climbs from a leaf. Where two meet, the first leaves its end of the range and ends; the
   second goes on with the whole. 32 bytes written and read a pair, and 8 for the meeting. What
   bounds it: the latency of a climb, whose every step waits for the memory that both share. */
RAYT_KERNEL void __launch_bounds__(256) rayt_tree_merge(rayt__build build)
{
    int i = blockIdx.x * 256 + threadIdx.x, count = (int)build.bounds[6];
    if (i >= count) return;
    int first = i, last = i, name = i;
    rayt__box box = rayt__range_box(&build, i, i, i);
    while (last - first + 1 < count) {
        bool left = rayt__is_left(build.keys, count, first, last);
        int parent = left ? last : first - 1;
        rayt__pair *pair = &build.pairs[parent];
        if (left) {
            pair->left = name;
        } else {
            pair->right = name;
        }
        __threadfence();
        int end = atomicExch(&build.meetings[parent], left ? first : last);
        if (end < 0) return;
        __threadfence();
        int other = __ldcg(left ? &pair->right : &pair->left);
        rayt__box sibling = left ? rayt__range_box(&build, last + 1, end, other)
                                 : rayt__range_box(&build, end, first - 1, other);
        box = rayt__around(box, sibling);
        first = left ? first : end;
        last = left ? end : last;
        name = parent;
        rayt__set_pair(pair, box);
    }
    build.bounds[7] = (unsigned)name;
}

/* Adds what each lane has to a number in memory, and gives each the sum before it. */
static __device__ __forceinline__ int rayt__warp_take(int *sum, int own)
{
    int lane = (int)threadIdx.x % 32, upto = rayt__warp_sum(own), begin = 0;
    if (lane == 31 && upto > 0) begin = atomicAdd(sum, upto);
    return __shfl_sync(0xffffffffu, begin, 31) + upto - own;
}

/* The nodes of `levels` levels from `level` on; several only by one block. A node reads up to 14
   halves of 32 bytes and writes 80, and 36 a sphere of its leaves, 16 a child. What bounds it: the
   latency of 7 halvings, one after the other. */
RAYT_KERNEL void __launch_bounds__(RAYT__WIDEN_THREADS)
    rayt_tree_widen(rayt__build build, int level, int levels)
{
    int begin = 0, thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int l = 0; l < level; l++) begin += __ldcg(&build.levels[l]);
    for (int stop = level + levels; level < stop; level++) {
        int many = level == 0 ? 1 : __ldcg(&build.levels[level]);
        if (many == 0) return; /* the same for all threads */
        int next = begin + many, all = (int)(gridDim.x * blockDim.x);
        for (int k = thread; k - (int)(threadIdx.x % 32) < many; k += all) { /* whole warps */
            rayt__children children;
            children.nodes = children.spheres = 0;
            if (k < many) {
                rayt__range range = {0, (int)build.bounds[6] - 1, (int)build.bounds[7]};
                if (level > 0) range = build.ranges[begin + k];
                rayt__open_up(&build, range, level, &children);
            }
            int node = next + rayt__warp_take(&build.levels[level + 1], children.nodes);
            int sphere = rayt__warp_take(&build.levels[RAYT__DEPTH + 1], children.spheres);
            if (k < many) rayt__write(&build, begin + k, &children, node, sphere);
        }
        if (level == 0 && thread == 0) build.levels[0] = 1;
        begin = next;
        __syncthreads(); /* one block: what it has written, it may read now */
    }
}

/* A block asks for 128 `rounds` rays, one after the other. A lane whose ray has ended waits until
   others of its warp have, too; then they take the next rays together. */
RAYT_KERNEL void __launch_bounds__(128, 8)
    rayt_query_rays(rayt__tree_view tree, const rayt_ray *__restrict__ rays, int count, int rounds,
                    bool any, int2 *__restrict__ found)
{
    __shared__ int taken;
    int lane = (int)threadIdx.x % 32, begin = (int)blockIdx.x * 128 * rounds, own = -1;
    int end = count - begin < 128 * rounds ? count : begin + 128 * rounds;
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk;
    walk.stage = RAYT__ENDED;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    for (bool more = true;;) {
        if (walk.stage == RAYT__ENDED && own >= 0) {
            int index = walk.found;
            found[own] = any ? make_int2(index < 0 ? -1 : 0, 0)
                             : make_int2(index, index < 0 ? 0 : __float_as_int(walk.ray.t_max));
            own = -1;
        }
        unsigned idle = __ballot_sync(0xffffffffu, own < 0);
        if (more) {
            int next = 0;
            if (lane == 0) next = atomicAdd(&taken, __popc(idle));
            next = begin + __shfl_sync(0xffffffffu, next, 0);
            if (own < 0) {
                own = next + __popc(idle & ((1u << lane) - 1));
                if (own >= end) own = -1;
            }
            if (own >= 0 && walk.stage == RAYT__ENDED) {
                const float4 *record = (const float4 *)&rays[own];
                float4 from = __ldg(record), to = __ldg(record + 1);
                rayt_ray ray = {from.x, from.y, from.z, from.w, to.x, to.y, to.z, to.w};
                rayt__begin_walk(&walk, rayt_ready(ray), true);
            }
            more = next + __popc(idle) < end;
        } else if (idle == 0xffffffffu) {
            break;
        }
        __syncwarp();
        rayt__walk_on(tree, &walk, waiting, any, more ? RAYT__ENOUGH : 32);
    }
}

RAYT_KERNEL void __launch_bounds__(128)
    rayt_query_balls(rayt__tree_view tree, const float4 *__restrict__ points, int count,
                     int *__restrict__ counts, int *lists, int capacity)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= count) return;
    counts[i] = rayt__tree_within(tree, __ldg(&points[i]), lists + (size_t)i * capacity, capacity);
}
#endif
