/* raytrace.cuh with RAYT_WITH_TRACE: rays at any angle and the tree. Every ray gets the bits that a
   loop over all spheres gives, from the tree of the device and from that of the host, on random and
   on hostile scenes; and that loop gives what double precision says. An argument "few", for sanitizers:
   fewer scenes, of each way that a build and a question can go. */
#define RAYT_WITH_TRACE
#include "tap.h"
#define RAYT__ROUND 64 /* few rays make several rounds of a block, too */
#include "../raytrace.cuh"
#include <pthread.h>

enum { GUARD = 16, RAYS = 512, BALLS = 128, CAPACITY = 5 };
static bool only_few;

static float uniform(void)
{
    return (float)tap_uniform();
}
static int below(int n)
{
    return (int)(tap_bits() % (unsigned long long)n);
}
static void must(rayt_status status, const char *what)
{
    if (status != RAYT_OK) tap_ok(0, "%s: %s", what, rayt_last_error());
}
static void must_cuda(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) tap_ok(0, "%s: %s", what, cudaGetErrorString(error));
}

/* ---- memory of the device, with a guard before and after it ---- */
static char *to_device(const void *host, size_t bytes)
{
    char *memory = NULL;
    must_cuda(cudaMalloc((void **)&memory, bytes + 2 * GUARD), "cudaMalloc");
    must_cuda(cudaMemset(memory, 0xA5, bytes + 2 * GUARD), "cudaMemset");
    if (host && bytes)
        must_cuda(cudaMemcpy(memory + GUARD, host, bytes, cudaMemcpyHostToDevice), "copy");
    return memory + GUARD;
}
/* Copies back, frees, and says whether the guards are as they were. */
static int from_device(void *host, char *memory, size_t bytes)
{
    unsigned char *all = (unsigned char *)malloc(bytes + 2 * GUARD);
    must_cuda(cudaMemcpy(all, memory - GUARD, bytes + 2 * GUARD, cudaMemcpyDeviceToHost), "copy");
    int whole = 1;
    for (int n = 0; n < GUARD; n++) whole &= all[n] == 0xA5 && all[GUARD + bytes + n] == 0xA5;
    if (host) memcpy(host, all + GUARD, bytes);
    free(all);
    cudaFree(memory - GUARD);
    return whole;
}

/* ---- what must come out ---- */
static float4 ball_of(rayt_sphere s)
{
    return make_float4(s.x, s.y, s.z, s.radius);
}
static rayt_found loop(const rayt_sphere *s, int count, rayt_ray ray)
{
    rayt_unit_ray unit = rayt_ready(ray);
    rayt_found best = {-1, 0};
    float t, nearest = unit.t_max;
    for (int i = 0; i < count; i++)
        if (rayt_hit(unit, ball_of(s[i]), &t) && rayt_before(t, i, nearest, best.index)) {
            nearest = best.t = t;
            best.index = i;
        }
    return best;
}
static int loop_within(const rayt_sphere *s, int count, rayt_ball ball, int *list)
{
    float4 point = make_float4(rayt_not_tiny(ball.x), rayt_not_tiny(ball.y), rayt_not_tiny(ball.z),
                               ball.radius);
    int many = 0;
    for (int k = 0; k < CAPACITY; k++) list[k] = -7;
    for (int i = 0; i < count && rayt_place(point); i++)
        if (rayt_within(point, ball_of(s[i])) && many++ < CAPACITY) list[many - 1] = i;
    return many;
}

/* ---- scenes ---- */
typedef enum scene_kind {
    RANDOM,
    CROWDED,
    COINCIDENT,
    NESTED,
    TANGENT,
    HUGE_AND_TINY,
    ONE_POINT,
    BROKEN,
    LINE,
    FAR,
    CHAIN,
    NOTHING_VALID,
    SCENES
} scene_kind;
static const char *const scene_names[] = {"random",    "crowded", "coincident",
                                          "nested",    "tangent", "huge and tiny",
                                          "one point", "broken",  "on a line",
                                          "far",       "chain",   "nothing valid"};

static rayt_sphere sphere_of(scene_kind kind, int i)
{
    static const float broken[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e-7f, 2e18f, 1e19f, -1e30f};
    rayt_sphere s = {uniform(), uniform(), uniform(), 0.001f + 0.05f * fabsf(uniform()), 1, 1, 1};
    float scale = exp2f(39.5f * uniform() + 19.5f); /* 2^-20 .. 2^59 */
    switch (kind) {
    case CROWDED: s.radius = 0.5f + 0.4f * uniform(); break;
    case COINCIDENT: s.x = 0.25f, s.y = -0.5f, s.z = 0.75f, s.radius = 0.5f; break;
    case NESTED: s.x = s.y = s.z = 0, s.radius = (float)(1 + below(20)) / 16; break;
    case TANGENT: /* unit cubes, and some of the edge of which two share a plane */
        s.x = (float)(i % 7), s.y = (float)(i / 7 % 7), s.z = (float)(i / 49);
        s.radius = i % 5 ? 0.5f : 1;
        break;
    case HUGE_AND_TINY:
        s.x *= scale, s.y *= scale, s.z *= scale;
        s.radius = fminf(1e18f, fmaxf(RAYT_MIN_RADIUS, scale * exp2f(4 * uniform() - 2)));
        break;
    case ONE_POINT:
        s.x = s.y = s.z = 1;
        s.radius = i % 2 ? RAYT_MIN_RADIUS * (1 + 0.1f * uniform()) : 0.1f;
        break;
    case BROKEN:
        if (i % 3) ((float *)&s)[below(4)] = broken[below(9)];
        break;
    case LINE: s.y = s.z = 0, s.x *= 100; break;
    case FAR:
        s.x = 1e7f + 10 * s.x, s.y = 1e7f + 10 * s.y, s.z = -3e7f + 10 * s.z, s.radius *= 40;
        break;
    case CHAIN: /* each is as far from the rest as the rest is wide; then many at 0 */
        s.x = i % 3 == 0 && i < 48 ? exp2f((float)(12 - i / 3)) : 0;
        s.y = i % 3 == 1 && i < 48 ? exp2f((float)(12 - i / 3)) : 0;
        s.z = i % 3 == 2 && i < 48 ? exp2f((float)(12 - i / 3)) : 0;
        s.radius = 1.1e-6f * (1 + fabsf(uniform()));
        break;
    case NOTHING_VALID: s.radius = broken[below(6)]; break;
    default: break;
    }
    return s;
}

/* ---- rays at a scene ---- */
/* A point of a sphere that is interesting: inside, on the surface, at a corner or edge of its box. */
static void aim(const rayt_sphere *s, int count, float *p)
{
    rayt_sphere at = {0, 0, 0, 1, 0, 0, 0};
    if (count > 0) at = s[below(count)];
    int how = below(5);
    for (int k = 0; k < 3; k++) {
        float c = (&at.x)[k];
        p[k] = how == 0   ? c
               : how == 1 ? c + at.radius * (float)(below(3) - 1)
               : how == 2 ? c + at.radius * 1.01f * uniform()
               : how == 3 ? (below(2) ? rayt_high(c, at.radius) : rayt_low(c, at.radius))
                          : c + 3 * at.radius * uniform();
    }
}
static rayt_ray ray_at(const rayt_sphere *s, int count)
{
    static const float odd[] = {0, -0.0f, NAN, INFINITY, 1e-30f, 1e30f, 1e18f, -1e-18f, 1e-44f};
    float from[3], to[3], d[3], scale = exp2f(58 * uniform());
    rayt_ray ray;
    aim(s, count, from);
    aim(s, count, to);
    int how = below(8);
    if (how == 7)
        scale = exp2f(29 + 9 * uniform()); /* a step of a node is about half a last place */
    for (int k = 0; k < 3; k++) {
        if (how == 0) from[k] *= 1000;
        if (how == 1) from[k] = uniform() * 1e17f;
        d[k] = to[k] - from[k];
    }
    if (how == 2 || how == 3 ||
        how == 7) { /* along an axis, through an interesting point, either way */
        int axis = below(3);
        for (int k = 0; k < 3; k++) {
            d[k] = k == axis ? (below(2) ? 1.0f : -1.0f) : below(2) ? 0.0f : -0.0f;
            if (how != 2) from[k] = k == axis ? to[k] - d[k] * scale : to[k];
        }
    }
    if (how == 4) d[below(3)] = 0;
    if (how == 5 && below(4) == 0) d[below(3)] = odd[below(9)];
    if (how == 5 && below(8) == 0) from[below(3)] = odd[below(9)];
    if (how == 5 && below(8) == 0) d[0] = d[1] = d[2] = odd[below(9)];
    if (how == 6)
        for (int k = 0; k < 3; k++) d[k] = d[k] * scale;
    ray.x = from[0], ray.y = from[1], ray.z = from[2];
    ray.dx = d[0], ray.dy = d[1], ray.dz = d[2];
    ray.t_min = 0;
    ray.t_max = INFINITY;
    if (below(4) == 0) { /* limits at, just before and just after a hit */
        rayt_found hit = loop(s, count, ray);
        float limit = hit.index < 0 ? fabsf(scale)
                      : below(3)    ? hit.t
                                    : nextafterf(hit.t, uniform());
        if (below(2)) {
            ray.t_min = limit;
        } else {
            ray.t_max = limit;
        }
    }
    if (below(60) == 0) ray.t_min = odd[below(9)];
    if (below(60) == 0) ray.t_max = odd[below(9)];
    return ray;
}

/* ---- the tree itself ---- */
typedef struct tally {
    int *seen, deepest, faults;
    unsigned long long bits; /* of all nodes and indices, and where they lie */
    const rayt_sphere *spheres;
    int count;
    const uint4
        *there; /* nodes on the device, or NULL; they are copied one by one: between nodes are
                           gaps that nobody has written */
} tally;

static void mix(tally *all, unsigned word)
{
    all->bits = (all->bits ^ word) * 0x9E3779B97F4A7C15ull;
    all->bits ^= all->bits >> 29;
}

/* Is a sphere's own box inside of [low, high], in real numbers? */
static int inside(rayt_sphere s, const double *low, const double *high)
{
    int good = 1;
    for (int k = 0; k < 3; k++)
        good &=
            low[k] <= rayt_low((&s.x)[k], s.radius) && rayt_high((&s.x)[k], s.radius) <= high[k];
    return good;
}
/* Walks through a node and its children; every sphere below must lie in all boxes above, and 5/8 of a
   step inside. */
static void visit(rayt__tree_view view, unsigned node, int depth, const double (*boxes)[6],
                  tally *all)
{
    const unsigned *w = (const unsigned *)(view.nodes + (size_t)node * 5);
    double box[RAYT__DEPTH + 2][6];
    if (depth > all->deepest) all->deepest = depth;
    if (depth >= RAYT__DEPTH || (size_t)node >= rayt__node_count(all->count)) {
        all->faults++;
        return;
    }
    if (all->there)
        must_cuda(cudaMemcpy((void *)w, all->there + (size_t)node * 5, RAYT__NODE_WORDS * 4,
                             cudaMemcpyDeviceToHost),
                  "copy of a node");
    unsigned next = w[4];
    mix(all, node);
    for (int k = 0; k < RAYT__NODE_WORDS; k++) mix(all, w[k]);
    if (depth > 0) memcpy(box, boxes, sizeof(double[6]) * (size_t)depth);
    for (int k = 0; k < 8; k++) {
        unsigned leaf = w[6] >> 4 * k & 15,
                 first = w[5] + (unsigned)rayt__ones(w[6] & ((1u << 4 * k) - 1));
        for (int axis = 0; axis < 3; axis++) {
            double origin = rayt__float_of(w[axis]);
            double step = ldexp(1, (int)(w[3] >> 8 * axis & 255) - RAYT__BIAS);
            int word = 2 * axis + k % 4 / 2, bits = k % 2 * 16 + k / 4 * 8;
            box[depth][axis] = origin + ((w[8 + word] >> bits & 255) + 0.625) * step;
            box[depth][3 + axis] = origin + ((w[14 + word] >> bits & 255) - 0.625) * step;
        }
        all->faults += (w[7] >> 4 * k & 15) != (w[3] >> (24 + k) & 1) * 8;
        all->faults += (leaf & (leaf + 1)) != 0;
        for (unsigned n = 0; n < (unsigned)rayt__ones(leaf); n++) {
            int index = first + n < (unsigned)all->count ? view.indices[first + n] : -1;
            if (index < 0 || index >= all->count) {
                all->faults++;
                continue;
            }
            all->seen[index]++;
            mix(all, (unsigned)index);
            rayt_sphere s = all->spheres[index];
            float4 ball = view.balls[first + n];
            all->faults += ball.x != s.x || ball.y != s.y || ball.z != s.z || ball.w != s.radius;
            for (int d = 0; d <= depth; d++) all->faults += !inside(s, box[d], box[d] + 3);
        }
        if (w[3] >> (24 + k) & 1) visit(view, next++, depth + 1, box, all);
    }
}
/* *bits: the same scene gives the same tree, on the device and on the host. */
static int sound(const char *name, const rayt_tree *tree, const rayt_sphere *s, int count,
                 unsigned long long *bits)
{
    tally all = {(int *)calloc((size_t)count + 1, sizeof(int)), 0, 0, 0, s, count, NULL};
    rayt_tree copy = *tree;
    rayt__tree_view view = rayt__view(tree);
    size_t solid = 0; /* spheres that are in the tree: the first of those that have room there */
    int wrong = 0;
    for (int i = 0; i < count; i++) solid += rayt_solid(ball_of(s[i]));
    if (!tree->on_host) {
        all.there = view.nodes;
        copy.memory = malloc(tree->bytes);
        memset(copy.memory, 0xA5, tree->bytes);
        view = rayt__view(&copy);
        must_cuda(cudaMemcpy((void *)view.balls, rayt__view(tree).balls, solid * sizeof(float4),
                             cudaMemcpyDeviceToHost),
                  "copy");
        must_cuda(cudaMemcpy((void *)view.indices, rayt__view(tree).indices, solid * sizeof(int),
                             cudaMemcpyDeviceToHost),
                  "copy");
    }
    visit(view, 0, 0, NULL, &all);
    for (int i = 0; i < count; i++) wrong += all.seen[i] != (int)rayt_solid(ball_of(s[i]));
    if (wrong || all.faults)
        tap_note("%s: %d spheres are not there once, %d faults, depth %d", name, wrong, all.faults,
                 all.deepest);
    free(all.seen);
    if (!tree->on_host) free(copy.memory);
    *bits = all.bits;
    return !wrong && !all.faults;
}

/* ---- all of it for one scene ---- */
static int same(rayt_found a, rayt_found b)
{
    return a.index == b.index && rayt__bits_of(a.t) == rayt__bits_of(b.t);
}
/* Makes 32 rays neighbours of the first, as a camera's are: from one place or near to it. Some keep what
   they were. */
static void side_by_side(rayt_ray *rays)
{
    float apart = exp2f(-5 - (float)below(18)), moved = below(2) ? 0 : apart * exp2f(uniform() * 9);
    float length = fabsf(rays->dx) + fabsf(rays->dy) + fabsf(rays->dz);
    bool some = below(4) == 0;
    for (int i = 1; i < 32; i++) {
        if (some && below(16) == 0) continue;
        rayt_ray ray = rays[0];
        for (int k = 0; k < 3; k++) {
            if (below(8)) (&ray.dx)[k] += length * apart * uniform() * 0.2f;
            (&ray.x)[k] += moved * uniform();
        }
        if (below(4) == 0) ray.t_max = rays[i].t_max;
        rays[i] = ray;
    }
}
/* A question to the list of clusters that a tree of few spheres has: rayt_trace asks it. */
static __global__ void ask_clusters(rayt__tree_view tree, const rayt_ray *rays, bool any,
                                    rayt_found *found)
{
    __shared__ rayt__clusters list;
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x == 0) list = *(const rayt__clusters *)tree.list;
    __syncthreads();
    rayt_unit_ray ray = rayt_ready(rays[i]);
    int index = rayt__find_clusters(&list, rayt__list_indices(tree), true, any, &ray);
    found[i].index = any && index >= 0 ? 0 : index;
    found[i].t = any || index < 0 ? 0 : ray.t_max;
}
static int rays_agree(const rayt_tree *device, const rayt_tree *host, const rayt_sphere *s,
                      int count, cudaStream_t stream)
{
    static thread_local rayt_ray rays[RAYS];
    static thread_local rayt_found got[4][RAYS], listed[2][RAYS];
    int bad = 0, lists = rayt__view(device).list != NULL;
    for (int i = 0; i < RAYS; i++) rays[i] = ray_at(s, count);
    for (int i = 0; i < RAYS; i += 32)
        if (below(2)) side_by_side(&rays[i]);
    char *in = to_device(rays, sizeof rays), *out[2];
    for (int kind = 0; kind < 2 && lists; kind++) {
        char *there = to_device(NULL, sizeof listed[0]);
        ask_clusters<<<RAYS / 128, 128, 0, stream>>>(rayt__view(device), (rayt_ray *)in, kind,
                                                     (rayt_found *)there);
        must_cuda(cudaGetLastError(), "clusters");
        must_cuda(cudaStreamSynchronize(stream), "clusters");
        bad += !from_device(listed[kind], there, sizeof listed[0]);
    }
    for (int kind = 0; kind < 2; kind++) {
        out[kind] = to_device(NULL, sizeof got[0]);
        must(rayt_query((rayt_query_kind)kind, device, (rayt_ray *)in, RAYS,
                        (rayt_found *)out[kind], stream),
             "rayt_query");
        must(rayt_query((rayt_query_kind)kind, host, rays, RAYS, got[2 + kind], NULL),
             "on the host");
    }
    must_cuda(cudaStreamSynchronize(stream), "queries");
    for (int kind = 0; kind < 2; kind++) bad += !from_device(got[kind], out[kind], sizeof got[0]);
    if (bad) tap_note("written outside of the answers");
    bad += !from_device(NULL, in, sizeof rays);
    for (int i = 0; i < RAYS; i++) {
        rayt_found want = loop(s, count, rays[i]), any = {want.index < 0 ? -1 : 0, 0};
        bool good = !lists || (same(listed[0][i], want) && same(listed[1][i], any));
        if (good && same(got[0][i], want) && same(got[2][i], want) && same(got[1][i], any) &&
            same(got[3][i], any))
            continue;
        rayt_ray r = rays[i];
        if (!good && bad < 3)
            tap_note("the list of clusters: %d at %a, any %d", listed[0][i].index, listed[0][i].t,
                     listed[1][i].index);
        if (bad++ < 3)
            tap_note("ray (%a %a %a) + t (%a %a %a), %a .. %a: %d at %a; device %d at %a, any %d; "
                     "host %d at %a, any %d",
                     r.x, r.y, r.z, r.dx, r.dy, r.dz, r.t_min, r.t_max, want.index, want.t,
                     got[0][i].index, got[0][i].t, got[1][i].index, got[2][i].index, got[2][i].t,
                     got[3][i].index);
    }
    return bad == 0;
}
static int balls_agree(const rayt_tree *device, const rayt_tree *host, const rayt_sphere *s,
                       int count, cudaStream_t stream)
{
    static thread_local rayt_ball balls[BALLS];
    static thread_local int counts[2][BALLS], lists[2][BALLS][CAPACITY];
    int bad = 0;
    for (int i = 0; i < BALLS; i++) {
        float p[3], radius = count > 0 ? s[below(count)].radius : 1;
        aim(s, count, p);
        rayt_ball ball = {p[0], p[1], p[2], radius * (float)(below(7) - 2)};
        if (below(4) == 0) ball.radius *= uniform();
        if (below(30) == 0) ball.radius = INFINITY;
        if (below(30) == 0) ball.x = NAN;
        balls[i] = ball;
    }
    char *in = to_device(balls, sizeof balls), *many = to_device(NULL, sizeof counts[0]);
    memset(lists, 0xA5, sizeof lists);
    char *out = to_device(lists, sizeof lists[0]);
    must(rayt_query_within(device, (rayt_ball *)in, BALLS, (int *)many, (int *)out, CAPACITY,
                           stream),
         "rayt_query_within");
    must(rayt_query_within(host, balls, BALLS, counts[1], lists[1][0], CAPACITY, NULL),
         "on the host");
    must_cuda(cudaStreamSynchronize(stream), "queries");
    bad += !from_device(counts[0], many, sizeof counts[0]);
    bad += !from_device(lists[0], out, sizeof lists[0]);
    bad += !from_device(NULL, in, sizeof balls);
    for (int i = 0; i < BALLS; i++) {
        int list[CAPACITY], want = loop_within(s, count, balls[i], list), differ = 0;
        for (int where = 0; where < 2; where++) {
            differ += counts[where][i] != want;
            for (int k = 0; k < CAPACITY; k++)
                differ += k < want ? lists[where][i][k] != list[k]
                                   : lists[where][i][k] != (int)0xA5A5A5A5u;
        }
        if (differ && bad++ < 3)
            tap_note("ball (%a %a %a) %a: %d, device %d, host %d", balls[i].x, balls[i].y,
                     balls[i].z, balls[i].radius, want, counts[0][i], counts[1][i]);
    }
    return bad == 0;
}
static rayt_sphere *new_scene(scene_kind kind, int count)
{
    rayt_sphere *s = (rayt_sphere *)calloc((size_t)count + 1, sizeof(rayt_sphere));
    for (int i = 0; i < count; i++) s[i] = sphere_of(kind, i);
    return s;
}
/* Builds both trees over a new scene and asks them; the trees may have been used before. */
static int agrees(scene_kind kind, int count, rayt_tree *device, rayt_tree *host,
                  cudaStream_t stream)
{
    rayt_sphere *s = new_scene(kind, count);
    char *scene = to_device(s, sizeof(rayt_sphere) * (size_t)count);
    must(rayt_build(device, (rayt_sphere *)scene, count, stream), "rayt_build");
    must_cuda(cudaStreamSynchronize(stream), "build");
    int good =
        from_device(NULL, scene, sizeof(rayt_sphere) * (size_t)count); /* not needed longer */
    must(rayt_build_host(host, s, count), "rayt_build_host");
    unsigned long long bits[2];
    good &= sound("device", device, s, count, &bits[0]);
    good &= sound("host", host, s, count, &bits[1]);
    if (bits[0] != bits[1]) tap_note("%d spheres: the tree of the host is another one", count);
    good &= bits[0] == bits[1];
    good &= rays_agree(device, host, s, count, stream);
    good &= balls_agree(device, host, s, count, stream);
    free(s);
    return good;
}

static void scenes(void)
{
    static const int counts[] = {1, 2, 3, 5, 9, 33, 347};
    rayt_tree device = {}, host = {};
    for (int kind = 0; kind < (only_few ? 1 : SCENES); kind++) {
        int good = 1;
        for (int k = only_few ? 4 : 0; k < 7; k++)
            good &= agrees((scene_kind)kind, counts[k], &device, &host, NULL);
        tap_ok(good, "%s: device and host give what a loop gives", scene_names[kind]);
    }
    tap_ok(agrees(RANDOM, 0, &device, &host, NULL), "no spheres");
    for (int kind = 0; kind < (only_few ? 1 : 3);
         kind++) { /* more than one tile of the sort, several launches */
        static const scene_kind large[] = {RANDOM, HUGE_AND_TINY, CHAIN};
        tap_ok(agrees(large[kind], 4500 + below(4000), &device, &host, NULL), "many, %s",
               scene_names[large[kind]]);
    }
    if (!only_few)
        tap_ok(agrees(RANDOM, 40000, &device, &host, NULL), "more tiles than one look back sees");
    must(rayt_tree_free(&device), "rayt_tree_free");
    must(rayt_tree_free(&host), "rayt_tree_free");
    tap_ok(device.memory == NULL && host.memory == NULL && device.bytes == 0, "freed");
}

/* ---- what a hit is, in double precision ---- */
static void formula(void)
{
    int wrong = 0, hits = 0, far_roots = 0;
    double worst = 0;
    for (int n = 0; n < 20000; n++) {
        double size = exp2(40 * tap_uniform()), d[3], f[3], c = 0, b = 0, length = 0;
        rayt_sphere s = {(float)(size * uniform()),
                         (float)(size * uniform()),
                         (float)(size * uniform()),
                         (float)(size * fabs(uniform()) + 1e-6),
                         0,
                         0,
                         0};
        rayt_ray ray = {(float)(3 * size * uniform()), (float)(3 * size * uniform()),
                        (float)(3 * size * uniform()), 0,
                        s.x + (float)size * uniform(), s.y + (float)size * uniform(),
                        s.z + (float)size * uniform(), INFINITY};
        ray.dx -= ray.x, ray.dy -= ray.y, ray.dz -= ray.z;
        if (n % 4 == 0) ray.dx = 0;
        for (int k = 0; k < 3; k++) length += (double)(&ray.dx)[k] * (&ray.dx)[k];
        for (int k = 0; k < 3; k++) {
            d[k] = (&ray.dx)[k] / sqrt(length);
            f[k] = (double)(&ray.x)[k] - (&s.x)[k];
            b -= f[k] * d[k];
            c += f[k] * f[k];
        }
        double rr = (double)s.radius * s.radius, square = rr - (c - b * b);
        if (fabs(square) < 1e-3 * rr + 1e-5 * c) continue; /* too near to a tangent to say */
        double low = b - sqrt(fabs(square)), high = b + sqrt(fabs(square));
        if (fabs(low) < 1e-4 * size || fabs(high) < 1e-4 * size) continue; /* begins on it */
        double t = low > 0 ? low : high;
        float got = 0;
        int hit = rayt_hit(rayt_ready(ray), ball_of(s), &got), want = square > 0 && t > 0;
        hits += hit;
        far_roots += hit && low < 0;
        wrong += hit != want;
        if (hit && want) worst = fmax(worst, fabs(got - t) / (sqrt(c) + s.radius));
    }
    tap_note("%d hits, %d from inside, worst error %.2g of the distance", hits, far_roots, worst);
    tap_ok(wrong == 0 && hits > 2000 && far_roots > 200 && worst < 2e-5,
           "a hit is what double precision says");
    rayt_sphere far_one = {0, 0, 1e6f, 1, 0, 0, 0}; /* f.f - rr would have lost the radius */
    rayt_ray ray = {0.5f, 0, 0, 0, 0, 0, 3, INFINITY};
    float t = 0;
    bool hit = rayt_hit(rayt_ready(ray), ball_of(far_one), &t);
    tap_ok(hit && t == 999999.125f, "a small sphere far away: %.9g", t);
}

/* ---- memory, streams, threads ---- */
static void rebuilds(void)
{
    static const int counts[] = {900, 30, 0, 899, 1, 900, 2000, 900};
    rayt_tree device = {}, host = {};
    void *before = NULL;
    int kept = 1, good = 1;
    for (int k = 0; k < (only_few ? 3 : 8); k++) {
        good &= agrees(CROWDED, counts[k], &device, &host, NULL);
        if (k > 0 && k != 6) kept &= device.memory == before;
        before = device.memory;
    }
    tap_ok(good, "built again, with other counts");
    tap_ok(kept, "memory is kept where it is enough");
    must(rayt_tree_free(&device), "rayt_tree_free");
    must(rayt_tree_free(&host), "rayt_tree_free");

    enum { STREAMS = 3, COUNT = 200 }; /* builds and questions of several streams at once */
    cudaStream_t streams[STREAMS];
    rayt_tree trees[STREAMS] = {};
    rayt_sphere *scenes[STREAMS];
    char *spheres[STREAMS], *in[STREAMS], *out[STREAMS];
    static rayt_ray rays[STREAMS][RAYS];
    static rayt_found got[RAYS];
    for (int n = 0; n < STREAMS; n++) {
        must_cuda(cudaStreamCreateWithFlags(&streams[n], cudaStreamNonBlocking), "stream");
        scenes[n] = new_scene(CROWDED, COUNT);
        for (int i = 0; i < RAYS; i++) rays[n][i] = ray_at(scenes[n], COUNT);
        spheres[n] = to_device(scenes[n], sizeof(rayt_sphere) * COUNT);
        in[n] = to_device(rays[n], sizeof rays[n]);
        out[n] = to_device(NULL, sizeof got);
    }
    for (int n = 0; n < STREAMS; n++) {
        must(rayt_build(&trees[n], (rayt_sphere *)spheres[n], COUNT, streams[n]), "rayt_build");
        must(rayt_query(RAYT_NEAREST, &trees[n], (rayt_ray *)in[n], RAYS, (rayt_found *)out[n],
                        streams[n]),
             "rayt_query");
    }
    must_cuda(cudaDeviceSynchronize(), "streams");
    good = 1;
    for (int n = 0; n < STREAMS; n++) {
        good &= from_device(got, out[n], sizeof got);
        for (int i = 0; i < RAYS; i++) good &= same(got[i], loop(scenes[n], COUNT, rays[n][i]));
        from_device(NULL, in[n], sizeof rays[n]);
        from_device(NULL, spheres[n], sizeof(rayt_sphere) * COUNT);
        must(rayt_tree_free(&trees[n]), "rayt_tree_free");
        cudaStreamDestroy(streams[n]);
        free(scenes[n]);
    }
    tap_ok(good, "several streams, none waits for another");
}

typedef struct work {
    rayt_sphere *scene;
    rayt_ray rays[RAYS];
    rayt_found got[RAYS];
    int good;
} work;
static void *one_thread(void *argument)
{
    work *w = (work *)argument;
    rayt_tree tree = {};
    rayt_sphere *spheres = NULL;
    rayt_ray *rays = NULL;
    rayt_found *found = NULL;
    cudaStream_t stream;
    size_t bytes = sizeof(rayt_sphere) * 300;
    w->good = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
              cudaMalloc((void **)&spheres, bytes) == cudaSuccess &&
              cudaMalloc((void **)&rays, sizeof w->rays) == cudaSuccess &&
              cudaMalloc((void **)&found, sizeof w->got) == cudaSuccess &&
              cudaMemcpy(spheres, w->scene, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
              cudaMemcpy(rays, w->rays, sizeof w->rays, cudaMemcpyHostToDevice) == cudaSuccess;
    for (int n = 0; n < 3 && w->good; n++)
        w->good = rayt_build(&tree, spheres, 300, stream) == RAYT_OK &&
                  rayt_query(RAYT_NEAREST, &tree, rays, RAYS, found, stream) == RAYT_OK;
    w->good &= cudaStreamSynchronize(stream) == cudaSuccess &&
               cudaMemcpy(w->got, found, sizeof w->got, cudaMemcpyDeviceToHost) == cudaSuccess &&
               rayt_tree_free(&tree) == RAYT_OK;
    cudaFree(spheres);
    cudaFree(rays);
    cudaFree(found);
    cudaStreamDestroy(stream);
    return NULL;
}
static void threads(void)
{
    static work works[3];
    pthread_t ids[3];
    int good = 1;
    for (int n = 0; n < 3; n++) {
        works[n].scene = new_scene(CROWDED, 300);
        for (int i = 0; i < RAYS; i++) works[n].rays[i] = ray_at(works[n].scene, 300);
        good &= pthread_create(&ids[n], NULL, one_thread, &works[n]) == 0;
    }
    for (int n = 0; n < 3; n++) {
        pthread_join(ids[n], NULL);
        good &= works[n].good;
        for (int i = 0; i < RAYS; i++)
            good &= same(works[n].got[i], loop(works[n].scene, 300, works[n].rays[i]));
        free(works[n].scene);
    }
    tap_ok(good, "three threads build and ask at once");
}

/* ---- bad input ---- */
static void refuses(rayt_status got, const char *sentence)
{
    int good = got == RAYT_ERROR_ARGUMENT && strstr(rayt_last_error(), sentence) != NULL;
    tap_ok(good, "refused: %s", sentence);
    if (!good) tap_note("%s: %s", rayt_status_string(got), rayt_last_error());
}
static void bad_input(void)
{
    static rayt_sphere s[4];
    static rayt_ray rays[4];
    static rayt_ball balls[4];
    static rayt_found found[4];
    static int counts[4];
    rayt_tree empty = {}, tree = {}, host = {};
    char *scene = to_device(s, sizeof s);
    must(rayt_build(&tree, (rayt_sphere *)scene, 4, NULL), "rayt_build");
    must(rayt_build_host(&host, s, 4), "rayt_build_host");
    refuses(rayt_build(NULL, s, 4, NULL), "tree is NULL");
    refuses(rayt_build(&empty, NULL, 4, NULL), "spheres is NULL, but count is 4");
    refuses(rayt_build(&empty, s, -1, NULL), "count is negative: -1");
    refuses(rayt_build(&empty, s, (1 << 30) + 1, NULL), "more than 1073741824");
    refuses(rayt_build(&empty, (rayt_sphere *)((char *)s + 4), 1, NULL), "spheres is not aligned");
    refuses(rayt_build(&host, s, 4, NULL), "tree is in host memory");
    refuses(rayt_build_host(&tree, s, 4), "tree is in device memory");
    refuses(rayt_build_host(NULL, s, 4), "tree is NULL");
    refuses(rayt_query(RAYT_ANY, NULL, rays, 4, found, NULL), "tree is NULL");
    refuses(rayt_query(RAYT_ANY, &empty, rays, 4, found, NULL), "rayt_build has not filled it");
    refuses(rayt_query((rayt_query_kind)9, &host, rays, 4, found, NULL), "kind is 9");
    refuses(rayt_query(RAYT_ANY, &host, NULL, 4, found, NULL), "rays is NULL, but count is 4");
    refuses(rayt_query(RAYT_ANY, &host, rays, 4, NULL, NULL), "found is NULL, but count is 4");
    refuses(rayt_query(RAYT_ANY, &host, rays, -2, found, NULL), "count is negative: -2");
    refuses(rayt_query(RAYT_ANY, &tree, rays, (1 << 30) + 1, found, NULL), "more than 1073741824");
    refuses(rayt_query_within(&tree, balls, INT_MAX, counts, NULL, 0, NULL),
            "more than 1073741824");
    refuses(rayt_query(RAYT_ANY, &tree, (rayt_ray *)((char *)rays + 8), 1, found, NULL),
            "rays is not aligned to 16 bytes");
    refuses(rayt_query(RAYT_ANY, &tree, rays, 1, (rayt_found *)((char *)found + 4), NULL),
            "found is not aligned to 8 bytes");
    refuses(rayt_query_within(&host, balls, 4, NULL, NULL, 0, NULL), "counts is NULL");
    refuses(rayt_query_within(&host, balls, 4, counts, NULL, 3, NULL), "lists is NULL");
    refuses(rayt_query_within(&host, balls, 4, counts, NULL, -3, NULL), "capacity is negative: -3");
    refuses(rayt_query_within(&host, NULL, 4, counts, NULL, 0, NULL), "balls is NULL");
    int devices = 0;
    must_cuda(cudaGetDeviceCount(&devices), "devices");
    if (devices > 1) {
        must_cuda(cudaSetDevice(1), "second device");
        refuses(rayt_query(RAYT_ANY, &tree, rays, 1, found, NULL), "of device 0, but device 1");
        refuses(rayt_build(&tree, NULL, 0, NULL), "of device 0, but device 1");
        must_cuda(cudaSetDevice(0), "first device");
        tap_ok(tree.count == 4, "a build that was refused has left the tree as it was");
    } else {
        tap_skip("a tree of another device", "one device");
    }
    tap_ok(rayt_query(RAYT_ANY, &tree, NULL, 0, NULL, NULL) == RAYT_OK &&
               rayt_query_within(&tree, NULL, 0, NULL, NULL, 0, NULL) == RAYT_OK &&
               rayt_tree_free(NULL) == RAYT_OK && rayt_tree_free(&empty) == RAYT_OK,
           "nothing to do is no error");
    must(rayt_query_within(&host, balls, 4, counts, NULL, 0, NULL), "counts alone");
    must(rayt_tree_free(&tree), "rayt_tree_free");
    must(rayt_tree_free(&host), "rayt_tree_free");
    from_device(NULL, scene, sizeof s);
    tap_ok(cudaPeekAtLastError() == cudaSuccess, "no call left an error in CUDA's record");
}

/* A captured stream may not allocate: a larger tree is refused there, and the memory of the smaller
   one is not lost. */
static void growth_in_capture(void)
{
    enum { COUNT = 3000 };
    rayt_tree tree = {}, host = {};
    rayt_sphere *s = new_scene(CROWDED, COUNT);
    char *scene = to_device(s, sizeof(rayt_sphere) * COUNT);
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    must(rayt_build(&tree, (rayt_sphere *)scene, 10, NULL), "rayt_build");
    must_cuda(cudaStreamCreate(&stream), "a stream");
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "a capture");
    const rayt_status status = rayt_build(&tree, (rayt_sphere *)scene, COUNT, stream);
    (void)cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    tap_ok(status == RAYT_ERROR_CUDA && tree.memory != NULL && tree.count == -1,
           "a tree that has to grow in a captured stream: %s", rayt_last_error());
    if (graph != NULL) must_cuda(cudaGraphDestroy(graph), "the graph");
    must_cuda(cudaStreamDestroy(stream), "the stream");
    free(s);
    from_device(NULL, scene, sizeof(rayt_sphere) * COUNT);
    tap_ok(agrees(CROWDED, COUNT, &tree, &host, NULL), "and out of it");
    must(rayt_tree_free(&tree), "rayt_tree_free");
    must(rayt_tree_free(&host), "rayt_tree_free");
}

#ifdef __CUCC__
static void plant(const char *plan)
{
    setenv("CUCC_FAIL", "device:1000000", 1); /* a plan begins anew only after another one */
    cudaSetDevice(0);
    setenv("CUCC_FAIL", plan, 1);
}
/* A build that fails at any of its calls says so, leaves nothing to walk in, and may be repeated. */
static void failed_builds(void)
{
    enum { COUNT = 4100 }; /* two tiles of the sort */
    rayt_tree tree = {}, host = {};
    rayt_sphere *s = new_scene(CROWDED, COUNT);
    rayt_ray ray = ray_at(s, COUNT);
    rayt_found found;
    char *scene = to_device(s, sizeof(rayt_sphere) * COUNT);
    int good = 1, n = 0;
    for (rayt_status status = RAYT_ERROR_CUDA; status != RAYT_OK && n < 60;) {
        char plan[24];
        snprintf(plan, sizeof plan, "launch:%d", ++n);
        plant(plan);
        status = rayt_build(&tree, (rayt_sphere *)scene, COUNT, NULL);
        plant("");
        if (status == RAYT_OK) break; /* it has fewer launches */
        good &= status == RAYT_ERROR_CUDA && strstr(rayt_last_error(), "kernel launch: too many");
        good &= rayt_query(RAYT_ANY, &tree, &ray, 0, &found, NULL) == RAYT_ERROR_ARGUMENT;
        good &= cudaPeekAtLastError() == cudaSuccess;
        if (!good) tap_note("launch %d: %s", n, rayt_last_error());
    }
    good &= n > 10 && n < 60 && rayt_query(RAYT_ANY, &tree, &ray, 0, &found, NULL) == RAYT_OK;
    tap_ok(good, "each launch of a build fails once: it is said, and the tree is empty then");
    must(rayt_tree_free(&tree), "rayt_tree_free");
    plant("malloc:1");
    rayt_status status = rayt_build(&tree, (rayt_sphere *)scene, COUNT, NULL);
    plant("");
    tap_ok(status == RAYT_ERROR_MEMORY && strstr(rayt_last_error(), "cudaMalloc for the tree") &&
               tree.memory == NULL && cudaPeekAtLastError() == cudaSuccess,
           "no memory for the tree");
    free(s);
    from_device(NULL, scene, sizeof(rayt_sphere) * COUNT);
    tap_ok(agrees(CROWDED, COUNT, &tree, &host, NULL), "and then it is built");
    must(rayt_tree_free(&tree), "rayt_tree_free");
    must(rayt_tree_free(&host), "rayt_tree_free");
}
#endif

int main(int count, char **words)
{
    only_few = count > 1 && strcmp(words[1], "few") == 0;
    tap_seed(49);
    formula();
    scenes();
    rebuilds();
    threads();
    bad_input();
    growth_in_capture();
#ifdef __CUCC__
    failed_builds();
#endif
    return tap_done();
}
