/* src/tiledmm/kernels/tensor_launch.h. LAUNCHER of KERNEL TENSOR.
   Uses: kernels/tensor_plan.h, type/product.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Can KERNEL TENSOR run on the current device? And is it faster there than multiply-adds one by
   one? Others than these have few tensor-core units for double. */
static inline int TMM_FN(gemm__tensor_fits)(void)
{
    return TMM__IS_DOUBLE && tmm__current_device()->shared >= TMM__TENSOR_BYTES(64, 64);
}

static inline int TMM_FN(gemm__tensor_pays)(void)
{
    int capability = tmm__current_device()->capability;
    return TMM_FN(gemm__tensor_fits)() &&
           (capability == 80 || capability == 90 || capability == 100);
}

static inline tmm_status TMM_FN(gemm__tensor_takes)(const TMM_FN(gemm__product) * p,
                                                    const TMM_FN(gemm__kernel) * row)
{
    if (TMM__FLOAT_TENSOR) return TMM_OK;
    if (TMM__IS_FLOAT)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor is not in this program for float: define "
                         "TMM_FLOAT_TENSOR before tiledmm.cuh is included");
    if (!TMM__IS_DOUBLE)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel tensor is for double and float alone");
    if (!TMM_FN(gemm__tensor_fits)())
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor needs %d bytes of shared memory a block, more than "
                         "this device has",
                         TMM__TENSOR_BYTES(64, 64));
    return TMM_FN(gemm__check_reach)(p, row);
}

#if TMM__IS_DOUBLE
/* What TMM_PIPELINED is of double: KERNEL TENSOR has such a pipeline, too, and the same chains of
   multiply-adds. Where it does not pay, units of double bound every kernel. */
static inline tmm_kernel TMM_FN(gemm__pipelined_double)(const TMM_FN(gemm__product) * p)
{
    return TMM_FN(gemm__tensor_pays)() && TMM_FN(gemm__fits)(TMM_TENSOR, p) ? TMM_TENSOR
                                                                            : TMM_REGISTER;
}

/* The instance that should be fastest, of those for copies of 16 bytes (`wide`) or for any operands;
   and its schedule. Returns the blocks. */
static inline int TMM_FN(gemm__tensor_plan)(const tmm__tensor_instance **best, tmm__schedule *s,
                                            const TMM_FN(gemm__product) * p, int wide, int cut_k)
{
#define TMM__ROW(pass, name, warps, down, width, blocks) \
    {32 * down, 32 * warps, 2 * warps, width, blocks, (const void *)TMM_FN(gemm_tensor_##name)},
    static const tmm__tensor_instance instances[] = {TMM__TENSOR_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    int blocks = 0;
    double least = 0;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++) {
        const tmm__tensor_instance *i = &instances[n];
        tmm__division d;
        tmm__schedule plan;
        double clocks;
        int large =
            i->tile_m > 64 || i->tile_n > 64; /* it takes no operands smaller than its tile */
        if ((i->width == 2) != wide || (large && (p->M < i->tile_m || p->N < i->tile_n))) continue;
        if (TMM__TENSOR_BYTES(i->tile_m, i->tile_n) > device->shared) continue;
        memset(&d, 0, sizeof d);
        d.tiles_down = (int)((p->M - 1) / i->tile_m + 1);
        d.tiles_across = (int)((p->N - 1) / i->tile_n + 1);
        d.steps = (int)((p->K + TMM__TENSOR_DEPTH - 1) / TMM__TENSOR_DEPTH);
        d.processors = device->processors;
        d.cut_k = cut_k;
        int more = tmm__plan_tensor(&plan, i, &d, p->batch, &clocks);
        clocks = TMM__TENSOR_GUESS(p->M, n, clocks);
        if (blocks > 0 && clocks >= least) continue;
        least = clocks;
        *best = i, *s = plan, blocks = more;
    }
    return blocks;
}

static inline tmm_status TMM_FN(gemm__tensor)(const TMM_FN(gemm__product) * given,
                                              const TMM_FN(gemm__kernel) * row)
{
    enum { SIZE = 8, TILE = 128 };
    TMM_FN(gemm__product) product = *given, *p = &product;
    const long long M = p->M, N = p->N, K = p->K;
    const tmm__device *device = tmm__current_device();
    (void)row;
    /* Which way an operand is contiguous, and whether it can be copied by 16 bytes. */
    size_t along_A = (size_t)p->A | p->rsA * SIZE | p->strideA * SIZE | K * SIZE;
    size_t along_B = (size_t)p->B | p->csB * SIZE | p->strideB * SIZE | K * SIZE;
    size_t lines_A = (size_t)p->A | p->csA * SIZE | p->strideA * SIZE | M * SIZE;
    size_t lines_B = (size_t)p->B | p->rsB * SIZE | p->strideB * SIZE | N * SIZE;
    int modeA = p->csA == 1 && (p->rsA != 1 || along_A % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    int modeB = p->rsB == 1 && (p->csB != 1 || along_B % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    int wideA = (modeA == TMM__ALONG_K ? along_A : lines_A) % 16 == 0;
    int wideB = (modeB == TMM__ALONG_K ? along_B : lines_B) % 16 == 0;

    /* Copies of single elements cost time in proportion to M N K, packing in proportion to M K and
       N K. */
    double packing =
        2.0 * K * (double)SIZE / device->bandwidth * ((wideA ? 0.0 : M) + (wideB ? 0.0 : N));
    double saving = tmm__tuned()->pack.saves_tensor * 2 * M * N * K / device->arithmetic;
    int pack = !(wideA && wideB) && p->batch == 1 && (p->allowed & TMM__PACK) && K > 0 &&
               TMM__WORTH_PACKING(packing, saving) &&
               TMM_FN(gemm__reaches)(TMM_PIPELINED, K, M + TILE, N + TILE);

    /* Who computes what, and the memory for that; without it, once more without cuts and packing. */
    const tmm__tensor_instance *instance = NULL;
    tmm__schedule s;
    TMM_FN(gemm__memory) memory;
    long long pitchA = 0, pitchB = 0;
    int blocks = 0, cut_k = p->batch == 1 && (p->allowed & TMM__CUT_K);
    for (int tries = 0; tries < 2; tries++, cut_k = pack = 0) {
        pitchA = pack && !wideA ? (M + TILE - 1) / TILE * TILE : 0;
        pitchB = pack && !wideB ? (N + TILE - 1) / TILE * TILE : 0;
        blocks = TMM_FN(gemm__tensor_plan)(&instance, &s, p, pack || (wideA && wideB), cut_k);
        size_t tile = (size_t)(instance->tile_m * instance->tile_n) * SIZE;
        if (TMM_FN(gemm__allocate)(&memory, &s, K, pitchA, pitchB, tile, p->stream)) break;
    }
    tmm_status status = TMM_FN(gemm__pack)(p, &s, &memory, pitchA, pitchB);
    if (pitchA > 0) modeA = TMM__ALONG_LINES;
    if (pitchB > 0) modeB = TMM__ALONG_LINES;
#if TMM__DOUBLE_TENSOR
    s.unless = p->unless;
#endif
    void *arguments[20];
    int count = TMM_FN(gemm__arguments)(p, arguments);
    arguments[count++] = &modeA, arguments[count++] = &modeB, arguments[count++] = &s;
    if (status == TMM_OK)
        status = tmm__launch(instance->kernel, dim3((unsigned)blocks, 1, p->batch),
                             dim3((unsigned)(32 * instance->warps)),
                             TMM__TENSOR_BYTES(instance->tile_m, instance->tile_n), arguments,
                             p->stream);
    if (status == TMM_OK && s.reduce)
        status = TMM_FN(gemm__reduce)(p, &s, 4, 2, blocks / (s.tiles_down * s.tiles_across), 1);
    if (memory.all != NULL) (void)cudaFreeAsync(memory.all, p->stream);
    return status;
}
#elif !TMM__FLOAT_TENSOR
/* Of types that it never takes. */
static inline tmm_status TMM_FN(gemm__tensor)(const TMM_FN(gemm__product) * p,
                                              const TMM_FN(gemm__kernel) * row)
{
    return TMM_FN(gemm__tensor_takes)(p, row);
}
#endif
#endif
