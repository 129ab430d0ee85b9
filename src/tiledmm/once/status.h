/* src/tiledmm/once/status.h. The sentence of the last error, and names of statuses and kernels.
   Uses: config.h, types.h.
   Used by: checks.h, host/, launch/product.h, once/, type/, kernels/, callers. */
#if TMM__HOST && !defined(TMM__ONCE)
/* One buffer a thread and program: `inline` (not static) functions share their variables between
   files. */
inline char *tmm__message(void)
{
    static thread_local char message[256];
    return message;
}

static inline tmm_status tmm__fail(tmm_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tmm__message(), 256, format, arguments);
    va_end(arguments);
    return status;
}

/* 1 if this call of ours succeeded. If not, its error is removed from CUDA's record, where the
   caller would take it for his. An older error stays. */
static inline int tmm__succeeded(cudaError_t error)
{
    if (error == cudaSuccess) return 1;
    if (cudaPeekAtLastError() == error) (void)cudaGetLastError();
    return 0;
}

/* A CUDA error as a status; `what` is the call that returned it. */
static inline tmm_status tmm__cuda(cudaError_t error, const char *what)
{
    if (tmm__succeeded(error)) return TMM_OK;
    if (error == cudaErrorMemoryAllocation)
        return tmm__fail(TMM_ERROR_MEMORY, "%s: out of device memory", what);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        return tmm__fail(TMM_ERROR_DEVICE, "%s: no usable CUDA device: %s", what,
                         cudaGetErrorString(error));
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion)
        return tmm__fail(TMM_ERROR_DEVICE,
                         "%s: the program was compiled for other devices than this one; "
                         "rebuild with nvcc -arch=native",
                         what);
    return tmm__fail(TMM_ERROR_CUDA, "%s: %s", what, cudaGetErrorString(error));
}

/* Errors after which a device does no more work, by the CUDA Runtime API. Of some an operand may
   be the cause, that is host memory or too small: in this launch, or before. Others our kernels
   do not cause. */
static inline int tmm__is_of_memory(cudaError_t error)
{
    return error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress ||
           error == cudaErrorInvalidAddressSpace;
}

static inline int tmm__is_sticky(cudaError_t error)
{
    return tmm__is_of_memory(error) || error == cudaErrorLaunchTimeout ||
           error == cudaErrorHardwareStackError || error == cudaErrorIllegalInstruction ||
           error == cudaErrorInvalidPc || error == cudaErrorLaunchFailure ||
           error == cudaErrorAssert || error == cudaErrorECCUncorrectable;
}

/* What a launch returned, as a status. */
static inline tmm_status tmm__launched(cudaError_t error)
{
    if (!tmm__is_sticky(error)) return tmm__cuda(error, "kernel launch");
    if (tmm__is_of_memory(error))
        return tmm__fail(TMM_ERROR_CUDA,
                         "kernel launch: %s, in this launch or before it; is an operand host "
                         "memory, another device's, or smaller than its shape?",
                         cudaGetErrorString(error));
    return tmm__fail(TMM_ERROR_CUDA, "kernel launch: the device had failed before it: %s",
                     cudaGetErrorString(error));
}

TMM_API const char *tmm_last_error(void)
{
    return tmm__message();
}

TMM_API const char *tmm_status_string(tmm_status status)
{
    switch (status) {
    case TMM_OK: return "TMM_OK";
    case TMM_ERROR_ARGUMENT: return "TMM_ERROR_ARGUMENT";
    case TMM_ERROR_MEMORY: return "TMM_ERROR_MEMORY";
    case TMM_ERROR_DEVICE: return "TMM_ERROR_DEVICE";
    case TMM_ERROR_CUDA: return "TMM_ERROR_CUDA";
    case TMM_ERROR_UNSUPPORTED: return "TMM_ERROR_UNSUPPORTED";
    case TMM_ERROR_CANCELLED: return "TMM_ERROR_CANCELLED";
    }
    return "unknown tmm_status";
}

TMM_API const char *tmm_kernel_string(tmm_kernel kernel)
{
#define TMM__NAME(value, string) \
    case value:                  \
        return string;
#define TMM__KERNEL(value, string, tile, ...) TMM__NAME(value, string)
    switch (kernel) {
        TMM__KERNEL_LIST(TMM__NAME, TMM__KERNEL)
    case TMM_KERNEL_COUNT: break;
    }
#undef TMM__NAME
#undef TMM__KERNEL
    return NULL;
}

static inline long long tmm__min(long long a, long long b)
{
    return a < b ? a : b;
}
#endif
