/* raytrace.cuh: bad input is refused with a sentence that names it, and nothing is touched; picture
   files appear whole or not at all. With a folder as argument it leaves pictures there, for others
   to read: NAME.png, NAME.ppm and NAME.rgb, the bytes that they must contain. */
#include "tap.h"
#include "../raytrace.cuh"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned char *device_image;
static rayt_sphere *device_spheres;
static unsigned char host_image[64];

/* The call failed with this status, and the message names the culprit. */
static void refused(const char *name, rayt_status status, rayt_status expected, const char *culprit)
{
    int good = status == expected && strstr(rayt_last_error(), culprit) != NULL;
    tap_ok(good, "%s: %s", name, rayt_last_error());
    if (!good)
        tap_note("%s, expected %s naming '%s'", rayt_status_string(status),
                 rayt_status_string(expected), culprit);
}

static void arguments(void)
{
    const rayt_status bad = RAYT_ERROR_ARGUMENT;
    const rayt_sphere *s = device_spheres;
    unsigned char *image = device_image;
    for (int w = 0; w < RAYT_WHERE_COUNT; w++) {
        rayt_where where = (rayt_where)w;
        int good = rayt_render(where, NULL, 1, image, 4, 4, 0) == bad &&
                   rayt_render(where, s, -1, image, 4, 4, 0) == bad &&
                   rayt_render(where, s, 1, NULL, 4, 4, 0) == bad &&
                   rayt_render(where, s, 1, image, -4, 4, 0) == bad &&
                   rayt_render(where, s, 1, image, 4, -4, 0) == bad &&
                   rayt_render(where, s, 1, image, 0, 4, 0) == RAYT_OK &&
                   rayt_render(where, s, 1, image, 4, 0, 0) == RAYT_OK &&
                   rayt_render(where, s, 1, NULL, 0, 0, 0) == RAYT_OK &&
                   rayt_render(where, NULL, 0, image, 4, 4, 0) == RAYT_OK;
        tap_ok(good, "%s: null, negative and zero sizes", rayt_where_string(where));
    }
    refused("where", rayt_render((rayt_where)99, s, 1, image, 4, 4, 0), bad, "where is 99");
    refused("where", rayt_render((rayt_where)-1, s, 1, image, 4, 4, 0), bad, "where is -1");
    refused("null spheres", rayt_render(RAYT_GLOBAL, NULL, 7, image, 4, 4, 0), bad, "spheres");
    refused("null image", rayt_render(RAYT_GLOBAL, s, 1, NULL, 4, 4, 0), bad, "image");
    refused("count", rayt_render(RAYT_GLOBAL, s, -3, image, 4, 4, 0), bad, "count");
    refused("count", rayt_render(RAYT_GLOBAL, s, INT_MAX, image, 4, 4, 0), bad, "count");
    refused("width", rayt_render(RAYT_GLOBAL, s, 1, image, -4, 4, 0), bad, "width");
    refused("width", rayt_render(RAYT_GLOBAL, s, 1, image, 1 << 25, 4, 0), bad, "width");
    refused("height", rayt_render(RAYT_GLOBAL, s, 1, image, 4, -4, 0), bad, "height");
    refused("height", rayt_render(RAYT_GLOBAL, s, 1, image, 4, 1 << 25, 0), bad, "height");
    refused("unaligned image", rayt_render(RAYT_GLOBAL, s, 1, image + 1, 4, 4, 0), bad, "image");
    refused("unaligned spheres",
            rayt_render(RAYT_GLOBAL, (const rayt_sphere *)((const char *)s + 4), 1, image, 4, 4, 0),
            bad, "spheres");
    refused("rows beyond the image", rayt_render_rows(RAYT_GLOBAL, s, 1, image, 4, 4, 2, 3, 0), bad,
            "rows");
    refused("negative row", rayt_render_rows(RAYT_GLOBAL, s, 1, image, 4, 4, -1, 3, 0), bad,
            "first_row");
    refused("negative rows", rayt_render_rows(RAYT_GLOBAL, s, 1, image, 4, 4, 1, -3, 0), bad,
            "rows is -3");
    refused("null band", rayt_render_rows(RAYT_GLOBAL, s, 1, NULL, 4, 4, 1, 3, 0), bad, "band");
    refused("host: null image", rayt_render_host(RAYT_GLOBAL, NULL, 0, NULL, 4, 4, NULL, NULL), bad,
            "image");
    refused("host: where",
            rayt_render_host(RAYT_WHERE_COUNT, NULL, 0, host_image, 4, 4, NULL, NULL), bad,
            "where");
    refused("CPU: null spheres", rayt_render_cpu(NULL, 1, host_image, 4, 4), bad, "spheres");
    refused("CPU: null image", rayt_render_cpu(NULL, 0, NULL, 4, 4), bad, "image");
    tap_ok(rayt_render_cpu(NULL, 0, NULL, 0, 4) == RAYT_OK, "CPU: no pixels, nothing to do");
    rayt_sphere one;
    refused("scene: null", rayt_random_scene(NULL, 1, 1, 4, 4, 1, 2), bad, "spheres");
    refused("scene: radii", rayt_random_scene(&one, 1, 1, 4, 4, 3, 2), bad, "radius");
    refused("scene: NaN", rayt_random_scene(&one, 1, 1, 4, 4, NAN, 2), bad, "radius");
    refused("preview: null file", rayt_print_ansi(NULL, host_image, 4, 4, 10), bad, "file");
    refused("preview: columns", rayt_print_ansi(stdout, host_image, 4, 4, 0), bad, "columns");
    tap_ok(rayt_render(RAYT_CULLED, s, 1, image, 4, 4, 0) == RAYT_OK &&
               cudaDeviceSynchronize() == cudaSuccess,
           "the device is well after all that");
    tap_ok(strcmp(rayt_status_string(RAYT_ERROR_FILE), "RAYT_ERROR_FILE") == 0 &&
               strcmp(rayt_status_string((rayt_status)77), "unknown rayt_status") == 0 &&
               rayt_where_string(RAYT_WHERE_COUNT) == NULL,
           "names");
}

static int exists(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file) fclose(file);
    return file != NULL;
}

static long size_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return -1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

static void files(void)
{
    static const char absent[] = "/nonexistent-folder/picture.png";
    char own[] = "/tmp/rayt-test-XXXXXX", path[64], part[80], folder[64], beside[80], pipe[64];
    if (!mkdtemp(own)) { /* a folder of its own: other runs may be under way */
        tap_ok(0, "a folder in /tmp");
        return;
    }
    snprintf(path, sizeof path, "%s/picture.png", own);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(folder, sizeof folder, "%s/folder", own);
    refused("PNG: no such folder", rayt_write_png(absent, host_image, 4, 4), RAYT_ERROR_FILE,
            absent);
    refused("PPM: no such folder", rayt_write_ppm(absent, host_image, 4, 4), RAYT_ERROR_FILE,
            absent);
    refused("PNG: null path", rayt_write_png(NULL, host_image, 4, 4), RAYT_ERROR_ARGUMENT, "path");
    refused("PNG: null image", rayt_write_png(path, NULL, 4, 4), RAYT_ERROR_ARGUMENT, "image");
    refused("PNG: no pixels", rayt_write_png(path, host_image, 0, 4), RAYT_ERROR_ARGUMENT, "0 x 4");
    refused("PPM: height", rayt_write_ppm(path, host_image, 4, -1), RAYT_ERROR_ARGUMENT, "height");
    tap_ok(!exists(path) && !exists(part), "nothing was created by these");

    char head[3] = "";
    snprintf(pipe, sizeof pipe, "%s/pipe", own);
    snprintf(beside, sizeof beside, "%s.part", pipe);
    int both = mkfifo(pipe, 0600) == 0 ? open(pipe, O_RDWR) : -1; /* so that neither end waits */
    rayt_status status = rayt_write_ppm(pipe, host_image, 4, 4);
    tap_ok(both >= 0 && status == RAYT_OK && read(both, head, 2) == 2 && strcmp(head, "P6") == 0 &&
               access(pipe, F_OK) == 0 && access(beside, F_OK) != 0,
           "PPM: into a pipe, which stays one");
    close(both);
    remove(pipe);
    tap_ok(rayt_write_ppm(path, host_image, 4, 4) == RAYT_OK && size_of(path) == 11 + 48 &&
               !exists(part),
           "PPM written, nothing left beside it");
    tap_ok(rayt_write_png(path, host_image, 2, 2) == RAYT_OK && size_of(path) > 57 && !exists(part),
           "PNG written over it, nothing left beside it");
    remove(path);

    /* The name is taken by a folder: it can be written beside, but not renamed. */
    snprintf(beside, sizeof beside, "%s.part", folder);
    tap_ok(mkdir(folder, 0700) == 0, "a folder");
    refused("PNG over a folder", rayt_write_png(folder, host_image, 4, 4), RAYT_ERROR_FILE, folder);
    tap_ok(!exists(beside), "the half of it is gone");
    tap_ok(rmdir(folder) == 0 && rmdir(own) == 0, "and nothing else is left");
#ifdef __linux__
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        refused("preview on a full device", rayt_print_ansi(full, host_image, 4, 4, 4),
                RAYT_ERROR_FILE, "preview");
        fclose(full);
    } else {
        tap_skip("preview on a full device", "no /dev/full");
    }
#endif
}

/* Pictures that make a PNG writer work: noise, runs of every length, plain, one pixel, spheres. */
static void leave_pictures(const char *folder)
{
    static const struct {
        const char *name;
        int width, height;
    } pictures[] = {{"noise", 300, 211}, {"runs", 1200, 40}, {"plain", 777, 130},
                    {"pixel", 1, 1},     {"row", 500, 1},    {"spheres", 200, 150}};
    for (size_t n = 0; n < sizeof pictures / sizeof *pictures; n++) {
        int w = pictures[n].width, h = pictures[n].height;
        unsigned char *image = (unsigned char *)calloc((size_t)w * h, 4);
        char path[3][600];
        for (int p = 0; p < w * h; p++)
            for (int c = 0; c < 4 && n < 2; c++) /* runs: of as many pixels as the row says */
                image[4 * p + c] = (unsigned char)(n == 0 ? tap_bits() : p % w / (p / w * 8 + 1));
        if (n == 5) {
            rayt_sphere spheres[50];
            if (rayt_random_scene(spheres, 50, tap_bits(), w, h, 5, 40) != RAYT_OK ||
                rayt_render_cpu(spheres, 50, image, w, h) != RAYT_OK)
                tap_ok(0, "%s", rayt_last_error());
        }
        static const char *const kinds[3] = {"png", "ppm", "rgb"};
        for (int k = 0; k < 3; k++)
            snprintf(path[k], sizeof path[k], "%s/%s.%s", folder, pictures[n].name, kinds[k]);
        tap_ok(rayt_write_png(path[0], image, w, h) == RAYT_OK &&
                   rayt_write_ppm(path[1], image, w, h) == RAYT_OK,
               "%s: %d x %d left in %s", pictures[n].name, w, h, folder);
        FILE *raw = fopen(path[2], "wb");
        for (int p = 0; p < w * h && raw; p++) fwrite(image + 4 * p, 1, 3, raw);
        if (raw) fclose(raw);
        free(image);
    }
}

int main(int count, char **words)
{
    tap_seed(20261122);
    if (count > 1) {
        leave_pictures(words[1]);
        return tap_done();
    }
    if (cudaMalloc((void **)&device_image, 64) != cudaSuccess ||
        cudaMalloc((void **)&device_spheres, 64) != cudaSuccess ||
        cudaMemset(device_spheres, 0, 64) != cudaSuccess) {
        tap_ok(0, "device memory");
        return tap_done();
    }
    arguments();
    files();
    cudaFree(device_image);
    cudaFree(device_spheres);
    return tap_done();
}
