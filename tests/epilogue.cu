/* Epilogues with arguments (TMM_WITH_EPILOGUE): every kernel that stores C, with biases by row and by
   column, activations and a second matrix, against sums in double; on shapes off the tile, in
   batches, with long sums that are cut along k; and what is refused.

   The file includes itself once for each type. -DONLY_FLOAT, _DOUBLE, _INT, _HALF or _BFLOAT16
   compiles one: ./build.sh test takes one each day on the CPU runner. An argument kernels or others takes
   these products alone, a second one (s, d, i, w, h, hs or b) one type: racecheck takes half a minute for each. */
#ifndef T
#include <math.h>
#include <time.h>
#include "tap.h"
#if !defined(ONLY_FLOAT) && !defined(ONLY_DOUBLE) && !defined(ONLY_INT) && !defined(ONLY_HALF) && \
    !defined(ONLY_BFLOAT16)
#define ONLY_FLOAT
#define ONLY_DOUBLE
#define ONLY_INT
#define ONLY_HALF
#define ONLY_BFLOAT16
#endif
#ifdef ONLY_HALF
#define TMM_WITH_HALF
#endif
#ifdef ONLY_BFLOAT16
#define TMM_WITH_BFLOAT16
#endif
#define TMM_WITH_EPILOGUE
#define TMM_FLOAT_TENSOR  0
#define TMM_DOUBLE_TENSOR 0
#define TMM_NO_HOST
#define TMM_NO_READY_MADE
long long
    budget_wanted; /* of KERNEL TENSOR INT8; 0: as it is. Not static: not every type reads it */
int thin_wanted, cut_wanted = -1; /* TMM__PLAN_WHOLE and so on: how k is divided */
int instance_wanted = -1;         /* of elements of 16 bits, by wgmma from 8 on */
int plans_found;                  /* of those */
#define TMM__INT8_BUDGET(bytes)   (budget_wanted ? (size_t)budget_wanted : (bytes))
#define TMM__INT8_DEPTH(most)     (budget_wanted ? 64 : (long long)(most))
#define TMM__FLOAT_THIN(by_wgmma) (thin_wanted || (by_wgmma))
#define TMM__PLAN_GUESS(instance, cut, slices, time) \
    ((void)(slices), wanted(instance, cut) ? (time) : 1e30)
int wanted(int instance, int cut)
{
    const int found = (cut_wanted < 0 || cut == cut_wanted) &&
                      (instance_wanted < 0 || instance == instance_wanted);
    plans_found += found;
    return found;
}
const char *part_wanted = "", *type_wanted = "";
int in_part(const char *part, const char *type)
{
    return (part_wanted[0] == 0 || strcmp(part_wanted, part) == 0) &&
           (type_wanted[0] == 0 || strcmp(type_wanted, type) == 0);
}
#include "../tiledmm.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TMM(x)      JOIN(JOIN(tmm_, LETTER), x) /* the library's */
#define TEST(x)     JOIN(LETTER, x)
#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)

/* What a call asks for. */
typedef struct wish {
    int row_bias, col_bias;
    tmm_activation activation;
    double gamma, beta;
} wish;
static const wish wishes[] = {
    {1, 0, TMM_IDENTITY, 0, 0},      {0, 1, TMM_RELU, 0, -0.5}, {1, 1, TMM_GELU_TANH, 0.5, 0},
    {0, 1, TMM_GELU_ERF, 0, 2},      {0, 0, TMM_SILU, -1.5, 0}, {0, 0, TMM_IDENTITY, 2, 0.5},
    {1, 1, TMM_GELU_ERF, -2, -0.75}, {0, 0, TMM_RELU, 0, 0},    {0, 0, TMM_IDENTITY, 0, 0},
};
enum { WISHES = sizeof wishes / sizeof *wishes };
#ifdef FEWER /* sanitized, which takes several times as long */
enum { FEW = 1 };
#else
enum { FEW = 0 };
#endif

#ifdef __CUCC__
enum { BY_CPU = 1 };
#else
enum { BY_CPU = 0 };
#endif

typedef struct shape {
    long long M, N, K, batch;
    int ops, odd; /* odd: lines of C and D begin anywhere, else at 16 bytes */
} shape;

static double activated(tmm_activation activation, double x)
{
    switch (activation) {
    case TMM_RELU: return x < 0 ? 0 : x;
    case TMM_GELU_TANH:
        return x / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case TMM_GELU_ERF: return x / 2 * erfc(-x / sqrt(2.0));
    case TMM_SILU: return x / (1 + exp(-x));
    default: return x;
    }
}

#ifdef ONLY_FLOAT
#define TMM_NAME s
#include "../tiledmm.cuh"
#define T             float
#define OUT           float
#define SCALAR        float
#define SUM_UNIT      ldexp(1, -24)
#define OUT_UNIT      ldexp(1, -24)
#define LEAST         ldexp(1, -148)
#define TO_T          (float)
#define TO_OUT        (float)
#define TO_DOUBLE     (double)
#define OUT_VALUE     (double)
#define LETTER        s
#define LEAST_KERNELS 14
#define TEST_PARTS    1
#include "epilogue.cu"
#undef LETTER
#undef LEAST_KERNELS
#undef TEST_PARTS
#undef T
#undef OUT
#undef SCALAR
#undef SUM_UNIT
#undef OUT_UNIT
#undef LEAST
#undef TO_T
#undef TO_OUT
#undef TO_DOUBLE
#undef OUT_VALUE
#endif
#ifdef ONLY_DOUBLE
#define TMM_TYPE double
#define TMM_NAME d
#include "../tiledmm.cuh"
#define T             double
#define OUT           double
#define SCALAR        double
#define SUM_UNIT      ldexp(1, -53)
#define OUT_UNIT      ldexp(1, -53)
#define LEAST         ldexp(1, -1000)
#define TO_T          (double)
#define TO_OUT        (double)
#define TO_DOUBLE     (double)
#define OUT_VALUE     (double)
#define LETTER        d
#define LEAST_KERNELS 10
#define TEST_PARTS    1
#include "epilogue.cu"
#undef LETTER
#undef LEAST_KERNELS
#undef TEST_PARTS
#undef T
#undef OUT
#undef SCALAR
#undef SUM_UNIT
#undef OUT_UNIT
#undef LEAST
#undef TO_T
#undef TO_OUT
#undef TO_DOUBLE
#undef OUT_VALUE
#endif
#ifdef ONLY_INT /* with a TMM_EPILOGUE, which comes last */
#define TMM_TYPE                      int
#define TMM_SUM                       unsigned
#define TMM_NAME                      i
#define TMM_EPILOGUE(value, row, col) ((value) + 3 * (int)(row) - (int)(col))
#include "../tiledmm.cuh"
#define T         int
#define OUT       int
#define SCALAR    int
#define SUM_UNIT  0.0
#define OUT_UNIT  0.0
#define LEAST     0.5
#define TO_T(x)   ((int)((x)*9))
#define TO_OUT(x) ((int)((x)*90))
#define TO_DOUBLE (double)
#define OUT_VALUE (double)
#define INTEGERS
#define LETTER        i
#define LEAST_KERNELS 10
#include "epilogue.cu"
#undef LETTER
#undef T
#undef OUT
#undef SCALAR
#undef TO_T
#undef TO_OUT
#define TMM_TYPE                      short /* whose sums are wider, and unsigned */
#define TMM_SUM                       unsigned
#define TMM_NAME                      w
#define TMM_EPILOGUE(value, row, col) ((short)((value) + 3 * (int)(row) - (int)(col)))
#include "../tiledmm.cuh"
#define T         short
#define OUT       short
#define SCALAR    short
#define TO_T(x)   ((short)((x)*9))
#define TO_OUT(x) ((short)((x)*90))
#define LETTER    w
#include "epilogue.cu"
#undef LETTER
#undef LEAST_KERNELS
#undef TEST_PARTS
#undef T
#undef OUT
#undef SCALAR
#undef SUM_UNIT
#undef OUT_UNIT
#undef LEAST
#undef TO_T
#undef TO_OUT
#undef TO_DOUBLE
#undef OUT_VALUE
#undef INTEGERS
#endif
#define SCALAR        float
#define SUM_UNIT      ldexp(1, -24)
#define LEAST_KERNELS 10
#define TEST_BOXES
#ifdef ONLY_HALF
#define TMM_TYPE   tmm_half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   h
#include "../tiledmm.cuh"
#define TMM_TYPE   tmm_half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_OUT    float
#define TMM_NAME   hs
#include "../tiledmm.cuh"
#define T         tmm_half
#define TO_T(x)   __float2half((float)(x))
#define TO_DOUBLE (double)__half2float
#define OUT       tmm_half
#define OUT_UNIT  ldexp(1, -11)
#define LEAST     ldexp(1, -24)
#define TO_OUT(x) __float2half((float)(x))
#define OUT_VALUE (double)__half2float
#define LETTER    h
#include "epilogue.cu"
#undef LETTER
#undef OUT
#undef OUT_UNIT
#undef LEAST
#undef TO_OUT
#undef OUT_VALUE
#define OUT       float
#define OUT_UNIT  ldexp(1, -24)
#define LEAST     ldexp(1, -148)
#define TO_OUT    (float)
#define OUT_VALUE (double)
#define LETTER    hs
#include "epilogue.cu"
#undef LETTER
#undef T
#undef TO_T
#undef TO_DOUBLE
#undef OUT
#undef OUT_UNIT
#undef LEAST
#undef TO_OUT
#undef OUT_VALUE
#endif
#ifdef ONLY_BFLOAT16
#define TMM_TYPE   tmm_bfloat16
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   b
#include "../tiledmm.cuh"
#define T         tmm_bfloat16
#define TO_T(x)   __float2bfloat16((float)(x))
#define TO_DOUBLE (double)__bfloat162float
#define OUT       tmm_bfloat16
#define OUT_UNIT  ldexp(1, -8)
#define LEAST     ldexp(1, -130)
#define TO_OUT(x) __float2bfloat16((float)(x))
#define OUT_VALUE (double)__bfloat162float
#define LETTER    b
#include "epilogue.cu"
#undef LETTER
#undef T
#endif

int main(int count, char **words)
{
    if (count > 1) part_wanted = words[1];
    if (count > 2) type_wanted = words[2];
    tap_seed((unsigned long long)time(NULL));
#ifdef ONLY_FLOAT
    s_test_type();
#endif
#ifdef ONLY_DOUBLE
    d_test_type();
#endif
#ifdef ONLY_INT
    i_test_type(), w_test_type();
#endif
#ifdef ONLY_HALF
    h_test_type(), hs_test_type();
#endif
#ifdef ONLY_BFLOAT16
    b_test_type();
#endif
    return tap_done();
}

#else /* ---------------- for one type T, C of type OUT -------------------------------------------- */
/* Memory of the host and its copy on the device, filled with random numbers; `nan`: with NaN. */
typedef struct TEST(_matrix) {
    OUT *host, *device;
    long long count;
} TEST(_matrix);

static TEST(_matrix) TEST(_make)(long long count, int nan)
{
    TEST(_matrix) m = {(OUT *)malloc((size_t)count * sizeof(OUT)), NULL, count};
#ifdef INTEGERS
    for (long long n = 0; n < count; n++) m.host[n] = nan ? (OUT)123456789 : TO_OUT(tap_uniform());
#else
    for (long long n = 0; n < count; n++) m.host[n] = TO_OUT(nan ? (double)NAN : tap_uniform());
#endif
    if (cudaMalloc((void **)&m.device, (size_t)count * sizeof(OUT)) != cudaSuccess ||
        cudaMemcpy(m.device, m.host, (size_t)count * sizeof(OUT), cudaMemcpyHostToDevice) !=
            cudaSuccess)
        m.device = NULL;
    return m;
}

static void TEST(_free)(TEST(_matrix) * m)
{
    cudaFree(m->device);
    free(m->host);
}

/* Products of a shape with an epilogue. *worst: of the bound of the error, by the device, and by the
   CPU if it is one product. Returns what was written beside C. */
static int TEST(_products)(tmm_kernel kernel, const shape *q, const wish *w, double *worst,
                           tmm_status *status)
{
    const long long M = q->M, N = q->N, K = q->K, batch = q->batch, around = 32;
    const tmm_op opA = q->ops & 1 ? TMM_OP_T : TMM_OP_N, opB = q->ops & 2 ? TMM_OP_T : TMM_OP_N;
    const long long lda = opA == TMM_OP_T ? M
                          : K > 0         ? K
                                          : 1,
                    ldb = opB == TMM_OP_N ? N
                          : K > 0         ? K
                                          : 1;
    const long long ldc = q->odd ? N + 3 : (N + 15) / 8 * 8, ldd = q->odd ? N + 5 : ldc + 8;
    const long long strideC = M * ldc + (q->odd ? 1 : 0), strideD = M * ldd, of_rows = M + 2;
    const double u = SUM_UNIT;
    T *A = (T *)malloc(sizeof(T) * M * K * batch + 1), *B = (T *)malloc(sizeof(T) * K * N + 1);
    T *dA = NULL, *dB = NULL;
    TEST(_matrix) C = TEST(_make)(strideC * batch + 2 * around, w->beta == 0);
    TEST(_matrix) D = TEST(_make)(strideD * (batch - 1) + (M - 1) * ldd + N, w->gamma == 0);
    TEST(_matrix) rows = TEST(_make)(of_rows * (batch - 1) + M, 0), cols = TEST(_make)(N, 0);
    OUT *result = (OUT *)malloc(sizeof(OUT) * C.count),
        *by_cpu = (OUT *)malloc(sizeof(OUT) * C.count);
    tmm_epilogue e = {w->row_bias ? rows.device : NULL,
                      w->col_bias ? cols.device : NULL,
                      w->activation,
                      w->gamma,
                      D.device,
                      ldd,
                      of_rows,
                      0,
                      strideD};
    int beside = 0;
#ifdef INTEGERS
    const double scale = 2, beta = w->beta * 4;
    e.gamma *= 4;
    if (e.activation != TMM_IDENTITY) e.activation = TMM_RELU;
#else
    const double scale = 1.5, beta = w->beta;
#endif
    for (long long n = 0; n < M * K * batch; n++) A[n] = TO_T(tap_uniform());
    for (long long n = 0; n < K * N; n++) B[n] = TO_T(tap_uniform());
    memcpy(by_cpu, C.host, sizeof(OUT) * C.count);
    *worst = 0, *status = TMM_ERROR_MEMORY;
    if (C.device && D.device && rows.device && cols.device &&
        !cudaMalloc((void **)&dA, sizeof(T) * M * K * batch + 1) &&
        !cudaMalloc((void **)&dB, sizeof(T) * K * N + 1) &&
        !cudaMemcpy(dA, A, sizeof(T) * M * K * batch, cudaMemcpyHostToDevice) &&
        !cudaMemcpy(dB, B, sizeof(T) * K * N, cudaMemcpyHostToDevice))
        *status = TMM(gemm_batched_epilogue)(kernel, opA, opB, M, N, K, (SCALAR)scale, dA, lda, dB,
                                             ldb, (SCALAR)beta, C.device + around, ldc, M * K, 0,
                                             strideC, batch, &e, 0);
    if (*status == TMM_OK &&
        cudaMemcpy(result, C.device, sizeof(OUT) * C.count, cudaMemcpyDeviceToHost) != cudaSuccess)
        *status = TMM_ERROR_CUDA;
    if (*status == TMM_OK && batch == 1) {
        tmm_epilogue on_host = e;
        on_host.row_bias = e.row_bias ? rows.host : NULL;
        on_host.col_bias = e.col_bias ? cols.host : NULL;
        on_host.D = D.host;
        *status = TMM(gemm_cpu_epilogue)(opA, opB, M, N, K, (SCALAR)scale, A, lda, B, ldb,
                                         (SCALAR)beta, by_cpu + around, ldc, &on_host);
    }
    for (long long n = 0; *status == TMM_OK && n < C.count; n++) {
        const long long at = n - around, b = at / strideC, row = at < 0 ? -1 : at % strideC / ldc;
        const long long col = at % strideC % ldc;
        const double got = OUT_VALUE(result[n]), before = OUT_VALUE(C.host[n]);
        if (row < 0 || row >= M || b >= batch || col >= N) {
            beside += memcmp(&result[n], &C.host[n], sizeof(OUT)) != 0;
            continue;
        }
        double sum = 0, size = 0;
        for (long long k = 0; k < K; k++) {
            const T *a = A + b * M * K;
            const double x = TO_DOUBLE(a[opA == TMM_OP_N ? row * lda + k : k * lda + row]);
            const double y = TO_DOUBLE(B[opB == TMM_OP_N ? k * ldb + col : col * ldb + k]);
            sum += x * y, size += fabs(x * y);
        }
        sum *= scale, size *= scale;
        if (beta != 0) sum += beta * before, size += fabs(beta * before);
        if (e.row_bias) {
            const double bias = OUT_VALUE(rows.host[b * of_rows + row]);
            sum += bias, size += fabs(bias);
        }
        if (e.col_bias) sum += OUT_VALUE(cols.host[col]), size += fabs(OUT_VALUE(cols.host[col]));
        /* The activation passes on errors of its argument, 1.13 times at most, and has its own. */
        double expected = activated(e.activation, sum), bound = 1.13 * (double)(K + 6) * u * size;
        if (e.activation > TMM_RELU) bound += 8.01 * u * fabs(sum);
        if (e.gamma != 0) {
            const double more = e.gamma * OUT_VALUE(D.host[b * strideD + row * ldd + col]);
            bound += 2 * u * (fabs(expected) + fabs(more));
            expected += more;
        }
        bound += 1.01 * OUT_UNIT * (fabs(expected) + bound) + LEAST;
        const double of_cpu = batch == 1 ? fabs(OUT_VALUE(by_cpu[n]) - expected) : 0;
#ifdef INTEGERS
        expected += 3 * (double)row - (double)col;
#endif
        const double error = fmax(fabs(got - expected), of_cpu) / bound;
        if (!(fabs(got - expected) == fabs(got - expected)) || of_cpu != of_cpu ||
            !(error <= *worst))
            *worst = got == got && of_cpu == of_cpu ? error : HUGE_VAL;
    }
    cudaFree(dA), cudaFree(dB);
    TEST(_free)(&C), TEST(_free)(&D), TEST(_free)(&rows), TEST(_free)(&cols);
    free(A), free(B), free(result), free(by_cpu);
    return beside;
}

/* Every kernel of the type. */
static void TEST(_kernels)(void)
{
    int taken = 0;
    for (int n = 0; n < TMM_KERNEL_COUNT; n++) {
        const tmm_kernel kernel = (tmm_kernel)n;
        const int narrow = kernel == TMM_NARROW, skinny = kernel == TMM_SKINNY;
        const int simple = n > TMM_AUTO && n < TMM_PIPELINED;
        const long long deep = FEW && simple ? 40 : FEW || narrow ? 400 : 1500;
        const shape shapes[] = {
            {skinny   ? 9
             : narrow ? 20
                      : 37,
             narrow ? 260 : 45, FEW ? 22 : 70, 1, 0, 1},
            {skinny ? 16 : 64, narrow ? 256 : 72, 20, 1, 1, 0},
            {skinny ? 7 : 21, 26, FEW ? 19 : 67, 3, 2, 1},
            {skinny ? 3 : 18, narrow ? 258 : 23, deep, 1, 3, 1},
        };
        double most = 0;
        int beside = 0, done = 0;
        tmm_status status = TMM_OK;
        for (int w = 0; w < WISHES && status == TMM_OK; w++)
            for (int q = 0; q < 4 && status == TMM_OK; q++) {
                /* All wishes for the first shape; some for the others. */
                if ((q > 0 || FEW) && (w + q + n) % (FEW ? 9 : 3) != 0) continue;
                double worst;
                beside += TEST(_products)(kernel, &shapes[q], &wishes[w], &worst, &status);
                if (!(worst <= most)) most = worst;
                done += status == TMM_OK;
            }
        if (status == TMM_ERROR_UNSUPPORTED && done == 0) continue;
        taken++;
        tap_ok(status == TMM_OK && most <= 1 && beside == 0,
               "tmm_%sgemm, kernel %s: %d epilogues (%.2g of the bound, %d beside C)", TEXT(LETTER),
               tmm_kernel_string(kernel), done, most, beside);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
    }
    tap_ok(taken >= LEAST_KERNELS, "tmm_%sgemm: %d kernels", TEXT(LETTER), taken);
}

/* Products of 0 x 0 x 0 to 40 x 40 x 40 by TMM_AUTO; double by bytes in parts, float by THIN. */
static void TEST(_random)(void)
{
    double most = 0, worst;
    int beside = 0, done = 0;
    tmm_status status = TMM_OK;
    for (int n = 0; n < 40 && status == TMM_OK; n++, done++) {
        const shape q = {1 + (long long)(tap_bits() % 40),
                         1 + (long long)(tap_bits() % 40),
                         n % 5 == 0 ? 0 : (long long)(tap_bits() % 40),
                         1 + n % 2 * n % 3,
                         n % 4,
                         n % 3 != 0};
        beside += TEST(_products)(n % 3 ? TMM_AUTO : TMM_AUTO_TENSOR, &q, &wishes[n % WISHES],
                                  &worst, &status);
        if (!(worst <= most)) most = worst;
    }
    tap_ok(status == TMM_OK && most <= 1 && beside == 0,
           "tmm_%sgemm: %d random ones, of some K is 0 (%.2g of the bound)", TEXT(LETTER), done,
           most);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
#if TEST_PARTS
    const shape parts = {520, 390, 140, 1, 0, 1}, thin = {5, 140, 130, 2, 2, 1};
    const int by_thin = sizeof(T) == 4;
    budget_wanted = 1, thin_wanted = 1;
    for (int n = 0; n < (FEW ? 1 : 2) && status == TMM_OK; n++) {
        beside += TEST(_products)(by_thin ? TMM_TENSOR : TMM_TENSOR_INT8, by_thin ? &thin : &parts,
                                  &wishes[6 - 2 * n], &worst, &status);
        if (!(worst <= most)) most = worst;
    }
    budget_wanted = 0, thin_wanted = 0;
    /* Slices that a block adds, KERNEL REDUCE, clusters, a last round of tiles, even shares. */
    for (int cut = TMM__PLAN_SLICES; cut <= TMM__PLAN_EVEN && status == TMM_OK; cut++) {
        const int few_tiles = cut <= TMM__PLAN_CLUSTERS;
        const shape cuts = {
            few_tiles ? 60 : 150, few_tiles ? 30 : 135, few_tiles ? 600 : 290, 1, cut % 4, cut % 2};
        cut_wanted = cut;
        beside += TEST(_products)(by_thin ? TMM_PIPELINED : TMM_TENSOR, &cuts, &wishes[6], &worst,
                                  &status);
        if (!(worst <= most)) most = worst;
    }
    cut_wanted = -1;
    tap_ok(status == TMM_OK && most <= 1 && beside == 0,
           "tmm_%sgemm: k in parts; %s (%.2g of the bound)", TEXT(LETTER),
           by_thin ? "narrow ones on tensor cores" : "parts of M, N and K by bytes", most);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
#endif
}

#ifdef TEST_BOXES
/* Tiles of wgmma, where there are: what is stored by TMA, at the edges of C and within; batches, of which
   D or biases are not aligned. Then each product must find its tile; lines of batches are not copied, so A
   and B are aligned. */
static void TEST(_boxes)(void)
{
    const shape shapes[] = {{140, 264, 72, 2, 0, 0},
                            {258, 400, 24, 1, 2, 0},
                            {130, 200, 64, 1, 3, 1}};
    enum { TILES = 6 };
    /* Of 128 x 256, 128, 192, 224 and 160, and 128 x 128 by clusters that share A, too. */
    static const int tiles[TILES] = {8, 9, 10, 15, 16, 22};
    double most = 0, worst;
    int beside = 0, done = 0, found = 0;
    bool by_wgmma = false;
    tmm_status status = TMM_OK;
#ifndef TMM_SIMPLE
    TMM(gemm__product) p = TMM(gemm__make_product)(TMM_OP_N, TMM_OP_N, 256, 256, 256, 256, 256);
    p.allowed = TMM__ALL_OF_BATCH;
    by_wgmma = TMM(gemm__half_by_wgmma)(&p) && tmm__current_device()->pools;
#endif
    for (int n = 0; n < TILES * 3 * WISHES && status == TMM_OK; n++) {
        if ((BY_CPU || FEW) && n % 7 != 0) continue;
        instance_wanted = tiles[n % TILES], plans_found = 0;
        beside += TEST(_products)(TMM_TENSOR, &shapes[n / TILES % 3], &wishes[n / (TILES * 3)],
                                  &worst, &status);
        if (!(worst <= most)) most = worst;
        done += status == TMM_OK, found += plans_found > 0;
    }
    /* Parts of k that a cluster adds: one block stores rows for others. */
    const shape deep = {258, 200, 520, 1, 1, 1};
    for (int n = 0; n < TILES * WISHES && status == TMM_OK; n++) {
        if ((BY_CPU || FEW) && n % 7 != 0) continue;
        instance_wanted = tiles[n % TILES], cut_wanted = TMM__PLAN_CLUSTERS, plans_found = 0;
        beside += TEST(_products)(TMM_TENSOR, &deep, &wishes[n / TILES], &worst, &status);
        if (!(worst <= most)) most = worst;
        done += status == TMM_OK, found += plans_found > 0;
    }
    cut_wanted = -1;
    /* 192 x 192, for C of 16 bits and a product without an epilogue; its plan is remembered, but not for one
       with a bias. */
    const shape again = {400, 200, 64, 1, 0, 0};
    for (int n = sizeof(OUT) == 2 ? 0 : 1; n < 2 && status == TMM_OK; n++) {
        instance_wanted = n == 0 ? 20 : -1, plans_found = 0;
        beside +=
            TEST(_products)(TMM_TENSOR, &again, &wishes[n == 0 ? WISHES - 1 : 0], &worst, &status);
        if (!(worst <= most)) most = worst;
        done += status == TMM_OK, found += plans_found > 0;
    }
    instance_wanted = -1;
    tap_ok(status == TMM_OK && most <= 1 && beside == 0 && (found == done || !by_wgmma),
           "tmm_%sgemm: %d products, %d tiles by wgmma (%.2g of the bound, %d beside C)",
           TEXT(LETTER), done, found, most, beside);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
}
#endif

/* C = activation(C) alone, of many numbers: K is 0 and beta is 1. */
static void TEST(_activations)(void)
{
#ifndef INTEGERS
    enum { COUNT = 3000 };
    static const char *const names[] = {"none", "ReLU", "GELU by tanh", "GELU by erf", "SiLU"};
    OUT *x = (OUT *)malloc(COUNT * sizeof(OUT)), *y = (OUT *)malloc(COUNT * sizeof(OUT)), *d = NULL;
    for (int n = 0; n < COUNT; n++)
        x[n] = TO_OUT(n < 2600 ? -13 + n * 0.01 : ldexp(n % 2 ? -1.1 : 1.3, (n - 2800) / 17));
    x[COUNT - 3] = TO_OUT((double)NAN), x[COUNT - 2] = TO_OUT((double)INFINITY);
    x[COUNT - 1] = TO_OUT(-(double)INFINITY);
    if (cudaMalloc((void **)&d, COUNT * sizeof(OUT)) != cudaSuccess) d = NULL;
    for (int n = TMM_RELU; n <= TMM_SILU; n++) {
        const tmm_epilogue e = {NULL, NULL, (tmm_activation)n, 0, NULL, 0, 0, 0, 0};
        double worst = 0, where = 0;
        tmm_status status = TMM_ERROR_MEMORY;
        if (d != NULL && !cudaMemcpy(d, x, COUNT * sizeof(OUT), cudaMemcpyHostToDevice))
            status = TMM(gemm_epilogue)(TMM_GLOBAL, TMM_OP_N, TMM_OP_N, 1, COUNT, 0, (SCALAR)1,
                                        (const T *)NULL, 1, (const T *)NULL, COUNT, (SCALAR)1, d,
                                        COUNT, &e, 0);
        if (status == TMM_OK && cudaMemcpy(y, d, COUNT * sizeof(OUT), cudaMemcpyDeviceToHost))
            status = TMM_ERROR_CUDA;
        for (int k = 0; status == TMM_OK && k < COUNT - 3; k++) {
            const double from = OUT_VALUE(x[k]), right = activated((tmm_activation)n, from);
            const double rounding = OUT_UNIT > SUM_UNIT ? OUT_UNIT * fabs(right) + LEAST : 0;
            const double error = (fabs(OUT_VALUE(y[k]) - right) - rounding) /
                                 (SUM_UNIT * fabs(from) + ldexp(1, -140));
            if (!(error <= worst)) worst = error, where = from;
        }
        const double of_nan = OUT_VALUE(y[COUNT - 3]), of_infinity = OUT_VALUE(y[COUNT - 2]);
        const double of_minus = OUT_VALUE(y[COUNT - 1]);
        tap_ok(status == TMM_OK && worst <= 8 && of_nan != of_nan && of_infinity == HUGE_VAL &&
                   (n == TMM_RELU ? of_minus == 0 : of_minus != of_minus),
               "tmm_%sgemm, %s: within %.2g units of |x|, at %g; NaN stays", TEXT(LETTER), names[n],
               worst, where);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
    }
    cudaFree(d);
    free(x), free(y);
#endif
}

/* One call on 3 x 5 x 2, at memory where C has its 15 elements from number 20 of 60 on. */
static tmm_status TEST(_call)(OUT *memory, T *AB, const tmm_epilogue *e, long long batch)
{
    return TMM(gemm_batched_epilogue)(TMM_AUTO, TMM_OP_N, TMM_OP_N, 3, 5, 2, (SCALAR)1, AB, 2, AB,
                                      5, (SCALAR)0, memory + 20, 5, 0, 0, 15, batch, e, 0);
}

static void TEST(_refuses)(OUT *memory, T *AB, tmm_epilogue e, long long batch, tmm_status expected,
                           const char *word)
{
    OUT before[60], after[60];
    const int copied = !cudaMemcpy(before, memory, sizeof before, cudaMemcpyDeviceToHost);
    const tmm_status status = TEST(_call)(memory, AB, &e, batch);
    const int same = copied && !cudaMemcpy(after, memory, sizeof after, cudaMemcpyDeviceToHost) &&
                     memcmp(before, after, sizeof before) == 0;
    tap_ok(status == expected && same && strstr(tmm_last_error(), word) != NULL,
           "tmm_%sgemm_epilogue refuses: %s", TEXT(LETTER), tmm_last_error());
}

static void TEST(_rules)(void)
{
    OUT *memory = NULL, host[60];
    T *AB = NULL;
    const tmm_epilogue none = {NULL, NULL, TMM_IDENTITY, 0, NULL, 0, 0, 0, 0};
    tmm_epilogue e = none;
    int right;
    for (int n = 0; n < 60; n++) host[n] = TO_OUT(0.25);
    if (cudaMalloc((void **)&memory, sizeof host) != cudaSuccess ||
        cudaMalloc((void **)&AB, 16 * sizeof(T)) != cudaSuccess ||
        cudaMemset(AB, 0, 16 * sizeof(T)) != cudaSuccess ||
        cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess) {
        tap_ok(0, "memory");
        return;
    }
    e.activation = (tmm_activation)9;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "activation is 9");
    e = none, e.gamma = 1, e.ldd = 5;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "D is NULL");
    e.D = memory, e.ldd = 4;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "ldd is 4");
    e.ldd = LLONG_MAX; /* its bytes are not even computed */
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "exceeds 64-bit addresses");
    e.D = memory + 20, e.ldd = 5;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "C overlaps D");
    e.D = memory + 6;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "C overlaps D");
    e = none, e.row_bias = (const char *)memory + 1;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "row_bias is not aligned");
    e = none, e.col_bias = (const char *)(memory + 50) + sizeof(OUT) / 2;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "col_bias is not aligned");
    e = none, e.row_bias = memory + 18;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "C overlaps row_bias");
    e = none, e.col_bias = memory + 34;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "C overlaps col_bias");
    e.col_bias = memory + 40; /* in the second C */
    TEST(_refuses)(memory, AB, e, 2, TMM_ERROR_ARGUMENT, "C overlaps col_bias");
    e.col_bias = memory, e.col_bias_stride = 16; /* that of the second product */
    TEST(_refuses)(memory, AB, e, 2, TMM_ERROR_ARGUMENT, "C overlaps col_bias");
    e.col_bias_stride = -1;
    TEST(_refuses)(memory, AB, e, 2, TMM_ERROR_ARGUMENT, "stride of col_bias is negative");
#ifdef INTEGERS
    e = none, e.activation = TMM_SILU;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_UNSUPPORTED, "TMM_SILU");
    e.activation = TMM_GELU_ERF;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_UNSUPPORTED, "GELU");
    e = none, e.gamma = 0.5, e.D = memory, e.ldd = 5;
    TEST(_refuses)(memory, AB, e, 1, TMM_ERROR_ARGUMENT, "gamma is 0.5");
#endif
    /* Right beside C, and shared by a batch. */
    e = none, e.row_bias = memory + 17, e.col_bias = memory + 50;
    right = TEST(_call)(memory, AB, &e, 2) == TMM_OK && TEST(_call)(memory, AB, NULL, 1) == TMM_OK;
    tap_ok(right, "tmm_%sgemm_epilogue: biases beside C, and no epilogue", TEXT(LETTER));
    if (!right) tap_note("%s", tmm_last_error());
#ifndef INTEGERS
    /* A NaN of a bias reaches its row; where gamma is 0, D is not read. */
    host[18] = TO_OUT((double)NAN);
    e = none, e.row_bias = memory + 17, e.activation = TMM_RELU, e.D = (const void *)16;
    right = !cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice) &&
            TEST(_call)(memory, AB, &e, 1) == TMM_OK &&
            !cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
    for (int n = 0; n < 15; n++) {
        const double got = OUT_VALUE(host[20 + n]);
        right &= n / 5 == 1 ? got != got : got == 0.25;
    }
    tap_ok(right, "tmm_%sgemm_epilogue: a NaN of row_bias in its row alone", TEXT(LETTER));
#endif
    cudaFree(memory), cudaFree(AB);
}

static void TEST(_test_type)(void)
{
    if (in_part("kernels", TEXT(LETTER))) TEST(_kernels)();
    if (!in_part("others", TEXT(LETTER))) return;
    TEST(_random)();
#ifdef TEST_BOXES
    TEST(_boxes)();
#endif
    TEST(_activations)();
    TEST(_rules)();
}
#endif
