/* src/tiledmm/kernels/simple/global.cuh. The kernel that teaches global memory.
   Uses: once/passes.h. Used by: launch.h. */
/* All kernels compute one M x N matrix C = alpha op(A) op(B) + beta C per blockIdx.z, where
       op(A)(i, k) = A[i * rsA + k * csA]     rs: row stride, cs: column stride, in elements;
       op(B)(k, j) = B[k * rsB + j * csB]     a transposed operand is the same memory with the
       C(i, j)     = C[i * ldc + j]           two strides exchanged
   and product number blockIdx.z starts at A + blockIdx.z * batchA, and so on. The tiles of C are
   numbered along the rows: 0 1 2 ... in the first row of tiles; blockIdx.x is that number. */

#if defined(TMM__PASS) && TMM__EMIT_TYPE
#define tmm_gemm_global tmm__xgemm_global
/* ============================== KERNEL GLOBAL ================================================= */
/* One thread computes one element of C and reads all it needs from global memory.

            k ->                      j                       block of 32 x 32 threads:
        +-----------+            +----|------+           +-----------+
      i |===========| row of A   |    |      |  column   |    . j    |   thread (tx, ty) owns
        |           |            |    |      |  of B     |....X i    |   row    i = tile row + ty
        +-----------+          k v    |      |           |           |   column j = tile col + tx
           A  M x K              +-----------+           +-----------+
                                    B  K x N                C  M x N
   Neighbours in x share row i of A (one address, broadcast) and read neighbouring elements of B
   (one 128-byte line a warp): both accesses are coalesced.
   Loads: 2 M N K elements, 2 FLOP for each 2 elements: 0.25 FLOP per byte in float. Caches serve
   most of them, and the load units, two loads to one multiply-add, are what bounds it.

   Launch: blocks of T x T threads, T up to 32, and ceil(M / T) ceil(N / T) of them in one dimension;
   gridDim.z: products of a batch.
   To paste: everything from here to the line that ends the kernel, below  #define TMM_TYPE float */
/* The types of sums, of alpha and beta and of C, and the last step, alpha sum + beta C. The header sets
   them for each type of elements. Pasted, all are TMM_TYPE: */
#ifndef TMM_KERNEL
#define TMM_KERNEL                           __global__
#define TMM_SUM                              TMM_TYPE
#define TMM_SCALAR                           TMM_TYPE
#define TMM_OUT                              TMM_TYPE
#define TMM__MUL(a, b)                       ((a) * (b))
#define TMM__ALPHA                           TMM_TYPE
#define TMM__LAST(alpha, sum, old, row, col) ((alpha) * (sum) + (old))
#endif

TMM_KERNEL void __launch_bounds__(32 * 32)
    tmm_gemm_global(long long M, long long N, long long K, TMM__ALPHA alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC)
{
    long long tiles_across = (N + blockDim.x - 1) / blockDim.x;
    long long row = blockIdx.x / tiles_across * blockDim.y + threadIdx.y;
    long long col = blockIdx.x % tiles_across * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    A += blockIdx.z * batchA + row * rsA; /* the start of row `row` of op(A) */
    B += blockIdx.z * batchB + col * csB; /* the start of column `col` of op(B) */
    C += blockIdx.z * batchC + row * ldc + col;

    TMM_SUM sum = 0;
    for (; K > 0; K--) {
        sum += (TMM_SUM)*A * (TMM_SUM)*B;
        A += csA;
        B += rsB;
    }

    TMM_SUM old = 0;
    if ((TMM_SUM)beta != 0)
        old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C); /* beta = 0 must not read C */
    TMM_OUT value = (TMM_OUT)TMM__LAST(alpha, sum, old, row, col);
#ifdef TMM_EPILOGUE
    value = TMM_EPILOGUE(value, row, col);
#endif
    *C = value;
}
/* END OF KERNEL */
#undef tmm_gemm_global
#endif
