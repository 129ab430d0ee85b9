/* Kernels whose loads and stores can be counted by hand. */
#include <cuda_runtime.h>

__global__ void copy(const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void copy_by_four(const float *from, float *to)
{
    __shared__ float4 stage[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    stage[threadIdx.x] = reinterpret_cast<const float4 *>(from)[i];
    __syncthreads();
    float4 v = stage[threadIdx.x];
    *reinterpret_cast<float4 *>(to + 4 * i) = make_float4(2 * v.x, v.y, v.z, v.w);
}

__global__ void histogram(const int *from, int *to)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], from[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&to[threadIdx.x], bins[threadIdx.x]);
}

int main()
{
    float *from, *to;
    cudaMalloc(&from, 4096);
    cudaMalloc(&to, 4096);
    cudaMemset(from, 0, 4096);
    for (int i = 0; i < 3; i++) copy<<<2, 100>>>(from, to);
    copy_by_four<<<4, 64>>>(from, to);
    histogram<<<2, 64>>>((int *)from, (int *)to);
    cudaFree(from);
    cudaFree(to);
    return cudaGetLastError();
}
