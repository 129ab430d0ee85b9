/* async_copy.cu - asynchronous copies: tiles of a product travel while others are used.

   An ordinary load into shared memory passes through a register, and the thread waits for it before
   it can store. From compute capability 8.0 on a copy from global to shared memory can be started
   and waited for later: the next tile travels while the threads multiply the last one. That needs
   two tiles, and work to do meanwhile. Below 8.0, and on the CPU runner, the same code copies in the
   ordinary way.

   Build and run: nvcc -O3 -arch=native async_copy.cu -o async_copy && ./async_copy [--csv FILE] */
#include <cuda_runtime.h>
#ifndef __CUCC__
#include <cuda_pipeline.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "C = A B; ahead: tiles on their way while others are used; limit: multiply-adds"
#define EXTRA "ahead"
#define RATE  "GFLOP/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 128 };
#else
enum { ON_CPU = 0, N = 2048 };
#endif
enum { TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };
static float host[2 * N * N]; /* A and B, or C */

__device__ void copy16(float *to, const float *from, int asynchronous)
{
#if __CUDA_ARCH__ >= 800
    if (asynchronous) return __pipeline_memcpy_async(to, from, 16);
#endif
    (void)asynchronous, *(float4 *)to = *(const float4 *)from;
}

/* C = A B, row-major, N x N, 2 N^3 operations, blocks of 16 x 16 threads, a thread 4 x 4 elements.
   Each thread copies 16 bytes of each tile: 2 N^3 / 64 / 4 loads of 16 bytes. Bound by the loads
   from shared memory, and by the wait for each tile, if AHEAD is 0; if it is 1, the next tiles are
   on their way while these are used. Rows of 20 floats: whole 16 bytes, and other banks. */
__global__ void multiply(const float *A, const float *B, float *C, int ahead)
{
    __shared__ float a[2][WIDE][TILE + 4], b[2][TILE][WIDE];
    int tx = threadIdx.x, ty = threadIdx.y, n = ty * TILE + tx, bk = n / 16, bj = n % 16 * 4;
    const float *from_A = A + (blockIdx.y * WIDE + n / 4) * N + n % 4 * 4;
    const float *from_B = B + bk * N + blockIdx.x * WIDE + bj;
    float sum[BLOCK][BLOCK] = {{0}}, x[BLOCK], y[BLOCK];
    for (int k0 = -ahead * TILE; k0 < N; k0 += TILE) {
        int next = k0 + ahead * TILE, now = k0 / TILE % 2, then = next / TILE % 2;
        if (next < N) {
            copy16(&a[then][n / 4][n % 4 * 4], from_A + next, ahead);
            copy16(&b[then][bk][bj], from_B + next * N, ahead);
        }
#if __CUDA_ARCH__ >= 800
        __pipeline_commit();
        __pipeline_wait_prior(ahead ? 1 : 0); /* all but the last AHEAD groups have arrived */
#endif
        if (k0 < 0) continue;
        __syncthreads(); /* the copies of all threads have arrived */
        for (int k = 0; k < TILE; k++) {
            for (int r = 0; r < BLOCK; r++)
                x[r] = a[now][ty + r * TILE][k], y[r] = b[now][k][tx + r * TILE];
            for (int r = 0; r < BLOCK; r++)
                for (int s = 0; s < BLOCK; s++) sum[r][s] += x[r] * y[s];
        }
        __syncthreads(); /* no thread needs them any more */
    }
    C += (blockIdx.y * WIDE + ty) * N + blockIdx.x * WIDE + tx;
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++) C[r * TILE * N + s * TILE] = sum[r][s];
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

    const double loads = work / 256, MB = 16e-6 * loads; /* loads of 16 bytes */
    dim3 block(TILE, TILE), grid(N / WIDE, N / WIDE);
    cudaFuncAttributes code;
    CHECK(cudaFuncGetAttributes(&code, multiply));
    while (again(C)) multiply<<<grid, block>>>(A, B, C, 1);
    base = row("asynchronous; ahead (right)", loads, N * N, 1, MB, is_product(C));
    while (again(C)) multiply<<<grid, block>>>(A, B, C, 0);
    double x = row("ordinary; through registers", loads, N * N, 0, MB, is_product(C)) / base;

    printf("\nComputed: both load the same; copies ahead only change when.\n");
    if (ON_CPU || code.ptxVersion < 80)
        printf("Here all copies are ordinary: the program is built for less than 8.0.\n");
    else
        printf("Ordinary copies: %.2f times the time; %s.\n", x,
               x > 1.05   ? "tiles do not travel during products"
               : x > 0.95 ? "other blocks hide the wait"
                          : "starting copies costs more than it hides");
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
