/* src/raytrace/trace/path.cuh. One path of light: its rays, and what surfaces do with it.
   Uses: config.h, intersection.cuh, trace/. Used by: kernel.cuh, kinds.cuh, trace/host/. */
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
