/* src/tiledmm/checks.h. CHECKS of results, for matrices of any type.
   Uses: once/. Used by: callers. */
#if TMM__HOST && !defined(TMM__ONCE)
/* A number of 16 bits, of which the exponent has 5 (half) or 8 (bfloat16). It needs no CUDA header. */
static inline double tmm__of_16_bits(unsigned bits, int exponent_bits)
{
    const int digits = 15 - exponent_bits, largest = (1 << exponent_bits) - 1;
    const int exponent = bits >> digits & largest;
    const double fraction = bits & ((1u << digits) - 1), one = 1 << digits;
    const int scale = (exponent > 0 ? exponent : 1) - largest / 2 - digits;
    const double size = exponent < largest ? ldexp(fraction + (exponent > 0 ? one : 0), scale)
                        : fraction > 0     ? HUGE_VAL - HUGE_VAL
                                           : HUGE_VAL;
    return bits >> 15 ? -size : size;
}

/* Element number `index` of an array. */
static inline double tmm__element(tmm_type type, const void *X, long long index)
{
    switch (type) {
    case TMM_FLOAT: return ((const float *)X)[index];
    case TMM_DOUBLE: return ((const double *)X)[index];
    case TMM_INT: return ((const int *)X)[index];
    case TMM_HALF:
    case TMM_HALF_FLOAT: return tmm__of_16_bits(((const unsigned short *)X)[index], 5);
    default: return tmm__of_16_bits(((const unsigned short *)X)[index], 8);
    }
}

/* The type of the C of a product of this type. */
static inline tmm_type tmm__type_of_C(tmm_type type)
{
    return type == TMM_HALF_FLOAT || type == TMM_BFLOAT16_FLOAT ? TMM_FLOAT : type;
}

static inline size_t tmm__element_size(tmm_type type)
{
    return type == TMM_DOUBLE ? sizeof(double) : type <= TMM_INT ? sizeof(float) : 2;
}

static inline tmm_status tmm__check_type(tmm_type type)
{
    if ((int)type >= TMM_FLOAT && (int)type <= TMM_BFLOAT16_FLOAT) return TMM_OK;
    return tmm__fail(TMM_ERROR_ARGUMENT, "type is %d, which is no tmm_type", (int)type);
}

/* What both errors ask of their arguments. */
static inline tmm_status tmm__check_error(tmm_type type, long long M, long long N, const void *X,
                                          long long ldx, const double *R, long long ldr,
                                          const double *error)
{
    tmm_status status = tmm__check_type(type);
    if (status != TMM_OK) return status;
    if (type != tmm__type_of_C(type))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "type is %d, that of a product; one matrix is TMM_FLOAT, TMM_HALF or "
                         "TMM_BFLOAT16",
                         (int)type);
    if (M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", M);
    if (N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", N);
    if (error == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "error is NULL");
    status = tmm__check_matrix("X", "ldx", X, M, N, ldx, tmm__element_size(type));
    if (status == TMM_OK)
        status = tmm__check_matrix("the reference R", "ldr", R, M, N, ldr, sizeof(double));
    return status;
}

/* The largest error. Equal infinities and two NaN do not differ; any other NaN is infinite. */
static inline double tmm__largest_error(tmm_type type, long long M, long long N, const void *X,
                                        long long ldx, const double *R, long long ldr, int relative)
{
    double largest = 0;
    for (long long i = 0; i < M; i++)
        for (long long j = 0; j < N; j++) {
            double x = tmm__element(type, X, i * ldx + j), r = R[i * ldr + j];
            if (x == r || (x != x && r != r)) continue;
            double e = fabs(x - r);
            if (relative) e /= fabs(r) + 1e-12;
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    return largest;
}

TMM_API tmm_status tmm_max_abs_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error)
{
    tmm_status status = tmm__check_error(type, M, N, X, ldx, R, ldr, error);
    if (status == TMM_OK) *error = tmm__largest_error(type, M, N, X, ldx, R, ldr, 0);
    return status;
}

TMM_API tmm_status tmm_max_rel_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error)
{
    tmm_status status = tmm__check_error(type, M, N, X, ldx, R, ldr, error);
    if (status == TMM_OK) *error = tmm__largest_error(type, M, N, X, ldx, R, ldr, 1);
    return status;
}

/* y = X r for an M x N matrix X. Integers are taken modulo 2^32; doubles hold these exactly. */
static inline void tmm__matvec(tmm_type type, long long M, long long N, const void *X,
                               long long ldx, const double *r, double *y)
{
    for (long long i = 0; i < M; i++) {
        if (type == TMM_INT) {
            unsigned sum = 0;
            for (long long j = 0; j < N; j++)
                sum += (unsigned)((const int *)X)[i * ldx + j] * (unsigned)(long long)r[j];
            y[i] = sum;
        } else {
            double sum = 0;
            for (long long j = 0; j < N; j++) sum += tmm__element(type, X, i * ldx + j) * r[j];
            y[i] = sum;
        }
    }
}

/* The square of the Euclidean norm of `count` elements from `first` on. */
static inline double tmm__square_norm(tmm_type type, const void *X, long long first,
                                      long long count)
{
    double sum = 0;
    for (long long n = 0; n < count; n++) {
        double x = tmm__element(type, X, first + n);
        sum += x * x;
    }
    return sum;
}

/* Fills r with +1 and -1, one well mixed bit of splitmix64 each. */
static inline void tmm__random_signs(unsigned long long *seed, long long count, double *r)
{
    for (long long n = 0; n < count; n++) {
        unsigned long long z = (*seed += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        r[n] = (z >> 63) ? 1 : -1;
    }
}

TMM_API tmm_status tmm_freivalds(tmm_type type, long long M, long long N, long long K,
                                 const void *A, long long lda, const void *B, long long ldb,
                                 const void *C, long long ldc, int trials, unsigned long long seed,
                                 double *excess)
{
    tmm_status status = tmm__check_type(type);
    if (status != TMM_OK) return status;
    const size_t size = tmm__element_size(type), size_C = tmm__element_size(tmm__type_of_C(type));
    const tmm__operands operands = {TMM_OP_N, TMM_OP_N, M, N,   K,    A,      lda,
                                    B,        ldb,      C, ldc, size, size_C, 1};
    status = tmm__check_sizes(&operands); /* C is only read */
    if (status != TMM_OK) return status;
    if (trials < 1) return tmm__fail(TMM_ERROR_ARGUMENT, "trials is %d, not positive", trials);
    if (excess == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "excess is NULL");

    double numbers = (double)N + (double)K + 2.0 * (double)M, *r = NULL;
    if (numbers < 1e18) r = (double *)malloc((size_t)(N + K + 2 * M + 1) * sizeof(double));
    if (r == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for %.0f doubles", numbers);
    double *of_B = r + N, *of_AB = of_B + K, *of_C = of_AB + M;

    const double u = type == TMM_DOUBLE ? 1.1102230246251565e-16 : 5.9604644775390625e-8;
    /* Sums of this check itself are double: they round as those of a C in double do. */
    const double terms = (double)K + 2 + (type == TMM_DOUBLE ? (double)N : 0);
    /* Rounding C to 16 bits: in proportion to an element, and that of subnormal numbers. */
    const double u_C = type == TMM_HALF       ? ldexp(1.0, -11)
                       : type == TMM_BFLOAT16 ? ldexp(1.0, -8)
                                              : 0;
    const double least = ldexp(sqrt((double)N), type == TMM_HALF ? -25 : -134);
    double normB = 0, largest = 0; /* normB: the Frobenius norm */
    for (long long k = 0; k < K && type != TMM_INT; k++)
        normB += tmm__square_norm(type, B, k * ldb, N);
    normB = sqrt(normB);
    for (int trial = 0; trial < trials; trial++) {
        tmm__random_signs(&seed, N, r);
        tmm__matvec(type, K, N, B, ldb, r, of_B);
        tmm__matvec(type, M, K, A, lda, of_B, of_AB);
        tmm__matvec(tmm__type_of_C(type), M, N, C, ldc, r, of_C);
        for (long long i = 0; i < M; i++) {
            double residual = fabs(of_C[i] - of_AB[i]), norm = 0;
            if (residual == 0) continue;
            if (type != TMM_INT) norm = sqrt(tmm__square_norm(type, A, i * lda, K));
            double bound = 8 * sqrt(terms) * u * norm * normB;
            if (u_C > 0) bound += 8 * (u_C * sqrt(tmm__square_norm(type, C, i * ldc, N)) + least);
            double e = residual / bound;
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    }
    free(r);
    *excess = largest;
    return TMM_OK;
}
#endif
