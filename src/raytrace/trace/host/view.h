/* src/raytrace/trace/host/view.h. From a scene, a camera and a quality to what kernels take.
   Uses: config.h, intersection.cuh, types.h, host/, trace/, build.h, query.h.
   Used by: cpu.h, trace.h. */
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
