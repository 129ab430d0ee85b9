/* managed.cu - managed memory: one pointer for host and device, and who moves the pages.

   Memory from cudaMallocManaged has one address everywhere, and its pages move to whoever touches
   them. A kernel that touches pages which are still with the host waits for each group of them: a
   page fault. cudaMemPrefetchAsync moves them before, all at once, as a copy would. On systems
   without such faults (Windows, and devices below 6.0) all of it moves before every kernel.

   Build and run: nvcc -O3 -arch=native managed.cu -o managed && ./managed [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "2 x + 1 for what the host has just written; moves: asked for; limit: cudaMemcpy"
#define EXTRA "moves"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 1 << 14 };
#else /* 128 MB */
enum { ON_CPU = 0, N = 1 << 25 };
#endif
enum { THREADS = 256 };
static float host[N];

/* data = 2 data + 1, a thread a float: 8 N bytes of device memory. Bound by the way there: 4 N
   bytes over the bus, with or without a page fault for each group of pages. */
__global__ void scale(float *data)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = 2 * data[i] + 1;
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
    double seconds[WAYS];
    float *managed, *pinned, *copied;
    CHECK(cudaDeviceGetAttribute(&faults, cudaDevAttrConcurrentManagedAccess, 0));
    CHECK(cudaMalloc(&copied, sizeof host));
    CHECK(cudaMallocHost(&pinned, sizeof host));
    CHECK(cudaMallocManaged(&managed, sizeof host));
    for (int i = 0; i < N; i++) host[i] = RANDOM(i);
    work = sizeof host;

    for (int way = 0, ok = 1; way < WAYS; way++) {
        float *written = way == COPY ? pinned : managed;
        while (again(copied)) {
            CHECK(cudaDeviceSynchronize());
            memcpy(written, host, sizeof host); /* brings the pages back to the host */
            if (way == STAY) prefetch(managed);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventRecord(start)); /* the time begins here */
            if (way == PREFETCH) prefetch(managed);
            if (way == COPY)
                CHECK(cudaMemcpyAsync(copied, pinned, sizeof host, cudaMemcpyHostToDevice));
            scale<<<N / THREADS, THREADS>>>(way == COPY ? copied : managed);
        }
        CHECK(cudaDeviceSynchronize());
        if (way == COPY) CHECK(cudaMemcpy(pinned, copied, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) ok &= written[i] == 2 * host[i] + 1;
        base = way > PREFETCH ? seconds[PREFETCH] : 0;
        seconds[way] = row(name[way], N, N, way < FAULT, way == STAY ? 0 : 4e-6 * N, ok);
    }

    printf("\nComputed: all load and store the same; only the way of the pages differs.\n");
    if (!ON_CPU && faults)
        printf("Page faults: %.2f times the time; %s.\n", seconds[FAULT] / base,
               seconds[FAULT] > 1.2 * base ? "pages come group by group"
                                           : "faults cost little here");
    CHECK(cudaFree(copied));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
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
