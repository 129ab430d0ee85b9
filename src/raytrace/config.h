/* src/raytrace/config.h. What is compiled: kernels, host code, declarations; their qualifiers.
   Uses: kernels/instances.h.
   Used by: functions.h, give_back.h, set_aside.h, host/, kernels/, trace/, trace/host/. */
#if !defined(RAYT__PART_CONFIG)
#define RAYT__PART_CONFIG
#define RAYT_VERSION 100 /* 10000 * major + 100 * minor + patch */

#ifndef RAYT_HEADER /* the name by which this file includes itself */
#define RAYT_HEADER "raytrace.cuh"
#endif
#if defined(__has_include) && !defined(__CUDACC_RTC__) /* NVRTC 11 sees no headers in memory */
#if !__has_include(RAYT_HEADER)
#error "raytrace.cuh: this file has another name: define RAYT_HEADER as that name, in quotes"
#endif
#endif

#if defined(__CUDACC_RTC__)
#define RAYT__KERNELS 1 /* NVRTC: kernels only, no host code */
#define RAYT__HOST    0
#ifndef RAYT_KERNEL
#define RAYT_KERNEL extern "C" __global__
#endif
#ifndef RAYT_TABLE
#define RAYT_TABLE __constant__
#endif
#elif defined(__CUDACC__) && !defined(RAYT_EXTERN)
#define RAYT__KERNELS 1
#define RAYT__HOST    1
#ifndef RAYT_KERNEL
#define RAYT_KERNEL static __global__
#endif
#ifndef RAYT_TABLE
#define RAYT_TABLE static __constant__
#endif
#else
#define RAYT__KERNELS 0 /* C or C++ without nvcc, or RAYT_EXTERN: declarations only */
#define RAYT__HOST    0
#endif

#if defined(RAYT_IMPLEMENTATION) || !RAYT__HOST
#ifdef __cplusplus
#define RAYT_API extern "C"
#else
#define RAYT_API extern
#endif
#else
#define RAYT_API static inline
#endif

#ifndef __CUDACC_RTC__
#include <stdio.h>
#endif
#if RAYT__HOST
#include <cuda_runtime.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/stat.h>
#ifdef RAYT_WITH_TRACE
#include <pthread.h>
#include <unistd.h>
#endif
#endif
#endif

/* The CPU reference is meant to run at a fair speed however the file is compiled: nvcc gives the
   host compiler no -O of its own. */
#if defined(__GNUC__) && !defined(__clang__)
#define RAYT__OPTIMIZE __attribute__((optimize("O2")))
#else
#define RAYT__OPTIMIZE
#endif

#define RAYT__JOIN_(a, b) a##b
#define RAYT__JOIN(a, b)  RAYT__JOIN_(a, b)

/* A name with the edge of the tile at its end, where KERNEL TILE is compiled. */
#define RAYT__OF_TILE(name) RAYT__JOIN(name, RAYT_TILE)

/* A later inclusion cannot ask for what the first one did not. */
#ifdef RAYT_IMPLEMENTATION
#define RAYT__HAS_IMPLEMENTATION
#endif
#ifdef RAYT_EXTERN
#define RAYT__HAS_EXTERN
#endif
#ifdef RAYT_WITH_TRACE
#define RAYT__HAS_TRACE
#endif
#else
#if defined(RAYT_IMPLEMENTATION) && !defined(RAYT__HAS_IMPLEMENTATION)
#error "raytrace.cuh: RAYT_IMPLEMENTATION must be defined before the first #include of this file"
#endif
#if defined(RAYT_EXTERN) && !defined(RAYT__HAS_EXTERN)
#error "raytrace.cuh: RAYT_EXTERN must be defined before the first #include of this file"
#endif
#if defined(RAYT_WITH_TRACE) && !defined(RAYT__HAS_TRACE)
#error "raytrace.cuh: RAYT_WITH_TRACE must be defined before the first #include of this file"
#endif
#endif
