/* src/raytrace/kernels/shared.cuh. The kernel with spheres in shared memory.
   Uses: config.h, intersection.cuh. Used by: host/launch.h. */
#if RAYT__KERNELS && !defined(RAYT__PART_SHARED)
#define RAYT__PART_SHARED
/* ============================== KERNEL SHARED ================================================= */
/* Spheres in shared memory, 256 at a time: each thread of the block copies one, then all walk
   through the 256. Global memory, or rather the caches, deliver a sphere once a block instead of
   once a warp and test.

        spheres   |  0 .. 255  | 256 .. 511 | 512 ..        one part after the other
                        |
                        v  256 threads copy one ball each
        balls     [256] in shared memory  --->  every thread tests all 256

   Per test 16 bytes from shared memory, a broadcast to all lanes, and 7 operations; per pixel 4
   bytes written. What bounds it: the delivery of those 16 bytes to 32 lanes, by the same unit as
   in KERNEL GLOBAL. The first-level cache serves a broadcast nearly as fast as shared memory does:
   here at most a fifth of the time is saved.

   To paste: section INTERSECTION, then everything from here to its last line;
   launch with blocks of (16, 16) threads, one thread a pixel. */
#ifndef RAYT_KERNEL
#define RAYT_KERNEL __global__
#endif

RAYT_KERNEL void __launch_bounds__(256)
    rayt_render_shared(const rayt_sphere *spheres, int count, uchar4 *image, int width, int height,
                       int first_row, int rows)
{
    __shared__ float4 balls[256];
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    float px = rayt_coordinate(column, width), py = rayt_coordinate(first_row + row, height);

    float nearest = RAYT_NOTHING, nearest_dz = 0;
    int found = -1;
    for (int first = 0; first < count; first += 256) {
        int part = min(count - first, 256);
        if (thread < part) balls[thread] = *(const float4 *)&spheres[first + thread];
        __syncthreads(); /* the part is complete before anyone reads it */
        for (int i = 0; i < part; i++) {
            float4 ball = balls[i];
            float dx = rayt_sub(px, ball.x), dy = rayt_sub(py, ball.y);
            float rr = rayt_mul(ball.w, ball.w);
            if (rayt_misses(dx, dy, rr)) continue;
            float dz = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, dz);
            if (depth > nearest && rayt_valid(ball)) {
                nearest = depth;
                nearest_dz = dz;
                found = first + i;
            }
        }
        __syncthreads(); /* everyone has read it before it is overwritten */
    }

    if (column >= width || row >= rows) return; /* not before: barriers need all threads */
    uchar4 pixel = make_uchar4(0, 0, 0, 255);
    if (found >= 0) {
        rayt_sphere s = spheres[found];
        pixel = rayt_shade(nearest_dz, s.radius, s.r, s.g, s.b);
    }
    image[(size_t)row * width + column] = pixel;
}
/* END OF KERNEL */
#endif
