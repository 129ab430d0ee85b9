/* 08_double_buffer.cu - the next tiles are on their way during the arithmetic.
   Bottleneck: 62 % of issue slots are used: every 8 k all wait for memory, and at two barriers.
   Changes:    loads go to registers before the arithmetic and to a second buffer after it.
   Expected:   the latency is hidden behind 512 multiply-adds a thread, and one barrier goes.
   Came:       39.1 TFLOP/s at 4096, 0.76 of cuBLAS; 75 % of issue slots are used. */
typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 8, OWN = 8, THREADS = 256 };
enum { PITCH = TILE + 4, FAR = 64 };

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

/* Grid N/128 x M/128, blocks of 256: 16 down and 16 across. Each has 4 x 4
   elements of C in 4 places, 64 rows and 64 columns apart. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ __align__(16) float a[2][DEPTH][PITCH], b[2][DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 16 * 4, j = t % 16 * 4; /* its first element of the tile */
    int a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_col = t % 32 * 4; /* what it copies */
    float sum[OWN][OWN] = {{0}}, x[OWN], y[OWN];
    float4 v = load4(A, M, K, row + a_row, a_k), w = load4(B, K, N, b_k, col + b_col);
    for (int k0 = 0, now = 0; k0 < K; k0 += DEPTH, now = 1 - now) {
        a[now][a_k][a_row] = v.x, a[now][a_k + 1][a_row] = v.y;
        a[now][a_k + 2][a_row] = v.z, a[now][a_k + 3][a_row] = v.w;
        *(float4 *)&b[now][b_k][b_col] = w;
        __syncthreads(); /* these tiles are complete, and nobody reads the others any more */
        v = load4(A, M, K, row + a_row, k0 + DEPTH + a_k);
        w = load4(B, K, N, k0 + DEPTH + b_k, col + b_col);
        for (int k = 0; k < DEPTH; k++) {
            for (int q = 0; q < 2; q++) {
                read4(x + 4 * q, &a[now][k][i + q * FAR]);
                read4(y + 4 * q, &b[now][k][j + q * FAR]);
            }
            for (int r = 0; r < OWN; r++)
                for (int s = 0; s < OWN; s++) sum[r][s] += x[r] * y[s];
        }
    }
    for (int r = 0; r < OWN; r++)
        for (int s = 0; s < OWN; s++) {
            int m = row + i + r % 4 + r / 4 * FAR, n = col + j + s % 4 + s / 4 * FAR;
            if (m >= M || n >= N) continue;
            float *c = C + (size_t)m * N + n;
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
