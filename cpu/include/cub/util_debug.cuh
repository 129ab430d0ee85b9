/* CUB for the runner: errors of the runtime, printed. */
#ifndef CUCC_CUB_UTIL_DEBUG_CUH
#define CUCC_CUB_UTIL_DEBUG_CUH

namespace cub
{
inline cudaError_t Debug(cudaError_t error, const char *file, int line)
{
    if (error)
        fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", (int)error, file, line,
                cudaGetErrorString(error));
    return error;
}
} // namespace cub

#define CubDebug(e) cub::Debug((cudaError_t)(e), __FILE__, __LINE__)
#define CubDebugExit(e)           \
    do {                          \
        if (CubDebug(e)) exit(1); \
    } while (0)
#ifdef CUB_STDERR
#define _CubLog(format, ...) printf(format, __VA_ARGS__)
#endif

#endif
