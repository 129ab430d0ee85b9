/* src/raytrace/host/cpu.h. The same image by the CPU.
   Uses: config.h, intersection.cuh, types.h, checks.h, status.h. Used by: functions.h, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_CPU)
#define RAYT__PART_CPU
/* ============================== CPU REFERENCE ================================================= */
static inline RAYT__OPTIMIZE void rayt__cpu_row(const rayt_sphere *spheres, const int *reaching,
                                                int count, unsigned char *pixels, int width,
                                                float py)
{
    for (int column = 0; column < width; column++) {
        float px = rayt_coordinate(column, width), nearest = RAYT_NOTHING, nearest_dz = 0;
        int found = -1;
        for (int n = 0; n < count; n++) {
            const rayt_sphere *s = &spheres[reaching[n]];
            float4 ball = make_float4(s->x, s->y, s->z, s->radius);
            float dx = rayt_sub(px, ball.x), dy = rayt_sub(py, ball.y);
            float rr = rayt_mul(ball.w, ball.w);
            if (rayt_misses(dx, dy, rr)) continue;
            float dz = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, dz);
            if (depth > nearest && rayt_valid(ball)) {
                nearest = depth;
                nearest_dz = dz;
                found = reaching[n];
            }
        }
        uchar4 pixel = make_uchar4(0, 0, 0, 255);
        if (found >= 0) {
            const rayt_sphere *s = &spheres[found];
            pixel = rayt_shade(nearest_dz, s->radius, s->r, s->g, s->b);
        }
        pixels[4 * (size_t)column] = pixel.x;
        pixels[4 * (size_t)column + 1] = pixel.y;
        pixels[4 * (size_t)column + 2] = pixel.z;
        pixels[4 * (size_t)column + 3] = pixel.w;
    }
}

RAYT_API rayt_status rayt_render_cpu(const rayt_sphere *spheres, int count, unsigned char *image,
                                     int width, int height)
{
    rayt_status status = rayt__check(spheres, count, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    int *reaching = (int *)malloc(((size_t)count + 1) * sizeof(int));
    if (reaching == NULL)
        return rayt__fail(RAYT_ERROR_MEMORY, "no host memory for %d indices", count);
    for (int row = 0; row < height; row++) {
        /* The spheres that reach this row: a hit needs xx + yy < rr, hence yy < rr. */
        float py = rayt_coordinate(row, height);
        int many = 0;
        for (int i = 0; i < count; i++) {
            float dy = rayt_sub(py, spheres[i].y);
            if (rayt_mul(dy, dy) < rayt_mul(spheres[i].radius, spheres[i].radius))
                reaching[many++] = i;
        }
        rayt__cpu_row(spheres, reaching, many, image + (size_t)row * width * 4, width, py);
    }
    free(reaching);
    return RAYT_OK;
}
#endif
