/* registers.cu - registers: a matrix product that loads less the more it keeps in registers.

   Registers belong to one thread and are the only memory that the arithmetic units read at full
   speed: a fused multiply-add needs its three operands there. A product that loads two numbers for
   each multiply-add is bound by those loads, even from shared memory. A thread that keeps a block
   of 4 x 4 sums in registers loads 4 + 4 numbers for 16 multiply-adds.

   Build and run: nvcc -O3 -arch=native registers.cu -o registers && ./registers [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "C = A B; fma/load: multiply-adds for a load from shared memory; limit: multiply-adds"
#define EXTRA "fma/load"
#define RATE  "GFLOP/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 128 };
#else
enum { ON_CPU = 0, N = 2048 };
#endif
enum { TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };
static float host[2 * N * N]; /* A and B, or C */

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
        for (int r = 0; r < WIDE; r += TILE) {
            a[ty + r][tx] = A[(i + r) * N + k0 + tx];
            b[ty][tx + r] = B[(k0 + ty) * N + j + r];
        }
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
static double work, limit, base; /* of a way; the highest rate; seconds that are 1 in "x time" */
static float best;               /* milliseconds */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;

/* RANDOM: a number below 2^24 that belongs to i. CHECK: an error ends the program. */
#define RANDOM(i)   (((unsigned)(i)*2654435761u ^ (unsigned)(i) >> 9) * 2246822519u >> 8)
#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms;
    CHECK(cudaGetLastError());
    if (runs > 0) {
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = runs == 1 || ms < best ? ms : best;
    }
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row and gives the seconds; OK is negative if nothing was compared. */
static double row(const char *way, double loads, double stores, double extra, double MB, int ok)
{
    double s = best * 1e-3, rate = work / s, times = base > 0 ? s / base : 1;
    limit = limit > 0 ? limit : rate; /* that of the first way, if nothing else is known */
    failures += !ok;
    for (int f = 0; f < (csv ? 2 : 1); f++) {
        FILE *file = f ? csv : stdout;
        fprintf(file, f ? "%s,%.0f,%.0f,%g,%.2f" : "%-31s%12.0f%12.0f%9g%9.2f", way, loads, stores,
                extra, MB);
        if (ON_CPU) /* where times mean nothing */
            fputs(f ? ",,,," : "        -        -        -       -", file);
        else
            fprintf(file, f ? ",%.4f,%.1f,%.1f,%.2f" : "%9.4f%9.1f%9.1f%8.2f", best, rate * 1e-9,
                    100 * rate / limit, times);
        fprintf(file, f ? ",%s\n" : "%8s\n", ok < 0 ? "-" : ok ? "ok" : "WRONG");
    }
    return s;
}

/* ---- the task ------------------------------------------------------------------------------ */
#define WHOLE(i) (RANDOM(i) % 17 - 8.0f) /* so small that all sums are exact in any order */

static int is_product(const float *C) /* C x = A (B x) for a random x: an error of 1 would show */
{
    double y[N] = {0}, difference[N] = {0};
    CHECK(cudaMemcpy(host, C, sizeof host, cudaMemcpyDeviceToHost));
    for (int e = 0; e < N * N; e++) y[e / N] += WHOLE(e + N * N) * (RANDOM(e % N) >> 4);
    for (int e = 0; e < N * N; e++)
        difference[e / N] += WHOLE(e) * y[e % N] - (double)host[e] * (RANDOM(e % N) >> 4);
    for (int i = 0; i < N; i++)
        if (!(difference[i] == 0)) return 0; /* nor may it be NaN */
    return 1;
}

static void task(void)
{
    int kHz, v = device.major, half = v == 7 || (device.minor == 0 && (v == 6 || v == 8));
    float *A, *B, *C;
    CHECK(cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, 0));
    limit = 2e3 * kHz * device.multiProcessorCount * (half ? 64 : 128); /* multiply-adds a clock */
    CHECK(cudaMalloc(&A, sizeof host));
    CHECK(cudaMalloc(&C, sizeof host));
    for (int i = 0; i < 2 * N * N; i++) host[i] = WHOLE(i);
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));
    B = A + N * N;
    work = 2.0 * N * N * N;

    const double size = N * N, n3 = size * N; /* loads and MB: of global memory */
    dim3 block(TILE, TILE), grid(N / TILE, N / TILE), wide(N / WIDE, N / WIDE);
    while (again(C)) multiply_registers<<<wide, block>>>(A, B, C);
    base = row("4 x 4 in registers (right)", n3 / 32, size, 2, n3 / 8e6, is_product(C));
    while (again(C)) multiply_shared<<<grid, block>>>(A, B, C);
    double one = row("1 x 1", n3 / 8, size, 0.5, n3 / 2e6, is_product(C)) / base;

    printf("\nComputed: 4 x 4 elements a thread need a quarter of the loads from any memory.\n");
    if (!ON_CPU)
        printf("1 x 1: %.2f times the time; %s.\n", one,
               one > 1.3 ? "a load feeds half a multiply-add, not 2" : "loads are not the limit");
    CHECK(cudaFree(A));
    CHECK(cudaFree(C));
}

/* ---- the same in every demo ---------------------------------------------------------------- */
int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--help") == 0)
        return printf("usage: %s [--csv FILE]\n%s\n", words[0], TASK) < 0;
    if (count == 3 && strcmp(words[1], "--csv") == 0) csv = fopen(words[2], "w");
    if (count > 1 && !csv) {
        fprintf(stderr, "%s: cannot understand or write %s\n", words[0], words[count - 1]);
        return 2;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
           "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
    if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
    task();
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
