/* bandwidth.cu - the bandwidth of each kind of memory, as kernels and copies see it.

   All threads read, 16 bytes at a time, and add up what they read. Shared memory and L1 hold a tile
   of 16 KB, L2 holds 8 MB. What is larger comes from device memory, or over the bus from the host.
   Build and run: nvcc -O3 -arch=native bandwidth.cu -o bandwidth && ./bandwidth [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "bandwidth"
#define TASK "reads each kind of memory, in passes; write: to global memory; copy: from the host"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, LARGE = ON_CPU ? 1 << 16 : 1 << 28, FAR = LARGE >> 3, SMALL = 1 << 12 };
enum { THREADS = 1024, TIMES = LARGE >> 16, SHARED = 0, L1, L2, GLOBAL, HOST, WRITE, COPY, WAYS };
static int host[1], expected[1];

/* in = 0, 1, ... N - 1, a thread four numbers at a time: 4 N bytes, bound by memory. */
__global__ void fill(int4 *in, int n)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += gridDim.x * THREADS)
        in[i] = make_int4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
}
/* *sum += the sum of N numbers, PASSES times. Up to L1 each block reads all of them, by itself; else
   each has its part, and another one in each pass, so that L1 has nothing to give. */
__global__ void read_all(const int4 *in, int n, int passes, int kind, int *sum)
{
    __shared__ int4 tile[SMALL / 4];
    __shared__ int total;
    int first = threadIdx.x, step = THREADS, mask = n / 4 - 1, mine = 0;
    if (kind > L1) first += blockIdx.x * THREADS, step *= gridDim.x;
    if (threadIdx.x == 0) total = 0;
    if (kind == SHARED) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int p = 0; p < passes && kind <= L1; p++) {
        int4 v = kind == SHARED ? tile[(first + 32 * p) & mask] : in[(first + 32 * p) & mask];
        mine += v.x + v.y + v.z + v.w;
    }
    for (int p = 0; p < passes && kind > L1; p++)
        for (int i = first; i <= mask; i += step) {
            int4 v = in[(i + p * THREADS) & mask];
            mine += v.x + v.y + v.z + v.w;
        }
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, total);
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
    static const char *const name[] = {"shared",      "L1",    "L2",  "global",
                                       "mapped host", "write", "copy"};
    static const int size[WAYS] = {SMALL, SMALL, FAR / 16, LARGE, FAR, LARGE, FAR};
    static const int passes[WAYS] = {TIMES, TIMES, 16, 1, 1, 1, 1};
    int *device, *mapped, *out, blocks;
    cudaDeviceProp has;
    CHECK(cudaGetDeviceProperties(&has, 0)), blocks = has.multiProcessorCount;
    CHECK(cudaMalloc(&device, sizeof(int) * LARGE)), CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaHostAlloc(&mapped, sizeof(int) * FAR, cudaHostAllocMapped));
    for (int i = 0; i < FAR; i++) mapped[i] = i;
    fill<<<blocks *= 2, THREADS>>>((int4 *)device, LARGE); /* two fit into most */
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "passes", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,passes,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < WAYS; w++) {
        const int n = size[w], times = passes[w] * (w > L1 ? 1 : blocks), last = n - 1;
        const int4 *in = (int4 *)(w == HOST ? mapped : device);
        expected[0] = w < WRITE ? (int)(n / 2u * (n - 1u) * times) : last, work = 4.0 * n * times;
        while (way(name[w], w < WRITE ? work / 16 : 0, w == WRITE ? n / 4 : 0, passes[w], 4e-6 * n,
                   w < WRITE ? out : device + last)) {
            if (w < WRITE) CHECK(cudaMemsetAsync(out, 0, sizeof *out));
            if (w < WRITE) read_all<<<blocks, THREADS>>>(in, n, passes[w], w, out);
            if (w == WRITE) fill<<<blocks, THREADS>>>((int4 *)device, n);
            if (w == COPY) CHECK(cudaMemcpyAsync(device, mapped, 4ull * n, cudaMemcpyDefault));
        }
    }
    CHECK(cudaFreeHost(mapped));
    printf("\nComputed: %d blocks read 16 KB each, or share what is larger.\n", blocks);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Sizes in MB: registers %.1f, shared %.1f, L2 %.1f, global %.0f, constant %.3f.\n",
           4e-6 * has.regsPerMultiprocessor * has.multiProcessorCount,
           1e-6 * has.sharedMemPerMultiprocessor * has.multiProcessorCount, 1e-6 * has.l2CacheSize,
           1e-6 * has.totalGlobalMem, 1e-6 * has.totalConstMem);
}
