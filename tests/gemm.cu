/* Every kernel, type and operation of tiledmm.cuh against a reference of higher precision, with
   guard bands: NaN around A and B and in C, and a check that nothing beside C is written.

   The file includes itself once for each element type.

   An argument s, d, dp, i or h takes one type. -DFEWER is for a program that the sanitizers slow down
   sixfold. It leaves out most of the shapes for each op, large sizes, grids of 600,000 rows, and types whose kernels are another's text for elements of the
   same size (unsigned: int; s24: float but for the tile of TMM_SHARED). -DWITHOUT_U and
   -DWITHOUT_S24 leave out one of these types, -DTMM_NO_DOUBLE and -DTMM_NO_INT those of a kind. */
#ifndef T
#ifdef FEWER
#define WITHOUT_U
#define WITHOUT_S24
#endif
#include <time.h>
#include "tap.h"

#define TMM__BUSY(processors) ((void)(processors), 132) /* blocks, as on a large device */
/* While clusters are wanted, no other plan; which there are, as bits. Its numbers: see
   once/schedule.h. */
enum { CUT_WHOLE = 0, CUT_CLUSTERS = 3, CUT_LAST_ROUND = 4 };
static int clusters_wanted, clusters_seen;
static int whole_wanted, whole_seen; /* tiles of that instance; how often there were */
/* The same, but the last tiles cut; in so many slices. Of instance 0 in even shares alone. */
static int last_wanted = -1, last_seen;
static inline double plan_guess(int instance, int cut, int slices, double time)
{
    if (whole_wanted) {
        const int is = cut == CUT_WHOLE && instance == whole_wanted;
        whole_seen += is;
        return is ? time : 1e30;
    }
    if (last_wanted >= 0) {
        const int is =
            cut == CUT_LAST_ROUND && instance == last_wanted && (instance || slices == 1);
        if (is) last_seen = slices;
        return is ? time : 1e30;
    }
    if (!clusters_wanted) return time;
    if (cut == CUT_CLUSTERS) clusters_seen |= 1 << slices;
    return cut == CUT_CLUSTERS ? time : 1e30;
}
#define TMM__PLAN_GUESS(instance, cut, slices, time) plan_guess(instance, cut, slices, time)
#include "../tiledmm.cuh"
#ifndef WITHOUT_U
#define TMM_TYPE unsigned /* a user's own type ... */
#define TMM_NAME u
#include "../tiledmm.cuh"
#endif
#undef TMM__WORTH_PACKING
#define TMM__WORTH_PACKING(packing, saving) \
    ((void)(saving), (packing) >= 0) /* KERNEL PIPELINED and TENSOR at sizes where it is not */
#ifndef TMM_NO_DOUBLE
/* KERNEL TENSOR with other tiles than it would take: 128 x 128, 64 x 64, 32 x 64, 64 x 32 */
static const int tensor_wanted[] = {0, 1, 3, 7};
#undef TMM__TENSOR_GUESS
#undef TMM__CLEAR_FLAGS
#define TMM__TENSOR_GUESS(M, instance, time) ((instance) == tensor_wanted[(M) / 8 % 4] ? 0 : (time))
#define TMM__CLEAR_FLAGS                     1
#define TMM_TYPE                             double
#define TMM_NAME                             dp
#include "../tiledmm.cuh"
#undef TMM__CLEAR_FLAGS
#undef TMM__TENSOR_GUESS
#endif
#ifndef WITHOUT_S24
#define TMM_NAME s24 /* ... and tile */
#define TMM_TILE 24
#include "../tiledmm.cuh"
#endif
#undef TMM__BUSY
#ifndef TMM_NO_INT
#define TMM_TYPE short /* 8-byte quads, and sums wider than the elements */
#define TMM_SUM  unsigned
#define TMM_NAME h
#include "../tiledmm.cuh"
#endif
#undef TMM__WORTH_PACKING

#define CHECK_CUDA(call)                                                          \
    do {                                                                          \
        cudaError_t check_error = (call);                                         \
        if (check_error != cudaSuccess) {                                         \
            printf("Bail out! %s: %s\n", #call, cudaGetErrorString(check_error)); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

typedef struct test_case {
    long long M, N, K;
    double alpha, beta;
    int pad;    /* added to each leading dimension */
    int offset; /* elements by which the matrices start off their alignment */
} test_case;

/* On and off the tiles of all kernels, aligned for 128-bit loads and not. */
static const test_case test_cases[] = {
    {1, 1, 1, 1, 0, 0, 0},       {1, 7, 5, 1, 1, 0, 0},      {16, 16, 16, 1, 0, 0, 0},
    {17, 33, 9, -0.5, 0, 3, 0},  {31, 64, 33, 2, -3, 0, 1},  {65, 63, 40, 1, 0, 4, 0},
    {130, 129, 67, 1, 0, 2, 0},  {128, 128, 32, 1, 0, 0, 0}, {128, 132, 36, 3, 1, 4, 4},
    {5, 200, 3, 1, 2, 0, 0},     {200, 3, 130, -1, 0, 8, 0}, {64, 64, 0, 1, 2, 0, 0},
    {64, 100, 24, 0, 0.5, 0, 0}, {1, 150, 70, 1, 0, 0, 3},   {150, 1, 70, 1, 0, 0, 0},
    {300, 80, 40, 1, 0, 4, 0},   {70, 300, 33, 2, 1, 0, 0},  {256, 64, 20, 1, 1, 0, 0},
    {200, 60, 150, 1, 1, 0, 0},  {33, 20, 180, 1, 0, 1, 0},  {180, 60, 150, 1, 1, 2, 0},
    {190, 70, 134, -1, 0, 2, 0}, {180, 40, 38, 2, 1, 2, 0},
};
enum { TEST_CASES = sizeof test_cases / sizeof *test_cases };

/* More for the fast kernels: few rows or columns, and long sums of few elements, which are shared
   out along k. */
static const test_case fast_cases[] = {
    {16, 300, 700, 1, 0, 0, 0},   {1, 700, 300, -1, 2, 0, 0},  {300, 1, 129, 1, 0, 3, 0},
    {3, 20, 2100, 1, 0, 4, 0},    {20, 2, 4200, 1, 0, 0, 0},   {10, 9, 2100, 2, -1, 1, 1},
    {33, 20, 1600, 1, 0.5, 0, 0}, {270, 128, 420, 1, 1, 2, 0}, {384, 128, 900, 1, 0.5, 0, 0},
    {24, 1030, 70, 1, 2, 1, 0},   {550, 30, 333, -1, 0, 0, 0}, {1, 40, 9000, 1, 0, 1, 1},
    {390, 1, 3000, 2, 0, 0, 0},   {2, 70, 5003, -1, 1, 2, 0},  {4, 513, 260, 1, 0, 0, 0},
    {300, 3, 131, -1, 0.5, 1, 0}, {2, 260, 515, 1, 0, 4, 2},   {129, 4, 700, 1, 0, 0, 1},
    {3, 90, 1050, 2, 1, 2, 0},    {65, 2, 64, 1, 0, 0, 0},
};
enum { FAST_CASES = sizeof fast_cases / sizeof *fast_cases };

/* What a kernel must refuse with TMM_ERROR_UNSUPPORTED. */
static int test_refused(tmm_kernel kernel, const test_case *c)
{
    return kernel == TMM_SKINNY && c->M > 16 && c->N > 16;
}

/* Elements of garbage before a matrix that is not plain, and after one with an offset. Elsewhere memory
   ends with the matrix: there the memory checkers see whoever reads or writes beyond the end. */
static long long test_guard(long long pad, int offset)
{
    return pad || offset ? 64 : 0;
}

static int test_on_gpu; /* a real device: larger sizes are affordable */
static int test_first;  /* which shapes come first, where not all are taken */

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

#define T       float
#define LETTER  s
#define UNIT    5.9604644775390625e-8 /* unit roundoff; 0 for integers: exact */
#define GARBAGE ((float)NAN)
#include "gemm.cu"
#ifndef TMM_NO_DOUBLE
#define T       double
#define LETTER  d
#define UNIT    1.1102230246251565e-16
#define GARBAGE ((double)NAN)
#include "gemm.cu"
#define T       double
#define LETTER  dp
#define UNIT    1.1102230246251565e-16
#define GARBAGE ((double)NAN)
#include "gemm.cu"
#endif
#ifndef TMM_NO_INT
#define T       int
#define LETTER  i
#define UNIT    0
#define GARBAGE ((int)0x7fbadbad)
#include "gemm.cu"
#endif
#ifndef WITHOUT_U
#define T       unsigned
#define LETTER  u
#define UNIT    0
#define GARBAGE 0xbadbadbau
#include "gemm.cu"
#endif
#ifndef WITHOUT_S24
#define T       float
#define LETTER  s24
#define UNIT    5.9604644775390625e-8
#define GARBAGE ((float)NAN)
#include "gemm.cu"
#endif
#ifndef TMM_NO_INT
#define T       short
#define LETTER  h
#define UNIT    0
#define GARBAGE ((short)0x7bad)
#include "gemm.cu"
#endif

#ifndef TMM_NO_DOUBLE
/* Strides of KERNEL TENSOR that would not fit into its 32 bits: refused by name, and TMM_AUTO knows
   a way. */
static void test_wide_lines(void)
{
    enum { M = 33, N = 40, K = 24 };
    const long long ld = 1ll << 24;
    size_t bytes = (size_t)((M - 1) * ld + K) * sizeof(double), free_bytes, total;
    double *A, *B, *C, h[M * N];
    CHECK_CUDA(cudaMalloc((void **)&B, sizeof h));
    CHECK_CUDA(cudaMalloc((void **)&C, sizeof h));
    tmm_status status =
        tmm_dgemm_with(TMM_TENSOR, TMM_OP_N, TMM_OP_N, M, N, K, 1, B, ld, B, N, 0, C, N, 0);
    tap_ok(status == TMM_ERROR_UNSUPPORTED && strstr(tmm_last_error(), "lda") != NULL,
           "double tensor refuses a leading dimension of 2^24");
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total));
    if (test_on_gpu && free_bytes > bytes + bytes / 4) {
        double row[K];
        int wrong = 0;
        CHECK_CUDA(cudaMalloc((void **)&A, bytes));
        for (int i = 0; i < M * N; i++) h[i] = 1;
        CHECK_CUDA(cudaMemcpy(B, h, sizeof h, cudaMemcpyHostToDevice));
        for (int i = 0; i < M; i++) {
            for (int k = 0; k < K; k++) row[k] = i;
            CHECK_CUDA(cudaMemcpy(A + i * ld, row, sizeof row, cudaMemcpyHostToDevice));
        }
        status = tmm_dpgemm(TMM_OP_N, TMM_OP_N, M, N, K, 1, A, ld, B, N, 0, C, N, 0);
        CHECK_CUDA(cudaMemcpy(h, C, sizeof h, cudaMemcpyDeviceToHost));
        for (int i = 0; i < M * N; i++) wrong += h[i] != i / N * K;
        tap_ok(status == TMM_OK && wrong == 0, "double, TMM_AUTO: a leading dimension of 2^24");
        CHECK_CUDA(cudaFree(A));
    } else {
        tap_skip("double, TMM_AUTO: a leading dimension of 2^24", "needs 6 GB of device memory");
    }
    CHECK_CUDA(cudaFree(B));
    CHECK_CUDA(cudaFree(C));
}
#endif

/* 64-bit addresses: leading dimensions beyond 2^31 elements. */
static void test_far(void)
{
    const long long ld = (1ll << 31) + 12;
    size_t bytes = (size_t)(2 * ld + 4) * sizeof(float), free_bytes, total;
    float *A, *C, h[3] = {0, 0, 0}, rows[2] = {3, 5};
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total));
    if (!test_on_gpu || free_bytes < 3 * bytes) {
        tap_skip("leading dimension beyond 2^31", "needs 52 GB of device memory");
        return;
    }
    CHECK_CUDA(cudaMalloc((void **)&A, bytes));
    CHECK_CUDA(cudaMalloc((void **)&C, bytes));
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        CHECK_CUDA(cudaMemset(C, 0xff, bytes));
        for (int i = 0; i < 2; i++) /* a 3 x 1 matrix of 3, 5 and, transposed view, 1 x 3 */
            CHECK_CUDA(cudaMemcpy(A + i * ld, &rows[i], sizeof(float), cudaMemcpyHostToDevice));
        tmm_status status =
            tmm_sgemm_with((tmm_kernel)k, TMM_OP_N, TMM_OP_N, 2, 1, 1, 2, A, ld, A, 1, 0, C, ld, 0);
        for (int i = 0; i < 2; i++)
            CHECK_CUDA(cudaMemcpy(&h[i], C + i * ld, sizeof(float), cudaMemcpyDeviceToHost));
        if (status == TMM_ERROR_UNSUPPORTED) continue;
        tap_ok(status == TMM_OK && h[0] == 18 && h[1] == 30, "%s: leading dimension beyond 2^31",
               tmm_kernel_string((tmm_kernel)k));
    }
    CHECK_CUDA(cudaFree(A));
    CHECK_CUDA(cudaFree(C));
}

/* More rows than gridDim.y allows blocks, and more products than gridDim.z. */
#ifndef FEWER
static void test_grids(void)
{
    const int M = 600000, batch = 70000;
    float *dA, *dB, *dC, *h = (float *)malloc(M * sizeof(float)), b = 3;
    CHECK_CUDA(cudaMalloc((void **)&dA, M * sizeof(float)));
    CHECK_CUDA(cudaMalloc((void **)&dB, sizeof(float)));
    CHECK_CUDA(cudaMalloc((void **)&dC, M * sizeof(float)));
    for (int i = 0; i < M; i++) h[i] = (float)i;
    CHECK_CUDA(cudaMemcpy(dA, h, M * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(dB, &b, sizeof b, cudaMemcpyHostToDevice));
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        tmm_kernel kernel = (tmm_kernel)k;
        int wrong = 0;
        /* tiles of 16 and 32 rows, of which gridDim.y allows more; they take seconds on a CPU. Of
           the others it takes every other one, and the next time perhaps the others. */
        if (!test_on_gpu && (kernel == TMM_SHARED || kernel == TMM_SHARED_32)) continue;
        if (!test_on_gpu && (k + test_first) % 2 != 0) continue;
        CHECK_CUDA(cudaMemset(dC, 0xff, M * sizeof(float)));
        tmm_status status =
            tmm_sgemm_with(kernel, TMM_OP_N, TMM_OP_N, M, 1, 1, 1, dA, 1, dB, 1, 0, dC, 1, 0);
        CHECK_CUDA(cudaMemcpy(h, dC, M * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < M; i++) wrong += h[i] != 3 * (float)i;
        if (status == TMM_ERROR_UNSUPPORTED) continue;
        tap_ok(status == TMM_OK && wrong == 0, "%s: %d rows", tmm_kernel_string(kernel), M);
    }
    CHECK_CUDA(cudaMemset(dC, 0xff, M * sizeof(float)));
    tmm_status status = tmm_sgemm_batched(TMM_OP_N, TMM_OP_N, 1, 1, 1, 1, dA, 1, dB, 1, 0, dC, 1, 1,
                                          0, 1, batch, 0);
    CHECK_CUDA(cudaMemcpy(h, dC, M * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < M; i++) wrong += i < batch ? h[i] != 3 * (float)i : !isnan(h[i]);
    tap_ok(status == TMM_OK && wrong == 0, "a batch of %d", batch);
    free(h);
    CHECK_CUDA(cudaFree(dA));
    CHECK_CUDA(cudaFree(dB));
    CHECK_CUDA(cudaFree(dC));
}
#endif

#ifndef TMM_NO_DOUBLE
/* The 65536th product is alone in a launch: it has the bits of the others all the same. */
static void test_last_of_batch(void)
{
    enum { EDGE = 8, K = 2000, BATCH = 65536 };
    size_t bytes = (size_t)BATCH * EDGE * EDGE * sizeof(double);
    double *dX, *dC, *h;
    if (!test_on_gpu) {
        tap_skip("a product alone in the last launch of a batch", "takes long on a CPU");
        return;
    }
    h = (double *)malloc(bytes);
    CHECK_CUDA(cudaMalloc((void **)&dX, EDGE * K * sizeof(double)));
    CHECK_CUDA(cudaMalloc((void **)&dC, bytes));
    for (int i = 0; i < EDGE * K; i++) h[i] = tap_uniform();
    CHECK_CUDA(cudaMemcpy(dX, h, EDGE * K * sizeof(double), cudaMemcpyHostToDevice));
    for (int n = 0; n < 2; n++) {
        tmm_kernel kernel = n == 0 ? TMM_PIPELINED : TMM_TENSOR;
        int wrong = 0;
        CHECK_CUDA(cudaMemset(dC, 0xff, bytes));
        tmm_status status =
            tmm_dgemm_batched_with(kernel, TMM_OP_N, TMM_OP_T, EDGE, EDGE, K, 1, dX, K, dX, K, 0,
                                   dC, EDGE, 0, 0, EDGE * EDGE, BATCH, 0);
        CHECK_CUDA(cudaMemcpy(h, dC, bytes, cudaMemcpyDeviceToHost));
        for (int i = 1; i < BATCH; i++)
            wrong += memcmp(h, h + i * EDGE * EDGE, EDGE * EDGE * sizeof(double)) != 0;
        tap_ok(status == TMM_OK && wrong == 0 && !isnan(h[0]),
               "double %s: a product alone in the last launch of a batch has the bits of all",
               tmm_kernel_string(kernel));
    }
    free(h);
    CHECK_CUDA(cudaFree(dX));
    CHECK_CUDA(cudaFree(dC));
}
#endif

int main(int count, char **words)
{
    cudaDeviceProp device;
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
#ifndef FEWER
    test_on_gpu = strcmp(device.name, "CPU runner") != 0;
#endif
    tap_note("device: %s", device.name);
    tap_seed((unsigned long long)time(NULL));
    test_first = (int)(tap_state % 30);
    const char *only = count > 1 ? words[1] : "";
#define WANTED(type) (only[0] == 0 || strcmp(only, type) == 0)
    if (WANTED("s")) test_type_s();
#ifndef TMM_NO_DOUBLE
    if (WANTED("d")) test_type_d();
    if (WANTED("dp")) test_type_dp(), test_last_of_batch(), test_wide_lines();
#endif
#ifndef TMM_NO_INT
    if (WANTED("i")) test_type_i();
    if (WANTED("h")) test_type_h();
#endif
    if (only[0] != 0) return tap_done();
#ifndef WITHOUT_U
    test_type_u();
#endif
#ifndef WITHOUT_S24
    test_type_s24();
#endif
#ifndef FEWER
    test_grids();
#endif
    test_far();
    return tap_done();
}

#else /* ---------------- for one element type T ------------------------------------------------ */
#define F(x)       JOIN(JOIN(x, _), LETTER)    /* our functions: test_type_s */
#define TMM(x)     JOIN(JOIN(tmm_, LETTER), x) /* the library's: tmm_sgemm */
#define STRING_(x) #x
#define STRING(x)  STRING_(x)

static T F(test_random)(void)
{
    return UNIT ? (T)tap_uniform() : (T)tap_bits();
}

/* A matrix with GARBAGE before and after it and between its rows. */
typedef struct F(test_matrix) {
    long long rows, cols, ld, size;
    T *host, *device, *h, *d; /* h, d: where the matrix starts in host and device memory */
} F(test_matrix);

static F(test_matrix)
    F(test_make)(long long rows, long long cols, long long pad, int offset, int filled)
{
    F(test_matrix) X;
    X.rows = rows, X.cols = cols;
    X.ld = cols + pad > 0 ? cols + pad : 1;
    long long guard = test_guard(pad, offset);
    /* Exactly to the last element of the last row: what is beyond must not be touched. */
    X.size = (rows > 0 ? (rows - 1) * X.ld + cols : 0) + (offset ? 2 * guard : guard) + offset;
    X.host = (T *)malloc((size_t)(X.size + 1) * sizeof(T));
    X.h = X.host + guard + offset;
    for (long long i = 0; i < X.size; i++) X.host[i] = GARBAGE;
    for (long long i = 0; i < rows && filled; i++)
        for (long long j = 0; j < cols; j++) X.h[i * X.ld + j] = F(test_random)();
    CHECK_CUDA(cudaMalloc((void **)&X.device, (size_t)X.size * sizeof(T)));
    CHECK_CUDA(cudaMemcpy(X.device, X.host, (size_t)X.size * sizeof(T), cudaMemcpyHostToDevice));
    X.d = X.device + guard + offset;
    return X;
}

static void F(test_free)(F(test_matrix) X)
{
    free(X.host);
    CHECK_CUDA(cudaFree(X.device));
}

/* C = alpha op(A) op(B) + beta C in long double (integers: modulo 2^64, which the low bits of
   smaller ones agree with), and the bound on the error of each element:
   u ((K + 2) |alpha| |A||B| + 2 |beta C|) ... (K + 2) u |A||B| for alpha = 1, beta = 0. */
static long long F(test_errors)(tmm_op opA, tmm_op opB, const test_case *c, F(test_matrix) A,
                                F(test_matrix) B, F(test_matrix) before, const T *got)
{
    long long wrong = 0;
    for (long long i = 0; i < c->M; i++)
        for (long long j = 0; j < c->N; j++) {
            T value = got[i * before.ld + j];
            long double sum = 0, bound = 0;
            unsigned long long exact = 0;
            int reads = (T)c->alpha != 0;
            for (long long k = 0; k < c->K && reads; k++) {
                T a = opA == TMM_OP_N ? A.h[i * A.ld + k] : A.h[k * A.ld + i];
                T b = opB == TMM_OP_N ? B.h[k * B.ld + j] : B.h[j * B.ld + k];
                sum += (long double)a * b;
                bound += fabsl((long double)a * b);
                exact += (unsigned long long)a * (unsigned long long)b;
            }
            sum *= (T)c->alpha;
            bound *= fabsl((long double)(T)c->alpha) * (c->K + 2);
            exact *= (unsigned long long)(T)c->alpha;
            if ((T)c->beta != 0) {
                T old = before.h[i * before.ld + j];
                sum += (long double)(T)c->beta * old;
                bound += 2 * fabsl((long double)(T)c->beta * old);
                exact += (unsigned long long)(T)c->beta * (unsigned long long)old;
            }
            if (UNIT != 0 ? !(fabsl(value - sum) <= UNIT * bound) : value != (T)exact) {
                if (wrong++ == 0)
                    tap_note("C(%lld, %lld) is %.17g, should be %.17Lg", i, j, (double)value,
                             UNIT != 0 ? sum : (long double)(T)exact);
            }
        }
    return wrong;
}

/* Elements of the buffer outside the matrix that are not as they were. */
static long long F(test_spills)(F(test_matrix) C, const T *after)
{
    long long wrong = 0;
    for (long long i = 0; i < C.size; i++) {
        long long at = (C.host + i) - C.h;
        if (at >= 0 && at < C.rows * C.ld && at % C.ld < C.cols) continue;
        wrong += memcmp(&after[i], &C.host[i], sizeof(T)) != 0;
    }
    return wrong;
}

static void F(test_kernel)(tmm_kernel kernel, tmm_op opA, tmm_op opB)
{
    long long failures = 0, tested = 0;
    int cases = TEST_CASES + (kernel >= TMM_PIPELINED ? FAST_CASES : 0);
    /* A CPU takes a third of the shapes for each op, the next third for the next one; each run
       begins with another third. Tensor cores of doubles take it ten times as long: half of these. */
    int sparse = test_on_gpu ? 1 : 3;
#ifdef FEWER
    sparse = 5;
#endif
    int slow = UNIT != 0 && sizeof(T) == 8 && (kernel == TMM_TENSOR || kernel == TMM_SMALL);
    if (slow && !test_on_gpu) sparse *= 2;
    for (int n = 0; n < cases; n++) {
        if ((n + opA + 2 * opB + test_first) % sparse != 0) continue;
        const test_case *c = n < TEST_CASES ? &test_cases[n] : &fast_cases[n - TEST_CASES];
        int untransA = opA == TMM_OP_N, untransB = opB == TMM_OP_N;
        F(test_matrix)
        A = F(test_make)(untransA ? c->M : c->K, untransA ? c->K : c->M, c->pad, c->offset, 1);
        F(test_matrix)
        B = F(test_make)(untransB ? c->K : c->N, untransB ? c->N : c->K, c->pad, c->offset, 1);
        /* With beta = 0 C starts as garbage, which must not be read. */
        F(test_matrix) C = F(test_make)(c->M, c->N, c->pad, c->offset, (T)c->beta != 0);
        T *after = (T *)malloc((size_t)C.size * sizeof(T));
        tmm_status status = TMM(gemm_with)(kernel, opA, opB, c->M, c->N, c->K, (T)c->alpha, A.d,
                                           A.ld, B.d, B.ld, (T)c->beta, C.d, C.ld, 0);
        CHECK_CUDA(cudaMemcpy(after, C.device, (size_t)C.size * sizeof(T), cudaMemcpyDeviceToHost));
        long long wrong = 0, spilled = 0;
        if (test_refused(kernel, c)) { /* with C as it was */
            if (status == TMM_ERROR_UNSUPPORTED) status = TMM_OK;
            wrong = memcmp(after, C.host, (size_t)C.size * sizeof(T)) != 0;
        } else {
            tested++;
            wrong = F(test_errors)(opA, opB, c, A, B, C, after + (C.h - C.host));
            spilled = F(test_spills)(C, after);
        }
        if (status != TMM_OK || wrong || spilled) {
            failures++;
            tap_note("%lld x %lld x %lld alpha %g beta %g pad %d offset %d: %s, %lld wrong, "
                     "%lld written outside",
                     c->M, c->N, c->K, c->alpha, c->beta, c->pad, c->offset,
                     status == TMM_OK ? "" : tmm_last_error(), wrong, spilled);
        }

        /* The CPU versions must obey the same rules. Once is enough. */
        if (kernel == TMM_AUTO) {
            T *keep = (T *)malloc((size_t)C.size * sizeof(T));
            memcpy(keep, C.host, (size_t)C.size * sizeof(T));
            status = TMM(gemm_cpu)(opA, opB, c->M, c->N, c->K, (T)c->alpha, A.h, A.ld, B.h, B.ld,
                                   (T)c->beta, C.h, C.ld);
            memcpy(after, C.host, (size_t)C.size * sizeof(T)); /* result */
            memcpy(C.host, keep, (size_t)C.size * sizeof(T));  /* as before */
            wrong = F(test_errors)(opA, opB, c, A, B, C, after + (C.h - C.host));
            spilled = F(test_spills)(C, after);
            if (status != TMM_OK || wrong || spilled) {
                failures++;
                tap_note("gemm_cpu %lld x %lld x %lld: %lld wrong, %lld written outside", c->M,
                         c->N, c->K, wrong, spilled);
            }
#ifdef _OPENMP
            status = TMM(gemm_openmp)(opA, opB, c->M, c->N, c->K, (T)c->alpha, A.h, A.ld, B.h, B.ld,
                                      (T)c->beta, C.h, C.ld, 3);
            if (status != TMM_OK || memcmp(after, C.host, (size_t)C.size * sizeof(T)) != 0) {
                failures++;
                tap_note("gemm_openmp %lld x %lld x %lld differs from gemm_cpu", c->M, c->N, c->K);
            }
#endif
            free(keep);
        }
        free(after);
        F(test_free)(A);
        F(test_free)(B);
        F(test_free)(C);
    }
    tap_ok(failures == 0 && tested >= 12 / sparse, "%s %s %c%c: %lld shapes",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", tmm_kernel_string(kernel),
           opA == TMM_OP_N ? 'N' : 'T', opB == TMM_OP_N ? 'N' : 'T', tested);
}

/* A batch: own A, one B for all, C in a row with gaps between the products. */
static void F(test_batch)(tmm_kernel kernel)
{
    const test_case c = {37, kernel == TMM_SKINNY ? 9 : 29, 21, 1, 0, 1, 0};
    const int batch = 5;
    long long strideA = c.M * (c.K + 1) + 3, strideC = c.M * (c.N + 1) + 7;
    F(test_matrix) A = F(test_make)(1, batch * strideA, 0, 0, 1);
    F(test_matrix) B = F(test_make)(c.K, c.N, 1, 0, 1);
    F(test_matrix) C = F(test_make)(1, batch * strideC, 0, 0, 0);
    T *after = (T *)malloc((size_t)C.size * sizeof(T));
    tmm_status status =
        TMM(gemm_batched_with)(kernel, TMM_OP_N, TMM_OP_N, c.M, c.N, c.K, 1, A.d, c.K + 1, B.d,
                               B.ld, 0, C.d, c.N + 1, strideA, 0, strideC, batch, 0);
    CHECK_CUDA(cudaMemcpy(after, C.device, (size_t)C.size * sizeof(T), cudaMemcpyDeviceToHost));
    long long wrong = 0, spilled = 0;
    for (int b = 0; b < batch; b++) {
        F(test_matrix) Ab = A, Cb = C;
        Ab.h += b * strideA, Ab.ld = c.K + 1;
        Cb.h += b * strideC, Cb.ld = c.N + 1;
        wrong += F(test_errors)(TMM_OP_N, TMM_OP_N, &c, Ab, B, Cb, after + (Cb.h - C.host));
    }
    for (long long i = 0; i < C.size; i++) {
        long long at = (C.host + i) - C.h, in = at < 0 ? -1 : at % strideC;
        if (in >= 0 && at < batch * strideC && in < c.M * (c.N + 1) && in % (c.N + 1) < c.N)
            continue;
        spilled += memcmp(&after[i], &C.host[i], sizeof(T)) != 0;
    }
    tap_ok(status == TMM_OK && wrong == 0 && spilled == 0, "%s %s: batch of %d",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", tmm_kernel_string(kernel), batch);
    free(after);
    F(test_free)(A);
    F(test_free)(B);
    F(test_free)(C);
}

/* The same bits in every run; and the simple kernels, which sum in ascending k, agree with each
   other and with what the fast ones give without a split along K: a batch is not split. */
static void F(test_bits)(void)
{
    const long long M = 150, N = 90, K = test_on_gpu ? 3000 : 100;
    const size_t bytes = (size_t)(M * N) * sizeof(T);
    F(test_matrix) A = F(test_make)(M, K, 0, 0, 1), B = F(test_make)(K, N, 0, 0, 1);
    F(test_matrix) C = F(test_make)(M, N, 0, 0, 1);
    T *simple = (T *)malloc(bytes), *first = (T *)malloc(bytes), *other = (T *)malloc(bytes);
    int runs = test_on_gpu ? 20 : 3, different = 0, kernels = 0;
    for (int k = TMM_GLOBAL; k <= TMM_KERNEL_COUNT; k++) {
        tmm_kernel kernel = (tmm_kernel)(k % TMM_KERNEL_COUNT); /* ends with TMM_AUTO */
        for (int run = 0; run < runs; run++) {
            CHECK_CUDA(cudaMemcpy(C.d, C.h, bytes, cudaMemcpyHostToDevice));
            tmm_status status =
                TMM(gemm_with)(kernel, TMM_OP_N, TMM_OP_N, M, kernel == TMM_SKINNY ? 9 : N, K, (T)3,
                               A.d, K, B.d, N, (T)-7, C.d, N, 0);
            if (status == TMM_ERROR_UNSUPPORTED) break; /* an instance with one tile */
            kernels += run == 0;
            CHECK_CUDA(cudaMemcpy(other, C.d, bytes, cudaMemcpyDeviceToHost));
            if (k == TMM_GLOBAL && run == 0) memcpy(simple, other, bytes);
            if (run == 0) memcpy(first, other, bytes);
            if (memcmp(first, other, bytes) != 0 ||
                (k <= TMM_REGISTER_128 && memcmp(simple, other, bytes) != 0)) {
                different++;
                tap_note("%s differs", tmm_kernel_string(kernel));
            }
        }
    }
    for (int k = TMM_PIPELINED; k < TMM_KERNEL_COUNT; k++) {
        /* these always sum in pieces, and the last may take them */
        if (k == TMM_SMALL || k == TMM_SKINNY || k == TMM_AUTO_TENSOR) continue;
        CHECK_CUDA(cudaMemcpy(C.d, C.h, bytes, cudaMemcpyHostToDevice));
        tmm_status status =
            TMM(gemm_batched_with)((tmm_kernel)k, TMM_OP_N, TMM_OP_N, M / 2, N, K, (T)3, A.d, K,
                                   B.d, N, (T)-7, C.d, N, M / 2 * K, 0, M / 2 * N, 2, 0);
        if (status == TMM_ERROR_UNSUPPORTED) continue;
        CHECK_CUDA(cudaMemcpy(other, C.d, bytes, cudaMemcpyDeviceToHost));
        if (memcmp(simple, other, bytes) != 0) {
            different++;
            tap_note("%s, without a split, differs", tmm_kernel_string((tmm_kernel)k));
        }
    }
    tap_ok(different == 0 && kernels >= TMM_KERNEL_COUNT - 6,
           "%s: the same bits in %d runs of %d kernels, and from the simple ones",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", runs, kernels);
    free(simple);
    free(first);
    free(other);
    F(test_free)(A);
    F(test_free)(B);
    F(test_free)(C);
}

/* The kernels that share tiles out along k, at sizes where they do, against TMM_REGISTER; and the
   same bits in every run, whoever comes first. */
static void F(test_split)(tmm_kernel kernel)
{
    /* For 264 blocks at work: fewer tiles than that, more, and one whose sums are many. */
    static const int on_gpu[][3] = {{1300, 640, 300}, {2500, 2601, 98}, {100, 90, 5000}};
    static const int on_cpu[][3] = {{300, 200, 110}, {150, 290, 50}, {70, 50, 500}};
    long long wrong = 0, different = 0;
    for (int n = 0; n < 3; n++) {
        const int *size = test_on_gpu ? on_gpu[n] : on_cpu[n];
        const long long M = size[0], N = kernel == TMM_SKINNY ? 11 : size[1], K = size[2];
        const size_t bytes = (size_t)(M * N) * sizeof(T);
        F(test_matrix) A = F(test_make)(M, K, 0, 0, 1), B = F(test_make)(K, N, 0, 0, 1);
        F(test_matrix) C = F(test_make)(M, N, 0, 0, 0);
        T *expected = (T *)malloc(bytes), *first = (T *)malloc(bytes), *other = (T *)malloc(bytes);
        TMM(gemm_with)
        (TMM_REGISTER, TMM_OP_N, TMM_OP_N, M, N, K, 1, A.d, K, B.d, N, 0, C.d, N, 0);
        CHECK_CUDA(cudaMemcpy(expected, C.d, bytes, cudaMemcpyDeviceToHost));
        for (int run = 0; run < (test_on_gpu ? 20 : 2); run++) {
            CHECK_CUDA(cudaMemcpy(C.d, C.h, bytes, cudaMemcpyHostToDevice));
            tmm_status status = TMM(gemm_with)(kernel, TMM_OP_N, TMM_OP_N, M, N, K, 1, A.d, K, B.d,
                                               N, 0, C.d, N, 0);
            CHECK_CUDA(cudaMemcpy(other, C.d, bytes, cudaMemcpyDeviceToHost));
            if (run == 0) memcpy(first, other, bytes);
            wrong += status != TMM_OK;
            different += memcmp(first, other, bytes) != 0;
        }
        /* Without steps there is nothing to share out, but C is to be written all the same. */
        CHECK_CUDA(cudaMemcpy(C.d, C.h, bytes, cudaMemcpyHostToDevice));
        wrong += TMM(gemm_with)(kernel, TMM_OP_N, TMM_OP_N, M, N, K, 0, NULL, K, NULL, N, 0, C.d, N,
                                0) != TMM_OK;
        CHECK_CUDA(cudaMemcpy(other, C.d, bytes, cudaMemcpyDeviceToHost));
        for (long long i = 0; i < M * N; i++) wrong += other[i] != 0;
        /* Elements below 1: sums of K products differ by 2 (K + 2) u K at most. */
        for (long long i = 0; i < M * N; i++)
            wrong +=
                UNIT != 0
                    ? !(fabs((double)first[i] - (double)expected[i]) <= 2.0 * (K + 2) * UNIT * K)
                    : first[i] != expected[i];
        free(expected);
        free(first);
        free(other);
        F(test_free)(A);
        F(test_free)(B);
        F(test_free)(C);
    }
    tap_ok(wrong == 0 && different == 0, "%s %s: shared out along k, always the same bits",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", tmm_kernel_string(kernel));
}

/* A product by KERNEL TENSOR; op: bit 0, A is transposed, bit 1, B is. How many elements are wrong, or beside C. */
static long long F(test_tensor)(const test_case *c, int op)
{
    const tmm_op opA = (tmm_op)(op & 1), opB = (tmm_op)(op >> 1);
    F(test_matrix)
    A = F(test_make)(op & 1 ? c->K : c->M, op & 1 ? c->M : c->K, c->pad, c->offset, 1);
    F(test_matrix)
    B = F(test_make)(op >> 1 ? c->N : c->K, op >> 1 ? c->K : c->N, c->pad, c->offset, 1);
    F(test_matrix) C = F(test_make)(c->M, c->N, c->pad, c->offset, c->beta != 0);
    T *after = (T *)malloc((size_t)C.size * sizeof(T));
    long long wrong = TMM(gemm_with)(TMM_TENSOR, opA, opB, c->M, c->N, c->K, (T)c->alpha, A.d, A.ld,
                                     B.d, B.ld, (T)c->beta, C.d, C.ld, 0) != TMM_OK;
    CHECK_CUDA(cudaMemcpy(after, C.device, (size_t)C.size * sizeof(T), cudaMemcpyDeviceToHost));
    wrong += F(test_errors)(opA, opB, c, A, B, C, after + (C.h - C.host));
    wrong += F(test_spills)(C, after);
    free(after);
    F(test_free)(A);
    F(test_free)(B);
    F(test_free)(C);
    return wrong;
}

/* KERNEL TENSOR with so many tiles of 64 x 64 that a block begins the next one before it stores. */
static void F(test_ahead)(void)
{
    cudaDeviceProp device;
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    long long wrong = 0;
    const int rows =
        3 * 64 * device.multiProcessorCount; /* a tile for each of 3 blocks, five times */
    for (int n = 0; n < 4; n++) {
        const int step = test_on_gpu ? 3 : 1, op = n * step % 4;
        if (n * step >= 4) break;
        const test_case c = {
            rows - 10 - (op & 1) * 30, 302, 20 + 22 * n, 2, n % 2 ? 0.5 : 0, 2 * n, 2};
        whole_wanted = 1;
        wrong += F(test_tensor)(&c, op);
        whole_wanted = 0;
    }
    tap_ok(wrong == 0,
           "%s tensor: many tiles of a short K, each begun before the one before is stored",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)");
}

/* KERNEL TENSOR with tiles of 128 x 128, which are taken for fewer rows or columns if these are packed. */
static void F(test_thin)(void)
{
    long long wrong = 0;
    whole_seen = 0;
    for (int n = 0; n < 8; n++) {
        const int op = n % 4, tall = n / 4; /* few columns, not rows */
        const test_case c = {tall ? 190 : 98 + 8 * op,
                             tall ? 126 - 8 * op : 190,
                             34 + 20 * op,
                             2,
                             n % 2 ? 0.5 : 0,
                             2 * tall,
                             2};
        whole_wanted = 8;
        wrong += F(test_tensor)(&c, op);
        whole_wanted = 0;
    }
    tap_ok(wrong == 0 && whole_seen == 8, "%s tensor: 128 x 128 for fewer lines, packed: %d of 8",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", whole_seen);
    wrong = whole_seen = 0;
    for (int n = 0; n < 8; n++) {
        const int op = n % 4;
        const test_case c = {
            (n / 4 ? 162 : 66) + 8 * op, n % 2 ? 70 : 190, 34 + 20 * op, 2, n % 2 ? 0.5 : 0, 2, 2};
        whole_wanted = 4;
        wrong += F(test_tensor)(&c, op);
        whole_wanted = 0;
    }
    tap_ok(wrong == 0 && whole_seen == 8,
           "%s tensor: 96 x 128 for one or two rows of tiles: %d of 8",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", whole_seen);
}

/* KERNEL TENSOR with tiles of 64 x 64, by copies of 16 and of 8 bytes, of 32 x 64 and 64 x 32: as many
   whole tiles as fit at once, then one, or a fifth of these, in slices of k. */
static void F(test_last_round)(void)
{
    static const int instances[] = {1, 2, 3, 7};
    cudaDeviceProp device;
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    const int processors = device.multiProcessorCount;
    long long wrong = 0, seen = 0;
    for (int n = 0; n < 8; n++) {
        const int instance = instances[n % 4], odd = instance == 2, op = (n + n / 4) % 4;
        const int fit = (instance == 3 || instance == 7 ? 4 : 3) * processors;
        const int rest = (n / 4 + n) % 2 && fit >= 5 ? fit / 5 : 1;
        const int slices = fit / rest < 8 ? fit / rest : 8;
        const test_case c = {(instance == 3 ? 32ll : 64ll) * (fit + rest) - 6 - odd,
                             20 + odd,
                             16 * 8 * slices + 6 + odd,
                             2,
                             n % 2 ? 0.5 : 0,
                             odd ? 1 : 2,
                             odd};
        last_wanted = instance, last_seen = 0;
        wrong += F(test_tensor)(&c, op);
        last_wanted = -1;
        seen += last_seen == slices;
    }
    tap_ok(wrong == 0 && seen == 8, "%s tensor: small tiles of a last round in slices, %lld of 8",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", seen);
    const int rest = processors > 2 ? processors / 2 + 1 : 0;
    wrong = seen = 0;
    for (int n = 0; n < 4 && rest > 0; n++) {
        const test_case c = {
            128ll * (processors + rest) - 6 * n, 128, 16 * 17 + 6, 2, n % 2 ? 0.5 : 0, 2 * n, 0};
        last_wanted = 0, last_seen = 0;
        wrong += F(test_tensor)(&c, n);
        last_wanted = -1;
        seen += last_seen == 1;
    }
    tap_ok(wrong == 0 && seen == (rest > 0 ? 4 : 0),
           "%s tensor: 128 x 128, the last round in even shares, %lld of 4",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", seen);
}

/* KERNEL TENSOR by clusters of each number of blocks, with all tiles that may have them; whole tiles,
   where there are no clusters. */
static void F(test_clusters)(void)
{
    cudaDeviceProp device;
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    long long wrong = 0;
    const int step = test_on_gpu ? 1 : 5;
    clusters_wanted = 1, clusters_seen = 0;
    for (int n = 0; n < 28; n += step) {
        const int slices = n / 4 + 2, tile = n % 4, op = (slices + tile) % 4;
        const test_case c = {64 + 8 * tile + (op & 1),
                             150,
                             64 * slices - 5 * (op >> 1),
                             2,
                             tile % 2 ? 0.5 : 0,
                             tile,
                             op >> 1};
        wrong += F(test_tensor)(&c, op);
    }
    const int all = device.major == 9 && test_on_gpu ? 0x1fc : 0;
    tap_ok(wrong == 0 && (clusters_seen & all) == all, "%s tensor by clusters of 2 to 8 blocks",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)");
    clusters_wanted = 0;
}

/* Ten tiles of 64 x 128 for every three blocks of KERNEL PIPELINED that fit at once: the first ones
   are given out whole, the last ones shared. Then six, all whole. Of integers only. */
static void F(test_many_tiles)(void)
{
    cudaDeviceProp device;
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    for (int across = 5; across >= 3; across -= 2) {
        const test_case c = {
            128ll * device.multiProcessorCount - 28, 128 * across - 20, 30, 3, 2, 4, 0};
        F(test_matrix) A = F(test_make)(c.K, c.M, c.pad, 0, 1), B = F(test_make)(c.K, c.N, 0, 0, 1);
        F(test_matrix) C = F(test_make)(c.M, c.N, c.pad, 0, 1);
        T *after = (T *)malloc((size_t)C.size * sizeof(T));
        tmm_status status =
            TMM(gemm_with)(TMM_PIPELINED, TMM_OP_T, TMM_OP_N, c.M, c.N, c.K, (T)c.alpha, A.d, A.ld,
                           B.d, B.ld, (T)c.beta, C.d, C.ld, 0);
        CHECK_CUDA(cudaMemcpy(after, C.device, (size_t)C.size * sizeof(T), cudaMemcpyDeviceToHost));
        long long wrong = F(test_errors)(TMM_OP_T, TMM_OP_N, &c, A, B, C, after + (C.h - C.host));
        tap_ok(status == TMM_OK && wrong == 0 && F(test_spills)(C, after) == 0,
               "%s: %lld x %lld, many tiles", STRING(T) " (tmm_" STRING(LETTER) "gemm) pipelined",
               c.M, c.N);
        free(after);
        F(test_free)(A);
        F(test_free)(B);
        F(test_free)(C);
    }
}

/* Host pointers in and out; A x I = A to the bit. */
static void F(test_matmul)(void)
{
    const test_case c = {45, 70, 70, 1, 0, 0, 0};
    F(test_matrix) A = F(test_make)(c.M, c.K, 0, 0, 1), B = F(test_make)(c.K, c.N, 0, 0, 1);
    F(test_matrix) C = F(test_make)(c.M, c.N, 0, 0, 0);
    T *after = (T *)malloc((size_t)C.size * sizeof(T));
    memcpy(after, C.host, (size_t)C.size * sizeof(T));
    T *c0 = after + (C.h - C.host);
    tmm_status status = TMM(matmul)(c.M, c.N, c.K, A.h, B.h, c0);
    long long wrong = F(test_errors)(TMM_OP_N, TMM_OP_N, &c, A, B, C, c0);
    tap_ok(status == TMM_OK && wrong == 0 && F(test_spills)(C, after) == 0, "%s: matmul",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)");
    for (long long i = 0; i < c.K; i++)
        for (long long j = 0; j < c.N; j++) B.h[i * c.N + j] = i == j;
    status = TMM(matmul)(c.M, c.N, c.K, A.h, B.h, c0);
    tap_ok(status == TMM_OK && memcmp(c0, A.h, (size_t)(c.M * c.K) * sizeof(T)) == 0,
           "%s: matmul by the identity", STRING(T) " (tmm_" STRING(LETTER) "gemm)");
    free(after);
    F(test_free)(A);
    F(test_free)(B);
    F(test_free)(C);
}

static void F(test_type)(void)
{
    int left_out = 0;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        tmm_kernel kernel = (tmm_kernel)k;
        if (strcmp(STRING(LETTER), "dp") == 0 && kernel < TMM_PIPELINED) continue; /* no packing */
        if (kernel == TMM_NARROW && strcmp(STRING(T), "float") != 0) continue;     /* pipelined */
        if (TMM(gemm_with)(kernel, TMM_OP_N, TMM_OP_N, 0, 0, 0, 1, NULL, 1, NULL, 1, 0, NULL, 1,
                           0) == TMM_ERROR_UNSUPPORTED) {
            left_out++; /* an instance with one tile; tensor cores for another type */
            continue;
        }
        /* Of dp and s24 what differs from d and s: packing, the tile. */
        if (kernel > TMM_PIPELINED && kernel != TMM_TENSOR &&
            (strcmp(STRING(LETTER), "dp") == 0 || strcmp(STRING(LETTER), "s24") == 0))
            continue;
        for (int op = 0; op < 4; op++) F(test_kernel)(kernel, (tmm_op)(op & 1), (tmm_op)(op >> 1));
        F(test_batch)(kernel);
        if (kernel >= TMM_PIPELINED) F(test_split)(kernel);
    }
    /* TMM_TENSOR_INT8 of every type; TMM_TENSOR of all but double; of s24 the tiles that it has
       not */
    int expected = UNIT != 0 && UNIT < 1e-10 ? 1 : strcmp(STRING(LETTER), "s24") == 0 ? 5 : 2;
    tap_ok(left_out == expected, "%s: %d kernels left out",
           STRING(T) " (tmm_" STRING(LETTER) "gemm)", expected);
    F(test_bits)();
    F(test_matmul)();
    if (UNIT == 0 && sizeof(T) == 4) F(test_many_tiles)();
    if (UNIT != 0 && UNIT < 1e-10) F(test_clusters)();
    if (UNIT != 0 && UNIT < 1e-10) F(test_ahead)();
    if (strcmp(STRING(LETTER), "d") == 0) F(test_last_round)(), F(test_thin)();
}

#undef F
#undef TMM
#undef STRING
#undef STRING_
#undef T
#undef LETTER
#undef UNIT
#undef GARBAGE
#endif
