/* src/tiledmm/type/dispatch.h. tmm_?gemm and its kin: checks, choice, launch.
   Uses: type/choose.h, the launchers in kernels/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
TMM_API tmm_status TMM_FN(gemm_batched_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                             long long N, long long K, TMM_TYPE alpha,
                                             const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                             long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                             long long ldc, long long strideA, long long strideB,
                                             long long strideC, long long batch, tmm_stream stream)
{
    tmm_status status =
        tmm__check_gemm(opA, opB, M, N, K, !(alpha == 0), A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE));
    if (status != TMM_OK) return status;
    if (batch < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "batch is negative: %lld", batch);
    const long long strides[3] = {strideA, strideB, strideC};
    for (int n = 0; n < 3; n++) {
        if (strides[n] < 0)
            return tmm__fail(TMM_ERROR_ARGUMENT, "stride%c is negative: %lld", 'A' + n, strides[n]);
        if (batch > 0 && strides[n] > LLONG_MAX / (long long)sizeof(TMM_TYPE) / batch)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "stride%c (%lld, batch %lld) exceeds 64-bit addresses", 'A' + n,
                             strides[n], batch);
    }
    if (batch > 1 && strideC == 0)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is 0: the products would overwrite each other");
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
    if (kernel == TMM_TENSOR && (alpha == 0 || !TMM_FN(gemm__float_fits)(M, N, K)))
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
    long long tile; /* the edge of the tile of C that a block computes */
    switch (kernel) {
#if TMM__ONE_TILE
    case TMM_SHARED: tile = TMM_TILE; break;
#else
    case TMM_SHARED_8: tile = 8; break;
    case TMM_SHARED_16: tile = 16; break;
    case TMM_SHARED:
    case TMM_SHARED_32: tile = 32; break;
#endif
    case TMM_GLOBAL: tile = 32; break;
    case TMM_REGISTER_64: tile = 64; break;
    case TMM_REGISTER_128: tile = 128; break;
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
        tile = 64;
        break;
    case TMM_PIPELINED: tile = 64; break;
    case TMM_SMALL: tile = 16; break;
    case TMM_SKINNY: tile = 16; break;
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
    if (kernel == TMM_SMALL && K > 8ll * INT_MAX - 8)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel small: K (%lld) is too large for it", K);
    if (kernel == TMM_SKINNY && M > 16 && N > 16)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: M x N is %lld x %lld, but one of them must be 16 at most",
                         M, N);
    if ((kernel == TMM_PIPELINED || (kernel == TMM_TENSOR && TMM__IS_DOUBLE)) &&
        !TMM_FN(gemm__fits)(kernel, M, N, K, lda, ldb))
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s: K, lda or ldb (%lld, %lld, %lld) is too large for it",
                         tmm_kernel_string(kernel), K, lda, ldb);
#endif
    if (M == 0 || N == 0 || batch == 0) return TMM_OK;
    long long tiles_down = (M - 1) / tile + 1, tiles_across = (N - 1) / tile + 1;
    if (tiles_down > INT_MAX / tiles_across)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "M x N is %lld x %lld: more than 2^31 - 1 tiles of %lld x %lld, the most "
                         "that one launch can have",
                         M, N, tile, tile);

    /* A and B are not read when alpha or K is 0: no steps along k, and no offsets to pointers
       that may be NULL. */
    if (alpha == 0) K = 0;
    long long rsA = opA == TMM_OP_N ? lda : 1, csA = opA == TMM_OP_N ? 1 : lda;
    long long rsB = opB == TMM_OP_N ? ldb : 1, csB = opB == TMM_OP_N ? 1 : ldb;
    if (K == 0) {
        alpha = 0;
        rsA = csA = strideA = rsB = csB = strideB = 0;
    }
#if TMM__FAST
    /* In a batch all positions have the same bits, also one that is alone in the last launch. */
    int may = batch > 1 ? 0 : TMM__MAY_SPLIT | TMM__MAY_PACK;
#endif
    for (long long first = 0; first < batch; first += 65535) { /* the limit of gridDim.z */
        dim3 grid((unsigned)(tiles_down * tiles_across), 1,
                  (unsigned)tmm__min(batch - first, 65535));
        const TMM_TYPE *a = A + first * strideA, *b = B + first * strideB;
        TMM_TYPE *c = C + first * strideC;
#define TMM__LAUNCH(function, threads_x, threads_y)                                                \
    function<<<grid, dim3(threads_x, threads_y), 0, stream>>>(M, N, K, alpha, a, rsA, csA,         \
                                                              strideA, b, rsB, csB, strideB, beta, \
                                                              c, ldc, strideC)
        switch (kernel) {
        case TMM_GLOBAL: TMM__LAUNCH(tmm_gemm_global, 32, 32); break;
#if TMM__ONE_TILE
        default: TMM__LAUNCH(tmm_gemm_shared, TMM_TILE, TMM_TILE); break;
#else
        case TMM_SHARED_8: TMM__LAUNCH(TMM_FN(gemm_shared_8), 8, 8); break;
        case TMM_SHARED_16: TMM__LAUNCH(TMM_FN(gemm_shared_16), 16, 16); break;
        default: TMM__LAUNCH(TMM_FN(gemm_shared_32), 32, 32); break;
#endif
        case TMM_REGISTER_64: TMM__LAUNCH(TMM_FN(gemm_register_64), 256, 1); break;
        case TMM_REGISTER_128: TMM__LAUNCH(TMM_FN(gemm_register_128), 256, 1); break;
#if TMM__FAST
#if !TMM__IS_DOUBLE
        case TMM_PIPELINED:
            status = TMM_FN(gemm__pipelined)(M, N, K, alpha, a, rsA, csA, strideA, b, rsB, csB,
                                             strideB, beta, c, ldc, strideC, grid.z, may, stream);
            break;
#else
        case TMM_TENSOR:
            status = TMM_FN(gemm__tensor)(M, N, K, alpha, a, rsA, csA, strideA, b, rsB, csB,
                                          strideB, beta, c, ldc, strideC, grid.z, may, stream);
            break;
#endif
#if TMM__FLOAT_TENSOR
        case TMM_TENSOR: {
            int done = 0;
            status =
                TMM_FN(gemm__float)(M, N, K, alpha, a, rsA, csA, strideA, b, rsB, csB, strideB,
                                    beta, c, ldc, strideC, grid.z, NULL, NULL, may, &done, stream);
            if (done || status != TMM_OK) break;
            kernel = TMM_PIPELINED;
            if (!TMM_FN(gemm__fits)(kernel, M, N, K, lda, ldb)) kernel = TMM_REGISTER;
            return TMM_FN(gemm_batched_with)(kernel, opA, opB, M, N, K, alpha, a, lda, b, ldb, beta,
                                             c, ldc, strideA, strideB, strideC, batch - first,
                                             stream);
        }
#endif
        case TMM_SMALL:
            status = TMM_FN(gemm__small)(M, N, K, alpha, a, rsA, csA, strideA, b, rsB, csB, strideB,
                                         beta, c, ldc, strideC, grid.z, stream);
            break;
        case TMM_SKINNY:
            status = TMM_FN(gemm__skinny)(M, N, K, alpha, a, rsA, csA, strideA, b, rsB, csB,
                                          strideB, beta, c, ldc, strideC, grid.z, stream);
            break;
#endif
        }
#undef TMM__LAUNCH
        if (status == TMM_OK) status = tmm__cuda(cudaGetLastError(), "kernel launch");
        if (status != TMM_OK) return status;
    }
    return TMM_OK;
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
