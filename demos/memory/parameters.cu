/* parameters.cu - kernel parameters: a table of coefficients that changes with each launch.

   Parameters (4 KB; 32 KB from CUDA 12.1 on) lie in constant memory and come with the launch.
   Whoever takes the address of one gets a copy in the local memory of each thread, unless it is
   const and __grid_constant__ (7.0). Other memory must be written before the launch.
   Build and run: nvcc -O3 -arch=native parameters.cu -o parameters && ./parameters [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "parameters"
#define TASK "8 launches, a convolution each with coefficients of its own; copies: before launches"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 13 : 1 << 20, TAPS = 64, JOBS = 8, ALL = JOBS * N };
enum { THREADS = 256, BLOCKS = N / THREADS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[ALL], expected[ALL];
static struct table {
    float c[TAPS];
} tables[JOBS];
__constant__ struct table constant;

/* All: out[i] = the sum of 64 products, from the I/32th coefficient on; 128 N operations, bound by
   loads. A call that is not inlined needs the address of the table, also of one in parameters. */
__device__ __forceinline__ float convolve(const float *c, const float *in, int i)
{
    float sum = 0;
    for (int k = 0; k < TAPS; k++) sum += c[(i / 32 + k) % TAPS] * in[(i + k) % N];
    return sum;
}
__device__ __noinline__ float call(const float *c, const float *in, int i)
{
    return convolve(c, in, i);
}
#define KERNEL(name, parameter, function, c)                     \
    __global__ void name(parameter, const float *in, float *out) \
    {                                                            \
        int i = blockIdx.x * THREADS + threadIdx.x;              \
        out[i] = function(c, in, i);                             \
    }
KERNEL(by_parameter, const __grid_constant__ struct table table, call, table.c)
KERNEL(by_copy, struct table table, call, table.c) /* 256 bytes for each thread are copied */
KERNEL(by_constant, int, convolve, constant.c)
KERNEL(by_global, const struct table *table, convolve, table->c)
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
    const double loads = (double)ALL * TAPS, MB = 4e-6 * loads; /* of the input */
    static const char *const name[] = {"__grid_constant__ (right)", "parameter; address taken",
                                       "constant memory; copied", "global memory; copied"};
    struct table *global;
    cudaFuncAttributes copy;
    double x[4];
    float *in, *out;
    CHECK(cudaFuncGetAttributes(&copy, by_copy)), CHECK(cudaMalloc(&global, sizeof *global));
    CHECK(cudaMalloc(&in, N * sizeof *in)), CHECK(cudaMalloc(&out, sizeof expected));
    for (int i = 0; i < N; i++) host[i] = RANDOM(i) % 256 - 128.0f; /* sums are exact */
    for (int t = 0; t < JOBS * TAPS; t++) tables[t / TAPS].c[t % TAPS] = RANDOM(t) % 99 - 49.0f;
    for (int e = 0; e < ALL; e++)
        for (int i = e % N, k = 0; k < TAPS; k++)
            expected[e] += tables[e / N].c[(i / 32 + k) % TAPS] * host[(i + k) % N];
    CHECK(cudaMemcpy(in, host, N * sizeof *in, cudaMemcpyDefault)), work = 2 * loads;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "copies", "MB", "ms",
           "GFLOP/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,copies,MB,ms,GFLOP/s,x time,result\n");
    for (int w = 0; w < 4; x[w++] = best / base)
        while (way(name[w], (w / 3 + 1) * loads, ALL, w / 2 * JOBS, (w / 3 + 1) * MB, out))
            for (int j = 0; j < JOBS; j++) {
                if (w == 2) CHECK(cudaMemcpyToSymbol(constant, &tables[j], sizeof constant));
                if (w == 3)
                    CHECK(cudaMemcpy(global, tables + j, sizeof constant, cudaMemcpyDefault));
                if (w == 0) by_parameter<<<BLOCKS, THREADS>>>(tables[j], in, out + j * N);
                if (w == 1) by_copy<<<BLOCKS, THREADS>>>(tables[j], in, out + j * N);
                if (w == 2) by_constant<<<BLOCKS, THREADS>>>(0, in, out + j * N);
                if (w == 3) by_global<<<BLOCKS, THREADS>>>(global, in, out + j * N);
            }
    printf("\nComputed: parameters need no copy; a copy of 256 bytes before each of 8 launches.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Address taken: %.2f times the time, %d bytes of local memory a thread.\n", x[1],
           (int)copy.localSizeBytes);
    printf("Constant memory: %.2f times; global memory: %.2f times.\n", x[2], x[3]);
}
