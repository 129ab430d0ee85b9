/* src/raytrace/kernels/global.cuh. The kernel with spheres in global memory.
   Uses: config.h, intersection.cuh. Used by: host/launch.h. */
#if RAYT__KERNELS && !defined(RAYT__PART_GLOBAL)
#define RAYT__PART_GLOBAL
/* The four kernels that follow render `rows` rows of the image, from first_row on, one pixel a
   thread. They differ only in where a thread finds the spheres, and in what order they lie there:

        image, `width` wide               block of 16 x 16 threads      z ^     ray of one pixel
        +-----+-----+-----+---            +----------------+              |       |
        |block|block|block|               |................|              |     .-v-.   hit at
        +-----+-----+-----+---            |..#.............|  # a warp:   |    /  |dz\  z + dz
        |block|block|     |               |################|  2 rows      |   (---+---) z
        +-----+-----+-----+---            |################|  of 16       +------------------> x

   Each thread walks through all spheres: count tests a pixel of 7 operations each (6 where the
   radius is there as a square), more only for the few that are hit. All lanes of a warp ask for the
   same sphere at the same time. */

/* ============================== KERNEL GLOBAL ================================================= */
/* Spheres in global memory. The load of a sphere is the same address for all lanes, a broadcast:
   16 bytes of cache per warp and test, 7 operations per lane. Every block reads all spheres, but
   from the caches; device memory sees them once, and 4 bytes per pixel are written.
   What bounds it: the first-level cache, which hands 16 bytes to each of 32 lanes in 4 cycles;
   the arithmetic fits into that time.

   To paste: section INTERSECTION, then everything from here to its last line;
   launch with blocks of (16, 16) threads, one thread a pixel. */
#ifndef RAYT_KERNEL
#define RAYT_KERNEL __global__
#endif

RAYT_KERNEL void __launch_bounds__(256)
    rayt_render_global(const rayt_sphere *spheres, int count, uchar4 *image, int width, int height,
                       int first_row, int rows)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= rows) return;
    float px = rayt_coordinate(column, width), py = rayt_coordinate(first_row + row, height);

    float nearest = RAYT_NOTHING, nearest_dz = 0;
    int found = -1;
    for (int i = 0; i < count; i++) {
        float4 ball = *(const float4 *)&spheres[i]; /* x, y, z, radius */
        float dx = rayt_sub(px, ball.x), dy = rayt_sub(py, ball.y), rr = rayt_mul(ball.w, ball.w);
        if (rayt_misses(dx, dy, rr)) continue;
        float dz = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, dz);
        if (depth > nearest && rayt_valid(ball)) { /* `>`: of equals the first stays */
            nearest = depth;
            nearest_dz = dz;
            found = i;
        }
    }

    uchar4 pixel = make_uchar4(0, 0, 0, 255);
    if (found >= 0) {
        rayt_sphere s = spheres[found];
        pixel = rayt_shade(nearest_dz, s.radius, s.r, s.g, s.b);
    }
    image[(size_t)row * width + column] = pixel;
}
/* END OF KERNEL */
#endif
