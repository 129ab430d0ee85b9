/* 05_registers_8x8.cu - a thread owns 8 x 8 elements of C.
   Bottleneck: 9 words for 8 multiply-adds, 1.7 passes a shared load.
   Changes:    tiles of 128 x 128; 8 elements of a and 8 of b serve 64 multiply-adds.
   Expected:   16 words for 64 multiply-adds: shared memory does not bind any more.
   Came:       23.2 TFLOP/s at 4096, 0.45 of cuBLAS. Not so: 3.2 passes a shared load. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 8, OWN = 8, THREADS = 256 };

/* Element (i, j) of a matrix, zero beyond its edges: zeros add nothing to a sum. */
static __device__ float load(const float *X, int rows, int columns, int i, int j)
{
    return i < rows && j < columns ? X[(size_t)i * columns + j] : 0;
}

/* Grid N/128 x M/128, blocks of 256: 16 down and 16 across, each with 8 x 8 elements of C. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ float a[TILE][DEPTH], b[DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 16 * OWN, j = t % 16 * OWN; /* its first element of the tile */
    float sum[OWN][OWN] = {{0}}, x[OWN], y[OWN];
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int n = t; n < TILE * DEPTH; n += THREADS) {
            a[n / DEPTH][n % DEPTH] = load(A, M, K, row + n / DEPTH, k0 + n % DEPTH);
            b[n / TILE][n % TILE] = load(B, K, N, k0 + n / TILE, col + n % TILE);
        }
        __syncthreads(); /* the tiles are complete */
        for (int k = 0; k < DEPTH; k++) {
            for (int r = 0; r < OWN; r++) x[r] = a[i + r][k], y[r] = b[k][j + r];
            for (int r = 0; r < OWN; r++)
                for (int s = 0; s < OWN; s++) sum[r][s] += x[r] * y[s];
        }
        __syncthreads(); /* nobody reads them any more */
    }
    for (int r = 0; r < OWN; r++)
        for (int s = 0; s < OWN; s++) {
            if (row + i + r >= M || col + j + s >= N) continue;
            float *c = C + (size_t)(row + i + r) * N + col + j + s;
            *c = beta == 0 ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *c;
        }
}

static void multiply(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                     float *C)
{
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    kernel<<<grid, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
