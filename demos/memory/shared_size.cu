/* shared_size.cu - how much shared memory: what a larger tile saves, and what it costs in blocks.

   A block may have 48 KB of shared memory, and more (64 to 227 KB) if the kernel asks for it: it is
   declared extern, its size comes with the launch, and cudaFuncSetAttribute allows it. Larger tiles
   load less twice, but fewer blocks fit into a multiprocessor. The carve-out is the part of the L1
   cache that becomes shared memory: too small a preference costs blocks, too.
   Build and run: nvcc -O3 -arch=native shared_size.cu -o size && ./size [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "shared_size"
#define TASK "adds 9 neighbours, 512 apart; blocks: that fit into a multiprocessor"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 16 : 1 << 25, THREADS = 1024, KB = 256 /* floats */ };
enum { APART = 512, HALO = 8 * APART };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N + HALO], expected[N];          /* 128 MB: more than L2 holds */

/* out[i] = in[i] + in[i + 512] + ... + in[i + 4096], through a tile of SPAN floats, of which all but
   4096 are this block's own: 4 (N + 4096 blocks) bytes read, 4 N written, bound by memory. */
__global__ void add_neighbours(const float *in, float *out, int span)
{
    extern __shared__ float tile[];
    int own = span - HALO, first = blockIdx.x * own;
    for (int t = threadIdx.x; t < span && first + t < N + HALO; t += THREADS)
        tile[t] = in[first + t];
    __syncthreads();
    for (int t = threadIdx.x; t < own && first + t < N; t += THREADS) {
        float sum = 0;
        for (int k = 0; k <= HALO; k += APART) sum += tile[t + k];
        out[first + t] = sum;
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
    static const char *const name[4] = {"up to 96 KB; opt-in (right)",
                                        "up to 96 KB; carve-out 50 %", "48 KB; no opt-in",
                                        "24 KB; no opt-in"};
    int most, fit[4], size[4] = {96, 96, 48, 24}; /* KB */
    double x[4];
    float *in, *out;
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (most < 96 * 1024) size[0] = size[1] = most / 1024;
    CHECK(cudaFuncSetAttribute(add_neighbours, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               size[0] * 1024));
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof expected));
    for (int i = 0; i < N + HALO; i++) host[i] = RANDOM(i) % 1000;
    for (int i = 0; i < N; i++)
        for (int k = 0; k <= HALO; k += APART) expected[i] += host[i + k];
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "blocks", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,blocks,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < 4; w++) {
        const int span = size[w] * KB, blocks = (N + span - HALO - 1) / (span - HALO);
        const double loads = N + (double)HALO * blocks;
        CHECK(cudaFuncSetAttribute(add_neighbours, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   w == 1 ? 50 : 100));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(fit + w, add_neighbours, THREADS,
                                                            4 * span));
        while (way(name[w], loads, N, fit[w], 4e-6 * (loads + N), out))
            add_neighbours<<<blocks, THREADS, 4 * span>>>(in, out, span);
        x[w] = best / base;
    }
    printf("\nComputed: a tile of %d KB loads %.2f times what it owns, one of 24 KB 3 times.\n",
           size[0], size[0] * KB / (size[0] * KB - (double)HALO));
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("24 KB: %.2f times the time. 48 KB: %.2f times. Carve-out of 50 %%: %d blocks in place "
           "of %d, %.2f times.\n",
           x[3], x[2], fit[1], fit[0], x[1]);
}
