/* src/tiledmm/type/prepared.h. Products on tensor cores whose operands are converted once: of float
   in halves, of double in residues.
   Uses: kernels/common/finish.cuh, launch/, once/, dispatch.h. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && \
    (TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR)
TMM_API tmm_status tmm__xgemm_prepare_memory(long long lines, long long K, size_t *bytes)
{
    const long long most = tmm__xconverted_most, elements = 1ll << 58; /* in size_t */
    if (bytes == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    if (lines < 0 || K < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is negative: %lld", K < 0 ? "K" : "lines",
                         K < 0 ? K : lines);
    if (lines > most || K > most || (K > 0 && lines > elements / K))
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel %s: %lld x %lld is too large for it",
                         tmm_kernel_string(TMM__CONVERTING), lines, K);
    if (lines > 0 && K > 0) *bytes = tmm__xprepared_bytes(lines, K);
    return TMM_OK;
}

/* Prepares what `request` says, whose memory has `bytes` or is NULL. */
static inline tmm_status tmm__xprepare(const tmm_prepared *request, size_t bytes,
                                       tmm_prepared *prepared, tmm_stream stream)
{
    const int is_B = request->is_B;
    const tmm_op op = request->op;
    const long long lines = request->lines, K = request->K, ld = request->ld;
    const TMM_TYPE *X = (const TMM_TYPE *)request->X;
    void *memory = request->memory;
    if (prepared == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "prepared is NULL");
    memset(prepared, 0, sizeof *prepared);
    size_t needed = 0;
    /* As if C had no rows, or no columns. */
    const tmm__operands as_A = {op, TMM_OP_N, lines, 0, K,         X,         ld,
                                X,  1,        X,     1, sizeof *X, sizeof *X, 0};
    const tmm__operands as_B = {TMM_OP_N, op, 0, lines,     K,         X,         LLONG_MAX,
                                X,        ld, X, LLONG_MAX, sizeof *X, sizeof *X, 0};
    tmm_status status = tmm__check_gemm(is_B ? &as_B : &as_A);
    if (status == TMM_OK) status = tmm__xgemm_prepare_memory(lines, K, &needed);
    if (status != TMM_OK) return status;
    if (needed > 0 && X == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is NULL", is_B ? "B" : "A");
    if (memory != NULL && (bytes < needed || (size_t)memory % 16 != 0))
        return tmm__fail(bytes < needed ? TMM_ERROR_MEMORY : TMM_ERROR_ARGUMENT,
                         "memory is %p with %zu bytes: %zu are needed, aligned to 16", memory,
                         bytes, needed);
    const tmm__area to = tmm__area_of(memory, 1, (long long)needed, (long long)needed, 1);
    const tmm__area from = tmm__area_of(X, (op == TMM_OP_N) != is_B ? lines : K,
                                        (op == TMM_OP_N) != is_B ? K : lines, ld, sizeof *X);
    if (memory != NULL && needed > 0 && tmm__areas_meet(&from, &to))
        return tmm__fail(TMM_ERROR_ARGUMENT, "memory overlaps %s", is_B ? "B" : "A");
    int owned = memory == NULL && needed > 0;
    if (owned) memory = tmm__workspace(needed, stream);
    if (owned && memory == NULL) return tmm__no_workspace("to prepare an operand", needed, stream);
    if (needed > 0) status = tmm__xconvert_once(request, (char *)memory, stream);
    if (status != TMM_OK) {
        if (owned) (void)cudaFreeAsync(memory, stream);
        return status;
    }
    *prepared = *request;
    prepared->memory = memory, prepared->owned = owned;
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_prepare_A(tmm_op op, long long M, long long K, const TMM_TYPE *A,
                                        long long lda, void *memory, size_t bytes,
                                        tmm_prepared *prepared, tmm_stream stream)
{
    const tmm_type type = TMM__FLOAT_TENSOR ? TMM_FLOAT : TMM_DOUBLE;
    const tmm_prepared request = {A, memory, 0, 0, op, M, K, lda, type};
    return tmm__xprepare(&request, bytes, prepared, stream);
}

TMM_API tmm_status tmm__xgemm_prepare_B(tmm_op op, long long K, long long N, const TMM_TYPE *B,
                                        long long ldb, void *memory, size_t bytes,
                                        tmm_prepared *prepared, tmm_stream stream)
{
    const tmm_type type = TMM__FLOAT_TENSOR ? TMM_FLOAT : TMM_DOUBLE;
    const tmm_prepared request = {B, memory, 0, 1, op, N, K, ldb, type};
    return tmm__xprepare(&request, bytes, prepared, stream);
}

TMM_API tmm_status tmm__xgemm_release(tmm_prepared *prepared, tmm_stream stream)
{
    if (prepared == NULL) return TMM_OK;
    cudaError_t error = cudaSuccess;
    if (prepared->owned) error = cudaFreeAsync(prepared->memory, stream);
    memset(prepared, 0, sizeof *prepared);
    return tmm__cuda(error, "cudaFreeAsync");
}

/* An error if the product is too large, or if what is prepared does not fit it. */
static inline tmm_status tmm__xcheck_prepared(long long M, long long N, long long K,
                                              const tmm_tensor_options *options)
{
    const tmm_type type = TMM__FLOAT_TENSOR ? TMM_FLOAT : TMM_DOUBLE;
    if (M < 0 || N < 0 || K < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is negative", M < 0 ? "M" : N < 0 ? "N" : "K");
    for (int is_B = 0; is_B < 2; is_B++) {
        const tmm_prepared *ready = is_B ? options->B : options->A;
        long long lines = is_B ? N : M;
        size_t bytes = 0;
        if (ready == NULL) {
            tmm_status status = tmm__xgemm_prepare_memory(lines, K, &bytes);
            if (status != TMM_OK) return status;
        } else if (ready->ld == 0) { /* all zeros */
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%c is not prepared: it was released, or its preparation failed",
                             is_B ? 'B' : 'A');
        } else if (ready->is_B != is_B || ready->lines != lines || ready->K != K) {
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%c was prepared as %c with %lld %s of %lld elements, but op(%c) has "
                             "%lld %s of %lld here",
                             is_B ? 'B' : 'A', ready->is_B ? 'B' : 'A', ready->lines,
                             ready->is_B ? "columns" : "rows", ready->K, is_B ? 'B' : 'A', lines,
                             is_B ? "columns" : "rows", K);
        } else if (ready->type != type) {
            return tmm__fail(TMM_ERROR_ARGUMENT, "%c was not prepared for products of %s",
                             is_B ? 'B' : 'A', TMM__FLOAT_TENSOR ? "float" : "double");
        }
    }
    return TMM_OK;
}

/* What options are if there are none. */
static const tmm_tensor_options tmm__xno_options = {NULL, NULL};

/* What a product with such operands may do. */
static inline int tmm__xallowed_with(const tmm_tensor_options *options)
{
    return TMM__CUT_K | TMM__PACK | (options->A != NULL ? (int)TMM__READY_A : 0) |
           (options->B != NULL ? (int)TMM__READY_B : 0);
}

TMM_API tmm_status tmm__xgemm_tensor_memory(long long M, long long N, long long K,
                                            const tmm_tensor_options *options, size_t *bytes)
{
    if (bytes == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    if (options == NULL) options = &tmm__xno_options;
    tmm_status status = tmm__xcheck_prepared(M, N, K, options);
    if (status != TMM_OK || M == 0 || N == 0 || !tmm__xconverted_fits(M, N, K)) return status;
    const tmm_prepared *const prepared[2] = {options->A, options->B};
    tmm__xproduct p = tmm__xmake_product(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    tmm__plan plan;
    p.batch = 1;
    for (int i = 0; i < 2; i++) { /* ops and alignment may decide whether copies of operands pay */
        p.allowed = tmm__xallowed_with(options) & ~(i == 0 ? (int)TMM__PACK : 0);
        tmm__xplan_by(TMM__CONVERTING, &p, &plan);
        const size_t takes = tmm__xconverted_bytes(&p, &plan, prepared);
        if (takes > *bytes) *bytes = takes;
    }
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_tensor(TMM__GEMM_PARAMETERS, const tmm_tensor_options *options,
                                     tmm_stream stream)
{
    if (options == NULL) options = &tmm__xno_options;
    tmm_status status = tmm__xcheck_prepared(M, N, K, options);
    if (status != TMM_OK) return status;
    if (options->A != NULL)
        opA = options->A->op, A = (const TMM_TYPE *)options->A->X, lda = options->A->ld;
    if (options->B != NULL)
        opB = options->B->op, B = (const TMM_TYPE *)options->B->X, ldb = options->B->ld;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), alpha != 0};
    status = tmm__check_gemm(&operands);
    for (int is_B = 0; is_B < 2 && status == TMM_OK; is_B++) {
        const tmm_prepared *ready = is_B ? options->B : options->A;
        if (ready == NULL || M == 0 || N == 0 || K == 0 || !operands.reads_AB) continue;
        const long long bytes = (long long)tmm__xprepared_bytes(ready->lines, K);
        const tmm__area memory = tmm__area_of(ready->memory, 1, bytes, bytes, 1);
        const tmm__area area = tmm__area_of_operand(&operands, 2);
        if (bytes > 0 && tmm__areas_meet(&memory, &area))
            return tmm__fail_overlap(is_B ? "the memory of the prepared B"
                                          : "the memory of the prepared A");
    }
    if (status != TMM_OK) return status;
    if (M == 0 || N == 0) return TMM_OK;
    if ((TMM_SUM)alpha == 0 || !tmm__xconverted_fits(M, N, K))
        return tmm__xgemm_with(TMM__CONVERTING, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C,
                               ldc, stream);
    const tmm_prepared *const prepared[2] = {options->A, options->B};
    size_t missing = 0;
    tmm__xproduct p = tmm__xmake_product(opA, opB, M, N, K, lda, ldb);
    p.alpha = TMM__PLAIN(alpha), p.A = A, p.B = B, p.beta = beta, p.C = C, p.ldc = ldc;
    p.batch = 1, p.stream = stream;
    p.allowed = tmm__xallowed_with(options);
    tmm__plan plan;
    tmm__xplan_by(TMM__CONVERTING, &p, &plan);
    status = tmm__xconverted(&p, &plan, prepared, &missing);
    if (status == TMM_OK && missing > 0)
        return tmm__no_workspace("to convert A and B", missing, stream);
    return status;
}
#endif
