/* src/tiledmm/type/cpu.h. CPU REFERENCE.
   Uses: once/arguments.h. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Computes the rows i0 .. i0 + 31 and columns j0 .. j0 + 127 of C. The block of sums stays in the
   first-level cache while k advances by 128; the part of op(B) in use is copied to rows of 128,
   so that the innermost loop runs over neighbouring elements for every op and becomes vector
   instructions. */
static inline TMM__OPTIMIZE void TMM_FN(gemm__cpu_block)(long long i0, long long j0, long long M,
                                                         long long N, long long K, TMM_TYPE alpha,
                                                         const TMM_TYPE *A, long long rsA,
                                                         long long csA, const TMM_TYPE *B,
                                                         long long rsB, long long csB,
                                                         TMM_TYPE beta, TMM_TYPE *C, long long ldc)
{
    TMM_SUM sum[TMM__CPU_ROWS][TMM__CPU_COLS], b[TMM__CPU_DEPTH][TMM__CPU_COLS];
    int rows = (int)tmm__min(M - i0, TMM__CPU_ROWS);
    int cols = (int)tmm__min(N - j0, TMM__CPU_COLS);
    memset(sum, 0, sizeof sum);
    memset(b, 0, sizeof b); /* the columns beyond N */
    for (long long k0 = 0; k0 < K; k0 += TMM__CPU_DEPTH) {
        int depth = (int)tmm__min(K - k0, TMM__CPU_DEPTH);
        for (int k = 0; k < depth; k++)
            for (int j = 0; j < cols; j++) b[k][j] = (TMM_SUM)B[(k0 + k) * rsB + (j0 + j) * csB];
        for (int i = 0; i < rows; i++) {
            const TMM_TYPE *a = A + (i0 + i) * rsA + k0 * csA;
            TMM_SUM *s = sum[i];
            int k = 0;
            for (; k + 4 <= depth; k += 4) { /* four at once: a sum is loaded and stored once */
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
            TMM_TYPE *c = C + (i0 + i) * ldc + j0 + j;
            TMM_SUM value = (TMM_SUM)alpha * sum[i][j];
            if ((TMM_SUM)beta != 0) value += (TMM_SUM)beta * (TMM_SUM)*c;
            *c = (TMM_TYPE)value;
        }
}

/* All blocks of C; with threads > 0 and OpenMP, spread over that many threads. */
static inline tmm_status TMM_FN(gemm__cpu)(tmm_op opA, tmm_op opB, long long M, long long N,
                                           long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                           long long lda, const TMM_TYPE *B, long long ldb,
                                           TMM_TYPE beta, TMM_TYPE *C, long long ldc, int threads)
{
    tmm_status status = tmm__check_gemm(opA, opB, M, N, K, !((TMM_SUM)alpha == 0), A, lda, B, ldb,
                                        C, ldc, sizeof(TMM_TYPE));
    if (status != TMM_OK || M == 0 || N == 0) return status;
    if ((TMM_SUM)alpha == 0) K = 0;
    if (K == 0) alpha = 0;
    long long rsA = opA == TMM_OP_N ? lda : 1, csA = opA == TMM_OP_N ? 1 : lda;
    long long rsB = opB == TMM_OP_N ? ldb : 1, csB = opB == TMM_OP_N ? 1 : ldb;
    long long across = (N - 1) / TMM__CPU_COLS + 1, down = (M - 1) / TMM__CPU_ROWS + 1;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long long block = 0; block < across * down; block++) {
        long long i0 = block / across * TMM__CPU_ROWS, j0 = block % across * TMM__CPU_COLS;
        TMM_FN(gemm__cpu_block)(i0, j0, M, N, K, alpha, A, rsA, csA, B, rsB, csB, beta, C, ldc);
    }
    return TMM_OK;
}

TMM_API tmm_status TMM_FN(gemm_cpu)(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                    TMM_TYPE alpha, const TMM_TYPE *A, long long lda,
                                    const TMM_TYPE *B, long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                    long long ldc)
{
    return TMM_FN(gemm__cpu)(opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, 1);
}

TMM_API tmm_status TMM_FN(gemm_openmp)(tmm_op opA, tmm_op opB, long long M, long long N,
                                       long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                       long long lda, const TMM_TYPE *B, long long ldb,
                                       TMM_TYPE beta, TMM_TYPE *C, long long ldc, int threads)
{
    if (threads < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "threads is negative: %d", threads);
#ifdef _OPENMP
    if (threads == 0) threads = omp_get_max_threads();
    return TMM_FN(gemm__cpu)(opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, threads);
#else
    (void)opA, (void)opB, (void)M, (void)N, (void)K, (void)alpha, (void)A, (void)lda, (void)B;
    (void)ldb, (void)beta, (void)C, (void)ldc;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "built without OpenMP: compile with nvcc -Xcompiler -fopenmp");
#endif
}
#endif
