/* src/tiledmm/kernels/tensor_float/thin_kernel.cuh. Floats as BF16x6 where one operand is thin: the kernels.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: thin_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* KERNEL THIN FLOAT, split: planes of the thin operand, marks of its bad lines, scales of the large
   one. A thread has 16 k of a line; eight neighbours have eight lines. Products are along y. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_thin_split(const tmm__thin_job job)
{
#if TMM__BODIES && (TMM__ASYNC || !defined(__CUDA_ARCH__))
    const tmm__lines from = job.thin;
    const int halves = 2 * job.steps, cols = job.cols, K = (int)job.c.K;
    const long long self = blockIdx.x * 256ll + threadIdx.x;
    tmm__wait_for_previous();
    tmm__let_next_begin(); /* then what was before this launch is complete for the next one, too */
    if (self == 0 && blockIdx.y == 0) job.marks[0] = 0; /* a graph has the same ticket again */
    for (long long i = blockIdx.y * (gridDim.x * 256ll) + self; i < job.scales;
         i += gridDim.y * (gridDim.x * 256ll))
        job.large_scales[i] = 1;
    int group = (int)(self / 8 / halves), half = (int)(self / 8 % halves);
    int line = group * 8 + (int)self % 8, block = line / cols, in = line % cols;
    if (block >= job.blocks) return;
    float x[16];
    const bool vectors = tmm__vector_loads(&from);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int k = half * 16 + i * 8;
        tmm__load8(x + 8 * i,
                   from.X + blockIdx.y * from.product_stride + line * from.line_stride +
                       k * from.k_stride,
                   from.k_stride, line < from.lines ? K - k : 0, vectors);
    }
    unsigned words[3][2][4], most = 0, inexact = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned terms[3];
        int k = i % 4 * 4 + i / 4 * 2;
        inexact |= tmm__bf16_triple(x[k], x[k + 1], terms);
        most = tmm__bf16_most(most, terms[0]);
#pragma unroll
        for (int t = 0; t < 3; t++) words[t][i / 4][i % 4] = terms[t];
    }
    unsigned char *to = job.planes + blockIdx.y * job.next_planes +
                        ((long long)block * halves + half) * (cols * 96) + in / 8 * 256 +
                        in % 8 * 16;
#pragma unroll
    for (int i = 0; i < 6; i++) {
        const unsigned *w = words[i / 2][i % 2];
        *(uint4 *)(to + i / 2 * (cols * 32) + i % 2 * 128) = make_uint4(w[0], w[1], w[2], w[3]);
    }
    if (tmm__thin_is_bad(&job, most, inexact))
        job.marks[1 + blockIdx.y * job.next_thin + line] = job.ticket;
#else
    (void)job;
#endif
}

/* KERNEL THIN FLOAT, sum: a block has 128 lines of the large operand, and 8 of the thin one or one.
   Then 8 warps share the partial tiles of each element. Latency bounds it: partial tiles are in L2. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_thin_sum(const tmm__thin_job job)
{
#if TMM__BODIES && (TMM__ASYNC || !defined(__CUDA_ARCH__))
    __shared__ __align__(16) unsigned char memory[TMM__RECHECK_BYTES];
    enum { PITCH = TMM__THIN_LINES + 4 };
    float *sums = (float *)memory;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, cols = job.cols;
    const bool apart = job.groups > 1;
    const int rows = apart ? 1 : 8, pieces = cols / rows; /* of the thin operand in a block */
    const int tile = (int)blockIdx.x / pieces % job.tiles, in = (int)blockIdx.x % pieces * rows;
    const long long product = (int)blockIdx.x / pieces / job.tiles;
    const int line0 = tile / job.blocks * TMM__THIN_LINES, thin0 = tile % job.blocks * cols + in;
    const int lines = (int)job.large.lines, thins = (int)job.thin.lines;
    const long long first = ((long long)tile * job.steps + 1) * job.shares - 1;
    const long long last = ((tile + 1ll) * job.steps) * job.shares - 1;
    const int begin = (int)(first / job.units), count = (int)(last / job.units) - begin + 1;
    const int share = apart ? (count + 7) / 8 : count, from = apart ? warp * share : 0;
    const int end = min(from + share, count), row = apart ? 0 : warp;
    const size_t step = (size_t)cols * TMM__THIN_LINES;
    const float *part = job.partials + product * job.next_partials +
                        ((size_t)tile + begin + from) * step + (in + row) * TMM__THIN_LINES +
                        lane * 4;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool any = *(volatile unsigned long long *)job.marks == job.ticket;
    float4 sum = make_float4(0, 0, 0, 0);
    if (thin0 + row < thins) {
#pragma unroll 4
        for (int i = from; i < end; i++) {
            float4 x = __ldcg((const float4 *)part);
            sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
            part += step;
        }
    }
    *(float4 *)(sums + warp * PITCH + lane * 4) = sum;
    __syncthreads();
    if (apart && warp == 0) {
#pragma unroll
        for (int i = 1; i < 8; i++) {
            float4 x = *(const float4 *)(sums + i * PITCH + lane * 4);
            sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
        }
        *(float4 *)(sums + lane * 4) = sum;
    }
    if (apart) __syncthreads();
        /* Neighbours in a row of C by neighbouring threads. */
#pragma unroll 1
    for (int i = thread; i < rows * TMM__THIN_LINES; i += 256) {
        int l = job.turned ? i / rows : i % TMM__THIN_LINES, line = line0 + l;
        int t = job.turned ? i % rows : i / TMM__THIN_LINES, thin = thin0 + t;
        bool good = line < lines && thin < thins;
        if (any && good)
            good = job.large_scales[product * job.next_large + line] *
                       job.thin_scales[product * job.next_thin + thin] !=
                   0;
        int r = job.turned ? line : thin, c = job.turned ? thin : line;
        tmm__xstore_masked(job.c.C + product * job.c.batchC + r * job.c.ldc + c, r, c, 1, good,
                           TMM__OF_JOB(job.c.alpha, job.c, product), job.c.beta,
                           &sums[t * PITCH + l]);
    }
    __syncthreads();
    if (any) tmm__xrecheck(&job.c, sums, thread, false, true, false, false, 64, 64, 1, 0);
#else
    (void)job;
#endif
}
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__THIN_LIST(TMM__IN_PASS) 0)
enum {
    tmm__thin_cols = (TMM__THIN_LIST(TMM__VALUE_1) 0),
    tmm__this_thin_bytes =
        (TMM__THIN_LIST(TMM__VALUE_2) 0) * (TMM__THIN_STAGE + 192 * tmm__thin_cols + 16)
};
static_assert(tmm__thin_cols == 32 || tmm__thin_cols == 64 || tmm__thin_cols == 96 ||
                  tmm__thin_cols == 128,
              "TMM__THIN_LIST: a tile has 32, 64, 96 or 128 lines of the thin operand: "
              "tmm__wgmma_thin multiplies by these");
static_assert((TMM__THIN_LIST(TMM__IN_PASS) 0) == 1,
              "TMM__THIN_LIST: each instance needs a pass of its own");
static_assert((TMM__THIN_LIST(TMM__VALUE_2) 0) >= 2, "TMM__THIN_LIST: stages must be 2 at least");
static_assert(tmm__this_thin_bytes <= 227 * 1024,
              "TMM__THIN_LIST: stages must fit into the 227 KB that a block has on sm_90a");

/* KERNEL THIN FLOAT, multiply: 128 lines of the large operand by `cols` of the thin one. 384 threads:
   two warpgroups multiply, 64 lines each; the third one copies both operands, STAGES steps ahead, also
   into the next tile. Terms of the next step are made while tensor cores multiply:
       copies        | s5 | s0 | s1 | s2 |        16 KB of the large operand a step, and planes
       registers     | terms of 1 | terms of 2 |
       tensor cores  | step 0     | step 1     |        12 wgmma
   Block b has units b T / G to (b + 1) T / G of the T, for G blocks of a product; products are along
   y. Its partial tile of tile t has place t + b, for each next partial tile has another tile, or
   another block, or both. No block waits for another one.
   By mma.sync, from sm_80 on, nothing overlaps within a warp. So the warpgroups take turns: one makes terms
   while the other one multiplies. All threads meet once a step, four stages go round, and copies are two
   steps ahead. A step of 32, 64 or 96 columns takes an H200 1450, 2200 or 2990 clocks of 1.98 GHz.

   A step, 128 x cols x 32 six times, takes tensor cores 12 clocks a column, 768 for 64. It brings
   16 KB from memory, of which a multiprocessor gets 24 KB in a microsecond on an H100, 34 on an H200:
   1180 and 900 clocks. A warp that multiplies issues some 250 instructions, two to a scheduler, one that
   copies 110. Memory bounds it up to 32 columns, then tensor cores, whose power sets the clock. */
TMM_KERNEL void __launch_bounds__(384, 1) tmm__gemm_float_thin(const tmm__thin_job job)
{
#if TMM__BODIES &&                            \
    (TMM__WGMMA || !defined(__CUDA_ARCH__) || \
     (TMM__ASYNC && (TMM__THIN_LIST(TMM__VALUE_1) 0) <= TMM__THIN_MMA_MOST(__CUDA_ARCH__ / 10)))
    enum { COLS = tmm__thin_cols, STAGE = 192 * COLS };
    enum { STAGES = TMM__WGMMA ? (TMM__THIN_LIST(TMM__VALUE_2) 0) : TMM__THIN_MMA_STAGES };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    /* Barriers come last: copies to addresses off 32 bytes read sectors twice. */
    unsigned char *planes = tmm__memory + STAGES * (int)TMM__THIN_STAGE;
    unsigned long long *full = (unsigned long long *)(planes + (int)STAGES * STAGE);
    const int thread = threadIdx.x, lane = thread % 32, steps = job.steps;
    /* By 32 bits, as in tmm__xrecheck_find: the operand would have 16 KB for each unit. */
    const unsigned each = (unsigned)job.units / job.shares, rest = (unsigned)job.units % job.shares;
    const unsigned begin = blockIdx.x * each + blockIdx.x * rest / job.shares;
    int count = (int)((blockIdx.x + 1) * each + (blockIdx.x + 1) * rest / job.shares - begin);
    const int tile = (int)(begin / steps), step = (int)(begin % steps);
    const unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
#if TMM__WGMMA
    const unsigned empties = fulls + 8 * STAGES;
    if (thread == 0) {
        for (int i = 0; i < STAGES; i++) {
            tmm__barrier_init(fulls + 8 * i, 129); /* 128 threads, and the bytes of planes */
            tmm__barrier_init(empties + 8 * i, 256);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
#endif
    tmm__let_next_begin();
    /* Each thread has 168 registers. What four warps give away is what eight take. */
    if (thread >= 256) {
        const int self = thread - 256;
        float *stages = (float *)tmm__memory;
        unsigned long long policy = 0;
        tmm__thin_walk walk = {NULL, step, tile % job.blocks, tile / job.blocks, 0, 0};
        int stage = 0;
        const unsigned char *first = job.planes + blockIdx.y * job.next_planes;
        const unsigned char *from = first + ((long long)walk.block * steps + step) * STAGE;
#if TMM__WGMMA
        unsigned parity = 0;
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
        tmm__thin_begin(&job, &walk, self);
#pragma unroll 1
        for (int i = 0; i < count; i++) {
#if TMM__WGMMA
            if (i >= STAGES) tmm__barrier_wait(empties + 8 * stage, parity ^ 1);
#else
            /* Who meets for stage i - 2 has read stage i - 4, whose place is that of i. */
            if (i >= TMM__THIN_AHEAD) {
                TMM__COPY_WAIT(TMM__THIN_AHEAD - 1);
                tmm__thin_wait(fulls, 0);
            }
#endif
            tmm__thin_copy(&job, &walk, stages + stage * (TMM__THIN_STAGE / 4), self, policy);
            /* What else there is to read comes from the launch before. */
            if (i == 0 && (self < 32 || !TMM__WGMMA)) tmm__wait_for_previous();
            if (i == 0 && self < 32) {
                const long long line = blockIdx.y * job.next_thin;
                const bool own = blockIdx.x == 0 && (blockIdx.y == 0 || line > 0);
                for (int j = lane; own && j < job.thin.lines; j += 32) {
                    const bool bad = job.marks[1 + line + j] == job.ticket;
                    job.thin_scales[line + j] = bad ? 0 : 1;
                    if (bad) job.marks[1 + line + j] = 0, job.marks[0] = job.ticket;
                }
            }
#if TMM__WGMMA
            tmm__barrier_arrive_copied(fulls + 8 * stage);
            if (self == 0) {
                tmm__barrier_expect(fulls + 8 * stage, STAGE);
                tmm__copy_bulk((unsigned)__cvta_generic_to_shared(planes + stage * STAGE), from,
                               STAGE, fulls + 8 * stage);
            }
            if (stage == STAGES - 1) parity ^= 1;
#else
            for (int j = self * 16; j < STAGE; j += 128 * 16)
                tmm__copy_zfill(planes + stage * STAGE + j, from + j, 16, 16);
            tmm__copy_commit();
#endif
            if (++stage == STAGES) stage = 0;
            from += STAGE;
            if (walk.step == 0 && walk.block == 0) from = first;
        }
#if !TMM__WGMMA
        TMM__COPY_WAIT(0);
        for (int i = max(count - TMM__THIN_AHEAD, 0); i < count; i++) tmm__thin_wait(fulls, 0);
#endif
        return;
    }
#if TMM__WGMMA
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
#endif
    float sum[COLS / 2];
    unsigned terms[2][2][3][4];
    tmm__thin_side side = {(const float *)tmm__memory + tmm__thin_place(&job, thread),
                           planes,
                           fulls,
                           0,
                           0,
                           tmm__thin_shifts(&job),
                           tile / job.blocks * TMM__THIN_LINES + thread / 32 * 16 + lane / 4 * 2,
                           {0, 0},
                           {0, 0}};
    float *partial = job.partials + blockIdx.y * job.next_partials +
                     ((size_t)tile + blockIdx.x) * (COLS * (int)TMM__THIN_LINES) +
                     thread / 32 * 16 + lane / 4 * 2 + lane % 4 * (2 * TMM__THIN_LINES);
    int block = tile % job.blocks, left = min(steps - step, count); /* steps of this tile */
#pragma unroll
    for (int i = 0; i < COLS / 2; i++) sum[i] = 0;
    tmm__wait_for_previous();
    bool ready = false; /* terms of the tile's first step */
#pragma unroll 1
    while (left > 0) {
#if TMM__WGMMA
        if (!ready) tmm__thin_terms(&job, &side, terms[0]);
#pragma unroll 1
        for (int i = 2; i <= left; i += 2) {
            /* Always true, but a branch: without one ptxas moves all terms behind the wait for wgmma. */
            const bool more = COLS < 96 || i <= count;
            tmm__thin_step(&job, &side, sum, terms[0], terms[1], more, false, COLS, STAGES);
            tmm__thin_step(&job, &side, sum, terms[1], terms[0], i < count, i == left, COLS,
                           STAGES);
        }
        ready = left % 2 == 0;
        if (!ready) tmm__thin_step(&job, &side, sum, terms[0], terms[1], false, true, COLS, STAGES);
#else /* The second warpgroup meets for the next stage before it multiplies. */
#pragma unroll 1
        for (int i = 1; i <= left; i++) {
            if (thread < 128 || !ready) tmm__thin_wait(fulls, 0);
            ready = true;
            tmm__thin_split(side.mine + side.stage * (TMM__THIN_STAGE / 4), job.along_k,
                            side.shifts, terms[0], side.most, side.inexact);
            if (thread >= 128 && i < count) tmm__thin_wait(fulls, 0);
            tmm__thin_step(&job, &side, sum, terms[0], terms[0], false, i == left, COLS, STAGES);
        }
#endif
#pragma unroll
        for (int j = 0; j < COLS / 4; j++) {
            int n = j / 2 * 4 + j % 2;
            *(float2 *)(partial + (j / 2 * 8 + j % 2) * TMM__THIN_LINES) =
                make_float2(sum[n], sum[n + 2]);
            sum[n] = sum[n + 2] = 0;
        }
        partial += COLS * (int)TMM__THIN_LINES;
        count -= left, left = min(steps, count);
        if (++block == job.blocks) block = 0, side.line += TMM__THIN_LINES;
    }
#else
    (void)job;
#endif
}
#endif
