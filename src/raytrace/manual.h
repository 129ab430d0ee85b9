/* Joined from the parts in src/raytrace by `./build.sh join`: edit those, not this file. */
/* raytrace.cuh - v0.1 - sphere ray casting for CUDA through every kind of memory: one file, plain C
   style, nothing to link but the CUDA runtime. Licence: MIT No Attribution (text at the end).

   USE    #include "raytrace.cuh"       in any .cu file; everything is static, no set-up
          rayt_random_scene(spheres, 100, 1, 640, 480, 20, 120);            host arrays
          rayt_render_host(RAYT_CULLED, spheres, 100, image, 640, 480, NULL, NULL);
          rayt_write_png("picture.png", image, 640, 480);

   API    An image has 4 bytes a pixel, red green blue alpha (always 255), and no gaps: pixel
          (column, row) of an image w pixels wide starts at image + 4 * (row * w + column). Images
          are ROW-MAJOR, row 0 is the top of a picture file.

   Rays run along z, one through the centre of each pixel (an orthographic camera at z = infinity).
   The ray of (column, row) has x = column - width / 2 and y = row - height / 2: one unit is one
   pixel, and (0, 0) is the middle of the picture. Of the spheres on a ray the one that is hit
   at the largest z is seen, the lowest index among equals. Its colour is scaled by dz / radius,
   where dz is the distance from the centre plane of the sphere to the hit: bright in the middle,
   dark at the rim. A ray that hits nothing is black.

   Device pointers; enqueued on the stream, returns at once:
     rayt_render(where, spheres, count, image, width, height, stream)
     rayt_render_rows(where, spheres, count, image, width, height, first_row, rows, stream)
   Host pointers; complete when they return:
     rayt_render_host(where, spheres, count, image, width, height, progress, context)
                                     the whole job on the current device, in bands of rows
     rayt_render_cpu(spheres, count, image, width, height)     the reference, one thread
     rayt_random_scene(spheres, count, seed, width, height, radius_min, radius_max)
     rayt_write_png(path, image, width, height), rayt_write_ppm(path, image, width, height)
     rayt_print_ansi(file, image, width, height, columns)      a preview for any colour terminal
   Every call returns a rayt_status, RAYT_OK (0) on success; rayt_status_string(status) names it,
   rayt_last_error() says which argument or CUDA call was at fault, in the calling thread.
   Nothing here prints unasked or exits. rayt_where_string(where) gives a kernel's name.

   WHERE the spheres are when a ray asks for them
     RAYT_GLOBAL    in global memory                        these four are identical but for that,
     RAYT_READONLY  there, by way of the read-only cache    one pixel a thread, every sphere for
     RAYT_CONSTANT  in constant memory, laid out for it     every pixel: made to be read and
     RAYT_SHARED    in shared memory                        compared
     RAYT_CULLED    in shared memory, and only those that can touch a tile of the image, front to
                    back: the first that hides the rest ends the search. By far the fastest

   RAYS AT ANY ANGLE   with #define RAYT_WITH_TRACE before the include
          rayt_scene scene = {};               spheres, a material for each, lights, sky, ground; in C
                                               it is {0}
          scene.spheres = spheres, scene.materials = materials, scene.count = count;
          scene.sun.y = 2, scene.sun.z = 1;              towards the sun; without light all is black
          scene.sun.r = scene.sun.g = scene.sun.b = 1;   white
          scene.sky_top[2] = scene.sky_bottom[2] = 1;    blue
          rayt_camera camera = {{13, 2, 3}, {0, 0, 0}, {0, 1, 0}, 20, 0, 0};
          rayt_quality quality = {100, 50, 1, 2};          samples, depth, seed, gamma
          rayt_trace_host(RAYT_TREE, &scene, &camera, &quality, image, w, h, NULL, NULL);

     rayt_trace(where, &scene, &camera, &quality, image, width, height, stream)    device pointers
     rayt_trace_host(..., progress, context)      host pointers; builds the tree that RAYT_TREE needs
     rayt_trace_cpu(&scene, &camera, &quality, image, width, height)    the reference, all processors
   The camera looks from position to target; y points upwards, x to the right where z points to the
   viewer. Rays are in perspective, spread over a lens if there is one, or parallel. With parallel
   rays that look along -z the picture is that of rayt_render, upside down, as far as floats can tell
   distances to the camera apart. A sphere is RAYT_MATT (lit by sun, point lights and ambient light,
   with hard shadows), RAYT_DIFFUSE (by them and by all that is around), RAYT_MIRROR (fuzz) or
   RAYT_GLASS (index). Light that a path finds is added up over
   `samples` paths a pixel, each of up to `depth` rays. One goes through the middle of the pixel;
   several are spread over it, as `seed` says. A sample above 16 counts as 16; 1 is white.
   WHERE is one of the first four, in which every ray asks for every sphere, or RAYT_TREE: few are
   asked. RAYT_CONSTANT reads spheres beyond RAYT_MAX_CONST / 16 from global memory. The sphere that
   was hit is read with its colour and material from global memory, whatever WHERE is.
   Radii below 2^-20 or above 1e18 and coordinates above 1e18 or NaN: never hit.
   Sections TRACE: TYPES, TREE: TYPES and HIT have all members of scenes, cameras, trees and rays.

   A TREE over any number of spheres, and questions to it; with RAYT_WITH_TRACE
     rayt_build(&tree, spheres, count, stream)     device memory; again for spheres that have moved
     rayt_build_host(&tree, spheres, count)        host memory
     rayt_query(kind, &tree, rays, count, found, stream)       RAYT_NEAREST: index and distance;
                                                               RAYT_ANY: whether there is a hit
     rayt_query_within(&tree, balls, count, counts, lists, capacity, stream)     all near a point
     rayt_tree_free(&tree)
   What a hit is does not depend on the tree: the answers are the bits of a loop over all spheres, in
   every run, and those of rayt_trace are the same for RAYT_TREE. HIT says why.

   RULES that callers may rely on
     Every kernel, every device and the CPU give the same bytes, in every run. Compiler options
     (-use_fast_math, -fmad, -O3, -march=native) change nothing: rounding is written out.
     Radii below 2^-20 or above 1e18 (negative, 0, infinite, NaN), |z| above 1e18 and coordinates
     that are NaN: never hit. Colours outside 0 .. 1 are clamped, NaN is 0.
     Nothing is written outside the image. An image of no pixels does nothing; no spheres give
     a black one. A picture file appears whole or not at all.
     An error in CUDA's record (cudaPeekAtLastError) neither stops a call nor is blamed on it, and
     stays there, unless the call itself fails. Only a lost device stops it, and is named as "found
     before the launch". No call leaves an error of its own in the record.
     Macros that the program has defined before the include, WARPS, width or min, change nothing here
     and are as they were after it; for NVRTC define them after it.

   OPTIONS, defined before the first include of a file
     RAYT_IMPLEMENTATION  in one .cu file: emits the functions with C linkage, for C and C++ callers
     RAYT_EXTERN          in a .cu file: declarations of those functions only. A .c or .cpp file
                          (no nvcc) gets declarations without asking
     RAYT_WITH_TRACE      rays at any angle, a camera and a tree, as said above
     RAYT_HEADER          the name of this file in quotes, if you give it another: it includes itself
     RAYT_KERNEL          qualifiers of the kernels, default static __global__; under NVRTC
                          extern "C" __global__, so that names stay plain: rayt_render_shared.
                          For PyCUDA, which wraps the source in extern "C", define it __global__
     RAYT_TABLE           qualifiers of the constant table, default static __constant__; under
                          NVRTC __constant__. For PyCUDA, to fill it by name, define it __constant__
     RAYT_MAX_CONST       bytes of constant memory for the spheres, 64 for two; default 16384. Each
                          .cu file has 64 kB; with -rdc=true all files of a program together

   MEASURED   microseconds on one NVIDIA H200, CUDA 13.0, 2048 x 2048 pixels, radii 20 to 120, from
   device memory to device memory, bench/results/h200/rays.csv; all images equal, byte for byte
     spheres              16     64    256    512   1024   2048
     RAYT_GLOBAL        41.1    145    555   1105   2181   4347
     RAYT_READONLY      41.1    145    555   1105   2181   4345
     RAYT_CONSTANT      40.2    121    472    949   1890   3759
       its kernel       38.2    118    470    943      -      -   the table filled before
     RAYT_SHARED        41.1    124    454    897   1774   3525
     RAYT_CULLED         9.4   12.6   16.6   18.6   20.7   24.1
   RAYT_CULLED of 100,000 such spheres: 67; of 1,000,000 of radius 0.9 to 5.4: 320.

   LIMITS
     width, height: 2^24 (floats count pixels exactly up to there). count: 2^30.
     RAYT_CONSTANT takes as many passes as it needs for scenes beyond its table. There is one table
     per device and file: two RAYT_CONSTANT calls on different streams must not overlap in time.
     Threads that share a stream may call at once; so may rayt_render_host and rayt_trace_host, but
     not where a thread has a default stream of its own.
     RAYT_CONSTANT beyond its table, and RAYT_CULLED of many spheres, take scratch memory in the
     order of the stream. It comes from a pool of this header's own, which keeps up to 64 MB.
     The host compiler's -ffast-math may change what the CPU makes of NaN.

   CONTENTS   search for the words in capitals
     INTERSECTION (the records, the arithmetic), HIT (rays at any angle), TYPES, DECLARATIONS
     KERNEL GLOBAL, KERNEL READONLY, KERNEL CONSTANT, KERNEL SHARED
                                       each can be cut out and used below INTERSECTION
     CULLING, KERNEL TILE, BINNING, INSTANCES
     TREE: TYPES AND DECLARATIONS, NODES, WALKS, BUILD, CLUSTERS, BUNDLES, SORT, KERNELS TREE,
     BUILDING TREES, QUERIES; TRACE: TYPES, RANDOM VECTORS, PATHS, KINDS OF MEMORY, VIEW, LAUNCHERS,
     PICTURES, CPU REFERENCE; KERNEL TRACE
     STATUS, CHECKS, SCRATCH, LAUNCHERS, RENDERING, HOST LAYER, CPU REFERENCE, SCENES, PICTURES,
     HISTORY */
