/* src/tiledmm/kernels/store.cuh. Loading and storing elements of C.
   Uses: once/ptx.cuh. Used by: the fast kernels. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* Terms:  mask    bit j is set if element j of some neighbours is to be read or written
           whole   all of them are, and C is aligned: one vector, no predicates
           old     beta C, or zero if beta is 0: C is not read then
   Which function stores what:
       store_four      4 neighbours                  partial tiles of PIPELINED, TENSOR FLOAT
       store_rows      rows of 2 x 4, with branches  KERNEL PIPELINED, all instances but TN
       store_row       1 row of 2 x 4, predicated    KERNEL PIPELINED, instance TN
       store_two       2 neighbours                  KERNEL TENSOR, TENSOR FLOAT
       store_masked    1 to 4 elements, predicated   KERNEL SMALL, SKINNY, SUM, TENSOR FLOAT */

/* Four neighbouring elements of shared memory or C. */
typedef struct alignas(sizeof(TMM_TYPE) < 4 ? 4 * sizeof(TMM_TYPE) : 16) TMM_FN(elements4) {
    TMM_TYPE v[4];
} TMM_FN(elements4);

typedef struct alignas(2 * sizeof(TMM_TYPE)) TMM_FN(elements2) {
    TMM_TYPE v[2];
} TMM_FN(elements2);

/* Four sums of a partial tile. */
typedef struct alignas(16) TMM_FN(sums4) {
    TMM_SUM v[4];
} TMM_FN(sums4);

/* beta times four elements of C, or zeros if beta is 0. Bit j of `mask`: element j is read
   (tmm__column_mask). `whole`: all are, and C is aligned to 16 bytes. Read before others are
   stored, for the compiler cannot know that they do not overlap, and would wait for each. */
static __device__ __forceinline__ TMM_FN(sums4)
    TMM_FN(load_four)(const TMM_TYPE *C, bool whole, unsigned mask, TMM_TYPE beta)
{
    TMM_FN(sums4) old = {{0, 0, 0, 0}};
    if ((TMM_SUM)beta == 0) return old;
    TMM_FN(elements4) four = {{0, 0, 0, 0}};
    if (whole) four = *(const TMM_FN(elements4) *)C;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (!whole && (mask >> j & 1)) four.v[j] = C[j];
        old.v[j] = TMM__MUL((TMM_SUM)beta, (TMM_SUM)four.v[j]);
    }
    return old;
}

/* Stores alpha sum + old as four elements of row `row` of C, from column `col` on; C is at that
   place, and old from load_four, with the same `whole` and `mask`. */
static __device__ __forceinline__ void TMM_FN(store_four)(TMM_TYPE *C, long long row, long long col,
                                                          bool whole, unsigned mask, TMM_TYPE alpha,
                                                          const TMM_SUM *old, const TMM_SUM *sum)
{
    TMM_FN(elements4) four;
    (void)row, (void)col; /* only for the epilogue */
#pragma unroll
    for (int j = 0; j < 4; j++) {
        bool inside = whole || (mask >> j & 1);
        four.v[j] = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old[j]);
#ifdef TMM_EPILOGUE
        if (inside) four.v[j] = TMM_EPILOGUE(four.v[j], row, (col + j));
#endif
        if (!whole && inside) C[j] = four.v[j];
    }
    if (whole) *(TMM_FN(elements4) *)C = four;
}

/* The same for `rows` rows (4 at most) of KERNEL PIPELINED from `row` on, as far as they lie from
   first_row on and before `end`, with two fours each, 32 columns apart; 8 bits of `mask`.
   `whole`: bits 0 and 4 stand for all four, and C is aligned to 16 bytes. beta is compared
   once, not for each four. */
static __device__ __forceinline__ void TMM_FN(store_rows)(TMM_TYPE *C, long long ldc, long long row,
                                                          long long first_row, long long end,
                                                          long long col, bool whole, unsigned mask,
                                                          TMM_TYPE alpha, TMM_TYPE beta,
                                                          const TMM_SUM (*sum)[8], const int rows)
{
    TMM_FN(sums4) old[4][2];
#pragma unroll
    for (int h = 0; h < 2 * rows; h++)
#pragma unroll
        for (int j = 0; j < 4; j++) old[h / 2][h % 2].v[j] = 0;
    if ((TMM_SUM)beta != 0) {
#pragma unroll
        for (int h = 0; h < 2 * rows; h++) {
            bool any = row + h / 2 >= first_row && row + h / 2 < end && (mask >> h % 2 * 4 & 15);
            if (any)
                old[h / 2][h % 2] =
                    TMM_FN(load_four)(C + h / 2 * ldc + h % 2 * 32, whole, mask >> h % 2 * 4, beta);
        }
    }
#pragma unroll
    for (int h = 0; h < 2 * rows; h++) {
        if (row + h / 2 < first_row || row + h / 2 >= end) continue;
        if (whole && !(mask >> h % 2 * 4 & 1)) continue;
        TMM_FN(store_four)
        (C + h / 2 * ldc + h % 2 * 32, row + h / 2, col + h % 2 * 32, whole, mask >> h % 2 * 4,
         alpha, old[h / 2][h % 2].v, &sum[h / 2][h % 2 * 4]);
    }
}

/* Two elements of C, as far as the mask has them; `aligned`: C is, to two elements. Read before
   others are stored, for the compiler cannot know that they do not overlap, and would wait for
   each. */
static __device__ __forceinline__ TMM_FN(elements2)
    TMM_FN(load_two)(const TMM_TYPE *C, bool aligned, unsigned mask)
{
    TMM_FN(elements2) two = {{0, 0}};
    if (aligned && (mask & 3) == 3) return *(const TMM_FN(elements2) *)C;
    if (mask & 1) two.v[0] = C[0];
    if (mask & 2) two.v[1] = C[1];
    return two;
}

/* The same as store_four for two elements, where C was `two` before. */
static __device__ __forceinline__ void TMM_FN(store_two)(TMM_TYPE *C, long long row, long long col,
                                                         bool aligned, unsigned mask,
                                                         TMM_TYPE alpha, TMM_TYPE beta,
                                                         TMM_FN(elements2) two, const TMM_SUM *sum)
{
    bool whole = aligned && (mask & 3) == 3;
    (void)row, (void)col; /* only for the epilogue */
#pragma unroll
    for (int j = 0; j < 2; j++) {
        bool inside = mask >> j & 1;
        TMM_SUM old = 0;
        if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)two.v[j]);
        two.v[j] = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old);
#ifdef TMM_EPILOGUE
        if (inside) two.v[j] = TMM_EPILOGUE(two.v[j], row, (col + j));
#endif
        if (inside && !whole) C[j] = two.v[j];
    }
    if (whole) *(TMM_FN(elements2) *)C = two;
}

/* One element from or to global memory; one that is not enabled is left as it is. */
static __device__ __forceinline__ void TMM_FN(load_if)(TMM_TYPE *to, const TMM_TYPE *from,
                                                       bool enabled)
{
    if (sizeof(TMM_TYPE) % 4 == 0)
        tmm__load_if(to, from, sizeof(TMM_TYPE), enabled);
    else if (enabled)
        *to = *from;
}

static __device__ __forceinline__ void TMM_FN(store_if)(TMM_TYPE *to, TMM_TYPE from, bool enabled)
{
    if (sizeof(TMM_TYPE) % 4 == 0)
        tmm__store_if(to, &from, sizeof(TMM_TYPE), enabled);
    else if (enabled)
        *to = from;
}

/* An element of C, alpha sum + old, where old is beta C; if it is enabled, through the epilogue. */
static __device__ __forceinline__ TMM_TYPE TMM_FN(value)(TMM_SUM sum, TMM_TYPE alpha, TMM_SUM old,
                                                         bool enabled, long long row, long long col)
{
    TMM_TYPE value = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum) + old);
    (void)enabled, (void)row, (void)col; /* only for the epilogue */
#ifdef TMM_EPILOGUE
    if (enabled) value = TMM_EPILOGUE(value, row, col);
#endif
    return value;
}

/* Stores alpha sum + beta C as `count` neighbours of row `row` of C (4 at most, a constant), from
   column `col` on, as far as the mask has them, bit j for number j. For single elements, and where
   C is not aligned, or elements are judged one by one: without branches. */
static __device__ __forceinline__ void TMM_FN(store_masked)(TMM_TYPE *C, long long row,
                                                            long long col, const int count,
                                                            unsigned mask, TMM_TYPE alpha,
                                                            TMM_TYPE beta, const TMM_SUM *sum)
{
    TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    unsigned read = (TMM_SUM)beta == 0 ? 0 : mask;
    TMM_TYPE some[4] = {0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < count; j++) TMM_FN(load_if)(&some[j], C + j, read >> j & 1);
#pragma unroll
    for (int j = 0; j < count; j++) {
        TMM_SUM old = TMM__MUL(factor, (TMM_SUM)some[j]);
        bool mine = mask >> j & 1;
        TMM_FN(store_if)(C + j, TMM_FN(value)(sum[j], alpha, old, mine, row, col + j), mine);
    }
}

/* Stores alpha sum + beta C as two fours of row `row` of C, from columns `col` and col + 32 on, as
   far as the mask has them, 8 bits. `whole`: bits 0 and 4 stand for all four, and C is aligned to
   16 bytes. All of C is read before any is stored, as above, and by single elements: one code
   serves both cases; without a branch for beta, which the loop of the kernel would pay for. */
static __device__ __forceinline__ void TMM_FN(store_row)(TMM_TYPE *C, long long row, long long col,
                                                         bool whole, unsigned mask, TMM_TYPE alpha,
                                                         TMM_TYPE beta, const TMM_SUM *sum)
{
    TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    unsigned read = (TMM_SUM)beta == 0 ? 0 : mask;
    TMM_FN(elements4) fours[2] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
#pragma unroll
    for (int j = 0; j < 8; j++)
        TMM_FN(load_if)(&fours[j / 4].v[j % 4], C + j / 4 * 32 + j % 4, read >> j & 1);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        TMM_TYPE *one = &fours[j / 4].v[j % 4];
        TMM_SUM old = TMM__MUL(factor, (TMM_SUM)*one);
        *one = TMM_FN(value)(sum[j], alpha, old, mask >> j & 1, row, col + j / 4 * 32 + j % 4);
    }
    if (whole) {
        if (mask & 1) *(TMM_FN(elements4) *)C = fours[0];
        if (mask & 16) *(TMM_FN(elements4) *)(C + 32) = fours[1];
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
        TMM_FN(store_if)(C + j / 4 * 32 + j % 4, fours[j / 4].v[j % 4], mask >> j & 1);
}
#endif
