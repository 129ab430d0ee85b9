/* src/raytrace/host/status.h. The sentence of the last error, and names of statuses and kernels.
   Uses: config.h, types.h. Used by: functions.h, host/, trace/host/, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_STATUS)
#define RAYT__PART_STATUS
/* ============================== STATUS ======================================================== */
/* One buffer a thread and program: `inline` (not static) functions share their variables between
   the files that include this one. */
inline char *rayt__message(void)
{
    static thread_local char message[256];
    return message;
}

static inline rayt_status rayt__fail(rayt_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rayt__message(), 256, format, arguments);
    va_end(arguments);
    return status;
}

/* A CUDA error as a status; `what` is the call that returned it. */
static inline rayt_status rayt__cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return RAYT_OK;
    if (error == cudaErrorMemoryAllocation)
        return rayt__fail(RAYT_ERROR_MEMORY, "%s: out of device memory", what);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        return rayt__fail(RAYT_ERROR_DEVICE, "%s: no usable CUDA device: %s", what,
                          cudaGetErrorString(error));
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion)
        return rayt__fail(RAYT_ERROR_DEVICE,
                          "%s: the program was compiled for other devices than this one; "
                          "rebuild with nvcc -arch=native",
                          what);
    return rayt__fail(RAYT_ERROR_CUDA, "%s: %s", what, cudaGetErrorString(error));
}

/* Is this an error after which the device does no more work? Every call then fails with it, and so
   does the making of an event, which fails by itself only where memory is used up. */
static inline bool rayt__is_sticky(cudaError_t error)
{
    cudaEvent_t event = NULL;
    cudaError_t again = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (again == cudaSuccess) (void)cudaEventDestroy(event);
    return again == error && error != cudaErrorMemoryAllocation;
}

/* The status of a launch, from what cudaLaunchKernelEx returned. Launches are asynchronous: a
   sticky error comes from a kernel that has begun before. */
static inline rayt_status rayt__launched(cudaError_t error)
{
    if (error == cudaSuccess) return RAYT_OK;
    return rayt__cuda(error, rayt__is_sticky(error)
                                 ? "kernel launch, or work of the device before it"
                                 : "kernel launch");
}

/* CUDA keeps a record of each thread's last error until cudaGetLastError takes it. An error of the
   caller may be there, handled already or not. Hence two rules: no call takes its result from the
   record, and none leaves an error of its own in it. Every function that calls CUDA begins with
   rayt__begin and, if that returns RAYT_OK, ends with rayt__end.

   `before` becomes the error in the record, which stops nothing unless the device is lost. */
static inline rayt_status rayt__begin(cudaError_t *before)
{
    *before = cudaPeekAtLastError();
    if (*before == cudaSuccess || !rayt__is_sticky(*before)) return RAYT_OK;
    return rayt__cuda(*before, "found before the launch");
}

/* Takes errors of this header's calls from the record, also those that it could mend; what was
   there before stays, unless such an error has overwritten it. Returns `status`. */
static inline rayt_status rayt__end(cudaError_t before, rayt_status status)
{
    if (cudaPeekAtLastError() != before) (void)cudaGetLastError();
    return status;
}

RAYT_API const char *rayt_last_error(void)
{
    return rayt__message();
}

RAYT_API const char *rayt_status_string(rayt_status status)
{
    switch (status) {
    case RAYT_OK: return "RAYT_OK";
    case RAYT_ERROR_ARGUMENT: return "RAYT_ERROR_ARGUMENT";
    case RAYT_ERROR_MEMORY: return "RAYT_ERROR_MEMORY";
    case RAYT_ERROR_DEVICE: return "RAYT_ERROR_DEVICE";
    case RAYT_ERROR_CUDA: return "RAYT_ERROR_CUDA";
    case RAYT_ERROR_FILE: return "RAYT_ERROR_FILE";
    }
    return "unknown rayt_status";
}

RAYT_API const char *rayt_where_string(rayt_where where)
{
    switch (where) {
    case RAYT_GLOBAL: return "global";
    case RAYT_READONLY: return "readonly";
    case RAYT_CONSTANT: return "constant";
    case RAYT_SHARED: return "shared";
    case RAYT_CULLED: return "culled";
    case RAYT_TREE: return "tree";
    case RAYT_WHERE_COUNT: break;
    }
    return NULL;
}
#endif
