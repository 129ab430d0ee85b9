/* cluster.cu - distributed shared memory: a histogram too large for the shared memory of one block.

   From compute capability 9.0 on, up to 8 blocks can form a cluster. They run at the same time and
   reach each other's shared memory. Here each holds an eighth of 65536 counters, 256 KB together.
   Without clusters the counters are in global memory. Code for less than 9.0 counts there, too.
   Build and run: nvcc -O3 -arch=native cluster.cu -o cluster && ./cluster [--csv FILE] */
#include <cooperative_groups.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "cluster"
#define TASK "counts 65536 values; atomics: to global memory"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 13 : 1 << 26, GROUPS = ON_CPU ? 2 : 32, THREADS = 512 };
enum { BLOCKS = 8, OWN = ON_CPU ? 1 << 7 : 1 << 13, BINS = BLOCKS * OWN }; /* of a cluster */
enum { STEP = GROUPS * BLOCKS * THREADS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static int host[N], expected[BINS];                /* 256 MB: more than L2 holds */

/* Both: counts[v] += how often v stands in N numbers, 4 N bytes; 32 times 8 blocks. Here an atomic
   in L2 for each number bounds it. */
__global__ void count_global(const int *in, int *counts)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += STEP) atomicAdd(&counts[in[i]], 1);
}
/* An atomic in the shared memory of the block that holds the counter; then 65536 a cluster in L2. */
__global__ void count_cluster(const int *in, int *counts)
{
#if __CUCC__ || __CUDA_ARCH__ >= 900
    __shared__ int bins[OWN];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    int *sums = counts + cluster.block_rank() * OWN; /* of the counters here */
    for (int b = threadIdx.x; b < OWN; b += THREADS) bins[b] = 0;
    cluster.sync(); /* the counters of all blocks are 0 */
    for (int v, i = blockIdx.x * THREADS + threadIdx.x; i < N; i += STEP)
        v = in[i], atomicAdd(cluster.map_shared_rank(bins, v / OWN) + v % OWN, 1);
    cluster.sync(); /* no block adds here any more */
    for (int b = threadIdx.x; b < OWN; b += THREADS) atomicAdd(&sums[b], bins[b]);
#else
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += STEP) atomicAdd(&counts[in[i]], 1);
#endif
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
    int *in, *counts;
    cudaFuncAttributes code;
    cudaLaunchAttribute size[1];
    cudaLaunchConfig_t launch = {};
    CHECK(cudaFuncGetAttributes(&code, count_cluster));
    const int clusters = ON_CPU || code.ptxVersion >= 90;
    memset(size, 0, sizeof size);
    size->id = cudaLaunchAttributeClusterDimension;
    size->val.clusterDim.x = BLOCKS, size->val.clusterDim.y = size->val.clusterDim.z = 1;
    launch.gridDim = dim3(BLOCKS * GROUPS), launch.blockDim = dim3(THREADS);
    launch.attrs = size, launch.numAttrs = clusters;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&counts, sizeof expected));
    for (int i = 0; i < N; i++) expected[host[i] = RANDOM(i) % BINS]++;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    work = sizeof host;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "atomics", "MB", "ms",
           "GB/s", "x time", "result");
    fprintf(csv, "way,loads,stores,atomics,MB,ms,GB/s,x time,result\n");
    const char *const name = clusters ? "cluster" : "global; no code for clusters";
    while (way(name, N, 0, clusters ? BINS * GROUPS : N, 4e-6 * N, counts)) {
        CHECK(cudaMemsetAsync(counts, 0, sizeof expected));
        CHECK(cudaLaunchKernelEx(&launch, count_cluster, (const int *)in, counts));
    }
    while (way("global", N, 0, N, 4e-6 * N, counts)) {
        CHECK(cudaMemsetAsync(counts, 0, sizeof expected));
        count_global<<<BLOCKS * GROUPS, THREADS>>>(in, counts);
    }
    printf("\nComputed: a cluster of 8 adds %d counters to global memory, once each.\n", BINS);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU: the CPU runner counts and checks.");
    printf("Global: %.2f times the time; %s.\n", best / base,
           best > 1.1 * base ? "L2 does fewer atomics than shared memory"
                             : "L2 keeps up with clusters");
}
