/* src/tiledmm/kernels/skinny_launch.h. LAUNCHER of KERNEL SKINNY.
   Uses: kernels/small_launch.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
static inline tmm_status TMM_FN(gemm__skinny_takes)(const TMM_FN(gemm__product) * p,
                                                    const TMM_FN(gemm__kernel) * row)
{
    (void)row;
    if (p->M <= TMM__SKINNY_MOST || p->N <= TMM__SKINNY_MOST) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel skinny: M x N is %lld x %lld, but one of them must be %d at most",
                     p->M, p->N, TMM__SKINNY_MOST);
}

/* An instance of KERNEL SKINNY: as in the list, bytes of shared memory, and of its sums alone, lines of
   a block and k of a stage. */
typedef struct TMM_FN(skinny__instance) {
    int along_k, width, bytes, least, lines, depth;
    const void *kernel;
} TMM_FN(skinny__instance);

/* How a launch of KERNEL SKINNY is made. L is the large operand, S the narrow one. */
typedef struct TMM_FN(skinny__choice) {
    TMM_FN(skinny__instance) instance;
    int narrow_m;
    long long lines, width, blocks, parts;
    double time; /* nanoseconds that it should take */
} TMM_FN(skinny__choice);

/* Nanoseconds of a launch of an instance, and of a stage of a block; of one that was not measured: the
   first one's. */
static inline void TMM_FN(gemm__skinny_costs)(const TMM_FN(skinny__instance) * i, int aligned,
                                              double *launch, double *stage)
{
    const tmm__tuning *t = tmm__tuned();
    const int size = sizeof(TMM_TYPE) > 4;
    int n = TMM__TUNED_SKINNY - 1;
    while (n > 0 && (t->skinny.instances[n].along_k != i->along_k ||
                     t->skinny.instances[n].width != i->width))
        n--;
    *launch = t->skinny.instances[n].launch[size];
    *stage = t->skinny.instances[n].stage[size][aligned];
}

/* Takes the narrowest instance that is wide enough, and cuts K so that each multiprocessor has nearly
   as many stages as the others. */
static inline TMM_FN(skinny__choice) TMM_FN(gemm__skinny_plan)(const TMM_FN(gemm__product) * p)
{
#define TMM__ROW(pass, name, along_k, width) \
    {along_k,                                \
     width,                                  \
     TMM_FN(skinny_bytes_##name),            \
     TMM_FN(skinny_least_##name),            \
     TMM_FN(skinny_lines_##name),            \
     TMM_FN(skinny_depth_##name),            \
     (const void *)TMM_FN(gemm_skinny_##name)},
    static const TMM_FN(skinny__instance) instances[] = {TMM__SKINNY_LIST(TMM__ROW)};
#undef TMM__ROW
    enum { MOST_PARTS = 64 };
    const tmm__device *device = tmm__current_device();
    const tmm__tuning *t = tmm__tuned();
    const double busy = TMM__BUSY(device->processors);
    TMM_FN(skinny__choice) c;
    memset(&c, 0, sizeof c);
    c.narrow_m = p->M < p->N;
    c.lines = c.narrow_m ? p->N : p->M, c.width = c.narrow_m ? p->M : p->N;
    const TMM_TYPE *L = c.narrow_m ? p->B : p->A;
    const long long lineL = c.narrow_m ? p->csB : p->rsA, kL = c.narrow_m ? p->rsB : p->csA;
    const TMM_FN(skinny__instance) *best = NULL;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++) {
        const TMM_FN(skinny__instance) *i = &instances[n];
        if (i->along_k != (kL == 1) || i->width < c.width) continue;
        if (best == NULL || i->width < best->width) best = i;
    }
    c.instance = *best;
    c.blocks = (c.lines - 1) / best->lines + 1;
    const int aligned = ((size_t)L | (kL == 1 ? lineL : kL) * sizeof(TMM_TYPE)) % 16 == 0;
    const double stages = ceil((double)p->K / best->depth), blocks = (double)c.blocks * p->batch;
    double launch, stage;
    TMM_FN(gemm__skinny_costs)(best, aligned, &launch, &stage);
    const double reading =
        (double)c.lines * p->K * sizeof(TMM_TYPE) * p->batch / t->skinny.bandwidth;
    for (long long parts = 1; parts <= MOST_PARTS && parts <= stages; parts++) {
        const double rounds = ceil(blocks * parts / busy);
        double time = stage * (fmax(rounds, t->skinny.alone) * ceil(stages / parts) - 1);
        time += t->skinny.block * (rounds - 1);
        time = launch + fmax(time, reading);
        if (parts > 1)
            time += t->small_c.sum_launch +
                    t->small_c.sum_byte * sizeof(TMM_SUM) * parts * (double)p->M * p->N * p->batch;
        if (parts == 1 || time < t->small_c.gain * c.time) c.time = time, c.parts = parts;
        /* Two launches would take the host longer. */
        if (parts == 1 && (time <= t->small_c.host || !device->pools)) break;
    }
    if (c.parts == 0) c.parts = 1, c.time = launch; /* K is 0 */
    return c;
}

static inline tmm_status TMM_FN(gemm__skinny)(const TMM_FN(gemm__product) * given,
                                              const TMM_FN(gemm__kernel) * row)
{
    TMM_FN(gemm__product) product = *given, *p = &product;
    (void)row;
    const tmm__device *device = tmm__current_device();
    TMM_FN(skinny__choice) c = TMM_FN(gemm__skinny_plan)(p);
    const int narrow_m = c.narrow_m;
    const TMM_TYPE *L = narrow_m ? p->B : p->A, *S = narrow_m ? p->A : p->B;
    long long lineL = narrow_m ? p->csB : p->rsA, kL = narrow_m ? p->rsB : p->csA;
    long long kS = narrow_m ? p->csA : p->rsB, jS = narrow_m ? p->rsA : p->csB;
    long long strideL = narrow_m ? p->strideB : p->strideA;
    long long strideS = narrow_m ? p->strideA : p->strideB;
    if (c.instance.least > device->shared)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: its sums take %d bytes of shared memory, this device has "
                         "%d for a block",
                         c.instance.least, device->shared);
    void *partials = NULL;
    if (c.parts > 1)
        partials =
            tmm__workspace((size_t)(c.parts * p->M * p->N * p->batch) * sizeof(TMM_SUM), p->stream);
    if (partials == NULL) c.parts = 1;
    int bytes = (int)tmm__min(c.instance.bytes, device->shared); /* as for SMALL */
    void *arguments[] = {&c.lines, &c.width, &p->K,   &p->alpha,   &L,          &lineL,
                         &kL,      &strideL, &S,      &kS,         &jS,         &strideS,
                         &p->beta, &p->C,    &p->ldc, &p->strideC, &c.narrow_m, &partials};
    tmm_status status =
        tmm__launch(c.instance.kernel, dim3((unsigned)c.blocks, (unsigned)c.parts, p->batch),
                    dim3(256), bytes, arguments, p->stream);
    return TMM_FN(gemm__sum)(status, p, (int)c.parts, partials);
}
#endif
