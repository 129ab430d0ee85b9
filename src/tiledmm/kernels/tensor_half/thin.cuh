/* src/tiledmm/kernels/tensor_half/thin.cuh. Elements of 16 bits by wgmma and TMA where C is thin or small.
   Uses: kernels/common/, wgmma.cuh, once/. Used by: thin_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && !defined(TMM__HALF_ONCE)
/* Lines of the large operand in a tile at most; stages that there may be; blocks of a cluster; ways to
   divide a product. 1024 bytes align stages. */
enum {
    TMM__HALF_THIN_LINES = 128,
    TMM__HALF_THIN_STAGES = 12,
    TMM__HALF_THIN_CLUSTER = 8,
    TMM__HALF_THIN_WAYS = 6 * 11 * 2,
    TMM__HALF_THIN_SLOTS = 4 /* for lines off 16 bytes, as they come from memory */
};

/* An operand off 16 bytes, which TMA does not read: `rows` lines of memory of `cols`. Without rows: TMA. */
typedef struct tmm__half_thin_plain {
    const unsigned short *from;
    long long ld, stride;        /* stride: from product to product */
    int rows, cols, chunks_log2; /* a stage gets so many times 16 bytes of a line, from one more */
} tmm__half_thin_plain;

/* The product, and how it is divided. op(A) or op(B) is the large operand, the other the thin one. */
typedef struct tmm__half_thin_job {
    long long M, N, ldc, batchC;
    float alpha, beta;
#ifdef TMM_WITH_EPILOGUE
    tmm__after after;
#endif
    float *partials;               /* of slices, M x N each; NULL: of one slice C is stored */
    int large_is_A;                /* else it is op(B) */
    int turned_large, turned_thin; /* operands that do not lie along k */
    int next_large, next_thin;     /* 0: all products of the batch share it, else 1 */
    int high, expected;       /* large lines of a tile, a multiple of 8; bytes that a stage gets */
    int cols, across;         /* thin lines of a tile, tiles of the thin operand */
    int parts, slices, steps; /* blocks that share the k of a slice; slices; steps of 64 k */
    int once;                 /* each line of the large operand is read by one block alone */
    tmm__half_thin_plain plain[2]; /* the large operand, the thin one */
    int slot, slots_at, full; /* bytes of a slot, where slots begin; arrivals at a full stage */
    int stage, stages;        /* bytes of a stage */
} tmm__half_thin_job;

#if TMM__WGMMA
/* See tmm__half_box. `once`: no other block reads it, so that L2 need not keep it (PTX ISA 9.7,
   "createpolicy"). What others read is slower with any policy: 1024 took 11.5 us in place of 8.8. */
TMM__DEVICE void tmm__half_thin_box(unsigned to, const tmm__half_map *map, int x, int y, int z,
                                    unsigned barrier, int once)
{
    unsigned long long policy;
    if (!once) {
        tmm__half_box(to, map, x, y, z, barrier, 1);
        return;
    }
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "l"(policy)
                 : "memory");
}

/* The last bytes of an operand, two by two: compute-sanitizer takes all 16 of a cp.async for read, also those
   behind the operand that it fills with zeros. */
TMM__DEVICE void tmm__half_thin_last(unsigned char *to, const char *from, int valid)
{
    *(uint4 *)to = make_uint4(0, 0, 0, 0);
#pragma unroll 1
    for (int i = 0; i < valid; i += 2)
        *(unsigned short *)(to + i) = *(const unsigned short *)(from + i);
}

/* 64 k of an operand off 16 bytes: a warp's eighth of the lines, from memory to a slot, whole vectors of 16
   bytes with what lies before in the first one; nothing behind the line. From `row` and `col` on. */
TMM__DEVICE void tmm__half_thin_fetch(unsigned char *slot, const tmm__half_thin_plain *x,
                                      int product, int each, int row, int rows, int col)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 9, chunks = 1 << x->chunks_log2;
    const int end = min(rows, x->rows - row), next = 32 >> x->chunks_log2;
    const unsigned short *from = x->from + product * x->stride + col;
    const char *none = (const char *)((size_t)from & ~(size_t)15);
    const char *behind = (const char *)(from + (x->rows - 1) * x->ld + (x->cols - col));
    /* All vectors but the last one of a line, then those. */
#pragma unroll 1
    for (int more = 0; more < 2; more++) {
        const int at = more ? chunks : lane & (chunks - 1), step = more ? 32 : next;
        int line = more ? lane : lane >> x->chunks_log2;
        const unsigned short *begin = from + (long long)(row + warp * each + line) * x->ld;
        unsigned char *to = slot + ((warp * each + line) * (chunks + 1) + at) * 16;
#pragma unroll 2
        for (; line < each; line += step) {
            const char *vector = (const char *)((size_t)begin & ~(size_t)15) + at * 16;
            const long long left = (const char *)(begin + (x->cols - col)) - vector;
            const int valid = warp * each + line < end ? (int)max(min(left, 16ll), 0ll) : 0;
            if (valid % 16 != 0 && vector + 16 > behind)
                tmm__half_thin_last(to, vector, valid);
            else
                tmm__copy_zfill(to, valid > 0 ? vector : none, 16, valid);
            begin += step * x->ld, to += step * (chunks + 1) * 16;
        }
    }
}

/* From the slot to the stage: see tmm__half_thin_fetch. */
TMM__DEVICE void tmm__half_thin_align(unsigned to, const unsigned char *slot,
                                      const tmm__half_thin_plain *x, int product, int each, int row,
                                      int turned)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 9, chunks = 1 << x->chunks_log2;
    const unsigned short *from = x->from + product * x->stride;
#pragma unroll 2
    for (int n = lane; n < each << x->chunks_log2; n += 32) {
        const int line = warp * each + (n >> x->chunks_log2), c = n & (chunks - 1);
        const int off = (int)((size_t)(from + (row + line) * x->ld) % 16);
        const uint4 *vector = (const uint4 *)(slot + (line * (chunks + 1) + c) * 16);
        const uint4 low = vector[0], high = vector[1];
        const unsigned w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        unsigned four[6], y[5];
#pragma unroll
        for (int i = 0; i < 6; i++) four[i] = off & 8 ? w[i + 2] : w[i];
#pragma unroll
        for (int i = 0; i < 5; i++) y[i] = off & 4 ? four[i + 1] : four[i];
#pragma unroll
        for (int i = 0; i < 4; i++) y[i] = __funnelshift_r(y[i], y[i + 1], off & 2 ? 16 : 0);
        const unsigned place =
            to + (turned ? c / 8 * 8192 : 0) + line * 128 + ((c % 8 ^ line % 8) << 4);
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(place), "r"(y[0]), "r"(y[1]),
                     "r"(y[2]), "r"(y[3])
                     : "memory");
    }
}

/* What eight warps do for operands off 16 bytes, from step `first` on: copies to slots run SLOTS - 1 steps
   ahead; each warp moves its own lines on, so that no other one waits for it. */
TMM__DEVICE void tmm__half_thin_plainly(const tmm__half_thin_job *job, unsigned char *memory,
                                        unsigned fulls, int rank, int first, int steps, int line0,
                                        int thin0, int product)
{
    enum { SLOTS = TMM__HALF_THIN_SLOTS };
    const tmm__half_thin_plain *large = &job->plain[0], *thin = &job->plain[1];
    const int each_large = job->turned_large ? 8 : 16,
              each_thin = job->turned_thin ? 8 : job->cols / 8;
    const int behind = large->rows > 0 ? 128 * each_large * ((1 << large->chunks_log2) + 1) : 0;
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    unsigned parity = 1;
    int stage = 0;
    for (int step = 1 - SLOTS; step < steps; step++) {
        const int next = step + SLOTS - 1, k = (first + next) * 64;
        if (step >= 0) TMM__COPY_WAIT(SLOTS - 2);
        __syncwarp();
        if (next < steps) {
            unsigned char *slot = memory + job->slots_at + next % SLOTS * job->slot;
            if (large->rows > 0)
                tmm__half_thin_fetch(slot, large, product, each_large,
                                     job->turned_large ? k : line0,
                                     job->turned_large ? 64 : job->high,
                                     job->turned_large ? line0 : k);
            if (thin->rows > 0)
                tmm__half_thin_fetch(slot + behind, thin, product, each_thin,
                                     job->turned_thin ? k : thin0, 128,
                                     job->turned_thin ? thin0 : k);
        }
        tmm__copy_commit();
        if (step < 0) continue;
        const unsigned char *slot = memory + job->slots_at + step % SLOTS * job->slot;
        const unsigned to = base + stage * job->stage;
        const int now = (first + step) * 64;
        tmm__barrier_wait(fulls + 8 * ((int)TMM__HALF_THIN_STAGES + stage), parity);
        if (large->rows > 0)
            tmm__half_thin_align(to, slot, large, product, each_large,
                                 job->turned_large ? now : line0, job->turned_large);
        if (thin->rows > 0)
            tmm__half_thin_align(to + 16384, slot + behind, thin, product, each_thin,
                                 job->turned_thin ? now : thin0, job->turned_thin);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (threadIdx.x % 32 == 0) tmm__barrier_arrive_at(fulls + 8 * stage, rank);
        if (++stage == job->stages) stage = 0, parity ^= 1;
    }
}

/* Sums of a warpgroup to shared memory: where large lines are neighbours in C, [thin][large] with
   lines 132 apart, else [large][thin] with lines cols + 8 apart. Either way in different banks. */
TMM__DEVICE void tmm__half_thin_keep(float *sums, const float *c, int large_is_A, const int cols)
{
    const int lane = threadIdx.x % 32, line = threadIdx.x / 32 * 16 + lane / 4, two = lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < cols / 4; i++) { /* of 8 columns: rows 0 to 7, then 8 to 15 */
        const int l = line + i % 2 * 8, t = i / 2 * 8 + two;
        if (large_is_A)
            *(float2 *)(sums + l * (cols + 8) + t) = make_float2(c[2 * i], c[2 * i + 1]);
        else
            sums[t * 132 + l] = c[2 * i], sums[t * 132 + 132 + l] = c[2 * i + 1];
    }
}

/* Four sums of the block `rank` of a cluster: see tmm__map_shared. */
TMM__DEVICE float4 tmm__half_thin_load(const float *sums, int rank)
{
    float4 x;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "r"(tmm__map_shared(sums, rank))
                 : "memory");
    return x;
}
#endif
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
#if TMM__WGMMA
/* All steps of a block, into the sums of a warpgroup: 64 lines of the large operand, `cols` of the
   thin one. Stages are given back at once. */
TMM__DEVICE void tmm__xhalf_thin_sum(float *c, const tmm__half_thin_job *job, int steps,
                                     unsigned at, unsigned fulls, int rank, const int cols,
                                     const int turned_large, const int turned_thin)
{
    unsigned parity = 0;
    const unsigned first = at;
    const int lane = threadIdx.x % 32, group = threadIdx.x / 128;
    int stage = 0;
#pragma unroll
    for (int i = 0; i < cols / 2; i++) c[i] = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        tmm__barrier_wait(fulls + 8 * stage, parity);
        TMM__WGMMA_BEGIN();
        tmm__xhalf_step(c, at, group, 128, cols, turned_large, turned_thin);
        TMM__WGMMA_COMMIT();
        TMM__WGMMA_WAIT(0);
        if (lane == 0)
            tmm__barrier_arrive_at(fulls + 8 * ((int)TMM__HALF_THIN_STAGES + stage), rank);
        at += job->stage;
        if (++stage == job->stages) stage = 0, parity ^= 1, at = first;
    }
#pragma unroll
    for (int i = 0; i < cols / 2; i++) asm volatile("" : "+f"(c[i])::"memory");
}
#endif

/* KERNEL THIN HALF: up to 128 lines of the large operand by 16, 64 or 128 of the thin one, on tensor cores.
   Two warpgroups multiply, 64 large lines each; a thread of the ninth warp copies by TMA: 288 threads. A
   stage is 64 k:
       large   [line][64 k], or two boxes of [64 k][64 lines] if it does not lie along k
       thin    the same, `cols` lines
   with the swizzle of 128 bytes. TMA does not read lines off 16 bytes: eight more warps, 544 threads in all,
   copy those by cp.async to slots, and move them from there by some elements to the stage. KERNEL ALIGN would read and write all of them before.

   Blocks of a cluster have the same tile, and parts of its k in order. Each adds up its share of the tile,
   in that order, from the shared memory of all:
       block 0   |k 0 ..   | sums |\   rows 0 .. r
       block 1   |   k 1 ..| sums |-X- rows r .. 2 r  --> C
   More parts are slices, which KERNEL SUM adds. No block waits for one of another cluster.

   Tiles have so many large lines that all clusters which fit at once have as much to read: 128 to 132 blocks
   read 50 MB in 18.4 us, 96 or 192 in 20.5. Memory bounds it where the large operand is in memory; L2 for 128
   thin lines, where each brings as many bytes again; starting and adding up for little work. */
TMM_KERNEL void __launch_bounds__(576, 1) /* 112 registers, so that two blocks of 288 fit */
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
    const int rank = blockIdx.x % job.parts, item = blockIdx.x / job.parts;
    const int slice = item % job.slices, tile = item / job.slices;
    const int line0 = tile / job.across * job.high;
    const int thin0 = tile % job.across * job.cols, product = blockIdx.y;
    const long long part = slice * job.parts + rank, parts = job.slices * job.parts;
    const int first = (int)(job.steps * part / parts);
    const int steps = (int)(job.steps * (part + 1) / parts) - first;
    float *sums = (float *)(tmm__memory + skip);
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
    if (threadIdx.x >= 288) {
        tmm__half_thin_plainly(&job, tmm__memory + skip, fulls, rank, first, steps, line0, thin0,
                               product);
    } else if (threadIdx.x >= 256) {
        const int zL = product * job.next_large, zT = product * job.next_thin;
        unsigned to = base + skip, parity = 1;
        int stage = 0;
        const bool copies = threadIdx.x == 256 && job.expected > 0;
        for (int step = 0; copies && step < steps; step++) {
            const unsigned barrier = fulls + 8 * stage;
            const int k = (first + step) * 64;
            tmm__barrier_wait(empties + 8 * stage, parity); /* at once, the first time */
            tmm__barrier_expect(barrier, job.expected);
            if (job.plain[0].rows > 0) {
                /* not by TMA */
            } else if (job.turned_large) {
                tmm__half_thin_box(to, &map_large, line0, k, zL, barrier, job.once);
                if (job.high > 64)
                    tmm__half_thin_box(to + 8192, &map_large, line0 + 64, k, zL, barrier, job.once);
            } else {
                tmm__half_thin_box(to, &map_large, k, line0, zL, barrier, job.once);
            }
            if (job.plain[1].rows > 0) {
                /* not by TMA */
            } else if (job.turned_thin) {
                for (int i = 0; i < job.cols; i += 64)
                    tmm__half_box(to + 16384 + i * 128, &map_thin, thin0 + i, k, zT, barrier, 1);
            } else {
                tmm__half_box(to + 16384, &map_thin, k, thin0, zT, barrier, 1);
            }
            to += job.stage;
            if (++stage == job.stages) stage = 0, parity ^= 1, to = base + skip;
        }
        __syncwarp();
    } else {
        const int both = 2 * job.turned_large + job.turned_thin;
        float sum[64];
#define TMM__SUM_OF(count, large, thin)                                                          \
    do {                                                                                         \
        if (job.cols == (count) && both == 2 * (large) + (thin)) {                               \
            tmm__xhalf_thin_sum(sum, &job, steps, base + skip, fulls, rank, count, large, thin); \
            asm volatile("bar.sync 1, 256;" ::: "memory"); /* nobody reads stages any more */    \
            tmm__half_thin_keep(sums, sum, job.large_is_A, count);                               \
        }                                                                                        \
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
    }
    __syncwarp();
    TMM__CLUSTER_MEETS();
    if (threadIdx.x < 256) {
        const int row0 = job.large_is_A ? line0 : thin0, col0 = job.large_is_A ? thin0 : line0;
        const int pitch = job.large_is_A ? job.cols + 8 : 132;
        const int rows = (int)min(job.M - row0, (long long)(job.large_is_A ? job.high : job.cols));
        const int cols = (int)min(job.N - col0, (long long)(job.large_is_A ? job.cols : job.high));
        const int fours = (cols + 3) / 4, all = rows > 0 && cols > 0 ? rows * fours : 0;
        const int end = all * (rank + 1) / job.parts;
        TMM_OUT *c = C + product * job.batchC;
        float *partials = job.partials;
        if (partials != NULL)
            partials += ((long long)product * job.slices + slice) * (job.M * job.N);
        const bool aligned =
            ((size_t)c | (size_t)job.ldc * sizeof(TMM_OUT)) % (4 * sizeof(TMM_OUT)) == 0;
#pragma unroll 1
        for (int n = all * rank / job.parts + threadIdx.x; n < end; n += 256) {
            const int r = n / fours, four = (n - r * fours) * 4;
            float4 x[TMM__HALF_THIN_CLUSTER];
#pragma unroll
            for (int i = 0; i < (int)TMM__HALF_THIN_CLUSTER; i++)
                if (i < job.parts) x[i] = tmm__half_thin_load(sums + r * pitch + four, i);
            TMM_SUM sum[4] = {x[0].x, x[0].y, x[0].z, x[0].w};
#pragma unroll
            for (int i = 1; i < (int)TMM__HALF_THIN_CLUSTER; i++)
                if (i < job.parts)
                    sum[0] += x[i].x, sum[1] += x[i].y, sum[2] += x[i].z, sum[3] += x[i].w;
            const long long row = row0 + r, col = col0 + four;
            const unsigned mask = tmm__column_mask(col, 4, 0, job.N);
            if (partials != NULL) {
                float *to = partials + row * job.N + col;
                for (int j = 0; j < 4; j++)
                    if (mask >> j & 1) to[j] = sum[j];
                continue;
            }
            TMM_OUT *to = c + row * job.ldc + col;
            const bool vector = aligned && mask == 15;
            const tmm__xsums4 old = tmm__xload4(to, vector, mask, (TMM_SCALAR)job.beta);
            tmm__xstore4(to, row, col, vector, mask, TMM__OF_JOB(job.alpha, job, product), old.v,
                         sum);
        }
    }
    __syncwarp();
    TMM__CLUSTER_MEETS(); /* no block leaves while others may read there */
#else
    (void)map_large, (void)map_thin, (void)C, (void)job;
#endif
}
#endif
