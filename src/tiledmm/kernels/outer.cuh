/* src/tiledmm/kernels/outer.cuh. The kernel for a short K: C as a sum of few outer products.
   Uses: kernels/store.cuh. Used by: kernels/outer_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL OUTER ================================================== */
/* For a short K: writing C is most of the work, and tiles in shared memory would cost more than
   they save. A thread computes 4 x 4 elements of C as K outer products, with operands straight from
   L1:

             B  K x N     c       c+G     c+2G    c+3G            G = ceil(N / 4)
                        | |     | |     | |     | |  k
                        +-+     +-+     +-+     +-+
        A  M x K        | |     | |     | |     | |
       r    +---+  ->   |X|     |X|     |X|     |X|               a thread: rows r to r + 3,
       r+1  |   |       |X|     |X|     |X|     |X|               columns c, c + G, c + 2 G, c + 3 G
       r+2  |   |       |X|     |X|     |X|     |X|
       r+3  +---+       |X|     |X|     |X|     |X|
              k
   Neighbouring threads have neighbouring columns, so that loads of B and stores to C are coalesced
   whatever the alignment; a narrow C gives a warp several groups of rows.

   Global memory: M N elements written, (M + N) K read once each by L2. L1: 8 loads for 16
   multiply-adds. Arithmetic intensity: 2 K FLOP for each element of C. What bounds it: for K below
   some 8 the writing of C, then the issue of instructions; for a small C the latency of a
   launch. */
TMM_KERNEL void __launch_bounds__(TMM__OUTER_THREADS)
    TMM_FN(gemm_outer)(long long M, long long N, long long K, TMM_TYPE alpha,
                       const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                       long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                       long long csB, long long batchB, TMM_TYPE beta, TMM_TYPE *__restrict__ C,
                       long long ldc, long long batchC)
{
    enum { EDGE = TMM__OUTER_EDGE, DEEP = 4 };
    /* 32 bits suffice: there are at most 2^31 - 1 threads with elements. */
    const unsigned groups = (unsigned)((N + EDGE - 1) / EDGE);
    const unsigned number = blockIdx.x * TMM__OUTER_THREADS + threadIdx.x;
    const long long row = (long long)(number / groups) * EDGE, col = number % groups;
    if (row >= M) return;

    /* What is outside reads the last row or column instead. */
    const TMM_TYPE *a[EDGE], *b[EDGE];
    TMM_SUM sum[EDGE][EDGE];
#pragma unroll
    for (int i = 0; i < EDGE; i++) {
        long long r = row + i < M ? row + i : M - 1;
        long long c = col + i * (long long)groups < N ? col + i * (long long)groups : N - 1;
        a[i] = A + blockIdx.z * batchA + r * rsA;
        b[i] = B + blockIdx.z * batchB + c * csB;
#pragma unroll
        for (int j = 0; j < EDGE; j++) sum[i][j] = 0;
    }
    /* All loads of DEEP k are under way before the first multiply-add. */
#pragma unroll 1
    for (int left = (int)K; left > 0; left -= DEEP) {
        TMM_TYPE x[DEEP][EDGE], y[DEEP][EDGE];
#pragma unroll
        for (int k = 0; k < DEEP; k++)
#pragma unroll
            for (int i = 0; i < EDGE; i++) {
                x[k][i] = y[k][i] = 0;
                TMM_FN(load_if)(&x[k][i], a[i], k < left);
                TMM_FN(load_if)(&y[k][i], b[i], k < left);
                a[i] += csA, b[i] += rsB;
            }
#pragma unroll
        for (int k = 0; k < DEEP; k++)
#pragma unroll
            for (int i = 0; i < EDGE; i++)
#pragma unroll
                for (int j = 0; j < EDGE; j++)
                    TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)x[k][i], (TMM_SUM)y[k][j]);
    }
    const TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    C += blockIdx.z * batchC + row * ldc + col;
#pragma unroll
    for (int i = 0; i < EDGE; i++, C += ldc) {
        TMM_TYPE old[EDGE];
#pragma unroll
        for (int j = 0; j < EDGE; j++) { /* all are read before any is stored: see load2 */
            bool inside = row + i < M && col + j * (long long)groups < N;
            old[j] = 0;
            TMM_FN(load_if)(&old[j], C + j * (long long)groups, inside && (TMM_SUM)beta != 0);
        }
#pragma unroll
        for (int j = 0; j < EDGE; j++) {
            bool inside = row + i < M && col + j * (long long)groups < N;
            TMM_TYPE value = TMM_FN(value)(sum[i][j], alpha, TMM__MUL(factor, (TMM_SUM)old[j]),
                                           inside, row + i, col + j * (long long)groups);
            TMM_FN(store_if)(C + j * (long long)groups, value, inside);
        }
    }
}
#endif
