/* src/tiledmm/once/kernels.h. The list of kernels.
   Uses: launch/product.h, kernels/. Used by: callers. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__ONCE)
/* A line for each value of tmm_kernel, in their order. The enumeration, tmm_kernel_string and each
   type's table of kernels are made from these lines. Programs may have stored values: a new kernel
   is the last line.
       NAME(value, string)                   stands for a kernel that gemm__stands_for finds
       KERNEL(value, string, tile, takes, competes, plan, launch)
   `tile` is the least edge of its tiles of C; the functions are the members of gemm__kernel. Where
   types and programs leave a kernel out, TMM__IF_FAST and its like give a row that refuses. */
#define TMM__KERNEL_LIST(NAME, KERNEL)                                                             \
    NAME(TMM_AUTO, "auto")                                                                         \
    KERNEL(TMM_GLOBAL, "global", 32, tmm__xgemm__all_taken, NULL, tmm__xgemm__global_plan,         \
           tmm__xgemm__tiles)                                                                      \
    KERNEL(TMM_SHARED, "shared", TMM__SHARED_TILE, tmm__xgemm__shared_takes,                       \
           tmm__xgemm__shared_competes, tmm__xgemm__shared_plan, tmm__xgemm__tiles)                \
    KERNEL(TMM_SHARED_8, "shared_8", 8, tmm__xgemm__shared_takes, tmm__xgemm__shared_competes,     \
           tmm__xgemm__shared_plan, tmm__xgemm__tiles)                                             \
    KERNEL(TMM_SHARED_16, "shared_16", 16, tmm__xgemm__shared_takes, tmm__xgemm__shared_competes,  \
           tmm__xgemm__shared_plan, tmm__xgemm__tiles)                                             \
    KERNEL(TMM_SHARED_32, "shared_32", 32, tmm__xgemm__shared_takes, tmm__xgemm__shared_competes,  \
           tmm__xgemm__shared_plan, tmm__xgemm__tiles)                                             \
    NAME(TMM_REGISTER, "register")                                                                 \
    KERNEL(TMM_REGISTER_64, "register_64", 64, tmm__xgemm__all_taken,                              \
           tmm__xgemm__register_competes, tmm__xgemm__register_plan, tmm__xgemm__tiles)            \
    KERNEL(TMM_REGISTER_128, "register_128", 128, tmm__xgemm__all_taken,                           \
           tmm__xgemm__register_competes, tmm__xgemm__register_plan, tmm__xgemm__tiles)            \
    KERNEL(TMM_PIPELINED, "pipelined", 64,                                                         \
           TMM__IF_FAST_NOT_DOUBLE(tmm__xgemm__check_reach, tmm__xgemm__fast_competes,             \
                                   tmm__xgemm__pipelined_plan, tmm__xgemm__divided))               \
    KERNEL(TMM_SMALL, "small", 16,                                                                 \
           TMM__IF_FAST(tmm__xgemm__check_k, tmm__xgemm__fast_competes, tmm__xgemm__small_plan,    \
                        tmm__xgemm__small))                                                        \
    KERNEL(TMM_SKINNY, "skinny", 16,                                                               \
           TMM__IF_FLOAT_FAST(tmm__xgemm__skinny_takes, tmm__xgemm__skinny_competes,               \
                              tmm__xgemm__skinny_plan, tmm__xgemm__skinny))                        \
    KERNEL(TMM_TENSOR, "tensor", 64,                                                               \
           TMM__IF_FAST(tmm__xgemm__tensor_takes,                                                  \
                        TMM__IF_TENSOR(tmm__xgemm__tensor_competes, tmm__xgemm__tensor_plan,       \
                                       tmm__xgemm__tensor)))                                       \
    NAME(TMM_AUTO_TENSOR, "auto_tensor")                                                           \
    KERNEL(TMM_OUTER, "outer", 8,                                                                  \
           TMM__IF_FAST(tmm__xgemm__check_k, tmm__xgemm__outer_competes, tmm__xgemm__outer_plan,   \
                        tmm__xgemm__outer))                                                        \
    KERNEL(TMM_TENSOR_INT8, "tensor_int8", 64,                                                     \
           TMM__IF_FAST(tmm__xgemm__int8_takes,                                                    \
                        TMM__IF_INT8(tmm__xgemm__int8_competes, tmm__xgemm__int8_plan,             \
                                     tmm__xgemm__split)))                                          \
    KERNEL(TMM_NARROW, "narrow", 24,                                                               \
           TMM__IF_FLOAT_FAST(tmm__xgemm__check_reach, tmm__xgemm__narrow_competes,                \
                              tmm__xgemm__narrow_plan, tmm__xgemm__narrow))                        \
    KERNEL(TMM_DIRECT, "direct", 1,                                                                \
           TMM__IF_FAST(tmm__xgemm__check_k, tmm__xgemm__direct_competes, tmm__xgemm__direct_plan, \
                        tmm__xgemm__direct))
#endif
