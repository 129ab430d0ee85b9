/* device_variable.cu - __device__ variables: arrays that the program owns, and how to reach them.

   A __device__ variable is global memory that exists as long as the program. Kernels name it, the
   host asks for its address (cudaGetSymbolAddress) or copies by its name; &variable on the host is
   another address, of no use. It is as fast as memory from cudaMalloc. To copy data into it, only
   so that a kernel can name them, costs more than to pass a pointer.
   Build and run: nvcc -O3 -arch=native device_variable.cu -o variable && ./variable [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "device_variable"
#define TASK "2 x + 1 for an array; copies: before the kernel"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, THREADS = 256 }; /* 128 MB an array */
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N];
__device__ float in_variable[N], out_variable[N];
__device__ int launches; /* 0 when the program starts */

/* Both: out = 2 in + 1, a thread a float, 8 N bytes, bound by device memory. */
__global__ void scale_variable(void)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out_variable[i] = 2 * in_variable[i] + 1;
    if (i == 0) launches++; /* kept from one launch to the next */
}
__global__ void scale_pointer(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = 2 * in[i] + 1;
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
    const double MB = 8e-6 * N;
    float *in, *out, *variable;
    int blocks = N / THREADS, launched, kHz, bits;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaGetSymbolAddress((void **)&variable, out_variable));
    for (int i = 0; i < N; i++) expected[i] = 2 * (host[i] = RANDOM(i) % 1000) + 1;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpyToSymbol(in_variable, host, sizeof host));
    work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "copies", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,copies,MB,ms,GB/s,x time,result\n");
    while (way("variable (right)", N, N, 0, MB, variable)) scale_variable<<<blocks, THREADS>>>();
    while (way("cudaMalloc (also right)", N, N, 0, MB, out))
        scale_pointer<<<blocks, THREADS>>>(in, out);
    double pointer = best / base, fastest = best < base ? best : base;
    while (way("copied into the variable", N, N, 1, 2 * MB, variable)) {
        CHECK(cudaMemcpyToSymbolAsync(in_variable, in, sizeof host, 0, cudaMemcpyDeviceToDevice));
        scale_variable<<<blocks, THREADS>>>();
    }
    CHECK(cudaMemcpyFromSymbol(&launched, launches, sizeof launched));
    failures += launched != (ON_CPU ? 2 : 18);
    printf("\nComputed: the copy moves as many bytes as the kernel. Launches counted: %d.\n",
           launched);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --report counts loads and stores.");
    CHECK(cudaDeviceGetAttribute(&kHz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    printf("cudaMalloc: %.2f times the time. Copied: %.2f times.\n", pointer, best / base);
    if (kHz > 0 && bits > 0) /* two transfers a clock */
        printf("Memory: %d bits at %d MHz give %.0f GB/s in theory; %.0f %% were reached.\n", bits,
               kHz / 1000, 2e-6 * kHz * bits / 8, 100 * work / fastest / (2.0 * kHz * bits / 8));
}
