/* global.cu - global memory: one operation on every element, with five orders of access.

   Global memory is the large memory of the device. It is read and written in sectors of 32 bytes:
   the 32 threads of a warp that touch 32 neighbouring floats need 4 sectors (a coalesced access),
   and 32 floats far apart need 32 sectors, of which 7 parts in 8 are moved for nothing.

   Build   nvcc -O3 -arch=native global.cu -o global
   Run     ./global [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "global"
#define EXTRA "sectors" /* that a warp touches to load 32 floats */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, REPS = 1, BATCH = 1 };
#else /* two arrays of 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 1 << 26, REPS = 9, BATCH = 4 };
#endif
enum { THREADS = 256 };

/* All kernels: out = 2 in + 1 for N floats; 8 N bytes at least, and device memory bounds them. */

/* A thread a float, neighbours to neighbours: grid N/256. The threads of a warp start at the first
   element of a sector, or SHIFT floats behind it; the last SHIFT threads do the first elements. */
__global__ void scale(const float *in, float *out, int shift)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x + shift) % N;
    out[i] = 2 * in[i] + 1;
}

/* A thread four floats in one instruction: grid N/4/256. */
__global__ void scale_four(const float4 *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}

/* A thread a float, neighbours STRIDE floats apart, as when the columns of a matrix with rows of
   STRIDE floats are walked: grid N/256. The floats between are touched much later. */
__global__ void scale_strided(const float *in, float *out, int stride)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t % (N / stride) * stride + t / (N / stride);
    out[i] = 2 * in[i] + 1;
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define SIZE ((double)N)
enum { COPY, FOUR, COALESCED, SHIFTED, STRIDE2, STRIDE32, WAYS, BASE = COALESCED };
static row rows[WAYS] = {
    /* bytes: whole sectors, read and written */
    {"cudaMemcpy: the limit", -1, -1, -1, 8 * SIZE, 8 * SIZE, 0, 0},
    {"float4, neighbours (right)", SIZE / 4, SIZE / 4, 4, 8 * SIZE, 8 * SIZE, 0, 0},
    {"float, neighbours (right)", SIZE, SIZE, 4, 8 * SIZE, 8 * SIZE, 0, 0},
    {"float, neighbours, one off", SIZE, SIZE, 5, 8 * SIZE, 8 * SIZE, 0, 0},
    {"float, every second", SIZE, SIZE, 8, 16 * SIZE, 8 * SIZE, 0, 0},
    {"float, every 32nd", SIZE, SIZE, 32, 64 * SIZE, 8 * SIZE, 0, 0},
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
static float host_in[N], host_out[N], *in, *out;

static void run(int way)
{
    if (way == COPY) CHECK(cudaMemcpyAsync(out, in, sizeof host_in, cudaMemcpyDeviceToDevice));
    if (way == FOUR) scale_four<<<N / 4 / THREADS, THREADS>>>((float4 *)in, (float4 *)out);
    if (way == COALESCED) scale<<<N / THREADS, THREADS>>>(in, out, 0);
    if (way == SHIFTED) scale<<<N / THREADS, THREADS>>>(in, out, 1);
    if (way == STRIDE2) scale_strided<<<N / THREADS, THREADS>>>(in, out, 2);
    if (way == STRIDE32) scale_strided<<<N / THREADS, THREADS>>>(in, out, 32);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    CHECK(cudaMemset(out, 0xff, sizeof host_out)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_out, out, sizeof host_out, cudaMemcpyDeviceToHost));
    rows[way].right = 1;
    for (int i = 0; i < N; i++)
        rows[way].right &= host_out[i] == (way == COPY ? host_in[i] : 2 * host_in[i] + 1);
}

static void explain(void) /* only what the figures bear out */
{
    double four = rows[COALESCED].seconds / rows[FOUR].seconds;
    double shifted = rows[SHIFTED].seconds / rows[COALESCED].seconds;
    double strided = rows[STRIDE32].seconds / rows[COALESCED].seconds;
    if (ON_CPU) {
        printf(
            "\nComputed: float4 needs a quarter of the loads and stores for the same bytes; every\n"
            "32nd float needs 32 sectors for a warp instead of 4, so 8 times the bytes.\n");
        return;
    }
    printf("\nStride: every 32nd float takes %.1f times as long as neighbours, %s.\n", strided,
           strided > 2
               ? "as each float moves a\nsector of 32 bytes"
               : "little, as the caches keep\nthe sectors until their other floats are used");
    printf("Alignment: one float off takes %.2f times as long, %s.\n", shifted,
           shifted > 1.1
               ? "as a warp touches 5 sectors for 4"
               : "as the fifth sector of a warp is the\nfirst of the next, and in the cache");
    printf("float4: %.2f times as fast as float, %s.\n", four,
           four > 1.05 ? "as a quarter of the instructions keeps more bytes on\ntheir way at a time"
           : four < 0.95 ? "slower: fewer threads, with fewer requests on their way"
                         : "no gain where single floats already keep the memory busy");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    CHECK(cudaMalloc(&in, sizeof host_in));
    CHECK(cudaMalloc(&out, sizeof host_out));
    for (int i = 0; i < N; i++) host_in[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 10);
    CHECK(cudaMemcpy(in, host_in, sizeof host_in, cudaMemcpyHostToDevice));
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = rows[COPY].work / rows[COPY].seconds;
    printf("2 x + 1 for %d floats\n\n", N);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return end(csv);
}
