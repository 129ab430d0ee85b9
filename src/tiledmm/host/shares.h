/* src/tiledmm/host/shares.h. All devices: which rows each gets, and its blocks.
   Uses: host/layout.h. Used by: host/devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_SHARES)
#define TMM__PART_HOST_SHARES
/* ---- all devices ----------------------------------------------------------------------------- */
/* What the list of devices says: number n of `count`. */
static inline int tmm__listed(const tmm_host_options *o, int n, int current)
{
    return o->device_count == 0 ? current : o->devices ? o->devices[n] : n;
}

/* Looks at the options and opens the devices. */
static inline tmm_status tmm__host_open(tmm__host *h, int current)
{
    const tmm_host_options *o = h->options;
    if (o->device_count < 0 || o->device_count > TMM__MOST_DEVICES)
        return tmm__fail(TMM_ERROR_ARGUMENT, "device_count is %d, but must be 0 to %d",
                         o->device_count, (int)TMM__MOST_DEVICES);
    if (o->streams < 0 || o->streams > TMM__MOST_STREAMS)
        return tmm__fail(TMM_ERROR_ARGUMENT, "streams is %d, but must be 0 to %d", o->streams,
                         (int)TMM__MOST_STREAMS);
    if (o->block < 0 || o->threads < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is negative", o->block < 0 ? "block" : "threads");
    if (o->workspace != NULL && o->workspace_bytes == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "workspace is given without workspace_bytes");
    if (h->job.kernel != TMM_AUTO && tmm_kernel_string(h->job.kernel) == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel",
                         (int)h->job.kernel);
    h->count = o->device_count > 0 ? o->device_count : 1;
    h->streams = o->streams > 0 ? o->streams : 2;
    h->workers = (tmm__worker *)calloc((size_t)h->count, sizeof *h->workers);
    if (h->workers == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the devices");
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        w->number = n;
        w->device = tmm__listed(o, n, current);
        w->up_end = &w->up;
        w->down_end = &w->down;
        tmm_status status = tmm__on(w->device, cudaSetDevice(w->device), "cudaSetDevice");
        /* An unusable device shows itself at the first call that needs it. */
        if (status == TMM_OK) status = tmm__on(w->device, cudaFree(NULL), "the first call to it");
        if (status != TMM_OK) return status;
    }
    return TMM_OK;
}

/* Seconds of a small product on the current device. */
static inline tmm_status tmm__calibrate(const tmm__host *h, int device, double *seconds)
{
    const tmm__job *job = &h->job;
    long long edge = tmm__min(1024, tmm__min(job->M, tmm__min(job->N, job->K)));
    size_t bytes = (size_t)(edge * edge) * job->size;
    char *memory = NULL;
    tmm__job small = *job;
    cudaEvent_t begin = NULL, end = NULL;
    cudaStream_t stream = NULL;
    float ms = 0;
    *seconds = 1;
    small.may = 0;
    cudaError_t error = cudaMalloc((void **)&memory, 3 * bytes);
    if (error == cudaSuccess) error = cudaEventCreate(&begin);
    if (error == cudaSuccess) error = cudaEventCreate(&end);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaMemsetAsync(memory, 0, 3 * bytes, stream);
    tmm_status status = tmm__on(device, error, "calibration");
    for (int n = 0; n < 4 && status == TMM_OK; n++) { /* the first is a warm-up */
        if (n == 1) error = cudaEventRecord(begin, stream);
        status =
            tmm__named(device, small.launch(&small, edge, edge, edge, memory, edge, memory + bytes,
                                            edge, 1, memory + 2 * bytes, edge, stream));
    }
    if (status == TMM_OK) {
        if (error == cudaSuccess) error = cudaEventRecord(end, stream);
        if (error == cudaSuccess) error = cudaEventSynchronize(end);
        if (error == cudaSuccess) error = cudaEventElapsedTime(&ms, begin, end);
        status = tmm__on(device, error, "calibration");
    }
    if (stream != NULL) {
        (void)cudaStreamSynchronize(stream);
        (void)cudaStreamDestroy(stream);
    }
    if (end != NULL) (void)cudaEventDestroy(end);
    if (begin != NULL) (void)cudaEventDestroy(begin);
    (void)cudaFree(memory);
    (void)cudaGetLastError();
    if (ms > 0) *seconds = ms * 1e-3;
    return status;
}

/* Are the devices of the list of one kind, so that there is nothing to measure? */
static inline int tmm__same_kind(const tmm__host *h)
{
    tmm__device first;
    for (int n = 0; n < h->count; n++) {
        if (cudaSetDevice(h->workers[n].device) != cudaSuccess) {
            (void)cudaGetLastError(); /* which the calibration will meet again */
            return 0;
        }
        const tmm__device *device = tmm__current_device();
        if (n == 0) first = *device;
        if (device->processors != first.processors || device->capability != first.capability ||
            device->arithmetic != first.arithmetic || device->bandwidth != first.bandwidth)
            return 0;
    }
    return 1;
}

/* How many rows each device gets. */
static inline tmm_status tmm__share_rows(tmm__host *h, int measure)
{
    const tmm_host_options *o = h->options;
    long long M = h->job.M, given = 0;
    double weights[TMM__MOST_DEVICES], total = 0, sum = 0, fastest = 0, slowest = 0;
    if (o->rows != NULL) {
        for (int n = 0; n < h->count; n++) {
            if (o->rows[n] < 0 || o->rows[n] > M - given)
                return tmm__fail(TMM_ERROR_ARGUMENT,
                                 "rows[%d] is %lld: negative, or more than the %lld of C that are "
                                 "left",
                                 n, o->rows[n], M - given);
            h->workers[n].layout.rows = o->rows[n];
            h->workers[n].row = given;
            given += o->rows[n];
        }
        if (given < M)
            return tmm__fail(TMM_ERROR_ARGUMENT, "rows adds up to %lld, but M is %lld", given, M);
        return TMM_OK;
    }
    for (int n = 0; n < h->count; n++) weights[n] = 1;
    if (o->weights != NULL) {
        for (int n = 0; n < h->count; n++) {
            weights[n] = o->weights[n];
            if (!(weights[n] >= 0 && weights[n] <= 1e100))
                return tmm__fail(TMM_ERROR_ARGUMENT, "weights[%d] is %g", n, weights[n]);
        }
    } else if (measure && h->job.K > 0 && !tmm__same_kind(h)) {
        /* Products of each device in a second, shared by those that are the same device. */
        for (int n = 0; n < h->count; n++) {
            int first = n;
            double seconds;
            for (int i = n - 1; i >= 0; i--)
                if (h->workers[i].device == h->workers[n].device) first = i;
            if (first == n) {
                int device = h->workers[n].device;
                tmm_status status = tmm__on(device, cudaSetDevice(device), "cudaSetDevice");
                if (status == TMM_OK) status = tmm__calibrate(h, device, &seconds);
                if (status != TMM_OK) return status;
                weights[n] = 1 / seconds;
            } else {
                weights[n] = weights[first];
            }
            if (n == 0 || weights[n] < slowest) slowest = weights[n];
            if (n == 0 || weights[n] > fastest) fastest = weights[n];
        }
        for (int n = 0; n < h->count; n++) {
            int same = 0;
            for (int i = 0; i < h->count; i++) same += h->workers[i].device == h->workers[n].device;
            /* Devices of one kind measure within a few percent of one another. */
            if (slowest > 0.95 * fastest) weights[n] = 1;
            weights[n] /= same;
        }
    }
    for (int n = 0; n < h->count; n++) total += weights[n];
    if (!(total > 0)) return tmm__fail(TMM_ERROR_ARGUMENT, "all weights are 0");
    long long unit = M >= 1024ll * h->count ? 128 : 1;
    for (int n = 0; n < h->count; n++) {
        sum += weights[n];
        long long end = n == h->count - 1 ? M : (long long)(M * (sum / total) / unit + 0.5) * unit;
        if (end > M) end = M;
        if (end < given) end = given;
        h->workers[n].row = given;
        h->workers[n].layout.rows = end - given;
        given = end;
    }
    /* What rounding left to a last device of weight 0 goes to one that has some. */
    for (int n = h->count - 1; n > 0 && weights[n] == 0; n--) {
        tmm__worker *w = &h->workers[n];
        w[-1].layout.rows += w->layout.rows;
        w->row += w->layout.rows;
        w->layout.rows = 0;
    }
    return TMM_OK;
}

/* Decides on blocks and slots for each device. */
static inline tmm_status tmm__host_layout(tmm__host *h)
{
    const tmm_host_options *o = h->options;
    const tmm__job *job = &h->job;
    long long edge = o->block > 0 ? o->block : 2048;
    size_t most[TMM__MOST_DEVICES];
    int ranks = 0, share = 0;
    tmm_status status = TMM_OK;
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        most[n] = 0;
        if (w->layout.rows == 0) continue;
        w->rank = ranks;
        h->active[ranks++] = n;
        int same = 0;
        for (int i = 0; i < h->count; i++)
            same += h->workers[i].device == w->device && h->workers[i].layout.rows > 0;
        size_t free_bytes = 0, total = 0;
        if (o->workspace != NULL) {
            size_t skip = (256 - (size_t)o->workspace[n] % 256) % 256;
            if (o->workspace[n] == NULL)
                return tmm__fail(TMM_ERROR_ARGUMENT, "workspace[%d] is NULL", n);
            most[n] = o->workspace_bytes[n] > skip ? o->workspace_bytes[n] - skip : 0;
        } else if (o->memory > 0) {
            most[n] = o->memory;
        } else {
            status = tmm__on(w->device, cudaSetDevice(w->device), "cudaSetDevice");
            if (status == TMM_OK)
                status = tmm__on(w->device, cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
            if (status != TMM_OK) return status;
            free_bytes += tmm__pool_idle(w->device);
            most[n] = free_bytes / 10 * 9 / (size_t)same;
        }
    }
    /* Can all hold all of B? Then they share it, in parts of one size, at least two for each. */
    for (int by_parts = 1; by_parts >= 0 && !share; by_parts--) {
        share = 1;
        for (int n = 0; n < h->count && share; n++) {
            tmm__worker *w = &h->workers[n];
            if (w->layout.rows == 0) continue;
            long long bm = tmm__edge(w->layout.rows, edge), bn = tmm__edge(job->N, edge);
            if (o->block == 0)
                tmm__block_shape(job, w->layout.rows, edge, ranks > 1 ? 2 * ranks : 1, &bm, &bn);
            tmm__layout_resident(job, &w->layout, bm, bn, h->streams, by_parts);
            share = w->layout.bytes <= most[n];
        }
    }
    h->peers = share && job->K > 0 ? ranks : 0;
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        if (w->layout.rows == 0) continue;
        if (!share) {
            long long largest = o->block > 0 ? o->block : 4096;
            status = tmm__on(w->device, cudaSetDevice(w->device), "cudaSetDevice");
            if (status == TMM_OK)
                status = tmm__named(w->device, tmm__layout_find(job, &w->layout, w->layout.rows,
                                                                largest, h->streams, most[n]));
            if (status != TMM_OK) return status;
        }
        w->task_count = tmm__order(&w->layout, NULL);
        if (w->task_count > 1ll << 26)
            return tmm__fail(TMM_ERROR_MEMORY,
                             "device %d: blocks of %lld x %lld are too many; give it more memory",
                             w->device, w->layout.bm, w->layout.bn);
    }
    return TMM_OK;
}
#endif
