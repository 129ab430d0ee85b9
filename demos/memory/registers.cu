/* registers.cu - registers: a matrix product that loads less the more it keeps in registers.

   Registers belong to one thread and are the only memory that the arithmetic units read at full
   speed: a fused multiply-add needs its three operands there. A product that loads two numbers for
   each multiply-add is bound by those loads, even from shared memory. A thread that keeps a block
   of 4 x 4 sums in registers loads 4 + 4 numbers for 16 multiply-adds.

   Build and run: nvcc -O3 -arch=native registers.cu -o registers && ./registers [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "registers"
#define TASK  "C = A B; fma/load: multiply-adds for a load from shared memory; limit: multiply-adds"
#define EXTRA "fma/load"
#define RATE  "GFLOP/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 128 : 2048, TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };
static float host[2 * N * N], expected[N * N]; /* A and B, or C */

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
   from global and 2 N^3 / 4 from shared memory, which still bound it, but at a higher rate. */
__global__ void multiply_registers(const float *A, const float *B, float *C)
{
    __shared__ float a[WIDE][TILE + 1], b[TILE][WIDE]; /* 17: no bank conflicts down a column */
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
    const double size = N * N, n3 = size * N; /* loads and MB: of global memory */
    int kHz, v = device.major, half = v == 7 || (device.minor == 0 && (v == 6 || v == 8));
    dim3 block(TILE, TILE), grid(N / TILE, N / TILE), wide(N / WIDE, N / WIDE);
    float *A, *C; /* B is behind A */
    CHECK(cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, 0));
    limit = 2e-6 * kHz * device.multiProcessorCount * (half ? 64 : 128); /* multiply-adds a clock */
    work = 2 * n3;
    CHECK(cudaMalloc(&A, sizeof host));
    CHECK(cudaMalloc(&C, sizeof host));
    for (int e = 0; e < 2 * N * N; e++) host[e] = RANDOM(e) % 17 - 8.0f; /* exact in any order */
    for (int e = 0; e < N * N; e++)
        for (int j = 0; j < N; j++) expected[e / N * N + j] += host[e] * host[(N + e % N) * N + j];
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));

    while (again(C)) multiply_registers<<<wide, block>>>(A, A + N * N, C);
    row("4 x 4 in registers (right)", n3 / 32, size, 2, n3 / 8e6, C);
    while (again(C)) multiply_shared<<<grid, block>>>(A, A + N * N, C);
    double one = row("1 x 1", n3 / 8, size, 0.5, n3 / 2e6, C);

    printf("\nComputed: 4 x 4 elements a thread need a quarter of the loads from any memory.\n");
    if (ON_CPU) return;
    printf("1 x 1: %.2f times the time; %s.\n", one,
           one > 1.3 ? "a load feeds half a multiply-add, not 2" : "loads are not the limit");
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
