/* src/tiledmm/kernels/outer_launch.h. LAUNCHER of KERNEL OUTER.
   Uses: type/product.h. Used by: type/choose.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
static inline tmm_status TMM_FN(gemm__outer_takes)(const TMM_FN(gemm__product) * p,
                                                   const TMM_FN(gemm__kernel) * row)
{
    (void)row;
    if (p->K <= INT_MAX) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel outer: K (%lld) is too large for it", p->K);
}

static inline tmm_status TMM_FN(gemm__outer)(const TMM_FN(gemm__product) * given,
                                             const TMM_FN(gemm__kernel) * row)
{
    TMM_FN(gemm__product) p = *given;
    void *arguments[20];
    (void)row;
    (void)TMM_FN(gemm__arguments)(&p, arguments);
    const double edge = TMM__OUTER_EDGE, threads = ceil(p.M / edge) * ceil(p.N / edge);
    const double blocks = ceil(threads / (int)TMM__OUTER_THREADS);
    return tmm__launch((const void *)TMM_FN(gemm_outer), dim3((unsigned)blocks, 1, p.batch),
                       dim3(TMM__OUTER_THREADS), 0, arguments, p.stream);
}
#endif
