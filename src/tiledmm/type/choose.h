/* src/tiledmm/type/choose.h. CHOICE: the rule of TMM_AUTO.
   Uses: the launchers, kernels/tensor_float/launch.h, kernels/tensor_int8/launch.h.
   Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* A kernel that is left out of this program. */
static inline tmm_status tmm__xgemm__left_out_takes(const tmm__xgemm__product *p,
                                                    const tmm__xgemm__kernel *row)
{
    (void)p;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel %s is not in this program: it was compiled with TMM_SIMPLE, or the "
                     "kernel is not for elements of this type and size of C",
                     tmm_kernel_string(row->value));
}

static inline double tmm__xgemm__left_out_time(const tmm__xgemm__product *p,
                                               const tmm__xgemm__kernel *row)
{
    (void)p, (void)row;
    return HUGE_VAL;
}

static inline tmm_status tmm__xgemm__left_out(const tmm__xgemm__product *p,
                                              const tmm__xgemm__kernel *row)
{
    return tmm__xgemm__left_out_takes(p, row);
}

#if TMM__FLOAT_TENSOR
static inline tmm_status tmm__xgemm__tensor(const tmm__xgemm__product *p,
                                            const tmm__xgemm__kernel *row);
#endif
#if TMM__DOUBLE_TENSOR
static inline tmm_status tmm__xgemm__int8(const tmm__xgemm__product *p,
                                          const tmm__xgemm__kernel *row);
#endif

/* The row of a kernel; NULL for what is none, or a name that gemm__resolve replaces. */
static inline const tmm__xgemm__kernel *tmm__xgemm__row(tmm_kernel kernel)
{
#define TMM__NAME(value, string) {value, 0, NULL, NULL, NULL},
#define TMM__KERNEL(value, string, run, tile) \
    {value, tile, TMM_FN(TMM__JOIN(run, _takes)), TMM_FN(TMM__JOIN(run, _time)), TMM_FN(run)},
    static const tmm__xgemm__kernel rows[] = {TMM__KERNEL_LIST(TMM__NAME, TMM__KERNEL)};
#undef TMM__NAME
#undef TMM__KERNEL
    if (kernel < 0 || kernel >= TMM_KERNEL_COUNT || rows[kernel].run == NULL) return NULL;
    return &rows[kernel];
}

/* The tile with which TMM_REGISTER should be faster. */
static inline tmm_kernel tmm__xgemm__register_tile(const tmm__xgemm__product *given,
                                                   long long batch)
{
    tmm__xgemm__product product = *given, *p = &product;
    product.batch = (unsigned)tmm__min(batch, INT_MAX);
    const double small = tmm__xgemm__register_time(p, tmm__xgemm__row(TMM_REGISTER_64));
    const double large = tmm__xgemm__register_time(p, tmm__xgemm__row(TMM_REGISTER_128));
    return small < large ? TMM_REGISTER_64 : TMM_REGISTER_128;
}

/* May TMM_AUTO take this kernel? The fast ones but TMM_DIRECT need copies of sm_80, elements of 4
   bytes and sizes that they reach; TMM_TENSOR of float and TMM_TENSOR_INT8 have to be asked for. */
static inline int tmm__xgemm__eligible(const tmm__xgemm__kernel *row, const tmm__xgemm__product *p,
                                       int tensor)
{
    const double most = INT_MAX, tile = row->tile;
    if (ceil(p->M / tile) * ceil(p->N / tile) > most) return 0;
    if (row->value <= TMM_REGISTER_128 || row->value == TMM_DIRECT) return 1;
#if TMM__FLOAT_TENSOR
    if (row->value == TMM_TENSOR &&
        (!tensor || (TMM_SUM)p->alpha == 0 || !tmm__xgemm__float_fits(p->M, p->N, p->K)))
        return 0;
#endif
#if TMM__DOUBLE_TENSOR
    if (row->value == TMM_TENSOR_INT8)
        return tensor && (TMM_SUM)p->alpha != 0 && tmm__xgemm__int8_fits(p->M, p->N, p->K) &&
               tmm__xgemm__fits(row->value, p);
#endif
    (void)tensor;
#if TMM__FAST
    return tmm__current_device()->capability >= 80 && sizeof(TMM_TYPE) >= 4 &&
           tmm__xgemm__fits(row->value, p);
#else
    return 0;
#endif
}

/* The rule of TMM_AUTO: the kernel that should take the least time, by its launcher's plan and the
   costs in once/tuning.h. Of equal ones, the first of the list. */
static inline tmm_kernel tmm__xgemm__choice(const tmm__xgemm__product *given, long long batch,
                                            int tensor)
{
    tmm__xgemm__product p = *given;
    tmm_kernel best = TMM_REGISTER_64;
    double least = HUGE_VAL;
    p.M = p.M > 0 ? p.M : 1, p.N = p.N > 0 ? p.N : 1, p.K = p.K > 0 ? p.K : 0;
    p.batch = (unsigned)(batch < 1 ? 1 : tmm__min(batch, INT_MAX));
    p.allowed = p.batch > 1 ? 0 : TMM__CUT_K | TMM__PACK;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm__xgemm__kernel *row = tmm__xgemm__row((tmm_kernel)k);
        if (row == NULL || !tmm__xgemm__eligible(row, &p, tensor)) continue;
        const double time = row->time(&p, row);
        if (time < least) least = time, best = row->value;
    }
    return best;
}

/* The same. A thread keeps its latest choices, since looking at all plans takes the host as long as
   a launch. The key is all that a choice may depend on. */
static inline tmm_kernel tmm__xgemm__known_choice(const tmm__xgemm__product *p, long long batch,
                                                  int tensor)
{
    static thread_local struct {
        long long key[16];
        tmm_kernel kernel;
    } known[TMM__KNOWN_CHOICES];
    const size_t line = 127; /* of the address, what may count */
    const long long flags = (long long)(((size_t)p->A & line) << 24 | ((size_t)p->B & line) << 16 |
                                        ((size_t)p->C & line) << 8) |
                            (long long)tensor << 2 | ((TMM_SUM)p->alpha == 0) << 1 |
                            ((TMM_SUM)p->beta == 0);
    const tmm__device *d = tmm__current_device();
    const long long key[] = {p->M,   p->N,      p->K,          p->rsA,       p->csA,     p->strideA,
                             p->rsB, p->csB,    p->strideB,    p->ldc,       p->strideC, batch,
                             flags,  d->number, d->capability, d->processors};
    size_t hash = 0;
    for (int n = 0; n < 16; n++) hash = hash * 31 + (size_t)key[n];
    const size_t place = (hash ^ hash >> 7) % TMM__KNOWN_CHOICES;
    if (!TMM__REMEMBERS || memcmp(known[place].key, key, sizeof key) != 0) {
        known[place].kernel = tmm__xgemm__choice(p, batch, tensor);
        memcpy(known[place].key, key, sizeof key);
    }
    return known[place].kernel;
}

TMM_API tmm_kernel tmm__xgemm_choice(long long M, long long N, long long K, long long batch)
{
    tmm__xgemm__product p = tmm__xgemm__make_product(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    p.alpha = 1, p.ldc = N;
    return tmm__xgemm__choice(&p, batch, TMM__ASKED_TENSOR);
}
#endif
