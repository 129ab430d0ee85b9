/* src/tiledmm/host/transfer.h. Copies between host and device, staged ones in chunks.
   Uses: host/threads.h. Used by: host/one_device.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_TRANSFER)
#define TMM__PART_HOST_TRANSFER
/* ---- transfers ------------------------------------------------------------------------------- */
/* Is this event complete? 1 or 0, or -1 with a status. */
static inline int tmm__complete(const tmm__worker *w, cudaEvent_t event, tmm_status *status)
{
    cudaError_t error = cudaEventQuery(event);
    if (error == cudaSuccess) return 1;
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* else the next launch would seem to have failed */
        return 0;
    }
    *status = tmm__on(w->device, error, "kernel or copy");
    return -1;
}

/* `rows` lines of `width` bytes, all in one if they lie without gaps, one by one if they are too
   long for a copy of lines. */
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

static inline tmm_status tmm__record(tmm__worker *w, tmm__transfer *t)
{
    t->issued = 1;
    return tmm__on(w->device, cudaEventRecord(t->event, t->stream), "cudaEventRecord");
}

/* Starts a copy to the device (up) or from it; a staged one gets its turn in tmm__pump. */
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
            return tmm__on(w->device, error, up ? "copy to the device" : "copy from the device");
        return tmm__record(w, t);
    }
    size_t lines = TMM__HOST_CHUNK / t->width;
    t->chunks = lines > 0 ? (t->rows + lines - 1) / lines
                          : t->rows * ((t->width + TMM__HOST_CHUNK - 1) / TMM__HOST_CHUNK);
    tmm__transfer ***end = up ? &w->up_end : &w->down_end;
    **end = t;
    *end = &t->next;
    return TMM_OK;
}

/* The next chunk of a staged transfer: whole lines, or a part of a line that is too long. */
static inline void tmm__transfer_cut(tmm__transfer *t, tmm__chunk *c)
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

/* Puts the chunk's copy between chunk and device on the stream, and an event behind it. */
static inline tmm_status tmm__chunk_issue(tmm__worker *w, tmm__chunk *c, int up)
{
    tmm__transfer *t = c->transfer;
    cudaError_t error = cudaSetDevice(w->device);
    if (error == cudaSuccess && c->events[w->number] == NULL)
        error = cudaEventCreateWithFlags(&c->events[w->number], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = up ? tmm__copy_lines(c->device_memory, t->device_pitch, c->memory, c->width,
                                     c->width, c->rows, cudaMemcpyHostToDevice, t->stream)
                   : tmm__copy_lines(c->memory, c->width, c->device_memory, t->device_pitch,
                                     c->width, c->rows, cudaMemcpyDeviceToHost, t->stream);
    if (error == cudaSuccess) error = cudaEventRecord(c->events[w->number], t->stream);
    if (error != cudaSuccess)
        return tmm__on(w->device, error, up ? "copy to the device" : "copy from the device");
    c->number = w->issued[up]++;
    return ++t->started == t->chunks ? tmm__record(w, t) : TMM_OK;
}

/* Moves every chunk on as far as it can go. *moved is set if one did. */
static inline tmm_status tmm__pump(tmm__host *h, int *moved)
{
    tmm_status status = TMM_OK;
    int idle = 0;
    for (int n = 0; n < h->chunk_count; n++) {
        tmm__chunk *c = &h->chunks[n];
        int complete;
        switch (c->state) {
        case TMM__IDLE: break;
        case TMM__COPYING_IN:
            if (!tmm__crew_copied(c)) break;
            status = tmm__chunk_issue(c->worker, c, 1);
            if (status != TMM_OK) return status;
            c->state = TMM__GOING_UP;
            *moved = 1;
            break;
        case TMM__GOING_UP:
        case TMM__GOING_DOWN:
            /* Only the first in line can be complete; to ask takes a microsecond. */
            if (c->number != c->worker->arrived[c->state == TMM__GOING_UP]) break;
            complete = tmm__complete(c->worker, c->events[c->worker->number], &status);
            if (complete < 0) return status;
            if (complete == 0) break;
            *moved = 1;
            c->worker->arrived[c->state == TMM__GOING_UP]++;
            if (c->state == TMM__GOING_UP) {
                c->transfer->done++;
                c->state = TMM__IDLE;
            } else {
                c->state = TMM__COPYING_OUT;
                tmm__crew_ask(&h->crew, c);
            }
            break;
        case TMM__COPYING_OUT:
            if (!tmm__crew_copied(c)) break;
            c->transfer->done++;
            c->state = TMM__IDLE;
            *moved = 1;
            break;
        }
        idle += c->state == TMM__IDLE;
    }
    /* Idle chunks go to the devices in turn, first to what drains; copies in leave one for that. */
    for (int n = 0, without = 0; n < h->chunk_count && without < h->count;) {
        tmm__chunk *c = &h->chunks[n];
        tmm__worker *w = &h->workers[h->turn];
        h->turn = (h->turn + 1) % h->count;
        if (c->state != TMM__IDLE) {
            n++;
            continue;
        }
        int up = w->down == NULL;
        tmm__transfer *t = up ? w->up : w->down;
        if (t == NULL || (up && idle < 2)) {
            without++;
            continue;
        }
        without = 0;
        idle--;
        c->worker = w;
        c->transfer = t;
        tmm__transfer_cut(t, c);
        if (t->begun == t->chunks) {
            tmm__transfer **head = up ? &w->up : &w->down;
            *head = t->next;
            if (*head == NULL) *(up ? &w->up_end : &w->down_end) = head;
        }
        if (up) {
            c->state = TMM__COPYING_IN;
            tmm__crew_ask(&h->crew, c);
        } else {
            c->state = TMM__GOING_DOWN;
            status = tmm__chunk_issue(w, c, 0);
            if (status != TMM_OK) return status;
        }
        *moved = 1;
    }
    return status;
}
#endif
