/* What bench/peer.cu offers to bench/shapes.cu: the products of another tiledmm.cuh. The two see
   nothing of each other's header, so what is named here is named by numbers. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H
#include <cuda_runtime.h>

enum { PEER_FLOAT, PEER_DOUBLE, PEER_INT };
typedef struct peer_job {
    int type, tensor;         /* tensor: by TMM_AUTO_TENSOR */
    int turnA, turnB;         /* as stored transposed */
    long long M, N, K, batch; /* C is written with alpha = 1, beta = 0 */
    const void *A, *B;
    void *C; /* on the device, row-major */
    long long lda, ldb, ldc, strideA, strideB;
} peer_job;

/* 0 if it does not do this. */
int peer_multiply(const peer_job *job, cudaStream_t stream);
#endif
