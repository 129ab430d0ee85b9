/* src/tiledmm/kernels/float/wgmma.cuh. Floats as FP16 by wgmma, for sm_90a: the tiles.
   Uses: kernels/float/numbers.cuh, ptx.cuh, kernels/store.cuh. Used by: kernels/float/wgmma_kernel.cuh, launch.h. */
/* The instances: pass, name, 64 rows of a tile for each warpgroup, columns, stages of 32 k, and among
   how many warpgroups the k of a tile are distributed. Each takes all of the shared memory. */
#ifndef TMM__WGMMA_LIST
#define TMM__WGMMA_LIST(_)      \
    _(1, 256x128, 2, 128, 4, 1) \
    _(2, 128x192, 1, 192, 5, 1) \
    _(3, 128x64, 1, 64, 8, 1)   \
    _(4, 64x64, 1, 64, 12, 2)
/* The kernels: pass, name, the two instances in each. One kernel for two is less to compile. One for
   all four would be slower: in small products code takes longer to arrive than to run. */
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

/* TMM__WGMMA_256x128 and so on, the first ones of all instances of KERNEL TENSOR FLOAT. */
#define TMM__WGMMA_ENUMERATOR(pass, name, ...) TMM__WGMMA_##name,
enum { TMM__WGMMA_LIST(TMM__WGMMA_ENUMERATOR) TMM__WGMMA_INSTANCES };
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR

/* For the kernel for wgmma, with tiles of tile_m x tile_n, of which a warpgroup stores 64 `downs` x
   `cols` from (row, col) on: where in C the first sum of a thread that multiplies lies, and the
   scales of all its columns and rows. */
static __device__ __forceinline__ void tmm_wgmma_scales(const tmm__float_job *job, int tile,
                                                        int tile_m, int tile_n, int row, int col,
                                                        int downs, int cols, int thread,
                                                        int *product, int *row0, int *col0,
                                                        float *col_scale, float *row_scale)
{
    int tiles = job->s.tiles_down * job->s.tiles_across, down, across, lane = thread % 32;
    *product = tile / tiles;
    tmm_find_tile(&job->s, TMM__FLOAT_BAND, tile - *product * tiles, &down, &across);
    *row0 = down * tile_m + row + thread % 128 / 32 * 16 + lane / 4;
    *col0 = across * tile_n + col + lane % 4 * 2;
    const float *scale_a = job->a.scales, *scale_b = job->b.scales + *col0;
    /* Without signs, whose bits would stay in registers through the whole loop over tiles. */
    unsigned lines_a = 64u * (unsigned)job->a.line_blocks; /* 2^24 at most: TMM__FLOAT_WGMMA_MOST */
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
/* In the kernel for wgmma 96 threads look for the least and largest scales of A and B. */
static __device__ __forceinline__ void tmm_wgmma_scale_range(const tmm__float_job *job, int thread,
                                                             unsigned *scales_least,
                                                             unsigned *scales_most)
{
    tmm__wait_for_previous();
    for (int i = 0; i < 2; i++) {
        const tmm__fp16_operand *split = i == 0 ? &job->a : &job->b;
        bool shared = (i == 0 ? &job->from_a : &job->from_b)->product_stride == 0;
        long long fours = (shared ? 1 : job->batch) * 16ll * split->line_blocks;
        unsigned lowest = 0xffffffffu, highest = 0;
#pragma unroll 2
        for (long long j = thread; j < fours; j += 96) {
            uint4 four = ((const uint4 *)split->scales)[j]; /* floats, without sign: */
            four.x &= 0x7fffffffu, four.y &= 0x7fffffffu;
            four.z &= 0x7fffffffu, four.w &= 0x7fffffffu;
            lowest = min(min(lowest, min(four.x, four.y)), min(four.z, four.w));
            highest = max(max(highest, max(four.x, four.y)), max(four.z, four.w));
        }
        atomicMin(&scales_least[i], lowest);
        atomicMax(&scales_most[i], highest);
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
/* One form of tiles for wgmma: 128 TMM__WGMMA_DOWN x TMM__WGMMA_COLS elements of C, a ring of TMM__WGMMA_STAGES stages;
   with (TMM__WGMMA_K_GROUPS > 1), 64 TMM__WGMMA_DOWN. What the two warpgroups do that multiply, each the upper or the
   lower half of a tile, 64 rows after 64 rows.

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

   In the smallest tiles, 128 x 64 and 64 x 64, half of the columns would be 32: wgmma of 64 x 32 x 16
   read 3 KB of shared memory in 16 clocks, more than it gives. So they take all 64 at a time, and
   two windows take turns, c0 and c1:
       tensor cores  | S of c0 | S of c1 | L of c0 | L of c1 | S of c0 | S of c1 | L of c0 ...
       registers      sum+=c1   c0 2^-11  c1 2^-11  sum+=c0   sum+=c1   c0 2^-11

   In tiles of 64 x 64, which are taken if there is a multiprocessor for each of them, warpgroups
   share the windows:
       warpgroup 1   | window 0 | window 2 | window 4 | ...      the left half of C: sums of both
       warpgroup 2   | window 1 | window 3 | window 5 | ...      the right half: likewise

   `memory` are the stages, `fulls` and `empties` the barriers, as KERNEL TENSOR FLOAT by wgmma has
   them; *noted becomes 1 if there are elements whose size is no proof. */
static __device__ __forceinline__ void tmm_wgmma_multiply(const tmm__float_job *job,
                                                          unsigned char *memory, unsigned fulls,
                                                          unsigned empties, int *noted)
{
    enum {
        DOWN = TMM__WGMMA_DOWN, /* times 64 rows of a warpgroup */
        SHARED_K = (TMM__WGMMA_K_GROUPS >
                    1), /* both warpgroups have the same rows, and every other window */
        TILE_M = (SHARED_K ? 64 : 128) * DOWN,
        COLS = TMM__WGMMA_COLS,
        STAGES = TMM__WGMMA_STAGES,
        BLOCKS_A = TILE_M / 64, /* of 8 KB, in a stage */
        BLOCKS_B = COLS / 64,
        STAGE = (BLOCKS_A + BLOCKS_B) * TMM__BLOCK_BYTES,
        STRIDE = SHARED_K ? 4 : 2, /* stages from a window of a warpgroup to its next one */
        SUMS = COLS / 2,           /* of a thread, in 64 rows */
        STORED = SHARED_K ? COLS / 2 : COLS, /* columns that a warpgroup stores */
        PAIRS = STORED / 8,                  /* of neighbours, in one row */
        AT_ONCE = PAIRS < 8 ? PAIRS : 8,     /* that are read before they are stored */
        SMALLEST = DOWN * COLS <= 64,        /* tiles: all columns go at once */
        WIDTH = SMALLEST ? COLS : COLS / 2,  /* columns of a wgmma */
        HALF = WIDTH / 2                     /* sums of a thread in them */
    };
    static_assert(STAGES * STAGE + 1024 == TMM__INSTANCE(wgmma_bytes_, WGMMA),
                  "what the launcher asks for");
    static_assert(COLS == 64 || COLS == 128 || COLS == 192, "tmm__wgmma has half of these columns");
    const tmm__fp16_operand a = job->a;
    const long long M = job->M, N = job->N, ldc = job->ldc;
    const float least = job->scale_min, most = job->scale_max, alpha = job->alpha, beta = job->beta;
    const tmm__schedule s = job->s;
    const int batch = job->batch;
    unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    int thread = threadIdx.x - 128, lane = thread % 32, group = thread / 128;
    int tiles = s.tiles_down * s.tiles_across;
    /* Where in a tile this warpgroup's rows begin, and the columns that it stores. */
    int rows = SHARED_K ? 0 : group * (64 * DOWN), first_col = group * (COLS - STORED);
    int first = SHARED_K ? 2 * group : 0, stage = first;
    unsigned parity = 0;
    tmm__wait_for_previous();
    for (int tile = blockIdx.x; tile < tiles * batch; tile += gridDim.x) {
        int product, row0, col0;
        float sum[DOWN][SUMS], col_scale[2 * PAIRS], row_scale[2 * DOWN];
        if (SMALLEST) /* which has the registers: now, while the first copies are under way */
            tmm_wgmma_scales(job, tile, TILE_M, COLS, rows, first_col, DOWN, STORED, thread,
                             &product, &row0, &col0, col_scale, row_scale);
#pragma unroll
        for (int d = 0; d < DOWN; d++)
#pragma unroll
            for (int i = 0; i < SUMS; i++) sum[d][i] = 0;
#define TMM__MULTIPLY(at, c, half_c, half_a, half_b, half, k16, add)                              \
    tmm__wgmma(c,                                                                                 \
               tmm__descriptor(at[half] + rows * 128) + d * (TMM__BLOCK_BYTES / 16) +             \
                   4 * (half_a) + 2 * (k16),                                                      \
               tmm__descriptor(at[half] + BLOCKS_A * TMM__BLOCK_BYTES) + (half_c) * (WIDTH * 8) + \
                   4 * (half_b) + 2 * (k16),                                                      \
               WIDTH, add)
#define TMM__SMALL(at, c, half_c)                                                \
    TMM__WGMMA_BEGIN();                                                          \
    _Pragma("unroll") for (int i = 0; i < 8; i++)                                \
        TMM__MULTIPLY(at, c, half_c, 1 - i % 2, i % 2, i / 4, i / 2 % 2, i > 0); \
    TMM__WGMMA_COMMIT()
#define TMM__LARGE(at, c, half_c)                            \
    TMM__WGMMA_BEGIN();                                      \
    _Pragma("unroll") for (int i = 0; i < 4; i++)            \
        TMM__MULTIPLY(at, c, half_c, 0, 0, i / 2, i % 2, 1); \
    TMM__WGMMA_COMMIT()
#define TMM__WAIT_FOR(c, pending) \
    TMM__WGMMA_WAIT(pending);     \
    _Pragma("unroll") for (int i = 0; i < HALF; i++) asm volatile("" : "+f"(c[i])::"memory")
#define TMM__BEGIN(at, c)                                  \
    at[0] = stages + stage * STAGE, at[1] = at[0] + STAGE; \
    tmm__barrier_wait(fulls + 8 * stage, parity);          \
    tmm__barrier_wait(fulls + 8 * stage + 8, parity);      \
    TMM__SMALL(at, c, 0);                                  \
    stage += STRIDE;                                       \
    if (stage >= STAGES) stage -= STAGES, parity ^= 1
#define TMM__FINISH(at, c, pending)                                                       \
    TMM__WAIT_FOR(c, pending);                                                            \
    _Pragma("unroll") for (int i = 0; i < HALF; i++) c[i] *= 1.0f / (1 << TMM__LO_SHIFT); \
    TMM__LARGE(at, c, 0)
#define TMM__ADD(c, pending, ring)                     \
    TMM__WAIT_FOR(c, pending);                         \
    if (lane == 0 && (ring) >= 0) {                    \
        tmm__barrier_arrive(empties + 8 * (ring));     \
        tmm__barrier_arrive(empties + 8 * (ring) + 8); \
    }                                                  \
    _Pragma("unroll") for (int i = 0; i < HALF; i++) sum[0][i] += c[i]
        if (SMALLEST) { /* two windows at a time */
            static_assert(!SMALLEST || STAGES % 4 == 0, "two windows are four stages");
            const int d = 0;
            float c0[HALF], c1[HALF];
            unsigned at0[2], at1[2];              /* where their stages are, */
            int block = first, ring0, ring1 = -1; /* and which */
#pragma unroll
            for (int i = 0; i < HALF; i++) c1[i] = 0;
#pragma unroll 1
            for (; block + STRIDE < a.k_blocks; block += 2 * STRIDE) {
                ring0 = stage;
                TMM__BEGIN(at0, c0);
                TMM__ADD(c1, 1, ring1);
                ring1 = stage;
                TMM__BEGIN(at1, c1);
                TMM__FINISH(at0, c0, 1);
                TMM__FINISH(at1, c1, 1);
                TMM__ADD(c0, 1, ring0);
            }
            if (block < a.k_blocks) {
                ring0 = stage;
                TMM__BEGIN(at0, c0);
                TMM__ADD(c1, 1, ring1);
                TMM__FINISH(at0, c0, 0);
                TMM__ADD(c0, 0, ring0);
            } else {
                TMM__ADD(c1, 0, ring1);
            }
        }
#pragma unroll 1
        for (int block = 0; block < a.k_blocks && !SMALLEST; block += 2) {
            int second = stage + 1 == STAGES ? 0 : stage + 1;
            unsigned second_parity = second == 0 ? parity ^ 1 : parity;
            unsigned at[2] = {stages + stage * STAGE, stages + second * STAGE};
            tmm__barrier_wait(fulls + 8 * stage, parity);
            tmm__barrier_wait(fulls + 8 * second, second_parity);
            /* Half of the columns at a time: while registers of one half are worked on, tensor
               cores have wgmma of the other half to do. */
            float c0[HALF], c1[HALF];
#pragma unroll
            for (int d = 0; d < DOWN; d++) {
                TMM__SMALL(at, c0, 0);
                if (d > 0) {
                    TMM__WAIT_FOR(c1, 1);
#pragma unroll
                    for (int i = 0; i < HALF; i++) sum[d - 1][HALF + i] += c1[i];
                }
                TMM__SMALL(at, c1, 1);
                TMM__WAIT_FOR(c0, 1);
#pragma unroll
                for (int i = 0; i < HALF; i++) c0[i] *= 1.0f / (1 << TMM__LO_SHIFT);
                TMM__LARGE(at, c0, 0);
                TMM__WAIT_FOR(c1, 1);
#pragma unroll
                for (int i = 0; i < HALF; i++) c1[i] *= 1.0f / (1 << TMM__LO_SHIFT);
                TMM__LARGE(at, c1, 1);
                TMM__WAIT_FOR(c0, 1);
#pragma unroll
                for (int i = 0; i < HALF; i++) sum[d][i] += c0[i];
            }
            TMM__WAIT_FOR(c1, 0);
            if (lane == 0) {
                tmm__barrier_arrive(empties + 8 * stage);
                tmm__barrier_arrive(empties + 8 * second);
            }
#pragma unroll
            for (int i = 0; i < HALF; i++) sum[DOWN - 1][HALF + i] += c1[i];
            stage = second + 1, parity = second_parity;
            if (stage == STAGES) stage = 0, parity ^= 1;
        }
#undef TMM__MULTIPLY
#undef TMM__SMALL
#undef TMM__LARGE
#undef TMM__WAIT_FOR
#undef TMM__BEGIN
#undef TMM__FINISH
#undef TMM__ADD
        if (SHARED_K) {
            /* The other warpgroup gets what it stores by way of a stage that only this one
               reads, and has read: no more copies come, for a block has one tile. */
            float4 *out = (float4 *)(memory + first * STAGE) + thread % 128;
            float4 *in = (float4 *)(memory + (2 - first) * STAGE) + thread % 128;
#pragma unroll
            for (int i = 0; i < SUMS / 2; i += 4) {
                const float *of = &sum[0][i], *upper = &sum[0][SUMS / 2 + i];
                out[i * 32] = group == 0 ? make_float4(upper[0], upper[1], upper[2], upper[3])
                                         : make_float4(of[0], of[1], of[2], of[3]);
            }
            asm volatile("bar.sync 2, 256;" ::: "memory");
#pragma unroll
            for (int i = 0; i < SUMS / 2; i += 4) {
                float4 four = in[i * 32];
                float *of = &sum[0][i];
#pragma unroll
                for (int j = 0; j < 4; j++) of[j] = group == 0 ? of[j] : sum[0][SUMS / 2 + i + j];
                of[0] += four.x, of[1] += four.y, of[2] += four.z, of[3] += four.w;
            }
        }

        /* Scale and store. All scales are read before the first store: the compiler cannot know
           that they are not what is stored, and would wait. */
        if (!SMALLEST)
            tmm_wgmma_scales(job, tile, TILE_M, COLS, rows, first_col, DOWN, STORED, thread,
                             &product, &row0, &col0, col_scale, row_scale);
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
        float *to = job->C + product * job->batchC + col0;
        int cols = (int)N - col0; /* that exist, from col0 on */
        bool fast = !wide && ((size_t)to | (size_t)ldc * 4) % 8 == 0 &&
                    (N % 2 == 0 || cols >= 8 * PAIRS - 6) && /* no half pair */
                    !tmm__is_rejected(row_lowest * lowest, least, most) &&
                    !tmm__is_rejected(row_highest * highest, least, most);
        /* One row after the other, each moved to the place of the first, so that there is code for
           one row, except in tiles of 128 x 64; and if elements are to be judged one by one, for 32
           columns. */
#pragma unroll(SMALLEST && !SHARED_K ? 2 : 1)
        for (int i = 0; i < 2 * DOWN; i++) {
            const int LAST = DOWN - 1;
            int row = row0 + 8 * i + i / 2 * 48;
            float *c = to + row * ldc;
            if (row >= M) break;
            if (fast) {
#pragma unroll
                for (int first = 0; first < PAIRS; first += AT_ONCE) {
                    tmm_two old[AT_ONCE];
#pragma unroll
                    for (int j = 0; j < AT_ONCE; j++) old[j].v[0] = old[j].v[1] = 0;
                    if (beta != 0) {
#pragma unroll
                        for (int j = 0; j < AT_ONCE; j++) {
                            int col = 8 * (first + j);
                            tmm__load_if(&old[j], c + col, 8, col < cols);
#pragma unroll
                            for (int k = 0; k < 2; k++) old[j].v[k] = TMM__MUL(beta, old[j].v[k]);
                        }
                    }
#pragma unroll
                    for (int j = 0; j < AT_ONCE; j++) {
                        int pair = first + j;
#pragma unroll
                        for (int k = 0; k < 2; k++) {
                            float scale = row_scale[0] * col_scale[2 * pair + k];
                            old[j].v[k] =
                                tmm_value(sum[0][4 * pair + k] * scale, alpha, old[j].v[k],
                                          8 * pair < cols, row, col0 + 8 * pair + k);
                        }
                        tmm__store_if(c + 8 * pair, &old[j], 8, 8 * pair < cols);
                    }
                }
            } else {
                unsigned char *notes =
                    (unsigned char *)tmm__doubt_word(job, product, row, col0) + lane % 4;
#pragma unroll 1
                for (int first = 0; first < 8 * PAIRS; first += 32) {
                    unsigned bits = 0; /* whose size is no proof, of 16 columns */
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        int col = first + 8 * (j / 2) + j % 2;
                        float one = sum[0][4 * (j / 2) + j % 2];
                        float scale = fabsf(row_scale[0] * col_scale[j]);
                        bool mine = (col < cols) & !tmm__is_rejected(scale, least, most);
                        bool unproven = mine & tmm__is_doubtful(row_scale[0], col_scale[j], one,
                                                                job->doubt_below);
                        if (unproven) bits |= 1u << j % 4;
                        one *= scale;
                        tmm_store_some(c + col, row, col0 + col, 1, mine & !unproven, alpha, beta,
                                       &one);
                        if (j % 4 == 3) {
                            if (wide && col - 9 < cols + lane % 4 * 2)
                                notes[col / 16 * 4] = (unsigned char)bits;
                            if (bits) *noted = 1;
                            bits = 0;
                        }
                    }
                    /* The next 32 columns come to the place of these, and these behind the last. */
#pragma unroll
                    for (int j = 0; j < 8 && PAIRS > 4; j++) {
                        float scale = col_scale[j];
#pragma unroll
                        for (int k = j; k < 2 * PAIRS; k += 8) {
                            int at = 4 * (k / 2) + k % 2;
                            if (k + 8 < 2 * PAIRS) sum[0][at] = sum[0][at + 16];
                            col_scale[k] = k + 8 < 2 * PAIRS ? col_scale[k + 8] : scale;
                        }
                    }
                }
            }
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

/* What the thread does that copies, if tiles have this form. */
static __device__ __forceinline__ void tmm_wgmma_copy(const tmm__float_job *job,
                                                      unsigned char *memory, unsigned fulls,
                                                      unsigned empties)
{
    enum {
        BLOCKS_A = ((TMM__WGMMA_K_GROUPS > 1) ? 1 : 2) * TMM__WGMMA_DOWN, /* of 8 KB, in a stage */
        BLOCKS_B = TMM__WGMMA_COLS / 64,
        STAGE = (BLOCKS_A + BLOCKS_B) * TMM__BLOCK_BYTES
    };
    const tmm__fp16_operand a = job->a, b = job->b;
    const tmm__schedule s = job->s;
    const int tiles = s.tiles_down * s.tiles_across, all = tiles * job->batch;
    const unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    unsigned parity = 1; /* all stages are empty to begin with */
    unsigned *pace = TMM__WGMMA_DOWN * TMM__WGMMA_COLS > 64 ? job->pace : NULL, due = 0;
    int stage = 0;
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        int product = tile / tiles, down, across;
        tmm_find_tile(&s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
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
        /* Before the wait, not behind it: where to copy from. */
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
                unsigned to = stages + stage * STAGE, barrier = fulls + 8 * stage;
                tmm__barrier_wait(empties + 8 * stage, parity);
                tmm__barrier_expect(barrier, bytes_a + bytes_b);
                tmm__copy_bulk(to, next_a, bytes_a, barrier);
                tmm__copy_bulk(to + BLOCKS_A * TMM__BLOCK_BYTES, next_b, bytes_b, barrier);
                next_a += step_a;
                next_b += step_b;
                if (++stage == TMM__WGMMA_STAGES) stage = 0, parity ^= 1;
            }
        }
    }
    /* Who has no tile in the last round is not waited for. */
    if (pace != NULL && blockIdx.x > (unsigned)(all - 1) % gridDim.x)
        atomicAdd(pace, (a.k_blocks - 1) / TMM__FLOAT_PACE + 1);
}
#endif
#endif
