/* What callers of tiledmm.cuh may rely on beyond right products: the rules of BLAS, errors that
   name the culprit, checks that find planted faults, the epilogue hook.

   The file includes itself for what every kernel must keep to, in double and in float. */
#ifndef REAL
#include <float.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>
#include "tap.h"

__device__ const float test_bias[4] = {10, 20, 30, 40};

/* Clamped below at 0, with a bias by column and the row's number. */
#define TEST_EPILOGUE(value, row, col) \
    ((value) + test_bias[(col) % 4] + (row) > 0 ? (value) + test_bias[(col) % 4] + (row) : 0)
#define TMM_NAME     srelu
#define TMM_EPILOGUE TEST_EPILOGUE
#include "../tiledmm.cuh"
#define TMM_TYPE     double
#define TMM_NAME     drelu
#define TMM_EPILOGUE TEST_EPILOGUE
#include "../tiledmm.cuh"
#define TMM_TYPE                      int /* an int whose sums wrap as unsigned: the hook must see signed values */
#define TMM_SUM                       unsigned
#define TMM_NAME                      clamp
#define TMM_EPILOGUE(value, row, col) ((value) < 0 ? 0 : (value))
#include "../tiledmm.cuh"

#define TMM_TYPE float
#define TMM_SUM  double
#define TMM_NAME fd
#include "../tiledmm.cuh"
#define TMM_TYPE short /* and sums of 2 bytes */
#define TMM_NAME w
#include "../tiledmm.cuh"

#include "choice.h"
DEFINE_CHOICE_TESTS(s, 0)
DEFINE_CHOICE_TESTS(d, 0)

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TMM(x)      JOIN(JOIN(tmm_, LETTER), x) /* the library's: tmm_sgemm_with */
#define NAMED(x)    JOIN(JOIN(LETTER, _), x)    /* ours */

#define dA              NAMED(dA)
#define dB              NAMED(dB)
#define dC              NAMED(dC)
#define hA              NAMED(hA)
#define hB              NAMED(hB)
#define hC              NAMED(hC)
#define upload          NAMED(upload)
#define download        NAMED(download)
#define fill            NAMED(fill)
#define made            NAMED(made)
#define take_memory     NAMED(take_memory)
#define test_blas_rules NAMED(test_blas_rules)
#define test_epilogue   NAMED(test_epilogue)
#define test_kernels    NAMED(test_kernels)
#define columns         NAMED(columns)
#define count_unlike    NAMED(count_unlike)

#define REAL   double
#define LETTER d
#define TYPE   "double"
#include "rules.cu"
#undef REAL
#undef LETTER
#undef TYPE
#define REAL   float /* and for the rest of the file */
#define LETTER s
#define TYPE   "float"
#include "rules.cu"

/* The status is TMM_ERROR_ARGUMENT and the sentence contains the word. */
static void test_rejects(tmm_status status, const char *word, const char *what)
{
    int named = strstr(tmm_last_error(), word) != NULL;
    tap_ok(status == TMM_ERROR_ARGUMENT && named, "rejects %s", what);
    if (status != TMM_ERROR_ARGUMENT || !named)
        tap_note("%s: \"%s\"", tmm_status_string(status), tmm_last_error());
}

static void test_errors(void)
{
    const tmm_op N = TMM_OP_N, T = TMM_OP_T;
    float *a = dA, *b = dB, *c = dC;
    double error = -1;
    tap_ok(tmm_last_error()[0] == 0, "no error to report yet");
#define GEMM(opA, opB, M, N, K, A, lda, B, ldb, C, ldc) \
    tmm_sgemm(opA, opB, M, N, K, 1, A, lda, B, ldb, 0, C, ldc, 0)
    test_rejects(GEMM((tmm_op)7, N, 8, 8, 8, a, 8, b, 8, c, 8), "opA", "an unknown opA");
    test_rejects(GEMM(N, (tmm_op)-1, 8, 8, 8, a, 8, b, 8, c, 8), "opB", "an unknown opB");
    test_rejects(GEMM(N, N, -1, 8, 8, a, 8, b, 8, c, 8), "M is negative", "a negative M");
    test_rejects(GEMM(N, N, 8, -2, 8, a, 8, b, 8, c, 8), "N is negative", "a negative N");
    test_rejects(GEMM(N, N, 8, 8, -3, a, 8, b, 8, c, 8), "K is negative", "a negative K");
    test_rejects(GEMM(N, N, 8, 8, 9, a, 8, b, 8, c, 8), "lda", "lda below K");
    test_rejects(GEMM(T, N, 9, 8, 8, a, 8, b, 8, c, 8), "lda", "lda below M, transposed");
    test_rejects(GEMM(N, N, 8, 9, 8, a, 8, b, 8, c, 9), "ldb", "ldb below N");
    test_rejects(GEMM(N, T, 8, 8, 9, a, 9, b, 8, c, 8), "ldb", "ldb below K, transposed");
    test_rejects(GEMM(N, N, 8, 8, 8, a, 8, b, 8, c, 7), "ldc", "ldc below N");
    test_rejects(GEMM(N, N, 0, 0, 0, a, 0, b, 1, c, 1), "lda", "lda = 0");
    test_rejects(GEMM(N, N, 8, 8, 8, NULL, 8, b, 8, c, 8), "A is NULL", "A = NULL");
    test_rejects(GEMM(N, N, 8, 8, 8, a, 8, NULL, 8, c, 8), "B is NULL", "B = NULL");
    test_rejects(GEMM(N, N, 8, 8, 8, a, 8, b, 8, NULL, 8), "C is NULL", "C = NULL");
    const char *odd = (const char *)b + 2;
    test_rejects(GEMM(N, N, 8, 8, 8, a, 8, (const float *)odd, 8, c, 8), "B is not aligned",
                 "a float between two floats");
    test_rejects(GEMM(N, N, LLONG_MAX / 2, 8, 8, a, 8, b, 8, c, 8), "exceeds 64-bit",
                 "a matrix beyond 64-bit addresses");
    test_rejects(GEMM(N, N, 1ll << 40, 1ll << 15, 0, a, 8, b, 1ll << 15, c, 1ll << 15), "tiles",
                 "more tiles than a grid has blocks");
    test_rejects(tmm_sgemm_with((tmm_kernel)99, N, N, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8, 0), "kernel",
                 "an unknown kernel");
    test_rejects(tmm_sgemm_batched(N, N, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8, 64, 64, 64, -1, 0),
                 "batch", "a negative batch");
    test_rejects(tmm_sgemm_batched(N, N, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8, 64, -64, 64, 2, 0),
                 "strideB", "a negative stride");
    test_rejects(tmm_sgemm_batched(N, N, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8, LLONG_MAX / 4, 64, 64, 2,
                                   0),
                 "strideA", "a stride beyond 64-bit addresses");
    test_rejects(tmm_sgemm_batched(N, N, 4, 1, 8, 1, a, 8, b, 1, 0, c, (1ll << 59) - 2, 8, 8,
                                   (1ll << 60) - 5, 2, 0),
                 "64-bit", "the last product of a batch beyond 64-bit addresses");
    test_rejects(tmm_sgemm_batched(N, N, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8, 64, 64, 0, 2, 0),
                 "strideC", "products on top of each other");
    test_rejects(tmm_smatmul(8, 8, 8, hA, NULL, hC), "B is NULL", "B = NULL in matmul");
    test_rejects(tmm_sgemm_cpu(N, N, 8, 8, 9, 1, hA, 8, hB, 8, 0, hC, 8), "lda",
                 "lda below K in gemm_cpu");
    test_rejects(tmm_sgemm_openmp(N, N, 8, 8, 8, 1, hA, 8, hB, 8, 0, hC, 8, -1), "threads",
                 "negative threads");
    double r[4] = {0, 0, 0, 0};
    test_rejects(tmm_max_abs_error((tmm_type)9, 2, 2, hA, 2, r, 2, &error), "type",
                 "an unknown type");
    test_rejects(tmm_max_abs_error(TMM_FLOAT, 2, 2, NULL, 2, r, 2, &error), "X is NULL",
                 "X = NULL");
    test_rejects(tmm_max_rel_error(TMM_FLOAT, 2, 2, hA, 2, r, 1, &error), "ldr", "ldr below N");
    test_rejects(tmm_max_rel_error(TMM_FLOAT, 2, 2, hA, 2, r, 2, NULL), "error is NULL",
                 "error = NULL");
    test_rejects(tmm_freivalds(TMM_FLOAT, 2, 2, 2, hA, 2, hB, 2, hC, 2, 0, 1, &error), "trials",
                 "no trials");
    tmm_status status =
        tmm_freivalds(TMM_FLOAT, 1ll << 59, 0, 0, NULL, 1, NULL, 1, NULL, 1, 1, 1, &error);
    tap_ok(status == TMM_ERROR_MEMORY, "freivalds of more rows than there is memory for: %s",
           tmm_last_error());
    tap_ok(error == -1, "rejected checks leave their result alone");

    /* A device without memory, planted where that can be done: reported, nothing left behind.
       (Large matrices go by tmm_?gemm_host, of which tests/host.cu asks the same.) */
    size_t before, after, total;
    cudaMemGetInfo(&before, &total);
#ifdef __CUCC__
    setenv("CUCC_FAIL", "malloc:3", 1);
    status = tmm_smatmul(64, 64, 64, hA, hB, hC);
    setenv("CUCC_FAIL", "", 1);
    tap_ok(status == TMM_ERROR_MEMORY && strstr(tmm_last_error(), "cudaMalloc for C") != NULL,
           "matmul without device memory: %s", tmm_last_error());
#endif
    cudaMemGetInfo(&after, &total);
    status = tmm_smatmul(64, 64, 64, hA, hB, hC);
    tap_ok(status == TMM_OK && before == after, "matmul frees all it had, and the next call works");

    int strings = 1;
    for (int s = TMM_OK; s <= TMM_ERROR_UNSUPPORTED; s++)
        strings &= strncmp(tmm_status_string((tmm_status)s), "TMM_", 4) == 0;
    tap_ok(strings && tmm_status_string((tmm_status)77) != NULL, "every status has a name");
    tap_ok(tmm_kernel_string(TMM_KERNEL_COUNT) == NULL, "what is no kernel has no name");
#ifndef _OPENMP
    tap_ok(tmm_sgemm_openmp(N, N, 8, 8, 8, 1, hA, 8, hB, 8, 0, hC, 8, 2) == TMM_ERROR_UNSUPPORTED &&
               strstr(tmm_last_error(), "-fopenmp") != NULL,
           "without OpenMP: says how to build with it");
#endif
}

static void test_stream(void)
{
    cudaStream_t stream;
    int wrong = 0;
    cudaStreamCreate(&stream);
    for (int i = 0; i < 4096; i++) hA[i] = (float)tap_uniform(), hB[i] = (float)tap_uniform();
    upload(dA, hA);
    upload(dB, hB);
    tmm_status status =
        tmm_sgemm(TMM_OP_N, TMM_OP_N, 64, 64, 64, 1, dA, 64, dB, 64, 0, dC, 64, stream);
    cudaError_t error = cudaStreamSynchronize(stream);
    download(hC, dC);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            double sum = 0;
            for (int k = 0; k < 64; k++) sum += (double)hA[i * 64 + k] * hB[k * 64 + j];
            wrong += !(fabs(hC[i * 64 + j] - sum) < 1e-5);
        }
    tap_ok(status == TMM_OK && error == cudaSuccess && wrong == 0, "on a stream of its own");
    cudaStreamDestroy(stream);
}

/* The first product of the program, captured in the mode that forbids most: its workspace needs a
   pool, which must come all the same. */
static void test_first_in_capture(void)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launchable = NULL;
    double sum = 0;
    for (int i = 0; i < 4096; i++) hA[i] = (float)tap_uniform(), hB[i] = (float)tap_uniform();
    upload(dA, hA);
    upload(dB, hB);
    for (int k = 0; k < 4096; k++) sum += (double)hA[k] * hB[k];
    cudaStreamCreate(&stream);
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    tmm_status status = tmm_sgemm_with(TMM_SKINNY, TMM_OP_N, TMM_OP_N, 1, 1, 4096, 1, dA, 4096, dB,
                                       1, 0, dC, 1, stream);
    if (error == cudaSuccess) error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&launchable, graph, 0);
    if (error == cudaSuccess) error = cudaGraphLaunch(launchable, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) tap_note("%s", cudaGetErrorString(error));
    download(hC, dC);
    tap_ok(status == TMM_OK && error == cudaSuccess && fabs(hC[0] - sum) < 1e-3,
           "the first product is captured");
    tap_ok(!tmm__current_device()->pools || tmm__pool(0) != NULL, "and there is a pool");
    if (launchable != NULL) cudaGraphExecDestroy(launchable);
    if (graph != NULL) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

static void test_int_epilogue(void)
{
    static int iA[4096], iB[4096], iC[4096];
    int wrong = 0, clamped = 0;
    for (int i = 0; i < 4096; i++) iA[i] = (int)(tap_bits() % 100) - 50;
    for (int i = 0; i < 4096; i++) iB[i] = (int)(tap_bits() % 100) - 50;
    tmm_status status = tmm_clampmatmul(64, 64, 64, iA, iB, iC);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            int sum = 0;
            for (int k = 0; k < 64; k++) sum += iA[i * 64 + k] * iB[k * 64 + j];
            clamped += sum < 0;
            wrong += iC[i * 64 + j] != (sum < 0 ? 0 : sum);
        }
    tap_ok(status == TMM_OK && wrong == 0 && clamped > 100, "integer epilogue sees signed values");

    fill(hC, 4);
    upload(dC, hC);
    status = tmm_srelugemm(TMM_OP_N, TMM_OP_N, 4, 4, 0, 1, NULL, 1, NULL, 4, 1, dC, 4, 0);
    download(hC, dC);
    tap_ok(status == TMM_OK && hC[0] == 14 && hC[4] == 15 && hC[15] == 47 && hC[16] == 4,
           "the epilogue is applied when K = 0 too");
}

/* Sums of 2 bytes, whose partial tiles take as much memory as those of 4. */
static void test_narrow_sums(void)
{
    enum { M = 63, N = 26, K = 2000 };
    static short a[M * K], b[K * N], c[M * N];
    short *device = NULL;
    int wrong = 0;
    for (int i = 0; i < M * K; i++) a[i] = (short)(rand() % 7 - 3);
    for (int i = 0; i < K * N; i++) b[i] = (short)(rand() % 7 - 3);
    if (cudaMalloc(&device, sizeof a + sizeof b + sizeof c) != cudaSuccess) {
        tap_ok(false, "memory for sums in short");
        return;
    }
    cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(device + M * K, b, sizeof b, cudaMemcpyHostToDevice);
    const tmm_status status = tmm_wgemm_with(TMM_PIPELINED, TMM_OP_N, TMM_OP_N, M, N, K, 1, device,
                                             K, device + M * K, N, 0, device + M * K + K * N, N, 0);
    cudaMemcpy(c, device + M * K + K * N, sizeof c, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            wrong += c[i * N + j] != (short)sum;
        }
    tap_ok(status == TMM_OK && wrong == 0, "sums in short, with k cut (%d wrong)", wrong);
    cudaFree(device);
}

/* Floats whose sums are double: on and off the tiles, C aligned and not; each element right
   to one rounding, and nothing written beside C. */
static void test_wide_sums(void)
{
    enum { M = 132, N = 260, K = 40, MOST = M * (N + 3) };
    static float a[K * M], b[K * N], old[MOST], c[MOST];
    float *device = NULL;
    for (int i = 0; i < K * M; i++) a[i] = (float)(rand() % 2001 - 1000) / 999;
    for (int i = 0; i < K * N; i++) b[i] = (float)(rand() % 2001 - 1000) / 999;
    if (cudaMalloc(&device, sizeof a + sizeof b + sizeof c) != cudaSuccess) {
        tap_ok(false, "memory for sums in double");
        return;
    }
    float *device_b = device + K * M, *device_c = device_b + K * N;
    cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, b, sizeof b, cudaMemcpyHostToDevice);
    for (int turn = 0; turn < 4; turn++) {
        int ldc = turn % 2 ? N + 3 : N, wrong = 0;
        float beta = turn < 2 ? 0.0f : -3.0f;
        for (int i = 0; i < MOST; i++)
            old[i] = beta == 0 ? nanf("") : (float)(rand() % 2001 - 1000) / 999;
        cudaMemcpy(device_c, old, sizeof old, cudaMemcpyHostToDevice);
        tmm_status status = tmm_fdgemm_with(TMM_PIPELINED, TMM_OP_N, TMM_OP_N, M, N, K, 2, device,
                                            K, device_b, N, beta, device_c, ldc, 0);
        cudaMemcpy(c, device_c, sizeof c, cudaMemcpyDeviceToHost);
        for (int at = 0; at < MOST; at++) {
            int i = at / ldc, j = at % ldc;
            if (i >= M || j >= N) {
                wrong += memcmp(&c[at], &old[at], sizeof c[at]) != 0;
                continue;
            }
            double sum = 0, most = 1e-12;
            for (int k = 0; k < K; k++) sum += (double)a[i * K + k] * b[k * N + j];
            sum = 2 * sum + (beta == 0 ? 0 : (double)beta * old[at]);
            most += fabs(sum) * FLT_EPSILON;
            wrong += !(fabs(c[at] - sum) <= most);
        }
        tap_ok(status == TMM_OK && wrong == 0, "sums in double, beta %g, ldc %d", beta, ldc);
        if (wrong) tap_note("%d elements wrong", wrong);
    }
    cudaFree(device);
}

static void test_checks(void)
{
    enum { M = 60, N = 70, K = 50 };
    static float A[M * K], B[K * N], C[M * N];
    static double R[M * N];
    double error = -1;
    for (int i = 0; i < M * K; i++) A[i] = (float)tap_uniform();
    for (int i = 0; i < K * N; i++) B[i] = (float)tap_uniform();
    tmm_sgemm_cpu(TMM_OP_N, TMM_OP_N, M, N, K, 1, A, K, B, N, 0, C, N);
    for (int i = 0; i < M * N; i++) R[i] = C[i];
    tmm_max_abs_error(TMM_FLOAT, M, N, C, N, R, N, &error);
    tap_ok(error == 0, "max_abs_error of equal matrices");
    R[17] += 0.25;
    R[18] -= 0.125;
    tmm_max_abs_error(TMM_FLOAT, M, N, C, N, R, N, &error);
    tap_ok(error == 0.25, "max_abs_error finds the largest difference");
    tmm_max_abs_error(TMM_FLOAT, M, 10, C + 20, N, R + 20, N, &error);
    tap_ok(error == 0, "max_abs_error keeps to its columns");
    R[18] += 0.125;
    tmm_max_rel_error(TMM_FLOAT, M, N, C, N, R, N, &error);
    tap_ok(error == 0.25 / (fabs(R[17]) + 1e-12), "max_rel_error");
    R[17] = NAN;
    tmm_max_abs_error(TMM_FLOAT, M, N, C, N, R, N, &error);
    tap_ok(isinf(error), "NaN against a number is an infinite error");
    C[17] = NAN;
    tmm_max_abs_error(TMM_FLOAT, M, N, C, N, R, N, &error);
    tap_ok(error == 0, "NaN against NaN is none");
    int x[2] = {3, -7};
    double y[2] = {3, -9}, z[2] = {1, 2}, w[2] = {1, 2.5};
    tmm_max_abs_error(TMM_INT, 1, 2, x, 2, y, 2, &error);
    tap_ok(error == 2, "max_abs_error of int");
    tmm_max_abs_error(TMM_DOUBLE, 1, 2, z, 2, w, 2, &error);
    tap_ok(error == 0.5, "max_abs_error of double");

    /* Freivalds, on sizes where rounding matters, with faults of the kinds that kernels make. */
    enum { L = 200 };
    static float a[L * L], b[L * L], c[L * L];
    static double da[L * L], db[L * L], dc[L * L];
    static int ia[L * L], ib[L * L], ic[L * L];
    for (int i = 0; i < L * L; i++) {
        da[i] = a[i] = (float)tap_uniform(), db[i] = b[i] = (float)tap_uniform();
        ia[i] = (int)tap_bits(), ib[i] = (int)tap_bits();
    }
    tmm_sgemm_cpu(TMM_OP_N, TMM_OP_N, L, L, L, 1, a, L, b, L, 0, c, L);
    tmm_dgemm_cpu(TMM_OP_N, TMM_OP_N, L, L, L, 1, da, L, db, L, 0, dc, L);
    tmm_igemm_cpu(TMM_OP_N, TMM_OP_N, L, L, L, 1, ia, L, ib, L, 0, ic, L);
    unsigned long long seed = tap_bits();
    tmm_freivalds(TMM_FLOAT, L, L, L, a, L, b, L, c, L, 20, seed, &error);
    tap_ok(error > 0 && error < 1, "freivalds passes a float product (excess %.3g)", error);
    tmm_freivalds(TMM_DOUBLE, L, L, L, da, L, db, L, dc, L, 20, seed, &error);
    tap_ok(error > 0 && error < 1, "freivalds passes a double product (excess %.3g)", error);
    tmm_freivalds(TMM_INT, L, L, L, ia, L, ib, L, ic, L, 20, seed, &error);
    tap_ok(error == 0, "freivalds passes an int product exactly");
    ic[777]++;
    tmm_freivalds(TMM_INT, L, L, L, ia, L, ib, L, ic, L, 20, seed, &error);
    tap_ok(isinf(error), "freivalds finds one int off by one");
    float keep = c[4242];
    c[4242] += 0.01f;
    tmm_freivalds(TMM_FLOAT, L, L, L, a, L, b, L, c, L, 20, seed, &error);
    tap_ok(error > 1, "freivalds finds one float off by 0.01 (excess %.3g)", error);
    c[4242] = NAN;
    tmm_freivalds(TMM_FLOAT, L, L, L, a, L, b, L, c, L, 20, seed, &error);
    tap_ok(isinf(error), "freivalds finds an element never written");
    c[4242] = keep;
    dc[9] += 1e-10;
    tmm_freivalds(TMM_DOUBLE, L, L, L, da, L, db, L, dc, L, 20, seed, &error);
    tap_ok(error > 1, "freivalds finds one double off by 1e-10 (excess %.3g)", error);
    tmm_dgemm_cpu(TMM_OP_N, TMM_OP_N, 4, L * L / 4, 1, 1, da, 1, db, L * L / 4, 0, dc, L * L / 4);
    tmm_freivalds(TMM_DOUBLE, 4, L * L / 4, 1, da, 1, db, L * L / 4, dc, L * L / 4, 20, seed,
                  &error);
    tap_ok(error > 0 && error < 1, "freivalds passes a double product of long rows (excess %.3g)",
           error);
    tmm_freivalds(TMM_FLOAT, L, L, 0, NULL, 1, b, L, c, L, 1, seed, &error);
    tap_ok(error > 1, "freivalds: with K = 0 the product must be zero");
}

/* A GPU that was measured has its row; any other is described by its data sheet. */
static void test_tuning(void)
{
    static const struct {
        int capability, bus_width, processors;
        const char *device;
    } cases[] = {{90, 6016, 132, "NVIDIA H200"}, {90, 5120, 132, "NVIDIA H100"},
                 {90, 5120, 114, "a sheet"},     {80, 5120, 108, "a sheet"},
                 {75, 256, 40, "a sheet"},       {120, 512, 170, "a sheet"}};
    for (int n = 0; n < (int)(sizeof cases / sizeof *cases); n++) {
        tmm__gpu sheet = tmm__gpus[0];
        sheet.device = "a sheet", sheet.capability = cases[n].capability;
        sheet.bus_width = cases[n].bus_width, sheet.processors = cases[n].processors;
        const char *device = tmm__gpu_for(&sheet).device;
        tap_ok(strcmp(device, cases[n].device) == 0,
               "capability %d, %d bits, %d multiprocessors: the numbers of %s", cases[n].capability,
               cases[n].bus_width, cases[n].processors, device);
    }
    /* An instance that the table has not is estimated: none should be unawares. */
    int measured = 0, instances = 0;
#define MEASURED(pass, name, warps, down, elements, blocks)                   \
    instances++;                                                              \
    for (int n = 0; n < TMM__TUNED_TENSOR; n++)                               \
        measured += tmm__measured.tensor.instances[n].tile_m == 32 * down &&  \
                    tmm__measured.tensor.instances[n].tile_n == 32 * warps && \
                    tmm__measured.tensor.instances[n].width == elements;
    TMM__TENSOR_LIST(MEASURED)
    tap_ok(measured == instances, "%d instances of KERNEL TENSOR are in the table: %d", instances,
           measured);
}

/* The choice on GPUs that no one has measured. With few units of double all kernels take as
   long. */
static void test_pretended(void)
{
    const tmm__device is = *tmm__current_device();
    const kernel_set simple = SET(TMM_REGISTER_64) | SET(TMM_REGISTER_128);
    for (int n = 0; n < PRETENDED_GPUS; n++) {
        const pretended *gpu = &pretended_gpus[n];
        const int many = gpu->capability == 80 || gpu->capability == 100;
        pretend(gpu);
        s_test_times(gpu);
        s_test_remembered(gpu);
        s_test_clear(gpu, gpu->capability >= 80 ? SET(TMM_PIPELINED) : simple);
        d_test_times(gpu);
        d_test_remembered(gpu);
        d_test_clear(gpu, many ? SET(TMM_TENSOR) : ~SET(TMM_TENSOR));
    }
    become(&is);
}

/* Where a kernel's sums find no room TMM_AUTO takes another, and leaves the sentence of an older
   error alone. */
static void test_no_room(void)
{
    const tmm__device is = *tmm__current_device();
    const pretended little = {"sm_80 with 10 KB for a block", 80, 16, 10000, 1.4, 200, 256e3};
    const asked shapes[] = {{0, 300, 300, 300}, {0, 8, 4000, 3000}, {3, 500000000, 3, 7}};
    int wrong = 0;
    (void)tmm_sgemm(TMM_OP_N, TMM_OP_N, -5, 1, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1, 0);
    pretend(&little);
    for (int n = 0; n < (int)(sizeof shapes / sizeof *shapes); n++) {
        const tmm_kernel kernels[2] = {s_choice_of(&shapes[n], 500000000),
                                       d_choice_of(&shapes[n], 500000000)};
        for (int type = 0; type < 2; type++)
            wrong += kernels[type] == TMM_SMALL || kernels[type] == TMM_SKINNY;
    }
    become(&is);
    tap_ok(wrong == 0 && strstr(tmm_last_error(), "M is negative") != NULL,
           "kernels without room are not chosen, and the last error is: %s", tmm_last_error());
}

/* The text of tmm_?gemm_explain: a line for each kernel, the chosen one first, then by time. */
typedef tmm_status explanation(tmm_kernel, tmm_op, tmm_op, long long, long long, long long,
                               long long, const char *, char *, size_t);

static void test_explanation(const char *type, explanation *explain, const char *gpu,
                             tmm_kernel chosen)
{
    char text[4096];
    const asked a = {0, 300, 200, 100};
    const tmm_status status =
        explain(TMM_AUTO, TMM_OP_N, TMM_OP_N, a.M, a.N, a.K, 1, gpu, text, sizeof text);
    int lines = 0, starred = 0, unsorted = 0, rows = 0;
    double last = 0;
    for (char *at = text, *end; status == TMM_OK && (end = strchr(at, '\n')) != NULL;
         at = end + 1) {
        char mark = 0, name[32] = "";
        double time = 0;
        *end = 0;
        if (sscanf(at, "%c %31s %lf us", &mark, name, &time) < 2 || (mark != '*' && mark != ' '))
            continue; /* the first, or the last */
        lines++;
        starred += mark == '*' && lines == 1 &&
                   (gpu != NULL || strcmp(name, tmm_kernel_string(chosen)) == 0);
        unsorted += time > 0 && lines > 2 && time < last;
        if (time > 0 && mark == ' ') last = time;
    }
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) rows += tmm_sgemm__row((tmm_kernel)k) != NULL;
    tap_ok(lines == rows && starred == 1 && unsorted == 0,
           "%s explained for %s: %d lines for %d kernels, %d are chosen, %d out of order", type,
           gpu ? gpu : "this device", lines, rows, starred, unsorted);
}

static void test_explain(void)
{
    char text[4096], less[4096];
    const tmm_op no = TMM_OP_N;
    test_explanation("float", tmm_sgemm_explain, NULL, tmm_sgemm_choice(300, 200, 100, 1));
    test_explanation("double", tmm_dgemm_explain, NULL, tmm_dgemm_choice(300, 200, 100, 1));
    test_explanation("int", tmm_igemm_explain, NULL, tmm_igemm_choice(300, 200, 100, 1));
    test_explanation("float", tmm_sgemm_explain, "H100", TMM_AUTO);
    test_explanation("double", tmm_dgemm_explain, "H200", TMM_AUTO);
    tap_ok(tmm_sgemm_explain(TMM_AUTO, no, no, 9, 9, 9, 1, NULL, NULL, 9) == TMM_ERROR_ARGUMENT &&
               strstr(tmm_last_error(), "text is NULL") != NULL,
           "explain: %s", tmm_last_error());
    tap_ok(tmm_sgemm_explain(TMM_SMALL, no, no, 9, 9, 9, 1, NULL, text, 9) == TMM_ERROR_ARGUMENT &&
               strstr(tmm_last_error(), "kernel is") != NULL,
           "explain: %s", tmm_last_error());
    tap_ok(tmm_sgemm_explain(TMM_AUTO, no, (tmm_op)7, 9, 9, 9, 1, NULL, text, 9) ==
                   TMM_ERROR_ARGUMENT &&
               strstr(tmm_last_error(), "opB is 7") != NULL,
           "explain: %s", tmm_last_error());
    tap_ok(tmm_sgemm_explain(TMM_AUTO, no, no, 9, 0, 9, 1, NULL, text, 9) == TMM_ERROR_ARGUMENT &&
               strstr(tmm_last_error(), "N is less") != NULL,
           "explain: %s", tmm_last_error());
    tap_ok(tmm_sgemm_explain(TMM_AUTO, no, no, 9, 9, 9, 1, "Voodoo", text, 9) ==
                   TMM_ERROR_ARGUMENT &&
               strstr(tmm_last_error(), "'Voodoo'") != NULL,
           "explain: %s", tmm_last_error());
    /* Room for all of it and its end; one byte less; none. What follows stays. */
    const tmm_status whole =
        tmm_sgemm_explain(TMM_AUTO, no, no, 9, 9, 9, 1, NULL, text, sizeof text);
    const size_t length = strlen(text);
    memset(less, 'x', sizeof less);
    const int exact = tmm_sgemm_explain(TMM_AUTO, no, no, 9, 9, 9, 1, NULL, less, length + 1);
    tap_ok(whole == TMM_OK && exact == TMM_OK && strcmp(less, text) == 0 &&
               less[length + 1] == 'x' && strstr(tmm_last_error(), "'Voodoo'") != NULL,
           "explain: a text of just so many bytes, and the last error stays");
    memset(less, 'x', sizeof less);
    const int cut = tmm_sgemm_explain(TMM_AUTO, no, no, 9, 9, 9, 1, NULL, less, length);
    const int none = tmm_sgemm_explain(TMM_AUTO, no, no, 9, 9, 9, 1, NULL, less + length, 0);
    tap_ok(cut == TMM_ERROR_MEMORY && none == TMM_ERROR_MEMORY && less[length - 1] == 0 &&
               strncmp(less, text, length - 1) == 0 && less[length] == 'x' &&
               strstr(tmm_last_error(), "room for 0 bytes") != NULL,
           "explain: too few bytes: %s", tmm_last_error());
}

/* Which part of what KERNEL TENSOR of double copies begins within sectors of L2, of 32 bytes: by the
   leading dimensions, K, the ops, whether the last step is the short one, and packing. */
static void test_sectors(void)
{
    static const struct {
        tmm_op opB;
        int K, lda, ldb, short_last, packed;
        double part;
    } cases[] = {
        {TMM_OP_T, 1024, 1024, 1024, 0, 0, 0},    {TMM_OP_T, 1026, 1028, 1028, 0, 0, 1},
        {TMM_OP_T, 1026, 1028, 1028, 1, 0, 0},    {TMM_OP_T, 1026, 1026, 1026, 0, 0, 0.5},
        {TMM_OP_T, 1024, 1026, 1024, 0, 0, 0.25}, {TMM_OP_N, 1026, 1028, 1024, 0, 0, 0.5},
        {TMM_OP_N, 1026, 1028, 1026, 0, 0, 0.75}, {TMM_OP_N, 1026, 1026, 1026, 0, 1, 0.25},
    };
    int wrong = 0;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        tmm_dgemm__product p = tmm_dgemm__make_product(TMM_OP_N, cases[n].opB, 256, 256, cases[n].K,
                                                       cases[n].lda, cases[n].ldb);
        tmm__plan c;
        memset(&c, 0, sizeof c);
        c.modeA = TMM__ALONG_K;
        c.modeB = cases[n].opB == TMM_OP_T ? TMM__ALONG_K : TMM__ALONG_LINES;
        c.pitchA = cases[n].packed ? 256 : 0;
        wrong += tmm_dgemm__tensor_within(&c, &p, cases[n].short_last, 64, 64) != cases[n].part;
        wrong += tmm_dgemm__tensor_short_last(&c, &p) !=
                 (cases[n].K % 4 != 0 &&
                  (cases[n].lda % 4 == 0 || (c.modeB == TMM__ALONG_K && cases[n].ldb % 4 == 0)));
    }
    tap_ok(wrong == 0, "double tensor: copies that begin within sectors");
}

/* A product that needs more shared memory than all kernels may have, by any thread. */
static double *shared_operands;

static tmm_status large_product(int K)
{
    return tmm_dgemm_with(TMM_OUTER, TMM_OP_N, TMM_OP_N, 200, 300, K, 1, shared_operands, K,
                          shared_operands, 300, 0, shared_operands + 200 * 300, 300, 0);
}

static void *smaller_product(void *status)
{
    *(tmm_status *)status = large_product(40);
    return NULL;
}

/* How much shared memory a kernel may have is known to the process, not to a thread: less in one
   must not take from another. */
static void test_threads(void)
{
    pthread_t thread;
    tmm_status status[3] = {TMM_ERROR_CUDA, TMM_ERROR_CUDA, TMM_ERROR_CUDA};
    if (cudaMalloc((void **)&shared_operands, 2 * 200 * 300 * sizeof(double)) != cudaSuccess) {
        tap_ok(0, "memory for products of several threads");
        return;
    }
    status[0] = large_product(64);
    if (pthread_create(&thread, NULL, smaller_product, &status[1]) == 0) pthread_join(thread, NULL);
    status[2] = large_product(56);
    tap_ok(status[0] == TMM_OK && status[1] == TMM_OK && status[2] == TMM_OK,
           "a thread's smaller product leaves another thread's kernel its shared memory");
    if (status[2] != TMM_OK) tap_note("%s", tmm_last_error());
    cudaFree(shared_operands);
}

int main(void)
{
    tap_seed((unsigned long long)time(NULL));
    take_memory();
    d_take_memory();
    test_first_in_capture();
    test_errors();
    test_kernels();
    d_test_kernels();
    test_stream();
    test_epilogue();
    d_test_epilogue();
    test_int_epilogue();
    test_wide_sums();
    test_narrow_sums();
    test_checks();
    test_tuning();
    test_sectors();
    test_no_room();
    test_explain();
    test_pretended();
    test_threads();
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
    cudaFree(d_dA);
    cudaFree(d_dB);
    cudaFree(d_dC);
    return tap_done();
}

#else /* ---------------- for one element type REAL --------------------------------------------- */
static REAL *dA, *dB, *dC; /* 64 x 64 each, on the device */
static REAL hA[4096], hB[4096], hC[4096];

static void upload(REAL *device, const REAL *host)
{
    if (cudaMemcpy(device, host, sizeof hA, cudaMemcpyHostToDevice) != cudaSuccess) {
        printf("Bail out! copy to the device\n");
        exit(1);
    }
}

static void download(REAL *host, const REAL *device)
{
    cudaError_t error = cudaMemcpy(host, device, sizeof hA, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("Bail out! copy from the device: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void fill(REAL *x, REAL value)
{
    for (int i = 0; i < 4096; i++) x[i] = value;
}

/* Is this kernel made for this type? */
static int made(tmm_kernel kernel)
{
    return TMM(gemm_with)(kernel, TMM_OP_N, TMM_OP_N, 0, 0, 0, 1, NULL, 1, NULL, 1, 0, NULL, 1,
                          0) != TMM_ERROR_UNSUPPORTED;
}

/* 64 columns, or as many as the kernel can; the others of C must stay as they are. */
static int columns(tmm_kernel kernel)
{
    return kernel == TMM_SKINNY ? 16 : 64;
}

static int count_unlike(tmm_kernel kernel, REAL inside, REAL outside)
{
    int wrong = 0;
    for (int i = 0; i < 4096; i++)
        wrong += hC[i] != (i % 64 < columns(kernel) ? inside : outside) || signbit(hC[i]);
    return wrong;
}

static void test_blas_rules(tmm_kernel kernel)
{
    const char *name = tmm_kernel_string(kernel);
    const tmm_op N = TMM_OP_N;
    const int cols = columns(kernel);
    int wrong = 0;
    for (int i = 0; i < 4096; i++) hA[i] = (REAL)tap_uniform(), hB[i] = (REAL)tap_uniform();
    upload(dA, hA);
    upload(dB, hB);

    fill(hC, NAN);
    upload(dC, hC);
    tmm_status status = TMM(gemm_with)(kernel, N, N, 64, cols, 64, 1, dA, 64, dB, 64, 0, dC, 64, 0);
    download(hC, dC);
    for (int i = 0; i < 4096; i++) wrong += isnan(hC[i]) != (i % 64 >= cols);
    tap_ok(status == TMM_OK && wrong == 0, TYPE " %s: beta = 0 does not read C", name);

    fill(hC, 2);
    upload(dC, hC);
    status = TMM(gemm_with)(kernel, N, N, 64, cols, 64, 0, NULL, 64, NULL, 64, 3, dC, 64, 0);
    download(hC, dC);
    wrong = count_unlike(kernel, 6, 2);
    tap_ok(status == TMM_OK && wrong == 0, TYPE " %s: alpha = 0 reads neither A nor B", name);

    status = TMM(gemm_with)(kernel, N, N, 64, cols, 0, NAN, NULL, 1, NULL, 64, 3, dC, 64, 0);
    download(hC, dC);
    wrong = count_unlike(kernel, 18, 2);
    tap_ok(status == TMM_OK && wrong == 0, TYPE " %s: K = 0 reads neither A nor B, nor uses alpha",
           name);

    status = TMM(gemm_with)(kernel, N, N, 64, cols, 0, 1, NULL, 1, NULL, 64, 0, dC, 64, 0);
    download(hC, dC);
    wrong = count_unlike(kernel, 0, 2);
    tap_ok(status == TMM_OK && wrong == 0, TYPE " %s: K = 0 and beta = 0 give zeros", name);

    status = TMM(gemm_with)(kernel, N, N, 0, 64, 64, 1, NULL, 64, NULL, 64, 0, NULL, 64, 0);
    if (status == TMM_OK)
        status = TMM(gemm_with)(kernel, N, N, 64, 0, 64, 1, NULL, 64, NULL, 1, 0, NULL, 1, 0);
    if (status == TMM_OK)
        status = TMM(gemm_batched_with)(kernel, N, N, 64, cols, 64, 1, NULL, 64, NULL, 64, 0, NULL,
                                        64, 0, 0, 4096, 0, 0);
    download(hC, dC);
    wrong = count_unlike(kernel, 0, 2);
    tap_ok(status == TMM_OK && wrong == 0, TYPE " %s: M = 0, N = 0 or batch = 0 does nothing",
           name);

    /* One NaN in A spoils its row of C, one infinity in B its column, and nothing else. 61 of 64
       rows and columns, so that the zeros beyond the edge of a tile meet them too; and so do zeros
       in A and B, which nobody may leave out. */
    const int last = cols - 4;
    for (int i = 32; i < 48; i++)
        for (int k = 0; k < 64; k++) hA[i * 64 + k] = 0;
    for (int k = 0; k < 64; k++)
        for (int j = 0; j < 8; j++) hB[k * 64 + j] = 0;
    hA[5 * 64 + 7] = NAN;
    hB[9 * 64 + last] = INFINITY;
    upload(dA, hA);
    upload(dB, hB);
    status = TMM(gemm_with)(kernel, N, N, 61, last + 1, 61, 1, dA, 64, dB, 64, 0, dC, 64, 0);
    download(hC, dC);
    wrong = 0;
    for (int i = 0; i < 61; i++)
        for (int j = 0; j <= last; j++) {
            REAL c = hC[i * 64 + j];
            if (i == 5 || (j == last && i >= 32 && i < 48)) /* 0 times infinity is NaN */
                wrong += !isnan(c);
            else
                wrong += j == last ? !isinf(c) : !isfinite(c);
        }
    tap_ok(status == TMM_OK && wrong == 0,
           TYPE " %s: NaN and infinity propagate, and only where they "
                "should",
           name);
}

static void take_memory(void)
{
    if (cudaMalloc((void **)&dA, sizeof hA) || cudaMalloc((void **)&dB, sizeof hA) ||
        cudaMalloc((void **)&dC, sizeof hA)) {
        printf("Bail out! no device memory\n");
        exit(1);
    }
}

static void test_epilogue(void)
{
    const REAL bias[4] = {10, 20, 30, 40};
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        tmm_kernel kernel = (tmm_kernel)k;
        int wrong = 0, clamped = 0, cols = columns(kernel) - 3;
        if (!made(kernel)) continue;
        for (int i = 0; i < 4096; i++) hA[i] = 8 * (REAL)tap_uniform();
        for (int i = 0; i < 4096; i++) hB[i] = 8 * (REAL)tap_uniform();
        fill(hC, 1);
        upload(dA, hA);
        upload(dB, hB);
        upload(dC, hC);
        tmm_status status = TMM(relugemm_with)(kernel, TMM_OP_N, TMM_OP_N, 50, cols, 40, 2, dA, 64,
                                               dB, 64, -3, dC, 64, 0);
        download(hC, dC);
        for (int i = 0; i < 50; i++)
            for (int j = 0; j < cols; j++) {
                double sum = 0;
                for (int p = 0; p < 40; p++) sum += (double)hA[i * 64 + p] * hB[p * 64 + j];
                double want = fmax(0, 2 * sum - 3 + bias[j % 4] + i);
                clamped += want == 0;
                wrong += !(fabs(hC[i * 64 + j] - want) < 1e-2);
            }
        tap_ok(status == TMM_OK && wrong == 0 && clamped > 2 * cols,
               TYPE " %s: epilogue with bias and ReLU (%d of %d clamped)",
               tmm_kernel_string(kernel), clamped, 50 * cols);
    }
}

static void test_kernels(void)
{
    for (int k = 0; k < TMM_KERNEL_COUNT; k++)
        if (made((tmm_kernel)k)) test_blas_rules((tmm_kernel)k);
}
#endif
