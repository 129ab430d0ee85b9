/* src/raytrace/trace/host/query.h. Questions to trees.
   Uses: config.h, types.h, host/, trace/, build.h. Used by: trace/tree.h, view.h, callers. */
#if defined(RAYT_WITH_TRACE) && RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_QUERY)
#define RAYT__PART_QUERY
/* ============================== QUERIES ======================================================= */
/* An array of `count` items that are aligned to so many bytes. */
static inline rayt_status rayt__check_array(const char *name, const void *array, int count,
                                            int alignment)
{
    if (array == NULL && count > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is NULL, but count is %d", name, count);
    if ((size_t)array % (size_t)alignment != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is not aligned to %d bytes", name, alignment);
    return RAYT_OK;
}

static inline rayt_status rayt__check_tree(const rayt_tree *tree, int count)
{
    if (tree == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "tree is NULL");
    if (tree->memory == NULL || tree->count < 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "tree is empty: rayt_build has not filled it");
    if (count < 0) return rayt__fail(RAYT_ERROR_ARGUMENT, "count is negative: %d", count);
    if (count > RAYT__MAX_SPHERES) /* kernels count somewhat beyond it, in int */
        return rayt__fail(RAYT_ERROR_ARGUMENT, "count is %d, more than %d (2^30)", count,
                          RAYT__MAX_SPHERES);
    return RAYT_OK;
}

/* How many rays fill a device with one round a block, as KERNELS TREE has rounds; tests have fewer. */
#ifndef RAYT__ROUND
#define RAYT__ROUND 131072
#endif

static inline cudaLaunchConfig_t rayt__query_config(int count, cudaStream_t stream)
{
    return rayt__config((unsigned)(count - 1) / RAYT__QUERY_THREADS + 1, RAYT__QUERY_THREADS,
                        stream);
}

static inline RAYT__OPTIMIZE void rayt__query_host(const rayt_tree *tree, const rayt_ray *rays,
                                                   int count, bool any, rayt_found *found)
{
    rayt__tree_view view = rayt__view(tree);
    for (int i = 0; i < count; i++) {
        float t = 0;
        int index = rayt__tree_nearest(view, rayt_ready(rays[i]), any, &t);
        found[i].index = any && index >= 0 ? 0 : index;
        found[i].t = any || index < 0 ? 0 : t;
    }
}

RAYT_API rayt_status rayt_query(rayt_query_kind kind, const rayt_tree *tree, const rayt_ray *rays,
                                int count, rayt_found *found, rayt_stream stream)
{
    if (kind != RAYT_NEAREST && kind != RAYT_ANY)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "kind is %d, which is no rayt_query_kind",
                          (int)kind);
    rayt_status status = rayt__check_tree(tree, count);
    if (status == RAYT_OK) status = rayt__check_array("rays", rays, count, 16);
    if (status == RAYT_OK) status = rayt__check_array("found", found, count, 8);
    if (status != RAYT_OK || count == 0) return status;
    if (tree->on_host) {
        rayt__query_host(tree, rays, count, kind == RAYT_ANY, found);
        return RAYT_OK;
    }
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    status = rayt__check_device(tree);
    if (status == RAYT_OK) {
        int rounds = count < 2 * RAYT__ROUND              ? 1
                     : count < RAYT__ROUNDS * RAYT__ROUND ? count / RAYT__ROUND
                                                          : RAYT__ROUNDS;
        int enough =
            tree->count < 16384 ? 16 : 8; /* where walks are short, fetching rays costs more */
        cudaLaunchConfig_t config = rayt__query_config((count - 1) / rounds + 1, stream);
        status = rayt__launched(cudaLaunchKernelEx(&config, rayt_query_rays, rayt__view(tree), rays,
                                                   count, rounds, enough, kind == RAYT_ANY,
                                                   (int2 *)found));
    }
    return rayt__end(before, status);
}

RAYT_API rayt_status rayt_query_within(const rayt_tree *tree, const rayt_ball *balls, int count,
                                       int *counts, int *lists, int capacity, rayt_stream stream)
{
    rayt_status status = rayt__check_tree(tree, count);
    if (status == RAYT_OK) status = rayt__check_array("balls", balls, count, 16);
    if (status == RAYT_OK) status = rayt__check_array("counts", counts, count, 4);
    if (status == RAYT_OK && capacity < 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "capacity is negative: %d", capacity);
    if (status == RAYT_OK && capacity > 0) status = rayt__check_array("lists", lists, count, 4);
    if (status != RAYT_OK || count == 0) return status;
    if (tree->on_host) {
        rayt__tree_view view = rayt__view(tree);
        for (int i = 0; i < count; i++) {
            float4 point = make_float4(balls[i].x, balls[i].y, balls[i].z, balls[i].radius);
            counts[i] = rayt__tree_within(view, point, lists + (size_t)i * capacity, capacity);
        }
        return RAYT_OK;
    }
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    status = rayt__check_device(tree);
    if (status == RAYT_OK) {
        cudaLaunchConfig_t config = rayt__query_config(count, stream);
        status = rayt__launched(cudaLaunchKernelEx(&config, rayt_query_balls, rayt__view(tree),
                                                   (const float4 *)balls, count, counts, lists,
                                                   capacity));
    }
    return rayt__end(before, status);
}
#endif
