/* A tiled product whose first barrier can be left out: order 0 | 1. Prints whether the product
 * is right. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, TILE = 16 };

__global__ void multiply(int with_barrier, const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k0 = 0; k0 < N; k0 += TILE) {
        a[y][x] = A[row * N + k0 + x];
        b[y][x] = B[(k0 + y) * N + column];
        if (with_barrier) __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * N + column] = sum;
}

int main(int, char **argv)
{
    static float in[N * N], out[N * N];
    float *A, *C;
    for (int i = 0; i < N * N; i++) in[i] = (float)(i % 7);
    cudaMalloc(&A, sizeof in);
    cudaMalloc(&C, sizeof out);
    cudaMemcpy(A, in, sizeof in, cudaMemcpyHostToDevice);
    multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(atoi(argv[1]), A, A, C);
    cudaMemcpy(out, C, sizeof out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < N * N; i++) {
        float sum = 0;
        for (int k = 0; k < N; k++) sum += in[i / N * N + k] * in[k * N + i % N];
        wrong += out[i] != sum;
    }
    printf("%s %s\n", cudaGetErrorName(cudaGetLastError()), wrong ? "wrong" : "right");
    cudaFree(A);
    cudaFree(C);
    return 0;
}
