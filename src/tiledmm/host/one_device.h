/* src/tiledmm/host/one_device.h. One device: slots, requests, launches.
   Uses: host/transfer.h, host/layout.h. Used by: host/devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_ONE_DEVICE)
#define TMM__PART_HOST_ONE_DEVICE
/* ---- one device: slots, requests, launches --------------------------------------------------- */
/* A slot for a part that is in none: an empty one, or the one whose last use is oldest and
   launched. NULL if all are needed by tasks to come. */
static inline tmm__slot *tmm__slot_find(const tmm__worker *w, tmm__slot *slots, long long count)
{
    tmm__slot *found = NULL;
    for (long long n = 0; n < count; n++) {
        if (slots[n].holds < 0) return &slots[n];
        if (slots[n].last < w->launched && (found == NULL || slots[n].last < found->last))
            found = &slots[n];
    }
    return found;
}

/* Makes a slot hold part `part`; its stream waits for those who still use what was there. */
static inline tmm_status tmm__slot_take(const tmm__host *h, tmm__worker *w, tmm__slot *slot,
                                        tmm__slot *slots, long long *where, long long part,
                                        cudaStream_t stream)
{
    if (slot->holds >= 0) where[slot->holds] = -1;
    slot->holds = part;
    where[part] = slot - slots;
    for (int s = 0; s < h->streams; s++) {
        if (!(slot->in_use >> s & 1)) continue;
        tmm_status status = tmm__on(w->device, cudaStreamWaitEvent(stream, slot->used[s], 0),
                                    "cudaStreamWaitEvent");
        if (status != TMM_OK) return status;
    }
    slot->in_use = 0;
    return TMM_OK;
}

/* Starts the copy of a part of A or B (which: 0 or 1) for block row i or column j, unless it is
   there. 1 if it is there or on its way, 0 if there is no slot for it yet, -1 with a status. */
static inline int tmm__request_part(tmm__host *h, tmm__worker *w, int which, long long index,
                                    long long k, long long task, tmm_status *status)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    tmm__slot *slots = which ? w->B : w->A;
    long long *where = which ? w->whereB : w->whereA, part = index * l->nk + k;
    if (where[part] >= 0) {
        if (slots[where[part]].last < task) slots[where[part]].last = task;
        return 1;
    }
    tmm__slot *there = NULL, *slot = &slots[part];
    if (l->group > 0) slot = tmm__slot_find(w, slots, which ? l->nB : l->nA);
    tmm__worker *owner = w;
    if (slot == NULL) return 0;
    if (which && h->peers > 1) {
        int number = h->active[tmm__turn(l, index, k) % h->peers];
        if (h->reach[w->number][number]) owner = &h->workers[number];
        if (owner != w) {
            if (owner->whereB[part] < 0) return 0;
            there = &owner->B[owner->whereB[part]];
            if (!there->copy.issued) return 0;
        }
    }
    long long k0 = tmm__cut(job, k), depth = tmm__cut(job, k + 1) - k0;
    size_t pitch, bytes = tmm__part_bytes(job, l, which, k, &pitch);
    long long first = index * (which ? l->bn : l->bm);
    long long lines = tmm__min((which ? job->N : l->rows) - first, which ? l->bn : l->bm);
    if (!which) first += w->row;
    /* Lines of A are its rows, of B its columns; in memory, k or they run along the rows. */
    int k_along = which ? job->opB == TMM_OP_T : job->opA == TMM_OP_N;
    long long ld = which ? job->ldb : job->lda;
    long long offset = k_along ? first * ld + k0 : k0 * ld + first;
    tmm__transfer *t = &slot->copy;
    t->stream = owner != w ? w->peer : w->in;
    *status = tmm__slot_take(h, w, slot, slots, where, part, t->stream);
    if (*status != TMM_OK) return -1;
    slot->last = task;
    if (owner != w) {
        t->issued = 0;
        cudaError_t error = cudaStreamWaitEvent(w->peer, there->copy.event, 0);
        if (error == cudaSuccess)
            error = cudaMemcpyPeerAsync(slot->memory, w->device, there->memory, owner->device,
                                        bytes, w->peer);
        *status = tmm__on(w->device, error, "copy of B from another device");
        if (*status == TMM_OK) *status = tmm__record(w, t);
        w->bytes_peer += (double)bytes;
        return *status == TMM_OK ? 1 : -1;
    }
    t->device_memory = slot->memory;
    t->device_pitch = pitch;
    t->host = (char *)(which ? job->B : job->A) + (size_t)offset * job->size;
    t->host_pitch = (size_t)ld * job->size;
    t->width = (size_t)(k_along ? depth : lines) * job->size;
    t->rows = (size_t)(k_along ? lines : depth);
    *status = tmm__transfer_start(w, t, 1, which ? h->staged_B : h->staged_A);
    return *status == TMM_OK ? 1 : -1;
}

/* The transfer of block (i, j) of C to or from its slot. */
static inline void tmm__describe_block(const tmm__host *h, const tmm__worker *w,
                                       const tmm__place *c, tmm__transfer *t)
{
    const tmm__layout *l = &w->layout;
    long long row = c->i * l->bm, col = c->j * l->bn;
    t->device_memory = c->memory;
    t->device_pitch = l->pitchC;
    t->host = h->job.C + (size_t)((w->row + row) * h->job.ldc + col) * h->job.size;
    t->host_pitch = (size_t)h->job.ldc * h->job.size;
    t->width = (size_t)tmm__min(h->job.N - col, l->bn) * h->job.size;
    t->rows = (size_t)tmm__min(l->rows - row, l->bm);
}

/* Starts the copies for the next task. 1, 0 (later) or -1, as above. */
static inline int tmm__request(tmm__host *h, tmm__worker *w, tmm_status *status)
{
    const tmm__layout *l = &w->layout;
    long long n = w->requested;
    const tmm__task *t = &w->tasks[n];
    long long *where = &w->whereC[t->i * l->nj + t->j];
    int there = 1;
    if (*where < 0) {
        long long c = 0;
        while (c < l->nC && w->C[c].state != TMM__FREE) c++;
        if (c == l->nC) return 0;
        tmm__place *block = &w->C[c];
        *where = c;
        block->state = TMM__FILLING;
        block->i = t->i;
        block->j = t->j;
    }
    if (h->job.K > 0) {
        long long turn = tmm__turn(l, t->j, t->k);
        if (turn > h->asked) h->asked = turn;
        there = tmm__request_part(h, w, 0, t->i, t->k, n, status);
        if (there == 1) there = tmm__request_part(h, w, 1, t->j, t->k, n, status);
        if (there != 1) return there;
    }
    if (h->job.reads_C && t->k == 0) {
        tmm__place *block = &w->C[*where];
        block->in.stream = w->in;
        tmm__describe_block(h, w, block, &block->in);
        *status = tmm__transfer_start(w, &block->in, 1, h->staged_C);
        if (*status != TMM_OK) return -1;
    }
    w->requested++;
    return 1;
}

/* Starts the kernel of the next task, and the copy of its block if it is complete. */
static inline int tmm__launch_next(tmm__host *h, tmm__worker *w, tmm_status *status)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    const tmm__task *t = &w->tasks[w->launched];
    long long c = w->whereC[t->i * l->nj + t->j];
    tmm__place *block = &w->C[c];
    tmm__slot *A = NULL, *B = NULL;
    int s = (int)(c % h->streams);
    cudaStream_t stream = w->compute[s];
    cudaError_t error = cudaSuccess;
    if (w->launched >= TMM__AHEAD) {
        int complete = tmm__complete(w, w->last[w->launched % TMM__AHEAD], status);
        if (complete != 1) return complete;
    }
    if (job->K > 0) {
        A = &w->A[w->whereA[t->i * l->nk + t->k]];
        B = &w->B[w->whereB[t->j * l->nk + t->k]];
        if (!A->copy.issued || !B->copy.issued) return 0;
    }
    if (job->reads_C && t->k == 0) {
        if (!block->in.issued) return 0;
        error = cudaStreamWaitEvent(stream, block->in.event, 0);
    }
    if (A != NULL && error == cudaSuccess) error = cudaStreamWaitEvent(stream, A->copy.event, 0);
    if (B != NULL && error == cudaSuccess) error = cudaStreamWaitEvent(stream, B->copy.event, 0);
    *status = tmm__on(w->device, error, "cudaStreamWaitEvent");
    if (*status != TMM_OK) return -1;
    long long size = (long long)job->size;
    size_t pitchA, pitchB;
    (void)tmm__part_bytes(job, l, 0, t->k, &pitchA);
    (void)tmm__part_bytes(job, l, 1, t->k, &pitchB);
    *status = tmm__named(w->device,
                         job->launch(job, tmm__min(l->rows - t->i * l->bm, l->bm),
                                     tmm__min(job->N - t->j * l->bn, l->bn),
                                     tmm__cut(job, t->k + 1) - tmm__cut(job, t->k),
                                     A ? A->memory : NULL, A ? (long long)pitchA / size : 1,
                                     B ? B->memory : NULL, B ? (long long)pitchB / size : 1,
                                     t->k > 0, block->memory, (long long)l->pitchC / size, stream));
    if (*status != TMM_OK) return -1;
    error = cudaEventRecord(w->last[w->launched % TMM__AHEAD], stream);
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
    *status = tmm__on(w->device, error, "cudaEventRecord");
    if (*status == TMM_OK && block->state == TMM__DRAINING)
        *status = tmm__transfer_start(w, &block->out, 0, h->staged_C);
    w->launched++;
    return *status == TMM_OK ? 1 : -1;
}

/* Frees the slots of blocks that have arrived in host memory. */
static inline tmm_status tmm__retire(tmm__host *h, tmm__worker *w, int *moved)
{
    tmm_status status = TMM_OK;
    for (long long n = 0; n < w->layout.nC; n++) {
        tmm__place *block = &w->C[n];
        if (block->state != TMM__DRAINING || !block->out.issued) continue;
        if (block->out.done < block->out.chunks) continue;
        int complete = tmm__complete(w, block->out.event, &status);
        if (complete < 0) return status;
        if (complete == 0) continue;
        float ms = 0;
        if (cudaEventElapsedTime(&ms, w->start, block->out.event) == cudaSuccess &&
            ms * 1e-3 > w->seconds)
            w->seconds = ms * 1e-3;
        block->state = TMM__FREE;
        w->blocks_done++;
        h->done += (double)(block->out.width / h->job.size) * (double)block->out.rows;
        *moved = 1;
    }
    return TMM_OK;
}

static inline tmm_status tmm__advance(tmm__host *h, tmm__worker *w, int *moved)
{
    tmm_status status = TMM_OK;
    int step = 1;
    long long most = w->launched + 2; /* then see to what is complete, and tell of progress */
    if (w->blocks_done == w->layout.ni * w->layout.nj) return TMM_OK;
    status = tmm__on(w->device, cudaSetDevice(w->device), "cudaSetDevice");
    if (status == TMM_OK && !w->started) {
        w->started = 1;
        cudaError_t error = cudaEventRecord(w->start, w->in);
        for (int s = 0; s < h->streams && error == cudaSuccess; s++)
            error = cudaStreamWaitEvent(w->compute[s], w->start, 0);
        status = tmm__on(w->device, error, "cudaEventRecord");
    }
    if (status == TMM_OK) status = tmm__retire(h, w, moved);
    if (status != TMM_OK) return status;
    /* What others need of this device's share of B comes before its own next task; with each turn
       that is asked for all of its round, except parts of later runs, which would delay A. */
    if (h->peers > 1 && w->whereA[0] >= 0) {
        long long run = w->requested < w->task_count ? w->tasks[w->requested].k : w->layout.nk;
        for (; w->shared <= h->asked / h->peers; w->shared++) {
            long long j, k, turn = w->shared * h->peers + w->rank;
            if (turn >= w->layout.nj * w->layout.nk) continue;
            tmm__of_turn(&w->layout, turn, &j, &k);
            if (k > run && turn > h->asked) break;
            if (tmm__request_part(h, w, 1, j, k, -1, &status) < 0) return status;
        }
    }
    while (step == 1 && w->requested < w->task_count &&
           w->requested < w->launched + 4 * TMM__AHEAD && w->launched < most) {
        step = tmm__request(h, w, &status);
        if (step == 1) *moved = 1;
        /* Kernels follow at once: a later request may need the slots of this task. */
        while (step >= 0 && w->launched < w->requested && w->launched < most) {
            int launched = tmm__launch_next(h, w, &status);
            if (launched < 0) return status;
            if (launched == 0) break;
            *moved = 1;
        }
    }
    while (step >= 0 && w->launched < w->requested && w->launched < most) {
        int launched = tmm__launch_next(h, w, &status);
        if (launched < 0) return status;
        if (launched == 0) break;
        *moved = 1;
    }
    return status;
}
#endif
