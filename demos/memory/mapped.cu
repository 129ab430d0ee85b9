/* mapped.cu - mapped host memory (zero-copy): sums of numbers that stay in host memory.

   A kernel can read and write mapped, pinned host memory directly: each access crosses the bus. For
   data that a kernel needs once that is as good as a copy, and the kernel need not wait for its
   end. Data that it needs more often should be copied: device memory is many times as fast as the
   bus. On a device that shares the memory of the host nothing crosses a bus, and mapping pays.
   Build and run: nvcc -O3 -arch=native mapped.cu -o mapped && ./mapped [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "mapped"
#define TASK "sums host memory; passes: over it; MB: over the bus"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, BLOCKS = ON_CPU ? 4 : 1024 };
enum { THREADS = 256 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static long long host[BLOCKS], expected[BLOCKS];   /* the numbers take 256 MB: more than L2 holds */

/* sums[block] = a part of the sum of N numbers, in each of PASSES. A thread loads four numbers at a
   time, N/4 loads a pass. Moves 4 N bytes a pass: device memory bounds it, or the bus. */
__global__ void sum_up(const int4 *in, long long *sums, int passes)
{
    __shared__ long long part[THREADS];
    long long sum = 0;
    for (int t = blockIdx.x * THREADS + threadIdx.x; passes-- > 0;)
        for (int i = t; i < N / 4; i += BLOCKS * THREADS) {
            int4 v = in[i];
            sum += (long long)v.x + v.y + v.z + v.w;
        }
    part[threadIdx.x] = sum;
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
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
    const size_t bytes = sizeof(int) * N;
    const double MB = 1e-6 * bytes;
    int *numbers; /* of the host */
    int4 *mapped, *in;
    long long *sums;
    CHECK(cudaHostAlloc(&numbers, bytes, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&mapped, numbers, 0));
    CHECK(cudaMalloc(&in, bytes)), CHECK(cudaMalloc(&sums, sizeof host));
    for (int i = 0; i < N; i++) expected[i / 4 / THREADS % BLOCKS] += numbers[i] = RANDOM(i);
    work = bytes;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "passes", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,passes,MB,ms,GB/s,x time,result\n");
    while (way("mapped (right)", N / 4, BLOCKS, 1, MB, sums))
        sum_up<<<BLOCKS, THREADS>>>(mapped, sums, 1);
    while (way("copied (also right)", N / 4, BLOCKS, 1, MB, sums)) {
        CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
        sum_up<<<BLOCKS, THREADS>>>(in, sums, 1);
    }
    double once = best / base;
    for (int b = 0; b < BLOCKS; b++) expected[b] *= 8;
    while (way("copied; 8 passes (right)", 2 * N, BLOCKS, 8, MB, sums)) {
        CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
        sum_up<<<BLOCKS, THREADS>>>(in, sums, 8);
    }
    while (way("mapped; 8 passes", 2 * N, BLOCKS, 8, 8 * MB, sums))
        sum_up<<<BLOCKS, THREADS>>>(mapped, sums, 8);
    CHECK(cudaFreeHost(numbers));

    printf("\nComputed: 8 passes over mapped memory move 8 times the bytes of one copy.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("One pass, copied: %.2f times the time; %s.\n8 passes, mapped: %.2f times; %s.\n", once,
           once > 1.1 ? "it waits for the copy" : "the bus is the limit of both", best / base,
           best > 1.5 * base ? "each crosses the bus" : "caches keep it, or there is no bus");
}
