/* Promises of tiledmm.cuh that are easily taken lightly: errors of CUDA that are the caller's, the
   argument that is to blame, batches that overlap, and the bound where products underflow. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "tap.h"
#define TMM_NO_INT
#define TMM_FLOAT_TENSOR 0
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
        int narrow = kernel == TMM_SKINNY, rows = narrow ? 4 : SIZE, again = n % 2;
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
    test_sentence(tmm_sgemm_with(TMM_PIPELINED, N, N, 1ll << 60, 1, 1, 1, x, 1, x, 1, 0, x, 1, 0),
                  TMM_ERROR_ARGUMENT, "M x N is 1152921504606846976 x 1",
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
            int rows = kernel == TMM_SKINNY ? 4 : SIZE;                                            \
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
    if (cudaMalloc((void **)&x, 4096) != cudaSuccess) {
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
    (void)cudaDeviceReset();
}

int main(void)
{
    tap_seed((unsigned long long)time(NULL));
    test_older_errors();
    test_culprits();
    s_test_underflow();
#if LDBL_MANT_DIG >= 64 && LDBL_MIN_EXP < -10000
    d_test_underflow();
#else
    tap_ok(1, "double where products underflow # SKIP no wider type here");
#endif
    test_lost_device();
    return tap_done();
}
