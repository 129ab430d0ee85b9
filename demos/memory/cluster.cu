/* cluster.cu - distributed shared memory: a ring of numbers, too long for one block's.

   From 9.0 on up to 8 blocks form a cluster; an H100 takes 16, if the kernel is given the attribute
   cudaFuncAttributeNonPortableClusterSizeAllowed. They run at the same time, can wait for each other,
   and reach each other's shared memory. Here each of 8 keeps its part of a ring of 192 KB, twice.
   Build and run: nvcc -O3 -arch=native cluster.cu -o cluster && ./cluster [--csv FILE] */
#include <cooperative_groups.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "cluster"
#define TASK "smooths 16 rings, 100 steps; launches: of kernels"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, RINGS = ON_CPU ? 2 : 16, THREADS = 512, STEPS = ON_CPU ? 4 : 100 };
enum { BLOCKS = 8, OWN = ON_CPU ? 1 << 10 : 6144, RING = BLOCKS * OWN, N = RINGS * RING };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static unsigned int host[N], expected[N];          /* modulo 2^32: exact */
/* A step of a block: to[i] = from[i - 1] + from[i] + from[i + 1], OWN numbers, 8 OWN bytes. */
__device__ __forceinline__ void smooth(const unsigned int *left, const unsigned int *from,
                                       const unsigned int *right, unsigned int *to)
{
    for (int i = threadIdx.x; i < OWN; i += THREADS) {
        unsigned int before = i > 0 ? from[i - 1] : left[OWN - 1];
        to[i] = before + from[i] + (i < OWN - 1 ? from[i + 1] : right[0]);
    }
}
#if __CUCC__ || defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SYNC            cooperative_groups::this_cluster().sync()
#define OF(block, tile) cooperative_groups::this_cluster().map_shared_rank(tile, block)
__cluster_dims__(BLOCKS, 1, 1)
#else
#define SYNC
#define OF(block, tile) tile
#endif
    /* Steps FIRST to LAST - 1, a barrier before each. In global memory the latency of L2 bounds it, in
   shared memory its loads and the barriers. For an even number of steps the result is in A. */
    __global__ void smooth_all(unsigned int *a, unsigned int *b, int shared, int first, int last)
{
    __shared__ unsigned int own[2][OWN];
    int t = threadIdx.x, block = blockIdx.x % BLOCKS, ring = (blockIdx.x - block) * OWN;
    int left = (block + BLOCKS - 1) % BLOCKS, right = (block + 1) % BLOCKS, at = ring + block * OWN;
    for (int i = t; shared && i < OWN; i += THREADS) own[0][i] = a[at + i];
    for (int s = first; s < last; s++) {
        SYNC; /* all blocks have done the last step */
        unsigned int *mine = own[s % 2], *from = (s % 2 ? b : a) + ring, *to = s % 2 ? a : b;
        if (shared) smooth(OF(left, mine), mine, OF(right, mine), own[1 - s % 2]);
        if (!shared) smooth(from + left * OWN, from + block * OWN, from + right * OWN, to + at);
    }
    for (int i = t; shared && i < OWN; i += THREADS) a[at + i] = own[0][i];
    SYNC; /* nobody reads these numbers any more */
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
    const char *const name[] = {"cluster; shared (right)", "cluster; global", "launches; global"};
    static unsigned int next[N];
    const double all = (double)STEPS * N;
    unsigned int *in, *a, *b;
    double x[3] = {0};
    cudaFuncAttributes code;
    CHECK(cudaFuncGetAttributes(&code, smooth_all)), CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&a, sizeof host)), CHECK(cudaMalloc(&b, sizeof host));
    for (int i = 0; i < N; i++) expected[i] = host[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault)), work = 8 * all;
    for (int s = 0; s < STEPS; s++, memcpy(expected, next, sizeof next))
        for (int i = 0, r = 0; i < N; i++, r = i / RING * RING)
            next[i] =
                expected[r + (i + RING - 1) % RING] + expected[i] + expected[r + (i + 1) % RING];
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "launches", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,launches,MB,ms,GB/s,x time,result\n");
    for (int w = ON_CPU || code.ptxVersion >= 90 ? 0 : 2; w < 3; x[w++] = best / base)
        while (way(name[w], w ? 3 * all : 1.0 * N, w ? all : 1.0 * N, w < 2 ? 1 : STEPS,
                   work * 1e-6 / (w ? 1 : STEPS), a)) {
            CHECK(cudaMemcpyAsync(a, in, sizeof host, cudaMemcpyDefault));
            for (int s = 0; s < STEPS; s += w < 2 ? STEPS : 1)
                smooth_all<<<RINGS * BLOCKS, THREADS>>>(a, b, w == 0, s, w < 2 ? STEPS : s + 1);
        }
    printf("\nComputed: in shared memory a ring is loaded and stored once, else in each step.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    if (x[0] > 0) printf("Cluster, global: %.2f times the time; launches: %.2f.\n", x[1], x[2]);
}
