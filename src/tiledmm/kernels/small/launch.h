/* src/tiledmm/kernels/small/launch.h. PLAN and LAUNCHER of KERNEL SMALL.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__SMALLS
/* The first instance stands in where a device has little shared memory. */
#define TMM__FIRST(pass, name, rows, cols) 1 ? (rows) * (cols):
enum { tmm__xsmall_least = (TMM__SMALL_LIST(TMM__FIRST) 0) };
#undef TMM__FIRST
#define TMM__CHECK(pass, name, rows, cols)                                                      \
    static_assert((rows) * (cols) >= (int)tmm__xsmall_least,                                    \
                  "TMM__SMALL_LIST: the first instance must have the smallest tile: it is for " \
                  "devices with little shared memory");
TMM__SMALL_LIST(TMM__CHECK)
#undef TMM__CHECK

/* An instance of KERNEL SMALL. */
typedef struct tmm__xsmall__instance {
    int rows, cols, bytes;
    const void *kernel;
} tmm__xsmall__instance;

/* Costs of an instance; of one that was not measured: by its area, of the last. */
static inline tmm__small_costs tmm__xsmall_costs(const tmm__xsmall__instance *i)
{
    const tmm__costs *t = tmm__tuned();
    int n = 0;
    while (n < TMM__TUNED_SMALL - 1 &&
           (t->small_c[n].rows != i->rows || t->small_c[n].cols != i->cols))
        n++;
    tmm__small_costs c = t->small_c[n].tile[TMM__TUNED_AS];
    const double area = (double)i->rows * i->cols / (t->small_c[n].rows * t->small_c[n].cols);
    c.few *= area, c.step *= area, c.tile *= area, c.work *= area, c.odd *= area;
    /* Warps that there is shared memory for. */
    const double room =
        floor((double)tmm__current_device()->shared * (1 << TMM__SMALL_WARPS_LOG2) / i->bytes);
    c.warps = fmin(c.warps / area, room);
    return c;
}

/* The warps of a block, as a power of two. A block of several teams is a coarse share: some
   multiprocessors would have two of them while others have one. So a block has one team; but more
   where each multiprocessor has so many blocks that one more or less does not count. */
static inline int tmm__xsmall_block(int team_log2, double tiles)
{
    const double many = 16, processors = TMM__BUSY(tmm__current_device()->processors);
    int warps_log2 = team_log2;
    while (warps_log2 < TMM__SMALL_WARPS_LOG2 &&
           tiles / (2 << (warps_log2 - team_log2)) >= many * processors)
        warps_log2++;
    return warps_log2;
}

/* A division that is faster than the plan so far, or as fast: tiles of instance *i, each by a team. */
static inline void tmm__xsmall_take(tmm__plan *c, const tmm__xsmall__instance *i, int team_log2,
                                    double time)
{
    c->time = time, c->kernel = i->kernel, c->tile_m = i->rows, c->tile_n = i->cols;
    c->bytes = i->bytes, c->team_log2 = team_log2;
}

/* Takes the tile and the warps for it that should be fastest; and shares out k where few tiles have
   long sums, in parts of 16 steps at least, two for each warp; one, where units are slow. */
static inline void tmm__xsmall_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
{
#define TMM__ROW(pass, name, rows, cols) \
    {rows, cols, TMM_FN(small_bytes_##name), (const void *)TMM_FN(gemm_small_##name)},
    static const tmm__xsmall__instance instances[] = {TMM__SMALL_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    const int count = (int)(sizeof instances / sizeof *instances);
    double whole = HUGE_VAL;
    (void)row;
    c->time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        const tmm__xsmall__instance *i = &instances[n];
        const tmm__small_costs costs = tmm__xsmall_costs(i);
        tmm__load load = tmm__xload(p, TMM__COST_SMALL, i->rows, i->cols);
        const double tiles = load.blocks, steps = ceil(load.k / 8);
        if (n > 0 && i->bytes > device->shared) continue;
        double time = HUGE_VAL;
        for (int team_log2 = 0; team_log2 <= (int)TMM__SMALL_WARPS_LOG2; team_log2++) {
            const int team = 1 << team_log2;
            if (team > 1 && team / 2 >= steps) break; /* half of them would have nothing to do */
            const double one =
                TMM__PLAN_GUESS(n, TMM__PLAN_WHOLE, team, tmm__small_time(&costs, &load, team));
            time = fmin(time, one);
            if (one <= whole) {
                const tmm__unsplit unsplit = {i->kernel, i->rows, i->cols, i->bytes, team_log2};
                whole = one, c->unsplit = unsplit;
            }
            if (one > c->time) continue;
            tmm__xsmall_take(c, i, team_log2, one);
            c->instance = n, c->cut = TMM__PLAN_WHOLE, c->slices = 1;
        }
        if (time < t->host || !device->pools) continue;
        /* More parts than this would take longer to add up than they save. */
        const double each = tmm__xsum_time(p, 1) - tmm__xsum_time(p, 0);
        const double clocks = tmm__small_k_clocks(&costs, &load);
        const double best = sqrt(tmm__in_nanoseconds(clocks * p->K) / each);
        const double slow = load.area / tmm__rate(device->capability, load.family, load.type);
        const double most_parts = floor(steps / (clocks > slow ? 16 : 8));
        for (int turns = 1; turns <= 2; turns++) {
            const double fit = floor(turns * load.processors / tiles);
            const double parts = floor(fmin(fmin(fit, best), most_parts));
            if (parts < 2) continue;
            load.blocks = tiles * parts, load.k = p->K / parts;
            time = tmm__small_time(&costs, &load, 1 << TMM__SMALL_WARPS_LOG2) +
                   tmm__xsum_time(p, parts);
            time = TMM__PLAN_GUESS(n, TMM__PLAN_REDUCE, (int)parts, tmm__host_time(time));
            if (time >= c->time || time >= t->gain * whole) continue;
            tmm__xsmall_take(c, i, TMM__SMALL_WARPS_LOG2, time);
            c->instance = n, c->cut = TMM__PLAN_REDUCE, c->slices = (int)parts;
        }
    }
    /* Two stages, which kernels before sm_80 have. */
    if (c->unsplit.bytes / 3 * 2 > device->shared) c->kernel = NULL, c->time = HUGE_VAL;
}

/* As many products as tiles fit in 32 bits. */
static inline tmm_status tmm__xsmall_launch(tmm__xproduct *p, const tmm__plan *plan)
{
    tmm__plan c = *plan;
    const tmm__device *device = tmm__current_device();
    if (c.kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel small takes %d bytes of shared memory, this device has %d for a "
                         "block",
                         c.unsplit.bytes / 3 * 2, device->shared);
    void *partials = tmm__xpartials(p, &c.slices);
    if (partials == NULL) {
        c.kernel = c.unsplit.kernel, c.tile_m = c.unsplit.tile_m, c.tile_n = c.unsplit.tile_n;
        c.bytes = c.unsplit.bytes, c.team_log2 = c.unsplit.team_log2;
    }
    const long long tiles = ((p->M - 1) / c.tile_m + 1) * ((p->N - 1) / c.tile_n + 1) * p->batch;
    /* Devices that have less shared memory have no asynchronous copies, and kernels compiled for
       them need less. */
    const int warps_log2 = tmm__xsmall_block(c.team_log2, (double)tiles * (double)c.slices);
    int bytes = (int)tmm__min(c.bytes >> ((int)TMM__SMALL_WARPS_LOG2 - warps_log2), device->shared);
    void *arguments[20];
    int count = tmm__xarguments(p, arguments);
    arguments[count++] = &p->batch, arguments[count++] = &c.team_log2,
    arguments[count++] = &partials;
    const long long blocks = ((tiles << c.team_log2) + (1 << warps_log2) - 1) >> warps_log2;
    const tmm_status status = tmm__launch(c.kernel, dim3((unsigned)blocks, (unsigned)c.slices),
                                          dim3(32u << warps_log2), bytes, arguments, p->stream);
    return tmm__xsum(status, p, c.slices, partials, TMM__SUM_GROUPS);
}

/* The same for any number of products: tiles are numbered through all of a launch. */
static inline tmm_status tmm__xsmall(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    tmm__plan part = *plan;
    long long tiles = ((p.M - 1) / 16 + 1) * ((p.N - 1) / 16 + 1); /* INT_MAX at most */
    long long most = INT_MAX / tiles, batch = p.batch;
    tmm_status status = TMM_OK;
    for (long long first = 0; first < batch && status == TMM_OK; first += most) {
        p.batch = (unsigned)tmm__min(batch - first, most);
        if (batch > most) tmm__xplan_by(TMM_SMALL, &p, &part);
        status = tmm__xsmall_launch(&p, &part);
        p.A += most * p.strideA, p.B += most * p.strideB, p.C += most * p.strideC;
    }
    return status;
}
#endif
