/* src/tiledmm/kernels/direct.cuh. The kernel for tiny products: dot products by groups of threads.
   Uses: kernels/store.cuh. Used by: kernels/direct_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL DIRECT ================================================= */
/* For a product so small that its time is that of a launch, of one way to memory and back, and of
   whatever comes between. A group of G threads computes one element of C as a dot product. Its
   members have every G-th k. All loads of 8 k are under way before the first multiply-add. Nothing
   goes through shared memory but the sums of a group whose members are in several warps.

              k ->  member: 0 1 2 3 0 1 2 3 0 1 2 3            B
             +-+-+-+-+-+-+-+-+-+-+-+-+                       +-+
        A    |0|1|2|3|0|1|2|3|0|1|2|3|  row i                |0|  column j
             +-+-+-+-+-+-+-+-+-+-+-+-+                       |1|
                                                             |2|
        C(i, j) = (sum of 0 + that of 1) + (2 + 3)           |3|
                                                             |0| ...

   Groups are numbered along the rows of C. There are two ways to give them threads:
     TMM__MEMBERS  members are neighbours: reads contiguous along k are coalesced
        thread 0 1 2 3 | 4 5 6 7 | ...          group 0: threads 0 to 3
     TMM__GROUPS   groups are neighbours: reads contiguous along the rows of op(B) are
        thread 0 1 2 ... 63 | 64 65 ...         group 0 of 64: threads 0, 64, 128 and 192
   Sums of lanes are added by shuffles, those of warps through shared memory, in the same order in
   every run.

   Global loads: 2 K elements for each of C, most of them from L1: 0.25 FLOP a byte in float. What
   bounds it: the latency of a launch and of a load, a second one for each further 8 G of k; then
   the lines of L1 that its loads touch, since nothing is kept in registers for another element. */
TMM_KERNEL void __launch_bounds__(TMM__DIRECT_MOST)
    TMM_FN(gemm_direct)(long long M, long long N, long long K, TMM_TYPE alpha,
                        const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                        long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                        long long csB, long long batchB, TMM_TYPE beta, TMM_TYPE *__restrict__ C,
                        long long ldc, long long batchC, int block_log2, int group_log2, int layout)
{
    enum { DEEP = TMM__DIRECT_DEEP };
    __shared__ TMM_SUM sums[TMM__DIRECT_MOST];
    const int thread = threadIdx.x, group = 1 << group_log2, groups_log2 = block_log2 - group_log2;
    const bool members = layout == TMM__MEMBERS;
    const int groups = 1 << groups_log2; /* of the block */
    const int member = members ? thread & (group - 1) : thread >> groups_log2;
    const int place = members ? thread >> group_log2 : thread & (groups - 1);
    /* 32 bits suffice: C has at most 2^31 - 1 elements. */
    const unsigned number = (blockIdx.x << groups_log2) + place;
    const unsigned row = number / (unsigned)N, col = number - row * (unsigned)N;
    const bool inside = row < M;
    TMM_SUM sum = 0;

    A += blockIdx.z * batchA + row * rsA + member * csA;
    B += blockIdx.z * batchB + col * csB + member * rsB;
    const long long stepA = csA << group_log2, stepB = rsB << group_log2;
    int left = inside ? (int)K - member : 0; /* k from this member's next one on */
    if (K <= group) {
        if (left > 0) TMM__MULTIPLY_ADD(sum, (TMM_SUM)*A, (TMM_SUM)*B);
        left = 0;
    }
#pragma unroll 1
    for (; left > 0; left -= DEEP << group_log2) {
        TMM_TYPE x[DEEP], y[DEEP];
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            x[k] = y[k] = 0;
            if (k << group_log2 < left) x[k] = *A, y[k] = *B;
            A += stepA, B += stepB;
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) TMM__MULTIPLY_ADD(sum, (TMM_SUM)x[k], (TMM_SUM)y[k]);
    }

    /* The sums of members that are lanes of one warp; then those of 1 << warps_log2 warps, or of
       threads that far apart, halved until one is left. */
    const int end = members && group < 32 ? group : 32;
    for (int other = members ? 1 : groups; other < end; other *= 2)
        sum += (TMM_SUM)__shfl_xor_sync(0xffffffffu, sum, other);
    const int apart_log2 = members || groups_log2 < 5 ? 5 : groups_log2;
    const int warps_log2 = (members ? group_log2 : block_log2) - apart_log2;
    const int first = members ? member : thread; /* in the group, or of groups side by side */
    if (warps_log2 > 0) sums[thread] = sum;
    for (int half = warps_log2 - 1; half >= 0; half--) {
        const int other = 1 << half << apart_log2;
        __syncthreads();
        if (first < other) sums[thread] = sum += sums[thread + other];
    }
    if (member > 0 || !inside) return;

    C += blockIdx.z * batchC + row * ldc + col;
    TMM_SUM old = 0;
    if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C);
    *C = TMM_FN(value)(sum, alpha, old, true, row, col);
}
#endif
