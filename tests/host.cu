/* tmm_?gemm_host and tmm_?gemm_multi: the same bits for all shares of devices, blocks, streams and
   budgets; right products; what failures leave behind. Parts of K and pinned chunks are made small,
   so that small matrices have many. Lines of 700 bytes count as too long for a 2D copy. On the CPU
   runner CUCC_DEVICES gives the number of devices and CUCC_FAIL plants failures. If there are fewer
   devices than a test lists, these act as several. */
#include "tap.h"
#define TMM__HOST_PITCH               700
#define TMM__HOST_DEPTH               72
#define TMM__HOST_FIRST               24
#define TMM__HOST_CHUNK               4096
#define TMM__MULTI_COLUMNS            32
#define TMM_NAME                      biased
#define TMM_EPILOGUE(value, row, col) ((value) + 1)
#include "../tiledmm.cuh"

enum { MOST = 300, LISTED = 5, GUARD = 7 };
static int devices;
static int list[LISTED]; /* as many devices as there are, again and again */

/* ---------------------------------- one product, many ways ------------------------------------ */
/* The three types by one face. */
#define DEFINE_TYPE(letter, T)                                                                     \
    static tmm_status letter##_host(const struct problem *p, const void *A, const void *B,         \
                                    void *C, const tmm_host_options *o)                            \
    {                                                                                              \
        return tmm_##letter##gemm_host(p->opA, p->opB, p->M, p->N, p->K, (T)p->alpha,              \
                                       (const T *)A, p->lda, (const T *)B, p->ldb, (T)p->beta,     \
                                       (T *)C, p->ldc, o);                                         \
    }                                                                                              \
    static tmm_status letter##_multi(const struct problem *p, tmm_part *parts, int count)          \
    {                                                                                              \
        return tmm_##letter##gemm_multi(p->opA, p->opB, p->M, p->N, p->K, (T)p->alpha, (T)p->beta, \
                                        parts, count, TMM_AUTO);                                   \
    }                                                                                              \
    static tmm_status letter##_device(const struct problem *p, const void *A, const void *B,       \
                                      void *C)                                                     \
    {                                                                                              \
        return tmm_##letter##gemm_with(TMM_REGISTER, p->opA, p->opB, p->M, p->N, p->K,             \
                                       (T)p->alpha, (const T *)A, p->lda, (const T *)B, p->ldb,    \
                                       (T)p->beta, (T *)C, p->ldc, 0);                             \
    }

typedef struct problem {
    tmm_type type;
    tmm_op opA, opB;
    long long M, N, K, lda, ldb, ldc;
    double alpha, beta;
    size_t bytesA, bytesB, bytesC;
    int pinned;
    void *A, *B, *C, *before, *expected; /* C as it was, and as it should become */
} problem;

DEFINE_TYPE(s, float)
DEFINE_TYPE(d, double)
DEFINE_TYPE(i, int)

static const struct {
    size_t size;
    tmm_status (*host)(const problem *, const void *, const void *, void *,
                       const tmm_host_options *);
    tmm_status (*multi)(const problem *, tmm_part *, int);
    tmm_status (*device)(const problem *, const void *, const void *, void *);
} types[3] = {
    {sizeof(float), s_host, s_multi, s_device},
    {sizeof(double), d_host, d_multi, d_device},
    {sizeof(int), i_host, i_multi, i_device},
};

static void *get(size_t bytes, int pinned)
{
    void *memory = NULL;
    if (!pinned) memory = malloc(bytes);
    if (pinned && cudaMallocHost(&memory, bytes) != cudaSuccess) memory = NULL;
    if (memory) return memory;
    printf("Bail out! no memory\n");
    exit(1);
}

static void put_back(void *memory, int pinned)
{
    if (pinned)
        cudaFreeHost(memory);
    else
        free(memory);
}

static double value_of(tmm_type type, const void *X, long long at)
{
    return type == TMM_FLOAT    ? (double)((const float *)X)[at]
           : type == TMM_DOUBLE ? ((const double *)X)[at]
                                : (double)((const int *)X)[at];
}

/* rows x cols of numbers, and NaN (or a large int) wherever nothing may be read. */
static void fill(tmm_type type, void *X, long long rows, long long cols, long long ld, size_t bytes)
{
    memset(X, 0xff, bytes);
    for (long long i = 0; i < rows; i++)
        for (long long j = 0; j < cols; j++) {
            double value = tap_uniform();
            if (type == TMM_FLOAT) ((float *)X)[i * ld + j] = (float)value;
            if (type == TMM_DOUBLE) ((double *)X)[i * ld + j] = value;
            if (type == TMM_INT) ((int *)X)[i * ld + j] = (int)(value * 2e9);
        }
}

/* Matrices with lines longer than they need, C with a guard in front and behind. */
static void make_problem(problem *p, tmm_type type, tmm_op opA, tmm_op opB, long long M,
                         long long N, long long K, double alpha, double beta, int pinned)
{
    size_t size = types[type].size;
    long long rowsA = opA == TMM_OP_N ? M : K, colsA = opA == TMM_OP_N ? K : M;
    long long rowsB = opB == TMM_OP_N ? K : N, colsB = opB == TMM_OP_N ? N : K;
    p->type = type, p->opA = opA, p->opB = opB, p->M = M, p->N = N, p->K = K;
    p->alpha = alpha, p->beta = beta, p->pinned = pinned;
    p->lda = colsA + 3, p->ldb = colsB + 1, p->ldc = N + 2;
    p->bytesA = (size_t)(rowsA * p->lda + 1) * size;
    p->bytesB = (size_t)(rowsB * p->ldb + 1) * size;
    p->bytesC = (size_t)(M * p->ldc + 2 * GUARD) * size;
    p->A = get(p->bytesA, pinned), p->B = get(p->bytesB, pinned), p->C = get(p->bytesC, pinned);
    p->before = malloc(p->bytesC), p->expected = malloc(p->bytesC);
    fill(type, p->A, rowsA, colsA, p->lda, p->bytesA);
    fill(type, p->B, rowsB, colsB, p->ldb, p->bytesB);
    memset(p->before, 0xff, p->bytesC);
    if (beta != 0)
        fill(type, (char *)p->before + GUARD * size, M, N, p->ldc, p->bytesC - 2 * GUARD * size);
}

static void end_problem(problem *p)
{
    put_back(p->A, p->pinned);
    put_back(p->B, p->pinned);
    put_back(p->C, p->pinned);
    free(p->before);
    free(p->expected);
}

static tmm_status run_host(problem *p, const tmm_host_options *o)
{
    size_t size = types[p->type].size;
    memcpy(p->C, p->before, p->bytesC);
    return types[p->type].host(p, p->A, p->B, (char *)p->C + GUARD * size, o);
}

/* By the device function on one device, if K is not cut; and by sums of higher precision. */
static int right(const problem *p)
{
    size_t size = types[p->type].size;
    char *device[3] = {NULL, NULL, NULL};
    int wrong = 0;
    for (long long i = 0; i < p->M; i++)
        for (long long j = 0; j < p->N; j++) {
            long double sum = 0, absolute = 0;
            unsigned wrapped = 0;
            double old = p->beta != 0 ? value_of(p->type, p->before, GUARD + i * p->ldc + j) : 0;
            double x = value_of(p->type, p->expected, GUARD + i * p->ldc + j);
            for (long long k = 0; k < p->K && p->alpha != 0; k++) {
                double a =
                    value_of(p->type, p->A, p->opA == TMM_OP_N ? i * p->lda + k : k * p->lda + i);
                double b =
                    value_of(p->type, p->B, p->opB == TMM_OP_N ? k * p->ldb + j : j * p->ldb + k);
                sum += (long double)a * b;
                absolute += fabsl((long double)a * b);
                if (p->type == TMM_INT) wrapped += (unsigned)(int)a * (unsigned)(int)b;
            }
            if (p->type == TMM_INT) {
                wrapped =
                    wrapped * (unsigned)(int)p->alpha + (unsigned)(int)old * (unsigned)(int)p->beta;
                wrong += (int)x != (int)wrapped;
                continue;
            }
            double unit = p->type == TMM_FLOAT ? 6e-8 : 1.2e-16;
            double bound =
                (double)((p->K + 6) * unit *
                         (fabsl(p->alpha) * absolute + fabsl((long double)p->beta * old)));
            wrong += !(fabs(x - (double)(p->alpha * sum + p->beta * old)) <= bound);
        }
    if (p->K > TMM__HOST_DEPTH) return wrong == 0;
    char *C = (char *)malloc(p->bytesC);
    cudaMalloc((void **)&device[0], p->bytesA);
    cudaMalloc((void **)&device[1], p->bytesB);
    cudaMalloc((void **)&device[2], p->bytesC);
    cudaMemcpy(device[0], p->A, p->bytesA, cudaMemcpyHostToDevice);
    cudaMemcpy(device[1], p->B, p->bytesB, cudaMemcpyHostToDevice);
    cudaMemcpy(device[2], p->before, p->bytesC, cudaMemcpyHostToDevice);
    wrong += types[p->type].device(p, device[0], device[1], device[2] + GUARD * size) != TMM_OK;
    cudaMemcpy(C, device[2], p->bytesC, cudaMemcpyDeviceToHost);
    wrong += memcmp(C, p->expected, p->bytesC) != 0;
    for (int n = 0; n < 3; n++) cudaFree(device[n]);
    free(C);
    return wrong == 0;
}

/* Runs the problem on one device, whose result is expected ever after. */
static void expect(problem *p, const char *name)
{
    tmm_status status = run_host(p, NULL);
    memcpy(p->expected, p->C, p->bytesC);
    int good = right(p);
    tap_ok(status == TMM_OK && good, "%s: right on one device%s", name,
           p->K <= TMM__HOST_DEPTH ? ", with the bits of TMM_REGISTER" : "");
    if (status != TMM_OK) tap_note("%s: %s", tmm_status_string(status), tmm_last_error());
}

static int same_bits(problem *p, const tmm_host_options *o, const char *how)
{
    tmm_status status = run_host(p, o);
    if (status == TMM_OK && memcmp(p->C, p->expected, p->bytesC) == 0) return 1;
    tap_note("%s: %s", how, status == TMM_OK ? "other bits" : tmm_last_error());
    return 0;
}

/* All shares, blocks, streams and budgets give the expected bits. */
static void vary(problem *p, const char *name)
{
    size_t size = types[p->type].size;
    size_t whole = (size_t)(p->M * p->K + p->K * p->N + p->M * p->N) * size;
    int good = 1;
    for (int count = 1; count <= LISTED; count++) {
        tmm_host_options o;
        tmm_host_report report[LISTED];
        long long sum = 0;
        memset(&o, 0, sizeof o);
        o.device_count = count, o.devices = list, o.report = report;
        good &= same_bits(p, &o, "measured shares");
        for (int n = 0; n < count; n++) sum += report[n].rows;
        if (p->M > 0 && p->N > 0) good &= sum == p->M;
        const double weights[LISTED] = {1, 5, 0, 2.5, 0};
        o.weights = weights;
        o.block = 32;
        good &= same_bits(p, &o, "weights 1 : 5 : 0 : 2.5 : 0, blocks of 32");
        long long rows[LISTED] = {0};
        rows[count - 1] = p->M / 3;
        rows[0] += p->M - p->M / 3;
        o.rows = rows, o.block = 17, o.streams = 1 + count % 4, o.threads = count;
        good &= same_bits(p, &o, "two thirds to the first, blocks of 17");
    }
    tap_ok(good, "%s: same bits on 1 to %d listed devices, however shared out", name, (int)LISTED);
    good = 1;
    for (int step = 0; step < 6; step++) {
        static const size_t divisors[6] = {1, 2, 3, 6, 12, 30};
        tmm_host_options o;
        tmm_host_report report[2];
        memset(&o, 0, sizeof o);
        o.memory = whole / divisors[step] > 8192 ? whole / divisors[step] : 8192;
        o.device_count = 1 + step % 2, o.devices = list, o.report = report;
        o.streams = step % 5;
        o.block = step == 4 ? 40 : 0;
        good &= same_bits(p, &o, "little memory");
        for (int n = 0; n < o.device_count; n++)
            if (report[n].memory > o.memory) good = 0, tap_note("more memory than allowed");
    }
    tap_ok(good, "%s: same bits within 1/2 to 1/30 of the memory", name);
}

static void test_bits(void)
{
    static const struct {
        tmm_type type;
        tmm_op opA, opB;
        long long M, N, K;
        double alpha, beta;
        int pinned;
    } cases[] = {
        {TMM_FLOAT, TMM_OP_N, TMM_OP_N, 150, 131, 64, 1, 0, 0},
        {TMM_FLOAT, TMM_OP_N, TMM_OP_N, 97, 160, 200, 1, 0, 1},
        {TMM_FLOAT, TMM_OP_T, TMM_OP_N, 130, 61, 129, -0.5, 2, 0},
        {TMM_FLOAT, TMM_OP_N, TMM_OP_T, 61, 130, 73, 1.5, 1, 1},
        {TMM_DOUBLE, TMM_OP_T, TMM_OP_T, 75, 140, 190, 1, -1, 0},
        {TMM_DOUBLE, TMM_OP_N, TMM_OP_N, 140, 132, 60, 2, 0, 1},
        {TMM_DOUBLE, TMM_OP_N, TMM_OP_T, 90, 70, 128, 1, 0, 1},
        {TMM_FLOAT, TMM_OP_T, TMM_OP_T, 90, 170, 128, 1, 0, 1},
        {TMM_INT, TMM_OP_T, TMM_OP_N, 67, 71, 130, 3, -2, 0},
        {TMM_FLOAT, TMM_OP_N, TMM_OP_N, 1, 150, 3, 1, 0, 0},
        {TMM_FLOAT, TMM_OP_N, TMM_OP_T, 150, 1, 90, 1, 0.5, 0},
        {TMM_DOUBLE, TMM_OP_N, TMM_OP_N, 1, 1, 1, 1, 0, 0},
        {TMM_FLOAT, TMM_OP_N, TMM_OP_N, 50, 40, 0, 1, 3, 0},
        {TMM_DOUBLE, TMM_OP_T, TMM_OP_T, 50, 40, 30, 0, 0, 1},
        {TMM_FLOAT, TMM_OP_N, TMM_OP_N, 3, 5, 1300, 1, 0, 0}, /* lines longer than a chunk */
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        problem p;
        char name[80];
        make_problem(&p, cases[n].type, cases[n].opA, cases[n].opB, cases[n].M, cases[n].N,
                     cases[n].K, cases[n].alpha, cases[n].beta, cases[n].pinned);
        snprintf(name, sizeof name, "%c%c %lld x %lld x %lld, %s, %s",
                 p.opA == TMM_OP_N ? 'N' : 'T', p.opB == TMM_OP_N ? 'N' : 'T', p.M, p.N, p.K,
                 p.type == TMM_FLOAT    ? "float"
                 : p.type == TMM_DOUBLE ? "double"
                                        : "int",
                 p.pinned ? "pinned" : "pageable");
        expect(&p, name);
        vary(&p, name);
        end_problem(&p);
    }
}

/* Parts of K follow one another from 0 to K. None is empty or too deep; none but the last begins or
   ends off the alignment; K up to TMM__HOST_DEPTH is whole. */
static void test_cuts(void)
{
    int bad = 0, kinds = 0;
    for (long long K = 0; K <= 2000; K++)
        for (size_t size = 4; size <= 8; size += 4) {
            tmm__job job;
            int front;
            long long rest;
            memset(&job, 0, sizeof job);
            job.K = K, job.size = job.size_C = size, job.depth = TMM__HOST_DEPTH;
            long long parts = tmm__k_parts(&job, &front, &rest);
            bad += (parts == 1) != (K <= TMM__HOST_DEPTH);
            bad += tmm__k_begin(&job, 0) != 0 || tmm__k_begin(&job, parts) != K;
            for (long long n = 0; n < parts && K > 0; n++) {
                long long begin = tmm__k_begin(&job, n), depth = tmm__k_begin(&job, n + 1) - begin;
                bad += depth < 1 || depth > TMM__HOST_DEPTH || begin % 8 != 0;
                if (parts > 1 && n == 0) bad += depth < TMM__HOST_FIRST;
            }
            /* A short first part where it helps; whole, or cut because it must be, elsewhere. */
            if (front == 2) kinds |= rest > TMM__HOST_DEPTH ? (int)size / 4 : 4 * (int)size / 4;
        }
    tap_ok(bad == 0, "K is cut into parts that follow one another and are not too deep");
    tap_ok(kinds == (1 | 2 | 4), "and elements of 8 bytes have a short first part if they must");
}

/* ---------------------------------- progress, cancel ------------------------------------------ */
typedef struct watch {
    double last, stop_at;
    int calls, backwards;
} watch;

static int look(void *context, double done)
{
    watch *w = (watch *)context;
    w->backwards += done < w->last || done > 1;
    w->last = done;
    w->calls++;
    return done >= w->stop_at;
}

/* How many elements of C are neither as they were nor as they should become; *changed: the
   latter. */
static long long spoiled(const problem *p, long long *changed)
{
    size_t size = types[p->type].size;
    long long wrong = 0;
    *changed = 0;
    for (size_t at = 0; at < p->bytesC; at += size) {
        int old = memcmp((char *)p->C + at, (char *)p->before + at, size) == 0;
        int final = memcmp((char *)p->C + at, (char *)p->expected + at, size) == 0;
        wrong += !old && !final;
        *changed += !old && final;
    }
    return wrong;
}

static size_t free_memory(void)
{
    size_t sum = 0, free_bytes = 0, total = 0;
    int current = 0;
    cudaGetDevice(&current);
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        cudaMemGetInfo(&free_bytes, &total);
        sum += free_bytes;
    }
    cudaSetDevice(current);
    return sum;
}

static void test_progress(void)
{
    problem p;
    tmm_host_options o;
    watch w = {-1, 2, 0, 0};
    long long changed = 0;
    memset(&o, 0, sizeof o);
    o.block = 16, o.progress = look, o.context = &w;
    for (int pinned = 0; pinned < 2; pinned++) {
        make_problem(&p, TMM_FLOAT, TMM_OP_N, TMM_OP_N, 200, 150, 90, 1, 0, pinned);
        expect(&p, "progress");
        w.last = -1, w.stop_at = 2, w.calls = w.backwards = 0;
        int good = same_bits(&p, &o, "progress");
        tap_ok(good && w.calls > 3 && w.backwards == 0 && w.last == 1,
               "progress goes up from 0 to 1 (%d calls)", w.calls);
        /* The first calls leave memory in the pools, which later ones take again. */
        for (int count = 1; count <= 3; count++) {
            o.device_count = count, o.devices = list;
            w.last = -1, w.stop_at = 2;
            (void)run_host(&p, &o);
        }
        size_t before = free_memory();
        for (int count = 1; count <= 3; count++) {
            o.device_count = count;
            w.last = -1, w.stop_at = 0.25;
            tmm_status status = run_host(&p, &o);
            long long wrong = spoiled(&p, &changed);
            tap_ok(status == TMM_ERROR_CANCELLED && strstr(tmm_last_error(), "cancel") &&
                       wrong == 0 && changed > 0 && changed < p.M * p.N && free_memory() == before,
                   "cancelled on %d listed: a part of C is final, the rest untouched, all is freed",
                   count);
        }
        o.device_count = 0;
        end_problem(&p);
    }
}

/* ---------------------------------- operands on devices --------------------------------------- */
static void test_multi(tmm_type type, tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                       double alpha, double beta)
{
    problem p;
    size_t size = types[type].size;
    int good = 1;
    make_problem(&p, type, opA, opB, M, N, K, alpha, beta, 0);
    expect(&p, "multi");
    for (int count = 1; count <= LISTED; count++)
        for (int uneven = 0; uneven < 2; uneven++) {
            tmm_part parts[LISTED];
            char *memory[LISTED][3];
            long long row = 0, row_B = 0, all_B = opB == TMM_OP_N ? K : N;
            char *C = (char *)malloc(p.bytesC);
            memcpy(C, p.before, p.bytesC);
            for (int n = 0; n < count; n++) {
                tmm_part *t = &parts[n];
                int last = n == count - 1;
                memset(t, 0, sizeof *t);
                t->device = list[n];
                t->rows = last ? M - row : uneven ? (n % 2 ? 0 : M / 7) : M / count;
                t->rows_B = last ? all_B - row_B : uneven ? (n % 2 ? all_B / 3 : 0) : all_B / count;
                t->lda = p.lda, t->ldb = p.ldb, t->ldc = p.ldc;
                cudaSetDevice(t->device);
                for (int m = 0; m < 3; m++)
                    cudaMalloc((void **)&memory[n][m], m == 0   ? p.bytesA
                                                       : m == 1 ? p.bytesB
                                                                : p.bytesC);
                size_t offA = (size_t)(opA == TMM_OP_N ? row * p.lda : row) * size;
                size_t offB = (size_t)(row_B * p.ldb) * size;
                size_t offC = (size_t)(GUARD + row * p.ldc) * size;
                cudaMemcpy(memory[n][0], (char *)p.A + offA, p.bytesA - offA,
                           cudaMemcpyHostToDevice);
                cudaMemcpy(memory[n][1], (char *)p.B + offB, p.bytesB - offB,
                           cudaMemcpyHostToDevice);
                cudaMemcpy(memory[n][2], (char *)p.before + offC, p.bytesC - offC,
                           cudaMemcpyHostToDevice);
                t->A = memory[n][0], t->B = memory[n][1], t->C = memory[n][2];
                if (t->rows == 0) t->A = NULL, t->C = NULL, t->lda = t->ldc = 0;
                if (t->rows_B == 0) t->B = NULL, t->ldb = 0;
                row += t->rows, row_B += t->rows_B;
            }
            cudaSetDevice(0);
            tmm_status status = types[type].multi(&p, parts, count);
            row = 0;
            for (int n = 0; n < count; n++) {
                size_t offC = (size_t)(GUARD + row * p.ldc) * size;
                if (parts[n].rows > 0)
                    cudaMemcpy(C + offC, memory[n][2], (size_t)(parts[n].rows * p.ldc) * size,
                               cudaMemcpyDeviceToHost);
                if (parts[n].rows > 0 && !(parts[n].seconds > 0)) good = 0;
                row += parts[n].rows;
                for (int m = 0; m < 3; m++) cudaFree(memory[n][m]);
            }
            if (status != TMM_OK || memcmp(C, p.expected, p.bytesC) != 0) {
                tap_note("%d parts, uneven %d: %s", count, uneven,
                         status == TMM_OK ? "other bits" : tmm_last_error());
                good = 0;
            }
            free(C);
        }
    tap_ok(good, "gemm_multi, %c%c %lld x %lld x %lld: the bits of gemm_host on 1 to %d parts",
           opA == TMM_OP_N ? 'N' : 'T', opB == TMM_OP_N ? 'N' : 'T', M, N, K, (int)LISTED);
    end_problem(&p);
}

/* ---------------------------------- options --------------------------------------------------- */
/* Options at the ends of their ranges. */
static void test_options(void)
{
    static const double weights[4][2] = {{1e308, 1e308},
                                         {1.7e308, 1e308},
                                         {1e-320, 2e-320},
                                         {0, 5}};
    static const long long rows[4] = {50, 63, 33, 0};
    problem p;
    tmm_host_options o;
    tmm_host_report report[2];
    int good = 1;
    make_problem(&p, TMM_FLOAT, TMM_OP_N, TMM_OP_N, 100, 40, 30, 1, 0, 0);
    expect(&p, "options");
    memset(&o, 0, sizeof o);
    o.device_count = 2, o.devices = list, o.report = report;
    for (int n = 0; n < 4; n++) {
        o.weights = weights[n];
        good &= same_bits(&p, &o, "weights");
        good &= report[0].rows == rows[n] && report[1].rows == 100 - rows[n];
    }
    tap_ok(good, "weights may have any scale, also one at which their sum is infinite");
    o.weights = NULL, o.threads = 16, o.streams = 4;
    tap_ok(same_bits(&p, &o, "the most"), "16 threads and 4 streams are taken");
    end_problem(&p);
}

/* ---------------------------------- errors ---------------------------------------------------- */
/* An error of CUDA that the caller has seen, but left on record. */
static int leave_error(void)
{
    void *memory = NULL;
    cudaGetLastError();
    return cudaMalloc(&memory, (size_t)1 << 60) == cudaErrorMemoryAllocation &&
           cudaPeekAtLastError() == cudaErrorMemoryAllocation;
}

static void test_old_error(void)
{
    problem p;
    tmm_host_options o;
    static const double bad[2] = {1, -1};
    make_problem(&p, TMM_FLOAT, TMM_OP_N, TMM_OP_N, 50, 40, 30, 1, 0, 0);
    expect(&p, "an old error");
    memset(&o, 0, sizeof o);
    o.device_count = 2, o.devices = list, o.weights = bad;
    int left = leave_error();
    tmm_status status = run_host(&p, &o);
    tap_ok(left && status == TMM_ERROR_ARGUMENT &&
               cudaPeekAtLastError() == cudaErrorMemoryAllocation,
           "a refused call leaves an older error of CUDA on record");
    left = leave_error();
    tmm_host_release();
    tap_ok(left && cudaGetLastError() == cudaErrorMemoryAllocation, "so does tmm_host_release");
    o.weights = NULL;
    left = leave_error();
    tap_ok(left && same_bits(&p, &o, "an old error"), "and gemm_host does its work all the same");
    tmm_part part;
    float *memory[3] = {NULL, NULL, NULL};
    int good = 1;
    memset(&part, 0, sizeof part);
    part.rows = part.rows_B = part.lda = part.ldb = part.ldc = 8;
    for (int n = 0; n < 3; n++) good &= cudaMalloc((void **)&memory[n], 256) == cudaSuccess;
    part.A = memory[0], part.B = memory[1], part.C = memory[2];
    left = leave_error();
    status = tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, 8, 8, 8, 1, 0, &part, 1, TMM_AUTO);
    tap_ok(good && left && status == TMM_OK && cudaGetLastError() == cudaErrorMemoryAllocation,
           "gemm_multi, too, and the error stays on record");
    if (status != TMM_OK) tap_note("%s", tmm_last_error());
    for (int n = 0; n < 3; n++) cudaFree(memory[n]);
    end_problem(&p);
}

static void rejects(tmm_status status, tmm_status wanted, const char *word, const char *what)
{
    int good = status == wanted && strstr(tmm_last_error(), word) != NULL;
    tap_ok(good, "%s: %s", what, tmm_status_string(wanted));
    if (!good) tap_note("%s: \"%s\"", tmm_status_string(status), tmm_last_error());
}

static void test_errors(void)
{
    problem p;
    tmm_host_options o;
    static const int beyond[2] = {0, 99};
    static const long long too_few[2] = {3, 4}, too_many[2] = {30, 40}, negative[2] = {-1, 51};
    static const double bad[2] = {1, -1}, none[2] = {0, 0};
    static const double infinite[2] = {1, HUGE_VAL}, no_number[2] = {HUGE_VAL - HUGE_VAL, 1};
    float *device = NULL, small[8] = {1, 2, 3, 4};
    make_problem(&p, TMM_FLOAT, TMM_OP_N, TMM_OP_N, 50, 40, 30, 1, 0, 0);
    memset(p.expected, 0, p.bytesC);
#define TRY(set, wanted, word, what)       \
    do {                                   \
        memset(&o, 0, sizeof o);           \
        o.device_count = 2;                \
        o.devices = list;                  \
        set;                               \
        tmm_status got = run_host(&p, &o); \
        rejects(got, wanted, word, what);  \
    } while (0)
    TRY(o.devices = beyond, TMM_ERROR_DEVICE, "device 99", "a device that does not exist");
    TRY(o.device_count = -1, TMM_ERROR_ARGUMENT, "device_count", "a negative number of devices");
    TRY(o.rows = too_few, TMM_ERROR_ARGUMENT, "rows adds up to 7", "too few rows");
    TRY(o.rows = too_many, TMM_ERROR_ARGUMENT, "rows[1]", "too many rows");
    TRY(o.rows = negative, TMM_ERROR_ARGUMENT, "rows[0]", "negative rows");
    TRY(o.weights = bad, TMM_ERROR_ARGUMENT, "weights[1]", "a negative weight");
    TRY(o.weights = infinite, TMM_ERROR_ARGUMENT, "weights[1] is inf, but must be finite",
        "an infinite weight");
    TRY(o.weights = no_number, TMM_ERROR_ARGUMENT, "weights[0] is", "a weight that is no number");
    TRY(o.weights = none, TMM_ERROR_ARGUMENT, "weights", "all weights 0");
    TRY(o.streams = 5, TMM_ERROR_ARGUMENT, "streams", "too many streams");
    TRY(o.block = -3, TMM_ERROR_ARGUMENT, "block", "a negative block");
    TRY(o.kernel = (tmm_kernel)99, TMM_ERROR_ARGUMENT, "kernel is 99", "an unknown kernel");
    TRY(o.kernel = (tmm_kernel)-1, TMM_ERROR_ARGUMENT, "kernel is -1", "a negative kernel");
    TRY(o.threads = 17, TMM_ERROR_ARGUMENT, "threads is 17", "too many threads");
    TRY(o.threads = -1, TMM_ERROR_ARGUMENT, "threads is -1", "a negative number of threads");
    TRY(o.memory = 100, TMM_ERROR_MEMORY, "too few", "a budget for not even one element");
    long long changed = 0;
    tap_ok(spoiled(&p, &changed) == 0 && changed == 0, "none of these touches C");
    cudaMalloc((void **)&device, 64);
    rejects(tmm_sgemm_host(TMM_OP_N, TMM_OP_N, 2, 2, 2, 1, small, 2, device, 2, 0, small + 4, 2,
                           NULL),
            TMM_ERROR_ARGUMENT, "B is device memory", "device memory for B");
    cudaFree(device);
    rejects(tmm_sgemm_host(TMM_OP_N, TMM_OP_N, 2, 2, 2, 1, NULL, 2, small, 2, 0, small, 2, NULL),
            TMM_ERROR_ARGUMENT, "A is NULL", "A = NULL");
    rejects(tmm_sgemm_host(TMM_OP_N, TMM_OP_N, 2, 2, 2, 1, small, 1, small, 2, 0, small, 2, NULL),
            TMM_ERROR_ARGUMENT, "lda", "lda below K");
    rejects(tmm_biasedgemm_host(TMM_OP_N, TMM_OP_N, 2, 2, 1, 1, small, 1, small, 2, 0, small + 4, 2,
                                NULL),
            TMM_ERROR_UNSUPPORTED, "TMM_EPILOGUE", "a type with an epilogue");
    rejects(tmm_sgemm_host((tmm_op)7, TMM_OP_N, 2, 2, 2, 1, small, 2, small, 2, 0, small, 2, NULL),
            TMM_ERROR_ARGUMENT, "opA is 7", "an unknown opA");
    rejects(tmm_sgemm_cpu(TMM_OP_N, (tmm_op)-1, 2, 2, 2, 1, small, 2, small, 2, 0, small, 2),
            TMM_ERROR_ARGUMENT, "opB is -1", "an unknown opB of gemm_cpu");
    tap_ok(tmm_sgemm_host(TMM_OP_N, TMM_OP_N, 0, 2, 2, 1, NULL, 2, NULL, 2, 0, NULL, 2, NULL) ==
               TMM_OK,
           "M = 0 does nothing");
    tmm_part part;
    memset(&part, 0, sizeof part);
    part.lda = part.ldb = part.ldc = 8;
    rejects(tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, 8, 8, 8, 1, 0, &part, 1, TMM_AUTO),
            TMM_ERROR_ARGUMENT, "rows of C", "multi: parts without rows");
    part.rows = part.rows_B = 8;
    rejects(tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, 8, 8, 8, 1, 0, &part, 1, TMM_AUTO),
            TMM_ERROR_ARGUMENT, "parts[0]: A is NULL", "multi: A = NULL");
    rejects(tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, 8, 8, 8, 1, 0, NULL, 1, TMM_AUTO),
            TMM_ERROR_ARGUMENT, "parts is NULL", "multi: no parts");
    rejects(tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, 8, 8, 8, 1, 0, &part, 1, (tmm_kernel)99),
            TMM_ERROR_ARGUMENT, "kernel is 99", "multi: an unknown kernel");
    end_problem(&p);
}

/* What a call keeps for the next one must not outlive the device's context. */
static void test_reset(void)
{
    static float A[40 * 50], B[50 * 60], C[40 * 60];
    int wrong = 0;
    for (int n = 0; n < 40 * 50; n++) A[n] = (float)(int)(tap_uniform() * 8);
    for (int n = 0; n < 50 * 60; n++) B[n] = (float)(int)(tap_uniform() * 8);
    for (int turn = 0; turn < 2; turn++) {
        tmm_status status = tmm_smatmul(40, 60, 50, A, B, C);
        if (status != TMM_OK) tap_note("%s", tmm_last_error());
        wrong += status != TMM_OK;
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 60; j++) {
                float sum = 0;
                for (int k = 0; k < 50; k++) sum += A[i * 50 + k] * B[k * 60 + j];
                wrong += C[i * 60 + j] != sum;
            }
        for (int d = 0; d < devices; d++) {
            cudaSetDevice(d);
            cudaDeviceReset();
        }
        cudaSetDevice(0);
    }
    tap_ok(wrong == 0, "a product, cudaDeviceReset, and a product again");
}

/* ---------------------------------- planted failures ------------------------------------------ */
#ifdef __CUCC__
#include <dirent.h>
#include <unistd.h>

static int threads_now(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    if (folder == NULL) return -1;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

/* Are there more threads than `most`? One that has been joined may be listed for a moment more,
   also when `most` was counted. */
static int threads_stay(int most)
{
    for (int wait = 0; wait < 1000; wait++) {
        if (threads_now() <= most) return 0;
        usleep(10000);
    }
    return 1;
}

/* Every call of a kind fails once. */
static void fail_each(problem *p, const char *kind, tmm_status wanted, const char *word, int count)
{
    char plan[40];
    long long changed;
    int n = 0, bad = 0, threads = threads_now();
    size_t before = free_memory();
    tmm_status status;
    do {
        tmm_host_options o;
        static const double weights[3] = {1, 2, 1};
        memset(&o, 0, sizeof o);
        o.device_count = count, o.devices = list, o.block = 64;
        o.weights = strcmp(kind, "event") == 0 ? weights : NULL;
        snprintf(plan, sizeof plan, "%s:%d", kind, ++n);
        tmm_host_release(); /* else it would not ask for pinned memory */
        setenv("CUCC_FAIL", plan, 1);
        status = run_host(p, &o);
        setenv("CUCC_FAIL", "", 1);
        cudaSetDevice(0);
        int right_status = status == TMM_OK || (status == wanted && strstr(tmm_last_error(), word));
        if (!right_status || spoiled(p, &changed) != 0 || free_memory() != before ||
            threads_stay(threads)) {
            if (bad++ < 5)
                tap_note("%s: %s \"%s\", %zu bytes left", plan, tmm_status_string(status),
                         tmm_last_error(), before - free_memory());
        }
        /* The last of these calls may be in the cleaning up, which is all the same. */
    } while (n < 400 && (status != TMM_OK || n < 3));
    tap_ok(bad == 0 && n > 1,
           "%d listed, %s memory: each of %d failures of a %s is told, and leaves nothing", count,
           p->pinned ? "pinned" : "pageable", n - 1, kind);
}

static void test_failures(void)
{
    for (int pinned = 0; pinned < 2; pinned++) {
        problem p;
        make_problem(&p, TMM_FLOAT, TMM_OP_N, TMM_OP_N, 130, 100, 90, 1, 2, pinned);
        expect(&p, "failures");
        for (int count = 1; count <= 3; count += 2) {
            if (!pinned) fail_each(&p, "pinned", TMM_ERROR_MEMORY, "pinned", count);
            fail_each(&p, "malloc", TMM_ERROR_MEMORY, "device ", count);
            fail_each(&p, "stream", TMM_ERROR_MEMORY, "device ", count);
            fail_each(&p, "event", TMM_ERROR_MEMORY, "device ", count);
            fail_each(&p, "copy", TMM_ERROR_CUDA, "device ", count);
            fail_each(&p, "launch", TMM_ERROR_CUDA, "device ", count);
            fail_each(&p, "device", TMM_ERROR_DEVICE, "device ", count);
        }
        if (!pinned) {
            tmm_host_options o;
            memset(&o, 0, sizeof o);
            tmm_status first = run_host(&p, &o);
            setenv("CUCC_FAIL", "pinned:1", 1);
            tmm_status second = run_host(&p, &o);
            setenv("CUCC_FAIL", "", 1);
            tap_ok(first == TMM_OK && second == TMM_OK, "pinned memory is kept for the next call");
        }
        end_problem(&p);
    }
    /* A kernel that dies spoils its device: what can be freed is, and C is whole. */
    static const double ones[2] = {1, 1};
    problem p;
    tmm_host_options o;
    long long changed = 0;
    make_problem(&p, TMM_FLOAT, TMM_OP_N, TMM_OP_N, 130, 100, 90, 1, 0, 1);
    expect(&p, "failures");
    memset(&o, 0, sizeof o);
    o.device_count = 2, o.devices = list, o.block = 32;
    o.weights = ones;
    setenv("CUCC_FAIL", "kernel:7", 1);
    tmm_status status = run_host(&p, &o);
    setenv("CUCC_FAIL", "", 1);
    tap_ok(status == TMM_ERROR_CUDA && strstr(tmm_last_error(), "device ") &&
               spoiled(&p, &changed) == 0,
           "a kernel that dies: %s", tmm_last_error());
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        cudaDeviceReset();
    }
    cudaSetDevice(0);
    tap_ok(same_bits(&p, &o, "after a reset"), "and after a reset all is well");
    end_problem(&p);
}
#endif

int main(int count, char **words)
{
    /* compute-sanitizer takes what a reset frees for leaks */
    const int keep_device = count > 1 && strcmp(words[1], "--keep-device") == 0;
    tap_seed(20261121);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        tap_skip("host layer", "no CUDA device");
        return tap_done();
    }
    for (int n = 0; n < LISTED; n++) list[n] = n % devices;
    tap_note("%d devices", devices);
    test_cuts();
    test_bits();
    test_options();
    test_old_error();
    test_progress();
    test_multi(TMM_FLOAT, TMM_OP_N, TMM_OP_N, 140, 130, 100, 1, 0);
    test_multi(TMM_FLOAT, TMM_OP_T, TMM_OP_N, 60, 600, 90, 1.5, 2);
    test_multi(TMM_DOUBLE, TMM_OP_N, TMM_OP_T, 70, 530, 130, 1, 1);
    test_multi(TMM_INT, TMM_OP_T, TMM_OP_T, 33, 65, 40, 2, -1);
    test_multi(TMM_FLOAT, TMM_OP_N, TMM_OP_N, 20, 30, 0, 1, 2);
    test_errors();
#ifdef __CUCC__
    test_failures();
#endif
    if (!keep_device) test_reset();
    int current = -1;
    tap_ok(cudaGetDevice(&current) == cudaSuccess && current == 0,
           "the current device is as before");
    tmm_host_release(); /* a tool that looks for leaks would name what is kept */
    return tap_done();
}
