/* src/tiledmm/type/fits.h. Which kernels can do a product, on the current device.
   Uses: once/device.h. Used by: the launchers in kernels/, type/choose.h. */
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

/* Seconds: two launches' time must be saved, too. A test packs always. */
#ifndef TMM__WORTH_PACKING
#define TMM__WORTH_PACKING(packing, saving) ((packing) + 4e-6 < (saving))
#endif

/* Can KERNEL PIPELINED, or TENSOR for double, do this? Not if there are too many tiles or steps for
   32 bits, or if the lines that a thread copies one after the other, 16 apart (32 at most in
   TENSOR), are too far from each other in memory. */
static inline int TMM_FN(gemm__fits)(tmm_kernel kernel, long long M, long long N, long long K,
                                     long long stride_A, long long stride_B)
{
    long long lines = kernel == TMM_TENSOR && TMM__IS_DOUBLE ? 32 : 16;
    long long most = 0xFFFFFFFFll / (lines * (long long)sizeof(TMM_TYPE));
    double tiles = ceil(M / 64.0) * ceil(N / 64.0);
    return stride_A <= most && stride_B <= most && tiles <= INT_MAX && K <= 8ll * INT_MAX - 8;
}
#endif
