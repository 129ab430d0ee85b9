/* src/raytrace/trace/host/cpu.h. The same pictures by the CPU.
   Uses: config.h, intersection.cuh, types.h, trace/, view.h. Used by: functions.h, callers. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_TRACE_CPU)
#define RAYT__PART_TRACE_CPU
/* ============================== TRACE: CPU REFERENCE ========================================== */
/* Threads that take rows from a counter. */
typedef struct rayt__crew {
    const rayt__trace_view *view;
    unsigned char *image;
    int next;
} rayt__crew;

enum { RAYT__MAX_CREW = 256 };

static inline RAYT__OPTIMIZE int rayt__find_cpu(const rayt__trace_view *view, bool any,
                                                rayt_unit_ray *ray)
{
    int found = RAYT__NO_SPHERE;
    if (view->has_tree) {
        float t;
        found = rayt__tree_nearest(view->tree, *ray, any, &t);
        if (found >= 0) ray->t_max = t;
        return found;
    }
    for (int i = 0; i < view->count; i++) {
        float b, discriminant;
        const rayt_sphere *sphere = &view->spheres[i];
        float4 ball = make_float4(sphere->x, sphere->y, sphere->z, sphere->radius);
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (rayt__try(ray, ball, b, discriminant, any, i, &found)) break;
    }
    return found;
}

static inline RAYT__OPTIMIZE void rayt__cpu_pixel(const rayt__trace_view *view, int column, int row,
                                                  unsigned char *pixel)
{
    unsigned sums[3] = {0, 0, 0};
    for (int sample = 0; sample < view->samples; sample++) {
        rayt__path path;
        bool running = true;
        rayt__begin_path(view, column, row, sample, &path);
        while (running) {
            bool ground, any = path.light != RAYT__PATH_RAY;
            rayt_unit_ray ray = rayt__next_ray(view, &path, &ground);
            int found = any && ground ? (int)RAYT__NO_SPHERE : rayt__find_cpu(view, any, &ray);
            running = rayt__advance(view, ray, found, ground, &path);
        }
        sums[0] += rayt__counted(view, path.sum.x);
        sums[1] += rayt__counted(view, path.sum.y);
        sums[2] += rayt__counted(view, path.sum.z);
    }
    for (int c = 0; c < 3; c++) pixel[c] = rayt__toned(view, sums[c]);
    pixel[3] = 255;
}

static inline RAYT__OPTIMIZE void *rayt__crew_work(void *argument)
{
    rayt__crew *crew = (rayt__crew *)argument;
    const rayt__trace_view *view = crew->view;
    for (;;) {
#ifdef _WIN32
        int row = crew->next++;
#else
        int row = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED);
#endif
        if (row >= view->height) return NULL;
        for (int column = 0; column < view->width; column++)
            rayt__cpu_pixel(view, column, row,
                            crew->image + 4 * ((size_t)row * view->width + column));
    }
}

RAYT_API rayt_status rayt_trace_cpu(const rayt_scene *scene, const rayt_camera *camera,
                                    const rayt_quality *quality, unsigned char *image, int width,
                                    int height)
{
    rayt__trace_view view;
    rayt_status status = rayt__set_view(&view, scene, camera, quality, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    if (scene->tree != NULL) status = rayt__set_tree(&view, scene, 1);
    if (status != RAYT_OK) return status;
    rayt__crew crew = {&view, image, 0};
#ifndef _WIN32
    pthread_t helpers[RAYT__MAX_CREW];
    long wanted = sysconf(_SC_NPROCESSORS_ONLN) - 1; /* this thread is one of the crew */
    int started = 0;
    if (wanted > RAYT__MAX_CREW) wanted = RAYT__MAX_CREW;
    if (wanted > height - 1) wanted = height - 1;
    while (started < wanted && pthread_create(&helpers[started], NULL, rayt__crew_work, &crew) == 0)
        started++; /* refused, those that there are do all */
#endif
    (void)rayt__crew_work(&crew);
#ifndef _WIN32
    for (int n = 0; n < started; n++) pthread_join(helpers[n], NULL);
#endif
    return RAYT_OK;
}
#endif
