#include "product.h"
#include <cuda_runtime.h>

/* The edge of a tile is that of the block, so shared memory is what the launch says. */
static __global__ void multiply(const double *__restrict__ a, const double *__restrict__ b,
                                double *__restrict__ c, int n)
{
    extern __shared__ double tiles[];
    const int edge = blockDim.x;
    double *of_a = tiles, *of_b = tiles + edge * edge;
    int row = blockIdx.y * edge + threadIdx.y, column = blockIdx.x * edge + threadIdx.x;
    int own = threadIdx.y * edge + threadIdx.x;
    double sum = 0;
    for (int first = 0; first < n; first += edge) {
        int k = first + threadIdx.x, l = first + threadIdx.y;
        of_a[own] = row < n && k < n ? a[(size_t)row * n + k] : 0;
        of_b[own] = l < n && column < n ? b[(size_t)l * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < edge; i++)
            sum += of_a[threadIdx.y * edge + i] * of_b[i * edge + threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[(size_t)row * n + column] = sum;
}

extern "C" int multiply_with_tiles(const double *a, const double *b, double *c, int n, int tile)
{
    size_t bytes = (size_t)n * n * sizeof *a;
    double *on_device = NULL;
    cudaError_t error = cudaMalloc((void **)&on_device, 3 * bytes);
    if (error != cudaSuccess) return error;
    double *device_a = on_device, *device_b = device_a + (size_t)n * n,
           *device_c = device_b + (size_t)n * n;
    error = cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice);
    if (!error) error = cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice);
    if (!error) {
        dim3 grid((n + tile - 1) / tile, (n + tile - 1) / tile), block(tile, tile);
        multiply<<<grid, block, 2 * tile * tile * sizeof(double)>>>(device_a, device_b, device_c,
                                                                    n);
        error = cudaDeviceSynchronize();
    }
    if (!error) error = cudaMemcpy(c, device_c, bytes, cudaMemcpyDeviceToHost);
    cudaFree(on_device);
    return error;
}
