/* 02_coalesced.cu - lanes of a warp lie beside each other in C.
   Bottleneck: 16.5 sectors a load, 32 of A and 1 of B; 4 % of issue slots are used.
   Changes:    threadIdx.x goes along columns, not along rows: two lines.
   Expected:   1 sector for a load of A, 4 for one of B and for a store: some 6 times as fast.
   Came:       5.88 TFLOP/s at 4096, 0.11 of cuBLAS: 12 times, not 6; 2.5 sectors a load. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 32 };

/* Grid N/32 x M/32, blocks of 32 x 32. In 01_global.cu x and y have changed places. */
__global__ void kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                       float *C)
{
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
    float *c = C + (size_t)i * N + j;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c; /* with beta = 0 C may hold NaN */
}

static void multiply(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                     float *C)
{
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), block(TILE, TILE);
    kernel<<<grid, block>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
