/* src/raytrace/host/render.h. Images of any size: on the device, and from host memory.
   Uses: config.h, intersection.cuh, types.h, host/. Used by: functions.h, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_RENDER)
#define RAYT__PART_RENDER
/* ============================== RENDERING ===================================================== */
/* Rows of a launch, at most: whole tiles, within 65535 blocks of 16 rows and 2^24 tiles. */
static inline int rayt__max_rows(int width)
{
    long long tiles = (width - 1) / 32 + 1;
    long long rows = (1 << 24) / tiles * 32 / 64 * 64;
    return (int)(rows < 1048512 ? rows : 1048512); /* 16383 tiles of 64 */
}

RAYT_API rayt_status rayt_render_rows(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *band, int width, int height, int first_row,
                                      int rows, rayt_stream stream)
{
    rayt_status status = rayt__check_where(where);
    if (status == RAYT_OK) status = rayt__check_spheres(spheres, count);
    if (status == RAYT_OK) status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (first_row < 0 || rows < 0 || rows > height - first_row)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "first_row is %d and rows is %d, but the image has %d rows", first_row,
                          rows, height);
    if (band == NULL && width > 0 && rows > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "band is NULL, the memory for the image's rows");
    if ((size_t)band % 4 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the image is not aligned to 4 bytes");
    if (width == 0 || rows == 0) return RAYT_OK;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    int most = rayt__max_rows(width);
    for (int done = 0; done < rows && status == RAYT_OK; done += most) {
        rayt__job job = {spheres,
                         count,
                         (uchar4 *)band + (size_t)done * width,
                         width,
                         height,
                         first_row + done,
                         rows - done < most ? rows - done : most,
                         stream};
        status = rayt__launch(where, &job);
    }
    return rayt__end(before, status);
}

RAYT_API rayt_status rayt_render(rayt_where where, const rayt_sphere *spheres, int count,
                                 unsigned char *image, int width, int height, rayt_stream stream)
{
    rayt_status status = rayt__check(spheres, count, image, width, height);
    if (status != RAYT_OK) return status;
    return rayt_render_rows(where, spheres, count, image, width, height, 0, height, stream);
}

/* ============================== HOST LAYER ==================================================== */
/* Rows of a band. A band has at most 64 MB and, for the plain kernels, 2^33 tests. These take a
   fraction of a second even on a small GPU. It has at least 128 rows, two rows of tiles. */
static inline int rayt__band_rows(rayt_where where, int count, int width, int height)
{
    double rows = 16777216.0 / width, tests = 8589934592.0 / ((double)width * (count + 1));
    if (where != RAYT_CULLED && tests < rows) rows = tests;
    rows = floor(rows / 128) * 128;
    return rows < 128 ? (height < 128 ? height : 128) : rows < height ? (int)rows : height;
}

RAYT_API rayt_status rayt_render_host(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *image, int width, int height,
                                      rayt_progress progress, void *context)
{
    rayt_status status = rayt__check_where(where);
    if (status == RAYT_OK) status = rayt__check(spheres, count, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    size_t scene_bytes = (size_t)count * sizeof(rayt_sphere), row_bytes = (size_t)width * 4;
    int most = rayt__band_rows(where, count, width, height);
    rayt_sphere *scene = NULL;
    unsigned char *band = NULL;
    if (count > 0)
        status = rayt__cuda(cudaMalloc((void **)&scene, scene_bytes), "cudaMalloc for the spheres");
    if (status == RAYT_OK)
        status = rayt__cuda(cudaMalloc((void **)&band, row_bytes * (size_t)most),
                            "cudaMalloc for the image");
    if (status == RAYT_OK && count > 0)
        status = rayt__cuda(cudaMemcpy(scene, spheres, scene_bytes, cudaMemcpyHostToDevice),
                            "copy of the spheres to the device");
    for (int done = 0; done < height && status == RAYT_OK;) {
        int rows = height - done < most ? height - done : most;
        status = rayt_render_rows(where, scene, count, band, width, height, done, rows, 0);
        if (status == RAYT_OK)
            status = rayt__cuda(cudaMemcpy(image + (size_t)done * row_bytes, band,
                                           (size_t)rows * row_bytes, cudaMemcpyDeviceToHost),
                                "rendering, or copy of the image to the host");
        done += rows;
        if (status == RAYT_OK && progress) progress(done, height, context);
    }
    cudaFree(scene); /* of NULL: nothing; an error here would only repeat an earlier one */
    cudaFree(band);
    return rayt__end(before, status);
}
#endif
