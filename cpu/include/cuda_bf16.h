/* cuda_bf16.h of the CPU runner: __nv_bfloat16 and __nv_bfloat162. */
#ifndef CUCC_CUDA_BF16_H
#define CUCC_CUDA_BF16_H

#include "cuda_fp16.h"

#define CUCC_TYPE          __nv_bfloat16
#define CUCC_WORD          bfloat16
#define CUCC_FRACTION_BITS 7
#define CUCC_OTHER         __half
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define CUCC_CONVERSIONS
#endif
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define CUCC_OPERATORS
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
#define CUCC_OPERATORS_2
#endif
#include "cucc_set_aside.h"
#include "cucc_float16.h"
#include "cucc_give_back.h"

inline __nv_bfloat162 __float22bfloat162_rn(float2 a)
{
    return __floats2bfloat162_rn(a.x, a.y);
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return {x, y};
}
#ifndef __CUDA_NO_HALF_CONVERSIONS__
inline __half::__half(__nv_bfloat16 a) : __half(__bfloat162float(a))
{
}
#endif

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
