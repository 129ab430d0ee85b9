/* texture.cu - textures: an image turned by 70 degrees, filtered by hardware and by hand.

   A texture is a read-only view of an array whose texels are stored in small squares, so that
   neighbours in both directions are close in memory, and a unit beside the L1 cache handles the
   edges (here: clamped) and filters: it mixes the four texels around a point, by weights of 8 bits.
   In row-major global memory, the points of a warp that lie on a slanted line are in as many rows.

   Build and run: nvcc -O3 -arch=native texture.cu -o texture && ./texture [--csv FILE] */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK  "turns an image; fetches: for a pixel"
#define EXTRA "fetches"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 96 };
#else /* two images of 64 MB */
enum { ON_CPU = 0, N = 4096 };
#endif
enum { SIDE = 16 };
static float host[N * N], expected[N * N];

/* Where pixel (i, j) of the turned image comes from, in texels: 0.5 is the middle of the first. */
__host__ __device__ inline float2 source_of(int i, int j)
{
    const float c = 0.342020143f, s = 0.939692621f; /* of 70 degrees */
    float x = i + 0.5f - N / 2, y = j + 0.5f - N / 2;
    return make_float2(c * x - s * y + N / 2, s * x + c * y + N / 2);
}

__host__ __device__ inline int inside(int x) /* the nearest row or column */
{
    return x < 0 ? 0 : x < N ? x : N - 1;
}

/* Four loads of row-major memory, with the edges and the mixture by hand; for the host, too. */
__host__ __device__ inline float mixture(const float *in, float2 at)
{
    int x = (int)floorf(at.x - 0.5f), y = (int)floorf(at.y - 0.5f);
    float a = at.x - 0.5f - x, b = at.y - 0.5f - y;
    const float *above = in + inside(y) * N, *below = in + inside(y + 1) * N;
    return (1 - b) * ((1 - a) * above[inside(x)] + a * above[inside(x + 1)]) +
           b * ((1 - a) * below[inside(x)] + a * below[inside(x + 1)]);
}

/* Both: out (N x N) = the turned image, a thread a pixel, blocks of 16 x 16. 8 N^2 bytes must move;
   device memory bounds the first, four loads a pixel the second. */
__global__ void turn_filtered(cudaTextureObject_t in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    float2 at = source_of(i, j);
    out[j * N + i] = tex2D<float>(in, at.x, at.y);
}

__global__ void turn_loaded(const float *in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    out[j * N + i] = mixture(in, source_of(i, j));
}

/* ---- the same in every demo: errors, times, rows of the table and the CSV file; main below -- */
static double work, limit, base; /* of a way; the highest rate; seconds that are 1 in "x time" */
static float best;               /* milliseconds */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;

/* RANDOM: a number below 2^24 that belongs to i. CHECK: an error ends the program. */
#define RANDOM(i)   (((unsigned)(i)*2654435761u ^ (unsigned)(i) >> 9) * 2246822519u >> 8)
#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms;
    CHECK(cudaGetLastError());
    if (runs > 0) {
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = runs == 1 || ms < best ? ms : best;
    }
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row and gives the seconds; OK is negative if nothing was compared. */
static double row(const char *way, double loads, double stores, double extra, double MB, int ok)
{
    double s = best * 1e-3, rate = work / s, times = base > 0 ? s / base : 1;
    limit = limit > 0 ? limit : rate; /* that of the first way, if nothing else is known */
    failures += !ok;
    for (int f = 0; f < (csv ? 2 : 1); f++) {
        FILE *file = f ? csv : stdout;
        fprintf(file, f ? "%s,%.0f,%.0f,%g,%.2f" : "%-31s%12.0f%12.0f%9g%9.2f", way, loads, stores,
                extra, MB);
        if (ON_CPU) /* where times mean nothing */
            fputs(f ? ",,,," : "        -        -        -       -", file);
        else
            fprintf(file, f ? ",%.4f,%.1f,%.1f,%.2f" : "%9.4f%9.1f%9.1f%8.2f", best, rate * 1e-9,
                    100 * rate / limit, times);
        fprintf(file, f ? ",%s\n" : "%8s\n", ok < 0 ? "-" : ok ? "ok" : "WRONG");
    }
    return s;
}

/* ---- the task ------------------------------------------------------------------------------ */
static int is_right(const float *out, float allowed)
{
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int k = 0; k < N * N; k++)
        if (!(fabsf(host[k] - expected[k]) <= allowed)) return 0; /* nor may it be NaN */
    return 1;
}

static void task(void)
{
    const float rounding = 1e-6f * N; /* of coordinates up to N; texels are from 0 to 1 */
    const double size = N * N, MB = 8e-6 * size;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    dim3 grid(N / SIDE, N / SIDE), block(SIDE, SIDE);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocArray(&resource.res.array.array, &format, N, N));
    for (int k = 0; k < N * N; k++) host[k] = RANDOM(k) / 16777216.0f;
    for (int k = 0; k < N * N; k++) expected[k] = mixture(host, source_of(k % N, k / N));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, host, N * sizeof *host,
                              N * sizeof *host, N, cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    work = 8 * size;

    while (again(out)) CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, MB, -1);
    while (again(out)) turn_filtered<<<grid, block>>>(texture, out);
    base = row("texture; filtered (right)", 0, size, 1, MB, is_right(out, rounding + 2.0f / 256));
    while (again(out)) turn_loaded<<<grid, block>>>(in, out);
    double loads = row("global; four loads", 4 * size, size, 0, MB, is_right(out, rounding)) / base;

    printf("\nComputed: one filtered fetch takes the place of four loads and their mixture.\n");
    if (!ON_CPU)
        printf("Global memory: %.2f times the time; %s.\n", loads,
               loads > 1.1 ? "four loads, from many rows of the image"
                           : "caches serve slanted lines as well");
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(resource.res.array.array));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

/* ---- the same in every demo ---------------------------------------------------------------- */
int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--help") == 0)
        return printf("usage: %s [--csv FILE]\n%s\n", words[0], TASK) < 0;
    if (count == 3 && strcmp(words[1], "--csv") == 0) csv = fopen(words[2], "w");
    if (count > 1 && !csv) {
        fprintf(stderr, "%s: cannot understand or write %s\n", words[0], words[count - 1]);
        return 2;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
           "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
    if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
    task();
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
