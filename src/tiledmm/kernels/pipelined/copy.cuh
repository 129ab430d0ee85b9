/* src/tiledmm/kernels/pipelined/copy.cuh. Asynchronous copies of KERNEL PIPELINED to shared memory.
   Uses: sizes.h, once/. Used by: kernel.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__PIPELINES
/* In the functions below `rows`, the rows of C that a thread owns, is a constant: 8 in the instance for
   any operands, 16 in others, which copy vectors alone.

   What a thread copies of A, of B and, of 8 rows, of the third unit, which is of A or of B. */
typedef struct tmm__xpipelined_copies {
    const char *fromA, *fromB, *from3; /* the first element of the next step */
    unsigned strideA, strideB;         /* bytes from one pass to the next */
    int toA, toB, to3;                 /* where the first element goes in a stage */
    int modeA, modeB, kA, kB;          /* kA, kB: the k of that element in a step */
    int rows_left, cols_left, left3;   /* lines that there are from it on */
    bool predicated, is_128x64;        /* C is smaller than a tile; the third unit is of A */
} tmm__xpipelined_copies;

/* Copies what this thread has to copy of a step of one operand, `lines` rows of A or columns of B.
   `to`, `from`: its first element in shared memory and in global memory. The elements of its next
   passes lie `stride` bytes further. With `unpredicated`, everything is copied if valid, else
   filled with zeros. Otherwise k from depth_left on are zeros, counted from the first element.
   `lines` and `unpredicated` are constants. */
TMM__DEVICE void tmm__xcopy_tile(TMM_TYPE *to, const char *from, unsigned stride, int lines,
                                 bool unpredicated, bool valid, int depth_left)
{
    enum { THREADS = TMM__PIPELINED_THREADS, DEPTH = TMM__PIPELINED_DEPTH };
    enum { VECTOR = 16 / sizeof(TMM_TYPE) };
    int pitch = lines + 4, deeper = (int)THREADS * VECTOR / lines; /* k from pass to pass */
#pragma unroll
    for (int i = 0; i < DEPTH / deeper; i++)
        tmm__copy_async(to + i * deeper * pitch, from + (unsigned long long)stride * i, 16,
                        unpredicated ? valid : i * deeper < depth_left);
}

/* The same of 8 rows, where modes are known at run time only, and of a unit of 64 lines. A
   thread copies 4 elements 16 lines apart, or vectors. `stride`: bytes of 16 lines. With
   predicates, lines from lines_left on, or all if not valid, are zeros. That is rare, so it is a
   loop. */
TMM__DEVICE void tmm__xcopy_unit(TMM_TYPE *to, const char *from, unsigned stride, int mode,
                                 bool unpredicated, int lines_left, bool valid)
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

/* Where this thread copies from and to, for a tile from row `row` and column `col` of C and k
   on. */
TMM__DEVICE void tmm__xpipelined_copy_begin(tmm__xpipelined_copies *c, int thread, int modeA,
                                            int modeB, bool is_128x64, long long M, long long N,
                                            const TMM_TYPE *A, long long rsA, long long csA,
                                            const TMM_TYPE *B, long long rsB, long long csB,
                                            long long row, long long col, long long k,
                                            const int rows)
{
    enum { THREADS = TMM__PIPELINED_THREADS, DEPTH = TMM__PIPELINED_DEPTH };
    enum { SIZE = sizeof(TMM_TYPE), VECTOR = 16 / SIZE, UNIT = TMM__PIPELINED_UNIT };
    const bool any = rows == 8;
    const int LINES_A = any ? (int)UNIT : 8 * rows, LINES_B = any ? (int)UNIT : 128;
    const int PITCH_A = LINES_A + 4, PITCH_B = LINES_B + 4, PART = DEPTH * PITCH_A;
    const int TILE_M = is_128x64 ? 16 * rows : 8 * rows, TILE_N = is_128x64 ? 64 : 128;
    c->modeA = modeA, c->modeB = modeB, c->is_128x64 = is_128x64;
    int acrossA = any ? 16 : LINES_A / VECTOR, acrossB = any ? 16 : LINES_B / VECTOR;
    c->kA = modeA == TMM__ALONG_K ? thread % DEPTH : thread / acrossA;
    c->kB = modeB == TMM__ALONG_K ? thread % DEPTH : thread / acrossB;
    int lineA = modeA == TMM__ALONG_K ? thread / DEPTH : thread % acrossA;
    int lineB = modeB == TMM__ALONG_K ? thread / DEPTH : thread % acrossB;
    if (modeA == TMM__VECTORS) lineA *= VECTOR;
    if (modeB == TMM__VECTORS) lineB *= VECTOR;
    c->toA = c->kA * PITCH_A + lineA, c->toB = PART + c->kB * PITCH_B + lineB;
    c->strideA = (unsigned)(SIZE * (any ? 16 * rsA : (int)THREADS * VECTOR / LINES_A * csA));
    c->strideB = (unsigned)(SIZE * (any ? 16 * csB : (int)THREADS * VECTOR / LINES_B * rsB));
    /* The third unit, of A or B. */
    c->predicated = any && (M < TILE_M || N < TILE_N);
    c->rows_left = c->predicated ? (int)(M - row < TILE_M ? M - row : TILE_M) - lineA : TILE_M;
    c->cols_left = c->predicated ? (int)(N - col < TILE_N ? N - col : TILE_N) - lineB : TILE_N;
    c->left3 = (is_128x64 ? c->rows_left : c->cols_left) - UNIT;
    c->to3 = is_128x64 ? 2 * PART + c->toA : PART + c->toB;
    c->fromA = (const char *)(A + (row + lineA) * rsA + (k + c->kA) * csA);
    c->fromB = (const char *)(B + (col + lineB) * csB + (k + c->kB) * rsB);
    c->from3 = is_128x64 ? c->fromA + UNIT * rsA * SIZE : c->fromB + UNIT * csB * SIZE;
}

/* Copies a step of `depth` k with predicates: before the main loop. */
TMM__DEVICE void tmm__xpipelined_copy_first(const tmm__xpipelined_copies *c, TMM_TYPE *to,
                                            int depth, const int rows)
{
    if (rows == 8) {
        tmm__xcopy_unit(to + c->toA, c->fromA, c->strideA, c->modeA, false, c->rows_left,
                        c->kA < depth);
        tmm__xcopy_unit(to + c->toB, c->fromB, c->strideB, c->modeB, false, c->cols_left,
                        c->kB < depth);
        tmm__xcopy_unit(to + c->to3, c->from3, c->is_128x64 ? c->strideA : c->strideB,
                        c->is_128x64 ? c->modeA : c->modeB, false, c->left3,
                        (c->is_128x64 ? c->kA : c->kB) < depth);
    } else {
        tmm__xcopy_tile(to + c->toA, c->fromA, c->strideA, 8 * rows, false, true, depth - c->kA);
        tmm__xcopy_tile(to + c->toB, c->fromB, c->strideB, 128, false, true, depth - c->kB);
    }
}

/* Copies a whole step, or zeros: in the main loop. */
TMM__DEVICE void tmm__xpipelined_copy_next(const tmm__xpipelined_copies *c, TMM_TYPE *to, bool more,
                                           const int rows)
{
    if (rows != 8) {
        tmm__xcopy_tile(to + c->toA, c->fromA, c->strideA, 8 * rows, true, more, 0);
        tmm__xcopy_tile(to + c->toB, c->fromB, c->strideB, 128, true, more, 0);
    } else if (more) {
        tmm__xcopy_unit(to + c->toA, c->fromA, c->strideA, c->modeA, !c->predicated, c->rows_left,
                        true);
        tmm__xcopy_unit(to + c->toB, c->fromB, c->strideB, c->modeB, !c->predicated, c->cols_left,
                        true);
        tmm__xcopy_unit(to + c->to3, c->from3, c->is_128x64 ? c->strideA : c->strideB,
                        c->is_128x64 ? c->modeA : c->modeB, !c->predicated, c->left3, true);
    }
}

/* Moves on by `depth` k. */
TMM__DEVICE void tmm__xpipelined_copy_advance(tmm__xpipelined_copies *c, int depth, long long csA,
                                              long long rsB)
{
    enum { SIZE = sizeof(TMM_TYPE) };
    c->fromA += depth * csA * SIZE;
    c->fromB += depth * rsB * SIZE;
    c->from3 += depth * (c->is_128x64 ? csA : rsB) * SIZE;
}

/* Fills all stages but one. first_depth: the k of the first step; `left`: how many steps there
   are. */
TMM__DEVICE void tmm__xpipelined_fill(tmm__xpipelined_copies *c, TMM_TYPE *shared,
                                      const int stage_size, int left, int first_depth,
                                      long long csA, long long rsB, const int rows)
{
    enum { DEPTH = TMM__PIPELINED_DEPTH, STAGES = TMM__PIPELINED_STAGES };
#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; stage++) {
        int depth = stage == 0 ? first_depth : DEPTH;
        if (stage < left) tmm__xpipelined_copy_first(c, shared + stage * stage_size, depth, rows);
        tmm__xpipelined_copy_advance(c, depth, csA, rsB);
        tmm__copy_commit();
    }
}
#endif
