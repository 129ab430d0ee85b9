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

#define NAME  "managed"
#define TASK  "2 x + 1 for what the host has just written; moves: asked for; limit: cudaMemcpy"
#define EXTRA "moves"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, THREADS = 256 }; /* 128 MB */
static float host[N], expected[N];

/* data = 2 data + 1, a thread a float: 8 N bytes of device memory. Bound by the way there: 4 N
   bytes over the bus, with or without a page fault for each group of pages. */
__global__ void scale(float *data)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = 2 * data[i] + 1;
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
    double x[WAYS];
    float *managed, *pinned, *copied;
    CHECK(cudaDeviceGetAttribute(&faults, cudaDevAttrConcurrentManagedAccess, 0));
    CHECK(cudaMalloc(&copied, sizeof host));
    CHECK(cudaMallocHost(&pinned, sizeof host));
    CHECK(cudaMallocManaged(&managed, sizeof host));
    for (int i = 0; i < N; i++) expected[i] = 2 * (float)RANDOM(i) + 1;
    work = sizeof host;

    for (int way = 0; way < WAYS; way++) {
        float *written = way == COPY ? pinned : managed, *result = way == COPY ? copied : managed;
        while (again(result)) {
            CHECK(cudaDeviceSynchronize());
            for (int i = 0; i < N; i++) written[i] = RANDOM(i); /* brings the pages to the host */
            if (way == STAY) prefetch(managed);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventRecord(start)); /* the time begins here */
            if (way == PREFETCH) prefetch(managed);
            if (way == COPY) CHECK(cudaMemcpyAsync(copied, pinned, sizeof host, cudaMemcpyDefault));
            scale<<<N / THREADS, THREADS>>>(result);
        }
        x[way] = row(name[way], N, N, way < FAULT, way == STAY ? 0 : 4e-6 * N, result);
    }

    printf("\nComputed: all load and store the same; only the way of the pages differs.\n");
    if (!ON_CPU && faults)
        printf("Page faults: %.2f times the time; %s.\n", x[FAULT],
               x[FAULT] > 1.2 ? "pages come group by group" : "faults cost little here");
    CHECK(cudaFree(managed));
    CHECK(cudaFree(copied));
    CHECK(cudaFreeHost(pinned));
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
