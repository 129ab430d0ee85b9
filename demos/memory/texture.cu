/* texture.cu - textures: an image turned by 70 degrees, filtered by hardware and by hand.

   A texture is a read-only view of an array whose texels are stored in small squares, so that
   neighbours in both directions are close in memory, and a unit beside the L1 cache handles the
   edges (here: clamped) and filters: it mixes the four texels around a point, by weights of 8 bits.
   In row-major global memory, the points of a warp that lie on a slanted line are in as many rows.

   Build   nvcc -O3 -arch=native texture.cu -o texture
   Run     ./texture [--csv FILE] */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "texture"
#define EXTRA "fetches" /* of texels or filtered points, for each pixel */
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 96, REPS = 1, BATCH = 1 };
#else /* two images of 256 MB: several times the L2 cache */
enum { ON_CPU = 0, N = 8192, REPS = 9, BATCH = 2 };
#endif
enum { SIDE = 16 };

/* Where pixel (i, j) of the turned image comes from, in texels: (0.5, 0.5) is the middle of the
   first one. The turn is about the middle of the image; the host uses the same code. */
__host__ __device__ inline float2 source_of(int i, int j)
{
    const float c = 0.342020143f, s = 0.939692621f; /* of 70 degrees */
    float x = i + 0.5f - N / 2, y = j + 0.5f - N / 2;
    return make_float2(c * x - s * y + N / 2, s * x + c * y + N / 2);
}

/* All kernels: out (N x N) = the turned image, a thread a pixel, blocks of 16 x 16. 8 N^2 bytes
   must move, and device memory bounds the best; four fetches or loads a pixel bound the others. */

__global__ void turn_filtered(cudaTextureObject_t in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    float2 at = source_of(i, j);
    out[(size_t)j * N + i] = tex2D<float>(in, at.x, at.y);
}

/* Four texels and the mixture by hand, with weights of 24 bits. */
__global__ void turn_fetched(cudaTextureObject_t in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    float2 at = source_of(i, j);
    float x = floorf(at.x - 0.5f), y = floorf(at.y - 0.5f);
    float a = at.x - 0.5f - x, b = at.y - 0.5f - y;
    x += 0.5f, y += 0.5f;
    float above = (1 - a) * tex2D<float>(in, x, y) + a * tex2D<float>(in, x + 1, y);
    float below = (1 - a) * tex2D<float>(in, x, y + 1) + a * tex2D<float>(in, x + 1, y + 1);
    out[(size_t)j * N + i] = (1 - b) * above + b * below;
}

/* Four loads of row-major memory, with the edges and the mixture by hand. The host uses it too. */
__host__ __device__ inline float mixture(const float *in, float2 at)
{
    int x = (int)floorf(at.x - 0.5f), y = (int)floorf(at.y - 0.5f);
    float a = at.x - 0.5f - x, b = at.y - 0.5f - y;
    int x0 = x < 0 ? 0 : x < N ? x : N - 1, x1 = x < -1 ? 0 : x < N - 1 ? x + 1 : N - 1;
    int y0 = y < 0 ? 0 : y < N ? y : N - 1, y1 = y < -1 ? 0 : y < N - 1 ? y + 1 : N - 1;
    const float *above = in + (size_t)y0 * N, *below = in + (size_t)y1 * N;
    return (1 - b) * ((1 - a) * above[x0] + a * above[x1]) +
           b * ((1 - a) * below[x0] + a * below[x1]);
}

__global__ void turn_loaded(const float *in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    out[(size_t)j * N + i] = mixture(in, source_of(i, j));
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define SIZE ((double)N * N)
enum { COPY, FILTERED, FETCHED, LOADED, WAYS, BASE = FILTERED };
static row rows[WAYS] = {
    /* loads and stores: of global memory; bytes: each pixel once */
    {"cudaMemcpy: the limit", -1, -1, -1, 8 * SIZE, 8 * SIZE, 0, 0},
    {"texture, filtered (right)", 0, SIZE, 1, 8 * SIZE, 8 * SIZE, 0, 0},
    {"texture, four texels", 0, SIZE, 4, 8 * SIZE, 8 * SIZE, 0, 0},
    {"global memory, four loads", 4 * SIZE, SIZE, 0, 8 * SIZE, 8 * SIZE, 0, 0},
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
static cudaArray_t array;
static cudaTextureObject_t filtered, unfiltered;

static void run(int way)
{
    dim3 grid(N / SIDE, N / SIDE), block(SIDE, SIDE);
    if (way == COPY) CHECK(cudaMemcpyAsync(out, in, sizeof host_in, cudaMemcpyDeviceToDevice));
    if (way == FILTERED) turn_filtered<<<grid, block>>>(filtered, out);
    if (way == FETCHED) turn_fetched<<<grid, block>>>(unfiltered, out);
    if (way == LOADED) turn_loaded<<<grid, block>>>(in, out);
    CHECK(cudaGetLastError());
}

static cudaTextureObject_t create_texture(cudaTextureFilterMode mode)
{
    cudaTextureObject_t texture;
    cudaResourceDesc resource;
    cudaTextureDesc how;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = mode;
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    return texture;
}

/* Texels are from 0 to 1. By hand, the mixture is right to the rounding of coordinates up to N. The
   weights of the hardware have 8 bits: each may be off by 1/256. No pixel may be left out, and
   those of every 16th row are compared. */
static void measure(int way)
{
    float rounding = 8 * 1.2e-7f * N, allowed = way == FILTERED ? rounding + 2.0f / 256 : rounding;
    CHECK(cudaMemset(out, 0xff, sizeof host_out)); /* NaN */
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaMemcpy(host_out, out, sizeof host_out, cudaMemcpyDeviceToHost));
    rows[way].right = way != COPY || memcmp(host_out, host_in, sizeof host_in) == 0;
    for (size_t k = 0; k < (size_t)N * N; k++) rows[way].right &= host_out[k] >= 0;
    for (int j = way; j < N && way != COPY; j += 16)
        for (int i = 0; i < N; i++)
            rows[way].right &=
                fabsf(host_out[(size_t)j * N + i] - mixture(host_in, source_of(i, j))) <= allowed;
}

static void explain(void) /* only what the figures bear out */
{
    double loaded = rows[LOADED].seconds / rows[FILTERED].seconds;
    double fetched = rows[FETCHED].seconds / rows[FILTERED].seconds;
    if (ON_CPU) {
        printf("\nComputed: the filter fetches one mixed point for a pixel, by hand it takes four "
               "texels or\n"
               "four loads. How they lie in memory cannot be counted.\n");
        return;
    }
    printf("\nFilter: four texels and a mixture by hand take %.2f times as long as the filter:\n"
           "%s.\n",
           fetched,
           fetched > 1.1 ? "the texture unit is asked four times as often"
                         : "the texture unit is not the limit here");
    printf(
        "Locality: global memory takes %.2f times as long, %s.\n", loaded,
        loaded > 1.1 ? "as the pixels of a warp come from many\nrows of the image, each another "
                       "line of the cache"
        : loaded > 0.9
            ? "no more: the caches serve slanted\nlines of a row-major image as well as texture "
              "squares"
            : "less: its caches serve the same\npixels faster than the texture unit filters them");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc(&in, sizeof host_in));
    CHECK(cudaMalloc(&out, sizeof host_out));
    CHECK(cudaMallocArray(&array, &format, N, N));
    for (size_t k = 0; k < (size_t)N * N; k++)
        host_in[k] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 24);
    CHECK(cudaMemcpy(in, host_in, sizeof host_in, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host_in, sizeof(float) * N, sizeof(float) * N, N,
                              cudaMemcpyHostToDevice));
    filtered = create_texture(cudaFilterModeLinear);
    unfiltered = create_texture(cudaFilterModePoint);
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = rows[COPY].work / rows[COPY].seconds;
    printf("%d x %d pixels turned by 70 degrees\n\n", N, N);
    print_rows(stdout, 0);
    explain();
    CHECK(cudaDestroyTextureObject(filtered));
    CHECK(cudaDestroyTextureObject(unfiltered));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return end(csv);
}
