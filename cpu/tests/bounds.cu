/* Faults that --sanitize finds: bounds CASE. The case "none" has no fault. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__global__ void static_shared(float *out, int over, int column)
{
    __shared__ float first[8][8], second[8][8];
    first[threadIdx.y][threadIdx.x] = second[threadIdx.y][threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 3 && threadIdx.y == 5) {
        (&first[0][0])[over] = 2;
        first[2][column] = 2;
    }
    out[threadIdx.x] = first[0][threadIdx.x];
}

__global__ void dynamic_shared(float *out, int last)
{
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 7) buffer[last] = 2;
    __syncthreads();
    out[threadIdx.x] = buffer[threadIdx.x];
}

__global__ void global_memory(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = 1;
}

int main(int, char **argv)
{
    const char *name = argv[1];
    float *out, *leaked = NULL;
    cudaMalloc(&out, 100 * sizeof *out);
#define IS(text) (!strcmp(name, text))
    static_shared<<<2, dim3(8, 8)>>>(out, IS("static") ? 64 : 63, IS("inner") ? 8 : 7);
    dynamic_shared<<<1, 32, 32 * sizeof(float)>>>(out, IS("dynamic") ? 32 : 31);
    global_memory<<<4, 32>>>(out, IS("global") ? 100 : 99);
    if (IS("device-leak")) cudaMalloc(&leaked, 1234);
    if (IS("host-leak")) printf("%d\n", *((volatile char *)malloc(321)) != 1);
    cudaFree(out);
    printf("end %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
