/* Compares the kernels with OpenMP on one process of MPI, in C. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "product.h"

enum { N = 70 };

static double a[N * N], b[N * N], c[N * N], expected[N * N];

int main(int argc, char **argv)
{
    int failures = 0, devices = 0, i;
    float milliseconds = -1;
    cudaEvent_t begin, end;
    cublasHandle_t handle;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#else
    (void)argc, (void)argv;
#endif
    for (i = 0; i < N * N; i++) {
        a[i] = i % 13 - 6;
        b[i] = i % 7 + 0.5;
    }
    omp_set_num_threads(2);
#pragma omp parallel for
    for (i = 0; i < N * N; i++) {
        double sum = 0;
        for (int k = 0; k < N; k++) sum += a[i / N * N + k] * b[k * N + i % N];
        expected[i] = sum;
    }
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, 0);
    for (int tile = 4; tile <= 32; tile *= 2) {
        if (multiply_with_tiles(a, b, c, N, tile)) failures++;
        for (i = 0; i < N * N; i++) failures += c[i] != expected[i];
    }
    cudaEventRecord(end, 0);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    failures += !(milliseconds > 0) || cudaGetDeviceCount(&devices) != cudaSuccess || devices != 1;
    failures += cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
                cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
    printf("%d failures\n", failures);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return failures > 0;
}
