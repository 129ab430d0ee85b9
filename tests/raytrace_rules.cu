/* raytrace.cuh: bad input is refused with a sentence that names it, and nothing is touched; picture
   files appear whole or not at all; errors of CUDA that are the caller's stay the caller's. With a
   folder as argument it leaves pictures there, for others to read: NAME.png, NAME.ppm and NAME.rgb,
   the bytes that they must contain. */
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

/* ---- errors in CUDA's record
   ------------------------------------------------------------------- */

enum { W = 70, H = 50, FEW = 600, MANY = 12500 }; /* two tables of constants; enough for binning */
static rayt_sphere scene[MANY];
static unsigned char expected_few[W * H * 4], expected_many[W * H * 4], image[W * H * 4];

static void plant(const char *plan)
{
#ifdef __CUCC__
    setenv("CUCC_FAIL", "device:1000000", 1); /* a plan begins anew only after another one */
    cudaSetDevice(0);
    setenv("CUCC_FAIL", plan, 1);
#else
    (void)plan; /* on a GPU nothing can be planted */
#endif
}

/* Makes a call of CUDA fail, sees it by its return value, and leaves it in the record. */
static cudaError_t leave_error(int kind)
{
    void *memory = NULL;
    (void)cudaGetLastError();
    if (kind == 0) return cudaMalloc(&memory, (size_t)1 << 60);
    if (kind == 1) return cudaSetDevice(-1);
    rayt_render_global<<<1, 4096>>>(NULL, 0, NULL, 0, 0, 0, 0); /* too many threads */
    return cudaPeekAtLastError();
}

/* A call that must succeed, with this image, and leave the record as it is. */
static void unharmed(const char *name, cudaError_t error, rayt_status status, const void *expected)
{
    int right = expected == NULL || memcmp(image, expected, sizeof image) == 0;
    cudaError_t after = cudaPeekAtLastError();
    tap_ok(error != cudaSuccess && status == RAYT_OK && right && after == error, "%s after %s",
           name, cudaGetErrorName(error));
    if (status != RAYT_OK) tap_note("%s: %s", rayt_status_string(status), rayt_last_error());
    if (!right) tap_note("another image");
    if (after != error) tap_note("the record has %s afterwards", cudaGetErrorName(after));
    memset(image, 7, sizeof image);
}

/* A call that must fail with this status and sentence, and leave this in the record. */
static void failed(const char *name, rayt_status status, rayt_status expected, const char *sentence,
                   cudaError_t in_record)
{
    cudaError_t after = cudaPeekAtLastError();
    int good = status == expected && strstr(rayt_last_error(), sentence) && after == in_record;
    tap_ok(good, "%s: %s", name, rayt_last_error());
    if (!good)
        tap_note("%s, the record has %s; expected '%s' and %s", rayt_status_string(status),
                 cudaGetErrorName(after), sentence, cudaGetErrorName(in_record));
    plant("");
}

static int allocate(void)
{
    return cudaMalloc((void **)&device_image, sizeof image) == cudaSuccess &&
           cudaMalloc((void **)&device_spheres, sizeof scene) == cudaSuccess &&
           cudaMemcpy(device_spheres, scene, sizeof scene, cudaMemcpyHostToDevice) == cudaSuccess;
}

static rayt_status device_job(rayt_where where, int count, int by_rows)
{
    rayt_status status;
    if (by_rows) {
        status = rayt_render_rows(where, device_spheres, count, device_image, W, H, 0, 20, 0);
        if (status == RAYT_OK)
            status = rayt_render_rows(where, device_spheres, count, device_image + 20 * W * 4, W, H,
                                      20, H - 20, 0);
    } else {
        status = rayt_render(where, device_spheres, count, device_image, W, H, 0);
    }
    if (cudaMemcpy(image, device_image, sizeof image, cudaMemcpyDeviceToHost) != cudaSuccess)
        memset(image, 7, sizeof image);
    return status;
}

static rayt_status host_job(rayt_where where, int count)
{
    return rayt_render_host(where, scene, count, image, W, H, NULL, NULL);
}

/* Errors that are there before a call neither stop it nor are blamed on it, and stay. */
static void errors_of_others(void)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (rayt_random_scene(scene, MANY, 4, W, H, 0.5f, 3) != RAYT_OK ||
        rayt_render_cpu(scene, FEW, expected_few, W, H) != RAYT_OK ||
        rayt_render_cpu(scene, MANY, expected_many, W, H) != RAYT_OK || !allocate() || !nowhere) {
        tap_ok(0, "a scene on the device");
        return;
    }
    memset(image, 7, sizeof image);
    for (int kind = 0; kind < 3; kind++) {
        cudaError_t error = leave_error(kind);
        for (int w = 0; w < RAYT_WHERE_COUNT; w++) {
            rayt_where where = (rayt_where)w;
            char name[3][64];
            static const char *const calls[3] = {"render_host", "render", "render_rows"};
            for (int c = 0; c < 3; c++)
                snprintf(name[c], sizeof name[c], "rayt_%s, %s", calls[c],
                         rayt_where_string(where));
            unharmed(name[0], error, host_job(where, FEW), expected_few);
            unharmed(name[1], error, device_job(where, FEW, 0), expected_few);
            unharmed(name[2], error, device_job(where, FEW, 1), expected_few);
        }
        unharmed("rayt_render_host, binned", error, host_job(RAYT_CULLED, MANY), expected_many);
        unharmed("rayt_render, binned", error, device_job(RAYT_CULLED, MANY, 0), expected_many);
        unharmed("rayt_render_cpu", error, rayt_render_cpu(scene, FEW, image, W, H), expected_few);
        unharmed("rayt_random_scene", error, rayt_random_scene(scene, MANY, 4, W, H, 0.5f, 3),
                 NULL);
        unharmed("rayt_write_ppm", error, rayt_write_ppm("/dev/null", image, W, H), NULL);
        unharmed("rayt_write_png", error, rayt_write_png("/dev/null", image, W, H), NULL);
        unharmed("rayt_print_ansi", error, rayt_print_ansi(nowhere, image, W, H, 20), NULL);
        failed("a refused argument", host_job((rayt_where)99, FEW), RAYT_ERROR_ARGUMENT, "where",
               error);
    }
    fclose(nowhere);
    (void)cudaGetLastError();
}

#ifdef __CUCC__
/* Errors of ours are told as such and leave the record, whether they could be mended or not. */
static void own_errors(void)
{
    const cudaError_t none = cudaSuccess, memory = cudaErrorMemoryAllocation;
    plant("malloc:2");
    failed("no memory", host_job(RAYT_SHARED, FEW), RAYT_ERROR_MEMORY, "cudaMalloc for the image",
           none);
    leave_error(0);
    plant("malloc:2");
    failed("no memory, the caller had none either", host_job(RAYT_SHARED, FEW), RAYT_ERROR_MEMORY,
           "cudaMalloc for the image", memory);
    for (int w = 0; w < RAYT_WHERE_COUNT; w++) {
        (void)cudaGetLastError();
        plant("launch:1");
        failed(rayt_where_string((rayt_where)w), device_job((rayt_where)w, FEW, 0), RAYT_ERROR_CUDA,
               "kernel launch: too many resources", none);
        leave_error(1); /* it is overwritten by CUDA, and cannot be put back */
        plant("launch:1");
        failed(rayt_where_string((rayt_where)w), device_job((rayt_where)w, FEW, 0), RAYT_ERROR_CUDA,
               "kernel launch: too many resources", none);
    }
    for (int n = 1; n <= 5; n++) { /* four kernels of binning, and KERNEL TILE */
        char plan[24];
        snprintf(plan, sizeof plan, "launch:%d", n);
        plant(plan);
        failed(plan, device_job(RAYT_CULLED, MANY, 0), RAYT_ERROR_CUDA, "kernel launch: too many",
               none);
    }
    plant("launch:1");
    rayt_render_global<<<1, 1>>>(NULL, 0, NULL, 0, 0, 0, 0);
    plant("");
    unharmed("rayt_render", cudaErrorLaunchOutOfResources, device_job(RAYT_SHARED, FEW, 0),
             expected_few);
    plant("launch:1");
    failed("the same error as the caller's", device_job(RAYT_SHARED, FEW, 0), RAYT_ERROR_CUDA,
           "kernel launch: too many resources", cudaErrorLaunchOutOfResources);

    (void)cudaGetLastError();
    plant("malloc:1");
    tap_ok(device_job(RAYT_CULLED, MANY, 0) == RAYT_OK && cudaPeekAtLastError() == none &&
               memcmp(image, expected_many, sizeof image) == 0,
           "a pool that is used up: the default pool serves, and the record stays empty");
    leave_error(0);
    plant("malloc:1");
    unharmed("a pool that is used up", memory, device_job(RAYT_CULLED, MANY, 0), expected_many);
    leave_error(0);
    plant("event:1");
    unharmed("no memory for an event", memory, device_job(RAYT_SHARED, FEW, 0), expected_few);
    plant("");

    (void)cudaGetLastError();
    plant("kernel:1");
    failed("a kernel of ours that fails", device_job(RAYT_SHARED, FEW, 0), RAYT_ERROR_CUDA,
           "kernel launch, or work of the device before it: unspecified", cudaErrorLaunchFailure);
    cudaDeviceReset();
    if (!allocate()) tap_ok(0, "the device after a reset");
}
#endif

static __global__ void spoil(void)
{
#ifndef __CUCC__
    __trap();
#endif
}

/* The last of all: afterwards the device does no more. */
static void lost_device(void)
{
    plant("kernel:1");
    spoil<<<1, 1>>>();
    cudaError_t error = cudaDeviceSynchronize();
    plant("");
    tap_ok(error != cudaSuccess, "a kernel of the caller spoils the device");
    for (int w = 0; w < RAYT_WHERE_COUNT; w++) {
        failed("rayt_render", device_job((rayt_where)w, FEW, 0), RAYT_ERROR_CUDA,
               "found before the launch: ", error);
        failed("rayt_render_host", host_job((rayt_where)w, FEW), RAYT_ERROR_CUDA,
               "found before the launch: ", error);
    }
}

int main(int count, char **words)
{
    tap_seed(20261122);
    int keep_device =
        count > 1 && strcmp(words[1], "--keep-device") == 0; /* for compute-sanitizer */
    if (count > 1 && !keep_device) {
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
    errors_of_others();
#ifdef __CUCC__
    own_errors();
#endif
    if (!keep_device) lost_device();
    return tap_done();
}
