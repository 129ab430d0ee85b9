/* src/tiledmm/kernels/tensor_float/wgmma_store.cuh. Floats as FP16 by wgmma: sums of a tile are put together
   and stored.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: wgmma_tiles.cuh. */
#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0) && TMM__WGMMA
/* Where both warpgroups have the same tile: adds the other one's sums of the columns that this one
   stores, and moves them to the front. They go through stages that only the giver reads, and has
   read: no more copies come, for such a block has one tile. */
TMM__DEVICE void tmm__wgmma_exchange(unsigned char *memory, float *sum, int group)
{
    enum { SUMS = TMM__WGMMA_SUMS };
    int place = threadIdx.x % 128;
    float4 *out = (float4 *)(memory + 2 * group * TMM__WGMMA_STAGE) + place;
    float4 *in = (float4 *)(memory + (2 - 2 * group) * TMM__WGMMA_STAGE) + place;
#pragma unroll
    for (int i = 0; i < SUMS / 2; i += 4) {
        const float *left = &sum[i], *right = &sum[SUMS / 2 + i];
        out[i * 32] = group == 0 ? make_float4(right[0], right[1], right[2], right[3])
                                 : make_float4(left[0], left[1], left[2], left[3]);
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
#pragma unroll
    for (int i = 0; i < SUMS / 2; i += 4) {
        float4 four = in[i * 32];
        float *kept = &sum[i];
#pragma unroll
        for (int j = 0; j < 4; j++) kept[j] = group == 0 ? kept[j] : sum[SUMS / 2 + i + j];
        kept[0] += four.x, kept[1] += four.y, kept[2] += four.z, kept[3] += four.w;
    }
}

/* Counts a part of a tile that is stored; *is_last: all are there. A flag is the ticket of the launch,
   but its last 6 bits how many have arrived; 0 again when all have. By all threads that multiply. */
TMM__DEVICE void tmm__wgmma_count_part(unsigned long long *flag, unsigned long long ticket,
                                       int parts, int thread, int *is_last)
{
    enum { COUNT = 64 };
    static_assert((int)COUNT > (int)TMM__FLOAT_PARTS, "it has room for them");
    asm volatile("bar.sync 2, 256;" ::: "memory");
    if (thread == 0) {
        unsigned long long none = ticket / COUNT * COUNT, seen = none, before;
        __threadfence();
        do {
            before = seen;
            seen = atomicCAS(flag, before, (before / COUNT * COUNT == none ? before : none) + 1);
        } while (seen != before);
        *is_last = before == none + parts - 1;
        if (*is_last) atomicExch(flag, 0);
        __threadfence();
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
}

/* Where the k of a tile are cut in parts, all tiles have their first part, then their second, as
   products of a batch do: `tile` counts on, and *product is the part; it becomes 0, of the only one.
   A part has 32 KB at most, which L2 holds; they are always added in the same order. True: this block
   has them all, and stores the tile.
   - Where each block has one part, the block with the last one waits for the others. All blocks run
     at once; and it waits only for blocks of lower numbers, which began before it.
   - Where blocks have several, none may wait: the one that arrives last adds all parts. This takes
     some 1.2 microseconds longer, for it stores its own one, too. */
TMM__DEVICE bool tmm__wgmma_add_parts(const tmm__float_job *job, float *sum, int tile, int *product,
                                      int *is_last, int thread)
{
    enum { FOURS = TMM__WGMMA_STORED / 8 };
    const tmm__schedule *s = &job->s;
    const int tiles = s->tiles_down * s->tiles_across, last = job->parts - 1, part = *product;
    const bool counted = (unsigned)(tiles * job->parts) > gridDim.x;
    tile -= part * tiles, *product = 0;
    float4 *place = (float4 *)s->partials + (size_t)tile * FOURS * 256 + thread;
    const size_t apart = (size_t)tiles * FOURS * 256; /* from a part to the next */
    if (counted || part < last) {
#pragma unroll
        for (int i = 0; i < FOURS; i++)
            place[part * apart + i * 256] =
                make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
    }
    if (counted) {
        tmm__wgmma_count_part(s->flags + tile, s->ticket, job->parts, thread, is_last);
        if (!*is_last) return false;
#pragma unroll
        for (int i = 0; i < 4 * FOURS; i++) sum[i] = 0;
    } else if (part < last) {
        asm volatile("bar.sync 2, 256;" ::: "memory");
        if (thread == 0) tmm__flag_set(s->flags + part * tiles + tile, s->ticket);
        return false;
    } else {
        if (thread < last) tmm__flag_wait(s->flags + thread * tiles + tile, s->ticket);
        asm volatile("bar.sync 2, 256;" ::: "memory");
    }
#pragma unroll 2
    for (int n = 0; n < last + counted; n++) {
#pragma unroll
        for (int i = 0; i < FOURS; i++) {
            float4 four = __ldcg(place + i * 256); /* L1 may have what lay there before */
            sum[4 * i] += four.x, sum[4 * i + 1] += four.y;
            sum[4 * i + 2] += four.z, sum[4 * i + 3] += four.w;
        }
        place += apart;
    }
    return true;
}

/* Stores a row of C of which no element is rejected or doubtful: sum[2 PAIRS] holds it as pairs,
   `cols` elements exist from c on. */
TMM__DEVICE void tmm__wgmma_store_row(const tmm__float_job *job, float *c, int product, int row,
                                      int col, int cols, const float *sum, float row_scale,
                                      const float *col_scale)
{
    enum { PAIRS = TMM__WGMMA_PAIRS, AHEAD = PAIRS < 8 ? PAIRS : 8 }; /* loads before stores */
    const TMM__ALPHA alpha = TMM__OF_JOB(job->alpha, *job, product);
    const float beta = job->beta;
    (void)product; /* only for the epilogue of a call */
#pragma unroll
    for (int first = 0; first < PAIRS; first += AHEAD) {
        tmm__xouts2 old[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) old[j].v[0] = old[j].v[1] = 0;
        if (beta != 0) {
#pragma unroll
            for (int j = 0; j < AHEAD; j++) {
                int at = 8 * (first + j);
                tmm__load_if(&old[j], c + at, 8, at < cols);
#pragma unroll
                for (int k = 0; k < 2; k++) old[j].v[k] = TMM__MUL(beta, old[j].v[k]);
            }
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            int pair = first + j;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float scale = row_scale * col_scale[2 * pair + k];
                old[j].v[k] = tmm__xvalue(sum[4 * pair + k] * scale, alpha, old[j].v[k],
                                          8 * pair < cols, row, col + 8 * pair + k);
            }
            tmm__store_if(c + 8 * pair, &old[j], 8, 8 * pair < cols);
        }
    }
}

/* Stores 8 rows of C of which no element is rejected or doubtful, by a warp: `rows` exist from c on,
   and `cols` columns; lane l has row l / 4. Where rows of C begin anywhere, pairs from registers would
   write parts of sectors of 32 bytes, which takes L2 several times as long. So rows go through
   shared memory, and lanes begin at a sector:
       sectors       |       |       |       |       |       |       |       |       |
       lanes     ... shift - 1   shift ..                                         31
       store 0   the last `shift` of 64 columns, then the first 32 - shift; store 1: the 32 between */
TMM__DEVICE void tmm__wgmma_store_rows(const tmm__float_job *job, float *c, int product, int row,
                                       int col, int cols, const float *sum, float row_scale,
                                       const float *col_scale)
{
    enum { COLS = TMM__WGMMA_THROUGH, PITCH = COLS + 8 };
    const TMM__ALPHA alpha = TMM__OF_JOB(job->alpha, *job, product);
    const float beta = job->beta;
    (void)product; /* only for the epilogue of a call */
    const long long ldc = job->ldc;
    int thread = threadIdx.x - 128;
    TMM__HIDE(thread); /* nothing of it stays in registers through the loop over tiles */
    int lane = thread % 32;
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    float *through = (float *)(tmm__memory + TMM__WGMMA_STAGES * TMM__WGMMA_STAGE + 1024) +
                     thread / 32 * (8 * PITCH);
    /* from here on as the lane that has the first row and column */
    row -= lane / 4, col -= lane % 4 * 2, cols += lane % 4 * 2;
    c -= lane / 4 * ldc + lane % 4 * 2;
    int rows = min((int)job->M - row, 8);
    asm volatile("" : "+f"(row_scale));
#pragma unroll
    for (int first = 0; first < TMM__WGMMA_STORED; first += COLS) {
        float2 *place = (float2 *)(through + lane / 4 * PITCH + lane % 4 * 2);
#pragma unroll
        for (int j = 0; j < COLS / 8; j++) {
            int pair = first / 8 + j;
            place[4 * j] = make_float2(sum[4 * pair] * (row_scale * col_scale[2 * pair]),
                                       sum[4 * pair + 1] * (row_scale * col_scale[2 * pair + 1]));
        }
        __syncwarp();
#pragma unroll 4
        for (int r = 0; r < 8; r++) {
            float *to = c + r * ldc + first;
            int shift = (int)((size_t)to / 4 % 8);
            float old[COLS / 32];
#pragma unroll
            for (int h = 0; h < COLS / 32; h++) {
                int at = lane + 32 * h - shift;
                if (at < 0) at += COLS;
                old[h] = 0;
                if (beta != 0) {
                    tmm__load_if(&old[h], to + at, 4, (r < rows) & (first + at < cols));
                    old[h] = TMM__MUL(beta, old[h]);
                }
            }
#pragma unroll
            for (int h = 0; h < COLS / 32; h++) {
                int at = lane + 32 * h - shift;
                if (at < 0) at += COLS;
                bool in = (r < rows) & (first + at < cols);
                float x = tmm__xvalue(through[r * PITCH + at], alpha, old[h], in, row + r,
                                      col + first + at);
                tmm__store_if(to + at, &x, 4, in);
            }
        }
        __syncwarp();
    }
}

/* Stores a row element by element, but for those that are rejected or doubtful. Leaves the bits of
   doubtful ones, if a line of the warp is `wide`. Code for 32 columns: then
   the next 32 take their place, and they go to the end. */
TMM__DEVICE void tmm__wgmma_store_checked(const tmm__float_job *job, float *c,
                                          const tmm__xwgmma_place *place, int row, int cols,
                                          float *sum, float row_scale, float *col_scale, bool wide,
                                          int *doubtful)
{
    enum { PAIRS = TMM__WGMMA_PAIRS };
    int lane = threadIdx.x % 32;
    unsigned char *bytes =
        (unsigned char *)tmm__doubt_word(job, place->product, row, place->col) + lane % 4;
#pragma unroll 1
    for (int first = 0; first < 8 * PAIRS; first += 32) {
        unsigned bits = 0; /* of 16 columns */
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int col = first + 8 * (j / 2) + j % 2;
            float x = sum[4 * (j / 2) + j % 2];
            float scale = fabsf(row_scale * col_scale[j]);
            bool fits = (col < cols) & !tmm__is_rejected(scale, job->scale_min, job->scale_max);
            bool doubt = fits & tmm__is_doubtful(row_scale, col_scale[j], x, job->doubt_below);
            if (doubt) bits |= 1u << j % 4;
            x *= scale;
            tmm__xstore_masked(c + col, row, place->col + col, 1, fits & !doubt,
                               TMM__OF_JOB(job->alpha, *job, place->product), job->beta, &x);
            if (j % 4 == 3) {
                if (wide && col - 9 < cols + lane % 4 * 2)
                    bytes[col / 16 * 4] = (unsigned char)bits;
                if (bits) *doubtful = 1;
                bits = 0;
            }
        }
#pragma unroll
        for (int j = 0; j < 8 && PAIRS > 4; j++) {
            float scale = col_scale[j];
#pragma unroll
            for (int k = j; k < 2 * PAIRS; k += 8) {
                int at = 4 * (k / 2) + k % 2;
                if (k + 8 < 2 * PAIRS) sum[at] = sum[at + 16];
                col_scale[k] = k + 8 < 2 * PAIRS ? col_scale[k + 8] : scale;
            }
        }
    }
}
#endif
