/* bench/shapes.cu - the products of tiledmm.cuh beside cuBLAS, at shapes that nobody listed: drawn
   at random from a seed.

   Build   nvcc -O3 -arch=native bench/shapes.cu -lcublas -o shapes
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native;
           cpu/cucc bench/shapes.cu for the CPU: checks alone, no cuBLAS)
   Run     ./shapes                      200 shapes of today's seed, all types; some minutes
           ./shapes --seed 7 --count 50 --kind 17-64 --type double --csv rows.csv
           ./shapes --shapes rows.csv    the same shapes again
           ./shapes --regret             every kernel and plan at each shape: how good is the choice?
           ./shapes --list               only prints the shapes; needs no device

   - M, N and K are log-uniform from 1 to 16384; in a tenth of the shapes one of them is from 16385 to
     200000. A, B and C have 4 GB at most (in double), and there are 2^42 multiply-adds at most.
     A quarter of the shapes has sizes rounded to multiples of 16, a quarter odd ones. Leading
     dimensions are equal to the columns in half of them, else multiples of 8, of 16, or odd pads.
   - Every other shape is as it comes; the rest is drawn kind by kind, so that each has its shapes:
       1-16      min(M, N) <= 16
       17-64     min(M, N) <= 64 beside more than 512: a batch of requests times weights
       65-256    min(M, N) <= 256 beside more than 512
       small     max(M, N) <= 512, K < 4096
       mid       all others of M N K <= 2048^3
       large     all others
       long_k    few tiles: max(M, N) <= 512 and K >= 4096; or M N <= 2^20 and K >= 8192
       short_k   min(M, N) > 256, K <= 256
   - Types: float and double by TMM_AUTO; tensor is float by TMM_AUTO_TENSOR, where min(M, N) >= 17 and
     max(M, N) and K are at least 256; int8 is double by TMM_AUTO_TENSOR, where M, N and K are at
     least 256: what TMM_AUTO does in a program that defines TMM_DOUBLE_TENSOR. Beside cublas?gemm
     in its default mode, without TF32, with a workspace of 32 MiB, its own default on sm_90.
   - Inputs are uniform in (-1, 1); all that lies between and around matrices is NaN. C is poisoned
     with NaN before the call that is checked. All of it must be written, and nothing else; at least
     512 elements (all of a small C) are compared with sums in twice the precision of double, and
     must keep (K + 2) u |A||B|, and 32 u |A||B|, which TF32 does not; all are compared with those of
     cuBLAS. No product underflows.
   - Ours and theirs in turn, seven slices of 6 ms each (three, of calls that take longer); the median.
     Where one of them takes less than 50 us, both are timed in CUDA graphs of 20 to 250
     calls, else on a stream. --sustained: slices of 300 ms, three of each, where calls take 200 us
     or more. The column `cache` says whether operands may stay in L2 between calls:
     "warm" does. --cold takes turns with copies of them, twice as large as L2 together.
   - The limit is whatever takes longest: A, B and C once through memory, 2 M N K operations, or an
     empty kernel with a block for each multiprocessor, in a graph or on a stream as they are, measured
     in this run. Rates come from a table. Warm operands may be faster than memory.
   - A plan is an instance of a kernel, how k is cut, and slices: "2 reduce 5". Instances are
     numbered in the order of their list; skinny 1 is along k, of pipelined 3, and of double
     tensor the numbers of a second round, are with packed operands. Behind "whole" stand the warps
     of a block (outer) or of a tile (small). tensor_int8 has no plans: the device chooses. --regret
     forces each plan that the launcher compares, one by one; of numbers of slices that are less
     than a quarter apart, one. Plans that are 15% behind the fastest after two slices are timed no
     further. */
#include "plans.h"
#define TMM_FLOAT_TENSOR  0 /* compiled, but taken only where they are asked for */
#define TMM_DOUBLE_TENSOR 0
#define TMM_NO_INT
#include "../tiledmm.cuh"
#ifndef __CUCC__ /* the CPU runner has neither cuBLAS nor graphs */
#include <cublas_v2.h>
#endif
#define BENCH "shapes"
#include "check.h"
#include "draw.h"
#include "probe.h"
#include "rates.h"
#include "shapes_options.h"
#include "summary.h"

enum {
    ROUNDS = 7,
    ROUNDS_LONG = 3,
    MOST_CONTENDERS = 256,
    DROP_AFTER = 2, /* rounds, plans that are far behind */
    LEAST_SAMPLES = 512,
    MOST_SAMPLES = 65536,
    MOST_SETS = 32
};
enum { LEAST_CALLS = 20, MOST_CALLS = 250 }; /* of a graph */
static const double GRAPH_BELOW = 50;        /* microseconds */
#ifdef CUBLAS_VER_MAJOR
static const double SLICE = 6e3; /* microseconds */
#else
static const double SLICE = 0; /* a call is enough */
#endif
static const double LONG = 20e3;       /* microseconds */
static const double SUSTAINED = 300e3; /* microseconds of a slice, of calls from this on: */
static const double SUSTAINED_FROM = 200;
static const double GRAPH_LENGTH = 2e3; /* microseconds, by the time on a stream */
static const double STRICT = 32;        /* units that every strict order of sums keeps, TF32 not */
static const double HOPELESS = 1.5;     /* times the fastest: not timed any further, unless */
static const double HOST_BOUND = 20;    /* microseconds on a stream may be the host's */
static const double FAR = 1.15;         /* times the fastest, in the same way as it */
static const double SHORT_WORK = 1e8;   /* multiply-adds up to which SHARED_16 may be the fastest */
static const size_t WORKSPACE = (size_t)32 << 20;

typedef struct CUgraphExec_st *graph_handle; /* cudaGraphExec_t */

/* Ours by one kernel and plan, or cuBLAS. */
typedef struct contender {
    int cublas, candidate; /* candidate: its place among the candidates */
    tmm_kernel kernel;
    const plan *forced; /* NULL: the launcher's own plan */
    graph_handle graph;
    int per_graph, calls, rounds, done; /* calls: of a slice, graphs or products */
    double times[ROUNDS];
    double us, error; /* error: the largest over the bound */
    u64 checksum;
    const char *result;
} contender;

/* What is multiplied: `sets` times A, B, C and D, each set `bytes` long. C is ours, D is theirs. */
typedef struct problem {
    shape s;
    measured_type type;
    tmm_type element;
    tmm_op opA, opB;
    matrix A, B, C, D;
    size_t bytes;
    int sets, cold; /* cold: none of it is in L2 when it is needed again */
    u64 seed;
} problem;

typedef struct bench {
    options o;
    report out;
    rates r;
    double launch[2]; /* microseconds of an empty kernel: on a stream, in a graph */
    int processors;
    size_t l2;
    cudaStream_t stream;
    cudaEvent_t from, to;
#ifdef CUBLAS_VER_MAJOR
    cublasHandle_t cublas;
    void *workspace;
#endif
    findings *found; /* device */
    void *pool;
    size_t pool_bytes;
    problem q;
    int failures, count;
    shape shapes[MOST_SHAPES];
    row *rows;
    int row_count;
} bench;
static bench state;

/* ---------------------------------- limits ---------------------------------------------------- */
/* Is this shape measured with this type? */
static int is_for(const shape *s, measured_type type)
{
    const long long narrow = least_of(s->M, s->N);
    if (type == TYPE_INT8) return narrow >= 256 && s->K >= 256;
    return type != TYPE_TENSOR || (narrow >= 17 && most_of(s->M, s->N) >= 256 && s->K >= 256);
}

static void set_limit(const bench *w, row *r)
{
    const shape *s = &r->s;
    double size = (double)type_size(element_of(r->type));
    double bytes = size * ((double)s->M * (double)s->K + (double)s->K * (double)s->N +
                           (double)s->M * (double)s->N);
    double us[LIMIT_KINDS];
    us[BY_MEMORY] = 1e6 * bytes / w->r.read;
    us[BY_ARITHMETIC] = 1e6 * 2 * work_of(s) / w->r.flops[r->type];
    us[BY_LAUNCH] = w->launch[r->graph];
    r->bound = BY_MEMORY;
    for (int n = 0; n < LIMIT_KINDS; n++)
        if (us[n] > us[r->bound]) r->bound = (limit_kind)n;
    r->limit = us[r->bound];
}

/* ---------------------------------- the contenders -------------------------------------------- */
/* Sizes and places of all matrices in the pool. */
static void lay_out(bench *w, const shape *s, measured_type type)
{
    problem *q = &w->q;
    matrix *all[4] = {&q->A, &q->B, &q->C, &q->D};
    const long long rows[4] = {rows_A(s), rows_B(s), s->M, s->M};
    const long long cols[4] = {cols_A(s), cols_B(s), s->N, s->N};
    const long long ld[4] = {s->lda, s->ldb, s->ldc, s->ldc};
    q->s = *s, q->type = type, q->element = element_of(type);
    q->opA = s->opA == 'T' ? TMM_OP_T : TMM_OP_N, q->opB = s->opB == 'T' ? TMM_OP_T : TMM_OP_N;
    q->bytes = 0;
    for (int n = 0; n < 4; n++) {
        matrix m = {w->pool ? (char *)w->pool + q->bytes : NULL, GUARD, rows[n], cols[n], ld[n], 1};
        *all[n] = m;
        q->bytes += matrix_bytes(&m, q->element);
    }
    size_t touched = q->bytes - matrix_bytes(&q->D, q->element); /* by ours; theirs leave out C */
    q->sets = 1;
    while (w->o.cold && q->sets < MOST_SETS && q->sets * touched < 2 * w->l2) q->sets++;
    q->cold = q->sets * touched >= 2 * w->l2;
}
static void *data_of(const problem *q, const matrix *m, int set)
{
    return (char *)matrix_data(m, q->element) + (size_t)set * q->bytes;
}

/* cuBLAS is column-major: it is asked for C^T = op(B)^T op(A)^T. */
#define DEFINE_OURS(letter, T)                                                                  \
    static tmm_status letter##_ours(const problem *q, tmm_kernel kernel, int set,               \
                                    cudaStream_t stream)                                        \
    {                                                                                           \
        const shape *s = &q->s;                                                                 \
        return tmm_##letter##gemm_with(kernel, q->opA, q->opB, s->M, s->N, s->K, 1,             \
                                       (const T *)data_of(q, &q->A, set), s->lda,               \
                                       (const T *)data_of(q, &q->B, set), s->ldb, 0,            \
                                       (T *)data_of(q, &q->C, set), s->ldc, stream);            \
    }                                                                                           \
    static tmm_##letter##gemm__product letter##_product(const problem *q)                       \
    {                                                                                           \
        const shape *s = &q->s;                                                                 \
        tmm_##letter##gemm__product p =                                                         \
            tmm_##letter##gemm__make_product(q->opA, q->opB, s->M, s->N, s->K, s->lda, s->ldb); \
        p.alpha = 1, p.ldc = s->ldc, p.batch = 1, p.allowed = TMM__CUT_K | TMM__PACK;           \
        p.A = (const T *)data_of(q, &q->A, 0), p.B = (const T *)data_of(q, &q->B, 0);           \
        p.C = (T *)data_of(q, &q->C, 0);                                                        \
        return p;                                                                               \
    }                                                                                           \
    /* What runs for TMM_AUTO or TMM_AUTO_TENSOR. */                                            \
    static tmm_kernel letter##_chosen(const problem *q, tmm_kernel kernel)                      \
    {                                                                                           \
        const tmm_##letter##gemm__product p = letter##_product(q);                              \
        return tmm_##letter##gemm__resolve(kernel, &p, 1);                                      \
    }                                                                                           \
    /* Nanoseconds that a kernel should take, by its plan or the one that is forced. */         \
    static double letter##_time(const problem *q, tmm_kernel kernel)                            \
    {                                                                                           \
        const tmm_##letter##gemm__product p = letter##_product(q);                              \
        const tmm_##letter##gemm__kernel *row = tmm_##letter##gemm__row(kernel);                \
        return row->time(&p, row);                                                              \
    }
#define DEFINE_CUBLAS(letter, L, T)                                                             \
    static cublasStatus_t letter##_theirs(const bench *w, int set)                              \
    {                                                                                           \
        static const T one = 1, zero = 0;                                                       \
        const problem *q = &w->q;                                                               \
        const shape *s = &q->s;                                                                 \
        return cublas##L##gemm(w->cublas, s->opB == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N,            \
                               s->opA == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N, (int)s->N, (int)s->M, \
                               (int)s->K, &one, (const T *)data_of(q, &q->B, set), (int)s->ldb, \
                               (const T *)data_of(q, &q->A, set), (int)s->lda, &zero,           \
                               (T *)data_of(q, &q->D, set), (int)s->ldc);                       \
    }
DEFINE_OURS(s, float)
DEFINE_OURS(d, double)
#ifdef CUBLAS_VER_MAJOR
DEFINE_CUBLAS(s, S, float)
DEFINE_CUBLAS(d, D, double)
#endif

static tmm_kernel auto_of(measured_type type)
{
    return type == TYPE_TENSOR || type == TYPE_INT8 ? TMM_AUTO_TENSOR : TMM_AUTO;
}
static tmm_kernel chosen_for(const problem *q)
{
    return q->element == TMM_FLOAT ? s_chosen(q, auto_of(q->type)) : d_chosen(q, auto_of(q->type));
}

static double predicted_for(const problem *q, tmm_kernel kernel)
{
    return q->element == TMM_FLOAT ? s_time(q, kernel) : d_time(q, kernel);
}

/* Call number `call` of a contender, or a launch of its graph; 0 if it does not do this. */
static int enqueue(bench *w, const contender *c, int call)
{
    const problem *q = &w->q;
    int set = call % q->sets;
#ifdef CUBLAS_VER_MAJOR
    if (c->graph) {
        must(cudaGraphLaunch(c->graph, w->stream), "launch of a graph");
        return 1;
    }
    if (c->cublas)
        return (q->element == TMM_FLOAT ? s_theirs(w, set) : d_theirs(w, set)) ==
               CUBLAS_STATUS_SUCCESS;
#endif
    force_plan(c->forced);
    tmm_status status = q->element == TMM_FLOAT ? s_ours(q, c->kernel, set, w->stream)
                                                : d_ours(q, c->kernel, set, w->stream);
    force_plan(NULL);
    return status == TMM_OK;
}

/* ---------------------------------- timing ---------------------------------------------------- */
/* Microseconds for each product of `calls` calls, or launches of a graph, back to back; negative if
   one was refused. A call on a stream comes behind one that does not count, unless it is long: what
   the first does after a synchronisation, above all getting memory, is done then. Products of bytes
   need so much that it shows in long ones, too. */
static double time_calls(bench *w, const contender *c, int calls)
{
    float ms = 0;
    int good = 1;
    spin<<<1, 1, 0, w->stream>>>(HOLD);
    if (!c->graph && (c->us < LONG || (w->q.type == TYPE_INT8 && !c->cublas)))
        good = enqueue(w, c, calls);
    must(cudaEventRecord(w->from, w->stream), "event");
    for (int n = 0; n < calls && good; n++) good = enqueue(w, c, n);
    must(cudaEventRecord(w->to, w->stream), "event");
    must(cudaEventSynchronize(w->to), "the kernels that were timed");
    must(cudaGetLastError(), "launch");
    must(cudaEventElapsedTime(&ms, w->from, w->to), "event");
    return good ? ms * 1e3 / calls / (c->graph ? c->per_graph : 1) : -1;
}

static void drop_graph(contender *c)
{
#ifdef CUBLAS_VER_MAJOR
    if (c->graph) must(cudaGraphExecDestroy(c->graph), "end of a graph");
#endif
    c->graph = NULL;
}

/* A graph of `calls` calls; NULL if one of them does not let itself be captured. */
static graph_handle capture(bench *w, const contender *c, int calls)
{
    graph_handle ready = NULL;
#ifdef CUBLAS_VER_MAJOR
    cudaGraph_t graph = NULL;
    int good = 1;
    must(cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeRelaxed), "begin of capture");
    for (int n = 0; n < calls && good; n++) good = enqueue(w, c, n);
    if (cudaStreamEndCapture(w->stream, &graph) != cudaSuccess) good = 0;
    if (good && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = NULL;
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError(); /* a failed capture is no failure of what follows */
#else
    (void)w, (void)c, (void)calls;
#endif
    return ready;
}

/* Leaves about how long a call takes on a stream; those that are far behind take no part in what
   follows. Puts all of the others into graphs, if one of them is short, or none. */
static int prepare(bench *w, contender *c, int count)
{
    double fastest = 0;
    int graphs;
    for (int n = 0; n < count; n++) {
        double us = c[n].result ? -1 : time_calls(w, &c[n], 1);
        for (int calls = 4; us > 0 && us * calls < SLICE / 2 && calls <= 256; calls *= 4)
            us = time_calls(w, &c[n], calls);
        c[n].us = us;
        if (us <= 0 && !c[n].result) c[n].result = "refused";
        if (us > 0 && (fastest == 0 || us < fastest)) fastest = us;
    }
    graphs = fastest < GRAPH_BELOW;
    for (int n = 0; n < count; n++) {
        int hopeless = w->o.regret && n > 0 && c[n].us > HOPELESS * fastest && c[n].us > HOST_BOUND;
        c[n].rounds = c[n].us > SLICE ? ROUNDS_LONG : ROUNDS;
        if (c[n].us <= 0 || hopeless) c[n].rounds = 0;
        if (c[n].rounds == 0 || !graphs) continue;
        double calls = GRAPH_LENGTH / c[n].us;
        c[n].per_graph = calls < LEAST_CALLS  ? LEAST_CALLS
                         : calls > MOST_CALLS ? MOST_CALLS
                                              : (int)calls;
        c[n].graph = capture(w, &c[n], c[n].per_graph);
        if (!c[n].graph) graphs = 0;
    }
    for (int n = 0; n < count && !graphs; n++) drop_graph(&c[n]);
    return graphs;
}

/* After so many rounds that a hiccup does not decide: plans that are far behind. */
static void drop_slow(contender *c, int count)
{
    double least[MOST_CONTENDERS], fastest = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        least[n] = HUGE_VAL;
        for (int t = 0; t < c[n].done; t++) least[n] = fmin(least[n], c[n].times[t]);
        fastest = fmin(fastest, least[n]);
    }
    for (int n = 1; n < count; n++)
        if (least[n] > FAR * fastest) c[n].rounds = c[n].done;
}

/* Times the contenders in turn, slice by slice, and leaves the median of each. Returns whether they
   were in graphs. */
static int race(bench *w, contender *c, int count)
{
    int graphs = prepare(w, c, count);
    double fastest = HUGE_VAL, slice = SLICE;
    for (int n = 0; n < count; n++)
        if (c[n].rounds > 0) fastest = fmin(fastest, c[n].us);
    const int sustained = w->o.sustained && SLICE > 0 && fastest >= SUSTAINED_FROM;
    if (sustained) slice = SUSTAINED;
    for (int n = 0; n < count; n++) {
        if (c[n].rounds == 0) continue;
        if (sustained) c[n].rounds = ROUNDS_LONG;
        if (graphs) (void)time_calls(w, &c[n], 1); /* the first launch of a graph takes longer */
        double us = graphs ? time_calls(w, &c[n], 1) * c[n].per_graph : c[n].us;
        c[n].calls = us < slice ? (int)(slice / us) : 1;
    }
    /* Forth and back, so that neither is always first. */
    for (int round = 0; round < ROUNDS; round++) {
        if (round == DROP_AFTER && w->o.regret) drop_slow(c, count);
        for (int n = 0; n < count; n++) {
            contender *x = &c[round % 2 ? count - 1 - n : n];
            if (x->done < x->rounds) x->times[x->done++] = time_calls(w, x, x->calls);
        }
    }
    for (int n = 0; n < count; n++) {
        if (c[n].done) c[n].us = median(c[n].times, c[n].done);
        drop_graph(&c[n]);
    }
    return graphs;
}

/* ---------------------------------- checks ---------------------------------------------------- */
/* Blocks of 256 threads for so many cells. */
static unsigned blocks_for(long long cells)
{
    return (unsigned)least_of(2048, (cells - 1) / 256 + 1);
}

static findings get_findings(bench *w)
{
    findings f;
    must(cudaMemcpyAsync(&f, w->found, sizeof f, cudaMemcpyDeviceToHost, w->stream), "findings");
    must(cudaStreamSynchronize(w->stream), "the kernels that were checked");
    return f;
}

/* Poisons C, runs it once and leaves error and, if something is wrong, result. */
static void check(bench *w, contender *c, int has_peer)
{
    const problem *q = &w->q;
    const matrix *m = c->cublas ? &q->D : &q->C;
    double unit = type_unit[q->element], bound = ((double)q->s.K + 2) * unit, error;
    c->us = c->error = 0;
    must(cudaMemsetAsync(m->start, 0xff, matrix_bytes(m, q->element), w->stream), "poison");
    must(cudaMemsetAsync(w->found, 0, sizeof *w->found, w->stream), "poison");
    if (!enqueue(w, c, 0)) {
        c->result = "refused";
        if (!c->cublas && c->kernel == auto_of(q->type))
            fprintf(stderr, "shapes: %s\n", tmm_last_error());
        return;
    }
    /* so many samples that they take some 2^26 products, and squares that they fill C with */
    double rows = (double)m->rows, cols = (double)m->cols, most = 67108864.0 / (double)q->s.K;
    most = fmin(fmax(most, LEAST_SAMPLES), MOST_SAMPLES);
    int edge = (int)ceil(sqrt(rows * cols / most));
    long long samples = (long long)(ceil(rows / edge) * ceil(cols / edge)), cells = matrix_cells(m);
    operands given = {q->element, q->opA, q->opB, q->A, q->B, q->seed};
    check_cells<<<blocks_for(cells), 256, 0, w->stream>>>(q->element, *m, cells, w->found);
    check_samples<<<(unsigned)((samples + 7) / 8), 256, 0, w->stream>>>(given, *m, edge, samples, 0,
                                                                        w->found);
    if (has_peer) /* a sum of K products in (-1, 1) never strays this far, an element left out does */
        check_peer<<<blocks_for(cells), 256, 0, w->stream>>>(q->element, *m, q->D, cells,
                                                             64 * unit * (double)q->s.K, w->found);
    must(cudaGetLastError(), "launch of the checks");
    findings f = get_findings(w);
    c->checksum = f.checksum;
    memcpy(&error, &f.error, sizeof error);
    c->error = error / bound;
    if (error > STRICT * unit) c->result = "IMPRECISE";
    if (!(c->error <= 1) || f.differing) c->result = "WRONG";
    if (f.infinite) c->result = "NOT FINITE";
    if (f.unwritten) c->result = "UNWRITTEN";
    if (f.outside) c->result = "OUTSIDE C";
    if (c->result) w->failures++;
}

static void fill(bench *w)
{
    const problem *q = &w->q;
    must(cudaMemsetAsync(w->pool, 0xff, (size_t)q->sets * q->bytes, w->stream), "memory");
    for (int set = 0; set < q->sets; set++)
        for (int n = 0; n < 2; n++) {
            matrix m = n ? q->B : q->A;
            m.start = (char *)m.start + (size_t)set * q->bytes;
            fill_random<<<blocks_for(matrix_cells(&m)), 256, 0, w->stream>>>(q->element, m,
                                                                             matrix_cells(&m),
                                                                             mix(q->seed + (u64)n));
        }
    must(cudaGetLastError(), "random matrices");
}

/* ---------------------------------- a shape --------------------------------------------------- */
/* Can a kernel do this product, and might it be the fastest? */
static int is_candidate(const problem *q, tmm_kernel kernel)
{
    switch (kernel) {
    case TMM_SHARED_16: return work_of(&q->s) <= SHORT_WORK;
    case TMM_DIRECT: return work_of(&q->s) <= tmm__direct_most(q->s.M, q->s.N);
    case TMM_SKINNY: return least_of(q->s.M, q->s.N) <= 4;
    case TMM_OUTER: return q->s.K <= 256; /* for a short K alone */
    case TMM_NARROW: return q->element == TMM_FLOAT && most_of(q->s.M, q->s.N) >= 256;
    case TMM_PIPELINED: return q->element != TMM_DOUBLE; /* another in its place */
    case TMM_TENSOR: return q->type != TYPE_FLOAT;       /* not strict */
    case TMM_TENSOR_INT8: return q->type == TYPE_INT8;
    default: return 1;
    }
}

/* The plan that TMM_AUTO's kernel takes: the one that is predicted to take what the kernel does.
   NULL: it has no plans. */
static const plan *chosen_plan(const problem *q, tmm_kernel kernel, plan_list *list)
{
    const double time = predicted_for(q, kernel);
    const plan *found = NULL;
    list_plans(list);
    (void)predicted_for(q, kernel);
    list_plans(NULL);
    for (int n = 0; n < list->count && !found; n++) {
        force_plan(&list->plans[n]);
        if (predicted_for(q, kernel) == time) found = &list->plans[n];
        force_plan(NULL);
    }
    return found;
}

/* What --regret runs beside the choice, whose own time is that of TMM_AUTO: all kernels by all
   plans. */
static int add_candidates(const problem *q, tmm_kernel chosen, contender *c, plan_list *lists)
{
    int count = 0;
    for (int k = 0; k < CANDIDATES; k++) {
        const tmm_kernel kernel = candidates[k].kernel;
        if (kernel != chosen && !is_candidate(q, kernel)) continue;
        const plan *own = chosen_plan(q, kernel, &lists[k]);
        const plan *last = NULL;
        for (int n = 0; n < lists[k].count && count < MOST_CONTENDERS - 2; n++) {
            const plan *one = &lists[k].plans[n];
            if (one != own && is_close(one, last)) continue;
            last = one;
            if (kernel == chosen && one == own) continue;
            c[count].candidate = k, c[count].kernel = kernel, c[count++].forced = one;
        }
        if (lists[k].count == 0 && kernel != chosen && count < MOST_CONTENDERS - 2)
            c[count].candidate = k, c[count++].kernel = kernel;
    }
    return count;
}

/* The times of all candidates, each by its best plan, and the best. */
static void set_best(row *r, const contender *c, int count)
{
    r->best = tmm_kernel_string(r->kernel), r->best_us = r->ours, r->plans = 1;
    memcpy(r->best_plan, r->plan, sizeof r->best_plan);
    for (int n = 0; n < CANDIDATES; n++)
        if (candidates[n].kernel == r->kernel) r->times[n] = r->ours;
    for (int n = 0; n < count; n++) {
        double *time = &r->times[c[n].candidate];
        if (c[n].result && strcmp(c[n].result, "refused") != 0) r->result = c[n].result;
        if (c[n].us <= 0) continue;
        r->plans++;
        if (*time <= 0 || c[n].us < *time) *time = c[n].us;
        if (r->best_us > 0 && c[n].us >= r->best_us) continue;
        r->best = candidates[c[n].candidate].name, r->best_us = c[n].us;
        name_plan(c[n].forced, r->best_plan);
    }
}

/* Did the calls that were timed, the last that wrote to C, leave the same bits as the one
   checked? */
static int same_bits(bench *w, const contender *c)
{
    const matrix *m = &w->q.C;
    long long cells = matrix_cells(m);
    must(cudaMemsetAsync(w->found, 0, sizeof *w->found, w->stream), "findings");
    check_cells<<<blocks_for(cells), 256, 0, w->stream>>>(w->q.element, *m, cells, w->found);
    return get_findings(w).checksum == c->checksum;
}

/* The time by TMM_AUTO at the same shape, if it is among the rows before. */
static double strict_time(const bench *w, const shape *s, measured_type strict)
{
    for (int n = w->row_count - 2; n >= 0 && n > w->row_count - 2 - TYPES; n--)
        if (w->rows[n].type == strict && same_shape(&w->rows[n].s, s)) return w->rows[n].ours;
    return 0;
}

/* Ours and cuBLAS, or the choice and all other kernels and plans. */
static void run_shape(bench *w, const shape *s, measured_type type)
{
    static plan_list lists[CANDIDATES + 1];
    contender c[MOST_CONTENDERS];
    row *r = &w->rows[w->row_count++];
    int count = 1, theirs = 0, others = 0;
    memset(c, 0, sizeof c);
    memset(r, 0, sizeof *r);
    lay_out(w, s, type);
    w->q.seed = mix(w->o.seed + (u64)w->row_count);
    r->s = *s, r->type = type, r->kernel = chosen_for(&w->q);
    name_plan(chosen_plan(&w->q, r->kernel, &lists[CANDIDATES]), r->plan);
    r->cold = w->q.cold;
    fill(w);
    c[0].kernel = auto_of(type);
    if (w->o.regret) count += others = add_candidates(&w->q, r->kernel, c + 1, lists);
#ifdef CUBLAS_VER_MAJOR
    if (!w->o.regret) theirs = count++;
    c[theirs].cublas = theirs > 0;
    if (theirs) check(w, &c[theirs], 0);
#endif
    for (int n = 0; n < count; n++)
        if (n == 0 || n != theirs) check(w, &c[n], theirs && !c[theirs].result);
    r->graph = race(w, c, count);
    if (!w->o.regret && !c[0].result && !same_bits(w, &c[0])) {
        c[0].result = "VARIES";
        w->failures++;
    }
    /* other kernels may refuse a shape, these two not; what is wrong is counted already */
    w->failures += c[0].result && strcmp(c[0].result, "refused") == 0;
    if (theirs && c[theirs].result) {
        w->failures += strcmp(c[theirs].result, "refused") == 0;
        fprintf(stderr, "shapes: cuBLAS: %s\n", c[theirs].result);
    }
    r->ours = c[0].us > 0 ? c[0].us : 0, r->error = c[0].error;
    r->result = c[0].result ? c[0].result : "ok";
    if (theirs && c[theirs].us > 0) r->cublas = c[theirs].us;
    if (type == TYPE_TENSOR || type == TYPE_INT8)
        r->strict = strict_time(w, s, type == TYPE_TENSOR ? TYPE_FLOAT : TYPE_DOUBLE);
    if (w->o.regret) set_best(r, c + 1, others);
    set_limit(w, r);
    write_row(&w->out, r);
    print_row(r);
}

/* ---------------------------------- the job --------------------------------------------------- */
static void get_device(bench *w)
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    must(cudaGetDeviceProperties(&properties, 0), "no CUDA device");
    must(cudaFuncGetAttributes(&attributes, (const void *)empty),
         "the program was not built for this device");
    snprintf(w->out.device, sizeof w->out.device, "%s", properties.name);
    w->out.v = get_versions();
    w->out.regret = w->o.regret, w->out.seed = w->o.seed;
    w->l2 = (size_t)properties.l2CacheSize, w->processors = properties.multiProcessorCount;
    w->r = get_rates(w->out.device, properties.major, properties.minor);
    must(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&w->from), "event");
    must(cudaEventCreate(&w->to), "event");
    must(cudaMalloc((void **)&w->found, sizeof *w->found), "memory");
#ifdef CUBLAS_VER_MAJOR
    int version = 0;
    must(cudaMalloc(&w->workspace, WORKSPACE), "memory");
    must_cublas(cublasCreate(&w->cublas), "cublasCreate");
    must_cublas(cublasSetStream(w->cublas, w->stream), "cublasSetStream"); /* drops a workspace */
    must_cublas(cublasSetWorkspace(w->cublas, w->workspace, WORKSPACE), "cublasSetWorkspace");
    must_cublas(cublasGetVersion(w->cublas, &version), "cublasGetVersion");
    snprintf(w->out.cublas, sizeof w->out.cublas, "%d.%d.%d", version / 10000,
             version % 10000 / 100, version % 100);
#endif
}

/* Memory for the largest of the shapes that has room. */
static void get_memory(bench *w)
{
    size_t free_bytes, total, most;
    must(cudaMemGetInfo(&free_bytes, &total), "memory");
    most = free_bytes / 10 * 9;
    for (int n = 0; n < w->count; n++)
        for (int t = 0; t < TYPES; t++) {
            if (!w->o.types[t] || !is_for(&w->shapes[n], (measured_type)t)) continue;
            lay_out(w, &w->shapes[n], (measured_type)t);
            size_t bytes = (size_t)w->q.sets * w->q.bytes;
            if (bytes <= most && bytes > w->pool_bytes) w->pool_bytes = bytes;
        }
    if (w->pool_bytes) must(cudaMalloc(&w->pool, w->pool_bytes), "memory for the matrices");
    w->rows = (row *)malloc((size_t)w->count * TYPES * sizeof *w->rows);
    if (!w->rows) {
        fprintf(stderr, "shapes: not enough memory\n");
        exit(2);
    }
}

static void give_back(bench *w)
{
#ifdef CUBLAS_VER_MAJOR
    must_cublas(cublasDestroy(w->cublas), "cublasDestroy");
    must(cudaFree(w->workspace), "memory");
#endif
    must(cudaEventDestroy(w->from), "event");
    must(cudaEventDestroy(w->to), "event");
    must(cudaStreamDestroy(w->stream), "stream");
    must(cudaFree(w->found), "memory");
    must(cudaFree(w->pool), "memory");
    free(w->rows);
}

int main(int count, char **words)
{
    bench *w = &state;
    time_t start = time(NULL);
    int left_out = 0, measured = 0;
    if (!parse_options(count, words, &w->o)) return 2;
    w->count = get_shapes(&w->o, w->shapes);
    if (w->count == 0) return 2;
    if (w->o.list) return list_shapes(w->shapes, w->count);
#ifdef CUBLAS_VER_MAJOR
    strict_cublas();
#endif
    get_device(w);
    w->out.csv = open_csv(w->o.csv);
    get_memory(w);
#ifdef CUBLAS_VER_MAJOR
    measure_launch(w->stream, w->processors, w->launch); /* on the CPU runner 0 */
#endif
    printf("%s, driver %s, CUDA %s, cuBLAS %s; seed %llu, %d shapes\n", w->out.device,
           w->out.v.driver, w->out.v.toolkit, w->out.cublas[0] ? w->out.cublas : "none", w->o.seed,
           w->count);
    printf("limits: %.2f TB/s; float %.1f, double %.1f, tensor %.1f, int8 %.1f TFLOP/s; an empty "
           "kernel %.2f us on a stream, %.2f us in a graph\n",
           w->r.read * 1e-12, w->r.flops[0] * 1e-12, w->r.flops[1] * 1e-12, w->r.flops[2] * 1e-12,
           w->r.flops[3] * 1e-12, w->launch[0], w->launch[1]);
    printf("type   op M,N,K                kind    kernel             ours us %s\n",
           w->o.regret ? "   best us  slower  best" : " cuBLAS us   ratio  part of limit");
    write_head(&w->out);
    for (int n = 0; n < w->count; n++) {
        if (w->o.seconds > 0 && difftime(time(NULL), start) >= w->o.seconds) break;
        for (int t = 0; t < TYPES; t++) {
            if (!w->o.types[t] || !is_for(&w->shapes[n], (measured_type)t)) continue;
            lay_out(w, &w->shapes[n], (measured_type)t);
            if ((size_t)w->q.sets * w->q.bytes <= w->pool_bytes)
                run_shape(w, &w->shapes[n], (measured_type)t);
            else
                left_out++;
        }
        measured++;
    }
    print_summary(w->rows, w->row_count, w->o.regret);
    if (left_out) printf("\n%d rows left out: this device has too little memory\n", left_out);
    if (measured < w->count)
        printf("\nended after %.0f s with %d of %d shapes\n", w->o.seconds, measured, w->count);
    printf("\n%s\n", w->failures ? "some results were WRONG" : "all results are right");
    give_back(w);
    int kept = close_csv(w->out.csv, w->o.csv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "shapes: cannot write to the standard output\n");
        kept = 0;
    }
    return w->failures ? 1 : kept ? 0 : 2;
}
