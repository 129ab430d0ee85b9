/* src/tiledmm/kernels/outer/launch.h. PLAN and LAUNCHER of KERNEL OUTER.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* An instance of KERNEL OUTER. */
typedef struct tmm__xouter__instance {
    int warp_rows, cols, bytes; /* of C that a warp computes; for each k that is copied */
    const void *kernel;
} tmm__xouter__instance;

/* The number under which an instance was measured. Others go by the area of a warp, of the first. */
static inline int tmm__xouter_measured(const tmm__xouter__instance *i, double *area)
{
    const tmm__costs *t = tmm__tuned();
    int n = TMM__TUNED_OUTER - 1;
    while (n > 0 && (t->outer_warp[n].rows != i->warp_rows || t->outer_warp[n].cols != i->cols))
        n--;
    *area = (double)i->warp_rows * i->cols / (t->outer_warp[n].rows * t->outer_warp[n].cols);
    return n;
}

/* Nanoseconds of a plan with an instance: the blocks of the busiest multiprocessor, or memory. */
static inline double tmm__xouter_guess(const tmm__plan *c, const tmm__xouter__instance *i,
                                       const tmm__xproduct *p)
{
    double area;
    const int n = tmm__xouter_measured(i, &area), warps = c->threads / 32;
    const tmm__outer_costs *t = &tmm__tuned()->outer[TMM__TUNED_AS];
    const tmm__load load = tmm__xload(p, TMM__COST_OUTER, 1, 1);
    const double K = (double)p->K;
    const size_t sector = 32;
    const double blocks = ceil((double)c->down * (double)c->blocks * p->batch / load.processors);
    /* Elements that a thread copies. */
    const double copies = K * (i->warp_rows + (double)i->cols / warps) / 32;
    const int apart =
        (size_t)p->ldc * sizeof(TMM_TYPE) % sector != 0 && i->cols == 32 && c->blocks > 1;
    double clocks = warps * area * t->warp[n] * (apart ? 1 + t->odd : 1);
    clocks += warps * area * K * (c->depth > 0 ? t->k[n] : t->direct_k[n]);
    if (c->depth > 0) clocks += warps * copies * t->copied;
    clocks *= blocks;
    clocks += c->depth > 0 ? t->copy + copies * t->copy_each
                           : t->direct + t->direct_each * fmax(K - 1, 0);
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    double memory = tmm__memory_time(&load);
    if (apart) memory *= t->apart;
    return gpu->launch + (p->batch > 1 ? t->batch : 1) * fmax(clocks / gpu->clock, memory);
}

/* The instance and block that should be fastest. */
static inline void tmm__xouter_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                    tmm__plan *best)
{
#define TMM__ROW(pass, name, rows, lanes)                                           \
    {rows * (32 / lanes), TMM__OUTER_COLS * lanes, (int)TMM_FN(outer_bytes_##name), \
     (const void *)TMM_FN(gemm_outer_##name)},
    static const tmm__xouter__instance instances[] = {TMM__OUTER_LIST(TMM__ROW)};
#undef TMM__ROW
    const int count = (int)(sizeof instances / sizeof *instances);
    const int direct = p->K > 0 && p->K <= TMM__OUTER_DIRECT, least = direct ? 2 : 4;
    tmm__plan c = *best;
    (void)row;
    best->time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        const tmm__xouter__instance *i = &instances[n];
        const int most = tmm__current_device()->shared / i->bytes / (int)TMM__OUTER_STEP;
        const int steps =
            (int)((tmm__min(p->K, TMM__OUTER_MOST) + TMM__OUTER_STEP - 1) / TMM__OUTER_STEP);
        c.instance = n, c.kernel = i->kernel;
        c.depth = direct ? 0 : (steps < 1 ? 1 : steps < most ? steps : most) * (int)TMM__OUTER_STEP;
        c.bytes = c.depth * i->bytes;
        for (int warps = least; warps <= (int)TMM__OUTER_WARPS; warps *= 2) {
            const double down = ceil((double)p->M / (warps * i->warp_rows));
            if (down > (int)TMM__MOST_GRID) continue;
            c.tile_m = warps * i->warp_rows, c.tile_n = i->cols, c.threads = 32 * warps;
            c.down = (int)down, c.blocks = (p->N - 1) / i->cols + 1;
            c.time = tmm__xouter_guess(&c, i, p);
            c.time = TMM__PLAN_GUESS(n, TMM__PLAN_WHOLE, warps, c.time);
            if (c.time < best->time) *best = c;
        }
    }
}

static inline int tmm__xouter_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return p->K <= TMM__OUTER_MOST && tmm__xfast_competes(p, row);
}

static inline tmm_status tmm__xouter(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    int depth = plan->depth;
    void *arguments[20];
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel outer: M (%lld) is too large for it", p.M);
    arguments[tmm__xarguments(&p, arguments)] = &depth;
    return tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, (unsigned)plan->down, p.batch),
                       dim3((unsigned)plan->threads), plan->bytes, arguments, p.stream);
}
#endif
