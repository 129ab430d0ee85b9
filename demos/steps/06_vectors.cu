/* 06_vectors.cu - 16 bytes at a time, for which the tile of A is transposed.
   Bottleneck: 3.2 passes a shared load, half in conflict, many for single words.
   Changes:    float4 from memory and from tiles; a lies [k][row], so that 8 rows are neighbours.
   Expected:   a quarter of the requests.
   Came:       28.6 TFLOP/s at 4096, 0.55 of cuBLAS; 0.4 of them; 5.0 passes a shared load. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 8, OWN = 8, THREADS = 256 };

/* Elements (i, j) to (i, j + 3), zeros beyond the edges. One load of 16 bytes, if all
   rows begin at multiples of 16 bytes: columns % 4 = 0. Else four of 4 bytes. */
static __device__ float4 load4(const float *X, int rows, int columns, int i, int j)
{
    float v[4] = {0};
    const float *x = X + (size_t)i * columns + j;
    if (columns % 4 == 0 && i < rows && j < columns) return *(const float4 *)x;
    for (int n = 0; n < 4; n++)
        if (i < rows && j + n < columns) v[n] = x[n];
    return make_float4(v[0], v[1], v[2], v[3]);
}

static __device__ void read4(float *to, const float *tile)
{
    float4 v = *(const float4 *)tile;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* Grid N/128 x M/128, blocks of 256: 16 down and 16 across, each with 8 x 8 elements of C. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ __align__(16) float a[DEPTH][TILE], b[DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 16 * OWN, j = t % 16 * OWN; /* its first element of the tile */
    int a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_col = t % 32 * 4; /* what it copies */
    float sum[OWN][OWN] = {{0}}, x[OWN], y[OWN];
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        float4 v = load4(A, M, K, row + a_row, k0 + a_k);
        a[a_k][a_row] = v.x, a[a_k + 1][a_row] = v.y;
        a[a_k + 2][a_row] = v.z, a[a_k + 3][a_row] = v.w;
        *(float4 *)&b[b_k][b_col] = load4(B, K, N, k0 + b_k, col + b_col);
        __syncthreads(); /* the tiles are complete */
        for (int k = 0; k < DEPTH; k++) {
            for (int q = 0; q < OWN; q += 4) read4(x + q, &a[k][i + q]), read4(y + q, &b[k][j + q]);
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
