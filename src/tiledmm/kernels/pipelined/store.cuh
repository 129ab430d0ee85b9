/* src/tiledmm/kernels/pipelined/store.cuh. What becomes of the sums of KERNEL PIPELINED: partial
   tiles and C.
   Uses: kernels/common/, sizes.h, once/. Used by: kernel.cuh. */
#ifndef TMM__PIPELINED_STORE
#ifdef TMM_WITH_EPILOGUE
#define TMM__PIPELINED_STORE tmm__xpipelined_either
#else
#define TMM__PIPELINED_STORE tmm__xpipelined_store
#endif
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__PIPELINES
/* A thread has rows x 8 sums, `rows` being a constant, 8 or 16. They go in vectors of four. Vector stores tie
   four sums to four registers in this order. Swapped in pairs, a sum never lies in the register
   bank of the element of B that is multiplied into it. */

/* Waits for the partial tiles that the blocks after block `share` have left of tile `tile`, and
   adds them in ascending k. */
TMM__DEVICE void tmm__xpipelined_add_partials(const tmm__schedule *s, int share, int streamk_blocks,
                                              long long streamk_steps, int tile, int thread,
                                              TMM_SUM (*sum)[8], const int rows)
{
    enum { COLS = 8, THREADS = TMM__PIPELINED_THREADS };
    const int VECTORS = rows * COLS / 4;
    long long last_step = (tile + 1ll) * s->steps;
    int others = 0;
    while (streamk_steps * (share + 1 + others) / streamk_blocks < last_step) others++;
    for (int other = thread; other < others; other += THREADS)
        tmm__flag_wait(s->flags + share + 1 + other, s->ticket);
    __syncthreads();
    for (int other = share + 1; other <= share + others; other++) {
        const tmm__xsums4 *from =
            (const tmm__xsums4 *)s->partials + (long long)other * ((int)VECTORS * THREADS) + thread;
#pragma unroll
        for (int q = 0; q < VECTORS; q++) {
            TMM_SUM *v = &sum[q / 2][q % 2 * 4];
            tmm__xsums4 swapped = from[q * THREADS];
            if (q % 8 == 7) TMM__FENCE(); /* 8 in flight: there are no registers for 32 */
            v[1] += swapped.v[0];
            v[0] += swapped.v[1];
            v[3] += swapped.v[2];
            v[2] += swapped.v[3];
        }
    }
}

/* Where a thread stores its sums: its first element, as far as rows lie in first_row .. M. */
typedef struct tmm__xpipelined_place {
    TMM_OUT *C;
    long long row, col, first_row;
    unsigned mask;
    bool aligned; /* and all of the tile is in the triangle of C */
} tmm__xpipelined_place;

/* Finds the place. It is computed anew: kept through the main loop, it would cost registers. */
TMM__DEVICE void tmm__xpipelined_find_place(tmm__xpipelined_place *place, const tmm__schedule *s,
                                            int tile, int thread, long long M, long long N,
                                            TMM_OUT *C, long long ldc, const int rows)
{
    enum { COLS = 8, SIZE = sizeof(TMM_OUT) };
    const bool any = rows == 8, is_128x64 = any && s->is_tall;
    const int TILE_M = is_128x64 ? 16 * rows : 8 * rows, TILE_N = is_128x64 ? 64 : 128;
    bool packed_A = !any && s->packed_A, packed_B = !any && s->packed_B;
    int down, across;
    int warp = thread / 32, lane = thread % 32;
    int row0 = (is_128x64 ? warp : warp / 2) * (4 * rows) + lane / 8 * 4;
    int col0 = (is_128x64 ? 0 : warp % 2 * 64) + lane % 8 * 4;
    tmm__xfind_tile(s, TMM__BAND, tile, &down, &across);
    long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
    long long row = first_row, col = first_col;
    if (row > M - TILE_M && !packed_A && (!any || M >= TILE_M)) row = M - TILE_M;
    if (col > N - TILE_N && !packed_B && (!any || N >= TILE_N)) col = N - TILE_N;
    bool aligned = ((size_t)(C + col) | ldc * SIZE) % 16 == 0;
#ifdef TMM_WITH_SYRK
    if (s->triangle == TMM__LOWER && first_col + TILE_N - 1 > first_row) aligned = false;
    if (s->triangle == TMM__UPPER && first_row + TILE_M - 1 > first_col) aligned = false;
#endif
    C += (row + row0) * ldc + col + col0;
    unsigned mask = 0;
#pragma unroll
    for (int q = 0; q < COLS / 4; q++)
        mask |= tmm__column_mask(col + col0 + 32 * q, 4, first_col, N) << 4 * q;
    place->C = C, place->row = row + row0, place->col = col + col0;
    place->first_row = first_row, place->mask = mask, place->aligned = aligned;
}

/* Registers have no index: STAGED_ROWS rows of a thread from i on go to shared memory, to a place
   of its own. */
TMM__DEVICE void tmm__xpipelined_stage(tmm__xsums4 *own, int i, const TMM_SUM (*sum)[8],
                                       const int rows)
{
    enum { STAGED_ROWS = TMM__PIPELINED_STAGED_ROWS, THREADS = TMM__PIPELINED_THREADS };
#pragma unroll
    for (int from = 0; from < rows; from += STAGED_ROWS) {
        if (from != i) continue;
#pragma unroll
        for (int q = 0; q < 2 * STAGED_ROWS; q++) {
            const TMM_SUM *v = &sum[from + q / 2][q % 2 * 4];
            tmm__xsums4 swapped = {{v[1], v[0], v[3], v[2]}};
            own[q * THREADS] = swapped;
        }
    }
}

/* Stores a thread's sums, some rows after the other. Each is moved to the place of the first, so
   that there is code for these alone. */
TMM__DEVICE void tmm__xpipelined_store(TMM_OUT *c0, long long ldc, long long r, long long first_row,
                                       long long end, long long c, bool vector, unsigned mask,
                                       TMM__ALPHA alpha, TMM_SCALAR beta, TMM_SUM (*sum)[8],
                                       const int rows, int triangle)
{
    enum { STORED_ROWS = 2, ALIGNED_ROWS = sizeof(TMM_TYPE) < 8 ? 4 : 2, COLS = 8 };
    if (vector) { /* all four columns are stored, or none */
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int i = 0; i < rows / 2; i += ALIGNED_ROWS) {
                int down = half * (2 * rows) + i / 4 * 16 + i % 4;
                tmm__xstore_rows(c0 + down * ldc, ldc, r + down, first_row, end, c, true, mask,
                                 alpha, beta, &sum[i], ALIGNED_ROWS, 0);
            }
#pragma unroll
            for (int h = 0; h < rows / 2; h++)
#pragma unroll
                for (int j = 0; j < COLS; j++) sum[h][j] = sum[h + rows / 2][j];
        }
        return;
    }
#pragma unroll 1
    for (int i = 0; i < rows; i += STORED_ROWS) {
        int down = i / 4 * 16 + i % 4;
        tmm__xstore_rows(c0 + down * ldc, ldc, r + down, first_row, end, c, false, mask, alpha,
                         beta, sum, STORED_ROWS, triangle);
#pragma unroll
        for (int h = 0; h < rows - STORED_ROWS; h++)
#pragma unroll
            for (int j = 0; j < COLS; j++) sum[h][j] = sum[h + STORED_ROWS][j];
    }
}

#ifdef TMM_WITH_EPILOGUE
/* The same for the instance TN, as the kernel does it without epilogues. One function for both has other
   registers in its main loop, which took 4%. */
TMM__DEVICE void tmm__xpipelined_rows_tn(tmm__xpipelined_place place, long long ldc, long long M,
                                         long long N, TMM__ALPHA alpha, TMM_SCALAR beta,
                                         const TMM_SUM (*sum)[8], TMM_TYPE *shared, int thread,
                                         int triangle, const int rows)
{
    enum { STAGED_ROWS = TMM__PIPELINED_STAGED_ROWS, THREADS = TMM__PIPELINED_THREADS };
    /* STAGED_ROWS at a time go through shared memory, so that there is code for one row.
       The other instances are slower with this. */
    bool vector = place.aligned && N % 4 == 0; /* all four columns or none are stored */
    tmm__xsums4 *own = (tmm__xsums4 *)shared + thread;
#pragma unroll 1
    for (int i = 0; i < rows; i += STAGED_ROWS) {
        tmm__xpipelined_stage(own, i, sum, rows);
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
                                tmm__triangle_masks(vector ? 0 : triangle, place.mask, place.row,
                                                    place.col),
                                alpha, beta, row_sums);
            place.row++, place.C += ldc;
        }
        if ((i + STAGED_ROWS) % 4 == 0) place.row += 12, place.C += 12 * ldc;
    }
}

/* With an epilogue and without. */
TMM__DEVICE void tmm__xpipelined_store_tn(const tmm__xpipelined_place *place, long long ldc,
                                          long long M, long long N, TMM__ALPHA alpha,
                                          TMM_SCALAR beta, const TMM_SUM (*sum)[8],
                                          TMM_TYPE *shared, int thread, int triangle,
                                          const int rows)
{
    if (!alpha.after.active)
        tmm__xpipelined_rows_tn(*place, ldc, M, N, tmm__xbare(alpha.factor), beta, sum, shared,
                                thread, triangle, rows);
    else
        tmm__xpipelined_rows_tn(*place, ldc, M, N, alpha, beta, sum, shared, thread, triangle,
                                rows);
}

TMM__DEVICE void tmm__xpipelined_either(TMM_OUT *c0, long long ldc, long long r,
                                        long long first_row, long long end, long long c,
                                        bool vector, unsigned mask, TMM__ALPHA alpha,
                                        TMM_SCALAR beta, TMM_SUM (*sum)[8], const int rows,
                                        int triangle)
{
    if (!alpha.after.active)
        tmm__xpipelined_store(c0, ldc, r, first_row, end, c, vector, mask, tmm__xbare(alpha.factor),
                              beta, sum, rows, triangle);
    else
        tmm__xpipelined_store(c0, ldc, r, first_row, end, c, vector, mask, alpha, beta, sum, rows,
                              triangle);
}
#endif

#if TMM__CLUSTERS && TMM__IS_FLOAT
/* Sends a thread's sums to the blocks of its cluster, `part` vectors to each, as slice `rank`.
   `all`: the vectors that it is sent, as [slice][vector][thread]. */
TMM__DEVICE void tmm__xpipelined_send(tmm__xsums4 *all, const tmm__schedule *s, int part, int rank,
                                      const TMM_SUM (*sum)[8], const int rows)
{
    enum { COLS = 8, THREADS = TMM__PIPELINED_THREADS };
    const int VECTORS = rows * COLS / 4;
    int left = 0, other = 0;
    unsigned to = 0;
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        const TMM_SUM *v = &sum[q / 2][q % 2 * 4];
        if (q % (VECTORS / TMM__MOST_CLUSTER) == 0 && left == 0) {
            /* On to the block that has slice number `other`. */
            to = tmm__map_shared(all + rank * part * THREADS, s->cluster - 1 - other);
            left = part;
            other++;
        }
        tmm__xsums4 swapped = {{v[1], v[0], v[3], v[2]}};
#pragma unroll
        for (int i = 0; i < (int)sizeof swapped; i += 16)
            tmm__store_shared_cluster(to + i, (const char *)&swapped + i);
        to += THREADS * sizeof swapped;
        left--;
    }
}
#endif
#endif
