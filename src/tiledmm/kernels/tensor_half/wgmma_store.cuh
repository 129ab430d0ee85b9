/* src/tiledmm/kernels/tensor_half/wgmma_store.cuh. Elements of 16 bits by wgmma: how C is stored.
   Uses: kernels/common/, wgmma.cuh, once/. Used by: wgmma_kernel.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
/* Where sum (row, col) of 16 x 64 lies in a warp's shared memory: 16 bytes of four rows lie in different
   banks. */
#ifndef TMM__HALF_PLACE
#define TMM__HALF_PLACE(row, col) ((row)*64 + (((col) / 4) ^ ((row) % 4 * 2)) * 4 + (col) % 4)
#endif

#ifdef TMM_WITH_EPILOGUE
/* Four neighbours, as one word where they are aligned. */
TMM__DEVICE tmm__xouts4 tmm__xhalf_four(const TMM_OUT *from, bool aligned)
{
    if (aligned) return *(const tmm__xouts4 *)from;
    const tmm__xouts4 four = {{from[0], from[1], from[2], from[3]}};
    return four;
}

/* See tmm__xfinish: of four rows, two apart from `row` on, four neighbours x each. All loads come first,
   and each question is asked once: asked for each row, they took several times as long as the tile. */
TMM__DEVICE void tmm__xhalf_finish(const tmm__after *after, float *x, long long row, long long col)
{
    const TMM_OUT *D = (const TMM_OUT *)after->D, *cols = (const TMM_OUT *)after->col_bias;
    const TMM_OUT *rows = (const TMM_OUT *)after->row_bias;
    const long long product = after->product, ldd = after->ldd;
    tmm__xouts4 bias, more[4];
    TMM_OUT of_row[4];
    if (cols != NULL) {
        cols += product * after->col_stride + col;
        bias = tmm__xhalf_four(cols, (size_t)cols % sizeof bias == 0);
    }
    if (D != NULL) {
        D += product * after->strideD + row * ldd + col;
        const bool aligned = ((size_t)D | (size_t)ldd * sizeof(TMM_OUT)) % sizeof bias == 0;
#pragma unroll
        for (int i = 0; i < 4; i++) more[i] = tmm__xhalf_four(D + 2 * i * ldd, aligned);
    }
    if (rows != NULL) {
        rows += product * after->row_stride + row;
#pragma unroll
        for (int i = 0; i < 4; i++) of_row[i] = rows[2 * i];
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] += (float)of_row[i / 4];
    }
    if (cols != NULL) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] += (float)bias.v[i % 4];
    }
    if (after->activation == TMM_RELU) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = x[i] < 0 ? 0 : x[i];
    } else if (after->activation != TMM_IDENTITY) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = tmm__smooth_float(x[i], after->terms, TMM__TERMS);
    }
    if (D == NULL) return;
    const float gamma = after->gamma_float;
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] += TMM__MUL(gamma, (float)more[i / 4].v[i % 4]);
}
#endif

/* 16 x 64 sums of a warp to C, whose row `row` and column `col` is c; `rows` and `left` columns exist.
   Where all of them are stored, and C is aligned to `fours`, lanes have four neighbours each. Else pairs;
   they begin where a sector of 32 bytes begins, and the lanes before that have the last ones of the 64:
       sectors       |       |       |       |       |       |       |       |       |
       lanes     ... shift - 1   shift ..                                         31
   Parts of sectors would take L2 several times as long. Loads of C come before stores; there are no
   branches, so that four rows are on their way at once. */
TMM__DEVICE void tmm__xhalf_store_rows(const tmm__half_job *job, TMM_OUT *c, const float *own,
                                       long long row, long long col, int rows, int left, bool fours,
                                       TMM__ALPHA alpha)
{
    enum { AHEAD = 4, ROWS = 2 };
    const int lane = threadIdx.x % 32, triangle = TMM__TRIANGLE(job);
    const int under = (int)(row - col); /* the diagonal's column in the first row, from col on */
    const long long ldc = job->ldc;
    const float beta = job->beta, factor = job->alpha;
    if (fours && rows == 16 && left >= 64 &&
        (triangle == 0 || (triangle == TMM__LOWER ? under >= 63 : under <= -15))) {
        c += lane / 16 * ldc + lane % 16 * 4, col += lane % 16 * 4;
#pragma unroll 1
        for (int r = lane / 16; r < 16; r += 2 * AHEAD, c += 2 * AHEAD * ldc) {
            float x[4 * AHEAD];
            tmm__xouts4 elements[AHEAD];
            if (beta != 0) {
#pragma unroll
                for (int i = 0; i < AHEAD; i++)
                    elements[i] = *(const tmm__xouts4 *)(c + 2 * i * ldc);
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const float4 four =
                    *(const float4 *)&own[TMM__HALF_PLACE(r + 2 * i, lane % 16 * 4)];
                x[4 * i] = TMM__MUL(factor, four.x), x[4 * i + 1] = TMM__MUL(factor, four.y);
                x[4 * i + 2] = TMM__MUL(factor, four.z), x[4 * i + 3] = TMM__MUL(factor, four.w);
            }
#pragma unroll
            for (int i = 0; i < 4 * AHEAD; i++)
                x[i] += beta == 0 ? 0 : TMM__MUL(beta, (float)elements[i / 4].v[i % 4]);
#ifdef TMM_WITH_EPILOGUE
            if (alpha.after.active) tmm__xhalf_finish(&alpha.after, x, row + r, col);
#endif
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    elements[i].v[j] =
                        tmm__xrounded(x[4 * i + j], true, row + r + 2 * i, (col + j));
                *(tmm__xouts4 *)(c + 2 * i * ldc) = elements[i];
            }
        }
        return;
    }
#pragma unroll 1
    for (int r = 0; r < rows; r += ROWS) {
        enum { SIZE = sizeof(TMM_OUT) };
        TMM_OUT *line[ROWS];
        tmm__xouts2 old[ROWS];
        int at[ROWS], next[ROWS];
        bool both[ROWS], first[ROWS], second[ROWS]; /* are stored, one of these at most */
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            line[i] = c + (r + i) * ldc;
            const int shift = (int)((size_t)line[i] / SIZE % (32 / SIZE)), diagonal = under + r + i;
            const int from = triangle == TMM__UPPER ? diagonal : 0;
            const int to = r + i >= rows            ? 0
                           : triangle == TMM__LOWER ? min(left, diagonal + 1)
                                                    : left;
            at[i] = (2 * lane - shift) & 63, next[i] = (at[i] + 1) & 63;
            first[i] = at[i] >= from && at[i] < to, second[i] = next[i] >= from && next[i] < to;
            both[i] = first[i] && second[i] && next[i] != 0;
            first[i] = first[i] && !both[i], second[i] = second[i] && !both[i];
            old[i].v[0] = old[i].v[1] = (TMM_OUT)0.0f;
            if (beta == 0) continue;
            tmm__load_if(&old[i], line[i] + at[i], 2 * SIZE, both[i]);
            tmm__load_if(&old[i].v[0], line[i] + at[i], SIZE, first[i]);
            tmm__load_if(&old[i].v[1], line[i] + next[i], SIZE, second[i]);
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int n = 0; n < 2; n++) {
                const int place = n == 0 ? at[i] : next[i];
                const float before = beta == 0 ? 0 : TMM__MUL(beta, (float)old[i].v[n]);
                old[i].v[n] = tmm__xvalue(own[TMM__HALF_PLACE(r + i, place)], alpha, before,
                                          both[i] || (n == 0 ? first[i] : second[i]), row + r + i,
                                          col + place);
            }
            tmm__store_if(line[i] + at[i], &old[i], 2 * SIZE, both[i]);
            tmm__store_if(line[i] + at[i], &old[i].v[0], SIZE, first[i]);
            tmm__store_if(line[i] + next[i], &old[i].v[1], SIZE, second[i]);
        }
    }
}

/* The same for any C, beta, epilogue, triangle and for partial sums: 16 rows by a warp, 64 columns after
   64 through its shared memory. Little code: what runs once a tile is fetched from L2, and 88 KB of
   it, 64 sums unrolled, took 20 us. Fragments of sums: see tmm__wgmma. */
TMM__DEVICE void tmm__xhalf_store(const tmm__half_job *job, TMM_OUT *C, float *own,
                                  const float *sum, const tmm__half_item *at, int warp,
                                  const int cols)
{
    const int lane = threadIdx.x % 32, row = at->row + warp * 16;
    const int rows = (int)min(job->M - row, 16ll);
    const int left = (int)min(job->N - at->col, (long long)cols);
    const long long product = at->product;
    const int place = TMM__HALF_PLACE(lane / 4, lane % 4 * 2);
    float *partials = NULL;
    if (at->part >= 0)
        partials = job->partials +
                   (at->part * job->part_rows + row - job->part_row) * job->part_cols + at->col -
                   job->part_col;
    C += product * job->batchC + row * job->ldc + at->col;
    const TMM__ALPHA alpha = TMM__OF_JOB(job->alpha, *job, product);
    const bool fours =
        ((size_t)C | (size_t)job->ldc * sizeof(TMM_OUT)) % (4 * sizeof(TMM_OUT)) == 0;
#pragma unroll 1
    for (int first = 0; first < left && rows > 0; first += 64) {
        __syncwarp();
#pragma unroll
        for (int part = 0; part < cols / 64; part++) {
            if (first != part * 64) continue;
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const float *two = &sum[(part * 32 + 2 * i) % (cols / 2)];
                *(float2 *)&own[(place ^ i / 2 * 8) + i % 2 * 512] = make_float2(two[0], two[1]);
            }
        }
        __syncwarp();
        if (partials == NULL) {
            tmm__xhalf_store_rows(job, C + first, own, row, at->col + first, rows, left - first,
                                  fours, alpha);
            continue;
        }
        float *line = partials + first + lane;
#pragma unroll 4
        for (int r = 0; r < rows; r++, line += job->part_cols) {
            if (first + lane < left) line[0] = own[TMM__HALF_PLACE(r, lane)];
            if (first + lane + 32 < left) line[32] = own[TMM__HALF_PLACE(r, lane + 32)];
        }
    }
}
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && TMM__WGMMA
#if TMM__HALF_TENSOR == 1
#define TMM__HALF_TYPE "f16"
#else
#define TMM__HALF_TYPE "bf16"
#endif
/* Two sums, rounded: neighbours in C. */
TMM__DEVICE unsigned tmm__xhalf_two(float low, float high)
{
    unsigned two;
    asm("cvt.rn." TMM__HALF_TYPE "x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
    return two;
}

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
    if (threadIdx.x % 32 == 0) tmm__half_box_out(map, box, col, row, product);
}

/* Stores alpha sum by TMA: 16 rows from `row` on, by a warp. Its 4 KB of shared memory hold two boxes: one
   is written while the other is read. */
TMM__DEVICE void tmm__xhalf_store_boxes(const tmm__half_map *map, const tmm__half_job *job,
                                        unsigned own, const float *sum, int row, int col,
                                        int product, const int cols)
{
    enum { PART = 128 / sizeof(TMM_OUT), SUMS = PART / 2 };
    const float alpha = job->alpha;
    const unsigned place = own + tmm__xhalf_box_place(threadIdx.x % 32);
#pragma unroll
    for (int part = 0; part < cols / PART; part++) {
        const unsigned box = part % 2 * 2048;
        float x[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; i++) x[i] = __fmaf_rn(alpha, sum[part * SUMS + i], 0.0f);
        if (threadIdx.x % 32 == 0) tmm__half_boxes_wait(part == 0);
        __syncwarp();
#pragma unroll
        for (int n = 0; n < SUMS; n += 16) tmm__xhalf_to_box((place ^ n * 4) + box, &x[n]);
        tmm__xhalf_send_box(map, own + box, row, col + part * PART, product);
    }
}

/* Adds factor X, of C or D, to 16 x 32 sums, by way of their place in a box; `rows` and `left` columns
   exist. 16 bytes align rows of X. */
TMM__DEVICE void tmm__xhalf_add(float *x, float factor, const TMM_OUT *X, long long ld,
                                unsigned box, unsigned half, int rows, int left)
{
    enum { WIDE = sizeof(TMM_OUT) == 4, WIDTH = 16 / sizeof(TMM_OUT), VECTORS = 32 / WIDTH };
    const int lane = threadIdx.x % 32, place = lane % VECTORS, odd_row = lane / 4 % 2;
    uint4 vectors[16 * VECTORS / 32];
#pragma unroll
    for (int n = 0; n < 16 * VECTORS / 32; n++) {
        const int r = lane / VECTORS + n * (32 / VECTORS);
        vectors[n] = make_uint4(0, 0, 0, 0);
        if (r < rows && place * WIDTH < left)
            vectors[n] = *(const uint4 *)(X + r * ld + place * WIDTH);
    }
#pragma unroll
    for (int n = 0; n < 16 * VECTORS / 32; n++) {
        const int r = lane / VECTORS + n * (32 / VECTORS);
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(
                         box + r * 128 + (((place ^ r % 8) << 4) ^ half)),
                     "r"(vectors[n].x), "r"(vectors[n].y), "r"(vectors[n].z), "r"(vectors[n].w)
                     : "memory");
    }
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
/* Biases and activation for 16 x 32 sums: rows `row` and row + 8 of this lane, columns `col`, + 1, + 8, + 9
   and so on. Pairs of biases are aligned. */
TMM__DEVICE void tmm__xhalf_activate(const tmm__half_job *job, float *x, long long product, int row,
                                     int col)
{
    const tmm__after *after = &job->after;
    product += after->product;
    if (after->row_bias != NULL) {
        const TMM_OUT *rows = (const TMM_OUT *)after->row_bias + product * after->row_stride;
        const float upper = row < job->M ? (float)rows[row] : 0;
        const float lower = row + 8 < job->M ? (float)rows[row + 8] : 0;
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] += i / 2 % 2 ? lower : upper;
    }
    if (after->col_bias != NULL) {
        const TMM_OUT *cols = (const TMM_OUT *)after->col_bias + product * after->col_stride;
        tmm__xouts2 two[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            two[i].v[0] = two[i].v[1] = (TMM_OUT)0.0f;
            if (col + 8 * i < job->N) two[i] = *(const tmm__xouts2 *)(cols + col + 8 * i);
        }
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] += (float)two[i / 4].v[i % 2];
    }
    if (after->activation == TMM_RELU) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = x[i] < 0 ? 0 : x[i];
    } else if (after->activation == TMM_GELU_ERF) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = tmm__smooth_float(x[i], after->terms, TMM__TERMS);
    } else if (after->activation != TMM_IDENTITY) {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = tmm__smooth_float(x[i], after->terms, 2);
    }
}
#endif

#ifdef TMM_WITH_SYRK
/* Stores 16 x 32 sums that the diagonal crosses, by threads; rows and columns as tmm__xhalf_activate has
   them. */
TMM__DEVICE void tmm__xhalf_diagonal(const tmm__half_job *job, TMM_OUT *C, const float *x, int row,
                                     int col)
{
#pragma unroll
    for (int i = 0; i < 16; i += 2) {
        const int r = row + i / 2 % 2 * 8, c = col + i / 4 * 8;
        TMM_OUT *to = C + r * job->ldc + c;
        const bool exist = r < job->M && c < job->N;
        const bool first = exist && tmm__in_triangle(job->triangle, r, c);
        const bool second = exist && tmm__in_triangle(job->triangle, r, c + 1);
        const tmm__xouts2 two = {{(TMM_OUT)x[i], (TMM_OUT)x[i + 1]}};
        if (first && second)
            *(tmm__xouts2 *)to = two;
        else if (first)
            to[0] = two.v[0];
        else if (second)
            to[1] = two.v[1];
    }
}
#endif

/* Stores by TMA what is more than alpha sum: 32 columns after 32, so little code; see tmm__xhalf_store. C
   has been read before it is written, since what is written is made of it. */
TMM__DEVICE void tmm__xhalf_more_boxes(const tmm__half_map *map, const tmm__half_job *job,
                                       TMM_OUT *C, unsigned own, const float *sum,
                                       const tmm__half_item *at, int warp, const int cols)
{
    enum { PART = 128 / sizeof(TMM_OUT), PIECES = PART / 32 };
    int sent = 0;
#pragma unroll 1
    for (int n = 0; n < cols / 32; n++) {
        int lane = threadIdx.x % 32, row = at->row + warp * 16, product = at->product;
        TMM__HIDE(lane);
        TMM__HIDE(row);
        TMM__HIDE(product); /* or what follows from them is kept in registers through the loop */
        const int first = at->col + n / PIECES * PART, col = at->col + n * 32;
        const int left = (int)min(job->N - col, 32ll), rows = (int)min(job->M - row, 16ll);
        const unsigned box = own + sent % 2 * 2048, half = n % PIECES * 64;
        const float alpha = job->alpha, beta = job->beta, zero = beta == 0 ? 0.0f : -0.0f;
        TMM_OUT *const c = C + product * job->batchC;
        float x[16];
        if (rows <= 0 || first >= job->N) break;
#ifdef TMM_WITH_SYRK
        if (job->triangle == TMM__LOWER && first > row + 15) break;
        if (job->triangle == TMM__UPPER && first + PART <= row) continue;
#endif
#pragma unroll
        for (int i = 0; i < cols / 32; i++) {
            if (i != n) continue;
#pragma unroll
            for (int j = 0; j < 16; j++) x[j] = __fmaf_rn(alpha, sum[i * 16 + j], zero);
        }
#ifdef TMM_WITH_SYRK
        if ((job->triangle == TMM__LOWER && first + PART - 1 > row) ||
            (job->triangle == TMM__UPPER && first < row + 15)) {
            tmm__xhalf_diagonal(job, c, x, row + lane / 4, col + lane % 4 * 2);
            continue;
        }
#endif
        if (lane == 0 && half == 0) tmm__half_boxes_wait(sent == 0);
        __syncwarp();
        if (beta != 0)
            tmm__xhalf_add(x, beta, c + row * job->ldc + col, job->ldc, box, half, rows, left);
#ifdef TMM_WITH_EPILOGUE
        if (job->after.active) {
            const tmm__after *after = &job->after;
            tmm__xhalf_activate(job, x, product, row + lane / 4, col + lane % 4 * 2);
            if (after->D != NULL)
                tmm__xhalf_add(x, after->gamma_float,
                               (const TMM_OUT *)after->D +
                                   (after->product + product) * after->strideD + row * after->ldd +
                                   col,
                               after->ldd, box, half, rows, left);
        }
#endif
        tmm__xhalf_to_box(box + (tmm__xhalf_box_place(lane) ^ half), x);
        if (n % PIECES != PIECES - 1) continue;
        tmm__xhalf_send_box(map, box, row, first, product);
        sent++;
    }
}

#undef TMM__HALF_TYPE

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

/* How a tile is stored: by threads, or by TMA, as alpha sum or as more than that. TMA leaves out rows
   beyond M, but of columns beyond N whole 16 bytes alone. */
#ifndef TMM__HALF_ONCE
enum { TMM__HALF_BY_THREADS, TMM__HALF_BY_BOXES, TMM__HALF_MORE };
#endif
TMM__DEVICE int tmm__xhalf_by_boxes(const tmm__half_job *job, const tmm__half_item *at,
                                    const int cols)
{
    int way = job->beta != 0 ? TMM__HALF_MORE : TMM__HALF_BY_BOXES;
    if (!job->boxed_C || at->part >= 0) return TMM__HALF_BY_THREADS; /* partial sums */
    if (job->N % (16 / sizeof(TMM_OUT)) != 0 && at->col + cols > job->N)
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
    }
#endif
#ifdef TMM_WITH_SYRK
    if ((job->triangle == TMM__LOWER && at->col + cols - 1 > at->row) ||
        (job->triangle == TMM__UPPER && at->col < at->row + 127))
        return way == TMM__HALF_BY_BOXES ? TMM__HALF_MORE : TMM__HALF_BY_THREADS;
#endif
    return way;
}
#endif
