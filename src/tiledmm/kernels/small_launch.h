/* src/tiledmm/kernels/small_launch.h. LAUNCHERS of KERNEL SUM and SMALL.
   Uses: once/tuning.h, type/product.h. Used by: kernels/skinny_launch.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* What follows a launch of KERNEL SMALL or SKINNY that went as `status` says: KERNEL SUM, if there
   were parts, and giving back the memory of their sums. */
static inline tmm_status TMM_FN(gemm__sum)(tmm_status status, TMM_FN(gemm__product) * p, int parts,
                                           void *partials)
{
    void *arguments[] = {&p->M,    &p->N, &parts,  &p->alpha,  &partials,
                         &p->beta, &p->C, &p->ldc, &p->strideC};
    if (partials == NULL) return status;
    if (status == TMM_OK)
        status = tmm__launch((const void *)TMM_FN(gemm_sum),
                             dim3((unsigned)((p->M * p->N + 31) / 32), 1, p->batch), dim3(256), 0,
                             arguments, p->stream);
    (void)cudaFreeAsync(partials, p->stream);
    return status;
}

/* An instance of KERNEL SMALL; `first` and `each_k`: nanoseconds of a launch and of each k, if there is
   a multiprocessor for each tile. */
typedef struct TMM_FN(small__instance) {
    int rows, cols, bytes;
    const void *kernel;
    double first, each_k;
} TMM_FN(small__instance);

/* How a launch of KERNEL SMALL is made. */
typedef struct TMM_FN(small__choice) {
    TMM_FN(small__instance) instance;
    long long tiles, parts;
    double time;                     /* nanoseconds that it should take */
    TMM_FN(small__instance) unsplit; /* to take if there is no memory for parts, */
    long long unsplit_tiles;         /* and its tiles */
} TMM_FN(small__choice);

/* Instance number n of the list; all zeros behind the last. One that was not measured: by its area,
   along those that were. */
static inline TMM_FN(small__instance) TMM_FN(gemm__small_instance)(int n)
{
#define TMM__ROW(pass, name, rows, cols) \
    {rows, cols, TMM_FN(small_bytes_##name), (const void *)TMM_FN(gemm_small_##name), 0, 0},
    static const TMM_FN(small__instance) instances[] = {TMM__SMALL_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__tuning *t = tmm__tuned();
    const int type = TMM__IS_FLOAT    ? TMM__TUNED_AS_FLOAT
                     : TMM__IS_DOUBLE ? TMM__TUNED_AS_DOUBLE
                                      : TMM__TUNED_AS_OTHER;
    TMM_FN(small__instance) instance;
    memset(&instance, 0, sizeof instance);
    if (n >= (int)(sizeof instances / sizeof *instances)) return instance;
    instance = instances[n];
    for (int m = 0; m < TMM__TUNED_SMALL; m++)
        if (t->small_c.tiles[m].rows == instance.rows &&
            t->small_c.tiles[m].cols == instance.cols) {
            instance.first = t->small_c.tiles[m].launch;
            instance.each_k = t->small_c.tiles[m].each_k[type];
        }
    double area = instance.rows * instance.cols;
    if (instance.first == 0) instance.first = 2000 + 0.35 * area;
    if (instance.each_k == 0)
        instance.each_k =
            t->small_c.tiles[TMM__TUNED_SMALL - 1].each_k[type] * (0.2 + 0.8 * area / 2048);
    return instance;
}

/* Takes the smallest tile of which each multiprocessor gets one at most, or the largest that is not
   mostly outside C; and shares out k where few tiles have long sums. */
static inline tmm_status TMM_FN(gemm__small_plan)(TMM_FN(small__choice) * c,
                                                  const TMM_FN(gemm__product) * p)
{
    enum { MOST = 8 };
    memset(c, 0, sizeof *c);
    const long long M = p->M, N = p->N, K = p->K, steps = (K + 7) / 8;
    const tmm__device *device = tmm__current_device();
    const tmm__tuning *t = tmm__tuned();
    const long long busy = TMM__BUSY(device->processors);
    TMM_FN(small__instance) all[MOST];
    long long tiles[MOST];
    int count = 0;
    while (count < MOST && (all[count] = TMM_FN(gemm__small_instance)(count)).rows > 0) {
        const TMM_FN(small__instance) *i = &all[count];
        tiles[count] = ((M - 1) / i->rows + 1) * ((N - 1) / i->cols + 1) * p->batch;
        count++;
    }
    int largest = count - 1;
    while (largest > 0 && (all[largest].bytes > device->shared || N <= all[largest].cols / 2 ||
                           (M <= 16 && all[largest].rows > 16)))
        largest--;
    int least = all[0].bytes / 3 * 2; /* with two stages, which kernels before sm_80 have */
    if (least > device->shared)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel small takes %d bytes of shared memory, this device has %d for a "
                         "block",
                         least, device->shared);
    /* Of double, many of 32 x 32 take longer than twice as many of 16 x 32. */
    if (TMM__IS_DOUBLE && all[largest].rows * all[largest].cols == 32 * 32 && K <= 128 &&
        tiles[largest] > busy)
        largest--;
    int unsplit = 0, best = 0;
    while (unsplit < largest && tiles[unsplit] > busy) unsplit++;
    best = unsplit;
    /* Few tiles and long K: parts of k, of 16 steps at least, two for each warp, and so many that
       fewer or more would take longer. Larger tiles take less time for twice as many parts. */
    c->parts = 1;
    const double rounds = ceil((double)tiles[unsplit] / busy);
    const double alone =
        all[unsplit].first + all[unsplit].each_k * K * rounds + t->small_c.round * (rounds - 1);
    double shortest = t->small_c.gain * alone;
    for (int n = unsplit; n <= largest && alone > t->small_c.host; n++) {
        double part = t->small_c.sum_byte * sizeof(TMM_SUM) * M * N * p->batch,
               sums = all[n].each_k * K;
        long long most = tmm__min(busy / tiles[n], steps / 16);
        long long parts = tmm__min(most, (long long)sqrt(sums / part));
        if (parts < 2) continue;
        double time = all[n].first + sums / parts + t->small_c.sum_launch + parts * part;
        if (time < shortest) best = n, c->parts = parts, shortest = time;
    }
    c->time = c->parts > 1 ? shortest : alone;
    c->instance = all[best], c->tiles = tiles[best];
    c->unsplit = all[unsplit], c->unsplit_tiles = tiles[unsplit];
    return TMM_OK;
}

/* As many products as tiles fit in 32 bits. */
static inline tmm_status TMM_FN(gemm__small_launch)(TMM_FN(gemm__product) product)
{
    TMM_FN(gemm__product) *p = &product;
    TMM_FN(small__choice) c;
    const tmm__device *device = tmm__current_device();
    const long long busy = TMM__BUSY(device->processors), steps = (p->K + 7) / 8;
    tmm_status status = TMM_FN(gemm__small_plan)(&c, p);
    if (status != TMM_OK) return status;
    void *partials = NULL;
    if (c.parts > 1)
        partials =
            tmm__workspace((size_t)(c.parts * p->M * p->N * p->batch) * sizeof(TMM_SUM), p->stream);
    if (partials == NULL) c.parts = 1, c.instance = c.unsplit, c.tiles = c.unsplit_tiles;
    /* Where there are many tiles, or few steps, fewer warps to each. */
    int team_log2 = 3;
    while (team_log2 > 0 && ((c.tiles << team_log2) / 8 > 3 * busy || steps < 1 << team_log2))
        team_log2--;
    /* Devices that have less shared memory have no asynchronous copies, and kernels compiled for
       them need less. */
    int bytes = (int)tmm__min(c.instance.bytes, device->shared);
    void *arguments[20];
    int count = TMM_FN(gemm__arguments)(p, arguments);
    arguments[count++] = &p->batch, arguments[count++] = &team_log2, arguments[count++] = &partials;
    status = tmm__launch(c.instance.kernel,
                         dim3((unsigned)(((c.tiles << team_log2) + 7) / 8), (unsigned)c.parts),
                         dim3(256), bytes, arguments, p->stream);
    return TMM_FN(gemm__sum)(status, p, (int)c.parts, partials);
}

static inline tmm_status TMM_FN(gemm__small_takes)(const TMM_FN(gemm__product) * p,
                                                   const TMM_FN(gemm__kernel) * row)
{
    (void)row;
    if (p->K <= 8ll * INT_MAX - 8) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel small: K (%lld) is too large for it", p->K);
}

/* The same for any number of products: tiles are numbered through all of a launch. */
static inline tmm_status TMM_FN(gemm__small)(const TMM_FN(gemm__product) * given,
                                             const TMM_FN(gemm__kernel) * row)
{
    TMM_FN(gemm__product) p = *given;
    (void)row;
    long long tiles = ((p.M - 1) / 16 + 1) * ((p.N - 1) / 16 + 1); /* INT_MAX at most */
    long long most = INT_MAX / tiles, batch = p.batch;
    tmm_status status = TMM_OK;
    for (long long first = 0; first < batch && status == TMM_OK; first += most) {
        p.batch = (unsigned)tmm__min(batch - first, most);
        status = TMM_FN(gemm__small_launch)(p);
        p.A += most * p.strideA, p.B += most * p.strideB, p.C += most * p.strideC;
    }
    return status;
}
#endif
