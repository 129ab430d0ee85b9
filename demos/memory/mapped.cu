/* mapped.cu - mapped host memory (zero-copy): sums of numbers that stay in host memory.

   A kernel can read and write mapped, pinned host memory directly: each access crosses the bus. For
   data that a kernel needs once that is as good as a copy, and the kernel need not wait for the
   copy's end. Data that it needs more than once should be copied: device memory is many times as
   fast as the bus. On a device that shares the memory of the host (integrated graphics) nothing
   crosses a bus, and mapping always pays.

   Build and run: nvcc -O3 -arch=native mapped.cu -o mapped && ./mapped [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "mapped"
#define TASK  "sums host memory; passes: over it; MB: over the bus; limit: a copy"
#define EXTRA "passes"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif /* 256 MB: several times the L2 cache */
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, BLOCKS = ON_CPU ? 4 : 1024 };
enum { THREADS = 256 };
static long long host[BLOCKS], expected[BLOCKS];

/* sums[block] = a part of the sum of N numbers, in each of PASSES. A thread loads four numbers at a
   time, N/4 loads a pass. Moves 4 N bytes a pass: device memory bounds it, or the bus. */
__global__ void sum_up(const int4 *in, long long *sums, int passes)
{
    __shared__ long long part[THREADS];
    long long sum = 0;
    for (int t = blockIdx.x * THREADS + threadIdx.x; passes-- > 0;)
        for (int i = t; i < N / 4; i += BLOCKS * THREADS) {
            int4 v = in[i];
            sum += (long long)v.x + v.y + v.z + v.w;
        }
    part[threadIdx.x] = sum;
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
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

static void task(void)
{
    const size_t bytes = sizeof(int) * N;
    const double MB = 1e-6 * bytes;
    int *numbers; /* of the host */
    int4 *mapped, *in;
    long long *sums;
    CHECK(cudaHostAlloc(&numbers, bytes, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&mapped, numbers, 0));
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&sums, sizeof host));
    for (int i = 0; i < N; i++) expected[i / 4 / THREADS % BLOCKS] += numbers[i] = RANDOM(i);
    work = bytes;

    while (again(sums)) CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, NULL);
    while (again(sums)) sum_up<<<BLOCKS, THREADS>>>(mapped, sums, 1);
    row("mapped (right)", N / 4, BLOCKS, 1, MB, sums);
    while (again(sums)) {
        CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
        sum_up<<<BLOCKS, THREADS>>>(in, sums, 1);
    }
    double once = row("copied", N / 4, BLOCKS, 1, MB, sums);
    for (int b = 0; b < BLOCKS; b++) expected[b] *= 8;
    while (again(sums)) {
        CHECK(cudaMemcpyAsync(in, numbers, bytes, cudaMemcpyHostToDevice));
        sum_up<<<BLOCKS, THREADS>>>(in, sums, 8);
    }
    row("copied; 8 passes (right)", 2 * N, BLOCKS, 8, MB, sums);
    while (again(sums)) sum_up<<<BLOCKS, THREADS>>>(mapped, sums, 8);
    double often = row("mapped; 8 passes", 2 * N, BLOCKS, 8, 8 * MB, sums);

    printf("\nComputed: 8 passes over mapped memory move 8 times the bytes of one copy.\n");
    if (!ON_CPU)
        printf("One pass, copied: %.2f times the time; %s.\n8 passes, mapped: %.2f times; %s.\n",
               once,
               once > 1.1   ? "the kernel waits for the copy"
               : once > 0.9 ? "the bus is the limit of both"
                            : "copies use the bus better",
               often, often > 1.5 ? "each crosses the bus" : "caches keep it, or there is no bus");
    CHECK(cudaFreeHost(numbers));
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
