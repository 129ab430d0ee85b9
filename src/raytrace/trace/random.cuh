/* src/raytrace/trace/random.cuh. Vectors, and random ones from integers alone.
   Uses: config.h, intersection.cuh, hit.cuh. Used by: path.cuh, trace/host/view.h. */
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
