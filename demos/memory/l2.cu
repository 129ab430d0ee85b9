/* l2.cu - the L2 cache: how a table that is used often stays there while a stream passes.

   All accesses to device memory pass through L2. A stream that is read once drives out what others
   need again. Loads and stores marked as streaming (__ldcs, __stcs) are the first to be driven out.
   From compute capability 8.0 on, a window of addresses can be made persisting for the kernels of a
   stream: a part of L2 is set aside for it. Both are hints.
   Build and run: nvcc -O3 -arch=native l2.cu -o l2 && ./l2 [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "l2"
#define TASK "adds words of a table to each 16th number; hints: streaming 1, window 2"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 26, THREADS = 256, BLOCKS = N / THREADS };
enum { TABLE = ON_CPU ? 1 << 10 : 1 << 22, APART = 16, STREAMING = 1, WINDOW = 2 }; /* 16 MB */
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8)  /* a number below 2^24 that belongs to i */
static int host[N], expected[N], host_table[TABLE]; /* 256 MB each: more than L2 holds */

/* out[i] = in[i], a thread a number, N numbers, + a word of the table for each 16th. The stream
   moves 8 N bytes. A word moves a sector of 32 bytes, 2 N bytes in all, from L2, or from memory if
   the stream has driven it out. Memory bounds it. */
__global__ void look_up(const int *in, const int *table, int *out, int hints)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int value = hints & STREAMING ? __ldcs(&in[i]) : in[i];
    int sum = value + (i % APART ? 0 : table[RANDOM(i) % TABLE]);
    if (hints & STREAMING)
        __stcs(&out[i], sum);
    else
        out[i] = sum;
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

/* Makes BYTES from TABLE on persisting for the kernels of the default stream; 0: no longer. */
static void set_window(int *table, size_t bytes)
{
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.base_ptr = table, value.accessPolicyWindow.num_bytes = bytes;
    value.accessPolicyWindow.hitRatio = 1;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &value));
    if (bytes == 0) CHECK(cudaCtxResetPersistingL2Cache());
}
static void task(void)
{
    static const char *const name[4] = {"no hints", "streaming hints", "window (right)",
                                        "window; streaming hints"};
    static const int order[4] = {WINDOW, WINDOW + STREAMING, STREAMING, 0};
    double x[4];
    int *in, *out, *table, set_aside, l2;
    CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    CHECK(cudaDeviceGetAttribute(&set_aside, cudaDevAttrMaxPersistingL2CacheSize, 0));
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMalloc(&table, sizeof host_table));
    for (int t = 0; t < TABLE; t++) host_table[t] = RANDOM(t + 1);
    for (int i = 0; i < N; i++)
        expected[i] = (host[i] = RANDOM(i)) + (i % APART ? 0 : host_table[RANDOM(i) % TABLE]);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpy(table, host_table, sizeof host_table, cudaMemcpyDefault));
    if (set_aside > 0) CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside));
    work = 8.0 * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "hints", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,hints,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < 4; w++) {
        const int hints = order[w];
        if (set_aside > 0) set_window(table, hints & WINDOW ? sizeof host_table : 0);
        while (way(name[hints], (1 + 1.0 / APART) * N, N, hints, 8e-6 * N, out))
            look_up<<<BLOCKS, THREADS>>>(in, table, out, hints);
        x[hints] = best / base;
    }
    printf("\nComputed: a table of %.1f MB, 32 bytes of it for each 128 of the stream.\n",
           4e-6 * TABLE);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("L2: %.1f MB, %.1f MB can be set aside. No hints: %.2f times the time; %s.\n", 1e-6 * l2,
           1e-6 * set_aside, x[0],
           x[0] > 1.1 ? "the stream drives out the table" : "the table stays without them");
    printf("Streaming hints: %.2f times, with the window %.2f times.\n", x[1], x[3]);
}
