/* scan.cu - prefix sums in one pass: a tile looks back at the sums of those before it.

   out[i] is the sum of all numbers up to i: a tile needs the sum of all tiles before it. If each
   waits for the prefix of the one before, they follow one another. If a tile publishes its own sum
   at once, others add such sums, back to a known prefix (Merrill and Garland, look-back, 2016).
   Build and run: nvcc -O3 -arch=native scan.cu -o scan && ./scan [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "scan"
#define TASK "prefix sums; states: that a tile publishes; loads: without those of states"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, THREADS = 256, TILES = N / 4 / THREADS };
static int host[N], expected[N]; /* 256 MB: more than L2 holds */

/* The sum over the block up to this thread and its own VALUE; *total: over all. Warps by shuffles. */
__device__ int scan_block(int value, int *total)
{
    __shared__ int sums[THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value, before = *total = 0;
    for (int d = 1, up; d < 32; d *= 2)
        up = __shfl_up_sync(0xffffffff, sum, d), sum += lane < d ? 0 : up;
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) *total += sums[w], before += w < warp ? sums[w] : 0;
    return before + sum;
}
/* The sum of all tiles before TILE, by one warp. A state: 1 for a sum or 2 for a prefix; a number. */
__device__ int look_back(volatile unsigned long long *states, int tile)
{
    int sum = 0, found = 0;
    for (int t = tile - 1 - threadIdx.x; !found; t -= 32) {
        unsigned long long state = 2ull << 32; /* before the first tile: a prefix of 0 */
        while (t >= 0 && (state = states[t]) >> 32 == 0) continue;
        found = __ballot_sync(0xffffffff, state >> 32 == 2);
        int value = found && (int)threadIdx.x >= __ffs(found) ? 0 : (int)state;
        for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
        sum += value;
    }
    return sum;
}
/* out = the prefix sums of N numbers, a thread four: 8 N bytes bound it, or the waiting. A tile gets
   its number when its block begins, so that all before it have begun. */
__global__ void scan(const int4 *in, int4 *out, unsigned long long *states, int publish)
{
    __shared__ int tile, before;
    if (threadIdx.x == 0) tile = (int)atomicAdd(&states[TILES], 1ull);
    __syncthreads();
    int total, i = tile * THREADS + threadIdx.x;
    int4 v = in[i];
    int sum = scan_block(v.x + v.y + v.z + v.w, &total) - v.x - v.y - v.z - v.w;
    if (threadIdx.x == 0 && publish) atomicExch(&states[tile], 1ull << 32 | (unsigned)total);
    if (threadIdx.x < 32) {
        int all = look_back(states, tile), sums = all + total;
        if (threadIdx.x == 0) before = all, atomicExch(&states[tile], 2ull << 32 | (unsigned)sums);
    }
    __syncthreads();
    v.x += before + sum, v.y += v.x, v.z += v.y, v.w += v.z, out[i] = v;
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
    int4 *in, *out;
    unsigned long long *states;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMalloc(&states, (TILES + 1) * sizeof *states));
    for (int i = 0; i < N; i++) expected[i] = (i ? expected[i - 1] : 0) + (host[i] = i / 3 % 16);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault)), work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "states", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,states,MB,ms,GB/s,x time,result\n");
    for (int publish = 2; publish > 0; publish--)
        while (way(publish > 1 ? "look back (right)" : "wait for the one before", N / 4, N / 4,
                   publish, 8e-6 * N, out)) {
            CHECK(cudaMemsetAsync(states, 0, (TILES + 1) * sizeof *states));
            scan<<<TILES, THREADS>>>(in, out, states, publish > 1);
        }
    printf("\nComputed: both read and write all once; a scan in three launches does so twice.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Waiting for the one before: %.2f times the time; %s.\n", best / base,
           best > 1.1 * base ? "tiles follow one another" : "memory is slower than the chain");
}
