/* src/tiledmm/host/layout.h. Parts of K, blocks and slots of a device, order of its tasks.
   Uses: job.h, once/. Used by: host/. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* How many parts K has. The last ones are job->depth deep, counted from the end of K, which is
   rounded up so that their lines stay aligned. *rest is what is in front of them, at least
   TMM__HOST_FIRST deep, in *front parts, one or two.
     Elements of 8 bytes take twice the time to arrive for the same arithmetic. A short first
   part would not help for long, so their rest is cut only if it is too deep. */
static inline long long tmm__k_parts(const tmm__job *job, int *front, long long *rest)
{
    long long depth = job->depth, first = TMM__HOST_FIRST, end = (job->K + 31) / 32 * 32;
    *front = 1;
    *rest = job->K;
    if (job->K <= depth) return 1;
    long long whole = (end - first) / depth;
    *rest = end - whole * depth;
    if (*rest > depth || (job->size <= 4 && *rest >= 2 * first)) *front = 2;
    return *front + whole;
}

static inline long long tmm__k_begin(const tmm__job *job, long long n)
{
    int front;
    long long rest, parts = tmm__k_parts(job, &front, &rest);
    if (n <= 0) return 0;
    if (n >= parts) return job->K;
    return n < front ? TMM__HOST_FIRST : rest + (n - front) * job->depth;
}

/* The edge of equal blocks that make up `all`, at most `limit`. */
static inline long long tmm__block_edge(long long all, long long limit)
{
    long long blocks = (all - 1) / limit + 1, edge = (all - 1) / blocks + 1;
    long long unit = edge >= 256 ? 128 : edge >= 32 ? 16 : 1;
    edge = (edge + unit - 1) / unit * unit;
    edge = edge < limit ? edge : limit;
    return edge < all ? edge : all;
}

/* The shape of the blocks of C for `rows` rows: about edge x edge elements, but wide. B has at
   least `parts` parts then (not counting a short first part of K).
     Copies of short lines that lie 64 KB or more apart are slow while kernels use memory. On an
   H200 lines of 16, 32 and 64 KB were copied with 30, 45 and 55 GB/s. */
static inline void tmm__block_shape(const tmm__job *job, long long rows, long long edge,
                                    long long parts, long long *bm, long long *bn)
{
    long long wide = TMM__HOST_LINE / (long long)job->size;
    *bn = tmm__block_edge(job->N, wide > edge ? wide : edge);
    while (*bn > 512 && ((job->N - 1) / *bn + 1) * ((job->K - 1) / job->depth + 1) < parts)
        *bn = tmm__block_edge(job->N, *bn / 2);
    long long high = edge * edge / *bn / 128 * 128;
    *bm = tmm__block_edge(rows, high < 256 ? 256 : high > edge ? edge : high);
}

/* Bytes of device memory for `depth` x `lines` elements of A or B, and their pitch. */
static inline size_t tmm__part_size(const tmm__job *job, int is_B, long long depth, long long lines,
                                    size_t *pitch)
{
    int k_along = is_B ? job->opB == TMM_OP_T : job->opA == TMM_OP_N;
    *pitch = ((size_t)(k_along ? depth : lines) * job->size + 15) / 16 * 16;
    return (*pitch * (size_t)(k_along ? lines : depth) + 255) / 256 * 256;
}

static inline size_t tmm__part_bytes(const tmm__job *job, const tmm__layout *l, int is_B,
                                     long long k, size_t *pitch)
{
    return tmm__part_size(job, is_B, tmm__k_begin(job, k + 1) - tmm__k_begin(job, k),
                          is_B ? l->bn : l->bm, pitch);
}

/* Fills in the bytes that follow from blocks and slots. */
static inline void tmm__layout_sizes(const tmm__job *job, tmm__layout *l)
{
    size_t pitch;
    long long depth = tmm__min(job->K, job->depth);
    l->bytesA = tmm__part_size(job, 0, depth, l->bm, &pitch);
    l->bytesB = tmm__part_size(job, 1, depth, l->bn, &pitch);
    l->pitchC = ((size_t)l->bn * job->size_C + 15) / 16 * 16;
    l->bytesC = (l->pitchC * (size_t)l->bm + 255) / 256 * 256;
    double all = (double)l->nC * (double)l->bytesC; /* exact up to 2^53 */
    if (l->group > 0 || job->K == 0) {
        all += (double)l->nA * (double)l->bytesA + (double)l->nB * (double)l->bytesB;
    } else {
        for (int is_B = 0; is_B < 2; is_B++) {
            double line = 0; /* the parts from the third to the last but one are alike */
            for (long long k = 0, alike; k < l->nk; k += alike) {
                alike = k == 2 && l->nk > 3 ? l->nk - 3 : 1;
                line += (double)alike * (double)tmm__part_bytes(job, l, is_B, k, &pitch);
            }
            all += line * (double)(is_B ? l->nj : l->ni);
        }
    }
    l->bytes = all > 1e15 ? (size_t)-1 : (size_t)all; /* -1: more than any memory */
}

static inline void tmm__layout_blocks(const tmm__job *job, tmm__layout *l, long long bm,
                                      long long bn)
{
    int front;
    long long rest;
    l->bm = bm;
    l->bn = bn;
    l->ni = (l->rows - 1) / bm + 1;
    l->nj = (job->N - 1) / bn + 1;
    l->nk = l->first_run = tmm__k_parts(job, &front, &rest);
}

/* A layout in which B and all rows of A stay on the device, with `by_parts` also all of C. */
static inline void tmm__layout_resident(const tmm__job *job, tmm__layout *l, long long bm,
                                        long long bn, int streams, int by_parts)
{
    tmm__layout_blocks(job, l, bm, bn);
    by_parts = by_parts && l->nk > 1;
    if (by_parts) {
        /* If C is read, it must arrive during the first run: that is made deep enough. */
        l->first_run = 1;
        while (job->reads_C && l->first_run < l->nk &&
               tmm__k_begin(job, l->first_run) < (long long)job->size * (TMM__HOST_DEPTH / 4))
            l->first_run++;
    }
    l->nA = job->K > 0 ? l->ni * l->nk : 0;
    l->nB = job->K > 0 ? l->nj * l->nk : 0;
    l->nC = by_parts ? l->ni * l->nj : tmm__min(l->ni * l->nj, 2 * streams + 2);
    l->group = 0;
    tmm__layout_sizes(job, l);
}

/* The seconds that a layout should take if A stays (`stays`) or passes once a block column. */
static inline double tmm__layout_time(const tmm__job *job, const tmm__layout *l, int stays)
{
    double rows = (double)l->rows, N = (double)job->N, K = (double)job->K;
    double passes = (double)((l->ni - 1) / l->group + 1); /* of B */
    double bytes = (double)job->size *
                   (rows * K * (double)(stays ? 1 : l->nj) + K * N * passes + rows * N * 2);
    double time = 2.0 * rows * N * K / tmm__current_device()->arithmetic *
                  (1 + 64.0 / (double)l->bm + 64.0 / (double)l->bn);
    return time < bytes / 50e9 ? bytes / 50e9 : time;
}

/* The layout of blocks of at most `edge` that should take the least time within `limit` bytes.
   TMM_ERROR_MEMORY if there is none. */
static inline tmm_status tmm__layout_find(const tmm__job *job, tmm__layout *best, long long rows,
                                          long long edge, int streams, size_t limit)
{
    tmm__layout l;
    double best_time = -1;
    size_t least = 0;
    memset(&l, 0, sizeof l);
    l.rows = rows;
    *best = l;
    for (; edge > 0; edge /= 2) {
        long long bm = tmm__block_edge(rows, edge), bn = tmm__block_edge(job->N, edge);
        for (int by_parts = 1; by_parts >= 0 && best_time < 0; by_parts--) {
            tmm__layout_resident(job, &l, bm, bn, streams, by_parts);
            if (l.bytes > limit) continue;
            *best = l;
            return TMM_OK;
        }
        tmm__layout_blocks(job, &l, bm, bn);
        if (job->K == 0) { /* blocks of C alone */
            l.nC = tmm__min(l.ni * l.nj, 2);
            l.group = 1;
            tmm__layout_sizes(job, &l);
            least = l.bytes;
            if (l.bytes > limit) continue;
            *best = l;
            return TMM_OK;
        }
        /* Block slots beyond the group's: the next block can begin while another drains. */
        long long spare = streams + 1;
        for (int stays = 1; stays >= 0; stays--) {
            size_t row_bytes = (size_t)l.nk * l.bytesA + (l.nk > 1 ? l.bytesC : 0);
            l.group = 1;
            l.nA = stays ? l.nk : 2;
            l.nB = 2;
            l.nC = tmm__min(l.ni * l.nj, stays ? 1 + spare : 2);
            tmm__layout_sizes(job, &l);
            least = l.bytes;
            if (l.bytes > limit) continue;
            if (stays) { /* as many block rows as there is memory for, then parts of B */
                l.group += tmm__min(l.ni - 1, (long long)((limit - l.bytes) / row_bytes));
                l.nA = l.group * l.nk;
                if (l.nk > 1) l.nC = tmm__min(l.ni * l.nj, l.group + spare);
                tmm__layout_sizes(job, &l);
            }
            l.nB = tmm__min(l.nj * l.nk, 2 + (long long)((limit - l.bytes) / l.bytesB));
            tmm__layout_sizes(job, &l);
            double time = tmm__layout_time(job, &l, stays);
            if (best_time < 0 || time < 0.98 * best_time) {
                best_time = time;
                *best = l;
            }
        }
    }
    if (best_time >= 0) return TMM_OK;
    return tmm__fail(
        TMM_ERROR_MEMORY,
        "%llu bytes of device memory are too few: even blocks of one element need %llu",
        (unsigned long long)limit, (unsigned long long)least);
}

/* Lists the tasks in their order and returns how many there are; tasks = NULL: only counts. */
static inline long long tmm__list_tasks(const tmm__layout *l, tmm__task *tasks)
{
    long long n = 0;
    if (tasks == NULL) return l->ni * l->nj * l->nk;
#define TMM__TASK(row, col, part) \
    tasks[n].i = (int)(row), tasks[n].j = (int)(col), tasks[n].k = (int)(part), n++
    if (l->group == 0) {
        for (long long k0 = 0, end = l->first_run; k0 < l->nk; k0 = end++) {
            for (long long rows = 0, cols = 0; rows < l->ni || cols < l->nj;) {
                if (cols == l->nj || (rows < l->ni && rows * l->nj <= cols * l->ni)) {
                    for (long long j = 0; j < cols; j++)
                        for (long long k = k0; k < end; k++) TMM__TASK(rows, j, k);
                    rows++;
                } else {
                    for (long long i = 0; i < rows; i++)
                        for (long long k = k0; k < end; k++) TMM__TASK(i, cols, k);
                    cols++;
                }
            }
        }
        return n;
    }
    for (long long first = 0, pass = 0; first < l->ni; first += l->group, pass++)
        for (long long step = 0; step < l->nj; step++)
            for (long long k = 0; k < l->nk; k++)
                for (long long i = first; i < l->ni && i < first + l->group; i++)
                    TMM__TASK(i, pass % 2 ? l->nj - 1 - step : step, k);
#undef TMM__TASK
    return n;
}

/* Parts of B are uploaded in the order in which tasks need them. The position of part (j, k): */
static inline long long tmm__upload_position(const tmm__layout *l, long long j, long long k)
{
    return k < l->first_run ? j * l->first_run + k : k * l->nj + j;
}

/* The part (j, k) at a position. */
static inline void tmm__upload_part(const tmm__layout *l, long long position, long long *j,
                                    long long *k)
{
    int in_first_run = position < l->nj * l->first_run;
    *j = in_first_run ? position / l->first_run : position % l->nj;
    *k = in_first_run ? position % l->first_run : position / l->nj;
}
#endif
