/* readonly.cu - read-only data: y = A x with const __restrict__, with __ldg and with neither.

   "const float *__restrict__" promises two things: the kernel does not write there, and no other
   pointer of it does. The first lets loads go through the read-only path (__ldg asks for it by
   hand). Since compute capability 7.0 that is the same L1 cache as for all loads, so it gains
   little. The second lets the compiler keep values in registers over a store through another
   pointer: without it y[i] += ... in a loop must be stored, and A and x loaded, in that order.

   Build   nvcc -O3 -arch=native readonly.cu -o readonly
   Run     ./readonly [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "readonly"
#define EXTRA "terms" /* of each sum */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 10, K = 16, REPS = 1, BATCH = 1 };
#else /* A takes 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 1 << 20, K = 64, REPS = 9, BATCH = 4 };
#endif
enum { THREADS = 256 };

/* All kernels: y (N) = A x, A is N x K and stored column by column, so that neighbouring threads
   read neighbouring numbers: grid N/256, a thread a row. Read 4 N K bytes; bound by memory. */

__global__ void multiply_restrict(const float *__restrict__ A, const float *__restrict__ x,
                                  float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = 0;
    for (int k = 0; k < K; k++) y[i] += A[(size_t)k * N + i] * x[k];
}

/* The same lines; y might be part of A or x, for all that the compiler knows. */
__global__ void multiply_plain(const float *A, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = 0;
    for (int k = 0; k < K; k++) y[i] += A[(size_t)k * N + i] * x[k];
}

/* A variable for the sum: what __restrict__ allows the compiler, done by hand. */
__global__ void multiply_sum(const float *A, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[(size_t)k * N + i] * x[k];
    y[i] = sum;
}

/* And with the read-only path asked for by hand. */
__global__ void multiply_ldg(const float *A, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += __ldg(&A[(size_t)k * N + i]) * __ldg(&x[k]);
    y[i] = sum;
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define TERMS ((double)N * K)
enum { COPY, RESTRICT, LDG, SUM, PLAIN, WAYS, BASE = RESTRICT };
static row rows[WAYS] = {
    /* of the first and the last way: as written, the compiler may do less */
    {"cudaMemcpy: the limit", -1, -1, -1, 8 * TERMS, 8 * TERMS, 0, 0},
    {"const __restrict__ (right)", 2 * TERMS, N, K, 4 * TERMS, 4 * TERMS, 0, 0},
    {"__ldg, sum in a variable", 2 * TERMS, N, K, 4 * TERMS, 4 * TERMS, 0, 0},
    {"plain, sum in a variable", 2 * TERMS, N, K, 4 * TERMS, 4 * TERMS, 0, 0},
    {"plain, sum in y[i]", 2 * TERMS, TERMS + N, K, 8 * TERMS, 4 * TERMS, 0, 0},
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
static float host_A[(size_t)N * K], host_x[K], host_y[N], expected[N], *A, *x, *y, *copied;

static void run(int way)
{
    if (way == COPY) CHECK(cudaMemcpyAsync(copied, A, sizeof host_A, cudaMemcpyDeviceToDevice));
    if (way == RESTRICT) multiply_restrict<<<N / THREADS, THREADS>>>(A, x, y);
    if (way == LDG) multiply_ldg<<<N / THREADS, THREADS>>>(A, x, y);
    if (way == SUM) multiply_sum<<<N / THREADS, THREADS>>>(A, x, y);
    if (way == PLAIN) multiply_plain<<<N / THREADS, THREADS>>>(A, x, y);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    CHECK(cudaMemset(y, 0xff, sizeof host_y)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    rows[way].right = 1;
    if (way == COPY) return;
    CHECK(cudaMemcpy(host_y, y, sizeof host_y, cudaMemcpyDeviceToHost));
    rows[way].right = memcmp(host_y, expected, sizeof expected) == 0; /* whole numbers: exact */
}

static void explain(void) /* only what the figures bear out */
{
    double path = rows[SUM].seconds / rows[LDG].seconds,
           alias = rows[PLAIN].seconds / rows[RESTRICT].seconds;
    if (ON_CPU) {
        printf("\nComputed: where y might overlap A or x, a sum in y[i] is stored %d times, not "
               "once. Which\n"
               "path a load takes cannot be counted.\n",
               K + 1);
        return;
    }
    printf(
        "\nPath: __ldg makes plain loads %.2f times as fast: %s.\n", path,
        path > 1.05 ? "here the read-only cache helps"
        : path < 0.95
            ? "here the read-only path is the slower one"
            : "no difference, as data read once\ngain nothing from any cache, and ordinary loads "
              "use the same L1 cache since 7.0");
    printf("Promise: without __restrict__ the same lines take %.2f times as long: %s.\n", alias,
           alias > 1.05
               ? "each sum is stored\nin every step, and the loads of the next step wait behind "
                 "the store"
               : "the caches take the\nadditional stores, and enough threads hide the waiting");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    CHECK(cudaMalloc(&A, sizeof host_A));
    CHECK(cudaMalloc(&copied, sizeof host_A));
    CHECK(cudaMalloc(&x, sizeof host_x));
    CHECK(cudaMalloc(&y, sizeof host_y));
    for (int k = 0; k < K; k++) {
        host_x[k] = (float)((seed = seed * 1664525u + 1013904223u) >> 24) + 1;
        for (int i = 0; i < N; i++) {
            float *a = &host_A[(size_t)k * N + i];
            *a = (float)((seed = seed * 1664525u + 1013904223u) >> 24) - 128;
            expected[i] += *a * host_x[k];
        }
    }
    CHECK(cudaMemcpy(A, host_A, sizeof host_A, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyHostToDevice));
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = rows[COPY].work / rows[COPY].seconds;
    printf("y = A x, A %d x %d floats\n\n", N, K);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaFree(A));
    CHECK(cudaFree(copied));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return end(csv);
}
