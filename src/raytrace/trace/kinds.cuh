/* src/raytrace/trace/kinds.cuh. Where rays find the spheres: the nearest one by each kind of memory.
   Uses: config.h, intersection.cuh, kernels/constant.cuh, hit.cuh, path.cuh.
   Used by: instances.h, kernel.cuh, trace/host/. */
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
