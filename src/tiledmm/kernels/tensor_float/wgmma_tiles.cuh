/* src/tiledmm/kernels/tensor_float/wgmma_tiles.cuh. Floats as FP16 by wgmma: the tiles of a block, by those
   that multiply and by the one that copies.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: wgmma_kernel.cuh. */
#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0) && TMM__WGMMA
/* Moves the sums and the scale of each row to the row before: so code for one row stores all of
   them. In 128 x 64, where that code is short, it is there for two rows. */
TMM__DEVICE void tmm__wgmma_next_row(float (*sum)[TMM__WGMMA_SUMS], float *row_scale)
{
    enum { LAST = TMM__WGMMA_DOWN - 1 };
#pragma unroll
    for (int j = 0; j < 2 * TMM__WGMMA_PAIRS; j++) {
        int at = 4 * (j / 2) + j % 2;
        sum[0][at] = sum[0][at + 2];
        sum[0][at + 2] = sum[LAST][at];
        sum[LAST][at] = sum[LAST][at + 2];
    }
    row_scale[0] = row_scale[1];
    row_scale[1] = row_scale[2 * LAST];
    row_scale[2 * LAST] = row_scale[2 * LAST + 1];
}

/* The tiles of a block, by the two warpgroups that multiply. `memory`, `fulls` and `empties`: the
   stages and their barriers. *doubtful becomes 1 if there are such elements. Where tiles are cut in
   parts, *finished gets a bit for each that the block has stored. The range and the rows of the
   store are computed here: a function of their own kept descriptors out of uniform registers. */
TMM__DEVICE void tmm__wgmma_multiply(const tmm__float_job *job, unsigned char *memory,
                                     unsigned fulls, unsigned empties, int *doubtful, int *is_last,
                                     unsigned *finished)
{
    enum {
        DOWN = TMM__WGMMA_DOWN,
        PAIRS = TMM__WGMMA_PAIRS,
        K_GROUPS = TMM__WGMMA_K_GROUPS,
        THROUGH = K_GROUPS == 1, /* rows may go through shared memory */
        SUMS = TMM__WGMMA_SUMS,
        STORED = TMM__WGMMA_STORED,
        COLS = TMM__WGMMA_COLS,
        UNROLL = TMM__WGMMA_AT_ONCE && K_GROUPS == 1 ? 2 : 1
    };
    const tmm__fp16_operand a = job->a;
    const long long M = job->M, N = job->N, ldc = job->ldc;
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    const tmm__schedule s = job->s;
    const int batch = job->batch;
    unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    int thread = threadIdx.x - 128, lane = thread % 32, group = thread / 128;
    int tiles = s.tiles_down * s.tiles_across;
    const int parts = TMM__WGMMA_AT_ONCE ? job->parts : 1;
    /* Where in a tile this warpgroup's rows begin, and the columns that it stores. */
    int rows = K_GROUPS > 1 ? 0 : group * (64 * DOWN), stored_from = group * (COLS - STORED);
    int first = K_GROUPS > 1 ? 2 * group : 0;
    tmm__xwgmma_ring ring = {stages, fulls, empties, 0, first, lane};
    tmm__wait_for_previous();
    for (int tile = blockIdx.x; tile < tiles * batch * parts; tile += gridDim.x) {
        int product, row0, col0;
        float sum[DOWN][SUMS], col_scale[2 * PAIRS], row_scale[2 * DOWN];
        if (TMM__WGMMA_AT_ONCE) /* has the registers: now, while the first copies are under way */
            tmm__xwgmma_scales(job, tile, TMM__WGMMA_ROWS, COLS, rows, stored_from, DOWN, STORED,
                               thread, &product, &row0, &col0, col_scale, row_scale);
#pragma unroll
        for (int d = 0; d < DOWN; d++)
#pragma unroll
            for (int i = 0; i < SUMS; i++) sum[d][i] = 0;
        int blocks = parts > 1 ? min(s.steps, a.k_blocks - product * s.steps) : a.k_blocks;
        if (TMM__WGMMA_AT_ONCE)
            tmm__wgmma_sum_pairs(&ring, sum[0], rows, first, blocks);
        else
            tmm__wgmma_sum_halves(&ring, sum, rows, blocks);
        if (K_GROUPS > 1) tmm__wgmma_exchange(memory, sum[0], group);
        if (parts > 1) {
            if (!tmm__wgmma_add_parts(job, sum[0], tile, &product, is_last, thread)) continue;
            *finished |= 1u << tile / gridDim.x;
        }
        /* All scales are read before the first store: the compiler cannot know that they are not
           what is stored, and would wait. */
        if (!TMM__WGMMA_AT_ONCE)
            tmm__xwgmma_scales(job, tile, TMM__WGMMA_ROWS, COLS, rows, stored_from, DOWN, STORED,
                               thread, &product, &row0, &col0, col_scale, row_scale);
        tmm__xwgmma_place place = {product, row0, col0};
        float lowest = col_scale[0], highest = col_scale[0];
#pragma unroll
        for (int j = 1; j < 2 * PAIRS; j++) {
            lowest = fminf(lowest, col_scale[j]);
            highest = fmaxf(highest, col_scale[j]);
        }
        bool wide = lowest < 0;
        float row_lowest = row_scale[0], row_highest = row_scale[0];
#pragma unroll
        for (int i = 1; i < 2 * DOWN; i++) {
            row_lowest = fminf(row_lowest, row_scale[i]);
            row_highest = fmaxf(row_highest, row_scale[i]);
        }
        wide = __any_sync(0xffffffffu, wide || row_lowest < 0);
        float *to = job->C + place.product * job->batchC + place.col;
        int cols = (int)N - place.col; /* that exist, from place.col on */
        bool fast = !wide && !tmm__is_rejected(row_lowest * lowest, scale_min, scale_max) &&
                    !tmm__is_rejected(row_highest * highest, scale_min, scale_max);
        /* Pairs are stored at once if none is cut by the edge, and sectors of 32 bytes are filled. */
        const size_t begin = (size_t)to - (THROUGH ? lane % 4 * 8 : 0);
        bool pairs = (begin | (size_t)ldc * 4) % (THROUGH ? 32 : 8) == 0 &&
                     (N % 2 == 0 || cols >= 8 * PAIRS - 6);
        if (THROUGH) fast = __all_sync(0xffffffffu, fast), pairs = __all_sync(0xffffffffu, pairs);
#pragma unroll(UNROLL)
        for (int i = 0; i < 2 * DOWN; i++) {
            int row = place.row + 8 * i + i / 2 * 48;
            float *c = to + row * ldc;
            if (!__any_sync(0xffffffffu, row < M)) break;
            if (THROUGH && fast && !pairs)
                tmm__wgmma_store_rows(job, c, place.product, row, place.col, cols, sum[0],
                                      row_scale[0], col_scale);
            else if (fast && pairs)
                tmm__wgmma_store_row(job, c, place.product, row, place.col, row < M ? cols : 0,
                                     sum[0], row_scale[0], col_scale);
            else if (row < M)
                tmm__wgmma_store_checked(job, c, &place, row, cols, sum[0], row_scale[0], col_scale,
                                         wide, doubtful);
            tmm__wgmma_next_row(sum, row_scale);
        }
    }
}

/* The copies of a block's tiles, by one thread. */
TMM__DEVICE void tmm__wgmma_copy(const tmm__float_job *job, unsigned char *memory, unsigned fulls,
                                 unsigned empties)
{
    enum { BLOCKS_A = TMM__WGMMA_ROWS / 64, BLOCKS_B = TMM__WGMMA_COLS / 64 };
    const tmm__fp16_operand a = job->a, b = job->b;
    const tmm__schedule s = job->s;
    const int parts = TMM__WGMMA_AT_ONCE ? job->parts : 1;
    const int tiles = s.tiles_down * s.tiles_across, all = tiles * job->batch * parts;
    const unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    unsigned parity = 1; /* all stages are empty to begin with */
    unsigned *pace = TMM__WGMMA_AT_ONCE ? NULL : job->pace, due = 0;
    int stage = 0;
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        int product = tile / tiles, down, across;
        tmm__xfind_tile(&s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
        int blocks_a = a.line_blocks - down * BLOCKS_A,
            blocks_b = b.line_blocks - across * BLOCKS_B;
        if (blocks_a > BLOCKS_A) blocks_a = BLOCKS_A;
        if (blocks_b > BLOCKS_B) blocks_b = BLOCKS_B;
        unsigned bytes_a = blocks_a * TMM__BLOCK_BYTES, bytes_b = blocks_b * TMM__BLOCK_BYTES;
        size_t step_a = (size_t)a.line_blocks * TMM__BLOCK_BYTES;
        size_t step_b = (size_t)b.line_blocks * TMM__BLOCK_BYTES;
        const unsigned char *next_a = a.blocks + down * (BLOCKS_A * TMM__BLOCK_BYTES);
        const unsigned char *next_b = b.blocks + across * (BLOCKS_B * TMM__BLOCK_BYTES);
        next_a += (job->from_a.product_stride ? product : 0) * a.k_blocks * step_a;
        next_b += (job->from_b.product_stride ? product : 0) * b.k_blocks * step_b;
        int from = 0, to = a.k_blocks;
        if (parts > 1) {
            from = product * s.steps;
            if (to > from + s.steps) to = from + s.steps;
            next_a += from * step_a, next_b += from * step_b;
        }
        /* Addresses are computed before the wait, not after it. */
        asm volatile("" : "+l"(next_a), "+l"(next_b), "+r"(bytes_a), "+r"(bytes_b));
        tmm__wait_for_previous();
        for (int block = from, end; block < to; block = end) {
            end = to;
            if (pace != NULL) {
                if (end > block + TMM__FLOAT_PACE) end = block + TMM__FLOAT_PACE;
                if (!tmm__keep_pace(pace, due)) pace = NULL;
                due += gridDim.x;
            }
            for (int i = block; i < end; i++) {
                unsigned there = stages + stage * TMM__WGMMA_STAGE, barrier = fulls + 8 * stage;
                tmm__barrier_wait(empties + 8 * stage, parity);
                tmm__barrier_expect(barrier, bytes_a + bytes_b);
                tmm__copy_bulk(there, next_a, bytes_a, barrier);
                tmm__copy_bulk(there + TMM__WGMMA_A_BYTES, next_b, bytes_b, barrier);
                next_a += step_a;
                next_b += step_b;
                if (++stage == TMM__WGMMA_STAGES) stage = 0, parity ^= 1;
            }
        }
    }
    /* Blocks without a tile in the last round count as if they had arrived. */
    if (pace != NULL && blockIdx.x > (unsigned)(all - 1) % gridDim.x)
        atomicAdd(pace, (a.k_blocks - 1) / TMM__FLOAT_PACE + 1);
}
#endif
