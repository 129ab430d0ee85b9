/* Faults that the runner reports in every mode: faults CASE. The case "none" has no fault. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

__global__ void divergent_barrier(int *out)
{
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

__global__ void early_exit(int *out)
{
    if (threadIdx.x >= 20) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void barrier_against_shuffle(int *out)
{
    if (threadIdx.x < 16) __syncthreads();
    out[threadIdx.x] = __shfl_sync(0xffffffffu, (int)threadIdx.x, 0);
}

__global__ void masks_disagree(int *out)
{
    unsigned int mask = threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u;
    if (threadIdx.x == 31) mask = 0x80000001u;
    out[threadIdx.x] = __shfl_sync(mask, 1, 0);
}

__global__ void outside_its_mask(int *out)
{
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, (int)threadIdx.x, 0);
}

__global__ void too_much_static(int *out)
{
    __shared__ int big[13000];
    big[threadIdx.x] = 1;
    out[threadIdx.x] = big[threadIdx.x];
}

__global__ void store(int *unused, int *out)
{
    (void)unused;
    out[threadIdx.x] = 1;
}

__global__ void store_beyond(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0;
}

/* Before it faults itself, it spoils what the runner reports with. */
__global__ void spoil(unsigned long address, int bytes, int *out)
{
    for (int i = 0; i < bytes; i++) ((volatile char *)address)[i] = 0x11;
    out[1l << 40] = 1;
}

__global__ void print_nothing(const char *text)
{
    printf("%d %s\n", 1, text + blockIdx.x);
}

static int *device;

static int ended(cudaError_t error)
{
    cudaError_t later = cudaDeviceSynchronize();
    cudaFree(device);
    printf("last %s, synchronize %s\n", cudaGetErrorName(error), cudaGetErrorName(later));
    return error != cudaSuccess;
}

int main(int, char **argv)
{
    const char *name = argv[1];
    int host[32], *freed = NULL;
    cudaMalloc(&device, sizeof host);
    cudaMalloc(&freed, sizeof host);
    cudaFree(freed);
#define IS(text) (!strcmp(name, text))
    if (IS("none")) store<<<2, 32>>>(NULL, device);
    if (IS("divergent")) divergent_barrier<<<2, 32>>>(device);
    if (IS("exit")) early_exit<<<2, 32>>>(device);
    if (IS("barrier-shuffle")) barrier_against_shuffle<<<1, 32>>>(device);
    if (IS("masks")) masks_disagree<<<1, 32>>>(device);
    if (IS("outside")) outside_its_mask<<<1, dim3(8, 4)>>>(device);
    if (IS("static-size")) too_much_static<<<1, 32>>>(device);
    if (IS("host-pointer")) store<<<1, 32>>>(device, host);
    if (IS("freed-pointer")) store<<<1, 32>>>(freed, device);
    if (IS("beyond"))
        for (int i = 10; i < 30; i++) store_beyond<<<i, 1024>>>(device, i * 1024);
    if (IS("text")) print_nothing<<<16, 1>>>(NULL);
    if (IS("spoilt")) spoil<<<1, 1>>>((unsigned long)stderr, sizeof *stderr, device);
    if (IS("threads")) store<<<1, 2048>>>(device, device);
    if (IS("no-threads")) store<<<1, 0>>>(device, device);
    if (IS("grid")) store<<<dim3(1, 65536), 1>>>(device, device);
    if (IS("dynamic-size")) store<<<1, 1, 49153>>>(device, device);
    if (IS("direction")) return ended(cudaMemcpy(host, device, 128, cudaMemcpyHostToDevice));
    if (IS("range")) return ended(cudaMemcpy(host, device, 129, cudaMemcpyDeviceToHost));
    if (IS("memset")) return ended(cudaMemset(device + 1, 0, 128));
    if (IS("twice")) return ended(cudaFree(freed));
    if (IS("planted")) {
        setenv("CUCC_FAIL", "malloc:x", 1);
        cudaMalloc(&freed, 4);
    }
    if (IS("recover")) {
        divergent_barrier<<<4, 32>>>(device);
        cudaDeviceReset();
        cudaMalloc(&device, sizeof host);
        store<<<2, 32>>>(NULL, device);
    }
    return ended(cudaGetLastError());
}
