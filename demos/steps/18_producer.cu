/* 18_producer.cu - half in, float out: a thread that copies, eight warps that multiply. For 9.0a alone.
   Bottleneck: at each stage all threads meet, and tensor cores have nothing to do until they part.
   Changes:    a thread keeps the ring full, eight warps empty it: a barrier each way, for each stage.
               The eight get registers of the copying warps: 128 x 256 of C, 1.3 times the work a byte.
   Expected:   tensor cores always have the next product: 70 % of 989. Then L2 and stores bind.
   Came:       528 TFLOP/s at 4096, 0.80 of cuBLAS, 53 % of 989. */
#include "tensor.h"

enum { ROWS = 128, COLS = 256, DEPTH = 64, STAGES = 4, THREADS = 384 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, BYTES = STAGES * (2 * STAGE + 16) };

/* Grid N/256 x M/128. Warps -4 to -1 copy; warp w of 0 to 7 has rows 16 w to 16 w + 15. */
__global__ void __launch_bounds__(THREADS, 1)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C,
           MAP a, MAP b)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    barrier *full = (barrier *)(stages + STAGES * STAGE), *empty = full + STAGES;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, s = 0;
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    for (int n = 0; threadIdx.x == 0 && n < STAGES; n++)
        barrier_init(full + n, 1), barrier_init(empty + n, 8);
    FENCE(); /* copies see the barriers */
    __syncthreads();
    if (warp < 0) { /* four warps give registers away, and one of their threads copies */
        PTX("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int k = 0; threadIdx.x == 0 && k < K; k += DEPTH, s++) {
            half *to = stages + s % STAGES * STAGE;
            barrier *now = full + s % STAGES;
            barrier_wait(empty + s % STAGES, s / STAGES % 2 ^ 1); /* at once in round 0 */
            barrier_expect(now, 2 * STAGE);
            tma_load(to, &a, row, k, now);
            for (int j = 0; j < COLS; j += 64)
                tma_load(to + A_SIZE + j * DEPTH, &b, k, column + j, now);
        }
    } else {
        PTX("setmaxnreg.inc.sync.aligned.u32 232;");
        float sum[COLS / 2]; /* the first product does not read it */
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
        SUMS_ARE_DONE(sum, COLS / 2, K);
#pragma unroll
        for (int e = 0; e < COLS / 2; e++) {
            int i = row + warp * 16 + e / 2 % 2 * 8 + lane / 4;
            int j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
            store(C, M, N, i, j, alpha * sum[e], beta);
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
    dim3 grid((N + COLS - 1) / COLS, (M + ROWS - 1) / ROWS);
    int bytes = shared_memory((const void *)kernel, BYTES);
    CUtensorMap map_a = map_of(a, 2, M, K, ROWS), map_b = map_of(b, 2, K, N, DEPTH);
    kernel<<<grid, THREADS, bytes>>>(M, N, K, alpha, a, b, beta, C, map_a, map_b);
    release(a, A), release(b, B);
}

#include "harness.h" /* main: checks multiply() and times it */
