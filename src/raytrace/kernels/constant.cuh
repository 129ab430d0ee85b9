/* src/raytrace/kernels/constant.cuh. The kernel with spheres in constant memory.
   Uses: config.h, intersection.cuh.
   Used by: host/launch.h, trace/kinds.cuh, trace/host/launch.h. */
#if RAYT__KERNELS && !defined(RAYT__PART_CONSTANT)
#define RAYT__PART_CONSTANT
/* ============================== KERNEL CONSTANT =============================================== */
/* Spheres in constant memory, which has a cache of its own, made for the case that all lanes of a
   warp want the same address. A load from there brings 8 bytes at most; one from global memory
   brings 16. It takes as long for 4 bytes as for 8. Hence as few loads as possible: two
   spheres lie together in such an order that 3 loads bring what 2 tests need. The spheres have to
   be copied into constant memory anyway; rayt_split puts them in that order and squares radii.

        row 0           row 1           row 2 ..     row n, n even    row n + 1 ..
        +---+---+---+---+---+---+---+---+---+---     +---+---+---+---+---
        |x 0|y 0|x 1|y 1|rr0|rr1|z 0|z 1|x 2 ..      |rad| r | g | b |rad ..
        +---+---+---+---+---+---+---+---+---+---     +---+---+---+---+---
        '-load--'-load--'-load--' a hit: z           sphere 0: once a pixel

   The first level of the cache holds about 2 kB, these rows of 128 spheres. Warps drift apart as
   they walk. Beyond 2 kB they fetch from the second level, and a test takes a little longer.

   A scene larger than the table takes several launches (passes), each with the next part of it.
   `depths`, one float a pixel, carries the nearest depth from pass to pass; null if there is one.

   Per test 12 bytes from the constant cache and 6 operations; per pixel 4 bytes written.
   What bounds it: the loads, a multiprocessor begins one about every 2 cycles; all instructions of
   a test together take nearly as long.

   To paste: section INTERSECTION, then everything from here to its last line. Let rayt_split make
   a table in device memory, one thread a sphere, one more if they are odd; copy that to rayt_table
   with cudaMemcpyToSymbol; launch rayt_render_constant with blocks of (16, 16) threads. */
#ifndef RAYT_KERNEL
#define RAYT_KERNEL __global__
#define RAYT_TABLE  __constant__
#endif
#ifndef RAYT_MAX_CONST
#define RAYT_MAX_CONST 16384 /* bytes */
#endif

RAYT_TABLE float4 rayt_table[RAYT_MAX_CONST / 16];

RAYT_KERNEL void __launch_bounds__(256)
    rayt_split(const rayt_sphere *spheres, int count, float4 *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = (count + 1) / 2 * 2;
    if (i >= n) return;
    rayt_sphere s = {}; /* of radius 0, to fill the last pair */
    if (i < count) s = spheres[i];
    float *pair = (float *)&table[i / 2 * 2];
    int k = i % 2;
    pair[2 * k] = s.x;
    pair[2 * k + 1] = s.y;
    /* No squared distance is below 0, so that the kernel never hits a sphere that is not valid. */
    bool valid = rayt_valid(make_float4(s.x, s.y, s.z, s.radius));
    pair[4 + k] = valid ? rayt_mul(s.radius, s.radius) : 0;
    pair[6 + k] = s.z;
    table[n + i] = make_float4(s.radius, s.r, s.g, s.b);
}

RAYT_KERNEL void __launch_bounds__(256)
    rayt_render_constant(int count, int pass, float *depths, uchar4 *image, int width, int height,
                         int first_row, int rows)
{
    static_assert(RAYT_MAX_CONST >= 64 && RAYT_MAX_CONST <= 65536,
                  "RAYT_MAX_CONST must be 64 to 65536: bytes of constant memory, 64 two spheres");
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= rows) return;
    float px = rayt_coordinate(column, width), py = rayt_coordinate(first_row + row, height);

    float nearest = RAYT_NOTHING, nearest_dz = 0;
    int found = -1;
    if (pass > 0) nearest = depths[(size_t)row * width + column];
#pragma unroll 2 /* of more, the loop for what remains would load 4 bytes at a time */
    for (int i = 0; i < count; i += 2) {
        float4 centres = rayt_table[i];
        float2 squares = *(const float2 *)&rayt_table[i + 1];
        const float *z = (const float *)&rayt_table[i + 1] + 2;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            float dx = rayt_sub(px, k == 0 ? centres.x : centres.z);
            float dy = rayt_sub(py, k == 0 ? centres.y : centres.w);
            float rr = k == 0 ? squares.x : squares.y;
            if (rayt_misses(dx, dy, rr)) continue;
            float dz = rayt_dz(dx, dy, rr), depth = rayt_add(z[k], dz);
            if (depth > nearest) {
                nearest = depth;
                nearest_dz = dz;
                found = i + k;
            }
        }
    }

    uchar4 pixel = make_uchar4(0, 0, 0, 255);
    if (found >= 0) {
        float4 surface = rayt_table[(count + 1) / 2 * 2 + found]; /* radius, r, g, b */
        pixel = rayt_shade(nearest_dz, surface.x, surface.y, surface.z, surface.w);
    }
    if (found >= 0 || pass == 0) image[(size_t)row * width + column] = pixel;
    if (depths) depths[(size_t)row * width + column] = nearest;
}
/* END OF KERNEL */
#endif
