/* src/tiledmm/kernels/tensor_half/wgmma_store.cuh. Elements of 16 bits by wgmma: how C is stored
   by threads: its rows, or, if it is turned, its columns.
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

/* Partial sums straight from registers, where rows of them begin at even numbers: a lane has two neighbours,
   four lanes a sector of 32 bytes. */
TMM__DEVICE void tmm__xhalf_store_parts(const tmm__half_job *job, float *partials, const float *sum,
                                        int rows, int left, const int cols)
{
    const int row = threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
    float *line[2] = {partials + row * job->part_cols + col,
                      partials + (row + 8) * job->part_cols + col};
#pragma unroll
    for (int i = 0; i < cols / 4; i++)
        if (row + i % 2 * 8 < rows && col + i / 2 * 8 < left)
            *(float2 *)(line[i % 2] + i / 2 * 8) = make_float2(sum[2 * i], sum[2 * i + 1]);
}

/* The same for any C, beta, epilogue, triangle and for partial sums: 16 rows by a warp, 64 columns after
   64 through its shared memory. Little code: what runs once a tile is fetched from L2, and 88 KB of
   it, 64 sums unrolled, took 20 us. Fragments of sums: see tmm__wgmma. */
TMM__DEVICE void tmm__xhalf_store(const tmm__half_job *job, TMM_OUT *C, float *own,
                                  const float *sum, const tmm__half_item *at, int warp, int begin,
                                  const int cols)
{
    const int lane = threadIdx.x % 32, row = at->row + warp * 16;
    const int rows = (int)min(job->M - row, 16ll);
    const int left = (int)min(job->N - at->col, (long long)TMM__HALF_STORED(job, cols));
    const long long product = at->product;
    const int place = TMM__HALF_PLACE(lane / 4, lane % 4 * 2);
    float *partials = NULL;
    if (at->part >= 0)
        partials = job->partials +
                   (at->part * job->part_rows + row - job->part_row) * job->part_cols + at->col -
                   job->part_col;
    if (partials != NULL && begin == 0 &&
        ((size_t)partials | (size_t)job->part_cols * sizeof(float)) % sizeof(float2) == 0) {
        tmm__xhalf_store_parts(job, partials, sum, rows, left, cols);
        return;
    }
    C += product * job->batchC + row * job->ldc + at->col;
    const TMM__ALPHA alpha = TMM__OF_JOB(job->alpha, *job, product);
    const bool fours =
        ((size_t)C | (size_t)job->ldc * sizeof(TMM_OUT)) % (4 * sizeof(TMM_OUT)) == 0;
#pragma unroll 1
    for (int first = begin; first < left && rows > 0; first += 64) {
        __syncwarp();
#pragma unroll
        for (int part = 0; part < cols / 64; part++) {
            if (first - begin != part * 64) continue;
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
#if TMM__WGMMA
/* If C is turned, alpha sum to its columns. The 64 rows that a warpgroup has of a tile are a line of 128
   bytes of a column. Columns go through its shared memory, so that lines are stored whole: by sectors of
   16 rows, a warp each, 2304 took 8 us longer. Sectors are left where several blocks store the rows of a
   warpgroup. Of 8 rows all exist or none; 16 bytes align C. */
TMM__DEVICE void tmm__xhalf_store_cols(const tmm__half_job *job, TMM_OUT *C, unsigned own,
                                       const float *sum, const tmm__half_item *at, int warp,
                                       const int cols, const bool plain)
{
    int turned = job->turned_C;
    TMM__HIDE(turned); /* or all this lies in front of what boxes take */
    if (!turned) return;
    const int part_cols = plain ? 32 : 64; /* there is room for twice as many */
    const bool lines =
        plain || job->parts <= 2 || (job->parts == 4 && TMM__HALF_HALVES(job, cols) == 2);
    const int lane = threadIdx.x % 32, of_group = warp % 4, chunks = lines ? 8 : 2;
    const int first = lines ? of_group * part_cols / 4 + lane / 8 : lane / 2, ahead = 32 / chunks;
    const int row = at->row + (lines ? warp / 4 * 64 : warp * 16) + lane % chunks * 8;
    const int end = (int)min(job->N, (long long)at->col + TMM__HALF_STORED(job, cols));
    const float alpha = job->alpha;
    /* [column][16 bytes], of which those of columns nearby are exchanged, so that eight lie in different banks. */
    const int to_col = lane / 16 * 8 + lane % 8, to_chunk = lane / 8 % 2;
    if (lines) own -= of_group * TMM__HALF_WGMMA_STORE(plain ? 192 : 128);
    const unsigned to =
        own + to_col * 16 * chunks +
        (lines ? of_group * 2 + to_chunk ^ to_col % 8 : to_chunk ^ to_col / 4 % 2) * 16;
    const unsigned from =
        own + first * 16 * chunks + (lines ? lane % 8 ^ first % 8 : lane % 2 ^ first / 4 % 2) * 16;
    const unsigned flip = lines ? 64 : 0; /* four columns further on */
    int col = at->col + first;
    C += at->product * job->batchC + col * job->ldc + row;
    if (lines) asm volatile("bar.sync %0, 128;" ::"r"(2 + warp / 4) : "memory");
#pragma unroll
    for (int part = 0; part < cols / part_cols; part++) {
        const unsigned half = part % 2 * part_cols * 16 * chunks;
        if (at->col + part * part_cols >= end) continue;
#pragma unroll
        for (int q = 0; q < part_cols / 16; q++) {
            const float *s = &sum[part * part_cols / 2 + q * 8];
            float x[8];
#pragma unroll
            for (int i = 0; i < 8; i++) x[i] = __fmaf_rn(alpha, s[i], 0.0f);
            asm volatile(
                "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                    to + half + q * 256 * chunks),
                "r"(tmm__xhalf_two(x[0], x[1])), "r"(tmm__xhalf_two(x[2], x[3])),
                "r"(tmm__xhalf_two(x[4], x[5])), "r"(tmm__xhalf_two(x[6], x[7]))
                : "memory");
        }
        if (lines)
            asm volatile("bar.sync %0, 128;" ::"r"(2 + warp / 4) : "memory");
        else
            __syncwarp();
#pragma unroll
        for (int q = 0; q < part_cols / 16; q++) {
            const int c = col + q * ahead;
            uint4 four;
            asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                         : "r"((from ^ q % 2 * flip) + half + q * 512)
                         : "memory");
            if (row < job->M && c < end) *(uint4 *)(C + q * ahead * job->ldc) = four;
        }
        col += part_cols, C += part_cols * job->ldc;
    }
}
#endif
#endif
