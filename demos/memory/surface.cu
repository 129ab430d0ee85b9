/* surface.cu - surfaces: kernels that write arrays, whose texels lie in small squares.

   A surface reads and writes the texels of an array that textures can read: by exact coordinates
   (x in bytes), without a filter. A kernel that writes down columns scatters its stores over rows of
   global memory, 32 sectors for a warp. In an array the columns of a square are close together.
   Bytes read as a texture come as floats from 0 to 1, without arithmetic.
   Build and run: nvcc -O3 -arch=native surface.cu -o surface && ./surface [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "surface"
#define TASK "turns columns of an image of uchar4 into rows; surface: texels written for a pixel"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 96 : 4096, WIDE = 32, HIGH = 8 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N * N], expected[N * N];         /* 64 MB, as the images */

/* A job is two kernels, a thread a pixel, 16 N^2 bytes: one writes the image turned, threads of a
   warp down a column; one reads its rows and gives the mean of four colours, from 0 to 1. */
__global__ void turn(const uchar4 *in, cudaSurfaceObject_t array, uchar4 *memory)
{
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    uchar4 colour = in[y * N + x];
    if (memory)
        memory[x * N + y] = colour;
    else
        surf2Dwrite(colour, array, y * (int)sizeof colour, x);
}
__global__ void mean_of_texture(cudaTextureObject_t array, float *out)
{
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    float4 c = tex2D<float4>(array, x + 0.5f, y + 0.5f);
    out[y * N + x] = (c.x + c.y + c.z + c.w) / 4;
}
__global__ void mean_of_memory(const uchar4 *memory, float *out)
{
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    uchar4 c = memory[y * N + x];
    out[y * N + x] = (c.x + c.y + c.z + c.w) / (4 * 255.0f);
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
    const dim3 grid(N / WIDE, N / HIGH), block(WIDE, HIGH);
    const double size = (double)N * N;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc at = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    uchar4 *in, *memory;
    unsigned char *bytes = (unsigned char *)host;
    float *out;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&memory, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocArray(&at.res.array.array, &format, N, N, cudaArraySurfaceLoadStore));
    for (int k = 0; k < N * N; k++) host[k] = RANDOM(k) / 16777216.0f; /* four bytes, as they are */
    for (int e = 0; e < 4 * N * N; e++)
        expected[e / 4] += bytes[(e / 4 % N * N + e / 4 / N) * 4 + e % 4] / 1020.0f;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    at.resType = cudaResourceTypeArray, how.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
    CHECK(cudaCreateSurfaceObject(&surface, &at));
    allowed = 1e-6, work = 16 * size;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "surface", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,surface,MB,ms,GB/s,x time,result\n");
    while (way("surface; texture (right)", size, size, 1, 16e-6 * size, out)) {
        turn<<<grid, block>>>(in, surface, NULL);
        mean_of_texture<<<grid, block>>>(texture, out);
    }
    while (way("global memory", 2 * size, 2 * size, 0, 16e-6 * size, out)) {
        turn<<<grid, block>>>(in, surface, memory);
        mean_of_memory<<<grid, block>>>(memory, out);
    }
    CHECK(cudaDestroyTextureObject(texture)), CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(at.res.array.array));
    printf("\nComputed: a warp writes 32 texels of a column, or to 32 sectors of 32 bytes.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Global memory: %.2f times the time; %s.\n", best / base,
           best > 1.1 * base ? "its columns are scattered" : "the L2 cache joins the stores");
}
