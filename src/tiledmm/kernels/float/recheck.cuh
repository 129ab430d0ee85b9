/* src/tiledmm/kernels/float/recheck.cuh. Elements of C for which halves do not suffice.
   Uses: kernels/float/numbers.cuh, kernels/store.cuh. Used by: kernels/float/portable.cuh, wgmma.cuh, mma_sync.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
#if TMM__BODIES
/* 256 threads begin to bring 64 `fours` lines x 16 k to shared memory, zeros beyond the `lines` and
   `depth` that are left. Copied one by one, and turned by that: k goes down, lines across. A thread
   begins with line *line and k *k, which `at` points to. */
static __device__ __forceinline__ void tmm_float_begin(const tmm__lines *from, int fours,
                                                       int thread, int *line, int *k)
{
    bool along_k = from->k_stride == 1;
    *line = along_k ? thread / 16 : thread % (64 * fours);
    *k = along_k ? thread % 16 : thread / (64 * fours);
}

static __device__ __forceinline__ void tmm_float_load(float *to, const tmm__lines *from,
                                                      const float *at, int fours, int lines,
                                                      int depth, int thread)
{
    int deeper = from->k_stride == 1 ? 0 : 4 / fours, further = from->k_stride == 1 ? 16 : 0;
    long long stride = deeper * from->k_stride + further * from->line_stride;
    int line, k;
    tmm_float_begin(from, fours, thread, &line, &k);
    to += k * TMM__STRICT_PITCH + line;
#pragma unroll 4
    for (int i = 0; i < 4 * fours; i++) {
        bool exists = line < lines && k < depth;
        tmm__copy_async(to, exists ? at : from->X, 4, exists);
        at += stride, k += deeper, line += further;
        to += deeper * TMM__STRICT_PITCH + further;
    }
}

/* One element of C that is left to multiply-adds, by one thread. */
static __device__ __forceinline__ void tmm_float_single(const tmm__float_job *job, int product,
                                                        int row, int col)
{
    const tmm__lines from_a = job->from_a, from_b = job->from_b;
    const float *a = from_a.X + product * from_a.product_stride + row * from_a.line_stride;
    const float *b = from_b.X + product * from_b.product_stride + col * from_b.line_stride;
    const int K = (int)job->K;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < K; k += 24) { /* 24 of each are under way */
        float x[24], y[24];
#pragma unroll
        for (int i = 0; i < 24; i++) {
            x[i] = y[i] = 0;
            tmm__load_if(&x[i], a, 4, k + i < K);
            tmm__load_if(&y[i], b, 4, k + i < K);
            a += from_a.k_stride, b += from_b.k_stride;
        }
#pragma unroll
        for (int i = 0; i < 24; i++) sum += x[i] * y[i];
    }
    tmm_store_some(job->C + product * job->batchC + row * job->ldc + col, row, col, 1, 1,
                   job->alpha, job->beta, &sum);
}

/* Finds tile `n` of a block; false: there is none. All threads then have the square, in shared
   memory, without `noted`. `named`: there are other threads in the block. */
static __device__ __forceinline__ bool tmm_float_find(const tmm__float_job *job, tmm__square *to,
                                                      long long n, int thread, bool named, bool own,
                                                      int edge, int tile_m, int tile_n)
{
    const int across_own = (tile_n + edge - 1) / edge; /* tiles in one of the block's own */
    const int all_own = (tile_m + edge - 1) / edge * across_own;
    int M = (int)job->M, N = (int)job->N, row, col, row128, col128, row_end = M, col_end = N;
    int down = (M + edge - 1) / edge, across = (N + edge - 1) / edge;
    long long tile = blockIdx.x + n * gridDim.x;
    if (own) {
        down = job->s.tiles_down, across = job->s.tiles_across;
        tile = blockIdx.x + n / all_own * gridDim.x;
    }
    if (tile >= (long long)down * across * job->batch) return false;
    int product = (int)(tile / (down * across)), rest = (int)(tile % (down * across));
    if (own) {
        int part = (int)(n % all_own), r, c;
        tmm_find_tile(&job->s, TMM__FLOAT_BAND, rest, &r, &c);
        r *= tile_m, c *= tile_n;
        row = part / across_own * edge, col = part % across_own * edge;
        row128 = r + row / 128 * 128, col128 = c + col / 128 * 128;
        row += r, col += c;
        if (row_end - r > tile_m) row_end = r + tile_m;
        if (col_end - c > tile_n) col_end = c + tile_n;
    } else {
        row = rest / across * edge, col = rest % across * edge;
        row128 = row / 128 * 128, col128 = col / 128 * 128;
    }

    int line = thread < 128 ? row128 + thread : col128 + thread - 128;
    const tmm__split *split = thread < 128 ? &job->a : &job->b;
    if ((thread < 128 ? job->from_a : job->from_b).product_stride == 0) product = 0;
    float scale = 1;
    unsigned lowest = 0x7f800000u, highest = 0;
    if (line < (thread < 128 ? row_end : col_end)) {
        scale = split->scales[product * 64ll * split->line_blocks + line];
        lowest = highest = tmm__float_bits(fabsf(scale));
    }
    unsigned wide = __ballot_sync(0xffffffffu, scale < 0);
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        unsigned low = __shfl_xor_sync(0xffffffffu, lowest, i);
        unsigned high = __shfl_xor_sync(0xffffffffu, highest, i);
        lowest = lowest < low ? lowest : low;
        highest = highest > high ? highest : high;
    }
    if (thread % 32 == 0)
        to->lowest[thread / 32] = lowest, to->highest[thread / 32] = highest,
                            to->wide[thread / 32] = wide;
    if (thread == 0) {
        to->own = own, to->next = n + 1, to->product = (int)(tile / (down * across)), to->row = row,
        to->col = col;
        to->row128 = row128, to->col128 = col128, to->row_end = row_end, to->col_end = col_end;
    }
    if (thread < 4) to->noted[thread] = 0, to->inexact = 0;
    tmm__sync_multiply_adds(named);
    return true;
}

/* A thread has half of a row of the square, four times 16 elements: which have been noted. Returns
   how many; all threads then have `noted`. */
static __device__ __forceinline__ int tmm_float_noted(const tmm__float_job *job, tmm__square *in,
                                                      int thread, bool named, unsigned *four)
{
    int half = thread / 128, row = in->row128 + thread % 128, col = in->col128 + half * 64,
        count = 0;
    bool row_wide = in->wide[thread % 128 / 32] >> thread % 32 & 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned cols_wide = in->wide[4 + half * 2 + i / 2] >> i % 2 * 16 & 0xffff;
        four[i] = 0;
        if (row < in->row_end && col + 16 * i < in->col_end && (row_wide || cols_wide))
            four[i] = *tmm__unproven_at(job, in->product, row, col + 16 * i);
        count += __popc(four[i]);
    }
    if (count > 0) atomicAdd(&in->noted[thread % 128 / 64 * 2 + half], (unsigned)count);
    tmm__sync_multiply_adds(named);
    return count;
}

/* Such elements are gathered, `found` many in a list (product, row, column of each), which a later
   call computes, one by each thread: when there are 256, or at the end, `last`. */
static __device__ __forceinline__ void tmm_float_gather(const tmm__square *square, int thread,
                                                        bool six, int count, const unsigned *four,
                                                        int *found)
{
    int quarter = thread % 128 / 64 * 2 + thread / 128;
    if (count == 0 || !tmm__are_few(square, quarter, six)) return;
    int *to = found + 4 + 3 * atomicAdd(found, count);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll 1
        for (int j = 0; j < 16 && four[i]; j++)
            if (four[i] >> tmm__unproven_bit(j) & 1) {
                *to++ = square->product, *to++ = square->row128 + thread % 128;
                *to++ = square->col128 + thread / 128 * 64 + 16 * i + j;
            }
}

static __device__ __forceinline__ void tmm_float_few(const tmm__float_job *job, int thread,
                                                     bool named, bool last, int *found)
{
    int count = *found, *list = found + 4;
    tmm__sync_multiply_adds(named);
    if (count < 256 && !last) return;
    for (int i = thread; i < count; i += 256)
        tmm_float_single(job, list[3 * i], list[3 * i + 1], list[3 * i + 2]);
    if (thread == 0) *found = 0;
    tmm__sync_multiply_adds(named);
}

/* A tile of 128 x 128 with noted elements on tensor cores once more, in BF16. That has the exponents
   of float, so an element is the sum of three pieces of 8 bits:
       x1 = x cut to 8 bits    x2 = x - x1 cut to 8 bits    x3 = x - x1 - x2
   and an element of C is, over windows of 32 k,
       c    = sum a3 b1 + sum a1 b3 + sum a2 b2    the smallest products first
       c   += sum a2 b1 + sum a1 b2
       c   += sum a1 b1
       sum += c
   a2 b3, a3 b2 and a3 b3 are left out. bench/NOTES.md derives the bound, which needs no scales and
   no proof. False: some x3 is not exact (see tmm__split_three), and nothing is computed.

   A thread has four chunks of 8 k of a window at a time, two of A and two of B. Along k, four lanes
   load a line, otherwise 32 lanes a chunk each of as many lines: neighbours from memory together. It
   leaves their pieces in a stage of 64 KB, in which A, then B, has 128 lines of 128 bytes (x1 | x2),
   then as many (x3 | nothing), chunks placed as by KERNEL SPLIT. There are two stages for wgmma, one
   for mma.sync:
       tensor cores  | window 0         | window 1         |      window 2 begins when window 1 is
       registers       pieces of 1        pieces of 2             complete and added
   A warp has 16 rows x 128 columns of C in either case, as in a fragment of wgmma.

   A window is 6.3 million operations, 1536 clocks of the tensor cores, and loads 32 KB. It takes
   some 2900: splitting and adding is 430 instructions for each of two warps a scheduler, which issue
   one in three clocks. So it is bound by latency; there are no registers for a third warp. */
static __device__ __forceinline__ bool tmm_float_six(const tmm__float_job *job, tmm__square *square,
                                                     unsigned char *stages, int thread, bool named,
                                                     float (*sum)[8])
{
    enum { THIRD = 128 * 128, OPERAND = 2 * THIRD, STAGE = 2 * OPERAND, PITCH = 136 };
    const int K = (int)job->K, half = thread / 128;
    /* Of A and B: where this thread's first chunk is in memory, and how far from it the second one;
       how many elements there are from each on; and where they lie in a stage. */
    const float *x[2];
    const long long stride[2] = {job->from_a.k_stride, job->from_b.k_stride};
    long long step[2];
    int left[2][2], place[2][2];
    bool wide[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const tmm__lines *from = i == 0 ? &job->from_a : &job->from_b;
        bool along_k = stride[i] == 1;
        /* Lines that are 4 apart take turns: stored at a time, they lie in different banks. */
        int first = along_k ? thread / 32 * 8 + thread / 4 % 2 * 4 + thread / 8 % 4 : thread % 128;
        int chunk = along_k ? thread % 4 : 2 * half, at = (i == 0 ? square->row : square->col);
        step[i] = along_k ? 64 * from->line_stride : 8 * stride[i];
        x[i] = from->X + square->product * from->product_stride + (at + first) * from->line_stride +
               8 * chunk * stride[i];
        wide[i] = tmm__loads_wide(from);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            bool exists =
                at + first + (along_k ? 64 * j : 0) < (i == 0 ? square->row_end : square->col_end);
            left[i][j] = exists ? K - 8 * chunk - (along_k ? 0 : 8 * j) : 0;
            place[i][j] = i * OPERAND + first * 128 + (chunk ^ first % 8) * 16;
        }
        place[i][1] = along_k ? place[i][0] + 64 * 128 : place[i][0] ^ 16;
    }
    float total[64], next[32];
    unsigned inexact = 0;
    /* Which pieces of A and B are multiplied: a digit for each product, the first one on the right. */
    const unsigned pieces_a = 0x001102, pieces_b = 0x010120;
#if TMM__WGMMA
    const unsigned address = (unsigned)__cvta_generic_to_shared(stages);
    float c[64];
#pragma unroll
    for (int i = 0; i < 64; i++) c[i] = 0;
#endif
#pragma unroll
    for (int i = 0; i < 64; i++) total[i] = 0;
#pragma unroll
    for (int i = 0; i < 32; i++) next[i] = 0;
#pragma unroll 1
    for (int k = -32;; k += 32) { /* the first time only to load, the last one only to add */
        const int at = TMM__WGMMA ? (k & 32) * (STAGE / 32) : 0;
        if (!TMM__WGMMA) tmm__sync_multiply_adds(named); /* all have read the stage */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned of[4][3];
#pragma unroll
            for (int j = 0; j < 4; j++)
                inexact |= tmm__split_three(next[8 * i + 2 * j], next[8 * i + 2 * j + 1], of[j]);
            unsigned char *chunk = stages + at + place[i / 2][i % 2];
            *(uint4 *)chunk = make_uint4(of[0][0], of[1][0], of[2][0], of[3][0]);
            *(uint4 *)(chunk + THIRD) = make_uint4(of[0][2], of[1][2], of[2][2], of[3][2]);
            chunk = stages + at + (place[i / 2][i % 2] ^ 64);
            *(uint4 *)chunk = make_uint4(of[0][1], of[1][1], of[2][1], of[3][1]);
            tmm__load_chunk(next + 8 * i, x[i / 2] + i % 2 * step[i / 2], stride[i / 2],
                            left[i / 2][i % 2], wide[i / 2]);
            left[i / 2][i % 2] -= 32;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) x[i] += 32 * stride[i];
#if TMM__WGMMA
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* wgmma sees what is stored */
        TMM__WGMMA_WAIT(0);
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("" : "+f"(c[i])::"memory");
#pragma unroll
        for (int i = 0; i < 64; i++) total[i] += c[i];
        if (k >= K) break;
        if (k < 0) continue;
        tmm__sync_multiply_adds(named);
        TMM__WGMMA_BEGIN();
#pragma unroll
        for (int i = 0; i < 12; i++) {
            int a = pieces_a >> i / 2 * 4 & 3, b = pieces_b >> i / 2 * 4 & 3;
            tmm__wgmma_bfloat(c,
                              tmm__descriptor(address + at + half * (64 * 128)) +
                                  (a / 2 * THIRD + a % 2 * 64 + i % 2 * 32) / 16,
                              tmm__descriptor(address + at + OPERAND) +
                                  (b / 2 * THIRD + b % 2 * 64 + i % 2 * 32) / 16,
                              i > 0);
        }
        TMM__WGMMA_COMMIT();
#else
        tmm__sync_multiply_adds(named);
        if (k >= K) break;
        if (k < 0) continue;
        int lane = thread % 32, row_a = thread / 32 * 16 + lane % 16, chunk_a = lane / 16;
        int row_b = lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
        unsigned a[3][2][4], b[3][2][4];
#pragma unroll
        for (int i = 0; i < 6; i++) {
            int chunk = (i / 2 % 2 * 4 + i % 2 * 2 + chunk_a) ^ row_a % 8;
            tmm__load_matrices(a[i / 2][i % 2], stages + i / 4 * THIRD + row_a * 128 + chunk * 16);
        }
#pragma unroll
        for (int j = 0; j < 8; j++) { /* 16 columns */
            float c[8];
#pragma unroll
            for (int i = 0; i < 8; i++) c[i] = 0;
#pragma unroll
            for (int i = 0; i < 6; i++) {
                int chunk = (i / 2 % 2 * 4 + i % 2 * 2 + chunk_b) ^ row_b % 8;
                tmm__load_matrices(b[i / 2][i % 2], stages + OPERAND + i / 4 * THIRD +
                                                        (16 * j + row_b) * 128 + chunk * 16);
            }
#pragma unroll
            for (int i = 0; i < 12; i++) {
                const unsigned *of_a = a[pieces_a >> i / 2 * 4 & 3][i % 2];
                const unsigned *of_b = b[pieces_b >> i / 2 * 4 & 3][i % 2];
                tmm__mma_16(c, of_a, of_b, true);
                tmm__mma_16(c + 4, of_a, of_b + 2, true);
            }
#pragma unroll
            for (int i = 0; i < 8; i++) total[8 * j + i] += c[i];
        }
#endif
    }
    if (inexact & 0xffff) square->inexact = 1;
    tmm__sync_multiply_adds(named);
    if (square->inexact) return false;

    /* To who stores them. */
    float *all = (float *)stages;
    float *to = all + (thread / 32 * 16 + thread % 32 / 4) * PITCH + thread % 4 * 2;
    const float *own = all + thread / 16 * 4 * PITCH + thread % 16 * 4;
#pragma unroll
    for (int i = 0; i < 32; i++)
        *(float2 *)(to + i % 2 * 8 * PITCH + i / 2 * 8) =
            make_float2(total[2 * i], total[2 * i + 1]);
    tmm__sync_multiply_adds(named);
#pragma unroll
    for (int i = 0; i < 16; i++) {
        float4 four = *(const float4 *)(own + (i / 8 * 64 + i / 2 % 4) * PITCH + i % 2 * 64);
        float *row = sum[i / 2] + i % 2 * 4;
        row[0] = four.x, row[1] = four.y, row[2] = four.z, row[3] = four.w;
    }
    return true;
}

/* Adds up `depth` k of A and B, whose elements for this thread begin at a and b. */
static __device__ __forceinline__ void tmm_float_depth(const float *a, const float *b, int depth,
                                                       const int FOURS, float (*sum)[8])
{
#pragma unroll 2
    for (int k = 0; k < depth; k++) {
        float xs[8], ys[8];
#pragma unroll
        for (int i = 0; i < FOURS; i++) {
            float4 x = *(const float4 *)(a + k * TMM__STRICT_PITCH + 64 * i);
            float4 y = *(const float4 *)(b + k * TMM__STRICT_PITCH + 64 * i);
            xs[4 * i] = x.x, xs[4 * i + 1] = x.y, xs[4 * i + 2] = x.z, xs[4 * i + 3] = x.w;
            ys[4 * i] = y.x, ys[4 * i + 1] = y.y, ys[4 * i + 2] = y.z, ys[4 * i + 3] = y.w;
        }
#pragma unroll
        for (int i = 0; i < 4 * FOURS; i++)
#pragma unroll
            for (int j = 0; j < 4 * FOURS; j++) sum[i][j] += xs[i] * ys[j];
    }
}

/* Adds up a tile of 64 fours x 64 fours (1 or 2) by multiply-adds. A thread has 4 fours x 4 fours
   elements of it, in ascending k as in KERNEL GLOBAL:

               columns      4 (t % 16) ..           64 + 4 (t % 16) ..      fours = 2, thread t
       rows               +-----------------------+-----------------------+
       4 (t / 16) ..      | sum[0..3][0..3]       | sum[0..3][4..7]       |  64
                          +-----------------------+-----------------------+
       64 + 4 (t / 16) .. | sum[4..7][0..3]       | sum[4..7][4..7]       |  64
                          +-----------------------+-----------------------+
   For one k and 128 x 128, 64 multiply-adds a thread are 128 clocks of a multiprocessor; its four
   loads of 16 bytes, of which many threads share each, 48. Copies of the next 16 k are under way. */
static __device__ __forceinline__ void tmm_float_sums(const tmm__float_job *job,
                                                      const tmm__square *square, float *memory,
                                                      int thread, bool named, int fours,
                                                      float (*sum)[8])
{
    enum { STEP = TMM__STRICT_STEP };
    const tmm__lines from_a = job->from_a, from_b = job->from_b;
    const int K = (int)job->K;
    int row0 = square->row, col0 = square->col, product = square->product, line, k_from;
    int row = thread / 16 * 4, col = thread % 16 * 4;
    int rows = square->row_end - row0, cols = square->col_end - col0;
    float *stage = memory; /* A, then B; the other stage is that of the next 16 k */
    tmm_float_begin(&from_a, fours, thread, &line, &k_from);
    const float *next_a = from_a.X + product * from_a.product_stride +
                          (row0 + line) * from_a.line_stride + k_from * from_a.k_stride;
    tmm_float_begin(&from_b, fours, thread, &line, &k_from);
    const float *next_b = from_b.X + product * from_b.product_stride +
                          (col0 + line) * from_b.line_stride + k_from * from_b.k_stride;
#pragma unroll 1
    for (int k0 = -16; k0 < K; k0 += 16) { /* the first time only to copy */
        const float *tile_a = stage + row, *tile_b = stage + STEP + col;
        TMM__COPY_WAIT(0);
        tmm__sync_multiply_adds(named); /* all is here; and all have done with the other one */
        stage = stage == memory ? memory + 2 * STEP : memory;
        int left = K - k0;
        if (left > 16) {
            tmm_float_load(stage, &from_a, next_a, fours, rows, left - 16, thread);
            tmm_float_load(stage + STEP, &from_b, next_b, fours, cols, left - 16, thread);
        }
        tmm__copy_commit();
        next_a += 16 * from_a.k_stride;
        next_b += 16 * from_b.k_stride;
        int depth = k0 < 0 ? 0 : left < 16 ? left : 16;
        /* A loop for each: in one, with the question inside, the compiler does the additions of
           both at the same place, and no multiply-adds are left. */
        if (fours == 2)
            tmm_float_depth(tile_a, tile_b, depth, 2, sum);
        else
            tmm_float_depth(tile_a, tile_b, depth, 1, sum);
    }
}

/* The others, by tiles, with the elements that a thread has of it as in tmm_float_sums. */
static __device__ __forceinline__ void tmm_float_tile(const tmm__float_job *job,
                                                      tmm__square *square, float *memory,
                                                      int thread, bool named, int fours)
{
    const float least = job->least, most = job->most;
    int row = thread / 16 * 4, col = thread % 16 * 4;
    float sum[8][8];
    bool done = false;
#pragma unroll
    for (int i = 0; i < 64; i++) sum[i / 8][i % 8] = 0;
    if (fours == 2 && square->own && job->six)
        done = tmm_float_six(job, square, (unsigned char *)memory, thread, named, sum);
    if (!done) tmm_float_sums(job, square, memory, thread, named, fours, sum);
    int row0 = square->row, col0 = square->col, product = square->product;
    const float *scale_a = job->a.scales, *scale_b = job->b.scales;
    if (job->from_a.product_stride) scale_a += product * 64ll * job->a.line_blocks;
    if (job->from_b.product_stride) scale_b += product * 64ll * job->b.line_blocks;
#pragma unroll 1
    for (int i = 0; i < 4 * fours; i++) {
        /* One row after the other, each moved to the place of the first: code for one row. */
        int r = row0 + row + i / 4 * 64 + i % 4;
        if (r >= square->row_end) break;
        float row_scale = scale_a[r];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            if (j == fours) break;
            int c = col0 + col + 64 * j, at = c - square->col128;
            unsigned wanted = tmm__column_mask(c, 4, 0, square->col_end);
            if (square->own) { /* noted, and not gathered as one of a few */
                int quarter = (r - square->row128) / 64 * 2 + at / 64;
                bool cols_wide = square->wide[4 + at / 32] >> at % 32 / 16 * 16 & 0xffff;
                if (tmm__are_few(square, quarter, fours == 2 && job->six)) wanted = 0;
                if (wanted && (row_scale < 0 || cols_wide)) {
                    unsigned of_16 = *tmm__unproven_at(job, product, r, c);
                    of_16 >>= tmm__unproven_bit(c);
                    wanted &= (of_16 & 3) | (of_16 >> 6 & 12);
                } else {
                    wanted = 0;
                }
            } else {
#pragma unroll
                for (int m = 0; m < 4; m++)
                    if ((wanted >> m & 1) &&
                        !tmm__is_strict(row_scale * scale_b[c + m], least, most))
                        wanted &= ~(1u << m);
            }
            float *to = job->C + product * job->batchC + r * job->ldc + c;
            tmm_store_some(to, r, c, 4, wanted, job->alpha, job->beta, &sum[0][4 * j]);
        }
#pragma unroll
        for (int j = 0; j < 56; j++) sum[j / 8][j % 8] = sum[j / 8 + 1][j % 8];
    }
}

/* All of them. `memory`: TMM__STRICT_BYTES of shared memory, aligned to 16; where tiles are large,
   65 KB, for wgmma 129, aligned to 1024, for tmm_float_six. `by_scales`, `by_size`: whether there are
   such for their row and column, and such that have been noted.

   A tile of 128 x 128 should take less than twice as long as one of 64 x 64. So it is taken where
   three of its quarters or all have such elements; single lines, in fewer quarters, are left to the
   small tiles, which more multiprocessors share; but what has been noted never, where tmm_float_six
   may compute it, which is faster. Where the block's own tiles are not large, C is small: then there
   is no code for large ones. */
static __device__ __forceinline__ void tmm_float_strict(const tmm__float_job *job, float *memory,
                                                        int self, bool named, bool by_scales,
                                                        bool by_size, const bool large_tiles,
                                                        int tile_m, int tile_n)
{
    const float least = job->least, most = job->most;
    tmm__square *square = (tmm__square *)memory;
    memory += TMM__STRICT_SQUARE / 4;
    enum { BY_SCALES, SMALL_BY_SCALES, FEW, BY_SIZE, SMALL_BY_SIZE, END };
    const bool all_small = !large_tiles, six = large_tiles && job->six;
    long long n = 0;
    int pass = !by_scales ? FEW : all_small ? SMALL_BY_SCALES : BY_SCALES;
    if (self == 0) square->end = by_size ? END : FEW, *(int *)memory = 0; /* elements gathered */
#pragma unroll 1
    for (;;) {
        int thread = self;
        TMM__HIDE(thread); /* so that nothing of it is kept in registers from before */
        bool own = pass >= FEW, small = pass == SMALL_BY_SCALES || pass == SMALL_BY_SIZE;
        if (thread == 0) square->pass = pass;
        bool more =
            tmm_float_find(job, square, n, thread, named, own, small ? 64 : 128, tile_m, tile_n);
        unsigned quarters = 0, four[4]; /* that have some, for tiles */
        int count = own && more ? tmm_float_noted(job, square, thread, named, four) : 0;
        if (pass == FEW) {
            tmm_float_gather(square, thread, six, count, four, (int *)memory);
            tmm__sync_multiply_adds(named);
            tmm_float_few(job, thread, named, !more, (int *)memory);
        }
        if (!more) {
            pass += all_small && pass == FEW ? 2 : 1, n = 0;
            if (thread == 0) *(int *)memory = 0;
            tmm__sync_multiply_adds(named);
            if (pass >= square->end) break;
            continue;
        }
        /* Magnitudes of products of scales are least and largest for the least and largest of
           scales. Two warps had the scales of 64 lines. */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned *low = square->lowest, *high = square->highest;
            int r = i / 2 * 2, c = 4 + i % 2 * 2;
            unsigned low_a = low[r] < low[r + 1] ? low[r] : low[r + 1];
            unsigned low_b = low[c] < low[c + 1] ? low[c] : low[c + 1];
            unsigned high_a = high[r] > high[r + 1] ? high[r] : high[r + 1];
            unsigned high_b = high[c] > high[c + 1] ? high[c] : high[c + 1];
            float lowest = tmm__bits_float(low_a) * tmm__bits_float(low_b);
            float highest = tmm__bits_float(high_a) * tmm__bits_float(high_b);
            bool some = tmm__is_strict(lowest, least, most) || tmm__is_strict(highest, least, most);
            if (square->row128 + 32 * r >= square->row_end) some = false;
            if (square->col128 + 32 * (c - 4) >= square->col_end) some = false;
            if (own) some = square->noted[i] > 0 && !tmm__are_few(square, i, six);
            if (some) quarters |= 1u << i;
        }
        int mine = (square->row - square->row128) / 64 * 2 + (square->col - square->col128) / 64;
        bool large = !all_small && __popc(quarters) >= (own && six ? 1 : 3);
        bool here = small ? !large && (quarters >> mine & 1) : large && pass != FEW;
        tmm__sync_multiply_adds(named); /* before anything is written again */
        if (here) tmm_float_tile(job, square, memory, thread, named, all_small || small ? 1 : 2);
        n = square->next, pass = square->pass; /* not kept in registers meanwhile */
        tmm__sync_multiply_adds(named);
    }
}
#endif
#endif
