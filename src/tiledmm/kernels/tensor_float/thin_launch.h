/* src/tiledmm/kernels/tensor_float/thin_launch.h. LAUNCHER of floats on tensor cores where one operand is
   thin; the choice between that and the others.
   Uses: kernels/tensor_float/, launch/, once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__FLOAT_TENSOR
#ifndef TMM__FLOAT_ONCE
/* The instances of KERNEL THIN FLOAT, for hooks and plans, follow all others. */
enum { TMM__THIN_FIRST = TMM__FLOAT_INSTANCES, TMM__THIN_LEAST = 2 };

/* Where KERNEL THIN FLOAT has its workspace, by bytes from its begin; and all bytes. */
typedef struct tmm__thin_memory {
    size_t scales, marks, partials, bytes;
} tmm__thin_memory;
#endif

static inline const void *tmm__xthin_kernel(int n)
{
#define TMM__THIN_KERNEL(pass, name, ...) (const void *)TMM_FN(gemm_float_thin_##name),
    static const void *const kernels[] = {TMM__THIN_LIST(TMM__THIN_KERNEL)};
#undef TMM__THIN_KERNEL
    return kernels[n];
}

/* Lines of the thin operand in a tile, and shared memory, of instance n. */
static inline int tmm__xthin_cols(int n)
{
#define TMM__THIN_ROW(pass, name, cols, ...) cols,
    static const int cols[] = {TMM__THIN_LIST(TMM__THIN_ROW)};
#undef TMM__THIN_ROW
    return cols[n];
}

static inline int tmm__xthin_bytes(int n)
{
#define TMM__THIN_ROW(pass, name, ...) TMM_FN(thin_bytes_##name),
    static const int bytes[] = {TMM__THIN_LIST(TMM__THIN_ROW)};
#undef TMM__THIN_ROW
    return bytes[n];
}

/* Tiles of an instance that has `cols` lines of the thin operand in each. */
static inline double tmm__xthin_tiles(const tmm__xproduct *p, int cols)
{
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    return ceil(large / (int)TMM__THIN_LINES) * ceil(thin / cols);
}

/* Can KERNEL THIN FLOAT do this? One product, whose bits may depend on M, N and the device, and for which
   there may be other copies of operands than the caller has prepared. */
static inline int tmm__xthin_fits(const tmm__xproduct *p, int instruction)
{
    const long long thin = tmm__min(p->M, p->N);
    const double steps = ceil(p->K / 32.0);
    return TMM__FLOAT_THIN(instruction == TMM__BY_WGMMA) && p->batch == 1 &&
           (p->allowed & TMM__CUT_K) && (p->allowed & TMM__PACK) && thin >= TMM__THIN_LEAST &&
           thin <= TMM__THIN_MOST && tmm__xthin_tiles(p, 32) * (int)TMM__THIN_LINES <= INT_MAX &&
           steps * 2 * (int)TMM__THIN_MOST <= INT_MAX;
}

/* Bytes of a copy of the large operand. */
static inline int tmm__xthin_width(const tmm__xproduct *p, int turned)
{
    const size_t base = (size_t)(turned ? p->A : p->B);
    const long long line = turned ? p->rsA : p->csB, k = turned ? p->csA : p->rsB;
    if (k == 1) return base % 16 == 0 && line % 4 == 0 ? 16 : 4;
    return line == 1 && base % 8 == 0 && k % 2 == 0 ? 8 : 4;
}

/* The instance of least time, if that is below plan->time. Each block has equal shares, of four or
   eight steps at least: more partial tiles take longer to add up than is gained. */
static inline void tmm__xthin_plan(const tmm__xproduct *p, tmm__plan *plan)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    const double steps = ceil(p->K / 32.0), rate = device->gpu.memory;
    const double processors = TMM__BUSY(device->processors);
    const int width = tmm__xthin_width(p, p->N < p->M);
    for (int n = 0; n < TMM__THIN_INSTANCES; n++) {
        int i = TMM__TUNED_THIN - 1;
        const int cols = tmm__xthin_cols(n);
        while (i > 0 && t->thin.cols[i] != cols) i--;
        const double tiles = tmm__xthin_tiles(p, cols), units = tiles * steps;
        const double shares = fmax(fmin(floor(units / (cols < 64 ? 4 : 8)), processors), 1);
        const double multiply = tmm__in_nanoseconds(ceil(units / shares) * t->thin.step[i]);
        const double read = 4 * large * p->K / (t->thin.read * rate);
        const double split = (4 + 6 * ceil(large / (int)TMM__THIN_LINES)) * thin * p->K;
        const double parts = (tiles + shares) * cols * (int)TMM__THIN_LINES * 8 + 8 * thin * large;
        double time = t->thin.once + fmax(multiply, read) * (width < 16 ? t->thin.apart : 1);
        time += t->thin.split * split / rate + t->thin.add * parts / rate;
        time = TMM__FLOAT_GUESS(TMM__THIN_FIRST + n, time);
        time = TMM__PLAN_GUESS(TMM__THIN_FIRST + n, TMM__PLAN_EVEN, 1, time);
        if (time >= plan->time) continue;
        plan->time = time, plan->instance = TMM__THIN_FIRST + n;
        plan->kernel = tmm__xthin_kernel(n);
        plan->cut = TMM__PLAN_EVEN, plan->slices = 1, plan->blocks = (long long)shares;
        plan->turned = p->N < p->M;
        plan->tile_m = plan->turned ? (int)TMM__THIN_LINES : cols;
        plan->tile_n = plan->turned ? cols : (int)TMM__THIN_LINES;
        plan->threads = 384, plan->bytes = tmm__xthin_bytes(n);
    }
}

/* With KERNEL CONVERT, or KERNEL THIN FLOAT. */
static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *plan)
{
    (void)row;
    const int instruction = TMM__FLOAT_INSTRUCTION(tmm__xfloat_instruction());
    const double time = tmm__xfloat_plan(p, instruction, plan);
    plan->time = tmm__xconvert_time(p) + tmm__current_device()->gpu.launch + time;
    if (plan->instance == TMM__PORTABLE_64x64) plan->time = HUGE_VAL; /* nobody measured it */
    if (tmm__xthin_fits(p, instruction)) tmm__xthin_plan(p, plan);
}

/* All of the job but where its workspace is, and where things are in that. */
static inline tmm__thin_memory tmm__xthin_job(const tmm__xproduct *p, const tmm__plan *plan,
                                              tmm__thin_job *job)
{
    enum { BYTES = 256 };
    tmm__thin_memory at;
    const long long K = p->K;
    int log = 0;
    memset((void *)job, 0, sizeof *job);
    const tmm__lines a = {p->A, p->M, p->rsA, p->csA, 0}, b = {p->B, p->N, p->csB, p->rsB, 0};
    tmm__float_job *c = &job->c;
    c->M = p->M, c->N = p->N, c->K = K, c->from_a = a, c->from_b = b;
    c->C = p->C, c->ldc = p->ldc, c->alpha = p->alpha, c->beta = p->beta, c->batch = 1;
    c->scale_min = 0.5f, c->scale_max = 2; /* that of bad lines is 0, all others 1 */
    job->turned = plan->turned;
    job->thin = job->turned ? b : a, job->large = job->turned ? a : b;
    job->cols = job->turned ? plan->tile_n : plan->tile_m;
    job->steps = (int)((K + 31) / 32);
    job->blocks = (int)((job->thin.lines - 1) / job->cols + 1);
    const long long tiles = ((job->large.lines - 1) / TMM__THIN_LINES + 1) * job->blocks;
    job->units = tiles * job->steps, job->shares = (unsigned)plan->blocks;
    /* So many partial tiles are too many for a thread of KERNEL THIN FLOAT, sum. */
    job->groups = job->shares > 8 * tiles ? 8 : 1;
    job->along_k = job->large.k_stride == 1, job->width = tmm__xthin_width(p, job->turned);
    while (K > 1ll << log) log++;
    job->limit = (unsigned)(127 + (126 - log) / 2) << 7;
    const size_t planes = (size_t)job->blocks * job->steps * job->cols * 192;
    at.scales = (planes + BYTES - 1) / BYTES * BYTES;
    at.marks = at.scales + ((size_t)(p->M + p->N) * 4 + BYTES - 1) / BYTES * BYTES;
    at.partials = at.marks + ((size_t)(job->thin.lines + 1) * 8 + BYTES - 1) / BYTES * BYTES;
    at.bytes = at.partials + (size_t)(tiles + job->shares) * job->cols * TMM__THIN_LINES * 4;
    return at;
}

/* A product by KERNEL THIN FLOAT; *missing as in gemm__float. */
static inline tmm_status tmm__xthin(const tmm__xproduct *p, const tmm__plan *plan, size_t *missing)
{
    tmm__thin_job job;
    const tmm__thin_memory at = tmm__xthin_job(p, plan, &job);
    char *memory = (char *)tmm__workspace(at.bytes, p->stream);
    *missing = memory == NULL ? at.bytes : 0;
    if (memory == NULL) return TMM_OK;
    job.planes = (unsigned char *)memory;
    job.c.a.scales = (float *)(memory + at.scales), job.c.b.scales = job.c.a.scales + p->M;
    job.thin_scales = job.turned ? job.c.b.scales : job.c.a.scales;
    job.large_scales = job.turned ? job.c.a.scales : job.c.b.scales;
    job.marks = (unsigned long long *)(memory + at.marks), job.ticket = tmm__ticket();
    job.partials = (float *)(memory + at.partials);
    if (TMM__CLEAR_FLAGS) (void)cudaMemsetAsync(job.marks, 0, at.partials - at.marks, p->stream);
    void *arguments[] = {&job};
    const long long halves = 2ll * job.steps * job.blocks * job.cols;
    const long long tiles = job.units / job.steps;
    const unsigned split = (unsigned)((halves - 1) / 256 + 1);
    const unsigned sums = (unsigned)(tiles * (job.cols / (job.groups > 1 ? 1 : 8)));
    tmm_status status = tmm__launch_clusters((const void *)tmm__xgemm_thin_split, dim3(split), 256,
                                             1, 1, 0, arguments, p->stream);
    if (status == TMM_OK)
        status = tmm__launch_clusters(plan->kernel, dim3(job.shares), plan->threads, 1, 1,
                                      plan->bytes, arguments, p->stream);
    if (status == TMM_OK)
        status = tmm__launch_clusters((const void *)tmm__xgemm_thin_sum, dim3(sums), 256, 1, 1, 0,
                                      arguments, p->stream);
    (void)cudaFreeAsync(memory, p->stream);
    return status;
}

/* Products, as gemm__float. `prepared`: operands of one that are prepared, or NULL. */
static inline tmm_status tmm__xconverted(const tmm__xproduct *p, const tmm__plan *plan,
                                         const tmm_prepared *const *prepared, size_t *missing)
{
    tmm__fp16_operand halves[2];
    const tmm__fp16_operand *ready[2];
    if (plan->instance >= (int)TMM__THIN_FIRST) return tmm__xthin(p, plan, missing);
    tmm__xhalves(prepared, p->K, halves, ready);
    return tmm__xfloat(p, plan, ready, missing);
}

/* Bytes of the workspace of such a product. */
static inline size_t tmm__xconverted_bytes(const tmm__xproduct *p, const tmm__plan *plan,
                                           const tmm_prepared *const *prepared)
{
    tmm__fp16_operand halves[2];
    const tmm__fp16_operand *ready[2];
    tmm__thin_job job;
    if (plan->instance >= (int)TMM__THIN_FIRST) return tmm__xthin_job(p, plan, &job).bytes;
    tmm__xhalves(prepared, p->K, halves, ready);
    return tmm__xfloat_place(p, ready, plan, 1, NULL).bytes;
}
#endif
