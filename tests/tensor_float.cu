/* TMM_TENSOR for float: shapes, instances, tails, what is computed again, the promised error
   against float64 on random data, memory of the caller, prepared operands. With the argument "few":
   four small products for each instance of the kernels, for tools that make a program very slow;
   with "thin" the kernel for thin operands alone.
   -DFEWER, for sanitizers: fewer tiles where elements are computed again, and of thin operands. */
static int instance_wanted = -1, instruction_wanted = -1;
#define TMM__FLOAT_GUESS(instance, time) \
    (instance_wanted >= 0 && (instance) != instance_wanted ? 1e30 : (time))
#ifdef __CUCC__ /* there, also the kernel for mma.sync, whose instructions have a twin */
#define TWIN 1
#else
#define TWIN 0
#endif
#define TMM__FLOAT_INSTRUCTION(instruction) \
    (TWIN && instruction_wanted >= 0 ? instruction_wanted : (instruction))
static int thin_wanted = 0; /* -1: no kernel for thin operands; 1: its twin competes */
#define TMM__FLOAT_THIN(by_tensor_cores) \
    (thin_wanted < 0 ? 0 : TWIN ? thin_wanted : (by_tensor_cores))
static int blocks_wanted = 0; /* multiprocessors that it shares the work among */
#define TMM__BUSY(processors) (blocks_wanted ? blocks_wanted : (processors))
static int parts_wanted = 0; /* of the k of each tile */
#define TMM__PLAN_GUESS(instance, cut, slices, time) \
    (parts_wanted && (slices) != parts_wanted ? 1e30 : (time))
static double l2_wanted = 6e7; /* with a small one blocks keep pace in small products, too */
#define TMM__FLOAT_L2_BYTES l2_wanted
static int bf16x6_wanted = 1; /* 0: doubtful elements go by FP32, in large tiles, too */
#define TMM__FLOAT_BF16X6(allowed) (bf16x6_wanted && (allowed))
#define TMM_FLOAT_TENSOR           0
#define TMM_NO_READY_MADE
#include "tap.h"
#include "../tiledmm.cuh"
#define TMM_TYPE float
#define TMM_NAME s
#include "../tiledmm.cuh"
#define TMM_TYPE                      float
#define TMM_NAME                      e
#define TMM_EPILOGUE(value, row, col) ((value) + 2 * (float)(row) - (float)(col))
#include "../tiledmm.cuh"

enum kind {
    UNIFORM,
    POSITIVE,
    SOME_WIDE,
    ALL_WIDE,
    WITH_NAN,
    WITH_INF,
    TINY,
    HUGE_ROWS,
    DENORMAL,
    ZERO_LINES,
    SPIKES,
    INTEGERS,
    BOTH_WIDE,
    SOME_CERTAIN,
    NONE_CERTAIN,
    MOST_CERTAIN,
    INEXACT,
    FAINT,
    KINDS
};
static const char *const kind_names[KINDS] = {"uniform",
                                              "positive",
                                              "a few wide lines",
                                              "wide",
                                              "NaN",
                                              "infinity",
                                              "tiny",
                                              "huge and tiny rows",
                                              "denormal",
                                              "lines of zeros",
                                              "spikes",
                                              "integers",
                                              "both wide",
                                              "wide, some sums large",
                                              "wide, all sums small",
                                              "wide, few sums small",
                                              "wide, all sums small, some below 2^-110",
                                              "wide, sums denormal"};

typedef struct product {
    long long M, N, K, lda, ldb, ldc, rows_a, rows_b;
    tmm_op opA, opB;
    float alpha, beta;
    float *A, *B, *C, *dA, *dB, *dC;
} product;

enum { GUARD = 64 }; /* elements in front of and behind C */
static const unsigned poison = 0x7fc0dead;

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("Bail out! %s\n", cudaGetErrorString(error));
    exit(1);
}

static float element(int kind, int is_B, long long line, long long k)
{
    double u = tap_uniform();
    int both = kind == POSITIVE || kind == INTEGERS || kind == DENORMAL || kind == TINY ||
               kind == BOTH_WIDE || kind >= SOME_CERTAIN;
    switch (is_B && !both ? UNIFORM : kind) {
    case POSITIVE: return (float)(u + 1);
    case SOME_WIDE: return (float)(line % 37 == 5 ? u * exp(40 * tap_uniform()) : u);
    case ALL_WIDE: return (float)(u * exp(40 * tap_uniform()));
    case WITH_NAN: return line % 50 == 7 && k % 97 == 3 ? NAN : (float)u;
    case WITH_INF: return line % 50 == 7 && k % 97 == 3 ? (k % 2 ? INFINITY : -INFINITY) : (float)u;
    case TINY: return (float)(u * 1e-20);
    case HUGE_ROWS: return (float)(u * (line % 3 == 0 ? 1e35 : line % 3 == 1 ? 1e-35 : 1));
    case DENORMAL: return (float)(u * (is_B ? 1 : 1e-40));
    case ZERO_LINES: return line % 4 == 1 ? 0.0f : (float)u;
    case SPIKES: return (float)(u * (tap_bits() % 61 == 0 ? 1000 : 1e-4));
    case INTEGERS: return (float)(int)(u * 200);
    case BOTH_WIDE: return (float)(u * exp(20 * tap_uniform()));
    case SOME_CERTAIN: /* the large elements of a row of A meet zeros in two of three columns of B */
    case NONE_CERTAIN:
    case MOST_CERTAIN:
    case INEXACT:
        if (kind == INEXACT && k % 64 == 33) return (float)(u * 1e-34);
        if (kind == MOST_CERTAIN && line % (is_B ? 40 : 16) != 3) return (float)u;
        if (is_B) return k % 32 == 0 && (kind != SOME_CERTAIN || line % 3) ? 0.0f : (float)u;
        return (float)(k % 32 == 0 ? u + 2 : kind != SOME_CERTAIN || line % 5 ? u * 1e-14 : u);
    case FAINT: /* large elements of both meet zeros of the other */
        if (k % 32 < 2) return (float)(k % 32 == is_B ? u + 2 : 0);
        return (float)(u * 1e-19);
    }
    return (float)u;
}

static void make(product *p, long long M, long long N, long long K, int ops, int pad, int kind)
{
    memset(p, 0, sizeof *p);
    p->M = M, p->N = N, p->K = K, p->alpha = 1;
    p->opA = ops & 1 ? TMM_OP_T : TMM_OP_N, p->opB = ops & 2 ? TMM_OP_T : TMM_OP_N;
    p->rows_a = ops & 1 ? K : M, p->rows_b = ops & 2 ? N : K;
    p->lda = (ops & 1 ? M : K) + pad, p->ldb = (ops & 2 ? K : N) + 2 * pad, p->ldc = N + pad;
    size_t a = (size_t)(p->rows_a * p->lda), b = (size_t)(p->rows_b * p->ldb);
    size_t c = (size_t)(M * p->ldc + 2 * GUARD);
    p->A = (float *)malloc(a * 4), p->B = (float *)malloc(b * 4), p->C = (float *)malloc(c * 4);
    for (size_t i = 0; i < a; i++) {
        long long row = (long long)i / p->lda, col = (long long)i % p->lda;
        p->A[i] = element(kind, 0, ops & 1 ? col : row, ops & 1 ? row : col);
    }
    for (size_t i = 0; i < b; i++) {
        long long row = (long long)i / p->ldb, col = (long long)i % p->ldb;
        p->B[i] = element(kind, 1, ops & 2 ? row : col, ops & 2 ? col : row);
    }
    for (size_t i = 0; i < c; i++) memcpy(&p->C[i], &poison, 4);
    check(cudaMalloc(&p->dA, a * 4));
    check(cudaMalloc(&p->dB, b * 4));
    check(cudaMalloc(&p->dC, c * 4));
    check(cudaMemcpy(p->dA, p->A, a * 4, cudaMemcpyHostToDevice));
    check(cudaMemcpy(p->dB, p->B, b * 4, cudaMemcpyHostToDevice));
}

static void drop(product *p)
{
    free(p->A), free(p->B), free(p->C);
    cudaFree(p->dA), cudaFree(p->dB), cudaFree(p->dC);
}

/* C as it is before, and after it on the host. */
static void reset(const product *p, const float *C)
{
    check(cudaMemcpy(p->dC, C, (size_t)(p->M * p->ldc + 2 * GUARD) * 4, cudaMemcpyHostToDevice));
}

static void fetch(const product *p, float *C)
{
    check(cudaMemcpy(C, p->dC, (size_t)(p->M * p->ldc + 2 * GUARD) * 4, cudaMemcpyDeviceToHost));
}

static float *run(const product *p, tmm_kernel kernel)
{
    float *C = (float *)malloc((size_t)(p->M * p->ldc + 2 * GUARD) * 4);
    reset(p, p->C);
    tmm_status status = tmm_sgemm_with(kernel, p->opA, p->opB, p->M, p->N, p->K, p->alpha, p->dA,
                                       p->lda, p->dB, p->ldb, p->beta, p->dC + GUARD, p->ldc, 0);
    if (status != TMM_OK) tap_note("%s: %s", tmm_status_string(status), tmm_last_error());
    fetch(p, C);
    return C;
}

static int same(const product *p, const float *X, const float *Y)
{
    return memcmp(X, Y, (size_t)(p->M * p->ldc + 2 * GUARD) * 4) == 0;
}

/* Elements that break the promise: |C - Cref| <= (K + 2) u |alpha| |A||B|, and some for beta and
   what is denormal; NaN and infinity as TMM_GLOBAL has them; nothing written outside. */
static long long broken(const product *p, const float *C, double *worst)
{
    const double u = 1.0 / 16777216;
    long long bad = 0;
    float *strict = NULL;
    for (int i = 0; i < GUARD; i++) {
        bad += memcmp(&C[i], &poison, 4) != 0;
        bad += memcmp(&C[GUARD + p->M * p->ldc + i], &poison, 4) != 0;
    }
    for (long long i = 0; i < p->M; i++)
        for (long long j = 0; j < p->ldc; j++) {
            float was = p->C[GUARD + i * p->ldc + j], is = C[GUARD + i * p->ldc + j];
            if (j >= p->N) {
                bad += memcmp(&was, &is, 4) != 0;
                continue;
            }
            double sum = 0, size = 0;
            for (long long k = 0; k < p->K; k++) {
                float a = p->opA == TMM_OP_N ? p->A[i * p->lda + k] : p->A[k * p->lda + i];
                float b = p->opB == TMM_OP_N ? p->B[k * p->ldb + j] : p->B[j * p->ldb + k];
                sum += (double)a * b;
                size += fabs((double)a * b);
            }
            sum *= p->alpha, size *= fabs(p->alpha);
            double old = p->beta == 0 ? 0 : (double)p->beta * was;
            if (!(size < 1e37)) {
                if (strict == NULL) strict = run(p, TMM_GLOBAL);
                float as = strict[GUARD + i * p->ldc + j];
                bad += !(is == as || (is != is && as != as) || (isfinite(as) && isfinite(is)));
                continue;
            }
            double error = fabs((double)is - (sum + old)), extra = 2 * (fabs(old) + size) * u;
            extra = (p->alpha == 1 && p->beta == 0 ? 0 : extra) + (double)p->K * ldexp(1, -149);
            if (!(error <= (double)(p->K + 2) * u * size + extra)) bad++;
            if (size > 1e-30 && error / size / u > *worst) *worst = error / size / u;
        }
    free(strict);
    return bad;
}

static void promise(long long M, long long N, long long K, int ops, int pad, int kind, float alpha,
                    float beta, const char *what)
{
    product p;
    double worst = 0;
    make(&p, M, N, K, ops, pad, kind);
    p.alpha = alpha, p.beta = beta;
    if (beta != 0)
        for (long long i = 0; i < M; i++)
            for (long long j = 0; j < N; j++) p.C[GUARD + i * p.ldc + j] = (float)tap_uniform();
    float *C = run(&p, TMM_TENSOR);
    long long bad = broken(&p, C, &worst);
    int exact = kind != INTEGERS || worst == 0;
    tap_ok(bad == 0 && exact, "%lld x %lld x %lld, %c%c, %s%s: worst error %.1f u of %lld u", M, N,
           K, ops & 1 ? 'T' : 'N', ops & 2 ? 'T' : 'N', kind_names[kind], what, worst, K + 2);
    if (bad) tap_note("%lld elements are wrong", bad);
    free(C);
    drop(&p);
}

static void batches(int kind)
{
    enum { COUNT = 5 };
    product p;
    make(&p, 70, 90, 130, 0, 2, kind);
    size_t c = (size_t)(p.M * p.ldc);
    float *dC, *dA, *C = (float *)malloc(COUNT * c * 4);
    check(cudaMalloc(&dA, COUNT * (size_t)(p.M * p.lda) * 4));
    check(cudaMalloc(&dC, COUNT * c * 4));
    for (int b = 0; b < COUNT; b++)
        check(cudaMemcpy(dA + b * p.M * p.lda, p.A, (size_t)(p.M * p.lda) * 4,
                         cudaMemcpyHostToDevice));
    for (int shared = 0; shared < 2; shared++) {
        check(cudaMemset(dC, 0xff, COUNT * c * 4));
        tmm_status status =
            tmm_sgemm_batched_with(TMM_TENSOR, p.opA, p.opB, p.M, p.N, p.K, 1, dA, p.lda, p.dB,
                                   p.ldb, 0, dC, p.ldc, shared ? 0 : p.M * p.lda, 0, (long long)c,
                                   COUNT, 0);
        check(cudaMemcpy(C, dC, COUNT * c * 4, cudaMemcpyDeviceToHost));
        int equal = 1;
        for (int b = 1; b < COUNT; b++) equal &= memcmp(C, C + b * c, c * 4) == 0;
        float *whole = (float *)malloc((c + 2 * GUARD) * 4);
        for (size_t i = 0; i < c + 2 * GUARD; i++) memcpy(&whole[i], &poison, 4);
        for (long long i = 0; i < p.M; i++)
            memcpy(whole + GUARD + i * p.ldc, C + i * p.ldc, (size_t)p.N * 4);
        double worst = 0;
        tap_ok(status == TMM_OK && equal && broken(&p, whole, &worst) == 0,
               "a batch%s, %s: right, and the same bits at every position",
               shared ? " that shares A" : "", kind_names[kind]);
        free(whole);
    }
    free(C);
    cudaFree(dA), cudaFree(dC);
    drop(&p);
}

/* Where all is computed again by FP32, in large tiles and small ones: the bits of TMM_GLOBAL. Not
   where elements are large enough to prove that the bound holds. Nor, with large tiles (-1: not
   known), by six products of BF16 pieces. The bound holds anyway. */
static void left_over(int large, const char *name)
{
    static const int kinds[] = {TINY, NONE_CERTAIN, ALL_WIDE, INEXACT};
    static const int cases[][5] = {{200, 150, 130, 0, 1},
                                   {129, 300, 66, 3, 2},
                                   {64, 190, 95, 1, 0},
                                   {130, 63, 64, 2, 3},
                                   {5, 19, 70, 0, 1}};
#ifdef FEWER
    const int first = 2; /* of 15 tiles of 128 x 128 the last 5 */
#else
    const int first = 0;
#endif
    for (int n = 0; n < 5; n++) {
        int kind = n < 4 ? kinds[n] : NONE_CERTAIN, right = 1, all = kind != ALL_WIDE;
        double worst = 0;
        bf16x6_wanted = n > 2;
        for (int i = first; i < (int)(sizeof cases / sizeof *cases); i++) {
            const int *c = cases[i];
            product p;
            make(&p, c[0], c[1], c[2], c[3], c[4], kind);
            p.alpha = -2, p.beta = kind == TINY ? 0 : 0.5f;
            double size =
                kind == ALL_WIDE ? 1 : 1e-14; /* as small as the products, so as not to hide them */
            for (long long j = 0; j < p.M * p.ldc; j++)
                p.C[GUARD + j] = (float)(tap_uniform() * size);
            float *C = run(&p, TMM_TENSOR), *one_by_one = run(&p, TMM_GLOBAL);
            if (n == 4) all = large < 0 ? same(&p, C, one_by_one) : !large;
            long long bad = broken(&p, C, &worst);
            if (bad || same(&p, C, one_by_one) != all)
                tap_note("%d x %d x %d: %lld elements are wrong, %s bits of TMM_GLOBAL", c[0], c[1],
                         c[2], bad, all ? "not the" : "the");
            right &= same(&p, C, one_by_one) == all && bad == 0;
            free(C), free(one_by_one);
            drop(&p);
        }
        if (n < 4)
            tap_ok(right, "%s: %s by FP32%s", kind_names[kind], all ? "all" : "not all", name);
        else
            tap_ok(right, "%s: BF16x6%s%s", kind_names[kind], large ? "" : ", only in large tiles",
                   name);
    }
    bf16x6_wanted = 1;
}

static tmm_status tensor(const product *p, const tmm_tensor_options *options, const float *A,
                         const float *B, float *C)
{
    reset(p, p->C);
    tmm_status status = tmm_sgemm_tensor(p->opA, p->opB, p->M, p->N, p->K, p->alpha, A, p->lda, B,
                                         p->ldb, p->beta, p->dC + GUARD, p->ldc, options, 0);
    fetch(p, C);
    return status;
}

static void interface(int kind, long long K, int ops)
{
    product p;
    thin_wanted = -1; /* its bits are not those of prepared operands */
    make(&p, 100, 75, K, ops, 1, kind);
    float *expected = run(&p, TMM_TENSOR), *C = run(&p, TMM_TENSOR);
    tmm_tensor_options options;
    memset(&options, 0, sizeof options);
    size_t bytes = 0;
    void *memory;
    tap_ok(tensor(&p, NULL, p.dA, p.dB, C) == TMM_OK && same(&p, C, expected),
           "tmm_sgemm_tensor, K = %lld: the bits of TMM_TENSOR", K);

    tmm_prepared a, b;
    int asked = tmm_sgemm_prepare_memory(p.M, K, &bytes) == TMM_OK;
    tap_ok(asked && bytes > 0 && bytes < 4 * 128 * (size_t)(K + 64) + 2048, "A takes %zu bytes",
           bytes);
    check(cudaMalloc(&memory, bytes + 1024));
    check(cudaMemset(memory, 0xff, bytes + 1024));
    tmm_status status = tmm_sgemm_prepare_A(p.opA, p.M, K, p.dA, p.lda, memory, bytes, &a, 0);
    if (status == TMM_OK) status = tmm_sgemm_prepare_B(p.opB, K, p.N, p.dB, p.ldb, NULL, 0, &b, 0);
    unsigned behind[256];
    check(cudaMemcpy(behind, (char *)memory + bytes, 1024, cudaMemcpyDeviceToHost));
    int untouched = 1;
    for (int i = 0; i < 256; i++) untouched &= behind[i] == 0xffffffffu;
    tap_ok(untouched, "nothing is written behind A's memory");
    int right = status == TMM_OK;
    for (int both = 1; both < 4; both++) {
        options.A = both & 1 ? &a : NULL, options.B = both & 2 ? &b : NULL;
        right &=
            tensor(&p, &options, both & 1 ? NULL : p.dA, both & 2 ? NULL : p.dB, C) == TMM_OK &&
            same(&p, C, expected);
    }
    tap_ok(right, "prepared A, B, and both: the same bits");
    options.A = &b;
    tap_ok(tensor(&p, &options, p.dA, p.dB, C) == TMM_ERROR_ARGUMENT && same(&p, C, p.C),
           "B as A: %s", tmm_last_error());
    options.A = NULL;
    tap_ok(tmm_sgemm_tensor(p.opA, p.opB, p.M, p.N - 1, K, 1, p.dA, p.lda, NULL, 1, 0, p.dC, p.ldc,
                            &options, 0) == TMM_ERROR_ARGUMENT,
           "another N: %s", tmm_last_error());
    tap_ok(tmm_sgemm_release(&a, 0) == TMM_OK && tmm_sgemm_release(&b, 0) == TMM_OK &&
               b.memory == NULL && tmm_sgemm_release(&b, 0) == TMM_OK,
           "released, also twice");
    tap_ok(tmm_sgemm_prepare_A(p.opA, p.M, K, p.dA, 1, NULL, 0, &a, 0) == TMM_ERROR_ARGUMENT &&
               tmm_sgemm_prepare_A(p.opA, p.M, K, NULL, p.lda, NULL, 0, &a, 0) ==
                   TMM_ERROR_ARGUMENT &&
               tmm_sgemm_prepare_A(p.opA, p.M, -1, p.dA, p.lda, NULL, 0, &a, 0) ==
                   TMM_ERROR_ARGUMENT &&
               tmm_sgemm_prepare_A(p.opA, p.M, K, p.dA, p.lda, memory, bytes - 1, &a, 0) ==
                   TMM_ERROR_MEMORY &&
               tmm_sgemm_prepare_A(p.opA, p.M, K, p.dA, p.lda, (char *)memory + 4, bytes, &a, 0) ==
                   TMM_ERROR_ARGUMENT &&
               tmm_sgemm_prepare_memory(p.M, K, NULL) == TMM_ERROR_ARGUMENT,
           "bad arguments of prepare: %s", tmm_last_error());
    status = tmm_sgemm_prepare_B(p.opB, K, -1, p.dB, p.ldb, NULL, 0, &b, 0);
    tap_ok(status == TMM_ERROR_ARGUMENT && strstr(tmm_last_error(), "N is negative") != NULL,
           "a negative N is called N: %s", tmm_last_error());
    status = tmm_sgemm_tensor(p.opA, p.opB, -1, p.N, K, 1, p.dA, p.lda, p.dB, p.ldb, 0, p.dC, p.ldc,
                              NULL, 0);
    tap_ok(status == TMM_ERROR_ARGUMENT && strstr(tmm_last_error(), "M is negative") != NULL,
           "a negative M is called M: %s", tmm_last_error());
    cudaFree(memory);
    free(C), free(expected);
    drop(&p);
    thin_wanted = 0;
}

/* Prepared operands: a product that the kernel for thin ones should do faster is its. The bytes that
   tmm_sgemm_tensor_memory gives are those of either kernel; of parts along k, too. */
static void best_way(void)
{
    product p;
    make(&p, 40, 200, 300, 2, 0, UNIFORM);
    tmm_tensor_options options;
    memset(&options, 0, sizeof options);
    tmm_prepared b;
    tmm_sgemm__product asked = tmm_sgemm__make_product(p.opA, p.opB, p.M, p.N, p.K, p.lda, p.ldb);
    size_t bytes = 0, whole = 0;
    instance_wanted = TMM__THIN_FIRST, thin_wanted = 1;
    float *expected = run(&p, TMM_TENSOR), *C = run(&p, TMM_GLOBAL);
    tmm_status status = tmm_sgemm_prepare_B(p.opB, p.K, p.N, p.dB, p.ldb, NULL, 0, &b, 0);
    options.B = &b;
    if (status == TMM_OK) status = tensor(&p, &options, p.dA, NULL, C);
    tap_ok(status == TMM_OK && same(&p, C, expected), "a prepared B, read as it is: the same bits");
    asked.alpha = 1, asked.batch = 1, asked.ldc = p.ldc;
    const tmm__plan plan = *tmm_sgemm__known_plan(TMM_TENSOR, &asked, 1);
    tmm__thin_job job;
    const size_t takes = tmm_sgemm__thin_job(&asked, &plan, NULL, &job);
    status = tmm_sgemm_tensor_memory(p.M, p.N, p.K, &options, &bytes);
    tap_ok(status == TMM_OK && bytes >= takes && plan.instance == TMM__THIN_FIRST,
           "it takes %zu bytes, %zu at most", takes, bytes);
    thin_wanted = -1, instruction_wanted = TMM__BY_WGMMA, instance_wanted = -1;
    for (int n = 0; n < TMM__WGMMA_INSTANCES; n++) {
        const tmm__float_instance *i = tmm_sgemm__float_instance(n);
        if (i->tile_m * i->tile_n <= TMM__FLOAT_PARTS_AREA && i->k_groups == 1) instance_wanted = n;
    }
    parts_wanted = 1;
    int right = tmm_sgemm_tensor_memory(60, 60, 1000, NULL, &whole) == TMM_OK;
    parts_wanted = 3;
    right &= tmm_sgemm_tensor_memory(60, 60, 1000, NULL, &bytes) == TMM_OK;
    tap_ok(right && bytes >= whole + 3 * 60 * 60 * 4, "parts of K take memory: %zu bytes, not %zu",
           bytes, whole);
    parts_wanted = thin_wanted = 0, instance_wanted = instruction_wanted = -1;
    (void)tmm_sgemm_release(&b, 0);
    free(C), free(expected);
    drop(&p);
}

/* From host memory, in blocks of any size: the same bits. */
static void from_host(void)
{
    product p;
    make(&p, 150, 170, 100, 0, 0, SOME_CERTAIN);
    float *C[2];
    int right = 1;
    for (int i = 0; i < 2; i++) {
        tmm_host_options options;
        memset(&options, 0, sizeof options);
        options.kernel = TMM_TENSOR;
        options.block = i ? 64 : 0;
        C[i] = (float *)malloc((size_t)(p.M * p.ldc + 2 * GUARD) * 4);
        memcpy(C[i], p.C, (size_t)(p.M * p.ldc + 2 * GUARD) * 4);
        tmm_status status = tmm_sgemm_host(p.opA, p.opB, p.M, p.N, p.K, 1, p.A, p.lda, p.B, p.ldb,
                                           0, C[i] + GUARD, p.ldc, &options);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
        right &= status == TMM_OK;
    }
    double worst = 0;
    tap_ok(right && same(&p, C[0], C[1]) && broken(&p, C[0], &worst) == 0,
           "tmm_sgemm_host: right, and the same bits for other blocks");
    tmm_host_release();
    free(C[0]), free(C[1]);
    drop(&p);
}

/* Three pieces of BF16: of what floats they are exactly the sum, and how large they are. */
static __global__ void make_triples(const float *x, unsigned *pieces, unsigned *lost, int pairs)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pairs) lost[i] = tmm__bf16_triple(x[2 * i], x[2 * i + 1], pieces + 3 * i);
}

static void in_three(void)
{
    enum { PAIRS = 1 << 17 };
    float *x = (float *)malloc(PAIRS * 8), *dx;
    unsigned *pieces = (unsigned *)malloc(PAIRS * 12), *lost = (unsigned *)malloc(PAIRS * 4);
    unsigned *d_pieces, *d_lost;
    for (int i = 0; i < 2 * PAIRS; i++) {
        unsigned bits = (unsigned)tap_bits();
        if (i % 16 == 1) bits &= 0x81ffffffu; /* small or denormal */
        if (i % 16 == 3) bits &= 0xff8000ffu; /* few bits */
        if (i % 16 == 5) bits &= 0x80000000u;
        if (i % 4096 == 7) bits |= 0x7f800000u; /* not finite */
        memcpy(&x[i], &bits, 4);
    }
    check(cudaMalloc(&dx, PAIRS * 8)), check(cudaMalloc(&d_pieces, PAIRS * 12));
    check(cudaMalloc(&d_lost, PAIRS * 4));
    check(cudaMemcpy(dx, x, PAIRS * 8, cudaMemcpyHostToDevice));
    make_triples<<<PAIRS / 256, 256>>>(dx, d_pieces, d_lost, PAIRS);
    check(cudaMemcpy(pieces, d_pieces, PAIRS * 12, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(lost, d_lost, PAIRS * 4, cudaMemcpyDeviceToHost));
    int wrong = 0, exact = 0;
    for (int i = 0; i < PAIRS; i++) {
        int right = (lost[i] & 0xffff) == 0;
        exact += right;
        for (int half = 0; half < 2; half++) {
            double whole = x[2 * i + half], of[3], size = fabs(whole);
            for (int n = 0; n < 3; n++) {
                unsigned bits = pieces[3 * i + n] >> 16 * half << 16;
                float piece;
                memcpy(&piece, &bits, 4);
                of[n] = piece;
            }
            if (right && !isfinite(whole)) /* seen later, by a product that is not finite */
                wrong += isfinite(of[0] + of[1] + of[2]);
            else if (right)
                wrong += !(of[0] + of[1] + of[2] == whole && fabs(of[1]) <= ldexp(size, -7) &&
                           fabs(of[2]) <= ldexp(size, -15));
            else /* one of the two */
                wrong += isfinite(whole) && (whole == 0 || size >= ldexp(1, -110)) &&
                         isfinite(x[2 * i + 1 - half]) &&
                         (x[2 * i + 1 - half] == 0 || fabsf(x[2 * i + 1 - half]) >= 0x1p-110f);
        }
    }
    tap_ok(wrong == 0 && exact > PAIRS / 2 && exact < PAIRS,
           "three pieces of BF16: exact, or lost");
    free(x), free(pieces), free(lost);
    cudaFree(dx), cudaFree(d_pieces), cudaFree(d_lost);
}

/* Blocks that keep pace, with a last round that not all take part in: the bits are those of blocks
   that do not. So they are where two products are under way at once, and not all blocks of either
   have room. Blocks with small tiles never keep pace; their bits must not change either. */
static void together(int instance)
{
    const char *name = tmm_sgemm__float_instance(instance)->name;
    product p;
    cudaStream_t streams[2];
    float *other, *C[3];
    instance_wanted = instance;
    make(&p, 2100, 2300, 1000, 0, 0, UNIFORM);
    size_t bytes = (size_t)(p.M * p.N + 2 * GUARD) * 4;
    l2_wanted = 1e30;
    C[0] = run(&p, TMM_TENSOR);
    l2_wanted = 0;
    C[1] = run(&p, TMM_TENSOR);
    tap_ok(same(&p, C[0], C[1]), "%s: blocks that keep pace", name);
    check(cudaMalloc(&other, bytes));
    check(cudaMemcpy(other, p.C, bytes, cudaMemcpyHostToDevice));
    reset(&p, p.C);
    for (int i = 0; i < 2; i++) check(cudaStreamCreate(&streams[i]));
    for (int i = 0; i < 8; i++) {
        tmm_status status =
            tmm_sgemm_with(TMM_TENSOR, p.opA, p.opB, p.M, p.N, p.K, 1, p.dA, p.lda, p.dB, p.ldb, 0,
                           (i % 2 ? other : p.dC) + GUARD, p.ldc, streams[i % 2]);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
    }
    check(cudaDeviceSynchronize());
    fetch(&p, C[1]);
    C[2] = (float *)malloc(bytes);
    check(cudaMemcpy(C[2], other, bytes, cudaMemcpyDeviceToHost));
    tap_ok(same(&p, C[0], C[1]) && same(&p, C[0], C[2]), "%s: two at once", name);
    for (int i = 0; i < 2; i++) check(cudaStreamDestroy(streams[i]));
    for (int i = 0; i < 3; i++) free(C[i]);
    cudaFree(other);
    drop(&p);
    l2_wanted = 6e7;
    instance_wanted = -1;
}

/* More rows than the kernel for wgmma can count the bytes of. */
static void many_rows(void)
{
    enum { N = 64, K = 64, LAST = 100 };
    const long long M = (1ll << 24) + LAST, first = M - LAST;
    size_t bytes = (size_t)(M * K) * 4, free_bytes = 0, total;
    float *A, *B, *C, rows[2][LAST * N];
    int wrong = 0;
    cudaMemGetInfo(&free_bytes, &total);
    if (TWIN || free_bytes < 3 * bytes + bytes / 4) {
        tap_skip("more than 2^24 rows", "needs a GPU with 15 GB");
        return;
    }
    check(cudaMalloc(&A, bytes)), check(cudaMalloc(&B, K * N * 4)), check(cudaMalloc(&C, bytes));
    for (int i = 0; i < LAST * K; i++) rows[0][i] = (float)tap_uniform();
    for (int i = 0; i < K * N; i++) rows[1][i] = (float)tap_uniform();
    check(cudaMemset(A, 0x3f, bytes));
    check(cudaMemcpy(A + first * K, rows[0], sizeof rows[0], cudaMemcpyHostToDevice));
    check(cudaMemcpy(B, rows[1], K * N * 4, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++) { /* these rows among all, and alone */
        long long skip = i == 0 ? 0 : first;
        tmm_status status =
            tmm_sgemm_with(i == 0 ? TMM_TENSOR : TMM_REGISTER, TMM_OP_N, TMM_OP_N, M - skip, N, K,
                           1, A + skip * K, K, B, N, 0, C + skip * N, N, 0);
        wrong += status != TMM_OK;
        check(cudaMemcpy(rows[i], C + first * N, sizeof rows[i], cudaMemcpyDeviceToHost));
    }
    for (int i = 0; i < LAST * N; i++) wrong += !(fabsf(rows[0][i] - rows[1][i]) < 1e-4f);
    tap_ok(wrong == 0, "more than 2^24 rows");
    cudaFree(A), cudaFree(B), cudaFree(C);
}

/* What KERNEL THIN FLOAT is predicted to take on an H100, beside microseconds measured on one: planes
   that L2 does not hold, many tiles of a short K, and what it is made for. */
static void as_measured(void)
{
    static const struct {
        tmm_op a, b;
        long long M, N, K;
        double us;
    } found[] = {
        {TMM_OP_T, TMM_OP_N, 50, 50, 1000000, 673}, {TMM_OP_N, TMM_OP_T, 40, 36, 200000, 83},
        {TMM_OP_T, TMM_OP_N, 80, 64, 300000, 186},  {TMM_OP_N, TMM_OP_N, 132534, 112, 256, 221},
        {TMM_OP_N, TMM_OP_N, 90000, 120, 300, 172}, {TMM_OP_N, TMM_OP_T, 400, 10000, 10000, 1100},
        {TMM_OP_N, TMM_OP_T, 64, 6144, 4096, 47},   {TMM_OP_N, TMM_OP_T, 128, 6144, 4096, 67},
    };
    tmm__device device;
    static tmm__kernel_facts kernels[TMM__KNOWN_KERNELS];
    if (!tmm__pretend("H100", &device, kernels)) return;
    *tmm__device_of_product() = &device;
    thin_wanted = 1, instruction_wanted = TMM__BY_WGMMA;
    for (size_t n = 0; n < sizeof found / sizeof *found; n++) {
        const long long M = found[n].M, N = found[n].N, K = found[n].K;
        const tmm_op a = found[n].a, b = found[n].b;
        tmm_sgemm__product p =
            tmm_sgemm__make_product(a, b, M, N, K, a == TMM_OP_N ? K : M, b == TMM_OP_N ? N : K);
        double us = HUGE_VAL;
        p.alpha = 1, p.ldc = N, p.batch = 1, p.allowed = TMM__CUT_K | TMM__PACK;
        for (int i = 0; i < TMM__THIN_INSTANCES; i++) {
            tmm__plan plan;
            instance_wanted = TMM__THIN_FIRST + i;
            tmm_sgemm__plan_by(TMM_TENSOR, &p, &plan);
            us = fmin(us, 1e-3 * plan.time);
        }
        tap_ok(us > found[n].us / 1.25 && us < found[n].us * 1.25,
               "a thin operand, %lld x %lld x %lld: predicted %.0f us, measured %.0f", M, N, K, us,
               found[n].us);
    }
    thin_wanted = 0, instruction_wanted = instance_wanted = -1;
    *tmm__device_of_product() = NULL;
}

static void rules(void)
{
    product p;
    make(&p, 130, 120, 300, 0, 3, UNIFORM);
    float *first = run(&p, TMM_TENSOR);
    int equal = 1;
    for (int i = 0; i < 20; i++) {
        float *again = run(&p, TMM_TENSOR);
        equal &= same(&p, first, again);
        free(again);
    }
    tap_ok(equal, "the same bits in 20 runs");
    free(first);
    drop(&p);

    make(&p, 65, 66, 63, 1, 0, UNIFORM);
    float *tensors = run(&p, TMM_TENSOR), *chosen = run(&p, TMM_AUTO);
    tap_ok(same(&p, tensors, chosen), "K below 64: TMM_AUTO's bits");
    free(chosen);
    chosen = run(&p, TMM_AUTO_TENSOR);
    tap_ok(same(&p, tensors, chosen), "TMM_AUTO_TENSOR of a small product, too");
    tap_ok(tmm_sgemm_choice(p.M, p.N, p.K, 1) != TMM_TENSOR &&
               tmm_sgemm_choice(4096, 4096, 4096, 1) != TMM_TENSOR,
           "TMM_FLOAT_TENSOR 0: TMM_AUTO never takes TMM_TENSOR");
    float *C = run(&p, TMM_TENSOR);
    reset(&p, p.C);
    tmm_status status = tmm_sgemm_with(TMM_TENSOR, TMM_OP_N, TMM_OP_N, 65, 66, 100, 0, NULL, 100,
                                       NULL, 66, 0, p.dC + GUARD, p.ldc, 0);
    fetch(&p, C);
    int zeros = status == TMM_OK;
    for (int i = 0; i < 65 * 66; i++) zeros &= C[GUARD + i] == 0;
    tap_ok(zeros, "alpha = 0 reads neither A nor B, beta = 0 not C");
    status = tmm_sgemm_with(TMM_TENSOR, TMM_OP_N, TMM_OP_N, 0, 66, 100, 1, NULL, 100, NULL, 66, 0,
                            NULL, 66, 0);
    tap_ok(status == TMM_OK && tmm_sgemm_tensor(TMM_OP_N, TMM_OP_N, 0, 66, 100, 1, NULL, 100, NULL,
                                                66, 0, NULL, 66, NULL, 0) == TMM_OK,
           "M = 0 does nothing");
    free(C), free(tensors), free(chosen);
    drop(&p);

    make(&p, 70, 65, 128, 2, 1, INTEGERS); /* small enough to be exact */
    float *plain = run(&p, TMM_TENSOR);
    reset(&p, p.C);
    status = tmm_egemm_with(TMM_TENSOR, p.opA, p.opB, p.M, p.N, p.K, 1, p.dA, p.lda, p.dB, p.ldb, 0,
                            p.dC + GUARD, p.ldc, 0);
    C = (float *)malloc((size_t)(p.M * p.ldc + 2 * GUARD) * 4);
    fetch(&p, C);
    int right = status == TMM_OK;
    for (int i = 0; i < p.M; i++)
        for (int j = 0; j < p.N; j++)
            right &=
                C[GUARD + i * p.ldc + j] == plain[GUARD + i * p.ldc + j] + 2 * (float)i - (float)j;
    tap_ok(right, "TMM_EPILOGUE");
    free(C), free(plain);
    drop(&p);
}

static const char *name_of(int n)
{
    static char name[64];
    const tmm__float_instance *i = tmm_sgemm__float_instance(n);
    snprintf(name, sizeof name, ", %s of %s",
             i->instruction == TMM__BY_WGMMA ? "wgmma" : "mma.sync", i->name);
    return name;
}

/* Is this an instance that the device and the program have? On the CPU runner the twins of
   mma.sync. */
static int have(int instance, int instruction)
{
    int other = tmm_sgemm__float_instance(instance)->instruction;
    return other == instruction || (TWIN && other == TMM__BY_MMA_SYNC);
}

/* Instance n of KERNEL THIN FLOAT. */
static int have_thin(int n, int instruction)
{
    return (TWIN || instruction != TMM__BY_MULTIPLY_ADD) &&
           tmm_sgemm__thin_bytes(n, instruction) <= tmm__current_device()->shared;
}

/* Each instance: edges, elements that are computed again, the ring of copies gone around. */
static void few(int instruction)
{
    for (int n = 0; n < TMM__PORTABLE_64x64; n++) {
        const tmm__float_instance *i = tmm_sgemm__float_instance(n);
        long long M = i->tile_m + 1, N = i->tile_n + 7, K = 75 * i->stages;
        if (!have(n, instruction)) continue;
        instance_wanted = n, instruction_wanted = i->instruction;
        promise(M, N, K, 0, 0, SOME_CERTAIN, 1, 0, name_of(n));
        promise(M, N, K, 1, 0, NONE_CERTAIN, 1, 0, name_of(n));
        promise(M, N, K, 3, 1, WITH_NAN, 2, 0.5f, name_of(n));
        promise(M, N, K, 0, 0, MOST_CERTAIN, 1, 0, name_of(n));
        if (i->instruction != TMM__BY_WGMMA || i->tile_m * i->tile_n > 128 * 64) continue;
        parts_wanted = 2;
        promise(M, N, K, 0, 0, SOME_CERTAIN, 1, 0.5f, name_of(n));
        parts_wanted = 0;
    }
    instruction_wanted = instance_wanted = -1;
    thin_wanted = 1, blocks_wanted = 2;                 /* so that stages go round */
    for (int n = 0; n < 4 * TMM__THIN_INSTANCES; n++) { /* by 16 bytes and one by one */
        if (!have_thin(n / 4, instruction)) continue;
        const int cols = tmm_sgemm__thin_instance(n / 4)->cols;
        instance_wanted = TMM__THIN_FIRST + n / 4;
        promise(cols - 3, 140, 300, n % 2 * 2, n / 2 % 2, UNIFORM, 1, 0, ", thin");
    }
    thin_wanted = blocks_wanted = 0, instance_wanted = -1;
    promise(70, 65, 200, 1, 0, UNIFORM, 1, 0, "");
    promise(9, 17, 4200, 1, 0, SOME_WIDE, 1, 0, "");
    promise(40, 17, 700, 2, 0, SOME_WIDE, 1, 0, "");
}

/* An instance by wgmma: all shapes and kinds. */
static void by_wgmma(int n)
{
    const tmm__float_instance *i = tmm_sgemm__float_instance(n);
    const char *name = name_of(n);
    for (int ops = 0; ops < 4; ops++)
        promise(300, 259, 64 + 200 * ops, ops, ops, UNIFORM, 1, 0, name);
    promise(300, 262, 200, n % 4, 2, UNIFORM, 2, 0.5f, name); /* edges by pairs */
    promise(140, 198, 333, 0, 0, POSITIVE, 1, 0, name);
    promise(515, 389, 1030, 1, 1, SOME_CERTAIN, -2, 0.5f, name);
    promise(300, 259, 333, 2, 0, BOTH_WIDE, 1, 0, name);
    promise(300, 259, 1030, 0, 2, FAINT, 1, 0, name);
    promise(300, 259, 1030, 3, 1, NONE_CERTAIN, 1, 0, name);
    promise(1300, 1290, 333, 0, 0, MOST_CERTAIN, 1, 0.25f, name);
    promise(257, 193, 2047, 2, 0, ZERO_LINES, 1, 0, name);
    promise(128, 200, 5000, 0, 0, SPIKES, 1, 0, name);
    promise(128, 64, 100, 0, 0, INTEGERS, 1, 0, name);
    promise(640, 600, 64 * (n + 5), 3, 1, SOME_WIDE, 1, 0.5f, name);
    left_over(i->tile_m * i->tile_n > 128 * 64, name);
}

/* An instance by wgmma whose tiles are cut along k: parts of one and of many windows, the last one
   shorter. */
static void in_parts(int n)
{
    static const int counts[] = {2, 3, 5}; /* all fit these K, and 132 multiprocessors */
    char name[96];
    for (int i = 0; i < 3; i++) {
        parts_wanted = counts[i];
        snprintf(name, sizeof name, "%s, %d parts", name_of(n), parts_wanted);
        promise(300, 259, 1030, i, i, UNIFORM, 1, 0, name);
        promise(200, 131, 2500, 3 - i, 1, SOME_WIDE, 2, 0.5f, name);
        promise(130, 190, 1100, i, 0, WITH_NAN, 1, 0, name);
        promise(129, 66, 901, 1, 2, NONE_CERTAIN, -1, 0.5f, name);
        promise(257, 193, 1300, 2, 0, SOME_CERTAIN, 1, 0, name);
    }
    parts_wanted = 0;
    if (tmm_sgemm__float_instance(n)->k_groups > 1) return;
    /* A block has several parts, and may store any of their tiles. */
    for (int i = 0; i < 2; i++) {
        parts_wanted = 2 + i;
        promise(1100, 1000, 450, 0, 0, SOME_CERTAIN, 1, 0.5f, ", parts in several rounds");
        promise(1100, 900, 450, 1, 1, NONE_CERTAIN, 1, 0, ", parts in several rounds");
    }
    parts_wanted = 0;
}

/* K for which a cluster converts a line, and longer ones: the scale and the mark of a wide line come
   from all of its blocks. */
static void long_lines(void)
{
    static const int depths[] = {4097, 6200, 12300, 16384, 16500};
    for (int i = 0; i < 5; i++) {
        promise(40, 33, depths[i], i % 4, i % 2, SOME_WIDE, 1, 0, ", long lines");
        promise(35, 50, depths[i], 3 - i % 4, 0, WITH_INF, 1, 0, ", long lines");
        promise(65, 20, depths[i], i % 4, 1, HUGE_ROWS, 1, 0, ", long lines");
    }
}

/* An instance by mma.sync, or its twin. */
static void by_mma_sync(int n)
{
    const tmm__float_instance *i = tmm_sgemm__float_instance(n);
    for (int ops = 0; ops < 4; ops += 3)
        promise(70, 133, 100, ops, 1, ops ? SOME_CERTAIN : BOTH_WIDE, 1, 0, name_of(n));
    promise(65, 64, 64, 0, 0, INTEGERS, -1, 0, name_of(n));
    promise(130, 140, 100, 1, 0, FAINT, 1, 0, name_of(n));
    left_over(i->tile_m * i->tile_n > 128 * 64, name_of(n));
}

/* A batch by that kernel, whose products have data of their own but for what they share (1: A, 2: B).
   The last one has the first one's, so the same bits, if nothing is shared. */
static void thin_batch(long long M, long long N, long long K, int ops, int pad, int shared,
                       int kind, const char *name)
{
    enum { COUNT = 4 };
    product p[COUNT];
    float *dA, *dB, *dC;
    double worst = 0;
    for (int b = 0; b < COUNT; b++) make(&p[b], M, N, K, ops, pad, b == 1 ? kind : UNIFORM);
    const long long lines = M * p->ldc, stride_c = lines + GUARD;
    const long long a = p->rows_a * p->lda, stride_a = shared == 1 ? 0 : a + 4 * pad;
    const long long bs = p->rows_b * p->ldb, stride_b = shared == 2 ? 0 : bs + 2 * pad;
    const size_t bytes = (size_t)(COUNT * stride_c + GUARD) * 4;
    float *C = (float *)malloc(bytes);
    for (size_t i = 0; i < bytes / 4; i++) memcpy(&C[i], &poison, 4);
    check(cudaMalloc(&dA, (size_t)(COUNT * (a + 4 * pad)) * 4));
    check(cudaMalloc(&dB, (size_t)(COUNT * (bs + 2 * pad)) * 4));
    check(cudaMalloc(&dC, bytes));
    check(cudaMemcpy(dC, C, bytes, cudaMemcpyHostToDevice));
    for (int b = 0; b < COUNT; b++) {
        const int from_a = shared == 1 ? 1 : b % (COUNT - 1);
        const int from_b = shared == 2 ? 1 : b % (COUNT - 1);
        if (b != from_a) memcpy(p[b].A, p[from_a].A, (size_t)a * 4);
        if (b != from_b) memcpy(p[b].B, p[from_b].B, (size_t)bs * 4);
        p[b].alpha = -2;
        check(cudaMemcpy(p[b].dA, p[b].A, (size_t)a * 4, cudaMemcpyHostToDevice));
        check(cudaMemcpy(p[b].dB, p[b].B, (size_t)bs * 4, cudaMemcpyHostToDevice));
        check(cudaMemcpy(dA + b * stride_a, p[b].A, (size_t)a * 4, cudaMemcpyHostToDevice));
        check(cudaMemcpy(dB + b * stride_b, p[b].B, (size_t)bs * 4, cudaMemcpyHostToDevice));
    }
    tmm_sgemm__product asked = tmm_sgemm__make_product(p->opA, p->opB, M, N, K, p->lda, p->ldb);
    asked.A = dA, asked.B = dB, asked.C = dC + GUARD, asked.ldc = p->ldc, asked.alpha = -2;
    asked.strideA = stride_a, asked.strideB = stride_b, asked.strideC = stride_c;
    const int by = tmm_sgemm__known_plan(TMM_TENSOR, &asked, COUNT)->instance;
    tmm_status status =
        tmm_sgemm_batched_with(TMM_TENSOR, p->opA, p->opB, M, N, K, -2, dA, p->lda, dB, p->ldb, 0,
                               dC + GUARD, p->ldc, stride_a, stride_b, stride_c, COUNT, 0);
    check(cudaMemcpy(C, dC, bytes, cudaMemcpyDeviceToHost));
    long long bad = 0;
    for (int b = 0; b < COUNT; b++) bad += broken(&p[b], C + b * stride_c, &worst);
    const int equal = shared || same(p, C, C + (COUNT - 1) * stride_c);
    tap_ok(status == TMM_OK && by == instance_wanted && bad == 0 && equal,
           "a batch of %lld x %lld x %lld, %c%c, %s%s%s", M, N, K, ops & 1 ? 'T' : 'N',
           ops & 2 ? 'T' : 'N', kind_names[kind],
           shared ? shared == 1 ? ", that shares A" : ", that shares B" : "", name);
    if (status != TMM_OK || bad || by != instance_wanted)
        tap_note("%s; %lld elements are wrong; instance %d", tmm_last_error(), bad, by);
    for (int b = 0; b < COUNT; b++) drop(&p[b]);
    free(C);
    cudaFree(dA), cudaFree(dB), cudaFree(dC);
}

/* A graph launches with the same ticket and workspace again: marks of bad lines do not outlive the data
   that had them. */
static void forgets(const char *name)
{
    product p;
    make(&p, 20, 140, 132, 2, 0, UNIFORM);
    tmm_sgemm__product asked = tmm_sgemm__make_product(p.opA, p.opB, 20, 140, 132, p.lda, p.ldb);
    asked.A = p.dA, asked.B = p.dB, asked.C = p.dC + GUARD, asked.ldc = p.ldc;
    asked.alpha = 1, asked.batch = 1;
    const tmm__plan plan = *tmm_sgemm__known_plan(TMM_TENSOR, &asked, 1);
    tmm__thin_job job;
    char *memory;
    const size_t bytes = tmm_sgemm__thin_job(&asked, &plan, NULL, &job);
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0xff, bytes));
    (void)tmm_sgemm__thin_job(&asked, &plan, memory, &job);
    job.ticket = 77;
    int right = 1;
    for (int i = 0; i < 6; i++) { /* a bad line in A or B, and then none */
        const float bad = i % 2 ? p.A[0] : NAN, other = i % 2 ? p.B[0] : NAN;
        if (i < 4) check(cudaMemcpy(p.dA, &bad, 4, cudaMemcpyHostToDevice));
        if (i >= 2) check(cudaMemcpy(p.dB, &other, 4, cudaMemcpyHostToDevice));
        right &= tmm_sgemm__thin_launch(job, &plan, 0) == TMM_OK;
        unsigned long long any = 1;
        check(cudaMemcpy(&any, job.marks, 8, cudaMemcpyDeviceToHost));
        right &= (any == job.ticket) == (i % 2 == 0);
    }
    tap_ok(right, "marks go with the data that had them%s", name);
    cudaFree(memory);
    drop(&p);
}

#ifdef FEWER
enum { THIN_STEP = TMM__THIN_INSTANCES - 1 }; /* the smallest tile and the largest */
#else
enum { THIN_STEP = 1 };
#endif

/* An instance of the kernel for thin operands: either operand, all ways to copy the other one, few and
   many partial tiles to add, all kinds of data. */
static void thin(int n)
{
    const int cols = tmm_sgemm__thin_instance(n)->cols;
    char name[64];
    instance_wanted = TMM__THIN_FIRST + n, thin_wanted = 1;
    for (int turned = 0; turned < 2; turned++) {
        snprintf(name, sizeof name, ", %d lines in a tile, %s thin", cols, turned ? "B" : "A");
        blocks_wanted = turned ? 11 : 5;
        for (int ops = 0; ops < 4; ops++) {
            int few = ops == 1 ? cols + 5 : cols - 3 * ops, many = 300 + 2 * ops;
            promise(turned ? many : few, turned ? few : many, 64 + 68 * ops, ops, 0, UNIFORM, 1, 0,
                    name);
            promise(turned ? many + 1 : few, turned ? few : many + 1, 333, ops, 1 + ops, UNIFORM, 1,
                    0, name);
        }
        for (int kind = 0; kind < KINDS; kind++)
            if (n == 0 || kind % 3 == n - 1)
                promise(turned ? 140 : 30, turned ? 30 : 140, 132, kind % 4, kind % 5, kind, 1, 0,
                        name);
        promise(turned ? 261 : 7, turned ? 7 : 261, 200, 2, 1, SOME_WIDE, 2, 0.75f, name);
        promise(turned ? 190 : 20, turned ? 20 : 190, 150, 3, 0, WITH_NAN, -1, 0.5f, name);
        promise(turned ? 262 : 7, turned ? 7 : 262, 100, turned, 1 + turned, UNIFORM, 1, 0, name);
        for (int ops = (turned ^ n) & 1; ops < 4; ops += 2) { /* one by one, by 8 and by 16 bytes */
            const int thin = cols - 5 * ops, large = 134 + ops;
            thin_batch(turned ? large : thin, turned ? thin : large, 196, ops, ops == 3, ops % 3,
                       ops == 0   ? HUGE_ROWS
                       : ops == n ? WITH_NAN
                                  : UNIFORM,
                       name);
        }
        blocks_wanted = 40; /* many partial tiles of each element */
        promise(turned ? 101 : 9, turned ? 9 : 101, 2500, turned, 0, POSITIVE, 1, 0, name);
        promise(turned ? 64 : 3, turned ? 3 : 64, 5000, 2, 1, SPIKES, -2, 0.25f, name);
    }
    product p;
    make(&p, cols / 2, 420, 777, 2, 0, UNIFORM);
    float *first = run(&p, TMM_TENSOR);
    int equal = 1;
    for (int i = 0; i < 4; i++) {
        float *again = run(&p, TMM_TENSOR);
        equal &= same(&p, first, again);
        free(again);
    }
    tap_ok(equal, "the same bits in 5 runs%s", name);
    forgets(name);
    free(first), drop(&p);
    make(&p, 70, 9, 100, n, 1, DENORMAL); /* all lines of A are bad */
    float *one_by_one = run(&p, TMM_GLOBAL);
    first = run(&p, TMM_TENSOR);
    tap_ok(same(&p, first, one_by_one), "denormal: all by FP32%s", name);
    free(first), free(one_by_one), drop(&p);
    make(&p, 12, 150, 128, 2, 1, INTEGERS); /* small enough to be exact */
    first = run(&p, TMM_TENSOR);
    float *C = (float *)malloc((size_t)(p.M * p.ldc + 2 * GUARD) * 4);
    reset(&p, p.C);
    int right = tmm_egemm_with(TMM_TENSOR, p.opA, p.opB, p.M, p.N, p.K, 1, p.dA, p.lda, p.dB, p.ldb,
                               0, p.dC + GUARD, p.ldc, 0) == TMM_OK;
    fetch(&p, C);
    for (int i = 0; i < p.M; i++)
        for (int j = 0; j < p.N; j++)
            right &=
                C[GUARD + i * p.ldc + j] == first[GUARD + i * p.ldc + j] + 2 * (float)i - (float)j;
    tap_ok(right, "TMM_EPILOGUE%s", name);
    free(C), free(first), drop(&p);
    instance_wanted = -1, thin_wanted = blocks_wanted = 0;
}

int main(int count, char **words)
{
    int device_count = 0;
    if (cudaGetDeviceCount(&device_count) != cudaSuccess || device_count == 0) {
        tap_skip("tensor float", "no device");
        return tap_done();
    }
    tap_seed(20261122);
    int instruction = tmm_sgemm__float_instruction();
    tap_note("by %s", instruction == TMM__BY_WGMMA      ? "wgmma"
                      : instruction == TMM__BY_MMA_SYNC ? "mma.sync"
                                                        : "multiply-adds");
    if (count > 1 && strcmp(words[1], "thin") == 0) {
        for (int n = 0; n < TMM__THIN_INSTANCES; n++)
            if (have_thin(n, instruction)) thin(n);
        if (TWIN) as_measured();
        return tap_done();
    }
    if (count > 1 && strcmp(words[1], "few") == 0) {
        few(instruction);
        return tap_done();
    }
    for (int ops = 0; ops < 4; ops++) promise(100, 70, 130, ops, ops % 2, UNIFORM, 1, 0, "");
    promise(65, 129, 97, 0, 1, POSITIVE, 1, 0, "");
    promise(1, 1, 64, 0, 0, UNIFORM, 1, 0, "");
    promise(3, 200, 333, 3, 3, UNIFORM, 1, 0, "");
    promise(20, 10, 1700, 1, 0, SPIKES, 1, 0, "");
    promise(66, 67, 90, 0, 1, UNIFORM, -1.5f, 0, ", alpha");
    promise(66, 67, 90, 2, 2, SOME_WIDE, 2, 0.75f, ", alpha and beta");
    for (int kind = 0; kind < KINDS; kind++) promise(70, 66, 128, kind % 4, 1, kind, 1, 0, "");
    promise(130, 200, 70, 1, 1, SOME_CERTAIN, 1, 0.5f, "");
    thin_wanted = -1; /* which computes lines by FP32, not tiles */
    left_over(instruction != TMM__BY_MULTIPLY_ADD ? -1 : 0, "");
    thin_wanted = 0;
    /* The last one by wgmma is taken only where there is a multiprocessor for each tile. */
    for (int n = 0; n < TMM__PORTABLE_64x64; n++) {
        const tmm__float_instance *i = tmm_sgemm__float_instance(n);
        if (!have(n, instruction)) continue;
        instance_wanted = n, instruction_wanted = i->instruction;
        if (i->instruction == TMM__BY_WGMMA)
            by_wgmma(n);
        else
            by_mma_sync(n);
        if (i->instruction == TMM__BY_WGMMA && i->tile_m * i->tile_n <= 128 * 64) in_parts(n);
    }
    instruction_wanted = -1;
    for (int n = 0; n < TMM__WGMMA_INSTANCES; n++)
        if (have(n, instruction) && tmm_sgemm__float_instance(n)->k_groups == 1) together(n);
    instance_wanted = -1;
    if (instruction == TMM__BY_WGMMA) long_lines();
    for (int n = 0; n < TMM__THIN_INSTANCES; n += THIN_STEP)
        if (have_thin(n, instruction)) thin(n);
    batches(UNIFORM);
    batches(SOME_CERTAIN);
    interface(SOME_CERTAIN, 200, 0);
    interface(UNIFORM, 40, 3); /* strictly */
    if (TWIN || instruction == TMM__BY_WGMMA) best_way();
    if (TWIN) as_measured();
    from_host();
    in_three();
    rules();
    many_rows();
    return tap_done();
}
