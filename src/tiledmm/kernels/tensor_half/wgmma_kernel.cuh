/* src/tiledmm/kernels/tensor_half/wgmma_kernel.cuh. Elements of 16 bits by wgmma: the kernel.
   Uses: kernels/common/tensor_ptx.cuh, kernels/tensor_half/, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__HALF_TENSOR && (TMM__HALF_WGMMA_LIST(TMM__IN_PASS) 0)
enum {
    tmm__half_wgmma_bytes =
        TMM__HALF_WGMMA_BYTES(TMM__HALF_WGMMA_ROWS, TMM__HALF_WGMMA_COLS, TMM__HALF_WGMMA_STAGES)
};
static_assert(TMM__HALF_WGMMA_ROWS == 192
                  ? TMM__HALF_WGMMA_COLS == 192 || TMM__HALF_WGMMA_COLS == 256
                  : TMM__HALF_WGMMA_ROWS == 128 &&
                        (TMM__HALF_WGMMA_COLS == 128 || TMM__HALF_WGMMA_COLS == 192 ||
                         TMM__HALF_WGMMA_COLS == 256),
              "TMM__HALF_WGMMA_LIST: a tile has 128 x 128, 192 or 256, 192 x 192 or 256");
static_assert(TMM__HALF_WGMMA_COLS == 256
                  ? TMM__HALF_WGMMA_FEWER == 224
                  : TMM__HALF_WGMMA_FEWER == TMM__HALF_WGMMA_COLS || TMM__HALF_WGMMA_FEWER == 160,
              "TMM__HALF_WGMMA_LIST: fewer columns are 160 of 192, and 224 of 256");
static_assert(TMM__HALF_WGMMA_STAGES >= 2 && tmm__half_wgmma_bytes <= 227 * 1024 - 256,
              "TMM__HALF_WGMMA_LIST: stages must be 2 at least, and fit into 227 KB");
#define TMM__HALF_SUM_OF(cols, turned_A, turned_B)                                               \
    tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group, writer, ahead, \
                   turns, STAGES, STAGE, ROWS, cols, turned_A, turned_B)
#define TMM__HALF_SUM(cols)               \
    do {                                  \
        if (job.turned_A && job.turned_B) \
            TMM__HALF_SUM_OF(cols, 1, 1); \
        else if (job.turned_A)            \
            TMM__HALF_SUM_OF(cols, 1, 0); \
        else if (job.turned_B)            \
            TMM__HALF_SUM_OF(cols, 0, 1); \
        else                              \
            TMM__HALF_SUM_OF(cols, 0, 0); \
    } while (0)
/* KERNEL TENSOR HALF by wgmma. After this kernel read tmm__xhalf_sum, its main loop, and tmm__half_find, which tile
   a block has (wgmma.cuh); then tmm__xhalf_by_boxes, in which of five ways C is stored (wgmma_boxes.cuh), as
   columns where C^T is multiplied. The plan chooses the tile and the cluster (launch.h).

   384 threads: one of warpgroup 0 copies by TMA, warpgroups 1 and 2 multiply, 64 rows of the tile each. Tiles of 192
   rows have 512 threads, of which three warpgroups multiply. A tile, and a cluster of two blocks above each other:
            128 to 256 columns
          +--------------------+                copies from L2                in shared memory
       64 | warpgroup 1: 4     |      block 0   A0 16 KB, B left  16 KB --+-->  A0, B left, B right   48 KB
          | warps of 16 rows   |                                          |
          +--------------------+                                          |     (multicast)
       64 | warpgroup 2        |      block 1   A1 16 KB, B right 16 KB --+-->  A1, B left, B right
          +--------------------+
   Blocks side by side share A in the same way. Blocks of a cluster may also have parts of the k of the same tile: one
   item each; they exchange sums through shared memory, and each stores some of them. So do two warpgroups that take
   turns at the stages of a tile of 64 rows. Otherwise blocks are persistent: each takes item after item, a tile or a
   slice of its k, in bands of rows of tiles.

   A stage is 64 k, with the swizzle of 128 bytes; stages form a ring, with two barriers each:
       A, ROWS lines   [line][64 k], K-major; or, MN-major (`turned`), ROWS / 64 boxes of [64 k][64 lines]
       B, COLS lines   the same; two boxes of lines, or COLS / 64
       TMA             | s0 | s1 | s2 | s3 | s0 | s1 |      waits until a stage is `empty`, makes it `full`
       warpgroup 1          | s0 | s1 | s2 | s3 |           the products of a stage run while the next one is
       warpgroup 2                    | s0 | s1 | s2 |      awaited, then the one before is `empty`
   Two steps apart, one warpgroup stores while the other multiplies.

   A step of 128 x 256 is 4.2 million operations, for 32 KB from L2: 128 a byte. A wgmma of 64 x 256 x 16 reads 10 KB
   of shared memory and takes the tensor cores 128 clocks: 80 bytes a clock, of 128 that there are. What bounds it:
   where K is long, tensor cores, and the power that these draw; else filling the ring, storing C, and a last round
   of few tiles. */
TMM_KERNEL void __launch_bounds__(128 + 2 * TMM__HALF_WGMMA_ROWS, 1)
    tmm__gemm_half_wgmma(const TMM__GRID_CONSTANT tmm__half_map map_A,
                         const TMM__GRID_CONSTANT tmm__half_map map_B,
                         const TMM__GRID_CONSTANT tmm__half_map map_C, TMM_OUT *__restrict__ C,
                         const TMM__GRID_CONSTANT tmm__half_job job)
{
#if TMM__WGMMA
    enum {
        ROWS = TMM__HALF_WGMMA_ROWS,
        PLAIN = ROWS == 192,
        COLS = TMM__HALF_WGMMA_COLS,
        STAGES = TMM__HALF_WGMMA_STAGES,
        FEWER = TMM__HALF_WGMMA_FEWER,
        STAGE = (ROWS + COLS) * 128
    };
    const bool by_k = TMM__HALF_WGMMA_BY_K(COLS);
    if (PLAIN && sizeof(TMM_OUT) > 2) return; /* of C in float it has no plan: tmm__xhalf_plain */
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES], sums;
    const unsigned base = (unsigned)__cvta_generic_to_shared(tmm__memory), skip = -base & 1023;
    const unsigned stages = base + skip;
    const unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
    const unsigned empties = (unsigned)__cvta_generic_to_shared(empty);
    const unsigned gathered = (unsigned)__cvta_generic_to_shared(&sums);
    /* What a tile's plans do not have takes no code. */
    const int down = job.down, beside = COLS == 256 ? 1 : job.beside, parts = PLAIN ? 1 : job.parts;
    const bool single = down * beside * parts == 1;
    /* What a warp gets of another part then lies in its boxes, which nothing else needs. */
    const bool direct = COLS == 128 && parts == 2;
    /* Warpgroups take turns at the stages of tiles of 64 rows: each has some of the k of all rows. */
    const bool turns = COLS == 128 && job.rows == 64;
    /* Arguments come to a multiprocessor by lines of 64 bytes: warps ask for them all at once. */
    tmm__half_touch((const char *)&job + min(threadIdx.x / 32 * 64, (unsigned)sizeof job - 4));
    unsigned rank, first_item, count;
    TMM__CLUSTER_SPECIAL(rank, "cluster_ctarank");
    TMM__CLUSTER_SPECIAL(first_item, "clusterid.x");
    TMM__CLUSTER_SPECIAL(count, "nclusterid.x");
    const tmm__half_block block = tmm__half_block_of(rank, down, beside);
    const int first_of_part = block.part * down * beside;
    int stage = 0;
    unsigned parity = 0;
    tmm__let_next_begin();
    /* Another warp than the one that copies: both are at work at once. */
    if (threadIdx.x == 32) {
        tmm__half_prefetch(&map_A), tmm__half_prefetch(&map_B);
        for (int n = 0; n < STAGES; n++) {
            tmm__barrier_init(fulls + 8 * n, 1);
            tmm__barrier_init(empties + 8 * n, (turns ? 4 : ROWS / 16) * (down + beside - 1));
        }
        if (parts > 1) tmm__barrier_init(gathered, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        if (job.boxed_C) tmm__half_prefetch(&map_C);
    }
    __syncwarp();
    /* While blocks meet each finds its tile. */
    if (!single) TMM__CLUSTER_ARRIVES();
    tmm__half_item at = tmm__half_find(&job, first_item, &block);
    if (parts > 1 && threadIdx.x == 32)
        tmm__barrier_expect(gathered, tmm__half_got(&job, block.part, ROWS / 16, COLS));
    __syncwarp();
    if (single)
        __syncthreads();
    else
        TMM__CLUSTER_WAITS();
    if (threadIdx.x < 128) {
        TMM__HALF_GIVE_REGISTERS(COLS);
        const int width = FEWER == COLS ? (int)COLS : job.width;
        const int bytes = (job.turned_B || FEWER == COLS ? (int)STAGE : (ROWS + width) * 128) -
                          (turns ? 64 * 128 : 0);
        const int mine = down == 1 ? 2 : 1, first = down == 1 ? 0 : block.row; /* halves of B */
        /* Blocks that get its parts of A and B, a bit each. */
        const int to_row = beside == 1 ? 1 : (1 << down | 1) << (first_of_part + block.row);
        const int to_col = down == 1 ? 1 : 3 << (first_of_part + block.col * down);
        if (threadIdx.x < 32 && tmm__elected()) {
            for (int item = first_item; item < job.items; item += count) {
                if (item >= (int)count) at = tmm__half_find(&job, item, &block);
                const int zA = at.product * job.next_A, zB = at.product * job.next_B;
                for (int step = 0; step < at.steps; step++) {
                    const unsigned to = stages + stage * STAGE, barrier = fulls + 8 * stage;
                    const int k = (at.first + step) * 64;
                    tmm__barrier_wait(empties + 8 * stage,
                                      parity ^ 1); /* at once, the first time */
                    tmm__barrier_expect(barrier, bytes);
                    /* Nothing of memory is read or written before: here all else is ready. */
                    if (step == 0) tmm__wait_for_previous();
                    if (job.turned_A) {
                        const int begin = beside == 1 ? 0 : block.col * 32; /* of its k */
                        for (int i = 0; i < ROWS / 64; i++)
                            if (i == 0 || !turns)
                                tmm__half_box(to + i * 8192 + begin * 128, &map_A, at.row + i * 64,
                                              k + begin, zA, barrier, to_row);
                    } else {
                        const int begin = beside == 1 ? 0 : block.col * (ROWS / 2);
                        tmm__half_box(to + begin * 128, &map_A, k, at.row + begin, zA, barrier,
                                      to_row);
                    }
                    for (int half = first; half < first + mine; half++) {
                        const unsigned toB = to + ROWS * 128 + half * (COLS * 64);
                        const int col = at.col + half * (COLS / 2);
                        for (int i = 0; by_k && job.turned_B && i < COLS / 64; i++)
                            tmm__half_box(to + ROWS * 128 + i * 8192 + half * 4096, &map_B,
                                          at.col + i * 64, k + half * 32, zB, barrier, to_col);
                        for (int i = 0; !by_k && job.turned_B && i < COLS / 128; i++)
                            tmm__half_box(toB + i * 8192, &map_B, col + i * 64, k, zB, barrier,
                                          to_col);
                        if (!job.turned_B)
                            tmm__half_box(to + ROWS * 128 + half * (width * 64), &map_B, k,
                                          at.col + half * (width / 2), zB, barrier, to_col);
                    }
                    if (++stage == STAGES) stage = 0, parity ^= 1;
                }
            }
            /* No block leaves while others may arrive there. */
            for (int n = 0; n < STAGES && down + beside > 2; n++) {
                tmm__barrier_wait(empties + 8 * stage, parity ^ 1);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
        __syncwarp();
        if (parts > 1 && !direct) {
            TMM__CLUSTER_ARRIVES();
            TMM__CLUSTER_WAITS();
        }
    } else {
        TMM__HALF_TAKE_REGISTERS(ROWS, COLS);
        const int warp = threadIdx.x / 32 - 4, group = warp / 4;
        const int own = STAGES * STAGE + warp * TMM__HALF_WGMMA_STORE(ROWS);
        const bool ahead = job.items > (int)count;
        const int lane = threadIdx.x % 32;
        const int writer = lane < down ? first_of_part + block.col * down + lane
                           : lane < down + beside - 1
                               ? first_of_part + (1 - block.col) * down + block.row
                               : -1;
        for (int item = first_item; item < job.items; item += count) {
            if (item >= (int)count) at = tmm__half_find(&job, item, &block);
            if (parts > 1 && tmm__half_own(&job, block.part, warp, ROWS / 16, COLS) == 1)
                at.col += COLS / 2;
            if (turns) at.col += group * (COLS / 2), at.row -= group * 64;
            tmm__wait_for_previous();
            if (!PLAIN && job.beta != 0 && at.part < 0)
                tmm__xhalf_ask(C + at.product * job.batchC, job.ldc, &job, at.row + warp * 16,
                               at.col, COLS);
#ifdef TMM_WITH_EPILOGUE
            if (!PLAIN && job.after.active && job.after.D != NULL && at.part < 0)
                tmm__xhalf_ask((const TMM_OUT *)job.after.D +
                                   (job.after.product + at.product) * job.after.strideD,
                               job.after.ldd, &job, at.row + warp * 16, at.col, COLS);
#endif
            tmm__xhalf_biases biases;
            if (!PLAIN) tmm__xhalf_load_biases(&biases, &job, &at, warp, COLS);
            float sum[COLS / 2];
#pragma unroll
            for (int i = 0; i < COLS / 2; i++) sum[i] = 0;
            /* An instruction has a constant number of columns, so the loop stands there for each. */
            if (FEWER == COLS || (!PLAIN && job.width == COLS))
                TMM__HALF_SUM(COLS);
            else
                TMM__HALF_SUM(FEWER);
            if (parts > 1 && !direct) {
                TMM__CLUSTER_ARRIVES();
                TMM__CLUSTER_WAITS(); /* then stages are free for sums */
            }
            if (parts > 1) {
                if (!tmm__half_gather(sum, &job, &block, warp,
                                      stages + (direct ? STAGES * STAGE : 0), gathered, ROWS / 16,
                                      COLS))
                    continue;
            } else if (turns) {
                tmm__half_exchange(sum, stages + STAGES * STAGE, warp, COLS);
            }
            const int way = tmm__xhalf_by_boxes(&job, &at, ROWS, COLS);
            int begin = 0; /* of the columns that threads store */
            if (way == TMM__HALF_MORE) {
                tmm__xhalf_more_boxes(&map_C, &job, C, stages + own, sum, &at, warp, &biases, COLS);
                begin = TMM__HALF_WHOLE(&job, COLS);
            } else if (way == TMM__HALF_BY_BOXES) {
                tmm__xhalf_store_boxes(&map_C, &job, stages + own, sum, at.row + warp * 16, &at,
                                       COLS, PLAIN);
                begin = COLS;
            }
#ifdef TMM_WITH_SYRK
            if (!PLAIN && way == TMM__HALF_DIAGONAL) {
                tmm__xhalf_diagonal(&job, C, stages + own, sum, &at, warp, COLS);
                begin = COLS;
            }
#endif
            if (!PLAIN && way != TMM__HALF_BY_COLS && begin < TMM__HALF_STORED(&job, COLS)) {
                if (tmm__elected()) TMM__HALF_BOXES_WAIT(0);
                tmm__xhalf_store(&job, C, (float *)(tmm__memory + skip + own), sum, &at, warp,
                                 begin, COLS);
            }
            if (TMM__HALF_CAN_TURN(ROWS, COLS))
                tmm__xhalf_store_cols(&job, C, stages + own, sum, &at, warp, COLS, PLAIN);
        }
        if (tmm__elected()) TMM__HALF_BOXES_WAIT(0);
    }
#else
    (void)map_A, (void)map_B, (void)map_C, (void)C, (void)job;
#endif
}
#endif
