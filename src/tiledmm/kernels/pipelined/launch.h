/* src/tiledmm/kernels/pipelined/launch.h. LAUNCHER of KERNEL PIPELINED.
   Uses: kernels/common/store.cuh, kernels/pipelined/, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__PIPELINES
#define TMM__CHECK(pass, name, blocks, rows) 1 ? (rows):
static_assert((TMM__PIPELINED_LIST(TMM__CHECK) 0) == 8,
              "TMM__PIPELINED_LIST: the first instance must be _any, with 8 rows");
#undef TMM__CHECK

/* An instance of KERNEL PIPELINED; the first one is ANY. */
typedef struct tmm__xpipelined__instance {
    int blocks, any;
    const void *kernel;
} tmm__xpipelined__instance;

/* Instance number n, NULL after the last. */
static inline const tmm__xpipelined__instance *tmm__xpipelined_instance(int n)
{
#define TMM__ROW(pass, name, blocks, rows) \
    {blocks, rows == 8, (const void *)TMM_FN(gemm_pipelined##name)},
    static const tmm__xpipelined__instance instances[] = {TMM__PIPELINED_LIST(TMM__ROW)};
#undef TMM__ROW
    return n < (int)(sizeof instances / sizeof *instances) ? &instances[n] : NULL;
}

/* Its plan with an instance. Tiles are 128 x 128; those of ANY 64 x 128, or 128 x 64 if that makes
   fewer. `number`: for hooks. */
static inline void tmm__xpipelined_tiles(tmm__plan *c, const tmm__xproduct *p, int instance,
                                         int number)
{
    const long long M = p->M, N = p->N;
    const tmm__xpipelined__instance *i = tmm__xpipelined_instance(instance);
    const int any = i->any;
    long long wide = ((M - 1) / 64 + 1) * ((N - 1) / 128 + 1);
    long long tall = ((M - 1) / 128 + 1) * ((N - 1) / 64 + 1);
    if (TMM__TRIANGLE(p)) /* of tiles that lie so, fewer are outside of C */
        wide = TMM__TRIANGLE(p) == TMM__LOWER, tall = 1 - wide;
    tmm__division d;
    memset(&d, 0, sizeof d);
    c->instance = number, c->kernel = i->kernel;
    c->threads = TMM__PIPELINED_THREADS;
    c->tile_m = any && tall >= wide ? 64 : 128, c->tile_n = any && tall < wide ? 64 : 128;
    tmm__divide(&d, TMM__TRIANGLE(p), M, N, c->tile_m, c->tile_n);
    d.steps = (int)((p->K + 7) / 8);
    d.processors = tmm__current_device()->processors;
    d.blocks = i->blocks;
    d.large = !any, d.data_parallel = TMM__IS_INTEGER;
    d.cut_k = p->batch == 1 && (p->allowed & TMM__CUT_K);
    if (TMM__IS_FLOAT) /* integers are 4% slower with them */
        d.clusters = tmm__clusters(i->kernel, 0, any ? 16 : 32, sizeof(tmm__xsums4));
    d.costs = &tmm__tuned()->pipelined.block[!any];
    d.load = tmm__xload(p, TMM__COST_PIPELINED, c->tile_m, c->tile_n);
    if (N * sizeof(TMM_TYPE) % 16 != 0)
        d.load.odd = 1; /* it stores edges by fours, or one by one */
    tmm__plan_pipelined(c, &d);
    c->s.is_tall = any && tall < wide;
}

/* The instance and the plan that should be fastest. */
static inline void tmm__xpipelined_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                        tmm__plan *best)
{
    (void)row;
    enum { SIZE = sizeof(TMM_TYPE), TILE = 128 };
    const long long M = p->M, N = p->N;
    /* Copies of 16 bytes need lines in multiples of that, and everything else too; there are none
       of elements smaller than 4 bytes. */
    size_t offA = SIZE < 4 ? 1 : (size_t)p->A | p->csA * SIZE | p->strideA * SIZE | M * SIZE;
    size_t offB = SIZE < 4 ? 1 : (size_t)p->B | p->rsB * SIZE | p->strideB * SIZE | N * SIZE;
    best->modeA = p->csA == 1 ? TMM__ALONG_K : offA % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    best->modeB = p->rsB == 1 ? TMM__ALONG_K : offB % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    tmm__plan c = *best;
    tmm__xpipelined_tiles(best, p, 0, 0);
    const int vectors = c.modeA == TMM__VECTORS && c.modeB == TMM__VECTORS;
    const tmm__xpipelined__instance *i;
    int count = 1; /* of the instances */
    for (; (i = tmm__xpipelined_instance(count)) != NULL; count++) {
        if (!(i->any || vectors) || M < TILE || N < TILE) continue;
        tmm__xpipelined_tiles(&c, p, count, count);
        if (c.time < best->time) *best = c;
    }
#if TMM__IS_FLOAT
    int tn = count - 1; /* the instance for vectors of both operands; 0: there is none */
    while (tn > 0 && tmm__xpipelined_instance(tn)->any) tn--;
    /* Should operands be packed for it, which could use these in place? */
    const int inA = c.modeA == TMM__VECTORS && M >= TILE;
    const int inB = c.modeB == TMM__VECTORS && N >= TILE;
    if (tn > 0 && !(inA && inB) && p->batch == 1 && (p->allowed & TMM__PACK) && p->K > 0 &&
        tmm__xreaches(TMM_PIPELINED, p->K, M + TILE, N + TILE)) {
        c.pitchA = inA ? 0 : ((M - 1) / TILE + 1) * TILE;
        c.pitchB = inB ? 0 : ((N - 1) / TILE + 1) * TILE;
        tmm__xpipelined_tiles(&c, p, tn, count);
        c.time += tmm__pack_time(((double)c.pitchA + (TMM__TRIANGLE(p) ? 0 : c.pitchB)) * p->K *
                                 sizeof(TMM_TYPE));
        if (TMM__WORTH_PACKING(best->time, c.time)) *best = c;
    }
#endif
}
#endif
