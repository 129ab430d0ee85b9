/* 16_wgmma.cu - half in, float out: wgmma, by four warps, from shared memory. For 9.0a alone.
   Bottleneck: operands of mma.sync pass through registers; copies and their addresses, as 17 shows.
   Changes:    4 warps begin a product of 64 x 128 x 16 whose operands stay where copies left them.
   Expected:   threads that copy wait for the product, and the product for copies: 50 % of 989.
   Came:       261 TFLOP/s at 4096, 0.40 of cuBLAS; 26 % of 989: copies cost more, see 17. */
#include "tensor.h"

enum { ROWS = 128, COLS = 128, DEPTH = 64, STAGES = 3, THREADS = 256 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, BYTES = 2 * STAGES * STAGE };
/* Where element (i, j) of a tile is, j % 8 = 0: in HIGH rows of 64 halves, then come the next 64. */
#define AT(high, i, j) ((j) / 64 * (high)*64 + (i)*64 + ((j) / 8 % 8 ^ (i) % 8) * 8)

/* A tile of X from (row, column) on, HIGH x WIDE, zeros beyond the edges: they add nothing to a sum. */
__device__ __forceinline__ void load(half *to, const half *X, int rows, int columns, int row,
                                     int column, int high, int wide)
{
    for (int e = threadIdx.x; e < high * wide / 8; e += THREADS) {
        int i = e / (wide / 8), j = e % (wide / 8) * 8;
        bool inside = row + i < rows && column + j < columns;
        const half *from = inside ? X + (size_t)(row + i) * PITCH(columns) + column + j : X;
        __pipeline_memcpy_async(to + AT(high, i, j), from, 16, inside ? 0 : 16);
    }
}

/* Grid N/128 x M/128. Warp w has rows 16 w to 16 w + 15 of the tile of C. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    float sum[COLS / 2]; /* the first product does not read it */
    for (int s = 1 - STAGES, next = 0; s * DEPTH < K; s++, next += DEPTH) {
        half *to = stages + (s + STAGES - 1) % STAGES * STAGE, *at = stages + s % STAGES * STAGE;
        if (s >= 0) __pipeline_wait_prior(STAGES - 2);
        FENCE();         /* tensor cores see the copies */
        __syncthreads(); /* stage s is complete, and nobody reads the one before */
        if (next < K) load(to, A, M, K, row, next, ROWS, DEPTH);
        if (next < K) load(to + A_SIZE, B, K, N, next, column, DEPTH, COLS);
        __pipeline_commit();
        if (s < 0) continue;
        WGMMA_BEGIN();
        for (int l = 0; l < DEPTH; l += 16)
            wgmma_128(sum, descriptor(at + warp / 4 * 64 * 64 + l, 16),
                      descriptor(at + A_SIZE + l * 64, DEPTH * 128), s + l > 0);
        WGMMA_END();
        WGMMA_WAIT(0);
    }
    SUMS_ARE_DONE(sum, COLS / 2, K);
    for (int e = 0; e < COLS / 2; e++) {
        int i = row + warp * 16 + e / 2 % 2 * 8 + lane / 4;
        int j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
        store(C, M, N, i, j, alpha * sum[e], beta);
    }
#else
    elsewhere(M, N, K, alpha, A, B, beta, C);
#endif
}

static void multiply(int M, int N, int K, float alpha, const half *A, const half *B, float beta,
                     float *C)
{
    const half *a = aligned(A, M, K), *b = aligned(B, K, N);
    dim3 grid((N + COLS - 1) / COLS, (M + ROWS - 1) / ROWS);
    int bytes = shared_memory((const void *)kernel, BYTES);
    kernel<<<grid, THREADS, bytes>>>(M, N, K, alpha, a, b, beta, C);
    release(a, A), release(b, B);
}

#include "harness.h" /* main: checks multiply() and times it */
