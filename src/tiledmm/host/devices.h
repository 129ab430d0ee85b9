/* src/tiledmm/host/devices.h. All devices: slots, streams, the run from first to last copy.
   Uses: host/, once/. Used by: type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
static inline long long *tmm__new_slot_table(long long count)
{
    long long *slot_of = (long long *)malloc((size_t)(count + 1) * sizeof *slot_of);
    for (long long n = 0; n <= count && slot_of != NULL; n++) slot_of[n] = -1;
    return slot_of;
}

static inline cudaError_t tmm__slots_open(const tmm__host *h, tmm__worker *w)
{
    const tmm__layout *l = &w->layout;
    char *memory = w->memory;
    cudaError_t error = cudaSuccess;
    for (long long n = 0; n < l->nA + l->nB && error == cudaSuccess; n++) {
        int is_B = n >= l->nA;
        long long number = is_B ? n - l->nA : n;
        tmm__slot *slot = is_B ? &w->B[number] : &w->A[number];
        size_t pitch, bytes = is_B ? l->bytesB : l->bytesA;
        if (l->group == 0) bytes = tmm__part_bytes(&h->job, l, is_B, number % l->nk, &pitch);
        slot->memory = memory;
        memory += bytes;
        slot->holds = slot->last_use = -1;
        error = tmm__event_open(error, &slot->copy.event);
        for (int s = 0; s < h->streams && error == cudaSuccess; s++)
            error = tmm__event_open(error, &slot->used[s]);
    }
    for (long long n = 0; n < l->nC && error == cudaSuccess; n++) {
        tmm__block_slot *block = &w->C[n];
        block->memory = memory;
        memory += l->bytesC;
        error = tmm__event_open(error, &block->in.event);
        error = tmm__event_open(error, &block->computed);
        if (error == cudaSuccess) error = cudaEventCreate(&block->out.event);
    }
    return error;
}

/* Memory, streams and events of a device. */
static inline tmm_status tmm__worker_open(tmm__host *h, tmm__worker *w)
{
    const tmm__layout *l = &w->layout;
    w->A = (tmm__slot *)calloc((size_t)l->nA + 1, sizeof *w->A);
    w->B = (tmm__slot *)calloc((size_t)l->nB + 1, sizeof *w->B);
    w->C = (tmm__block_slot *)calloc((size_t)l->nC + 1, sizeof *w->C);
    w->slot_of_A = tmm__new_slot_table(l->ni * l->nk);
    w->slot_of_B = tmm__new_slot_table(l->nj * l->nk);
    w->slot_of_C = tmm__new_slot_table(l->ni * l->nj);
    w->tasks = (tmm__task *)malloc((size_t)w->task_count * sizeof *w->tasks);
    if (!w->A || !w->B || !w->C || !w->slot_of_A || !w->slot_of_B || !w->slot_of_C || !w->tasks)
        return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the list of %lld blocks",
                         w->task_count);
    (void)tmm__list_tasks(l, w->tasks);
    cudaError_t error = cudaSetDevice(w->device);
    error = tmm__stream_open(error, &w->in);
    if (error != cudaSuccess) return tmm__device_error(w->device, error, "cudaSetDevice or stream");
    error = tmm__device_memory(&w->memory, l->bytes, &w->pool, w->in);
    if (error != cudaSuccess) return tmm__device_error(w->device, error, "cudaMalloc");
    error = tmm__stream_open(error, &w->peer);
    error = tmm__stream_open(error, &w->out);
    for (int s = 0; s < h->streams && error == cudaSuccess; s++)
        error = tmm__stream_open(error, &w->compute[s]);
    if (error == cudaSuccess) error = cudaEventCreate(&w->start);
    for (int n = 0; n < TMM__AHEAD && error == cudaSuccess; n++)
        error = tmm__event_open(error, &w->launch_done[n]);
    if (error == cudaSuccess) error = tmm__slots_open(h, w);
    return tmm__device_error(w->device, error, "stream or event");
}

static inline void tmm__worker_close(tmm__host *h, tmm__worker *w)
{
    (void)tmm__succeeded(cudaSetDevice(w->device));
    for (long long n = 0; n < w->layout.nA + w->layout.nB; n++) {
        int is_B = n >= w->layout.nA;
        tmm__slot *slots = is_B ? w->B : w->A;
        if (slots == NULL) continue;
        tmm__slot *slot = &slots[is_B ? n - w->layout.nA : n];
        tmm__event_close(slot->copy.event);
        for (int s = 0; s < TMM__MAX_STREAMS; s++) tmm__event_close(slot->used[s]);
    }
    for (long long n = 0; n < w->layout.nC && w->C != NULL; n++) {
        tmm__event_close(w->C[n].in.event);
        tmm__event_close(w->C[n].computed);
        tmm__event_close(w->C[n].out.event);
    }
    for (int n = 0; n < h->chunk_count; n++)
        if (h->chunks[n].events != NULL) tmm__event_close(h->chunks[n].events[w->number]);
    tmm__event_close(w->start);
    for (int n = 0; n < TMM__AHEAD; n++) tmm__event_close(w->launch_done[n]);
    tmm__device_memory_free(w->memory, w->pool, w->in);
    tmm__stream_close(w->in);
    tmm__stream_close(w->peer);
    tmm__stream_close(w->out);
    for (int s = 0; s < TMM__MAX_STREAMS; s++) tmm__stream_close(w->compute[s]);
    free(w->A);
    free(w->B);
    free(w->C);
    free(w->slot_of_A);
    free(w->slot_of_B);
    free(w->slot_of_C);
    free(w->tasks);
}

/* Must copies of A, B and C pass through the pinned ring? */
static inline tmm_status tmm__find_staged(tmm__host *h)
{
    const tmm__job *job = &h->job;
    const int nA = job->opA == TMM_OP_N, nB = job->opB == TMM_OP_N;
    const long long rows[3] = {nA ? job->M : job->K, nB ? job->K : job->N, job->M};
    const long long cols[3] = {nA ? job->K : job->M, nB ? job->N : job->K, job->N};
    const long long ld[3] = {job->lda, job->ldb, job->ldc};
    const char *const matrices[3] = {job->A, job->B, job->C}, *const names[3] = {"A", "B", "C"};
    int *const staged[3] = {&h->staged_A, &h->staged_B, &h->staged_C};
    tmm_status status = TMM_OK;
    for (int n = job->K > 0 ? 0 : 2; n < 3 && status == TMM_OK; n++)
        status = tmm__is_staged(names[n], matrices[n],
                                (size_t)((rows[n] - 1) * ld[n] + cols[n]) * job->size, staged[n]);
    return status;
}

/* Takes the pinned memory that was kept, if it suffices. */
static inline tmm_status tmm__ring_open(tmm__host *h)
{
    int threads = tmm__helpers_count(h->options->threads);
    int chunks = threads > 1 ? 2 * threads : 4;
    size_t bytes = TMM__PINNED_HEAD + (size_t)chunks * TMM__HOST_CHUNK;
    h->pinned = (char *)tmm__kept_exchange(NULL, 0, &h->pinned_bytes);
    if (!tmm__still_pinned(h->pinned)) h->pinned = NULL;
    if (h->pinned != NULL && h->pinned_bytes < bytes) {
        (void)tmm__succeeded(cudaFreeHost(h->pinned));
        h->pinned = NULL;
    }
    if (h->pinned == NULL) {
        tmm_status status =
            tmm__cuda(cudaHostAlloc((void **)&h->pinned, bytes, cudaHostAllocPortable),
                      "cudaHostAlloc of pinned memory for staging");
        if (status != TMM_OK) {
            h->pinned = NULL;
            return status;
        }
        h->pinned_bytes = bytes;
        *(unsigned long long *)h->pinned = tmm__pinned_mark(h->pinned);
    }
    h->chunk_count = chunks;
    for (int n = 0; n < chunks; n++) {
        h->chunks[n].memory = h->pinned + TMM__PINNED_HEAD + (size_t)n * TMM__HOST_CHUNK;
        h->chunks[n].events = (cudaEvent_t *)calloc((size_t)h->count, sizeof(cudaEvent_t));
        if (h->chunks[n].events == NULL)
            return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the pinned ring");
    }
    tmm__helpers_start(&h->helpers, threads);
    return TMM_OK;
}

/* Lets device `to` read the memory of a worker of another device. 0 if it cannot: B then comes
   from the host. Access to a pool is its own matter. */
static inline int tmm__share_memory(const tmm__worker *from, int to)
{
    if (from->pool != NULL) {
        cudaMemAccessDesc access;
        memset(&access, 0, sizeof access);
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = to;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        return tmm__succeeded(cudaMemPoolSetAccess(from->pool, &access, 1));
    }
    cudaError_t error = cudaDeviceEnablePeerAccess(from->device, 0);
    return tmm__succeeded(error) || error == cudaErrorPeerAccessAlreadyEnabled;
}

/* Finds out which devices can copy from which directly. */
static inline tmm_status tmm__peers_open(tmm__host *h)
{
    for (int to = 0; to < h->count; to++) {
        for (int from = 0; from < h->count; from++) {
            int a = h->workers[to].device, b = h->workers[from].device, accessible = 0;
            if (h->workers[to].layout.rows == 0 || h->workers[from].layout.rows == 0) continue;
            h->reach[to][from] = a == b;
            if (a == b) continue;
            tmm_status status = tmm__device_error(a, cudaDeviceCanAccessPeer(&accessible, a, b),
                                                  "cudaDeviceCanAccessPeer");
            if (status != TMM_OK) return status;
            if (!accessible) continue;
            status = tmm__device_error(a, cudaSetDevice(a), "cudaSetDevice");
            if (status != TMM_OK) return status;
            h->reach[to][from] = (unsigned char)tmm__share_memory(&h->workers[from], a);
        }
    }
    return TMM_OK;
}

/* Waits until nothing of this call is under way, and frees what it had. */
static inline void tmm__host_close(tmm__host *h, tmm_status status)
{
    tmm__helpers_stop(&h->helpers);
    for (int n = 0; n < h->count && h->workers != NULL; n++) {
        const tmm__worker *w = &h->workers[n];
        if (w->tasks == NULL || !tmm__succeeded(cudaSetDevice(w->device))) continue;
        if (w->in != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->in));
        if (w->peer != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->peer));
        for (int s = 0; s < TMM__MAX_STREAMS; s++)
            if (w->compute[s] != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->compute[s]));
        if (w->out != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->out));
    }
    for (int n = 0; n < h->count && h->workers != NULL; n++) tmm__worker_close(h, &h->workers[n]);
    for (int n = 0; n < h->chunk_count; n++) free(h->chunks[n].events);
    void *pinned = h->pinned; /* kept for the next call, unless this one has failed */
    if (pinned != NULL && status == TMM_OK)
        pinned = tmm__kept_exchange(pinned, h->pinned_bytes, &h->pinned_bytes);
    if (pinned != NULL) (void)tmm__succeeded(cudaFreeHost(pinned));
    free(h->workers);
}

static inline tmm_status tmm__host_loop(tmm__host *h)
{
    const tmm_host_options *o = h->options;
    int staged = h->staged_A || h->staged_B || h->staged_C;
    double all = (double)h->job.M * (double)h->job.N, reported = -1;
    tmm_status status = TMM_OK;
    while (status == TMM_OK && h->done < all) {
        int moved = 0;
        if (staged) status = tmm__pump(h, &moved);
        for (int n = 0; n < h->count && status == TMM_OK; n++)
            if (h->workers[n].layout.rows > 0) status = tmm__advance(h, &h->workers[n], &moved);
        if (status == TMM_OK && o->progress != NULL && h->done > reported) {
            reported = h->done;
            if (o->progress(o->context, h->done / all) != 0 && h->done < all)
                status = tmm__fail(TMM_ERROR_CANCELLED, "cancelled by the progress callback");
        }
        if (!moved) TMM__YIELD();
    }
    return status;
}

static inline void tmm__host_report(const tmm__host *h)
{
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
}

/* The whole of tmm_?gemm_host for arguments that have been checked, and M, N > 0. */
static inline tmm_status tmm__host_run(tmm__job *job, const tmm_host_options *options)
{
    tmm_host_options defaults;
    tmm__host host, *h = &host;
    int current = 0;
    memset(&defaults, 0, sizeof defaults);
    memset(h, 0, sizeof *h);
    h->job = *job;
    h->options = options != NULL ? options : &defaults;
    h->job.kernel = h->options->kernel;
    h->job.allowed = h->options->memory == 0 ? TMM__PACK : 0;
    tmm_status status = tmm__cuda(cudaGetDevice(&current), "cudaGetDevice");
    if (status != TMM_OK) return status;
    status = tmm__host_open(h, current);
    if (status == TMM_OK) status = tmm__share_rows(h);
    if (status == TMM_OK) status = tmm__host_layout(h);
    if (status == TMM_OK) status = tmm__find_staged(h);
    if (status == TMM_OK && (h->staged_A || h->staged_B || h->staged_C)) status = tmm__ring_open(h);
    for (int n = 0; n < h->count && status == TMM_OK; n++)
        if (h->workers[n].layout.rows > 0) status = tmm__worker_open(h, &h->workers[n]);
    if (status == TMM_OK && h->peers > 1) status = tmm__peers_open(h);
    if (status == TMM_OK) status = tmm__host_loop(h);
    tmm__host_report(h);
    tmm__host_close(h, status);
    (void)tmm__succeeded(cudaSetDevice(current));
    return status;
}
#endif
