/* async_copy.cu - asynchronous copies: tiles of a product travel while others are used.

   An ordinary copy into shared memory is a load into a register and a store from it. The thread does
   not wait at the load but at the store, which needs the register. From 8.0 on a copy needs none: it
   is started, and waited for much later, so that the next tile travels while the last one is
   multiplied. Below 8.0, and on the CPU runner, all copies are ordinary.
   Build and run: nvcc -O3 -arch=native async_copy.cu -o async_copy && ./async_copy [--csv FILE] */
#include <cuda_pipeline.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "async_copy"
#define TASK "C = A B; ahead: tiles on their way while others are used"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 128 : 2048, TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[2 * N * N], expected[N * N];     /* A and B, or C */

__device__ void copy16(float *to, const float *from, int asynchronous)
{
    if (asynchronous) return __pipeline_memcpy_async(to, from, 16);
    *(float4 *)to = *(const float4 *)from;
}
/* C = A B, row-major, N x N, 2 N^3 operations. A thread of 16 x 16 takes 4 x 4 elements and 16 bytes
   of each tile: 2 N^3 / 256 loads of 16 bytes. Loads from shared memory bound it. If AHEAD is 0, a
   store waits for each of them; if it is 1, the next tiles of A and B are on their way. */
__global__ void multiply(const float *A, const float *B, float *C, int ahead)
{
    __shared__ float a[2][WIDE][TILE], b[2][TILE][WIDE];
    int tx = threadIdx.x, ty = threadIdx.y, n = ty * TILE + tx, ai = n / 4, ak = n % 4 * 4;
    int i = blockIdx.y * WIDE, j = blockIdx.x * WIDE, bk = n / 16, bj = n % 16 * 4;
    float sum[BLOCK][BLOCK] = {{0}}, x[BLOCK], y[BLOCK];
    for (int k0 = -ahead * TILE; k0 < N; k0 += TILE) {
        int next = k0 + ahead * TILE, now = k0 / TILE % 2, then = next / TILE % 2;
        if (next < N) {
            copy16(&a[then][ai][ak], &A[(i + ai) * N + next + ak], ahead);
            copy16(&b[then][bk][bj], &B[(next + bk) * N + j + bj], ahead);
        }
        __pipeline_commit();
        __pipeline_wait_prior(ahead ? 1 : 0); /* all but the last AHEAD groups have arrived */
        if (k0 < 0) continue;
        __syncthreads(); /* the copies of all threads have arrived */
        for (int k = 0; k < TILE; k++) {
            for (int r = 0; r < BLOCK; r++)
                x[r] = a[now][ty + r * TILE][k], y[r] = b[now][k][tx + r * TILE];
            for (int e = 0; e < BLOCK * BLOCK; e++)
                sum[e / BLOCK][e % BLOCK] += x[e / BLOCK] * y[e % BLOCK];
        }
        __syncthreads(); /* no thread needs them any more */
    }
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++) C[(i + ty + r * TILE) * N + j + tx + s * TILE] = sum[r][s];
}

/* ---- the harness, the same in every demo: while (way(...)) RUN makes a row of the best of nine -- */
#define CHECK(call) check(call, #call)
static double work, allowed, base, best; /* of a way; a difference; ms: of "(right)", of this way */
static int failures, runs;
static char rows[8192], *csv = rows; /* the text of the CSV file, written at the end */
static cudaEvent_t start, stop;
static void task(void);
static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}
static int way(const char *name, double loads, double stores, double extra, double MB, void *result)
{
    float ms = INFINITY;
    size_t i = 0, count = sizeof expected / sizeof *expected;
    CHECK(cudaGetLastError()), CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs > 1 && best < ms ? best : ms; /* the CPU tells nothing of times */
    if (runs++ < (ON_CPU ? 1 : 9)) /* again: NaN into the result, meanwhile the host starts RUN */
        return CHECK(cudaMemset(result, 0xff, sizeof expected)), CHECK(cudaEventRecord(start)), 1;
    CHECK(cudaMemcpy(host, result, sizeof expected, cudaMemcpyDefault));
    while (i < count && fabs(1.0 * host[i] - expected[i]) <= allowed) i++;
    failures += i < count;
    if (base == 0 || strstr(name, "(right)")) base = best;
    printf("%-30s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%8.2f%7s\n", name, loads, stores, extra, MB, best,
           work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    csv += sprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.2f,%s\n", name, loads, stores, extra, MB,
                   best, work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    return runs = 0;
}
int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    const char *path = argc == 3 && !strcmp(argv[1], "--csv") ? argv[2] : "/dev/null";
    FILE *file = fopen(path, "wx"); /* a new one: none until it is whole; an older one stays */
    if (file ? remove(path) : !(file = fopen(path, "a")) || (argc > 1 && !help && path != argv[2]))
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    puts(help ? "usage: " NAME " [--csv FILE]\n" TASK : TASK);
    if (!help) CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop)), task();
    if (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0)
        failures += printf("\nThe CSV file could not be written.\n");
    if (!help) CHECK(cudaDeviceReset()), printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    if (fflush(stdout) != 0 && errno != EPIPE) perror(NAME ": standard output");
    return failures > 0 || ferror(stdout);
}

static void task(void)
{
    const double loads = 2.0 * N * N * N / 256, MB = 16e-6 * loads; /* loads of 16 bytes */
    dim3 block(TILE, TILE), grid(N / WIDE, N / WIDE);
    float *A, *C;
    work = 2.0 * N * N * N;
    CHECK(cudaMalloc(&A, sizeof host)), CHECK(cudaMalloc(&C, sizeof host));
    for (int e = 0; e < 2 * N * N; e++) host[e] = RANDOM(e) % 17 - 8.0f; /* exact in any order */
    for (int e = 0; e < N * N; e++)
        for (int j = 0; j < N; j++) expected[e / N * N + j] += host[e] * host[(N + e % N) * N + j];
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "ahead", "MB", "ms",
           "GFLOP/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,ahead,MB,ms,GFLOP/s,x time,result\n");
    while (way("asynchronous; ahead (right)", loads, N * N, 1, MB, C))
        multiply<<<grid, block>>>(A, A + N * N, C, 1);
    while (way("ordinary; through registers", loads, N * N, 0, MB, C))
        multiply<<<grid, block>>>(A, A + N * N, C, 0);
    printf("\nComputed: both load the same; copies ahead only change when.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    const char *const same = "other blocks hide the wait, or this is built for less than 8.0";
    printf("Ordinary copies: %.2f times the time; %s.\n", best / base,
           best > 1.05 * base ? "tiles do not travel during products" : same);
}
