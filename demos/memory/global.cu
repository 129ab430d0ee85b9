/* global.cu - global memory: one operation on every element, in four orders of access.

   Global memory is the large memory of the device. It is read and written in sectors of 32 bytes:
   the 32 threads of a warp that touch 32 neighbouring floats need 4 sectors (a coalesced access),
   and 32 floats far apart need 32 sectors, of which 7 parts in 8 are moved for nothing.

   Build and run: nvcc -O3 -arch=native global.cu -o global && ./global [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "global"
#define TASK  "2 x + 1 for an array; sectors: that a warp touches to load 32 floats"
#define EXTRA "sectors"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif /* two arrays of 256 MB: several times the L2 cache */
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, THREADS = 256, BLOCKS = N / THREADS };
static float host[N], expected[N];

/* All kernels: out = 2 in + 1 for N floats; 8 N bytes at least, and device memory bounds them. */

/* A thread a float, neighbours to neighbours: grid N/256. The threads of a warp start at the first
   element of a sector, or SHIFT floats behind it; the last SHIFT threads do the first elements. */
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
    const double MB = 8e-6 * N;
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) host[i] = expected[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = 8.0 * N;

    while (again(out)) CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, out);
    for (int i = 0; i < N; i++) expected[i] = 2 * (float)RANDOM(i) + 1;
    while (again(out)) scale<<<BLOCKS, THREADS>>>(in, out, 0);
    row("float (right)", N, N, 4, MB, out);
    while (again(out)) scale_four<<<BLOCKS / 4, THREADS>>>((float4 *)in, (float4 *)out);
    double four = row("float4 (also right)", N / 4, N / 4, 4, MB, out);
    while (again(out)) scale<<<BLOCKS, THREADS>>>(in, out, 1);
    row("float; one off", N, N, 5, MB, out);
    while (again(out)) scale_strided<<<BLOCKS, THREADS>>>(in, out, 32);
    double far = row("float; every 32nd", N, N, 32, 8 * MB, out);

    printf("\nComputed: float4 loads a quarter as often; every 32nd moves 8 times the bytes.\n");
    if (ON_CPU) return;
    printf("Every 32nd: %.1f times the time; %s.\nfloat4: %.2f times; %s.\n", far,
           far > 2 ? "each float moves a sector of 32 bytes" : "caches keep the other floats", four,
           four < 0.95 ? "an instruction moves more bytes" : "float keeps memory busy");
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
