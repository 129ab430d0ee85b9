/* What thrust::device_malloc and temporary arrays take: managed memory, as in ../memory_resource.h. */
#ifndef CUCC_THRUST_MALLOC_AND_FREE_H
#define CUCC_THRUST_MALLOC_AND_FREE_H

#include <cuda_runtime_api.h>
#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cpp/detail/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cpp
{
namespace detail
{

template <class policy> void *malloc(execution_policy<policy> &, std::size_t bytes)
{
    void *memory = 0;
    if (bytes > 0) cudaMallocManaged(&memory, bytes); /* the caller looks for NULL */
    return memory;
}

template <class policy, class pointer> void free(execution_policy<policy> &, pointer memory)
{
    cudaFree(thrust::raw_pointer_cast(memory));
}

} /* namespace detail */
} /* namespace cpp */
} /* namespace system */
THRUST_NAMESPACE_END

#endif
