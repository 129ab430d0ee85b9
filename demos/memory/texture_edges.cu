/* texture_edges.cu - textures beyond their edges: repeated and mirrored images.

   An array read by coordinates from 0 to 1 (normalized) is repeated (wrap), mirrored, clamped or
   framed by 0 beyond its edges, and filtered. By hand that is four loads with remainders.
   Build and run: nvcc -O3 -arch=native texture_edges.cu -o edges && ./edges [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "texture_edges"
#define TASK "reads an image beyond its edges; fetches: for a pixel"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 64 : 4096, ALL = N * N, SIDE = 16, WRAP = 0, MIRROR, FORMS };
static float host[ALL], expected[ALL], image[ALL]; /* 64 MB each */
/* Texel (x, y), at most N texels beyond an edge. */
__host__ __device__ inline float texel(const float *in, int x, int y, int form)
{
    int w = form == WRAP ? N : 2 * N; /* an image, or one and its mirror */
    x = (x + w) % w, y = (y + w) % w;
    return in[(y < N ? y : w - 1 - y) * N + (x < N ? x : w - 1 - x)];
}
/* Where pixel k of the turned image comes from, in texels; cosine and sine of 70 degrees. */
__host__ __device__ inline float2 source_of(int k)
{
    float i = k % N + 0.5f - N / 2, j = k / N + 0.5f - N / 2, c = 0.342020143f, s = 0.939692621f;
    return make_float2(c * i - s * j + N / 2, s * i + c * j + N / 2);
}
__host__ __device__ inline float by_hand(const float *in, int k, int form)
{
    float2 at = source_of(k);
    int x = (int)floorf(at.x - 0.5f), y = (int)floorf(at.y - 0.5f);
    float a = at.x - 0.5f - x, b = at.y - 0.5f - y;
    return (1 - b) * ((1 - a) * texel(in, x, y, form) + a * texel(in, x + 1, y, form)) +
           b * ((1 - a) * texel(in, x, y + 1, form) + a * texel(in, x + 1, y + 1, form));
}
/* Both: out = the image turned, a thread a pixel, blocks of 16 x 16; 8 N^2 bytes bound it, or the loads. */
__global__ void load_all(const float *in, float *out, int form)
{
    int k = (blockIdx.y * SIDE + threadIdx.y) * N + blockIdx.x * SIDE + threadIdx.x;
    out[k] = by_hand(in, k, form);
}
__global__ void fetch_all(cudaTextureObject_t in, float *out)
{
    int k = (blockIdx.y * SIDE + threadIdx.y) * N + blockIdx.x * SIDE + threadIdx.x;
    float2 at = source_of(k);
    out[k] = tex2D<float>(in, at.x / N, at.y / N);
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
    static const char *const name[FORMS][2] = {{"wrap; array (right)", "wrap; by hand"},
                                               {"mirror; array (right)", "mirror; by hand"}};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc at = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    const dim3 grid(N / SIDE, N / SIDE), block(SIDE, SIDE);
    const double MB = 1e-6 * (work = 8.0 * ALL);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocArray(&at.res.array.array, &format, N, N)), at.resType = cudaResourceTypeArray;
    for (int k = 0; k < ALL; k++) image[k] = (k * 2654435761u >> 8) / 16777216.0f;
    CHECK(cudaMemcpy(in, image, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpy2DToArray(at.res.array.array, 0, 0, image, 4 * N, 4 * N, N, cudaMemcpyDefault));
    how.normalizedCoords = 1, how.filterMode = cudaFilterModeLinear;
    allowed = 1e-6 * N + 2.0 / 256; /* coordinates are rounded; weights have 8 bits */
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "fetches", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,fetches,MB,ms,GB/s,x time,result\n");
    for (int form = 0; form < FORMS; form++, CHECK(cudaDestroyTextureObject(texture))) {
        how.addressMode[0] = form == WRAP ? cudaAddressModeWrap : cudaAddressModeMirror;
        how.addressMode[1] = how.addressMode[0];
        CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
        for (int k = 0; k < ALL; k++) expected[k] = by_hand(image, k, form);
        while (way(name[form][0], 0, ALL, 1, MB, out)) fetch_all<<<grid, block>>>(texture, out);
        while (way(name[form][1], 4 * ALL, ALL, 0, MB, out))
            load_all<<<grid, block>>>(in, out, form);
    }
    CHECK(cudaFreeArray(at.res.array.array));
    printf("\nComputed: a filtered fetch takes the place of four loads and of their edges.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Mirrored by hand: %.2f times the time.\n", best / base);
}
