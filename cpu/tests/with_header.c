/* A C99 caller that includes cuda_runtime.h. */
#include <cuda_runtime.h>

extern int from_c_with_header(float4 *device, dim3 size);

int from_c_with_header(float4 *device, dim3 size)
{
    struct cudaDeviceProp properties;
    enum cudaMemcpyKind back = cudaMemcpyDeviceToHost;
    float4 v = make_float4(0, 0, 0, 1), seen = {0, 0, 0, 0};
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return -1;
    if (cudaMemcpy(device, &v, sizeof v, cudaMemcpyHostToDevice) != cudaSuccess) return -2;
    if (cudaMemcpy(&seen, device, sizeof seen, back) != cudaSuccess) return -3;
    return (int)(size.y * size.x) + (int)seen.w;
}
