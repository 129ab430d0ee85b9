/* local.cu - local memory: a histogram whose counters of a thread are in registers, or are not.

   Local memory belongs to one thread like a register, but it is device memory behind the caches. A
   thread's array is put there when an index is not known at compile time: registers have no
   addresses. So are values that find no register (spilling). Remedies are constant indices
   (unrolled loops), or a column of shared memory for each thread. Constant indices have a price
   here: a number is compared with all 64 values to find its counter, in place of one address.
   Build and run: nvcc -O3 -arch=native local.cu -o local && ./local [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "local"
#define TASK "histograms, one a thread; local B: bytes of local memory a thread, says the compiler"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, BLOCKS = ON_CPU ? 2 : 512 };
enum { THREADS = 128, ALL = BLOCKS * THREADS, BINS = 64, OUT = BINS * ALL };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static int host[N], expected[OUT];

/* All kernels: each of 512 x 128 threads counts how often each of 64 values stands in every 65536th
   of N numbers, out[value][thread]. Moves 4 N + 4 x 64 x 65536 bytes of global memory. Counters in
   an array of the thread; the compiler takes few enough registers for blocks of LARGEST threads. */
#define KERNEL(name, largest, add_one)                                                     \
    __global__ void __launch_bounds__(largest, 1) name(const int *in, int *out)            \
    {                                                                                      \
        int count[BINS] = {0}, thread = blockIdx.x * THREADS + threadIdx.x;                \
        for (int i = thread; i < N; i += ALL) {                                            \
            int value = in[i];                                                             \
            add_one;                                                                       \
        }                                                                                  \
        _Pragma("unroll") for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b]; \
    }
/* Constant indices: 64 comparisons and additions a number bound it. Blocks of 1024 threads have 64
   registers a thread, too few. An index known at run time only: a load and a store of local memory a
   number, to other lines of the cache for each thread of a warp, which bounds it. */
#define COMPARE _Pragma("unroll") for (int b = 0; b < BINS; b++) count[b] += value == b
KERNEL(count_in_registers, THREADS, COMPARE)
KERNEL(count_spilled, 1024, COMPARE)
KERNEL(count_indexed, THREADS, count[value]++)
/* The counters of a thread are a column of shared memory: one bank, no conflicts. */
__global__ void count_in_shared(const int *in, int *out)
{
    __shared__ int count[BINS][THREADS];
    int t = threadIdx.x, thread = blockIdx.x * THREADS + t;
    for (int b = 0; b < BINS; b++) count[b][t] = 0;
    for (int i = thread; i < N; i += ALL) count[in[i]][t]++;
    for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b][t];
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
    const double MB = 1e-6 * (sizeof host + sizeof expected);
    cudaFuncAttributes spill, index; /* as the compiler says */
    int *in, *out;
    CHECK(cudaFuncGetAttributes(&spill, count_spilled));
    CHECK(cudaFuncGetAttributes(&index, count_indexed));
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) expected[(host[i] = RANDOM(i) >> 18) * ALL + i % ALL]++;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = sizeof host + sizeof expected;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "local B", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,local B,MB,ms,GB/s,x time,result\n");
    while (way("shared; any index (right)", N, OUT, 0, MB, out))
        count_in_shared<<<BLOCKS, THREADS>>>(in, out);
    while (way("registers; constant indices", N, OUT, 0, MB, out))
        count_in_registers<<<BLOCKS, THREADS>>>(in, out);
    double own = best, searched = best / base;
    while (way("registers too few: spilled", N, OUT, spill.localSizeBytes, MB, out))
        count_spilled<<<BLOCKS, THREADS>>>(in, out);
    double spilled = best / own;
    while (way("local; any index", N, OUT, index.localSizeBytes, MB, out))
        count_indexed<<<BLOCKS, THREADS>>>(in, out);
    printf("\nComputed: 64 counters take 256 bytes; a number costs a load and a store of one.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Registers: %.2f times the time; %s.\n", searched,
           searched > 1.1 ? "64 comparisons a number, not 1 address" : "comparisons cost little");
    printf("Local: %.2f times; %s.\nSpilling: %.2f times that of registers; %s.\n", best / base,
           best > 1.1 * base ? "a warp reaches many cache lines" : "the L1 cache keeps up", spilled,
           spilled > 1.1 ? "loads and stores come on top" : "more threads make up for it");
}
