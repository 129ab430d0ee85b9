/* src/tiledmm/host/one_device.h. One device: slots, requests, launches.
   Uses: host/, once/. Used by: devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* A slot for another part: an empty one, or the one whose last use is oldest and has been launched.
   NULL if tasks to come need all of them. */
static inline tmm__slot *tmm__slot_find(const tmm__worker *w, tmm__slot *slots, long long count)
{
    tmm__slot *found = NULL;
    for (long long n = 0; n < count; n++) {
        if (slots[n].holds < 0) return &slots[n];
        if (slots[n].last_use < w->launched &&
            (found == NULL || slots[n].last_use < found->last_use))
            found = &slots[n];
    }
    return found;
}

/* Makes a slot hold a part. The stream waits for the kernels that still read what it held. */
static inline tmm_status tmm__slot_take(const tmm__host *h, tmm__worker *w, tmm__slot *slots,
                                        tmm__slot *slot, long long *slot_of, long long part,
                                        cudaStream_t stream)
{
    if (slot->holds >= 0) slot_of[slot->holds] = -1;
    slot->holds = part;
    slot_of[part] = slot - slots;
    for (int s = 0; s < h->streams; s++) {
        if (!(slot->in_use >> s & 1)) continue;
        tmm_status status =
            tmm__device_error(w->device, cudaStreamWaitEvent(stream, slot->used[s], 0),
                              "cudaStreamWaitEvent");
        if (status != TMM_OK) return status;
    }
    slot->in_use = 0;
    return TMM_OK;
}

/* The worker that a part of B comes from: another device that uploads it and that this one can
   reach, or the worker itself, from the host. */
static inline tmm__worker *tmm__source_of_B(tmm__host *h, tmm__worker *w, long long j, long long k)
{
    if (h->peers < 2) return w;
    int number = h->active[tmm__upload_position(&w->layout, j, k) % h->peers];
    return h->reach[w->number][number] ? &h->workers[number] : w;
}

static inline tmm_status tmm__copy_from_peer(tmm__worker *w, tmm__slot *slot, size_t bytes,
                                             const tmm__worker *owner, const tmm__slot *source)
{
    slot->copy.issued = 0;
    cudaError_t error = cudaStreamWaitEvent(w->peer, source->copy.event, 0);
    if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(slot->memory, w->device, source->memory, owner->device, bytes,
                                    w->peer);
    w->bytes_peer += (double)bytes;
    tmm_status status = tmm__device_error(w->device, error, "copy of B from another device");
    return status == TMM_OK ? tmm__record(w, &slot->copy) : status;
}

/* The transfer of a part of A or B for block row i or block column j (`index`) from host memory. */
static inline void tmm__describe_part(const tmm__host *h, const tmm__worker *w, int is_B,
                                      long long index, long long k, tmm__slot *slot)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    tmm__transfer *t = &slot->copy;
    long long k0 = tmm__k_begin(job, k), depth = tmm__k_begin(job, k + 1) - k0;
    long long first = index * (is_B ? l->bn : l->bm);
    long long lines = tmm__min((is_B ? job->N : l->rows) - first, is_B ? l->bn : l->bm);
    if (!is_B) first += w->row;
    /* Lines are rows of A and columns of B. */
    int k_along = is_B ? job->opB == TMM_OP_T : job->opA == TMM_OP_N;
    long long ld = is_B ? job->ldb : job->lda;
    long long offset = k_along ? first * ld + k0 : k0 * ld + first;
    (void)tmm__part_bytes(job, l, is_B, k, &t->device_pitch);
    t->device_memory = slot->memory;
    t->host = (char *)(is_B ? job->B : job->A) + (size_t)offset * job->size;
    t->host_pitch = (size_t)ld * job->size;
    t->width = (size_t)(k_along ? depth : lines) * job->size;
    t->rows = (size_t)(k_along ? lines : depth);
}

/* Starts the copy of a part of A or B for block row i or block column j (`index`), unless a slot
   holds it. 1: it is there or on its way; 0: no slot is free yet; -1: *status. `task` needs it;
   -1: other devices do. */
static inline int tmm__request_part(tmm__host *h, tmm__worker *w, int is_B, long long index,
                                    long long k, long long task, tmm_status *status)
{
    const tmm__layout *l = &w->layout;
    tmm__slot *slots = is_B ? w->B : w->A;
    long long *slot_of = is_B ? w->slot_of_B : w->slot_of_A, part = index * l->nk + k;
    if (slot_of[part] >= 0) {
        tmm__slot *holder = &slots[slot_of[part]];
        if (holder->last_use < task) holder->last_use = task;
        return 1;
    }
    tmm__slot *slot = &slots[part], *source = NULL;
    if (l->group > 0) slot = tmm__slot_find(w, slots, is_B ? l->nB : l->nA);
    if (slot == NULL) return 0;
    tmm__worker *owner = is_B ? tmm__source_of_B(h, w, index, k) : w;
    if (owner != w) {
        if (owner->slot_of_B[part] < 0) return 0;
        source = &owner->B[owner->slot_of_B[part]];
        if (!source->copy.issued) return 0;
    }
    tmm__transfer *t = &slot->copy;
    t->stream = owner != w ? w->peer : w->in;
    *status = tmm__slot_take(h, w, slots, slot, slot_of, part, t->stream);
    if (*status != TMM_OK) return -1;
    slot->last_use = task;
    if (owner != w) {
        size_t pitch, bytes = tmm__part_bytes(&h->job, l, is_B, k, &pitch);
        *status = tmm__copy_from_peer(w, slot, bytes, owner, source);
    } else {
        tmm__describe_part(h, w, is_B, index, k, slot);
        *status = tmm__transfer_start(w, t, 1, is_B ? h->staged_B : h->staged_A);
    }
    return *status == TMM_OK ? 1 : -1;
}

/* The transfer of a block of C to or from its slot. */
static inline void tmm__describe_block(const tmm__host *h, const tmm__worker *w,
                                       const tmm__block_slot *c, tmm__transfer *t)
{
    const tmm__layout *l = &w->layout;
    long long row = c->i * l->bm, col = c->j * l->bn;
    t->device_memory = c->memory;
    t->device_pitch = l->pitchC;
    t->host = h->job.C + (size_t)((w->row + row) * h->job.ldc + col) * h->job.size_C;
    t->host_pitch = (size_t)h->job.ldc * h->job.size_C;
    t->width = (size_t)tmm__min(h->job.N - col, l->bn) * h->job.size_C;
    t->rows = (size_t)tmm__min(l->rows - row, l->bm);
}

/* Starts the copies for the next task. Returns 1, 0 (not yet) or -1, as above. */
static inline int tmm__request(tmm__host *h, tmm__worker *w, tmm_status *status)
{
    const tmm__layout *l = &w->layout;
    long long n = w->requested;
    const tmm__task *t = &w->tasks[n];
    long long *slot_of = &w->slot_of_C[t->i * l->nj + t->j];
    if (*slot_of < 0) {
        long long c = 0;
        while (c < l->nC && w->C[c].state != TMM__FREE) c++;
        if (c == l->nC) return 0;
        tmm__block_slot *block = &w->C[c];
        *slot_of = c;
        block->state = TMM__FILLING;
        block->i = t->i;
        block->j = t->j;
    }
    if (h->job.K > 0) {
        long long position = tmm__upload_position(l, t->j, t->k);
        if (position > h->needed) h->needed = position;
        int requested = tmm__request_part(h, w, 0, t->i, t->k, n, status);
        if (requested == 1) requested = tmm__request_part(h, w, 1, t->j, t->k, n, status);
        if (requested != 1) return requested;
    }
    if (h->job.reads_C && t->k == 0) {
        tmm__block_slot *block = &w->C[*slot_of];
        block->in.stream = w->in;
        tmm__describe_block(h, w, block, &block->in);
        *status = tmm__transfer_start(w, &block->in, 1, h->staged_C);
        if (*status != TMM_OK) return -1;
    }
    w->requested++;
    return 1;
}

/* The product of a task. A and B may be NULL. */
static inline tmm__block_product tmm__task_product(const tmm__host *h, const tmm__worker *w,
                                                   const tmm__task *t, const tmm__slot *A,
                                                   const tmm__slot *B, const tmm__block_slot *C)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    tmm__block_product block;
    size_t pitchA, pitchB;
    (void)tmm__part_bytes(job, l, 0, t->k, &pitchA);
    (void)tmm__part_bytes(job, l, 1, t->k, &pitchB);
    block.M = tmm__min(l->rows - t->i * l->bm, l->bm);
    block.N = tmm__min(job->N - t->j * l->bn, l->bn);
    block.K = tmm__k_begin(job, t->k + 1) - tmm__k_begin(job, t->k);
    block.A = A != NULL ? A->memory : NULL;
    block.B = B != NULL ? B->memory : NULL;
    block.C = C->memory;
    block.lda = A != NULL ? (long long)(pitchA / job->size) : 1;
    block.ldb = B != NULL ? (long long)(pitchB / job->size) : 1;
    block.ldc = (long long)(l->pitchC / job->size_C);
    block.adds = t->k > 0;
    return block;
}

/* Starts the kernel of the next task, and of a complete block the copy. Returns 1, 0 (not yet)
   or -1, as above. */
static inline int tmm__launch_next(tmm__host *h, tmm__worker *w, tmm_status *status)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    const tmm__task *t = &w->tasks[w->launched];
    long long c = w->slot_of_C[t->i * l->nj + t->j];
    tmm__block_slot *block = &w->C[c];
    tmm__slot *A = NULL, *B = NULL;
    int s = (int)(c % h->streams);
    cudaStream_t stream = w->compute[s];
    cudaError_t error = cudaSuccess;
    if (w->launched >= TMM__AHEAD) {
        int complete = tmm__complete(w, w->launch_done[w->launched % TMM__AHEAD], status);
        if (complete != 1) return complete;
    }
    if (job->K > 0) {
        A = &w->A[w->slot_of_A[t->i * l->nk + t->k]];
        B = &w->B[w->slot_of_B[t->j * l->nk + t->k]];
        if (!A->copy.issued || !B->copy.issued) return 0;
    }
    if (job->reads_C && t->k == 0) {
        if (!block->in.issued) return 0;
        error = cudaStreamWaitEvent(stream, block->in.event, 0);
    }
    if (A != NULL && error == cudaSuccess) error = cudaStreamWaitEvent(stream, A->copy.event, 0);
    if (B != NULL && error == cudaSuccess) error = cudaStreamWaitEvent(stream, B->copy.event, 0);
    *status = tmm__device_error(w->device, error, "cudaStreamWaitEvent");
    if (*status != TMM_OK) return -1;
    tmm__block_product product = tmm__task_product(h, w, t, A, B, block);
    *status = tmm__add_device(w->device, job->launch(job, &product, stream));
    if (*status != TMM_OK) return -1;
    error = cudaEventRecord(w->launch_done[w->launched % TMM__AHEAD], stream);
    if (A != NULL) {
        if (error == cudaSuccess) error = cudaEventRecord(A->used[s], stream);
        if (error == cudaSuccess) error = cudaEventRecord(B->used[s], stream);
        A->in_use |= 1 << s;
        B->in_use |= 1 << s;
    }
    if (t->k == l->nk - 1) {
        if (error == cudaSuccess) error = cudaEventRecord(block->computed, stream);
        if (error == cudaSuccess) error = cudaStreamWaitEvent(w->out, block->computed, 0);
        block->state = TMM__DRAINING;
        block->out.stream = w->out;
        tmm__describe_block(h, w, block, &block->out);
    }
    *status = tmm__device_error(w->device, error, "cudaEventRecord");
    if (*status == TMM_OK && block->state == TMM__DRAINING)
        *status = tmm__transfer_start(w, &block->out, 0, h->staged_C);
    w->launched++;
    return *status == TMM_OK ? 1 : -1;
}

static inline tmm_status tmm__retire(tmm__host *h, tmm__worker *w, int *moved)
{
    tmm_status status = TMM_OK;
    for (long long n = 0; n < w->layout.nC; n++) {
        tmm__block_slot *block = &w->C[n];
        if (block->state != TMM__DRAINING || !block->out.issued) continue;
        if (block->out.done < block->out.chunks) continue;
        int complete = tmm__complete(w, block->out.event, &status);
        if (complete < 0) return status;
        if (complete == 0) continue;
        float ms = 0;
        if (tmm__succeeded(cudaEventElapsedTime(&ms, w->start, block->out.event)) &&
            ms * 1e-3 > w->seconds)
            w->seconds = ms * 1e-3;
        block->state = TMM__FREE;
        w->blocks_done++;
        h->done += (double)(block->out.width / h->job.size_C) * (double)block->out.rows;
        *moved = 1;
    }
    return TMM_OK;
}

/* Uploads what others need of this worker's share of B, before its own next task. With the part
   that was needed last comes its whole round, one part of each worker. Parts of later runs wait,
   since they would delay A. */
static inline tmm_status tmm__upload_share(tmm__host *h, tmm__worker *w)
{
    tmm_status status = TMM_OK;
    long long run = w->requested < w->task_count ? w->tasks[w->requested].k : w->layout.nk;
    for (; w->uploaded <= h->needed / h->peers; w->uploaded++) {
        long long j, k, position = w->uploaded * h->peers + w->rank;
        if (position >= w->layout.nj * w->layout.nk) continue;
        tmm__upload_part(&w->layout, position, &j, &k);
        if (k > run && position > h->needed) break;
        if (tmm__request_part(h, w, 1, j, k, -1, &status) < 0) break;
    }
    return status;
}

static inline tmm_status tmm__launch_requested(tmm__host *h, tmm__worker *w, long long limit,
                                               int *moved)
{
    tmm_status status = TMM_OK;
    while (w->launched < w->requested && w->launched < limit) {
        if (tmm__launch_next(h, w, &status) != 1) break;
        *moved = 1;
    }
    return status;
}

/* Returns soon, so that complete blocks and progress are seen to. */
static inline tmm_status tmm__advance(tmm__host *h, tmm__worker *w, int *moved)
{
    tmm_status status = TMM_OK;
    long long limit = w->launched + 2;
    if (w->blocks_done == w->layout.ni * w->layout.nj) return TMM_OK;
    status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
    if (status == TMM_OK && !w->started) {
        w->started = 1;
        cudaError_t error = cudaEventRecord(w->start, w->in);
        for (int s = 0; s < h->streams && error == cudaSuccess; s++)
            error = cudaStreamWaitEvent(w->compute[s], w->start, 0);
        status = tmm__device_error(w->device, error, "cudaEventRecord");
    }
    if (status == TMM_OK) status = tmm__retire(h, w, moved);
    if (status == TMM_OK && h->peers > 1 && w->slot_of_A[0] >= 0) status = tmm__upload_share(h, w);
    while (status == TMM_OK && w->requested < w->task_count &&
           w->requested < w->launched + 4 * TMM__AHEAD && w->launched < limit) {
        if (tmm__request(h, w, &status) != 1) break;
        *moved = 1;
        /* Kernels follow at once: a later request may need the slots of this task. */
        status = tmm__launch_requested(h, w, limit, moved);
    }
    return status == TMM_OK ? tmm__launch_requested(h, w, limit, moved) : status;
}
#endif
