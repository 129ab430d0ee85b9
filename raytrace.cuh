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
/* src/raytrace/config.h. What is compiled: kernels, host code, declarations; their qualifiers. */
#if !defined(RAYT__PART_CONFIG)
#define RAYT__PART_CONFIG
#define RAYT_VERSION 100 /* 10000 * major + 100 * minor + patch */

#ifndef RAYT_HEADER /* the name by which this file includes itself */
#define RAYT_HEADER "raytrace.cuh"
#endif
#if defined(__has_include) && !defined(__CUDACC_RTC__) /* NVRTC 11 sees no headers in memory */
#if !__has_include(RAYT_HEADER)
#error "raytrace.cuh: this file has another name: define RAYT_HEADER as that name, in quotes"
#endif
#endif

#if defined(__CUDACC_RTC__)
#define RAYT__KERNELS 1 /* NVRTC: kernels only, no host code */
#define RAYT__HOST    0
#ifndef RAYT_KERNEL
#define RAYT_KERNEL extern "C" __global__
#endif
#ifndef RAYT_TABLE
#define RAYT_TABLE __constant__
#endif
#elif defined(__CUDACC__) && !defined(RAYT_EXTERN)
#define RAYT__KERNELS 1
#define RAYT__HOST    1
#ifndef RAYT_KERNEL
#define RAYT_KERNEL static __global__
#endif
#ifndef RAYT_TABLE
#define RAYT_TABLE static __constant__
#endif
#else
#define RAYT__KERNELS 0 /* C or C++ without nvcc, or RAYT_EXTERN: declarations only */
#define RAYT__HOST    0
#endif

#if defined(RAYT_IMPLEMENTATION) || !RAYT__HOST
#ifdef __cplusplus
#define RAYT_API extern "C"
#else
#define RAYT_API extern
#endif
#else
#define RAYT_API static inline
#endif

#ifndef __CUDACC_RTC__
#include <stdio.h>
#endif
#if RAYT__HOST
#include <cuda_runtime.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/stat.h>
#ifdef RAYT_WITH_TRACE
#include <pthread.h>
#include <unistd.h>
#endif
#endif
#endif

/* The CPU reference is meant to run at a fair speed however the file is compiled: nvcc gives the
   host compiler no -O of its own. */
#if defined(__GNUC__) && !defined(__clang__)
#define RAYT__OPTIMIZE __attribute__((optimize("O2")))
#else
#define RAYT__OPTIMIZE
#endif

#define RAYT__JOIN_(a, b) a##b
#define RAYT__JOIN(a, b)  RAYT__JOIN_(a, b)

/* A name with the edge of the tile at its end, where KERNEL TILE is compiled. */
#define RAYT__OF_TILE(name) RAYT__JOIN(name, RAYT_TILE)

/* A later inclusion cannot ask for what the first one did not. */
#ifdef RAYT_IMPLEMENTATION
#define RAYT__HAS_IMPLEMENTATION
#endif
#ifdef RAYT_EXTERN
#define RAYT__HAS_EXTERN
#endif
#ifdef RAYT_WITH_TRACE
#define RAYT__HAS_TRACE
#endif
#else
#if defined(RAYT_IMPLEMENTATION) && !defined(RAYT__HAS_IMPLEMENTATION)
#error "raytrace.cuh: RAYT_IMPLEMENTATION must be defined before the first #include of this file"
#endif
#if defined(RAYT_EXTERN) && !defined(RAYT__HAS_EXTERN)
#error "raytrace.cuh: RAYT_EXTERN must be defined before the first #include of this file"
#endif
#if defined(RAYT_WITH_TRACE) && !defined(RAYT__HAS_TRACE)
#error "raytrace.cuh: RAYT_WITH_TRACE must be defined before the first #include of this file"
#endif
#endif
/* src/raytrace/set_aside.h. Macros of the caller that are words of this file are set aside; warnings. */
#if !defined(RAYT__EMIT)
/* A program may have defined N, TILE or small before it includes this file. All words in capitals
   that this file has, letters, and words that windows.h defines are put away here; give_back.h puts
   them back. An inclusion of this file by itself leaves them alone. */
#ifdef __CUDACC_RTC__
#if !defined(RAYT__PART_INSTANCES)
#if defined(WARPS) || defined(width) || defined(height) || defined(rows) || defined(size) ||   \
    defined(depth) || defined(tile) || defined(i) || defined(k) || defined(n) || defined(x) || \
    defined(y) || defined(z) || defined(min)
#error "raytrace.cuh: with NVRTC define macros such as width or n after the #include"
#endif
#endif
#else
/* Each word stands here twice, for a macro cannot undefine another. */
/* clang-format off */
#define RAYT__WORDS(_) \
    _(EDGE) _(FIRST) _(IN_FLIGHT) _(LANE_H) _(LANE_W) _(REGIONS) _(REGIONS_ACROSS) _(REGION_H) \
    _(REGION_W) _(ROUNDS) _(SMALL) _(WARPS) _(a) _(b) _(block) _(c) _(count) _(d) _(depth) _(e) \
    _(g) _(gamma) _(h) _(half) _(height) _(i) _(k) _(l) _(min) _(n) _(p) _(q) _(r) _(row) _(rows) \
    _(s) _(size) _(steps) _(t) _(tile) _(w) _(width) _(x) _(y) _(z)
/* clang-format on */
#ifdef _MSC_VER
#define RAYT__PRAGMA(x) __pragma(x)
#else
#define RAYT__PRAGMA(x) _Pragma(#x)
#endif
#define RAYT__PUSH(word) RAYT__PRAGMA(push_macro(#word))
#define RAYT__POP(word)  RAYT__PRAGMA(pop_macro(#word))
RAYT__WORDS(RAYT__PUSH)
#undef EDGE
#undef FIRST
#undef IN_FLIGHT
#undef LANE_H
#undef LANE_W
#undef REGIONS
#undef REGIONS_ACROSS
#undef REGION_H
#undef REGION_W
#undef ROUNDS
#undef SMALL
#undef WARPS
#undef a
#undef b
#undef block
#undef c
#undef count
#undef d
#undef depth
#undef e
#undef g
#undef gamma
#undef h
#undef half
#undef height
#undef i
#undef k
#undef l
#undef min
#undef n
#undef p
#undef q
#undef r
#undef row
#undef rows
#undef s
#undef size
#undef steps
#undef t
#undef tile
#undef w
#undef width
#undef x
#undef y
#undef z
#endif

/* -Wconversion finds numbers of elements that become double, which is meant; the others are of taste,
   and programs that ask for them make errors of them. clang as the host compiler of nvcc sees
   functions of the device unused, and constants that nvcc has put in. */
#if RAYT__HOST && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wself-assign"
#endif
#endif
#endif
/* src/raytrace/intersection.cuh. The sphere, and the arithmetic of one ray. */
#if !defined(RAYT__PART_INTERSECTION)
#define RAYT__PART_INTERSECTION
/* ============================== INTERSECTION ================================================== */
/* The sphere and the arithmetic of one ray, the same text for every kernel and for the CPU.

   To paste: everything from here to END OF INTERSECTION; the four kernels below need no more. */
#ifdef __CUDACC__
#define RAYT_ALIGN __align__(16)
#elif defined(_MSC_VER)
#define RAYT_ALIGN __declspec(align(16))
#else
#define RAYT_ALIGN __attribute__((aligned(16)))
#endif

/* Lengths in pixels, colours from 0 to 1. The alignment makes the record 32 bytes: a thread loads
   x, y, z and radius, which decide a hit, with one 16-byte load, and the colour with another.
   Without it there would be seven loads of 4 bytes. */
typedef struct RAYT_ALIGN rayt_sphere {
    float x, y, z; /* centre; the viewer is at z = infinity */
    float radius;
    float r, g, b; /* colour where the surface faces the viewer */
} rayt_sphere;

#if defined(__CUDACC__) && !defined(RAYT_EXTERN)
#define RAYT_MIN_RADIUS 9.5367431640625e-7f /* 2^-20: no result below is ever a subnormal number, */
#define RAYT_FAR        1e18f               /* and none overflows */
#define RAYT_NOTHING    -4e18f              /* the depth of a ray that has hit nothing yet */

/* One operation, rounded to nearest once. Without this, compilers may contract a * b + c into one
   instruction that rounds once instead of twice. They do so here and not there: images would differ
   in a few bytes. On the device the intrinsics are exempt from that. On the host RAYT_OPAQUE makes a
   value one that the compiler knows nothing about: a rounded float, under any optimisation. Where
   units are known to round to float, nothing goes to memory for that. */
#ifdef __CUDA_ARCH__
#define RAYT_ROUND(on_device, on_host) return on_device
#define RAYT_OPAQUE(number)
#else
#if defined(__GNUC__) && defined(__x86_64__) && defined(__SSE_MATH__)
#define RAYT_OPAQUE(number) __asm__("" : "+x"(number));
#elif defined(__GNUC__) && defined(__aarch64__)
#define RAYT_OPAQUE(number) __asm__("" : "+w"(number));
#else
#define RAYT_OPAQUE(number)             \
    {                                   \
        volatile float stored = number; \
        number = stored;                \
    }
#endif
#define RAYT_ROUND(on_device, on_host) \
    float rounded = on_host;           \
    RAYT_OPAQUE(rounded)               \
    return rounded
#endif
static __host__ __device__ __forceinline__ float rayt_add(float a, float b)
{
    RAYT_ROUND(__fadd_rn(a, b), a + b);
}
static __host__ __device__ __forceinline__ float rayt_sub(float a, float b)
{
    RAYT_ROUND(__fsub_rn(a, b), a - b);
}
static __host__ __device__ __forceinline__ float rayt_mul(float a, float b)
{
    RAYT_ROUND(__fmul_rn(a, b), a * b);
}
static __host__ __device__ __forceinline__ float rayt_div(float a, float b)
{
    RAYT_OPAQUE(b) /* else -ffast-math multiplies by the inverse that several divisions share */
    RAYT_ROUND(__fdiv_rn(a, b), a / b);
}
static __host__ __device__ __forceinline__ float rayt_sqrt(float a)
{
    RAYT_ROUND(__fsqrt_rn(a), sqrtf(a));
}

/* The x of the ray through a column, or the y of one through a row; exact. */
static __host__ __device__ __forceinline__ float rayt_coordinate(int index, int size)
{
    return (float)index - 0.5f * (float)size;
}

/* Is a ray that passes a centre at (dx, dy) farther from it than the radius, whose square is rr?
   Also if something is NaN. Most tests of a ray end here. */
static __host__ __device__ __forceinline__ bool rayt_misses(float dx, float dy, float rr)
{
    return !(rayt_add(rayt_mul(dx, dx), rayt_mul(dy, dy)) < rr);
}

/* How far in front of its centre plane a ray hits a sphere that it does not miss. */
static __host__ __device__ __forceinline__ float rayt_dz(float dx, float dy, float rr)
{
    return rayt_sqrt(rayt_sub(rayt_sub(rr, rayt_mul(dx, dx)), rayt_mul(dy, dy)));
}

/* Can a ball (x, y, z, and w for the radius) be hit at all? rayt_misses does not see negative,
   minute and infinite radii, nor depths whose arithmetic would overflow. */
static __host__ __device__ __forceinline__ bool rayt_valid(float4 ball)
{
    return ball.w >= RAYT_MIN_RADIUS && ball.w <= RAYT_FAR && fabsf(ball.z) <= RAYT_FAR;
}

/* A colour component from 0 to 1, scaled, as a byte. */
static __host__ __device__ __forceinline__ unsigned char rayt_byte(float component, float scale)
{
    component = component > 0 ? (component < 1 ? component : 1) : 0; /* NaN is not > 0 */
    return (unsigned char)(int)rayt_mul(rayt_mul(component, scale), 255);
}

/* The pixel of a sphere with these radius and colour that was hit at dz. */
static __host__ __device__ __forceinline__ uchar4 rayt_shade(float dz, float radius, float r,
                                                             float g, float b)
{
    float scale = rayt_div(dz, radius); /* the cosine between the ray and the surface */
    return make_uchar4(rayt_byte(r, scale), rayt_byte(g, scale), rayt_byte(b, scale), 255);
}
#endif
/* END OF INTERSECTION */
#endif
/* src/raytrace/trace/hit.cuh. A ray at any angle, and what a hit of a sphere is. */
#if defined(RAYT_WITH_TRACE) && !defined(RAYT__PART_HIT)
#define RAYT__PART_HIT
/* ============================== HIT =========================================================== */
/* A ray at any angle, and the arithmetic of its hit with a sphere: the same text for every kind of
   memory, for the tree and for the CPU.

   To paste: section INTERSECTION, then everything from here to END OF HIT. */

/* One ray. Distances are lengths, in the unit of the spheres; the direction may have any length
   from 1e-18 to 1e18. The two halves of the record are one 16-byte load each. */
typedef struct RAYT_ALIGN rayt_ray {
    float x, y, z;    /* origin */
    float t_min;      /* nearest distance that counts; below 2^-38 it is taken as 0 */
    float dx, dy, dz; /* direction */
    float t_max;      /* farthest distance that counts; at least 2^-38, may be infinite */
} rayt_ray;

#if defined(__CUDACC__) && !defined(RAYT_EXTERN)
/* WHAT A HIT IS, so that a tree can never change it

   With f = origin - centre and a unit direction d, b = -f.d is the distance to the point nearest to
   the centre, and l = f + b d leads from the centre to that point. Haines, Guenther and
   Akenine-Moeller ("Precision Improvements for Ray/Sphere Intersection", Ray Tracing Gems, 2019,
   chapter 7) take rr - l.l as the discriminant: it loses no digits where the sphere is far away.
   The roots are q = b + sign(b) sqrt(discriminant) and (f.f - rr) / q, without cancellation.
   The nearer root counts, or the farther one if the nearer lies before t_min: the ray begins inside.

   A sphere is hit if three conditions hold, in the arithmetic written here:
     1. the discriminant is above 2^-100;
     2. [enter, exit] is not empty: the part of the ray in the sphere's own box, that is centre -
        radius to centre + radius on each axis, rounded outwards;
     3. t, the root moved into [enter, exit], is within [t_min, t_max].
   A ray has one nearest hit: the least t, and of equal ones the lowest index.

   Then a tree finds what a loop over all spheres finds, bit for bit. Rounding is monotonic: a <= b
   gives round(a - o) <= round(b - o), and likewise for products with a positive number. A box that
   contains the sphere's own box, put through the same operations, therefore has an interval that
   contains [enter, exit], and with it t. A tree may pass over a box if its interval is empty, ends
   before t_min or begins beyond the best t so far. None of that can be true of a box that holds the
   nearest hit. Where a tree rounds otherwise, it has to widen the interval by a bound of its error.

   Inverse directions are finite: components below 2^-37 are 2^-37 for the boxes. The exit has 2^-21
   of itself added (M. Pharr, W. Jakob, G. Humphreys, "Physically Based Rendering", 2023, 6.8.2), so
   that a ray which meets the box in exact arithmetic is not lost to rounding.

   RANGES. Radii 2^-20 to 1e18, |coordinates| up to 1e18, else a sphere is never hit and a ray never
   hits. Then |f| < 3.5e18, |l| < 1e19 and all squares are below 3.4e38: nothing overflows.
   No subnormal number matters, either, so that -ftz=true (-use_fast_math) changes nothing.
   Coordinates of an origin are at least 2^-38, components of d are 0 or at least 2^-37. Hence a
   difference f is 0 or at least 2^-62, its square is normal, and so are sums of two products with d.
   Where terms of a sum cancel almost wholly, less than 2^-100 is taken as 0. */
#define RAYT_TINY   3.637978807091713e-12f /* 2^-38 */
#define RAYT_CANCEL 7.888609052210118e-31f /* 2^-100 */

/* A ray that is ready: checked, of unit direction, with inverse components for boxes. */
typedef struct rayt_unit_ray {
    float x, y, z;
    float dx, dy, dz;
    float ix, iy, iz; /* 1 / dx, 1 / dy, 1 / dz; finite and not 0 */
    float t_min, t_max;
} rayt_unit_ray;

/* a * b + c, rounded once. */
static __host__ __device__ __forceinline__ float rayt_fma(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

/* A coordinate of an origin, not nearer to 0 than 2^-38. */
static __host__ __device__ __forceinline__ float rayt_not_tiny(float a)
{
    return fabsf(a) < RAYT_TINY ? RAYT_TINY : a;
}

/* 1 / a, rounded once. */
static __host__ __device__ __forceinline__ float rayt_one_over(float a)
{
#ifdef __CUDA_ARCH__
    return __frcp_rn(a); /* some instructions fewer than a division */
#else
    return rayt_div(1, a);
#endif
}

static __host__ __device__ __forceinline__ float rayt_inverse(float a)
{
    float least = a < 0 ? -2 * RAYT_TINY : 2 * RAYT_TINY;
    return rayt_one_over(fabsf(a) < 2 * RAYT_TINY ? least : a);
}

/* 0 for what remains where terms have cancelled. */
static __host__ __device__ __forceinline__ float rayt_remainder(float a)
{
    return fabsf(a) < RAYT_CANCEL ? 0 : a;
}

/* The ray made ready. One that cannot hit anything has t_max = -1: its origin, direction or
   distances are NaN, out of range, or the direction is 0. */
static __host__ __device__ __forceinline__ rayt_unit_ray rayt_ready(rayt_ray ray)
{
    rayt_unit_ray unit;
    float ax = fabsf(ray.dx), ay = fabsf(ray.dy), az = fabsf(ray.dz);
    float largest = ax > ay ? ax : ay;
    if (az > largest) largest = az;
    /* comparisons with NaN are false */
    bool good = ax <= RAYT_FAR && ay <= RAYT_FAR && az <= RAYT_FAR && largest >= 1e-18f &&
                fabsf(ray.x) <= RAYT_FAR && fabsf(ray.y) <= RAYT_FAR && fabsf(ray.z) <= RAYT_FAR &&
                ray.t_min <= 8 * RAYT_FAR && ray.t_max >= RAYT_TINY;
    union {
        float number;
        unsigned bits;
    } scale;
    scale.number = good ? largest : 1;
    scale.bits = 0x7f000000u - (scale.bits & 0x7f800000u); /* the largest one becomes 1 to 2 */
    float dx = rayt_mul(good ? ray.dx : 1, scale.number);
    float dy = rayt_mul(good ? ray.dy : 0, scale.number);
    float dz = rayt_mul(good ? ray.dz : 0, scale.number);
    dx = fabsf(dx) < 8 * RAYT_TINY ? 0 : dx;
    dy = fabsf(dy) < 8 * RAYT_TINY ? 0 : dy;
    dz = fabsf(dz) < 8 * RAYT_TINY ? 0 : dz;
    float part = rayt_one_over(rayt_sqrt(rayt_fma(dx, dx, rayt_fma(dy, dy, rayt_mul(dz, dz)))));
    unit.x = rayt_not_tiny(good ? ray.x : 0);
    unit.y = rayt_not_tiny(good ? ray.y : 0);
    unit.z = rayt_not_tiny(good ? ray.z : 0);
    unit.dx = rayt_mul(dx, part);
    unit.dy = rayt_mul(dy, part);
    unit.dz = rayt_mul(dz, part);
    unit.ix = rayt_inverse(unit.dx);
    unit.iy = rayt_inverse(unit.dy);
    unit.iz = rayt_inverse(unit.dz);
    unit.t_min = good && ray.t_min > RAYT_TINY ? ray.t_min : 0;
    unit.t_max = good ? ray.t_max : -1;
    return unit;
}

/* Can rays at any angle hit this ball (x, y, z, and w for the radius) at all? */
static __host__ __device__ __forceinline__ bool rayt_solid(float4 ball)
{
    return rayt_valid(ball) && fabsf(ball.x) <= RAYT_FAR && fabsf(ball.y) <= RAYT_FAR;
}

/* The edges of a ball's own box on one axis. Half a unit in the last place is lost in `edge`; 2^-23
   of it is at least one such unit. */
static __host__ __device__ __forceinline__ float rayt_low(float centre, float radius)
{
    float edge = rayt_sub(centre, radius);
    return rayt_sub(edge, rayt_mul(fabsf(edge), 1.1920928955078125e-7f));
}

static __host__ __device__ __forceinline__ float rayt_high(float centre, float radius)
{
    float edge = rayt_add(centre, radius);
    return rayt_add(edge, rayt_mul(fabsf(edge), 1.1920928955078125e-7f));
}

/* Narrows [*enter, *exit] to what lies between two planes across one axis. */
static __host__ __device__ __forceinline__ void rayt_slab(float low, float high, float origin,
                                                          float inverse, float *enter, float *exit)
{
    float at_low = rayt_mul(rayt_sub(low, origin), inverse);
    float at_high = rayt_mul(rayt_sub(high, origin), inverse);
    *enter = fmaxf(*enter, fminf(at_low, at_high));
    *exit = fminf(*exit, fmaxf(at_low, at_high));
}

/* What is left to do for a ball that meets condition 1: conditions 2 and 3. */
static __host__ __device__ __forceinline__ bool rayt_root(rayt_unit_ray ray, float4 ball, float b,
                                                          float discriminant, float *t)
{
    if (!rayt_solid(ball)) return false;
    float enter = -RAYT_FAR * 4, exit = RAYT_FAR * 8;
    rayt_slab(rayt_low(ball.x, ball.w), rayt_high(ball.x, ball.w), ray.x, ray.ix, &enter, &exit);
    rayt_slab(rayt_low(ball.y, ball.w), rayt_high(ball.y, ball.w), ray.y, ray.iy, &enter, &exit);
    rayt_slab(rayt_low(ball.z, ball.w), rayt_high(ball.z, ball.w), ray.z, ray.iz, &enter, &exit);
    exit = rayt_mul(exit, 1.000000476837158203125f); /* 1 + 2^-21 */
    if (!(enter <= exit)) return false;

    float fx = rayt_sub(ray.x, ball.x), fy = rayt_sub(ray.y, ball.y), fz = rayt_sub(ray.z, ball.z);
    float c = rayt_remainder(rayt_fma(fy, fy, rayt_fma(fz, fz, rayt_mul(ball.w, -ball.w))));
    c = rayt_remainder(rayt_fma(fx, fx, c));
    b = rayt_remainder(b);
    float half = rayt_sqrt(discriminant);
    float q = b < 0 ? rayt_sub(b, half) : rayt_add(b, half);
    float other = rayt_div(c, q);
    float near_root = b < 0 ? q : other, far_root = b < 0 ? other : q;
    *t = fminf(fmaxf(near_root, enter), exit);
    if (*t < ray.t_min) *t = fminf(fmaxf(far_root, enter), exit);
    return *t >= ray.t_min && *t <= ray.t_max;
}

/* Condition 1: does the line of the ray pass through the ball (x, y, z, and w for the radius)? Nearly
   all tests end here, after 14 operations. The rest is rayt_root's, with the same b and discriminant. */
static __host__ __device__ __forceinline__ bool rayt_passes(rayt_unit_ray ray, float4 ball,
                                                            float *b, float *discriminant)
{
    float fx = rayt_sub(ray.x, ball.x), fy = rayt_sub(ray.y, ball.y), fz = rayt_sub(ray.z, ball.z);
    *b = -rayt_fma(fx, ray.dx, rayt_add(rayt_mul(fy, ray.dy), rayt_mul(fz, ray.dz)));
    float lx = rayt_fma(*b, ray.dx, fx), ly = rayt_fma(*b, ray.dy, fy);
    float lz = rayt_fma(*b, ray.dz, fz), square = rayt_mul(ball.w, ball.w);
    *discriminant = rayt_fma(-lx, lx, rayt_fma(-ly, ly, rayt_fma(-lz, lz, square)));
    return *discriminant > RAYT_CANCEL; /* false if something is NaN */
}

/* Does the ray hit the ball? Then *t is the distance. */
static __host__ __device__ __forceinline__ bool rayt_hit(rayt_unit_ray ray, float4 ball, float *t)
{
    float b, discriminant;
    return rayt_passes(ray, ball, &b, &discriminant) && rayt_root(ray, ball, b, discriminant, t);
}

/* How far a coordinate lies outside of an interval; less than 2^-38 is 0. */
static __host__ __device__ __forceinline__ float rayt_outside(float a, float low, float high)
{
    float gap = fmaxf(rayt_sub(low, a), rayt_sub(a, high));
    return gap < RAYT_TINY ? 0 : gap;
}

/* The largest square of a distance that counts as within `radius`; rounding is allowed for. */
static __host__ __device__ __forceinline__ float rayt_reach(float radius)
{
    return radius > RAYT_TINY ? rayt_mul(rayt_mul(radius, radius), 1.000000953674316f) : 0;
}

/* Can anything be found about this point (x, y, z, and w for the radius)? */
static __host__ __device__ __forceinline__ bool rayt_place(float4 point)
{
    return fabsf(point.x) <= RAYT_FAR && fabsf(point.y) <= RAYT_FAR && fabsf(point.z) <= RAYT_FAR &&
           fabsf(point.w) <= RAYT_FAR;
}

/* Does the ball come within point.w of the point? Its centre must be within the sum of both radii,
   and its own box within point.w: what HIT says of boxes makes that hold for every box around it.
   The coordinates of the point have been through rayt_not_tiny. */
static __host__ __device__ __forceinline__ bool rayt_within(float4 point, float4 ball)
{
    float fx = rayt_sub(point.x, ball.x), fy = rayt_sub(point.y, ball.y);
    float fz = rayt_sub(point.z, ball.z), sum = rayt_add(point.w, ball.w);
    float square = rayt_fma(fx, fx, rayt_fma(fy, fy, rayt_mul(fz, fz)));
    if (!(sum > RAYT_TINY && square <= rayt_mul(sum, sum)) || !rayt_solid(ball)) return false;
    fx = rayt_outside(point.x, rayt_low(ball.x, ball.w), rayt_high(ball.x, ball.w));
    fy = rayt_outside(point.y, rayt_low(ball.y, ball.w), rayt_high(ball.y, ball.w));
    fz = rayt_outside(point.z, rayt_low(ball.z, ball.w), rayt_high(ball.z, ball.w));
    square = rayt_fma(fx, fx, rayt_fma(fy, fy, rayt_mul(fz, fz)));
    return square <= rayt_reach(point.w);
}

/* Is a hit at t of sphere `index` before the best one so far? `found` is -1 if there is none yet:
   as an unsigned number it is above every index. */
static __host__ __device__ __forceinline__ bool rayt_before(float t, int index, float best,
                                                            int found)
{
    return t < best || (t == best && (unsigned)index < (unsigned)found);
}
#endif
/* END OF HIT */
#endif
/* src/raytrace/trace/types.h. Materials, lights, scenes, cameras: what rayt_trace takes. */
#if defined(RAYT_WITH_TRACE) && !defined(RAYT__PART_TRACE_TYPES)
#define RAYT__PART_TRACE_TYPES
/* ============================== TRACE: TYPES ================================================== */
/* What becomes of light at a surface. Its colour is that of the sphere. */
typedef enum rayt_kind {
    RAYT_MATT = 0, /* lit by sun, lights and ambient light; a path of light ends there */
    RAYT_DIFFUSE,  /* lit by sun and lights, and by all that is around: a path goes on anywhere */
    RAYT_MIRROR,   /* reflects */
    RAYT_GLASS,    /* reflects and refracts */
    RAYT_KIND_COUNT
} rayt_kind;

/* The surface of one sphere; 16 bytes. A kind that is none counts as RAYT_MATT. */
typedef struct RAYT_ALIGN rayt_material {
    int kind;    /* a rayt_kind */
    float fuzz;  /* RAYT_MIRROR: 0 reflects exactly, 1 is satin; clamped to 0 .. 1 */
    float index; /* RAYT_GLASS: of refraction, inside to outside: 1.5 in air; up to 0: a mirror */
    float unused;
} rayt_material;

/* A light, and the point or the direction that it comes from. Colours of lights are those that a
   white RAYT_MATT surface facing the light has, of point lights at a distance of 1. */
typedef struct rayt_light {
    float x, y, z;
    float r, g, b; /* 0 or more; 1 is white */
} rayt_light;

enum { RAYT_MOST_LIGHTS = 4 };

/* All members may be 0: then nothing is there and all is black. The y axis points upwards. */
typedef struct rayt_scene {
    const rayt_sphere *spheres;     /* `count` of them */
    const rayt_material *materials; /* one a sphere; NULL: all are RAYT_MATT */
    int count;
    const struct rayt_tree *tree; /* of the same spheres, from rayt_build; for RAYT_TREE */
    int ground;                   /* 1: a plane at y = ground_height, with squares of two colours */
    float ground_height, ground_square; /* the latter: their edge; 0 for one colour, the first */
    float ground_colours[2][3];
    rayt_material ground_material;
    rayt_light sun; /* infinitely far; x, y, z: the direction towards it, of any length */
    int light_count;
    rayt_light lights[RAYT_MOST_LIGHTS]; /* points; light falls off with the square of distance */
    float sky_bottom[3], sky_top[3];     /* seen by rays straight down and up, mixed between */
    float ambient[3];                    /* light on RAYT_MATT surfaces, from nowhere */
} rayt_scene;

/* field_of_view 0: parallel rays, one unit of length a pixel, as for rayt_render. */
typedef struct rayt_camera {
    float position[3], target[3]; /* where it is, what is in the middle of the picture */
    float up[3];                  /* what is up in the picture, roughly */
    float field_of_view;          /* vertical, in degrees, up to 179; 0: parallel rays */
    float aperture;               /* diameter of the lens; 0: all is sharp */
    float focus_distance;         /* along the view, to the plane that is sharp; > 0 with a lens */
} rayt_camera;

typedef struct rayt_quality {
    int samples; /* paths a pixel, 1 to 65536; one goes through its centre, more are spread over it */
    int depth;   /* rays of a path at most, 1 to 1000; rays towards lights apart */
    unsigned long long seed;
    float gamma; /* 0.1 to 10: bytes are the mean to the power 1 / gamma; 1: in proportion */
} rayt_quality;
#endif
/* src/raytrace/types.h. Statuses and kinds of memory. */
#if !defined(__CUDACC_RTC__) && !defined(RAYT__PART_TYPES)
#define RAYT__PART_TYPES
/* ============================== TYPES ========================================================= */
typedef enum rayt_status {
    RAYT_OK = 0,
    RAYT_ERROR_ARGUMENT, /* null pointer, negative or too large a size, unknown `where`, ... */
    RAYT_ERROR_MEMORY,   /* host or device memory is used up */
    RAYT_ERROR_DEVICE,   /* no CUDA device, or the program was not built for this one */
    RAYT_ERROR_CUDA,     /* a launch or copy failed; rayt_last_error() has CUDA's words */
    RAYT_ERROR_FILE,     /* a file could not be written; rayt_last_error() has the system's words */
} rayt_status;

typedef enum rayt_where {
    RAYT_GLOBAL = 0,
    RAYT_READONLY,
    RAYT_CONSTANT,
    RAYT_SHARED,
    RAYT_CULLED,
    RAYT_WHERE_COUNT, /* not a kernel: how many there are for rayt_render */
    RAYT_TREE = 16    /* for rayt_trace */
} rayt_where;

#ifdef __CUDACC__
typedef cudaStream_t rayt_stream;
#else
typedef struct CUstream_st *rayt_stream; /* what cudaStream_t is, without CUDA's headers */
#endif

/* Called after each band of rows: `done` of `rows` are in the image. */
typedef void (*rayt_progress)(int done, int rows, void *context);
#endif
/* src/raytrace/functions.h. Declarations of the functions. */
#if !defined(__CUDACC_RTC__) && !defined(RAYT__PART_FUNCTIONS)
#define RAYT__PART_FUNCTIONS
/* ============================== DECLARATIONS ================================================== */
/* The name of a status: "RAYT_OK", ... Never NULL. */
RAYT_API const char *rayt_status_string(rayt_status status);

/* What went wrong in this thread's last call that did not return RAYT_OK: one sentence that names
   the argument or the CUDA call. "" if nothing has. Valid until the next failure. */
RAYT_API const char *rayt_last_error(void);

/* The name of a kernel as written on command lines: "global", "readonly", ... NULL for a value
   that is none, so that a program can go through RAYT_GLOBAL .. RAYT_WHERE_COUNT - 1. */
RAYT_API const char *rayt_where_string(rayt_where where);

/* Renders `count` spheres to an image of width x height pixels on the current device, enqueued on
   `stream`. spheres: device memory, 16-byte aligned (cudaMalloc's is), may be NULL if count is 0.
   image: device memory, 4 * width * height bytes, 4-byte aligned (16 is faster).
   Errors: RAYT_ERROR_ARGUMENT (nothing is launched), RAYT_ERROR_DEVICE, RAYT_ERROR_CUDA,
   RAYT_ERROR_MEMORY (no scratch memory). */
RAYT_API rayt_status rayt_render(rayt_where where, const rayt_sphere *spheres, int count,
                                 unsigned char *image, int width, int height, rayt_stream stream);

/* The same for a band: the rows first_row .. first_row + rows - 1 of that image go to `band`,
   which has 4 * width * rows bytes. For images beyond device memory and for several devices; also
   for GPUs that drive a display, where a launch must not take longer than a second or two. */
RAYT_API rayt_status rayt_render_rows(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *band, int width, int height, int first_row,
                                      int rows, rayt_stream stream);

/* The whole job: spheres and image in host memory. Allocates device memory for the spheres and a
   band of the image, copies, renders band by band, copies back, frees. `progress` is called with
   `context` after each band and may be NULL. On an error the rows reported to `progress` are
   complete. Errors: as above. */
RAYT_API rayt_status rayt_render_host(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *image, int width, int height,
                                      rayt_progress progress, void *context);

/* The same image by the CPU, host memory, one thread: the same intersection and shading, every
   pixel against every sphere that reaches its row. Errors: RAYT_ERROR_ARGUMENT, _MEMORY. */
RAYT_API rayt_status rayt_render_cpu(const rayt_sphere *spheres, int count, unsigned char *image,
                                     int width, int height);

/* Fills `spheres` (host memory) with a scene for an image of width x height. x and z span the
   width, y the height, each centred at 0; radius_min <= radius <= radius_max; any colour. All are
   uniform. The same seed gives the same bits everywhere. The course exercise that this header
   answers has radii from 20 to 120. */
RAYT_API rayt_status rayt_random_scene(rayt_sphere *spheres, int count, unsigned long long seed,
                                       int width, int height, float radius_min, float radius_max);

/* Writes an image in host memory to a file, without its alpha: PPM (P6), or PNG (8-bit RGB,
   lightly compressed). The file is written beside its place, as `path`.part, and then renamed:
   whatever happens, no half-written picture appears, and an older one stays until then (on Windows,
   until just before).
   Errors: RAYT_ERROR_ARGUMENT, RAYT_ERROR_FILE, RAYT_ERROR_MEMORY. */
RAYT_API rayt_status rayt_write_ppm(const char *path, const unsigned char *image, int width,
                                    int height);
RAYT_API rayt_status rayt_write_png(const char *path, const unsigned char *image, int width,
                                    int height);

/* Prints an image in host memory with 24-bit colour escape sequences. It is `columns` characters
   wide (1 to 1000; at most as many as the image has pixels). A character cell has two pixels of the
   preview, which needs UTF-8. Errors: RAYT_ERROR_ARGUMENT, RAYT_ERROR_FILE. */
RAYT_API rayt_status rayt_print_ansi(FILE *file, const unsigned char *image, int width, int height,
                                     int columns);

#ifdef RAYT_WITH_TRACE
/* Traces the scene's picture of width x height pixels, as the camera sees it, on the current device,
   enqueued on `stream`. The arrays of the scene and the image are in device memory: spheres,
   materials (16-byte aligned), image as for rayt_render; scene, camera and quality themselves are in
   host memory and may change after the call. RAYT_TREE needs scene->tree.
   Errors: RAYT_ERROR_ARGUMENT (nothing is launched), RAYT_ERROR_DEVICE, RAYT_ERROR_CUDA. */
RAYT_API rayt_status rayt_trace(rayt_where where, const rayt_scene *scene,
                                const rayt_camera *camera, const rayt_quality *quality,
                                unsigned char *image, int width, int height, rayt_stream stream);

/* The whole job: arrays and image in host memory, band by band as rayt_render_host does it. RAYT_TREE
   builds a tree of its own; scene->tree is not looked at. Errors: as above, RAYT_ERROR_MEMORY. */
RAYT_API rayt_status rayt_trace_host(rayt_where where, const rayt_scene *scene,
                                     const rayt_camera *camera, const rayt_quality *quality,
                                     unsigned char *image, int width, int height,
                                     rayt_progress progress, void *context);

/* The same image by the CPU, host memory, a thread for each processor. Every ray against every
   sphere, or through scene->tree if that is not NULL: of rayt_build_host. Errors:
   RAYT_ERROR_ARGUMENT. */
RAYT_API rayt_status rayt_trace_cpu(const rayt_scene *scene, const rayt_camera *camera,
                                    const rayt_quality *quality, unsigned char *image, int width,
                                    int height);
#endif
#endif
/* src/raytrace/trace/tree.h. The tree and its queries, as callers see them. */
#if defined(RAYT_WITH_TRACE) && !defined(__CUDACC_RTC__) && !defined(RAYT__PART_TREE_TYPES)
#define RAYT__PART_TREE_TYPES
/* ============================== TREE: TYPES AND DECLARATIONS ================================== */
/* A bounding-volume hierarchy over spheres. It begins as zeros, `rayt_tree tree = {}` (in C {0}). It
   holds a copy of the centres and radii, 40 bytes a sphere in all (on a device, for up to 512 spheres,
   another 11 KB): for questions the spheres are not needed any more. rayt_trace still reads those that
   are hit: they must be there, and unmoved. */
typedef struct rayt_tree {
    void *memory; /* of the device, or of the host */
    size_t bytes; /* allocated; grows, never shrinks */
    int count;    /* spheres of the last build; -1: it has failed */
    int on_host;  /* built by rayt_build_host */
    int device;   /* the one that was current when it was built */
} rayt_tree;

typedef enum rayt_query_kind {
    RAYT_NEAREST = 0, /* the nearest hit of each ray; of equal ones the sphere of lowest index */
    RAYT_ANY,         /* whether a ray hits anything, as shadows ask: ends at the first hit found */
} rayt_query_kind;

/* The answer for one ray. */
typedef struct rayt_found {
    int index; /* of the sphere; -1: the ray hits nothing. RAYT_ANY: 0 for a hit of any sphere */
    float t;   /* distance; RAYT_ANY, or no hit: 0 */
} rayt_found;

/* Where to look for neighbours: a point and a radius. */
typedef struct RAYT_ALIGN rayt_ball {
    float x, y, z;
    float radius; /* up to 1e18, else nothing is near; negative: so deep inside a sphere */
} rayt_ball;

/* Builds the tree over `count` spheres in device memory, enqueued on `stream`; again for spheres that
   have moved, or of another count: memory is kept and grows where it must. The stream is waited for
   only then, and a captured one refuses it. Spheres that no ray can hit (radius or coordinates out of
   range, NaN) are left out.
   tree: host memory, one stream at a time. spheres: 16-byte aligned, may be NULL if count is 0.
   Errors: RAYT_ERROR_ARGUMENT; _MEMORY, _DEVICE, _CUDA, after which questions are refused until a
   build succeeds. */
RAYT_API rayt_status rayt_build(rayt_tree *tree, const rayt_sphere *spheres, int count,
                                rayt_stream stream);

/* The same in host memory, complete when it returns, by one thread.
   Errors: RAYT_ERROR_ARGUMENT, RAYT_ERROR_MEMORY. */
RAYT_API rayt_status rayt_build_host(rayt_tree *tree, const rayt_sphere *spheres, int count);

/* Frees the memory of a tree, which may then be built anew. Waits for the device. NULL and an empty
   tree are allowed. */
RAYT_API rayt_status rayt_tree_free(rayt_tree *tree);

/* Asks a tree for `count` rays, enqueued on `stream`. rays, found: memory of the device, for a tree
   of the host host memory, then complete when it returns; 16-byte and 8-byte aligned. The answers
   are the bits that a loop over all spheres gives, whatever the tree. A ray that hits many spheres at
   one distance has to look at all of these, to find the lowest index.
   Errors: RAYT_ERROR_ARGUMENT (also for a tree that was never built, or on another device),
   RAYT_ERROR_DEVICE, RAYT_ERROR_CUDA. */
RAYT_API rayt_status rayt_query(rayt_query_kind kind, const rayt_tree *tree, const rayt_ray *rays,
                                int count, rayt_found *found, rayt_stream stream);

/* All spheres that come within a radius of a point, for `count` balls: distance to the centre at
   most radius + the sphere's radius. For centres within R among spheres of one radius r, ask for
   R - r. counts: how many there are, for each ball. lists: `capacity` indices for each ball, of which
   the first min(counts, capacity) are set, in ascending order: where counts is above capacity, the
   list was too short and has the lowest indices. Lists are kept in order by insertion, so that long
   ones take long; capacity 0 (lists NULL) only counts. A ball that is NaN, or has a number above
   1e18, finds nothing. Memory and errors: as above. */
RAYT_API rayt_status rayt_query_within(const rayt_tree *tree, const rayt_ball *balls, int count,
                                       int *counts, int *lists, int capacity, rayt_stream stream);
#endif
/* src/raytrace/kernels/global.cuh. The kernel with spheres in global memory. */
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
/* src/raytrace/kernels/readonly.cuh. The kernel with spheres in the read-only cache. */
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
/* src/raytrace/kernels/constant.cuh. The kernel with spheres in constant memory. */
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
/* src/raytrace/kernels/shared.cuh. The kernel with spheres in shared memory. */
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
/* src/raytrace/kernels/culling.cuh. Lists of the spheres that can touch a tile of the image. */
#if RAYT__KERNELS && !defined(RAYT__PART_CULLING)
#define RAYT__PART_CULLING
/* ============================== CULLING ======================================================= */
/* What RAYT_CULLED is made of. Tests of whole rectangles of pixels (can a sphere touch one? how
   near can it come there?) have a margin: an error costs work, and never a pixel. The image itself
   comes from the arithmetic of INTERSECTION.

   Terms:  ball       x, y, z and, in w, the radius: what decides a hit
           tile       square of the image that a block renders
           list       spheres that can touch a tile, in shared memory
           tolerance  depths that differ by less are too close to compare, because of rounding */

/* Threads of a block, and spheres of a list. */
#define RAYT__THREADS   256
#define RAYT__LIST_SIZE 512

typedef struct rayt__list {
    /* Front to back. A black sphere at RAYT__LIST_SIZE serves pixels that see nothing. */
    float4 ball[RAYT__LIST_SIZE + 1]; /* x, y, z, radius */
    float4 tint[RAYT__LIST_SIZE + 1]; /* rayt__tint of the sphere */
    int id[RAYT__LIST_SIZE];          /* index of the sphere */
    float top[RAYT__LIST_SIZE];       /* no later sphere of the list has a larger z anywhere */
    /* As they were found; a key is rayt__sort_key(largest z), its lowest 9 bits a tie-break. */
    int found_id[RAYT__LIST_SIZE];
    unsigned found_key[RAYT__LIST_SIZE];
    int count;
    unsigned tolerance; /* bits of the largest rayt__tolerance met so far */
} rayt__list;

/* A pixel that sees nothing. */
#define RAYT__BLACK 0xff000000u

/* Beyond every depth. Pixels outside the image have something there; its negative is no depth. */
#define RAYT__DEPTH_LIMIT 3e38f

/* The rim of a sphere: dz is less than this part of the radius. There rounding may make a ray miss
   although dz^2 is not negative. */
#define RAYT__RIM 9.765625e-4f /* 2^-10 */

/* A square root that is good to about 2^-22, in one instruction; NaN below zero. */
static __device__ __forceinline__ float rayt__approx_sqrt(float x)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

/* rayt_sqrt from 2^-100 on: the same instructions without the test for smaller values. dz^2 is
   never smaller (RAYT_MIN_RADIUS), unless it is 0: then the result is NaN. */
static __device__ __forceinline__ float rayt__sqrt(float x)
{
#ifdef __CUDA_ARCH__
    float reciprocal;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    float root = __fmul_rn(x, reciprocal), half = __fmul_rn(reciprocal, 0.5f);
    return __fmaf_rn(__fmaf_rn(-root, root, x), half, root);
#else
    return rayt_sqrt(x);
#endif
}

/* A reciprocal, accurate enough for rayt__div. */
static __device__ __forceinline__ float rayt__reciprocal(float x)
{
#ifdef __CUDA_ARCH__
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    return __fmaf_rn(reciprocal, __fmaf_rn(-x, reciprocal, 1), reciprocal);
#else
    return 1 / x;
#endif
}

/* rayt_div for 0 <= a <= b within RAYT_MIN_RADIUS .. RAYT_FAR, without its tests of the range. */
static __device__ __forceinline__ float rayt__div(float a, float b, float reciprocal)
{
#ifdef __CUDA_ARCH__
    float quotient = __fmul_rn(a, reciprocal);
    return __fmaf_rn(reciprocal, __fmaf_rn(-b, quotient, a), quotient);
#else
    (void)reciprocal;
    return rayt_div(a, b);
#endif
}

/* What is the same for all pixels of a sphere: its colour within 0 .. 1, and 1 / radius. */
static __device__ __forceinline__ float4 rayt__tint(float4 colour, float radius)
{
#ifdef __CUDA_ARCH__
    return make_float4(__saturatef(colour.x), __saturatef(colour.y), __saturatef(colour.z),
                       rayt__reciprocal(radius));
#else
    return make_float4(colour.x, colour.y, colour.z, 1 / radius);
#endif
}

/* rayt_shade, as a word with red in the lowest byte; `rim` becomes true at the rim. Adding 2^23
   with truncation leaves the integer part in the lowest byte, and costs less than a conversion. */
static __device__ __forceinline__ unsigned rayt__shade(float dz, float radius, float4 tint,
                                                       bool *rim)
{
    float scale = rayt__div(dz, radius, tint.w);
    *rim |= !(scale > RAYT__RIM); /* also if dz is NaN */
#ifdef __CUDA_ARCH__
    float r = __fmul_rn(__fmul_rn(tint.x, scale), 255);
    float g = __fmul_rn(__fmul_rn(tint.y, scale), 255);
    float b = __fmul_rn(__fmul_rn(tint.z, scale), 255);
    unsigned red = __float_as_uint(__fadd_rz(r, 8388608.0f));
    unsigned green = __float_as_uint(__fadd_rz(g, 8388608.0f));
    unsigned blue = __float_as_uint(__fadd_rz(b, 8388608.0f));
    return __byte_perm(__byte_perm(red, green, 0x0040), __byte_perm(blue, 255, 0x0040), 0x5410);
#else
    uchar4 pixel = rayt_shade(dz, radius, tint.x, tint.y, tint.z);
    return pixel.x | (unsigned)pixel.y << 8 | (unsigned)pixel.z << 16 | 255u << 24;
#endif
}

/* Floats as unsigned integers of the same order, for atomicMax and for sorting; and back. */
static __device__ __forceinline__ unsigned rayt__sort_key(float x)
{
    unsigned bits = (unsigned)__float_as_int(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
static __device__ __forceinline__ float rayt__from_sort_key(unsigned order)
{
    return __int_as_float((int)(order & 0x80000000u ? order & 0x7fffffffu : ~order));
}

/* Depths with approximate roots that differ by more than this are in the right order. The error of
   each is at most 2^-23 (|z| + radius), for two additions, and 2^-20.8 radius, for the root. */
static __device__ __forceinline__ float rayt__tolerance(float4 ball)
{
    return 2.5e-7f * fabsf(ball.z) + 1.9e-6f * ball.w;
}

/* The squared distance from a sphere's axis to the nearest of the rays in a rectangle of pixels
   that begins at (x0, y0). NaN coordinates give 0: near. */
static __device__ __forceinline__ float rayt__distance2(float4 ball, float x0, float y0, int w,
                                                        int h)
{
    float dx = fmaxf(fmaxf(x0 - ball.x, ball.x - (x0 + (float)(w - 1))), 0);
    float dy = fmaxf(fmaxf(y0 - ball.y, ball.y - (y0 + (float)(h - 1))), 0);
    return dx * dx + dy * dy;
}

/* The squared radius, with a margin that exceeds all rounding errors here. */
static __device__ __forceinline__ float rayt__padded_radius2(float4 ball)
{
    return ball.w * ball.w * 1.0001f;
}

/* The largest depth of a sphere in a rectangle at that squared distance, rounded up by `tolerance`;
   -RAYT__DEPTH_LIMIT if it cannot touch the rectangle. */
static __device__ __forceinline__ float rayt__bound(float4 ball, float distance2, float tolerance)
{
    float rest = rayt__padded_radius2(ball) - distance2;
    return rest >= 0 ? ball.z + rayt__approx_sqrt(rest) + tolerance : -RAYT__DEPTH_LIMIT;
}

/* All threads of the block: finds the spheres that can touch the square at (x0, y0). Candidates are
   the spheres first .. last - 1 or, with `ids`, ids[first .. last - 1]. list->count counts all that
   were found; those beyond RAYT__LIST_SIZE are not in the list. */
static __device__ __forceinline__ void rayt__gather(rayt__list *list, const rayt_sphere *spheres,
                                                    const int *ids, int first, int last, float x0,
                                                    float y0, int edge)
{
    enum { IN_FLIGHT = 4 }; /* loads that a thread has under way, to hide their latency */
    int thread = threadIdx.x, lane = threadIdx.x % 32;
    __syncthreads(); /* nobody reads the previous list any more */
    for (int n = thread; n < RAYT__LIST_SIZE; n += RAYT__THREADS) list->found_key[n] = 0;
    if (thread == 0) {
        list->count = 0;
        if (first == 0) list->tolerance = 0;
    }
    __syncthreads();
    for (int base = first; base < last; base += IN_FLIGHT * RAYT__THREADS) {
        float4 ball[IN_FLIGHT];
        int id[IN_FLIGHT];
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++) {
            int entry = base + n * RAYT__THREADS + thread;
            id[n] = entry >= last ? -1 : ids ? __ldg(ids + entry) : entry;
        }
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++)
            ball[n] = id[n] >= 0 ? __ldg((const float4 *)&spheres[id[n]]) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++) {
            if (base + n * RAYT__THREADS >= last) break;
            bool keep =
                rayt__distance2(ball[n], x0, y0, edge, edge) <= rayt__padded_radius2(ball[n]) &&
                rayt_valid(ball[n]);
            /* Compaction: the lanes that keep a sphere take consecutive places. */
            unsigned keepers = __ballot_sync(0xffffffffu, keep);
            if (keepers == 0) continue;
            int place = 0;
            if (lane == 0) place = atomicAdd(&list->count, __popc(keepers));
            place = __shfl_sync(0xffffffffu, place, 0) + __popc(keepers & ((1u << lane) - 1));
            if (!keep || place >= RAYT__LIST_SIZE) continue;
            list->found_id[place] = id[n];
            list->found_key[place] =
                (rayt__sort_key(ball[n].z + ball[n].w) & ~(RAYT__LIST_SIZE - 1u)) | (unsigned)place;
        }
    }
    __syncthreads();
}

/* All threads of the block: sorts the spheres found front to back. A sphere's place is the number
   of larger keys. All keys differ; those beyond the last are 0. */
static __device__ __forceinline__ void rayt__sort(rayt__list *list, const rayt_sphere *spheres)
{
    int count = list->count;
    if (count == 0) return;
    if (threadIdx.x == 0) {
        list->ball[RAYT__LIST_SIZE] = make_float4(0, 0, 0, 1);
        list->tint[RAYT__LIST_SIZE] = make_float4(0, 0, 0, 1);
    }
    for (int entry = threadIdx.x; entry < count; entry += RAYT__THREADS) {
        unsigned key = list->found_key[entry];
        int id = list->found_id[entry], place = 0;
        float4 ball = __ldg((const float4 *)&spheres[id]);
        float4 colour = __ldg((const float4 *)&spheres[id] + 1);
        for (int i = 0; i < count; i += 4) {
            uint4 keys = *(const uint4 *)&list->found_key[i];
            place += (keys.x > key) + (keys.y > key) + (keys.z > key) + (keys.w > key);
        }
        atomicMax(&list->tolerance, (unsigned)__float_as_int(rayt__tolerance(ball)));
        list->ball[place] = ball;
        list->tint[place] = rayt__tint(colour, ball.w);
        list->id[place] = id;
        list->top[place] = rayt__from_sort_key(key | (RAYT__LIST_SIZE - 1u));
    }
    __syncthreads();
}

/* One warp: the smallest of its floats. */
static __device__ __forceinline__ float rayt__warp_min(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return rayt__from_sort_key(__reduce_min_sync(0xffffffffu, rayt__sort_key(x)));
#else
    for (int step = 16; step > 0; step /= 2) x = fminf(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
#endif
}

/* All threads of the block: makes a square of the band black. */
static __device__ __forceinline__ void rayt__fill_black(uchar4 *image, int width, int rows,
                                                        int first_column, int first_row, int edge,
                                                        bool aligned)
{
    for (int n = threadIdx.x; n < edge * edge / 4; n += RAYT__THREADS) {
        int column = first_column + n % (edge / 4) * 4, row = first_row + n / (edge / 4);
        if (row >= rows || column >= width) continue;
        unsigned *to = (unsigned *)(image + (size_t)row * width + column);
        if (aligned)
            *(uint4 *)to = make_uint4(RAYT__BLACK, RAYT__BLACK, RAYT__BLACK, RAYT__BLACK);
        else
            for (int x = 0; x < 4 && column + x < width; x++) to[x] = RAYT__BLACK;
    }
}

/* One warp: renders the w x h pixels of the lane `owner` with the arithmetic of INTERSECTION. They
   begin at (column, row) of the band, where the ray is (px, py); the owner writes them. The lanes
   are distributed over the pixels, and the lanes of a pixel share the candidates. Those are
   ids[0 .. count - 1] or, without `ids`, all spheres. */
static __device__ __noinline__ void rayt__render_exactly(const rayt_sphere *spheres, const int *ids,
                                                         int count, float px, float py, int w,
                                                         int h, int owner, uchar4 *image, int width,
                                                         int rows, int column, int row)
{
    int lane = threadIdx.x % 32, pixels = w * h, shares = 32 / pixels;
    float x = px + (float)(lane % w), y = py + (float)(lane % pixels / w);
    float nearest = RAYT_NOTHING, nearest_dz = 0;
    int found = -1;
    for (int i = lane / pixels; i < count; i += shares) {
        int id = ids ? ids[i] : i;
        float4 ball = __ldg((const float4 *)&spheres[id]);
        float dx = rayt_sub(x, ball.x), dy = rayt_sub(y, ball.y), rr = rayt_mul(ball.w, ball.w);
        if (rayt_misses(dx, dy, rr)) continue;
        float hit = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, hit);
        if (rayt_valid(ball) && (depth > nearest || (depth == nearest && id < found))) {
            nearest = depth;
            nearest_dz = hit;
            found = id;
        }
    }
    for (int step = 16; step >= pixels; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, nearest, step);
        float other_dz = __shfl_xor_sync(0xffffffffu, nearest_dz, step);
        int id = __shfl_xor_sync(0xffffffffu, found, step);
        if (id >= 0 && (other > nearest || (other == nearest && id < found))) {
            nearest = other;
            nearest_dz = other_dz;
            found = id;
        }
    }
    unsigned pixel = RAYT__BLACK;
    if (found >= 0) {
        rayt_sphere s = spheres[found];
        uchar4 p = rayt_shade(nearest_dz, s.radius, s.r, s.g, s.b);
        pixel = p.x | (unsigned)p.y << 8 | (unsigned)p.z << 16 | RAYT__BLACK;
    }
    for (int n = 0; n < pixels; n++) {
        unsigned word = __shfl_sync(0xffffffffu, pixel, n);
        if (lane == owner && column + n % w < width && row + n / w < rows)
            ((unsigned *)image)[(size_t)(row + n / w) * width + column + n % w] = word;
    }
}
#endif
/* src/raytrace/kernels/tile.cuh. The kernel of RAYT_CULLED, for tiles of one size. */
#if defined(RAYT__EMIT) && defined(RAYT_TILE)
/* ============================== KERNEL TILE =================================================== */
/* A block renders a tile of RAYT_TILE x RAYT_TILE pixels. Its 256 threads list the spheres that can
   touch the tile and sort them front to back. If there are none, they make the tile black. Else
   each of the 8 warps renders two regions of the tile, each lane RAYT_LANE_W x RAYT_LANE_H
   neighbouring pixels.

         tile of 64 x 64:                  region (RAYT_ACROSS 4, lanes of 4 x 2 pixels):
         +---+---+---+---+                 +----+----+----+----+
         | 0 | 1 | 2 | 3 |  warps          |  0 |  1 |  2 |  3 |  lanes,
         +---+---+---+---+                 |  4 |  5 |  6 |  7 |  16 x 16 pixels
         | 4 | 5 | 6 | 7 |                 |  8 |  9 | ...     |
         +---+---+---+---+                 | ...               |
         | 0 | 1 | 2 | 3 |                 |                   |
         +---+---+---+---+                 | 28 | 29 | 30 | 31 |
         | 4 | 5 | 6 | 7 |                 +----+----+----+----+
         +---+---+---+---+
   Per region a warp takes 32 spheres of the list at a time, one a lane. A ballot selects those that
   can touch the region nearer than its farthest pixel so far. The first of them is tested against
   all pixels of the region, then the ballot is repeated for the others. The region is done when all
   its pixels are nearer than the largest z of the spheres that remain in the list.

   This walk compares depths with approximate square roots, and marks pixels where two depths are
   within the tolerance. The warp renders those again with exact roots (rayt__render_exactly), which
   is slow but rare. For all others the sphere is certain, and one exact root a pixel remains.

   A tile loads 16 bytes of each candidate and 32 of each sphere in its list, from the caches; 4
   bytes a pixel are written. What bounds it: the issue of instructions and the latency of the steps
   of a block; with few spheres, the writing of the image.

   With `starts`, the candidates of tile t are lists[starts[t]] .. + counts[t] - 1, unless starts[t]
   is negative; see BINNING. Lists too long for shared memory are taken in parts, for each region
   anew.

   The kernel is long, because the walk through the list stays in it. As a function, or with the
   arrays of a lane in a struct, nvcc 13.0 orders the same number of instructions differently. */

/* One lane: tests a sphere against its pixels, the first of which has the ray (px, py). `found`
   gets `name` where the sphere is nearer. `uncertain` becomes true if two depths are within the
   tolerance. Returns the depth of the farthest pixel. */
static __device__ __forceinline__ float RAYT__OF_TILE(rayt__test_sphere_)(
    float4 ball, int name, float px, float py, float tolerance, float (*nearest)[RAYT_LANE_W],
    float (*square)[RAYT_LANE_W], int (*found)[RAYT_LANE_W], bool *uncertain)
{
    float rr = rayt_mul(ball.w, ball.w), rest[RAYT_LANE_W];
#pragma unroll
    for (int x = 0; x < RAYT_LANE_W; x++) {
        float dx = rayt_sub(px + (float)x, ball.x);
        rest[x] = rayt_sub(rr, rayt_mul(dx, dx));
    }
    float farthest = RAYT__DEPTH_LIMIT;
#pragma unroll
    for (int y = 0; y < RAYT_LANE_H; y++) {
        float dy = rayt_sub(py + (float)y, ball.y), yy = rayt_mul(dy, dy);
#pragma unroll
        for (int x = 0; x < RAYT_LANE_W; x++) {
            /* NaN, for which all comparisons are false, beside the sphere */
            float dz2 = rayt_sub(rest[x], yy);
            float depth = ball.z + rayt__approx_sqrt(dz2);
            *uncertain |= fabsf(depth - nearest[y][x]) <= tolerance;
            if (depth > nearest[y][x]) {
                nearest[y][x] = depth;
                square[y][x] = dz2;
                found[y][x] = name;
            }
            farthest = fminf(farthest, nearest[y][x]);
        }
    }
    return farthest;
}

/* One lane: the colours of its pixels, from the squares of dz and what `found` says. */
static __device__ __forceinline__ void RAYT__OF_TILE(rayt__shade_lane_)(
    const rayt__list *list, const rayt_sphere *spheres, bool all_listed,
    const float (*square)[RAYT_LANE_W], const int (*found)[RAYT_LANE_W],
    unsigned (*pixel)[RAYT_LANE_W], bool *uncertain)
{
    if (all_listed) {
#pragma unroll
        for (int y = 0; y < RAYT_LANE_H; y++)
#pragma unroll
            for (int x = 0; x < RAYT_LANE_W; x++)
                pixel[y][x] = rayt__shade(rayt__sqrt(square[y][x]), list->ball[found[y][x]].w,
                                          list->tint[found[y][x]], uncertain);
    } else {
#pragma unroll
        for (int y = 0; y < RAYT_LANE_H; y++)
#pragma unroll
            for (int x = 0; x < RAYT_LANE_W; x++) {
                pixel[y][x] = RAYT__BLACK;
                if (found[y][x] >= 0) continue;
                const float4 *record = (const float4 *)&spheres[~found[y][x]];
                float radius = __ldg(record).w;
                pixel[y][x] = rayt__shade(rayt__sqrt(square[y][x]), radius,
                                          rayt__tint(__ldg(record + 1), radius), uncertain);
            }
    }
}

/* One lane: writes those of its pixels that are in the band. */
static __device__ __forceinline__ void RAYT__OF_TILE(rayt__write_lane_)(
    const unsigned (*pixel)[RAYT_LANE_W], uchar4 *image, int width, int rows, int column, int row,
    bool aligned)
{
#pragma unroll
    for (int y = 0; y < RAYT_LANE_H; y++) {
        if (row + y >= rows) continue;
        unsigned *to = (unsigned *)(image + (size_t)(row + y) * width + column);
        if (aligned && column + RAYT_LANE_W <= width) {
#if RAYT_LANE_W == 4
            *(uint4 *)to = make_uint4(pixel[y][0], pixel[y][1], pixel[y][2], pixel[y][3]);
#else
            *(uint2 *)to = make_uint2(pixel[y][0], pixel[y][1]);
#endif
        } else {
#pragma unroll
            for (int x = 0; x < RAYT_LANE_W; x++)
                if (column + x < width) to[x] = pixel[y][x];
        }
    }
}

RAYT_KERNEL void __launch_bounds__(RAYT__THREADS, 4)
    RAYT__OF_TILE(rayt_render_tile_)(const rayt_sphere *__restrict__ spheres, int count,
                                     const int *__restrict__ starts, const int *__restrict__ counts,
                                     const int *__restrict__ lists, uchar4 *__restrict__ image,
                                     int width, int height, int first_row, int rows)
{
    enum {
        LANE_W = RAYT_LANE_W,
        LANE_H = RAYT_LANE_H,
        REGION_W = RAYT_ACROSS * LANE_W,
        REGION_H = 32 / RAYT_ACROSS * LANE_H,
        REGIONS_ACROSS = RAYT_TILE / REGION_W,
        REGIONS = REGIONS_ACROSS * (RAYT_TILE / REGION_H),
        WARPS = RAYT__THREADS / 32
    };
    static_assert(REGIONS % WARPS == 0,
                  "all warps must render as many regions: they share barriers");
    __shared__ rayt__list list;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int tiles_across = (width - 1) / RAYT_TILE + 1;
    int tile_column = (int)(blockIdx.x % tiles_across) * RAYT_TILE;
    int tile_row = (int)(blockIdx.x / tiles_across) * RAYT_TILE;
    float tile_x = rayt_coordinate(tile_column, width);
    float tile_y = rayt_coordinate(first_row + tile_row, height);
    bool aligned = width % 4 == 0 && (size_t)image % 16 == 0;

    const int *ids = nullptr;
    int entries = count;
    if (starts && starts[blockIdx.x] >= 0) {
        ids = lists + starts[blockIdx.x];
        entries = counts[blockIdx.x];
    }

    rayt__gather(&list, spheres, ids, 0, entries, tile_x, tile_y, RAYT_TILE);
    if (list.count == 0) {
        rayt__fill_black(image, width, rows, tile_column, tile_row, RAYT_TILE, aligned);
        return;
    }
    /* If not, parts of the entries are listed in turn. */
    bool all_listed = list.count <= RAYT__LIST_SIZE;
    int part = all_listed ? entries : RAYT__LIST_SIZE;
    if (all_listed) rayt__sort(&list, spheres);

    for (int region = warp; region < REGIONS; region += WARPS) {
        int region_column = region % REGIONS_ACROSS * REGION_W;
        int region_row = region / REGIONS_ACROSS * REGION_H;
        int column = tile_column + region_column + lane % RAYT_ACROSS * LANE_W;
        int row = tile_row + region_row + lane / RAYT_ACROSS * LANE_H;
        float region_x = tile_x + (float)region_column, region_y = tile_y + (float)region_row;
        float px = rayt_coordinate(column, width), py = rayt_coordinate(first_row + row, height);

        /* Pixels outside the image have something in front of everything. */
        float nearest[LANE_H][LANE_W], square[LANE_H][LANE_W], farthest = RAYT_NOTHING;
        /* Place in the list; if that has parts, ~index of a sphere instead. */
        int found[LANE_H][LANE_W];
#pragma unroll
        for (int y = 0; y < LANE_H; y++)
#pragma unroll
            for (int x = 0; x < LANE_W; x++) {
                nearest[y][x] =
                    row + y < rows && column + x < width ? RAYT_NOTHING : RAYT__DEPTH_LIMIT;
                square[y][x] = 1;
                found[y][x] = RAYT__LIST_SIZE;
            }
        bool uncertain = false;

        for (int first = 0; first < entries; first += part) {
            if (!all_listed) {
                rayt__gather(&list, spheres, ids, first, min(first + part, entries), tile_x, tile_y,
                             RAYT_TILE);
                rayt__sort(&list, spheres);
            }
            int listed = list.count;
            float tolerance = __int_as_float((int)list.tolerance);

            for (int base = 0; base < listed; base += 32) {
                /* Nothing from here on comes nearer than this. */
                float hidden = rayt__warp_min(farthest);
                if (hidden > list.top[base] + tolerance) break;
                float bound = -RAYT__DEPTH_LIMIT;
                if (base + lane < listed) {
                    float4 ball = list.ball[base + lane];
                    bound =
                        rayt__bound(ball,
                                    rayt__distance2(ball, region_x, region_y, REGION_W, REGION_H),
                                    tolerance);
                }
                unsigned touching = __ballot_sync(0xffffffffu, bound >= hidden);
                while (touching) {
                    int next = __ffs((int)touching) - 1;
                    float4 ball = list.ball[base + next];
                    int name = all_listed ? base + next : ~list.id[base + next];
                    farthest =
                        RAYT__OF_TILE(rayt__test_sphere_)(ball, name, px, py, tolerance, nearest,
                                                          square, found, &uncertain);
                    /* On to the next that is not hidden. */
                    touching &= 0xfffffffeu << next;
                    if (touching)
                        touching &= __ballot_sync(0xffffffffu, bound >= rayt__warp_min(farthest));
                }
            }
        }

        unsigned pixel[LANE_H][LANE_W];
        RAYT__OF_TILE(rayt__shade_lane_)
        (&list, spheres, all_listed, square, found, pixel, &uncertain);
        RAYT__OF_TILE(rayt__write_lane_)(pixel, image, width, rows, column, row, aligned);

        unsigned undecided = __ballot_sync(0xffffffffu, uncertain);
        while (undecided) {
            int owner = __ffs((int)undecided) - 1;
            undecided &= undecided - 1;
            rayt__render_exactly(spheres, all_listed ? list.id : ids,
                                 all_listed ? list.count : entries,
                                 __shfl_sync(0xffffffffu, px, owner),
                                 __shfl_sync(0xffffffffu, py, owner), LANE_W, LANE_H, owner, image,
                                 width, rows, __shfl_sync(0xffffffffu, column, owner),
                                 __shfl_sync(0xffffffffu, row, owner));
        }
    }
}
#undef RAYT_TILE
#undef RAYT_ACROSS
#undef RAYT_LANE_W
#undef RAYT_LANE_H
#endif
/* src/raytrace/kernels/binning.cuh. Kernels that give each tile a list of spheres. */
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
/* src/raytrace/kernels/instances.h. KERNEL TILE for each size of a tile. */
#if RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_INSTANCES)
#define RAYT__PART_INSTANCES
/* ============================== INSTANCES ===================================================== */
/* KERNEL TILE for tiles of 64 and 32 pixels. The file includes itself with RAYT__EMIT set: then all
   of it but KERNEL TILE is left out. Small tiles, with small regions, are for small spheres, and for
   images of few pixels, which must keep all multiprocessors busy. */
#define RAYT__EMIT
#define RAYT_TILE   64
#define RAYT_ACROSS 4
#define RAYT_LANE_W 4
#define RAYT_LANE_H 2
#include RAYT_HEADER
#define RAYT_TILE   32
#define RAYT_ACROSS 4
#define RAYT_LANE_W 2
#define RAYT_LANE_H 1
#include RAYT_HEADER
#undef RAYT__EMIT
#endif
/* src/raytrace/trace/nodes.cuh. A node of the tree, and what of it a ray or a ball meets. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_NODES)
#define RAYT__PART_NODES
/* ============================== NODES ========================================================= */
/* A node has up to 8 children and 80 bytes, after H. Ylitie, T. Karras and S. Laine ("Efficient
   Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs", HPG 2017):

        word  0..2   origin of the node, floats          its boxes are origin + byte * 2^e on each
              3      e of x, y, z, biased by 151;        axis, 8 bits a plane: 6 bytes a child
                     bit 24 + k: child k is a node       instead of 24
              4      the first child that is a node      these lie together in the order of k,
              5      the first sphere                    and so do the spheres of all leaves
              6      bit 4 k + n: child k is a leaf with more than n spheres
              7      bit 4 k + 3: child k is a node
              8..13  low planes of x, y, z, 8 bytes each: byte 2 (k mod 4) + k / 4 is that of child k
              14..19 high planes

   Child k lies in octant k of the node, as far as the children can be placed so: bit 0 of k is set
   on the high side of x, bit 1 of y, bit 2 of z. A ray that comes from octant o meets children
   about in the order k ^ o = 0, 1, .. 7.

   Walks take distances times 2^-24: then a byte in the low half of 16 bits, which is a subnormal
   number of half precision, needs no conversion.

   WHY NO HIT IS LOST. Let u = 2^-24. A box of a node contains, in real numbers, the own boxes of
   its spheres, and has 5/8 of a step to spare on every side (BUILD). A step of an axis is s = 2^e
   inverse along the ray, and base = (origin - o) inverse has an error of 3 u |base|. HIT has the
   plane p of an own box at round(round(p - o) inverse), which is wrong by at most 2.1 u of its size.
   All of these are relative: 2^-19 = 32 u of the distance is added to exits and to the best hit so
   far, more than all of them together. What is absolute has the 5/8 of a step.

   In single precision (hosts, sm_75) nothing else is rounded but base + byte s, by 2 u |base| + 256 u s.

   In half precision (MEET) distances are taken from t0, where the ray has entered the grid of the
   node on all axes. If there is a hit in it, base - t0 is within 257 steps, and so is every plane:
   the far plane of the grid lies behind the hit, and the near one before t0. In units of 2^-24 a step
   is 4 or more. So the roundings to 11 bits of s, times 255, of base - t0 and of their sum are 1/8 of
   a step each, subnormal or not, and 1/4 of a step remains to spare. The unit is chosen by the axis
   with the least step, or by u t0 if that is more: 2^-25 is 1/8 of that, and it is relative. An axis
   whose step would be above 2^15 is shrunk to 2^14 or more. Its entries only become earlier then.
   An exit that is behind the hit has 1/4 of a step to spare, 2^12. No entry of another axis that
   belongs to a hit is above the 256 steps, of less than 8, of the axis with the least. */
#define RAYT__WIDTH      8
#define RAYT__LEAF_MOST  4 /* spheres of a leaf: 8 leaves have 32, which are the bits of a mask */
#define RAYT__NODE_WORDS 20
#define RAYT__BIAS       151 /* of exponents: 127, and 24 for the unit of walks */
#define RAYT__UNIT       5.9604644775390625e-8f /* 2^-24 */
#define RAYT__LONGER     1.9073486328125e-6f    /* 2^-19 */

/* Does the device have minima and maxima of two halves at a time? */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RAYT__HALVES 1
#else
#define RAYT__HALVES 0
#endif

/* Hosts' compilers have other words for it. nvcc would unroll these loops without one, too. */
#if defined(__CUDA_ARCH__) && !defined(_MSC_VER)
#define RAYT__UNROLL _Pragma("unroll")
#else
#define RAYT__UNROLL
#endif

/* Where a tree is, in the memory of whoever walks it. */
typedef struct rayt__tree_view {
    const uint4 *nodes; /* 5 of these a node; node 0 is the root */
    const float4 *balls;
    const int *indices; /* of the spheres, as the balls lie */
    const uint4 *list;  /* of few spheres: their clusters, on a device alone; else NULL */
} rayt__tree_view;

typedef union rayt__bits {
    unsigned bits;
    float number;
} rayt__bits;

static __host__ __device__ __forceinline__ float rayt__float_of(unsigned bits)
{
    rayt__bits both;
    both.bits = bits;
    return both.number;
}

static __host__ __device__ __forceinline__ unsigned rayt__bits_of(float number)
{
    rayt__bits both;
    both.number = number;
    return both.bits;
}

static __host__ __device__ __forceinline__ int rayt__ones(unsigned mask)
{
#ifdef __CUDA_ARCH__
    return __popc(mask);
#else
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return (int)(((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
#endif
}

/* The place of the lowest bit of a mask that has one. */
static __host__ __device__ __forceinline__ int rayt__lowest(unsigned mask)
{
#ifdef __CUDA_ARCH__
    return __ffs((int)mask) - 1;
#else
    return rayt__ones((mask & (0u - mask)) - 1);
#endif
}

/* The byte of a plane of child k, of the two words that all 8 have. */
static __host__ __device__ __forceinline__ float rayt__plane(unsigned first, unsigned second, int k)
{
    return (float)((k & 2 ? second : first) >> (k % 2 * 16 + k / 4 * 8) & 255);
}

static __host__ __device__ __forceinline__ uint4 rayt__load(const uint4 *address)
{
#ifdef __CUDA_ARCH__
    return __ldg(address);
#else
    return *address;
#endif
}

static __host__ __device__ __forceinline__ float4 rayt__load_ball(const float4 *address)
{
#ifdef __CUDA_ARCH__
    return __ldg(address);
#else
    return *address;
#endif
}

/* What a test of a node has met: bit 4 k + 3 for child k, if that is a node, bit 4 k + n for sphere n
   of child k, if that is a leaf. `all`, `leaves`: the same for all children, but `all` has bit k.
   `node`, `sphere`: the first. */
typedef struct rayt__met {
    unsigned children, spheres, all, leaves, node, sphere;
#if RAYT__HALVES
    unsigned at[4];   /* where the ray enters children k and, in the upper half, k + 4 .. */
    float begin, one; /* .. after `begin`, in units of `one` */
#else
    float at[RAYT__WIDTH];
#endif
} rayt__met;

/* Where the next sphere that is met lies among all; takes it from those that are met. */
static __host__ __device__ __forceinline__ unsigned rayt__next_sphere(unsigned *spheres,
                                                                      unsigned leaves,
                                                                      unsigned first)
{
    unsigned rest = *spheres & (*spheres - 1);
    unsigned before = (*spheres ^ rest) - 1;
    *spheres = rest;
    return first + (unsigned)rayt__ones(leaves & before);
}

/* 2^e as word 3 has it for one axis, times 2^24. */
static __host__ __device__ __forceinline__ float rayt__step_of(unsigned word, int axis)
{
    return rayt__float_of(word << (23 - 8 * axis) & 0x7f800000u);
}

#if RAYT__HALVES
/* MEET. Pairs of halves, in one register each. */
static __device__ __forceinline__ unsigned rayt__pair_fma(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* The same, and 0 where that is negative. */
static __device__ __forceinline__ unsigned rayt__pair_fma_0(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

static __device__ __forceinline__ unsigned rayt__pair_max(unsigned a, unsigned b)
{
    unsigned d;
    asm("max.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

static __device__ __forceinline__ unsigned rayt__pair_min(unsigned a, unsigned b)
{
    unsigned d;
    asm("min.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

/* All bits of a half where a <= b. */
static __device__ __forceinline__ unsigned rayt__pair_le(unsigned a, unsigned b)
{
    unsigned d;
    asm("set.le.u32.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

static __device__ __forceinline__ unsigned rayt__pair_of(float high, float low)
{
    unsigned d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

/* The lower half twice, and the upper one. */
static __device__ __forceinline__ unsigned rayt__twice_low(unsigned pair)
{
    unsigned d;
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {l, l};}" : "=r"(d) : "r"(pair));
    return d;
}

static __device__ __forceinline__ unsigned rayt__twice_high(unsigned pair)
{
    unsigned d;
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, h};}" : "=r"(d) : "r"(pair));
    return d;
}

static __device__ __forceinline__ float rayt__low_half(unsigned pair)
{
    float d;
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l;}" : "=f"(d) : "r"(pair));
    return d;
}

/* Bytes of a word; with 8 added to one of a selector, its sign bit 8 times. */
static __device__ __forceinline__ unsigned rayt__bytes(unsigned word, unsigned selector)
{
    unsigned d;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(d) : "r"(word), "r"(selector));
    return d;
}

static __device__ __forceinline__ int rayt__lesser(int a, int b)
{
    return a < b ? a : b;
}

static __device__ __forceinline__ int rayt__greater(int a, int b)
{
    return a > b ? a : b;
}

static __device__ __forceinline__ int rayt__exponent_of(float number)
{
    return (int)(rayt__bits_of(number) & 0x7f800000u);
}

/* What one axis is multiplied with: `all`, unless its step became 2^15 or more. */
static __device__ __forceinline__ float rayt__unit_of(int exponent, int all)
{
    const int half =
        0x43000000; /* 2^14 has a biased exponent of 268 - 127; the sum has no overflow */
    return __int_as_float(rayt__lesser(half - exponent + half, all));
}

/* A ray in the grid of a node, in halves. `enter`: of each axis the step and, in the lower half, the
   distance of the origin, after `begin`. `exit_xy`, `exit_z`: the same distances, as exits have them
   (y and x, then z), and in the lower half of exit_z `most`. All are times `all`. */
typedef struct rayt__frame {
    unsigned enter_x, enter_y, enter_z, exit_xy, exit_z;
    float begin;
    int all;
} rayt__frame;

/* The ray's inverses, its t_min and `most` are in units of walks; `most` is 2^-19 of itself beyond
   where the ray is to end. word: the exponents of a node. */
static __device__ __forceinline__ rayt__frame rayt__into_frame(float x, float y, float z,
                                                               unsigned word,
                                                               const rayt_unit_ray *ray, float most)
{
    float base_x = (x - ray->x) * ray->ix, step_x = rayt__step_of(word, 0) * ray->ix;
    float base_y = (y - ray->y) * ray->iy, step_y = rayt__step_of(word, 1) * ray->iy;
    float base_z = (z - ray->z) * ray->iz, step_z = rayt__step_of(word, 2) * ray->iz;
    /* Where the ray has entered the grid. As integers numbers compare as they do as floats, unless
       both are negative: but t_min is not. */
    int near_x = __float_as_int(fminf(step_x, 0) * (256 * RAYT__UNIT) + base_x);
    int near_y = __float_as_int(fminf(step_y, 0) * (256 * RAYT__UNIT) + base_y);
    int near_z = __float_as_int(fminf(step_z, 0) * (256 * RAYT__UNIT) + base_z);
    near_z = rayt__greater(near_z, __float_as_int(ray->t_min));
    float begin = __int_as_float(rayt__greater(rayt__greater(near_x, near_y), near_z));
    float sooner = begin * (1 - RAYT__LONGER);
    int size_x = rayt__exponent_of(step_x), size_y = rayt__exponent_of(step_y);
    int size_z = rayt__exponent_of(step_z);
    int least = rayt__lesser(rayt__lesser(size_x, size_y), size_z);
    least = rayt__greater(least, rayt__exponent_of(begin));
    int all = (int)(0x80000000u - (unsigned)least); /* the least step becomes 4 or more */
    float unit_x = rayt__unit_of(size_x, all), unit_y = rayt__unit_of(size_y, all);
    float unit_z = rayt__unit_of(size_z, all);
    rayt__frame frame;
    frame.enter_x = rayt__pair_of(step_x * unit_x, (base_x - begin) * unit_x);
    frame.enter_y = rayt__pair_of(step_y * unit_y, (base_y - begin) * unit_y);
    frame.enter_z = rayt__pair_of(step_z * unit_z, (base_z - begin) * unit_z);
    frame.exit_xy = rayt__pair_of((base_x - sooner) * unit_x, (base_y - sooner) * unit_y);
    frame.exit_z =
        rayt__pair_of((base_z - sooner) * unit_z, /* and 2^-10 for the rounding of `most` */
                      (most - sooner) * __int_as_float(all) * 1.0009765625f);
    frame.begin = begin;
    frame.all = all;
    return frame;
}

/* The children of a node that a ray meets between t_min and `most`. */
static __device__ __forceinline__ rayt__met rayt__meet(const uint4 *node, const rayt_unit_ray *ray,
                                                       float most)
{
    uint4 a = rayt__load(node), b = rayt__load(node + 1), c = rayt__load(node + 2);
    uint4 d = rayt__load(node + 3), e = rayt__load(node + 4);
    rayt__frame frame = rayt__into_frame(rayt__float_of(a.x), rayt__float_of(a.y),
                                         rayt__float_of(a.z), a.w, ray, most);
    unsigned enter_x = frame.enter_x, enter_y = frame.enter_y, enter_z = frame.enter_z;
    unsigned exit_xy = frame.exit_xy, exit_z = frame.exit_z;
    unsigned last = rayt__twice_low(exit_z), hit = 0;
    rayt__met met = {0, 0, a.w >> 24, b.z, b.x, b.y, {0, 0, 0, 0}, frame.begin, 0};
#pragma unroll
    for (int k = 0; k < 4; k++) { /* children k and k + 4 */
        unsigned low_x = k < 2 ? c.x : c.y, low_y = k < 2 ? c.z : c.w, low_z = k < 2 ? d.x : d.y;
        unsigned high_x = k < 2 ? d.z : d.w, high_y = k < 2 ? e.x : e.y, high_z = k < 2 ? e.z : e.w;
        const unsigned own = k % 2 ? 0x4342 : 0x4140; /* two bytes, with zeros */
        unsigned nx = rayt__bytes(ray->ix < 0 ? high_x : low_x, own);
        unsigned ny = rayt__bytes(ray->iy < 0 ? high_y : low_y, own);
        unsigned nz = rayt__bytes(ray->iz < 0 ? high_z : low_z, own);
        unsigned fx = rayt__bytes(ray->ix < 0 ? low_x : high_x, own);
        unsigned fy = rayt__bytes(ray->iy < 0 ? low_y : high_y, own);
        unsigned fz = rayt__bytes(ray->iz < 0 ? low_z : high_z, own);
        unsigned sx = rayt__twice_high(enter_x), sy = rayt__twice_high(enter_y);
        unsigned sz = rayt__twice_high(enter_z);
        nx = rayt__pair_fma_0(nx, sx, rayt__twice_low(enter_x));
        ny = rayt__pair_fma(ny, sy, rayt__twice_low(enter_y));
        nz = rayt__pair_fma(nz, sz, rayt__twice_low(enter_z));
        fx = rayt__pair_fma(fx, sx, rayt__twice_high(exit_xy));
        fy = rayt__pair_fma(fy, sy, rayt__twice_low(exit_xy));
        fz = rayt__pair_fma(fz, sz, rayt__twice_high(exit_z));
        met.at[k] = rayt__pair_max(nx, rayt__pair_max(ny, nz));
        unsigned exit = rayt__pair_min(rayt__pair_min(fx, last), rayt__pair_min(fy, fz));
        hit |= rayt__pair_le(met.at[k], exit) & (0x000f000fu << 4 * k);
    }
    met.one = __int_as_float(0x7f000000 - frame.all); /* 1 / all */
    met.children = hit & b.w;
    met.spheres = hit & b.z;
    return met;
}

/* The least distance at which the ray enters one of these children, rounded down to the upper 16 bits
   of a float. */
static __device__ __forceinline__ unsigned rayt__least(const rayt__met *met, unsigned children)
{
    const unsigned none = 0x7c007c00u; /* infinity */
    unsigned even = children << 4; /* bits 4 k + 3 become signs of bytes, and these whole halves */
    unsigned a = rayt__bytes(even, 0xaa88), b = rayt__bytes(children, 0xaa88);
    unsigned c = rayt__bytes(even, 0xbb99), d = rayt__bytes(children, 0xbb99);
    a = (met->at[0] & a) | (none & ~a);
    b = (met->at[1] & b) | (none & ~b);
    c = (met->at[2] & c) | (none & ~c);
    d = (met->at[3] & d) | (none & ~d);
    a = rayt__pair_min(rayt__pair_min(a, b), rayt__pair_min(c, d));
    a = rayt__pair_min(a, a >> 16);
    return rayt__bits_of(rayt__low_half(a) * met->one + met->begin) & 0xffff0000u;
}
#else
/* The same in single precision. at[k]: where the ray enters the box of child k. */
static __host__ __device__ __forceinline__ rayt__met rayt__meet(const uint4 *node,
                                                                const rayt_unit_ray *ray,
                                                                float most)
{
    uint4 a = rayt__load(node), b = rayt__load(node + 1), c = rayt__load(node + 2);
    uint4 d = rayt__load(node + 3), e = rayt__load(node + 4);
    float step_x = rayt__step_of(a.w, 0) * RAYT__UNIT * ray->ix;
    float step_y = rayt__step_of(a.w, 1) * RAYT__UNIT * ray->iy;
    float step_z = rayt__step_of(a.w, 2) * RAYT__UNIT * ray->iz;
    float base_x = (rayt__float_of(a.x) - ray->x) * ray->ix;
    float base_y = (rayt__float_of(a.y) - ray->y) * ray->iy;
    float base_z = (rayt__float_of(a.z) - ray->z) * ray->iz;
    float later_x = base_x + fabsf(base_x) * RAYT__LONGER;
    float later_y = base_y + fabsf(base_y) * RAYT__LONGER;
    float later_z = base_z + fabsf(base_z) * RAYT__LONGER;
    bool x = ray->ix < 0, y = ray->iy < 0, z = ray->iz < 0;
    rayt__met met = {0, 0, a.w >> 24, b.z, b.x, b.y, {0, 0, 0, 0, 0, 0, 0, 0}};
    RAYT__UNROLL
    for (int k = 0; k < RAYT__WIDTH; k++) {
        float low_x = rayt__plane(c.x, c.y, k), high_x = rayt__plane(d.z, d.w, k);
        float low_y = rayt__plane(c.z, c.w, k), high_y = rayt__plane(e.x, e.y, k);
        float low_z = rayt__plane(d.x, d.y, k), high_z = rayt__plane(e.z, e.w, k);
        float enter = (x ? high_x : low_x) * step_x + base_x;
        float exit = (x ? low_x : high_x) * step_x + later_x;
        enter = fmaxf(enter, (y ? high_y : low_y) * step_y + base_y);
        exit = fminf(exit, (y ? low_y : high_y) * step_y + later_y);
        enter = fmaxf(enter, (z ? high_z : low_z) * step_z + base_z);
        exit = fminf(exit, (z ? low_z : high_z) * step_z + later_z);
        met.at[k] = fmaxf(enter, ray->t_min);
        if (met.at[k] <= fminf(exit, most)) met.spheres |= 15u << 4 * k;
    }
    met.children = met.spheres & b.w;
    met.spheres &= b.z;
    return met;
}

static __host__ __device__ __forceinline__ unsigned rayt__least(const rayt__met *met,
                                                                unsigned children)
{
    float least = 3e38f;
    RAYT__UNROLL
    for (int k = 0; k < RAYT__WIDTH; k++)
        if (children >> (4 * k + 3) & 1) least = fminf(least, met->at[k]);
    return rayt__bits_of(least) & 0xffff0000u;
}
#endif

/* How far a point is beyond the nearer plane of a box on one axis; 0 inside. */
static __host__ __device__ __forceinline__ float rayt__beyond(float low, float high)
{
    return fmaxf(fmaxf(low, -high), 0);
}

/* The children of a node whose boxes come within a radius of a point; `reach` is rayt_reach of it, a
   little longer. Distances are in units of 1. What rayt_outside takes as 0, 2^-38, is less than the
   5/8 of a step. */
static __host__ __device__ __forceinline__ rayt__met rayt__near(const uint4 *node, float4 point,
                                                                float reach)
{
    uint4 a = rayt__load(node), b = rayt__load(node + 1), c = rayt__load(node + 2);
    uint4 d = rayt__load(node + 3), e = rayt__load(node + 4);
    float x = rayt__float_of(a.x) - point.x, step_x = rayt__step_of(a.w, 0) * RAYT__UNIT;
    float y = rayt__float_of(a.y) - point.y, step_y = rayt__step_of(a.w, 1) * RAYT__UNIT;
    float z = rayt__float_of(a.z) - point.z, step_z = rayt__step_of(a.w, 2) * RAYT__UNIT;
    rayt__met met = {};
    RAYT__UNROLL
    for (int k = 0; k < RAYT__WIDTH; k++) {
        float gx = rayt__beyond(rayt__plane(c.x, c.y, k) * step_x + x,
                                rayt__plane(d.z, d.w, k) * step_x + x);
        float gy = rayt__beyond(rayt__plane(c.z, c.w, k) * step_y + y,
                                rayt__plane(e.x, e.y, k) * step_y + y);
        float gz = rayt__beyond(rayt__plane(d.x, d.y, k) * step_z + z,
                                rayt__plane(e.z, e.w, k) * step_z + z);
        if (gx * gx + gy * gy + gz * gz <= reach) met.spheres |= 15u << 4 * k;
    }
    met.children = met.spheres & b.w;
    met.spheres &= b.z;
    met.all = a.w >> 24;
    met.leaves = b.z;
    met.node = b.x;
    met.sphere = b.y;
    return met;
}
#endif
/* src/raytrace/trace/walk.cuh. Walks through the tree: nearest hit, any hit, all within a radius. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_WALK)
#define RAYT__PART_WALK
/* ============================== WALKS ========================================================= */
/* A walk keeps, for each level that it has entered, the children that are still to be seen: one
   8-byte entry a level. BUILD makes no tree deeper than RAYT__DEPTH.

        first child that is a node, 32 bits
        where the ray enters the nearest of those to be seen, 16 bits of a float | which children are
        nodes, 8 bits | which are to be seen, 8 bits

   The last are in the order in which this ray sees them: bit j is child j ^ octant. An entry whose
   nearest child begins beyond the best hit is dropped whole. That saves a tenth to a sixth of all
   nodes; to know as much of each child would save little more. */
#define RAYT__DEPTH 64

typedef struct rayt__group {
    unsigned first, masks;
} rayt__group;

/* Bits 4 k + 3 of a mask as 8 bits in the order of a ray: bit k ^ octant for child k. The selector
   moves bytes, which are pairs of children; PRMT has it as an index for each. */
static __host__ __device__ __forceinline__ unsigned rayt__in_order(unsigned mask, unsigned octant)
{
#ifdef __CUDA_ARCH__
    mask = __byte_perm(mask, 0, 0x3210u ^ (octant >> 1) * 0x1111u);
#else
    if (octant & 2) mask = (mask & 0x00ff00ffu) << 8 | (mask >> 8 & 0x00ff00ffu);
    if (octant & 4) mask = mask << 16 | mask >> 16;
#endif
    unsigned shift = (octant & 1) * 4;
    mask = (mask & 0x08080808u) << shift | (mask & 0x80808080u) >> shift;
    mask = (mask >> 3 | mask >> 6) & 0x03030303u;
    return mask * 0x01041040u >> 24; /* four pairs of bits, side by side */
}

/* Takes the next child from a group that has one; returns its node. */
static __host__ __device__ __forceinline__ unsigned rayt__next(rayt__group *group, unsigned octant)
{
    unsigned masks = group->masks, child = (unsigned)rayt__lowest(masks & 255) ^ octant;
    group->masks = masks & (masks - 1);
    return group->first + (unsigned)rayt__ones(masks >> 8 & ((1u << child) - 1));
}

/* Are there children of this entry to be seen, which begin before `most`? */
static __host__ __device__ __forceinline__ bool rayt__worthwhile(rayt__group group, float most)
{
    return (group.masks & 255) != 0 && rayt__float_of(group.masks & 0xffff0000u) <= most;
}

/* What a walk does next. */
enum { RAYT__ENDED = 0, RAYT__SEES_NODE, RAYT__SEES_BALL, RAYT__HITS_BALL, RAYT__TURNS };

/* A ray on its way through a tree. */
typedef struct rayt__walk {
    rayt_unit_ray ray; /* t_min and inverses in units of walks; t_max: of the best hit so far */
    int stage, found;  /* found: the sphere, or -1 */
    rayt__group group; /* the children of the last node that are still to be seen */
    int levels;        /* of waiting groups */
    unsigned octant, node;
    unsigned spheres, leaves, sphere; /* of the last node, as rayt__met has them */
    unsigned place;                   /* of the ball that the ray's line passes through */
    float b, discriminant;
} rayt__walk;

/* Begins a walk, or none, if the ray cannot hit or none is wanted. */
static __host__ __device__ __forceinline__ void rayt__begin_walk(rayt__walk *walk,
                                                                 rayt_unit_ray ray, bool wanted)
{
    walk->stage = wanted && ray.t_max >= 0 ? RAYT__SEES_NODE : RAYT__ENDED;
    walk->octant = (ray.ix < 0 ? 1u : 0) | (ray.iy < 0 ? 2u : 0) | (ray.iz < 0 ? 4u : 0);
    ray.ix *= RAYT__UNIT;
    ray.iy *= RAYT__UNIT;
    ray.iz *= RAYT__UNIT;
    ray.t_min *= RAYT__UNIT;
    walk->ray = ray;
    walk->found = -1;
    walk->group.masks = 0;
    walk->levels = 0;
    walk->node = 0;
}

/* How far a walk goes, in units of walks: 2^-19 of the distance beyond the best hit. */
static __host__ __device__ __forceinline__ float rayt__most(const rayt__walk *walk)
{
    return walk->ray.t_max * ((1 + RAYT__LONGER) * RAYT__UNIT);
}

/* A node: which of its spheres and children the ray meets. */
static __host__ __device__ __forceinline__ void rayt__see_node(rayt__tree_view tree,
                                                               rayt__walk *walk,
                                                               rayt__group *waiting)
{
    rayt__met met = rayt__meet(tree.nodes + (size_t)walk->node * 5, &walk->ray, rayt__most(walk));
    walk->spheres = met.spheres;
    walk->leaves = met.leaves;
    walk->sphere = met.sphere;
    walk->stage = met.spheres != 0 ? RAYT__SEES_BALL : RAYT__TURNS;
    walk->node = 0; /* the root is nobody's child: turn back */
    if (met.children == 0) return;
    if ((walk->group.masks & 255) != 0) waiting[walk->levels++] = walk->group;
    unsigned order = rayt__in_order(met.children, walk->octant), rest = order & (order - 1);
    unsigned child = (unsigned)rayt__lowest(order) ^ walk->octant;
    walk->group.first = met.node;
    walk->group.masks = met.all << 8 | rest;
    if (rest != 0) walk->group.masks |= rayt__least(&met, met.children & ~(8u << 4 * child));
    walk->node = met.node + (unsigned)rayt__ones(met.all & ((1u << child) - 1));
}

/* The next sphere: does the ray's line pass through it? */
static __host__ __device__ __forceinline__ void rayt__see_ball(rayt__tree_view tree,
                                                               rayt__walk *walk)
{
    walk->place = rayt__next_sphere(&walk->spheres, walk->leaves, walk->sphere);
    float4 ball = rayt__load_ball(tree.balls + walk->place);
    if (rayt_passes(walk->ray, ball, &walk->b, &walk->discriminant)) {
        walk->stage = RAYT__HITS_BALL;
    } else if (walk->spheres == 0) {
        walk->stage = RAYT__TURNS;
    }
}

/* The sphere that has been passed through: is that a hit, and the best one? */
static __host__ __device__ __forceinline__ void rayt__hit_ball(rayt__tree_view tree,
                                                               rayt__walk *walk, bool any)
{
    rayt_unit_ray ray = walk->ray;
    float t;
    ray.ix *= 1 / RAYT__UNIT;
    ray.iy *= 1 / RAYT__UNIT;
    ray.iz *= 1 / RAYT__UNIT;
    ray.t_min *= 1 / RAYT__UNIT;
    float4 ball = rayt__load_ball(tree.balls + walk->place);
    walk->stage = walk->spheres != 0 ? RAYT__SEES_BALL : RAYT__TURNS;
    if (!rayt_root(ray, ball, walk->b, walk->discriminant, &t)) return;
    int index = tree.indices[walk->place];
    if (!rayt_before(t, index, ray.t_max, walk->found)) return;
    walk->ray.t_max = t;
    walk->found = index;
    if (any) walk->stage = RAYT__ENDED;
}

/* On to the first child of the last node, or back to what is waiting. */
static __host__ __device__ __forceinline__ void rayt__turn_to(rayt__walk *walk,
                                                              const rayt__group *waiting)
{
    walk->stage = RAYT__SEES_NODE;
    if (walk->node != 0) return;
    rayt__group group = walk->group;
    float most = rayt__most(walk);
    while (!rayt__worthwhile(group, most) && walk->levels > 0) group = waiting[--walk->levels];
    if (rayt__worthwhile(group, most)) {
        walk->node = rayt__next(&group, walk->octant);
    } else {
        walk->stage = RAYT__ENDED;
    }
    walk->group = group;
}

/* The nearest sphere that the ray hits, or with `any` whichever is found first: its index, and in *t
   the distance. -1 for none. */
static __host__ __device__ __forceinline__ int rayt__tree_nearest(rayt__tree_view tree,
                                                                  rayt_unit_ray ray, bool any,
                                                                  float *t)
{
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk;
    rayt__begin_walk(&walk, ray, true);
    while (walk.stage != RAYT__ENDED) {
        rayt__see_node(tree, &walk, waiting);
        while (walk.stage == RAYT__SEES_BALL) {
            rayt__see_ball(tree, &walk);
            if (walk.stage == RAYT__HITS_BALL) rayt__hit_ball(tree, &walk, any);
        }
        if (walk.stage == RAYT__TURNS) rayt__turn_to(&walk, waiting);
    }
    *t = walk.ray.t_max;
    return walk.found;
}

/* Walks on, a warp together, until `enough` of its walks have ended, or all. Rays of a warp go their
   own ways, and where they disagree lanes wait. So each round takes one node for all that are ready
   for one, and then spheres only as long as a quarter of these lanes have some: a sphere takes a sixth
   of the time of a node. For the rare hits it is the same. The others keep theirs for later rounds. */
static __device__ __forceinline__ void rayt__walk_on(rayt__tree_view tree, rayt__walk *walk,
                                                     rayt__group *waiting, bool any, int enough)
{
    for (;;) {
        if (walk->stage == RAYT__TURNS) rayt__turn_to(walk, waiting);
        __syncwarp();
        if (walk->stage == RAYT__SEES_NODE) rayt__see_node(tree, walk, waiting);
        __syncwarp();
        int turns = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__TURNS));
        int balls = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__SEES_BALL));
        while (balls > 0 && 3 * balls >= turns) {
            if (walk->stage == RAYT__SEES_BALL) rayt__see_ball(tree, walk);
            __syncwarp();
            balls = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__SEES_BALL));
        }
        int hits = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__HITS_BALL));
        turns = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__TURNS));
        if (hits > 0 && 3 * hits >= turns && walk->stage == RAYT__HITS_BALL)
            rayt__hit_ball(tree, walk, any);
        __syncwarp();
        int ended = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__ENDED));
        if (ended >= enough || ended == 32) return;
    }
}

/* Puts an index into an ascending list that has `count`; the largest falls out if it is full. */
static __host__ __device__ __forceinline__ void rayt__insert(int *list, int count, int capacity,
                                                             int index)
{
    int place = count;
    if (count >= capacity) {
        if (capacity == 0 || list[capacity - 1] < index) return;
        place = capacity - 1;
    }
    for (; place > 0 && list[place - 1] > index; place--) list[place] = list[place - 1];
    list[place] = index;
}

/* How many spheres come within point.w of a point; the list gets the lowest `capacity` indices. */
static __host__ __device__ __forceinline__ int rayt__tree_within(rayt__tree_view tree, float4 point,
                                                                 int *list, int capacity)
{
    rayt__group waiting[RAYT__DEPTH], group = {0, 0};
    unsigned node = 0;
    int levels = 0, count = 0;
    if (!rayt_place(point)) return 0;
    point.x = rayt_not_tiny(point.x);
    point.y = rayt_not_tiny(point.y);
    point.z = rayt_not_tiny(point.z);
    float reach = rayt_reach(point.w);
    reach += reach * RAYT__LONGER;
    for (;;) {
        const uint4 *here = tree.nodes + (size_t)node * 5;
        rayt__met met = rayt__near(here, point, reach);
        while (met.spheres != 0) {
            unsigned place = rayt__next_sphere(&met.spheres, met.leaves, met.sphere);
            if (!rayt_within(point, rayt__load_ball(tree.balls + place))) continue;
            rayt__insert(list, count, capacity, tree.indices[place]);
            count++;
        }
        if (met.children != 0) {
            if ((group.masks & 255) != 0) waiting[levels++] = group;
            group.first = met.node;
            group.masks = met.all << 8 | rayt__in_order(met.children, 0);
        } else if ((group.masks & 255) == 0) {
            if (levels == 0) break;
            group = waiting[--levels];
        }
        node = rayt__next(&group, 0);
    }
    return count;
}
#endif
/* src/raytrace/trace/build.cuh. How a tree is made: codes, a binary tree, wide nodes. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_BUILD)
#define RAYT__PART_BUILD
/* ============================== BUILD ========================================================= */
/* From spheres to nodes, each step for all at once:

     bounds   the box of all centres, and how many spheres a ray can hit at all
     codes    48-bit Morton code of each centre: 16 bits an axis, on a grid of cubes
     SORT     spheres in the order of their codes, six passes; up to RAYT__FEW spheres have bounds,
              codes and order by one kernel
     merge    a binary tree, from the leaves up, with boxes. Two neighbours i, i + 1 differ first in
              some bit of their codes (if those are equal, of i); the less that bit is worth, the
              earlier they meet. C. Apetrei ("Fast and Simple Agglomerative LBVH Construction",
              2014) builds the tree of T. Karras ("Maximizing Parallelism in the Construction of
              BVHs, Octrees, and k-d Trees", HPG 2012) so in one pass
     widen    nodes of 8 children, level by level from the root: of a node's descendants the one with
              the largest surface is opened, until there are 8. It copies the spheres of leaves, too.
              A node's place and those of its descendants follow from its parent, so that the same
              spheres give the same bytes, whatever runs first, and on the host

   A binary node is named by the last sphere of its left half, so that no two have the same name and
   halves need not be stored: node m of [first, last] has the halves [first, m] and [m + 1, last].

   Depth: bits above the one in which two neighbours differ are equal below a node, so a binary tree
   has at most 48 + 30 levels. From level 16 on, widen opens the descendant with the most spheres
   instead. Then a child with more than half of a node's spheres is 7 binary levels below it: at most
   78 / 7 such levels, and 30 with halves or less. RAYT__DEPTH is more than 16 + 11 + 30.

   Number of nodes: a child that is a node has at least 4 spheres more than one that is a leaf may
   have, and a node with 8 children at least 8. So n spheres have at most (n - 8) / 4 nodes below the
   one that holds them all (rayt__room). A node keeps the first of this room for its own children, and
   gives each of these its part of the rest. Spheres go likewise: those of leaves are the first. */
enum {
    RAYT__CODE_BITS = 48,
    RAYT__CELLS = 65535, /* cells 0 .. 65534: no code is that of spheres which are left out */
    RAYT__AREA_LEVELS = 16,
    RAYT__MERGE_THREADS = 256,
    RAYT__WIDEN_THREADS = 128,
    RAYT__WIDEN_NODES = RAYT__WIDEN_THREADS / RAYT__WIDTH, /* at a time */
    RAYT__FEW = 4096, /* up to so many spheres are sorted by comparing all with all */
    RAYT__FEW_THREADS = 1024,
    RAYT__PASSES = RAYT__CODE_BITS / 8,
};
#define RAYT__LEFT_OUT 0xffffffffffffull

typedef struct rayt__box {
    float low_x, low_y, low_z, high_x, high_y, high_z;
} rayt__box;

/* A binary node: its box, and the names of its halves. 32 bytes, a sector of memory. */
typedef struct RAYT_ALIGN rayt__pair {
    float low_x, low_y, low_z;
    int left;
    float high_x, high_y, high_z;
    int right;
} rayt__pair;

/* A node to be: which of the sorted spheres it has, the name of their binary node (unless it is one
   sphere), where the node goes, and where the nodes and the spheres below it begin. */
typedef struct RAYT_ALIGN rayt__task {
    int first, last, name, node;
    int room, sphere, level, unused;
} rayt__task;

/* Where in `queue` stands how many tasks are taken, how many there are but for the root, and how many
   are yet to be done, less 1. They are far apart, so that each is in another slice of L2. */
enum rayt__queue { RAYT__TAKEN = 0, RAYT__TAIL = 64, RAYT__OPEN = 128, RAYT__QUEUE = 192 };

/* All that a build has in memory. */
typedef struct rayt__build {
    const rayt_sphere *spheres;
    unsigned long long *keys; /* sorted */
    int *order;               /* of the spheres, by their keys */
    rayt__pair *pairs;
    unsigned long long
        *meetings; /* for each pair, of the half that was ready first: end + 1, name */
    rayt__task *tasks;
    unsigned *bounds; /* keys of the largest x, y, z; of the smallest, inverted; spheres; root */
    unsigned *totals; /* how many keys have each digit, for each pass of the sort */
    int *queue;       /* counters of the queue of tasks; rayt__queue */
    int *flags;       /* of each task: is it there? */
    uint4 *nodes;
    float4 *balls;
    int *indices;
    int count;
} rayt__build;

static __host__ __device__ __forceinline__ float4 rayt__ball_of(const rayt_sphere *spheres, int i)
{
    return rayt__load_ball((const float4 *)&spheres[i]);
}

static __host__ __device__ __forceinline__ rayt__box rayt__own_box(float4 ball)
{
    rayt__box box = {rayt_low(ball.x, ball.w),  rayt_low(ball.y, ball.w),
                     rayt_low(ball.z, ball.w),  rayt_high(ball.x, ball.w),
                     rayt_high(ball.y, ball.w), rayt_high(ball.z, ball.w)};
    return box;
}

static __host__ __device__ __forceinline__ rayt__box rayt__around(rayt__box a, rayt__box b)
{
    rayt__box box = {fminf(a.low_x, b.low_x),   fminf(a.low_y, b.low_y),
                     fminf(a.low_z, b.low_z),   fmaxf(a.high_x, b.high_x),
                     fmaxf(a.high_y, b.high_y), fmaxf(a.high_z, b.high_z)};
    return box;
}

/* 16 bits, with two places between each. */
static __host__ __device__ __forceinline__ unsigned long long rayt__spread(unsigned cell)
{
    unsigned long long bits = cell;
    bits = (bits | bits << 16) & 0x0000ff0000ffull;
    bits = (bits | bits << 8) & 0x00f00f00f00full;
    bits = (bits | bits << 4) & 0x0c30c30c30c3ull;
    return (bits | bits << 2) & 0x249249249249ull;
}

static __host__ __device__ __forceinline__ unsigned rayt__cell(float centre, float low, float scale)
{
    return (unsigned)fminf(fmaxf(rayt_mul(rayt_sub(centre, low), scale), 0), RAYT__CELLS - 1);
}

/* The code of a ball in the box of all centres. Here and where the widest is opened rounding is
   written out, so that every device and the host make the same tree. */
static __host__ __device__ __forceinline__ unsigned long long rayt__code(float4 ball, rayt__box all)
{
    if (!rayt_solid(ball)) return RAYT__LEFT_OUT;
    float side =
        fmaxf(all.high_x - all.low_x, fmaxf(all.high_y - all.low_y, all.high_z - all.low_z));
    float scale = side > 0 ? rayt_div(RAYT__CELLS, side) : 0;
    return rayt__spread(rayt__cell(ball.x, all.low_x, scale)) |
           rayt__spread(rayt__cell(ball.y, all.low_y, scale)) << 1 |
           rayt__spread(rayt__cell(ball.z, all.low_z, scale)) << 2;
}

/* How much the codes of spheres i and i + 1 differ, in sorted order; no two of these that are
   compared are equal. Equal codes differ less than any others. */
static __host__ __device__ __forceinline__ unsigned long long rayt__difference(
    const unsigned long long *keys, int i)
{
    unsigned long long difference = keys[i] ^ keys[i + 1];
    return difference ? difference + 0xffffffffull : (unsigned)i ^ ((unsigned)i + 1);
}

/* The box of a range of sorted spheres whose pair is done. */
static __host__ __device__ __forceinline__ rayt__box rayt__range_box(const rayt__build *build,
                                                                     int first, int last, int name)
{
    if (first == last) return rayt__own_box(rayt__ball_of(build->spheres, build->order[first]));
    const float4 *pair = (const float4 *)&build->pairs[name];
#ifdef __CUDA_ARCH__
    float4 low = __ldcg(pair), high = __ldcg(pair + 1); /* merge writes these while it reads */
#else
    float4 low = pair[0], high = pair[1];
#endif
    rayt__box box = {low.x, low.y, low.z, high.x, high.y, high.z};
    return box;
}

static __host__ __device__ __forceinline__ void rayt__set_pair(rayt__pair *pair, rayt__box box,
                                                               int left, int right)
{
    rayt__pair whole = {box.low_x,  box.low_y,  box.low_z,  left,
                        box.high_x, box.high_y, box.high_z, right};
    *pair = whole;
}

/* What a range is worth that may be opened: half its surface, or on deep levels its spheres. */
static __host__ __device__ __forceinline__ float rayt__worth(rayt__box box, int size, int level)
{
    float x = rayt_sub(box.high_x, box.low_x), y = rayt_sub(box.high_y, box.low_y);
    float z = rayt_sub(box.high_z, box.low_z);
    if (level >= RAYT__AREA_LEVELS) return (float)size;
    return rayt_add(rayt_add(rayt_mul(x, y), rayt_mul(y, z)), rayt_mul(z, x));
}

/* How far a box lies to the high side of another on each axis; and how deep in an octant that is. */
static __host__ __device__ __forceinline__ float3 rayt__lean(rayt__box box, rayt__box all)
{
    return make_float3((box.low_x - all.low_x) - (all.high_x - box.high_x),
                       (box.low_y - all.low_y) - (all.high_y - box.high_y),
                       (box.low_z - all.low_z) - (all.high_z - box.high_z));
}

/* How deep in the octant of each slot a child lies. */
static __host__ __device__ __forceinline__ void rayt__depths(float3 lean, float *depths)
{
    RAYT__UNROLL
    for (int slot = 0; slot < RAYT__WIDTH; slot++)
        depths[slot] = (slot & 1 ? lean.x : -lean.x) + (slot & 2 ? lean.y : -lean.y) +
                       (slot & 4 ? lean.z : -lean.z);
}

/* The slot of the largest depth; of equal ones the first. */
static __host__ __device__ __forceinline__ int rayt__deepest(const float *depths)
{
    int best = 0;
    float most = depths[0];
    RAYT__UNROLL
    for (int slot = 1; slot < RAYT__WIDTH; slot++) {
        if (depths[slot] > most) best = slot;
        most = fmaxf(depths[slot], most);
    }
    return best;
}

/* The most nodes that there can be below one with so many spheres. */
static __host__ __device__ __forceinline__ int rayt__room(int spheres)
{
    return spheres < 8 ? 0 : (spheres - 8) / 4;
}

/* The exponent, biased by 127, of a grid for what lies between two planes: more than 1 / 252 of that,
   so that 255 steps reach from its origin over the highest plane. The width of a box around a sphere
   is at least 2^-19, so that no step is near to a subnormal number. */
static __host__ __device__ __forceinline__ unsigned rayt__exponent(float low, float high)
{
    float width = high - low + fabsf(low) * 4.76837158203125e-7f; /* 2^-21: see rayt__origin */
    return (rayt__bits_of(width * (1 / 252.0f)) >> 23) + 1;
}

/* The origin of the grid, a step or more below the lowest plane: by 2^-22 more than rounding takes. */
static __host__ __device__ __forceinline__ float rayt__origin(float low, unsigned e)
{
    return low - rayt__float_of(e << 23) - fabsf(low) * 2.384185791015625e-7f;
}

/* The grid of a box: its origin, and the exponents of its steps. */
typedef struct rayt__raster {
    float x, y, z;
    unsigned ex, ey, ez;
} rayt__raster;

static __host__ __device__ __forceinline__ rayt__raster rayt__raster_of(rayt__box box)
{
    rayt__raster raster;
    raster.ex = rayt__exponent(box.low_x, box.high_x);
    raster.ey = rayt__exponent(box.low_y, box.high_y);
    raster.ez = rayt__exponent(box.low_z, box.high_z);
    raster.x = rayt__origin(box.low_x, raster.ex);
    raster.y = rayt__origin(box.low_y, raster.ey);
    raster.z = rayt__origin(box.low_z, raster.ez);
    return raster;
}

/* Its exponents as a node has them. */
static __host__ __device__ __forceinline__ unsigned rayt__exponents(rayt__raster raster)
{
    return (raster.ex | raster.ey << 8 | raster.ez << 16) + (RAYT__BIAS - 127) * 0x10101u;
}

/* The steps of planes from an origin, rounded outwards, with the 5/8 of a step that MEET needs to
   spare. 2^-22 covers the rounding of differences. */
static __host__ __device__ __forceinline__ unsigned rayt__step_low(float plane, float origin,
                                                                   unsigned e)
{
    float steps = (plane - origin) * rayt__float_of((254 - e) << 23);
    return (unsigned)floorf(steps * 0.9999997615814209f - 0.625f);
}

static __host__ __device__ __forceinline__ unsigned rayt__step_high(float plane, float origin,
                                                                    unsigned e)
{
    float steps = (plane - origin) * rayt__float_of((254 - e) << 23);
    return (unsigned)ceilf(steps * 1.0000002384185791f + 0.625f);
}
#endif
/* src/raytrace/trace/clusters.cuh. Few spheres: a list of clusters in place of a walk. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_CLUSTERS)
#define RAYT__PART_CLUSTERS
/* ============================== CLUSTERS ====================================================== */
/* Up to 512 spheres fit into shared memory, and a tree over them has three levels. Then it costs less
   to test the boxes of all groups of 8 spheres than to walk: each ray tests all of them, no lane goes
   its own way, and there is no stack. KERNEL TRACE does so for RAYT_TREE.

        apart       the 4 largest spheres, which every ray tests: a ground, some large ones
        clusters    up to 64 of 8 spheres. The others are sorted along the widest axis of their box
                    and cut in the middle, and so are the halves, until 8 are left

   Boxes are on a grid for all, 8 bits a plane, as in a node of the tree, but for their form: low +
   high, and high - low, two halves each. With c = (low + high) step / 2 + base and h = (high - low)
   |step| / 2 the near plane is at c - h and the far one at c + h, whatever the signs of the ray.

   All that NODES proves is true here, with two more roundings of 1/8 of a step: that of c, and that of
   2^-19 of `begin`, which entries have less here. So boxes have 9/8 of a step to spare. */
enum {
    RAYT__LIST_MOST = 512, /* spheres, and threads that make the list */
    RAYT__APART = 4,
    RAYT__CLUSTER = 8,
    RAYT__CLUSTERS = 64,
    RAYT__SLOTS = RAYT__CLUSTER * RAYT__CLUSTERS
};

/* Cluster k has spheres 8 k .. 8 k + 7. Boxes of clusters k and k + 16 are a pair of halves, k in the
   lower one. planes[n] has two pairs, so four clusters; a word is a pair:

        planes[n][0]   low + high of x, x, of y, y
                 [1]   low + high of z, z, high - low of x, x
                 [2]   high - low of y, y, of z, z
*/
typedef struct RAYT_ALIGN rayt__clusters {
    float4 balls[RAYT__SLOTS + RAYT__APART]; /* those apart at the end; NaN where there is none */
    uint4 planes[RAYT__CLUSTERS / 4][3];
    float x, y, z;      /* the origin of the grid */
    unsigned exponents; /* as a node has them */
    int words;          /* of a mask of clusters: 0, 1 or 2 */
    int unused[3];      /* 0: a block copies these, too */
} rayt__clusters;

/* Which sphere is at each place, those apart at the end. */
static __host__ __device__ __forceinline__ const int *rayt__list_indices(rayt__tree_view tree)
{
    return (const int *)((const rayt__clusters *)tree.list + 1);
}

/* Where a plane of a cluster is among the halves of `planes`: 0 .. 2 for low + high of x, y, z, 3 .. 5
   for high - low. */
static __host__ __device__ __forceinline__ int rayt__plane_at(int cluster, int plane)
{
    int word = cluster / 32, pair = cluster % 16, upper = cluster / 16 % 2;
    return ((((word * 8 + pair / 2) * 3) * 4 + 2 * plane + pair % 2) * 2) + upper;
}

#if RAYT__HALVES
/* Which clusters a ray meets between t_min and `most`, as rayt__meet; the last word of the mask is in
   *last, one before it in *other. */
static __device__ __forceinline__ void rayt__meet_clusters(const rayt__clusters *list,
                                                           const rayt_unit_ray *ray, float most,
                                                           unsigned *last, unsigned *other)
{
    rayt__frame frame = rayt__into_frame(list->x, list->y, list->z, list->exponents, ray, most);
    const unsigned half = 0x38003800u, sign = 0x80008000u;
    float later = frame.begin * __int_as_float(frame.all) * RAYT__LONGER;
    unsigned less = rayt__pair_of(-later, -later), end = rayt__twice_low(frame.exit_z);
    unsigned x = rayt__twice_high(frame.exit_xy), y = rayt__twice_low(frame.exit_xy);
    unsigned z = rayt__twice_high(frame.exit_z);
    unsigned sx = rayt__pair_fma(rayt__twice_high(frame.enter_x), half, 0), ax = sx & ~sign;
    unsigned sy = rayt__pair_fma(rayt__twice_high(frame.enter_y), half, 0), ay = sy & ~sign;
    unsigned sz = rayt__pair_fma(rayt__twice_high(frame.enter_z), half, 0), az = sz & ~sign;
    *last = *other = 0;
    for (int word = 0; word < list->words; word++) {
        unsigned mask = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) { /* pairs 2 k and 2 k + 1 */
            uint4 a = list->planes[word * 8 + k][0], b = list->planes[word * 8 + k][1];
            uint4 c = list->planes[word * 8 + k][2];
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                unsigned hx = odd ? b.w : b.z, hy = odd ? c.y : c.x, hz = odd ? c.w : c.z;
                unsigned cx = rayt__pair_fma(odd ? a.y : a.x, sx, x);
                unsigned cy = rayt__pair_fma(odd ? a.w : a.z, sy, y);
                unsigned cz = rayt__pair_fma(odd ? b.y : b.x, sz, z);
                unsigned enter = rayt__pair_max(rayt__pair_fma(hx, ax | sign, cx),
                                                rayt__pair_max(rayt__pair_fma(hy, ay | sign, cy),
                                                               rayt__pair_fma(hz, az | sign, cz)));
                unsigned exit = rayt__pair_min(rayt__pair_min(rayt__pair_fma(hx, ax, cx), end),
                                               rayt__pair_min(rayt__pair_fma(hy, ay, cy),
                                                              rayt__pair_fma(hz, az, cz)));
                enter = rayt__pair_fma_0(enter, 0x3c003c00u, less);
                mask |= rayt__pair_le(enter, exit) & (0x00010001u << (2 * k + odd));
            }
        }
        *other = *last;
        *last = mask;
    }
}
#else
/* The same in single precision. */
static __device__ __forceinline__ void rayt__meet_clusters(const rayt__clusters *list,
                                                           const rayt_unit_ray *ray, float most,
                                                           unsigned *last, unsigned *other)
{
    const unsigned short *planes = (const unsigned short *)list->planes;
    float step[3], base[3], later[3];
    for (int k = 0; k < 3; k++) {
        float inverse = (&ray->ix)[k];
        step[k] = rayt__step_of(list->exponents, k) * RAYT__UNIT * inverse * 0.5f;
        base[k] = ((&list->x)[k] - (&ray->x)[k]) * inverse;
        later[k] = fabsf(base[k]) * RAYT__LONGER;
    }
    *last = *other = 0;
    for (int cluster = 0; cluster < 32 * list->words; cluster++) {
        float enter = ray->t_min, exit = most;
        for (int k = 0; k < 3; k++) {
            float middle = planes[rayt__plane_at(cluster, k)] * step[k] + base[k];
            short size = (short)planes[rayt__plane_at(cluster, 3 + k)];
            float half = (float)size * fabsf(step[k]);
            enter = fmaxf(enter, middle - half);
            exit = fminf(exit, middle + half + later[k]);
        }
        if (enter <= exit) *(cluster / 32 == list->words - 1 ? last : other) |= 1u << cluster % 32;
    }
}
#endif

/* Which of the 8 balls of a cluster the line of a ray passes through. Lanes read them in other orders:
   then 8 in a row are in other banks, whatever their clusters. Bit 7 - k is ball k ^ lane % 8. */
static __device__ __forceinline__ unsigned rayt__pass_cluster(const rayt__clusters *list,
                                                              int cluster, const rayt_unit_ray *ray)
{
    int place = (cluster * RAYT__CLUSTER + (int)threadIdx.x % RAYT__CLUSTER) * 16; /* in bytes */
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < RAYT__CLUSTER; k++) { /* then this is one operation a ball */
        float4 ball = *(const float4 *)((const char *)list + (place ^ k * 16));
        float b, discriminant;
        (void)rayt_passes(*ray, ball, &b, &discriminant);
        unsigned sign = rayt__bits_of(RAYT_CANCEL - discriminant); /* 1: it passes; of NaN 0 */
#ifdef __CUDA_ARCH__
        bits = __funnelshift_l(sign, bits, 1); /* fewer instructions than a comparison takes */
#else
        bits = bits << 1 | (discriminant > RAYT_CANCEL);
        (void)sign;
#endif
    }
    return bits;
}

/* Is this ball behind a ray that is outside of it? A ray that has left the ground would go through all
   of rayt_root for it, to no end. True only if rayt_root is sure to find nothing: the line passes
   through the ball, by more than rounding can be (2^-18 of radius^2), and the origin is outside by more
   than that (2^-20), and not so far away that directions were not unit any more. Then the part of the
   line in the ball ends before the origin. So do the part in its own box, on which signs are exact. */
static __device__ __forceinline__ bool rayt__behind(const rayt_unit_ray *ray, float4 ball, float b,
                                                    float discriminant)
{
    float x = ray->x - ball.x, y = ray->y - ball.y, z = ray->z - ball.z, square = ball.w * ball.w;
    float outside = x * x + (y * y + (z * z - square));
    return b < 0 && outside > square * 9.5367431640625e-7f && outside < square * 1024 &&
           discriminant > square * 3.814697265625e-6f;
}

/* The nearest spheres that the rays of a warp hit, as KINDS OF MEMORY has it; all lanes come here.
   Where some have nothing to do the others wait, so there are three parts, each for all: boxes, balls of
   the clusters that are met, and hits. Between them a lane keeps up to 4 clusters, 16 bits each: which
   balls, and the number of the cluster. The spheres apart are cluster RAYT__CLUSTERS. */
static __device__ __forceinline__ int rayt__find_clusters(const rayt__clusters *list,
                                                          const int *indices, bool wanted, bool any,
                                                          rayt_unit_ray *ray)
{
    int found = -1, lane = (int)threadIdx.x % RAYT__CLUSTER ^ 7;
    unsigned first, second, kept = 0, older = 0; /* clusters: the last two, and those before them */
    float b, discriminant, t;
#pragma unroll
    for (int k = 0; k < RAYT__APART; k++)
        if (rayt_passes(*ray, list->balls[RAYT__SLOTS + k], &b, &discriminant) &&
            !(k == 0 && rayt__behind(ray, list->balls[RAYT__SLOTS + k], b, discriminant)))
            kept |= 256u << (k ^ lane);
    if (kept != 0) kept |= RAYT__CLUSTERS;
    rayt_unit_ray walk = *ray;
    walk.ix *= RAYT__UNIT;
    walk.iy *= RAYT__UNIT;
    walk.iz *= RAYT__UNIT;
    walk.t_min *= RAYT__UNIT;
    rayt__meet_clusters(list, &walk, ray->t_max * ((1 + RAYT__LONGER) * RAYT__UNIT), &first,
                        &second);
    if (!wanted) first = second = kept = 0;
    int begin = 32 * (list->words - 1);
    do {
        for (;;) {
            bool one = (first | second) != 0 && older >> 16 == 0;
            if (!__any_sync(0xffffffffu, one)) break;
            if (one) {
                unsigned mask = first != 0 ? first : second;
                int cluster = rayt__lowest(mask) + (first != 0 ? begin : 0);
                mask &= mask - 1;
                second = first != 0 ? second : mask;
                first = first != 0 ? mask : 0;
                unsigned bits = rayt__pass_cluster(list, cluster, ray);
                if (bits != 0) {
                    older = older << 16 | kept >> 16;
                    kept = kept << 16 | bits << 8 | (unsigned)cluster;
                }
            }
            __syncwarp();
        }
        while (__any_sync(0xffffffffu, kept != 0)) {
            if (kept != 0) {
                int bit = rayt__lowest(kept & 0xff00u);
                int slot = (int)(kept & 255) * RAYT__CLUSTER + ((bit - 8) ^ lane);
                float4 ball = list->balls[slot];
                kept ^= 1u << bit;
                if ((kept & 0xff00u) == 0) {
                    kept = kept >> 16 | older << 16;
                    older >>= 16;
                }
                bool passes = rayt_passes(*ray, ball, &b, &discriminant);
                if (passes && rayt_root(*ray, ball, b, discriminant, &t)) {
                    int index = indices[slot];
                    if (rayt_before(t, index, ray->t_max, found)) {
                        ray->t_max = t;
                        found = index;
                        if (any) kept = older = first = second = 0;
                    }
                }
            }
            __syncwarp();
        }
    } while (__any_sync(0xffffffffu, (first | second) != 0));
    return found;
}

/* ---- how the list is made ---- */

/* The box of what all 8 threads of a cluster have. */
static __device__ __forceinline__ rayt__box rayt__of_cluster(rayt__box box)
{
    for (int step = 1; step < RAYT__CLUSTER; step *= 2) {
        rayt__box other;
        float *from = &box.low_x, *to = &other.low_x;
        for (int k = 0; k < 6; k++) to[k] = __shfl_xor_sync(0xffffffffu, from[k], step);
        box = rayt__around(box, other);
    }
    return box;
}

/* The box of clusters first .. last - 1. */
static __device__ __forceinline__ rayt__box rayt__of_clusters(const rayt__box *boxes, int first,
                                                              int last)
{
    rayt__box all = boxes[first];
#pragma unroll 4
    for (int k = first + 1; k < last; k++) all = rayt__around(all, boxes[k]);
    return all;
}

/* One axis of the box of a cluster. */
static __device__ __forceinline__ void rayt__set_planes(rayt__clusters *list, int cluster, int axis,
                                                        float low, float high, float origin,
                                                        unsigned e)
{
    unsigned short *planes = (unsigned short *)list->planes;
    float steps = rayt__float_of((254 - e) << 23);
    int below = (int)floorf((low - origin) * steps * 0.9999997615814209f - 1.125f);
    int above = (int)ceilf((high - origin) * steps * 1.0000002384185791f + 1.125f);
    planes[rayt__plane_at(cluster, axis)] = (unsigned short)(below + above);
    planes[rayt__plane_at(cluster, 3 + axis)] = (unsigned short)(above - below);
}

/* The place of this thread among those of the block that say so, and in *all how many do. */
static __device__ __forceinline__ int rayt__place_of(bool own, unsigned *words, int *all)
{
    int thread = (int)threadIdx.x, place = 0, sum = 0;
    unsigned votes = __ballot_sync(0xffffffffu, own);
    if (thread % 32 == 0) words[thread / 32] = votes;
    __syncthreads();
    for (int k = 0; k < RAYT__LIST_MOST / 32; k++) {
        if (k == thread / 32) place = sum + __popc(votes & ((1u << thread % 32) - 1));
        sum += __popc(words[k]);
    }
    *all = sum;
    return place;
}

/* How many of the keys of clusters first .. last - 1 are below this one, or, inverted, above it. */
static __device__ __forceinline__ int rayt__count_below(const unsigned *keys, int first, int last,
                                                        unsigned own, unsigned inverted)
{
    const uint4 *all = (const uint4 *)keys;
    int below = 0;
#pragma unroll 4
    for (int k = 2 * first; k < 2 * last; k++) {
        uint4 four = all[k];
        below += (four.x ^ inverted) < (own ^ inverted);
        below += (four.y ^ inverted) < (own ^ inverted);
        below += (four.z ^ inverted) < (own ^ inverted);
        below += (four.w ^ inverted) < (own ^ inverted);
    }
    return below;
}

/* One block. A thread has one sphere, and then one place in the list. */
RAYT_KERNEL void __launch_bounds__(RAYT__LIST_MOST)
    rayt_tree_list(const rayt_sphere *spheres, int count, rayt__clusters *list)
{
    __shared__ float4 balls[RAYT__SLOTS];
    __shared__ int owners[RAYT__SLOTS];
    __shared__ RAYT_ALIGN unsigned keys[RAYT__SLOTS];
    __shared__ unsigned words[RAYT__LIST_MOST / 32];
    __shared__ rayt__box boxes[RAYT__CLUSTERS];
    int thread = (int)threadIdx.x, larger, many, *indices = (int *)(list + 1);
    const float none = rayt__float_of(0x7fffffffu);
    float4 nothing = make_float4(none, none, none, none), ball = nothing;
    if (thread < count) ball = rayt__ball_of(spheres, thread);
    bool solid = rayt_solid(ball);
    keys[thread] = (solid ? rayt__bits_of(ball.w) & ~(RAYT__LIST_MOST - 1u) : 0) |
                   (RAYT__LIST_MOST - 1u - (unsigned)thread);
    list->balls[thread] = nothing;
    if (thread < RAYT__APART) list->balls[RAYT__SLOTS + thread] = nothing;
    __syncthreads();
    larger = rayt__count_below(keys, 0, RAYT__CLUSTERS, keys[thread], 0xffffffffu);
    bool apart = solid && larger < RAYT__APART;
    __syncthreads(); /* all have read the keys */
    if (apart) {
        list->balls[RAYT__SLOTS + larger] = ball;
        indices[RAYT__SLOTS + larger] = thread;
    }
    int place = rayt__place_of(solid && !apart, words, &many);
    if (solid && !apart) {
        balls[place] = ball;
        owners[place] = thread;
    }
    __syncthreads();

    rayt__box outside = {RAYT_FAR * 8,  RAYT_FAR * 8,  RAYT_FAR * 8,
                         -RAYT_FAR * 8, -RAYT_FAR * 8, -RAYT_FAR * 8};
    int first = 0, last = (many + RAYT__CLUSTER - 1) / RAYT__CLUSTER, owner = 0;
    for (int size = RAYT__CLUSTERS; size > 1; size /= 2) { /* clusters of the largest part */
        rayt__box box = outside;
        if (thread < many) {
            ball = balls[thread];
            owner = owners[thread];
            rayt__box point = {ball.x, ball.y, ball.z, ball.x, ball.y, ball.z};
            box = point;
        }
        box = rayt__of_cluster(box);
        if (thread % RAYT__CLUSTER == 0) boxes[thread / RAYT__CLUSTER] = box;
        __syncthreads();
        int lower = first * RAYT__CLUSTER;
        if (thread < many) {
            rayt__box all = rayt__of_clusters(boxes, first, last);
            float x = all.high_x - all.low_x, y = all.high_y - all.low_y,
                  z = all.high_z - all.low_z;
            float centre = x >= y && x >= z ? ball.x : y >= z ? ball.y : ball.z;
            keys[thread] = (rayt__sort_key(centre) & ~(RAYT__LIST_MOST - 1u)) | (unsigned)thread;
        } else {
            keys[thread] = 0xffffffffu;
        }
        __syncthreads();
        if (thread < many) {
            lower += rayt__count_below(keys, first, last, keys[thread], 0);
            balls[lower] = ball;
            owners[lower] = owner;
        }
        int middle = first + (last - first) / 2;
        if (last - first > 1) {
            if (thread / RAYT__CLUSTER < middle) {
                last = middle;
            } else {
                first = middle;
            }
        }
        __syncthreads();
    }

    rayt__box box = outside;
    if (thread < many) {
        ball = balls[thread];
        list->balls[thread] = ball;
        indices[thread] = owners[thread];
        box = rayt__own_box(ball);
    }
    box = rayt__of_cluster(box);
    int cluster = thread / RAYT__CLUSTER;
    if (thread % RAYT__CLUSTER == 0) boxes[cluster] = box;
    __syncthreads();
    if (thread % RAYT__CLUSTER != 0) return;
    if (cluster * RAYT__CLUSTER >= many) { /* no ray meets it: its near planes are the far ones */
        for (int axis = 0; axis < 3; axis++) {
            ((unsigned short *)list->planes)[rayt__plane_at(cluster, axis)] = 0;
            ((unsigned short *)list->planes)[rayt__plane_at(cluster, 3 + axis)] = 0x83ff;
        }
    }
    rayt__raster grid = {0, 0, 0, 1, 1, 1};
    if (many > 0) {
        rayt__box all = rayt__of_clusters(boxes, 0, (many + RAYT__CLUSTER - 1) / RAYT__CLUSTER);
        rayt__raster node = rayt__raster_of(all); /* boxes here have half a step more to spare */
        grid.ex = node.ex, grid.ey = node.ey, grid.ez = node.ez;
        grid.x = node.x - rayt__float_of(node.ex << 23);
        grid.y = node.y - rayt__float_of(node.ey << 23);
        grid.z = node.z - rayt__float_of(node.ez << 23);
        if (cluster * RAYT__CLUSTER < many) {
            rayt__set_planes(list, cluster, 0, box.low_x, box.high_x, grid.x, grid.ex);
            rayt__set_planes(list, cluster, 1, box.low_y, box.high_y, grid.y, grid.ey);
            rayt__set_planes(list, cluster, 2, box.low_z, box.high_z, grid.z, grid.ez);
        }
    }
    if (thread == 0) {
        list->x = grid.x;
        list->y = grid.y;
        list->z = grid.z;
        list->exponents = rayt__exponents(grid);
        list->words = (many + 32 * RAYT__CLUSTER - 1) / (32 * RAYT__CLUSTER);
        for (int k = 0; k < 3; k++) list->unused[k] = 0;
    }
}
#endif
/* src/raytrace/trace/bundle.cuh. Rays of a warp that lie side by side walk through the tree together. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_BUNDLE)
#define RAYT__PART_BUNDLE
/* ============================== BUNDLES ======================================================= */
/* The rays of a camera through neighbouring pixels meet nearly the same nodes. So a warp walks once
   for its 32 rays: they are a bundle, an interval of origins and one of inverse directions on each
   axis. Each lane tests another box against the bundle, and each ray only those spheres that the
   bundle meets.

        stack            4 nodes of 8 children       spheres of leaves      spheres met
        of nodes    -->  a lane a box: the bundle -> a lane a sphere:    -> all lanes test the same,
           ^                 |                       the bundle             each its own ray
           +-- children -----+

   On an axis where inverse directions are within [i, j], both of one sign, and origins within [o, p],
   no ray enters through plane a before the lesser of (a - p) i and (a - p) j, or leaves through plane
   b after the greater of (b - o) i and (b - o) j; for negative ones o and p change places. Rounding
   is monotonic: what HIT says of boxes holds for intervals as well, and the planes of nodes have
   their part of a step to spare as in single precision (NODES).

   A node in the stack that begins behind the hits of all rays is dropped. */
enum {
    RAYT__BUNDLE_STACK = 64,   /* nodes; more are rare, and then the rays walk alone */
    RAYT__QUERY_THREADS = 128, /* of a block of rayt_query */
    RAYT__ROUNDS = 8           /* of such a block at most: a ray for each thread */
};

/* What a warp has in shared memory. */
typedef struct RAYT_ALIGN rayt__together {
    float4 balls[32];
    int slots[32];
    uint2 stack[RAYT__BUNDLE_STACK]; /* a node, and where the bundle enters it */
    int places[RAYT__WIDTH * 4 * RAYT__LEAF_MOST];
} rayt__together;

/* An axis of a bundle. */
typedef struct rayt__beam {
    float entry, exit; /* the origin that matters for the near planes, and for the far ones */
    float least, most; /* inverse directions, by their size */
} rayt__beam;

typedef struct rayt__bundle {
    rayt__beam x, y, z;
    unsigned octant;
} rayt__bundle;

static __device__ __forceinline__ unsigned rayt__warp_most(unsigned own)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, own);
#else
    for (int step = 16; step > 0; step /= 2) {
        unsigned other = __shfl_xor_sync(0xffffffffu, own, step);
        own = other > own ? other : own;
    }
    return own;
#endif
}

/* An axis of the rays that take part: origins, if these differ, and inverses, all of one sign. */
static __device__ __forceinline__ void rayt__gather(float origin, float inverse, bool part,
                                                    bool differ, bool negative, rayt__beam *beam)
{
    unsigned sign = negative ? 0x80000000u : 0, size = rayt__bits_of(inverse) & 0x7fffffffu;
    beam->least = rayt__float_of(~rayt__warp_most(part ? ~size : 0) | sign);
    beam->most = rayt__float_of(rayt__warp_most(part ? size : 0) | sign);
    if (!differ) return;
    unsigned key = rayt__sort_key(origin);
    float high = rayt__from_sort_key(rayt__warp_most(part ? key : 0));
    float low = rayt__from_sort_key(~rayt__warp_most(part ? ~key : 0));
    beam->entry = negative ? low : high;
    beam->exit = negative ? high : low;
}

/* How far apart the origins of a bundle may lie: 1/64 of the box of all. */
static __device__ __forceinline__ float rayt__close(rayt__tree_view tree)
{
    unsigned word = rayt__load(tree.nodes).w;
    float x = rayt__step_of(word, 0), y = rayt__step_of(word, 1), z = rayt__step_of(word, 2);
    return fmaxf(x, fmaxf(y, z)) * (4 * RAYT__UNIT);
}

/* Makes a bundle of the rays of a warp that can hit. False if they are not side by side: other signs,
   or directions that differ by more than 1/16. */
static __device__ __forceinline__ bool rayt__bundle_of(rayt_unit_ray ray, float close,
                                                       rayt__bundle *bundle)
{
    bool part = ray.t_max >= 0;
    unsigned all = __ballot_sync(0xffffffffu, part);
    unsigned x = __ballot_sync(0xffffffffu, part && ray.ix < 0);
    unsigned y = __ballot_sync(0xffffffffu, part && ray.iy < 0);
    unsigned z = __ballot_sync(0xffffffffu, part && ray.iz < 0);
    if ((x != 0 && x != all) || (y != 0 && y != all) || (z != 0 && z != all) || all == 0)
        return false;
    bundle->octant = (x ? 1u : 0) | (y ? 2u : 0) | (z ? 4u : 0);
    int first = rayt__lowest(all);
    float dx = ray.dx - __shfl_sync(0xffffffffu, ray.dx, first);
    float dy = ray.dy - __shfl_sync(0xffffffffu, ray.dy, first);
    float dz = ray.dz - __shfl_sync(0xffffffffu, ray.dz, first);
    bundle->x.entry = bundle->x.exit = __shfl_sync(0xffffffffu, ray.x, first);
    bundle->y.entry = bundle->y.exit = __shfl_sync(0xffffffffu, ray.y, first);
    bundle->z.entry = bundle->z.exit = __shfl_sync(0xffffffffu, ray.z, first);
    float ox = ray.x - bundle->x.entry, oy = ray.y - bundle->y.entry, oz = ray.z - bundle->z.entry;
    float turned = fmaxf(fabsf(dx), fmaxf(fabsf(dy), fabsf(dz)));
    float moved = fmaxf(fabsf(ox), fmaxf(fabsf(oy), fabsf(oz)));
    if (__any_sync(0xffffffffu, part && !(turned <= 0.0625f && moved <= close))) return false;
    bool differ = __any_sync(0xffffffffu, part && moved != 0);
    rayt__gather(ray.x, ray.ix, part, differ, x != 0, &bundle->x);
    rayt__gather(ray.y, ray.iy, part, differ, y != 0, &bundle->y);
    rayt__gather(ray.z, ray.iz, part, differ, z != 0, &bundle->z);
    return true;
}

/* Narrows [*enter, *leave] to what of a beam lies between two planes; distances from its origins. */
static __device__ __forceinline__ void rayt__narrow(const rayt__beam *beam, float entry, float exit,
                                                    float *enter, float *leave)
{
    *enter = fmaxf(*enter, fminf(rayt_mul(entry, beam->least), rayt_mul(entry, beam->most)));
    *leave = fminf(*leave, fmaxf(rayt_mul(exit, beam->least), rayt_mul(exit, beam->most)));
}

/* A plane of a child: byte `at` of a node. */
static __device__ __forceinline__ float rayt__plane_byte(const uint4 *node, int at)
{
    const unsigned char *byte = (const unsigned char *)node + at;
#ifdef __CUDA_ARCH__
    return __uint_as_float(0x4b000000u | __ldg(byte)) - 8388608.0f; /* 2^23: no conversion */
#else
    return *byte;
#endif
}

/* Does the bundle meet a child of a node, before `most`? In *enter: where. The child is that of
   `byte` in its 8 bytes of planes. Low planes begin at byte 32 of a node, high ones 24 later. */
static __device__ __forceinline__ bool rayt__meets_child(const uint4 *node, uint4 head, int byte,
                                                         const rayt__bundle *bundle, float most,
                                                         float *enter)
{
    int x = bundle->octant & 1 ? 24 : 0, y = bundle->octant & 2 ? 24 : 0;
    int z = bundle->octant & 4 ? 24 : 0;
    float ox = rayt__float_of(head.x), oy = rayt__float_of(head.y), oz = rayt__float_of(head.z);
    float sx = rayt__step_of(head.w, 0) * RAYT__UNIT, sy = rayt__step_of(head.w, 1) * RAYT__UNIT;
    float sz = rayt__step_of(head.w, 2) * RAYT__UNIT, leave = 8 * RAYT_FAR;
    *enter = 0;
    rayt__narrow(&bundle->x, rayt__plane_byte(node, 32 + byte + x) * sx + (ox - bundle->x.entry),
                 rayt__plane_byte(node, 56 + byte - x) * sx + (ox - bundle->x.exit), enter, &leave);
    rayt__narrow(&bundle->y, rayt__plane_byte(node, 40 + byte + y) * sy + (oy - bundle->y.entry),
                 rayt__plane_byte(node, 64 + byte - y) * sy + (oy - bundle->y.exit), enter, &leave);
    rayt__narrow(&bundle->z, rayt__plane_byte(node, 48 + byte + z) * sz + (oz - bundle->z.entry),
                 rayt__plane_byte(node, 72 + byte - z) * sz + (oz - bundle->z.exit), enter, &leave);
    leave *= 1 + RAYT__LONGER;
    return *enter <= fminf(leave, most);
}

/* Does the bundle meet the own box of a sphere, before `most`? */
static __device__ __forceinline__ bool rayt__meets_ball(const rayt__bundle *bundle, float4 ball,
                                                        float most)
{
    bool x = bundle->octant & 1, y = bundle->octant & 2, z = bundle->octant & 4;
    float enter = 0, leave = 8 * RAYT_FAR;
    float low = rayt_low(ball.x, ball.w), high = rayt_high(ball.x, ball.w);
    rayt__narrow(&bundle->x, rayt_sub(x ? high : low, bundle->x.entry),
                 rayt_sub(x ? low : high, bundle->x.exit), &enter, &leave);
    low = rayt_low(ball.y, ball.w), high = rayt_high(ball.y, ball.w);
    rayt__narrow(&bundle->y, rayt_sub(y ? high : low, bundle->y.entry),
                 rayt_sub(y ? low : high, bundle->y.exit), &enter, &leave);
    low = rayt_low(ball.z, ball.w), high = rayt_high(ball.z, ball.w);
    rayt__narrow(&bundle->z, rayt_sub(z ? high : low, bundle->z.entry),
                 rayt_sub(z ? low : high, bundle->z.exit), &enter, &leave);
    return enter <= fminf(leave * (1 + RAYT__LONGER), most);
}

/* Up to 32 spheres, those at places[lane] for `many` lanes: the rays of the warp against all of them
   that the bundle meets. A ray with `any` needs one hit, and has t_max = -1 then. */
static __device__ __forceinline__ void rayt__try_together(rayt__tree_view tree,
                                                          rayt__together *shared,
                                                          const rayt__bundle *bundle, bool meets,
                                                          int place, float most, bool any,
                                                          rayt_unit_ray *ray, int *found)
{
    unsigned lower = (1u << threadIdx.x % 32) - 1, bits = 0;
    float4 ball = make_float4(0, 0, 0, 0);
    float b, discriminant, t;
    if (meets) {
        ball = rayt__load_ball(tree.balls + place);
        meets = rayt__meets_ball(bundle, ball, most);
    }
    unsigned all = __ballot_sync(0xffffffffu, meets);
    if (meets) {
        shared->balls[__popc(all & lower)] = ball;
        shared->slots[__popc(all & lower)] = place;
    }
    __syncwarp();
    int many = __popc(all);
    for (int k = 0; k < many; k++)
        if (rayt_passes(*ray, shared->balls[k], &b, &discriminant)) bits |= 1u << k;
    if (ray->t_max < 0) bits = 0;
    for (; bits != 0; bits &= bits - 1) {
        int slot = rayt__lowest(bits);
        ball = shared->balls[slot];
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (!rayt_root(*ray, ball, b, discriminant, &t)) continue;
        int index = tree.indices[shared->slots[slot]];
        if (!rayt_before(t, index, ray->t_max, *found)) continue;
        ray->t_max = any ? -1 : t;
        *found = index;
        if (any) break;
    }
    __syncwarp();
}

/* The nearest hits of the rays of a bundle, for a warp together. False if the stack was too short:
   then nothing is known. */
static __device__ __forceinline__ bool rayt__walk_together(rayt__tree_view tree,
                                                           rayt__together *shared,
                                                           const rayt__bundle *bundle, bool any,
                                                           rayt_unit_ray *ray, int *found)
{
    int lane = (int)threadIdx.x % 32, waiting = 1, child = (int)(lane % 8 ^ bundle->octant);
    int byte = child % 4 * 2 + child / 4;
    unsigned lower = (1u << lane) - 1, below = (1u << child) - 1;
    __syncwarp(); /* a walk before may have ended early */
    if (lane == 0) shared->stack[0] = make_uint2(0, 0);
    *found = -1;
    while (waiting > 0) {
        /* distances are not negative: they compare as their bits do */
        unsigned reach = rayt__warp_most(ray->t_max < 0 ? 0 : rayt__bits_of(ray->t_max));
        float most = rayt__float_of(reach) * (1 + RAYT__LONGER), enter = 0;
        if (__ballot_sync(0xffffffffu, ray->t_max >= 0) == 0) break;
        int own = waiting - 1 - lane / 8, spheres = 0;
        uint2 entry = make_uint2(0, 0x7fffffffu); /* NaN: none */
        __syncwarp();
        if (own >= 0) entry = shared->stack[own];
        waiting = waiting > 4 ? waiting - 4 : 0;
        const uint4 *node = tree.nodes + (size_t)entry.x * 5;
        uint4 links = make_uint4(0, 0, 0, 0);
        bool inner = false;
        if (rayt__float_of(entry.y) <= most) {
            uint4 head = rayt__load(node);
            links = rayt__load(node + 1);
            if (rayt__meets_child(node, head, byte, bundle, most, &enter)) {
                inner = links.w >> (4 * child + 3) & 1;
                spheres = rayt__ones(links.z >> 4 * child & 15);
            }
            entry.x = links.x + (unsigned)rayt__ones(head.w >> 24 & below);
        }
        unsigned inners = __ballot_sync(0xffffffffu, inner);
        __syncwarp(); /* all have read the stack */
        int place = (int)links.y + rayt__ones(links.z & ((1u << 4 * child) - 1));
        if (waiting + __popc(inners) > RAYT__BUNDLE_STACK) return false;
        waiting += __popc(inners);
        if (inner)
            shared->stack[waiting - 1 - __popc(inners & lower)] =
                make_uint2(entry.x, rayt__bits_of(enter));
        unsigned ones = __ballot_sync(0xffffffffu, spheres & 1);
        unsigned twos = __ballot_sync(0xffffffffu, spheres & 2);
        unsigned fours = __ballot_sync(0xffffffffu, spheres & 4);
        int before = __popc(ones & lower) + 2 * __popc(twos & lower) + 4 * __popc(fours & lower);
        int all = __popc(ones) + 2 * __popc(twos) + 4 * __popc(fours);
        for (int k = 0; k < spheres; k++) shared->places[before + k] = place + k;
        __syncwarp();
        for (int first = 0; first < all; first += 32) {
            bool one = first + lane < all;
            rayt__try_together(tree, shared, bundle, one, one ? shared->places[first + lane] : 0,
                               most, any, ray, found);
        }
    }
    __syncwarp();
    return true;
}

/* The nearest spheres that the rays of a warp hit, as KINDS OF MEMORY has it: together, if they
   are a bundle, else alone. */
static __device__ __forceinline__ int rayt__find_bundles(rayt__tree_view tree,
                                                         rayt__together *shared, bool wanted,
                                                         bool any, rayt_unit_ray *ray)
{
    rayt__bundle bundle;
    rayt_unit_ray own = *ray;
    int found = -1;
    if (!wanted) own.t_max = -1;
    bool bundled = rayt__bundle_of(own, rayt__close(tree), &bundle);
    if (bundled) bundled = rayt__walk_together(tree, shared, &bundle, any, &own, &found);
    if (!bundled) {
        rayt__group waiting[RAYT__DEPTH];
        rayt__walk walk = {};
        rayt__begin_walk(&walk, *ray, wanted);
        rayt__walk_on(tree, &walk, waiting, any, 32);
        own.t_max = walk.ray.t_max;
        found = walk.found;
    }
    if (found >= 0) ray->t_max = own.t_max;
    return found;
}
#endif
/* src/raytrace/trace/sort.cuh. A stable radix sort of keys with values. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_SORT)
#define RAYT__PART_SORT
/* ============================== SORT ========================================================== */
/* One pass sorts by 8 bits, and keeps the order of equal ones; passes from the lowest bits on sort by
   all. A pass is one kernel, after A. Adinets and D. Merrill ("Onesweep: A Faster Least Significant
   Digit Radix Sort for GPUs", 2022). How many keys have each digit is known before, for all passes.
   A block takes a tile of keys, its warps parts of that, in the order in which they lie:

     rank       in a warp, lanes that have the same digit find one another by 8 votes
     look back  states[tile][digit]: first how many keys of the tile have the digit, then how many of
                this tile and all before it. A tile adds up those before it until it finds a sum.
     scatter    a key's place: keys of smaller digits + the same digit in tiles to the left
                                + in warps before + in this warp before
                Keys go by way of shared memory, so that neighbours are written together.

   A block waits for the states of tiles before its own. It takes its tile when it begins to run, so
   that the blocks which it waits for run already. */
enum {
    RAYT__SORT_THREADS = 512,
    RAYT__SORT_EACH = 8, /* keys a thread */
    RAYT__SORT_TILE = RAYT__SORT_THREADS * RAYT__SORT_EACH,
    RAYT__SORT_BLOCKS = 2, /* on a multiprocessor, by registers */
    RAYT__LOOK_BACK = 8,   /* states that are asked for at once */
    RAYT__DIGITS = 256,    /* at most as many as threads */
};

typedef struct rayt__sort_job {
    const unsigned long long *keys;
    const int *values; /* NULL: 0, 1, 2, .. */
    unsigned long long *sorted_keys;
    int *sorted_values;
    const unsigned *totals; /* of each digit */
    unsigned *states;       /* 256 for each tile, and after those the tiles taken; begin as 0 */
    int count, tiles, shift;
} rayt__sort_job;

static __host__ __device__ __forceinline__ int rayt__digit(unsigned long long key, int shift)
{
    return (int)(key >> shift & (RAYT__DIGITS - 1));
}

/* The sum of what this lane and those before it in the warp have; all lanes take part. */
static __device__ __forceinline__ int rayt__warp_sum(int own)
{
    int lane = (int)threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffffu, own, step);
        if (lane >= step) own += other;
    }
    return own;
}

/* The sum of what threads before this one have; `sums` is shared memory, a number a warp. */
static __device__ __forceinline__ int rayt__block_sum(int own, int *sums)
{
    int warp = (int)threadIdx.x / 32, upto = rayt__warp_sum(own);
    __syncthreads();
    if (threadIdx.x % 32 == 31) sums[warp] = upto;
    __syncthreads();
    for (int w = 0; w < warp; w++) upto += sums[w];
    return upto - own;
}

/* How many keys of the tiles before this one have this thread's digit. A state is 0 until it is
   written, then a number + 1; bit 31 says that it is a sum of all tiles up to there. */
static __device__ __forceinline__ unsigned rayt__look_back(const unsigned *states, int tile)
{
    const volatile unsigned *digit = states + threadIdx.x; /* others write while this reads */
    unsigned before = 0;
    while (tile > 0) {
        unsigned seen[RAYT__LOOK_BACK];
#pragma unroll
        for (int k = 0; k < RAYT__LOOK_BACK; k++)
            seen[k] = digit[(tile > k ? tile - 1 - k : 0) * RAYT__DIGITS];
#pragma unroll
        for (int k = 0; k < RAYT__LOOK_BACK; k++) {
            if (seen[k] == 0) break;
            before += (seen[k] & 0x7fffffffu) - 1;
            if (seen[k] >> 31) return before;
            tile--;
        }
    }
    return before;
}

RAYT_KERNEL void __launch_bounds__(RAYT__SORT_THREADS, RAYT__SORT_BLOCKS)
    rayt_sort_pass(rayt__sort_job sort)
{
    enum { WARPS = RAYT__SORT_THREADS / 32, ROUNDS = RAYT__SORT_EACH };
    __shared__ unsigned long long staged[RAYT__SORT_TILE]; /* keys, then values */
    __shared__ unsigned short places[WARPS][RAYT__DIGITS];
    __shared__ int to[RAYT__DIGITS], sums[WARPS], taken;
    int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32;
    int *values = (int *)staged;
    bool has_digit = thread < RAYT__DIGITS;
    if (thread == 0) taken = (int)atomicAdd(&sort.states[(size_t)sort.tiles * RAYT__DIGITS], 1u);
    for (int w = 0; w < WARPS && has_digit; w++) places[w][thread] = 0;
    __syncthreads();
    int tile = taken, first = tile * RAYT__SORT_TILE, own = warp * 32 * ROUNDS + lane;
    int many = sort.count - first < RAYT__SORT_TILE ? sort.count - first : RAYT__SORT_TILE;
    unsigned long long keys[ROUNDS];
    int ranks[ROUNDS]; /* in the warp, then in the tile, then among all */
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) /* what is beyond the last key comes after all of the tile */
        keys[k] = own + 32 * k < many ? sort.keys[first + own + 32 * k] : ~0ull;
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int digit = rayt__digit(keys[k], sort.shift);
        unsigned same = 0xffffffffu;
        for (int bit = 1; bit < RAYT__DIGITS; bit *= 2) {
            unsigned votes = __ballot_sync(0xffffffffu, digit & bit);
            same &= digit & bit ? votes : ~votes;
        }
        int before = __popc(same & ((1u << lane) - 1)), begin = places[warp][digit];
        __syncwarp();
        if (before == 0) places[warp][digit] = (unsigned short)(begin + __popc(same));
        __syncwarp();
        ranks[k] = begin + before;
    }
    __syncthreads();
    int total = 0;
    unsigned *state = &sort.states[(size_t)tile * RAYT__DIGITS + thread], before = 0;
    if (has_digit) {
        for (int w = 0; w < WARPS; w++) total += places[w][thread];
        if (tile > 0) atomicExch(state, (unsigned)total + 1);
    }
    int place = rayt__block_sum(total, sums);
    int smaller = rayt__block_sum(has_digit ? (int)sort.totals[thread] : 0, sums);
    if (has_digit) {
        for (int w = 0, next = place; w < WARPS; w++) {
            int here = places[w][thread];
            places[w][thread] = (unsigned short)next;
            next += here;
        }
        before = rayt__look_back(sort.states, tile);
        atomicExch(state, (before + (unsigned)total + 1) | 0x80000000u);
        to[thread] = smaller + (int)before - place;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        ranks[k] += places[warp][rayt__digit(keys[k], sort.shift)];
        staged[ranks[k]] = keys[k];
    }
    __syncthreads();
    int goals[ROUNDS];
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = k * RAYT__SORT_THREADS + thread;
        unsigned long long key = staged[i];
        goals[k] = to[rayt__digit(key, sort.shift)] + i;
        if (i < many) sort.sorted_keys[goals[k]] = key;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = own + 32 * k;
        if (i < many) values[ranks[k]] = sort.values == NULL ? first + i : sort.values[first + i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = k * RAYT__SORT_THREADS + thread;
        if (i < many) sort.sorted_values[goals[k]] = values[i];
    }
}
#endif
/* src/raytrace/trace/kernels.cuh. The kernels that build a tree, and those that ask it. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TREE_KERNELS)
#define RAYT__PART_TREE_KERNELS
/* ============================== KERNELS TREE ================================================== */
/* What BUILD and WALKS describe, for threads: one a sphere, a child of a node, or a ray. The bytes that
   each kernel of a build moves stand above it. Bounds, totals, queue, flags and meetings begin as 0. */

/* The bounds of every `step`-th sphere from `first` on, the thread's own, and of the whole block; to
   `most`, shared memory that begins as 0. */
static __device__ __forceinline__ void rayt__measure(const rayt__build *build, int first, int step,
                                                     unsigned *most)
{
    unsigned own[7] = {0, 0, 0, 0, 0, 0, 0};
#pragma unroll 4
    for (int i = first; i < build->count; i += step) { /* no branch: four loads are under way */
        float4 ball = rayt__ball_of(build->spheres, i);
        bool solid = rayt_solid(ball);
        unsigned keys[3] = {rayt__sort_key(ball.x), rayt__sort_key(ball.y), rayt__sort_key(ball.z)};
#pragma unroll
        for (int k = 0; k < 3; k++) {
            unsigned high = solid ? keys[k] : 0, low = solid ? ~keys[k] : 0;
            own[k] = high > own[k] ? high : own[k];
            own[3 + k] = low > own[3 + k] ? low : own[3 + k];
        }
        own[6] += solid;
    }
#pragma unroll
    for (int k = 0; k < 7; k++) {
        for (int step = 16; step > 0; step /= 2) {
            unsigned other = __shfl_xor_sync(0xffffffffu, own[k], step);
            own[k] = k == 6 ? own[k] + other : other > own[k] ? other : own[k];
        }
        if (threadIdx.x % 32 == 0) {
            if (k == 6) {
                atomicAdd(&most[k], own[k]);
            } else {
                atomicMax(&most[k], own[k]);
            }
        }
    }
    __syncthreads();
}

static __device__ __forceinline__ rayt__box rayt__measured(const unsigned *bounds)
{
    rayt__box all = {rayt__from_sort_key(~bounds[3]), rayt__from_sort_key(~bounds[4]),
                     rayt__from_sort_key(~bounds[5]), rayt__from_sort_key(bounds[0]),
                     rayt__from_sort_key(bounds[1]),  rayt__from_sort_key(bounds[2])};
    return all;
}

/* Bounds, codes and SORT of up to RAYT__FEW spheres, and the zeros that other kernels need. A block
   sorts 32 spheres: the place of each is how many of all have a lower code, or the same code and a
   lower index. Each block needs all codes for that. */
RAYT_KERNEL void __launch_bounds__(RAYT__FEW_THREADS) rayt_tree_few(rayt__build build)
{
    __shared__ unsigned long long words[RAYT__FEW]; /* code and index: no two are equal */
    __shared__ unsigned most[8];
    __shared__ int places[32];
    int thread = (int)threadIdx.x, lane = thread % 32, own = (int)blockIdx.x * 32 + lane;
    if (thread < 8) most[thread] = 0;
    if (thread < 32) places[thread] = 0;
    __syncthreads();
    rayt__measure(&build, thread, RAYT__FEW_THREADS, most);
    rayt__box all = rayt__measured(most);
    if (blockIdx.x == 0) {
        if (thread < 8) build.bounds[thread] = most[thread];
        if (thread < RAYT__QUEUE) build.queue[thread] = 0;
    }
    for (int i = thread; i < build.count; i += RAYT__FEW_THREADS)
        words[i] = rayt__code(rayt__ball_of(build.spheres, i), all) * RAYT__FEW | (unsigned)i;
    __syncthreads();
    unsigned long long word = own < build.count ? words[own] : 0;
    int lower = 0;
#pragma unroll 4
    for (int i = thread / 32; i < build.count; i += RAYT__FEW_THREADS / 32)
        lower += words[i] < word;
    atomicAdd(&places[lane], lower);
    __syncthreads();
    if (thread >= 32 || own >= build.count) return;
    build.keys[places[lane]] = word / RAYT__FEW;
    build.order[places[lane]] = own;
    build.meetings[own] = 0;
    if (own < (build.count + 3) / 4) build.flags[own] = 0;
}

/* 16 of each 32 bytes of a sphere are read. */
RAYT_KERNEL void __launch_bounds__(256) rayt_tree_bounds(rayt__build build)
{
    __shared__ unsigned most[7];
    if (threadIdx.x < 7) most[threadIdx.x] = 0;
    __syncthreads();
    rayt__measure(&build, (int)(blockIdx.x * 256 + threadIdx.x), (int)gridDim.x * 256, most);
    if (threadIdx.x < 6) atomicMax(&build.bounds[threadIdx.x], most[threadIdx.x]);
    if (threadIdx.x == 6) atomicAdd(&build.bounds[6], most[6]);
}

/* 16 of each 32 bytes read, 8 written. */
RAYT_KERNEL void __launch_bounds__(RAYT__DIGITS) rayt_tree_codes(rayt__build build)
{
    __shared__ unsigned counts[RAYT__PASSES][RAYT__DIGITS];
    int thread = (int)threadIdx.x;
    for (int pass = 0; pass < RAYT__PASSES; pass++) counts[pass][thread] = 0;
    rayt__box all = rayt__measured(build.bounds);
    __syncthreads();
#pragma unroll 4
    for (int i = blockIdx.x * RAYT__DIGITS + thread; i < build.count;
         i += gridDim.x * RAYT__DIGITS) {
        unsigned long long key = rayt__code(rayt__ball_of(build.spheres, i), all);
        build.keys[i] = key;
        for (int pass = 0; pass < RAYT__PASSES; pass++)
            atomicAdd(&counts[pass][rayt__digit(key, 8 * pass)], 1u);
    }
    __syncthreads();
    for (int pass = 0; pass < RAYT__PASSES; pass++)
        if (counts[pass][thread] > 0)
            atomicAdd(&build.totals[pass * RAYT__DIGITS + thread], counts[pass][thread]);
}

/* The difference between leaf i and the next one; at either end of all more than any. */
static __device__ __forceinline__ unsigned long long rayt__difference_at(const rayt__build *build,
                                                                         int i)
{
    return i >= 0 && i < (int)build->bounds[6] - 1 ? rayt__difference(build->keys, i) : ~0ull;
}

/* A thread begins with a leaf. In a block halves meet in shared memory, in rounds: right halves leave
   their box and end; left ones, once their other half is there, go on with the whole. A half whose
   other half belongs to another block climbs on in global memory: where two meet, the first leaves
   its end of the range and ends; the second goes on. A gather of 32 bytes a leaf, 32 written a pair.
   What bounds it: barriers, and the latency of the climb, whose every step waits for L2. */
RAYT_KERNEL void __launch_bounds__(RAYT__MERGE_THREADS) rayt_tree_merge(rayt__build build)
{
    __shared__ unsigned long long differences[RAYT__MERGE_THREADS + 1]; /* from the leaf before */
    __shared__ rayt__box boxes[RAYT__MERGE_THREADS];                    /* of right halves */
    __shared__ int ends[RAYT__MERGE_THREADS], names[RAYT__MERGE_THREADS];
    int thread = (int)threadIdx.x, begin = (int)blockIdx.x * RAYT__MERGE_THREADS;
    int i = begin + thread, count = (int)build.bounds[6];
    if (begin >= count) return; /* the same for all threads */
    int first = i, last = i, name = i, parent = 0;
    bool left = false, going = i < count && count > 1, moved = going;
    rayt__box box = {0, 0, 0, 0, 0, 0};
    if (i < count) box = rayt__range_box(&build, i, i, i);
    if (i < count) differences[thread + 1] = rayt__difference_at(&build, i);
    if (thread == 0) differences[0] = rayt__difference_at(&build, begin - 1);
    ends[thread] = -1;
    __syncthreads();
    do {
        if (moved) {
            left = differences[last - begin + 1] < differences[first - begin];
            parent = left ? last : first - 1;
            if (!left && parent >= begin) {
                boxes[parent - begin] = box;
                names[parent - begin] = name;
                ends[parent - begin] = last;
            }
        }
        __syncthreads();
        moved =
            going && left && parent < begin + RAYT__MERGE_THREADS - 1 && ends[parent - begin] >= 0;
        if (moved) {
            box = rayt__around(box, boxes[parent - begin]);
            rayt__set_pair(&build.pairs[parent], box, name, names[parent - begin]);
            last = ends[parent - begin];
            ends[parent - begin] = -1;
            name = parent;
            going = last - first + 1 < count;
            if (!going) build.bounds[7] = (unsigned)name;
            moved = going;
        }
    } while (__syncthreads_or(moved));
    if (!left && parent >= begin && ends[parent - begin] < 0) going = false; /* it was met */
    unsigned long long before = going ? rayt__difference_at(&build, first - 1) : 0;
    unsigned long long after = going ? rayt__difference_at(&build, last) : 0;
    while (going) {
        left = after < before;
        parent = left ? last : first - 1;
        __threadfence();
        unsigned long long met =
            atomicExch(&build.meetings[parent],
                       (unsigned long long)((left ? first : last) + 1) << 32 | (unsigned)name);
        if (met == 0) return;
        __threadfence();
        int end = (int)(met >> 32) - 1, other = (int)met;
        if (left) {
            after = rayt__difference_at(&build, end);
        } else {
            before = rayt__difference_at(&build, end - 1);
        }
        rayt__box sibling = left ? rayt__range_box(&build, last + 1, end, other)
                                 : rayt__range_box(&build, end, first - 1, other);
        box = rayt__around(box, sibling);
        rayt__set_pair(&build.pairs[parent], box, left ? name : other, left ? other : name);
        first = left ? first : end;
        last = left ? end : last;
        name = parent;
        going = last - first + 1 < count;
        if (!going) build.bounds[7] = (unsigned)name;
    }
}

/* What a lane knows of its child, one of 8 of a node to be; none if `last` is less than `first`. */
typedef struct rayt__child {
    int first, last, name, left, right;
    rayt__box box;
} rayt__child;

static __device__ __forceinline__ void rayt__load_child(const rayt__build *build, int first,
                                                        int last, int name, rayt__child *child)
{
    child->first = first;
    child->last = last;
    child->name = name;
    if (first == last) {
        child->box = rayt__own_box(rayt__ball_of(build->spheres, build->order[first]));
    } else if (first < last) {
        const float4 *pair = (const float4 *)&build->pairs[name];
        float4 low = pair[0], high = pair[1];
        rayt__box box = {low.x, low.y, low.z, high.x, high.y, high.z};
        child->box = box;
        child->left = __float_as_int(low.w);
        child->right = __float_as_int(high.w);
    }
}

/* Opens the widest of a node's descendants until there are 8; 8 lanes a node, a child each. At first
   all have the node itself, in the end those lanes that have no child none. Returns how many. */
static __device__ __forceinline__ int rayt__open_up(const rayt__build *build, rayt__child *own,
                                                    int level)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, shift = (int)threadIdx.x % 32 - lane;
    int many = own->first <= own->last, size = own->last - own->first + 1;
    float worth = lane == 0 && size > 1 ? rayt__worth(own->box, size, level) : -1;
    if (lane > 0) own->last = own->first - 1;
    for (int round = 1; round < RAYT__WIDTH; round++) {
        float most = worth;
#pragma unroll
        for (int step = 4; step > 0; step /= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        unsigned widest = __ballot_sync(0xffffffffu, worth == most && most >= 0);
        if (widest == 0) break; /* nothing to open in the whole warp */
        int from = rayt__lowest(widest >> shift | 128);
        int last = __shfl_sync(0xffffffffu, own->last, from, RAYT__WIDTH);
        int middle = __shfl_sync(0xffffffffu, own->name, from, RAYT__WIDTH);
        int right = __shfl_sync(0xffffffffu, own->right, from, RAYT__WIDTH);
        if (most < 0) continue;
        if (lane == from || lane == many) {
            rayt__load_child(build, lane == from ? own->first : middle + 1,
                             lane == from ? middle : last, lane == from ? own->left : right, own);
            size = own->last - own->first + 1;
            worth = size > 1 ? rayt__worth(own->box, size, level) : -1;
        }
        many++;
    }
    return many;
}

/* Moves each child to the lane that is its slot: each in turn takes the free slot whose octant it
   lies deepest in. */
static __device__ __forceinline__ void rayt__place(rayt__child *own, int many, rayt__box all)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, from = -1;
    float depths[RAYT__WIDTH];
    rayt__depths(rayt__lean(own->box, all), depths);
#pragma unroll
    for (int k = 0; k < RAYT__WIDTH; k++) {
        int slot = __shfl_sync(0xffffffffu, rayt__deepest(depths), k, RAYT__WIDTH);
        if (k >= many) slot = -1;
        if (slot == lane) from = k;
#pragma unroll
        for (int taken = 0; taken < RAYT__WIDTH; taken++)
            if (slot == taken) depths[taken] = -3e38f;
    }
    int source = from < 0 ? lane : from;
    own->first = __shfl_sync(0xffffffffu, own->first, source, RAYT__WIDTH);
    own->last = __shfl_sync(0xffffffffu, own->last, source, RAYT__WIDTH);
    own->name = __shfl_sync(0xffffffffu, own->name, source, RAYT__WIDTH);
    float *box = &own->box.low_x;
#pragma unroll
    for (int k = 0; k < 6; k++) box[k] = __shfl_sync(0xffffffffu, box[k], source, RAYT__WIDTH);
    if (from < 0) own->last = own->first - 1;
}

/* The sum of what lanes before this one have, of its 8. */
static __device__ __forceinline__ int rayt__lanes_before(int own)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, upto = own;
#pragma unroll
    for (int step = 1; step < RAYT__WIDTH; step *= 2) {
        int other = __shfl_up_sync(0xffffffffu, upto, step, RAYT__WIDTH);
        if (lane >= step) upto += other;
    }
    return upto - own;
}

/* Writes a node from its children, one a lane, in their slots, and the spheres of its leaves.
   `planes`: 48 bytes of shared memory for these 8 lanes. *task becomes that of the lane's child. */
static __device__ __forceinline__ void rayt__write(const rayt__build *build, rayt__task *task,
                                                   const rayt__child *own, rayt__box all,
                                                   uint4 *planes)
{
    int lane = (int)threadIdx.x % RAYT__WIDTH, shift = (int)threadIdx.x % 32 - lane;
    int size = own->last - own->first + 1, inner = size > RAYT__LEAF_MOST;
    rayt__raster grid = rayt__raster_of(all);
    unsigned char *bytes = (unsigned char *)planes + lane % 4 * 2 + lane / 4;
    bytes[0] = (unsigned char)(size ? rayt__step_low(own->box.low_x, grid.x, grid.ex) : 0);
    bytes[8] = (unsigned char)(size ? rayt__step_low(own->box.low_y, grid.y, grid.ey) : 0);
    bytes[16] = (unsigned char)(size ? rayt__step_low(own->box.low_z, grid.z, grid.ez) : 0);
    bytes[24] = (unsigned char)(size ? rayt__step_high(own->box.high_x, grid.x, grid.ex) : 0);
    bytes[32] = (unsigned char)(size ? rayt__step_high(own->box.high_y, grid.y, grid.ey) : 0);
    bytes[40] = (unsigned char)(size ? rayt__step_high(own->box.high_z, grid.z, grid.ez) : 0);
    unsigned nodes = __ballot_sync(0xffffffffu, inner) >> shift & 255;
    unsigned leaves = (inner ? 8 : (1u << size) - 1) << 4 * lane;
#pragma unroll
    for (int step = 4; step > 0; step /= 2) leaves |= __shfl_xor_sync(0xffffffffu, leaves, step);
    unsigned inners = leaves & 0x88888888u & ~((leaves & 0x11111111u) << 3); /* 8, not 15 */
    leaves ^= inners;
    int room = rayt__lanes_before(inner ? rayt__room(size) : 0);
    int spheres = rayt__lanes_before(inner ? size : 0), to = task->node;
    uint4 words = {rayt__bits_of(grid.x), rayt__bits_of(grid.y), rayt__bits_of(grid.z),
                   rayt__exponents(grid) | nodes << 24};
    uint4 links = {(unsigned)task->room, (unsigned)task->sphere, leaves, inners};
    __syncwarp();
    if (lane == 1) words = links;
    if (lane > 1 && lane < 5) words = planes[lane - 2];
    if (lane < 5 && to >= 0) build->nodes[(size_t)to * 5 + lane] = words;
    if (!inner) {
        int place = task->sphere + rayt__ones(leaves & ((1u << 4 * lane) - 1));
#pragma unroll
        for (int k = 0; k < RAYT__LEAF_MOST; k++) {
            if (k >= size) continue;
            int index = build->order[own->first + k];
            build->balls[place + k] = rayt__ball_of(build->spheres, index);
            build->indices[place + k] = index;
        }
    }
    task->first = own->first;
    task->last = own->last;
    task->name = own->name;
    task->node = task->room + rayt__ones(nodes & ((1u << lane) - 1));
    task->room += rayt__ones(nodes) + room;
    task->sphere += rayt__ones(leaves) + spheres;
}

/* All nodes, from the root down. 8 lanes take a task, make its node and put the tasks of its children
   at the end of the queue. They wait for a task that is not there yet until all are done: only for
   blocks that have tasks, and so run already. A node reads up to 14 halves of 32 bytes and writes 80,
   and 36 a sphere of its leaves, 32 a child. What bounds it: the latency of 7 halvings, one after the
   other, and where nodes are many instructions. */
RAYT_KERNEL void __launch_bounds__(RAYT__WIDEN_THREADS) rayt_tree_widen(rayt__build build, int most)
{
    __shared__ uint4 planes[RAYT__WIDEN_NODES][3];
    __shared__ int made, done, tail, taken; /* of this round; where tasks go; the next ones */
    int thread = (int)threadIdx.x, mine = thread / RAYT__WIDTH, lane = thread % 32;
    const volatile int *flags = build.flags, *open = &build.queue[RAYT__OPEN]; /* others write */
    if (thread == 0) {
        taken = atomicAdd(&build.queue[RAYT__TAKEN], RAYT__WIDEN_NODES);
        made = done = 0;
    }
    __syncthreads();
    for (int ticket = taken + mine;;) {
        bool ready = ticket == 0 || (ticket < most && flags[ticket] != 0);
        ready = __shfl_sync(0xffffffffu, ready, 0, RAYT__WIDTH); /* the same for all 8 lanes */
        if (!__syncthreads_or(ready)) {
            if (__syncthreads_or(thread == 0 && *open < 0)) return;
            __nanosleep(200); /* those who wait slow those who work */
            continue;
        }
        rayt__task task = {0, -1, 0, -1, 0, 0, 0, 0};
        unsigned here = __ballot_sync(0xffffffffu, ready);
        if (here != 0) {
            rayt__child child = {0, -1, 0, 0, 0, {0, 0, 0, 0, 0, 0}};
            __threadfence();
            if (ready && ticket == 0) {
                task.last = (int)build.bounds[6] - 1;
                task.name = (int)build.bounds[7];
                task.node = 0;
                task.room = 1;
            } else if (ready) {
                int4 range = __ldcg((const int4 *)&build.tasks[ticket]);
                int4 rest = __ldcg((const int4 *)&build.tasks[ticket] + 1);
                rayt__task whole = {range.x, range.y, range.z, range.w, rest.x, rest.y, rest.z, 0};
                task = whole;
            }
            rayt__load_child(&build, task.first, task.last, task.name, &child);
            rayt__box all = child.box;
            int children = rayt__open_up(&build, &child, task.level);
            rayt__place(&child, children, all);
            rayt__write(&build, &task, &child, all, planes[mine]);
            task.level++;
        }
        bool inner = task.last - task.first >= RAYT__LEAF_MOST;
        unsigned inners = __ballot_sync(0xffffffffu, inner), before = (1u << lane) - 1;
        int place = 0, turn = 0;
        if (lane == 0 && here != 0) {
            place = atomicAdd(&made, rayt__ones(inners));
            turn = atomicAdd(&done, rayt__ones(here) / RAYT__WIDTH);
        }
        place = __shfl_sync(0xffffffffu, place, 0) + rayt__ones(inners & before);
        turn = __shfl_sync(0xffffffffu, turn, 0) + rayt__ones(here & before) / RAYT__WIDTH;
        __syncthreads();
        if (thread == 0) {
            if (made > 0) tail = 1 + atomicAdd(&build.queue[RAYT__TAIL], made);
            atomicAdd(&build.queue[RAYT__OPEN], made - done); /* before anyone can do these */
            taken = atomicAdd(&build.queue[RAYT__TAKEN], done);
            made = done = 0;
        }
        __syncthreads();
        if (inner) {
            build.tasks[tail + place] = task;
            __threadfence();
            atomicExch(&build.flags[tail + place], 1);
        }
        if (ready) ticket = taken + turn;
    }
}

static __device__ __forceinline__ rayt_unit_ray rayt__ray_of(const rayt_ray *rays, int i, int end)
{
    rayt_ray none = {0, 0, 0, 0, 0, 0, 0, 0}; /* cannot hit */
    if (i >= end) return rayt_ready(none);
    const float4 *record = (const float4 *)&rays[i];
    float4 from = __ldg(record), to = __ldg(record + 1);
    rayt_ray ray = {from.x, from.y, from.z, from.w, to.x, to.y, to.z, to.w};
    return rayt_ready(ray);
}

/* Have the directions of a warp's rays the same signs? Others are no bundle, and this is soon seen. */
static __device__ __forceinline__ bool rayt__one_way(const rayt_ray *rays, int i, int end)
{
    float4 to = __ldg((const float4 *)&rays[i < end ? i : end - 1] + 1);
    unsigned x = __ballot_sync(0xffffffffu, to.x < 0), y = __ballot_sync(0xffffffffu, to.y < 0);
    unsigned z = __ballot_sync(0xffffffffu, to.z < 0);
    return (x + 1 <= 1) && (y + 1 <= 1) && (z + 1 <= 1); /* all or none */
}

static __device__ __forceinline__ int2 rayt__answer(int index, float t, bool any)
{
    if (any) return make_int2(index < 0 ? -1 : 0, 0);
    return make_int2(index, index < 0 ? 0 : __float_as_int(t));
}

/* A block asks for RAYT__QUERY_THREADS `rounds` rays, 32 neighbours at a time. Those that are side by
   side are a bundle. The others walk alone: a lane whose ray has ended waits until `enough` of its warp
   have; then they take the next rays together. */
RAYT_KERNEL void __launch_bounds__(RAYT__QUERY_THREADS, 8)
    rayt_query_rays(rayt__tree_view tree, const rayt_ray *__restrict__ rays, int count, int rounds,
                    int enough, bool any, int2 *__restrict__ found)
{
    __shared__ int taken, left, alone[RAYT__ROUNDS * RAYT__QUERY_THREADS / 32];
    __shared__ rayt__together together[RAYT__QUERY_THREADS / 32];
    int lane = (int)threadIdx.x % 32, own = -1;
    int begin = (int)blockIdx.x * RAYT__QUERY_THREADS * rounds;
    int end =
        count - begin < RAYT__QUERY_THREADS * rounds ? count : begin + RAYT__QUERY_THREADS * rounds;
    if (threadIdx.x == 0) taken = left = 0;
    __syncthreads();
    for (;;) {
        int next = 0;
        if (lane == 0) next = atomicAdd(&taken, 32);
        next = begin + __shfl_sync(0xffffffffu, next, 0);
        if (next >= end) break;
        bool done = rayt__one_way(rays, next + lane, end);
        if (done) {
            rayt_unit_ray ray = rayt__ray_of(rays, next + lane, end);
            rayt__bundle bundle;
            int index;
            done =
                rayt__bundle_of(ray, rayt__close(tree), &bundle) &&
                rayt__walk_together(tree, &together[threadIdx.x / 32], &bundle, any, &ray, &index);
            if (done && next + lane < end) found[next + lane] = rayt__answer(index, ray.t_max, any);
        }
        if (!done && lane == 0) alone[atomicAdd(&left, 1)] = next;
    }
    __syncthreads();
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    int all = 32 * left;
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk = {};
    for (bool more = all > 0;;) {
        if (walk.stage == RAYT__ENDED && own >= 0) {
            found[own] = rayt__answer(walk.found, walk.ray.t_max, any);
            own = -1;
        }
        unsigned idle = __ballot_sync(0xffffffffu, own < 0);
        if (more) {
            int next = 0;
            if (lane == 0) next = atomicAdd(&taken, __popc(idle));
            next = __shfl_sync(0xffffffffu, next, 0);
            if (own < 0) {
                int i = next + __popc(idle & ((1u << lane) - 1));
                if (i < all) own = alone[i / 32] + i % 32;
                if (own >= end) own = -1;
            }
            if (own >= 0 && walk.stage == RAYT__ENDED)
                rayt__begin_walk(&walk, rayt__ray_of(rays, own, end), true);
            more = next + __popc(idle) < all;
        } else if (idle == 0xffffffffu) {
            break;
        }
        __syncwarp();
        rayt__walk_on(tree, &walk, waiting, any, more ? enough : 32);
    }
}

RAYT_KERNEL void __launch_bounds__(RAYT__QUERY_THREADS)
    rayt_query_balls(rayt__tree_view tree, const float4 *__restrict__ points, int count,
                     int *__restrict__ counts, int *lists, int capacity)
{
    int i = blockIdx.x * RAYT__QUERY_THREADS + threadIdx.x;
    if (i >= count) return;
    counts[i] = rayt__tree_within(tree, __ldg(&points[i]), lists + (size_t)i * capacity, capacity);
}
#endif
/* src/raytrace/trace/random.cuh. Vectors, and random ones from integers alone. */
#if RAYT__KERNELS && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_RANDOM)
#define RAYT__PART_RANDOM
/* ============================== TRACE: RANDOM VECTORS ========================================= */
static __host__ __device__ __forceinline__ float3 rayt__times(float s, float3 a)
{
    return make_float3(rayt_mul(s, a.x), rayt_mul(s, a.y), rayt_mul(s, a.z));
}

/* s a + b. */
static __host__ __device__ __forceinline__ float3 rayt__along(float s, float3 a, float3 b)
{
    return make_float3(rayt_fma(s, a.x, b.x), rayt_fma(s, a.y, b.y), rayt_fma(s, a.z, b.z));
}

static __host__ __device__ __forceinline__ float rayt__dot(float3 a, float3 b)
{
    return rayt_fma(a.x, b.x, rayt_fma(a.y, b.y, rayt_mul(a.z, b.z)));
}

/* Random numbers are hashes of what they are for: pcg3d of M. Jarzynski and M. Olano ("Hash
   Functions for GPU Rendering", JCGT 9(3), 2020). A path carries no state, and who computes it, when
   and where changes nothing. */
static __host__ __device__ __forceinline__ uint3 rayt__hash(unsigned x, unsigned y, unsigned z)
{
    x = x * 1664525u + 1013904223u;
    y = y * 1664525u + 1013904223u;
    z = z * 1664525u + 1013904223u;
    x += y * z;
    y += z * x;
    z += x * y;
    x ^= x >> 16;
    y ^= y >> 16;
    z ^= z >> 16;
    x += y * z;
    y += z * x;
    z += x * y;
    return make_uint3(x, y, z);
}

/* Uniform in [0, 1), with the 24 bits that a float holds. */
static __host__ __device__ __forceinline__ float rayt__uniform(unsigned bits)
{
    return rayt_mul((float)(bits >> 8), 5.9604644775390625e-8f);
}

/* Cosine and sine of 2^-32 `bits` turns. Two bits choose a quarter. The polynomials of Taylor for
   what remains, from -45 to 45 degrees, are exact to 2^-24: the functions of systems differ. */
static __host__ __device__ __forceinline__ void rayt__turn(unsigned bits, float *cosine,
                                                           float *sine)
{
    unsigned quarter = (bits + 0x20000000u) >> 30;
    int rest = (int)(bits - (quarter << 30));              /* of a turn, from -2^29 to 2^29 */
    float angle = rayt_mul((float)rest, 1.4629180793e-9f); /* 2 pi 2^-32 */
    float square = rayt_mul(angle, angle);
    float s = rayt_fma(square, 2.7557319224e-6f, -1.9841269841e-4f), c = 2.4801587302e-5f;
    s = rayt_fma(square, s, 8.3333333333e-3f);
    s = rayt_fma(square, s, -1.6666666667e-1f);
    s = rayt_fma(rayt_mul(square, angle), s, angle);
    c = rayt_fma(square, rayt_fma(square, -2.7557319224e-7f, c), -1.3888888889e-3f);
    c = rayt_fma(square, c, 4.1666666667e-2f);
    c = rayt_fma(square, c, -0.5f);
    c = rayt_fma(square, c, 1);
    *cosine = quarter & 1 ? s : c;
    *sine = quarter & 1 ? c : s;
    if (quarter == 1 || quarter == 2) *cosine = -*cosine;
    if (quarter >= 2) *sine = -*sine;
}

/* A point on the unit sphere, uniform: of equal heights, its zones have equal areas. */
static __host__ __device__ __forceinline__ float3 rayt__on_sphere(unsigned height, unsigned turn)
{
    float c, s, z = rayt_sub(rayt_mul(2, rayt__uniform(height)), 1);
    float r = rayt_sqrt(rayt_fma(-z, z, 1)); /* |z| <= 1: never negative */
    rayt__turn(turn, &c, &s);
    return make_float3(rayt_mul(r, c), rayt_mul(r, s), z);
}
#endif
/* src/raytrace/trace/path.cuh. One path of light: its rays, and what surfaces do with it. */
#if RAYT__KERNELS && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_PATH)
#define RAYT__PART_PATH
/* ============================== TRACE: PATHS ================================================== */
/* Everything that is the same for all paths, as kernels get it in their parameters: there it is
   constant memory and takes no registers. */
typedef struct rayt__trace_view {
    const rayt_sphere *spheres;
    const rayt_material *materials; /* or NULL */
    int count, width, height, first_row, rows;
    /* The ray of (x, y), pixels from the middle: through origin + x across + y down if the rays are
       parallel, else towards forward + x across + y down, which is in focus at `focus`. */
    float3 origin, forward, across, down;
    float3 lens_across, lens_up; /* half a lens along each axis */
    float focus;                 /* 1 / focus_distance; 0 without a lens */
    int parallel;
    int samples, depth;
    int tile_bits; /* tiles of KERNEL TRACE have edges of 2^tile_bits pixels */
    unsigned seed[2];
    float scale;              /* of the integers in which samples are added: a power of 2 */
    float gamma;              /* 1 and 2 are computed, for others there are `thresholds` */
    unsigned thresholds[255]; /* from which sum on a component is more than n */
    int ground;
    float ground_height, ground_cells; /* cells: 1 / edge of a square; 0 for one colour */
    float3 ground_colours[2];
    rayt_material ground_material;
    int lights;
    rayt_light light[RAYT_MOST_LIGHTS + 1];
    int sun; /* 1: the first of these is the sun, and x, y, z its direction */
    float3 sky_middle, sky_slope, ambient;
    rayt__tree_view tree; /* of RAYT_TREE, and of rayt_trace_cpu if has_tree */
    int has_tree;
} rayt__trace_view;

enum {
    RAYT__PATH_RAY = -1, /* path.light: the ray is the path's own, not one towards a light */
    RAYT__LAST = 32,     /* added to the number of a light: with the lights the path ends */
    RAYT__NO_SPHERE = -1
};
#define RAYT__BRIGHTEST 16.0f /* a sample that is brighter counts as this: sums are finite */
#define RAYT__CLEAR     9.5367431640625e-7f /* 2^-20 of coordinates: so far off surfaces rays begin */

/* Where one path stands. A thread holds one. */
typedef struct rayt__path {
    float3 origin;
    float3 direction; /* of the ray; while rays go to the lights: the normal where they begin */
    float3 weight;    /* what part of the light that arrives here reaches the camera */
    float3 sum;       /* the light that has reached it */
    unsigned key;
    int rays;  /* so far, rays to lights apart */
    int light; /* RAYT__PATH_RAY, or the light that the ray goes to */
} rayt__path;

/* What a ray has met. */
typedef struct rayt__surface {
    float3 point, normal; /* the normal is on the side that the ray comes from */
    float clear;          /* how far from the point new rays begin */
    bool inside;
    float3 colour;
    rayt_material material;
} rayt__surface;

/* As rayt_inverse. */
static __host__ __device__ __forceinline__ float rayt__inverse_of(float a)
{
    return rayt_one_over(a == 0 ? 2 * RAYT_TINY : a);
}

/* A ray of unit direction, made ready for rayt_hit as rayt_ready does it, but for checks: what is
   computed here is in range. */
static __host__ __device__ __forceinline__ rayt_unit_ray rayt__aim(float3 origin, float3 direction,
                                                                   float t_max)
{
    rayt_unit_ray ray;
    float scale = rayt_one_over(rayt_sqrt(rayt__dot(direction, direction)));
    direction = rayt__times(scale, direction);
    ray.x = rayt_not_tiny(origin.x);
    ray.y = rayt_not_tiny(origin.y);
    ray.z = rayt_not_tiny(origin.z);
    ray.dx = fabsf(direction.x) < 2 * RAYT_TINY ? 0 : direction.x;
    ray.dy = fabsf(direction.y) < 2 * RAYT_TINY ? 0 : direction.y;
    ray.dz = fabsf(direction.z) < 2 * RAYT_TINY ? 0 : direction.z;
    ray.ix = rayt__inverse_of(ray.dx);
    ray.iy = rayt__inverse_of(ray.dy);
    ray.iz = rayt__inverse_of(ray.dz);
    ray.t_min = 0;
    ray.t_max = t_max;
    return ray;
}

/* Begins sample `sample` of a pixel of the image. */
static __host__ __device__ __forceinline__ void rayt__begin_path(const rayt__trace_view *view,
                                                                 int column, int row, int sample,
                                                                 rayt__path *path)
{
    uint3 name = rayt__hash((unsigned)column + view->seed[0], (unsigned)row + view->seed[1],
                            (unsigned)sample);
    float x = rayt_coordinate(column, view->width), y = rayt_coordinate(row, view->height);
    path->key = name.x;
    if (!view->parallel) { /* the middle of the picture is between pixels */
        x = rayt_add(x, 0.5f);
        y = rayt_add(y, 0.5f);
    }
    if (view->samples > 1) {
        x = rayt_add(x, rayt_sub(rayt__uniform(name.y), 0.5f));
        y = rayt_add(y, rayt_sub(rayt__uniform(name.z), 0.5f));
    }
    float3 place = rayt__along(x, view->across, rayt__times(y, view->down));
    float3 one = make_float3(1, 1, 1), none = make_float3(0, 0, 0);
    if (view->parallel) {
        path->origin = rayt__along(1, place, view->origin);
        path->direction = view->forward;
    } else {
        path->origin = view->origin;
        path->direction = rayt__along(1, place, view->forward);
    }
    if (view->focus > 0) { /* from a point of the lens to the point that is in focus */
        uint3 bits = rayt__hash(path->key, 1, view->seed[0]);
        float c, s, r = rayt_sqrt(rayt__uniform(bits.y));
        rayt__turn(bits.x, &c, &s);
        float3 lens = rayt__along(rayt_mul(r, c), view->lens_across,
                                  rayt__times(rayt_mul(r, s), view->lens_up));
        path->origin = rayt__along(1, lens, path->origin);
        path->direction = rayt__along(-view->focus, lens, path->direction);
    }
    path->weight = one;
    path->sum = none;
    path->rays = 0;
    path->light = RAYT__PATH_RAY;
}

/* The vector from a point to a light. */
static __host__ __device__ __forceinline__ float3 rayt__towards(const rayt__trace_view *view,
                                                                int light, float3 point)
{
    float3 place = make_float3(view->light[light].x, view->light[light].y, view->light[light].z);
    return view->sun && light == 0 ? place : rayt__along(-1, point, place);
}

/* The next ray of a path, and in *ground whether it meets the ground: its t_max is there then. */
static __host__ __device__ __forceinline__ rayt_unit_ray
rayt__next_ray(const rayt__trace_view *view, const rayt__path *path, bool *ground)
{
    float3 direction = path->direction;
    float t_max = 4 * RAYT_FAR;
    if (path->light != RAYT__PATH_RAY) {
        int light = path->light & (RAYT__LAST - 1);
        direction = rayt__towards(view, light, path->origin);
        if (!(view->sun && light == 0)) t_max = rayt_sqrt(rayt__dot(direction, direction));
    }
    rayt_unit_ray ray = rayt__aim(path->origin, direction, t_max);
    *ground = false;
    if (view->ground) {
        float t = rayt_mul(rayt_sub(view->ground_height, ray.y), ray.iy);
        *ground = t > 0 && t < t_max && t <= RAYT_FAR && ray.dy != 0;
        if (*ground) ray.t_max = t;
    }
    return ray;
}

/* A component of a colour, from 0 to 1; NaN is 0. */
static __host__ __device__ __forceinline__ float rayt__part(float component)
{
    return component > 0 ? (component < 1 ? component : 1) : 0;
}

/* What the ground is, where a ray has met it. */
static __host__ __device__ __forceinline__ void rayt__meet_ground(const rayt__trace_view *view,
                                                                  rayt_unit_ray ray,
                                                                  rayt__surface *met)
{
    float3 point = met->point;
    met->inside = false;
    met->normal = make_float3(0, ray.dy > 0 ? -1.0f : 1.0f, 0);
    met->point.y = view->ground_height;
    met->clear = fabsf(view->ground_height);
    met->material = view->ground_material;
    float cell = rayt_add(floorf(rayt_mul(point.x, view->ground_cells)),
                          floorf(rayt_mul(point.z, view->ground_cells)));
    bool odd = rayt_fma(-2, floorf(rayt_mul(cell, 0.5f)), cell) > 0;
    met->colour = odd ? view->ground_colours[1] : view->ground_colours[0];
}

static __host__ __device__ __forceinline__ void rayt__meet_sphere(const rayt__trace_view *view,
                                                                  int found, rayt_unit_ray ray,
                                                                  rayt__surface *met)
{
    rayt_sphere sphere = view->spheres[found];
    float3 centre = make_float3(sphere.x, sphere.y, sphere.z);
    float3 along = make_float3(ray.dx, ray.dy, ray.dz);
    float3 from = rayt__along(-1, centre, make_float3(ray.x, ray.y, ray.z));
    float square = rayt_mul(sphere.radius, sphere.radius);
    float outside = rayt_fma(from.z, from.z, -square);
    outside = rayt_fma(from.x, from.x, rayt_fma(from.y, from.y, outside));
    /* Rounding of a long distance may be more than the radius. It moves the point along the ray: only
       what lies across the ray is kept, and the rest follows from the radius. */
    float3 out = rayt__along(-1, centre, met->point);
    float deep = rayt__dot(out, along);
    out = rayt__along(-deep, along, out);
    float rest = rayt_sub(square, rayt__dot(out, out)), half = rest > 0 ? rayt_sqrt(rest) : 0;
    met->inside = outside < 0 && deep > 0; /* the ray begins inside and leaves */
    out = rayt__along(met->inside ? half : -half, along, out);
    out = rayt__times(rayt_one_over(rayt_sqrt(rayt__dot(out, out))), out);
    met->point =
        rayt__along(sphere.radius, out, centre); /* onto the sphere, as near as floats go */
    met->clear = sphere.radius;
    met->normal = met->inside ? rayt__times(-1, out) : out;
    met->colour = make_float3(rayt__part(sphere.r), rayt__part(sphere.g), rayt__part(sphere.b));
    rayt_material matt = {RAYT_MATT, 0, 0, 0};
    met->material = view->materials ? view->materials[found] : matt;
}

/* The direction in which a mirror or glass sends a ray; false: nowhere. */
static __host__ __device__ __forceinline__ bool rayt__bend(const rayt__surface *met, float3 along,
                                                           uint3 bits, float3 *direction)
{
    float cosine = -rayt__dot(along, met->normal);
    if (cosine > 1) cosine = 1;
    float3 mirrored = rayt__along(rayt_mul(2, cosine), met->normal, along);
    *direction = mirrored;
    if (met->material.kind == RAYT_MIRROR) {
        float fuzz = rayt__part(met->material.fuzz);
        if (fuzz > 0) {
            float3 any = rayt__on_sphere(bits.x, bits.y);
            *direction = rayt__along(fuzz, any, mirrored);
        }
        return rayt__dot(*direction, met->normal) > 0; /* else it went into the mirror */
    }
    float index = met->material.index; /* Snell's law, and Schlick's for what is reflected */
    float ratio = met->inside ? index : rayt_one_over(index);
    float square = rayt_mul(rayt_mul(ratio, ratio), rayt_fma(-cosine, cosine, 1));
    float base = rayt_div(rayt_sub(1, ratio), rayt_add(1, ratio)), rest = rayt_sub(1, cosine);
    base = rayt_mul(base, base);
    float power = rayt_mul(rest, rest);
    power = rayt_mul(rayt_mul(power, power), rest);
    float reflected = rayt_fma(rayt_sub(1, base), power, base);
    if (!(square < 1) || !(reflected <= rayt__uniform(bits.z))) return true; /* also NaN */
    float deep = rayt_sub(rayt_mul(ratio, cosine), rayt_sqrt(rayt_sub(1, square)));
    *direction = rayt__along(ratio, along, rayt__times(deep, met->normal));
    return true;
}

/* Moves a path's origin to the side of the surface that its next ray is on. */
static __host__ __device__ __forceinline__ void rayt__leave(const rayt__surface *met, bool through,
                                                            rayt__path *path)
{
    float size = rayt_add(rayt_add(fabsf(met->point.x), fabsf(met->point.y)),
                          rayt_add(fabsf(met->point.z), met->clear));
    float step = rayt_mul(RAYT__CLEAR, size);
    path->origin = rayt__along(through ? -step : step, met->normal, met->point);
}

/* Goes on to the light `light` or the first after it that can shine on the path's place; when there
   is none, on to the next ray of the path. False: the path ends. */
static __host__ __device__ __forceinline__ bool rayt__next_light(const rayt__trace_view *view,
                                                                 int light, rayt__path *path)
{
    bool last = light >= RAYT__LAST;
    if (last) light -= RAYT__LAST;
    for (; light < view->lights; light++)
        if (rayt__dot(rayt__towards(view, light, path->origin), path->direction) > 0) {
            path->light = last ? light + RAYT__LAST : light;
            return true;
        }
    path->light = RAYT__PATH_RAY;
    if (last || path->rays >= view->depth) return false;
    /* A matt white surface sends light everywhere, by the cosine: normal + a point of the sphere. */
    uint3 bits = rayt__hash(path->key, (unsigned)path->rays + 1, view->seed[1]);
    float3 direction = rayt__along(1, rayt__on_sphere(bits.x, bits.y), path->direction);
    if (rayt__dot(direction, direction) > 1e-12f) path->direction = direction;
    return true;
}

/* One ray further: the ray has met sphere `found`, or RAYT__NO_SPHERE, at ray.t_max. False where the
   path has ended: its light is path->sum. */
static __host__ __device__ __forceinline__ bool rayt__advance(const rayt__trace_view *view,
                                                              rayt_unit_ray ray, int found,
                                                              bool ground, rayt__path *path)
{
    float3 along = make_float3(ray.dx, ray.dy, ray.dz);
    if (path->light != RAYT__PATH_RAY) {
        int light = path->light & (RAYT__LAST - 1);
        if (found == RAYT__NO_SPHERE && !ground) {
            const rayt_light *from = &view->light[light];
            float strength = rayt__dot(along, path->direction);
            if (!(view->sun && light == 0))
                strength = rayt_div(strength, rayt_mul(ray.t_max, ray.t_max));
            float3 colour =
                make_float3(rayt_mul(from->r, path->weight.x), rayt_mul(from->g, path->weight.y),
                            rayt_mul(from->b, path->weight.z));
            path->sum = rayt__along(strength, colour, path->sum);
        }
        return rayt__next_light(view, path->light + 1, path);
    }
    path->rays++;
    if (found == RAYT__NO_SPHERE && !ground) {
        float3 sky = rayt__along(along.y, view->sky_slope, view->sky_middle);
        path->sum.x = rayt_fma(path->weight.x, sky.x, path->sum.x);
        path->sum.y = rayt_fma(path->weight.y, sky.y, path->sum.y);
        path->sum.z = rayt_fma(path->weight.z, sky.z, path->sum.z);
        return false;
    }
    rayt__surface met;
    met.point = rayt__along(ray.t_max, along, make_float3(ray.x, ray.y, ray.z));
    if (found == RAYT__NO_SPHERE)
        rayt__meet_ground(view, ray, &met);
    else
        rayt__meet_sphere(view, found, ray, &met);
    path->weight.x = rayt_mul(path->weight.x, met.colour.x);
    path->weight.y = rayt_mul(path->weight.y, met.colour.y);
    path->weight.z = rayt_mul(path->weight.z, met.colour.z);
    if (met.material.kind == RAYT_MIRROR || met.material.kind == RAYT_GLASS) {
        uint3 bits = rayt__hash(path->key, (unsigned)path->rays + 1, view->seed[1]);
        if (path->rays >= view->depth || !rayt__bend(&met, along, bits, &path->direction))
            return false;
        rayt__leave(&met, rayt__dot(path->direction, met.normal) < 0, path);
        return true;
    }
    rayt__leave(&met, false, path);
    path->direction = met.normal;
    bool goes_on = met.material.kind == RAYT_DIFFUSE;
    if (!goes_on) {
        path->sum.x = rayt_fma(path->weight.x, view->ambient.x, path->sum.x);
        path->sum.y = rayt_fma(path->weight.y, view->ambient.y, path->sum.y);
        path->sum.z = rayt_fma(path->weight.z, view->ambient.z, path->sum.z);
    }
    return rayt__next_light(view, goes_on ? 0 : RAYT__LAST, path);
}

/* A component of a sample as the integer that is added. */
static __host__ __device__ __forceinline__ unsigned rayt__counted(const rayt__trace_view *view,
                                                                  float component)
{
    if (!(component > 0)) component = 0;
    if (component > RAYT__BRIGHTEST) component = RAYT__BRIGHTEST;
    return (unsigned)rayt_fma(component, view->scale, 0.5f);
}

/* A component of a pixel from its sum: the byte that is nearest to 255 mean^(1 / gamma). */
static __host__ __device__ __forceinline__ unsigned char rayt__toned(const rayt__trace_view *view,
                                                                     unsigned sum)
{
    if (view->gamma == 1 || view->gamma == 2) {
        float mean = rayt_div((float)sum, rayt_mul((float)view->samples, view->scale));
        if (mean > 1) mean = 1;
        if (view->gamma == 2) mean = rayt_sqrt(mean);
        return (unsigned char)(int)rayt_fma(mean, 255, 0.5f);
    }
    int low = 0; /* the number of thresholds that the sum has reached */
    for (int step = 128; step > 0; step /= 2)
        if (view->thresholds[low + step - 1] <= sum) low += step;
    return (unsigned char)low;
}
#endif
/* src/raytrace/trace/kinds.cuh. Where rays find the spheres: the nearest one by each kind of memory. */
#if RAYT__KERNELS && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_KINDS)
#define RAYT__PART_KINDS
/* ============================== TRACE: KINDS OF MEMORY ======================================== */
/* The nearest sphere that a ray hits nearer than ray->t_max, which becomes that distance; or
   RAYT__NO_SPHERE, also if `wanted` is false. `any`: the first that is found will do, for rays to
   lights.

   In all but RAYT_TREE every ray is tested against every sphere, 14 operations a test, in the same
   order. Hence a warp still asks for one sphere at a time, although its rays go everywhere, as long
   as its lanes walk together. Lanes wait that have found the shadow, or have no path left.

   These differ in what the walk reads. RAYT_TREE has CLUSTERS, BUNDLES or WALKS instead. Of two spheres
   in the way of a light they may find another one than a loop does: both are in the way.

   The sphere that is hit is read once more, with its colour and material, by rayt__advance, from
   global memory. */
enum {
    RAYT__TRACE_THREADS = 128,
    RAYT__TRACE_PIXELS = 256, /* of the largest tile, 16 x 16 */
    RAYT__ENOUGH = 16, /* RAYT_TREE: rays of a warp that have ended before their paths go on */
    RAYT__MANY_SAMPLES = 16, /* from so many on tiles are small, and rays of RAYT_TREE no bundles */
    RAYT__PART_BALLS = 256
};

/* Pixels of a tile are in blocks of 8 x 4, one a warp. */
static __device__ __forceinline__ int rayt__column(int pixel, int bits)
{
    return (pixel & 7) + 8 * (pixel >> 5 & ((1 << (bits - 3)) - 1));
}

static __device__ __forceinline__ int rayt__row(int pixel, int bits)
{
    return (pixel >> 3 & 3) + 4 * (pixel >> (bits + 2));
}

/* What is left to do for a ball that the ray's line passes through. True: the walk may end. */
static __host__ __device__ __forceinline__ bool rayt__try(rayt_unit_ray *ray, float4 ball, float b,
                                                          float discriminant, bool any, int index,
                                                          int *found)
{
    float t;
    if (!rayt_root(*ray, ball, b, discriminant, &t)) return false;
    if (*found != RAYT__NO_SPHERE && !(t < ray->t_max)) return false;
    ray->t_max = t;
    *found = index;
    return any;
}

static __device__ __forceinline__ int rayt__find_global(const rayt__trace_view *view, bool wanted,
                                                        bool any, rayt_unit_ray *ray)
{
    int found = RAYT__NO_SPHERE, count = wanted ? view->count : 0;
    for (int i = 0; i < count; i++) {
        float b, discriminant;
        float4 ball = *(const float4 *)&view->spheres[i];
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (rayt__try(ray, ball, b, discriminant, any, i, &found)) break;
    }
    return found;
}

static __device__ __forceinline__ int rayt__find_readonly(const rayt__trace_view *view, bool wanted,
                                                          bool any, rayt_unit_ray *ray)
{
    int found = RAYT__NO_SPHERE, count = wanted ? view->count : 0;
    for (int i = 0; i < count; i++) {
        float b, discriminant;
        float4 ball = __ldg((const float4 *)&view->spheres[i]);
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (rayt__try(ray, ball, b, discriminant, any, i, &found)) break;
    }
    return found;
}

/* The table holds the first RAYT_MAX_CONST / 16 spheres as they are, x y z radius; the others are
   read from global memory. */
static __device__ __forceinline__ int rayt__find_constant(const rayt__trace_view *view, bool wanted,
                                                          bool any, rayt_unit_ray *ray)
{
    const int capacity = RAYT_MAX_CONST / 16;
    int found = RAYT__NO_SPHERE, count = wanted ? view->count : 0;
    for (int i = 0; i < count; i++) {
        float b, discriminant;
        float4 ball = i < capacity ? rayt_table[i] : *(const float4 *)&view->spheres[i];
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (rayt__try(ray, ball, b, discriminant, any, i, &found)) break;
    }
    return found;
}

/* A block fetches 256 spheres at a time and waits: all of its threads come here, also those that
   have no ray. */
static __device__ __forceinline__ int rayt__find_shared(const rayt__trace_view *view, bool wanted,
                                                        bool any, rayt_unit_ray *ray)
{
    __shared__ float4 balls[RAYT__PART_BALLS];
    int found = RAYT__NO_SPHERE;
    bool ended = false;
    for (int first = 0; first < view->count; first += RAYT__PART_BALLS) {
        int part = view->count - first < RAYT__PART_BALLS ? view->count - first : RAYT__PART_BALLS;
        for (int i = threadIdx.x; i < part; i += RAYT__TRACE_THREADS)
            balls[i] = *(const float4 *)&view->spheres[first + i];
        __syncthreads(); /* the part is complete before anyone reads it */
        for (int i = 0; i < part && wanted && !ended; i++) {
            float b, discriminant;
            if (!rayt_passes(*ray, balls[i], &b, &discriminant)) continue;
            ended = rayt__try(ray, balls[i], b, discriminant, any, first + i, &found);
        }
        __syncthreads(); /* everyone has read it before it is overwritten */
    }
    return found;
}

/* Fills the table of RAYT_CONSTANT, by its address as device memory. */
RAYT_KERNEL void __launch_bounds__(RAYT__TRACE_THREADS)
    rayt_trace_fill(const rayt_sphere *spheres, int count, float4 *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) table[i] = *(const float4 *)&spheres[i];
}
#endif
/* src/raytrace/trace/kernel.cuh. The kernel of rayt_trace, for one kind of memory. */
#if defined(RAYT__EMIT) && defined(RAYT__TRACE)
/* ============================== KERNEL TRACE ================================================== */
/* A block of 128 threads draws a tile of the picture, `samples` paths for each pixel. Tiles have 16 x
   16 pixels, or 8 x 8 if the samples are many: tiles take different times, and with smaller ones
   multiprocessors wait less for the last. Paths, too, are of very different lengths: one ends at once
   in the sky, another bounces fifty times. So a thread that has ended its path takes the next one of
   the tile from a counter. No lane of a warp waits for the longest path of 32 but at the end of the
   tile. For 16 x 16:

         ids of paths 0 .. 256 samples - 1          a thread:  +--> next id, first ray
         0 .. 255: sample 0 of the pixels                      |    +-> nearest sphere      the same
         256 .. : sample 1 ..                                  |    |   light or next ray   walk for
                                                               |    +-- goes on             all rays
         sums[3][256]: light, as integers                      +------- ended: add its light

   Rays to lights are rays like others, so that there is one walk through the spheres, in which all
   lanes take part. Samples are added as integers: their order, which differs from run to run,
   changes nothing. One pixel a thread is written at the end, 4 bytes.

   Between rays a path stays in shared memory, 15 words a thread: an odd number, so that the lanes of
   a warp are in different banks. The walk has the registers to itself, some 16 more.

   RAYT_TREE has three kernels. For up to RAYT__LIST_MOST spheres there is no walk: rays of a warp test
   all CLUSTERS together. For more, and below RAYT__MANY_SAMPLES, a warp takes 32 neighbouring paths when
   all of its paths have ended, so that their rays can be BUNDLES. Else rays of a warp go through the
   tree in different times: when some have ended, their paths go on, and the walks of the others later
   (rayt__walk_on).

   A test that misses is 26 instructions on sm_90a (nvcc 13.0). No kind takes more than 64 registers, so
   that 8 blocks fit a multiprocessor; with bundles that takes 72 bytes of spills a thread. What bounds
   it: these instructions, and lanes that wait. */
RAYT_KERNEL void __launch_bounds__(RAYT__TRACE_THREADS, 8)
    RAYT__TRACE(rayt__trace_view view, uchar4 *image)
{
    __shared__ unsigned sums[3][RAYT__TRACE_PIXELS];
    __shared__ int next;
    __shared__ rayt__path places[RAYT__TRACE_THREADS];
    int bits = view.tile_bits, edge = 1 << bits, pixels = edge * edge;
    int across = ((view.width - 1) >> bits) + 1;
    int left = (int)(blockIdx.x % across) << bits, top = (int)(blockIdx.x / across) << bits;
    for (int i = threadIdx.x; i < 3 * RAYT__TRACE_PIXELS; i += RAYT__TRACE_THREADS)
        sums[i / RAYT__TRACE_PIXELS][i % RAYT__TRACE_PIXELS] = 0;
    if (threadIdx.x == 0) next = 0;
#ifdef RAYT__BUNDLES
    __shared__ rayt__together together[RAYT__TRACE_THREADS / 32];
#endif
#ifdef RAYT__LISTS
    __shared__ rayt__clusters list;
    for (int i = threadIdx.x; i < (int)(sizeof list / 16); i += RAYT__TRACE_THREADS)
        ((uint4 *)&list)[i] = rayt__load(view.tree.list + i);
#endif
    __syncthreads();

    rayt__path none = {}, *path = &places[threadIdx.x];
    *path = none;
    int pixel = 0, paths = pixels * view.samples;
    bool running = false, more = true, ground = false;
#ifdef RAYT__WALKS
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk = {};
#endif
    for (;;) {
#ifdef RAYT__BUNDLES /* a warp takes 32 paths, neighbours, when all have ended */
        while (!__any_sync(0xffffffffu, running) && __any_sync(0xffffffffu, more)) {
            int lane = (int)threadIdx.x % 32, id = 0;
            if (lane == 0) id = atomicAdd(&next, 32);
            id = __shfl_sync(0xffffffffu, id, 0) + lane;
#else
        while (!running && more) {
            int id = atomicAdd(&next, 1);
#endif
            more = id < paths;
            pixel = id & (pixels - 1);
            int column = left + rayt__column(pixel, bits), row = top + rayt__row(pixel, bits);
            running = more && column < view.width && row < view.rows;
            if (running)
                rayt__begin_path(&view, column, view.first_row + row, id >> 2 * bits, path);
        }
        if (!RAYT__GOES_ON(running)) break;
        bool any = path->light != RAYT__PATH_RAY;
#ifdef RAYT__WALKS
        if (running && walk.stage == RAYT__ENDED) {
            rayt_unit_ray ray = rayt__next_ray(&view, path, &ground);
            rayt__begin_walk(&walk, ray, !(any && ground));
        }
        int rest = __popc(__ballot_sync(0xffffffffu, running));
        __syncwarp();
        rayt__walk_on(view.tree, &walk, waiting, any, 32 - rest + RAYT__ENOUGH);
        if (running && walk.stage == RAYT__ENDED &&
            !rayt__advance(&view, walk.ray, walk.found, ground, path)) {
#else
        rayt_unit_ray ray = rayt__next_ray(&view, path, &ground);
#ifdef RAYT__BUNDLES
        int found = rayt__find_bundles(view.tree, &together[threadIdx.x / 32],
                                       running && !(any && ground), any, &ray);
#elif defined(RAYT__LISTS)
        int found = rayt__find_clusters(&list, rayt__list_indices(view.tree),
                                        running && !(any && ground), any, &ray);
#else
        int found = RAYT__FIND(&view, running && !(any && ground), any, &ray);
#endif
        if (running && !rayt__advance(&view, ray, found, ground, path)) {
#endif
            running = false;
            atomicAdd(&sums[0][pixel], rayt__counted(&view, path->sum.x));
            atomicAdd(&sums[1][pixel], rayt__counted(&view, path->sum.y));
            atomicAdd(&sums[2][pixel], rayt__counted(&view, path->sum.z));
        }
    }

    __syncthreads();
    for (int i = threadIdx.x; i < pixels; i += RAYT__TRACE_THREADS) {
        int column = left + rayt__column(i, bits), row = top + rayt__row(i, bits);
        if (column < view.width && row < view.rows)
            image[(size_t)row * view.width + column] =
                make_uchar4(rayt__toned(&view, sums[0][i]), rayt__toned(&view, sums[1][i]),
                            rayt__toned(&view, sums[2][i]), 255);
    }
}
#undef RAYT__TRACE
#undef RAYT__FIND
#undef RAYT__WALKS
#undef RAYT__LISTS
#undef RAYT__BUNDLES
#undef RAYT__GOES_ON
#endif
/* src/raytrace/trace/instances.h. KERNEL TRACE for each kind of memory. */
#if RAYT__KERNELS && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TRACE_INSTANCES)
#define RAYT__PART_TRACE_INSTANCES
/* KERNEL TRACE once a kind: the file includes itself, as for KERNEL TILE. RAYT__GOES_ON(running): does
   this thread go on? With shared memory a block goes on together while any thread has a path. */
#define RAYT__EMIT
#define RAYT__TRACE            rayt_trace_global
#define RAYT__FIND             rayt__find_global
#define RAYT__GOES_ON(running) running
#include RAYT_HEADER
#define RAYT__TRACE            rayt_trace_readonly
#define RAYT__FIND             rayt__find_readonly
#define RAYT__GOES_ON(running) running
#include RAYT_HEADER
#define RAYT__TRACE            rayt_trace_constant
#define RAYT__FIND             rayt__find_constant
#define RAYT__GOES_ON(running) running
#include RAYT_HEADER
#define RAYT__TRACE            rayt_trace_shared
#define RAYT__FIND             rayt__find_shared
#define RAYT__GOES_ON(running) __syncthreads_or(running)
#include RAYT_HEADER
#define RAYT__TRACE rayt_trace_list
#define RAYT__LISTS
#define RAYT__GOES_ON(running) __any_sync(0xffffffffu, running)
#include RAYT_HEADER
#define RAYT__TRACE rayt_trace_bundles
#define RAYT__BUNDLES
#define RAYT__GOES_ON(running) __any_sync(0xffffffffu, running)
#include RAYT_HEADER
#define RAYT__TRACE rayt_trace_tree
#define RAYT__WALKS
#define RAYT__GOES_ON(running) __any_sync(0xffffffffu, running)
#include RAYT_HEADER
#undef RAYT__EMIT
#endif
/* src/raytrace/host/status.h. The sentence of the last error, and names of statuses and kernels. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_STATUS)
#define RAYT__PART_STATUS
/* ============================== STATUS ======================================================== */
/* One buffer a thread and program: `inline` (not static) functions share their variables between
   the files that include this one. */
inline char *rayt__message(void)
{
    static thread_local char message[256];
    return message;
}

static inline rayt_status rayt__fail(rayt_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rayt__message(), 256, format, arguments);
    va_end(arguments);
    return status;
}

/* A CUDA error as a status; `what` is the call that returned it. */
static inline rayt_status rayt__cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return RAYT_OK;
    if (error == cudaErrorMemoryAllocation)
        return rayt__fail(RAYT_ERROR_MEMORY, "%s: out of device memory", what);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        return rayt__fail(RAYT_ERROR_DEVICE, "%s: no usable CUDA device: %s", what,
                          cudaGetErrorString(error));
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion)
        return rayt__fail(RAYT_ERROR_DEVICE,
                          "%s: the program was compiled for other devices than this one; "
                          "rebuild with nvcc -arch=native",
                          what);
    return rayt__fail(RAYT_ERROR_CUDA, "%s: %s", what, cudaGetErrorString(error));
}

/* Is this an error after which the device does no more work? Every call then fails with it, and so
   does the making of an event, which fails by itself only where memory is used up. */
static inline bool rayt__is_sticky(cudaError_t error)
{
    cudaEvent_t event = NULL;
    cudaError_t again = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (again == cudaSuccess) (void)cudaEventDestroy(event);
    return again == error && error != cudaErrorMemoryAllocation;
}

/* The status of a launch, from what cudaLaunchKernelEx returned. Launches are asynchronous: a
   sticky error comes from a kernel that has begun before. */
static inline rayt_status rayt__launched(cudaError_t error)
{
    if (error == cudaSuccess) return RAYT_OK;
    return rayt__cuda(error, rayt__is_sticky(error)
                                 ? "kernel launch, or work of the device before it"
                                 : "kernel launch");
}

/* CUDA keeps a record of each thread's last error until cudaGetLastError takes it. An error of the
   caller may be there, handled already or not. Hence two rules: no call takes its result from the
   record, and none leaves an error of its own in it. Every function that calls CUDA begins with
   rayt__begin and, if that returns RAYT_OK, ends with rayt__end.

   `before` becomes the error in the record, which stops nothing unless the device is lost. */
static inline rayt_status rayt__begin(cudaError_t *before)
{
    *before = cudaPeekAtLastError();
    if (*before == cudaSuccess || !rayt__is_sticky(*before)) return RAYT_OK;
    return rayt__cuda(*before, "found before the launch");
}

/* Takes errors of this header's calls from the record, also those that it could mend; what was
   there before stays, unless such an error has overwritten it. Returns `status`. */
static inline rayt_status rayt__end(cudaError_t before, rayt_status status)
{
    if (cudaPeekAtLastError() != before) (void)cudaGetLastError();
    return status;
}

RAYT_API const char *rayt_last_error(void)
{
    return rayt__message();
}

RAYT_API const char *rayt_status_string(rayt_status status)
{
    switch (status) {
    case RAYT_OK: return "RAYT_OK";
    case RAYT_ERROR_ARGUMENT: return "RAYT_ERROR_ARGUMENT";
    case RAYT_ERROR_MEMORY: return "RAYT_ERROR_MEMORY";
    case RAYT_ERROR_DEVICE: return "RAYT_ERROR_DEVICE";
    case RAYT_ERROR_CUDA: return "RAYT_ERROR_CUDA";
    case RAYT_ERROR_FILE: return "RAYT_ERROR_FILE";
    }
    return "unknown rayt_status";
}

RAYT_API const char *rayt_where_string(rayt_where where)
{
    switch (where) {
    case RAYT_GLOBAL: return "global";
    case RAYT_READONLY: return "readonly";
    case RAYT_CONSTANT: return "constant";
    case RAYT_SHARED: return "shared";
    case RAYT_CULLED: return "culled";
    case RAYT_TREE: return "tree";
    case RAYT_WHERE_COUNT: break;
    }
    return NULL;
}
#endif
/* src/raytrace/host/checks.h. Checks of arguments that the functions share. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_CHECKS)
#define RAYT__PART_CHECKS
/* ============================== CHECKS ======================================================== */
enum { RAYT__MAX_SIDE = 1 << 24, RAYT__MAX_SPHERES = 1 << 30 };

static inline rayt_status rayt__check_size(const char *name, int size)
{
    if (size < 0) return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is negative: %d", name, size);
    if (size > RAYT__MAX_SIDE)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is %d, more than %d (2^24)", name, size,
                          RAYT__MAX_SIDE);
    return RAYT_OK;
}

static inline rayt_status rayt__check_spheres(const rayt_sphere *spheres, int count)
{
    if (count < 0) return rayt__fail(RAYT_ERROR_ARGUMENT, "count is negative: %d", count);
    if (count > RAYT__MAX_SPHERES)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "count is %d, more than %d (2^30)", count,
                          RAYT__MAX_SPHERES);
    if (spheres == NULL && count > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "spheres is NULL, but count is %d", count);
    if ((size_t)spheres % 16 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "spheres is not aligned to 16 bytes");
    return RAYT_OK;
}

/* The arguments that all functions which render have. */
static inline rayt_status rayt__check(const rayt_sphere *spheres, int count,
                                      const unsigned char *image, int width, int height)
{
    rayt_status status = rayt__check_spheres(spheres, count);
    if (status == RAYT_OK) status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status == RAYT_OK && image == NULL && width > 0 && height > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "image is NULL");
    return status;
}

static inline rayt_status rayt__check_where(rayt_where where)
{
    if (where == RAYT_TREE)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "where is RAYT_TREE, which is for rayt_trace; "
                                               "parallel rays have RAYT_CULLED");
    if (rayt_where_string(where) != NULL) return RAYT_OK;
    return rayt__fail(RAYT_ERROR_ARGUMENT, "where is %d, which is no rayt_where", (int)where);
}
#endif
/* src/raytrace/host/scratch.h. Memory for the kernels of one call. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_SCRATCH)
#define RAYT__PART_SCRATCH
/* ============================== SCRATCH ======================================================= */
/* Memory for the kernels of one call, in the order of the stream where the device can do that. */
typedef struct rayt__scratch {
    char *memory;
    int in_order;
} rayt__scratch;

/* A pool of this header's own for a device, which keeps its memory. The default pool would give it
   back at every synchronisation, and each call would wait for memory again. NULL if there is none.
   The first call makes it. C++ lets one thread at a time initialise a static variable, and those of
   `inline` functions are the same in all files of a program. */
inline cudaMemPool_t rayt__make_pool(int device)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool = NULL;
    unsigned long long keep = 64u << 20; /* more than that goes back when it is not used */
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    if (cudaMemPoolCreate(&pool, &props) != cudaSuccess) pool = NULL;
    if (pool != NULL) /* refused, the pool only keeps less */
        (void)cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    return pool;
}

inline cudaMemPool_t rayt__pool(int device)
{
#define RAYT__POOL(device, n)                                 \
    if ((device) == n) {                                      \
        static const cudaMemPool_t pool = rayt__make_pool(n); \
        return pool;                                          \
    }
    RAYT__POOL(device, 0)
    RAYT__POOL(device, 1)
    RAYT__POOL(device, 2)
    RAYT__POOL(device, 3)
    RAYT__POOL(device, 4)
    RAYT__POOL(device, 5)
    RAYT__POOL(device, 6)
    RAYT__POOL(device, 7)
#undef RAYT__POOL
    return NULL;
}

static inline rayt_status rayt__scratch_alloc(rayt__scratch *scratch, size_t bytes,
                                              cudaStream_t stream)
{
    int device = -1;
    scratch->memory = NULL;
    scratch->in_order = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&scratch->in_order, cudaDevAttrMemoryPoolsSupported, device);
    if (error != cudaSuccess) return rayt__cuda(error, "scratch memory");
    cudaMemPool_t pool = scratch->in_order ? rayt__pool(device) : NULL;
    if (pool != NULL) /* refused, the default pool may still have some */
        error = cudaMallocFromPoolAsync((void **)&scratch->memory, bytes, pool, stream);
    if (scratch->in_order && (pool == NULL || error != cudaSuccess))
        error = cudaMallocAsync((void **)&scratch->memory, bytes, stream);
    if (!scratch->in_order) error = cudaMalloc((void **)&scratch->memory, bytes);
    return rayt__cuda(error, "scratch memory");
}

/* Returns `status`, or what went wrong here if that is RAYT_OK. */
static inline rayt_status rayt__scratch_free(rayt__scratch *scratch, cudaStream_t stream,
                                             rayt_status status)
{
    cudaError_t error;
    if (scratch->in_order) {
        error = cudaFreeAsync(scratch->memory, stream);
    } else {
        error = cudaStreamSynchronize(stream); /* the kernels may still be at work */
        if (error == cudaSuccess) error = cudaFree(scratch->memory);
    }
    return status == RAYT_OK ? rayt__cuda(error, "release of scratch memory") : status;
}
#endif
/* src/raytrace/host/launch.h. Launches of one band of rows. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_LAUNCH)
#define RAYT__PART_LAUNCH
/* ============================== LAUNCHERS ===================================================== */
/* A band that one launch can do: at most rayt__max_rows(width) rows. */
typedef struct rayt__job {
    const rayt_sphere *spheres;
    int count;
    uchar4 *band;
    int width, height, first_row, rows; /* of the image, and of the band in it */
    cudaStream_t stream;
} rayt__job;

/* The lists that BINNING makes, as KERNEL TILE takes them. */
typedef struct rayt__bins {
    const int *starts, *counts, *lists;
} rayt__bins;

/* From this many spheres on, binning takes less time than it saves. */
enum { RAYT__MIN_BINNED = 12288 };

/* Kernels are launched by cudaLaunchKernelEx, because <<<>>> has no status of its own. After <<<>>>
   only cudaGetLastError remains, which may give an older error of the caller, and clears it. */
static inline cudaLaunchConfig_t rayt__config(dim3 grid, dim3 block, cudaStream_t stream)
{
    cudaLaunchConfig_t config = cudaLaunchConfig_t();
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    return config;
}

static inline cudaLaunchConfig_t rayt__thread_per_pixel(const rayt__job *job)
{
    enum { EDGE = 16 };
    dim3 grid((job->width - 1) / EDGE + 1, (job->rows - 1) / EDGE + 1);
    return rayt__config(grid, dim3(EDGE, EDGE), job->stream);
}

static inline cudaLaunchConfig_t rayt__thread_per_item(int count, cudaStream_t stream)
{
    return rayt__config((count - 1) / RAYT__THREADS + 1, RAYT__THREADS, stream);
}

/* There is one table. The kernels that fill it and those that read it go into streams by one thread at
   a time, or two threads with the same stream would draw each other's spheres. */
static volatile long rayt__table_taken;
#ifdef _MSC_VER /* which <intrin.h> declares, and much else */
extern "C" long _InterlockedExchange(long volatile *, long);
#pragma intrinsic(_InterlockedExchange)
#endif

static inline void rayt__take_table(void)
{
#ifdef _MSC_VER
    while (_InterlockedExchange(&rayt__table_taken, 1)) {
    }
#else
    while (__atomic_exchange_n(&rayt__table_taken, 1, __ATOMIC_ACQUIRE)) {
    }
#endif
}

static inline void rayt__leave_table(void)
{
#ifdef _MSC_VER
    _InterlockedExchange(&rayt__table_taken, 0);
#else
    __atomic_store_n(&rayt__table_taken, 0, __ATOMIC_RELEASE);
#endif
}

static inline rayt_status rayt__launch_constant(const rayt__job *job)
{
    const int capacity = RAYT_MAX_CONST / 64 * 2; /* spheres in the table */
    cudaLaunchConfig_t per_pixel = rayt__thread_per_pixel(job);
    rayt__scratch scratch;
    /* The table is device memory like any other. A kernel may write it by its address while none
       reads it as constants, and the next kernel finds it so (N. Wilt, "The CUDA Handbook", 2013,
       section 5.3). That saves a copy, 3 us. Code for which NVIDIA's guidelines for safety-critical
       CUDA C++ are binding (rule 1.12: no device code changes constants) copies instead, by
       cudaMemcpyToSymbolAsync from memory that rayt_split has filled. */
    float4 *table = NULL;
    rayt_status status = rayt__cuda(cudaGetSymbolAddress((void **)&table, rayt_table),
                                    "address of the constant memory");
    scratch.memory = NULL;
    if (status == RAYT_OK && job->count > capacity)
        status = rayt__scratch_alloc(&scratch, (size_t)job->width * job->rows * sizeof(float),
                                     job->stream);
    if (status != RAYT_OK) return status;
    float *depths = (float *)scratch.memory;
    int first = 0, pass = 0;
    rayt__take_table();
    do { /* once also for no spheres: the image must become black */
        int part = job->count - first < capacity ? job->count - first : capacity;
        if (part > 0) {
            cudaLaunchConfig_t per_sphere = rayt__thread_per_item(part + part % 2, job->stream);
            status = rayt__launched(
                cudaLaunchKernelEx(&per_sphere, rayt_split, job->spheres + first, part, table));
        }
        if (status == RAYT_OK)
            status = rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_constant, part, pass,
                                                       depths, job->band, job->width, job->height,
                                                       job->first_row, job->rows));
        first += part;
        pass++;
    } while (status == RAYT_OK && first < job->count);
    rayt__leave_table();
    return scratch.memory ? rayt__scratch_free(&scratch, job->stream, status) : status;
}

static inline rayt__grid rayt__make_grid(const rayt__job *job, int edge)
{
    rayt__grid grid = {job->width,
                       job->height,
                       job->first_row,
                       edge,
                       (job->width - 1) / edge + 1,
                       (job->rows - 1) / edge + 1};
    return grid;
}

/* KERNEL TILE; every tile tries all spheres if the lists are NULL. */
static inline rayt_status rayt__launch_tiles(const rayt__job *job, rayt__grid grid, rayt__bins bins)
{
    cudaLaunchConfig_t per_tile = rayt__config(grid.across * grid.down, RAYT__THREADS, job->stream);
    if (grid.edge == 64)
        return rayt__launched(cudaLaunchKernelEx(&per_tile, rayt_render_tile_64, job->spheres,
                                                 job->count, bins.starts, bins.counts, bins.lists,
                                                 job->band, job->width, job->height, job->first_row,
                                                 job->rows));
    return rayt__launched(cudaLaunchKernelEx(&per_tile, rayt_render_tile_32, job->spheres,
                                             job->count, bins.starts, bins.counts, bins.lists,
                                             job->band, job->width, job->height, job->first_row,
                                             job->rows));
}

static inline rayt_status rayt__launch_unbinned(const rayt__job *job, rayt__grid grid)
{
    rayt__bins none = {NULL, NULL, NULL};
    return rayt__launch_tiles(job, grid, none);
}

/* The kernels of BINNING, then KERNEL TILE. */
static inline rayt_status rayt__launch_binned(const rayt__job *job, rayt__grid grid)
{
    /* Room for 8 tiles a sphere and, for scenes of huge spheres, 64 spheres a tile. */
    size_t tiles = (size_t)grid.across * grid.down, capacity = 8 * (size_t)job->count + 64 * tiles;
    if (capacity > INT_MAX) capacity = INT_MAX;
    size_t total_bytes = 16, table_bytes = (tiles * 4 + 15) / 16 * 16;
    rayt__scratch scratch;
    rayt_status status =
        rayt__scratch_alloc(&scratch, total_bytes + 3 * table_bytes + capacity * sizeof(int),
                            job->stream);
    if (status != RAYT_OK) return status;
    unsigned long long *total = (unsigned long long *)scratch.memory;
    unsigned *covers = (unsigned *)(scratch.memory + total_bytes);
    int *counts = (int *)(scratch.memory + total_bytes + table_bytes);
    int *starts = (int *)(scratch.memory + total_bytes + 2 * table_bytes);
    int *lists = (int *)(scratch.memory + total_bytes + 3 * table_bytes);
    rayt__bins bins = {starts, counts, lists};
    const int *no_starts = NULL;
    int *no_lists = NULL;
    cudaLaunchConfig_t per_sphere = rayt__thread_per_item(job->count, job->stream);
    cudaLaunchConfig_t per_tile = rayt__thread_per_item((int)tiles, job->stream);
    status =
        rayt__cuda(cudaMemsetAsync(scratch.memory, 0, total_bytes + 2 * table_bytes, job->stream),
                   "cudaMemset");
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&per_sphere, rayt_bin_cover, job->spheres,
                                                   job->count, grid, covers));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&per_sphere, rayt_bin_spheres, job->spheres,
                                                   job->count, grid, covers, no_starts, counts,
                                                   no_lists));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&per_tile, rayt_bin_place, (int)tiles,
                                                   (int)capacity, total, starts, counts));
    if (status == RAYT_OK)
        status =
            rayt__launched(cudaLaunchKernelEx(&per_sphere, rayt_bin_spheres, job->spheres,
                                              job->count, grid, covers, starts, counts, lists));
    if (status == RAYT_OK) status = rayt__launch_tiles(job, grid, bins);
    return rayt__scratch_free(&scratch, job->stream, status);
}

/* Multiprocessors of the current device; 1 if there is none, for the launch to report that. */
static inline int rayt__processors(void)
{
    int device = 0, count = 0;
    if (cudaGetDevice(&device) == cudaSuccess)
        (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count > 0 ? count : 1;
}

/* Tiles of 64, unless that leaves multiprocessors without one. With bins, tiles of 32 also where
   spheres are so numerous that those which can be seen must be small. */
static inline rayt__grid rayt__choose_grid(const rayt__job *job)
{
    rayt__grid grid = rayt__make_grid(job, 64);
    if (grid.across * grid.down < rayt__processors() ||
        (job->count >= RAYT__MIN_BINNED && (double)job->width * job->rows < 16.0 * job->count))
        grid = rayt__make_grid(job, 32);
    return grid;
}

static inline rayt_status rayt__launch(rayt_where where, const rayt__job *job)
{
    cudaLaunchConfig_t per_pixel = rayt__thread_per_pixel(job);
    switch (where) {
    case RAYT_CONSTANT: return rayt__launch_constant(job);
    case RAYT_CULLED:
        return job->count >= RAYT__MIN_BINNED ? rayt__launch_binned(job, rayt__choose_grid(job))
                                              : rayt__launch_unbinned(job, rayt__choose_grid(job));
    case RAYT_GLOBAL:
        return rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_global, job->spheres,
                                                 job->count, job->band, job->width, job->height,
                                                 job->first_row, job->rows));
    case RAYT_READONLY:
        return rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_readonly, job->spheres,
                                                 job->count, job->band, job->width, job->height,
                                                 job->first_row, job->rows));
    default:
        return rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_shared, job->spheres,
                                                 job->count, job->band, job->width, job->height,
                                                 job->first_row, job->rows));
    }
}
#endif
/* src/raytrace/host/render.h. Images of any size: on the device, and from host memory. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_RENDER)
#define RAYT__PART_RENDER
/* ============================== RENDERING ===================================================== */
/* Rows of a launch, at most: whole tiles, within 65535 blocks of 16 rows and 2^24 tiles. */
static inline int rayt__max_rows(int width)
{
    long long tiles = (width - 1) / 32 + 1;
    long long rows = (1 << 24) / tiles * 32 / 64 * 64;
    return (int)(rows < 1048512 ? rows : 1048512); /* 16383 tiles of 64 */
}

RAYT_API rayt_status rayt_render_rows(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *band, int width, int height, int first_row,
                                      int rows, rayt_stream stream)
{
    rayt_status status = rayt__check_where(where);
    if (status == RAYT_OK) status = rayt__check_spheres(spheres, count);
    if (status == RAYT_OK) status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (first_row < 0 || rows < 0 || rows > height - first_row)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "first_row is %d and rows is %d, but the image has %d rows", first_row,
                          rows, height);
    if (band == NULL && width > 0 && rows > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "band is NULL, the memory for the image's rows");
    if ((size_t)band % 4 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the image is not aligned to 4 bytes");
    if (width == 0 || rows == 0) return RAYT_OK;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    int most = rayt__max_rows(width);
    for (int done = 0; done < rows && status == RAYT_OK; done += most) {
        rayt__job job = {spheres,
                         count,
                         (uchar4 *)band + (size_t)done * width,
                         width,
                         height,
                         first_row + done,
                         rows - done < most ? rows - done : most,
                         stream};
        status = rayt__launch(where, &job);
    }
    return rayt__end(before, status);
}

RAYT_API rayt_status rayt_render(rayt_where where, const rayt_sphere *spheres, int count,
                                 unsigned char *image, int width, int height, rayt_stream stream)
{
    rayt_status status = rayt__check(spheres, count, image, width, height);
    if (status != RAYT_OK) return status;
    return rayt_render_rows(where, spheres, count, image, width, height, 0, height, stream);
}

/* ============================== HOST LAYER ==================================================== */
/* Rows of a band. A band has at most 64 MB and, for the plain kernels, 2^33 tests. These take a
   fraction of a second even on a small GPU. It has at least 128 rows, two rows of tiles. */
static inline int rayt__band_rows(rayt_where where, int count, int width, int height)
{
    double rows = 16777216.0 / width, tests = 8589934592.0 / ((double)width * (count + 1));
    if (where != RAYT_CULLED && tests < rows) rows = tests;
    rows = floor(rows / 128) * 128;
    return rows < 128 ? (height < 128 ? height : 128) : rows < height ? (int)rows : height;
}

RAYT_API rayt_status rayt_render_host(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *image, int width, int height,
                                      rayt_progress progress, void *context)
{
    rayt_status status = rayt__check_where(where);
    if (status == RAYT_OK) status = rayt__check(spheres, count, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    size_t scene_bytes = (size_t)count * sizeof(rayt_sphere), row_bytes = (size_t)width * 4;
    int most = rayt__band_rows(where, count, width, height);
    rayt_sphere *scene = NULL;
    unsigned char *band = NULL;
    if (count > 0)
        status = rayt__cuda(cudaMalloc((void **)&scene, scene_bytes), "cudaMalloc for the spheres");
    if (status == RAYT_OK)
        status = rayt__cuda(cudaMalloc((void **)&band, row_bytes * (size_t)most),
                            "cudaMalloc for the image");
    if (status == RAYT_OK && count > 0)
        status = rayt__cuda(cudaMemcpy(scene, spheres, scene_bytes, cudaMemcpyHostToDevice),
                            "copy of the spheres to the device");
    for (int done = 0; done < height && status == RAYT_OK;) {
        int rows = height - done < most ? height - done : most;
        status = rayt_render_rows(where, scene, count, band, width, height, done, rows, 0);
        if (status == RAYT_OK)
            status = rayt__cuda(cudaMemcpy(image + (size_t)done * row_bytes, band,
                                           (size_t)rows * row_bytes, cudaMemcpyDeviceToHost),
                                "rendering, or copy of the image to the host");
        done += rows;
        if (status == RAYT_OK && progress) progress(done, height, context);
    }
    cudaFree(scene); /* of NULL: nothing; an error here would only repeat an earlier one */
    cudaFree(band);
    return rayt__end(before, status);
}
#endif
/* src/raytrace/host/cpu.h. The same image by the CPU. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_CPU)
#define RAYT__PART_CPU
/* ============================== CPU REFERENCE ================================================= */
static inline RAYT__OPTIMIZE void rayt__cpu_row(const rayt_sphere *spheres, const int *reaching,
                                                int count, unsigned char *pixels, int width,
                                                float py)
{
    for (int column = 0; column < width; column++) {
        float px = rayt_coordinate(column, width), nearest = RAYT_NOTHING, nearest_dz = 0;
        int found = -1;
        for (int n = 0; n < count; n++) {
            const rayt_sphere *s = &spheres[reaching[n]];
            float4 ball = make_float4(s->x, s->y, s->z, s->radius);
            float dx = rayt_sub(px, ball.x), dy = rayt_sub(py, ball.y);
            float rr = rayt_mul(ball.w, ball.w);
            if (rayt_misses(dx, dy, rr)) continue;
            float dz = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, dz);
            if (depth > nearest && rayt_valid(ball)) {
                nearest = depth;
                nearest_dz = dz;
                found = reaching[n];
            }
        }
        uchar4 pixel = make_uchar4(0, 0, 0, 255);
        if (found >= 0) {
            const rayt_sphere *s = &spheres[found];
            pixel = rayt_shade(nearest_dz, s->radius, s->r, s->g, s->b);
        }
        pixels[4 * (size_t)column] = pixel.x;
        pixels[4 * (size_t)column + 1] = pixel.y;
        pixels[4 * (size_t)column + 2] = pixel.z;
        pixels[4 * (size_t)column + 3] = pixel.w;
    }
}

RAYT_API rayt_status rayt_render_cpu(const rayt_sphere *spheres, int count, unsigned char *image,
                                     int width, int height)
{
    rayt_status status = rayt__check(spheres, count, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    int *reaching = (int *)malloc(((size_t)count + 1) * sizeof(int));
    if (reaching == NULL)
        return rayt__fail(RAYT_ERROR_MEMORY, "no host memory for %d indices", count);
    for (int row = 0; row < height; row++) {
        /* The spheres that reach this row: a hit needs xx + yy < rr, hence yy < rr. */
        float py = rayt_coordinate(row, height);
        int many = 0;
        for (int i = 0; i < count; i++) {
            float dy = rayt_sub(py, spheres[i].y);
            if (rayt_mul(dy, dy) < rayt_mul(spheres[i].radius, spheres[i].radius))
                reaching[many++] = i;
        }
        rayt__cpu_row(spheres, reaching, many, image + (size_t)row * width * 4, width, py);
    }
    free(reaching);
    return RAYT_OK;
}
#endif
/* src/raytrace/host/scenes.h. Random scenes. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_SCENES)
#define RAYT__PART_SCENES
/* ============================== SCENES ======================================================== */
/* splitmix64; uniform in [0, 1) with the 24 bits that a float holds. */
static inline float rayt__random(unsigned long long *state)
{
    unsigned long long z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (float)((z ^ (z >> 31)) >> 40) / 16777216.0f;
}

RAYT_API rayt_status rayt_random_scene(rayt_sphere *spheres, int count, unsigned long long seed,
                                       int width, int height, float radius_min, float radius_max)
{
    rayt_status status = rayt__check_spheres(spheres, count);
    if (status == RAYT_OK) status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (!(radius_min >= 0 && radius_min <= radius_max && radius_max <= RAYT_FAR))
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "radius_min is %g and radius_max %g: not an interval within 0 .. 1e18",
                          (double)radius_min, (double)radius_max);
    float w = (float)width, h = (float)height, range = rayt_sub(radius_max, radius_min);
    for (int i = 0; i < count; i++) {
        rayt_sphere *s = &spheres[i];
        s->x = rayt_mul(rayt_sub(rayt__random(&seed), 0.5f), w);
        s->y = rayt_mul(rayt_sub(rayt__random(&seed), 0.5f), h);
        s->z = rayt_mul(rayt_sub(rayt__random(&seed), 0.5f), w);
        s->radius = rayt_add(rayt_mul(rayt__random(&seed), range), radius_min);
        s->r = rayt__random(&seed);
        s->g = rayt__random(&seed);
        s->b = rayt__random(&seed);
    }
    return RAYT_OK;
}
#endif
/* src/raytrace/host/files.h. PICTURES: files that appear whole or not at all; PPM. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_FILES)
#define RAYT__PART_FILES
/* ============================== PICTURES ====================================================== */
/* A file that gets its name only when it is complete. */
typedef struct rayt__file {
    FILE *stream;
    const char *path;
    char *part; /* the name until then */
} rayt__file;

static inline rayt_status rayt__open(rayt__file *file, const char *path, const unsigned char *image,
                                     int width, int height)
{
    rayt_status status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (path == NULL || *path == '\0')
        return rayt__fail(RAYT_ERROR_ARGUMENT, "path is %s", path == NULL ? "NULL" : "empty");
    if (width == 0 || height == 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "the image has no pixels (%d x %d): no file can "
                          "hold it",
                          width, height);
    if (image == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "image is NULL");
    size_t length = strlen(path);
    int direct = 0; /* what is no ordinary file, such as /dev/stdout, is written to as it is */
#ifndef _WIN32
    struct stat there;
    direct = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
#endif
    file->path = path;
    file->part = NULL;
    if (!direct) {
        file->part = (char *)malloc(length + 6);
        if (file->part == NULL)
            return rayt__fail(RAYT_ERROR_MEMORY, "no host memory for a file name");
        memcpy(file->part, path, length);
        memcpy(file->part + length, ".part", 6);
    }
    file->stream = fopen(direct ? path : file->part, "wb");
    if (file->stream != NULL) return RAYT_OK;
    status = rayt__fail(RAYT_ERROR_FILE, "cannot write %s: %s", direct ? path : file->part,
                        strerror(errno));
    free(file->part);
    return status;
}

/* Gives the file up: an older one stays. */
static inline void rayt__abandon(rayt__file *file)
{
    fclose(file->stream);
    if (file->part != NULL) remove(file->part);
    free(file->part);
}

static inline rayt_status rayt__close(rayt__file *file)
{
    rayt_status status = RAYT_OK;
    int failed = ferror(file->stream);
    failed |= fclose(file->stream);
#ifdef _WIN32
    if (!failed) remove(file->path); /* Windows does not rename onto a file */
#endif
    if (!failed && file->part != NULL) failed = rename(file->part, file->path);
    if (failed) {
        status = rayt__fail(RAYT_ERROR_FILE, "cannot write %s: %s", file->path, strerror(errno));
        if (file->part != NULL) remove(file->part);
    }
    free(file->part);
    return status;
}

RAYT_API rayt_status rayt_write_ppm(const char *path, const unsigned char *image, int width,
                                    int height)
{
    rayt__file file = {NULL, NULL, NULL};
    rayt_status status = rayt__open(&file, path, image, width, height);
    if (status != RAYT_OK) return status;
    fprintf(file.stream, "P6\n%d %d\n255\n", width, height);
    for (size_t p = 0; p < (size_t)width * height; p++) fwrite(image + 4 * p, 1, 3, file.stream);
    return rayt__close(&file);
}
#endif
/* src/raytrace/host/png.h. PNG files. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_PNG)
#define RAYT__PART_PNG
/* PNG (ISO/IEC 15948): chunks with a CRC, in which lie the bits of a zlib stream (RFC 1950, 1951),
   here one block of the fixed Huffman code. Each row holds the differences of its pixels from
   their left neighbours (filter 1). Repeated bytes, such as the zeros of a plain background, become
   runs. Bits are collected into `data` and leave as IDAT chunks of 64 kB. */
typedef struct rayt__png {
    FILE *stream;
    unsigned crc[256];
    unsigned long long bits; /* not yet in data, the next one lowest */
    int bit_count;
    unsigned adler_low, adler_high; /* checksum of the uncompressed bytes */
    size_t used;
    unsigned char data[65536];
} rayt__png;

static inline void rayt__big_endian(unsigned value, unsigned char *bytes)
{
    for (int n = 0; n < 4; n++) bytes[n] = (unsigned char)(value >> (24 - 8 * n));
}

static inline void rayt__chunk(rayt__png *png, const char *type, const unsigned char *data,
                               size_t size)
{
    unsigned char word[4];
    unsigned crc = 0xffffffffu;
    for (size_t n = 0; n < 4; n++) crc = png->crc[(crc ^ (unsigned char)type[n]) & 255] ^ crc >> 8;
    for (size_t n = 0; n < size; n++) crc = png->crc[(crc ^ data[n]) & 255] ^ crc >> 8;
    rayt__big_endian((unsigned)size, word);
    fwrite(word, 1, 4, png->stream);
    fwrite(type, 1, 4, png->stream);
    fwrite(data, 1, size, png->stream);
    rayt__big_endian(~crc, word);
    fwrite(word, 1, 4, png->stream);
}

static inline void rayt__put_byte(rayt__png *png, unsigned byte)
{
    png->data[png->used++] = (unsigned char)byte;
    if (png->used < sizeof png->data) return;
    rayt__chunk(png, "IDAT", png->data, png->used);
    png->used = 0;
}

static inline void rayt__put_bits(rayt__png *png, unsigned bits, int count)
{
    png->bits |= (unsigned long long)bits << png->bit_count;
    png->bit_count += count;
    for (; png->bit_count >= 8; png->bit_count -= 8, png->bits >>= 8)
        rayt__put_byte(png, (unsigned)png->bits & 255);
}

/* A symbol of the fixed code: 0 .. 255 bytes, 256 end, 257 .. 285 lengths. Codes begin with their
   highest bit. */
static inline void rayt__put_symbol(rayt__png *png, unsigned symbol)
{
    unsigned code = symbol < 144   ? 0x30 + symbol
                    : symbol < 256 ? 0x190 + symbol - 144
                    : symbol < 280 ? symbol - 256
                                   : 0xc0 + symbol - 280;
    int length = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    unsigned reversed = 0;
    for (int n = 0; n < length; n++) reversed |= (code >> n & 1) << (length - 1 - n);
    rayt__put_bits(png, reversed, length);
}

/* `count` more of the byte that came last, 3 <= count <= 258. */
static inline void rayt__put_run(rayt__png *png, unsigned count)
{
    if (count == 258) {
        rayt__put_symbol(png, 285);
    } else { /* lengths 3 .. 257: from 11 on, four symbols for each doubling, and extra bits */
        unsigned rest = count - 3;
        int extra = 0;
        while (rest >> extra >= 8) extra++;
        rayt__put_symbol(png, 257 + 4 * (unsigned)extra + (rest >> extra));
        rayt__put_bits(png, rest & ((1u << extra) - 1), extra);
    }
    rayt__put_bits(png, 0, 5); /* distance 1 */
}

static inline void rayt__put_row(rayt__png *png, const unsigned char *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        size_t run = 1;
        while (n + run < size && bytes[n + run] == bytes[n] && run < 259) run++;
        rayt__put_symbol(png, bytes[n]);
        if (run > 3)
            rayt__put_run(png, (unsigned)run - 1);
        else
            run = 1;
        for (size_t end = n + run; n < end; n++) {
            png->adler_low = (png->adler_low + bytes[n]) % 65521;
            png->adler_high = (png->adler_high + png->adler_low) % 65521;
        }
    }
}

RAYT_API rayt_status rayt_write_png(const char *path, const unsigned char *image, int width,
                                    int height)
{
    rayt__file file = {NULL, NULL, NULL};
    rayt_status status = rayt__open(&file, path, image, width, height);
    if (status != RAYT_OK) return status;
    rayt__png *png = (rayt__png *)calloc(1, sizeof *png);
    size_t row_size = 1 + 3 * (size_t)width;
    unsigned char *bytes = (unsigned char *)malloc(row_size);
    if (png == NULL || bytes == NULL) {
        rayt__abandon(&file);
        free(png);
        free(bytes);
        return rayt__fail(RAYT_ERROR_MEMORY, "no host memory to compress a picture");
    }
    png->stream = file.stream;
    png->adler_low = 1;
    for (unsigned n = 0; n < 256; n++) {
        unsigned crc = n;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
        png->crc[n] = crc;
    }
    unsigned char header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0}; /* 8 bits, RGB */
    rayt__big_endian((unsigned)width, header);
    rayt__big_endian((unsigned)height, header + 4);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file.stream);
    rayt__chunk(png, "IHDR", header, sizeof header);
    rayt__put_byte(png, 0x78); /* zlib: 32 kB window, fastest */
    rayt__put_byte(png, 0x01);
    rayt__put_bits(png, 3, 3); /* the last block, fixed code */
    for (int row = 0; row < height; row++) {
        const unsigned char *pixels = image + (size_t)row * width * 4;
        bytes[0] = 1;
        for (size_t n = 0; n < (size_t)width; n++)
            for (size_t c = 0; c < 3; c++)
                bytes[1 + 3 * n + c] =
                    (unsigned char)(pixels[4 * n + c] - (n > 0 ? pixels[4 * (n - 1) + c] : 0));
        rayt__put_row(png, bytes, row_size);
    }
    rayt__put_symbol(png, 256);
    rayt__put_bits(png, 0, -png->bit_count & 7);
    unsigned adler = png->adler_high << 16 | png->adler_low;
    for (int n = 24; n >= 0; n -= 8) rayt__put_byte(png, adler >> n & 255);
    if (png->used > 0) rayt__chunk(png, "IDAT", png->data, png->used);
    rayt__chunk(png, "IEND", header, 0);
    free(png);
    free(bytes);
    return rayt__close(&file);
}
#endif
/* src/raytrace/host/preview.h. Previews in a terminal. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_PREVIEW)
#define RAYT__PART_PREVIEW
RAYT_API rayt_status rayt_print_ansi(FILE *file, const unsigned char *image, int width, int height,
                                     int columns)
{
    rayt_status status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (file == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "file is NULL");
    if (columns < 1 || columns > 1000)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "columns is %d, not within 1 .. 1000", columns);
    if (width == 0 || height == 0) return RAYT_OK;
    if (image == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "image is NULL");
    if (columns > width) columns = width;
    /* Pixels of the preview are square, and there are two rows of them to a line. */
    long long lines = ((long long)columns * height + width) / (2ll * width);
    if (lines < 1) lines = 1;
    for (long long line = 0; line < lines; line++) {
        for (long long column = 0; column < columns; column++) {
            unsigned colour[2][3];
            for (int half = 0; half < 2; half++) { /* the mean of the pixels in its rectangle */
                long long x0 = column * width / columns, x1 = (column + 1) * width / columns;
                long long y0 = (2 * line + half) * height / (2 * lines);
                long long y1 = (2 * line + half + 1) * height / (2 * lines);
                if (y1 == y0) y1 = y0 + 1;
                unsigned long long sum[3] = {0, 0, 0};
                for (long long y = y0; y < y1; y++)
                    for (long long x = x0; x < x1; x++)
                        for (int c = 0; c < 3; c++) sum[c] += image[4 * (y * width + x) + c];
                for (int c = 0; c < 3; c++)
                    colour[half][c] =
                        (unsigned)(sum[c] / (unsigned long long)((x1 - x0) * (y1 - y0)));
            }
            /* The upper half of the cell has the foreground colour, the lower the background's. */
            fprintf(file, "\x1b[38;2;%u;%u;%um\x1b[48;2;%u;%u;%um\xe2\x96\x80", colour[0][0],
                    colour[0][1], colour[0][2], colour[1][0], colour[1][1], colour[1][2]);
        }
        fprintf(file, "\x1b[0m\n");
    }
    if (ferror(file)) return rayt__fail(RAYT_ERROR_FILE, "the preview could not be written");
    return RAYT_OK;
}
#endif
/* src/raytrace/trace/host/build.h. Builds of trees, on the device and on the host. */
#if defined(RAYT_WITH_TRACE) && RAYT__HOST && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TREE_BUILD)
#define RAYT__PART_TREE_BUILD
/* ============================== BUILDING TREES ================================================ */
/* A tree's memory: (count + 3) / 4 nodes, one at least, balls, indices; and for few spheres the list of
   clusters, which is on devices alone, with its indices. */
static inline size_t rayt__node_count(int count)
{
    return count > 1 ? ((size_t)count + 3) / 4 : 1;
}

/* Where the list begins, or would. */
static inline size_t rayt__list_at(int count)
{
    return (rayt__node_count(count) * (RAYT__NODE_WORDS * 4) + (size_t)count * 20 + 15) / 16 * 16;
}

static inline size_t rayt__tree_bytes(int count, bool on_host)
{
    size_t list = sizeof(rayt__clusters) + (RAYT__SLOTS + RAYT__APART) * 4;
    return rayt__list_at(count) + (count <= RAYT__LIST_MOST && !on_host ? list : 0);
}

static inline rayt__tree_view rayt__view(const rayt_tree *tree)
{
    char *memory = (char *)tree->memory;
    char *balls = memory + rayt__node_count(tree->count) * (RAYT__NODE_WORDS * 4);
    rayt__tree_view view = {(const uint4 *)memory, (const float4 *)balls,
                            (const int *)(balls + (size_t)tree->count * 16), NULL};
    if (tree->count <= RAYT__LIST_MOST && !tree->on_host)
        view.list = (const uint4 *)(memory + rayt__list_at(tree->count));
    return view;
}

/* The parts of memory for a build, one after the other; each begins at a multiple of 16 bytes. With
   memory NULL it only measures. What is sorted moves between keys and other keys, whose memory has
   the meetings when all is sorted, and then the tasks. */
typedef struct rayt__workplace {
    rayt__build build;
    unsigned long long *other_keys;
    int *other_order;
    unsigned *states; /* of the sort: `per_pass` for each pass */
    size_t per_pass, bytes;
    size_t zeros; /* so many bytes at its beginning are to be 0 */
} rayt__workplace;

static inline char *rayt__part(char *memory, size_t *at, size_t bytes)
{
    char *part = memory == NULL ? NULL : memory + *at;
    *at += (bytes + 15) / 16 * 16;
    return part;
}

static inline int rayt__sort_tiles(int count)
{
    return (int)(((size_t)count + RAYT__SORT_TILE - 1) / RAYT__SORT_TILE);
}

static inline rayt__workplace rayt__make_workplace(char *memory, const rayt_tree *tree,
                                                   const rayt_sphere *spheres, int count)
{
    rayt__workplace w;
    size_t n = (size_t)count, at = 0;
    memset(&w, 0, sizeof w);
    w.build.spheres = spheres;
    w.build.count = count;
    w.build.bounds = (unsigned *)rayt__part(memory, &at, 8 * sizeof(unsigned));
    w.build.queue = (int *)rayt__part(memory, &at, RAYT__QUEUE * sizeof(int));
    w.build.flags = (int *)rayt__part(memory, &at, rayt__node_count(count) * sizeof(int));
    w.build.totals =
        (unsigned *)rayt__part(memory, &at, RAYT__PASSES * (size_t)RAYT__DIGITS * sizeof(unsigned));
    w.per_pass = (size_t)rayt__sort_tiles(count) * RAYT__DIGITS + 1;
    w.states = (unsigned *)rayt__part(memory, &at, RAYT__PASSES * w.per_pass * sizeof(unsigned));
    w.zeros = at;
    w.build.keys = (unsigned long long *)rayt__part(memory, &at, n * sizeof(unsigned long long));
    w.build.order = (int *)rayt__part(memory, &at, n * sizeof(int));
    size_t shared = at;
    w.other_keys = (unsigned long long *)rayt__part(memory, &at, n * sizeof(unsigned long long));
    w.other_order = (int *)rayt__part(memory, &at, n * sizeof(int));
    w.build.meetings = w.other_keys;
    size_t end = at;
    at = shared;
    w.build.tasks =
        (rayt__task *)rayt__part(memory, &at, rayt__node_count(count) * sizeof(rayt__task));
    if (at < end) at = end;
    w.build.pairs = (rayt__pair *)rayt__part(memory, &at, n * sizeof(rayt__pair));
    w.bytes = at;
    rayt_tree whole = *tree;
    whole.count = count;
    rayt__tree_view view = rayt__view(&whole);
    w.build.nodes = (uint4 *)view.nodes;
    w.build.balls = (float4 *)view.balls;
    w.build.indices = (int *)view.indices;
    return w;
}

/* A tree of the device must be on the one that is current. */
static inline rayt_status rayt__check_device(const rayt_tree *tree)
{
    int device = 0;
    rayt_status status = rayt__cuda(cudaGetDevice(&device), "cudaGetDevice");
    if (status == RAYT_OK && tree->device != device)
        status = rayt__fail(RAYT_ERROR_ARGUMENT,
                            "tree is in the memory of device %d, but device %d is current",
                            tree->device, device);
    return status;
}

static inline rayt_status rayt__check_build(const rayt_tree *tree, const rayt_sphere *spheres,
                                            int count)
{
    if (tree == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "tree is NULL");
    return rayt__check_spheres(spheres, count);
}

static inline rayt_status rayt__launch_sort(rayt__workplace *w, cudaStream_t stream)
{
    rayt__build *b = &w->build;
    rayt_status status = RAYT_OK;
    for (int pass = 0; pass < RAYT__PASSES && status == RAYT_OK; pass++) {
        int back = pass % 2;
        rayt__sort_job sort = {back ? w->other_keys : b->keys,
                               back ? w->other_order : b->order,
                               back ? b->keys : w->other_keys,
                               back ? b->order : w->other_order,
                               b->totals + pass * RAYT__DIGITS,
                               w->states + pass * w->per_pass,
                               b->count,
                               rayt__sort_tiles(b->count),
                               8 * pass};
        if (pass == 0) sort.values = NULL;
        cudaLaunchConfig_t tiles = rayt__config(sort.tiles, RAYT__SORT_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&tiles, rayt_sort_pass, sort));
    }
    return status;
}

static inline rayt_status rayt__launch_build(rayt__workplace *w, const uint4 *list, char *memory,
                                             cudaStream_t stream)
{
    rayt__build *b = &w->build;
    rayt_status status = RAYT_OK;
    if (b->count <= RAYT__FEW) {
        cudaLaunchConfig_t few =
            rayt__config(b->count > 0 ? (b->count - 1) / 32 + 1 : 1, RAYT__FEW_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&few, rayt_tree_few, *b));
    } else {
        cudaLaunchConfig_t some = rayt__thread_per_item(b->count, stream);
        if (some.gridDim.x > 512) some.gridDim.x = 512;
        status = rayt__cuda(cudaMemsetAsync(memory, 0, w->zeros, stream), "cudaMemset");
        if (status == RAYT_OK)
            status = rayt__launched(cudaLaunchKernelEx(&some, rayt_tree_bounds, *b));
        if (status == RAYT_OK)
            status = rayt__launched(cudaLaunchKernelEx(&some, rayt_tree_codes, *b));
        if (status == RAYT_OK) status = rayt__launch_sort(w, stream);
        if (status == RAYT_OK)
            status = rayt__cuda(cudaMemsetAsync(b->meetings, 0,
                                                (size_t)b->count * sizeof *b->meetings, stream),
                                "cudaMemset");
    }
    if (status == RAYT_OK && b->count > 0) {
        cudaLaunchConfig_t leaves =
            rayt__config((b->count - 1) / RAYT__MERGE_THREADS + 1, RAYT__MERGE_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&leaves, rayt_tree_merge, *b));
    }
    if (status == RAYT_OK) {
        int nodes = (int)rayt__node_count(b->count), most = 8 * rayt__processors();
        int blocks = (nodes - 1) / (2 * RAYT__WIDEN_NODES) + 1; /* half of the nodes are usual */
        cudaLaunchConfig_t queue =
            rayt__config(blocks < most ? blocks : most, RAYT__WIDEN_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&queue, rayt_tree_widen, *b, nodes));
    }
    if (status == RAYT_OK && list != NULL) {
        cudaLaunchConfig_t one = rayt__config(1, RAYT__LIST_MOST, stream);
        status = rayt__launched(
            cudaLaunchKernelEx(&one, rayt_tree_list, b->spheres, b->count, (rayt__clusters *)list));
    }
    return status;
}

RAYT_API rayt_status rayt_build(rayt_tree *tree, const rayt_sphere *spheres, int count,
                                rayt_stream stream)
{
    rayt_status status = rayt__check_build(tree, spheres, count);
    if (status != RAYT_OK) return status;
    if (tree->memory != NULL && tree->on_host)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "tree is in host memory: rayt_tree_free it, or rayt_build_host again");
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    int device = 0;
    status = rayt__cuda(cudaGetDevice(&device), "cudaGetDevice");
    if (status == RAYT_OK && tree->memory != NULL) status = rayt__check_device(tree);
    if (status == RAYT_ERROR_ARGUMENT) return rayt__end(before, status); /* the tree stays */
    size_t bytes = rayt__tree_bytes(count, false);
    if (status == RAYT_OK && bytes > tree->bytes) {
        /* waits for those who may still walk the old tree; in a captured stream it is refused */
        status = rayt__cuda(cudaFree(tree->memory), "cudaFree of the smaller tree");
        if (status == RAYT_OK) {
            tree->memory = NULL;
            tree->bytes = 0;
            status = rayt__cuda(cudaMalloc(&tree->memory, bytes), "cudaMalloc for the tree");
        }
        if (status == RAYT_OK) tree->bytes = bytes;
    }
    rayt__scratch scratch = {NULL, 0};
    rayt__workplace w = rayt__make_workplace(NULL, tree, spheres, count);
    if (status == RAYT_OK) status = rayt__scratch_alloc(&scratch, w.bytes, stream);
    if (status == RAYT_OK) {
        tree->count = count;
        tree->on_host = 0;
        tree->device = device;
        w = rayt__make_workplace(scratch.memory, tree, spheres, count);
        status = rayt__launch_build(&w, rayt__view(tree).list, scratch.memory, stream);
        status = rayt__scratch_free(&scratch, stream, status);
    }
    if (status != RAYT_OK) tree->count = -1; /* what is there is no tree: nobody may walk in it */
    return rayt__end(before, status);
}

RAYT_API rayt_status rayt_tree_free(rayt_tree *tree)
{
    if (tree == NULL || tree->memory == NULL) return RAYT_OK;
    rayt_status status = RAYT_OK;
    if (tree->on_host) {
        free(tree->memory);
    } else {
        cudaError_t before;
        status = rayt__begin(&before);
        if (status == RAYT_OK)
            status = rayt__end(before, rayt__cuda(cudaFree(tree->memory), "cudaFree of the tree"));
    }
    memset(tree, 0, sizeof *tree);
    return status;
}

/* ---- on the host ---- */

/* The same sort as the kernels', for one thread. */
static inline RAYT__OPTIMIZE void rayt__sort_host(rayt__workplace *w, int shift)
{
    int back = shift / 8 % 2, places[RAYT__DIGITS] = {0}, sum = 0;
    rayt__build *b = &w->build;
    const unsigned long long *keys = back ? w->other_keys : b->keys;
    const int *order = back ? w->other_order : b->order;
    unsigned long long *to_keys = back ? b->keys : w->other_keys;
    int *to_order = back ? b->order : w->other_order;
    for (int i = 0; i < b->count; i++) places[rayt__digit(keys[i], shift)]++;
    for (int k = 0; k < RAYT__DIGITS; k++) {
        int many = places[k];
        places[k] = sum;
        sum += many;
    }
    for (int i = 0; i < b->count; i++) {
        int place = places[rayt__digit(keys[i], shift)]++;
        to_keys[place] = keys[i];
        to_order[place] = order[i];
    }
}

/* The codes of all spheres; returns how many of them a ray can hit. */
static inline RAYT__OPTIMIZE int rayt__codes_host(rayt__build *b)
{
    rayt__box all = {RAYT_FAR, RAYT_FAR, RAYT_FAR, -RAYT_FAR, -RAYT_FAR, -RAYT_FAR};
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        float4 ball = rayt__ball_of(b->spheres, i);
        if (!rayt_solid(ball)) continue;
        rayt__box point = {ball.x, ball.y, ball.z, ball.x, ball.y, ball.z};
        all = rayt__around(all, point);
        count++;
    }
    for (int i = 0; i < b->count; i++) {
        b->keys[i] = rayt__code(rayt__ball_of(b->spheres, i), all);
        b->order[i] = i;
    }
    return count;
}

/* Is [first, last] the left half of its parent? It meets the neighbour from which it differs less. */
static inline RAYT__OPTIMIZE bool rayt__is_left(const unsigned long long *keys, int count,
                                                int first, int last)
{
    if (first == 0) return true;
    return last < count - 1 && rayt__difference(keys, last) < rayt__difference(keys, first - 1);
}

/* The climbs of rayt_tree_merge, one after the other. Returns the name of the root. */
static inline RAYT__OPTIMIZE int rayt__merge_host(rayt__build *b, int count)
{
    int root = 0;
    for (int i = 0; i < count; i++) {
        int first = i, last = i, name = i;
        while (last - first + 1 < count) {
            bool left = rayt__is_left(b->keys, count, first, last);
            int parent = left ? last : first - 1, end = (int)(b->meetings[parent] >> 32) - 1;
            int other = (int)b->meetings[parent];
            b->meetings[parent] =
                (unsigned long long)((left ? first : last) + 1) << 32 | (unsigned)name;
            if (end < 0) break;
            int halves[2] = {left ? name : other, left ? other : name};
            first = left ? first : end;
            last = left ? end : last;
            rayt__set_pair(&b->pairs[parent],
                           rayt__around(rayt__range_box(b, first, parent, halves[0]),
                                        rayt__range_box(b, parent + 1, last, halves[1])),
                           halves[0], halves[1]);
            name = parent;
        }
        if (last - first + 1 == count) root = name;
    }
    return root;
}

/* The children of a node to be. */
typedef struct rayt__children {
    rayt__task task[RAYT__WIDTH]; /* a range and its name */
    rayt__box box[RAYT__WIDTH];
    int many;
} rayt__children;

static inline int rayt__size(const rayt__task *task)
{
    return task->last - task->first + 1;
}

static inline void rayt__set_child(const rayt__build *b, rayt__children *c, int k, int first,
                                   int last, int name)
{
    rayt__task task = {first, last, name, 0, 0, 0, 0, 0};
    c->task[k] = task;
    c->box[k] = rayt__range_box(b, first, last, name);
}

/* The children of the node that is to hold a range, on its level. */
static inline RAYT__OPTIMIZE void rayt__open_up_host(const rayt__build *b, const rayt__task *task,
                                                     int level, rayt__children *c)
{
    c->many = task->first <= task->last;
    if (c->many) rayt__set_child(b, c, 0, task->first, task->last, task->name);
    while (c->many < RAYT__WIDTH) {
        int widest = -1;
        float most = -1;
        for (int k = 0; k < c->many; k++) {
            int size = rayt__size(&c->task[k]);
            float worth = rayt__worth(c->box[k], size, level);
            if (size == 1 || worth <= most) continue;
            most = worth;
            widest = k;
        }
        if (widest < 0) break;
        rayt__task whole = c->task[widest];
        const rayt__pair *pair = &b->pairs[whole.name];
        rayt__set_child(b, c, widest, whole.first, whole.name, pair->left);
        rayt__set_child(b, c, c->many++, whole.name + 1, whole.last, pair->right);
    }
}

/* Writes a node, the spheres of its leaves, and the tasks of its children that are nodes, from *tail
   on. */
static inline RAYT__OPTIMIZE void rayt__write_host(const rayt__build *b, const rayt__task *task,
                                                   const rayt__children *c, int *tail)
{
    unsigned words[RAYT__NODE_WORDS] = {0};
    rayt__box all = {0, 0, 0, 0, 0, 0};
    int at[RAYT__WIDTH], sphere = task->sphere, first = *tail;
    for (int k = 0; k < RAYT__WIDTH; k++) at[k] = -1;
    if (c->many) all = rayt__range_box(b, task->first, task->last, task->name);
    for (int k = 0; k < c->many; k++) {
        float depths[RAYT__WIDTH];
        rayt__depths(rayt__lean(c->box[k], all), depths);
        for (int slot = 0; slot < RAYT__WIDTH; slot++)
            if (at[slot] >= 0) depths[slot] = -3e38f;
        at[rayt__deepest(depths)] = k;
    }
    rayt__raster grid = rayt__raster_of(all);
    words[0] = rayt__bits_of(grid.x);
    words[1] = rayt__bits_of(grid.y);
    words[2] = rayt__bits_of(grid.z);
    words[3] = rayt__exponents(grid);
    words[4] = (unsigned)task->room;
    words[5] = (unsigned)task->sphere;
    for (int slot = 0; slot < RAYT__WIDTH; slot++) {
        if (at[slot] < 0) continue;
        const rayt__task *child = &c->task[at[slot]];
        rayt__box box = c->box[at[slot]];
        int word = slot % 4 / 2, shift = slot % 2 * 16 + slot / 4 * 8, size = rayt__size(child);
        if (size > RAYT__LEAF_MOST) {
            words[3] |= 1u << (24 + slot);
            words[7] |= 8u << 4 * slot;
            b->tasks[(*tail)++] = *child;
        } else {
            words[6] |= ((1u << size) - 1) << 4 * slot;
            for (int i = 0; i < size; i++, sphere++) {
                b->indices[sphere] = b->order[child->first + i];
                b->balls[sphere] = rayt__ball_of(b->spheres, b->indices[sphere]);
            }
        }
        words[8 + word] |= rayt__step_low(box.low_x, grid.x, grid.ex) << shift;
        words[10 + word] |= rayt__step_low(box.low_y, grid.y, grid.ey) << shift;
        words[12 + word] |= rayt__step_low(box.low_z, grid.z, grid.ez) << shift;
        words[14 + word] |= rayt__step_high(box.high_x, grid.x, grid.ex) << shift;
        words[16 + word] |= rayt__step_high(box.high_y, grid.y, grid.ey) << shift;
        words[18 + word] |= rayt__step_high(box.high_z, grid.z, grid.ez) << shift;
    }
    for (int k = 0; k < RAYT__NODE_WORDS / 4; k++)
        b->nodes[(size_t)task->node * 5 + k] =
            make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
    for (int k = first, node = task->room, room = node + *tail - first; k < *tail; k++) {
        b->tasks[k].node = node++;
        b->tasks[k].room = room;
        b->tasks[k].sphere = sphere;
        room += rayt__room(rayt__size(&b->tasks[k]));
        sphere += rayt__size(&b->tasks[k]);
    }
}

static inline RAYT__OPTIMIZE void rayt__widen_host(rayt__build *b, int count, int root)
{
    rayt__task whole = {0, count - 1, root, 0, 1, 0, 0, 0};
    b->tasks[0] = whole;
    for (int k = 0, tail = 1, end = 1, level = 0; k < tail; k++) {
        if (k == end) {
            level++;
            end = tail;
        }
        rayt__children children;
        rayt__open_up_host(b, &b->tasks[k], level, &children);
        rayt__write_host(b, &b->tasks[k], &children, &tail);
    }
}

RAYT_API rayt_status rayt_build_host(rayt_tree *tree, const rayt_sphere *spheres, int count)
{
    rayt_status status = rayt__check_build(tree, spheres, count);
    if (status != RAYT_OK) return status;
    if (tree->memory != NULL && !tree->on_host)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "tree is in device memory: rayt_tree_free it, or rayt_build again");
    size_t bytes = rayt__tree_bytes(count, true);
    if (bytes > tree->bytes) {
        free(tree->memory);
        memset(tree, 0, sizeof *tree);
        tree->memory = malloc(bytes);
        if (tree->memory != NULL) tree->bytes = bytes;
    }
    rayt__workplace w = rayt__make_workplace(NULL, tree, spheres, count);
    char *memory = tree->memory == NULL ? NULL : (char *)malloc(w.bytes);
    if (memory == NULL) {
        free(tree->memory);
        memset(tree, 0, sizeof *tree);
        return rayt__fail(RAYT_ERROR_MEMORY, "no host memory for a tree over %d spheres", count);
    }
    tree->count = count;
    tree->on_host = 1;
    w = rayt__make_workplace(memory, tree, spheres, count);
    int valid = rayt__codes_host(&w.build);
    for (int shift = 0; shift < RAYT__CODE_BITS; shift += 8) rayt__sort_host(&w, shift);
    memset(w.build.meetings, 0, (size_t)count * sizeof *w.build.meetings);
    rayt__widen_host(&w.build, valid, rayt__merge_host(&w.build, valid));
    free(memory);
    return RAYT_OK;
}
#endif
/* src/raytrace/trace/host/query.h. Questions to trees. */
#if defined(RAYT_WITH_TRACE) && RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_QUERY)
#define RAYT__PART_QUERY
/* ============================== QUERIES ======================================================= */
/* An array of `count` items that are aligned to so many bytes. */
static inline rayt_status rayt__check_array(const char *name, const void *array, int count,
                                            int alignment)
{
    if (array == NULL && count > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is NULL, but count is %d", name, count);
    if ((size_t)array % (size_t)alignment != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is not aligned to %d bytes", name, alignment);
    return RAYT_OK;
}

static inline rayt_status rayt__check_tree(const rayt_tree *tree, int count)
{
    if (tree == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "tree is NULL");
    if (tree->memory == NULL || tree->count < 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "tree is empty: rayt_build has not filled it");
    if (count < 0) return rayt__fail(RAYT_ERROR_ARGUMENT, "count is negative: %d", count);
    if (count > RAYT__MAX_SPHERES) /* kernels count somewhat beyond it, in int */
        return rayt__fail(RAYT_ERROR_ARGUMENT, "count is %d, more than %d (2^30)", count,
                          RAYT__MAX_SPHERES);
    return RAYT_OK;
}

/* How many rays fill a device with one round a block, as KERNELS TREE has rounds; tests have fewer. */
#ifndef RAYT__ROUND
#define RAYT__ROUND 131072
#endif

static inline cudaLaunchConfig_t rayt__query_config(int count, cudaStream_t stream)
{
    return rayt__config((unsigned)(count - 1) / RAYT__QUERY_THREADS + 1, RAYT__QUERY_THREADS,
                        stream);
}

static inline RAYT__OPTIMIZE void rayt__query_host(const rayt_tree *tree, const rayt_ray *rays,
                                                   int count, bool any, rayt_found *found)
{
    rayt__tree_view view = rayt__view(tree);
    for (int i = 0; i < count; i++) {
        float t = 0;
        int index = rayt__tree_nearest(view, rayt_ready(rays[i]), any, &t);
        found[i].index = any && index >= 0 ? 0 : index;
        found[i].t = any || index < 0 ? 0 : t;
    }
}

RAYT_API rayt_status rayt_query(rayt_query_kind kind, const rayt_tree *tree, const rayt_ray *rays,
                                int count, rayt_found *found, rayt_stream stream)
{
    if (kind != RAYT_NEAREST && kind != RAYT_ANY)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "kind is %d, which is no rayt_query_kind",
                          (int)kind);
    rayt_status status = rayt__check_tree(tree, count);
    if (status == RAYT_OK) status = rayt__check_array("rays", rays, count, 16);
    if (status == RAYT_OK) status = rayt__check_array("found", found, count, 8);
    if (status != RAYT_OK || count == 0) return status;
    if (tree->on_host) {
        rayt__query_host(tree, rays, count, kind == RAYT_ANY, found);
        return RAYT_OK;
    }
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    status = rayt__check_device(tree);
    if (status == RAYT_OK) {
        int rounds = count < 2 * RAYT__ROUND              ? 1
                     : count < RAYT__ROUNDS * RAYT__ROUND ? count / RAYT__ROUND
                                                          : RAYT__ROUNDS;
        int enough =
            tree->count < 16384 ? 16 : 8; /* where walks are short, fetching rays costs more */
        cudaLaunchConfig_t config = rayt__query_config((count - 1) / rounds + 1, stream);
        status = rayt__launched(cudaLaunchKernelEx(&config, rayt_query_rays, rayt__view(tree), rays,
                                                   count, rounds, enough, kind == RAYT_ANY,
                                                   (int2 *)found));
    }
    return rayt__end(before, status);
}

RAYT_API rayt_status rayt_query_within(const rayt_tree *tree, const rayt_ball *balls, int count,
                                       int *counts, int *lists, int capacity, rayt_stream stream)
{
    rayt_status status = rayt__check_tree(tree, count);
    if (status == RAYT_OK) status = rayt__check_array("balls", balls, count, 16);
    if (status == RAYT_OK) status = rayt__check_array("counts", counts, count, 4);
    if (status == RAYT_OK && capacity < 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "capacity is negative: %d", capacity);
    if (status == RAYT_OK && capacity > 0) status = rayt__check_array("lists", lists, count, 4);
    if (status != RAYT_OK || count == 0) return status;
    if (tree->on_host) {
        rayt__tree_view view = rayt__view(tree);
        for (int i = 0; i < count; i++) {
            float4 point = make_float4(balls[i].x, balls[i].y, balls[i].z, balls[i].radius);
            counts[i] = rayt__tree_within(view, point, lists + (size_t)i * capacity, capacity);
        }
        return RAYT_OK;
    }
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    status = rayt__check_device(tree);
    if (status == RAYT_OK) {
        cudaLaunchConfig_t config = rayt__query_config(count, stream);
        status = rayt__launched(cudaLaunchKernelEx(&config, rayt_query_balls, rayt__view(tree),
                                                   (const float4 *)balls, count, counts, lists,
                                                   capacity));
    }
    return rayt__end(before, status);
}
#endif
/* src/raytrace/trace/host/view.h. From a scene, a camera and a quality to what kernels take. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_VIEW)
#define RAYT__PART_VIEW
/* ============================== TRACE: VIEW =================================================== */
/* A vector of `name` in which all is finite and within +- limit, not below `least`. */
static inline rayt_status rayt__check_vector(const char *name, const float *vector, float least,
                                             float limit)
{
    for (int i = 0; i < 3; i++)
        if (!(vector[i] >= least && vector[i] <= limit))
            return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is (%g, %g, %g): not within %g .. %g", name,
                              (double)vector[0], (double)vector[1], (double)vector[2],
                              (double)least, (double)limit);
    return RAYT_OK;
}

static inline rayt_status rayt__check_number(const char *name, float number, float least,
                                             float limit)
{
    if (number >= least && number <= limit) return RAYT_OK;
    return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is %g, not within %g .. %g", name, (double)number,
                      (double)least, (double)limit);
}

/* Colours of lights are at most this: their products with weights and distances stay finite. */
#define RAYT__LIGHT_MAX 1e6f

static inline rayt_status rayt__check_light(const char *place, const char *colour,
                                            const rayt_light *light)
{
    const float xyz[3] = {light->x, light->y, light->z}, rgb[3] = {light->r, light->g, light->b};
    rayt_status status = rayt__check_vector(place, xyz, -RAYT_FAR, RAYT_FAR);
    return status == RAYT_OK ? rayt__check_vector(colour, rgb, 0, RAYT__LIGHT_MAX) : status;
}

static inline int rayt__is_black(const rayt_light *light)
{
    return light->r == 0 && light->g == 0 && light->b == 0;
}

static inline rayt_status rayt__check_scene(const rayt_scene *scene)
{
    if (scene == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "scene is NULL");
    rayt_status status = rayt__check_spheres(scene->spheres, scene->count);
    if (status != RAYT_OK) return status;
    if ((size_t)scene->materials % 16 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "materials is not aligned to 16 bytes");
    if (scene->light_count < 0 || scene->light_count > RAYT_MOST_LIGHTS)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "light_count is %d, not within 0 .. %d",
                          scene->light_count, (int)RAYT_MOST_LIGHTS);
    for (int i = 0; i < scene->light_count && status == RAYT_OK; i++) {
        char place[32], colour[48];
        snprintf(place, sizeof place, "lights[%d]", i);
        snprintf(colour, sizeof colour, "the colour of lights[%d]", i);
        status = rayt__check_light(place, colour, &scene->lights[i]);
    }
    if (status == RAYT_OK) status = rayt__check_light("sun", "the colour of sun", &scene->sun);
    if (status == RAYT_OK && !rayt__is_black(&scene->sun) && scene->sun.x == 0 &&
        scene->sun.y == 0 && scene->sun.z == 0)
        status = rayt__fail(RAYT_ERROR_ARGUMENT, "sun has a colour, but its direction is 0");
    if (status == RAYT_OK)
        status = rayt__check_vector("sky_bottom", scene->sky_bottom, 0, RAYT__LIGHT_MAX);
    if (status == RAYT_OK)
        status = rayt__check_vector("sky_top", scene->sky_top, 0, RAYT__LIGHT_MAX);
    if (status == RAYT_OK)
        status = rayt__check_vector("ambient", scene->ambient, 0, RAYT__LIGHT_MAX);
    if (status != RAYT_OK || !scene->ground) return status;
    status = rayt__check_number("ground_height", scene->ground_height, -RAYT_FAR, RAYT_FAR);
    if (status == RAYT_OK)
        status = rayt__check_vector("ground_colours[0]", scene->ground_colours[0], 0, 1);
    if (status == RAYT_OK)
        status = rayt__check_vector("ground_colours[1]", scene->ground_colours[1], 0, 1);
    if (status == RAYT_OK && scene->ground_square != 0)
        status = rayt__check_number("ground_square", scene->ground_square, 1e-6f, RAYT_FAR);
    return status;
}

static inline rayt_status rayt__check_quality(const rayt_quality *quality)
{
    if (quality == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "quality is NULL");
    if (quality->samples < 1 || quality->samples > 65536)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "samples is %d, not within 1 .. 65536",
                          quality->samples);
    if (quality->depth < 1 || quality->depth > 1000)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "depth is %d, not within 1 .. 1000", quality->depth);
    return rayt__check_number("gamma", quality->gamma, 0.1f, 10);
}

static inline float3 rayt__vector(const float *vector)
{
    return make_float3(vector[0], vector[1], vector[2]);
}

static inline float3 rayt__cross(float3 a, float3 b)
{
    return make_float3(rayt_fma(a.y, b.z, -rayt_mul(a.z, b.y)),
                       rayt_fma(a.z, b.x, -rayt_mul(a.x, b.z)),
                       rayt_fma(a.x, b.y, -rayt_mul(a.y, b.x)));
}

/* The vector at length 1, whatever its length; false if that is 0. */
static inline int rayt__normalise(float3 *vector)
{
    float largest = fmaxf(fabsf(vector->x), fmaxf(fabsf(vector->y), fabsf(vector->z)));
    if (!(largest > 0)) return 0;
    float3 part = make_float3(rayt_div(vector->x, largest), rayt_div(vector->y, largest),
                              rayt_div(vector->z, largest));
    *vector = rayt__times(rayt_div(1, rayt_sqrt(rayt__dot(part, part))), part);
    return 1;
}

/* The camera's axes and its lens. `height`: of the image, which the field of view spans. */
static inline rayt_status rayt__set_camera(rayt__trace_view *view, const rayt_camera *camera,
                                           int height)
{
    if (camera == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "camera is NULL");
    rayt_status status =
        rayt__check_vector("camera position", camera->position, -RAYT_FAR, RAYT_FAR);
    if (status == RAYT_OK)
        status = rayt__check_vector("camera target", camera->target, -RAYT_FAR, RAYT_FAR);
    if (status == RAYT_OK) status = rayt__check_vector("camera up", camera->up, -1e18f, 1e18f);
    if (status == RAYT_OK && camera->field_of_view != 0)
        status = rayt__check_number("field_of_view", camera->field_of_view, 0.01f, 179);
    if (status == RAYT_OK) status = rayt__check_number("aperture", camera->aperture, 0, RAYT_FAR);
    if (status == RAYT_OK && camera->aperture > 0)
        status = rayt__check_number("focus_distance", camera->focus_distance,
                                    fmaxf(1e-6f, rayt_mul(1e-6f, camera->aperture)), RAYT_FAR);
    if (status != RAYT_OK) return status;
    float3 up = rayt__vector(camera->up);
    view->origin = rayt__vector(camera->position);
    view->forward = rayt__along(-1, view->origin, rayt__vector(camera->target));
    if (!rayt__normalise(&view->forward))
        return rayt__fail(RAYT_ERROR_ARGUMENT, "camera target is the camera's position");
    if (!rayt__normalise(&up)) return rayt__fail(RAYT_ERROR_ARGUMENT, "camera up is 0");
    float3 right = rayt__cross(view->forward, up);
    if (rayt__dot(right, right) < 1e-10f || !rayt__normalise(&right)) /* 10^-5 of a right angle */
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "camera up is parallel to the view from position to target");
    up = rayt__cross(right, view->forward);
    view->parallel = camera->field_of_view == 0;
    float unit = 1;
    if (!view->parallel) {
        float c, s;
        unsigned half = (unsigned)rayt_mul(camera->field_of_view, 5965232.35f); /* 2^32 / 720 */
        rayt__turn(half, &c, &s);
        unit = rayt_div(rayt_mul(2, rayt_div(s, c)), (float)height);
    }
    view->across = rayt__times(unit, right);
    view->down = rayt__times(-unit, up);
    float radius = rayt_mul(0.5f, camera->aperture);
    view->lens_across = rayt__times(radius, right);
    view->lens_up = rayt__times(radius, up);
    view->focus = camera->aperture > 0 ? rayt_div(1, camera->focus_distance) : 0;
    return RAYT_OK;
}

static inline void rayt__set_scene(rayt__trace_view *view, const rayt_scene *scene)
{
    view->spheres = scene->spheres;
    view->materials = scene->materials;
    view->count = scene->count;
    view->ground = scene->ground != 0;
    view->ground_height = scene->ground_height;
    view->ground_cells = scene->ground_square > 0 ? rayt_div(1, scene->ground_square) : 0;
    for (int i = 0; i < 2; i++) view->ground_colours[i] = rayt__vector(scene->ground_colours[i]);
    view->ground_material = scene->ground_material;
    view->lights = 0;
    view->sun = !rayt__is_black(&scene->sun);
    if (view->sun) {
        float3 towards = make_float3(scene->sun.x, scene->sun.y, scene->sun.z);
        (void)rayt__normalise(&towards);
        rayt_light sun = {towards.x,    towards.y,    towards.z,
                          scene->sun.r, scene->sun.g, scene->sun.b};
        view->light[view->lights++] = sun;
    }
    for (int i = 0; i < scene->light_count; i++)
        if (!rayt__is_black(&scene->lights[i])) view->light[view->lights++] = scene->lights[i];
    float3 bottom = rayt__vector(scene->sky_bottom), top = rayt__vector(scene->sky_top);
    view->sky_middle = rayt__times(0.5f, rayt__along(1, bottom, top));
    view->sky_slope = rayt__times(0.5f, rayt__along(-1, bottom, top));
    view->ambient = rayt__vector(scene->ambient);
}

/* a to the power p, by multiplications and square roots, which are the same everywhere: a to the whole
   part of p, and its roots 2, 4, 8 ... for the bits of the rest. */
static inline double rayt__power(double a, double p)
{
    double result = 1, whole = floor(p), rest = p - whole;
    for (int n = 0; n < (int)whole; n++) result *= a;
    for (int bit = 0; bit < 24 && rest > 0; bit++) {
        a = sqrt(a);
        rest *= 2;
        if (rest >= 1) {
            result *= a;
            rest -= 1;
        }
    }
    return result;
}

static inline void rayt__set_quality(rayt__trace_view *view, const rayt_quality *quality)
{
    unsigned long long seed = quality->seed; /* splitmix64: neighbouring seeds become strangers */
    for (int i = 0; i < 2; i++) {
        unsigned long long z = (seed += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        view->seed[i] = (unsigned)(z >> 32);
    }
    int bits = 20; /* sums of `samples` numbers up to 16 scale stay below 2^32 */
    while (16.0 * (double)quality->samples * (double)(1 << bits) > 2147483648.0) bits--;
    view->samples = quality->samples;
    view->tile_bits = quality->samples < RAYT__MANY_SAMPLES ? 4 : 3;
    view->depth = quality->depth;
    view->scale = (float)(1 << bits);
    view->gamma = quality->gamma;
    double white = (double)quality->samples * (double)view->scale;
    for (int n = 0; n < 255; n++) /* byte n + 1 begins half-way */
        view->thresholds[n] =
            (unsigned)ceil(white * rayt__power((n + 0.5) / 255, (double)quality->gamma));
}

/* The tree of a scene, on the device or on the host. */
static inline rayt_status rayt__set_tree(rayt__trace_view *view, const rayt_scene *scene,
                                         int on_host)
{
    const rayt_tree *tree = scene->tree;
    if (tree == NULL)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the scene's tree is NULL: rayt_build makes one");
    rayt_status status = rayt__check_tree(tree, scene->count);
    if (status != RAYT_OK) return status;
    if (tree->count != scene->count)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the tree is of %d spheres, the scene has %d",
                          tree->count, scene->count);
    if (!tree->on_host != !on_host)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the tree is in memory of the %s, not of the %s",
                          on_host ? "device" : "host", on_host ? "host" : "device");
    view->tree = rayt__view(tree);
    view->has_tree = 1;
    return RAYT_OK;
}

/* Checks all that functions of tracing have in common, and fills *view. */
static inline rayt_status rayt__set_view(rayt__trace_view *view, const rayt_scene *scene,
                                         const rayt_camera *camera, const rayt_quality *quality,
                                         const unsigned char *image, int width, int height)
{
    memset(view, 0, sizeof *view);
    rayt_status status = rayt__check_scene(scene);
    if (status == RAYT_OK) status = rayt__check_quality(quality);
    if (status == RAYT_OK) status = rayt__check(scene->spheres, scene->count, image, width, height);
    if (status == RAYT_OK) status = rayt__set_camera(view, camera, height);
    if (status != RAYT_OK) return status;
    view->width = width;
    view->height = height;
    view->rows = height;
    rayt__set_scene(view, scene);
    rayt__set_quality(view, quality);
    return RAYT_OK;
}
#endif
/* src/raytrace/trace/host/launch.h. Launches of KERNEL TRACE. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TRACE_LAUNCH)
#define RAYT__PART_TRACE_LAUNCH
/* ============================== TRACE: LAUNCHERS ============================================== */
/* Puts the first spheres into the table of RAYT_CONSTANT, in the order of the stream. */
static inline rayt_status rayt__fill_table(const rayt__trace_view *view, cudaStream_t stream)
{
    const int capacity = RAYT_MAX_CONST / 16;
    int held = view->count < capacity ? view->count : capacity;
    float4 *table = NULL;
    if (held == 0) return RAYT_OK;
    rayt_status status = rayt__cuda(cudaGetSymbolAddress((void **)&table, rayt_table),
                                    "address of the constant memory");
    if (status != RAYT_OK) return status;
    cudaLaunchConfig_t config =
        rayt__config((held - 1) / RAYT__TRACE_THREADS + 1, RAYT__TRACE_THREADS, stream);
    return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_fill, view->spheres, held, table));
}

/* The rows first_row .. first_row + rows - 1 of the view, to `band`: at most 2^30 tiles. */
static inline rayt_status rayt__launch_trace(rayt_where where, const rayt__trace_view *view,
                                             uchar4 *band, cudaStream_t stream)
{
    int across = ((view->width - 1) >> view->tile_bits) + 1;
    int down = ((view->rows - 1) >> view->tile_bits) + 1;
    cudaLaunchConfig_t config = rayt__config(across * down, RAYT__TRACE_THREADS, stream);
    switch (where) {
    case RAYT_GLOBAL:
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_global, *view, band));
    case RAYT_READONLY:
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_readonly, *view, band));
    case RAYT_CONSTANT:
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_constant, *view, band));
    case RAYT_TREE:
        if (view->tree.list != NULL)
            return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_list, *view, band));
        if (view->samples < RAYT__MANY_SAMPLES)
            return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_bundles, *view, band));
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_tree, *view, band));
    default: return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_shared, *view, band));
    }
}

/* All rows of the view, in as many launches as that takes. */
static inline rayt_status rayt__trace_rows(rayt_where where, rayt__trace_view *view,
                                           unsigned char *band, cudaStream_t stream)
{
    int first_row = view->first_row, rows = view->rows;
    int most = (1 << 30) / (((view->width - 1) >> view->tile_bits) + 1);
    rayt_status status = RAYT_OK;
    if (where == RAYT_CONSTANT) {
        rayt__take_table();
        status = rayt__fill_table(view, stream);
    }
    for (int done = 0; done < rows && status == RAYT_OK; done += most) {
        view->first_row = first_row + done;
        view->rows = rows - done < most ? rows - done : most;
        status =
            rayt__launch_trace(where, view, (uchar4 *)band + (size_t)done * view->width, stream);
    }
    if (where == RAYT_CONSTANT) rayt__leave_table();
    return status;
}
#endif
/* src/raytrace/trace/host/trace.h. Pictures by a camera: on the device, and from host memory. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_TRACE)
#define RAYT__PART_TRACE
/* ============================== TRACE: PICTURES =============================================== */
static inline rayt_status rayt__check_trace(rayt_where where)
{
    if (where == RAYT_CULLED)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "where is RAYT_CULLED, which is for parallel rays "
                                               "through rayt_render; rayt_trace has RAYT_TREE");
    return where == RAYT_TREE ? RAYT_OK : rayt__check_where(where);
}

RAYT_API rayt_status rayt_trace(rayt_where where, const rayt_scene *scene,
                                const rayt_camera *camera, const rayt_quality *quality,
                                unsigned char *image, int width, int height, rayt_stream stream)
{
    rayt__trace_view view;
    rayt_status status = rayt__check_trace(where);
    if (status == RAYT_OK)
        status = rayt__set_view(&view, scene, camera, quality, image, width, height);
    if (status != RAYT_OK) return status;
    if ((size_t)image % 4 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the image is not aligned to 4 bytes");
    if (width == 0 || height == 0) return RAYT_OK;
    if (where == RAYT_TREE) status = rayt__set_tree(&view, scene, 0);
    if (status != RAYT_OK) return status;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    if (where == RAYT_TREE) status = rayt__check_device(scene->tree);
    if (status == RAYT_OK) status = rayt__trace_rows(where, &view, image, stream);
    return rayt__end(before, status);
}

/* Device memory of rayt_trace_host. */
typedef struct rayt__traced {
    rayt_sphere *spheres;
    rayt_material *materials;
    unsigned char *band;
    rayt_tree tree;
} rayt__traced;

static inline rayt_status rayt__copy_scene(const rayt_scene *scene, rayt__traced *memory)
{
    size_t spheres = (size_t)scene->count * sizeof(rayt_sphere);
    size_t materials = scene->materials ? (size_t)scene->count * sizeof(rayt_material) : 0;
    rayt_status status = RAYT_OK;
    if (spheres > 0)
        status = rayt__cuda(cudaMalloc((void **)&memory->spheres, spheres),
                            "cudaMalloc for the spheres");
    if (status == RAYT_OK && spheres > 0)
        status =
            rayt__cuda(cudaMemcpy(memory->spheres, scene->spheres, spheres, cudaMemcpyHostToDevice),
                       "copy of the spheres to the device");
    if (status == RAYT_OK && materials > 0)
        status = rayt__cuda(cudaMalloc((void **)&memory->materials, materials),
                            "cudaMalloc for the materials");
    if (status == RAYT_OK && materials > 0)
        status = rayt__cuda(cudaMemcpy(memory->materials, scene->materials, materials,
                                       cudaMemcpyHostToDevice),
                            "copy of the materials to the device");
    return status;
}

/* Rows of a band of rayt_trace_host: at most 64 MB, and some 2^33 tests if a path has 4 rays. A
   tree makes some 100 tests of many spheres. */
static inline int rayt__trace_band(rayt_where where, const rayt__trace_view *view)
{
    double tests = view->count + 10.0;
    if (where == RAYT_TREE && tests > 100) tests = 100;
    double a_row = 4 * tests * (double)view->samples * (double)view->width;
    double rows = 8589934592.0 / a_row, most = 16777216.0 / view->width;
    if (rows > most) rows = most;
    rows = floor(rows / 16) * 16; /* whole tiles */
    if (rows < 16) rows = 16;
    return rows < view->height ? (int)rows : view->height;
}

RAYT_API rayt_status rayt_trace_host(rayt_where where, const rayt_scene *scene,
                                     const rayt_camera *camera, const rayt_quality *quality,
                                     unsigned char *image, int width, int height,
                                     rayt_progress progress, void *context)
{
    rayt__trace_view view;
    rayt_status status = rayt__check_trace(where);
    if (status == RAYT_OK)
        status = rayt__set_view(&view, scene, camera, quality, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    rayt__traced memory;
    memset(&memory, 0, sizeof memory);
    size_t row_bytes = (size_t)width * 4;
    int most = rayt__trace_band(where, &view);
    status = rayt__copy_scene(scene, &memory);
    view.spheres = memory.spheres;
    view.materials = memory.materials;
    if (status == RAYT_OK && where == RAYT_TREE)
        status = rayt_build(&memory.tree, memory.spheres, scene->count, 0);
    if (status == RAYT_OK && where == RAYT_TREE) view.tree = rayt__view(&memory.tree);
    if (status == RAYT_OK)
        status = rayt__cuda(cudaMalloc((void **)&memory.band, row_bytes * (size_t)most),
                            "cudaMalloc for the image");
    for (int done = 0; done < height && status == RAYT_OK;) {
        int rows = height - done < most ? height - done : most;
        view.first_row = done;
        view.rows = rows;
        status = rayt__trace_rows(where, &view, memory.band, 0);
        if (status == RAYT_OK)
            status = rayt__cuda(cudaMemcpy(image + (size_t)done * row_bytes, memory.band,
                                           (size_t)rows * row_bytes, cudaMemcpyDeviceToHost),
                                "tracing, or copy of the image to the host");
        done += rows;
        if (status == RAYT_OK && progress) progress(done, height, context);
    }
    if (memory.tree.memory != NULL) cudaFree(memory.tree.memory);
    cudaFree(memory.spheres); /* of NULL: nothing; an error here would only repeat an earlier one */
    cudaFree(memory.materials);
    cudaFree(memory.band);
    return rayt__end(before, status);
}
#endif
/* src/raytrace/trace/host/cpu.h. The same pictures by the CPU. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_TRACE_CPU)
#define RAYT__PART_TRACE_CPU
/* ============================== TRACE: CPU REFERENCE ========================================== */
/* Threads that take rows from a counter. */
typedef struct rayt__crew {
    const rayt__trace_view *view;
    unsigned char *image;
    int next;
} rayt__crew;

enum { RAYT__MAX_CREW = 256 };

static inline RAYT__OPTIMIZE int rayt__find_cpu(const rayt__trace_view *view, bool any,
                                                rayt_unit_ray *ray)
{
    int found = RAYT__NO_SPHERE;
    if (view->has_tree) {
        float t;
        found = rayt__tree_nearest(view->tree, *ray, any, &t);
        if (found >= 0) ray->t_max = t;
        return found;
    }
    for (int i = 0; i < view->count; i++) {
        float b, discriminant;
        const rayt_sphere *sphere = &view->spheres[i];
        float4 ball = make_float4(sphere->x, sphere->y, sphere->z, sphere->radius);
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (rayt__try(ray, ball, b, discriminant, any, i, &found)) break;
    }
    return found;
}

static inline RAYT__OPTIMIZE void rayt__cpu_pixel(const rayt__trace_view *view, int column, int row,
                                                  unsigned char *pixel)
{
    unsigned sums[3] = {0, 0, 0};
    for (int sample = 0; sample < view->samples; sample++) {
        rayt__path path;
        bool running = true;
        rayt__begin_path(view, column, row, sample, &path);
        while (running) {
            bool ground, any = path.light != RAYT__PATH_RAY;
            rayt_unit_ray ray = rayt__next_ray(view, &path, &ground);
            int found = any && ground ? (int)RAYT__NO_SPHERE : rayt__find_cpu(view, any, &ray);
            running = rayt__advance(view, ray, found, ground, &path);
        }
        sums[0] += rayt__counted(view, path.sum.x);
        sums[1] += rayt__counted(view, path.sum.y);
        sums[2] += rayt__counted(view, path.sum.z);
    }
    for (int c = 0; c < 3; c++) pixel[c] = rayt__toned(view, sums[c]);
    pixel[3] = 255;
}

static inline RAYT__OPTIMIZE void *rayt__crew_work(void *argument)
{
    rayt__crew *crew = (rayt__crew *)argument;
    const rayt__trace_view *view = crew->view;
    for (;;) {
#ifdef _WIN32
        int row = crew->next++;
#else
        int row = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED);
#endif
        if (row >= view->height) return NULL;
        for (int column = 0; column < view->width; column++)
            rayt__cpu_pixel(view, column, row,
                            crew->image + 4 * ((size_t)row * view->width + column));
    }
}

RAYT_API rayt_status rayt_trace_cpu(const rayt_scene *scene, const rayt_camera *camera,
                                    const rayt_quality *quality, unsigned char *image, int width,
                                    int height)
{
    rayt__trace_view view;
    rayt_status status = rayt__set_view(&view, scene, camera, quality, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    if (scene->tree != NULL) status = rayt__set_tree(&view, scene, 1);
    if (status != RAYT_OK) return status;
    rayt__crew crew = {&view, image, 0};
#ifndef _WIN32
    pthread_t helpers[RAYT__MAX_CREW];
    long wanted = sysconf(_SC_NPROCESSORS_ONLN) - 1; /* this thread is one of the crew */
    int started = 0;
    if (wanted > RAYT__MAX_CREW) wanted = RAYT__MAX_CREW;
    if (wanted > height - 1) wanted = height - 1;
    while (started < wanted && pthread_create(&helpers[started], NULL, rayt__crew_work, &crew) == 0)
        started++; /* refused, those that there are do all */
#endif
    (void)rayt__crew_work(&crew);
#ifndef _WIN32
    for (int n = 0; n < started; n++) pthread_join(helpers[n], NULL);
#endif
    return RAYT_OK;
}
#endif
/* src/raytrace/give_back.h. Macros of the caller are as they were. */
#if !defined(RAYT__EMIT) && !defined(__CUDACC_RTC__)
RAYT__WORDS(RAYT__POP)
#if RAYT__HOST && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
/* ============================== HISTORY =======================================================
   0.1  global, read-only, constant, shared and culled kernels; CPU reference; scenes; PNG, PPM and
        terminal pictures.

   MIT No Attribution. Copyright (c) 2026 the tiledmm and raytrace authors.
   Permission is hereby granted, free of charge, to any person obtaining a copy of this software
   and associated documentation files (the "Software"), to deal in the Software without
   restriction, including without limitation the rights to use, copy, modify, merge, publish,
   distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
   Software is furnished to do so.
   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
   BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
   NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
   DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
