/* src/tiledmm/kernels/common/finish.cuh. The epilogue of a call, at the last step of an element.
   Uses: once/. Used by: store.cuh, type/, kernels/. */
/* What the last step of an element takes: alpha; with TMM_WITH_EPILOGUE also what the call asks for
   after alpha op(A) op(B) + beta C, in `after`. FACTOR is alpha itself. PLAIN: nothing after it. */
#ifndef TMM__ALPHA
#ifdef TMM_WITH_EPILOGUE
#define TMM__ALPHA                           tmm__xalpha
#define TMM__FACTOR(alpha)                   ((alpha).factor)
#define TMM__PLAIN(alpha)                    tmm__xplain(alpha)
#define TMM__OF_PRODUCT(alpha, product)      tmm__xof_product((alpha).factor, &(alpha).after, product)
#define TMM__OF_JOB(alpha, job, product)     tmm__xof_product(alpha, &(job).after, product)
#define TMM__LAST(alpha, sum, old, row, col) tmm__xlast(alpha, sum, old, row, col)
#define TMM__FINISH(alpha, ...)              tmm__xfinish(&(alpha).after, __VA_ARGS__)
/* Is x, a TMM_SUM, below 0? Unsigned sums, as those of int, are taken as signed ones where C is. */
#define TMM__NEGATIVE(x)                                                                   \
    ((TMM_SUM)(-1) > (TMM_SUM)1                                                            \
         ? (float)(TMM_OUT)(TMM_SUM)(-1) < 0 && (long long)(x) >> (8 * sizeof(x) - 1) != 0 \
     : sizeof(x) == 8 ? (double)(x) < 0                                                    \
                      : (float)(x) < 0)
#else
#define TMM__ALPHA                           TMM_SCALAR
#define TMM__FACTOR(alpha)                   (alpha)
#define TMM__PLAIN(alpha)                    (alpha)
#define TMM__OF_PRODUCT(alpha, product)      (alpha)
#define TMM__OF_JOB(alpha, job, product)     (alpha)
#define TMM__LAST(alpha, sum, old, row, col) (TMM__MUL((TMM_SUM)(alpha), sum) + (old))
#define TMM__FINISH(alpha, ...)              ((void)0)
#endif
#endif

#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS && defined(TMM_WITH_EPILOGUE)
/* alpha, and what comes after alpha op(A) op(B) + beta C. */
typedef struct tmm__xalpha {
    TMM_SCALAR factor;
    tmm__after after;
} tmm__xalpha;

#if TMM__HOST
/* alpha, and nothing after it. */
static inline tmm__xalpha tmm__xplain(TMM_SCALAR factor)
{
    tmm__xalpha alpha;
    memset((void *)&alpha, 0, sizeof alpha);
    alpha.factor = factor;
    return alpha;
}
#endif
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && defined(TMM_WITH_EPILOGUE)
/* For kernels that have the number of a product elsewhere than in blockIdx.z. */
TMM__DEVICE tmm__xalpha tmm__xof_product(TMM_SCALAR factor, const tmm__after *after,
                                         long long product)
{
    tmm__xalpha alpha;
    alpha.factor = factor, alpha.after = *after;
    alpha.after.product += product;
    return alpha;
}

/* alpha, with nothing after it: where the compiler knows that, it leaves out what would be done. */
TMM__DEVICE tmm__xalpha tmm__xbare(TMM_SCALAR factor)
{
    tmm__xalpha alpha;
    alpha.factor = factor, alpha.after.active = 0;
    return alpha;
}

/* `count` neighbours x of row `row`, from column `col` on, as they are stored: those that the mask
   has. One branch for all threads where the call asks for nothing; loads come before arithmetic. */
TMM__DEVICE void tmm__xfinish(const tmm__after *after, TMM_SUM *x, const int count, unsigned mask,
                              long long row, long long col)
{
    if (!after->active || (mask & ((1u << count) - 1)) == 0) return;
    unsigned z = blockIdx.z;
    TMM__HIDE(z); /* or what follows from it would be kept in registers, through the main loop */
    const long long product = after->product + z;
    const TMM_OUT *D = (const TMM_OUT *)after->D, *cols = (const TMM_OUT *)after->col_bias;
    TMM_SUM bias[4] = {0, 0, 0, 0}, more[4] = {0, 0, 0, 0};
    if (cols != NULL) {
        cols += product * after->col_stride + col;
#pragma unroll
        for (int j = 0; j < count; j++)
            if (mask >> j & 1) bias[j] = (TMM_SUM)cols[j];
    }
    if (D != NULL) {
        D += product * after->strideD + row * after->ldd + col;
#pragma unroll
        for (int j = 0; j < count; j++)
            if (mask >> j & 1) more[j] = (TMM_SUM)D[j];
    }
    if (after->row_bias != NULL) {
        const TMM_SUM of_row =
            (TMM_SUM)((const TMM_OUT *)after->row_bias)[product * after->row_stride + row];
#pragma unroll
        for (int j = 0; j < count; j++) x[j] += of_row;
    }
    if (cols != NULL) {
#pragma unroll
        for (int j = 0; j < count; j++) x[j] += bias[j];
    }
    if (after->activation == TMM_RELU) {
#pragma unroll
        for (int j = 0; j < count; j++) x[j] = TMM__NEGATIVE(x[j]) ? (TMM_SUM)0 : x[j];
    } else if (after->activation != TMM_IDENTITY && !TMM__IS_INTEGER) {
#pragma unroll
        for (int j = 0; j < count; j++)
            x[j] = sizeof(TMM_SUM) == 4
                       ? (TMM_SUM)tmm__smooth_float((float)x[j], after->terms, TMM__TERMS)
                       : (TMM_SUM)tmm__smooth_double((double)x[j], after->activation);
    }
    if (D == NULL) return;
    const TMM_SUM gamma = TMM__IS_INTEGER        ? (TMM_SUM)(long long)after->gamma
                          : sizeof(TMM_SUM) == 4 ? (TMM_SUM)after->gamma_float
                                                 : (TMM_SUM)after->gamma;
#pragma unroll
    for (int j = 0; j < count; j++) x[j] += TMM__MUL(gamma, more[j]);
}

/* alpha sum + old, finished: the last step of KERNEL GLOBAL, SHARED and REGISTER. */
TMM__DEVICE TMM_SUM tmm__xlast(tmm__xalpha alpha, TMM_SUM sum, TMM_SUM old, long long row,
                               long long col)
{
    TMM_SUM x = TMM__MUL((TMM_SUM)alpha.factor, sum) + old;
    tmm__xfinish(&alpha.after, &x, 1, 1, row, col);
    return x;
}
#endif
