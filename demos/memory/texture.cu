/* texture.cu - textures: an image turned by 70 degrees, filtered by hardware and by hand.

   A texture is a read-only view of an array whose texels are stored in small squares, so that
   neighbours in both directions are close in memory, and a unit beside the L1 cache handles the
   edges (here: clamped) and filters: it mixes the four texels around a point, by weights of 8 bits.
   In row-major global memory, the points of a warp that lie on a slanted line are in as many rows.

   Build and run: nvcc -O3 -arch=native texture.cu -o texture && ./texture [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "texture"
#define TASK  "turns an image; fetches: for a pixel"
#define EXTRA "fetches"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif /* two images of 64 MB */
enum { ON_CPU = __CUCC__, N = ON_CPU ? 96 : 4096, SIDE = 16 };
static float host[N * N], expected[N * N];

/* Where pixel (i, j) of the turned image comes from, in texels; cosine and sine of 70 degrees. */
__host__ __device__ inline float2 source_of(int i, int j)
{
    float x = i + 0.5f - N / 2, y = j + 0.5f - N / 2, c = 0.342020143f, s = 0.939692621f;
    return make_float2(c * x - s * y + N / 2, s * x + c * y + N / 2);
}

/* Four loads of row-major memory, with the edges and the mixture by hand; for the host, too. */
__host__ __device__ inline float mixture(const float *in, float2 at)
{
    int x = (int)floorf(at.x - 0.5f), y = (int)floorf(at.y - 0.5f);
    float a = at.x - 0.5f - x, b = at.y - 0.5f - y;
    const float *up = in + min(max(y, 0), N - 1) * N, *down = in + min(max(y + 1, 0), N - 1) * N;
    int left = min(max(x, 0), N - 1), right = min(max(x + 1, 0), N - 1);
    return (1 - b) * ((1 - a) * up[left] + a * up[right]) +
           b * ((1 - a) * down[left] + a * down[right]);
}

/* Both: out = the image turned, a thread a pixel; 8 N^2 bytes bound the first, loads the second. */
__global__ void turn_filtered(cudaTextureObject_t in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    float2 from = source_of(i, j);
    out[j * N + i] = tex2D<float>(in, from.x, from.y);
}
__global__ void turn_loaded(const float *in, float *out)
{
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    out[j * N + i] = mixture(in, source_of(i, j));
}

/* ---- the same in every demo: errors, times, rows of the table and the CSV file; main below -- */
static double work, limit, base, best, allowed; /* of a way; G/s; ms of "(right)"; ms; difference */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;
#define RANDOM(i)   ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs < 2 || ms < best ? ms : best; /* the CPU tells nothing of times */
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row; compares OUT, unless it is NULL, with what is expected. Gives "x time". */
static double row(const char *way, double loads, double stores, double extra, double MB, void *out)
{
    size_t i = 0, count = out ? sizeof expected / sizeof *expected : 0;
    double rate = work / best * 1e-6;
    if (out) CHECK(cudaMemcpy(host, out, sizeof expected, cudaMemcpyDefault));
    while (i < count && host[i] - expected[i] <= allowed && expected[i] - host[i] <= allowed) i++;
    const char *result = !out ? "-" : i < count ? "WRONG" : "ok";
    failures += i < count;
    if (limit == 0) limit = rate; /* that of the first way, if nothing else is known */
    if (base == 0 || strstr(way, "(right)")) base = best;
    printf("%-31s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%9.1f%8.2f%8s\n", way, loads, stores, extra, MB,
           best, rate, 100 * rate / limit, best / base, result);
    if (csv)
        fprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.1f,%.2f,%s\n", way, loads, stores, extra, MB,
                best, rate, 100 * rate / limit, best / base, result);
    return best / base;
}

static void task(void)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc at = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    dim3 grid(N / SIDE, N / SIDE), block(SIDE, SIDE);
    float *in, *out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocArray(&at.res.array.array, &format, N, N));
    for (int k = 0; k < N * N; k++) host[k] = RANDOM(k) / 16777216.0f;
    for (int k = 0; k < N * N; k++) expected[k] = mixture(host, source_of(k % N, k / N));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(at.res.array.array, 0, 0, host, 4 * N, 4 * N, N, cudaMemcpyDefault));
    at.resType = cudaResourceTypeArray;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&texture, &at, &how, NULL));
    work = 8.0 * N * N;

    while (again(out)) CHECK(cudaMemcpyAsync(out, in, sizeof host, cudaMemcpyDeviceToDevice));
    row("cudaMemcpy: the limit", 0, 0, 0, work * 1e-6, NULL);
    allowed = 1e-6 * N + 2.0 / 256; /* coordinates are rounded, and weights have 8 bits */
    while (again(out)) turn_filtered<<<grid, block>>>(texture, out);
    row("texture; filtered (right)", 0, N * N, 1, work * 1e-6, out);
    allowed = 1e-6 * N;
    while (again(out)) turn_loaded<<<grid, block>>>(in, out);
    double loads = row("global; four loads", 4 * N * N, N * N, 0, work * 1e-6, out);

    printf("\nComputed: one filtered fetch takes the place of four loads and their mixture.\n");
    if (ON_CPU) return;
    printf("Global memory: %.2f times the time; %s.\n", loads,
           loads > 1.1 ? "four loads, from many rows" : "caches serve slanted lines as well");
}

int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    if (argc == 3 && !strcmp(argv[1], "--csv")) csv = fopen(argv[2], "w");
    if (argc > 1 && !help && !csv)
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    if (help) {
        puts("usage: " NAME " [--csv FILE]\n" TASK "\nWithout a GPU: ./build.sh run memory/" NAME);
    } else {
        CHECK(cudaGetDeviceProperties(&device, 0));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
               "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
        if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
        task();
        if (ON_CPU) puts("Times and rates (nan) need a GPU: the CPU runner counts and checks.");
        CHECK(cudaDeviceReset()); /* frees what the task has allocated */
        if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
        printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    }
    if (fflush(stdout) == 0) return failures > 0;
    if (errno != EPIPE) perror(NAME ": standard output"); /* a closed pipe needs no words */
    return 1;
}
