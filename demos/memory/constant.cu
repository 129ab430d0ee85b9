/* constant.cu - constant memory: the coefficients of a convolution, read together or each his own.

   Constant memory is 64 KB that kernels only read; its cache gives one word at a time to all
   threads of a warp (a broadcast). If all want the same coefficient it costs as little as a
   register. If each wants another one the warp is served word by word, up to 32 times; tables that
   are looked up with an index of one's own belong into global or shared memory.

   Build   nvcc -O3 -arch=native constant.cu -o constant
   Run     ./constant [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "constant"
#define EXTRA "words" /* different coefficients that a warp asks for at a time */
#define RATE  "GFLOP/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 13, REPS = 1, BATCH = 1 };
#else
enum { ON_CPU = 0, N = 1 << 25, REPS = 5, BATCH = 1 };
#endif
enum { THREADS = 256, TAPS = 64 };

__constant__ float table[TAPS];

/* All kernels: out[i] = sum over k of c[k] in[i + k], N sums of 64 products, a thread a sum: 128 N
   operations, 64 N loads of the input, nearly all from the L1 cache, which bounds the first. */

__global__ void convolve_constant(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += table[k] * in[i + k];
    out[i] = sum;
}

/* Coefficients in global memory: 64 N more loads. */
__global__ void convolve_global(const float *in, float *out, const float *c)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += c[k] * in[i + k];
    out[i] = sum;
}

/* Each thread begins with another coefficient: the same sums, but 32 words for each load. */
__global__ void convolve_constant_apart(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int n = 0; n < TAPS; n++) {
        int k = (n + threadIdx.x) % TAPS;
        sum += table[k] * in[i + k];
    }
    out[i] = sum;
}

__global__ void convolve_global_apart(const float *in, float *out, const float *c)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int n = 0; n < TAPS; n++) {
        int k = (n + threadIdx.x) % TAPS;
        sum += c[k] * in[i + k];
    }
    out[i] = sum;
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define LOADS ((double)N * TAPS)
enum { CONSTANT, GLOBAL, CONSTANT_APART, GLOBAL_APART, WAYS, BASE = CONSTANT };
static row rows[WAYS] = {
    /* loads, stores, bytes: of global memory */
    {"constant, same word (right)", LOADS, N, 1, 4 * LOADS + 4.0 * N, 2 * LOADS, 0, 0},
    {"global, same word", 2 * LOADS, N, 1, 8 * LOADS + 4.0 * N, 2 * LOADS, 0, 0},
    {"constant, 32 words", LOADS, N, 32, 4 * LOADS + 4.0 * N, 2 * LOADS, 0, 0},
    {"global, 32 words", 2 * LOADS, N, 32, 8 * LOADS + 4.0 * N, 2 * LOADS, 0, 0},
};
static double limit; /* operations per second */

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
static float host_in[N + TAPS], host_out[N], host_c[TAPS], *in, *out, *c;

/* Operations per second: a multiply-add is two, and a multiprocessor starts 128 or 64 per clock
   (CUDA C++ Programming Guide, arithmetic instructions). */
static double peak_of(const cudaDeviceProp *p)
{
    int half = p->major == 7 || (p->minor == 0 && (p->major == 6 || p->major == 8)), kilohertz;
    CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    return 2.0 * (half ? 64 : 128) * p->multiProcessorCount * kilohertz * 1e3;
}

static void run(int way)
{
    if (way == CONSTANT) convolve_constant<<<N / THREADS, THREADS>>>(in, out);
    if (way == GLOBAL) convolve_global<<<N / THREADS, THREADS>>>(in, out, c);
    if (way == CONSTANT_APART) convolve_constant_apart<<<N / THREADS, THREADS>>>(in, out);
    if (way == GLOBAL_APART) convolve_global_apart<<<N / THREADS, THREADS>>>(in, out, c);
    CHECK(cudaGetLastError());
}

/* Whole numbers this small add up exactly in any order. All sums must be whole numbers (none was
   left out), and every 31st is compared. */
static void measure(int way)
{
    CHECK(cudaMemset(out, 0xff, sizeof host_out)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_out, out, sizeof host_out, cudaMemcpyDeviceToHost));
    rows[way].right = 1;
    for (int i = 0; i < N; i++) rows[way].right &= host_out[i] == (float)(int)host_out[i];
    for (int i = way; i < N; i += 31) {
        float sum = 0;
        for (int k = 0; k < TAPS; k++) sum += host_c[k] * host_in[i + k];
        rows[way].right &= host_out[i] == sum;
    }
}

static void explain(void) /* only what the figures bear out */
{
    double global = rows[GLOBAL].seconds / rows[CONSTANT].seconds;
    double apart = rows[CONSTANT_APART].seconds / rows[CONSTANT].seconds;
    double table_lookup = rows[CONSTANT_APART].seconds / rows[GLOBAL_APART].seconds;
    if (ON_CPU) {
        printf("\nComputed: coefficients in constant memory halve the loads from global memory. A "
               "warp\n"
               "that asks for 32 different words is served in 32 turns.\n");
        return;
    }
    printf("\nBroadcast: coefficients in global memory take %.2f times as long, %s.\n", global,
           global > 1.1 ? "as each product needs\na second load"
                        : "no more: the compiler\nand the L1 cache "
                          "make those loads nearly free");
    printf("Own index: constant memory takes %.1f times as long as with a broadcast and %.1f times "
           "as long as\n"
           "global memory with the same indices: %s.\n",
           apart, table_lookup,
           table_lookup > 1.2 ? "its cache gives a warp one word at a time"
                              : "here its cache is no slower than the L1 cache");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    limit = peak_of(&device);
    CHECK(cudaMalloc(&in, sizeof host_in));
    CHECK(cudaMalloc(&out, sizeof host_out));
    CHECK(cudaMalloc(&c, sizeof host_c));
    for (int i = 0; i < N + TAPS; i++) {
        host_in[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 24) - 128;
        host_c[i % TAPS] = (float)(seed >> 16 & 255) - 128;
    }
    CHECK(cudaMemcpy(in, host_in, sizeof host_in, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(c, host_c, sizeof host_c, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, host_c, sizeof host_c));
    for (int way = 0; way < WAYS; way++) measure(way);
    printf("%d sums of %d products, limit: the multiply-adds that the device can start\n\n", N,
           TAPS);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(c));
    return end(csv);
}
