/* src/tiledmm/type/syrk.h. tmm_?syrk and its kin: C = alpha op(A) op(A)^T + beta C, half of the work.
   Uses: kernels/common/, launch/, once/, type/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && defined(TMM_WITH_SYRK)
/* Has this kernel a schedule for the tiles of a triangle? */
static inline int tmm__xhas_triangles(tmm_kernel kernel)
{
    const int tensor = TMM__IS_DOUBLE || TMM__HALF_TENSOR != 0;
    return TMM__FAST &&
           ((kernel == TMM_PIPELINED && TMM__PIPELINES) || (kernel == TMM_TENSOR && tensor));
}

/* Square matrices in memory, one for each product of a batch. */
typedef struct tmm__xmatrices {
    TMM_OUT *X;
    long long ld, stride;
} tmm__xmatrices;

/* KERNEL MIRROR for `batch` matrices of N x N. */
static inline tmm_status tmm__xmirror(const tmm__xproduct *p, long long N, long long batch,
                                      const tmm__xmatrices *from, const tmm__xmatrices *to,
                                      int places)
{
    const tmm__tiling squares = tmm__tile(p->triangle, N, N, 64, 64);
    tmm__xmatrices x = *from, y = *to;
    int triangle = p->triangle;
    tmm_status status = TMM_OK;
    for (long long first = 0; first < batch && status == TMM_OK; first += TMM__MOST_GRID) {
        const unsigned count = (unsigned)tmm__min(batch - first, TMM__MOST_GRID);
        void *arguments[] = {&N,    &x.X,      &x.ld,     &x.stride, &y.X,
                             &y.ld, &y.stride, &triangle, &places};
        status = tmm__launch((const void *)tmm__xsyrk_mirror,
                             dim3((unsigned)(squares.down * squares.across), 1, count), dim3(256),
                             0, arguments, p->stream);
        x.X += count * x.stride, y.X += count * y.stride;
    }
    return status;
}

/* Rows of a strip, for kernels without such a schedule: see tmm__xstrips. */
static inline long long tmm__xstrip_rows(long long N)
{
    long long rows = (N / 8 + 127) / 128 * 128;
    rows = N <= 1024 ? N : rows < 512 ? 512 : rows > 4096 ? 4096 : rows;
    return TMM__SYRK_ROWS(rows);
}

/* `count` products of a batch, those of a strip. All batches are treated alike, however they are
   divided: see tmm__xbatch. */
static inline tmm_status tmm__xsome(tmm_kernel kernel, const tmm__xproduct *given, long long count,
                                    long long batch)
{
    if (count == batch) return tmm__xbatch(kernel, given, batch);
    kernel = tmm__xresolve(kernel, given, batch);
    tmm_status status = tmm__xtakes(kernel, given);
    if (status != TMM_OK) return status;
    tmm__xproduct p = tmm__xfirst_launch(given, batch);
    p.batch = (unsigned)count, p.allowed = 0;
    return tmm__xrun(kernel, &p);
}

/* Strip `row` to row + rows of the triangle of `count` products, of a batch, by any kernel: the square on
   the diagonal through `square`, memory for count rows x rows, for the kernel knows no triangle; what
   is left of it, or above, as any other product. */
static inline tmm_status tmm__xstrip(tmm_kernel kernel, const tmm__xproduct *given, long long row,
                                     long long rows, TMM_OUT *square, long long count,
                                     long long batch)
{
    const tmm__xmatrices squares = {square, rows, rows * rows};
    const tmm__xmatrices diagonal = {given->C + row * given->ldc + row, given->ldc, given->strideC};
    tmm__xproduct p = *given;
    tmm_status status = TMM_OK;
    p.triangle = 0;
    p.M = p.N = rows, p.A = given->A + row * p.rsA, p.B = given->B + row * p.csB;
    p.C = square, p.ldc = rows, p.strideC = squares.stride;
    if (!((TMM_SUM)p.beta == 0)) status = tmm__xmirror(given, rows, count, &diagonal, &squares, 3);
    if (status == TMM_OK) status = tmm__xsome(kernel, &p, count, batch);
    if (status == TMM_OK) status = tmm__xmirror(given, rows, count, &squares, &diagonal, 1);
    if (status != TMM_OK || row == 0) return status;
    p.ldc = given->ldc, p.strideC = given->strideC;
    if (given->triangle == TMM__LOWER)
        p.N = row, p.B = given->B, p.C = given->C + row * p.ldc;
    else
        p.M = row, p.A = given->A, p.C = given->C + row;
    return tmm__xsome(kernel, &p, count, batch);
}

/* A batch by a kernel without a schedule for triangles: strip after strip. Where the first strips find no
   memory, they are halved. */
static inline tmm_status tmm__xstrips(tmm_kernel kernel, const tmm__xproduct *given,
                                      long long batch)
{
    const long long most = TMM__SYRK_BYTES(64 << 20); /* if there is a choice */
    tmm__xproduct p = *given;
    long long rows = tmm__xstrip_rows(p.N), count;
    TMM_OUT *square = NULL;
    tmm_status status = TMM_OK;
    if (p.K == 0 ||
        (TMM_SUM)TMM__FACTOR(p.alpha) == 0) /* A is not read, and may be NULL: no offsets to it */
        p.K = 0, p.alpha = TMM__PLAIN((TMM_SCALAR)0),
        p.rsA = p.csA = p.rsB = p.csB = p.strideA = p.strideB = 0;
    for (;; rows = (rows + 1) / 2) {
        const long long bytes = rows * rows * (long long)sizeof(TMM_OUT);
        count = tmm__min(tmm__min(batch, TMM__MOST_GRID), bytes < most ? most / bytes : 1);
        square = (TMM_OUT *)tmm__workspace((size_t)(count * bytes), p.stream);
        if (square != NULL) break;
        if (rows <= 64) return tmm__no_workspace("for a block of C", (size_t)bytes, p.stream);
    }
    for (long long first = 0; first < batch && status == TMM_OK; first += count) {
        const long long some = tmm__min(batch - first, count);
        p.A = p.K > 0 ? given->A + first * p.strideA : NULL, p.B = p.A;
        p.C = given->C + first * p.strideC;
        for (long long row = 0; row < p.N && status == TMM_OK; row += rows)
            status = tmm__xstrip(kernel, &p, row, tmm__min(rows, p.N - row), square, some, batch);
    }
    (void)cudaFreeAsync(square, p.stream);
    return status;
}

/* The kernel for TMM_AUTO or TMM_AUTO_TENSOR: one with a schedule for triangles, where it competes; else
   what is given, to choose for each strip. Strips were slower at every size from 64 on. */
static inline tmm_kernel tmm__xsyrk_choice(tmm_kernel kernel, const tmm__xproduct *p,
                                           long long batch)
{
    const int tensor = TMM__IS_DOUBLE || TMM__HALF_TENSOR != 0;
    const tmm_kernel by_tiles = tensor ? TMM_TENSOR : TMM_PIPELINED;
    const tmm__xkernel *row = tmm__xrow(by_tiles);
    const tmm__xproduct compared = tmm__xcompared(p, batch, 0);
    const int competes = row != NULL && row->competes != NULL && tmm__xeligible(row, &compared);
    return competes ? by_tiles : kernel;
}

/* The checks of all forms, and the product. */
static inline tmm_status tmm__xsyrk_begin(tmm__operands *o, tmm__xproduct *p, tmm_fill fill,
                                          long long batch)
{
    if (fill != TMM_LOWER && fill != TMM_UPPER && fill != TMM_BOTH)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "fill is %d, neither TMM_LOWER, TMM_UPPER nor TMM_BOTH", (int)fill);
    if (o->opA != TMM_OP_N && o->opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "op is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opA);
    if (o->N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", o->N);
    o->opB = o->opA == TMM_OP_N ? TMM_OP_T : TMM_OP_N;
    o->M = o->N, o->B = o->A, o->ldb = o->lda;
    *p = tmm__xmake_product(o->opA, o->opB, o->N, o->N, o->K, o->lda, o->lda);
    p->A = p->B = (const TMM_TYPE *)o->A;
    p->ldc = o->ldc;
    p->triangle = fill == TMM_UPPER ? TMM__UPPER : TMM__LOWER;
    return tmm__check_sizes_of_batch(o, batch);
}

TMM_API tmm_status tmm__xsyrk_batched_with(tmm_kernel kernel, tmm_fill fill, tmm_op op, long long N,
                                           long long K, TMM_SCALAR alpha, const TMM_TYPE *A,
                                           long long lda, TMM_SCALAR beta, TMM_OUT *C,
                                           long long ldc, long long strideA, long long strideC,
                                           long long batch, tmm_stream stream)
{
    const long long strides[3] = {strideA, strideA, strideC};
    const int reads = !((TMM_SUM)alpha == 0);
    tmm__operands operands = {
        op, op, N, N, K, A, lda, A, lda, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads};
    tmm__xproduct p;
    tmm_status status = tmm__xsyrk_begin(&operands, &p, fill, batch);
    if (status == TMM_OK) status = tmm__xcheck_batch(&operands, strides, batch);
    if (status == TMM_OK && batch == 1) status = tmm__check_overlap(&operands);
#ifdef TMM_EPILOGUE
    if (status == TMM_OK)
        status = tmm__fail(TMM_ERROR_UNSUPPORTED, "tmm_?syrk cannot be used with a TMM_EPILOGUE");
#endif
    if (status != TMM_OK) return status;
    p.alpha = TMM__PLAIN(alpha), p.beta = beta, p.C = C, p.stream = stream;
    p.strideA = p.strideB = strideA, p.strideC = strideC;
    *tmm__device_of_product() = tmm__current_device();
    kernel = tmm__xstands_for(kernel, &p, batch);
    const int chooses = kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR;
    if (!chooses) status = tmm__xtakes(kernel, &p);
    if (status == TMM_OK && N > 0 && batch > 0) {
        if (chooses) kernel = tmm__xsyrk_choice(kernel, &p, batch);
        status = tmm__xhas_triangles(kernel) ? tmm__xbatch(kernel, &p, batch)
                                             : tmm__xstrips(kernel, &p, batch);
        const tmm__xmatrices all = {C, ldc, strideC};
        if (status == TMM_OK && fill == TMM_BOTH)
            status = tmm__xmirror(&p, N, batch, &all, &all, 2);
    }
    *tmm__device_of_product() = NULL;
    if (status == TMM_ERROR_CUDA && tmm__is_of_memory(cudaPeekAtLastError()))
        return tmm__blame_operand(&operands, status);
    return status;
}

TMM_API tmm_status tmm__xsyrk_with(tmm_kernel kernel, tmm_fill fill, tmm_op op, long long N,
                                   long long K, TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, tmm_stream stream)
{
    return tmm__xsyrk_batched_with(kernel, fill, op, N, K, alpha, A, lda, beta, C, ldc, 0, 0, 1,
                                   stream);
}

TMM_API tmm_status tmm__xsyrk(tmm_fill fill, tmm_op op, long long N, long long K, TMM_SCALAR alpha,
                              const TMM_TYPE *A, long long lda, TMM_SCALAR beta, TMM_OUT *C,
                              long long ldc, tmm_stream stream)
{
    return tmm__xsyrk_with(TMM_AUTO, fill, op, N, K, alpha, A, lda, beta, C, ldc, stream);
}

TMM_API tmm_status tmm__xsyrk_cpu(tmm_fill fill, tmm_op op, long long N, long long K,
                                  TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                  TMM_SCALAR beta, TMM_OUT *C, long long ldc)
{
    const int reads = (TMM_SUM)alpha != 0;
    tmm__operands operands = {
        op, op, N, N, K, A, lda, A, lda, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads};
    tmm__xproduct p;
    tmm_status status = tmm__xsyrk_begin(&operands, &p, fill, 1);
    if (status == TMM_OK) status = tmm__check_overlap(&operands);
    if (status != TMM_OK || N == 0) return status;
    if (!reads) p.K = 0;
    p.alpha = TMM__PLAIN(p.K > 0 ? alpha : (TMM_SCALAR)0); /* which may be infinite */
    p.beta = beta, p.C = C;
    for (long long i = 0; i < N; i += TMM__CPU_ROWS)
        for (long long j = 0; j < N; j += TMM__CPU_COLS)
            if (p.triangle == TMM__LOWER ? j < i + TMM__CPU_ROWS : j + TMM__CPU_COLS > i)
                tmm__xcpu_block(&p, i, j);
    for (long long i = 0; fill == TMM_BOTH && i < N; i++)
        for (long long j = 0; j < i; j++) C[j * ldc + i] = C[i * ldc + j];
    return TMM_OK;
}
#endif
