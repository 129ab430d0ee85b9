/* cuda.h of the CPU runner: of the driver API what programs use beside the runtime, done by the
 * runtime. There are no modules: kernels are in the program. */
#ifndef CUCC_CUDA_H
#define CUCC_CUDA_H

#include "cuda_runtime.h"

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef cudaUUID_t CUuuid;

/* The errors of the runtime API have the same numbers. */
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef cudaDeviceAttr CUdevice_attribute;
#define CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK       cudaDevAttrMaxThreadsPerBlock
#define CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X             cudaDevAttrMaxBlockDimX
#define CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y             cudaDevAttrMaxBlockDimY
#define CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z             cudaDevAttrMaxBlockDimZ
#define CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X              cudaDevAttrMaxGridDimX
#define CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y              cudaDevAttrMaxGridDimY
#define CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z              cudaDevAttrMaxGridDimZ
#define CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK cudaDevAttrMaxSharedMemoryPerBlock
#define CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN \
    cudaDevAttrMaxSharedMemoryPerBlockOptin
#define CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR \
    cudaDevAttrMaxSharedMemoryPerMultiprocessor
#define CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY          cudaDevAttrTotalConstantMemory
#define CU_DEVICE_ATTRIBUTE_WARP_SIZE                      cudaDevAttrWarpSize
#define CU_DEVICE_ATTRIBUTE_MAX_PITCH                      cudaDevAttrMaxPitch
#define CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK        cudaDevAttrMaxRegistersPerBlock
#define CU_DEVICE_ATTRIBUTE_CLOCK_RATE                     cudaDevAttrClockRate
#define CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT              cudaDevAttrTextureAlignment
#define CU_DEVICE_ATTRIBUTE_GPU_OVERLAP                    cudaDevAttrGpuOverlap
#define CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT           cudaDevAttrMultiProcessorCount
#define CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT            cudaDevAttrKernelExecTimeout
#define CU_DEVICE_ATTRIBUTE_INTEGRATED                     cudaDevAttrIntegrated
#define CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY            cudaDevAttrCanMapHostMemory
#define CU_DEVICE_ATTRIBUTE_COMPUTE_MODE                   cudaDevAttrComputeMode
#define CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS             cudaDevAttrConcurrentKernels
#define CU_DEVICE_ATTRIBUTE_ECC_ENABLED                    cudaDevAttrEccEnabled
#define CU_DEVICE_ATTRIBUTE_PCI_BUS_ID                     cudaDevAttrPciBusId
#define CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID                  cudaDevAttrPciDeviceId
#define CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE              cudaDevAttrMemoryClockRate
#define CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH        cudaDevAttrGlobalMemoryBusWidth
#define CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE                  cudaDevAttrL2CacheSize
#define CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR cudaDevAttrMaxThreadsPerMultiProcessor
#define CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT             cudaDevAttrAsyncEngineCount
#define CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING             cudaDevAttrUnifiedAddressing
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR       cudaDevAttrComputeCapabilityMajor
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR       cudaDevAttrComputeCapabilityMinor
#define CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH             cudaDevAttrCooperativeLaunch
#define CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS      cudaDevAttrConcurrentManagedAccess

static inline CUresult cuInit(unsigned int flags)
{
    int count;
    return flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)cudaGetDeviceCount(&count);
}
static inline CUresult cuDriverGetVersion(int *version)
{
    return (CUresult)cudaDriverGetVersion(version);
}
static inline CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}
static inline CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}
static inline CUresult cuDeviceGetCount(int *count)
{
    return (CUresult)cudaGetDeviceCount(count);
}
static inline CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    int count;
    CUresult error = (CUresult)cudaGetDeviceCount(&count);
    *device = ordinal;
    return error                             ? error
           : ordinal < 0 || ordinal >= count ? CUDA_ERROR_INVALID_DEVICE
                                             : CUDA_SUCCESS;
}
static inline CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    cudaDeviceProp properties;
    CUresult error = (CUresult)cudaGetDeviceProperties(&properties, device);
    if (!error) snprintf(name, (size_t)length, "%s", properties.name);
    return error;
}
static inline CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    cudaDeviceProp properties;
    CUresult error = (CUresult)cudaGetDeviceProperties(&properties, device);
    if (!error) *bytes = properties.totalGlobalMem;
    return error;
}
static inline CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                            CUdevice device)
{
    return (CUresult)cudaDeviceGetAttribute(value, attribute, device);
}
static inline CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult error =
        (CUresult)cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return error
               ? error
               : (CUresult)cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
}

/* A device has one context, its primary one. */
static inline CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    (void)flags;
    *context = (CUcontext)(uintptr_t)(device + 1);
    return (CUresult)cudaSetDevice(device);
}
typedef struct CUctxCreateParams_st CUctxCreateParams;
#ifdef __cplusplus /* the form of CUDA 13 */
static inline CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *parameters,
                                   unsigned int flags, CUdevice device)
{
    return parameters ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate(context, flags, device);
}
#endif
static inline CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = (CUcontext)(uintptr_t)(device + 1);
    return CUDA_SUCCESS;
}
static inline CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}
static inline CUresult cuCtxSetCurrent(CUcontext context)
{
    return (CUresult)cudaSetDevice((int)(uintptr_t)context - 1);
}
static inline CUresult cuCtxGetCurrent(CUcontext *context)
{
    int device;
    CUresult error = (CUresult)cudaGetDevice(&device);
    if (!error) *context = (CUcontext)(uintptr_t)(device + 1);
    return error;
}
#ifdef __cplusplus
extern "C" {
#endif
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext *context);
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr pointer);
#ifdef __cplusplus
}
#endif
static inline CUresult cuCtxGetDevice(CUdevice *device)
{
    return (CUresult)cudaGetDevice(device);
}
static inline CUresult cuCtxDestroy(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}
static inline CUresult cuCtxSynchronize(void)
{
    return (CUresult)cudaDeviceSynchronize();
}

static inline CUresult cuMemAlloc(CUdeviceptr *pointer, size_t size)
{
    void *memory;
    CUresult error = (CUresult)cudaMalloc(&memory, size);
    *pointer = (CUdeviceptr)(uintptr_t)memory;
    return error;
}
static inline CUresult cuMemFree(CUdeviceptr pointer)
{
    return (CUresult)cudaFree((void *)(uintptr_t)pointer);
}
static inline CUresult cuMemGetInfo(size_t *free, size_t *total)
{
    return (CUresult)cudaMemGetInfo(free, total);
}
static inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
    return (CUresult)cudaMemcpy((void *)(uintptr_t)to, from, size, cudaMemcpyHostToDevice);
}
static inline CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
    return (CUresult)cudaMemcpy(to, (const void *)(uintptr_t)from, size, cudaMemcpyDeviceToHost);
}

#endif
