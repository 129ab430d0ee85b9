/* src/tiledmm/kernels/tensor_half/launch.h. PLAN and LAUNCHER of KERNEL TENSOR HALF.
   Uses: kernels/common/finish.cuh, kernels/tensor_half/, launch/, once/.
   Used by: thin_launch.h, tiny_launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* An instance of KERNEL TENSOR HALF. */
typedef struct tmm__xhalf__instance {
    int rows, cols, bytes;
    const void *kernel;
} tmm__xhalf__instance;

static inline tmm_status tmm__xtensor_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const tmm__device *device = tmm__current_device();
    if (device->shared < TMM__HALF_BYTES(64, 64, 2))
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor needs %d bytes of shared memory a block, more than this "
                         "device has",
                         TMM__HALF_BYTES(64, 64, 2));
    return tmm__xcheck_k(p, row);
}

/* The driver's function that makes maps for TMA, without a library of its own; NULL: there is none. */
static inline tmm__map_maker tmm__xmap_maker(void)
{
    static thread_local void *found;
#if TMM__CLUSTER_LAUNCH && defined(CUDART_VERSION) && CUDART_VERSION >= 12000 && !defined(__CUCC__)
    cudaDriverEntryPointQueryResult result;
    if (found == NULL) {
        void *one = NULL;
#if CUDART_VERSION >= 12050
        const cudaError_t error =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &one, 12000,
                                             cudaEnableDefault, &result);
#else
        const cudaError_t error =
            cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &one, cudaEnableDefault, &result);
#endif
        if (tmm__succeeded(error) && result == cudaDriverEntryPointSuccess) found = one;
    }
#endif
    tmm__map_maker make;
    memcpy(&make, &found, sizeof make);
    return make;
}

/* An instance by wgmma. */
typedef struct tmm__xhalf__wgmma {
    int rows, cols, bytes;
    const void *kernel;
} tmm__xhalf__wgmma;

static inline const tmm__xhalf__wgmma *tmm__xhalf_wgmma(int n)
{
#define TMM__ROW(pass, name, rows, cols, stages, fewer)     \
    {rows, cols, TMM__HALF_WGMMA_BYTES(rows, cols, stages), \
     (const void *)TMM_FN(gemm_half_wgmma_##name)},
    static const tmm__xhalf__wgmma instances[] = {TMM__HALF_WGMMA_LIST(TMM__ROW)};
#undef TMM__ROW
    return n < (int)(sizeof instances / sizeof *instances) ? &instances[n] : NULL;
}

#ifndef TMM__HALF_ONCE
/* Numbers of plans: mma.sync, by copies of operands off 16 bytes, wgmma, KERNEL TINY HALF, THIN HALF. */
enum {
    TMM__HALF_COPIED = 4,
    TMM__HALF_WGMMA_FIRST = 8,
    TMM__HALF_TINY = 31,
    TMM__HALF_THIN_FIRST = 32,
    TMM__HALF_TURNED = 64 /* and more by wgmma: C^T is multiplied, and stored as C */
};
/* Ways to take an instance by wgmma: its number, blocks of a cluster above each other, columns of a tile, and blocks
   side by side. One has tiles of 64 rows, at whose stages warpgroups take turns. */
enum { TMM__HALF_WAYS = 20, TMM__HALF_TURNS = 16 };
static const int tmm__half_ways[TMM__HALF_WAYS][4] = {
    {0, 2, 256, 1}, {1, 2, 128, 1}, {2, 2, 192, 1}, {0, 1, 256, 1}, {1, 1, 128, 1},
    {2, 1, 192, 1}, {4, 2, 224, 1}, {0, 2, 224, 1}, {2, 2, 160, 1}, {4, 1, 224, 1},
    {0, 1, 224, 1}, {2, 1, 160, 1}, {3, 2, 192, 1}, {3, 1, 192, 1}, {1, 2, 128, 2},
    {2, 2, 192, 2}, {1, 2, 128, 1}, {1, 1, 128, 2}, {2, 1, 192, 2}, {2, 1, 160, 2}};
#endif
/* See thin_launch.h. */
static inline void tmm__xhalf_thin_plan(const tmm__xproduct *p, tmm__plan *c);
static inline tmm_status tmm__xhalf_thin(tmm__xproduct *p, const tmm__plan *plan, int *missing);
/* See tiny_launch.h. */
static inline void tmm__xhalf_tiny_plan(const tmm__xproduct *p, tmm__plan *c);
static inline tmm_status tmm__xhalf_tiny(tmm__xproduct *p);

/* Is there a kernel by wgmma in this program, for this device, and the driver's function? Kernels for
   other devices have no barriers in shared memory. */
static inline int tmm__xhalf_by_wgmma(const tmm__xproduct *p)
{
    const tmm__device *device = tmm__current_device();
    const tmm__xhalf__wgmma *i = tmm__xhalf_wgmma(0);
    /* Not for part of a batch, or of a product from host memory: mma.sync may have other bits than
       wgmma, and would do what TMA cannot read. */
    const int whole = p->allowed & (TMM__CUT_K | TMM__ALL_OF_BATCH);
    return whole && device->capability == 90 && device->shared >= i->bytes &&
           tmm__compiled(i->kernel)->static_shared > 0 && p->M <= INT_MAX - 256 &&
           p->N <= INT_MAX - 256 && p->K > 0 && p->K <= INT_MAX - 64 && tmm__xlda(p) <= 1ll << 36 &&
           tmm__xldb(p) <= 1ll << 36 && tmm__xmap_maker() != NULL;
}

/* Has the device tensor cores for this type? Else it is right, but slow. */
static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const int capability = tmm__current_device()->capability;
    return capability >= (TMM__HALF_TENSOR == 1 ? 75 : 80) && p->K <= INT_MAX &&
           tmm__xtensor_takes(p, row) == TMM_OK;
}

/* How tiles lie, those of a triangle in squares or in rows: then as many below each other. */
static inline tmm__tiling tmm__xhalf_tile(const tmm__xproduct *p, int rows, int cols)
{
#ifdef TMM_WITH_SYRK
    tmm__stairs stairs;
    if (tmm__is_stairs(p->triangle, rows, cols)) {
        const tmm__tiling t = {(double)tmm__make_stairs(&stairs, p->triangle, p->N, rows, cols), 1,
                               0, 0};
        return t;
    }
#endif
    return tmm__tile(TMM__TRIANGLE(p), p->M, p->N, rows, cols);
}

/* The rectangle of C that has the last `rest` tiles, or a few more, in the order of bands of *band rows; *q:
   the product of whose C there are partial sums. Tiles, of `rows` rows, are those of a cluster. */
static inline tmm__last_tiles tmm__xhalf_last(const tmm__xproduct *p, int rows, int cols, int rest,
                                              int *band, tmm__xproduct *q)
{
    const int least = TMM__TENSOR_BAND / 2;
    const tmm__tiling t = tmm__tile(TMM__TRIANGLE(p), p->M, p->N, rows, cols);
    tmm__last_tiles last = {0, 0, 0, 0, 0};
    *band = TMM__TENSOR_BAND, *q = *p;
    if (TMM__TRIANGLE(p))
        last = tmm__last_of_triangle(&t, TMM__TRIANGLE(p), p->N, rows, TMM__TENSOR_BAND, rest);
    /* The last band, of as many rows as leave the fewest tiles beyond `rest`. */
    for (int n = TMM__TENSOR_BAND; n >= least && TMM__TRIANGLE(p) == 0; n--) {
        const int down = (int)t.down, across = (int)t.across;
        const int high = (down - 1) % n + 1, wide = (rest - 1) / high + 1;
        if (wide > across || (last.tiles > 0 && high * wide >= last.tiles)) continue;
        last.tiles = high * wide, *band = n;
        last.row = (long long)(down - high) * rows, last.rows = p->M - last.row;
        last.col = (long long)(across - wide) * cols, last.cols = p->N - last.col;
    }
#ifdef TMM_WITH_SYRK
    q->triangle = 0;
#endif
    q->M = last.rows, q->N = last.cols, q->C += last.row * q->ldc + last.col;
    return last;
}

/* Clusters of so many blocks of an instance that the device has room for. */
static inline double tmm__xhalf_room(const tmm__xhalf__wgmma *i, int blocks)
{
    const double most = floor(tmm__current_device()->processors / (double)blocks);
    return blocks > 2 ? fmin(most, tmm__clusters(i->kernel, i->bytes, 1, 0)[blocks]) : most;
}

/* Takes this way by wgmma if it should be faster than c->time: all tiles in slices of k, or, if `rest` is not
   0, only the last ones; or in parts of k, which a cluster adds. Clusters are persistent, and take items
   in turn; those with parts have one item. */
static inline void tmm__xhalf_wgmma_try(const tmm__xproduct *p, tmm__plan *c, int way,
                                        const int *apart, double copies, int rest, int slices,
                                        int parts_of_k)
{
    const int *of_way = tmm__half_ways[way % TMM__HALF_TURNED];
    const int n = of_way[0], down = of_way[1], last_round = rest > 0;
    const int cols = of_way[2], beside = of_way[3];
    const int cluster = down * beside * parts_of_k;
    const tmm__device *device = tmm__current_device();
    const tmm__xhalf__wgmma *i = tmm__xhalf_wgmma(n);
    const int rows = way == (int)TMM__HALF_TURNS ? 64 : i->rows;
    /* Smaller or larger than those that have numbers, as 224, 288 and 336 columns of 128 rows would be: on a line
       through the numbers of two. */
    const double *full = tmm__tuned()->half_wgmma[n < TMM__TUNED_HALF ? n : 0];
    const double *less = tmm__tuned()->half_wgmma[n % 3 == 0 || n > 3 ? 2 : 1];
    const double fewer = ((n >= 3 ? 256 : i->cols) - cols * i->rows / 128) / 64.0;
    enum { COUNT = sizeof tmm__tuned()->half_wgmma[0] / sizeof(double) };
    double costs[COUNT];
    for (int k = 0; k < (int)COUNT; k++) costs[k] = full[k] + (less[k] - full[k]) * fewer;
    if (rows < i->rows) costs[1] *= 0.72;
    if (n > 3) costs[1] *= 1.2; /* three stages are few for 336 columns: 41 us at 2304 for 36 */
    const tmm__load load = tmm__xload(p, TMM__COST_TENSOR, rows, cols);
    const tmm__tiling t = tmm__xhalf_tile(p, rows * down, cols * beside);
    const double tiles = t.down * t.across * p->batch, most = tmm__xhalf_room(i, cluster);
    const double steps = ceil(ceil(p->K / 64.0) / parts_of_k);
    tmm__xproduct q = *p;
    int band, cut = parts_of_k > 1 ? TMM__PLAN_CLUSTERS
                    : slices > 1   ? TMM__PLAN_REDUCE
                                   : TMM__PLAN_WHOLE;
    double parts = slices > 1 ? tiles : 0, busiest = 0;
    if (last_round) {
        const tmm__last_tiles last = tmm__xhalf_last(p, i->rows * down, cols, rest, &band, &q);
        if (last.tiles == 0) return;
        rest = last.tiles, parts = rest, cut = TMM__PLAN_LAST_ROUND;
    }
    /* What is not shared by a cluster comes from L2 more often. */
    const double whole = tiles - parts, items = whole + parts * slices;
    const double busy = fmin(items / most, 1), lines = p->rsB != 1 ? i->cols : cols;
    if (rows < i->rows) costs[2] += 600 + 500 * busy; /* sums of two warpgroups */
    const double copied = (rows / (double)beside * tmm__half_apart_time(apart[0], rows) +
                           lines / down * tmm__half_apart_time(apart[1], cols)) *
                          128;
    /* Few blocks of 128 x 128 find a higher clock, and L2 free: 1024 took 0.7 of the clocks of a step. */
    const double alone = costs[5] * (1 - busy);
    const double step =
        tmm__half_both(costs[1] * (1 - alone),
                       busy * copied / (tmm__tuned()->half_thin.l2[1] * tmm__tuned()->l2));
    const double odd = load.odd ? costs[4] * fmin(1, (double)p->N / cols) : 0;
    /* Threads store what is left of whole boxes, expected of an epilogue, not measured; or all: 4099 x 4099 x 64
       took 69 us, 134 with beta, 191 with a bias and GELU. */
    const double left = tmm__xhalf_more(p) ? (cols % 64 != 0 ? 4000 : 0) + 3 * odd : 0;
    /* Sums of rows that others store go through the network of a GPC. */
    const double *of_parts = tmm__tuned()->half_parts;
    const double sent = i->rows * cols * (1 - 1.0 / parts_of_k);
    const double gather = parts_of_k > 1 ? of_parts[0] + of_parts[1] * sent : 0;
    /* The busiest is the first cluster, or the first of those that have a whole tile less. */
    for (int of = 0; of < 2; of++) {
        const double first = of == 0 ? 0 : fmod(whole, most);
        const double own = first < items ? floor((items - first - 1) / most) + 1 : 0;
        const double own_whole = first < whole ? floor((whole - first - 1) / most) + 1 : 0;
        const double clocks = own_whole * (steps * step + costs[2] + odd + left + gather) +
                              (own - own_whole) * (ceil(steps / slices) * step + costs[3]);
        busiest = fmax(busiest, clocks);
    }
    double time = device->gpu.launch + copies;
    const double asked = fmin(items * cluster, load.processors) * i->bytes;
    double memory = tmm__half_memory_time(&load, asked, 0, &time);
    if (load.bytes + load.c_bytes >= device->gpu.l2_bytes)
        memory *= 1 + tmm__tuned()->half_thin.apart[2] *
                          (tmm__half_apart_part(apart[0], i->rows) * p->M +
                           tmm__half_apart_part(apart[1], cols) * p->N) /
                          (double)(p->M + p->N);
    const double once = costs[0] + (copies > 0 ? of_parts[2] : 0);
    time += tmm__overlapped(tmm__in_nanoseconds(once + busiest), memory);
    if (slices > 1) time += tmm__xhalf_sum_time(&q, slices);
    time = tmm__half_host_time(time, (copies > 0) + (slices > 1));
    /* Less than 2% of predicted gain was none in the mean, and a fifth slower at worst. */
    if (way >= (int)TMM__HALF_TURNED || down < beside) time *= 1.02;
    const int instance = (int)TMM__HALF_WGMMA_FIRST + way;
    if (parts_of_k > 1) slices = parts_of_k;
    time = TMM__PLAN_GUESS(instance, cut, slices, time);
    if (time >= c->time) return;
    c->time = time, c->instance = instance, c->kernel = i->kernel, c->bytes = i->bytes;
    c->tile_m = rows, c->tile_n = cols, c->slices = slices, c->cut = cut, c->down = down;
    c->rest = last_round ? rest : 0;
}

/* The instance by wgmma that should be fastest, if that is below c->time. Operands off 16 bytes are copied
   first. turned: 0, or TMM__HALF_TURNED, and p is turned; then nothing can add parts of C. */
static inline void tmm__xhalf_wgmma_ways(const tmm__xproduct *p, tmm__plan *c, int turned)
{
    static const int slices[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32};
    const tmm__device *device = tmm__current_device();
    const double steps = ceil(p->K / 64.0);
    const double copied = (double)tmm__xhalf_copies(p);
    const double copies = copied > 0 ? tmm__half_align_time(copied) : 0;
    const int apart[2] = {tmm__xhalf_apart(p, 0), tmm__xhalf_apart(p, 1)};
    const int cuts = (p->allowed & TMM__CUT_K) && device->pools && !turned;
    if (copied > 0 && !tmm__xhalf_packs(p)) return;
    for (int way = 0; way < (int)TMM__HALF_WAYS; way++) {
        const int cluster = tmm__half_ways[way][1], beside = tmm__half_ways[way][3];
        const tmm__xhalf__wgmma *i = tmm__xhalf_wgmma(tmm__half_ways[way][0]);
        const int turns = way == (int)TMM__HALF_TURNS, rows = turns || i == NULL ? 64 : i->rows;
        const double down = ceil(p->M / (double)rows);
        const int plain = i != NULL && i->rows == 192;
        /* Square tiles are the same turned. */
        if (turned && i != NULL && i->rows == tmm__half_ways[way][2]) continue;
        /* Not if a block of a cluster had no rows, but two of them may have an odd number. A triangle is cut in
           squares, and these in two tiles at most, or in rows of tiles. */
        if (i == NULL || down < cluster ||
            (TMM__TRIANGLE(p) && (cluster != (down > 1 ? 2 : 1) || beside > 1)) ||
            (plain && !turned && !tmm__xhalf_plain(p)) ||
            p->N <= (beside - 1) * tmm__half_ways[way][2])
            continue;
        const tmm__tiling t = tmm__xhalf_tile(p, rows * cluster, tmm__half_ways[way][2] * beside);
        const double tiles = t.down * t.across * p->batch,
                     most = tmm__xhalf_room(i, cluster * beside);
        /* items are counted in 32 bits */
        if (tiles > INT_MAX / 2 - 65536 || tiles == 0 || most < 1) continue;
        /* One item a block. Longer sums and thin sides took twice what was predicted. */
        if (turns && (TMM__TRIANGLE(p) || tiles > most || steps > 16 || p->M <= 64 || p->N <= 64))
            continue;
        const int rest = (int)fmod(tiles, most);
        /* Single blocks where two fit, and two that share A alone: in parts of k alone. The latter turned, too: then A
           is the large one. */
        const int pairs = cluster == 1 && (beside > 1 ? !turned : down > 1 && fmod(down, 2) == 0);
        const int stairs = TMM__TRIANGLE(p) && t.squares == 0;
        for (int s = 0; s < (int)(sizeof slices / sizeof *slices) && !pairs; s++) {
            if (s > 0 && (!cuts || slices[s] * 4 > steps || plain || stairs || turns)) break;
            if (s == 0 || tiles * slices[s] <= 4 * most)
                tmm__xhalf_wgmma_try(p, c, way + turned, apart, copies, 0, slices[s], 1);
            if (s > 0 && tiles > most && rest > 0 && p->batch == 1 &&
                rest * slices[s] <= 4 * most && beside == 1)
                tmm__xhalf_wgmma_try(p, c, way + turned, apart, copies, rest, slices[s], 1);
        }
        /* Where a side is thin KERNEL THIN HALF is better. */
        const int alone = !(p->allowed & TMM__CUT_K) || plain || turns || p->M <= 64 || p->N <= 64;
        const int parts_most = alone ? 1 : (int)fmin(4, steps / 4);
        for (int parts = 2; parts <= parts_most && parts * cluster * beside <= 8; parts++)
            if (tmm__xhalf_room(i, parts * cluster * beside) > 0)
                tmm__xhalf_wgmma_try(p, c, way + turned, apart, copies, 0, 1, parts);
    }
}

static inline void tmm__xhalf_wgmma_plan(const tmm__xproduct *p, tmm__plan *c)
{
    tmm__xhalf_wgmma_ways(p, c, 0);
    if (!tmm__xhalf_plain(p)) return;
    const tmm__xproduct q = tmm__xhalf_turned(p);
    tmm__xhalf_wgmma_ways(&q, c, TMM__HALF_TURNED);
}

/* By mma.sync: takes the tile that should be fastest, and shares out k where few tiles have long sums.
   Operands off 16 bytes are copied first where that pays: then the instance has TMM__HALF_COPIED. */
static inline void tmm__xhalf_mma_plan(const tmm__xproduct *p, tmm__plan *c)
{
#define TMM__ROW(pass, name, rows, cols, stages, blocks) \
    {rows, cols, TMM__HALF_BYTES(rows, cols, stages), (const void *)TMM_FN(gemm_half_##name)},
    static const tmm__xhalf__instance instances[] = {TMM__HALF_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const int count = (int)(sizeof instances / sizeof *instances);
    const double steps = ceil(p->K / 32.0);
    const double copied = (double)tmm__xhalf_copies(p);
    const int ways = copied > 0 && tmm__xhalf_packs(p) ? 2 : 1;
    /* C leaves by 16 bytes: see rows_of_16 in the kernel. */
    const int whole = !TMM__TRIANGLE(p) && tmm__xhalf_boxed_C(p) &&
                      (unsigned long long)p->N * sizeof(TMM_OUT) % 16 == 0;
    const int odd = tmm__xhalf_more(p) ? 2 : !whole;
    c->time = HUGE_VAL;
    for (int way = 0; way < ways * count; way++) {
        const int n = way % count, copies = way >= count;
        const tmm__xhalf__instance *i = &instances[n];
        tmm__load load = tmm__xload(p, TMM__COST_TENSOR, i->rows, i->cols);
        const double tiles = load.blocks;
        load.type = TMM__TUNED_AS_HALF;
        if (copies) load.single = 0;
        if (i->bytes > device->shared) continue;
        for (int slices = 1; slices <= 128; slices *= 2) {
            if (slices > 1 && (!(p->allowed & TMM__CUT_K) || !device->pools ||
                               tiles * slices > 4 * load.processors || slices * 4 > steps))
                break;
            load.blocks = tiles * slices, load.k = 32 * ceil(steps / slices);
            load.odd = slices > 1 ? p->N % 4 != 0 || TMM__TRIANGLE(p) : odd;
            double time = tmm__launch_time(&tmm__tuned()->half[n < TMM__TUNED_HALF ? n : 0], &load);
            time *= tmm__tuned()->half_thin.late;
            if (copies) time += tmm__half_align_time(copied);
            if (slices > 1) time += tmm__xsum_time(p, slices);
            time = tmm__half_host_time(time, copies + (slices > 1));
            const int instance = n + copies * TMM__HALF_COPIED;
            time = TMM__PLAN_GUESS(instance, slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE,
                                   slices, time);
            if (time >= c->time) continue;
            c->time = time, c->instance = instance, c->kernel = i->kernel, c->bytes = i->bytes;
            c->tile_m = i->rows, c->tile_n = i->cols, c->slices = slices;
            c->cut = slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
        }
    }
}

static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
{
    tmm__xproduct q = *p;
    (void)row;
    /* Of a batch of several launches the last, too, has the plan of a whole launch: the same bits. */
    if (!(p->allowed & (TMM__CUT_K | TMM__ALL_OF_BATCH)) && p->strideC != 0 &&
        p->batch < TMM__MOST_GRID)
        q.batch = TMM__MOST_GRID;
    tmm__xhalf_mma_plan(&q, c);
    tmm__xhalf_tiny_plan(&q, c);
    if (!tmm__xhalf_by_wgmma(p)) return;
    tmm__xhalf_wgmma_plan(p, c);
    tmm__xhalf_thin_plan(p, c);
}

/* The map of op(A) or op(B): lines by k of each product, in boxes of 64 elements that are neighbours in
   memory, and `high` of the other kind. 0 if the driver refuses. */
static inline int tmm__xhalf_make_map(tmm__half_map *map, const tmm__xproduct *p, int is_B,
                                      int high)
{
    enum { HALF = 6, BFLOAT16 = 9, SWIZZLE_128B = 3, PROMOTION_256B = 3 }; /* of cuda.h */
    const long long lines = is_B ? p->N : p->M, stride = is_B ? p->strideB : p->strideA;
    const long long ld = tmm__xhalf_ld(p, is_B);
    const void *X = is_B ? p->B : p->A;
    const int turned = (is_B ? p->rsB : p->csA) != 1, next = p->batch > 1 && stride > 0;
    const unsigned long long sizes[] = {(unsigned long long)(turned ? lines : p->K),
                                        (unsigned long long)(turned ? p->K : lines),
                                        next ? p->batch : 1};
    const unsigned long long strides[] = {2ull * ld, next ? 2ull * stride : 2ull * ld * sizes[1]};
    const unsigned box[] = {64, (unsigned)high, 1}, steps[] = {1, 1, 1};
    return tmm__xmap_maker()(map, TMM__HALF_TENSOR == 1 ? HALF : BFLOAT16, 3, (void *)X, sizes,
                             strides, box, steps, 0, SWIZZLE_128B, PROMOTION_256B, 0) == 0;
}

/* The map of C for boxes of 16 rows of 128 bytes. 0 if TMA cannot store it: 16 bytes must align it and
   its rows. */
static inline int tmm__xhalf_map_C(tmm__half_map *map, const tmm__xproduct *p)
{
    enum { HALF = 6, FLOAT = 7, BFLOAT16 = 9, SWIZZLE_128B = 3 }; /* of cuda.h */
    const unsigned long long size = sizeof(TMM_OUT), ldc = (unsigned long long)p->ldc * size;
    const unsigned long long next = p->batch > 1 ? (unsigned long long)p->strideC * size : 0;
    const unsigned long long sizes[] = {(unsigned long long)p->N, (unsigned long long)p->M,
                                        next > 0 ? p->batch : 1};
    const unsigned long long strides[] = {ldc, next > 0 ? next : ldc * sizes[1]};
    const unsigned box[] = {(unsigned)(128 / size), 16, 1}, steps[] = {1, 1, 1};
    if (!tmm__xhalf_boxed_C(p)) return 0;
    return tmm__xmap_maker()(map,
                             size == 4               ? FLOAT
                             : TMM__HALF_TENSOR == 1 ? HALF
                                                     : BFLOAT16,
                             3, (void *)p->C, sizes, strides, box, steps, 0, SWIZZLE_128B, 0,
                             0) == 0;
}

/* KERNEL ALIGN for both operands, and the product of their copies. */
static inline tmm_status tmm__xhalf_align(tmm__xproduct *p, char *memory)
{
    tmm__half_copies copies;
    memset(&copies, 0, sizeof copies);
    const size_t bytes = tmm__xhalf_copied(p, 0, memory, &copies.operands[0]);
    if (!TMM__TRIANGLE(p))
        tmm__xhalf_copied(p, 1, memory + (bytes + 255) / 256 * 256, &copies.operands[1]);
    long long blocks = 0;
    for (int n = 0; n < 2; n++) {
        const tmm__half_operand *x = &copies.operands[n];
        if (n == 1) copies.second = (unsigned)blocks;
        if (x->rows == 0) continue;
        blocks += ((x->cols + 7) / 8 * x->rows * x->items + 255) / 256;
        if (n == 0)
            p->A = (const TMM_TYPE *)x->to, p->strideA = x->items > 1 ? x->rows * x->pitch : 0;
        else
            p->B = (const TMM_TYPE *)x->to, p->strideB = x->items > 1 ? x->rows * x->pitch : 0;
        if (n == 0 && p->csA == 1)
            p->rsA = x->pitch;
        else if (n == 0)
            p->csA = x->pitch;
        else if (p->rsB == 1)
            p->csB = x->pitch;
        else
            p->rsB = x->pitch;
    }
    if (TMM__TRIANGLE(p)) /* B is A */
        p->B = p->A, p->rsB = p->csA, p->csB = p->rsA, p->strideB = p->strideA;
    void *arguments[] = {&copies};
    return tmm__launch_clusters((const void *)tmm__xgemm_half_align, dim3((unsigned)blocks),
                                dim3(256), 1, 1, 0, arguments, p->stream);
}

/* The product of copies, where operands are off 16 bytes, in *memory. *missing: there was none for them. */
static inline tmm_status tmm__xhalf_copy(tmm__xproduct *p, char **memory, int *missing)
{
    const size_t bytes = tmm__xhalf_copies(p);
    if (bytes > 0) *memory = (char *)tmm__workspace(bytes + 256, p->stream);
    *missing = bytes > 0 && *memory == NULL;
    return *memory == NULL ? TMM_OK : tmm__xhalf_align(p, *memory);
}

/* By wgmma. *missing: there was no memory for aligned copies, or no map; then nothing is done. */
static inline tmm_status tmm__xhalf_run_wgmma(const tmm__xproduct *given, const tmm__plan *plan,
                                              int *missing)
{
    const int turned_C = plan->instance >= (int)TMM__HALF_TURNED;
    tmm__xproduct copy = turned_C ? tmm__xhalf_turned(given) : *given, *p = &copy;
    const int turned_A = p->csA != 1, turned_B = p->rsB != 1;
    const long long down = (p->M - 1) / plan->tile_m + 1, across = (p->N - 1) / plan->tile_n + 1;
    char *memory = NULL;
    tmm__half_map maps[3];
    tmm__half_job job;
    memset(maps, 0, sizeof maps);
    int slices = plan->cut == TMM__PLAN_CLUSTERS ? 1 : plan->slices;
    const int thin = plan->instance >= (int)TMM__HALF_THIN_FIRST && !turned_C;
    if (thin && plan->rest) return tmm__xhalf_thin(p, plan, missing); /* which needs no copies */
    tmm_status status = tmm__xhalf_copy(p, &memory, missing);
    if (*missing) return TMM_OK;
    if (thin) {
        if (status == TMM_OK) status = tmm__xhalf_thin(p, plan, missing);
        if (memory != NULL) (void)cudaFreeAsync(memory, p->stream);
        return status;
    }
    const int *way = tmm__half_ways[plan->instance % TMM__HALF_TURNED - TMM__HALF_WGMMA_FIRST];
    const tmm__xhalf__wgmma *i = tmm__xhalf_wgmma(way[0]);
    memset(&job, 0, sizeof job);
    job.M = p->M, job.N = p->N, job.ldc = p->ldc, job.batchC = p->strideC;
    job.alpha = (float)TMM__FACTOR(p->alpha), job.beta = (float)p->beta;
#ifdef TMM_WITH_EPILOGUE
    job.after = p->alpha.after;
#endif
    job.turned_A = turned_A, job.turned_B = turned_B, job.turned_C = turned_C;
    job.next_A = p->batch > 1 && p->strideA > 0, job.next_B = p->batch > 1 && p->strideB > 0;
    job.down = plan->down, job.rows = plan->tile_m, job.width = plan->tile_n;
    job.beside = way[3];
    job.parts = plan->cut == TMM__PLAN_CLUSTERS ? plan->slices : 1;
    job.pairs_down = (int)((down - 1) / job.down + 1);
    job.across = (int)((across - 1) / job.beside + 1);
    job.steps = (int)((p->K + 63) / 64), job.part_steps = (job.steps - 1) / job.parts + 1;
#ifdef TMM_WITH_SYRK
    if (p->triangle != 0) {
        const tmm__tiling t = tmm__xhalf_tile(p, job.rows * job.down, plan->tile_n);
        if (t.squares == 0)
            (void)tmm__make_stairs(&job.stairs, p->triangle, p->N, job.rows * job.down,
                                   plan->tile_n);
        job.pairs_down = (int)t.down, job.across = (int)t.across;
        job.triangle = p->triangle, job.squares = t.squares, job.ratio_log2 = t.ratio_log2;
    }
#endif
    *missing = !tmm__xhalf_make_map(&maps[0], p, 0, (turned_A ? 64 : job.rows) / job.beside) ||
               !tmm__xhalf_make_map(&maps[1], p, 1,
                                    !turned_B                       ? plan->tile_n / 2
                                    : TMM__HALF_WGMMA_BY_K(i->cols) ? 32
                                                                    : 64);
    if (i->rows == 192 && !turned_C && (!tmm__xhalf_plain(p) || !tmm__xhalf_map_C(&maps[2], p)))
        *missing = 1;
    tmm__xproduct q = *p;
    tmm__last_tiles last = {job.pairs_down * job.across, 0, p->M, 0, p->N};
    job.band = TMM__TENSOR_BAND;
    if (plan->rest > 0)
        last = tmm__xhalf_last(p, job.rows * job.down, plan->tile_n, plan->rest, &job.band, &q);
    if (status == TMM_OK && !*missing) {
        void *partials = tmm__xpartials(&q, &slices);
        const int tiles = job.pairs_down * job.across;
        job.slices = slices, job.partials = (float *)partials, job.rest = last.tiles;
        job.whole = partials == NULL ? INT_MAX : tiles - last.tiles;
        job.part_row = last.row, job.part_rows = last.rows;
        job.part_col = last.col, job.part_cols = last.cols;
        job.boxed_C =
            !turned_C && (partials == NULL || job.whole > 0) && tmm__xhalf_map_C(&maps[2], p);
        job.items = (int)((tiles + (slices - 1ll) * last.tiles) * p->batch);
        const int cluster = job.down * job.beside * job.parts;
        const long long room = (long long)tmm__xhalf_room(i, cluster);
        const long long most = job.parts > 1 ? job.items : room > 0 ? room : 1;
        const unsigned blocks = (unsigned)(cluster * tmm__min(job.items, most));
        void *arguments[] = {&maps[0], &maps[1], &maps[2], &p->C, &job};
        status = tmm__launch_clusters(plan->kernel, dim3(blocks), 128 + 2 * i->rows, cluster, 1,
                                      plan->bytes, arguments, p->stream);
        /* Of the last tiles a thread adds all of an element: an eighth of the blocks. */
        status = tmm__xsum(status, &q, slices, partials, plan->rest > 0 ? 1 : TMM__SUM_GROUPS);
    }
    if (memory != NULL) (void)cudaFreeAsync(memory, p->stream);
    return status;
}

static inline tmm_status tmm__xtensor(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    tmm__plan by_mma;
    int slices, missing = 0;
    tmm_status status = TMM_OK;
    char *memory = NULL;
    if (plan->instance == (int)TMM__HALF_TINY) return tmm__xhalf_tiny(&p);
    if (plan->kernel != NULL && plan->instance >= (int)TMM__HALF_WGMMA_FIRST) {
        status = tmm__xhalf_run_wgmma(&p, plan, &missing);
        if (!missing) return status;
    } else if (plan->instance >= (int)TMM__HALF_COPIED) {
        status = tmm__xhalf_copy(&p, &memory, &missing);
    }
    if (missing) { /* memory, or a map */
        memset(&by_mma, 0, sizeof by_mma);
        by_mma.value = TMM_TENSOR, p.allowed &= ~(int)(TMM__PACK | TMM__ALL_OF_BATCH);
        tmm__xhalf_mma_plan(&p, &by_mma);
        plan = &by_mma;
    }
    slices = plan->slices;
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor: no instance fits the shared memory of this device");
    void *partials = tmm__xpartials(&p, &slices);
    const tmm__tiling tiles = tmm__tile(TMM__TRIANGLE(&p), p.M, p.N, plan->tile_m, plan->tile_n);
    void *arguments[20];
    int count = tmm__xarguments(&p, arguments);
    arguments[count++] = &partials;
    int ends = (p.A == given->A) + 2 * (p.B == given->B); /* copies have memory behind them */
    arguments[count++] = &ends;
#ifdef TMM_WITH_SYRK
    arguments[count++] = &p.triangle;
#endif
    if (status == TMM_OK)
        status = tmm__launch(plan->kernel,
                             dim3((unsigned)(tiles.down * tiles.across), (unsigned)slices, p.batch),
                             dim3(TMM__HALF_THREADS(plan->tile_m, plan->tile_n)), plan->bytes,
                             arguments, p.stream);
    status = tmm__xsum(status, &p, slices, partials, TMM__SUM_GROUPS);
    if (memory != NULL) (void)cudaFreeAsync(memory, p.stream);
    return status;
}
#endif
