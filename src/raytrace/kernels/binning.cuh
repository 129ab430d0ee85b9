/* src/raytrace/kernels/binning.cuh. Kernels that give each tile a list of spheres.
   Uses: kernels/culling.cuh. Used by: host/launch.h. */
#if RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_BINNING)
#define RAYT__PART_BINNING
/* ============================== BINNING ======================================================= */
/* With many thousands of spheres a tile should not look at all of them. Four small kernels give
   each tile a list of its own, in no particular order, before KERNEL TILE renders:

     cover     covers[t]: the depth behind which tile t is hidden completely, by some sphere that
               covers all of it. In crowded scenes this leaves out nearly everything
     spheres   counts[t]: how many spheres can touch tile t and be nearer than that
     place     starts[t]: where its list begins; counts[t] = 0 again
     spheres   writes the lists, and counts[t] anew

   One thread a sphere (in `place`, a tile). A sphere and its tiles: 16 bytes are read, and 4 bytes
   a tile, an atomic addition a tile that is not hidden. What bounds it: the latency of those.
   Lists that do not fit the memory set aside for them get the start -1: all spheres are tried. */
typedef struct rayt__grid {
    int width, height, first_row; /* of the image, and where the band begins */
    int edge, across, down;       /* of a tile; tiles in a row and in a column */
} rayt__grid;

/* The tiles between which a sphere can lie along one axis, in pixels from the edge of the grid. */
static __device__ __forceinline__ void rayt__span(float centre, float radius, float margin,
                                                  int edge, int tiles, int *first, int *last)
{
    float scale = 1.0f / (float)edge;
    *first = (int)fminf(fmaxf((centre - radius - margin) * scale, 0), (float)tiles);
    *last = (int)fminf(fmaxf((centre + radius + margin) * scale, -1), (float)(tiles - 1));
}

static __device__ __forceinline__ void rayt__tiles(rayt__grid grid, float4 ball, int *first_column,
                                                   int *last_column, int *first_row, int *last_row)
{
    float x = ball.x + 0.5f * (float)grid.width;
    float y = ball.y + 0.5f * (float)grid.height - (float)grid.first_row;
    float margin = 1 + 1e-6f * (fabsf(ball.x) + fabsf(ball.y) + ball.w + (float)grid.width +
                                (float)grid.height);
    rayt__span(x, ball.w, margin, grid.edge, grid.across, first_column, last_column);
    rayt__span(y, ball.w, margin, grid.edge, grid.down, first_row, last_row);
}

RAYT_KERNEL void __launch_bounds__(256)
    rayt_bin_cover(const rayt_sphere *__restrict__ spheres, int count, rayt__grid grid,
                   unsigned *__restrict__ covers)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    float4 ball = __ldg((const float4 *)&spheres[i]);
    float far_corner = (float)(grid.edge - 1);
    if (!rayt_valid(ball) || ball.w < 0.7f * far_corner) return; /* too small for a tile */
    float rr = ball.w * ball.w, doubt = rayt__doubt(ball);
    int first_column, last_column, first_row, last_row;
    rayt__tiles(grid, ball, &first_column, &last_column, &first_row, &last_row);
    for (int row = first_row; row <= last_row; row++) {
        float y = rayt_coordinate(grid.first_row + row * grid.edge, grid.height);
        float dy = fmaxf(fabsf(y - ball.y), fabsf(y + far_corner - ball.y));
        for (int column = first_column; column <= last_column; column++) {
            float x = rayt_coordinate(column * grid.edge, grid.width);
            float dx = fmaxf(fabsf(x - ball.x), fabsf(x + far_corner - ball.x));
            float apart = dx * dx + dy * dy; /* of the farthest corner */
            if (!(apart <= 0.999f * rr)) continue;
            unsigned depth = rayt__order(ball.z + rayt__near_sqrt(0.9999f * rr - apart) - doubt);
            unsigned *cover = &covers[(size_t)row * grid.across + column];
            if (depth > *cover) atomicMax(cover, depth);
        }
    }
}

RAYT_KERNEL void __launch_bounds__(256)
    rayt_bin_spheres(const rayt_sphere *__restrict__ spheres, int count, rayt__grid grid,
                     const unsigned *__restrict__ covers, const int *__restrict__ starts,
                     int *__restrict__ counts, int *__restrict__ lists)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    float4 ball = __ldg((const float4 *)&spheres[i]);
    if (!rayt_valid(ball)) return;
    float doubt = rayt__doubt(ball);
    int first_column, last_column, first_row, last_row;
    rayt__tiles(grid, ball, &first_column, &last_column, &first_row, &last_row);
    for (int row = first_row; row <= last_row; row++) {
        float y = rayt_coordinate(grid.first_row + row * grid.edge, grid.height);
        for (int column = first_column; column <= last_column; column++) {
            float x = rayt_coordinate(column * grid.edge, grid.width);
            float bound = rayt__bound(ball, rayt__apart(ball, x, y, grid.edge, grid.edge), doubt);
            size_t tile = (size_t)row * grid.across + column;
            if (bound == -RAYT__MOST || rayt__order(bound) < covers[tile]) continue;
            if (!starts) {
                atomicAdd(&counts[tile], 1);
            } else if (starts[tile] >= 0) {
                lists[starts[tile] + atomicAdd(&counts[tile], 1)] = i;
            }
        }
    }
}

/* The lists follow one another in the order in which warps ask for room: any order will do. */
RAYT_KERNEL void __launch_bounds__(256)
    rayt_bin_place(int tiles, int capacity, unsigned long long *total, int *__restrict__ starts,
                   int *__restrict__ counts)
{
    int tile = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
    int wanted = tile < tiles ? counts[tile] : 0;
    unsigned long long before = (unsigned long long)wanted; /* the sum up to this lane */
    for (int step = 1; step < 32; step *= 2) {
        unsigned long long other = __shfl_up_sync(0xffffffffu, before, step);
        if (lane >= step) before += other;
    }
    unsigned long long room = 0;
    if (lane == 31) room = atomicAdd(total, before);
    room = __shfl_sync(0xffffffffu, room, 31) + before - (unsigned long long)wanted;
    if (tile >= tiles) return;
    starts[tile] =
        room + (unsigned long long)wanted <= (unsigned long long)capacity ? (int)room : -1;
    counts[tile] = 0;
}
#endif
