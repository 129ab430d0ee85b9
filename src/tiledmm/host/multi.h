/* src/tiledmm/host/multi.h. Operands that lie on several devices: tmm_?gemm_multi.
   Uses: host/, once/. Used by: type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* Each device gathers B, one column of blocks after the other, in buffers. Meanwhile it multiplies
   its rows of A with the columns that it has. */
enum { TMM__MULTI_BUFFERS = 3, TMM__MULTI_STREAMS = 2 };

/* A device that has rows of A and C, or of B. */
typedef struct tmm__member {
    char *buffers;      /* NULL: B is used in place, or not at all */
    cudaMemPool_t pool; /* of the buffers; NULL: they are from cudaMalloc */
    cudaStream_t copy, compute[TMM__MULTI_STREAMS];
    cudaEvent_t start, stop, join; /* join: the last product on stream 1 */
    cudaEvent_t ready[TMM__MULTI_BUFFERS], used[TMM__MULTI_BUFFERS];
} tmm__member;

/* One call of tmm_?gemm_multi. */
typedef struct tmm__multi {
    const tmm__job *job;
    tmm_part *parts;
    tmm__member *members; /* one for each part */
    int count;
    int gathers;         /* B is spread over several devices, and needed */
    long long bn, nj;    /* columns that are gathered at a time, and how often */
    size_t pitch, bytes; /* of a buffer */
} tmm__multi;

/* Lines to be copied between devices. */
typedef struct tmm__line_copy {
    const char *source;
    char *target;
    size_t source_pitch, target_pitch, width, rows;
} tmm__line_copy;

static inline cudaError_t tmm__copy_across(const tmm__line_copy *l, int from_device, int to_device,
                                           cudaStream_t stream)
{
    struct cudaMemcpy3DPeerParms p;
    size_t width = l->width;
    if (to_device == from_device)
        return tmm__copy_lines(l->target, l->target_pitch, l->source, l->source_pitch, width,
                               l->rows, cudaMemcpyDeviceToDevice, stream);
    if (l->rows == 1 || (l->target_pitch == width && l->source_pitch == width))
        return cudaMemcpyPeerAsync(l->target, to_device, l->source, from_device, width * l->rows,
                                   stream);
    if (l->target_pitch > TMM__HOST_PITCH || l->source_pitch > TMM__HOST_PITCH) {
        cudaError_t error = cudaSuccess; /* one by one, as in tmm__copy_lines */
        for (size_t row = 0; row < l->rows && error == cudaSuccess; row++)
            error =
                cudaMemcpyPeerAsync(l->target + row * l->target_pitch, to_device,
                                    l->source + row * l->source_pitch, from_device, width, stream);
        return error;
    }
    memset(&p, 0, sizeof p);
    p.srcPtr = make_cudaPitchedPtr((void *)l->source, l->source_pitch, width, l->rows);
    p.srcDevice = from_device;
    p.dstPtr = make_cudaPitchedPtr(l->target, l->target_pitch, width, l->rows);
    p.dstDevice = to_device;
    p.extent = make_cudaExtent(width, l->rows, 1);
    return cudaMemcpy3DPeerAsync(&p, stream);
}

static inline tmm_status tmm__gather(const tmm__multi *m, int to, char *buffer, long long n0,
                                     long long cols)
{
    const tmm__job *job = m->job;
    int transposed = job->opB == TMM_OP_T;
    for (int n = 0; n < m->count;
         n++) { /* each begins with itself: not all read from one at once */
        int from = (to + n) % m->count;
        const tmm_part *p = &m->parts[from];
        long long first = 0, rows = p->rows_B;
        for (int i = 0; i < from; i++) first += m->parts[i].rows_B;
        tmm__line_copy lines;
        lines.source = (const char *)p->B;
        lines.target = buffer;
        if (transposed) { /* rows of B are columns of op(B) */
            long long begin = first > n0 ? first : n0;
            long long end = tmm__min(first + rows, n0 + cols);
            if (begin >= end) continue;
            lines.source += (size_t)((begin - first) * p->ldb) * job->size;
            lines.target += (size_t)(begin - n0) * m->pitch;
            rows = end - begin;
        } else {
            lines.source += (size_t)n0 * job->size;
            lines.target += (size_t)first * m->pitch;
        }
        if (rows == 0) continue;
        lines.source_pitch = (size_t)p->ldb * job->size;
        lines.target_pitch = m->pitch;
        lines.width = (size_t)(transposed ? job->K : cols) * job->size;
        lines.rows = (size_t)rows;
        int device = m->parts[to].device;
        tmm_status status =
            tmm__device_error(device,
                              tmm__copy_across(&lines, p->device, device, m->members[to].copy),
                              "copy of B from another device");
        if (status != TMM_OK) return status;
    }
    return TMM_OK;
}

/* What the caller has enqueued on a device comes first. */
static inline tmm_status tmm__member_open(const tmm__multi *m, int n)
{
    tmm__member *member = &m->members[n];
    int device = m->parts[n].device;
    size_t buffers = (size_t)tmm__min(m->nj, TMM__MULTI_BUFFERS);
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    error = tmm__stream_open(error, &member->copy);
    if (error == cudaSuccess && m->gathers && m->parts[n].rows > 0)
        error =
            tmm__device_memory(&member->buffers, m->bytes * buffers, &member->pool, member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS && error == cudaSuccess; s++)
        error = tmm__stream_open(error, &member->compute[s]);
    if (error == cudaSuccess) error = cudaEventCreate(&member->start);
    if (error == cudaSuccess) error = cudaEventCreate(&member->stop);
    error = tmm__event_open(error, &member->join);
    for (int b = 0; b < TMM__MULTI_BUFFERS && error == cudaSuccess; b++) {
        error = tmm__event_open(error, &member->ready[b]);
        error = tmm__event_open(error, &member->used[b]);
    }
    return tmm__device_error(device, error, "memory, stream or event");
}

static inline void tmm__member_close(const tmm_part *p, tmm__member *member)
{
    (void)tmm__succeeded(cudaSetDevice(p->device));
    tmm__device_memory_free(member->buffers, member->pool, member->copy);
    tmm__stream_close(member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS; s++) tmm__stream_close(member->compute[s]);
    tmm__event_close(member->start);
    tmm__event_close(member->stop);
    tmm__event_close(member->join);
    for (int b = 0; b < TMM__MULTI_BUFFERS; b++) {
        tmm__event_close(member->ready[b]);
        tmm__event_close(member->used[b]);
    }
}

/* Enqueues column of blocks j on device number n. */
static inline tmm_status tmm__multi_step(const tmm__multi *m, int n, long long j)
{
    const tmm__job *job = m->job;
    const tmm_part *p = &m->parts[n];
    tmm__member *member = &m->members[n];
    long long n0 = j * m->bn, cols = tmm__min(job->N - n0, m->bn), size = (long long)job->size;
    int b = (int)(j % TMM__MULTI_BUFFERS), s = (int)(j % TMM__MULTI_STREAMS);
    int transA = job->opA == TMM_OP_T, transB = job->opB == TMM_OP_T;
    const char *A = (const char *)p->A, *B = (const char *)p->B;
    tmm__block_product block;
    block.M = p->rows, block.N = cols;
    block.lda = p->lda, block.ldb = p->ldb, block.ldc = p->ldc;
    block.C = (char *)p->C + (size_t)n0 * job->size_C;
    cudaError_t error = cudaSetDevice(p->device);
    tmm_status status = TMM_OK;
    if (member->buffers != NULL) {
        char *buffer = member->buffers + (size_t)b * m->bytes;
        if (error == cudaSuccess && j >= TMM__MULTI_BUFFERS)
            error = cudaStreamWaitEvent(member->copy, member->used[b], 0);
        status = tmm__device_error(p->device, error, "cudaStreamWaitEvent");
        if (status == TMM_OK) status = tmm__gather(m, n, buffer, n0, cols);
        if (status != TMM_OK) return status;
        error = cudaEventRecord(member->ready[b], member->copy);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(member->compute[s], member->ready[b], 0);
        B = buffer;
        block.ldb = (long long)m->pitch / size;
        n0 = 0;
    }
    status = tmm__device_error(p->device, error, "cudaStreamWaitEvent");
    for (long long k = 0, k0 = 0; status == TMM_OK && (k == 0 || k0 < job->K); k++) {
        long long end = tmm__k_begin(job, k + 1);
        block.A = A, block.B = B;
        if (job->K > 0) {
            block.A = A + (size_t)(transA ? k0 * block.lda : k0) * job->size;
            block.B = B + (size_t)(transB ? n0 * block.ldb + k0 : k0 * block.ldb + n0) * job->size;
        }
        block.K = end - k0;
        block.adds = k > 0;
        status = tmm__add_device(p->device, job->launch(job, &block, member->compute[s]));
        k0 = end;
    }
    if (status == TMM_OK)
        status = tmm__device_error(p->device, cudaEventRecord(member->used[b], member->compute[s]),
                                   "cudaEventRecord");
    return status;
}

/* Without access, the same copies go through the host. */
static inline tmm_status tmm__multi_access(const tmm__multi *m, int n)
{
    int to = m->parts[n].device;
    tmm_status status = tmm__device_error(to, cudaSetDevice(to), "cudaSetDevice");
    for (int i = 0; i < m->count && m->gathers && status == TMM_OK; i++) {
        int accessible = 0, from = m->parts[i].device;
        if (from == to) continue;
        /* `to` is a device, or cudaSetDevice had failed: an error is of `from`. */
        status = tmm__device_error(from, cudaDeviceCanAccessPeer(&accessible, to, from),
                                   "cudaDeviceCanAccessPeer");
        if (status == TMM_OK && accessible)
            (void)tmm__succeeded(cudaDeviceEnablePeerAccess(from, 0));
    }
    return status;
}

/* Events around the work of a device, for its time. */
static inline tmm_status tmm__member_start(const tmm_part *p, tmm__member *member)
{
    cudaError_t error = cudaEventRecord(member->start, member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS && error == cudaSuccess; s++)
        error = cudaStreamWaitEvent(member->compute[s], member->start, 0);
    return tmm__device_error(p->device, error, "cudaEventRecord");
}

static inline tmm_status tmm__member_stop(const tmm_part *p, tmm__member *member)
{
    cudaError_t error = cudaEventRecord(member->join, member->compute[1]);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(member->compute[0], member->join, 0);
    if (error == cudaSuccess) error = cudaEventRecord(member->stop, member->compute[0]);
    return tmm__device_error(p->device, error, "cudaEventRecord");
}

/* Also after a failure: nothing may be under way in the caller's memory. */
static inline tmm_status tmm__member_wait(tmm_part *p, tmm__member *member, tmm_status status)
{
    float ms = 0;
    if (member->copy == NULL || !tmm__succeeded(cudaSetDevice(p->device))) return status;
    cudaError_t error = cudaStreamSynchronize(member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS; s++)
        if (member->compute[s] != NULL && error == cudaSuccess)
            error = cudaStreamSynchronize(member->compute[s]);
    if (!tmm__succeeded(error) && status == TMM_OK)
        status = tmm__device_error(p->device, error, "kernel or copy");
    if (status == TMM_OK && p->rows > 0 &&
        tmm__succeeded(cudaEventElapsedTime(&ms, member->start, member->stop)))
        p->seconds = ms * 1e-3;
    return status;
}

static inline tmm_status tmm__multi_run(const tmm__job *job, tmm_part *parts, int count)
{
    tmm__multi multi, *m = &multi;
    long long eighth = (job->N - 1) / 8 + 1;
    int current = 0;
    memset(m, 0, sizeof *m);
    m->job = job;
    m->parts = parts;
    m->count = count;
    m->gathers = job->K > 0 && count > 1;
    m->bn = job->N;
    if (m->gathers) {
        long long limit = eighth > TMM__MULTI_COLUMNS ? eighth : TMM__MULTI_COLUMNS;
        m->bn = tmm__block_edge(job->N, tmm__min(job->N, limit));
        m->bytes = tmm__part_size(job, 1, job->K, m->bn, &m->pitch);
    }
    m->nj = (job->N - 1) / m->bn + 1;
    tmm_status status = tmm__cuda(cudaGetDevice(&current), "cudaGetDevice");
    if (status != TMM_OK) return status;
    m->members = (tmm__member *)calloc((size_t)count, sizeof *m->members);
    if (m->members == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the devices");
    for (int n = 0; n < count && status == TMM_OK; n++) {
        parts[n].seconds = 0;
        status = tmm__multi_access(m, n);
    }
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0 || parts[n].rows_B > 0) status = tmm__member_open(m, n);
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0) status = tmm__member_start(&parts[n], &m->members[n]);
    for (long long j = 0; j < m->nj; j++)
        for (int n = 0; n < count && status == TMM_OK; n++)
            if (parts[n].rows > 0) status = tmm__multi_step(m, n, j);
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0) status = tmm__member_stop(&parts[n], &m->members[n]);
    for (int n = 0; n < count; n++) status = tmm__member_wait(&parts[n], &m->members[n], status);
    for (int n = 0; n < count; n++) tmm__member_close(&parts[n], &m->members[n]);
    free(m->members);
    (void)tmm__succeeded(cudaSetDevice(current));
    return status;
}
#endif
