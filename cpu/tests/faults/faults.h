/* What the planted faults have in common: PROGRAM CASE runs one of them. A line that a report must name has
 * its tag in a comment; run.sh has the reports. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call)                                              \
    do {                                                         \
        cudaError_t error_ = (call);                             \
        if (error_) {                                            \
            printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
            return 1;                                            \
        }                                                        \
    } while (0)
#define IS(name) (!strcmp(chosen, #name))
#define RUN(kernel, grid, block, bytes, ...)                         \
    if (IS(kernel)) {                                                \
        kernel<<<grid, block, bytes>>>(__VA_ARGS__);                 \
        return CHECKED(cudaGetLastError(), cudaDeviceSynchronize()); \
    }

static inline int CHECKED(cudaError_t launched, cudaError_t ended)
{
    return launched != cudaSuccess || ended != cudaSuccess;
}
