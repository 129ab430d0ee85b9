/* Elements of 16 bits, half and bfloat16 with sums in float: ready-made with C in their type
   (tmm_hgemm, tmm_bgemm) and in float (tmm_hsgemm, tmm_bsgemm), and as a type of one's own, by every
   kernel that takes them.

   The file includes itself once for each type. An argument is the number of thin operands; "few", for
   sanitizers: the kernels made for 16 bits alone, and few products of each; h, hs, half, b or bs behind it:
   that type alone, half a minute by racecheck. */
#ifndef T
#include <math.h>
#include <stdint.h>
#include <time.h>
#include "tap.h"
#ifndef WITHOUT_HALF /* ./build.sh test takes one of both each day on the CPU runner */
#define TMM_WITH_HALF
#endif
#ifndef WITHOUT_BFLOAT16
#define TMM_WITH_BFLOAT16
#endif
#define TMM_NO_DOUBLE
#define TMM_NO_INT
/* The plan that a test wants: an instance, by wgmma from 8 on where the device has it, from 32 on for thin
   operands; k in so many slices, -1: in more than 8. Not static: TMM_SIMPLE reads them nowhere. */
int wants_wgmma, wants_instance = -1, wants_slices, wants_cut = -1, found_plans, wants_processors;
double scale_A = 1;
int only_few; /* products of each kind, for sanitizers */
const char *only_type = "";
#define TMM__PLAN_GUESS(instance, cut, slices, time) (wanted(instance, cut, slices) ? (time) : 1e30)
int wanted(int instance, int cut, int slices)
{
    if (wants_instance < 0) return !wants_wgmma || (instance >= 8 && instance != 31);
    const int found = instance == wants_instance && (wants_cut < 0 || cut == wants_cut) &&
                      (wants_slices < 0 ? slices > 8 : slices == wants_slices);
    found_plans += found;
    return found;
}
#include "../tiledmm.cuh"
#ifdef TMM_WITH_HALF
#define TMM_TYPE __half
#define TMM_SUM  float
#define TMM_NAME half
#include "../tiledmm.cuh"
#endif

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

#ifdef TMM_WITH_HALF
#define T           tmm_half
#define LEAST_OF_T  0x1p-14 /* tensor cores take smaller ones as if these were of that size */
#define TO_FLOAT(x) __half2float(x)
#define TO_TYPE(x)  __float2half(x)
#define SCALAR      float
#define OUT         tmm_half
#define UNIT        ldexp(1, -11) /* of a rounding of C */
#define LEAST       ldexp(1, -24) /* the smallest distance of two C */
#define OUT_FLOAT   __half2float
#define TO_OUT      __float2half
#define LETTER      h
#include "half.cu"
#undef LETTER
#undef SCALAR
#define SCALAR __half
#define LETTER half
#include "half.cu"
#undef LETTER
#undef SCALAR
#undef OUT
#undef UNIT
#undef LEAST
#undef OUT_FLOAT
#undef TO_OUT
#define SCALAR    float
#define OUT       float
#define UNIT      0.0
#define LEAST     0.0
#define OUT_FLOAT (float)
#define TO_OUT    (float)
#define LETTER    hs
#include "half.cu"
#undef LETTER
#undef T
#undef TO_FLOAT
#undef TO_TYPE
#undef SCALAR
#undef OUT
#undef UNIT
#undef LEAST
#undef OUT_FLOAT
#undef TO_OUT
#endif
#ifdef TMM_WITH_BFLOAT16
#undef LEAST_OF_T
#define LEAST_OF_T  0.0
#define T           tmm_bfloat16
#define TO_FLOAT(x) __bfloat162float(x)
#define TO_TYPE(x)  __float2bfloat16(x)
#define SCALAR      float
#define LEAST       0.0
#define OUT         float
#define UNIT        0.0
#define OUT_FLOAT   (float)
#define TO_OUT      (float)
#define LETTER      bs
#include "half.cu"
#undef LETTER
#undef OUT
#undef UNIT
#undef OUT_FLOAT
#undef TO_OUT
#define OUT       tmm_bfloat16
#define UNIT      ldexp(1, -8)
#define OUT_FLOAT __bfloat162float
#define TO_OUT    __float2bfloat16
#define LETTER    b
#include "half.cu"
#endif

#if defined(TMM_WITH_HALF) && !defined(TMM_SIMPLE)
/* Which items have k of a tile: for each step of it 1; rows by rows of tiles. */
static __global__ void find_items(tmm__half_job job, int *times)
{
    for (int item = threadIdx.x; item < job.items; item += blockDim.x)
        for (int rank = 0; rank < job.down * job.beside * job.parts; rank++) {
            const tmm__half_block block = tmm__half_block_of(rank, job.down, job.beside);
            const tmm__half_item at = tmm__half_find(&job, item, &block);
            const int across = job.across * job.beside;
            const int tile = at.row / 128 * across + at.col / job.width;
            for (int k = at.first; k < at.first + at.steps; k++)
                atomicAdd(
                    &times[(at.product * job.pairs_down * job.down * across + tile) * job.steps +
                           k],
                    1);
            /* Partial sums of a tile that has none, or none of one that has them. */
            const bool in_part = at.row >= job.part_row && at.row < job.part_row + job.part_rows &&
                                 at.col >= job.part_col && at.col < job.part_col + job.part_cols;
            if (in_part != (at.part >= 0) && at.row < job.M) times[0] += 1000;
        }
}
/* The schedule of KERNEL TENSOR HALF by wgmma: each step of each tile is in one item, in whatever bands they
   are walked, and the last tiles that are cut are the ones there are partial sums of. */
static void test_items(void)
{
    enum { ROOM = 1 << 20 };
    int *times = (int *)malloc(ROOM * sizeof *times), *device = NULL, wrong = 0, cuts = 0;
    wrong += cudaMalloc((void **)&device, ROOM * sizeof *times) != cudaSuccess;
    for (int n = 0; n < 40 && !wrong; n++) {
        tmm_hgemm__product p, q;
        tmm__half_job job;
        memset((void *)&p, 0, sizeof p), memset(&job, 0, sizeof job);
        const int cols = 128 + 16 * (n % 9);
        p.M = 1 + random_below(n % 8 == 7 ? 128 : 6000), p.N = 1 + random_below(6000);
        job.M = p.M, job.rows = 128, job.width = cols, job.down = p.M > 128 ? 1 + n / 4 % 2 : 1;
        job.beside = n % 4 < 2 ? 1 + n / 8 % 2 : 1; /* where all is whole */
        job.parts = n % 4 < 2 ? 1 + n / 16 : 1;
        job.pairs_down = (int)((p.M - 1) / (128 * job.down) + 1);
        job.across = (int)((p.N - 1) / (cols * job.beside) + 1);
        job.steps = 1 + (int)random_below(9) + (job.parts > 1 ? 4 * job.parts : 0);
        job.part_steps = (job.steps - 1) / job.parts + 1;
        const int tiles = job.pairs_down * job.across,
                  rest = 1 + (int)random_below((tiles + 2) / 3);
        const int products = n % 2 ? 1 : 2, kind = n % 4; /* 0, 1: whole; 2: all cut; 3: the last */
        tmm__last_tiles last = {tiles, 0, p.M, 0, p.N};
        job.band = 8, job.slices = kind < 2 ? 1 : 2 + (int)random_below(6);
        job.whole = kind < 2 ? INT_MAX : 0;
        if (kind == 3) {
            last = tmm_hgemm__half_last(&p, 128 * job.down, cols, rest, &job.band, &q);
            if (last.tiles == 0) continue;
            wrong += last.tiles < rest || last.tiles > tiles || q.M != last.rows;
            job.whole = tiles - last.tiles, cuts++;
        }
        if (kind > 1) {
            job.part_row = last.row, job.part_rows = last.rows;
            job.part_col = last.col, job.part_cols = last.cols;
        }
        job.rest = last.tiles;
        job.items = (tiles + (job.slices - 1) * last.tiles) * products;
        const int count = tiles * job.down * job.beside * job.steps * products;
        if (count > ROOM) continue;
        wrong += cudaMemset(device, 0, count * sizeof *times) != cudaSuccess;
        find_items<<<1, 128>>>(job, device);
        wrong +=
            cudaMemcpy(times, device, count * sizeof *times, cudaMemcpyDeviceToHost) != cudaSuccess;
        for (int i = 0; i < count; i++) wrong += times[i] != 1;
    }
    tap_ok(wrong == 0 && cuts > 0,
           "half by wgmma: each step of a tile is in one item, %d times with the last tiles cut "
           "(%d wrong)",
           cuts, wrong);
    cudaFree(device);
    free(times);
}
#endif

int main(int count, char **words)
{
    only_few = count > 1 && strcmp(words[1], "few") == 0;
    const int COUNT = only_few ? 2 : count > 1 ? atoi(words[1]) : 6;
    tap_seed((unsigned long long)time(NULL));
    if (count > 2) only_type = words[2];
#ifdef TMM_WITH_HALF
    h_all(COUNT, 3), hs_all(COUNT, 3), half_all(COUNT, 1);
#ifndef TMM_SIMPLE
    if (only_type[0] == 0) test_items();
#endif
#endif
#ifdef TMM_WITH_BFLOAT16
    b_all(COUNT, 3), bs_all(COUNT, 3);
#endif
    return tap_done();
}

#else /* ---------------- for one type T, C of type OUT -------------------------------------------- */
/* One product on the device, C in the middle of `room` elements; *worst: of the bound of its error;
   returns what was written beside C. */
static int TEST(_product)(tmm_kernel kernel, int ops, long long M, long long N, long long K,
                          long long batch, int adds, int odd, double *worst, tmm_status *status)
{
    const tmm_op opA = ops & 1 ? TMM_OP_T : TMM_OP_N, opB = ops & 2 ? TMM_OP_T : TMM_OP_N;
    /* Lines of whole 16 bytes, of 4, anywhere, of 8; the same for where they begin. */
    const long long unit = odd == 0 ? 8 : odd == 1 ? 2 : odd == 2 ? 1 : 4;
    const long long lineA = opA == TMM_OP_N ? K : M, lineB = opB == TMM_OP_N ? N : K;
    const long long linesA = opA == TMM_OP_N ? M : K, linesB = opB == TMM_OP_N ? K : N;
    const long long lda = (lineA + unit - 1) / unit * unit + (odd == 2 ? 1 : unit);
    const long long ldb = (lineB + unit - 1) / unit * unit + (odd == 2 ? 1 : 0);
    const long long ldc = odd ? N + 3 : (N + 15) / 8 * 8, first = odd ? unit : 0;
    const long long strideA = linesA * lda + unit, strideB = linesB * ldb;
    const long long strideC = M * ldc, around = 64;
    /* Operands end with their last element, for memory checkers. */
    const long long endA = strideA * (batch - 1) + (linesA - 1) * lda + lineA;
    const long long endB = strideB * (batch - 1) + (linesB - 1) * ldb + lineB;
    const long long sizes[3] = {first + (K > 0 ? endA : 0), first + (K > 0 ? endB : 0),
                                strideC * batch + 2 * around};
    T *A = (T *)malloc(sizes[0] * sizeof(T)), *B = (T *)malloc(sizes[1] * sizeof(T));
    OUT *C = (OUT *)malloc(sizes[2] * sizeof(OUT)), *result = (OUT *)malloc(sizes[2] * sizeof(OUT));
    OUT *again = (OUT *)malloc(sizes[2] * sizeof(OUT));
    /* Converted once: conversions for each product took minutes. */
    double *exact_A = (double *)malloc(sizes[0] * sizeof(double));
    double *exact_B = (double *)malloc(sizes[1] * sizeof(double));
    T *dA = NULL, *dB = NULL;
    OUT *dC = NULL;
    const double alpha = adds ? 0.5 : 1, beta = adds ? -2 : 0;
    int beside = 0;
    tmm__device few = *tmm__current_device(); /* for a call */
    few.processors = wants_processors;
    for (long long n = 0; n < sizes[0]; n++) A[n] = TO_TYPE((float)(scale_A * tap_uniform()));
    for (long long n = 0; n < sizes[1]; n++) B[n] = TO_TYPE((float)tap_uniform());
    for (long long n = 0; n < sizes[2]; n++) C[n] = TO_OUT(adds ? (float)tap_uniform() : NAN);
    for (long long n = 0; n < sizes[0]; n++) exact_A[n] = TO_FLOAT(A[n]);
    for (long long n = 0; n < sizes[1]; n++) exact_B[n] = TO_FLOAT(B[n]);
    *worst = 0;
    *status = TMM_ERROR_MEMORY;
    if (!cudaMalloc((void **)&dA, sizes[0] * sizeof(T)) &&
        !cudaMalloc((void **)&dB, sizes[1] * sizeof(T)) &&
        !cudaMalloc((void **)&dC, sizes[2] * sizeof(OUT)) &&
        !cudaMemcpy(dA, A, sizes[0] * sizeof(T), cudaMemcpyHostToDevice) &&
        !cudaMemcpy(dB, B, sizes[1] * sizeof(T), cudaMemcpyHostToDevice) &&
        !cudaMemcpy(dC, C, sizes[2] * sizeof(OUT), cudaMemcpyHostToDevice)) {
        if (wants_cut >= 0) *tmm__device_of_product() = &few;
        *status = TMM(gemm_batched_with)(kernel, opA, opB, M, N, K, (SCALAR)(float)alpha,
                                         dA + first, lda, dB + first, ldb, (SCALAR)(float)beta,
                                         dC + around, ldc, strideA, strideB, strideC, batch, 0);
    }
    if (*status == TMM_OK &&
        cudaMemcpy(result, dC, sizes[2] * sizeof(OUT), cudaMemcpyDeviceToHost) != cudaSuccess)
        *status = TMM_ERROR_CUDA;
    /* A schedule that is forced, once more: the same bits. */
    if (*status == TMM_OK && wants_cut >= 0) {
        *tmm__device_of_product() = &few;
        if (cudaMemcpy(dC, C, sizes[2] * sizeof(OUT), cudaMemcpyHostToDevice) ||
            TMM(gemm_batched_with)(kernel, opA, opB, M, N, K, (SCALAR)(float)alpha, dA + first, lda,
                                   dB + first, ldb, (SCALAR)(float)beta, dC + around, ldc, strideA,
                                   strideB, strideC, batch, 0) ||
            cudaMemcpy(again, dC, sizes[2] * sizeof(OUT), cudaMemcpyDeviceToHost))
            *status = TMM_ERROR_CUDA;
        long long differ = 0, where = -1;
        for (long long n = 0; n < sizes[2]; n++)
            if (memcmp(&again[n], &result[n], sizeof(OUT)) != 0) differ++, where = n;
        if (differ > 0)
            tap_note(
                "%lld elements have other bits the second time, the last one at %lld: %.9g, %.9g",
                differ, where - around, OUT_FLOAT(result[where]), OUT_FLOAT(again[where]));
        beside += differ > 0;
    }
    for (long long n = 0; *status == TMM_OK && n < sizes[2]; n++) {
        const long long at = n - around, row = at < 0 ? -1 : at % strideC / ldc, col = at % ldc;
        const double got = OUT_FLOAT(result[n]), before = OUT_FLOAT(C[n]);
        if (row < 0 || at >= strideC * batch || col >= N) {
            beside += adds ? got != before : got == got;
            continue;
        }
        const double *a = exact_A + first + at / strideC * strideA;
        const double *b = exact_B + first + at / strideC * strideB;
        const long long stepA = opA == TMM_OP_N ? 1 : lda, stepB = opB == TMM_OP_N ? ldb : 1;
        a += opA == TMM_OP_N ? row * lda : row, b += opB == TMM_OP_N ? col : col * ldb;
        double sum = 0, size = 0;
        for (long long k = 0; k < K; k++) {
            const double x = a[k * stepA], y = b[k * stepB], ax = fabs(x), ay = fabs(y);
            sum += x * y;
            size += (ax < LEAST_OF_T ? LEAST_OF_T : ax) * (ay < LEAST_OF_T ? LEAST_OF_T : ay);
        }
        double expected = alpha * sum, bound = (K + 4) * ldexp(1, -24) * size;
        if (adds) expected += beta * before, bound += ldexp(1, -23) * fabs(beta * before);
        bound += 1.01 * UNIT * (fabs(expected) + bound) + LEAST + ldexp(1, -140);
        if (!(fabs(got - expected) / bound <= *worst)) *worst = fabs(got - expected) / bound;
    }
    cudaFree(dA), cudaFree(dB), cudaFree(dC);
    free(A), free(B), free(C), free(result), free(again), free(exact_A), free(exact_B);
    return beside;
}

/* From host memory: by the CPU, one call, blocks, and two parts on one device. K is more than one
   part of other types: C is rounded once all the same. */
static void TEST(_from_host)(void)
{
    enum { M = 9, N = 21, K = 4500 };
    const char *const ways[] = {"gemm_cpu", "matmul", "gemm_host", "gemm_multi"};
    const char *type = TEXT(LETTER);
    T *A = (T *)malloc(sizeof(T) * M * K), *B = (T *)malloc(sizeof(T) * K * N), *d = NULL;
    OUT C[M * N], *c = NULL;
    for (int n = 0; n < M * K; n++) A[n] = TO_TYPE((float)tap_uniform());
    for (int n = 0; n < K * N; n++) B[n] = TO_TYPE((float)tap_uniform());
    for (int way = 0; way < 4; way++) {
        const SCALAR one = (SCALAR)1.0f, zero = (SCALAR)0.0f;
        double worst = 0;
        tmm_status status = TMM_ERROR_MEMORY;
        for (int n = 0; n < M * N; n++) C[n] = TO_OUT(NAN);
        if (way == 0)
            status = TMM(gemm_cpu)(TMM_OP_N, TMM_OP_N, M, N, K, one, A, K, B, N, zero, C, N);
        else if (way == 1)
            status = TMM(matmul)(M, N, K, A, B, C);
        else if (way == 2)
            status = TMM(gemm_host)(TMM_OP_N, TMM_OP_N, M, N, K, one, A, K, B, N, zero, C, N, NULL);
        else if (!cudaMalloc((void **)&d, sizeof(T) * (M + N) * K) &&
                 !cudaMalloc((void **)&c, sizeof C) &&
                 !cudaMemcpy(d, A, sizeof(T) * M * K, cudaMemcpyHostToDevice) &&
                 !cudaMemcpy(d + M * K, B, sizeof(T) * N * K, cudaMemcpyHostToDevice)) {
            tmm_part parts[2] = {{0, 4, K - 100, d, K, d + M * K, N, c, N, 0},
                                 {0, M - 4, 100, d + 4 * K, K, d + M * K + (K - 100) * N, N,
                                  c + 4 * N, N, 0}};
            status = TMM(gemm_multi)(TMM_OP_N, TMM_OP_N, M, N, K, one, zero, parts, 2, TMM_AUTO);
            if (cudaMemcpy(C, c, sizeof C, cudaMemcpyDeviceToHost)) status = TMM_ERROR_CUDA;
        }
        for (int n = 0; n < M * N; n++) {
            double sum = 0, size = 0, bound;
            for (int k = 0; k < K; k++) {
                const double x = TO_FLOAT(A[n / N * K + k]), y = TO_FLOAT(B[k * N + n % N]);
                sum += x * y, size += fabs(x * y);
            }
            /* Sums of random signs are far below their bound, which would hide a second rounding. */
            bound = 200 * ldexp(1, -24) * sqrt(size) + 1.01 * UNIT * fabs(sum) + LEAST;
            const double error = fabs(OUT_FLOAT(C[n]) - sum) / bound;
            if (!(error <= worst)) worst = error;
        }
        tap_ok(status == TMM_OK && worst <= 1, "tmm_%s%s, K %d: rounded once (%.2g of the bound)",
               type, ways[way], (int)K, worst);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
        if (way > 0) continue;
        /* Freivalds' check takes the same bits, and finds an element that is off by two roundings. */
        const T unit = TO_TYPE(1.0f);
        unsigned short bits;
        double right = -1, wrong = -1;
        memcpy(&bits, &unit, sizeof bits);
        const tmm_type product = bits == 0x3C00
                                     ? (sizeof(OUT) == 2 ? TMM_HALF : TMM_HALF_FLOAT)
                                     : (sizeof(OUT) == 2 ? TMM_BFLOAT16 : TMM_BFLOAT16_FLOAT);
        tmm_freivalds(product, M, N, K, A, K, B, N, C, N, 10, tap_bits(), &right);
        const float off = OUT_FLOAT(C[100]);
        C[100] = TO_OUT(off + 10);
        tmm_freivalds(product, M, N, K, A, K, B, N, C, N, 10, tap_bits(), &wrong);
        C[100] = TO_OUT(off);
        T *every = (T *)malloc(sizeof(T) * 65536);
        double *values = (double *)malloc(sizeof(double) * 65536), differ = -1;
        for (unsigned n = 0; n < 65536; n++) {
            const unsigned short one_of = (unsigned short)n;
            memcpy((void *)&every[n], &one_of, 2);
            values[n] = TO_FLOAT(every[n]);
        }
        tmm_max_abs_error(bits == 0x3C00 ? TMM_HALF : TMM_BFLOAT16, 256, 256, every, 256, values,
                          256, &differ);
        free(every), free(values);
        tap_ok(differ == 0, "tmm_max_abs_error reads every number of 16 bits as CUDA does, %s",
               type);
        tap_ok(right > 0 && right < 1 && wrong > 1,
               "tmm_freivalds, C of %s: passes (%.2g), and finds one that is wrong (%.2g)", type,
               right, wrong);
    }
    cudaFree(d), cudaFree(c);
    free(A), free(B);
}

/* A matrix times a column, and a row times a matrix: vectors with a leading dimension of 1, below the
   length of their line along k. */
static void TEST(_vectors)(void)
{
    enum { M = 300, K = 136 };
    T *host = (T *)malloc(sizeof(T) * M * K), *A = NULL, *x = NULL;
    OUT C[2][M], *c = NULL;
    const SCALAR one = (SCALAR)1.0f, zero = (SCALAR)0.0f;
    tmm_status status = TMM_ERROR_MEMORY;
    double worst = 0;
    wants_wgmma = 1;
    for (int n = 0; n < M * K; n++) host[n] = TO_TYPE((float)tap_uniform());
    if (!cudaMalloc((void **)&A, sizeof(T) * M * K) && !cudaMalloc((void **)&x, sizeof(T) * K) &&
        !cudaMalloc((void **)&c, sizeof C) &&
        !cudaMemcpy(A, host, sizeof(T) * M * K, cudaMemcpyHostToDevice) &&
        !cudaMemcpy(x, host, sizeof(T) * K, cudaMemcpyHostToDevice))
        status =
            TMM(gemm_with)(TMM_TENSOR, TMM_OP_N, TMM_OP_N, M, 1, K, one, A, K, x, 1, zero, c, 1, 0);
    if (status == TMM_OK)
        status = TMM(gemm_with)(TMM_TENSOR, TMM_OP_T, TMM_OP_T, 1, M, K, one, x, 1, A, K, zero,
                                c + M, M, 0);
    if (status == TMM_OK && cudaMemcpy(C, c, sizeof C, cudaMemcpyDeviceToHost))
        status = TMM_ERROR_CUDA;
    for (int n = 0; status == TMM_OK && n < 2 * M; n++) {
        double sum = 0, size = 0;
        for (int k = 0; k < K; k++) {
            const double product = TO_FLOAT(host[n % M * K + k]) * (double)TO_FLOAT(host[k]);
            sum += product, size += fabs(product);
        }
        const double bound =
            (K + 4) * ldexp(1, -24) * size + 1.01 * UNIT * (fabs(sum) + size * 1e-5) + LEAST;
        const double error = fabs(OUT_FLOAT(C[n / M][n % M]) - sum) / bound;
        if (!(error <= worst)) worst = error;
    }
    tap_ok(status == TMM_OK && worst <= 1,
           "tmm_%sgemm, kernel tensor: a vector with a leading dimension of 1 (%.2g of the bound)",
           TEXT(LETTER), worst);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
    wants_wgmma = 0;
    cudaFree(A), cudaFree(x), cudaFree(c);
    free(host);
}

/* Has the device kernels by wgmma? Then a plan that is possible must be found. */
static bool TEST(_by_wgmma)(void)
{
#ifdef TMM_SIMPLE
    return false;
#else
    TMM(gemm__product) p = TMM(gemm__make_product)(TMM_OP_N, TMM_OP_N, 256, 256, 256, 256, 256);
    p.allowed = TMM__ALL_OF_BATCH;
    return TMM(gemm__half_by_wgmma)(&p) && tmm__current_device()->pools;
#endif
}

/* KERNEL THIN HALF, forced: either operand large, all ops, k for a cluster and for several, edges of
   all kinds; one in five off 16 bytes, which the kernel copies without TMA, or, for two blocks on a
   multiprocessor and more than two tiles, KERNEL ALIGN before it. Where one block has all of k nothing can
   refuse the plan: it must be found. Product 0 is such a one. */
static void TEST(_thin)(int count)
{
    static const int parts[] = {1, 2, 3, 4, 8, 16, 32, 64, -1};
    double most = 0;
    int beside = 0, found = 0, sure = 0, missed = 0;
    for (int n = 0; n < count; n++) {
        const int odd = n % 5 == 2 ? 1 + (int)random_below(3) : 0;
        /* Lines of whole words go straight to stages, others through slots. */
        const long long unit = odd % 2 == 0 || random_below(2) ? 1 : odd == 1 ? 2 : 4;
        /* One block on a multiprocessor, or two; 16, 64 or 128 thin lines. */
        const int way = odd ? (int)random_below(3) : n % 6;
        const long long batch = n % 6 == 5 ? 3 : 1;
        wants_instance = 32 + way;
        wants_slices = n == 0 ? 1 : parts[random_below(way > 2 || batch > 1 ? 5 : 9)];
        const int one_tile = n % 4 != 0 || wants_slices > 8 || wants_slices < 0;
        const long long few = 1 + random_below(way % 3 == 0 ? 16 : one_tile ? 64 : 200);
        const long long many = 128 + random_below(wants_slices > 8 ? 128 : 300);
        const int adds = n / 2 % 3 == 1, ops = (int)random_below(4);
        /* Blocks have one tile after the other: once more, to the bit. */
        const int goes_on = unit > 1 && random_below(2);
        if (goes_on) wants_slices = 1, wants_cut = TMM__PLAN_WHOLE, wants_processors = 2;
        const long long M = ((n % 2 ? few : many) + unit - 1) / unit * unit;
        const long long N = ((n % 2 ? many : few) + unit - 1) / unit * unit;
        const long long K = ((n % 7 == 6  ? 1 + random_below(64)
                              : n % 5 > 0 ? 1 + random_below(900)
                                          : 1 + random_below(4000)) +
                             unit - 1) /
                            unit * unit;
        double worst;
        tmm_status status;
        found_plans = 0;
        const int at_once =
            TEST(_product)(TMM_TENSOR, ops, M, N, K, batch, adds, odd, &worst, &status);
        wants_cut = -1;
        found += found_plans > 0;
        if (wants_slices == 1) sure++, missed += found_plans == 0;
        beside += at_once;
        if (!(worst <= most)) most = worst;
        if (status == TMM_OK && worst <= 1 && at_once == 0) continue;
        tap_note("%lld of %lld x %lld x %lld, op %d, alignment %d, beta %d, instance %d, %d parts: "
                 "%.2g of the bound, %d beside; %s",
                 batch, M, N, K, ops, odd, adds, wants_instance, wants_slices, worst, at_once,
                 status == TMM_OK ? "" : tmm_last_error());
        if (status != TMM_OK) most = HUGE_VAL;
    }
    wants_instance = -1;
    const bool enough = !TEST(_by_wgmma)() || (missed == 0 && (found > 0 || count == 0));
    tap_ok(most <= 1 && beside == 0 && enough,
           "tmm_%sgemm, thin operands: %d products, %d of them by wgmma, right (%.2g of the bound)",
           TEXT(LETTER), count, found, most);
    if (!enough) tap_note("%d of %d plans that are possible were not found", missed, sure);
}

#if !defined(TMM_SIMPLE) && !defined(__CUCC__)
/* KERNEL TENSOR HALF by wgmma, forced: every tile, whole, all of them in slices of k and those of the last
   round. The device is given few multiprocessors, so that small products take several rounds. Twice:
   the bits are the same. Shapes are such that every plan is possible: all must be found. */
static void TEST(_wgmma)(int count)
{
    static const int cuts[] = {TMM__PLAN_WHOLE, TMM__PLAN_REDUCE, TMM__PLAN_LAST_ROUND,
                               TMM__PLAN_CLUSTERS};
    double most = 0;
    int beside = 0, found = 0, asked = 0;
    for (int n = 0; n < count; n++) {
        const int way = n % TMM__HALF_WAYS, alone = tmm__half_ways[way][1] == 1;
        const int turns = way == TMM__HALF_TURNS; /* whole, an item a block */
        const int rows = turns ? 64 : TMM(gemm__half_wgmma)(tmm__half_ways[way][0])->rows;
        const int cols = tmm__half_ways[way][2];
        const int turned = sizeof(OUT) == 2 && n % 3 == 2 && rows != cols && !turns;
        const int plain = rows == 192 || turned; /* no beta, whole, aligned */
        if (plain && sizeof(OUT) == 4) continue; /* for C of 16 bits alone */
        asked++;
        wants_instance = TMM__HALF_WGMMA_FIRST + way + turned * TMM__HALF_TURNED;
        /* Clusters that share A, too, and those that store C turned, have whole tiles or parts of k; those that share A
           alone parts, if not turned. */
        const int side = tmm__half_ways[way][3], turn = n / TMM__HALF_WAYS + way;
        wants_cut = cuts[rows == 192 || turns           ? 0
                         : side > 1 && alone && !turned ? 3
                         : side > 1 || turned           ? turn % 2 * 3
                                                        : turn % 4];
        wants_slices = wants_cut == TMM__PLAN_WHOLE                  ? 1
                       : wants_cut == TMM__PLAN_CLUSTERS && side > 1 ? 2
                                                                     : 2 + (int)random_below(3);
        wants_processors = turns ? 128 : wants_cut == TMM__PLAN_CLUSTERS ? 8 : 6;
        const int last = wants_cut == TMM__PLAN_LAST_ROUND;
        /* No parts of k, and no turns, for such sides. */
        const int thin = turns || wants_cut == TMM__PLAN_CLUSTERS ? 64 : 0;
        const int odd = random_below(4) == 0 && !plain ? 1 + (int)random_below(2) : 0;
        const int clusters = alone ? 6 : 3; /* of one block, or two */
        long long M = alone ? random_below(2) * 2 * rows + 1 + thin + random_below(rows)
                            : rows + 1 + random_below(last ? 200 : 500);
        const long long down = (M - 1) / (alone ? rows : 2 * rows) + 1;
        const long long K =
            wants_slices == 1 ? 1 + random_below(400) : 256 * wants_slices + random_below(100);
        /* Slices of all tiles are four for each cluster at most; a last round has fewer tiles than clusters.
           Batches are not cut. */
        const long long room = 4 * clusters / (wants_slices * down);
        const long long batch = n % 5 == 4 && wants_slices == 1 ? 2 : 1;
        long long N = last ? 1100 + random_below(300)
                      : wants_slices == 1 || wants_cut == TMM__PLAN_CLUSTERS
                          ? 1 + thin + (side - 1) * cols + random_below(700)
                          : 1 + random_below(room * cols);
        while (last && (down * ((N + cols - 1) / cols) < clusters ||
                        down * ((N + cols - 1) / cols) % clusters == 0))
            N += cols;
        if (turned) {
            const long long swapped = (M + 7) / 8 * 8;
            M = N, N = swapped;
        } else if (plain) {
            N = (N + 7) / 8 * 8;
        }
        const int adds = (int)random_below(plain ? 1 : 2), ops = (int)random_below(4);
        double worst;
        tmm_status status;
        found_plans = 0;
        const int at_once =
            TEST(_product)(TMM_TENSOR, ops, M, N, K, batch, adds, odd, &worst, &status);
        const int missed = found_plans == 0 && TEST(_by_wgmma)();
        found += found_plans > 0;
        beside += at_once;
        if (!(worst <= most)) most = worst;
        if (status == TMM_OK && worst <= 1 && at_once == 0 && !missed) continue;
        tap_note(
            "%lld of %lld x %lld x %lld, op %d, alignment %d, beta %d, instance %d, cut %d, %d "
            "slices: %.2g of the bound, %d beside; %s",
            batch, M, N, K, ops, odd, adds, wants_instance, wants_cut, wants_slices, worst, at_once,
            status != TMM_OK ? tmm_last_error()
            : missed         ? "its plan was not found"
                             : "");
        if (status != TMM_OK) most = HUGE_VAL;
    }
    wants_instance = wants_cut = -1;
    tap_ok(
        most <= 1 && beside == 0 && (found == asked || !TEST(_by_wgmma)()),
        "tmm_%sgemm by wgmma, all tiles and schedules: %d products, %d of them so, right (%.2g of "
        "the bound)",
        TEXT(LETTER), asked, found, most);
}
#endif

#ifndef TMM_SIMPLE
/* KERNEL TENSOR HALF by mma.sync, each instance forced: all ops, k in one part and in several, sizes and
   leading dimensions on and off 16 bytes. There are no more slices than fit: all plans are possible, if a block
   has enough shared memory, and copies if the device has pools. */
static void TEST(_mma)(int count)
{
    static const int rows[] = {128, 128, 64}, cols[] = {256, 128, 64};
    const tmm__device *device = tmm__current_device();
    double most = 0;
    int beside = 0, found = 0, missed = 0;
    for (int n = 0; n < count; n++) {
        const int odd = n % 4 == 3 ? 1 + n / 4 % 2 : 0, round = odd ? 1 : n % 4 == 1 ? 2 : 8;
        const int copied = odd && n / 8 % 2 == 0; /* first, to lines of 16 bytes */
        const long long batch = n % 5 == 0 ? 2 : 1;
        const long long M = round * (1 + random_below(400 / round));
        const long long N = round * (1 + random_below(500 / round));
        const long long K =
            n % 5 == 4 ? 1 + random_below(64) : 32 + round * random_below(700 / round);
        const int adds = n / 2 % 3 == 1, ops = n / 3 % 4;
        double worst;
        tmm_status status;
        wants_instance = n % 3 + 4 * copied, found_plans = 0;
        wants_slices = K < 512 || batch > 1 || !device->pools ? 1 : 1 << random_below(3);
        const long long tiles = ((M - 1) / rows[n % 3] + 1) * ((N - 1) / cols[n % 3] + 1);
        while (wants_slices > 1 && tiles * wants_slices > 4ll * device->processors)
            wants_slices /= 2;
        const int possible = (!copied || device->pools) &&
                             TMM__HALF_BYTES(rows[n % 3], cols[n % 3], 3) <= device->shared;
        const int at_once =
            TEST(_product)(TMM_TENSOR, ops, M, N, K, batch, adds, odd, &worst, &status);
        found += found_plans > 0, missed += possible && found_plans == 0;
        beside += at_once;
        if (!(worst <= most)) most = worst;
        if (status == TMM_OK && worst <= 1 && at_once == 0) continue;
        tap_note("%lld x %lld x %lld, op %d, alignment %d, beta %d, instance %d, %d parts: "
                 "%.2g of the bound, %d beside; %s",
                 M, N, K, ops, odd, adds, wants_instance, wants_slices, worst, at_once,
                 status == TMM_OK ? "" : tmm_last_error());
        if (status != TMM_OK) most = HUGE_VAL;
    }
    wants_instance = -1;
    tap_ok(most <= 1 && beside == 0 && found > 0 && missed == 0,
           "tmm_%sgemm by mma.sync: %d products, %d by the instance asked for, right (%.2g of the "
           "bound)",
           TEXT(LETTER), count, found, most);
}

/* KERNEL TINY HALF, forced: all ops, edges of tiles, single k, lines and C on and off 8 and 16 bytes, more
   products than a block has warps. */
static void TEST(_tiny)(int count)
{
    double most = 0;
    int beside = 0, found = 0;
    wants_instance = TMM__HALF_TINY, wants_slices = 1;
    for (int n = 0; n < count; n++) {
        const int odd = n % 5 % 4, round = n % 5 == 4 ? 8 : odd == 3 ? 4 : 1;
        const long long M = round * (1 + random_below(70 / round));
        const long long N = round * (1 + random_below(70 / round));
        const long long K = round * (1 + random_below(80 / round));
        const int adds = n / 5 % 3 == 1, ops = n / 4 % 4;
        const long long batch = 1 + random_below(7);
        double worst;
        tmm_status status;
        found_plans = 0;
        const int at_once =
            TEST(_product)(TMM_TENSOR, ops, M, N, K, batch, adds, odd, &worst, &status);
        found += found_plans > 0, beside += at_once;
        if (!(worst <= most)) most = worst;
        if (status == TMM_OK && worst <= 1 && at_once == 0) continue;
        tap_note("%lld of %lld x %lld x %lld, op %d, alignment %d, beta %d: %.2g of the bound, %d "
                 "beside; %s",
                 batch, M, N, K, ops, odd, adds, worst, at_once,
                 status == TMM_OK ? "" : tmm_last_error());
        if (status != TMM_OK) most = HUGE_VAL;
    }
    wants_instance = -1;
    tap_ok(most <= 1 && beside == 0 && found == count,
           "tmm_%sgemm, tiny products: %d batches, %d by the kernel for them, right (%.2g of the "
           "bound)",
           TEXT(LETTER), count, found, most);
}

/* KERNEL ALIGN: operands off 16 bytes, of one product and of a batch, come out as they were. */
static void TEST(_aligned)(void)
{
    enum { SPACE = 40000, COPIES = 200000 };
    unsigned short *host = (unsigned short *)malloc(2 * SPACE);
    unsigned short *back = (unsigned short *)malloc(2 * COPIES);
    char *device = NULL, *copies = NULL;
    int bad = 0, copied = 0;
    tmm_status status = TMM_OK;
    for (int n = 0; n < SPACE; n++) host[n] = (unsigned short)tap_bits();
    if (cudaMalloc((void **)&device, 2 * SPACE) || cudaMalloc((void **)&copies, 2 * COPIES) ||
        cudaMemcpy(device, host, 2 * SPACE, cudaMemcpyHostToDevice))
        status = TMM_ERROR_MEMORY;
    for (int trial = 0; trial < (only_few ? 20 : 40) && status == TMM_OK; trial++) {
        const long long M = 1 + random_below(60), N = 1 + random_below(40);
        const long long K = 1 + random_below(trial % 4 ? 70 : 300), batch = 1 + random_below(3);
        const tmm_op opA = (tmm_op)random_below(2), opB = (tmm_op)random_below(2);
        const long long lda = (opA ? M : K) + random_below(9),
                        ldb = (opB ? K : N) + random_below(9);
        TMM(gemm__product) p = TMM(gemm__make_product)(opA, opB, M, N, K, lda, ldb);
        p.batch = (unsigned)batch, p.stream = 0;
        p.A = (const T *)device + random_below(9), p.B = (const T *)device + random_below(9);
        p.strideA = trial % 3 ? (opA ? K : M) * lda + random_below(9) : 0;
        p.strideB = trial % 5 ? (opB ? N : K) * ldb : 0;
        if (batch * ((M > K ? M : K) + 9) * (lda + ldb) + 99 > SPACE / 2) continue;
        TMM(gemm__product) q = p;
        const size_t bytesA = TMM(gemm__half_copied)(&p, 0, NULL, NULL);
        const size_t bytesB = TMM(gemm__half_copied)(&p, 1, NULL, NULL);
        copied += bytesA > 0;
        copied += bytesB > 0;
        if (bytesA + 256 + bytesB > 2 * COPIES) continue;
        cudaMemset(copies, 0xC5, 2 * COPIES);
        if (bytesA + bytesB > 0) status = TMM(gemm__half_align)(&q, copies);
        if (cudaMemcpy(back, copies, 2 * COPIES, cudaMemcpyDeviceToHost)) status = TMM_ERROR_CUDA;
        bad +=
            TMM(gemm__half_copied)(&q, 0, NULL, NULL) || TMM(gemm__half_copied)(&q, 1, NULL, NULL);
        for (int is_B = 0; is_B < 2 && status == TMM_OK; is_B++)
            for (long long b = 0; b < batch; b++)
                for (long long line = 0; line < (is_B ? N : M); line++)
                    for (long long k = 0; k < K; k++) {
                        const T *from = is_B ? p.B + b * p.strideB + line * p.csB + k * p.rsB
                                             : p.A + b * p.strideA + line * p.rsA + k * p.csA;
                        const T *to = is_B ? q.B + b * q.strideB + line * q.csB + k * q.rsB
                                           : q.A + b * q.strideA + line * q.rsA + k * q.csA;
                        const int moved = is_B ? bytesB > 0 : bytesA > 0;
                        const unsigned short value =
                            moved ? back[to - (const T *)copies] : host[to - (const T *)device];
                        bad += value != host[from - (const T *)device];
                    }
        const size_t end = (bytesA + 255) / 256 * 256 + bytesB;
        for (size_t n = bytesB ? end / 2 : bytesA / 2; n < COPIES; n++) bad += back[n] != 0xC5C5;
    }
    tap_ok(status == TMM_OK && bad == 0 && copied > (only_few ? 10 : 20),
           "%s: operands off 16 bytes are copied as they are (%d of them; %d wrong)", TEXT(LETTER),
           copied, bad);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
    cudaFree(device), cudaFree(copies);
    free(host), free(back);
}
#endif

#ifndef TMM_SIMPLE
/* How KERNEL TENSOR HALF by wgmma stores C that TMA does not, which any device can do: one tile, or its
   columns from `begin` on. Sum (row, col) is a small integer, so that all is exact. */
static __host__ __device__ float TEST(_sum)(int row, int col)
{
    return (float)((row * 7 + col * 3) % 11 - 5);
}
static __global__ void TEST(_store)(tmm__half_job job, OUT *C, tmm__half_item at, int begin)
{
    __shared__ __align__(128) float own[8 * 1024];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum[128];
    for (int i = 0; i < 128; i++)
        sum[i] = TEST(_sum)(at.row + warp * 16 + lane / 4 + i / 2 % 2 * 8,
                            at.col + begin + i / 4 * 8 + lane % 4 * 2 + i % 2);
    if (job.width > 192)
        TMM(half_store)(&job, C, own + warp * 1024, sum, &at, warp, begin, 256);
    else if (job.width > 128)
        TMM(half_store)(&job, C, own + warp * 1024, sum, &at, warp, begin, 192);
    else
        TMM(half_store)(&job, C, own + warp * 1024, sum, &at, warp, begin, 128);
}
static void TEST(_stored)(void)
{
    enum { SPACE = 400000 };
    OUT *host = (OUT *)malloc(sizeof(OUT) * SPACE), *back = (OUT *)malloc(sizeof(OUT) * SPACE);
    OUT *C = NULL;
    int bad = cudaMalloc((void **)&C, sizeof(OUT) * SPACE) != cudaSuccess;
    for (int trial = 0; trial < (only_few ? 4 : 24) && !bad; trial++) {
        tmm__half_job job;
        tmm__half_item at;
        memset((void *)&job, 0, sizeof job), memset(&at, 0, sizeof at);
        const int M = 1 + (int)random_below(300), N = 1 + (int)random_below(500);
        const int aligned = trial % 3 == 0, cols = 128 + 16 * (int)random_below(9);
        const int begin = trial % 5 == 4 ? 64 : 0;
        const int ldc = aligned ? (N + 7) / 8 * 8 : N + (int)random_below(4);
        const int first = 64 + (aligned ? 8 : (int)random_below(9)), partial = trial % 4 == 3;
        job.M = M, job.N = N, job.width = cols, job.ldc = ldc, job.slices = 1, job.alpha = 2;
        job.beta = trial / 2 % 2 ? -1.0f : 0.0f;
        if (M * ldc + 2 * 64 + 8 > SPACE) continue;
        for (int n = 0; n < SPACE; n++) host[n] = TO_OUT(job.beta == 0 ? NAN : (float)(n % 7));
        if (cudaMemcpy(C, host, sizeof(OUT) * SPACE, cudaMemcpyHostToDevice)) bad++;
        at.part = partial && sizeof(OUT) == 4 ? 0 : -1;
        if (at.part == 0) job.partials = (float *)C + first, job.alpha = 1;
        job.part_rows = M, job.part_cols = N;
        for (at.row = 0; at.row < M; at.row += 128)
            for (at.col = 0; at.col < N; at.col += cols)
                TEST(_store)<<<1, 256>>>(job, C + first, at, begin);
        if (cudaMemcpy(back, C, sizeof(OUT) * SPACE, cudaMemcpyDeviceToHost)) bad++;
        for (int n = 0; n < SPACE; n++) {
            const int line = job.partials != NULL ? N : ldc;
            const int row = n < first ? M : (n - first) / line,
                      col = n < first ? 0 : (n - first) % line;
            double expected = OUT_FLOAT(host[n]);
            if (row < M && col < N && col % cols >= begin)
                expected = job.alpha * TEST(_sum)(row, col) +
                           (job.beta == 0 || job.partials != NULL ? 0 : job.beta * expected);
            const double got = OUT_FLOAT(back[n]);
            bad += !(got == expected || (got != got && expected != expected));
        }
    }
    tap_ok(bad == 0, "%s: C anywhere is stored, and nothing beside it (%d wrong)", TEXT(LETTER),
           bad);
    cudaFree(C);
    free(host), free(back);
}
#endif

/* All kernels at one shape; those that TMM_AUTO may take at random ones, too. */
static void TEST(_test_type)(void)
{
    const char *type = TEXT(LETTER);
    for (int n = 0; n < TMM_KERNEL_COUNT; n++) {
        const tmm_kernel kernel = (tmm_kernel)n;
        double most = 0;
        int beside = 0, refused = 0;
        if (only_few && kernel != TMM_TENSOR) continue;
        tmm_status status = TMM_OK;
        for (int ops = 0; ops < 4 && status == TMM_OK; ops++) {
            double worst;
            beside += TEST(_product)(kernel, ops, kernel == TMM_SKINNY ? 9 : 70, 45, 90, 1, ops & 1,
                                     0, &worst, &status);
            refused = status == TMM_ERROR_UNSUPPORTED;
            if (!(worst <= most)) most = worst;
        }
        if (refused) continue;
        tap_ok(status == TMM_OK && most <= 1 && beside == 0,
               "tmm_%sgemm, kernel %s: right, and nothing beside C (%.2g of the bound)", type,
               tmm_kernel_string(kernel), most);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
    }
    for (int n = 0; n < (only_few ? 4 : 12); n++) {
        /* Product 0 ends within 16 bytes of C, which TMA would store as a whole. */
        const long long M = 1 + random_below(n < 6 ? 200 : 70),
                        N = (1 + random_below(150)) | (n == 0);
        const long long K = n == 5 ? 0 : 1 + random_below(n % 3 == 0 ? 700 : 100);
        const long long batch = n % 4 == 3 ? 3 : 1;
        const int odd = n % 3, adds = n / 2 % 2, ops = (int)random_below(4);
        double worst;
        tmm_status status;
        const tmm_kernel kernel = n % 2 ? TMM_AUTO : TMM_TENSOR;
        wants_wgmma = n % 2 == 0 && n < 10;
        scale_A = n < 8 ? 1 : ldexp(1, -15); /* most halves are below the smallest normal one */
        const int beside = TEST(_product)(kernel, ops, M, N, K, batch, adds, odd, &worst, &status);
        tap_ok(status == TMM_OK && worst <= 1 && beside == 0,
               "tmm_%sgemm, kernel %s: %lld of %lld x %lld x %lld, op %d, alignment %d: right "
               "(%.2g of "
               "the bound)",
               type, tmm_kernel_string(kernel), batch, M, N, K, ops, odd, worst);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
    }
    wants_wgmma = 0, scale_A = 1;
}

/* `plans`: of each tile by each schedule. */
static void TEST(_all)(int count, int plans)
{
    (void)plans;
    if (only_type[0] != 0 && strcmp(only_type, TEXT(LETTER)) != 0) return;
    if (!only_few) TEST(_from_host)();
    TEST(_test_type)();
    TEST(_vectors)();
    TEST(_thin)(count);
#ifndef TMM_SIMPLE
    TEST(_mma)(2 * count);
    TEST(_tiny)(only_few ? 12 : 12 * count);
    TEST(_aligned)();
    TEST(_stored)();
#ifndef __CUCC__
    TEST(_wgmma)(plans * TMM__HALF_WAYS / (only_few ? 3 : 1));
#endif
#endif
}
#endif
