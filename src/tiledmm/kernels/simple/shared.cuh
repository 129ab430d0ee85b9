/* src/tiledmm/kernels/simple/shared.cuh. The kernel that teaches shared memory.
   Uses: once/. Used by: launch.h, type/instances.h. */
/* The instances: the pass that compiles it (once/passes.h), and its tile, which is its name. TMM_TILE, if
   the caller defines it, is the only one. */
#ifndef TMM__SHARED_LIST
#define TMM__SHARED_LIST(_) TMM__IF_ALL_TILES(_(2, 8) _(3, 16)) _(1, 32)
#endif

#ifdef TMM__PASS
#if TMM__ONE_TILE ? TMM__PASS == 1 : (TMM__SHARED_LIST(TMM__IN_PASS) 0)
#if !TMM__ONE_TILE
#define TMM_TILE TMM__SHARED_LIST(TMM__NAME_IN_PASS)
#endif
#define tmm_gemm_shared TMM__JOIN(tmm__xgemm_shared_, TMM_TILE)
/* ============================== KERNEL SHARED ================================================= */
/* A block computes a tile of C, TMM_TILE x TMM_TILE, one element a thread. It walks along k in
   steps of TMM_TILE. At each step all threads together copy one tile of A and one of B into shared
   memory. Then each thread takes its row and its column from there.

                                   +--+--+--+--+  B
                                   |  |B0|  |  |        step 0: C += A0 B0
                                   +--+--+--+--+        step 1: C += A1 B1   ...
                                   |  |B1|  |  |
                                   +--+--+--+--+
              +--+--+              +--+--+--+--+
              |  |  |              |  |  |  |  |
              +--+--+              +--+--+--+--+        each square: TMM_TILE x TMM_TILE
          A   |A0|A1|              |  |C |  |  |  C     where a tile sticks out of the matrix
              +--+--+              +--+--+--+--+        it is filled with zeros
   Global loads: each element of A and B is read once per tile instead of once per thread:
   2 M N K / TMM_TILE, so TMM_TILE / 4 FLOP per byte in float (8 for tile 32).
   What bounds it: shared memory, which must give one element of B and a quarter of a vector load
   of A for every multiply-add. Each thread owning more than one element mends that: see REGISTER.

   To paste: everything from here to the line that ends the kernel, below  #define TMM_TYPE float
   and  #define TMM_TILE 16;  launch a block of (TMM_TILE, TMM_TILE) threads for each tile of C, in
   one dimension. */
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

TMM_KERNEL void __launch_bounds__(TMM_TILE *TMM_TILE)
    tmm_gemm_shared(long long M, long long N, long long K, TMM__ALPHA alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC)
{
    static_assert(
        TMM_TILE >= 1 && TMM_TILE <= 32,
        "TMM_TILE must be 1 to 32: a block has TMM_TILE x TMM_TILE threads, 1024 at most");
    /* 16 bytes of padding a row keep the rows aligned for vector loads, and spread a column over
       the banks: a transposed tile is stored by columns. The store of a warp takes, in float,
           TMM_TILE           8        16        32
           along a row        2 (1)    2 (1)     1 (1)       passes over the banks;
           down a column      1 (2)    2 (8)     4 (32)      in brackets: without the padding
       So it costs a pass where nothing is transposed, and saves up to 28 where something is. */
    __shared__ TMM_TYPE As[TMM_TILE][TMM_TILE + 16 / sizeof(TMM_TYPE)];
    __shared__ TMM_TYPE Bs[TMM_TILE][TMM_TILE + 16 / sizeof(TMM_TYPE)];

    int tx = threadIdx.x, ty = threadIdx.y;
    long long tiles_across = (N + TMM_TILE - 1) / TMM_TILE;
    long long tile_row = blockIdx.x / tiles_across * TMM_TILE;
    long long tile_col = blockIdx.x % tiles_across * TMM_TILE;

    /* The element that this thread copies, (rowA, colA) of each tile of A and (rowB, colB) of B:
       neighbours in x must read neighbours in memory, which lie along a row (column stride 1) or,
       in a transposed operand, along a column. */
    int rowA = csA == 1 ? ty : tx, colA = csA == 1 ? tx : ty;
    int rowB = csB == 1 ? ty : tx, colB = csB == 1 ? tx : ty;
    bool insideA = tile_row + rowA < M, insideB = tile_col + colB < N;
    A += blockIdx.z * batchA + (tile_row + rowA) * rsA + colA * csA;
    B += blockIdx.z * batchB + (tile_col + colB) * csB + rowB * rsB;

    TMM_SUM sum = 0;
    for (; K > 0; K -= TMM_TILE) { /* K: what is left of it */
        TMM_TYPE a = 0, b = 0;
        if (insideA && colA < K) a = *A;
        if (insideB && rowB < K) b = *B;
        As[rowA][colA] = a;
        Bs[rowB][colB] = b;
        __syncthreads(); /* the tiles are complete before anyone reads them */
#pragma unroll
        for (int k = 0; k < TMM_TILE; k++) sum += (TMM_SUM)As[ty][k] * (TMM_SUM)Bs[k][tx];
        __syncthreads(); /* everyone has read them before they are overwritten */
        A += TMM_TILE * csA;
        B += TMM_TILE * rsB;
    }

    long long row = tile_row + ty, col = tile_col + tx;
    if (row >= M || col >= N) return;
    C += blockIdx.z * batchC + row * ldc + col;
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
#undef tmm_gemm_shared
#if !TMM__ONE_TILE
#undef TMM_TILE
#endif
#endif
#endif
