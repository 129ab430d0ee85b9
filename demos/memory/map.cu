/* map.cu - the map of the memories: latency by a pointer chase, and bandwidth, on this device.

   One thread walks through a cycle: each load gives the address of the next, so that a step takes
   the latency. The size of the cycle decides which cache holds it. For bandwidth all threads read.
   Build and run: nvcc -O3 -arch=native map.cu -o map && ./map [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "map"
#define TASK "walks and reads through each kind of memory; clocks: of a step"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, LARGE = ON_CPU ? 1 << 16 : 1 << 27, MIDDLE = LARGE >> 6, SMALL = 1 << 8 };
enum { STEPS = ON_CPU ? 1 << 10 : 1 << 15, BLOCKS = ON_CPU ? 4 : 2048, THREADS = 256 };
enum { ALL = BLOCKS * THREADS, SHARED = 0, CONSTANT, GLOBAL, READS = 6 }; /* ways */
static int host[SMALL], expected[1]; /* cycles of 1 KB, 8 MB (for L2) and 512 MB */
__constant__ int table[SMALL];
/* The number after I in a cycle of all numbers below N, a power of 2: a congruential generator. */
__host__ __device__ inline int after(int i, int n)
{
    return (int)((i * 1664525u + 1013904223u) & (unsigned int)(n - 1));
}
__global__ void fill(int *next, int n)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += ALL) next[i] = after(i, n);
}
/* One thread, STEPS loads one after the other, bound by latency. */
__global__ void walk(const int *next, int kind, int at, int *out)
{
    __shared__ int tile[SMALL];
    for (int i = 0; i < SMALL && kind == SHARED; i++) tile[i] = next[i];
    int start = (int)clock64();
    for (int s = 0; s < STEPS && kind >= GLOBAL; s++) at = next[at];
    for (int s = 0; s < STEPS && kind == SHARED; s++) at = tile[at];
    for (int s = 0; s < STEPS && kind == CONSTANT; s++) at = table[at];
    out[0] = at;
    if (at >= 0) out[1] = (int)clock64() - start; /* always: the clock waits for the last load */
}
/* All threads read N numbers, PASSES times, 16 bytes at a time; the sum of N numbers below N. */
__global__ void read_all(const int4 *in, int n, int passes, int *sum)
{
    unsigned int mine = 0;
    for (int p = 0; p < passes; p++)
        for (int i = blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += ALL) {
            int4 v = in[i];
            mine += v.x + v.y + v.z + v.w;
        }
    atomicAdd(sum, (int)mine);
}
/* ---- the harness, the same in every demo: while (way(...)) RUN makes a row of the best of nine -- */
#define CHECK(call) check(call, #call)
static double work, allowed, base, best; /* of a way; a difference; ms: of "(right)", of this way */
static int failures, runs;
static FILE *csv;
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
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
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
    fprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.2f,%s\n", name, loads, stores, extra, MB, best,
            work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    return runs = 0;
}
int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    csv = fopen(argc == 3 && !strcmp(argv[1], "--csv") ? argv[2] : "/dev/null", "w");
    if (!csv || (argc > 1 && !help && (argc != 3 || strcmp(argv[1], "--csv"))))
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    puts(help ? "usage: " NAME " [--csv FILE]\n" TASK : TASK);
    if (!help) CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop)), task();
    if (fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
    if (!help) CHECK(cudaDeviceReset()), printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    if (fflush(stdout) != 0 && errno != EPIPE) perror(NAME ": standard output");
    return failures > 0 || ferror(stdout);
}
static void task(void)
{
    static const char *const name[] = {
        "walk; shared (right)", "walk; constant",    "walk; L1", "walk; L2",
        "walk; global",         "walk; mapped host", "read; L2", "read; global"};
    const int sizes[] = {SMALL, SMALL, SMALL, MIDDLE, LARGE, MIDDLE, MIDDLE, LARGE};
    int *device, *mapped, *out, clocks;
    CHECK(cudaMalloc(&device, sizeof(int) * LARGE)), CHECK(cudaMalloc(&out, 2 * sizeof *out));
    CHECK(cudaHostAlloc(&mapped, sizeof(int) * MIDDLE, cudaHostAllocMapped));
    for (int i = 0; i < MIDDLE; i++) mapped[i] = after(i, MIDDLE);
    for (int i = 0; i < SMALL; i++) host[i] = after(i, SMALL);
    CHECK(cudaMemcpyToSymbol(table, host, sizeof host));
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "clocks", "MB", "ms",
           "GB/s", "x time", "result");
    fprintf(csv, "way,loads,stores,clocks,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < 8; w++) {
        int at = 0, n = sizes[w], *from = w == 5 ? mapped : device, passes = w == 6 ? 16 : 1;
        fill<<<BLOCKS, THREADS>>>(device, n);
        walk<<<1, 1>>>(from, w, 0, out); /* once, for its clocks */
        CHECK(cudaMemcpy(&clocks, out + 1, sizeof clocks, cudaMemcpyDefault));
        const double loads = w < READS ? 1.0 * STEPS : 0.25 * n * passes;
        expected[0] = (int)(n / 2u * (n - 1u) * passes), work = loads * (w < READS ? 4 : 16);
        while (way(name[w], loads, 1, w < READS && !ON_CPU ? 1.0 * clocks / STEPS : 0, 4e-6 * n,
                   out)) {
            if (w < READS) walk<<<1, 1>>>(from, w, at, out);
            if (w >= READS) CHECK(cudaMemsetAsync(out, 0, sizeof *out));
            if (w >= READS) read_all<<<BLOCKS, THREADS>>>((int4 *)from, n, passes, out);
            for (int s = 0; s < STEPS && w < READS; s++) expected[0] = at = after(at, n);
        }
    }
    CHECK(cudaFreeHost(mapped));
    puts("\nComputed: a step is a load; the time of a walk over its loads is the latency.");
}
