/* src/tiledmm/host/memory.h. Memory that is kept for the next call.
   Uses: job.h, once/. Used by: host/, callers. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* One record for the program, of pinned memory, which is slow to allocate. Device memory stays
   in the pools. */
typedef struct tmm__kept_memory {
    void *pinned;
    size_t bytes;
    int at_exit;    /* tmm_host_release will be called at the end of the program */
    unsigned pools; /* bit n: the pool of device n keeps more than TMM__RELEASE_THRESHOLD */
#if TMM__THREADS
    pthread_mutex_t lock;
#endif
} tmm__kept_memory;

inline tmm__kept_memory *tmm__kept(void)
{
#if TMM__THREADS
    static tmm__kept_memory kept = {NULL, 0, 0, 0, PTHREAD_MUTEX_INITIALIZER};
#else
    static tmm__kept_memory kept;
#endif
    return &kept;
}

TMM_API void tmm_host_release(void);

/* Pinned memory begins with a page that holds this number. cudaDeviceReset frees it without
   telling this header, and the address may then belong to somebody else. CUDA says whether
   memory there is pinned, the number whether it is ours. */
enum { TMM__PINNED_HEAD = 4096 };
static inline unsigned long long tmm__pinned_mark(const void *pinned)
{
    return (size_t)pinned ^ 0x9E3779B97F4A7C15ull;
}

static inline int tmm__still_pinned(const void *pinned)
{
    cudaPointerAttributes attributes;
    return pinned != NULL && tmm__succeeded(cudaPointerGetAttributes(&attributes, pinned)) &&
           attributes.type == cudaMemoryTypeHost &&
           *(const unsigned long long *)pinned == tmm__pinned_mark(pinned);
}

/* Bytes that a device's pool holds and nobody uses. */
static inline size_t tmm__pool_idle(int device)
{
    unsigned long long reserved = 0, used = 0;
    cudaMemPool_t pool = tmm__pool(device);
    if (pool == NULL ||
        !tmm__succeeded(
            cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved)) ||
        !tmm__succeeded(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used)))
        return 0;
    return reserved > used ? (size_t)(reserved - used) : 0;
}

static inline void *tmm__kept_exchange(void *pinned, size_t bytes, size_t *old_bytes)
{
    tmm__kept_memory *kept = tmm__kept();
    TMM__LOCK(&kept->lock);
    void *old = kept->pinned;
    *old_bytes = kept->bytes;
    kept->pinned = pinned;
    kept->bytes = bytes;
    if (pinned != NULL && !kept->at_exit) kept->at_exit = atexit(tmm_host_release) == 0;
    TMM__UNLOCK(&kept->lock);
    return old;
}

/* Lets a device's pool keep `bytes` more than TMM__RELEASE_THRESHOLD. 1 on success. */
static inline int tmm__pool_keep(int device, unsigned long long bytes)
{
    tmm__kept_memory *kept = tmm__kept();
    cudaMemPool_t pool = tmm__pool(device);
    bytes += TMM__RELEASE_THRESHOLD;
    if (pool == NULL ||
        !tmm__succeeded(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes)))
        return 0;
    TMM__LOCK(&kept->lock);
    kept->pools =
        bytes > TMM__RELEASE_THRESHOLD ? kept->pools | 1u << device : kept->pools & ~(1u << device);
    TMM__UNLOCK(&kept->lock);
    return 1;
}

TMM_API void tmm_host_release(void)
{
    tmm__kept_memory *kept = tmm__kept();
    size_t bytes;
    void *pinned = tmm__kept_exchange(NULL, 0, &bytes);
    if (tmm__still_pinned(pinned)) (void)tmm__succeeded(cudaFreeHost(pinned));
    TMM__LOCK(&kept->lock);
    unsigned pools = kept->pools;
    TMM__UNLOCK(&kept->lock);
    for (int device = 0; pools >> device != 0; device++)
        if (pools >> device & 1 && tmm__pool_keep(device, 0))
            (void)tmm__succeeded(cudaMemPoolTrimTo(tmm__pool(device), TMM__RELEASE_THRESHOLD));
}

/* Memory of the current device, in the order of `stream`; from *pool, the device's, if it has
   one. The pool keeps it for the next call, up to an eighth of the device's memory: mapping it
   anew is slow. */
static inline cudaError_t tmm__device_memory(char **memory, size_t bytes, cudaMemPool_t *pool,
                                             cudaStream_t stream)
{
    size_t free_bytes = 0, total = 0;
    int device = tmm__current_device()->number;
    *pool = tmm__current_device()->pools ? tmm__pool(device) : NULL;
    if (*pool != NULL) {
        if (tmm__pool_idle(device) < bytes) (void)tmm__succeeded(cudaMemPoolTrimTo(*pool, 0));
        if (tmm__succeeded(cudaMemGetInfo(&free_bytes, &total)) &&
            tmm__pool_keep(device, tmm__min((long long)bytes, (long long)(total / 8))) &&
            tmm__succeeded(cudaMallocFromPoolAsync((void **)memory, bytes, *pool, stream)))
            return cudaSuccess;
        *pool = NULL;
        *memory = NULL;
    }
    cudaError_t error = cudaMalloc((void **)memory, bytes);
    if (error != cudaSuccess) *memory = NULL;
    return error;
}

static inline void tmm__device_memory_free(char *memory, cudaMemPool_t pool, cudaStream_t stream)
{
    if (memory == NULL) return;
    if (pool == NULL) {
        (void)tmm__succeeded(cudaFree(memory));
        return;
    }
    (void)tmm__succeeded(cudaFreeAsync(memory, stream));
    (void)tmm__succeeded(cudaStreamSynchronize(stream));
}

/* An event without a time, and a stream, unless there was an error. */
static inline cudaError_t tmm__event_open(cudaError_t error, cudaEvent_t *event)
{
    return error != cudaSuccess ? error : cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

static inline cudaError_t tmm__stream_open(cudaError_t error, cudaStream_t *stream)
{
    return error != cudaSuccess ? error : cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

static inline void tmm__stream_close(cudaStream_t stream)
{
    if (stream != NULL) (void)tmm__succeeded(cudaStreamDestroy(stream));
}

static inline void tmm__event_close(cudaEvent_t event)
{
    if (event != NULL) (void)tmm__succeeded(cudaEventDestroy(event));
}
#endif
