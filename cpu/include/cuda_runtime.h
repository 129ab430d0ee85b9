/* cuda_runtime.h of the CPU runner: the runtime API, launches and what kernels see. Anything that is not
 * here is a compile error. What is not C++ alone is C99, too. Heavy headers belong into the runtime, so
 * that a .cu file compiles quickly.
 *
 * The folder include/ is what programs and kernels include in place of a toolkit's headers. Uses: no other
 * folder. Used by: check/, libraries/, runtime/. */
#ifndef CUCC_CUDA_RUNTIME_H
#define CUCC_CUDA_RUNTIME_H

#if defined(CUCC_CHECK) && defined(__CUDACC__) /* before the headers that declare them */
#include <stddef.h>
extern "C" {
void *memcpy(void *, const void *, size_t) noexcept __asm__("cucc_memcpy");
void *memmove(void *, const void *, size_t) noexcept __asm__("cucc_memmove");
void *memset(void *, int, size_t) noexcept __asm__("cucc_memset");
}
#endif

/* What the runner has for eight numbers at once (vectors.cpp). */
#if defined(CUCC_VECTORS) && defined(__CUDACC__)
#define CUCC_VECTOR(name) float name(float) noexcept __attribute__((simd("notinbranch"), const));
extern "C" {
CUCC_VECTOR(expf)
CUCC_VECTOR(logf)
CUCC_VECTOR(sinf)
CUCC_VECTOR(cosf)
CUCC_VECTOR(tanhf)
CUCC_VECTOR(coshf)
}
#undef CUCC_VECTOR
#endif

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __cplusplus
#include <new>
#include <type_traits>
#include <utility>
#endif

/* A program that asks for an older toolkit says so with -DCUDART_VERSION=11080. */
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
#define CUDA_VERSION CUDART_VERSION

/* By these programs know which headers of a toolkit are there. */
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__

#ifndef __CUDACC__ /* in a .c or .cpp file these say nothing */
#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __forceinline__ inline
#endif
#define CUDART_CB

#include "cucc_set_aside.h"
#include "cucc_errors.h"
#include "cucc_vectors.h"
#include "cucc_types.h"
#include "cucc_api.h"
#include "cucc_graphs.h"
#undef CUCC_OR

#ifdef __cplusplus
#include "cucc_launch.h"
#include "cucc_typed.h"
#include "cucc_device.h"
#include "cucc_lanes.h"
#include "cucc_atomics.h"
#include "cucc_textures.h"
#include "cucc_directed.h"
#include "cucc_intrinsics.h"
#include "cucc_matrices.h"
#endif
#include "cucc_give_back.h"

#endif
