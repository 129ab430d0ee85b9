/* src/tiledmm/once/functions.h. Declarations of the functions that know no element type.
   Uses: once/. Used by: callers. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__ONCE)
/* The name of a status: "TMM_OK", ... Never NULL. */
TMM_API const char *tmm_status_string(tmm_status status);

/* What went wrong in this thread's last call that did not return TMM_OK: one sentence that names
   the argument or the CUDA call. "" if nothing has. Valid until the next failure. */
TMM_API const char *tmm_last_error(void);

/* The name of a kernel as written on command lines: "auto", "global", "shared_16", ... NULL for a
   value that is none, so that a program can go through TMM_AUTO .. TMM_KERNEL_COUNT - 1. */
TMM_API const char *tmm_kernel_string(tmm_kernel kernel);

/* *error = max |X(i,j) - R(i,j)| over an M x N matrix X of the given type (leading dimension ldx)
   and a reference R in double (ldr), host memory. Equal infinities, and NaN against NaN, count as
   no difference; any other difference that is not a number makes *error infinite. */
TMM_API tmm_status tmm_max_abs_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error);

/* The same for |X - R| / (|R| + 1e-12), element by element. */
TMM_API tmm_status tmm_max_rel_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error);

/* Is C = A B? Freivalds' check: compares C r with A (B r) for random vectors r of +1 and -1, in
   O(MK + KN + MN) instead of O(MNK) work (R. Freivalds, "Probabilistic machines can use less
   running time", 1977). A is M x K, B is K x N, C is M x N, host memory. One trial lets a wrong C
   pass with probability 1/2 at most, so `trials` of them with 2^-trials.
     TMM_INT: exact modulo 2^32. *excess is 0 if every trial agrees, infinite otherwise.
     TMM_FLOAT, TMM_DOUBLE: *excess is the largest |C r - A B r|_i over a bound for what rounding
     does to row i. That is 8 sqrt(K + 2) u |a_i|_2 |B|_F with u the unit roundoff of the type; in
     double 8 sqrt(K + N + 2) u ..., for C r and B r, sums of N elements, are rounded so, too.
     Above 1 the product is wrong. The bound treats rounding errors as independent (N. Higham and T. Mary,
     "A new approach to probabilistic rounding error analysis", 2019); on matrices of one repeated
     value, where they are not, a right product can exceed it: compare element by element then.
     TMM_HALF, TMM_BFLOAT16, and TMM_HALF_FLOAT, TMM_BFLOAT16_FLOAT for C in float: as for TMM_FLOAT,
     since sums are in float, and 8 u |c_i|_2 for the rounding of a C of 16 bits.
   Infinities and NaN, in A or B, too, make *excess infinite. Needs memory for N + K + 2 M
   doubles. */
TMM_API tmm_status tmm_freivalds(tmm_type type, long long M, long long N, long long K,
                                 const void *A, long long lda, const void *B, long long ldb,
                                 const void *C, long long ldc, int trials, unsigned long long seed,
                                 double *excess);

/* Gives back what tmm_?gemm_host, tmm_?gemm_multi and tmm_?matmul keep for their next call: pinned
   memory (up to 128 MiB) and device memory (up to an eighth of each device's). The end of the
   program does so, too. */
#if TMM__HOST_LAYER && (defined(TMM_IMPLEMENTATION) || !TMM__HOST) /* otherwise with its code */
TMM_API void tmm_host_release(void);
#endif
#endif
