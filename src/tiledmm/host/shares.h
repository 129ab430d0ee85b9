/* src/tiledmm/host/shares.h. All devices: their options, the rows that each gets, and its blocks.
   Uses: host/, once/. Used by: devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* Checks the options that need no device. */
static inline tmm_status tmm__check_options(const tmm_host_options *o)
{
    if (o->device_count < 0 || o->device_count > TMM__MAX_DEVICES)
        return tmm__fail(TMM_ERROR_ARGUMENT, "device_count is %d, but must be 0 to %d",
                         o->device_count, (int)TMM__MAX_DEVICES);
    if (o->streams < 0 || o->streams > TMM__MAX_STREAMS)
        return tmm__fail(TMM_ERROR_ARGUMENT, "streams is %d, but must be 0 to %d", o->streams,
                         (int)TMM__MAX_STREAMS);
    if (o->threads < 0 || o->threads > TMM__MAX_THREADS)
        return tmm__fail(TMM_ERROR_ARGUMENT, "threads is %d, but must be 0 to %d", o->threads,
                         (int)TMM__MAX_THREADS);
    if (o->block < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "block is negative: %lld", o->block);
    if (tmm_kernel_string(o->kernel) == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel",
                         (int)o->kernel);
    return TMM_OK;
}

/* Checks the options and opens the devices. */
static inline tmm_status tmm__host_open(tmm__host *h, int current)
{
    const tmm_host_options *o = h->options;
    tmm_status status = tmm__check_options(o);
    if (status != TMM_OK) return status;
    h->count = o->device_count > 0 ? o->device_count : 1;
    h->streams = o->streams > 0 ? o->streams : 2;
    h->workers = (tmm__worker *)calloc((size_t)h->count, sizeof *h->workers);
    if (h->workers == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the devices");
    for (int n = 0; n < h->count && status == TMM_OK; n++) {
        tmm__worker *w = &h->workers[n];
        w->number = n;
        w->device = o->device_count == 0 ? current : o->devices != NULL ? o->devices[n] : n;
        w->uploads_end = &w->uploads;
        w->downloads_end = &w->downloads;
        status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
        /* An unusable device shows itself at the first call that needs it. */
        if (status == TMM_OK)
            status = tmm__device_error(w->device, cudaFree(NULL), "the first call to it");
    }
    return status;
}

/* Seconds of a small product on the current device. */
static inline tmm_status tmm__calibrate(const tmm__host *h, int device, double *seconds)
{
    tmm__job small = h->job;
    long long edge = tmm__min(1024, tmm__min(small.M, tmm__min(small.N, small.K)));
    size_t bytes = (size_t)(edge * edge) * (small.size > small.size_C ? small.size : small.size_C);
    char *memory = NULL;
    tmm__block_product block;
    cudaEvent_t begin = NULL, end = NULL;
    cudaStream_t stream = NULL;
    float ms = 0;
    *seconds = 1;
    small.allowed = 0;
    cudaError_t error = cudaMalloc((void **)&memory, 3 * bytes);
    if (error == cudaSuccess) error = cudaEventCreate(&begin);
    if (error == cudaSuccess) error = cudaEventCreate(&end);
    error = tmm__stream_open(error, &stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(memory, 0, 3 * bytes, stream);
    tmm_status status = tmm__device_error(device, error, "calibration");
    block.M = block.N = block.K = block.lda = block.ldb = block.ldc = edge;
    block.A = memory, block.B = memory + bytes, block.C = memory + 2 * bytes;
    block.adds = 1;
    for (int n = 0; n < 4 && status == TMM_OK; n++) { /* the first is a warm-up */
        if (n == 1) error = cudaEventRecord(begin, stream);
        status = tmm__add_device(device, small.launch(&small, &block, stream));
    }
    if (status == TMM_OK) {
        if (error == cudaSuccess) error = cudaEventRecord(end, stream);
        if (error == cudaSuccess) error = cudaEventSynchronize(end);
        if (error == cudaSuccess) error = cudaEventElapsedTime(&ms, begin, end);
        status = tmm__device_error(device, error, "calibration");
    }
    if (stream != NULL) (void)tmm__succeeded(cudaStreamSynchronize(stream));
    tmm__stream_close(stream);
    tmm__event_close(end);
    tmm__event_close(begin);
    (void)tmm__succeeded(cudaFree(memory));
    if (ms > 0) *seconds = ms * 1e-3;
    return status;
}

/* Are the devices of the list of one kind? Then their speed need not be measured. */
static inline int tmm__same_kind(const tmm__host *h)
{
    tmm__device first;
    memset(&first, 0, sizeof first);
    for (int n = 0; n < h->count; n++) {
        /* The calibration will meet this error again. */
        if (!tmm__succeeded(cudaSetDevice(h->workers[n].device))) return 0;
        const tmm__device *device = tmm__current_device();
        if (n == 0) first = *device;
        if (device->processors != first.processors || device->capability != first.capability ||
            device->arithmetic != first.arithmetic || device->bandwidth != first.bandwidth)
            return 0;
    }
    return 1;
}

/* Workers on one device share its weight. */
static inline tmm_status tmm__measure_weights(const tmm__host *h, double *weights)
{
    double fastest = 0, slowest = HUGE_VAL;
    for (int n = 0; n < h->count; n++) {
        int first = n, device = h->workers[n].device;
        for (int i = n - 1; i >= 0; i--)
            if (h->workers[i].device == device) first = i;
        if (first == n) {
            double seconds = 1;
            tmm_status status = tmm__device_error(device, cudaSetDevice(device), "cudaSetDevice");
            if (status == TMM_OK) status = tmm__calibrate(h, device, &seconds);
            if (status != TMM_OK) return status;
            weights[n] = 1 / seconds;
        } else {
            weights[n] = weights[first];
        }
        if (weights[n] < slowest) slowest = weights[n];
        if (weights[n] > fastest) fastest = weights[n];
    }
    for (int n = 0; n < h->count; n++) {
        int same = 0;
        for (int i = 0; i < h->count; i++) same += h->workers[i].device == h->workers[n].device;
        /* Devices of one kind measure within a few percent of one another. */
        if (slowest > 0.95 * fastest) weights[n] = 1;
        weights[n] /= same;
    }
    return TMM_OK;
}

/* Scaled: the largest becomes 1, so that their sum is finite. */
static inline tmm_status tmm__read_weights(const tmm__host *h, double *weights)
{
    double largest = 0;
    for (int n = 0; n < h->count; n++) {
        double weight = h->options->weights[n];
        if (!(weight >= 0 && weight < HUGE_VAL))
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "weights[%d] is %g, but must be finite and not negative", n, weight);
        if (weight > largest) largest = weight;
    }
    if (largest == 0) return tmm__fail(TMM_ERROR_ARGUMENT, "all weights are 0");
    for (int n = 0; n < h->count; n++) weights[n] = h->options->weights[n] / largest;
    return TMM_OK;
}

/* The caller's rows. */
static inline tmm_status tmm__read_rows(tmm__host *h)
{
    const long long *rows = h->options->rows;
    long long M = h->job.M, given = 0;
    for (int n = 0; n < h->count; n++) {
        if (rows[n] < 0 || rows[n] > M - given)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "rows[%d] is %lld: negative, or more than the %lld of C that are left",
                             n, rows[n], M - given);
        h->workers[n].layout.rows = rows[n];
        h->workers[n].row = given;
        given += rows[n];
    }
    if (given < M)
        return tmm__fail(TMM_ERROR_ARGUMENT, "rows adds up to %lld, but M is %lld", given, M);
    return TMM_OK;
}

/* Decides which rows each device gets. */
static inline tmm_status tmm__share_rows(tmm__host *h)
{
    long long M = h->job.M, given = 0;
    double weights[TMM__MAX_DEVICES], total = 0, sum = 0;
    tmm_status status = TMM_OK;
    if (h->options->rows != NULL) return tmm__read_rows(h);
    for (int n = 0; n < h->count; n++) weights[n] = 1;
    if (h->options->weights != NULL)
        status = tmm__read_weights(h, weights);
    else if (h->job.K > 0 && !tmm__same_kind(h))
        status = tmm__measure_weights(h, weights);
    if (status != TMM_OK) return status;
    for (int n = 0; n < h->count; n++) total += weights[n];
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
    /* What rounding left to last devices of weight 0 goes to one with a weight. */
    for (int n = h->count - 1; n > 0 && weights[n] == 0; n--) {
        tmm__worker *w = &h->workers[n];
        w[-1].layout.rows += w->layout.rows;
        w->row += w->layout.rows;
        w->layout.rows = 0;
    }
    return TMM_OK;
}

/* Bytes of device memory that a worker may take. */
static inline tmm_status tmm__memory_limit(const tmm__host *h, const tmm__worker *w, size_t *limit)
{
    size_t free_bytes = 0, total = 0;
    int same = 0;
    *limit = h->options->memory;
    if (*limit > 0) return TMM_OK;
    for (int n = 0; n < h->count; n++)
        same += h->workers[n].device == w->device && h->workers[n].layout.rows > 0;
    tmm_status status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
    if (status == TMM_OK)
        status =
            tmm__device_error(w->device, cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    if (status != TMM_OK) return status;
    free_bytes += tmm__pool_idle(w->device);
    *limit = free_bytes / 10 * 9 / (size_t)same;
    return TMM_OK;
}

/* Tries resident layouts for all workers (`by_parts`: with all of C), with at least two parts of
   B of one size for each. 1 if all are within their limits. */
static inline int tmm__try_resident(tmm__host *h, const size_t *limits, int ranks, int by_parts)
{
    const tmm__job *job = &h->job;
    long long edge = h->options->block > 0 ? h->options->block : 2048;
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        if (w->layout.rows == 0) continue;
        long long bm = tmm__block_edge(w->layout.rows, edge), bn = tmm__block_edge(job->N, edge);
        if (h->options->block == 0)
            tmm__block_shape(job, w->layout.rows, edge, ranks > 1 ? 2 * ranks : 1, &bm, &bn);
        tmm__layout_resident(job, &w->layout, bm, bn, h->streams, by_parts);
        if (w->layout.bytes > limits[n]) return 0;
    }
    return 1;
}

/* Decides on blocks and slots of each device. */
static inline tmm_status tmm__host_layout(tmm__host *h)
{
    size_t limits[TMM__MAX_DEVICES];
    int ranks = 0;
    tmm_status status = TMM_OK;
    for (int n = 0; n < h->count && status == TMM_OK; n++) {
        tmm__worker *w = &h->workers[n];
        limits[n] = 0;
        if (w->layout.rows == 0) continue;
        w->rank = ranks;
        h->active[ranks++] = n;
        status = tmm__memory_limit(h, w, &limits[n]);
    }
    if (status != TMM_OK) return status;
    int resident = tmm__try_resident(h, limits, ranks, 1) || tmm__try_resident(h, limits, ranks, 0);
    h->peers = resident && h->job.K > 0 ? ranks : 0;
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        if (w->layout.rows == 0) continue;
        if (!resident) {
            long long edge = h->options->block > 0 ? h->options->block : 4096;
            status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
            if (status == TMM_OK)
                status =
                    tmm__add_device(w->device, tmm__layout_find(&h->job, &w->layout, w->layout.rows,
                                                                edge, h->streams, limits[n]));
            if (status != TMM_OK) return status;
        }
        w->task_count = tmm__list_tasks(&w->layout, NULL);
        if (w->task_count > 1ll << 26)
            return tmm__fail(TMM_ERROR_MEMORY,
                             "device %d: blocks of %lld x %lld are too many; give it more memory",
                             w->device, w->layout.bm, w->layout.bn);
    }
    return TMM_OK;
}
#endif
