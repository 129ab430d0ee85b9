/* src/tiledmm/kernels/tensor_half/thin.cuh. Copies of KERNEL THIN HALF: by TMA, or without it where it cannot.
   Uses: kernels/common/tensor_ptx.cuh, mma_sync.cuh, wgmma.cuh, once/.
   Used by: thin_kernel.cuh, thin_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && !defined(TMM__HALF_ONCE)
/* Lines of the large operand in a tile at most; stages that there may be; blocks of a cluster; ways to
   divide a product. 1024 bytes align stages. */
enum {
    TMM__HALF_THIN_LINES = 128,
    TMM__HALF_THIN_STAGES = 12,
    TMM__HALF_THIN_CLUSTER = 8,
    TMM__HALF_THIN_WAYS = 6 * 11 * 2,
    TMM__HALF_THIN_SLOTS = 4 /* for unaligned lines, as they come from memory */
};

/* An operand whose lines do not all begin at multiples of 16 bytes, which TMA does not read: `rows` lines of memory of
   `cols`. Without rows: TMA. */
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
    int words;                /* bytes that go from memory to stages at once; 0: through slots */
    int items, sums_at;       /* tiles, times slices; where sums are kept */
#ifdef TMM_WITH_SYRK
    int triangle, squares,
        ratio_log2; /* of tiles, see once/triangle.cuh: then op(B) is the large one */
#endif
    int stage, stages; /* bytes of a stage */
} tmm__half_thin_job;

/* Where a warp is: in the ring of stages, with the parity of its barriers, and in the product. */
typedef struct tmm__half_thin_place {
    unsigned parity;
    int stage, rank, line0, thin0, first, steps; /* steps of k, from the first on */
} tmm__half_thin_place;

#if TMM__WGMMA
/* Waits for its stage at one of the barriers; `ahead`: of those that are free from the beginning on. */
TMM__DEVICE void tmm__half_thin_wait(unsigned barriers, const tmm__half_thin_place *here, int ahead)
{
    tmm__barrier_wait(barriers + 8 * here->stage, here->parity ^ ahead);
}

/* On to the next stage of the ring. */
TMM__DEVICE void tmm__half_thin_next(const tmm__half_thin_job *job, tmm__half_thin_place *here)
{
    if (++here->stage == job->stages) here->stage = 0, here->parity ^= 1;
}

/* Of a slice, the part of its k that block `rank` of the cluster has. By 32 bits: nvcc -rdc=true calls a
   division of 64, and ptxas serializes wgmma in kernels that call. */
TMM__DEVICE void tmm__half_thin_part(const tmm__half_thin_job *job, int slice,
                                     tmm__half_thin_place *here)
{
    const unsigned part = (unsigned)(slice * job->parts + here->rank);
    const unsigned parts = (unsigned)(job->slices * job->parts);
    const unsigned each = (unsigned)job->steps / parts, rest = (unsigned)job->steps % parts;
    const unsigned before = part * rest / parts;
    here->first = (int)(part * each + before);
    here->steps = (int)(each + (part + 1) * rest / parts - before);
}

/* The first lines of tile number `tile`: tiles of the same large lines are neighbours. */
TMM__DEVICE void tmm__half_thin_tile(const tmm__half_thin_job *job, int tile,
                                     tmm__half_thin_place *here)
{
    int line = tile / job->across, thin = tile % job->across;
#ifdef TMM_WITH_SYRK
    if (job->triangle != 0) {
        thin = tile / job->across, line = tile % job->across;
        tmm__triangle_tile(job->triangle, job->squares, job->ratio_log2, &thin, &line);
    }
#endif
    here->line0 = line * job->high, here->thin0 = thin * job->cols;
}

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

/* What a thread of the ninth warp does for operands that TMA reads. */
TMM__DEVICE void tmm__half_thin_copy_boxes(const tmm__half_thin_job *job,
                                           const tmm__half_map *map_large,
                                           const tmm__half_map *map_thin, unsigned base,
                                           unsigned fulls, tmm__half_thin_place *here)
{
    const int zL = (int)blockIdx.y * job->next_large, zT = (int)blockIdx.y * job->next_thin;
    const int line0 = here->line0, thin0 = here->thin0;
#pragma unroll 1
    for (int step = 0; step < here->steps; step++, tmm__half_thin_next(job, here)) {
        const unsigned barrier = fulls + 8 * here->stage, to = base + here->stage * job->stage;
        const int k = (here->first + step) * 64;
        if (threadIdx.x % 32 != 0) continue;
        tmm__half_thin_wait(fulls + 8 * (int)TMM__HALF_THIN_STAGES, here, 1);
        tmm__barrier_expect(barrier, job->expected);
        if (job->plain[0].rows > 0) {
            /* not by TMA */
        } else if (job->turned_large) {
            tmm__half_thin_box(to, map_large, line0, k, zL, barrier, job->once);
            if (job->high > 64)
                tmm__half_thin_box(to + 8192, map_large, line0 + 64, k, zL, barrier, job->once);
        } else {
            tmm__half_thin_box(to, map_large, k, line0, zL, barrier, job->once);
        }
        if (job->plain[1].rows > 0) {
            /* not by TMA */
        } else if (job->turned_thin) {
            for (int i = 0; i < job->cols; i += 64)
                tmm__half_box(to + 16384 + i * 128, map_thin, thin0 + i, k, zT, barrier, 1);
        } else {
            tmm__half_box(to + 16384, map_thin, k, thin0, zT, barrier, 1);
        }
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

/* Unaligned lines, from here on: those of whole words go straight to their place in a stage (copy_words); those of
   odd elements go as vectors of 16 bytes to a slot (fetch), and from there to the stage (shift). */

/* What eight warps do where lines begin and end at multiples of `bytes`, 4 or 8: each of these goes straight to
   its place in a stage. A lane has the same part of each of its lines. */
TMM__DEVICE void tmm__half_thin_copy_words(const tmm__half_thin_job *job, unsigned base,
                                           unsigned fulls, tmm__half_thin_place *here,
                                           const int bytes)
{
    const int t = threadIdx.x - 288, high = job->high, cols = job->cols, first = here->first;
    const char *from[2];
    unsigned to[2];
    int begin[2], end[2], next[2], chunk[2], col[2];
#pragma unroll
    for (int n = 0; n < 2; n++) { /* the large operand, the thin one */
        const tmm__half_thin_plain *x = &job->plain[n];
        const int turned = n == 0 ? job->turned_large : job->turned_thin;
        const int lines = n == 0 ? high : cols, line = n == 0 ? here->line0 : here->thin0;
        const int each = (8 << x->chunks_log2) * 2 / bytes, at = t & (each - 1);
        begin[n] = t / each, next[n] = 256 / each;
        end[n] = turned ? 64 : min(lines, x->rows - line);
        col[n] = at * (bytes / 2); /* line or k that it begins with */
        if (turned && (col[n] >= lines || line + col[n] >= x->cols)) end[n] = 0;
        const long long row = begin[n] + (turned ? first * 64ll : line);
        from[n] = (const char *)(x->from + (int)blockIdx.y * x->stride + row * x->ld + col[n] +
                                 (turned ? line : first * 64ll));
        chunk[n] = col[n] / 8 % 8;
        to[n] = n * 16384 + col[n] / 64 * 8192 + begin[n] * 128 + col[n] % 8 * 2;
    }
#pragma unroll 1
    for (int step = 0; step < here->steps; step++) {
        tmm__half_thin_wait(fulls + 8 * (int)TMM__HALF_THIN_STAGES, here, 1);
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const tmm__half_thin_plain *x = &job->plain[n];
            const int turned = n == 0 ? job->turned_large : job->turned_thin;
            if (x->rows == 0) continue;
            const int left = (turned ? x->rows : x->cols) - (first + step) * 64;
            const int whole = turned ? left : col[n] < left ? 64 * 64 : 0; /* lines with that k */
            const long long ld = x->ld * 2;
            const char *source = from[n];
            unsigned place = base + here->stage * job->stage + to[n];
#pragma unroll 4
            for (int line = begin[n]; line < end[n]; line += next[n]) {
                tmm__copy_async(tmm__xhalf_at(place + ((chunk[n] ^ (line & 7)) << 4)),
                                line < whole ? source : (const char *)x->from, bytes, line < whole);
                source += next[n] * ld, place += next[n] * 128;
            }
            from[n] += turned ? 64 * ld : 128;
        }
        tmm__barrier_arrive_copied(fulls + 8 * here->stage);
        tmm__half_thin_next(job, here);
    }
}

/* What a lane copies of each 64 k of such an operand: one vector of up to four lines, and the last vector of
   another one, if that is not negative. */
typedef struct tmm__half_thin_lane {
    const char *from, *last_from; /* where these lines begin */
    long long step, next;         /* bytes to its next line, to the next 64 k */
    int line, end, last_line;     /* its first line; end of its warp's */
    int log2, whole; /* vectors of a line, and one more; steps that it copies without looking */
} tmm__half_thin_lane;

/* A warp has `each` of `rows` lines. From `row` and `col` on. */
TMM__DEVICE tmm__half_thin_lane tmm__half_thin_lane_of(const tmm__half_thin_plain *x, int product,
                                                       int each, int row, int rows, int col,
                                                       int turned)
{
    const int lane = threadIdx.x % 32, first = (threadIdx.x / 32 - 9) * each;
    const long long ld = x->ld * 2, left = turned ? x->rows - row : x->cols - col;
    tmm__half_thin_lane of;
    const int chunks = 1 << x->chunks_log2, chunk = lane & (chunks - 1);
    of.log2 = x->chunks_log2, of.line = first + (lane >> of.log2);
    of.end = min(first + each, rows);
    const char *all = (const char *)(x->from + product * x->stride),
               *from = all + row * ld + col * 2;
    const char *behind = all + (x->rows - 1) * ld + x->cols * 2;
    of.from = from + of.line * ld, of.step = (32 >> of.log2) * ld;
    of.last_line = first + lane < of.end ? first + lane : -1;
    of.last_from = from + (first + lane) * ld, of.next = turned ? 64 * ld : 128;
    /* Where all 64 k are there, and the last vector is not behind the operand. */
    const long long room = behind - (from + (rows - 1) * ld) - (chunks + 1) * 16;
    of.whole = room < 0 ? 0 : (int)min(room / 128 + 1, left / 64);
    if (turned) { /* lines at the end, whose vectors would be; see thin_part for the division */
        const int beyond = (chunks + 1) * 16 - min(x->cols - col, 1024) * 2;
        const int lines = beyond > 0 ? (beyond - 1) / (int)min(ld, 1024ll) + 1 : 0;
        of.whole = max((int)left - lines, 0) / 64;
    }
    if (turned && chunk * 8 > x->cols - col + 7) of.line = of.end;
    if (turned && chunks * 8 > x->cols - col + 7) of.last_line = -1;
    return of;
}

/* The last bytes of an operand, two by two: compute-sanitizer takes all 16 of a cp.async for read, also those
   behind the operand that it fills with zeros. */
TMM__DEVICE void tmm__half_thin_fetch_last(unsigned char *to, const char *from, int valid)
{
    *(uint4 *)to = make_uint4(0, 0, 0, 0);
#pragma unroll 1
    for (int i = 0; i < valid; i += 2)
        *(unsigned short *)(to + i) = *(const unsigned short *)(from + i);
}

/* 64 k of an unaligned operand: a warp's eighth of the lines, from memory to a slot, whole vectors of 16 bytes
   with what lies before in the first one; nothing behind the line. From `row` and `col` on. */
TMM__DEVICE void tmm__half_thin_fetch_checked(unsigned char *slot, const tmm__half_thin_plain *x,
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
                tmm__half_thin_fetch_last(to, vector, valid);
            else
                tmm__copy_zfill(to, valid > 0 ? vector : none, 16, valid);
            begin += step * x->ld, to += step * (chunks + 1) * 16;
        }
    }
}

/* The next 64 k, to a slot. */
TMM__DEVICE void tmm__half_thin_fetch(unsigned char *slot, const tmm__half_thin_lane *of)
{
    const int line = ((1 << of->log2) + 1) * 16, lines = 32 >> of->log2;
    const int chunk = threadIdx.x & ((1 << of->log2) - 1);
    unsigned char *to = slot + of->line * line + chunk * 16;
    const char *from = of->from;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = of->line + i * lines;
        if (at < of->end)
            tmm__copy_zfill(to, (const char *)((size_t)from & ~(size_t)15) + chunk * 16, 16, 16);
        from += of->step, to += lines * line;
    }
    if (of->last_line >= 0)
        tmm__copy_zfill(slot + of->last_line * line + line - 16,
                        (const char *)((size_t)of->last_from & ~(size_t)15) + line - 16, 16, 16);
}

/* From the slot to the stage, moved by some elements: 64 k further on by as many. */
TMM__DEVICE void tmm__half_thin_shift(unsigned to, const unsigned char *slot,
                                      const tmm__half_thin_lane *of, unsigned ld, int turned)
{
    const int c = threadIdx.x & ((1 << of->log2) - 1), lines = 32 >> of->log2;
    const int line = ((1 << of->log2) + 1) * 16;
    const unsigned low = (unsigned)(size_t)of->from; /* steps move it by multiples of 128 */
    to += turned ? c / 8 * 8192 : 0;
#pragma unroll
    for (int two = 0; two < 4; two += 2) {
        unsigned w[2][8];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = of->line + (two + i) * lines;
            const uint4 *vector = (const uint4 *)(slot + at * line + c * 16);
            uint4 low = make_uint4(0, 0, 0, 0), high = low;
            if (at < of->end) low = vector[0], high = vector[1];
            w[i][0] = low.x, w[i][1] = low.y, w[i][2] = low.z, w[i][3] = low.w;
            w[i][4] = high.x, w[i][5] = high.y, w[i][6] = high.z, w[i][7] = high.w;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = of->line + (two + i) * lines;
            const unsigned off = low + (unsigned)((two + i) * lines) * ld;
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

/* What eight warps do where lines begin at odd elements: copies to slots run SLOTS - 1 steps ahead; each warp moves
   its own lines on to the stage, so that no other one waits for it. */
TMM__DEVICE void tmm__half_thin_copy_odd(const tmm__half_thin_job *job, unsigned char *memory,
                                         unsigned fulls, tmm__half_thin_place *here)
{
    enum { SLOTS = TMM__HALF_THIN_SLOTS };
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    const int first = here->first, steps = here->steps;
    tmm__half_thin_lane of[2];
    int each[2], rows[2], begin[2], behind[2] = {0, 0};
#pragma unroll
    for (int n = 0; n < 2; n++) { /* the large operand, the thin one */
        const tmm__half_thin_plain *x = &job->plain[n];
        const int turned = n == 0 ? job->turned_large : job->turned_thin;
        begin[n] = n == 0 ? here->line0 : here->thin0;
        /* Only lines that are there: copies of one line by all blocks for those that are not took three times as
           long. */
        rows[n] = turned ? 64 : min(n == 0 ? job->high : job->cols, x->rows - begin[n]);
        each[n] = (rows[n] + 7) / 8;
        if (x->rows == 0) continue;
        of[n] = tmm__half_thin_lane_of(x, (int)blockIdx.y, each[n], turned ? first * 64 : begin[n],
                                       rows[n], turned ? begin[n] : first * 64, turned);
        if (n == 0) behind[1] = 128 * each[0] * ((1 << of[0].log2) + 1);
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
                tmm__half_thin_fetch(slot + behind[n], &of[n]);
            else
                tmm__half_thin_fetch_checked(slot + behind[n], x, (int)blockIdx.y, each[n],
                                             turned ? k : begin[n], rows[n], turned ? begin[n] : k);
            of[n].from += of[n].next, of[n].last_from += of[n].next;
        }
        tmm__copy_commit();
        if (step < 0) continue;
        slot = memory + job->slots_at + (step & (SLOTS - 1)) * job->slot;
        const unsigned to = base + here->stage * job->stage;
        tmm__half_thin_wait(fulls + 8 * (int)TMM__HALF_THIN_STAGES, here, 1);
#pragma unroll
        for (int n = 0; n < 2; n++)
            if (job->plain[n].rows > 0)
                tmm__half_thin_shift(to + n * 16384, slot + behind[n], &of[n],
                                     (unsigned)job->plain[n].ld * 2,
                                     n == 0 ? job->turned_large : job->turned_thin);
        __syncwarp();
        if (threadIdx.x % 32 == 0) tmm__barrier_arrive_at(fulls + 8 * here->stage, here->rank);
        tmm__half_thin_next(job, here);
    }
}
#endif
#endif
