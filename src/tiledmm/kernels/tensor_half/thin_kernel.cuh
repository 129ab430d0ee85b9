/* src/tiledmm/kernels/tensor_half/thin_kernel.cuh. Elements of 16 bits by wgmma where C is thin or small.
   Uses: kernels/common/, thin.cuh, wgmma.cuh, once/. Used by: thin_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
#if TMM__WGMMA
/* All steps of a block, into the sums of a warpgroup: 64 lines of the large operand, `cols` of the
   thin one. Stages are given back at once. */
TMM__DEVICE void tmm__xhalf_thin_sum(float *c, const tmm__half_thin_job *job, unsigned base,
                                     unsigned fulls, tmm__half_thin_place *here, const int cols,
                                     const int turned_large, const int turned_thin)
{
    const int lane = threadIdx.x % 32, group = threadIdx.x / 128;
#pragma unroll
    for (int i = 0; i < cols / 2; i++) c[i] = 0;
#pragma unroll 1
    for (int step = 0; step < here->steps; step++) {
        tmm__half_thin_wait(fulls, here, 0);
        /* What threads have stored. It waits for all copies of a warp: not those that copy ahead. */
        if (job->full > 1) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        TMM__WGMMA_BEGIN();
        tmm__xhalf_step(c, base + here->stage * job->stage, group, 128, cols, turned_large,
                        turned_thin);
        TMM__WGMMA_COMMIT();
        TMM__WGMMA_WAIT(0);
        if (lane == 0)
            tmm__barrier_arrive_at(fulls + 8 * ((int)TMM__HALF_THIN_STAGES + here->stage),
                                   here->rank);
        tmm__half_thin_next(job, here);
    }
#pragma unroll
    for (int i = 0; i < cols / 2; i++) asm volatile("" : "+f"(c[i])::"memory");
}

/* Four sums of row r of a tile, from column 4 `four` on, to C or to partial sums. */
TMM__DEVICE void tmm__xhalf_thin_store4(const tmm__half_thin_job *job,
                                        const tmm__half_thin_place *here, TMM_OUT *c, int r,
                                        int four, const TMM_SUM *sum)
{
    const long long row = (job->large_is_A ? here->line0 : here->thin0) + r;
    const long long col = (job->large_is_A ? here->thin0 : here->line0) + four * 4;
    unsigned mask = tmm__column_mask(col, 4, 0, job->N);
#ifdef TMM_WITH_SYRK
    mask = tmm__triangle_mask(job->triangle, mask, row, col);
#endif
    if (job->partials != NULL) {
        const int slice = blockIdx.x / job->parts % job->slices + blockIdx.y * job->slices;
        float *to = job->partials + ((long long)slice * job->M + row) * job->N + col;
        for (int j = 0; j < 4; j++)
            if (mask >> j & 1) to[j] = sum[j];
        return;
    }
    TMM_OUT *to = c + row * job->ldc + col;
    const size_t off = (size_t)c | (size_t)job->ldc * sizeof(TMM_OUT);
    const bool vector = off % (4 * sizeof(TMM_OUT)) == 0 && mask == 15;
    const tmm__xsums4 old = tmm__xload4(to, vector, mask, (TMM_SCALAR)job->beta);
    tmm__xstore4(to, row, col, vector, mask, TMM__OF_JOB(job->alpha, *job, (int)blockIdx.y), old.v,
                 sum);
}

/* Its share of the tile, from the sums of all blocks of the cluster. */
TMM__DEVICE void tmm__xhalf_thin_store(const tmm__half_thin_job *job, const float *sums,
                                       const tmm__half_thin_place *here, TMM_OUT *C)
{
    const int high = job->large_is_A ? job->high : job->cols;
    const int wide = job->large_is_A ? job->cols : job->high;
    const int rows =
        (int)min(job->M - (job->large_is_A ? here->line0 : here->thin0), (long long)high);
    const int cols =
        (int)min(job->N - (job->large_is_A ? here->thin0 : here->line0), (long long)wide);
    const int pitch = job->large_is_A ? job->cols + 8 : 132;
    const int fours = (cols + 3) / 4, all = rows > 0 && cols > 0 ? rows * fours : 0;
    const int end = all * (here->rank + 1) / job->parts;
    TMM_OUT *c = C + (int)blockIdx.y * job->batchC;
    int n = all * here->rank / job->parts + threadIdx.x;
    int r = n / max(fours, 1), four = n - r * fours;
    const int down = 256 / max(fours, 1), over = 256 - down * fours;
#pragma unroll 1
    for (; n < end; n += 256) {
        const float *from = sums + r * pitch + four * 4;
        if (job->parts == 1) {
            tmm__xhalf_thin_store4(job, here, c, r, four, (const TMM_SUM *)from);
        } else {
            float4 x[TMM__HALF_THIN_CLUSTER];
#pragma unroll
            for (int i = 0; i < (int)TMM__HALF_THIN_CLUSTER; i++) {
                x[i] = make_float4(0, 0, 0, 0); /* no register from item to item */
                if (i < job->parts) x[i] = tmm__half_thin_load(from, i);
            }
            TMM_SUM sum[4] = {x[0].x, x[0].y, x[0].z, x[0].w};
#pragma unroll
            for (int i = 1; i < (int)TMM__HALF_THIN_CLUSTER; i++)
                if (i < job->parts)
                    sum[0] += x[i].x, sum[1] += x[i].y, sum[2] += x[i].z, sum[3] += x[i].w;
            tmm__xhalf_thin_store4(job, here, c, r, four, sum);
        }
        r += down, four += over;
        if (four >= fours) four -= fours, r++;
    }
}
#endif

/* KERNEL THIN HALF: one operand is large, the other thin. After this kernel read tmm__half_thin_copy_boxes, its copies
   (thin.cuh), and tmm__xhalf_thin_sum, its main loop; then what unaligned lines need.

   A tile is up to 128 lines of the large operand by 16, 64 or 128 of the thin one (`cols`):
       warps 0-3, 4-7   64 large lines each, wgmma of 64 x cols x 16
       warp 8           one thread copies by TMA: 288 threads
       warps 9-16       copy by cp.async what TMA does not read, lines that begin between multiples of 16 bytes:
                        544 threads
   A stage is 64 k, with the swizzle of 128 bytes; stages form a ring, with two barriers each:
       large   [line][64 k], K-major; or, MN-major (`turned`), two boxes of [64 k][64 lines]
       thin    the same, `cols` lines
   Unaligned lines that begin and end at multiples of 4 or 8 bytes go straight to the stage, and a block that has all
   of a tile's k goes on to other tiles: it copies one while it stores the one before. Others, of odd elements, go to
   slots of 16 bytes, and from there, moved by some elements, to the stage.

   Blocks of a cluster have the same tile, and parts of its k in order. Each adds up its share of the tile,
   in that order, from the shared memory of all:
       block 0   |k 0 ..   | sums |\   rows 0 .. r
       block 1   |   k 1 ..| sums |-X- rows r .. 2 r  --> C
   More parts are slices, which KERNEL SUM adds. No block waits for one of another cluster.

   Tiles have so many large lines that all clusters which fit at once have as much to read: 128 to 132 blocks
   read 50 MB in 18.4 us, 96 or 192 in 20.5. A step of 128 large lines by 16 thin ones is 262,144 operations and
   18 KB: 14 a byte; by 64, 43; by 128, 64. What bounds it: memory, if it holds the large operand; L2 for 128 thin
   lines, which bring as many bytes again; for little work launching and adding up. */
TMM_KERNEL void __launch_bounds__(576, 1) /* 96 registers, so that two blocks of 288 fit */
    tmm__xgemm_half_thin(const TMM__GRID_CONSTANT tmm__half_map map_large,
                         const TMM__GRID_CONSTANT tmm__half_map map_thin, TMM_OUT *__restrict__ C,
                         const tmm__half_thin_job job)
{
#if TMM__WGMMA
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    __shared__ __align__(8) unsigned long long barriers[2 * TMM__HALF_THIN_STAGES];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tmm__memory), skip = -base & 1023;
    const unsigned fulls = (unsigned)__cvta_generic_to_shared(barriers);
    const unsigned empties = fulls + 8 * (int)TMM__HALF_THIN_STAGES;
    const int warp = threadIdx.x / 32, rank = blockIdx.x % job.parts;
    const int both = 2 * job.turned_large + job.turned_thin;
    float *sums = (float *)(tmm__memory + skip + job.sums_at);
    int item = blockIdx.x / job.parts;
    tmm__half_thin_place here = {0, 0, rank, 0, 0, 0, 0};
    tmm__half_thin_tile(&job, item / job.slices, &here);
    tmm__half_thin_part(&job, item % job.slices, &here);
    if (threadIdx.x == 256 && job.plain[0].rows == 0) tmm__half_prefetch(&map_large);
    if (threadIdx.x == 256 && job.plain[1].rows == 0) tmm__half_prefetch(&map_thin);
    if (threadIdx.x == 0) {
        for (int n = 0; n < job.stages; n++) {
            tmm__barrier_init(fulls + 8 * n, job.full);
            tmm__barrier_init(empties + 8 * n, 8);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                         : "memory");
    }
    __syncthreads();
    tmm__let_next_begin();
    tmm__wait_for_previous();
    if (warp >= 9 && job.words == 0) { /* one tile; in the loop it would spill registers */
        tmm__half_thin_copy_odd(&job, tmm__memory + skip, fulls, &here);
        item = job.items;
    }
#pragma unroll 1
    for (; item < job.items; item += gridDim.x / job.parts) {
        tmm__half_thin_tile(&job, item / job.slices, &here);
        if (warp >= 9 && job.words == 8) {
            tmm__half_thin_copy_words(&job, base + skip, fulls, &here, 8);
        } else if (warp >= 9) {
            tmm__half_thin_copy_words(&job, base + skip, fulls, &here, 4);
        } else if (warp == 8) {
            if (job.expected > 0)
                tmm__half_thin_copy_boxes(&job, &map_large, &map_thin, base + skip, fulls, &here);
        } else {
            float sum[64];
#define TMM__SUM_OF(count, large, thin)                                                      \
    do {                                                                                     \
        if (job.cols == (count) && both == 2 * (large) + (thin)) {                           \
            tmm__xhalf_thin_sum(sum, &job, base + skip, fulls, &here, count, large, thin);   \
            asm volatile("bar.sync 1, 256;" ::: "memory"); /* nobody reads there any more */ \
            tmm__half_thin_keep(sums, sum, job.large_is_A, count);                           \
        }                                                                                    \
    } while (0)
            TMM__SUM_OF(16, 0, 0);
            TMM__SUM_OF(16, 0, 1);
            TMM__SUM_OF(16, 1, 0);
            TMM__SUM_OF(16, 1, 1);
            TMM__SUM_OF(64, 0, 0);
            TMM__SUM_OF(64, 0, 1);
            TMM__SUM_OF(64, 1, 0);
            TMM__SUM_OF(64, 1, 1);
            TMM__SUM_OF(128, 0, 0);
            TMM__SUM_OF(128, 0, 1);
            TMM__SUM_OF(128, 1, 0);
            TMM__SUM_OF(128, 1, 1);
#undef TMM__SUM_OF
            __syncwarp();
            if (job.parts > 1)
                TMM__CLUSTER_MEETS();
            else
                asm volatile("bar.sync 1, 256;" ::: "memory");
            tmm__xhalf_thin_store(&job, sums, &here, C);
        }
    }
    __syncwarp();
    if (job.parts > 1 && warp >= 8) TMM__CLUSTER_MEETS();
    if (job.parts > 1) TMM__CLUSTER_MEETS(); /* no block leaves while others may read there */
#else
    (void)map_large, (void)map_thin, (void)C, (void)job;
#endif
}
#endif
