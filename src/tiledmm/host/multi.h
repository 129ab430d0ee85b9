/* src/tiledmm/host/multi.h. Operands that lie on several devices: tmm_?gemm_multi.
   Uses: host/devices.h. Used by: type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_MULTI)
#define TMM__PART_HOST_MULTI
/* ---- operands on several devices ------------------------------------------------------------- */
/* tmm_?gemm_multi: each device gathers B, a column of blocks after the other, in buffers of its
   own, and multiplies its rows of A with it meanwhile. */
enum { TMM__MULTI_BUFFERS = 3, TMM__MULTI_STREAMS = 2 };

typedef struct tmm__member {
    char *buffers;
    cudaMemPool_t pool; /* that they are from, or NULL */
    cudaStream_t copy, compute[TMM__MULTI_STREAMS];
    cudaEvent_t start, stop, join, ready[TMM__MULTI_BUFFERS];
    cudaEvent_t used[TMM__MULTI_BUFFERS];
} tmm__member;

/* `rows` lines of `width` bytes from one device to another. */
static inline cudaError_t tmm__copy_across(char *to, size_t to_pitch, int to_device,
                                           const char *from, size_t from_pitch, int from_device,
                                           size_t width, size_t rows, cudaStream_t stream)
{
    struct cudaMemcpy3DPeerParms p;
    if (to_device == from_device)
        return tmm__copy_lines(to, to_pitch, from, from_pitch, width, rows,
                               cudaMemcpyDeviceToDevice, stream);
    if (rows == 1 || (to_pitch == width && from_pitch == width))
        return cudaMemcpyPeerAsync(to, to_device, from, from_device, width * rows, stream);
    if (to_pitch > TMM__HOST_PITCH || from_pitch > TMM__HOST_PITCH) { /* as above */
        cudaError_t error = cudaSuccess;
        for (size_t row = 0; row < rows && error == cudaSuccess; row++)
            error = cudaMemcpyPeerAsync(to + row * to_pitch, to_device, from + row * from_pitch,
                                        from_device, width, stream);
        return error;
    }
    memset(&p, 0, sizeof p);
    p.srcPtr = make_cudaPitchedPtr((void *)from, from_pitch, width, rows);
    p.srcDevice = from_device;
    p.dstPtr = make_cudaPitchedPtr(to, to_pitch, width, rows);
    p.dstDevice = to_device;
    p.extent = make_cudaExtent(width, rows, 1);
    return cudaMemcpy3DPeerAsync(&p, stream);
}

/* Columns n0 .. n0 + cols - 1 of op(B) from all who have some of it, into a buffer of `to`. */
static inline tmm_status tmm__gather(const tmm__job *job, const tmm_part *parts, int count, int to,
                                     char *buffer, size_t pitch, long long n0, long long cols,
                                     cudaStream_t stream)
{
    int transposed = job->opB == TMM_OP_T;
    for (int turn = 0; turn < count; turn++) { /* beginning with itself: not all from one at once */
        int from = (to + turn) % count;
        const tmm_part *p = &parts[from];
        long long first = 0, lines = p->rows_B;
        for (int n = 0; n < from; n++) first += parts[n].rows_B;
        const char *source = (const char *)p->B;
        char *target = buffer;
        if (transposed) { /* rows of B are columns of op(B) */
            long long begin = first > n0 ? first : n0;
            long long end = tmm__min(first + lines, n0 + cols);
            if (begin >= end) continue;
            source += (size_t)((begin - first) * p->ldb) * job->size;
            target += (size_t)(begin - n0) * pitch;
            lines = end - begin;
        } else {
            source += (size_t)n0 * job->size;
            target += (size_t)first * pitch;
        }
        if (lines == 0) continue;
        tmm_status status =
            tmm__on(parts[to].device,
                    tmm__copy_across(target, pitch, parts[to].device, source,
                                     (size_t)p->ldb * job->size, p->device,
                                     (size_t)(transposed ? job->K : cols) * job->size,
                                     (size_t)lines, stream),
                    "copy of B from another device");
        if (status != TMM_OK) return status;
    }
    return TMM_OK;
}

static inline tmm_status tmm__member_open(const tmm__job *job, const tmm_part *p, tmm__member *m,
                                          size_t buffer)
{
    cudaError_t error = cudaSetDevice(p->device);
#define TMM__TRY(call) \
    if (error == cudaSuccess) error = call
    TMM__TRY(cudaDeviceSynchronize()); /* what the caller has enqueued there comes first */
    TMM__TRY(cudaStreamCreateWithFlags(&m->copy, cudaStreamNonBlocking));
    if (job->K > 0 && buffer > 0)
        TMM__TRY(tmm__device_memory(&m->buffers, buffer, &m->pool, m->copy));
    for (int s = 0; s < TMM__MULTI_STREAMS; s++)
        TMM__TRY(cudaStreamCreateWithFlags(&m->compute[s], cudaStreamNonBlocking));
    TMM__TRY(cudaEventCreate(&m->start));
    TMM__TRY(cudaEventCreate(&m->stop));
    TMM__TRY(cudaEventCreateWithFlags(&m->join, cudaEventDisableTiming));
    for (int b = 0; b < TMM__MULTI_BUFFERS; b++) {
        TMM__TRY(cudaEventCreateWithFlags(&m->ready[b], cudaEventDisableTiming));
        TMM__TRY(cudaEventCreateWithFlags(&m->used[b], cudaEventDisableTiming));
    }
    return tmm__on(p->device, error, "memory, stream or event");
}

static inline void tmm__member_close(const tmm_part *p, tmm__member *m)
{
    (void)cudaSetDevice(p->device);
    tmm__device_memory_free(m->buffers, m->pool, m->copy);
    if (m->copy != NULL) (void)cudaStreamDestroy(m->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS; s++)
        if (m->compute[s] != NULL) (void)cudaStreamDestroy(m->compute[s]);
    if (m->start != NULL) (void)cudaEventDestroy(m->start);
    if (m->stop != NULL) (void)cudaEventDestroy(m->stop);
    if (m->join != NULL) (void)cudaEventDestroy(m->join);
    for (int b = 0; b < TMM__MULTI_BUFFERS; b++) {
        if (m->ready[b] != NULL) (void)cudaEventDestroy(m->ready[b]);
        if (m->used[b] != NULL) (void)cudaEventDestroy(m->used[b]);
    }
}

/* Enqueues column of blocks number j on one device. */
static inline tmm_status tmm__multi_step(const tmm__job *job, const tmm_part *parts, int count,
                                         int number, tmm__member *m, long long j, long long bn,
                                         size_t pitch, size_t bytes)
{
    const tmm_part *p = &parts[number];
    long long n0 = j * bn, cols = tmm__min(job->N - n0, bn), size = (long long)job->size;
    int b = (int)(j % TMM__MULTI_BUFFERS), s = (int)(j % TMM__MULTI_STREAMS);
    int transA = job->opA == TMM_OP_T, transB = job->opB == TMM_OP_T;
    const char *B = (const char *)p->B, *A = (const char *)p->A;
    long long ldb = p->ldb;
    cudaError_t error = cudaSetDevice(p->device);
    tmm_status status = TMM_OK;
    if (m->buffers != NULL) {
        char *buffer = m->buffers + (size_t)b * bytes;
        if (error == cudaSuccess && j >= TMM__MULTI_BUFFERS)
            error = cudaStreamWaitEvent(m->copy, m->used[b], 0);
        status = tmm__on(p->device, error, "cudaStreamWaitEvent");
        if (status == TMM_OK)
            status = tmm__gather(job, parts, count, number, buffer, pitch, n0, cols, m->copy);
        if (status != TMM_OK) return status;
        error = cudaEventRecord(m->ready[b], m->copy);
        if (error == cudaSuccess) error = cudaStreamWaitEvent(m->compute[s], m->ready[b], 0);
        B = buffer;
        ldb = (long long)pitch / size;
        n0 = 0;
    }
    status = tmm__on(p->device, error, "cudaStreamWaitEvent");
    char *C = (char *)p->C + (size_t)(j * bn) * job->size;
    for (long long k = 0, k0 = 0; status == TMM_OK && (k == 0 || k0 < job->K); k++) {
        const char *a = A, *b_part = B;
        long long end = tmm__cut(job, k + 1);
        if (job->K > 0) {
            a += (size_t)(transA ? k0 * p->lda : k0) * job->size;
            b_part += (size_t)(transB ? n0 * ldb + k0 : k0 * ldb + n0) * job->size;
        }
        status = tmm__named(p->device, job->launch(job, p->rows, cols, end - k0, a, p->lda, b_part,
                                                   ldb, k > 0, C, p->ldc, m->compute[s]));
        k0 = end;
    }
    if (status == TMM_OK)
        status = tmm__on(p->device, cudaEventRecord(m->used[b], m->compute[s]), "cudaEventRecord");
    return status;
}

static inline tmm_status tmm__multi_run(const tmm__job *job, tmm_part *parts, int count)
{
    long long bn = job->N, least = (job->N - 1) / 8 + 1;
    size_t pitch = 0, bytes = 0;
    int current = 0, gathers = job->K > 0 && count > 1;
    if (gathers) {
        bn = tmm__edge(job->N,
                       tmm__min(job->N, least > TMM__MULTI_COLUMNS ? least : TMM__MULTI_COLUMNS));
        pitch = ((size_t)(job->opB == TMM_OP_N ? bn : job->K) * job->size + 15) / 16 * 16;
        bytes = (pitch * (size_t)(job->opB == TMM_OP_N ? job->K : bn) + 255) / 256 * 256;
    }
    long long nj = (job->N - 1) / bn + 1;
    tmm_status status = tmm__cuda(cudaGetDevice(&current), "cudaGetDevice");
    if (status != TMM_OK) return status;
    tmm__member *members = (tmm__member *)calloc((size_t)count, sizeof *members);
    if (members == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the devices");
    for (int n = 0; n < count && status == TMM_OK; n++) {
        parts[n].seconds = 0;
        status = tmm__on(parts[n].device, cudaSetDevice(parts[n].device), "cudaSetDevice");
        for (int from = 0; from < count && gathers && status == TMM_OK; from++) {
            int can = 0;
            if (parts[from].device == parts[n].device) continue;
            status = tmm__on(parts[n].device,
                             cudaDeviceCanAccessPeer(&can, parts[n].device, parts[from].device),
                             "cudaDeviceCanAccessPeer");
            if (can) (void)cudaDeviceEnablePeerAccess(parts[from].device, 0);
            (void)cudaGetLastError(); /* without it, the same copies go through the host */
        }
    }
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0 || parts[n].rows_B > 0)
            status = tmm__member_open(job, &parts[n], &members[n],
                                      gathers && parts[n].rows > 0
                                          ? bytes * (size_t)tmm__min(nj, TMM__MULTI_BUFFERS)
                                          : 0);
    for (int n = 0; n < count && status == TMM_OK; n++) {
        tmm__member *m = &members[n];
        if (parts[n].rows == 0) continue;
        cudaError_t error = cudaEventRecord(m->start, m->copy);
        for (int c = 0; c < TMM__MULTI_STREAMS && error == cudaSuccess; c++)
            error = cudaStreamWaitEvent(m->compute[c], m->start, 0);
        status = tmm__on(parts[n].device, error, "cudaEventRecord");
    }
    for (long long j = 0; j < nj; j++)
        for (int n = 0; n < count && status == TMM_OK; n++)
            if (parts[n].rows > 0)
                status = tmm__multi_step(job, parts, count, n, &members[n], j, bn, pitch, bytes);
    for (int n = 0; n < count && status == TMM_OK; n++) {
        tmm__member *m = &members[n];
        if (parts[n].rows == 0) continue;
        cudaError_t error = cudaEventRecord(m->join, m->compute[1]);
        if (error == cudaSuccess) error = cudaStreamWaitEvent(m->compute[0], m->join, 0);
        if (error == cudaSuccess) error = cudaEventRecord(m->stop, m->compute[0]);
        status = tmm__on(parts[n].device, error, "cudaEventRecord");
    }
    /* Also after a failure: nothing may be under way in the caller's memory. */
    for (int n = 0; n < count; n++) {
        tmm__member *m = &members[n];
        float ms = 0;
        if (m->copy == NULL || cudaSetDevice(parts[n].device) != cudaSuccess) continue;
        cudaError_t error = cudaStreamSynchronize(m->copy);
        for (int s = 0; s < TMM__MULTI_STREAMS; s++)
            if (m->compute[s] != NULL && error == cudaSuccess)
                error = cudaStreamSynchronize(m->compute[s]);
        if (status == TMM_OK) status = tmm__on(parts[n].device, error, "kernel or copy");
        if (status == TMM_OK && parts[n].rows > 0 &&
            cudaEventElapsedTime(&ms, m->start, m->stop) == cudaSuccess)
            parts[n].seconds = ms * 1e-3;
    }
    for (int n = 0; n < count; n++) tmm__member_close(&parts[n], &members[n]);
    free(members);
    (void)cudaSetDevice(current);
    (void)cudaGetLastError();
    return status;
}
#endif
