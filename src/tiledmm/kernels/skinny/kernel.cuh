/* src/tiledmm/kernels/skinny/kernel.cuh. The kernel for a narrow C.
   Uses: kernels/common/store.cuh, kernels/common/sum.cuh, kernels/skinny/sizes.h, once/.
   Used by: kernels/skinny/launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && (TMM__SKINNY_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL SKINNY ================================================= */
/* For a C with at most 16 rows or columns, matrix-vector products among them. Reading the large
   operand once bounds it. Few columns and few rows are one problem:

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
           vector   16 bytes of L, which one thread copies and multiplies (WIDE elements)
           stage    DEPTH k of L and S in shared memory; STAGES of them form a ring
   cp.async fills the ring STAGES - 1 stages ahead, so 32 to 64 KB of a block are in flight. Reading
   at full speed needs 34 KB an SM: 4.5 TB/s times 1 us, over 132 SMs.

   L CONTIGUOUS ALONG K (TMM__SKINNY_ALONG_K 1). 8 warps lie below each other. Each has 4 groups of
   8 lanes (WIDTH 16) or one of 32 (WIDTH 4). A lane has 4 lines, and one vector of each a stage:

        WIDTH 16, float          k: 32 a stage              S: as [j][k], read by 16-byte loads:
          line 0, 4, 8, 12  |0...|1...|2...| ... |7...|     8 addresses, the same for all 4 groups;
          line 1, 5, 9, 13  |8...|9...|    lanes            4 + 16 loads for 256 multiply-adds
          line 2, ...       |16..|                          a lane and stage
          line 3, ...       |24..|
      At the end the lanes of a group add their sums by shuffles.
   L CONTIGUOUS ALONG THE LINES (0; WIDTH 4, 16). A vector has neighbouring lines. 16 lanes lie side
   by side and 2 along k. 8 warps lie along k, 8 k each a stage (double, WIDTH 16: 2 side by side):

        k       |0...|1...|2...| ... |15..|   64 lines (float)        S: as [k][j], broadcast
        k + 1   |16..|17..|    ...   |31..|
      At the end the two halves add by a shuffle, the eight warps through shared memory.
   DOUBLE, WIDTH 16, from sm_80 on: tensor cores (dmma) take the place of the multiply-adds. Eight
   lanes copy 128 contiguous bytes, as above. A lane's fragment was copied by others, so vectors are
   swizzled: neither copies nor fragment loads have bank conflicts.
   Where L is not aligned to 16 bytes, single elements are copied. The elements of a vector then lie
   8, 16 or 32 apart, so neighbouring lanes still read neighbouring memory.

   Global loads: lines K elements of L once, and width K of S for each block. At WIDTH 16 that is
   8 FLOP per byte in float, 4 in double; at one column it is 0.5 and 0.25.
   What bounds it: memory. At WIDTH 16 in float shared memory is close behind.
   blockIdx.y numbers split-K parts (see SMALL), blockIdx.z the products of a batch. */

/* As in SMALL: expressions of the type, TMM__SKINNY_ALONG_K and TMM__SKINNY_WIDTH. */
#ifndef TMM__SKINNY_WARPS
#define TMM__SKINNY_WARPS 8
/* Vectors of a thread and stage. */
#define TMM__SKINNY_COPIES                                                                     \
    (TMM__SKINNY_ALONG_K && sizeof(TMM_TYPE) * TMM__SKINNY_WIDTH == 128 && TMM__STAGES(5) == 5 \
         ? 8                                                                                   \
         : 4)
/* Along the lines: warps side by side. The others lie along k. */
#define TMM__SKINNY_BESIDE (sizeof(TMM_TYPE) * TMM__SKINNY_WIDTH == 128 ? 2 : 1)
#define TMM__SKINNY_STAGES \
    (!TMM__SKINNY_ALONG_K ? TMM__STAGES(4) : TMM__SKINNY_COPIES == 8 ? 2 : TMM__STAGES(5))
/* Lanes of a group, which lie along k or along the lines, as L is contiguous. */
#define TMM__SKINNY_LANES (!TMM__SKINNY_ALONG_K ? 16 : TMM__SKINNY_WIDTH == 16 ? 8 : 32)
#define TMM__SKINNY_LINES /* of a block */                                \
    (TMM__SKINNY_ALONG_K ? 32 / TMM__SKINNY_LANES * 4 * TMM__SKINNY_WARPS \
                         : TMM__SKINNY_LANES * TMM__WIDE * TMM__SKINNY_BESIDE)
#define TMM__SKINNY_DEPTH /* k of a stage */                                      \
    (TMM__SKINNY_ALONG_K ? TMM__SKINNY_LANES * TMM__WIDE * TMM__SKINNY_COPIES / 4 \
                         : TMM__SKINNY_WARPS / TMM__SKINNY_BESIDE * 2 * TMM__SKINNY_COPIES)
/* The pitch of S in shared memory, [j][k] or [k][j]: padded against bank conflicts. */
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
/* Along the lines: neighbouring k of a lane. Elements of S that a thread copies a stage. */
#define TMM__SKINNY_GRAIN    (TMM__SKINNY_WIDTH == 16 ? 1 : 4)
#define TMM__SKINNY_S_COPIES ((TMM__SKINNY_WIDTH * TMM__SKINNY_DEPTH + 255) / 256)
/* Vector n of a thread lies this many lines and k from its vector 0. */
#define TMM__SKINNY_LINE_STEP(n) (TMM__SKINNY_ALONG_K ? (n) % 4 * (32 / TMM__SKINNY_LANES) : 0)
#define TMM__SKINNY_K_STEP(n)                        \
    (TMM__SKINNY_ALONG_K                             \
         ? (n) / 4 * (TMM__SKINNY_LANES * TMM__WIDE) \
         : ((n) / TMM__SKINNY_GRAIN * 2) * TMM__SKINNY_GRAIN + (n) % TMM__SKINNY_GRAIN)
/* With tensor cores: where (line r, vector q along k), or (k r, vector q along the lines), lies
   among the vectors of a warp. Two bits of q are flipped against bank conflicts of eight lanes. */
#define TMM__SKINNY_SLOT(warp, r, q)                                   \
    (TMM__SKINNY_ALONG_K ? ((warp)*16 + (r)) * 8 + ((q) ^ ((r)&1) * 4) \
                         : ((warp)*8 + (r)) * 16 + ((q) ^ ((r)&3) * 2))
/* The sums of a lane; with tensor cores 8 or 16 of them are used. */
#define TMM__SKINNY_LANE_SUMS ((TMM__SKINNY_ALONG_K ? 4 : TMM__WIDE) * TMM__SKINNY_WIDTH)
/* Do tensor cores multiply? */
#define TMM__SKINNY_DMMA                                                      \
    (TMM__TENSOR_CORES && TMM__SKINNY_WIDTH == 16 && sizeof(TMM_TYPE) == 8 && \
     sizeof(TMM_SUM) == 8 && !TMM__IS_INTEGER)
#endif
enum {
    tmm__skinny_bytes = TMM__SKINNY_RING > TMM__SKINNY_SUMS ? TMM__SKINNY_RING : TMM__SKINNY_SUMS,
    tmm__skinny_least = TMM__SKINNY_SUMS, /* whatever the stages */
    tmm__skinny_lines = TMM__SKINNY_LINES,
    tmm__skinny_depth = TMM__SKINNY_DEPTH
};

#if TMM__BODIES
/* Copies this thread's vectors of a stage of L. Vector n comes from from[n % 4] and goes to stage +
   to[n % 4]; from the fifth on both move on. `full`: all of them exist. Otherwise lines_left and
   k_left count what exists of the block and of the stage. */
static __device__ __forceinline__ void tmm__skinny_copy_L(TMM_TYPE *stage, const int *to,
                                                          const TMM_TYPE *const *from, int line0,
                                                          int k0, int apart, bool wide, bool full,
                                                          int lines_left, int k_left)
{
    enum { ALONG_K = TMM__SKINNY_ALONG_K, WIDE = TMM__WIDE, BYTES = WIDE * sizeof(TMM_TYPE) };
#pragma unroll
    for (int n = 0; n < TMM__SKINNY_COPIES; n++) {
        TMM_TYPE *place = stage + (to[n % 4] + n / 4 * (1024 * WIDE));
        const TMM_TYPE *x =
            from[n % 4] + (n < 4 ? 0 : TMM__SKINNY_K_STEP(n) - TMM__SKINNY_K_STEP(n % 4));
        if (full) {
            tmm__copy_zfill(place, x, BYTES, BYTES);
            continue;
        }
        int line = line0 + TMM__SKINNY_LINE_STEP(n), k = k0 + TMM__SKINNY_K_STEP(n);
        int valid = ALONG_K ? k_left - k : k < k_left ? lines_left - line : 0;
        if (wide) {
            int size = valid < 0 ? 0 : valid > WIDE ? WIDE : valid;
            tmm__copy_zfill(place, x, BYTES, size * (int)sizeof(TMM_TYPE));
        } else {
#pragma unroll
            for (int v = 0; v < WIDE; v++)
                tmm__xcopy_one(place + v, x + v * apart, v * apart < valid);
        }
    }
}

/* sum += L S by tensor cores, for vectors x of L; s: S of the same k in shared memory.
   Along k: two multiplications of 8 k, for 16 lines. k 2 t and 2 t + 1 stand for t and t + 4.
   Along the lines: 8 k, for two times 16 lines. Lines 2 g and 2 g + 1 stand for g and g + 8. */
static __device__ __forceinline__ void tmm__skinny_dmma(TMM_SUM *sum, const tmm__xvector *x,
                                                        const TMM_TYPE *s, int thread)
{
    enum { ALONG_K = TMM__SKINNY_ALONG_K, LDS = TMM__SKINNY_LDS };
    int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int j = 0; j < TMM__SKINNY_WIDTH / 8; j++)
#pragma unroll
        for (int p = 0; p < 2; p++) {
            const TMM_TYPE *y = ALONG_K ? &s[(8 * j + g) * LDS + 8 * p + 2 * t]
                                        : &s[(warp / TMM__SKINNY_BESIDE * 8 + t) * LDS + 8 * j + g];
            if (ALONG_K) {
                tmm__xvector b = *(const tmm__xvector *)y;
                tmm__xdmma(&sum[4 * j], x[2 * p].v[0], x[2 * p + 1].v[0], x[2 * p].v[1],
                           x[2 * p + 1].v[1], b.v[0], b.v[1]);
            } else {
                tmm__xdmma(&sum[8 * p + 4 * j], x[p].v[0], x[p].v[1], x[p + 2].v[0], x[p + 2].v[1],
                           y[0], y[4 * LDS]);
            }
        }
}

/* The lanes that have the same lines add their sums. What they then have goes to shared memory, as
   [line][j], along the lines as [warp along k][line][j]. */
static __device__ __forceinline__ void tmm__skinny_share_sums(TMM_SUM *shared, TMM_SUM *sum,
                                                              int line0, int apart, bool wide,
                                                              int thread)
{
    enum {
        ALONG_K = TMM__SKINNY_ALONG_K,
        WIDTH = TMM__SKINNY_WIDTH,
        LANES = TMM__SKINNY_LANES,
        LINES = TMM__SKINNY_LINES,
        BESIDE = TMM__SKINNY_BESIDE,
        SUMS = TMM__SKINNY_LANE_SUMS
    };
    int warp = thread / 32, lane = thread % 32;
    if (TMM__SKINNY_DMMA) {
        int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int i = 0; i < SUMS && i < (ALONG_K ? 8 : 16); i++) {
            int j = i / 4 % 2 * 8 + 2 * t + i % 2, half = i / 2 % 2, line;
            if (ALONG_K)
                line = warp * 16 + g + 8 * half;
            else
                line = warp / BESIDE * LINES + warp % BESIDE * (LINES / BESIDE) +
                       (wide ? 2 * (i / 8 * 8 + g) + half : i / 8 * 8 + g + 16 * half);
            shared[line * WIDTH + j] = sum[i];
        }
    } else if (ALONG_K) {
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
            shared[(warp / BESIDE * LINES + line0 + i / WIDTH * apart) * WIDTH + i % WIDTH +
                   upper] = total;
        }
    }
}
/* Stores C, or this block's part of the sums for KERNEL SUM. */
static __device__ __forceinline__ void tmm__skinny_store(const TMM_SUM *sums, long long lines,
                                                         long long width, long long first_line,
                                                         int lines_left, TMM_TYPE alpha,
                                                         TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                                         int transposed, TMM_SUM *partials,
                                                         int thread)
{
    enum { ALONG_K = TMM__SKINNY_ALONG_K, WIDTH = TMM__SKINNY_WIDTH, LINES = TMM__SKINNY_LINES };
    /* Neighbouring threads write neighbours in C: 256 elements on are lines, or columns, further.
       */
    int parts = gridDim.y;
    int down = transposed ? 0 : 256 / WIDTH, right = transposed ? 256 / LINES : 0;
    int line = transposed ? thread % LINES : thread / WIDTH;
    int j = transposed ? thread / LINES : thread % WIDTH;
#pragma unroll 1
    for (; line < lines_left && j < width; line += down, j += right) {
        TMM__HIDE(parts); /* or there would be a loop for one and for many */
        TMM_SUM total = sums[line * WIDTH + j];
        if (!ALONG_K) {
#pragma unroll
            for (int w = 1; w < TMM__SKINNY_WARPS / TMM__SKINNY_BESIDE; w++)
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

TMM_KERNEL void __launch_bounds__(256, sizeof(TMM_SUM) * TMM__SKINNY_WIDTH <= 64 ? 2 : 1)
    tmm__gemm_skinny(long long lines, long long width, long long K, TMM_TYPE alpha,
                     const TMM_TYPE *__restrict__ L, long long line_strideL, long long k_strideL,
                     long long batchL, const TMM_TYPE *__restrict__ S, long long k_strideS,
                     long long j_strideS, long long batchS, TMM_TYPE beta, TMM_TYPE *__restrict__ C,
                     long long ldc, long long batchC, int transposed,
                     TMM_SUM *__restrict__ partials)
{
#if TMM__BODIES
    enum {
        ALONG_K = TMM__SKINNY_ALONG_K,
        WIDTH = TMM__SKINNY_WIDTH,
        DEPTH = TMM__SKINNY_DEPTH,
        LINES = TMM__SKINNY_LINES,
        STAGES = TMM__SKINNY_STAGES,
        STAGE = TMM__SKINNY_STAGE,
        LANES = TMM__SKINNY_LANES,
        LDS = TMM__SKINNY_LDS,
        BESIDE = TMM__SKINNY_BESIDE,
        WIDE = TMM__WIDE,
        S_COPIES = TMM__SKINNY_S_COPIES
    };
    static_assert((int)ALONG_K == 0 || (int)ALONG_K == 1,
                  "TMM__SKINNY_LIST: whether L is contiguous along k must be 0 or 1");
    static_assert((int)WIDTH == 2 || (int)WIDTH == 4 || (int)WIDTH == 8 || (int)WIDTH == 16 ||
                      (ALONG_K && (int)WIDTH == 1),
                  "TMM__SKINNY_LIST: a width must be 2, 4, 8 or 16, or 1 along k: threads share S "
                  "and the sums of lines by powers of two");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    TMM_TYPE *ring = (TMM_TYPE *)tmm__memory;
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

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

    /* Which vectors of L this thread copies: vector n has line line0 + LINE_STEP(n) and k
       k0 + K_STEP(n). Its elements lie `apart` from each other, along k or along the lines. */
    bool wide = ((size_t)L | (ALONG_K ? line_strideL : k_strideL) * sizeof(TMM_TYPE)) %
                    alignof(tmm__xvector) ==
                0;
    int line0, k0, apart;
    if (ALONG_K) {
        line0 = warp * (LINES / TMM__SKINNY_WARPS) + lane / LANES;
        k0 = lane % LANES * (wide ? WIDE : 1);
    } else {
        line0 = warp % BESIDE * (LINES / BESIDE) + lane % LANES * (wide ? WIDE : 1);
        k0 = warp / BESIDE * 2 * TMM__SKINNY_COPIES + lane / LANES * TMM__SKINNY_GRAIN;
    }
    apart = wide ? 1 : LANES;
    /* Where they go in a stage, and where this lane's fragment lies: without tensor cores, the
       same. */
    int to[4], at[4];
#pragma unroll
    for (int n = 0; n < 4; n++) {
        to[n] = WIDE * (!TMM__SKINNY_DMMA ? n * 256 + thread
                        : ALONG_K         ? TMM__SKINNY_SLOT(warp, n * 4 + lane / 8, lane % 8)
                                          : TMM__SKINNY_SLOT(warp, n * 2 + lane / 16, lane % 16));
        at[n] =
            WIDE * (!TMM__SKINNY_DMMA ? n * 256 + thread
                    : ALONG_K ? TMM__SKINNY_SLOT(warp, lane / 4 + n % 2 * 8, n / 2 * 4 + lane % 4)
                              : TMM__SKINNY_SLOT(warp, lane % 4 + n / 2 * 4, n % 2 * 8 + lane / 4));
    }
    const TMM_TYPE *from[4];
#pragma unroll
    for (int n = 0; n < 4; n++) {
        /* Along k the last line stands for those that do not exist: the loop needs no predicate. */
        int line = line0 + TMM__SKINNY_LINE_STEP(n);
        if (ALONG_K && line >= lines_left) line = lines_left - 1;
        from[n] = L + line * line_strideL + (k0 + TMM__SKINNY_K_STEP(n)) * k_strideL;
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

    TMM_SUM sum[TMM__SKINNY_LANE_SUMS];
#pragma unroll
    for (int i = 0; i < TMM__SKINNY_LANE_SUMS; i++) sum[i] = 0;

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
            for (int n = 0; n < 4; n++) from[n] += DEPTH * (ALONG_K ? 1 : k_strideL);
#pragma unroll
            for (int n = 0; n < S_COPIES; n++) fromS[n] += DEPTH * k_strideS;
            k_left -= DEPTH;
            write = write == ring + (STAGES - 1) * STAGE ? ring : write + STAGE;
        }
        tmm__copy_commit(); /* an empty group too: the wait counts groups */
        if (stage < 0) continue;

        const TMM_TYPE *now = read;
        read = read == ring + (STAGES - 1) * STAGE ? ring : read + STAGE;
#pragma unroll
        for (int part = 0; part < TMM__SKINNY_COPIES / 4; part++) {
            tmm__xvector x[4];
#pragma unroll
            for (int n = 0; n < 4; n++)
                x[n] = *(const tmm__xvector *)&now[part * 1024 * WIDE + at[n]];
            if (TMM__SKINNY_DMMA) {
                tmm__skinny_dmma(sum, x, now + TMM__SKINNY_L + part * 16, thread);
                continue;
            }
            const TMM_TYPE *s = now + TMM__SKINNY_L + part * LANES * WIDE;
#if TMM__SKINNY_ALONG_K
            s += lane % LANES * WIDE;
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                tmm__xvector y = *(const tmm__xvector *)&s[j * LDS];
#pragma unroll
                for (int v = 0; v < WIDE; v++)
#pragma unroll
                    for (int n = 0; n < 4; n++)
                        TMM__MULTIPLY_ADD(sum[n * WIDTH + j], (TMM_SUM)x[n].v[v], (TMM_SUM)y.v[v]);
            }
#else
            enum { GRAIN = TMM__SKINNY_GRAIN, COPIES = TMM__SKINNY_COPIES };
            s += (thread / 32 / TMM__SKINNY_BESIDE * 2 * COPIES + lane / LANES * GRAIN) * LDS;
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
    }
    TMM__COPY_WAIT(0);
    __syncthreads(); /* all have finished with the ring: sums take its place */
    TMM_SUM *sums = (TMM_SUM *)tmm__memory;
    tmm__skinny_share_sums(sums, sum, line0, apart, wide, thread);
    __syncthreads();

    tmm__skinny_store(sums, lines, width, first_line, lines_left, alpha, beta, C, ldc, transposed,
                      partials, thread);
#endif
}
#endif
#endif
