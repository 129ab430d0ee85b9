/* src/tiledmm/type/host_layer.h. HOST LAYER: products from host memory.
   Uses: host/, kernels/common/finish.cuh, launch/, once/, choose.h, dispatch.h.
   Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
TMM_API tmm_status tmm__xmatmul(long long M, long long N, long long K, const TMM_TYPE *A,
                                const TMM_TYPE *B, TMM_OUT *C)
{
    const long long lda = K > 1 ? K : 1, ldb = N > 1 ? N : 1;
    const tmm__operands operands = {
        TMM_OP_N, TMM_OP_N, M, N, K, A, lda, B, ldb, C, ldb, sizeof(TMM_TYPE), sizeof(TMM_OUT), 1};
    tmm_status status = tmm__check_gemm(&operands);
    if (status != TMM_OK || M == 0 || N == 0) return status;
#if TMM__HOST_LAYER && !defined(TMM_EPILOGUE)
    /* Several threads stage large matrices faster than cudaMemcpy does. On one device elements of 16
       bits may go by tensor cores, whose bits are those of this kind of device. */
    tmm_host_options large;
    memset(&large, 0, sizeof large);
    large.kernel = (TMM__HALF_TENSOR) != 0 ? TMM_AUTO_TENSOR : TMM_AUTO;
    if (((double)M * K + (double)K * N + (double)M * N) * sizeof(TMM_TYPE) >= 6.4e7)
        return tmm__xgemm_host(TMM_OP_N, TMM_OP_N, M, N, K, (TMM_SCALAR)1, A, lda, B, N,
                               (TMM_SCALAR)0, C, N, &large);
#endif
    static const char *const names[3] = {"A", "B", "C"};
    static const char *const calls[3] = {"cudaMalloc for A", "cudaMalloc for B",
                                         "cudaMalloc for C"};
    const void *const from[3] = {A, B, C};
    const size_t bytes[3] = {(size_t)(M * K) * sizeof(TMM_TYPE), (size_t)(K * N) * sizeof(TMM_TYPE),
                             (size_t)(M * N) * sizeof(TMM_OUT)};
    void *device[3] = {NULL, NULL, NULL};
    int staged = 0;
    for (int n = 0; n < 3 && status == TMM_OK; n++)
        status = tmm__is_staged(names[n], from[n], bytes[n], &staged);
    /* With K = 0 there is no A and no B: cudaMalloc of 0 bytes gives NULL. */
    for (int n = 0; n < 3 && status == TMM_OK; n++)
        status = tmm__cuda(cudaMalloc(&device[n], bytes[n]), calls[n]);
    for (int n = 0; n < 2 && status == TMM_OK; n++)
        status = tmm__cuda(cudaMemcpy(device[n], from[n], bytes[n], cudaMemcpyHostToDevice),
                           n == 0 ? "copy of A to the device" : "copy of B to the device");
    if (status == TMM_OK)
        status = tmm__xgemm(TMM_OP_N, TMM_OP_N, M, N, K, (TMM_SCALAR)1, (TMM_TYPE *)device[0], lda,
                            (TMM_TYPE *)device[1], N, (TMM_SCALAR)0, (TMM_OUT *)device[2], N, 0);
    if (status == TMM_OK)
        status = tmm__cuda(cudaMemcpy(C, device[2], bytes[2], cudaMemcpyDeviceToHost),
                           "multiplication, or copy of C to the host");
    /* cudaFree(NULL) does nothing. An error here would only repeat an earlier one. */
    for (int n = 0; n < 3; n++) (void)tmm__succeeded(cudaFree(device[n]));
    return status;
}

#if TMM__HOST_LAYER
/* The kernel for a product of blocks. It sums in ascending k, whatever the shape of the block, so
   that the bits do not depend on the blocks: TMM_REGISTER where no other such kernel fits. */
static inline tmm_kernel tmm__xblock_kernel(tmm_kernel kernel, const tmm__xproduct *p)
{
#if TMM__CONVERTS
    tmm__xproduct square = tmm__xmake_product(TMM_OP_N, TMM_OP_N, 4096, 4096, p->K, p->K, 4096);
    TMM__FACTOR(square.alpha) = 1, square.ldc = 4096;
    if (kernel == TMM_AUTO_TENSOR)
        kernel = tmm__xchoice(&square, 1, 1) == TMM__CONVERTING ? TMM__CONVERTING : TMM_AUTO;
    if (kernel == TMM__CONVERTING && tmm__xconverted_fits(p->M, p->N, p->K)) return kernel;
    if (kernel == TMM__CONVERTING) kernel = TMM_AUTO; /* K is small: so it is for all blocks */
#endif
#if TMM__HALF_TENSOR
    if (kernel == TMM_AUTO_TENSOR && tmm__xtensor_competes(p, tmm__xrow(TMM_TENSOR)))
        kernel = TMM_TENSOR;
#endif
    if (kernel == TMM_AUTO_TENSOR) kernel = TMM_AUTO;
#if TMM__FAST
    if (kernel == TMM_AUTO && tmm__xtensor_pays() && tmm__xfits(TMM_TENSOR, p)) kernel = TMM_TENSOR;
    if (kernel == TMM_AUTO && sizeof(TMM_TYPE) >= 4 && p->M >= 128 && p->N >= 128 &&
        tmm__xfits(TMM_PIPELINED, p))
        kernel = TMM_PIPELINED;
#endif
    return tmm__xresolve(kernel == TMM_AUTO ? TMM_REGISTER : kernel, p, 1);
}

/* One product of blocks, for tmm__host_run and tmm__multi_run. */
static inline tmm_status tmm__xblock(const tmm__job *job, const tmm__block_product *block,
                                     tmm_stream stream)
{
    const long long M = block->M, N = block->N, K = block->K;
    const TMM_SCALAR beta = block->adds ? (TMM_SCALAR)1 : *(const TMM_SCALAR *)job->beta;
    TMM_OUT *C = (TMM_OUT *)block->C;
    if (job->kernel == TMM_SMALL || job->kernel == TMM_SKINNY)
        return tmm__fail(
            TMM_ERROR_UNSUPPORTED,
            "kernel %s sums in slices of k that depend on the shape: the bits would depend "
            "on the blocks",
            tmm_kernel_string(job->kernel));
    if (K <= 0)
        return tmm__xgemm_with(TMM_REGISTER, TMM_OP_N, TMM_OP_N, M, N, 0, (TMM_SCALAR)0, NULL, 1,
                               NULL, N, beta, C, block->ldc, stream);
    tmm__xproduct p = tmm__xmake_product(job->opA, job->opB, M, N, K, block->lda, block->ldb);
    p.alpha = TMM__PLAIN(*(const TMM_SCALAR *)job->alpha), p.beta = beta, p.stream = stream;
    p.A = (const TMM_TYPE *)block->A, p.B = (const TMM_TYPE *)block->B;
    p.C = C, p.ldc = block->ldc, p.batch = 1;
    const tmm_kernel kernel = tmm__xblock_kernel(job->kernel, &p);
#if TMM__CONVERTS
    if (kernel == TMM__CONVERTING) {
        size_t missing = 0;
        tmm__plan plan;
        tmm__xplan_by(kernel, &p, &plan);
        tmm_status status = tmm__xconverted(&p, &plan, NULL, &missing);
        if (status == TMM_OK && missing > 0)
            return tmm__fail(TMM_ERROR_MEMORY,
                             "kernel %s: no memory to convert blocks of A and B: %zu bytes",
                             tmm_kernel_string(kernel), missing);
        return status;
    }
#endif
    p.allowed = job->allowed;
    tmm_status status = tmm__xtakes(kernel, &p);
    return status != TMM_OK ? status : tmm__xrun(kernel, &p);
}

/* What products from host memory and those of several devices have in common. */
static inline tmm__job tmm__xjob(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                 const TMM_SCALAR *alpha, const TMM_SCALAR *beta)
{
    tmm__job job;
    memset(&job, 0, sizeof job);
    job.opA = opA, job.opB = opB, job.M = M, job.N = N, job.K = K;
    job.size = sizeof(TMM_TYPE), job.size_C = sizeof(TMM_OUT);
    /* An element of C with fewer bits than a sum is rounded once: its k are one part. */
    job.depth = sizeof(TMM_OUT) < sizeof(TMM_SUM) ? LLONG_MAX : TMM__HOST_DEPTH;
    job.alpha = alpha, job.beta = beta;
    job.launch = tmm__xblock;
    return job;
}

TMM_API tmm_status tmm__xgemm_host(TMM__GEMM_PARAMETERS, const tmm_host_options *options)
{
    const int reads_AB = (TMM_SUM)alpha != 0;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    tmm_status status = tmm__check_gemm(&operands);
    if (status != TMM_OK) return status;
#ifdef TMM_EPILOGUE
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "tmm_?gemm_host cannot be used with a TMM_EPILOGUE");
#endif
    if (M == 0 || N == 0) return TMM_OK;
    tmm__job job = tmm__xjob(opA, opB, M, N, reads_AB ? K : 0, &alpha, &beta);
    job.A = (const char *)A, job.B = (const char *)B, job.C = (char *)C;
    job.lda = lda, job.ldb = ldb, job.ldc = ldc;
    job.reads_C = (TMM_SUM)beta != 0;
    return tmm__host_run(&job, options);
}

/* The arguments of tmm_?gemm_multi that concern one part. `reads`: A and B are read. */
static inline tmm_status tmm__xcheck_part(tmm_op opA, tmm_op opB, const tmm_part *p, long long M,
                                          long long N, long long K, int reads)
{
    const void *unread = &unread;
    long long a = opA == TMM_OP_N ? K : M, lda = a > 1 ? a : 1, ldc = N > 1 ? N : 1;
    if (p->rows > 0) lda = p->lda, ldc = p->ldc; /* else it has neither A nor C */
    const tmm__operands operands = {
        opA, TMM_OP_N,         p->rows,         N,    K, p->A, lda, unread, N > 1 ? N : 1, p->C,
        ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads};
    tmm_status status = tmm__check_sizes(&operands);
    if (status == TMM_OK && p->rows_B > 0)
        status = tmm__check_matrix("B", "ldb", reads ? p->B : unread, p->rows_B,
                                   opB == TMM_OP_N ? N : K, p->ldb, sizeof(TMM_TYPE));
    return status;
}

/* An error if C of a part has an element in common with A or B of any. */
static inline tmm_status tmm__xcheck_parts(const tmm__job *job, const tmm_part *parts, int count)
{
    const int nA = job->opA == TMM_OP_N, nB = job->opB == TMM_OP_N;
    const long long N = job->N, K = job->K;
    const size_t size = sizeof(TMM_TYPE);
    for (int n = 0; n < count && K > 0; n++) {
        const tmm_part *p = &parts[n];
        const tmm__area C = tmm__area_of(p->C, p->rows, N, p->ldc, sizeof(TMM_OUT));
        for (int m = 0; m < count && p->rows > 0; m++) {
            const tmm_part *q = &parts[m];
            const tmm__area A =
                tmm__area_of(q->A, nA ? q->rows : K, nA ? K : q->rows, q->lda, size);
            const tmm__area B = tmm__area_of(q->B, q->rows_B, nB ? N : K, q->ldb, size);
            const int at_A = q->rows > 0 && tmm__areas_meet(&A, &C);
            if (at_A || (q->rows_B > 0 && tmm__areas_meet(&B, &C)))
                return tmm__fail(TMM_ERROR_ARGUMENT, "C of parts[%d] overlaps %c of parts[%d]", n,
                                 at_A ? 'A' : 'B', m);
        }
    }
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_multi(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                    TMM_SCALAR alpha, TMM_SCALAR beta, tmm_part *parts, int count,
                                    tmm_kernel kernel)
{
    const void *unread = &unread;
    long long rows = 0, rows_B = 0;
    int reads = M > 0 && N > 0 && K > 0 && (TMM_SUM)alpha != 0;
    if (tmm_kernel_string(kernel) == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel", (int)kernel);
    if (count < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "count is %d, but must be 1 at least", count);
    if (parts == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "parts is NULL");
    long long a = opA == TMM_OP_N ? K : M, b = opB == TMM_OP_N ? N : K;
    const tmm__operands sizes = {
        opA,    opB,           M, N, K, unread, a > 1 ? a : 1, unread, b > 1 ? b : 1,
        unread, N > 1 ? N : 1, 1, 1, 0};
    tmm_status status = tmm__check_gemm(&sizes);
    if (status != TMM_OK) return status;
    for (int n = 0; n < count; n++) {
        const tmm_part *p = &parts[n];
        if (p->rows < 0 || p->rows_B < 0 || p->rows > M - rows ||
            p->rows_B > (opB == TMM_OP_N ? K : N) - rows_B)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "parts[%d]: rows is %lld and rows_B %lld: one is negative, or more "
                             "than is left",
                             n, p->rows, p->rows_B);
        rows += p->rows;
        rows_B += p->rows_B;
        status = tmm__xcheck_part(opA, opB, p, M, N, K, reads);
        if (status != TMM_OK) {
            char text[256];
            memcpy(text, tmm__message(), sizeof text);
            return tmm__fail(status, "parts[%d]: %s", n, text);
        }
    }
    if (rows != M || rows_B != (opB == TMM_OP_N ? K : N))
        return tmm__fail(
            TMM_ERROR_ARGUMENT,
            "the parts have %lld rows of C and %lld of B, but M is %lld and %s is %lld", rows,
            rows_B, M, opB == TMM_OP_N ? "K" : "N", opB == TMM_OP_N ? K : N);
#ifdef TMM_EPILOGUE
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "tmm_?gemm_multi cannot be used with a TMM_EPILOGUE");
#endif
    if (M == 0 || N == 0) return TMM_OK;
    tmm__job job = tmm__xjob(opA, opB, M, N, reads ? K : 0, &alpha, &beta);
    job.kernel = kernel;
    job.allowed = TMM__PACK;
    status = tmm__xcheck_parts(&job, parts, count);
    return status != TMM_OK ? status : tmm__multi_run(&job, parts, count);
}
#endif /* TMM__HOST_LAYER */
#endif
