/* local.cu - local memory: a histogram whose counters of a thread are in registers, or are not.

   Local memory belongs to one thread like a register, but it is device memory behind the caches. A
   thread's array is put there when an index is not known at compile time, since registers have no
   addresses, and when a kernel needs more registers than it may have (spilling). What is there
   costs a load and a store each time. Two remedies: constant indices (unrolled loops, here with a
   comparison for each counter), or a column of shared memory for each thread.

   Build and run: nvcc -O3 -arch=native local.cu -o local && ./local [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "histograms, one a thread; local B: bytes a thread, as the compiler says"
#define EXTRA "local B"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, BLOCKS = 2 };
#else
enum { ON_CPU = 0, N = 1 << 25, BLOCKS = 512 };
#endif
enum { THREADS = 128, ALL = BLOCKS * THREADS, BINS = 64 };
static int host[N], expected[BINS * ALL];

/* All kernels: each of 512 x 128 threads counts how often each of 64 values stands in every 65536th
   of N numbers, out[value][thread]. Moves 4 N + 4 x 64 x 65536 bytes of global memory. */

/* 64 counters with constant indices: 64 comparisons a number, and these bound it. */
__device__ __forceinline__ void count_unrolled(const int *in, int *out)
{
    int count[BINS] = {0}, thread = blockIdx.x * THREADS + threadIdx.x;
    for (int i = thread; i < N; i += ALL) {
        int value = in[i];
#pragma unroll
        for (int b = 0; b < BINS; b++) count[b] += value == b;
    }
#pragma unroll
    for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b];
}

__global__ void __launch_bounds__(THREADS, 1) count_in_registers(const int *in, int *out)
{
    count_unrolled(in, out);
}

/* The same for blocks of up to 1024 threads: 64 registers a thread, too few for 64 counters. */
__global__ void __launch_bounds__(1024, 1) count_spilled(const int *in, int *out)
{
    count_unrolled(in, out);
}

/* The index is known at run time only: one load and one store of local memory a number. The threads
   of a warp have different values, so different lines of the cache, and that bounds it. */
__global__ void count_indexed(const int *in, int *out)
{
    int count[BINS] = {0}, thread = blockIdx.x * THREADS + threadIdx.x;
    for (int i = thread; i < N; i += ALL) count[in[i]]++;
    for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b];
}

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
static double work, limit, base; /* of a way; the highest rate; seconds that are 1 in "x time" */
static float best;               /* milliseconds */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;

/* RANDOM: a number below 2^24 that belongs to i. CHECK: an error ends the program. */
#define RANDOM(i)   (((unsigned)(i)*2654435761u ^ (unsigned)(i) >> 9) * 2246822519u >> 8)
#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms;
    CHECK(cudaGetLastError());
    if (runs > 0) {
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = runs == 1 || ms < best ? ms : best;
    }
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row and gives the seconds; OK is negative if nothing was compared. */
static double row(const char *way, double loads, double stores, double extra, double MB, int ok)
{
    double s = best * 1e-3, rate = work / s, times = base > 0 ? s / base : 1;
    limit = limit > 0 ? limit : rate; /* that of the first way, if nothing else is known */
    failures += !ok;
    for (int f = 0; f < (csv ? 2 : 1); f++) {
        FILE *file = f ? csv : stdout;
        fprintf(file, f ? "%s,%.0f,%.0f,%g,%.2f" : "%-31s%12.0f%12.0f%9g%9.2f", way, loads, stores,
                extra, MB);
        if (ON_CPU) /* where times mean nothing */
            fputs(f ? ",,,," : "        -        -        -       -", file);
        else
            fprintf(file, f ? ",%.4f,%.1f,%.1f,%.2f" : "%9.4f%9.1f%9.1f%8.2f", best, rate * 1e-9,
                    100 * rate / limit, times);
        fprintf(file, f ? ",%s\n" : "%8s\n", ok < 0 ? "-" : ok ? "ok" : "WRONG");
    }
    return s;
}

/* ---- the task ------------------------------------------------------------------------------ */
static double result(const char *way, void (*kernel)(const int *, int *), const int *out)
{
    cudaFuncAttributes code;
    CHECK(cudaFuncGetAttributes(&code, kernel));
    CHECK(cudaMemcpy(host, out, sizeof expected, cudaMemcpyDeviceToHost));
    return row(way, N, BINS * ALL, (double)code.localSizeBytes, work * 1e-6,
               memcmp(host, expected, sizeof expected) == 0);
}

static void task(void)
{
    int *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) /* of 24 bits, 6 */
        expected[(host[i] = RANDOM(i) >> 18) * ALL + i % ALL]++;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = sizeof host + sizeof expected;

    while (again(out)) CHECK(cudaMemcpyAsync(out, in, work / 2, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, work * 1e-6, -1);
    while (again(out)) count_in_shared<<<BLOCKS, THREADS>>>(in, out);
    base = result("shared; any index (right)", count_in_shared, out);
    while (again(out)) count_in_registers<<<BLOCKS, THREADS>>>(in, out);
    double registers = result("registers; constant indices", count_in_registers, out);
    while (again(out)) count_spilled<<<BLOCKS, THREADS>>>(in, out);
    double spilled = result("registers too few: spilled", count_spilled, out) / registers;
    while (again(out)) count_indexed<<<BLOCKS, THREADS>>>(in, out);
    double indexed = result("local; any index", count_indexed, out) / base;

    printf("\nComputed: 64 counters take 256 bytes; a number costs a load and a store of one.\n");
    if (!ON_CPU)
        printf("Local: %.2f times the time; %s.\nSpilling: %.2f times; %s.\n", indexed,
               indexed > 1.1 ? "a warp reaches many cache lines" : "the L1 cache keeps up", spilled,
               spilled > 1.1 ? "loads and stores come on top" : "more threads make up for it");
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

/* ---- the same in every demo ---------------------------------------------------------------- */
int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--help") == 0)
        return printf("usage: %s [--csv FILE]\n%s\n", words[0], TASK) < 0;
    if (count == 3 && strcmp(words[1], "--csv") == 0) csv = fopen(words[2], "w");
    if (count > 1 && !csv) {
        fprintf(stderr, "%s: cannot understand or write %s\n", words[0], words[count - 1]);
        return 2;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
           "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
    if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
    task();
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
