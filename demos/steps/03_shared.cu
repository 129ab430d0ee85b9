/* 03_shared.cu - a block copies tiles of A and B to shared memory, and all its threads use them.
   Bottleneck: 2 loads through L1 for each multiply-add, 2.5 sectors a load.
   Changes:    the block walks along k: a tile of A, a tile of B, a barrier, 32 multiply-adds.
   Expected:   a 32nd of the loads from memory; but still 2 words, now from shared memory.
   Came:       8.95 TFLOP/s at 4096, 0.17 of cuBLAS. nvcc reads 4 words of a at once: 1.25 loads. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 32 };

/* Element (i, j) of a matrix, zero beyond its edges: zeros add nothing to a sum. */
static __device__ float load(const float *X, int rows, int columns, int i, int j)
{
    return i < rows && j < columns ? X[(size_t)i * columns + j] : 0;
}

/* Grid N/32 x M/32, blocks of 32 x 32. All threads meet the barriers, those beyond edges, too. */
__global__ void kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                       float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[ty][tx] = load(A, M, K, i, k0 + tx);
        b[ty][tx] = load(B, K, N, k0 + ty, j);
        __syncthreads(); /* the tiles are complete */
        for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads(); /* nobody reads them any more */
    }
    if (i >= M || j >= N) return;
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
