/* atomics.cu - atomics: a histogram in global memory, in shared memory, and one for each warp.

   An atomic addition is done beside the memory that holds the counter: for global memory in L2, for
   shared memory in the multiprocessor. Threads that add to one counter wait for each other. Shared
   counters of a block meet fewer threads, those of a warp fewer still, but all must be added up.
   Build and run: nvcc -O3 -arch=native atomics.cu -o atomics && ./atomics [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "atomics"
#define TASK \
    "counts 256 values; atomics: to global memory, in thousands; contended: 15 of 16 are equal"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, BLOCKS = ON_CPU ? 2 : 512 };
enum { THREADS = 256, BINS = 256, WARPS = THREADS / 32 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static int host[N], expected[BINS];                /* 256 MB: more than L2 holds */

/* Both: counts[v] += a weight as often as v stands in N numbers, 4 N bytes; blocks of 256 threads take numbers
   in turn. Here an atomic in L2 for each number, which bounds it. */
__global__ void count_global(const int *in, int *counts, int weight)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS)
        atomicAdd(&counts[in[i]], weight);
}

/* Counters of the block in shared memory, COPIES times: 1 for all, or 8, one for each warp. An
   atomic in shared memory for each number; then 256 a block in L2. */
__global__ void count_shared(const int *in, int *counts, int weight, int copies)
{
    __shared__ int bins[WARPS][BINS];
    int t = threadIdx.x, *own = bins[t / 32 % copies], sum = 0;
    for (int c = 0; c < copies; c++) bins[c][t] = 0; /* a thread a counter */
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < N; i += BLOCKS * THREADS)
        atomicAdd(&own[in[i]], weight);
    __syncthreads();
    for (int c = 0; c < copies; c++) sum += bins[c][t];
    atomicAdd(&counts[t], sum);
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
    static const char *const name[2][3] = {{"shared; one a block (right)", "shared; one a warp",
                                            "global"},
                                           {"contended; one a block (right)",
                                            "contended; one a warp", "contended; global"}};
    static double x[2][3], even; /* times against the first; ms of the first */
    int *in, *counts;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&counts, sizeof expected));
    work = sizeof host;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "atomics", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,atomics,MB,ms,GB/s,x time,result\n");
    for (int c = 0; c < 2; c++) {
        memset(expected, 0, sizeof expected);
        for (int i = 0; i < N; i++) expected[host[i] = c && i % 16 ? 7 : RANDOM(i) % BINS]++;
        CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
        for (int w = 0; w < 3; w++) {
            while (way(name[c][w], N, 0, 1e-3 * (w == 2 ? N : BLOCKS * BINS), 4e-6 * N, counts)) {
                CHECK(cudaMemsetAsync(counts, 0, sizeof expected));
                if (w == 2) count_global<<<BLOCKS, THREADS>>>(in, counts, 1);
                if (w < 2) count_shared<<<BLOCKS, THREADS>>>(in, counts, 1, w ? WARPS : 1);
            }
            x[c][w] = best / base, even = c ? even : base;
        }
    }
    printf("\nComputed: counters of a block leave %d atomics for L2, not one a number.\n",
           BINS * BLOCKS);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Global: %.2f times the time, contended %.2f times.\n", x[0][2], x[1][2]);
    printf("One a warp: %.2f times, contended %.2f times; %s.\n", x[0][1], x[1][1],
           x[0][1] < 0.95 || x[1][1] < 0.95 ? "fewer threads meet at one"
                                            : "one a block is enough");
    printf("Contended, one a block: %.2f times the time of those that are not.\n", base / even);
}
