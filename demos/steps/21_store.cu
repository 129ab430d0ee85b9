/* 21_store.cu - half in, float out: C goes out by TMA, and rows begin anywhere. For 9.0a alone.
   Bottleneck: stores. 128 a thread, each of 8 sectors half full, take 8000 of 73000 clocks at K = 4096.
   Changes:    pieces of 64 x 32 go to shared memory, and TMA stores them while the next is made. If rows
               are off 16 bytes, A and B are copied so that they are not, and C is stored as before.
   Expected:   5 % more at 4096. Then what binds is power, as it does cuBLAS.
   came:       */
#include "tensor.h" /* tma_store, FENCE */

enum { ROWS = 128, COLS = 256, DEPTH = 64, STAGES = 4, THREADS = 384, PAIR = 2, BAND = 8 };
enum { A_SIZE = ROWS * DEPTH, STAGE = A_SIZE + DEPTH * COLS, PIECE = 64 * 32 };
enum { BYTES = STAGES * (2 * STAGE + 16) + 4 * PIECE * 4 };

/* The place of a pair of tiles: they go down in bands of BAND rows of pairs, then to the right. */
__device__ __forceinline__ void place(int pair, int M, int N, int *row, int *column)
{
    int down = (M + PAIR * ROWS - 1) / (PAIR * ROWS), across = (N + COLS - 1) / COLS;
    int band = pair / (BAND * across), at = pair - band * BAND * across;
    int high = min(BAND, down - band * BAND);
    *row = (band * BAND + at % high) * PAIR * ROWS, *column = at / high * COLS;
}

/* value += beta C; and C = value if TMA cannot, since rows of C are off 16 bytes. */
__device__ __forceinline__ void finish(float *C, int M, int N, int i, int j, float *value,
                                       float beta)
{
    float *c = C + (size_t)i * N + j;
    if (i < M && j < N && beta != 0) *value += beta * *c;
    if (i < M && j < N && N % 4) *c = *value;
}

/* Element e of 16 is at (I, J) of a tile and of 32 columns of it. */
#define I(e) (warp * 16 + (e) / 2 % 2 * 8 + lane / 4)
#define J(e) ((e) / 4 * 8 + lane % 4 * 2 + (e) % 2)

/* A grid of pairs. Warp w from 0 on, after four others, has rows 16 w to 16 w + 15 of a tile of C. */
__global__ void CLUSTER(PAIR) __launch_bounds__(THREADS, 1)
    kernel(int M, int N, int K, float alpha, const half *A, const half *B, float beta, float *C,
           const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) half stages[];
    float *pieces = (float *)(stages + STAGES * STAGE); /* two for each four warps */
    barrier *full = (barrier *)(pieces + 4 * PIECE), *empty = full + STAGES;
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
            place(pair, M, N, &row, &column);
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *to = stages + s % STAGES * STAGE;
                barrier *now = full + s % STAGES;
                barrier_wait(empty + s % STAGES, s / STAGES % 2 ^ 1); /* first at once */
                barrier_expect(now, 2 * STAGE);
                tma_load(to, &map_a, row + rank * ROWS, k, now);
                for (int j = mine; j < mine + COLS / PAIR; j += 64)
                    tma_multicast(to + A_SIZE + j * DEPTH, &map_b, k, column + j, now, 3);
            }
        }
    } else {
        PTX("setmaxnreg.inc.sync.aligned.u32 232;");
        for (; pair < pairs; pair += gridDim.x / PAIR) {
            float sum[128] = {0};
            place(pair, M, N, &row, &column);
            for (int k = 0; k < K; k += DEPTH, s++) {
                half *at = stages + s % STAGES * STAGE;
                barrier_wait(full + s % STAGES, s / STAGES % 2);
                WGMMA_BEGIN();
                for (int l = 0; l < DEPTH; l += 16)
                    wgmma_256(sum, descriptor(at + warp / 4 * 64 * 64 + l, 16),
                              descriptor(at + A_SIZE + l * 64, DEPTH * 128));
                WGMMA_END();
                WGMMA_WAIT(1); /* for the product of the stage before */
                if (lane < PAIR && k > 0) barrier_arrive_in(empty + (s - 1) % STAGES, lane);
            }
            WGMMA_WAIT(0);
            if (lane < PAIR && K > 0) barrier_arrive_in(empty + (s - 1) % STAGES, lane);
            SUMS_ARE_DONE(sum, 128);
#pragma unroll
            for (int p = 0; p < COLS / 32; p++) {
                float *piece = pieces + (warp / 4 * 2 + p % 2) * PIECE;
                if (threadIdx.x % 128 == 0) TMA_STORE_WAIT(1);
                FOUR_WARPS_SYNC(warp / 4); /* the piece is free */
#pragma unroll
                for (int e = 16 * p; e < 16 * p + 16; e++) sum[e] *= alpha;
#pragma unroll
                for (int e = 0; (beta != 0 || N % 4) && e < 16; e++)
                    finish(C, M, N, row + rank * ROWS + I(e), column + 32 * p + J(e),
                           &sum[16 * p + e], beta);
#pragma unroll
                for (int e = 0; e < 16; e += 2)
                    *(float2 *)&piece[I(e) % 64 * 32 + (J(e) / 4 ^ I(e) % 8) * 4 + J(e) % 4] =
                        make_float2(sum[16 * p + e], sum[16 * p + e + 1]);
                FENCE();
                FOUR_WARPS_SYNC(warp / 4); /* the piece is complete */
                if (threadIdx.x % 128 == 0 && N % 4 == 0)
                    tma_store(piece, &map_c, row + rank * ROWS + warp / 4 * 64, column + p * 32);
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

/* X, or a copy of it whose rows begin at multiples of 16 bytes. */
static const half *aligned(const half *X, int rows, int columns, size_t *pitch)
{
    const size_t bytes = 2ull * columns;
    void *copy;
    *pitch = (bytes + 15) / 16 * 16;
    if (*pitch == bytes || cudaMallocAsync(&copy, rows * *pitch, 0)) return X;
    cudaMemcpy2DAsync(copy, *pitch, X, bytes, bytes, rows, cudaMemcpyDeviceToDevice, 0);
    return (const half *)copy;
}

static void multiply(int M, int N, int K, float alpha, const half *A, const half *B, float beta,
                     float *C)
{
    int pairs = (M + PAIR * ROWS - 1) / (PAIR * ROWS) * ((N + COLS - 1) / COLS);
    int most = (multiprocessors() + 1) / PAIR, blocks = PAIR * (most < pairs ? most : pairs);
    int bytes = shared_memory((const void *)kernel, BYTES);
    size_t pitch_a, pitch_b;
    const half *a = aligned(A, M, K, &pitch_a), *b = aligned(B, K, N, &pitch_b);
    CUtensorMap map_a = map_of(a, 2, M, K, pitch_a, ROWS);
    CUtensorMap map_b = map_of(b, 2, K, N, pitch_b, DEPTH);
    CUtensorMap map_c = map_of(C, 4, M, N, 4ull * N, 64);
    kernel<<<blocks, THREADS, bytes>>>(M, N, K, alpha, A, B, beta, C, map_a, map_b, map_c);
    if (a != A) cudaFreeAsync((void *)a, 0);
    if (b != B) cudaFreeAsync((void *)b, 0);
}

#include "harness.h" /* main: checks multiply() and times it */
