/* src/raytrace/host/scenes.h. Random scenes.
   Uses: config.h, intersection.cuh, types.h, checks.h, status.h. Used by: functions.h, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_SCENES)
#define RAYT__PART_SCENES
/* ============================== SCENES ======================================================== */
/* splitmix64; uniform in [0, 1) with the 24 bits that a float holds. */
static inline float rayt__random(unsigned long long *state)
{
    unsigned long long z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (float)((z ^ (z >> 31)) >> 40) / 16777216.0f;
}

RAYT_API rayt_status rayt_random_scene(rayt_sphere *spheres, int count, unsigned long long seed,
                                       int width, int height, float radius_min, float radius_max)
{
    rayt_status status = rayt__check_spheres(spheres, count);
    if (status == RAYT_OK) status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (!(radius_min >= 0 && radius_min <= radius_max && radius_max <= RAYT_FAR))
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "radius_min is %g and radius_max %g: not an interval within 0 .. 1e18",
                          (double)radius_min, (double)radius_max);
    float w = (float)width, h = (float)height, range = rayt_sub(radius_max, radius_min);
    for (int i = 0; i < count; i++) {
        rayt_sphere *s = &spheres[i];
        s->x = rayt_mul(rayt_sub(rayt__random(&seed), 0.5f), w);
        s->y = rayt_mul(rayt_sub(rayt__random(&seed), 0.5f), h);
        s->z = rayt_mul(rayt_sub(rayt__random(&seed), 0.5f), w);
        s->radius = rayt_add(rayt_mul(rayt__random(&seed), range), radius_min);
        s->r = rayt__random(&seed);
        s->g = rayt__random(&seed);
        s->b = rayt__random(&seed);
    }
    return RAYT_OK;
}
#endif
