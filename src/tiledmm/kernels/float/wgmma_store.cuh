/* src/tiledmm/kernels/float/wgmma_store.cuh. Floats as FP16 by wgmma: sums of a tile are put together
   and stored.
   Uses: kernels/float/wgmma.cuh, kernels/store.cuh. Used by: kernels/float/wgmma_tiles.cuh. */
#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0) && TMM__WGMMA
/* Where both warpgroups have the same tile: adds the other one's sums of the columns that this one
   stores, and moves them to the front. They go through stages that only the giver reads, and has
   read: no more copies come, for such a block has one tile. */
static __device__ __forceinline__ void tmm__wgmma_exchange(unsigned char *memory, float *sum,
                                                           int group)
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

/* Where the k of a tile are cut in parts, each has a block. All tiles have their first part, then
   their second, as products of a batch do: `tile` counts on, and *product is the part; it becomes
   0, of the only one. The block with the last part waits for the others and adds their sums, always
   in this order; true: it has them all, and stores the tile. Each block has one part, and waits
   only for blocks of lower numbers, which began before it. A part has 32 KB at most, which L2
   holds. */
static __device__ __forceinline__ bool tmm__wgmma_add_parts(const tmm__float_job *job, float *sum,
                                                            int tile, int *product, int thread)
{
    enum { FOURS = TMM__WGMMA_STORED / 8 };
    const tmm__schedule *s = &job->s;
    const int tiles = s->tiles_down * s->tiles_across, last = job->parts - 1, part = *product;
    tile -= part * tiles, *product = 0;
    float4 *place = (float4 *)s->partials + (size_t)tile * FOURS * 256 + thread;
    const size_t apart = (size_t)tiles * FOURS * 256; /* from a part to the next */
    if (part < last) {
        place += part * apart;
#pragma unroll
        for (int i = 0; i < FOURS; i++)
            place[i * 256] =
                make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
        asm volatile("bar.sync 2, 256;" ::: "memory");
        if (thread == 0) tmm__flag_set(s->flags + part * tiles + tile, s->ticket);
        return false;
    }
    if (thread < last) tmm__flag_wait(s->flags + thread * tiles + tile, s->ticket);
    asm volatile("bar.sync 2, 256;" ::: "memory");
#pragma unroll 2
    for (int n = 0; n < last; n++) {
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
static __device__ __forceinline__ void tmm__wgmma_store_row(const tmm__float_job *job, float *c,
                                                            int row, int col, int cols,
                                                            const float *sum, float row_scale,
                                                            const float *col_scale)
{
    enum { PAIRS = TMM__WGMMA_PAIRS, AHEAD = PAIRS < 8 ? PAIRS : 8 }; /* loads before stores */
    const float alpha = job->alpha, beta = job->beta;
#pragma unroll
    for (int first = 0; first < PAIRS; first += AHEAD) {
        TMM_FN(elements2) old[AHEAD];
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
                old[j].v[k] = TMM_FN(value)(sum[4 * pair + k] * scale, alpha, old[j].v[k],
                                            8 * pair < cols, row, col + 8 * pair + k);
            }
            tmm__store_if(c + 8 * pair, &old[j], 8, 8 * pair < cols);
        }
    }
}

/* Stores a row element by element, but for those that are rejected or doubtful. Leaves the bits of
   doubtful ones, if a line of the warp is `wide`. Code for 32 columns: the next 32 come to the
   place of these, and these behind the last. */
static __device__ __forceinline__ void tmm__wgmma_store_checked(const tmm__float_job *job, float *c,
                                                                const TMM_FN(wgmma_place) * place,
                                                                int row, int cols, float *sum,
                                                                float row_scale, float *col_scale,
                                                                bool wide, int *doubtful)
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
            TMM_FN(store_masked)
            (c + col, row, place->col + col, 1, fits & !doubt, job->alpha, job->beta, &x);
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
