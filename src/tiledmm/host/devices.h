/* src/tiledmm/host/devices.h. All devices: their memory and streams, and the run from the first copy to the last.
   Uses: host/one_device.h, host/shares.h. Used by: type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_DEVICES)
#define TMM__PART_HOST_DEVICES
/* Memory of the current device for use behind `stream`, from the device's pool if there is one
   (*pool, else NULL). The pool keeps it, up to an eighth of the device's memory, for the next call:
   to map gigabytes takes milliseconds, and with peers to map them for, many. */
static inline cudaError_t tmm__device_memory(char **memory, size_t bytes, cudaMemPool_t *pool,
                                             cudaStream_t stream)
{
    size_t free_bytes = 0, total = 0;
    int device = tmm__current_device()->number;
    *pool = tmm__current_device()->pools ? tmm__pool(device) : NULL;
    if (*pool != NULL) {
        if (tmm__pool_idle(device) < bytes) (void)cudaMemPoolTrimTo(*pool, 0);
        if (cudaMemGetInfo(&free_bytes, &total) == cudaSuccess &&
            tmm__pool_keep(device, tmm__min((long long)bytes, (long long)(total / 8))) &&
            cudaMallocFromPoolAsync((void **)memory, bytes, *pool, stream) == cudaSuccess)
            return cudaSuccess;
        (void)cudaGetLastError();
        *pool = NULL;
        *memory = NULL;
    }
    return cudaMalloc((void **)memory, bytes);
}

static inline void tmm__device_memory_free(char *memory, cudaMemPool_t pool, cudaStream_t stream)
{
    if (memory == NULL) return;
    if (pool == NULL) {
        (void)cudaFree(memory);
        return;
    }
    (void)cudaFreeAsync(memory, stream);
    (void)cudaStreamSynchronize(stream);
}

/* An array of `count` numbers -1. */
static inline long long *tmm__nowhere(long long count)
{
    long long *where = (long long *)malloc((size_t)(count + 1) * sizeof *where);
    for (long long n = 0; n <= count && where != NULL; n++) where[n] = -1;
    return where;
}

/* Memory, streams and events of a device. */
static inline tmm_status tmm__worker_open(tmm__host *h, tmm__worker *w)
{
    const tmm__layout *l = &w->layout;
    const tmm_host_options *o = h->options;
    w->A = (tmm__slot *)calloc((size_t)l->nA + 1, sizeof *w->A);
    w->B = (tmm__slot *)calloc((size_t)l->nB + 1, sizeof *w->B);
    w->C = (tmm__place *)calloc((size_t)l->nC + 1, sizeof *w->C);
    w->whereA = tmm__nowhere(l->ni * l->nk);
    w->whereB = tmm__nowhere(l->nj * l->nk);
    w->whereC = tmm__nowhere(l->ni * l->nj);
    w->tasks = (tmm__task *)malloc((size_t)w->task_count * sizeof *w->tasks);
    if (!w->A || !w->B || !w->C || !w->whereA || !w->whereB || !w->whereC || !w->tasks)
        return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the list of %lld blocks",
                         w->task_count);
    (void)tmm__order(l, w->tasks);
    cudaError_t error = cudaSetDevice(w->device);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&w->in, cudaStreamNonBlocking);
    if (error != cudaSuccess) return tmm__on(w->device, error, "cudaSetDevice or stream");
    if (o->workspace != NULL) {
        w->memory = (char *)o->workspace[w->number];
        w->memory += (256 - (size_t)w->memory % 256) % 256;
    } else {
        error = tmm__device_memory(&w->memory, l->bytes, &w->pool, w->in);
        if (error != cudaSuccess) return tmm__on(w->device, error, "cudaMalloc");
        w->owns_memory = 1;
    }
#define TMM__TRY(call) \
    if (error == cudaSuccess) error = call
    TMM__TRY(cudaStreamCreateWithFlags(&w->peer, cudaStreamNonBlocking));
    TMM__TRY(cudaStreamCreateWithFlags(&w->out, cudaStreamNonBlocking));
    for (int s = 0; s < h->streams; s++)
        TMM__TRY(cudaStreamCreateWithFlags(&w->compute[s], cudaStreamNonBlocking));
    TMM__TRY(cudaEventCreate(&w->start));
    for (int n = 0; n < TMM__AHEAD; n++)
        TMM__TRY(cudaEventCreateWithFlags(&w->last[n], cudaEventDisableTiming));
    char *memory = w->memory;
    for (long long n = 0; n < l->nA + l->nB; n++) {
        int which = n >= l->nA;
        tmm__slot *slot = which ? &w->B[n - l->nA] : &w->A[n];
        size_t pitch, bytes = which ? l->bytesB : l->bytesA;
        if (l->group == 0)
            bytes =
                tmm__part_bytes(&h->job, l, which, (slot - (which ? w->B : w->A)) % l->nk, &pitch);
        slot->memory = memory;
        memory += bytes;
        slot->holds = slot->last = -1;
        TMM__TRY(cudaEventCreateWithFlags(&slot->copy.event, cudaEventDisableTiming));
        for (int s = 0; s < h->streams; s++)
            TMM__TRY(cudaEventCreateWithFlags(&slot->used[s], cudaEventDisableTiming));
    }
    for (long long n = 0; n < l->nC; n++) {
        tmm__place *block = &w->C[n];
        block->memory = memory;
        memory += l->bytesC;
        TMM__TRY(cudaEventCreateWithFlags(&block->in.event, cudaEventDisableTiming));
        TMM__TRY(cudaEventCreateWithFlags(&block->computed, cudaEventDisableTiming));
        TMM__TRY(cudaEventCreate(&block->out.event));
    }
#undef TMM__TRY
    return tmm__on(w->device, error, "stream or event");
}

static inline void tmm__worker_close(tmm__host *h, tmm__worker *w)
{
    (void)cudaSetDevice(w->device);
#define TMM__EVENT(event) \
    if (event != NULL) (void)cudaEventDestroy(event)
    for (long long n = 0; n < w->layout.nA + w->layout.nB; n++) {
        tmm__slot *slots = n < w->layout.nA ? w->A : w->B;
        tmm__slot *slot = &slots[n < w->layout.nA ? n : n - w->layout.nA];
        if (slots == NULL) continue;
        TMM__EVENT(slot->copy.event);
        for (int s = 0; s < TMM__MOST_STREAMS; s++) TMM__EVENT(slot->used[s]);
    }
    for (long long n = 0; n < w->layout.nC && w->C != NULL; n++) {
        TMM__EVENT(w->C[n].in.event);
        TMM__EVENT(w->C[n].computed);
        TMM__EVENT(w->C[n].out.event);
    }
    for (int n = 0; n < h->chunk_count; n++)
        if (h->chunks[n].events != NULL) TMM__EVENT(h->chunks[n].events[w->number]);
    TMM__EVENT(w->start);
    for (int n = 0; n < TMM__AHEAD; n++) TMM__EVENT(w->last[n]);
#undef TMM__EVENT
    if (w->owns_memory) tmm__device_memory_free(w->memory, w->pool, w->in);
    if (w->in != NULL) (void)cudaStreamDestroy(w->in);
    if (w->peer != NULL) (void)cudaStreamDestroy(w->peer);
    if (w->out != NULL) (void)cudaStreamDestroy(w->out);
    for (int s = 0; s < TMM__MOST_STREAMS; s++)
        if (w->compute[s] != NULL) (void)cudaStreamDestroy(w->compute[s]);
    free(w->A);
    free(w->B);
    free(w->C);
    free(w->whereA);
    free(w->whereB);
    free(w->whereC);
    free(w->tasks);
}

/* Is this matrix in memory that copies must pass through a pinned ring for? */
static inline tmm_status tmm__is_staged(const char *name, const char *X, size_t bytes, int *staged)
{
    const char *ends[2] = {X, X + (bytes > 0 ? bytes - 1 : 0)};
    *staged = 0;
    if (X == NULL || bytes == 0) return TMM_OK;
    for (int n = 0; n < 2; n++) {
        cudaPointerAttributes attributes;
        if (cudaPointerGetAttributes(&attributes, ends[n]) != cudaSuccess) {
            (void)cudaGetLastError(); /* before CUDA 11, what malloc gave is an error */
            *staged = 1;
        } else if (attributes.type == cudaMemoryTypeDevice) {
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%s is device memory, but must be host memory (tmm_?gemm and "
                             "tmm_?gemm_multi take device memory)",
                             name);
        } else if (attributes.type == cudaMemoryTypeUnregistered) {
            *staged = 1;
        }
    }
    return TMM_OK;
}

/* The pinned ring and its helpers. */
static inline tmm_status tmm__ring_open(tmm__host *h)
{
    const tmm_host_options *o = h->options;
    int threads = tmm__crew_size(o->threads);
    h->chunk_count = threads > 1 ? 2 * threads : 4;
    size_t skip = 0;
    if (o->pinned != NULL) {
        skip = (256 - (size_t)o->pinned % 256) % 256;
        size_t most = o->pinned_bytes > skip ? (o->pinned_bytes - skip) / TMM__HOST_CHUNK : 0;
        if (most < 2) {
            h->chunk_count = 0;
            return tmm__fail(TMM_ERROR_MEMORY, "pinned_bytes is %llu, but %llu are needed at least",
                             (unsigned long long)o->pinned_bytes,
                             (unsigned long long)(2ull * TMM__HOST_CHUNK + skip));
        }
        if (most < (size_t)h->chunk_count) h->chunk_count = (int)most;
        h->pinned = (char *)o->pinned + skip;
    } else {
        tmm_status status = TMM_OK;
        h->pinned_bytes = (size_t)h->chunk_count * TMM__HOST_CHUNK;
        size_t bytes;
        h->pinned = (char *)tmm__kept_exchange(NULL, 0, &bytes);
        if (h->pinned != NULL && bytes < h->pinned_bytes) {
            (void)cudaFreeHost(h->pinned);
            h->pinned = NULL;
        } else if (h->pinned != NULL) {
            h->pinned_bytes = bytes;
        }
        if (h->pinned == NULL)
            status = tmm__cuda(cudaHostAlloc((void **)&h->pinned, h->pinned_bytes,
                                             cudaHostAllocPortable),
                               "cudaHostAlloc of pinned memory for staging");
        if (status != TMM_OK) {
            h->chunk_count = 0;
            return status;
        }
        h->owns_pinned = 1;
    }
    for (int n = 0; n < h->chunk_count; n++) {
        h->chunks[n].memory = h->pinned + (size_t)n * TMM__HOST_CHUNK;
        h->chunks[n].events = (cudaEvent_t *)calloc((size_t)h->count, sizeof(cudaEvent_t));
        if (h->chunks[n].events == NULL)
            return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the pinned ring");
    }
    tmm__crew_start(&h->crew, threads);
    return TMM_OK;
}

/* Lets device `to` read the memory of a worker of another device; 0 if it cannot. Memory of a pool
   is shared by itself; for other memory CUDA must be asked to share all that the device has. */
static inline int tmm__share_memory(const tmm__worker *from, int to)
{
    cudaError_t error;
    if (from->pool != NULL) {
        cudaMemAccessDesc access;
        memset(&access, 0, sizeof access);
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = to;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        error = cudaMemPoolSetAccess(from->pool, &access, 1);
    } else {
        error = cudaDeviceEnablePeerAccess(from->device, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled) error = cudaSuccess;
    }
    (void)cudaGetLastError(); /* a refusal is no failure: B then comes from the host */
    return error == cudaSuccess;
}

/* Which devices can copy from which directly. */
static inline tmm_status tmm__peers_open(tmm__host *h)
{
    for (int to = 0; to < h->count; to++) {
        for (int from = 0; from < h->count; from++) {
            int a = h->workers[to].device, b = h->workers[from].device, can = 0;
            if (h->workers[to].layout.rows == 0 || h->workers[from].layout.rows == 0) continue;
            h->reach[to][from] = 1;
            if (a == b) continue;
            h->reach[to][from] = 0;
            tmm_status status =
                tmm__on(a, cudaDeviceCanAccessPeer(&can, a, b), "cudaDeviceCanAccessPeer");
            if (status != TMM_OK) return status;
            if (!can) continue;
            status = tmm__on(a, cudaSetDevice(a), "cudaSetDevice");
            if (status != TMM_OK) return status;
            h->reach[to][from] = (unsigned char)tmm__share_memory(&h->workers[from], a);
        }
    }
    return TMM_OK;
}

static inline void tmm__host_close(tmm__host *h, tmm_status status)
{
    tmm__crew_stop(&h->crew);
    for (int n = 0; n < h->count && h->workers != NULL; n++) { /* nothing of ours is under way */
        tmm__worker *w = &h->workers[n];
        if (w->tasks == NULL || cudaSetDevice(w->device) != cudaSuccess) continue;
        if (w->in != NULL) (void)cudaStreamSynchronize(w->in);
        if (w->peer != NULL) (void)cudaStreamSynchronize(w->peer);
        for (int s = 0; s < TMM__MOST_STREAMS; s++)
            if (w->compute[s] != NULL) (void)cudaStreamSynchronize(w->compute[s]);
        if (w->out != NULL) (void)cudaStreamSynchronize(w->out);
    }
    for (int n = 0; n < h->count && h->workers != NULL; n++) tmm__worker_close(h, &h->workers[n]);
    for (int n = 0; n < h->chunk_count; n++) free(h->chunks[n].events);
    if (h->owns_pinned) {
        void *memory = h->pinned; /* kept for the next call, unless this one has failed */
        if (status == TMM_OK)
            memory = tmm__kept_exchange(memory, h->pinned_bytes, &h->pinned_bytes);
        if (memory != NULL) (void)cudaFreeHost(memory);
    }
    free(h->workers);
}

/* The whole of tmm_?gemm_host, once the arguments of GEMM have been checked and M, N > 0.
   `needs`: only fills in how much memory it would take, for each device and pinned. */
static inline tmm_status tmm__host_run(tmm__job *job, const tmm_host_options *options,
                                       size_t *device_needs, size_t *pinned_needs)
{
    tmm_host_options defaults;
    tmm__host host, *h = &host;
    int current = 0, staged;
    memset(&defaults, 0, sizeof defaults);
    memset(h, 0, sizeof *h);
    h->job = *job;
    h->options = options ? options : &defaults;
    h->job.kernel = h->options->kernel;
    h->job.may = h->options->memory == 0 && h->options->workspace == NULL ? TMM__PACK : 0;
    tmm_status status = tmm__cuda(cudaGetDevice(&current), "cudaGetDevice");
    if (status != TMM_OK) return status;
    status = tmm__host_open(h, current);
    if (status == TMM_OK) status = tmm__share_rows(h, device_needs == NULL);
    if (status == TMM_OK) status = tmm__host_layout(h);
    if (device_needs != NULL) {
        for (int n = 0; n < h->count && status == TMM_OK; n++)
            device_needs[n] = h->workers[n].layout.rows > 0 ? h->workers[n].layout.bytes + 256 : 0;
        int threads = tmm__crew_size(h->options->threads);
        if (pinned_needs != NULL)
            *pinned_needs = (size_t)(threads > 1 ? 2 * threads : 4) * TMM__HOST_CHUNK + 256;
        free(h->workers);
        (void)cudaSetDevice(current);
        (void)cudaGetLastError();
        return status;
    }
    size_t size = job->size;
#define TMM__SPAN(rows, cols, ld) ((size_t)(((rows)-1) * (ld) + (cols)) * size)
    if (status == TMM_OK && h->job.K > 0) {
        int nA = job->opA == TMM_OP_N, nB = job->opB == TMM_OP_N;
        status = tmm__is_staged("A", job->A,
                                TMM__SPAN(nA ? job->M : job->K, nA ? job->K : job->M, job->lda),
                                &h->staged_A);
        if (status == TMM_OK)
            status = tmm__is_staged("B", job->B,
                                    TMM__SPAN(nB ? job->K : job->N, nB ? job->N : job->K, job->ldb),
                                    &h->staged_B);
    }
    if (status == TMM_OK)
        status = tmm__is_staged("C", job->C, TMM__SPAN(job->M, job->N, job->ldc), &h->staged_C);
#undef TMM__SPAN
    staged = h->staged_A || h->staged_B || h->staged_C;
    if (status == TMM_OK && staged) status = tmm__ring_open(h);
    for (int n = 0; n < h->count && status == TMM_OK; n++)
        if (h->workers[n].layout.rows > 0) status = tmm__worker_open(h, &h->workers[n]);
    if (status == TMM_OK && h->peers > 1) status = tmm__peers_open(h);

    double all = (double)job->M * (double)job->N, told = -1;
    while (status == TMM_OK && h->done < all) {
        int moved = 0;
        if (staged) status = tmm__pump(h, &moved);
        for (int n = 0; n < h->count && status == TMM_OK; n++)
            if (h->workers[n].layout.rows > 0) status = tmm__advance(h, &h->workers[n], &moved);
        if (status == TMM_OK && h->options->progress != NULL && h->done > told) {
            told = h->done;
            if (h->options->progress(h->options->context, h->done / all) != 0 && h->done < all)
                status = tmm__fail(TMM_ERROR_CANCELLED, "cancelled by the progress callback");
        }
        if (!moved) TMM__YIELD();
    }
    for (int n = 0; n < h->count && h->options->report != NULL && h->workers != NULL; n++) {
        const tmm__worker *w = &h->workers[n];
        tmm_host_report *r = &h->options->report[n];
        r->device = w->device;
        r->rows = w->layout.rows;
        r->block_rows = w->layout.bm;
        r->block_cols = w->layout.bn;
        r->seconds = w->seconds;
        r->bytes_in = w->bytes_in;
        r->bytes_peer = w->bytes_peer;
        r->bytes_out = w->bytes_out;
        r->memory = w->layout.rows > 0 ? w->layout.bytes : 0;
    }
    tmm__host_close(h, status);
    (void)cudaSetDevice(current);
    (void)cudaGetLastError();
    return status;
}
#endif
