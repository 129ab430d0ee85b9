/* 12_split_k.cu - few tiles of C are divided along k, so that all multiprocessors have work.
   Bottleneck: C of 1024 x 1024 has 64 tiles for 132 multiprocessors, which take 2 blocks each.
   Changes:    blockIdx.y is a part of k; parts leave their sums, a second kernel adds them in order.
   Expected:   at 1024 4 parts, some 3 times as fast; nothing changes from 2048 on.
   came:       */
#include <cuda_pipeline.h>

typedef float in_t;  /* elements of A and B */
typedef float out_t; /* elements of C, sums, alpha and beta */

enum { TILE = 128, DEPTH = 16, STAGES = 2, OWN = 8, THREADS = 256 };
enum { PITCH = TILE + 4, FAR_I = 16, FAR_J = 32, BAND = 8 };

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

/* As many blocks as tiles of C; 256 threads: 8 warps, 4 down and 2 across, of 4 x 8 threads, each with
   4 x 4 elements of C, and as many 16 rows, 32 columns and both beyond. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, int depth, float alpha, const float *A, const float *B, float beta,
           float *C)
{
    __shared__ __align__(16) float a[STAGES][DEPTH][PITCH], b[STAGES][DEPTH][TILE];
    int t = threadIdx.x, across = (N + TILE - 1) / TILE;
    int first = blockIdx.x / (BAND * across) * BAND, place = blockIdx.x - first * across;
    int high = min((M + TILE - 1) / TILE - first, (int)BAND); /* of this band */
    int row = (first + place % high) * TILE, col = place / high * TILE;
    int i = t / 64 * 32 + t % 32 / 8 * 4, j = t / 32 % 2 * 64 + t % 8 * 4; /* its first element */
    int a_row = t / 8, a_k = t % 8, b_k = t / 32, b_col = t % 32;          /* what it copies */
    int begin = blockIdx.y * depth, end = min(K, begin + depth);           /* its part of k */
    A += begin, B += (size_t)begin * N, C += (size_t)blockIdx.y * M * N;
    const float *p[4], *from = B + (size_t)b_k * N + col + b_col;
    for (int r = 0; r < 4; r++) p[r] = A + (size_t)min(row + a_row + 32 * r, M - 1) * K + a_k;
    float sum[OWN][OWN] = {{0}}, x[OWN], y[OWN];
    for (int k0 = begin + (1 - STAGES) * DEPTH, next = 0; k0 < end; k0 += DEPTH) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* these tiles are complete, and nobody reads the next ones any more */
        for (int d = 0, k = k0 + (STAGES - 1) * DEPTH; d < DEPTH; d += 8, k += 8) {
            for (int r = 0; r < 4; p[r++] += 8)
                copy(&a[next][d + a_k][a_row + 32 * r], p[r], k + a_k < end);
            for (int c = 0; c < TILE; c += 32)
                copy(&b[next][d + b_k][b_col + c], from + c, k + b_k < end && col + b_col + c < N);
            from += 8 * (size_t)N;
        }
        __pipeline_commit();
        int now = next = (next + 1) % STAGES; /* after the last stage comes the first */
        if (k0 < begin) continue;             /* the ring is being filled */
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

/* C = alpha times the sum of all parts, in their order, + beta C. */
__global__ void add(int count, int parts, float alpha, const float *sums, float beta, float *C)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (n >= count) return;
    for (int p = 0; p < parts; p++) sum += sums[(size_t)p * count + n];
    C[n] = beta == 0 ? alpha * sum : alpha * sum + beta * C[n];
}

static void multiply(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                     float *C)
{
    int tiles = (N + TILE - 1) / TILE * ((M + TILE - 1) / TILE);
    int processors, parts, depth; /* as many parts as there is room for, each of 128 k at least */
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    parts = max(1, min(2 * processors / tiles, K / 128));
    depth = (K / DEPTH / parts + 1) * DEPTH;
    float *sums;
    if (parts == 1) {
        kernel<<<tiles, THREADS>>>(M, N, K, depth, alpha, A, B, beta, C);
    } else if (!cudaMallocAsync(&sums, sizeof(float) * parts * M * N, 0)) {
        kernel<<<dim3(tiles, parts), THREADS>>>(M, N, K, depth, 1, A, B, 0, sums);
        add<<<(M * N + 255) / 256, 256>>>(M * N, parts, alpha, sums, beta, C);
        cudaFreeAsync(sums, 0);
    }
}

#include "harness.h" /* main: checks multiply() and times it */
