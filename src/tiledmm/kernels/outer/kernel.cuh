/* src/tiledmm/kernels/outer/kernel.cuh. The kernel for a short K: C as a sum of few outer products.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && (TMM__OUTER_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL OUTER ================================================== */
/* For a short K: writing C is most of the work. A block copies all k of its rows of A and columns
   of B at once and waits once. Each thread adds up K outer products of 8 or 4 rows and 4 columns:

                                       B  K x N   (narrow: 4 x 8 columns)
                             lane: 0 1 .. 31  0 1 .. 31  0 1 .. 31  0 1 .. 31
                                  +----------+----------+----------+----------+
                                  |          |          |          |          | k
                                  +----------+----------+----------+----------+
        A  M x K      warp 0 +-+  |                                           |
                             | |  |  8 rows (narrow: 4 times 4) of 128        |
                             +-+  |  columns, 32 columns apart for a thread   |
                      warp 1 +-+  +-------------------------------------------+
                             | |  |  ...                                      |
                             +-+  +-------------------------------------------+
                              k     1 to 8 warps, as M and the device need

   Neighbouring lanes have neighbouring columns, so that stores to C are coalesced whatever the
   alignment. Operands that are contiguous along k are transposed on their way to shared memory.
   Up to TMM__OUTER_DIRECT k are read straight from L1: shared memory would only add its wait.

   Global memory: M N elements written. L2: M N K (1 / rows + 1 / columns of a block) read. Shared
   memory, a warp and k: 4 reads of B, 1 or 2 of A, which all lanes share, for 32 or 16
   multiply-adds a lane. Arithmetic intensity: 2 K FLOP for each element of C. What bounds it: the
   writing of C for K below some 30, then multiply-adds. For a small C it is latency: of a launch, a
   round of copies and the stores. */
enum {
    tmm__outer_warp_rows = TMM__OUTER_ROWS * (32 / TMM__OUTER_ACROSS),
    tmm__outer_cols = TMM__OUTER_COLS * TMM__OUTER_ACROSS,
    tmm__outer_lda = TMM__OUTER_WARPS * tmm__outer_warp_rows + 4, /* 4 more: see REGISTER */
    /* Twice 32 columns at least: see tmm__outer_copy. */
    tmm__outer_ldb = (tmm__outer_cols < 64 ? 64 : tmm__outer_cols) + 4,
    /* Of shared memory for a k. */
    tmm__outer_bytes = (tmm__outer_lda + tmm__outer_ldb) * (int)sizeof(TMM_TYPE)
};

#if TMM__BODIES
/* A block copies `lines` rows of A or columns of B by `depth` k to panel[k][line], with rows of ld;
   x is the first element. lines_left and k_left say what exists; zeros take the place of the rest.
   Two lines and two k at a time are copied without a branch between them: a copy waits for the
   instructions of the one before. Vectors go through L1: all blocks ask for the few lines of a thin
   operand at once. `depth` is a multiple of 16, and B has room for it. */
TMM__DEVICE void tmm__outer_copy(TMM_TYPE *panel, int ld, int lines, const TMM_TYPE *x,
                                 long long line_stride, long long k_stride, int lines_left,
                                 int k_left, int depth)
{
    enum { WIDE = TMM__WIDE, SIZE = sizeof(TMM_TYPE) };
    const unsigned thread = threadIdx.x, threads = blockDim.x;
    if (line_stride != 1) { /* 8 lanes along k, 4 below each other */
        const int step = (int)(threads / 8);
        const long long stride = step * line_stride;
        int line = (int)(thread / 8);
        x += line * line_stride + thread % 8;
        panel += thread % 8 * ld + line;
        k_left -= thread % 8;
        lines_left -= line;
#pragma unroll 1
        for (; line < lines; line += 2 * step) {
#pragma unroll 1
            for (int k = 0; k < depth; k += 16)
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    const int at = k + q % 2 * 8;
                    tmm__xcopy_one(&panel[at * ld + q / 2 * step], x + q / 2 * stride + at,
                                   q / 2 * step < lines_left && at < k_left);
                }
            x += 2 * stride;
            panel += 2 * step;
            lines_left -= 2 * step;
        }
        return;
    }
    /* Single elements where copies are not asynchronous: vectors would take too many registers. */
    const bool vector = TMM__STAGES(3) > 2 && lines_left % WIDE == 0 &&
                        ((size_t)x | k_stride * SIZE) % (WIDE * SIZE) == 0;
    /* Lanes lie side by side along the lines: 32, or as many as there are vectors. */
    const int across = vector ? lines / WIDE : 32, across_log2 = 31 - __clz(across);
    const int step = (int)(threads >> across_log2), side = (int)(thread & (across - 1));
    int k = (int)(thread >> across_log2);
    x += k * k_stride;
    panel += k * ld;
    k_left -= k;
    if (vector) {
        const bool exists = side * WIDE < lines_left;
        x += side * WIDE;
        panel += side * WIDE;
#pragma unroll 1
        for (; k < depth; k += step) {
            if (WIDE * SIZE == 16)
                tmm__copy_near(panel, x, exists && k_left > 0 ? 16 : 0, true);
            else
                tmm__copy_async(panel, x, WIDE * SIZE, exists && k_left > 0);
            x += step * k_stride;
            panel += step * ld;
            k_left -= step;
        }
        return;
    }
    x += side;
    panel += side;
    lines_left -= side;
#pragma unroll 1
    for (; k < depth; k += 2 * step) {
#pragma unroll 1
        for (int line = 0; line < lines; line += 32)
#pragma unroll
            for (int q = 0; q < 2; q++)
                tmm__xcopy_one(&panel[q * step * ld + line], x + q * step * k_stride + line,
                               line < lines_left && q * step < k_left);
        x += 2 * step * k_stride;
        panel += 2 * step * ld;
        k_left -= 2 * step;
    }
}
#endif

TMM_KERNEL void __launch_bounds__(32 * TMM__OUTER_WARPS)
    tmm__gemm_outer(long long M, long long N, long long K, TMM__ALPHA alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                    int depth)
{
#if TMM__BODIES
    enum { ROWS = TMM__OUTER_ROWS, ACROSS = TMM__OUTER_ACROSS, COLS = TMM__OUTER_COLS };
    enum {
        LDA = tmm__outer_lda,
        LDB = tmm__outer_ldb,
        TILE_COLS = tmm__outer_cols,
        UNROLL = 2,     /* k at a time */
        STORED_ROWS = 2 /* at a time */
    };
    enum { WARPS = TMM__OUTER_WARPS, STEP = TMM__OUTER_STEP };
    static_assert(ACROSS >= 1 && 32 % ACROSS == 0 && ROWS % 4 == 0 && (ROWS & (ROWS - 1)) == 0 &&
                      tmm__outer_warp_rows >= 8 && tmm__outer_warp_rows <= 64,
                  "TMM__OUTER_LIST: lanes must be a power of two up to 32, rows one from 4 on, and "
                  "rows 32 / lanes 8 to 64: the threads of a block share copies by powers of two");
    static_assert(
        ((int)COLS == 2 || (int)COLS == 4 || (int)COLS == 8) && (int)TILE_COLS >= 4 &&
            (int)ROWS * COLS <= 64,
        "TMM__OUTER_COLS must be 2, 4 or 8, and a thread of TMM__OUTER_LIST have 64 sums at "
        "most");
    static_assert((int)WARPS == 4 || (int)WARPS == 8,
                  "TMM__OUTER_WARPS must be 4 or 8: plans begin with 4, the copies end with 8");
    static_assert(
        (int)STEP % 16 == 0 && (int)STEP >= 16 &&
            (int)STEP * (LDA + LDB) * (int)sizeof(TMM_TYPE) <= 49152,
        "TMM__OUTER_STEP must be a multiple of 16, of which copies come together, and fit "
        "into the 48 KB that every block has");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    const int tile_rows = (int)(blockDim.x / 32) * tmm__outer_warp_rows;
    long long row = (long long)blockIdx.y * tile_rows;
    long long col = (long long)blockIdx.x * TILE_COLS;
    A += blockIdx.z * batchA + row * rsA;
    B += blockIdx.z * batchB + col * csB;
    int rows_left = M - row < tile_rows ? (int)(M - row) : tile_rows;
    int cols_left = N - col < TILE_COLS ? (int)(N - col) : (int)TILE_COLS;
    const int my_row = (int)(threadIdx.x / ACROSS) * ROWS, my_col = threadIdx.x % ACROSS;

    TMM_SUM sum[ROWS][COLS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++) sum[i][j] = 0;

    int left = (int)K;
    if (depth == 0) { /* straight from L1 */
        A += my_row * rsA;
        B += my_col * csB;
#pragma unroll 1
        do {
            TMM_TYPE a[ROWS], b[COLS];
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                b[j] = 0;
                tmm__load_if(&b[j], B + j * ACROSS * csB, sizeof(TMM_TYPE),
                             my_col + j * ACROSS < cols_left);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                a[i] = 0;
                tmm__load_if(&a[i], A + i * rsA, sizeof(TMM_TYPE), my_row + i < rows_left);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLS; j++)
                    TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)a[i], (TMM_SUM)b[j]);
            A += csA;
            B += rsB;
        } while (--left > 0);
    }
    TMM_TYPE *panelA = (TMM_TYPE *)tmm__memory, *panelB = panelA + depth * LDA;
#pragma unroll 1
    while (left > 0) {
#pragma unroll 1
        for (int o = 0; o < 2; o++) /* once for both: less to compile */
            tmm__outer_copy(o ? panelB : panelA, o ? (int)LDB : (int)LDA,
                            o ? (int)TILE_COLS : tile_rows, o ? B : A, o ? csB : rsA, o ? rsB : csA,
                            o ? cols_left : rows_left, left, depth);
        tmm__copy_commit();
        TMM__COPY_WAIT(0);
        __syncthreads();
        const TMM_TYPE *a = panelA + my_row, *b = panelB + my_col;
#pragma unroll 1
        for (int k = left < depth ? left : depth; k > 0; k -= UNROLL) { /* zeros after the last */
            tmm__xelements4 x[UNROLL][ROWS / 4];
            TMM_TYPE y[UNROLL][COLS];
#pragma unroll
            for (int d = 0; d < UNROLL; d++) {
#pragma unroll
                for (int q = 0; q < ROWS / 4; q++)
                    x[d][q] = *(const tmm__xelements4 *)&a[d * LDA + 4 * q];
#pragma unroll
                for (int j = 0; j < COLS; j++) y[d][j] = b[d * LDB + j * ACROSS];
            }
#pragma unroll
            for (int d = 0; d < UNROLL; d++)
#pragma unroll
                for (int i = 0; i < ROWS; i++)
#pragma unroll
                    for (int j = 0; j < COLS; j++)
                        TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)x[d][i / 4].v[i % 4],
                                          (TMM_SUM)y[d][j]);
            a += UNROLL * LDA;
            b += UNROLL * LDB;
        }
        A += depth * csA;
        B += depth * rsB;
        left -= depth;
        if (left > 0) __syncthreads();
    }

    rows_left -= my_row;
    cols_left -= my_col;
    row += my_row;
    col += my_col;
    C += blockIdx.z * batchC + row * ldc + col;
    bool inside[COLS];
#pragma unroll
    for (int j = 0; j < COLS; j++) inside[j] = j * ACROSS < cols_left;
        /* Two rows, then the next two in their place: less to compile. */
#pragma unroll 1
    for (int first = 0; first < ROWS; first += STORED_ROWS) {
#pragma unroll
        for (int i = 0; i < STORED_ROWS; i++) {
            if (first + i >= rows_left) return;
            TMM_SUM old[COLS];
#pragma unroll
            for (int j = 0; j < COLS; j++) old[j] = 0;
            if ((TMM_SUM)beta != 0) { /* all are read before any is stored: see load2 */
                TMM_OUT element[COLS];
#pragma unroll
                for (int j = 0; j < COLS; j++) {
                    element[j] = 0;
                    tmm__xload_if(&element[j], C + j * ACROSS, inside[j]);
                }
#pragma unroll
                for (int j = 0; j < COLS; j++)
                    old[j] = TMM__MUL((TMM_SUM)beta, (TMM_SUM)element[j]);
            }
#pragma unroll
            for (int j = 0; j < COLS; j++)
                tmm__xstore_if(C + j * ACROSS,
                               tmm__xvalue(sum[i][j], alpha, old[j], inside[j], row + first + i,
                                           col + j * ACROSS),
                               inside[j]);
            C += ldc;
        }
#pragma unroll
        for (int i = 0; i < ROWS - (int)STORED_ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) sum[i][j] = sum[i + STORED_ROWS][j];
    }
#endif
}
#endif
#endif
