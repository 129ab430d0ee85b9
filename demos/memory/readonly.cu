/* readonly.cu - read-only data: y = A x with const __restrict__, with __ldg and with neither.

   "const float *__restrict__" promises two things: the kernel does not write there, and no other
   pointer of it does. The first lets loads go through the read-only path (__ldg asks for it by
   hand). Since compute capability 7.0 that is the same L1 cache as for all loads, so it gains
   little. The second lets the compiler keep values in registers over a store through another
   pointer: without it y[i] += ... in a loop must be stored, and A and x loaded, in that order.

   Build and run: nvcc -O3 -arch=native readonly.cu -o readonly && ./readonly [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "readonly"
#define TASK  "y = A x; terms: of each sum; MB: read and stored"
#define EXTRA "terms"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif /* A takes 256 MB: several times the L2 cache */
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 10 : 1 << 20, K = ON_CPU ? 16 : 64 };
enum { THREADS = 256, BLOCKS = N / THREADS };
static float host[(size_t)N * K], expected[N], host_x[K];

/* All kernels: y (N) = A x, A is N x K and stored column by column, so that neighbouring threads
   read neighbouring numbers: grid N/256, a thread a row. Read 4 N K bytes; bound by memory. */

/* Without RESTRICT y might be part of A or x, for all that the compiler knows. */
#define KERNEL(name, RESTRICT)                                                                \
    __global__ void name(const float *RESTRICT A, const float *RESTRICT x, float *RESTRICT y) \
    {                                                                                         \
        int i = blockIdx.x * THREADS + threadIdx.x;                                           \
        y[i] = 0;                                                                             \
        for (int k = 0; k < K; k++) y[i] += A[(size_t)k * N + i] * x[k];                      \
    }
KERNEL(multiply_restrict, __restrict__)
KERNEL(multiply_plain, )

/* A variable for the sum: what __restrict__ allows the compiler, done by hand. LOAD is * for a load
   as usual, or __ldg for the read-only path. */
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

/* ---- the same in every demo: errors, times, rows of the table and the CSV file; main below -- */
static double work, limit, base, best, allowed; /* of a way; G/s; ms of "(right)"; ms; difference */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;
#define RANDOM(i)   ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs < 2 || ms < best ? ms : best; /* the CPU tells nothing of times */
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row; compares OUT, unless it is NULL, with what is expected. Gives "x time". */
static double row(const char *way, double loads, double stores, double extra, double MB, void *out)
{
    size_t i = 0, count = out ? sizeof expected / sizeof *expected : 0;
    double rate = work / best * 1e-6;
    if (out) CHECK(cudaMemcpy(host, out, sizeof expected, cudaMemcpyDefault));
    while (i < count && host[i] - expected[i] <= allowed && expected[i] - host[i] <= allowed) i++;
    const char *result = !out ? "-" : i < count ? "WRONG" : "ok";
    failures += i < count;
    if (limit == 0) limit = rate; /* that of the first way, if nothing else is known */
    if (base == 0 || strstr(way, "(right)")) base = best;
    printf("%-31s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%9.1f%8.2f%8s\n", way, loads, stores, extra, MB,
           best, rate, 100 * rate / limit, best / base, result);
    if (csv)
        fprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.1f,%.2f,%s\n", way, loads, stores, extra, MB,
                best, rate, 100 * rate / limit, best / base, result);
    return best / base;
}

static void task(void)
{
    const double terms = (double)N * K, MB = 4e-6 * (terms + N), more = MB + 4e-6 * terms;
    float *A, *x, *y; /* y as large as A, for the copy */
    CHECK(cudaMalloc(&A, sizeof host));
    CHECK(cudaMalloc(&y, sizeof host));
    CHECK(cudaMalloc(&x, sizeof host_x));
    for (int k = 0; k < K; k++) host_x[k] = RANDOM(k) % 256 + 1.0f;
    for (size_t e = 0; e < (size_t)N * K; e++) { /* whole numbers: exact */
        host[e] = RANDOM(e) / 256 % 256 - 128.0f;
        expected[e % N] += host[e] * host_x[e / N];
    }
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyHostToDevice));
    work = sizeof host; /* bytes that must be read */

    while (again(y)) CHECK(cudaMemcpyAsync(y, A, sizeof host / 2, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, work * 1e-6, NULL);
    while (again(y)) multiply_restrict<<<BLOCKS, THREADS>>>(A, x, y);
    row("const __restrict__ (right)", 2 * terms, N, K, MB, y);
    while (again(y)) multiply_ldg<<<BLOCKS, THREADS>>>(A, x, y);
    double ldg = row("__ldg; sum in a variable", 2 * terms, N, K, MB, y);
    while (again(y)) multiply_sum<<<BLOCKS, THREADS>>>(A, x, y);
    double path = row("plain; sum in a variable", 2 * terms, N, K, MB, y) / ldg;
    while (again(y)) multiply_plain<<<BLOCKS, THREADS>>>(A, x, y);
    double alias = row("plain; sum in y[i]", 2 * terms, terms + N, K, more, y);

    printf("\nComputed: where y may overlap A, sums are stored %d times, not once.\n", K + 1);
    if (ON_CPU) return;
    printf("No __ldg: %.2f times the time; %s.\nNo __restrict__: %.2f times; %s.\n", path,
           path > 1.05   ? "its path is faster"
           : path > 0.95 ? "all loads use one L1 cache since 7.0"
                         : "its path is slower",
           alias, alias > 1.05 ? "each step stores, then loads" : "enough threads hide the stores");
}

int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    if (argc == 3 && !strcmp(argv[1], "--csv")) csv = fopen(argv[2], "w");
    if (argc > 1 && !help && !csv)
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    if (help) {
        puts("usage: " NAME " [--csv FILE]\n" TASK "\nWithout a GPU: ./build.sh run memory/" NAME);
    } else {
        CHECK(cudaGetDeviceProperties(&device, 0));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
               "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
        if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
        task();
        if (ON_CPU) puts("Times and rates (nan) need a GPU: the CPU runner counts and checks.");
        CHECK(cudaDeviceReset()); /* frees what the task has allocated */
        if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
        printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    }
    if (fflush(stdout) == 0) return failures > 0;
    if (errno != EPIPE) perror(NAME ": standard output"); /* a closed pipe needs no words */
    return 1;
}
