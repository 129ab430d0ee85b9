/* src/tiledmm/kernels/tensor_float/launch.h. LAUNCHER of floats on tensor cores.
   Uses: kernels/common/finish.cuh, kernels/tensor_float/, launch/, once/.
   Used by: thin_launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__FLOAT_TENSOR
#ifndef TMM__FLOAT_ONCE
enum {
    TMM__CONVERT_HELD_K = 4096,       /* KERNEL CONVERT keeps so many k of its lines in registers */
    TMM__FLOAT_LEAST_K = 64,          /* the bound does not hold for shorter sums */
    TMM__FLOAT_PACE_BYTES = 16,       /* of the workspace, for one counter */
    TMM__FLOAT_PARTS_AREA = 128 * 64, /* of tiles that may be cut */
    TMM__FLOAT_PART_WINDOWS = 2,      /* of 64 k of a part, at least */
    TMM__FLOAT_ROUNDS = 8,            /* of parts, that a block has, at most */
    TMM__FLOAT_SIZE_MAX = INT_MAX - 8192,
    TMM__WGMMA_LINES_MAX = 1 << 24 /* M and N: 2^31 bytes of blocks for 32 k */
};

/* By which instruction products of FP16 are computed. */
typedef enum tmm__float_instruction {
    TMM__BY_MULTIPLY_ADD, /* the portable kernel */
    TMM__BY_MMA_SYNC,
    TMM__BY_WGMMA
} tmm__float_instruction;

#define TMM__CHECK(pass, name, first, second) \
    +(1 << TMM__WGMMA_##first) + (1 << TMM__WGMMA_##second)
static_assert((0 TMM__WGMMA_KERNEL_LIST(TMM__CHECK)) == (1 << TMM__WGMMA_INSTANCES) - 1,
              "TMM__WGMMA_KERNEL_LIST: each instance of TMM__WGMMA_LIST must be in one kernel");
#undef TMM__CHECK

/* An instance of KERNEL TENSOR FLOAT; k_groups: warpgroups that share the k of a tile; blocks: on a
   multiprocessor. */
typedef struct tmm__float_instance {
    const char *name;
    int instruction, tile_m, tile_n, k_groups, bytes, threads, blocks, stages;
} tmm__float_instance;

/* How operands are converted: blocks of a cluster; threads of a block. */
typedef struct tmm__convert_plan {
    int ranks, threads;
} tmm__convert_plan;

/* Where KERNEL TENSOR FLOAT has its workspace; its bytes. */
typedef struct tmm__float_memory {
    tmm__fp16_operand operands[2];
    unsigned *doubt, *pace;
    void *partials;
    unsigned long long *flags;
    size_t bytes;
} tmm__float_memory;
#endif

/* Instance number n, TMM__WGMMA_256x128 and the like. */
static inline const tmm__float_instance *tmm__xfloat_instance(int n)
{
#define TMM__WGMMA_ROW(pass, name, down, cols, stages, k_groups) \
    {#name,                                                      \
     TMM__BY_WGMMA,                                              \
     TMM_FN(wgmma_rows_##name),                                  \
     cols,                                                       \
     k_groups,                                                   \
     TMM_FN(wgmma_bytes_##name),                                 \
     384,                                                        \
     1,                                                          \
     stages},
#define TMM__MMA_ROW(pass, name, parts, stages, blocks) \
    {#name,                                             \
     TMM__BY_MMA_SYNC,                                  \
     TMM_FN(mma_edge_##name),                           \
     TMM_FN(mma_edge_##name),                           \
     1,                                                 \
     TMM_FN(mma_bytes_##name),                          \
     256,                                               \
     blocks,                                            \
     stages},
    static const tmm__float_instance instances[] = {TMM__WGMMA_LIST(TMM__WGMMA_ROW) TMM__MMA_LIST(
        TMM__MMA_ROW){"64x64", TMM__BY_MULTIPLY_ADD, 64, 64, 1, TMM__PORTABLE_BYTES, 256, 2, 1}};
#undef TMM__WGMMA_ROW
#undef TMM__MMA_ROW
    return &instances[n];
}

static inline const void *tmm__xfloat_kernel(int n)
{
#define TMM__WGMMA_CASE(pass, name, first, second) \
    case TMM__WGMMA_##first:                       \
    case TMM__WGMMA_##second:                      \
        return (const void *)TMM_FN(gemm_float_wgmma_##name);
#define TMM__MMA_CASE(pass, name, ...) \
    case TMM__MMA_##name: return (const void *)TMM_FN(gemm_float_mma_##name);
    switch (n) {
        TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_CASE)
        TMM__MMA_LIST(TMM__MMA_CASE)
    }
#undef TMM__WGMMA_CASE
#undef TMM__MMA_CASE
    return (const void *)tmm__xgemm_float_portable;
}

/* The most shared memory that an instance of the same kernel takes. */
static inline int tmm__xfloat_bytes(int n)
{
    int most = 0;
    for (int other = 0; other < TMM__FLOAT_INSTANCES; other++)
        if (tmm__xfloat_kernel(other) == tmm__xfloat_kernel(n) &&
            tmm__xfloat_instance(other)->bytes > most)
            most = tmm__xfloat_instance(other)->bytes;
    return most;
}

/* By which instruction, on this device and in this program? Kernels for wgmma are compiled for
   sm_90a; for others they are empty, and then without the static shared memory of their barriers.
   Kernels for mma.sync are in code for sm_80 or later that is not for sm_90a. */
static inline int tmm__xfloat_instruction(void)
{
    const tmm__device *device = tmm__current_device();
    const tmm__kernel_facts *facts = tmm__compiled(tmm__xfloat_kernel(0));
    if (facts->static_shared > 0)
        return device->capability == 90 && device->shared >= tmm__xfloat_bytes(0)
                   ? TMM__BY_WGMMA
                   : TMM__BY_MULTIPLY_ADD;
    return device->capability >= 80 && facts->ptx_version >= 80 &&
                   device->shared >= tmm__xfloat_bytes(TMM__WGMMA_INSTANCES)
               ? TMM__BY_MMA_SYNC
               : TMM__BY_MULTIPLY_ADD;
}

/* The least magnitude that an element which is not zero may have after scaling, for its line not to
   be wide. */
static inline float tmm__xleast_element(long long K)
{
    /* The largest t with 40.2 + 16.2 2^t + 5 4^t + n - 1 <= K + 2, n = K / 32 for windows of 32 k, or
       of 64 k that are added in parts: bench/notes/tensor_float.md. */
    static const int from[] = {93, 188, 503, 1628, 5860, 22250};
    int t = 0;
    while (t < (int)(sizeof from / sizeof *from) && K >= from[t]) t++;
    return ldexpf(1, -14 - t);
}

/* The bounds of the product of the scales of a row and a column. */
static inline void tmm__xscale_bounds(long long K, float *scale_min, float *scale_max)
{
    int log = 0;
    while (K > 1ll << log) log++;
    *scale_min = ldexpf(1, -120);
    *scale_max = ldexpf(1, 97 - log);
}

/* What the sum of an element with wide lines must be at least, before it is scaled back, for the
   bound to hold: bench/notes/tensor_float.md derives it. About 40 for long sums. */
static inline float tmm__xdoubt_below(long long K)
{
    double windows = ceil(K / 32.0);
    double least = (37.0 * K + 322) / (K + 2 - 48.2 - (windows - 1));
    return (float)(1.01 * least * (1 + (K + 2) / 16777216.0));
}

/* Describes `lines` lines of `products` products, as KERNEL CONVERT will leave them in memory from
   *offset on, which is moved behind them. */
static inline tmm__fp16_operand tmm__xfp16_operand(char *memory, size_t *offset, long long lines,
                                                   long long K, long long products)
{
    tmm__fp16_operand x;
    x.line_blocks = (int)((lines + 63) / 64);
    x.k_blocks = (int)((K + 63) / 64 * 2);
    size_t blocks = (size_t)products * x.k_blocks * x.line_blocks * TMM__BLOCK_BYTES;
    x.blocks = (unsigned char *)memory + *offset;
    x.scales = (float *)(memory + *offset + blocks);
    *offset += blocks + ((size_t)products * x.line_blocks * 256 + 1023) / 1024 * 1024;
    return x;
}

/* Bytes for the bits of doubtful elements: see tmm__doubt_word. */
static inline size_t tmm__xdoubt_bytes(long long M, long long N)
{
    return ((size_t)M * (size_t)((N + 15) / 16) * 4 + 15) / 16 * 16;
}

/* How `groups` of 8 lines are converted: a block has as many threads as hold its lines in registers,
   or twice as many where all blocks fit at once. Longer lines are shared by clusters. */
static inline tmm__convert_plan tmm__xconvert_plan(long long K, int groups)
{
    const int wgmma = tmm__xfloat_instruction() == TMM__BY_WGMMA;
    tmm__convert_plan plan = {1, 128};
    if (wgmma && K > TMM__CONVERT_HELD_K && K <= 4 * TMM__CONVERT_HELD_K) {
        plan.ranks = TMM__MOST_CLUSTER;
        plan.threads =
            (int)(K - 1) / (4 * plan.ranks) / 32 * 32 + 32; /* with 32 k of a line each */
        return plan;
    }
    while (plan.threads < 1024 && 4 * plan.threads < K) plan.threads *= 2;
    if (plan.threads < 512 && 2 * groups * plan.threads <= 1024 * tmm__current_device()->processors)
        plan.threads *= 2;
    return plan;
}

/* Nanoseconds of KERNEL CONVERT for operands that are not ready: rounds of all blocks that fit at once,
   each with what a block waits for; and 12 bytes an element, those that the product reads among them.
   What L2 does not hold takes twice as long; lines that are read twice are 4 bytes more. */
static inline double tmm__xconvert_time(const tmm__xproduct *p)
{
    const double most_threads = 1024; /* on a multiprocessor */
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    tmm__xproduct of = *p;
    if (p->allowed & TMM__READY_A) of.M = 0;
    if (p->allowed & TMM__READY_B) of.N = 0;
    if (of.M + of.N == 0) return 0;
    const int groups = (int)(8 * (ceil(of.M / 64.0) + ceil(of.N / 64.0)));
    const tmm__convert_plan plan = tmm__xconvert_plan(p->K, groups);
    const double rounds =
        (double)groups * plan.ranks * p->batch * plan.threads / (most_threads * device->processors);
    const tmm__load load = tmm__xload(&of, TMM__COST_TENSOR, (int)p->M, (int)p->N);
    const int again = p->K > 32ll * plan.threads / 8 * plan.ranks;
    double bytes = 12 / sizeof(TMM_TYPE) * load.bytes * (again ? 4 / 3.0 : 1);
    bytes += fmax(bytes - device->gpu.l2_bytes, 0);
    return device->gpu.launch +
           tmm__in_nanoseconds(t->fp16.convert + fmax(rounds, 1) * t->fp16.convert_round) +
           bytes / (t->fp16.convert_rate * device->gpu.memory);
}

/* Launches KERNEL CONVERT for op(A) and op(B); groups of 8 lines each, none: that one is there
   already. */
static inline tmm_status tmm__xconvert(long long K, const tmm__lines from[2],
                                       const tmm__fp16_operand to[2], const int groups[2],
                                       unsigned batch, tmm_stream stream)
{
    const int all = groups[0] + groups[1];
    if (all == 0) return TMM_OK;
    tmm__convert_plan plan = tmm__xconvert_plan(K, all);
    tmm__lines from_a = from[0], from_b = from[1];
    tmm__fp16_operand to_a = to[0], to_b = to[1];
    int depth = (int)K, groups_A = groups[0];
    float least_element = tmm__xleast_element(K);
    const void *kernel = (const void *)tmm__xgemm_convert;
    void *arguments[] = {&depth,  &least_element, &groups_A, &plan.ranks,
                         &from_a, &to_a,          &from_b,   &to_b};
    /* Loads under way need room in L1, of which the multiplication leaves 28 KB. */
    const int instruction = tmm__xfloat_instruction(), early = instruction != TMM__BY_MULTIPLY_ADD;
    if (instruction == TMM__BY_WGMMA) tmm__prefer_l1(kernel);
    return tmm__launch_clusters(kernel, dim3(all * plan.ranks, batch), plan.threads, plan.ranks,
                                early, 0, arguments, stream);
}

/* Rows of C that do not begin at a sector of 32 bytes, or by mma.sync, cannot be stored by 16. */
static inline int tmm__xfloat_odd(const TMM_OUT *C, long long ldc, int instruction)
{
    const int bytes = instruction == TMM__BY_WGMMA ? 32 : 16;
    return (((size_t)C | (size_t)ldc * sizeof(TMM_TYPE)) & (bytes - 1)) != 0;
}

/* Clocks of `tiles` tiles in `parts` parts of so many windows by an instance. One that was not
   measured is given the numbers of the first, by the area. */
static inline double tmm__xfloat_clocks(const tmm__float_instance *i, double tiles, int parts,
                                        double windows, int odd)
{
    const tmm__costs *t = tmm__tuned();
    const int by = i->instruction == TMM__BY_MMA_SYNC;
    const double processors = tmm__current_device()->processors;
    const double area = (double)i->tile_m * i->tile_n, share = tiles * parts / processors;
    const double rounds = ceil(share / i->blocks);
    const int(*tile)[3] = t->fp16.tile[by];
    int n = TMM__TUNED_FLOAT - 1;
    while (n >= 0 &&
           (tile[n][0] != i->tile_m || tile[n][1] != i->tile_n || tile[n][2] != i->k_groups))
        n--;
    const double more = n >= 0 ? 1 : i->blocks * area / (tile[0][0] * tile[0][1]);
    if (n < 0) n = 0;
    const double window = t->fp16.window[by][n] + t->fp16.busy[by][n] * fmin(share, 1);
    double each = more * (windows * window + t->fp16.tile_more[by][n]);
    if (odd) each += i->blocks * area * t->fp16.odd[by];
    double time = t->fp16.once[by] + rounds * each;
    const double several = 1.15; /* what parts of a block must gain at least: the model errs */
    if (parts > 1 && rounds > 1)
        time = several * (time + rounds * t->fp16.part[1] + parts * t->fp16.add[1]);
    else if (parts > 1)
        time += t->fp16.part[0] + (parts - 1) * t->fp16.add[0];
    return time;
}

/* The instance for this instruction that takes least time, and in how many parts the k of each tile
   are cut, of plan->s.steps blocks of 32 k each. Returns nanoseconds. Parts are for one product, by
   wgmma where all columns go at once; where warpgroups share k, a block has no second one. */
static inline double tmm__xfloat_plan(const tmm__xproduct *p, int instruction, tmm__plan *best)
{
    const long long M = p->M, N = p->N, K = p->K, batch = p->batch;
    const int cut = (p->allowed & TMM__CUT_K) != 0;
    const int odd = tmm__xfloat_odd(p->C, p->ldc, instruction);
    const double processors = tmm__current_device()->processors, windows = ceil(K / 64.0);
    double least = 0;
    best->instance = TMM__PORTABLE_64x64;
    for (int n = 0; n < TMM__PORTABLE_64x64; n++) {
        const tmm__float_instance *i = tmm__xfloat_instance(n);
        if (i->instruction != instruction) continue;
        double area = (double)i->tile_m * i->tile_n;
        double tiles = ceil((double)M / i->tile_m) * ceil((double)N / i->tile_n) * batch;
        /* Blocks whose warpgroups share k have one tile each. */
        if (i->k_groups > 1 && (!cut || batch > 1 || tiles > processors)) continue;
        const int small = instruction == TMM__BY_WGMMA && area <= (int)TMM__FLOAT_PARTS_AREA;
        const int most = small && cut && batch == 1 ? TMM__FLOAT_PARTS : 1;
        for (int parts = 1; parts <= most; parts++) {
            const double of_part = ceil(windows / parts), rounds = tiles * parts / processors;
            if (parts > 1 && (of_part < (int)TMM__FLOAT_PART_WINDOWS ||
                              rounds > (i->k_groups > 1 ? 1 : (int)TMM__FLOAT_ROUNDS)))
                break;
            if (of_part * (parts - 1) >= windows) continue; /* the last would have no k */
            double time = tmm__xfloat_clocks(i, tiles, parts, of_part, odd);
            time = TMM__FLOAT_GUESS(n, time);
            time = TMM__PLAN_GUESS(n, parts > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE, parts, time);
            if (best->instance != TMM__PORTABLE_64x64 && time >= least) continue;
            least = time;
            best->instance = n, best->slices = parts, best->s.steps = (int)(2 * of_part);
            best->cut = parts > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
        }
    }
    const tmm__float_instance *i = tmm__xfloat_instance(best->instance);
    best->kernel = tmm__xfloat_kernel(best->instance);
    best->tile_m = i->tile_m, best->tile_n = i->tile_n;
    best->threads = i->threads, best->bytes = i->bytes;
    return tmm__in_nanoseconds(least);
}

/* What KERNEL TENSOR FLOAT can do: not short sums, for which the bound would not hold, nor sizes
   beyond 32 bits. */
static inline int tmm__xconverted_fits(long long M, long long N, long long K)
{
    long long most = TMM__WGMMA_LINES_MAX;
    if ((M > most || N > most) && tmm__xfloat_instruction() == TMM__BY_WGMMA) return 0;
    return K >= TMM__FLOAT_LEAST_K && M <= TMM__FLOAT_SIZE_MAX && N <= TMM__FLOAT_SIZE_MAX &&
           K <= TMM__FLOAT_SIZE_MAX && ceil(M / 64.0) * ceil(N / 64.0) <= INT_MAX;
}

/* It has to be asked for. By mma.sync only where FP16 with sums in FP32 has its full rate, unlike on
   devices for displays. */
static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const int instruction = tmm__xfloat_instruction();
    const int capability = tmm__current_device()->capability;
    return (p->allowed & TMM__SPLIT) && (TMM_SUM)TMM__FACTOR(p->alpha) != 0 &&
           tmm__xconverted_fits(p->M, p->N, p->K) &&
           (instruction == TMM__BY_WGMMA ||
            (instruction == TMM__BY_MMA_SYNC &&
             (capability == 80 || capability == 90 || capability == 100))) &&
           tmm__xfast_competes(p, row);
}

/* In type/dispatch.h. */
static inline tmm_status tmm__xsplit(const tmm__xproduct *p, const tmm__plan *plan);

static inline tmm_status tmm__xtensor(const tmm__xproduct *p, const tmm__plan *plan)
{
    return tmm__xsplit(p, plan);
}

/* Multiplies operands that are converted: all of `job` is set but its instance, tiles and
   bounds. */
static inline tmm_status tmm__xfloat_multiply(tmm__float_job job, const tmm__plan *plan,
                                              tmm_stream stream)
{
    const long long M = job.M, N = job.N, K = job.K;
    double processors = tmm__current_device()->processors;
    const tmm__float_instance *i = tmm__xfloat_instance(plan->instance);
    job.instance = plan->instance, job.tile_m = i->tile_m, job.tile_n = i->tile_n;
    job.parts = plan->slices, job.s.steps = plan->s.steps;
    job.s.tiles_down = (int)((M - 1) / i->tile_m + 1);
    job.s.tiles_across = (int)((N - 1) / i->tile_n + 1);
    double tiles = (double)job.s.tiles_down * job.s.tiles_across * job.batch * job.parts;
    double places = i->blocks * processors;
    int blocks = (int)(tiles < places ? tiles : places);
    tmm__xscale_bounds(K, &job.scale_min, &job.scale_max);
    job.doubt_below = tmm__xdoubt_below(K);
    /* Blocks keep together where they have several large tiles and L2 does not hold all they
       read. */
    if (i->instruction == TMM__BY_WGMMA && i->tile_m * i->tile_n > 128 * 64 && tiles > processors &&
        4.0 * (M + N) * K > TMM__FLOAT_L2_BYTES) {
        cudaError_t error = cudaMemsetAsync(job.pace, 0, TMM__FLOAT_PACE_BYTES, stream);
        if (error != cudaSuccess) return tmm__cuda(error, "cudaMemsetAsync");
    } else {
        job.pace = NULL;
    }
    void *arguments[] = {&job};
    const int early = tmm__xfloat_instruction() != TMM__BY_MULTIPLY_ADD;
    return tmm__launch_clusters(tmm__xfloat_kernel(job.instance), dim3(blocks), i->threads, 1,
                                early, i->bytes, arguments, stream);
}

/* Parts in all, if tiles are cut, which is for one product; else 0. */
static inline size_t tmm__xfloat_pieces(const tmm__xproduct *p, const tmm__plan *plan)
{
    const long long tiles = ((p->M - 1) / plan->tile_m + 1) * ((p->N - 1) / plan->tile_n + 1);
    return plan->slices > 1 ? (size_t)(plan->slices * tiles) : 0;
}

/* What so many products at a time take: operands that are not ready, from `memory` on, bits of
   doubtful elements, a counter, parts of tiles and a flag for each. */
static inline tmm__float_memory tmm__xfloat_place(const tmm__xproduct *p,
                                                  const tmm__fp16_operand *const *ready,
                                                  const tmm__plan *plan, unsigned products,
                                                  char *memory)
{
    tmm__float_memory place;
    memset(&place, 0, sizeof place);
    for (int i = 0; i < 2; i++) {
        const long long lines = i == 0 ? p->M : p->N, stride = i == 0 ? p->strideA : p->strideB;
        if (ready != NULL && ready[i] != NULL)
            place.operands[i] = *ready[i];
        else
            place.operands[i] = tmm__xfp16_operand(memory, &place.bytes, lines, p->K,
                                                   p->batch > 1 && stride ? products : 1);
    }
    const size_t doubt = tmm__xdoubt_bytes(p->M, p->N) * products;
    const size_t pieces = tmm__xfloat_pieces(p, plan);
    place.doubt = (unsigned *)(memory + place.bytes);
    place.pace = (unsigned *)(memory + place.bytes + doubt);
    place.bytes += doubt + TMM__FLOAT_PACE_BYTES;
    place.partials = memory + place.bytes;
    place.bytes += pieces * plan->tile_m * plan->tile_n * sizeof(float);
    place.flags = (unsigned long long *)(memory + place.bytes);
    place.bytes += pieces * sizeof *place.flags;
    return place;
}

/* `batch` products, 65535 at most, with KERNEL TENSOR FLOAT. `ready`: op(A) and op(B) as they are
   converted already, or NULL. *missing: the bytes of a workspace that the pool could not give, then
   nothing is done; else 0. */
static inline tmm_status tmm__xfloat(const tmm__xproduct *p, const tmm__plan *plan,
                                     const tmm__fp16_operand *const *ready, size_t *missing)
{
    const long long M = p->M, N = p->N, K = p->K;
    const unsigned batch = p->batch;
    tmm_stream stream = p->stream;
    tmm__lines from[2] = {{p->A, M, p->rsA, p->csA, batch > 1 ? p->strideA : 0},
                          {p->B, N, p->csB, p->rsB, batch > 1 ? p->strideB : 0}};
    /* Products at a time: all that take 1 GiB, or one. */
    size_t each = tmm__xdoubt_bytes(M, N);
    for (int i = 0; i < 2; i++) (void)tmm__xfp16_operand(NULL, &each, from[i].lines, K, 1);
    unsigned most = (unsigned)tmm__min(batch, (long long)((1ull << 30) / each) + 1);
    const size_t bytes = tmm__xfloat_place(p, ready, plan, most, NULL).bytes;
    char *memory = (char *)tmm__workspace(bytes, stream);
    *missing = memory == NULL ? bytes : 0;
    if (memory == NULL) return TMM_OK;
    const tmm__float_memory place = tmm__xfloat_place(p, ready, plan, most, memory);
    int groups[2];
    for (int i = 0; i < 2; i++)
        groups[i] = ready != NULL && ready[i] != NULL ? 0 : 8 * place.operands[i].line_blocks;
    tmm_status status = TMM_OK;
    for (unsigned first = 0; first < batch && status == TMM_OK; first += most) {
        unsigned products = (unsigned)tmm__min(batch - first, most);
        from[0].X = p->A + first * from[0].product_stride;
        from[1].X = p->B + first * from[1].product_stride;
        tmm__float_job job;
        memset(&job, 0, sizeof job);
        job.M = M, job.N = N, job.K = K;
        job.from_a = from[0], job.from_b = from[1];
        job.a = place.operands[0], job.b = place.operands[1];
        job.C = p->C + first * p->strideC, job.ldc = p->ldc, job.batchC = p->strideC;
        job.alpha = TMM__FACTOR(p->alpha), job.beta = p->beta, job.batch = (int)products;
#ifdef TMM_WITH_EPILOGUE
        job.after = p->alpha.after, job.after.product += first;
#endif
        job.doubt = place.doubt, job.doubt_pitch = (int)((N + 15) / 16);
        job.pace = place.pace, job.bf16x6 = TMM__FLOAT_BF16X6(p->allowed & TMM__CUT_K);
        job.s.partials = place.partials, job.s.flags = place.flags, job.s.ticket = tmm__ticket();
        if (TMM__CLEAR_FLAGS && plan->slices > 1)
            (void)cudaMemsetAsync(job.s.flags, 0, tmm__xfloat_pieces(p, plan) * sizeof *job.s.flags,
                                  stream);
        status = tmm__xconvert(K, from, place.operands, groups, products, stream);
        if (status == TMM_OK) status = tmm__xfloat_multiply(job, plan, stream);
    }
    (void)cudaFreeAsync(memory, stream);
    return status;
}

/* What type/ asks of a kernel that converts operands, here of KERNEL TENSOR FLOAT: the most lines or
   k; bytes of what is kept of an operand; its conversion; a product. */
enum { tmm__xconverted_most = TMM__FLOAT_SIZE_MAX };

static inline size_t tmm__xprepared_bytes(long long lines, long long K)
{
    size_t bytes = 0;
    (void)tmm__xfp16_operand(NULL, &bytes, lines, K, 1);
    return bytes;
}

static inline tmm_status tmm__xconvert_once(const tmm_prepared *request, char *memory,
                                            tmm_stream stream)
{
    const int along_k = (request->op == TMM_OP_N) != request->is_B;
    const long long ld = request->ld;
    const tmm__lines from = {(const float *)request->X, request->lines, along_k ? ld : 1,
                             along_k ? 1 : ld, 0};
    size_t offset = 0;
    const tmm__fp16_operand to = tmm__xfp16_operand(memory, &offset, request->lines, request->K, 1);
    const tmm__lines both[2] = {from, from};
    const tmm__fp16_operand operands[2] = {to, to};
    const int groups[2] = {8 * to.line_blocks, 0};
    return tmm__xconvert(request->K, both, operands, groups, 1, stream);
}

/* Operands as tmm_?gemm_prepare_A and _B left them, or NULL. */
static inline void tmm__xhalves(const tmm_prepared *const *prepared, long long K,
                                tmm__fp16_operand halves[2], const tmm__fp16_operand *ready[2])
{
    for (int i = 0; i < 2; i++) {
        const tmm_prepared *from = prepared == NULL ? NULL : prepared[i];
        size_t offset = 0;
        ready[i] = from == NULL ? NULL : &halves[i];
        if (from == NULL) continue;
        halves[i] = tmm__xfp16_operand((char *)from->memory, &offset, from->lines, K, 1);
    }
}
#endif
