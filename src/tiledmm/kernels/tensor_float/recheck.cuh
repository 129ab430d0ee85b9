/* src/tiledmm/kernels/tensor_float/recheck.cuh. Elements of C for which FP16 does not suffice.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
#if TMM__BODIES
/* 256 threads copy 64 x `vectors` lines x 16 k to shared memory, as [k][line], with zeros beyond
   the `lines` and `depth` that are left. Element by element, which transposes. A thread begins with
   line *line and k *k, to which `at` points. */
TMM__DEVICE void tmm__xrecheck_first(const tmm__lines *from, int vectors, int thread, int *line,
                                     int *k)
{
    bool along_k = from->k_stride == 1;
    *line = along_k ? thread / 16 : thread % (64 * vectors);
    *k = along_k ? thread % 16 : thread / (64 * vectors);
}

TMM__DEVICE void tmm__xrecheck_copy(float *to, const tmm__lines *from, const float *at, int vectors,
                                    int lines, int depth, int thread)
{
    int deeper = from->k_stride == 1 ? 0 : 4 / vectors, further = from->k_stride == 1 ? 16 : 0;
    long long stride = deeper * from->k_stride + further * from->line_stride;
    int line, k;
    tmm__xrecheck_first(from, vectors, thread, &line, &k);
    to += k * TMM__RECHECK_PITCH + line;
#pragma unroll 4
    for (int i = 0; i < 4 * vectors; i++) {
        bool exists = line < lines && k < depth;
        tmm__copy_async(to, exists ? at : from->X, 4, exists);
        at += stride, k += deeper, line += further;
        to += deeper * TMM__RECHECK_PITCH + further;
    }
}

/* One element of C by FP32 multiply-adds of one thread, with 24 loads of A and of B under way. */
TMM__DEVICE void tmm__xrecheck_element(const tmm__float_job *job, int product, int row, int col)
{
    const tmm__lines from_a = job->from_a, from_b = job->from_b;
    const float *a = from_a.X + product * from_a.product_stride + row * from_a.line_stride;
    const float *b = from_b.X + product * from_b.product_stride + col * from_b.line_stride;
    const int K = (int)job->K;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < K; k += 24) {
        float x[24], y[24];
#pragma unroll
        for (int i = 0; i < 24; i++) {
            x[i] = y[i] = 0;
            tmm__load_if(&x[i], a, 4, k + i < K);
            tmm__load_if(&y[i], b, 4, k + i < K);
            a += from_a.k_stride, b += from_b.k_stride;
        }
#pragma unroll
        for (int i = 0; i < 24; i++) sum += x[i] * y[i];
    }
    tmm__xstore_masked(job->C + product * job->batchC + row * job->ldc + col, row, col, 1, 1,
                       TMM__OF_JOB(job->alpha, *job, product), job->beta, &sum);
}

/* Finds tile `n` of a block, `edge` x `edge`; false: there is none. All threads then have the
   region in shared memory, with `doubtful` 0. `named`: there are other threads in the block. Of
   own tiles in `parts` it has stored those with a bit in `finished`: of others it finds nothing. */
TMM__DEVICE bool tmm__xrecheck_find(const tmm__float_job *job, tmm__region *to, long long n,
                                    int thread, bool named, bool own, int edge, int tile_m,
                                    int tile_n, int parts, unsigned finished)
{
    const int across_own = (tile_n + edge - 1) / edge; /* of these, in a tile of the kernel */
    const int all_own = (tile_m + edge - 1) / edge * across_own;
    int M = (int)job->M, N = (int)job->N, row, col, row128, col128, row_end = M, col_end = N;
    int down = (M + edge - 1) / edge, across = (N + edge - 1) / edge;
    long long tile = blockIdx.x + n * gridDim.x;
    /* Tiles of a C that memory holds are below 2^32. A division of 64 bits would be a call with nvcc
       -rdc=true, and ptxas serializes wgmma in a kernel that calls. */
    const unsigned n32 = (unsigned)n;
    if (own) {
        down = job->s.tiles_down, across = job->s.tiles_across;
        tile = blockIdx.x + (long long)(n32 / all_own) * gridDim.x;
    }
    if (tile >= (long long)down * across * job->batch * (own ? parts : 1)) return false;
    int product = (int)((unsigned)tile / (down * across));
    int rest = (int)((unsigned)tile % (down * across));
    if (own) {
        int part = (int)(n32 % all_own), r, c;
        tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, rest, &r, &c);
        r *= tile_m, c *= tile_n;
        if (parts > 1) {
            if (!(finished >> n32 / all_own & 1)) row_end = 0;
            product = 0;
        }
        row = part / across_own * edge, col = part % across_own * edge;
        row128 = r + row / 128 * 128, col128 = c + col / 128 * 128;
        row += r, col += c;
        if (row_end - r > tile_m) row_end = r + tile_m;
        if (col_end - c > tile_n) col_end = c + tile_n;
    } else {
        row = rest / across * edge, col = rest % across * edge;
        row128 = row / 128 * 128, col128 = col / 128 * 128;
    }

    const int of_product = product;
    int line = thread < 128 ? row128 + thread : col128 + thread - 128;
    const tmm__fp16_operand *x = thread < 128 ? &job->a : &job->b;
    if ((thread < 128 ? job->from_a : job->from_b).product_stride == 0) product = 0;
    float scale = 1;
    unsigned lowest = 0x7f800000u, highest = 0;
    if (line < (thread < 128 ? row_end : col_end)) {
        scale = x->scales[product * 64ll * x->line_blocks + line];
        lowest = highest = tmm__float_bits(fabsf(scale));
    }
    unsigned wide = __ballot_sync(0xffffffffu, scale < 0);
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        unsigned low = __shfl_xor_sync(0xffffffffu, lowest, i);
        unsigned high = __shfl_xor_sync(0xffffffffu, highest, i);
        lowest = lowest < low ? lowest : low;
        highest = highest > high ? highest : high;
    }
    if (thread % 32 == 0)
        to->lowest[thread / 32] = lowest, to->highest[thread / 32] = highest,
                            to->wide[thread / 32] = wide;
    if (thread == 0) {
        to->own = own, to->next = n + 1, to->product = of_product, to->row = row, to->col = col;
        to->row128 = row128, to->col128 = col128, to->row_end = row_end, to->col_end = col_end;
    }
    if (thread < 4) to->doubtful[thread] = 0, to->inexact = 0;
    tmm__sync_256(named);
    return true;
}

/* Counts doubtful elements. A thread has half of a row of the region: the bits of its four times 16
   elements go to words[4]. Returns how many; all threads then have the region's `doubtful`. */
TMM__DEVICE int tmm__xrecheck_count(const tmm__float_job *job, tmm__region *in, int thread,
                                    bool named, unsigned *words)
{
    int half = thread / 128, row = in->row128 + thread % 128, col = in->col128 + half * 64,
        count = 0;
    bool row_wide = in->wide[thread % 128 / 32] >> thread % 32 & 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned cols_wide = in->wide[4 + half * 2 + i / 2] >> i % 2 * 16 & 0xffff;
        words[i] = 0;
        if (row < in->row_end && col + 16 * i < in->col_end && (row_wide || cols_wide))
            words[i] = *tmm__doubt_word(job, in->product, row, col + 16 * i);
        count += __popc(words[i]);
    }
    if (count > 0) atomicAdd(&in->doubtful[thread % 128 / 64 * 2 + half], (unsigned)count);
    tmm__sync_256(named);
    return count;
}

/* Appends a thread's doubtful elements to a list in shared memory, if its quarter is sparse. The
   list is a count, and from word 4 on product, row and column of each. */
TMM__DEVICE void tmm__xrecheck_list(const tmm__region *region, int thread, bool bf16x6, int count,
                                    const unsigned *words, int *list)
{
    int quarter = thread % 128 / 64 * 2 + thread / 128;
    if (count == 0 || !tmm__is_sparse(region, quarter, bf16x6)) return;
    int *to = list + 4 + 3 * atomicAdd(list, count);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll 1
        for (int j = 0; j < 16 && words[i]; j++)
            if (words[i] >> tmm__doubt_bit(j) & 1) {
                *to++ = region->product, *to++ = region->row128 + thread % 128;
                *to++ = region->col128 + thread / 128 * 64 + 16 * i + j;
            }
}

/* Computes the listed elements, one by each thread: when there are 256, or at the end, `last`. */
TMM__DEVICE void tmm__xrecheck_flush(const tmm__float_job *job, int thread, bool named, bool last,
                                     int *list)
{
    int count = *list, *entries = list + 4;
    tmm__sync_256(named);
    if (count < 256 && !last) return;
    for (int i = thread; i < count; i += 256)
        tmm__xrecheck_element(job, entries[3 * i], entries[3 * i + 1], entries[3 * i + 2]);
    if (thread == 0) *list = 0;
    tmm__sync_256(named);
}

/* Adds up `depth` k of A and B in shared memory, whose elements for this thread begin at a and
   b. */
TMM__DEVICE void tmm__xrecheck_add(const float *a, const float *b, int depth, const int vectors,
                                   float (*sum)[8])
{
#pragma unroll 2
    for (int k = 0; k < depth; k++) {
        float xs[8], ys[8];
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            float4 x = *(const float4 *)(a + k * TMM__RECHECK_PITCH + 64 * i);
            float4 y = *(const float4 *)(b + k * TMM__RECHECK_PITCH + 64 * i);
            xs[4 * i] = x.x, xs[4 * i + 1] = x.y, xs[4 * i + 2] = x.z, xs[4 * i + 3] = x.w;
            ys[4 * i] = y.x, ys[4 * i + 1] = y.y, ys[4 * i + 2] = y.z, ys[4 * i + 3] = y.w;
        }
#pragma unroll
        for (int i = 0; i < 4 * vectors; i++)
#pragma unroll
            for (int j = 0; j < 4 * vectors; j++) sum[i][j] += xs[i] * ys[j];
    }
}

/* Adds up a tile of 64 or 128 squared (`vectors` is 1 or 2) by FP32 multiply-adds, in ascending k
   as KERNEL GLOBAL. A thread has 4 x 4 or 8 x 8 elements of it:

               columns      4 (t % 16) ..           64 + 4 (t % 16) ..      vectors = 2, thread t
       rows               +-----------------------+-----------------------+
       4 (t / 16) ..      | sum[0..3][0..3]       | sum[0..3][4..7]       |  64
                          +-----------------------+-----------------------+
       64 + 4 (t / 16) .. | sum[4..7][0..3]       | sum[4..7][4..7]       |  64
                          +-----------------------+-----------------------+
   For one k of 128 x 128 a thread does 64 multiply-adds, 128 clocks of a multiprocessor. Its four
   loads of 16 bytes, of which many threads share each, take 48. Copies of the next 16 k are under
   way. */
TMM__DEVICE void tmm__xrecheck_fp32(const tmm__float_job *job, const tmm__region *region,
                                    float *memory, int thread, bool named, int vectors,
                                    float (*sum)[8])
{
    enum { STEP = TMM__RECHECK_STEP };
    const tmm__lines from_a = job->from_a, from_b = job->from_b;
    const int K = (int)job->K;
    int row0 = region->row, col0 = region->col, product = region->product, line, k_from;
    int row = thread / 16 * 4, col = thread % 16 * 4;
    int rows = region->row_end - row0, cols = region->col_end - col0;
    float *stage = memory; /* A, then B; the other stage is that of the next 16 k */
    tmm__xrecheck_first(&from_a, vectors, thread, &line, &k_from);
    const float *next_a = from_a.X + product * from_a.product_stride +
                          (row0 + line) * from_a.line_stride + k_from * from_a.k_stride;
    tmm__xrecheck_first(&from_b, vectors, thread, &line, &k_from);
    const float *next_b = from_b.X + product * from_b.product_stride +
                          (col0 + line) * from_b.line_stride + k_from * from_b.k_stride;
#pragma unroll 1
    for (int k0 = -16; k0 < K; k0 += 16) { /* the first time only to copy */
        const float *tile_a = stage + row, *tile_b = stage + STEP + col;
        TMM__COPY_WAIT(0);
        tmm__sync_256(named); /* all is here; and all have done with the other one */
        stage = stage == memory ? memory + 2 * STEP : memory;
        int left = K - k0;
        if (left > 16) {
            tmm__xrecheck_copy(stage, &from_a, next_a, vectors, rows, left - 16, thread);
            tmm__xrecheck_copy(stage + STEP, &from_b, next_b, vectors, cols, left - 16, thread);
        }
        tmm__copy_commit();
        next_a += 16 * from_a.k_stride;
        next_b += 16 * from_b.k_stride;
        int depth = k0 < 0 ? 0 : left < 16 ? left : 16;
        /* A call for each: in one loop for both, the compiler merges their additions, and no
           multiply-adds are left. */
        if (vectors == 2)
            tmm__xrecheck_add(tile_a, tile_b, depth, 2, sum);
        else
            tmm__xrecheck_add(tile_a, tile_b, depth, 1, sum);
    }
}

/* Computes a tile again, and stores its elements that are rejected, or doubtful and not sparse. A
   thread has the elements of recheck_fp32. */
TMM__DEVICE void tmm__xrecheck_tile(const tmm__float_job *job, tmm__region *region, float *memory,
                                    int thread, bool named, int vectors)
{
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    int row = thread / 16 * 4, col = thread % 16 * 4;
    float sum[8][8];
    bool done = false;
#pragma unroll
    for (int i = 0; i < 64; i++) sum[i / 8][i % 8] = 0;
    if (vectors == 2 && region->own && job->bf16x6)
        done = tmm__recheck_bf16x6(job, region, (unsigned char *)memory, thread, named, sum);
    if (!done) tmm__xrecheck_fp32(job, region, memory, thread, named, vectors, sum);
    int row0 = region->row, col0 = region->col, product = region->product;
    const float *scale_a = job->a.scales, *scale_b = job->b.scales;
    if (job->from_a.product_stride) scale_a += product * 64ll * job->a.line_blocks;
    if (job->from_b.product_stride) scale_b += product * 64ll * job->b.line_blocks;
#pragma unroll 1
    for (int i = 0; i < 4 * vectors; i++) {
        /* Each row is moved to the place of the first, so that there is code for one row. */
        int r = row0 + row + i / 4 * 64 + i % 4;
        if (r >= region->row_end) break;
        float row_scale = scale_a[r];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            if (j == vectors) break;
            int c = col0 + col + 64 * j, at = c - region->col128;
            unsigned mask = tmm__column_mask(c, 4, 0, region->col_end);
            if (region->own) {
                int quarter = (r - region->row128) / 64 * 2 + at / 64;
                bool cols_wide = region->wide[4 + at / 32] >> at % 32 / 16 * 16 & 0xffff;
                if (tmm__is_sparse(region, quarter, vectors == 2 && job->bf16x6)) mask = 0;
                if (mask && (row_scale < 0 || cols_wide)) {
                    unsigned of_16 = *tmm__doubt_word(job, product, r, c);
                    of_16 >>= tmm__doubt_bit(c);
                    mask &= (of_16 & 3) | (of_16 >> 6 & 12);
                } else {
                    mask = 0;
                }
            } else {
#pragma unroll
                for (int m = 0; m < 4; m++)
                    if ((mask >> m & 1) &&
                        !tmm__is_rejected(row_scale * scale_b[c + m], scale_min, scale_max))
                        mask &= ~(1u << m);
            }
            float *to = job->C + product * job->batchC + r * job->ldc + c;
            tmm__xstore_masked(to, r, c, 4, mask, TMM__OF_JOB(job->alpha, *job, product), job->beta,
                               &sum[0][4 * j]);
        }
#pragma unroll
        for (int j = 0; j < 56; j++) sum[j / 8][j % 8] = sum[j / 8 + 1][j % 8];
    }
}

/* Computes rejected and doubtful elements again, if there are such, by 256 threads of a block.
   `memory`: TMM__RECHECK_BYTES of shared memory, aligned to 16. Where tiles are large, for BF16x6:
   65 KB, for wgmma 129, aligned to 1024.

   Where three or four quarters of a region have rejected elements, a tile of 128 x 128 computes
   them, else tiles of 64 x 64. A large tile takes less than twice as long as a small one
   (measured). Small tiles spread single lines over more multiprocessors. Doubtful elements of large
   tiles go by BF16x6, if allowed; else as rejected ones. Where the kernel's own tiles are small, C
   is small: then there is no code for large ones. */
TMM__DEVICE void tmm__xrecheck(const tmm__float_job *job, float *memory, int self, bool named,
                               bool rejected, bool doubtful, const bool large_tiles, int tile_m,
                               int tile_n, int parts, unsigned finished)
{
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    tmm__region *region = (tmm__region *)memory;
    memory += TMM__REGION_BYTES / 4;
    enum { REJECTED, REJECTED_SMALL, SPARSE, DOUBTFUL, DOUBTFUL_SMALL, END };
    const bool all_small = !large_tiles, bf16x6 = large_tiles && job->bf16x6;
    long long n = 0;
    int pass = !rejected ? SPARSE : all_small ? REJECTED_SMALL : REJECTED;
    if (self == 0)
        region->end = doubtful ? END : SPARSE, *(int *)memory = 0; /* elements of the list */
#pragma unroll 1
    for (;;) {
        int thread = self;
        TMM__HIDE(thread); /* nothing of it stays in registers across the loop */
        bool own = pass >= SPARSE, small = pass == REJECTED_SMALL || pass == DOUBTFUL_SMALL;
        if (thread == 0) region->pass = pass;
        bool more = tmm__xrecheck_find(job, region, n, thread, named, own, small ? 64 : 128, tile_m,
                                       tile_n, parts, finished);
        unsigned quarters = 0, words[4]; /* quarters: that need a tile */
        int count = own && more ? tmm__xrecheck_count(job, region, thread, named, words) : 0;
        if (pass == SPARSE) {
            tmm__xrecheck_list(region, thread, bf16x6, count, words, (int *)memory);
            tmm__sync_256(named);
            tmm__xrecheck_flush(job, thread, named, !more, (int *)memory);
        }
        if (!more) {
            pass += all_small && pass == SPARSE ? 2 : 1, n = 0;
            if (thread == 0) *(int *)memory = 0;
            tmm__sync_256(named);
            if (pass >= region->end) break;
            continue;
        }
        /* The product of two scales is smallest where both are smallest, largest where both are
           largest. Two warps had the scales of 64 lines. */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned *low = region->lowest, *high = region->highest;
            int r = i / 2 * 2, c = 4 + i % 2 * 2;
            unsigned low_a = low[r] < low[r + 1] ? low[r] : low[r + 1];
            unsigned low_b = low[c] < low[c + 1] ? low[c] : low[c + 1];
            unsigned high_a = high[r] > high[r + 1] ? high[r] : high[r + 1];
            unsigned high_b = high[c] > high[c + 1] ? high[c] : high[c + 1];
            float lowest = tmm__bits_float(low_a) * tmm__bits_float(low_b);
            float highest = tmm__bits_float(high_a) * tmm__bits_float(high_b);
            bool need = tmm__is_rejected(lowest, scale_min, scale_max) ||
                        tmm__is_rejected(highest, scale_min, scale_max);
            if (region->row128 + 32 * r >= region->row_end) need = false;
            if (region->col128 + 32 * (c - 4) >= region->col_end) need = false;
            if (own) need = region->doubtful[i] > 0 && !tmm__is_sparse(region, i, bf16x6);
            if (need) quarters |= 1u << i;
        }
        int quarter = (region->row - region->row128) / 64 * 2 + (region->col - region->col128) / 64;
        bool large = !all_small && __popc(quarters) >= (own && bf16x6 ? 1 : 3);
        bool here = small ? !large && (quarters >> quarter & 1) : large && pass != SPARSE;
        tmm__sync_256(named); /* before anything is written again */
        if (here)
            tmm__xrecheck_tile(job, region, memory, thread, named, all_small || small ? 1 : 2);
        n = region->next, pass = region->pass; /* did not stay in registers */
        tmm__sync_256(named);
    }
}
#endif
#endif
