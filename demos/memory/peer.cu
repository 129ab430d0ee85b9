/* peer.cu - memory of another device: read directly, by a copy, and by way of the host.

   A kernel can read the memory of another device once cudaDeviceEnablePeerAccess allows it: every
   access crosses NVLink or the bus. What is needed more than once is better copied first, from
   device to device. Without peer access the driver copies by way of the host. Where there is one
   device it plays both parts: right results, but nothing crosses anything.
   Build and run: nvcc -O3 -arch=native peer.cu -o peer && ./peer [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "peer"
#define TASK "sums numbers of another device; passes: over them; MB: that cross"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, BLOCKS = ON_CPU ? 4 : 1024 };
enum { THREADS = 256 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static int host[N], expected[BLOCKS];              /* 256 MB: more than L2 holds */

/* sums[block] = its part of the sum of N numbers, in each of PASSES: 4 N bytes a pass, bound by the
   way to the other device, or by memory. */
__global__ void sum_up(const int4 *in, int *sums, int passes)
{
    __shared__ int total;
    int sum = 0;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int t = blockIdx.x * THREADS + threadIdx.x; passes-- > 0;)
        for (int i = t; i < N / 4; i += BLOCKS * THREADS) {
            int4 v = in[i];
            sum += v.x + v.y + v.z + v.w;
        }
    atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
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
    enum { ONE, TWO, THREE, FOUR, HOST, WAYS }; /* a pass: ONE and TWO; 4 passes: the others */
    static const char *const name[2][WAYS] = {
        {"direct (right)", "copied", "direct; 4 passes (right)", "copied; 4 passes", "by the host"},
        {"direct (right)", "copied", "copied; 4 passes (right)", "direct; 4 passes",
         "by the host"}};
    int devices, access = 1, other, *near, *far, *sums, *pinned;
    double x[WAYS] = {0};
    CHECK(cudaGetDeviceCount(&devices));
    other = devices > 1;
    if (other) CHECK(cudaDeviceCanAccessPeer(&access, 0, other));
    if (other && access) CHECK(cudaDeviceEnablePeerAccess(other, 0));
    if (!other) puts("There is one device: it plays both parts, and nothing crosses.");
    if (!access) puts("Device 0 cannot read device 1: the direct ways are left out.");
    CHECK(cudaSetDevice(other)), CHECK(cudaMalloc(&far, sizeof host)), CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&near, sizeof host)), CHECK(cudaMalloc(&sums, sizeof expected));
    CHECK(cudaMallocHost(&pinned, sizeof host));
    for (int i = 0; i < N; i++) expected[i / 4 / THREADS % BLOCKS] += pinned[i] = RANDOM(i) % 256;
    CHECK(cudaMemcpy(far, pinned, sizeof host, cudaMemcpyDefault));
    work = sizeof host;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "passes", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,passes,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < WAYS; x[w++] = best / base) {
        const int passes = w < THREE ? 1 : 4, direct = w == ONE || w == (other ? FOUR : THREE);
        const double cross = w == HOST ? 2 : direct ? passes * other : other; /* times */
        for (int b = 0; w == THREE && b < BLOCKS; b++) expected[b] *= passes;
        while ((access || !direct) &&
               way(name[other][w], passes * N / 4, BLOCKS, passes, 4e-6 * N * cross, sums)) {
            if (!direct && w < HOST) CHECK(cudaMemcpyPeerAsync(near, 0, far, other, sizeof host));
            if (w == HOST) CHECK(cudaMemcpyAsync(pinned, far, sizeof host, cudaMemcpyDefault));
            if (w == HOST) CHECK(cudaMemcpyAsync(near, pinned, sizeof host, cudaMemcpyDefault));
            sum_up<<<BLOCKS, THREADS>>>((int4 *)(direct ? far : near), sums, passes);
        }
    }
    CHECK(cudaFree(far)), CHECK(cudaFreeHost(pinned));
    printf("\nComputed: 4 direct passes %s; by the host, all crosses the bus twice.\n",
           other ? "cross 4 times, one copy once" : "cross nothing here");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    if (access) printf("Copied: %.2f times the time of direct reads.\n", x[TWO]);
    printf("4 passes, by the host: %.2f times the time.\n", x[HOST]);
}
