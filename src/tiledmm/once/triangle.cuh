/* src/tiledmm/once/triangle.cuh. The tiles and elements of a triangle of C, for syrk.
   Uses: config.h.
   Used by: kernels/common/, kernels/pipelined/, kernels/tensor/, kernels/tensor_half/, launch/,
   type/. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* C = alpha op(A) op(A)^T + beta C is symmetric. With TMM_WITH_SYRK kernels that have a schedule can
   compute the tiles of a triangle alone: what is told of it has a member `triangle`, 0 for all of C, or
   one of these. Tiles on the diagonal store what lies in the triangle. */
enum { TMM__LOWER = 1, TMM__UPPER = 2 };
#ifdef TMM_WITH_SYRK
#define TMM__TRIANGLE(of)          ((of)->triangle)
#define TMM__TILES(of, all)        ((of)->tiles)
#define TMM__TRIANGLE_OF_ARGUMENTS , int triangle
#define TMM__TRIANGLE_ADDRESS(of)  , &(of)->triangle
#else
#define TMM__TRIANGLE(of)   0
#define TMM__TILES(of, all) (all)
#define TMM__TRIANGLE_OF_ARGUMENTS
#define TMM__TRIANGLE_ADDRESS(of)
#endif

/* Is element (row, col) in the triangle? */
TMM__DEVICE bool tmm__in_triangle(int triangle, long long row, long long col)
{
    return triangle == 0 || (triangle == TMM__LOWER ? col <= row : col >= row);
}

/* Of 32 neighbours in row `row` from column col on, those that `mask` has and the triangle. */
TMM__DEVICE unsigned tmm__triangle_mask(int triangle, unsigned mask, long long row, long long col)
{
    if (triangle == 0) return mask;
    const int before = row <= col ? 0 : row - col < 31 ? (int)(row - col) : 31; /* row's own bit */
    if (triangle == TMM__UPPER) return row - col > 31 ? 0 : mask & ~((1u << before) - 1);
    return row < col ? 0 : mask & ((2u << before) - 1);
}

/* The same for two groups of 4 columns, 32 apart. */
TMM__DEVICE unsigned tmm__triangle_masks(int triangle, unsigned mask, long long row, long long col)
{
    if (triangle == 0) return mask;
    return (tmm__triangle_mask(triangle, mask, row, col) & 15) |
           tmm__triangle_mask(triangle, mask >> 4, row, col + 32) << 4;
}

#ifdef TMM_WITH_SYRK
/* Tiles of the lower triangle above row of tiles `down`. A tile is 2^log2 times as high as wide,
   log2 being -1, 0 or 1. */
TMM__DEVICE int tmm__tiles_above(int down, int log2)
{
    const unsigned d = (unsigned)down;
    if (log2 < 0) return (int)((d + 1) / 2 * ((d + 2) / 2));
    return (int)(log2 > 0 ? d * (d + 1) : d % 2 ? (d + 1) / 2 * d : d / 2 * (d + 1));
}

/* Tile number `tile` of the triangle, of a C of tiles_down x tiles_across: its first row and column,
   in units of tiles. Bands of an even number of rows of tiles are walked downwards, then across; then
   the steps along the diagonal:
       0  2  4 |                   in the upper triangle bands of columns, the other way around
       1  3  5 | 6
      ---------+----- next band */
TMM__DEVICE void tmm__triangle_tile(int triangle, int log2, int tiles_down, int tiles_across,
                                    int band_rows, int tile, int *tile_down, int *tile_across)
{
    const bool lower = triangle == TMM__LOWER;
    const int lines = lower ? tiles_down : tiles_across, most = lower ? tiles_across : tiles_down;
    const int high_log2 = lower ? log2 : -log2;
    /* About so many lines are above it. */
    int line = (int)sqrtf(high_log2 > 0 ? tile : high_log2 < 0 ? 4.0f * tile : 2.0f * tile);
    line -= line % band_rows;
    while (line > 0 && tmm__tiles_above(line, high_log2) > tile) line -= band_rows;
    while (line + band_rows < lines && tmm__tiles_above(line + band_rows, high_log2) <= tile)
        line += band_rows;
    tile -= tmm__tiles_above(line, high_log2);
    const int high = lines - line < band_rows ? lines - line : band_rows;
    int each = tmm__tiles_above(line + 1, high_log2) - tmm__tiles_above(line, high_log2);
    if (each > most) each = most;
    int along = tile / high, at = line + tile - along * high;
    if (along >= each) { /* the steps: what each line has more */
        tile -= each * high;
        for (at = line;; at++) {
            const int more =
                tmm__tiles_above(at + 1, high_log2) - tmm__tiles_above(at, high_log2) - each;
            if (tile < more || at + 1 == line + high) break;
            tile -= more;
        }
        along = each + tile;
    }
    *tile_down = lower ? at : along, *tile_across = lower ? along : at;
}
#endif

#if TMM__HOST
/* How many tiles of rows x cols an N x N matrix has, or a triangle of it. */
static inline double tmm__count_tiles(int triangle, long long M, long long N, int rows, int cols)
{
    const double down = ceil((double)M / rows), across = ceil((double)N / cols);
    if (triangle == 0) return down * across;
    const int lower = triangle == TMM__LOWER;
    const double lines = lower ? down : across, most = lower ? across : down;
    const double high = lower ? rows : cols,
                 wide = lower ? cols : rows; /* in ratios of 2 at most */
    const double last = floor((lines * high - 1) / wide) + 1;
    const double above = high == wide  ? lines * (lines + 1) / 2
                         : high > wide ? lines * (lines + 1)
                                       : floor((lines + 1) * (lines + 1) / 4);
    return above - (last > most ? last - most : 0);
}
#endif
#endif
