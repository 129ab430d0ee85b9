/* src/raytrace/host/files.h. PICTURES: files that appear whole or not at all; PPM.
   Uses: config.h, types.h, checks.h, status.h. Used by: functions.h, png.h, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_FILES)
#define RAYT__PART_FILES
/* ============================== PICTURES ====================================================== */
/* A file that gets its name only when it is complete. */
typedef struct rayt__file {
    FILE *stream;
    const char *path;
    char *part; /* the name until then */
} rayt__file;

static inline rayt_status rayt__open(rayt__file *file, const char *path, const unsigned char *image,
                                     int width, int height)
{
    rayt_status status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (path == NULL || *path == '\0')
        return rayt__fail(RAYT_ERROR_ARGUMENT, "path is %s", path == NULL ? "NULL" : "empty");
    if (width == 0 || height == 0)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "the image has no pixels (%d x %d): no file can "
                          "hold it",
                          width, height);
    if (image == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "image is NULL");
    size_t length = strlen(path);
    int direct = 0; /* what is no ordinary file, such as /dev/stdout, is written to as it is */
#ifndef _WIN32
    struct stat there;
    direct = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
#endif
    file->path = path;
    file->part = NULL;
    if (!direct) {
        file->part = (char *)malloc(length + 6);
        if (file->part == NULL)
            return rayt__fail(RAYT_ERROR_MEMORY, "no host memory for a file name");
        memcpy(file->part, path, length);
        memcpy(file->part + length, ".part", 6);
    }
    file->stream = fopen(direct ? path : file->part, "wb");
    if (file->stream != NULL) return RAYT_OK;
    status = rayt__fail(RAYT_ERROR_FILE, "cannot write %s: %s", direct ? path : file->part,
                        strerror(errno));
    free(file->part);
    return status;
}

/* Gives the file up: an older one stays. */
static inline void rayt__abandon(rayt__file *file)
{
    fclose(file->stream);
    if (file->part != NULL) remove(file->part);
    free(file->part);
}

static inline rayt_status rayt__close(rayt__file *file)
{
    rayt_status status = RAYT_OK;
    int failed = ferror(file->stream);
    failed |= fclose(file->stream);
#ifdef _WIN32
    if (!failed) remove(file->path); /* Windows does not rename onto a file */
#endif
    if (!failed && file->part != NULL) failed = rename(file->part, file->path);
    if (failed) {
        status = rayt__fail(RAYT_ERROR_FILE, "cannot write %s: %s", file->path, strerror(errno));
        if (file->part != NULL) remove(file->part);
    }
    free(file->part);
    return status;
}

RAYT_API rayt_status rayt_write_ppm(const char *path, const unsigned char *image, int width,
                                    int height)
{
    rayt__file file = {NULL, NULL, NULL};
    rayt_status status = rayt__open(&file, path, image, width, height);
    if (status != RAYT_OK) return status;
    fprintf(file.stream, "P6\n%d %d\n255\n", width, height);
    for (size_t p = 0; p < (size_t)width * height; p++) fwrite(image + 4 * p, 1, 3, file.stream);
    return rayt__close(&file);
}
#endif
