/* TMM_TENSOR_INT8, of double: kinds of data, shapes, ops, instances, parts, batches, the choice of
   moduli and elements that are not proved; prepared operands and the memory that is asked for; the
   promised error against sums of more bits on random data. With the argument "few": four small
   products, for tools that make a program very slow. */
static int fixed_wanted = -1, instance_wanted = -1, fp64_wanted = -1;
static unsigned long long budget_wanted;
static long long depth_wanted;
#define TMM__INT8_FIXED(moduli)      (fixed_wanted >= 0 ? fixed_wanted : (moduli))
#define TMM__INT8_INSTANCE(instance) (instance_wanted >= 0 ? instance_wanted : (instance))
#define TMM__INT8_FP64(pays)         (fp64_wanted >= 0 ? fp64_wanted : (pays))
#define TMM__INT8_BUDGET(bytes)      (budget_wanted ? (size_t)budget_wanted : (bytes))
#define TMM__INT8_DEPTH(most)        (depth_wanted ? depth_wanted : (long long)(most))
#define TMM_DOUBLE_TENSOR            0
#define TMM_NO_READY_MADE
#include "tap.h"
#include "../tiledmm.cuh"
#define TMM_TYPE double
#define TMM_NAME d
#include "../tiledmm.cuh"
/* Sanitized, which takes several times as long: not each kind of data, and no epilogue. */
#ifdef FEWER
enum { KIND_STEP = 4, LEAST_MODULI = 15, BOTH_PARTS = 1 };
#else
enum { KIND_STEP = 1, LEAST_MODULI = 13, BOTH_PARTS = 2 };
#define TMM_TYPE                      double
#define TMM_NAME                      e
#define TMM_EPILOGUE(value, row, col) ((value) + 2 * (double)(row) - (double)(col))
#include "../tiledmm.cuh"
#endif

#ifdef __CUCC__ /* whose pools give what is asked for; CUDA's may round it up */
enum { ON_RUNNER = 1 };
#else
enum { ON_RUNNER = 0 };
#endif

#include "choice.h"
DEFINE_CHOICE_TESTS(d, 1)

enum kind {
    UNIFORM,
    POSITIVE,
    NORMAL,
    PHI_HALF,
    PHI_1,
    PHI_2,
    PHI_4,
    PHI_8,
    EQUAL,
    SLIVERS,
    SPIKE_20,
    SPIKE_40,
    GRADED,
    GRADED_K,
    WIDE_24,
    WIDE_30,
    WIDE_36,
    WIDE_60,
    CANCEL,
    DENORMAL,
    DENORMAL_C,
    HUGE_SCALE,
    TINY_SCALE,
    MIXED_SCALE,
    LARGEST,
    INTEGERS,
    WITH_NAN,
    WITH_INF,
    ZERO_LINES,
    KINDS
};
static const char *const kind_names[KINDS] = {
    "uniform", "positive", "normal",     "phi 0.5",  "phi 1",         "phi 2",
    "phi 4",   "phi 8",    "equal",      "slivers",  "spikes 2^20",   "spikes 2^40",
    "graded",  "graded k", "wide 24",    "wide 30",  "wide 36",       "wide 60",
    "cancel",  "denormal", "denormal C", "huge",     "tiny",          "huge and tiny",
    "largest", "integers", "NaN",        "infinity", "lines of zeros"};

typedef struct product {
    long long M, N, K, lda, ldb, ldc;
    tmm_op opA, opB;
    double alpha, beta;
    double *A, *B, *C, *dA, *dB, *dC;
    size_t a, b, c; /* elements */
} product;

enum { GUARD = 64 }; /* elements in front of and behind C */
static const unsigned long long poison = 0x7ff8dead0000c0deull;

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("Bail out! %s\n", cudaGetErrorString(error));
    exit(1);
}

static double normal(void)
{
    double u = 0.5 * tap_uniform() + 0.5;
    return sqrt(-2 * log(u)) * cos(3.14159265358979 * tap_uniform());
}

static double wide(int exponents)
{
    double u = tap_uniform();
    return copysign(ldexp(1 + fabs(u), -(int)(tap_bits() % (unsigned)(exponents + 1))), u);
}

/* Element k of row `line` of A, or column `line` of B. */
static double element(int kind, int of_B, long long line, long long k, long long K)
{
    double x = tap_uniform();
    switch (kind) {
    case POSITIVE: return fabs(x);
    case NORMAL: return normal();
    case PHI_HALF: return x * exp(0.5 * normal());
    case PHI_1: return x * exp(normal());
    case PHI_2: return x * exp(2 * normal());
    case PHI_4: return x * exp(4 * normal());
    case PHI_8: return x * exp(8 * normal());
    case EQUAL: return 0.5 + (double)(line * 7919 % 1009) / 2018 + 1e-13;
    case SLIVERS: return of_B || k % 64 == 0 ? 1 : ldexp(0.9995, -54);
    case SPIKE_20:
    case SPIKE_40:
        if (of_B) return k % 16 == 5 ? 0 : x;
        return k == line % ((K + 10) / 16) * 16 + 5 ? ldexp(x, kind == SPIKE_20 ? 20 : 40) : x;
    case GRADED: return ldexp(x, (int)(line * (of_B ? 11 : 7) % 61) * 10 - 300);
    case GRADED_K: return ldexp(x, (of_B ? -1 : 1) * ((int)(40 * k / K) - 20));
    case WIDE_24: return wide(24);
    case WIDE_30: return wide(30);
    case WIDE_36: return wide(36);
    case WIDE_60: return wide(60);
    case DENORMAL: return ldexp(x, of_B ? 700 : -1050);
    case DENORMAL_C: return ldexp(x, -530);
    case HUGE_SCALE: return ldexp(x, 480);
    case TINY_SCALE: return ldexp(x, -470);
    case MIXED_SCALE: return ldexp(x, of_B ? -900 : 900);
    case LARGEST: return of_B ? ldexp(x, -20) : x * 1.7976931348623157e308;
    case INTEGERS: return floor(x * 100000);
    case WITH_NAN: return !of_B && line % 50 == 7 && k % 97 == 3 ? NAN : x;
    case WITH_INF:
        return of_B && line % 50 == 7 && k % 97 == 3 ? (k % 2 ? INFINITY : -INFINITY) : x;
    case ZERO_LINES: return line % 4 == 1 ? 0 : x;
    default: return x;
    }
}

static void make(product *p, long long M, long long N, long long K, int ops, int pad, int kind)
{
    memset(p, 0, sizeof *p);
    p->M = M, p->N = N, p->K = K, p->alpha = 1;
    p->opA = ops & 1 ? TMM_OP_T : TMM_OP_N, p->opB = ops & 2 ? TMM_OP_T : TMM_OP_N;
    p->lda = (ops & 1 ? M : K) + pad, p->ldb = (ops & 2 ? K : N) + 2 * pad, p->ldc = N + pad;
    p->a = (size_t)((ops & 1 ? K : M) * p->lda), p->b = (size_t)((ops & 2 ? N : K) * p->ldb);
    p->c = (size_t)(M * p->ldc + 2 * GUARD);
    p->A = (double *)malloc(p->a * 8), p->B = (double *)malloc(p->b * 8);
    p->C = (double *)malloc(p->c * 8);
    for (size_t i = 0; i < p->a; i++) p->A[i] = NAN; /* beside the matrix */
    for (size_t i = 0; i < p->b; i++) p->B[i] = NAN;
    for (size_t i = 0; i < p->c; i++) memcpy(&p->C[i], &poison, 8);
    for (long long k = 0; k < K; k++) {
        for (long long i = 0; i < M; i++)
            p->A[ops & 1 ? k * p->lda + i : i * p->lda + k] = element(kind, 0, i, k, K);
        for (long long j = 0; j < N; j++)
            p->B[ops & 2 ? j * p->ldb + k : k * p->ldb + j] = element(kind, 1, j, k, K);
    }
    if (kind == CANCEL) /* A = (X, X), B = (Y; -Y) */
        for (long long k = 0; k < K; k++) {
            for (long long i = 0; i < M; i++) {
                double *row = p->A + i * p->lda;
                if (ops == 0) row[k] = k < K / 2 ? row[k] : k - K / 2 < K / 2 ? row[k - K / 2] : 0;
            }
            for (long long j = 0; j < N; j++)
                if (ops == 0 && k >= K / 2)
                    p->B[k * p->ldb + j] = k - K / 2 < K / 2 ? -p->B[(k - K / 2) * p->ldb + j] : 0;
        }
    check(cudaMalloc(&p->dA, p->a * 8));
    check(cudaMalloc(&p->dB, p->b * 8));
    check(cudaMalloc(&p->dC, p->c * 8));
    check(cudaMemcpy(p->dA, p->A, p->a * 8, cudaMemcpyHostToDevice));
    check(cudaMemcpy(p->dB, p->B, p->b * 8, cudaMemcpyHostToDevice));
}

static void drop(product *p)
{
    free(p->A), free(p->B), free(p->C);
    cudaFree(p->dA), cudaFree(p->dB), cudaFree(p->dC);
}

/* Alpha, beta and, where they matter, what C has. */
static void set_scalars(product *p, double alpha, double beta)
{
    p->alpha = alpha, p->beta = beta;
    for (size_t i = 0; i < p->c - 2 * GUARD; i++) p->C[GUARD + i] = tap_uniform();
}

static double *run(const product *p, tmm_kernel kernel)
{
    double *C = (double *)malloc(p->c * 8);
    check(cudaMemcpy(p->dC, p->C, p->c * 8, cudaMemcpyHostToDevice));
    tmm_status status = tmm_dgemm_with(kernel, p->opA, p->opB, p->M, p->N, p->K, p->alpha, p->dA,
                                       p->lda, p->dB, p->ldb, p->beta, p->dC + GUARD, p->ldc, 0);
    if (status != TMM_OK) tap_note("%s: %s", tmm_status_string(status), tmm_last_error());
    check(cudaMemcpy(C, p->dC, p->c * 8, cudaMemcpyDeviceToHost));
    return C;
}

static int same(const product *p, const double *X, const double *Y)
{
    return memcmp(X, Y, p->c * 8) == 0;
}

/* What is found of a product: the number of bad elements, the largest error in u |A||B|, the part
   that is the exact sum, rounded. Bad ones break the promise, |C - Cref| <= (K + 2) u |alpha| |A||B|
   and some for beta and what is denormal. Or they have not NaN and infinity where TMM_GLOBAL has
   them, or are written outside of C. */
typedef struct finding {
    long long bad;
    double worst, exact;
} finding;

static finding look(const product *p, const double *C)
{
    const double u = ldexp(1, -53);
    finding f = {0, 0, 0};
    double *strict = NULL;
    for (int i = 0; i < GUARD; i++) {
        f.bad += memcmp(&C[i], &poison, 8) != 0;
        f.bad += memcmp(&C[GUARD + p->M * p->ldc + i], &poison, 8) != 0;
    }
    for (long long i = 0; i < p->M; i++)
        for (long long j = 0; j < p->ldc; j++) {
            double was = p->C[GUARD + i * p->ldc + j], is = C[GUARD + i * p->ldc + j];
            if (j >= p->N) {
                f.bad += memcmp(&was, &is, 8) != 0;
                continue;
            }
            long double sum = 0, size = 0; /* 64 bits or more */
            for (long long k = 0; k < p->K; k++) {
                double a = p->opA == TMM_OP_N ? p->A[i * p->lda + k] : p->A[k * p->lda + i];
                double b = p->opB == TMM_OP_N ? p->B[k * p->ldb + j] : p->B[j * p->ldb + k];
                sum += (long double)a * b;
                size += fabsl((long double)a * b);
            }
            sum *= p->alpha, size *= fabs(p->alpha);
            long double old = p->beta == 0 ? 0 : (long double)p->beta * was;
            if (!(size < 1e300L)) {
                if (strict == NULL) strict = run(p, TMM_GLOBAL);
                double as = strict[GUARD + i * p->ldc + j];
                f.bad += !(is == as || (is != is && as != as) || (isfinite(as) && isfinite(is)));
                continue;
            }
            long double error = fabsl(is - (sum + old)), extra = 2 * (fabsl(old) + size) * u;
            extra = p->alpha == 1 && p->beta == 0 ? 0 : extra;
            extra += (long double)p->K * ldexpl(1, -1075);
            if (!(error <= (p->K + 2) * u * size + extra)) f.bad++;
            if (size > 1e-280L && error / size / u > f.worst) f.worst = (double)(error / size / u);
            f.exact += is == (double)(sum + old);
        }
    f.exact /= (double)p->M * (double)p->N;
    free(strict);
    return f;
}

static void promise(long long M, long long N, long long K, int ops, int pad, int kind, double alpha,
                    double beta, const char *what)
{
    product p;
    make(&p, M, N, K, ops, pad, kind);
    p.alpha = alpha, p.beta = beta;
    if (beta != 0)
        for (long long i = 0; i < M; i++)
            for (long long j = 0; j < N; j++) p.C[GUARD + i * p.ldc + j] = tap_uniform();
    double *C = run(&p, TMM_TENSOR_INT8);
    finding f = look(&p, C);
    tap_ok(f.bad == 0 && (kind != INTEGERS || f.worst == 0),
           "%lld x %lld x %lld, %c%c, %s%s: worst error %.1f u of %lld u", M, N, K,
           ops & 1 ? 'T' : 'N', ops & 2 ? 'T' : 'N', kind_names[kind], what, f.worst, K + 2);
    if (f.bad) tap_note("%lld elements are wrong", f.bad);
    free(C);
    drop(&p);
}

/* All residues of all moduli matter: of random data most elements are the exact sum, rounded, as no
   chain of multiply-adds gives them. And then the bits do not depend on neighbours, M, N or op. */
static void by_residues(void)
{
    product p, part;
    make(&p, 100, 90, 300, 0, 1, PHI_HALF);
    fixed_wanted = 16;
    double *C = run(&p, TMM_TENSOR_INT8), *strict = run(&p, TMM_GLOBAL);
    finding f = look(&p, C), g = look(&p, strict);
    tap_ok(f.bad == 0 && f.exact > 0.8 && g.exact < 0.4,
           "16 moduli: %.0f %% are the exact sum, rounded, of multiply-adds %.0f %%", 100 * f.exact,
           100 * g.exact);
    part = p;
    part.M = 70, part.N = 33, part.dA = p.dA + 20 * p.lda, part.dB = p.dB + 40;
    double *D = run(&part, TMM_TENSOR_INT8);
    int equal = 1;
    for (int i = 0; i < 70; i++)
        equal &= memcmp(D + GUARD + i * p.ldc, C + GUARD + (i + 20) * p.ldc + 40, 33 * 8) == 0;
    tap_ok(equal, "16 moduli: a part of the product alone has the same bits");
    free(C), free(D), free(strict);
    for (int moduli = LEAST_MODULI; moduli <= 15; moduli++) {
        fixed_wanted = moduli;
        C = run(&p, TMM_TENSOR_INT8);
        f = look(&p, C);
        tap_ok(f.bad == 0, "%d moduli: worst error %.2f u, %.0f %% exact", moduli, f.worst,
               100 * f.exact);
        free(C);
    }
    fixed_wanted = -1;
    drop(&p);
}

/* Where nothing is proved, the bits are those of TMM_GLOBAL: of elements one by one, of tiles, of
   all if the device chooses FP64, by KERNEL TENSOR or without. */
static void open_elements(void)
{
    static const int fixed[] = {16, -1, -1}, fp64[] = {-1, 0, 1};
    static const char *const names[] = {"16 moduli, tiles", "FP64 for all",
                                        "FP64 for all by KERNEL TENSOR"};
    product p;
    double *C, *strict;
    make(&p, 130, 75, 90, 0, 1, GRADED_K);
    set_scalars(&p, -2, 0.5);
    strict = run(&p, TMM_GLOBAL);
    for (int n = 0; n < 3; n++) {
        fixed_wanted = fixed[n], fp64_wanted = fp64[n];
        C = run(&p, TMM_TENSOR_INT8);
        tap_ok(same(&p, C, strict), "graded k, %s: the bits of TMM_GLOBAL", names[n]);
        free(C);
    }
    fp64_wanted = -1, fixed_wanted = 16;
    free(strict);
    drop(&p);
    make(&p, 100, 110, 60, 3, 2, UNIFORM); /* a row and a column of NaN: one by one */
    check(cudaMemset(p.dA + 7 + 5 * p.lda, 0xff, 8));
    check(cudaMemset(p.dB + 3 + 100 * p.ldb, 0xff, 8));
    C = run(&p, TMM_TENSOR_INT8), strict = run(&p, TMM_GLOBAL);
    long long wrong = 0, here = 0;
    for (long long i = 0; i < p.M; i++)
        for (long long j = 0; j < p.N; j++) {
            double x = C[GUARD + i * p.ldc + j], y = strict[GUARD + i * p.ldc + j];
            wrong += (x != x) != (y != y), here += x != x;
        }
    tap_ok(wrong == 0 && here == p.M + p.N - 1, "a NaN in A and in B: a row and a column of C");
    fixed_wanted = -1;
    free(C), free(strict);
    drop(&p);
}

static void parts(void)
{
    product p;
    double *C;
    for (int n = 0; n < BOTH_PARTS; n++) {
        make(&p, n == 0 ? 530 : 40, n == 0 ? 40 : 390, 30, 2 - n, 1, PHI_1);
        fixed_wanted = 16, budget_wanted = 0;
        double *whole = run(&p, TMM_TENSOR_INT8);
        budget_wanted = tmm__int8_plan(n == 0 ? 512 : 40, n == 0 ? 40 : 384, 30, 0).bytes;
        C = run(&p, TMM_TENSOR_INT8);
        tap_ok(same(&p, C, whole), "in parts of %c: the same bits", n == 0 ? 'M' : 'N');
        free(C), free(whole);
        drop(&p);
    }
    make(&p, 20, 30, 1100, 1, 1, PHI_1);
    set_scalars(&p, 1, 0.5);
    budget_wanted = 1, fixed_wanted = -1;
    C = run(&p, TMM_TENSOR_INT8);
    finding f = look(&p, C);
    tap_ok(f.bad == 0, "in parts of K: worst error %.2f u", f.worst);
    budget_wanted = 0;
    free(C);
    drop(&p);
}

static void batches(void)
{
    enum { COUNT = 3 };
    product p;
    make(&p, 70, 50, 100, 0, 2, PHI_2);
    size_t c = (size_t)(p.M * p.ldc);
    double *dC, *dA, *C = (double *)malloc(COUNT * c * 8);
    check(cudaMalloc(&dA, COUNT * p.a * 8));
    check(cudaMalloc(&dC, COUNT * c * 8));
    for (int b = 0; b < COUNT; b++)
        check(cudaMemcpy(dA + b * p.a, p.A, p.a * 8, cudaMemcpyHostToDevice));
    for (int shared = 0; shared < 2; shared++) {
        check(cudaMemset(dC, 0xff, COUNT * c * 8));
        tmm_status status =
            tmm_dgemm_batched_with(TMM_TENSOR_INT8, p.opA, p.opB, p.M, p.N, p.K, 1, dA, p.lda, p.dB,
                                   p.ldb, 0, dC, p.ldc, shared ? 0 : (long long)p.a, 0,
                                   (long long)c, COUNT, 0);
        check(cudaMemcpy(C, dC, COUNT * c * 8, cudaMemcpyDeviceToHost));
        int equal = 1;
        for (int b = 1; b < COUNT; b++) equal &= memcmp(C, C + b * c, c * 8) == 0;
        double *whole = (double *)malloc(p.c * 8);
        memcpy(whole, p.C, p.c * 8);
        for (long long i = 0; i < p.M; i++)
            memcpy(whole + GUARD + i * p.ldc, C + i * p.ldc, (size_t)p.N * 8);
        finding f = look(&p, whole);
        tap_ok(status == TMM_OK && equal && f.bad == 0,
               "a batch%s: right, and the same bits at every position",
               shared ? " that shares A" : "");
        free(whole);
    }
    free(C);
    cudaFree(dA), cudaFree(dC);
    drop(&p);
}

/* A batch whose products are blocks on the diagonal of one product: its bits, and nothing beside
   them; by both tiles of mma.sync. */
static void diagonal(int ops)
{
    enum { COUNT = 3, DOWN = 70, ACROSS = 50 };
    product p;
    make(&p, COUNT * DOWN, COUNT * ACROSS, 60, ops, 1, PHI_1);
    set_scalars(&p, -2, 0.5);
    fixed_wanted = 16;
    double *like = run(&p, TMM_TENSOR_INT8), *C = (double *)malloc(p.c * 8);
    fixed_wanted = -1, instance_wanted = ops % 2;
    check(cudaMemcpy(p.dC, p.C, p.c * 8, cudaMemcpyHostToDevice));
    tmm_status status =
        tmm_dgemm_batched_with(TMM_TENSOR_INT8, p.opA, p.opB, DOWN, ACROSS, p.K, p.alpha, p.dA,
                               p.lda, p.dB, p.ldb, p.beta, p.dC + GUARD, p.ldc,
                               DOWN * (p.opA == TMM_OP_N ? p.lda : 1),
                               ACROSS * (p.opB == TMM_OP_N ? 1 : p.ldb), DOWN * p.ldc + ACROSS,
                               COUNT, 0);
    check(cudaMemcpy(C, p.dC, p.c * 8, cudaMemcpyDeviceToHost));
    instance_wanted = -1;
    for (long long i = 0; i < p.M; i++)
        for (long long j = 0; j < p.ldc; j++)
            if (j >= p.N || i / DOWN != j / ACROSS)
                memcpy(&like[GUARD + i * p.ldc + j], &p.C[GUARD + i * p.ldc + j], 8);
    tap_ok(status == TMM_OK && same(&p, C, like),
           "a batch, %c%c, alpha and beta: the bits of its parts of one product",
           ops & 1 ? 'T' : 'N', ops & 2 ? 'T' : 'N');
    free(C), free(like);
    drop(&p);
}

/* Host memory by several devices, or several times by one: the bits of a product. */
static void from_host_by_devices(int ops)
{
    enum { COUNT = 3 };
    product p;
    make(&p, 150, 70, 60, ops, 1, PHI_1);
    set_scalars(&p, 1.5, -0.5);
    fixed_wanted = 16;
    double *like = run(&p, TMM_TENSOR_INT8), *C = (double *)malloc(p.c * 8);
    fixed_wanted = -1;
    int devices = 1, numbers[COUNT];
    check(cudaGetDeviceCount(&devices));
    for (int i = 0; i < COUNT; i++) numbers[i] = i % devices;
    tmm_host_options options;
    memset(&options, 0, sizeof options);
    options.kernel = TMM_TENSOR_INT8, options.device_count = COUNT, options.devices = numbers;
    memcpy(C, p.C, p.c * 8);
    tmm_status status = tmm_dgemm_host(p.opA, p.opB, p.M, p.N, p.K, p.alpha, p.A, p.lda, p.B, p.ldb,
                                       p.beta, C + GUARD, p.ldc, &options);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
    tap_ok(status == TMM_OK && same(&p, C, like),
           "from host memory by three devices, %c%c, alpha and beta: the bits of one product",
           ops & 1 ? 'T' : 'N', ops & 2 ? 'T' : 'N');
    tmm_host_release();
    free(C), free(like);
    drop(&p);
}

/* Parts on several devices, or several on one: the bits of `whole`, all of C. */
static void on_parts(const product *p, const double *whole)
{
    enum { COUNT = 3 };
    static const long long rows[COUNT] = {40, 0, 60}, rows_B[COUNT] = {20, 10, 20};
    tmm_part parts[COUNT];
    long long row = 0, row_B = 0;
    int devices = 1, equal = 1;
    check(cudaGetDeviceCount(&devices));
    memset(parts, 0, sizeof parts);
    for (int n = 0; n < COUNT; n++) {
        void *A, *B, *C;
        parts[n].device = n % devices, parts[n].rows = rows[n], parts[n].rows_B = rows_B[n];
        parts[n].lda = p->lda, parts[n].ldb = p->ldb, parts[n].ldc = p->ldc;
        check(cudaSetDevice(parts[n].device));
        check(cudaMalloc(&A, p->a * 8));
        check(cudaMalloc(&B, p->b * 8));
        check(cudaMalloc(&C, p->c * 8));
        check(cudaMemcpy(A, p->A, p->a * 8, cudaMemcpyHostToDevice));
        check(cudaMemcpy(B, p->B, p->b * 8, cudaMemcpyHostToDevice));
        check(cudaMemset(C, 0xff, p->c * 8));
        parts[n].A = (double *)A + row * (p->opA == TMM_OP_N ? p->lda : 1);
        parts[n].B = (double *)B + row_B * p->ldb, parts[n].C = C;
        row += rows[n], row_B += rows_B[n];
    }
    check(cudaSetDevice(0));
    tmm_status status =
        tmm_dgemm_multi(p->opA, p->opB, p->M, p->N, p->K, 1, 0, parts, COUNT, TMM_TENSOR_INT8);
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
    double *C = (double *)malloc(p->c * 8);
    row = row_B = 0;
    for (int n = 0; n < COUNT; n++) {
        check(cudaMemcpy(C, parts[n].C, p->c * 8, cudaMemcpyDeviceToHost));
        for (long long i = 0; i < rows[n]; i++)
            equal &= memcmp(C + i * p->ldc, whole + (row + i) * p->ldc, (size_t)p->N * 8) == 0;
        check(cudaFree((double *)parts[n].A - row * (p->opA == TMM_OP_N ? p->lda : 1)));
        check(cudaFree((double *)parts[n].B - row_B * p->ldb));
        check(cudaFree(parts[n].C));
        row += rows[n], row_B += rows_B[n];
    }
    free(C);
    tap_ok(status == TMM_OK && equal, "gemm_multi, three parts: the bits of gemm_host");
}

/* What a product takes at a time. For each element of A and B it is a byte of each modulus and at most
   one of units, with lines and k rounded up, and some for lines; no more than the budget. */
static void memory(void)
{
    static const long long sizes[][3] = {{4096, 4096, 4096},
                                         {100, 70, 50},
                                         {65536, 64, 65536},
                                         {20000, 30000, 1000}};
    int little = 1, within = 1;
    for (int n = 0; n < 4; n++) {
        long long M = sizes[n][0], N = sizes[n][1], K = sizes[n][2];
        tmm__int8_layout l = tmm__int8_plan(M, N, K, 0);
        double padded = ((M + 63) / 64 + (N + 63) / 64) * 64.0 * ((K + 127) / 128) * 128;
        little &= l.C - l.operands[0] <= padded * (TMM__INT8_MOST + 2);
        size_t budget = (size_t)1 << 26;
        tmm__int8_parts(&M, &N, &K, 1, 0, budget);
        within &= tmm__int8_plan(M, N, K, 0).bytes <= budget;
    }
    tap_ok(little, "A and B take at most 18 bytes an element");
    tap_ok(within, "products of any size in parts of 64 MiB");
}

/* What the header's pool has given at most since it was asked last. */
static unsigned long long most_used(void)
{
    unsigned long long most = 0, zero = 0;
    cudaMemPool_t pool = tmm__pool(0);
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    return most;
}

/* As `run`, with these operands prepared; for those the pointers are NULL. */
static double *run_prepared(const product *p, const tmm_prepared *a, const tmm_prepared *b)
{
    double *C = (double *)malloc(p->c * 8);
    tmm_tensor_options options = {a, b};
    check(cudaMemcpy(p->dC, p->C, p->c * 8, cudaMemcpyHostToDevice));
    tmm_status status =
        tmm_dgemm_tensor(p->opA, p->opB, p->M, p->N, p->K, p->alpha, a ? NULL : p->dA, p->lda,
                         b ? NULL : p->dB, p->ldb, p->beta, p->dC + GUARD, p->ldc, &options, 0);
    if (status != TMM_OK) tap_note("%s: %s", tmm_status_string(status), tmm_last_error());
    check(cudaMemcpy(C, p->dC, p->c * 8, cudaMemcpyDeviceToHost));
    return C;
}

/* Prepares A in memory of its own, behind which nothing may be written, and B in the pool's; `like`
   is what products with any of them must be. */
static void prepared_like(const product *p, const double *like, const char *what)
{
    enum { BEHIND = 512 };
    tmm_prepared a, b;
    size_t bytes = 0, taken = 0;
    unsigned char *memory, behind[BEHIND];
    double padded = (double)((p->M + 63) / 64 * 64) * (double)((p->K + 127) / 128 * 128);
    tmm_status status = tmm_dgemm_prepare_memory(p->M, p->K, &bytes);
    int equal = 1, exact = 1, untouched = 1;
    check(cudaMalloc(&memory, bytes + BEHIND));
    check(cudaMemset(memory, 0xff, bytes + BEHIND));
    if (status == TMM_OK)
        status = tmm_dgemm_prepare_A(p->opA, p->M, p->K, p->dA, p->lda, memory, bytes, &a, 0);
    if (status == TMM_OK)
        status = tmm_dgemm_prepare_B(p->opB, p->K, p->N, p->dB, p->ldb, NULL, 0, &b, 0);
    if (status != TMM_OK) tap_note("%s: %s", tmm_status_string(status), tmm_last_error());
    check(cudaMemcpy(behind, memory + bytes, BEHIND, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BEHIND; i++) untouched &= behind[i] == 0xff;
    for (int which = 1; which < 4 && status == TMM_OK; which++) {
        tmm_tensor_options options = {which & 1 ? &a : NULL, which & 2 ? &b : NULL};
        size_t before = 0;
        check(cudaDeviceSynchronize());
        check(cudaMemPoolGetAttribute(tmm__pool(0), cudaMemPoolAttrUsedMemCurrent, &before));
        (void)most_used();
        double *C = run_prepared(p, options.A, options.B);
        size_t most = most_used() - before;
        status = tmm_dgemm_tensor_memory(p->M, p->N, p->K, &options, &taken);
        if (ON_RUNNER ? most != taken : most < taken || most > taken + (4 << 20)) exact = 0;
        if (!exact) tap_note("%zu bytes are said, %zu taken", taken, most);
        equal &= same(p, C, like);
        free(C);
    }
    tap_ok(status == TMM_OK && equal, "%lld x %lld x %lld, %s: the same with prepared A, B, both",
           p->M, p->N, p->K, what);
    tap_ok(untouched && exact && (double)bytes <= 18 * padded + 256,
           "prepared A takes %zu bytes, and a product as many as are said, %zu", bytes, taken);
    if (status == TMM_OK) (void)tmm_dgemm_release(&a, 0), (void)tmm_dgemm_release(&b, 0);
    cudaFree(memory);
}

static void prepared_operands(void)
{
    product p;
    double *like;
    for (int n = 0; n < BOTH_PARTS; n++) { /* tiles that begin and end within what is prepared */
        make(&p, n ? 40 : 530, n ? 390 : 40, 30, 2 * n, 1, GRADED);
        set_scalars(&p, -2, 0.5);
        fixed_wanted = 16;
        like = run(&p, TMM_TENSOR_INT8);
        fixed_wanted = -1;
        prepared_like(&p, like, "alpha and beta");
        budget_wanted = 1;
        prepared_like(&p, like, "in parts");
        budget_wanted = 0;
        free(like);
        drop(&p);
    }
    make(&p, 60, 40, 700, 3, 2, PHI_1); /* k in three launches, of 256 and the rest */
    depth_wanted = 300, fixed_wanted = 16;
    like = run(&p, TMM_TENSOR_INT8);
    fixed_wanted = -1;
    prepared_like(&p, like, "parts of K");
    depth_wanted = 0;
    free(like);
    drop(&p);
    make(&p, 70, 50, 90, 1, 1, GRADED_K);
    like = run(&p, TMM_GLOBAL);
    for (fp64_wanted = 0; fp64_wanted < 2; fp64_wanted++)
        prepared_like(&p, like, fp64_wanted ? "FP64 for all by KERNEL TENSOR" : "FP64 for all");
    fp64_wanted = -1;
    free(like);
    drop(&p);
    make(&p, 20, 30, 15, 2, 0, UNIFORM);
    like = run(&p, TMM_AUTO);
    prepared_like(&p, like, "K too short");
    free(like);
    drop(&p);
}

/* What is not prepared for this product is refused, and C stays as it is. */
static void prepared_errors(void)
{
    product p;
    make(&p, 60, 50, 40, 0, 0, UNIFORM);
    tmm_prepared b, other;
    tmm_tensor_options options = {NULL, &b};
    size_t bytes = 0;
    int refused = tmm_dgemm_prepare_B(TMM_OP_N, p.K, p.N, p.dB, p.ldb, NULL, 0, &b, 0) == TMM_OK;
    check(cudaMemcpy(p.dC, p.C, p.c * 8, cudaMemcpyHostToDevice));
#define WITH(N)                                                                       \
    tmm_dgemm_tensor(TMM_OP_N, TMM_OP_N, p.M, N, p.K, 1, p.dA, p.lda, p.dB, p.ldb, 0, \
                     p.dC + GUARD, p.ldc, &options, 0)
    refused &=
        WITH(p.N - 1) == TMM_ERROR_ARGUMENT && strstr(tmm_last_error(), "50 columns") != NULL;
    other = b, other.type = TMM_FLOAT, options.B = &other;
    refused &= WITH(p.N) == TMM_ERROR_ARGUMENT && strstr(tmm_last_error(), "of double") != NULL;
    other = b, other.is_B = 0, options.B = &other;
    refused &= WITH(p.N) == TMM_ERROR_ARGUMENT;
    refused &= tmm_dgemm_tensor_memory(p.M, p.N, p.K, &options, &bytes) == TMM_ERROR_ARGUMENT;
#undef WITH
    refused &= tmm_dgemm_tensor_memory(p.M, p.N, p.K, NULL, NULL) == TMM_ERROR_ARGUMENT;
    refused &= tmm_dgemm_tensor_memory(p.M, -1, p.K, NULL, &bytes) == TMM_ERROR_ARGUMENT;
    refused &= tmm_dgemm_prepare_memory(1ll << 30, 1ll << 30, &bytes) == TMM_ERROR_UNSUPPORTED;
    refused &= tmm_dgemm_prepare_A(TMM_OP_N, p.M, p.K, NULL, p.lda, NULL, 0, &other, 0) ==
                   TMM_ERROR_ARGUMENT &&
               other.memory == NULL;
    refused &= tmm_dgemm_prepare_A(TMM_OP_N, p.M, p.K, p.dA, p.lda, p.dC, 100, &other, 0) ==
               TMM_ERROR_MEMORY;
    double *C = (double *)malloc(p.c * 8);
    check(cudaMemcpy(C, p.dC, p.c * 8, cudaMemcpyDeviceToHost));
    tap_ok(refused && same(&p, C, p.C), "prepared for another product, or badly: refused");
    tap_ok(tmm_dgemm_release(&b, 0) == TMM_OK && tmm_dgemm_release(&b, 0) == TMM_OK,
           "released, also twice");
    free(C);
    drop(&p);
}

/* The pool gives as many bytes as are said, to products by name, too. */
static void query(void)
{
    static const long long sizes[][3] = {{70, 400, 40}, {1, 1, 16}, {20, 65, 600}, {50, 60, 15}};
    int exact = 1;
    for (int n = 0; n < 8; n++) {
        product p;
        size_t bytes = 0;
        make(&p, sizes[n / 2][0], sizes[n / 2][1], sizes[n / 2][2], n % 4, 0, UNIFORM);
        budget_wanted = n % 2 ? 3000000 : 0;
        check(cudaDeviceSynchronize());
        (void)most_used();
        free(n / 2 == 3 ? run_prepared(&p, NULL, NULL) : run(&p, TMM_TENSOR_INT8));
        size_t most = (size_t)most_used();
        exact &= tmm_dgemm_tensor_memory(p.M, p.N, p.K, NULL, &bytes) == TMM_OK;
        if (ON_RUNNER ? most != bytes : most < bytes || most > bytes + (4 << 20)) exact = 0;
        if (!exact) tap_note("%zu bytes are said, %zu taken", bytes, most);
        drop(&p);
    }
    budget_wanted = 0;
    tap_ok(exact, "tmm_dgemm_tensor_memory says what products take");
}

/* Host memory, in blocks of different sizes. */
static void from_host(void)
{
    product p;
    make(&p, 100, 70, 50, 1, 1, PHI_1);
    double *C[2];
    tmm_status status = TMM_OK;
    for (int n = 0; n < 2; n++) {
        tmm_host_options options;
        memset(&options, 0, sizeof options);
        options.kernel = TMM_TENSOR_INT8, options.block = n == 0 ? 0 : 64;
        C[n] = (double *)malloc(p.c * 8);
        memcpy(C[n], p.C, p.c * 8);
        if (status == TMM_OK)
            status = tmm_dgemm_host(p.opA, p.opB, p.M, p.N, p.K, 1, p.A, p.lda, p.B, p.ldb, 0,
                                    C[n] + GUARD, p.ldc, &options);
    }
    finding f = look(&p, C[0]);
    tap_ok(status == TMM_OK && f.bad == 0 && f.exact > 0.8 && same(&p, C[0], C[1]),
           "from host memory: right, and the same bits for all blocks");
    on_parts(&p, C[0] + GUARD);
    tmm_host_release();
    free(C[0]), free(C[1]);
    drop(&p);
}

static void rules(void)
{
    product p;
    make(&p, 40, 30, 20, 0, 0, UNIFORM);
    p.alpha = 0, p.beta = 0;
    tmm_status status = tmm_dgemm_with(TMM_TENSOR_INT8, TMM_OP_N, TMM_OP_N, p.M, p.N, p.K, 0, NULL,
                                       p.lda, NULL, p.ldb, 0, p.dC, p.ldc, 0);
    double first = 1;
    check(cudaMemcpy(&first, p.dC, 8, cudaMemcpyDeviceToHost));
    tap_ok(status == TMM_OK && first == 0, "alpha = 0 reads neither A nor B");
    drop(&p);
    make(&p, 40, 30, 15, 0, 0, UNIFORM);
    double *C = run(&p, TMM_TENSOR_INT8), *other = run(&p, TMM_AUTO);
    tap_ok(same(&p, C, other), "K = 15: as TMM_AUTO");
    free(C), free(other);
    drop(&p);
    int never = 1;
    for (long long n = 64; n <= 16384; n *= 4)
        never &= tmm_dgemm_choice(n, n, n, 1) != TMM_TENSOR_INT8;
    tap_ok(never, "TMM_DOUBLE_TENSOR 0: TMM_AUTO never takes TMM_TENSOR_INT8");
    const tmm__device is = *tmm__current_device();
    for (int n = 0; n < PRETENDED_GPUS; n++) {
        const pretended *gpu = &pretended_gpus[n];
        const int many = gpu->capability == 80 || gpu->capability == 100;
        pretend(gpu);
        d_test_times(gpu);
        d_test_remembered(gpu);
        d_test_clear(gpu, SET(many ? TMM_TENSOR : TMM_TENSOR_INT8));
    }
    become(&is);
    tap_ok(strcmp(tmm_kernel_string(TMM_TENSOR_INT8), "tensor_int8") == 0, "its name");
#ifndef FEWER
    make(&p, 60, 50, 64, 0, 0, UNIFORM);
    double *plain = run(&p, TMM_TENSOR_INT8);
    status = tmm_egemm_with(TMM_TENSOR_INT8, TMM_OP_N, TMM_OP_N, p.M, p.N, p.K, 1, p.dA, p.lda,
                            p.dB, p.ldb, 0, p.dC + GUARD, p.ldc, 0);
    C = (double *)malloc(p.c * 8);
    check(cudaMemcpy(C, p.dC, p.c * 8, cudaMemcpyDeviceToHost));
    int equal = status == TMM_OK;
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 50; j++) {
            size_t at = (size_t)(GUARD + i * p.ldc + j);
            equal &= C[at] == plain[at] + 2.0 * i - j;
        }
    tap_ok(equal, "an epilogue");
    free(C), free(plain);
    drop(&p);
#endif
}

int main(int argc, char **argv)
{
    tap_seed(20261124);
    if (argc > 1 && strcmp(argv[1], "few") == 0) {
        promise(65, 70, 130, 0, 1, PHI_1, 1, 0, "");
        promise(300, 200, 260, 3, 0, UNIFORM, 2, 0.5, ", alpha and beta");
        promise(70, 40, 60, 1, 1, GRADED_K, 1, 0, "");
        promise(66, 30, 64, 2, 1, WITH_NAN, 1, 0, "");
        return tap_done();
    }
    for (int ops = 0; ops < 4; ops++) promise(100, 70, 130, ops, ops % 2, UNIFORM, 1, 0, "");
    promise(1, 1, 16, 0, 0, UNIFORM, 1, 0, "");
    promise(3, 200, 150, 3, 3, UNIFORM, 1, 0, "");
    promise(65, 2, 300, 1, 0, PHI_1, 1, 0, "");
    promise(66, 67, 90, 0, 1, PHI_1, -1.5, 0, ", alpha");
    promise(66, 67, 90, 2, 2, PHI_2, 2, 0.75, ", alpha and beta");
    instance_wanted = 0;
    promise(70, 140, 100, 1, 1, PHI_1, 1, 0, ", tiles of 128 x 256");
    instance_wanted = -1;
    for (int kind = 0; kind < KINDS; kind += KIND_STEP)
        promise(60, 50, 128, kind == CANCEL ? 0 : kind % 4, 1, kind, 1, 0, "");
    by_residues();
    open_elements();
    parts();
    memory();
    prepared_operands();
    prepared_errors();
    query();
    batches();
    for (int ops = 0; ops < 4; ops++) diagonal(ops);
    from_host();
    for (int ops = 1; ops < 3; ops++) from_host_by_devices(ops);
    rules();
    return tap_done();
}
