/* src/raytrace/trace/build.cuh. How a tree is made: codes, a binary tree, wide nodes.
   Uses: config.h, intersection.cuh, hit.cuh, nodes.cuh.
   Used by: clusters.cuh, kernels.cuh, trace/host/build.h. */
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
