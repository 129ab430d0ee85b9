/* The algorithms that cublasLt proposes for a product, for bench/gemm.cu. Included after race.h;
   without cublasLt.h there are none. */
#ifndef BENCH_LT_H
#define BENCH_LT_H
#include "race.h"

#ifdef __CUCC__
static inline void open_lt(void)
{
}
static inline void close_lt(void)
{
}
static inline int choose_lt(const device_race *r, contender *best)
{
    (void)r, (void)best;
    return 0;
}
#else
static const size_t LT_WORKSPACE = (size_t)64 << 20;
typedef struct lt_state {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t job; /* of the problem at hand, or NULL */
    cublasLtMatrixLayout_t first, second, result;
    void *workspace;
} lt_state;
static lt_state lt;

static int call_lt(const device_race *r, const contender *c, int number)
{
    static const float one = 1, zero = 0;
    static const double one_d = 1, zero_d = 0;
    const lt_state *w = &lt;
    const problem *q = r->q;
    const int d = q->element == TMM_DOUBLE;
    void *D = data_of(q, &q->D, 0);
    (void)number;
    return cublasLtMatmul(w->handle, w->job, d ? (const void *)&one_d : &one, data_of(q, &q->B, 0),
                          w->first, data_of(q, &q->A, 0), w->second,
                          d ? (const void *)&zero_d : &zero, D, w->result, D, w->result,
                          (const cublasLtMatmulAlgo_t *)c->how, w->workspace, LT_WORKSPACE,
                          r->d->stream) == CUBLAS_STATUS_SUCCESS;
}

static void make_lt(const problem *q, cublasLtMatmulPreference_t preference)
{
    lt_state *w = &lt;
    const int d = q->element == TMM_DOUBLE, batch = (int)q->s.batch;
    const cudaDataType_t type = d ? CUDA_R_64F : CUDA_R_32F;
    const cublasOperation_t opA = q->opA == TMM_OP_T ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t opB = q->opB == TMM_OP_T ? CUBLAS_OP_T : CUBLAS_OP_N;
    const matrix *m[4] = {&q->B, &q->A, &q->D, &q->D};
    cublasLtMatrixLayout_t *layout[3] = {&w->first, &w->second, &w->result};
    static const cublasLtMatmulPreferenceAttributes_t alignments[4] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const char *what = "cublasLt";
    must_cublas(cublasLtMatmulDescCreate(&w->job, d ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                         type),
                what);
    must_cublas(cublasLtMatmulDescSetAttribute(w->job, CUBLASLT_MATMUL_DESC_TRANSA, &opB,
                                               sizeof opB),
                what);
    must_cublas(cublasLtMatmulDescSetAttribute(w->job, CUBLASLT_MATMUL_DESC_TRANSB, &opA,
                                               sizeof opA),
                what);
    must_cublas(cublasLtMatmulPreferenceSetAttribute(preference,
                                                     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                     &LT_WORKSPACE, sizeof LT_WORKSPACE),
                what);
    for (int n = 0; n < 4; n++) {
        const size_t address = (size_t)data_of(q, m[n], 0) | 256;
        const unsigned alignment = (unsigned)(address & (~address + 1));
        must_cublas(cublasLtMatmulPreferenceSetAttribute(preference, alignments[n], &alignment,
                                                         sizeof alignment),
                    what);
        if (n == 3) break;
        const long long stride = m[n]->rows * m[n]->ld;
        must_cublas(cublasLtMatrixLayoutCreate(layout[n], type, (uint64_t)m[n]->cols,
                                               (uint64_t)m[n]->rows, m[n]->ld),
                    what);
        must_cublas(cublasLtMatrixLayoutSetAttribute(*layout[n], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                     &batch, sizeof batch),
                    what);
        must_cublas(cublasLtMatrixLayoutSetAttribute(*layout[n],
                                                     CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                     &stride, sizeof stride),
                    what);
    }
}

static void drop_lt(void)
{
    const lt_state *w = &lt;
    cublasLtMatmulDescDestroy(w->job);
    cublasLtMatrixLayoutDestroy(w->first);
    cublasLtMatrixLayoutDestroy(w->second);
    cublasLtMatrixLayoutDestroy(w->result);
}

/* The fastest of the proposed algorithms that computes strictly; 0: none. It holds until the next is
   chosen. */
static int choose_lt(const device_race *r, contender *best)
{
    const lt_state *w = &lt;
    static cublasLtMatmulHeuristicResult_t proposed[8];
    cublasLtMatmulPreference_t preference;
    int count = 0, found = 0;
    if (w->job) drop_lt();
    must_cublas(cublasLtMatmulPreferenceCreate(&preference), "cublasLt");
    make_lt(r->q, preference);
    if (cublasLtMatmulAlgoGetHeuristic(w->handle, w->job, w->first, w->second, w->result, w->result,
                                       preference, 8, proposed, &count) != CUBLAS_STATUS_SUCCESS)
        count = 0;
    cublasLtMatmulPreferenceDestroy(preference);
    for (int n = 0; n < count; n++) {
        contender c;
        memset(&c, 0, sizeof c);
        c.call = call_lt, c.theirs = 1, c.how = &proposed[n].algo;
        if (proposed[n].state != CUBLAS_STATUS_SUCCESS) continue;
        (void)check(r, &c, 0);
        if (c.result) continue;
        (void)look_over(r, &c, 1);
        if (c.us <= 0 || (found && c.us >= best->us)) continue;
        *best = c, found = 1;
    }
    return found;
}

static void open_lt(void)
{
    must_cublas(cublasLtCreate(&lt.handle), "cublasLtCreate");
    must(cudaMalloc(&lt.workspace, LT_WORKSPACE), "memory");
}
static void close_lt(void)
{
    if (lt.job) drop_lt();
    must_cublas(cublasLtDestroy(lt.handle), "cublasLtDestroy");
    must(cudaFree(lt.workspace), "memory");
}
#endif
#endif
