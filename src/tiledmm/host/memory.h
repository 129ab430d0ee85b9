/* src/tiledmm/host/memory.h. Memory that is kept for the next call.
   Uses: host/job.h. Used by: host/. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_MEMORY)
#define TMM__PART_HOST_MEMORY
/* ---- what is kept for the next call ---------------------------------------------------------- */
/* What is kept for the next call, of whatever file: pinned memory, of which to allocate 32 MB takes
   12 ms, and device memory, in the pools. */
typedef struct tmm__kept_memory {
    void *memory; /* pinned */
    size_t bytes;
    int at_exit;    /* so it will be freed then */
    unsigned pools; /* bit n: device n's keeps more than TMM__KEPT */
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

/* Bytes of a device's pool that are not in use. */
static inline size_t tmm__pool_idle(int device)
{
    unsigned long long has = 0, used = 0;
    cudaMemPool_t pool = tmm__pool(device);
    if (pool == NULL ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &has) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return has > used ? (size_t)(has - used) : 0;
}

/* Exchanges what is kept for `memory`, which may be NULL. */
static inline void *tmm__kept_exchange(void *memory, size_t bytes, size_t *old_bytes)
{
    tmm__kept_memory *kept = tmm__kept();
    TMM__LOCK(&kept->lock);
    void *old = kept->memory;
    *old_bytes = kept->bytes;
    kept->memory = memory;
    kept->bytes = bytes;
    if (memory != NULL && !kept->at_exit) kept->at_exit = atexit(tmm_host_release) == 0;
    TMM__UNLOCK(&kept->lock);
    return old;
}

/* Has a device's pool keep `bytes` more than TMM__KEPT. Returns 1 if it does. */
static inline int tmm__pool_keep(int device, unsigned long long bytes)
{
    tmm__kept_memory *kept = tmm__kept();
    cudaMemPool_t pool = tmm__pool(device);
    bytes += TMM__KEPT;
    if (pool == NULL ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    TMM__LOCK(&kept->lock);
    kept->pools = bytes > TMM__KEPT ? kept->pools | 1u << device : kept->pools & ~(1u << device);
    TMM__UNLOCK(&kept->lock);
    return 1;
}

TMM_API void tmm_host_release(void)
{
    tmm__kept_memory *kept = tmm__kept();
    size_t bytes;
    void *memory = tmm__kept_exchange(NULL, 0, &bytes);
    if (memory != NULL) (void)cudaFreeHost(memory);
    TMM__LOCK(&kept->lock);
    unsigned pools = kept->pools;
    TMM__UNLOCK(&kept->lock);
    for (int device = 0; pools >> device != 0; device++)
        if (pools >> device & 1 && tmm__pool_keep(device, 0))
            (void)cudaMemPoolTrimTo(tmm__pool(device), TMM__KEPT);
    (void)cudaGetLastError();
}
#endif
