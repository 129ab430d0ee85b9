/* 09_ring.cu - asynchronous copies (cp.async, sm_80) into a ring of tiles in shared memory.
   Bottleneck: 1.27 instructions a multiply-add; data on its way takes registers, 8 a thread.
   Changes:    copies go from memory to shared memory past the registers; a step is 16 k.
   Expected:   fewer instructions and registers, and half as many barriers.
   Came:       46.1 TFLOP/s at 4096, 0.89 of cuBLAS; 1.13 instructions a multiply-add; 16 registers more. */
#include "copies.h"

typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 16, STAGES = 2, OWN = 8, THREADS = 256 };
enum { PITCH = TILE + 4, FAR = 64 };

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
    __shared__ __align__(16) float a[STAGES][DEPTH][PITCH], b[STAGES][DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 16 * 4, j = t % 16 * 4; /* its first element of the tile */
    int a_row = t / 8, a_k = t % 8, b_k = t / 32, b_col = t % 32 * 4; /* what it copies */
    /* p: rows of A, beyond the edge the last, whose sums are not stored. from: a row of B. */
    const float *p[4], *from = B + (size_t)b_k * N + col + b_col;
    for (int r = 0; r < 4; r++) p[r] = A + (size_t)min(row + a_row + 32 * r, M - 1) * K + a_k;
    float sum[OWN][OWN] = {{0}}, x[OWN], y[OWN];
    for (int k0 = (1 - STAGES) * DEPTH, next = 0; k0 < K; k0 += DEPTH) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* these tiles are complete, and nobody reads the next ones any more */
        for (int d = 0, k = k0 + (STAGES - 1) * DEPTH; d < DEPTH; d += 8, k += 8) {
            for (int r = 0; r < 4; p[r++] += 8)
                copy4(&a[next][d + a_k][a_row + 32 * r], p[r], k + a_k < K);
            copy16(&b[next][d + b_k][b_col], from, k + b_k < K && col + b_col < N);
            from += 8 * (size_t)N;
        }
        __pipeline_commit();
        int now = next = (next + 1) % STAGES; /* the oldest: read now, filled next */
        if (k0 < 0) continue;                 /* the ring is being filled */
#pragma unroll
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
    if (N % 4) return multiply_copies(multiply, M, N, K, alpha, A, B, beta, C);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    kernel<<<grid, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
