/* 10_warp_tiles.cu - the elements of a warp form a tile, too: 32 x 64.
   Bottleneck: a warp of 2 x 16 threads reads 16 rows of a and 128 columns of b for each k.
   Changes:    4 x 8 threads: 32 rows and 64 columns; C is stored 16 bytes at a time.
   Expected:   b takes half the passes; stores of C full sectors.
   came:       */
#include <cuda_pipeline.h>

typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 16, STAGES = 2, OWN = 8, THREADS = 256 };
enum { PITCH = TILE + 4, FAR_I = 16, FAR_J = 32 };

/* Begins to copy 4 bytes to a tile (PTX ISA, cp.async); zeros beyond an edge. */
static __device__ void copy(float *to, const float *from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 4 : 0));
#else
    if (inside) __pipeline_memcpy_async(to, from, 4);
    if (!inside) *to = 0;
#endif
}

static __device__ void read4(float *to, const float *tile)
{
    float4 v = *(const float4 *)tile;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* C = alpha sum + beta C for elements (i, j) to (i, j + 3); with beta = 0 C may hold NaN. */
static __device__ void store4(float *C, int M, int N, int i, int j, float alpha, const float *sum,
                              float beta)
{
    float *c = C + (size_t)i * N + j, v[4];
    if (i >= M) return;
    for (int n = 0; n < 4; n++)
        v[n] = beta == 0 || j + n >= N ? alpha * sum[n] : alpha * sum[n] + beta * c[n];
    if (N % 4 == 0 && j < N)
        *(float4 *)c = make_float4(v[0], v[1], v[2], v[3]);
    else
        for (int n = 0; n < 4 && j + n < N; n++) c[n] = v[n];
}

/* Grid N/128 x M/128, blocks of 256: 8 warps, 4 down and 2 across, of 4 x 8 threads, each with
   4 x 4 elements of C, and as many 16 rows, 32 columns and both beyond. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ __align__(16) float a[STAGES][DEPTH][PITCH], b[STAGES][DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 64 * 32 + t % 32 / 8 * 4, j = t / 32 % 2 * 64 + t % 8 * 4; /* its first element */
    int a_row = t / 8, a_k = t % 8, b_k = t / 32, b_col = t % 32;          /* what it copies */
    const float *p[4], *from = B + (size_t)b_k * N + col + b_col;
    for (int r = 0; r < 4; r++) p[r] = A + (size_t)min(row + a_row + 32 * r, M - 1) * K + a_k;
    float sum[OWN][OWN] = {{0}}, x[OWN], y[OWN];
    for (int k0 = (1 - STAGES) * DEPTH, next = 0; k0 < K; k0 += DEPTH) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* these tiles are complete, and nobody reads the next ones any more */
        for (int d = 0, k = k0 + (STAGES - 1) * DEPTH; d < DEPTH; d += 8, k += 8) {
            for (int r = 0; r < 4; p[r++] += 8)
                copy(&a[next][d + a_k][a_row + 32 * r], p[r], k + a_k < K);
            for (int c = 0; c < TILE; c += 32)
                copy(&b[next][d + b_k][b_col + c], from + c, k + b_k < K && col + b_col + c < N);
            from += 8 * (size_t)N;
        }
        __pipeline_commit();
        int now = next = (next + 1) % STAGES; /* after the last stage comes the first */
        if (k0 < 0) continue;                 /* the ring is being filled */
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            for (int q = 0; q < 2; q++) {
                read4(x + 4 * q, &a[now][k][i + q * FAR_I]);
                read4(y + 4 * q, &b[now][k][j + q * FAR_J]);
            }
            for (int r = 0; r < OWN; r++)
                for (int s = 0; s < OWN; s++) sum[r][s] += x[r] * y[s];
        }
    }
#pragma unroll
    for (int n = 0; n < 2 * OWN; n++) {
        int r = n / 2, q = n % 2;
        store4(C, M, N, row + i + r % 4 + r / 4 * FAR_I, col + j + q * FAR_J, alpha, sum[r] + 4 * q,
               beta);
    }
}

static void multiply(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                     float *C)
{
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    kernel<<<grid, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

#include "harness.h" /* main: checks multiply() and times it */
