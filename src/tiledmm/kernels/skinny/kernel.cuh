/* src/tiledmm/kernels/skinny/kernel.cuh. The kernel for a narrow C.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && (TMM__SKINNY_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL SKINNY ================================================= */
/* For a C of float with at most 16 rows or columns, matrix-vector products among them. Reading the
   large operand once bounds it. Few columns and few rows are one problem:

        few columns:  L = op(A), lines = its rows       S = op(B)
        few rows:     L = op(B), lines = its columns    S = op(A)      C transposed
        C(line, j) = alpha sum_k L(line, k) S(k, j) + beta C(line, j)         j < width

          k ->   stages                   +-+
                                          | |  S  K x width
                                          +-+
        +-----+-----+-----+--  --+-----+  +-+
        |  0  |  1  |  2  |  ... |     |  | |  a block: LINES lines of C, with all of K
        +-----+-----+-----+--  --+-----+  +-+
                 L  lines x K              C

   Terms:  L, S     the large and the small operand
           line     a row of op(A), or a column of op(B) where C is transposed
           width    columns of S, rounded up to WIDTH = 4 or 16 in the kernel
           vector   4 elements of L, which one thread copies and multiplies (WIDE)
           stage    DEPTH k of L and S in shared memory; STAGES of them form a ring
   cp.async fills the ring STAGES - 1 stages ahead, so 32 to 64 KB of a block are in flight. Reading
   at full speed needs 34 KB an SM: 4.5 TB/s times 1 us, over 132 SMs.

   L CONTIGUOUS ALONG K (TMM__SKINNY_ALONG_K 1). 8 warps lie below each other. Each has 4 groups of
   8 lanes (WIDTH 16) or one of 32 (WIDTH 4). A lane has 4 lines, and one vector of each a stage:

        WIDTH 16                 k: 32 a stage              S: as [j][k], read by 16-byte loads:
          line 0, 4, 8, 12  |0...|1...|2...| ... |7...|     8 addresses, the same for all 4 groups;
          line 1, 5, 9, 13  |8...|9...|    lanes            4 + 16 loads for 256 multiply-adds
          line 2, ...       |16..|                          a lane and stage
          line 3, ...       |24..|
      At the end the lanes of a group add their sums by shuffles.
   L CONTIGUOUS ALONG THE LINES (0; WIDTH 4, 16). A vector has neighbouring lines. 16 lanes lie side
   by side and 2 along k. 8 warps lie along k, 8 k each a stage:

        k       |0...|1...|2...| ... |15..|   64 lines                S: as [k][j], broadcast
        k + 1   |16..|17..|    ...   |31..|
      At the end the two halves add by a shuffle, the eight warps through shared memory.
   Where L is not aligned to 16 bytes, single elements are copied. The elements of a vector then lie
   8, 16 or 32 apart, so neighbouring lanes still read neighbouring memory.

   Global loads: lines K elements of L once, and width K of S for each block. At WIDTH 16 that is
   8 FLOP per byte; at one column it is 0.5.
   What bounds it: memory. At WIDTH 16 shared memory is close behind.
   blockIdx.y numbers split-K parts (see SMALL), blockIdx.z the products of a batch. */

enum {
    tmm__skinny_along_k = (TMM__SKINNY_LIST(TMM__VALUE_1) 0),
    tmm__skinny_width = (TMM__SKINNY_LIST(TMM__VALUE_2) 0),
    /* Of a group, which lies along k or along the lines, as L is contiguous. */
    tmm__skinny_lanes = !tmm__skinny_along_k      ? 16
                        : tmm__skinny_width == 16 ? 8
                                                  : 32,
    tmm__skinny_lines = tmm__skinny_along_k
                            ? 32 / tmm__skinny_lanes * TMM__SKINNY_COPIES * TMM__SKINNY_WARPS
                            : tmm__skinny_lanes * TMM__WIDE,
    tmm__skinny_depth = tmm__skinny_along_k ? tmm__skinny_lanes * TMM__WIDE
                                            : TMM__SKINNY_WARPS * 2 * TMM__SKINNY_COPIES,
    /* Along the lines: neighbouring k of a lane. */
    tmm__skinny_grain = tmm__skinny_width == 16 ? 1 : 4,
    /* Vector n of a thread lies n times so many k from its vector 0; along k, 32 / lanes lines. */
    tmm__skinny_k_step = tmm__skinny_along_k      ? 0
                         : tmm__skinny_grain == 1 ? 2
                                                  : 1,
    /* The pitch of S in shared memory, [j][k] or [k][j]: padded against bank conflicts. */
    tmm__skinny_pitch = tmm__skinny_along_k ? tmm__skinny_depth + 4
                                            : tmm__skinny_width + (tmm__skinny_width == 16 ? 4 : 0),
    /* Elements of a stage; bytes of the ring, and of the sums that take its place. */
    tmm__skinny_stage =
        TMM__SKINNY_L +
        ((tmm__skinny_along_k ? tmm__skinny_width : tmm__skinny_depth) * tmm__skinny_pitch + 15) /
            16 * 16,
    tmm__skinny_stages = tmm__skinny_along_k ? TMM__STAGES(5) : TMM__STAGES(4),
    tmm__skinny_ring = tmm__skinny_stages * tmm__skinny_stage * (int)sizeof(TMM_TYPE),
    tmm__skinny_least = (tmm__skinny_along_k ? 1 : TMM__SKINNY_WARPS) * tmm__skinny_lines *
                        tmm__skinny_width * (int)sizeof(TMM_SUM), /* whatever the stages */
    tmm__skinny_bytes = tmm__skinny_ring > tmm__skinny_least ? tmm__skinny_ring : tmm__skinny_least,
    /* Of a lane. */
    tmm__skinny_sums = TMM__SKINNY_COPIES * tmm__skinny_width
};

#if TMM__BODIES
/* Copies this thread's vectors of a stage of L. Vector n comes from from[n]. `full`: all of them
   exist. Otherwise lines_left and k_left count what exists of the block and of the stage. */
TMM__DEVICE void tmm__skinny_copy_L(TMM_TYPE *stage, const int *to, const TMM_TYPE *const *from,
                                    int line0, int k0, int apart, bool wide, bool full,
                                    int lines_left, int k_left)
{
    enum { WIDE = TMM__WIDE, BYTES = WIDE * sizeof(TMM_TYPE) };
#pragma unroll
    for (int n = 0; n < TMM__SKINNY_COPIES; n++) {
        TMM_TYPE *place = stage + to[n];
        if (full) {
            tmm__copy_zfill(place, from[n], BYTES, BYTES);
            continue;
        }
        /* n / TMM__SKINNY_COPIES is 0: it keeps the compiler from computing this before the loop. */
        int valid = tmm__skinny_along_k                    ? k_left - (k0 + n / TMM__SKINNY_COPIES)
                    : k0 + n * tmm__skinny_k_step < k_left ? lines_left - line0
                                                           : 0;
        if (wide && (valid <= 0 || valid >= WIDE)) {
            tmm__copy_async(place, from[n], BYTES, valid > 0);
        } else {
#pragma unroll
            for (int v = 0; v < WIDE; v++)
                tmm__xcopy_one(place + v, from[n] + v * apart, v * apart < valid);
        }
    }
}

/* The lanes that have the same lines add their sums. What they then have goes to shared memory, as
   [line][j], along the lines as [warp along k][line][j]. */
TMM__DEVICE void tmm__skinny_share_sums(TMM_SUM *shared, TMM_SUM *sum, int line0, int apart,
                                        int thread)
{
    enum { WIDTH = tmm__skinny_width, LANES = tmm__skinny_lanes, SUMS = tmm__skinny_sums };
    int warp = thread / 32, lane = thread % 32;
    if (tmm__skinny_along_k) {
        /* Two lanes `other` apart: each hands over half of its sums and adds up the other half. The
           last sums, fewer than lanes, both add up. In the end sum[i] is number first + i. */
        int count = SUMS, first = 0, alike = 1;
#pragma unroll
        for (int other = LANES / 2; other > 0; other /= 2) {
            bool upper = lane & other;
            if (count > 1) {
                count /= 2;
                if (upper) first += count;
#pragma unroll
                for (int i = 0; i < SUMS / 2; i++) {
                    if (i >= count) continue; /* no other bound: loops must unroll from within */
                    TMM_SUM low = sum[i], high = sum[count + i], keep = upper ? high : low;
                    keep += (TMM_SUM)__shfl_xor_sync(0xffffffffu, upper ? low : high, other);
                    sum[i] = keep;
                }
            } else {
                sum[0] += (TMM_SUM)__shfl_xor_sync(0xffffffffu, sum[0], other);
                alike *= 2;
            }
        }
        if (lane % alike == 0) { /* one of those that have the same */
#pragma unroll
            for (int i = 0; i < SUMS; i++) {
                if (i >= count) continue;
                int n = first + i;
                shared[(line0 + n / WIDTH * (32 / LANES)) * WIDTH + n % WIDTH] = sum[i];
            }
        }
    } else {
        /* Of two lanes, one adds up the even sums, and the other the odd ones. */
        int upper = lane / LANES;
#pragma unroll
        for (int i = 0; i < SUMS; i += 2) {
            TMM_SUM even = sum[i], odd = sum[i + 1], total = upper ? odd : even;
            total += (TMM_SUM)__shfl_xor_sync(0xffffffffu, upper ? even : odd, LANES);
            shared[(warp * tmm__skinny_lines + line0 + i / WIDTH * apart) * WIDTH + i % WIDTH +
                   upper] = total;
        }
    }
}

/* Stores C, or this block's part of the sums for KERNEL SUM. */
TMM__DEVICE void tmm__skinny_store(const TMM_SUM *sums, long long lines, long long width,
                                   long long first_line, int lines_left, TMM__ALPHA alpha,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, int transposed,
                                   TMM_SUM *partials, int thread)
{
    enum { WIDTH = tmm__skinny_width, LINES = tmm__skinny_lines };
    /* Neighbouring threads write neighbours in C: 256 elements on are lines, or columns, further. */
    int parts = gridDim.y;
    int down = transposed ? 0 : 256 / WIDTH, right = transposed ? 256 / LINES : 0;
    int line = transposed ? thread % LINES : thread / WIDTH;
    int j = transposed ? thread / LINES : thread % WIDTH;
#pragma unroll 1
    for (; line < lines_left && j < width; line += down, j += right) {
        TMM__HIDE(parts); /* or there would be a loop for one and for many */
        TMM_SUM total = sums[line * WIDTH + j];
        if (!tmm__skinny_along_k) {
#pragma unroll
            for (int w = 1; w < TMM__SKINNY_WARPS; w++)
                total += sums[(w * LINES + line) * WIDTH + j];
        }
        long long row = transposed ? j : first_line + line,
                  col = transposed ? first_line + line : j;
        if (parts > 1) { /* left for KERNEL SUM */
            partials[(blockIdx.z * (long long)parts + blockIdx.y) * (lines * width) +
                     row * (transposed ? lines : width) + col] = total;
            continue;
        }
        tmm__xstore_masked(C + row * ldc + col, row, col, 1, 1, alpha, beta, &total);
    }
}
#endif

TMM_KERNEL void __launch_bounds__(256, 2)
    tmm__gemm_skinny(long long lines, long long width, long long K, TMM__ALPHA alpha,
                     const TMM_TYPE *__restrict__ L, long long line_strideL, long long k_strideL,
                     long long batchL, const TMM_TYPE *__restrict__ S, long long k_strideS,
                     long long j_strideS, long long batchS, TMM_SCALAR beta,
                     TMM_OUT *__restrict__ C, long long ldc, long long batchC, int transposed,
                     TMM_SUM *__restrict__ partials)
{
#if TMM__BODIES
    enum {
        ALONG_K = tmm__skinny_along_k,
        WIDTH = tmm__skinny_width,
        DEPTH = tmm__skinny_depth,
        LINES = tmm__skinny_lines,
        STAGES = tmm__skinny_stages,
        STAGE = tmm__skinny_stage,
        LANES = tmm__skinny_lanes,
        LDS = tmm__skinny_pitch,
        GRAIN = tmm__skinny_grain,
        WIDE = TMM__WIDE,
        COPIES = TMM__SKINNY_COPIES,
        S_COPIES = (WIDTH * DEPTH + 255) / 256 /* elements of S that a thread copies a stage */
    };
    static_assert(TMM__IS_FLOAT, "TMM__SKINNY_LIST: the instances are of float, TMM__IF_FLOAT");
    static_assert((int)ALONG_K == 0 || (int)ALONG_K == 1,
                  "TMM__SKINNY_LIST: whether L is contiguous along k must be 0 or 1");
    static_assert((int)WIDTH == 2 || (int)WIDTH == 4 || (int)WIDTH == 8 || (int)WIDTH == 16 ||
                      (ALONG_K && (int)WIDTH == 1),
                  "TMM__SKINNY_LIST: a width must be 2, 4, 8 or 16, or 1 along k: threads share S "
                  "and the sums of lines by powers of two");
    static_assert((int)TMM__SKINNY_WARPS == 8 && (int)COPIES == 4 &&
                      (int)TMM__SKINNY_L == 256 * COPIES * WIDE,
                  "TMM__SKINNY_WARPS, _COPIES and _L must be 8, 4 and 4096: each of 256 threads "
                  "copies 4 vectors, of neighbouring k");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    TMM_TYPE *ring = (TMM_TYPE *)tmm__memory;
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    tmm__let_next_begin();

    /* Where this block is: its lines, and the stages of its split-K part. */
    long long first_line = (long long)blockIdx.x * LINES;
    int lines_left = lines - first_line < LINES ? (int)(lines - first_line) : LINES;
    long long stages = (K + DEPTH - 1) / DEPTH, first = 0;
    if (gridDim.y > 1) {
        long long part = (stages + gridDim.y - 1) / gridDim.y;
        first = blockIdx.y * part;
        stages = stages > first + part ? part : stages > first ? stages - first : 0;
    }
    long long k_left = K - first * DEPTH; /* from the next stage to be copied on */
    L += blockIdx.z * batchL + first_line * line_strideL + first * DEPTH * k_strideL;
    S += blockIdx.z * batchS + first * DEPTH * k_strideS;
    C += blockIdx.z * batchC;

    /* Which vectors of L this thread copies: vector 0 has line line0 and k k0. Its elements lie
       `apart` from each other, along k or along the lines. */
    bool wide = ((size_t)L | (ALONG_K ? line_strideL : k_strideL) * sizeof(TMM_TYPE)) %
                        alignof(tmm__xvector) ==
                    0 &&
                (ALONG_K || lines_left % WIDE == 0);
    int line0, k0, apart;
    if (ALONG_K) {
        line0 = warp * ((int)LINES / TMM__SKINNY_WARPS) + lane / LANES;
        k0 = lane % LANES * (wide ? WIDE : 1);
    } else {
        line0 = lane % LANES * (wide ? WIDE : 1);
        k0 = warp * 2 * COPIES + lane / LANES * GRAIN;
    }
    apart = wide ? 1 : LANES;
    int to[COPIES]; /* where they lie in a stage */
#pragma unroll
    for (int n = 0; n < COPIES; n++) to[n] = WIDE * (n * 256 + thread);
    const TMM_TYPE *from[COPIES];
#pragma unroll
    for (int n = 0; n < COPIES; n++) {
        /* Along k the last line stands for those that do not exist: the loop needs no predicate. */
        int line = line0 + (ALONG_K ? n * (32 / LANES) : 0);
        if (ALONG_K && line >= lines_left) line = lines_left - 1;
        from[n] = L + line * line_strideL + (k0 + n * tmm__skinny_k_step) * k_strideL;
    }
    /* Which elements of S it copies: element n has column j0 + n j_step and k kS + n k_step.
       Neighbouring threads read neighbouring memory. The last column stands for those that do not
       exist. */
    int j0 = k_strideS == 1 ? thread / DEPTH : thread % WIDTH, kS;
    kS = k_strideS == 1 ? thread % DEPTH : thread / WIDTH;
    if (!ALONG_K && WIDTH == 16 && k_strideS == 1) { /* against bank conflicts: 4 columns of 8 k */
        j0 = warp / (DEPTH / 8) * 4 + lane / 8;
        kS = warp % (DEPTH / 8) * 8 + lane % 8;
    }
    int j_step = k_strideS == 1 ? 256 / DEPTH : 0, k_step = k_strideS == 1 ? 0 : 256 / WIDTH;
    const TMM_TYPE *fromS[S_COPIES];
    int toS[S_COPIES];
#pragma unroll
    for (int n = 0; n < S_COPIES; n++) {
        int j = j0 + n * j_step, k = kS + n * k_step;
        int in_row = k;
        if (ALONG_K && !wide) /* in the order in which the lanes have L */
            in_row = k / (LANES * WIDE) * (LANES * WIDE) + k % LANES * WIDE + k / LANES % WIDE;
        toS[n] = TMM__SKINNY_L + (ALONG_K ? j * LDS + in_row : k * LDS + j);
        fromS[n] = S + k * k_strideS + (j < width ? j : width - 1) * j_strideS;
    }
    bool copiesS = WIDTH * DEPTH >= 256 || thread < WIDTH * DEPTH;

    TMM_SUM sum[tmm__skinny_sums];
#pragma unroll
    for (int i = 0; i < tmm__skinny_sums; i++) sum[i] = 0;

    /* The first STAGES - 1 rounds only copy. */
    TMM_TYPE *write = ring, *read = ring; /* the stage to copy to, and to compute from */
#pragma unroll 1
    for (long long stage = 1 - STAGES; stage < stages; stage++) {
        if (stage >= 0) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads(); /* S is there, and all have finished with the stage before */
        }
        if (stage + STAGES - 1 < stages) {
            bool full = wide && k_left >= DEPTH && (ALONG_K || lines_left == LINES);
            int left = k_left < DEPTH ? (int)k_left : DEPTH;
            if (full)
                tmm__skinny_copy_L(write, to, from, line0, k0, apart, wide, true, 0, 0);
            else
                tmm__skinny_copy_L(write, to, from, line0, k0, apart, wide, false, lines_left,
                                   left);
            if (copiesS) {
#pragma unroll
                for (int n = 0; n < S_COPIES; n++)
                    tmm__xcopy_one(write + toS[n], fromS[n], full || kS + n * k_step < left);
            }
#pragma unroll
            for (int n = 0; n < COPIES; n++) from[n] += DEPTH * (ALONG_K ? 1 : k_strideL);
#pragma unroll
            for (int n = 0; n < S_COPIES; n++) fromS[n] += DEPTH * k_strideS;
            k_left -= DEPTH;
            write = write == ring + (STAGES - 1) * STAGE ? ring : write + STAGE;
        }
        tmm__copy_commit(); /* an empty group too: the wait counts groups */
        if (stage < 0) continue;

        const TMM_TYPE *now = read;
        read = read == ring + (STAGES - 1) * STAGE ? ring : read + STAGE;
        tmm__xvector x[COPIES];
#pragma unroll
        for (int n = 0; n < COPIES; n++) x[n] = *(const tmm__xvector *)&now[to[n]];
#if TMM__SKINNY_LIST(TMM__VALUE_1) 0
        const TMM_TYPE *s = now + TMM__SKINNY_L + lane % LANES * WIDE;
#pragma unroll
        for (int j = 0; j < WIDTH; j++) {
            tmm__xvector y = *(const tmm__xvector *)&s[j * LDS];
#pragma unroll
            for (int v = 0; v < WIDE; v++)
#pragma unroll
                for (int n = 0; n < COPIES; n++)
                    TMM__MULTIPLY_ADD(sum[n * WIDTH + j], (TMM_SUM)x[n].v[v], (TMM_SUM)y.v[v]);
        }
#else
        const TMM_TYPE *s =
            now + TMM__SKINNY_L + (thread / 32 * 2 * COPIES + lane / LANES * GRAIN) * LDS;
#pragma unroll
        for (int n = 0; n < COPIES; n += GRAIN) {
            tmm__xvector y[(int)GRAIN * WIDTH / WIDE];
#pragma unroll
            for (int i = 0; i < (int)GRAIN * WIDTH / WIDE; i++)
                y[i] = *(const tmm__xvector *)&s[n * 2 * LDS + i * WIDE];
#pragma unroll
            for (int g = 0; g < GRAIN; g++)
#pragma unroll
                for (int v = 0; v < WIDE; v++)
#pragma unroll
                    for (int j = 0; j < WIDTH; j++)
                        TMM__MULTIPLY_ADD(
                            sum[v * WIDTH + j], (TMM_SUM)x[n + g].v[v],
                            (TMM_SUM)y[(g * WIDTH + j) / WIDE].v[(g * WIDTH + j) % WIDE]);
        }
#endif
    }
    TMM__COPY_WAIT(0);
    __syncthreads(); /* all have finished with the ring: sums take its place */
    TMM_SUM *sums = (TMM_SUM *)tmm__memory;
    tmm__skinny_share_sums(sums, sum, line0, apart, thread);
    __syncthreads();

    tmm__skinny_store(sums, lines, width, first_line, lines_left, alpha, beta, C, ldc, transposed,
                      partials, thread);
#endif
}
#endif
#endif
