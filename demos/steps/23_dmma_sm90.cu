/* 23_dmma_sm90.cu - doubles: the larger instructions of sm_90 (mma.sync m16n8k8).
   Bottleneck: tensor cores of sm_90, which take as long for m8n8k4 as for twice the multiply-adds.
   Changes:    a warp multiplies 16 x 8 times 8 x 8; an older device does four of m8n8k4.
   Expected:   up to twice as fast; then loads of fragments and the barrier of each 8 k bind.
   Came:       41.9 TFLOP/s at 4096, 0.81 of cuBLAS: 1.4 times as fast. */
#include <cuda_pipeline.h>

typedef double in_t;
typedef double out_t;

enum { TILE_M = 128, TILE_N = 64, DEPTH = 8, STAGES = 3, THREADS = 128, BAND = 8 };
enum { PITCH_A = TILE_M + 4, PITCH_B = TILE_N + 4, HIGH = 4, WIDE = 4 }; /* matrices of a warp */

/* Begins to copy 8 bytes to a tile (PTX ISA, cp.async); zeros beyond an edge. */
static __device__ void copy(double *to, const double *from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 8 : 0));
#else
    if (inside) __pipeline_memcpy_async(to, from, 8);
    if (!inside) *to = 0;
#endif
}

/* c += a b by a warp, 8 x 4 times 4 x 8 (PTX ISA, mma.m8n8k4). Lane l has a (l / 4, l % 4),
   b (l % 4, l / 4), and of c elements 2 (l % 4) and the next of row l / 4. */
__device__ inline void multiply_add(double *c, double a, double b)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
#else
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++)
        for (int e = 0; e < 2; e++)
            c[e] += __shfl_sync(~0u, a, lane / 4 * 4 + k) *
                    __shfl_sync(~0u, b, (lane % 4 * 2 + e) * 4 + k);
#endif
}

/* The same, 16 x 8 times 8 x 8 (mma.m16n8k8). Lane l has a[n] (l / 4 + 8 (n % 2), l % 4 + 4 (n / 2)),
   b[n] (l % 4 + 4 n, l / 4), of c two elements like before and two 8 rows below. */
static __device__ void multiply_add16(double *c, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    for (int n = 0; n < 4; n++) multiply_add(c + n % 2 * 2, a[n], b[n / 2]);
#endif
}

/* As many blocks as tiles of C; 4 warps, 2 down and 2 across, each with 64 x 32 elements. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, double alpha, const double *A, const double *B, double beta,
           double *C)
{
    __shared__ double a[STAGES][DEPTH][PITCH_A], b[STAGES][DEPTH][PITCH_B];
    int t = threadIdx.x, across = (N + TILE_N - 1) / TILE_N;
    int first = blockIdx.x / (BAND * across) * BAND, place = blockIdx.x - first * across;
    int high = min((M + TILE_M - 1) / TILE_M - first, (int)BAND); /* of this band */
    int row = (first + place % high) * TILE_M, col = place / high * TILE_N;
    int i = t / 64 * 64 + t % 32 / 4, j = t / 32 % 2 * 32 + t % 32 / 4; /* of its elements */
    int a_row = t / 8, a_k = t % 8, b_k = t / 32, b_col = t % 32;       /* what it copies */
    const double *p[8], *from = B + (size_t)b_k * N + col + b_col;
    for (int r = 0; r < 8; r++) p[r] = A + (size_t)min(row + a_row + 16 * r, M - 1) * K + a_k;
    double sum[HIGH][WIDE][4] = {{{0}}}, x[HIGH][4], y[WIDE][2];
    for (int k0 = (1 - STAGES) * DEPTH, next = 0; k0 < K; k0 += DEPTH) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* these tiles are complete, and nobody reads the next ones any more */
        int ahead = k0 + (STAGES - 1) * DEPTH;
        for (int r = 0; r < 8; p[r++] += DEPTH)
            copy(&a[next][a_k][a_row + 16 * r], p[r], ahead + a_k < K);
        for (int e = 0; e < DEPTH; e += 4, from += 4 * (size_t)N)
            for (int c = 0; c < TILE_N; c += 32)
                copy(&b[next][e + b_k][b_col + c], from + c,
                     ahead + e + b_k < K && col + b_col + c < N);
        __pipeline_commit();
        int now = next = (next + 1) % STAGES; /* after the last stage comes the first */
        if (k0 < 0) continue;                 /* the ring is being filled */
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            for (int n = 0; n < HIGH * 4; n++)
                x[n / 4][n % 4] = a[now][k + t % 4 + n / 2 % 2 * 4][i + n / 4 * 16 + n % 2 * 8];
            for (int n = 0; n < WIDE * 2; n++)
                y[n / 2][n % 2] = b[now][k + t % 4 + n % 2 * 4][j + n / 2 * 8];
            for (int r = 0; r < HIGH; r++)
                for (int s = 0; s < WIDE; s++) multiply_add16(sum[r][s], x[r], y[s]);
        }
    }
    j += t % 4 * 2 - t % 32 / 4;
#pragma unroll
    for (int n = 0; n < HIGH * WIDE * 4; n++) {
        int m = row + i + n / (WIDE * 4) * 16 + n / 2 % 2 * 8,
            l = col + j + n / 4 % WIDE * 8 + n % 2;
        if (m >= M || l >= N) continue;
        double *c = C + (size_t)m * N + l, value = alpha * sum[n / (WIDE * 4)][n / 4 % WIDE][n % 4];
        *c = beta == 0 ? value : value + beta * *c;
    }
}

static void multiply(int M, int N, int K, double alpha, const double *A, const double *B,
                     double beta, double *C)
{
    int tiles = (N + TILE_N - 1) / TILE_N * ((M + TILE_M - 1) / TILE_M);
    kernel<<<tiles, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
