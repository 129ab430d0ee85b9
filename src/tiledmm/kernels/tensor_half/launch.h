/* src/tiledmm/kernels/tensor_half/launch.h. PLAN and LAUNCHER of KERNEL TENSOR HALF.
   Uses: mma_sync.cuh, launch/, once/. Used by: callers. */
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

/* Has the device tensor cores for this type? Else it is right, but slow. */
static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const int capability = tmm__current_device()->capability;
    return capability >= (TMM__HALF_TENSOR == 1 ? 75 : 80) && p->K <= INT_MAX &&
           tmm__xtensor_takes(p, row) == TMM_OK;
}

/* Takes the tile that should be fastest, and shares out k where few tiles have long sums. */
static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
{
#define TMM__ROW(pass, name, rows, cols, stages, blocks) \
    {rows, cols, TMM__HALF_BYTES(rows, cols, stages), (const void *)TMM_FN(gemm_half_##name)},
    static const tmm__xhalf__instance instances[] = {TMM__HALF_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const int count = (int)(sizeof instances / sizeof *instances);
    const double steps = ceil(p->K / 32.0);
    (void)row;
    c->time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        const tmm__xhalf__instance *i = &instances[n];
        tmm__load load = tmm__xload(p, TMM__COST_TENSOR, i->rows, i->cols);
        const double tiles = load.blocks;
        load.type = TMM__TUNED_AS_HALF;
        if (i->bytes > device->shared) continue;
        for (int slices = 1; slices <= 32; slices *= 2) {
            if (slices > 1 && (!(p->allowed & TMM__CUT_K) || !device->pools ||
                               tiles * slices > 4 * load.processors || slices * 4 > steps))
                break;
            load.blocks = tiles * slices, load.k = 32 * ceil(steps / slices);
            double time = tmm__launch_time(&tmm__tuned()->half[n < TMM__TUNED_HALF ? n : 0], &load);
            if (slices > 1) time = tmm__host_time(time + tmm__xsum_time(p, slices));
            time =
                TMM__PLAN_GUESS(n, slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE, slices, time);
            if (time >= c->time) continue;
            c->time = time, c->instance = n, c->kernel = i->kernel, c->bytes = i->bytes;
            c->tile_m = i->rows, c->tile_n = i->cols, c->slices = slices;
            c->cut = slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
        }
    }
}

static inline tmm_status tmm__xtensor(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    int slices = plan->slices;
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor: no instance fits the shared memory of this device");
    void *partials = tmm__xpartials(&p, &slices);
    const long long tiles = ((p.M - 1) / plan->tile_m + 1) * ((p.N - 1) / plan->tile_n + 1);
    void *arguments[20];
    int count = tmm__xarguments(&p, arguments);
    arguments[count++] = &partials;
    const tmm_status status =
        tmm__launch(plan->kernel, dim3((unsigned)tiles, (unsigned)slices, p.batch), dim3(128),
                    plan->bytes, arguments, p.stream);
    return tmm__xsum(status, &p, slices, partials, TMM__SUM_GROUPS);
}
#endif
