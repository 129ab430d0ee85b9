/* src/raytrace/trace/nodes.cuh. A node of the tree, and what of it a ray or a ball meets.
   Uses: config.h, hit.cuh. Used by: trace/, trace/host/. */
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
