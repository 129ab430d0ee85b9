/* global.cu - global memory: one operation on every element, in four orders of access.

   Global memory is the large memory of the device. It is read and written in sectors of 32 bytes.
   A warp whose 32 threads touch 32 neighbouring floats needs 4 sectors (a coalesced access). 32
   floats far apart need 32 sectors, of which 7 parts in 8 are moved for nothing.
   Build and run: nvcc -O3 -arch=native global.cu -o global && ./global [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "global"
#define TASK "2 x + 1 for an array; sectors: that a warp touches to load 32 floats"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, THREADS = 256, BLOCKS = N / THREADS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N]; /* of 256 MB on a GPU: several times the L2 cache */

/* All kernels: out = 2 in + 1 for N floats; 8 N bytes at least, and device memory bounds them. A
   thread a float, neighbours to neighbours: grid N/256. The threads of a warp start at the first
   element of a sector, or SHIFT floats after it; the last SHIFT threads do the first elements. */
__global__ void scale(const float *in, float *out, int shift)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x + shift) % N;
    out[i] = 2 * in[i] + 1;
}

/* A thread four floats in one instruction: grid N/4/256. */
__global__ void scale_four(const float4 *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}

/* A thread a float, neighbours STRIDE floats apart, as when the columns of a matrix with rows of
   STRIDE floats are walked: grid N/256. The floats between are touched much later. */
__global__ void scale_strided(const float *in, float *out, int stride)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t % (N / stride) * stride + t / (N / stride);
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
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) host[i] = expected[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = 8.0 * N;

    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "sectors", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,sectors,MB,ms,GB/s,x time,result\n");
    while (way("cudaMemcpy: the limit", 0, 0, 0, MB, out))
        CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    for (int i = 0; i < N; i++) expected[i] = 2 * (float)RANDOM(i) + 1;
    while (way("float4 (right)", N / 4, N / 4, 4, MB, out))
        scale_four<<<BLOCKS / 4, THREADS>>>((float4 *)in, (float4 *)out);
    while (way("float; neighbours", N, N, 4, MB, out)) scale<<<BLOCKS, THREADS>>>(in, out, 0);
    double one = best / base;
    while (way("float; one off", N, N, 5, MB, out)) scale<<<BLOCKS, THREADS>>>(in, out, 1);
    while (way("float; every 32nd", N, N, 32, 8 * MB, out))
        scale_strided<<<BLOCKS, THREADS>>>(in, out, 32);
    double far = best / base;
    printf("\nComputed: float4 loads a quarter as often; every 32nd moves 8 times the bytes.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --report counts the sectors.");
    printf("Every 32nd: %.1f times the time; %s.\nfloat: %.2f times; %s.\n", far,
           far > 2 ? "each float moves a sector of 32 bytes" : "caches keep the other floats", one,
           one > 1.05 ? "float4 has more bytes under way" : "float keeps memory busy");
}
