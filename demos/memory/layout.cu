/* layout.cu - arrays of structs against structs of arrays, and aligned vectors.

   Threads that read one field of neighbouring structs of 32 bytes touch a sector of 32 bytes each:
   7 parts in 8 are moved for nothing. An array for each field gives a warp 4 sectors. All fields are
   the same bytes either way; two aligned vectors of 16 bytes then take the place of eight loads.
   Build and run: nvcc -O3 -arch=native layout.cu -o layout && ./layout [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "layout"
#define TASK "reads fields of N structs of 8 floats; sectors: that a warp touches with a load"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 12 : 1 << 24, FIELDS = 8 };
enum { THREADS = 256, BLOCKS = N / THREADS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[FIELDS * N], expected[N];        /* 512 MB: more than L2 holds */
struct __align__(16) body
{
    float f[FIELDS]; /* x, y, z, mass, ... */
};
/* All kernels: out[i] = the sum of the first fields, or of all 8, of struct i: a thread a struct.
   4 N bytes written, 4 N or 32 N read at least; device memory bounds them. */
__global__ void sum_arrays(const float *in, float *out, int fields)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int f = 0; f < fields; f++) sum += in[(size_t)f * N + i];
    out[i] = sum;
}
__global__ void one_of_structs(const struct body *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i].f[0];
}
/* Volatile, so that the compiler does not join the loads of neighbouring fields. */
__global__ void sum_structs(const volatile struct body *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int f = 0; f < FIELDS; f++) sum += in[i].f[f];
    out[i] = sum;
}
__global__ void sum_vectors(const float4 *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 a = in[2 * i], b = in[2 * i + 1];
    out[i] = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
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
    float *arrays, *structs, *out;
    CHECK(cudaMalloc(&arrays, sizeof host)), CHECK(cudaMalloc(&structs, sizeof host));
    CHECK(cudaMalloc(&out, sizeof expected));
    for (int e = 0; e < FIELDS * N; e++) host[e] = RANDOM(e) % 1000; /* struct by struct */
    CHECK(cudaMemcpy(structs, host, sizeof host, cudaMemcpyDefault));
    for (int e = 0; e < FIELDS * N; e++) host[e] = RANDOM(e % N * FIELDS + e / N) % 1000;
    CHECK(cudaMemcpy(arrays, host, sizeof host, cudaMemcpyDefault));
    for (int i = 0; i < N; i++) expected[i] = host[i];
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "sectors", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,sectors,MB,ms,GB/s,x time,result\n");
    work = 8.0 * N;
    while (way("one field; arrays (right)", N, N, 4, 8e-6 * N, out))
        sum_arrays<<<BLOCKS, THREADS>>>(arrays, out, 1);
    while (way("one field; structs", N, N, 32, 36e-6 * N, out))
        one_of_structs<<<BLOCKS, THREADS>>>((struct body *)structs, out);
    const double one = best / base, all = work = 36.0 * N; /* bytes */
    for (int e = N; e < FIELDS * N; e++) expected[e % N] += RANDOM(e % N * FIELDS + e / N) % 1000;
    while (way("all; arrays (right)", 8.0 * N, N, 4, 1e-6 * all, out))
        sum_arrays<<<BLOCKS, THREADS>>>(arrays, out, FIELDS);
    while (way("all; structs by two float4", 2.0 * N, N, 32, 1e-6 * all, out))
        sum_vectors<<<BLOCKS, THREADS>>>((float4 *)structs, out);
    double vectors = best / base;
    while (way("all; structs by eight floats", 8.0 * N, N, 32, 1e-6 * all, out))
        sum_structs<<<BLOCKS, THREADS>>>((struct body *)structs, out);
    printf("\nComputed: one field of structs moves 4.5 times the bytes; all fields the same.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --report counts the sectors.");
    printf("Structs: one field %.2f times the time; all by float4 %.2f times, by float %.2f.\n",
           one, vectors, best / base);
}
