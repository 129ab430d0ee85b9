/* src/tiledmm/kernels/tensor_int8/mma_sync.cuh. Products of bytes by mma.sync, from sm_75 on.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/.
   Used by: launch.h, type/instances.h. */
/* The instances: pass, name, columns of a warp's part. */
#ifndef TMM__INT8_MMA_LIST
#define TMM__INT8_MMA_LIST(_) \
    _(1, 128x256, 64)         \
    _(2, 128x128, 32)
#define TMM__INT8_MMA_COLS  (TMM__INT8_MMA_LIST(TMM__VALUE_1) 0)
#define TMM__INT8_MMA_ROWS  128
#define TMM__INT8_MMA_STAGE ((TMM__INT8_MMA_ROWS + 4 * TMM__INT8_MMA_COLS) * TMM__INT8_K)
#endif

#if defined(TMM__PASS) && TMM__DOUBLE_TENSOR && (TMM__INT8_MMA_LIST(TMM__IN_PASS) 0)
/* KERNEL TENSOR INT8 by mma.sync, unless compiled for sm_90a, where wgmma is twice as fast. A block
   of 256 threads has a tile of 128 x 256 (128 x 128) of one plane of C. Each of its eight warps has
   64 x 64 (64 x 32) of it, as 4 x 8 (4 x 4) matrices of 16 x 8:
                   +----+----+----+----+        two stages of 128 k, filled by cp.async:
             64    | w0 | w2 | w4 | w6 |            copies        | s1 | s0 | s1 |
                   +----+----+----+----+            tensor cores  | s0 | s1 | s0 |
             64    | w1 | w3 | w5 | w7 |        lines of A, then of B, 128 bytes each, as KERNEL
                   +----+----+----+----+        RESIDUES leaves them: ldmatrix has no bank conflicts
   blockIdx.x counts tiles, modulus by modulus: L times the tiles, of 16 that are launched.

   A stage of 128 x 256 is 4.2 million multiply-adds. That is 87 for each byte that it loads from L2
   (48 KB), and 32 for each byte that it reads from shared memory (128 KB). sm_80 can do 1024 a
   clock and read 128 bytes of shared memory, 8 for a byte: bound by tensor cores. Each sum becomes
   a byte in registers. */
enum { tmm__gemm_int8_mma_bytes = 2 * TMM__INT8_MMA_STAGE };

#if TMM__BODIES && !TMM__WGMMA
TMM__DEVICE void tmm__gemm_int8_mma_copy(unsigned char *stage, const tmm__int8_products *job,
                                         int modulus, int row, int col, int k)
{
    enum { ROWS = TMM__INT8_MMA_ROWS / 64, COLS = 4 * TMM__INT8_MMA_COLS / 64 };
    size_t block = (size_t)modulus * job->k_blocks + k;
    const unsigned char *a = job->a + (block * job->a_pitch + row * ROWS) * TMM__INT8_BLOCK;
    const unsigned char *b = job->b + (block * job->b_pitch + col * COLS) * TMM__INT8_BLOCK;
    const int at = threadIdx.x * 16;
#pragma unroll
    for (int i = 0; i < 2 * (ROWS + COLS); i++) { /* half a block of 8 KB */
        bool is_A = i < 2 * ROWS;
        int n = is_A ? i : i - 2 * ROWS;
        bool exists =
            is_A ? row * ROWS + n / 2 < job->a_blocks : col * COLS + n / 2 < job->b_blocks;
        tmm__copy_async(stage + i * 4096 + at, exists ? (is_A ? a : b) + n * 4096 + at : job->a, 16,
                        exists);
    }
    tmm__copy_commit();
}
#endif

TMM_KERNEL void __launch_bounds__(256, 1) tmm__gemm_int8_mma(const tmm__int8_products job)
{
#if TMM__BODIES && !TMM__WGMMA
    enum { WIDE = TMM__INT8_MMA_COLS / 8, STAGE = TMM__INT8_MMA_STAGE };
    static_assert(TMM__INT8_MMA_COLS == 32 || TMM__INT8_MMA_COLS == 64,
                  "TMM__INT8_MMA_LIST: a warp's part has 32 or 64 columns: whole pieces of C, and "
                  "not more sums than registers");
    static_assert(TMM__INT8_MMA_ROWS == 128, "TMM__INT8_MMA_ROWS must be 128: two warps of 64");
    extern __shared__ __align__(128) unsigned char tmm__int8_stages[];
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 % 2, warp_col = threadIdx.x / 64;
    const int tiles = job.tiles_down * job.tiles_across, modulus = blockIdx.x / tiles;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool units = job.state == NULL;
    if (!units && modulus >= (int)job.state->moduli) return;
    int row, col;
    tmm__int8_find((int)blockIdx.x - modulus * tiles, job.tiles_down, job.tiles_across, &row, &col);
    unsigned c[4][WIDE][4];
#pragma unroll
    for (int i = 0; i < 16 * WIDE; i++) c[i / (4 * WIDE)][i / 4 % WIDE][i % 4] = 0;
    /* Where this lane's line and chunk are for ldmatrix: of A line lane % 16, chunk lane / 16; of B
       line lane % 8 + lane / 16 * 8, chunk lane / 8 % 2. Both lines are lane % 8 modulo 8. */
    const int line_a = warp_row * 64 + lane % 16, chunk_a = lane / 16;
    const int line_b =
        TMM__INT8_MMA_ROWS + warp_col * TMM__INT8_MMA_COLS + lane % 8 + lane / 16 * 8;
    const int chunk_b = lane / 8 % 2;
    tmm__gemm_int8_mma_copy(tmm__int8_stages, &job, modulus, row, col, 0);
#pragma unroll 1
    for (int k = 0; k < job.k_blocks; k++) {
        const unsigned char *stage = tmm__int8_stages + k % 2 * STAGE;
        TMM__COPY_WAIT(0);
        __syncthreads(); /* this stage is here, and all have read the other */
        if (k + 1 < job.k_blocks)
            tmm__gemm_int8_mma_copy(tmm__int8_stages + (k + 1) % 2 * STAGE, &job, modulus, row, col,
                                    k + 1);
#pragma unroll
        for (int s = 0; s < 4; s++) { /* 32 k */
            unsigned a[4][4], b[WIDE / 2][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                tmm__load_matrices(a[i], stage + (line_a + 16 * i) * 128 +
                                             ((2 * s + chunk_a) ^ lane % 8) * 16);
#pragma unroll
            for (int j = 0; j < WIDE / 2; j++)
                tmm__load_matrices(b[j], stage + (line_b + 16 * j) * 128 +
                                             ((2 * s + chunk_b) ^ lane % 8) * 16);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < WIDE; j++) tmm__mma_bytes(c[i][j], a[i], b[j / 2] + j % 2 * 2);
        }
    }
    const int piece_row = row * 2 + warp_row;
    const unsigned p = units ? 1 : job.p[modulus], inverse = units ? 0 : job.inverse[modulus];
#pragma unroll
    for (int m = 0; m < WIDE / 4; m++) { /* pieces */
        int piece_col = (col * 4 + warp_col) * (WIDE / 4) + m;
        if (piece_row >= job.pieces_down || piece_col >= job.pieces_across) continue;
        unsigned char *to = job.C + tmm__int8_piece_at(piece_row, piece_col, job.pieces_across) +
                            (units ? (int)TMM__INT8_UNITS : modulus) * TMM__INT8_PIECE + lane * 16;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned word[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                word[j] = tmm__int8_word(c[i][4 * m + j], p, inverse, units);
            __stcs((uint4 *)(to + i * 512), make_uint4(word[0], word[1], word[2], word[3]));
        }
    }
#else
    (void)job;
#endif
}
#endif
