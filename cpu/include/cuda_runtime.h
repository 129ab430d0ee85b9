/* cuda_runtime.h of the CPU runner: the host side of the runtime API and kernel launches.
 *
 * Only what the files of this repository use is here; anything else is a compile error. What
 * is not C++ alone is C99, too. Heavy headers belong into the runtime, so that a .cu file compiles
 * quickly. */
#ifndef CUCC_CUDA_RUNTIME_H
#define CUCC_CUDA_RUNTIME_H

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <utility>
#endif

#define CUDART_VERSION 13000

#ifndef __CUDACC__ /* in a .c or .cpp file these say nothing */
#define __host__
#define __device__
#define __global__
#define __constant__
#define __forceinline__ inline
#endif

/* ---- vector types -------------------------------------------------------------------------- */

#ifdef __cplusplus
#define CUCC_MADE(type, ...)                \
    constexpr type make_##type(__VA_ARGS__) \
    {                                       \
        return
#define CUCC_OR(value) = value /* what an argument is if it is left out */
#else
#define CUCC_MADE(type, ...)                    \
    static inline type make_##type(__VA_ARGS__) \
    {                                           \
        return (type)
#define CUCC_OR(value)
#endif
#define CUCC_ALIGNED(bytes) __attribute__((aligned(bytes)))

/* clang-format off */
#define CUCC_VECTOR_TYPES(base, name, align2, align4)                             \
    typedef struct name##1 { base x; } name##1;                                   \
    typedef struct CUCC_ALIGNED(align2) name##2 { base x, y; } name##2;           \
    typedef struct name##3 { base x, y, z; } name##3;                             \
    typedef struct CUCC_ALIGNED(align4) name##4 { base x, y, z, w; } name##4;     \
    CUCC_MADE(name##1, base x) {x}; }                                             \
    CUCC_MADE(name##2, base x, base y) {x, y}; }                                  \
    CUCC_MADE(name##3, base x, base y, base z) {x, y, z}; }                       \
    CUCC_MADE(name##4, base x, base y, base z, base w) {x, y, z, w}; }
/* clang-format on */

CUCC_VECTOR_TYPES(signed char, char, 2, 4)
CUCC_VECTOR_TYPES(unsigned char, uchar, 2, 4)
CUCC_VECTOR_TYPES(short, short, 4, 8)
CUCC_VECTOR_TYPES(unsigned short, ushort, 4, 8)
CUCC_VECTOR_TYPES(int, int, 8, 16)
CUCC_VECTOR_TYPES(unsigned int, uint, 8, 16)
CUCC_VECTOR_TYPES(long long, longlong, 16, 16)
CUCC_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
CUCC_VECTOR_TYPES(float, float, 8, 16)
CUCC_VECTOR_TYPES(double, double, 16, 16)
#undef CUCC_VECTOR_TYPES
#undef CUCC_MADE
#undef CUCC_ALIGNED

typedef struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return {x, y, z};
    }
#endif
} dim3;

/* ---- errors -------------------------------------------------------------------------------- */

#define CUCC_ERRORS(X)                                                                             \
    X(cudaSuccess, 0, "no error")                                                                  \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                               \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                          \
    X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                    \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                         \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                    \
    X(cudaErrorInsufficientDriver, 35,                                                             \
      "CUDA driver version is insufficient for CUDA runtime version")                              \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                               \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                       \
    X(cudaErrorNoKernelImageForDevice, 209,                                                        \
      "no kernel image is available for execution on the device")                                  \
    X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                       \
    X(cudaErrorUnsupportedPtxVersion, 222,                                                         \
      "the provided PTX was compiled with an unsupported toolchain.")                              \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                              \
    X(cudaErrorNotReady, 600, "device not ready")                                                  \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")               \
    X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                      \
    X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                    \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                      \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                        \
    X(cudaErrorHardwareStackError, 714, "hardware stack error")                                    \
    X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                  \
    X(cudaErrorMisalignedAddress, 716, "misaligned address")                                       \
    X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
    X(cudaErrorInvalidPc, 718, "invalid program counter")                                          \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                   \
    X(cudaErrorNotSupported, 801, "operation not supported")                                       \
    X(cudaErrorUnknown, 999, "unknown error")

#define CUCC_ENUMERATOR(name, value, text) name = value,
typedef enum cudaError { CUCC_ERRORS(CUCC_ENUMERATOR) } cudaError_t;
#undef CUCC_ENUMERATOR

/* ---- types of the runtime API -------------------------------------------------------------- */

typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;

typedef enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
} cudaMemoryType;

typedef enum cudaDeviceAttr {
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115
} cudaDeviceAttr;

/* The fields that CUDA 11, 12 and 13 all have. */
typedef struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    size_t totalConstMem;
    int major;
    int minor;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int maxThreadsPerMultiProcessor;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    size_t sharedMemPerBlockOptin;
} cudaDeviceProp;

typedef struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
} cudaPointerAttributes;

typedef enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8
} cudaFuncAttribute;

typedef struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int maxDynamicSharedSizeBytes;
} cudaFuncAttributes;

typedef enum cudaMemLocationType {
    cudaMemLocationTypeInvalid,
    cudaMemLocationTypeDevice,
    cudaMemLocationTypeHost
} cudaMemLocationType;

typedef struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
} cudaMemLocation;

typedef struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
} cudaPitchedPtr;

typedef struct cudaExtent {
    size_t width, height, depth;
} cudaExtent;

typedef struct cudaPos {
    size_t x, y, z;
} cudaPos;

static inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t x, size_t y)
{
    cudaPitchedPtr made = {pointer, pitch, x, y};
    return made;
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    cudaExtent made = {width, height, depth};
    return made;
}

/* Textures: two-dimensional arrays of float, read by texel coordinates, clamped at the edges. */
typedef struct cudaArray *cudaArray_t;
typedef unsigned long long cudaTextureObject_t;

/* Plain memory only: no arrays, no positions, a depth of 1. */
typedef struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    int dstDevice;
    cudaExtent extent;
} cudaMemcpy3DPeerParms;

typedef enum cudaChannelFormatKind { cudaChannelFormatKindFloat = 2 } cudaChannelFormatKind;

typedef struct cudaChannelFormatDesc {
    int x, y, z, w;
    enum cudaChannelFormatKind f;
} cudaChannelFormatDesc;

typedef enum cudaResourceType { cudaResourceTypeArray } cudaResourceType;

typedef struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
    } res;
} cudaResourceDesc;

struct cudaResourceViewDesc;

typedef enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp
} cudaTextureAddressMode;
typedef enum cudaTextureFilterMode {
    cudaFilterModePoint,
    cudaFilterModeLinear
} cudaTextureFilterMode;
typedef enum cudaTextureReadMode { cudaReadModeElementType } cudaTextureReadMode;

typedef struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int normalizedCoords;
} cudaTextureDesc;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

#define cudaStreamLegacy       ((cudaStream_t)0x1)
#define cudaStreamPerThread    ((cudaStream_t)0x2)
#define cudaStreamDefault      0x0
#define cudaStreamNonBlocking  0x1
#define cudaEventDefault       0x0
#define cudaEventDisableTiming 0x2
#define cudaHostAllocDefault   0x0
#define cudaHostAllocPortable  0x1
#define cudaHostAllocMapped    0x2
#define cudaMemAttachGlobal    0x1

/* ---- functions of the runtime API ---------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);

cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);

/* Pools remember their device only: memory comes from where cudaMalloc's does. */
typedef struct cudaMemPool *cudaMemPool_t;
typedef enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 } cudaMemAllocationType;
typedef enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrUsedMemCurrent = 7
} cudaMemPoolAttr;
typedef enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtReadWrite = 3
} cudaMemAccessFlags;
typedef struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
} cudaMemAccessDesc;
typedef struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemLocation location;
    unsigned char reserved[64];
} cudaMemPoolProps;
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t count);
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned int flags);
cudaError_t cudaMallocManaged(void **pointer, size_t size,
                              unsigned int flags CUCC_OR(cudaMemAttachGlobal));
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, struct cudaMemLocation where,
                                 unsigned int flags, cudaStream_t stream CUCC_OR(0));
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream CUCC_OR(0));
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream CUCC_OR(0));
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t size, cudaStream_t stream CUCC_OR(0));
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *parameters,
                                  cudaStream_t stream CUCC_OR(0));
cudaError_t cudaMemset(void *to, int value, size_t size);
cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream CUCC_OR(0));

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                            size_t width, size_t height CUCC_OR(0), unsigned int flags CUCC_OR(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from,
                                size_t from_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *how,
                                    const struct cudaResourceViewDesc *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags CUCC_OR(0));

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream CUCC_OR(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared, cudaStream_t stream);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_size, size_t dynamic_shared);
#ifdef __cplusplus
}
#endif
#undef CUCC_OR

#ifdef __cplusplus
namespace cucc
{
cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                           cudaMemcpyKind kind);
cudaError_t copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                             cudaMemcpyKind kind);
cudaError_t symbol_address(void **address, const void *symbol);
void register_symbol(void *address, size_t size);

/* One beside each __device__ or __constant__ variable. A const variable is the same on every
 * device and cannot be written, so it needs no images. */
struct symbol {
    template <class T> explicit symbol(T &variable)
    {
        register_symbol(&variable, sizeof variable);
    }
    template <class T> explicit symbol(const T &)
    {
    }
};

struct launch_request {
    const char *kernel;
    const void *function;
    dim3 grid, block;
    size_t dynamic_shared;
    cudaStream_t stream;
    int argument_count;
    const void *const *pointers; /* the arguments that are pointers to objects; else null */
    void (*run_thread)(void *closure);
    void *closure;
    void *(*copy_closure)(const void *closure); /* for launches that wait in a stream */
    void (*free_closure)(void *closure);
};
cudaError_t launch(const launch_request &request);

template <class T> const void *object_pointer(const T &)
{
    return nullptr;
}
template <class T> const void *object_pointer(T *const &p)
{
    return (const void *)p;
}
template <class R, class... A> const void *object_pointer(R (*const &)(A...))
{
    return nullptr;
}

/* An argument of a kernel as CUDA keeps it: its bytes, so that no constructor or destructor runs in
 * threads. What C++ passes in memory because of such members goes to the kernel by address, as the
 * ABI of g++ does it, and each thread has bytes of its own. */
template <class P>
constexpr bool by_address = __is_class(P) && !(__is_trivially_constructible(P, const P &) &&
                                               __is_trivially_constructible(P, P &&));
template <class P, bool = by_address<P>> struct stored_argument {
    using passed = P;
    P value;
    explicit stored_argument(const P &argument) : value(argument)
    {
    }
    P &get()
    {
        return value;
    }
};
template <class P> struct stored_argument<P, true> {
    using passed = P &;
    alignas(P) unsigned char bytes[sizeof(P)];
    explicit stored_argument(const P &argument)
    {
        memcpy(bytes, (const void *)&argument, sizeof bytes);
    }
    P &get()
    {
        return *(P *)bytes;
    }
};

/* KERNEL<<<grid, block, shared, stream>>>(arguments) becomes
 * prepare("KERNEL", KERNEL, grid, block, shared, stream)(arguments), so that each argument is
 * converted once to its parameter's type, as CUDA does. */
template <class... P> struct prepared_launch {
    launch_request request;
    void (*kernel)(P...);

    void operator()(P... arguments)
    {
        (void)start(stored_argument<P>(arguments)...);
    }

    cudaError_t with(P... arguments)
    {
        return start(stored_argument<P>(arguments)...);
    }

#ifdef __clang__
    __attribute__((no_sanitize("function")))
#endif
    static void
    call(void (*kernel)(P...), stored_argument<P>... arguments)
    {
        if constexpr ((by_address<P> || ...))
            ((void (*)(typename stored_argument<P>::passed...))(void *)kernel)(arguments.get()...);
        else
            kernel(arguments.get()...);
    }

    cudaError_t start(stored_argument<P>... arguments)
    {
        auto thread = [=, kernel = kernel] { call(kernel, arguments...); };
        const void *pointers[] = {object_pointer(arguments.get())..., nullptr};
        request.argument_count = sizeof...(P);
        request.pointers = pointers;
        request.run_thread = [](void *closure) { (*static_cast<decltype(thread) *>(closure))(); };
        request.closure = &thread;
        request.copy_closure = [](const void *closure) {
            return (void *)new auto(*static_cast<const decltype(thread) *>(closure));
        };
        request.free_closure = [](void *closure) {
            delete static_cast<decltype(thread) *>(closure);
        };
        return launch(request);
    }
};

template <class... P>
prepared_launch<P...> prepare(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                              size_t dynamic_shared = 0, cudaStream_t stream = nullptr)
{
    return {{name, (const void *)kernel, grid, block, dynamic_shared, stream, 0, 0, 0, 0, 0, 0},
            kernel};
}

/* A kernel's name that is not launched on the spot becomes kernel_pointer("KERNEL", KERNEL), which
 * leaves behind what cudaLaunchKernel needs to call it by an untyped pointer. */
struct kernel_record {
    const char *name;
    cudaError_t (*launch)(const kernel_record &record, const void *kernel, dim3 grid, dim3 block,
                          void **arguments, size_t dynamic_shared, cudaStream_t stream);
};
void register_kernel(const void *kernel, const kernel_record &record);
const char *kernel_name(const void *kernel); /* of one whose address a program has taken */

template <class... P, size_t... I>
cudaError_t launch_untyped(void (*kernel)(P...), const char *name, dim3 grid, dim3 block,
                           void **arguments, size_t dynamic_shared, cudaStream_t stream,
                           std::index_sequence<I...>)
{
    (void)arguments;
    return prepare(name, kernel, grid, block, dynamic_shared, stream)
        .start(stored_argument<P>(*(std::remove_reference_t<P> *)arguments[I])...);
}

template <class... P> auto kernel_pointer(const char *name, void (*kernel)(P...)) -> void (*)(P...)
{
    register_kernel((const void *)kernel,
                    {name,
                     [](const kernel_record &record, const void *untyped, dim3 grid, dim3 block,
                        void **arguments, size_t dynamic_shared, cudaStream_t stream) {
                         return launch_untyped((void (*)(P...))untyped, record.name, grid, block,
                                               arguments, dynamic_shared, stream,
                                               std::index_sequence_for<P...>{});
                     }});
    return kernel;
}
} // namespace cucc

/* The typed forms that nvcc offers in C++. */
template <class T> cudaError_t cudaMalloc(T **pointer, size_t size)
{
    return cudaMalloc((void **)pointer, size);
}
template <class T> cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)pointer, size, stream);
}
template <class T>
cudaError_t cudaMallocHost(T **pointer, size_t size, unsigned int flags = cudaHostAllocDefault)
{
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned int flags)
{
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> cudaError_t cudaHostGetDevicePointer(T **pointer, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)pointer, host, flags);
}
template <class T>
cudaError_t cudaMallocManaged(T **pointer, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)pointer, size, flags);
}
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<float>()
{
    return {32, 0, 0, 0, cudaChannelFormatKindFloat};
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cucc::copy_to_symbol(&symbol, from, size, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t = 0)
{
    return cucc::copy_to_symbol(&symbol, from, size, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cucc::copy_from_symbol(to, &symbol, size, offset, kind);
}
template <class T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    return cucc::symbol_address(address, &symbol);
}
/* Attributes of a launch are not read. */
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
};

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                               A &&...arguments)
{
    return cucc::prepare(cucc::kernel_name((const void *)kernel), kernel, config->gridDim,
                         config->blockDim, config->dynamicSmemBytes, config->stream)
        .with(std::forward<A>(arguments)...);
}
template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared = 0, cudaStream_t stream = nullptr)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_shared, stream);
}
template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                          int block_size, size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block_size,
                                                         dynamic_shared);
}

#include "cucc_device.h"
#endif

#endif
