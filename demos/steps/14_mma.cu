/* 14_mma.cu - half in, float out: mma.sync, with ldmatrix and cp.async. For 8.0 and later.
   Bottleneck: copies. A thread moves 32 halves a tile, one at a time, and tensor cores wait for them.
   Changes:    copies of 16 bytes, two stages ahead; ldmatrix; C is stored straight from registers.
   Expected:   bank conflicts bind: the 8 rows of a matrix, 128 or 256 bytes apart, share banks.
   Came:       70.5 TFLOP/s at 4096, 0.11 of cuBLAS; 7 of 8 passes over shared memory are conflicts. */
#include "tensor.h"

enum { ROWS = 128, COLS = 128, DEPTH = 64, STAGES = 3, THREADS = 256 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, BYTES = 2 * STAGES * STAGE };

/* A tile of X from (row, column) on, HIGH x WIDE, zeros beyond the edges: they add nothing to a sum. */
__device__ __forceinline__ void load(half *to, const half *X, int rows, int columns, int row,
                                     int column, int high, int wide)
{
    for (int e = threadIdx.x; e < high * wide / 8; e += THREADS) {
        int i = e / (wide / 8), j = e % (wide / 8) * 8;
        bool inside = row + i < rows && column + j < columns;
        const half *from = inside ? X + (size_t)(row + i) * PITCH(columns) + column + j : X;
        __pipeline_memcpy_async(to + i * wide + j, from, 16, inside ? 0 : 16);
    }
}

/* Grid N/128 x M/128. Warp w has the 64 x 32 elements of C below row 64 (w / 4), right of 32 (w % 4). */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C)
{
#if defined(__CUCC__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(1024) half stages[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, up = warp / 4 * 64, left = warp % 4 * 32;
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    float sum[4][4][4] = {{{0}}};
    unsigned x[4], y[2][4];
    for (int s = 1 - STAGES, next = 0; s * DEPTH < K; s++, next += DEPTH) {
        half *to = stages + (s + STAGES - 1) % STAGES * STAGE, *at = stages + s % STAGES * STAGE;
        if (s >= 0) __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* stage s is complete, and nobody reads the one before */
        if (next < K) load(to, A, M, K, row, next, ROWS, DEPTH);
        if (next < K) load(to + A_SIZE, B, K, N, next, column, DEPTH, COLS);
        __pipeline_commit();
        for (int l = 0; s >= 0 && l < DEPTH; l += 16) {
            int i = lane % 16, j = lane / 16 * 8; /* of the row whose address it gives */
            for (int t = 0; t < 2; t++)
                ldmatrix(y[t], at + A_SIZE + (l + i) * COLS + left + 16 * t + j, true);
            for (int t = 0; t < 4; t++) {
                ldmatrix(x, at + (up + 16 * t + i) * DEPTH + l + j, false);
                for (int u = 0; u < 4; u++) mma(sum[t][u], x, y[u / 2] + u % 2 * 2);
            }
        }
    }
    for (int e = 0; e < 64; e++) {
        int i = row + up + e / 16 * 16 + e / 2 % 2 * 8 + lane / 4;
        int j = column + left + e / 4 % 4 * 8 + lane % 4 * 2 + e % 2;
        store(C, M, N, i, j, alpha * sum[e / 16][e / 4 % 4][e % 4], beta);
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
