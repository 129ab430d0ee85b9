/* src/tiledmm/kernels/tensor/tiles.cuh. Doubles on tensor cores.
   Uses: sizes.h, once/. Used by: kernel.cuh, store.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST && TMM__IS_DOUBLE
/* ============================== KERNEL TENSOR ================================================= */
/* Doubles on tensor cores, which round by IEEE 754. Each element of C is the same chain of
   multiply-adds, in ascending k, as in the other kernels.

   Tiles of C, and their warps; a warp has 4 x 4, 3 x 4, 2 x 4 or 1 x 4 matrices of 16 x 8
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
   96 x 128, for one or two rows of tiles that it fits, is as the first, with 48 rows to a warp.
   On a multiprocessor there is one block of the first, three of the second, and four of the third.
   Only the third's way is known at run time (tall).

   Along k in steps of DEPTH = 16. STAGES = 3 buffers of shared memory, 4 with the smallest tiles,
   form a ring, as in KERNEL PIPELINED. While a lane multiplies its fragments of 8 k, it loads
   the fragments of the next 8. They are 4 DOWN elements of A and 8 of B:
       first 8 k    multiply; load the second 8; copies for the step after the next, one at a time
       second 8     two multiplications; wait for the next step's copies, barrier; multiply on, and
                    load the next step's first 8
   Loads or copies in a burst would stall all warps of a scheduler at the same time.
   If K is not a multiple of DEPTH, the first step is short. With tiles of 32 x 64 the last one is,
   if else all others would begin within sectors of L2, of 32 bytes. The main loop ends before the
   copies of the short step, and goes on with other predicates. With 64 x 64 such copies go through
   L1, and so do lines that do not begin with a sector (off_sectors). L1 then keeps the part of a
   sector that the next copy needs.

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

   A block has one tile; with 64 x 64, K up to 256 and many tiles one after the other. It then begins
   the copies of the next one before it stores this one, so that memory is never idle:
       copies         tile 0    tile 1              tile 2
       multiply                 tile 0    tile 1              tile 2
       store                       |  tile 0           |  tile 1
   Then a tile that lies inside C is stored without predicates: with K = 64 as many instructions found
   places as multiplied.

   Tiles are divided, and their partial tiles added, as in KERNEL PIPELINED; but only those of
   128 x 128 are moved back inside; of others the lines outside are not copied. Clusters have 2 to 8
   blocks, and small tiles. Or each block has a whole tile, and only those of a last, short wave are
   split along k, among the last s.streamk_blocks blocks. Bands have 8 rows of tiles: tiles at work
   at a time form about a square.

                                   128 x 128     64 x 64     32 x 64
       global loads, of M N K      1/64          1/32        3/64        elements
         FLOP per byte             16            8           5.3         of L2
       shared loads of a warp      96 x 16       64 x 16     48 x 16     elements a step
         FLOP per byte             5.3           4           2.7
       shared memory               96 KB         48 KB       48 KB       a block
       cycles a step               2048          512         256         of the tensor cores
         measured, one NVIDIA H200 2130          630         405         of a block that is alone
   What bounds it: with large tiles the tensor cores, 96% busy at 4096 x 4096 x 4096. They take
   16 x 8 x 8 multiply-adds in 32 cycles of a scheduler. With small tiles L2 bounds it, or, if a
   multiprocessor has only one, how long a copy takes: 2 or 3 steps. Beyond a few ms it is the power
   limit of the device. Before sm_80 there is nothing to gain: see tmm__mma_double.

   modeA and modeB are ALONG_K or ALONG_LINES, as the operand is contiguous. A launch needs
   TMM__TENSOR_BYTES of dynamic shared memory; a block of a cluster has what it is sent after them. */

/* Where in a square of 16 x 16 doubles element `at` of row `row` lies, in bytes. */
TMM__DEVICE int tmm__xsquare(int row, int at)
{
    return row * 128 + ((at / 4 ^ row % 4) * 4 + at % 4) * 8;
}

/* Copies `width` elements of an operand's tile, this thread's pass number `pass`. They lie `lines`
   (8, or a multiple of 16) lines from those of the pass before, in memory `stride` bytes. `from`,
   and `stage` + `to`: the place of pass 0. `half`: the bits that 8 lines change. Zeros if not
   valid. near: see tmm__copy_near; negative, if this instance does not ask. */
TMM__DEVICE void tmm__xcopy_pass(char *stage, int to, int half, const char *from, unsigned stride,
                                 int width, int lines, int pass, bool valid, int near)
{
    int place = lines == 8 ? (to ^ pass % 2 * half) + pass / 2 * 2048 : to + lines * 128 * pass;
    from += (unsigned long long)stride * pass;
    if (near < 0)
        tmm__copy_async(stage + place, from, 8 * width, valid);
    else
        tmm__copy_near(stage + place, from, valid ? 16 : 0, near);
}

/* What a thread copies and reads of any tile. */
typedef struct tmm__xtensor_lane {
    int kA, lineA, kB, lineB;         /* its first element of A, and of B, */
    int toA, toB;                     /* and where that goes in a stage */
    int fourA, fourB, eightA, eightB; /* the bits of an address that 4 k and 8 lines change */
    int firstA, firstB;               /* where its element of the first fragments lies */
} tmm__xtensor_lane;

/* Number `work` of what a block has to do: steps *begin to *end of the tile that is returned. A
   tile beyond the last one ends its work. First comes its share of the stream-K tiles, steps
   `start` to `stop` of all of theirs. Then come whole tiles. The last block has share 0. */
TMM__DEVICE int tmm__xfind_work(const tmm__schedule *s, int work, int share, int *begin, int *end)
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

#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0)
#if TMM__BODIES
/* The k of what a thread copies of each step. */
TMM__DEVICE int tmm__tensor_copied_k(int mode, int thread)
{
    enum { DEPTH = TMM__TENSOR_DEPTH, ALONG = 64 * TMM__TENSOR_WARPS / DEPTH };
    return mode == TMM__ALONG_K ? thread * TMM__TENSOR_WIDTH % DEPTH : thread / ALONG;
}

/* Copies pass `pass` of a thread, of A and then of B: see copy_pass. rows and cols: how many lines
   exist from its first one on. If DOWN is 1, the first 32 lines are of A and the last 32 of B. The
   32 between are of A in a tall tile, else of B. */
TMM__DEVICE void tmm__tensor_copy(char *stage, int pass, int toA, int eightA, const char *fromA,
                                  unsigned strideA, int rows, int toB, int eightB,
                                  const char *fromB, unsigned strideB, int cols, bool tall,
                                  int near)
{
    enum { WIDTH = TMM__TENSOR_WIDTH, DOWN = TMM__TENSOR_DOWN, ANY = DOWN < 4 };
    enum {
        LINES = 64 * TMM__TENSOR_WARPS / TMM__TENSOR_DEPTH * WIDTH,
        PASSES_A = 32 * DOWN / LINES
    };
    if (pass < PASSES_A) {
        tmm__xcopy_pass(stage, toA, eightA, fromA, strideA, WIDTH, LINES, pass,
                        LINES * (ANY ? pass : 0) < rows, near);
    } else if (DOWN == 1 && pass < 2 * PASSES_A) {
        int skip = tall ? PASSES_A : 0;
        const char *from = tall ? fromA + (unsigned long long)strideA * PASSES_A : fromB;
        tmm__xcopy_pass(stage, (tall ? toA : toB) + skip * LINES * 128, tall ? eightA : eightB,
                        from, tall ? strideA : strideB, WIDTH, LINES, pass - PASSES_A,
                        LINES * (pass - PASSES_A + skip) < (tall ? rows : cols), near);
    } else {
        int done = DOWN == 1 ? 2 * PASSES_A : PASSES_A, skip = DOWN == 1 && !tall ? PASSES_A : 0;
        tmm__xcopy_pass(stage, toB + skip * LINES * 128, eightB,
                        fromB + (unsigned long long)strideB * skip, strideB, WIDTH, LINES,
                        pass - done, LINES * (ANY ? pass - done + skip : 0) < cols, near);
    }
}

TMM__DEVICE tmm__xtensor_lane tmm__tensor_find_lane(int thread, bool along_kA, bool along_kB,
                                                    int warps_across, int stage_A)
{
    enum { DEPTH = TMM__TENSOR_DEPTH, ALONG = 64 * TMM__TENSOR_WARPS / DEPTH, ACROSS = 4 };
    enum { WIDTH = TMM__TENSOR_WIDTH, SQUARE = 16 * DEPTH * 8 };
    const int pair = thread % ALONG * WIDTH, single = thread / ALONG;
    const int lane = thread % 32, g = lane / 4, t = lane % 4, warp = thread / 32;
    tmm__xtensor_lane at;
    at.kA = along_kA ? thread * WIDTH % DEPTH : single;
    at.kB = along_kB ? thread * WIDTH % DEPTH : single;
    at.lineA = along_kA ? thread * WIDTH / DEPTH : pair;
    at.lineB = along_kB ? thread * WIDTH / DEPTH : pair;
    at.toA = along_kA ? tmm__xsquare(at.lineA, at.kA)
                      : tmm__xsquare(at.kA, at.lineA % 16) + at.lineA / 16 * SQUARE;
    at.toB = along_kB ? tmm__xsquare(at.lineB, at.kB)
                      : tmm__xsquare(at.kB, at.lineB % 16) + at.lineB / 16 * SQUARE;
    at.toB += stage_A;
    at.fourA = along_kA ? 32 : 512, at.fourB = along_kB ? 32 : 512;
    at.eightA = along_kA ? 1024 : 64, at.eightB = along_kB ? 1024 : 64;
    at.firstA = along_kA ? tmm__xsquare(g, t) : tmm__xsquare(t, g);
    at.firstB = along_kB ? tmm__xsquare(g, t) : tmm__xsquare(t, g);
    at.firstA += warp / warps_across * (TMM__TENSOR_DOWN * SQUARE);
    at.firstB += warp % warps_across * (ACROSS / 2 * SQUARE) + stage_A;
    return at;
}

TMM__DEVICE void tmm__tensor_clear(double (*sum)[4][4])
{
#pragma unroll
    for (int n = 0; n < 16 * TMM__TENSOR_DOWN; n++) sum[n / 16][n / 4 % 4][n % 4] = 0;
}

/* Moves the sums of each 16 rows to the place of the 16 above. */
TMM__DEVICE void tmm__tensor_move_up(double (*sum)[4][4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
#pragma unroll
    for (int d = 0; d < DOWN - 1; d++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) sum[d][j][e] = sum[d + 1][j][e];
}

/* Loads a lane's fragment of matrix i of A, or j of B, for 8 k, the half-th of a step. `first`:
   where its first element lies in the stage; `four`, `eight`: the bits of 4 k and 8 lines. */
TMM__DEVICE void tmm__tensor_load_A(double *a, const char *stage, int first, int half, int i,
                                    int four, int eight)
{
    enum { SQUARE = 16 * 8 * TMM__TENSOR_DEPTH };
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            a[2 * q + h] =
                *(const double *)(stage + SQUARE * i + (first ^ (2 * half + q) * four ^ h * eight));
}

TMM__DEVICE void tmm__tensor_load_B(double *b, const char *stage, int first, int half, int j,
                                    int four, int eight)
{
    enum { SQUARE = 16 * 8 * TMM__TENSOR_DEPTH };
#pragma unroll
    for (int q = 0; q < 2; q++)
        b[q] = *(const double *)(stage + SQUARE * (j / 2) +
                                 (first ^ (2 * half + q) * four ^ j % 2 * eight));
}
#endif
#endif
#endif
