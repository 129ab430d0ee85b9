/* Faults for the page of --check. Comments of one word mark the lines that faults.txt speaks of. */
#include <cuda_pipeline.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define CHECK(call) \
    if (call) exit(2)
enum { THREADS = 64, BLOCKS = 3, ELEMENTS = 80 };

__global__ void shift(int *out)
{
    __shared__ int row[THREADS];
    int t = threadIdx.x;
    row[t] = t; /* written */

    if (t > 0) out[t] = row[t - 1]; /* read */
}
__global__ void fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1; /* past */
}
__global__ void add(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] + 1; /* never */
}
__global__ void staged(const int *in, int *out)
{
    __shared__ int stage[32];
    __pipeline_memcpy_async(stage + threadIdx.x, in + threadIdx.x, sizeof *in); /* async */
    __pipeline_commit();
    out[threadIdx.x] = stage[threadIdx.x]; /* staged */
    __pipeline_wait_prior(0);
}
__global__ void squares(int *out)
{
    out[threadIdx.x] = threadIdx.x * threadIdx.x;
}
__global__ void halves(int *out)
{
    if (threadIdx.x < 40)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

static int *allocate(size_t bytes)
{
    int *memory;
    CHECK(cudaMalloc(&memory, bytes)); /* allocated */
    return memory;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int *out = allocate(sizeof *out * ELEMENTS), *fresh, *copied, *managed, sum = 0;
    CHECK(cudaMemset(out, 0, sizeof *out * ELEMENTS));
    if (!strcmp(how, "nothing")) return cudaFree(out);
    shift<<<2, THREADS>>>(out);
    CHECK(cudaDeviceSynchronize());
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "crash")) sum = *(volatile int *)(size_t)(argc - 2);
    if (!strcmp(how, "host")) {
        squares<<<1, 32>>>((int *)how); /* host */
        return !cudaGetLastError();
    }
    if (!strcmp(how, "sent")) raise(SIGSEGV);
    if (!strcmp(how, "away") && chdir("..")) return 2;
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "barrier")) {
        halves<<<dim3(3, 2), THREADS>>>(out);
        return cudaDeviceSynchronize() == 0;
    }
    fill<<<BLOCKS, 32>>>(out);
    CHECK(cudaMalloc(&fresh, 128));                                  /* fresh */
    CHECK(cudaMalloc(&copied, 128));                                 /* target */
    CHECK(cudaMemcpy(copied, fresh, 128, cudaMemcpyDeviceToDevice)); /* copied */
    add<<<1, 32>>>(copied, out);
    staged<<<1, 32>>>(out, out + 40);
    CHECK(cudaMallocManaged(&managed, 128));
    squares<<<1, 32>>>(managed);                    /* squares */
    for (int i = 0; i < 32; i++) sum += managed[i]; /* early */
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) allocate(64);
    return cudaFree(out) || cudaFree(fresh) || cudaFree(copied) || cudaFree(managed) || sum < 0;
}
