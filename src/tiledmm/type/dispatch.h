/* src/tiledmm/type/dispatch.h. tmm_?gemm and its kin: checks, choice, launch.
   Uses: kernels/common/finish.cuh, kernels/narrow/launch.h, kernels/skinny/launch.h, launch/,
   once/, after.h, choose.h.
   Used by: type/, callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Do products of a batch overlap in C? Rows of two products, s apart, overlap if these begin less
   than N elements from each other. Looks at 4096 values of s at most. */
static inline int tmm__xoverlaps(long long M, long long N, long long ldc, long long strideC,
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
static inline tmm_status tmm__xcheck_batch(const tmm__operands *o, const long long strides[3],
                                           long long batch)
{
    const long long M = o->M, N = o->N, ldc = o->ldc;
    if (batch < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "batch is negative: %lld", batch);
    for (int n = 0; n < 3; n++) {
        if (strides[n] < 0)
            return tmm__fail(TMM_ERROR_ARGUMENT, "stride%c is negative: %lld", 'A' + n, strides[n]);
        if (batch > 0 && strides[n] > TMM__MOST_BYTES /
                                          (long long)(n == 2 ? sizeof(TMM_OUT) : sizeof(TMM_TYPE)) /
                                          batch)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "stride%c (%lld, batch %lld) exceeds 64-bit addresses", 'A' + n,
                             strides[n], batch);
    }
    if (M == 0 || N == 0 || batch < 2) return TMM_OK;
    if (strides[2] == 0)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is 0: the products would overwrite each other");
    if (tmm__xoverlaps(M, N, ldc, strides[2], batch))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is %lld: products of %lld x %lld with ldc %lld would overwrite "
                         "each other",
                         strides[2], M, N, ldc);
    return tmm__check_batch_overlap(o, strides, batch);
}

/* The tile with which TMM_REGISTER should be faster. */
static inline tmm_kernel tmm__xregister_tile(const tmm__xproduct *given, long long batch)
{
    if (!TMM__ALL_TILES) return TMM_REGISTER_128;
    tmm__xproduct p = *given;
    tmm__plan small, large;
    p.batch = (unsigned)tmm__min(batch, INT_MAX);
    tmm__xplan_by(TMM_REGISTER_64, &p, &small);
    tmm__xplan_by(TMM_REGISTER_128, &p, &large);
    return small.time < large.time ? TMM_REGISTER_64 : TMM_REGISTER_128;
}

/* What stands behind a name: TMM_AUTO for a conversion that cannot be used, others for kernels
   that this type or product does not have, the better tile of TMM_REGISTER. */
static inline tmm_kernel tmm__xstands_for(tmm_kernel kernel, const tmm__xproduct *p,
                                          long long batch)
{
#if TMM__CONVERTS
    if (kernel == TMM__CONVERTING &&
        ((TMM_SUM)TMM__FACTOR(p->alpha) == 0 || !tmm__xconverted_fits(p->M, p->N, p->K)))
        return TMM_AUTO;
#endif
#if TMM__FAST
    if (kernel == TMM_SKINNY && !TMM__IS_FLOAT && tmm__xskinny_fits(p)) kernel = TMM_DIRECT;
    if (kernel == TMM_NARROW && !tmm__xnarrow_fits(p, batch)) kernel = TMM_PIPELINED;
    /* KERNEL TENSOR of double has such a pipeline, too, and the same chains of multiply-adds. Where
       it does not pay, units of double bound every kernel. Of 16 bits it has the pipeline. */
    if (kernel == TMM_SMALL && !TMM__SMALLS) kernel = TMM_PIPELINED;
    if (kernel == TMM_PIPELINED && !TMM__PIPELINES) {
#if TMM__HALF_TENSOR
        const int pays = tmm__xtensor_competes(p, tmm__xrow(TMM_TENSOR));
#else
        const int pays = tmm__xtensor_pays() && tmm__xfits(TMM_TENSOR, p);
#endif
        kernel = pays ? TMM_TENSOR : TMM_REGISTER;
    }
#endif
    if (!TMM__ALL_TILES && kernel == TMM_REGISTER_64) kernel = TMM_REGISTER;
    if (!TMM__ALL_TILES && !TMM__ONE_TILE && kernel >= TMM_SHARED_8 && kernel <= TMM_SHARED_32)
        kernel = TMM_SHARED;
    if (kernel == TMM_REGISTER) kernel = tmm__xregister_tile(p, batch);
    return kernel;
}

/* The same, and the choice of TMM_AUTO for a batch that is not empty. */
static inline tmm_kernel tmm__xresolve(tmm_kernel kernel, const tmm__xproduct *p, long long batch)
{
    kernel = tmm__xstands_for(kernel, p, batch);
    if (kernel != TMM_AUTO && kernel != TMM_AUTO_TENSOR) return kernel;
    return tmm__xknown_plan(kernel, p, batch)->value;
}

/* Is this kernel in the program, and can it do this product on this device? */
static inline tmm_status tmm__xtakes(tmm_kernel kernel, const tmm__xproduct *p)
{
    const tmm__xkernel *row = tmm__xrow(kernel);
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
static inline tmm_status tmm__xrun(tmm_kernel kernel, const tmm__xproduct *p)
{
    tmm__plan plan;
    tmm__xplan_by(kernel, p, &plan);
    return tmm__xrow(kernel)->launch(p, &plan);
}

#if TMM__CONVERTS
/* KERNEL TENSOR FLOAT or INT8; strictly, if there is no memory for its operands. */
static inline tmm_status tmm__xsplit(const tmm__xproduct *p, const tmm__plan *plan)
{
    size_t missing = 0;
    tmm_status status = tmm__xconverted(p, plan, NULL, &missing);
    if (missing == 0 || status != TMM_OK) return status;
    tmm_kernel kernel = tmm__xfits(TMM_PIPELINED, p) ? TMM_PIPELINED : TMM_REGISTER;
    kernel = tmm__xstands_for(kernel, p, p->batch);
    status = tmm__xtakes(kernel, p);
    return status != TMM_OK ? status : tmm__xrun(kernel, p);
}
#endif

/* Products of a batch whose arguments have been checked. */
static inline tmm_status tmm__xbatch(tmm_kernel kernel, const tmm__xproduct *given, long long batch)
{
    kernel = tmm__xstands_for(kernel, given, batch);
    const int chooses = kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR;
    const int empty = given->M == 0 || given->N == 0 || batch == 0;
    tmm__plan next;
    tmm_status status = chooses ? TMM_OK : tmm__xtakes(kernel, given);
    if (status != TMM_OK || empty) return status;
    const tmm__plan *plan = tmm__xknown_plan(kernel, given, batch);
    if (chooses) status = tmm__xtakes(plan->value, given);
    tmm__xproduct p = tmm__xfirst_launch(given, batch);
    for (long long first = 0; first < batch && status == TMM_OK; first += TMM__MOST_GRID) {
        p.A = given->A + first * p.strideA, p.B = given->B + first * p.strideB;
        p.C = given->C + first * p.strideC;
#ifdef TMM_WITH_EPILOGUE
        p.alpha.after.product = first;
#endif
        p.batch = (unsigned)tmm__min(batch - first, TMM__MOST_GRID);
        if (first > 0) { /* their number and alignment may be others */
            tmm__xplan_by(plan->value, &p, &next);
            plan = &next;
        }
        status = tmm__xrow(plan->value)->launch(&p, plan);
    }
    return status;
}

/* What all products ask of their arguments, but of an epilogue. */
static inline tmm_status tmm__xcheck_products(const tmm__operands *o, const long long strides[3],
                                              long long batch)
{
    tmm_status status = tmm__check_sizes_of_batch(o, batch);
    if (status == TMM_OK) status = tmm__xcheck_batch(o, strides, batch);
    if (status == TMM_OK && batch == 1) status = tmm__check_overlap(o);
    return status;
}

/* Products whose arguments have been checked. */
static inline tmm_status tmm__xproducts(tmm_kernel kernel, const tmm__operands *o, TMM__ALPHA alpha,
                                        TMM_SCALAR beta, const long long strides[3],
                                        long long batch, tmm_stream stream)
{
    tmm__xproduct p = tmm__xmake_product(o->opA, o->opB, o->M, o->N, o->K, o->lda, o->ldb);
    p.alpha = alpha, p.beta = beta, p.ldc = o->ldc, p.stream = stream;
    p.strideA = strides[0], p.strideB = strides[1], p.strideC = strides[2];
    p.A = (const TMM_TYPE *)o->A, p.B = (const TMM_TYPE *)o->B;
    p.C = (TMM_OUT *)o->C; /* the alignment of these counts for the choice */
    *tmm__device_of_product() = tmm__current_device();
    const tmm_status status = tmm__xbatch(kernel, &p, batch);
    *tmm__device_of_product() = NULL;
    if (status == TMM_ERROR_CUDA && tmm__is_of_memory(cudaPeekAtLastError()))
        return tmm__blame_operand(o, status);
    return status;
}

TMM_API tmm_status tmm__xgemm_batched_with(tmm_kernel kernel, TMM__GEMM_PARAMETERS,
                                           TMM__BATCH_PARAMETERS, tmm_stream stream)
{
    const long long strides[3] = {strideA, strideB, strideC};
    const int reads_AB = !((TMM_SUM)alpha == 0);
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    const tmm_status status = tmm__xcheck_products(&operands, strides, batch);
    if (status != TMM_OK) return status;
    return tmm__xproducts(kernel, &operands, TMM__PLAIN(alpha), beta, strides, batch, stream);
}

#ifdef TMM_WITH_EPILOGUE
TMM_API tmm_status tmm__xgemm_batched_epilogue(tmm_kernel kernel, TMM__GEMM_PARAMETERS,
                                               TMM__BATCH_PARAMETERS, const tmm_epilogue *epilogue,
                                               tmm_stream stream)
{
    const long long strides[3] = {strideA, strideB, strideC};
    const int reads_AB = !((TMM_SUM)alpha == 0);
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    tmm__xalpha with = tmm__xplain(alpha);
    tmm_status status = tmm__xcheck_products(&operands, strides, batch);
    if (status == TMM_OK)
        status = tmm__xset_after(&with.after, epilogue, &operands, strideC, batch);
    if (status != TMM_OK) return status;
    return tmm__xproducts(kernel, &operands, with, beta, strides, batch, stream);
}

TMM_API tmm_status tmm__xgemm_epilogue(tmm_kernel kernel, TMM__GEMM_PARAMETERS,
                                       const tmm_epilogue *epilogue, tmm_stream stream)
{
    return tmm__xgemm_batched_epilogue(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C,
                                       ldc, 0, 0, 0, 1, epilogue, stream);
}
#endif

TMM_API tmm_status tmm__xgemm_batched(TMM__GEMM_PARAMETERS, TMM__BATCH_PARAMETERS,
                                      tmm_stream stream)
{
    return tmm__xgemm_batched_with(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                   strideA, strideB, strideC, batch, stream);
}

TMM_API tmm_status tmm__xgemm_with(tmm_kernel kernel, TMM__GEMM_PARAMETERS, tmm_stream stream)
{
    return tmm__xgemm_batched_with(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                   0, 0, 0, 1, stream);
}

TMM_API tmm_status tmm__xgemm(TMM__GEMM_PARAMETERS, tmm_stream stream)
{
    return tmm__xgemm_with(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                           stream);
}
#endif
