/* src/tiledmm/kernels/pipelined_launch.h. LAUNCHER of KERNEL PIPELINED.
   Uses: kernels/pipelined_plan.h, type/product.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && !TMM__IS_DOUBLE
/* The instances of the list by what they are for: other types than float have the first alone. */
enum { TMM_FN(pipelined_any), TMM_FN(pipelined_tn), TMM_FN(pipelined_nn) };

/* A choice of instance, tile and schedule. */
typedef struct TMM_FN(pipelined__choice) {
    int instance, tile_m, tile_n, blocks;
    double clocks; /* that it should take */
    tmm__schedule s;
} TMM_FN(pipelined__choice);

static inline const void *TMM_FN(gemm__pipelined_kernel)(int instance)
{
#define TMM__ROW(pass, name, ...) (const void *)TMM_FN(gemm_pipelined##name),
    static const void *const kernels[] = {TMM__PIPELINED_LIST(TMM__ROW)};
#undef TMM__ROW
    int count = (int)(sizeof kernels / sizeof *kernels); /* one, of other types than float */
    return kernels[instance < count ? instance : 0];
}

/* The plan with large tiles of c->instance, if it is not ANY, or with those of ANY, if may_any,
   whichever should be faster. `cut_k`: whether tiles may be cut along K. */
static inline void TMM_FN(gemm__pipelined_plan)(TMM_FN(pipelined__choice) * c,
                                                const TMM_FN(gemm__product) * p, int may_any,
                                                int cut_k)
{
    const long long M = p->M, N = p->N;
    double clocks = 0, any_clocks = 0, tiles = ceil(M / 128.0) * ceil(N / 128.0);
    tmm__division d;
    memset(&d, 0, sizeof d);
    d.steps = (int)((p->K + 7) / 8);
    d.processors = tmm__current_device()->processors;
    d.cut_k = cut_k;
    if (c->instance != TMM_FN(pipelined_any)) {
        c->tile_m = c->tile_n = 128;
        d.tiles_down = (int)((M - 1) / 128 + 1), d.tiles_across = (int)((N - 1) / 128 + 1);
        d.blocks = 2, d.large = 1;
        d.clusters =
            tmm__clusters(TMM_FN(gemm__pipelined_kernel)(c->instance), 32, sizeof(TMM_FN(sums4)));
        c->blocks = tmm__plan_pipelined(&c->s, &d, &clocks);
        c->clocks = clocks;
        if (!may_any) return;
    }
    /* 64 x 128, or 128 x 64 if that makes fewer tiles. */
    long long wide = ((M - 1) / 64 + 1) * ((N - 1) / 128 + 1);
    long long is_128x64 = ((M - 1) / 128 + 1) * ((N - 1) / 64 + 1);
    int any_m = is_128x64 < wide ? 128 : 64, any_n = 192 - any_m;
    tmm__schedule any;
    d.tiles_down = (int)((M - 1) / any_m + 1), d.tiles_across = (int)((N - 1) / any_n + 1);
    d.blocks = TMM__ANY_BLOCKS(sizeof(TMM_TYPE)), d.large = 0, d.data_parallel = TMM__IS_INTEGER;
    d.clusters = tmm__clusters(TMM_FN(gemm__pipelined_kernel)(TMM_FN(pipelined_any)), 16,
                               sizeof(TMM_FN(sums4)));
    int any_blocks = tmm__plan_pipelined(&any, &d, &any_clocks);
    any.is_128x64 = is_128x64 < wide;
    if (p->batch > 1) { /* blocks enough: what counts is how fast multiply-adds are issued */
        clocks = 2 * tiles / tmm__tuned()->pipelined.issue[TMM__LARGE_TILE][2];
        any_clocks = tmm__min(wide, is_128x64) / tmm__tuned()->pipelined.issue[TMM__SMALL_TILE][3];
    }
    if (c->instance != TMM_FN(pipelined_any) && clocks <= any_clocks) return;
    c->s = any;
    c->instance = TMM_FN(pipelined_any);
    c->blocks = any_blocks, c->clocks = any_clocks;
    c->tile_m = any_m, c->tile_n = any_n;
}

static inline tmm_status TMM_FN(gemm__pipelined_takes)(const TMM_FN(gemm__product) * p,
                                                       const TMM_FN(gemm__kernel) * row)
{
    return TMM_FN(gemm__check_reach)(p, row);
}

static inline tmm_status TMM_FN(gemm__pipelined)(const TMM_FN(gemm__product) * given,
                                                 const TMM_FN(gemm__kernel) * row)
{
    enum { SIZE = sizeof(TMM_TYPE), TILE = 128 };
    TMM_FN(gemm__product) product = *given, *p = &product;
    const long long M = p->M, N = p->N, K = p->K;
    const tmm__device *device = tmm__current_device();
    (void)row;
    /* Copies of 16 bytes need lines in multiples of that, and everything else too; there are none
       of elements smaller than 4 bytes. */
    size_t offA = SIZE < 4 ? 1 : (size_t)p->A | p->csA * SIZE | p->strideA * SIZE | M * SIZE;
    size_t offB = SIZE < 4 ? 1 : (size_t)p->B | p->rsB * SIZE | p->strideB * SIZE | N * SIZE;
    int modeA = p->csA == 1 ? TMM__ALONG_K : offA % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    int modeB = p->rsB == 1 ? TMM__ALONG_K : offB % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;

    /* The instance. The tile is 128 x 128; that of ANY 64 x 128 or 128 x 64. */
    TMM_FN(pipelined__choice) c;
    memset(&c, 0, sizeof c);
    int inA = modeA == TMM__VECTORS && M >= TILE; /* TN could use it in place */
    int inB = modeB == TMM__VECTORS && N >= TILE;
    int nn = TMM__IS_FLOAT && modeA == TMM__ALONG_K && M >= TILE && inB;
    if (nn) c.instance = TMM_FN(pipelined_nn);
    if (TMM__IS_FLOAT && inA && inB) c.instance = TMM_FN(pipelined_tn);

    /* Should operands be packed for TN? That costs time in proportion to M K and N K, and saves a
       part of what M N K costs; unless its large tiles stick out by more than that. */
    long long pitchA = 0, pitchB = 0;
    double packing =
        ((inA ? 0.0 : M) + (inB ? 0.0 : N)) * 2.0 * K * (double)SIZE / device->bandwidth;
    double part = nn ? tmm__tuned()->pack.saves_nn : tmm__tuned()->pack.saves_any;
    const double tile = TILE, down = ceil(M / tile), across = ceil(N / tile);
    double large = tile * tile * down * across;
    double small = tile / 2 * tile * fmin(ceil(2 * M / tile) * across, down * ceil(2 * N / tile));
    double saving = ((nn ? large : small) - (1 - part) * large) * 2.0 * K / device->arithmetic;
    if (TMM__IS_FLOAT && !(inA && inB) && p->batch == 1 && (p->allowed & TMM__PACK) && K > 0 &&
        TMM__WORTH_PACKING(packing, saving) &&
        TMM_FN(gemm__reaches)(TMM_PIPELINED, K, M + TILE, N + TILE)) {
        c.instance = TMM_FN(pipelined_tn);
        if (!inA) pitchA = ((M - 1) / TILE + 1) * TILE;
        if (!inB) pitchB = ((N - 1) / TILE + 1) * TILE;
    }

    /* Who computes what, and the memory for that; without it, once more without cuts and packing. */
    TMM_FN(gemm__memory) memory;
    int cut_k = p->batch == 1 && (p->allowed & TMM__CUT_K);
    for (int tries = 0; tries < 2; tries++, cut_k = 0) {
        TMM_FN(gemm__pipelined_plan)(&c, p, pitchA + pitchB == 0, cut_k);
        size_t tile = (size_t)(c.tile_m * c.tile_n / 4) * sizeof(TMM_FN(sums4));
        if (TMM_FN(gemm__allocate)(&memory, &c.s, K, pitchA, pitchB, tile, p->stream)) break;
        if (pitchA + pitchB > 0) c.instance = nn ? TMM_FN(pipelined_nn) : TMM_FN(pipelined_any);
        pitchA = pitchB = 0;
    }
    tmm_status status = TMM_OK;
#if TMM__IS_FLOAT
    status = TMM_FN(gemm__pack)(p, &c.s, &memory, pitchA, pitchB);
#endif
    void *arguments[20];
    int count = TMM_FN(gemm__arguments)(p, arguments);
    arguments[count++] = &modeA, arguments[count++] = &modeB, arguments[count++] = &c.s;
    const void *kernel = TMM_FN(gemm__pipelined_kernel)(c.instance);
    if (status == TMM_OK && c.s.cluster > 0) {
        int bytes =
            tmm__cluster_bytes(c.s.cluster, c.tile_m * c.tile_n / 512, sizeof(TMM_FN(sums4)));
        status = tmm__launch_clusters(kernel, c.blocks, c.s.cluster, bytes, arguments, p->stream);
    } else if (status == TMM_OK) {
        status = tmm__launch(kernel, dim3((unsigned)c.blocks, 1, p->batch), dim3(128), 0, arguments,
                             p->stream);
        if (status == TMM_OK && c.s.reduce)
            status = TMM_FN(gemm__reduce)(p, &c.s, c.instance == TMM_FN(pipelined_any) ? 8 : 16,
                                          c.s.is_128x64 ? 4 : 2,
                                          c.blocks / (c.s.tiles_down * c.s.tiles_across), 0);
    }
    if (memory.all != NULL) (void)cudaFreeAsync(memory.all, p->stream);
    return status;
}
#endif
