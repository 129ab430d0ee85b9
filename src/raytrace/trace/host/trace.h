/* src/raytrace/trace/host/trace.h. Pictures by a camera: on the device, and from host memory.
   Uses: config.h, intersection.cuh, types.h, host/, trace/, trace/host/.
   Used by: functions.h, callers. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && !defined(RAYT__PART_TRACE)
#define RAYT__PART_TRACE
/* ============================== TRACE: PICTURES =============================================== */
static inline rayt_status rayt__check_trace(rayt_where where)
{
    if (where == RAYT_CULLED)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "where is RAYT_CULLED, which is for parallel rays "
                                               "through rayt_render; rayt_trace has RAYT_TREE");
    return where == RAYT_TREE ? RAYT_OK : rayt__check_where(where);
}

RAYT_API rayt_status rayt_trace(rayt_where where, const rayt_scene *scene,
                                const rayt_camera *camera, const rayt_quality *quality,
                                unsigned char *image, int width, int height, rayt_stream stream)
{
    rayt__trace_view view;
    rayt_status status = rayt__check_trace(where);
    if (status == RAYT_OK)
        status = rayt__set_view(&view, scene, camera, quality, image, width, height);
    if (status != RAYT_OK) return status;
    if ((size_t)image % 4 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "the image is not aligned to 4 bytes");
    if (width == 0 || height == 0) return RAYT_OK;
    if (where == RAYT_TREE) status = rayt__set_tree(&view, scene, 0);
    if (status != RAYT_OK) return status;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    if (where == RAYT_TREE) status = rayt__check_device(scene->tree);
    if (status == RAYT_OK) status = rayt__trace_rows(where, &view, image, stream);
    return rayt__end(before, status);
}

/* Device memory of rayt_trace_host. */
typedef struct rayt__traced {
    rayt_sphere *spheres;
    rayt_material *materials;
    unsigned char *band;
    rayt_tree tree;
} rayt__traced;

static inline rayt_status rayt__copy_scene(const rayt_scene *scene, rayt__traced *memory)
{
    size_t spheres = (size_t)scene->count * sizeof(rayt_sphere);
    size_t materials = scene->materials ? (size_t)scene->count * sizeof(rayt_material) : 0;
    rayt_status status = RAYT_OK;
    if (spheres > 0)
        status = rayt__cuda(cudaMalloc((void **)&memory->spheres, spheres),
                            "cudaMalloc for the spheres");
    if (status == RAYT_OK && spheres > 0)
        status =
            rayt__cuda(cudaMemcpy(memory->spheres, scene->spheres, spheres, cudaMemcpyHostToDevice),
                       "copy of the spheres to the device");
    if (status == RAYT_OK && materials > 0)
        status = rayt__cuda(cudaMalloc((void **)&memory->materials, materials),
                            "cudaMalloc for the materials");
    if (status == RAYT_OK && materials > 0)
        status = rayt__cuda(cudaMemcpy(memory->materials, scene->materials, materials,
                                       cudaMemcpyHostToDevice),
                            "copy of the materials to the device");
    return status;
}

/* Rows of a band of rayt_trace_host: at most 64 MB, and some 2^33 tests if a path has 4 rays. A
   tree makes some 100 tests of many spheres. */
static inline int rayt__trace_band(rayt_where where, const rayt__trace_view *view)
{
    double tests = view->count + 10.0;
    if (where == RAYT_TREE && tests > 100) tests = 100;
    double a_row = 4 * tests * (double)view->samples * (double)view->width;
    double rows = 8589934592.0 / a_row, most = 16777216.0 / view->width;
    if (rows > most) rows = most;
    rows = floor(rows / 16) * 16; /* whole tiles */
    if (rows < 16) rows = 16;
    return rows < view->height ? (int)rows : view->height;
}

RAYT_API rayt_status rayt_trace_host(rayt_where where, const rayt_scene *scene,
                                     const rayt_camera *camera, const rayt_quality *quality,
                                     unsigned char *image, int width, int height,
                                     rayt_progress progress, void *context)
{
    rayt__trace_view view;
    rayt_status status = rayt__check_trace(where);
    if (status == RAYT_OK)
        status = rayt__set_view(&view, scene, camera, quality, image, width, height);
    if (status != RAYT_OK || width == 0 || height == 0) return status;
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    rayt__traced memory;
    memset(&memory, 0, sizeof memory);
    size_t row_bytes = (size_t)width * 4;
    int most = rayt__trace_band(where, &view);
    status = rayt__copy_scene(scene, &memory);
    view.spheres = memory.spheres;
    view.materials = memory.materials;
    if (status == RAYT_OK && where == RAYT_TREE)
        status = rayt_build(&memory.tree, memory.spheres, scene->count, 0);
    if (status == RAYT_OK && where == RAYT_TREE) view.tree = rayt__view(&memory.tree);
    if (status == RAYT_OK)
        status = rayt__cuda(cudaMalloc((void **)&memory.band, row_bytes * (size_t)most),
                            "cudaMalloc for the image");
    for (int done = 0; done < height && status == RAYT_OK;) {
        int rows = height - done < most ? height - done : most;
        view.first_row = done;
        view.rows = rows;
        status = rayt__trace_rows(where, &view, memory.band, 0);
        if (status == RAYT_OK)
            status = rayt__cuda(cudaMemcpy(image + (size_t)done * row_bytes, memory.band,
                                           (size_t)rows * row_bytes, cudaMemcpyDeviceToHost),
                                "tracing, or copy of the image to the host");
        done += rows;
        if (status == RAYT_OK && progress) progress(done, height, context);
    }
    if (memory.tree.memory != NULL) cudaFree(memory.tree.memory);
    cudaFree(memory.spheres); /* of NULL: nothing; an error here would only repeat an earlier one */
    cudaFree(memory.materials);
    cudaFree(memory.band);
    return rayt__end(before, status);
}
#endif
