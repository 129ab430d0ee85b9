/* Elements of 16 bits as a type of one's own: __half and __nv_bfloat16 with sums in float, by every
   kernel that takes any type.

   The file includes itself once for each type. */
#ifndef T
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <time.h>
#include "tap.h"
#define TMM_NO_READY_MADE
#define TMM_TYPE __half
#define TMM_SUM  float
#define TMM_NAME half
#include "../tiledmm.cuh"
#define TMM_TYPE __nv_bfloat16
#define TMM_SUM  float
#define TMM_NAME bf
#include "../tiledmm.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TMM(x)      JOIN(JOIN(tmm_, LETTER), x) /* the library's */
#define test_type   JOIN(LETTER, _test_type)

#define T           __half
#define LETTER      half
#define UNIT        ldexp(1, -11)
#define TO_FLOAT(x) __half2float(x)
#define TO_TYPE(x)  __float2half(x)
#include "half.cu"
#undef T
#undef LETTER
#undef UNIT
#undef TO_FLOAT
#undef TO_TYPE
#define T           __nv_bfloat16
#define LETTER      bf
#define UNIT        ldexp(1, -8)
#define TO_FLOAT(x) __bfloat162float(x)
#define TO_TYPE(x)  __float2bfloat16(x)
#include "half.cu"

int main(void)
{
    tap_seed((unsigned long long)time(NULL));
    half_test_type();
    bf_test_type();
    return tap_done();
}

#else /* ---------------- for one type T ---------------------------------------------------------- */
static void test_type(void)
{
    enum { M = 70, N = 45, K = 90, LD = 96 };
    static T A[LD * LD], B[LD * LD], C[LD * LD], result[LD * LD];
    T *d[3] = {NULL, NULL, NULL};
    int made = 1;
    for (int i = 0; i < LD * LD; i++) {
        A[i] = TO_TYPE((float)tap_uniform());
        B[i] = TO_TYPE((float)tap_uniform());
        C[i] = TO_TYPE((float)tap_uniform());
    }
    for (int n = 0; n < 3; n++) made &= cudaMalloc((void **)&d[n], sizeof A) == cudaSuccess;
    made = made && !cudaMemcpy(d[0], A, sizeof A, cudaMemcpyHostToDevice) &&
           !cudaMemcpy(d[1], B, sizeof B, cudaMemcpyHostToDevice);
    for (int n = 0; made && n < 4 * TMM_KERNEL_COUNT; n++) {
        tmm_kernel kernel = (tmm_kernel)(n / 4);
        int transposed = n & 1, adds = n >> 1 & 1, rows = kernel == TMM_SKINNY ? 9 : M;
        tmm_op op = transposed ? TMM_OP_T : TMM_OP_N;
        double alpha = adds ? 0.5 : 1, beta = adds ? -2 : 0, worst = 0;
        int beside = 0;
        /* With beta = 0 C holds NaN. */
        for (int i = 0; i < LD * LD; i++) result[i] = adds ? C[i] : TO_TYPE(NAN);
        if (cudaMemcpy(d[2], result, sizeof C, cudaMemcpyHostToDevice)) made = 0;
        tmm_status status = TMM(gemm_with)(kernel, op, op, rows, N, K, TO_TYPE((float)alpha), d[0],
                                           LD, d[1], LD, TO_TYPE((float)beta), d[2], LD, 0);
        if (status == TMM_ERROR_UNSUPPORTED) continue;
        if (status != TMM_OK || cudaMemcpy(result, d[2], sizeof C, cudaMemcpyDeviceToHost))
            worst = NAN;
        for (int i = 0; i < LD; i++)
            for (int j = 0; j < LD; j++) {
                double sum = 0, size = 0, got = TO_FLOAT(result[i * LD + j]);
                if (i >= rows || j >= N) { /* beside C */
                    beside += adds ? got != (double)TO_FLOAT(C[i * LD + j]) : got == got;
                    continue;
                }
                for (int k = 0; k < K; k++) {
                    double a = TO_FLOAT(transposed ? A[k * LD + i] : A[i * LD + k]);
                    double b = TO_FLOAT(transposed ? B[j * LD + k] : B[k * LD + j]);
                    sum += a * b, size += fabs(a * b);
                }
                double expected = alpha * sum, bound = (K + 4) * ldexp(1, -24) * size;
                if (adds) expected += beta * (double)TO_FLOAT(C[i * LD + j]);
                bound += 1.01 * (UNIT) * (fabs(expected) + bound) + ldexp(1, -24);
                if (!(fabs(got - expected) / bound <= worst)) worst = fabs(got - expected) / bound;
            }
        tap_ok(worst <= 1 && beside == 0,
               "%s, kernel %s%s%s: right, and nothing beside C (%.2g of the bound)",
               sizeof(T) == 2 ? (UNIT < 0.001 ? "__half" : "__nv_bfloat16") : "?",
               tmm_kernel_string(kernel), transposed ? ", transposed" : "",
               adds ? ", C is read" : "", worst);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
    }
    tap_ok(made, "memory on the device");
    for (int n = 0; n < 3; n++) cudaFree(d[n]);
}
#endif
