/* texture_volume.cu - textures of three dimensions: a volume seen from its side.

   A texture of three dimensions is filtered from 8 voxels by one fetch, with weights of 8 bits. Its
   voxels lie in small blocks, so that neighbours in all directions are close in memory. By hand that
   is 8 loads and their mixture; here neighbouring threads read along columns.
   Build and run: nvcc -O3 -arch=native texture_volume.cu -o volume && ./volume [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "texture_volume"
#define TASK "turns a volume, and moves it by a quarter of a voxel; fetches: for a voxel"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, SIDE = ON_CPU ? 16 : 256, N = SIDE * SIDE * SIDE, EDGE = 16 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N];                 /* 64 MB */
/* Voxel k of the result: x and z exchanged, a mixture of 8 voxels; for the host, too. */
__host__ __device__ inline float mixture(const float *in, int k)
{
    float sum = 0;
    for (int n = 0; n < 8; n++) {
        int right = n % 2, down = n / 2 % 2, back = n / 4, last = SIDE - 1;
        int x = min(k / SIDE / SIDE + right, last), y = min(k / SIDE % SIDE + down, last);
        int z = min(k % SIDE + back, last), weight = 27; /* of 64: 3/4 in each direction */
        weight /= (right ? 3 : 1) * (down ? 3 : 1) * (back ? 3 : 1);
        sum += weight / 64.0f * in[(z * SIDE + y) * SIDE + x];
    }
    return sum;
}
/* Both: a thread a voxel, blocks of 16 x 1 x 16; 8 N bytes, bound by memory, or by 8 loads. */
__device__ int voxel(void)
{
    int x = blockIdx.x * EDGE + threadIdx.x, z = blockIdx.y * EDGE + threadIdx.y;
    return (z * SIDE + blockIdx.z) * SIDE + x;
}
__global__ void move_filtered(cudaTextureObject_t in, float *out)
{
    int k = voxel();
    float x = k / SIDE / SIDE + 0.75f, y = k / SIDE % SIDE + 0.75f, z = k % SIDE + 0.75f;
    out[k] = tex3D<float>(in, x, y, z);
}
__global__ void move_loaded(const float *in, float *out)
{
    int k = voxel();
    out[k] = mixture(in, k);
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
    cudaMemcpy3DParms copy = {};
    cudaResourceDesc at = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    const dim3 grid(SIDE / EDGE, SIDE / EDGE, SIDE), block(EDGE, EDGE);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    for (int k = 0; k < N; k++) host[k] = RANDOM(k) / 16777216.0f;
    for (int k = 0; k < N; k++) expected[k] = mixture(host, k);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    copy.extent = make_cudaExtent(SIDE, SIDE, SIDE), copy.kind = cudaMemcpyHostToDevice;
    copy.srcPtr = make_cudaPitchedPtr(host, 4 * SIDE, SIDE, SIDE);
    CHECK(cudaMalloc3DArray(&copy.dstArray, &format, copy.extent)), CHECK(cudaMemcpy3D(&copy));
    at.resType = cudaResourceTypeArray, at.res.array.array = copy.dstArray;
    for (int d = 0; d < 3; d++) how.addressMode[d] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
    work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "fetches", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,fetches,MB,ms,GB/s,x time,result\n");
    allowed = 3.0 / 256; /* weights have 8 bits in each direction */
    while (way("texture; filtered (right)", 0, N, 1, 8e-6 * N, out))
        move_filtered<<<grid, block>>>(texture, out);
    allowed = 1e-6;
    while (way("global; 8 loads", 8.0 * N, N, 0, 8e-6 * N, out))
        move_loaded<<<grid, block>>>(in, out);
    CHECK(cudaDestroyTextureObject(texture)), CHECK(cudaFreeArray(copy.dstArray));
    printf("\nComputed: one filtered fetch takes the place of 8 loads and their mixture.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Global memory: %.2f times the time; %s.\n", best / base,
           best > 1.1 * base ? "8 loads, down columns" : "caches serve the 8 loads as fast");
}
