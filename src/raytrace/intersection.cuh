/* src/raytrace/intersection.cuh. The sphere, and the arithmetic of one ray.
   Uses: nothing. Used by: functions.h, host/, kernels/, trace/, trace/host/. */
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
