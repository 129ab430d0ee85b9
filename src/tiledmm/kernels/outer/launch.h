/* src/tiledmm/kernels/outer/launch.h. LAUNCHER of KERNEL OUTER.
   Uses: launch/product.h. Used by: type/choose.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* An instance of KERNEL OUTER. */
typedef struct tmm__xouter__instance {
    int warp_rows, cols, bytes; /* of C that a warp computes; for each k that is copied */
    const void *kernel;
} tmm__xouter__instance;

/* How a launch of KERNEL OUTER is made. */
typedef struct tmm__xouter__choice {
    tmm__xouter__instance instance;
    int warps, depth; /* of a block; k in shared memory, 0: none */
    double down, across;
    double time; /* nanoseconds that it should take */
} tmm__xouter__choice;

/* The number under which an instance was measured. Others go by the area of a warp, of the first. */
static inline int tmm__xgemm__outer_measured(const tmm__xouter__instance *i, double *area)
{
    const tmm__costs *t = tmm__tuned();
    int n = TMM__TUNED_OUTER - 1;
    while (n > 0 && (t->outer_warp[n].rows != i->warp_rows || t->outer_warp[n].cols != i->cols))
        n--;
    *area = (double)i->warp_rows * i->cols / (t->outer_warp[n].rows * t->outer_warp[n].cols);
    return n;
}

/* Nanoseconds with an instance: the blocks of the busiest multiprocessor, or memory. */
static inline double tmm__xgemm__outer_guess(const tmm__xouter__choice *c,
                                             const tmm__xgemm__product *p)
{
    double area;
    const int n = tmm__xgemm__outer_measured(&c->instance, &area);
    const tmm__outer_costs *t = &tmm__tuned()->outer[TMM__TUNED_AS];
    const tmm__load load = tmm__xgemm__load(p, TMM__COST_OUTER, 1, 1);
    const double K = (double)p->K;
    const size_t sector = 32;
    const double blocks = ceil(c->down * c->across * p->batch / load.processors);
    /* Elements that a thread copies. */
    const double copies = K * (c->instance.warp_rows + (double)c->instance.cols / c->warps) / 32;
    const int apart =
        (size_t)p->ldc * sizeof(TMM_TYPE) % sector != 0 && c->instance.cols == 32 && c->across > 1;
    double clocks = c->warps * area * t->warp[n] * (apart ? 1 + t->odd : 1);
    clocks += c->warps * area * K * (c->depth > 0 ? t->k[n] : t->direct_k[n]);
    if (c->depth > 0) clocks += c->warps * copies * t->copied;
    clocks *= blocks;
    clocks += c->depth > 0 ? t->copy + copies * t->copy_each
                           : t->direct + t->direct_each * fmax(K - 1, 0);
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    double memory = tmm__memory_time(&load);
    if (apart) memory *= t->apart;
    return gpu->launch + (p->batch > 1 ? t->batch : 1) * fmax(clocks / gpu->clock, memory);
}

/* The instance and block that should be fastest. */
static inline tmm__xouter__choice tmm__xgemm__outer_plan(const tmm__xgemm__product *p)
{
#define TMM__ROW(pass, name, rows, lanes)                                           \
    {rows * (32 / lanes), TMM__OUTER_COLS * lanes, (int)TMM_FN(outer_bytes_##name), \
     (const void *)TMM_FN(gemm_outer_##name)},
    static const tmm__xouter__instance instances[] = {TMM__OUTER_LIST(TMM__ROW)};
#undef TMM__ROW
    const int count = (int)(sizeof instances / sizeof *instances);
    const int direct = p->K > 0 && p->K <= TMM__OUTER_DIRECT, least = direct ? 2 : 4;
    tmm__xouter__choice best, c;
    memset(&best, 0, sizeof best);
    best.time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        c.instance = instances[n];
        const int most = tmm__current_device()->shared / c.instance.bytes / (int)TMM__OUTER_STEP;
        const int steps =
            (int)((tmm__min(p->K, TMM__OUTER_MOST) + TMM__OUTER_STEP - 1) / TMM__OUTER_STEP);
        c.depth = direct ? 0 : (steps < 1 ? 1 : steps < most ? steps : most) * (int)TMM__OUTER_STEP;
        for (c.warps = least; c.warps <= (int)TMM__OUTER_WARPS; c.warps *= 2) {
            c.down = ceil((double)p->M / (c.warps * c.instance.warp_rows));
            c.across = ceil((double)p->N / c.instance.cols);
            if (c.down > (int)TMM__MOST_GRID) continue;
            c.time = tmm__xgemm__outer_guess(&c, p);
            c.time = TMM__PLAN_GUESS(n, TMM__PLAN_WHOLE, c.warps, c.time);
            if (c.time < best.time) best = c;
        }
    }
    return best;
}

static inline tmm_status tmm__xgemm__outer_takes(const tmm__xgemm__product *p,
                                                 const tmm__xgemm__kernel *row)
{
    (void)row;
    if (p->K > INT_MAX)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel outer: K (%lld) is too large for it", p->K);
    if (tmm__xgemm__outer_plan(p).time == HUGE_VAL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel outer: M (%lld) is too large for it", p->M);
    return TMM_OK;
}

static inline double tmm__xgemm__outer_time(const tmm__xgemm__product *p,
                                            const tmm__xgemm__kernel *row)
{
    (void)row;
    return p->K > TMM__OUTER_MOST ? HUGE_VAL : tmm__xgemm__outer_plan(p).time;
}

static inline tmm_status tmm__xgemm__outer(const tmm__xgemm__product *given,
                                           const tmm__xgemm__kernel *row)
{
    tmm__xgemm__product p = *given;
    tmm__xouter__choice c = tmm__xgemm__outer_plan(&p);
    void *arguments[20];
    (void)row;
    arguments[tmm__xgemm__arguments(&p, arguments)] = &c.depth;
    return tmm__launch(c.instance.kernel, dim3((unsigned)c.across, (unsigned)c.down, p.batch),
                       dim3((unsigned)(32 * c.warps)), c.depth * c.instance.bytes, arguments,
                       p.stream);
}
#endif
