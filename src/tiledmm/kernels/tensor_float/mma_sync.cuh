/* src/tiledmm/kernels/tensor_float/mma_sync.cuh. Floats as FP16 by mma.sync, from sm_80 on.
   Uses: kernels/common/, kernels/tensor_float/, once/.
   Used by: launch.h, thin_launch.h, type/instances.h. */
/* The instances: pass, name, matrices of 16 x 8 of a warp above each other and side by side, stages
   of 32 k, blocks to a multiprocessor. */
#ifndef TMM__MMA_LIST
#define TMM__MMA_LIST(_)   \
    _(3, 128x128, 4, 3, 1) \
    _(4, 64x64, 2, 4, 2)
#define TMM__MMA_PARTS  (TMM__MMA_LIST(TMM__VALUE_1) 0)
#define TMM__MMA_STAGES (TMM__MMA_LIST(TMM__VALUE_2) 0)
#define TMM__MMA_EDGE   (32 * TMM__MMA_PARTS)     /* rows and columns of a tile */
#define TMM__MMA_STAGE  (2 * TMM__MMA_EDGE * 128) /* bytes */

/* Functions of this pass's instance. */

/* TMM__MMA_128x128 and so on, after the instances of wgmma; the portable kernel is the last instance. */
#define TMM__ROW(pass, name, ...) TMM__MMA_##name,
enum {
    TMM__MMA_BEFORE = TMM__WGMMA_INSTANCES - 1,
    TMM__MMA_LIST(TMM__ROW) TMM__PORTABLE_64x64,
    TMM__FLOAT_INSTANCES
};
#undef TMM__ROW
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__MMA_LIST(TMM__IN_PASS) 0)
/* KERNEL TENSOR FLOAT by mma.sync, for devices from sm_80 on, unless compiled for sm_90a, where
   wgmma is twice as fast. Tiles of 32 PARTS x 32 PARTS elements of C, 256 threads, a ring of stages
   of 32 k.

   Eight warps share a tile. Each has 16 PARTS x 8 PARTS of it, in parts of 16 x 8:
                   +----+----+----+----+                       +--+--+--+--+
                   | w0 | w1 | w2 | w3 |      of 128 x 128:    |  |  |  |  | 16
                   +----+----+----+----+      64 x 32,         +--+--+--+--+
                   | w4 | w5 | w6 | w7 |      4 x 4 parts      |  |  |  |  |
                   +----+----+----+----+                       :  :  :  :  :
   A stage holds the lines of A, then those of B, 128 bytes each, as KERNEL CONVERT leaves them. So
   the eight rows of a matrix that ldmatrix reads at a time lie in different banks.
       copies        | s2 | s0 | s1 | s2 |        all but one stage ahead, also into the next tile
       tensor cores  | s0 | s1 | s2 | s0 |
   A window is one stage: the tensor cores of sm_80 add 8 products at a time, those of sm_90 16, and
   cut off more. For the 32 k of a window and a part of 16 x 8
       c = lo hi + hi lo    4 mma        c = c 2^-11 + hi hi    2 mma        sum += c

   A stage of 128 x 128 is 3.1 million operations, 8 x 12 KB read from shared memory and 32 KB
   copied to it: 24 operations a byte. sm_80 has 2048 operations and 128 bytes a clock, 16 a byte:
   bound by tensor cores. Tiles of 64 x 64, with 12 a byte, are bound by shared memory. On sm_90
   latency bounds it: two warps for each tensor core have 4 mma under way each. */
enum { tmm__mma_edge = TMM__MMA_EDGE, tmm__this_mma_bytes = TMM__MMA_STAGES * TMM__MMA_STAGE };

#if TMM__BODIES && (TMM__ASYNC ? !TMM__WGMMA : !defined(__CUDA_ARCH__))
/* The next stage to be copied: its tile, its 32 k, and which of the ring it is. Where it lies in A
   and B, and how many blocks of lines of each there are from there on. */
typedef struct tmm__mma_copies {
    int tile, block, stage, blocks_a, blocks_b;
    const unsigned char *a, *b;
} tmm__mma_copies;

/* Begins to copy a stage, if there is one, and steps on. */
TMM__DEVICE void tmm__mma_copy(tmm__mma_copies *next, const tmm__float_job *job,
                               unsigned char *memory)
{
    enum { EDGE = TMM__MMA_EDGE, STAGE = TMM__MMA_STAGE, COPIES = STAGE / 4096 };
    const tmm__fp16_operand *a = &job->a, *b = &job->b;
    int thread = threadIdx.x, tiles = job->s.tiles_down * job->s.tiles_across;
    if (next->tile < tiles * job->batch) {
        size_t step_a = (size_t)a->line_blocks * TMM__BLOCK_BYTES;
        size_t step_b = (size_t)b->line_blocks * TMM__BLOCK_BYTES;
        if (next->block == 0) {
            int product = next->tile / tiles, down, across;
            tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, next->tile - product * tiles, &down, &across);
            next->blocks_a = a->line_blocks - down * (EDGE / 64);
            next->blocks_b = b->line_blocks - across * (EDGE / 64);
            next->a = a->blocks + down * (size_t)(EDGE / 64 * TMM__BLOCK_BYTES);
            next->b = b->blocks + across * (size_t)(EDGE / 64 * TMM__BLOCK_BYTES);
            next->a += (job->from_a.product_stride ? product : 0) * a->k_blocks * step_a;
            next->b += (job->from_b.product_stride ? product : 0) * b->k_blocks * step_b;
        }
        unsigned char *to = memory + next->stage * STAGE + thread * 16;
#pragma unroll
        for (int i = 0; i < COPIES; i++) {
            int at = i * 4096 < EDGE * 128 ? i * 4096 : i * 4096 - EDGE * 128;
            bool is_A = i * 4096 < EDGE * 128;
            bool exists = at / TMM__BLOCK_BYTES < (is_A ? next->blocks_a : next->blocks_b);
            const unsigned char *from = (is_A ? next->a : next->b) + (exists ? at : 0);
            tmm__copy_async(to + i * 4096, from + thread * 16, 16, exists);
        }
        next->a += step_a;
        next->b += step_b;
        if (++next->block == a->k_blocks) next->block = 0, next->tile += gridDim.x;
        if (++next->stage == TMM__MMA_STAGES) next->stage = 0;
    }
    tmm__copy_commit(); /* an empty group too: the wait counts groups */
}

/* Scales and stores a warp's part of tile number `tile`, but for rejected and doubtful elements,
   and leaves the bits of these. Returns whether this thread has doubtful ones. */
TMM__DEVICE bool tmm__mma_store(const tmm__float_job *job, int tile, int warp_row, int warp_col,
                                float (*sum)[TMM__MMA_PARTS][4])
{
    enum { DOWN = TMM__MMA_PARTS, COLS = TMM__MMA_PARTS };
    const long long M = job->M, N = job->N;
    int lane = threadIdx.x % 32, tiles = job->s.tiles_down * job->s.tiles_across;
    int product = tile / tiles, down, across;
    bool doubtful = false;
    tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
    int row0 = down * TMM__MMA_EDGE + warp_row + lane / 4;
    int col0 = across * TMM__MMA_EDGE + warp_col + lane % 4 * 2;
    const float *scale_a =
        job->a.scales + (job->from_a.product_stride ? product : 0) * 64ll * job->a.line_blocks;
    const float *scale_b =
        job->b.scales + (job->from_b.product_stride ? product : 0) * 64ll * job->b.line_blocks;
    float col_scale[COLS][2];
    bool cols_wide = false;
#pragma unroll
    for (int j = 0; j < COLS * 2; j++) {
        int col = col0 + 8 * (j / 2) + j % 2;
        col_scale[j / 2][j % 2] = col < N ? scale_b[col] : 0;
        cols_wide |= col_scale[j / 2][j % 2] < 0;
    }
#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) {
        long long row = row0 + 8 * i;
        float row_scale = row < M ? scale_a[row] : 0;
        bool wide = __any_sync(0xffffffffu, cols_wide || row_scale < 0);
        float *C = job->C + product * job->batchC + row * job->ldc;
        bool aligned = ((size_t)(C + col0) & 7) == 0;
        tmm__xouts2 old[COLS];
        unsigned mask[COLS], bits = 0; /* what is stored; what is doubtful */
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            mask[j] = 0;
            for (int n = 0; n < 2; n++) {
                float p = fabsf(row_scale * col_scale[j][n]);
                float *x = &sum[i / 2][j][i % 2 * 2 + n];
                bool exists = row < M && col0 + 8 * j + n < N;
                if (exists && !tmm__is_rejected(p, job->scale_min, job->scale_max)) {
                    if (tmm__is_doubtful(row_scale, col_scale[j][n], *x, job->doubt_below))
                        bits |= 1u << (2 * j + n);
                    else
                        mask[j] |= 1u << n;
                }
                *x *= p;
            }
            old[j].v[0] = old[j].v[1] = 0;
            if (job->beta != 0) old[j] = tmm__xload2(C + col0 + 8 * j, aligned, mask[j]);
        }
        if (wide && row < M) {
            unsigned char *bytes =
                (unsigned char *)tmm__doubt_word(job, product, (int)row, col0) + lane % 4;
#pragma unroll
            for (int j = 0; j < COLS; j += 2)
                if (col0 - lane % 4 * 2 + 8 * j < N)
                    bytes[2 * j] = (unsigned char)(bits >> 2 * j & 15);
            doubtful |= bits != 0;
        }
#pragma unroll
        for (int j = 0; j < COLS; j++)
            tmm__xstore2(C + col0 + 8 * j, row, col0 + 8 * j, aligned, mask[j],
                         TMM__OF_JOB(job->alpha, *job, product), job->beta, old[j],
                         &sum[i / 2][j][i % 2 * 2]);
    }
    return doubtful;
}

/* Behind all tiles: are there rejected elements, for the least and largest scales of A and B? Are
   there `doubtful` ones of any thread? Then they are computed again. */
TMM__DEVICE void tmm__mma_recheck(const tmm__float_job *job, unsigned char *memory, bool doubtful)
{
    int thread = threadIdx.x;
    unsigned *scales = (unsigned *)memory; /* A: least, largest; B: likewise; doubtful */
    if (thread < 2) scales[2 * thread] = 0xffffffffu, scales[2 * thread + 1] = scales[4] = 0;
    __syncthreads();
    if (doubtful) scales[4] = 1;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const tmm__fp16_operand *x = i == 0 ? &job->a : &job->b;
        bool shared = (i == 0 ? job->from_a.product_stride : job->from_b.product_stride) == 0;
        long long fours = (shared ? 1 : job->batch) * 16ll * x->line_blocks;
        unsigned lowest = 0xffffffffu, highest = 0;
        for (long long j = thread; j < fours; j += 256) {
            uint4 four = ((const uint4 *)x->scales)[j]; /* floats, without sign: */
            unsigned size[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                size[n] &= 0x7fffffffu;
                lowest = lowest < size[n] ? lowest : size[n];
                highest = highest > size[n] ? highest : size[n];
            }
        }
        atomicMin(&scales[2 * i], lowest);
        atomicMax(&scales[2 * i + 1], highest);
    }
    __syncthreads();
    float lowest = tmm__bits_float(scales[0]) * tmm__bits_float(scales[2]);
    float highest = tmm__bits_float(scales[1]) * tmm__bits_float(scales[3]);
    bool rejected = tmm__is_rejected(lowest, job->scale_min, job->scale_max) ||
                    tmm__is_rejected(highest, job->scale_min, job->scale_max);
    doubtful = scales[4] != 0;
    __syncthreads();
    if (rejected || doubtful)
        tmm__xrecheck(job, (float *)memory, thread, false, rejected, doubtful,
                      TMM__MMA_EDGE * TMM__MMA_EDGE > 128 * 64, TMM__MMA_EDGE, TMM__MMA_EDGE, 1, 0);
}
#endif

TMM_KERNEL void __launch_bounds__(256, TMM__MMA_LIST(TMM__VALUE_3) 0)
    tmm__gemm_float_mma(const tmm__float_job job)
{
#if TMM__BODIES && (TMM__ASYNC ? !TMM__WGMMA : !defined(__CUDA_ARCH__))
    enum { DOWN = TMM__MMA_PARTS, COLS = TMM__MMA_PARTS, STAGES = TMM__MMA_STAGES };
    static_assert(TMM__MMA_PARTS == 2 || TMM__MMA_PARTS == 4,
                  "TMM__MMA_LIST: a warp has 2 or 4 matrices above each other: a tile is made of "
                  "whole blocks, and its sums have to fit into registers");
    static_assert(
        STAGES >= 2 && STAGES * TMM__MMA_STAGE <= 99 * 1024,
        "TMM__MMA_LIST: stages must be 2 at least, and fit into the 99 KB that a block has");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, stage = 0;
    int all = job.s.tiles_down * job.s.tiles_across * job.batch;
    bool doubtful = false;

    tmm__let_next_begin();
    tmm__wait_for_previous();
    tmm__mma_copies next = {(int)blockIdx.x, 0, 0, 0, 0, NULL, NULL};
    for (int i = 0; i < STAGES - 1; i++) tmm__mma_copy(&next, &job, tmm__memory);

    /* Rows of the matrices whose addresses this lane gives; and the chunk of the first 8 k of hi */
    int warp_row = warp / 4 * (16 * DOWN), warp_col = warp % 4 * (8 * COLS);
    int row_a = warp_row + lane % 16, chunk_a = lane / 16;
    int row_b = warp_col + lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        float sum[DOWN][COLS][4];
#pragma unroll
        for (int i = 0; i < DOWN * COLS * 4; i++) sum[i / (COLS * 4)][i / 4 % COLS][i % 4] = 0;
#pragma unroll 1
        for (int block = 0; block < job.a.k_blocks; block++) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads();
            const unsigned char *lines_a = tmm__memory + stage * TMM__MMA_STAGE;
            const unsigned char *lines_b = lines_a + TMM__MMA_EDGE * 128;
            if (++stage == STAGES) stage = 0;
            /* Chunk c of line r is at place c ^ (r % 8); tiles of 16 and 8 lines keep r % 8. lo is
               at place ^ 4. */
            unsigned hi_b[2][COLS][2], lo_b[2][COLS][2];
#pragma unroll
            for (int k = 0; k < 2; k++)
#pragma unroll
                for (int j = 0; j < COLS; j += 2) {
                    int place = ((2 * k + chunk_b) ^ (row_b % 8)) * 16;
                    const unsigned char *line = lines_b + (row_b + 8 * j) * 128;
                    tmm__load_matrices(&hi_b[k][j][0], line + place);
                    tmm__load_matrices(&lo_b[k][j][0], line + (place ^ 64));
                }
            tmm__mma_copy(&next, &job, tmm__memory);
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                unsigned hi_a[2][4], lo_a[2][4];
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    int place = ((2 * k + chunk_a) ^ (row_a % 8)) * 16;
                    const unsigned char *line = lines_a + (row_a + 16 * i) * 128;
                    tmm__load_matrices(hi_a[k], line + place);
                    tmm__load_matrices(lo_a[k], line + (place ^ 64));
                }
                float c[COLS][4];
#pragma unroll
                for (int j = 0; j < COLS * 4; j++) c[j / 4][j % 4] = 0;
#pragma unroll
                for (int k = 0; k < 2; k++) {
#pragma unroll
                    for (int j = 0; j < COLS; j++) tmm__mma_16(c[j], lo_a[k], hi_b[k][j], false);
#pragma unroll
                    for (int j = 0; j < COLS; j++) tmm__mma_16(c[j], hi_a[k], lo_b[k][j], false);
                }
#pragma unroll
                for (int j = 0; j < COLS * 4; j++) c[j / 4][j % 4] *= 1.0f / (1 << TMM__LO_SHIFT);
#pragma unroll
                for (int k = 0; k < 2; k++)
#pragma unroll
                    for (int j = 0; j < COLS; j++) tmm__mma_16(c[j], hi_a[k], hi_b[k][j], false);
#pragma unroll
                for (int j = 0; j < COLS * 4; j++) sum[i][j / 4][j % 4] += c[j / 4][j % 4];
            }
        }
        doubtful |= tmm__mma_store(&job, tile, warp_row, warp_col, sum);
    }
    TMM__COPY_WAIT(0);
    __syncthreads();
    tmm__mma_recheck(&job, tmm__memory, doubtful);
#else
    (void)job;
#endif
}
#endif
