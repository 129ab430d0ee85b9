/* CUB for the runner: its allocator of device memory. It keeps nothing: allocations cost little here, and
 * memory that a program still uses after it gave it back is found. */
#ifndef CUCC_CUB_UTIL_ALLOCATOR_CUH
#define CUCC_CUB_UTIL_ALLOCATOR_CUH
#include "../cucc_set_aside.h"

#include "util_debug.cuh"

namespace cub
{
struct CachingDeviceAllocator {
    static const unsigned int INVALID_BIN = (unsigned int)-1;
    static const size_t INVALID_SIZE = (size_t)-1;
    static const int INVALID_DEVICE_ORDINAL = -1;

    CachingDeviceAllocator(unsigned int /* bin_growth */, unsigned int = 1,
                           unsigned int = INVALID_BIN, size_t = INVALID_SIZE, bool = false,
                           bool = false)
    {
    }
    CachingDeviceAllocator(bool /* skip_cleanup */ = false, bool /* debug */ = false)
    {
    }

    cudaError_t SetMaxCachedBytes(size_t)
    {
        return cudaSuccess;
    }
    cudaError_t DeviceAllocate(int device, void **memory, size_t bytes, cudaStream_t = 0)
    {
        *memory = nullptr;
        return on(device, [=] { return cudaMalloc(memory, bytes); });
    }
    cudaError_t DeviceAllocate(void **memory, size_t bytes, cudaStream_t stream = 0)
    {
        return DeviceAllocate(INVALID_DEVICE_ORDINAL, memory, bytes, stream);
    }
    cudaError_t DeviceFree(int device, void *memory)
    {
        return on(device, [=] { return cudaFree(memory); });
    }
    cudaError_t DeviceFree(void *memory)
    {
        return DeviceFree(INVALID_DEVICE_ORDINAL, memory);
    }
    cudaError_t FreeAllCached()
    {
        return cudaSuccess;
    }

  private:
    template <class F> cudaError_t on(int device, F call)
    {
        int current;
        cudaError_t error = cudaGetDevice(&current);
        if (error || device == INVALID_DEVICE_ORDINAL || device == current)
            return error ? error : call();
        if ((error = cudaSetDevice(device))) return error;
        error = call();
        cudaError_t back = cudaSetDevice(current);
        return error ? error : back;
    }
};
} // namespace cub
#include "../cucc_give_back.h"

#endif
