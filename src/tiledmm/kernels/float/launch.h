/* src/tiledmm/kernels/float/launch.h. LAUNCHER of floats on tensor cores.
   Uses: once/device.h. Used by: type/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__FLOAT_TENSOR
#ifndef TMM__FLOAT_FORMS_ONCE
#define TMM__FLOAT_FORMS_ONCE
/* The instances of KERNEL TENSOR FLOAT: for wgmma, then one for any device, then for mma.sync.
   In form SHARED two warpgroups share out the windows of a tile. `tuned`: its place in once/tuning.h. */
enum {
    TMM__FLOAT_FORMS = 7,
    TMM__FLOAT_SHARED = 3,
    TMM__FLOAT_ANY = 4,
    TMM__FLOAT_MMA = 5,
    TMM__FLOAT_LEAST_K = 64,
    TMM__FLOAT_PACE_BYTES = 16, /* of the workspace, for one counter */
    TMM__FLOAT_MOST = INT_MAX - 8192,
    TMM__FLOAT_WGMMA_MOST = 1 << 24 /* M and N: 2^31 bytes of blocks for 32 k */
};
typedef struct tmm__float_form {
    int tile_m, tile_n, stages, tuned;
} tmm__float_form;
static const tmm__float_form tmm__float_forms[TMM__FLOAT_FORMS] = {
    {256, 128, 4, 0}, {128, 192, 5, 1}, {128, 64, 8, 2}, {64, 64, 12, 3},
    {64, 64, 0, 0},   {128, 128, 3, 4}, {64, 64, 4, 5}};

#endif

static inline const void *TMM_FN(gemm__float_kernel)(int form)
{
    switch (form) {
    case 2:
    case TMM__FLOAT_SHARED: return (const void *)TMM_FN(gemm_float_small);
    case TMM__FLOAT_ANY: return (const void *)TMM_FN(gemm_float_any);
    case 5: return (const void *)TMM_FN(gemm_float_mma_128);
    case 6: return (const void *)TMM_FN(gemm_float_mma_64);
    }
    return (const void *)TMM_FN(gemm_float_large);
}

/* Are there kernels for wgmma, on this device and in this program? They are compiled for sm_90a;
   for others they are empty, and then without the shared memory that their barriers take. */
static inline int TMM_FN(gemm__float_fast)(void)
{
    const tmm__device *device = tmm__current_device();
    return device->capability == 90 && device->shared >= TMM__FLOAT_BYTES(128, 192, 5) &&
           tmm__compiled(TMM_FN(gemm__float_kernel)(0))->static_shared > 0;
}

/* Are there kernels for mma.sync? In code for sm_80 or later, if it is not for wgmma. 2: it is for
   sm_90 or later, too, where a launch may begin early. */
static inline int TMM_FN(gemm__float_mma)(void)
{
    const tmm__device *device = tmm__current_device();
    if (device->capability < 80 || device->shared < TMM__FLOAT_MMA_BYTES(128, 128, 3)) return 0;
    const tmm__kernel_facts *facts = tmm__compiled(TMM_FN(gemm__float_kernel)(0));
    return facts->static_shared > 0 || facts->ptx_version < 80 ? 0
           : facts->ptx_version >= 90                          ? 2
                                                               : 1;
}

/* A launch that may begin while the one before it in the stream still works, if `early`: then the
   kernel waits itself. */
static inline tmm_status TMM_FN(gemm__float_launch)(const void *kernel, dim3 grid, int threads,
                                                    int bytes, int early, void **arguments,
                                                    tmm_stream stream)
{
#if TMM__CLUSTER_LAUNCH
    cudaLaunchConfig_t config = cudaLaunchConfig_t();
    cudaLaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = (size_t)bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early ? 1 : 0;
    return tmm__launched(cudaLaunchKernelExC(&config, kernel, arguments));
#else
    (void)early;
    return tmm__launch(kernel, grid, dim3((unsigned)threads), bytes, arguments, stream);
#endif
}

/* How operands are split for K: the least magnitude that an element may have after scaling, if it
   is not zero; and the bounds of the product of the scales of a row and a column. */
static inline float TMM_FN(gemm__float_least)(long long K)
{
    /* The largest t with 40.2 + 16.2 2^t + 5 4^t + K / 64 <= K + 2, see bench/NOTES.md. */
    static const int from[] = {93, 187, 497, 1603, 5767, 21890};
    int t = 0;
    while (t < (int)(sizeof from / sizeof *from) && K >= from[t]) t++;
    return ldexpf(1, -14 - t);
}

static inline void TMM_FN(gemm__float_bounds)(long long K, float *least, float *most)
{
    int log = 0;
    while (K > 1ll << log) log++;
    *least = ldexpf(1, -120);
    *most = ldexpf(1, 97 - log);
}

/* What the sum of an element of wide lines must be at least, before it is scaled back, for the bound
   to hold: bench/NOTES.md derives it. */
static inline float TMM_FN(gemm__float_proof)(long long K)
{
    double windows = ceil(K / 32.0);
    double least = (37.0 * K + 322) / (K + 2 - 48.2 - (windows - 1));
    return (float)(1.01 * least * (1 + (K + 2) / 16777216.0));
}

/* Describes an operand of `lines` lines, split for `products` products, in memory from *offset on,
   which is moved behind it. */
static inline tmm__split TMM_FN(gemm__float_split)(char *memory, size_t *offset, long long lines,
                                                   long long K, long long products)
{
    tmm__split split;
    split.line_blocks = (int)((lines + 63) / 64);
    split.k_blocks = (int)((K + 63) / 64 * 2);
    size_t blocks = (size_t)products * split.k_blocks * split.line_blocks * TMM__BLOCK_BYTES;
    split.blocks = (unsigned char *)memory + *offset;
    split.scales = (float *)(memory + *offset + blocks);
    *offset += blocks + ((size_t)products * split.line_blocks * 256 + 1023) / 1024 * 1024;
    return split;
}

/* Bytes of what notes elements whose size is no proof: see tmm__unproven_at. */
static inline size_t TMM_FN(gemm__float_unproven)(long long M, long long N)
{
    return ((size_t)M * (size_t)((N + 15) / 16) * 4 + 15) / 16 * 16;
}

/* Launches KERNEL SPLIT for both operands; no lines: that one is split already. */
static inline tmm_status TMM_FN(gemm__float_split_launch)(long long K, const tmm__lines *a,
                                                          const tmm__split *split_a, int groups_A,
                                                          const tmm__lines *b,
                                                          const tmm__split *split_b, int groups_B,
                                                          unsigned batch, tmm_stream stream)
{
    float least = TMM_FN(gemm__float_least)(K);
    /* Up to 4096 k they hold all of their lines in registers. */
    const tmm__tuning *t = tmm__tuned();
    int groups = groups_A + groups_B, few = groups <= tmm__current_device()->processors;
    int threads = K <= t->fp16.convert_256_k          ? 256
                  : K <= t->fp16.convert_few_k && few ? 1024
                  : K <= t->fp16.convert_512_k        ? 512
                                                      : 1024;
    if (groups == 0) return TMM_OK;
    dim3 grid(groups, batch);
    tmm__lines from_a = *a, from_b = *b;
    tmm__split to_a = *split_a, to_b = *split_b;
    int depth = (int)K;
    void *arguments[] = {&depth, &least, &groups_A, &from_a, &to_a, &from_b, &to_b};
    return TMM_FN(gemm__float_launch)((const void *)tmm_split, grid, threads, 0,
                                      TMM_FN(gemm__float_fast)() || TMM_FN(gemm__float_mma)() == 2,
                                      arguments, stream);
}

/* The form of KERNEL TENSOR FLOAT that takes least time, of those for wgmma (way 2), mma.sync (1)
   or any device (0). Returns the clocks. */
static inline double TMM_FN(gemm__float_plan)(long long M, long long N, long long K,
                                              long long batch, int way, int may, int *form)
{
    double best = 0, processors = tmm__current_device()->processors;
    *form = TMM__FLOAT_ANY;
    for (int f = way == 2 ? 0 : TMM__FLOAT_MMA;
         f < (way == 2 ? TMM__FLOAT_ANY : TMM__FLOAT_FORMS) && way != 0; f++) {
        const tmm__float_form *one = &tmm__float_forms[f];
        double tiles = ceil((double)M / one->tile_m) * ceil((double)N / one->tile_n) * batch;
        /* Its blocks have one tile each. */
        if (f == TMM__FLOAT_SHARED && (!(may & TMM__CUT_K) || batch > 1 || tiles > processors))
            continue;
        if (f > TMM__FLOAT_MMA) tiles /= 2;
        const tmm__tuning *t = tmm__tuned();
        double time = ceil(K / 64.0) * t->fp16.window[one->tuned] + t->fp16.tile[one->tuned];
        time *= ceil(tiles / processors);
        time = TMM__FLOAT_GUESS(f, time);
        if (*form != TMM__FLOAT_ANY && time >= best) continue;
        best = time;
        *form = f;
    }
    return best;
}

/* Products of operands that are split, with KERNEL TENSOR FLOAT: all of `job` is set but its tiles
   and bounds. */
static inline tmm_status TMM_FN(gemm__float_multiply)(tmm__float_job job, int may,
                                                      tmm_stream stream)
{
    const long long M = job.M, N = job.N, K = job.K;
    const int batch = job.batch;
    int fast = TMM_FN(gemm__float_fast)(), mma = TMM_FN(gemm__float_mma)(), form;
    int way = TMM__FLOAT_WAY(fast ? 2 : mma ? 1 : 0), early = fast || mma == 2;
    double processors = tmm__current_device()->processors;
    (void)TMM_FN(gemm__float_plan)(M, N, K, batch, way, may, &form);
    int tile_m = tmm__float_forms[form].tile_m, tile_n = tmm__float_forms[form].tile_n;
    job.form = form, job.tile_m = tile_m, job.tile_n = tile_n;
    job.six = TMM__FLOAT_SIX(may & TMM__CUT_K);
    memset(&job.s, 0, sizeof job.s);
    job.s.tiles_down = (int)((M - 1) / tile_m + 1);
    job.s.tiles_across = (int)((N - 1) / tile_n + 1);
    double tiles = (double)job.s.tiles_down * job.s.tiles_across * batch;
    int blocks = (int)(tiles < processors ? tiles : processors);
    int bytes = TMM__FLOAT_BYTES(tile_m, tile_n, tmm__float_forms[form].stages);
    if (form == TMM__FLOAT_ANY || form > TMM__FLOAT_MMA)
        blocks = (int)(tiles < 2 * processors ? tiles : 2 * processors);
    if (form == TMM__FLOAT_ANY) bytes = TMM__FLOAT_ANY_BYTES;
    if (form >= TMM__FLOAT_MMA)
        bytes = TMM__FLOAT_MMA_BYTES(tile_m, tile_n, tmm__float_forms[form].stages);
    TMM_FN(gemm__float_bounds)(K, &job.least, &job.most);
    job.proof = TMM_FN(gemm__float_proof)(K);
    /* Where blocks have several large tiles, and what they read is more than the cache holds. */
    if (way == 2 && form < 2 && tiles > processors && 4.0 * (M + N) * K > TMM__FLOAT_CACHE) {
        cudaError_t error = cudaMemsetAsync(job.pace, 0, TMM__FLOAT_PACE_BYTES, stream);
        if (error != cudaSuccess) return tmm__cuda(error, "cudaMemsetAsync");
    } else {
        job.pace = NULL;
    }
    /* The first two forms are one kernel, and so are the next two, which ask for the same. */
    int allowed = form < 2 ? TMM__FLOAT_BYTES(128, 192, 5) : bytes;
    tmm_status status = tmm__allow_shared(TMM_FN(gemm__float_kernel)(form), allowed);
    if (status != TMM_OK) return status;
    void *arguments[] = {&job};
    return TMM_FN(gemm__float_launch)(TMM_FN(gemm__float_kernel)(form), dim3(blocks),
                                      form >= TMM__FLOAT_ANY ? 256 : 384, bytes, early, arguments,
                                      stream);
}

/* What KERNEL TENSOR FLOAT cannot do: short sums, for which the bound would not hold, and sizes
   beyond 32 bits. */
static inline int TMM_FN(gemm__float_fits)(long long M, long long N, long long K)
{
    long long most = TMM__FLOAT_WGMMA_MOST;
    if ((M > most || N > most) && TMM_FN(gemm__float_fast)()) return 0;
    return K >= TMM__FLOAT_LEAST_K && M <= TMM__FLOAT_MOST && N <= TMM__FLOAT_MOST &&
           K <= TMM__FLOAT_MOST && ceil(M / 64.0) * ceil(N / 64.0) <= INT_MAX;
}

/* `batch` products, 65535 at most, with KERNEL TENSOR FLOAT; strides as in the kernels. `ready`:
   op(A) and op(B) as they are split already, or NULL. `memory`: the caller's; NULL: from the pool;
   *done is 0 if that has none. `may`: whether k may be shared out, which makes the bits depend on M
   and N. */
static inline tmm_status TMM_FN(gemm__float)(const TMM_FN(gemm__product) * p,
                                             const tmm__split *const *ready, char *memory,
                                             int *done)
{
    const long long M = p->M, N = p->N, K = p->K;
    const unsigned batch = p->batch;
    tmm_stream stream = p->stream;
    tmm__lines from[2] = {{p->A, M, p->rsA, p->csA, batch > 1 ? p->strideA : 0},
                          {p->B, N, p->csB, p->rsB, batch > 1 ? p->strideB : 0}};
    tmm__split split[2];
    unsigned *unproven = NULL;
    /* Products at a time: all that take 1 GiB, or one. */
    size_t one = TMM_FN(gemm__float_unproven)(M, N), bytes = 0;
    for (int i = 0; i < 2; i++) (void)TMM_FN(gemm__float_split)(NULL, &one, from[i].lines, K, 1);
    unsigned most = (unsigned)tmm__min(batch, (long long)((1ull << 30) / one) + 1);
    char *own = NULL;
    for (int pass = 0; pass < 2; pass++) { /* how much memory, then what lies where */
        if (pass == 1 && memory == NULL && bytes > 0) {
            memory = own = (char *)tmm__workspace(bytes, stream);
            *done = own != NULL;
            if (own == NULL) return TMM_OK;
        }
        bytes = 0;
        for (int i = 0; i < 2; i++) {
            if (ready != NULL && ready[i] != NULL)
                split[i] = *ready[i];
            else
                split[i] = TMM_FN(gemm__float_split)(memory, &bytes, from[i].lines, K,
                                                     from[i].product_stride ? most : 1);
        }
        if (memory != NULL) unproven = (unsigned *)(memory + bytes);
        bytes += TMM_FN(gemm__float_unproven)(M, N) * most + TMM__FLOAT_PACE_BYTES;
    }
    *done = 1;
    int groups[2];
    for (int i = 0; i < 2; i++)
        groups[i] = ready != NULL && ready[i] != NULL ? 0 : 8 * split[i].line_blocks;
    tmm_status status = TMM_OK;
    for (unsigned first = 0; first < batch && status == TMM_OK; first += most) {
        unsigned products = (unsigned)tmm__min(batch - first, most);
        from[0].X = p->A + first * from[0].product_stride;
        from[1].X = p->B + first * from[1].product_stride;
        status = TMM_FN(gemm__float_split_launch)(K, &from[0], &split[0], groups[0], &from[1],
                                                  &split[1], groups[1], products, stream);
        tmm__float_job job;
        memset(&job, 0, sizeof job);
        job.M = M, job.N = N, job.K = K;
        job.from_a = from[0], job.from_b = from[1], job.a = split[0], job.b = split[1];
        job.C = p->C + first * p->strideC, job.ldc = p->ldc, job.batchC = p->strideC;
        job.alpha = p->alpha, job.beta = p->beta, job.batch = (int)products;
        job.unproven = unproven, job.units = (int)((N + 15) / 16);
        job.pace = (unsigned *)(memory + bytes - TMM__FLOAT_PACE_BYTES);
        if (status == TMM_OK) status = TMM_FN(gemm__float_multiply)(job, p->allowed, stream);
    }
    if (own != NULL) (void)cudaFreeAsync(own, stream);
    return status;
}
#endif
