/* million.cu - a million moving spheres, a new tree for each frame, frames as PNG files.

   What moves has no use for a tree that takes long to build. Here spheres circle in a disc, each at
   its own speed. A kernel moves them; rayt_build makes a tree over them in device memory;
   rayt_trace draws them, with shadows and mirrors; nothing but the picture leaves the device. Some
   frames are drawn small a second time, with every ray against every sphere: the bytes must agree.

   Build   nvcc -O3 -arch=native demos/million.cu -o million
   Run     ./million                                     60 frames: million_000.png ...
           ./million --frames 1 --width 3840 --height 2160 --samples 16
           ./million --help */
#define RAYT_WITH_TRACE
#include "../raytrace.cuh"
#ifdef _WIN32
#include <io.h>
#define access _access
#else
#include <sys/stat.h>
#include <unistd.h>
#endif

#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, SPHERES = 4000, FRAMES = 3, WIDTH = 160, HEIGHT = 90 };
#else
enum { ON_CPU = 0, SPHERES = 1000000, FRAMES = 60, WIDTH = 1280, HEIGHT = 720 };
#endif
enum { SMALL_W = 32, SMALL_H = 18, MOST_FRAMES = 10000, MOST_NAME = 4000 };

/* Where a sphere is at time 0, and how it moves. */
typedef struct orbit {
    float distance, angle, height, speed;
} orbit;

/* Moves a sphere to where it is at `time`; one thread a sphere. */
static __global__ void move(const orbit *orbits, rayt_sphere *spheres, int count, float time)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    orbit path = orbits[i];
    float angle = path.angle + path.speed * time;
    spheres[i].x = path.distance * cosf(angle);
    spheres[i].y = path.height * cosf(3 * angle);
    spheres[i].z = path.distance * sinf(angle);
}

/* ---------------------------------- what is asked for ----------------------------------------- */
static struct {
    int spheres, frames, width, height, samples;
    unsigned long long seed;
    const char *out, *csv;
} o = {SPHERES, FRAMES, WIDTH, HEIGHT, 1, 1, "million", NULL};

static void help(void)
{
    printf("usage: million [options]\n"
           "Moves spheres, builds a tree over them for each frame, traces it, and writes PNG "
           "files.\n\n"
           "  --spheres N             (default %d)\n"
           "  --frames N              (default %d)\n"
           "  --width W, --height H   of the pictures (default %d x %d)\n"
           "  --samples N             paths a pixel (default 1)\n"
           "  --seed N                other spheres (default 1)\n"
           "  --out NAME              pictures NAME_000.png, NAME_001.png ... (default million)\n"
           "  --csv FILE              write the table to FILE as well\n"
           "  -h, --help              this text\n",
           SPHERES, FRAMES, WIDTH, HEIGHT);
}

static int parse(int argc, char **argv)
{
    for (int n = 1; n < argc; n++) {
        const char *word = argv[n], *value = n + 1 < argc ? argv[n + 1] : "";
        char *end;
        long number = strtol(value, &end, 10), most = 16384;
        int *to = NULL;
        if (strcmp(word, "--spheres") == 0) to = &o.spheres, most = 1 << 28;
        if (strcmp(word, "--frames") == 0) to = &o.frames, most = MOST_FRAMES;
        if (strcmp(word, "--width") == 0) to = &o.width;
        if (strcmp(word, "--height") == 0) to = &o.height;
        if (strcmp(word, "--samples") == 0) to = &o.samples;
        int is_seed = strcmp(word, "--seed") == 0;
        if (is_seed) most = LONG_MAX - 1; /* what strtol gives for more is LONG_MAX */
        int is_number = *value && *end == 0 && number >= 1 && number <= most;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help();
            exit(0);
        } else if (to && is_number) {
            *to = (int)number;
        } else if (is_seed && is_number) {
            o.seed = (unsigned long long)number;
        } else if (strcmp(word, "--out") == 0 && *value && value[0] != '-' &&
                   strlen(value) <= MOST_NAME) {
            o.out = value;
        } else if (strcmp(word, "--csv") == 0 && *value && value[0] != '-' &&
                   strlen(value) <= MOST_NAME) {
            o.csv = value;
        } else {
            fprintf(stderr, "million: cannot use '%s%s%s'; see --help\n", word,
                    to || is_seed ? " " : "", to || is_seed ? value : "");
            return 0;
        }
        n++;
    }
    return 1;
}

/* ---------------------------------- the harness ----------------------------------------------- */
#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, "million: %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static void traced(rayt_status status)
{
    if (status != RAYT_OK)
        fprintf(stderr, "million: %s: %s\n", rayt_status_string(status), rayt_last_error()),
            exit(2);
}

/* Ends the program if what it has printed cannot be written. A closed pipe needs no words. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("million: standard output");
    _Exit(1);
}

static float number(void) /* in [0, 1); splitmix64 */
{
    unsigned long long z = (o.seed += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (float)((z ^ (z >> 31)) >> 40) / 16777216.0f;
}

/* A disc of radius 10, thick in the middle. Spheres are the smaller the more they are: what they
   cover stays the same. Inner ones are faster and warmer. Every eighth is a mirror. */
static void make(orbit *orbits, rayt_sphere *spheres, rayt_material *materials)
{
    float size = 14 / sqrtf((float)o.spheres);
    for (int n = 0; n < o.spheres; n++) {
        float r = sqrtf(number()), light = 0.4f + 0.6f * number();
        orbit path = {1 + 9 * r, 6.2831853f * number(), (2 * number() - 1) * (1.6f - 1.4f * r),
                      0.8f / (0.3f + r)};
        rayt_sphere sphere = {0,
                              0,
                              0,
                              size * (0.5f + number()),
                              light * (1 - 0.6f * r),
                              light * (0.8f - 0.2f * r),
                              light * (0.35f + 0.65f * r)};
        rayt_material material = {n % 8 == 0 ? RAYT_MIRROR : RAYT_MATT, 0, 0, 0};
        orbits[n] = path, spheres[n] = sphere, materials[n] = material;
    }
}

static rayt_scene scene;
static rayt_camera camera = {{0, 7, 17}, {0, -1, 0}, {0, 1, 0}, 40, 0, 0};
static cudaEvent_t before, between, after;

/* Is the frame as it should be? Small, and with every ray against every sphere. */
static int agrees(unsigned char *device_image, const rayt_quality *quality)
{
    static unsigned char image[2][SMALL_W * SMALL_H * 4];
    static const rayt_where ways[2] = {RAYT_TREE, RAYT_GLOBAL};
    for (int n = 0; n < 2; n++) {
        traced(rayt_trace(ways[n], &scene, &camera, quality, device_image, SMALL_W, SMALL_H, NULL));
        CHECK(cudaMemcpy(image[n], device_image, sizeof image[n], cudaMemcpyDeviceToHost));
    }
    return memcmp(image[0], image[1], sizeof image[0]) == 0;
}

/* One frame: moves, builds, traces, copies. The times of build and trace, in milliseconds. */
static void draw(const orbit *orbits, rayt_sphere *spheres, rayt_tree *tree, float time,
                 const rayt_quality *quality, unsigned char *device_image, float *ms)
{
    move<<<(o.spheres + 255) / 256, 256>>>(orbits, spheres, o.spheres, time);
    CHECK(cudaGetLastError()), CHECK(cudaEventRecord(before));
    traced(rayt_build(tree, spheres, o.spheres, NULL));
    CHECK(cudaEventRecord(between));
    traced(rayt_trace(RAYT_TREE, &scene, &camera, quality, device_image, o.width, o.height, NULL));
    CHECK(cudaEventRecord(after)), CHECK(cudaEventSynchronize(after));
    CHECK(cudaEventElapsedTime(&ms[0], before, between));
    CHECK(cudaEventElapsedTime(&ms[1], between, after));
}

/* No ordinary file: a pipe, a device, a link. It is written to as it is. */
static int is_special(const char *path)
{
#ifdef _WIN32
    return (void)path, 0;
#else
    struct stat there;
    return lstat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
#endif
}

/* Can a file be written there, by way of one beside it? Asked before the work; leaves nothing. */
static int can_write(const char *path)
{
    char beside[MOST_NAME + 10];
    FILE *trial = NULL;
    if (is_special(path)) return 1;
    snprintf(beside, sizeof beside, "%s/.", path);
    if (access(beside, 0) != 0) /* no folder */
        snprintf(beside, sizeof beside, "%s.tmp", path), trial = fopen(beside, "w");
    if (trial) fclose(trial), remove(beside);
    if (!trial) fprintf(stderr, "million: cannot write '%s'\n", path);
    return trial != NULL;
}

/* What the table has, kept for the CSV file: it is written at the end and not before, so that a run
   that is interrupted leaves no part of one. */
typedef struct row {
    float ms[2];
    const char *result;
} row;

static int write_csv(const row *rows)
{
    char beside[MOST_NAME + 10];
    int in_place = is_special(o.csv);
    snprintf(beside, sizeof beside, in_place ? "%s" : "%s.tmp", o.csv);
    FILE *csv = fopen(beside, "w");
    int good = csv != NULL;
    if (csv) {
        fprintf(csv, "frame,spheres,width,height,samples,build_ms,trace_ms,result\n");
        for (int n = 0; n < o.frames; n++)
            fprintf(csv, "%d,%d,%d,%d,%d,%.4f,%.4f,%s\n", n, o.spheres, o.width, o.height,
                    o.samples, rows[n].ms[0], rows[n].ms[1], rows[n].result);
        good = !(ferror(csv) | fclose(csv));
    }
#ifdef _WIN32
    if (good) remove(o.csv); /* Windows does not rename onto a file */
#endif
    if (good && !in_place) good = rename(beside, o.csv) == 0;
    if (!good && !in_place) remove(beside);
    if (!good) fprintf(stderr, "million: cannot write '%s'\n", o.csv);
    return good;
}

static void *copy_of(const void *host, size_t bytes)
{
    void *device;
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

int main(int argc, char **argv)
{
    cudaDeviceProp device;
    int failures = 0;
    check_output(), atexit(check_output);
    if (!parse(argc, argv)) return 2;
    CHECK(cudaGetDeviceProperties(&device, 0));
    if (o.csv && !can_write(o.csv)) return 2; /* before the work */
    size_t count = (size_t)o.spheres, bytes = (size_t)o.width * o.height * 4;
    orbit *orbits = (orbit *)malloc(count * sizeof *orbits);
    rayt_sphere *spheres = (rayt_sphere *)malloc(count * sizeof *spheres);
    rayt_material *materials = (rayt_material *)malloc(count * sizeof *materials);
    unsigned char *image = (unsigned char *)malloc(bytes), *device_image;
    row *rows = (row *)malloc(sizeof *rows * (size_t)o.frames);
    if (!orbits || !spheres || !materials || !image || !rows)
        return fprintf(stderr, "million: no host memory for %d spheres\n", o.spheres), 2;
    const rayt_quality quality = {o.samples, 4, o.seed, 2};
    make(orbits, spheres, materials);
    orbit *device_orbits = (orbit *)copy_of(orbits, count * sizeof *orbits);
    rayt_sphere *device_spheres = (rayt_sphere *)copy_of(spheres, count * sizeof *spheres);
    void *device_materials = copy_of(materials, count * sizeof *materials);
    CHECK(cudaMalloc((void **)&device_image,
                     bytes > SMALL_W * SMALL_H * 4 ? bytes : SMALL_W * SMALL_H * 4));
    CHECK(cudaEventCreate(&before)), CHECK(cudaEventCreate(&between)),
        CHECK(cudaEventCreate(&after));
    rayt_tree tree = {NULL, 0, 0, 0, 0};
    scene.spheres = device_spheres, scene.materials = (const rayt_material *)device_materials;
    scene.count = o.spheres, scene.tree = &tree;
    scene.ground = 1, scene.ground_height = -3, scene.ground_square = 4;
    scene.sun.x = 2, scene.sun.y = 3, scene.sun.z = 1;
    scene.sun.r = 1, scene.sun.g = 0.95f, scene.sun.b = 0.85f;
    for (int c = 0; c < 3; c++) {
        scene.ground_colours[0][c] = 0.15f, scene.ground_colours[1][c] = 0.08f;
        scene.ambient[c] = 0.05f, scene.sky_bottom[c] = 0.3f,
        scene.sky_top[c] = 0.02f * (float)(c + 1);
    }

    printf("%s: %d spheres, %d x %d pixels, paths a pixel: %d%s\n\n"
           "frame   build ms   trace ms   result\n",
           device.name, o.spheres, o.width, o.height, o.samples,
           ON_CPU ? "; times are CPU times" : "");
    for (int frame = 0; frame < o.frames; frame++) {
        char path[MOST_NAME + 20];
        float *ms = rows[frame].ms;
        draw(device_orbits, device_spheres, &tree, 0.05f * (float)frame, &quality, device_image,
             ms);
        CHECK(cudaMemcpy(image, device_image, bytes, cudaMemcpyDeviceToHost));
        const char *result = "-";
        if (frame % 20 == 0 || frame == o.frames - 1)
            result = agrees(device_image, &quality) ? "ok" : (failures++, "WRONG");
        printf("%5d%11.3f%11.3f%9s\n", frame, ms[0], ms[1], result);
        fflush(stdout);
        rows[frame].result = result;
        snprintf(path, sizeof path, "%s_%03d.png", o.out, frame);
        traced(rayt_write_png(path, image, o.width, o.height));
    }
    printf("\nok: drawn small, the tree gives the bytes that all spheres for each ray give; -: not "
           "asked.\n"
           "pictures: %s_000.png to %s_%03d.png; a film: ffmpeg -i %s_%%03d.png %s.mp4\n",
           o.out, o.out, o.frames - 1, o.out, o.out);
    traced(rayt_tree_free(&tree));
    CHECK(cudaFree(device_orbits)), CHECK(cudaFree(device_spheres)),
        CHECK(cudaFree(device_materials));
    CHECK(cudaFree(device_image));
    CHECK(cudaEventDestroy(before)), CHECK(cudaEventDestroy(between)),
        CHECK(cudaEventDestroy(after));
    free(orbits), free(spheres), free(materials), free(image);
    if (o.csv && !write_csv(rows)) failures++;
    free(rows);
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
