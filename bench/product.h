/* A product as benches multiply it: matrices in the pool of a device, by tiledmm.cuh and by those it
   is compared with: cublas?gemm, or PEER, the header that bench/peer.cu was built with. Included
   after tiledmm.cuh and, where it is there, cublas_v2.h. */
#ifndef BENCH_PRODUCT_H
#define BENCH_PRODUCT_H
#include "device.h"
#include "draw.h"
#ifdef PEER
#include "peer.h"
#endif

/* `sets` times A, B, C and D, each set `bytes` long. C is ours, D is theirs. */
typedef struct problem {
    shape s;
    tmm_type element;
    tmm_op opA, opB;
    matrix A, B, C, D;
    size_t bytes;
    int sets, cold; /* cold: none of it is in L2 when it is needed again */
    u64 seed;
} problem;
enum { MOST_SETS = 32 };

/* Sizes and places of all matrices in `pool`, which may be NULL; the bytes of all sets. */
static inline size_t lay_out(problem *q, const shape *s, tmm_type element, void *pool)
{
    matrix *all[4] = {&q->A, &q->B, &q->C, &q->D};
    const long long rows[4] = {rows_A(s), rows_B(s), s->M, s->M};
    const long long cols[4] = {cols_A(s), cols_B(s), s->N, s->N};
    const long long ld[4] = {s->lda, s->ldb, s->ldc, s->ldc};
    q->s = *s, q->element = element;
    q->opA = s->opA == 'T' ? TMM_OP_T : TMM_OP_N, q->opB = s->opB == 'T' ? TMM_OP_T : TMM_OP_N;
    q->bytes = 0, q->sets = 1, q->cold = 0;
    for (int n = 0; n < 4; n++) {
        matrix m = {pool ? (char *)pool + q->bytes : NULL,
                    GUARD + s->offset,
                    rows[n],
                    cols[n],
                    ld[n],
                    s->batch};
        *all[n] = m;
        q->bytes += matrix_bytes(&m, element);
    }
    return q->bytes;
}

/* More sets, so that calls in turn find none of their operands in L2: where they do not fit it
   twice, or always. The bytes of all sets. */
static inline size_t make_cold(problem *q, size_t l2, int always)
{
    const size_t touched = q->bytes - matrix_bytes(&q->D, q->element); /* theirs leave out C */
    while ((always || 2 * touched > l2) && q->sets < MOST_SETS && q->sets * touched < 2 * l2)
        q->sets++;
    q->cold = q->sets * touched >= 2 * l2;
    return q->sets * q->bytes;
}

static inline void *data_of(const problem *q, const matrix *m, int set)
{
    return (char *)matrix_data(m, q->element) + (size_t)set * q->bytes;
}

/* ---------------------------------- ours ------------------------------------------------------ */
#define DEFINE_OURS(letter, T)                                                                     \
    static inline tmm_status letter##_ours(const problem *q, tmm_kernel kernel, int set, void *to, \
                                           cudaStream_t stream)                                    \
    {                                                                                              \
        const shape *s = &q->s;                                                                    \
        const T *A = (const T *)data_of(q, &q->A, set), *B = (const T *)data_of(q, &q->B, set);    \
        if (s->batch == 1)                                                                         \
            return tmm_##letter##gemm_with(kernel, q->opA, q->opB, s->M, s->N, s->K, 1, A, s->lda, \
                                           B, s->ldb, 0, (T *)to, s->ldc, stream);                 \
        return tmm_##letter##gemm_batched_with(kernel, q->opA, q->opB, s->M, s->N, s->K, 1, A,     \
                                               s->lda, B, s->ldb, 0, (T *)to, s->ldc,              \
                                               q->A.rows * s->lda, q->B.rows * s->ldb,             \
                                               s->M * s->ldc, s->batch, stream);                   \
    }                                                                                              \
    static inline tmm_##letter##gemm__product letter##_product(const problem *q)                   \
    {                                                                                              \
        const shape *s = &q->s;                                                                    \
        tmm_##letter##gemm__product p =                                                            \
            tmm_##letter##gemm__make_product(q->opA, q->opB, s->M, s->N, s->K, s->lda, s->ldb);    \
        p.alpha = 1, p.ldc = s->ldc, p.batch = (unsigned)s->batch,                                 \
        p.allowed = TMM__CUT_K | TMM__PACK;                                                        \
        p.A = (const T *)data_of(q, &q->A, 0), p.B = (const T *)data_of(q, &q->B, 0);              \
        p.C = (T *)data_of(q, &q->C, 0);                                                           \
        p.strideA = q->A.rows * s->lda, p.strideB = q->B.rows * s->ldb, p.strideC = s->M * s->ldc; \
        return p;                                                                                  \
    }                                                                                              \
    static inline tmm_kernel letter##_chosen(const problem *q, tmm_kernel kernel)                  \
    {                                                                                              \
        const tmm_##letter##gemm__product p = letter##_product(q);                                 \
        return tmm_##letter##gemm__resolve(kernel, &p, q->s.batch);                                \
    }                                                                                              \
    static inline double letter##_time(const problem *q, tmm_kernel kernel)                        \
    {                                                                                              \
        const tmm_##letter##gemm__product p = letter##_product(q);                                 \
        tmm__plan plan;                                                                            \
        if (tmm_##letter##gemm__takes(kernel, &p) != TMM_OK) return HUGE_VAL;                      \
        tmm_##letter##gemm__plan_by(kernel, &p, &plan);                                            \
        return plan.time;                                                                          \
    }
DEFINE_OURS(s, float)
DEFINE_OURS(d, double)
DEFINE_OURS(i, int)

/* Set number `set` by tiledmm.cuh, into C or another matrix like it. */
static inline tmm_status multiply(const problem *q, tmm_kernel kernel, int set, const matrix *C,
                                  cudaStream_t stream)
{
    void *to = data_of(q, C, set);
    switch (q->element) {
    case TMM_DOUBLE: return d_ours(q, kernel, set, to, stream);
    case TMM_INT: return i_ours(q, kernel, set, to, stream);
    default: return s_ours(q, kernel, set, to, stream);
    }
}
/* What runs for TMM_AUTO or TMM_AUTO_TENSOR. */
static inline tmm_kernel chosen_for(const problem *q, tmm_kernel kernel)
{
    return q->element == TMM_FLOAT    ? s_chosen(q, kernel)
           : q->element == TMM_DOUBLE ? d_chosen(q, kernel)
                                      : i_chosen(q, kernel);
}
/* Nanoseconds that a kernel should take, by its plan or the one that is forced. */
static inline double predicted_for(const problem *q, tmm_kernel kernel)
{
    return q->element == TMM_FLOAT    ? s_time(q, kernel)
           : q->element == TMM_DOUBLE ? d_time(q, kernel)
                                      : i_time(q, kernel);
}

/* For a table of options: one of the first `high` types, into an array of flags. */
static const char *const type_names[3] = {"float", "double", "int"};
static inline int parse_type(const option *o, const char *value)
{
    int found = 0;
    for (int n = 0; n < (int)o->high && value; n++)
        if (strcmp(value, type_names[n]) == 0) ((int *)o->to)[n] = found = 1;
    return found;
}

/* A kernel by its name; -1: there is none. */
static inline int find_kernel(const char *word)
{
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const char *name = tmm_kernel_string((tmm_kernel)k);
        if (word && name && strcmp(name, word) == 0) return k;
    }
    return -1;
}

/* ---------------------------------- theirs ---------------------------------------------------- */
/* Is there a peer, or anybody to compare with? */
#ifdef PEER
enum { HAS_PEER = 1, HAS_THEIRS = 1 };
#elif defined(CUBLAS_API_H_)
enum { HAS_PEER = 0, HAS_THEIRS = 1 };
#else
enum { HAS_PEER = 0, HAS_THEIRS = 0 };
#endif

#ifdef CUBLAS_API_H_
/* cuBLAS is column-major: it is asked for C^T = op(B)^T op(A)^T. */
#define DEFINE_CUBLAS(letter, L, T)                                                              \
    static inline cublasStatus_t letter##_cublas(const device *d, const problem *q, int set)     \
    {                                                                                            \
        static const T one = 1, zero = 0;                                                        \
        const shape *s = &q->s;                                                                  \
        const cublasOperation_t opA = s->opA == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N;                 \
        const cublasOperation_t opB = s->opB == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N;                 \
        const T *A = (const T *)data_of(q, &q->A, set), *B = (const T *)data_of(q, &q->B, set);  \
        T *D = (T *)data_of(q, &q->D, set);                                                      \
        const int M = (int)s->M, N = (int)s->N, K = (int)s->K;                                   \
        if (s->batch == 1)                                                                       \
            return cublas##L##gemm(d->cublas, opB, opA, N, M, K, &one, B, (int)s->ldb, A,        \
                                   (int)s->lda, &zero, D, (int)s->ldc);                          \
        return cublas##L##gemmStridedBatched(d->cublas, opB, opA, N, M, K, &one, B, (int)s->ldb, \
                                             q->B.rows * s->ldb, A, (int)s->lda,                 \
                                             q->A.rows * s->lda, &zero, D, (int)s->ldc,          \
                                             s->M * s->ldc, (int)s->batch);                      \
    }
DEFINE_CUBLAS(s, S, float)
DEFINE_CUBLAS(d, D, double)
#endif

/* Set number `set` by the other side, into D; `tensor`: by TMM_AUTO_TENSOR, of a peer. 0 if it does
   not do this: cuBLAS has no int. */
static inline int multiply_theirs(const device *d, const problem *q, int set, int tensor)
{
#ifdef PEER
    const shape *s = &q->s;
    const peer_job job = {q->element == TMM_FLOAT    ? PEER_FLOAT
                          : q->element == TMM_DOUBLE ? PEER_DOUBLE
                                                     : PEER_INT,
                          tensor,
                          s->opA == 'T',
                          s->opB == 'T',
                          s->M,
                          s->N,
                          s->K,
                          s->batch,
                          data_of(q, &q->A, set),
                          data_of(q, &q->B, set),
                          data_of(q, &q->D, set),
                          s->lda,
                          s->ldb,
                          s->ldc,
                          q->A.rows * s->lda,
                          q->B.rows * s->ldb};
    return peer_multiply(&job, d->stream);
#elif defined(CUBLAS_API_H_)
    (void)tensor;
    if (q->element == TMM_FLOAT) return s_cublas(d, q, set) == CUBLAS_STATUS_SUCCESS;
    return q->element == TMM_DOUBLE && d_cublas(d, q, set) == CUBLAS_STATUS_SUCCESS;
#else
    (void)d, (void)q, (void)set, (void)tensor;
    return 0;
#endif
}

/* ---------------------------------- operands -------------------------------------------------- */
/* Blocks of 256 threads for so many cells. */
static inline unsigned blocks_for(long long cells)
{
    return (unsigned)least_of(2048, (cells - 1) / 256 + 1);
}

/* NaN everywhere, then A and B of all sets uniform in (-1, 1), or any int. */
static inline void fill(const device *d, const problem *q)
{
    must(cudaMemsetAsync(q->A.start, 0xff, (size_t)q->sets * q->bytes, d->stream), "memory");
    for (int set = 0; set < q->sets; set++)
        for (int n = 0; n < 2; n++) {
            matrix m = n ? q->B : q->A;
            const long long cells = matrix_cells(&m);
            m.start = (char *)m.start + (size_t)set * q->bytes;
            fill_random<<<blocks_for(cells), 256, 0, d->stream>>>(q->element, m, cells,
                                                                  mix(q->seed + (u64)n));
        }
    must(cudaGetLastError(), "random matrices");
}
#endif
