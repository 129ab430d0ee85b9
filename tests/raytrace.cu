/* raytrace.cuh: every kernel gives the bytes of the CPU, for every size, count and kind of scene,
   and the CPU gives those of the exercise's formula. Nothing is written outside the image. */
#include "tap.h"
#include "../raytrace.cuh"

enum { GUARD = 64 }; /* bytes before and after an image in device memory */

/* The formula of the exercise, written plainly; volatile variables round every result. */
static void formula(const rayt_sphere *spheres, int count, unsigned char *image, int width,
                    int height)
{
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            volatile float ox = (float)column - (float)width / 2.0f;
            volatile float oy = (float)row - (float)height / 2.0f, farthest = -INFINITY;
            unsigned char *pixel = image + 4 * ((size_t)row * width + column);
            pixel[0] = pixel[1] = pixel[2] = 0, pixel[3] = 255;
            for (int i = 0; i < count; i++) {
                volatile float x = spheres[i].x, y = spheres[i].y, radius = spheres[i].radius;
                volatile float dx = ox - x, dy = oy - y, xx = dx * dx, yy = dy * dy;
                volatile float rr = radius * radius, sum = xx + yy;
                if (!(sum < rr)) continue;
                volatile float rest = rr - xx, square = rest - yy, dz = sqrtf(square);
                volatile float t = dz + spheres[i].z, root = sqrtf(rr), n = dz / root;
                if (!(t > farthest)) continue;
                farthest = t;
                const float colour[3] = {spheres[i].r, spheres[i].g, spheres[i].b};
                for (int c = 0; c < 3; c++) {
                    volatile float scaled = colour[c] * n, byte = scaled * 255.0f;
                    pixel[c] = (unsigned char)(int)byte;
                }
            }
        }
}

static unsigned char *cpu_image(const rayt_sphere *spheres, int count, int width, int height)
{
    unsigned char *image = (unsigned char *)malloc((size_t)width * height * 4 + 1);
    memset(image, 0xA5, (size_t)width * height * 4 + 1);
    rayt_status status = rayt_render_cpu(spheres, count, image, width, height);
    if (status != RAYT_OK) tap_ok(0, "CPU: %s", rayt_last_error());
    return image;
}

/* Bytes that differ; what differs first is noted. */
static size_t differing(const char *name, const unsigned char *a, const unsigned char *b, int width,
                        int height)
{
    size_t bytes = (size_t)width * height * 4, count = 0;
    for (size_t n = 0; n < bytes; n++) {
        if (a[n] == b[n]) continue;
        if (count++ == 0)
            tap_note("%s: pixel (%d, %d), byte %d: %d, not %d", name, (int)(n / 4 % width),
                     (int)(n / 4 / width), (int)(n % 4), a[n], b[n]);
    }
    return count;
}

/* Renders with one kernel into poisoned memory that begins `shift` bytes past an aligned address,
   as one image or band by band, and compares. */
static int renders(rayt_where where, const rayt_sphere *spheres, int count, int width, int height,
                   int shift, int band, const unsigned char *expected)
{
    size_t bytes = (size_t)width * height * 4, all = bytes + 2 * GUARD + 16;
    unsigned char *host = (unsigned char *)malloc(all), *device = NULL;
    rayt_sphere *scene = NULL;
    int good = cudaMalloc((void **)&device, all) == cudaSuccess &&
               cudaMalloc((void **)&scene, sizeof(rayt_sphere) * (count + 1)) == cudaSuccess &&
               cudaMemset(device, 0xA5, all) == cudaSuccess &&
               cudaMemcpy(scene, spheres, sizeof(rayt_sphere) * count, cudaMemcpyHostToDevice) ==
                   cudaSuccess;
    unsigned char *image = device + GUARD + shift;
    rayt_status status = RAYT_OK;
    for (int row = 0; row < height && status == RAYT_OK; row += band)
        status = rayt_render_rows(where, scene, count, image + (size_t)row * width * 4, width,
                                  height, row, height - row < band ? height - row : band, 0);
    if (status != RAYT_OK) tap_note("%s: %s", rayt_where_string(where), rayt_last_error());
    good &= status == RAYT_OK;
    cudaError_t error = cudaMemcpy(host, device, all, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) tap_note("%s", cudaGetErrorString(error));
    good &= error == cudaSuccess;
    if (good)
        good = !differing(rayt_where_string(where), host + GUARD + shift, expected, width, height);
    for (size_t n = 0; n < all && good; n++)
        if ((n < (size_t)GUARD + shift || n >= GUARD + shift + bytes) && host[n] != 0xA5) {
            tap_note("%s: byte %zd outside the image was written", rayt_where_string(where),
                     (ptrdiff_t)n - GUARD - shift);
            good = 0;
        }
    cudaFree(device);
    cudaFree(scene);
    free(host);
    return good;
}

/* Every kernel against the CPU. */
static void agrees(const char *name, const rayt_sphere *spheres, int count, int width, int height)
{
    unsigned char *expected = cpu_image(spheres, count, width, height);
    for (int where = 0; where < RAYT_WHERE_COUNT; where++)
        tap_ok(renders((rayt_where)where, spheres, count, width, height, 0, height + 1, expected),
               "%s, %d spheres, %d x %d: %s", name, count, width, height,
               rayt_where_string((rayt_where)where));
    free(expected);
}

static rayt_sphere *new_scene(int count, int width, int height, float low, float high)
{
    rayt_sphere *s = (rayt_sphere *)malloc(sizeof(rayt_sphere) * (count + 1));
    if (rayt_random_scene(s, count, tap_bits(), width, height, low, high) != RAYT_OK)
        tap_ok(0, "scene: %s", rayt_last_error());
    return s;
}

static void sizes_and_counts(void)
{
    static const int sizes[][2] = {{1, 1},   {17, 33},  {16, 16}, {1, 200},
                                   {200, 1}, {133, 70}, {96, 129}};
    static const int counts[] = {0, 1, 2, 31, 32, 33};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            int width = sizes[s][0], height = sizes[s][1], count = counts[c];
            rayt_sphere *spheres = new_scene(count, width, height, 2, 25);
            unsigned char *expected = cpu_image(spheres, count, width, height);
            int good = 1;
            for (int where = 0; where < RAYT_WHERE_COUNT; where++)
                good &= renders((rayt_where)where, spheres, count, width, height, 4 * (c % 4),
                                c % 2 ? 16 : height + 1, expected);
            tap_ok(good, "all kernels, %d x %d, %d spheres%s", width, height, count,
                   c % 2 ? ", in bands" : "");
            free(expected);
            free(spheres);
        }
}

/* The CPU itself, and scenes as in the exercise. */
static void exercise(void)
{
    int width = 256, height = 200, count = 300;
    rayt_sphere *spheres = new_scene(count, width, height, 20, 120);
    unsigned char *expected = (unsigned char *)malloc((size_t)width * height * 4);
    unsigned char *image = cpu_image(spheres, count, width, height);
    formula(spheres, count, expected, width, height);
    tap_ok(!differing("CPU", image, expected, width, height), "CPU: the formula of the exercise");
    free(image);
    free(expected);
    agrees("radii of the exercise", spheres, 64, width, height);
    free(spheres);
    spheres = new_scene(2048, 160, 120, 5, 30);
    agrees("many", spheres, 2048, 160, 120);
    agrees("just beyond the constant table", spheres, RAYT_MAX_CONST / 32 + 1, 160, 120);
    agrees("as many as the constant table holds", spheres, RAYT_MAX_CONST / 32, 160, 120);
    free(spheres);
}

/* Tiles of every size, which images of these sizes would not get by themselves, and bins. */
static void tiles(int width, int height, int count, float low, float high, const char *name)
{
    rayt_sphere *spheres = new_scene(count, width, height, low, high), *scene = NULL;
    unsigned char *expected = cpu_image(spheres, count, width, height), *device = NULL;
    size_t bytes = (size_t)width * height * 4;
    unsigned char *image = (unsigned char *)malloc(bytes);
    cudaMalloc((void **)&device, bytes);
    cudaMalloc((void **)&scene, sizeof *scene * count);
    cudaMemcpy(scene, spheres, sizeof *scene * count, cudaMemcpyHostToDevice);
    for (int edge = 32; edge <= 64; edge *= 2)
        for (int binned = 0; binned < 2; binned++) {
            rayt__job job = {scene, count, (uchar4 *)device, width, height, 0, height, 0};
            rayt__grid grid = rayt__make_grid(&job, edge);
            cudaMemset(device, 0xA5, bytes);
            rayt_status status =
                binned ? rayt__launch_binned(&job, grid) : rayt__launch_unbinned(&job, grid);
            int good = status == RAYT_OK &&
                       cudaMemcpy(image, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
            tap_ok(good && !differing(name, image, expected, width, height),
                   "%s: %d spheres, tiles of %d%s", name, count, edge, binned ? ", binned" : "");
        }
    cudaFree(device);
    cudaFree(scene);
    free(image);
    free(expected);
    free(spheres);
}

static rayt_sphere sphere(float x, float y, float z, float radius)
{
    rayt_sphere s = {x, y, z, radius, 0, 0, 0};
    s.r = (float)(0.55 + 0.45 * tap_uniform());
    s.g = (float)(0.55 + 0.45 * tap_uniform());
    s.b = (float)(0.55 + 0.45 * tap_uniform());
    return s;
}

static void special_scenes(void)
{
    enum { MOST = 600 };
    static rayt_sphere s[MOST];
    int n = 0;
    for (; n < 40; n++) s[n] = sphere(3, -2, 0, 2.0f + (float)(n * 7 % 40));
    agrees("concentric", s, n, 90, 80);
    for (n = 0; n < 64; n++) s[n] = sphere(1.25f, 2.5f, -4, 30);
    agrees("coincident", s, n, 90, 80);
    for (n = 0; n < 200; n++)
        s[n] = s[n % 64] = sphere((float)(n % 20) * 4 - 40, (float)(n / 20) * 8 - 40, 5, 12);
    agrees("grid of ties", s, n, 90, 80);
    for (n = 0; n < 100; n++) s[n] = sphere((float)(n % 10), (float)(n / 10), (float)(n % 3), 5);
    agrees("whole numbers, tangents", s, n, 64, 64);
    for (n = 0; n < 60; n++) s[n] = sphere(0, 0, (float)(n * 17 % 60) * 100, (float)(60 - n));
    agrees("behind one another", s, n, 90, 80);
    for (n = 0; n < 40; n++)
        s[n] = sphere((n % 4 - 1.5f) * 60, (n / 4 - 4.5f) * 40, 0, 20.0f + (float)n);
    agrees("half and wholly off screen", s, n, 70, 90);
    for (n = 0; n < 30; n++) /* rims that pass exactly through pixel centres: dz = 0 */
        s[n] = sphere((float)(n % 5 * 10 - 20), (float)(n / 5 * 10 - 25), n % 2 ? 0 : 1e-3f, 5);
    s[n++] = sphere(0, 0, -30, 29); /* and what is seen through there */
    agrees("rims on pixels", s, n, 64, 64);
    static const float odd[] = {0,      -5,    INFINITY, -INFINITY, NAN,   1e30f,
                                -1e30f, 1e-7f, 1e-40f,   3e18f,     1e18f, 1e17f,
                                1e-3f,  1e-6f, 1e4f,     -0.0f,     5,     6e5f};
    int odds = sizeof odd / sizeof *odd;
    for (n = 0; n < odds * 4; n++) {
        s[n] = sphere((float)(n % 9) * 5 - 20, (float)(n / 9) * 5 - 20, 0, 6);
        float *member[4] = {&s[n].radius, &s[n].z, &s[n].x, &s[n].y};
        *member[n / odds] = odd[n % odds];
    }
    agrees("odd radii and places", s, n, 64, 64);
    agrees("odd radii alone", s, odds, 64, 64);
    agrees("odd depths alone", s + odds, odds, 64, 64);
    agrees("odd places alone", s + 2 * odds, 2 * odds, 64, 64);
    for (n = 0; n < odds; n++) {
        s[n] = sphere((float)(n % 4) * 12 - 20, (float)(n / 4) * 12 - 25, 0, 6);
        (&s[n].r)[n % 3] = odd[n];
    }
    agrees("odd colours", s, n, 64, 64);
    for (n = 0; n < MOST; n++) {
        float t = (float)n;
        s[n] = sphere(sinf(t) * 40, cosf(t * 1.7f) * 40, sinf(t * 0.3f) * 1e6f, 8 + (float)(n % 5));
    }
    agrees("far apart in depth", s, n, 100, 100);
    for (n = 0; n < 40; n++) s[n] = sphere((float)n - 20, 0, -1e6f, 1e6f + (float)(n % 3));
    agrees("nearly planes", s, n, 64, 64);
}

/* What is defined as never hit gives a black image. */
static void never_hit(void)
{
    static const float radii[] = {0,     -0.0f,  -5,    INFINITY, -INFINITY, NAN,
                                  1e30f, -1e30f, 9e-7f, 1e-40f,   1.1e18f};
    static const float depths[] = {INFINITY, -INFINITY, NAN, 1e30f, -1.1e18f};
    rayt_sphere s[32];
    int n = 0;
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++) s[n++] = sphere(0, 0, 0, radii[i]);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) s[n++] = sphere(0, 0, depths[i], 9);
    s[n++] = sphere(NAN, 0, 0, 9);
    s[n++] = sphere(0, NAN, 0, 9);
    s[n++] = sphere(INFINITY, 0, 0, 9);
    unsigned char *expected = cpu_image(s, 0, 20, 20);
    for (int where = 0; where <= RAYT_WHERE_COUNT; where++) {
        int good = 1;
        for (int i = 0; i < n; i++) {
            if (where == RAYT_WHERE_COUNT) {
                unsigned char *image = cpu_image(s + i, 1, 20, 20);
                good &= !differing("CPU", image, expected, 20, 20);
                free(image);
            } else {
                good &= renders((rayt_where)where, s + i, 1, 20, 20, 0, 21, expected);
            }
        }
        tap_ok(good, "what is never hit: %s",
               where < RAYT_WHERE_COUNT ? rayt_where_string((rayt_where)where) : "CPU");
    }
    free(expected);
}

/* More spheres in one tile than its list in shared memory, and its list in device memory, hold. */
static void overflow(void)
{
    enum { MANY = 13000 };
    rayt_sphere *s = new_scene(MANY, 96, 96, 10, 30);
    unsigned char *expected = cpu_image(s, 1500, 96, 96);
    tap_ok(renders(RAYT_CULLED, s, 1500, 96, 96, 0, 97, expected), "a long list for every tile");
    free(expected);
    for (int n = 0; n < MANY; n++) {
        s[n].x = s[n].y = 0.25f;
        s[n].radius = 40 + 0.0001f * (float)n;
    }
    expected = cpu_image(s, MANY, 128, 96);
    tap_ok(renders(RAYT_CULLED, s, MANY, 128, 96, 0, 97, expected), "tiles without room for bins");
    free(expected);
    free(s);
}

static void note_progress(int done, int rows, void *context)
{
    int *last = (int *)context;
    if (done <= last[0] || done > rows) last[1] = -1000;
    last[0] = done;
    last[1]++;
}

static void host_layer(void)
{
    rayt_sphere *s = new_scene(700, 61, 47, 3, 12);
    unsigned char *expected = cpu_image(s, 700, 61, 47), image[61 * 47 * 4 + 1];
    for (int where = 0; where < RAYT_WHERE_COUNT; where++) {
        int last[2] = {0, 0};
        memset(image, 0xA5, sizeof image);
        rayt_status status =
            rayt_render_host((rayt_where)where, s, 700, image, 61, 47, note_progress, last);
        tap_ok(status == RAYT_OK && !differing("host", image, expected, 61, 47) &&
                   image[61 * 47 * 4] == 0xA5 && last[0] == 47 && last[1] == 1,
               "host to host: %s", rayt_where_string((rayt_where)where));
    }
    free(expected);
    int width = 65536, height = 300, last[2] = {0, 0}; /* 79 MB: more than one band */
    unsigned char *large = (unsigned char *)malloc((size_t)width * height * 4);
    s[0] = sphere(10, 107, 0, 3); /* across the border of two bands, row 256 */
    rayt_status status =
        rayt_render_host(RAYT_GLOBAL, s, 1, large, width, height, note_progress, last);
    size_t lit = 0;
    for (size_t p = 0; p < (size_t)width * height; p++)
        lit += large[4 * p] + large[4 * p + 1] + large[4 * p + 2] > 0;
    int centre = (257 * width + width / 2 + 10) * 4;
    tap_ok(status == RAYT_OK && last[0] == 300 && last[1] == 2 && lit > 20 && lit < 30 &&
               large[centre] == (unsigned char)(int)(s[0].r * 255),
           "host to host, two bands: %zd pixels lit", (ptrdiff_t)lit);
    free(large);
    free(s);
}

/* The square root and the quotient that KERNEL TILE uses are the exact ones, and the approximate
   root is as good as rayt__tolerance assumes. */
__global__ void try_arithmetic(unsigned first, unsigned step, unsigned last, unsigned *faults)
{
    for (unsigned long long b = first + (blockIdx.x * 256ull + threadIdx.x) * step; b < last;
         b += (unsigned long long)step * gridDim.x * 256) {
        float x = __int_as_float((int)b), root = rayt_sqrt(x);
        if (rayt__sqrt(x) != root) atomicAdd(&faults[0], 1u);
        if (!(fabsf(rayt__approx_sqrt(x) - root) <= root * 4.8e-7f)) atomicAdd(&faults[1], 1u);
    }
}

__global__ void try_division(unsigned count, unsigned seed, unsigned *faults)
{
    for (unsigned n = blockIdx.x * 256 + threadIdx.x; n < count; n += gridDim.x * 256) {
        unsigned long long z = (n + ((unsigned long long)seed << 32)) * 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        z ^= z >> 31;
        /* radius: 2^-20 .. 2^59, every eighth with a mantissa of ones; dz: down to 2^-24 of it */
        unsigned mantissa = n % 8 == 0 ? 0x7fffffu : (unsigned)z & 0x7fffffu;
        unsigned exponent = 107 + (unsigned)(z >> 23) % 79;
        float radius = __int_as_float((int)(exponent << 23 | mantissa));
        unsigned lower = exponent - (unsigned)(z >> 30) % 25;
        float dz = __int_as_float((int)(lower << 23 | ((unsigned)(z >> 40) & 0x7fffffu)));
        if (dz <= radius && rayt__div(dz, radius, rayt__reciprocal(radius)) != rayt_div(dz, radius))
            atomicAdd(&faults[0], 1u);
    }
}

static void arithmetic(void)
{
    unsigned *faults = NULL, found[3] = {1, 1, 1};
#ifdef __CUCC__
    unsigned step = 9973, divisions = 1u << 16; /* the same functions on both sides there */
#else
    unsigned step = 1, divisions = 1u << 30;
#endif
    cudaMalloc((void **)&faults, sizeof found);
    cudaMemset(faults, 0, sizeof found);
    try_arithmetic<<<1056, 256>>>(0x0d800000u, step, 0x7f800000u, faults); /* 2^-100 .. infinity */
    try_division<<<1056, 256>>>(divisions, (unsigned)tap_bits(), faults + 2);
    cudaMemcpy(found, faults, sizeof found, cudaMemcpyDeviceToHost);
    tap_ok(found[0] == 0, "square roots are exact: %u wrong", found[0]);
    tap_ok(found[1] == 0, "approximate square roots are close: %u are not", found[1]);
    tap_ok(found[2] == 0, "quotients are exact: %u wrong", found[2]);
    cudaFree(faults);
}

int main(void)
{
    tap_seed(20261121);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        unsigned char image[64] = {9};
        rayt_sphere s = sphere(0, 0, 0, 1);
        rayt_status status = rayt_render_host(RAYT_GLOBAL, &s, 1, image, 4, 4, NULL, NULL);
        tap_ok(status == RAYT_ERROR_DEVICE && image[0] == 9, "no device: %s", rayt_last_error());
        status = rayt_render(RAYT_CULLED, NULL, 0, image, 4, 4, 0);
        tap_ok(status == RAYT_ERROR_DEVICE && image[0] == 9, "no device: %s", rayt_last_error());
        status = rayt_render_cpu(&s, 1, image, 4, 4);
        tap_ok(status == RAYT_OK && image[3] == 255, "no device: the CPU renders");
        return tap_done();
    }
    sizes_and_counts();
    exercise();
    special_scenes();
    never_hit();
    tiles(200, 150, 300, 4, 30, "middling");
    tiles(128, 128, 2000, 0.9f, 5.4f, "small");
    tiles(150, 130, 1000, 20, 120, "large");
    overflow();
    host_layer();
    arithmetic();
    return tap_done();
}
