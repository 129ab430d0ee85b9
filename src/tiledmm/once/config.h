/* src/tiledmm/once/config.h. What is compiled: modes, options, names, kinds of types.
   Uses: ptx.cuh.
   Used by: checks.h, ready_made.h, host/, kernels/common/, launch/, once/, type/, kernels/. */
#ifndef TMM__ONCE
#define TMM_VERSION 100 /* 10000 * major + 100 * minor + patch */

#ifndef TMM_HEADER /* the name by which this file includes itself */
#define TMM_HEADER "tiledmm.cuh"
#endif
#if defined(__has_include) && !defined(__CUDACC_RTC__) /* NVRTC 11 sees no headers in memory */
#if !__has_include(TMM_HEADER)
#error "tiledmm.cuh: this file has another name: define TMM_HEADER as that name, in quotes"
#endif
#endif

#if defined(__CUDACC_RTC__)
#define TMM__KERNELS 1 /* NVRTC: kernels only, no host code */
#define TMM__HOST    0
#ifndef TMM_KERNEL
#define TMM_KERNEL extern "C" __global__
#endif
#elif defined(__CUDACC__) && !defined(TMM_EXTERN)
#define TMM__KERNELS 1
#define TMM__HOST    1
#ifndef TMM_KERNEL
#define TMM_KERNEL static __global__
#endif
#else
#define TMM__KERNELS 0 /* C or C++ without nvcc, or TMM_EXTERN: declarations only */
#define TMM__HOST    0
#endif

/* 0 where nvcc compiles the host's part of a program: long device code is left out there. */
#if defined(__NVCC__) && !defined(__CUDA_ARCH__)
#define TMM__BODIES 0
#else
#define TMM__BODIES 1
#endif

#ifdef TMM_SIMPLE
#define TMM__FAST 0
#else
#define TMM__FAST 1
#endif
#ifdef TMM_NO_HOST
#define TMM__HOST_LAYER 0
#else
#define TMM__HOST_LAYER 1
#endif

#if defined(TMM_IMPLEMENTATION) || !TMM__HOST
#ifdef __cplusplus
#define TMM_API extern "C"
#else
#define TMM_API extern
#endif
#else
#define TMM_API static inline
#endif

#if TMM__HOST
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMM__HOST_LAYER && !defined(_WIN32)
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#endif

/* What a function of kernels begins with. */
#define TMM__DEVICE static __device__ __forceinline__

/* However the file is compiled: nvcc gives the host compiler no -O of its own. */
#if defined(__GNUC__) && !defined(__clang__)
#define TMM__OPTIMIZE __attribute__((optimize("O3")))
#else
#define TMM__OPTIMIZE
#endif

/* A product of two TMM_SUM, rounded once: compilers may contract a * b + c * d either way, each
   kernel its own. So the last step, alpha sum + beta C, has the same bits everywhere. */
#ifdef __CUDACC__
#define TMM__MUL(a, b)                                                   \
    (TMM__IS_INTEGER        ? (TMM_SUM)((a) * (b))                       \
     : sizeof(TMM_SUM) == 4 ? (TMM_SUM)__fmul_rn((float)(a), (float)(b)) \
                            : (TMM_SUM)__dmul_rn((double)(a), (double)(b)))
#endif

#if defined(TMM_WITH_EPILOGUE) && defined(__CUDACC_RTC__)
#error "tiledmm.cuh: TMM_WITH_EPILOGUE needs its functions on the host; with NVRTC use TMM_EPILOGUE"
#endif

#define TMM__JOIN_(a, b) a##b
#define TMM__JOIN(a, b)  TMM__JOIN_(a, b)
#define TMM_FN(x)        TMM__JOIN(TMM__JOIN(tmm_, TMM_NAME), x) /* TMM_FN(gemm) is tmm_sgemm */

/* 1 if TMM_TYPE and TMM_SUM are the word double, or float, for #if: only then is there a second
   argument 1. */
#define TMM__SECOND_(a, b, ...) b
#define TMM__SECOND(...)        TMM__SECOND_(__VA_ARGS__)
#define TMM__WORD_double        , 1
#define TMM__IS_DOUBLE                                     \
    (TMM__SECOND(TMM__JOIN(TMM__WORD_, TMM_TYPE), 0, 0) && \
     TMM__SECOND(TMM__JOIN(TMM__WORD_, TMM_SUM), 0, 0))
#define TMM__WORD_FLOAT_float , 1
#define TMM__IS_FLOAT                                            \
    (TMM__SECOND(TMM__JOIN(TMM__WORD_FLOAT_, TMM_TYPE), 0, 0) && \
     TMM__SECOND(TMM__JOIN(TMM__WORD_FLOAT_, TMM_SUM), 0, 0))

/* Elements of 16 bits that tensor cores multiply: 1 for half, 2 for bfloat16, else 0. */
#define TMM__WORD_16_tmm_half      , 1
#define TMM__WORD_16___half        , 1
#define TMM__WORD_16_tmm_bfloat16  , 2
#define TMM__WORD_16___nv_bfloat16 , 2
#define TMM__HALF_TENSOR                                                  \
    (TMM__FAST && TMM__SECOND(TMM__JOIN(TMM__WORD_FLOAT_, TMM_SUM), 0, 0) \
         ? TMM__SECOND(TMM__JOIN(TMM__WORD_16_, TMM_TYPE), 0, 0)          \
         : 0)

/* Is KERNEL PIPELINED made for this type? Double and 16 bits have KERNEL TENSOR in its place. */
#define TMM__PIPELINES (TMM__FAST && !TMM__IS_DOUBLE && TMM__HALF_TENSOR == 0)
/* And KERNEL SMALL? Of 16 bits KERNEL TINY HALF does what it did. */
#define TMM__SMALLS (TMM__FAST && TMM__HALF_TENSOR == 0)

#define TMM__WORD_INT_int , 1
/* sum += a b. For int by an instruction that the compiler does not look into: else it would
   reorder all sums, which takes time to compile and gains nothing. */
#ifdef __CUDA_ARCH__
#define TMM__MULTIPLY_ADD(sum, a, b)                                        \
    ((sum) = TMM__SECOND(TMM__JOIN(TMM__WORD_INT_, TMM_TYPE), 0, 0) == 1 && \
                     sizeof(TMM_SUM) == 4 && TMM__IS_INTEGER                \
                 ? (TMM_SUM)tmm__mad((int)(a), (int)(b), (int)(sum))        \
                 : (TMM_SUM)((sum) + (a) * (b)))
#else
#define TMM__MULTIPLY_ADD(sum, a, b) ((sum) += (a) * (b))
#endif

/* Are sums integers? */
#define TMM__IS_INTEGER ((TMM_SUM)0.5 == (TMM_SUM)0)

/* 0 for an option that is defined as 0, else 1. Of one defined as nothing 1 - - 1 is left. */
#define TMM__IS_ON(option) ((1 - option - 1) != 0)

/* Whether KERNEL TENSOR FLOAT is compiled, and whether TMM_AUTO may take it. */
#ifdef TMM_FLOAT_TENSOR
#define TMM__FLOAT_TENSOR (TMM__FAST && TMM__IS_FLOAT)
#define TMM__AUTO_TENSOR  TMM__IS_ON(TMM_FLOAT_TENSOR)
#else
#define TMM__FLOAT_TENSOR 0
#define TMM__AUTO_TENSOR  0
#endif

/* The same for KERNEL TENSOR INT8, of double, and TMM_DOUBLE_TENSOR. */
#ifdef TMM_DOUBLE_TENSOR
#define TMM__DOUBLE_TENSOR (TMM__FAST && TMM__IS_DOUBLE)
#define TMM__AUTO_INT8     TMM__IS_ON(TMM_DOUBLE_TENSOR)
#else
#define TMM__DOUBLE_TENSOR 0
#define TMM__AUTO_INT8     0
#endif

/* Options that this file was first included with: a later inclusion cannot ask for others. */
#ifdef TMM_IMPLEMENTATION
#define TMM__HAS_IMPLEMENTATION
#endif
#ifdef TMM_EXTERN
#define TMM__HAS_EXTERN
#endif
#ifdef TMM_FLOAT_TENSOR
#define TMM__HAS_FLOAT_TENSOR
#endif
#ifdef TMM_DOUBLE_TENSOR
#define TMM__HAS_DOUBLE_TENSOR
#endif
#ifdef TMM_WITH_HALF
#define TMM__HAS_HALF
#endif
#ifdef TMM_WITH_BFLOAT16
#define TMM__HAS_BFLOAT16
#endif
#ifdef TMM_WITH_EPILOGUE
#define TMM__HAS_EPILOGUE
#endif
#ifdef TMM_WITH_SYRK
#define TMM__HAS_SYRK
#endif
#ifdef TMM_NO_READY_MADE
#define TMM__HAS_NO_READY_MADE
#endif
#ifdef TMM_NO_DOUBLE
#define TMM__HAS_NO_DOUBLE
#endif
#ifdef TMM_NO_INT
#define TMM__HAS_NO_INT
#endif
#ifdef TMM_NO_FLOAT_C
#define TMM__HAS_NO_FLOAT_C
#endif
#elif !defined(TMM__PASS) && !defined(TMM__MAKING_READY)
#if defined(TMM_IMPLEMENTATION) && !defined(TMM__HAS_IMPLEMENTATION)
#error "tiledmm.cuh: TMM_IMPLEMENTATION must be defined before the first #include of this file"
#endif
#if defined(TMM_EXTERN) && !defined(TMM__HAS_EXTERN)
#error "tiledmm.cuh: TMM_EXTERN must be defined before the first #include of this file"
#endif
#if defined(TMM_SIMPLE) && TMM__FAST
#error "tiledmm.cuh: TMM_SIMPLE must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_HOST) && TMM__HOST_LAYER
#error "tiledmm.cuh: TMM_NO_HOST must be defined before the first #include of this file"
#endif
#if defined(TMM_FLOAT_TENSOR) && !defined(TMM__HAS_FLOAT_TENSOR)
#error "tiledmm.cuh: TMM_FLOAT_TENSOR must be defined before the first #include of this file"
#endif
#if defined(TMM_DOUBLE_TENSOR) && !defined(TMM__HAS_DOUBLE_TENSOR)
#error "tiledmm.cuh: TMM_DOUBLE_TENSOR must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_HALF) && !defined(TMM__HAS_HALF)
#error "tiledmm.cuh: TMM_WITH_HALF must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_BFLOAT16) && !defined(TMM__HAS_BFLOAT16)
#error "tiledmm.cuh: TMM_WITH_BFLOAT16 must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_EPILOGUE) && !defined(TMM__HAS_EPILOGUE)
#error "tiledmm.cuh: TMM_WITH_EPILOGUE must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_SYRK) && !defined(TMM__HAS_SYRK)
#error "tiledmm.cuh: TMM_WITH_SYRK must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_READY_MADE) && !defined(TMM__HAS_NO_READY_MADE)
#error "tiledmm.cuh: TMM_NO_READY_MADE must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_DOUBLE) && !defined(TMM__HAS_NO_DOUBLE)
#error "tiledmm.cuh: TMM_NO_DOUBLE must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_INT) && !defined(TMM__HAS_NO_INT)
#error "tiledmm.cuh: TMM_NO_INT must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_FLOAT_C) && !defined(TMM__HAS_NO_FLOAT_C)
#error "tiledmm.cuh: TMM_NO_FLOAT_C must be defined before the first #include of this file"
#endif
#if (defined(TMM_TILE) || defined(TMM_SUM) || defined(TMM_SCALAR) || defined(TMM_OUT) || \
     defined(TMM_EPILOGUE)) &&                                                           \
    !defined(TMM_NAME)
#error \
    "tiledmm.cuh: TMM_TILE, TMM_SUM, TMM_SCALAR, TMM_OUT and TMM_EPILOGUE need a TMM_NAME after the first #include"
#endif
#endif
