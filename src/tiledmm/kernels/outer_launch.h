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

static inline double TMM_FN(gemm__outer_time)(const TMM_FN(gemm__product) * p,
                                              const TMM_FN(gemm__kernel) * row)
{
    enum { TILE = TMM__OUTER_EDGE * TMM__OUTER_EDGE * TMM__OUTER_THREADS };
    const double line =
        128; /* bytes of L1: of those between columns, a warp reads as many at most */
    const int along_k = p->rsB == 1 && p->csB != 1;
    tmm__load load = TMM_FN(gemm__load)(p, TMM__COST_OUTER, TMM__OUTER_EDGE, TMM__OUTER_EDGE);
    (void)row;
    if (p->K > TMM__OUTER_MOST) return HUGE_VAL; /* lines leave L1 before all of them is read */
    /* Warps without work end at once. */
    load.blocks = ceil(load.blocks / p->batch / 32) / (TMM__OUTER_THREADS / 32) * p->batch;
    load.area = TILE, load.copied = 0, load.odd = 0;
    if (along_k) load.k *= fmin(line, (double)p->csB * sizeof(TMM_TYPE)) / line;
    return tmm__launch_time(&tmm__tuned()->outer[along_k][TMM__TUNED_AS], &load);
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
