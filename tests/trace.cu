/* rayt_trace: every kind of memory gives the bytes of rayt_trace_cpu on random and hostile scenes,
   and rayt_trace_cpu gives, within rounding, what a reference in doubles of this file's own gives.
   Known cases: white furnaces, Snell's law, the same picture as rayt_render, seeds, tones. Bad input
   is refused with a sentence. Nothing is written outside the image. */
#include "tap.h"
#define RAYT_WITH_TRACE
#include "../raytrace.cuh"

enum { GUARD = 64, MOST = 1300 }; /* more than the constant table holds */
static rayt_sphere spheres[MOST];
static rayt_material materials[MOST];
static const rayt_where kinds[] = {RAYT_GLOBAL, RAYT_READONLY, RAYT_CONSTANT, RAYT_SHARED,
                                   RAYT_TREE};
enum { KINDS = sizeof kinds / sizeof *kinds };

static float within(float low, float high)
{
    return low + (high - low) * (float)(0.5 + 0.5 * tap_uniform());
}

static rayt_scene plain_scene(int count)
{
    rayt_scene scene;
    memset(&scene, 0, sizeof scene);
    scene.spheres = spheres;
    scene.materials = materials;
    scene.count = count;
    for (int c = 0; c < 3; c++) scene.sky_bottom[c] = scene.sky_top[c] = 1;
    return scene;
}

static rayt_camera plain_camera(void)
{
    rayt_camera camera = {{0, 0, 10}, {0, 0, 0}, {0, 1, 0}, 40, 0, 0};
    return camera;
}

static rayt_quality plain_quality(int samples, int depth)
{
    rayt_quality quality = {samples, depth, 1, 1};
    return quality;
}

static void put(int i, float x, float y, float z, float radius, float grey, int kind)
{
    rayt_sphere sphere = {x, y, z, radius, grey, grey, grey};
    rayt_material material = {kind, 0, 1.5f, 0};
    spheres[i] = sphere;
    materials[i] = material;
}

/* Spheres of all materials, with everything else that a scene can have. */
static rayt_scene random_scene(int count)
{
    for (int i = 0; i < count; i++) {
        put(i, within(-4, 4), within(-3, 3), within(-4, 4), within(0.05f, 1), 0,
            (int)(tap_bits() % RAYT_KIND_COUNT));
        spheres[i].r = within(0.1f, 1);
        spheres[i].g = within(0.1f, 1);
        spheres[i].b = within(0.1f, 1);
        materials[i].fuzz = tap_bits() % 2 ? 0 : within(0, 0.7f);
        materials[i].index = within(1.1f, 2.2f);
    }
    rayt_scene scene = plain_scene(count);
    scene.ground = 1;
    scene.ground_height = -2.5f;
    scene.ground_square = 1.5f;
    scene.sun.x = within(-1, 1), scene.sun.y = 1, scene.sun.z = within(-1, 1);
    scene.light_count = 2;
    for (int c = 0; c < 3; c++) {
        scene.ground_colours[0][c] = within(0.5f, 1);
        scene.ground_colours[1][c] = within(0, 0.5f);
        scene.sky_bottom[c] = within(0, 0.6f);
        scene.sky_top[c] = within(0.4f, 1);
        scene.ambient[c] = within(0, 0.2f);
    }
    scene.ground_material.kind =
        (int)(tap_bits() % RAYT_GLASS); /* a plane of glass has no other side */
    scene.sun.r = 0.7f, scene.sun.g = 0.6f, scene.sun.b = 0.5f;
    for (int l = 0; l < 2; l++) {
        rayt_light light = {within(-5, 5), within(3, 6), within(-5, 5), 4, 3 + (float)l, 5};
        scene.lights[l] = light;
    }
    return scene;
}

static unsigned char *cpu_image(const rayt_scene *scene, const rayt_camera *camera,
                                const rayt_quality *quality, int width, int height)
{
    unsigned char *image = (unsigned char *)malloc((size_t)width * height * 4 + 1);
    memset(image, 0xA5, (size_t)width * height * 4 + 1);
    if (rayt_trace_cpu(scene, camera, quality, image, width, height) != RAYT_OK)
        tap_ok(0, "CPU: %s", rayt_last_error());
    return image;
}

/* Traces with one kind of memory into poisoned memory that begins `shift` bytes past an aligned
   address, and compares. `more` spheres of radius 0 are at the end: RAYT_TREE has other ways for many. */
static int traces(rayt_where where, const rayt_scene *scene, const rayt_camera *camera,
                  const rayt_quality *quality, int width, int height, int shift,
                  const unsigned char *expected, int more)
{
    size_t bytes = (size_t)width * height * 4, all = bytes + 2 * GUARD + 16;
    unsigned char *host = (unsigned char *)malloc(all), *device = NULL;
    rayt_scene there = *scene;
    void *ball = NULL, *material = NULL;
    int count = scene->count;
    there.count = count + more;
    int good = cudaMalloc((void **)&device, all) == cudaSuccess &&
               cudaMalloc(&ball, sizeof *spheres * (count + more + 1)) == cudaSuccess &&
               cudaMalloc(&material, sizeof *materials * (count + more + 1)) == cudaSuccess &&
               cudaMemset(ball, 0, sizeof *spheres * (count + more)) == cudaSuccess &&
               cudaMemset(material, 0, sizeof *materials * (count + more)) == cudaSuccess &&
               cudaMemset(device, 0xA5, all) == cudaSuccess &&
               cudaMemcpy(ball, scene->spheres, sizeof *spheres * count, cudaMemcpyHostToDevice) ==
                   cudaSuccess;
    if (good && scene->materials)
        good = cudaMemcpy(material, scene->materials, sizeof *materials * count,
                          cudaMemcpyHostToDevice) == cudaSuccess;
    there.spheres = (const rayt_sphere *)ball;
    rayt_tree tree;
    memset(&tree, 0, sizeof tree);
    if (where == RAYT_TREE) {
        good = good && rayt_build(&tree, there.spheres, there.count, 0) == RAYT_OK;
        there.tree = &tree;
    }
    there.materials = scene->materials ? (const rayt_material *)material : NULL;
    if (good && rayt_trace(where, &there, camera, quality, device + GUARD + shift, width, height,
                           0) != RAYT_OK) {
        tap_note("%s: %s", rayt_where_string(where), rayt_last_error());
        good = 0;
    }
    good = good && cudaMemcpy(host, device, all, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (size_t n = 0; n < all && good; n++) {
        size_t at = n - GUARD - shift; /* wraps around before the image */
        if (host[n] == (at < bytes ? expected[at] : 0xA5)) continue;
        tap_note("%s: byte %zd of %zu is %d", rayt_where_string(where), (ptrdiff_t)at, bytes,
                 host[n]);
        good = 0;
    }
    cudaFree(device);
    cudaFree(ball);
    cudaFree(material);
    good &= rayt_tree_free(&tree) == RAYT_OK;
    free(host);
    return good;
}

static void agrees(const char *name, const rayt_scene *scene, const rayt_camera *camera,
                   const rayt_quality *quality, int width, int height)
{
    unsigned char *expected = cpu_image(scene, camera, quality, width, height);
    int good = 1;
    for (int k = 0; k < KINDS; k++)
        good &= traces(kinds[k], scene, camera, quality, width, height, 4 * (k % 4), expected, 0);
    good &= traces(RAYT_TREE, scene, camera, quality, width, height, 4, expected, RAYT__LIST_MOST);
    rayt_tree tree;
    rayt_scene with_tree = *scene;
    memset(&tree, 0, sizeof tree);
    with_tree.tree = &tree;
    if (rayt_build_host(&tree, scene->spheres, scene->count) != RAYT_OK) good = 0;
    unsigned char *image = cpu_image(&with_tree, camera, quality, width, height);
    if (memcmp(image, expected, (size_t)width * height * 4) != 0) {
        tap_note("the CPU with a tree gives other bytes");
        good = 0;
    }
    rayt_tree_free(&tree);
    free(image);
    tap_ok(good, "%s: %d spheres, %d x %d, %d samples, depth %d: the bytes of the CPU", name,
           scene->count, width, height, quality->samples, quality->depth);
    free(expected);
}

/* Spheres beside the edges of parts and tables are where nobody can overlook them. */
static void bring_forward(int count)
{
    const int edges[] = {0, 255, 256, 257, 511, 512, 1023, 1024, 1025, count - 1};
    for (int n = 0; n < 10; n++)
        if (edges[n] >= 0 && edges[n] < count) {
            rayt_sphere *sphere = &spheres[edges[n]];
            sphere->x = 0.5f * (float)(n % 5) - 1;
            sphere->y = 0.6f * (float)(n / 5) - 0.3f;
            sphere->z = 6;
            sphere->radius = 0.25f;
        }
}

static void kinds_of_memory(void)
{
    static const int sizes[][2] = {{1, 1}, {17, 33}, {16, 16}, {1, 40}, {40, 1}, {37, 21}};
    static const int counts[] = {0, 1, 33, 256, 257};
    static const float gammas[] = {1, 2, 2.2f};
    for (int s = 0; s < 6; s++)
        for (int c = s % 2; c < 5; c += 2) {
            rayt_scene scene = random_scene(counts[c]);
            rayt_camera camera = plain_camera();
            rayt_quality quality = plain_quality(1 + (s + c) % 3, 1 + 2 * c);
            bring_forward(counts[c]);
            quality.gamma = gammas[(s + c) % 3];
            quality.seed = tap_bits();
            if (s % 3 == 1) camera.aperture = 0.3f, camera.focus_distance = 9;
            if (s % 3 == 2) scene.materials = NULL;
            agrees("random", &scene, &camera, &quality, sizes[s][0], sizes[s][1]);
        }
    rayt_scene scene = random_scene(MOST);
    rayt_camera camera = plain_camera();
    rayt_quality quality = plain_quality(1, 4);
    bring_forward(MOST);
    agrees("beyond the constant table", &scene, &camera, &quality, 24, 18);
    scene = random_scene(40);
    quality.samples = 17;
    agrees("many samples, small tiles", &scene, &camera, &quality, 19, 13);
    scene = random_scene(RAYT__LIST_MOST);
    agrees("as many as a list has", &scene, &camera, &quality, 12, 9);
    scene = random_scene(40);
    quality.samples = 1;
    camera.field_of_view = 0;
    agrees("parallel", &scene, &camera, &quality, 20, 14);
    camera.aperture = 2, camera.focus_distance = 9;
    quality.samples = 2;
    agrees("parallel, with a lens", &scene, &camera, &quality, 20, 14);
}

/* Spheres of every odd kind: what is never hit, huge, tiny, nested, coincident, colours and materials
   that are none. */
static void hostile(void)
{
    static const float odd[] = {0,      -5,    INFINITY, -INFINITY, NAN,   1e30f, 1e-7f,
                                1e-40f, 1e18f, 1e17f,    1e-6f,     -0.0f, 1e9f,  6e5f};
    enum { ODDS = sizeof odd / sizeof *odd };
    rayt_scene scene = random_scene(9 * ODDS);
    for (int i = 0; i < 9 * ODDS; i++) {
        float *member[9] = {&spheres[i].x,      &spheres[i].y,      &spheres[i].z,
                            &spheres[i].radius, &spheres[i].r,      &spheres[i].g,
                            &spheres[i].b,      &materials[i].fuzz, &materials[i].index};
        *member[i / ODDS] = odd[i % ODDS];
        if (i % 7 == 0) materials[i].kind = i - 30;
    }
    rayt_camera camera = plain_camera();
    rayt_quality quality = plain_quality(2, 12);
    for (int part = 0; part < 9; part++) {
        scene.spheres = spheres + part * ODDS;
        scene.materials = materials + part * ODDS;
        scene.count = ODDS;
        agrees("odd numbers", &scene, &camera, &quality, 23, 19);
    }
    scene = random_scene(60);
    for (int i = 0; i < 60; i++)
        put(i, (float)(i % 2), 0, 0, i < 40 ? 2 : 0.1f * (float)(i - 39), 0.8f,
            i % RAYT_KIND_COUNT);
    agrees("coincident and nested", &scene, &camera, &quality, 23, 19);
    for (int i = 0; i < 60; i++)
        put(i, (float)(i % 8) - 4, (float)(i / 8) - 4, 0, 0.5f, 0.8f, i % 4);
    agrees("touching", &scene, &camera, &quality, 23, 19);
    camera.position[2] = 0.25f;
    agrees("from inside a sphere", &scene, &camera, &quality, 23, 19);
    scene.ground_material.kind = RAYT_MIRROR;
    scene.ground_height = camera.position[1] = 0;
    camera.position[2] = 9;
    agrees("a camera on the ground", &scene, &camera, &quality, 23, 19);
}

/* ---- a reference in doubles ---------------------------------------------------------------------- */
/* After the manual: vectors, Snell, Schlick, Lambert, in the plainest formulas. It shares the random
   numbers of the header, integers, and nothing else. */
typedef struct vec {
    double x, y, z;
} vec;

static vec v3(double x, double y, double z)
{
    vec v = {x, y, z};
    return v;
}
static vec add(vec a, double s, vec b) /* a + s b */
{
    return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static double dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static vec unit(vec a)
{
    return add(v3(0, 0, 0), 1 / sqrt(dot(a, a)), a);
}
static vec cross(vec a, vec b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static vec from(const float *f)
{
    return v3(f[0], f[1], f[2]);
}
static vec product(vec a, vec b)
{
    return v3(a.x * b.x, a.y * b.y, a.z * b.z);
}
static const double two_pi = 6.283185307179586;
static double share(unsigned bits)
{
    return (bits >> 8) / 16777216.0;
}
static vec anywhere(uint3 bits) /* on the unit sphere */
{
    double z = 2 * share(bits.x) - 1, r = sqrt(1 - z * z), a = two_pi * bits.y / 4294967296.0;
    return v3(r * cos(a), r * sin(a), z);
}

/* The nearest distance beyond 1e-5 and the sphere, -1 for the ground, -2 for nothing. */
static double reference_hit(const rayt_scene *scene, vec o, vec d, int *which)
{
    double best = INFINITY;
    *which = -2;
    if (scene->ground && d.y != 0) {
        double t = (scene->ground_height - o.y) / d.y;
        if (t > 1e-5) best = t, *which = -1;
    }
    for (int i = 0; i < scene->count; i++) {
        const rayt_sphere *s = &scene->spheres[i];
        vec f = add(o, -1, v3(s->x, s->y, s->z));
        double b = dot(f, d), c = dot(f, f) - (double)s->radius * s->radius, q = b * b - c;
        if (q <= 0) continue;
        double t = -b - sqrt(q);
        if (t < 1e-5) t = -b + sqrt(q);
        if (t > 1e-5 && t < best) best = t, *which = i;
    }
    return best;
}

static vec lit(const rayt_scene *scene, vec p, vec n)
{
    vec sum = v3(0, 0, 0);
    int which;
    for (int l = -1; l < scene->light_count; l++) {
        const rayt_light *light = l < 0 ? &scene->sun : &scene->lights[l];
        vec to = v3(light->x, light->y, light->z);
        if (l >= 0) to = add(to, -1, p);
        double far2 = dot(to, to);
        to = unit(to);
        if (!(dot(to, n) > 0)) continue;
        double t = reference_hit(scene, p, to, &which);
        if (which != -2 && (l < 0 || t * t < far2)) continue;
        sum = add(sum, dot(to, n) / (l < 0 ? 1 : far2), v3(light->r, light->g, light->b));
    }
    return sum;
}

static vec reference_path(const rayt_scene *scene, const unsigned *seed, unsigned key, int depth,
                          vec o, vec d)
{
    vec weight = v3(1, 1, 1), sum = v3(0, 0, 0);
    for (int rays = 1; rays <= depth; rays++) {
        int which;
        double t = reference_hit(scene, o, d, &which);
        if (which == -2) {
            double up = 0.5 * (d.y + 1);
            vec sky =
                add(add(v3(0, 0, 0), 1 - up, from(scene->sky_bottom)), up, from(scene->sky_top));
            return add(sum, 1, product(weight, sky));
        }
        vec p = add(o, t, d), n = v3(0, 1, 0), colour;
        rayt_material m = {RAYT_MATT, 0, 0, 0};
        if (which == -1) {
            double cell = floor(p.x / scene->ground_square) + floor(p.z / scene->ground_square);
            colour = from(scene->ground_colours[fmod(cell, 2) != 0]);
            m = scene->ground_material;
        } else {
            const rayt_sphere *s = &scene->spheres[which];
            n = unit(add(p, -1, v3(s->x, s->y, s->z)));
            colour = v3(s->r, s->g, s->b);
            if (scene->materials) m = scene->materials[which];
        }
        int inside = dot(n, d) > 0;
        if (inside) n = add(v3(0, 0, 0), -1, n);
        weight = product(weight, colour);
        uint3 bits = rayt__hash(key, (unsigned)rays + 1, seed[1]);
        double c = -dot(n, d);
        vec mirrored = add(d, 2 * c, n);
        if (m.kind == RAYT_MIRROR) {
            d = add(mirrored, m.fuzz, anywhere(bits));
            if (!(dot(d, n) > 0)) return sum;
        } else if (m.kind == RAYT_GLASS) {
            double ratio = inside ? m.index : 1 / (double)m.index, sine = ratio * sqrt(1 - c * c);
            double base = pow((1 - ratio) / (1 + ratio), 2);
            if (sine >= 1 || base + (1 - base) * pow(1 - c, 5) > share(bits.z))
                d = mirrored;
            else /* across the normal by Snell's law, along it what is left */
                d = add(add(v3(0, 0, 0), ratio, add(d, c, n)), -sqrt(1 - sine * sine), n);
        } else {
            sum = add(sum, 1, product(weight, lit(scene, p, n)));
            if (m.kind != RAYT_DIFFUSE) return add(sum, 1, product(weight, from(scene->ambient)));
            d = add(n, 1, anywhere(bits));
        }
        d = unit(d);
        o = p;
    }
    return sum;
}

/* The byte of each component of a pixel, before it is rounded. (x, y): added to its place. */
static void reference_pixel(const rayt_scene *scene, const rayt_camera *camera,
                            const rayt_quality *quality, int width, int height, int column, int row,
                            double x, double y, double *bytes)
{
    rayt__trace_view view; /* for its seeds alone */
    memset(&view, 0, sizeof view);
    rayt__set_quality(&view, quality);
    vec forward = unit(add(from(camera->target), -1, from(camera->position)));
    vec right = unit(cross(forward, from(camera->up))), up = cross(right, forward),
        sum = v3(0, 0, 0);
    double unit_length = 2 * tan(camera->field_of_view * two_pi / 720) / height;
    for (int sample = 0; sample < quality->samples; sample++) {
        uint3 name = rayt__hash((unsigned)column + view.seed[0], (unsigned)row + view.seed[1],
                                (unsigned)sample);
        double px = column + 0.5 - 0.5 * width + x, py = row + 0.5 - 0.5 * height + y;
        if (quality->samples > 1) px += share(name.y) - 0.5, py += share(name.z) - 0.5;
        vec o = from(camera->position);
        vec d = add(add(forward, px * unit_length, right), -py * unit_length, up);
        if (camera->aperture > 0) {
            uint3 bits = rayt__hash(name.x, 1, view.seed[0]);
            double r = 0.5 * camera->aperture * sqrt(share(bits.y)),
                   a = two_pi * bits.x / 4294967296.0;
            vec sharp = add(o, camera->focus_distance, d);
            o = add(add(o, r * cos(a), right), r * sin(a), up);
            d = add(sharp, -1, o);
        }
        sum = add(sum, 1.0 / quality->samples,
                  reference_path(scene, view.seed, name.x, quality->depth, o, unit(d)));
    }
    const double all[3] = {sum.x, sum.y, sum.z};
    for (int c = 0; c < 3; c++) bytes[c] = 255 * pow(fmin(all[c], 1), 1 / (double)quality->gamma);
}

/* The CPU's image within `levels` of the reference; at edges, where a neighbouring place in the pixel
   has another value, within what lies between. At most `share_of` of the pixels may do neither: paths
   that meet an edge later on. */
static void is_as_reference(const char *name, const rayt_scene *scene, const rayt_camera *camera,
                            const rayt_quality *quality, int width, int height, double levels,
                            double share_of)
{
    unsigned char *image = cpu_image(scene, camera, quality, width, height);
    int wrong = 0, shown = 0;
    for (int p = 0; p < width * height; p++) {
        double low[3], high[3], bytes[3];
        int fits = 0;
        for (int place = 0; place < 5 && !fits; place++) { /* itself, then places beside it */
            double x = place % 2 ? 1e-3 : -1e-3, y = place > 2 ? 1e-3 : -1e-3;
            reference_pixel(scene, camera, quality, width, height, p % width, p / width,
                            place ? x : 0, place ? y : 0, bytes);
            fits = 1;
            for (int c = 0; c < 3; c++) {
                low[c] = place ? fmin(low[c], bytes[c]) : bytes[c];
                high[c] = place ? fmax(high[c], bytes[c]) : bytes[c];
                fits &= image[4 * p + c] >= low[c] - levels && image[4 * p + c] <= high[c] + levels;
            }
        }
        if (!fits && shown++ < 3)
            tap_note("pixel (%d, %d): %d %d %d, reference %.2f %.2f %.2f", p % width, p / width,
                     image[4 * p], image[4 * p + 1], image[4 * p + 2], bytes[0], bytes[1],
                     bytes[2]);
        wrong += !fits;
    }
    tap_ok(wrong <= share_of * width * height, "%s: %d of %d pixels are not those of the reference",
           name, wrong, width * height);
    free(image);
}

static void reference(void)
{
    rayt_quality quality = plain_quality(1, 1);
    rayt_camera camera = {{1, 2, 9}, {0.5f, 0, 0}, {0.1f, 1, 0}, 35, 0, 0};
    rayt_scene scene = random_scene(30);
    scene.ground_material.kind = RAYT_MATT;
    scene.materials = NULL;
    is_as_reference("matt, sun, lights, shadows, ground", &scene, &camera, &quality, 80, 60, 0.51,
                    0.001);
    quality.gamma = 2;
    is_as_reference("the same with gamma 2", &scene, &camera, &quality, 40, 30, 0.55, 0.001);
    quality = plain_quality(1, 3);
    scene = random_scene(30);
    for (int i = 0; i < 30; i++)
        materials[i].kind = i % 3 ? RAYT_MATT : RAYT_MIRROR, materials[i].fuzz = 0;
    scene.ground_material.kind = RAYT_MIRROR;
    is_as_reference("mirrors", &scene, &camera, &quality, 80, 60, 0.55, 0.005);
    quality = plain_quality(1, 4);
    for (int i = 0; i < 30; i++) materials[i].kind = i % 2 ? RAYT_GLASS : RAYT_DIFFUSE;
    is_as_reference("glass and diffuse", &scene, &camera, &quality, 80, 60, 0.6, 0.005);
    scene = random_scene(30);
    quality = plain_quality(3, 3);
    quality.seed = 77;
    quality.gamma = 2.2f;
    camera.aperture = 0.2f, camera.focus_distance = 8;
    is_as_reference("all materials, a lens, samples, gamma 2.2", &scene, &camera, &quality, 60, 45,
                    0.6, 0.005);
}

/* ---- known cases --------------------------------------------------------------------------------- */
/* Pixels whose red is not `level`. */
static int others(const unsigned char *image, int pixels, int level)
{
    int count = 0;
    for (int p = 0; p < pixels; p++) count += image[4 * p] != level;
    return count;
}

/* In a white sky whatever reflects all light is white: no light is lost or made. A path that met its
   own surface again would end black at this depth. */
static void furnaces(void)
{
    static const char *const names[] = {"matt", "diffuse", "mirror", "satin", "glass"};
    static const float scales[] = {1e-4f, 1, 1e3f, 1e6f, 1e12f};
    for (int kind = 0; kind < 5; kind++)
        for (int n = 0; n < 5; n++) {
            float s = scales[n];
            put(0, s, -2 * s, 0.5f * s, 3 * s, 1, kind < 3 ? kind : kind - 1);
            materials[0].fuzz = kind == 3 ? 0.3f : 0;
            rayt_scene scene = plain_scene(1);
            rayt_camera camera = plain_camera();
            camera.position[2] = 10 * s;
            rayt_quality quality = plain_quality(4, kind == 4 ? 200 : 2);
            if (kind == 0) scene.ambient[0] = scene.ambient[1] = scene.ambient[2] = 1;
            unsigned char *image = cpu_image(&scene, &camera, &quality, 50, 40);
            /* a satin mirror swallows what would go into it */
            int dark = others(image, 2000, 255), most = kind == 3 ? 600 : 0;
            tap_ok(dark <= most, "a white %s sphere of radius %g is white: %d pixels are not",
                   names[kind], 3.0 * (double)s, dark);
            free(image);
        }
    put(0, 0, 0, 0, 5, 0.5f, RAYT_DIFFUSE);
    rayt_scene scene = plain_scene(1);
    rayt_camera camera = plain_camera();
    rayt_quality quality = plain_quality(4, 2);
    unsigned char *image = cpu_image(&scene, &camera, &quality, 30, 30);
    tap_ok(others(image, 900, 128) == 0, "a grey one that fills the picture is half as bright");
    free(image);
    quality.depth = 1;
    image = cpu_image(&scene, &camera, &quality, 30, 30);
    tap_ok(others(image, 900, 0) == 0, "and black where a path has one ray");
    free(image);
}

/* One surface of glass, seen at all angles. */
static void snell(void)
{
    int wrong = 0, rays = 0;
    double excess = 0;
    for (int n = 1; n < 90; n++)
        for (int inside = 0; inside < 2; inside++) {
            double a = n * two_pi / 360, index = 1.5, ratio = inside ? index : 1 / index;
            double sine = ratio * sin(a), base = pow((1 - ratio) / (1 + ratio), 2);
            double reflected = sine >= 1 ? 1 : base + (1 - base) * pow(1 - cos(a), 5), seen = 0;
            rayt__surface met;
            memset(&met, 0, sizeof met);
            met.material.kind = RAYT_GLASS;
            met.material.index = (float)index;
            met.inside = inside != 0;
            met.normal = make_float3(0, 1, 0);
            for (unsigned k = 0; k < 400; k++) {
                float3 d, along = make_float3((float)sin(a), (float)-cos(a), 0);
                rayt__bend(&met, along, rayt__hash(k, (unsigned)n, 3), &d);
                double y = d.y > 0 ? cos(a) : -sqrt(1 - sine * sine);
                double x = d.y > 0 ? sin(a) : sine;
                wrong += !(fabs(d.x - x) < 1e-5 && fabs(d.y - y) < 2e-4 && d.z == 0);
                seen += d.y > 0;
                rays++;
            }
            excess = fmax(excess, fabs(seen / 400 - reflected) / sqrt(0.25 / 400));
        }
    tap_ok(wrong == 0, "Snell's law: %d of %d rays go another way", wrong, rays);
    static const float none[] = {-1.5f, -1, -0.5f, -0.0f, 0, -1e-40f, -INFINITY, NAN};
    for (int n = wrong = 0; n < 8 * 400; n++) {
        rayt__surface met;
        float3 d;
        memset(&met, 0, sizeof met);
        met.material.kind = RAYT_GLASS;
        met.material.index = none[n % 8];
        met.inside = n / 8 % 2 != 0;
        met.normal = make_float3(0, 1, 0);
        rayt__bend(&met, make_float3(0.6f, -0.8f, 0), rayt__hash((unsigned)n, 1, 3), &d);
        wrong += !(fabsf(d.x - 0.6f) < 1e-6f && fabsf(d.y - 0.8f) < 1e-6f && d.z == 0);
    }
    tap_ok(wrong == 0, "an index that is none reflects: %d rays go another way", wrong);
    tap_ok(excess < 4.5, "Schlick's part is reflected: within %.1f standard deviations", excess);
}

static void random_vectors(void)
{
    double worst = 0, sum[3] = {0, 0, 0}, square[3] = {0, 0, 0}, length = 0;
    enum { DRAWS = 20000 };
    for (unsigned n = 0; n < DRAWS; n++) {
        uint3 bits = rayt__hash(n, 5, 9);
        float c, s;
        rayt__turn(bits.z, &c, &s);
        double a = two_pi * bits.z / 4294967296.0;
        worst = fmax(worst, fmax(fabs(c - cos(a)), fabs(s - sin(a))));
        float3 v = rayt__on_sphere(bits.x, bits.y);
        const double all[3] = {v.x, v.y, v.z};
        for (int i = 0; i < 3; i++) sum[i] += all[i], square[i] += all[i] * all[i];
        length = fmax(length, fabs(sqrt(all[0] * all[0] + all[1] * all[1] + all[2] * all[2]) - 1));
    }
    tap_ok(worst < 1.5e-7, "cosine and sine: within %.2g", worst);
    double off = 0;
    for (int i = 0; i < 3; i++)
        off = fmax(off, fmax(fabs(sum[i] / DRAWS) / sqrt(1.0 / 3 / DRAWS),
                             fabs(square[i] / DRAWS - 1.0 / 3) / sqrt(4.0 / 45 / DRAWS)));
    tap_ok(length < 4e-7 && off < 4,
           "points of the sphere: of length 1, mean and spread within %.1f "
           "standard deviations",
           off);
}

/* Parallel rays, matt spheres, the sun behind the viewer: the picture of rayt_render, whose y axis
   points down. It takes the whole part of a byte, rayt_trace the nearest. */
static void parallel(void)
{
    enum { W = 90, H = 70, N = 60 };
    static unsigned char old[W * H * 4];
    rayt_random_scene(spheres, N, tap_bits(), W, H, 3, 20);
    if (rayt_render_cpu(spheres, N, old, W, H) != RAYT_OK) tap_ok(0, "%s", rayt_last_error());
    rayt_scene scene;
    memset(&scene, 0, sizeof scene);
    for (int i = 0; i < N; i++) spheres[i].y = -spheres[i].y;
    scene.spheres = spheres;
    scene.count = N;
    scene.sun.z = 2;
    scene.sun.r = scene.sun.g = scene.sun.b = 1;
    rayt_camera camera = {{0, 0, 200}, {0, 0, 0}, {0, 1, 0}, 0, 0, 0};
    rayt_quality quality = plain_quality(1, 1);
    unsigned char *image = cpu_image(&scene, &camera, &quality, W, H);
    int off = 0, far_off = 0;
    for (int n = 0; n < W * H * 4; n++) {
        int more = image[n] - old[n];
        off += more < 0 || more > 1;
        far_off += more < -2 || more > 3;
    }
    tap_ok(
        off <= W * H * 4 / 200 && far_off <= 12,
        "parallel rays draw what rayt_render draws: %d bytes are not one less or equal, %d far off",
        off, far_off);
    free(image);
}

/* A camera so far away that a float cannot tell the front of a sphere from its back: parallel rays see
   what they see from nearby, in every material. */
static void far_away(void)
{
    enum { W = 60, H = 40 };
    for (int kind = 0; kind < RAYT_KIND_COUNT; kind++) {
        for (int i = 0; i < 6; i++) {
            float x = 20 * (float)(i % 3 - 1), y = 20 * (float)(i / 3) - 10;
            put(i, x, y, within(-5, 5), within(5, 9), within(0.4f, 1), kind);
        }
        rayt_scene scene = plain_scene(6);
        scene.sky_bottom[0] = 0.2f, scene.sky_top[1] = 0.1f;
        scene.sun.x = 1, scene.sun.y = 2, scene.sun.z = 2, scene.sun.r = scene.sun.g = 0.8f;
        rayt_camera camera = {{0, 0, 100}, {0, 0, 0}, {0, 1, 0}, 0, 0, 0};
        rayt_quality quality = plain_quality(1, 6);
        unsigned char *near = cpu_image(&scene, &camera, &quality, W, H);
        for (int k = 0; k < 2; k++) {
            camera.position[2] = k ? 1e9f : 1e6f;
            unsigned char *far = cpu_image(&scene, &camera, &quality, W, H);
            int off = 0;
            for (int n = 0; n < W * H * 4; n++) off += abs(near[n] - far[n]) > 2;
            /* a ray in glass is reflected or not by chance, which a last place may decide */
            tap_ok(off <= W * H * 4 / 200, "material %d from %g away: %d bytes are others", kind,
                   (double)camera.position[2], off);
            free(far);
        }
        free(near);
    }
}

static void tones(void)
{
    static const float gammas[] = {1, 2, 2.2f, 0.45f, 0.1f, 10, 1.8f};
    enum { N = sizeof gammas / sizeof *gammas };
    rayt_scene scene = plain_scene(0);
    rayt_camera camera = plain_camera();
    for (int g = 0; g < N; g++) {
        int wrong = 0;
        for (int n = 0; n < 300; n++) {
            unsigned char pixel[4] = {7, 7, 7, 7};
            float level = n < 10 ? 0.15f * (float)n : within(0, 1);
            for (int c = 0; c < 3; c++) scene.sky_bottom[c] = scene.sky_top[c] = level;
            rayt_quality quality = plain_quality(1 + n % 5, 1);
            quality.gamma = gammas[g];
            if (rayt_trace_cpu(&scene, &camera, &quality, pixel, 1, 1) != RAYT_OK) wrong++;
            /* samples are whole numbers of 2^-20 */
            double low = 255 * pow(fmax(fmin(level, 1) - 2e-6, 0), 1 / (double)gammas[g]);
            double high = 255 * pow(fmin(level + 2e-6, 1), 1 / (double)gammas[g]);
            wrong += pixel[0] < floor(low + 0.4999) || pixel[0] > floor(high + 0.5001) ||
                     pixel[3] != 255;
        }
        tap_ok(wrong == 0, "gamma %g: %d bytes are not the nearest", (double)gammas[g], wrong);
    }
    unsigned char pixel[4];
    rayt_quality most = plain_quality(65536, 1);
    for (int c = 0; c < 3; c++) scene.sky_bottom[c] = scene.sky_top[c] = 0.25f * (float)(c + 1);
    scene.sky_bottom[2] = scene.sky_top[2] = 1e6f;
    rayt_status status = rayt_trace_cpu(&scene, &camera, &most, pixel, 1, 1);
    tap_ok(status == RAYT_OK && pixel[0] == 64 && pixel[1] == 128 && pixel[2] == 255,
           "65536 samples, one component far too bright: %d %d %d", pixel[0], pixel[1], pixel[2]);
}

static void seeds(void)
{
    rayt_scene scene = random_scene(30);
    rayt_camera camera = plain_camera();
    rayt_quality quality = plain_quality(2, 6), other = quality;
    other.seed = 2;
    unsigned char *a = cpu_image(&scene, &camera, &quality, 60, 40);
    unsigned char *b = cpu_image(&scene, &camera, &quality, 60, 40);
    unsigned char *c = cpu_image(&scene, &camera, &other, 60, 40);
    double difference = 0, spread = 0;
    int changed = 0;
    for (int n = 0; n < 60 * 40 * 4; n++) {
        double step = a[n] - c[n];
        difference += step;
        spread += step * step;
        changed += a[n] != c[n];
    }
    tap_ok(memcmp(a, b, 60 * 40 * 4) == 0, "a seed gives the same bytes again");
    tap_ok(changed > 2000 && fabs(difference) < 4.5 * sqrt(spread),
           "another one gives others, as bright on the whole: %d bytes", changed);
    free(a);
    free(b);
    free(c);
}

/* ---- several threads at once; the host layer ----------------------------------------------------- */
typedef struct caller {
    const rayt_scene *scene;
    rayt_where where; /* RAYT_WHERE_COUNT: the CPU */
    unsigned char image[70 * 50 * 4];
    rayt_status status;
    int reported;
} caller;

static void report(int done, int rows, void *context)
{
    caller *c = (caller *)context;
    c->reported = done <= rows && done > c->reported ? done : -1;
}

static void *call(void *argument)
{
    caller *c = (caller *)argument;
    rayt_camera camera = plain_camera();
    rayt_quality quality = plain_quality(2, 5);
    c->reported = 0;
    memset(c->image, 7, sizeof c->image);
    if (c->where == RAYT_WHERE_COUNT) {
        c->status = rayt_trace_cpu(c->scene, &camera, &quality, c->image, 70, 50);
        c->reported = 50;
    } else {
        c->status =
            rayt_trace_host(c->where, c->scene, &camera, &quality, c->image, 70, 50, report, c);
    }
    return NULL;
}

/* The table of constants is the file's. Each thread has a scene of its own, the stream is one. */
typedef struct drawer {
    rayt_sphere spheres[3];
    int count, wrong; /* images that differ from that of the CPU */
} drawer;

static void *draw(void *argument)
{
    drawer *d = (drawer *)argument;
    rayt_scene scene = plain_scene(d->count);
    const rayt_camera camera = plain_camera();
    const rayt_quality quality = plain_quality(1, 1);
    unsigned char image[256], right[2][256];
    scene.spheres = d->spheres, scene.materials = NULL;
    d->wrong = rayt_render_cpu(d->spheres, d->count, right[0], 8, 8) != RAYT_OK ||
               rayt_trace_cpu(&scene, &camera, &quality, right[1], 8, 8) != RAYT_OK;
    for (int n = 0; n < 1000; n++) {
        const int traced = n % 2;
        memset(image, 7, sizeof image);
        const rayt_status status =
            traced
                ? rayt_trace_host(RAYT_CONSTANT, &scene, &camera, &quality, image, 8, 8, NULL, NULL)
                : rayt_render_host(RAYT_CONSTANT, d->spheres, d->count, image, 8, 8, NULL, NULL);
        d->wrong += status != RAYT_OK || memcmp(image, right[traced], sizeof image) != 0;
    }
    return NULL;
}

static void drawers(void)
{
    static drawer all[4];
    pthread_t threads[4];
    int started = 0, wrong = 0;
    for (int n = 0; n < 4; n++) {
        const rayt_sphere one = {1 + 0.5f * (float)n, 1, 2, 1.5f, 0.2f * (float)n, 0.5f, 1};
        all[n].count = n % 3 + 1; /* the same sphere so many times */
        for (int i = 0; i < 3; i++) all[n].spheres[i] = one;
    }
    while (started < 4 && pthread_create(&threads[started], NULL, draw, &all[started]) == 0)
        started++;
    for (int n = 0; n < started; n++) pthread_join(threads[n], NULL), wrong += all[n].wrong;
    tap_ok(started == 4 && wrong == 0,
           "four threads at once, RAYT_CONSTANT: %d of 4000 images differ", wrong);
}

static void callers(void)
{
    static caller all[6]; /* one table of constants: one of them may use it */
    static const rayt_where ways[6] = {RAYT_WHERE_COUNT, RAYT_GLOBAL, RAYT_SHARED,
                                       RAYT_CONSTANT,    RAYT_TREE,   RAYT_WHERE_COUNT};
    pthread_t threads[6];
    rayt_scene scene = random_scene(50);
    int good = 1;
    for (int n = 0; n < 6; n++) {
        all[n].scene = &scene;
        all[n].where = ways[n];
        good &= pthread_create(&threads[n], NULL, call, &all[n]) == 0;
    }
    for (int n = 0; n < 6; n++) pthread_join(threads[n], NULL);
    for (int n = 0; n < 6; n++)
        good &= all[n].status == RAYT_OK && all[n].reported == 50 &&
                memcmp(all[n].image, all[0].image, sizeof all[0].image) == 0;
    tap_ok(good, "six threads at once, rayt_trace_host and rayt_trace_cpu: the same bytes");
#ifdef __CUCC__
    rayt_camera camera = plain_camera();
    rayt_quality quality = plain_quality(1, 2);
    static const char *const plans[] = {"malloc:1", "malloc:2", "malloc:3", "copy:1", "launch:1"};
    for (int n = 0; n < 5; n++) {
        setenv("CUCC_FAIL", "device:1000000", 1);
        cudaSetDevice(0);
        setenv("CUCC_FAIL", plans[n], 1);
        rayt_status status = rayt_trace_host(RAYT_GLOBAL, &scene, &camera, &quality, all[0].image,
                                             70, 50, NULL, NULL);
        tap_ok(status == (n < 3 ? RAYT_ERROR_MEMORY : RAYT_ERROR_CUDA) &&
                   cudaPeekAtLastError() == cudaSuccess,
               "%s: %s", plans[n], rayt_last_error());
    }
    setenv("CUCC_FAIL", "", 1);
#endif
}

/* ---- what is refused ----------------------------------------------------------------------------- */
static rayt_scene good_scene, s;
static rayt_camera good_camera, c;
static rayt_quality good_quality, q;

/* Every function refuses scene s, camera c and quality q, with a sentence that names the culprit. */
static void refused(const char *culprit)
{
    static unsigned char image[64];
    int good = 1;
    for (int way = 0; way < 3; way++) {
        rayt_status status =
            way == 0   ? rayt_trace_cpu(&s, &c, &q, image, 4, 4)
            : way == 1 ? rayt_trace(RAYT_SHARED, &s, &c, &q, image, 4, 4, 0)
                       : rayt_trace_host(RAYT_GLOBAL, &s, &c, &q, image, 4, 4, NULL, NULL);
        good &= status == RAYT_ERROR_ARGUMENT && strstr(rayt_last_error(), culprit);
    }
    tap_ok(good, "%s: %s", culprit, rayt_last_error());
    s = good_scene, c = good_camera, q = good_quality;
}

static void refusals(void)
{
    static unsigned char image[64];
    const rayt_status bad = RAYT_ERROR_ARGUMENT;
    good_scene = s = random_scene(3);
    good_camera = c = plain_camera();
    good_quality = q = plain_quality(1, 1);
    c.target[2] = 10, refused("target");
    c.position[0] = NAN, refused("position");
    c.position[1] = INFINITY, refused("position");
    c.target[0] = 2e18f, refused("target");
    c.up[0] = 0, c.up[1] = 0, refused("up is 0");
    c.up[1] = NAN, refused("up");
    c.up[1] = 0, c.up[2] = -7, refused("up is parallel");
    c.up[1] = 1e-6f, c.up[2] = 1, refused("up is parallel");
    c.field_of_view = -1, refused("field_of_view");
    c.field_of_view = 179.5f, refused("field_of_view");
    c.field_of_view = 1e-3f, refused("field_of_view");
    c.field_of_view = NAN, refused("field_of_view");
    c.aperture = -1, refused("aperture");
    c.aperture = NAN, refused("aperture");
    c.aperture = 1, refused("focus_distance");
    c.aperture = 1, c.focus_distance = NAN, refused("focus_distance");
    q.samples = 0, refused("samples is 0");
    q.samples = 65537, refused("samples is 65537");
    q.depth = 0, refused("depth is 0");
    q.depth = 1001, refused("depth is 1001");
    q.gamma = 0, refused("gamma");
    q.gamma = NAN, refused("gamma");
    s.spheres = NULL, refused("spheres is NULL");
    s.count = -1, refused("count");
    s.materials = (const rayt_material *)((const char *)materials + 4), refused("materials");
    s.light_count = 5, refused("light_count");
    s.lights[1].x = NAN, refused("lights[1]");
    s.lights[0].g = -1, refused("lights[0]");
    s.sun.y = NAN, refused("sun");
    s.sun.r = INFINITY, refused("sun");
    s.sun.x = s.sun.y = s.sun.z = 0, refused("sun");
    s.sky_bottom[1] = -0.5f, refused("sky_bottom");
    s.sky_top[2] = NAN, refused("sky_top");
    s.ambient[0] = 1e7f, refused("ambient");
    s.ground_height = NAN, refused("ground_height");
    s.ground_square = -1, refused("ground_square");
    s.ground_colours[1][2] = 1.5f, refused("ground_colours[1]");
    int good = rayt_trace(RAYT_GLOBAL, NULL, &c, &q, image, 4, 4, 0) == bad &&
               strstr(rayt_last_error(), "scene is NULL") &&
               rayt_trace(RAYT_GLOBAL, &s, NULL, &q, image, 4, 4, 0) == bad &&
               strstr(rayt_last_error(), "camera is NULL") &&
               rayt_trace_cpu(&s, &c, NULL, image, 4, 4) == bad &&
               strstr(rayt_last_error(), "quality is NULL") &&
               rayt_trace_cpu(&s, &c, &q, NULL, 4, 4) == bad &&
               strstr(rayt_last_error(), "image is NULL");
    tap_ok(good, "null pointers");
    good = rayt_trace_cpu(&s, &c, &q, image, -1, 4) == bad && strstr(rayt_last_error(), "width") &&
           rayt_trace_cpu(&s, &c, &q, image, 4, 1 << 25) == bad &&
           strstr(rayt_last_error(), "height") &&
           rayt_trace(RAYT_GLOBAL, &s, &c, &q, image + 1, 4, 4, 0) == bad &&
           strstr(rayt_last_error(), "aligned");
    tap_ok(good, "sizes and alignment");
    good = rayt_trace(RAYT_CULLED, &s, &c, &q, image, 4, 4, 0) == bad &&
           strstr(rayt_last_error(), "RAYT_CULLED") &&
           rayt_trace((rayt_where)99, &s, &c, &q, image, 4, 4, 0) == bad &&
           strstr(rayt_last_error(), "where is 99") &&
           rayt_render(RAYT_TREE, NULL, 0, image, 4, 4, 0) == bad &&
           strstr(rayt_last_error(), "RAYT_TREE") &&
           strcmp(rayt_where_string(RAYT_TREE), "tree") == 0;
    tap_ok(good, "kinds of memory that a function does not have: %s", rayt_last_error());
    static rayt_tree there, here, none;
    void *device = NULL;
    good = cudaMalloc(&device, sizeof spheres) == cudaSuccess &&
           cudaMemcpy(device, spheres, sizeof spheres, cudaMemcpyHostToDevice) == cudaSuccess &&
           rayt_build(&there, (const rayt_sphere *)device, 3, 0) == RAYT_OK &&
           rayt_build_host(&here, spheres, 3) == RAYT_OK;
    tap_ok(good && rayt_trace(RAYT_TREE, &s, &c, &q, image, 4, 4, 0) == bad, "no tree: %s",
           rayt_last_error());
    s.tree = &none;
    tap_ok(rayt_trace(RAYT_TREE, &s, &c, &q, image, 4, 4, 0) == bad &&
               rayt_trace_cpu(&s, &c, &q, image, 4, 4) == bad,
           "an empty tree: %s", rayt_last_error());
    s.tree = &here;
    tap_ok(rayt_trace(RAYT_TREE, &s, &c, &q, image, 4, 4, 0) == bad, "a tree of the host: %s",
           rayt_last_error());
    s.tree = &there;
    tap_ok(rayt_trace_cpu(&s, &c, &q, image, 4, 4) == bad, "a tree of the device: %s",
           rayt_last_error());
    s.count = 2;
    tap_ok(rayt_trace(RAYT_TREE, &s, &c, &q, image, 4, 4, 0) == bad, "a tree of another count: %s",
           rayt_last_error());
    s = good_scene;
    rayt_tree_free(&there);
    rayt_tree_free(&here);
    cudaFree(device);
    good = rayt_trace_cpu(&s, &c, &q, NULL, 0, 4) == RAYT_OK &&
           rayt_trace(RAYT_SHARED, &s, &c, &q, NULL, 4, 0, 0) == RAYT_OK &&
           rayt_trace_host(RAYT_SHARED, &s, &c, &q, NULL, 0, 0, NULL, NULL) == RAYT_OK;
    tap_ok(good, "an image of no pixels does nothing");
}

int main(void)
{
    tap_seed(20261127);
    kinds_of_memory();
    hostile();
    reference();
    furnaces();
    snell();
    random_vectors();
    parallel();
    far_away();
    tones();
    seeds();
    callers();
    drawers();
    refusals();
    return tap_done();
}
