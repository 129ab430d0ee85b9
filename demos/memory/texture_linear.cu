/* texture_linear.cu - textures of linear memory: elements by number, with zeros beyond both ends.

   A texture can be a view of memory from cudaMalloc. tex1Dfetch reads an element by its number,
   without a filter, and gives 0 for numbers outside. The memory stays as it is, so that kernels and
   copies can write it between launches. By hand a comparison does the same.
   Build and run: nvcc -O3 -arch=native texture_linear.cu -o linear && ./linear [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "texture_linear"
#define TASK "sums three neighbours, 1000 apart; fetches: for an element"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 12 : 1 << 25, APART = 1000, THREADS = 256 };
enum { BLOCKS = N / THREADS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N];                 /* 128 MB each */

/* Element I of N, or 0 beyond the ends; for the host, too. */
__host__ __device__ inline float element(const float *in, int i)
{
    return i >= 0 && i < N ? in[i] : 0;
}
/* Both: out[i] = in[i - 1000] + in[i] + in[i + 1000], a thread an element; 8 N bytes bound it. */
__global__ void sum_loaded(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = element(in, i - APART) + element(in, i) + element(in, i + APART);
}
__global__ void sum_fetched(cudaTextureObject_t in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float before = tex1Dfetch<float>(in, i - APART), after = tex1Dfetch<float>(in, i + APART);
    out[i] = before + tex1Dfetch<float>(in, i) + after;
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
    cudaResourceDesc at = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) host[i] = RANDOM(i) % 1000;
    for (int i = 0; i < N; i++)
        expected[i] = element(host, i - APART) + element(host, i) + element(host, i + APART);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    at.resType = cudaResourceTypeLinear, at.res.linear.devPtr = in;
    at.res.linear.sizeInBytes = sizeof host, at.res.linear.desc = cudaCreateChannelDesc<float>();
    CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
    work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "fetches", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,fetches,MB,ms,GB/s,x time,result\n");
    while (way("loads; comparisons (right)", 3.0 * N - 2 * APART, N, 0, 8e-6 * N, out))
        sum_loaded<<<BLOCKS, THREADS>>>(in, out);
    while (way("texture of linear memory", 0, N, 3, 8e-6 * N, out))
        sum_fetched<<<BLOCKS, THREADS>>>(texture, out);
    CHECK(cudaDestroyTextureObject(texture));
    printf("\nComputed: three fetches take the place of three loads and of six comparisons.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Texture: %.2f times the time; %s.\n", best / base,
           best < 0.95 * base   ? "comparisons cost more than fetches"
           : best < 1.05 * base ? "both are as fast"
                                : "fetches cost more than comparisons");
}
