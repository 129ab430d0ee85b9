/* src/tiledmm/host/transfer.h. Copies between host and device, staged ones in chunks.
   Uses: host/, once/. Used by: host/. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* 1 or 0, or -1 with a status. CUDA puts "not ready" on record as an error, in place of an older
   one, which is lost then. */
static inline int tmm__complete(const tmm__worker *w, cudaEvent_t event, tmm_status *status)
{
    cudaError_t error = cudaEventQuery(event);
    if (tmm__succeeded(error)) return 1;
    if (error == cudaErrorNotReady) return 0;
    *status = tmm__device_error(w->device, error, "kernel or copy");
    return -1;
}

/* In one piece if lines have no gaps, one by one if their pitch is too large for a 2D copy. */
static inline cudaError_t tmm__copy_lines(char *to, size_t to_pitch, const char *from,
                                          size_t from_pitch, size_t width, size_t rows,
                                          cudaMemcpyKind kind, cudaStream_t stream)
{
    if (rows == 1 || (to_pitch == width && from_pitch == width))
        return cudaMemcpyAsync(to, from, width * rows, kind, stream);
    if (to_pitch <= TMM__HOST_PITCH && from_pitch <= TMM__HOST_PITCH)
        return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, stream);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < rows && error == cudaSuccess; row++)
        error = cudaMemcpyAsync(to + row * to_pitch, from + row * from_pitch, width, kind, stream);
    return error;
}

/* Records the event after the copy. */
static inline tmm_status tmm__record(tmm__worker *w, tmm__transfer *t)
{
    t->issued = 1;
    return tmm__device_error(w->device, cudaEventRecord(t->event, t->stream), "cudaEventRecord");
}

/* Starts a copy to the device (up) or from it. A staged one is queued for tmm__pump. */
static inline tmm_status tmm__transfer_start(tmm__worker *w, tmm__transfer *t, int up, int staged)
{
    t->next = NULL;
    t->issued = 0;
    t->begun = t->started = t->done = t->chunks = 0;
    *(up ? &w->bytes_in : &w->bytes_out) += (double)t->width * (double)t->rows;
    if (!staged) {
        cudaError_t error =
            up ? tmm__copy_lines(t->device_memory, t->device_pitch, t->host, t->host_pitch,
                                 t->width, t->rows, cudaMemcpyHostToDevice, t->stream)
               : tmm__copy_lines(t->host, t->host_pitch, t->device_memory, t->device_pitch,
                                 t->width, t->rows, cudaMemcpyDeviceToHost, t->stream);
        if (error != cudaSuccess)
            return tmm__device_error(w->device, error,
                                     up ? "copy to the device" : "copy from the device");
        return tmm__record(w, t);
    }
    size_t lines = TMM__HOST_CHUNK / t->width;
    t->chunks = lines > 0 ? (t->rows + lines - 1) / lines
                          : t->rows * ((t->width + TMM__HOST_CHUNK - 1) / TMM__HOST_CHUNK);
    tmm__transfer ***end = up ? &w->uploads_end : &w->downloads_end;
    **end = t;
    *end = &t->next;
    return TMM_OK;
}

/* The next piece of a staged transfer: whole lines, or a piece of a line that is longer than a
   chunk. */
static inline void tmm__chunk_assign(tmm__transfer *t, tmm__chunk *c)
{
    size_t lines = TMM__HOST_CHUNK / t->width, row, offset = 0;
    if (lines > 0) {
        row = t->begun * lines;
        c->rows = t->rows - row < lines ? t->rows - row : lines;
        c->width = t->width;
    } else {
        size_t pieces = (t->width + TMM__HOST_CHUNK - 1) / TMM__HOST_CHUNK;
        row = t->begun / pieces;
        offset = t->begun % pieces * TMM__HOST_CHUNK;
        c->rows = 1;
        c->width = t->width - offset < TMM__HOST_CHUNK ? t->width - offset : TMM__HOST_CHUNK;
    }
    c->host = t->host + row * t->host_pitch + offset;
    c->device_memory = t->device_memory + row * t->device_pitch + offset;
    t->begun++;
}

static inline tmm_status tmm__chunk_issue(tmm__worker *w, tmm__chunk *c, int up)
{
    tmm__transfer *t = c->transfer;
    cudaError_t error = cudaSetDevice(w->device);
    if (error == cudaSuccess && c->events[w->number] == NULL)
        error = tmm__event_open(error, &c->events[w->number]);
    if (error == cudaSuccess)
        error = up ? tmm__copy_lines(c->device_memory, t->device_pitch, c->memory, c->width,
                                     c->width, c->rows, cudaMemcpyHostToDevice, t->stream)
                   : tmm__copy_lines(c->memory, c->width, c->device_memory, t->device_pitch,
                                     c->width, c->rows, cudaMemcpyDeviceToHost, t->stream);
    if (error == cudaSuccess) error = cudaEventRecord(c->events[w->number], t->stream);
    if (error != cudaSuccess)
        return tmm__device_error(w->device, error,
                                 up ? "copy to the device" : "copy from the device");
    c->number = w->issued[up]++;
    return ++t->started == t->chunks ? tmm__record(w, t) : TMM_OK;
}

/* Moves a busy chunk on as far as it can go. *moved is set if it has. */
static inline tmm_status tmm__chunk_advance(tmm__host *h, tmm__chunk *c, int *moved)
{
    tmm_status status = TMM_OK;
    int up = c->state == TMM__GOING_UP, complete;
    switch (c->state) {
    case TMM__IDLE: return TMM_OK;
    case TMM__COPYING_IN:
        if (!tmm__chunk_copied(c)) return TMM_OK;
        status = tmm__chunk_issue(c->worker, c, 1);
        if (status != TMM_OK) return status;
        c->state = TMM__GOING_UP;
        break;
    case TMM__GOING_UP:
    case TMM__GOING_DOWN:
        /* Only the oldest can be complete; a query takes a microsecond. */
        if (c->number != c->worker->arrived[up]) return TMM_OK;
        complete = tmm__complete(c->worker, c->events[c->worker->number], &status);
        if (complete != 1) return status;
        c->worker->arrived[up]++;
        if (up) {
            c->transfer->done++;
            c->state = TMM__IDLE;
        } else {
            c->state = TMM__COPYING_OUT;
            tmm__helpers_copy(&h->helpers, c);
        }
        break;
    case TMM__COPYING_OUT:
        if (!tmm__chunk_copied(c)) return TMM_OK;
        c->transfer->done++;
        c->state = TMM__IDLE;
        break;
    }
    *moved = 1;
    return TMM_OK;
}

/* For the first of the worker's downloads (up = 0) or uploads. */
static inline tmm_status tmm__chunk_start(tmm__host *h, tmm__worker *w, tmm__chunk *c, int up)
{
    tmm__transfer **head = up ? &w->uploads : &w->downloads, *t = *head;
    c->worker = w;
    c->transfer = t;
    tmm__chunk_assign(t, c);
    if (t->begun == t->chunks) {
        *head = t->next;
        if (*head == NULL) *(up ? &w->uploads_end : &w->downloads_end) = head;
    }
    if (up) {
        c->state = TMM__COPYING_IN;
        tmm__helpers_copy(&h->helpers, c);
        return TMM_OK;
    }
    c->state = TMM__GOING_DOWN;
    return tmm__chunk_issue(w, c, 0);
}

/* Idle chunks go to the workers in turn, to downloads first. Uploads leave one chunk idle for
   these. */
static inline tmm_status tmm__pump(tmm__host *h, int *moved)
{
    tmm_status status = TMM_OK;
    int idle = 0, without = 0; /* chunks; workers in a row that had no use for one */
    for (int n = 0; n < h->chunk_count && status == TMM_OK; n++) {
        status = tmm__chunk_advance(h, &h->chunks[n], moved);
        idle += h->chunks[n].state == TMM__IDLE;
    }
    for (int n = 0; status == TMM_OK && n < h->chunk_count && without < h->count;) {
        if (h->chunks[n].state != TMM__IDLE) {
            n++;
            continue;
        }
        tmm__worker *w = &h->workers[h->next_worker];
        h->next_worker = (h->next_worker + 1) % h->count;
        int up = w->downloads == NULL;
        without++;
        if (up && (w->uploads == NULL || idle < 2)) continue;
        without = 0;
        idle--;
        status = tmm__chunk_start(h, w, &h->chunks[n], up);
        *moved = 1;
    }
    return status;
}
#endif
