/* src/tiledmm/kernels/skinny/launch.h. LAUNCHER of KERNEL SKINNY.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Of other types than float, TMM_SKINNY is then a name for TMM_DIRECT. */
static inline int tmm__xskinny_fits(const tmm__xproduct *p)
{
    return p->M <= TMM__SKINNY_MOST || p->N <= TMM__SKINNY_MOST;
}

#if TMM__IS_FLOAT
static inline tmm_status tmm__xskinny_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)row;
    if (tmm__xskinny_fits(p)) return TMM_OK;
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

#define TMM__CHECK(pass, name, along_k, width) | ((width) >= TMM__SKINNY_MOST ? 1 << (along_k) : 0)
static_assert(
    (0 TMM__SKINNY_LIST(TMM__CHECK)) == 3,
    "TMM__SKINNY_LIST must have a width of TMM__SKINNY_MOST along k, and along the lines");
#undef TMM__CHECK

/* Costs of an instance; of one that was not measured: by its area, of that of width 16. */
static inline tmm__block_costs tmm__xskinny_costs(const tmm__xskinny__instance *i, int aligned)
{
    const tmm__costs *t = tmm__tuned();
    const double area = 16.0 * (i->along_k ? 128 : 64); /* its width, and lines */
    const tmm__block_costs *wide = NULL;
    for (int n = 0; n < TMM__TUNED_SKINNY; n++) {
        const tmm__block_costs *c = &t->skinny[n].block[aligned];
        if (t->skinny[n].along_k != i->along_k) continue;
        if (t->skinny[n].width == i->width) return *c;
        if (t->skinny[n].width == 16) wide = c;
    }
    return tmm__scaled(wide, (double)i->lines * i->width / area);
}

/* Takes the narrowest instance that is wide enough, and cuts K so that each multiprocessor has
   nearly as many stages as the others. */
static inline void tmm__xskinny_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
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
    const int most_parts = 64, most_turns = 6;
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    const int turned = p->M < p->N; /* L is the large operand */
    const long long lines = turned ? p->N : p->M, width = turned ? p->M : p->N;
    const TMM_TYPE *L = turned ? p->B : p->A;
    const long long lineL = turned ? p->csB : p->rsA, kL = turned ? p->rsB : p->csA;
    (void)row;
    const tmm__xskinny__instance *best = NULL;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++) {
        const tmm__xskinny__instance *i = &instances[n];
        if (i->along_k != (kL == 1) || i->width < width) continue;
        if (best == NULL || i->width < best->width) best = i;
    }
    c->instance = best->width, c->kernel = best->kernel, c->turned = turned;
    c->tile_m = turned ? best->width : best->lines, c->tile_n = turned ? best->lines : best->width;
    c->blocks = (lines - 1) / best->lines + 1;
    c->threads = 256, c->bytes = (int)tmm__min(best->bytes, device->shared); /* as for SMALL */
    const int aligned = ((size_t)L | (kL == 1 ? lineL : kL) * sizeof(TMM_TYPE)) % 16 == 0;
    const tmm__block_costs costs = tmm__xskinny_costs(best, aligned);
    tmm__load load = tmm__xload(p, TMM__COST_SKINNY, best->lines, best->width);
    const double blocks = (double)c->blocks * p->batch, stages = ceil((double)p->K / best->depth);
    load.blocks = blocks, load.k = stages * best->depth, load.copied = 0;
    c->time = TMM__PLAN_GUESS(best->width, TMM__PLAN_WHOLE, 1, tmm__launch_time(&costs, &load));
    if (best->least > device->shared) /* its sums do not fit */
        c->kernel = NULL, c->time = HUGE_VAL, c->bytes = best->least;
    if (c->kernel == NULL) return;
    /* Two launches would take the host longer. */
    if (c->time <= t->host || !device->pools) return;
    const double whole = c->time;
    const double each = tmm__xsum_time(p, 1) - tmm__xsum_time(p, 0);
    const double rounds = ceil(blocks / load.processors);
    const double most =
        fmin(fmin(stages, most_parts),
             sqrt(tmm__in_nanoseconds(rounds * tmm__k_clocks(&costs, &load) * p->K) / each));
    for (int turns = 1; turns <= most_turns; turns++) {
        const double parts = floor(fmin(most, turns * load.processors / blocks));
        if (parts < 2 || parts == c->slices) continue;
        load.blocks = blocks * parts, load.k = ceil(stages / parts) * best->depth;
        double time = tmm__launch_time(&costs, &load) + tmm__xsum_time(p, parts);
        time = TMM__PLAN_GUESS(best->width, TMM__PLAN_REDUCE, (int)parts, tmm__host_time(time));
        if (time < c->time && whole - time > fmin((1 - t->gain) * whole, t->host))
            c->time = time, c->cut = TMM__PLAN_REDUCE, c->slices = (int)parts;
    }
}

static inline int tmm__xskinny_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__xskinny_fits(p) && tmm__xfast_competes(p, row);
}

/* L is the large operand, S the narrow one. */
static inline tmm_status tmm__xskinny(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct product = *given, *p = &product;
    int narrow_m = plan->turned, parts = plan->slices;
    long long lines = narrow_m ? p->N : p->M, width = narrow_m ? p->M : p->N;
    const TMM_TYPE *L = narrow_m ? p->B : p->A, *S = narrow_m ? p->A : p->B;
    long long lineL = narrow_m ? p->csB : p->rsA, kL = narrow_m ? p->rsB : p->csA;
    long long kS = narrow_m ? p->csA : p->rsB, jS = narrow_m ? p->rsA : p->csB;
    long long strideL = narrow_m ? p->strideB : p->strideA;
    long long strideS = narrow_m ? p->strideA : p->strideB;
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: its sums take %d bytes of shared memory, this device has "
                         "%d for a block",
                         plan->bytes, tmm__current_device()->shared);
    void *partials = tmm__xpartials(p, &parts);
    void *arguments[] = {&lines,   &width,   &p->K,   &p->alpha,   &L,        &lineL,
                         &kL,      &strideL, &S,      &kS,         &jS,       &strideS,
                         &p->beta, &p->C,    &p->ldc, &p->strideC, &narrow_m, &partials};
    tmm_status status =
        tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, (unsigned)parts, p->batch),
                    dim3((unsigned)plan->threads), plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, parts, partials, TMM__SUM_GROUPS);
}
#endif
#endif
