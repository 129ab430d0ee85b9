/* src/tiledmm/kernels/tensor_half/thin_launch.h. PLAN and LAUNCHER of KERNEL THIN HALF.
   Uses: kernels/common/finish.cuh, kernels/tensor_half/, launch/, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* Ways to divide a product. */
typedef struct tmm__xhalf__thin {
    int cols, pair;            /* thin lines of a tile; blocks that share them */
    int parts, slices;         /* k of a tile in so many; in so many clusters */
    int stage, stages, on_one; /* bytes; of a block; blocks on a multiprocessor */
} tmm__xhalf__thin;

/* Bytes of a stage of 64 k. 64 lines at least, if neighbours in memory are lines. */
static inline int tmm__xhalf_thin_stage(const tmm__xproduct *p, int cols)
{
    const int turned = p->M > p->N ? p->rsB != 1 : p->csA != 1;
    return ((int)TMM__HALF_THIN_LINES + (turned && cols < 64 ? 64 : cols)) * 128;
}

/* Nanoseconds of that. HUGE_VAL where clusters that share k do not fit on the device at once. */
static inline double tmm__xhalf_thin_time(const tmm__xproduct *p, const tmm__xhalf__thin *w,
                                          int aligned)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const tmm__load load = tmm__xload(p, TMM__COST_TENSOR, TMM__HALF_THIN_LINES, w->cols);
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    const double down = ceil(ceil(large / (int)TMM__HALF_THIN_LINES) / w->pair);
    const double clusters = down * ceil(thin / w->cols) * w->slices * p->batch;
    const int kind = w->cols == 16 ? 0 : w->cols / 64, size = w->parts / w->slices * w->pair;
    const double fit = w->on_one * (size > 1 ? tmm__clusters((const void *)tmm__xgemm_half_thin,
                                                             device->shared - 4096, 1, 0)[size]
                                             : load.processors);
    if (fit < 1 || (w->parts > 1 && clusters > fit)) return HUGE_VAL;
    const double blocks = clusters * size, steps = ceil(ceil(p->K / 64.0) / w->parts);
    const double together = w->on_one > 1 && blocks > load.processors ? 2 : 1;
    double step = fmax(t->half_thin.latency / w->stages, together * t->half_thin.step[kind]);
    if (w->pair > 1) step *= t->half_thin.slower[1];
    if (!aligned) step *= t->half_thin.slower[0];
    const double tile = t->half_thin.tile[0] + (w->parts > 1 ? 0 : t->half_thin.tile[1] * w->cols);
    const double copies = (int)TMM__HALF_THIN_LINES + fmin(w->cols, thin) / w->pair;
    const double busy = fmax(ceil(clusters / fit) * (tile + steps * step),
                             blocks * steps * copies * 128 / t->half_thin.l2);
    const double asked = fmin(blocks, w->on_one * load.processors) * w->stages;
    double time = device->gpu.launch + t->half_thin.once;
    const double memory =
        tmm__half_memory_time(&load, asked * ((int)TMM__HALF_THIN_LINES * 128), w->pair - 1, &time);
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
    static const int parts[] = {1, 2, 3, 4, 6, 8, 16, 32, 64, 128};
    const tmm__device *device = tmm__current_device();
    const double copied =
        (double)tmm__xhalf_copied(p, 0, NULL, NULL) + (double)tmm__xhalf_copied(p, 1, NULL, NULL);
    const double copies = copied > 0 ? tmm__pack_time(copied) : 0;
    const double thin = (double)tmm__min(p->M, p->N);
    const double tiles = ceil(thin / 16) * ceil((p->M + p->N) / 128.0);
    const int cuts = (p->allowed & TMM__CUT_K) && device->pools;
    if (TMM__TRIANGLE(p) || tiles * 256 > INT_MAX ||
        (copied > 0 && (!(p->allowed & TMM__PACK) || !device->pools)))
        return;
    const int aligned = tmm__xhalf_thin_lines(p);
    for (int n = 0; n < 12 * 10; n++) {
        const int way = n / 10, most = 8 / (way % 6 / 3 + 1);
        tmm__xhalf__thin w;
        w.cols = way % 3 == 0 ? 16 : 32 << way % 3, w.pair = way % 6 / 3 + 1;
        w.on_one = way / 6 + 1, w.parts = parts[n % 10];
        w.slices = w.parts > 8 ? w.parts / most : 1;
        if (w.cols == 16 ? w.pair > 1 || thin > 32 : w.pair > 1 && thin <= 16) continue;
        if (w.slices == 1 ? w.parts > most : !cuts || w.on_one > 1 || thin > w.cols) continue;
        w.stage = tmm__xhalf_thin_stage(p, w.cols);
        w.stages = (int)tmm__min((device->shared - 1024 * (1 + w.on_one)) / w.on_one / w.stage,
                                 TMM__HALF_THIN_STAGES);
        const int cut = w.slices > 1  ? TMM__PLAN_REDUCE
                        : w.parts > 1 ? TMM__PLAN_CLUSTERS
                                      : TMM__PLAN_WHOLE;
        double time = tmm__xhalf_thin_time(p, &w, aligned) + copies;
        if (w.slices > 1) time = tmm__host_time(time);
        if (time < HUGE_VAL)
            time = TMM__PLAN_GUESS((int)TMM__HALF_THIN_FIRST + way, cut, w.parts, time);
        if (time >= c->time) continue;
        c->time = time, c->instance = (int)TMM__HALF_THIN_FIRST + way, c->rest = 0;
        c->kernel = (const void *)tmm__xgemm_half_thin, c->bytes = w.stages * w.stage + 1024;
        c->slices = w.parts, c->cut = cut, c->blocks = w.slices;
        c->depth = w.stages, c->down = w.pair, c->turned = p->M > p->N;
        c->tile_m = c->turned ? (int)TMM__HALF_THIN_LINES : w.cols;
        c->tile_n = c->turned ? w.cols : (int)TMM__HALF_THIN_LINES;
    }
}

/* By KERNEL THIN HALF. *missing: there was no map, or no memory for slices; then nothing is done. */
static inline tmm_status tmm__xhalf_thin(tmm__xproduct *p, const tmm__plan *plan, int *missing)
{
    const int turned_A = p->csA != 1, turned_B = p->rsB != 1;
    const int cols = plan->turned ? plan->tile_n : plan->tile_m;
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
    job.pair = plan->down, job.parts = plan->slices / slices, job.slices = slices;
    *missing =
        !tmm__xhalf_make_map(&maps[0], p, !plan->turned, job.turned_large ? 64 : 128) ||
        !tmm__xhalf_make_map(&maps[1], p, plan->turned, (job.turned_thin ? 64 : cols) / job.pair);
    if (*missing) return TMM_OK;
    void *partials = tmm__xpartials(p, &slices);
    *missing = slices != job.slices;
    if (*missing) return TMM_OK;
    job.partials = (float *)partials;
    const long long down = (job.lines - 1) / ((int)TMM__HALF_THIN_LINES * job.pair) + 1;
    const unsigned blocks = (unsigned)(down * job.across * job.pair * plan->slices);
    void *arguments[] = {&maps[0], &maps[1], &p->C, &job};
    const tmm_status status =
        tmm__launch_clusters(plan->kernel, dim3(blocks, p->batch), 288, job.parts * job.pair, 1,
                             plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, slices, partials, TMM__SUM_GROUPS);
}
#endif
