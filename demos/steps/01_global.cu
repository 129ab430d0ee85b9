/* 01_global.cu - C = alpha A B + beta C, row-major, straight from the formula.
   Bottleneck: nothing yet: this is the start. A warp is 32 neighbours of threadIdx.x.
   Changes:    one thread computes one element of C: a row of A times a column of B.
   Expected:   lanes lie below each other: a load of A takes 32 sectors (of 32 bytes each), not 1.
   Came:       0.50 TFLOP/s at 4096, 0.01 of cuBLAS; 16.5 sectors a load: 32 of A, 1 of B. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 32 };

/* Grid M/32 x N/32, blocks of 32 x 32. */
__global__ void kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                       float *C)
{
    int i = blockIdx.x * TILE + threadIdx.x, j = blockIdx.y * TILE + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
    float *c = C + (size_t)i * N + j;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c; /* with beta = 0 C may hold NaN */
}

static void multiply(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                     float *C)
{
    dim3 grid((M + TILE - 1) / TILE, (N + TILE - 1) / TILE), block(TILE, TILE);
    kernel<<<grid, block>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
