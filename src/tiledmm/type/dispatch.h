/* src/tiledmm/type/dispatch.h. tmm_?gemm and its kin: checks, choice, launch.
   Uses: type/choose.h, the launchers. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Do products of a batch overlap in C? Rows of two products, s apart, overlap if these begin less
   than N elements from each other. Looks at 4096 values of s at most. */
static inline int TMM_FN(gemm__overlaps)(long long M, long long N, long long ldc, long long strideC,
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
static inline tmm_status TMM_FN(gemm__check_batch)(long long M, long long N, long long ldc,
                                                   const long long strides[3], long long batch)
{
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
    if (TMM_FN(gemm__overlaps)(M, N, ldc, strides[2], batch))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is %lld: products of %lld x %lld with ldc %lld would overwrite "
                         "each other",
                         strides[2], M, N, ldc);
    return TMM_OK;
}

/* The kernel that stands behind a name: TMM_AUTO's choice, what takes the place of one that cannot be
   used, the better tile of TMM_REGISTER. */
static inline tmm_kernel TMM_FN(gemm__resolve)(tmm_kernel kernel, const TMM_FN(gemm__product) * p,
                                               long long lda, long long ldb, long long batch)
{
    const long long M = p->M, N = p->N, K = p->K;
    if (kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR) {
        kernel =
            TMM_FN(gemm__choice)(M, N, K, batch, kernel == TMM_AUTO_TENSOR || TMM__AUTO_TENSOR);
#if TMM__FAST
        if (kernel > TMM_REGISTER_128 && !TMM_FN(gemm__fits)(kernel, M, N, K, lda, ldb))
            kernel = TMM_REGISTER; /* the only ones for such strides and K */
#endif
    }
#if TMM__FLOAT_TENSOR
    /* Where it cannot be used: strictly. */
    if (kernel == TMM_TENSOR && ((TMM_SUM)p->alpha == 0 || !TMM_FN(gemm__float_fits)(M, N, K)))
        kernel = TMM_FN(gemm__fits)(TMM_PIPELINED, M, N, K, lda, ldb)
                     ? TMM_FN(gemm__choice)(M, N, K, batch, 0)
                     : TMM_REGISTER;
#endif
#if TMM__FAST && TMM__IS_DOUBLE
    if (kernel == TMM_PIPELINED) kernel = TMM_FN(gemm__pipelined_double)(M, N, K, lda, ldb);
#endif
    if (kernel == TMM_REGISTER)
        kernel =
            TMM_FN(gemm__register_tile)(M, N, batch) == 64 ? TMM_REGISTER_64 : TMM_REGISTER_128;
    (void)lda, (void)ldb;
    return kernel;
}

/* Is this kernel in the program, and can it do this product on this device? *tile becomes the least
   edge of its tiles of C. */
static inline tmm_status TMM_FN(gemm__supports)(tmm_kernel kernel, const TMM_FN(gemm__product) * p,
                                                long long lda, long long ldb, int *tile)
{
    const long long M = p->M, N = p->N;
    switch (kernel) {
#if TMM__ONE_TILE
    case TMM_SHARED: *tile = TMM_TILE; break;
#else
    case TMM_SHARED_8: *tile = 8; break;
    case TMM_SHARED_16: *tile = 16; break;
    case TMM_SHARED:
    case TMM_SHARED_32: *tile = 32; break;
#endif
    case TMM_GLOBAL: *tile = 32; break;
    case TMM_REGISTER_64: *tile = 64; break;
    case TMM_REGISTER_128: *tile = 128; break;
#if TMM__FAST
    case TMM_TENSOR:
#if TMM__IS_FLOAT
        if (!TMM__FLOAT_TENSOR)
            return tmm__fail(TMM_ERROR_UNSUPPORTED,
                             "kernel tensor is not in this program for float: define "
                             "TMM_FLOAT_TENSOR before tiledmm.cuh is included");
#else
        if (!TMM__IS_DOUBLE)
            return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel tensor is for double and float alone");
#endif
        if (TMM__IS_DOUBLE && !TMM_FN(gemm__tensor_fits)())
            return tmm__fail(TMM_ERROR_UNSUPPORTED,
                             "kernel tensor needs %d bytes of shared memory a block, more than "
                             "this device has",
                             TMM__TENSOR_BYTES(64, 64));
        *tile = 64;
        break;
    case TMM_PIPELINED: *tile = 64; break;
    case TMM_SMALL: *tile = 16; break;
    case TMM_SKINNY: *tile = 16; break;
#else
    case TMM_PIPELINED:
    case TMM_SMALL:
    case TMM_SKINNY:
    case TMM_TENSOR:
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s is not in this program: it was compiled with TMM_SIMPLE",
                         tmm_kernel_string(kernel));
#endif
    default:
        if (tmm_kernel_string(kernel) == NULL)
            return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel",
                             (int)kernel);
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s was not made for this type: its TMM_TILE asks for one tile, "
                         "TMM_SHARED",
                         tmm_kernel_string(kernel));
    }
#if TMM__FAST
    if (kernel == TMM_SKINNY && M > 16 && N > 16)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: M x N is %lld x %lld, but one of them must be 16 at most",
                         M, N);
#endif
    if (M > 0 && N > 0 && (M - 1) / *tile + 1 > INT_MAX / ((N - 1) / *tile + 1))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "M x N is %lld x %lld: more than 2^31 - 1 tiles of %d x %d, the most that "
                         "one launch can have",
                         M, N, *tile, *tile);
#if TMM__FAST
    if (kernel == TMM_SMALL && p->K > 8ll * INT_MAX - 8)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel small: K (%lld) is too large for it", p->K);
    if ((kernel == TMM_PIPELINED || (kernel == TMM_TENSOR && TMM__IS_DOUBLE)) &&
        !TMM_FN(gemm__fits)(kernel, M, N, p->K, lda, ldb))
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s: K, lda or ldb (%lld, %lld, %lld) is too large for it",
                         tmm_kernel_string(kernel), p->K, lda, ldb);
#endif
    (void)lda, (void)ldb;
    return TMM_OK;
}

/* TMM_GLOBAL, SHARED and REGISTER: a block for each tile. */
static inline tmm_status TMM_FN(gemm__simple)(TMM_FN(gemm__product) p, tmm_kernel kernel, int tile)
{
    const void *function = (const void *)TMM_FN(gemm_global);
    unsigned edge = kernel >= TMM_REGISTER ? 16 : (unsigned)tile; /* of a block's threads */
    dim3 tiles((unsigned)(((p.M - 1) / tile + 1) * ((p.N - 1) / tile + 1)), 1, p.batch);
    switch (kernel) {
#if TMM__ONE_TILE
    case TMM_SHARED: function = (const void *)TMM__JOIN(TMM_FN(gemm_shared_), TMM_TILE); break;
#else
    case TMM_SHARED_8: function = (const void *)TMM_FN(gemm_shared_8); break;
    case TMM_SHARED_16: function = (const void *)TMM_FN(gemm_shared_16); break;
    case TMM_SHARED:
    case TMM_SHARED_32: function = (const void *)TMM_FN(gemm_shared_32); break;
#endif
    case TMM_REGISTER_64: function = (const void *)TMM_FN(gemm_register_64); break;
    case TMM_REGISTER_128: function = (const void *)TMM_FN(gemm_register_128); break;
    default: break; /* TMM_GLOBAL */
    }
    void *arguments[20];
    (void)TMM_FN(gemm__arguments)(&p, arguments);
    return tmm__launch(function, tiles, kernel >= TMM_REGISTER ? dim3(256) : dim3(edge, edge), 0,
                       arguments, p.stream);
}

/* Products of one launch, by a kernel that supports them. */
static inline tmm_status TMM_FN(gemm__run)(const TMM_FN(gemm__product) * p, tmm_kernel kernel,
                                           int tile)
{
    switch (kernel) {
#if TMM__FAST
#if !TMM__IS_DOUBLE
    case TMM_PIPELINED: return TMM_FN(gemm__pipelined)(*p);
#else
    case TMM_TENSOR: return TMM_FN(gemm__tensor)(*p);
#endif
#if TMM__FLOAT_TENSOR
    case TMM_TENSOR: {
        int done = 0, least = 64;
        tmm_status status = TMM_FN(gemm__float)(p, NULL, NULL, &done);
        if (done || status != TMM_OK) return status;
        /* Without memory for its operands, strictly. */
        long long ldA = p->csA == 1 ? p->rsA : p->csA, ldB = p->csB == 1 ? p->rsB : p->csB;
        if (TMM_FN(gemm__fits)(TMM_PIPELINED, p->M, p->N, p->K, ldA, ldB))
            return TMM_FN(gemm__pipelined)(*p);
        kernel = TMM_FN(gemm__resolve)(TMM_REGISTER, p, ldA, ldB, p->batch);
        status = TMM_FN(gemm__supports)(kernel, p, ldA, ldB, &least);
        return status != TMM_OK ? status : TMM_FN(gemm__simple)(*p, kernel, least);
    }
#endif
    case TMM_SMALL: return TMM_FN(gemm__small)(*p);
    case TMM_SKINNY: return TMM_FN(gemm__skinny)(*p);
#endif
    default: return TMM_FN(gemm__simple)(*p, kernel, tile);
    }
}

TMM_API tmm_status TMM_FN(gemm_batched_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                             long long N, long long K, TMM_TYPE alpha,
                                             const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                             long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                             long long ldc, long long strideA, long long strideB,
                                             long long strideC, long long batch, tmm_stream stream)
{
    const long long strides[3] = {strideA, strideB, strideC};
    int tile = 0;
    tmm_status status = tmm__check_gemm(opA, opB, M, N, K, !((TMM_SUM)alpha == 0), A, lda, B, ldb,
                                        C, ldc, sizeof(TMM_TYPE));
    if (status == TMM_OK) status = TMM_FN(gemm__check_batch)(M, N, ldc, strides, batch);
    if (status != TMM_OK) return status;
    TMM_FN(gemm__product) p = TMM_FN(gemm__make_product)(opA, opB, M, N, K, lda, ldb);
    p.alpha = alpha, p.beta = beta, p.ldc = ldc, p.stream = stream;
    p.strideA = strideA, p.strideB = strideB, p.strideC = strideC;
    kernel = TMM_FN(gemm__resolve)(kernel, &p, lda, ldb, batch);
    status = TMM_FN(gemm__supports)(kernel, &p, lda, ldb, &tile);
    if (status != TMM_OK || M == 0 || N == 0 || batch == 0) return status;
    /* A and B are not read when alpha or K is 0: no steps along k, and no offsets to pointers
       that may be NULL. */
    if ((TMM_SUM)alpha == 0) p.K = 0;
    if (p.K == 0) {
        p.alpha = 0;
        p.rsA = p.csA = p.strideA = p.rsB = p.csB = p.strideB = 0;
    }
    /* In a batch all positions have the same bits, also one that is alone in the last launch. */
    p.allowed = batch > 1 ? 0 : TMM__CUT_K | TMM__PACK;
    for (long long first = 0; first < batch && status == TMM_OK; first += 65535) { /* gridDim.z */
        p.A = A + first * p.strideA, p.B = B + first * p.strideB, p.C = C + first * strideC;
        p.batch = (unsigned)tmm__min(batch - first, 65535);
        status = TMM_FN(gemm__run)(&p, kernel, tile);
    }
    return status;
}

TMM_API tmm_status TMM_FN(gemm_batched)(tmm_op opA, tmm_op opB, long long M, long long N,
                                        long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                        long long lda, const TMM_TYPE *B, long long ldb,
                                        TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                        long long strideA, long long strideB, long long strideC,
                                        long long batch, tmm_stream stream)
{
    return TMM_FN(gemm_batched_with)(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C,
                                     ldc, strideA, strideB, strideC, batch, stream);
}

TMM_API tmm_status TMM_FN(gemm_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                     long long N, long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                     long long lda, const TMM_TYPE *B, long long ldb, TMM_TYPE beta,
                                     TMM_TYPE *C, long long ldc, tmm_stream stream)
{
    return TMM_FN(gemm_batched_with)(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                     0, 0, 0, 1, stream);
}

TMM_API tmm_status TMM_FN(gemm)(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                TMM_TYPE alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                long long ldb, TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                tmm_stream stream)
{
    return TMM_FN(gemm_with)(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                             stream);
}
#endif
