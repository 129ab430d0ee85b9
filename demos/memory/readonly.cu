/* readonly.cu - read-only data: y = A x with const __restrict__, with __ldg and with neither.

   "const float *__restrict__" promises two things: the kernel does not write there, and no other
   pointer of it does. The first lets loads go through the read-only path (__ldg asks for it by
   hand). Since compute capability 7.0 that is the same L1 cache as for all loads, so it gains
   little. The second lets the compiler keep values in registers over a store through another
   pointer: without it y[i] += ... in a loop must be stored, and A and x loaded, in that order.

   Build and run: nvcc -O3 -arch=native readonly.cu -o readonly && ./readonly [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "y = A x; terms: of each sum; MB: read and stored"
#define EXTRA "terms"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 1 << 10, K = 16 };
#else /* A takes 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 1 << 20, K = 64 };
#endif
enum { THREADS = 256, BLOCKS = N / THREADS };
static float host[(size_t)N * K], expected[N], host_x[K];

/* All kernels: y (N) = A x, A is N x K and stored column by column, so that neighbouring threads
   read neighbouring numbers: grid N/256, a thread a row. Read 4 N K bytes; bound by memory. */

__global__ void multiply_restrict(const float *__restrict__ A, const float *__restrict__ x,
                                  float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = 0;
    for (int k = 0; k < K; k++) y[i] += A[(size_t)k * N + i] * x[k];
}

/* The same lines; y might be part of A or x, for all that the compiler knows. */
__global__ void multiply_plain(const float *A, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = 0;
    for (int k = 0; k < K; k++) y[i] += A[(size_t)k * N + i] * x[k];
}

/* A variable for the sum: what __restrict__ allows the compiler, done by hand. */
__global__ void multiply_sum(const float *A, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[(size_t)k * N + i] * x[k];
    y[i] = sum;
}

/* And with the read-only path asked for by hand. */
__global__ void multiply_ldg(const float *A, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += __ldg(&A[(size_t)k * N + i]) * __ldg(&x[k]);
    y[i] = sum;
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
static int is_right(const float *y)
{
    CHECK(cudaMemcpy(host, y, sizeof expected, cudaMemcpyDeviceToHost));
    return memcmp(host, expected, sizeof expected) == 0; /* whole numbers: exact */
}

static void task(void)
{
    const double terms = (double)N * K, MB = 4e-6 * (terms + N), more = MB + 4e-6 * terms;
    float *A, *x, *y; /* y as large as A, for the copy */
    CHECK(cudaMalloc(&A, sizeof host));
    CHECK(cudaMalloc(&y, sizeof host));
    CHECK(cudaMalloc(&x, sizeof host_x));
    for (int k = 0; k < K; k++) host_x[k] = RANDOM(k) % 256 + 1.0f;
    for (size_t e = 0; e < (size_t)N * K; e++) {
        host[e] = RANDOM(e) / 256 % 256 - 128.0f;
        expected[e % N] += host[e] * host_x[e / N];
    }
    CHECK(cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyHostToDevice));
    work = sizeof host; /* bytes that must be read */

    while (again(y)) CHECK(cudaMemcpyAsync(y, A, sizeof host / 2, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, work * 1e-6, -1);
    while (again(y)) multiply_restrict<<<BLOCKS, THREADS>>>(A, x, y);
    base = row("const __restrict__ (right)", 2 * terms, N, K, MB, is_right(y));
    while (again(y)) multiply_ldg<<<BLOCKS, THREADS>>>(A, x, y);
    double ldg = row("__ldg; sum in a variable", 2 * terms, N, K, MB, is_right(y));
    while (again(y)) multiply_sum<<<BLOCKS, THREADS>>>(A, x, y);
    double path = row("plain; sum in a variable", 2 * terms, N, K, MB, is_right(y)) / ldg;
    while (again(y)) multiply_plain<<<BLOCKS, THREADS>>>(A, x, y);
    double alias = row("plain; sum in y[i]", 2 * terms, terms + N, K, more, is_right(y)) / base;

    printf("\nComputed: where y may overlap A, sums are stored %d times, not once.\n", K + 1);
    if (!ON_CPU)
        printf("No __ldg: %.2f times the time; %s.\nNo __restrict__: %.2f times; %s.\n", path,
               path > 1.05   ? "its path is faster"
               : path > 0.95 ? "all loads use one L1 cache since 7.0"
                             : "its path is slower",
               alias,
               alias > 1.05 ? "each step stores, then loads" : "enough threads hide the stores");
    CHECK(cudaFree(A));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
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
