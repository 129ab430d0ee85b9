/* src/tiledmm/kernels/direct/kernel.cuh. The kernel for tiny products: dot products by groups of threads.
   Uses: kernels/common/store.cuh, sizes.h, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL DIRECT ================================================= */
/* For a product so small that a launch and one way to memory and back take most of its time; and for
   vectors, of which each element is read once anyway. A group of G threads computes one element of C
   as a dot product. Its members have every G-th k. All loads of
   8 k are under way before the first multiply-add. Nothing goes through shared memory but the sums
   of a group whose members are in several warps.

              k ->  member: 0 1 2 3 0 1 2 3 0 1 2 3            B
             +-+-+-+-+-+-+-+-+-+-+-+-+                       +-+
        A    |0|1|2|3|0|1|2|3|0|1|2|3|  row i                |0|  column j
             +-+-+-+-+-+-+-+-+-+-+-+-+                       |1|
                                                             |2|
        C(i, j) = (sum of 0 + that of 1) + (2 + 3)           |3|
                                                             |0| ...

   Where that leaves multiprocessors idle, a cluster of eight blocks has the k of the same groups:
   each block adds up its part, and the first one adds these.

   Groups are numbered along the rows of C. There are two ways to give them threads:
     TMM__MEMBERS  members are neighbours: reads contiguous along k are coalesced
        thread 0 1 2 3 | 4 5 6 7 | ...          group 0: threads 0 to 3
     TMM__GROUPS   groups are neighbours: reads contiguous along the rows of op(B) are
        thread 0 1 2 ... 63 | 64 65 ...         group 0 of 64: threads 0, 64, 128 and 192
   Lanes add their sums by shuffles, warps through shared memory, blocks through shared memory of the
   first block of their cluster: in the same order in every run.

   Global loads: 2 K elements for each of C, most of them from L1: 0.25 FLOP a byte in float. What
   bounds it: the latency of a launch and of a load, and one more load for each further 8 G of k. Then
   it is the lines of L1 that its loads touch: no register serves two elements. With vectors it is
   memory: 32 to 64 KB of loads are under way on a multiprocessor.

   block_log2, group_log2, cluster_log2: threads of a block and of a group, blocks of a cluster, as
   powers of two. magic, magic_log2: n / N is (n + n magic / 2^32) >> magic_log2. beside, lanes:
   members that are lanes of a warp are so far apart, among so many lanes. apart_log2, warps_log2:
   the sums that are then left, so far apart, and how many. As members of a structure the last ten
   take more registers. */
TMM_KERNEL void __launch_bounds__(TMM__DIRECT_MOST)
    tmm__xgemm_direct(long long M, long long N, long long K, TMM__ALPHA alpha,
                      const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                      long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                      long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                      long long ldc, long long batchC, int block_log2, int group_log2, int layout,
                      int cluster_log2, unsigned magic, int magic_log2, int beside, int lanes,
                      int apart_log2, int warps_log2)
{
    enum { DEEP = TMM__DIRECT_DEEP, CLUSTER = 1 << TMM__DIRECT_CLUSTER };
    static_assert((int)TMM__DIRECT_MOST >= 32 && (int)TMM__DIRECT_MOST <= 1024 &&
                      ((int)TMM__DIRECT_MOST & ((int)TMM__DIRECT_MOST - 1)) == 0,
                  "TMM__DIRECT_MOST must be a power of two, 32 to 1024: the threads of a block");
    static_assert((int)TMM__DIRECT_BLOCK >= 5 && 1 << TMM__DIRECT_BLOCK <= (int)TMM__DIRECT_MOST,
                  "TMM__DIRECT_BLOCK must be 5 at least, which is a warp, and 2 to it not be above "
                  "TMM__DIRECT_MOST");
    static_assert((int)TMM__DIRECT_CLUSTER >= 1 && (int)TMM__DIRECT_CLUSTER <= 3,
                  "TMM__DIRECT_CLUSTER must be 1 to 3: a cluster has 8 blocks at most");
    static_assert(
        (int)TMM__DIRECT_DEEP >= 1 && (int)TMM__DIRECT_GROUPS >= 1 &&
            ((int)TMM__DIRECT_MOST + CLUSTER * (int)TMM__DIRECT_GROUPS) * (int)sizeof(TMM_SUM) <=
                49152,
        "TMM__DIRECT_GROUPS: the sums of so many groups of a cluster's blocks must fit into "
        "the 48 KB of a block");
    __shared__ TMM_SUM sums[TMM__DIRECT_MOST];
    const int thread = threadIdx.x, group = 1 << group_log2, groups_log2 = block_log2 - group_log2;
    const bool members = layout == TMM__MEMBERS;
    const int groups = 1 << groups_log2; /* of the block */
    const int member = members ? thread & (group - 1) : thread >> groups_log2;
    const int place = members ? thread >> group_log2 : thread & (groups - 1);
    const unsigned rank = blockIdx.x & ((1u << cluster_log2) - 1); /* in the cluster */
    const int all_log2 = group_log2 + cluster_log2; /* members of a group in all blocks */
    /* 32 bits suffice: C has at most 2^31 - 1 elements. */
    const unsigned number = (blockIdx.x >> cluster_log2 << groups_log2) + place;
    const bool inside = number < (unsigned)M * (unsigned)N;
    /* number / N, without a division. */
    const unsigned row = (__umulhi(number, magic) + number) >> magic_log2;
    const unsigned col = number - row * (unsigned)N;
    TMM_SUM sum = 0;

    const unsigned first_k = member + (rank << group_log2);
    long long toA = blockIdx.z * batchA + row * rsA + first_k * csA;
    long long toB = blockIdx.z * batchB + col * csB + first_k * rsB;
    long long toC = sizeof(TMM_TYPE) > 4 ? blockIdx.z * batchC + row * ldc + col : 0;
    int stores = member == 0 && inside;
    TMM__HIDE_POINTER(toA);
    TMM__HIDE_POINTER(toB); /* or the compiler computes them twice, */
    TMM__HIDE(stores);      /* and these at the end, where nothing hides their latency */
    if (sizeof(TMM_TYPE) > 4) TMM__HIDE_POINTER(toC); /* float would take more registers */
    A += toA, B += toB;
    const long long stepA = csA << all_log2, stepB = rsB << all_log2;
    /* How many k this member has. */
    int left = (int)(((unsigned)K - first_k + (1u << all_log2) - 1) >> all_log2);
    if (!inside) left = 0;
    if ((int)K <= 1 << all_log2) {
        if (left > 0) TMM__MULTIPLY_ADD(sum, (TMM_SUM)*A, (TMM_SUM)*B);
        left = 0;
    }
#pragma unroll 1
    for (; left > 0; left -= DEEP) {
        TMM_TYPE x[DEEP], y[DEEP];
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            x[k] = 0;
            if (k < left) x[k] = *A;
            A += stepA;
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            y[k] = 0;
            if (k < left) y[k] = *B;
            B += stepB;
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) TMM__MULTIPLY_ADD(sum, (TMM_SUM)x[k], (TMM_SUM)y[k]);
    }

    /* First the sums of members that are lanes of a warp, then what is left, halved until it is one. */
    if (group_log2 > 0) {
        for (int other = beside; other < lanes; other *= 2)
            sum += (TMM_SUM)__shfl_xor_sync(0xffffffffu, sum, other);
        const int first = members ? member : thread; /* in the group, or of groups side by side */
        if (warps_log2 > 0) {
#if TMM__CLUSTERS
            if (cluster_log2 > 0) tmm__cluster_arrive(false); /* has begun */
#endif
            sums[thread] = sum;
#pragma unroll 1
            for (int half = warps_log2 - 1; half >= 0; half--) {
                const int other = 1 << half << apart_log2;
                __syncthreads();
                if (first < other) sums[thread] = sum += sums[thread + other];
            }
#if TMM__CLUSTERS
            if (cluster_log2 > 0) {
                __shared__ TMM_SUM parts[CLUSTER][TMM__DIRECT_GROUPS];
                tmm__cluster_wait(); /* all of its blocks have begun */
                if (member == 0) {
                    unsigned words[(sizeof sum + 3) / 4];
                    memcpy(words, &sum, sizeof sum);
#pragma unroll
                    for (int w = 0; w < (int)(sizeof sum / 4); w++)
                        tmm__store_word_cluster((unsigned *)&parts[rank][place] + w, 0, words[w]);
                }
                tmm__cluster_arrive(true);
                tmm__cluster_wait();
                if (rank > 0) return;
                sum = parts[0][place];
#pragma unroll
                for (int r = 1; r < CLUSTER; r++) sum += parts[r][place];
            }
#endif
        }
    }
    if (!stores) return;

    C += sizeof(TMM_TYPE) > 4 ? toC : blockIdx.z * batchC + row * ldc + col;
    TMM_SUM old = 0;
    if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C);
    *C = tmm__xvalue(sum, alpha, old, true, row, col);
}
#endif
