/* src/tiledmm/kernels/common/streamk.cuh. Tiles and partial tiles of a schedule.
   Uses: store.cuh, once/.
   Used by: pack_reduce.cuh, kernels/pipelined/, kernels/tensor/, kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* Tile number `tile` of C: its first row and column, in units of tiles. Bands of band_rows
   rows of tiles are walked downwards, then across. */
TMM__DEVICE void tmm__xfind_tile(const tmm__schedule *s, int band_rows, int tile, int *down,
                                 int *across)
{
    int band = tile / (band_rows * s->tiles_across),
        rest = tile - band * band_rows * s->tiles_across;
    int high =
        s->tiles_down - band * band_rows < band_rows ? s->tiles_down - band * band_rows : band_rows;
    *across = rest / high;
    *down = band * band_rows + rest - *across * high;
#ifdef TMM_WITH_SYRK
    if (s->triangle != 0) tmm__triangle_tile(s->triangle, s->squares, s->ratio_log2, down, across);
#endif
}

/* Stores a vector of sums of KERNEL PIPELINED: number `number` of those that `thread` has of tile
   `tile`, in the order of a partial tile. A thread has `rows` rows; warps_down of the four warps
   are above each other. */
TMM__DEVICE void tmm__xstore_sums(long long M, long long N, TMM__ALPHA alpha, TMM_SCALAR beta,
                                  TMM_OUT *C, long long ldc, const tmm__schedule *s, int rows,
                                  int warps_down, int tile, int thread, int number,
                                  const tmm__xsums4 *swapped)
{
    int tile_m = 4 * rows * warps_down, warps_across = 4 / warps_down, tile_n = 64 * warps_across;
    int down, across, i = number / 2, j = number % 2;
    tmm__xfind_tile(s, TMM__BAND, tile, &down, &across);
    long long first_row = (long long)down * tile_m, first_col = (long long)across * tile_n;
    long long row = first_row, col = first_col;
    if (row > M - tile_m && !s->packed_A && M >= tile_m) row = M - tile_m;
    if (col > N - tile_n && !s->packed_B && N >= tile_n) col = N - tile_n;
    row += thread / 32 / warps_across * (4 * rows) + thread % 32 / 8 * 4 + i / 4 * 16 + i % 4;
    col += thread / 32 % warps_across * 64 + thread % 8 * 4 + j * 32;
    if (row < first_row || row >= M) return;
    TMM_SUM sum[4] = {swapped->v[1], swapped->v[0], swapped->v[3], swapped->v[2]};
    C += row * ldc + col;
    unsigned mask = tmm__column_mask(col, 4, first_col, N);
    mask = tmm__triangle_mask(TMM__TRIANGLE(s), mask, row, col);
    bool vector = (size_t)C % 16 == 0 && mask == 15;
    tmm__xstore4(C, row, col, vector, mask, alpha, tmm__xload4(C, vector, mask, beta).v, sum);
}
#endif
