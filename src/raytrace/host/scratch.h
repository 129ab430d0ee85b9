/* src/raytrace/host/scratch.h. Memory for the kernels of one call.
   Uses: config.h, types.h, status.h. Used by: launch.h, trace/host/build.h. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_SCRATCH)
#define RAYT__PART_SCRATCH
/* ============================== SCRATCH ======================================================= */
/* Memory for the kernels of one call, in the order of the stream where the device can do that. */
typedef struct rayt__scratch {
    char *memory;
    int in_order;
} rayt__scratch;

/* A pool of this header's own for a device, which keeps its memory. The default pool would give it
   back at every synchronisation, and each call would wait for memory again. NULL if there is none.
   The first call makes it. C++ lets one thread at a time initialise a static variable, and those of
   `inline` functions are the same in all files of a program. */
inline cudaMemPool_t rayt__make_pool(int device)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool = NULL;
    unsigned long long keep = 64u << 20; /* more than that goes back when it is not used */
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    if (cudaMemPoolCreate(&pool, &props) != cudaSuccess) pool = NULL;
    if (pool != NULL) /* refused, the pool only keeps less */
        (void)cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    return pool;
}

inline cudaMemPool_t rayt__pool(int device)
{
#define RAYT__POOL(device, n)                                 \
    if ((device) == n) {                                      \
        static const cudaMemPool_t pool = rayt__make_pool(n); \
        return pool;                                          \
    }
    RAYT__POOL(device, 0)
    RAYT__POOL(device, 1)
    RAYT__POOL(device, 2)
    RAYT__POOL(device, 3)
    RAYT__POOL(device, 4)
    RAYT__POOL(device, 5)
    RAYT__POOL(device, 6)
    RAYT__POOL(device, 7)
#undef RAYT__POOL
    return NULL;
}

static inline rayt_status rayt__scratch_alloc(rayt__scratch *scratch, size_t bytes,
                                              cudaStream_t stream)
{
    int device = -1;
    scratch->memory = NULL;
    scratch->in_order = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&scratch->in_order, cudaDevAttrMemoryPoolsSupported, device);
    if (error != cudaSuccess) return rayt__cuda(error, "scratch memory");
    cudaMemPool_t pool = scratch->in_order ? rayt__pool(device) : NULL;
    if (pool != NULL) /* refused, the default pool may still have some */
        error = cudaMallocFromPoolAsync((void **)&scratch->memory, bytes, pool, stream);
    if (scratch->in_order && (pool == NULL || error != cudaSuccess))
        error = cudaMallocAsync((void **)&scratch->memory, bytes, stream);
    if (!scratch->in_order) error = cudaMalloc((void **)&scratch->memory, bytes);
    return rayt__cuda(error, "scratch memory");
}

/* Returns `status`, or what went wrong here if that is RAYT_OK. */
static inline rayt_status rayt__scratch_free(rayt__scratch *scratch, cudaStream_t stream,
                                             rayt_status status)
{
    cudaError_t error;
    if (scratch->in_order) {
        error = cudaFreeAsync(scratch->memory, stream);
    } else {
        error = cudaStreamSynchronize(stream); /* the kernels may still be at work */
        if (error == cudaSuccess) error = cudaFree(scratch->memory);
    }
    return status == RAYT_OK ? rayt__cuda(error, "release of scratch memory") : status;
}
#endif
