/* src/tiledmm/kernels/narrow/launch.h. PLAN and LAUNCHER of KERNEL NARROW.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Can it compute this product? If not, TMM_NARROW is a name for other kernels: see
   tmm__xstands_for. */
static inline int tmm__xnarrow_fits(const tmm__xproduct *p, long long batch)
{
    const long long wide = p->M > p->N ? p->M : p->N;
    return TMM__IS_FLOAT && batch == 1 && wide >= TMM__NARROW_LINES / 2 && p->K <= INT_MAX &&
           tmm__xreaches(TMM_NARROW, p->K, tmm__xlda(p), tmm__xldb(p));
}

#if TMM__IS_FLOAT
/* Its operands, P with few lines and Q with many, and how these are in memory. */
typedef struct tmm__xnarrow__operands {
    int turned; /* lines of P are columns of C */
    long long linesP, lineP, kP, linesQ, lineQ, kQ;
    const TMM_TYPE *P, *Q;
} tmm__xnarrow__operands;

static inline tmm__xnarrow__operands tmm__xnarrow_operands(const tmm__xproduct *p)
{
    tmm__xnarrow__operands o;
    o.turned = p->N < p->M;
    o.linesP = o.turned ? p->N : p->M, o.linesQ = o.turned ? p->M : p->N;
    o.P = o.turned ? p->B : p->A, o.Q = o.turned ? p->A : p->B;
    o.lineP = o.turned ? p->csB : p->rsA, o.kP = o.turned ? p->rsB : p->csA;
    o.lineQ = o.turned ? p->rsA : p->csB, o.kQ = o.turned ? p->csA : p->rsB;
    return o;
}

/* Clocks of a step, which were measured of 3 and of 4 groups; of others: by the area, of 4. */
static inline double tmm__xnarrow_step(int groups, int down_log2, long long kQ)
{
    const int measured = groups == 3 ? 0 : 1;
    const double area = measured ? groups / 4.0 : 1;
    return area * tmm__tuned()->narrow.step[kQ != 1][measured][down_log2 - 1];
}

/* Nanoseconds of a plan's tiles and parts. Blocks that share a multiprocessor in pairs take as
   long as one after the other; one that is alone, longer. Pairs end together and are followed by
   pairs: of an odd number of rounds beyond one the last is half full, and takes as long as two. */
static inline double tmm__xnarrow_parts_time(const tmm__plan *c, int groups, const tmm__xproduct *p)
{
    const tmm__costs *t = tmm__tuned();
    const double rounds = ceil((double)c->blocks * c->slices / tmm__current_device()->processors);
    const int tileP = c->turned ? c->tile_n : c->tile_m;
    const int tileQ = c->turned ? c->tile_m : c->tile_n;
    const long long kQ = c->turned ? p->csA : p->rsB;
    const double rate =
        tmm__rate(tmm__current_device()->capability, TMM__COST_PIPELINED, TMM__TUNED_AS_FLOAT);
    const double step = fmax(tmm__xnarrow_step(groups, c->down, kQ),
                             (double)tileP * tileQ * (int)TMM__NARROW_DEPTH / rate);
    const double turns = rounds == 1 ? t->narrow.alone : rounds + fmod(rounds, 2);
    const double area = (double)p->M * p->N;
    const tmm__load load = tmm__xload(p, TMM__COST_PIPELINED, 1, 1);
    double clocks = ceil(ceil((double)p->K / (int)TMM__NARROW_DEPTH) / c->slices) * step * turns;
    clocks += t->narrow.launch + (t->narrow.tile + load.odd * t->narrow.odd) * rounds;
    if (c->slices > 1) clocks += t->narrow.sum_byte * sizeof(TMM_SUM) * (c->slices + 1) * area;
    const double copied = (double)(tileP + tileQ) * sizeof(TMM_TYPE) * c->blocks * p->K;
    clocks = fmax(clocks, copied / (t->l2 * tmm__current_device()->processors));
    return tmm__overlapped(tmm__in_nanoseconds(clocks),
                           tmm__current_device()->gpu.launch + tmm__memory_time(&load));
}

/* The tile that wastes the least, and as many parts of k as should be fastest. */
static inline void tmm__xnarrow_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *best)
{
#define TMM__ROW(pass, name, groups) {groups, (const void *)TMM_FN(gemm_narrow_##name)},
    static const struct {
        int groups;
        const void *kernel;
    } instances[] = {TMM__NARROW_LIST(TMM__ROW)};
#undef TMM__ROW
    const int most_parts = 64, least_steps = 4, most_rounds = 8;
    const tmm__device *device = tmm__current_device();
    const int cut_k = (p->allowed & TMM__CUT_K) && device->pools;
    const tmm__xnarrow__operands o = tmm__xnarrow_operands(p);
    /* Devices that have less shared memory have no asynchronous copies, and need two stages. */
    const int stage = TMM__NARROW_DEPTH * TMM__NARROW_PITCH * (int)sizeof(TMM_TYPE);
    tmm__plan c = *best;
    (void)row;
    c.turned = o.turned, c.threads = TMM__NARROW_THREADS;
    c.bytes = (int)tmm__min(TMM__NARROW_STAGES * stage, device->shared);
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++)
        for (int down_log2 = 1; down_log2 <= 2; down_log2++) {
            const int groups = instances[n].groups;
            const int tileP = 4 * groups << down_log2, tileQ = 2 * TMM__NARROW_LINES >> down_log2;
            if (o.linesQ < tileQ) continue;
            c.instance = 2 * n + down_log2 - 1, c.kernel = instances[n].kernel, c.down = down_log2;
            c.tile_m = o.turned ? tileQ : tileP, c.tile_n = o.turned ? tileP : tileQ;
            c.blocks = ((o.linesP - 1) / tileP + 1) * ((o.linesQ - 1) / tileQ + 1);
            const long long deepest = p->K / ((int)TMM__NARROW_DEPTH * least_steps);
            const long long most = !cut_k || deepest < 1 ? 1 : tmm__min(deepest, most_parts);
            int last = 0;
            for (int rounds = 0; rounds <= most_rounds; rounds++) { /* 0: not cut */
                const long long parts =
                    rounds == 0 ? 1 : rounds * (long long)device->processors / c.blocks;
                c.slices = (int)tmm__min(parts, most);
                if (c.slices <= last) continue;
                last = c.slices;
                c.cut = c.slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
                c.time = TMM__PLAN_GUESS(c.instance, c.cut, c.slices,
                                         tmm__xnarrow_parts_time(&c, groups, p));
                if (best->kernel == NULL || c.time < best->time) *best = c;
            }
        }
}

static inline int tmm__xnarrow_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__xnarrow_fits(p, p->batch) && p->K >= TMM__NARROW_LEAST &&
           tmm__min(p->M, p->N) <= tmm__tuned()->narrow.most && tmm__xfast_competes(p, row);
}

static inline tmm_status tmm__xnarrow(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct product = *given, *p = &product;
    tmm__xnarrow__operands o = tmm__xnarrow_operands(p);
    int parts = plan->slices;
    void *partials = tmm__xpartials(p, &parts);
    tmm__narrow s;
    s.down_log2 = plan->down, s.turned = o.turned;
    s.tilesP = (int)((o.linesP - 1) / (o.turned ? plan->tile_n : plan->tile_m) + 1);
    void *arguments[] = {&o.linesP, &o.linesQ, &p->K,    &p->alpha, &o.P,    &o.lineP,  &o.kP, &o.Q,
                         &o.lineQ,  &o.kQ,     &p->beta, &p->C,     &p->ldc, &partials, &s};
    tmm_status status =
        tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, (unsigned)parts),
                    dim3((unsigned)plan->threads), plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, parts, partials, 1);
}
#endif
#endif
