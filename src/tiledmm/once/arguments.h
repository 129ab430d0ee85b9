/* src/tiledmm/once/arguments.h. Checks of arguments that all forms of GEMM share.
   Uses: once/. Used by: checks.h, host/devices.h, type/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* Of a matrix, and from the first to the last of a batch: what sums of both do not exceed. */
#define TMM__MOST_BYTES (LLONG_MAX / 2)

/* Is a rows x cols matrix with this leading dimension possible, and its size within 64 bits? */
static inline tmm_status tmm__check_matrix(const char *name, const char *ld_name,
                                           const void *pointer, long long rows, long long cols,
                                           long long ld, size_t element)
{
    if (ld < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is %lld, but must be 1 at least", ld_name, ld);
    if (ld < cols)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "%s is %lld, but a row of %s has %lld elements as it is stored", ld_name,
                         ld, name, cols);
    if (rows > 0 && ld > (TMM__MOST_BYTES / (long long)element - cols) / rows)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s (%lld rows, %s %lld) exceeds 64-bit addresses",
                         name, rows, ld_name, ld);
    if (rows <= 0 || cols <= 0) return TMM_OK;
    if (pointer == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "%s is NULL", name);
    if ((size_t)pointer & (element - 1)) /* a kernel that reads there ends all work on the device */
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is not aligned to %d bytes, an element", name,
                         (int)element);
    return TMM_OK;
}

/* The block of C that the CPU reference works on, and its steps along k. */
enum { TMM__CPU_ROWS = 32, TMM__CPU_COLS = 128, TMM__CPU_DEPTH = 128 };

/* What all forms of GEMM are called with, of any element type. */
typedef struct tmm__operands {
    tmm_op opA, opB;
    long long M, N, K;
    const void *A;
    long long lda;
    const void *B;
    long long ldb;
    const void *C;
    long long ldc;
    size_t element; /* bytes, of A and B */
    size_t element_C;
    int reads_AB; /* 0 where alpha is 0 */
} tmm__operands;

/* Their parameters, and those of a batch: type/api.h declares them one by one. */
#define TMM__GEMM_PARAMETERS                                                                 \
    tmm_op opA, tmm_op opB, long long M, long long N, long long K, TMM_SCALAR alpha,         \
        const TMM_TYPE *A, long long lda, const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, \
        TMM_OUT *C, long long ldc
#define TMM__BATCH_PARAMETERS \
    long long strideA, long long strideB, long long strideC, long long batch

/* What all forms of GEMM ask of shapes, and of pointers that are read or written. */
static inline tmm_status tmm__check_sizes(const tmm__operands *o)
{
    const int nA = o->opA == TMM_OP_N, nB = o->opB == TMM_OP_N;
    if (!nA && o->opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opA is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opA);
    if (!nB && o->opB != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opB is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opB);
    if (o->M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", o->M);
    if (o->N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", o->N);
    if (o->K < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "K is negative: %lld", o->K);
    /* Pointers that will not be read or written may be anything. */
    const void *unread = &unread;
    int works = o->M > 0 && o->N > 0;
    int reads = works && o->K > 0 && o->reads_AB;
    tmm_status status = tmm__check_matrix("A", "lda", reads ? o->A : unread, nA ? o->M : o->K,
                                          nA ? o->K : o->M, o->lda, o->element);
    if (status == TMM_OK)
        status = tmm__check_matrix("B", "ldb", reads ? o->B : unread, nB ? o->K : o->N,
                                   nB ? o->N : o->K, o->ldb, o->element);
    if (status == TMM_OK)
        status =
            tmm__check_matrix("C", "ldc", works ? o->C : unread, o->M, o->N, o->ldc, o->element_C);
    return status;
}

/* The same of a batch. */
static inline tmm_status tmm__check_sizes_of_batch(const tmm__operands *o, long long batch)
{
    tmm__operands sizes = *o;
    if (batch == 0) sizes.A = sizes.B = sizes.C = &sizes; /* they will not be read or written */
    return tmm__check_sizes(&sizes);
}

/* Elements in memory: `rows` rows of `cols` bytes that begin ld bytes apart. */
typedef struct tmm__area {
    size_t begin;
    long long rows, cols, ld;
} tmm__area;

static inline tmm__area tmm__area_of(const void *X, long long rows, long long cols, long long ld,
                                     size_t element)
{
    tmm__area area = {(size_t)X, rows, cols * (long long)element, ld * (long long)element};
    if (cols == ld) area.cols *= rows; /* without gaps it is one row */
    if (cols == ld || rows == 1) area.rows = 1, area.ld = area.cols;
    return area;
}

/* Operand A (0), B (1) or C (2), as it is stored. */
static inline tmm__area tmm__area_of_operand(const tmm__operands *o, int which)
{
    const int nA = o->opA == TMM_OP_N, nB = o->opB == TMM_OP_N;
    if (which == 0)
        return tmm__area_of(o->A, nA ? o->M : o->K, nA ? o->K : o->M, o->lda, o->element);
    if (which == 1)
        return tmm__area_of(o->B, nB ? o->K : o->N, nB ? o->N : o->K, o->ldb, o->element);
    return tmm__area_of(o->C, o->M, o->N, o->ldc, o->element_C);
}

static inline long long tmm__area_bytes(const tmm__area *a)
{
    return (a->rows - 1) * a->ld + a->cols;
}

/* Have two areas a byte in common? Matrices may lie within each other's gaps, which is never
   refused. Exact if both have one distance of rows, or one has no gaps; else the first 16 rows
   that may meet are looked at. Takes some ns. */
static inline int tmm__areas_meet(const tmm__area *a, const tmm__area *c)
{
    const long long d = (long long)(c->begin - a->begin);
    if (d >= tmm__area_bytes(a) || -d >= tmm__area_bytes(c)) return 0; /* nearly always */
    if (c->rows > a->rows) return tmm__areas_meet(c, a);
    if (a->ld == c->ld) { /* c begins in row `row` of a, at `col`, and may go on in the next one */
        const long long row = d >= 0 ? d / a->ld : -((-d - 1) / a->ld) - 1, col = d - row * a->ld;
        return (col < a->cols && row < a->rows && row + c->rows > 0) ||
               (col + c->cols > a->ld && row + 1 < a->rows && row + 1 + c->rows > 0);
    }
    const long long first = d + c->cols > 0 ? 0 : (-d - c->cols) / c->ld + 1;
    for (long long i = first; i < c->rows && i < first + 16; i++) {
        /* Where this row of c begins, and the first row of a that ends after that. */
        const long long from = d + i * c->ld;
        const long long row = from < a->cols ? 0 : (from - a->cols) / a->ld + 1;
        if (row < a->rows && row * a->ld < from + c->cols) return 1;
    }
    return 0;
}

static inline tmm_status tmm__fail_overlap(const char *X)
{
    return tmm__fail(
        TMM_ERROR_ARGUMENT,
        "C overlaps %s: each would be overwritten while it is read; no product is done "
        "in place",
        X);
}

/* An error if C has an element in common with A or B, where these are read. */
static inline tmm_status tmm__check_overlap(const tmm__operands *o)
{
    if (o->M == 0 || o->N == 0 || o->K == 0 || !o->reads_AB) return TMM_OK;
    const tmm__area C = tmm__area_of_operand(o, 2);
    for (int which = 0; which < 2; which++) {
        const tmm__area X = tmm__area_of_operand(o, which);
        if (tmm__areas_meet(&X, &C)) return tmm__fail_overlap(which == 0 ? "A" : "B");
    }
    return TMM_OK;
}

/* What all forms of GEMM ask of their arguments. */
static inline tmm_status tmm__check_gemm(const tmm__operands *o)
{
    const tmm_status status = tmm__check_sizes(o);
    return status != TMM_OK ? status : tmm__check_overlap(o);
}

/* Has X an element in common with one of `batch` C, strideC bytes from each other? */
static inline int tmm__meets_batch(const tmm__area *X, const tmm__area *C, long long strideC,
                                   long long batch)
{
    const long long d = (long long)(X->begin - C->begin);
    if (d >= (batch - 1) * strideC + tmm__area_bytes(C) || -d >= tmm__area_bytes(X))
        return 0;                                          /* nearly always */
    long long b = d < 0 || strideC == 0 ? 0 : d / strideC; /* whose C begins before X */
    if (b > batch - 1) b = batch - 1;
    for (long long n = b; n <= b + 1 && n < batch; n++) {
        tmm__area at = *C;
        at.begin += (size_t)n * (size_t)strideC;
        if (tmm__areas_meet(X, &at)) return 1;
    }
    return 0;
}

/* The same for a batch: product b has X + b strides[0 or 1], in elements, and C + b strides[2].
   Looks at the first and the last X, and at what C has there. */
static inline tmm_status tmm__check_batch_overlap(const tmm__operands *o,
                                                  const long long strides[3], long long batch)
{
    if (o->M == 0 || o->N == 0 || o->K == 0 || !o->reads_AB) return TMM_OK;
    const tmm__area C = tmm__area_of_operand(o, 2);
    const long long strideC = strides[2] * (long long)o->element_C;
    for (int which = 0; which < 2; which++)
        for (int last = 0; last < 2; last++) {
            tmm__area X = tmm__area_of_operand(o, which);
            X.begin += last ? (size_t)(batch - 1) * (size_t)strides[which] *
                                  (which == 2 ? o->element_C : o->element)
                            : 0;
            if (tmm__meets_batch(&X, &C, strideC, batch))
                return tmm__fail_overlap(which == 0 ? "A" : "B");
        }
    return TMM_OK;
}

/* Must copies of this matrix pass through pinned memory? An error if it is device memory. */
static inline tmm_status tmm__is_staged(const char *name, const void *X, size_t bytes, int *staged)
{
    const char *ends[2] = {(const char *)X, (const char *)X + (bytes > 0 ? bytes - 1 : 0)};
    *staged = 0;
    if (X == NULL || bytes == 0) return TMM_OK;
    for (int n = 0; n < 2; n++) {
        cudaPointerAttributes attributes;
        if (!tmm__succeeded(cudaPointerGetAttributes(&attributes, ends[n]))) {
            *staged = 1; /* before CUDA 11, memory from malloc is an error */
        } else if (attributes.type == cudaMemoryTypeDevice) {
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%s is device memory, but must be host memory (tmm_?gemm and "
                             "tmm_?gemm_multi take device memory)",
                             name);
        } else if (attributes.type == cudaMemoryTypeUnregistered) {
            *staged = 1;
        }
    }
    return TMM_OK;
}

/* After a launch that failed for memory that it could not reach: names the operand that is host
   memory, as far as CUDA still answers. */
static inline tmm_status tmm__blame_operand(const tmm__operands *o, tmm_status status)
{
    const void *const matrices[3] = {o->C, o->A, o->B};
    const char *const names[3] = {"C", "A", "B"};
    int device = 0;
    if (!tmm__succeeded(cudaGetDevice(&device)) ||
        tmm__attribute(cudaDevAttrPageableMemoryAccess, device, 0))
        return status; /* this device reads host memory */
    for (int n = 0; n < (o->K > 0 && o->reads_AB ? 3 : 1); n++) {
        cudaPointerAttributes attributes;
        if (!tmm__succeeded(cudaPointerGetAttributes(&attributes, matrices[n]))) return status;
        if (attributes.type == cudaMemoryTypeUnregistered)
            return tmm__fail(status,
                             "kernel launch: the device cannot reach %s, which is host memory "
                             "(tmm_?gemm_host and tmm_?matmul take that)",
                             names[n]);
    }
    return status;
}
#endif
