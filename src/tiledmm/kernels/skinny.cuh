/* src/tiledmm/kernels/skinny.cuh. The kernel for a narrow C.
   Uses: kernels/sum.cuh. Used by: kernels/skinny_launch.h. */
/* The instances: pass, name, whether L is contiguous along k, and the width. Along the lines a width
   of 1 would gain 2% at most. */
#ifndef TMM__SKINNY_LIST
#define TMM__SKINNY_LIST(_) \
    _(1, k_1, 1, 1)         \
    _(2, k_4, 1, 4)         \
    _(3, k_16, 1, 16)       \
    _(4, lines_4, 0, 4)     \
    _(5, lines_16, 0, 16)
#define TMM__SKINNY_ALONG_K (TMM__SKINNY_LIST(TMM__VALUE_1) 0)
#define TMM__SKINNY_WIDTH   (TMM__SKINNY_LIST(TMM__VALUE_2) 0)
#endif

#ifdef TMM__PASS
#if TMM__FAST && (TMM__SKINNY_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL SKINNY ================================================= */
/* For a C with one dimension of 16 at most, matrix-vector products among them: bound by reading
   the large operand once. Few columns and few rows are one problem:

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

   TMM__SKINNY_WIDTH (1, 4 or 16) is the number of j that are computed. There are two kernels, for L
   contiguous along k and for L contiguous along the lines. Both keep a ring of stages of L and S in
   shared memory, filled by asynchronous copies: 32 to 64 KB of a block are on their way at any
   time, which is what reading at full speed needs (4.5 TB/s times a microsecond is 34 KB to each of
   132 processors).

   ALONG K (TMM__SKINNY_ALONG_K 1): 8 warps below each other, each with 4 groups of 8 lanes (WIDTH 16) or one
   of 32 (WIDTH 1, 4); a lane has 4 lines and, of each, 16 bytes a stage:

        WIDTH 16, float          k: 32 a stage              S: as [j][k], read by 16-byte loads:
          line 0, 4, 8, 12  |0...|1...|2...| ... |7...|     8 addresses, the same for all 4 groups;
          line 1, 5, 9, 13  |8...|9...|    lanes            4 + 16 loads for 256 multiply-adds
          line 2, ...       |16..|                          a lane and stage
          line 3, ...       |24..|
      At the end the lanes of a group add their sums by shuffles.
   ALONG THE LINES (0; WIDTH 4, 16): a lane has 16 bytes of neighbouring lines; 16 lanes side by
   side and 2 along k; 8 warps along k, 8 k each a stage (double, WIDTH 16: 2 warps side by side):

        k       |0...|1...|2...| ... |15..|   64 lines (float)        S: as [k][j], broadcast
        k + 1   |16..|17..|    ...   |31..|
      At the end the two halves add by a shuffle, the eight warps through shared memory.
   double, WIDTH 16, from sm_80 on: tensor cores (dmma) take the place of the multiply-adds. The
   copies are the same, eight lanes side by side in 128 bytes; what a lane then needs was copied by
   others, and lies where neither copies nor reads meet in a bank.
   Where L is not aligned to 16 bytes, single elements are copied, and a lane's elements lie 8, 16
   or 32 apart instead of side by side, so that neighbouring lanes still read neighbouring memory.

   Global loads: lines K elements of L once, and of S width K for each block; WIDTH 16: 8 FLOP per
   byte in float. What bounds it: memory; for WIDTH 16 with shared memory close behind.
   blockIdx.y counts parts of k (one, unless partials is given) as in SMALL, blockIdx.z products. */

/* As in SMALL: expressions of the type, TMM__SKINNY_ALONG_K and TMM__SKINNY_WIDTH. */
#ifndef TMM__SKINNY_WARPS
#define TMM__SKINNY_WARPS 8
/* Wide copies of a thread and stage. */
#define TMM__SKINNY_COPIES                                                                     \
    (TMM__SKINNY_ALONG_K && sizeof(TMM_TYPE) * TMM__SKINNY_WIDTH == 128 && TMM__STAGES(5) == 5 \
         ? 8                                                                                   \
         : 4)
/* Along the lines: how many warps are side by side, the others are along k. */
#define TMM__SKINNY_BESIDE (sizeof(TMM_TYPE) * TMM__SKINNY_WIDTH == 128 ? 2 : 1)
#define TMM__SKINNY_STAGES \
    (!TMM__SKINNY_ALONG_K ? TMM__STAGES(4) : TMM__SKINNY_COPIES == 8 ? 2 : TMM__STAGES(5))
#define TMM__SKINNY_LANES (!TMM__SKINNY_ALONG_K ? 16 : TMM__SKINNY_WIDTH == 16 ? 8 : 32)
#define TMM__SKINNY_LINES /* of a block */                                \
    (TMM__SKINNY_ALONG_K ? 32 / TMM__SKINNY_LANES * 4 * TMM__SKINNY_WARPS \
                         : TMM__SKINNY_LANES * TMM__WIDE * TMM__SKINNY_BESIDE)
#define TMM__SKINNY_DEPTH /* k of a stage */                                      \
    (TMM__SKINNY_ALONG_K ? TMM__SKINNY_LANES * TMM__WIDE * TMM__SKINNY_COPIES / 4 \
                         : TMM__SKINNY_WARPS / TMM__SKINNY_BESIDE * 2 * TMM__SKINNY_COPIES)
/* The length of a row of S in shared memory, [j][k] or [k][j]: padded against bank conflicts. */
#define TMM__SKINNY_LDS                                                        \
    (TMM__SKINNY_ALONG_K ? TMM__SKINNY_DEPTH + (sizeof(TMM_TYPE) == 8 ? 8 : 4) \
                         : TMM__SKINNY_WIDTH + (TMM__SKINNY_WIDTH == 16 ? 4 : 0))
/* Elements of L in a stage; of L and S; bytes of the ring, and of the sums that take its place. */
#define TMM__SKINNY_L (256 * TMM__SKINNY_COPIES * TMM__WIDE)
#define TMM__SKINNY_STAGE                                                                          \
    (TMM__SKINNY_L +                                                                               \
     ((TMM__SKINNY_ALONG_K ? TMM__SKINNY_WIDTH : TMM__SKINNY_DEPTH) * TMM__SKINNY_LDS + 15) / 16 * \
         16)
#define TMM__SKINNY_RING (TMM__SKINNY_STAGES * TMM__SKINNY_STAGE * (int)sizeof(TMM_TYPE))
#define TMM__SKINNY_SUMS                                                                      \
    ((TMM__SKINNY_ALONG_K ? 1 : TMM__SKINNY_WARPS / TMM__SKINNY_BESIDE) * TMM__SKINNY_LINES * \
     TMM__SKINNY_WIDTH * (int)sizeof(TMM_SUM))
#endif
enum {
    TMM__INSTANCE(skinny_bytes_, SKINNY) =
        TMM__SKINNY_RING > TMM__SKINNY_SUMS ? TMM__SKINNY_RING : TMM__SKINNY_SUMS,
    TMM__INSTANCE(skinny_least_, SKINNY) = TMM__SKINNY_SUMS, /* whatever the stages */
    TMM__INSTANCE(skinny_lines_, SKINNY) = TMM__SKINNY_LINES,
    TMM__INSTANCE(skinny_depth_, SKINNY) = TMM__SKINNY_DEPTH
};

TMM_KERNEL void __launch_bounds__(256, sizeof(TMM_SUM) * TMM__SKINNY_WIDTH <= 64 ? 2 : 1)
    TMM__INSTANCE(gemm_skinny_,
                  SKINNY)(long long lines, long long width, long long K, TMM_TYPE alpha,
                          const TMM_TYPE *__restrict__ L, long long line_strideL,
                          long long k_strideL, long long batchL, const TMM_TYPE *__restrict__ S,
                          long long k_strideS, long long j_strideS, long long batchS, TMM_TYPE beta,
                          TMM_TYPE *__restrict__ C, long long ldc, long long batchC, int few_rows,
                          TMM_SUM *__restrict__ partials)
{
#if TMM__BODIES
    enum {
        ALONG_K = TMM__SKINNY_ALONG_K,
        WIDTH = TMM__SKINNY_WIDTH,
        WIDE = TMM__WIDE,
        STAGES = TMM__SKINNY_STAGES,
        STAGE = TMM__SKINNY_STAGE,
        DEPTH = TMM__SKINNY_DEPTH,
        LINES = TMM__SKINNY_LINES,
        LANES = TMM__SKINNY_LANES,
        LDS = TMM__SKINNY_LDS,
        COPIES = TMM__SKINNY_COPIES,
        BESIDE = TMM__SKINNY_BESIDE,
        BYTES = TMM__WIDE * sizeof(TMM_TYPE),   /* of a wide copy */
        ACROSS = LINES / BESIDE,                /* along the lines: those of a warp */
        S_COPIES = (WIDTH * DEPTH + 255) / 256, /* single elements of S to a thread and stage */
        GRAIN = WIDTH == 16 ? 1 : 4             /* along the lines: neighbouring k of a lane */
    };
    const bool tensor = TMM__TENSOR_CORES && WIDTH == 16 && sizeof(TMM_TYPE) == 8 &&
                        sizeof(TMM_SUM) == 8 && !TMM__IS_INTEGER;
    extern __shared__ __align__(16) unsigned char tmm_memory[];
    TMM_TYPE *ring = (TMM_TYPE *)tmm_memory;
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    long long first_line = (long long)blockIdx.x * LINES;
    int lines_left = lines - first_line < LINES ? (int)(lines - first_line) : LINES;
    long long stages = (K + DEPTH - 1) / DEPTH, first = 0; /* this block's, and its first */
    if (gridDim.y > 1) {
        long long part = (stages + gridDim.y - 1) / gridDim.y;
        first = blockIdx.y * part;
        stages = stages > first + part ? part : stages > first ? stages - first : 0;
    }
    long long k_left = K - first * DEPTH; /* from the next stage to be copied on */
    L += blockIdx.z * batchL + first_line * line_strideL + first * DEPTH * k_strideL;
    S += blockIdx.z * batchS + first * DEPTH * k_strideS;
    C += blockIdx.z * batchC;
    bool vectors = ((size_t)L | (ALONG_K ? line_strideL : k_strideL) * sizeof(TMM_TYPE)) %
                       alignof(TMM_FN(vector)) ==
                   0;

    /* Which vectors of L are this lane's: number n has line line0 + n-th step, k k0 + n-th step;
       its elements are `apart` from each other, along k or along the lines. */
    int line0, k0, apart;
    if (ALONG_K) {
        line0 = warp * (LINES / TMM__SKINNY_WARPS) + lane / LANES;
        k0 = lane % LANES * (vectors ? WIDE : 1);
    } else {
        line0 = warp % BESIDE * ACROSS + lane % LANES * (vectors ? WIDE : 1);
        k0 = warp / BESIDE * 2 * COPIES + lane / LANES * GRAIN;
    }
    apart = vectors ? 1 : LANES;
#define TMM__LINE_STEP(n) (ALONG_K ? (n) % 4 * (32 / LANES) : 0)
#define TMM__K_STEP(n) \
    (ALONG_K ? (n) / 4 * (LANES * WIDE) : ((n) / GRAIN * 2) * GRAIN + (n) % GRAIN)
    /* Where it puts vector n. Without tensor cores, only the lane itself reads it. With them,
       (line r, vector q along k) or (k r, vector q along the lines) is at r * row + q of the warp's
       vectors, but with two bits of q flipped so that neither copies nor reads of eight lanes
       meet in a bank. */
#define TMM__PLACE(r, q)                                   \
    (ALONG_K ? (warp * 16 + (r)) * 8 + ((q) ^ ((r)&1) * 4) \
             : (warp * 8 + (r)) * 16 + ((q) ^ ((r)&3) * 2))
    int place[4], from_place[4];
#pragma unroll
    for (int n = 0; n < 4; n++) {
        place[n] = WIDE * (tensor ? ALONG_K ? TMM__PLACE(n * 4 + lane / 8, lane % 8)
                                            : TMM__PLACE(n * 2 + lane / 16, lane % 16)
                                  : n * 256 + thread);
        from_place[n] =
            WIDE * (tensor ? ALONG_K ? TMM__PLACE(lane / 4 + n % 2 * 8, n / 2 * 4 + lane % 4)
                                     : TMM__PLACE(lane % 4 + n / 2 * 4, n % 2 * 8 + lane / 4)
                           : n * 256 + thread);
    }
/* Where vector n goes in a stage; it comes from from[n % 4], and from so many elements behind. */
#define TMM__TO(n)     (place[(n) % 4] + (n) / 4 * (1024 * WIDE))
#define TMM__BEYOND(n) ((n) < 4 ? 0 : TMM__K_STEP(n) - TMM__K_STEP((n) % 4))
    const TMM_TYPE *from[4];
#pragma unroll
    for (int n = 0; n < 4; n++) {
        /* Along k, rows that do not exist are replaced by the last one: no check in the loop. */
        int line = line0 + TMM__LINE_STEP(n);
        if (ALONG_K && line >= lines_left) line = lines_left - 1;
        from[n] = L + line * line_strideL + (k0 + TMM__K_STEP(n)) * k_strideL;
    }
    /* Which elements of S: number n has column j + n j_step, k k + n k_step. Columns that do not
       exist are replaced by the last one. Neighbouring threads read neighbouring elements. */
    int sj = k_strideS == 1 ? thread / DEPTH : thread % WIDTH, sk;
    sk = k_strideS == 1 ? thread % DEPTH : thread / WIDTH;
    if (!ALONG_K && WIDTH == 16 && k_strideS == 1) { /* against bank conflicts: 4 columns of 8 k */
        sj = warp / (DEPTH / 8) * 4 + lane / 8;
        sk = warp % (DEPTH / 8) * 8 + lane % 8;
    }
    int j_step = k_strideS == 1 ? 256 / DEPTH : 0, k_step = k_strideS == 1 ? 0 : 256 / WIDTH;
    const TMM_TYPE *fromS[S_COPIES];
    int toS[S_COPIES];
#pragma unroll
    for (int n = 0; n < S_COPIES; n++) {
        int j = sj + n * j_step, k = sk + n * k_step;
        int in_row = k;
        if (ALONG_K && !vectors) /* in the order in which the lanes have L */
            in_row = k / (LANES * WIDE) * (LANES * WIDE) + k % LANES * WIDE + k / LANES % WIDE;
        toS[n] = TMM__SKINNY_L + (ALONG_K ? j * LDS + in_row : k * LDS + j);
        fromS[n] = S + k * k_strideS + (j < width ? j : width - 1) * j_strideS;
    }
    bool copiesS = WIDTH * DEPTH >= 256 || thread < WIDTH * DEPTH;

    enum {
        SUMS = ALONG_K ? 4 * WIDTH : WIDE * WIDTH /* tensor: 8 or 16 of them are used */
    };
    TMM_SUM sum[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++) sum[i] = 0;

    TMM_TYPE *in = ring, *out = ring; /* the stage to copy to, and to compute from */
#pragma unroll 1
    for (long long stage = 1 - STAGES; stage < stages; stage++) {
        if (stage >= 0) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads(); /* S is there, and all have finished with the stage before */
        }
        if (stage + STAGES - 1 < stages) {
            bool full = vectors && k_left >= DEPTH && (ALONG_K || lines_left == LINES);
            int left = k_left < DEPTH ? (int)k_left : DEPTH;
            if (full) { /* no checks */
#pragma unroll
                for (int n = 0; n < COPIES; n++)
                    tmm__copy_zfill(in + TMM__TO(n), from[n % 4] + TMM__BEYOND(n), BYTES, BYTES);
            } else {
#pragma unroll
                for (int n = 0; n < COPIES; n++) {
                    int line = line0 + TMM__LINE_STEP(n), k = k0 + TMM__K_STEP(n);
                    int inside = ALONG_K ? left - k : k < left ? lines_left - line : 0;
                    const TMM_TYPE *x = from[n % 4] + TMM__BEYOND(n);
                    if (vectors) {
                        int size = inside < 0 ? 0 : inside > WIDE ? WIDE : inside;
                        tmm__copy_zfill(in + TMM__TO(n), x, BYTES, size * (int)sizeof(TMM_TYPE));
                    } else {
#pragma unroll
                        for (int v = 0; v < WIDE; v++) TMM_FN(copy_one)
                        (in + TMM__TO(n) + v, x + v * apart, v * apart < inside);
                    }
                }
            }
            if (copiesS) {
#pragma unroll
                for (int n = 0; n < S_COPIES; n++)
                    TMM_FN(copy_one)(in + toS[n], fromS[n], full || sk + n * k_step < left);
            }
#pragma unroll
            for (int n = 0; n < 4; n++) from[n] += DEPTH * (ALONG_K ? 1 : k_strideL);
#pragma unroll
            for (int n = 0; n < S_COPIES; n++) fromS[n] += DEPTH * k_strideS;
            k_left -= DEPTH;
            in = in == ring + (STAGES - 1) * STAGE ? ring : in + STAGE;
        }
        tmm__copy_commit(); /* an empty group too: the wait counts groups */
        if (stage < 0) continue;

        const TMM_TYPE *mine = out, *s = out + TMM__SKINNY_L;
        out = out == ring + (STAGES - 1) * STAGE ? ring : out + STAGE;
#pragma unroll
        for (int part = 0; part < COPIES / 4; part++) {
            TMM_FN(vector) x[4];
#pragma unroll
            for (int n = 0; n < 4; n++)
                x[n] = *(const TMM_FN(vector) *)&mine[part * 1024 * WIDE + from_place[n]];
            if (tensor) {
                int g = lane / 4, t = lane % 4;
#pragma unroll
                for (int j = 0; j < WIDTH / 8; j++) {
                    /* Along k two pieces of 8 k for one of 16 lines, where k 2 t and 2 t + 1 stand
                       for t and t + 4; along the lines one of 8 k for two of 16 lines, where lines
                       2 g and 2 g + 1 stand for g and g + 8. */
#pragma unroll
                    for (int p = 0; p < 2; p++) {
                        const TMM_TYPE *y = ALONG_K
                                                ? &s[(8 * j + g) * LDS + part * 16 + 8 * p + 2 * t]
                                                : &s[(warp / BESIDE * 8 + t) * LDS + 8 * j + g];
                        if (ALONG_K) {
                            TMM_FN(vector) two = *(const TMM_FN(vector) *)y;
                            TMM_FN(dmma)
                            (&sum[4 * j], x[2 * p].v[0], x[2 * p + 1].v[0], x[2 * p].v[1],
                             x[2 * p + 1].v[1], two.v[0], two.v[1]);
                        } else {
                            TMM_FN(dmma)
                            (&sum[8 * p + 4 * j], x[p].v[0], x[p].v[1], x[p + 2].v[0],
                             x[p + 2].v[1], y[0], y[4 * LDS]);
                        }
                    }
                }
                continue;
            }
#if TMM__SKINNY_ALONG_K
            const TMM_TYPE *sl = s + part * LANES * WIDE + lane % LANES * WIDE;
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                TMM_FN(vector) y = *(const TMM_FN(vector) *)&sl[j * LDS];
#pragma unroll
                for (int v = 0; v < WIDE; v++)
#pragma unroll
                    for (int n = 0; n < 4; n++)
                        TMM__MULTIPLY_ADD(sum[n * WIDTH + j], (TMM_SUM)x[n].v[v], (TMM_SUM)y.v[v]);
            }
#else
            s += (warp / BESIDE * 2 * COPIES + lane / LANES * GRAIN) * LDS;
#pragma unroll
            for (int n = 0; n < COPIES; n += GRAIN) {
                TMM_FN(vector) y[GRAIN * WIDTH / WIDE];
#pragma unroll
                for (int i = 0; i < GRAIN * WIDTH / WIDE; i++)
                    y[i] = *(const TMM_FN(vector) *)&s[n * 2 * LDS + i * WIDE];
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
    }
    TMM__COPY_WAIT(0);
    __syncthreads(); /* all have finished with the ring: now it takes sums, as [warp][line][j] */

    TMM_SUM *sums = (TMM_SUM *)tmm_memory;
    if (tensor) {
        int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int i = 0; i < SUMS && i < (ALONG_K ? 8 : 16); i++) {
            int j = i / 4 % 2 * 8 + 2 * t + i % 2, half = i / 2 % 2, line;
            if (ALONG_K)
                line = warp * 16 + g + 8 * half;
            else
                line = warp / BESIDE * LINES + warp % BESIDE * ACROSS +
                       (vectors ? 2 * (i / 8 * 8 + g) + half : i / 8 * 8 + g + 16 * half);
            sums[line * WIDTH + j] = sum[i];
        }
    } else if (ALONG_K) {
        /* The lanes of a group add their sums: of two that are `other` apart, each hands the other
           half of those that it still has, and adds up the other half; the last few sums, fewer
           than lanes, both add up. In the end sum[i] is that of number `number` + i. */
        int count = SUMS, number = 0, alike = 1;
#pragma unroll
        for (int other = LANES / 2; other > 0; other /= 2) {
            bool upper = lane & other;
            if (count > 1) {
                count /= 2;
                if (upper) number += count;
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
                int n = number + i;
                sums[(line0 + n / WIDTH * (32 / LANES)) * WIDTH + n % WIDTH] = sum[i];
            }
        }
    } else {
        /* Of two lanes, one adds up the even sums, and the other the odd ones. */
        int upper = lane / LANES;
#pragma unroll
        for (int i = 0; i < SUMS; i += 2) {
            TMM_SUM even = sum[i], odd = sum[i + 1], total = upper ? odd : even;
            total += (TMM_SUM)__shfl_xor_sync(0xffffffffu, upper ? even : odd, LANES);
            sums[(warp / BESIDE * LINES + line0 + i / WIDTH * apart) * WIDTH + i % WIDTH + upper] =
                total;
        }
    }
    __syncthreads();
    /* Neighbouring threads write neighbours in C: 256 elements on are lines, or columns, further. */
    int down = few_rows ? 0 : 256 / WIDTH, right = few_rows ? 256 / LINES : 0;
    int line = few_rows ? thread % LINES : thread / WIDTH;
    int j = few_rows ? thread / LINES : thread % WIDTH, parts = gridDim.y;
#pragma unroll 1
    for (; line < lines_left && j < width; line += down, j += right) {
        TMM__HIDE(parts); /* or there would be a loop for one and for many */
        TMM_SUM total = sums[line * WIDTH + j];
        if (!ALONG_K) {
#pragma unroll
            for (int w = 1; w < TMM__SKINNY_WARPS / BESIDE; w++)
                total += sums[(w * LINES + line) * WIDTH + j];
        }
        long long row = few_rows ? j : first_line + line, col = few_rows ? first_line + line : j;
        if (parts > 1) {
            partials[(blockIdx.z * (long long)parts + blockIdx.y) * (lines * width) +
                     row * (few_rows ? lines : width) + col] = total;
            continue;
        }
        TMM_FN(store_masked)(C + row * ldc + col, row, col, 1, 1, alpha, beta, &total);
    }
#undef TMM__LINE_STEP
#undef TMM__K_STEP
#undef TMM__PLACE
#undef TMM__TO
#undef TMM__BEYOND
#endif
}
#endif
#endif
