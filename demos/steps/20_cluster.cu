/* 20_cluster.cu - half in, float out: two blocks share what they copy of B. For 9.0a alone.
   Bottleneck: L2, as it seemed: a block asks for 48 KB a stage, 1024 clocks of tensor cores.
   Changes:    two blocks above each other form a cluster. Each copies half of their tile of B to both.
   Expected:   32 KB a block and stage, and 10 % faster. Then the stores, in pieces of 4 bytes, bind.
   Came:       547 TFLOP/s at 4096, 0.83 of cuBLAS: 1 % faster, so L2 did not bind. */
#include "tensor.h"

enum { ROWS = 128, COLS = 256, DEPTH = 64, STAGES = 4, THREADS = 384, PAIR = 2, BAND = 8 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, BYTES = STAGES * (2 * STAGE + 16) };

/* The place of the tile of block RANK in a pair: pairs go down in bands of BAND rows, then to the right. */
__device__ __forceinline__ void place(int pair, int rank, int M, int N, int *row, int *column)
{
    int down = (M + PAIR * ROWS - 1) / (PAIR * ROWS), across = (N + COLS - 1) / COLS;
    int band = pair / (BAND * across), at = pair - band * BAND * across;
    int high = min(BAND, down - band * BAND);
    *row = (band * BAND + at % high) * PAIR * ROWS + rank * ROWS, *column = at / high * COLS;
}

/* A grid of pairs. Warps -4 to -1 copy; warp w of 0 to 7 has rows 16 w to 16 w + 15 of a tile. */
__global__ void CLUSTER(PAIR) __launch_bounds__(THREADS, 1)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C,
           MAP a, MAP b)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    barrier *full = (barrier *)(stages + STAGES * STAGE), *empty = full + STAGES;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, s = 0, row, column;
    int pairs = (M + PAIR * ROWS - 1) / (PAIR * ROWS) * ((N + COLS - 1) / COLS);
    int pair = blockIdx.x / PAIR, rank = blockIdx.x % PAIR, mine = rank * COLS / PAIR; /* of B */
    for (int n = 0; threadIdx.x == 0 && n < STAGES; n++)
        barrier_init(full + n, 1), barrier_init(empty + n, 8 * PAIR);
    FENCE(); /* copies see the barriers */
    CLUSTER_SYNC();
    if (warp < 0) { /* four warps give registers away, and one of their threads copies */
        PTX("setmaxnreg.dec.sync.aligned.u32 40;");
        for (; threadIdx.x == 0 && pair < pairs; pair += gridDim.x / PAIR) {
            place(pair, rank, M, N, &row, &column);
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *to = stages + s % STAGES * STAGE;
                barrier *now = full + s % STAGES;
                barrier_wait(empty + s % STAGES, s / STAGES % 2 ^ 1); /* at once in round 0 */
                barrier_expect(now, 2 * STAGE);
                tma_load(to, &a, row, k, now);
                for (int j = mine; j < mine + COLS / PAIR; j += 64)
                    tma_multicast(to + A_SIZE + j * DEPTH, &b, k, column + j, now, 3);
            }
        }
    } else {
        PTX("setmaxnreg.inc.sync.aligned.u32 232;");
        for (; pair < pairs; pair += gridDim.x / PAIR) {
            float sum[COLS / 2]; /* the first product does not read it */
            place(pair, rank, M, N, &row, &column);
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *at = stages + s % STAGES * STAGE;
                barrier_wait(full + s % STAGES, s / STAGES % 2);
                WGMMA_BEGIN();
                for (int l = 0; l < DEPTH; l += 16)
                    wgmma_256(sum, descriptor(at + warp / 4 * 64 * 64 + l, 16),
                              descriptor(at + A_SIZE + l * 64, DEPTH * 128), k + l > 0);
                WGMMA_END();
                WGMMA_WAIT(1); /* for the product of the stage before */
                if (lane < PAIR && k > 0) barrier_arrive_in(empty + (s - 1) % STAGES, lane);
            }
            WGMMA_WAIT(0);
            if (lane < PAIR && K > 0) barrier_arrive_in(empty + (s - 1) % STAGES, lane);
            SUMS_ARE_DONE(sum, COLS / 2, K);
#pragma unroll
            for (int e = 0; e < COLS / 2; e++) {
                int i = row + warp * 16 + e / 2 % 2 * 8 + lane / 4;
                int j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
                store(C, M, N, i, j, alpha * sum[e], beta);
            }
        }
    }
    __syncwarp();
    CLUSTER_SYNC(); /* nobody leaves while the other may arrive at its barriers */
#else
    elsewhere(M, N, K, alpha, A, B, beta, C);
#endif
}

static void multiply(int M, int N, int K, float alpha, const half *A, const half *B, float beta,
                     float *C)
{
    const half *a = aligned(A, M, K), *b = aligned(B, K, N);
    int pairs = (M + PAIR * ROWS - 1) / (PAIR * ROWS) * ((N + COLS - 1) / COLS);
    int most = (multiprocessors() + 1) / PAIR, blocks = PAIR * (most < pairs ? most : pairs);
    int bytes = shared_memory((const void *)kernel, BYTES);
    CUtensorMap map_a = map_of(a, 2, M, K, ROWS), map_b = map_of(b, 2, K, N, DEPTH);
    kernel<<<blocks, THREADS, bytes>>>(M, N, K, alpha, a, b, beta, C, map_a, map_b);
    release(a, A), release(b, B);
}

#include "harness.h" /* main: checks multiply() and times it */
