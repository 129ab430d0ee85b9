/* latency.cu - the latency of each kind of memory, in clocks, by a pointer chase.

   One thread walks through a cycle: a load gives the place of the next one, so that a step takes the
   latency. The cycle's length decides which cache holds it. Registers: a multiply-add is a step.
   Build and run: nvcc -O3 -arch=native latency.cu -o latency && ./latency [--csv FILE] */
#include <cooperative_groups.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "latency"
#define TASK "walks through each kind of memory; clocks: of a step; MB: of the cycle"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, LARGE = ON_CPU ? 1 << 16 : 1 << 28, MIDDLE = LARGE >> 7, SMALL = 1 << 8 };
enum { STEPS = ON_CPU ? 1 << 10 : 1 << 15, THREADS = 256, FACTOR = 1664525, ADDED = 1013904223 };
enum { REGISTERS, SHARED, CLUSTER, CONSTANT, L1, L2, GLOBAL, HOST, KINDS };
static int host[SMALL], expected[1]; /* cycles of 1 KB, 8 MB (for L2) and 1 GB */
__constant__ int table[SMALL];
/* The number after I in a cycle of all numbers below N, a power of 2: a congruential generator. */
#define AFTER(i, n) (int)(((unsigned)(i)*FACTOR + ADDED) % (unsigned)(n))
__global__ void fill(int *next, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    next[i] = AFTER(i, n);
}
#if __CUCC__ || defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SYNC       cooperative_groups::this_cluster().sync()
#define LENT(tile) cooperative_groups::this_cluster().map_shared_rank(tile, 1)
__cluster_dims__(2, 1, 1) /* the second block lends its shared memory */
#else
#define SYNC
#define LENT(tile) tile
#endif
    /* One thread, STEPS steps one after the other, bound by latency. */
    __global__ void walk(const int *next, int kind, int at, unsigned int factor, int *out)
{
    __shared__ int tile[SMALL];
    for (int i = 0; i < SMALL && kind <= CLUSTER; i++) tile[i] = next[i];
    SYNC; /* the tiles are full */
    const int *far = LENT(tile);
    int steps = blockIdx.x == 0 ? STEPS : 0, start = (int)clock64();
    for (int s = 0; s < steps && kind == REGISTERS; s++) at = at * factor + ADDED;
    for (int s = 0; s < steps && kind == SHARED; s++) at = tile[at];
    for (int s = 0; s < steps && kind == CLUSTER; s++) at = far[at];
    for (int s = 0; s < steps && kind == CONSTANT; s++) at = table[at];
    for (int s = 0; s < steps && kind >= L1; s++) at = next[at];
    if (kind == REGISTERS) at &= SMALL - 1;
    if (blockIdx.x == 0 && (out[0] = at) >= 0) /* always: the clock waits for the last step */
        out[1] = (int)clock64() - start;
    SYNC; /* nobody reads this tile any more */
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
    static const char *const name[KINDS] = {"registers", "shared",     "distributed shared",
                                            "constant",  "L1",         "L2",
                                            "global",    "mapped host"};
    int *device, *mapped, *out, clocks;
    cudaFuncAttributes code;
    CHECK(cudaFuncGetAttributes(&code, walk)), CHECK(cudaMalloc(&out, 2 * sizeof *out));
    CHECK(cudaMalloc(&device, sizeof(int) * LARGE)), work = 4.0 * STEPS;
    CHECK(cudaHostAlloc(&mapped, sizeof(int) * MIDDLE, cudaHostAllocMapped));
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "clocks", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,clocks,MB,ms,GB/s,x time,result\n");
    for (int kind = 0; kind < KINDS; kind++) {
        int at = 0, n = kind < L2 ? SMALL : kind == GLOBAL ? LARGE : MIDDLE;
        int *from = kind == HOST ? mapped : device;
        if (kind == CLUSTER && !ON_CPU && code.ptxVersion < 90) continue;
        fill<<<n / THREADS, THREADS>>>(from, n);
        CHECK(cudaMemcpyToSymbol(table, from, sizeof table, 0, cudaMemcpyDefault));
        walk<<<2, 1>>>(from, kind, at, FACTOR, out); /* for its clocks */
        CHECK(cudaMemcpy(&clocks, out + 1, sizeof clocks, cudaMemcpyDefault));
        const double step = ON_CPU ? NAN : 1.0 * clocks / STEPS;
        while (way(name[kind], kind ? STEPS : 0, 2, step, 4e-6 * n, out)) {
            walk<<<2, 1>>>(from, kind, at, FACTOR, out);
            for (int s = 0; s < STEPS; s++) expected[0] = at = AFTER(at, n);
        }
    }
    CHECK(cudaFreeHost(mapped));
    printf("\nComputed: %d steps a walk, each with the result of the last one.\n", STEPS);
    if (ON_CPU) puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
}
