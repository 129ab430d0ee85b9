/* pool.cu - memory pools: temporary memory for each of many steps, from four sources.

   cudaMalloc and cudaFree ask the driver each time and may wait for the device. cudaMallocAsync
   takes memory from a pool, in the order of a stream: what a step frees the next one gets. A pool
   gives back to the system what is unused when the host waits for the device, unless its release
   threshold says to keep it. Memory that is allocated once costs nothing later.
   Build and run: nvcc -O3 -arch=native pool.cu -o pool && ./pool [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "pool"
#define TASK "50 steps, each with 4 MB of its own; calls: that allocate"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum {
    ON_CPU = __CUCC__,
    N = ON_CPU ? 1 << 12 : 1 << 20,
    THREADS = 256,
    BLOCKS = N / THREADS,
    STEPS = 50
};
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N];

/* A step: out = out + 1, by way of TEMPORARY; a thread a float, 16 N bytes in all, a few us. */
__global__ void put_aside(const float *out, float *temporary)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    temporary[i] = out[i];
}
__global__ void bring_back(const float *temporary, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = temporary[i] + 1;
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
    enum { ONCE, KEPT, RETURNED, EACH, WAYS };
    static const char *const name[WAYS] = {"allocated once (right)", "pool that keeps",
                                           "pool that gives back", "cudaMalloc; cudaFree"};
    unsigned long long keep = ~0ull, nothing = 0;
    double x[WAYS];
    float *in, *out, *own, *temporary;
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0)), CHECK(cudaMalloc(&own, sizeof host));
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) expected[i] = (host[i] = RANDOM(i) % 1000) + STEPS;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    work = 16.0 * N * STEPS;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "calls", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,calls,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < WAYS; w++) {
        CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                                      w == KEPT ? &keep : &nothing));
        while (way(name[w], 2.0 * N * STEPS, 2.0 * N * STEPS, w == ONCE ? 0 : STEPS, work * 1e-6,
                   out)) {
            CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDefault));
            for (int s = 0; s < STEPS; s++) {
                temporary = own;
                if (w == EACH) CHECK(cudaMalloc(&temporary, sizeof host));
                if (w == KEPT || w == RETURNED) CHECK(cudaMallocAsync(&temporary, sizeof host, 0));
                put_aside<<<BLOCKS, THREADS>>>(out, temporary);
                bring_back<<<BLOCKS, THREADS>>>(temporary, out);
                if (w == KEPT || w == RETURNED) CHECK(cudaFreeAsync(temporary, 0));
                CHECK(cudaStreamSynchronize(0)); /* the host looks at each step */
                if (w == EACH) CHECK(cudaFree(temporary));
            }
        }
        x[w] = best / base;
    }
    printf("\nComputed: 50 allocations a run, or none.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("A pool that keeps: %.2f times the time; that gives back: %.2f times; cudaMalloc: %.2f "
           "times.\n",
           x[KEPT], x[RETURNED], x[EACH]);
}
