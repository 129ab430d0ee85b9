/* cuda_fp16.h of the CPU runner: __half and __half2. */
#ifndef CUCC_CUDA_FP16_H
#define CUCC_CUDA_FP16_H

struct __nv_bfloat16;

#define CUCC_TYPE          __half
#define CUCC_WORD          half
#define CUCC_FRACTION_BITS 10
#define CUCC_OTHER         __nv_bfloat16
#ifndef __CUDA_NO_HALF_CONVERSIONS__
#define CUCC_CONVERSIONS
#endif
#ifndef __CUDA_NO_HALF_OPERATORS__
#define CUCC_OPERATORS
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
#define CUCC_OPERATORS_2
#endif
#include "cucc_set_aside.h"
#include "cucc_float16.h"
#include "cucc_give_back.h"

inline __half2 __float22half2_rn(float2 a)
{
    return __floats2half2_rn(a.x, a.y);
}
inline __half2 make_half2(__half x, __half y)
{
    return {x, y};
}

typedef __half half, __nv_half, nv_half;
typedef __half2 half2, __nv_half2, nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#endif
