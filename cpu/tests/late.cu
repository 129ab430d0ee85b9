/* A copy, a kernel and a copy in three streams, with events between them or (`late missing`) not. */
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void twice(int *x)
{
    x[threadIdx.x] *= 2;
}

int main(int count, char **words)
{
    enum { N = 32, ROUNDS = 20 };
    int *host, *device[ROUNDS], wrong = 0;
    cudaStream_t stream[3];
    cudaEvent_t event;
    (void)words;
    cudaError_t error = cudaMallocHost(&host, ROUNDS * N * sizeof *host);
    for (int r = 0; r < ROUNDS && !error; r++) error = cudaMalloc(&device[r], N * sizeof *host);
    if (error) {
        printf("%s\n", cudaGetErrorName(error));
        return 0;
    }
    cudaEventCreate(&event);
    for (int s = 0; s < 3; s++) cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking);
    for (int i = 0; i < ROUNDS * N; i++) host[i] = i;
    for (int r = 0; r < ROUNDS; r++) {
        int *part = host + r * N;
        cudaMemcpyAsync(device[r], part, N * sizeof *host, cudaMemcpyHostToDevice, stream[0]);
        cudaEventRecord(event, stream[0]);
        if (count == 1) cudaStreamWaitEvent(stream[1], event);
        twice<<<1, N, 0, stream[1]>>>(device[r]);
        cudaEventRecord(event, stream[1]);
        if (count == 1) cudaStreamWaitEvent(stream[2], event);
        cudaMemcpyAsync(part, device[r], N * sizeof *host, cudaMemcpyDeviceToHost, stream[2]);
    }
    cudaEventRecord(event, stream[2]);
    while (cudaEventQuery(event) == cudaErrorNotReady) cudaGetLastError();
    cudaDeviceSynchronize();
    for (int i = 0; i < ROUNDS * N; i++) wrong += host[i] != 2 * i;
    printf("%s, %s\n", cudaGetErrorName(cudaGetLastError()), wrong ? "wrong" : "right");
    for (int s = 0; s < 3; s++) cudaStreamDestroy(stream[s]);
    for (int r = 0; r < ROUNDS; r++) cudaFree(device[r]);
    cudaEventDestroy(event);
    cudaFreeHost(host);
    return 0;
}
