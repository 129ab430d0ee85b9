/* src/raytrace/types.h. Statuses and kinds of memory.
   Uses: nothing. Used by: functions.h, host/, trace/tree.h, trace/host/. */
#if !defined(__CUDACC_RTC__) && !defined(RAYT__PART_TYPES)
#define RAYT__PART_TYPES
/* ============================== TYPES ========================================================= */
typedef enum rayt_status {
    RAYT_OK = 0,
    RAYT_ERROR_ARGUMENT, /* null pointer, negative or too large a size, unknown `where`, ... */
    RAYT_ERROR_MEMORY,   /* host or device memory is used up */
    RAYT_ERROR_DEVICE,   /* no CUDA device, or the program was not built for this one */
    RAYT_ERROR_CUDA,     /* a launch or copy failed; rayt_last_error() has CUDA's words */
    RAYT_ERROR_FILE,     /* a file could not be written; rayt_last_error() has the system's words */
} rayt_status;

typedef enum rayt_where {
    RAYT_GLOBAL = 0,
    RAYT_READONLY,
    RAYT_CONSTANT,
    RAYT_SHARED,
    RAYT_CULLED,
    RAYT_WHERE_COUNT, /* not a kernel: how many there are for rayt_render */
    RAYT_TREE = 16    /* for rayt_trace */
} rayt_where;

#ifdef __CUDACC__
typedef cudaStream_t rayt_stream;
#else
typedef struct CUstream_st *rayt_stream; /* what cudaStream_t is, without CUDA's headers */
#endif

/* Called after each band of rows: `done` of `rows` are in the image. */
typedef void (*rayt_progress)(int done, int rows, void *context);
#endif
