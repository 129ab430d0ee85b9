/* src/tiledmm/kernels/tensor_half/wgmma.cuh. Elements of 16 bits by wgmma and TMA, for sm_90a.
   Uses: kernels/common/, once/. Used by: kernels/tensor_half/, type/instances.h. */
/* The instances: pass, name, columns of a tile, stages of 64 k. A tile has 128 rows. */
#ifndef TMM__HALF_WGMMA_LIST
#define TMM__HALF_WGMMA_LIST(_) \
    _(1, 128x256, 256, 4)       \
    _(2, 128x128, 128, 6)
#define TMM__HALF_WGMMA_COLS   (TMM__HALF_WGMMA_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_WGMMA_STAGES (TMM__HALF_WGMMA_LIST(TMM__VALUE_2) 0)
/* Shared memory: the stages, to which 1024 bytes align, and 4 KB through which each of 8 warps stores. */
#define TMM__HALF_WGMMA_BYTES(cols, stages) ((stages) * (128 + (cols)) * 128 + 1024 + 8 * 4096)
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
    long long part_row, part_col, part_rows, part_cols; /* of C: of what there are partial sums */
    float alpha, beta;
#ifdef TMM_WITH_EPILOGUE
    tmm__after after;
#endif
    float *partials;
    int boxed_C;            /* beta is 0, and TMA can store C */
    int turned_A, turned_B; /* operands that do not lie along k */
    int next_A, next_B;     /* 0: all products of the batch share it, else 1 */
    int pairs_down, across; /* tiles: those of a cluster lie above each other */
    int cluster, steps, items;
    int whole, rest, slices; /* items from `whole` on are slices, of the last `rest` tiles */
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
    int row, col, product, part, first, steps; /* part: the number of its partial sums; -1: none */
} tmm__half_item;

TMM__DEVICE tmm__half_item tmm__half_find(const tmm__half_job *job, int item, int rank, int cols)
{
    tmm__half_item at;
    const bool cut = item >= job->whole;
    const int number = cut ? item - job->whole : item;
    const int tiles = cut ? job->rest : job->pairs_down * job->across;
    const int tile = (cut ? job->whole : 0) + number % tiles, turn = number / tiles;
    const int slices = cut ? job->slices : 1, slice = turn % slices;
    const int band = tile / (8 * job->across), place = tile - band * 8 * job->across;
    const int high = min(8, job->pairs_down - band * 8);
    int down = band * 8 + place % high, across = place / high;
#ifdef TMM_WITH_SYRK
    if (job->triangle != 0)
        tmm__triangle_tile(job->triangle, job->squares, job->ratio_log2, &down, &across);
#endif
    at.row = (down * job->cluster + rank) * 128, at.col = across * cols;
    at.product = turn / slices, at.part = cut ? turn : -1;
    at.first = (int)((long long)job->steps * slice / slices);
    at.steps = (int)((long long)job->steps * (slice + 1) / slices) - at.first;
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

TMM__DEVICE void tmm__half_prefetch(const tmm__half_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Stores a box of shared memory, as far as it lies in C. A group of such stores is complete when its
   boxes have been read. */
TMM__DEVICE void tmm__half_box_out(const tmm__half_map *map, unsigned from, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], "
                 "[%4];\ncp.async.bulk.commit_group;" ::"l"(map),
                 "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
}
#define TMM__HALF_BOXES_WAIT(pending) \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory")

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
                         " {" TMM__TEN() TMM__TEN(1)                                            \
                             TMM__TEN(2) "%30, %31}, %32, %33, p, 1, 1, " turns_a ", " turns_b  \
                                         ";\n}"                                                 \
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
   with *parity. The products of a stage run while the next one is awaited.
   If there are items behind this one, group 0 runs two steps `ahead` of group 1, which it wakes up: so
   each stores its sums while the other one multiplies. Items need as many steps as there are stages: then
   group 1 has left the item before when it is woken up again. */
TMM__DEVICE void tmm__xhalf_sum(float *c, int *stage, unsigned *parity, int steps, unsigned stages,
                                unsigned fulls, unsigned empties, int group, int cluster,
                                bool ahead, const int count, const int cols, const int turned_A,
                                const int turned_B)
{
    const int lane = threadIdx.x % 32;
    int before = -1;
    ahead = ahead && steps >= count;
    if (ahead && group == 1) asm volatile("bar.sync 1, 256;" ::: "memory");
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
        if (ahead && group == 0 && step == 1) asm volatile("bar.arrive 1, 256;" ::: "memory");
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

/* Two sums, rounded: neighbours in C. */
TMM__DEVICE unsigned tmm__xhalf_two(float low, float high)
{
    unsigned two;
    asm("cvt.rn." TMM__HALF_TYPE "x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
    return two;
}

/* Stores alpha sum by TMA: 16 rows from `row` on, by a warp. Its 4 KB of shared memory hold two boxes of
   16 rows of 128 bytes, with the swizzle of 128 bytes: one is written while the other is read. */
TMM__DEVICE void tmm__xhalf_store_boxes(const tmm__half_map *map, const tmm__half_job *job,
                                        unsigned own, const float *sum, int row, int col,
                                        int product, const int cols)
{
    enum { PART = 128 / sizeof(TMM_OUT), SUMS = PART / 2, WIDE = sizeof(TMM_OUT) == 4 };
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const float alpha = job->alpha;
    /* 16 bits: the row that stmatrix takes from this lane. 32 bits: where its first two lie; odd rows
       begin with columns 16 on, so that four rows lie in different banks. */
    const unsigned place = own + (WIDE ? g * 128 + ((t / 2 ^ g ^ g % 2 * 4) << 4) + t % 2 * 8
                                       : lane % 16 * 128 + ((lane / 16 ^ lane % 8) << 4));
#pragma unroll
    for (int part = 0; part < cols / PART; part++) {
        const unsigned box = part % 2 * 2048;
        float x[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; i++) x[i] = __fmaf_rn(alpha, sum[part * SUMS + i], 0.0f);
        if (lane == 0) TMM__HALF_BOXES_WAIT(1);
        __syncwarp();
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const unsigned to = (place ^ q << 5) + box;
            if (WIDE) {
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int even = 4 * q + 2 * h, odd = even ^ 8;
                    const float left = g % 2 ? x[odd % SUMS] : x[even % SUMS];
                    const float right = g % 2 ? x[(odd + 1) % SUMS] : x[(even + 1) % SUMS];
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to + h * 1024), "f"(left),
                                 "f"(right)
                                 : "memory");
                }
            } else {
                const float *s = &x[q * 8 % SUMS];
                asm volatile(
                    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                    "r"(tmm__xhalf_two(s[0], s[1])), "r"(tmm__xhalf_two(s[2], s[3])),
                    "r"(tmm__xhalf_two(s[4], s[5])), "r"(tmm__xhalf_two(s[6], s[7]))
                    : "memory");
            }
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (lane == 0) tmm__half_box_out(map, own + box, col + part * PART, row, product);
    }
}
#undef TMM__HALF_TYPE

/* Is a tile stored by TMA? Not if something comes after alpha sum, nor where columns of it are not
   stored: TMA leaves out rows beyond M and whole 16 bytes beyond N. */
TMM__DEVICE bool tmm__xhalf_by_boxes(const tmm__half_job *job, const tmm__half_item *at,
                                     const int cols)
{
    bool whole = job->boxed_C != 0 && at->part < 0; /* no partial sums */
#ifdef TMM_EPILOGUE
    whole = false;
#endif
#ifdef TMM_WITH_EPILOGUE
    if (job->after.active) whole = false;
#endif
#ifdef TMM_WITH_SYRK
    if (job->triangle == TMM__LOWER && at->col + cols - 1 > at->row) whole = false;
    if (job->triangle == TMM__UPPER && at->col < at->row + 127) whole = false;
#endif
    return whole && (job->N % (16 / sizeof(TMM_OUT)) == 0 || at->col + cols <= job->N);
}

/* Where sum (row, col) of 16 x 64 lies in a warp's shared memory: 16 bytes of four rows lie in different
   banks. */
#define TMM__HALF_PLACE(row, col) ((row)*64 + (((col) / 4) ^ ((row) % 4 * 2)) * 4 + (col) % 4)

/* 16 x 64 sums of a warp to C, whose row `row` and column `col` is c; `rows` and `left` columns exist.
   Where all 64 are stored, and C is aligned to `fours`, lanes have four neighbours each. Else pairs;
   they begin where a sector of 32 bytes begins, and the lanes before that have the last ones of the 64:
       sectors       |       |       |       |       |       |       |       |       |
       lanes     ... shift - 1   shift ..                                         31
   Parts of sectors would take L2 several times as long. Loads of C come before stores. */
TMM__DEVICE void tmm__xhalf_store_rows(const tmm__half_job *job, TMM_OUT *c, const float *own,
                                       long long row, long long col, int rows, int left, bool fours,
                                       TMM__ALPHA alpha)
{
    enum { AHEAD = 4 };
    const int lane = threadIdx.x % 32, triangle = TMM__TRIANGLE(job);
    const int under = (int)(row - col); /* the diagonal's column in the first row, from col on */
    const long long ldc = job->ldc;
    const float beta = job->beta;
    if (fours && left >= 64 &&
        (triangle == 0 || (triangle == TMM__LOWER ? under >= 63 : under <= -15))) {
        c += lane / 16 * ldc + lane % 16 * 4, col += lane % 16 * 4;
#pragma unroll 1
        for (int r = lane / 16; r < rows; r += 2 * AHEAD, c += 2 * AHEAD * ldc) {
            tmm__xsums4 old[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                old[i] = tmm__xload4(c + (r + 2 * i < rows ? 2 * i * ldc : 0), true, 15,
                                     (TMM_SCALAR)beta);
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const float4 four =
                    *(const float4 *)&own[TMM__HALF_PLACE(r + 2 * i, lane % 16 * 4)];
                const TMM_SUM sum[4] = {four.x, four.y, four.z, four.w};
                if (r + 2 * i < rows)
                    tmm__xstore4(c + 2 * i * ldc, row + r + 2 * i, col, true, 15, alpha, old[i].v,
                                 sum);
            }
        }
        return;
    }
#pragma unroll 1
    for (int r = 0; r < rows; r += AHEAD) {
        TMM_OUT *line[AHEAD];
        tmm__xouts2 old[AHEAD];
        int at[AHEAD];
        unsigned in[AHEAD]; /* the pair is stored, or elements at[i] and (at[i] + 1) % 64 alone */
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            line[i] = c + (r + i) * ldc;
            const int shift = (int)((size_t)line[i] / sizeof(TMM_OUT) % (32 / sizeof(TMM_OUT)));
            const int diagonal = under + r + i, first = triangle == TMM__UPPER ? diagonal : 0;
            int end = triangle == TMM__LOWER ? min(left, diagonal + 1) : left;
            if (r + i >= rows) end = 0;
            at[i] = (2 * lane - shift) & 63;
            const int next = (at[i] + 1) & 63;
            in[i] = (at[i] >= first && at[i] < end) | (next >= first && next < end) << 1;
            if (in[i] == 3 && next != 0) in[i] = 7;
            old[i].v[0] = old[i].v[1] = (TMM_OUT)0.0f;
            if (beta == 0) continue;
            if (in[i] & 4) {
                old[i] = *(const tmm__xouts2 *)(line[i] + at[i]);
            } else {
                if (in[i] & 1) old[i].v[0] = line[i][at[i]];
                if (in[i] & 2) old[i].v[1] = line[i][next];
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
#pragma unroll
            for (int n = 0; n < 2; n++) {
                const int place = (at[i] + n) & 63;
                const TMM_SUM before =
                    beta == 0 ? (TMM_SUM)0 : TMM__MUL(beta, (TMM_SUM)old[i].v[n]);
                old[i].v[n] = tmm__xvalue(own[TMM__HALF_PLACE(r + i, place)], alpha, before,
                                          in[i] >> n & 1, row + r + i, col + place);
            }
            if (in[i] & 4) {
                *(tmm__xouts2 *)(line[i] + at[i]) = old[i];
            } else {
                if (in[i] & 1) line[i][at[i]] = old[i].v[0];
                if (in[i] & 2) line[i][(at[i] + 1) & 63] = old[i].v[1];
            }
        }
    }
}

/* The same for any C, beta, epilogue, triangle and for partial sums: 16 rows by a warp, 64 columns after
   64 through shared memory. Little code: what runs once a tile is fetched from L2, and 88 KB of
   it, 64 sums unrolled, took 20 us. */
TMM__DEVICE void tmm__xhalf_store(const tmm__half_job *job, TMM_OUT *C, float *own,
                                  const float *sum, const tmm__half_item *at, int warp,
                                  const int cols)
{
    const int lane = threadIdx.x % 32, row = at->row + warp * 16;
    const int rows = (int)min(job->M - row, 16ll);
    const int left = (int)min(job->N - at->col, (long long)cols);
    const long long product = at->product;
    const int place = TMM__HALF_PLACE(lane / 4, lane % 4 * 2);
    float *partials = NULL;
    if (at->part >= 0)
        partials = job->partials +
                   (at->part * job->part_rows + row - job->part_row) * job->part_cols + at->col -
                   job->part_col;
    C += product * job->batchC + row * job->ldc + at->col;
    const TMM__ALPHA alpha = TMM__OF_JOB(job->alpha, *job, product);
    const bool fours =
        ((size_t)C | (size_t)job->ldc * sizeof(TMM_OUT)) % (4 * sizeof(TMM_OUT)) == 0;
    if (lane == 0) TMM__HALF_BOXES_WAIT(0);
#pragma unroll 1
    for (int first = 0; first < left && rows > 0; first += 64) {
        __syncwarp();
#pragma unroll
        for (int part = 0; part < cols / 64; part++) {
            if (first != part * 64) continue;
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const float *two = &sum[(part * 32 + 2 * i) % (cols / 2)];
                *(float2 *)&own[(place ^ i / 2 * 8) + i % 2 * 512] = make_float2(two[0], two[1]);
            }
        }
        __syncwarp();
        if (partials == NULL) {
            tmm__xhalf_store_rows(job, C + first, own, row, at->col + first, rows, left - first,
                                  fours, alpha);
            continue;
        }
        float *line = partials + first + lane;
#pragma unroll 4
        for (int r = 0; r < rows; r++, line += job->part_cols) {
            if (first + lane < left) line[0] = own[TMM__HALF_PLACE(r, lane)];
            if (first + lane + 32 < left) line[32] = own[TMM__HALF_PLACE(r, lane + 32)];
        }
    }
}
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
                         const TMM__GRID_CONSTANT tmm__half_map map_B,
                         const TMM__GRID_CONSTANT tmm__half_map map_C, TMM_OUT *__restrict__ C,
                         const tmm__half_job job)
{
#if TMM__WGMMA
    enum {
        COLS = TMM__HALF_WGMMA_COLS,
        STAGES = TMM__HALF_WGMMA_STAGES,
        STAGE = (128 + COLS) * 128
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
        tmm__half_prefetch(&map_A), tmm__half_prefetch(&map_B);
        for (int n = 0; n < STAGES; n++) {
            tmm__barrier_init(fulls + 8 * n, 1);
            tmm__barrier_init(empties + 8 * n, 8 * cluster);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                         : "memory");
    }
    __syncthreads();
    if (cluster > 1) TMM__CLUSTER_MEETS();
    tmm__let_next_begin();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        const int mine = cluster == 1 ? 2 : 1, first = cluster == 1 ? 0 : rank; /* halves of B */
        for (int item = blockIdx.x / cluster; threadIdx.x == 0 && item < job.items; item += count) {
            const tmm__half_item at = tmm__half_find(&job, item, rank, COLS);
            tmm__wait_for_previous(); /* nothing of memory is read or written before */
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
        const int own = STAGES * STAGE + warp * 4096;
        const bool ahead = job.items > count;
        for (int item = blockIdx.x / cluster; item < job.items; item += count) {
            const tmm__half_item at = tmm__half_find(&job, item, rank, COLS);
            tmm__wait_for_previous();
            float sum[COLS / 2];
#pragma unroll
            for (int i = 0; i < COLS / 2; i++) sum[i] = 0;
            if (job.turned_A && job.turned_B)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, ahead, STAGES, COLS, 1, 1);
            else if (job.turned_A)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, ahead, STAGES, COLS, 1, 0);
            else if (job.turned_B)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, ahead, STAGES, COLS, 0, 1);
            else
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, ahead, STAGES, COLS, 0, 0);
            if (tmm__xhalf_by_boxes(&job, &at, COLS))
                tmm__xhalf_store_boxes(&map_C, &job, stages + own, sum, at.row + warp * 16, at.col,
                                       at.product, COLS);
            else
                tmm__xhalf_store(&job, C, (float *)(tmm__memory + skip + own), sum, &at, warp,
                                 COLS);
        }
        if (lane == 0) TMM__HALF_BOXES_WAIT(0);
    }
    __syncwarp();
    if (cluster > 1) TMM__CLUSTER_MEETS(); /* no block leaves while others may arrive there */
#else
    (void)map_A, (void)map_B, (void)map_C, (void)C, (void)job;
#endif
}
#endif
