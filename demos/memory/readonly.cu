/* readonly.cu - read-only data: y = A x with const __restrict__, with __ldg and with neither.

   "const float *__restrict__" promises that neither this nor another pointer writes there. So loads
   may take the read-only path (__ldg asks for it by hand). Since compute capability 7.0 that is the
   L1 cache of all loads, and gains little. And the compiler may keep values in registers over a
   store. Without the promise y[i] += ... in a loop must be stored before A and x are loaded.
   A camera's rays, second table of demos/raytrace.cu: by __ldg a seventh less time on an H100: the
   scene's address stays in registers; again not by the cache. Lanes that read different spheres
   fetch the same lines of one cache by both.
   Build and run: nvcc -O3 -arch=native readonly.cu -o readonly && ./readonly [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "readonly"
#define TASK "y = A x; terms: of each sum; MB: read and stored"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 10 : 1 << 20, K = ON_CPU ? 16 : 64 };
enum { THREADS = 256, BLOCKS = N / THREADS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[(size_t)N * K], expected[N], host_x[K]; /* A of 256 MB: more than L2 holds */

/* All kernels: y (N) = A x, A is N x K and stored column by column, so that neighbouring threads
   read neighbouring numbers: grid N/256, a thread a row. Read 4 N K bytes; bound by memory. Without
   RESTRICT y might be part of A or x, for all that the compiler knows. */
#define KERNEL(name, RESTRICT)                                                                \
    __global__ void name(const float *RESTRICT A, const float *RESTRICT x, float *RESTRICT y) \
    {                                                                                         \
        int i = blockIdx.x * THREADS + threadIdx.x;                                           \
        y[i] = 0;                                                                             \
        for (int k = 0; k < K; k++) y[i] += A[(size_t)k * N + i] * x[k];                      \
    }
KERNEL(multiply_restrict, __restrict__)
KERNEL(multiply_plain, )
/* By hand, in a variable, what __restrict__ allows. LOAD: * as usual, __ldg the read-only path. */
#define KERNEL_SUM(name, LOAD)                                                        \
    __global__ void name(const float *A, const float *x, float *y)                    \
    {                                                                                 \
        int i = blockIdx.x * THREADS + threadIdx.x;                                   \
        float sum = 0;                                                                \
        for (int k = 0; k < K; k++) sum += LOAD(&A[(size_t)k * N + i]) * LOAD(&x[k]); \
        y[i] = sum;                                                                   \
    }
KERNEL_SUM(multiply_sum, *)
KERNEL_SUM(multiply_ldg, __ldg)
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
    const double terms = (double)N * K, MB = 4e-6 * (terms + N), more = MB + 4e-6 * terms;
    float *A, *x, *y; /* y as large as A, for the copy */
    CHECK(cudaMalloc(&A, sizeof host)), CHECK(cudaMalloc(&y, sizeof host));
    CHECK(cudaMalloc(&x, sizeof host_x));
    for (int k = 0; k < K; k++) host_x[k] = RANDOM(k) % 256 + 1.0f;
    for (size_t e = 0; e < (size_t)N * K; e++) host[e] = RANDOM(e) / 256 % 256 - 128.0f;
    for (size_t e = 0; e < (size_t)N * K; e++)
        expected[e % N] += host[e] * host_x[e / N]; /* exact */
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyDefault));
    work = sizeof host; /* bytes that must be read */
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "terms", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,terms,MB,ms,GB/s,x time,result\n");
    while (way("const __restrict__ (right)", 2 * terms, N, K, MB, y))
        multiply_restrict<<<BLOCKS, THREADS>>>(A, x, y);
    while (way("__ldg; sum in a variable", 2 * terms, N, K, MB, y))
        multiply_ldg<<<BLOCKS, THREADS>>>(A, x, y);
    double ldg = best;
    while (way("plain; sum in a variable", 2 * terms, N, K, MB, y))
        multiply_sum<<<BLOCKS, THREADS>>>(A, x, y);
    double path = best / ldg;
    while (way("plain; sum in y[i]", 2 * terms, terms + N, K, more, y))
        multiply_plain<<<BLOCKS, THREADS>>>(A, x, y);
    double alias = best / base;
    CHECK(cudaMemcpy(expected, A, sizeof expected, cudaMemcpyDefault));
    while (way("cudaMemcpy: the limit", 0, 0, 0, work * 1e-6, y))
        CHECK(cudaMemcpyAsync(y, A, sizeof host / 2, cudaMemcpyDeviceToDevice));
    printf("\nComputed: where y may overlap A, sums are stored %d times, not once.\n", K + 1);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("No __ldg: %.2f times the time; %s.\nNo __restrict__: %.2f times; %s.\n", path,
           fabs(path - 1) < 0.05 ? "all loads use one L1 cache" : "its path differs", alias,
           alias > 1.05 ? "each step stores, then loads" : "enough threads hide the stores");
}
