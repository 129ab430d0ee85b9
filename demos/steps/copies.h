/* copies.h - what steps 09 to 12 share: asynchronous copies to shared memory, and products whose
   rows do not begin at multiples of 16 bytes. */
#include <cuda_pipeline.h>

/* Begins to copy 4 bytes to a tile (PTX ISA, cp.async); zeros beyond an edge. Before sm_80 at once. */
static __device__ __forceinline__ void copy4(float *to, const float *from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 4 : 0));
#else
    if (inside) __pipeline_memcpy_async(to, from, 4);
    if (!inside) *to = 0;
#endif
}

/* The same with 16 bytes, past L1. */
static __device__ __forceinline__ void copy16(float *to, const float *from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 16 : 0));
#else
    if (inside) __pipeline_memcpy_async(to, from, 16);
    if (!inside) *(float4 *)to = make_float4(0, 0, 0, 0);
#endif
}

typedef void (*wide_product)(int M, int N, int K, float alpha, const float *A, const float *B,
                             float beta, float *C);

/* C = alpha A B + beta C for an N that is no multiple of 4, by one that takes only such: on copies of
   B and C whose rows are filled up with zeros. Without memory for them the error is left. */
static void multiply_copies(wide_product multiply, int M, int N, int K, float alpha, const float *A,
                            const float *B, float beta, float *C)
{
    int wide = (N + 3) / 4 * 4;
    size_t row = N * sizeof(float), pitch = wide * sizeof(float);
    char *b, *c;
    if (cudaMallocAsync(&b, pitch * ((size_t)K + M), 0)) return;
    c = b + pitch * K;
    cudaMemsetAsync(b, 0, pitch * ((size_t)K + M), 0);
    cudaMemcpy2DAsync(b, pitch, B, row, row, K, cudaMemcpyDeviceToDevice, 0);
    if (beta != 0) cudaMemcpy2DAsync(c, pitch, C, row, row, M, cudaMemcpyDeviceToDevice, 0);
    multiply(M, wide, K, alpha, A, (const float *)b, beta, (float *)c);
    cudaMemcpy2DAsync(C, row, c, pitch, row, M, cudaMemcpyDeviceToDevice, 0);
    cudaFreeAsync(b, 0);
}
