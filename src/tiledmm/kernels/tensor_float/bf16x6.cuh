/* src/tiledmm/kernels/tensor_float/bf16x6.cuh. Doubtful elements of large tiles by six products of BF16
   terms.
   Uses: kernels/common/tensor_ptx.cuh, kernels/tensor_float/, once/.
   Used by: recheck.cuh, thin.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && TMM__BODIES && \
    !defined(TMM__FLOAT_ONCE)
/* A tile of 128 x 128 on tensor cores, from A and B again. BF16 has the exponents of float, so an
   element is the sum of three terms of 8 bits:
       x1 = x cut to 8 bits    x2 = x - x1 cut to 8 bits    x3 = x - x1 - x2
   An element of C is, over windows of 32 k,
       c    = sum a3 b1 + sum a1 b3 + sum a2 b2    the smallest products first
       c   += sum a2 b1 + sum a1 b2
       c   += sum a1 b1
       sum += c
   a2 b3, a3 b2 and a3 b3 are left out. bench/notes/tensor_float.md derives the bound, which needs
   no scales. Where some x3 is not exact (see tmm__bf16_triple), there is no result.

   A thread has four chunks of 8 k of a window at a time, two of A and two of B. Where an operand is
   contiguous along k, four lanes load a line. Else 32 lanes load one chunk each of as many lines.
   So neighbours in memory are loaded together. A stage of 64 KB holds A, then B: 128 lines of 128
   bytes (x1 | x2), then as many (x3 | nothing), chunks placed as by KERNEL CONVERT. There are two
   stages for wgmma, one for mma.sync:
       tensor cores  | window 0         | window 1         |      window 2 begins when window 1 is
       registers       terms of 1         terms of 2              complete and added
   A warp has 16 rows x 128 columns of C in either case, as in a fragment of wgmma.

   A window is 6.3 million operations, 1536 clocks of the tensor cores, and loads 32 KB: 192
   operations a byte. It takes some 2900 clocks. Converting and adding is 430 instructions for each
   of two warps a scheduler, which issue one in three clocks. So it is bound by latency; there are
   no registers for a third warp. */

/* Bytes: x1 | x2 or x3 of an operand, an operand, a stage. PITCH: elements of a row of sums. */
enum { TMM__BF16_THIRD = 128 * 128, TMM__BF16_OPERAND = 2 * TMM__BF16_THIRD };
enum { TMM__BF16_STAGE = 2 * TMM__BF16_OPERAND, TMM__BF16_PITCH = 136 };

/* Which terms of A and B are multiplied: a digit for each product, the first one on the right. */
enum { TMM__BF16_TERMS_A = 0x001102, TMM__BF16_TERMS_B = 0x010120 };

#if TMM__WGMMA
/* c = the products of a window, whose stage is at `address` in shared memory; enqueued. */
TMM__DEVICE void tmm__bf16_multiply(float *c, unsigned address, int half)
{
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 12; i++) {
        int a = TMM__BF16_TERMS_A >> i / 2 * 4 & 3, b = TMM__BF16_TERMS_B >> i / 2 * 4 & 3;
        tmm__wgmma_bfloat(c,
                          tmm__descriptor(address + half * (64 * 128)) +
                              (a / 2 * TMM__BF16_THIRD + a % 2 * 64 + i % 2 * 32) / 16,
                          tmm__descriptor(address + TMM__BF16_OPERAND) +
                              (b / 2 * TMM__BF16_THIRD + b % 2 * 64 + i % 2 * 32) / 16,
                          i > 0);
    }
    TMM__WGMMA_COMMIT();
}
#else
/* total += the products of the window in `stage`. */
TMM__DEVICE void tmm__bf16_multiply(float *total, const unsigned char *stage, int thread)
{
    int lane = thread % 32, row_a = thread / 32 * 16 + lane % 16, chunk_a = lane / 16;
    int row_b = lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
    unsigned a[3][2][4], b[3][2][4];
#pragma unroll
    for (int i = 0; i < 6; i++) {
        int chunk = (i / 2 % 2 * 4 + i % 2 * 2 + chunk_a) ^ row_a % 8;
        tmm__load_matrices(a[i / 2][i % 2],
                           stage + i / 4 * TMM__BF16_THIRD + row_a * 128 + chunk * 16);
    }
#pragma unroll
    for (int j = 0; j < 8; j++) { /* 16 columns */
        float c[8];
#pragma unroll
        for (int i = 0; i < 8; i++) c[i] = 0;
#pragma unroll
        for (int i = 0; i < 6; i++) {
            int chunk = (i / 2 % 2 * 4 + i % 2 * 2 + chunk_b) ^ row_b % 8;
            tmm__load_matrices(b[i / 2][i % 2], stage + TMM__BF16_OPERAND +
                                                    i / 4 * TMM__BF16_THIRD +
                                                    (16 * j + row_b) * 128 + chunk * 16);
        }
#pragma unroll
        for (int i = 0; i < 12; i++) {
            const unsigned *from_a = a[TMM__BF16_TERMS_A >> i / 2 * 4 & 3][i % 2];
            const unsigned *from_b = b[TMM__BF16_TERMS_B >> i / 2 * 4 & 3][i % 2];
            tmm__mma_16(c, from_a, from_b, true);
            tmm__mma_16(c + 4, from_a, from_b + 2, true);
        }
#pragma unroll
        for (int i = 0; i < 8; i++) total[8 * j + i] += c[i];
    }
}
#endif

/* The sums of a thread go to the threads of recheck_tile that store them. */
TMM__DEVICE void tmm__bf16_hand_over(unsigned char *stages, int thread, bool named,
                                     const float *total, float (*sum)[8])
{
    enum { PITCH = TMM__BF16_PITCH };
    float *tile = (float *)stages;
    float *to = tile + (thread / 32 * 16 + thread % 32 / 4) * PITCH + thread % 4 * 2;
    const float *own = tile + thread / 16 * 4 * PITCH + thread % 16 * 4;
#pragma unroll
    for (int i = 0; i < 32; i++)
        *(float2 *)(to + i % 2 * 8 * PITCH + i / 2 * 8) =
            make_float2(total[2 * i], total[2 * i + 1]);
    tmm__sync_256(named);
#pragma unroll
    for (int i = 0; i < 16; i++) {
        float4 v = *(const float4 *)(own + (i / 8 * 64 + i / 2 % 4) * PITCH + i % 2 * 64);
        float *row = sum[i / 2] + i % 2 * 4;
        row[0] = v.x, row[1] = v.y, row[2] = v.z, row[3] = v.w;
    }
}

/* The sums of the region, described above. False: some x3 is not exact. */
TMM__DEVICE bool tmm__recheck_bf16x6(const tmm__float_job *job, tmm__region *region,
                                     unsigned char *stages, int thread, bool named, float (*sum)[8])
{
    const int K = (int)job->K, half = thread / 128;
    /* Of A and B: this thread's first chunk in memory, and the distance of the second; elements
       that exist from each chunk on; the chunks' places in a stage. */
    const float *x[2];
    const long long stride[2] = {job->from_a.k_stride, job->from_b.k_stride};
    long long step[2];
    int left[2][2], place[2][2];
    bool vectors[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const tmm__lines *from = i == 0 ? &job->from_a : &job->from_b;
        bool along_k = stride[i] == 1;
        /* Lines that are 4 apart take turns: stored at a time, they lie in different banks. */
        int first = along_k ? thread / 32 * 8 + thread / 4 % 2 * 4 + thread / 8 % 4 : thread % 128;
        int chunk = along_k ? thread % 4 : 2 * half, at = (i == 0 ? region->row : region->col);
        step[i] = along_k ? 64 * from->line_stride : 8 * stride[i];
        x[i] = from->X + region->product * from->product_stride + (at + first) * from->line_stride +
               8 * chunk * stride[i];
        vectors[i] = tmm__vector_loads(from);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            bool exists =
                at + first + (along_k ? 64 * j : 0) < (i == 0 ? region->row_end : region->col_end);
            left[i][j] = exists ? K - 8 * chunk - (along_k ? 0 : 8 * j) : 0;
            place[i][j] = i * TMM__BF16_OPERAND + first * 128 + (chunk ^ first % 8) * 16;
        }
        place[i][1] = along_k ? place[i][0] + 64 * 128 : place[i][0] ^ 16;
    }
    float total[64], next[32];
    unsigned inexact = 0;
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
        const int at = TMM__WGMMA ? (k & 32) * (TMM__BF16_STAGE / 32) : 0;
        if (!TMM__WGMMA) tmm__sync_256(named); /* all have read the stage */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned words[4][3];
#pragma unroll
            for (int j = 0; j < 4; j++)
                inexact |= tmm__bf16_triple(next[8 * i + 2 * j], next[8 * i + 2 * j + 1], words[j]);
            unsigned char *chunk = stages + at + place[i / 2][i % 2];
            *(uint4 *)chunk = make_uint4(words[0][0], words[1][0], words[2][0], words[3][0]);
            *(uint4 *)(chunk + TMM__BF16_THIRD) =
                make_uint4(words[0][2], words[1][2], words[2][2], words[3][2]);
            chunk = stages + at + (place[i / 2][i % 2] ^ 64);
            *(uint4 *)chunk = make_uint4(words[0][1], words[1][1], words[2][1], words[3][1]);
            tmm__load_chunk(next + 8 * i, x[i / 2] + i % 2 * step[i / 2], stride[i / 2],
                            left[i / 2][i % 2], vectors[i / 2]);
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
        tmm__sync_256(named);
        tmm__bf16_multiply(c, address + at, half);
#else
        tmm__sync_256(named);
        if (k >= K) break;
        if (k < 0) continue;
        tmm__bf16_multiply(total, stages, thread);
#endif
    }
    if (inexact & 0xffff) region->inexact = 1;
    tmm__sync_256(named);
    if (region->inexact) return false;
    tmm__bf16_hand_over(stages, thread, named, total, sum);
    return true;
}
#endif
