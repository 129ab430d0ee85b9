/* src/tiledmm/kernels/narrow/launch.h. PLAN and LAUNCHER of KERNEL NARROW.
   Uses: once/costs.h, launch/product.h. Used by: type/choose.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Can it compute this product? If not, TMM_NARROW is a name for other kernels: see
   gemm__resolve. */
static inline int tmm__xgemm__narrow_fits(const tmm__xgemm__product *p, long long batch)
{
    const long long wide = p->M > p->N ? p->M : p->N;
    return TMM__IS_FLOAT && batch == 1 && wide >= TMM__NARROW_LINES / 2 && p->K <= INT_MAX &&
           tmm__xgemm__reaches(TMM_NARROW, p->K, tmm__xgemm__lda(p), tmm__xgemm__ldb(p));
}

#if TMM__IS_FLOAT
/* How a launch of KERNEL NARROW is made. */
typedef struct tmm__xnarrow__choice {
    tmm__narrow s;
    int groups; /* of the instance */
    const void *kernel;
    long long linesP, lineP, kP, linesQ, lineQ, kQ;
    const TMM_TYPE *P, *Q;
    long long tiles, parts;
    double time; /* nanoseconds that it should take */
} tmm__xnarrow__choice;

/* Clocks of a step, which were measured of 3 and of 4 groups; of others: by the area, of 4. */
static inline double tmm__xgemm__narrow_step(const tmm__xnarrow__choice *c)
{
    const int measured = c->groups == 3 ? 0 : 1;
    const double area = measured ? c->groups / 4.0 : 1;
    return area * tmm__tuned()->narrow.step[c->kQ != 1][measured][c->s.down_log2 - 1];
}

/* Nanoseconds of a choice's tiles and parts. Blocks that share a multiprocessor in pairs take as
   long as one after the other; one that is alone, longer. Pairs end together and are followed by
   pairs: of an odd number of rounds beyond one the last is half full, and takes as long as two. */
static inline double tmm__xgemm__narrow_parts_time(const tmm__xnarrow__choice *c,
                                                   const tmm__xgemm__product *p)
{
    const tmm__costs *t = tmm__tuned();
    const double rounds = ceil((double)c->tiles * c->parts / tmm__current_device()->processors);
    const int tileP = 4 * c->groups << c->s.down_log2;
    const int tileQ = 2 * TMM__NARROW_LINES >> c->s.down_log2;
    const double rate =
        tmm__rate(tmm__current_device()->capability, TMM__COST_PIPELINED, TMM__TUNED_AS_FLOAT);
    const double step =
        fmax(tmm__xgemm__narrow_step(c), (double)tileP * tileQ * (int)TMM__NARROW_DEPTH / rate);
    const double turns = rounds == 1 ? t->narrow.alone : rounds + fmod(rounds, 2);
    const double area = (double)c->linesP * c->linesQ;
    const tmm__load load = tmm__xgemm__load(p, TMM__COST_PIPELINED, 1, 1);
    double clocks = ceil(ceil((double)p->K / (int)TMM__NARROW_DEPTH) / c->parts) * step * turns;
    clocks += t->narrow.launch + (t->narrow.tile + load.odd * t->narrow.odd) * rounds;
    if (c->parts > 1) clocks += t->narrow.sum_byte * sizeof(TMM_SUM) * (c->parts + 1) * area;
    const double copied = (double)(tileP + tileQ) * sizeof(TMM_TYPE) * c->tiles * p->K;
    clocks = fmax(clocks, copied / (t->l2 * tmm__current_device()->processors));
    return tmm__overlapped(tmm__in_nanoseconds(clocks),
                           tmm__current_device()->gpu.launch + tmm__memory_time(&load));
}

/* The tile that wastes the least, and as many parts of k as should be fastest. */
static inline tmm__xnarrow__choice tmm__xgemm__narrow_plan(const tmm__xgemm__product *p)
{
#define TMM__ROW(pass, name, groups) {groups, (const void *)TMM_FN(gemm_narrow_##name)},
    static const struct {
        int groups;
        const void *kernel;
    } instances[] = {TMM__NARROW_LIST(TMM__ROW)};
#undef TMM__ROW
    enum { MOST_PARTS = 64, LEAST_STEPS = 4, MOST_ROUNDS = 8 };
    const int turned = p->N < p->M;
    const tmm__device *device = tmm__current_device();
    const int cut_k = (p->allowed & TMM__CUT_K) && device->pools;
    tmm__xnarrow__choice c, best;
    memset(&c, 0, sizeof c);
    c.s.turned = turned;
    c.linesP = turned ? p->N : p->M, c.linesQ = turned ? p->M : p->N;
    c.P = turned ? p->B : p->A, c.Q = turned ? p->A : p->B;
    c.lineP = turned ? p->csB : p->rsA, c.kP = turned ? p->rsB : p->csA;
    c.lineQ = turned ? p->rsA : p->csB, c.kQ = turned ? p->csA : p->rsB;
    best = c;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++)
        for (int down_log2 = 1; down_log2 <= 2; down_log2++) {
            const int groups = instances[n].groups;
            const int tileP = 4 * groups << down_log2, tileQ = 2 * TMM__NARROW_LINES >> down_log2;
            if (c.linesQ < tileQ) continue;
            c.s.down_log2 = down_log2, c.groups = groups, c.kernel = instances[n].kernel;
            c.s.tilesP = (int)((c.linesP - 1) / tileP + 1);
            c.tiles = c.s.tilesP * ((c.linesQ - 1) / tileQ + 1);
            const long long deepest = p->K / ((int)TMM__NARROW_DEPTH * LEAST_STEPS);
            const long long most = !cut_k || deepest < 1 ? 1 : tmm__min(deepest, MOST_PARTS);
            long long last = 0;
            for (int rounds = 0; rounds <= MOST_ROUNDS; rounds++) { /* 0: not cut */
                c.parts = rounds == 0 ? 1 : rounds * (long long)device->processors / c.tiles;
                if (c.parts > most) c.parts = most;
                if (c.parts <= last) continue;
                last = c.parts;
                c.time = TMM__PLAN_GUESS(2 * n + down_log2 - 1,
                                         c.parts > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE,
                                         (int)c.parts, tmm__xgemm__narrow_parts_time(&c, p));
                if (best.tiles == 0 || c.time < best.time) best = c;
            }
        }
    return best;
}

static inline tmm_status tmm__xgemm__narrow_takes(const tmm__xgemm__product *p,
                                                  const tmm__xgemm__kernel *row)
{
    return tmm__xgemm__check_reach(p, row);
}

static inline double tmm__xgemm__narrow_time(const tmm__xgemm__product *p,
                                             const tmm__xgemm__kernel *row)
{
    (void)row;
    if (!tmm__xgemm__narrow_fits(p, p->batch) || p->K < TMM__NARROW_LEAST ||
        tmm__min(p->M, p->N) > tmm__tuned()->narrow.most)
        return HUGE_VAL;
    return tmm__xgemm__narrow_plan(p).time;
}

static inline tmm_status tmm__xgemm__narrow(const tmm__xgemm__product *given,
                                            const tmm__xgemm__kernel *row)
{
    tmm__xgemm__product product = *given, *p = &product;
    tmm__xnarrow__choice c = tmm__xgemm__narrow_plan(p);
    (void)row;
    void *partials = NULL;
    if (c.parts > 1)
        partials = tmm__workspace((size_t)(c.parts * p->M * p->N) * sizeof(TMM_SUM), p->stream);
    if (partials == NULL) c.parts = 1;
    /* Devices that have less shared memory have no asynchronous copies, and need two stages. */
    const int stage = TMM__NARROW_DEPTH * TMM__NARROW_PITCH * (int)sizeof(TMM_TYPE);
    const int bytes = (int)tmm__min(TMM__NARROW_STAGES * stage, tmm__current_device()->shared);
    void *arguments[] = {&c.linesP, &c.linesQ, &p->K,    &p->alpha, &c.P,    &c.lineP,  &c.kP, &c.Q,
                         &c.lineQ,  &c.kQ,     &p->beta, &p->C,     &p->ldc, &partials, &c.s};
    tmm_status status = tmm__launch(c.kernel, dim3((unsigned)c.tiles, (unsigned)c.parts),
                                    dim3(TMM__NARROW_THREADS), bytes, arguments, p->stream);
    if (partials == NULL) return status;
    int parts = (int)c.parts;
    void *sums[] = {&p->M, &p->N, &parts, &p->alpha, &partials, &p->beta, &p->C, &p->ldc};
    if (status == TMM_OK)
        status =
            tmm__launch((const void *)tmm__xgemm_narrow_sum,
                        dim3((unsigned)((p->M * p->N + 255) / 256)), dim3(256), 0, sums, p->stream);
    (void)cudaFreeAsync(partials, p->stream);
    return status;
}
#endif
#endif
