/* src/tiledmm/kernels/tensor/kernel.cuh. Doubles on tensor cores: the kernel.
   Uses: kernels/common/streamk.cuh, kernels/tensor/, once/. Used by: launch.h. */
#ifdef TMM__PASS /* alone: declarations have no list */
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0)
static_assert((int)TMM__TENSOR_DEPTH == 16,
              "TMM__TENSOR_DEPTH must be 16: a stage has squares of 16 x 16");
static_assert(TMM__TENSOR_WARPS == 2 ||
                  (TMM__TENSOR_DOWN != 1 && (TMM__TENSOR_DOWN > 2 || TMM__TENSOR_WARPS > 2)),
              "TMM__TENSOR_LIST: a tile of 64 x 64 or less, or with one matrix above each other, "
              "must have 2 warps side by side, which KERNEL REDUCE and clusters know");
static_assert((int)TMM__TENSOR_PITCH >= 32 && (int)TMM__TENSOR_PITCH % 2 == 0 &&
                  (TMM__TENSOR_WIDTH == 2 ||
                   2 * TMM__TENSOR_WARPS * 16 * (int)TMM__TENSOR_PITCH * 8 <=
                       (int)TMM__TENSOR_BYTES(32 * TMM__TENSOR_DOWN, 32 * TMM__TENSOR_WARPS)),
              "TMM__TENSOR_PITCH must be even, 32 at least, and leave room for all warps' rows");
static_assert(TMM__TENSOR_BLOCKS >= 1 && TMM__TENSOR_DOWN >= 1,
              "TMM__TENSOR_LIST: a multiprocessor has 1 block at least, and a warp 1 matrix");

TMM_KERNEL void __launch_bounds__(64 * TMM__TENSOR_WARPS, TMM__TENSOR_BLOCKS)
    tmm__gemm_tensor(long long M, long long N, long long K, TMM__ALPHA alpha,
                     const double *__restrict__ A, long long rsA, long long csA, long long batchA,
                     const double *__restrict__ B, long long rsB, long long csB, long long batchB,
                     double beta, double *__restrict__ C, long long ldc, long long batchC,
                     int modeA, int modeB, const tmm__schedule s, int off_sectors)
{
#if TMM__BODIES
    enum { THREADS = 64 * TMM__TENSOR_WARPS, SIZE = 8, HALVES = TMM__TENSOR_DEPTH / 8 };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, MATRICES = DOWN * ACROSS }; /* of a warp */
    enum { LINES_M = 32 * DOWN, LINES_N = 32 * TMM__TENSOR_WARPS, ANY = DOWN < 4 };
    enum { DEPTH = TMM__TENSOR_DEPTH, STAGES = TMM__TENSOR_STAGES(LINES_M, LINES_N) };
    enum { AHEAD = TMM__TENSOR_AHEAD };
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
    static_assert((int)STAGES >= 2 && (int)STAGES * STAGE == TMM__TENSOR_BYTES(LINES_M, LINES_N) &&
                      (int)STAGES * STAGE <= 99 * 1024,
                  "TMM__TENSOR_STAGES must be 2 at least, and fit into the 99 KB that a block has");
    static_assert(
        ((int)WIDTH == 1 || (int)WIDTH == 2) &&
            (LINES == 8 || ((int)LINES >= 16 && (int)LINES % 16 == 0)) &&
            (int)LINES_M % LINES == 0 && (int)LINES_N % LINES == 0,
        "TMM__TENSOR_LIST: a copy has 1 or 2 elements, and a pass of all threads 8 lines or "
        "a multiple of 16, by which both edges of the tile can be divided");
    extern __shared__ __align__(128) char tmm__tensor_stages[];
    char *shared = tmm__tensor_stages;
    tmm__tensor_open(&s);
#if TMM__DOUBLE_TENSOR
    if (s.unless != NULL && *s.unless != 0) return;
#endif
    enum { ALIGNS = DOWN == 1 };                         /* can the last step be the short one? */
    const int rest = (int)(K - (s.steps - 1ll) * DEPTH); /* of the short step: 1 to DEPTH */
    const bool short_last = ALIGNS && off_sectors;
    /* Do copies go through L1? Those of 8 bytes all do. */
    const int near = DOWN == 2 && WIDTH == 2 ? off_sectors != 0 : -1;
    /* Bits of `left`: the short step is still to be copied; steps before (no product has so many). A
       variable of its own would take more instructions. */
    enum { STILL = 1 << 30, STEPS = ALIGNS ? STILL - 1 : -1 };

    const bool along_kA = modeA == TMM__ALONG_K, along_kB = modeB == TMM__ALONG_K;
    tmm__xtensor_lane at;
    const unsigned strideA = (unsigned)((int)LINES * SIZE * rsA);
    const unsigned strideB = (unsigned)((int)LINES * SIZE * csB);
    const char *fromA = NULL, *fromB = NULL;
    int tile = 0, begin = 0, end = 0, left = 0, rows_left = 0, cols_left = 0;
    double sum[DOWN][ACROSS][4], a[2][DOWN][4], b[2][ACROSS][2];
    bool waits = false; /* are these of tile `tile`, not stored yet? */
    for (int work = 0;; work++) {
        const int before = tile;
        int share = gridDim.x - 1 - tmm__block(), thread = tmm__thread();
        tile = tmm__xfind_work(&s, work, share, &begin, &end);
        const bool ends = tile >= s.tiles_down * s.tiles_across;
        if (ends && !AHEAD) break;
        if (!ends) {
            int down, across;
            tmm__xfind_tile(&s, TMM__TENSOR_BAND, tile, &down, &across);
            long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
            /* Large tiles are moved back inside, unless what lies outside may be read. */
            if (!ANY && row > M - TILE_M && !s.packed_A) row = M - TILE_M;
            if (!ANY && col > N - TILE_N && !s.packed_B) col = N - TILE_N;
            at = tmm__tensor_find_lane(thread, along_kA, along_kB, WARPS_ACROSS, STAGE_A);
            /* How many lines of what it copies exist, from its first on. */
            rows_left = ANY && M - row < TILE_M ? (int)(M - row) - at.lineA : TILE_M;
            cols_left = ANY && N - col < TILE_N ? (int)(N - col) - at.lineB : TILE_N;
            /* Fill all stages but one. */
            long long k = begin == 0 ? 0 : (short_last ? (int)DEPTH : rest) + (begin - 1ll) * DEPTH;
            fromA = (const char *)(A + blockIdx.z * batchA + (row + at.lineA) * rsA +
                                   (k + at.kA) * csA);
            fromB = (const char *)(B + blockIdx.z * batchB + (col + at.lineB) * csB +
                                   (k + at.kB) * rsB);
            left = end - begin;
#pragma unroll 1
            for (int stage = 0; stage < STAGES - 1; stage++) {
                bool is_short =
                    short_last ? begin + stage == s.steps - 1 : stage == 0 && begin == 0;
                int depth = is_short ? rest : DEPTH;
                if (stage < left) {
                    int rows = at.kA < depth ? rows_left : 0, cols = at.kB < depth ? cols_left : 0;
#pragma unroll
                    for (int i = 0; i < PASSES; i++)
                        tmm__tensor_copy(shared + stage * STAGE, i, at.toA, at.eightA, fromA,
                                         strideA, rows, at.toB, at.eightB, fromB, strideB, cols,
                                         tall, near);
                }
                fromA += depth * csA * SIZE;
                fromB += depth * rsB * SIZE;
                tmm__copy_commit();
            }
        }
        unsigned product = blockIdx.z;
        TMM__HIDE(product); /* or its C stays in registers through the loop */
        if (AHEAD && waits)
            tmm__tensor_store_tile(&s, before, tall, M, N, C + product * batchC, ldc, shared, alpha,
                                   beta, sum);
        if (ends) break;
        waits = false;
        tmm__tensor_clear(sum);
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            tmm__tensor_load_B(b[0][j], shared + read, at.firstB, 0, j, at.fourB, at.eightB);
#pragma unroll
        for (int i = 0; i < DOWN; i++)
            tmm__tensor_load_A(a[0][i], shared + read, at.firstA, 0, i, at.fourA, at.eightA);
        if (short_last && end == s.steps && left >= STAGES) left += (int)STILL - (int)STAGES;
#pragma unroll 1
        for (;;) { /* twice if the short step is still to be copied */
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
                            tmm__tensor_load_A(a[next % 2][i], shared + read, at.firstA, next, i,
                                               at.fourA, at.eightA);
                        if (pair == 0 || pair == 1) {
                            tmm__tensor_load_B(b[next % 2][2 * pair], shared + read, at.firstB,
                                               next, 2 * pair, at.fourB, at.eightB);
                            tmm__tensor_load_B(b[next % 2][2 * pair + 1], shared + read, at.firstB,
                                               next, 2 * pair + 1, at.fourB, at.eightB);
                        }
                        if (DOWN < 4) TMM__KEEP_ORDER();
#pragma unroll
                        for (int pass = 0; pass < PASSES; pass++)
                            if (slot == pass * SLOTS / PASSES + FIRST)
                                tmm__tensor_copy(shared + write, pass, at.toA, at.eightA, fromA,
                                                 strideA, rows, at.toB, at.eightB, fromB, strideB,
                                                 cols, tall, near);
                    }
                    if (half == HALVES - 2) {
                        tmm__copy_commit();
                        fromA += DEPTH * csA * SIZE;
                        fromB += DEPTH * rsB * SIZE;
                    }
                }
            }
            if (!ALIGNS || left == 0) break;
            left = STAGES, thread = tmm__thread();
            if (tmm__tensor_copied_k(modeA, thread) >= rest) rows_left = 0;
            if (tmm__tensor_copied_k(modeB, thread) >= rest) cols_left = 0;
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the copies of the next work may begin */
        thread = tmm__thread(), share = gridDim.x - 1 - tmm__block();
#if TMM__TENSOR_BLOCKS > 1 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900)
        /* Found anew: kept through the loop above, these would take a register too many. */
        TMM__HIDE(work);
        tile = tmm__xfind_work(&s, work, share, &begin, &end);
#endif
        if (tmm__tensor_by_cluster(&s, shared + (int)STAGES * STAGE, share, tile, tall, M, N, alpha,
                                   beta, C, ldc, sum))
            return;
        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm__tensor_leave_sums(&s, share, thread, sum);
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) /* the owner: add what the others have left */
            tmm__tensor_add_partials(&s, share, tile, thread, sum);
        waits = AHEAD;
        TMM__HIDE(product);
        if (!AHEAD) {
            tmm__tensor_store_tile(&s, tile, tall, M, N, C + product * batchC, ldc, shared, alpha,
                                   beta, sum);
            if (WIDTH == 1) __syncthreads(); /* the next copies would overwrite what is stored */
        }
    }
#endif
}
#endif
#endif
