/* cublas_v2.h of the CPU runner: levels 1 to 3 for float and double, done by cublas.cpp in the order of
 * the handle's stream. Matrices are column by column. Anything that is not here is a compile error. */
#ifndef CUCC_CUBLAS_V2_H
#define CUCC_CUBLAS_V2_H
#include "cucc_set_aside.h"
#define CUBLAS_API_H_

#include "cuda_runtime.h"
#include "library_types.h"
#ifdef __cplusplus /* a program may count on these coming with it */
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#endif

typedef struct cublasContext *cublasHandle_t;

typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER } cublasFillMode_t;
typedef enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum cublasPointerMode_t {
    CUBLAS_POINTER_MODE_HOST,
    CUBLAS_POINTER_MODE_DEVICE
} cublasPointerMode_t;
typedef enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
#define CUBLAS_GEMM_DFALT CUBLAS_GEMM_DEFAULT
typedef enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_64F = 70
} cublasComputeType_t;

#ifdef __cplusplus
extern "C" {
#endif
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t size);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int size, const void *from, int from_step, void *to,
                               int to_step);
cublasStatus_t cublasGetVector(int n, int size, const void *from, int from_step, void *to,
                               int to_step);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *from, int from_ld,
                               void *to, int to_ld);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *from, int from_ld,
                               void *to, int to_ld);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *from, int from_ld,
                                    void *to, int to_ld, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *from, int from_ld,
                                    void *to, int to_ld, cudaStream_t stream);

/* The functions of one type T, whose letter is L or l. */
#define CUCC_BLAS(L, l, T)                                                                         \
    cublasStatus_t cublasI##l##amax(cublasHandle_t handle, int n, const T *x, int x_step,          \
                                    int *result);                                                  \
    cublasStatus_t cublasI##l##amin(cublasHandle_t handle, int n, const T *x, int x_step,          \
                                    int *result);                                                  \
    cublasStatus_t cublas##L##asum(cublasHandle_t handle, int n, const T *x, int x_step,           \
                                   T *result);                                                     \
    cublasStatus_t cublas##L##nrm2(cublasHandle_t handle, int n, const T *x, int x_step,           \
                                   T *result);                                                     \
    cublasStatus_t cublas##L##dot(cublasHandle_t handle, int n, const T *x, int x_step,            \
                                  const T *y, int y_step, T *result);                              \
    cublasStatus_t cublas##L##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x,       \
                                   int x_step, T *y, int y_step);                                  \
    cublasStatus_t cublas##L##copy(cublasHandle_t handle, int n, const T *x, int x_step, T *y,     \
                                   int y_step);                                                    \
    cublasStatus_t cublas##L##swap(cublasHandle_t handle, int n, T *x, int x_step, T *y,           \
                                   int y_step);                                                    \
    cublasStatus_t cublas##L##scal(cublasHandle_t handle, int n, const T *alpha, T *x,             \
                                   int x_step);                                                    \
    cublasStatus_t cublas##L##rot(cublasHandle_t handle, int n, T *x, int x_step, T *y,            \
                                  int y_step, const T *c, const T *s);                             \
    cublasStatus_t cublas##L##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,      \
                                   const T *alpha, const T *a, int lda, const T *x, int x_step,    \
                                   const T *beta, T *y, int y_step);                               \
    cublasStatus_t cublas##L##symv(cublasHandle_t handle, cublasFillMode_t fill, int n,            \
                                   const T *alpha, const T *a, int lda, const T *x, int x_step,    \
                                   const T *beta, T *y, int y_step);                               \
    cublasStatus_t cublas##L##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, \
                                  int x_step, const T *y, int y_step, T *a, int lda);              \
    cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t op_a,                  \
                                   cublasOperation_t op_b, int m, int n, int k, const T *alpha,    \
                                   const T *a, int lda, const T *b, int ldb, const T *beta, T *c,  \
                                   int ldc);                                                       \
    cublasStatus_t cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t op_a,           \
                                          cublasOperation_t op_b, int m, int n, int k,             \
                                          const T *alpha, const T *const a[], int lda,             \
                                          const T *const b[], int ldb, const T *beta,              \
                                          T *const c[], int ldc, int count);                       \
    cublasStatus_t cublas##L##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,    \
                                                 cublasOperation_t op_b, int m, int n, int k,      \
                                                 const T *alpha, const T *a, int lda,              \
                                                 long long a_step, const T *b, int ldb,            \
                                                 long long b_step, const T *beta, T *c, int ldc,   \
                                                 long long c_step, int count);                     \
    cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t op_a,                  \
                                   cublasOperation_t op_b, int m, int n, const T *alpha,           \
                                   const T *a, int lda, const T *beta, const T *b, int ldb, T *c,  \
                                   int ldc);                                                       \
    cublasStatus_t cublas##L##syrk(cublasHandle_t handle, cublasFillMode_t fill,                   \
                                   cublasOperation_t op, int n, int k, const T *alpha, const T *a, \
                                   int lda, const T *beta, T *c, int ldc);                         \
    cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side,                   \
                                   cublasFillMode_t fill, cublasOperation_t op,                    \
                                   cublasDiagType_t diagonal, int m, int n, const T *alpha,        \
                                   const T *a, int lda, T *b, int ldb);                            \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda,    \
                                           int *pivots, int *info, int count);                     \
    cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n,     \
                                           int columns, const T *const a[], int lda,               \
                                           const int *pivots, T *const b[], int ldb, int *info,    \
                                           int count);                                             \
    cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const a[],       \
                                           int lda, const int *pivots, T *const inverse[],         \
                                           int ldc, int *info, int count);
CUCC_BLAS(S, s, float)
CUCC_BLAS(D, d, double)
#undef CUCC_BLAS

/* The sums are halves (their factors, too), floats, doubles or, of elements of 8 bits, whole numbers. */
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType a_type, int lda, long long a_step, const void *b,
    cudaDataType b_type, int ldb, long long b_step, const void *beta, void *c, cudaDataType c_type,
    int ldc, long long c_step, int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
static inline cublasComputeType_t cublas_compute_of(cudaDataType sums)
{
    return sums == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
           : sums == CUDA_R_16F ? CUBLAS_COMPUTE_16F
           : sums == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                : CUBLAS_COMPUTE_32F;
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
#ifdef __cplusplus
struct __half;
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const struct __half *alpha, const struct __half *a,
                           int lda, const struct __half *b, int ldb, const struct __half *beta,
                           struct __half *c, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const struct __half *alpha, const struct __half *a,
                                         int lda, long long a_step, const struct __half *b, int ldb,
                                         long long b_step, const struct __half *beta,
                                         struct __half *c, int ldc, long long c_step, int count);
}

/* CUDA 10 named the type of the sums. */
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void *alpha,
                                   const void *a, cudaDataType a_type, int lda, const void *b,
                                   cudaDataType b_type, int ldb, const void *beta, void *c,
                                   cudaDataType c_type, int ldc, cudaDataType sums,
                                   cublasGemmAlgo_t algorithm)
{
    return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c,
                        c_type, ldc, cublas_compute_of(sums), algorithm);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType a_type, int lda, long long a_step, const void *b,
    cudaDataType b_type, int ldb, long long b_step, const void *beta, void *c, cudaDataType c_type,
    int ldc, long long c_step, int count, cudaDataType sums, cublasGemmAlgo_t algorithm)
{
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, a_step, b,
                                      b_type, ldb, b_step, beta, c, c_type, ldc, c_step, count,
                                      cublas_compute_of(sums), algorithm);
}
#endif
#include "cucc_give_back.h"

#endif
