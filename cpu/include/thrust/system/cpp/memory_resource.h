/* What thrust::device_vector and kin allocate: managed memory, which kernels may be given. */
#ifndef CUCC_THRUST_MEMORY_RESOURCE_H
#define CUCC_THRUST_MEMORY_RESOURCE_H

#include <cuda_runtime_api.h>
#include <new>
#include <thrust/detail/config.h>
#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cpp
{
namespace detail
{

struct cucc_managed_memory : mr::memory_resource<> {
    void *do_allocate(std::size_t bytes, std::size_t) override
    {
        void *memory = 0;
        if (bytes > 0 && cudaMallocManaged(&memory, bytes) != cudaSuccess) throw std::bad_alloc();
        return memory;
    }
    void do_deallocate(void *memory, std::size_t, std::size_t) override
    {
        cudaFree(memory);
    }
};

typedef mr::fancy_pointer_resource<cucc_managed_memory, cpp::pointer<void>> native_resource;
typedef mr::fancy_pointer_resource<cucc_managed_memory, cpp::universal_pointer<void>>
    universal_native_resource;

} /* namespace detail */

typedef detail::native_resource memory_resource;
typedef detail::universal_native_resource universal_memory_resource;
typedef detail::universal_native_resource universal_host_pinned_memory_resource;

} /* namespace cpp */
} /* namespace system */
THRUST_NAMESPACE_END

#endif
