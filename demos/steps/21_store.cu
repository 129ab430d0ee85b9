/* 21_store.cu - half in, float out: C goes out by TMA. For 9.0a alone.
   Bottleneck: stores. A thread has 128; each writes 8 sectors by half, while tensor cores wait: a sixth
               of the time at K = 4096.
   Changes:    pieces of 64 x 32 go to shared memory, where TMA takes them. Warps 0 to 3 begin each tile
               three stages early: they store while 4 to 7 still multiply, and the other way round.
   Expected:   15 % faster at 4096. Then what binds is power, as it does cuBLAS.
   Came:       644 TFLOP/s at 4096, 0.98 of cuBLAS: 18 % faster. */
#include "tensor.h"

enum { ROWS = 128, COLS = 256, DEPTH = 64, STAGES = 4, THREADS = 384, PAIR = 2, BAND = 8 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, PIECE = 64 * 32 };
enum { BYTES = STAGES * (2 * STAGE + 16) + 4 * PIECE * 4 };

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
           MAP a, MAP b, MAP c)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    float *pieces = (float *)(stages + STAGES * STAGE); /* two for each four warps */
    barrier *full = (barrier *)(pieces + 4 * PIECE), *empty = full + STAGES;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, s = 0, row, column;
    int pairs = (M + PAIR * ROWS - 1) / (PAIR * ROWS) * ((N + COLS - 1) / COLS);
    int lead = K > 2 * DEPTH ? min(STAGES - 1, (K - 1) / DEPTH) * DEPTH : -1;          /* or none */
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
            if (warp >= 4 && lead >= 0) WAIT_FOR_THE_OTHER();
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *at = stages + s % STAGES * STAGE;
                barrier_wait(full + s % STAGES, s / STAGES % 2);
                WGMMA_BEGIN();
                for (int l = 0; l < DEPTH; l += 16)
                    wgmma_256(sum, descriptor(at + warp / 4 * 64 * 64 + l, 16),
                              descriptor(at + A_SIZE + l * 64, DEPTH * 128), k + l > 0);
                WGMMA_END();
                if (warp < 4 && k == lead) LET_THE_OTHER_BEGIN();
                WGMMA_WAIT(1); /* for the product of the stage before */
                if (lane < PAIR && k > 0) barrier_arrive_in(empty + (s - 1) % STAGES, lane);
            }
            WGMMA_WAIT(0);
            if (lane < PAIR && K > 0) barrier_arrive_in(empty + (s - 1) % STAGES, lane);
            SUMS_ARE_DONE(sum, COLS / 2, K);
            bool by_tma = beta == 0 && N % 4 == 0; /* it reads nothing, and stores 16 bytes */
#pragma unroll
            for (int e = 0; !by_tma && e < COLS / 2; e++) {
                int i = row + warp * 16 + e / 2 % 2 * 8 + lane / 4;
                int j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
                store(C, M, N, i, j, alpha * sum[e], beta);
            }
#pragma unroll
            for (int e = 0; by_tma && e < COLS / 2; e += 2) {
                int odd = lane / 4 % 2 * 8, f = e ^ 8; /* rows in turn, each in banks of its own */
                int i = warp % 4 * 16 + e / 2 % 2 * 8 + lane / 4;
                int j = (e ^ odd) / 4 % 4 * 8 + lane % 4 * 2;
                float *piece = pieces + (warp / 4 * 2 + e / 16 % 2) * PIECE;
                if (e % 16 == 0 && threadIdx.x % 128 == 0) TMA_STORE_WAIT(1);
                if (e % 16 == 0) FOUR_WARPS_SYNC(warp / 4); /* the piece is free */
                float x = odd ? sum[f] : sum[e], y = odd ? sum[f + 1] : sum[e + 1];
                float *to = piece + i * 32 + (j / 4 ^ i % 8) * 4 + j % 4;
                *(float2 *)to = make_float2(alpha * x, alpha * y);
                if (e % 16 < 14) continue;
                FENCE();
                FOUR_WARPS_SYNC(warp / 4); /* the piece is complete */
                if (threadIdx.x % 128 == 0)
                    tma_store(piece, &c, row + warp / 4 * 64, column + e / 16 * 32);
            }
        }
        if (threadIdx.x % 128 == 0) TMA_STORE_WAIT(0);
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
    CUtensorMap map_c = map_of(C, 4, M, N, 64); /* for N % 4 = 0 alone */
    kernel<<<blocks, THREADS, bytes>>>(M, N, K, alpha, a, b, beta, C, map_a, map_b, map_c);
    release(a, A), release(b, B);
}

#include "harness.h" /* main: checks multiply() and times it */
