/* 13_wmma.cu - half in, float out: tensor cores by nvcuda::wmma. For 7.0 and later.
   Bottleneck: FP32 units. They do 67 TFLOP/s at most, the tensor cores of an H100 989 with halves.
   Changes:    a warp multiplies 16 x 16 x 16 by one call; it has 4 x 2 such products of C.
   Expected:   loads of one half at a time, and waiting for them, bind now: at 15 % of 989.
   Came:       56.8 TFLOP/s at 4096, 0.09 of cuBLAS; 6 % of 989: such loads cost more than twice as much. */
#include "tensor.h"
#include <mma.h>

enum { ROWS = 128, COLS = 128, DEPTH = 32, GAP = 8, THREADS = 256 };

/* A tile of X from (row, column) on, HIGH x WIDE, zeros beyond the edges: they add nothing to a sum. */
__device__ __forceinline__ void load(half *to, const half *X, int rows, int columns, int row,
                                     int column, int high, int wide)
{
    for (int e = threadIdx.x; e < high * wide; e += THREADS) {
        int i = e / wide, j = e % wide;
        bool inside = row + i < rows && column + j < columns;
        const half *from = inside ? X + (size_t)(row + i) * PITCH(columns) + column + j : X;
        to[i * (wide + GAP) + j] = inside ? *from : (half)0;
    }
}

/* Grid N/128 x M/128. Warp w has the 64 x 32 elements of C below row 64 (w / 4), right of 32 (w % 4). */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C)
{
#if defined(__CUCC__) || __CUDA_ARCH__ >= 700
    using namespace nvcuda::wmma;
    __shared__ __align__(32) half a[ROWS * (DEPTH + GAP)], b[DEPTH * (COLS + GAP)];
    __shared__ __align__(32) float c[THREADS / 32][256];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, up = warp / 4 * 64, left = warp % 4 * 32;
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    fragment<accumulator, 16, 16, 16, float> sum[4][2];
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, row_major> y[2];
    for (int t = 0; t < 8; t++) fill_fragment(sum[t / 2][t % 2], 0.0f);
    for (int k = 0; k < K; k += DEPTH) {
        load(a, A, M, K, row, k, ROWS, DEPTH);
        load(b, B, K, N, k, column, DEPTH, COLS);
        __syncthreads(); /* the tiles are complete */
        for (int l = 0; l < DEPTH; l += 16) {
            for (int t = 0; t < 2; t++)
                load_matrix_sync(y[t], b + l * (COLS + GAP) + left + 16 * t, COLS + GAP);
            for (int t = 0; t < 4; t++) {
                load_matrix_sync(x, a + (up + 16 * t) * (DEPTH + GAP) + l, DEPTH + GAP);
                for (int u = 0; u < 2; u++) mma_sync(sum[t][u], x, y[u], sum[t][u]);
            }
        }
        __syncthreads(); /* nobody reads them any more */
    }
    for (int t = 0; t < 8; t++) { /* whose sum is where is not said: so through shared memory */
        store_matrix_sync(c[warp], sum[t / 2][t % 2], 16, mem_row_major);
        __syncwarp();
        for (int e = lane; e < 256; e += 32) {
            int i = row + up + t / 2 * 16 + e / 16, j = column + left + t % 2 * 16 + e % 16;
            store(C, M, N, i, j, alpha * c[warp][e], beta);
        }
        __syncwarp();
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
    kernel<<<grid, THREADS>>>(M, N, K, alpha, a, b, beta, C);
    release(a, A), release(b, B);
}

#include "harness.h" /* main: checks multiply() and times it */
