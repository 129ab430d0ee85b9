/* global.cu - global memory: one operation on every element, in four orders of access.

   Global memory is the large memory of the device. It is read and written in sectors of 32 bytes:
   the 32 threads of a warp that touch 32 neighbouring floats need 4 sectors (a coalesced access),
   and 32 floats far apart need 32 sectors, of which 7 parts in 8 are moved for nothing.

   Build and run: nvcc -O3 -arch=native global.cu -o global && ./global [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "2 x + 1 for an array; sectors: that a warp touches to load 32 floats"
#define EXTRA "sectors"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 1 << 14 };
#else /* two arrays of 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 1 << 26 };
#endif
enum { THREADS = 256, BLOCKS = N / THREADS };
static float host[N];

/* All kernels: out = 2 in + 1 for N floats; 8 N bytes at least, and device memory bounds them. */

/* A thread a float, neighbours to neighbours: grid N/256. The threads of a warp start at the first
   element of a sector, or SHIFT floats behind it; the last SHIFT threads do the first elements. */
__global__ void scale(const float *in, float *out, int shift)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x + shift) % N;
    out[i] = 2 * in[i] + 1;
}

/* A thread four floats in one instruction: grid N/4/256. */
__global__ void scale_four(const float4 *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}

/* A thread a float, neighbours STRIDE floats apart, as when the columns of a matrix with rows of
   STRIDE floats are walked: grid N/256. The floats between are touched much later. */
__global__ void scale_strided(const float *in, float *out, int stride)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t % (N / stride) * stride + t / (N / stride);
    out[i] = 2 * in[i] + 1;
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
static int is_right(const float *out, int a, int b) /* a in + b? */
{
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if (host[i] != a * (float)RANDOM(i) + b) return 0;
    return 1;
}

static void task(void)
{
    const double MB = 8e-6 * N;
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++) host[i] = RANDOM(i);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work = 8.0 * N;

    while (again(out)) CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, is_right(out, 1, 0));
    while (again(out)) scale<<<BLOCKS, THREADS>>>(in, out, 0);
    base = row("float (right)", N, N, 4, MB, is_right(out, 2, 1));
    while (again(out)) scale_four<<<BLOCKS / 4, THREADS>>>((float4 *)in, (float4 *)out);
    double four = row("float4 (right)", N / 4, N / 4, 4, MB, is_right(out, 2, 1)) / base;
    while (again(out)) scale<<<BLOCKS, THREADS>>>(in, out, 1);
    row("float; one off", N, N, 5, MB, is_right(out, 2, 1));
    while (again(out)) scale_strided<<<BLOCKS, THREADS>>>(in, out, 32);
    double far = row("float; every 32nd", N, N, 32, 8 * MB, is_right(out, 2, 1)) / base;

    printf("\nComputed: float4 loads a quarter as often; every 32nd moves 8 times the bytes.\n");
    if (!ON_CPU)
        printf("Every 32nd: %.1f times the time; %s.\nfloat4: %.2f times; %s.\n", far,
               far > 2 ? "each float moves a sector of 32 bytes" : "caches keep the other floats",
               four, four < 0.95 ? "an instruction moves more bytes" : "float keeps memory busy");
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
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
