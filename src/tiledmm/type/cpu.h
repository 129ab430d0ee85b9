/* src/tiledmm/type/cpu.h. CPU REFERENCE.
   Uses: kernels/common/finish.cuh, launch/product.h, once/, after.h. Used by: syrk.h, callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
#ifdef TMM_WITH_EPILOGUE
/* x = alpha op(A) op(B) + beta C of an element, with what comes after it. */
static inline TMM_SUM tmm__xfinish_cpu(const tmm__after *after, TMM_SUM x, long long row,
                                       long long col)
{
    const TMM_OUT *rows = (const TMM_OUT *)after->row_bias;
    const TMM_OUT *cols = (const TMM_OUT *)after->col_bias, *D = (const TMM_OUT *)after->D;
    if (rows != NULL) x += (TMM_SUM)rows[row];
    if (cols != NULL) x += (TMM_SUM)cols[col];
    if (after->activation == TMM_RELU) {
        if (TMM__NEGATIVE(x)) x = 0;
    } else if (after->activation != TMM_IDENTITY) {
        x = (TMM_SUM)tmm__smooth_double((double)x, after->activation);
    }
    if (D == NULL) return x;
    return x +
           (TMM_SUM)(TMM__IS_INTEGER ? (TMM_SUM)(long long)after->gamma : (TMM_SUM)after->gamma) *
               (TMM_SUM)D[row * after->ldd + col];
}
#endif

/* Computes rows i0 .. i0 + 31 and columns j0 .. j0 + 127 of C. These sums stay in the L1 cache
   while k advances by 128. The part of op(B) in use is copied to rows of 128. So the innermost loop
   runs over neighbouring elements for every op, and becomes vector instructions. */
static inline TMM__OPTIMIZE void tmm__xcpu_block(const tmm__xproduct *p, long long i0, long long j0)
{
    TMM_SUM sum[TMM__CPU_ROWS][TMM__CPU_COLS], b[TMM__CPU_DEPTH][TMM__CPU_COLS];
    const TMM_SUM alpha = (TMM_SUM)TMM__FACTOR(p->alpha), beta = (TMM_SUM)p->beta;
    const long long csA = p->csA;
    int rows = (int)tmm__min(p->M - i0, TMM__CPU_ROWS);
    int cols = (int)tmm__min(p->N - j0, TMM__CPU_COLS);
    memset(sum, 0, sizeof sum);
    memset(b, 0, sizeof b); /* the columns beyond N */
    for (long long k0 = 0; k0 < p->K; k0 += TMM__CPU_DEPTH) {
        int depth = (int)tmm__min(p->K - k0, TMM__CPU_DEPTH);
        for (int k = 0; k < depth; k++)
            for (int j = 0; j < cols; j++)
                b[k][j] = (TMM_SUM)p->B[(k0 + k) * p->rsB + (j0 + j) * p->csB];
        for (int i = 0; i < rows; i++) {
            const TMM_TYPE *a = p->A + (i0 + i) * p->rsA + k0 * csA;
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
            TMM_OUT *c = p->C + (i0 + i) * p->ldc + j0 + j;
            TMM_SUM value = alpha * sum[i][j];
            const long long below = i0 + i - j0 - j; /* the diagonal */
            if (TMM__TRIANGLE(p) == TMM__LOWER ? below < 0
                                               : TMM__TRIANGLE(p) == TMM__UPPER && below > 0)
                continue;
            if (beta != (TMM_SUM)0) value += beta * (TMM_SUM)*c;
#ifdef TMM_WITH_EPILOGUE
            if (p->alpha.after.active)
                value = tmm__xfinish_cpu(&p->alpha.after, value, i0 + i, j0 + j);
#endif
            *c = (TMM_OUT)value;
        }
}

/* Checks the arguments and computes all blocks of C, with OpenMP on so many threads. */
static inline tmm_status tmm__xcpu(const tmm__operands *o, TMM__ALPHA alpha, TMM_SCALAR beta,
                                   TMM_OUT *C, int threads)
{
    tmm_status status = tmm__check_gemm(o);
    if (status != TMM_OK || o->M == 0 || o->N == 0) return status;
    const long long K = o->reads_AB ? o->K : 0;
    tmm__xproduct p = tmm__xmake_product(o->opA, o->opB, o->M, o->N, K, o->lda, o->ldb);
    p.alpha = alpha;
    if (K == 0) TMM__FACTOR(p.alpha) = 0; /* it may be infinite */
    p.A = (const TMM_TYPE *)o->A, p.B = (const TMM_TYPE *)o->B;
    p.beta = beta, p.C = C, p.ldc = o->ldc;
    long long across = (p.N - 1) / TMM__CPU_COLS + 1, down = (p.M - 1) / TMM__CPU_ROWS + 1;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long long block = 0; block < across * down; block++)
        tmm__xcpu_block(&p, block / across * TMM__CPU_ROWS, block % across * TMM__CPU_COLS);
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_cpu(TMM__GEMM_PARAMETERS)
{
    const int reads_AB = (TMM_SUM)alpha != 0;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    return tmm__xcpu(&operands, TMM__PLAIN(alpha), beta, C, 1);
}

#ifdef TMM_WITH_EPILOGUE
TMM_API tmm_status tmm__xgemm_cpu_epilogue(TMM__GEMM_PARAMETERS, const tmm_epilogue *epilogue)
{
    const int reads_AB = (TMM_SUM)alpha != 0;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    tmm__xalpha with = tmm__xplain(alpha);
    tmm_status status = tmm__check_sizes(&operands);
    if (status == TMM_OK) status = tmm__xset_after(&with.after, epilogue, &operands, 0, 1);
    return status != TMM_OK ? status : tmm__xcpu(&operands, with, beta, C, 1);
}
#endif

TMM_API tmm_status tmm__xgemm_openmp(TMM__GEMM_PARAMETERS, int threads)
{
    if (threads < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "threads is negative: %d", threads);
    const int reads_AB = (TMM_SUM)alpha != 0;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
#ifdef _OPENMP
    return tmm__xcpu(&operands, TMM__PLAIN(alpha), beta, C,
                     threads > 0 ? threads : omp_get_max_threads());
#else
    (void)operands, (void)beta;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "built without OpenMP: compile with nvcc -Xcompiler -fopenmp");
#endif
}
#endif
