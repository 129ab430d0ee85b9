/* src/tiledmm/type/choose.h. CHOICE: the rule of TMM_AUTO.
   Uses: kernels/common/finish.cuh, launch/, once/. Used by: type/, callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* A kernel that is left out of this program. */
static inline tmm_status tmm__xleft_out(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel %s is not in this program for this type and shape; TMM_SIMPLE leaves "
                     "all fast kernels out",
                     tmm_kernel_string(row->value));
}

#if TMM__CONVERTS
static inline tmm_status tmm__xsplit(const tmm__xproduct *p, const tmm__plan *plan);
#endif

static inline const tmm__xkernel *tmm__xrow(tmm_kernel kernel)
{
#define TMM__NAME(value, string)              {value, 0, NULL, NULL, NULL, NULL},
#define TMM__KERNEL(value, string, tile, ...) {value, tile, __VA_ARGS__},
    static const tmm__xkernel rows[] = {TMM__KERNEL_LIST(TMM__NAME, TMM__KERNEL)};
#undef TMM__NAME
#undef TMM__KERNEL
    if (kernel < 0 || kernel >= TMM_KERNEL_COUNT || rows[kernel].takes == NULL) return NULL;
    return &rows[kernel];
}

/* May TMM_AUTO take this kernel? */
static inline int tmm__xeligible(const tmm__xkernel *row, const tmm__xproduct *p)
{
    const double most = INT_MAX, tile = row->tile;
    return ceil(p->M / tile) * ceil(p->N / tile) <= most && row->competes(p, row);
}

/* A product as its plans are compared: not empty, all of a batch at once. `tensor`: elements may be
   split. */
static inline tmm__xproduct tmm__xcompared(const tmm__xproduct *given, long long batch, int tensor)
{
    tmm__xproduct p = *given;
    p.M = p.M > 0 ? p.M : 1, p.N = p.N > 0 ? p.N : 1, p.K = p.K > 0 ? p.K : 0;
    p.batch = (unsigned)(batch < 1 ? 1 : tmm__min(batch, INT_MAX));
    p.allowed = tmm__xallowed(batch) | (tensor ? TMM__SPLIT : 0);
    return p;
}

/* The rule of TMM_AUTO: the plan that should take the least time; of equal ones, the first of
   the list. */
static inline void tmm__xchoose(const tmm__xproduct *given, long long batch, int tensor,
                                tmm__plan *best)
{
    const tmm__xproduct p = tmm__xcompared(given, batch, tensor);
    tmm__plan plan;
    best->value = TMM_AUTO, best->time = HUGE_VAL;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm__xkernel *row = tmm__xrow((tmm_kernel)k);
        if (row == NULL || row->competes == NULL || !tmm__xeligible(row, &p)) continue;
        tmm__xplan_by(row->value, &p, &plan);
        if (plan.time < best->time) *best = plan;
    }
    if (best->value == TMM_AUTO) tmm__xplan_by(TMM_REGISTER_128, &p, best);
}

static inline tmm_kernel tmm__xchoice(const tmm__xproduct *given, long long batch, int tensor)
{
    tmm__plan plan;
    tmm__xchoose(given, batch, tensor, &plan);
    return plan.value;
}

/* What a launcher gets for the first launch of a batch. */
static inline tmm__xproduct tmm__xfirst_launch(const tmm__xproduct *given, long long batch)
{
    tmm__xproduct p = *given;
    /* A and B are not read when alpha or K is 0: no steps along k, and no offsets to pointers
       that may be NULL. */
    if ((TMM_SUM)TMM__FACTOR(p.alpha) == 0) p.K = 0;
    if (p.K == 0) {
        TMM__FACTOR(p.alpha) = 0;
        p.rsA = p.csA = p.strideA = p.rsB = p.csB = p.strideB = 0;
    }
    p.allowed = tmm__xallowed(batch);
    p.batch = (unsigned)tmm__min(batch, TMM__MOST_GRID);
    return p;
}

/* The plan of a kernel, or of TMM_AUTO, for the first launch of a batch that is not empty; valid
   until the next call. A thread keeps its latest plans: making all of them takes as long as a
   launch. The key is all that a plan may depend on. */
static inline const tmm__plan *tmm__xknown_plan(tmm_kernel kernel, const tmm__xproduct *p,
                                                long long batch)
{
    static thread_local struct {
        long long key[16];
        tmm__plan plan;
    } known[TMM__KNOWN_CHOICES];
    const size_t line = 127; /* of the address, what may count */
    long long flags = (long long)(((size_t)p->A & line) << 32 | ((size_t)p->B & line) << 24 |
                                  ((size_t)p->C & line) << 16) |
                      (long long)TMM__TRIANGLE(p) << 10 | (long long)kernel << 2 |
                      ((TMM_SUM)TMM__FACTOR(p->alpha) == 0) << 1 | ((TMM_SUM)p->beta == 0);
#ifdef TMM_WITH_EPILOGUE
    flags |= (long long)(p->alpha.after.active != 0) << 9;
#endif
    const tmm__device *d = tmm__current_device();
    const long long key[] = {p->M,   p->N,      p->K,          p->rsA,       p->csA,     p->strideA,
                             p->rsB, p->csB,    p->strideB,    p->ldc,       p->strideC, batch,
                             flags,  d->number, d->capability, d->processors};
    size_t hash = 0;
    for (int n = 0; n < 16; n++) hash = hash * 31 + (size_t)key[n];
    const size_t place = (hash ^ hash >> 7) % TMM__KNOWN_CHOICES;
    tmm__plan *plan = &known[place].plan;
    if (TMM__REMEMBERS && memcmp(known[place].key, key, sizeof key) == 0) return plan;
    const tmm__xproduct first = tmm__xfirst_launch(p, batch);
    const int chooses = kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR;
    if (chooses) {
        tmm__xchoose(p, batch, kernel == TMM_AUTO_TENSOR || TMM__ASKED_TENSOR, plan);
        kernel = plan->value;
    }
    /* Chosen was for the K and the batch that were given. */
    if (!chooses || first.K == 0 || batch > TMM__MOST_GRID) tmm__xplan_by(kernel, &first, plan);
    memcpy(known[place].key, key, sizeof key);
    return plan;
}

TMM_API tmm_kernel tmm__xgemm_choice(long long M, long long N, long long K, long long batch)
{
    tmm__xproduct p = tmm__xmake_product(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    TMM__FACTOR(p.alpha) = 1, p.ldc = N;
    return tmm__xchoice(&p, batch, TMM__ASKED_TENSOR);
}
#endif
