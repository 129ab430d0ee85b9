/* src/raytrace/trace/nodes.cuh. A node of the tree, and what of it a ray or a ball meets.
   Uses: config.h, hit.cuh. Used by: trace/, trace/host/. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_NODES)
#define RAYT__PART_NODES
/* ============================== NODES ========================================================= */
/* A node has up to 8 children and 80 bytes, after H. Ylitie, T. Karras and S. Laine ("Efficient
   Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs", HPG 2017):

        word  0..2   origin of the node, floats          its boxes are origin + byte * 2^e on each
              3      e of x, y, z, biased by 127;        axis, 8 bits a plane: 6 bytes a child
                     bit 24 + k: child k is a node       instead of 24
              4      the first child that is a node      these lie together in the order of k,
              5      the first sphere                    and so do the spheres of all leaves
              6      bit 4 k + n: child k is a leaf with more than n spheres
              7      RAYT__PLANE: as a constant in code it would take an instruction a plane
              8..13  low planes of x, y, z, 8 bytes each
              14..19 high planes

   Child k lies in octant k of the node, as far as the children can be placed so: bit 0 of k is set
   on the high side of x, bit 1 of y, bit 2 of z. A ray that comes from octant o meets children
   about in the order k ^ o = 0, 1, .. 7.

   WHY NO HIT IS LOST. Let u = 2^-24. A box of a node contains, in real numbers, the own boxes of
   its spheres (BUILD). HIT has the plane p of an own box at round(round(p - o) inverse), which is
   wrong by at most 2.1 u of its size. A node has its planes at (32768 + byte) s + base - 32768 s,
   where s = 2^e inverse is exact and base = (origin - o) inverse: a byte in the middle of a float's
   bits is 32768 + byte, without a conversion. Three roundings of numbers up to 33023 |s| and some of
   base, contracted or not, are wrong by at most 2^-7 |s| + 4.1 u |base|. A plane at t has
   |base| <= |t| + 256 |s|. So 2^-6 |s| is added outwards, and what remains is relative: a plane of a
   node is at most 8 u |t| farther in than an own plane inside of it. 2^-19 = 32 u of base are added
   to exits, and of the best hit so far to that: for 8 u on either side, 8 u that HIT adds, and the
   products of these. Then no interval misses one that it should contain, and none begins beyond a t
   in it. Where |base| is below 0.9 |t|, |s| is above |t| / 2560, and 2^-6 |s| is more than all that. */
#define RAYT__WIDTH      8
#define RAYT__LEAF_MOST  4 /* spheres of a leaf: 8 leaves have 32, which are the bits of a mask */
#define RAYT__NODE_WORDS 20
#define RAYT__PLANE      0x47000000u         /* the bits of 32768 */
#define RAYT__LONGER     1.9073486328125e-6f /* 2^-19 */

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

/* 32768 + byte k of a word; `plane` is RAYT__PLANE. */
static __host__ __device__ __forceinline__ float rayt__plane(unsigned word, int k, unsigned plane)
{
#ifdef __CUDA_ARCH__
    return rayt__float_of(__byte_perm(word, plane, 0x7404u | (unsigned)k << 4));
#else
    return rayt__float_of(plane | (word >> 8 * k & 255) << 8);
#endif
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

/* What a test of a node has met: bit k for child k, if that is a node, bit 4 k + n for sphere n of
   child k, if that is a leaf. `all`, `leaves`: the same for all children. `node`, `sphere`: the first. */
typedef struct rayt__met {
    unsigned children, spheres, all, leaves, node, sphere;
} rayt__met;

/* Where the next sphere that is met lies among all; takes it from those that are met. */
static __host__ __device__ __forceinline__ unsigned rayt__next_sphere(rayt__met *met)
{
    unsigned rest = met->spheres & (met->spheres - 1);
    unsigned before = (met->spheres ^ rest) - 1;
    met->spheres = rest;
    return met->sphere + (unsigned)rayt__ones(met->leaves & before);
}

/* Planes of one axis for a ray: scale, and what is added for the plane where it enters and exits. */
typedef struct rayt__axis {
    float scale, enter, exit;
} rayt__axis;

static __host__ __device__ __forceinline__ rayt__axis rayt__axis_of(unsigned origin, unsigned e,
                                                                    float from, float inverse)
{
    rayt__axis axis;
    float base = (rayt__float_of(origin) - from) * inverse;
    axis.scale = rayt__float_of((e & 255) << 23) * inverse;
    float out = fabsf(axis.scale) * 0.015625f; /* 2^-6 */
    axis.enter = base - 32768.0f * axis.scale - out;
    axis.exit = base - 32768.0f * axis.scale + (out + fabsf(base) * RAYT__LONGER);
    return axis;
}

/* The children of a node that a ray meets between t_min and `most`, which is 2^-19 of itself beyond
   where it is to end. at[k] is where it enters the box of child k. */
static __host__ __device__ __forceinline__ rayt__met rayt__meet(const uint4 *node,
                                                                const rayt_unit_ray *ray,
                                                                float most, float *at)
{
    uint4 a = rayt__load(node), b = rayt__load(node + 1), c = rayt__load(node + 2);
    uint4 d = rayt__load(node + 3), e = rayt__load(node + 4);
    rayt__axis x = rayt__axis_of(a.x, a.w, ray->x, ray->ix);
    rayt__axis y = rayt__axis_of(a.y, a.w >> 8, ray->y, ray->iy);
    rayt__axis z = rayt__axis_of(a.z, a.w >> 16, ray->z, ray->iz);
    rayt__met met = {0, 0, a.w >> 24, b.z, b.x, b.y};
    RAYT__UNROLL
    for (int half = 0; half < 2; half++) { /* 4 children, a word a plane */
        unsigned low_x = half ? c.y : c.x, low_y = half ? c.w : c.z, low_z = half ? d.y : d.x;
        unsigned high_x = half ? d.w : d.z, high_y = half ? e.y : e.x, high_z = half ? e.w : e.z;
        unsigned near_x = ray->ix < 0 ? high_x : low_x, far_x = ray->ix < 0 ? low_x : high_x;
        unsigned near_y = ray->iy < 0 ? high_y : low_y, far_y = ray->iy < 0 ? low_y : high_y;
        unsigned near_z = ray->iz < 0 ? high_z : low_z, far_z = ray->iz < 0 ? low_z : high_z;
        RAYT__UNROLL
        for (int k = 0; k < 4; k++) {
            float enter = rayt__plane(near_x, k, b.w) * x.scale + x.enter;
            float exit = rayt__plane(far_x, k, b.w) * x.scale + x.exit;
            enter = fmaxf(enter, rayt__plane(near_y, k, b.w) * y.scale + y.enter);
            exit = fminf(exit, rayt__plane(far_y, k, b.w) * y.scale + y.exit);
            enter = fmaxf(enter, rayt__plane(near_z, k, b.w) * z.scale + z.enter);
            exit = fminf(exit, rayt__plane(far_z, k, b.w) * z.scale + z.exit);
            enter = fmaxf(enter, ray->t_min);
            exit = fminf(exit, most);
            at[4 * half + k] = enter;
            if (enter <= exit) {
                met.children |= 1u << (4 * half + k);
                met.spheres |= 15u << 4 * (4 * half + k);
            }
        }
    }
    met.children &= met.all;
    met.spheres &= b.z;
    return met;
}

/* How far beyond the nearer plane of a box a point is on one axis; 0 inside. */
static __host__ __device__ __forceinline__ float rayt__beyond(rayt__axis axis, unsigned low,
                                                              unsigned high, int k, unsigned plane)
{
    float gap = fmaxf(rayt__plane(low, k, plane) * axis.scale + axis.enter,
                      -(rayt__plane(high, k, plane) * axis.scale + axis.exit));
    return fmaxf(gap, 0);
}

/* The children of a node whose boxes come within a radius of a point; `reach` is rayt_reach of it,
   a little longer. With an inverse direction of 1, planes are distances from the point. The 2^-6 s
   of a plane are more than the 2^-38 that rayt_outside takes as 0. */
static __host__ __device__ __forceinline__ rayt__met rayt__near(const uint4 *node, float4 point,
                                                                float reach)
{
    uint4 a = rayt__load(node), b = rayt__load(node + 1), c = rayt__load(node + 2);
    uint4 d = rayt__load(node + 3), e = rayt__load(node + 4);
    rayt__axis x = rayt__axis_of(a.x, a.w, point.x, 1);
    rayt__axis y = rayt__axis_of(a.y, a.w >> 8, point.y, 1);
    rayt__axis z = rayt__axis_of(a.z, a.w >> 16, point.z, 1);
    rayt__met met = {0, 0, a.w >> 24, b.z, b.x, b.y};
    RAYT__UNROLL
    for (int half = 0; half < 2; half++) {
        RAYT__UNROLL
        for (int k = 0; k < 4; k++) {
            float gx = rayt__beyond(x, half ? c.y : c.x, half ? d.w : d.z, k, b.w);
            float gy = rayt__beyond(y, half ? c.w : c.z, half ? e.y : e.x, k, b.w);
            float gz = rayt__beyond(z, half ? d.y : d.x, half ? e.w : e.z, k, b.w);
            if (gx * gx + gy * gy + gz * gz <= reach) {
                met.children |= 1u << (4 * half + k);
                met.spheres |= 15u << 4 * (4 * half + k);
            }
        }
    }
    met.children &= met.all;
    met.spheres &= b.z;
    return met;
}
#endif
