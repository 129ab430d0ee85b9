/* Devices and their memories: devices CASE. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <new>
#include <stdio.h>
#include <string.h>

__constant__ int factor[2] = {2, 3};
__device__ int launches;

__global__ void scale(int *out)
{
    out[threadIdx.x] = factor[threadIdx.x];
    if (threadIdx.x == 0) launches++;
}

static void show(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorName(error));
}

/* Each device has its own memory and its own image of each variable. */
static void two_devices(void)
{
    int *memory[2], host[2], changed[2] = {20, 30}, count, can = 0;
    cudaStream_t stream;
    for (int device = 0; device < 2; device++) {
        cudaSetDevice(device);
        cudaMalloc(&memory[device], sizeof host);
    }
    cudaStreamCreate(&stream);
    cudaMemcpyToSymbol(factor, changed, sizeof changed);
    for (int device = 0; device < 2; device++) {
        cudaSetDevice(device);
        for (int i = 0; i <= device; i++) scale<<<1, 2>>>(memory[device]);
        cudaMemcpy(host, memory[device], sizeof host, cudaMemcpyDeviceToHost);
        cudaMemcpyFromSymbol(&count, launches, sizeof count);
        printf("device %d: %d %d, %d launches\n", device, host[0], host[1], count);
    }
    void *address = NULL;
    cudaGetSymbolAddress(&address, factor);
    cudaMemcpyAsync(address, memory[0], sizeof(int), cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyFromSymbol(host, factor, sizeof host);
    printf("by address: %d %d\n", host[0], host[1]);
    cudaSetDevice(0);
    cudaMemcpyPeer(memory[0], 0, memory[1], 1, sizeof host);
    cudaMemcpy(host, memory[0], sizeof host, cudaMemcpyDeviceToHost);
    printf("copied: %d %d\n", host[0], host[1]);
    scale<<<1, 2, 0, stream>>>(memory[0]);
    show("stream of another device", cudaGetLastError());
    cudaDeviceCanAccessPeer(&can, 0, 1);
    printf("can %d\n", can);
    show("enable", cudaDeviceEnablePeerAccess(1, 0));
    show("enable again", cudaDeviceEnablePeerAccess(1, 0));
    cudaGetLastError();
    scale<<<1, 2>>>(memory[1]);
    show("peer", cudaGetLastError());
    cudaMemPool_t pool;
    cudaMemAccessDesc other = {};
    cudaMemAccessFlags flags;
    int *pooled;
    cudaDeviceGetDefaultMemPool(&pool, 1);
    cudaMallocFromPoolAsync(&pooled, sizeof host, pool, 0);
    other.location.type = cudaMemLocationTypeDevice;
    other.flags = cudaMemAccessFlagsProtReadWrite;
    show("let in", cudaMemPoolSetAccess(pool, &other, 1));
    cudaMemPoolGetAccess(&flags, pool, &other.location);
    scale<<<1, 2>>>(pooled);
    cudaMemcpy(host, pooled, sizeof host, cudaMemcpyDeviceToHost);
    printf("access %d, %s: %d\n", flags, cudaGetErrorName(cudaGetLastError()), host[1]);
    cudaFreeAsync(pooled, 0);
    show("disable", cudaDeviceDisablePeerAccess(1));
    scale<<<1, 2>>>(memory[1]);
    show("no peer", cudaGetLastError());
    cudaSetDevice(1);
    show("other device", cudaDeviceSynchronize());
    show("device 2", cudaSetDevice(2));
}

static void no_device(void)
{
    int count = -1, device;
    int *pointer = NULL;
    cudaStream_t stream;
    show("count", cudaGetDeviceCount(&count));
    printf("%d devices\n", count);
    show("set", cudaSetDevice(0));
    show("get", cudaGetDevice(&device));
    show("malloc", cudaMalloc(&pointer, 4));
    show("stream", cudaStreamCreate(&stream));
    show("symbol", cudaMemcpyToSymbol(factor, &count, sizeof count));
    cudaGetLastError();
    scale<<<1, 1>>>(pointer);
    show("launch", cudaGetLastError());
    show("after", cudaGetLastError());
}

static void out_of_memory(void)
{
    char *half = NULL, *more = NULL;
    size_t free_bytes, total;
    show("half", cudaMalloc(&half, 500000));
    show("more", cudaMalloc(&more, 500001));
    cudaMemGetInfo(&free_bytes, &total);
    printf("free %zu of %zu\n", free_bytes, total);
    cudaFree(half);
    show("again", cudaMalloc(&more, 1000000));
    show("clean", cudaDeviceSynchronize());
}

/* ---- shared memory beyond 48 KB: what a kernel may have is kept by device, not by host thread ---- */

static __global__ void plain(int *out)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[64];
    fixed[threadIdx.x] = dynamic[threadIdx.x] = (int)threadIdx.x;
    if (out) out[threadIdx.x] = fixed[threadIdx.x];
}

template <class T> __global__ void deduced(T *out)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = (int)threadIdx.x;
    if (out) out[threadIdx.x] = 0;
}

static cudaError_t allow(const void *kernel, int bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

static cudaError_t by_name(size_t bytes)
{
    plain<<<1, 1, bytes>>>(NULL);
    return cudaGetLastError();
}

static cudaError_t by_attributes(size_t bytes, unsigned int cluster)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    int *out = NULL;
    void *arguments[] = {&out};
    config.gridDim = dim3(4);
    config.blockDim = dim3(1);
    config.dynamicSmemBytes = bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaError_t error = cudaLaunchKernelExC(&config, (const void *)plain, arguments);
    cudaGetLastError();
    return error;
}

static void *allow_less(void *)
{
    allow((const void *)plain, 50 << 10);
    return NULL;
}

static void shared_limits(void)
{
    const size_t much = 60 << 10, less = 50 << 10;
    pthread_t thread;
    int *pointer = NULL;
    show("not asked", by_name(much));
    show("asked", allow((const void *)plain, (int)much));
    show("beside static memory", by_name(much));
    show("one more", by_name(much + 1));
    show("in clusters", by_attributes(much, 2));
    show("one more", by_attributes(much + 1, 2));
    cudaSetDevice(1);
    show("device 1", by_name(much));
    show("without static memory", by_name((48 << 10) - 256));
    cudaSetDevice(0);
    if (pthread_create(&thread, NULL, allow_less, NULL)) return;
    pthread_join(thread, NULL);
    show("less by another thread", by_name(much));
    show("which it has", by_name(less));
    show("with attributes", by_attributes(much, 1));
    deduced<<<1, 1, much>>>(pointer);
    show("deduced", cudaGetLastError());
    allow((const void *)deduced<float>, (int)much);
    deduced<<<1, 1, much>>>(pointer);
    show("asked", cudaGetLastError());
    deduced<<<1, 1, much + 1>>>(pointer);
    show("one more", cudaGetLastError());
    cudaDeviceReset();
    show("reset", by_name(much));
    show("less after it", by_name(less));
    show("no kernel", allow(NULL, (int)much));
}

/* ---- limits ------------------------------------------------------------------------------------ */

static __device__ int down(int n)
{
    volatile int local[64];
    local[n & 63] = n;
    return n == 0 ? 0 : down(n - 1) + (local[n & 63] == n);
}

static __global__ void recurse(int n, int *out)
{
    out[threadIdx.x] = down(n);
}

static __global__ void take(int *got)
{
    void *memory = malloc(4 << 20);
    got[threadIdx.x] = memory != NULL;
    __syncthreads();
    free(memory);
}

static __global__ void take_new(int *got)
{
    char *memory[9];
    for (int round = 0; round < 2; round++) {
        got[round] = 0;
        for (int i = 0; i < 9; i++)
            got[round] += (memory[i] = new (std::nothrow) char[1 << 20]) != NULL;
        for (int i = 0; i < 9; i++) delete[] memory[i];
    }
}

static void show_taken(const char *what)
{
    int *device, host[4] = {};
    cudaMalloc(&device, sizeof host);
    take<<<1, 4>>>(device);
    cudaError_t error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s: %s, %d of 4\n", what, cudaGetErrorName(error),
           host[0] + host[1] + host[2] + host[3]);
    cudaFree(device);
}

static void limits(void)
{
    int *device, host[2] = {};
    size_t stack = 0, heap = 0;
    cudaMalloc(&device, 128);
    show("stack", cudaDeviceSetLimit(cudaLimitStackSize, 256 << 10));
    recurse<<<1, 32>>>(600, device);
    cudaError_t error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("deep: %s, %d\n", cudaGetErrorName(error), host[1]);
    show("too much", cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
    show_taken("malloc");
    take_new<<<1, 1>>>(device);
    error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("new: %s, %d of 9, then %d of 9\n", cudaGetErrorName(error), host[0], host[1]);
    show("while it is used", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    cudaDeviceReset();
    cudaDeviceGetLimit(&stack, cudaLimitStackSize);
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    printf("reset: stack %zu, heap %zu\n", stack, heap);
    show("heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    show_taken("malloc");
    cudaSetDevice(1);
    show_taken("other device");
}

int main(int, char **argv)
{
    if (!strcmp(argv[1], "two")) two_devices();
    if (!strcmp(argv[1], "none")) no_device();
    if (!strcmp(argv[1], "memory")) out_of_memory();
    if (!strcmp(argv[1], "shared")) shared_limits();
    if (!strcmp(argv[1], "limits")) limits();
    return 0;
}
