/* src/tiledmm/host/layout.h. How a device works on its rows: parts of K, blocks, slots, order of the tasks.
   Uses: host/job.h. Used by: host/one_device.h, host/devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_LAYOUT)
#define TMM__PART_HOST_LAYOUT
/* ---- how a device works on its rows ---------------------------------------------------------- */
/* Into how many parts K is cut. From its end on (rounded up, so that lines of parts stay aligned)
   they are TMM__HOST_DEPTH deep; *rest, of TMM__HOST_FIRST at least, is left in *front parts, one or
   two. Elements of 8 bytes take twice the time to arrive, while their arithmetic lasts no longer:
   work soon waits for copies whatever came first. So their rest is cut only if it is too deep. */
static inline long long tmm__parts(const tmm__job *job, int *front, long long *rest)
{
    long long depth = TMM__HOST_DEPTH, first = TMM__HOST_FIRST, end = (job->K + 31) / 32 * 32;
    *front = 1;
    *rest = job->K;
    if (job->K <= depth) return 1;
    long long whole = (end - first) / depth;
    *rest = end - whole * depth;
    if (*rest > depth || (job->size <= 4 && *rest >= 2 * first)) *front = 2;
    return *front + whole;
}

/* Where part n of K begins, and the one before it ends. */
static inline long long tmm__cut(const tmm__job *job, long long n)
{
    int front;
    long long rest, parts = tmm__parts(job, &front, &rest);
    if (n <= 0) return 0;
    if (n >= parts) return job->K;
    return n < front ? TMM__HOST_FIRST : rest + (n - front) * TMM__HOST_DEPTH;
}

/* The edge of equal blocks of at most `most` that make up `all`. */
static inline long long tmm__edge(long long all, long long most)
{
    long long blocks = (all - 1) / most + 1, edge = (all - 1) / blocks + 1;
    long long unit = edge >= 256 ? 128 : edge >= 32 ? 16 : 1;
    edge = (edge + unit - 1) / unit * unit;
    edge = edge < most ? edge : most;
    return edge < all ? edge : all;
}

/* The block of C for `rows` rows of which B has at least `parts` parts: of about edge x edge
   elements, but wide. Copies of short lines that lie 64 KB or more apart are slow while kernels use
   memory: on an H200 30 GB/s with lines of 16 KB, 45 with 32 KB, 55 with 64 KB. (A short first part
   of K comes on top of those counted here.) */
static inline void tmm__block_shape(const tmm__job *job, long long rows, long long edge,
                                    long long parts, long long *bm, long long *bn)
{
    long long wide = TMM__HOST_LINE / (long long)job->size;
    *bn = tmm__edge(job->N, wide > edge ? wide : edge);
    while (*bn > 512 && ((job->N - 1) / *bn + 1) * ((job->K - 1) / TMM__HOST_DEPTH + 1) < parts)
        *bn = tmm__edge(job->N, *bn / 2);
    long long high = edge * edge / *bn / 128 * 128;
    *bm = tmm__edge(rows, high < 256 ? 256 : high > edge ? edge : high);
}

/* Lines of device memory that hold `depth` x `lines` of A or B (which: 0 or 1). */
static inline size_t tmm__panel(const tmm__job *job, int which, long long depth, long long lines,
                                size_t *pitch)
{
    int k_along = which ? job->opB == TMM_OP_T : job->opA == TMM_OP_N;
    *pitch = ((size_t)(k_along ? depth : lines) * job->size + 15) / 16 * 16;
    return (*pitch * (size_t)(k_along ? lines : depth) + 255) / 256 * 256;
}

/* Bytes of part k of a block row of A or block column of B. */
static inline size_t tmm__part_bytes(const tmm__job *job, const tmm__layout *l, int which,
                                     long long k, size_t *pitch)
{
    return tmm__panel(job, which, tmm__cut(job, k + 1) - tmm__cut(job, k), which ? l->bn : l->bm,
                      pitch);
}

static inline void tmm__layout_sizes(const tmm__job *job, tmm__layout *l)
{
    size_t pitch;
    long long depth = tmm__min(job->K, TMM__HOST_DEPTH);
    l->bytesA = tmm__panel(job, 0, depth, l->bm, &pitch);
    l->bytesB = tmm__panel(job, 1, depth, l->bn, &pitch);
    l->pitchC = ((size_t)l->bn * job->size + 15) / 16 * 16;
    l->bytesC = (l->pitchC * (size_t)l->bm + 255) / 256 * 256;
    double all = (double)l->nC * (double)l->bytesC; /* exact up to 2^53 */
    if (l->group > 0 || job->K == 0) {
        all += (double)l->nA * (double)l->bytesA + (double)l->nB * (double)l->bytesB;
    } else {
        for (int which = 0; which < 2; which++) {
            double panel = 0; /* the parts from the third to the last but one are alike */
            for (long long k = 0, alike; k < l->nk; k += alike) {
                alike = k == 2 && l->nk > 3 ? l->nk - 3 : 1;
                panel += (double)alike * (double)tmm__part_bytes(job, l, which, k, &pitch);
            }
            all += panel * (double)(which ? l->nj : l->ni);
        }
    }
    l->bytes = all > 1e15 ? (size_t)-1 : (size_t)all; /* the former is more than any memory */
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
    l->nk = l->first = tmm__parts(job, &front, &rest);
}

/* A layout in which all of A's rows and B stay on the device, with `by_parts` also all of C. */
static inline void tmm__layout_resident(const tmm__job *job, tmm__layout *l, long long bm,
                                        long long bn, int streams, int by_parts)
{
    tmm__layout_blocks(job, l, bm, bn);
    by_parts = by_parts && l->nk > 1;
    if (by_parts) {
        /* A C that is read must arrive during the first run, which has to be deep enough for that.
           Its memory is the same, as tmm_?gemm_host_memory does not know beta. */
        l->first = 1;
        while (job->reads_C && l->first < l->nk &&
               tmm__cut(job, l->first) < (long long)job->size * (TMM__HOST_DEPTH / 4))
            l->first++;
    }
    l->nA = job->K > 0 ? l->ni * l->nk : 0;
    l->nB = job->K > 0 ? l->nj * l->nk : 0;
    l->nC = by_parts ? l->ni * l->nj : tmm__min(l->ni * l->nj, 2 * streams + 2);
    l->group = 0;
    tmm__layout_sizes(job, l);
}

/* The layout that should take the least time within `most` bytes. TMM_ERROR_MEMORY if there is
   none. `edge`: the largest block. */
static inline tmm_status tmm__layout_find(const tmm__job *job, tmm__layout *best, long long rows,
                                          long long edge, int streams, size_t most)
{
    tmm__layout l;
    double best_time = -1;
    size_t least = 0;
    memset(&l, 0, sizeof l);
    l.rows = rows;
    *best = l;
    for (; edge > 0; edge /= 2) {
        long long bm = tmm__edge(rows, edge), bn = tmm__edge(job->N, edge);
        for (int by_parts = 1; by_parts >= 0 && best_time < 0; by_parts--) {
            tmm__layout_resident(job, &l, bm, bn, streams, by_parts);
            if (l.bytes > most) continue;
            *best = l;
            return TMM_OK;
        }
        tmm__layout_blocks(job, &l, bm, bn);
        if (job->K == 0) { /* blocks of C alone */
            l.nC = tmm__min(l.ni * l.nj, 2);
            l.group = 1;
            tmm__layout_sizes(job, &l);
            least = l.bytes;
            if (l.bytes > most) continue;
            *best = l;
            return TMM_OK;
        }
        /* Slots of C beyond the group's, so that a next block can begin while one drains. */
        long long spare = streams + 1;
        for (int stays = 1; stays >= 0; stays--) {
            size_t more = (size_t)l.nk * l.bytesA + (l.nk > 1 ? l.bytesC : 0);
            l.group = 1;
            l.nA = stays ? l.nk : 2;
            l.nB = 2;
            l.nC = tmm__min(l.ni * l.nj, stays ? 1 + spare : 2);
            tmm__layout_sizes(job, &l);
            least = l.bytes;
            if (l.bytes > most) continue;
            if (stays) { /* as many rows of blocks as there is memory for, then columns of B */
                l.group += tmm__min(l.ni - 1, (long long)((most - l.bytes) / more));
                l.nA = l.group * l.nk;
                if (l.nk > 1) l.nC = tmm__min(l.ni * l.nj, l.group + spare);
                tmm__layout_sizes(job, &l);
            }
            l.nB = tmm__min(l.nj * l.nk, 2 + (long long)((most - l.bytes) / l.bytesB));
            tmm__layout_sizes(job, &l);
            double passes = (double)((l.ni - 1) / l.group + 1);
            double bytes =
                (double)job->size * ((double)rows * job->K * (stays ? 1 : l.nj) +
                                     (double)job->K * job->N * passes + (double)rows * job->N * 2);
            double time = 2.0 * rows * job->N * job->K / tmm__current_device()->arithmetic *
                          (1 + 64.0 / bm + 64.0 / bn);
            if (time < bytes / 50e9) time = bytes / 50e9;
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
        (unsigned long long)most, (unsigned long long)least);
}

/* The list of tasks. Returns how many; with `tasks` NULL it only counts. */
static inline long long tmm__order(const tmm__layout *l, tmm__task *tasks)
{
    long long n = 0;
    if (tasks == NULL) return l->ni * l->nj * l->nk;
#define TMM__TASK(row, col, part) \
    tasks[n].i = (int)(row), tasks[n].j = (int)(col), tasks[n].k = (int)(part), n++
    if (l->group == 0) {
        for (long long k0 = 0, end = l->first; k0 < l->nk; k0 = end++) {
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

/* The parts of B in the order in which tasks come to need them: the number of part (j, k), and the
   other way round. */
static inline long long tmm__turn(const tmm__layout *l, long long j, long long k)
{
    return k < l->first ? j * l->first + k : k * l->nj + j;
}

static inline void tmm__of_turn(const tmm__layout *l, long long turn, long long *j, long long *k)
{
    int in_first = turn < l->nj * l->first;
    *j = in_first ? turn / l->first : turn % l->nj;
    *k = in_first ? turn % l->first : turn / l->nj;
}
#endif
