/* CUB for the runner: what it tells of devices. */
#ifndef CUCC_CUB_UTIL_DEVICE_CUH
#define CUCC_CUB_UTIL_DEVICE_CUH
#include "../cucc_set_aside.h"

#include "util_debug.cuh"

namespace cub
{
/* The compute capability, times 100. */
inline cudaError_t SmVersion(int &version, int device)
{
    int major = 0, minor = 0;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (!error) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    version = major * 100 + minor * 10;
    return error;
}
inline cudaError_t SmVersion(int &version)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    return error ? error : SmVersion(version, device);
}
inline cudaError_t PtxVersion(int &version)
{
    return SmVersion(version);
}
inline int CurrentDevice()
{
    int device = -1;
    return cudaGetDevice(&device) ? -1 : device;
}

/* Blocks of a kernel that a multiprocessor has at once. */
template <class K>
cudaError_t MaxSmOccupancy(int &blocks, K kernel, int threads, int dynamic_shared = 0)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                         (size_t)dynamic_shared);
}
} // namespace cub
#include "../cucc_give_back.h"

#endif
