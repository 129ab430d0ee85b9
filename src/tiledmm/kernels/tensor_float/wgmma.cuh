/* src/tiledmm/kernels/tensor_float/wgmma.cuh. Floats as FP16 by wgmma, for sm_90a: instances, and the sums of
   a tile.
   Uses: kernels/common/, ptx.cuh, types.cuh, once/.
   Used by: kernels/tensor_float/, type/instances.h. */
/* The instances: pass, name, 64 rows of a tile for each warpgroup, columns, stages of 32 k, and
   among how many warpgroups the k of a tile are distributed. Each takes 203 to 219 KB of shared
   memory. */
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
#define TMM__WGMMA_STORED  (TMM__WGMMA_COLS / TMM__WGMMA_K_GROUPS)
#define TMM__WGMMA_PAIRS   (TMM__WGMMA_STORED / 8)
#define TMM__WGMMA_THROUGH (TMM__WGMMA_STORED < 64 ? TMM__WGMMA_STORED : 64) /* see store_rows */
/* Whether all columns go at once, not one half after the other; columns of a wgmma. */
#define TMM__WGMMA_AT_ONCE (TMM__WGMMA_DOWN * TMM__WGMMA_COLS <= 64)
#define TMM__WGMMA_WIDTH   (TMM__WGMMA_AT_ONCE ? TMM__WGMMA_COLS : TMM__WGMMA_COLS / 2)
#define TMM__WGMMA_A_BYTES (TMM__WGMMA_ROWS / 64 * TMM__BLOCK_BYTES) /* of a stage */
#define TMM__WGMMA_B_BYTES (TMM__WGMMA_COLS / 64 * TMM__BLOCK_BYTES)
#define TMM__WGMMA_STAGE   (TMM__WGMMA_A_BYTES + TMM__WGMMA_B_BYTES)

/* TMM__WGMMA_1(name), TMM__WGMMA_2(name): a name that ends with the first or second instance of
   this pass's kernel. */
#define TMM__WGMMA_FIRST(pass, name, first, second)  TMM__NAME_IN_PASS(pass, first, second)
#define TMM__WGMMA_SECOND(pass, name, first, second) TMM__NAME_IN_PASS(pass, second, first)
#define TMM__WGMMA_1(name)                           TMM__JOIN(name, TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_FIRST))
#define TMM__WGMMA_2(name)                           TMM__JOIN(name, TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_SECOND))

/* TMM__WGMMA_256x128 and so on, the first ones of all instances of KERNEL TENSOR FLOAT. */
#define TMM__ROW(pass, name, ...) TMM__WGMMA_##name,
enum { TMM__WGMMA_LIST(TMM__ROW) TMM__WGMMA_INSTANCES };
#undef TMM__ROW
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* A ring of stages, as a thread goes through it: addresses of its memory and barriers, the parity
   of the phase that is next, and its stage; the thread's lane. */
typedef struct tmm__xwgmma_ring {
    unsigned stages, fulls, empties, parity;
    int stage, lane;
} tmm__xwgmma_ring;

/* The tile of C of a thread that multiplies: the product, and the place of its first sum. */
typedef struct tmm__xwgmma_place {
    int product, row, col;
} tmm__xwgmma_place;

/* The place in C of a thread's first sum, and the scales of all of its columns and rows. Tiles are
   tile_m x tile_n; a warpgroup stores 64 `downs` x `cols` of one from (row, col) on. */
TMM__DEVICE void tmm__xwgmma_scales(const tmm__float_job *job, int tile, int tile_m, int tile_n,
                                    int row, int col, int downs, int cols, int thread, int *product,
                                    int *row0, int *col0, float *col_scale, float *row_scale)
{
    int tiles = job->s.tiles_down * job->s.tiles_across, down, across, lane = thread % 32;
    *product = tile / tiles;
    tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, tile - *product * tiles, &down, &across);
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
TMM__DEVICE void tmm__xwgmma_scale_range(const tmm__float_job *job, int thread, unsigned *lowest,
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
    tmm__wgmma_rows = TMM__WGMMA_ROWS,
    tmm__wgmma_cols = TMM__WGMMA_COLS,
    tmm__wgmma_stages = TMM__WGMMA_STAGES,
    tmm__wgmma_readers = 8 / TMM__WGMMA_K_GROUPS, /* warps that multiply a stage */
    tmm__this_wgmma_bytes = TMM__WGMMA_STAGES * TMM__WGMMA_STAGE + 1024 /* to align */
                            + 8 * 32 * (TMM__WGMMA_THROUGH + 8)
};
static_assert(
    TMM__WGMMA_COLS == 64 || TMM__WGMMA_COLS == 128 || TMM__WGMMA_COLS == 192,
    "TMM__WGMMA_LIST: a tile has 64, 128 or 192 columns: tmm__wgmma multiplies by 64 or by "
    "half of these");
static_assert((TMM__WGMMA_DOWN == 1 || TMM__WGMMA_DOWN == 2) &&
                  TMM__WGMMA_DOWN * TMM__WGMMA_COLS <= 256,
              "TMM__WGMMA_LIST: a warpgroup has 64 or 128 rows, and sums for 128 x 128 or 64 x 192 "
              "elements: these fill its registers");
static_assert(TMM__WGMMA_K_GROUPS == 1 ||
                  (TMM__WGMMA_K_GROUPS == 2 && TMM__WGMMA_DOWN == 1 && TMM__WGMMA_COLS == 64),
              "TMM__WGMMA_LIST: the k of a tile are for 1 warpgroup, or of 64 x 64 for 2");
static_assert(
    TMM__WGMMA_STAGES >= 2 * TMM__WGMMA_K_GROUPS &&
        (!TMM__WGMMA_AT_ONCE || TMM__WGMMA_STAGES % 4 == 0),
    "TMM__WGMMA_LIST: stages must be 2 at least, or where all columns go at once, as of 128 x "
    "64, a multiple of 4: two windows");
static_assert(tmm__this_wgmma_bytes <= 227 * 1024 - 512,
              "TMM__WGMMA_LIST: stages must fit into the 227 KB that a block has on sm_90a");

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

   With 64 x 64, which is taken if each tile or part has a multiprocessor, warpgroups have the same
   tile and every other window:
       warpgroup 1   | window 0 | window 2 | window 4 | ...      stores the left half of C
       warpgroup 2   | window 1 | window 3 | window 5 | ...      stores the right half */

/* Begins group S, c = lo_a hi_b + hi_a lo_b: 64 rows, `d` times 64 from row `rows` on, and WIDTH
   columns, `half` times WIDTH from the first on. `at`: the window's two stages. */
TMM__DEVICE void tmm__wgmma_small(float *c, const unsigned *at, int rows, int d, int half)
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
TMM__DEVICE void tmm__wgmma_large(float *c, const unsigned *at, int rows, int d, int half)
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

TMM__DEVICE void tmm__wgmma_add(float *sum, const float *c)
{
#pragma unroll
    for (int i = 0; i < TMM__WGMMA_WIDTH / 2; i++) sum[i] += c[i];
}

/* Where all columns go at once: waits for the next window, begins its group S, and steps on. */
TMM__DEVICE void tmm__wgmma_begin(tmm__xwgmma_ring *ring, unsigned *at, float *c, int rows)
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
TMM__DEVICE void tmm__wgmma_finish(const tmm__xwgmma_ring *ring, float *sum, float *c, int pending,
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
TMM__DEVICE void tmm__wgmma_sum_pairs(tmm__xwgmma_ring *ring, float *sum, int rows, int block,
                                      int blocks)
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

/* All windows of a tile, for the two halves of its columns in turn. While the sums of one half are
   added up in registers, tensor cores multiply for the other. */
TMM__DEVICE void tmm__wgmma_sum_halves(tmm__xwgmma_ring *ring, float (*sum)[TMM__WGMMA_SUMS],
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
#endif
#endif
