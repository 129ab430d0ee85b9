/* src/tiledmm/kernels/skinny_launch.h. LAUNCHER of KERNEL SKINNY.
   Uses: kernels/small_launch.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* `batch` products by KERNEL SKINNY (at most 65535; M, N > 0, one of them 16 at most). */
static inline tmm_status TMM_FN(gemm__skinny)(long long M, long long N, long long K, TMM_TYPE alpha,
                                              const TMM_TYPE *A, long long rsA, long long csA,
                                              long long strideA, const TMM_TYPE *B, long long rsB,
                                              long long csB, long long strideB, TMM_TYPE beta,
                                              TMM_TYPE *C, long long ldc, long long strideC,
                                              unsigned batch, tmm_stream stream)
{
    enum { K_1, K_4, K_16, LINES_4, LINES_16, FORMS };
#define TMM__FORM(edge)                                                                        \
    {                                                                                          \
        TMM_FN(skinny_bytes_##edge), TMM_FN(skinny_least_##edge), TMM_FN(skinny_lines_##edge), \
            TMM_FN(skinny_depth_##edge)                                                        \
    }
    static const struct {
        int bytes, least, lines, depth;
    } forms[FORMS] = {TMM__FORM(k_1), TMM__FORM(k_4), TMM__FORM(k_16), TMM__FORM(lines_4),
                      TMM__FORM(lines_16)};
#undef TMM__FORM
    static thread_local unsigned long long asked[FORMS];
    const tmm__device *device = tmm__current_device();
    int few_rows = M < N;
    long long lines = few_rows ? N : M, width = few_rows ? M : N;
    const TMM_TYPE *L = few_rows ? B : A, *S = few_rows ? A : B;
    long long lineL = few_rows ? csB : rsA, kL = few_rows ? rsB : csA;
    long long kS = few_rows ? csA : rsB, jS = few_rows ? rsA : csB;
    long long strideL = few_rows ? strideB : strideA, strideS = few_rows ? strideA : strideB;
    int form = width > 4 ? LINES_16 : LINES_4;
    if (kL == 1) form = width > 4 ? K_16 : width > 1 ? K_4 : K_1;

    if (forms[form].least > device->shared)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: its sums take %d bytes of shared memory, this device has "
                         "%d for a block",
                         forms[form].least, device->shared);

    /* Few blocks and many stages: split along k. The widest kernel along k leaves memory idle with
       one block a multiprocessor. */
    long long blocks = (lines - 1) / forms[form].lines + 1;
    long long wanted = (form == K_16 ? 2 : 1) * (long long)TMM__BUSY(device->processors);
    long long stages = (K + forms[form].depth - 1) / forms[form].depth;
    long long parts = tmm__min(wanted / (blocks * batch), stages / 4);
    void *partials = NULL;
    if (parts >= 2 && stages >= 32)
        partials = tmm__workspace((size_t)(parts * M * N * batch) * sizeof(TMM_SUM), stream);
    if (partials == NULL) parts = 1;
    int bytes = (int)tmm__min(forms[form].bytes, device->shared); /* as for SMALL */
    dim3 grid((unsigned)blocks, (unsigned)parts, batch);
    tmm_status status = TMM_OK;
#define TMM__LAUNCH(name)                                                                        \
    status = tmm__allow_shared((const void *)TMM_FN(name), bytes, &asked[form]);                 \
    if (status == TMM_OK)                                                                        \
    TMM_FN(name)<<<grid, 256, bytes, stream>>>(lines, width, K, alpha, L, lineL, kL, strideL, S, \
                                               kS, jS, strideS, beta, C, ldc, strideC, few_rows, \
                                               (TMM_SUM *)partials)
    switch (form) {
    case K_1: TMM__LAUNCH(gemm_skinny_k_1); break;
    case K_4: TMM__LAUNCH(gemm_skinny_k_4); break;
    case K_16: TMM__LAUNCH(gemm_skinny_k_16); break;
    case LINES_4: TMM__LAUNCH(gemm_skinny_lines_4); break;
    default: TMM__LAUNCH(gemm_skinny_lines_16); break;
    }
#undef TMM__LAUNCH
    return TMM_FN(gemm__sum)(status, M, N, (int)parts, alpha, partials, beta, C, ldc, strideC,
                             batch, stream);
}
#endif
