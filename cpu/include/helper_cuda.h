/* helper_cuda.h of the CPU runner: the checks of NVIDIA's samples, for programs that were taken out of
 * their folder. */
#ifndef COMMON_HELPER_CUDA_H_
#define COMMON_HELPER_CUDA_H_
#include "cucc_set_aside.h"

#include "cuda_runtime.h"
#include "helper_string.h"

inline const char *_cudaGetErrorEnum(cudaError_t error)
{
    return cudaGetErrorName(error);
}
/* Statuses of libraries have numbers alone. */
template <class T> const char *_cudaGetErrorEnum(T)
{
    return "a library's status";
}

template <class T> void check(T result, const char *call, const char *file, int line)
{
    if (!result) return;
    fprintf(stderr, "CUDA error at %s:%d code=%u(%s) \"%s\"\n", file, line, (unsigned int)result,
            _cudaGetErrorEnum(result), call);
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char *message, const char *file, int line)
{
    cudaError_t error = cudaGetLastError();
    if (!error) return;
    fprintf(stderr, "%s(%d) : CUDA error : %s : (%d) %s.\n", file, line, message, (int)error,
            cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}
#define getLastCudaError(message)   __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)

inline int ftoi(float value)
{
    return value >= 0 ? (int)(value + 0.5f) : (int)(value - 0.5f);
}

/* Cores of a multiprocessor: the table "Arithmetic Instructions" of the programming guide, for 32-bit
 * floating-point additions. */
inline int _ConvertSMVer2Cores(int major, int minor)
{
    if (major == 6) return minor == 0 ? 64 : 128;
    if (major == 7) return 64;
    if (major == 8) return minor == 0 ? 64 : 128;
    return 128;
}
inline const char *_ConvertSMVer2ArchName(int major, int minor)
{
    switch (major) {
    case 5: return "Maxwell";
    case 6: return "Pascal";
    case 7: return minor == 5 ? "Turing" : "Volta";
    case 8: return minor == 9 ? "Ada" : "Ampere";
    case 9: return "Hopper";
    default: return "Graphics Device";
    }
}

inline int gpuDeviceInit(int device)
{
    int count;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (device < 0) device = 0;
    if (device >= count) {
        fprintf(stderr, "device %d is not valid: there are %d\n", device, count);
        return -device;
    }
    checkCudaErrors(cudaSetDevice(device));
    return device;
}
inline int gpuGetMaxGflopsDeviceId()
{
    int count;
    checkCudaErrors(cudaGetDeviceCount(&count));
    return 0; /* all are alike */
}
inline int findCudaDevice(int argc, const char **argv)
{
    bool chosen = checkCmdLineFlag(argc, argv, "device");
    int device = gpuDeviceInit(chosen ? getCmdLineArgumentInt(argc, argv, "device") : 0);
    cudaDeviceProp properties;
    if (device < 0) exit(EXIT_FAILURE);
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, properties.name,
           properties.major, properties.minor);
    return device;
}
inline bool checkCudaCapabilities(int major, int minor)
{
    int device;
    cudaDeviceProp p;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaGetDeviceProperties(&p, device));
    return p.major > major || (p.major == major && p.minor >= minor);
}
#include "cucc_give_back.h"

#endif
