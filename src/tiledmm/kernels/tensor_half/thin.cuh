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

/* What a lane copies of each 64 k of such an operand: one vector of up to four lines, and the last vector of
   another one, if that is not negative. */
typedef struct tmm__half_thin_lane {
    const char *from, *last_from; /* where these lines begin */
    long long step, next;         /* bytes to its next line, to the next 64 k */
    int line, lines, end;         /* its first line, from one to the next; end of its warp's */
    int last_line, chunk, chunks; /* the vector of a line, of so many and one more */
    int whole;                    /* steps that it copies without looking */
    unsigned low;                 /* the last bits of the first line's address */
} tmm__half_thin_lane;

/* A warp has `each` of `rows` lines. From `row` and `col` on. */
TMM__DEVICE tmm__half_thin_lane tmm__half_thin_lines(const tmm__half_thin_plain *x, int product,
                                                     int each, int row, int rows, int col,
                                                     int turned)
{
    const int lane = threadIdx.x % 32, first = (threadIdx.x / 32 - 9) * each;
    const long long ld = x->ld * 2, left = turned ? x->rows - row : x->cols - col;
    tmm__half_thin_lane of;
    of.chunks = 1 << x->chunks_log2, of.chunk = lane & (of.chunks - 1);
    of.lines = 32 >> x->chunks_log2, of.line = first + (lane >> x->chunks_log2);
    of.end = min(first + each, rows);
    const char *all = (const char *)(x->from + product * x->stride),
               *from = all + row * ld + col * 2;
    const char *behind = all + (x->rows - 1) * ld + x->cols * 2;
    of.low = (unsigned)(size_t)from + (unsigned)of.line * (unsigned)ld;
    of.from = from + of.line * ld, of.step = of.lines * ld;
    of.last_line = first + lane < of.end ? first + lane : -1;
    of.last_from = from + (first + lane) * ld, of.next = turned ? 64 * ld : 128;
    /* Where all 64 k are there, and the last vector is not behind the operand. */
    const long long room = behind - (from + (rows - 1) * ld) - (of.chunks + 1) * 16;
    of.whole = room < 0 ? 0 : (int)min(room / of.next + 1, left / 64);
    if (turned && of.chunk * 8 > x->cols - col + 7) of.line = of.end;
    if (turned && of.chunks * 8 > x->cols - col + 7) of.last_line = -1;
    return of;
}

/* The next 64 k, to a slot. */
TMM__DEVICE void tmm__half_thin_copy(unsigned char *slot, const tmm__half_thin_lane *of)
{
    const int line = (of->chunks + 1) * 16;
    unsigned char *to = slot + of->line * line + of->chunk * 16;
    const char *from = of->from;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = of->line + i * of->lines;
        if (at < of->end)
            tmm__copy_zfill(to, (const char *)((size_t)from & ~(size_t)15) + of->chunk * 16, 16,
                            16);
        from += of->step, to += of->lines * line;
    }
    if (of->last_line >= 0)
        tmm__copy_zfill(slot + of->last_line * line + line - 16,
                        (const char *)((size_t)of->last_from & ~(size_t)15) + line - 16, 16, 16);
}

/* From the slot to the stage. 64 k further on lines begin as far off 16 bytes. */
TMM__DEVICE void tmm__half_thin_align(unsigned to, const unsigned char *slot,
                                      const tmm__half_thin_lane *of, unsigned ld, int turned)
{
    const int c = of->chunk, line = (of->chunks + 1) * 16;
    to += turned ? c / 8 * 8192 : 0;
#pragma unroll
    for (int two = 0; two < 4; two += 2) {
        unsigned w[2][8];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = of->line + (two + i) * of->lines;
            const uint4 *vector = (const uint4 *)(slot + at * line + c * 16);
            uint4 low = make_uint4(0, 0, 0, 0), high = low;
            if (at < of->end) low = vector[0], high = vector[1];
            w[i][0] = low.x, w[i][1] = low.y, w[i][2] = low.z, w[i][3] = low.w;
            w[i][4] = high.x, w[i][5] = high.y, w[i][6] = high.z, w[i][7] = high.w;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = of->line + (two + i) * of->lines;
            const unsigned off = of->low + (unsigned)((two + i) * of->lines) * ld;
            unsigned four[6], y[5];
#pragma unroll
            for (int n = 0; n < 6; n++) four[n] = off & 8 ? w[i][n + 2] : w[i][n];
#pragma unroll
            for (int n = 0; n < 5; n++) y[n] = off & 4 ? four[n + 1] : four[n];
#pragma unroll
            for (int n = 0; n < 4; n++) y[n] = __funnelshift_r(y[n], y[n + 1], (off & 2) * 8);
            const unsigned place = to + at * 128 + ((c % 8 ^ at % 8) << 4);
            if (at < of->end)
                asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(place), "r"(y[0]),
                             "r"(y[1]), "r"(y[2]), "r"(y[3]));
        }
    }
}

/* What eight warps do for operands off 16 bytes, from step `first` on: copies to slots run SLOTS - 1 steps
   ahead; each warp moves its own lines on, so that no other one waits for it. */
TMM__DEVICE void tmm__half_thin_plainly(const tmm__half_thin_job *job, unsigned char *memory,
                                        unsigned fulls, int rank, int first, int steps, int line0,
                                        int thin0, int product)
{
    enum { SLOTS = TMM__HALF_THIN_SLOTS };
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    tmm__half_thin_lane of[2];
    int each[2], rows[2], begin[2], behind[2] = {0, 0};
    unsigned parity = 1;
    int stage = 0;
#pragma unroll
    for (int n = 0; n < 2; n++) { /* the large operand, the thin one */
        const tmm__half_thin_plain *x = &job->plain[n];
        const int turned = n == 0 ? job->turned_large : job->turned_thin;
        begin[n] = n == 0 ? line0 : thin0;
        /* Only lines that are there: copies of one line by all blocks for those that are not took three times as
           long. */
        rows[n] = turned ? 64 : min(n == 0 ? job->high : job->cols, x->rows - begin[n]);
        each[n] = (rows[n] + 7) / 8;
        if (x->rows == 0) continue;
        of[n] = tmm__half_thin_lines(x, product, each[n], turned ? first * 64 : begin[n], rows[n],
                                     turned ? begin[n] : first * 64, turned);
        if (n == 0) behind[1] = 128 * each[0] * (of[0].chunks + 1);
    }
#pragma unroll 1
    for (int step = 1 - SLOTS; step < steps; step++) {
        const int next = step + SLOTS - 1, k = (first + next) * 64;
        if (step >= 0) TMM__COPY_WAIT(SLOTS - 2);
        __syncwarp();
        unsigned char *slot = memory + job->slots_at + (next & (SLOTS - 1)) * job->slot;
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const tmm__half_thin_plain *x = &job->plain[n];
            const int turned = n == 0 ? job->turned_large : job->turned_thin;
            if (x->rows == 0 || next >= steps) continue;
            if (next < of[n].whole)
                tmm__half_thin_copy(slot + behind[n], &of[n]);
            else
                tmm__half_thin_fetch(slot + behind[n], x, product, each[n], turned ? k : begin[n],
                                     rows[n], turned ? begin[n] : k);
            of[n].from += of[n].next, of[n].last_from += of[n].next;
        }
        tmm__copy_commit();
        if (step < 0) continue;
        slot = memory + job->slots_at + (step & (SLOTS - 1)) * job->slot;
        const unsigned to = base + stage * job->stage;
        tmm__barrier_wait(fulls + 8 * ((int)TMM__HALF_THIN_STAGES + stage), parity);
#pragma unroll
        for (int n = 0; n < 2; n++)
            if (job->plain[n].rows > 0)
                tmm__half_thin_align(to + n * 16384, slot + behind[n], &of[n],
                                     (unsigned)job->plain[n].ld * 2,
                                     n == 0 ? job->turned_large : job->turned_thin);
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
        /* What threads have stored. It waits for all copies of a warp: not those that copy ahead. */
        if (job->full > 1) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
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
