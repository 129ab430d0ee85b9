/* src/tiledmm/type/after.h. The epilogue of a call: its arguments, checked, as kernels take them.
   Uses: once/. Used by: cpu.h, dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && defined(TMM_WITH_EPILOGUE)
/* A bias of `count` elements, or D. An error if C has an element of it. */
static inline tmm_status tmm__xcheck_apart(const char *name, const tmm__area *X, long long stride,
                                           const tmm__operands *o, long long strideC,
                                           long long batch)
{
    const tmm__area C = tmm__area_of_operand(o, 2);
    if (X->begin % sizeof(TMM_OUT) != 0) /* a pointer to void takes what is of another type */
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is not aligned to %d bytes, an element of C", name,
                         (int)sizeof(TMM_OUT));
    if (stride < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "the stride of %s is negative: %lld", name, stride);
    if (stride > TMM__MOST_BYTES / (long long)sizeof(TMM_OUT) / batch)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "the stride of %s (%lld, batch %lld) exceeds 64-bit addresses", name,
                         stride, batch);
    for (int last = 0; last < 2; last++) {
        tmm__area at = *X;
        at.begin += last ? (size_t)(batch - 1) * (size_t)stride * sizeof(TMM_OUT) : 0;
        if (tmm__meets_batch(&at, &C, strideC * (long long)sizeof(TMM_OUT), batch))
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "C overlaps %s: it would be overwritten while it is read", name);
    }
    return TMM_OK;
}

/* gamma, as numbers of the type of sums. */
static inline tmm_status tmm__xcheck_gamma(double gamma)
{
    if (!TMM__IS_INTEGER || (gamma == floor(gamma) && fabs(gamma) <= 2147483648.0)) return TMM_OK;
    return tmm__fail(TMM_ERROR_ARGUMENT,
                     "gamma is %g, but must be a whole number of at most 2^31 for integers", gamma);
}

/* Checks the epilogue of `batch` products whose other arguments have been checked, and puts it into
   *after. NULL: there is none. */
static inline tmm_status tmm__xset_after(tmm__after *after, const tmm_epilogue *e,
                                         const tmm__operands *o, long long strideC, long long batch)
{
    memset(after, 0, sizeof *after);
    if (e == NULL) return TMM_OK;
    if (e->activation < TMM_IDENTITY || e->activation > TMM_SILU)
        return tmm__fail(TMM_ERROR_ARGUMENT, "activation is %d, which is no tmm_activation",
                         (int)e->activation);
    if (TMM__IS_INTEGER && e->activation > TMM_RELU)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "activation is %s, but the only one for integers is TMM_RELU",
                         e->activation == TMM_SILU ? "TMM_SILU" : "a GELU");
    tmm_status status = tmm__xcheck_gamma(e->gamma);
    if (status != TMM_OK || o->M == 0 || o->N == 0 || batch == 0) return status;
    const int adds = e->gamma != 0;
    if (adds && e->D == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "D is NULL, but gamma is %g", e->gamma);
    if (adds) status = tmm__check_matrix("D", "ldd", e->D, o->M, o->N, e->ldd, sizeof(TMM_OUT));
    if (status != TMM_OK) return status;
    const tmm__area areas[3] = {tmm__area_of(e->row_bias, 1, o->M, o->M, sizeof(TMM_OUT)),
                                tmm__area_of(e->col_bias, 1, o->N, o->N, sizeof(TMM_OUT)),
                                tmm__area_of(e->D, o->M, o->N, adds ? e->ldd : o->N,
                                             sizeof(TMM_OUT))};
    const int read[3] = {e->row_bias != NULL, e->col_bias != NULL, adds};
    const long long strides[3] = {e->row_bias_stride, e->col_bias_stride, e->strideD};
    static const char *const names[3] = {"row_bias", "col_bias", "D"};
    for (int n = 0; n < 3; n++)
        if (read[n] && status == TMM_OK)
            status = tmm__xcheck_apart(names[n], &areas[n], strides[n], o, strideC, batch);
    if (status != TMM_OK) return status;
    after->active = read[0] || read[1] || read[2] || e->activation != TMM_IDENTITY;
    after->activation = (int)e->activation;
    after->row_bias = e->row_bias, after->col_bias = e->col_bias, after->D = adds ? e->D : NULL;
    after->row_stride = strides[0], after->col_stride = strides[1], after->strideD = strides[2];
    after->ldd = e->ldd, after->gamma = e->gamma, after->gamma_float = (float)e->gamma;
    memcpy(after->terms, tmm__terms(after->activation), sizeof after->terms);
    return TMM_OK;
}
#endif
