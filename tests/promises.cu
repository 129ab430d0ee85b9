/* Promises of tiledmm.cuh that are easily taken lightly: errors of CUDA that are the caller's, the
   argument that is to blame, batches that overlap, and the bound where products underflow. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "tap.h"
#define TMM_NO_INT
#define TMM_FLOAT_TENSOR 0
#define TMM_WITH_SYRK
#include "../tiledmm.cuh"

#define N TMM_OP_N
enum { SIZE = 48 };

static void test_sentence(tmm_status status, tmm_status expected, const char *word,
                          const char *what)
{
    int named = strstr(tmm_last_error(), word) != NULL;
    tap_ok(status == expected && (named || !*word), "%s", what);
    if (status != expected || (*word && !named))
        tap_note("%s: \"%s\"", tmm_status_string(status), tmm_last_error());
}

static void fill(float *X, int count)
{
    for (int i = 0; i < count; i++) X[i] = (float)tap_uniform();
}

/* The largest |C - A B| as a part of (K + 2) 2^-24 |A||B|. */
static double error_of(const float *A, const float *B, const float *C, int rows)
{
    double worst = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0, size = 0;
            for (int k = 0; k < SIZE; k++) {
                double product = (double)A[i * SIZE + k] * B[k * SIZE + j];
                sum += product, size += fabs(product);
            }
            double error = fabs(C[i * SIZE + j] - sum) / ((SIZE + 2) * ldexp(1, -24) * size);
            if (!(error <= worst)) worst = error;
        }
    return worst;
}

/* An error that is older than a call neither stops it nor is forgotten. */
static void test_older_errors(void)
{
    static float A[SIZE * SIZE], B[SIZE * SIZE], C[SIZE * SIZE];
    float *dA, *dB, *dC;
    void *none = NULL;
    fill(A, SIZE * SIZE);
    fill(B, SIZE * SIZE);
    if (cudaMalloc((void **)&dA, sizeof A) || cudaMalloc((void **)&dB, sizeof B) ||
        cudaMalloc((void **)&dC, sizeof C) || cudaMemcpy(dA, A, sizeof A, cudaMemcpyHostToDevice) ||
        cudaMemcpy(dB, B, sizeof B, cudaMemcpyHostToDevice)) {
        tap_ok(0, "memory for the operands");
        return;
    }
    /* Each kernel twice: what CUDA does the first time (cudaFuncSetAttribute) may take an older
       error from the record. Such an error must still not stop the call. */
    for (int n = 0; n < 2 * TMM_KERNEL_COUNT; n++) {
        tmm_kernel kernel = (tmm_kernel)(n / 2);
        const char *name = tmm_kernel_string(kernel);
        int narrow = kernel == TMM_SKINNY, rows = narrow ? 8 : SIZE, again = n % 2;
        cudaMemset(dC, 0xff, sizeof C);
        cudaError_t raised = cudaMalloc(&none, (size_t)1 << 60);
        tmm_status status =
            tmm_sgemm_with(kernel, N, N, rows, SIZE, SIZE, 1, dA, SIZE, dB, SIZE, 0, dC, SIZE, 0);
        cudaError_t left = cudaGetLastError();
        if (status == TMM_ERROR_UNSUPPORTED && kernel == TMM_TENSOR_INT8) continue; /* of double */
        tap_ok(raised != cudaSuccess && status == TMM_OK &&
                   (left == raised || (!again && left == cudaSuccess)),
               "kernel %s%s, with an error of before: works%s", name, again ? " again" : "",
               again ? ", and leaves it to the caller" : "");
        if (status != TMM_OK || left != raised)
            tap_note("raised %d, left %d, %s", (int)raised, (int)left, tmm_last_error());
        if (cudaMemcpy(C, dC, sizeof C, cudaMemcpyDeviceToHost) != cudaSuccess) C[0] = NAN;
        double error = error_of(A, B, C, rows);
        tap_ok(error <= 1, "kernel %s with an error of before: the product is right (%.2g)", name,
               error);
    }
    cudaError_t raised = cudaMalloc(&none, (size_t)1 << 60);
    tmm_status status = tmm_smatmul(SIZE, SIZE, SIZE, A, B, C);
    cudaError_t left = cudaGetLastError();
    tap_ok(status == TMM_OK && left == raised && error_of(A, B, C, SIZE) <= 1,
           "matmul with an error of before: right, and leaves it to the caller");
    raised = cudaMalloc(&none, (size_t)1 << 60);
    status = tmm_sgemm_host(N, N, SIZE, SIZE, SIZE, 1, A, SIZE, B, SIZE, 0, C, SIZE, NULL);
    (void)cudaGetLastError();
    tap_ok(status == TMM_OK && error_of(A, B, C, SIZE) <= 1,
           "gemm_host with an error of before: right");
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
}

static void test_culprits(void)
{
    float *x = NULL;
    if (cudaMalloc((void **)&x, 4096) != cudaSuccess) {
        tap_ok(0, "memory for the operands");
        return;
    }
    test_sentence(tmm_sgemm_with(TMM_PIPELINED, N, N, 1ll << 59, 1, 1, 0, x, 1, x, 1, 0, x, 1, 0),
                  TMM_ERROR_ARGUMENT, "M x N is 576460752303423488 x 1",
                  "too many rows: the sentence names M, not K, lda or ldb");
    test_sentence(tmm_sgemm_batched(N, N, 0, 8, 8, 1, x, 8, x, 8, 0, x, 8, 0, 0, 0, 2, 0), TMM_OK,
                  "", "a batch with M = 0 does nothing, whatever strideC");
    test_sentence(tmm_sgemm_batched(N, N, 8, 0, 8, 1, x, 8, x, 8, 0, x, 8, 0, 0, 0, 2, 0), TMM_OK,
                  "", "a batch with N = 0 does nothing, whatever strideC");
    /* M, N, ldc, strideC, batch, and whether products overlap. */
    static const int cases[][6] = {
        {8, 8, 8, 8, 2, 1},   {8, 8, 8, 63, 2, 1},  {8, 8, 8, 64, 2, 0},   {8, 8, 16, 8, 2, 0},
        {8, 8, 16, 8, 3, 1},  {8, 8, 16, 7, 2, 1},  {8, 8, 16, 120, 2, 0}, {8, 8, 16, 119, 2, 1},
        {1, 8, 100, 8, 9, 0}, {1, 8, 100, 7, 2, 1}, {8, 1, 10, 1, 10, 0},  {8, 1, 10, 1, 11, 1},
        {3, 2, 10, 4, 5, 0},  {3, 2, 10, 4, 6, 1},  {3, 3, 10, 9, 2, 1},   {2, 4, 4, 8, 9, 0}};
    for (int n = 0; n < (int)(sizeof cases / sizeof *cases); n++) {
        const int *c = cases[n];
        /* By listing all elements: the reference. */
        static unsigned char used[4096];
        int overlap = 0;
        memset(used, 0, sizeof used);
        for (int b = 0; b < c[4]; b++)
            for (int i = 0; i < c[0]; i++)
                for (int j = 0; j < c[1]; j++) overlap |= used[b * c[3] + i * c[2] + j]++;
        tmm_status status = tmm_sgemm_batched(N, N, c[0], c[1], 1, 0, x, 1, x, c[1], 0, x, c[2], 0,
                                              0, c[3], c[4], 0);
        tap_ok((overlap != 0) == c[5] && (status != TMM_OK) == c[5] &&
                   (c[5] == 0 || strstr(tmm_last_error(), "overwrite")),
               "batch of %d products %d x %d, ldc %d, strideC %d: %s", c[4], c[0], c[1], c[2], c[3],
               c[5] ? "refused, they overlap" : "taken");
    }
    tap_ok(cudaDeviceSynchronize() == cudaSuccess, "nothing was written beside C");
    cudaFree(x);
}

/* Do two areas have a byte in common? Random ones against a list of all bytes: never a wrong yes, and
   no wrong no where it is to be exact. */
static void test_areas(void)
{
    enum { BYTES = 4000, TRIALS = 20000 };
    static unsigned char used[BYTES];
    int wrong = 0, missed = 0, met = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        tmm__area area[2];
        int exact = 0, common = 0;
        const int same_ld = tap_bits() % 2, ld = 1 + (int)(tap_bits() % 60);
        for (int n = 0; n < 2; n++) {
            const long long pitch = same_ld ? ld : 1 + (long long)(tap_bits() % 60);
            const long long cols = tap_bits() % 4 ? 1 + (long long)(tap_bits() % pitch) : pitch;
            const long long rows = 1 + (long long)(tap_bits() % (tap_bits() % 2 ? 30 : 5));
            area[n] =
                tmm__area_of((const void *)(size_t)(1000 + tap_bits() % 300), rows, cols, pitch, 1);
            exact |= area[n].rows <= 16;
        }
        memset(used, 0, sizeof used);
        for (int n = 0; n < 2; n++)
            for (long long row = 0; row < area[n].rows; row++)
                for (long long col = 0; col < area[n].cols; col++)
                    common |= used[area[n].begin + row * area[n].ld + col - 1000] |= n ? 2 : 1;
        common = 0;
        for (int at = 0; at < BYTES; at++) common |= used[at] == 3;
        const int found = tmm__areas_meet(&area[0], &area[1]);
        wrong += found && !common;
        missed += !found && common && (exact || area[0].ld == area[1].ld);
        met += found && area[0].rows > 1 && area[1].rows > 1;
    }
    tap_ok(wrong == 0 && missed == 0 && met > TRIALS / 50,
           "areas in common: %d found that are none, %d missed", wrong, missed);
}

/* C that shares an element with A or B is refused; C in the gaps of A, or where A and B are not read,
   is not. */
static void test_overlap(void)
{
    enum { LD = 40 };
    static float h[LD * LD], one[LD * LD], product[LD * LD];
    float *x = NULL;
    double excess = 1;
    int wrong = 0;
    fill(h, LD * LD);
    for (int i = 0; i < LD; i++) one[i * LD + i] = 1;
    if (cudaMalloc((void **)&x, 3 * sizeof h) ||
        cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice)) {
        tap_ok(0, "memory for the operands");
        return;
    }
#define SGEMM(A, lda, B, ldb, beta, C, ldc) \
    tmm_sgemm(N, N, 8, 8, 8, 1, A, lda, B, ldb, beta, C, ldc, 0)
    const tmm_status refused = TMM_ERROR_ARGUMENT;
    test_sentence(SGEMM(x, 8, x + 64, 8, 0, x, 8), refused, "C overlaps A",
                  "C that is A is refused");
    test_sentence(SGEMM(x, 8, x + 64, 8, 1, x + 64, 8), refused, "C overlaps B",
                  "C that is B is refused");
    test_sentence(SGEMM(x, 8, x + 64, 8, 0, x + 127, 8), refused, "C overlaps B",
                  "C that begins with the last element of B is refused");
    test_sentence(SGEMM(x, 8, x + 64, 8, 0, x + 128, 8), TMM_OK, "",
                  "C that begins behind B is taken");
    (void)cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    test_sentence(SGEMM(x, LD, x + 8 * LD, LD, 0, x + 7, LD), refused, "C overlaps A",
                  "C that has one column of A, in one matrix, is refused");
    test_sentence(SGEMM(x, LD, x + 8 * LD, LD, 0, x + 8, LD), TMM_OK, "",
                  "C beside A, in one matrix, is taken");
    if (cudaMemcpy(product, x, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) wrong = -1;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            double sum = 0;
            for (int k = 0; k < 8; k++) sum += (double)h[i * LD + k] * h[(8 + k) * LD + j];
            wrong += !(fabs(product[i * LD + 8 + j] - sum) < 1e-5);
        }
    tap_ok(wrong == 0, "and the product is right");
    test_sentence(tmm_sgemm(N, N, 8, 8, 8, 0, x, 8, x, 8, 2, x, 8, 0), TMM_OK, "",
                  "alpha = 0: C that is A is taken, which is not read");
    test_sentence(tmm_sgemm(N, N, 8, 8, 0, 1, x, 8, x, 8, 2, x, 8, 0), TMM_OK, "",
                  "K = 0: C that is A is taken");
    test_sentence(tmm_sgemm_batched(N, N, 4, 4, 4, 1, x, 4, x + 16, 4, 0, x + 32, 4, 48, 48, 48, 5,
                                    0),
                  TMM_OK, "", "a batch of A, B and C in turn is taken");
    test_sentence(tmm_sgemm_batched(N, N, 4, 4, 4, 1, x, 4, x + 16, 4, 0, x + 32, 4, 32, 48, 48, 5,
                                    0),
                  refused, "C overlaps A", "a batch whose second A is the first C is refused");
    test_sentence(tmm_sgemm_batched(N, N, 4, 4, 4, 1, x + 500, 4, x + 250, 4, 0, x + 240, 4, 16, 0,
                                    16, 5, 0),
                  refused, "C overlaps B", "a batch, one of whose C has the B of all, is refused");
    test_sentence(tmm_smatmul(8, 8, 8, h, one, h), refused, "C overlaps A",
                  "tmm_smatmul with C that is A is refused");
    test_sentence(tmm_sgemm_host(N, N, 8, 8, 8, 1, h, 8, one, 8, 0, one, 8, NULL), refused,
                  "C overlaps B", "tmm_sgemm_host with C that is B is refused");
    test_sentence(tmm_sgemm_cpu(N, N, 8, 8, 8, 1, h, 8, one, 8, 0, h + 63, 8), refused,
                  "C overlaps A", "tmm_sgemm_cpu with the last element of A is refused");
    test_sentence(tmm_freivalds(TMM_FLOAT, LD, LD, LD, h, LD, one, LD, h, LD, 5, 1, &excess),
                  TMM_OK, "", "tmm_freivalds asks whether A is A times one");
    tap_ok(excess == 0, "which it is");
    tmm_part parts[2];
    memset(parts, 0, sizeof parts);
    for (int n = 0; n < 2; n++) {
        parts[n].rows = parts[n].rows_B = 8, parts[n].lda = 16, parts[n].ldb = parts[n].ldc = 8;
        parts[n].A = x + n * 128, parts[n].B = x + 256 + n * 64, parts[n].C = x + 512 + n * 64;
    }
    test_sentence(tmm_sgemm_multi(N, N, 16, 8, 16, 1, 0, parts, 2, TMM_AUTO), TMM_OK, "",
                  "tmm_sgemm_multi of parts that lie apart is taken");
    parts[1].C = x + 256;
    test_sentence(tmm_sgemm_multi(N, N, 16, 8, 16, 1, 0, parts, 2, TMM_AUTO), refused,
                  "C of parts[1] overlaps B of parts[0]",
                  "with C in the B of another part is refused");

#ifndef TMM_SIMPLE
    /* Prepared operands are read, as they were given and as they are kept. */
    tmm_prepared B;
    tmm_tensor_options options = {NULL, &B};
    size_t bytes = 0;
    tmm_status status = tmm_sgemm_prepare_memory(64, 64, &bytes);
    float *memory = NULL, *y = NULL;
    if (status != TMM_OK || cudaMalloc((void **)&memory, bytes) ||
        cudaMalloc((void **)&y, 4 * 4096)) {
        tap_ok(0, "memory for a prepared operand");
        return;
    }
    test_sentence(tmm_sgemm_prepare_B(N, 64, 64, memory, 64, memory, bytes, &B, 0), refused,
                  "memory overlaps B", "an operand is not prepared in its own memory");
    status = tmm_sgemm_prepare_B(N, 64, 64, y, 64, memory, bytes, &B, 0);
    tap_ok(status == TMM_OK, "an operand is prepared in memory of the caller's");
#define TENSOR(C) tmm_sgemm_tensor(N, N, 8, 64, 64, 1, x, 64, NULL, 0, 0, C, 64, &options, 0)
    test_sentence(TENSOR(y), refused, "C overlaps B", "C in B as it was given is refused");
    test_sentence(TENSOR(memory), refused, "C overlaps the memory of the prepared B",
                  "C in what is kept of B is refused");
    test_sentence(TENSOR(x + 600), TMM_OK, "", "C elsewhere is taken");
    test_sentence(tmm_sgemm_release(&B, 0), TMM_OK, "", "B is released");
    test_sentence(TENSOR(x + 600), refused, "B is not prepared: it was released",
                  "a prepared operand that was released is named so");
    cudaDeviceSynchronize();
    cudaFree(y);
    cudaFree(memory);
#endif
    cudaFree(x);
}

/* Memory of the wrong side is named, with the operand. */
static void test_sides(void)
{
    static float h[64];
    float *x = NULL;
    if (cudaMalloc((void **)&x, sizeof h) != cudaSuccess) {
        tap_ok(0, "memory for the operands");
        return;
    }
    static float g[64], f[64];
    const tmm_status refused = TMM_ERROR_ARGUMENT;
    test_sentence(tmm_smatmul(8, 8, 8, x, h, g), refused, "A is device memory",
                  "tmm_smatmul names A that is device memory");
    test_sentence(tmm_smatmul(8, 8, 8, h, x, g), refused, "B is device memory",
                  "tmm_smatmul names B that is device memory");
    test_sentence(tmm_smatmul(8, 8, 8, h, g, x), refused, "C is device memory",
                  "tmm_smatmul names C that is device memory");
    test_sentence(tmm__launched(cudaErrorIllegalAddress), TMM_ERROR_CUDA,
                  "in this launch or before it; is an operand host memory",
                  "an illegal access at a launch: not said to have been before");
    /* What follows such a launch, as far as CUDA still answers. */
    const tmm__operands at_B = {N, N, 8, 8, 8, x, 8, h, 8, x, 8, sizeof *h, sizeof *h, 1};
    const tmm__operands at_C = {N, N, 8, 8, 8, h, 8, f, 8, h, 8, sizeof *h, sizeof *h, 0};
    if (tmm__attribute(cudaDevAttrPageableMemoryAccess, 0, 0)) {
        tap_ok(1, "the operand that is host memory is named # SKIP this device reads host memory");
    } else {
        test_sentence(tmm__blame_operand(&at_B, TMM_ERROR_CUDA), TMM_ERROR_CUDA,
                      "cannot reach B, which is host memory", "B that is host memory is named");
        test_sentence(tmm__blame_operand(&at_C, TMM_ERROR_CUDA), TMM_ERROR_CUDA,
                      "cannot reach C, which is host memory", "C that is host memory is named");
    }
    cudaFree(x);
}

/* |C - A B| <= (K + 2) u |A||B| + K v where products underflow, and not without K v. The reference
   is exact enough: products of floats are exact in double, those of doubles have 64 bits in long
   double, whose exponents reach further. */
#define TEST_UNDERFLOW(letter, real, wider, scale_A, scale_B, unit, lost)                          \
    static void letter##_test_underflow(void)                                                      \
    {                                                                                              \
        static real A[SIZE * SIZE], B[SIZE * SIZE], C[SIZE * SIZE];                                \
        double with = 0, without = 0;                                                              \
        real *d[3] = {NULL, NULL, NULL};                                                           \
        int made = 1;                                                                              \
        for (int i = 0; i < SIZE * SIZE; i++) {                                                    \
            A[i] = (real)ldexp(tap_uniform(), scale_A);                                            \
            B[i] = (real)ldexp(tap_uniform(), scale_B);                                            \
        }                                                                                          \
        for (int n = 0; n < 3; n++) made &= cudaMalloc((void **)&d[n], sizeof A) == cudaSuccess;   \
        made = made && cudaMemcpy(d[0], A, sizeof A, cudaMemcpyHostToDevice) == cudaSuccess &&     \
               cudaMemcpy(d[1], B, sizeof B, cudaMemcpyHostToDevice) == cudaSuccess;               \
        for (int kernel = 0; kernel < TMM_KERNEL_COUNT; kernel++) {                                \
            int rows = kernel == TMM_SKINNY ? 8 : SIZE;                                            \
            const char *name = tmm_kernel_string((tmm_kernel)kernel);                              \
            with = without = made ? 0 : INFINITY;                                                  \
            tmm_status status =                                                                    \
                tmm_##letter##gemm_with((tmm_kernel)kernel, N, N, rows, SIZE, SIZE, 1, d[0], SIZE, \
                                        d[1], SIZE, 0, d[2], SIZE, 0);                             \
            if (status == TMM_ERROR_UNSUPPORTED) continue;                                         \
            if (status != TMM_OK || cudaMemcpy(C, d[2], sizeof C, cudaMemcpyDeviceToHost))         \
                C[0] = (real)NAN;                                                                  \
            for (int i = 0; i < rows; i++)                                                         \
                for (int j = 0; j < SIZE; j++) {                                                   \
                    wider sum = 0, size = 0;                                                       \
                    for (int k = 0; k < SIZE; k++) {                                               \
                        wider product = (wider)A[i * SIZE + k] * B[k * SIZE + j];                  \
                        sum += product, size += product < 0 ? -product : product;                  \
                    }                                                                              \
                    wider error = C[i * SIZE + j] - sum, bound = (SIZE + 2) * (wider)(unit)*size;  \
                    if (error < 0) error = -error;                                                 \
                    double part = (double)(error / (bound + SIZE * (wider)(lost)));                \
                    if (!(part <= with)) with = part;                                              \
                    if (!(error / bound <= without)) without = (double)(error / bound);            \
                }                                                                                  \
            tap_ok(with <= 1, "%s, kernel %s, products underflow: %.2g of the bound with K v",     \
                   #real, name, with);                                                             \
        }                                                                                          \
        tap_ok(without > 1, "%s: the bound needs K v here (%.3g without)", #real, without);        \
        for (int n = 0; n < 3; n++) cudaFree(d[n]);                                                \
    }
TEST_UNDERFLOW(s, float, double, -74, -75, ldexp(1, -24), ldexp(1, -150))
#if LDBL_MANT_DIG >= 64 && LDBL_MIN_EXP < -10000
TEST_UNDERFLOW(d, double, long double, -536, -537, ldexp(1, -53), ldexpl(1, -1075))
#endif

/* A device that is lost is named as found so. It comes last: on a GPU nothing works after it. */
static __global__ void lose_device(void)
{
#ifdef __CUDA_ARCH__
    __trap();
#endif
}

static void test_lost_device(void)
{
    float *x = NULL;
    if (cudaMalloc((void **)&x, 8192) != cudaSuccess) {
        tap_ok(0, "memory for the operands");
        return;
    }
#ifdef __CUCC__
    setenv("CUCC_FAIL", "kernel:1", 1);
#endif
    lose_device<<<1, 1>>>();
    (void)cudaDeviceSynchronize();
#ifdef __CUCC__
    unsetenv("CUCC_FAIL");
#endif
    static const tmm_kernel kernels[] = {TMM_GLOBAL, TMM_REGISTER, TMM_PIPELINED, TMM_SMALL,
                                         TMM_AUTO};
    for (int n = 0; n < (int)(sizeof kernels / sizeof *kernels); n++) {
        char what[80];
        snprintf(what, sizeof what, "kernel %s on a lost device: found before the launch",
                 tmm_kernel_string(kernels[n]));
        test_sentence(tmm_sgemm_with(kernels[n], N, N, 8, 8, 8, 1, x, 8, x + 64, 8, 0, x + 128, 8,
                                     0),
                      TMM_ERROR_CUDA, "before", what);
    }
    /* These cannot do without memory, and a lost device has none. */
    test_sentence(tmm_ssyrk_with(TMM_GLOBAL, TMM_LOWER, N, 8, 8, 1, x, 8, 0, x + 64, 8, 0),
                  TMM_ERROR_CUDA, "before", "tmm_ssyrk on a lost device");
#if TMM__FAST
    tmm_prepared B;
    test_sentence(tmm_sgemm_prepare_B(N, 64, 16, x, 16, NULL, 0, &B, 0), TMM_ERROR_CUDA, "before",
                  "tmm_sgemm_prepare_B on a lost device");
    test_sentence(tmm_sgemm_tensor(N, N, 8, 8, 64, 1, x, 64, x + 512, 8, 0, x + 1024, 8, NULL, 0),
                  TMM_ERROR_CUDA, "before", "tmm_sgemm_tensor on a lost device");
#endif
    (void)cudaDeviceReset();
}

int main(void)
{
    tap_seed((unsigned long long)time(NULL));
    test_older_errors();
    test_culprits();
    test_areas();
    test_overlap();
    test_sides();
    s_test_underflow();
#if LDBL_MANT_DIG >= 64 && LDBL_MIN_EXP < -10000
    d_test_underflow();
#else
    tap_ok(1, "double where products underflow # SKIP no wider type here");
#endif
    test_lost_device();
    return tap_done();
}
