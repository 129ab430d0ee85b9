/* src/raytrace/trace/build.cuh. How a tree is made: codes, a binary tree, wide nodes.
   Uses: config.h, intersection.cuh, hit.cuh, nodes.cuh.
   Used by: kernels.cuh, trace/host/build.h. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_BUILD)
#define RAYT__PART_BUILD
/* ============================== BUILD ========================================================= */
/* From spheres to nodes, each step for all at once:

     bounds   the box of all centres, and how many spheres a ray can hit at all
     codes    48-bit Morton code of each centre: 16 bits an axis, on a grid of cubes
     SORT     spheres in the order of their codes, six passes
     merge    a binary tree, from the leaves up, with boxes. Two neighbours i, i + 1 differ first in
              some bit of their codes (if those are equal, of i); the less that bit is worth, the
              earlier they meet. C. Apetrei ("Fast and Simple Agglomerative LBVH Construction",
              2014) builds the tree of T. Karras ("Maximizing Parallelism in the Construction of
              BVHs, Octrees, and k-d Trees", HPG 2012) so in one pass
     widen    nodes of 8 children, level by level from the root: of a node's descendants the one with
              the largest surface is opened, until there are 8. It copies the spheres of leaves, too

   A binary node is named by the last sphere of its left half, so that no two have the same name and
   halves need not be stored: node m of [first, last] has the halves [first, m] and [m + 1, last].

   Depth: bits above the one in which two neighbours differ are equal below a node, so a binary tree
   has at most 48 + 30 levels. From level 16 on, widen opens the descendant with the most spheres
   instead. Then a child with more than half of a node's spheres is 7 binary levels below it: at most
   78 / 7 such levels, and 30 with halves or less. RAYT__DEPTH is more than 16 + 11 + 30.

   Number of nodes: one that is not the root has at least 5 spheres, hence at least 5 children; then
   there are at most (count + 3) / 4. */
enum {
    RAYT__CODE_BITS = 48,
    RAYT__CELLS = 65535, /* cells 0 .. 65534: no code is that of spheres which are left out */
    RAYT__AREA_LEVELS = 16,
    RAYT__WIDEN_THREADS = 128,
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

/* A part of the sorted spheres; `name` is that of the binary node, unless it is one sphere. */
typedef struct RAYT_ALIGN rayt__range {
    int first, last, name;
} rayt__range;

/* All that a build has in memory. */
typedef struct rayt__build {
    const rayt_sphere *spheres;
    unsigned long long *keys; /* sorted */
    int *order;               /* of the spheres, by their keys */
    rayt__pair *pairs;
    int *meetings;       /* for each pair the far end of the half that was ready first; -1 */
    rayt__range *ranges; /* for each node */
    unsigned *bounds;    /* keys of the largest x, y, z; of the smallest, inverted; spheres; root */
    int *levels;         /* nodes in each level, and after RAYT__DEPTH + 1: spheres in leaves */
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
   written out, so that every device and the host make the same tree, but for the order of nodes. */
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

/* Is [first, last] the left half of its parent? It meets the neighbour from which it differs less. */
static __host__ __device__ __forceinline__ bool rayt__is_left(const unsigned long long *keys,
                                                              int count, int first, int last)
{
    if (first == 0) return true;
    return last < count - 1 && rayt__difference(keys, last) < rayt__difference(keys, first - 1);
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

static __host__ __device__ __forceinline__ void rayt__set_pair(rayt__pair *pair, rayt__box box)
{
    pair->low_x = box.low_x;
    pair->low_y = box.low_y;
    pair->low_z = box.low_z;
    pair->high_x = box.high_x;
    pair->high_y = box.high_y;
    pair->high_z = box.high_z;
}

/* The children of a node to be. */
typedef struct rayt__children {
    rayt__range range[RAYT__WIDTH];
    rayt__box box[RAYT__WIDTH];
    int many, nodes, spheres; /* of all; of those that are nodes; spheres of leaves */
} rayt__children;

static __host__ __device__ __forceinline__ int rayt__size(rayt__range range)
{
    return range.last - range.first + 1;
}

/* The children of the node that is to hold a range, on its level. */
static __host__ __device__ __forceinline__ void rayt__open_up(const rayt__build *build,
                                                              rayt__range range, int level,
                                                              rayt__children *c)
{
    c->many = range.first <= range.last;
    c->range[0] = range;
    if (c->many) c->box[0] = rayt__range_box(build, range.first, range.last, range.name);
    while (c->many < RAYT__WIDTH) {
        int widest = -1;
        float most = -1;
        for (int k = 0; k < c->many; k++) {
            int size = rayt__size(c->range[k]);
            rayt__box box = c->box[k];
            float x = rayt_sub(box.high_x, box.low_x), y = rayt_sub(box.high_y, box.low_y);
            float z = rayt_sub(box.high_z, box.low_z), worth = (float)size;
            if (level < RAYT__AREA_LEVELS)
                worth = rayt_add(rayt_add(rayt_mul(x, y), rayt_mul(y, z)), rayt_mul(z, x));
            if (size == 1 || worth <= most) continue;
            most = worth;
            widest = k;
        }
        if (widest < 0) break;
        rayt__range whole = c->range[widest];
        const rayt__pair *pair = &build->pairs[whole.name];
        rayt__range left = {whole.first, whole.name, pair->left};
        rayt__range right = {whole.name + 1, whole.last, pair->right};
        c->range[widest] = left;
        c->box[widest] = rayt__range_box(build, left.first, left.last, left.name);
        c->range[c->many] = right;
        c->box[c->many] = rayt__range_box(build, right.first, right.last, right.name);
        c->many++;
    }
    c->nodes = c->spheres = 0;
    for (int k = 0; k < c->many; k++) {
        int size = rayt__size(c->range[k]);
        if (size > RAYT__LEAF_MOST) {
            c->nodes++;
        } else {
            c->spheres += size;
        }
    }
}

/* at[slot]: the child that is placed there, or -1. Each in turn takes the free slot whose octant it
   lies deepest in. */
static __host__ __device__ __forceinline__ void rayt__place(const rayt__children *c, rayt__box all,
                                                            int *at)
{
    for (int slot = 0; slot < RAYT__WIDTH; slot++) at[slot] = -1;
    for (int k = 0; k < c->many; k++) {
        rayt__box box = c->box[k];
        float x = (box.low_x - all.low_x) - (all.high_x - box.high_x);
        float y = (box.low_y - all.low_y) - (all.high_y - box.high_y);
        float z = (box.low_z - all.low_z) - (all.high_z - box.high_z), most = 0;
        int best = -1;
        for (int slot = 0; slot < RAYT__WIDTH; slot++) {
            float depth = (slot & 1 ? x : -x) + (slot & 2 ? y : -y) + (slot & 4 ? z : -z);
            if (at[slot] >= 0 || (best >= 0 && depth <= most)) continue;
            most = depth;
            best = slot;
        }
        at[best] = k;
    }
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

/* Writes a node, the ranges of its children that are nodes, from `node` on, and the spheres of its
   leaves, from `sphere` on. */
static __host__ __device__ __forceinline__ void rayt__write(const rayt__build *build, int to,
                                                            const rayt__children *c, int node,
                                                            int sphere)
{
    unsigned words[RAYT__NODE_WORDS] = {0};
    rayt__box all = {0, 0, 0, 0, 0, 0};
    int at[RAYT__WIDTH];
    for (int k = 0; k < c->many; k++) all = k == 0 ? c->box[0] : rayt__around(all, c->box[k]);
    rayt__place(c, all, at);
    unsigned ex = rayt__exponent(all.low_x, all.high_x);
    unsigned ey = rayt__exponent(all.low_y, all.high_y);
    unsigned ez = rayt__exponent(all.low_z, all.high_z);
    float x = rayt__origin(all.low_x, ex), y = rayt__origin(all.low_y, ey);
    float z = rayt__origin(all.low_z, ez);
    words[0] = rayt__bits_of(x);
    words[1] = rayt__bits_of(y);
    words[2] = rayt__bits_of(z);
    words[3] = (ex | ey << 8 | ez << 16) + (RAYT__BIAS - 127) * 0x10101u;
    words[4] = (unsigned)node;
    words[5] = (unsigned)sphere;
    int offset = 0;
    for (int slot = 0; slot < RAYT__WIDTH; slot++) {
        if (at[slot] < 0) continue;
        rayt__range range = c->range[at[slot]];
        rayt__box box = c->box[at[slot]];
        int word = slot % 4 / 2, shift = slot % 2 * 16 + slot / 4 * 8, size = rayt__size(range);
        if (size > RAYT__LEAF_MOST) {
            words[3] |= 1u << (24 + slot);
            words[7] |= 8u << 4 * slot;
            build->ranges[node++] = range;
        } else {
            words[6] |= ((1u << size) - 1) << 4 * slot;
            for (int i = 0; i < size; i++, offset++) {
                int index = build->order[range.first + i];
                build->balls[sphere + offset] = rayt__ball_of(build->spheres, index);
                build->indices[sphere + offset] = index;
            }
        }
        words[8 + word] |= rayt__step_low(box.low_x, x, ex) << shift;
        words[10 + word] |= rayt__step_low(box.low_y, y, ey) << shift;
        words[12 + word] |= rayt__step_low(box.low_z, z, ez) << shift;
        words[14 + word] |= rayt__step_high(box.high_x, x, ex) << shift;
        words[16 + word] |= rayt__step_high(box.high_y, y, ey) << shift;
        words[18 + word] |= rayt__step_high(box.high_z, z, ez) << shift;
    }
    for (int k = 0; k < RAYT__NODE_WORDS / 4; k++)
        build->nodes[(size_t)to * 5 + k] =
            make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
}
#endif
