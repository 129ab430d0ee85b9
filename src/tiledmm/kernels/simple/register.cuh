/* src/tiledmm/kernels/simple/register.cuh. The kernel that teaches registers.
   Uses: once/passes.h. Used by: launch.h, type/instances.h. */
/* The instances: the pass that compiles it (once/passes.h), its tile, which is its name, and TMM_BLOCK. */
#ifndef TMM__REGISTER_LIST
#define TMM__REGISTER_LIST(_) TMM__IF_ALL_TILES(_(2, 64, 4)) _(1, 128, 8)
#endif

#ifdef TMM__PASS
#if TMM__REGISTER_LIST(TMM__IN_PASS) 0
#define TMM_BLOCK         (TMM__REGISTER_LIST(TMM__VALUE_1) 0)
#define tmm_gemm_register tmm__gemm_register
#define tmm_quad          tmm__quad
#define tmm_fetch_quad    tmm__fetch_quad
#define tmm_put_quad      tmm__put_quad
/* ============================== KERNEL REGISTER =============================================== */
/* Each thread owns TMM_BLOCK x TMM_BLOCK elements of C (4 or 8) and keeps them in registers. So the
   2 TMM_BLOCK elements that it reads from shared memory serve TMM_BLOCK^2 multiply-adds. 256 threads
   own a tile of TILE = 16 TMM_BLOCK rows and columns (64 or 128).

   Tile of C, TMM_BLOCK 8: 8 warps of 32 rows x 64 columns. Within a warp, 4 x 8 lanes with four
   quads of 4 x 4 each (TMM_BLOCK 4: one quad, and everything below is half as large):
      +---------+---------+                     8 lanes across, 4 columns each
      | warp 0  | warp 1  |             +--+--+--+--+--+--+--+--+--+--   --+
      +---------+---------+             | 0| 1| 4| 5| 8| 9|12|13| 0| 1 ... |
      | warp 2  | warp 3  |             | 2| 3| 6| 7|10|11|14|15| 2|       |  4 lanes down,
      +---------+---------+             |16|17|20|21|24|25|28|29|16|       |  4 rows each
      | warp 4  | warp 5  |             |18|19|22|23|26|27|30|31|18|       |
      +---------+---------+             +--+--+--+--+--+--+--+--+--+--   --+
      | warp 6  | warp 7  |             | 0| 1| 4|                         |  ... and once more
      +---------+---------+
   Lanes side by side read neighbouring quads of shared memory with 128-bit loads, free of bank
   conflicts; lanes above each other read the same quad, which is broadcast. They lie in squares of
   2 x 2: where neighbours in pairs read the same, such a load takes two rounds, not four.

   Along k the block advances by DEPTH = 1024 / TILE (8 or 16). So each thread copies one quad of A
   and one of B. There are two buffers. The quads of the next step are fetched from global memory
   into registers before the arithmetic on this step. After it they are stored to the other buffer;
   one barrier a step. Both tiles lie in shared memory as [k][row] and [k][column].

   Global loads: 2 M N K / TILE elements, TILE / 4 FLOP per byte in float (32 for TILE 128).
   Shared loads: TMM_BLOCK / 4 FLOP per byte. What bounds it for TMM_BLOCK 8: the multiply-add
   units, less what address arithmetic, barriers and the latency of shared loads take from them.

   To paste: everything from here to the line that ends the kernel, below  #define TMM_TYPE float
   and  #define TMM_BLOCK 8;  launch a block of 256 threads for each tile of C, in one dimension. */
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

/* Four neighbouring elements, moved by the widest loads that the type allows. */
typedef struct alignas(sizeof(TMM_TYPE) < 4 ? 4 * sizeof(TMM_TYPE) : 16) tmm_quad {
    TMM_TYPE v[4];
} tmm_quad;

/* Global memory to registers: the quad at x, which runs along k or along the lines (rows of A,
   columns of B), whichever is contiguous. What lies beyond the matrix reads as zero: lines_left
   and k_left count what is left of it from x on. */
static __device__ __forceinline__ tmm_quad tmm_fetch_quad(const TMM_TYPE *x, bool along_k,
                                                          long long lines_left, long long k_left,
                                                          bool aligned)
{
    tmm_quad quad = {{0, 0, 0, 0}};
    long long inside = lines_left <= 0 || k_left <= 0 ? 0 : along_k ? k_left : lines_left;
    if (aligned && inside >= 4) return *(const tmm_quad *)x;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < inside) quad.v[i] = x[i];
    return quad;
}

/* Registers to shared memory: tile[k][line] onwards. A quad along k is spread over four rows. */
static __device__ __forceinline__ void tmm_put_quad(TMM_TYPE (*tile)[16 * TMM_BLOCK + 4], int k,
                                                    int line, bool along_k, tmm_quad quad)
{
    if (along_k) {
#pragma unroll
        for (int i = 0; i < 4; i++) tile[k + i][line] = quad.v[i];
    } else {
        *(tmm_quad *)&tile[k][line] = quad;
    }
}

TMM_KERNEL void __launch_bounds__(256, sizeof(TMM_TYPE) * TMM_BLOCK <= 32 ? 2 : 1)
    tmm_gemm_register(long long M, long long N, long long K, TMM__ALPHA alpha,
                      const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                      long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                      long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                      long long ldc, long long batchC)
{
    static_assert(TMM_BLOCK == 4 || TMM_BLOCK == 8,
                  "TMM_BLOCK must be 4 or 8: the rows and columns of C that one thread owns");
    static_assert(sizeof(TMM_TYPE) <= 8, "TMM_TYPE must have 8 bytes at most: larger elements "
                                         "do not fit the registers of a block");
    enum { QUADS = TMM_BLOCK / 4, TILE = 16 * TMM_BLOCK, DEPTH = 1024 / TILE };
    /* 4 elements of padding keep the quads aligned and spread the stores of a quad along k. */
    __shared__ __align__(16) TMM_TYPE As[2][DEPTH][TILE + 4];
    __shared__ __align__(16) TMM_TYPE Bs[2][DEPTH][TILE + 4];

    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    long long tiles_across = (N + TILE - 1) / TILE;
    long long tile_row = blockIdx.x / tiles_across * TILE;
    long long tile_col = blockIdx.x % tiles_across * TILE;

    /* The quads that this thread copies: at (lineA, kA) of each tile of A, (kB, lineB) of B. */
    bool along_kA = csA == 1, along_kB = rsB == 1;
    int lineA = along_kA ? thread / (DEPTH / 4) : thread % (TILE / 4) * 4;
    int lineB = along_kB ? thread / (DEPTH / 4) : thread % (TILE / 4) * 4;
    int kA = along_kA ? thread % (DEPTH / 4) * 4 : thread / (TILE / 4);
    int kB = along_kB ? thread % (DEPTH / 4) * 4 : thread / (TILE / 4);
    A += blockIdx.z * batchA;
    B += blockIdx.z * batchB;
    C += blockIdx.z * batchC;
    bool alignedA =
        ((size_t)A | (along_kA ? rsA : csA) * sizeof(TMM_TYPE)) % alignof(tmm_quad) == 0;
    bool alignedB =
        ((size_t)B | (along_kB ? csB : rsB) * sizeof(TMM_TYPE)) % alignof(tmm_quad) == 0;
    A += (tile_row + lineA) * rsA + kA * csA;
    B += (tile_col + lineB) * csB + kB * rsB;
    long long rows_left = M - tile_row - lineA, cols_left = N - tile_col - lineB;

    /* The first row and column that this thread owns in the tile; its quads lie 16 rows and 32
       columns apart. */
    int row0 = warp / 2 * (16 * QUADS) + (lane / 16 * 2 + lane / 2 % 2) * 4;
    int col0 = warp % 2 * (32 * QUADS) + (lane / 4 % 4 * 2 + lane % 2) * 4;

    TMM_SUM sum[TMM_BLOCK][TMM_BLOCK] = {{0}};
    tmm_quad quadA = tmm_fetch_quad(A, along_kA, rows_left, K - kA, alignedA);
    tmm_quad quadB = tmm_fetch_quad(B, along_kB, cols_left, K - kB, alignedB);
    int buffer = 0;
    for (long long k_left = K; k_left > 0; k_left -= DEPTH) {
        tmm_put_quad(As[buffer], kA, lineA, along_kA, quadA);
        tmm_put_quad(Bs[buffer], kB, lineB, along_kB, quadB);
        __syncthreads(); /* this buffer is complete, and everyone has finished with the other */
        A += DEPTH * csA;
        B += DEPTH * rsB;
        quadA = tmm_fetch_quad(A, along_kA, rows_left, k_left - DEPTH - kA, alignedA);
        quadB = tmm_fetch_quad(B, along_kB, cols_left, k_left - DEPTH - kB, alignedB);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            tmm_quad a[QUADS], b[QUADS];
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                a[q] = *(const tmm_quad *)&As[buffer][k][row0 + 16 * q];
                b[q] = *(const tmm_quad *)&Bs[buffer][k][col0 + 32 * q];
            }
#pragma unroll
            for (int i = 0; i < TMM_BLOCK; i++)
#pragma unroll
                for (int j = 0; j < TMM_BLOCK; j++)
                    sum[i][j] += (TMM_SUM)a[i / 4].v[i % 4] * (TMM_SUM)b[j / 4].v[j % 4];
        }
        buffer = 1 - buffer;
    }

    /* One row after the other, each moved to the place of the first: registers have no index, and
       code for every row would be most of this kernel. */
    struct alignas(sizeof(TMM_OUT) < 4 ? 4 * sizeof(TMM_OUT) : 16) quad_of_C {
        TMM_OUT v[4];
    } quad;
    bool alignedC = ((size_t)C | ldc * sizeof(TMM_OUT)) % alignof(quad_of_C) == 0;
#pragma unroll 1
    for (int i = 0; i < TMM_BLOCK; i++) {
        long long row = tile_row + row0 + i / 4 * 16 + i % 4;
        if (row >= M) break;
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            long long col = tile_col + col0 + 32 * q;
            TMM_OUT *c = C + row * ldc + col;
            bool vector = alignedC && col + 4 <= N;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (col + j >= N) continue;
                TMM_SUM old = 0;
                if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)c[j]);
                quad.v[j] = (TMM_OUT)TMM__LAST(alpha, sum[0][4 * q + j], old, row, col + j);
#ifdef TMM_EPILOGUE
                quad.v[j] = TMM_EPILOGUE(quad.v[j], row, (col + j));
#endif
                if (!vector) c[j] = quad.v[j];
            }
            if (vector) *(quad_of_C *)c = quad;
        }
#pragma unroll
        for (int h = 0; h < TMM_BLOCK - 1; h++)
#pragma unroll
            for (int j = 0; j < TMM_BLOCK; j++) sum[h][j] = sum[h + 1][j];
    }
}
/* END OF KERNEL */
#undef TMM_BLOCK
#undef tmm_gemm_register
#undef tmm_quad
#undef tmm_fetch_quad
#undef tmm_put_quad
#endif
#endif
