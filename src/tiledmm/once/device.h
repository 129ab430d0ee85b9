/* src/tiledmm/once/device.h. What is known of a device; memory pools and workspaces.
   Uses: once/status.h. Used by: launchers, host/. */
#if TMM__HOST && !defined(TMM__PART_DEVICE)
#define TMM__PART_DEVICE
/* What the launchers ask of the current device. A thread remembers it, for device n at place
   n % TMM__KNOWN: some of the questions take CUDA a few tenths of a millisecond. */
enum { TMM__KNOWN = 16 };
typedef struct tmm__device {
    int processors; /* multiprocessors; 1 if there is no device, for the launch to report that */
    int capability; /* 10 major + minor */
    int pools;      /* has memory pools, for stream-ordered allocation */
    int number;     /* as for cudaSetDevice; -1 if there is no device */
    int shared;     /* bytes of shared memory that a block can have, asked for */
    double bandwidth, arithmetic; /* by the data sheet: bytes and float operations a second */
} tmm__device;

static inline const tmm__device *tmm__current_device(void)
{
    static thread_local tmm__device devices[TMM__KNOWN]; /* processors is 0: not known yet */
    int device = 0, major = 0, minor = 0, count = 0, pools = 0, clock = 0, memory = 0, width = 0;
    int shared = 0, there = cudaGetDevice(&device) == cudaSuccess;
    tmm__device *known = &devices[there && device > 0 ? device % TMM__KNOWN : 0];
    if (there && known->processors > 0 && known->number == device) return known;
    if (cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess ||
        cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device) != cudaSuccess) {
        (void)cudaGetLastError();
        device = -1;
    }
    known->processors = count > 0 ? count : 1;
    known->capability = 10 * major + minor;
    known->pools = pools;
    known->number = device;
    known->shared = shared > 49152 ? shared : 49152;
    /* For rules of thumb; clocks in kHz, which not every device tells, width in bits. */
    (void)cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
    (void)cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device);
    (void)cudaDeviceGetAttribute(&width, cudaDevAttrGlobalMemoryBusWidth, device);
    (void)cudaGetLastError();
    known->arithmetic = 2.0 * 128 * known->processors * (clock > 0 ? clock : 1.5e6) * 1e3;
    known->bandwidth =
        memory > 0 && width > 0 ? 2.0 * memory * 1e3 * (width / 8) : known->arithmetic / 20;
    return known;
}

/* Lets a kernel have more shared memory than the 48 KB that all may have; once for each device,
   which *asked remembers (one bit for each device). */
static inline tmm_status tmm__allow_shared(const void *kernel, int bytes, unsigned long long *asked)
{
    int device = tmm__current_device()->number;
    unsigned long long bit = device >= 0 && device < 64 ? 1ull << device : 0;
    if (bytes <= 49152 || (*asked & bit)) return TMM_OK;
    tmm_status status =
        tmm__cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                  "cudaFuncSetAttribute");
    if (status == TMM_OK) *asked |= bit;
    return status;
}

/* What is known of clusters of the blocks of a kernel on a device. */
typedef struct tmm__clusters {
    int asked;                       /* the device's number + 1 */
    int most[TMM__MOST_CLUSTER + 1]; /* so many clusters of so many blocks fit on it at once */
} tmm__clusters;

/* Whether clusters can be asked for when a kernel is launched: with nvcc from CUDA 11.8 on. */
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1108
#define TMM__CLUSTER_LAUNCH 1

/* How `blocks` blocks of 128 threads are to be launched, `cluster` of them to a cluster. */
static inline void tmm__cluster_config(cudaLaunchConfig_t *config, cudaLaunchAttribute *attribute,
                                       int blocks, int cluster, int bytes, tmm_stream stream)
{
    *config = cudaLaunchConfig_t();
    memset(attribute, 0, sizeof *attribute);
    config->gridDim = dim3((unsigned)blocks);
    config->blockDim = dim3(128);
    config->dynamicSmemBytes = (size_t)bytes;
    config->stream = stream;
    config->attrs = attribute;
    config->numAttrs = 1;
    attribute->id = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim.x = (unsigned)cluster;
    attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
}
#else
#define TMM__CLUSTER_LAUNCH 0
#endif

/* Shared memory of a block for `cluster` pieces of its part of `fours` times 128 items. */
static inline int tmm__cluster_bytes(int cluster, int fours, int item)
{
    return cluster * ((fours - 1) / cluster + 1) * 128 * item;
}

/* Asks what is to be known of clusters of this kernel: none before sm_90, or if the kernel was
   compiled for an older device. */
static inline void tmm__ask_clusters(tmm__clusters *known, const void *kernel, int fours, int item)
{
    const tmm__device *device = tmm__current_device();
    if (known->asked == device->number + 1) return;
    memset(known, 0, sizeof *known);
    known->asked = device->number + 1;
#if TMM__CLUSTER_LAUNCH
    cudaFuncAttributes compiled;
    int bytes = 0;
    for (int n = 2; n <= TMM__MOST_CLUSTER; n++)
        if (tmm__cluster_bytes(n, fours, item) > bytes) bytes = tmm__cluster_bytes(n, fours, item);
    if (device->capability >= 90 && cudaFuncGetAttributes(&compiled, kernel) == cudaSuccess &&
        compiled.ptxVersion >= 90 &&
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
            cudaSuccess)
        for (int n = 2; n <= TMM__MOST_CLUSTER; n++) {
            cudaLaunchConfig_t config;
            cudaLaunchAttribute attribute;
            tmm__cluster_config(&config, &attribute, n, n, tmm__cluster_bytes(n, fours, item), 0);
            if (cudaOccupancyMaxActiveClusters(&known->most[n], kernel, &config) != cudaSuccess)
                known->most[n] = 0;
        }
    (void)cudaGetLastError();
#else
    (void)kernel, (void)fours, (void)item;
#endif
}

/* The pool that workspaces of a device come from; NULL if there is none. Made when first asked for,
   by one thread at a time: C++ sees to that for static variables, and that `inline` ones are the
   same in all files of a program. What is not used goes back but for TMM__KEPT bytes, or what
   tmm_?gemm_host asks for. */
#define TMM__KEPT (64ull << 20)
inline cudaMemPool_t tmm__make_pool(int device)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool = NULL;
    unsigned long long keep = TMM__KEPT;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    if (cudaMemPoolCreate(&pool, &props) != cudaSuccess) pool = NULL;
    if (pool != NULL) /* refused, the pool only keeps less */
        (void)cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    (void)cudaGetLastError();
    return pool;
}

inline cudaMemPool_t tmm__pool(int device)
{
    switch (device) {
#define TMM__POOL(n)                                      \
    case n: {                                             \
        static cudaMemPool_t pool##n = tmm__make_pool(n); \
        return pool##n;                                   \
    }
        TMM__POOL(0);
        TMM__POOL(1);
        TMM__POOL(2);
        TMM__POOL(3);
        TMM__POOL(4);
        TMM__POOL(5);
        TMM__POOL(6);
        TMM__POOL(7);
        TMM__POOL(8);
        TMM__POOL(9);
        TMM__POOL(10);
        TMM__POOL(11);
        TMM__POOL(12);
        TMM__POOL(13);
        TMM__POOL(14);
        TMM__POOL(15);
#undef TMM__POOL
    }
    return NULL;
}

/* Device memory for one launch, to be given back with cudaFreeAsync on the same stream; NULL if
   there is none. It comes from a pool of this header's own, one a device, that keeps what it has
   once got: the device's default pool would give it back at every synchronisation. */
static inline void *tmm__workspace(size_t bytes, tmm_stream stream)
{
    int device = 0;
    void *memory = NULL;
    if (!tmm__current_device()->pools || cudaGetDevice(&device) != cudaSuccess) return NULL;
    cudaMemPool_t pool = tmm__pool(device);
    if (pool == NULL) return NULL;
    if (cudaMallocFromPoolAsync(&memory, bytes, pool, stream) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

/* A number that no other launch under way in this program has, nor memory holds by chance. */
static inline unsigned long long tmm__ticket(void)
{
    static thread_local unsigned long long count;
    unsigned long long z = (size_t)&count * 0x9E3779B97F4A7C15ull + ++count;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull; /* splitmix64: one number for each, and no zero */
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) | 1;
}
#endif
