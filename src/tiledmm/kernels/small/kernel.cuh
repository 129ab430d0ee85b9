/* src/tiledmm/kernels/small/kernel.cuh. The kernel for a small C.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__SMALLS && (TMM__SMALL_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL SMALL ================================================== */
/* For a small C, which has few tiles: each must be done fast. A block has ROWS x COLS elements of C
   (TMM__SMALL_ROWS, TMM__SMALL_COLS) and a team of 1 to 8 warps. These divide k (sliced-K): of 8,
   each computes the whole tile for every eighth step of 8 k, with a ring and sums of its own. No
   warp waits for another until all have finished. Then their partial tiles are added through shared
   memory.

        k ->  step: 0 1 2 3 4 5 6 7 8 9 ...          +---------+  B
             +-+-+-+-+-+-+-+-+-+-+-+-+               |w0       |  step 0: warp 0
        A    |w|w|w|w|w|w|w|w|w|w|w|w|  ROWS         |w1       |  step 1: warp 1   each 8 x COLS
             |0|1|2|3|4|5|6|7|0|1|2|3|               |w2       |
             +-+-+-+-+-+-+-+-+-+-+-+-+               | ...     |
              each ROWS x 8                          +---------+
        C tile = ((sums of w0 + those of w1) + ...) + those of w7: always in this order

   Within a warp 4 lanes lie down and 8 across, with 4 x 4 sums as in REGISTER (16 columns: 4 x 2).
   Double from sm_80 on takes tensor cores, see tmm_dmma:

        8 lanes across, 4 columns each              double: C in blocks of 16 x 8, for each of them
        +--+--+--+--+--+--+--+--+--  --+            the lanes
        | 0| 1| 4| 5| 8| 9|12|13| 0 ...|            +-----+-----+-----+-----+
        | 2| 3| 6| 7|10|11|14|15| 2    |  4 lanes   | 0 0 | 1 1 | 2 2 | 3 3 |  2 elements of 2 rows
        |16|17|20|21|24|25|28|29|16    |  down, 4   | 4 4 | 5 5 | 6 6 | 7 7 |  each, 8 rows apart
        |18|19|22|23|26|27|30|31|18    |  rows each |     ...               |
        +--+--+--+--+--+--+--+--+--  --+            +-----+-----+-----+-----+

   Terms:  line     a row of A or a column of B
           step     8 k; a warp has a ring of 3 steps of A and B in shared memory, as [k][line]
           team     the 2^team_log2 warps that divide the k of one tile; member: a warp of it
           parts    split-K: blockIdx.y numbers them; KERNEL SUM adds their sums
   cp.async fills the ring two steps ahead. Up to K = 128 all that a tile needs is in flight before
   the first multiply-add. An operand that is contiguous along k is transposed, by copies of single
   elements.

   Global loads: (1 / ROWS + 1 / COLS) M N K elements; 10.7 FLOP per byte in float for 32 x 64, 4
   for 16 x 16. Shared loads of a warp and k: ROWS + COLS elements, for ROWS COLS multiply-adds.
   What bounds it: up to 128 latency, of the launch, the first loads and the one barrier. At 512 it
   is copies and arithmetic, each about two thirds of the time, which overlap by half.

   A large team is fast where tiles are few. Where they are many a small one is: registers then hold
   all tiles at once, and fewer warps have to start and to add up. A block has one team; and several,
   each with its tile, where blocks are thousands. Tiles are numbered through all products of a
   batch.
   With more than one part, each leaves its plain sums in partials, an M x N matrix for each product
   and part. */

enum {
    tmm__small_lda = TMM__SMALL_ROWS + 4, /* 4 more: see REGISTER */
    tmm__small_ldb = TMM__SMALL_COLS + 4,
    tmm__small_ldc = TMM__SMALL_COLS + 8, /* pairs of doubles in two rows: other banks */
    tmm__small_stage = 8 * (tmm__small_lda + tmm__small_ldb),
    tmm__small_ring = TMM__STAGES(3) * tmm__small_stage * (int)sizeof(TMM_TYPE),
    tmm__small_part = TMM__SMALL_ROWS * tmm__small_ldc * (int)sizeof(TMM_SUM),
    /* Bytes of shared memory of a warp, whose partial tile takes the place of its ring; of a block. */
    tmm__small_warp = tmm__small_ring > tmm__small_part ? tmm__small_ring : tmm__small_part,
    tmm__small_bytes = TMM__SMALL_WARPS * tmm__small_warp,
    /* A multiprocessor has registers for two blocks of tiles of 4 KB of sums. */
    tmm__small_blocks = sizeof(TMM_SUM) * TMM__SMALL_ROWS * TMM__SMALL_COLS <= 4096 ? 2 : 1
};
static_assert((TMM__SMALL_ROWS == 16 || TMM__SMALL_ROWS == 32 || TMM__SMALL_ROWS == 64) &&
                  (TMM__SMALL_COLS == 16 || TMM__SMALL_COLS == 32 || TMM__SMALL_COLS == 64),
              "TMM__SMALL_LIST: rows and columns of a tile must be 16, 32 or 64: a warp has 4 x 8 "
              "lanes, and its copies a power of two of places along the lines");

typedef struct alignas(sizeof(TMM_TYPE) * TMM__SMALL_WIDTH < 16
                           ? sizeof(TMM_TYPE) * TMM__SMALL_WIDTH
                           : 16) tmm__small_elements {
    TMM_TYPE v[TMM__SMALL_WIDTH];
} tmm__small_elements;
typedef struct alignas(sizeof(TMM_SUM) * TMM__SMALL_WIDTH < 16 ? sizeof(TMM_SUM) * TMM__SMALL_WIDTH
                                                               : 16) tmm__small_sums {
    TMM_SUM v[TMM__SMALL_WIDTH];
} tmm__small_sums;

/* One warp copies one step of one operand to shared memory: `lines` (16, 32 or 64) by 8 k, to
   tile[k][line] with rows of ld. x and tile are this lane's first places. `step` leads from one of
   its copies to the next in memory. `full`: all of it exists; otherwise lines_left and k_left count
   what exists from the first place on, and the rest is filled with zeros. A lane copies
     VECTORS      wide copies along the lines, where they are contiguous, aligned and whole; through
                  L1: where one operand is thin, all warps ask for its few lines at once
     ALONG_K      single elements, 8 lanes along k and 4 below each other: transposed
     ALONG_LINES  single elements, 16 lanes along the lines and 2 along k */
TMM__DEVICE void tmm__small_copy(TMM_TYPE *tile, int ld, int lines, const TMM_TYPE *x,
                                 long long step, int mode, bool full, int lines_left, int k_left)
{
    if (mode == TMM__VECTORS) {
        int across = lines / TMM__WIDE;
#pragma unroll
        for (int i = 0; i < 8 * across / 32; i++) {
            int k = i * 32 / across;
            bool exists = full || (k < k_left && lines_left > 0);
            if (TMM__WIDE * sizeof(TMM_TYPE) == 16)
                tmm__copy_near(&tile[k * ld], x, exists ? 16 : 0, true);
            else
                tmm__copy_async(&tile[k * ld], x, TMM__WIDE * sizeof(TMM_TYPE), exists);
            x += step;
        }
    } else if (mode == TMM__ALONG_K) {
#pragma unroll
        for (int i = 0; i < lines / 4; i++) {
            tmm__xcopy_one(&tile[4 * i], x, full || (4 * i < lines_left && k_left > 0));
            x += step;
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < lines; j += 16)
                tmm__xcopy_one(&tile[2 * i * ld + j], x + j,
                               full || (j < lines_left && 2 * i < k_left));
            x += step;
        }
    }
}

#if TMM__BODIES
/* A lane's sums, to the partial tile of its warp in shared memory. */
TMM__DEVICE void tmm__small_leave_sums(TMM_SUM *tile, const TMM_SUM *sum, int lane)
{
    enum {
        ROWS = TMM__SMALL_ROWS,
        COLS = TMM__SMALL_COLS,
        DOWN = ROWS / 4,
        ACROSS = COLS / 8,
        LDC = tmm__small_ldc,
        WIDTH = TMM__SMALL_WIDTH
    };
    if (TMM__SMALL_DMMA) {
#pragma unroll
        for (int i = 0; i < ROWS / 8; i++)
#pragma unroll
            for (int j = 0; j < COLS / 8; j++) {
                const TMM_SUM *two = &sum[4 * (i / 2 * ACROSS + j) + i % 2 * 2];
                tmm__xsums2 pair = {{two[0], two[1]}};
                *(tmm__xsums2 *)&tile[(8 * i + lane / 4) * LDC + 8 * j + lane % 4 * 2] = pair;
            }
    } else {
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int q = 0; q < ACROSS / WIDTH; q++) {
                tmm__small_sums sums;
#pragma unroll
                for (int j = 0; j < WIDTH; j++) sums.v[j] = sum[i * ACROSS + WIDTH * q + j];
                *(tmm__small_sums *)&tile[(i / 4 * 16 + TMM__LANE_DOWN(lane) * 4 + i % 4) * LDC +
                                          32 * q + TMM__LANE_ACROSS(lane) * WIDTH] = sums;
            }
    }
}

/* The sum of the partial tiles of a team's first `members`, in this order: WIDE neighbours, those
   of its first warp at `first`. */
TMM__DEVICE tmm__xvector_sums tmm__small_add(const unsigned char *first, int members)
{
    enum { WARPS = TMM__SMALL_WARPS, WIDE = TMM__WIDE, HALF = WARPS / 2 };
    tmm__xvector_sums total;
#pragma unroll
    for (int j = 0; j < WIDE; j++) total.v[j] = 0;
#pragma unroll 1
    for (int half = 0; half < members; half += HALF) {
        tmm__xvector_sums part[HALF];
#pragma unroll
        for (int w = 0; w < HALF; w++) /* the first one's, if there is none */
            part[w] = *(const tmm__xvector_sums *)(first + (half + w < members ? half + w : 0) *
                                                               tmm__small_warp);
#pragma unroll
        for (int w = 0; w < HALF; w++)
#pragma unroll
            for (int j = 0; j < WIDE; j++)
                total.v[j] = half + w < members ? total.v[j] + part[w].v[j] : total.v[j];
    }
    return total;
}

#ifdef TMM_WITH_EPILOGUE
/* Stores WIDE neighbours where C is aligned to them: one branch for all where nothing comes after. */
TMM__DEVICE void tmm__small_store(TMM_OUT *out, long long row, long long col, TMM__ALPHA alpha,
                                  TMM_SCALAR beta, tmm__xvector_sums total)
{
    enum { WIDE = TMM__WIDE };
    tmm__xvector_outs old;
#pragma unroll
    for (int j = 0; j < WIDE; j++) old.v[j] = 0;
    if ((TMM_SUM)beta != 0) old = *(const tmm__xvector_outs *)out;
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
        TMM_SUM more = (TMM_SUM)beta != 0 ? TMM__MUL((TMM_SUM)beta, (TMM_SUM)old.v[j]) : (TMM_SUM)0;
        total.v[j] = TMM__MUL((TMM_SUM)alpha.factor, total.v[j]) + more;
    }
    tmm__xfinish(&alpha.after, total.v, WIDE, (1u << WIDE) - 1, row, col);
#pragma unroll
    for (int j = 0; j < WIDE; j++) old.v[j] = tmm__xrounded(total.v[j], true, row, col + j);
    *(tmm__xvector_outs *)out = old;
}
#endif

#endif

static_assert(TMM__SMALL_WARPS_LOG2 >= 1 && TMM__SMALL_WARPS <= 8 &&
                  (int)TMM__SMALL_WARPS == 1 << TMM__SMALL_WARPS_LOG2,
              "TMM__SMALL_WARPS_LOG2 must be 1 to 3, and TMM__SMALL_WARPS 2 to it: a block has 256 "
              "threads at most");
TMM_KERNEL void __launch_bounds__(256, tmm__small_blocks)
    tmm__gemm_small(long long M, long long N, long long K, TMM__ALPHA alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                    unsigned batch, int team_log2, TMM_SUM *__restrict__ partials)
{
#if TMM__BODIES
    enum { ROWS = TMM__SMALL_ROWS, COLS = TMM__SMALL_COLS, WIDE = TMM__WIDE };
    enum { LDA = tmm__small_lda, LDB = tmm__small_ldb, LDC = tmm__small_ldc };
    enum { STAGE = tmm__small_stage, STAGES = TMM__STAGES(3) };
    enum { DOWN = ROWS / 4, ACROSS = COLS / 8, SUMS = DOWN * ACROSS, WIDTH = TMM__SMALL_WIDTH };
    enum { SIZE = sizeof(TMM_TYPE) };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    TMM_TYPE *ring = (TMM_TYPE *)(tmm__memory + warp * tmm__small_warp);

    /* This warp's tile, and its place in the team. The divisions are unsigned and of 32 bits: those
       of 64 would take a tenth of the time of a small product. */
    int team = 1 << team_log2, member = warp & (team - 1);
    unsigned tile = (blockIdx.x * (blockDim.x / 32) + warp) >> team_log2, product = 0;
    unsigned tiles_across = (unsigned)((unsigned long long)(N + COLS - 1) / COLS);
    unsigned tiles = (unsigned)((unsigned long long)(M + ROWS - 1) / ROWS) * tiles_across;
    if (batch > 1) {
        product = tile / tiles;
        tile -= product * tiles;
    }
    bool idle = tile >= tiles || product >= batch; /* the last block may have too many teams */
    unsigned tile_down = tile / tiles_across;
    long long tile_row = (long long)tile_down * ROWS;
    long long tile_col = (long long)(tile - tile_down * tiles_across) * COLS;

    /* The steps of this split-K part, and the first of them; then those of this warp. */
    int steps = (int)((unsigned long long)(K + 7) / 8), first = 0;
    if (gridDim.y > 1) {
        int part = (steps + (int)gridDim.y - 1) / (int)gridDim.y;
        first = blockIdx.y * part;
        steps = steps > first + part ? part : steps > first ? steps - first : 0;
    }
    int members = steps < team ? steps : team; /* members who have something to do */
    first += member;
    steps = steps > member && !idle ? (steps - member + team - 1) >> team_log2 : 0;

    A += product * batchA;
    B += product * batchB;
    int rows_left = M - tile_row < ROWS ? (int)(M - tile_row) : ROWS;
    int cols_left = N - tile_col < COLS ? (int)(N - tile_col) : COLS;
    long long k_left = K - first * 8ll;
    bool full = rows_left == ROWS && cols_left == COLS;
    /* See tmm__small_copy: how this lane copies, its first places, and its steps. */
    bool alignedA = rows_left % WIDE == 0 && ((size_t)A | csA * SIZE) % (WIDE * (int)SIZE) == 0;
    bool alignedB = cols_left % WIDE == 0 && ((size_t)B | rsB * SIZE) % (WIDE * (int)SIZE) == 0;
    int modeA = csA == 1 ? TMM__ALONG_K : alignedA ? TMM__VECTORS : TMM__ALONG_LINES;
    int modeB = rsB == 1 ? TMM__ALONG_K : alignedB ? TMM__VECTORS : TMM__ALONG_LINES;
    int kA = lane / 16, lineA = lane % 16, kB = lane / 16, lineB = lane % 16;
    long long stepA = 2 * csA, stepB = 2 * rsB;
    if (modeA == TMM__ALONG_K) kA = lane % 8, lineA = lane / 8, stepA = 4 * rsA;
    if (modeB == TMM__ALONG_K) kB = lane % 8, lineB = lane / 8, stepB = 4 * csB;
    if (modeA == TMM__VECTORS) {
        kA = lane / (ROWS / WIDE), lineA = lane % (ROWS / WIDE) * WIDE;
        stepA = 32 / (ROWS / WIDE) * csA;
    }
    if (modeB == TMM__VECTORS) {
        kB = lane / (COLS / WIDE), lineB = lane % (COLS / WIDE) * WIDE;
        stepB = 32 / (COLS / WIDE) * rsB;
    }
    A += (tile_row + lineA) * rsA + (first * 8ll + kA) * csA;
    B += (tile_col + lineB) * csB + (first * 8ll + kB) * rsB;
    int toA = kA * LDA + lineA, toB = 8 * LDA + kB * LDB + lineB;
    long long nextA = 8ll * team * csA, nextB = 8ll * team * rsB;
    TMM__HIDE_POINTER(nextA);
    TMM__HIDE_POINTER(nextB); /* or the compiler multiplies anew in each step */

    TMM_SUM sum[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++) sum[i] = 0;

    TMM_TYPE *write = ring, *read = ring; /* where to copy to, and to compute from */
    /* The first STAGES - 1 rounds only copy. */
#pragma unroll 1
    for (int step = 1 - STAGES; step < steps; step++) {
        if (step >= 0) {
            TMM__COPY_WAIT(STAGES - 2); /* this lane's copies of this step are there, */
            __syncwarp(); /* the other lanes' too, and all have finished with the step before */
        }
        if (step + STAGES - 1 < steps) {
            if (full && k_left >= 8) {
                tmm__small_copy(write + toA, LDA, ROWS, A, stepA, modeA, true, 0, 0);
                tmm__small_copy(write + toB, LDB, COLS, B, stepB, modeB, true, 0, 0);
            } else {
                int k_now = k_left < 8 ? (int)k_left : 8;
                tmm__small_copy(write + toA, LDA, ROWS, A, stepA, modeA, false, rows_left - lineA,
                                k_now - kA);
                tmm__small_copy(write + toB, LDB, COLS, B, stepB, modeB, false, cols_left - lineB,
                                k_now - kB);
            }
            A += nextA;
            B += nextB;
            k_left -= 8 * team;
            write = write == ring + (STAGES - 1) * STAGE ? ring : write + STAGE;
        }
        tmm__copy_commit(); /* an empty group too: the wait counts groups */
        if (step < 0) continue;

        if (TMM__SMALL_DMMA) {
            const TMM_TYPE *a = read + lane % 4 * LDA + lane / 4;
            const TMM_TYPE *b = read + 8 * LDA + lane % 4 * LDB + lane / 4;
            TMM_SUM fa[2][ROWS / 8], fb[2][COLS / 8];
#pragma unroll
            for (int k = 0; k < 2; k++) {
#pragma unroll
                for (int i = 0; i < ROWS / 8; i++) fa[k][i] = (TMM_SUM)a[4 * k * LDA + 8 * i];
#pragma unroll
                for (int j = 0; j < COLS / 8; j++) fb[k][j] = (TMM_SUM)b[4 * k * LDB + 8 * j];
            }
#pragma unroll
            for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
                for (int j = 0; j < COLS / 8; j++)
                    tmm__xdmma(&sum[4 * (i * ACROSS + j)], fa[0][2 * i], fa[0][2 * i + 1],
                               fa[1][2 * i], fa[1][2 * i + 1], fb[0][j], fb[1][j]);
        } else {
            const TMM_TYPE *a = read + TMM__LANE_DOWN(lane) * 4;
            const TMM_TYPE *b = read + 8 * LDA + TMM__LANE_ACROSS(lane) * WIDTH;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                tmm__xelements4 fa[DOWN / 4];
                tmm__small_elements fb[ACROSS / WIDTH];
#pragma unroll
                for (int q = 0; q < DOWN / 4; q++)
                    fa[q] = *(const tmm__xelements4 *)&a[k * LDA + 16 * q];
#pragma unroll
                for (int q = 0; q < ACROSS / WIDTH; q++)
                    fb[q] = *(const tmm__small_elements *)&b[k * LDB + 32 * q];
#pragma unroll
                for (int i = 0; i < DOWN; i++)
#pragma unroll
                    for (int j = 0; j < ACROSS; j++)
                        TMM__MULTIPLY_ADD(sum[i * ACROSS + j], (TMM_SUM)fa[i / 4].v[i % 4],
                                          (TMM_SUM)fb[j / WIDTH].v[j % WIDTH]);
            }
        }
        read = read == ring + (STAGES - 1) * STAGE ? ring : read + STAGE;
    }

    /* This warp's partial tile, in place of its ring. */
    TMM__COPY_WAIT(0);
    __syncwarp();
    if (steps > 0) tmm__small_leave_sums((TMM_SUM *)ring, sum, lane);
    __syncthreads();
    if (idle) return;

    C += product * batchC + tile_row * ldc + tile_col;
    bool alignedC = ((size_t)C | ldc * sizeof(TMM_OUT)) % alignof(tmm__xvector_outs) == 0;
    /* The team's partial tiles begin with that of its member 0. */
    const unsigned char *ours = tmm__memory + (warp - member) * tmm__small_warp;
#pragma unroll 1
    for (int wide = member * 32 + lane; wide < ROWS * COLS / WIDE; wide += 32 * team) {
        int r = wide / (COLS / WIDE), c = wide % (COLS / WIDE) * WIDE;
        if (r >= rows_left || c >= cols_left) continue;
        int parts = gridDim.y, fits = alignedC;
        TMM__HIDE(parts);
        TMM__HIDE(fits); /* or there would be a loop for each */
        tmm__xvector_sums all = tmm__small_add(ours + (r * LDC + c) * sizeof(TMM_SUM), members);
        if (parts > 1) {
            long long matrix = product * (long long)parts + blockIdx.y;
            TMM_SUM *p = partials + (matrix * M + tile_row + r) * N + tile_col + c;
#pragma unroll
            for (int j = 0; j < WIDE; j++)
                if (c + j < cols_left) p[j] = all.v[j];
            continue;
        }
        TMM_OUT *out = C + r * ldc + c;
        if (!fits || c + WIDE > cols_left) {
            unsigned mask = c + WIDE > cols_left ? (1u << (cols_left - c)) - 1 : (1u << WIDE) - 1;
            tmm__xstore_masked(out, tile_row + r, tile_col + c, WIDE, mask,
                               TMM__OF_PRODUCT(alpha, product), beta, all.v);
            continue;
        }
#ifdef TMM_WITH_EPILOGUE
        tmm__small_store(out, tile_row + r, tile_col + c, TMM__OF_PRODUCT(alpha, product), beta,
                         all);
#else
        tmm__xvector_outs old;
#pragma unroll
        for (int j = 0; j < WIDE; j++) old.v[j] = 0;
        if ((TMM_SUM)beta != 0) old = *(const tmm__xvector_outs *)out;
#pragma unroll
        for (int j = 0; j < WIDE; j++) {
            TMM_SUM more =
                (TMM_SUM)beta != 0 ? TMM__MUL((TMM_SUM)beta, (TMM_SUM)old.v[j]) : (TMM_SUM)0;
            old.v[j] = tmm__xvalue(all.v[j], TMM__OF_PRODUCT(alpha, product), more, true,
                                   tile_row + r, tile_col + c + j);
        }
        *(tmm__xvector_outs *)out = old;
#endif
    }
#endif
}
#endif
#endif
