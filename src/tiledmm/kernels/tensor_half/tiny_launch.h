/* src/tiledmm/kernels/tensor_half/tiny_launch.h. PLAN and LAUNCHER of KERNEL TINY HALF.
   Uses: kernels/tensor_half/, launch/, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* Clocks of 16 k of an operand; adds its bytes, and what 32 k take longer. */
static inline double tmm__xhalf_tiny_loads(const tmm__xproduct *p, int is_B, double *bytes,
                                           double *deep)
{
    const int turned = (is_B ? p->rsB : p->csA) != 1, edge = TMM__HALF_TINY_EDGE;
    const long long lines = is_B ? p->N : p->M, ld = is_B ? tmm__xldb(p) : tmm__xlda(p);
    const long long stride = is_B ? p->strideB : p->strideA, length = turned ? lines : p->K;
    const double items = p->batch > 1 && stride > 0 ? p->batch : 1;
    const size_t ends = (size_t)(is_B ? p->B : p->A) | (size_t)(ld | length) * 2 |
                        (items > 1 ? (size_t)stride * 2 : 0);
    /* The part of its lines and k that exists. */
    const double exist = (double)lines * (double)p->K /
                         (ceil((double)lines / edge) * edge * fmax(ceil(p->K / 16.0), 1) * 16);
    *bytes += 2.0 * (double)(turned ? p->K : lines) * (double)tmm__min(ld, length + 8) * items;
    *deep += ends % 4 != 0 ? tmm__tuned()->half_tiny.late : 0;
    const double *load = tmm__tuned()->half_tiny.load;
    return ends % 8 == 0 ? load[0] : ends % 4 == 0 ? load[1] : load[2] + load[3] * exist;
}

static inline double tmm__xhalf_tiny_time(const tmm__xproduct *p, double tiles)
{
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    const double processors = TMM__BUSY(tmm__current_device()->processors);
    const int edge = TMM__HALF_TINY_EDGE, at_once = p->N > 16 ? 4 : p->N > 8 ? 8 : 16;
    const long long bits = (p->ldc | p->N | (p->batch > 1 ? p->strideC : 0));
    const int by_4 =
        !tmm__xhalf_more(p) && bits % 4 == 0 && (size_t)p->C % (4 * sizeof(TMM_OUT)) == 0;
    double bytes = sizeof(TMM_OUT) * (double)p->M * (double)tmm__min(p->ldc, p->N + 8) * p->batch;
    double deep = tmm__tuned()->half_tiny.deep;
    double clocks = tmm__xhalf_tiny_loads(p, 0, &bytes, &deep);
    clocks += tmm__xhalf_tiny_loads(p, 1, &bytes, &deep);
    clocks = tmm__tuned()->half_tiny.tile + ceil(p->K / 16.0) * clocks;
    if (!by_4)
        clocks += tmm__tuned()->half_tiny.rows * (double)p->M / ceil((double)p->M / edge) / at_once;
    /* Work hides part of what a warp waits for. */
    const double waits = tmm__tuned()->half_tiny.first + ceil(p->K / 32.0) * deep;
    clocks = pow(pow(clocks * tiles / processors, 4 / 3.0) + pow(waits, 4 / 3.0), 0.75);
    const double memory =
        bytes < gpu->l2_bytes ? 0 : tmm__tuned()->half_tiny.memory * bytes / gpu->memory;
    return gpu->launch + tmm__overlapped(tmm__in_nanoseconds(clocks), memory);
}

/* If it should be faster than c->time. Not for part of a product from host memory: other kernels may have
   other bits. */
static inline void tmm__xhalf_tiny_plan(const tmm__xproduct *p, tmm__plan *c)
{
    const int edge = TMM__HALF_TINY_EDGE;
    const int whole = p->allowed & (TMM__CUT_K | TMM__ALL_OF_BATCH);
    const long long lda = tmm__xlda(p), ldb = tmm__xldb(p), most = TMM__HALF_TINY_LD;
    const double tiles = ceil((double)p->M / edge) * ceil((double)p->N / edge) * p->batch;
    if ((!whole && p->strideC == 0) || TMM__TRIANGLE(p) || tiles > INT_MAX / 2 ||
        p->M > INT_MAX - edge || p->N > INT_MAX - edge || lda > most || ldb > most ||
        p->ldc > most || (p->batch == 1 && p->K > (int)TMM__HALF_TINY_K))
        return;
    const double time =
        TMM__PLAN_GUESS((int)TMM__HALF_TINY, TMM__PLAN_WHOLE, 1, tmm__xhalf_tiny_time(p, tiles));
    if (time >= c->time) return;
    c->time = time, c->instance = TMM__HALF_TINY;
    c->kernel = (const void *)tmm__xgemm_half_tiny, c->bytes = 0;
    c->tile_m = c->tile_n = edge, c->slices = 1, c->cut = TMM__PLAN_WHOLE, c->rest = 0;
}

static inline tmm_status tmm__xhalf_tiny(tmm__xproduct *p)
{
    const long long edge = TMM__HALF_TINY_EDGE, warps = TMM__HALF_TINY_WARPS;
    const long long tiles = ((p->M - 1) / edge + 1) * ((p->N - 1) / edge + 1) * p->batch;
    void *arguments[20];
    arguments[tmm__xarguments(p, arguments)] = &p->batch;
    return tmm__launch_clusters((const void *)tmm__xgemm_half_tiny,
                                dim3((unsigned)((tiles - 1) / warps + 1)),
                                dim3((unsigned)warps * 32), 1, 1, 0, arguments, p->stream);
}
#endif
