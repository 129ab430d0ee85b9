/* weekend.cu - the last picture of "Ray Tracing in One Weekend": glass, metal and diffuse spheres.

   P. Shirley, T. D. Black and S. Hollasch, "Ray Tracing in One Weekend", raytracing.github.io. Its
   readers end with some 480 small spheres around three large ones, and hours of one CPU core.
   raytrace.cuh traces the same scene through each kind of memory, where every ray asks for every
   sphere, and through a tree, where it asks for few. All must give the same bytes, and a smaller
   picture those of the CPU.

   Build   nvcc -O3 -arch=native demos/weekend.cu -o weekend
   Run     ./weekend                                     1200 x 675, 100 paths a pixel; weekend.png
           ./weekend --samples 500 --memory tree --out cover.png
           ./weekend --help */
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
enum { ON_CPU = 1, WIDTH = 192, HEIGHT = 108, SAMPLES = 4 };
#else
enum { ON_CPU = 0, WIDTH = 1200, HEIGHT = 675, SAMPLES = 100 };
#endif
enum {
    REPS = ON_CPU ? 1 : 5,
    MOST = 500,
    SMALL_W = 96,
    SMALL_H = 54,
    SMALL_SAMPLES = 2,
    MOST_NAME = 4000,
    KINDS = 5
};
static const rayt_where kinds[KINDS] = {RAYT_GLOBAL, RAYT_READONLY, RAYT_CONSTANT, RAYT_SHARED,
                                        RAYT_TREE};

/* ---------------------------------- the scene ------------------------------------------------- */
static rayt_sphere spheres[MOST];
static rayt_material materials[MOST];
static int count;
static unsigned long long state;

static float number(void) /* in [0, 1); splitmix64 */
{
    unsigned long long z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (float)((z ^ (z >> 31)) >> 40) / 16777216.0f;
}

static rayt_material *put(float x, float y, float z, float radius, rayt_kind kind, float r, float g,
                          float b)
{
    rayt_sphere sphere = {x, y, z, radius, r, g, b};
    rayt_material material = {kind, 0, 1.5f, 0}; /* glass has an index of 1.5 */
    spheres[count] = sphere;
    materials[count] = material;
    return &materials[count++];
}

/* A ball as the ground; on it a grid of small spheres, each moved a little, around three large
   ones: 4 in 5 are diffuse, 3 in 20 of metal, the rest of glass. */
static void make_scene(unsigned long long seed)
{
    state = seed, count = 0;
    put(0, -1000, 0, 1000, RAYT_DIFFUSE, 0.5f, 0.5f, 0.5f);
    for (int column = -11; column < 11; column++)
        for (int row = -11; row < 11; row++) {
            float x = (float)column + 0.9f * number(), z = (float)row + 0.9f * number();
            float choice = number(), c[6];
            for (int k = 0; k < 6; k++) c[k] = number();
            if ((x - 4) * (x - 4) + z * z < 0.81f) continue; /* the large mirror is there */
            if (choice < 0.8f)
                put(x, 0.2f, z, 0.2f, RAYT_DIFFUSE, c[0] * c[1], c[2] * c[3], c[4] * c[5]);
            else if (choice < 0.95f)
                put(x, 0.2f, z, 0.2f, RAYT_MIRROR, 0.5f + 0.5f * c[0], 0.5f + 0.5f * c[1],
                    0.5f + 0.5f * c[2])
                    ->fuzz = 0.5f * c[3];
            else
                put(x, 0.2f, z, 0.2f, RAYT_GLASS, 1, 1, 1);
        }
    put(0, 1, 0, 1, RAYT_GLASS, 1, 1, 1);
    put(-4, 1, 0, 1, RAYT_DIFFUSE, 0.4f, 0.2f, 0.1f);
    put(4, 1, 0, 1, RAYT_MIRROR, 0.7f, 0.6f, 0.5f);
}

/* ---------------------------------- the harness ----------------------------------------------- */
static struct {
    int width, height, samples, depth, memory; /* memory: a number in kinds[], or -1 for all */
    unsigned long long seed;
    const char *out, *csv;
} o = {WIDTH, HEIGHT, SAMPLES, 50, -1, 1, "weekend.png", NULL};

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, "weekend: %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

#define TRACE(call) traced(call)
static void traced(rayt_status status)
{
    if (status != RAYT_OK)
        fprintf(stderr, "weekend: %s: %s\n", rayt_status_string(status), rayt_last_error()),
            exit(2);
}

/* Ends the program if what it has printed cannot be written. A closed pipe needs no words. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("weekend: standard output");
    _Exit(1);
}

static void help(void)
{
    printf("usage: weekend [options]\n"
           "Traces the cover of \"Ray Tracing in One Weekend\" through each kind of memory and "
           "through\n"
           "a tree, compares the pictures, prints a table and writes a PNG file.\n\n"
           "  --width W, --height H   of the picture (default %d x %d)\n"
           "  --samples N             paths a pixel (default %d)\n"
           "  --depth N               rays of a path at most (default 50)\n"
           "  --seed N                other small spheres and other paths (default 1)\n"
           "  --memory NAME           only this: global, readonly, constant, shared, tree\n"
           "  --out FILE              the picture (default weekend.png)\n"
           "  --csv FILE              write the table to FILE as well\n"
           "  -h, --help              this text\n",
           WIDTH, HEIGHT, SAMPLES);
}

static int parse(int argc, char **argv)
{
    for (int n = 1; n < argc; n++) {
        const char *word = argv[n], *value = n + 1 < argc ? argv[n + 1] : "";
        char *end;
        long number = strtol(value, &end, 10), most = 65536;
        int *to = strcmp(word, "--width") == 0     ? &o.width
                  : strcmp(word, "--height") == 0  ? &o.height
                  : strcmp(word, "--samples") == 0 ? &o.samples
                                                   : NULL;
        if (strcmp(word, "--depth") == 0) to = &o.depth, most = 1000;
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
        } else if (strcmp(word, "--memory") == 0) {
            for (o.memory = 0; o.memory < KINDS; o.memory++)
                if (strcmp(value, rayt_where_string(kinds[o.memory])) == 0) break;
            if (o.memory == KINDS)
                return fprintf(stderr,
                               "weekend: --memory is global, readonly, constant, shared or "
                               "tree, not '%s'; see --help\n",
                               value),
                       0;
        } else {
            return fprintf(stderr, "weekend: cannot use '%s%s%s'; see --help\n", word,
                           to || is_seed ? " " : "", to || is_seed ? value : ""),
                   0;
        }
        n++;
    }
    if (o.csv && strcmp(o.csv, o.out) == 0)
        return fprintf(stderr, "weekend: --csv and --out would both write '%s'; see --help\n",
                       o.csv),
               0;
    return 1;
}

static rayt_scene scene;
static rayt_camera camera = {{13, 2, 3}, {0, 0, 0}, {0, 1, 0}, 20, 0.1047f, 10};
static rayt_quality quality;
static unsigned char *device_image;
static cudaEvent_t start, stop;

/* A picture by one kind of memory, from device memory to host memory; returns its milliseconds. */
static float trace(rayt_where where, unsigned char *image, int width, int height)
{
    size_t bytes = (size_t)width * height * 4;
    float ms = 0;
    CHECK(cudaMemset(device_image, 0xA5, bytes)), CHECK(cudaEventRecord(start));
    TRACE(rayt_trace(where, &scene, &camera, &quality, device_image, width, height, NULL));
    CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaMemcpy(image, device_image, bytes, cudaMemcpyDeviceToHost));
    return ms;
}

/* The same paths, fewer of them, by the CPU. */
static void trace_small_by_cpu(unsigned char *image)
{
    rayt_scene here = scene;
    rayt_tree tree = {NULL, 0, 0, 0, 0};
    here.spheres = spheres, here.materials = materials, here.tree = &tree;
    TRACE(rayt_build_host(&tree, spheres, count));
    TRACE(rayt_trace_cpu(&here, &camera, &quality, image, SMALL_W, SMALL_H));
    TRACE(rayt_tree_free(&tree));
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
    if (!trial) fprintf(stderr, "weekend: cannot write '%s'\n", path);
    return trial != NULL;
}

/* What the table has, kept for the CSV file: it is written at the end and not before, so that a run
   that is interrupted leaves no part of one. */
static struct {
    const char *name, *result;
    double ms, rate; /* million paths a second */
} rows[KINDS];
static int row_count;

static int write_csv(void)
{
    char beside[MOST_NAME + 10];
    int in_place = is_special(o.csv);
    snprintf(beside, sizeof beside, in_place ? "%s" : "%s.tmp", o.csv);
    FILE *csv = fopen(beside, "w");
    int good = csv != NULL;
    if (csv) {
        fprintf(csv, "memory,spheres,width,height,samples,depth,ms,mpaths_per_second,result\n");
        for (int n = 0; n < row_count; n++)
            fprintf(csv, "%s,%d,%d,%d,%d,%d,%.4f,%.2f,%s\n", rows[n].name, count, o.width, o.height,
                    o.samples, o.depth, rows[n].ms, rows[n].rate, rows[n].result);
        good = !(ferror(csv) | fclose(csv));
    }
#ifdef _WIN32
    if (good) remove(o.csv); /* Windows does not rename onto a file */
#endif
    if (good && !in_place) good = rename(beside, o.csv) == 0;
    if (!good && !in_place) remove(beside);
    if (!good) fprintf(stderr, "weekend: cannot write '%s'\n", o.csv);
    return good;
}

static float median(float *times, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
            float t = times[k];
            times[k] = times[k - 1], times[k - 1] = t;
        }
    return times[n / 2];
}

int main(int argc, char **argv)
{
    static unsigned char by_cpu[SMALL_W * SMALL_H * 4], small[SMALL_W * SMALL_H * 4];
    void *device_spheres, *device_materials;
    rayt_tree tree = {NULL, 0, 0, 0, 0};
    cudaDeviceProp device;
    int failures = 0;
    check_output(), atexit(check_output);
    if (!parse(argc, argv)) return 2;
    CHECK(cudaGetDeviceProperties(&device, 0));
    if (!can_write(o.out) || (o.csv && !can_write(o.csv))) return 2; /* before the work */

    make_scene(o.seed);
    size_t bytes = (size_t)o.width * o.height * 4;
    unsigned char *image = (unsigned char *)malloc(bytes), *first = (unsigned char *)malloc(bytes);
    if (!image || !first) return fprintf(stderr, "weekend: no host memory for a picture\n"), 2;
    CHECK(cudaMalloc((void **)&device_image, bytes > sizeof small ? bytes : sizeof small));
    CHECK(cudaMalloc(&device_spheres, sizeof spheres));
    CHECK(cudaMalloc(&device_materials, sizeof materials));
    CHECK(cudaMemcpy(device_spheres, spheres, sizeof spheres, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_materials, materials, sizeof materials, cudaMemcpyHostToDevice));
    CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop));
    scene.spheres = (const rayt_sphere *)device_spheres;
    scene.materials = (const rayt_material *)device_materials;
    scene.count = count, scene.tree = &tree;
    for (int c = 0; c < 3; c++) scene.sky_bottom[c] = 1;
    scene.sky_top[0] = 0.5f, scene.sky_top[1] = 0.7f, scene.sky_top[2] = 1;
    TRACE(rayt_build(&tree, scene.spheres, count, NULL));

    printf("%s: %d spheres, %d x %d pixels, %d paths each, %d rays a path at most%s\n\n"
           "memory            ms   Mpaths/s   result\n",
           device.name, count, o.width, o.height, o.samples, o.depth,
           ON_CPU ? "; times are CPU times" : "");
    for (int k = 0; k < KINDS; k++) {
        float times[REPS];
        if (o.memory >= 0 && o.memory != k) continue;
        rayt_quality few = {SMALL_SAMPLES, o.depth, o.seed, 2};
        rayt_quality full = {o.samples, o.depth, o.seed, 2};
        quality = few;
        if (row_count == 0) trace_small_by_cpu(by_cpu);
        trace(kinds[k], small, SMALL_W, SMALL_H);
        int wrong = memcmp(small, by_cpu, sizeof small) != 0;
        quality = full;
        for (int n = 0; n < REPS; n++) times[n] = trace(kinds[k], image, o.width, o.height);
        if (row_count == 0) memcpy(first, image, bytes);
        wrong |= memcmp(image, first, bytes) != 0;
        failures += wrong;
        float ms = median(times, REPS);
        double paths = (double)o.width * o.height * o.samples / ms * 1e-3;
        const char *name = rayt_where_string(kinds[k]), *result = wrong ? "WRONG" : "ok";
        printf("%-10s%10.2f%11.1f%9s\n", name, ms, paths, result);
        fflush(stdout);
        rows[row_count].name = name, rows[row_count].result = result;
        rows[row_count].ms = ms, rows[row_count++].rate = paths;
    }
    printf("\nok: the bytes of the first row, and at %d x %d with %d paths those of the CPU.\n"
           "tree: the time to build it is not in its row; it takes no part in what is seen.\n",
           SMALL_W, SMALL_H, SMALL_SAMPLES);
    TRACE(rayt_write_png(o.out, image, o.width, o.height));
    printf("picture: %s\n", o.out);
    TRACE(rayt_tree_free(&tree));
    CHECK(cudaFree(device_image)), CHECK(cudaFree(device_spheres)),
        CHECK(cudaFree(device_materials));
    CHECK(cudaEventDestroy(start)), CHECK(cudaEventDestroy(stop));
    free(image), free(first);
    if (o.csv && !write_csv()) failures++;
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
