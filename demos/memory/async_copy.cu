/* async_copy.cu - asynchronous copies: tiles of a product travel while others are used.

   An ordinary load into shared memory passes through a register, and the thread waits for it before
   it can store. From compute capability 8.0 on a copy from global to shared memory can be started
   and waited for later: the next tile travels while the threads multiply the last one. That needs
   two tiles, and work to do meanwhile. Below 8.0, and on the CPU runner, all copies are ordinary.

   Build and run: nvcc -O3 -arch=native async_copy.cu -o async_copy && ./async_copy [--csv FILE] */
#include <cuda_pipeline.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "async_copy"
#define TASK  "C = A B; ahead: tiles on their way while others are used; limit: multiply-adds"
#define EXTRA "ahead"
#define RATE  "GFLOP/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 128 : 2048, TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };
static float host[2 * N * N], expected[N * N]; /* A and B, or C */

__device__ void copy16(float *to, const float *from, int asynchronous)
{
    if (asynchronous) return __pipeline_memcpy_async(to, from, 16);
    *(float4 *)to = *(const float4 *)from;
}

/* C = A B, row-major, N x N, 2 N^3 operations, blocks of 16 x 16 threads, a thread 4 x 4 elements
   and 16 bytes of each tile: 2 N^3 / 256 loads of 16 bytes. Bound by the loads from shared memory,
   and, if AHEAD is 0, by the wait for each tile; if it is 1, the next two are on their way. */
__global__ void multiply(const float *A, const float *B, float *C, int ahead)
{
    __shared__ float a[2][WIDE][TILE + 4], b[2][TILE][WIDE]; /* 4: whole 16 bytes, other banks */
    int tx = threadIdx.x, ty = threadIdx.y, n = ty * TILE + tx, ai = n / 4, ak = n % 4 * 4;
    int i = blockIdx.y * WIDE, j = blockIdx.x * WIDE, bk = n / 16, bj = n % 16 * 4;
    float sum[BLOCK][BLOCK] = {{0}}, x[BLOCK], y[BLOCK];
    for (int k0 = -ahead * TILE; k0 < N; k0 += TILE) {
        int next = k0 + ahead * TILE, now = k0 / TILE % 2, then = next / TILE % 2;
        if (next < N) {
            copy16(&a[then][ai][ak], &A[(i + ai) * N + next + ak], ahead);
            copy16(&b[then][bk][bj], &B[(next + bk) * N + j + bj], ahead);
        }
        __pipeline_commit();
        __pipeline_wait_prior(ahead ? 1 : 0); /* all but the last AHEAD groups have arrived */
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
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++) C[(i + ty + r * TILE) * N + j + tx + s * TILE] = sum[r][s];
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
    const double loads = 2.0 * N * N * N / 256, MB = 16e-6 * loads; /* loads of 16 bytes */
    int kHz, v = device.major, half = v == 7 || (device.minor == 0 && (v == 6 || v == 8));
    dim3 block(TILE, TILE), grid(N / WIDE, N / WIDE);
    float *A, *C;
    CHECK(cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, 0));
    limit = 2e-6 * kHz * device.multiProcessorCount * (half ? 64 : 128); /* multiply-adds a clock */
    work = 2.0 * N * N * N;
    CHECK(cudaMalloc(&A, sizeof host));
    CHECK(cudaMalloc(&C, sizeof host));
    for (int e = 0; e < 2 * N * N; e++) host[e] = RANDOM(e) % 17 - 8.0f; /* exact in any order */
    for (int e = 0; e < N * N; e++)
        for (int j = 0; j < N; j++) expected[e / N * N + j] += host[e] * host[(N + e % N) * N + j];
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));

    while (again(C)) multiply<<<grid, block>>>(A, A + N * N, C, 1);
    row("asynchronous; ahead (right)", loads, N * N, 1, MB, C);
    while (again(C)) multiply<<<grid, block>>>(A, A + N * N, C, 0);
    double x = row("ordinary; through registers", loads, N * N, 0, MB, C);

    printf("\nComputed: both load the same; copies ahead only change when.\n");
    if (ON_CPU) return;
    printf("Ordinary copies: %.2f times the time; %s.\n", x,
           x > 1.05   ? "tiles do not travel during products"
           : x > 0.95 ? "other blocks hide the wait, or this is built for less than 8.0"
                      : "starting copies costs more than it hides");
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
