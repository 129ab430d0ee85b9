/* src/tiledmm/kernels/tensor_half/thin_launch.h. PLAN and LAUNCHER of KERNEL THIN HALF.
   Uses: kernels/common/finish.cuh, kernels/tensor_half/, launch/, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* A way to divide a product. */
typedef struct tmm__xhalf__thin {
    int cols, high;           /* thin lines of a tile, large ones */
    int parts, slices, size;  /* k of a tile in so many; in so many clusters; blocks of a cluster */
    int way, on_one;          /* number of cols and on_one; blocks on a multiprocessor */
    int stage, stages, slots; /* bytes; of a block */
    int goes_on, sums;        /* does a block have one tile after the other? bytes of kept sums */
    double fit, tiles;        /* clusters that the device has room for at once; tiles of C */
} tmm__xhalf__thin;

/* What all ways of a product have in common. */
typedef struct tmm__xhalf__thins {
    double thin, large, steps, batch, processors; /* lines, steps of 64 k */
    double squares;                               /* of 128 x 128 in a triangle; 0: all of C */
    double memory;                                /* nanoseconds of it, */
    int from_memory;                              /* if L2 does not hold all */
    int apart[2];     /* of the large operand and of the thin one: tmm__xhalf_apart */
    int plain, words; /* is an operand unaligned? tmm__xhalf_thin_words */
    int cuts, turned; /* may k be cut? Does the large one not lie along k? */
    const int *clusters;
} tmm__xhalf__thins;

/* Bytes of a stage of 64 k. 64 lines at least, if neighbours in memory are lines. */
static inline int tmm__xhalf_thin_stage(const tmm__xproduct *p, int cols)
{
    const int turned = p->M > p->N ? p->rsB != 1 : p->csA != 1;
    return ((int)TMM__HALF_THIN_LINES + (turned && cols < 64 ? 64 : cols)) * 128;
}

/* Are lines of op(A) or op(B) not aligned to 16 bytes? Then they are copied without TMA, by eight warps. */
static inline int tmm__xhalf_thin_plain(const tmm__xproduct *p, int is_B)
{
    return tmm__xhalf_copied(p, is_B, NULL, NULL) > 0;
}

/* Bytes, 8 or 4, at whose multiples all lines of those operands begin and end: then cp.async brings them to
   their place in a stage. 0: there are odd ones, which go through slots. */
static inline int tmm__xhalf_thin_words(const tmm__xproduct *p)
{
    size_t all = 0;
    for (int is_B = 0; is_B < 2; is_B++) {
        if (!tmm__xhalf_thin_plain(p, is_B)) continue;
        const int turned = (is_B ? p->rsB : p->csA) != 1;
        const long long cols = !turned ? p->K : is_B ? p->N : p->M;
        const long long stride = p->batch > 1 ? is_B ? p->strideB : p->strideA : 0;
        all |= (size_t)(is_B ? p->B : p->A) |
               (size_t)(tmm__xhalf_ld(p, is_B) | cols | stride) * sizeof(TMM_TYPE);
    }
    return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
}

/* Bytes of a slot for those operands. */
static inline int tmm__xhalf_thin_slot(const tmm__xproduct *p, int cols)
{
    const int thin_is_B = p->M > p->N;
    int bytes = 0;
    for (int is_B = 0; is_B < 2; is_B++) {
        const int turned = (is_B ? p->rsB : p->csA) != 1;
        const int lines = is_B != thin_is_B ? 128 : turned && cols < 64 ? 64 : cols;
        if (tmm__xhalf_thin_plain(p, is_B)) bytes += turned ? 64 * (lines + 8) * 2 : lines * 144;
    }
    return bytes;
}

/* Number n of the ways to divide a product, of TMM__HALF_THIN_WAYS; 0: it is none for this one. Tiles of
   16, 64 or 128 thin lines; one block on a multiprocessor or two; k for a cluster, for so many of eight or for
   all clusters of four that fit, whose sums KERNEL SUM adds. Last, 128 large lines, or so many that all
   clusters that fit have as much to do. */
static inline int tmm__xhalf_thin_way(const tmm__xhalf__thins *p, int n, tmm__xhalf__thin *w)
{
    static const int parts[] = {1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 0};
    w->way = n / 22, w->parts = parts[n / 2 % 11], w->on_one = w->way / 3 + 1;
    w->cols = w->way % 3 == 0 ? 16 : 32 << w->way % 3, w->high = (int)TMM__HALF_THIN_LINES;
    const int many = w->parts == 0 || w->parts > 8;
    if ((w->cols == 16 && p->thin > 16) || ((p->plain || many) && p->thin > 2 * w->cols)) return 0;
    if ((p->plain && w->on_one > 1) || (many && (!p->cuts || w->on_one > 1))) return 0;
    w->size = w->parts == 0 ? 4 : many ? 8 : w->parts;
    w->fit = w->on_one * (w->size > 1 ? p->clusters[w->size] : p->processors);
    if (p->squares > 0 && (w->cols == 16 || n % 2 != 0)) return 0;
    const double each = p->thin > w->cols ? ceil(p->thin / w->cols) * p->batch : p->batch;
    w->tiles =
        p->squares > 0 ? p->squares * (128 / w->cols) * p->batch : ceil(p->large / 128) * each;
    w->slices = w->parts == 0 ? (int)fmin(w->fit / w->tiles, 64) : w->parts / w->size;
    w->parts = w->slices * w->size;
    if (w->slices < 1 || w->fit < 1 || (many && w->slices < 2)) return 0;
    if (p->large < w->high) w->high = (int)fmax(ceil(p->large / 8) * 8, 32);
    if (n % 2 == 0) return 1;
    const double down = floor(w->fit / (each * w->slices));
    if (down * 128 <= p->large) return 0;
    w->high = (int)fmax(ceil(p->large / (down * 8)) * 8, 32);
    w->tiles = ceil(p->large / w->high) * each;
    return w->high < (int)TMM__HALF_THIN_LINES;
}

/* Nanoseconds of that. HUGE_VAL where clusters that share k do not fit on the device at once. */
static inline double tmm__xhalf_thin_time(const tmm__xhalf__thins *p, const tmm__xhalf__thin *w)
{
    const tmm__costs *t = tmm__tuned();
    const double clusters = w->tiles * w->slices;
    if (w->parts > 1 && clusters > w->fit) return HUGE_VAL;
    const int kind = w->cols == 16 ? 0 : w->cols / 64;
    const double blocks = clusters * w->size, steps = ceil(p->steps / w->parts);
    const double share = ceil(blocks / p->processors);
    const double together = w->on_one > 1 && share > 1 ? 2 : 1;
    double step = tmm__half_both(t->half_thin.latency[p->from_memory] / w->stages,
                                 together * t->half_thin.step[kind]);
    if (p->plain && p->words > 0)
        step = fmax(step, w->stage * t->half_thin.words[p->words == 4]);
    else if (p->plain)
        step = fmax(step, t->half_thin.step[3] * (1 + w->slots / 8e4));
    const double lines =
        fmin(w->cols, p->thin) * fmin(w->high, p->large) / (int)TMM__HALF_THIN_LINES;
    const double store = w->parts > 1 ? 0 : together * t->half_thin.tile[2] * lines;
    const double tile = t->half_thin.tile[1] + store;
    /* Boxes of an operand that does not lie along k have 64 lines. */
    const double large = p->turned ? ceil(w->high / 64.0) * 64 : w->high;
    const double copied = large * tmm__half_apart_time(p->apart[0], w->high) +
                          fmin(w->cols, p->thin) * tmm__half_apart_time(p->apart[1], w->cols);
    /* A block that goes on copies the next tile while it stores this one. */
    const double rounds = ceil(clusters / w->fit);
    const double all = w->goes_on ? tile + rounds * fmax(steps * step, store + steps * step / 2)
                                  : rounds * (tile + steps * step);
    const double busy = tmm__half_both(all, blocks * steps * copied * 128 / t->half_thin.l2[0]);
    double time = 0, memory = p->memory;
    if (p->from_memory) {
        const double asked = fmin(blocks, w->on_one * p->processors) * w->stages * w->high * 128;
        memory *= 1 + t->half_thin.asked[1] / asked;
        /* Multiprocessors that have more to read than others hold it up. */
        memory *= 1 + t->half_thin.asked[2] * (share * p->processors / blocks - 1);
    }
    time += tmm__overlapped(busy, memory);
    if (w->parts > 1) time += t->half_thin.cluster[0] + t->half_thin.cluster[1] * lines;
    return time;
}

/* KERNEL THIN HALF, if it should take less than c->time. */
static inline void tmm__xhalf_thin_plan(const tmm__xproduct *p, tmm__plan *c)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const tmm__load load = tmm__xload(p, TMM__COST_TENSOR, 128, 64);
    tmm__xhalf__thins q;
    double first = device->gpu.launch + t->half_thin.tile[0];
    q.thin = (double)tmm__min(p->M, p->N), q.large = (double)(p->M + p->N) - q.thin;
    q.steps = (double)((p->K + 63) / 64), q.batch = p->batch, q.processors = load.processors;
    q.turned = p->M > p->N ? p->csA != 1 : p->rsB != 1;
    q.cuts = (p->allowed & TMM__CUT_K) && device->pools;
    const double tiles = ceil(q.thin / 16) * ceil(q.large / 32);
    const double edge = ceil(p->N / 128.0);
    if (tiles * 256 > INT_MAX) return;
    q.squares = TMM__TRIANGLE(p) ? edge * (edge + 1) / 2 : 0;
    const size_t copied = tmm__xhalf_copies(p);
    q.apart[0] = tmm__xhalf_apart(p, p->M <= p->N), q.apart[1] = tmm__xhalf_apart(p, p->M > p->N);
    q.words = tmm__xhalf_thin_words(p);
    q.memory = tmm__memory_time(&load);
    q.from_memory = load.bytes + load.c_bytes >= device->gpu.l2_bytes;
    if (q.from_memory) first += t->half_thin.memory[1];
    q.clusters = tmm__clusters((const void *)tmm__xgemm_half_thin, device->shared - 4096, 1, 0);
    for (int n = 0; n < 2 * (int)TMM__HALF_THIN_WAYS; n++) {
        tmm__xhalf__thin w;
        /* Unaligned operands as they lie, then as copies. Where there are several tiles along thin lines each
           line would be moved more than once. */
        q.plain = copied > 0 && n < (int)TMM__HALF_THIN_WAYS;
        if (n >= (int)TMM__HALF_THIN_WAYS && (copied == 0 || !tmm__xhalf_packs(p))) break;
        if (!tmm__xhalf_thin_way(&q, n % (int)TMM__HALF_THIN_WAYS, &w)) continue;
        w.stage = tmm__xhalf_thin_stage(p, w.cols);
        w.slots = q.plain && q.words == 0
                      ? (int)TMM__HALF_THIN_SLOTS * tmm__xhalf_thin_slot(p, w.cols)
                      : 0;
        /* Blocks that go on to other tiles keep sums beside the stages. */
        w.goes_on =
            q.plain && q.words > 0 && w.parts == 1 && p->batch == 1 && w.tiles > q.processors;
        w.sums = w.goes_on ? (int)TMM__HALF_THIN_LINES * (w.cols + 8) * 4 : 0;
        const int room = (device->shared - 1024 * (1 + w.on_one)) / w.on_one - w.slots - w.sums;
        w.stages = (int)tmm__min(room / w.stage, TMM__HALF_THIN_STAGES);
        if (w.stages < 2) continue;
        const int cut = w.slices > 1  ? TMM__PLAN_REDUCE
                        : w.parts > 1 ? TMM__PLAN_CLUSTERS
                                      : TMM__PLAN_WHOLE;
        double time = first + tmm__xhalf_thin_time(&q, &w);
        const int copies = copied > 0 && !q.plain;
        if (copies) time += tmm__half_align_time((double)copied);
        if (w.slices > 1) time += tmm__xhalf_sum_time(p, w.slices);
        time = tmm__half_host_time(time, copies + (w.slices > 1));
        if (time < HUGE_VAL)
            time = TMM__PLAN_GUESS((int)TMM__HALF_THIN_FIRST + w.way, cut, w.parts, time);
        if (time >= c->time) continue;
        c->time = time, c->instance = (int)TMM__HALF_THIN_FIRST + w.way, c->rest = q.plain;
        c->down = w.goes_on;
        c->kernel = (const void *)tmm__xgemm_half_thin;
        c->bytes = w.stages * w.stage + w.slots + w.sums + 1024;
        c->slices = w.parts, c->cut = cut, c->blocks = w.slices, c->depth = w.stages;
        c->turned = p->M > p->N;
        c->tile_m = c->turned ? w.high : w.cols, c->tile_n = c->turned ? w.cols : w.high;
    }
}

/* What the kernel knows of such an operand, of which a tile has so many lines. */
static inline void tmm__xhalf_thin_from(tmm__half_thin_plain *x, const tmm__xproduct *p, int is_B,
                                        int lines)
{
    const int turned = (is_B ? p->rsB : p->csA) != 1, all = (int)(is_B ? p->N : p->M);
    x->from = (const unsigned short *)(is_B ? p->B : p->A), x->ld = tmm__xhalf_ld(p, is_B);
    x->stride = p->batch > 1 ? is_B ? p->strideB : p->strideA : 0;
    x->rows = turned ? (int)p->K : all, x->cols = turned ? all : (int)p->K;
    x->chunks_log2 = turned && lines == 128 ? 4 : 3;
}

/* By KERNEL THIN HALF. *missing: there was no map, or no memory for slices; then nothing is done. */
static inline tmm_status tmm__xhalf_thin(tmm__xproduct *p, const tmm__plan *plan, int *missing)
{
    const int turned_A = p->csA != 1, turned_B = p->rsB != 1;
    const int cols = plan->turned ? plan->tile_n : plan->tile_m;
    const int high = plan->turned ? plan->tile_m : plan->tile_n, rest = 128 - high;
    int slices = (int)plan->blocks;
    tmm__half_map maps[2];
    tmm__half_thin_job job;
    memset(&job, 0, sizeof job);
    job.M = p->M, job.N = p->N, job.ldc = p->ldc, job.batchC = p->strideC;
    job.alpha = (float)TMM__FACTOR(p->alpha), job.beta = (float)p->beta;
#ifdef TMM_WITH_EPILOGUE
    job.after = p->alpha.after;
#endif
    job.large_is_A = plan->turned;
    job.turned_large = plan->turned ? turned_A : turned_B;
    job.turned_thin = plan->turned ? turned_B : turned_A;
    job.next_large = p->batch > 1 && (plan->turned ? p->strideA : p->strideB) > 0;
    job.next_thin = p->batch > 1 && (plan->turned ? p->strideB : p->strideA) > 0;
    job.cols = cols, job.across = (int)((plan->turned ? p->N : p->M) - 1) / cols + 1;
    job.steps = (int)((p->K + 63) / 64), job.stages = plan->depth;
    job.stage = tmm__xhalf_thin_stage(p, cols);
    /* What does not lie along k comes in boxes of 64 lines. */
    job.high = high, job.expected = job.stage - (job.turned_large ? rest / 64 * 64 : rest) * 128;
    job.once = job.across == 1 && (job.next_large || p->batch == 1);
    job.parts = plan->slices / slices, job.slices = slices;
    memset((void *)maps, 0, sizeof maps);
    *missing = 0;
    for (int n = 0; n < 2; n++) { /* the large operand, the thin one */
        const int is_B = n == 0 ? !plan->turned : plan->turned, turned = is_B ? turned_B : turned_A;
        if (tmm__xhalf_thin_plain(p, is_B))
            tmm__xhalf_thin_from(&job.plain[n], p, is_B, n > 0 ? cols : high > 64 ? 128 : 64);
        else
            *missing |= !tmm__xhalf_make_map(&maps[n], p, is_B, turned ? 64 : n == 0 ? high : cols);
    }
    if (*missing) return TMM_OK;
    if (job.plain[0].rows > 0) job.expected = job.stage - 16384;
    if (job.plain[1].rows > 0) job.expected -= job.stage - 16384;
    const int plain = job.plain[0].rows > 0 || job.plain[1].rows > 0;
    job.words = plain ? tmm__xhalf_thin_words(p) : 0;
    job.full = (job.expected > 0) + (job.words > 0 ? 256 : 8) * plain;
    job.slot = tmm__xhalf_thin_slot(p, cols), job.slots_at = job.stages * job.stage;
    /* Stages are free when sums are kept, but for blocks that go on. */
    job.sums_at = plan->down ? (int)plan->bytes - 1024 - 128 * (cols + 8) * 4 : 0;
    void *partials = tmm__xpartials(p, &slices);
    *missing = slices != job.slices;
    if (*missing) return TMM_OK;
    job.partials = (float *)partials;
    long long down = ((plan->turned ? p->M : p->N) - 1) / high + 1;
#ifdef TMM_WITH_SYRK
    if (p->triangle != 0) {
        const tmm__tiling t = tmm__tile(p->triangle, p->M, p->N, cols, (int)TMM__HALF_THIN_LINES);
        down = (int)t.down, job.across = (int)t.across;
        job.triangle = p->triangle, job.squares = t.squares, job.ratio_log2 = t.ratio_log2;
    }
#endif
    unsigned blocks = (unsigned)(down * job.across * plan->slices);
    job.items = (int)blocks / job.parts;
    if (plan->down) blocks = (unsigned)tmm__current_device()->processors;
    void *arguments[] = {&maps[0], &maps[1], &p->C, &job};
    const tmm_status status =
        tmm__launch_clusters(plan->kernel, dim3(blocks, p->batch), plain ? 544 : 288, job.parts, 1,
                             plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, slices, partials, TMM__SUM_GROUPS);
}
#endif
