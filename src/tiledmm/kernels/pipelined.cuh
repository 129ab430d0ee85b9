/* src/tiledmm/kernels/pipelined.cuh. The kernel that teaches asynchronous copies.
   Uses: kernels/store.cuh, kernels/streamk.cuh. Used by: kernels/pipelined_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL PIPELINED ============================================== */
/* Like KERNEL REGISTER, but the copies of later steps are under way during the arithmetic, each
   thread owns a larger block of C, and no multiprocessor is left without work at the end.

   Tile of C: 128 x 128, 4 warps of 64 x 64, 16 x 8 a thread:
      +---------+---------+        8 lanes across, twice 4 columns each
      | warp 0  | warp 1  |      +--+--+--+--+--+--+--+--+--+--   --+
      |         |         |      | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1 ... |  4 lanes down,
      +---------+---------+      | 8| 9|10|11|12|13|14|15| 8|       |  four times
      | warp 2  | warp 3  |      |16|17|18|19|20|21|22|23|16|       |  4 rows each
      |         |         |      |24|25|26|27|28|29|30|31|24|       |
      +---------+---------+      +--+--+--+--+--+--+--+--+--+--   --+
                                 | 0| 1| 2|       ... four times    |
   The instance for any operands, the only one for other types than float, has half as many rows,
   8 x 8 a thread, 64 x 128 in all; three of its blocks (of 8 bytes: two) share a multiprocessor,
   and its tile may lie the other way, 128 x 64: four warps of 32 x 64 above each other. It copies
   units of 64 lines, three to a step: one of A and two of B, or two of A and one of B.

   Along k in steps of DEPTH = 8. STAGES = 3 buffers of shared memory form a ring, each as [k][row
   of A] and then [k][column of B]. While one is worked on, the others are being filled:
      step           0       1       2       3
      copies into    s2      s0      s1      s2     asynchronous, zeros beyond the end of K
      arithmetic on  s0      s1      s2      s0     one barrier a step
   Fragments, what a thread needs of A and B for one k, are double-buffered in registers. If DEPTH
   does not divide K, the first step is the short one, so the loop needs no predicate. A tile that
   would stick out is moved back inside. What it then computes a second time is not stored.

   A launch has as many blocks as fit at once, each with tile after tile. Tiles are numbered band by
   band, a band being BAND = 4 rows of tiles, and downwards in it. So blocks at work at a time share
   rows of A and columns of B in L2. Tiles rarely come out even: with 576 tiles and 264 blocks, the
   third wave would have 48. So the first tiles (here 264 + 48) are split along k: their steps, laid
   end to end, are divided into equal shares ("stream-K": M. Osama et al., "Stream-K: work-centric
   parallel decomposition for dense matrix-matrix multiplication on the GPU", 2023):
      tile     |    0     |    1     |    2     |     three tiles, four blocks: each 3/4 of a tile
      block    |   3   |   2   |   1   |   0   |
   The block with the first steps of a tile owns it. The others leave their sums as partial tiles,
   which the owner adds in ascending k. The last block has the first share, for a block may wait
   only for blocks that were started before it. Where all blocks can be at work with each tile in a
   few equal slices of k, it has that many: they are ready at the same time. Where there would be many
   (few tiles, long K), all become partial tiles, and KERNEL REDUCE adds them.

   Integers: multiply-adds run at half rate, so one warp nearly keeps a scheduler busy. Blocks then
   drift apart: one finishes early and leaves the others with too few warps to hide latency (seen;
   the cause is a guess). So from two waves on a whole tile has a block of its own, which begins
   when another has left. Only the last blocks, as many as fit at once, have shares (of 1000 tiles:
   396 blocks a tile each, 396 the others).

   From sm_90 on, few tiles are divided among clusters instead, of 2, 4 or 8 blocks. Each block has
   an equal slice of one tile. At the end it gets a part of the tile from all others, through shared
   memory, adds it up in ascending k and stores it. No memory, no flag, no second launch:
      sums of      block 0        block 1        block 2           were it three
      part 0       added up  <--  sent      <--  sent
      part 1       sent      -->  added up  <--  sent
      part 2       sent      -->  sent      -->  added up

   Global loads: (1 / 128 + 1 / 128) M N K elements, 32 FLOP per byte in float. Shared loads:
   16 + 8 elements for 128 multiply-adds, 2.7 FLOP per byte. What bounds it: issue. On sm_90a
   a step has 1024 multiply-adds and 88 (TN) or 108 (NN) other instructions; see
   bench/notes/pipelined.md.

   The kernel has more than 200 lines, since the order of its loop depends on all of its code: with
   1,134 instructions in the loop of NN for 1,132, 1024 x 1024 x 1024 took 56 to 60 us for 53.5 (one
   NVIDIA H200).

   modeA and modeB say how a tile is copied; 128 threads, so many elements each and pass:
     ALONG_K      neighbours in k are neighbours in memory: 8 threads along k, 16 lines
     ALONG_LINES  neighbouring lines (rows of A, columns of B) are: 128 threads along the lines
     VECTORS      the same with 16 bytes a thread, where addresses and sizes are multiples of 16 */

/* Copies what this thread has to copy of one step's tile of an operand, `lines` rows of A or
   columns of B, to shared memory. `to`, `from`: its first element there and here; the elements of
   its next passes lie `stride` bytes further. With `unpredicated`, everything if valid, else zeros.
   Otherwise the lines from lines_left on and the depths from depth_left on (both counted from
   this thread's first element) are filled with zeros. `mode`, `lines` and `unpredicated` are
   constants wherever speed matters. */
static __device__ __forceinline__ void TMM_FN(copy_tile)(TMM_TYPE *to, const char *from,
                                                         unsigned stride, int mode, int lines,
                                                         bool unpredicated, bool valid,
                                                         int lines_left, int depth_left)
{
    enum { THREADS = 128, DEPTH = 8, SIZE = sizeof(TMM_TYPE), VECTOR = 16 / SIZE };
    int pitch = lines + 4;
    if (mode == TMM__VECTORS) {
        int deeper = THREADS * VECTOR / lines; /* a pass advances by so many k */
#pragma unroll
        for (int i = 0; i < DEPTH / deeper; i++)
            tmm__copy_async(to + i * deeper * pitch, from + (unsigned long long)stride * i, 16,
                            unpredicated ? valid : i * deeper < depth_left && lines_left > 0);
        return;
    }
#pragma unroll
    for (int i = 0; i < DEPTH * lines / THREADS; i++) {
        int k = mode == TMM__ALONG_K ? 0 : i * THREADS / lines;
        int line = mode == TMM__ALONG_K ? i * (THREADS / DEPTH) : i * THREADS % lines;
        const char *element = from + (unsigned long long)stride * (mode == TMM__ALONG_K ? i : k) +
                              (mode == TMM__ALONG_K ? 0 : line * SIZE);
        bool inside = unpredicated ? valid : k < depth_left && line < lines_left;
        if (SIZE % 4 == 0)
            tmm__copy_async(to + k * pitch + line, element, SIZE, inside);
        else
            to[k * pitch + line] = inside ? *(const TMM_TYPE *)element : (TMM_TYPE)0;
    }
}

/* The same for instance ANY, where the mode is known at run time only: copies what this thread has
   to of a unit of 64 lines and 8 k, that is 4 single elements 16 lines apart, or vectors. `stride`:
   the distance of 16 lines in bytes. With `unpredicated`, everything. Otherwise lines from
   lines_left on, or all if not valid, are filled with zeros, in a loop, for that is rare. */
static __device__ __forceinline__ void TMM_FN(copy_unit)(TMM_TYPE *to, const char *from,
                                                         unsigned stride, int mode,
                                                         bool unpredicated, int lines_left,
                                                         bool valid)
{
    enum { SIZE = sizeof(TMM_TYPE), WIDE_PASSES = SIZE < 8 ? 1 : 2 };
    if (unpredicated && mode == TMM__VECTORS) {
#pragma unroll
        for (int i = 0; i < WIDE_PASSES; i++)
            tmm__copy_async(to + i * 32, from + (unsigned long long)stride * (2 * i), 16, true);
    } else if (unpredicated) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const char *element = from + (unsigned long long)stride * i;
            if (SIZE % 4 == 0)
                tmm__copy_async(to + i * 16, element, SIZE, true);
            else
                to[i * 16] = *(const TMM_TYPE *)element;
        }
    } else {
        int lines = mode == TMM__VECTORS ? 64 / WIDE_PASSES : 16;
#pragma unroll 1
        for (int i = 0; i < 64; i += lines) {
            bool inside = valid && i < lines_left;
            if (mode == TMM__VECTORS)
                tmm__copy_async(to + i, from, 16, inside);
            else if (SIZE % 4 == 0)
                tmm__copy_async(to + i, from, SIZE, inside);
            else
                to[i] = inside ? *(const TMM_TYPE *)from : (TMM_TYPE)0;
            from += (unsigned long long)stride * (lines / 16);
        }
    }
}

#endif

/* The instances: pass, name, blocks to a multiprocessor, rows of C that a thread owns, modeA and
   modeB as constants; -1 for instance ANY, which reads them at run time and alone takes matrices
   smaller than a tile. Double has none: KERNEL TENSOR has such a pipeline. */
#ifndef TMM__PIPELINED_LIST
#define TMM__PIPELINED_LIST(_)                                                             \
    _(1, , TMM__ANY_BLOCKS(sizeof(TMM_TYPE)), 8, -1, -1)                                   \
    TMM__IF_FLOAT(_(2, _tn, 2, 16, TMM__VECTORS, TMM__VECTORS)) /* as A^T B, and packed */ \
    TMM__IF_FLOAT(_(3, _nn, 2, 16, TMM__ALONG_K, TMM__VECTORS)) /* as A B */
#define TMM__PIPELINED_BLOCKS (TMM__PIPELINED_LIST(TMM__VALUE_1) 0)
#define TMM__PIPELINED_ROWS   (TMM__PIPELINED_LIST(TMM__VALUE_2) 0)
#define TMM__PIPELINED_MODE_A (TMM__PIPELINED_LIST(TMM__VALUE_3) 0)
#define TMM__PIPELINED_MODE_B (TMM__PIPELINED_LIST(TMM__VALUE_4) 0)
#endif

#ifdef TMM__PASS
#if TMM__FAST && !TMM__IS_DOUBLE && (TMM__PIPELINED_LIST(TMM__IN_PASS) 0)
TMM_KERNEL void __launch_bounds__(128, TMM__PIPELINED_BLOCKS)
    TMM__INSTANCE(gemm_pipelined,
                  PIPELINED)(long long M, long long N, long long K, TMM_TYPE alpha,
                             const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                             long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                             long long csB, long long batchB, TMM_TYPE beta,
                             TMM_TYPE *__restrict__ C, long long ldc, long long batchC, int modeA,
                             int modeB, const tmm__schedule s)
{
#if TMM__BODIES
    enum { ANY = TMM__PIPELINED_MODE_A < 0, TN = TMM__PIPELINED_MODE_A == TMM__VECTORS };
    enum { ROWS = TMM__PIPELINED_ROWS, COLS = 8, VECTORS = ROWS * COLS / 4 }; /* a thread's */
    enum { THREADS = 128, DEPTH = 8, STAGES = 3, SIZE = sizeof(TMM_TYPE), VECTOR = 16 / SIZE };
    enum { UNIT = 64 }; /* lines that are copied together: of A and B, by ANY */
    enum { LINES_A = ANY ? UNIT : 8 * ROWS, LINES_B = ANY ? UNIT : 128 };
    /* 4 more: fewer bank conflicts between copies along k. */
    enum { PITCH_A = LINES_A + 4, PITCH_B = LINES_B + 4 };
    enum { PART = DEPTH * PITCH_A }; /* where those of B begin, and by ANY the third unit */
    enum { STAGE = ANY ? 3 * PART : PART + DEPTH * PITCH_B };
    enum { COPY_AT = TN ? 3 : 0 }; /* the k of a step at which copies start; found by trying */
    /* Rows that are stored at a time, in general and where C is aligned; by TN, that go through
       shared memory. */
    enum { STORED_ROWS = 2, STORED_ROWS_ALIGNED = SIZE < 8 ? 4 : 2, STAGED_ROWS = 4 };
    enum { DATA_PARALLEL = TMM__IS_INTEGER }; /* blocks with a whole tile, then stream-K */
    static_assert(!TN ||
                      STAGED_ROWS * COLS * THREADS * (int)sizeof(TMM_SUM) <= STAGES * STAGE * SIZE,
                  "they have room");
    static_assert(COPY_AT < DEPTH - 1, "by then the stage to be refilled is another one");
    __shared__ __align__(16) TMM_TYPE shared[STAGES * STAGE];
    if (!ANY) {
        modeA = TMM__PIPELINED_MODE_A;
        modeB = TMM__PIPELINED_MODE_B;
    }
    const bool is_128x64 = ANY && s.is_128x64;
    const int TILE_M = ANY && !is_128x64 ? 8 * ROWS : ANY ? 16 * ROWS : 8 * ROWS;
    const int TILE_N = is_128x64 ? 64 : 128;

    int blocks = gridDim.x, streamk_blocks = DATA_PARALLEL ? s.streamk_blocks : blocks;
    long long streamk_steps = (long long)s.streamk_tiles * s.steps;
    bool packed_A = !ANY && TMM__PIPELINED_MODE_A == TMM__VECTORS && s.packed_A;
    bool packed_B = !ANY && TMM__PIPELINED_MODE_A == TMM__VECTORS && s.packed_B;
    int first_depth = (int)(K - (s.steps - 1ll) * DEPTH); /* of the first step: 1 to DEPTH */
#if TMM__CLUSTERS
    if (s.cluster > 0)
        tmm__cluster_arrive(false); /* this block's shared memory may be written to */
#endif

    for (int work = 0;; work++) {
        /* The next of its work: steps `begin` to `end` of a tile. First come those of this
           block's share of the split tiles, steps `start` to `stop` if numbered through all. */
        int share = blocks - 1 - tmm__block(), first = 0, streamk_works = 0, start = 0, stop = 0;
        if (!DATA_PARALLEL || share < streamk_blocks) {
            start = (int)(streamk_steps * share / streamk_blocks);
            stop = (int)(streamk_steps * (share + 1) / streamk_blocks);
        }
        if (start < stop) {
            first = start / s.steps;
            streamk_works = (stop - 1) / s.steps + 1 - first;
        }
        int tile = first + work, begin = 0, end = s.steps;
        if (work < streamk_works) {
            if (begin < start - tile * s.steps) begin = start - tile * s.steps;
            if (end > stop - tile * s.steps) end = stop - tile * s.steps;
        } else {
            tile = s.streamk_tiles + tmm__block() + (work - streamk_works) * blocks;
            if (tile >= s.tiles_down * s.tiles_across) break;
        }
        int down, across;
        TMM_FN(find_tile)(&s, TMM__BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Moved back inside, unless what lies outside may be read. */
        if (row > M - TILE_M && !packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        /* What this thread copies: its first element of a tile of A (kA, lineA) and of B, where
           they go in shared memory, and how far apart those of its passes are in memory. */
        int thread = tmm__thread();
        int acrossA = ANY ? 16 : modeA == TMM__VECTORS ? LINES_A / VECTOR : LINES_A;
        int acrossB = ANY ? 16 : modeB == TMM__VECTORS ? LINES_B / VECTOR : LINES_B;
        int kA = modeA == TMM__ALONG_K ? thread % DEPTH : thread / acrossA;
        int kB = modeB == TMM__ALONG_K ? thread % DEPTH : thread / acrossB;
        int lineA = modeA == TMM__ALONG_K ? thread / DEPTH : thread % acrossA;
        int lineB = modeB == TMM__ALONG_K ? thread / DEPTH : thread % acrossB;
        if (modeA == TMM__VECTORS) lineA *= VECTOR;
        if (modeB == TMM__VECTORS) lineB *= VECTOR;
        int toA = kA * PITCH_A + lineA, toB = PART + kB * PITCH_B + lineB;
        unsigned strideA =
            (unsigned)(SIZE * (ANY || modeA == TMM__ALONG_K ? 16 * rsA
                               : modeA == TMM__VECTORS      ? THREADS * VECTOR / LINES_A * csA
                                                            : csA));
        unsigned strideB =
            (unsigned)(SIZE * (ANY || modeB == TMM__ALONG_K ? 16 * csB
                               : modeB == TMM__VECTORS      ? THREADS * VECTOR / LINES_B * rsB
                                                            : rsB));
        /* The first row and column that this thread owns in a tile; those of ANY in units. */
        int warp = thread / 32, lane = thread % 32;
        int row0 = warp / 2 * (4 * ROWS) + lane / 8 * 4;
        int col0 = PART + warp % 2 * (ANY ? PART : 64) + lane % 8 * 4;
        if (is_128x64) {
            row0 = warp / 2 * (2 * PART) + warp % 2 * (4 * ROWS) + lane / 8 * 4;
            col0 = PART + lane % 8 * 4;
        }
        /* The third unit, of A or B. */
        bool predicated = ANY && (M < TILE_M || N < TILE_N);
        int rows_left = predicated ? (int)(M - row < TILE_M ? M - row : TILE_M) - lineA : TILE_M;
        int cols_left = predicated ? (int)(N - col < TILE_N ? N - col : TILE_N) - lineB : TILE_N;
        int left3 = (is_128x64 ? rows_left : cols_left) - UNIT;
        int to3 = is_128x64 ? 2 * PART + toA : PART + toB;

        TMM_SUM sum[ROWS][COLS];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) sum[i][j] = 0;

        /* Fill all stages but one. */
        long long k = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;
        const char *fromA =
            (const char *)(A + blockIdx.z * batchA + (row + lineA) * rsA + (k + kA) * csA);
        const char *fromB =
            (const char *)(B + blockIdx.z * batchB + (col + lineB) * csB + (k + kB) * rsB);
        const char *from3 = is_128x64 ? fromA + UNIT * rsA * SIZE : fromB + UNIT * csB * SIZE;
        int left = end - begin;
#pragma unroll 1
        for (int stage = 0; stage < STAGES - 1; stage++) {
            int depth = stage == 0 && begin == 0 ? first_depth : DEPTH;
            TMM_TYPE *to = shared + stage * STAGE;
            if (stage < left && ANY) {
                TMM_FN(copy_unit)(to + toA, fromA, strideA, modeA, false, rows_left, kA < depth);
                TMM_FN(copy_unit)(to + toB, fromB, strideB, modeB, false, cols_left, kB < depth);
                TMM_FN(copy_unit)
                (to + to3, from3, is_128x64 ? strideA : strideB, is_128x64 ? modeA : modeB, false,
                 left3, (is_128x64 ? kA : kB) < depth);
            } else if (stage < left) {
                TMM_FN(copy_tile)
                (to + toA, fromA, strideA, modeA, LINES_A, false, true, TILE_M, depth - kA);
                TMM_FN(copy_tile)
                (to + toB, fromB, strideB, modeB, LINES_B, false, true, TILE_N, depth - kB);
            }
            fromA += depth * csA * SIZE;
            fromB += depth * rsB * SIZE;
            from3 += depth * (is_128x64 ? csA : rsB) * SIZE;
            tmm__copy_commit();
        }
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();

        if (TN) { /* or the compiler computes both anew in each step */
            TMM__HIDE(strideA);
            TMM__HIDE(strideB);
        }
        TMM_FN(elements4) a[2][ROWS / 4], b[2][COLS / 4];
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int q = 0; q < ROWS / 4; q++)
            a[0][q] = *(const TMM_FN(elements4) *)(shared + row0 + 16 * q);
#pragma unroll
        for (int q = 0; q < COLS / 4; q++)
            b[0][q] = *(const TMM_FN(elements4) *)(shared + col0 + 32 * q);
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
                    b[then][q] = *(const TMM_FN(elements4) *)(shared + read + next * PITCH_B +
                                                              col0 + 32 * q);
#pragma unroll
                for (int q = 0; q < ROWS / 4; q++)
                    a[then][q] = *(const TMM_FN(elements4) *)(shared + read + next * PITCH_A +
                                                              row0 + 16 * q);
                if (k == COPY_AT) { /* everyone has left the stage before this one: refill it */
                    TMM_TYPE *to = shared + (read == 0 ? (STAGES - 1) * STAGE : read - STAGE);
                    bool more = left >= STAGES;
                    if (!ANY) {
                        TMM_FN(copy_tile)
                        (to + toA, fromA, strideA, modeA, LINES_A, true, more, 0, 0);
                        TMM_FN(copy_tile)
                        (to + toB, fromB, strideB, modeB, LINES_B, true, more, 0, 0);
                    } else if (more) {
                        TMM_FN(copy_unit)
                        (to + toA, fromA, strideA, modeA, !predicated, rows_left, true);
                        TMM_FN(copy_unit)
                        (to + toB, fromB, strideB, modeB, !predicated, cols_left, true);
                        TMM_FN(copy_unit)
                        (to + to3, from3, is_128x64 ? strideA : strideB, is_128x64 ? modeA : modeB,
                         !predicated, left3, true);
                    }
                    fromA += DEPTH * csA * SIZE;
                    fromB += DEPTH * rsB * SIZE;
                    from3 += DEPTH * (is_128x64 ? csA : rsB) * SIZE;
                    tmm__copy_commit();
                }
                /* Back and forth along the rows: of two multiply-adds in a row, the second finds
                   one operand where the first has read it. */
#pragma unroll
                for (int i = 0; i < ROWS; i++)
#pragma unroll
                    for (int jj = 0; jj < COLS; jj++) {
                        int j = i % 2 ? COLS - 1 - jj : jj;
                        TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)a[now][i / 4].v[i % 4],
                                          (TMM_SUM)b[now][j / 4].v[j % 4]);
                    }
            }
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the copies of the next work may begin */

        thread = tmm__thread();
        share = blocks - 1 - tmm__block();
#if TMM__CLUSTERS
        if (s.cluster > 0) { /* a block gets a part of all slices, adds it up and stores it */
            /* [slice][vector][thread] */
            extern __shared__ __align__(16) unsigned char tmm__cluster_sums[];
            TMM_FN(sums4) *all = (TMM_FN(sums4) *)tmm__cluster_sums + thread;
            int part = VECTORS / s.cluster, rank = share % s.cluster, left = 0, other = 0;
            unsigned to = 0;
            static_assert(VECTORS % TMM__MOST_CLUSTER == 0, "clusters are a power of 2");
            tmm__cluster_wait();
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                const TMM_SUM *v = &sum[q / 2][q % 2 * 4];
                if (q % (VECTORS / TMM__MOST_CLUSTER) == 0 && left == 0) {
                    /* On to the block that has slice number `other`. */
                    to = tmm__map_shared(all + rank * part * THREADS, s.cluster - 1 - other);
                    left = part;
                    other++;
                }
                TMM_FN(sums4) swapped = {{v[1], v[0], v[3], v[2]}}; /* why: see below */
#pragma unroll
                for (int i = 0; i < (int)sizeof swapped; i += 16)
                    tmm__store_shared_cluster(to + i, (const char *)&swapped + i);
                to += THREADS * sizeof swapped;
                left--;
            }
            tmm__cluster_arrive(true);
            tmm__cluster_wait();
#pragma unroll 1
            for (int n = 0; n < part; n++) {
                TMM_FN(sums4) total = all[n * THREADS];
                for (int p = 1; p < s.cluster; p++) {
                    TMM_FN(sums4) more = all[(p * part + n) * THREADS];
#pragma unroll
                    for (int i = 0; i < 4; i++) total.v[i] += more.v[i];
                }
                TMM_FN(store_sums)
                (M, N, alpha, beta, C, ldc, &s, ROWS, is_128x64 ? 4 : 2, tile, thread,
                 rank * part + n, &total);
            }
            return;
        }
#endif
        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            TMM_FN(sums4) *to =
                (TMM_FN(sums4) *)s.partials + (long long)share * (VECTORS * THREADS) + thread;
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                const TMM_SUM *v = &sum[q / 2][q % 2 * 4];
                /* Vector stores tie four sums to four registers in this order. Swapped, a sum never
                   lies in the register bank of the element of B that is multiplied into it. */
                TMM_FN(sums4) swapped = {{v[1], v[0], v[3], v[2]}};
                to[q * THREADS] = swapped;
            }
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) { /* the owner: add what the others have left */
            long long last_step = (tile + 1ll) * s.steps;
            int others = 0;
            while (streamk_steps * (share + 1 + others) / streamk_blocks < last_step) others++;
            for (int other = thread; other < others; other += THREADS)
                tmm__flag_wait(s.flags + share + 1 + other, s.ticket);
            __syncthreads();
            for (int other = share + 1; other <= share + others; other++) {
                const TMM_FN(sums4) *from = (const TMM_FN(sums4) *)s.partials +
                                            (long long)other * (VECTORS * THREADS) + thread;
#pragma unroll
                for (int q = 0; q < VECTORS; q++) {
                    TMM_SUM *v = &sum[q / 2][q % 2 * 4];
                    TMM_FN(sums4) swapped = from[q * THREADS];
                    if (q % 8 == 7) TMM__FENCE(); /* 8 in flight: there are no registers for 32 */
                    v[1] += swapped.v[0];
                    v[0] += swapped.v[1];
                    v[3] += swapped.v[2];
                    v[2] += swapped.v[3];
                }
            }
        }
        /* Computed anew: kept through the loop above, these would cost it registers. */
        warp = thread / 32, lane = thread % 32;
        row0 = (is_128x64 ? warp : warp / 2) * (4 * ROWS) + lane / 8 * 4;
        col0 = (is_128x64 ? 0 : warp % 2 * 64) + lane % 8 * 4;
        TMM_FN(find_tile)(&s, TMM__BAND, tile, &down, &across);
        long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
        row = first_row, col = first_col;
        if (row > M - TILE_M && !packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        TMM_TYPE *c0 = C + blockIdx.z * batchC;
        bool aligned = ((size_t)(c0 + col) | ldc * SIZE) % 16 == 0;
        c0 += (row + row0) * ldc + col + col0;
        unsigned mask = 0;
#pragma unroll
        for (int q = 0; q < COLS / 4; q++)
            mask |= tmm__column_mask(col + col0 + 32 * q, 4, first_col, N) << 4 * q;
        long long r = row + row0, c = col + col0;
        if (TN) {
            /* Registers have no index: STAGED_ROWS at a time go to shared memory, each thread's to a
               place of its own, and from there to C by code for one row, which is compiled anew by
               every program that includes this file. The other instances, below, are slower with
               this: on all that follows depends the order that the compiler finds for the loop. */
            bool vector = aligned && N % 4 == 0; /* all four columns are stored, or none */
            TMM_FN(sums4) *own = (TMM_FN(sums4) *)shared + thread;
#pragma unroll 1
            for (int i = 0; i < ROWS; i += STAGED_ROWS) {
#pragma unroll
                for (int from = 0; from < ROWS; from += STAGED_ROWS) {
                    if (from != i) continue;
#pragma unroll
                    for (int q = 0; q < 2 * STAGED_ROWS; q++) {
                        const TMM_SUM *v = &sum[from + q / 2][q % 2 * 4];
                        TMM_FN(sums4)
                        swapped = {{v[1], v[0], v[3], v[2]}}; /* as above */
                        own[q * THREADS] = swapped;
                    }
                }
#pragma unroll 1
                for (int h = 0; h < STAGED_ROWS; h++) {
                    TMM_SUM row_sums[8];
#pragma unroll
                    for (int q = 0; q < 2; q++) {
                        TMM_FN(sums4) swapped = own[(2 * h + q) * THREADS];
#pragma unroll
                        for (int j = 0; j < 4; j++) row_sums[4 * q + j] = swapped.v[j ^ 1];
                    }
                    if (r >= first_row && r < M)
                        TMM_FN(store_row)(c0, r, c, vector, mask, alpha, beta, row_sums);
                    r++, c0 += ldc;
                }
                if ((i + STAGED_ROWS) % 4 == 0) r += 12, c0 += 12 * ldc;
            }
            __syncthreads(); /* the copies of the next work may begin */
            continue;
        }
        /* Some rows after the other, each moved to the place of the first, so that there is code
           for these alone: it is compiled anew by every program that includes this file. */
        if (aligned && N % 4 == 0) { /* all four columns are stored, or none */
#pragma unroll 1
            for (int half = 0; half < 2; half++) {
#pragma unroll
                for (int i = 0; i < ROWS / 2; i += STORED_ROWS_ALIGNED) {
                    int down = half * (2 * ROWS) + i / 4 * 16 + i % 4;
                    TMM_FN(store_rows)
                    (c0 + down * ldc, ldc, r + down, first_row, M, c, true, mask, alpha, beta,
                     &sum[i], STORED_ROWS_ALIGNED);
                }
#pragma unroll
                for (int h = 0; h < ROWS / 2; h++)
#pragma unroll
                    for (int j = 0; j < COLS; j++) sum[h][j] = sum[h + ROWS / 2][j];
            }
            continue;
        }
#pragma unroll 1
        for (int i = 0; i < ROWS; i += STORED_ROWS) {
            int down = i / 4 * 16 + i % 4;
            TMM_FN(store_rows)
            (c0 + down * ldc, ldc, r + down, first_row, M, c, false, mask, alpha, beta, sum,
             STORED_ROWS);
#pragma unroll
            for (int h = 0; h < ROWS - STORED_ROWS; h++)
#pragma unroll
                for (int j = 0; j < COLS; j++) sum[h][j] = sum[h + STORED_ROWS][j];
        }
    }
#endif
}
#endif
#endif
