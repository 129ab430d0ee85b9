/* Faults for the page of --check. A comment "N: WORDS" says that fault N has a line with these words here;
 * "N comes TIMES" how often the page says that it came, and "N is TITLE" what it is called. */
#include <cuda_pipeline.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(call) \
    if (call) exit(2)
enum { THREADS = 64, BLOCKS = 3, ELEMENTS = 80 };

/* 1 is Race; 1 comes 126 times, in 2 of 2 blocks; */
__global__ void shift(int *out)
{
    __shared__ int row[THREADS];
    int t = threadIdx.x;
    row[t] = t; /* 1: block (0,0,0), thread (0,0,0) writes; */

    if (t > 0) out[t] = row[t - 1]; /* 1: block (0,0,0), thread (1,0,0) reads; */
}
/* 2 is Out of bounds; 2 comes 16 times, in 1 of 3 blocks; */
__global__ void fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1; /* 2: block (2,0,0), thread (16,0,0) writes byte 320 of the 320 bytes of device memory; */
}
/* 3 is Memory that nobody has written; 3 comes 32 times, in 1 of 1 block; */
__global__ void add(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] + 1; /* 3: block (0,0,0), thread (0,0,0) reads byte 0 of the 128 bytes of device memory; */
}
/* 4 is Missing wait for a copy; 4 comes 32 times, in 1 of 1 block; */
__global__ void staged(const int *in, int *out)
{
    __shared__ int stage[32];
    __pipeline_memcpy_async(stage + threadIdx.x, in + threadIdx.x, sizeof *in); /* 4: the asynchronous copy; */
    __pipeline_commit();
    out[threadIdx.x] = stage[threadIdx.x]; /* 4: block (0,0,0), thread (0,0,0) reads byte 0 of __shared__ stage; */
    __pipeline_wait_prior(0);
}
/* 5 is Missing wait of the host; 5 comes 32 times; */
__global__ void squares(int *out)
{
    out[threadIdx.x] = threadIdx.x * threadIdx.x;
}
__global__ void halves(int *out)
{
    if (threadIdx.x < 40) __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

static int *allocate(size_t bytes)
{
    int *memory;
    CHECK(cudaMalloc(&memory, bytes)); /* 2: The memory was allocated; 6: 64 bytes of device memory allocated; */
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
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "barrier")) {
        halves<<<dim3(3, 2), THREADS>>>(out);
        return cudaDeviceSynchronize() == 0;
    }
    fill<<<BLOCKS, 32>>>(out);
    CHECK(cudaMalloc(&fresh, 128)); /* 3: from byte 0 of the 128 bytes allocated; */
    CHECK(cudaMalloc(&copied, 128)); /* 3: The memory was allocated; */
    CHECK(cudaMemcpy(copied, fresh, 128, cudaMemcpyDeviceToDevice)); /* 3: was copied; */
    add<<<1, 32>>>(copied, out);
    staged<<<1, 32>>>(out, out + 40);
    CHECK(cudaMallocManaged(&managed, 128));
    squares<<<1, 32>>>(managed); /* 5: kernel squares; */
    for (int i = 0; i < 32; i++) sum += managed[i]; /* 5: the host reads memory; */
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) allocate(64); /* 6 is Leak; 6 comes 3 times; */
    return cudaFree(out) || cudaFree(fresh) || cudaFree(copied) || cudaFree(managed) || sum < 0;
}
