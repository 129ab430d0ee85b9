/* texture_edges.cu - textures beyond their edges: zeros, repeated and mirrored images.

   The texture unit answers for coordinates outside. A texture of linear memory (tex1Dfetch, read by
   element) gives 0 there. An array read by coordinates from 0 to 1 (normalized) is repeated (wrap)
   or mirrored, also clamped or framed by 0. By hand that is a comparison or a remainder each time.
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
enum { ON_CPU = __CUCC__, N = ON_CPU ? 64 : 4096, THREADS = 256, BLOCKS = N * N / THREADS };
enum { ZEROS, WRAP, MIRROR, FORMS, SHIFT = 1000 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N * N], expected[N * N];         /* two images of 64 MB */

/* Number k of the result; for the host, too. ZEROS: the array shifted by 1000 elements. Else the
   image three times in each direction, from texel (3 x - N, 3 y - N) on. */
__host__ __device__ inline float by_hand(const float *in, int k, int form)
{
    int x = 3 * (k % N) - N, y = 3 * (k / N) - N, w = 2 * N;
    if (form == ZEROS) return k < SHIFT ? 0 : in[k - SHIFT];
    if (form == WRAP) return in[(y + N) % N * N + (x + N) % N];
    x = (x + w) % w, y = (y + w) % w; /* of an image and its mirror */
    return in[(y < N ? y : w - 1 - y) * N + (x < N ? x : w - 1 - x)];
}
/* Both: the result, a thread a number; 8 N^2 bytes, bound by memory. */
__global__ void load_all(const float *in, float *out, int form)
{
    int k = blockIdx.x * THREADS + threadIdx.x;
    out[k] = by_hand(in, k, form);
}
__global__ void fetch_all(cudaTextureObject_t in, float *out, int form)
{
    int k = blockIdx.x * THREADS + threadIdx.x;
    float x = (3 * (k % N) - N + 0.5f) / N, y = (3 * (k / N) - N + 0.5f) / N;
    out[k] = form == ZEROS ? tex1Dfetch<float>(in, k - SHIFT) : tex2D<float>(in, x, y);
}
/* ---- the harness, the same in every demo: while (way(...)) RUN makes a row of the best of nine -- */
#define CHECK(call) check(call, #call)
static double work, allowed, base, best; /* of a way; a difference; ms: of "(right)", of this way */
static int failures, runs;
static FILE *csv;
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
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
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
    fprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.2f,%s\n", name, loads, stores, extra, MB, best,
            work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    return runs = 0;
}
int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    csv = fopen(argc == 3 && !strcmp(argv[1], "--csv") ? argv[2] : "/dev/null", "w");
    if (!csv || (argc > 1 && !help && (argc != 3 || strcmp(argv[1], "--csv"))))
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    puts(help ? "usage: " NAME " [--csv FILE]\n" TASK : TASK);
    if (!help) CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop)), task();
    if (fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
    if (!help) CHECK(cudaDeviceReset()), printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    if (fflush(stdout) != 0 && errno != EPIPE) perror(NAME ": standard output");
    return failures > 0 || ferror(stdout);
}
static void task(void)
{
    static const char *const name[FORMS][2] = {{"zeros; linear (right)", "zeros; by hand"},
                                               {"wrap; array (right)", "wrap; by hand"},
                                               {"mirror; array (right)", "mirror; by hand"}};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaTextureObject_t texture;
    cudaArray_t array;
    double x[FORMS];
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocArray(&array, &format, N, N));
    for (int k = 0; k < N * N; k++) host[k] = RANDOM(k);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 4 * N, 4 * N, N, cudaMemcpyDefault));
    const double MB = 1e-6 * (work = 8.0 * N * N);
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "fetches", "MB", "ms",
           "GB/s", "x time", "result");
    fprintf(csv, "way,loads,stores,fetches,MB,ms,GB/s,x time,result\n");
    for (int form = 0; form < FORMS; x[form++] = best / base) {
        cudaResourceDesc at = {};
        cudaTextureDesc how = {};
        at.resType = form == ZEROS ? cudaResourceTypeLinear : cudaResourceTypeArray;
        if (form == ZEROS) at.res.linear.devPtr = in, at.res.linear.sizeInBytes = sizeof host;
        if (form == ZEROS) at.res.linear.desc = format;
        if (form != ZEROS) at.res.array.array = array, how.normalizedCoords = 1;
        how.addressMode[0] = form == WRAP ? cudaAddressModeWrap : cudaAddressModeMirror;
        how.addressMode[1] = how.addressMode[0];
        CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
        CHECK(cudaMemcpy(host, in, sizeof host, cudaMemcpyDefault));
        for (int k = 0; k < N * N; k++) expected[k] = by_hand(host, k, form);
        while (way(name[form][0], 0, N * N, 1, MB, out))
            fetch_all<<<BLOCKS, THREADS>>>(texture, out, form);
        while (way(name[form][1], N * N - (form ? 0 : SHIFT), N * N, 0, MB, out))
            load_all<<<BLOCKS, THREADS>>>(in, out, form);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
    printf("\nComputed: a fetch takes the place of a load and of the arithmetic for its edges.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU: the CPU runner counts and checks.");
    printf("By hand: zeros %.2f times the time, wrap %.2f, mirror %.2f.\n", x[0], x[1], x[2]);
}
