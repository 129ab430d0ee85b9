/* managed.cu - managed memory: one pointer for host and device, and who moves the pages.

   Memory from cudaMallocManaged has one address everywhere, and its pages move to whoever touches
   them. A kernel that touches pages which are still with the host waits for each group of them: a
   page fault. cudaMemPrefetchAsync moves them before, all at once, as a copy would. On systems
   without such faults (Windows, and devices below 6.0) all of it moves before every kernel.

   Build   nvcc -O3 -arch=native managed.cu -o managed
   Run     ./managed [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "managed"
#define EXTRA "moves" /* asked for by the program: copies or prefetches */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, REPS = 1, BATCH = 1 };
#else /* 128 MB */
enum { ON_CPU = 0, N = 1 << 25, REPS = 5, BATCH = 1 };
#endif
enum { THREADS = 256 };

/* data = 2 data + 1, a thread a float: 8 N bytes of device memory. Bound by the way there: 4 N
   bytes over the bus, with or without a page fault for each group of pages. */
__global__ void scale(float *data)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = 2 * data[i] + 1;
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define BYTES (4.0 * N)
enum { PREFETCHED, FAULTS, COPIED, RESIDENT, WAYS, BASE = PREFETCHED };
static row rows[WAYS] = {
    /* bytes: over the bus */
    {"managed, prefetched (right)", N, N, 1, BYTES, BYTES, 0, 0},
    {"managed, by page faults", N, N, 0, BYTES, BYTES, 0, 0},
    {"cudaMemcpy from pinned memory", N, N, 1, BYTES, BYTES, 0, 0},
    {"managed, already on the device", N, N, 0, 0, BYTES, 0, 0},
};
static double limit; /* bytes per second */

/* ---- errors, timing, table: the same in every demo of this folder -------------------------- */
#define CHECK(call)                                                                \
    do {                                                                           \
        cudaError_t error_ = (call);                                               \
        if (error_ != cudaSuccess) {                                               \
            fprintf(stderr, DEMO ": %s: %s\n", #call, cudaGetErrorString(error_)); \
            cudaDeviceReset(); /* frees all that was allocated */                  \
            exit(2);                                                               \
        }                                                                          \
    } while (0)

static void prepare(int way); /* before each measurement, not timed */

/* Median seconds of a run, by events; BATCH runs a measurement, of which the first is not counted.
   Negative on the CPU runner, where times mean nothing. */
static double median_seconds(void (*run)(int way), int way)
{
    float sorted[REPS], ms;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int n = ON_CPU ? 0 : -1, i; n < REPS; n++) {
        prepare(way);
        CHECK(cudaEventRecord(start));
        for (i = 0; i < BATCH; i++) run(way);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        for (i = n; i > 0 && sorted[i - 1] > ms; i--) sorted[i] = sorted[i - 1];
        if (n >= 0) sorted[i] = ms;
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ON_CPU ? -1 : sorted[REPS / 2] * 1e-3 / BATCH;
}

static void print_rows(FILE *f, int csv)
{
    static const int width[] = {11, 11, 9, 8, 9, 8, 7, 6}, digits[] = {0, 0, 4, 2, 4, 1, 1, 2};
    fprintf(f,
            csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                : "%-32s %11s %11s %9s %8s %9s %8s %7s %6s  %s\n",
            "way", "loads", "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
    for (const row *r = rows; r < rows + WAYS; r++) {
        double rate = r->work / r->seconds; /* times and all that comes of them may be negative */
        double cells[] = {r->loads,
                          r->stores,
                          r->extra,
                          r->bytes * 1e-6,
                          r->seconds * 1e3,
                          rate * 1e-9,
                          ON_CPU ? -1 : 100 * rate / limit,
                          ON_CPU ? -1 : r->seconds / rows[BASE].seconds};
        fprintf(f, csv ? "\"%s\"" : "%-32s", r->way);
        for (int c = 0; c < 8; c++)
            if (cells[c] < 0)
                fprintf(f, csv ? ",%.*s" : " %*s", csv ? 0 : width[c], "-");
            else if (csv)
                fprintf(f, ",%.9g", cells[c]);
            else
                fprintf(f, c == 2 ? " %*.*g" : " %*.*f", width[c], digits[c], cells[c]);
        fprintf(f, csv ? ",%s\n" : "  %s\n", r->right ? "ok" : "WRONG");
    }
}

static int write_csv(const char *name) /* beside it first: it is never there half written */
{
    char beside[FILENAME_MAX] = "";
    int direct = 0; /* what is no ordinary file, such as /dev/stdout, is written to as it is */
#ifndef _WIN32
    struct stat there;
    direct = stat(name, &there) == 0 && !S_ISREG(there.st_mode);
#endif
    int good = snprintf(beside, sizeof beside, "%s.tmp", name) < (int)sizeof beside;
    FILE *f = good ? fopen(direct ? name : beside, "w") : NULL;
    if (f) print_rows(f, 1);
    good = f && !ferror(f);
    if (f) good &= fclose(f) == 0;
#ifdef _WIN32
    if (good) remove(name); /* Windows does not rename onto a file */
#endif
    if (!direct) good = good && rename(beside, name) == 0;
    if (!good) fprintf(stderr, DEMO ": cannot write %s\n", name);
    return good;
}

/* Reads the options, opens the device; gives the name of the CSV file or NULL. */
static const char *begin(int count, char **words, cudaDeviceProp *device)
{
    int help = count == 2 && strcmp(words[1], "--help") == 0;
    if (help || (count > 1 && (count != 3 || strcmp(words[1], "--csv") != 0))) {
        if (!help) fprintf(stderr, DEMO ": cannot understand '%s'\n", words[count - 1]);
        fprintf(help ? stdout : stderr,
                "usage: " DEMO " [--csv FILE]   the table, to FILE as well\n");
        exit(help ? 0 : 2);
    }
    CHECK(cudaGetDeviceProperties(device, 0));
    printf("%s, compute capability %d.%d: ", device->name, device->major, device->minor);
    return count == 3 ? words[2] : NULL;
}

static int end(const char *csv) /* the exit status */
{
    int good = csv ? write_csv(csv) : 1;
    for (int way = 0; way < WAYS; way++) good &= rows[way].right;
    printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}

/* ---- the task ------------------------------------------------------------------------------ */
static float values[N], *shared, *pinned, *data;
static int faults; /* whether pages move when they are touched */

static void prefetch(int to_device)
{
    if (!faults) return;
#if CUDART_VERSION >= 13000
    cudaMemLocation where = {to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost, 0};
    CHECK(cudaMemPrefetchAsync(shared, sizeof values, where, 0));
#else
    CHECK(cudaMemPrefetchAsync(shared, sizeof values, to_device ? 0 : cudaCpuDeviceId));
#endif
}

/* Before each timed run: the host fills its memory, which brings the pages back to it. */
static void prepare(int way)
{
    CHECK(cudaDeviceSynchronize());
    memcpy(way == COPIED ? pinned : shared, values, sizeof values);
    if (way == RESIDENT) prefetch(1);
    CHECK(cudaDeviceSynchronize());
}

static void run(int way)
{
    if (way == PREFETCHED) prefetch(1);
    if (way == COPIED) CHECK(cudaMemcpyAsync(data, pinned, sizeof values, cudaMemcpyHostToDevice));
    scale<<<N / THREADS, THREADS>>>(way == COPIED ? data : shared);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    CHECK(cudaMemset(data, 0xff, sizeof values)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaDeviceSynchronize());
    if (way == COPIED) CHECK(cudaMemcpy(pinned, data, sizeof values, cudaMemcpyDeviceToHost));
    rows[way].right = 1;
    for (int i = 0; i < N; i++)
        rows[way].right &= (way == COPIED ? pinned : shared)[i] == 2 * values[i] + 1;
}

static void explain(void) /* only what the figures bear out */
{
    double slower = rows[FAULTS].seconds / rows[PREFETCHED].seconds;
    double copied = rows[PREFETCHED].seconds / rows[COPIED].seconds;
    if (ON_CPU) {
        printf("\nComputed: all ways load and store the same; who moves the %.2f MB differs, and "
               "on the CPU\n"
               "nothing moves.\n",
               BYTES * 1e-6);
        return;
    }
    if (!faults) {
        printf("\nThis system has no page faults on the device: all managed memory moves before "
               "each kernel,\n"
               "prefetched or not, and the first two rows are the same.\n");
        return;
    }
    printf("\nFaults: without the prefetch %.2f times the time, %s.\n", slower,
           slower > 1.2   ? "as the kernel waits for groups of pages one\nafter the other"
           : slower > 0.9 ? "about the same: the pages come as fast one by one"
                          : "less: the kernel need not have all of the\npages moved");
    printf("Copy: the prefetch takes %.2f times as long as cudaMemcpy from pinned memory, %s.\n",
           copied,
           copied > 1.1   ? "since pages\nmust be mapped as well as moved"
           : copied > 0.9 ? "the same bytes\nover the same bus"
                          : "less, and\nstill the kernel finds its pages on the device");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    CHECK(cudaDeviceGetAttribute(&faults, cudaDevAttrConcurrentManagedAccess, 0));
    CHECK(cudaMalloc(&data, sizeof values));
    CHECK(cudaMallocHost(&pinned, sizeof values));
    CHECK(cudaMallocManaged(&shared, sizeof values));
    for (int i = 0; i < N; i++) values[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 10);
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = rows[COPIED].work / rows[COPIED].seconds;
    printf(
        "2 x + 1 for %d floats that the host has just written,\nuntil the kernel is done; limit: "
        "the row with cudaMemcpy\n\n",
        N);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaFree(data));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(shared));
    return end(csv);
}
