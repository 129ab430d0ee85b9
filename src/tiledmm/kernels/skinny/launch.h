/* src/tiledmm/kernels/skinny/launch.h. LAUNCHER of KERNEL SKINNY.
   Uses: kernels/small/launch.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && \
    (TMM__IS_FLOAT || TMM__IS_DOUBLE)
static inline tmm_status tmm__xgemm__skinny_takes(const tmm__xgemm__product *p,
                                                  const tmm__xgemm__kernel *row)
{
    (void)row;
    if (p->M <= TMM__SKINNY_MOST || p->N <= TMM__SKINNY_MOST) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel skinny: M x N is %lld x %lld, but one of them must be %d at most",
                     p->M, p->N, TMM__SKINNY_MOST);
}

/* An instance of KERNEL SKINNY: as in the list, bytes of shared memory, and of its sums alone,
   lines of a block and k of a stage. */
typedef struct tmm__xskinny__instance {
    int along_k, width, bytes, least, lines, depth;
    const void *kernel;
} tmm__xskinny__instance;

/* How a launch of KERNEL SKINNY is made. L is the large operand, S the narrow one. */
typedef struct tmm__xskinny__choice {
    tmm__xskinny__instance instance;
    int narrow_m;
    long long lines, width, blocks, parts;
    double time; /* nanoseconds that it should take */
} tmm__xskinny__choice;

#define TMM__CHECK(pass, name, along_k, width) | ((width) >= TMM__SKINNY_MOST ? 1 << (along_k) : 0)
static_assert(
    (0 TMM__SKINNY_LIST(TMM__CHECK)) == 3,
    "TMM__SKINNY_LIST must have a width of TMM__SKINNY_MOST along k, and along the lines");
#undef TMM__CHECK

/* Costs of an instance; of one that was not measured: by its area, of that of width 16. */
static inline tmm__block_costs tmm__xgemm__skinny_costs(const tmm__xskinny__instance *i,
                                                        int aligned)
{
    const tmm__costs *t = tmm__tuned();
    const double area = 16.0 * (i->along_k ? 128 : 64); /* its width, and lines */
    const tmm__block_costs *wide = NULL;
    for (int n = 0; n < TMM__TUNED_SKINNY; n++) {
        const tmm__block_costs *c = &t->skinny[n].block[sizeof(TMM_TYPE) > 4][aligned];
        if (t->skinny[n].along_k != i->along_k) continue;
        if (t->skinny[n].width == i->width) return *c;
        if (t->skinny[n].width == 16) wide = c;
    }
    return tmm__scaled(wide, (double)i->lines * i->width / area);
}

/* Takes the narrowest instance that is wide enough, and cuts K so that each multiprocessor has
   nearly as many stages as the others. */
static inline tmm__xskinny__choice tmm__xgemm__skinny_plan(const tmm__xgemm__product *p)
{
#define TMM__ROW(pass, name, along_k, width) \
    {along_k,                                \
     width,                                  \
     TMM_FN(skinny_bytes_##name),            \
     TMM_FN(skinny_least_##name),            \
     TMM_FN(skinny_lines_##name),            \
     TMM_FN(skinny_depth_##name),            \
     (const void *)TMM_FN(gemm_skinny_##name)},
    static const tmm__xskinny__instance instances[] = {TMM__SKINNY_LIST(TMM__ROW)};
#undef TMM__ROW
    enum { MOST_PARTS = 64, MOST_TURNS = 6 };
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    tmm__xskinny__choice c;
    memset(&c, 0, sizeof c);
    c.narrow_m = p->M < p->N;
    c.lines = c.narrow_m ? p->N : p->M, c.width = c.narrow_m ? p->M : p->N;
    const TMM_TYPE *L = c.narrow_m ? p->B : p->A;
    const long long lineL = c.narrow_m ? p->csB : p->rsA, kL = c.narrow_m ? p->rsB : p->csA;
    const tmm__xskinny__instance *best = NULL;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++) {
        const tmm__xskinny__instance *i = &instances[n];
        if (i->along_k != (kL == 1) || i->width < c.width) continue;
        if (best == NULL || i->width < best->width) best = i;
    }
    c.instance = *best;
    c.blocks = (c.lines - 1) / best->lines + 1;
    const int aligned = ((size_t)L | (kL == 1 ? lineL : kL) * sizeof(TMM_TYPE)) % 16 == 0;
    const tmm__block_costs costs = tmm__xgemm__skinny_costs(best, aligned);
    tmm__load load = tmm__xgemm__load(p, TMM__COST_SKINNY, best->lines, best->width);
    const double blocks = (double)c.blocks * p->batch, stages = ceil((double)p->K / best->depth);
    load.blocks = blocks, load.k = stages * best->depth, load.copied = 0;
    c.time = TMM__PLAN_GUESS(best->width, TMM__PLAN_WHOLE, 1, tmm__launch_time(&costs, &load));
    c.parts = 1;
    /* Two launches would take the host longer. */
    if (c.time <= t->host || !device->pools) return c;
    const double whole = c.time;
    const double each = tmm__xgemm__sum_time(p, 1) - tmm__xgemm__sum_time(p, 0);
    const double rounds = ceil(blocks / load.processors);
    const double most =
        fmin(fmin(stages, MOST_PARTS),
             sqrt(tmm__in_nanoseconds(rounds * tmm__k_clocks(&costs, &load) * p->K) / each));
    for (int turns = 1; turns <= MOST_TURNS; turns++) {
        const double parts = floor(fmin(most, turns * load.processors / blocks));
        if (parts < 2 || parts == c.parts) continue;
        load.blocks = blocks * parts, load.k = ceil(stages / parts) * best->depth;
        double time = tmm__launch_time(&costs, &load) + tmm__xgemm__sum_time(p, parts);
        time = TMM__PLAN_GUESS(best->width, TMM__PLAN_REDUCE, (int)parts, tmm__host_time(time));
        if (time < c.time && whole - time > fmin((1 - t->gain) * whole, t->host))
            c.time = time, c.parts = (long long)parts;
    }
    return c;
}

static inline double tmm__xgemm__skinny_time(const tmm__xgemm__product *p,
                                             const tmm__xgemm__kernel *row)
{
    (void)row;
    if (p->M > TMM__SKINNY_MOST && p->N > TMM__SKINNY_MOST) return HUGE_VAL;
    const tmm__xskinny__choice c = tmm__xgemm__skinny_plan(p);
    return c.instance.least <= tmm__current_device()->shared ? c.time : HUGE_VAL;
}

static inline tmm_status tmm__xgemm__skinny(const tmm__xgemm__product *given,
                                            const tmm__xgemm__kernel *row)
{
    tmm__xgemm__product product = *given, *p = &product;
    (void)row;
    const tmm__device *device = tmm__current_device();
    tmm__xskinny__choice c = tmm__xgemm__skinny_plan(p);
    const int narrow_m = c.narrow_m;
    const TMM_TYPE *L = narrow_m ? p->B : p->A, *S = narrow_m ? p->A : p->B;
    long long lineL = narrow_m ? p->csB : p->rsA, kL = narrow_m ? p->rsB : p->csA;
    long long kS = narrow_m ? p->csA : p->rsB, jS = narrow_m ? p->rsA : p->csB;
    long long strideL = narrow_m ? p->strideB : p->strideA;
    long long strideS = narrow_m ? p->strideA : p->strideB;
    if (c.instance.least > device->shared)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: its sums take %d bytes of shared memory, this device has "
                         "%d for a block",
                         c.instance.least, device->shared);
    void *partials = NULL;
    if (c.parts > 1)
        partials =
            tmm__workspace((size_t)(c.parts * p->M * p->N * p->batch) * sizeof(TMM_SUM), p->stream);
    if (partials == NULL) c.parts = 1;
    int bytes = (int)tmm__min(c.instance.bytes, device->shared); /* as for SMALL */
    void *arguments[] = {&c.lines, &c.width, &p->K,   &p->alpha,   &L,          &lineL,
                         &kL,      &strideL, &S,      &kS,         &jS,         &strideS,
                         &p->beta, &p->C,    &p->ldc, &p->strideC, &c.narrow_m, &partials};
    tmm_status status =
        tmm__launch(c.instance.kernel, dim3((unsigned)c.blocks, (unsigned)c.parts, p->batch),
                    dim3(256), bytes, arguments, p->stream);
    return tmm__xgemm__sum(status, p, (int)c.parts, partials);
}
#endif
