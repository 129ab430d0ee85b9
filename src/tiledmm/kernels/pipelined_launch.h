/* src/tiledmm/kernels/pipelined_launch.h. LAUNCHER of KERNEL PIPELINED.
   Uses: once/plan.h, type/fits.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
#if !TMM__IS_DOUBLE
/* The instance of KERNEL PIPELINED: for any operands (form 0), and of float as in A^T B or packed
   (1), and as in A B (2). */
static inline const void *TMM_FN(gemm__pipelined_kernel)(int form)
{
#if TMM__IS_FLOAT
    if (form == 2) return (const void *)TMM_FN(gemm_pipelined_nn);
    if (form == 1) return (const void *)TMM_FN(gemm_pipelined_tn);
#endif
    (void)form;
    return (const void *)TMM_FN(gemm_pipelined);
}

/* The plan of KERNEL PIPELINED: with the large tiles of form `*form`, if it is not 0, or with those
   of form 0, if it may_any, whichever should be faster. *tile_m, *tile_n and *form: which. */
static inline int TMM_FN(gemm__pipelined_plan)(tmm__schedule *s, long long M, long long N,
                                               long long K, unsigned batch, int processors,
                                               int *form, int may_any, int split, int *tile_m,
                                               int *tile_n)
{
    static thread_local tmm__clusters known[TMM__KNOWN][3];
    tmm__clusters *clusters = known[(unsigned)tmm__current_device()->number % TMM__KNOWN];
    int steps = (int)((K + 7) / 8), blocks = 0, any_blocks = 0;
    double clocks = 0, any_clocks = 0, tiles = ceil(M / 128.0) * ceil(N / 128.0);
    if (*form != 0) {
        *tile_m = *tile_n = 128;
        tmm__ask_clusters(&clusters[*form], TMM_FN(gemm__pipelined_kernel)(*form), 32,
                          sizeof(TMM_FN(sums4)));
        blocks = tmm__plan_pipelined(s, (int)((M - 1) / 128 + 1), (int)((N - 1) / 128 + 1), steps,
                                     processors, 2, 1, 0, split, &clusters[*form], &clocks);
        if (!may_any) return blocks;
    }
    /* 64 x 128, or 128 x 64 if that makes fewer tiles. */
    long long wide = ((M - 1) / 64 + 1) * ((N - 1) / 128 + 1);
    long long tall = ((M - 1) / 128 + 1) * ((N - 1) / 64 + 1);
    int any_m = tall < wide ? 128 : 64, any_n = 192 - any_m;
    tmm__schedule any;
    tmm__ask_clusters(&clusters[0], TMM_FN(gemm__pipelined_kernel)(0), 16, sizeof(TMM_FN(sums4)));
    any_blocks = tmm__plan_pipelined(&any, (int)((M - 1) / any_m + 1), (int)((N - 1) / any_n + 1),
                                     steps, processors, TMM__ANY_BLOCKS(sizeof(TMM_TYPE)), 0,
                                     (TMM_SUM)0.5 == 0, split, &clusters[0], &any_clocks);
    any.tall = tall < wide;
    if (batch > 1) { /* blocks enough: what counts is how fast multiply-adds are issued */
        clocks = 2 * tiles / 0.79;
        any_clocks = tmm__min(wide, tall) / 0.70;
    }
    if (*form != 0 && clocks <= any_clocks) return blocks;
    *s = any;
    *form = 0;
    *tile_m = any_m, *tile_n = any_n;
    return any_blocks;
}

/* `batch` products by KERNEL PIPELINED (at most 65535; M, N > 0). Strides as in the
   kernels. `may`: whether tiles may be cut along K, which makes the bits depend on M and N and the
   device, and whether operands may be packed, which takes memory for copies of them. */
static inline tmm_status TMM_FN(gemm__pipelined)(long long M, long long N, long long K,
                                                 TMM_TYPE alpha, const TMM_TYPE *A, long long rsA,
                                                 long long csA, long long strideA,
                                                 const TMM_TYPE *B, long long rsB, long long csB,
                                                 long long strideB, TMM_TYPE beta, TMM_TYPE *C,
                                                 long long ldc, long long strideC, unsigned batch,
                                                 int may, tmm_stream stream)
{
    enum { SIZE = sizeof(TMM_TYPE) };
    const tmm__device *device = tmm__current_device();
    /* Copies of 16 bytes need lines in multiples of that, and everything else too; there are none
       of elements smaller than 4 bytes. */
    size_t offA = SIZE < 4 ? 1 : (size_t)A | csA * SIZE | strideA * SIZE | M * SIZE;
    size_t offB = SIZE < 4 ? 1 : (size_t)B | rsB * SIZE | strideB * SIZE | N * SIZE;
    int modeA = csA == 1 ? TMM__ALONG_K : offA % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    int modeB = rsB == 1 ? TMM__ALONG_K : offB % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;

    /* The instance of the kernel. The tile of PIPELINED is 128 x 128; in form ANY 64 x 128 or
       128 x 64. */
    enum { ANY, TN, NN, TILE = 128 };
    int form = ANY;
    int inA = modeA == TMM__VECTORS && M >= TILE; /* TN could use it in place */
    int inB = modeB == TMM__VECTORS && N >= TILE;
    int nn = TMM__IS_FLOAT && modeA == TMM__ALONG_K && M >= TILE && inB;
    if (nn) form = NN;
    if (TMM__IS_FLOAT && inA && inB) form = TN;

    /* Should operands be packed for TN? That costs time in proportion to M K and N K, and saves a
       part of what M N K costs. */
    long long pitchA = 0, pitchB = 0;
    double packing = (inA ? 0.0 : M) + (inB ? 0.0 : N);
    packing *= 2.0 * K * SIZE / device->bandwidth;
    double saving = (form != NN ? 0.15 : 0.06) * 2 * M * N * K / device->arithmetic;
    if (TMM__IS_FLOAT && form != TN && batch == 1 && (may & TMM__MAY_PACK) && K > 0 &&
        TMM__WORTH_PACKING(packing, saving) &&
        TMM_FN(gemm__fits)(TMM_PIPELINED, M, N, K, M + TILE, N + TILE)) {
        form = TN;
        if (!inA) pitchA = ((M - 1) / TILE + 1) * TILE;
        if (!inB) pitchB = ((N - 1) / TILE + 1) * TILE;
    }

    /* Who computes what, and the memory for that. */
    tmm__schedule s;
    char *memory = NULL;
    int blocks = 0, tile_m = TILE, tile_n = TILE;
    for (int split = batch == 1 && (may & TMM__MAY_SPLIT); blocks == 0; split = 0) {
        blocks = TMM_FN(gemm__pipelined_plan)(&s, M, N, K, batch, device->processors, &form,
                                              pitchA + pitchB == 0, split, &tile_m, &tile_n);
        size_t bytesA = (size_t)(K * pitchA) * SIZE, bytesB = (size_t)(K * pitchB) * SIZE;
        size_t partials = 0, flags = 0;
        if (s.split_tiles > 0 && s.cluster == 0) {
            partials = (size_t)s.sharers * (tile_m * tile_n / 4) * sizeof(TMM_FN(sums4));
            flags = s.sharers * sizeof *s.flags;
        }
        if (bytesA + bytesB + partials == 0) break;
        memory = (char *)tmm__workspace(bytesA + bytesB + partials + flags, stream);
        if (memory == NULL) { /* then without */
            if (pitchA + pitchB > 0) form = nn ? NN : ANY;
            blocks = 0;
            pitchA = pitchB = 0;
            continue;
        }
        s.partials = memory + bytesA + bytesB;
        s.flags = (unsigned long long *)(memory + bytesA + bytesB + partials);
        s.ticket = tmm__ticket();
#ifdef TMM_CLEAR_FLAGS
        if (flags > 0) (void)cudaMemsetAsync(s.flags, 0, flags, stream);
#endif
    }

#if TMM__IS_FLOAT
    if (pitchA + pitchB > 0) {
        TMM_TYPE *packed_A = (TMM_TYPE *)memory, *packed_B = packed_A + K * pitchA;
        dim3 squares((unsigned)((pitchA > pitchB ? pitchA : pitchB) / 64),
                     (unsigned)tmm__min((K + 63) / 64, 65535), 2);
        TMM_FN(pack)<<<squares, 256, 0, stream>>>(K, M, A, rsA, csA, packed_A, pitchA, N, B, rsB,
                                                  csB, packed_B, pitchB);
        if (pitchA > 0) A = packed_A, rsA = 1, csA = pitchA, s.packed_A = 1;
        if (pitchB > 0) B = packed_B, csB = 1, rsB = pitchB, s.packed_B = 1;
    }
#endif
    dim3 grid(blocks, 1, batch);
#define TMM__LAUNCH(name)                                                                     \
    TMM_FN(name)<<<grid, 128, 0, stream>>>(M, N, K, alpha, A, rsA, csA, strideA, B, rsB, csB, \
                                           strideB, beta, C, ldc, strideC, modeA, modeB, s)
#if TMM__CLUSTER_LAUNCH
    if (s.cluster > 0) {
        cudaLaunchConfig_t config;
        cudaLaunchAttribute attribute;
        int bytes = tmm__cluster_bytes(s.cluster, tile_m * tile_n / 512, sizeof(TMM_FN(sums4)));
        void *arguments[] = {&M,       &N,       &K,     &alpha, &A,       &rsA,  &csA,
                             &strideA, &B,       &rsB,   &csB,   &strideB, &beta, &C,
                             &ldc,     &strideC, &modeA, &modeB, &s};
        tmm__cluster_config(&config, &attribute, blocks, s.cluster, bytes, stream);
        tmm_status status =
            tmm__cuda(cudaLaunchKernelExC(&config, TMM_FN(gemm__pipelined_kernel)(form), arguments),
                      "kernel launch");
        if (memory != NULL) (void)cudaFreeAsync(memory, stream);
        return status;
    }
#endif
    switch (form) {
#if TMM__IS_FLOAT
    case NN: TMM__LAUNCH(gemm_pipelined_nn); break;
    case TN: TMM__LAUNCH(gemm_pipelined_tn); break;
#endif
    default: TMM__LAUNCH(gemm_pipelined); break;
    }
#undef TMM__LAUNCH
    if (s.reduce) { /* and not in clusters */
        int tiles = s.tiles_down * s.tiles_across;
        int pieces = blocks / tiles, parts = pieces >= 32 ? 8 : 1;
        int rows = form == ANY ? 8 : 16, warps_down = s.tall ? 4 : 2;
        TMM_FN(gemm_reduce)<<<dim3(rows * parts, tiles), 256, 0, stream>>>(M, N, alpha, beta, C,
                                                                           ldc, rows, warps_down,
                                                                           pieces, parts, 0, s);
    }
    tmm_status status = tmm__cuda(cudaGetLastError(), "kernel launch");
    if (memory != NULL) (void)cudaFreeAsync(memory, stream);
    return status;
}
#endif
#endif
