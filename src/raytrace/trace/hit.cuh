/* src/raytrace/trace/hit.cuh. A ray at any angle, and what a hit of a sphere is.
   Uses: intersection.cuh. Used by: trace/, trace/host/. */
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
