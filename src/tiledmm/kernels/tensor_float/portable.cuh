/* src/tiledmm/kernels/tensor_float/portable.cuh. Floats as FP16 for any device and for a CPU.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* KERNEL TENSOR FLOAT for devices before sm_80, and for a CPU: the same FP16, windows and sums, but
   their products by FP32 multiply-adds. 256 threads, tile 64 x 64, 4 x 4 elements a thread, 32 k at
   a time in shared memory. For each k a thread does 48 multiply-adds and 8 loads of 8 bytes: three
   times the work of REGISTER. It is there for right results everywhere. */
#ifndef TMM__FLOAT_ONCE
enum { TMM__PORTABLE_BYTES = 2 * 32 * 68 * 8 };
#endif
static_assert((int)TMM__RECHECK_BYTES <= TMM__PORTABLE_BYTES, "the recheck has room");
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_float_portable(const tmm__float_job job)
{
#if TMM__BODIES && !TMM__WGMMA
    const tmm__fp16_operand a = job.a, b = job.b;
    const tmm__lines from_a = job.from_a, from_b = job.from_b;
    const long long M = job.M, N = job.N, ldc = job.ldc;
    const float scale_min = job.scale_min, scale_max = job.scale_max, alpha = job.alpha,
                beta = job.beta;
    const tmm__schedule s = job.s;
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    float2(*pairs_a)[68] = (float2(*)[68])tmm__memory; /* [k][line]: hi and lo */
    float2(*pairs_b)[68] = pairs_a + 32;
    __shared__ int doubtful; /* whether there are such elements */
    int thread = threadIdx.x, row = thread / 16 * 4, col = thread % 16 * 4;
    if (thread == 0) doubtful = 0;
#pragma unroll 1
    for (long long tile = blockIdx.x; tile < (long long)s.tiles_down * s.tiles_across * job.batch;
         tile += gridDim.x) {
        int tiles = s.tiles_down * s.tiles_across, down, across;
        long long product = tile / tiles;
        tmm__xfind_tile(&s, TMM__FLOAT_BAND, (int)(tile % tiles), &down, &across);
        long long row0 = down * 64ll, col0 = across * 64ll;
        long long product_a = from_a.product_stride ? product : 0;
        long long product_b = from_b.product_stride ? product : 0;
        const unsigned char *blocks_a =
            a.blocks + product_a * a.k_blocks * a.line_blocks * TMM__BLOCK_BYTES;
        const unsigned char *blocks_b =
            b.blocks + product_b * b.k_blocks * b.line_blocks * TMM__BLOCK_BYTES;
        const float *scale_a = a.scales + product_a * 64 * a.line_blocks + row0;
        const float *scale_b = b.scales + product_b * 64 * b.line_blocks + col0;
        float sum[4][4], small[4][4], large[4][4];
        for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = 0;
        for (int block = 0; block < a.k_blocks; block++) {
            __syncthreads();
            for (int i = 0; i < 2; i++) { /* 4 k of one line of each: a thread has 2 such */
                int line = thread % 64, k = (thread / 64 * 2 + i) * 4;
                size_t at_a = tmm__chunk_at(&a, (int)row0 + line, 32 * block + k);
                size_t at_b = tmm__chunk_at(&b, (int)col0 + line, 32 * block + k);
                for (int j = 0; j < 4; j++) {
                    int of = (k % 8 + j) * 2;
                    pairs_a[k + j][line].x = tmm__load_half(blocks_a + at_a + of);
                    pairs_a[k + j][line].y = tmm__load_half(blocks_a + (at_a ^ 64) + of);
                    pairs_b[k + j][line].x = tmm__load_half(blocks_b + at_b + of);
                    pairs_b[k + j][line].y = tmm__load_half(blocks_b + (at_b ^ 64) + of);
                }
            }
            __syncthreads();
            if (block % 2 == 0)
                for (int i = 0; i < 16; i++) small[i / 4][i % 4] = large[i / 4][i % 4] = 0;
            for (int k = 0; k < 32; k++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++) {
                        float2 x = pairs_a[k][row + i], y = pairs_b[k][col + j];
                        small[i][j] += x.y * y.x;
                        small[i][j] += x.x * y.y;
                        large[i][j] += x.x * y.x;
                    }
            if (block % 2 == 1)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++)
                        sum[i][j] += small[i][j] * (1.0f / (1 << TMM__LO_SHIFT)) + large[i][j];
        }
        for (int i = 0; i < 4; i++) {
            long long r = row0 + row + i; /* there are scales of whole blocks of 64 */
            unsigned mask = r < M ? tmm__column_mask(col0 + col, 4, 0, N) : 0, doubt = 0;
            bool wide = scale_a[row + i] < 0;
            for (int j = 0; j < 4; j++) {
                float p = scale_a[row + i] * scale_b[col + j];
                wide |= scale_b[col + j] < 0;
                if (tmm__is_rejected(p, scale_min, scale_max))
                    mask &= ~(1u << j);
                else if (tmm__is_doubtful(scale_a[row + i], scale_b[col + j], sum[i][j],
                                          job.doubt_below))
                    doubt |= mask & 1u << j;
                sum[i][j] *= fabsf(p);
            }
            if (__any_sync(0xffffffffu, wide)) {
                unsigned bits = ((doubt & 3) | (doubt & 12) << 6) << tmm__doubt_bit(col);
                bits |= __shfl_xor_sync(0xffffffffu, bits, 1);
                bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
                if (thread % 4 == 0 && r < M && col0 + col < N)
                    *tmm__doubt_word(&job, (int)product, (int)r, (int)col0 + col) = bits;
                if (bits) doubtful = 1;
            }
            mask &= ~doubt;
            if (mask) {
                float *to = job.C + product * job.batchC + r * ldc + col0 + col;
                tmm__xstore4(to, r, col0 + col, false, mask, TMM__OF_JOB(alpha, job, product),
                             tmm__xload4(to, false, mask, beta).v, sum[i]);
            }
        }
    }
    __syncthreads();
    tmm__xrecheck(&job, (float *)tmm__memory, thread, false, true, doubtful, false, 64, 64, 1, 0);
#else
    (void)job;
#endif
}
#endif
