/* constant.cu - constant memory: the coefficients of a convolution, read together or each his own.

   Constant memory is 64 KB that kernels only read; its cache gives one word at a time to all
   threads of a warp (a broadcast). If all want the same coefficient it costs as little as a
   register. If each wants another one the warp is served word by word, up to 32 times; tables that
   are looked up with an index of one's own belong into global or shared memory.

   Build and run: nvcc -O3 -arch=native constant.cu -o constant && ./constant [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "constant"
#define TASK  "convolves; words: that a warp wants at a time; limit: multiply-adds"
#define EXTRA "words"
#define RATE  "GFLOP/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 13 : 1 << 23, THREADS = 256, BLOCKS = N / THREADS };
enum { TAPS = 64 };
static float host[N + TAPS], expected[N], host_c[TAPS];
__constant__ float table[TAPS];

/* out[i] = sum over k of c[k] in[i + k], N sums of 64 products, a thread a sum: 128 N operations,
   64 N loads of the input, nearly all from the L1 cache, which bounds the first. The four kernels
   differ in the coefficients, and in the number of the first one that a thread takes. */
#define KERNEL(name, c, first)                                             \
    __global__ void name(const float *in, float *out, const float *global) \
    {                                                                      \
        int i = blockIdx.x * THREADS + threadIdx.x;                        \
        float sum = 0;                                                     \
        (void)global;                                                      \
        _Pragma("unroll") for (int n = 0; n < TAPS; n++)                   \
        {                                                                  \
            int k = (n + (first)) % TAPS;                                  \
            sum += c[k] * in[i + k];                                       \
        }                                                                  \
        out[i] = sum;                                                      \
    }
KERNEL(convolve_constant, table, 0)
KERNEL(convolve_global, global, 0) /* 64 N more loads */
KERNEL(convolve_constant_apart, table, threadIdx.x)
KERNEL(convolve_global_apart, global, threadIdx.x) /* 32 words a warp, and 64 N more loads */

/* ---- the same in every demo: errors, times, rows of the table and the CSV file; main below -- */
static double work, limit, base, best, allowed; /* of a way; G/s; ms of "(right)"; ms; difference */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;
#define RANDOM(i)   ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs < 2 || ms < best ? ms : best; /* the CPU tells nothing of times */
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row; compares OUT, unless it is NULL, with what is expected. Gives "x time". */
static double row(const char *way, double loads, double stores, double extra, double MB, void *out)
{
    size_t i = 0, count = out ? sizeof expected / sizeof *expected : 0;
    double rate = work / best * 1e-6;
    if (out) CHECK(cudaMemcpy(host, out, sizeof expected, cudaMemcpyDefault));
    while (i < count && host[i] - expected[i] <= allowed && expected[i] - host[i] <= allowed) i++;
    const char *result = !out ? "-" : i < count ? "WRONG" : "ok";
    failures += i < count;
    if (limit == 0) limit = rate; /* that of the first way, if nothing else is known */
    if (base == 0 || strstr(way, "(right)")) base = best;
    printf("%-31s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%9.1f%8.2f%8s\n", way, loads, stores, extra, MB,
           best, rate, 100 * rate / limit, best / base, result);
    if (csv)
        fprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.1f,%.2f,%s\n", way, loads, stores, extra, MB,
                best, rate, 100 * rate / limit, best / base, result);
    return best / base;
}

static void task(void)
{
    const double loads = (double)N * TAPS, MB = 4e-6 * (loads + N), twice = MB + 4e-6 * loads;
    int kHz, v = device.major, half = v == 7 || (device.minor == 0 && (v == 6 || v == 8));
    float *in, *out, *c;
    CHECK(cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, 0));
    limit = 2e-6 * kHz * device.multiProcessorCount * (half ? 64 : 128); /* multiply-adds a clock */
    work = 2 * loads;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMalloc(&c, sizeof host_c));
    for (int i = 0; i < N + TAPS; i++) host[i] = RANDOM(i) % 256 - 128.0f; /* sums are exact */
    for (int k = 0; k < TAPS; k++) {
        host_c[k] = RANDOM(k) / 256 % 256 - 128.0f;
        for (int i = 0; i < N; i++) expected[i] += host_c[k] * host[i + k];
    }
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(c, host_c, sizeof host_c, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, host_c, sizeof host_c));

    while (again(out)) convolve_constant<<<BLOCKS, THREADS>>>(in, out, c);
    row("constant; same word (right)", loads, N, 1, MB, out);
    while (again(out)) convolve_global<<<BLOCKS, THREADS>>>(in, out, c);
    double global = row("global; same word", 2 * loads, N, 1, twice, out);
    while (again(out)) convolve_constant_apart<<<BLOCKS, THREADS>>>(in, out, c);
    double apart = row("constant; 32 words", loads, N, 32, MB, out);
    while (again(out)) convolve_global_apart<<<BLOCKS, THREADS>>>(in, out, c);
    row("global; 32 words", 2 * loads, N, 32, twice, out);

    printf("\nComputed: constant memory halves the loads; 32 words make 32 turns of a warp.\n");
    if (ON_CPU) return;
    printf("Global memory: %.2f times the time; %s.\n32 words: %.1f times; %s.\n", global,
           global > 1.1 ? "twice the loads" : "the L1 cache gives them as fast", apart,
           apart > 2 ? "the cache gives a warp one word at a time" : "the cache keeps up");
}

int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    if (argc == 3 && !strcmp(argv[1], "--csv")) csv = fopen(argv[2], "w");
    if (argc > 1 && !help && !csv)
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    if (help) {
        puts("usage: " NAME " [--csv FILE]\n" TASK "\nWithout a GPU: ./build.sh run memory/" NAME);
    } else {
        CHECK(cudaGetDeviceProperties(&device, 0));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
               "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
        if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
        task();
        if (ON_CPU) puts("Times and rates (nan) need a GPU: the CPU runner counts and checks.");
        CHECK(cudaDeviceReset()); /* frees what the task has allocated */
        if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
        printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    }
    if (fflush(stdout) == 0) return failures > 0;
    if (errno != EPIPE) perror(NAME ": standard output"); /* a closed pipe needs no words */
    return 1;
}
