/* 11_block_order.cu - blocks in an order for L2, and copies among the multiply-adds.
   Bottleneck: 79 % of issue slots are used: after a barrier all begin 20 copies at once.
               264 blocks at a time, in rows of 32 tiles, read 9 rows of A, 32 columns of B.
   Changes:    copies at k = 2, 5, 8, 11; tiles are numbered down bands of 16 rows of tiles.
   Expected:   copies cost no more than their issue slots; 16 rows and 17 columns, kept by L2.
   Came:       50.8 TFLOP/s at 4096, 0.98 of cuBLAS; 85 % of issue slots are used. */
#include "copies.h"

typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 16, STAGES = 2, THREADS = 128 };
enum { PITCH = TILE + 4, HIGH = 16, WIDE = 8, FAR_I = 16, FAR_J = 32, BAND = 16 };

static __device__ void read4(float *to, const float *tile)
{
    float4 v = *(const float4 *)tile;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* Begins copy n of the 32 of a thread, of tiles that begin at k: by turns 8 of A and 2 of B. */
static __device__ void copy_part(float (*a)[PITCH], float (*b)[TILE], int n, const float *const *p,
                                 const float *from, int N, int k, int K, int cols)
{
    int t = threadIdx.x, r = n % 8, d = n / 16 * 8, e = d + r / 4 * 4 + t / 32;
    if (n / 8 % 2 == 0)
        copy4(&a[d + t % 8][t / 8 + 16 * r], p[r] + d, k + d + t % 8 < K);
    else if (r % 4 == 0)
        copy16(&b[e][t % 32 * 4], from + (d + r / 4 * 4) * (size_t)N,
               k + e < K && t % 32 * 4 < cols);
}

/* As many blocks as tiles, of 128 threads: 4 warps, 2 down and 2 across, of 4 x 8
   threads. Each has 4 x 4 elements of C in 8 places, 16 rows and 32 columns apart. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ __align__(16) float a[STAGES][DEPTH][PITCH], b[STAGES][DEPTH][TILE];
    int t = threadIdx.x, across = (N + TILE - 1) / TILE;
    int first = blockIdx.x / (BAND * across) * BAND, place = blockIdx.x - first * across;
    int high = min((M + TILE - 1) / TILE - first, (int)BAND); /* of this band */
    int row = (first + place % high) * TILE, col = place / high * TILE;
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
        int now = (next + 1) % STAGES, ahead = k0 + (STAGES - 1) * DEPTH;
#pragma unroll
        for (int n = 0; n < 2 * DEPTH && k0 < 0; n++) /* the ring is being filled */
            copy_part(a[next], b[next], n, p, from, N, ahead, K, N - col);
#pragma unroll
        for (int k = 0; k0 >= 0 && k < DEPTH; k++) {
            for (int n = k / 3 * 8; k % 3 == 2 && k < 12 && n < k / 3 * 8 + 8; n++)
                copy_part(a[next], b[next], n, p, from, N, ahead, K, N - col);
            for (int q = 0; q < HIGH / 4; q++) read4(x + 4 * q, &a[now][k][i + q * FAR_I]);
            for (int q = 0; q < WIDE / 4; q++) read4(y + 4 * q, &b[now][k][j + q * FAR_J]);
            for (int n = 0; n < HIGH * WIDE; n++) { /* to and fro along the rows */
                int r = n / WIDE, s = r % 2 ? WIDE - 1 - n % WIDE : n % WIDE;
                sum[r][s] += x[r] * y[s];
            }
        }
        __pipeline_commit(), next = now;
        for (int r = 0; r < 8; r++) p[r] += DEPTH;
        from += DEPTH * (size_t)N;
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
    int tiles = (N + TILE - 1) / TILE * ((M + TILE - 1) / TILE);
    kernel<<<tiles, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
