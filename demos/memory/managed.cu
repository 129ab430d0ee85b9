/* managed.cu - managed memory: one pointer for host and device, and who moves the pages.

   Memory from cudaMallocManaged has one address everywhere, and its pages move to whoever touches
   them. A kernel that touches pages which are still with the host waits for each group of them: a
   page fault. cudaMemPrefetchAsync moves them before, all at once, as a copy would. On systems
   without such faults (Windows, and devices below 6.0) all of it moves before every kernel.
   Build and run: nvcc -O3 -arch=native managed.cu -o managed && ./managed [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "managed"
#define TASK "2 x + 1 for what the host has just written; moves: that the host asks for"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, THREADS = 256 }; /* 128 MB */
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N];

/* data = 2 data + 1, a thread a float: 8 N bytes of device memory. Bound by the way there: 4 N
   bytes over the bus, with or without a page fault for each group of pages. */
__global__ void scale(float *data)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = 2 * data[i] + 1;
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

static int faults; /* whether pages move when they are touched */

static void prefetch(float *data)
{
    if (!faults) return;
#if CUDART_VERSION >= 13000
    cudaMemLocation there = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPrefetchAsync(data, sizeof host, there, 0));
#else
    CHECK(cudaMemPrefetchAsync(data, sizeof host, 0));
#endif
}

static void task(void)
{
    enum { COPY, PREFETCH, FAULT, STAY, WAYS };
    static const char *const name[WAYS] = {"cudaMemcpy from pinned", "managed; prefetched (right)",
                                           "managed; page faults", "managed; on the device"};
    float *managed, *pinned, *copied;
    double slow = 0;
    CHECK(cudaDeviceGetAttribute(&faults, cudaDevAttrConcurrentManagedAccess, 0));
    CHECK(cudaMalloc(&copied, sizeof host)), CHECK(cudaMallocHost(&pinned, sizeof host));
    CHECK(cudaMallocManaged(&managed, sizeof host));
    for (int i = 0; i < N; i++) expected[i] = 2 * (float)RANDOM(i) + 1;
    work = sizeof host;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "moves", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,moves,MB,ms,GB/s,x time,result\n");
    for (int w = 0; w < WAYS; w++) {
        float *written = w == COPY ? pinned : managed, *result = w == COPY ? copied : managed;
        while (way(name[w], N, N, w < FAULT, w == STAY ? 0 : 4e-6 * N, result)) {
            CHECK(cudaDeviceSynchronize());
            for (int i = 0; i < N; i++) written[i] = RANDOM(i); /* brings the pages to the host */
            if (w == STAY) prefetch(managed);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventRecord(start)); /* the time begins here */
            if (w == PREFETCH) prefetch(managed);
            if (w == COPY) CHECK(cudaMemcpyAsync(copied, pinned, sizeof host, cudaMemcpyDefault));
            scale<<<N / THREADS, THREADS>>>(result);
        }
        if (w == FAULT) slow = best / base;
    }
    CHECK(cudaFree(managed)), CHECK(cudaFree(copied)), CHECK(cudaFreeHost(pinned));

    printf("\nComputed: all load and store the same; only the way of the pages differs.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    const char *const why = slow > 1.2 ? "pages come group by group" : "faults cost little here";
    if (faults) printf("Page faults: %.2f times the time; %s.\n", slow, why);
}
