/* shared.cu - shared memory: a matrix transposed with and without a tile, and bank conflicts.

   Shared memory is small, on the chip, and belongs to one block. Here it changes the order of data:
   threads that read along a row and write down a column scatter the stores of a warp over 32
   sectors of 32 bytes; 4 would hold them. A block that first collects a tile reads and writes rows.
   Shared memory has 32 banks, 4 bytes wide each, and serves a warp in one pass if its 32 words lie
   in 32 banks. A column of a tile whose rows are 32 words long lies in one bank and takes 32
   passes; with rows of 33 words, one of them unused, it takes one.

   Build and run: nvcc -O3 -arch=native shared.cu -o shared && ./shared [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "shared"
#define TASK  "transposes a matrix; passes: over the banks, for a column of the tile"
#define EXTRA "passes"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 96 : 8192, TILE = 32, ROWS = 8 }; /* 256 MB: more than L2 */
static float host[(size_t)N * N], expected[(size_t)N * N];

/* out = in^T, N x N. Grid N/32 x N/32, block 32 x 8, four elements a thread; moves 8 N^2 bytes. A
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
    const double size = (double)N * N, MB = 8e-6 * size;
    dim3 grid(N / TILE, N / TILE), block(TILE, ROWS);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (size_t i = 0; i < (size_t)N * N; i++) host[i] = expected[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = 8 * size;

    while (again(out)) CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, out);
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++) expected[y * N + x] = RANDOM(x * N + y);
    while (again(out)) transpose_tiled<<<grid, block>>>(in, out, TILE + 1);
    row("tile with rows of 33 (right)", size, size, 1, MB, out);
    while (again(out)) transpose_tiled<<<grid, block>>>(in, out, TILE);
    double narrow = row("tile with rows of 32", size, size, 32, MB, out);
    while (again(out)) transpose_plain<<<grid, block>>>(in, out);
    double plain = row("stores down columns", size, size, 0, MB, out);

    printf("\nComputed: all ways load and store the same; the order and the banks differ.\n");
    if (ON_CPU) return;
    printf("No tile: %.2f times the time; %s.\nNo padding: %.2f times; %s.\n", plain,
           plain > 1.2 ? "a warp stores to 32 sectors, not 4" : "the L2 cache joins the stores",
           narrow, narrow > 1.1 ? "32 passes are slower than memory" : "memory hides the passes");
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
