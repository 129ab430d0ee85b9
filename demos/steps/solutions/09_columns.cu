/* 09_columns.cu - exercise 09: B is stored by columns, B(k, j) at j K + k, in 03_shared.cu.
   Lanes lie along k, where B is contiguous, so b is [column][k]. Rows of 33 words: a warp reads words
   of 32 columns, which lie in 32 banks. */
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
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[ty][tx] = load(A, M, K, i, k0 + tx);
        b[ty][tx] = load(B, N, K, blockIdx.x * TILE + ty, k0 + tx);
        __syncthreads(); /* the tiles are complete */
        for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[tx][k];
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

#include "../harness.h" /* main: checks multiply() and times it */
