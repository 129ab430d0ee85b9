/* bench/rays.cu - the kernels of raytrace.cuh beside those of the course exercise, in one run.

   Build   nvcc -O3 -arch=native bench/rays.cu -o rays
   Run     ./rays [--tree] [--csv FILE] [--seed N]      --tree: the tree alone

   What is timed: device to device, spheres and image in device memory. A first launch warms up and
   tells how many launches make a batch of 1 ms; CUDA events enclose each batch; the median over
   the batches is shown, per launch. Every image is compared byte for byte with that of the
   exercise's global kernel, written with explicit rounding; both are rendered to poisoned memory.
   Scenes are random and new in each run; --seed repeats one.

   "lab" are the kernels of the exercise as a student writes them: a record of seven floats, read
   one by one, 16 x 16 threads. The compiler contracts a * b + c as it likes, which changes a few
   bytes of the image: see the column "differ". "lab rounded" is the global one without
   contraction. The other names are those of raytrace.cuh; "call" includes all that rayt_render
   does, where that is more than one kernel: "constant" is the kernel alone, with the scene in
   constant memory, and "constant call" fills it, too. Names with a number are KERNEL TILE with that
   tile, for finding out where the choice between them should lie.

   The tree: "build" is rayt_build of spheres in device memory, again in the memory that it has. The
   others are rayt_query for SIDE x SIDE rays: "primary" from a camera, row by row, "primary tiles" in
   tiles of 8 x 4 pixels, "incoherent" from where those hit into random directions, "any" the same for
   the first hit that is found. */
#define RAYT_WITH_TRACE
#include "../raytrace.cuh"
#define BENCH "rays"
#include "common.h"

#ifdef __CUCC__ /* on the CPU runner: to see that it works */
enum { ON_CPU = 1, SIDE = 160, MOST_LAB = 128, CROWD = 13000, CROWD_SMALL = 14000, BATCHES = 1 };
#else
enum {
    ON_CPU = 0,
    SIDE = 2048,
    MOST_LAB = 2048,
    CROWD = 100000,
    CROWD_SMALL = 1000000,
    BATCHES = 15
};
#endif

/* ---------------------------------- the exercise's kernels ------------------------------------ */
typedef struct lab_sphere {
    float r, b, g;
    float radius;
    float x, y, z;
} lab_sphere;

/* What fits beside the table of raytrace.cuh: scenes of up to 1024 spheres. */
enum { LAB_TABLE = 1536 };
static __constant__ lab_sphere lab_table[LAB_TABLE];

/* exact: every operation rounded; otherwise as written in the exercise. */
template <bool exact> static __device__ __forceinline__ float mul(float a, float b)
{
    return exact ? __fmul_rn(a, b) : a * b;
}
template <bool exact> static __device__ __forceinline__ float add(float a, float b)
{
    return exact ? __fadd_rn(a, b) : a + b;
}
template <bool exact> static __device__ __forceinline__ float sub(float a, float b)
{
    return exact ? __fsub_rn(a, b) : a - b;
}

template <bool exact>
static __device__ __forceinline__ float lab_intersect(const lab_sphere *s, float ox, float oy,
                                                      float *n)
{
    float dx = ox - s->x, dy = oy - s->y, rr = mul<exact>(s->radius, s->radius);
    if (add<exact>(mul<exact>(dx, dx), mul<exact>(dy, dy)) < rr) {
        float dz = sqrtf(sub<exact>(sub<exact>(rr, mul<exact>(dx, dx)), mul<exact>(dy, dy)));
        *n = dz / sqrtf(rr);
        return dz + s->z;
    }
    return -2e10f;
}

/* The loop over the spheres and the pixel that all versions share; `get` is where they differ. */
template <bool exact>
static __device__ __forceinline__ void lab_pixel(uchar4 *image, int side, const lab_sphere *spheres,
                                                 int count)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    int offset = x + y * blockDim.x * gridDim.x;
    float ox = (float)x - (float)side / 2.0f, oy = (float)y - (float)side / 2.0f;
    float r = 0, g = 0, b = 0, maxz = -2e10f;
    for (int i = 0; i < count; i++) {
        float n = 0, t = lab_intersect<exact>(&spheres[i], ox, oy, &n);
        if (t > maxz) {
            r = mul<exact>(spheres[i].r, n);
            g = mul<exact>(spheres[i].g, n);
            b = mul<exact>(spheres[i].b, n);
            maxz = t;
        }
    }
    image[offset].x = (unsigned char)(int)mul<exact>(r, 255);
    image[offset].y = (unsigned char)(int)mul<exact>(g, 255);
    image[offset].z = (unsigned char)(int)mul<exact>(b, 255);
    image[offset].w = 255;
}

static __global__ void lab_global(uchar4 *image, int side, lab_sphere *spheres, int count)
{
    lab_pixel<false>(image, side, spheres, count);
}
static __global__ void lab_readonly(uchar4 *image, int side, const lab_sphere *__restrict__ spheres,
                                    int count)
{
    lab_pixel<false>(image, side, spheres, count);
}
static __global__ void lab_constant(uchar4 *image, int side, int count)
{
    lab_pixel<false>(image, side, lab_table, count);
}
static __global__ void lab_rounded(uchar4 *image, int side, lab_sphere *spheres, int count)
{
    lab_pixel<true>(image, side, spheres, count);
}

/* ---------------------------------- measuring ------------------------------------------------- */
static __global__ void compare(const unsigned char *a, const unsigned char *b, size_t bytes,
                               unsigned long long *differing, int *largest)
{
    unsigned long long mine = 0;
    int most = 0;
    for (size_t n = blockIdx.x * (size_t)256 + threadIdx.x; n < bytes; n += 256ull * gridDim.x) {
        int difference = abs((int)a[n] - (int)b[n]);
        mine += difference != 0;
        most = max(most, difference);
    }
    if (mine == 0) return;
    atomicAdd(differing, mine);
    atomicMax(largest, most);
}

static void must_render(rayt_status status)
{
    if (status == RAYT_OK) return;
    fprintf(stderr, "rays: %s: %s\n", rayt_status_string(status), rayt_last_error());
    exit(2);
}

typedef struct scene {
    int side, count;
    rayt_sphere *spheres; /* device */
    lab_sphere *lab;      /* device */
    rayt_sphere *host;
    lab_sphere *lab_host;
    unsigned char *image, *expected; /* device */
} scene;

typedef void launcher(const scene *s, int detail);

static dim3 blocks_of(const scene *s)
{
    return dim3((s->side + 15) / 16, (s->side + 15) / 16);
}
static void launch_lab(const scene *s, int version)
{
    dim3 block(16, 16);
    uchar4 *image = (uchar4 *)s->image;
    switch (version) {
    case 0: lab_global<<<blocks_of(s), block>>>(image, s->side, s->lab, s->count); break;
    case 1: lab_readonly<<<blocks_of(s), block>>>(image, s->side, s->lab, s->count); break;
    case 2: lab_constant<<<blocks_of(s), block>>>(image, s->side, s->count); break;
    default: lab_rounded<<<blocks_of(s), block>>>(image, s->side, s->lab, s->count); break;
    }
}
static void launch_constant(const scene *s, int)
{
    dim3 block(16, 16);
    rayt_render_constant<<<blocks_of(s), block>>>(s->count, 0, NULL, (uchar4 *)s->image, s->side,
                                                  s->side, 0, s->side);
}
static void launch_call(const scene *s, int where)
{
    must_render(
        rayt_render((rayt_where)where, s->spheres, s->count, s->image, s->side, s->side, 0));
}
static rayt__job job_of(const scene *s)
{
    rayt__job job = {s->spheres, s->count, (uchar4 *)s->image, s->side, s->side, 0, s->side, 0};
    return job;
}
static void launch_tiles(const scene *s, int edge)
{
    rayt__job job = job_of(s);
    must_render(rayt__launch_unbinned(&job, rayt__make_grid(&job, edge)));
}
static void launch_binned(const scene *s, int edge)
{
    rayt__job job = job_of(s);
    must_render(rayt__launch_binned(&job, rayt__make_grid(&job, edge)));
}
static void launch_memset(const scene *s, int)
{
    must(cudaMemsetAsync(s->image, 0, (size_t)s->side * s->side * 4, 0), "cudaMemset");
}

typedef struct report {
    FILE *csv;
    char device[256];
    int driver, runtime;
    unsigned long long seed;
    double lab; /* microseconds of the exercise's global kernel in this scene */
    int failures;
} report;

/* Times a launcher and compares its image. `must_agree` is 1 if a differing byte is a failure, 0
   if it is only shown, -1 if there is no image to compare. */
static double measure(report *r, const scene *s, const char *group, const char *name,
                      launcher *launch, int detail, int must_agree)
{
    static unsigned long long *counters;
    size_t bytes = (size_t)s->side * s->side * 4;
    unsigned long long found[2] = {0, 0};
    if (!counters) must(cudaMalloc((void **)&counters, 16), "cudaMalloc");
    if (must_agree >= 0) {
        must(cudaMemset(s->image, 0xA5, bytes), "cudaMemset");
        must(cudaMemset(counters, 0, 16), "cudaMemset");
        launch(s, detail);
        must(cudaGetLastError(), name);
        compare<<<1024, 256>>>(s->image, s->expected, bytes, counters, (int *)(counters + 1));
        must(cudaMemcpy(found, counters, 16, cudaMemcpyDeviceToHost), name);
    }

    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "cudaEventCreate");
    must(cudaEventCreate(&end), "cudaEventCreate");
    double times[BATCHES];
    int launches = 1, batches = BATCHES;
    for (int batch = -2; batch < batches; batch++) { /* -2 warms up, -1 sets the size of a batch */
        float milliseconds;
        must(cudaEventRecord(begin), "cudaEventRecord");
        for (int n = 0; n < launches; n++) launch(s, detail);
        must(cudaGetLastError(), name);
        must(cudaEventRecord(end), "cudaEventRecord");
        must(cudaEventSynchronize(end), name);
        must(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
        if (batch >= 0) times[batch] = milliseconds * 1e3 / launches;
        if (batch == -1 && milliseconds < 1 && !ON_CPU)
            launches = (int)(1 / (milliseconds + 1e-3f)) + 1;
        if (batch == -1 && milliseconds > 100) batches = BATCHES < 3 ? BATCHES : 3;
    }
    must(cudaEventDestroy(begin), "cudaEventDestroy");
    must(cudaEventDestroy(end), "cudaEventDestroy");
    double typical = median(times, batches); /* and they are in order now */

    char ratio[32] = "";
    if (r->lab > 0) snprintf(ratio, sizeof ratio, "%.2f", r->lab / typical);
    printf("%8d  %-16s %12.2f %12.2f %9s", s->count, name, typical, times[0], ratio);
    if (must_agree >= 0) printf(" %10llu", found[0]);
    printf("%s\n", must_agree > 0 && found[0] ? "  WRONG" : "");
    fflush(stdout);
    if (must_agree > 0 && found[0]) r->failures++;
    if (r->csv)
        fprintf(
            r->csv,
            "rays/%s/%s/%d,%s,%s,%d,%d,%d,%d,%d,%.3f,%.3f,%.3f,us,%.4f,%lld,%d,\"%s\",%d,%d,%llu\n",
            group, name, s->count, group, name, s->side, s->side, s->count, batches, launches,
            typical, times[0], times[batches - 1], r->lab > 0 ? r->lab / typical : 0,
            must_agree >= 0 ? (long long)found[0] : -1, (int)found[1], r->device, r->driver,
            r->runtime, r->seed);
    return typical;
}

/* ---------------------------------- scenes ---------------------------------------------------- */
static void make_scene(scene *s, int count, unsigned long long seed, float low, float high)
{
    s->count = count;
    must_render(rayt_random_scene(s->host, count, seed, s->side, s->side, low, high));
    for (int n = 0; n < count; n++) {
        rayt_sphere q = s->host[n];
        lab_sphere lab = {q.r, q.b, q.g, q.radius, q.x, q.y, q.z};
        s->lab_host[n] = lab;
    }
    must(cudaMemcpy(s->spheres, s->host, sizeof *s->host * count, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(s->lab, s->lab_host, sizeof *s->lab_host * count, cudaMemcpyHostToDevice),
         "copy");
    launch_lab(s, 3);
    must(cudaMemcpy(s->expected, s->image, (size_t)s->side * s->side * 4, cudaMemcpyDeviceToDevice),
         "image of the exercise's kernel");
}

static void heading(const char *text)
{
    printf("\n%s\n%8s  %-16s %12s %12s %9s %10s\n", text, "spheres", "kernel", "median us",
           "best us", "lab = 1", "differ");
}

static void exercise(report *r, scene *s)
{
    heading("The exercise's scenes: radii 20 to 120");
    for (int count = 16; count <= MOST_LAB; count *= 2) {
        r->lab = 0;
        make_scene(s, count, r->seed + count, 20, 120);
        r->lab = measure(r, s, "exercise", "lab global", launch_lab, 0, 0);
        measure(r, s, "exercise", "lab readonly", launch_lab, 1, 0);
        if (count <= LAB_TABLE) {
            must(cudaMemcpyToSymbol(lab_table, s->lab_host, sizeof(lab_sphere) * count), "table");
            measure(r, s, "exercise", "lab constant", launch_lab, 2, 0);
        }
        measure(r, s, "exercise", "lab rounded", launch_lab, 3, 1);
        measure(r, s, "exercise", "global", launch_call, RAYT_GLOBAL, 1);
        measure(r, s, "exercise", "readonly", launch_call, RAYT_READONLY, 1);
        if (count * 32 <= RAYT_MAX_CONST) {
            launch_call(s, RAYT_CONSTANT); /* leaves the scene in constant memory */
            measure(r, s, "exercise", "constant", launch_constant, 0, 1);
        }
        measure(r, s, "exercise", "constant call", launch_call, RAYT_CONSTANT, 1);
        measure(r, s, "exercise", "shared", launch_call, RAYT_SHARED, 1);
        measure(r, s, "exercise", "culled", launch_call, RAYT_CULLED, 1);
        measure(r, s, "exercise", "tiles 64", launch_tiles, 64, 1);
        measure(r, s, "exercise", "tiles 32", launch_tiles, 32, 1);
        measure(r, s, "exercise", "cudaMemset", launch_memset, 0, -1);
    }
}

static void crowds(report *r, scene *s)
{
    static const struct {
        int count;
        float scale;
        const char *text;
    } kinds[] = {{CROWD, 1, "Many: radii 20 to 120"},
                 {CROWD_SMALL, 0.045f, "Many and small: radii 0.9 to 5.4"}};
    for (int k = 0; k < 2; k++) {
        heading(kinds[k].text);
        r->lab = 0;
        make_scene(s, kinds[k].count, r->seed + 7, 20 * kinds[k].scale, 120 * kinds[k].scale);
        r->lab = measure(r, s, "crowds", "lab global", launch_lab, 0, 0);
        measure(r, s, "crowds", "culled call", launch_call, RAYT_CULLED, 1);
        measure(r, s, "crowds", "binned 64", launch_binned, 64, 1);
        measure(r, s, "crowds", "binned 32", launch_binned, 32, 1);
    }
}

/* Where should binning begin? */
static void choice(report *r, scene *s)
{
    heading("With bins or without: radii 20 to 120");
    for (int count = ON_CPU ? 256 : 2048; count <= CROWD; count *= 2) {
        r->lab = 0;
        make_scene(s, count, r->seed + 99 + count, 20, 120);
        measure(r, s, "choice", "culled call", launch_call, RAYT_CULLED, 1);
        measure(r, s, "choice", "tiles 64", launch_tiles, 64, 1);
        measure(r, s, "choice", "binned 64", launch_binned, 64, 1);
        measure(r, s, "choice", "binned 32", launch_binned, 32, 1);
    }
}

/* ---------------------------------- the tree -------------------------------------------------- */
static rayt_tree tree;
static rayt_ray *tree_rays; /* device; the camera's, then the scattered ones */
static rayt_found *tree_found;

static __device__ float noise(unsigned *state) /* in -1 .. 1 */
{
    *state = *state * 747796405u + 2891336453u;
    unsigned word = ((*state >> ((*state >> 28) + 4)) ^ *state) * 277803737u;
    return (float)((word >> 22) ^ word) * 4.656612873e-10f - 1;
}
/* 45 degrees, from 1.7 sides in front of the middle of a scene that is a cube. Row by row, or in tiles
   of 8 x 4 pixels, as rayt_trace takes them. */
static __global__ void camera_rays(rayt_ray *rays, int side, int tiles)
{
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (column >= side || row >= side) return;
    float s = (float)side;
    rayt_ray ray = {0,         0,    1.7f * s, 0, (float)column - 0.5f * s, (float)row - 0.5f * s,
                    -1.2f * s, 4 * s};
    size_t i = (size_t)row * side + column;
    if (tiles) i = (size_t)(row / 4 * (side / 8) + column / 8) * 32 + row % 4 * 8 + column % 8;
    rays[i] = ray;
}
/* A ray from each hit, away from the sphere; where nothing was hit, from anywhere. */
static __global__ void scattered_rays(const rayt_ray *rays, const rayt_found *found,
                                      const rayt_sphere *spheres, rayt_ray *scattered, int side)
{
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (column >= side || row >= side) return;
    size_t i = (size_t)row * side + column;
    unsigned state = (unsigned)i;
    float d[3], n[3] = {0, 0, 0}, p[3], square;
    do {
        for (int k = 0; k < 3; k++) d[k] = noise(&state);
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    } while (square > 1 || square < 1e-3f);
    for (int k = 0; k < 3; k++) p[k] = 0.5f * (float)side * noise(&state);
    if (found[i].index >= 0) {
        rayt_unit_ray ray = rayt_ready(rays[i]);
        rayt_sphere s = spheres[found[i].index];
        for (int k = 0; k < 3; k++) {
            p[k] = (&ray.x)[k] + found[i].t * (&ray.dx)[k];
            n[k] = (p[k] - (&s.x)[k]) / s.radius;
            p[k] += 1e-3f * n[k];
        }
    }
    float away = d[0] * n[0] + d[1] * n[1] + d[2] * n[2] < 0 ? -1 : 1;
    rayt_ray ray = {p[0], p[1], p[2], 0, away * d[0], away * d[1], away * d[2], 4 * (float)side};
    scattered[i] = ray;
}
static void launch_build(const scene *s, int)
{
    must_render(rayt_build(&tree, s->spheres, s->count, 0));
}
static void launch_query(const scene *s, int which) /* 0: primary, 1: incoherent, 2: any */
{
    int rays = s->side * s->side;
    must_render(rayt_query(which == 2 ? RAYT_ANY : RAYT_NEAREST, &tree,
                           tree_rays + (which ? rays : 0), rays, tree_found, 0));
}
static void trees(report *r, scene *s)
{
    static const struct {
        int count;
        float low, high;
        const char *text;
    } kinds[] = {{MOST_LAB, 20, 120, "The tree: radii 20 to 120"},
                 {CROWD_SMALL, 0.9f, 5.4f, "The tree: radii 0.9 to 5.4"}};
    int side = s->side, rays = side * side;
    must(cudaMalloc((void **)&tree_rays, 2 * sizeof *tree_rays * rays), "cudaMalloc");
    must(cudaMalloc((void **)&tree_found, sizeof *tree_found * rays), "cudaMalloc");
    for (int k = 0; k < 2; k++) {
        heading(kinds[k].text);
        r->lab = 0;
        s->count = kinds[k].count;
        must_render(rayt_random_scene(s->host, s->count, r->seed + 49, side, side, kinds[k].low,
                                      kinds[k].high));
        must(cudaMemcpy(s->spheres, s->host, sizeof *s->host * s->count, cudaMemcpyHostToDevice),
             "copy");
        measure(r, s, "tree", "build", launch_build, 0, -1);
        dim3 block(16, 16);
        camera_rays<<<blocks_of(s), block>>>(tree_rays, side, 1);
        measure(r, s, "tree", "primary tiles", launch_query, 0, -1);
        camera_rays<<<blocks_of(s), block>>>(tree_rays, side, 0);
        measure(r, s, "tree", "primary", launch_query, 0, -1);
        scattered_rays<<<blocks_of(s), block>>>(tree_rays, tree_found, s->spheres, tree_rays + rays,
                                                side);
        must(cudaGetLastError(), "rays");
        measure(r, s, "tree", "incoherent", launch_query, 1, -1);
        measure(r, s, "tree", "any", launch_query, 2, -1);
    }
    must_render(rayt_tree_free(&tree));
    cudaFree(tree_rays);
    cudaFree(tree_found);
}

int main(int count, char **words)
{
    static report r;
    int all = 1;
    static scene s;
    const char *csv = NULL;
    r.seed = (unsigned long long)time(NULL);
    for (int n = 1; n < count; n++) {
        long long seed;
        if (strcmp(words[n], "--csv") == 0 && n + 1 < count) {
            csv = words[++n];
        } else if (strcmp(words[n], "--seed") == 0 && n + 1 < count &&
                   parse_number(words[n + 1], 0, 0, LLONG_MAX, &seed)) {
            r.seed = (u64)seed, n++;
        } else if (strcmp(words[n], "--tree") == 0) {
            all = 0;
        } else {
            fprintf(stderr,
                    "rays: '%s' is not understood; usage: rays [--tree] [--csv FILE] [--seed N]\n",
                    words[n]);
            return 2;
        }
    }
    cudaDeviceProp properties;
    must(cudaGetDeviceProperties(&properties, 0), "no CUDA device");
    must(cudaDriverGetVersion(&r.driver), "cudaDriverGetVersion");
    must(cudaRuntimeGetVersion(&r.runtime), "cudaRuntimeGetVersion");
    snprintf(r.device, sizeof r.device, "%s", properties.name);
    r.csv = open_csv(csv);
    if (r.csv)
        fprintf(r.csv,
                "name,group,kernel,width,height,spheres,batches,iterations,real_time,best_time,"
                "worst_time,time_unit,times_lab,differing_bytes,largest_difference,device,"
                "driver,runtime,seed\n");
    s.side = SIDE;
    size_t most = CROWD_SMALL, bytes = (size_t)SIDE * SIDE * 4;
    s.host = (rayt_sphere *)malloc(sizeof *s.host * most);
    s.lab_host = (lab_sphere *)malloc(sizeof *s.lab_host * most);
    if (!s.host || !s.lab_host) {
        fprintf(stderr, "rays: no host memory\n");
        return 2;
    }
    must(cudaMalloc((void **)&s.spheres, sizeof *s.host * most), "cudaMalloc");
    must(cudaMalloc((void **)&s.lab, sizeof *s.lab_host * most), "cudaMalloc");
    must(cudaMalloc((void **)&s.image, bytes), "cudaMalloc");
    must(cudaMalloc((void **)&s.expected, bytes), "cudaMalloc");
    printf("%s, driver %d, runtime %d; %d x %d pixels; seed %llu%s\n", r.device, r.driver,
           r.runtime, SIDE, SIDE, r.seed, ON_CPU ? "; all times are CPU times" : "");
    printf("\"differ\": bytes that are not those of the exercise's global kernel with explicit "
           "rounding\n");
    if (all) {
        exercise(&r, &s);
        choice(&r, &s);
        crowds(&r, &s);
    }
    trees(&r, &s);
    int written = close_csv(r.csv, csv);
    cudaFree(s.spheres);
    cudaFree(s.lab);
    cudaFree(s.image);
    cudaFree(s.expected);
    free(s.host);
    free(s.lab_host);
    printf("\n%s\n", r.failures ? "some images were WRONG" : "all images agree");
    return r.failures ? 1 : written ? 0 : 2;
}
