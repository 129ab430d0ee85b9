/* cuBLAS, levels 1 to 3: products by tiles, the rest as straightforward loops; columns over OS threads. Work is put into the handle's stream; a scalar result on the host is waited for.
 *
 * The folder libraries/ has what programs link besides the runtime: cuBLAS, cuRAND, and functions of eight numbers
 * at once. Uses: include/, runtime/. Used by: none. */
#include "../include/cublas_v2.h"
#include "../include/cuda_bf16.h"
#include "../include/cuda_fp16.h"
#include "cublas_lu.h"
#include "cublas_tiles.h"
#include "../runtime/runtime.h"
#include <functional>
#include <thread>
#include <vector>

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
};

namespace
{
/* Whether a GPU could use what the pointer points to. */
bool is_device_memory(const char *function, const void *pointer)
{
    cudaPointerAttributes found;
    if (cudaPointerGetAttributes(&found, pointer)) return false;
    if (found.type != cudaMemoryTypeUnregistered) {
        cucc::given_to_library(pointer);
        return true;
    }
    fprintf(stderr, "cucc: %s: the argument %p is not in device memory\n", function, pointer);
    return false;
}

cublasStatus_t put(cublasHandle_t handle, std::function<void()> work)
{
    return cucc::put_into_stream(handle->stream, std::move(work)) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                                  : CUBLAS_STATUS_SUCCESS;
}

#define CUCC_NEEDS(handle)                                   \
    do {                                                     \
        if (!(handle)) return CUBLAS_STATUS_NOT_INITIALIZED; \
    } while (0)
#define CUCC_MEMORY(pointer)                                      \
    do {                                                          \
        if (!is_device_memory(__func__, (const void *)(pointer))) \
            return CUBLAS_STATUS_EXECUTION_FAILED;                \
    } while (0)

/* A factor: on the host it is read at the call, on the device when the work is done. */
template <class T> struct factor {
    const T *at;
    T value;
    factor(cublasHandle_t handle, const T *p)
        : at(handle->mode == CUBLAS_POINTER_MODE_DEVICE ? p : nullptr), value(at ? T() : *p)
    {
    }
    T get() const
    {
        return at ? *at : value;
    }
};

/* Element I of a vector whose steps may go backwards. */
template <class T> T &element(T *x, int i, int n, int step)
{
    return step >= 0 ? x[(size_t)i * (size_t)step] : x[(size_t)(n - 1 - i) * (size_t)-step];
}

/* Puts a result where the pointer mode says. */
template <class R> cublasStatus_t give(cublasHandle_t handle, R *result, std::function<R()> compute)
{
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = put(handle, [=] { *result = compute(); });
    if (status || handle->mode == CUBLAS_POINTER_MODE_DEVICE) return status;
    return cudaStreamSynchronize(handle->stream) ? CUBLAS_STATUS_EXECUTION_FAILED : status;
}

/* Columns from FIRST on, over the OS threads that there are, if there is enough to do. */
void over_columns(int n, double operations, std::function<void(int first, int end)> work)
{
    int threads = operations > 1e6 ? cucc::environment().workers : 1;
    if (threads > n) threads = n;
    if (threads <= 1) return work(0, n);
    std::vector<std::thread> team;
    for (int t = 0; t < threads; t++)
        team.emplace_back(work, (int)((long long)n * t / threads),
                          (int)((long long)n * (t + 1) / threads));
    for (std::thread &t : team) t.join();
}

/* A matrix column by column: transposed if need be, and as numbers of type T. */
template <class T> struct matrix {
    const T *at;
    size_t ld;
    std::vector<T> copy;
};
template <class T, class E>
matrix<T> as_columns(const E *a, int lda, bool transposed, int rows, int columns)
{
    matrix<T> m;
    m.copy.resize((size_t)rows * (size_t)columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            m.copy[(size_t)j * (size_t)rows + (size_t)i] =
                (T)(transposed ? a[(size_t)i * (size_t)lda + (size_t)j]
                               : a[(size_t)j * (size_t)lda + (size_t)i]);
    m.at = m.copy.data();
    m.ld = (size_t)rows;
    return m;
}

/* C = alpha op(A) op(B) + beta C with sums of type T; C is not read if beta is 0. Sums that are kept in another
 * type S are rounded to it after each 16 products, as a product of tensor cores (m16n8k16) does. */
template <class T, class E, class R, class S = T>
void multiply(bool ta, bool tb, int m, int n, int k, T alpha, const E *a, int lda, const E *b,
              int ldb, T beta, R *c, int ldc)
{
    auto of_a = [=](int i, int l) {
        return (T)(ta ? a[(size_t)i * (size_t)lda + (size_t)l]
                      : a[(size_t)l * (size_t)lda + (size_t)i]);
    };
    auto columns = [=](int first, int end) {
        for (int begin = first; begin < end; begin += tiles::block_columns) {
            int count = std::min<int>(tiles::block_columns, end - begin);
            std::vector<T> sum((size_t)m * (size_t)count);
            auto of_b = [=](int l, int column) {
                size_t j = (size_t)(begin + column);
                return (T)(tb ? b[(size_t)l * (size_t)ldb + j] : b[j * (size_t)ldb + (size_t)l]);
            };
            const int depth = std::is_same<S, T>::value ? std::max(k, 1) : 16;
            for (int at = 0; at < k; at += depth) {
                tiles::add_product<T>(
                    m, count, std::min(depth, k - at),
                    [=](int i, int l) { return of_a(i, at + l); },
                    [=](int l, int column) { return of_b(at + l, column); }, sum.data());
                if (!std::is_same<S, T>::value)
                    for (T &s : sum) s = (T)(S)s;
            }
            for (int j = 0; j < count; j++) {
                const T *s = sum.data() + (size_t)j * (size_t)m;
                R *out = c + (size_t)(begin + j) * (size_t)ldc;
                for (int i = 0; i < m; i++)
                    out[i] = (R)(beta == T(0) ? alpha * s[i] : alpha * s[i] + beta * (T)out[i]);
            }
        }
    };
    over_columns(n, (double)m * n * k, columns);
}

bool right_shapes(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, int lda,
                  int ldb, int ldc)
{
    int rows_a = op_a == CUBLAS_OP_N ? m : k, rows_b = op_b == CUBLAS_OP_N ? k : n;
    return m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, rows_a) && ldb >= std::max(1, rows_b) &&
           ldc >= std::max(1, m);
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, int k, const T *alpha, const T *a, int lda, long long a_step, const T *b,
                    int ldb, long long b_step, const T *beta, T *c, int ldc, long long c_step,
                    int count)
{
    CUCC_NEEDS(handle);
    if (!right_shapes(op_a, op_b, m, n, k, lda, ldb, ldc)) return CUBLAS_STATUS_INVALID_VALUE;
    CUCC_MEMORY(a);
    CUCC_MEMORY(b);
    CUCC_MEMORY(c);
    factor<T> f(handle, alpha), g(handle, beta);
    return put(handle, [=] {
        for (int i = 0; i < count; i++)
            multiply<T>(op_a != CUBLAS_OP_N, op_b != CUBLAS_OP_N, m, n, k, f.get(), a + i * a_step,
                        lda, b + i * b_step, ldb, g.get(), c + i * c_step, ldc);
    });
}

template <class T>
void solve(bool left, bool lower, bool unit, int m, int n, T alpha, const T *a, int lda,
           bool transposed, T *b, int ldb)
{
    int order = left ? m : n;
    if (transposed) lower = !lower;
    auto at = [=](int i, int j) {
        return transposed ? a[(size_t)i * (size_t)lda + (size_t)j]
                          : a[(size_t)j * (size_t)lda + (size_t)i];
    };
    auto x = [=](int line, int i) -> T & { /* element I of the line that is solved */
                                           return left ? b[(size_t)line * (size_t)ldb + (size_t)i]
                                                       : b[(size_t)i * (size_t)ldb + (size_t)line];
    };
    bool forward = left ? lower : !lower;
    for (int line = 0; line < (left ? n : m); line++)
        for (int step = 0; step < order; step++) {
            int i = forward ? step : order - 1 - step;
            T sum = alpha * x(line, i);
            for (int before = 0; before < step; before++) {
                int j = forward ? before : order - 1 - before;
                sum -= (left ? at(i, j) : at(j, i)) * x(line, j);
            }
            x(line, i) = unit ? sum : sum / at(i, i);
        }
}

cublasStatus_t status_of(cudaError_t error)
{
    return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}
} // namespace

/* ---- handles --------------------------------------------------------------------------------- */

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    int device;
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    if (cudaGetDevice(&device)) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    CUCC_NEEDS(handle);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = 130000;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    CUCC_NEEDS(handle);
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream)
{
    CUCC_NEEDS(handle);
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode)
{
    CUCC_NEEDS(handle);
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode)
{
    CUCC_NEEDS(handle);
    *mode = handle->mode;
    return CUBLAS_STATUS_SUCCESS;
}

/* All is done in the precision of the elements. */
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t)
{
    CUCC_NEEDS(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t)
{
    CUCC_NEEDS(handle);
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
#define CUCC_NAME(name) \
    case name: return #name;
        CUCC_NAME(CUBLAS_STATUS_SUCCESS)
        CUCC_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
        CUCC_NAME(CUBLAS_STATUS_ALLOC_FAILED)
        CUCC_NAME(CUBLAS_STATUS_INVALID_VALUE)
        CUCC_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
        CUCC_NAME(CUBLAS_STATUS_MAPPING_ERROR)
        CUCC_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
        CUCC_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
        CUCC_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
        CUCC_NAME(CUBLAS_STATUS_LICENSE_ERROR)
    }
    return "unknown status";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static cublasStatus_t copy_matrix(int rows, int columns, int size, const void *from, int from_ld,
                                  void *to, int to_ld, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (rows < 0 || columns < 0 || size <= 0 || from_ld < rows || to_ld < rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    size_t s = (size_t)size;
    return status_of(cudaMemcpy2DAsync(to, (size_t)to_ld * s, from, (size_t)from_ld * s,
                                       (size_t)rows * s, (size_t)columns, kind, stream));
}

cublasStatus_t cublasSetVector(int n, int size, const void *from, int from_step, void *to,
                               int to_step)
{
    return copy_matrix(1, n, size, from, from_step, to, to_step, cudaMemcpyHostToDevice, nullptr);
}

cublasStatus_t cublasGetVector(int n, int size, const void *from, int from_step, void *to,
                               int to_step)
{
    return copy_matrix(1, n, size, from, from_step, to, to_step, cudaMemcpyDeviceToHost, nullptr);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *from, int from_ld,
                                    void *to, int to_ld, cudaStream_t stream)
{
    return copy_matrix(rows, columns, size, from, from_ld, to, to_ld, cudaMemcpyHostToDevice,
                       stream);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *from, int from_ld,
                                    void *to, int to_ld, cudaStream_t stream)
{
    return copy_matrix(rows, columns, size, from, from_ld, to, to_ld, cudaMemcpyDeviceToHost,
                       stream);
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *from, int from_ld,
                               void *to, int to_ld)
{
    return cublasSetMatrixAsync(rows, columns, size, from, from_ld, to, to_ld, nullptr);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *from, int from_ld,
                               void *to, int to_ld)
{
    return cublasGetMatrixAsync(rows, columns, size, from, from_ld, to, to_ld, nullptr);
}

/* ---- what there is for each type ------------------------------------------------------------- */

#define CUCC_EXTREME(function, T, better)                                                          \
    cublasStatus_t function(cublasHandle_t handle, int n, const T *x, int step, int *result)       \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        CUCC_MEMORY(x);                                                                            \
        return give<int>(handle, result, [=] {                                                     \
            int best = 0; /* numbers begin at 1 */                                                 \
            for (int i = 1; i < n && step > 0; i++)                                                \
                if (fabs(element(x, i, n, step)) better fabs(element(x, best, n, step))) best = i; \
            return n > 0 && step > 0 ? best + 1 : 0;                                               \
        });                                                                                        \
    }
#define CUCC_VECTORS(L, l, T)                                                                     \
    CUCC_EXTREME(cublasI##l##amax, T, >)                                                          \
    CUCC_EXTREME(cublasI##l##amin, T, <)                                                          \
    cublasStatus_t cublas##L##asum(cublasHandle_t handle, int n, const T *x, int step, T *result) \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        return give<T>(handle, result, [=] {                                                      \
            double sum = 0;                                                                       \
            for (int i = 0; i < n; i++) sum += fabs((double)element(x, i, n, step));              \
            return (T)sum;                                                                        \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##nrm2(cublasHandle_t handle, int n, const T *x, int step, T *result) \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        return give<T>(handle, result, [=] {                                                      \
            double largest = 0, sum = 0; /* of scaled squares, which do not overflow */           \
            for (int i = 0; i < n; i++)                                                           \
                largest = fmax(largest, fabs((double)element(x, i, n, step)));                    \
            for (int i = 0; i < n && largest > 0; i++) {                                          \
                double part = (double)element(x, i, n, step) / largest;                           \
                sum += part * part;                                                               \
            }                                                                                     \
            return (T)(largest * sqrt(sum));                                                      \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##dot(cublasHandle_t handle, int n, const T *x, int x_step,           \
                                  const T *y, int y_step, T *result)                              \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        CUCC_MEMORY(y);                                                                           \
        return give<T>(handle, result, [=] {                                                      \
            double sum = 0;                                                                       \
            for (int i = 0; i < n; i++)                                                           \
                sum += (double)element(x, i, n, x_step) * (double)element(y, i, n, y_step);       \
            return (T)sum;                                                                        \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x,      \
                                   int x_step, T *y, int y_step)                                  \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        CUCC_MEMORY(y);                                                                           \
        factor<T> f(handle, alpha);                                                               \
        return put(handle, [=] {                                                                  \
            for (int i = 0; i < n; i++)                                                           \
                element(y, i, n, y_step) += f.get() * element(x, i, n, x_step);                   \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##copy(cublasHandle_t handle, int n, const T *x, int x_step, T *y,    \
                                   int y_step)                                                    \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        CUCC_MEMORY(y);                                                                           \
        return put(handle, [=] {                                                                  \
            for (int i = 0; i < n; i++) element(y, i, n, y_step) = element(x, i, n, x_step);      \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##swap(cublasHandle_t handle, int n, T *x, int x_step, T *y,          \
                                   int y_step)                                                    \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        CUCC_MEMORY(y);                                                                           \
        return put(handle, [=] {                                                                  \
            for (int i = 0; i < n; i++)                                                           \
                std::swap(element(y, i, n, y_step), element(x, i, n, x_step));                    \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int step)  \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        factor<T> f(handle, alpha);                                                               \
        return put(handle, [=] {                                                                  \
            for (int i = 0; i < n; i++) element(x, i, n, step) *= f.get();                        \
        });                                                                                       \
    }                                                                                             \
    cublasStatus_t cublas##L##rot(cublasHandle_t handle, int n, T *x, int x_step, T *y,           \
                                  int y_step, const T *c, const T *s)                             \
    {                                                                                             \
        CUCC_NEEDS(handle);                                                                       \
        CUCC_MEMORY(x);                                                                           \
        CUCC_MEMORY(y);                                                                           \
        factor<T> cosine(handle, c), sine(handle, s);                                             \
        return put(handle, [=] {                                                                  \
            for (int i = 0; i < n; i++) {                                                         \
                T &p = element(x, i, n, x_step), &q = element(y, i, n, y_step), before = p;       \
                p = cosine.get() * p + sine.get() * q;                                            \
                q = cosine.get() * q - sine.get() * before;                                       \
            }                                                                                     \
        });                                                                                       \
    }
#define CUCC_MATRICES(L, T)                                                                        \
    cublasStatus_t cublas##L##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,      \
                                   const T *alpha, const T *a, int lda, const T *x, int x_step,    \
                                   const T *beta, T *y, int y_step)                                \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (m < 0 || n < 0 || lda < std::max(1, m)) return CUBLAS_STATUS_INVALID_VALUE;            \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(x);                                                                            \
        CUCC_MEMORY(y);                                                                            \
        factor<T> f(handle, alpha), g(handle, beta);                                               \
        return put(handle, [=] {                                                                   \
            int rows = op == CUBLAS_OP_N ? m : n, inner = op == CUBLAS_OP_N ? n : m;               \
            for (int i = 0; i < rows; i++) {                                                       \
                T sum = 0, &out = element(y, i, rows, y_step);                                     \
                for (int l = 0; l < inner; l++) {                                                  \
                    size_t row = (size_t)(op == CUBLAS_OP_N ? i : l);                              \
                    size_t column = (size_t)(op == CUBLAS_OP_N ? l : i);                           \
                    sum += a[column * (size_t)lda + row] * element(x, l, inner, x_step);           \
                }                                                                                  \
                out = f.get() * sum + (g.get() == 0 ? T(0) : g.get() * out);                       \
            }                                                                                      \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##symv(cublasHandle_t handle, cublasFillMode_t fill, int n,            \
                                   const T *alpha, const T *a, int lda, const T *x, int x_step,    \
                                   const T *beta, T *y, int y_step)                                \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (n < 0 || lda < std::max(1, n)) return CUBLAS_STATUS_INVALID_VALUE;                     \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(x);                                                                            \
        CUCC_MEMORY(y);                                                                            \
        factor<T> f(handle, alpha), g(handle, beta);                                               \
        return put(handle, [=] {                                                                   \
            for (int i = 0; i < n; i++) {                                                          \
                T sum = 0, &out = element(y, i, n, y_step);                                        \
                for (int l = 0; l < n; l++) {                                                      \
                    bool stored = fill == CUBLAS_FILL_MODE_LOWER ? i >= l : i <= l;                \
                    size_t row = (size_t)(stored ? i : l), column = (size_t)(stored ? l : i);      \
                    sum += a[column * (size_t)lda + row] * element(x, l, n, x_step);               \
                }                                                                                  \
                out = f.get() * sum + (g.get() == 0 ? T(0) : g.get() * out);                       \
            }                                                                                      \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, \
                                  int x_step, const T *y, int y_step, T *a, int lda)               \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (m < 0 || n < 0 || lda < std::max(1, m)) return CUBLAS_STATUS_INVALID_VALUE;            \
        CUCC_MEMORY(x);                                                                            \
        CUCC_MEMORY(y);                                                                            \
        CUCC_MEMORY(a);                                                                            \
        factor<T> f(handle, alpha);                                                                \
        return put(handle, [=] {                                                                   \
            for (int j = 0; j < n; j++)                                                            \
                for (int i = 0; i < m; i++)                                                        \
                    a[(size_t)j * (size_t)lda + (size_t)i] +=                                      \
                        f.get() * element(x, i, m, x_step) * element(y, j, n, y_step);             \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,    \
                                                 cublasOperation_t op_b, int m, int n, int k,      \
                                                 const T *alpha, const T *a, int lda,              \
                                                 long long a_step, const T *b, int ldb,            \
                                                 long long b_step, const T *beta, T *c, int ldc,   \
                                                 long long c_step, int count)                      \
    {                                                                                              \
        return gemm<T>(handle, op_a, op_b, m, n, k, alpha, a, lda, a_step, b, ldb, b_step, beta,   \
                       c, ldc, c_step, count);                                                     \
    }                                                                                              \
    cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t op_a,                  \
                                   cublasOperation_t op_b, int m, int n, int k, const T *alpha,    \
                                   const T *a, int lda, const T *b, int ldb, const T *beta, T *c,  \
                                   int ldc)                                                        \
    {                                                                                              \
        return gemm<T>(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0,  \
                       1);                                                                         \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t op_a,           \
                                          cublasOperation_t op_b, int m, int n, int k,             \
                                          const T *alpha, const T *const a[], int lda,             \
                                          const T *const b[], int ldb, const T *beta,              \
                                          T *const c[], int ldc, int count)                        \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (!right_shapes(op_a, op_b, m, n, k, lda, ldb, ldc)) return CUBLAS_STATUS_INVALID_VALUE; \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(b);                                                                            \
        CUCC_MEMORY(c);                                                                            \
        factor<T> f(handle, alpha), g(handle, beta);                                               \
        return put(handle, [=] {                                                                   \
            for (int i = 0; i < count; i++)                                                        \
                multiply<T>(op_a != CUBLAS_OP_N, op_b != CUBLAS_OP_N, m, n, k, f.get(), a[i], lda, \
                            b[i], ldb, g.get(), c[i], ldc);                                        \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda,    \
                                           int *pivots, int *info, int count)                      \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (n < 0 || lda < std::max(1, n) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;        \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(info);                                                                         \
        if (pivots) CUCC_MEMORY(pivots);                                                           \
        return put(handle, [=] {                                                                   \
            for (int i = 0; i < count; i++)                                                        \
                info[i] = factorise((size_t)n, a[i], (size_t)lda,                                  \
                                    pivots ? pivots + (size_t)i * (size_t)n : nullptr);            \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n,     \
                                           int columns, const T *const a[], int lda,               \
                                           const int *pivots, T *const b[], int ldb, int *info,    \
                                           int count)                                              \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (!info) return CUBLAS_STATUS_INVALID_VALUE; /* on the host */                           \
        *info = n < 0                  ? -2                                                        \
                : columns < 0          ? -3                                                        \
                : lda < std::max(1, n) ? -5                                                        \
                : ldb < std::max(1, n) ? -8                                                        \
                : count < 0            ? -10                                                       \
                                       : 0;                                                                   \
        if (*info) return CUBLAS_STATUS_INVALID_VALUE;                                             \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(b);                                                                            \
        if (pivots) CUCC_MEMORY(pivots);                                                           \
        return put(handle, [=] {                                                                   \
            for (int i = 0; i < count; i++)                                                        \
                for (int j = 0; j < columns; j++)                                                  \
                    solve(op != CUBLAS_OP_N, (size_t)n, a[i], (size_t)lda,                         \
                          pivots ? pivots + (size_t)i * (size_t)n : nullptr,                       \
                          b[i] + (size_t)j * (size_t)ldb);                                         \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const a[],       \
                                           int lda, const int *pivots, T *const inverse[],         \
                                           int ldc, int *info, int count)                          \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        if (n < 0 || lda < std::max(1, n) || ldc < std::max(1, n) || count < 0)                    \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(inverse);                                                                      \
        CUCC_MEMORY(info);                                                                         \
        if (pivots) CUCC_MEMORY(pivots);                                                           \
        return put(handle, [=] {                                                                   \
            for (int i = 0; i < count; i++) {                                                      \
                info[i] = 0;                                                                       \
                for (int j = n; j-- > 0;)                                                          \
                    if (a[i][(size_t)j * (size_t)lda + (size_t)j] == 0) info[i] = j + 1;           \
                for (int j = 0; !info[i] && j < n; j++) {                                          \
                    T *column = inverse[i] + (size_t)j * (size_t)ldc;                              \
                    for (int k = 0; k < n; k++) column[k] = k == j;                                \
                    solve(false, (size_t)n, a[i], (size_t)lda,                                     \
                          pivots ? pivots + (size_t)i *(size_t)n : nullptr, column);               \
                }                                                                                  \
            }                                                                                      \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t op_a,                  \
                                   cublasOperation_t op_b, int m, int n, const T *alpha,           \
                                   const T *a, int lda, const T *beta, const T *b, int ldb, T *c,  \
                                   int ldc)                                                        \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        CUCC_MEMORY(c);                                                                            \
        factor<T> f(handle, alpha), g(handle, beta);                                               \
        return put(handle, [=] {                                                                   \
            T x = f.get(), y = g.get();                                                            \
            matrix<T> p, q; /* a factor of 0 leaves its matrix unread */                           \
            if (x != 0) p = as_columns<T>(a, lda, op_a != CUBLAS_OP_N, m, n);                      \
            if (y != 0) q = as_columns<T>(b, ldb, op_b != CUBLAS_OP_N, m, n);                      \
            for (int j = 0; j < n; j++)                                                            \
                for (int i = 0; i < m; i++) {                                                      \
                    size_t at = (size_t)j * (size_t)m + (size_t)i;                                 \
                    c[(size_t)j * (size_t)ldc + (size_t)i] =                                       \
                        (x != 0 ? x * p.copy[at] : T(0)) + (y != 0 ? y * q.copy[at] : T(0));       \
                }                                                                                  \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##syrk(cublasHandle_t handle, cublasFillMode_t fill,                   \
                                   cublasOperation_t op, int n, int k, const T *alpha, const T *a, \
                                   int lda, const T *beta, T *c, int ldc)                          \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(c);                                                                            \
        factor<T> f(handle, alpha), g(handle, beta);                                               \
        return put(handle, [=] {                                                                   \
            std::vector<T> all((size_t)n *(size_t)n, T(0));                                        \
            bool t = op != CUBLAS_OP_N;                                                            \
            multiply<T>(t, !t, n, n, k, f.get(), a, lda, a, lda, T(0), all.data(), n);             \
            for (int j = 0; j < n; j++)                                                            \
                for (int i = 0; i < n; i++) {                                                      \
                    if (fill == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) continue;                  \
                    T &out = c[(size_t)j * (size_t)ldc + (size_t)i];                               \
                    T sum = all[(size_t)j * (size_t)n + (size_t)i];                                \
                    out = sum + (g.get() == 0 ? T(0) : g.get() * out);                             \
                }                                                                                  \
        });                                                                                        \
    }                                                                                              \
    cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side,                   \
                                   cublasFillMode_t fill, cublasOperation_t op,                    \
                                   cublasDiagType_t diagonal, int m, int n, const T *alpha,        \
                                   const T *a, int lda, T *b, int ldb)                             \
    {                                                                                              \
        CUCC_NEEDS(handle);                                                                        \
        CUCC_MEMORY(a);                                                                            \
        CUCC_MEMORY(b);                                                                            \
        factor<T> f(handle, alpha);                                                                \
        return put(handle, [=] {                                                                   \
            solve<T>(side == CUBLAS_SIDE_LEFT, fill == CUBLAS_FILL_MODE_LOWER,                     \
                     diagonal == CUBLAS_DIAG_UNIT, m, n, f.get(), a, lda, op != CUBLAS_OP_N, b,    \
                     ldb);                                                                         \
        });                                                                                        \
    }
CUCC_VECTORS(S, s, float)
CUCC_VECTORS(D, d, double)
CUCC_MATRICES(S, float)
CUCC_MATRICES(D, double)

/* ---- elements of other types ----------------------------------------------------------------- */

/* Elements E to C, by sums that are kept in S, which is the type of the factors, too, and made in T. */
template <class E, class C, class S = float, class T = S>
static cublasStatus_t mixed(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void *alpha, const void *a, int lda,
                            long long a_step, const void *b, int ldb, long long b_step,
                            const void *beta, void *c, int ldc, long long c_step, int count)
{
    factor<S> f(handle, (const S *)alpha), g(handle, (const S *)beta);
    return put(handle, [=] {
        for (int i = 0; i < count; i++)
            multiply<T, E, C, S>(op_a != CUBLAS_OP_N, op_b != CUBLAS_OP_N, m, n, k, (T)f.get(),
                                 (const E *)a + i * a_step, lda, (const E *)b + i * b_step, ldb,
                                 (T)g.get(), (C *)c + i * c_step, ldc);
    });
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType a_type, int lda, long long a_step, const void *b,
    cudaDataType b_type, int ldb, long long b_step, const void *beta, void *c, cudaDataType c_type,
    int ldc, long long c_step, int count, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    CUCC_NEEDS(handle);
    if (!right_shapes(op_a, op_b, m, n, k, lda, ldb, ldc)) return CUBLAS_STATUS_INVALID_VALUE;
    CUCC_MEMORY(a);
    CUCC_MEMORY(b);
    CUCC_MEMORY(c);
    const int elements = a_type == b_type ? a_type * 100 + c_type : -1, f32 = CUDA_R_32F,
              f16 = CUDA_R_16F * 100, bf16 = CUDA_R_16BF * 100;
#define CUCC_MIXED(...)                                                                           \
    return mixed<__VA_ARGS__>(handle, op_a, op_b, m, n, k, alpha, a, lda, a_step, b, ldb, b_step, \
                              beta, c, ldc, c_step, count)
    switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        if (elements == CUDA_R_64F * 100 + CUDA_R_64F) CUCC_MIXED(double, double, double);
        break;
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        if (elements == f16 + CUDA_R_16F) CUCC_MIXED(__half, __half, __half, float);
        break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        if (elements == CUDA_R_8I * 100 + CUDA_R_32I) CUCC_MIXED(signed char, int, int);
        break;
    default:
        if (elements == CUDA_R_32F * 100 + f32) CUCC_MIXED(float, float);
        if (elements == f16 + CUDA_R_16F) CUCC_MIXED(__half, __half);
        if (elements == f16 + f32) CUCC_MIXED(__half, float);
        if (elements == bf16 + CUDA_R_16BF) CUCC_MIXED(__nv_bfloat16, __nv_bfloat16);
        if (elements == bf16 + f32) CUCC_MIXED(__nv_bfloat16, float);
        if (elements == CUDA_R_8I * 100 + f32) CUCC_MIXED(signed char, float);
    }
    fprintf(
        stderr,
        "cucc: cublasGemmEx: elements of types %d, %d and %d (cudaDataType) with sums of type %d "
        "(cublasComputeType_t) are not supported\n",
        (int)a_type, (int)b_type, (int)c_type, (int)compute);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, 0, b,
                                      b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute,
                                      algorithm);
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const __half *alpha, const __half *a, int lda,
                                         long long a_step, const __half *b, int ldb,
                                         long long b_step, const __half *beta, __half *c, int ldc,
                                         long long c_step, int count)
{
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_16F, lda,
                                      a_step, b, CUDA_R_16F, ldb, b_step, beta, c, CUDA_R_16F, ldc,
                                      c_step, count, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const __half *alpha, const __half *a, int lda,
                           const __half *b, int ldb, const __half *beta, __half *c, int ldc)
{
    return cublasHgemmStridedBatched(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta,
                                     c, ldc, 0, 1);
}
