/* src/tiledmm/kernels/tensor/store.cuh. Doubles on tensor cores: partial tiles, and sums are stored.
   Uses: kernels/common/, sizes.h, tiles.cuh, once/. Used by: kernel.cuh. */
#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0) && TMM__BODIES
/* Leaves a thread's sums of a tile as the partial tile of block `share`. */
TMM__DEVICE void tmm__tensor_leave_sums(const tmm__schedule *s, int share, int thread,
                                        const double (*sum)[4][4])
{
    enum { WARPS_ACROSS = TMM__TENSOR_WARPS, THREADS = 64 * WARPS_ACROSS };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
    tmm__xsums4 *to =
        (tmm__xsums4 *)s->partials + (long long)share * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
    for (int q = 0; q < DOWN * ACROSS; q++) {
        const double *four = sum[q / ACROSS][q % ACROSS];
        tmm__xsums4 sums = {{four[0], four[1], four[2], four[3]}};
        to[q * THREADS] = sums;
    }
}

/* Waits for the partial tiles that the blocks after block `share` have left of tile `tile`, and
   adds them in ascending k. */
TMM__DEVICE void tmm__tensor_add_partials(const tmm__schedule *s, int share, int tile, int thread,
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
        const tmm__xsums4 *from = (const tmm__xsums4 *)s->partials +
                                  (long long)other * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
        for (int q = 0; q < DOWN * ACROSS; q++) {
            tmm__xsums4 more = from[q * THREADS];
            if (q % 4 == 3) TMM__FENCE(); /* 4 in flight: there are no registers for 16 */
#pragma unroll
            for (int e = 0; e < 4; e++) sum[q / ACROSS][q % ACROSS][e] += more.v[e];
        }
    }
}

#if TMM__CLUSTERS && TMM__TENSOR_DOWN < 4
/* Sends a thread's sums to the blocks of its cluster, `part` vectors to each, as slice `rank`. `all`:
   the halves of vectors that it is sent, as [slice][vector][half][thread]. */
TMM__DEVICE void tmm__tensor_send(char *all, const tmm__schedule *s, int part, int rank,
                                  const double (*sum)[4][4])
{
    enum { THREADS = 64 * TMM__TENSOR_WARPS, ACROSS = 4, VECTORS = TMM__TENSOR_DOWN * ACROSS };
    int left = 0, other = s->cluster;
    unsigned to = 0;
    all += rank * part * (32 * THREADS);
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        if (left == 0) { /* on to the block that has the next slice */
            to = tmm__map_shared(all, --other);
            left = part;
        }
        left--;
        tmm__store_doubles_cluster(to, &sum[q / ACROSS][q % ACROSS][0]);
        tmm__store_doubles_cluster(to + 16 * THREADS, &sum[q / ACROSS][q % ACROSS][2]);
        to += 32 * THREADS;
    }
}

/* Adds up the slices of this block's part of a tile, in ascending k, and stores it. */
TMM__DEVICE void tmm__tensor_store_cluster(const tmm__schedule *s, const char *all, int part,
                                           int rank, int tile, bool tall, long long M, long long N,
                                           TMM__ALPHA alpha, double beta, double *C, long long ldc)
{
    enum { THREADS = 64 * TMM__TENSOR_WARPS, ACROSS = 4, DOWN = TMM__TENSOR_DOWN };
    const unsigned thread = tmm__thread(), lane = thread % 32, warp = thread / 32;
    const unsigned log2 = tall ? 0 : 1; /* of warps side by side */
    int down, across;
    tmm__xfind_tile(s, TMM__TENSOR_BAND, tile, &down, &across);
    const int left_warp = across << log2 | (warp & ((1u << log2) - 1));
    const int upper_warp = (down << (2 - log2)) + (int)(warp >> log2);
#pragma unroll 1
    for (int n = 0; n < part; n++, all += 32 * THREADS) {
        const unsigned q = rank * part + n;
        if (q >= DOWN * ACROSS) break;
        double total[4] = {0, 0, 0, 0};
        const char *from = all;
#pragma unroll 2
        for (int p = 0; p < s->cluster; p++, from += part * (32 * THREADS)) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                tmm__xouts2 two = *(const tmm__xouts2 *)(from + 16 * THREADS * h);
                total[2 * h] += two.v[0], total[2 * h + 1] += two.v[1];
            }
        }
        long long row = upper_warp * (16ll * DOWN) + (q / ACROSS * 16 + lane / 4);
        const long long col = left_warp * 32ll + (q % ACROSS * 8 + lane % 4 * 2);
#pragma unroll 1
        for (int h = 0; h < 2; h++, row += 8, total[0] = total[2], total[1] = total[3]) {
            double *c = C + row * ldc + col;
            if (row >= M) break;
#pragma unroll
            for (int e = 0; e < 2; e++) {
                double old = 0;
                const bool inside = col + e < N && tmm__in_triangle(TMM__TRIANGLE(s), row, col + e);
                tmm__xload_if(&old, c + e, beta != 0 && inside);
                old = beta != 0 ? TMM__MUL(beta, old) : 0;
                tmm__xstore_if(c + e, tmm__xvalue(total[e], alpha, old, inside, row, col + e),
                               inside);
            }
        }
    }
}
#endif

#if TMM__TENSOR_WIDTH == 1
/* Stores one of the 16 x 32 parts of a warp, from row `row` and column `col` on. Rows from M on and
   columns from N on are left out. C is not aligned to two elements: stores of the neighbours that a
   lane has would touch each sector twice, which holds L2 up. So the part goes through shared memory,
   to `own`, and the warp stores rows of 32. */
TMM__DEVICE void tmm__tensor_store_lines(double *C, long long ldc, long long row, long long M,
                                         long long col, long long N, double *own, TMM__ALPHA alpha,
                                         double beta, const double (*sum)[4], int triangle)
{
    enum { ACROSS = 4, ROWS = 16, BLOCK = 4, PITCH = TMM__TENSOR_PITCH };
    const int lane = tmm__thread() % 32;
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            tmm__xouts2 two = {{sum[j][2 * h], sum[j][2 * h + 1]}};
            *(tmm__xouts2 *)(own + (lane / 4 + 8 * h) * PITCH + lane % 4 * 2 + 8 * j) = two;
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
            tmm__xload_if(&old[r], C + r * ldc,
                          beta != 0 && first + r < count &&
                              tmm__in_triangle(triangle, row + r, col));
        }
#pragma unroll
        for (int r = 0; r < BLOCK; r++, row++, C += ldc) {
            const bool enabled = first + r < count && tmm__in_triangle(triangle, row, col);
            const double before = beta != 0 ? TMM__MUL(beta, old[r]) : 0;
            tmm__xstore_if(C, tmm__xvalue(own[r * PITCH], alpha, before, enabled, row, col),
                           enabled);
        }
    }
    __syncwarp();
}
#endif

/* Stores one of the 16 x 32 parts of a warp. Of each matrix a lane has two neighbours in row `row`,
   and two 8 rows below. Rows before first_row, and from M on, are not stored. mask: see
   tmm__column_mask. */
TMM__DEVICE void tmm__tensor_store_rows(double *C, long long ldc, long long row, long long col,
                                        long long first_row, long long M, bool aligned,
                                        unsigned mask, TMM__ALPHA alpha, double beta,
                                        const double (*sum)[4], int triangle)
{
    enum { ACROSS = 4 };
    tmm__xouts2 old[2][ACROSS];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        long long r = row + 8 * h, c = col;
        unsigned row_mask = (TMM_SUM)beta != 0 && r >= first_row && r < M ? mask : 0;
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            old[h][j] = tmm__xload2(C + r * ldc + c + 8 * j, aligned,
                                    tmm__triangle_mask(triangle, row_mask >> 2 * j, r, c + 8 * j));
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        long long r = row + 8 * h, c = col;
        if (r < first_row || r >= M) continue;
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            tmm__xstore2(C + r * ldc + c + 8 * j, r, c + 8 * j, aligned,
                         tmm__triangle_mask(triangle, mask >> 2 * j, r, c + 8 * j), alpha, beta,
                         old[h][j], &sum[j][2 * h]);
    }
}

/* The one of these that suits C, where this lane's first element lies in row `row` and column
   `col`. shared: of the block, no longer in use. */
TMM__DEVICE void tmm__tensor_store_part(double *C, long long ldc, long long row,
                                        long long first_row, long long M, long long col,
                                        long long first_col, long long N, char *shared,
                                        TMM__ALPHA alpha, double beta, const double (*sum)[4],
                                        int triangle)
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, SIZE = 8, BYTES = 16 * TMM__TENSOR_PITCH * SIZE };
    const bool aligned = ((size_t)(C + col) | ldc * SIZE) % 16 == 0;
    const int thread = tmm__thread(), lane = thread % 32;
    (void)shared, (void)lane;
#if TMM__TENSOR_WIDTH == 1
    if (!aligned) {
        tmm__tensor_store_lines(C, ldc, row - lane / 4, M, col - lane % 4 * 2, N,
                                (double *)(shared + thread / 32 * BYTES), alpha, beta, sum,
                                triangle);
        return;
    }
#endif
    unsigned mask = 0;
#pragma unroll
    for (int j = 0; j < ACROSS; j++)
        mask |= tmm__column_mask(col + 8 * j, 2, DOWN < 4 ? 0 : first_col, N) << 2 * j;
    tmm__tensor_store_rows(C, ldc, row, col, DOWN < 4 ? row : first_row, M, aligned, mask, alpha,
                           beta, sum, triangle);
}

#if TMM__TENSOR_AHEAD
/* Stores a warp's part of a tile that lies inside C, where nothing is added to the sums: without
   predicates, all from where they are, and not to stay in L2. C: the place of this lane's first sum. */
TMM__DEVICE void tmm__tensor_store_inside(double *C, long long ldc, long long row, long long col,
                                          TMM__ALPHA alpha, double (*sum)[4][4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
    const tmm__xouts2 none = {{0, 0}};
#pragma unroll
    for (int n = 0; n < 2 * DOWN; n++, C += 8 * ldc)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            tmm__xouts2 two;
            tmm__xstore2(two.v, row + 8 * n, col + 8 * j, true, 3, alpha, 0, none,
                         &sum[n / 2][j][n % 2 * 2]);
            tmm__store_streaming(C + 8 * j, two.v);
        }
}
#endif

/* Stores a tile, else 16 rows of a warp after the other, each moved to the place of the first:
   registers have no index. */
TMM__DEVICE void tmm__tensor_store_tile(const tmm__schedule *s, int tile, bool tall, long long M,
                                        long long N, double *C, long long ldc, char *shared,
                                        TMM__ALPHA alpha, double beta, double (*sum)[4][4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, ANY = DOWN < 4 };
    enum { LINES_M = 32 * DOWN, LINES_N = 32 * TMM__TENSOR_WARPS };
    const int WARPS_ACROSS = tall ? 1 : TMM__TENSOR_WARPS;
    const int TILE_M = tall ? LINES_N : LINES_M, TILE_N = tall ? LINES_M : LINES_N;
    int down, across, thread = tmm__thread(), lane = thread % 32;
    int row0 = thread / 32 / WARPS_ACROSS * (16 * DOWN) + lane / 4;
    int col0 = thread / 32 % WARPS_ACROSS * (8 * ACROSS) + lane % 4 * 2;
    tmm__xfind_tile(s, TMM__TENSOR_BAND, tile, &down, &across);
    long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
    long long row = first_row, col = first_col;
#if TMM__TENSOR_AHEAD
    TMM__HIDE_POINTER(C); /* or it stays in registers through the loop before */
    if (s->streamk_tiles == 0 && (int)gridDim.x < s->tiles_down * s->tiles_across && beta == 0 &&
        ((size_t)C | ldc * 8) % 16 == 0 && row + TILE_M <= M && col + TILE_N <= N &&
        TMM__TRIANGLE(s) == 0) {
        row += row0, col += col0;
        tmm__tensor_store_inside(C + row * ldc + col, ldc, row, col, alpha, sum);
        return;
    }
#endif
    if (!ANY && row > M - TILE_M && !s->packed_A) row = M - TILE_M;
    if (!ANY && col > N - TILE_N && !s->packed_B) col = N - TILE_N;
#pragma unroll 1
    for (int i = 0; i < DOWN; i++) {
        tmm__tensor_store_part(C, ldc, row + row0 + 16 * i, first_row, M, col + col0, first_col, N,
                               shared, alpha, beta, sum[0], TMM__TRIANGLE(s));
        tmm__tensor_move_up(sum);
    }
}

/* Before anything else: this block's shared memory may be written to. */
TMM__DEVICE void tmm__tensor_open(const tmm__schedule *s)
{
    (void)s;
#if TMM__CLUSTERS && TMM__TENSOR_DOWN < 4
    if (s->cluster > 0) tmm__cluster_arrive(false);
#endif
}

/* In a cluster a block gets a part of all slices, to `memory`, adds it up and stores it. */
TMM__DEVICE bool tmm__tensor_by_cluster(const tmm__schedule *s, char *memory, int share, int tile,
                                        bool tall, long long M, long long N, TMM__ALPHA alpha,
                                        double beta, double *C, long long ldc,
                                        const double (*sum)[4][4])
{
#if TMM__CLUSTERS && TMM__TENSOR_DOWN < 4
    if (s->cluster == 0) return false;
    char *all = memory + 16 * tmm__thread();
    const int part = (4 * TMM__TENSOR_DOWN - 1) / s->cluster + 1, rank = share % s->cluster;
    tmm__cluster_wait();
    tmm__tensor_send(all, s, part, rank, sum);
    tmm__cluster_arrive(true);
    tmm__cluster_wait();
    tmm__tensor_store_cluster(s, all, part, rank, tile, tall, M, N, alpha, beta, C, ldc);
    return true;
#else
    (void)s, (void)memory, (void)share, (void)tile, (void)tall, (void)M, (void)N, (void)alpha;
    (void)beta, (void)C, (void)ldc, (void)sum;
    return false;
#endif
}
#endif
#endif
