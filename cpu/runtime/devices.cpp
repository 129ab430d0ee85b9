/* Devices: what is known of them, and what can be set; the names of errors. */
#include "watch.h"
#include "../include/cuda.h"
#include "state.h"

using namespace cucc;

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define CUCC_NAME(name, value, text) \
    case name: return #name;
        CUCC_ERRORS(CUCC_NAME)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define CUCC_TEXT(name, value, text) \
    case name: return text;
        CUCC_ERRORS(CUCC_TEXT)
    }
    return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError()
{
    if (inside_kernel()) return last_error;
    host_looks_at_errors();
    cudaError_t sticky = state().device[current_device].sticky;
    return sticky ? sticky : last_error;
}

cudaError_t cudaGetLastError()
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return failed(cudaErrorInvalidValue);
    *count = state().devices;
    return *count ? cudaSuccess : failed(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    if (cudaError_t error = check_device(current_device)) return error;
    if (!device) return failed(cudaErrorInvalidValue);
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (planted("device")) return failed(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

/* What programs may size textures by: the largest extents of compute capability 7.0. */
static void describe_textures(cudaDeviceProp *p)
{
    const int line = 131072, side = 65536, cube = 32768, deep = 16384, layers = 2048;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->maxTexture1D = p->maxTexture2D[0] = p->maxTexture2DLinear[0] = line;
    p->maxTexture1DLinear = 1 << 28;
    p->maxTexture2D[1] = p->maxTexture2DLinear[1] = side;
    p->maxTexture2DLinear[2] = 2097120;
    p->maxTexture2DGather[0] = p->maxTexture2DGather[1] = cube;
    p->maxTexture1DMipmap = p->maxTexture2DMipmap[0] = p->maxTexture2DMipmap[1] = cube;
    for (int i = 0; i < 3; i++) p->maxTexture3D[i] = p->maxTexture3DAlt[i] = deep;
    p->maxTextureCubemap = p->maxTexture1DLayered[0] = cube;
    p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = cube;
    p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = layers;
    p->maxSurface1D = p->maxSurface1DLayered[0] = cube;
    p->maxSurface2D[0] = line;
    p->maxSurface2D[1] = side;
    for (int i = 0; i < 3; i++) p->maxSurface3D[i] = deep;
    p->maxSurface2DLayered[0] = p->maxSurface2DLayered[1] = cube;
    p->maxSurface1DLayered[1] = p->maxSurface2DLayered[2] = layers;
}

static void describe_abilities(cudaDeviceProp *p)
{
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->deviceOverlap = p->cooperativeLaunch = p->managedMemory = p->concurrentManagedAccess = 1;
    p->memoryPoolSupportedHandleTypes = cudaMemHandleTypePosixFileDescriptor;
    p->streamPrioritiesSupported = p->memoryPoolsSupported = p->hostRegisterSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->canUseHostPointerForRegisteredMem = p->computePreemptionSupported = 1;
    p->clusterLaunch = 1;
    p->asyncEngineCount = 2;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (!p) return failed(cudaErrorInvalidValue);
    const gpu_figures &gpu = environment().gpu;
    const int pretended_kilohertz = 1000000;
    *p = cudaDeviceProp{};
    if (*gpu.name)
        snprintf(p->name, sizeof p->name, "CPU runner as %s", gpu.name);
    else
        snprintf(p->name, sizeof p->name, "CPU runner");
    memcpy(p->uuid.bytes, "CPU runner", 10);
    p->uuid.bytes[15] = (char)device;
    p->totalGlobalMem = state().memory;
    p->sharedMemPerBlock = static_shared_limit;
    p->regsPerBlock = p->regsPerMultiprocessor = gpu.registers;
    p->warpSize = warp_lanes;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = max_threads;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->clockRate = p->memoryClockRate = pretended_kilohertz;
    p->singleToDoublePrecisionPerfRatio = 2;
    p->totalConstMem = 65536;
    p->major = gpu.major;
    p->minor = gpu.minor;
    p->multiProcessorCount = environment().processors();
    p->pciBusID = device;
    p->memoryBusWidth = 64;
    p->l2CacheSize = gpu.l2_bytes;
    p->persistingL2CacheMaxSize = p->accessPolicyMaxWindowSize = gpu.l2_bytes / 4 * 3;
    p->maxThreadsPerMultiProcessor = gpu.threads;
    p->maxBlocksPerMultiProcessor = gpu.blocks;
    p->sharedMemPerMultiprocessor = (size_t)gpu.shared;
    p->sharedMemPerBlockOptin = (size_t)gpu.shared_block;
    p->reservedSharedMemPerBlock = gpu.major >= 8 ? 1024 : 0;
    describe_textures(p);
    describe_abilities(p);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p;
    if (!value) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
    switch (attribute) {
#define CUCC_FOUND(name, number, found) \
    case cudaDevAttr##name: *value = (int)(found); break;
        CUCC_ATTRIBUTES(CUCC_FOUND)
#undef CUCC_FOUND
    default: return failed(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    if (inside_kernel()) { /* as before CUDA 12, for what the block has launched */
        run_children();
        return cudaSuccess;
    }
    finish_all();
    host_waits_for_all();
    return enter();
}

cudaError_t cudaThreadSynchronize()
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit()
{
    return cudaDeviceReset();
}

cudaError_t cudaDeviceReset()
{
    if (cudaError_t error = check_device(current_device)) return error;
    runtime_state &s = state();
    std::lock_guard<std::mutex> launching(s.launching);
    state_lock lock(s.lock);
    for (auto a = s.allocations.begin(); a != s.allocations.end();) {
        if (a->second.device != current_device) {
            ++a;
            continue;
        }
        release_bytes((void *)a->first);
        a = s.allocations.erase(a);
    }
    for (auto i = s.streams.begin(); i != s.streams.end();) {
        cudaStream_t stream = *i;
        i = stream->device == current_device ? (delete stream, s.streams.erase(i)) : std::next(i);
    }
    for (auto i = s.events.begin(); i != s.events.end();) {
        cudaEvent_t event = *i;
        i = event->device == current_device ? (delete event, s.events.erase(i)) : std::next(i);
    }
    /* The runtime sets attributes of kernels again: so an H100 with CUDA 13.0 does. */
    std::map<const void *, size_t> kept = std::move(s.device[current_device].dynamic_shared_limits);
    s.device[current_device] = device_state();
    s.device[current_device].dynamic_shared_limits = std::move(kept);
    end_kernel_heap(current_device);
    activate(current_device);
    for (symbol_images &symbol : s.symbols)
        memcpy(symbol.address, symbol.initial.data(), symbol.size);
    last_error = cudaSuccess;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (cudaError_t error = check_device(device)) return error;
    if (cudaError_t error = check_device(peer)) return error;
    if (!can) return failed(cudaErrorInvalidValue);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_device(peer)) return error;
    if (peer == current_device || flags) return failed(cudaErrorInvalidValue);
    bool &enabled = state().device[current_device].peer_enabled[peer];
    if (enabled) return failed(cudaErrorPeerAccessAlreadyEnabled);
    enabled = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_device(peer)) return error;
    bool &enabled = state().device[current_device].peer_enabled[peer];
    if (!enabled) return failed(cudaErrorPeerAccessNotEnabled);
    enabled = false;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) return failed(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int)
{
    return check_device(device);
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted)
{
    if (cudaError_t error = check_device(0)) return error;
    if (!device || !wanted) return failed(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    if (!devices && count > 0) return failed(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (cudaError_t error = check_device(devices[i])) return error;
    return cudaSuccess;
}

/* Flags and preferences are remembered, and change nothing; so are limits, but for those of the stack and the
 * heap of kernels. */
static unsigned int device_flags = cudaDeviceMapHost;

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    if (flags & ~0xffu) return failed(cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    if (cudaError_t error = enter()) return error;
    if (!flags) return failed(cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

static cudaError_t check_limit(cudaLimit limit)
{
    if (cudaError_t error = enter()) return error;
    return (unsigned int)limit <= cudaLimitPersistingL2CacheSize
               ? cudaSuccess
               : failed(cudaErrorUnsupportedLimit);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)
{
    const size_t most_stack = 512 * 1024; /* local memory of a thread */
    if (cudaError_t error = check_limit(limit)) return error;
    size_t l2 = (size_t)environment().gpu.l2_bytes / 4 * 3;
    if (limit == cudaLimitPersistingL2CacheSize && value > l2) value = l2;
    if (limit == cudaLimitStackSize && value > most_stack) return failed(cudaErrorInvalidValue);
    if (limit == cudaLimitMallocHeapSize && kernel_heap_is_used(current_device))
        return failed(cudaErrorInvalidValue);
    if (limit == cudaLimitMallocHeapSize && value > state().memory)
        return failed(cudaErrorMemoryAllocation);
    state_lock lock(state().lock);
    state().device[current_device].limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit)
{
    if (cudaError_t error = check_limit(limit)) return error;
    if (!value) return failed(cudaErrorInvalidValue);
    *value = state().device[current_device].limits[limit];
    return cudaSuccess;
}

static cudaFuncCache cache_preference = cudaFuncCachePreferNone;

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference)
{
    if (cudaError_t error = enter()) return error;
    if ((unsigned int)preference > cudaFuncCachePreferEqual) return failed(cudaErrorInvalidValue);
    cache_preference = preference;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *preference)
{
    if (cudaError_t error = enter()) return error;
    if (!preference) return failed(cudaErrorInvalidValue);
    *preference = cache_preference;
    return cudaSuccess;
}

/* Banks have four bytes since compute capability 5.0. */
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config)
{
    if (cudaError_t error = enter()) return error;
    return (unsigned int)config <= cudaSharedMemBankSizeEightByte ? cudaSuccess
                                                                  : failed(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *kernel, cudaSharedMemConfig config)
{
    if (!kernel) return failed(cudaErrorInvalidValue);
    return cudaDeviceSetSharedMemConfig(config);
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config)
{
    if (cudaError_t error = enter()) return error;
    if (!config) return failed(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache()
{
    return enter();
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (!text || length < 13) return failed(cudaErrorInvalidValue);
    snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned int)device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned int bus;
    if (!device || !text || sscanf(text, "%*x:%x:", &bus) != 1)
        return failed(cudaErrorInvalidValue);
    if (cudaError_t error = check_device((int)bus)) return error;
    *device = (int)bus;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int source,
                                      int destination)
{
    if (cudaError_t error = check_device(source)) return error;
    if (cudaError_t error = check_device(destination)) return error;
    if (!value || source == destination) return failed(cudaErrorInvalidValue);
    *value = attribute == cudaDevP2PAttrAccessSupported ||
             attribute == cudaDevP2PAttrNativeAtomicSupported;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart()
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop()
{
    return cudaSuccess;
}

/* ---- what the driver API has besides (cuda.h) ------------------------------------------------ */

static thread_local std::vector<CUcontext> pushed_contexts;

CUresult cuCtxPushCurrent(CUcontext context)
{
    CUcontext before;
    if (CUresult error = cuCtxGetCurrent(&before)) return error;
    if (CUresult error = cuCtxSetCurrent(context)) return error;
    pushed_contexts.push_back(before);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    if (pushed_contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) cuCtxGetCurrent(context);
    CUcontext before = pushed_contexts.back();
    pushed_contexts.pop_back();
    return cuCtxSetCurrent(before);
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
    cucc::state_lock lock(cucc::state().lock);
    cucc::region found = cucc::find_region((void *)(uintptr_t)pointer);
    if (found.device == cucc::nowhere) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = found.begin;
    if (size) *size = found.size;
    return CUDA_SUCCESS;
}
