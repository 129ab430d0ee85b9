/* src/tiledmm/kernels/tensor_float/thin_launch.h. LAUNCHER of floats on tensor cores where one operand is
   thin; the choice between that and the others.
   Uses: kernels/common/finish.cuh, kernels/tensor_float/, launch/, once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__FLOAT_TENSOR
#ifndef TMM__FLOAT_ONCE
/* The instances of KERNEL THIN FLOAT, for hooks and plans, follow all others. */
enum { TMM__THIN_FIRST = TMM__FLOAT_INSTANCES, TMM__THIN_LEAST = 2 };

/* Rounds of blocks that a batch is shared out to, at most. */
enum { TMM__THIN_ROUNDS = 8 };
#endif

/* Instance n: lines of the thin operand in a tile, and shared memory. */
typedef struct tmm__xthin__instance {
    int cols, bytes;
    const void *kernel;
} tmm__xthin__instance;

static inline const tmm__xthin__instance *tmm__xthin_instance(int n)
{
#define TMM__THIN_ROW(pass, name, cols, ...) \
    {cols, TMM_FN(thin_bytes_##name), (const void *)TMM_FN(gemm_float_thin_##name)},
    static const tmm__xthin__instance instances[] = {TMM__THIN_LIST(TMM__THIN_ROW)};
#undef TMM__THIN_ROW
    return &instances[n];
}

/* Tiles of an instance that has `cols` lines of the thin operand in each. */
static inline double tmm__xthin_tiles(const tmm__xproduct *p, int cols)
{
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    return ceil(large / (int)TMM__THIN_LINES) * ceil(thin / cols);
}

/* Bytes of shared memory that an instance takes. INT_MAX: not by this instruction. */
static inline int tmm__xthin_bytes(int n, int instruction)
{
    const tmm__xthin__instance *i = tmm__xthin_instance(n);
    if (instruction == TMM__BY_WGMMA) return i->bytes;
    const int most = TMM__THIN_MMA_MOST(tmm__current_device()->capability);
    if (instruction == TMM__BY_MMA_SYNC && i->cols > most) return INT_MAX;
    return TMM__THIN_MMA_STAGES * (TMM__THIN_STAGE + 192 * i->cols);
}

/* Can KERNEL THIN FLOAT do this? Products whose bits may depend on M, N, the device and how many they are,
   and for which there may be copies of operands. */
static inline int tmm__xthin_fits(const tmm__xproduct *p, int instruction)
{
    const long long thin = tmm__min(p->M, p->N);
    const double steps = ceil(p->K / 32.0), tiles = tmm__xthin_tiles(p, 32) * p->batch;
    const int one = TMM__CUT_K | TMM__PACK;
    return TMM__FLOAT_THIN(instruction != TMM__BY_MULTIPLY_ADD) &&
           ((p->allowed & one) == one || (p->allowed & TMM__ALL_OF_BATCH)) &&
           thin >= TMM__THIN_LEAST && thin <= TMM__THIN_MOST &&
           tiles * (int)TMM__THIN_LINES <= INT_MAX && steps * 2 * (int)TMM__THIN_MOST <= INT_MAX;
}

/* Bytes of a copy of the large operand. */
static inline int tmm__xthin_width(const tmm__xproduct *p, int turned)
{
    const size_t base = (size_t)(turned ? p->A : p->B);
    const long long line = turned ? p->rsA : p->csB, k = turned ? p->csA : p->rsB;
    const long long next = p->batch == 1 ? 0 : turned ? p->strideA : p->strideB;
    return base % 16 == 0 && (k == 1 || line == 1) && k * line % 4 == 0 && next % 4 == 0 ? 16 : 4;
}

/* Products whose planes are in memory: one where all of a batch share the thin operand. */
static inline long long tmm__xthin_products(const tmm__xproduct *p)
{
    return (p->N < p->M ? p->strideB : p->strideA) == 0 ? 1 : p->batch;
}

/* Nanoseconds of instance n, by so many shares of each product. Blocks that find no place begin when
   others end. Rows of the large operand that do not begin at a line of L2 are `off`: a tile's last
   line there is the next one's first, too, and stays in L2 where all tiles have as many shares, so
   that neighbours are at the same k. HUGE_VAL: a batch would take more than 1 GiB. */
static inline double tmm__xthin_time(const tmm__xproduct *p, int n, double shares)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    const double steps = ceil(p->K / 32.0), rate = device->gpu.memory, batch = p->batch;
    const double own = (double)tmm__xthin_products(p);
    const int cols = tmm__xthin_instance(n)->cols, turned = p->N < p->M;
    const long long k = turned ? p->csA : p->rsB; /* from one to the next */
    const int by = TMM__FLOAT_INSTRUCTION(tmm__xfloat_instruction()) != TMM__BY_WGMMA;
    int i = TMM__TUNED_THIN - 1;
    while (i > 0 && t->thin.cols[i] != cols) i--;
    const double tiles = tmm__xthin_tiles(p, cols), part = (double)cols * (int)TMM__THIN_LINES;
    const int alike = fmod(shares, tiles) == 0;
    const double off = k > 1 && k % 32 != 0 && !alike ? t->thin.apart[1] : 1;
    const double apart = tmm__xthin_width(p, turned) < 16 ? t->thin.apart[k == 1 ? 0 : 2] : 1;
    const double planes = own * ceil(thin / cols) * steps * cols * 192;
    const double memory = planes + 4 * batch * (tiles + shares) * part; /* and partial tiles */
    if (p->batch > 1 && memory > 1 << 30) return HUGE_VAL;
    const double rounds = ceil(shares * batch / TMM__BUSY(device->processors));
    const double each = ceil(tiles * steps / shares) * t->thin.step[by][i];
    const double multiply = tmm__in_nanoseconds(rounds * each);
    const double beyond = fmax(planes - device->gpu.l2_bytes, 0) / (t->thin.read * rate);
    const double read = 4 * batch * large * p->K / (t->thin.read * rate) + beyond;
    const double split = (4 * own + 6 * batch * ceil(large / (int)TMM__THIN_LINES)) * thin * p->K;
    const double parts = batch * ((alike ? shares : tiles + shares) * part * 8 + 8 * thin * large);
    const double stored = batch * fmax(tiles - shares, 0) * part * 8; /* amid other tiles */
    const double power =
        multiply > read ? t->thin.power * fmax(multiply - t->tensor.power_from, 0) : 0;
    return t->thin.once + tmm__in_nanoseconds((rounds - 1) * t->thin.again) + power +
           fmax(multiply, read * off) * apart + t->thin.split * split / rate +
           t->thin.beyond * beyond + (t->thin.add * parts + t->thin.add_more * stored) / rate;
}

/* The instance of least time, if that is below plan->time. Each block has equal shares, of four or
   eight steps at least: more partial tiles take longer to add up than is gained. A batch is shared out
   to blocks for some rounds, so that few of them idle in the last one; one product as said, or to as
   many blocks for each tile. */
static inline void tmm__xthin_plan(const tmm__xproduct *p, tmm__plan *plan)
{
    const double processors = TMM__BUSY(tmm__current_device()->processors);
    const int instruction = TMM__FLOAT_INSTRUCTION(tmm__xfloat_instruction());
    for (int i = 0; i < TMM__THIN_INSTANCES * (int)TMM__THIN_ROUNDS; i++) {
        const int n = i / TMM__THIN_ROUNDS, rounds = i % TMM__THIN_ROUNDS + 1;
        const int cols = tmm__xthin_instance(n)->cols, alike = p->batch == 1 && rounds == 2;
        const double tiles = tmm__xthin_tiles(p, cols), units = tiles * ceil(p->K / 32.0);
        const double most = floor((alike ? 1 : rounds) * processors / p->batch);
        double shares = fmax(fmin(floor(units / (cols < 64 ? 4 : 8)), most), 1);
        if (alike) shares = tiles * floor(shares / tiles);
        if (shares < 1 || (p->batch == 1 && rounds > 2)) continue;
        if (tmm__xthin_bytes(n, instruction) > tmm__current_device()->shared) continue;
        double time = tmm__xthin_time(p, n, shares);
        time = TMM__FLOAT_GUESS(TMM__THIN_FIRST + n, time);
        time = TMM__PLAN_GUESS(TMM__THIN_FIRST + n, TMM__PLAN_EVEN, rounds, time);
        if (time >= plan->time) continue;
        plan->time = time, plan->instance = TMM__THIN_FIRST + n;
        plan->kernel = tmm__xthin_instance(n)->kernel;
        plan->cut = TMM__PLAN_EVEN, plan->slices = 1, plan->blocks = (long long)shares;
        plan->turned = p->N < p->M;
        plan->tile_m = plan->turned ? (int)TMM__THIN_LINES : cols;
        plan->tile_n = plan->turned ? cols : (int)TMM__THIN_LINES;
        plan->threads = 384, plan->bytes = tmm__xthin_bytes(n, instruction);
    }
}

/* With KERNEL CONVERT; or KERNEL THIN FLOAT, which reads operands as they are, also prepared ones. */
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

/* All of the job but its ticket, with a workspace that begins at `memory`. Returns the bytes of that. */
static inline size_t tmm__xthin_job(const tmm__xproduct *p, const tmm__plan *plan, char *memory,
                                    tmm__thin_job *job)
{
    enum { BYTES = 256 };
    const long long K = p->K, batch = p->batch, several = batch > 1;
    int log = 0;
    memset((void *)job, 0, sizeof *job);
    const tmm__lines a = {p->A, p->M, p->rsA, p->csA, several * p->strideA},
                     b = {p->B, p->N, p->csB, p->rsB, several * p->strideB};
    tmm__float_job *c = &job->c;
    c->M = p->M, c->N = p->N, c->K = K, c->from_a = a, c->from_b = b;
    c->a.line_blocks = (int)((p->M - 1) / 64 + 1), c->b.line_blocks = (int)((p->N - 1) / 64 + 1);
    c->C = p->C, c->ldc = p->ldc, c->batchC = p->strideC, c->batch = (int)batch;
    c->alpha = TMM__FACTOR(p->alpha), c->beta = p->beta;
#ifdef TMM_WITH_EPILOGUE
    c->after = p->alpha.after;
#endif
    c->scale_min = 0.5f, c->scale_max = 2; /* that of bad lines is 0, all others 1 */
    job->turned = plan->turned;
    job->thin = job->turned ? b : a, job->large = job->turned ? a : b;
    job->cols = job->turned ? plan->tile_n : plan->tile_m;
    job->steps = (int)((K + 31) / 32);
    job->blocks = (int)((job->thin.lines - 1) / job->cols + 1);
    const long long tiles = ((job->large.lines - 1) / TMM__THIN_LINES + 1) * job->blocks;
    job->tiles = (int)tiles, job->units = tiles * job->steps, job->shares = (unsigned)plan->blocks;
    /* So many partial tiles are too many for a thread of KERNEL THIN FLOAT, sum. */
    job->groups = job->shares > 8 * tiles ? 8 : 1;
    job->along_k = job->large.k_stride == 1, job->width = tmm__xthin_width(p, job->turned);
    while (K > 1ll << log) log++;
    job->limit = (unsigned)(127 + (126 - log) / 2) << 7;
    /* Of one product; then of all that have some of their own. */
    const long long planes = (long long)job->blocks * job->steps * job->cols * 192;
    const long long thin = 64ll * (job->turned ? c->b.line_blocks : c->a.line_blocks);
    const long long large = 64ll * (job->turned ? c->a.line_blocks : c->b.line_blocks);
    const long long of_thin = job->thin.product_stride ? batch : 1;
    const long long of_large = job->large.product_stride ? batch : 1;
    job->next_partials = (tiles + job->shares) * job->cols * TMM__THIN_LINES;
    if (of_thin > 1) job->next_planes = planes, job->next_thin = thin;
    if (of_large > 1) job->next_large = large;
    job->scales = of_large * large;
    const size_t scales = (size_t)(of_thin * planes + BYTES - 1) / BYTES * BYTES;
    const size_t marks = scales + (size_t)(of_thin * thin + job->scales) * 4;
    const size_t partials = marks + ((size_t)(of_thin * thin + 1) * 8 + BYTES - 1) / BYTES * BYTES;
    job->planes = (unsigned char *)memory;
    job->large_scales = (float *)(memory + scales);
    job->thin_scales = job->large_scales + job->scales;
    c->a.scales = job->turned ? job->large_scales : job->thin_scales;
    c->b.scales = job->turned ? job->thin_scales : job->large_scales;
    job->marks = (unsigned long long *)(memory + marks);
    job->partials = (float *)(memory + partials);
    return partials + (size_t)(batch * job->next_partials) * 4;
}

static inline tmm_status tmm__xthin_launch(tmm__thin_job job, const tmm__plan *plan,
                                           tmm_stream stream)
{
    void *arguments[] = {&job};
    const long long halves = 2ll * job.steps * job.blocks * job.cols;
    const unsigned batch = (unsigned)job.c.batch;
    const dim3 split((unsigned)((halves - 1) / 256 + 1), job.next_thin > 0 ? batch : 1);
    const unsigned sums = batch * job.tiles * (job.cols / (job.groups > 1 ? 1 : 8));
    tmm_status status = tmm__launch_clusters((const void *)tmm__xgemm_thin_split, split, 256, 1, 1,
                                             0, arguments, stream);
    if (status == TMM_OK)
        status = tmm__launch_clusters(plan->kernel, dim3(job.shares, batch), plan->threads, 1, 1,
                                      plan->bytes, arguments, stream);
    if (status == TMM_OK)
        status = tmm__launch_clusters((const void *)tmm__xgemm_thin_sum, dim3(sums), 256, 1, 1, 0,
                                      arguments, stream);
    return status;
}

/* Products by KERNEL THIN FLOAT; *missing as in gemm__float. */
static inline tmm_status tmm__xthin(const tmm__xproduct *p, const tmm__plan *plan, size_t *missing)
{
    tmm__thin_job job;
    const size_t bytes = tmm__xthin_job(p, plan, NULL, &job);
    char *memory = (char *)tmm__workspace(bytes, p->stream);
    *missing = memory == NULL ? bytes : 0;
    if (memory == NULL) return TMM_OK;
    (void)tmm__xthin_job(p, plan, memory, &job);
    job.ticket = tmm__ticket();
    if (TMM__CLEAR_FLAGS)
        (void)cudaMemsetAsync(job.marks, 0, (size_t)((char *)job.partials - (char *)job.marks),
                              p->stream);
    const tmm_status status = tmm__xthin_launch(job, plan, p->stream);
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
    if (plan->instance >= (int)TMM__THIN_FIRST) return tmm__xthin_job(p, plan, NULL, &job);
    tmm__xhalves(prepared, p->K, halves, ready);
    return tmm__xfloat_place(p, ready, plan, 1, NULL).bytes;
}
#endif
