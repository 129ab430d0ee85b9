/* src/tiledmm/kernels/small_launch.h. LAUNCHERS of KERNEL SUM and SMALL.
   Uses: once/device.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* How many blocks KERNEL SMALL and SKINNY should have at least; a test acts a large device. */
#ifndef TMM__BUSY
#define TMM__BUSY(processors) (processors)
#endif

/* What follows a launch of KERNEL SMALL or SKINNY that went as `status` says: KERNEL SUM, if there
   were parts, and giving back the memory of their sums. */
static inline tmm_status TMM_FN(gemm__sum)(tmm_status status, long long M, long long N, int parts,
                                           TMM_TYPE alpha, void *partials, TMM_TYPE beta,
                                           TMM_TYPE *C, long long ldc, long long strideC,
                                           unsigned batch, tmm_stream stream)
{
    if (status == TMM_OK && partials != NULL) {
        dim3 grid((unsigned)((M * N + 31) / 32), 1, batch);
        TMM_FN(gemm_sum)<<<grid, 256, 0, stream>>>(M, N, parts, alpha, (const TMM_SUM *)partials,
                                                   beta, C, ldc, strideC);
    }
    if (status == TMM_OK) status = tmm__cuda(cudaGetLastError(), "kernel launch");
    if (partials != NULL) (void)cudaFreeAsync(partials, stream);
    return status;
}

/* `batch` products by KERNEL SMALL (M, N > 0; as many as tiles fit in 32 bits). Strides as in the
   kernels. */
static inline tmm_status TMM_FN(gemm__small_launch)(long long M, long long N, long long K,
                                                    TMM_TYPE alpha, const TMM_TYPE *A,
                                                    long long rsA, long long csA, long long strideA,
                                                    const TMM_TYPE *B, long long rsB, long long csB,
                                                    long long strideB, TMM_TYPE beta, TMM_TYPE *C,
                                                    long long ldc, long long strideC,
                                                    unsigned batch, tmm_stream stream)
{
    enum { FORMS = TMM__FEW_FORMS ? 2 : 4 };
    /* What a product takes if there is a multiprocessor for each tile, measured on one H200 in a CUDA
       graph: `first` ns, and `each` for every k. Parts of k take more time for KERNEL SUM, 1.4 us
       and 1.4 us for each MB; and the host takes some 8 us for memory and two launches. */
    const double sums = 1400, sums_byte = 1.4e-3, host = 8000;
    static const struct {
        int rows, cols, bytes;
        double first, each;
    } forms[FORMS] = {
#if !TMM__FEW_FORMS
        {16, 16, TMM_FN(small_bytes_16x16), 2000, TMM__IS_DOUBLE ? 4.5 : 5.2},
#endif
        {16, 32, TMM_FN(small_bytes_16x32), 2300, TMM__FEW_FORMS ? 6.9 : 6.2},
#if !TMM__FEW_FORMS
        {32, 32, TMM_FN(small_bytes_32x32), 2500, TMM__IS_DOUBLE ? 8.3 : 10.3},
#endif
        {32, 64, TMM_FN(small_bytes_32x64), 2700,
         TMM__IS_DOUBLE   ? 11.5
         : TMM__FEW_FORMS ? 19.4
                          : 15.6}
    };
    static thread_local unsigned long long asked[FORMS];
    const tmm__device *device = tmm__current_device();
    const long long busy = TMM__BUSY(device->processors);
    /* The largest tile that fits the device and is not mostly outside C. */
    int largest = FORMS - 1;
    while (largest > 0 && (forms[largest].bytes > device->shared || N <= forms[largest].cols / 2 ||
                           (M <= 16 && forms[largest].rows > 16)))
        largest--;
    int least = forms[0].bytes / 3 * 2; /* with two stages, which kernels before sm_80 have */
    if (least > device->shared)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel small takes %d bytes of shared memory, this device has %d for a "
                         "block",
                         least, device->shared);
    long long tiles[FORMS], steps = (K + 7) / 8;
    for (int n = 0; n < FORMS; n++)
        tiles[n] = ((M - 1) / forms[n].rows + 1) * ((N - 1) / forms[n].cols + 1) * batch;
    /* Of double, many of 32 x 32 take longer than twice as many of 16 x 32. */
    if (TMM__IS_DOUBLE && forms[largest].rows * forms[largest].cols == 32 * 32 && K <= 128 &&
        tiles[largest] > busy)
        largest--;
    /* The smallest tile of which each multiprocessor gets one at most, or the largest. */
    int whole = 0, form;
    while (whole < largest && tiles[whole] > busy) whole++;
    form = whole;
    /* Few tiles and long K: parts of k, of 16 steps at least, two for each warp, and so many that
       fewer or more would take longer. Larger tiles take less time for twice as many parts. */
    void *partials = NULL;
    long long parts = 1;
    const double alone = forms[whole].first + forms[whole].each * K;
    double best = 0.9 * alone; /* a tenth is in doubt */
    for (int n = whole; n <= largest && alone > host; n++) {
        double part = sums_byte * sizeof(TMM_SUM) * M * N * batch, all = forms[n].each * K;
        long long most = tmm__min(busy / tiles[n], steps / 16);
        long long some = tmm__min(most, (long long)sqrt(all / part));
        if (some < 2) continue;
        double time = forms[n].first + all / some + sums + some * part;
        if (time < best) form = n, parts = some, best = time;
    }
    if (parts > 1)
        partials = tmm__workspace((size_t)(parts * M * N * batch) * sizeof(TMM_SUM), stream);
    if (partials == NULL) parts = 1, form = whole;
    /* Where there are many tiles, or few steps, fewer warps to each. */
    int team_log2 = 3;
    while (team_log2 > 0 && ((tiles[form] << team_log2) / 8 > 3 * busy || steps < 1 << team_log2))
        team_log2--;
    /* Devices that have less shared memory have no asynchronous copies, and kernels compiled for
       them need less. */
    int bytes = (int)tmm__min(forms[form].bytes, device->shared);
    dim3 grid((unsigned)(((tiles[form] << team_log2) + 7) / 8), (unsigned)parts);
    tmm_status status = TMM_OK;
#define TMM__LAUNCH(name)                                                                         \
    status = tmm__allow_shared((const void *)TMM_FN(name), bytes, &asked[form]);                  \
    if (status == TMM_OK)                                                                         \
    TMM_FN(name)<<<grid, 256, bytes, stream>>>(M, N, K, alpha, A, rsA, csA, strideA, B, rsB, csB, \
                                               strideB, beta, C, ldc, strideC, batch, team_log2,  \
                                               (TMM_SUM *)partials)
    switch (forms[form].rows * forms[form].cols) {
#if !TMM__FEW_FORMS
    case 16 * 16: TMM__LAUNCH(gemm_small_16x16); break;
    case 32 * 32: TMM__LAUNCH(gemm_small_32x32); break;
#endif
    case 16 * 32: TMM__LAUNCH(gemm_small_16x32); break;
    default: TMM__LAUNCH(gemm_small_32x64); break;
    }
#undef TMM__LAUNCH
    return TMM_FN(gemm__sum)(status, M, N, (int)parts, alpha, partials, beta, C, ldc, strideC,
                             batch, stream);
}

/* The same for any number of products: tiles are numbered through all of a launch. */
static inline tmm_status TMM_FN(gemm__small)(long long M, long long N, long long K, TMM_TYPE alpha,
                                             const TMM_TYPE *A, long long rsA, long long csA,
                                             long long strideA, const TMM_TYPE *B, long long rsB,
                                             long long csB, long long strideB, TMM_TYPE beta,
                                             TMM_TYPE *C, long long ldc, long long strideC,
                                             unsigned batch, tmm_stream stream)
{
    long long tiles = ((M - 1) / 16 + 1) * ((N - 1) / 16 + 1); /* INT_MAX at most */
    long long most = INT_MAX / tiles;
    tmm_status status = TMM_OK;
    for (long long first = 0; first < batch && status == TMM_OK; first += most)
        status = TMM_FN(gemm__small_launch)(M, N, K, alpha, A + first * strideA, rsA, csA, strideA,
                                            B + first * strideB, rsB, csB, strideB, beta,
                                            C + first * strideC, ldc, strideC,
                                            (unsigned)tmm__min(batch - first, most), stream);
    return status;
}
#endif
