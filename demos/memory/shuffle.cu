/* shuffle.cu - registers read by neighbours: the sum of an array, in five ways.

   A shuffle reads a register of another lane of the warp, without memory and without a barrier. A
   sum needs 5 of them for 32 numbers, and shared memory only between warps. Atomic additions to one
   address are done one after the other: the fewer sums a kernel adds like that, the better.
   Build and run: nvcc -O3 -arch=native shuffle.cu -o shuffle && ./shuffle [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "shuffle"
#define TASK "sums an array; atomics: additions to one address, in thousands"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, BLOCKS = ON_CPU ? 4 : 1024 };
enum { THREADS = 256, LAST = 0, VECTORS, SHUFFLES, TREE, ATOMICS, WAYS };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static int host[N], expected[1];                   /* 256 MB: more than L2 holds */

/* Both: the sum of a block, for its first thread. A tree: 8 steps, with a barrier before each. */
__device__ int tree(int sum)
{
    __shared__ int part[THREADS];
    part[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    return threadIdx.x == 0 ? part[0] : 0;
}
__device__ int shuffles(
    int sum) /* one barrier: 5 shuffles in a warp, 3 among the sums of 8 warps */
{
    __shared__ int part[THREADS / 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = part[threadIdx.x % (THREADS / 32)];
    for (int d = THREADS / 64; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    return sum;
}
/* total[0] = the sum of N numbers, 4 N bytes, which bound it, or the atomics. A thread a number, or,
   in LAST and VECTORS, 1024 blocks and four numbers a load. In LAST the last block moves the sum
   from total[1], and leaves 0 there and in the count, total[2]. The others need total[0] to be 0. */
__global__ void sum_up(const int *in, int *total, int how)
{
    int i = blockIdx.x * THREADS + threadIdx.x, sum = how < SHUFFLES ? 0 : in[i];
    for (; how < SHUFFLES && i < N / 4; i += BLOCKS * THREADS) {
        int4 v = ((const int4 *)in)[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (how < ATOMICS) sum = how == TREE ? tree(sum) : shuffles(sum);
    if (threadIdx.x == 0 || how == ATOMICS) atomicAdd(&total[how == LAST], sum);
    if (threadIdx.x > 0 || how != LAST) return;
    __threadfence(); /* who sees the count sees the sum */
    if (atomicAdd(&total[2], 1) == BLOCKS - 1) total[0] = atomicExch(&total[1], 0), total[2] = 0;
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
    static const char *const name[WAYS] = {"one pass; last block (right)", "shuffles; int4",
                                           "shuffles", "shared memory; a tree", "global atomics"};
    int *in, *total, loads[WAYS] = {N / 4, N / 4, N, N, N};
    int all = N / THREADS, blocks[WAYS] = {BLOCKS, BLOCKS, all, all, all};
    int atomics[WAYS] = {2 * BLOCKS + 1, BLOCKS, N / THREADS, N / THREADS, N};
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&total, 3 * sizeof *total));
    CHECK(cudaMemset(total, 0, 3 * sizeof *total));
    for (int i = 0; i < N; i++) *expected += host[i] = RANDOM(i) % 16;
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    work = sizeof host;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "atomics", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,atomics,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < WAYS; w++)
        while (way(name[w], loads[w], w == LAST ? 2 : 0, 1e-3 * atomics[w], 4e-6 * N, total)) {
            if (w != LAST) CHECK(cudaMemsetAsync(total, 0, sizeof *total));
            sum_up<<<blocks[w], THREADS>>>(in, total, w);
        }
    printf("\nComputed: a tree has 8 barriers, shuffles 1; int4 loads a quarter as often.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Atomics for all: %.2f times the time; %s.\n", best / base,
           best > 1.2 * base ? "they meet at one address" : "the compiler adds within warps first");
}
