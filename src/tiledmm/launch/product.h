/* src/tiledmm/launch/product.h. One product, as all launchers take it.
   Uses: kernels/common/, kernels/tensor/sizes.h, hooks.h, plan.h, once/.
   Used by: sum.h, once/kernels.h, type/, kernels/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* `batch` products C = alpha op(A) op(B) + beta C with M, N > 0. Strides: from row to row, from
   column to column, from product to product. */
typedef struct tmm__xproduct {
    long long M, N, K;
    TMM__ALPHA alpha;
    const TMM_TYPE *A;
    long long rsA, csA, strideA;
    const TMM_TYPE *B;
    long long rsB, csB, strideB;
    TMM_SCALAR beta;
    TMM_OUT *C;
    long long ldc, strideC;
    unsigned batch; /* at most TMM__MOST_GRID */
    int allowed; /* TMM__CUT_K: tiles may be cut along K, which makes the bits depend on M and N and
                       the device; TMM__PACK: operands may be packed, in memory for copies of them;
                       TMM__SPLIT: TMM_AUTO may take kernels that split elements;
                       TMM__ALL_OF_BATCH: these are all products of a batch; TMM__READY_A, _B: that
                       operand is converted already */
    tmm_stream stream;
#if TMM__DOUBLE_TENSOR
    const unsigned *unless; /* see tmm__schedule */
#endif
#ifdef TMM_WITH_SYRK
    int triangle; /* of C, which is computed: then op(B) is op(A)^T, M is N */
#endif
} tmm__xproduct;

static inline tmm__xproduct tmm__xmake_product(tmm_op opA, tmm_op opB, long long M, long long N,
                                               long long K, long long lda, long long ldb)
{
    tmm__xproduct p;
    memset((void *)&p, 0, sizeof p);
    p.M = M, p.N = N, p.K = K;
    p.rsA = opA == TMM_OP_N ? lda : 1, p.csA = opA == TMM_OP_N ? 1 : lda;
    p.rsB = opB == TMM_OP_N ? ldb : 1, p.csB = opB == TMM_OP_N ? 1 : ldb;
    return p;
}

/* In a batch all positions have the same bits, also one that is alone in the last launch. */
static inline int tmm__xallowed(long long batch)
{
    if (batch <= 1) return TMM__CUT_K | TMM__PACK;
    return batch <= TMM__MOST_GRID ? (int)TMM__ALL_OF_BATCH : 0;
}

/* Which numbers of once/tuning.h are this type's. */
#define TMM__TUNED_AS                             \
    (TMM__IS_FLOAT    ? (int)TMM__TUNED_AS_FLOAT  \
     : TMM__IS_DOUBLE ? (int)TMM__TUNED_AS_DOUBLE \
                      : (int)TMM__TUNED_AS_OTHER)

static inline tmm__load tmm__xload(const tmm__xproduct *p, tmm__family family, int rows, int cols)
{
    const double M = (double)p->M, N = (double)p->N, K = (double)p->K, size = sizeof(TMM_TYPE);
    tmm__load load;
    load.family = family, load.type = TMM__TUNED_AS;
    load.processors = TMM__BUSY(tmm__current_device()->processors);
    const tmm__tiling tiles = tmm__tile(TMM__TRIANGLE(p), p->M, p->N, rows, cols);
    load.blocks = tiles.down * tiles.across * p->batch;
    load.k = K;
    load.area = (double)rows * cols, load.copied = (rows + cols) * size;
    load.bytes = size * (M + N) * K * p->batch, load.a_bytes = size * M * K * p->batch;
    load.c_bytes = (double)sizeof(TMM_OUT) * M * N * p->batch;
    if (TMM__TRIANGLE(p)) load.bytes = load.a_bytes, load.c_bytes /= 2;
    const int along_A = p->csA == 1 && p->rsA != 1, along_B = p->rsB == 1 && p->csB != 1;
    const size_t offA = (size_t)p->A | (size_t)(along_A ? p->rsA : p->csA) * sizeof(TMM_TYPE);
    const size_t offB = (size_t)p->B | (size_t)(along_B ? p->csB : p->rsB) * sizeof(TMM_TYPE);
    load.along_k = (double)(along_A * rows + along_B * cols) / (rows + cols);
    load.single = (double)((offA % 16 != 0) * rows + (offB % 16 != 0) * cols) / (rows + cols);
    load.even = 0;
    load.odd = (((size_t)p->C | (size_t)p->ldc * sizeof(TMM_OUT)) & 15) != 0;
    return load;
}

/* A kernel of this type: what its line in TMM__KERNEL_LIST gives. */
typedef struct tmm__xkernel {
    tmm_kernel value;
    int tile; /* the least edge of its tiles of C */
    /* Can it do this product on the current device, whatever the pointers? If not, the error. */
    tmm_status (*takes)(const tmm__xproduct *p, const struct tmm__xkernel *row);
    /* Does TMM_AUTO ask for its plan? NULL: never. */
    int (*competes)(const tmm__xproduct *p, const struct tmm__xkernel *row);
    /* How it is launched for a product that it takes, and the time of that: HUGE_VAL if no
       instance fits this device, of which `launch` tells. */
    void (*plan)(const tmm__xproduct *p, const struct tmm__xkernel *row, tmm__plan *plan);
    /* Launches it so. Where there is no memory for that it plans once more, without. */
    tmm_status (*launch)(const tmm__xproduct *p, const tmm__plan *plan);
} tmm__xkernel;

/* The row of a kernel; NULL for none, or a name that tmm__xstands_for replaces. The table is in
   type/choose.h: a launcher that launches another finds it there. */
static inline const tmm__xkernel *tmm__xrow(tmm_kernel kernel);

/* The plan of a kernel for a product that it takes. */
static inline void tmm__xplan_by(tmm_kernel kernel, const tmm__xproduct *p, tmm__plan *plan)
{
    const tmm__xkernel *row = tmm__xrow(kernel);
    memset(plan, 0, sizeof *plan);
    plan->value = kernel, plan->slices = 1;
    row->plan(p, row, plan);
}

/* Leading dimensions. */
static inline long long tmm__xlda(const tmm__xproduct *p)
{
    return p->csA == 1 ? p->rsA : p->csA;
}

static inline long long tmm__xldb(const tmm__xproduct *p)
{
    return p->csB == 1 ? p->rsB : p->csB;
}

/* The arguments that all kernels but SKINNY begin with. Returns how many. */
static inline int tmm__xarguments(tmm__xproduct *p, void **arguments)
{
    void *const list[] = {&p->M,    &p->N,       &p->K,   &p->alpha,  &p->A,   &p->rsA,
                          &p->csA,  &p->strideA, &p->B,   &p->rsB,    &p->csB, &p->strideB,
                          &p->beta, &p->C,       &p->ldc, &p->strideC};
    memcpy(arguments, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

/* Can KERNEL PIPELINED take this K and these leading dimensions, or TENSOR of double? Steps must
   fit in 32 bits, and so must the distance of the lines that a thread copies one after the
   other, 16 apart (32 at most in TENSOR). */
static inline int tmm__xreaches(tmm_kernel kernel, long long K, long long lda, long long ldb)
{
    long long lines = kernel == TMM_TENSOR && TMM__IS_DOUBLE ? 32 : 16;
    long long most = 0xFFFFFFFFll / (lines * (long long)sizeof(TMM_TYPE));
    return lda <= most && ldb <= most && K <= 8ll * INT_MAX - 8;
}

/* The number of tiles must fit in 32 bits, too. */
static inline int tmm__xfits(tmm_kernel kernel, const tmm__xproduct *p)
{
    return tmm__xreaches(kernel, p->K, tmm__xlda(p), tmm__xldb(p)) &&
           ceil(p->M / 64.0) * ceil(p->N / 64.0) <= INT_MAX;
}

/* The error if it does not reach. */
static inline tmm_status tmm__xcheck_reach(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const long long lda = tmm__xlda(p), ldb = tmm__xldb(p);
    if (tmm__xreaches(row->value, p->K, lda, ldb)) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel %s: K, lda or ldb (%lld, %lld, %lld) is too large for it",
                     tmm_kernel_string(row->value), p->K, lda, ldb);
}

/* The same for KERNEL SMALL, DIRECT and OUTER: K alone counts, or its steps of 8 in SMALL. */
static inline tmm_status tmm__xcheck_k(const tmm__xproduct *p, const tmm__xkernel *row)
{
    if (p->K <= (row->value == TMM_SMALL ? 8ll * INT_MAX - 8 : INT_MAX)) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel %s: K (%lld) is too large for it",
                     tmm_kernel_string(row->value), p->K);
}

#if TMM__FAST
/* What TMM_AUTO asks of all kernels with asynchronous copies. Of 16 bits those for short sums do small
   products by multiply-adds faster than tensor cores, whose tiles are larger. */
static inline int tmm__xfast_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const int small = TMM__HALF_TENSOR > 0 && p->K <= 128;
    return tmm__current_device()->capability >= 80 && (sizeof(TMM_TYPE) >= 4 || small) &&
           tmm__xfits(row->value, p);
}

/* Can KERNEL TENSOR of double run on the current device? And is it faster there than
   multiply-adds one by one? Others have few tensor-core units for double. */
static inline int tmm__xtensor_fits(void)
{
    return TMM__IS_DOUBLE && tmm__current_device()->shared >= TMM__TENSOR_BYTES(64, 64);
}

static inline int tmm__xtensor_pays(void)
{
    int capability = tmm__current_device()->capability;
    return tmm__xtensor_fits() && (capability == 80 || capability == 90 || capability == 100);
}

/* Memory of a launch of KERNEL PIPELINED or TENSOR: packed operands, partial tiles, flags. */
typedef struct tmm__xmemory {
    char *all; /* from the pool; NULL: none was needed, or there was none */
    size_t bytes;
    TMM_TYPE *packed_A, *packed_B;
} tmm__xmemory;

/* Operands of K times so many lines, and partial tiles of `tile` bytes, if the schedule needs
   them in memory. 0 if there is too little. */
static inline int tmm__xallocate(tmm__xmemory *memory, tmm__schedule *s, long long K,
                                 long long pitchA, long long pitchB, size_t tile, tmm_stream stream)
{
    size_t bytesA = (size_t)(K * pitchA) * sizeof(TMM_TYPE);
    size_t bytesB = (size_t)(K * pitchB) * sizeof(TMM_TYPE);
    size_t streamk_blocks = s->streamk_tiles > 0 && s->cluster == 0 ? (size_t)s->streamk_blocks : 0;
    size_t flags = streamk_blocks * sizeof *s->flags;
    memset(memory, 0, sizeof *memory);
    memory->bytes = bytesA + bytesB + streamk_blocks * tile + flags;
    if (memory->bytes == 0) return 1;
    memory->all = (char *)tmm__workspace(memory->bytes, stream);
    if (memory->all == NULL) return 0;
    memory->packed_A = (TMM_TYPE *)memory->all;
    memory->packed_B = memory->packed_A + K * pitchA;
    s->partials = memory->all + bytesA + bytesB;
    s->flags = (unsigned long long *)(memory->all + bytesA + bytesB + streamk_blocks * tile);
    s->ticket = tmm__ticket();
    if (TMM__CLEAR_FLAGS && flags > 0) (void)cudaMemsetAsync(s->flags, 0, flags, stream);
    return 1;
}

#if TMM__IS_FLOAT || TMM__IS_DOUBLE
/* For the operands that have a pitch; afterwards *p and *s are those of packed ones. */
static inline tmm_status tmm__xpack_operands(tmm__xproduct *p, tmm__schedule *s,
                                             const tmm__xmemory *memory, long long pitchA,
                                             long long pitchB)
{
    TMM_TYPE *packed_A = memory->packed_A, *packed_B = memory->packed_B;
    dim3 squares((unsigned)((pitchA > pitchB ? pitchA : pitchB) / 64),
                 (unsigned)tmm__min((p->K + 63) / 64, TMM__MOST_GRID), 2);
    void *arguments[] = {&p->K, &p->M, &p->A,   &p->rsA, &p->csA,   &packed_A, &pitchA,
                         &p->N, &p->B, &p->rsB, &p->csB, &packed_B, &pitchB};
    if (pitchA + pitchB == 0) return TMM_OK;
    tmm_status status =
        tmm__launch((const void *)tmm__xpack, squares, dim3(256), 0, arguments, p->stream);
    if (pitchA > 0) p->A = packed_A, p->rsA = 1, p->csA = pitchA, s->packed_A = 1;
    if (pitchB > 0) p->B = packed_B, p->csB = 1, p->rsB = pitchB, s->packed_B = 1;
    return status;
}
#endif

#if !TMM__HALF_TENSOR
/* Launches KERNEL PIPELINED, or TENSOR of double, as planned: with KERNEL PACK before it and KERNEL
   REDUCE behind it where the plan has them. */
static inline tmm_status tmm__xdivided(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct product = *given, *p = &product;
    tmm__plan c = *plan;
    tmm__schedule *s = &c.s;
    tmm__xmemory memory;
    const long long pitchB = TMM__TRIANGLE(p) ? 0 : c.pitchB; /* then B is packed as A */
    const size_t tile = (size_t)(c.tile_m * c.tile_n / 4) * sizeof(tmm__xsums4);
    if (!tmm__xallocate(&memory, s, p->K, c.pitchA, pitchB, tile, p->stream)) {
        p->allowed = 0; /* a plan without cuts and packing needs no memory */
        tmm__xplan_by(plan->value, p, &c);
    }
    tmm_status status = TMM_OK;
#if TMM__IS_FLOAT || TMM__IS_DOUBLE
    status = tmm__xpack_operands(p, s, &memory, c.pitchA, TMM__TRIANGLE(p) ? 0 : c.pitchB);
    if (TMM__TRIANGLE(p) && c.pitchB > 0)
        p->B = p->A, p->csB = 1, p->rsB = c.pitchB, s->packed_B = 1;
#endif
#if TMM__DOUBLE_TENSOR
    s->unless = p->unless;
#endif
    void *arguments[20];
    int count = tmm__xarguments(p, arguments);
    arguments[count++] = &c.modeA, arguments[count++] = &c.modeB, arguments[count++] = s;
    arguments[count++] = &c.off_sectors; /* which PIPELINED does not look at */
    const int area = c.tile_m * c.tile_n, tiles = s->tiles_down * s->tiles_across;
    if (s->cluster > 0) c.bytes += tmm__cluster_bytes(s->cluster, area / 512, sizeof(tmm__xsums4));
    if (status == TMM_OK)
        status = tmm__launch_clusters(c.kernel, dim3((unsigned)c.blocks, 1, p->batch), c.threads,
                                      s->cluster, 0, c.bytes, arguments, p->stream);
    if (status == TMM_OK && s->reduce && s->cluster == 0) {
        int tensor = plan->value == TMM_TENSOR, rows = area / 1024, slices = (int)c.blocks / tiles;
        int warps_down = s->is_tall && !tensor ? 4 : 2;
        int parts = slices >= tmm__tuned()->tensor.reduce_wide_from ? 8 : 1;
        void *of_reduce[] = {&p->M, &p->N,       &p->alpha, &p->beta, &p->C,   &p->ldc,
                             &rows, &warps_down, &slices,   &parts,   &tensor, s};
        status = tmm__launch((const void *)tmm__xgemm_reduce,
                             dim3((unsigned)(rows * parts), (unsigned)tiles), dim3(256), 0,
                             of_reduce, p->stream);
    }
    if (memory.all != NULL) (void)cudaFreeAsync(memory.all, p->stream);
    return status;
}
#endif
#endif
#endif
