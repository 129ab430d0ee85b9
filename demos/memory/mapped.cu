/* mapped.cu - mapped host memory (zero-copy): sums of numbers that stay in host memory.

   A kernel can read and write mapped, pinned host memory directly: each access crosses the bus. For
   data that a kernel needs once that is as good as a copy, and the kernel need not wait for the
   copy's end. Data that it needs more than once should be copied: device memory is many times as
   fast as the bus. On a device that shares the memory of the host (integrated graphics) nothing
   crosses a bus, and mapping always pays.

   Build and run: nvcc -O3 -arch=native mapped.cu -o mapped && ./mapped [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "sums host memory; passes: over it; MB: over the bus; limit: a copy"
#define EXTRA "passes"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, BLOCKS = 4 };
#else /* 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 1 << 26, BLOCKS = 1024 };
#endif
enum { THREADS = 256 };
static unsigned long long host[BLOCKS];

/* sums[block] = a part of the sum of N numbers, in each of PASSES; the host adds the parts. A thread
   loads four numbers at a time, N/4 loads a pass. Moves 4 N bytes a pass: device memory bounds it,
   or the bus. */
__global__ void sum_up(const int4 *in, unsigned long long *sums, int passes)
{
    __shared__ unsigned long long part[THREADS];
    unsigned long long sum = 0;
    for (int t = blockIdx.x * THREADS + threadIdx.x; passes-- > 0;)
        for (int i = t; i < N / 4; i += BLOCKS * THREADS) {
            int4 v = in[i];
            sum += (unsigned long long)v.x + v.y + v.z + v.w;
        }
    part[threadIdx.x] = sum;
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
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
static unsigned long long *sums, expected;

static int is_right(int passes)
{
    unsigned long long sum = 0;
    CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int b = 0; b < BLOCKS; b++) sum += host[b];
    return sum == passes * expected;
}

static void task(void)
{
    const size_t bytes = sizeof(int) * N;
    const double MB = 1e-6 * bytes;
    int *numbers; /* of the host */
    int4 *mapped, *in;
    CHECK(cudaHostAlloc(&numbers, bytes, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&mapped, numbers, 0));
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&sums, sizeof host));
    for (int i = 0; i < N; i++) expected += numbers[i] = RANDOM(i);
    work = bytes;

    while (again(sums)) CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, -1);
    while (again(sums)) sum_up<<<BLOCKS, THREADS>>>(mapped, sums, 1);
    base = row("mapped (right)", N / 4, BLOCKS, 1, MB, is_right(1));
    while (again(sums)) {
        CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
        sum_up<<<BLOCKS, THREADS>>>(in, sums, 1);
    }
    double once = row("copied", N / 4, BLOCKS, 1, MB, is_right(1)) / base;
    while (again(sums)) {
        CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
        sum_up<<<BLOCKS, THREADS>>>(in, sums, 8);
    }
    base = 0, base = row("copied; 8 passes (right)", 2 * N, BLOCKS, 8, MB, is_right(8));
    while (again(sums)) sum_up<<<BLOCKS, THREADS>>>(mapped, sums, 8);
    double often = row("mapped; 8 passes", 2 * N, BLOCKS, 8, 8 * MB, is_right(8)) / base;

    printf("\nComputed: 8 passes over mapped memory move 8 times the bytes of one copy.\n");
    if (!ON_CPU)
        printf("One pass, copied: %.2f times the time; %s.\n8 passes, mapped: %.2f times; %s.\n",
               once,
               once > 1.1   ? "the kernel waits for the copy"
               : once > 0.9 ? "the bus is the limit of both"
                            : "copies use the bus better",
               often, often > 1.5 ? "each crosses the bus" : "caches keep it, or there is no bus");
    CHECK(cudaFreeHost(numbers));
    CHECK(cudaFree(in));
    CHECK(cudaFree(sums));
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
