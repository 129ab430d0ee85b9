/* src/tiledmm/once/kernels.h. The list of kernels.
   Uses: nothing. Used by: once/types.h, once/status.h, type/dispatch.h. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__PART_KERNELS)
#define TMM__PART_KERNELS
/* A line for each value of tmm_kernel, in their order. The enumeration, tmm_kernel_string and each
   type's table of kernels are made from these lines. Programs may have stored values: a new kernel
   is the last line.
       NAME(value, string)                   stands for a kernel that gemm__resolve finds
       KERNEL(value, string, run, tile)
   `run` is the name of the kernel's launcher, with _takes behind it of the function that says
   whether it takes a product, and with _time of the one that says how long it should take: see
   gemm__kernel. `tile` is the least edge of its tiles of C. TMM_AUTO_TENSOR is TMM_AUTO, which may
   take TMM_TENSOR for float and TMM_TENSOR_INT8, too. */
#define TMM__KERNEL_LIST(NAME, KERNEL)                                               \
    NAME(TMM_AUTO, "auto")                                                           \
    KERNEL(TMM_GLOBAL, "global", gemm__global, 32)                                   \
    KERNEL(TMM_SHARED, "shared", gemm__shared, TMM__SHARED_TILE)                     \
    KERNEL(TMM_SHARED_8, "shared_8", gemm__shared, 8)                                \
    KERNEL(TMM_SHARED_16, "shared_16", gemm__shared, 16)                             \
    KERNEL(TMM_SHARED_32, "shared_32", gemm__shared, 32)                             \
    NAME(TMM_REGISTER, "register")                                                   \
    KERNEL(TMM_REGISTER_64, "register_64", gemm__register, 64)                       \
    KERNEL(TMM_REGISTER_128, "register_128", gemm__register, 128)                    \
    KERNEL(TMM_PIPELINED, "pipelined", TMM__IF_FAST_NOT_DOUBLE(gemm__pipelined), 64) \
    KERNEL(TMM_SMALL, "small", TMM__IF_FAST(gemm__small), 16)                        \
    KERNEL(TMM_SKINNY, "skinny", TMM__IF_FLOATING_FAST(gemm__skinny), 16)            \
    KERNEL(TMM_TENSOR, "tensor", TMM__IF_FAST(gemm__tensor), 64)                     \
    NAME(TMM_AUTO_TENSOR, "auto_tensor")                                             \
    KERNEL(TMM_OUTER, "outer", TMM__IF_FAST(gemm__outer), 8)                         \
    KERNEL(TMM_TENSOR_INT8, "tensor_int8", TMM__IF_FAST(gemm__int8), 64)             \
    KERNEL(TMM_NARROW, "narrow", TMM__IF_FLOAT_FAST(gemm__narrow), 24)               \
    KERNEL(TMM_DIRECT, "direct", TMM__IF_FAST(gemm__direct), 1)
#endif
