/* The types of the runtime API: enumerations, properties, what copies, arrays, textures, pools and
 * launches are described with. Included by cuda_runtime.h; C99, too. */
#ifndef CUCC_TYPES_H
#define CUCC_TYPES_H

/* ---- devices --------------------------------------------------------------------------------- */

/* X(name, value, what cudaDeviceGetAttribute finds in the properties P) */
#define CUCC_ATTRIBUTES(X)                                                                   \
    X(MaxThreadsPerBlock, 1, p.maxThreadsPerBlock)                                           \
    X(MaxBlockDimX, 2, p.maxThreadsDim[0])                                                   \
    X(MaxBlockDimY, 3, p.maxThreadsDim[1])                                                   \
    X(MaxBlockDimZ, 4, p.maxThreadsDim[2])                                                   \
    X(MaxGridDimX, 5, p.maxGridSize[0])                                                      \
    X(MaxGridDimY, 6, p.maxGridSize[1])                                                      \
    X(MaxGridDimZ, 7, p.maxGridSize[2])                                                      \
    X(MaxSharedMemoryPerBlock, 8, p.sharedMemPerBlock)                                       \
    X(TotalConstantMemory, 9, p.totalConstMem)                                               \
    X(WarpSize, 10, p.warpSize)                                                              \
    X(MaxPitch, 11, p.memPitch)                                                              \
    X(MaxRegistersPerBlock, 12, p.regsPerBlock)                                              \
    X(ClockRate, 13, p.clockRate)                                                            \
    X(TextureAlignment, 14, p.textureAlignment)                                              \
    X(GpuOverlap, 15, p.deviceOverlap)                                                       \
    X(MultiProcessorCount, 16, p.multiProcessorCount)                                        \
    X(KernelExecTimeout, 17, p.kernelExecTimeoutEnabled)                                     \
    X(Integrated, 18, p.integrated)                                                          \
    X(CanMapHostMemory, 19, p.canMapHostMemory)                                              \
    X(ComputeMode, 20, p.computeMode)                                                        \
    X(MaxTexture1DWidth, 21, p.maxTexture1D)                                                 \
    X(MaxTexture2DWidth, 22, p.maxTexture2D[0])                                              \
    X(MaxTexture2DHeight, 23, p.maxTexture2D[1])                                             \
    X(MaxTexture3DWidth, 24, p.maxTexture3D[0])                                              \
    X(MaxTexture3DHeight, 25, p.maxTexture3D[1])                                             \
    X(MaxTexture3DDepth, 26, p.maxTexture3D[2])                                              \
    X(ConcurrentKernels, 31, p.concurrentKernels)                                            \
    X(EccEnabled, 32, p.ECCEnabled)                                                          \
    X(PciBusId, 33, p.pciBusID)                                                              \
    X(PciDeviceId, 34, p.pciDeviceID)                                                        \
    X(TccDriver, 35, p.tccDriver)                                                            \
    X(MemoryClockRate, 36, p.memoryClockRate)                                                \
    X(GlobalMemoryBusWidth, 37, p.memoryBusWidth)                                            \
    X(L2CacheSize, 38, p.l2CacheSize)                                                        \
    X(MaxThreadsPerMultiProcessor, 39, p.maxThreadsPerMultiProcessor)                        \
    X(AsyncEngineCount, 40, p.asyncEngineCount)                                              \
    X(UnifiedAddressing, 41, p.unifiedAddressing)                                            \
    X(PciDomainId, 50, p.pciDomainID)                                                        \
    X(TexturePitchAlignment, 51, p.texturePitchAlignment)                                    \
    X(ComputeCapabilityMajor, 75, p.major)                                                   \
    X(ComputeCapabilityMinor, 76, p.minor)                                                   \
    X(StreamPrioritiesSupported, 78, p.streamPrioritiesSupported)                            \
    X(GlobalL1CacheSupported, 79, p.globalL1CacheSupported)                                  \
    X(LocalL1CacheSupported, 80, p.localL1CacheSupported)                                    \
    X(MaxSharedMemoryPerMultiprocessor, 81, p.sharedMemPerMultiprocessor)                    \
    X(MaxRegistersPerMultiprocessor, 82, p.regsPerMultiprocessor)                            \
    X(ManagedMemory, 83, p.managedMemory)                                                    \
    X(IsMultiGpuBoard, 84, p.isMultiGpuBoard)                                                \
    X(MultiGpuBoardGroupID, 85, p.multiGpuBoardGroupID)                                      \
    X(HostNativeAtomicSupported, 86, p.hostNativeAtomicSupported)                            \
    X(SingleToDoublePrecisionPerfRatio, 87, p.singleToDoublePrecisionPerfRatio)              \
    X(PageableMemoryAccess, 88, p.pageableMemoryAccess)                                      \
    X(ConcurrentManagedAccess, 89, p.concurrentManagedAccess)                                \
    X(ComputePreemptionSupported, 90, p.computePreemptionSupported)                          \
    X(CanUseHostPointerForRegisteredMem, 91, p.canUseHostPointerForRegisteredMem)            \
    X(CooperativeLaunch, 95, p.cooperativeLaunch)                                            \
    X(MaxSharedMemoryPerBlockOptin, 97, p.sharedMemPerBlockOptin)                            \
    X(HostRegisterSupported, 99, p.hostRegisterSupported)                                    \
    X(PageableMemoryAccessUsesHostPageTables, 100, p.pageableMemoryAccessUsesHostPageTables) \
    X(DirectManagedMemAccessFromHost, 101, p.directManagedMemAccessFromHost)                 \
    X(MaxBlocksPerMultiprocessor, 106, p.maxBlocksPerMultiProcessor)                         \
    X(MaxPersistingL2CacheSize, 108, p.persistingL2CacheMaxSize)                             \
    X(MaxAccessPolicyWindowSize, 109, p.accessPolicyMaxWindowSize)                           \
    X(ReservedSharedMemoryPerBlock, 111, p.reservedSharedMemPerBlock)                        \
    X(MemoryPoolsSupported, 115, p.memoryPoolsSupported)                                     \
    X(MemoryPoolSupportedHandleTypes, 119, (int)p.memoryPoolSupportedHandleTypes)            \
    X(ClusterLaunch, 120, p.clusterLaunch)                                                   \
    X(IpcEventSupport, 125, p.ipcEventSupported)

#define CUCC_ENUMERATOR(name, value, found) cudaDevAttr##name = value,
typedef enum cudaDeviceAttr { CUCC_ATTRIBUTES(CUCC_ENUMERATOR) } cudaDeviceAttr;
#undef CUCC_ENUMERATOR

typedef enum cudaComputeMode {
    cudaComputeModeDefault,
    cudaComputeModeExclusive,
    cudaComputeModeProhibited,
    cudaComputeModeExclusiveProcess
} cudaComputeMode;

typedef struct cudaUUID_t {
    char bytes[16];
} cudaUUID_t;

/* All fields of CUDA 11, 12 and 13, those that 13 dropped among them (clockRate, computeMode,
 * deviceOverlap, kernelExecTimeoutEnabled, memoryClockRate, the ratio of precisions and the
 * cooperative launch over devices). */
typedef struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, memoryClockRate;
    int singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment, surfaceAlignment;
    int multiProcessorCount, integrated, canMapHostMemory;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture1DLayered[2];
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
    int maxTexture2DLayered[3], maxTexture3D[3], maxTexture3DAlt[3];
    int maxTextureCubemap, maxTextureCubemapLayered[2];
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3];
    int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, pageableMemoryAccess, concurrentManagedAccess;
    int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, hostRegisterReadOnlySupported, sparseCudaArraySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
    int unifiedFunctionPointers;
} cudaDeviceProp;

typedef enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount,
    cudaLimitMaxL2FetchGranularity,
    cudaLimitPersistingL2CacheSize
} cudaLimit;

typedef enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
} cudaFuncCache;

typedef enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte
} cudaSharedMemConfig;

typedef enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100
} cudaSharedCarveout;

typedef enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported,
    cudaDevP2PAttrNativeAtomicSupported,
    cudaDevP2PAttrCudaArrayAccessSupported
} cudaDeviceP2PAttr;

/* ---- memory ---------------------------------------------------------------------------------- */

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

typedef struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
} cudaPointerAttributes;

typedef enum cudaMemLocationType {
    cudaMemLocationTypeInvalid,
    cudaMemLocationTypeDevice,
    cudaMemLocationTypeHost,
    cudaMemLocationTypeHostNuma,
    cudaMemLocationTypeHostNumaCurrent
} cudaMemLocationType;

typedef struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
} cudaMemLocation;

typedef enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy
} cudaMemoryAdvise;

typedef enum cudaMemRangeAttribute {
    cudaMemRangeAttributeReadMostly = 1,
    cudaMemRangeAttributePreferredLocation,
    cudaMemRangeAttributeAccessedBy,
    cudaMemRangeAttributeLastPrefetchLocation
} cudaMemRangeAttribute;

/* Pools remember their device and their attributes: memory comes from where cudaMalloc's does. */
typedef struct cudaMemPool *cudaMemPool_t;
typedef enum cudaMemAllocationType {
    cudaMemAllocationTypeInvalid,
    cudaMemAllocationTypePinned
} cudaMemAllocationType;
typedef enum cudaMemAllocationHandleType {
    cudaMemHandleTypeNone = 0,
    cudaMemHandleTypePosixFileDescriptor = 1,
    cudaMemHandleTypeWin32 = 2,
    cudaMemHandleTypeWin32Kmt = 4
} cudaMemAllocationHandleType;
typedef enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh
} cudaMemPoolAttr;
typedef enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtRead = 1,
    cudaMemAccessFlagsProtReadWrite = 3
} cudaMemAccessFlags;
typedef struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
} cudaMemAccessDesc;
typedef struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned char reserved[56];
} cudaMemPoolProps;

/* ---- arrays, textures, surfaces -------------------------------------------------------------- */

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
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    cudaPos made = {x, y, z};
    return made;
}

typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

typedef struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    enum cudaMemcpyKind kind;
} cudaMemcpy3DParms;

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

typedef enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
} cudaChannelFormatKind;

typedef struct cudaChannelFormatDesc {
    int x, y, z, w;
    enum cudaChannelFormatKind f;
} cudaChannelFormatDesc;

typedef enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
} cudaResourceType;

typedef struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
} cudaResourceDesc;

struct cudaResourceViewDesc;

typedef enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeBorder
} cudaTextureAddressMode;
typedef enum cudaTextureFilterMode {
    cudaFilterModePoint,
    cudaFilterModeLinear
} cudaTextureFilterMode;
typedef enum cudaTextureReadMode {
    cudaReadModeElementType,
    cudaReadModeNormalizedFloat
} cudaTextureReadMode;
typedef enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero,
    cudaBoundaryModeClamp,
    cudaBoundaryModeTrap
} cudaSurfaceBoundaryMode;

typedef struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
} cudaTextureDesc;

/* ---- streams, events, launches --------------------------------------------------------------- */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);

typedef enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 15
} cudaFuncAttribute;

typedef struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
} cudaFuncAttributes;

typedef enum cudaAccessProperty {
    cudaAccessPropertyNormal,
    cudaAccessPropertyStreaming,
    cudaAccessPropertyPersisting
} cudaAccessProperty;

typedef struct cudaAccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    enum cudaAccessProperty hitProp, missProp;
} cudaAccessPolicyWindow;

typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8
} cudaLaunchAttributeID;

typedef union cudaLaunchAttributeValue {
    char pad[64];
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative, syncPolicy, clusterSchedulingPolicyPreference;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed, priority;
} cudaLaunchAttributeValue;

typedef struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
} cudaLaunchConfig_t;

#define cudaStreamAttrID                      cudaLaunchAttributeID
#define cudaStreamAttrValue                   cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributePriority           cudaLaunchAttributePriority

/* ---- flags ----------------------------------------------------------------------------------- */

#define cudaStreamLegacy                    ((cudaStream_t)0x1)
#define cudaStreamPerThread                 ((cudaStream_t)0x2)
#define cudaStreamDefault                   0x0
#define cudaStreamNonBlocking               0x1
#define cudaEventDefault                    0x0
#define cudaEventBlockingSync               0x1
#define cudaEventDisableTiming              0x2
#define cudaEventInterprocess               0x4
#define cudaEventRecordDefault              0x0
#define cudaEventRecordExternal             0x1
#define cudaEventWaitDefault                0x0
#define cudaEventWaitExternal               0x1
#define cudaHostAllocDefault                0x0
#define cudaHostAllocPortable               0x1
#define cudaHostAllocMapped                 0x2
#define cudaHostAllocWriteCombined          0x4
#define cudaHostRegisterDefault             0x0
#define cudaHostRegisterPortable            0x1
#define cudaHostRegisterMapped              0x2
#define cudaHostRegisterIoMemory            0x4
#define cudaHostRegisterReadOnly            0x8
#define cudaPeerAccessDefault               0x0
#define cudaDeviceScheduleAuto              0x0
#define cudaDeviceScheduleSpin              0x1
#define cudaDeviceScheduleYield             0x2
#define cudaDeviceScheduleBlockingSync      0x4
#define cudaDeviceBlockingSync              0x4
#define cudaDeviceMapHost                   0x8
#define cudaDeviceLmemResizeToMax           0x10
#define cudaMemAttachGlobal                 0x1
#define cudaMemAttachHost                   0x2
#define cudaMemAttachSingle                 0x4
#define cudaArrayDefault                    0x0
#define cudaArrayLayered                    0x1
#define cudaArraySurfaceLoadStore           0x2
#define cudaArrayCubemap                    0x4
#define cudaArrayTextureGather              0x8
#define cudaOccupancyDefault                0x0
#define cudaOccupancyDisableCachingOverride 0x1
#define cudaCpuDeviceId                     (-1)
#define cudaInvalidDeviceId                 (-2)
#define cudaIpcMemLazyEnablePeerAccess      0x1

#endif
