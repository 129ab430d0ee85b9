/* src/tiledmm/kernels/strided.cuh. KERNEL STRIDED: what a new kernel consists of, for CONTRIBUTING.
   Uses: kernels/common/finish.cuh, launch/product.h. Used by: once/kernels.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE
/* ============================== KERNEL STRIDED ================================================ */
/* Any number of threads: each computes every element of C that is a multiple of that number behind
   its first one.

       C, row by row, with 8 threads:   0 1 2 3 4 5 6 7 0 1 2 3 4 ...

   Loads: 2 M N K elements, as KERNEL GLOBAL, and what bounds that bounds this, too. */
TMM_KERNEL void TMM_FN(gemm_strided)(long long M, long long N, long long K, TMM__ALPHA alpha,
                                     const TMM_TYPE *A, long long rsA, long long csA,
                                     long long batchA, const TMM_TYPE *B, long long rsB,
                                     long long csB, long long batchB, TMM_SCALAR beta, TMM_TYPE *C,
                                     long long ldc, long long batchC)
{
    const long long threads = (long long)gridDim.x * blockDim.x;
    A += blockIdx.z * batchA, B += blockIdx.z * batchB, C += blockIdx.z * batchC;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < M * N; n += threads) {
        const long long row = n / N, col = n % N;
        TMM_SUM sum = 0, old = 0;
        for (long long k = 0; k < K; k++)
            sum += (TMM_SUM)A[row * rsA + k * csA] * (TMM_SUM)B[k * rsB + col * csB];
        TMM_TYPE *element = C + row * ldc + col;
        if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*element);
        TMM_TYPE value = (TMM_TYPE)TMM__LAST(alpha, sum, old, row, col);
#ifdef TMM_EPILOGUE
        value = TMM_EPILOGUE(value, row, col);
#endif
        *element = value;
    }
}
#endif

#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* LAUNCHER of KERNEL STRIDED. */
static inline tmm_status TMM_FN(gemm__strided_takes)(const TMM_FN(gemm__product) * p,
                                                     const TMM_FN(gemm__kernel) * row)
{
    if (p->M == 0 || p->N <= LLONG_MAX / p->M) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel %s: C has more elements than 64 bits count",
                     tmm_kernel_string(row->value));
}

/* Not measured: TMM_AUTO does not ask for it. */
static inline void TMM_FN(gemm__strided_plan)(const TMM_FN(gemm__product) * p,
                                              const TMM_FN(gemm__kernel) * row, tmm__plan *plan)
{
    (void)row;
    plan->kernel = (const void *)TMM_FN(gemm_strided);
    plan->blocks = tmm__min((p->M * p->N + 255) / 256, 8ll * tmm__current_device()->processors);
    plan->threads = 256;
}

static inline tmm_status TMM_FN(gemm__strided)(const TMM_FN(gemm__product) * product,
                                               const tmm__plan *plan)
{
    TMM_FN(gemm__product) p = *product;
    void *arguments[20];
    (void)TMM_FN(gemm__arguments)(&p, arguments);
    return tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, 1, p.batch),
                       dim3((unsigned)plan->threads), 0, arguments, p.stream);
}
#endif
