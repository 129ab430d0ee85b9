/* src/raytrace/kernels/readonly.cuh. The kernel with spheres in the read-only cache.
   Uses: config.h, intersection.cuh. Used by: host/launch.h. */
#if RAYT__KERNELS && !defined(RAYT__PART_READONLY)
#define RAYT__PART_READONLY
/* ============================== KERNEL READONLY =============================================== */
/* The same spheres, loaded through the read-only (texture) cache: __ldg promises that nobody writes
   them while the kernel runs. `const ... *__restrict__` lets the compiler do it by itself. On GPUs
   since Volta that cache and the first-level cache are one: bytes, operations and bound are those
   of KERNEL GLOBAL. On older ones this was faster.

   To paste: section INTERSECTION, then everything from here to its last line;
   launch with blocks of (16, 16) threads, one thread a pixel. */
#ifndef RAYT_KERNEL
#define RAYT_KERNEL __global__
#endif

RAYT_KERNEL void __launch_bounds__(256)
    rayt_render_readonly(const rayt_sphere *__restrict__ spheres, int count,
                         uchar4 *__restrict__ image, int width, int height, int first_row, int rows)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= rows) return;
    float px = rayt_coordinate(column, width), py = rayt_coordinate(first_row + row, height);

    float nearest = RAYT_NOTHING, nearest_dz = 0;
    int found = -1;
    for (int i = 0; i < count; i++) {
        float4 ball = __ldg((const float4 *)&spheres[i]);
        float dx = rayt_sub(px, ball.x), dy = rayt_sub(py, ball.y), rr = rayt_mul(ball.w, ball.w);
        if (rayt_misses(dx, dy, rr)) continue;
        float dz = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, dz);
        if (depth > nearest && rayt_valid(ball)) {
            nearest = depth;
            nearest_dz = dz;
            found = i;
        }
    }

    uchar4 pixel = make_uchar4(0, 0, 0, 255);
    if (found >= 0) {
        const float4 *record = (const float4 *)&spheres[found];
        float4 colour = __ldg(record + 1);
        pixel = rayt_shade(nearest_dz, __ldg(record).w, colour.x, colour.y, colour.z);
    }
    image[(size_t)row * width + column] = pixel;
}
/* END OF KERNEL */
#endif
