/* src/tiledmm/once/arguments.h. Checks of arguments that all forms of GEMM share.
   Uses: once/status.h. Used by: type/. */
#if TMM__HOST && !defined(TMM__PART_ARGUMENTS)
#define TMM__PART_ARGUMENTS
/* Is a rows x cols matrix with this leading dimension possible, and its size within 64 bits? */
static inline tmm_status tmm__check_matrix(const char *name, const char *ld_name,
                                           const void *pointer, long long rows, long long cols,
                                           long long ld, size_t element)
{
    if (ld < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is %lld, but must be 1 at least", ld_name, ld);
    if (ld < cols)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is %lld, but a row of %s has %lld elements",
                         ld_name, ld, name, cols);
    if (rows > 0 && ld > (LLONG_MAX / (long long)element - cols) / rows)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s (%lld rows, %s %lld) exceeds 64-bit addresses",
                         name, rows, ld_name, ld);
    if (pointer == NULL && rows > 0 && cols > 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is NULL", name);
    return TMM_OK;
}

/* The block of C that the CPU reference works on, and its steps along k. */
enum { TMM__CPU_ROWS = 32, TMM__CPU_COLS = 128, TMM__CPU_DEPTH = 128 };

/* What all forms of GEMM ask of their arguments; `reads_AB` is 0 when alpha is. */
static inline tmm_status tmm__check_gemm(tmm_op opA, tmm_op opB, long long M, long long N,
                                         long long K, int reads_AB, const void *A, long long lda,
                                         const void *B, long long ldb, const void *C, long long ldc,
                                         size_t element)
{
    if (opA != TMM_OP_N && opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opA is %d, neither TMM_OP_N nor TMM_OP_T", (int)opA);
    if (opB != TMM_OP_N && opB != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opB is %d, neither TMM_OP_N nor TMM_OP_T", (int)opB);
    if (M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", M);
    if (N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", N);
    if (K < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "K is negative: %lld", K);
    /* Pointers that will not be read or written may be anything. */
    const void *unread = &unread;
    int works = M > 0 && N > 0;
    int reads = works && K > 0 && reads_AB;
    tmm_status status = tmm__check_matrix("A", "lda", reads ? A : unread, opA == TMM_OP_N ? M : K,
                                          opA == TMM_OP_N ? K : M, lda, element);
    if (status == TMM_OK)
        status = tmm__check_matrix("B", "ldb", reads ? B : unread, opB == TMM_OP_N ? K : N,
                                   opB == TMM_OP_N ? N : K, ldb, element);
    if (status == TMM_OK)
        status = tmm__check_matrix("C", "ldc", works ? C : unread, M, N, ldc, element);
    return status;
}
#endif
