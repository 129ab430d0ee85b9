/* src/tiledmm/kernels/tensor.cuh. Doubles on tensor cores.
   Uses: kernels/store.cuh, kernels/streamk.cuh. Used by: kernels/tensor_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST && TMM__IS_DOUBLE
/* ============================== KERNEL TENSOR ================================================= */
/* Doubles on tensor cores, which round by IEEE 754. Each element of C is the same chain of
   multiply-adds, in ascending k, as in the other kernels.

   Tiles of C, and their warps; a warp has 4 x 4, 2 x 4 or 1 x 4 matrices of 16 x 8
   (tmm__mma_double). Of such a matrix a lane owns two neighbours in each of two rows; its four sums
   are c0 c1, c2 c3:
      128 x 128, for large C    64 x 64       a matrix; its lanes, L0 to L31
      +----+----+----+----+    +----+----+    columns  0 1   2 3   4 5   6 7
      | w0 | w1 | w2 | w3 | 32 | w0 | w1 |          0 | L0  | L1  | L2  | L3  | c0
   64 |    |    |    |    |    +----+----+    rows  : |  :  |  :  |  :  |  :  | c1
      |    |    |    |    |    | w2 | w3 |          7 | L28 | L29 | L30 | L31 |
      +----+----+----+----+    +----+----+          8 | L0  | L1  | L2  | L3  | c2
      | w4 | w5 | w6 | w7 |      32   32            : |  :  |  :  |  :  |  :  | c3
      |    |    |    |    |                        15 | L28 | L29 | L30 | L31 |
      |    |    |    |    |    32 x 64, or 64 x 32, for few or narrow tiles
      +----+----+----+----+    +----+----+         +----+
        32   32   32   32      | w0 | w1 | 16      | w0 | 16
                               +----+----+         +----+
                               | w2 | w3 | 16      |  : |
                               +----+----+         | w3 |
                                 32   32           +----+
   On a multiprocessor there is one block of the first, three of the second, and four of the third.
   Only the third's way is known at run time (tall).

   Along k in steps of DEPTH = 16. STAGES = 3 buffers of shared memory, 4 with the smallest tiles,
   form a ring, as in KERNEL PIPELINED. A lane loads its fragments of the next 8 k while it
   multiplies those of these 8. They are 4 DOWN elements of A and 8 of B:
       first 8 k    multiply; load the second 8; copies for the step after the next, one at a time
       second 8     two multiplications; wait for the next step's copies, barrier; multiply on, and
                    load the next step's first 8
   Loads or copies in a burst would stall all warps of a scheduler at the same time.
   If K is not a multiple of DEPTH, the first step is short. With tiles of 32 x 64 the last one is,
   if else all others would begin within sectors of L2, of 32 bytes (short_last). The main loop ends
   before the copies of the short step, and goes on with other predicates.

   A stage holds A, then B, in squares of 16 lines x 16 k (lines: rows of A, columns of B). A square
   has 2 KB: 16 rows of 128 bytes. A row is a line if the operand is contiguous along k, else a k.
   So 128 contiguous bytes of memory stay contiguous, and eight lanes that copy them make one
   request to L2. cp.async makes one for each 128 bytes of shared memory that it writes (counted;
   bench/notes/tensor_double.md). The four chunks of 32 bytes of a row are swizzled:
       along k          row line % 16, chunk k / 4, at place (k / 4) ^ (line % 4)
       along the lines  row k, chunk line % 16 / 4, at place (line % 16 / 4) ^ (k % 4)
   A half-warp loads 4 lines x 4 k of a fragment, which lie in 16 different banks of 8 bytes. The
   next 4 k, or the next 8 lines, differ in some bits of the address, which are xored: along k 32 or
   64, and 1024; along the lines 512 or 1024, and 64.

   Tiles are divided, and their partial tiles added, as in KERNEL PIPELINED; but only large tiles
   are moved back inside; of others the lines that lie outside are not copied. Or
   each block has a whole tile, and only those of a last, short wave are split along k, among the
   last s.streamk_blocks blocks. Bands have 8 rows of tiles: tiles at work
   at a time form about a square.

                                   128 x 128     64 x 64     32 x 64
       global loads, of M N K      1/64          1/32        3/64        elements
         FLOP per byte             16            8           5.3         of L2
       shared loads of a warp      96 x 16       64 x 16     48 x 16     elements a step
         FLOP per byte             5.3           4           2.7
       shared memory               96 KB         48 KB       48 KB       a block
       cycles a step               2048          512         256         of the tensor cores
         measured, one NVIDIA H200 2130          630         405         of a block that is alone
   What bounds it: with large tiles the tensor cores, which take 16 x 8 x 8 multiply-adds in 32
   cycles of a scheduler (96% busy at 4096 x 4096 x 4096). With small tiles L2 bounds it, or, if a
   multiprocessor has only one, how long a copy takes: 2 or 3 steps. Beyond a few ms it is the power
   limit of the device. Before sm_80 there is nothing to gain:
   see tmm__mma_double.

   modeA and modeB are ALONG_K or ALONG_LINES, as the operand is contiguous. A launch needs
   TMM__TENSOR_BYTES of dynamic shared memory. */

/* Where in a square of 16 x 16 doubles element `at` of row `row` lies, in bytes. */
static __device__ __forceinline__ int TMM_FN(square)(int row, int at)
{
    return row * 128 + ((at / 4 ^ row % 4) * 4 + at % 4) * 8;
}

/* Copies `width` elements of an operand's tile, this thread's pass number `pass`. They lie `lines`
   (8, or a multiple of 16) lines from those of the pass before, in memory `stride` bytes. `from`,
   and `stage` + `to`: the place of pass 0. `half`: the bits that 8 lines change. Zeros if not
   valid. */
static __device__ __forceinline__ void TMM_FN(copy_pass)(char *stage, int to, int half,
                                                         const char *from, unsigned stride,
                                                         int width, int lines, int pass, bool valid)
{
    int place = lines == 8 ? (to ^ pass % 2 * half) + pass / 2 * 2048 : to + lines * 128 * pass;
    tmm__copy_async(stage + place, from + (unsigned long long)stride * pass, 8 * width, valid);
}

/* Number `work` of what a block has to do: steps *begin to *end of the tile that is returned. A
   tile beyond the last one ends its work. First comes its share of the stream-K tiles, steps
   `start` to `stop` of all of theirs. Then come whole tiles. The last block has share 0. */
static __device__ __forceinline__ int TMM_FN(find_work)(const tmm__schedule *s, int work, int share,
                                                        int *begin, int *end)
{
    long long streamk_steps = (long long)s->streamk_tiles * s->steps;
    int first = 0, streamk_works = 0, start = 0, stop = 0;
    if (share < s->streamk_blocks) {
        start = (int)(streamk_steps * share / s->streamk_blocks);
        stop = (int)(streamk_steps * (share + 1) / s->streamk_blocks);
    }
    if (start < stop) {
        first = start / s->steps;
        streamk_works = (stop - 1) / s->steps + 1 - first;
    }
    int tile = first + work;
    *begin = 0, *end = s->steps;
    if (work >= streamk_works)
        return s->streamk_tiles + tmm__block() + (work - streamk_works) * (int)gridDim.x;
    if (*begin < start - tile * s->steps) *begin = start - tile * s->steps;
    if (*end > stop - tile * s->steps) *end = stop - tile * s->steps;
    return tile;
}
#endif

/* The instances: pass, name, warps side by side (two are above each other), matrices of 16 x 8 of a
   warp above each other (four are side by side), elements to a copy, blocks to a multiprocessor.
   With 1 its tile can be tall. Tiles of 128 x 64 would gain nothing. */
#ifndef TMM__TENSOR_LIST
#define TMM__TENSOR_LIST(_)   \
    _(1, 128x128, 4, 4, 2, 1) \
    _(2, 64x64, 2, 2, 2, 3)   \
    _(3, any, 2, 2, 1, 3)     \
    _(4, 32x64, 2, 1, 2, 4)
#define TMM__TENSOR_WARPS  (TMM__TENSOR_LIST(TMM__VALUE_1) 0)
#define TMM__TENSOR_DOWN   (TMM__TENSOR_LIST(TMM__VALUE_2) 0)
#define TMM__TENSOR_WIDTH  (TMM__TENSOR_LIST(TMM__VALUE_3) 0)
#define TMM__TENSOR_BLOCKS (TMM__TENSOR_LIST(TMM__VALUE_4) 0)
#endif

#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0)
#define tmm__tensor_copied_k     TMM__INSTANCE(tensor_copied_k_, TENSOR)
#define tmm__tensor_copy         TMM__INSTANCE(tensor_copy_, TENSOR)
#define tmm__tensor_clear        TMM__INSTANCE(tensor_clear_, TENSOR)
#define tmm__tensor_move_up      TMM__INSTANCE(tensor_move_up_, TENSOR)
#define tmm__tensor_leave_sums   TMM__INSTANCE(tensor_leave_sums_, TENSOR)
#define tmm__tensor_add_partials TMM__INSTANCE(tensor_add_partials_, TENSOR)
#define tmm__tensor_store_rows   TMM__INSTANCE(tensor_store_rows_, TENSOR)
#define tmm__tensor_store_lines  TMM__INSTANCE(tensor_store_lines_, TENSOR)
#define tmm__tensor_store_part   TMM__INSTANCE(tensor_store_part_, TENSOR)
#define tmm__tensor_load_A       TMM__INSTANCE(tensor_load_A_, TENSOR)
#define tmm__tensor_load_B       TMM__INSTANCE(tensor_load_B_, TENSOR)
#if TMM__BODIES
/* The k of what a thread copies of each step. */
static __device__ __forceinline__ int tmm__tensor_copied_k(int mode, int thread)
{
    enum { DEPTH = TMM__TENSOR_DEPTH, ALONG = 64 * TMM__TENSOR_WARPS / DEPTH };
    return mode == TMM__ALONG_K ? thread * TMM__TENSOR_WIDTH % DEPTH : thread / ALONG;
}

/* Copies pass `pass` of a thread, of A and then of B: see copy_pass. rows and cols: how many lines
   exist from its first one on. With DOWN == 1 the first 32 lines are of A and the last 32 of B; the
   32 between them are of A if the tile is tall, else of B. */
static __device__ __forceinline__ void tmm__tensor_copy(char *stage, int pass, int toA, int eightA,
                                                        const char *fromA, unsigned strideA,
                                                        int rows, int toB, int eightB,
                                                        const char *fromB, unsigned strideB,
                                                        int cols, bool tall)
{
    enum { WIDTH = TMM__TENSOR_WIDTH, DOWN = TMM__TENSOR_DOWN, ANY = DOWN < 4 };
    enum {
        LINES = 64 * TMM__TENSOR_WARPS / TMM__TENSOR_DEPTH * WIDTH,
        PASSES_A = 32 * DOWN / LINES
    };
    if (pass < PASSES_A) {
        TMM_FN(copy_pass)
        (stage, toA, eightA, fromA, strideA, WIDTH, LINES, pass, LINES * (ANY ? pass : 0) < rows);
    } else if (DOWN == 1 && pass < 2 * PASSES_A) {
        int skip = tall ? PASSES_A : 0;
        const char *from = tall ? fromA + (unsigned long long)strideA * PASSES_A : fromB;
        TMM_FN(copy_pass)
        (stage, (tall ? toA : toB) + skip * LINES * 128, tall ? eightA : eightB, from,
         tall ? strideA : strideB, WIDTH, LINES, pass - PASSES_A,
         LINES * (pass - PASSES_A + skip) < (tall ? rows : cols));
    } else {
        int done = DOWN == 1 ? 2 * PASSES_A : PASSES_A, skip = DOWN == 1 && !tall ? PASSES_A : 0;
        TMM_FN(copy_pass)
        (stage, toB + skip * LINES * 128, eightB, fromB + (unsigned long long)strideB * skip,
         strideB, WIDTH, LINES, pass - done, LINES * (ANY ? pass - done + skip : 0) < cols);
    }
}

static __device__ __forceinline__ void tmm__tensor_clear(double (*sum)[4][4])
{
#pragma unroll
    for (int n = 0; n < 16 * TMM__TENSOR_DOWN; n++) sum[n / 16][n / 4 % 4][n % 4] = 0;
}

/* Moves the sums of each 16 rows to the place of the 16 above. */
static __device__ __forceinline__ void tmm__tensor_move_up(double (*sum)[4][4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
#pragma unroll
    for (int d = 0; d < DOWN - 1; d++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) sum[d][j][e] = sum[d + 1][j][e];
}

/* Leaves a thread's sums of a tile as the partial tile of block `share`. */
static __device__ __forceinline__ void tmm__tensor_leave_sums(const tmm__schedule *s, int share,
                                                              int thread, const double (*sum)[4][4])
{
    enum { WARPS_ACROSS = TMM__TENSOR_WARPS, THREADS = 64 * WARPS_ACROSS };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
    TMM_FN(sums4) *to =
        (TMM_FN(sums4) *)s->partials + (long long)share * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
    for (int q = 0; q < DOWN * ACROSS; q++) {
        const double *four = sum[q / ACROSS][q % ACROSS];
        TMM_FN(sums4) sums = {{four[0], four[1], four[2], four[3]}};
        to[q * THREADS] = sums;
    }
}

/* Waits for the partial tiles that the blocks behind block `share` have left of tile `tile`, and
   adds them in ascending k. */
static __device__ __forceinline__ void tmm__tensor_add_partials(const tmm__schedule *s, int share,
                                                                int tile, int thread,
                                                                double (*sum)[4][4])
{
    enum { WARPS_ACROSS = TMM__TENSOR_WARPS, THREADS = 64 * WARPS_ACROSS };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
    long long last_step = (tile + 1ll) * s->steps;
    long long streamk_steps = (long long)s->streamk_tiles * s->steps;
    int others = 0;
    while (streamk_steps * (share + 1 + others) / s->streamk_blocks < last_step) others++;
    for (int other = thread; other < others; other += THREADS)
        tmm__flag_wait(s->flags + share + 1 + other, s->ticket);
    __syncthreads();
#pragma unroll 1
    for (int other = share + 1; other <= share + others; other++) {
        const TMM_FN(sums4) *from = (const TMM_FN(sums4) *)s->partials +
                                    (long long)other * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
        for (int q = 0; q < DOWN * ACROSS; q++) {
            TMM_FN(sums4) more = from[q * THREADS];
            if (q % 4 == 3) TMM__FENCE(); /* 4 in flight: there are no registers for 16 */
#pragma unroll
            for (int e = 0; e < 4; e++) sum[q / ACROSS][q % ACROSS][e] += more.v[e];
        }
    }
}

#if TMM__TENSOR_WIDTH == 1
/* Stores one of the 16 x 32 parts of a warp, from row `row` and column `col` on, as far as rows lie
   before M and columns before N. C is not aligned to two elements: stores of the neighbours that a
   lane has would touch each sector twice, which holds L2 up. So the part goes through shared memory,
   to `own`, and the warp stores rows of 32. */
static __device__ __forceinline__ void tmm__tensor_store_lines(double *C, long long ldc,
                                                               long long row, long long M,
                                                               long long col, long long N,
                                                               double *own, double alpha,
                                                               double beta, const double (*sum)[4])
{
    enum { ACROSS = 4, ROWS = 16, BLOCK = 4, PITCH = TMM__TENSOR_PITCH };
    const int lane = tmm__thread() % 32;
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            TMM_FN(elements2) two = {{sum[j][2 * h], sum[j][2 * h + 1]}};
            *(TMM_FN(elements2) *)(own + (lane / 4 + 8 * h) * PITCH + lane % 4 * 2 + 8 * j) = two;
        }
    __syncwarp();
    col += lane, own += lane;
    C += row * ldc + col;
    const int left = M - row < ROWS ? (int)(M - row) : ROWS; /* of the 16; none, if negative */
    const int count = col < N ? left : 0;
#pragma unroll 1
    for (int first = 0; first < ROWS; first += BLOCK, own += BLOCK * PITCH) {
        double old[BLOCK];
#pragma unroll
        for (int r = 0; r < BLOCK; r++) {
            old[r] = 0;
            TMM_FN(load_if)
            (&old[r], C + r * ldc, beta != 0 && first + r < count);
        }
#pragma unroll
        for (int r = 0; r < BLOCK; r++, row++, C += ldc) {
            const bool enabled = first + r < count;
            const double before = beta != 0 ? TMM__MUL(beta, old[r]) : 0;
            TMM_FN(store_if)
            (C, TMM_FN(value)(own[r * PITCH], alpha, before, enabled, row, col), enabled);
        }
    }
    __syncwarp();
}
#endif

/* Stores one of the 16 x 32 parts of a warp: a lane has two neighbours of each matrix, in row `row`
   and 8 rows on, as far as these lie from first_row on and before M. mask: see
   tmm__column_mask. */
static __device__ __forceinline__ void tmm__tensor_store_rows(
    double *C, long long ldc, long long row, long long col, long long first_row, long long M,
    bool aligned, unsigned mask, double alpha, double beta, const double (*sum)[4])
{
    enum { ACROSS = 4 };
    TMM_FN(elements2) old[2][ACROSS];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        long long r = row + 8 * h, c = col;
        unsigned row_mask = (TMM_SUM)beta != 0 && r >= first_row && r < M ? mask : 0;
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            old[h][j] = TMM_FN(load2)(C + r * ldc + c + 8 * j, aligned, row_mask >> 2 * j);
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        long long r = row + 8 * h, c = col;
        if (r < first_row || r >= M) continue;
#pragma unroll
        for (int j = 0; j < ACROSS; j++) TMM_FN(store2)
        (C + r * ldc + c + 8 * j, r, c + 8 * j, aligned, mask >> 2 * j, alpha, beta, old[h][j],
         &sum[j][2 * h]);
    }
}

/* The one of these that suits C, where this lane's first element lies in row `row` and column
   `col`. shared: of the block, no longer in use. */
static __device__ __forceinline__ void tmm__tensor_store_part(double *C, long long ldc,
                                                              long long row, long long first_row,
                                                              long long M, long long col,
                                                              long long first_col, long long N,
                                                              char *shared, double alpha,
                                                              double beta, const double (*sum)[4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, SIZE = 8, BYTES = 16 * TMM__TENSOR_PITCH * SIZE };
    const bool aligned = ((size_t)(C + col) | ldc * SIZE) % 16 == 0;
    const int thread = tmm__thread(), lane = thread % 32;
    (void)shared, (void)lane;
#if TMM__TENSOR_WIDTH == 1
    if (!aligned) {
        tmm__tensor_store_lines(C, ldc, row - lane / 4, M, col - lane % 4 * 2, N,
                                (double *)(shared + thread / 32 * BYTES), alpha, beta, sum);
        return;
    }
#endif
    unsigned mask = 0;
#pragma unroll
    for (int j = 0; j < ACROSS; j++)
        mask |= tmm__column_mask(col + 8 * j, 2, DOWN < 4 ? 0 : first_col, N) << 2 * j;
    tmm__tensor_store_rows(C, ldc, row, col, DOWN < 4 ? row : first_row, M, aligned, mask, alpha,
                           beta, sum);
}

/* Loads a lane's fragment of matrix i of A, or j of B, for 8 k, the half-th of a step. `first`:
   where its first element lies in the stage; `four`, `eight`: the bits of 4 k and 8 lines. */
static __device__ __forceinline__ void tmm__tensor_load_A(double *a, const char *stage, int first,
                                                          int half, int i, int four, int eight)
{
    enum { SQUARE = 16 * 8 * TMM__TENSOR_DEPTH };
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            a[2 * q + h] =
                *(const double *)(stage + SQUARE * i + (first ^ (2 * half + q) * four ^ h * eight));
}

static __device__ __forceinline__ void tmm__tensor_load_B(double *b, const char *stage, int first,
                                                          int half, int j, int four, int eight)
{
    enum { SQUARE = 16 * 8 * TMM__TENSOR_DEPTH };
#pragma unroll
    for (int q = 0; q < 2; q++)
        b[q] = *(const double *)(stage + SQUARE * (j / 2) +
                                 (first ^ (2 * half + q) * four ^ j % 2 * eight));
}
#endif

TMM_KERNEL void __launch_bounds__(64 * TMM__TENSOR_WARPS, TMM__TENSOR_BLOCKS)
    TMM__INSTANCE(gemm_tensor_, TENSOR)(long long M, long long N, long long K, double alpha,
                                        const double *__restrict__ A, long long rsA, long long csA,
                                        long long batchA, const double *__restrict__ B,
                                        long long rsB, long long csB, long long batchB, double beta,
                                        double *__restrict__ C, long long ldc, long long batchC,
                                        int modeA, int modeB, const tmm__schedule s, int short_last)
{
#if TMM__BODIES
    enum { THREADS = 64 * TMM__TENSOR_WARPS, SIZE = 8, HALVES = TMM__TENSOR_DEPTH / 8 };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, MATRICES = DOWN * ACROSS }; /* of a warp */
    enum { LINES_M = 32 * DOWN, LINES_N = 32 * TMM__TENSOR_WARPS, ANY = DOWN < 4 };
    enum { DEPTH = TMM__TENSOR_DEPTH, STAGES = TMM__TENSOR_STAGES(LINES_M, LINES_N) };
    const bool tall = DOWN == 1 && s.is_tall; /* 64 x 32, not 32 x 64 */
    const int WARPS_ACROSS = tall ? 1 : TMM__TENSOR_WARPS;
    const int TILE_M = tall ? LINES_N : LINES_M, TILE_N = tall ? LINES_M : LINES_N;
    /* Threads along the lines, lines that a pass copies, and passes of a step. */
    enum { WIDTH = TMM__TENSOR_WIDTH, ALONG = (int)THREADS / DEPTH, LINES = ALONG * WIDTH };
    enum { PASSES = (LINES_M + LINES_N) / LINES };
    /* Copies start after so many multiplications, one by one: from FIRST on, in SLOTS of them. */
    enum { FIRST = DOWN > 1 ? 2 : 0, SLOTS = MATRICES * (HALVES - 1) - (DOWN == 4 ? 4 : FIRST) };
    /* Bytes of 16 lines, of A in a stage, and of a stage. */
    enum { SQUARE = 16 * DEPTH * SIZE, STAGE = (LINES_M + LINES_N) / 16 * SQUARE };
    const int STAGE_A = TILE_M / 16 * SQUARE;
    static_assert((int)STAGES * STAGE == TMM__TENSOR_BYTES(LINES_M, LINES_N), "as is launched");
    extern __shared__ __align__(128) char tmm__tensor_stages[];
    char *shared = tmm__tensor_stages;
#if TMM__DOUBLE_TENSOR
    if (s.unless != NULL && *s.unless != 0) return;
#endif
    enum { ALIGNS = DOWN == 1 };                         /* can the last step be the short one? */
    const int rest = (int)(K - (s.steps - 1ll) * DEPTH); /* of the short step: 1 to DEPTH */
    if (!ALIGNS) short_last = 0;
    /* Bits of `left`: the short step is still to be copied; steps before (no product has so many). */
    enum { STILL = 1 << 30, STEPS = ALIGNS ? STILL - 1 : -1 };

    for (int work = 0;; work++) {
        int share = gridDim.x - 1 - tmm__block(), begin, end;
        int tile = TMM_FN(find_work)(&s, work, share, &begin, &end);
        if (tile >= s.tiles_down * s.tiles_across) break;
        int down, across;
        TMM_FN(find_tile)(&s, TMM__TENSOR_BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Large tiles are moved back inside, unless what lies outside may be read. */
        if (!ANY && row > M - TILE_M && !s.packed_A) row = M - TILE_M;
        if (!ANY && col > N - TILE_N && !s.packed_B) col = N - TILE_N;

        /* What this thread copies: its first element (kA, lineA), where that goes in shared memory,
           and how far apart the elements of its passes are in memory. */
        int thread = tmm__thread(), pair = thread % ALONG * WIDTH, single = thread / ALONG;
        bool along_kA = modeA == TMM__ALONG_K, along_kB = modeB == TMM__ALONG_K;
        int kA = single, lineA = pair, kB = single, lineB = pair;
        if (along_kA) kA = thread * WIDTH % DEPTH, lineA = thread * WIDTH / DEPTH;
        if (along_kB) kB = thread * WIDTH % DEPTH, lineB = thread * WIDTH / DEPTH;
        int toA = along_kA ? TMM_FN(square)(lineA, kA)
                           : TMM_FN(square)(kA, lineA % 16) + lineA / 16 * SQUARE;
        int toB = along_kB ? TMM_FN(square)(lineB, kB)
                           : TMM_FN(square)(kB, lineB % 16) + lineB / 16 * SQUARE;
        toB += STAGE_A;
        /* The bits that 4 k and 8 lines change. */
        int fourA = along_kA ? 32 : 512, fourB = along_kB ? 32 : 512;
        int eightA = along_kA ? 1024 : 64, eightB = along_kB ? 1024 : 64;
        unsigned strideA = (unsigned)((int)LINES * SIZE * rsA);
        unsigned strideB = (unsigned)((int)LINES * SIZE * csB);

        /* Where this lane finds its element of the first fragments. */
        int lane = thread % 32, g = lane / 4, t = lane % 4;
        int firstA = along_kA ? TMM_FN(square)(g, t) : TMM_FN(square)(t, g);
        int firstB = along_kB ? TMM_FN(square)(g, t) : TMM_FN(square)(t, g);
        firstA += thread / 32 / WARPS_ACROSS * ((int)DOWN * SQUARE);
        firstB += thread / 32 % WARPS_ACROSS * (ACROSS / 2 * SQUARE) + STAGE_A;

        /* How many lines of what it copies exist, from its first on. */
        int rows_left = ANY && M - row < TILE_M ? (int)(M - row) - lineA : TILE_M;
        int cols_left = ANY && N - col < TILE_N ? (int)(N - col) - lineB : TILE_N;

        double sum[DOWN][ACROSS][4], a[2][DOWN][4], b[2][ACROSS][2];
        tmm__tensor_clear(sum);

        /* Fill all stages but one. */
        long long k = begin == 0 ? 0 : (short_last ? (int)DEPTH : rest) + (begin - 1ll) * DEPTH;
        const char *fromA =
            (const char *)(A + blockIdx.z * batchA + (row + lineA) * rsA + (k + kA) * csA);
        const char *fromB =
            (const char *)(B + blockIdx.z * batchB + (col + lineB) * csB + (k + kB) * rsB);
        int left = end - begin;
#pragma unroll 1
        for (int stage = 0; stage < STAGES - 1; stage++) {
            bool is_short = short_last ? begin + stage == s.steps - 1 : stage == 0 && begin == 0;
            int depth = is_short ? rest : DEPTH;
            if (stage < left) {
                int rows = kA < depth ? rows_left : 0, cols = kB < depth ? cols_left : 0;
#pragma unroll
                for (int i = 0; i < PASSES; i++)
                    tmm__tensor_copy(shared + stage * STAGE, i, toA, eightA, fromA, strideA, rows,
                                     toB, eightB, fromB, strideB, cols, tall);
            }
            fromA += depth * csA * SIZE;
            fromB += depth * rsB * SIZE;
            tmm__copy_commit();
        }
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            tmm__tensor_load_B(b[0][j], shared + read, firstB, 0, j, fourB, eightB);
#pragma unroll
        for (int i = 0; i < DOWN; i++)
            tmm__tensor_load_A(a[0][i], shared + read, firstA, 0, i, fourA, eightA);
        if (short_last && end == s.steps && left >= STAGES) left += (int)STILL - (int)STAGES;
    steps:
#pragma unroll 1
        for (; (left & STEPS) > 0; left--) {
            /* Everyone has left the stage before this one: refill it. */
            int write = read == 0 ? (STAGES - 1) * STAGE : read - STAGE;
            int rows = left >= STAGES ? rows_left : 0, cols = left >= STAGES ? cols_left : 0;
#pragma unroll
            for (int half = 0; half < HALVES; half++) { /* 8 k */
                const bool last = half == HALVES - 1;
                const int next = last ? 0 : half + 1;
#pragma unroll
                for (int n = 0; n < MATRICES; n++) {
                    int i = n / ACROSS, j = n % ACROSS, slot = half * MATRICES + n;
                    int pair = n - (DOWN == 4 ? 3 : last ? 2 : 1);
                    tmm__mma_double(sum[i][j], a[half % 2][i], b[half % 2][j]);
                    if (last && n == 1) { /* on to the next stage, which must be complete */
                        TMM__COPY_WAIT(STAGES - 2);
                        __syncthreads();
                        read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
                    }
                    if (DOWN < 4) TMM__KEEP_ORDER();
                    if (last && i == 0 ? n == 1 : j == 0)
                        tmm__tensor_load_A(a[next % 2][i], shared + read, firstA, next, i, fourA,
                                           eightA);
                    if (pair == 0 || pair == 1) {
                        tmm__tensor_load_B(b[next % 2][2 * pair], shared + read, firstB, next,
                                           2 * pair, fourB, eightB);
                        tmm__tensor_load_B(b[next % 2][2 * pair + 1], shared + read, firstB, next,
                                           2 * pair + 1, fourB, eightB);
                    }
                    if (DOWN < 4) TMM__KEEP_ORDER();
#pragma unroll
                    for (int pass = 0; pass < PASSES; pass++)
                        if (slot == pass * SLOTS / PASSES + FIRST)
                            tmm__tensor_copy(shared + write, pass, toA, eightA, fromA, strideA,
                                             rows, toB, eightB, fromB, strideB, cols, tall);
                }
                if (half == HALVES - 2) {
                    tmm__copy_commit();
                    fromA += DEPTH * csA * SIZE;
                    fromB += DEPTH * rsB * SIZE;
                }
            }
        }
        if (ALIGNS && left != 0) { /* the next copies are those of the short step */
            left = STAGES, thread = tmm__thread();
            if (tmm__tensor_copied_k(modeA, thread) >= rest) rows_left = 0;
            if (tmm__tensor_copied_k(modeB, thread) >= rest) cols_left = 0;
            goto steps;
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the copies of the next work may begin */
        thread = tmm__thread(), share = gridDim.x - 1 - tmm__block();
#if TMM__TENSOR_BLOCKS > 1 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900)
        /* Found anew: kept through the loop above, these would take a register too many. */
        TMM__HIDE(work);
        tile = TMM_FN(find_work)(&s, work, share, &begin, &end);
#endif
        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm__tensor_leave_sums(&s, share, thread, sum);
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) /* the owner: add what the others have left */
            tmm__tensor_add_partials(&s, share, tile, thread, sum);
        lane = thread % 32; /* anew, too */
        int row0 = thread / 32 / WARPS_ACROSS * (16 * DOWN) + lane / 4;
        int col0 = thread / 32 % WARPS_ACROSS * (8 * ACROSS) + lane % 4 * 2;
        TMM_FN(find_tile)(&s, TMM__TENSOR_BAND, tile, &down, &across);
        long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
        row = first_row, col = first_col;
        if (!ANY && row > M - TILE_M && !s.packed_A) row = M - TILE_M;
        if (!ANY && col > N - TILE_N && !s.packed_B) col = N - TILE_N;
        double *c0 = C + blockIdx.z * batchC;
#pragma unroll 1
        for (int i = 0; i < DOWN; i++) {
            /* 16 rows after the other, each moved to the place of the first: registers have
               no index. */
            tmm__tensor_store_part(c0, ldc, row + row0 + 16 * i, first_row, M, col + col0,
                                   first_col, N, shared, alpha, beta, sum[0]);
            tmm__tensor_move_up(sum);
        }
#if TMM__TENSOR_WIDTH == 1
        __syncthreads(); /* the copies of the next work would overwrite what is stored */
#endif
    }
#endif
}
#undef tmm__tensor_copied_k
#undef tmm__tensor_copy
#undef tmm__tensor_clear
#undef tmm__tensor_move_up
#undef tmm__tensor_leave_sums
#undef tmm__tensor_add_partials
#undef tmm__tensor_store_rows
#undef tmm__tensor_store_lines
#undef tmm__tensor_store_part
#undef tmm__tensor_load_A
#undef tmm__tensor_load_B
#endif
#endif
