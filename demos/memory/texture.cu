/* texture.cu - textures: an image turned by 70 degrees, filtered by hardware and by hand.

   A texture is a read-only view of an array whose texels are stored in small squares: neighbours in
   both directions are close in memory. A unit beside the L1 cache clamps at the edges and mixes the
   four texels around a point, by weights of 8 bits. In row-major global memory the points of a warp
   on a slanted line are in as many rows.
   Build and run: nvcc -O3 -arch=native texture.cu -o texture && ./texture [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "texture"
#define TASK "turns an image; fetches: for a pixel"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 96 : 4096, SIDE = 16 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N * N], expected[N * N];         /* two images of 64 MB */

/* Where pixel (i, j) of the turned image comes from, in texels; cosine and sine of 70 degrees. */
__host__ __device__ inline float2 source_of(int i, int j)
{
    float x = i + 0.5f - N / 2, y = j + 0.5f - N / 2, c = 0.342020143f, s = 0.939692621f;
    return make_float2(c * x - s * y + N / 2, s * x + c * y + N / 2);
}
/* Four loads of row-major memory, with the edges and the mixture by hand; for the host, too. */
__host__ __device__ inline float mixture(const float *in, float2 at)
{
    int x = (int)floorf(at.x - 0.5f), y = (int)floorf(at.y - 0.5f);
    float a = at.x - 0.5f - x, b = at.y - 0.5f - y;
    const float *up = in + min(max(y, 0), N - 1) * N, *down = in + min(max(y + 1, 0), N - 1) * N;
    int left = min(max(x, 0), N - 1), right = min(max(x + 1, 0), N - 1);
    return (1 - b) * ((1 - a) * up[left] + a * up[right]) +
           b * ((1 - a) * down[left] + a * down[right]);
}
/* Both: out = the image turned, a thread a pixel; 8 N^2 bytes bound the first, loads the second. */
__global__ void turn_filtered(cudaTextureObject_t in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    float2 from = source_of(i, j);
    out[j * N + i] = tex2D<float>(in, from.x, from.y);
}
__global__ void turn_loaded(const float *in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    out[j * N + i] = mixture(in, source_of(i, j));
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
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc at = {}; /* of an array */
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    dim3 grid(N / SIDE, N / SIDE), block(SIDE, SIDE);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocArray(&at.res.array.array, &format, N, N));
    for (int k = 0; k < N * N; k++) host[k] = RANDOM(k) / 16777216.0f;
    for (int k = 0; k < N * N; k++) expected[k] = mixture(host, source_of(k % N, k / N));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(at.res.array.array, 0, 0, host, 4 * N, 4 * N, N, cudaMemcpyDefault));
    at.resType = cudaResourceTypeArray, how.filterMode = cudaFilterModeLinear;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
    work = 8.0 * N * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "fetches", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,fetches,MB,ms,GB/s,x time,result\n");
    allowed = 1e-6 * N + 2.0 / 256; /* coordinates are rounded, and weights have 8 bits */
    while (way("texture; filtered (right)", 0, N * N, 1, work * 1e-6, out))
        turn_filtered<<<grid, block>>>(texture, out);
    allowed = 1e-6 * N;
    while (way("global; four loads", 4 * N * N, N * N, 0, work * 1e-6, out))
        turn_loaded<<<grid, block>>>(in, out);
    printf("\nComputed: one filtered fetch takes the place of four loads and their mixture.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Global memory: %.2f times the time; %s.\n", best / base,
           best > 1.1 * base ? "four loads, from many rows" : "caches serve slanted lines as well");
}
