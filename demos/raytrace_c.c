/* raytrace_c.c - raytrace.cuh from plain C: declarations from the header, which a C compiler takes
   as it is, and the functions themselves from the same file, compiled once by nvcc.

   Build   nvcc -O3 -DRAYT_IMPLEMENTATION -x cu -c raytrace.cuh -o rayt.o
           gcc -std=c99 -c demos/raytrace_c.c -o main.o
           nvcc main.o rayt.o -o raytrace_c
   or, without a GPU:
           printf '#define RAYT_IMPLEMENTATION\n#include "raytrace.cuh"\n' > rayt.cu
           cpu/cucc rayt.cu demos/raytrace_c.c -o raytrace_c
   Run     ./raytrace_c [PICTURE.png]

   A spiral of spheres, rendered on the GPU and again on the CPU, compared, and
   written as a PNG. No CUDA in sight; the functions that take host pointers do all of it. */
#include "../raytrace.cuh"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 240, COUNT = 90 };

static int failed(rayt_status status)
{
    if (status != RAYT_OK)
        fprintf(stderr, "raytrace_c: %s: %s\n", rayt_status_string(status), rayt_last_error());
    return status != RAYT_OK;
}

static void print_progress(int done, int rows, void *context)
{
    printf("%s: %d of %d rows\n", (const char *)context, done, rows);
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "raytrace_c: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

int main(int count, char **words)
{
    static rayt_sphere spheres[COUNT];
    static unsigned char gpu[WIDTH * HEIGHT * 4], cpu[WIDTH * HEIGHT * 4];
    char culled[] = "culled";
    check_output();
    atexit(check_output);

    for (int n = 0; n < COUNT; n++) {
        float turn = 0.35f * (float)n, share = (float)n / COUNT;
        rayt_sphere *s = &spheres[n];
        s->x = 130 * share * cosf(turn);
        s->y = 100 * share * sinf(turn);
        s->z = -200 * share;
        s->radius = 6 + 14 * share;
        s->r = 0.5f + 0.5f * cosf(turn);
        s->g = 0.3f + 0.6f * share;
        s->b = 0.5f + 0.5f * sinf(turn);
    }
    if (failed(rayt_render_host(RAYT_CULLED, spheres, COUNT, gpu, WIDTH, HEIGHT, print_progress,
                                culled)) ||
        failed(rayt_render_cpu(spheres, COUNT, cpu, WIDTH, HEIGHT)))
        return 1;
    int same = memcmp(gpu, cpu, sizeof gpu) == 0;
    if (failed(rayt_write_png(count > 1 ? words[1] : "raytrace_c.png", gpu, WIDTH, HEIGHT)))
        return 1;
    printf("Test %s\n", same ? "PASSED" : "FAILED");
    return same ? 0 : 1;
}
