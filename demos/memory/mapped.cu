/* mapped.cu - mapped host memory (zero-copy): sums of numbers that stay in host memory.

   A kernel can read and write mapped, pinned host memory directly: each access crosses the bus. For
   data that a kernel needs once that is as good as a copy, and the kernel need not wait for the
   copy's end. Data that it needs more than once should be copied: device memory is many times as
   fast as the bus. On a device that shares the memory of the host (integrated graphics) nothing
   crosses a bus, and mapping always pays.

   Build   nvcc -O3 -arch=native mapped.cu -o mapped
   Run     ./mapped [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "mapped"
#define EXTRA "passes" /* over the numbers */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, BLOCKS = 4, REPS = 1, BATCH = 1 };
#else /* 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 1 << 26, BLOCKS = 1024, REPS = 5, BATCH = 1 };
#endif
enum { THREADS = 256, PASSES = 8 };

/* sums[block] = a part of the sum of N numbers; the host adds the parts. A thread loads four
   numbers at a time, N/4 loads in all. Moves 4 N bytes: device memory bounds it, or the bus. */
__global__ void sum_up(const int4 *in, unsigned long long *sums)
{
    __shared__ unsigned long long part[THREADS];
    unsigned long long sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N / 4; i += BLOCKS * THREADS) {
        int4 v = in[i];
        sum += (unsigned long long)v.x + v.y + v.z + v.w;
    }
    part[threadIdx.x] = sum;
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define BYTES (4.0 * N)
enum { MAPPED, COPIED, COPIED_OFTEN, MAPPED_OFTEN, WAYS, BASE = MAPPED };
static row rows[WAYS] = {
    /* bytes: over the bus; the rate: how fast the N numbers are done with */
    {"one pass, mapped (right)", N / 4, BLOCKS, 1, BYTES, BYTES, 0, 0},
    {"one pass, after a copy", N / 4, BLOCKS, 1, BYTES, BYTES, 0, 0},
    {"8 passes, after a copy (right)", PASSES *N / 4.0, PASSES *BLOCKS, PASSES, BYTES, BYTES, 0, 0},
    {"8 passes, mapped", PASSES *N / 4.0, PASSES *BLOCKS, PASSES, PASSES *BYTES, BYTES, 0, 0},
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

/* Median seconds of a run, by events; BATCH runs a measurement, of which the first is not counted.
   Negative on the CPU runner, where times mean nothing. */
static double median_seconds(void (*run)(int way), int way)
{
    float sorted[REPS], ms;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int n = ON_CPU ? 0 : -1, i; n < REPS; n++) {
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
static int *host_in, *mapped, *in;
static unsigned long long host_sums[BLOCKS], *sums, expected;

static void copy(int way)
{
    (void)way;
    CHECK(cudaMemcpyAsync(in, host_in, sizeof(int) * N, cudaMemcpyHostToDevice));
}

static void run(int way)
{
    int copied = way == COPIED || way == COPIED_OFTEN;
    if (copied) copy(way);
    for (int pass = 0; pass < (way == MAPPED || way == COPIED ? 1 : PASSES); pass++)
        sum_up<<<BLOCKS, THREADS>>>((int4 *)(copied ? in : mapped), sums);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    unsigned long long sum = 0;
    CHECK(cudaMemset(in, 0xff, sizeof(int) * N));
    CHECK(cudaMemset(sums, 0xff, sizeof host_sums));
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_sums, sums, sizeof host_sums, cudaMemcpyDeviceToHost));
    for (int b = 0; b < BLOCKS; b++) sum += host_sums[b];
    rows[way].right = sum == expected;
}

static void explain(int integrated) /* only what the figures bear out */
{
    double once = rows[COPIED].seconds / rows[MAPPED].seconds;
    double often = rows[MAPPED_OFTEN].seconds / rows[COPIED_OFTEN].seconds;
    if (ON_CPU) {
        printf("\nComputed: %d passes over mapped memory move %d times the bytes over a bus that a "
               "copy\n"
               "moves once.\n",
               PASSES, PASSES);
        return;
    }
    printf("\nOne pass: with a copy before, %.2f times the time of mapped memory, %s.\n", once,
           once > 1.1   ? "as there the kernel\nbegins after the copy's last byte"
           : once > 0.9 ? "the same: the bus sets\nthe pace of both"
                        : "less: kernels read over\nthe bus more slowly than the copy engine");
    printf("%d passes: mapped memory takes %.2f times as long as a copy, %s.\n", PASSES, often,
           often > 1.5  ? "as every pass crosses the bus again"
           : integrated ? "as this device has no bus to cross"
                        : "little, as caches keep what came over the bus");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    if (!device.canMapHostMemory) {
        fprintf(stderr, DEMO ": this device cannot map host memory\n");
        return 2;
    }
    CHECK(cudaHostAlloc(&host_in, sizeof(int) * N, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&mapped, host_in, 0));
    CHECK(cudaMalloc(&in, sizeof(int) * N));
    CHECK(cudaMalloc(&sums, sizeof host_sums));
    for (int i = 0; i < N; i++) {
        host_in[i] = (int)((seed = seed * 1664525u + 1013904223u) >> 8);
        expected += (unsigned long long)host_in[i];
    }
    limit = BYTES / median_seconds(copy, COPIED);
    for (int way = 0; way < WAYS; way++) measure(way);
    printf("sum of %d numbers in host memory; limit: a copy over the bus\n\n", N);
    print_rows(stdout, 0);
    explain(device.integrated);
    CHECK(cudaFreeHost(host_in));
    CHECK(cudaFree(in));
    CHECK(cudaFree(sums));
    return end(csv);
}
