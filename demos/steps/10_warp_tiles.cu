/* 10_warp_tiles.cu - the elements of a warp form a tile, too: 64 x 64; a thread owns 16 x 8 of it.
   Bottleneck: 2.9 passes a shared load; a thread loads 4 times for 64 multiply-adds.
   Changes:    6 loads for 128 multiply-adds. Lanes that read the same words are neighbours.
               C is stored 16 bytes at a time. Sums are taken to and fro along rows, so that few
               multiply-adds read three registers of one bank.
   Expected:   2 passes a shared load. But only half as many warps hide a wait.
   Came:       46.1 TFLOP/s at 4096, 0.89 of cuBLAS; 1.9 passes a shared load; no faster. */
#include "copies.h"

typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 16, STAGES = 2, THREADS = 128 };
enum { PITCH = TILE + 4, HIGH = 16, WIDE = 8, FAR_I = 16, FAR_J = 32 };

static __device__ void read4(float *to, const float *tile)
{
    float4 v = *(const float4 *)tile;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* Grid N/128 x M/128, blocks of 128: 4 warps, 2 down and 2 across, of 4 x 8
   threads. Each has 4 x 4 elements of C in 8 places, 16 rows and 32 columns apart. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ __align__(16) float a[STAGES][DEPTH][PITCH], b[STAGES][DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 64 * 64 + (t % 2 + t % 32 / 16 * 2) * 4; /* its first element of the tile */
    int j = t / 32 % 2 * 64 + t / 2 % 8 * 4;
    int a_row = t / 8, a_k = t % 8, b_k = t / 32, b_col = t % 32 * 4; /* what it copies */
    /* p: rows of A, beyond the edge the last, whose sums are not stored. from: a row of B. */
    const float *p[8], *from = B + (size_t)b_k * N + col + b_col;
    for (int r = 0; r < 8; r++) p[r] = A + (size_t)min(row + a_row + 16 * r, M - 1) * K + a_k;
    float sum[HIGH][WIDE] = {{0}}, x[HIGH], y[WIDE];
    for (int k0 = (1 - STAGES) * DEPTH, next = 0; k0 < K; k0 += DEPTH) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* these tiles are complete, and nobody reads the next ones any more */
        for (int d = 0, k = k0 + (STAGES - 1) * DEPTH; d < DEPTH; d += 8, k += 8) {
            for (int r = 0; r < 8; p[r++] += 8)
                copy4(&a[next][d + a_k][a_row + 16 * r], p[r], k + a_k < K);
            for (int e = 0; e < 8; e += 4, from += 4 * (size_t)N)
                copy16(&b[next][d + e + b_k][b_col], from, k + e + b_k < K && col + b_col < N);
        }
        __pipeline_commit();
        int now = next = (next + 1) % STAGES; /* the oldest: read now, filled next */
        if (k0 < 0) continue;                 /* the ring is being filled */
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            for (int q = 0; q < HIGH / 4; q++) read4(x + 4 * q, &a[now][k][i + q * FAR_I]);
            for (int q = 0; q < WIDE / 4; q++) read4(y + 4 * q, &b[now][k][j + q * FAR_J]);
            for (int n = 0; n < HIGH * WIDE; n++) { /* to and fro along the rows */
                int r = n / WIDE, s = r % 2 ? WIDE - 1 - n % WIDE : n % WIDE;
                sum[r][s] += x[r] * y[s];
            }
        }
    }
#pragma unroll
    for (int n = 0; n < HIGH * WIDE; n += 4) {
        int m = row + i + n / WIDE % 4 + n / WIDE / 4 * FAR_I, l = col + j + n % WIDE / 4 * FAR_J;
        float *c = C + (size_t)m * N + l, *v = sum[n / WIDE] + n % WIDE;
        if (beta == 0 && N % 4 == 0 && m < M && l < N)
            *(float4 *)c = make_float4(alpha * v[0], alpha * v[1], alpha * v[2], alpha * v[3]);
        else
            for (int s = 0; s < 4 && m < M && l + s < N; s++)
                c[s] = beta == 0 ? alpha * v[s] : alpha * v[s] + beta * c[s];
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
