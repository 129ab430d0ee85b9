/* src/tiledmm/type/epilogue.cuh. TMM_EPILOGUE as a function, made while the caller's macros stand.
   Uses: once/config.h. Used by: callers. */
#if TMM__KERNELS && defined(TMM_EPILOGUE) && !defined(TMM__PASS) && !defined(TMM__MAKING_READY)
/* The expression may use macros of the caller, N for one, which once/set_aside.h puts away; and no
   variable of a kernel is meant by it. */
#define TMM__EPILOGUE(name, type)                                                    \
    static __device__ __forceinline__ type name(type tmm__value, long long tmm__row, \
                                                long long tmm__col)                  \
    {                                                                                \
        (void)tmm__row, (void)tmm__col;                                              \
        return (type)(TMM_EPILOGUE(tmm__value, tmm__row, tmm__col));                 \
    }
#if defined(TMM_NAME) && defined(TMM_OUT)
TMM__EPILOGUE(TMM_FN(epilogue), TMM_OUT)
#elif defined(TMM_NAME) && defined(TMM_TYPE)
TMM__EPILOGUE(TMM_FN(epilogue), TMM_TYPE)
#elif defined(TMM_NAME)
TMM__EPILOGUE(TMM_FN(epilogue), float)
#elif !defined(TMM_NO_READY_MADE)
TMM__EPILOGUE(tmm_sepilogue, float)
#ifndef TMM_NO_DOUBLE
TMM__EPILOGUE(tmm_depilogue, double)
#endif
#ifndef TMM_NO_INT
TMM__EPILOGUE(tmm_iepilogue, int)
#endif
#ifdef TMM_WITH_HALF
#include <cuda_fp16.h>
TMM__EPILOGUE(tmm_hepilogue, __half)
TMM__EPILOGUE(tmm_hsepilogue, float)
#endif
#ifdef TMM_WITH_BFLOAT16
#include <cuda_bf16.h>
TMM__EPILOGUE(tmm_bepilogue, __nv_bfloat16)
TMM__EPILOGUE(tmm_bsepilogue, float)
#endif
#endif
#undef TMM__EPILOGUE
#undef TMM_EPILOGUE
#define TMM_EPILOGUE(value, row, col) TMM_FN(epilogue)(value, row, col)
#endif
