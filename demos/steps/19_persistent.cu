/* 19_persistent.cu - half in, float out: blocks stay, and take tiles in an order for L2. For 9.0a alone.
   Bottleneck: a new block fills its ring and stores C while tensor cores wait: 10 % at K = 4096. At
               N = 8192 the 132 tiles at work, in rows of 32, need 5 rows of tiles of A and all 32 of B.
   Changes:    one block on each multiprocessor; its ring goes on into the next tile; bands as in 11.
   Expected:   copies go on during the stores, and 132 tiles need 16 rows of A and 9 columns of B.
   Came:       541 TFLOP/s at 4096, 0.82 of cuBLAS; 602 TFLOP/s at 8192, where 18 has 529. */
#include "tensor.h"

enum { ROWS = 128, COLS = 256, DEPTH = 64, STAGES = 4, THREADS = 384, BAND = 16 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, BYTES = STAGES * (2 * STAGE + 16) };

/* The place of a tile: they go down in bands of BAND rows of tiles, then to the right. */
__device__ __forceinline__ void place(int tile, int M, int N, int *row, int *column)
{
    int down = (M + ROWS - 1) / ROWS, across = (N + COLS - 1) / COLS, band = tile / (BAND * across);
    int high = min(BAND, down - band * BAND), at = tile - band * BAND * across;
    *row = (band * BAND + at % high) * ROWS, *column = at / high * COLS;
}

/* Any grid. Warps -4 to -1 copy; warp w of 0 to 7 has rows 16 w to 16 w + 15 of a tile. */
__global__ void __launch_bounds__(THREADS, 1)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C,
           MAP a, MAP b)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    barrier *full = (barrier *)(stages + STAGES * STAGE), *empty = full + STAGES;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, s = 0, row, column;
    int tiles = ((M + ROWS - 1) / ROWS) * ((N + COLS - 1) / COLS), tile = blockIdx.x;
    for (int n = 0; threadIdx.x == 0 && n < STAGES; n++)
        barrier_init(full + n, 1), barrier_init(empty + n, 8);
    FENCE(); /* copies see the barriers */
    __syncthreads();
    if (warp < 0) { /* four warps give registers away, and one of their threads copies */
        PTX("setmaxnreg.dec.sync.aligned.u32 40;");
        for (; threadIdx.x == 0 && tile < tiles; tile += gridDim.x) {
            place(tile, M, N, &row, &column);
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *to = stages + s % STAGES * STAGE;
                barrier *now = full + s % STAGES;
                barrier_wait(empty + s % STAGES, s / STAGES % 2 ^ 1); /* at once in round 0 */
                barrier_expect(now, 2 * STAGE);
                tma_load(to, &a, row, k, now);
                for (int j = 0; j < COLS; j += 64)
                    tma_load(to + A_SIZE + j * DEPTH, &b, k, column + j, now);
            }
        }
    } else {
        PTX("setmaxnreg.inc.sync.aligned.u32 232;");
        for (; tile < tiles; tile += gridDim.x) {
            float sum[COLS / 2]; /* the first product does not read it */
            place(tile, M, N, &row, &column);
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *at = stages + s % STAGES * STAGE;
                barrier_wait(full + s % STAGES, s / STAGES % 2);
                WGMMA_BEGIN();
                for (int l = 0; l < DEPTH; l += 16)
                    wgmma_256(sum, descriptor(at + warp / 4 * 64 * 64 + l, 16),
                              descriptor(at + A_SIZE + l * 64, DEPTH * 128), k + l > 0);
                WGMMA_END();
                WGMMA_WAIT(1); /* for the product of the stage before */
                if (lane == 0 && k > 0) barrier_arrive(empty + (s - 1) % STAGES);
            }
            WGMMA_WAIT(0);
            if (lane == 0 && K > 0) barrier_arrive(empty + (s - 1) % STAGES);
            SUMS_ARE_DONE(sum, COLS / 2, K);
#pragma unroll
            for (int e = 0; e < COLS / 2; e++) {
                int i = row + warp * 16 + e / 2 % 2 * 8 + lane / 4;
                int j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
                store(C, M, N, i, j, alpha * sum[e], beta);
            }
        }
    }
#else
    elsewhere(M, N, K, alpha, A, B, beta, C);
#endif
}

static void multiply(int M, int N, int K, float alpha, const half *A, const half *B, float beta,
                     float *C)
{
    const half *a = aligned(A, M, K), *b = aligned(B, K, N);
    int tiles = ((M + ROWS - 1) / ROWS) * ((N + COLS - 1) / COLS), most = multiprocessors();
    int bytes = shared_memory((const void *)kernel, BYTES), blocks = most < tiles ? most : tiles;
    CUtensorMap map_a = map_of(a, 2, M, K, ROWS), map_b = map_of(b, 2, K, N, DEPTH);
    kernel<<<blocks, THREADS, bytes>>>(M, N, K, alpha, a, b, beta, C, map_a, map_b);
    release(a, A), release(b, B);
}

#include "harness.h" /* main: checks multiply() and times it */
