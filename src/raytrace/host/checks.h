/* src/raytrace/host/checks.h. Checks of arguments that the functions share.
   Uses: config.h, intersection.cuh, types.h, status.h. Used by: host/, trace/host/. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_CHECKS)
#define RAYT__PART_CHECKS
/* ============================== CHECKS ======================================================== */
enum { RAYT__MAX_SIDE = 1 << 24, RAYT__MAX_SPHERES = 1 << 30 };

static inline rayt_status rayt__check_size(const char *name, int size)
{
    if (size < 0) return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is negative: %d", name, size);
    if (size > RAYT__MAX_SIDE)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "%s is %d, more than %d (2^24)", name, size,
                          RAYT__MAX_SIDE);
    return RAYT_OK;
}

static inline rayt_status rayt__check_spheres(const rayt_sphere *spheres, int count)
{
    if (count < 0) return rayt__fail(RAYT_ERROR_ARGUMENT, "count is negative: %d", count);
    if (count > RAYT__MAX_SPHERES)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "count is %d, more than %d (2^30)", count,
                          RAYT__MAX_SPHERES);
    if (spheres == NULL && count > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "spheres is NULL, but count is %d", count);
    if ((size_t)spheres % 16 != 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "spheres is not aligned to 16 bytes");
    return RAYT_OK;
}

/* The arguments that all functions which render have. */
static inline rayt_status rayt__check(const rayt_sphere *spheres, int count,
                                      const unsigned char *image, int width, int height)
{
    rayt_status status = rayt__check_spheres(spheres, count);
    if (status == RAYT_OK) status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status == RAYT_OK && image == NULL && width > 0 && height > 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "image is NULL");
    return status;
}

static inline rayt_status rayt__check_where(rayt_where where)
{
    if (where == RAYT_TREE)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "where is RAYT_TREE, which is for rayt_trace; "
                                               "parallel rays have RAYT_CULLED");
    if (rayt_where_string(where) != NULL) return RAYT_OK;
    return rayt__fail(RAYT_ERROR_ARGUMENT, "where is %d, which is no rayt_where", (int)where);
}
#endif
