/* cooperative.cu - a barrier for the whole grid, against a launch for each step.

   Blocks of a kernel run in any order, so that a step that needs the results of all others is a
   launch of its own. A cooperative launch promises that all blocks run at the same time: then they
   can wait for each other (grid.sync). There may be only as many as fit into the device.
   Build and run: nvcc -O3 -arch=native cooperative.cu -o cooperative && ./cooperative [--csv FILE] */
#include <cooperative_groups.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "cooperative"
#define TASK "smooths a ring, 100 steps; launches: of kernels"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 11 : 1 << 16, THREADS = 256, STEPS = 100 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static unsigned int host[N], expected[N];          /* 256 KB; modulo 2^32: exact */

/* Both: to[i] = from[i - 1] + from[i] + from[i + 1] on a ring of N numbers, 8 N bytes a step, from
   L2. The launch, or the barrier, bounds it. */
__device__ void smooth(const unsigned int *from, unsigned int *to)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS)
        to[i] = from[(i + N - 1) % N] + from[i] + from[(i + 1) % N];
}
__global__ void one_step(const unsigned int *from, unsigned int *to)
{
    smooth(from, to);
}
__global__ void all_steps(unsigned int *from, unsigned int *to)
{
    for (int s = 0; s < STEPS; s += 2) { /* an even number of steps: the result is in FROM */
        smooth(from, to);
        cooperative_groups::this_grid().sync();
        smooth(to, from);
        cooperative_groups::this_grid().sync();
    }
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
    static unsigned int next[N];
    const double all = (double)STEPS * N;
    unsigned int *in, *a, *b;
    int fit, most, cooperative, blocks = N / THREADS;
    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    if (!cooperative) return (void)puts("This device has no cooperative launches.");
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, all_steps, THREADS, 0));
    if (blocks > fit * most) blocks = fit * most; /* more would never run together */
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&b, sizeof host));
    for (int i = 0; i < N; i++) expected[i] = host[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    for (int s = 0; s < STEPS; s++, memcpy(expected, next, sizeof next))
        for (int i = 0; i < N; i++)
            next[i] = expected[(i + N - 1) % N] + expected[i] + expected[(i + 1) % N];
    work = 8 * all;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "launches", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,launches,MB,ms,GB/s,x time,result\n");
    while (way("one launch (right)", 3 * all, all, 1, 16e-6 * all, a)) {
        void *arguments[] = {&a, &b};
        CHECK(cudaMemcpyAsync(a, in, sizeof host, cudaMemcpyDefault));
        CHECK(cudaLaunchCooperativeKernel((void *)all_steps, blocks, THREADS, arguments, 0, 0));
    }
    while (way("a launch a step", 3 * all, all, STEPS, 16e-6 * all, a)) {
        CHECK(cudaMemcpyAsync(a, in, sizeof host, cudaMemcpyDefault));
        for (int s = 0; s < STEPS; s++)
            one_step<<<N / THREADS, THREADS>>>(s % 2 ? b : a, s % 2 ? a : b);
    }
    printf("\nComputed: 100 barriers in one launch, or 100 launches.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("A launch a step: %.2f times the time; %s.\n", best / base,
           best > base ? "a barrier takes less than a launch"
                       : "launches cost no more than barriers");
}
