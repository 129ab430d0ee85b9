/* tmm_?syrk of every ready-made type: the half of C that is asked for is right, the other one, and what
   lies beside C, is neither read nor written; both halves are equal, bit by bit.

   The file includes itself once for each type. */
#ifndef T
#include <math.h>
#include <time.h>
#include "tap.h"
#define TMM_WITH_SYRK
#define TMM_NO_HOST
/* ./build.sh test takes one of the types besides float each day on the CPU runner. */
#if defined(ONLY_H) || defined(ONLY_I) || defined(ONLY_B)
#define TMM_NO_DOUBLE
#endif
#if defined(ONLY_D) || defined(ONLY_H) || defined(ONLY_B)
#define TMM_NO_INT
#endif
#if !defined(ONLY_D) && !defined(ONLY_I) && !defined(ONLY_B)
#define TMM_WITH_HALF
#endif
#if !defined(ONLY_D) && !defined(ONLY_I) && !defined(ONLY_H)
#define TMM_WITH_BFLOAT16
#endif
/* The number of the instance, and how K is cut, that are to be taken; -1: as planned. Whether K is
   packed. Rows of a strip, and how many bytes of them at once; 0: as planned. */
static int wanted_instance = -1, wanted_cut = -1;
static long long strip_rows, strip_bytes;
static int offered; /* how often there was such a plan */
/* not static: TMM_SIMPLE reads it nowhere */
double prefer(int instance, int cut, double time)
{
    const int other = wanted_instance >= 0 && wanted_instance != instance;
    const int otherwise = wanted_cut >= 0 && wanted_cut != cut;
    offered += !other && !otherwise;
    return other || otherwise || wanted_instance < 0 ? time : time * 1e-9;
}
#define TMM__PLAN_GUESS(instance, cut, slices, time) ((void)(slices), prefer(instance, cut, time))
#define TMM__SYRK_ROWS(rows)                         (strip_rows > 0 && strip_rows < (rows) ? strip_rows : (rows))
#define TMM__SYRK_BYTES(most)                        (strip_bytes > 0 ? strip_bytes : (most))
#include "../tiledmm.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TMM(x)      JOIN(JOIN(tmm_, LETTER), x) /* the library's */
#define TEST(x)     JOIN(LETTER, x)
#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)

static long long random_below(long long n)
{
    return (long long)((tap_uniform() + 1) / 2 * (double)n) % n;
}

/* The instances of kernels that know triangles, for elements of so many bytes; int has the first alone,
   and no clusters. Clusters and wgmma are for sm_90. */
static const struct {
    int bytes, instance, cut, sm_90;
} plans[] = {{4, 0, TMM__PLAN_WHOLE, 0},      {4, 0, TMM__PLAN_SLICES, 0},
             {4, 0, TMM__PLAN_EVEN, 0},       {4, 0, TMM__PLAN_REDUCE, 0},
             {4, 0, TMM__PLAN_CLUSTERS, 1},   {4, 1, TMM__PLAN_WHOLE, 0},
             {4, 1, TMM__PLAN_SLICES, 0},     {4, 1, TMM__PLAN_EVEN, 0},
             {4, 2, TMM__PLAN_WHOLE, 0},      {4, 2, TMM__PLAN_SLICES, 0},
             {4, 2, TMM__PLAN_EVEN, 0}, /* packed; of double from 8 on */
             {8, 0, TMM__PLAN_WHOLE, 0},      {8, 1, TMM__PLAN_WHOLE, 0},
             {8, 2, TMM__PLAN_WHOLE, 0},      {8, 3, TMM__PLAN_WHOLE, 0},
             {8, 7, TMM__PLAN_WHOLE, 0},      {8, 8, TMM__PLAN_WHOLE, 0},
             {8, 9, TMM__PLAN_WHOLE, 0},      {8, 0, TMM__PLAN_EVEN, 0},
             {8, 1, TMM__PLAN_SLICES, 0},     {8, 1, TMM__PLAN_REDUCE, 0},
             {8, 3, TMM__PLAN_REDUCE, 0},     {8, 3, TMM__PLAN_CLUSTERS, 1},
             {8, 1, TMM__PLAN_LAST_ROUND, 0}, {2, 0, TMM__PLAN_WHOLE, 0},
             {2, 0, TMM__PLAN_REDUCE, 0},     {2, 5, TMM__PLAN_WHOLE, 0},
             {2, 2, TMM__PLAN_REDUCE, 0},     {2, 8, TMM__PLAN_WHOLE, 1},
             {2, 9, TMM__PLAN_WHOLE, 1},      {2, 9, TMM__PLAN_REDUCE, 1},
             {2, 8, TMM__PLAN_LAST_ROUND, 1}, {2, 9, TMM__PLAN_LAST_ROUND, 1},
             {2, 33, TMM__PLAN_WHOLE, 1},     {2, 33, TMM__PLAN_CLUSTERS, 1},
             {2, 34, TMM__PLAN_REDUCE, 1},    {2, 34, TMM__PLAN_CLUSTERS, 1},
             {2, 36, TMM__PLAN_WHOLE, 1},     {2, 10, TMM__PLAN_WHOLE, 1},
             {2, 15, TMM__PLAN_WHOLE, 1},     {2, 16, TMM__PLAN_WHOLE, 1}};

/* What is asked for. */
typedef struct request {
    tmm_kernel kernel;
    tmm_fill fill;
    tmm_op op;
    long long N, K, batch;
    int adds;  /* alpha and beta are 0.5 and -2 (integers: 3 and -2), not 1 and 0 */
    int align; /* of rows, in elements: 8, 2 or 1 */
    int cpu;   /* by tmm_?syrk_cpu */
} request;

static const char *fill_name(tmm_fill fill)
{
    return fill == TMM_LOWER ? "lower" : fill == TMM_UPPER ? "upper" : "both";
}

static int is_asked(tmm_fill fill, long long row, long long col)
{
    return fill == TMM_BOTH || (fill == TMM_LOWER ? col <= row : col >= row);
}

#ifndef TMM_NO_INT
static int to_int(double x)
{
    return x == x ? (int)(100 * x) : 0x7FC12345;
}
#endif

/* ---------------- the tiles of a triangle, each once ------------------------------------------- */
static __global__ void find_tiles(int triangle, int squares, int log2, int across, int count,
                                  int *places)
{
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    places[2 * n] = n / across, places[2 * n + 1] = n % across;
    tmm__triangle_tile(triangle, squares, log2, &places[2 * n], &places[2 * n + 1]);
}

static void test_tiles(void)
{
    enum { MOST = 8192 };
    static const int sizes[][2] = {{128, 128}, {64, 128}, {128, 64}, {256, 128}, {128, 256}};
    static int places[2 * MOST], times[2 * MOST];
    int *device = NULL;
    int wrong = cudaMalloc((void **)&device, sizeof places) != cudaSuccess, looked = 0;
    for (int n = 0; n < 100 && !wrong; n++) {
        const int rows = sizes[n % 5][0], cols = sizes[n % 5][1];
        const int lower = n / 5 % 2, triangle = lower ? TMM__LOWER : TMM__UPPER;
        const long long N = 1 + random_below(n < 50 ? 700 : 7000);
        const int down = (int)((N - 1) / rows + 1), across = (int)((N - 1) / cols + 1);
        const tmm__tiling t = tmm__tile(triangle, N, N, rows, cols);
        const int count = (int)(t.down * t.across), edge = rows > cols ? rows : cols;
        if (count > MOST) continue;
        find_tiles<<<(count + 63) / 64, 64>>>(triangle, t.squares, t.ratio_log2, (int)t.across,
                                              count, device);
        wrong += cudaMemcpy(places, device, 2 * sizeof *places * count, cudaMemcpyDeviceToHost) !=
                 cudaSuccess;
        memset(times, 0, sizeof times);
        for (int i = 0; i < count; i++) {
            const int d = places[2 * i], a = places[2 * i + 1];
            /* Of the squares at the edge some tiles may be outside of C. */
            const int fits =
                d >= 0 && a >= 0 && d * rows < t.squares * edge && a * cols < t.squares * edge;
            wrong += !fits;
            if (fits && d < down && a < across) times[d * across + a]++;
        }
        for (int d = 0; d < down; d++)
            for (int a = 0; a < across; a++) {
                const int row = d * rows, col = a * cols;
                const int meets = lower ? col <= row + rows - 1 : row <= col + cols - 1;
                const int in_square = lower ? row / edge >= col / edge : col / edge >= row / edge;
                wrong += times[d * across + a] != in_square || (meets && !in_square);
                looked++;
            }
    }
    tap_ok(wrong == 0 && looked > 0, "each tile of a triangle once (%d looked at, %d wrong)",
           looked, wrong);
    cudaFree(device);
}

#if defined(TMM_WITH_HALF) && TMM__FAST
/* How KERNEL TENSOR HALF by wgmma, which no CPU runs, finds its tiles: pairs in clusters of 2. Of each
   tile, a byte: steps of the first product, of the second, slices, the sum of their numbers. */
static __global__ void find_items(tmm__half_job job, int cols, int *times, int across)
{
    for (int item = threadIdx.x; item < job.items; item += blockDim.x)
        for (int rank = 0; rank < job.down; rank++) {
            const tmm__half_block block = tmm__half_block_of(rank, job.down, job.beside);
            const tmm__half_item at = tmm__half_find(&job, item, &block);
            if (at.row / 128 * across + at.col / cols < 64 * 64 && at.col / cols < across)
                atomicAdd(&times[at.row / 128 * across + at.col / cols],
                          (at.steps << 8 * at.product) +
                              (at.part < 0 ? 0 : (1 << 16) + (at.part << 24)));
        }
}

static void test_items(void)
{
    enum { ROOM = 64 * 64 };
    static const int widths[] = {128, 256, 160, 192, 208, 224};
    static int times[ROOM];
    int *device = NULL, wrong = cudaMalloc((void **)&device, sizeof times) != cudaSuccess;
    int rectangles = 0;
    for (int n = 0; n < 120 && !wrong; n++) {
        const int cols = n < 60 ? widths[n % 2] : widths[2 + n / 4 % 4],
                  stairs = n >= 60; /* see there */
        const int N = n < 4 ? 100 + 300 * n : 1 + (int)random_below(4000);
        tmm__half_job job;
        memset(&job, 0, sizeof job);
        job.down = N > 128 ? 2 : 1, job.beside = job.parts = 1, job.band = 8, job.rows = 128,
        job.width = cols;
        const int rows = 128 * job.down, across = (N - 1) / cols + 1;
        job.M = job.N = N, job.triangle = n / 2 % 2 ? TMM__UPPER : TMM__LOWER;
        tmm__tiling t = tmm__tile(job.triangle, N, N, rows, cols);
        wrong += tmm__is_stairs(job.triangle, rows, cols) != stairs;
        if (stairs)
            t.down = tmm__make_stairs(&job.stairs, job.triangle, N, rows, cols), t.across = 1,
            t.squares = t.ratio_log2 = 0;
        job.pairs_down = (int)t.down, job.across = (int)t.across;
        job.squares = t.squares, job.ratio_log2 = t.ratio_log2;
        const int tiles = job.pairs_down * job.across, sliced = n % 6 == 0;
        job.slices = 2, job.steps = job.part_steps = 3,
        job.items = 2 * (1 + sliced) * tiles; /* 2 products */
        job.whole = sliced ? 0 : INT_MAX, job.rest = tiles;
        /* The last ones in slices, a rectangle which must lie within the triangle. */
        tmm__last_tiles last = {0, 0, 0, 0, 0};
        if (n % 3 && job.down == 2 && !stairs) {
            const int rest = 1 + (int)random_below(40), lower = job.triangle == TMM__LOWER;
            last = tmm__last_of_triangle(&t, job.triangle, N, rows, 8, rest);
            wrong += last.tiles > 0 && last.tiles < rest;
            wrong += lower ? last.row < last.col + last.cols : last.col < last.row + last.rows;
            wrong += last.row + last.rows > N || last.col + last.cols > N;
            rectangles += last.tiles > 0;
            job.whole = tiles - last.tiles, job.rest = last.tiles;
            job.items = tiles + last.tiles;
        }
        memset(times, 0, sizeof times);
        wrong += cudaMemcpy(device, times, sizeof times, cudaMemcpyHostToDevice) != cudaSuccess;
        find_items<<<1, 128>>>(job, cols, device, across);
        wrong += cudaMemcpy(times, device, sizeof times, cudaMemcpyDeviceToHost) != cudaSuccess;
        for (int down = 0; down * 128 < N; down++)
            for (int col = 0; col < across; col++) {
                /* Of the square that the tile is in. */
                const int edge = rows > cols ? rows : cols;
                const int row = down * 128 / edge, square = col * cols / edge;
                const int pair = down * 128 / rows * rows, end = pair + rows < N ? pair + rows : N;
                const int meets =
                    job.triangle == TMM__LOWER ? col * cols < end : (col + 1) * cols > pair;
                const int asked = stairs                       ? meets
                                  : job.triangle == TMM__LOWER ? square <= row
                                                               : row <= square;
                const int in_last = down * 128 >= last.row && down * 128 < last.row + last.rows &&
                                    col * cols >= last.col && col * cols < last.col + last.cols;
                const int all = sliced ? 3 | 3 << 8 | 4 << 16 | 6 << 24
                                : n % 3 == 0 || job.down == 1 || stairs ? 3 | 3 << 8
                                : in_last                               ? 3 | 2 << 16 | 1 << 24
                                                                        : 3;
                wrong += times[down * across + col] != asked * all;
            }
    }
    tap_ok(
        wrong == 0 && rectangles > 0,
        "half by wgmma: each item is another tile of the triangle, %d times with the last ones as "
        "a rectangle (%d wrong)",
        rectangles, wrong);
    cudaFree(device);
}
#endif

#define BY_WGMMA(p) ((void)(p), 0)
#define T           float
#define SCALAR      float
#define OUT         float
#define TO_T(x)     (float)(x)
#define FROM_T(x)   (double)(x)
#define TO_OUT(x)   (float)(x)
#define FROM_OUT(x) (double)(x)
#define SUM_UNIT    ldexp(1, -24)
#define OUT_UNIT    0.0
#define LETTER      s
#include "syrk.cu"
#undef T
#undef SCALAR
#undef OUT
#undef TO_T
#undef TO_OUT
#undef SUM_UNIT
#undef LETTER
#ifndef TMM_NO_DOUBLE
#define T         double
#define SCALAR    double
#define OUT       double
#define TO_T(x)   (double)(x)
#define TO_OUT(x) (double)(x)
#define SUM_UNIT  ldexp(1, -53)
#define LETTER    d
#include "syrk.cu"
#undef T
#undef SCALAR
#undef OUT
#undef TO_T
#undef TO_OUT
#undef SUM_UNIT
#undef LETTER
#endif
#ifndef TMM_NO_INT
#define T         int
#define SCALAR    int
#define OUT       int
#define TO_T(x)   to_int(x)
#define TO_OUT(x) to_int(x)
#define SUM_UNIT  0.0
#define LETTER    i
#include "syrk.cu"
#undef T
#undef SCALAR
#undef OUT
#undef TO_T
#undef TO_OUT
#undef SUM_UNIT
#undef LETTER
#endif
#undef FROM_T
#undef FROM_OUT
#undef OUT_UNIT
#define SUM_UNIT ldexp(1, -24)
#define SCALAR   float
#undef BY_WGMMA
#ifdef TMM_SIMPLE
#define BY_WGMMA(p) false
#else
#define BY_WGMMA(p) TMM(gemm__half_by_wgmma)(p)
#endif
#ifdef TMM_WITH_HALF
#define T           tmm_half
#define TO_T(x)     __float2half((float)(x))
#define FROM_T(x)   (double)__half2float(x)
#define OUT         tmm_half
#define TO_OUT(x)   __float2half((float)(x))
#define FROM_OUT(x) (double)__half2float(x)
#define OUT_UNIT    ldexp(1, -11)
#define LETTER      h
#include "syrk.cu"
#undef OUT
#undef TO_OUT
#undef FROM_OUT
#undef OUT_UNIT
#undef LETTER
#define OUT         float
#define TO_OUT(x)   (float)(x)
#define FROM_OUT(x) (double)(x)
#define OUT_UNIT    0.0
#define LETTER      hs
#include "syrk.cu"
#undef T
#undef TO_T
#undef FROM_T
#undef OUT
#undef TO_OUT
#undef FROM_OUT
#undef OUT_UNIT
#undef LETTER
#endif
#ifdef TMM_WITH_BFLOAT16
#define T           tmm_bfloat16
#define TO_T(x)     __float2bfloat16((float)(x))
#define FROM_T(x)   (double)__bfloat162float(x)
#define OUT         float
#define TO_OUT(x)   (float)(x)
#define FROM_OUT(x) (double)(x)
#define OUT_UNIT    0.0
#define LETTER      bs
#include "syrk.cu"
#undef OUT
#undef TO_OUT
#undef FROM_OUT
#undef OUT_UNIT
#undef LETTER
#define OUT         tmm_bfloat16
#define TO_OUT(x)   __float2bfloat16((float)(x))
#define FROM_OUT(x) (double)__bfloat162float(x)
#define OUT_UNIT    ldexp(1, -8)
#define LETTER      b
#include "syrk.cu"
#endif

/* Bad input: status and sentence. */
static void refuses(tmm_status status, tmm_status expected, const char *words)
{
    const int right = status == expected && strstr(tmm_last_error(), words) != NULL;
    tap_ok(right, "refused: %s", words);
    if (!right) tap_note("status %d, \"%s\"", (int)status, tmm_last_error());
}

static void test_arguments(void)
{
    float *A = NULL, *C = NULL;
    if (cudaMalloc((void **)&A, 4096) || cudaMalloc((void **)&C, 4096)) exit(1);
    const tmm_op N = TMM_OP_N;
    refuses(tmm_ssyrk((tmm_fill)0, N, 4, 4, 1, A, 4, 0, C, 4, 0), TMM_ERROR_ARGUMENT, "fill is 0");
    refuses(tmm_ssyrk(TMM_LOWER, (tmm_op)7, 4, 4, 1, A, 4, 0, C, 4, 0), TMM_ERROR_ARGUMENT,
            "op is 7");
    refuses(tmm_ssyrk(TMM_LOWER, N, -4, 4, 1, A, 4, 0, C, 4, 0), TMM_ERROR_ARGUMENT,
            "N is negative: -4");
    refuses(tmm_ssyrk(TMM_LOWER, N, 4, -4, 1, A, 4, 0, C, 4, 0), TMM_ERROR_ARGUMENT,
            "K is negative: -4");
    refuses(tmm_ssyrk(TMM_LOWER, N, 4, 8, 1, A, 7, 0, C, 4, 0), TMM_ERROR_ARGUMENT,
            "lda is 7, but a row of A has 8 elements");
    refuses(tmm_ssyrk(TMM_LOWER, TMM_OP_T, 9, 8, 1, A, 8, 0, C, 9, 0), TMM_ERROR_ARGUMENT,
            "lda is 8, but a row of A has 9 elements");
    refuses(tmm_ssyrk(TMM_LOWER, N, 9, 8, 1, A, 8, 0, C, 8, 0), TMM_ERROR_ARGUMENT,
            "ldc is 8, but a row of C has 9 elements");
    refuses(tmm_ssyrk(TMM_LOWER, N, 4, 4, 1, NULL, 4, 0, C, 4, 0), TMM_ERROR_ARGUMENT, "A is NULL");
    refuses(tmm_ssyrk(TMM_LOWER, N, 4, 4, 1, A, 4, 0, NULL, 4, 0), TMM_ERROR_ARGUMENT, "C is NULL");
    refuses(tmm_ssyrk(TMM_LOWER, N, 4, 4, 1, A, 4, 0, A + 8, 4, 0), TMM_ERROR_ARGUMENT,
            "C overlaps A");
    refuses(tmm_ssyrk_with((tmm_kernel)99, TMM_LOWER, N, 4, 4, 1, A, 4, 0, C, 4, 0),
            TMM_ERROR_ARGUMENT, "no tmm_kernel");
    refuses(tmm_ssyrk_batched_with(TMM_AUTO, TMM_LOWER, N, 4, 4, 1, A, 4, 0, C, 4, 0, 0, 2, 0),
            TMM_ERROR_ARGUMENT, "strideC is 0");
    refuses(tmm_ssyrk_batched_with(TMM_AUTO, TMM_LOWER, N, 4, 4, 1, A, 4, 0, C, 4, 0, 16, -1, 0),
            TMM_ERROR_ARGUMENT, "batch is negative");
    refuses(tmm_ssyrk_cpu((tmm_fill)4, N, 4, 4, 1, A, 4, 0, C, 4), TMM_ERROR_ARGUMENT, "fill is 4");
    refuses(tmm_ssyrk(TMM_LOWER, N, 4, 4, 1, A, 4, 0, (float *)((char *)C + 1), 4, 0),
            TMM_ERROR_ARGUMENT, "C is not aligned to 4 bytes");
    tap_ok(tmm_ssyrk(TMM_BOTH, N, 0, 4, 1, NULL, 4, 0, NULL, 1, 0) == TMM_OK &&
               tmm_ssyrk_batched_with(TMM_AUTO, TMM_BOTH, N, 4, 4, 1, NULL, 4, 0, NULL, 4, 0, 0, 0,
                                      0) == TMM_OK,
           "N = 0 or batch = 0 does nothing");
    cudaFree(A), cudaFree(C);
}

int main(void)
{
    tap_seed((unsigned long long)time(NULL));
    test_tiles();
#if defined(TMM_WITH_HALF) && TMM__FAST
    test_items();
#endif
#ifdef TMM_WITH_HALF
    h_test_type(), hs_test_type();
#endif
#ifdef TMM_WITH_BFLOAT16
    b_test_type(), bs_test_type();
#endif
    s_test_type();
#ifndef TMM_NO_DOUBLE
    d_test_type();
#endif
#ifndef TMM_NO_INT
    i_test_type();
#endif
    test_arguments();
    return tap_done();
}

#else /* ---------------- for one type T, C of type OUT ------------------------------------------ */
/* Carries it out. *worst: of the bound of the error. Returns how many elements are wrong otherwise:
   written though they were not asked for, or not equal in both halves. */
static int TEST(_carry_out)(const request *r, double *worst, tmm_status *status)
{
    const long long N = r->N, K = r->K, unit = r->align, around = 64;
    const long long lines = r->op == TMM_OP_N ? N : K, line = r->op == TMM_OP_N ? K : N;
    const long long lda = (line + unit - 1) / unit * unit + (unit == 1),
                    first = unit == 8 ? 0 : unit;
    const long long ldc = unit == 8 ? (N + 7) / 8 * 8 + 8 : N + 3,
                    strideC = N * ldc + 5 * (unit < 8);
    const long long strideA = lines * lda + unit, sizeA = first + strideA * r->batch;
    const long long sizeC = strideC * r->batch + 2 * around, ints = SUM_UNIT == 0;
    const double alpha = !r->adds ? 1 : ints ? 3 : 0.5, beta = r->adds ? -2 : 0;
    T *A = (T *)malloc(sizeA * sizeof(T)), *dA = NULL;
    OUT *C = (OUT *)malloc(sizeC * sizeof(OUT)), *result = (OUT *)malloc(sizeC * sizeof(OUT));
    OUT *dC = NULL;
    int wrong = 0;
    /* What must not be read is NaN: gaps between the rows of A; C, or with beta its other half. */
    for (long long n = 0; n < sizeA; n++) {
        const long long at = n - first, inside = at >= 0 && at % strideA < lines * lda;
        A[n] = TO_T(inside && at % strideA % lda < line ? tap_uniform() : ints ? 9.0 : NAN);
    }
    for (long long n = 0; n < sizeC; n++) {
        const long long at = n - around, in = at < 0 ? 0 : at % strideC;
        const int half = at >= 0 && in < N * ldc && in % ldc < N &&
                         is_asked(r->fill == TMM_UPPER ? TMM_UPPER : TMM_LOWER, in / ldc, in % ldc);
        C[n] = TO_OUT(r->adds && half ? tap_uniform() : NAN);
    }
    *worst = 0, *status = TMM_ERROR_MEMORY;
    if (r->cpu) {
        memcpy(result, C, sizeC * sizeof(OUT));
        *status = TMM(syrk_cpu)(r->fill, r->op, N, K, (SCALAR)alpha, A + first, lda, (SCALAR)beta,
                                result + around, ldc);
    } else if (!cudaMalloc((void **)&dA, sizeA * sizeof(T)) &&
               !cudaMalloc((void **)&dC, sizeC * sizeof(OUT)) &&
               !cudaMemcpy(dA, A, sizeA * sizeof(T), cudaMemcpyHostToDevice) &&
               !cudaMemcpy(dC, C, sizeC * sizeof(OUT), cudaMemcpyHostToDevice)) {
        *status = TMM(syrk_batched_with)(r->kernel, r->fill, r->op, N, K, (SCALAR)alpha,
                                         K > 0 ? dA + first : NULL, lda, (SCALAR)beta, dC + around,
                                         ldc, strideA, strideC, r->batch, 0);
        if (*status == TMM_OK &&
            cudaMemcpy(result, dC, sizeC * sizeof(OUT), cudaMemcpyDeviceToHost) != cudaSuccess)
            *status = TMM_ERROR_CUDA;
    }
    for (long long n = 0; *status == TMM_OK && n < sizeC; n++) {
        const long long at = n - around, product = at < 0 ? 0 : at / strideC, in = at % strideC;
        const long long row = in / ldc, col = in % ldc;
        if (at < 0 || product >= r->batch || row >= N || col >= N || !is_asked(r->fill, row, col)) {
            wrong += memcmp(&result[n], &C[n], sizeof(OUT)) != 0;
            continue;
        }
        const long long low = row > col ? row : col, high = row + col - low; /* of the lower half */
        const OUT *mirror = &result[around + product * strideC + high * ldc + low];
        if (r->fill == TMM_BOTH && row > col) wrong += memcmp(&result[n], mirror, sizeof(OUT)) != 0;
        if (N > 1000 && n % 101 != 0) continue; /* or the sums take a minute */
        const T *a = A + first + product * strideA;
        const double before =
            !r->adds
                ? 0
                : FROM_OUT(
                      C[r->fill == TMM_UPPER ? n : around + product * strideC + low * ldc + high]);
        long double sum = 0, size = 0; /* more than a double holds, where there is such a type */
        for (long long k = 0; k < K; k++) {
            const long double x = FROM_T(a[r->op == TMM_OP_N ? row * lda + k : k * lda + row]);
            const long double y = FROM_T(a[r->op == TMM_OP_N ? col * lda + k : k * lda + col]);
            sum += x * y, size += fabsl(x * y);
        }
        const long double expected = alpha * sum + (r->adds ? beta * before : 0);
        const double error = (double)fabsl(FROM_OUT(result[n]) - expected);
        double bound = (K + 4) * SUM_UNIT * (double)size + 2 * SUM_UNIT * fabs(beta * before);
        bound += 1.01 * OUT_UNIT * ((double)fabsl(expected) + bound);
        bound += ints ? 0.5 : OUT_UNIT > 0 ? ldexp(1, -24) : ldexp(1, -140);
        if (!(error / bound <= *worst)) *worst = error / bound;
    }
    cudaFree(dA), cudaFree(dC);
    free(A), free(C), free(result);
    return wrong;
}

/* One after the other, until one fails; what they have in common is `name`. */
typedef struct TEST(_tally) {
    int count, wrong;
    double worst;
    tmm_status status;
    request last;
} TEST(_tally);

static void TEST(_add)(TEST(_tally) * t, const request *r)
{
    double worst = 0;
    if (t->status != TMM_OK || t->wrong > 0 || !(t->worst <= 1)) return;
    t->wrong += TEST(_carry_out)(r, &worst, &t->status);
    if (!(worst <= t->worst)) t->worst = worst;
    t->count++, t->last = *r;
}

static void TEST(_end)(const TEST(_tally) * t, const char *name)
{
    const request *r = &t->last;
    const int right = t->status == TMM_OK && t->wrong == 0 && t->worst <= 1 && t->count > 0;
    tap_ok(right, "tmm_%ssyrk, %s: %d right (%.2g of the bound)", TEXT(LETTER), name, t->count,
           t->worst);
    if (!right)
        tap_note("%s %s op %d N %lld K %lld batch %lld adds %d align %d: %d wrong, %s",
                 tmm_kernel_string(r->kernel), fill_name(r->fill), (int)r->op, r->N, r->K, r->batch,
                 r->adds, r->align, t->wrong, t->status == TMM_OK ? "" : tmm_last_error());
}

/* By an instance of the kernel that knows triangles, with K cut so, where there is such a plan. */
static void TEST(_instance)(tmm_kernel kernel, int instance, int cut)
{
    static const char *const cuts[] = {"whole tiles",       "slices",
                                       "slices reduced",    "clusters",
                                       "last round sliced", "even shares"};
    TEST(_tally) t = {0, 0, 0, TMM_OK, {}};
    char name[100];
    tmm__device *device = tmm__current_device();
    const int processors = device->processors, tensor = sizeof(T) != 4;
    snprintf(name, sizeof name, "kernel %s, instance %d, %s", tmm_kernel_string(kernel), instance,
             cuts[cut]);
    TMM(gemm__product) p = TMM(gemm__make_product)(TMM_OP_N, TMM_OP_T, 128, 128, 10, 16, 16);
    p.batch = 1, p.allowed = TMM__CUT_K, p.triangle = TMM__LOWER;
    if (cut == TMM__PLAN_CLUSTERS &&
        !tmm__has_clusters(TMM(gemm__known_plan)(kernel, &p, 1)->kernel)) {
        tap_skip(name, "not compiled for clusters");
        return;
    }
    if (instance >= 8 && sizeof(T) == 2 && !BY_WGMMA(&p)) {
        tap_skip(name, "not compiled with wgmma");
        return;
    }
    wanted_instance = instance, wanted_cut = cut, offered = 0;
    /* As few tiles are divided in shares for a few multiprocessors, or in slices for many. */
    const int last = cut == TMM__PLAN_LAST_ROUND,
              few = cut == TMM__PLAN_EVEN || (last && sizeof(T) == 8);
    device->processors = few ? 2 : last ? 14 : 132;
    for (int n = 0; n < 6; n += last && !few ? 2 : 1) { /* which are large */
        request r = {kernel, (tmm_fill)(1 + n % 3), n / 3 ? TMM_OP_N : TMM_OP_T, 0, 0, 1, n % 2, 8,
                     0};
        if (last && !few) r.adds = n == 2;
        r.N = (cut == TMM__PLAN_EVEN ? 192 : 128) + random_below(100) / 8 * 8;
        if (last)
            r.N = few ? 264 + n % 3 * 16 : r.N + 1800; /* 15 tiles for 2, of which one is left */
        r.K = cut == TMM__PLAN_WHOLE ? 10 : cut == TMM__PLAN_REDUCE ? 266 : 100 + 60 * tensor;
        if (last && few) r.K = 778;
        if (cut != TMM__PLAN_WHOLE && sizeof(T) == 2 && instance >= 8) r.K = 530; /* steps of 64 */
        if (n >= 3) r.align = n == 4 ? 1 : 2, r.N += 2;
        if (n == 5) r.N++;
        TEST(_add)(&t, &r);
    }
    wanted_instance = wanted_cut = -1;
    device->processors = processors;
    if (offered == 0) t.status = tmm__fail(TMM_ERROR_UNSUPPORTED, "there is no such plan");
    TEST(_end)(&t, name);
}

#if TMM__FAST
/* On an H100 TMM_AUTO takes the kernel that knows triangles. Strips by the others took 5 times as long
   for half of 2048, and twice as long at 128. */
static void TEST(_choice)(tmm_kernel by_tiles)
{
    tmm__device device;
    tmm__kernel_facts kernels[TMM__KNOWN_KERNELS];
    int wrong = 0, looked = 0;
    if (tmm__pretend("H100", &device, kernels)) *tmm__device_of_product() = &device;
    for (long long N = 64; N < 20000; N += N / 7)
        for (long long K = 32; K < 20000; K *= 3, looked++) {
            TMM(gemm__product) p = TMM(gemm__make_product)(TMM_OP_N, TMM_OP_T, N, N, K, K, K);
            TMM__FACTOR(p.alpha) = 1, p.ldc = N, p.triangle = TMM__LOWER;
            wrong += TMM(syrk__choice)(TMM_AUTO, &p, 1) != by_tiles;
        }
    *tmm__device_of_product() = NULL;
    tap_ok(looked > 0 && wrong == 0, "tmm_%ssyrk: TMM_AUTO takes %s (%d of %d not)", TEXT(LETTER),
           tmm_kernel_string(by_tiles), wrong, looked);
}
#endif

static void TEST(_test_type)(void)
{
    const int tensor = sizeof(T) != 4; /* double, half, bfloat16 */
    const tmm_kernel by_tiles = !TMM__FAST ? TMM_REGISTER : tensor ? TMM_TENSOR : TMM_PIPELINED;
#if TMM__FAST
    TEST(_choice)(by_tiles);
#endif
    TEST(_tally) all = {0, 0, 0, TMM_OK, {}}, some = all, cpu = all, strips = all, empty = all;
    for (int n = 0; n < TMM_KERNEL_COUNT; n++) { /* those that refuse do so as of gemm */
        request r = {(tmm_kernel)n,
                     (tmm_fill)(1 + n % 3),
                     n % 2 ? TMM_OP_N : TMM_OP_T,
                     70,
                     66,
                     1,
                     n / 2 % 2,
                     8,
                     0};
        T *x = NULL;
        if (n == TMM_SKINNY) r.N = 13;
        const tmm_status status = TMM(syrk_with)(r.kernel, r.fill, r.op, 0, 9, (SCALAR)1, x, 9,
                                                 (SCALAR)0, (OUT *)x, 9, 0);
        if (status != TMM_ERROR_UNSUPPORTED) TEST(_add)(&all, &r);
    }
    TEST(_end)(&all, "every kernel");
    for (int n = 0; n < 12; n++) {
        request r = {n % 3 ? by_tiles : TMM_AUTO,
                     (tmm_fill)(1 + random_below(3)),
                     random_below(2) ? TMM_OP_N : TMM_OP_T,
                     1 + random_below(n < 4 ? 270 : 140),
                     1 + random_below(n % 4 == 2 ? 300 : 40),
                     n % 4 == 1 ? 3 : 1,
                     n / 2 % 2,
                     n % 3 == 0 ? 8 : n % 3,
                     0};
        TEST(_add)(&some, &r);
    }
    TEST(_end)(&some, "TMM_AUTO and by tiles, any size");
    for (int n = 0; n < 6; n++) {
        request r = {n % 2 ? by_tiles : TMM_GLOBAL,
                     (tmm_fill)(1 + n % 3),
                     TMM_OP_N,
                     67,
                     0,
                     1 + n / 3,
                     n % 2,
                     1,
                     0};
        TEST(_add)(&empty, &r);
        r = (request){TMM_AUTO,
                      (tmm_fill)(1 + n % 3),
                      n % 2 ? TMM_OP_N : TMM_OP_T,
                      1 + random_below(200),
                      1 + random_below(60),
                      1,
                      n / 2 % 2,
                      1,
                      1};
        TEST(_add)(&cpu, &r);
    }
    TEST(_end)(&empty, "K = 0");
    TEST(_end)(&cpu, "the CPU reference");
    strip_rows = 50,
    strip_bytes = 2 * 50 * 50 * sizeof(OUT); /* several strips, and launches of 2 */
    for (int n = 0; n < 6; n++) {
        request r = {n / 3 ? TMM_GLOBAL : TMM_REGISTER,
                     (tmm_fill)(1 + n % 3),
                     n % 2 ? TMM_OP_N : TMM_OP_T,
                     101 + random_below(60),
                     20,
                     n % 2 ? 1 : 5,
                     n % 2,
                     1,
                     0};
        TEST(_add)(&strips, &r);
    }
    strip_rows = strip_bytes = 0;
    TEST(_end)(&strips, "strip by strip");
    for (size_t n = 0; n < sizeof plans / sizeof *plans; n++)
        if (TMM__FAST && plans[n].bytes == (int)sizeof(T) &&
            (SUM_UNIT > 0 || (plans[n].instance == 0 && plans[n].cut != TMM__PLAN_CLUSTERS)) &&
            (!plans[n].sm_90 || tmm__current_device()->capability == 90))
            TEST(_instance)(by_tiles, plans[n].instance, plans[n].cut);
}
#endif
