/* async_copy.cu - asynchronous copies: tiles of a product travel while others are used.

   An ordinary load into shared memory passes through a register, and the thread waits for it before
   it can store. From compute capability 8.0 on a copy from global to shared memory can be started
   and waited for later: the next tile travels while the threads multiply the last one. That needs
   two tiles in shared memory, and it needs work to do meanwhile: a copy that is waited for at once
   saves the register and nothing else. Below 8.0, and on the CPU runner, the same code copies
   in the ordinary way.

   Build   nvcc -O3 -arch=native async_copy.cu -o async_copy      (nvcc alone may build for 7.5)
   Run     ./async_copy [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif
#ifndef __CUCC__
#include <cuda_pipeline.h>
#endif

#define DEMO  "async_copy"
#define EXTRA "ahead" /* tiles on their way while others are used */
#define RATE  "GFLOP/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 128, REPS = 1, BATCH = 1 };
#else
enum { ON_CPU = 0, N = 2048, REPS = 9, BATCH = 1 };
#endif
enum { TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK, PITCH = TILE + 4 };

typedef struct tiles { /* rows of A are 20 floats long: whole 16 bytes, other banks */
    float a[WIDE][PITCH], b[TILE][WIDE];
} tiles;

/* C = A B, row-major, N x N, 2 N^3 operations, blocks of 16 x 16 threads, a thread 4 x 4 elements.
   Each thread copies 16 bytes of each tile: 2 N^3 / 64 / 4 loads of 16 bytes. Bound by the loads
   from shared memory, and by the wait for each tile where nothing hides it. */

__device__ void multiply_tiles(const tiles *t, float sum[BLOCK][BLOCK])
{
    for (int k = 0; k < TILE; k++) {
        float x[BLOCK], y[BLOCK];
        for (int r = 0; r < BLOCK; r++) {
            x[r] = t->a[threadIdx.y + r * TILE][k];
            y[r] = t->b[k][threadIdx.x + r * TILE];
        }
        for (int r = 0; r < BLOCK; r++)
            for (int s = 0; s < BLOCK; s++) sum[r][s] += x[r] * y[s];
    }
}

__device__ void store_block(float *C, float sum[BLOCK][BLOCK])
{
    int i = blockIdx.y * WIDE + threadIdx.y, j = blockIdx.x * WIDE + threadIdx.x;
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++) C[(i + r * TILE) * N + j + s * TILE] = sum[r][s];
}

__device__ void copy_ordinary(float *to, const float *from)
{
    *(float4 *)to = *(const float4 *)from;
}

__device__ void copy_asynchronous(float *to, const float *from)
{
#if __CUDA_ARCH__ >= 800
    __pipeline_memcpy_async(to, from, 16);
#else
    copy_ordinary(to, from);
#endif
}

/* The copies that were started before the last AHEAD groups have arrived. */
__device__ void end_group_and_wait(int ahead)
{
#if __CUDA_ARCH__ >= 800
    __pipeline_commit();
    if (ahead)
        __pipeline_wait_prior(1);
    else
        __pipeline_wait_prior(0);
#else
    (void)ahead;
#endif
}

__global__ void multiply_ordinary(const float *A, const float *B, float *C)
{
    __shared__ tiles t;
    int n = threadIdx.y * TILE + threadIdx.x, ai = n / 4, ak = n % 4 * 4, bk = n / 16,
        bj = n % 16 * 4;
    float sum[BLOCK][BLOCK] = {{0}};
    for (int k = 0; k < N; k += TILE) {
        copy_ordinary(&t.a[ai][ak], &A[(blockIdx.y * WIDE + ai) * N + k + ak]);
        copy_ordinary(&t.b[bk][bj], &B[(k + bk) * N + blockIdx.x * WIDE + bj]);
        __syncthreads();
        multiply_tiles(&t, sum);
        __syncthreads();
    }
    store_block(C, sum);
}

/* AHEAD 1: the next tiles are on their way while these are used; 0: they are waited for at once. */
__global__ void multiply_asynchronous(const float *A, const float *B, float *C, int ahead)
{
    __shared__ tiles t[2];
    int n = threadIdx.y * TILE + threadIdx.x, ai = n / 4, ak = n % 4 * 4, bk = n / 16,
        bj = n % 16 * 4;
    float sum[BLOCK][BLOCK] = {{0}};
    for (int k = -ahead * TILE; k < N; k += TILE) {
        int next = k + ahead * TILE; /* what is to be started now */
        if (next < N) {
            tiles *to = &t[next / TILE % 2];
            copy_asynchronous(&to->a[ai][ak], &A[(blockIdx.y * WIDE + ai) * N + next + ak]);
            copy_asynchronous(&to->b[bk][bj], &B[(next + bk) * N + blockIdx.x * WIDE + bj]);
        }
        end_group_and_wait(ahead);
        if (k < 0) continue;
        __syncthreads(); /* the copies of all threads have arrived */
        multiply_tiles(&t[k / TILE % 2], sum);
        __syncthreads(); /* no thread needs them any more */
    }
    store_block(C, sum);
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define LOADS (2.0 * N * N * N / WIDE / 4)
#define WORK  (2.0 * N * N * N)
enum { ORDINARY, AT_ONCE, OVERLAPPED, WAYS, BASE = OVERLAPPED };
static row rows[WAYS] = {
    {"ordinary, through registers", LOADS, (double)N *N, 0, 16 * LOADS, WORK, 0, 0},
    {"asynchronous, waited for at once", LOADS, (double)N *N, 0, 16 * LOADS, WORK, 0, 0},
    {"asynchronous, overlapped (right)", LOADS, (double)N *N, 1, 16 * LOADS, WORK, 0, 0},
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
static float host_A[N * N], host_B[N * N], host_C[N * N], *A, *B, *C;
static unsigned int seed;

static unsigned int next_random(void)
{
    return (seed = seed * 1664525u + 1013904223u) >> 8;
}

/* Are all of C right? Compares C x with A (B x) for a random x; with whole numbers this small, all
   sums are exact in any order, so that an error of 1 in one element shows. */
static int is_product(void)
{
    static double x[N], y[N];
    for (int k = 0; k < N; k++) x[k] = (double)(next_random() % 1000003);
    for (int k = 0; k < N; k++) {
        y[k] = 0;
        for (int j = 0; j < N; j++) y[k] += host_B[k * N + j] * x[j];
    }
    for (int i = 0; i < N; i++) {
        double difference = 0;
        for (int k = 0; k < N; k++)
            difference += host_A[i * N + k] * y[k] - host_C[i * N + k] * x[k];
        if (!(difference == 0)) return 0; /* nor may it be NaN */
    }
    return 1;
}

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
    dim3 block(TILE, TILE), grid(N / WIDE, N / WIDE);
    if (way == ORDINARY) multiply_ordinary<<<grid, block>>>(A, B, C);
    if (way == AT_ONCE) multiply_asynchronous<<<grid, block>>>(A, B, C, 0);
    if (way == OVERLAPPED) multiply_asynchronous<<<grid, block>>>(A, B, C, 1);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    CHECK(cudaMemset(C, 0xff, sizeof host_C)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_C, C, sizeof host_C, cudaMemcpyDeviceToHost));
    rows[way].right = is_product();
}

static void explain(const cudaDeviceProp *device) /* only what the figures bear out */
{
    cudaFuncAttributes code;
    double gain = rows[ORDINARY].seconds / rows[OVERLAPPED].seconds;
    double alone = rows[ORDINARY].seconds / rows[AT_ONCE].seconds;
    CHECK(cudaFuncGetAttributes(&code, multiply_asynchronous));
    if (ON_CPU)
        printf(
            "\nComputed: all ways load the same %.0f times 16 bytes; copies ahead change when the\n"
            "threads wait, not what they load. Here all copies are ordinary ones.\n",
            LOADS);
    else if (code.ptxVersion < 80)
        printf("\nAll three ways copied in the ordinary way: the program is compiled for compute\n"
               "capability %d.%d and asynchronous copies begin at 8.0; this device has %d.%d.\n",
               code.ptxVersion / 10, code.ptxVersion % 10, device->major, device->minor);
    else
        printf("\nOverlapped copies make the product %.2f times as fast, %s.\nWaited for at once "
               "they make it "
               "%.2f times as fast: %s.\n",
               gain,
               gain > 1.05 ? "as the next tile travels during the\nmultiplication"
               : gain > 0.95
                   ? "little or nothing: the other\nblocks of a multiprocessor multiply while one "
                     "waits"
                   : "slower: starting and awaiting\nthe copies costs more than it hides here",
               alone,
               alone > 1.05 ? "what goes round the registers saves instructions"
                            : "without work to do meanwhile nothing is hidden");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    seed = (unsigned int)time(NULL);
    limit = peak_of(&device);
    CHECK(cudaMalloc(&A, sizeof host_A));
    CHECK(cudaMalloc(&B, sizeof host_B));
    CHECK(cudaMalloc(&C, sizeof host_C));
    for (int i = 0; i < N * N; i++) {
        host_A[i] = (float)(next_random() % 17) - 8;
        host_B[i] = (float)(next_random() % 17) - 8;
    }
    CHECK(cudaMemcpy(A, host_A, sizeof host_A, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, host_B, sizeof host_B, cudaMemcpyHostToDevice));
    for (int way = 0; way < WAYS; way++) measure(way);
    printf("C = A B, %d x %d floats, limit: the multiply-adds that the device can start\n\n", N, N);
    print_rows(stdout, 0);
    explain(&device);
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    return end(csv);
}
