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
#define TMM__TRIANGLE_OF_ARGUMENTS , int triangle
#define TMM__TRIANGLE_ADDRESS(of)  , &(of)->triangle
#else
#define TMM__TRIANGLE(of) 0
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
/* The triangle is cut in squares, so many along an edge, and these in tiles: one, or 2 that are above each
   other (ratio_log2 -1) or side by side (1). Its squares are folded to a rectangle, whose tiles blocks
   walk as they do those of any C. 4 squares along an edge become 5 x 2, 3 become 3 x 2:
       a                  h i           a               a f
       b e                a j           b d             b d
       c f h      -->     b e           c e f    -->    c e
       d g i j            c f
                          d g
   Finds tile (*down, *across) of that rectangle in C. */
TMM__DEVICE void tmm__triangle_tile(int triangle, int squares, int ratio_log2, int *down,
                                    int *across)
{
    const int i = ratio_log2 < 0 ? *down >> 1 : *down, j = ratio_log2 > 0 ? *across >> 1 : *across;
    const int rest = ratio_log2 < 0 ? *down & 1 : ratio_log2 > 0 ? *across & 1 : 0;
    const int even = 1 - squares % 2;
    const bool folded = i < j + even;
    const int low = folded ? j + squares / 2 : i - even;
    const int high = folded ? i + (squares + 1) / 2 : j;
    const int row = triangle == TMM__LOWER ? low : high, col = triangle == TMM__LOWER ? high : low;
    *down = ratio_log2 < 0 ? 2 * row + rest : row;
    *across = ratio_log2 > 0 ? 2 * col + rest : col;
}

/* Tiles that are no squares, nor halves of one, lie in rows, each of which has those that meet the
   triangle. first[n]: how many are in rows before row n; behind the last one a number that no tile has. */
enum { TMM__STAIRS = 64 };
typedef struct tmm__stairs {
    unsigned short first[TMM__STAIRS + 1], across; /* across: of all of C */
} tmm__stairs;

/* Finds tile number *down. */
TMM__DEVICE void tmm__stairs_tile(const tmm__stairs *stairs, int triangle, int *down, int *across)
{
    const int tile = *down;
    int row = 0;
#pragma unroll
    for (int more = TMM__STAIRS / 2; more > 0; more /= 2)
        if (stairs->first[row + more] <= tile) row += more;
    *down = row;
    *across = triangle == TMM__LOWER ? tile - stairs->first[row]
                                     : stairs->across - (stairs->first[row + 1] - tile);
}
#endif

#if TMM__HOST
/* How the tiles of C, or of its triangle, lie: as a rectangle of so many. */
typedef struct tmm__tiling {
    double down, across;
    int squares, ratio_log2; /* see tmm__triangle_tile */
} tmm__tiling;

static inline tmm__tiling tmm__tile(int triangle, long long M, long long N, int rows, int cols)
{
    const int edge = rows > cols ? rows : cols; /* twice the other at most */
    tmm__tiling t = {ceil((double)M / rows), ceil((double)N / cols), 0, 0};
    if (triangle == 0) return t;
    const double squares = ceil((double)N / edge), even = fmod(squares, 2) == 0;
    t.squares = (int)squares, t.ratio_log2 = (rows > cols) - (rows < cols);
    t.down = (squares + even) * (edge / rows), t.across = floor((squares + 1) / 2) * (edge / cols);
    return t;
}

#ifdef TMM_WITH_SYRK
/* Are the tiles of a triangle in rows, see tmm__stairs? */
static inline int tmm__is_stairs(int triangle, int rows, int cols)
{
    return triangle != 0 && rows != cols && rows != 2 * cols && cols != 2 * rows;
}

/* How many tiles there are then, and where rows begin. 0: there are too many. */
static inline int tmm__make_stairs(tmm__stairs *stairs, int triangle, long long N, int rows,
                                   int cols)
{
    const long long down = (N - 1) / rows + 1, across = (N - 1) / cols + 1;
    long long count = 0;
    memset(stairs, 0xff, sizeof *stairs);
    if (down > TMM__STAIRS) return 0;
    for (long long n = 0; n < down; n++) {
        const long long end = (n + 1) * rows < N ? (n + 1) * rows : N;
        stairs->first[n] = (unsigned short)count;
        count += triangle == TMM__LOWER ? (end - 1) / cols + 1 : across - n * rows / cols;
    }
    stairs->first[down] = (unsigned short)count, stairs->across = (unsigned short)across;
    return (int)count;
}
#endif

/* A rectangle of C that has the last tiles of a triangle, `rest` or a few more, in the order of bands of
   band_rows rows. Tiles are squares, or two side by side are. tiles is 0 if there is none. */
typedef struct tmm__last_tiles {
    int tiles;
    long long row, rows, col, cols;
} tmm__last_tiles;

static inline tmm__last_tiles tmm__last_of_triangle(const tmm__tiling *t, int triangle, long long N,
                                                    int edge, int band_rows, int rest)
{
    tmm__last_tiles last = {0, 0, 0, 0, 0};
    const int down = (int)t->down, each = t->ratio_log2 > 0 ? 2 : 1, half = (int)t->across / each;
    const int high = (down - 1) % band_rows + 1, even = 1 - t->squares % 2;
    const int wide = ((rest - 1) / high / each + 1);                /* in squares */
    if (wide > half || down - high <= half - 1 + even) return last; /* on the diagonal, or folded */
    last.tiles = high * wide * each;
    last.row = (long long)(down - high - even) * edge, last.rows = N - last.row;
    last.col = (long long)(half - wide) * edge, last.cols = (long long)wide * edge;
    if (triangle == TMM__LOWER) return last;
    const tmm__last_tiles upper = {last.tiles, last.col, last.cols, last.row, last.rows};
    return upper;
}
#endif
#endif
