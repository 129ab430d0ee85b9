/* src/tiledmm/kernels/narrow/kernel.cuh. The kernel for a narrow C: 17 to 128 rows or columns beside
   thousands.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_FLOAT && (TMM__NARROW_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL NARROW ================================================= */
/* For a narrow C. P is the operand of few lines, Q that of many:

        upright   P = op(A), its lines are rows of C       Q = op(B), its lines are columns of C
        turned    P = op(B), its lines are columns of C    Q = op(A), its lines are rows of C

   Few multiply-adds may be wasted on lines that P does not have. So a tile has 24, 32, 48 or 64
   lines of P and 512 or 256 of Q, all by the same code. A thread has 3 or 4 groups of 4 lines of P,
   and twice 4 lines of Q. `down` = 2 or 4 lanes of a warp lie along P, the
   others along Q, and the four warps side by side:

      group 0   +-------+-------+-------+-------+   +-------+-------+-------+-------+   down = 4:
      group 1   | w0    | w1    | w2    | w3    |   | w0    | w1    | w2    | w3    |   64 x 256
      group 2   |       |       |       |       |   |       |       |       |       |   down = 2:
      group 3   +-------+-------+-------+-------+   +-------+-------+-------+-------+   32 x 512
                first fours of all threads          second fours

   In a warp's part of a group, 16 x 32 lines or 8 x 64, a lane has 4 x 4:
      +--+--+--+--+--+--+--+--+      +--+--+--+--+--+--   --+
      | 0| 1| 4| 5| 8| 9|12|13|      | 0| 1| 4| 5| 8|... 29|
      | 2| 3| 6| 7|10|11|14|15|      | 2| 3| 6| 7|10|... 31|
      |16|17| ...             |      +--+--+--+--+--+--   --+
      +--+--+--+--+--+--+--+--+

   Along k as in KERNEL PIPELINED: steps of 8, and STAGES = 3 buffers of shared memory. A row of a
   stage is one k: 64 places for P, 16 a group; and 512 for Q, 256 for the first fours and 256 for
   the second. Each half of a step copies half of the next one but one.
   k is cut into gridDim.y parts, so that every multiprocessor has as many blocks; KERNEL NARROW
   SUM adds them up.

   Copies are of single elements, for any strides; what is contiguous along k is so transposed. By
   16 bytes they were not faster. A tile that sticks out along Q is moved back inside.

   Global loads: (1 / (16 down) + down / 1024) M N K elements, 25.6 FLOP per byte of 64 x 256. Of n
   lines in one tile Q is read once: n / 2 FLOP per byte. Shared loads: 24 elements for 128
   multiply-adds. What bounds it: up to some 30 lines memory, then the issue of multiply-adds, of
   which (lines of P) / (lines of its tiles) are of use. */

#if TMM__BODIES
/* Copies what this thread has of P in half of a step, an element of each of two groups; zeros for
   those from number `valid` on. */
TMM__DEVICE void tmm__narrow_copy_P(TMM_TYPE *to, const char *from, unsigned stride, int valid)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        tmm__copy_async(to + 32 * i, from + (unsigned long long)stride * (unsigned)i, 4, i < valid);
}

/* Copies 8 elements of Q, 16 lines apart; zeros if not valid. */
TMM__DEVICE void tmm__narrow_copy_Q(TMM_TYPE *to, const char *from, unsigned stride, bool valid)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        tmm__copy_async(to + i * 16, from + (unsigned long long)stride * (unsigned)i, 4, valid);
}

/* Multiply-adds of one group, back and forth: see PIPELINED. */
TMM__DEVICE void tmm__narrow_add(TMM_SUM (*sum)[8], tmm__xelements4 p, const tmm__xelements4 *q)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int jj = 0; jj < 8; jj++) {
            int j = i % 2 ? 7 - jj : jj;
            TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)p.v[i], (TMM_SUM)q[j / 4].v[j % 4]);
        }
}

/* Stores a group of a tile to C, or unchanged to the matrix of this part. The group lies in shared
   memory as [line of P][line of Q], neighbours along Q swapped. leftP, leftQ: lines that exist from
   the tile's first one on. Lines of Q before skipQ belong to another tile. A thread walks down rows
   of C, so that the next address takes a few additions. A warp has neighbours in a row. */
TMM__DEVICE void tmm__narrow_store(const TMM_SUM *sums, const tmm__narrow *s, int group,
                                   long long firstP, long long firstQ, int leftP, int leftQ,
                                   int skipQ, long long linesP, long long linesQ, TMM__ALPHA alpha,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, TMM_SUM *partials)
{
    enum { THREADS = TMM__NARROW_THREADS, PITCH = TMM__NARROW_LINES + 4, AT_ONCE = 8 };
    const int down_log2 = s->down_log2, lines = 4 << down_log2, first = group * lines;
    const bool split = gridDim.y > 1, turned = s->turned, reads = !split && (TMM_SUM)beta != 0;
    const long long ld = !split ? ldc : turned ? linesP : linesQ;
    TMM_TYPE *const to = split ? (TMM_TYPE *)partials + blockIdx.y * linesP * linesQ : C;
    const TMM_SUM factor = reads ? (TMM_SUM)beta : (TMM_SUM)0;
    if (split) TMM__FACTOR(alpha) = 1;
    /* Turned: a thread has one line of P and each `step`th of Q. Upright: one line of Q, and all
       of P. */
    const int step = turned ? THREADS / 4 >> down_log2 : 1;
    const int rows = turned ? 2 * TMM__NARROW_LINES >> down_log2 : lines;
    const int next = turned ? step : PITCH; /* in shared memory */
#pragma unroll 1
    for (int n = threadIdx.x; n < (turned ? THREADS : 2 * TMM__NARROW_LINES >> down_log2);
         n += THREADS) {
        const int p = turned ? n & (lines - 1) : 0, q = turned ? n >> (2 + down_log2) : n;
        const bool exists = turned ? first + p < leftP : q < leftQ && q >= skipQ;
        const unsigned least = turned ? skipQ : 0, end = turned ? leftQ : leftP - first;
        const unsigned count = exists && (int)end > (int)least ? end - least : 0;
        unsigned line = (turned ? q : p) - least; /* wraps around before the first one */
        long long row = turned ? firstQ + q : firstP + first;
        const long long col = turned ? firstP + first + p : firstQ + q;
        const TMM_SUM *from = sums + p * PITCH + (q ^ 1);
        TMM_TYPE *at = to + row * ld + col;
#pragma unroll 1
        for (int left = rows; left > 0; left -= AT_ONCE * step) {
            /* All of C is read before any is stored, or each would wait for the one before. */
            TMM_TYPE old[AT_ONCE];
            TMM_TYPE *place = at;
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                old[u] = 0;
                tmm__xload_if(&old[u], place, reads && line + u * step < count);
                place += step * ld;
            }
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                const bool inside = line < count;
                TMM_OUT value = tmm__xvalue(*from, alpha, TMM__MUL(factor, (TMM_SUM)old[u]),
                                            inside && !split, row, col);
                tmm__xstore_if(at, value, inside);
                from += next, line += step, row += step, at += step * ld;
            }
        }
    }
}
#endif

TMM_KERNEL void __launch_bounds__(TMM__NARROW_THREADS, 2)
    tmm__gemm_narrow(long long linesP, long long linesQ, long long K, TMM__ALPHA alpha,
                     const TMM_TYPE *__restrict__ P, long long lineP, long long kP,
                     const TMM_TYPE *__restrict__ Q, long long lineQ, long long kQ, TMM_SCALAR beta,
                     TMM_OUT *__restrict__ C, long long ldc, TMM_SUM *__restrict__ partials,
                     const tmm__narrow s)
{
#if TMM__BODIES
    enum {
        GROUPS = (TMM__NARROW_LIST(TMM__VALUE_1) 0),
        DEPTH = TMM__NARROW_DEPTH,
        HALF = DEPTH / 2,
        STAGES = TMM__STAGES((int)TMM__NARROW_STAGES),
        LINES = TMM__NARROW_LINES,
        COLS = TMM__NARROW_PLACES, /* where those of Q begin in a row */
        PITCH = TMM__NARROW_PITCH,
        STAGE = DEPTH * PITCH,
        COPY_AT = 2, /* in a half: copies of Q, those of P are at 0; found by trying */
        SIZE = sizeof(TMM_TYPE)
    };
    static_assert(16 * (LINES + 4) <= 2 * STAGE, "a group of sums has room in the ring");
    static_assert(GROUPS >= 1 && 16 * GROUPS <= COLS,
                  "TMM__NARROW_LIST: at most 4 groups, of 16 of the TMM__NARROW_PLACES each");
    static_assert(
        (int)TMM__NARROW_THREADS == 128 && COLS == 64 && LINES == 512,
        "TMM__NARROW_THREADS, _PLACES and _LINES must be 128, 64 and 512: a thread copies "
        "and owns a fixed part of them");
    static_assert(16 * DEPTH == (int)TMM__NARROW_THREADS,
                  "TMM__NARROW_DEPTH must be 8: 16 threads copy each of its k");
    static_assert(
        PITCH >= COLS + LINES && PITCH % 4 == 0,
        "TMM__NARROW_PITCH must have room for a row, and be a multiple of 4: fragments are "
        "loaded by 16 bytes");
    static_assert((int)TMM__NARROW_STAGES >= 2 && 2 * STAGE * SIZE <= 49152 &&
                      (int)TMM__NARROW_STAGES * STAGE * SIZE <= 99 * 1024,
                  "TMM__NARROW_STAGES must be 2 at least, and fit into the 99 KB that a block has");
    extern __shared__ __align__(16) unsigned char tmm_memory[];
    TMM_TYPE *const ring = (TMM_TYPE *)tmm_memory;
    const int thread = threadIdx.x, lane = thread % 32;
    const int down_log2 = s.down_log2;
    tmm__let_next_begin();
    /* This block's tile, and its steps: the first step of all is the short one. */
    const int tileP = GROUPS * 4 << down_log2, tileQ = 2 * LINES >> down_log2;
    const long long firstP = (long long)(blockIdx.x % (unsigned)s.tilesP) * tileP;
    long long firstQ = (long long)(blockIdx.x / (unsigned)s.tilesP) * tileQ;
    const int skipQ = firstQ > linesQ - tileQ ? (int)(firstQ + tileQ - linesQ) : 0;
    firstQ -= skipQ;
    const int leftP = linesP - firstP < tileP ? (int)(linesP - firstP) : tileP;
    const int leftQ = linesQ - firstQ < tileQ ? (int)(linesQ - firstQ) : tileQ;
    const int steps = (int)((K + DEPTH - 1) / DEPTH);
    const int begin = (int)((long long)steps * blockIdx.y / gridDim.y);
    int left = (int)((long long)steps * (blockIdx.y + 1) / gridDim.y) - begin;
    const int first_depth = (int)(K - (steps - 1ll) * DEPTH);
    const long long k0 = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;

    /* Copies of P: for each half 4 threads along k and 32 along its places, or the other way round;
       of Q: 8 threads along k and 16 along the lines, and half of all lines for each half. A thread
       copies validP elements of P. From half to half of a step, and to the next step: nextQ
       bytes. */
    const int group = 4 << down_log2; /* lines */
    const int p_k = kP == 1 ? thread % HALF : thread / 32;
    const int place = kP == 1 ? thread / HALF : thread % 32,
              p_line = place / 16 * group + place % 16;
    const int validP = place % 16 < group ? (leftP - p_line + 2 * group - 1) >> (3 + down_log2) : 0;
    const int toP = p_k * PITCH + place;
    unsigned strideP = (unsigned)(2 * group * lineP * SIZE);
    const char *fromP = (const char *)(P + (firstP + p_line) * lineP + (k0 + p_k) * kP);
    const int q_k = kQ == 1 ? thread % DEPTH : thread / 16;
    const int q_line = kQ == 1 ? thread / DEPTH : thread % 16;
    const int toQ = COLS + q_k * PITCH + q_line;
    unsigned strideQ = (unsigned)(16 * lineQ * SIZE);
    const char *fromQ = (const char *)(Q + (firstQ + q_line) * lineQ + (k0 + q_k) * kQ);
    const long long secondQ = 128 * lineQ * SIZE; /* to the second half of 256 lines */
    const long long nextQ = tileQ / 2 * lineQ * SIZE;

    TMM_SUM sum[4 * GROUPS][8];
#pragma unroll
    for (int i = 0; i < 4 * GROUPS; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = 0;

            /* Fill all stages but one. */
#pragma unroll 1
    for (int n = 0; n < 2 * (STAGES - 1); n++) {
        const int half = n % 2, depth = n < 2 && begin == 0 ? first_depth : DEPTH;
        TMM_TYPE *to = ring + n / 2 * STAGE;
        if (n / 2 < left) {
            tmm__narrow_copy_P(to + toP + half * (HALF * PITCH), fromP, strideP,
                               p_k + HALF * half < depth ? validP : 0);
            to += toQ + half * (LINES / 2);
            tmm__narrow_copy_Q(to, fromQ + half * nextQ, strideQ, q_k < depth);
            if (down_log2 == 1)
                tmm__narrow_copy_Q(to + 128, fromQ + half * nextQ + secondQ, strideQ, q_k < depth);
        }
        fromP += (half ? depth - HALF : HALF) * kP * SIZE;
        if (half) {
            fromQ += depth * kQ * SIZE;
            tmm__copy_commit();
        }
    }
    TMM__COPY_WAIT(STAGES - 2);
    __syncthreads();

    /* Where this thread's fragments begin in a row; they are double-buffered, as in PIPELINED. */
    const int across_log2 = 5 - down_log2; /* lanes in squares of 2 x 2: see TMM__LANE_DOWN */
    const int down = down_log2 == 2 ? TMM__LANE_DOWN(lane) : lane >> 1 & 1;
    const int across = (lane >> 2 << 1 & ((1 << across_log2) - 1)) | (lane & 1);
    const int row0 = 4 * down, col0 = COLS + 4 * ((thread / 32 << across_log2) + across);
    tmm__xelements4 a[2][GROUPS], b[2][2];
    int read = 0; /* where the stage that is worked on begins */
#pragma unroll
    for (int g = 0; g < GROUPS; g++) a[0][g] = *(const tmm__xelements4 *)(ring + row0 + 16 * g);
#pragma unroll
    for (int h = 0; h < 2; h++) b[0][h] = *(const tmm__xelements4 *)(ring + col0 + LINES / 2 * h);
    TMM__HIDE(strideP); /* or both are computed anew in each step */
    TMM__HIDE(strideQ);
#pragma unroll 1
    for (; left > 0; left--) {
        const bool more = left >= STAGES;
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            const int now = k % 2, then = 1 - now, next = (k + 1) % DEPTH, half = k / HALF;
            if (next == 0) { /* on to the next stage, which must be complete */
                TMM__COPY_WAIT(STAGES - 2);
                __syncthreads();
                read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
            }
            const TMM_TYPE *row = ring + read + next * PITCH;
#pragma unroll
            for (int h = 0; h < 2; h++)
                b[then][h] = *(const tmm__xelements4 *)(row + col0 + LINES / 2 * h);
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                a[then][g] = *(const tmm__xelements4 *)(row + row0 + 16 * g);
            /* Everyone has left the stage that is filled now. Without branches, or the compiler
               would not mix copies and multiply-adds. */
            TMM_TYPE *const to = ring + (read == 0 ? (STAGES - 1) * STAGE : read - STAGE);
            if (k % HALF == 0) {
                tmm__narrow_copy_P(to + toP + half * (HALF * PITCH), fromP, strideP,
                                   more ? validP : 0);
                fromP += HALF * kP * SIZE;
            }
            if (k % HALF == COPY_AT) {
                tmm__narrow_copy_Q(to + toQ + half * (LINES / 2), fromQ, strideQ, more);
                if (down_log2 == 1)
                    tmm__narrow_copy_Q(to + toQ + half * (LINES / 2) + 128, fromQ + secondQ,
                                       strideQ, more);
                fromQ += half ? DEPTH * kQ * SIZE - nextQ : nextQ;
                if (half) tmm__copy_commit();
            }
#pragma unroll
            for (int g = 0; g < GROUPS; g++) tmm__narrow_add(&sum[4 * g], a[now][g], b[now]);
        }
    }
    TMM__COPY_WAIT(0);

    /* Group by group through shared memory, in the order of C. */
    TMM_SUM *const sums = (TMM_SUM *)ring;
    const int lane_place = row0 * (LINES + 4) + col0 - COLS;
#pragma unroll 1
    for (int g = 0; g < GROUPS; g++) {
        __syncthreads(); /* all have finished with the ring, or with the group before */
#pragma unroll
        for (int from = 0; from < GROUPS; from++) {
            if (from != g) continue;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const TMM_SUM *some = &sum[4 * from + i / 2][i % 2 * 4];
                tmm__xsums4 swapped = {
                    {some[1], some[0], some[3], some[2]}}; /* why: see PIPELINED */
                *(tmm__xsums4 *)&sums[lane_place + i / 2 * (LINES + 4) + i % 2 * (tileQ / 2)] =
                    swapped;
            }
        }
        __syncthreads();
        tmm__narrow_store(sums, &s, g, firstP, firstQ, leftP, leftQ, skipQ, linesP, linesQ, alpha,
                          beta, C, ldc, partials);
    }
#endif
}
#endif
#endif
