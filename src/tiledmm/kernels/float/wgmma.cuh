/* src/tiledmm/kernels/float/wgmma.cuh. Floats as FP16 by wgmma, for sm_90a: the tiles.
   Uses: kernels/float/numbers.cuh, ptx.cuh, kernels/store.cuh.
   Used by: kernels/float/wgmma_kernel.cuh, launch.h. */
/* The instances: pass, name, 64 rows of a tile for each warpgroup, columns, stages of 32 k, and
   among how many warpgroups the k of a tile are distributed. Each takes 193 KB of shared memory or
   201. */
#ifndef TMM__WGMMA_LIST
#define TMM__WGMMA_LIST(_)      \
    _(1, 256x128, 2, 128, 4, 1) \
    _(2, 128x192, 1, 192, 5, 1) \
    _(3, 128x64, 1, 64, 8, 1)   \
    _(4, 64x64, 1, 64, 12, 2)
/* The kernels: pass, name, the two instances in each. One kernel for two is less to compile. One
   for all four would be slower: in small products code takes longer to arrive than to run. */
#define TMM__WGMMA_KERNEL_LIST(_) \
    _(2, large, 256x128, 128x192) \
    _(4, small, 128x64, 64x64)

#define TMM__WGMMA_DOWN     (TMM__WGMMA_LIST(TMM__VALUE_1) 0)
#define TMM__WGMMA_COLS     (TMM__WGMMA_LIST(TMM__VALUE_2) 0)
#define TMM__WGMMA_STAGES   (TMM__WGMMA_LIST(TMM__VALUE_3) 0)
#define TMM__WGMMA_K_GROUPS (TMM__WGMMA_LIST(TMM__VALUE_4) 0)
#define TMM__WGMMA_ROWS     (128 / TMM__WGMMA_K_GROUPS * TMM__WGMMA_DOWN)
#define TMM__WGMMA_SUMS     (TMM__WGMMA_COLS / 2) /* of a thread, in 64 rows */
/* Columns that a warpgroup stores, and pairs of neighbours in a row that a thread does. */
#define TMM__WGMMA_STORED (TMM__WGMMA_COLS / TMM__WGMMA_K_GROUPS)
#define TMM__WGMMA_PAIRS  (TMM__WGMMA_STORED / 8)
/* Whether all columns go at once, not one half after the other; columns of a wgmma. */
#define TMM__WGMMA_AT_ONCE (TMM__WGMMA_DOWN * TMM__WGMMA_COLS <= 64)
#define TMM__WGMMA_WIDTH   (TMM__WGMMA_AT_ONCE ? TMM__WGMMA_COLS : TMM__WGMMA_COLS / 2)
#define TMM__WGMMA_A_BYTES (TMM__WGMMA_ROWS / 64 * TMM__BLOCK_BYTES) /* of a stage */
#define TMM__WGMMA_B_BYTES (TMM__WGMMA_COLS / 64 * TMM__BLOCK_BYTES)
#define TMM__WGMMA_STAGE   (TMM__WGMMA_A_BYTES + TMM__WGMMA_B_BYTES)

/* TMM__WGMMA_1(name), TMM__WGMMA_2(name): a name with the first or second instance of this pass's
   kernel behind it. */
#define TMM__WGMMA_FIRST(pass, name, first, second)  TMM__NAME_IF(pass, TMM__PASS, first)
#define TMM__WGMMA_SECOND(pass, name, first, second) TMM__NAME_IF(pass, TMM__PASS, second)
#define TMM__WGMMA_1(name)                           TMM__JOIN(name, TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_FIRST))
#define TMM__WGMMA_2(name)                           TMM__JOIN(name, TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_SECOND))

/* Functions of this pass's instance. */
#define tmm__wgmma_small         TMM__INSTANCE(wgmma_small_, WGMMA)
#define tmm__wgmma_large         TMM__INSTANCE(wgmma_large_, WGMMA)
#define tmm__wgmma_add           TMM__INSTANCE(wgmma_add_, WGMMA)
#define tmm__wgmma_begin         TMM__INSTANCE(wgmma_begin_, WGMMA)
#define tmm__wgmma_finish        TMM__INSTANCE(wgmma_finish_, WGMMA)
#define tmm__wgmma_sum_pairs     TMM__INSTANCE(wgmma_sum_pairs_, WGMMA)
#define tmm__wgmma_sum_halves    TMM__INSTANCE(wgmma_sum_halves_, WGMMA)
#define tmm__wgmma_exchange      TMM__INSTANCE(wgmma_exchange_, WGMMA)
#define tmm__wgmma_store_row     TMM__INSTANCE(wgmma_store_row_, WGMMA)
#define tmm__wgmma_store_checked TMM__INSTANCE(wgmma_store_checked_, WGMMA)
#define tmm__wgmma_multiply      TMM__INSTANCE(wgmma_multiply_, WGMMA)
#define tmm__wgmma_copy          TMM__INSTANCE(wgmma_copy_, WGMMA)

/* TMM__WGMMA_256x128 and so on, the first ones of all instances of KERNEL TENSOR FLOAT. */
#define TMM__WGMMA_ENUMERATOR(pass, name, ...) TMM__WGMMA_##name,
enum { TMM__WGMMA_LIST(TMM__WGMMA_ENUMERATOR) TMM__WGMMA_INSTANCES };
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* A ring of stages, as a thread goes through it: addresses of its memory and barriers, the parity
   of the phase that is next, and its stage; the thread's lane. */
typedef struct TMM_FN(wgmma_ring) {
    unsigned stages, fulls, empties, parity;
    int stage, lane;
} TMM_FN(wgmma_ring);

/* The tile of C of a thread that multiplies: the product, and the place of its first sum. */
typedef struct TMM_FN(wgmma_place) {
    int product, row, col;
} TMM_FN(wgmma_place);

/* The place in C of a thread's first sum, and the scales of all of its columns and rows. Tiles are
   tile_m x tile_n; a warpgroup stores 64 `downs` x `cols` of one from (row, col) on. */
static __device__ __forceinline__ void TMM_FN(wgmma_scales)(
    const tmm__float_job *job, int tile, int tile_m, int tile_n, int row, int col, int downs,
    int cols, int thread, int *product, int *row0, int *col0, float *col_scale, float *row_scale)
{
    int tiles = job->s.tiles_down * job->s.tiles_across, down, across, lane = thread % 32;
    *product = tile / tiles;
    TMM_FN(find_tile)(&job->s, TMM__FLOAT_BAND, tile - *product * tiles, &down, &across);
    *row0 = down * tile_m + row + thread % 128 / 32 * 16 + lane / 4;
    *col0 = across * tile_n + col + lane % 4 * 2;
    const float *scale_a = job->a.scales, *scale_b = job->b.scales + *col0;
    /* Without signs, whose bits would stay in registers through the whole loop over tiles. */
    unsigned lines_a = 64u * (unsigned)job->a.line_blocks; /* at most TMM__WGMMA_LINES_MAX */
    unsigned lines_b = 64u * (unsigned)job->b.line_blocks;
    if (job->from_a.product_stride) scale_a += (size_t)(unsigned)*product * lines_a;
    if (job->from_b.product_stride) scale_b += (size_t)(unsigned)*product * lines_b;
#pragma unroll
    for (int j = 0; j < cols / 8; j++) {
        /* Columns of blocks that do not exist have those of the first, which does: no branch. */
        bool exists = (unsigned)*col0 + 8u * j < lines_b;
        float2 two = __ldg((const float2 *)(scale_b + (exists ? 8 * j : 0)));
        col_scale[2 * j] = two.x, col_scale[2 * j + 1] = two.y;
    }
#pragma unroll
    for (int i = 0; i < 2 * downs; i++) {
        int row = *row0 + 8 * i + i / 2 * 48;
        row_scale[i] = row < job->M ? __ldg(scale_a + row) : 1;
    }
}

#if TMM__WGMMA
/* Least and largest scales of A and B, without sign, by 96 threads. */
static __device__ __forceinline__ void TMM_FN(wgmma_scale_range)(const tmm__float_job *job,
                                                                 int thread, unsigned *lowest,
                                                                 unsigned *highest)
{
    tmm__wait_for_previous();
    for (int i = 0; i < 2; i++) {
        const tmm__fp16_operand *x = i == 0 ? &job->a : &job->b;
        bool shared = (i == 0 ? &job->from_a : &job->from_b)->product_stride == 0;
        long long fours = (shared ? 1 : job->batch) * 16ll * x->line_blocks;
        unsigned low = 0xffffffffu, high = 0;
#pragma unroll 2
        for (long long j = thread; j < fours; j += 96) {
            uint4 four = ((const uint4 *)x->scales)[j];
            four.x &= 0x7fffffffu, four.y &= 0x7fffffffu;
            four.z &= 0x7fffffffu, four.w &= 0x7fffffffu;
            low = min(min(low, min(four.x, four.y)), min(four.z, four.w));
            high = max(max(high, max(four.x, four.y)), max(four.z, four.w));
        }
        atomicMin(&lowest[i], low);
        atomicMax(&highest[i], high);
    }
}
#endif
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0)
enum {
    TMM__INSTANCE(wgmma_rows_, WGMMA) = TMM__WGMMA_ROWS,
    TMM__INSTANCE(wgmma_cols_, WGMMA) = TMM__WGMMA_COLS,
    TMM__INSTANCE(wgmma_stages_, WGMMA) = TMM__WGMMA_STAGES,
    TMM__INSTANCE(wgmma_readers_, WGMMA) =
        8 / TMM__WGMMA_K_GROUPS, /* warps that multiply a stage */
    TMM__INSTANCE(wgmma_bytes_, WGMMA) = TMM__WGMMA_STAGES * TMM__WGMMA_STAGE + 1024 /* to align */
};

#if TMM__WGMMA
/* KERNEL TENSOR FLOAT by wgmma. What the two warpgroups do that multiply. Each has the upper or the
   lower half of a tile, 64 rows after 64 rows:

             columns  0 .. COLS / 2 - 1     COLS / 2 .. COLS - 1      a tile with DOWN = 2
                     +---------------------+---------------------+
       warpgroup 1   |  c0, sum[0]         |  c1, sum[0]         |   64 rows
                     |  c0, sum[1]         |  c1, sum[1]         |   64
                     +---------------------+---------------------+
       warpgroup 2   |  c0, sum[0]         |  c1, sum[0]         |   64
                     |  c0, sum[1]         |  c1, sum[1]         |   64
                     +---------------------+---------------------+
   In a window, for 64 rows after 64 rows (S: lo hi and hi lo, 8 wgmma; L: hi hi, 4 wgmma):
       tensor cores  | S of c0 | S of c1 | L of c0 | L of c1 | S of c0 ...
       registers               | c0 2^-11| c1 2^-11| sum+=c0 | sum+=c1
   Tensor cores always have the next group to do; between windows, that of the other warpgroup.

   In 128 x 64 and 64 x 64, half of the columns would be 32. A wgmma of 64 x 32 x 16 reads 3 KB of
   shared memory in 16 clocks, more than that gives. So all 64 columns go at once, and two windows
   take turns, c0 and c1:
       tensor cores  | S of c0 | S of c1 | L of c0 | L of c1 | S of c0 | S of c1 | L of c0 ...
       registers      sum+=c1   c0 2^-11  c1 2^-11  sum+=c0   sum+=c1   c0 2^-11

   With 64 x 64, which is taken if there is a multiprocessor for each tile, warpgroups have the same
   tile and every other window:
       warpgroup 1   | window 0 | window 2 | window 4 | ...      stores the left half of C
       warpgroup 2   | window 1 | window 3 | window 5 | ...      stores the right half */

/* Begins group S, c = lo_a hi_b + hi_a lo_b: 64 rows, `d` times 64 from row `rows` on, and WIDTH
   columns, `half` times WIDTH from the first on. `at`: the window's two stages. */
static __device__ __forceinline__ void tmm__wgmma_small(float *c, const unsigned *at, int rows,
                                                        int d, int half)
{
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned stage = at[i / 4];
        tmm__wgmma(c,
                   tmm__descriptor(stage + rows * 128) + d * (TMM__BLOCK_BYTES / 16) +
                       4 * (1 - i % 2) + 2 * (i / 2 % 2),
                   tmm__descriptor(stage + TMM__WGMMA_A_BYTES) + half * (TMM__WGMMA_WIDTH * 8) +
                       4 * (i % 2) + 2 * (i / 2 % 2),
                   TMM__WGMMA_WIDTH, i > 0);
    }
    TMM__WGMMA_COMMIT();
}

/* Begins group L, c = 2^-11 c + hi_a hi_b, of the same rows and columns. */
static __device__ __forceinline__ void tmm__wgmma_large(float *c, const unsigned *at, int rows,
                                                        int d, int half)
{
#pragma unroll
    for (int i = 0; i < TMM__WGMMA_WIDTH / 2; i++) c[i] *= 1.0f / (1 << TMM__LO_SHIFT);
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned stage = at[i / 2];
        tmm__wgmma(c,
                   tmm__descriptor(stage + rows * 128) + d * (TMM__BLOCK_BYTES / 16) + 2 * (i % 2),
                   tmm__descriptor(stage + TMM__WGMMA_A_BYTES) + half * (TMM__WGMMA_WIDTH * 8) +
                       2 * (i % 2),
                   TMM__WGMMA_WIDTH, 1);
    }
    TMM__WGMMA_COMMIT();
}

static __device__ __forceinline__ void tmm__wgmma_add(float *sum, const float *c)
{
#pragma unroll
    for (int i = 0; i < TMM__WGMMA_WIDTH / 2; i++) sum[i] += c[i];
}

/* Where all columns go at once: waits for the next window, begins its group S, and steps on. */
static __device__ __forceinline__ void tmm__wgmma_begin(TMM_FN(wgmma_ring) * ring, unsigned *at,
                                                        float *c, int rows)
{
    at[0] = ring->stages + ring->stage * TMM__WGMMA_STAGE, at[1] = at[0] + TMM__WGMMA_STAGE;
    tmm__barrier_wait(ring->fulls + 8 * ring->stage, ring->parity);
    tmm__barrier_wait(ring->fulls + 8 * ring->stage + 8, ring->parity);
    tmm__wgmma_small(c, at, rows, 0, 0);
    ring->stage += 2 * TMM__WGMMA_K_GROUPS;
    if (ring->stage >= TMM__WGMMA_STAGES) ring->stage -= TMM__WGMMA_STAGES, ring->parity ^= 1;
}

/* There: waits for a window's group L, adds c to sum, and gives its two stages back; none if
   stage < 0. */
static __device__ __forceinline__ void tmm__wgmma_finish(const TMM_FN(wgmma_ring) * ring,
                                                         float *sum, float *c, int pending,
                                                         int stage)
{
    tmm__wgmma_wait(c, TMM__WGMMA_WIDTH / 2, pending);
    if (ring->lane == 0 && stage >= 0) {
        tmm__barrier_arrive(ring->empties + 8 * stage);
        tmm__barrier_arrive(ring->empties + 8 * stage + 8);
    }
    tmm__wgmma_add(sum, c);
}

/* All windows of a tile, two at a time. `block`: the first 32 k of this warpgroup, of `blocks`. */
static __device__ __forceinline__ void tmm__wgmma_sum_pairs(TMM_FN(wgmma_ring) * ring, float *sum,
                                                            int rows, int block, int blocks)
{
    enum { STRIDE = 2 * TMM__WGMMA_K_GROUPS, HALF = TMM__WGMMA_WIDTH / 2 };
    float c0[HALF], c1[HALF];
    unsigned at0[2], at1[2];
    int stage0, stage1 = -1;
#pragma unroll
    for (int i = 0; i < HALF; i++) c1[i] = 0;
#pragma unroll 1
    for (; block + STRIDE < blocks; block += 2 * STRIDE) {
        stage0 = ring->stage;
        tmm__wgmma_begin(ring, at0, c0, rows);
        tmm__wgmma_finish(ring, sum, c1, 1, stage1);
        stage1 = ring->stage;
        tmm__wgmma_begin(ring, at1, c1, rows);
        tmm__wgmma_wait(c0, HALF, 1);
        tmm__wgmma_large(c0, at0, rows, 0, 0);
        tmm__wgmma_wait(c1, HALF, 1);
        tmm__wgmma_large(c1, at1, rows, 0, 0);
        tmm__wgmma_finish(ring, sum, c0, 1, stage0);
    }
    if (block < blocks) {
        stage0 = ring->stage;
        tmm__wgmma_begin(ring, at0, c0, rows);
        tmm__wgmma_finish(ring, sum, c1, 1, stage1);
        tmm__wgmma_wait(c0, HALF, 0);
        tmm__wgmma_large(c0, at0, rows, 0, 0);
        tmm__wgmma_finish(ring, sum, c0, 0, stage0);
    } else {
        tmm__wgmma_finish(ring, sum, c1, 0, stage1);
    }
}

/* All windows of a tile, one half of the columns after the other: while registers of one half are
   worked on, tensor cores have wgmma of the other half to do. */
static __device__ __forceinline__ void tmm__wgmma_sum_halves(TMM_FN(wgmma_ring) * ring,
                                                             float (*sum)[TMM__WGMMA_SUMS],
                                                             int rows, int blocks)
{
    enum { DOWN = TMM__WGMMA_DOWN, STAGES = TMM__WGMMA_STAGES, HALF = TMM__WGMMA_WIDTH / 2 };
#pragma unroll 1
    for (int block = 0; block < blocks; block += 2) {
        int stage = ring->stage, second = stage + 1 == STAGES ? 0 : stage + 1;
        unsigned second_parity = second == 0 ? ring->parity ^ 1 : ring->parity;
        unsigned at[2] = {ring->stages + stage * TMM__WGMMA_STAGE,
                          ring->stages + second * TMM__WGMMA_STAGE};
        tmm__barrier_wait(ring->fulls + 8 * stage, ring->parity);
        tmm__barrier_wait(ring->fulls + 8 * second, second_parity);
        float c0[HALF], c1[HALF];
#pragma unroll
        for (int d = 0; d < DOWN; d++) {
            tmm__wgmma_small(c0, at, rows, d, 0);
            if (d > 0) {
                tmm__wgmma_wait(c1, HALF, 1);
                tmm__wgmma_add(sum[d - 1] + HALF, c1);
            }
            tmm__wgmma_small(c1, at, rows, d, 1);
            tmm__wgmma_wait(c0, HALF, 1);
            tmm__wgmma_large(c0, at, rows, d, 0);
            tmm__wgmma_wait(c1, HALF, 1);
            tmm__wgmma_large(c1, at, rows, d, 1);
            tmm__wgmma_wait(c0, HALF, 1);
            tmm__wgmma_add(sum[d], c0);
        }
        tmm__wgmma_wait(c1, HALF, 0);
        if (ring->lane == 0) {
            tmm__barrier_arrive(ring->empties + 8 * stage);
            tmm__barrier_arrive(ring->empties + 8 * second);
        }
        tmm__wgmma_add(sum[DOWN - 1] + HALF, c1);
        ring->stage = second + 1, ring->parity = second_parity;
        if (ring->stage == STAGES) ring->stage = 0, ring->parity ^= 1;
    }
}

/* Where both warpgroups have the same tile: adds the other one's sums of the columns that this one
   stores, and moves them to the front. They go through stages that only the giver reads, and has
   read: no more copies come, for such a block has one tile. */
static __device__ __forceinline__ void tmm__wgmma_exchange(unsigned char *memory, float *sum,
                                                           int group)
{
    enum { SUMS = TMM__WGMMA_SUMS };
    int place = threadIdx.x % 128;
    float4 *out = (float4 *)(memory + 2 * group * TMM__WGMMA_STAGE) + place;
    float4 *in = (float4 *)(memory + (2 - 2 * group) * TMM__WGMMA_STAGE) + place;
#pragma unroll
    for (int i = 0; i < SUMS / 2; i += 4) {
        const float *left = &sum[i], *right = &sum[SUMS / 2 + i];
        out[i * 32] = group == 0 ? make_float4(right[0], right[1], right[2], right[3])
                                 : make_float4(left[0], left[1], left[2], left[3]);
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
#pragma unroll
    for (int i = 0; i < SUMS / 2; i += 4) {
        float4 four = in[i * 32];
        float *kept = &sum[i];
#pragma unroll
        for (int j = 0; j < 4; j++) kept[j] = group == 0 ? kept[j] : sum[SUMS / 2 + i + j];
        kept[0] += four.x, kept[1] += four.y, kept[2] += four.z, kept[3] += four.w;
    }
}

/* Stores a row of C of which no element is rejected or doubtful: sum[2 PAIRS] holds it as pairs,
   `cols` elements exist from c on. */
static __device__ __forceinline__ void tmm__wgmma_store_row(const tmm__float_job *job, float *c,
                                                            int row, int col, int cols,
                                                            const float *sum, float row_scale,
                                                            const float *col_scale)
{
    enum { PAIRS = TMM__WGMMA_PAIRS, AHEAD = PAIRS < 8 ? PAIRS : 8 }; /* loads before stores */
    const float alpha = job->alpha, beta = job->beta;
#pragma unroll
    for (int first = 0; first < PAIRS; first += AHEAD) {
        TMM_FN(elements2) old[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) old[j].v[0] = old[j].v[1] = 0;
        if (beta != 0) {
#pragma unroll
            for (int j = 0; j < AHEAD; j++) {
                int at = 8 * (first + j);
                tmm__load_if(&old[j], c + at, 8, at < cols);
#pragma unroll
                for (int k = 0; k < 2; k++) old[j].v[k] = TMM__MUL(beta, old[j].v[k]);
            }
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            int pair = first + j;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float scale = row_scale * col_scale[2 * pair + k];
                old[j].v[k] = TMM_FN(value)(sum[4 * pair + k] * scale, alpha, old[j].v[k],
                                            8 * pair < cols, row, col + 8 * pair + k);
            }
            tmm__store_if(c + 8 * pair, &old[j], 8, 8 * pair < cols);
        }
    }
}

/* Stores a row element by element, but for those that are rejected or doubtful. Leaves the bits of
   doubtful ones, if a line of the warp is `wide`. Code for 32 columns: the next 32 come to the
   place of these, and these behind the last. */
static __device__ __forceinline__ void tmm__wgmma_store_checked(const tmm__float_job *job, float *c,
                                                                const TMM_FN(wgmma_place) * place,
                                                                int row, int cols, float *sum,
                                                                float row_scale, float *col_scale,
                                                                bool wide, int *doubtful)
{
    enum { PAIRS = TMM__WGMMA_PAIRS };
    int lane = threadIdx.x % 32;
    unsigned char *bytes =
        (unsigned char *)tmm__doubt_word(job, place->product, row, place->col) + lane % 4;
#pragma unroll 1
    for (int first = 0; first < 8 * PAIRS; first += 32) {
        unsigned bits = 0; /* of 16 columns */
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int col = first + 8 * (j / 2) + j % 2;
            float x = sum[4 * (j / 2) + j % 2];
            float scale = fabsf(row_scale * col_scale[j]);
            bool fits = (col < cols) & !tmm__is_rejected(scale, job->scale_min, job->scale_max);
            bool doubt = fits & tmm__is_doubtful(row_scale, col_scale[j], x, job->doubt_below);
            if (doubt) bits |= 1u << j % 4;
            x *= scale;
            TMM_FN(store_masked)
            (c + col, row, place->col + col, 1, fits & !doubt, job->alpha, job->beta, &x);
            if (j % 4 == 3) {
                if (wide && col - 9 < cols + lane % 4 * 2)
                    bytes[col / 16 * 4] = (unsigned char)bits;
                if (bits) *doubtful = 1;
                bits = 0;
            }
        }
#pragma unroll
        for (int j = 0; j < 8 && PAIRS > 4; j++) {
            float scale = col_scale[j];
#pragma unroll
            for (int k = j; k < 2 * PAIRS; k += 8) {
                int at = 4 * (k / 2) + k % 2;
                if (k + 8 < 2 * PAIRS) sum[at] = sum[at + 16];
                col_scale[k] = k + 8 < 2 * PAIRS ? col_scale[k + 8] : scale;
            }
        }
    }
}

/* The tiles of a block, by the two warpgroups that multiply. `memory`, `fulls` and `empties`: the
   stages and their barriers. *doubtful becomes 1 if there are such elements.
   Range and rows of the store stand here: as a function of their own they took the main loop of
   128 x 192 from 374 to 465 instructions (CUDA 13.0), descriptors then not in uniform registers. */
static __device__ __forceinline__ void tmm__wgmma_multiply(const tmm__float_job *job,
                                                           unsigned char *memory, unsigned fulls,
                                                           unsigned empties, int *doubtful)
{
    enum {
        DOWN = TMM__WGMMA_DOWN,
        PAIRS = TMM__WGMMA_PAIRS,
        K_GROUPS = TMM__WGMMA_K_GROUPS,
        SUMS = TMM__WGMMA_SUMS,
        STORED = TMM__WGMMA_STORED,
        COLS = TMM__WGMMA_COLS,
        LAST = DOWN - 1,
        UNROLL = TMM__WGMMA_AT_ONCE && K_GROUPS == 1 ? 2 : 1
    };
    static_assert(COLS == 64 || COLS == 128 || COLS == 192, "tmm__wgmma has half of these columns");
    static_assert(!TMM__WGMMA_AT_ONCE || TMM__WGMMA_STAGES % 4 == 0, "two windows are four stages");
    const tmm__fp16_operand a = job->a;
    const long long M = job->M, N = job->N, ldc = job->ldc;
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    const tmm__schedule s = job->s;
    const int batch = job->batch;
    unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    int thread = threadIdx.x - 128, lane = thread % 32, group = thread / 128;
    int tiles = s.tiles_down * s.tiles_across;
    /* Where in a tile this warpgroup's rows begin, and the columns that it stores. */
    int rows = K_GROUPS > 1 ? 0 : group * (64 * DOWN), stored_from = group * (COLS - STORED);
    int first = K_GROUPS > 1 ? 2 * group : 0;
    TMM_FN(wgmma_ring) ring = {stages, fulls, empties, 0, first, lane};
    tmm__wait_for_previous();
    for (int tile = blockIdx.x; tile < tiles * batch; tile += gridDim.x) {
        int product, row0, col0;
        float sum[DOWN][SUMS], col_scale[2 * PAIRS], row_scale[2 * DOWN];
        if (TMM__WGMMA_AT_ONCE) /* has the registers: now, while the first copies are under way */
            TMM_FN(wgmma_scales)
        (job, tile, TMM__WGMMA_ROWS, COLS, rows, stored_from, DOWN, STORED, thread, &product, &row0,
         &col0, col_scale, row_scale);
#pragma unroll
        for (int d = 0; d < DOWN; d++)
#pragma unroll
            for (int i = 0; i < SUMS; i++) sum[d][i] = 0;
        if (TMM__WGMMA_AT_ONCE)
            tmm__wgmma_sum_pairs(&ring, sum[0], rows, first, a.k_blocks);
        else
            tmm__wgmma_sum_halves(&ring, sum, rows, a.k_blocks);
        if (K_GROUPS > 1) tmm__wgmma_exchange(memory, sum[0], group);
        /* All scales are read before the first store: the compiler cannot know that they are not
           what is stored, and would wait. */
        if (!TMM__WGMMA_AT_ONCE) TMM_FN(wgmma_scales)
        (job, tile, TMM__WGMMA_ROWS, COLS, rows, stored_from, DOWN, STORED, thread, &product, &row0,
         &col0, col_scale, row_scale);
        TMM_FN(wgmma_place) place = {product, row0, col0};
        float lowest = col_scale[0], highest = col_scale[0];
#pragma unroll
        for (int j = 1; j < 2 * PAIRS; j++) {
            lowest = fminf(lowest, col_scale[j]);
            highest = fmaxf(highest, col_scale[j]);
        }
        bool wide = lowest < 0;
        float row_lowest = row_scale[0], row_highest = row_scale[0];
#pragma unroll
        for (int i = 1; i < 2 * DOWN; i++) {
            row_lowest = fminf(row_lowest, row_scale[i]);
            row_highest = fmaxf(row_highest, row_scale[i]);
        }
        wide = __any_sync(0xffffffffu, wide || row_lowest < 0);
        float *to = job->C + place.product * job->batchC + place.col;
        int cols = (int)N - place.col; /* that exist, from place.col on */
        bool fast = !wide && ((size_t)to | (size_t)ldc * 4) % 8 == 0 &&
                    (N % 2 == 0 || cols >= 8 * PAIRS - 6) && /* no half pair */
                    !tmm__is_rejected(row_lowest * lowest, scale_min, scale_max) &&
                    !tmm__is_rejected(row_highest * highest, scale_min, scale_max);
        /* Each row is moved to the place of the first, so that there is code for one row; in 128 x
           64, where it is short, for two. */
#pragma unroll(UNROLL)
        for (int i = 0; i < 2 * DOWN; i++) {
            int row = place.row + 8 * i + i / 2 * 48;
            float *c = to + row * ldc;
            if (row >= M) break;
            if (fast)
                tmm__wgmma_store_row(job, c, row, place.col, cols, sum[0], row_scale[0], col_scale);
            else
                tmm__wgmma_store_checked(job, c, &place, row, cols, sum[0], row_scale[0], col_scale,
                                         wide, doubtful);
#pragma unroll
            for (int j = 0; j < 2 * PAIRS; j++) {
                int at = 4 * (j / 2) + j % 2;
                sum[0][at] = sum[0][at + 2];
                sum[0][at + 2] = sum[LAST][at];
                sum[LAST][at] = sum[LAST][at + 2];
            }
            row_scale[0] = row_scale[1];
            row_scale[1] = row_scale[2 * LAST];
            row_scale[2 * LAST] = row_scale[2 * LAST + 1];
        }
    }
}

/* The copies of a block's tiles, by one thread. */
static __device__ __forceinline__ void tmm__wgmma_copy(const tmm__float_job *job,
                                                       unsigned char *memory, unsigned fulls,
                                                       unsigned empties)
{
    enum { BLOCKS_A = TMM__WGMMA_ROWS / 64, BLOCKS_B = TMM__WGMMA_COLS / 64 };
    const tmm__fp16_operand a = job->a, b = job->b;
    const tmm__schedule s = job->s;
    const int tiles = s.tiles_down * s.tiles_across, all = tiles * job->batch;
    const unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    unsigned parity = 1; /* all stages are empty to begin with */
    unsigned *pace = TMM__WGMMA_AT_ONCE ? NULL : job->pace, due = 0;
    int stage = 0;
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        int product = tile / tiles, down, across;
        TMM_FN(find_tile)(&s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
        int blocks_a = a.line_blocks - down * BLOCKS_A,
            blocks_b = b.line_blocks - across * BLOCKS_B;
        if (blocks_a > BLOCKS_A) blocks_a = BLOCKS_A;
        if (blocks_b > BLOCKS_B) blocks_b = BLOCKS_B;
        unsigned bytes_a = blocks_a * TMM__BLOCK_BYTES, bytes_b = blocks_b * TMM__BLOCK_BYTES;
        size_t step_a = (size_t)a.line_blocks * TMM__BLOCK_BYTES;
        size_t step_b = (size_t)b.line_blocks * TMM__BLOCK_BYTES;
        const unsigned char *next_a = a.blocks + down * (BLOCKS_A * TMM__BLOCK_BYTES);
        const unsigned char *next_b = b.blocks + across * (BLOCKS_B * TMM__BLOCK_BYTES);
        next_a += (job->from_a.product_stride ? product : 0) * a.k_blocks * step_a;
        next_b += (job->from_b.product_stride ? product : 0) * b.k_blocks * step_b;
        /* Addresses are computed before the wait, not behind it. */
        asm volatile("" : "+l"(next_a), "+l"(next_b), "+r"(bytes_a), "+r"(bytes_b));
        tmm__wait_for_previous();
        for (int block = 0, end; block < a.k_blocks; block = end) {
            end = a.k_blocks;
            if (pace != NULL) {
                if (end > block + TMM__FLOAT_PACE) end = block + TMM__FLOAT_PACE;
                if (!tmm__keep_pace(pace, due)) pace = NULL;
                due += gridDim.x;
            }
            for (int i = block; i < end; i++) {
                unsigned to = stages + stage * TMM__WGMMA_STAGE, barrier = fulls + 8 * stage;
                tmm__barrier_wait(empties + 8 * stage, parity);
                tmm__barrier_expect(barrier, bytes_a + bytes_b);
                tmm__copy_bulk(to, next_a, bytes_a, barrier);
                tmm__copy_bulk(to + TMM__WGMMA_A_BYTES, next_b, bytes_b, barrier);
                next_a += step_a;
                next_b += step_b;
                if (++stage == TMM__WGMMA_STAGES) stage = 0, parity ^= 1;
            }
        }
    }
    /* Blocks without a tile in the last round count as if they had arrived. */
    if (pace != NULL && blockIdx.x > (unsigned)(all - 1) % gridDim.x)
        atomicAdd(pace, (a.k_blocks - 1) / TMM__FLOAT_PACE + 1);
}
#endif
#endif
