/* src/tiledmm/kernels/tensor_half/thin_launch.h. PLAN and LAUNCHER of KERNEL THIN HALF.
   Uses: kernels/common/finish.cuh, kernels/tensor_half/, launch/, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* Tiles of `cols` thin lines. */
static inline double tmm__xhalf_thin_tiles(const tmm__xproduct *p, int cols)
{
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    return ceil(large / (int)TMM__HALF_THIN_LINES) * ceil(thin / cols);
}

/* Bytes of a stage of 64 k. 64 lines at least, if neighbours in memory are lines. */
static inline int tmm__xhalf_thin_stage(const tmm__xproduct *p, int cols, int large_is_A)
{
    const int turned = large_is_A ? p->rsB != 1 : p->csA != 1;
    return ((int)TMM__HALF_THIN_LINES + (turned && cols < 64 ? 64 : cols)) * 128;
}

/* KERNEL THIN HALF, if it should take less than c->time. Its k are shared by a cluster, or by so many
   clusters of eight, whose parts KERNEL SUM adds. */
static inline void tmm__xhalf_thin_plan(const tmm__xproduct *p, tmm__plan *c)
{
    const tmm__device *device = tmm__current_device();
    const double steps = ceil(p->K / 64.0);
    const double copied =
        (double)tmm__xhalf_copied(p, 0, NULL, NULL) + (double)tmm__xhalf_copied(p, 1, NULL, NULL);
    const double copies = copied > 0 ? tmm__pack_time(copied) : 0;
    if (TMM__TRIANGLE(p) || (copied > 0 && (!(p->allowed & TMM__PACK) || !device->pools))) return;
    for (int n = 0; n < 6; n++) { /* 16, 64, 128 thin lines; then two blocks that share them */
        const int cols = n % 3 == 0 ? 16 : 32 << n % 3, pair = n / 3 + 1;
        const int stage = tmm__xhalf_thin_stage(p, cols, p->M > p->N);
        const double tiles = tmm__xhalf_thin_tiles(p, cols);
        tmm__load load = tmm__xload(p, TMM__COST_TENSOR, TMM__HALF_THIN_LINES, cols);
        if (tiles * 256 > INT_MAX || (pair > 1 && cols == 16)) continue;
        for (int parts = 1; parts <= 256; parts += parts < 8 / pair ? 1 : 4) {
            const int most = parts > 8 / pair ? 4 : parts;
            const int cut = parts > most ? TMM__PLAN_REDUCE
                            : parts > 1  ? TMM__PLAN_CLUSTERS
                                         : TMM__PLAN_WHOLE;
            if (parts % most != 0) continue;
            if (parts > most && (!(p->allowed & TMM__CUT_K) || !device->pools)) break;
            const double blocks = tiles * parts * p->batch;
            const double rounds = ceil(blocks / (2 * load.processors));
            const double clocks = 4000 + rounds * (ceil(steps / parts) * 600 + 1000);
            double time = device->gpu.launch +
                          tmm__overlapped(tmm__in_nanoseconds(clocks), tmm__memory_time(&load)) +
                          copies;
            if (parts > most) time = tmm__host_time(time + tmm__xsum_time(p, parts / most));
            time = TMM__PLAN_GUESS((int)TMM__HALF_THIN_FIRST + n, cut, parts, time);
            if (time >= c->time) continue;
            c->time = time, c->instance = (int)TMM__HALF_THIN_FIRST + n;
            c->kernel = (const void *)tmm__xgemm_half_thin;
            c->depth = 112 * 1024 / stage, c->bytes = c->depth * stage + 1024;
            c->layout = most, c->down = pair, c->slices = parts, c->cut = cut, c->rest = 0;
            c->turned = p->M > p->N;
            c->tile_m = c->turned ? (int)TMM__HALF_THIN_LINES : cols;
            c->tile_n = c->turned ? cols : (int)TMM__HALF_THIN_LINES;
        }
    }
}

#ifndef X_EARLY
#define X_EARLY 1
#endif
/* By KERNEL THIN HALF. *missing: there was no map, or no memory for slices; then nothing is done. */
static inline tmm_status tmm__xhalf_thin(tmm__xproduct *p, const tmm__plan *plan, int *missing)
{
    const int turned_A = p->csA != 1, turned_B = p->rsB != 1;
    const int cols = plan->turned ? plan->tile_n : plan->tile_m;
    int slices = plan->slices / plan->layout;
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
#ifdef X_PREFETCH
    job.prefetch = X_PREFETCH;
#endif
    job.cols = cols, job.across = (job.thins - 1) / cols + 1;
    job.steps = (int)((p->K + 63) / 64), job.stages = plan->depth;
    job.stage = tmm__xhalf_thin_stage(p, cols, plan->turned);
    job.pair = plan->down, job.parts = plan->layout, job.slices = slices;
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
        tmm__launch_clusters(plan->kernel, dim3(blocks, p->batch), 288, job.parts * job.pair,
                             X_EARLY, plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, slices, partials, TMM__SUM_GROUPS);
}
#endif
