/* Thrust, from wherever its own headers are, as a library for hosts: its C++ backend, whose memory is managed
 * memory (system/cpp). Every header of Thrust includes this one first. */
#ifndef CUCC_THRUST_CONFIG_H
#define CUCC_THRUST_CONFIG_H

#undef __CUDACC__ /* or the compiler must be nvcc */
#undef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#define CCCL_DISABLE_FP16_SUPPORT
#include <thrust/version.h>
#if THRUST_VERSION >= 200000
#define CUCC_CUDA_STD_NEXT /* it needs its own cuda::std */
#endif
#include_next <thrust/detail/config.h>
#define __CUDACC__ 1

#ifndef THRUST_NAMESPACE_BEGIN /* Thrust before 1.11 */
#define THRUST_NAMESPACE_BEGIN \
    namespace thrust           \
    {
#define THRUST_NAMESPACE_END }
#endif

#ifdef CUCC_CHECK /* the functions of Thrust may touch it, though they are the host's */
#define cudaMalloc(memory, bytes) cudaMallocManaged(memory, bytes)
#endif

/* What programs need not include where the backend is CUDA's. */
#include <thrust/system_error.h>

#endif
