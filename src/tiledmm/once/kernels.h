/* src/tiledmm/once/kernels.h. The list of kernels.
   Uses: launch/product.h, kernels/. Used by: callers. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__ONCE)
/* A line for each value of tmm_kernel, in their order. The enumeration, tmm_kernel_string and each
   type's table of kernels are made from these lines. Programs may have stored values: a new kernel
   is the last line.
       NAME(value, string)                   stands for a kernel that tmm__xstands_for finds
       KERNEL(value, string, tile, takes, competes, plan, launch)
   `tile` is the least edge of its tiles of C; the functions are the members of tmm__xkernel. Where
   types and programs leave a kernel out, TMM__IF_FAST and its like give a row that refuses. */
#define TMM__KERNEL_LIST(NAME, KERNEL)                                                           \
    NAME(TMM_AUTO, "auto")                                                                       \
    KERNEL(TMM_GLOBAL, "global", 32, tmm__xall_taken, NULL, tmm__xglobal_plan, tmm__xtiles)      \
    KERNEL(TMM_SHARED, "shared", TMM__SHARED_TILE, tmm__xshared_takes, tmm__xshared_competes,    \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    KERNEL(TMM_SHARED_8, "shared_8", 8, tmm__xshared_takes, tmm__xshared_competes,               \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    KERNEL(TMM_SHARED_16, "shared_16", 16, tmm__xshared_takes, tmm__xshared_competes,            \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    KERNEL(TMM_SHARED_32, "shared_32", 32, tmm__xshared_takes, tmm__xshared_competes,            \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    NAME(TMM_REGISTER, "register")                                                               \
    KERNEL(TMM_REGISTER_64, "register_64", 64, tmm__xall_taken, tmm__xregister_competes,         \
           tmm__xregister_plan, tmm__xtiles)                                                     \
    KERNEL(TMM_REGISTER_128, "register_128", 128, tmm__xall_taken, tmm__xregister_competes,      \
           tmm__xregister_plan, tmm__xtiles)                                                     \
    KERNEL(TMM_PIPELINED, "pipelined", 64,                                                       \
           TMM__IF_PIPELINED(tmm__xcheck_reach, tmm__xfast_competes, tmm__xpipelined_plan,       \
                             tmm__xdivided))                                                     \
    KERNEL(TMM_SMALL, "small", 16,                                                               \
           TMM__IF_SMALL(tmm__xcheck_k, tmm__xfast_competes, tmm__xsmall_plan, tmm__xsmall))     \
    KERNEL(TMM_SKINNY, "skinny", 16,                                                             \
           TMM__IF_FLOAT_FAST(tmm__xskinny_takes, tmm__xskinny_competes, tmm__xskinny_plan,      \
                              tmm__xskinny))                                                     \
    KERNEL(TMM_TENSOR, "tensor", 64,                                                             \
           TMM__IF_FAST(tmm__xtensor_takes,                                                      \
                        TMM__IF_TENSOR(tmm__xtensor_competes, tmm__xtensor_plan, tmm__xtensor))) \
    NAME(TMM_AUTO_TENSOR, "auto_tensor")                                                         \
    KERNEL(TMM_OUTER, "outer", 8,                                                                \
           TMM__IF_FAST(tmm__xcheck_k, tmm__xouter_competes, tmm__xouter_plan, tmm__xouter))     \
    KERNEL(TMM_TENSOR_INT8, "tensor_int8", 64,                                                   \
           TMM__IF_FAST(tmm__xint8_takes,                                                        \
                        TMM__IF_INT8(tmm__xint8_competes, tmm__xint8_plan, tmm__xsplit)))        \
    KERNEL(TMM_NARROW, "narrow", 24,                                                             \
           TMM__IF_FLOAT_FAST(tmm__xcheck_reach, tmm__xnarrow_competes, tmm__xnarrow_plan,       \
                              tmm__xnarrow))                                                     \
    KERNEL(TMM_DIRECT, "direct", 1,                                                              \
           TMM__IF_FAST(tmm__xcheck_k, tmm__xdirect_competes, tmm__xdirect_plan, tmm__xdirect))
#endif
