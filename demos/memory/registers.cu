/* registers.cu - registers: a matrix product that loads less the more it keeps in registers.

   Registers belong to one thread. Arithmetic units read no other memory at full speed. A product
   that loads two numbers for each multiply-add is bound by those loads, even from shared memory. A
   thread that keeps 4 x 4 sums in registers loads 4 + 4 numbers for 16 multiply-adds.
   Build and run: nvcc -O3 -arch=native registers.cu -o registers && ./registers [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "registers"
#define TASK "C = A B; fma/load: multiply-adds for a word from shared memory"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 128 : 2048, TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[2 * N * N], expected[N * N];     /* A and B, or C */

/* C = A B, row-major, N x N, 2 N^3 operations, blocks of 16 x 16 threads. A thread an element:
   2 N^3 / 16 loads from global memory and 2 N^3 from tiles in shared memory, which bound it. */
__global__ void multiply_shared(const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < N; k0 += TILE) {
        a[ty][tx] = A[i * N + k0 + tx], b[ty][tx] = B[(k0 + ty) * N + j];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[i * N + j] = sum;
}
/* A thread 4 x 4 elements, 16 apart, in registers; tiles of 64 x 16 and 16 x 64: 2 N^3 / 64 loads
   from global and 2 N^3 / 4 from shared memory, which still bound it, but at a higher rate. A warp
   stores to two rows of a tile. Rows of b are 16 words longer, so that the two lie in other banks. */
__global__ void multiply_registers(const float *A, const float *B, float *C)
{
    __shared__ float a[WIDE][TILE], b[TILE][WIDE + TILE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * WIDE + ty, j = blockIdx.x * WIDE + tx;
    float sum[BLOCK][BLOCK] = {{0}}, x[BLOCK], y[BLOCK];
    for (int k0 = 0; k0 < N; k0 += TILE) {
        for (int r = 0; r < WIDE; r += TILE)
            a[ty + r][tx] = A[(i + r) * N + k0 + tx], b[ty][tx + r] = B[(k0 + ty) * N + j + r];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            for (int r = 0; r < BLOCK; r++) x[r] = a[ty + r * TILE][k], y[r] = b[k][tx + r * TILE];
            for (int r = 0; r < BLOCK; r++)
                for (int s = 0; s < BLOCK; s++) sum[r][s] += x[r] * y[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++) C[(i + r * TILE) * N + j + s * TILE] = sum[r][s];
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
    const double size = N * N, n3 = size * N; /* loads and MB: of global memory */
    const double loads = 2 * n3 / TILE, fewer = 2 * n3 / WIDE;
    dim3 block(TILE, TILE), grid(N / TILE, N / TILE), wide(N / WIDE, N / WIDE);
    float *A, *C; /* B follows A */
    work = 2 * n3;
    CHECK(cudaMalloc(&A, sizeof host)), CHECK(cudaMalloc(&C, sizeof host));
    for (int e = 0; e < 2 * N * N; e++) host[e] = RANDOM(e) % 17 - 8.0f; /* exact in any order */
    for (int e = 0; e < N * N; e++)
        for (int j = 0; j < N; j++) expected[e / N * N + j] += host[e] * host[(N + e % N) * N + j];
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "fma/load", "MB", "ms",
           "GFLOP/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,fma/load,MB,ms,GFLOP/s,x time,result\n");
    while (way("4 x 4 in registers (right)", fewer, size, BLOCK / 2.0, 4e-6 * fewer, C))
        multiply_registers<<<wide, block>>>(A, A + N * N, C);
    while (way("1 x 1", loads, size, 0.5, 4e-6 * loads, C))
        multiply_shared<<<grid, block>>>(A, A + N * N, C);
    printf("\nComputed: 4 x 4 elements a thread need a quarter of the words from any memory.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("1 x 1: %.2f times the time; %s.\n", best / base,
           best > 1.3 * base ? "a word feeds 0.5 multiply-adds, not 2" : "loads do not bind it");
}
