/* src/tiledmm/kernels/pipelined/kernel.cuh. The kernel that teaches asynchronous copies.
   Uses: kernels/common/, kernels/pipelined/, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL PIPELINED ============================================== */
/* Like KERNEL REGISTER, with three differences. Copies of later steps are under way during the
   arithmetic. Each thread owns a larger block of C. No multiprocessor is without work at the end.

   Tile of C: 128 x 128, 4 warps of 64 x 64, 16 x 8 a thread:
      +---------+---------+        8 lanes across, twice 4 columns each
      | warp 0  | warp 1  |      +--+--+--+--+--+--+--+--+--+--   --+
      |         |         |      | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1 ... |  4 lanes down,
      +---------+---------+      | 8| 9|10|11|12|13|14|15| 8|       |  four times
      | warp 2  | warp 3  |      |16|17|18|19|20|21|22|23|16|       |  4 rows each
      |         |         |      |24|25|26|27|28|29|30|31|24|       |
      +---------+---------+      +--+--+--+--+--+--+--+--+--+--   --+
                                 | 0| 1| 2|       ... four times    |
   The instance for any operands is the only one for types other than float. It has half as many
   rows: 8 x 8 a thread, 64 x 128 in all. Three of its blocks (of 8 bytes: two) share a
   multiprocessor. Its tile may lie the other way, 128 x 64: four warps of 32 x 64 above each other.
   It copies units of 64 lines, three to a step: one of A and two of B, or two of A and one of B.

   Along k in steps of DEPTH = 8. STAGES = 3 buffers of shared memory form a ring, each as [k][row
   of A] and then [k][column of B]. While one is worked on, the others are being filled:
      step           0       1       2       3
      copies into    s2      s0      s1      s2     asynchronous, zeros beyond the end of K
      arithmetic on  s0      s1      s2      s0     one barrier a step
   Fragments, what a thread needs of A and B for one k, are double-buffered in registers. If DEPTH
   does not divide K, the first step is the short one, so the loop needs no predicate. A tile that
   would stick out is moved back inside. What it then computes a second time is not stored.

   A launch has as many blocks as fit at once, each with tile after tile. Tiles are numbered band by
   band, a band being 4 rows of tiles, and downwards in it. So blocks at work at a time share
   rows of A and columns of B in L2. Tiles rarely come out even: with 576 tiles and 264 blocks, the
   third wave would have 48. So the first tiles (here 264 + 48) are split along k: their steps, laid
   end to end, are divided into equal shares ("stream-K": M. Osama et al., "Stream-K: work-centric
   parallel decomposition for dense matrix-matrix multiplication on the GPU", 2023):
      tile     |    0     |    1     |    2     |     three tiles, four blocks: each 3/4 of a tile
      block    |   3   |   2   |   1   |   0   |
   The block with the first steps of a tile owns it. The others leave their sums as partial tiles,
   which the owner adds in ascending k. The last block has the first share, for a block may wait
   only for blocks that were started before it. Where all blocks can be at work with each tile in a
   few equal slices of k, it has that many: they are ready at the same time. Where there would be
   many (few tiles, long K), all become partial tiles, and KERNEL REDUCE adds them.

   Integers: multiply-adds run at half rate, so one warp nearly keeps a scheduler busy. Blocks then
   drift apart: one finishes early and leaves the others with too few warps to hide latency (seen;
   the cause is a guess). So from two waves on a whole tile has a block of its own, which begins
   when another has left. Only the last blocks, as many as fit at once, have shares (of 1000 tiles:
   396 blocks a tile each, 396 the others).

   From sm_90 on, few tiles of float are divided among clusters instead, of 2, 4 or 8 blocks. Each has
   an equal slice of one tile. At the end it gets a part of the tile from all others, through shared
   memory, adds it up in ascending k and stores it. No memory, no flag, no second launch:
      sums of      block 0        block 1        block 2           were it three
      part 0       added up  <--  sent      <--  sent
      part 1       sent      -->  added up  <--  sent
      part 2       sent      -->  sent      -->  added up

   Global loads: (1 / 128 + 1 / 128) M N K elements, 32 FLOP per byte in float. Shared loads:
   16 + 8 elements for 128 multiply-adds, 2.7 FLOP per byte. What bounds it: issue. On sm_90a
   a step of TN has 1024 multiply-adds and 88 other instructions; see
   bench/notes/pipelined.md.

   The order of the main loop depends on all code around it. With other forms of the functions
   below TN was slower: bench/notes/pipelined.md.

   modeA and modeB say how the instance for any operands copies units; 128 threads, so many elements
   each and pass:
     ALONG_K      neighbours in k are neighbours in memory: 8 threads along k, 16 lines
     ALONG_LINES  neighbouring lines (rows of A, columns of B) are: 16 threads along the lines, 8 k
     VECTORS      the same with 16 bytes a thread, where addresses and sizes are multiples of 16 */

/* sum += a b for one k. Back and forth along the rows: of two multiply-adds in turn, the second
   finds one operand where the first has read it. */
TMM__DEVICE void tmm__xpipelined_multiply(const tmm__xelements4 *a, const tmm__xelements4 *b,
                                          TMM_SUM (*sum)[8], const int rows)
{
    enum { COLS = 8 };
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int jj = 0; jj < COLS; jj++) {
            int j = i % 2 ? COLS - 1 - jj : jj;
            TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)a[i / 4].v[i % 4], (TMM_SUM)b[j / 4].v[j % 4]);
        }
}

TMM__DEVICE void tmm__xpipelined_clear(TMM_SUM (*sum)[8], const int rows)
{
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = 0;
}

/* Finds number `work` of what a block has to do: steps *begin to *end of tile *tile. False: nothing
   is left. First comes its share of the stream-K tiles, steps `start` to `stop` of all of
   theirs. */
TMM__DEVICE bool tmm__xpipelined_find_work(const tmm__schedule *s, int work, int share, int blocks,
                                           int streamk_blocks, long long streamk_steps, int *tile,
                                           int *begin, int *end)
{
    int first = 0, streamk_works = 0, start = 0, stop = 0;
    if (!TMM__IS_INTEGER || share < streamk_blocks) {
        start = (int)(streamk_steps * share / streamk_blocks);
        stop = (int)(streamk_steps * (share + 1) / streamk_blocks);
    }
    if (start < stop) {
        first = start / s->steps;
        streamk_works = (stop - 1) / s->steps + 1 - first;
    }
    *tile = first + work;
    if (work < streamk_works) {
        if (*begin < start - *tile * s->steps) *begin = start - *tile * s->steps;
        if (*end > stop - *tile * s->steps) *end = stop - *tile * s->steps;
    } else {
        *tile = s->streamk_tiles + tmm__block() + (work - streamk_works) * blocks;
        if (*tile >= s->tiles_down * s->tiles_across) return false;
    }
    return true;
}

/* The first row and column that a thread owns in a stage. A unit of 8 rows has `part` elements. */
TMM__DEVICE void tmm__xpipelined_fragment(int thread, bool is_128x64, int *row0, int *col0,
                                          const int rows, const int part)
{
    int warp = thread / 32, lane = thread % 32;
    *row0 = warp / 2 * (4 * rows) + lane / 8 * 4;
    *col0 = part + warp % 2 * (rows == 8 ? part : 64) + lane % 8 * 4;
    if (is_128x64) {
        *row0 = warp / 2 * (2 * part) + warp % 2 * (4 * rows) + lane / 8 * 4;
        *col0 = part + lane % 8 * 4;
    }
}
#endif

#ifdef TMM__PASS
#if TMM__PIPELINES && (TMM__PIPELINED_LIST(TMM__IN_PASS) 0)
static_assert((TMM__PIPELINED_ROWS) == 8 || ((TMM__PIPELINED_ROWS) == 16 && TMM__IS_FLOAT),
              "TMM__PIPELINED_LIST: a thread has 8 rows, or 16 of float: copies, launchers and "
              "KERNEL REDUCE know these tiles");
static_assert((int)TMM__PIPELINED_THREADS == 128 && (int)TMM__PIPELINED_UNIT == 64 &&
                  (int)TMM__PIPELINED_DEPTH == 8,
              "TMM__PIPELINED_THREADS, _UNIT and _DEPTH must be 128, 64 and 8: a thread copies "
              "and owns a fixed part of them, and launchers count steps of 8");
static_assert(TMM__PIPELINED_BLOCKS >= 1,
              "TMM__PIPELINED_LIST: a multiprocessor has 1 block at least");

TMM_KERNEL void __launch_bounds__(128, TMM__PIPELINED_BLOCKS)
    tmm__gemm_pipelined(long long M, long long N, long long K, TMM__ALPHA alpha,
                        const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                        long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                        long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                        long long ldc, long long batchC, int modeA, int modeB,
                        const tmm__schedule s)
{
#if TMM__BODIES
    enum { ROWS = TMM__PIPELINED_ROWS, COLS = 8, VECTORS = ROWS * COLS / 4 }; /* a thread's */
    enum { ANY = ROWS == 8, TN = !ANY };
    enum { THREADS = TMM__PIPELINED_THREADS, DEPTH = TMM__PIPELINED_DEPTH };
    enum { STAGES = TMM__PIPELINED_STAGES, SIZE = sizeof(TMM_TYPE), UNIT = TMM__PIPELINED_UNIT };
    enum { LINES_A = ANY ? UNIT : 8 * ROWS, LINES_B = ANY ? UNIT : 128 };
    /* 4 more: fewer bank conflicts between copies along k. */
    enum { PITCH_A = LINES_A + 4, PITCH_B = LINES_B + 4 };
    enum { PART = (int)DEPTH * PITCH_A }; /* where those of B begin; of ANY the third unit, too */
    enum { STAGE = ANY ? 3 * PART : PART + (int)DEPTH * PITCH_B };
    enum { COPY_AT = TN ? 3 : 0 }; /* the k of a step at which copies start; found by trying */
    enum { STAGED_ROWS = TMM__PIPELINED_STAGED_ROWS };
    static_assert((int)STAGES >= 2 && (int)STAGES * STAGE * SIZE <= 49152,
                  "TMM__PIPELINED_STAGES must be 2 at least, and fit into the 48 KB of a block");
    static_assert(
        !TN || (4 % STAGED_ROWS == 0 && (int)STAGED_ROWS * COLS * THREADS * (int)sizeof(TMM_SUM) <=
                                            (int)STAGES * STAGE * SIZE),
        "TMM__PIPELINED_STAGED_ROWS must be 1, 2 or 4, of the four rows that lie below each "
        "other, and have room in the stages");
    static_assert(COPY_AT < DEPTH - 1, "by then the stage to be refilled is another one");
    __shared__ __align__(16) TMM_TYPE shared[(int)STAGES * STAGE];
    if (TN) modeA = modeB = TMM__VECTORS;
    const bool is_128x64 = ANY && s.is_tall;
    const int TILE_M = is_128x64 ? 16 * ROWS : 8 * ROWS, TILE_N = is_128x64 ? 64 : 128;

    /* Integers: blocks with a whole tile, then stream-K. */
    int blocks = gridDim.x, streamk_blocks = TMM__IS_INTEGER ? s.streamk_blocks : blocks;
    long long streamk_steps = (long long)s.streamk_tiles * s.steps;
    bool packed_A = TN && s.packed_A, packed_B = TN && s.packed_B;
    int first_depth = (int)(K - (s.steps - 1ll) * DEPTH); /* of the first step: 1 to DEPTH */
#if TMM__CLUSTERS && TMM__IS_FLOAT
    if (s.cluster > 0)
        tmm__cluster_arrive(false); /* this block's shared memory may be written to */
#endif

    for (int work = 0;; work++) {
        int share = blocks - 1 - tmm__block(), begin = 0, end = s.steps, tile;
        if (!tmm__xpipelined_find_work(&s, work, share, blocks, streamk_blocks, streamk_steps,
                                       &tile, &begin, &end))
            break;
        int down, across;
        tmm__xfind_tile(&s, TMM__BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Moved back inside, unless what lies outside may be read. */
        if (row > M - TILE_M && !packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        int thread = tmm__thread();
        tmm__xpipelined_copies copies;
        int row0, col0;
        tmm__xpipelined_fragment(thread, is_128x64, &row0, &col0, ROWS, PART);
        TMM_SUM sum[ROWS][COLS];
        tmm__xpipelined_clear(sum, ROWS);

        long long k = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;
        tmm__xpipelined_copy_begin(&copies, thread, modeA, modeB, is_128x64, M, N,
                                   A + blockIdx.z * batchA, rsA, csA, B + blockIdx.z * batchB, rsB,
                                   csB, row, col, k, ROWS);
        int left = end - begin;
        tmm__xpipelined_fill(&copies, shared, STAGE, left, begin == 0 ? first_depth : DEPTH, csA,
                             rsB, ROWS);
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();

        if (TN) { /* or the compiler computes both anew in each step */
            TMM__HIDE(copies.strideA);
            TMM__HIDE(copies.strideB);
        }
        tmm__xelements4 a[2][ROWS / 4], b[2][COLS / 4];
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int q = 0; q < ROWS / 4; q++)
            a[0][q] = *(const tmm__xelements4 *)(shared + row0 + 16 * q);
#pragma unroll
        for (int q = 0; q < COLS / 4; q++)
            b[0][q] = *(const tmm__xelements4 *)(shared + col0 + 32 * q);
#pragma unroll 1
        for (; left > 0; left--) {
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                int now = k % 2, then = 1 - now, next = (k + 1) % DEPTH;
                if (next == 0) { /* on to the next stage, which must be complete */
                    TMM__COPY_WAIT(STAGES - 2);
                    __syncthreads();
                    read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
                }
#pragma unroll
                for (int q = 0; q < COLS / 4; q++)
                    b[then][q] =
                        *(const tmm__xelements4 *)(shared + read + next * PITCH_B + col0 + 32 * q);
#pragma unroll
                for (int q = 0; q < ROWS / 4; q++)
                    a[then][q] =
                        *(const tmm__xelements4 *)(shared + read + next * PITCH_A + row0 + 16 * q);
                if (k == COPY_AT) { /* everyone has left the stage before this one: refill it */
                    TMM_TYPE *to = shared + (read == 0 ? (STAGES - 1) * STAGE : read - STAGE);
                    bool more = left >= STAGES;
                    tmm__xpipelined_copy_next(&copies, to, more, ROWS);
                    tmm__xpipelined_copy_advance(&copies, DEPTH, csA, rsB);
                    tmm__copy_commit();
                }
                tmm__xpipelined_multiply(a[now], b[now], sum, ROWS);
            }
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the copies of the next work may begin */

        thread = tmm__thread();
        share = blocks - 1 - tmm__block();
#if TMM__CLUSTERS && TMM__IS_FLOAT
        if (s.cluster > 0) { /* a block gets a part of all slices, adds it up and stores it */
            /* [slice][vector][thread] */
            extern __shared__ __align__(16) unsigned char tmm__cluster_sums[];
            tmm__xsums4 *all = (tmm__xsums4 *)tmm__cluster_sums + thread;
            int part = VECTORS / s.cluster, rank = share % s.cluster;
            static_assert(VECTORS % TMM__MOST_CLUSTER == 0, "clusters are a power of 2");
            tmm__cluster_wait();
            tmm__xpipelined_send(all, &s, part, rank, sum, ROWS);
            tmm__cluster_arrive(true);
            tmm__cluster_wait();
#pragma unroll 1
            for (int n = 0; n < part; n++) {
                tmm__xsums4 total = all[n * THREADS];
                for (int p = 1; p < s.cluster; p++) {
                    tmm__xsums4 more = all[(p * part + n) * THREADS];
#pragma unroll
                    for (int i = 0; i < 4; i++) total.v[i] += more.v[i];
                }
                tmm__xstore_sums(M, N, alpha, beta, C, ldc, &s, ROWS, is_128x64 ? 4 : 2, tile,
                                 thread, rank * part + n, &total);
            }
            return;
        }
#endif
        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm__xsums4 *to =
                (tmm__xsums4 *)s.partials + (long long)share * ((int)VECTORS * THREADS) + thread;
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                const TMM_SUM *v = &sum[q / 2][q % 2 * 4];
                tmm__xsums4 swapped = {{v[1], v[0], v[3], v[2]}};
                to[q * THREADS] = swapped;
            }
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) { /* the owner: add what the others have left */
            tmm__xpipelined_add_partials(&s, share, streamk_blocks, streamk_steps, tile, thread,
                                         sum, ROWS);
        }
        tmm__xpipelined_place place;
        tmm__xpipelined_find_place(&place, &s, tile, thread, M, N, C + blockIdx.z * batchC, ldc,
                                   ROWS);
        if (TN) {
#ifdef TMM_WITH_EPILOGUE
            tmm__xpipelined_store_tn(&place, ldc, M, N, alpha, beta, sum, shared, thread,
                                     TMM__TRIANGLE(&s), ROWS);
#else
            /* Through shared memory: code for one row. The other instances are slower with it. */
            bool vector = place.aligned && N % 4 == 0; /* all four columns or none are stored */
            tmm__xsums4 *own = (tmm__xsums4 *)shared + thread;
#pragma unroll 1
            for (int i = 0; i < ROWS; i += STAGED_ROWS) {
                tmm__xpipelined_stage(own, i, sum, ROWS);
#pragma unroll 1
                for (int h = 0; h < STAGED_ROWS; h++) {
                    TMM_SUM row_sums[8];
#pragma unroll
                    for (int q = 0; q < 2; q++) {
                        tmm__xsums4 swapped = own[(2 * h + q) * THREADS];
#pragma unroll
                        for (int j = 0; j < 4; j++) row_sums[4 * q + j] = swapped.v[j ^ 1];
                    }
                    if (place.row >= place.first_row && place.row < M)
                        tmm__xstore_row(place.C, place.row, place.col, vector,
                                        tmm__triangle_masks(vector ? 0 : TMM__TRIANGLE(&s),
                                                            place.mask, place.row, place.col),
                                        alpha, beta, row_sums);
                    place.row++, place.C += ldc;
                }
                if ((i + STAGED_ROWS) % 4 == 0) place.row += 12, place.C += 12 * ldc;
            }
#endif
            __syncthreads(); /* the copies of the next work may begin */
            continue;
        }
        TMM__PIPELINED_STORE(place.C, ldc, place.row, place.first_row, M, place.col,
                             place.aligned && N % 4 == 0, place.mask, alpha, beta, sum, ROWS,
                             TMM__TRIANGLE(&s));
    }
#endif
}
#endif
#endif
