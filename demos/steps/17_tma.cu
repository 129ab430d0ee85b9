/* 17_tma.cu - half in, float out: one thread asks for whole tiles, by TMA. For 9.0a alone.
   Bottleneck: 256 threads compute addresses and edges for 8 copies each, before they multiply.
   Changes:    a tensor map knows the matrix; a request is a tile, and a barrier counts its bytes.
   Expected:   a stage costs 3 requests. But all threads still meet at each stage: some 10 % more.
   Came:       478 TFLOP/s at 4096, 0.72 of cuBLAS: 84 % more, with a fifth of the instructions. */
#include "tensor.h"

enum { ROWS = 128, COLS = 128, DEPTH = 64, STAGES = 3, THREADS = 256 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, BYTES = STAGES * (2 * STAGE + 8) };

/* Grid N/128 x M/128. Warp w has rows 16 w to 16 w + 15 of the tile of C. */
__global__ void __launch_bounds__(THREADS, 2)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C,
           MAP a, MAP b)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    barrier *full = (barrier *)(stages + STAGES * STAGE);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    float sum[COLS / 2]; /* the first product does not read it */
    for (int n = 0; threadIdx.x == 0 && n < STAGES; n++) barrier_init(full + n, 1);
    FENCE(); /* copies see the barriers */
    for (int s = 1 - STAGES, next = 0; s * DEPTH < K; s++, next += DEPTH) {
        half *to = stages + (s + STAGES - 1) % STAGES * STAGE, *at = stages + s % STAGES * STAGE;
        barrier *now = full + (s + STAGES - 1) % STAGES;
        if (s >= 0) barrier_wait(full + s % STAGES, s / STAGES % 2);
        __syncthreads(); /* stage s is complete, and nobody reads the one before */
        if (threadIdx.x == 0 && next < K) {
            barrier_expect(now, 2 * STAGE);
            tma_load(to, &a, row, next, now);
            for (int j = 0; j < COLS; j += 64)
                tma_load(to + A_SIZE + j * DEPTH, &b, next, column + j, now);
        }
        if (s < 0) continue;
        WGMMA_BEGIN();
        for (int l = 0; l < DEPTH; l += 16)
            wgmma_128(sum, descriptor(at + warp / 4 * 64 * 64 + l, 16),
                      descriptor(at + A_SIZE + l * 64, DEPTH * 128), s + l > 0);
        WGMMA_END();
        WGMMA_WAIT(0);
    }
    SUMS_ARE_DONE(sum, COLS / 2, K);
    for (int e = 0; e < COLS / 2; e++) {
        int i = row + warp * 16 + e / 2 % 2 * 8 + lane / 4;
        int j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
        store(C, M, N, i, j, alpha * sum[e], beta);
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
