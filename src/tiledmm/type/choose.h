/* src/tiledmm/type/choose.h. CHOICE: the rule of TMM_AUTO.
   Uses: the launchers, kernels/float/launch.h, kernels/double/launch.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* The tile with which TMM_REGISTER should be faster. The time of a launch is that of the busiest
   multiprocessor: its number of tiles times the work in one. A small tile needs more time for its
   quarter of the work, since it reads shared memory twice as often. */
static inline tmm_kernel TMM_FN(gemm__register_tile)(long long M, long long N, long long batch)
{
    const tmm__tuning *t = tmm__tuned();
    int processors = tmm__current_device()->processors;
    double small_tiles = ceil(M / 64.0) * ceil(N / 64.0) * batch;
    double large_tiles = ceil(M / 128.0) * ceil(N / 128.0) * batch;
    double small_cost = t->choice.register_64 * ceil(small_tiles / processors);
    double large_cost = t->choice.register_128 * ceil(large_tiles / processors);
    return small_cost < large_cost ? TMM_REGISTER_64 : TMM_REGISTER_128;
}

#if TMM__FLOAT_TENSOR
/* Is KERNEL TENSOR FLOAT faster than FP32 multiply-adds? By wgmma, seconds are compared: converting
   the operands moves 12 bytes an element, then come the tiles. The rate of multiply-adds is that at
   1024; larger products are not close. On an H200 squares from 384 on take it. */
static inline int TMM_FN(gemm__float_pays)(long long M, long long N, long long K, long long batch)
{
    const tmm__tuning *t = tmm__tuned();
    double work = (double)M * N * K * batch;
    if (M < t->fp16.least_edge || N < t->fp16.least_edge || K < t->fp16.least_k) return 0;
    int instruction = TMM_FN(gemm__float_instruction)(), instance;
    if (instruction == TMM__BY_WGMMA) {
        int allowed = batch == 1 ? TMM__CUT_K : 0;
        double clocks = TMM_FN(gemm__float_plan)(M, N, K, batch, instruction, allowed, &instance);
        double convert = 12.0 * ((double)M + N) * K * batch / t->fp16.bandwidth;
        return convert + clocks / t->fp16.clock <
               2 * work / t->fp16.fp32_flops + t->fp16.fp32_launch;
    }
    /* By mma.sync: only where FP16 with sums in FP32 has its full rate, unlike on devices for
       displays; and only with a tile for each multiprocessor. */
    const tmm__device *device = tmm__current_device();
    int capability = device->capability;
    return (capability == 80 || capability == 90 || capability == 100) &&
           work >= t->fp16.mma_least_work && (double)M * N >= t->fp16.mma_least_edge * (M + N) &&
           ceil(M / 64.0) * ceil(N / 64.0) * batch >= device->processors &&
           instruction == TMM__BY_MMA_SYNC;
}
#endif

#if TMM__DOUBLE_TENSOR
/* Is KERNEL TENSOR INT8 faster than FP64? By wgmma, seconds are compared: 14 products of bytes, 31 bytes
   of memory for an element of A and B, 40 for one of C, and the launches. On an H200 squares from
   about 2200 on take it. By mma.sync only where FP64 has 1/32 or 1/64 of the rate of FP32. */
static inline int TMM_FN(gemm__int8_pays)(long long M, long long N, long long K, long long batch)
{
    const tmm__tuning *t = tmm__tuned();
    double work = (double)M * N * K;
    if (!TMM_FN(gemm__int8_fits)(M, N, K)) return 0;
    if (TMM_FN(gemm__int8_by_wgmma)()) {
        double bytes = 31 * ((double)M + N) * K + 40 * (double)M * N;
        double seconds = 14.125 * work / t->int8.rate + bytes / t->int8.bandwidth;
        return (seconds + t->int8.launches) * batch < 2 * work * batch / t->int8.fp64_flops;
    }
    int capability = tmm__current_device()->capability;
    double edge = t->int8.slow_edge;
    return (capability == 75 || capability == 86 || capability == 87 || capability == 89 ||
            capability == 120 || capability == 121) &&
           M >= edge && N >= edge && K >= edge;
}
#endif

#if TMM__FAST
/* One product with M or N of 16 at most: the kernel with the least predicted time. */
static inline tmm_kernel TMM_FN(gemm__narrow_choice)(const TMM_FN(gemm__product) * given)
{
    TMM_FN(gemm__product) p = *given;
    TMM_FN(small__choice) small;
    p.batch = 1;
    const double skinny = TMM_FN(gemm__skinny_plan)(&p).time;
    if (TMM_FN(gemm__small_plan)(&small, &p) != TMM_OK) small.time = HUGE_VAL;
    return skinny <= small.time ? TMM_SKINNY : TMM_SMALL;
}

#if TMM__IS_FLOAT
/* The same with M or N of 64 at most, and too large for SMALL to be the first choice. */
static inline tmm_kernel TMM_FN(gemm__wide_choice)(const TMM_FN(gemm__product) * given)
{
    TMM_FN(gemm__product) p = *given;
    TMM_FN(small__choice) small;
    TMM_FN(pipelined__choice) pipelined;
    p.batch = 1;
    memset(&pipelined, 0, sizeof pipelined);
    TMM_FN(gemm__pipelined_plan)(&pipelined, &p, 1, 1);
    if (TMM_FN(gemm__small_plan)(&small, &p) != TMM_OK) return TMM_PIPELINED;
    const tmm__tuning *t = tmm__tuned();
    const double most = t->choice.small_gain * pipelined.clocks / t->choice.clock;
    return small.time < most ? TMM_SMALL : TMM_PIPELINED;
}
#endif
#endif

/* The rule of TMM_AUTO, from measurements on one NVIDIA H200 (bench/NOTES.md), for a device of P
   multiprocessors; what fits first:
     float, tensor cores asked for and faster        TMM_TENSOR: see gemm__float_pays
     double, INT8 asked for and faster               TMM_TENSOR_INT8: see gemm__int8_pays
     devices before sm_80, and elements below 4 bytes
       M N batch / P <= 900                          TMM_SHARED_16
       else                                          TMM_REGISTER
     devices from sm_80 on
       K <= 4                                        TMM_OUTER: C is most of the work
       one product, M or N <= 16, the other or
         K above 64                                  TMM_SKINNY or SMALL: the least predicted time
       M and N <= 32, in any number                  TMM_SMALL: blocks of 8 warps share out k
       K <= 8, M N batch / P <= 8000                 TMM_OUTER
       double, K <= 64, M N batch / P > 400          TMM_TENSOR, if there are many
       float, K <= 32, M N batch / P > 400; K <= 80,
         M N batch / P from 1500 to 5000             TMM_REGISTER
       M N batch / P <= 2048, M and N <= 64 or
         M N K batch / P <= 4.2 million, unless
         long_k below                                TMM_SMALL
       double, many tensor cores for it              TMM_TENSOR
       float, one product, M or N <= 64              TMM_SMALL or PIPELINED: the least predicted
                                                     time
       double, few: bound by units of double         as before sm_80
       batches of M and N <= 64                      as before sm_80
       else                                          TMM_PIPELINED */
static inline tmm_kernel TMM_FN(gemm__choice)(const TMM_FN(gemm__product) * p, long long batch,
                                              int tensor)
{
    const long long M = p->M, N = p->N, K = p->K;
    const tmm__device *device = tmm__current_device();
    const tmm__tuning *t = tmm__tuned();
    (void)tensor;
    double area = (double)M * N * batch / device->processors;
#if TMM__FAST
#if TMM__FLOAT_TENSOR
    if (tensor && TMM_FN(gemm__float_pays)(M, N, K, batch)) return TMM_TENSOR;
#endif
#if TMM__DOUBLE_TENSOR
    if (tensor && TMM_FN(gemm__int8_pays)(M, N, K, batch)) return TMM_TENSOR_INT8;
#endif
    if (device->capability >= 80 && sizeof(TMM_TYPE) >= 4) {
        long long narrow = tmm__min(M, N), wide = M > N ? M : N;
        if (K <= t->choice.outer_k) return TMM_OUTER;
        if (narrow <= TMM__SKINNY_MOST && batch == 1 && (wide > 64 || K > 64))
            return TMM_FN(gemm__narrow_choice)(p);
        if (M <= 32 && N <= 32) return TMM_SMALL;
        if (K <= t->choice.outer_small_k && area <= t->choice.outer_area) return TMM_OUTER;
        if (TMM__IS_DOUBLE && K <= t->choice.tensor_k && area > t->choice.register_area &&
            TMM_FN(gemm__tensor_pays)())
            return TMM_TENSOR;
#if TMM__IS_FLOAT
        if (K <= t->choice.register_k && area > t->choice.register_area)
            return TMM_FN(gemm__register_tile)(M, N, batch);
        if (K <= t->choice.register_mid_k && area > t->choice.register_mid_area &&
            area <= t->choice.register_mid_most)
            return TMM_FN(gemm__register_tile)(M, N, batch);
#endif
        /* SMALL has so many of its largest tiles, 32 x 64, that it shares out k among two blocks at
           most; the others do better. */
        bool long_k =
            batch == 1 && K > t->choice.small_long_k &&
            3 * ceil(M / 32.0) * ceil(N / 64.0) > device->processors &&
            (TMM__IS_FLOAT ? area <= t->choice.small_long_k_area : TMM_FN(gemm__tensor_pays)());
        if (area <= t->choice.small_area && (wide <= 64 || area * K <= t->choice.small_work) &&
            !long_k)
            return TMM_SMALL;
        if (TMM_FN(gemm__tensor_pays)()) return TMM_TENSOR;
#if TMM__IS_FLOAT
        if (narrow <= 64 && wide > 64 && batch == 1) return TMM_FN(gemm__wide_choice)(p);
#endif
        if (sizeof(TMM_TYPE) <= 4 && (wide > 64 || batch == 1)) return TMM_PIPELINED;
    }
#endif
    (void)K;
    if (area <= t->choice.shared_area) {
        /* Tiles of 64 would leave most multiprocessors without work: smaller ones share it out.
           Both were level at 320 x 320 for float, and for double between 384 and 512. */
#if TMM__ONE_TILE
        return TMM_SHARED;
#else
        return TMM_SHARED_16;
#endif
    }
    return TMM_FN(gemm__register_tile)(M, N, batch);
}

TMM_API tmm_kernel TMM_FN(gemm_choice)(long long M, long long N, long long K, long long batch)
{
    TMM_FN(gemm__product) p = TMM_FN(gemm__make_product)(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    return TMM_FN(gemm__choice)(&p, batch, TMM__ASKED_TENSOR);
}
#endif
