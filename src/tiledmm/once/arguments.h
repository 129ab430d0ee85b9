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

/* What all forms of GEMM are called with, of any element type. */
typedef struct tmm__operands {
    tmm_op opA, opB;
    long long M, N, K;
    const void *A;
    long long lda;
    const void *B;
    long long ldb;
    const void *C;
    long long ldc;
    size_t element; /* bytes */
    int reads_AB;   /* 0 where alpha is 0 */
} tmm__operands;

/* What all forms of GEMM ask of their arguments. */
static inline tmm_status tmm__check_gemm(const tmm__operands *o)
{
    const int nA = o->opA == TMM_OP_N, nB = o->opB == TMM_OP_N;
    if (!nA && o->opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opA is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opA);
    if (!nB && o->opB != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opB is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opB);
    if (o->M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", o->M);
    if (o->N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", o->N);
    if (o->K < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "K is negative: %lld", o->K);
    /* Pointers that will not be read or written may be anything. */
    const void *unread = &unread;
    int works = o->M > 0 && o->N > 0;
    int reads = works && o->K > 0 && o->reads_AB;
    tmm_status status = tmm__check_matrix("A", "lda", reads ? o->A : unread, nA ? o->M : o->K,
                                          nA ? o->K : o->M, o->lda, o->element);
    if (status == TMM_OK)
        status = tmm__check_matrix("B", "ldb", reads ? o->B : unread, nB ? o->K : o->N,
                                   nB ? o->N : o->K, o->ldb, o->element);
    if (status == TMM_OK)
        status =
            tmm__check_matrix("C", "ldc", works ? o->C : unread, o->M, o->N, o->ldc, o->element);
    return status;
}
#endif
