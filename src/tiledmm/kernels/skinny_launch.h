/* src/tiledmm/kernels/skinny_launch.h. LAUNCHER of KERNEL SKINNY.
   Uses: kernels/small_launch.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
static inline tmm_status TMM_FN(gemm__skinny_takes)(const TMM_FN(gemm__product) * p,
                                                    const TMM_FN(gemm__kernel) * row)
{
    (void)row;
    if (p->M <= TMM__SKINNY_MOST || p->N <= TMM__SKINNY_MOST) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel skinny: M x N is %lld x %lld, but one of them must be %d at most",
                     p->M, p->N, TMM__SKINNY_MOST);
}

static inline tmm_status TMM_FN(gemm__skinny)(const TMM_FN(gemm__product) * given,
                                              const TMM_FN(gemm__kernel) * row)
{
    typedef struct {
        int along_k, width; /* as in the list */
        int bytes, least, lines,
            depth; /* of shared memory, of its sums; lines of a block; k of a stage */
        const void *kernel;
    } instance;
#define TMM__ROW(pass, name, along_k, width) \
    {along_k,                                \
     width,                                  \
     TMM_FN(skinny_bytes_##name),            \
     TMM_FN(skinny_least_##name),            \
     TMM_FN(skinny_lines_##name),            \
     TMM_FN(skinny_depth_##name),            \
     (const void *)TMM_FN(gemm_skinny_##name)},
    static const instance instances[] = {TMM__SKINNY_LIST(TMM__ROW)};
#undef TMM__ROW
    TMM_FN(gemm__product) product = *given, *p = &product;
    (void)row;
    const tmm__device *device = tmm__current_device();
    /* L is the large operand, S the narrow one. */
    int few_rows = p->M < p->N;
    long long lines = few_rows ? p->N : p->M, width = few_rows ? p->M : p->N;
    const TMM_TYPE *L = few_rows ? p->B : p->A, *S = few_rows ? p->A : p->B;
    long long lineL = few_rows ? p->csB : p->rsA, kL = few_rows ? p->rsB : p->csA;
    long long kS = few_rows ? p->csA : p->rsB, jS = few_rows ? p->rsA : p->csB;
    long long strideL = few_rows ? p->strideB : p->strideA;
    long long strideS = few_rows ? p->strideA : p->strideB;
    /* The narrowest instance that is wide enough. */
    const instance *i = NULL;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++)
        if (instances[n].along_k == (kL == 1) && instances[n].width >= width &&
            (i == NULL || instances[n].width < i->width))
            i = &instances[n];
    if (i->least > device->shared)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: its sums take %d bytes of shared memory, this device has "
                         "%d for a block",
                         i->least, device->shared);

    /* Few blocks and many stages: split along k. The widest kernel along k leaves memory idle with
       one block a multiprocessor. */
    long long blocks = (lines - 1) / i->lines + 1;
    long long wanted =
        (i->along_k && i->width == 16 ? 2 : 1) * (long long)TMM__BUSY(device->processors);
    long long stages = (p->K + i->depth - 1) / i->depth;
    long long parts = tmm__min(wanted / (blocks * p->batch), stages / 4);
    void *partials = NULL;
    if (parts >= 2 && stages >= 32)
        partials =
            tmm__workspace((size_t)(parts * p->M * p->N * p->batch) * sizeof(TMM_SUM), p->stream);
    if (partials == NULL) parts = 1;
    int bytes = (int)tmm__min(i->bytes, device->shared); /* as for SMALL */
    void *arguments[] = {&lines,   &width,   &p->K,   &p->alpha,   &L,        &lineL,
                         &kL,      &strideL, &S,      &kS,         &jS,       &strideS,
                         &p->beta, &p->C,    &p->ldc, &p->strideC, &few_rows, &partials};
    tmm_status status = tmm__launch(i->kernel, dim3((unsigned)blocks, (unsigned)parts, p->batch),
                                    dim3(256), bytes, arguments, p->stream);
    return TMM_FN(gemm__sum)(status, p, (int)parts, partials);
}
#endif
