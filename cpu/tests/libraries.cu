/* cuRAND's sequences, by values that the library of CUDA 13 gave on a host, cuBLAS against sums in double, and
 * views of several dimensions. */
#include "check.h"
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda/std/array>
#include <cuda/std/mdspan>
#include <cuda/std/utility>
#include <cuda_fp16.h>
#include <cublas_api.h>
#include <curand_kernel.h> /* curand.h comes with it */
#include <curand_normal.h>
#include <curand_philox4x32_x.h>
#include <curand_uniform.h>
#include <vector>
#include <string.h>

/* ---- random numbers -------------------------------------------------------------------------- */

struct drawn {
    unsigned int first, second, last;
    float uniform, normal, other_normal;
    double uniform_double, normal_double, other_normal_double;
};

template <class S> __global__ void draw(drawn *out, unsigned long long offset)
{
    S state;
    curand_init(0, 0, offset, &state);
    out->first = curand(&state);
    out->second = curand(&state);
    out->uniform = curand_uniform(&state);
    out->normal = curand_normal(&state);
    out->other_normal = curand_normal(&state);
    out->uniform_double = curand_uniform_double(&state);
    out->normal_double = curand_normal_double(&state);
    out->other_normal_double = curand_normal_double(&state);
    out->last = curand(&state);
}
template <class S> __global__ void far_away(unsigned int *out)
{
    S state;
    curand_init(0x123456789abcdefull, 77777, 1000003, &state);
    *out = curand(&state);
}

static bool close(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

template <class S> static void check_draws(unsigned long long offset, drawn want, unsigned int far)
{
    drawn *got = managed<drawn>(1);
    unsigned int *one = managed<unsigned int>(1);
    draw<S><<<1, 1>>>(got, offset);
    far_away<S><<<1, 1>>>(one);
    CHECK(done() && *one == far);
    CHECK(got->first == want.first && got->second == want.second && got->last == want.last);
    CHECK(close(got->uniform, want.uniform, 1e-8) && close(got->normal, want.normal, 1e-4));
    CHECK(close(got->other_normal, want.other_normal, 1e-4) &&
          close(got->uniform_double, want.uniform_double, 1e-14));
    CHECK(close(got->normal_double, want.normal_double, 1e-11) &&
          close(got->other_normal_double, want.other_normal_double, 1e-11));
    cudaFree(got);
    cudaFree(one);
}

static void check_generators(void)
{
    enum { count = 20000 };
    const curandRngType_t types[] = {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_PHILOX4_32_10};
    const unsigned int words[2][6] = {{624778773u, 3522650202u, 3928747533u, 3856448218u,
                                       1867875844u, 2623622396u},
                                      {546353992u, 3665621163u, 3507855656u, 984438016u,
                                       2053518784u, 385872282u}};
    const int at[6] = {0, 1, 4, 4095, 4096, 19999};
    const double normals[2][4] = {{0.780974, -1.80158, 1.93903, 0.340667},
                                  {-1.61649, 1.22916, 1.18663, 1.04039}};
    const int normal_at[4] = {0, 1, 4096, 16383};
    const double doubles[2][4] = {{0.4348988044, 0.9264169202, 0.4551652305, 0.5824181252},
                                  {0.8534689954, 0.7960551488, 0.2156476465, 0.9007958646}};
    const double normal_doubles[2][4] = {{0.3587397985, -1.239592503, 1.443850346, -1.012186077},
                                         {-0.5395266959, 0.1606333464, -1.480603332, 0.4516867099}};
    const int double_at[4] = {0, 1, 4096, 8192};
    unsigned int *word = managed<unsigned int>(count);
    float *normal = managed<float>(count);
    double *number = managed<double>(count), *normal_double = managed<double>(count);
    curandGenerator_t generator;
    for (int t = 0; t < 2; t++) {
        CHECK(curandCreateGenerator(&generator, types[t]) == CURAND_STATUS_SUCCESS);
        CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234) == CURAND_STATUS_SUCCESS);
        CHECK(curandGenerate(generator, word, count) == CURAND_STATUS_SUCCESS);
        CHECK(curandSetGeneratorOffset(generator, 0) == CURAND_STATUS_SUCCESS);
        CHECK(curandGenerateNormal(generator, normal, count, 0, 1) == CURAND_STATUS_SUCCESS);
        CHECK(curandSetGeneratorOffset(generator, 0) == CURAND_STATUS_SUCCESS);
        CHECK(curandGenerateUniformDouble(generator, number, count) == CURAND_STATUS_SUCCESS);
        CHECK(curandSetGeneratorOffset(generator, 0) == CURAND_STATUS_SUCCESS);
        CHECK(curandGenerateNormalDouble(generator, normal_double, count, 0, 1) ==
              CURAND_STATUS_SUCCESS);
        CHECK(done());
        for (int i = 0; i < 6; i++) CHECK(word[at[i]] == words[t][i]);
        for (int i = 0; i < 4; i++) CHECK(close(normal[normal_at[i]], normals[t][i], 1e-5));
        for (int i = 0; i < 4; i++) CHECK(close(number[double_at[i]], doubles[t][i], 1e-9));
        for (int i = 0; i < 4; i++)
            CHECK(close(normal_double[double_at[i]], normal_doubles[t][i], 1e-9));
        CHECK(curandGenerateNormal(generator, normal, 3, 0, 1) ==
              CURAND_STATUS_LENGTH_NOT_MULTIPLE);
        float host[2];
        CHECK(curandGenerateUniform(generator, host, 2) == CURAND_STATUS_LAUNCH_FAILURE);
        CHECK(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
        CHECK(curandGenerateUniform(generator, NULL, 2) == CURAND_STATUS_NOT_INITIALIZED);
        CHECK(curandDestroyGenerator(generator) == CURAND_STATUS_NOT_INITIALIZED);
    }
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MTGP32) == CURAND_STATUS_TYPE_ERROR);
    cudaFree(word);
    cudaFree(normal);
    cudaFree(number);
    cudaFree(normal_double);
}

/* ---- linear algebra -------------------------------------------------------------------------- */

static unsigned int seed = 7;
template <class T> static T *random_matrix(size_t count)
{
    T *m = managed<T>(count);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        m[i] = (T)(float)((int)(seed >> 8) % 1000) / (T)500.0f;
    }
    return m;
}

template <class T> static void check_products(cublasHandle_t handle)
{
    const int m = 19, n = 11, k = 23, lda = 31, ldb = 29, ldc = 27, count = 3;
    const T alpha = 2, beta = (T)0.5;
    const double small = sizeof(T) == 4 ? 1e-4 : 1e-12;
    T *a = random_matrix<T>(lda * 31 * count), *b = random_matrix<T>(ldb * 31 * count);
    for (int op = 0; op < 4; op++) {
        T *c = random_matrix<T>(ldc * n * count), before[27 * 11 * 3];
        cublasOperation_t op_a = op & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                          op_b = op & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        memcpy(before, c, sizeof before);
        cublasStatus_t status;
        if constexpr (sizeof(T) == 4)
            status =
                cublasSgemmStridedBatched(handle, op_a, op_b, m, n, k, &alpha, a, lda, lda * 31, b,
                                          ldb, ldb * 31, &beta, c, ldc, ldc * n, count);
        else
            status =
                cublasDgemmStridedBatched(handle, op_a, op_b, m, n, k, &alpha, a, lda, lda * 31, b,
                                          ldb, ldb * 31, &beta, c, ldc, ldc * n, count);
        CHECK(status == CUBLAS_STATUS_SUCCESS && done());
        for (int p = 0; p < count; p++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < ldc; i++) {
                    const T *x = a + p * lda * 31, *y = b + p * ldb * 31;
                    double sum = 0;
                    for (int l = 0; l < k && i < m; l++)
                        sum += (double)(op & 1 ? x[i * lda + l] : x[l * lda + i]) *
                               (double)(op & 2 ? y[l * ldb + j] : y[j * ldb + l]);
                    size_t at = (size_t)((p * n + j) * ldc + i);
                    double want = i < m ? 2 * sum + 0.5 * (double)before[at] : (double)before[at];
                    CHECK(fabs((double)c[at] - want) <= small * (fabs(want) + 10));
                }
        cudaFree(c);
    }
    cudaFree(a);
    cudaFree(b);
}

static void check_vectors(cublasHandle_t handle)
{
    float *x = random_matrix<float>(100), *y = random_matrix<float>(100),
          *on_device = managed<float>(2);
    float dot, length, sum, alpha = 3, before = y[14];
    double want = 0, square = 0, all = 0;
    int largest, most = 0;
    for (int i = 0; i < 50; i++) {
        want += (double)x[2 * i] * y[i];
        square += (double)x[i] * x[i];
        all += fabs((double)x[i]);
        if (fabsf(x[i]) > fabsf(x[most])) most = i;
    }
    CHECK(cublasSdot(handle, 50, x, 2, y, 1, &dot) == CUBLAS_STATUS_SUCCESS &&
          close(dot, want, 1e-5));
    CHECK(cublasSnrm2(handle, 50, x, 1, &length) == CUBLAS_STATUS_SUCCESS &&
          close(length, sqrt(square), 1e-6));
    CHECK(cublasSasum(handle, 50, x, 1, &sum) == CUBLAS_STATUS_SUCCESS && close(sum, all, 1e-6));
    CHECK(cublasIsamax(handle, 50, x, 1, &largest) == CUBLAS_STATUS_SUCCESS && largest == most + 1);
    CHECK(cublasSaxpy(handle, 50, &alpha, x, 1, y, 2) == CUBLAS_STATUS_SUCCESS && done());
    CHECK(y[14] == before + 3 * x[7]);
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasSdot(handle, 50, x, 1, x, 1, on_device) == CUBLAS_STATUS_SUCCESS && done() &&
          close(*on_device, square, 1e-5));
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasSscal(handle, 4, &alpha, &dot, 1) == CUBLAS_STATUS_EXECUTION_FAILED);
    cudaFree(x);
    cudaFree(y);
    cudaFree(on_device);
}

/* Sums in half precision, whose factors are halves, too, and of whole numbers. */
static void check_halves(cublasHandle_t handle)
{
    const int k = 4096;
    half *h = managed<half>(k + 16), one = __float2half(1), zero = __float2half(0);
    half *got = h + k, two = __float2half(2);
    for (int i = 0; i < k; i++) h[i] = one;
    h[0] = __float2half(2048);
    CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 32, &two, h + 64, CUDA_R_16F, 32,
                       h + 64, CUDA_R_16F, 32, &zero, got, CUDA_R_16F, 2, CUDA_R_16F,
                       CUBLAS_GEMM_DEFAULT_TENSOR_OP) == CUBLAS_STATUS_SUCCESS &&
          done() && (float)got[0] == 64 && (float)got[3] == 64);
    CHECK(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, &one, h + 64, 1, h + 64, 3, &two,
                      got, 1) == CUBLAS_STATUS_SUCCESS &&
          done() && (float)got[0] == 3 + 2 * 64);
    /* 2048 and 256 ones after it: the step of halves is 2 there, and ones that come sixteen at a time are kept;
     * one in sixteen is lost each time, but not in a float. */
    for (int i = 1; i < k; i++) h[i] = i % 16 ? zero : one;
    half *ones = managed<half>(k);
    for (int i = 0; i < k; i++) ones[i] = one;
    for (bool floats : {false, true}) {
        float f = 1, g = 0;
        const void *alpha = &one, *beta = &zero;
        if (floats) alpha = &f, beta = &g;
        CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, k, alpha, h, CUDA_R_16F, k, ones,
                           CUDA_R_16F, k, beta, got, CUDA_R_16F, 1,
                           floats ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_16F,
                           CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS &&
              done() && (float)got[0] == (floats ? 2048 + 256 : 2048));
    }
    cudaFree(ones);
    signed char *bytes = managed<signed char>(32);
    int *whole = managed<int>(4), plus = 1, minus = -1;
    for (int i = 0; i < 32; i++) bytes[i] = (signed char)(i % 2 ? -128 : 100);
    whole[0] = 7;
    CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 32, &plus, bytes, CUDA_R_8I, 32,
                       bytes, CUDA_R_8I, 32, &minus, whole, CUDA_R_32I, 1, CUBLAS_COMPUTE_32I,
                       CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS &&
          done() && whole[0] == 16 * (100 * 100 + 128 * 128) - 7);
    cudaFree(h);
    cudaFree(bytes);
    cudaFree(whole);
}

/* Solves what was multiplied, and mixes types. */
static void check_others(cublasHandle_t handle)
{
    const int m = 12, n = 9;
    const double one = 1, none = 0;
    const float single = 1, nothing = 0;
    double *a = random_matrix<double>(12 * 12), *x = random_matrix<double>(12 * 9),
           *b = managed<double>(12 * 9), *y = managed<double>(12);
    for (int i = 0; i < 12; i++) a[i * 13] += 5;
    for (int lower = 0; lower < 2; lower++)
        for (int transposed = 0; transposed < 2; transposed++) {
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++) {
                    double sum = 0;
                    for (int l = 0; l < m; l++) {
                        int row = transposed ? l : i, column = transposed ? i : l;
                        if (lower ? row >= column : row <= column)
                            sum += a[column * m + row] * x[j * m + l];
                    }
                    b[j * m + i] = sum;
                }
            CHECK(cublasDtrsm(handle, CUBLAS_SIDE_LEFT,
                              lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                              transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, m, n,
                              &one, a, m, b, m) == CUBLAS_STATUS_SUCCESS &&
                  done());
            for (int i = 0; i < m * n; i++) CHECK(fabs(b[i] - x[i]) < 1e-9);
        }
    CHECK(cublasDgemv(handle, CUBLAS_OP_T, m, n, &one, x, m, a, 1, &none, y, 1) ==
              CUBLAS_STATUS_SUCCESS &&
          done());
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < m; i++) sum += x[j * m + i] * a[i];
        CHECK(fabs(y[j] - sum) < 1e-10);
    }
    CHECK(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, x, m, &none, NULL, n, b, n) ==
              CUBLAS_STATUS_SUCCESS &&
          done());
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) CHECK(b[j * n + i] == x[i * m + j]);
    half *h = random_matrix<half>(64);
    float *c = managed<float>(64);
    CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &single, h, CUDA_R_16F, 8, h,
                       CUDA_R_16F, 8, &nothing, c, CUDA_R_32F, 8, CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS &&
          done());
    for (int i = 0; i < 8; i++) {
        double sum = 0;
        for (int l = 0; l < 8; l++)
            sum += (double)(float)h[l * 8 + i] * (double)(float)h[3 * 8 + l];
        CHECK(fabs(c[3 * 8 + i] - sum) < 1e-4);
    }
    CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &single, h, CUDA_R_16F, 8, h,
                       CUDA_R_16F, 8, &single, c, CUDA_R_32F, 8, CUDA_R_32F,
                       CUBLAS_GEMM_DEFAULT_TENSOR_OP) == CUBLAS_STATUS_SUCCESS &&
          done());
    check_halves(handle);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &single, c, 4, c, 8, &nothing, c,
                      8) == CUBLAS_STATUS_INVALID_VALUE);
    void *all[] = {a, x, b, y, h, c};
    for (void *memory : all) cudaFree(memory);
}

/* Batches of LU: the second matrix has a zero in its first place, the third is singular in its second column. */
static void check_factors(cublasHandle_t handle)
{
    const int n = 5, lda = 6, count = 3;
    double *all = random_matrix<double>(lda * n * count),
           *before = managed<double>(lda * n * count), *inverse = managed<double>(n * n * count),
           *b = managed<double>(n * count), **a = managed<double *>(count),
           **c = managed<double *>(count), **x = managed<double *>(count);
    int *pivots = managed<int>(n * count), *info = managed<int>(count), host = 1;
    all[lda * n] = 0;
    for (int i = 0; i < n; i++) all[2 * lda * n + lda + i] = 0;
    for (int i = 0; i < lda * n * count; i++) before[i] = all[i];
    for (int i = 0; i < count; i++) {
        a[i] = all + i * lda * n;
        c[i] = inverse + i * n * n;
        x[i] = b + i * n;
    }
    CHECK(cublasDgetrfBatched(handle, n, a, lda, pivots, info, count) == CUBLAS_STATUS_SUCCESS &&
          done() && info[0] == 0 && info[1] == 0 && info[2] == 2 && pivots[n] > 1);
    CHECK(cublasDgetriBatched(handle, n, a, lda, pivots, c, n, info, count) ==
              CUBLAS_STATUS_SUCCESS &&
          done() && info[0] == 0 && info[2] == 2);
    for (int transposed = 0; transposed < 2; transposed++) {
        for (int i = 0; i < n * count; i++) b[i] = i + 1;
        CHECK(cublasDgetrsBatched(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, 1, a, lda,
                                  pivots, x, n, &host, 2) == CUBLAS_STATUS_SUCCESS &&
              done() && host == 0);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < n; i++) {
                const double *m = before + k * lda * n;
                double sum = 0, unit = 0;
                for (int j = 0; j < n; j++) {
                    sum += m[transposed ? i * lda + j : j * lda + i] * x[k][j];
                    unit += m[j * lda + i] * c[k][2 * n + j];
                }
                CHECK(fabs(sum - (k * n + i + 1)) < 1e-9 && fabs(unit - (i == 2)) < 1e-9);
            }
    }
    CHECK(cublasDgetrsBatched(handle, CUBLAS_OP_N, n, 1, a, n - 1, pivots, x, n, &host, 2) ==
              CUBLAS_STATUS_INVALID_VALUE &&
          host == -5);
    void *memory[] = {all, before, inverse, b, a, c, x, pivots, info};
    for (void *piece : memory) cudaFree(piece);
}

/* More than one tile and one panel in each direction, with a remainder. */
static void check_tiles(cublasHandle_t handle)
{
    enum { m = 131, n = 483, k = 259 };
    double *a = random_matrix<double>(m * k), *b = random_matrix<double>(k * n),
           *c = random_matrix<double>(m * n), one = 1, two = 2;
    std::vector<double> before(c, c + m * n);
    CHECK(cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &two, a, k, b, k, &one, c, m) ==
              CUBLAS_STATUS_SUCCESS &&
          done());
    for (int j = 0; j < n; j += 7)
        for (int i = 0; i < m; i++) {
            double sum = before[j * m + i];
            for (int l = 0; l < k; l++) sum += 2 * a[i * k + l] * b[j * k + l];
            CHECK(fabs(c[j * m + i] - sum) < 1e-9);
        }
    double *all[] = {a, b, c};
    for (double *memory : all) cudaFree(memory);
}

/* What is captured is done each time that the graph is launched. */
static void check_capture(cublasHandle_t handle)
{
    float *x = managed<float>(4), *y = managed<float>(4), alpha = 2;
    cudaStream_t stream, before;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    for (int i = 0; i < 4; i++) x[i] = (float)i, y[i] = 1;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cublasGetStream(handle, &before) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cublasSaxpy(handle, 4, &alpha, x, 1, y, 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess && y[3] == 1);
    CHECK(cudaGraphInstantiate(&instance, graph, 0) == cudaSuccess);
    for (int turn = 0; turn < 3; turn++) CHECK(cudaGraphLaunch(instance, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    for (int i = 0; i < 4; i++) CHECK(y[i] == (float)(1 + 6 * i));
    CHECK(cublasSetStream(handle, before) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaGraphExecDestroy(instance) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    cudaFree(x);
    cudaFree(y);
}

/* ---- views of several dimensions -------------------------------------------------------------- */

namespace cs = cuda::std;
using matrix = cs::mdspan<const float, cs::dextents<int, 2>>;
using padded = cs::mdspan<float, cs::extents<size_t, 8, cs::dynamic_extent>, cs::layout_stride>;
using columns = cs::mdspan<float, cs::extents<int, cs::dynamic_extent, 5>, cs::layout_left>;
__global__ void transpose(matrix in, columns out, padded odd)
{
    int row = threadIdx.y, column = threadIdx.x;
    if (row >= in.extent(0) || column >= in.extent(1)) return;
    out(row, column) = in(row, column);
    odd[cs::array<int, 2>{row, column}] = in(row, column) + 1;
}
__global__ void sum_rows(cs::mdspan<float, cs::dextents<size_t, 3>> in, float *sums)
{
    auto row = cs::submdspan(in, threadIdx.x, cs::full_extent, cs::pair<int, int>{1, 3});
    static_assert(decltype(row)::rank() == 2, "");
    float sum = 0;
    for (size_t i = 0; i < row.extent(0); i++)
        for (size_t j = 0; j < row.extent(1); j++) sum += row(i, j);
    sums[threadIdx.x] = sum;
}
static void check_views()
{
    float *m = managed<float>(1000);
    for (int i = 0; i < 1000; i++) m[i] = (float)i;
    padded::mapping_type rows(padded::extents_type(5), cs::array<size_t, 2>{9, 1});
    transpose<<<1, dim3(8, 8)>>>(matrix(m, 8, 5), columns(m + 100, 8), padded(m + 200, rows));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 40; i++) {
        int r = i / 5, c = i % 5;
        CHECK(m[100 + c * 8 + r] == (float)i && m[200 + 9 * r + c] == (float)i + 1);
    }
    CHECK(m[200 + 5] == 205 && rows.required_span_size() == 68 && !rows.is_exhaustive());
    cs::mdspan cube(m, 4, 3, 5);
    static_assert(decltype(cube)::rank() == 3 && decltype(cube)::rank_dynamic() == 3, "");
    CHECK(cube.size() == 60 && cube.stride(0) == 15 && cube.is_exhaustive() &&
          &cube(1, 2, 3) == m + 28);
    sum_rows<<<1, 4>>>(cube, m + 300);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int k = 0; k < 4; k++) {
        float sum = 0;
        for (int i = 0; i < 3; i++) sum += 2 * m[k * 15 + i * 5] + 3;
        CHECK(m[300 + k] == sum);
    }
    cs::mdspan<float, cs::extents<int, 2, 3>> fixed(m);
    cs::mdspan<const float, cs::dextents<long, 2>> other = fixed;
    CHECK(sizeof fixed >= sizeof m && other.extent(1) == 3 && other(1, 1) == m[4] &&
          fixed.extents() == other.extents());
    cs::mdspan line(m, cs::dextents<int, 1>(7));
    CHECK(line[3] == 3 && line.extent(0) == 7 && !line.empty() && cs::extents(2, 3).extent(1) == 3);
    cudaFree(m);
}

int main()
{
    cublasHandle_t handle;
    check_draws<curandState>(0,
                             {3179217846u, 1883133293u, 2319818371u, 0.517012656f, 0.83428f,
                              1.7341f, 0.227643482437635, -0.997959958636, 1.69677782995},
                             82015819u);
    check_draws<curandState>(1000003,
                             {2086573228u, 2586442925u, 3397879124u, 0.102821566f, -0.29764f,
                              0.47215f, 0.553103929316722, -0.248508195446, -0.421442103072},
                             82015819u);
    check_draws<curandStatePhilox4_32_10_t>(0,
                                            {1713891541u, 3781805453u, 605361069u, 0.735712767f,
                                             -0.17383f, 0.98653f, 0.362091115675867, 2.32632798085,
                                             -1.08480795416},
                                            3847436273u);
    check_generators();
    check_views();
    CHECK(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    check_vectors(handle);
    check_products<float>(handle);
    check_products<double>(handle);
    check_others(handle);
    check_factors(handle);
    check_tiles(handle);
    check_capture(handle);
    cublasLtHandle_t light;
    CHECK(cublasLtCreate(&light) == CUBLAS_STATUS_SUCCESS &&
          cublasLtDestroy(light) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    printf("%d failures\n", failures);
    return failures > 0;
}
