/* shared.cu - shared memory: a matrix transposed with and without a tile, and bank conflicts.

   Shared memory is small, on the chip, and belongs to one block. Here it changes the order of data:
   threads that read along a row and write down a column scatter each store of a warp over 32
   sectors of 32 bytes; 4 would hold it. A block that first collects a tile reads and
   writes rows.
   Shared memory has 32 banks, 4 bytes wide each, and serves a warp in one pass if its 32 words lie
   in 32 banks. A column of a tile whose rows are 32 words long lies in one bank and takes 32
   passes; with rows of 33 words, one of them unused, it takes one.

   Build   nvcc -O3 -arch=native shared.cu -o shared
   Run     ./shared [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "shared"
#define EXTRA "passes" /* of a warp over the banks, to read a column of the tile */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 96, REPS = 1, BATCH = 1 };
#else /* two matrices of 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 8192, REPS = 9, BATCH = 4 };
#endif
enum { TILE = 32, ROWS = 8 };

/* out = in^T, both N x N. Grid N/32 x N/32, block 32 x 8, four elements a thread. Moves 8 N^2
   bytes; a warp reads 128 bytes in a row but writes 4 bytes to each of 32 rows, 32 sectors instead
   of 4, and that bounds it. */
__global__ void transpose_plain(const float *in, float *out)
{
    size_t x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += ROWS) out[x * N + y + r] = in[(y + r) * N + x];
}

/* The same through a tile whose rows are PITCH words long, 32 or 33. A warp reads and writes 128
   bytes in a row of global memory; device memory bounds it, or, with 32, the passes. */
__global__ void transpose_tiled(const float *in, float *out, int pitch)
{
    __shared__ float tile[TILE * (TILE + 1)];
    int tx = threadIdx.x, ty = threadIdx.y;
    size_t x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int r = 0; r < TILE; r += ROWS) tile[(ty + r) * pitch + tx] = in[(y + r) * N + x];
    __syncthreads(); /* other threads wrote what this one reads */
    x = blockIdx.y * TILE + tx, y = blockIdx.x * TILE + ty;
    for (int r = 0; r < TILE; r += ROWS) out[(y + r) * N + x] = tile[tx * pitch + ty + r];
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define SIZE ((double)N * N)
enum { COPY, PADDED, CONFLICTS, PLAIN, WAYS, BASE = PADDED };
static row rows[WAYS] = {
    {"cudaMemcpy: the limit", -1, -1, -1, 8 * SIZE, 8 * SIZE, 0, 0},
    {"tile, rows of 33 words (right)", SIZE, SIZE, 1, 8 * SIZE, 8 * SIZE, 0, 0},
    {"tile, rows of 32 words", SIZE, SIZE, 32, 8 * SIZE, 8 * SIZE, 0, 0},
    {"no tile, stores down columns", SIZE, SIZE, -1, 8 * SIZE, 8 * SIZE, 0, 0},
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
static float host_in[(size_t)N * N], host_out[(size_t)N * N], *in, *out;

static void run(int way)
{
    dim3 grid(N / TILE, N / TILE), block(TILE, ROWS);
    if (way == COPY) CHECK(cudaMemcpyAsync(out, in, sizeof host_in, cudaMemcpyDeviceToDevice));
    if (way == PADDED) transpose_tiled<<<grid, block>>>(in, out, TILE + 1);
    if (way == CONFLICTS) transpose_tiled<<<grid, block>>>(in, out, TILE);
    if (way == PLAIN) transpose_plain<<<grid, block>>>(in, out);
    CHECK(cudaGetLastError());
}

static void measure(int way)
{
    CHECK(cudaMemset(out, 0xff, sizeof host_out)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_out, out, sizeof host_out, cudaMemcpyDeviceToHost));
    rows[way].right = 1;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++)
            rows[way].right &= host_out[y * N + x] == host_in[way == COPY ? y * N + x : x * N + y];
}

static void explain(void) /* only what the figures bear out */
{
    double plain = rows[PLAIN].seconds / rows[PADDED].seconds;
    double conflicts = rows[CONFLICTS].seconds / rows[PADDED].seconds;
    if (ON_CPU)
        printf("\nComputed: all ways load and store each element once; the order differs. A column "
               "of\n"
               "32-word rows takes 32 passes over one bank, of 33-word rows one. Without a tile a\n"
               "store of a warp goes to 32 sectors of 32 bytes instead of 4.\n");
    else
        printf("\nTile: without it, %.2f times the time%s.\nPadding: without it, %.2f times the "
               "time%s.\n",
               plain,
               plain > 1.2
                   ? ", as each store of a warp goes to 32 sectors of 32 bytes\ninstead of 4"
                   : "; the L2 cache joins the scattered stores before\nthey reach memory",
               conflicts,
               conflicts > 1.1
                   ? ", as 32 passes over one bank take longer than\nthe memory does"
                   : "; the 32 passes are hidden behind the time that\nthe memory takes");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    CHECK(cudaMalloc(&in, sizeof host_in));
    CHECK(cudaMalloc(&out, sizeof host_out));
    for (size_t i = 0; i < (size_t)N * N; i++)
        host_in[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8);
    CHECK(cudaMemcpy(in, host_in, sizeof host_in, cudaMemcpyHostToDevice));
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = rows[COPY].work / rows[COPY].seconds;
    printf("transposition of %d x %d floats\n\n", N, N);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return end(csv);
}
