/* src/tiledmm/kernels/tensor/launch.h. LAUNCHER of KERNEL TENSOR.
   Uses: kernels/tensor/, launch/, once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
#if !TMM__HALF_TENSOR
static inline tmm_status tmm__xtensor_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    if (TMM__FLOAT_TENSOR) return TMM_OK;
    if (TMM__IS_FLOAT)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor is not in this program for float: define "
                         "TMM_FLOAT_TENSOR before tiledmm.cuh is included");
    if (!TMM__IS_DOUBLE)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor is for double, float and elements of 16 bits alone");
    if (!tmm__xtensor_fits())
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor needs %d bytes of shared memory a block, more than "
                         "this device has",
                         TMM__TENSOR_BYTES(64, 64));
    return tmm__xcheck_reach(p, row);
}
#endif

#if TMM__IS_DOUBLE
#define TMM__CHECK(pass, name, warps, down, width, blocks) \
    | ((warps) == 2 && (down) <= 2 ? 1 << (width) : 0)
static_assert(
    ((0 TMM__TENSOR_LIST(TMM__CHECK)) & 6) == 6,
    "TMM__TENSOR_LIST must have tiles of 64 x 64 or less for copies of 1 and of 2 elements: "
    "larger ones take no operands smaller than their tile");
#undef TMM__CHECK

/* Whether lines of an operand lie in memory as sectors of L2 do, of 32 bytes, and whether the steps
   after a short first one begin within them. */
static inline int tmm__xtensor_lines_fit(const void *operand, long long line)
{
    return ((size_t)operand | (size_t)line * sizeof(TMM_TYPE)) % 32 == 0;
}

/* Should the last step be the short one? So it is if an operand is copied along k, its lines begin
   with a sector, and steps after a short one would not. */
static inline int tmm__xtensor_short_last(const tmm__plan *c, const tmm__xproduct *p)
{
    const int A = c->modeA == TMM__ALONG_K && tmm__xtensor_lines_fit(p->A, p->rsA);
    const int B = c->modeB == TMM__ALONG_K && tmm__xtensor_lines_fit(p->B, p->csB);
    return (A || B) && p->K % 4 != 0;
}

/* The part of the copies of 16 bytes that begin within sectors, so that L2 has to give some twice:
   every other line, if they do not lie as sectors; or all of an operand, after a short step. */
static inline double tmm__xtensor_within(const tmm__plan *c, const tmm__xproduct *p, int short_last,
                                         double tile_m, double tile_n)
{
    const long long lineA = c->modeA == TMM__ALONG_K ? p->rsA : p->csA;
    const long long lineB = c->modeB == TMM__ALONG_K ? p->csB : p->rsB;
    const int short_first = !short_last && p->K % 4 != 0;
    double A = !tmm__xtensor_lines_fit(p->A, lineA)      ? 0.5
               : short_first && c->modeA == TMM__ALONG_K ? 1
                                                         : 0;
    double B = !tmm__xtensor_lines_fit(p->B, lineB)      ? 0.5
               : short_first && c->modeB == TMM__ALONG_K ? 1
                                                         : 0;
    if (c->pitchA > 0) A = 0;
    if (c->pitchB > 0) B = 0;
    return (A * tile_m + B * tile_n) / (tile_m + tile_n);
}

/* The instance that should be fastest, of those for copies of 16 bytes (`wide`) or for any
   operands; and its schedule. */
static inline void tmm__xtensor_tiles(tmm__plan *c, const tmm__xproduct *p, int wide)
{
#define TMM__ROW(pass, name, warps, down, width, blocks) \
    {32 * down,                                          \
     32 * warps,                                         \
     2 * warps,                                          \
     width,                                              \
     blocks,                                             \
     down == 1,                                          \
     TMM__TENSOR_BEGINS(down, width),                    \
     (const void *)TMM_FN(gemm_tensor_##name)},
    static const tmm__tensor_instance instances[] = {TMM__TENSOR_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const int packed = c->pitchA + c->pitchB > 0;
    tmm__xproduct q = *p; /* with the operands as they are read */
    if (c->pitchA > 0) q.rsA = 1, q.csA = c->pitchA;
    if (c->pitchB > 0) q.csB = 1, q.rsB = c->pitchB;
    c->kernel = NULL;
    const int short_last = tmm__xtensor_short_last(c, p);
    /* The numbers of tall tiles, and of packed operands, go on from these. */
    enum { COUNT = (int)(sizeof instances / sizeof *instances), SIZE = 8 };
    const int turned = 4, filled = 8;
    for (int n = 0; n < 2 * COUNT; n++) {
        const int tall = n >= COUNT; /* the tile turned */
        const int number = n % COUNT + (tall ? turned : 0);
        const tmm__tensor_instance *i = &instances[n % COUNT];
        const int tile_m = tall ? i->tile_n : i->tile_m, tile_n = tall ? i->tile_m : i->tile_n;
        if (tall && !i->turns) continue;
        tmm__division d;
        tmm__plan one = *c;
        const int large = tile_m > 64 || tile_n > 64;
        const int inside = tile_m > 96; /* it takes no operands smaller than its tile */
        const int small = (p->M < tile_m && c->pitchA == 0) || (p->N < tile_n && c->pitchB == 0);
        if ((i->width == 2) != wide || (inside && small)) continue;
        /* 96 x 128 is for one or two rows of tiles that have hardly fewer. */
        const int fills = p->M <= 2 * 96 && (p->M - 1) % 96 >= 64 && !packed && !TMM__TRIANGLE(p);
        if (tile_m == 96 && !fills) continue;
        if (TMM__TENSOR_BYTES(tile_m, tile_n) > device->shared) continue;
        memset(&d, 0, sizeof d);
        tmm__divide(&d, TMM__TRIANGLE(p), p->M, p->N, tile_m, tile_n);
        d.steps = (int)((p->K + TMM__TENSOR_DEPTH - 1) / TMM__TENSOR_DEPTH);
        d.processors = device->processors;
        d.cut_k = p->batch == 1 && (p->allowed & TMM__CUT_K);
        one.instance = number + (packed ? filled : 0), one.kernel = i->kernel;
        one.tile_m = tile_m, one.tile_n = tile_n, one.threads = 32 * i->warps;
        one.bytes = TMM__TENSOR_BYTES(tile_m, tile_n);
        d.load = tmm__xload(&q, TMM__COST_TENSOR, tile_m, tile_n);
        if (!large && d.cut_k) /* a multiprocessor has one of their blocks */
            d.clusters =
                tmm__clusters(i->kernel, device->shared / 2, tile_m * tile_n / 512, 4 * SIZE);
        if (!inside) { /* what lies outside is not copied; a triangle's tiles are folded: d has others */
            const tmm__tiling all = tmm__tile(0, p->M, p->N, tile_m, tile_n);
            d.load.copied = (int)SIZE * ((double)p->M / all.down + (double)p->N / all.across);
        }
        d.load.copied *= tmm__tuned()->tensor.copied;
        /* 64 x 64 can copy through L1. */
        const double within =
            wide ? tmm__xtensor_within(c, p, i->turns && short_last, tile_m, tile_n) : 0;
        const int near = wide && !large && !i->turns && within > 0;
        if (wide) d.load.single = within;
        if (!near) d.load.copied *= 1 + tmm__tuned()->tensor.within * within;
        tmm__plan_tensor(&one, i, &d);
        one.time +=
            tmm__power_time((double)p->M * p->N * p->K * p->batch * (TMM__TRIANGLE(p) ? 0.5 : 1),
                            tile_m * tile_n, d.load.copied);
        one.time = TMM__TENSOR_GUESS(p->M, number, one.time);
        one.s.is_tall = tall, one.off_sectors = i->turns ? short_last : near;
        /* Where both ways of a tile should take as long, the one that has all rows of C, if it can:
           then B comes once, to one block. */
        const int same = tall && c->kernel != NULL && c->instance % filled == number - turned;
        const double margin = same && p->M <= tile_m && p->M <= p->N ? 1.01 : 1;
        if (c->kernel == NULL || one.time < margin * c->time) *c = one;
    }
}

/* The instance and the plan that should be fastest. */
static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *best)
{
    (void)row;
    enum { SIZE = 8, TILE = 128 };
    const long long M = p->M, N = p->N, K = p->K;
    /* Which way an operand is contiguous, and whether it can be copied by 16 bytes. */
    size_t along_A = (size_t)p->A | p->rsA * SIZE | p->strideA * SIZE | K * SIZE;
    size_t along_B = (size_t)p->B | p->csB * SIZE | p->strideB * SIZE | K * SIZE;
    size_t lines_A = (size_t)p->A | p->csA * SIZE | p->strideA * SIZE | M * SIZE;
    size_t lines_B = (size_t)p->B | p->rsB * SIZE | p->strideB * SIZE | N * SIZE;
    tmm__plan c = *best;
    c.modeA = p->csA == 1 && (p->rsA != 1 || along_A % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    c.modeB = p->rsB == 1 && (p->csB != 1 || along_B % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    const int wideA = (c.modeA == TMM__ALONG_K ? along_A : lines_A) % 16 == 0;
    const int wideB = (c.modeB == TMM__ALONG_K ? along_B : lines_B) % 16 == 0;
    *best = c;
    tmm__xtensor_tiles(best, p, wideA && wideB);
    /* Packed are lines that cannot be copied by 16 bytes; and those for most of a large tile, but not for
       all of it, which KERNEL PACK fills up. */
    const int thin = wideA && wideB && !TMM__TRIANGLE(p);
    const int packsA = !wideA || (thin && N >= TILE && M < TILE && 4 * M > 3 * TILE);
    const int packsB = !wideB || (thin && M >= TILE && N < TILE && 4 * N > 3 * TILE);
    if ((!packsA && !packsB) || p->batch > 1 || !(p->allowed & TMM__PACK) || K == 0 ||
        !tmm__xreaches(TMM_PIPELINED, K, M + TILE, N + TILE))
        return;
    if (packsA) c.pitchA = (M + TILE - 1) / TILE * TILE, c.modeA = TMM__ALONG_LINES;
    if (packsB) c.pitchB = (N + TILE - 1) / TILE * TILE, c.modeB = TMM__ALONG_LINES;
    tmm__xtensor_tiles(&c, p, 1);
    c.time += tmm__pack_time(((double)c.pitchA + (TMM__TRIANGLE(p) ? 0 : c.pitchB)) * K *
                             sizeof(TMM_TYPE));
    if (TMM__WORTH_PACKING(best->time, c.time)) *best = c;
}

static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__xtensor_pays() && tmm__xfast_competes(p, row);
}

static inline tmm_status tmm__xtensor(const tmm__xproduct *p, const tmm__plan *plan)
{
    return tmm__xdivided(p, plan);
}
#endif
#endif
