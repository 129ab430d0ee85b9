/* tensor_map.cu - tensor maps: a tile fetched by one thread, with zeros beyond the image's edges.

   A tensor map describes an array and a box. From 9.0 on one thread asks for the box at (x, y). The
   hardware computes addresses and gives zeros beyond the edges. By hand each thread does all that.
   Build and run: nvcc -O3 -arch=native tensor_map.cu -o map && ./map [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME "tensor_map"
#define TASK "sums 3 x 3 pixels; requests: of a block, for its tile; maps need code for 9.0"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
#if CUDART_VERSION >= 12050 && !__CUCC__
#include <cudaTypedefs.h>
#else
typedef int CUtensorMap; /* there are none: all tiles by hand */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 96 : 8192, SIDE = 32, WIDE = 40, HIGH = 34, ROW = N / SIDE };
enum { THREADS = 256, BYTES = 4 * WIDE * HIGH, LOADS = BYTES / 16 }; /* of a tile */
#define PTX(code, ...) asm volatile(code ::__VA_ARGS__ : "memory") /* "mbarrier", "cp.async.bulk" */
static float host[N * N], expected[N * N];                         /* 256 MB each */
/* out = the sums of 3 x 3 pixels, N x N, a block 32 x 32: 8 N^2 bytes bound it. No IN: by the map. */
__global__ void sum_boxes(const __grid_constant__ CUtensorMap map, const float *in, float *out)
{
    __shared__ __align__(128) float tile[HIGH * WIDE];
    int t = threadIdx.x, left = blockIdx.x * SIDE - 4, up = blockIdx.y * SIDE - 1;
#if CUDART_VERSION >= 12050 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __shared__ unsigned long long barrier;
    unsigned int to = __cvta_generic_to_shared(tile), at = __cvta_generic_to_shared(&barrier);
    if (t == 0 && !in)
        PTX("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async.shared::cta;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\ncp.async.bulk.tensor.2d"
            ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%2], [%3, {%4, %5}], [%0];",
            "r"(at), "r"(BYTES), "r"(to), "l"(&map), "r"(left), "r"(up));
    __syncthreads(); /* the barrier, which counts the bytes that come, is ready */
    if (!in)
        PTX("{.reg .pred p;\nw: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra w;}",
            "r"(at));
#endif
    for (int e = t; in && e < LOADS; e += THREADS) {
        int x = left + e % 10 * 4, y = up + e / 10, inside = x >= 0 && x < N && y >= 0 && y < N;
        ((float4 *)tile)[e] = inside ? *(float4 *)&in[y * N + x] : make_float4(0, 0, 0, 0);
    }
    __syncthreads();
    for (int p = t; p < SIDE * SIDE; p += THREADS) {
        float sum = 0;
        for (int k = 0; k < 9; k++) sum += tile[(p / SIDE + k / 3) * WIDE + p % SIDE + 3 + k % 3];
        out[(up + 1 + p / SIDE) * N + left + 4 + p % SIDE] = sum;
    }
    (void)map;
}
/* ---- the harness, the same in every demo: while (way(...)) RUN makes a row of the best of nine -- */
#define CHECK(call) check(call, #call)
static double work, allowed, base, best; /* of a way; a difference; ms: of "(right)", of this way */
static int failures, runs;
static char rows[8192], *csv = rows; /* the text of the CSV file, written at the end */
static cudaEvent_t start, stop;
static void task(void);
static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}
static int way(const char *name, double loads, double stores, double extra, double MB, void *result)
{
    float ms = INFINITY;
    size_t i = 0, count = sizeof expected / sizeof *expected;
    CHECK(cudaGetLastError()), CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs > 1 && best < ms ? best : ms; /* the CPU tells nothing of times */
    if (runs++ < (ON_CPU ? 1 : 9)) /* again: NaN into the result, meanwhile the host starts RUN */
        return CHECK(cudaMemset(result, 0xff, sizeof expected)), CHECK(cudaEventRecord(start)), 1;
    CHECK(cudaMemcpy(host, result, sizeof expected, cudaMemcpyDefault));
    while (i < count && fabs(1.0 * host[i] - expected[i]) <= allowed) i++;
    failures += i < count;
    if (base == 0 || strstr(name, "(right)")) base = best;
    printf("%-30s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%8.2f%7s\n", name, loads, stores, extra, MB, best,
           work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    csv += sprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.2f,%s\n", name, loads, stores, extra, MB,
                   best, work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    return runs = 0;
}
int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    const char *path = argc == 3 && !strcmp(argv[1], "--csv") ? argv[2] : "/dev/null";
    FILE *file = fopen(path, "wx"); /* a new one: none until it is whole; an older one stays */
    if (file ? remove(path) : !(file = fopen(path, "a")) || (argc > 1 && !help && path != argv[2]))
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    puts(help ? "usage: " NAME " [--csv FILE]\n" TASK : TASK);
    if (!help) CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop)), task();
    if (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0)
        failures += printf("\nThe CSV file could not be written.\n");
    if (!help) CHECK(cudaDeviceReset()), printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    if (fflush(stdout) != 0 && errno != EPIPE) perror(NAME ": standard output");
    return failures > 0 || ferror(stdout);
}
static void task(void)
{
    float *in, *out;
    CUtensorMap map = {};
    cudaFuncAttributes code;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaFuncGetAttributes(&code, sum_boxes));
#if CUDART_VERSION >= 12050 && !__CUCC__ /* the driver's function, found now: no -lcuda */
    const cuuint64_t size[] = {N, N}, pitch[] = {4 * N};
    const cuuint32_t box[] = {WIDE, HIGH}, step[] = {1, 1};
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0));
    failures += encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, size, pitch, box, step,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                       CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != 0;
#endif
    for (int k = 0; k < N * N; k++) host[k] = k % 251;
    for (int e = 0, x, y; e < 9 * N * N; e++)
        x = e / 9 % N + e % 3 - 1, y = e / 9 / N + e % 9 / 3 - 1,
        expected[e / 9] += x < 0 || x == N || y < 0 || y == N ? 0 : host[y * N + x];
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault)), work = 8.0 * N * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "requests", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,requests,MB,ms,GB/s,x time,result\n");
    while (code.ptxVersion >= 90 && way("tensor map (right)", 0, N * N, 1, work * 1e-6, out))
        sum_boxes<<<dim3(ROW, ROW), THREADS>>>(map, NULL, out);
    while (way("by hand", (10.0 * ROW - 2) * (34 * ROW - 2), N * N, LOADS, work * 1e-6, out))
        sum_boxes<<<dim3(ROW, ROW), THREADS>>>(map, in, out);
    printf("\nComputed: one request for a tile, or %d of 16 bytes.\n", LOADS);
    if (!ON_CPU) printf("By hand: %.2f times the time.\n", best / base);
}
