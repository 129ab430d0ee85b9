/* src/raytrace/functions.h. Declarations of the functions.
   Uses: config.h, intersection.cuh, types.h, host/, trace/types.h, trace/host/.
   Used by: callers. */
#if !defined(__CUDACC_RTC__) && !defined(RAYT__PART_FUNCTIONS)
#define RAYT__PART_FUNCTIONS
/* ============================== DECLARATIONS ================================================== */
/* The name of a status: "RAYT_OK", ... Never NULL. */
RAYT_API const char *rayt_status_string(rayt_status status);

/* What went wrong in this thread's last call that did not return RAYT_OK: one sentence that names
   the argument or the CUDA call. "" if nothing has. Valid until the next failure. */
RAYT_API const char *rayt_last_error(void);

/* The name of a kernel as written on command lines: "global", "readonly", ... NULL for a value
   that is none, so that a program can go through RAYT_GLOBAL .. RAYT_WHERE_COUNT - 1. */
RAYT_API const char *rayt_where_string(rayt_where where);

/* Renders `count` spheres to an image of width x height pixels on the current device, enqueued on
   `stream`. spheres: device memory, 16-byte aligned (cudaMalloc's is), may be NULL if count is 0.
   image: device memory, 4 * width * height bytes, 4-byte aligned (16 is faster).
   Errors: RAYT_ERROR_ARGUMENT (nothing is launched), RAYT_ERROR_DEVICE, RAYT_ERROR_CUDA,
   RAYT_ERROR_MEMORY (no scratch memory). */
RAYT_API rayt_status rayt_render(rayt_where where, const rayt_sphere *spheres, int count,
                                 unsigned char *image, int width, int height, rayt_stream stream);

/* The same for a band: the rows first_row .. first_row + rows - 1 of that image go to `band`,
   which has 4 * width * rows bytes. For images beyond device memory and for several devices; also
   for GPUs that drive a display, where a launch must not take longer than a second or two. */
RAYT_API rayt_status rayt_render_rows(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *band, int width, int height, int first_row,
                                      int rows, rayt_stream stream);

/* The whole job: spheres and image in host memory. Allocates device memory for the spheres and a
   band of the image, copies, renders band by band, copies back, frees. `progress` is called with
   `context` after each band and may be NULL. On an error the rows reported to `progress` are
   complete. Errors: as above. */
RAYT_API rayt_status rayt_render_host(rayt_where where, const rayt_sphere *spheres, int count,
                                      unsigned char *image, int width, int height,
                                      rayt_progress progress, void *context);

/* The same image by the CPU, host memory, one thread: the same intersection and shading, every
   pixel against every sphere that reaches its row. Errors: RAYT_ERROR_ARGUMENT, _MEMORY. */
RAYT_API rayt_status rayt_render_cpu(const rayt_sphere *spheres, int count, unsigned char *image,
                                     int width, int height);

/* Fills `spheres` (host memory) with a scene for an image of width x height. x and z span the
   width, y the height, each centred at 0; radius_min <= radius <= radius_max; any colour. All are
   uniform. The same seed gives the same bits everywhere. The course exercise that this header
   answers has radii from 20 to 120. */
RAYT_API rayt_status rayt_random_scene(rayt_sphere *spheres, int count, unsigned long long seed,
                                       int width, int height, float radius_min, float radius_max);

/* Writes an image in host memory to a file, without its alpha: PPM (P6), or PNG (8-bit RGB,
   lightly compressed). The file is written beside its place, as `path`.part, and then renamed:
   whatever happens, no half-written picture appears, and an older one stays until then (on Windows,
   until just before).
   Errors: RAYT_ERROR_ARGUMENT, RAYT_ERROR_FILE, RAYT_ERROR_MEMORY. */
RAYT_API rayt_status rayt_write_ppm(const char *path, const unsigned char *image, int width,
                                    int height);
RAYT_API rayt_status rayt_write_png(const char *path, const unsigned char *image, int width,
                                    int height);

/* Prints an image in host memory with 24-bit colour escape sequences. It is `columns` characters
   wide (1 to 1000; at most as many as the image has pixels). A character cell has two pixels of the
   preview, which needs UTF-8. Errors: RAYT_ERROR_ARGUMENT, RAYT_ERROR_FILE. */
RAYT_API rayt_status rayt_print_ansi(FILE *file, const unsigned char *image, int width, int height,
                                     int columns);

#ifdef RAYT_WITH_TRACE
/* Traces the scene's picture of width x height pixels, as the camera sees it, on the current device,
   enqueued on `stream`. The arrays of the scene and the image are in device memory: spheres,
   materials (16-byte aligned), image as for rayt_render; scene, camera and quality themselves are in
   host memory and may change after the call. RAYT_TREE needs scene->tree.
   Errors: RAYT_ERROR_ARGUMENT (nothing is launched), RAYT_ERROR_DEVICE, RAYT_ERROR_CUDA. */
RAYT_API rayt_status rayt_trace(rayt_where where, const rayt_scene *scene,
                                const rayt_camera *camera, const rayt_quality *quality,
                                unsigned char *image, int width, int height, rayt_stream stream);

/* The whole job: arrays and image in host memory, band by band as rayt_render_host does it. RAYT_TREE
   builds a tree of its own; scene->tree is not looked at. Errors: as above, RAYT_ERROR_MEMORY. */
RAYT_API rayt_status rayt_trace_host(rayt_where where, const rayt_scene *scene,
                                     const rayt_camera *camera, const rayt_quality *quality,
                                     unsigned char *image, int width, int height,
                                     rayt_progress progress, void *context);

/* The same image by the CPU, host memory, a thread for each processor. Every ray against every
   sphere, or through scene->tree if that is not NULL: of rayt_build_host. Errors:
   RAYT_ERROR_ARGUMENT. */
RAYT_API rayt_status rayt_trace_cpu(const rayt_scene *scene, const rayt_camera *camera,
                                    const rayt_quality *quality, unsigned char *image, int width,
                                    int height);
#endif
#endif
