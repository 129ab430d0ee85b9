/* tma.cu - bulk copies by the tensor memory accelerator, against cp.async and loads.

   From 9.0 on one thread asks for a whole tile that lies in a row. A barrier in shared memory counts
   the bytes as they come. cp.async (8.0) takes a thread for each 16 bytes, and loads take
   registers, too. tensor_map.cu fetches tiles of two dimensions.
   Build and run: nvcc -O3 -arch=native tma.cu -o tma && ./tma [--csv FILE] */
#include <cuda_pipeline.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "tma"
#define TASK "sums three neighbours; copies: that the threads of a block ask for"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, OWN = 4096, TILE = OWN + 8 };
enum { BULK, ASYNC, LOADS, WAYS, THREADS = 256, BYTES = 4 * TILE, MOST = TILE / 4 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N + 8], expected[N];             /* four zeros at both ends; 256 MB each */

/* out[i] = in[i + 3] + in[i + 4] + in[i + 5], N numbers, a block 4096; 8 N bytes bound it. In code
   for less than 9.0 loads take the place of bulk copies. */
__global__ void sum_neighbours(const float *in, float *out, int how)
{
    __shared__ __align__(128) float tile[TILE];
    int t = threadIdx.x, first = blockIdx.x * OWN, words = MOST;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 /* PTX ISA, "mbarrier" and "cp.async.bulk" */
    __shared__ unsigned long long arrived;
    unsigned int at = (unsigned int)__cvta_generic_to_shared(&arrived), done = how != BULK;
    unsigned int to = (unsigned int)__cvta_generic_to_shared(tile);
    if (how == BULK && t == 0)
        asm volatile(
            "mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async.shared::cta;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%2], [%3], "
            "%1, [%0];" ::"r"(at),
            "r"(BYTES), "r"(to), "l"(in + first)
            : "memory");
    __syncthreads(); /* the barrier is ready */
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(at)
                     : "memory");
    if (how == BULK) words = 0; /* nothing is left to load */
#endif
    for (int e = t; e < words; e += THREADS) {
        const float *word = in + first + 4 * e;
        if (how == ASYNC) __pipeline_memcpy_async(tile + 4 * e, word, 16);
        if (how != ASYNC) ((float4 *)tile)[e] = *(const float4 *)word;
    }
    __pipeline_commit(), __pipeline_wait_prior(0);
    __syncthreads();
    for (int p = t; p < OWN; p += THREADS) out[first + p] = tile[p + 3] + tile[p + 4] + tile[p + 5];
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
    static const char *const name[] = {"bulk; loads below 9.0 (right)", "cp.async", "loads"};
    cudaFuncAttributes code; /* below 9.0 or 8.0 loads take the place of copies */
    float *in, *out, x[WAYS];
    CHECK(cudaFuncGetAttributes(&code, sum_neighbours));
    const int copies[WAYS] = {code.ptxVersion >= 90, code.ptxVersion >= 80 ? MOST : 0, 0};
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof expected));
    for (int i = 0; i < N; i++) host[i + 4] = RANDOM(i) % 1000;
    for (int i = 0; i < N; i++) expected[i] = host[i + 3] + host[i + 4] + host[i + 5];
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault)), work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "copies", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,copies,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < WAYS; x[w++] = best / base)
        while (way(name[w], copies[w] ? 0 : N / OWN * MOST, N, copies[w], work * 1e-6, out))
            sum_neighbours<<<N / OWN, THREADS>>>(in, out, w);
    printf("\nComputed: one bulk copy of %d bytes a tile, or %d copies of 16.\n", BYTES, MOST);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("%s code for 9.0. cp.async: %.2f times the time; loads: %.2f times.\n",
           code.ptxVersion < 90 ? "No" : "With", x[ASYNC], x[LOADS]);
}
