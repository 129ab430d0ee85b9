/* constant.cu - constant memory: the coefficients of a convolution, read together or each its own.

   Constant memory is 64 KB that kernels only read. Its cache gives one word at a time to all
   threads of a warp (a broadcast). If all want the same coefficient it costs as little as a
   register. If each wants another one the warp is served word by word, up to 32 times. Tables that
   are looked up with an index of one's own belong into global or shared memory.

   A ray caster has both cases. Where every ray asks for every sphere, the lanes of a warp walk
   through them together: one sphere for all, even of a camera's rays that go everywhere. In a tree
   each lane asks for another one, which would take up to 32 turns here: trees lie in global memory.
   See the second table of demos/raytrace.cu, and why it comes out so.
   Build and run: nvcc -O3 -arch=native constant.cu -o constant && ./constant [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "constant"
#define TASK "convolves; words: that a warp wants at a time"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 13 : 1 << 23 };
enum { THREADS = 256, BLOCKS = N / THREADS, TAPS = 64 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N + TAPS], expected[N], host_c[TAPS];
__constant__ float table[TAPS];

/* out[i] = sum over k of c[k] in[i + k], N sums of 64 products, a thread a sum: 128 N operations,
   64 N loads of the input, nearly all from the L1 cache, which bounds the first. The four kernels
   differ in the coefficients, and in the number of the first one that a thread takes. */
#define KERNEL(name, c, first)                                                        \
    __global__ void name(const float *in, float *out, const float *global)            \
    {                                                                                 \
        int i = blockIdx.x * THREADS + threadIdx.x;                                   \
        float sum = 0;                                                                \
        (void)global;                                                                 \
        _Pragma("unroll") for (int n = 0, k; n < TAPS; n++) k = (n + (first)) % TAPS, \
                                                            sum += c[k] * in[i + k];  \
        out[i] = sum;                                                                 \
    }
KERNEL(convolve_constant, table, 0)
KERNEL(convolve_global, global, 0) /* 64 N more loads */
KERNEL(convolve_constant_apart, table, threadIdx.x)
KERNEL(convolve_global_apart, global, threadIdx.x) /* 32 words a warp, and 64 N more loads */

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
    const double loads = (double)N * TAPS, MB = 4e-6 * (loads + N), twice = MB + 4e-6 * loads;
    float *in, *out, *c;
    work = 2 * loads;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMalloc(&c, sizeof host_c));
    for (int i = 0; i < N + TAPS; i++) host[i] = RANDOM(i) % 256 - 128.0f; /* sums are exact */
    for (int k = 0; k < TAPS; k++) {
        host_c[k] = RANDOM(k) / 256 % 256 - 128.0f;
        for (int i = 0; i < N; i++) expected[i] += host_c[k] * host[i + k];
    }
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(c, host_c, sizeof host_c, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, host_c, sizeof host_c));
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "words", "MB", "ms",
           "GFLOP/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,words,MB,ms,GFLOP/s,x time,result\n");
    while (way("constant; same word (right)", loads, N, 1, MB, out))
        convolve_constant<<<BLOCKS, THREADS>>>(in, out, c);
    while (way("global; same word", 2 * loads, N, 1, twice, out))
        convolve_global<<<BLOCKS, THREADS>>>(in, out, c);
    double global = best / base;
    while (way("constant; 32 words", loads, N, 32, MB, out))
        convolve_constant_apart<<<BLOCKS, THREADS>>>(in, out, c);
    double apart = best / base;
    while (way("global; 32 words", 2 * loads, N, 32, twice, out))
        convolve_global_apart<<<BLOCKS, THREADS>>>(in, out, c);
    printf("\nComputed: constant memory halves the loads; 32 words make 32 turns of a warp.\n"
           "Rays that ask for one sphere or for many: the second table of demos/raytrace.cu.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --report counts the words.");
    printf("Global memory: %.2f times the time; %s.\n32 words: %.1f times; %s.\n", global,
           global > 1.1 ? "twice the loads" : "the L1 cache gives them as fast", apart,
           apart > 2 ? "the cache gives a warp one word at a time" : "the cache keeps up");
}
