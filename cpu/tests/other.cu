/* Another .cu file of the program of language.cu, with kernels of the same names. */
#include <cuda_runtime.h>
#include "add_kernel.h"

static __constant__ int shift = 5;

static __global__ void shifted(int *out)
{
    *out = shift;
}

extern "C" int other_file(int *device)
{
    int result = 0;
    shifted<<<1, 1>>>(device);
    cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost);
    return add_int(1, device, device) == cudaSuccess ? result : -1;
}
