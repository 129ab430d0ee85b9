/* 04_registers_1x8.cu - a thread owns 8 elements of C below each other: 1 wide, 8 high.
   Bottleneck: 2 words from shared memory for each multiply-add; 3.15 instructions a multiply-add.
   Changes:    tiles of 64 x 64, 8 deep; an element of b serves 8 multiply-adds of a thread.
   Expected:   9 words for 8 multiply-adds, not 16, and nvcc reads a by 4 along k: twice as fast.
   Came:       16.5 TFLOP/s at 4096, 0.32 of cuBLAS; 1.85 instructions a multiply-add. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 64, DEPTH = 8, OWN = 8, THREADS = TILE * TILE / OWN };

/* Element (i, j) of a matrix, zero beyond its edges: zeros add nothing to a sum. */
static __device__ float load(const float *X, int rows, int columns, int i, int j)
{
    return i < rows && j < columns ? X[(size_t)i * columns + j] : 0;
}

/* Grid N/64 x M/64, blocks of 512: 8 down and 64 across, each with 8 x 1 elements of C. */
__global__ void kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                       float *C)
{
    __shared__ float a[TILE][DEPTH], b[DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / TILE * OWN, j = t % TILE; /* its first element of the tile */
    float sum[OWN] = {0};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        a[t / DEPTH][t % DEPTH] = load(A, M, K, row + t / DEPTH, k0 + t % DEPTH);
        b[t / TILE][t % TILE] = load(B, K, N, k0 + t / TILE, col + t % TILE);
        __syncthreads(); /* the tiles are complete */
        for (int k = 0; k < DEPTH; k++) {
            float y = b[k][j]; /* for all 8 */
            for (int r = 0; r < OWN; r++) sum[r] += a[i + r][k] * y;
        }
        __syncthreads(); /* nobody reads them any more */
    }
    for (int r = 0; r < OWN; r++) {
        if (row + i + r >= M || col + j >= N) return;
        float *c = C + (size_t)(row + i + r) * N + col + j;
        *c = beta == 0 ? alpha * sum[r] : alpha * sum[r] + beta * *c; /* C may hold NaN */
    }
}

static void multiply(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                     float *C)
{
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    kernel<<<grid, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
