/* registers.cu - registers: a matrix product that loads less the more it keeps in registers.

   Registers belong to one thread and are the only memory that the arithmetic units read at full
   speed: a fused multiply-add needs its three operands there. A product that loads two numbers for
   each multiply-add is bound by those loads, from global or from shared memory. A thread that keeps
   a block of 4 x 4 sums in registers loads 4 + 4 numbers for 16 multiply-adds.

   Build   nvcc -O3 -arch=native registers.cu -o registers
   Run     ./registers [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "registers"
#define EXTRA "fma/load" /* multiply-adds for each load from any memory but registers */
#define RATE  "GFLOP/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 128, REPS = 1, BATCH = 1 };
#else
enum { ON_CPU = 0, N = 2048, REPS = 5, BATCH = 1 };
#endif
enum { TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };

/* All kernels: C = A B, row-major, N x N, 2 N^3 operations, blocks of 16 x 16 threads. */

/* A thread an element: 2 N^3 loads from global memory, or from the caches, which bound it. */
__global__ void multiply_global(const float *A, const float *B, float *C)
{
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[i * N + k] * B[k * N + j];
    C[i * N + j] = sum;
}

/* A thread an element, tiles of 16 x 16 in shared memory: 2 N^3 / 16 loads from global and 2 N^3
   from shared memory, which bound it. */
__global__ void multiply_shared(const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < N; k0 += TILE) {
        a[ty][tx] = A[i * N + k0 + tx];
        b[ty][tx] = B[(k0 + ty) * N + j];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[i * N + j] = sum;
}

/* A thread 4 x 4 elements, 16 apart, in registers; tiles of 64 x 16 and 16 x 64: 2 N^3 / 64 loads
   from global and 2 N^3 / 4 from shared memory, which still bound it, but at a higher rate. */
__global__ void multiply_registers(const float *A, const float *B, float *C)
{
    __shared__ float a[WIDE][TILE + 1], b[TILE][WIDE]; /* 17: no bank conflicts down a column */
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * WIDE + ty, j = blockIdx.x * WIDE + tx;
    float sum[BLOCK][BLOCK] = {{0}};
    for (int k0 = 0; k0 < N; k0 += TILE) {
        for (int r = 0; r < BLOCK; r++) {
            a[ty + r * TILE][tx] = A[(i + r * TILE) * N + k0 + tx];
            b[ty][tx + r * TILE] = B[(k0 + ty) * N + j + r * TILE];
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float x[BLOCK], y[BLOCK];
            for (int r = 0; r < BLOCK; r++) x[r] = a[ty + r * TILE][k], y[r] = b[k][tx + r * TILE];
            for (int r = 0; r < BLOCK; r++)
                for (int s = 0; s < BLOCK; s++) sum[r][s] += x[r] * y[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++) C[(i + r * TILE) * N + j + s * TILE] = sum[r][s];
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define SIZE ((double)N * N)
enum { GLOBAL, SHARED, REGISTERS, WAYS, BASE = REGISTERS };
static row rows[WAYS] = {
    /* loads, stores and bytes: of global memory */
    {"1 x 1, from global memory", 2 * SIZE *N, SIZE, 0.5, 8 * SIZE *N, 2 * SIZE *N, 0, 0},
    {"1 x 1, from shared memory", 2 * SIZE *N / 16, SIZE, 0.5, 8 * SIZE *N / 16, 2 * SIZE *N, 0, 0},
    {"4 x 4 in registers (right)", 2 * SIZE *N / 64, SIZE, 2, 8 * SIZE *N / 64, 2 * SIZE *N, 0, 0},
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
    dim3 block(TILE, TILE), grid(N / TILE, N / TILE), wide_grid(N / WIDE, N / WIDE);
    if (way == GLOBAL) multiply_global<<<grid, block>>>(A, B, C);
    if (way == SHARED) multiply_shared<<<grid, block>>>(A, B, C);
    if (way == REGISTERS) multiply_registers<<<wide_grid, block>>>(A, B, C);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    CHECK(cudaMemset(C, 0xff, sizeof host_C)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_C, C, sizeof host_C, cudaMemcpyDeviceToHost));
    rows[way].right = is_product();
}

static void explain(void) /* only what the figures bear out */
{
    double gain = rows[SHARED].seconds / rows[REGISTERS].seconds;
    double tile = rows[GLOBAL].seconds / rows[SHARED].seconds;
    if (ON_CPU) {
        printf("\nComputed: a tile of 16 x 16 divides the loads from global memory by 16, and a "
               "block\n"
               "of 4 x 4 in registers divides those from both memories by 4 again.\n");
        return;
    }
    printf("\nTile: 1 x 1 from shared memory is %.2f times as fast as from global memory, %s.\n",
           tile,
           tile > 1.1 ? "as 16 threads\nuse each number that is loaded from there"
                      : "no gain, as\nthe caches serve the repeated loads about as fast");
    printf("Registers: 4 x 4 is %.2f times as fast as 1 x 1, %s.\n", gain,
           gain > 1.3 ? "as a load feeds 2 multiply-adds\ninstead of half of one"
                      : "little, so that something other than loads\nis the limit here");
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
    explain();
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    return end(csv);
}
