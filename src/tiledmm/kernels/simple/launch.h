/* src/tiledmm/kernels/simple/launch.h. LAUNCHERS of KERNEL GLOBAL, SHARED and REGISTER.
   Uses: kernels/simple/, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Kernels are found by the tile that their names have. */
#define TMM__NAMED(pass, name) +((name) == 8 || (name) == 16 || (name) == 32)
static_assert(
    TMM__ONE_TILE || (0 TMM__SHARED_LIST(TMM__NAMED)) == (TMM__ALL_TILES ? 3 : 1),
    "TMM__SHARED_LIST must have 8, 16 and 32: TMM_SHARED_8 and its like name these tiles");
#undef TMM__NAMED
#define TMM__NAMED(pass, name, block) +(((name) == 64 || (name) == 128) && (name) == 16 * (block))
static_assert(
    (0 TMM__REGISTER_LIST(TMM__NAMED)) == (TMM__ALL_TILES ? 2 : 1),
    "TMM__REGISTER_LIST must have 64, of TMM_BLOCK 4, and 128, of 8: a name is the tile, 16 "
    "TMM_BLOCK, and TMM_REGISTER_64 and _128 name these two");
#undef TMM__NAMED

/* A plan with a block of threads for each tile of C, of row->tile x row->tile elements. */
static inline void tmm__xtiles_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                    const void *kernel, double time, tmm__plan *plan)
{
    plan->kernel = kernel, plan->time = time;
    plan->tile_m = plan->tile_n = row->tile;
    plan->blocks = ((p->M - 1) / row->tile + 1) * ((p->N - 1) / row->tile + 1);
    plan->threads = row->tile > 32 ? 256 : row->tile * row->tile;
}

static inline tmm_status tmm__xtiles(const tmm__xproduct *product, const tmm__plan *plan)
{
    tmm__xproduct p = *product;
    const unsigned edge = (unsigned)plan->tile_m;
    const dim3 block = edge > 32 ? dim3((unsigned)plan->threads) : dim3(edge, edge);
    void *arguments[20];
    (void)tmm__xarguments(&p, arguments);
    return tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, 1, p.batch), block, 0, arguments,
                       p.stream);
}

static inline tmm_status tmm__xall_taken(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p, (void)row;
    return TMM_OK;
}

/* Its time is not looked at: it is always slower than TMM_SHARED. */
static inline void tmm__xglobal_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *plan)
{
    tmm__xtiles_plan(p, row, (const void *)tmm__xgemm_global, HUGE_VAL, plan);
}

static inline tmm_status tmm__xshared_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p;
    if (TMM__ONE_TILE && row->value != TMM_SHARED)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s was not made for this type: its TMM_TILE asks for one tile, "
                         "TMM_SHARED",
                         tmm_kernel_string(row->value));
    return TMM_OK;
}

/* Does TMM_AUTO look at KERNEL SHARED and REGISTER? Not where TMM_PIPELINED, or TMM_TENSOR of double,
   has the same large tiles. */
static inline int tmm__xsimple_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
#if TMM__FAST
    return !tmm__xfast_competes(p, row) || (TMM__IS_DOUBLE && !tmm__xtensor_pays());
#else
    (void)p, (void)row;
    return 1;
#endif
}

/* Tiles of 16; or of another edge, if that is the only one. */
static inline int tmm__xshared_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return row->value == (TMM__ONE_TILE || !TMM__ALL_TILES ? TMM_SHARED : TMM_SHARED_16) &&
           tmm__xsimple_competes(p, row);
}

static inline int tmm__xregister_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return (TMM__ALL_TILES || row->value == TMM_REGISTER_128) && tmm__xsimple_competes(p, row);
}

static inline void tmm__xshared_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *plan)
{
    const tmm__load load = tmm__xload(p, TMM__COST_SIMPLE, row->tile, row->tile);
    const tmm__block_costs costs =
        tmm__scaled(&tmm__tuned()->shared_16[TMM__TUNED_AS], load.area / (16 * 16));
    const void *kernel = NULL;
#if TMM__ONE_TILE
    kernel = (const void *)TMM__JOIN(tmm__xgemm_shared_, TMM_TILE);
#else
#define TMM__ROW(pass, name)                               \
    if (row->tile == name) {                               \
        kernel = (const void *)TMM_FN(gemm_shared_##name); \
    }
    TMM__SHARED_LIST(TMM__ROW)
#undef TMM__ROW
#endif
    tmm__xtiles_plan(p, row, kernel, tmm__launch_time(&costs, &load), plan);
}

static inline void tmm__xregister_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                       tmm__plan *plan)
{
    const tmm__load load = tmm__xload(p, TMM__COST_SIMPLE, row->tile, row->tile);
    const double time =
        tmm__launch_time(row->value == TMM_REGISTER_64 ? &tmm__tuned()->register_64[TMM__TUNED_AS]
                                                       : &tmm__tuned()->register_128[TMM__TUNED_AS],
                         &load);
    const void *kernel = NULL;
#define TMM__ROW(pass, name, ...)                            \
    if (row->tile == name) {                                 \
        kernel = (const void *)TMM_FN(gemm_register_##name); \
    }
    TMM__REGISTER_LIST(TMM__ROW)
#undef TMM__ROW
    tmm__xtiles_plan(p, row, kernel, time, plan);
}
#endif
