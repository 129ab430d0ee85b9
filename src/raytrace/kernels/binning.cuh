/* src/raytrace/kernels/binning.cuh. Kernels that give each tile a list of spheres.
   Uses: config.h, intersection.cuh, culling.cuh. Used by: host/launch.h. */
#if RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_BINNING)
#define RAYT__PART_BINNING
/* ============================== BINNING ======================================================= */
/* With many thousands of spheres a tile should not look at all of them. Four small kernels give
   each tile a list of its own, in no particular order, before KERNEL TILE renders:

     cover     covers[t]: the depth behind which some sphere hides all of tile t. In crowded
               scenes this leaves out nearly everything
     spheres   counts[t]: the number of spheres that can touch tile t in front of that depth
     place     starts[t]: where the list begins; counts[t] = 0 again
     spheres   writes the lists, and counts[t] anew

   One thread a sphere (in `place`, a tile). It reads 16 bytes for the sphere and 4 a tile, and
   makes an atomic addition for each tile where it can be seen. What bounds it: the latency of
   those. A list that does not fit into the memory for lists gets the start -1: its tile tries all
   spheres. */
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

static __device__ __forceinline__ void rayt__tile_range(rayt__grid grid, float4 ball,
                                                        int *first_column, int *last_column,
                                                        int *first_row, int *last_row)
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
    float rr = ball.w * ball.w, tolerance = rayt__tolerance(ball);
    int first_column, last_column, first_row, last_row;
    rayt__tile_range(grid, ball, &first_column, &last_column, &first_row, &last_row);
    for (int row = first_row; row <= last_row; row++) {
        float y = rayt_coordinate(grid.first_row + row * grid.edge, grid.height);
        float dy = fmaxf(fabsf(y - ball.y), fabsf(y + far_corner - ball.y));
        for (int column = first_column; column <= last_column; column++) {
            float x = rayt_coordinate(column * grid.edge, grid.width);
            float dx = fmaxf(fabsf(x - ball.x), fabsf(x + far_corner - ball.x));
            float distance2 = dx * dx + dy * dy; /* of the farthest corner */
            if (!(distance2 <= 0.999f * rr)) continue;
            unsigned depth =
                rayt__sort_key(ball.z + rayt__approx_sqrt(0.9999f * rr - distance2) - tolerance);
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
    float tolerance = rayt__tolerance(ball);
    int first_column, last_column, first_row, last_row;
    rayt__tile_range(grid, ball, &first_column, &last_column, &first_row, &last_row);
    for (int row = first_row; row <= last_row; row++) {
        float y = rayt_coordinate(grid.first_row + row * grid.edge, grid.height);
        for (int column = first_column; column <= last_column; column++) {
            float x = rayt_coordinate(column * grid.edge, grid.width);
            float bound =
                rayt__bound(ball, rayt__distance2(ball, x, y, grid.edge, grid.edge), tolerance);
            size_t tile = (size_t)row * grid.across + column;
            if (bound == -RAYT__DEPTH_LIMIT || rayt__sort_key(bound) < covers[tile]) continue;
            if (!starts) {
                atomicAdd(&counts[tile], 1);
            } else if (starts[tile] >= 0) {
                lists[starts[tile] + atomicAdd(&counts[tile], 1)] = i;
            }
        }
    }
}

/* The lists follow one another in the order of the warps' atomic additions. Any order will do. */
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
