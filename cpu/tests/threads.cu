/* Host threads that each make streams, put work into them and destroy them while it may wait, at once:
   nobody waits for a lock that the other holds, and every result is right. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>

enum { N = 64, ROUNDS = 20000, THREADS = 3 };

__global__ void add_one(int *x)
{
    x[threadIdx.x]++;
}

static void *work(void *wrong)
{
    int *host, *device;
    if (cudaMallocHost(&host, N * sizeof *host) || cudaMalloc(&device, N * sizeof *host))
        return NULL;
    for (int i = 0; i < N; i++) host[i] = i;
    for (int round = 0; round < ROUNDS; round++) {
        cudaStream_t stream;
        cudaEvent_t event;
        if (cudaStreamCreate(&stream) || cudaEventCreate(&event)) ++*(int *)wrong;
        cudaMemcpyAsync(device, host, N * sizeof *host, cudaMemcpyHostToDevice, stream);
        add_one<<<1, N, 0, stream>>>(device);
        cudaMemcpyAsync(host, device, N * sizeof *host, cudaMemcpyDeviceToHost, stream);
        cudaEventRecord(event, stream);
        if (round % 2) cudaEventSynchronize(event);
        if (cudaStreamDestroy(stream) || cudaEventDestroy(event)) ++*(int *)wrong;
    }
    for (int i = 0; i < N; i++) *(int *)wrong += host[i] != i + ROUNDS;
    cudaFree(device);
    cudaFreeHost(host);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0}, sum = 0;
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, work, &wrong[t])) return 2;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        sum += wrong[t];
    }
    printf("%s\n", sum || cudaGetLastError() ? "wrong" : "right");
    return 0;
}
