/* src/tiledmm/kernels/tensor_half/wgmma.cuh. Elements of 16 bits by wgmma and TMA, for sm_90a.
   Uses: kernels/common/, once/. Used by: kernels/tensor_half/, type/instances.h. */
/* The instances: pass, name, columns of a tile, stages of 64 k. A tile has 128 rows. */
#ifndef TMM__HALF_WGMMA_LIST
#define TMM__HALF_WGMMA_LIST(_) \
    _(1, 128x256, 256, 4)       \
    _(2, 128x128, 128, 6)
#define TMM__HALF_WGMMA_COLS   (TMM__HALF_WGMMA_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_WGMMA_STAGES (TMM__HALF_WGMMA_LIST(TMM__VALUE_2) 0)
/* Shared memory: the stages, to which 1024 bytes align, and 16 rows of 32 sums for each of 8 warps, 36
   apart, so that rows lie in different banks. */
#define TMM__HALF_WGMMA_BYTES(cols, stages) \
    ((stages) * (128 + (cols)) * 128 + 1024 + 8 * 16 * 36 * 4)
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && !defined(TMM__HALF_ONCE)
/* What TMA knows of an operand: a CUtensorMap of the driver. And the product; K in slices. */
#ifdef __CUCC__ /* for which g++ notes that an ABI has changed; it has no TMA */
#define TMM__MAP_ALIGN 16
#else
#define TMM__MAP_ALIGN 64
#endif
typedef struct alignas(TMM__MAP_ALIGN) tmm__half_map {
    unsigned long long words[16];
} tmm__half_map;
typedef struct tmm__half_job {
    long long M, N, ldc, batchC;
    float alpha, beta;
#ifdef TMM_WITH_EPILOGUE
    tmm__after after;
#endif
    float *partials;
    int turned_A, turned_B; /* operands that do not lie along k */
    int next_A, next_B;     /* 0: all products of the batch share it, else 1 */
    int pairs_down, across; /* tiles: those of a cluster lie above each other */
    int cluster, steps, slices, items;
#ifdef TMM_WITH_SYRK
    int triangle, squares, ratio_log2; /* of pairs of tiles, see once/triangle.cuh */
#endif
} tmm__half_job;
/* cuTensorMapEncodeTiled, which makes a map. */
typedef int (*tmm__map_maker)(void *map, int type, unsigned rank, void *address,
                              const unsigned long long *sizes, const unsigned long long *strides,
                              const unsigned *box, const unsigned *steps, int interleave,
                              int swizzle, int promotion, int fill);
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107
#define TMM__GRID_CONSTANT __grid_constant__ /* has an address that TMA can read */
#else
#define TMM__GRID_CONSTANT
#endif

/* An item of a block's list: a tile of a product, and a part of its k. */
typedef struct tmm__half_item {
    int row, col, product, slice, first, steps;
} tmm__half_item;

TMM__DEVICE tmm__half_item tmm__half_find(const tmm__half_job *job, int item, int rank, int cols)
{
    tmm__half_item at;
    const int tiles = job->pairs_down * job->across, tile = item % tiles;
    const int band = tile / (8 * job->across), place = tile - band * 8 * job->across;
    const int high = min(8, job->pairs_down - band * 8);
    at.row = ((band * 8 + place % high) * job->cluster + rank) * 128;
    at.col = place / high * cols;
#ifdef TMM_WITH_SYRK
    if (job->triangle != 0) {
        int down = band * 8 + place % high, across = place / high;
        tmm__triangle_tile(job->triangle, job->squares, job->ratio_log2, &down, &across);
        at.row = (down * job->cluster + rank) * 128, at.col = across * cols;
    }
#endif
    at.product = item / tiles / job->slices, at.slice = item / tiles % job->slices;
    at.first = (int)((long long)job->steps * at.slice / job->slices);
    at.steps = (int)((long long)job->steps * (at.slice + 1) / job->slices) - at.first;
    return at;
}

#if TMM__WGMMA
/* Copies a box of a map to shared memory, to the blocks of the cluster of which `blocks` has bits; zeros
   beyond the edges. Barriers there count (PTX ISA 9.7, "cp.async.bulk.tensor"). */
TMM__DEVICE void tmm__half_box(unsigned to, const tmm__half_map *map, int x, int y, int z,
                               unsigned barrier, int blocks)
{
    if (blocks == 1)
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
            "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
            "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"((short)blocks)
            : "memory");
}

/* Arrives at the barrier that is at this place in block `rank` of the cluster. */
TMM__DEVICE void tmm__half_arrive(unsigned barrier, int rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

#define TMM__CLUSTER_MEETS()                                 \
    asm volatile("barrier.cluster.arrive.release.aligned;\n" \
                 "barrier.cluster.wait.acquire.aligned;" ::  \
                     : "memory")

/* c += a b by a warpgroup, 64 x `cols` x 16 from shared memory; operands that do not lie along k are
   `turned`. Fragments of c: see tmm__wgmma. */
#define TMM__TEN(t)                                                                              \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, " \
    "%" #t "9, "
#define TMM__H4(i)     "+f"(c[i]), "+f"(c[(i) + 1]), "+f"(c[(i) + 2]), "+f"(c[(i) + 3])
#define TMM__H16(i)    TMM__H4(i), TMM__H4((i) + 4), TMM__H4((i) + 8), TMM__H4((i) + 12)
#define TMM__H64(i)    TMM__H16(i), TMM__H16((i) + 16), TMM__H16((i) + 32), TMM__H16((i) + 48)
#define TMM__H64_NAMES TMM__TEN() TMM__TEN(1) TMM__TEN(2) TMM__TEN(3) TMM__TEN(4) TMM__TEN(5)
#define TMM__HALF_PRODUCT(type, turns_a, turns_b)                                               \
    do {                                                                                        \
        if (cols == 256)                                                                        \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                             \
                         "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type           \
                         " {" TMM__H64_NAMES TMM__TEN(6) TMM__TEN(7) TMM__TEN(8) TMM__TEN(9)    \
                             TMM__TEN(10)                                                       \
                                 TMM__TEN(11) "%120, %121, %122, %123, %124, %125, "            \
                                              "%126, %127}, %128, %129, p, 1, 1, " turns_a      \
                                              ", " turns_b ";\n}"                               \
                         : TMM__H64(0), TMM__H64(64)                                            \
                         : "l"(a), "l"(b));                                                     \
        else if (cols == 16)                                                                    \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                             \
                         "wgmma.mma_async.sync.aligned.m64n16k16.f32." type "." type            \
                         " {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, " turns_a         \
                         ", " turns_b ";\n}"                                                    \
                         : TMM__H4(0), TMM__H4(4)                                               \
                         : "l"(a), "l"(b));                                                     \
        else if (cols == 64)                                                                    \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                             \
                         "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type            \
                         " {" TMM__TEN() TMM__TEN(1) TMM__TEN(2) "%30, %31}, %32, %33, p, 1, 1, " turns_a \
                         ", " turns_b ";\n}"                                                    \
                         : TMM__H16(0), TMM__H16(16)                                            \
                         : "l"(a), "l"(b));                                                     \
        else                                                                                    \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                             \
                         "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type           \
                         " {" TMM__H64_NAMES "%60, %61, %62, %63}, %64, %65, p, 1, 1, " turns_a \
                         ", " turns_b ";\n}"                                                    \
                         : TMM__H64(0)                                                          \
                         : "l"(a), "l"(b));                                                     \
    } while (0)
#endif
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && TMM__WGMMA
#if TMM__HALF_TENSOR == 1
#define TMM__HALF_TYPE "f16"
#else
#define TMM__HALF_TYPE "bf16"
#endif
/* All steps of an item, into the sums of a warpgroup: rows 64 `group` on. Stages go round from *stage on,
   with *parity. The products of a stage run while the next one is awaited. */
TMM__DEVICE void tmm__xhalf_sum(float *c, int *stage, unsigned *parity, int steps, unsigned stages,
                                unsigned fulls, unsigned empties, int group, int cluster,
                                const int count, const int cols, const int turned_A,
                                const int turned_B)
{
    const int lane = threadIdx.x % 32;
    int before = -1;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const unsigned at = stages + *stage * ((128 + cols) * 128);
        tmm__barrier_wait(fulls + 8 * *stage, *parity);
        TMM__WGMMA_BEGIN();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const unsigned long long a =
                tmm__descriptor(at + group * 8192 + k * (turned_A ? 2048 : 32));
            const unsigned long long b =
                tmm__descriptor(at + 16384 + k * (turned_B ? 2048 : 32)) +
                (turned_B ? 511ull << 16 : 0); /* 64 columns further on: 8192 bytes */
            if (turned_A && turned_B)
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "1", "1");
            else if (turned_A)
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "1", "0");
            else if (turned_B)
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "0", "1");
            else
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "0", "0");
        }
        TMM__WGMMA_COMMIT();
        TMM__WGMMA_WAIT(1);
        if (before >= 0 && lane < cluster) tmm__half_arrive(empties + 8 * before, lane);
        before = *stage;
        if (++*stage == count) *stage = 0, *parity ^= 1;
    }
    TMM__WGMMA_WAIT(0);
    if (before >= 0 && lane < cluster) tmm__half_arrive(empties + 8 * before, lane);
#pragma unroll
    for (int i = 0; i < cols / 2; i++) asm volatile("" : "+f"(c[i])::"memory");
}
#undef TMM__HALF_TYPE
#endif

#if defined(TMM__PASS) && TMM__HALF_TENSOR && (TMM__HALF_WGMMA_LIST(TMM__IN_PASS) 0)
enum {
    tmm__half_wgmma_bytes = TMM__HALF_WGMMA_BYTES(TMM__HALF_WGMMA_COLS, TMM__HALF_WGMMA_STAGES)
};
static_assert(TMM__HALF_WGMMA_COLS == 128 || TMM__HALF_WGMMA_COLS == 256,
              "TMM__HALF_WGMMA_LIST: a tile has 128 or 256 columns");
static_assert(TMM__HALF_WGMMA_STAGES >= 2 && tmm__half_wgmma_bytes <= 227 * 1024 - 256,
              "TMM__HALF_WGMMA_LIST: stages must be 2 at least, and fit into 227 KB");
/* KERNEL TENSOR HALF by wgmma. 384 threads: one of the first warpgroup copies by TMA, two warpgroups
   multiply, 64 rows of the tile each. A stage is 64 k:
       A, 128 lines    [line][64 k], or two boxes of [64 k][64 lines] if it does not lie along k
       B, COLS lines   the same; two boxes of lines, or COLS / 64
   with the swizzle of 128 bytes. Two blocks of a cluster have the same columns, and copy half of B each,
   to both. Blocks are persistent: each takes tile after tile, in bands of 8 rows of pairs.

   A step of 128 x 256 is 4.2 million operations; a block copies 32 KB for it from L2: 131 a byte. Tensor
   cores read B once for 64 rows. They bound it where K is long; below, filling and storing count. */
TMM_KERNEL void __launch_bounds__(384, 1)
    tmm__gemm_half_wgmma(const TMM__GRID_CONSTANT tmm__half_map map_A,
                         const TMM__GRID_CONSTANT tmm__half_map map_B, TMM_OUT *__restrict__ C,
                         const tmm__half_job job)
{
#if TMM__WGMMA
    enum {
        COLS = TMM__HALF_WGMMA_COLS,
        STAGES = TMM__HALF_WGMMA_STAGES,
        STAGE = (128 + COLS) * 128,
        PITCH = 36
    };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tmm__memory), skip = -base & 1023;
    const unsigned stages = base + skip;
    const unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
    const unsigned empties = (unsigned)__cvta_generic_to_shared(empty);
    const int lane = threadIdx.x % 32, cluster = job.cluster;
    const int rank = blockIdx.x % cluster, count = gridDim.x / cluster;
    int stage = 0;
    unsigned parity = 0;
    if (threadIdx.x == 0) {
        for (int n = 0; n < STAGES; n++) {
            tmm__barrier_init(fulls + 8 * n, 1);
            tmm__barrier_init(empties + 8 * n, 8 * cluster);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                         : "memory");
    }
    __syncthreads();
    if (cluster > 1) TMM__CLUSTER_MEETS();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        const int mine = cluster == 1 ? 2 : 1, first = cluster == 1 ? 0 : rank; /* halves of B */
        for (int item = blockIdx.x / cluster; threadIdx.x == 0 && item < job.items; item += count) {
            const tmm__half_item at = tmm__half_find(&job, item, rank, COLS);
            const int zA = at.product * job.next_A, zB = at.product * job.next_B;
            for (int step = 0; step < at.steps; step++) {
                const unsigned to = stages + stage * STAGE, barrier = fulls + 8 * stage;
                const int k = (at.first + step) * 64;
                tmm__barrier_wait(empties + 8 * stage, parity ^ 1); /* at once, the first time */
                tmm__barrier_expect(barrier, STAGE);
                if (job.turned_A) {
                    tmm__half_box(to, &map_A, at.row, k, zA, barrier, 1);
                    tmm__half_box(to + 8192, &map_A, at.row + 64, k, zA, barrier, 1);
                } else {
                    tmm__half_box(to, &map_A, k, at.row, zA, barrier, 1);
                }
                for (int half = first; half < first + mine; half++) {
                    const unsigned toB = to + 16384 + half * (COLS * 64);
                    const int col = at.col + half * (COLS / 2);
                    for (int i = 0; job.turned_B && i < COLS / 128; i++)
                        tmm__half_box(toB + i * 8192, &map_B, col + i * 64, k, zB, barrier,
                                      (1 << cluster) - 1);
                    if (!job.turned_B)
                        tmm__half_box(toB, &map_B, k, col, zB, barrier, (1 << cluster) - 1);
                }
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int warp = threadIdx.x / 32 - 4, group = warp / 4;
        float *own = (float *)(tmm__memory + skip + STAGES * STAGE) + warp * (16 * PITCH);
        for (int item = blockIdx.x / cluster; item < job.items; item += count) {
            const tmm__half_item at = tmm__half_find(&job, item, rank, COLS);
            float sum[COLS / 2];
#pragma unroll
            for (int i = 0; i < COLS / 2; i++) sum[i] = 0;
            if (job.turned_A && job.turned_B)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 1, 1);
            else if (job.turned_A)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 1, 0);
            else if (job.turned_B)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 0, 1);
            else
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 0, 0);
            /* 32 columns after 32 go through shared memory, so that a row's neighbours are stored
               together: 16 lanes for each of two rows. */
            const long long row0 = at.row + warp * 16, product = at.product;
            float *partials = job.partials;
            if (partials != NULL) partials += (product * job.slices + at.slice) * (job.M * job.N);
            TMM_OUT *c = C + product * job.batchC;
            const bool aligned =
                ((size_t)c | (size_t)job.ldc * sizeof(TMM_OUT)) % (2 * sizeof(TMM_OUT)) == 0;
#pragma unroll
            for (int part = 0; part < COLS / 32; part++) {
                __syncwarp();
#pragma unroll
                for (int j = 0; j < 4; j++)
#pragma unroll
                    for (int h = 0; h < 2; h++)
                        *(float2 *)&own[(lane / 4 + 8 * h) * PITCH + 8 * j + lane % 4 * 2] =
                            make_float2(sum[part * 16 + 4 * j + 2 * h],
                                        sum[part * 16 + 4 * j + 2 * h + 1]);
                __syncwarp();
                const long long col = at.col + part * 32 + lane % 16 * 2;
                const unsigned mask = tmm__column_mask(col, 2, 0, job.N);
#pragma unroll 4
                for (int r = lane / 16; r < 16; r += 2) {
                    const long long row = row0 + r, place = row * job.ldc + col;
                    if (row >= job.M || mask == 0) continue;
                    const unsigned stored = tmm__triangle_mask(TMM__TRIANGLE(&job), mask, row, col);
                    const float *two = &own[r * PITCH + lane % 16 * 2];
                    if (partials != NULL) {
                        for (int n = 0; n < 2; n++)
                            if (mask >> n & 1) partials[row * job.N + col + n] = two[n];
                        continue;
                    }
                    tmm__xouts2 old;
                    if (job.beta != 0) old = tmm__xload2(c + place, aligned, stored);
                    tmm__xstore2(c + place, row, col, aligned, stored,
                                 TMM__OF_JOB(job.alpha, job, product), (TMM_SCALAR)job.beta, old,
                                 two);
                }
            }
        }
    }
    __syncwarp();
    if (cluster > 1) TMM__CLUSTER_MEETS(); /* no block leaves while others may arrive there */
#else
    (void)map_A, (void)map_B, (void)C, (void)job;
#endif
}
#endif
