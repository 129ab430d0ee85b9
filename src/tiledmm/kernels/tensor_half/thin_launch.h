/* src/tiledmm/kernels/tensor_half/thin_launch.h. PLAN and LAUNCHER of KERNEL THIN HALF.
   Uses: kernels/common/finish.cuh, kernels/tensor_half/, launch/, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* Ways to divide a product. */
typedef struct tmm__xhalf__thin {
    int cols, high, pair;  /* thin lines of a tile, large ones; blocks that share the thin ones */
    int parts, slices;     /* k of a tile in so many; in so many clusters */
    int size, on_one, way; /* of a cluster; blocks on a multiprocessor; number of its kind */
    int stage, stages;     /* bytes; of a block */
} tmm__xhalf__thin;

/* Bytes of a stage of 64 k. 64 lines at least, if neighbours in memory are lines. */
static inline int tmm__xhalf_thin_stage(const tmm__xproduct *p, int cols)
{
    const int turned = p->M > p->N ? p->rsB != 1 : p->csA != 1;
    return ((int)TMM__HALF_THIN_LINES + (turned && cols < 64 ? 64 : cols)) * 128;
}

/* Clusters that fit on the device at once. */
static inline double tmm__xhalf_thin_fit(const tmm__xhalf__thin *w)
{
    const tmm__device *device = tmm__current_device();
    const int size = w->size * w->pair;
    return w->on_one * (size > 1 ? tmm__clusters((const void *)tmm__xgemm_half_thin,
                                                 device->shared - 4096, 1, 0)[size]
                                 : device->processors);
}

/* Number n of the ways to divide a product, of TMM__HALF_THIN_WAYS; 0: it is none for this one. Tiles of
   16, 64 or 128 thin lines, alone or in pairs; one block on a multiprocessor or two; k for a cluster, for so many
   of eight or for all clusters of four that fit, whose sums KERNEL SUM adds. Last, 128 large lines, or so many
   that each cluster that fits has as much to do. */
static inline int tmm__xhalf_thin_way(const tmm__xproduct *p, int n, int cuts, tmm__xhalf__thin *w)
{
    static const int parts[] = {1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 0};
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    w->way = n / 22, w->parts = parts[n / 2 % 11];
    w->cols = w->way % 3 == 0 ? 16 : 32 << w->way % 3, w->pair = w->way % 6 / 3 + 1;
    w->on_one = w->way / 6 + 1, w->high = (int)TMM__HALF_THIN_LINES;
    const int most = (int)TMM__HALF_THIN_CLUSTER / w->pair, many = w->parts == 0 || w->parts > 8;
    if (w->cols == 16 ? w->pair > 1 || thin > 32 : w->pair > 1 && thin <= 16) return 0;
    if (many ? !cuts || w->on_one > 1 || thin > w->cols : w->parts > most) return 0;
    w->size = w->parts == 0 ? 4 : many ? most : w->parts;
    const double fit = tmm__xhalf_thin_fit(w);
    double down = ceil(large / (w->high * w->pair));
    w->slices = w->parts == 0 ? (int)fmin(fit / (down * p->batch), 64) : w->parts / w->size;
    w->parts = w->slices * w->size;
    if (w->slices < 1 || (many && w->slices < 2)) return 0;
    if (n % 2 == 0) return 1;
    down = floor(fit / (ceil(thin / w->cols) * w->slices * p->batch));
    w->high = down < 1 ? 128 : (int)fmin(fmax(ceil(large / (down * w->pair) / 8) * 8, 32), 128);
    return w->high < (int)TMM__HALF_THIN_LINES;
}

/* Nanoseconds of that. HUGE_VAL where clusters that share k do not fit on the device at once. */
static inline double tmm__xhalf_thin_time(const tmm__xproduct *p, const tmm__xhalf__thin *w,
                                          int aligned)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const tmm__load load = tmm__xload(p, TMM__COST_TENSOR, w->high, w->cols);
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    const double down = ceil(ceil(large / w->high) / w->pair), fit = tmm__xhalf_thin_fit(w);
    const double clusters = down * ceil(thin / w->cols) * w->slices * p->batch;
    const int kind = w->cols == 16 ? 0 : w->cols / 64, size = w->size * w->pair;
    if (fit < 1 || (w->parts > 1 && clusters > fit)) return HUGE_VAL;
    const double blocks = clusters * size, steps = ceil(ceil(p->K / 64.0) / w->parts);
    const double together = w->on_one > 1 && blocks > load.processors ? 2 : 1;
    double step = fmax(t->half_thin.latency / w->stages, together * t->half_thin.step[kind]);
    if (w->pair > 1) step *= t->half_thin.slower[1];
    if (!aligned) step *= t->half_thin.slower[0];
    const double tile = t->half_thin.tile[0] + (w->parts > 1 ? 0 : t->half_thin.tile[1] * w->cols);
    const double copies = w->high + fmin(w->cols, thin) / w->pair;
    const double busy = fmax(ceil(clusters / fit) * (tile + steps * step),
                             blocks * steps * copies * 128 / t->half_thin.l2);
    const double asked = fmin(blocks, w->on_one * load.processors) * w->stages;
    double time = device->gpu.launch + t->half_thin.once;
    double memory = tmm__half_memory_time(&load, asked * (w->high * 128), w->pair - 1, &time);
    /* Multiprocessors that have more to read than others hold it up. */
    if (load.bytes + load.c_bytes >= device->gpu.l2_bytes)
        memory *= 1 + t->half_thin.memory[2] *
                          (ceil(blocks / load.processors) / (blocks / load.processors) - 1);
    time += tmm__overlapped(busy, memory);
    if (w->parts > 1)
        time += t->half_thin.cluster[0] + t->half_thin.cluster[1] * fmin(thin, w->cols);
    if (w->slices > 1)
        time += t->half_thin.sum[0] + t->half_thin.sum[1] * 4 * w->slices * thin * large * p->batch;
    return time;
}

/* Are lines of both operands, as TMA reads them, whole 128 bytes apart? */
static inline int tmm__xhalf_thin_lines(const tmm__xproduct *p)
{
    const int copied_A = tmm__xhalf_copied(p, 0, NULL, NULL) > 0;
    const int copied_B = tmm__xhalf_copied(p, 1, NULL, NULL) > 0;
    return (copied_A || tmm__xhalf_ld(p, 0) % 64 == 0) &&
           (copied_B || tmm__xhalf_ld(p, 1) % 64 == 0);
}

/* KERNEL THIN HALF, if it should take less than c->time: 16, 64 or 128 thin lines, alone or in pairs;
   one block on a multiprocessor or two; k for a cluster, or for so many of eight, whose sums KERNEL
   SUM adds. */
static inline void tmm__xhalf_thin_plan(const tmm__xproduct *p, tmm__plan *c)
{
    const tmm__device *device = tmm__current_device();
    const double copied =
        (double)tmm__xhalf_copied(p, 0, NULL, NULL) + (double)tmm__xhalf_copied(p, 1, NULL, NULL);
    const double copies = copied > 0 ? tmm__pack_time(copied) : 0;
    const double thin = (double)tmm__min(p->M, p->N);
    const double tiles = ceil(thin / 16) * ceil((p->M + p->N) / 32.0);
    const int cuts = (p->allowed & TMM__CUT_K) && device->pools;
    if (TMM__TRIANGLE(p) || tiles * 256 > INT_MAX ||
        (copied > 0 && (!(p->allowed & TMM__PACK) || !device->pools)))
        return;
    const int aligned = tmm__xhalf_thin_lines(p);
    for (int n = 0; n < (int)TMM__HALF_THIN_WAYS; n++) {
        tmm__xhalf__thin w;
        if (!tmm__xhalf_thin_way(p, n, cuts, &w)) continue;
        w.stage = tmm__xhalf_thin_stage(p, w.cols);
        w.stages = (int)tmm__min((device->shared - 1024 * (1 + w.on_one)) / w.on_one / w.stage,
                                 TMM__HALF_THIN_STAGES);
        const int cut = w.slices > 1  ? TMM__PLAN_REDUCE
                        : w.parts > 1 ? TMM__PLAN_CLUSTERS
                                      : TMM__PLAN_WHOLE;
        double time = tmm__xhalf_thin_time(p, &w, aligned) + copies;
        if (w.slices > 1) time = tmm__host_time(time);
        if (time < HUGE_VAL)
            time = TMM__PLAN_GUESS((int)TMM__HALF_THIN_FIRST + w.way, cut, w.parts, time);
        if (time >= c->time) continue;
        c->time = time, c->instance = (int)TMM__HALF_THIN_FIRST + w.way, c->rest = 0;
        c->kernel = (const void *)tmm__xgemm_half_thin, c->bytes = w.stages * w.stage + 1024;
        c->slices = w.parts, c->cut = cut, c->blocks = w.slices;
        c->depth = w.stages, c->down = w.pair, c->turned = p->M > p->N;
        c->tile_m = c->turned ? w.high : w.cols, c->tile_n = c->turned ? w.cols : w.high;
    }
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
    job.lines = (int)(plan->turned ? p->M : p->N), job.thins = (int)(plan->turned ? p->N : p->M);
    job.turned_large = plan->turned ? turned_A : turned_B;
    job.turned_thin = plan->turned ? turned_B : turned_A;
    job.next_large = p->batch > 1 && (plan->turned ? p->strideA : p->strideB) > 0;
    job.next_thin = p->batch > 1 && (plan->turned ? p->strideB : p->strideA) > 0;
    job.cols = cols, job.across = (job.thins - 1) / cols + 1;
    job.steps = (int)((p->K + 63) / 64), job.stages = plan->depth;
    job.stage = tmm__xhalf_thin_stage(p, cols);
    /* What does not lie along k comes in boxes of 64 lines. */
    job.high = high, job.expected = job.stage - (job.turned_large ? rest / 64 * 64 : rest) * 128;
    job.once = job.across == 1 && (job.next_large || p->batch == 1);
    job.pair = plan->down, job.parts = plan->slices / slices, job.slices = slices;
    *missing =
        !tmm__xhalf_make_map(&maps[0], p, !plan->turned, job.turned_large ? 64 : high) ||
        !tmm__xhalf_make_map(&maps[1], p, plan->turned, (job.turned_thin ? 64 : cols) / job.pair);
    if (*missing) return TMM_OK;
    void *partials = tmm__xpartials(p, &slices);
    *missing = slices != job.slices;
    if (*missing) return TMM_OK;
    job.partials = (float *)partials;
    const long long down = (job.lines - 1) / (high * job.pair) + 1;
    const unsigned blocks = (unsigned)(down * job.across * job.pair * plan->slices);
    void *arguments[] = {&maps[0], &maps[1], &p->C, &job};
    const tmm_status status =
        tmm__launch_clusters(plan->kernel, dim3(blocks, p->batch), 288, job.parts * job.pair, 1,
                             plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, slices, partials, TMM__SUM_GROUPS);
}
#endif
