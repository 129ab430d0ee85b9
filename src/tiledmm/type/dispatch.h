/* src/tiledmm/type/dispatch.h. tmm_?gemm and its kin: checks, choice, launch.
   Uses: type/choose.h, the launchers. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Do products of a batch overlap in C? Rows of two products, s apart, overlap if these begin less
   than N elements from each other. Looks at 4096 values of s at most. */
static inline int tmm__xgemm__overlaps(long long M, long long N, long long ldc, long long strideC,
                                       long long batch)
{
    for (long long s = 1; s < batch && s <= 4096; s++) {
        long long offset = s * strideC, rows = offset / ldc;
        if (rows <= M - 1 && offset - rows * ldc < N) return 1;
        if (rows + 1 <= M - 1 && (rows + 1) * ldc - offset < N) return 1;
        if (rows > M - 1) return 0;
    }
    return 0;
}

/* Checks what a batch adds to one product. */
static inline tmm_status tmm__xgemm__check_batch(const tmm__operands *o, const long long strides[3],
                                                 long long batch)
{
    const long long M = o->M, N = o->N, ldc = o->ldc;
    if (batch < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "batch is negative: %lld", batch);
    for (int n = 0; n < 3; n++) {
        if (strides[n] < 0)
            return tmm__fail(TMM_ERROR_ARGUMENT, "stride%c is negative: %lld", 'A' + n, strides[n]);
        if (batch > 0 && strides[n] > LLONG_MAX / (long long)sizeof(TMM_TYPE) / batch)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "stride%c (%lld, batch %lld) exceeds 64-bit addresses", 'A' + n,
                             strides[n], batch);
    }
    if (M == 0 || N == 0 || batch < 2) return TMM_OK;
    if (strides[2] == 0)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is 0: the products would overwrite each other");
    if (tmm__xgemm__overlaps(M, N, ldc, strides[2], batch))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is %lld: products of %lld x %lld with ldc %lld would overwrite "
                         "each other",
                         strides[2], M, N, ldc);
    return tmm__check_batch_overlap(o, strides, batch);
}

/* The kernel that stands behind a name: TMM_AUTO's choice, what takes the place of one that cannot
   be used, the better tile of TMM_REGISTER. */
static inline tmm_kernel tmm__xgemm__resolve(tmm_kernel kernel, const tmm__xgemm__product *p,
                                             long long batch)
{
    if (kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR)
        return tmm__xgemm__known_choice(p, batch, kernel == TMM_AUTO_TENSOR || TMM__ASKED_TENSOR);
#if TMM__FLOAT_TENSOR
    /* Where it cannot be used: strictly. */
    if (kernel == TMM_TENSOR &&
        ((TMM_SUM)p->alpha == 0 || !tmm__xgemm__float_fits(p->M, p->N, p->K)))
        return tmm__xgemm__choice(p, batch, 0);
#endif
#if TMM__DOUBLE_TENSOR
    if (kernel == TMM_TENSOR_INT8 &&
        ((TMM_SUM)p->alpha == 0 || !tmm__xgemm__int8_fits(p->M, p->N, p->K)))
        return tmm__xgemm__choice(p, batch, 0);
#endif
#if TMM__FAST
    if (kernel == TMM_SKINNY && !TMM__IS_FLOAT && !TMM__IS_DOUBLE &&
        tmm__min(p->M, p->N) <= TMM__SKINNY_MOST)
        kernel = TMM_DIRECT;
    if (kernel == TMM_NARROW && !tmm__xgemm__narrow_fits(p, batch)) kernel = TMM_PIPELINED;
#endif
#if TMM__FAST && TMM__IS_DOUBLE
    if (kernel == TMM_PIPELINED) kernel = tmm__xgemm__pipelined_double(p);
#endif
    if (kernel == TMM_REGISTER) kernel = tmm__xgemm__register_tile(p, batch);
    return kernel;
}

/* Is this kernel in the program, and can it do this product on this device? */
static inline tmm_status tmm__xgemm__takes(tmm_kernel kernel, const tmm__xgemm__product *p)
{
    const tmm__xgemm__kernel *row = tmm__xgemm__row(kernel);
    const long long M = p->M, N = p->N;
    if (row == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel", (int)kernel);
    tmm_status status = row->takes(p, row);
    if (status == TMM_OK && M > 0 && N > 0 &&
        (M - 1) / row->tile + 1 > INT_MAX / ((N - 1) / row->tile + 1))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "M x N is %lld x %lld: more than 2^31 - 1 tiles of %d x %d, the most that "
                         "one launch can have",
                         M, N, row->tile, row->tile);
    return status;
}

/* Products of one launch, by a kernel that takes them. */
static inline tmm_status tmm__xgemm__run(tmm_kernel kernel, const tmm__xgemm__product *p)
{
    const tmm__xgemm__kernel *row = tmm__xgemm__row(kernel);
    return row->run(p, row);
}

#if TMM__FLOAT_TENSOR
/* KERNEL TENSOR FLOAT; strictly, if there is no memory for its operands. */
static inline tmm_status tmm__xgemm__tensor(const tmm__xgemm__product *p,
                                            const tmm__xgemm__kernel *row)
{
    size_t missing = 0;
    (void)row;
    tmm_status status = tmm__xgemm__float(p, NULL, &missing);
    if (missing == 0 || status != TMM_OK) return status;
    tmm_kernel kernel = tmm__xgemm__fits(TMM_PIPELINED, p) ? TMM_PIPELINED : TMM_REGISTER;
    kernel = tmm__xgemm__resolve(kernel, p, p->batch);
    status = tmm__xgemm__takes(kernel, p);
    return status != TMM_OK ? status : tmm__xgemm__run(kernel, p);
}
#endif

#if TMM__DOUBLE_TENSOR
/* KERNEL TENSOR INT8; by FP64, if there is no memory for it. */
static inline tmm_status tmm__xgemm__int8(const tmm__xgemm__product *p,
                                          const tmm__xgemm__kernel *row)
{
    size_t missing = 0;
    (void)row;
    tmm_status status = tmm__xgemm__int8_products(p, NULL, &missing);
    if (missing == 0 || status != TMM_OK) return status;
    tmm_kernel kernel = tmm__xgemm__fits(TMM_PIPELINED, p) ? TMM_PIPELINED : TMM_REGISTER;
    kernel = tmm__xgemm__resolve(kernel, p, p->batch);
    status = tmm__xgemm__takes(kernel, p);
    return status != TMM_OK ? status : tmm__xgemm__run(kernel, p);
}
#endif

/* Products of a batch whose arguments have been checked. */
static inline tmm_status tmm__xgemm__batch(tmm_kernel kernel, const tmm__xgemm__product *given,
                                           long long batch)
{
    tmm__xgemm__product p = *given;
    kernel = tmm__xgemm__resolve(kernel, &p, batch);
    tmm_status status = tmm__xgemm__takes(kernel, &p);
    if (status != TMM_OK || p.M == 0 || p.N == 0 || batch == 0) return status;
    /* A and B are not read when alpha or K is 0: no steps along k, and no offsets to pointers
       that may be NULL. */
    if ((TMM_SUM)p.alpha == 0) p.K = 0;
    if (p.K == 0) {
        p.alpha = 0;
        p.rsA = p.csA = p.strideA = p.rsB = p.csB = p.strideB = 0;
    }
    /* In a batch all positions have the same bits, also one that is alone in the last launch. */
    p.allowed = batch > 1 ? 0 : TMM__CUT_K | TMM__PACK;
    for (long long first = 0; first < batch && status == TMM_OK; first += TMM__MOST_GRID) {
        p.A = given->A + first * p.strideA, p.B = given->B + first * p.strideB;
        p.C = given->C + first * p.strideC;
        p.batch = (unsigned)tmm__min(batch - first, TMM__MOST_GRID);
        status = tmm__xgemm__run(kernel, &p);
    }
    return status;
}

TMM_API tmm_status tmm__xgemm_batched_with(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                           long long N, long long K, TMM_TYPE alpha,
                                           const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                           long long ldb, TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                           long long strideA, long long strideB, long long strideC,
                                           long long batch, tmm_stream stream)
{
    const long long strides[3] = {strideA, strideB, strideC};
    const int reads_AB = !((TMM_SUM)alpha == 0);
    const tmm__operands operands = {opA,     opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE),
                                    reads_AB};
    tmm_status status = tmm__check_sizes(&operands);
    if (status == TMM_OK) status = tmm__xgemm__check_batch(&operands, strides, batch);
    if (status == TMM_OK && batch == 1) status = tmm__check_overlap(&operands);
    if (status != TMM_OK) return status;
    tmm__xgemm__product p = tmm__xgemm__make_product(opA, opB, M, N, K, lda, ldb);
    p.alpha = alpha, p.beta = beta, p.ldc = ldc, p.stream = stream;
    p.strideA = strideA, p.strideB = strideB, p.strideC = strideC;
    p.A = A, p.B = B, p.C = C; /* whose alignment counts for the choice */
    *tmm__device_of_product() = tmm__current_device();
    status = tmm__xgemm__batch(kernel, &p, batch);
    *tmm__device_of_product() = NULL;
    if (status == TMM_ERROR_CUDA && tmm__is_of_memory(cudaPeekAtLastError()))
        return tmm__blame_operand(&operands, status);
    return status;
}

TMM_API tmm_status tmm__xgemm_batched(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                      TMM_TYPE alpha, const TMM_TYPE *A, long long lda,
                                      const TMM_TYPE *B, long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                      long long ldc, long long strideA, long long strideB,
                                      long long strideC, long long batch, tmm_stream stream)
{
    return tmm__xgemm_batched_with(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                   strideA, strideB, strideC, batch, stream);
}

TMM_API tmm_status tmm__xgemm_with(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                   long long N, long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                   long long lda, const TMM_TYPE *B, long long ldb, TMM_TYPE beta,
                                   TMM_TYPE *C, long long ldc, tmm_stream stream)
{
    return tmm__xgemm_batched_with(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                   0, 0, 0, 1, stream);
}

TMM_API tmm_status tmm__xgemm(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                              TMM_TYPE alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                              long long ldb, TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                              tmm_stream stream)
{
    return tmm__xgemm_with(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                           stream);
}
#endif
