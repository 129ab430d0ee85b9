/* local.cu - local memory: a histogram whose counters of a thread are in registers, or are not.

   Local memory belongs to one thread like a register, but it is device memory behind the caches. A
   thread's array is put there when an index is not known at compile time, since registers have no
   addresses, and when a kernel needs more registers than it may have (spilling). What is there
   costs a load and a store each time. Two remedies: constant indices (unrolled loops, here with a
   comparison for each counter), or a column of shared memory for each thread.

   Build   nvcc -O3 -arch=native local.cu -o local
   Run     ./local [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "local"
#define EXTRA "local B" /* bytes of local memory a thread, as the compiler reports them */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, BLOCKS = 2, REPS = 1, BATCH = 1 };
#else
enum { ON_CPU = 0, N = 1 << 25, BLOCKS = 512, REPS = 9, BATCH = 4 };
#endif
enum { THREADS = 128, ALL = BLOCKS * THREADS, BINS = 64 };

/* All kernels: each of 512 x 128 threads counts how often each of 64 values stands in every 65536th
   of N numbers, out[value][thread]. Moves 4 N + 4 x 64 x 65536 bytes of global memory. */

/* 64 counters with constant indices: 64 comparisons a number, and these bound it. */
__device__ __forceinline__ void count_unrolled(const int *in, int *out)
{
    int count[BINS], thread = blockIdx.x * THREADS + threadIdx.x;
#pragma unroll
    for (int b = 0; b < BINS; b++) count[b] = 0;
    for (int i = thread; i < N; i += ALL) {
        int value = in[i];
#pragma unroll
        for (int b = 0; b < BINS; b++) count[b] += value == b;
    }
#pragma unroll
    for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b];
}

__global__ void __launch_bounds__(THREADS, 1) count_in_registers(const int *in, int *out)
{
    count_unrolled(in, out);
}

/* The same for blocks of up to 1024 threads: 64 registers a thread, too few for 64 counters. */
__global__ void __launch_bounds__(1024, 1) count_spilled(const int *in, int *out)
{
    count_unrolled(in, out);
}

/* The index is known at run time only: one load and one store of local memory a number. The threads
   of a warp have different values, so different lines of the cache, and that bounds it. */
__global__ void count_indexed(const int *in, int *out)
{
    int count[BINS], thread = blockIdx.x * THREADS + threadIdx.x;
    for (int b = 0; b < BINS; b++) count[b] = 0;
    for (int i = thread; i < N; i += ALL) count[in[i]]++;
    for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b];
}

/* The counters of a thread are a column of shared memory: one bank, no conflicts. */
__global__ void count_in_shared(const int *in, int *out)
{
    __shared__ int count[BINS][THREADS];
    int thread = blockIdx.x * THREADS + threadIdx.x;
    for (int b = 0; b < BINS; b++) count[b][threadIdx.x] = 0;
    for (int i = thread; i < N; i += ALL) count[in[i]][threadIdx.x]++;
    for (int b = 0; b < BINS; b++) out[b * ALL + thread] = count[b][threadIdx.x];
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define LOADS  ((double)N)
#define STORES ((double)BINS * ALL)
#define BYTES  (4 * LOADS + 4 * STORES)
enum { COPY, SHARED, REGISTERS, SPILLED, INDEXED, WAYS, BASE = SHARED };
static row rows[WAYS] = {
    /* loads, stores, bytes: of global memory */
    {"cudaMemcpy: the limit", -1, -1, -1, 8 * LOADS, 8 * LOADS, 0, 0},
    {"shared memory, any index (right)", LOADS, STORES, 0, BYTES, BYTES, 0, 0},
    {"registers, constant indices", LOADS, STORES, 0, BYTES, BYTES, 0, 0},
    {"registers too few: spilled", LOADS, STORES, -1, BYTES, BYTES, 0, 0},
    {"local memory, any index", LOADS, STORES, 4 * BINS, BYTES, BYTES, 0, 0},
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
static int host_in[N], host_out[BINS * ALL], expected[BINS * ALL], *in, *out, *copied;
static void (*const kernels[WAYS])(const int *, int *) = {NULL, count_in_shared, count_in_registers,
                                                          count_spilled, count_indexed};

static void run(int way)
{
    if (way == COPY) CHECK(cudaMemcpyAsync(copied, in, sizeof host_in, cudaMemcpyDeviceToDevice));
    if (way == SHARED) count_in_shared<<<BLOCKS, THREADS>>>(in, out);
    if (way == REGISTERS) count_in_registers<<<BLOCKS, THREADS>>>(in, out);
    if (way == SPILLED) count_spilled<<<BLOCKS, THREADS>>>(in, out);
    if (way == INDEXED) count_indexed<<<BLOCKS, THREADS>>>(in, out);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    cudaFuncAttributes code;
    CHECK(cudaMemset(out, 0xff, sizeof host_out)); /* no count is -1 */
    rows[way].seconds = median_seconds(run, way);
    rows[way].right = 1;
    if (way == COPY) return;
    CHECK(cudaMemcpy(host_out, out, sizeof host_out, cudaMemcpyDeviceToHost));
    rows[way].right = memcmp(host_out, expected, sizeof expected) == 0;
    CHECK(cudaFuncGetAttributes(&code, kernels[way]));
    if (!ON_CPU) rows[way].extra = (double)code.localSizeBytes;
}

static void explain(void) /* only what the figures bear out */
{
    double indexed = rows[INDEXED].seconds / rows[SHARED].seconds;
    double spilled = rows[SPILLED].seconds / rows[REGISTERS].seconds;
    if (ON_CPU) {
        printf("\nComputed: 64 counters of 4 bytes need 256 bytes of local memory a thread, and a "
               "load\n"
               "and a store there for each number; what is spilled, only a compiler for GPUs "
               "knows.\n");
        return;
    }
    printf("\nIndex: counters in local memory take %.2f times as long as in shared memory, %s.\n",
           indexed,
           rows[INDEXED].extra == 0 ? "though\nthis compiler found registers for them"
           : indexed > 1.1          ? "as each\nthread of a warp reaches another line of the cache"
                           : "no more:\nthe L1 cache, which is the same memory, holds them all");
    printf("Spilling: %.0f bytes a thread, %.2f times the time of the same code with enough "
           "registers%s.\n",
           rows[SPILLED].extra, spilled,
           rows[SPILLED].extra == 0 ? ":\nnothing was spilled here"
           : spilled > 1.1
               ? ",\nas a number then costs loads and stores beside its comparisons"
               : ":\nthe L1 cache and more threads at a time make up for the loads and stores");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    CHECK(cudaMalloc(&in, sizeof host_in));
    CHECK(cudaMalloc(&copied, sizeof host_in));
    CHECK(cudaMalloc(&out, sizeof host_out));
    for (int i = 0; i < N; i++) {
        host_in[i] = (int)((seed = seed * 1664525u + 1013904223u) >> 16) % BINS;
        expected[host_in[i] * ALL + i % ALL]++;
    }
    CHECK(cudaMemcpy(in, host_in, sizeof host_in, cudaMemcpyHostToDevice));
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = rows[COPY].work / rows[COPY].seconds;
    printf("%d histograms of %d numbers in all\n\n", ALL, N);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaFree(in));
    CHECK(cudaFree(copied));
    CHECK(cudaFree(out));
    return end(csv);
}
