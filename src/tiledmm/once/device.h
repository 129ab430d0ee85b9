/* src/tiledmm/once/device.h. What is known of a device; memory pools and workspaces.
   Uses: once/. Used by: host/, launch/, arguments.h, costs.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* What is known of a kernel on a device. CUDA takes up to a few tenths of a millisecond for an
   answer, so each question is asked once. */
typedef struct tmm__kernel_facts {
    const void *kernel; /* NULL: this place is free */
    int has_shared;     /* a launch may ask for as much shared memory as the device has */
    int has_carveout;   /* tmm__prefer_l1 has been asked for */
    int has_attributes, ptx_version, static_shared; /* cudaFuncAttributes */
    int has_clusters;
    /* How many clusters of n blocks fit on the device at once. */
    int clusters[TMM__MOST_CLUSTER + 1];
} tmm__kernel_facts;

/* What is known of a device. A thread keeps those of TMM__KNOWN devices, device n at place n %
   TMM__KNOWN. */
enum { TMM__KNOWN = 8, TMM__KNOWN_KERNELS = 128, TMM__KNOWN_CHOICES = 32 };
typedef struct tmm__device {
    int processors; /* multiprocessors; 1 if there is no device, for the launch to report that */
    int capability; /* 10 major + minor */
    int pools;      /* has memory pools, for stream-ordered allocation */
    int number;     /* as for cudaSetDevice; -1 if there is no device */
    int shared;     /* bytes of shared memory that a block can have, asked for */
    double bandwidth, arithmetic; /* by the data sheet: bytes and float operations a second */
    tmm__gpu gpu;                 /* what it does: see once/tuning.h */
    tmm__kernel_facts *kernels;   /* TMM__KNOWN_KERNELS of them, found by their address */
} tmm__device;

/* Attribute `what` of a device, or `otherwise` if CUDA does not tell. */
static inline int tmm__attribute(cudaDeviceAttr what, int device, int otherwise)
{
    int value = 0;
    return tmm__succeeded(cudaDeviceGetAttribute(&value, what, device)) ? value : otherwise;
}

/* What a device does: as measured, or by its data sheet, of which an H200 reaches the clock,
   0.95 of the memory's speed and 5/8 of L2. Clocks are in kHz, which not every device tells. */
static inline void tmm__find_gpu(tmm__device *known, int number)
{
    const int clock = tmm__attribute(cudaDevAttrClockRate, number, 0);
    const int memory = tmm__attribute(cudaDevAttrMemoryClockRate, number, 0);
    const int width = tmm__attribute(cudaDevAttrGlobalMemoryBusWidth, number, 0);
    const double hertz = 1e3 * (clock > 0 ? clock : 1.5e6);
    tmm__gpu sheet = tmm__gpus[0];
    known->arithmetic = 2.0 * 128 * known->processors * hertz;
    known->bandwidth =
        memory > 0 && width > 0 ? 2.0 * memory * 1e3 * (width / 8) : known->arithmetic / 20;
    sheet.device = "by its data sheet";
    sheet.capability = known->capability;
    sheet.bus_width = width, sheet.processors = known->processors;
    sheet.l2_bytes = 0.625 * tmm__attribute(cudaDevAttrL2CacheSize, number, 4 << 20);
    sheet.clock = 1e-9 * hertz, sheet.memory = 0.94e-9 * known->bandwidth;
    known->gpu = tmm__gpu_for(&sheet);
}

/* The device of the product that this thread makes, NULL outside of one: CUDA is asked once for a
   product, not for each plan. */
static inline tmm__device **tmm__device_of_product(void)
{
    static thread_local tmm__device *device;
    return &device;
}

static inline tmm__device *tmm__current_device(void)
{
    static thread_local tmm__device devices[TMM__KNOWN]; /* processors is 0: not known yet */
    static thread_local tmm__kernel_facts kernels[TMM__KNOWN][TMM__KNOWN_KERNELS];
    int number = 0;
    if (*tmm__device_of_product() != NULL) return *tmm__device_of_product();
    if (!tmm__succeeded(cudaGetDevice(&number))) number = -1;
    int place = number > 0 ? number % TMM__KNOWN : 0;
    tmm__device *known = &devices[place];
    if (known->processors > 0 && known->number == number && number >= 0) return known;
    int count = tmm__attribute(cudaDevAttrMultiProcessorCount, number, 0);
    int major = tmm__attribute(cudaDevAttrComputeCapabilityMajor, number, 0);
    int minor = tmm__attribute(cudaDevAttrComputeCapabilityMinor, number, 0);
    int shared = tmm__attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, number, 0);
    memset(kernels[place], 0, sizeof kernels[place]);
    known->kernels = kernels[place];
    known->number = count > 0 ? number : -1;
    known->processors = count > 0 ? count : 1;
    known->capability = 10 * major + minor;
    known->pools = tmm__attribute(cudaDevAttrMemoryPoolsSupported, number, 0);
    known->shared = shared > 49152 ? shared : 49152;
    tmm__find_gpu(known, number);
    return known;
}

/* The record of a kernel on the current device. If all places are taken, one that knows nothing. */
static inline tmm__kernel_facts *tmm__facts(const void *kernel)
{
    static thread_local tmm__kernel_facts none;
    tmm__kernel_facts *kernels = tmm__current_device()->kernels;
    size_t place = (size_t)kernel / 16 * 0x9E3779B1u;
    for (int tries = 0; tries < TMM__KNOWN_KERNELS; tries++, place++) {
        tmm__kernel_facts *facts = &kernels[place % TMM__KNOWN_KERNELS];
        if (facts->kernel == NULL) facts->kernel = kernel;
        if (facts->kernel == kernel) return facts;
    }
    memset(&none, 0, sizeof none);
    return &none;
}

/* As much L1 as there can be while a kernel runs: else it stays what the kernel before it left.
   Without it the kernel is only slower. */
static inline void tmm__prefer_l1(const void *kernel)
{
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_carveout) return;
    facts->has_carveout = 1;
    (void)tmm__succeeded(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
}

/* For which PTX version a kernel was compiled (90: sm_90), and its static shared memory. */
static inline const tmm__kernel_facts *tmm__compiled(const void *kernel)
{
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_attributes) return facts;
    cudaFuncAttributes attributes;
    facts->has_attributes = 1;
    facts->ptx_version = facts->static_shared = 0;
    if (tmm__succeeded(cudaFuncGetAttributes(&attributes, kernel))) {
        facts->ptx_version = attributes.ptxVersion;
        facts->static_shared = (int)attributes.sharedSizeBytes;
    }
    return facts;
}

/* Lets a kernel have more shared memory than the 48 KB that all may have, static included. The limit is
   the kernel's, for all threads of the process, so it is the most that a block can have: a smaller
   one would refuse another thread's larger product. */
static inline tmm_status tmm__allow_shared(const void *kernel, int bytes)
{
    if (bytes == 0) return TMM_OK;
    const int own = tmm__compiled(kernel)->static_shared;
    if (bytes + own <= 49152) return TMM_OK;
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_shared) return TMM_OK;
    const int most = tmm__current_device()->shared - own;
    tmm_status status =
        tmm__cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                  "cudaFuncSetAttribute");
    facts->has_shared = status == TMM_OK;
    return status;
}

/* CUDA's record may hold an error of before, which is no concern of this launch: its own status
   counts. */
static inline tmm_status tmm__launch(const void *kernel, dim3 grid, dim3 block, int bytes,
                                     void **arguments, tmm_stream stream)
{
    tmm_status status = tmm__allow_shared(kernel, bytes);
    if (status != TMM_OK) return status;
    return tmm__launched(cudaLaunchKernel(kernel, grid, block, arguments, (size_t)bytes, stream));
}

/* Whether attributes can be given to a launch, such as clusters: with nvcc from CUDA 11.8 on. */
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1108
#define TMM__CLUSTER_LAUNCH 1
#else
#define TMM__CLUSTER_LAUNCH 0
#endif

/* Can this kernel be launched in clusters? Not before sm_90, nor if it was compiled for an older
   device. */
static inline int tmm__has_clusters(const void *kernel)
{
    return TMM__CLUSTER_LAUNCH && tmm__current_device()->capability >= 90 &&
           tmm__compiled(kernel)->ptx_version >= 90;
}

/* Shared memory of a block of a cluster: `cluster` slices of its part of `vectors` x 128 items. */
static inline int tmm__cluster_bytes(int cluster, int vectors, int item)
{
    return cluster * ((vectors - 1) / cluster + 1) * 128 * item;
}

#if TMM__CLUSTER_LAUNCH
/* A launch with `cluster` blocks to a cluster. */
static inline cudaLaunchConfig_t tmm__cluster_config(cudaLaunchAttribute attributes[2], dim3 grid,
                                                     dim3 block, int cluster, int bytes,
                                                     tmm_stream stream)
{
    cudaLaunchConfig_t config = cudaLaunchConfig_t();
    memset(attributes, 0, 2 * sizeof *attributes);
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = (size_t)bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 1;
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = (unsigned)cluster;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    return config;
}
#endif

/* Launches a kernel with `cluster` blocks to a cluster, or 1. `early`: the kernel itself waits
   for the launch before it in the stream, so from sm_90 on it may begin while that one still
   works. */
static inline tmm_status tmm__launch_clusters(const void *kernel, dim3 grid, dim3 block,
                                              int cluster, int early, int bytes, void **arguments,
                                              tmm_stream stream)
{
#if TMM__CLUSTER_LAUNCH
    if ((early || cluster > 1) && tmm__has_clusters(kernel)) {
        cudaLaunchAttribute attributes[2];
        cudaLaunchConfig_t config =
            tmm__cluster_config(attributes, grid, block, cluster, bytes, stream);
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        config.attrs = cluster > 1 ? attributes : attributes + 1;
        config.numAttrs = (cluster > 1) + (early != 0);
        const tmm_status status = tmm__allow_shared(kernel, bytes);
        if (status != TMM_OK) return status;
        return tmm__launched(cudaLaunchKernelExC(&config, kernel, arguments));
    }
#endif
    (void)cluster, (void)early;
    return tmm__launch(kernel, grid, block, bytes, arguments, stream);
}

/* How many clusters of n blocks of this kernel fit on the current device at once, n up to
   TMM__MOST_CLUSTER. A block has 128 threads and `base` bytes of shared memory besides. */
static inline const int *tmm__clusters(const void *kernel, int base, int vectors, int item)
{
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_clusters) return facts->clusters;
    int clusters[TMM__MOST_CLUSTER + 1] = {0};
#if TMM__CLUSTER_LAUNCH
    for (int n = 2; n <= TMM__MOST_CLUSTER && tmm__has_clusters(kernel); n++) {
        const int bytes = base + tmm__cluster_bytes(n, vectors, item);
        cudaLaunchAttribute attributes[2];
        const cudaLaunchConfig_t config =
            tmm__cluster_config(attributes, dim3((unsigned)n), 128, n, bytes, 0);
        if (tmm__allow_shared(kernel, bytes) != TMM_OK ||
            !tmm__succeeded(cudaOccupancyMaxActiveClusters(&clusters[n], kernel, &config)))
            clusters[n] = 0;
    }
#else
    (void)base, (void)vectors, (void)item;
#endif
    facts = tmm__facts(kernel); /* which others have changed if all places are taken */
    facts->has_clusters = 1;
    memcpy(facts->clusters, clusters, sizeof clusters);
    return facts->clusters;
}

/* The pool that workspaces of a device come from; NULL if there is none. C++ sees to it that one
   thread makes it, when first asked for, and that `inline` functions have one in all files of a
   program. What is not used goes back but for TMM__RELEASE_THRESHOLD bytes, or what
   tmm_?gemm_host asks for. */
#define TMM__RELEASE_THRESHOLD (64ull << 20)
inline cudaMemPool_t tmm__make_pool(int device)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool = NULL;
    unsigned long long keep = TMM__RELEASE_THRESHOLD;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    /* In another mode a first call that is captured would end the capture with an error. */
    const int exchanged = tmm__succeeded(cudaThreadExchangeStreamCaptureMode(&mode));
    if (!tmm__succeeded(cudaMemPoolCreate(&pool, &props))) pool = NULL;
    /* Refused, the pool only keeps less. */
    if (pool != NULL)
        (void)tmm__succeeded(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (exchanged) (void)cudaThreadExchangeStreamCaptureMode(&mode);
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
   there is none. The device's default pool would give it back to the system at every
   synchronisation. */
static inline void *tmm__workspace(size_t bytes, tmm_stream stream)
{
    const tmm__device *device = tmm__current_device();
    void *memory = NULL;
    if (!device->pools || device->number < 0) return NULL;
    cudaMemPool_t pool = tmm__pool(device->number);
    if (pool == NULL) return NULL;
    if (!tmm__succeeded(cudaMallocFromPoolAsync(&memory, bytes, pool, stream))) return NULL;
    return memory;
}

/* The status of a call that cannot do without such memory and got none. A device that has failed gives
   none, either. */
static inline tmm_status tmm__no_workspace(const char *use, size_t bytes, tmm_stream stream)
{
    void *memory = NULL;
    const cudaError_t error = cudaMallocAsync(&memory, bytes, stream);
    if (error == cudaSuccess) (void)cudaFreeAsync(memory, stream);
    if (tmm__is_sticky(error)) return tmm__launched(error);
    (void)tmm__succeeded(error);
    return tmm__fail(TMM_ERROR_MEMORY, "no memory %s: %zu bytes", use, bytes);
}

/* A number that memory does not hold by chance, another one for every launch of a thread.
   Launches of other threads have flags of their own. */
static inline unsigned long long tmm__ticket(void)
{
    static thread_local unsigned long long count;
    unsigned long long z = (size_t)&count * 0x9E3779B97F4A7C15ull + ++count;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull; /* splitmix64: one number for each, and no zero */
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) | 1;
}
#endif
