/* One product in float by one kernel; cpu/cucc --count counts what it does to memory.
   Arguments: KERNEL M N K BETA [T]: with T, A and B are transposed. */
#include "../../tiledmm.cuh"

int main(int count, char **words)
{
    if (count < 6) return 2;
    int kernel = 0, flip = count > 6;
    while (kernel < TMM_KERNEL_COUNT && strcmp(words[1], tmm_kernel_string((tmm_kernel)kernel)))
        kernel++;
    long long M = atoll(words[2]), N = atoll(words[3]), K = atoll(words[4]);
    float beta = (float)atof(words[5]), *A, *B, *C;
    size_t bytes = (size_t)(M * K + K * N + M * N) * sizeof *A;
    if (cudaMalloc((void **)&A, bytes) || cudaMemset(A, 0, bytes)) return 2;
    B = A + M * K, C = B + K * N;
    tmm_op op = flip ? TMM_OP_T : TMM_OP_N;
    long long lda = flip ? M : K > 0 ? K : 1, ldb = flip ? K : N;
    tmm_status status =
        tmm_sgemm_with((tmm_kernel)kernel, op, op, M, N, K, 1, A, lda, B, ldb, beta, C, N, 0);
    if (status != TMM_OK) fprintf(stderr, "%s\n", tmm_last_error());
    return status != TMM_OK || cudaDeviceSynchronize() || cudaFree(A);
}
