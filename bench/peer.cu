/* bench/peer.cu - the products of an older tiledmm.cuh, for bench/shapes.cu to time beside today's, in
   one process and in turn. Neither sees the other: all that a header makes in a .cu file is static.

   Build   mkdir old && git show 806a50f:tiledmm.cuh >old/tiledmm.cuh    (it includes itself by its name)
           nvcc -O3 -arch=native -DPEER='"806a50f"' -DPEER_HEADER='"old/tiledmm.cuh"' -I. \
               bench/shapes.cu bench/peer.cu -o guard
   Run     ./guard --shapes bench/work.csv --least 0.98 */
#define TMM_FLOAT_TENSOR  0 /* as bench/shapes.cu has them */
#define TMM_DOUBLE_TENSOR 0
#ifndef PEER_HEADER
#define PEER_HEADER "../tiledmm.cuh"
#endif
#include PEER_HEADER
#include "peer.h"

#define DEFINE_CALL(letter, T)                                                                   \
    static tmm_status multiply_##letter(const peer_job *j, cudaStream_t stream)                  \
    {                                                                                            \
        const tmm_kernel kernel = j->tensor ? TMM_AUTO_TENSOR : TMM_AUTO;                        \
        const tmm_op opA = j->turnA ? TMM_OP_T : TMM_OP_N;                                       \
        const tmm_op opB = j->turnB ? TMM_OP_T : TMM_OP_N;                                       \
        const T *A = (const T *)j->A, *B = (const T *)j->B;                                      \
        T *C = (T *)j->C;                                                                        \
        if (j->batch == 1)                                                                       \
            return tmm_##letter##gemm_with(kernel, opA, opB, j->M, j->N, j->K, 1, A, j->lda, B,  \
                                           j->ldb, 0, C, j->ldc, stream);                        \
        return tmm_##letter##gemm_batched_with(kernel, opA, opB, j->M, j->N, j->K, 1, A, j->lda, \
                                               B, j->ldb, 0, C, j->ldc, j->strideA, j->strideB,  \
                                               j->M * j->ldc, j->batch, stream);                 \
    }
DEFINE_CALL(s, float)
DEFINE_CALL(d, double)
DEFINE_CALL(i, int)

int peer_multiply(const peer_job *job, cudaStream_t stream)
{
    if (job->type == PEER_FLOAT) return multiply_s(job, stream) == TMM_OK;
    if (job->type == PEER_DOUBLE) return multiply_d(job, stream) == TMM_OK;
    return multiply_i(job, stream) == TMM_OK;
}
