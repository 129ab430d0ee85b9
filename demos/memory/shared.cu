/* shared.cu - shared memory: a matrix transposed with and without a tile, and bank conflicts.

   Shared memory is small, on the chip, and belongs to one block. Here it changes the order of data.
   Threads that read along a row and write down a column scatter the stores of a warp over 32
   sectors of 32 bytes. A block that first collects a tile writes rows, in 4 sectors.
   Shared memory has 32 banks, 4 bytes wide each. It serves a warp in one pass if its 32 words lie
   in 32 banks. A column of a tile with rows of 32 words lies in one bank and takes 32 passes. With
   rows of 33 words, one of them unused, it takes one.
   Build and run: nvcc -O3 -arch=native shared.cu -o shared && ./shared [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "shared"
#define TASK "transposes a matrix; passes over the banks: of a load from the tile; 0 without a tile"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 96 : 8192, TILE = 32, ROWS = 8 }; /* 256 MB: beyond L2 */
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[(size_t)N * N], expected[(size_t)N * N];

/* out = in^T, N x N. Grid N/32 x N/32, block 32 x 8, four elements a thread. Moves 8 N^2 bytes. A
   warp reads 128 bytes in a row but writes 4 bytes to each of 32 rows, and that bounds it. */
__global__ void transpose_plain(const float *in, float *out)
{
    size_t x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += ROWS) out[x * N + y + r] = in[(y + r) * N + x];
}

/* Through a tile with rows of PITCH words, 32 or 33. A warp reads and writes 128 bytes in a row of
   global memory; device memory bounds it, or, with 32, the passes. */
__global__ void transpose_tiled(const float *in, float *out, int pitch)
{
    __shared__ float tile[TILE * (TILE + 1)];
    int tx = threadIdx.x, ty = threadIdx.y;
    size_t x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int r = 0; r < TILE; r += ROWS) tile[(ty + r) * pitch + tx] = in[(y + r) * N + x];
    __syncthreads(); /* other threads wrote what this one reads */
    x = blockIdx.y * TILE + tx, y = blockIdx.x * TILE + ty;
    for (int r = 0; r < TILE; r += ROWS) out[(y + r) * N + x] = tile[tx * pitch + ty + r];
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
    const double size = (double)N * N, MB = 8e-6 * size;
    dim3 grid(N / TILE, N / TILE), block(TILE, ROWS);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (size_t i = 0; i < (size_t)N * N; i++) host[i] = expected[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = 8 * size;

    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "passes", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,passes,MB,ms,GB/s,x time,result\n");
    while (way("cudaMemcpy: the limit", 0, 0, 0, MB, out))
        CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++) expected[y * N + x] = RANDOM(x * N + y);
    while (way("tile with rows of 33 (right)", size, size, 1, MB, out))
        transpose_tiled<<<grid, block>>>(in, out, TILE + 1);
    while (way("tile with rows of 32", size, size, 32, MB, out))
        transpose_tiled<<<grid, block>>>(in, out, TILE);
    double narrow = best / base;
    while (way("stores down columns", size, size, 0, MB, out))
        transpose_plain<<<grid, block>>>(in, out);
    double plain = best / base;
    printf("\nComputed: all ways load and store the same; the order and the banks differ.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --report counts the passes.");
    printf("No tile: %.2f times the time; %s.\nNo padding: %.2f times; %s.\n", plain,
           plain > 1.2 ? "a warp stores to 32 sectors, not 4" : "the L2 cache joins the stores",
           narrow, narrow > 1.1 ? "32 passes are slower than memory" : "memory hides the passes");
}
