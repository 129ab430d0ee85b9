/* src/tiledmm/kernels/tensor_int8/launch.h. LAUNCHER of KERNEL TENSOR INT8.
   Uses: kernels/common/finish.cuh, kernels/tensor_int8/, launch/, once/.
   Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
static inline tmm_status tmm__xint8_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p, (void)row;
    if (TMM__DOUBLE_TENSOR) return TMM_OK;
    if (TMM__IS_DOUBLE)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor_int8 is not in this program: define TMM_DOUBLE_TENSOR "
                         "before tiledmm.cuh is included");
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel tensor_int8 is for double alone");
}

#if TMM__DOUBLE_TENSOR
#ifndef TMM__DOUBLE_ONCE
enum {
    TMM__INT8_K_LEAST = 16,              /* shorter sums have no room for a proof */
    TMM__INT8_SIZE_MAX = INT_MAX - 8192, /* of M, N */
    TMM__INT8_LOOKS = 256                /* pieces of C that the choice of moduli looks at */
};

/* An instance of KERNEL TENSOR INT8 by mma.sync: columns of its tile, bytes of shared memory. */
typedef struct tmm__int8_instance {
    int cols, bytes;
    const void *kernel;
} tmm__int8_instance;
#endif

/* A product, or a part of one that is done at a time, and its workspace. */
typedef struct tmm__xint8_part {
    tmm__xproduct p;
    tmm__int8_layout layout;
    char *memory;
    tmm__int8_norm *norms;
    tmm__int8_lines from[2];
    tmm__int8_operand operands[2];
    tmm__int8_residues residues;
    tmm__int8_sums sums;
} tmm__xint8_part;

/* All kernels of this family wait themselves for the launch before them. */
static inline tmm_status tmm__xint8_launch(const void *kernel, dim3 grid, int threads,
                                           void **arguments, tmm_stream stream)
{
    return tmm__launch_clusters(kernel, grid, threads, 1, 1, 0, arguments, stream);
}

/* Instance number n, NULL behind the last. */
static inline const tmm__int8_instance *tmm__xint8_instance(int n)
{
#define TMM__ROW(pass, name, cols) \
    {4 * cols, (int)TMM_FN(gemm_int8_mma_bytes_##name), (const void *)TMM_FN(gemm_int8_mma_##name)},
    static const tmm__int8_instance instances[] = {TMM__INT8_MMA_LIST(TMM__ROW)};
#undef TMM__ROW
    return n < (int)(sizeof instances / sizeof *instances) ? &instances[n] : NULL;
}

/* The instance whose rounds over all multiprocessors take least; NULL: none has the shared
   memory. A tile of 128 columns takes 1.15 / 2 of the time of one of 256. */
static inline const tmm__int8_instance *tmm__xint8_best(double down, double pieces_across,
                                                        double planes)
{
    const tmm__device *device = tmm__current_device();
    const tmm__int8_instance *i;
    double least = HUGE_VAL;
    int best = -1;
    for (int n = 0; (i = tmm__xint8_instance(n)) != NULL; n++) {
        if (i->bytes > device->shared) continue;
        const double tiles = down * ceil(pieces_across / (i->cols / 32.0)) * planes;
        const double each = i->cols * (i->cols < 256 ? 1.15 : 1);
        const double time = ceil(tiles / device->processors) * each;
        if (time <= least) least = time, best = n;
    }
    return best < 0 ? NULL : tmm__xint8_instance(TMM__INT8_INSTANCE(best));
}

static inline int tmm__xconverted_fits(long long M, long long N, long long K)
{
#ifdef TMM_EPILOGUE /* which is for finished elements */
    if (K > TMM__INT8_K_MOST) return 0;
#endif
    return K >= TMM__INT8_K_LEAST && M <= TMM__INT8_SIZE_MAX && N <= TMM__INT8_SIZE_MAX &&
           tmm__xint8_best(1, 1, 1) != NULL;
}

/* Norms, scales and units, or residues, of operands that are not ready: `state` is NULL for
   units. */
static inline tmm_status tmm__xint8_convert(tmm__xint8_part *part, const tmm__int8_state *state)
{
    const tmm__int8_layout *l = &part->layout;
    tmm__int8_lines *from = part->from;
    tmm__int8_operand *to = part->operands;
    long long K = part->p.K;
    int groups_A = l->ready & TMM__INT8_A ? 0 : l->line_blocks[0];
    int groups_B = l->ready & TMM__INT8_B ? 0 : l->line_blocks[1];
    int every = state == NULL ? l->depth.every : 1, chunks = l->depth.chunks;
    unsigned groups = (unsigned)(groups_A + groups_B);
    int lines_A = 64 * groups_A, lines_B = 64 * groups_B;
    tmm_status status = TMM_OK;
    if (groups == 0) return TMM_OK;
    if (state == NULL) {
        void *of_norms[] = {&K, &groups_A, &from[0], &from[1], &part->norms};
        void *of_scales[] = {&K,           &chunks,      &lines_A,    &lines_B,
                             &part->norms, &to[0].lines, &to[1].lines};
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_norms,
                                   dim3(groups, (unsigned)chunks), 256, of_norms, part->p.stream);
        if (status == TMM_OK)
            status = tmm__xint8_launch((const void *)tmm__xgemm_int8_scales, dim3(groups / 4 + 1),
                                       256, of_scales, part->p.stream);
    }
    void *arguments[] = {&K,     &groups_A, &every, &from[0],       &from[1],
                         &to[0], &to[1],    &state, &part->residues};
    int k_blocks = state == NULL ? l->depth.unit_blocks : l->depth.k_blocks;
    if (status == TMM_OK)
        status =
            tmm__xint8_launch((const void *)tmm__xgemm_int8_residues,
                              dim3(groups, (unsigned)k_blocks), 256, arguments, part->p.stream);
    return status;
}

/* Whether this program's code for this device multiplies by wgmma: in other code the kernel is
   empty, without static shared memory. */
static inline int tmm__xint8_by_wgmma(void)
{
    const tmm__device *device = tmm__current_device();
    return tmm__compiled((const void *)tmm__xgemm_int8_wgmma)->static_shared > 0 &&
           device->capability == 90 && device->shared >= TMM__INT8_WGMMA_BYTES;
}

/* It has to be asked for. By mma.sync only where FP64 has 1/32 or 1/64 of the rate of FP32. */
static inline int tmm__xint8_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return (p->allowed & TMM__SPLIT) && (TMM_SUM)TMM__FACTOR(p->alpha) != 0 &&
           tmm__xconverted_fits(p->M, p->N, p->K) && tmm__xfits(row->value, p) &&
           (tmm__xint8_by_wgmma() ||
            (tmm__current_device()->capability >= 75 && !tmm__xtensor_pays()));
}

/* 14 products of bytes, 31 bytes of memory for an element of A and B, 40 for one of C, and the
   launches. */
static inline void tmm__xint8_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *plan)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const int wgmma = tmm__xint8_by_wgmma();
    /* Tiles are filled up: those of a cluster by wgmma. */
    const double rows = wgmma ? TMM__INT8_WGMMA_ROWS * TMM__INT8_WGMMA_CLUSTER : 128;
    const double cols = wgmma ? TMM__INT8_WGMMA_COLS : 128, depth = wgmma ? TMM__INT8_K : 64;
    const double M = ceil(p->M / rows) * rows, N = ceil(p->N / cols) * cols;
    const double K = ceil(p->K / depth) * depth;
    (void)row;
    const double clocks = 14.125 * M * N * K / (wgmma ? t->int8.rate : t->int8.rate_slow);
    const double lines = (double)p->M + p->N;
    const double bytes = 31 * lines * p->K + 40.0 * p->M * p->N;
    plan->tile_m = (int)rows, plan->tile_n = (int)cols;
    plan->time = (clocks / (device->processors * device->gpu.clock) +
                  bytes / (t->int8.memory * device->gpu.memory) + t->int8.launches) *
                 p->batch;
}

/* The products of bytes: of units if `state` is NULL. */
static inline tmm_status tmm__xint8_multiply(const tmm__xint8_part *part, tmm__int8_state *state)
{
    const tmm__int8_layout *l = &part->layout;
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    tmm__int8_products job;
    memset(&job, 0, sizeof job);
    job.a = state == NULL ? part->operands[0].units : part->operands[0].planes;
    job.b = state == NULL ? part->operands[1].units : part->operands[1].planes;
    job.C = (unsigned char *)part->memory + l->C;
    job.state = state;
    job.a_blocks = l->line_blocks[0], job.b_blocks = l->line_blocks[1];
    job.a_pitch = part->operands[0].pitch, job.b_pitch = part->operands[1].pitch;
    job.k_blocks = state == NULL ? l->depth.unit_blocks : l->depth.k_blocks;
    job.pieces_down = l->pieces_down, job.pieces_across = l->pieces_across;
    for (int i = 0; i < TMM__INT8_MOST; i++) {
        job.p[i] = (unsigned)tmm__int8_moduli[i];
        job.inverse[i] = (unsigned)(0x100000000ull / job.p[i]);
    }
    void *arguments[] = {&job};
    if (tmm__xint8_by_wgmma()) {
        double bytes =
            64.0 * ((double)job.a_blocks + job.b_blocks) * job.k_blocks * (int)TMM__INT8_K;
        job.tiles_down =
            (l->pieces_down - 1) / (TMM__INT8_WGMMA_ROWS * TMM__INT8_WGMMA_CLUSTER / 64) + 1;
        job.tiles_across = (l->pieces_across - 1) / (TMM__INT8_WGMMA_COLS / 32) + 1;
        job.keep_pace = state != NULL && bytes > t->fp16.l2_bytes;
        unsigned clusters = (unsigned)device->processors / TMM__INT8_WGMMA_CLUSTER;
        return tmm__launch_clusters((const void *)tmm__xgemm_int8_wgmma,
                                    dim3(clusters * TMM__INT8_WGMMA_CLUSTER), 384,
                                    TMM__INT8_WGMMA_CLUSTER, 1, TMM__INT8_WGMMA_BYTES, arguments,
                                    part->p.stream);
    }
    const tmm__int8_instance *i = tmm__xint8_best(ceil(l->pieces_down / 2.0), l->pieces_across,
                                                  state == NULL ? 1 : TMM__INT8_LEAST + 1);
    job.tiles_down = (l->pieces_down - 1) / 2 + 1;
    job.tiles_across = (l->pieces_across - 1) / (i->cols / 32) + 1;
    unsigned tiles = (unsigned)job.tiles_down * (unsigned)job.tiles_across;
    return tmm__launch_clusters(i->kernel, dim3(tiles * (state == NULL ? 1 : TMM__INT8_MOST)), 256,
                                1, 1, i->bytes, arguments, part->p.stream);
}

static inline int tmm__xint8_fp64(const tmm__xproduct *p)
{
    return TMM__INT8_FP64(tmm__xtensor_pays()) && tmm__xtensor_fits() && tmm__xfits(TMM_TENSOR, p);
}

/* All launches of a part. `moduli`: so many; 0: the device chooses. */
static inline tmm_status tmm__xint8_run(tmm__xint8_part *part, int moduli)
{
    const tmm__int8_layout *l = &part->layout;
    const tmm__xproduct *p = &part->p;
    const tmm__costs *t = tmm__tuned();
    const unsigned pieces = (unsigned)l->pieces_down * (unsigned)l->pieces_across;
    unsigned processors = (unsigned)tmm__current_device()->processors, pairs = (pieces + 1) / 2;
    int pays = tmm__xtensor_pays();
    float fp64 = (float)(pays ? t->int8.fp64 : t->int8.fp64_slow);
    float each = (float)(pays ? t->int8.each : t->int8.each_slow);
    float first = (float)(t->int8.first / ((double)p->M * (double)p->N));
    tmm__int8_state *state = (tmm__int8_state *)part->memory;
    tmm__int8_job job;
    memset(&job, 0, sizeof job);
    job.from_a = part->from[0], job.from_b = part->from[1];
    job.a = part->operands[0], job.b = part->operands[1];
    job.planes = (const unsigned char *)part->memory + l->C;
    job.open = (unsigned short *)(part->memory + l->open);
    job.state = state;
    job.C = p->C, job.ldc = p->ldc, job.K = p->K, job.M = (int)p->M, job.N = (int)p->N;
    job.pieces_down = l->pieces_down, job.pieces_across = l->pieces_across;
    job.fp64_elsewhere = moduli == 0 && tmm__xint8_fp64(p);
    job.alpha = TMM__FACTOR(p->alpha), job.beta = p->beta;
#ifdef TMM_WITH_EPILOGUE
    job.after = p->alpha.after;
#endif
    tmm__int8_make_tables(&part->residues, &part->sums, p->K);

    tmm_status status =
        tmm__cuda(cudaMemsetAsync(state, 0, TMM__INT8_STATE_BYTES, p->stream), "cudaMemsetAsync");
    if (status == TMM_OK && moduli > 0) /* the lowest byte: no device here is big-endian */
        status =
            tmm__cuda(cudaMemsetAsync(&state->moduli, moduli, 1, p->stream), "cudaMemsetAsync");
    if (status == TMM_OK) status = tmm__xint8_convert(part, NULL);
    if (status == TMM_OK) status = tmm__xint8_multiply(part, NULL);
    int least = l->ready ? TMM__INT8_MOST : TMM__INT8_LEAST;
    int looks = (int)(pieces / TMM__INT8_LOOKS); /* at one piece of so many */
    if (looks < 1 || looks > l->pieces_across) looks = looks < 1 ? 1 : l->pieces_across;
    void *of_choice[] = {&job, &part->sums, &looks, &least, &fp64, &each, &first};
    if (status == TMM_OK && moduli == 0)
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_choice,
                                   dim3(pieces < 2 * processors ? pieces : 2 * processors), 128,
                                   of_choice, p->stream);
    if (status == TMM_OK) status = tmm__xint8_convert(part, state);
    if (status == TMM_OK) status = tmm__xint8_multiply(part, state);
    void *of_sums[] = {&job, &part->sums}, *of_open[] = {&job};
    if (status == TMM_OK)
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_sums, dim3(pieces), 256, of_sums,
                                   p->stream);
    if (status == TMM_OK)
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_open,
                                   dim3(pairs < 4 * processors ? pairs : 4 * processors), 256,
                                   of_open, p->stream);
    if (status == TMM_OK && job.fp64_elsewhere) {
        tmm__xproduct all = *p;
        tmm__plan plan;
        all.allowed = 0, all.unless = &state->moduli;
        tmm__xplan_by(TMM_TENSOR, &all, &plan);
        status = tmm__xrow(TMM_TENSOR)->launch(&all, &plan);
    }
    return status;
}

/* Lines, units and residues of all moduli of an operand, A or B. `memory` has what
   tmm__int8_prepared says. */
static inline tmm_status tmm__xint8_prepare(const tmm__int8_lines *from, long long K, int is_B,
                                            char *memory, tmm_stream stream)
{
    const long long k = tmm__int8_part_of_k(K), lines = from->lines;
    tmm__int8_state *state = (tmm__int8_state *)memory;
    tmm__xint8_part part;
    memset((void *)&part, 0, sizeof part);
    part.p.stream = stream, part.from[is_B] = *from;
    tmm_status status =
        tmm__cuda(cudaMemsetAsync(state, 0, TMM__INT8_STATE_BYTES, stream), "cudaMemsetAsync");
    if (status == TMM_OK)
        status = tmm__cuda(cudaMemsetAsync(&state->moduli, TMM__INT8_MOST, 1, stream),
                           "cudaMemsetAsync");
    for (long long k0 = 0; k0 < K && status == TMM_OK; k0 += k) {
        size_t end = 0;
        part.p.K = tmm__min(k, K - k0);
        part.from[is_B].X = from->X + k0 * from->k_stride;
        part.layout = tmm__int8_plan(lines, lines, part.p.K, is_B ? TMM__INT8_A : TMM__INT8_B);
        part.operands[is_B] = tmm__int8_prepared(memory, &end, lines, K, k0);
        part.norms = (tmm__int8_norm *)part.operands[is_B].planes; /* before residues come there */
        tmm__int8_make_tables(&part.residues, &part.sums, part.p.K);
        status = tmm__xint8_convert(&part, NULL);
        if (status == TMM_OK) status = tmm__xint8_convert(&part, state);
    }
    return status;
}

/* The sizes of the parts that a product is done in, and their workspace. `ready`: prepared
   operands, whose k is cut as they are. */
static inline tmm__int8_layout tmm__xint8_parts(long long *M, long long *N, long long *K, int ready)
{
    int cut_k = !ready;
#ifdef TMM_EPILOGUE
    cut_k = 0;
#endif
    tmm__int8_parts(M, N, K, cut_k, ready, TMM__INT8_BUDGET(tmm__int8_budget()));
    return tmm__int8_plan(*M, *N, *K, ready);
}

/* Operand number i of a part, from its first line and k on: from where, and where it is. */
static inline void tmm__xint8_place(tmm__xint8_part *part, int i, const tmm_prepared *ready,
                                    long long line0, long long k0)
{
    const tmm__xproduct *q = &part->p;
    const tmm__int8_lines of_A = {q->A, q->M, q->rsA, q->csA};
    const tmm__int8_lines of_B = {q->B, q->N, q->csB, q->rsB};
    tmm__int8_operand *o = &part->operands[i];
    size_t at = part->layout.operands[i];
    part->from[i] = i == 0 ? of_A : of_B;
    if (ready == NULL) {
        *o = tmm__int8_operand_at(part->memory, &at, part->from[i].lines, &part->layout.depth);
        return;
    }
    *o = tmm__int8_prepared((char *)ready->memory, &at, ready->lines, ready->K, k0);
    o->lines += line0;
    o->units += line0 / 64 * TMM__INT8_BLOCK, o->planes += line0 / 64 * TMM__INT8_BLOCK;
}

#ifdef TMM_WITH_EPILOGUE
/* The epilogue of product b, for a part of it from row m0 and column n0 on; before its last k there
   is none. */
static inline void tmm__xplace_after(tmm__after *after, long long b, long long m0, long long n0,
                                     int is_last)
{
    const TMM_OUT *D = (const TMM_OUT *)after->D;
    const TMM_OUT *rows = (const TMM_OUT *)after->row_bias;
    const TMM_OUT *cols = (const TMM_OUT *)after->col_bias;
    after->product += b;
    if (D != NULL) after->D = D + m0 * after->ldd + n0;
    if (rows != NULL) after->row_bias = rows + m0;
    if (cols != NULL) after->col_bias = cols + n0;
    if (!is_last) after->active = 0;
}
#endif

/* Products, one after the other. `prepared`: operands of a single product, or NULL. *missing:
   the bytes of a workspace that the pool could not give, then nothing is done; else 0. */
static inline tmm_status tmm__xint8_products(const tmm__xproduct *p,
                                             const tmm_prepared *const *prepared, size_t *missing)
{
    const tmm_prepared *none[2] = {NULL, NULL}, *const *ready = prepared ? prepared : none;
    int moduli = p->allowed & TMM__CUT_K ? 0 : TMM__INT8_MOST;
    int is_ready = (ready[0] ? TMM__INT8_A : 0) | (ready[1] ? TMM__INT8_B : 0);
    long long m = p->M, n = p->N, k = p->K;
    const size_t bytes = tmm__xint8_parts(&m, &n, &k, is_ready).bytes;
    tmm__xint8_part part;
    memset((void *)&part, 0, sizeof part);
    part.memory = (char *)tmm__workspace(bytes, p->stream);
    *missing = part.memory == NULL ? bytes : 0;
    if (part.memory == NULL) return TMM_OK;
    tmm_status status = TMM_OK;
    for (long long b = 0; b < p->batch; b++)
        for (long long k0 = 0; k0 < p->K; k0 += k)
            for (long long m0 = 0; m0 < p->M; m0 += m)
                for (long long n0 = 0; n0 < p->N && status == TMM_OK; n0 += n) {
                    tmm__xproduct *q = &part.p;
                    *q = *p;
                    q->batch = 1, q->strideA = q->strideB = q->strideC = 0;
                    q->M = tmm__min(m, p->M - m0), q->N = tmm__min(n, p->N - n0);
                    q->K = tmm__min(k, p->K - k0);
                    q->A += b * p->strideA + m0 * p->rsA + k0 * p->csA;
                    q->B += b * p->strideB + n0 * p->csB + k0 * p->rsB;
                    q->C += b * p->strideC + m0 * p->ldc + n0;
                    if (k0 > 0) q->beta = 1;
#ifdef TMM_WITH_EPILOGUE
                    tmm__xplace_after(&q->alpha.after, b, m0, n0, k0 + q->K == p->K);
#endif
                    part.layout = tmm__int8_plan(q->M, q->N, q->K, is_ready);
                    part.norms = (tmm__int8_norm *)(part.memory + part.layout.norms);
                    tmm__xint8_place(&part, 0, ready[0], m0, k0);
                    tmm__xint8_place(&part, 1, ready[1], n0, k0);
                    status = tmm__xint8_run(&part, TMM__INT8_FIXED(moduli));
                }
    (void)cudaFreeAsync(part.memory, p->stream);
    return status;
}

/* What type/ asks of a kernel that converts operands: the most lines or k; bytes of what is kept
   of an operand; its conversion; a product. */
enum { tmm__xconverted_most = TMM__INT8_SIZE_MAX };

static inline size_t tmm__xprepared_bytes(long long lines, long long K)
{
    size_t bytes = 0;
    (void)tmm__int8_prepared(NULL, &bytes, lines, K, K - 1);
    return bytes;
}

static inline tmm_status tmm__xconvert_once(const tmm_prepared *request, char *memory,
                                            tmm_stream stream)
{
    const int along_k = (request->op == TMM_OP_N) != request->is_B;
    const long long ld = request->ld;
    const tmm__int8_lines from = {(const double *)request->X, request->lines, along_k ? ld : 1,
                                  along_k ? 1 : ld};
    return tmm__xint8_prepare(&from, request->K, request->is_B, memory, stream);
}

static inline tmm_status tmm__xconverted(const tmm__xproduct *p, const tmm__plan *plan,
                                         const tmm_prepared *const *prepared, size_t *missing)
{
    (void)plan;
    return tmm__xint8_products(p, prepared, missing);
}

/* Bytes of the workspace of such a product. */
static inline size_t tmm__xconverted_bytes(const tmm__xproduct *p, const tmm__plan *plan,
                                           const tmm_prepared *const *prepared)
{
    long long M = p->M, N = p->N, K = p->K;
    const int ready = (prepared[0] ? TMM__INT8_A : 0) | (prepared[1] ? TMM__INT8_B : 0);
    (void)plan;
    return tmm__xint8_parts(&M, &N, &K, ready).bytes;
}
#endif
#endif
