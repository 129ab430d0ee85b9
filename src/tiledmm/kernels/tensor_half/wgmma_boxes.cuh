/* src/tiledmm/kernels/tensor_half/wgmma_boxes.cuh. Elements of 16 bits by wgmma: how C is stored by TMA.
   Uses: kernels/common/, wgmma.cuh, once/. Used by: wgmma_kernel.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && TMM__WGMMA
/* A warp stores its 16 rows in one of five ways, which tmm__xhalf_by_boxes chooses (at the end):
       BY_BOXES     alpha sum                            xhalf_store_boxes: registers -> box -> TMA
       MORE         and beta C, biases, activation, D    xhalf_more_boxes: the same, 64 columns at a time
       DIAGONAL     a tile that the diagonal crosses     xhalf_diagonal: by threads, through a box
       BY_COLS      C turned: rows are columns of C      xhalf_store_cols (wgmma_store.cuh)
       BY_THREADS   anything else; partial sums          xhalf_store (there)
   A box is 16 rows of 128 bytes of C in shared memory, with the swizzle of 128 bytes. */

/* What a lane has of a box, to shared memory: 16 bits, the row that stmatrix takes from it; 32 bits, where
   its first two lie. Odd rows of 32 bits begin with columns 16 on, so that four rows lie in different
   banks. */
TMM__DEVICE unsigned tmm__xhalf_box_place(int lane)
{
    const int g = lane / 4, t = lane % 4;
    return sizeof(TMM_OUT) == 4 ? g * 128 + ((t / 2 ^ g ^ g % 2 * 4) << 4) + t % 2 * 8
                                : lane % 16 * 128 + ((lane / 16 ^ lane % 8) << 4);
}

/* Sums of 16 rows by 32 columns, rounded, to a box in shared memory: 16 rows of 128 bytes with the swizzle of
   128 bytes. `to` is what tmm__xhalf_box_place says, of 16 bits also 64 bytes further on (^ 64). */
TMM__DEVICE void tmm__xhalf_to_box(unsigned to, const float *x)
{
    enum { WIDE = sizeof(TMM_OUT) == 4 };
    const int odd_row = threadIdx.x / 4 % 2;
#pragma unroll
    for (int q = 0; q < (WIDE ? 4 : 2); q++) {
        const unsigned at = to ^ q << 5;
        if (WIDE) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int even = 4 * q + 2 * h, odd = even ^ 8;
                const float left = odd_row ? x[odd] : x[even];
                const float right = odd_row ? x[odd + 1] : x[even + 1];
                asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at + h * 1024), "f"(left),
                             "f"(right)
                             : "memory");
            }
        } else {
            const float *s = &x[q * 8 % 16];
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             at),
                         "r"(tmm__xhalf_two(s[0], s[1])), "r"(tmm__xhalf_two(s[2], s[3])),
                         "r"(tmm__xhalf_two(s[4], s[5])), "r"(tmm__xhalf_two(s[6], s[7]))
                         : "memory");
        }
    }
}

/* Stores the box of a warp by TMA. */
TMM__DEVICE void tmm__xhalf_send_box(const tmm__half_map *map, unsigned box, int row, int col,
                                     int product)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (tmm__elected()) tmm__half_box_out(map, box, col, row, product);
}

/* Stores alpha sum by TMA: 16 rows from `row` on, by a warp. Its 4 KB of shared memory hold two boxes: one
   is written while the other is read. Or it has one box alone. */
TMM__DEVICE void tmm__xhalf_store_boxes(const tmm__half_map *map, const tmm__half_job *job,
                                        unsigned own, const float *sum, int row,
                                        const tmm__half_item *at, const int cols, const bool one)
{
    enum { PART = 128 / sizeof(TMM_OUT), SUMS = PART / 2 };
    const bool both = !one && cols == 2 * PART; /* behind one fence */
    const float alpha = job->alpha;
    const unsigned place = own + tmm__xhalf_box_place(threadIdx.x % 32);
    const int col = at->col, product = at->product, width = TMM__HALF_STORED(job, cols);
#pragma unroll
    for (int part = 0; part < cols / PART; part++) {
        const unsigned box = one ? 0 : part % 2 * 2048;
        float x[SUMS];
        if (part * PART >= width) continue;
        const int over =
            cols > 128 ? min(width - (part + 1) * PART, 0) : 0; /* the last box begins earlier */
#pragma unroll
        for (int i = 0; i < SUMS; i++) x[i] = sum[part * SUMS + i];
        if (cols > 128 && part * PART >= cols - 64 && part > 1) {
#pragma unroll
            for (int n = 1; n < PART / 16; n++) {
                if (over != -16 * n) continue;
#pragma unroll
                for (int i = 0; i < SUMS; i++) x[i] = sum[part * SUMS + i - 8 * n];
            }
        }
#pragma unroll
        for (int i = 0; i < SUMS; i++) x[i] = __fmaf_rn(alpha, x[i], 0.0f);
        if (!both || part == 0) {
            if (tmm__elected()) tmm__half_boxes_wait(one || part == 0);
            __syncwarp();
        }
#pragma unroll
        for (int n = 0; n < SUMS; n += 16) tmm__xhalf_to_box((place ^ n * 4) + box, &x[n]);
        if (!both) {
            tmm__xhalf_send_box(map, own + box, row, col + part * PART + over, product);
        } else if (part == 1 || width == PART) {
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (tmm__elected()) {
                tmm__half_box_out(map, own, col, row, product);
                if (part == 1) tmm__half_box_out(map, own + 2048, col + PART, row, product);
            }
        }
    }
}

/* Copies 16 x 32 elements of C or, `of_D`, of D, from `row` and `col` on, to their half of a box; 16 bytes
   align rows of both. */
TMM__DEVICE void tmm__xhalf_ask_piece(const tmm__half_job *job, const TMM_OUT *C, int product,
                                      int row, int col, bool of_D, unsigned box, unsigned half)
{
    enum { WIDTH = 16 / sizeof(TMM_OUT), VECTORS = 32 / WIDTH };
    int lane = threadIdx.x % 32;
    TMM__HIDE(lane);
    const int place = lane % VECTORS;
    row += lane / VECTORS, col += place * WIDTH;
    long long ld = job->ldc;
    const TMM_OUT *X = C + product * job->batchC;
#ifdef TMM_WITH_EPILOGUE
    const tmm__after *after = &job->after;
    if (of_D)
        X = (const TMM_OUT *)after->D + (after->product + product) * after->strideD,
        ld = after->ldd;
#endif
    (void)of_D;
#pragma unroll
    for (int i = 0; i < VECTORS / 2; i++) {
        const int r = row + i * (32 / VECTORS), bytes = r < job->M && col < job->N ? 16 : 0;
        const unsigned to = box + r % 16 * 128 + (((place ^ r % 8) << 4) ^ half);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                     "l"(bytes ? X + r * ld + col : X), "r"(bytes)
                     : "memory");
    }
    tmm__copy_commit();
}

/* Adds factor times such a piece to 16 x 32 sums. */
TMM__DEVICE void tmm__xhalf_add(float *x, float factor, unsigned box, unsigned half)
{
    enum { WIDE = sizeof(TMM_OUT) == 4 };
    const int lane = threadIdx.x % 32, odd_row = lane / 4 % 2;
    TMM__COPY_WAIT(0);
    __syncwarp();
    box += tmm__xhalf_box_place(lane) ^ half;
#pragma unroll
    for (int q = 0; q < (WIDE ? 4 : 2); q++) {
        const unsigned from = box ^ q << 5;
        if (WIDE) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int even = 4 * q + 2 * h, odd = even ^ 8;
                float first, second;
                asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                             : "=f"(first), "=f"(second)
                             : "r"(from + h * 1024)
                             : "memory");
                first = TMM__MUL(factor, first), second = TMM__MUL(factor, second);
                x[odd] = odd_row ? x[odd] + first : x[odd];
                x[odd + 1] = odd_row ? x[odd + 1] + second : x[odd + 1];
                x[even] = odd_row ? x[even] : x[even] + first;
                x[even + 1] = odd_row ? x[even + 1] : x[even + 1] + second;
            }
        } else {
            unsigned four[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(four[0]), "=r"(four[1]), "=r"(four[2]), "=r"(four[3])
                         : "r"(from)
                         : "memory");
#pragma unroll
            for (int i = 0; i < 8; i++) {
                tmm__xouts2 two;
                memcpy(&two, &four[i / 2], 4);
                x[(q * 8 + i) % 16] += TMM__MUL(factor, (float)two.v[i % 2]);
            }
        }
    }
    __syncwarp();
}

#ifdef TMM_WITH_EPILOGUE
/* The activation of 16 numbers, by polynomials of so many terms: 0, 2 or all; a constant, mostly. */
TMM__DEVICE void tmm__xhalf_activate(const tmm__after *after, float *x, const int terms)
{
    if (terms == 0) {
        const bool cuts = after->activation == TMM_RELU;
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = cuts && x[i] < 0 ? 0 : x[i];
    } else if (terms == 2) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = tmm__smooth_float(x[i], after->terms, 2);
    } else {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = tmm__smooth_float(x[i], after->terms, TMM__TERMS);
    }
}

/* So many terms has the activation that is asked for. */
TMM__DEVICE int tmm__xhalf_terms(const tmm__after *after)
{
    return after->activation == TMM_IDENTITY || after->activation == TMM_RELU ? 0
           : after->activation == TMM_GELU_ERF                                ? (int)TMM__TERMS
                                                                              : 2;
}
#endif

#ifdef TMM_WITH_SYRK
/* Stores what the triangle has of alpha sum, by threads: 16 rows by a warp, through its shared memory, of which a
   lane takes 16 bytes of a row. */
TMM__DEVICE void tmm__xhalf_diagonal(const tmm__half_job *job, TMM_OUT *C, unsigned own,
                                     const float *sum, const tmm__half_item *at, int warp,
                                     const int cols)
{
    enum { PART = 128 / sizeof(TMM_OUT), SUMS = PART / 2, WIDTH = PART / 8 };
    const int lane = threadIdx.x % 32, row = at->row + warp * 16, place = lane % 8;
    const int lower = job->triangle == TMM__LOWER;
    const int end = (int)min(job->N, (long long)at->col + TMM__HALF_STORED(job, cols));
    const float alpha = job->alpha;
    const unsigned to = own + tmm__xhalf_box_place(lane);
    C += at->product * job->batchC;
    if (tmm__elected()) TMM__HALF_BOXES_WAIT(0);
#pragma unroll
    for (int part = 0; part < cols / PART; part++) {
        const int first = at->col + part * PART;
        float x[SUMS];
        if (part * PART >= TMM__HALF_STORED(job, cols) ||
            (lower ? first > row + 15 : first + PART <= row))
            continue; /* beyond the diagonal */
#pragma unroll
        for (int i = 0; i < SUMS; i++) x[i] = __fmaf_rn(alpha, sum[part * SUMS + i], 0.0f);
        __syncwarp();
#pragma unroll
        for (int n = 0; n < SUMS; n += 16) tmm__xhalf_to_box(to ^ n * 4, &x[n]);
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int r = n * 4 + lane / 8, col = first + place * WIDTH;
            const int begin = lower ? 0 : row + r - col; /* of these, what is stored */
            const int behind = min(end, lower ? row + r + 1 : end) - col;
            TMM_OUT *line = C + (row + r) * job->ldc + col, own_x[WIDTH];
            uint4 four;
            asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                         : "r"(own + r * 128 + ((place ^ r % 8) << 4))
                         : "memory");
            memcpy(own_x, &four, sizeof own_x);
            if (row + r >= job->M) continue;
            if (begin <= 0 && behind >= WIDTH) {
                *(uint4 *)line = four;
                continue;
            }
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                if (i >= begin && i < behind) line[i] = own_x[i];
        }
    }
}
#endif

#ifdef TMM_WITH_EPILOGUE
/* Two numbers of lane `from`. */
TMM__DEVICE void tmm__xhalf_from_lane(float *two, const unsigned *own, int from)
{
    unsigned words[sizeof(TMM_OUT) / 2];
    tmm__xouts2 pair;
#pragma unroll
    for (int i = 0; i < (int)sizeof(TMM_OUT) / 2; i++)
        words[i] = __shfl_sync(0xffffffffu, own[i], from);
    memcpy(&pair, words, sizeof pair);
    two[0] = (float)pair.v[0], two[1] = (float)pair.v[1];
}
#endif

/* What a lane has of the biases of 16 rows of a tile: those of rows lane / 4 and + 8, and pairs of columns,
   64 apart, from 2 lane on. They are loaded before the sums are made, or the store would wait for L2 again
   and again. */
typedef struct tmm__xhalf_biases {
    TMM_OUT rows[2];
    unsigned pairs[4][sizeof(TMM_OUT) / 2]; /* as they are loaded: nothing waits for them yet */
} tmm__xhalf_biases;

TMM__DEVICE void tmm__xhalf_load_biases(tmm__xhalf_biases *biases, const tmm__half_job *job,
                                        const tmm__half_item *at, int warp, const int cols)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < (int)sizeof(TMM_OUT) / 2; j++) biases->pairs[i][j] = 0;
    biases->rows[0] = biases->rows[1] = (TMM_OUT)0.0f;
#ifdef TMM_WITH_EPILOGUE
    const tmm__after *after = &job->after;
    const int lane = threadIdx.x % 32, row = at->row + warp * 16 + lane / 4;
    const long long product = after->product + at->product;
    if (!after->active || at->part >= 0) return;
    if (after->row_bias != NULL) {
        const TMM_OUT *rows = (const TMM_OUT *)after->row_bias + product * after->row_stride;
        if (row < job->M) biases->rows[0] = rows[row];
        if (row + 8 < job->M) biases->rows[1] = rows[row + 8];
    }
    if (after->col_bias != NULL) {
        const TMM_OUT *of_cols = (const TMM_OUT *)after->col_bias + product * after->col_stride;
#pragma unroll
        for (int i = 0; i < cols / 64; i++) {
            const int col = at->col + i * 64 + 2 * lane;
            if ((size_t)of_cols % sizeof(tmm__xouts2) != 0 || col + 1 >= job->N) continue;
#pragma unroll
            for (int j = 0; j < (int)sizeof(TMM_OUT) / 2; j++)
                biases->pairs[i][j] = ((const unsigned *)(of_cols + col))[j];
        }
    }
#endif
}

#ifdef TMM_WITH_EPILOGUE
/* Stores by TMA alpha sum with biases and an activation by polynomials of `terms`, and no more: 128 columns after
   128, if a tile has whole ones, each moved to the place of the first, so that there is little code; without
   branches, at which warps wait for instructions. `sum` and `biases` are lost. */
TMM__DEVICE void tmm__xhalf_active_way(const tmm__half_map *map, const tmm__half_job *job,
                                       unsigned own, float *sum, const tmm__half_item *at, int warp,
                                       tmm__xhalf_biases *biases, const int cols, const int terms,
                                       float alpha)
{
    enum { WIDE = sizeof(TMM_OUT) == 4, PART = WIDE ? 32 : 64 };
    const int wide = cols % 128 == 0 ? 128 : 64;
    int row = at->row + warp * 16;
    const int last =
        row < job->M ? (int)min(job->N, (long long)at->col + TMM__HALF_STORED(job, cols)) : 0;
    if (tmm__elected()) TMM__HALF_BOXES_WAIT(0);
    __syncwarp();
#pragma unroll 1
    for (int col = at->col; col < last; col += wide) {
        int lane = threadIdx.x % 32, product = at->product;
        TMM__HIDE(lane);
        TMM__HIDE(row);
        TMM__HIDE(product); /* or what follows from them is kept in registers through the loop */
#pragma unroll
        for (int p = 0; p < wide / 32; p++) {
            const int first = col + (WIDE ? p * 32 : p / 2 * 64);
            const unsigned half = WIDE ? 0 : p % 2 * 64, box = own + first / PART % 2 * 2048;
            float x[16], bias[8];
            if (p > 1 && col + p / 2 * 64 >= last) continue;
#pragma unroll
            for (int i = 0; i < 4; i++)
                tmm__xhalf_from_lane(&bias[2 * i], biases->pairs[p / 2],
                                     p % 2 * 16 + 4 * i + lane % 4);
#pragma unroll
            for (int j = 0; j < 16; j++)
                x[j] = __fmaf_rn(alpha, sum[p * 16 + j], bias[j / 4 * 2 + j % 2]);
            tmm__xhalf_activate(&job->after, x, terms);
            tmm__xhalf_to_box(box + (tmm__xhalf_box_place(lane) ^ half), x);
            if (!WIDE && p % 2 == 0) continue;
            tmm__xhalf_send_box(map, box, row, first, product);
            if (tmm__elected()) TMM__HALF_BOXES_WAIT(1); /* the other box has been read */
            __syncwarp();
        }
#pragma unroll
        for (int i = 0; i < (cols - wide) / 2; i++) sum[i] = sum[i + wide / 2];
#pragma unroll
        for (int i = 0; i < (cols - wide) / 64; i++)
#pragma unroll
            for (int j = 0; j < (int)sizeof(TMM_OUT) / 2; j++)
                biases->pairs[i][j] = biases->pairs[i + wide / 64][j];
    }
}
#endif

/* Stores by TMA whatever is more than alpha sum: 64 columns after 64. C has been read before it is written,
   since what is written is made of it. */
TMM__DEVICE void tmm__xhalf_more_way(const tmm__half_map *map, const tmm__half_job *job, TMM_OUT *C,
                                     unsigned own, float *sum, const tmm__half_item *at, int warp,
                                     tmm__xhalf_biases *biases, const int cols)
{
    enum { WIDE = sizeof(TMM_OUT) == 4, PART = WIDE ? 32 : 64 };
    int row = at->row + warp * 16, last = at->col + TMM__HALF_WHOLE(job, cols);
    bool of_D = false;
#ifdef TMM_WITH_EPILOGUE
    of_D = job->after.active && job->after.D != NULL;
#endif
    if (last > job->N) last = (int)job->N;
    if (row >= job->M) last = 0;
    if (tmm__elected()) TMM__HALF_BOXES_WAIT(0);
    __syncwarp();
    if (at->col < last && (job->beta != 0 || of_D))
        tmm__xhalf_ask_piece(job, C, at->product, row, at->col, of_D, own, 0);
#pragma unroll 1
    for (int col = at->col; col < last; col += 64) {
        int lane = threadIdx.x % 32, product = at->product;
        TMM__HIDE(lane);
        TMM__HIDE(row);
        TMM__HIDE(product); /* or what follows from them is kept in registers through the loop */
        const float alpha = job->alpha, beta = job->beta, zero = beta == 0 ? 0.0f : -0.0f;
        const bool asks = beta != 0 || of_D;
#pragma unroll
        for (int p = 0; p < 2; p++) {
            const int here = col + p * 32, first = WIDE ? here : col;
            const unsigned half = WIDE ? 0 : p * 64;
            const unsigned box = own + (WIDE ? p : (col - at->col) / 64 % 2) * 2048;
            float x[16], bias[8];
#pragma unroll
            for (int i = 0; i < 8; i++) bias[i] = zero;
#ifdef TMM_WITH_EPILOGUE
            if (job->after.active && job->after.col_bias != NULL) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    tmm__xhalf_from_lane(&bias[2 * i], biases->pairs[0], p * 16 + 4 * i + lane % 4);
            }
#endif
#pragma unroll
            for (int j = 0; j < 16; j++)
                x[j] = __fmaf_rn(alpha, sum[p * 16 + j], bias[j / 4 * 2 + j % 2]);
            if (beta != 0) tmm__xhalf_add(x, beta, box, half);
#ifdef TMM_WITH_EPILOGUE
            if (job->after.active) {
                if (job->after.row_bias != NULL) {
#pragma unroll
                    for (int j = 0; j < 16; j++) x[j] += (float)biases->rows[j / 2 % 2];
                }
                tmm__xhalf_activate(&job->after, x, tmm__xhalf_terms(&job->after));
            }
            if (of_D) tmm__xhalf_add(x, job->after.gamma_float, box, half);
#endif
            tmm__xhalf_to_box(box + (tmm__xhalf_box_place(lane) ^ half), x);
            if (WIDE || p == 1) {
                tmm__xhalf_send_box(map, box, row, first, product);
                if (tmm__elected()) TMM__HALF_BOXES_WAIT(1); /* the other box has been read */
                __syncwarp();
            }
            const unsigned other = own + (WIDE ? 1 - p : (here + 32 - at->col) / 64 % 2) * 2048;
            if (asks && here + 32 < last)
                tmm__xhalf_ask_piece(job, C, product, row, here + 32, of_D, other,
                                     WIDE ? 0 : 64 - half);
        }
#pragma unroll
        for (int i = 0; i < cols / 2 - 32; i++) sum[i] = sum[i + 32];
#pragma unroll
        for (int i = 0; i < cols / 64 - 1; i++)
#pragma unroll
            for (int j = 0; j < (int)sizeof(TMM_OUT) / 2; j++)
                biases->pairs[i][j] = biases->pairs[i + 1][j];
    }
}

/* The same: activations have loops of their own, since warps wait for instructions at each jump. */
TMM__DEVICE void tmm__xhalf_more_boxes(const tmm__half_map *map, const tmm__half_job *job,
                                       TMM_OUT *C, unsigned own, float *sum,
                                       const tmm__half_item *at, int warp,
                                       tmm__xhalf_biases *biases, const int cols)
{
#ifdef TMM_WITH_EPILOGUE
    /* Not where threads store a rest of columns. A bias of rows comes first, so that loops need not ask. */
    if (job->after.active && job->beta == 0 && job->after.D == NULL &&
        TMM__HALF_STORED(job, cols) % 64 == 0) {
        const int terms = tmm__xhalf_terms(&job->after);
        float alpha = job->alpha;
        if (job->after.row_bias != NULL) {
#pragma unroll
            for (int i = 0; i < cols / 2; i++)
                sum[i] = __fmaf_rn(alpha, sum[i], (float)biases->rows[i / 2 % 2]);
            alpha = 1;
        }
        if (terms == 0)
            tmm__xhalf_active_way(map, job, own, sum, at, warp, biases, cols, 0, alpha);
        else if (terms == 2)
            tmm__xhalf_active_way(map, job, own, sum, at, warp, biases, cols, 2, alpha);
        else
            tmm__xhalf_active_way(map, job, own, sum, at, warp, biases, cols, TMM__TERMS, alpha);
        return;
    }
#endif
    tmm__xhalf_more_way(map, job, C, own, sum, at, warp, biases, cols);
}

/* Asks L2 for the lines of X, C or D, that a warp will read when it stores 16 rows from `row` on: a tile
   waits for memory at eight places else. */
TMM__DEVICE void tmm__xhalf_ask(const TMM_OUT *X, long long ld, const tmm__half_job *job, int row,
                                int col, const int cols)
{
    enum { WIDTH = 128 / sizeof(TMM_OUT) };
    const int lines = cols / WIDTH + 1, last = (int)min(job->N - col, (long long)cols) - 1;
    for (int n = threadIdx.x % 32; n < 16 * lines; n += 32) {
        const int r = row + n / lines, c = min(n % lines * WIDTH, last);
        if (r < job->M && last >= 0)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(X + r * ld + col + c) : "memory");
    }
}

/* How a tile is stored: by threads, or by TMA, as alpha sum or as more than that; one that the diagonal crosses,
   without more. TMA leaves out rows beyond M, but of columns beyond N whole 16 bytes alone. */
#ifndef TMM__HALF_ONCE
enum {
    TMM__HALF_BY_THREADS,
    TMM__HALF_BY_BOXES,
    TMM__HALF_MORE,
    TMM__HALF_DIAGONAL,
    TMM__HALF_BY_COLS
};
#endif
TMM__DEVICE int tmm__xhalf_by_boxes(const tmm__half_job *job, const tmm__half_item *at,
                                    const int rows, const int cols)
{
    if (TMM__HALF_CAN_TURN(rows, cols) && job->turned_C) return TMM__HALF_BY_COLS;
    if (rows == 192) return TMM__HALF_BY_BOXES;
    int way = job->beta != 0 ? TMM__HALF_MORE : TMM__HALF_BY_BOXES;
    if (!job->boxed_C || at->part >= 0) return TMM__HALF_BY_THREADS; /* partial sums */
    if (job->N % (16 / sizeof(TMM_OUT)) != 0 && at->col + TMM__HALF_STORED(job, cols) > job->N)
        return TMM__HALF_BY_THREADS;
#ifdef TMM_EPILOGUE
    way = TMM__HALF_BY_THREADS;
#endif
#ifdef TMM_WITH_EPILOGUE
    if (job->after.active) {
        const tmm__after *after = &job->after;
        const long long product = after->product + at->product;
        const TMM_OUT *D = (const TMM_OUT *)after->D, *bias = (const TMM_OUT *)after->col_bias;
        if (D != NULL) D += product * after->strideD;
        if (bias != NULL) bias += product * after->col_stride;
        if (((size_t)D | (D != NULL ? (size_t)after->ldd * sizeof(TMM_OUT) : 0)) % 16 != 0 ||
            (size_t)bias % sizeof(tmm__xouts2) != 0)
            return TMM__HALF_BY_THREADS;
        if (way == TMM__HALF_BY_BOXES) way = TMM__HALF_MORE;
        if (D != NULL && job->beta != 0)
            return TMM__HALF_BY_THREADS; /* there are no registers for both */
    }
#endif
#ifdef TMM_WITH_SYRK
    if ((job->triangle == TMM__LOWER && at->col + TMM__HALF_STORED(job, cols) - 1 > at->row) ||
        (job->triangle == TMM__UPPER && at->col < at->row + 127))
        return way == TMM__HALF_BY_BOXES ? TMM__HALF_DIAGONAL : TMM__HALF_BY_THREADS;
#endif
    return way;
}
#endif
