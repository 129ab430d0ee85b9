/* raytrace.cu - one scene through every kind of GPU memory, timed, checked, explained, and shown.

   It answers the questions of a first course on GPU memory. Does it matter where the spheres of a
   ray caster lie: in global memory, behind the read-only cache, in constant or in shared memory? By
   how much, from which size of scene on, and why? And what does it gain to ask only for the spheres
   that matter? A second table asks it again for rays from a camera, which mirrors and shadows send
   everywhere: does what is right for parallel rays hold there?

   Build   nvcc demos/raytrace.cu -o raytrace        (add -O3 -arch=native for your own GPU's code)
   Run     ./raytrace                      16 to 2048 spheres; writes raytrace.png, raytrace.ppm
           ./raytrace --spheres 300 --width 640 --height 480 --out picture
           ./raytrace --help

   Times are those of the kernels, medians by CUDA events, spheres and image in device memory; what
   it costs to fill constant memory is told apart. Every image is compared with that of the CPU,
   byte for byte. */
#define RAYT_WITH_TRACE
#include "../raytrace.cuh"
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#ifdef _WIN32
#include <io.h>
#define is_terminal(stream) _isatty(_fileno(stream))
#else
#include <sys/stat.h>
#include <unistd.h>
#define is_terminal(stream) isatty(fileno(stream))
#endif

#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, DEFAULT_WIDTH = 160, DEFAULT_HEIGHT = 120, REPS = 1 };
#else
enum { ON_CPU = 0, DEFAULT_WIDTH = 2048, DEFAULT_HEIGHT = 2048, REPS = 9 };
#endif
enum { FIRST = 16, LAST = 2048, MOST_ROWS = 8 };
/* Columns: parallel rays by a rayt_where and by the CPU, then a camera's by traced[] and the CPU. */
enum { CPU = RAYT_WHERE_COUNT, TRACED, TRACED_CPU = TRACED + 5, COLUMNS };
static const rayt_where traced[] = {RAYT_GLOBAL, RAYT_READONLY, RAYT_CONSTANT, RAYT_SHARED,
                                    RAYT_TREE};
enum { TABLE = RAYT_MAX_CONST / 64 * 2 }; /* spheres that constant memory holds */

/* ---------------------------------- what is asked for ----------------------------------------- */
typedef struct options {
    int width, height;
    float least, largest; /* radii, in pixels */
    int spheres;          /* 0: the series */
    int memory;           /* a rayt_where, or -1 for all */
    int cpu, preview;
    unsigned long long seed;
    const char *csv;
    char png[1000], ppm[1000];
} options;

static void print_help(void)
{
    printf(
        "usage: raytrace [options]\n"
        "Renders random spheres with every kernel of raytrace.cuh and on the CPU, compares the\n"
        "images, prints a table, and writes the last one as a picture.\n\n"
        "  --width W, --height H  of the image (default %d x %d); radii of spheres scale with it,\n"
        "                         from 20 to 120 at 2048 x 2048\n"
        "  --spheres N            N spheres instead of the series 16, 32, ... 2048\n"
        "  --seed S               other spheres (default 1)\n"
        "  --memory NAME          only this kernel: global, readonly, constant, shared, culled,\n"
        "                         tree\n"
        "  --no-cpu               leave the CPU out; the kernels are compared with each other\n"
        "  --out NAME             write NAME.png and NAME.ppm (default raytrace)\n"
        "  --preview              show the picture in the terminal; done anyway if the output\n"
        "                         is one\n"
        "  --csv FILE             write the table to FILE as well\n"
        "  -h, --help             this text\n",
        DEFAULT_WIDTH, DEFAULT_HEIGHT);
}

static int refuse(const char *format, const char *argument)
{
    fprintf(stderr, "raytrace: ");
    fprintf(stderr, format, argument);
    fprintf(stderr, "\nraytrace: --help lists what can be asked\n");
    return 0;
}

/* A whole number in [low, high], or 0 with a sentence. */
static int parse_number(const char *name, const char *text, long long low, long long high,
                        long long *number)
{
    char *end, message[160];
    errno = 0;
    *number = text ? strtoll(text, &end, 10) : 0;
    if (text && *text && !*end && !errno && *number >= low && *number <= high) return 1;
    snprintf(message, sizeof message, "%s must be a whole number from %lld to %lld, not '%%s'",
             name, low, high);
    return refuse(message, text ? text : "nothing");
}

static int parse_options(int count, char **words, options *o)
{
    long long number;
    const char *out = "raytrace";
    memset(o, 0, sizeof *o);
    o->width = DEFAULT_WIDTH, o->height = DEFAULT_HEIGHT;
    o->memory = -1, o->cpu = 1, o->seed = 1;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        int takes_value = 1;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--no-cpu") == 0) {
            o->cpu = 0, takes_value = 0;
        } else if (strcmp(word, "--preview") == 0) {
            o->preview = 1, takes_value = 0;
        } else if (strcmp(word, "--width") == 0) {
            if (!parse_number(word, value, 1, 1 << 20, &number)) return 0;
            o->width = (int)number;
        } else if (strcmp(word, "--height") == 0) {
            if (!parse_number(word, value, 1, 1 << 20, &number)) return 0;
            o->height = (int)number;
        } else if (strcmp(word, "--spheres") == 0) {
            if (!parse_number(word, value, 1, 1 << 26, &number)) return 0;
            o->spheres = (int)number;
        } else if (strcmp(word, "--seed") == 0) {
            if (!parse_number(word, value, 0, INT64_MAX, &number)) return 0;
            o->seed = (unsigned long long)number;
        } else if (strcmp(word, "--memory") == 0) {
            int w = 0;
            while (w < RAYT_WHERE_COUNT &&
                   (!value || strcmp(value, rayt_where_string((rayt_where)w)) != 0))
                w++;
            if (w == RAYT_WHERE_COUNT && value && strcmp(value, "tree") == 0) w = RAYT_TREE;
            if (w == RAYT_WHERE_COUNT)
                return refuse("--memory is global, readonly, constant, shared, culled or tree, "
                              "not '%s'",
                              value ? value : "nothing");
            o->memory = w;
        } else if (strcmp(word, "--out") == 0) {
            if (!value || !*value || value[0] == '-')
                return refuse("%s needs the name of a picture", word);
            out = value;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || !*value || value[0] == '-')
                return refuse("%s needs the name of a file", word);
            o->csv = value;
        } else {
            return refuse("unknown option '%s'", word);
        }
        i += takes_value;
    }
    /* The scene of the course exercise, 2048 x 2048, in any size: as much of it is covered. */
    float scale = sqrtf((float)o->width * (float)o->height) / 2048;
    o->least = 20 * scale, o->largest = 120 * scale;
    size_t length = strlen(out);
    if (length >= 4 &&
        (strcmp(out + length - 4, ".png") == 0 || strcmp(out + length - 4, ".ppm") == 0))
        length -= 4;
    size_t name = length; /* where it begins; dots alone would be a folder or a hidden file */
    while (name > 0 && out[name - 1] != '/' && out[name - 1] != '\\') name--;
    if (name + strspn(out + name, ".") >= length)
        return refuse("--out needs the name of a picture, not '%s'", out);
    if (length > sizeof o->png - 5) return refuse("--out: '%s' is too long", out);
    snprintf(o->png, sizeof o->png, "%.*s.png", (int)length, out);
    snprintf(o->ppm, sizeof o->ppm, "%.*s.ppm", (int)length, out);
    if (o->csv && (strcmp(o->csv, o->png) == 0 || strcmp(o->csv, o->ppm) == 0))
        return refuse("--csv and --out would both write '%s'", o->csv);
    return 1;
}

/* The CSV file appears whole or not at all: it is written beside its place, renamed at the end, and
   removed if the program is interrupted. A link is followed; what is no ordinary file, such as a
   pipe, is written to directly. */
static FILE *csv;
static const char *csv_name;                  /* as it was given */
static char csv_path[4096], csv_beside[4100]; /* the latter: empty if there is nothing to rename */

static void interrupted(int number)
{
    if (csv_beside[0]) remove(csv_beside);
    signal(number, SIG_DFL);
    raise(number);
}

static int open_csv(const char *path)
{
    csv_name = path;
    int direct = 0;
#ifdef _WIN32
    static const int ends[] = {SIGINT, SIGTERM};
    snprintf(csv_path, sizeof csv_path, "%s", path);
#else
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct stat there;
    int is_there = lstat(path, &there) == 0;
    direct = is_there && !(stat(path, &there) == 0 && S_ISREG(there.st_mode));
    if (!is_there || direct || !realpath(path, csv_path))
        snprintf(csv_path, sizeof csv_path, "%s", path);
#endif
    for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) /* what is ignored stays so */
        if (signal(ends[n], interrupted) == SIG_IGN) signal(ends[n], SIG_IGN);
    if (!direct) snprintf(csv_beside, sizeof csv_beside, "%s.tmp", csv_path);
    csv = fopen(direct ? csv_path : csv_beside, "w");
    if (!csv) fprintf(stderr, "raytrace: cannot write '%s'\n", path);
    return csv != NULL;
}

static int close_csv(int keep)
{
    int good = !ferror(csv);
    good &= fclose(csv) == 0;
#ifdef _WIN32
    if (good && keep) remove(csv_path); /* Windows does not rename onto a file */
#endif
    if (csv_beside[0] && !(good && keep && rename(csv_beside, csv_path) == 0)) {
        remove(csv_beside);
        good &= !keep;
    }
    csv_beside[0] = 0;
    if (!good) fprintf(stderr, "raytrace: cannot write '%s'\n", csv_name);
    return good;
}

/* Can a picture be written there? Asked before the work; leaves nothing behind. */
static int can_write(const char *path)
{
    char part[1008];
    FILE *trial = NULL;
    int is_folder = 0;
#ifndef _WIN32
    struct stat there;
    is_folder = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
#endif
    snprintf(part, sizeof part, "%s.part", path);
    if (!is_folder && (trial = fopen(part, "wb")) != NULL) {
        fclose(trial);
        remove(part);
    } else {
        fprintf(stderr, "raytrace: cannot write '%s'\n", path);
    }
    return trial != NULL;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "raytrace: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

/* ---------------------------------- measuring ------------------------------------------------- */
typedef struct job {
    options o;
    rayt_sphere *host, *spheres;     /* host and device memory */
    unsigned char *image, *expected; /* host memory; expected: what all others must give */
    unsigned char *device_image;
    int has_expected;
    rayt_scene scene; /* of the same spheres, in device memory, for the camera */
    rayt_camera camera;
    rayt_material *materials, *device_materials;
    rayt_tree tree;
} job;

typedef struct spread {
    double least, mean, most;
} spread;

/* What one row of the table holds; times in seconds, 0: not measured. */
typedef struct row {
    int spheres;
    double seconds[COLUMNS]; /* medians */
    spread around[COLUMNS];  /* of the same timings */
    double filling;          /* of constant memory */
    double touching;         /* how many spheres can touch a tile of 64 x 64 pixels, on average */
    int wrong[COLUMNS];
} row;

static int succeeded(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        fprintf(stderr, "raytrace: %s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

static int rendered(rayt_status status)
{
    if (status != RAYT_OK)
        fprintf(stderr, "raytrace: %s: %s\n", rayt_status_string(status), rayt_last_error());
    return status == RAYT_OK;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const rayt_quality quality = {1, 4, 1, 1}; /* a path a pixel, 4 rays at most; seed, gamma */

/* Enqueues one image; 1 on success. CONSTANT_ONLY is the kernel of RAYT_CONSTANT alone: rayt_render
   has left the scene in constant memory, if it fits. */
enum { CONSTANT_ONLY = -1 };

static int launch(const job *j, int where, int count)
{
    const options *o = &j->o;
    if (where >= TRACED)
        return rendered(rayt_trace(traced[where - TRACED], &j->scene, &j->camera, &quality,
                                   j->device_image, o->width, o->height, 0));
    if (where != CONSTANT_ONLY)
        return rendered(rayt_render((rayt_where)where, j->spheres, count, j->device_image, o->width,
                                    o->height, 0));
    dim3 block(16, 16), grid((o->width + 15) / 16, (o->height + 15) / 16);
    rayt_render_constant<<<grid, block>>>(count, 0, NULL, (uchar4 *)j->device_image, o->width,
                                          o->height, 0, o->height);
    return succeeded(cudaGetLastError(), "kernel");
}

/* Median seconds of a launch, and their spread. Short ones are repeated within a measurement: an
   event has a resolution of half a microsecond. */
static int time_on_device(const job *j, int where, int count, double *seconds, spread *around)
{
    double times[REPS];
    cudaEvent_t start, stop;
    if (!succeeded(cudaEventCreate(&start), "cudaEventCreate")) return 0;
    if (!succeeded(cudaEventCreate(&stop), "cudaEventCreate")) {
        cudaEventDestroy(start);
        return 0;
    }
    float ms = 0;
    int good = 1, inner = 1;
    for (int n = -1; n < REPS && good; n++) { /* -1: how long does one take? */
        cudaEventRecord(start);
        for (int i = 0; i < inner && good; i++) good = launch(j, where, count);
        cudaEventRecord(stop);
        good = good && succeeded(cudaEventSynchronize(stop), "kernel");
        cudaEventElapsedTime(&ms, start, stop);
        if (n >= 0) times[n] = ms * 1e-3 / inner;
        if (n == -1 && ms < 1 && !ON_CPU) inner = ms > 0.005 ? (int)(1 / ms) + 1 : 200;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    if (!good) return 0;
    qsort(times, REPS, sizeof *times, by_value);
    *seconds = times[REPS / 2];
    around->least = times[0], around->most = times[REPS - 1], around->mean = 0;
    for (int n = 0; n < REPS; n++) around->mean += times[n] / REPS;
    return 1;
}

/* One kernel: an image into poisoned memory, compared; then the timing. */
static int measure(job *j, row *r, int where)
{
    double *seconds = &r->seconds[where];
    spread *around = &r->around[where];
    size_t bytes = (size_t)j->o.width * j->o.height * 4;
    if (!succeeded(cudaMemset(j->device_image, 0xA5, bytes), "cudaMemset") ||
        !launch(j, where, r->spheres) ||
        !succeeded(cudaMemcpy(j->image, j->device_image, bytes, cudaMemcpyDeviceToHost), "kernel"))
        return 0;
    if (!j->has_expected) memcpy(j->expected, j->image, bytes);
    j->has_expected = 1;
    r->wrong[where] = memcmp(j->image, j->expected, bytes) != 0;
    if (!time_on_device(j, where, r->spheres, seconds, around)) return 0;
    if (where != RAYT_CONSTANT || r->spheres > TABLE) return 1;
    double whole = *seconds;
    if (!time_on_device(j, CONSTANT_ONLY, r->spheres, seconds, around)) return 0;
    r->filling = whole - *seconds;
    return 1;
}

/* How many spheres reach into a tile of 64 x 64 pixels, on average. */
static double count_touching(const job *j, int count)
{
    double touching = 0;
    int tiles = 0;
    for (int top = 0; top < j->o.height; top += 64)
        for (int left = 0; left < j->o.width; left += 64, tiles++)
            for (int n = 0; n < count; n++) {
                const rayt_sphere *s = &j->host[n];
                float x = s->x + 0.5f * (float)j->o.width - (float)left;
                float y = s->y + 0.5f * (float)j->o.height - (float)top;
                float dx = fmaxf(fmaxf(-x, x - 63), 0), dy = fmaxf(fmaxf(-y, y - 63), 0);
                touching += dx * dx + dy * dy < s->radius * s->radius;
            }
    return touching / tiles;
}

/* The scene for a camera: every third sphere is a mirror, the sun throws shadows. The camera stands as
   far away as the picture is wide, and what is beside it in the middle fills the picture. */
static int set_scene(job *j, int count)
{
    const options *o = &j->o;
    float far = 1.5f * (float)o->width;
    rayt_camera camera = {{0, 0, far}, {0, 0, 0}, {0, 1, 0}, 0, 0, 0};
    memset(&j->scene, 0, sizeof j->scene);
    camera.field_of_view = 114.6f * atanf(0.5f * (float)o->height / far); /* degrees, twice */
    j->camera = camera;
    j->scene.spheres = j->spheres, j->scene.materials = j->device_materials;
    j->scene.count = count, j->scene.tree = &j->tree;
    j->scene.sun.x = 1, j->scene.sun.y = 2, j->scene.sun.z = 3;
    j->scene.sun.r = j->scene.sun.g = j->scene.sun.b = 0.9f;
    for (int c = 0; c < 3; c++)
        j->scene.ambient[c] = 0.1f, j->scene.sky_bottom[c] = 0.2f, j->scene.sky_top[c] = 0.6f;
    for (int n = 0; n < count; n++) {
        rayt_material material = {n % 3 == 0 ? RAYT_MIRROR : RAYT_MATT, 0, 0, 0};
        j->materials[n] = material;
    }
    return succeeded(cudaMemcpy(j->device_materials, j->materials, sizeof *j->materials * count,
                                cudaMemcpyHostToDevice),
                     "copy of the materials") &&
           rendered(rayt_build(&j->tree, j->spheres, count, 0));
}

/* The columns of a camera's rays. */
static int add_traced(job *j, row *r)
{
    const options *o = &j->o;
    if (o->memory == RAYT_CULLED) return 1; /* for parallel rays alone */
    if (!set_scene(j, r->spheres)) return 0;
    j->has_expected = 0;
    if (o->cpu) {
        rayt_scene here = j->scene;
        rayt_tree tree = {NULL, 0, 0, 0, 0};
        here.spheres = j->host, here.materials = j->materials, here.tree = &tree;
        double begin = now();
        int good =
            rendered(rayt_build_host(&tree, j->host, r->spheres)) &&
            rendered(rayt_trace_cpu(&here, &j->camera, &quality, j->expected, o->width, o->height));
        r->seconds[TRACED_CPU] = now() - begin;
        if (!rendered(rayt_tree_free(&tree)) || !good) return 0;
        j->has_expected = 1;
    }
    for (int n = 0; n < TRACED_CPU - TRACED; n++)
        if ((o->memory < 0 || o->memory == (int)traced[n]) && !measure(j, r, TRACED + n)) return 0;
    return 1;
}

static int add_row(job *j, row *r, int count)
{
    const options *o = &j->o;
    r->spheres = count;
    if (!rendered(rayt_random_scene(j->host, count, o->seed, o->width, o->height, o->least,
                                    o->largest)) ||
        !succeeded(cudaMemcpy(j->spheres, j->host, sizeof *j->host * count, cudaMemcpyHostToDevice),
                   "copy of the spheres") ||
        !add_traced(j, r))
        return 0;
    j->has_expected = 0;
    if (o->cpu && o->memory != RAYT_TREE) {
        double begin = now();
        if (!rendered(rayt_render_cpu(j->host, count, j->expected, o->width, o->height))) return 0;
        double took = r->seconds[CPU] = now() - begin;
        r->around[CPU].least = r->around[CPU].mean = r->around[CPU].most = took;
        j->has_expected = 1;
    }
    r->touching = count_touching(j, count);
    for (int where = 0; where < RAYT_WHERE_COUNT; where++)
        if ((o->memory < 0 || o->memory == where) && !measure(j, r, where)) return 0;
    return 1;
}

/* ---------------------------------- the table and what it means ------------------------------- */
static const char *column_name(int column)
{
    if (column >= TRACED && column < TRACED_CPU) return rayt_where_string(traced[column - TRACED]);
    return column == CPU || column == TRACED_CPU ? "CPU" : rayt_where_string((rayt_where)column);
}

static int fastest(const row *r, int first, int end)
{
    int best = -1;
    for (int c = first; c < end; c++)
        if (r->seconds[c] > 0 && (best < 0 || r->seconds[c] < r->seconds[best])) best = c;
    return best;
}

/* The columns from `first` on, of parallel rays or a camera's. */
static void print_table(const job *j, const row *rows, int count, int first)
{
    int end = first == TRACED ? COLUMNS : TRACED, passes = 0;
    if (fastest(&rows[0], first, end) < 0) return; /* what was asked for is not in this table */
    printf("\nmilliseconds, %s\n%8s",
           first == TRACED ? "a camera's rays, with mirrors and shadows" : "parallel rays",
           "spheres");
    for (int c = first; c < end; c++)
        printf(c == RAYT_CONSTANT ? " %10s " : " %10s", column_name(c));
    printf("  %-9s %10s\n", "fastest", "Mrays/s");
    for (int n = 0; n < count; n++) {
        const row *r = &rows[n];
        printf("%8d", r->spheres);
        for (int c = first; c < end; c++) {
            char text[32] = "-";
            int marked = c == RAYT_CONSTANT && r->spheres > TABLE && r->seconds[c] > 0;
            if (r->seconds[c] > 0)
                snprintf(text, sizeof text, "%.*f", r->seconds[c] < 10 ? 4 : 1,
                         r->seconds[c] * 1e3);
            passes |= marked;
            const char *star = marked ? "*" : c == RAYT_CONSTANT ? " " : "";
            printf(" %10s%s", r->wrong[c] ? "WRONG" : text, star);
        }
        int best = fastest(r, first, end);
        printf("  %-9s %10.1f\n", column_name(best),
               (double)j->o.width * j->o.height / r->seconds[best] * 1e-6);
    }
    printf(first == TRACED ? "Mrays/s: million pixels per second by the fastest; each has up to 4 "
                             "rays, and those to the sun.\n"
                           : "Mrays/s: million rays, that is pixels, per second by the fastest.\n");
    if (passes)
        printf("*: in passes of %d spheres, what constant memory holds of them here "
               "(RAYT_MAX_CONST),\n"
               "   with the table filled in between.\n",
               TABLE);
}

/* Says how one kind of memory did against another, in one row; 5% are taken for a tie. */
static void compare(const row *r, int a, int b, const char *faster, const char *tie,
                    const char *slower)
{
    double ratio = r->seconds[a] / r->seconds[b];
    printf("%s against %s, %d spheres: ", column_name(a), column_name(b), r->spheres);
    if (ratio < 0.95)
        printf("%.2f times as fast. %s\n", 1 / ratio, faster);
    else if (ratio > 1.05)
        printf("%.2f times as slow. %s\n", ratio, slower);
    else
        printf("a tie (%.2f). %s\n", ratio, tie);
}

static const row *largest_with(const row *rows, int count, int most, int a, int b)
{
    for (int n = count - 1; n >= 0; n--)
        if (rows[n].spheres <= most && rows[n].seconds[a] > 0 && rows[n].seconds[b] > 0)
            return &rows[n];
    return NULL;
}

/* A camera's rays. The reasons are counters of one H100 and the code that nvcc 13.0 makes for it:
   bench/notes/raytrace_trace.md has the numbers. */
static void explain_traced(const row *rows, int count)
{
    static const struct {
        int kind;
        const char *faster, *tie, *slower;
    } notes[] = {
        {TRACED + 1,
         "It is not the cache: since\nVolta both are the same, and nearly all loads hit it. With "
         "__ldg nvcc keeps the\nscene's address and count in registers; without, each test reads "
         "both again from the\nkernel's parameters, waits for them, and has more instructions.",
         "Since Volta both are the\nsame cache.",
         "It is the code around the\nload: since Volta both are the same cache."},
        {TRACED + 2, "Its loads wait less than\nthose of the first-level cache.",
         "Its loads wait less than\nthose of the first-level cache; but each test asks first in "
         "which memory its sphere\nis, for not all fit.",
         "Lanes that walk together\nask for one sphere: nothing is serialised, and its loads wait "
         "less. But not all\nspheres fit, so each test asks first in which memory its sphere is: "
         "more\ninstructions."},
        {TRACED + 3,
         "Shared memory answers\nsooner than the first-level cache: warps wait less for loads, and "
         "more of them are\nready at any time.",
         "What shorter loads save,\nbarriers cost: a block goes on together while it has a path.",
         "Barriers cost more than\nshorter loads save: a block goes on together while it has a "
         "path."},
    };
    printf("\nA camera's rays: every ray still asks for every sphere, so that the lanes of a warp "
           "walk\nthrough them together. But those whose ray has found the shadow, or that have no "
           "path\nleft, wait for the others.\n");
    for (int n = 0; n < 3; n++) {
        const row *r = largest_with(rows, count, INT_MAX, notes[n].kind, TRACED);
        if (r) compare(r, notes[n].kind, TRACED, notes[n].faster, notes[n].tie, notes[n].slower);
    }
    const row *r = largest_with(rows, count, INT_MAX, TRACED + 4, TRACED);
    if (r)
        printf("A tree, which asks for few of %d spheres, and for neighbouring rays at once: %.1f "
               "times as fast\nas global. The time to build it is not in the table.\n",
               r->spheres, r->seconds[TRACED] / r->seconds[TRACED + 4]);
}

static void explain(const job *j, const row *rows, int count)
{
    double pixels = (double)j->o.width * j->o.height;
    const row *r;
    printf("\n");
    if (ON_CPU) {
        printf(
            "The kernels ran on the CPU: these times say nothing about the memories of a GPU.\n");
        return;
    }
    if ((r = largest_with(rows, count, INT_MAX, RAYT_READONLY, RAYT_GLOBAL)))
        compare(
            r, RAYT_READONLY, RAYT_GLOBAL,
            "The read-only path is a cache of\nits own on this device.",
            "Since Volta both are the same\ncache, and in both a warp's 32 lanes get one sphere "
            "by one broadcast.",
            "");
    if ((r = largest_with(rows, count, 128, RAYT_CONSTANT, RAYT_GLOBAL)))
        compare(
            r, RAYT_CONSTANT, RAYT_GLOBAL,
            "A warp asks for one address at a\ntime, which is what the constant cache is made "
            "for; and the spheres were put there\nin such an order that 3 loads of 8 bytes serve 2 "
            "tests.",
            "All lanes ask for the same sphere,\nand an aligned record makes that one broadcast "
            "from either cache.",
            "The scene fits the constant\ncache, so it is not size: constant loads take another "
            "way to the registers,\nand here more time than a broadcast from the first-level "
            "cache.");
    const row *small = r;
    r = largest_with(rows, count, TABLE, RAYT_CONSTANT, RAYT_GLOBAL);
    if (r && r != small)
        compare(r, RAYT_CONSTANT, RAYT_GLOBAL, "The broadcast wins at this size, too.",
                "Also beyond the first level of the\nconstant cache (about 2 kB, 128 balls): its "
                "second level\nkeeps up.",
                "Beyond about 2 kB (128 balls) the\nfirst level of the constant cache misses.");
    if ((r = largest_with(rows, count, TABLE, RAYT_CONSTANT, RAYT_CONSTANT)) && r->filling > 0)
        printf("Filling constant memory with %d spheres takes another %.1f us a frame.\n",
               r->spheres, r->filling * 1e6);
    r = largest_with(rows, count, INT_MAX, RAYT_CONSTANT, RAYT_GLOBAL);
    if (r && r->spheres > TABLE)
        compare(r, RAYT_CONSTANT, RAYT_GLOBAL, "Even in passes.",
                "The passes\nand the depths carried between them cost next to nothing.",
                "Each pass\nreads and writes a depth per pixel, and is a launch and a copy more.");
    if ((r = largest_with(rows, count, INT_MAX, RAYT_SHARED, RAYT_GLOBAL)))
        compare(
            r, RAYT_SHARED, RAYT_GLOBAL,
            "Shared memory delivers a broadcast\nsooner than the first-level cache does.",
            "A broadcast from shared memory and\none from the first-level cache come from the "
            "same unit; copying first gains\nnothing when the cache holds the data anyway.",
            "The copies and barriers cost more\nthan they save: the first-level cache would have "
            "held the spheres anyway.");
    if ((r = largest_with(rows, count, INT_MAX, RAYT_GLOBAL, RAYT_GLOBAL)))
        printf(
            "Instructions: %.0f million tests of a ray against a sphere in %.3f ms, %.0f thousand "
            "million\na second. Every ray asks for every sphere, and that is what all four pay "
            "for.\n",
            pixels * r->spheres * 1e-6, r->seconds[RAYT_GLOBAL] * 1e3,
            pixels * r->spheres / r->seconds[RAYT_GLOBAL] * 1e-9);
    if ((r = largest_with(rows, count, INT_MAX, RAYT_CULLED, RAYT_GLOBAL)))
        printf(
            "Culling: %d spheres %.1f times as fast as global. Of these, %.1f on average can touch "
            "a tile\nof 64 x 64 pixels; and behind the first few of those, nothing is seen.\n",
            r->spheres, r->seconds[RAYT_GLOBAL] / r->seconds[RAYT_CULLED], r->touching);
    if ((r = largest_with(rows, count, INT_MAX, CPU, RAYT_GLOBAL)))
        printf(
            "CPU: one thread, which leaves out spheres that do not reach its row, takes %.0f times "
            "as long\nas global",
            r->seconds[CPU] / r->seconds[RAYT_GLOBAL]);
    if (r && r->seconds[RAYT_CULLED] > 0)
        printf(" and %.0f times as long as culled", r->seconds[CPU] / r->seconds[RAYT_CULLED]);
    if (r) printf(".\n");
}

static void print_csv(const job *j, const row *rows, int count, const cudaDeviceProp *device)
{
    fprintf(csv, "name,spheres,memory,width,height,real_time,time_unit,rays_per_second,"
                 "tests_per_second,correct,seed,device,min_time,mean_time,max_time\n");
    for (int n = 0; n < count; n++)
        for (int c = 0; c < COLUMNS; c++) {
            const row *r = &rows[n];
            double rays = (double)j->o.width * j->o.height;
            const char *kind = c >= TRACED ? "camera_" : "";
            if (!(r->seconds[c] > 0)) continue;
            fprintf(csv,
                    "raytrace/%s%s/%d,%d,%s%s,%d,%d,%.6f,ms,%.6g,%.6g,%d,%llu,\"%s\",%.6f,%.6f,"
                    "%.6f\n",
                    kind, column_name(c), r->spheres, r->spheres, kind, column_name(c), j->o.width,
                    j->o.height, r->seconds[c] * 1e3, rays / r->seconds[c],
                    rays * r->spheres / r->seconds[c], !r->wrong[c], j->o.seed,
                    c == CPU || c == TRACED_CPU ? "CPU" : device->name, r->around[c].least * 1e3,
                    r->around[c].mean * 1e3, r->around[c].most * 1e3);
        }
}

/* ---------------------------------- the job --------------------------------------------------- */
static int set_up(job *j, int most)
{
    size_t bytes = (size_t)j->o.width * j->o.height * 4, scene = sizeof *j->host * (size_t)most;
    j->host = (rayt_sphere *)malloc(scene);
    j->image = (unsigned char *)malloc(bytes);
    j->expected = (unsigned char *)malloc(bytes);
    j->materials = (rayt_material *)malloc(sizeof *j->materials * (size_t)most);
    if (!j->materials || !j->host || !j->image || !j->expected) {
        fprintf(stderr, "raytrace: no host memory for %.2f GB\n",
                ((double)scene + 2 * (double)bytes) * 1e-9);
        return 0;
    }
    return succeeded(cudaMalloc((void **)&j->device_materials, sizeof *j->materials * (size_t)most),
                     "device memory for the materials") &&
           succeeded(cudaMalloc((void **)&j->spheres, scene), "device memory for the spheres") &&
           succeeded(cudaMalloc((void **)&j->device_image, bytes), "device memory for the image");
}

static void release(job *j)
{
    free(j->host);
    free(j->image);
    free(j->expected);
    free(j->materials);
    (void)rayt_tree_free(&j->tree);
    cudaFree(j->device_materials);
    cudaFree(j->spheres);
    cudaFree(j->device_image);
}

int main(int count, char **words)
{
    static job j;
    static row rows[MOST_ROWS];
    cudaDeviceProp device;
    check_output();
    atexit(check_output);
    if (!parse_options(count, words, &j.o)) return 2;
    const options *o = &j.o;
    cudaError_t none = cudaGetDeviceProperties(&device, 0);
    if (none != cudaSuccess) {
        fprintf(stderr,
                "raytrace: no usable CUDA device: %s; on the CPU: ./build.sh run raytrace\n",
                cudaGetErrorString(none));
        return 2;
    }
    /* before the work, not after it */
    if (!can_write(o->png) || !can_write(o->ppm) || (o->csv && !open_csv(o->csv))) return 2;
    printf("%d x %d pixels, spheres of radius %.3g to %.3g, seed %llu\n", o->width, o->height,
           o->least, o->largest, o->seed);
    printf("device: %s, compute capability %d.%d, %d multiprocessors%s\n", device.name,
           device.major, device.minor, device.multiProcessorCount,
           ON_CPU ? "; all times are CPU times" : "");
    printf("checked: every byte of every image against %s\n",
           o->cpu ? "that of the CPU" : "the first kernel's, not against the CPU");
    fflush(stdout);

    int row_count = 0, good = set_up(&j, o->spheres ? o->spheres : (int)LAST), passed = 1;
    if (o->spheres)
        good = good && add_row(&j, &rows[row_count++], o->spheres);
    else
        for (int n = FIRST; n <= LAST && good; n *= 2) good = add_row(&j, &rows[row_count++], n);
    if (good) {
        print_table(&j, rows, row_count, 0);
        explain(&j, rows, row_count);
        print_table(&j, rows, row_count, TRACED);
        if (!ON_CPU) explain_traced(rows, row_count);
        for (int n = 0; n < row_count; n++)
            for (int c = 0; c < COLUMNS; c++) passed &= !rows[n].wrong[c];
        if (o->preview || is_terminal(stdout)) {
            printf("\n");
            good = rendered(rayt_print_ansi(stdout, j.image, o->width, o->height, 72));
        }
        signal(SIGINT, SIG_IGN); /* what is written now is written whole */
        signal(SIGTERM, SIG_IGN);
        good = good && rendered(rayt_write_png(o->png, j.image, o->width, o->height)) &&
               rendered(rayt_write_ppm(o->ppm, j.image, o->width, o->height));
        if (good)
            printf("\npicture: %s, %s (%d spheres)\n", o->png, o->ppm, rows[row_count - 1].spheres);
        if (o->csv) print_csv(&j, rows, row_count, &device);
    }
    if (o->csv) good &= close_csv(good);
    release(&j);
    printf("\nTest %s\n", passed && good ? "PASSED" : "FAILED");
    return passed && good ? 0 : 1;
}
