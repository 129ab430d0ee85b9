/* src/tiledmm/kernels/float/mma_sync.cuh. Floats as FP16 by mma.sync, from sm_80 on.
   Uses: kernels/float/recheck.cuh, kernels/float/ptx.cuh. Used by: kernels/float/launch.h. */
/* The instances: pass, name, matrices of 16 x 8 of a warp above each other and side by side, stages of
   32 k, blocks to a multiprocessor. */
#ifndef TMM__MMA_LIST
#define TMM__MMA_LIST(_)   \
    _(5, 128x128, 4, 3, 1) \
    _(6, 64x64, 2, 4, 2)
#define TMM__MMA_PARTS  (TMM__MMA_LIST(TMM__VALUE_1) 0)
#define TMM__MMA_STAGES (TMM__MMA_LIST(TMM__VALUE_2) 0)
#define TMM__MMA_BLOCKS (TMM__MMA_LIST(TMM__VALUE_3) 0)
#define TMM__MMA_EDGE   (32 * TMM__MMA_PARTS)     /* rows and columns of a tile */
#define TMM__MMA_STAGE  (2 * TMM__MMA_EDGE * 128) /* bytes */

/* TMM__MMA_128x128 and so on, behind those of wgmma; the portable kernel is the last instance. */
#define TMM__MMA_ENUMERATOR(pass, name, ...) TMM__MMA_##name,
enum {
    TMM__MMA_BEFORE = TMM__WGMMA_INSTANCES - 1,
    TMM__MMA_LIST(TMM__MMA_ENUMERATOR) TMM__PORTABLE_64x64,
    TMM__FLOAT_INSTANCES
};
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__MMA_LIST(TMM__IN_PASS) 0)
/* KERNEL TENSOR FLOAT by mma.sync, for devices from sm_80 on, unless compiled for sm_90a, where
   wgmma is twice as fast: tiles of 32 PARTS x 32 PARTS elements of C, with PARTS = TMM__MMA_PARTS,
   256 threads, a ring of TMM__MMA_STAGES stages of 32 k.

   Eight warps share a tile, each has 16 PARTS x 8 PARTS of it, in parts of 16 x 8:
                   +----+----+----+----+                       +--+--+--+--+
                   | w0 | w1 | w2 | w3 |      of 128 x 128:    |  |  |  |  | 16
                   +----+----+----+----+      64 x 32,         +--+--+--+--+
                   | w4 | w5 | w6 | w7 |      4 x 4 parts      |  |  |  |  |
                   +----+----+----+----+                       :  :  :  :  :
   A stage holds the lines of A, then those of B, 128 bytes each, as KERNEL SPLIT leaves them: the
   eight rows of a matrix that ldmatrix reads at a time lie in different banks.
       copies        | s2 | s0 | s1 | s2 |        all but one stage ahead, also into the next tile
       tensor cores  | s0 | s1 | s2 | s0 |
   A window is one stage, for the tensor cores of sm_80 add 8 products at a time where those of
   sm_90 add 16, and cut off more. For the 32 k of a window and a part of 16 x 8
       c = lo hi + hi lo    4 mma        c = c 2^-11 + hi hi    2 mma        sum += c

   A stage of 128 x 128 is 3.1 million operations of the tensor cores, 8 x 12 KB read from shared
   memory and 32 KB copied to it: 24 operations a byte. sm_80 has 2048 operations and 128 bytes a
   clock, 16 a byte: bound by tensor cores; tiles of 64 x 64, with 12 a byte, by shared memory. On
   sm_90 mma.sync has about 0.6 of wgmma's rate, of which half is reached: two warps for each tensor
   core, with 4 mma under way each, cannot hide how long these take. */
enum {
    TMM__INSTANCE(mma_edge_, MMA) = TMM__MMA_EDGE,
    TMM__INSTANCE(mma_bytes_, MMA) = TMM__MMA_STAGES * TMM__MMA_STAGE
};

TMM_KERNEL void __launch_bounds__(256, TMM__MMA_BLOCKS) tmm_gemm_float_mma(const tmm__float_job job)
{
#if TMM__BODIES && (TMM__ASYNC ? !TMM__WGMMA : !defined(__CUDA_ARCH__))
    enum {
        DOWN = TMM__MMA_PARTS,
        COLS = TMM__MMA_PARTS,
        STAGES = TMM__MMA_STAGES,
        TILE_M = 32 * DOWN,
        TILE_N = 32 * COLS,
        STAGE = (TILE_M + TILE_N) * 128,
        COPIES = STAGE / 4096 /* of 16 bytes a thread */
    };
    static_assert(TILE_M % 64 == 0 && TILE_N % 64 == 0, "tiles are made of whole blocks");
    extern __shared__ __align__(16) unsigned char tmm_memory[];
    const tmm__fp16_operand a = job.a, b = job.b;
    const long long M = job.M, N = job.N, ldc = job.ldc;
    const tmm__schedule s = job.s;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int tiles = s.tiles_down * s.tiles_across, all = tiles * job.batch;
    unsigned char *memory = tmm_memory;
    bool noted = false; /* elements whose size is no proof */

    tmm__let_next_begin();
    tmm__wait_for_previous();

    /* The next stage to be copied: tile and block of 32 k. */
    int next_tile = blockIdx.x, next_block = 0, next_stage = 0;
    const unsigned char *next_a = a.blocks, *next_b = b.blocks;
    size_t step_a = (size_t)a.line_blocks * TMM__BLOCK_BYTES;
    size_t step_b = (size_t)b.line_blocks * TMM__BLOCK_BYTES;
    int blocks_a = 0, blocks_b = 0;
#define TMM__FLOAT_COPY_STAGE()                                                                  \
    do {                                                                                         \
        if (next_tile < all) {                                                                   \
            if (next_block == 0) {                                                               \
                int product = next_tile / tiles, down, across;                                   \
                tmm_find_tile(&s, TMM__FLOAT_BAND, next_tile - product * tiles, &down, &across); \
                blocks_a = a.line_blocks - down * (TILE_M / 64);                                 \
                blocks_b = b.line_blocks - across * (TILE_N / 64);                               \
                next_a = a.blocks + down * (size_t)(TILE_M / 64 * TMM__BLOCK_BYTES);             \
                next_b = b.blocks + across * (size_t)(TILE_N / 64 * TMM__BLOCK_BYTES);           \
                next_a += (job.from_a.product_stride ? product : 0) * a.k_blocks * step_a;       \
                next_b += (job.from_b.product_stride ? product : 0) * b.k_blocks * step_b;       \
            }                                                                                    \
            unsigned char *to = memory + next_stage * STAGE + thread * 16;                       \
            _Pragma("unroll") for (int i = 0; i < COPIES; i++)                                   \
            {                                                                                    \
                int at = i * 4096 < TILE_M * 128 ? i * 4096 : i * 4096 - TILE_M * 128;           \
                bool is_A = i * 4096 < TILE_M * 128;                                             \
                bool exists = at / TMM__BLOCK_BYTES < (is_A ? blocks_a : blocks_b);              \
                const unsigned char *from = (is_A ? next_a : next_b) + (exists ? at : 0);        \
                tmm__copy_async(to + i * 4096, from + thread * 16, 16, exists);                  \
            }                                                                                    \
            next_a += step_a;                                                                    \
            next_b += step_b;                                                                    \
            if (++next_block == a.k_blocks) next_block = 0, next_tile += gridDim.x;              \
            if (++next_stage == STAGES) next_stage = 0;                                          \
        }                                                                                        \
        tmm__copy_commit();                                                                      \
    } while (0)
    for (int i = 0; i < STAGES - 1; i++) TMM__FLOAT_COPY_STAGE();

    /* Rows of the matrices whose addresses this lane gives; and the chunk of the first 8 k of hi */
    int warp_row = warp / 4 * (16 * DOWN), warp_col = warp % 4 * (8 * COLS);
    int row_a = warp_row + lane % 16, chunk_a = lane / 16;
    int row_b = warp_col + lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
    int stage = 0;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        float sum[DOWN][COLS][4];
#pragma unroll
        for (int i = 0; i < DOWN * COLS * 4; i++) sum[i / (COLS * 4)][i / 4 % COLS][i % 4] = 0;
#pragma unroll 1
        for (int block = 0; block < a.k_blocks; block++) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads();
            const unsigned char *lines_a = memory + stage * STAGE;
            const unsigned char *lines_b = lines_a + TILE_M * 128;
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
            TMM__FLOAT_COPY_STAGE();
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

        int product = tile / tiles, down, across;
        tmm_find_tile(&s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
        int row0 = down * TILE_M + warp_row + lane / 4;
        int col0 = across * TILE_N + warp_col + lane % 4 * 2;
        const float *scale_a =
            a.scales + (job.from_a.product_stride ? product : 0) * 64ll * a.line_blocks;
        const float *scale_b =
            b.scales + (job.from_b.product_stride ? product : 0) * 64ll * b.line_blocks;
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
            float *C = job.C + product * job.batchC + row * ldc;
            bool aligned = ((size_t)(C + col0) & 7) == 0;
            tmm_two old[COLS];
            unsigned wanted[COLS], bits = 0; /* whose size is no proof */
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                wanted[j] = 0;
                for (int n = 0; n < 2; n++) {
                    float p = fabsf(row_scale * col_scale[j][n]);
                    float *one = &sum[i / 2][j][i % 2 * 2 + n];
                    bool exists = row < M && col0 + 8 * j + n < N;
                    if (exists && !tmm__is_rejected(p, job.scale_min, job.scale_max)) {
                        if (tmm__is_doubtful(row_scale, col_scale[j][n], *one, job.doubt_below))
                            bits |= 1u << (2 * j + n);
                        else
                            wanted[j] |= 1u << n;
                    }
                    *one *= p;
                }
                old[j].v[0] = old[j].v[1] = 0;
                if (job.beta != 0) old[j] = tmm_load_two(C + col0 + 8 * j, aligned, wanted[j]);
            }
            if (wide && row < M) {
                unsigned char *notes =
                    (unsigned char *)tmm__doubt_word(&job, product, (int)row, col0) + lane % 4;
#pragma unroll
                for (int j = 0; j < COLS; j += 2)
                    if (col0 - lane % 4 * 2 + 8 * j < N)
                        notes[2 * j] = (unsigned char)(bits >> 2 * j & 15);
                noted |= bits != 0;
            }
#pragma unroll
            for (int j = 0; j < COLS; j++)
                tmm_store_two(C + col0 + 8 * j, row, col0 + 8 * j, aligned, wanted[j], job.alpha,
                              job.beta, old[j], &sum[i / 2][j][i % 2 * 2]);
        }
    }
#undef TMM__FLOAT_COPY_STAGE
    TMM__COPY_WAIT(0);
    __syncthreads();

    /* Are there elements to be left to multiply-adds? The least and largest scales of A and B. */
    unsigned *scales = (unsigned *)tmm_memory;
    if (thread < 2) scales[2 * thread] = 0xffffffffu, scales[2 * thread + 1] = scales[4] = 0;
    __syncthreads();
    if (noted) scales[4] = 1;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const tmm__fp16_operand *split = i == 0 ? &a : &b;
        bool shared = (i == 0 ? job.from_a.product_stride : job.from_b.product_stride) == 0;
        long long fours = (shared ? 1 : job.batch) * 16ll * split->line_blocks;
        unsigned lowest = 0xffffffffu, highest = 0;
        for (long long j = thread; j < fours; j += 256) {
            uint4 four = ((const uint4 *)split->scales)[j]; /* floats, without sign: */
            unsigned of[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                of[n] &= 0x7fffffffu;
                lowest = lowest < of[n] ? lowest : of[n];
                highest = highest > of[n] ? highest : of[n];
            }
        }
        atomicMin(&scales[2 * i], lowest);
        atomicMax(&scales[2 * i + 1], highest);
    }
    __syncthreads();
    float lowest = tmm__bits_float(scales[0]) * tmm__bits_float(scales[2]);
    float highest = tmm__bits_float(scales[1]) * tmm__bits_float(scales[3]);
    bool by_scales = tmm__is_rejected(lowest, job.scale_min, job.scale_max) ||
                     tmm__is_rejected(highest, job.scale_min, job.scale_max);
    noted = scales[4] != 0;
    __syncthreads();
    if (by_scales || noted)
        tmm_recheck(&job, (float *)tmm_memory, thread, false, by_scales, noted,
                    TILE_M * TILE_N > 128 * 64, TILE_M, TILE_N);
#else
    (void)job;
#endif
}
#endif
