/* src/tiledmm/type/cpu.h. CPU REFERENCE.
   Uses: once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* The arguments of tmm_?gemm_cpu. */
typedef struct tmm__xcpu__product {
    tmm_op opA, opB;
    long long M, N, K;
    TMM_TYPE alpha;
    const TMM_TYPE *A;
    long long lda;
    const TMM_TYPE *B;
    long long ldb;
    TMM_TYPE beta;
    TMM_TYPE *C;
    long long ldc;
} tmm__xcpu__product;

/* Computes rows i0 .. i0 + 31 and columns j0 .. j0 + 127 of C. These sums stay in the L1 cache
   while k advances by 128. The part of op(B) in use is copied to rows of 128. So the innermost loop
   runs over neighbouring elements for every op, and becomes vector instructions. */
static inline TMM__OPTIMIZE void tmm__xgemm__cpu_block(const tmm__xcpu__product *p, long long i0,
                                                       long long j0)
{
    TMM_SUM sum[TMM__CPU_ROWS][TMM__CPU_COLS], b[TMM__CPU_DEPTH][TMM__CPU_COLS];
    const TMM_SUM alpha = (TMM_SUM)p->alpha, beta = (TMM_SUM)p->beta;
    const int nA = p->opA == TMM_OP_N, nB = p->opB == TMM_OP_N;
    const long long rsA = nA ? p->lda : 1, csA = nA ? 1 : p->lda; /* from row to row, ... */
    const long long rsB = nB ? p->ldb : 1, csB = nB ? 1 : p->ldb;
    int rows = (int)tmm__min(p->M - i0, TMM__CPU_ROWS);
    int cols = (int)tmm__min(p->N - j0, TMM__CPU_COLS);
    memset(sum, 0, sizeof sum);
    memset(b, 0, sizeof b); /* the columns beyond N */
    for (long long k0 = 0; k0 < p->K; k0 += TMM__CPU_DEPTH) {
        int depth = (int)tmm__min(p->K - k0, TMM__CPU_DEPTH);
        for (int k = 0; k < depth; k++)
            for (int j = 0; j < cols; j++) b[k][j] = (TMM_SUM)p->B[(k0 + k) * rsB + (j0 + j) * csB];
        for (int i = 0; i < rows; i++) {
            const TMM_TYPE *a = p->A + (i0 + i) * rsA + k0 * csA;
            TMM_SUM *s = sum[i];
            int k = 0;
            for (; k + 4 <= depth; k += 4) { /* a sum is loaded and stored once for four k */
                TMM_SUM a0 = (TMM_SUM)a[k * csA], a1 = (TMM_SUM)a[(k + 1) * csA];
                TMM_SUM a2 = (TMM_SUM)a[(k + 2) * csA], a3 = (TMM_SUM)a[(k + 3) * csA];
                for (int j = 0; j < TMM__CPU_COLS; j++)
                    s[j] = s[j] + a0 * b[k][j] + a1 * b[k + 1][j] + a2 * b[k + 2][j] +
                           a3 * b[k + 3][j];
            }
            for (; k < depth; k++)
                for (int j = 0; j < TMM__CPU_COLS; j++) s[j] += (TMM_SUM)a[k * csA] * b[k][j];
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            TMM_TYPE *c = p->C + (i0 + i) * p->ldc + j0 + j;
            TMM_SUM value = alpha * sum[i][j];
            if (beta != 0) value += beta * (TMM_SUM)*c;
            *c = (TMM_TYPE)value;
        }
}

/* Checks the arguments and computes all blocks of C; with threads > 1 and OpenMP, on these threads.
   */
static inline tmm_status tmm__xgemm__cpu(tmm__xcpu__product product, int threads)
{
    tmm__xcpu__product *p = &product;
    const int reads_AB = (TMM_SUM)p->alpha != 0;
    const tmm__operands operands = {p->opA, p->opB,           p->M,    p->N,   p->K,
                                    p->A,   p->lda,           p->B,    p->ldb, p->C,
                                    p->ldc, sizeof(TMM_TYPE), reads_AB};
    tmm_status status = tmm__check_gemm(&operands);
    if (status != TMM_OK || p->M == 0 || p->N == 0) return status;
    if ((TMM_SUM)p->alpha == 0) p->K = 0;
    if (p->K == 0) p->alpha = (TMM_TYPE)0; /* alpha may be infinite */
    long long across = (p->N - 1) / TMM__CPU_COLS + 1, down = (p->M - 1) / TMM__CPU_ROWS + 1;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long long block = 0; block < across * down; block++)
        tmm__xgemm__cpu_block(p, block / across * TMM__CPU_ROWS, block % across * TMM__CPU_COLS);
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_cpu(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                  TMM_TYPE alpha, const TMM_TYPE *A, long long lda,
                                  const TMM_TYPE *B, long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                  long long ldc)
{
    const tmm__xcpu__product product = {opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc};
    return tmm__xgemm__cpu(product, 1);
}

TMM_API tmm_status tmm__xgemm_openmp(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                     TMM_TYPE alpha, const TMM_TYPE *A, long long lda,
                                     const TMM_TYPE *B, long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                     long long ldc, int threads)
{
    if (threads < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "threads is negative: %d", threads);
#ifdef _OPENMP
    const tmm__xcpu__product product = {opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc};
    return tmm__xgemm__cpu(product, threads > 0 ? threads : omp_get_max_threads());
#else
    (void)opA, (void)opB, (void)M, (void)N, (void)K, (void)alpha, (void)A, (void)lda, (void)B;
    (void)ldb, (void)beta, (void)C, (void)ldc;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "built without OpenMP: compile with nvcc -Xcompiler -fopenmp");
#endif
}
#endif
