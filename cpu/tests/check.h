/* What the tests of features have in common: a line for each check that fails, and their number. */
#include <cuda_runtime.h>
#include <stdio.h>

static int failures;

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                            \
        }                                                          \
    } while (0)

static inline bool done(void)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error) printf("%s\n", cudaGetErrorString(error));
    return error == cudaSuccess;
}

template <class T> static T *managed(size_t count)
{
    T *memory = NULL;
    cudaMallocManaged(&memory, count * sizeof(T));
    return memory;
}
