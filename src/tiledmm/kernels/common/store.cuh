/* src/tiledmm/kernels/common/store.cuh. Loading and storing elements of C.
   Uses: finish.cuh, once/. Used by: kernels/common/, launch/product.h, kernels/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* Terms:  mask    bit j is set if neighbour j is to be read or written
           vector  all bits are set, and C is aligned: one access, no predicates
           old     beta C, or zero if beta is 0: C is not read then
   Which function stores what:
       store4          4 neighbours                  partial tiles of PIPELINED, TENSOR FLOAT
       store_rows      rows of 2 x 4, with branches  KERNEL PIPELINED, all instances but TN
       store_row       1 row of 2 x 4, predicated    KERNEL PIPELINED, instance TN
       store2          2 neighbours                  KERNEL TENSOR, TENSOR FLOAT
       store_masked    1 to 4 elements, predicated   KERNEL SMALL, SKINNY, SUM, TENSOR FLOAT */

/* Four neighbouring elements of shared memory; four or two of C. */
typedef struct alignas(sizeof(TMM_TYPE) < 4 ? 4 * sizeof(TMM_TYPE) : 16) tmm__xelements4 {
    TMM_TYPE v[4];
} tmm__xelements4;

typedef struct alignas(sizeof(TMM_OUT) < 4 ? 4 * sizeof(TMM_OUT) : 16) tmm__xouts4 {
    TMM_OUT v[4];
} tmm__xouts4;

typedef struct alignas(2 * sizeof(TMM_OUT)) tmm__xouts2 {
    TMM_OUT v[2];
} tmm__xouts2;

/* Four sums of a partial tile. */
typedef struct alignas(16) tmm__xsums4 {
    TMM_SUM v[4];
} tmm__xsums4;

/* beta times four elements of C, or zeros if beta is 0. `mask`: see tmm__column_mask. All are read
   before others are stored. The compiler cannot know that they do not overlap, and would wait for
   each. */
TMM__DEVICE tmm__xsums4 tmm__xload4(const TMM_OUT *C, bool vector, unsigned mask, TMM_SCALAR beta)
{
    tmm__xsums4 old = {{0, 0, 0, 0}};
    if ((TMM_SUM)beta == 0) return old;
    tmm__xouts4 elements = {{0, 0, 0, 0}};
    if (vector) elements = *(const tmm__xouts4 *)C;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (!vector && (mask >> j & 1)) elements.v[j] = C[j];
        old.v[j] = TMM__MUL((TMM_SUM)beta, (TMM_SUM)elements.v[j]);
    }
    return old;
}

/* Stores alpha sum + old as four elements of row `row` of C, from column `col` on. C points there.
   `old` comes from load4 with the same `vector` and `mask`. */
TMM__DEVICE void tmm__xstore4(TMM_OUT *C, long long row, long long col, bool vector, unsigned mask,
                              TMM__ALPHA alpha, const TMM_SUM *old, const TMM_SUM *sum)
{
    tmm__xouts4 elements;
    (void)row, (void)col; /* only for the epilogue */
#ifdef TMM_WITH_EPILOGUE
    TMM_SUM finished[4];
#pragma unroll
    for (int j = 0; j < 4; j++) finished[j] = TMM__MUL((TMM_SUM)alpha.factor, sum[j]) + old[j];
    tmm__xfinish(&alpha.after, finished, 4, vector ? 15 : mask, row, col);
#endif
#pragma unroll
    for (int j = 0; j < 4; j++) {
        bool inside = vector || (mask >> j & 1);
#ifdef TMM_WITH_EPILOGUE
        elements.v[j] = (TMM_OUT)finished[j];
#else
        elements.v[j] = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old[j]);
#endif
#ifdef TMM_EPILOGUE
        if (inside) elements.v[j] = TMM_EPILOGUE(elements.v[j], row, (col + j));
#endif
        if (!vector && inside) C[j] = elements.v[j];
    }
    if (vector) *(tmm__xouts4 *)C = elements;
}

/* The same for `rows` rows (4 at most) of KERNEL PIPELINED, as far as they lie from first_row on
   and before `end`, and in the `triangle`, which has all of them with `vector`. Each has two vectors
   of four, 32 columns apart, and 8 bits of `mask`. With `vector`, bits 0 and 4 stand for all four.
   beta is compared once, not for each vector. */
TMM__DEVICE void tmm__xstore_rows(TMM_OUT *C, long long ldc, long long row, long long first_row,
                                  long long end, long long col, bool vector, unsigned mask,
                                  TMM__ALPHA alpha, TMM_SCALAR beta, const TMM_SUM (*sum)[8],
                                  const int rows, int triangle)
{
    tmm__xsums4 old[4][2];
#pragma unroll
    for (int h = 0; h < 2 * rows; h++)
#pragma unroll
        for (int j = 0; j < 4; j++) old[h / 2][h % 2].v[j] = 0;
    if ((TMM_SUM)beta != 0) {
#pragma unroll
        for (int h = 0; h < 2 * rows; h++) {
            bool enabled =
                row + h / 2 >= first_row && row + h / 2 < end && (mask >> h % 2 * 4 & 15);
            if (enabled)
                old[h / 2][h % 2] = tmm__xload4(C + h / 2 * ldc + h % 2 * 32, vector,
                                                tmm__triangle_mask(triangle, mask >> h % 2 * 4,
                                                                   row + h / 2, col + h % 2 * 32),
                                                beta);
        }
    }
#pragma unroll
    for (int h = 0; h < 2 * rows; h++) {
        if (row + h / 2 < first_row || row + h / 2 >= end) continue;
        if (vector && !(mask >> h % 2 * 4 & 1)) continue;
        tmm__xstore4(C + h / 2 * ldc + h % 2 * 32, row + h / 2, col + h % 2 * 32, vector,
                     tmm__triangle_mask(triangle, mask >> h % 2 * 4, row + h / 2, col + h % 2 * 32),
                     alpha, old[h / 2][h % 2].v, &sum[h / 2][h % 2 * 4]);
    }
}

/* Two elements of C, as far as the mask has them. `aligned`: C is, to two elements. They are read
   before others are stored: see load4. */
TMM__DEVICE tmm__xouts2 tmm__xload2(const TMM_OUT *C, bool aligned, unsigned mask)
{
    tmm__xouts2 elements = {{0, 0}};
    if (aligned && (mask & 3) == 3) return *(const tmm__xouts2 *)C;
    if (mask & 1) elements.v[0] = C[0];
    if (mask & 2) elements.v[1] = C[1];
    return elements;
}

/* The same as store4 for two elements, where C was `elements` before. */
TMM__DEVICE void tmm__xstore2(TMM_OUT *C, long long row, long long col, bool aligned, unsigned mask,
                              TMM__ALPHA alpha, TMM_SCALAR beta, tmm__xouts2 elements,
                              const TMM_SUM *sum)
{
    bool vector = aligned && (mask & 3) == 3;
    (void)row, (void)col; /* only for the epilogue */
#ifdef TMM_WITH_EPILOGUE
    TMM_SUM finished[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        TMM_SUM old = 0;
        if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)elements.v[j]);
        finished[j] = TMM__MUL((TMM_SUM)alpha.factor, sum[j]) + old;
    }
    tmm__xfinish(&alpha.after, finished, 2, mask, row, col);
#endif
#pragma unroll
    for (int j = 0; j < 2; j++) {
        bool inside = mask >> j & 1;
#ifdef TMM_WITH_EPILOGUE
        elements.v[j] = (TMM_OUT)finished[j];
#else
        TMM_SUM old = 0;
        if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)elements.v[j]);
        elements.v[j] = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old);
#endif
#ifdef TMM_EPILOGUE
        if (inside) elements.v[j] = TMM_EPILOGUE(elements.v[j], row, (col + j));
#endif
        if (inside && !vector) C[j] = elements.v[j];
    }
    if (vector) *(tmm__xouts2 *)C = elements;
}

/* One element of C from or to global memory; one that is not enabled is left as it is. */
TMM__DEVICE void tmm__xload_if(TMM_OUT *to, const TMM_OUT *from, bool enabled)
{
    tmm__load_if(to, from, sizeof(TMM_OUT), enabled);
}

TMM__DEVICE void tmm__xstore_if(TMM_OUT *to, TMM_OUT from, bool enabled)
{
    tmm__store_if(to, &from, sizeof(TMM_OUT), enabled);
}

/* What is finished, as an element of C; if it is enabled, through TMM_EPILOGUE. */
TMM__DEVICE TMM_OUT tmm__xrounded(TMM_SUM finished, bool enabled, long long row, long long col)
{
    TMM_OUT value = (TMM_OUT)finished;
    (void)enabled, (void)row, (void)col; /* only for the epilogue */
#ifdef TMM_EPILOGUE
    if (enabled) value = TMM_EPILOGUE(value, row, col);
#endif
    return value;
}

/* An element of C, alpha sum + old, where old is beta C; if it is enabled, through the epilogues. */
TMM__DEVICE TMM_OUT tmm__xvalue(TMM_SUM sum, TMM__ALPHA alpha, TMM_SUM old, bool enabled,
                                long long row, long long col)
{
    TMM_SUM x = TMM__MUL((TMM_SUM)TMM__FACTOR(alpha), sum) + old;
    TMM__FINISH(alpha, &x, 1, enabled, row, col);
    return tmm__xrounded(x, enabled, row, col);
}

/* Stores alpha sum + beta C to `count` neighbours of row `row` of C, from column `col` on: those that
   the mask has. `count` is a constant, 4 at most. It has no branches. It serves single elements, C
   that is not aligned, and elements that are checked one by one. */
TMM__DEVICE void tmm__xstore_masked(TMM_OUT *C, long long row, long long col, const int count,
                                    unsigned mask, TMM__ALPHA alpha, TMM_SCALAR beta,
                                    const TMM_SUM *sum)
{
    TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    unsigned read = (TMM_SUM)beta == 0 ? 0 : mask;
    TMM_OUT elements[4] = {0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < count; j++) tmm__xload_if(&elements[j], C + j, read >> j & 1);
    TMM_SUM x[4];
#pragma unroll
    for (int j = 0; j < count; j++)
        x[j] =
            TMM__MUL((TMM_SUM)TMM__FACTOR(alpha), sum[j]) + TMM__MUL(factor, (TMM_SUM)elements[j]);
    TMM__FINISH(alpha, x, count, mask, row, col);
#pragma unroll
    for (int j = 0; j < count; j++) {
        bool enabled = mask >> j & 1;
        tmm__xstore_if(C + j, tmm__xrounded(x[j], enabled, row, col + j), enabled);
    }
}

/* Stores alpha sum + beta C as two vectors of row `row` of C, from columns `col` and col + 32 on.
   The mask has 8 bits. With `vector`, bits 0 and 4 stand for all four. C is read by single
   elements, so one code serves both cases. There is no branch for beta: the main loop of the kernel
   would pay for it. */
TMM__DEVICE void tmm__xstore_row(TMM_OUT *C, long long row, long long col, bool vector,
                                 unsigned mask, TMM__ALPHA alpha, TMM_SCALAR beta,
                                 const TMM_SUM *sum)
{
    TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    unsigned read = (TMM_SUM)beta == 0 ? 0 : mask;
    tmm__xouts4 elements[2] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
#pragma unroll
    for (int j = 0; j < 8; j++)
        tmm__xload_if(&elements[j / 4].v[j % 4], C + j / 4 * 32 + j % 4, read >> j & 1);
    TMM_SUM x[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
        x[j] = TMM__MUL((TMM_SUM)TMM__FACTOR(alpha), sum[j]) +
               TMM__MUL(factor, (TMM_SUM)elements[j / 4].v[j % 4]);
#pragma unroll
    for (int h = 0; h < 2; h++) TMM__FINISH(alpha, x + 4 * h, 4, mask >> 4 * h, row, col + 32 * h);
#pragma unroll
    for (int j = 0; j < 8; j++)
        elements[j / 4].v[j % 4] =
            tmm__xrounded(x[j], mask >> j & 1, row, col + j / 4 * 32 + j % 4);
    if (vector) {
        if (mask & 1) *(tmm__xouts4 *)C = elements[0];
        if (mask & 16) *(tmm__xouts4 *)(C + 32) = elements[1];
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
        tmm__xstore_if(C + j / 4 * 32 + j % 4, elements[j / 4].v[j % 4], mask >> j & 1);
}
#endif
