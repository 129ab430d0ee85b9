/* local.cu - local memory: a histogram whose counters of a thread are in registers, or are not.

   Local memory belongs to one thread like a register, but it is device memory behind the caches. A
   thread's array is put there when an index is not known at compile time, since registers have no
   addresses, and when a kernel needs more registers than it may have (spilling). Two remedies for
   these loads and stores: constant indices (unrolled loops), or a column of shared memory a thread.

   Build and run: nvcc -O3 -arch=native local.cu -o local && ./local [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "local"
#define TASK  "histograms, one a thread; local B: bytes a thread, as the compiler says"
#define EXTRA "local B"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, BLOCKS = ON_CPU ? 2 : 512 };
enum { THREADS = 128, ALL = BLOCKS * THREADS, BINS = 64, OUT = BINS * ALL };
static int host[N], expected[OUT];

/* All kernels: each of 512 x 128 threads counts how often each of 64 values stands in every 65536th
   of N numbers, out[value][thread]. Moves 4 N + 4 x 64 x 65536 bytes of global memory.
   Counters in an array of the thread, in a kernel for blocks of up to LARGEST threads. */
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

/* Constant indices: 64 comparisons a number, and these bound it. For blocks of 1024 threads there
   are 64 registers a thread, too few. An index known at run time only: one load and one store of
   local memory a number, to other lines of the cache for each thread of a warp, which bounds it. */
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

static double local(void (*kernel)(const int *, int *)) /* bytes a thread */
{
    cudaFuncAttributes code;
    CHECK(cudaFuncGetAttributes(&code, kernel));
    return code.localSizeBytes;
}

static void task(void)
{
    const double MB = 1e-6 * (sizeof host + sizeof expected);
    int *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) expected[(host[i] = RANDOM(i) >> 18) * ALL + i % ALL]++;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = sizeof host + sizeof expected;
    while (again(out)) CHECK(cudaMemcpyAsync(out, in, work / 2, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, NULL);
    while (again(out)) count_in_shared<<<BLOCKS, THREADS>>>(in, out);
    row("shared; any index (right)", N, OUT, local(count_in_shared), MB, out);
    while (again(out)) count_in_registers<<<BLOCKS, THREADS>>>(in, out);
    double own = row("registers; constant indices", N, OUT, local(count_in_registers), MB, out);
    while (again(out)) count_spilled<<<BLOCKS, THREADS>>>(in, out);
    double spilled = row("registers too few: spilled", N, OUT, local(count_spilled), MB, out) / own;
    while (again(out)) count_indexed<<<BLOCKS, THREADS>>>(in, out);
    double indexed = row("local; any index", N, OUT, local(count_indexed), MB, out);

    printf("\nComputed: 64 counters take 256 bytes; a number costs a load and a store of one.\n");
    if (ON_CPU) return;
    printf("Local: %.2f times the time; %s.\nSpilling: %.2f times; %s.\n", indexed,
           indexed > 1.1 ? "a warp reaches many cache lines" : "the L1 cache keeps up", spilled,
           spilled > 1.1 ? "loads and stores come on top" : "more threads make up for it");
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
