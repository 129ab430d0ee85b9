/* src/tiledmm/kernels/tensor_float/numbers.cuh. FP16 and BF16 parts of a float; which elements of C need
   the recheck.
   Uses: kernels/common/tensor_ptx.cuh, types.cuh, once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
/* The bits of the FP16 nearest to x, ties to even, as cvt.rn.f16.f32 gives them. */
TMM__DEVICE unsigned tmm__to_half(float x)
{
    unsigned bits = tmm__float_bits(x), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (size > 0x7f800000u) return sign | 0x7e00u;
    if (size >= 0x47800000u) return sign | 0x7c00u; /* from 2^16 on */
    if (size < 0x38800000u)                         /* below 2^-14: multiples of 2^-24 */
        return sign | (tmm__float_bits(tmm__bits_float(size) + 0.5f) - 0x3f000000u);
    return sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
}

TMM__DEVICE float tmm__load_half(const unsigned char *at)
{
    return tmm__from_half(*(const unsigned short *)at);
}

/* Three BF16 terms of each of two neighbours, x = x1 + x2 + x3; x goes to the lower 16 bits. The
   upper 16 bits of a float are a BF16, cut towards zero. Of what is returned the lower 16 bits are
   0 if the terms are exact, which they are where x is 0 or |x| at least 2^-110. */
TMM__DEVICE unsigned tmm__bf16_triple(float x, float y, unsigned *terms)
{
    unsigned bits_x = tmm__float_bits(x), bits_y = tmm__float_bits(y);
#pragma unroll
    for (int i = 0; i < 3; i++) {
#if defined(__CUDA_ARCH__)
        terms[i] = __byte_perm(bits_x, bits_y, 0x7632);
#else
        terms[i] = bits_x >> 16 | (bits_y & 0xffff0000u);
#endif
        if (i == 2) break;
        x -= tmm__bits_float(bits_x & 0xffff0000u), y -= tmm__bits_float(bits_y & 0xffff0000u);
        bits_x = tmm__float_bits(x), bits_y = tmm__float_bits(y);
    }
    return bits_x | bits_y;
}

/* hi and lo of two neighbours; x goes to the lower 16 bits. */
TMM__DEVICE void tmm__fp16_pair(float x, float y, unsigned *hi, unsigned *lo)
{
    const float factor = (float)(1 << TMM__LO_SHIFT);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    /* PTX ISA 9.7, "cvt": the second source goes to the lower half. */
    float hi_x, hi_y;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*hi) : "f"(y), "f"(x));
    asm("{\n.reg .f16 low, high;\nmov.b32 {low, high}, %2;\n"
        "cvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
        : "=f"(hi_x), "=f"(hi_y)
        : "r"(*hi));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(*lo)
        : "f"((y - hi_y) * factor), "f"((x - hi_x) * factor));
#else
    unsigned hi_x = tmm__to_half(x), hi_y = tmm__to_half(y);
    *hi = hi_x | hi_y << 16;
    *lo = tmm__to_half((x - tmm__from_half(hi_x)) * factor);
    *lo |= tmm__to_half((y - tmm__from_half(hi_y)) * factor) << 16;
#endif
}

/* The scale of a line as the exponent of a float, by the bits of its largest magnitude: that is then
   in [2^14, 2^15), with 2^126 at most. A line of zeros, or one that is not finite, has scale 1. */
TMM__DEVICE unsigned tmm__scale_exponent(unsigned most)
{
    unsigned exponent = 268 - (most >> 23);
    if (exponent > 253) exponent = 253;
    return most == 0 || most >= 0x7f800000u ? 127 : exponent;
}

/* Whether 8 elements of a line, from a multiple of 8 on, can be loaded by vectors of 16 bytes. */
TMM__DEVICE bool tmm__vector_loads(const tmm__lines *from)
{
    return from->k_stride == 1 && (size_t)from->X % 16 == 0 && from->line_stride % 4 == 0 &&
           from->product_stride % 4 == 0;
}

/* 8 elements from x on, `stride` apart, of which `left` exist; zeros for the others. `vectors`: see
   tmm__vector_loads. */
TMM__DEVICE void tmm__load8(float *x8, const float *x, long long stride, int left, bool vectors)
{
    if (vectors && left >= 8) {
        float4 first = *(const float4 *)x, second = *(const float4 *)(x + 4);
        x8[0] = first.x, x8[1] = first.y, x8[2] = first.z, x8[3] = first.w;
        x8[4] = second.x, x8[5] = second.y, x8[6] = second.z, x8[7] = second.w;
    } else {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x8[i] = 0;
            tmm__load_if(&x8[i], x, 4, i < left);
            x += stride;
        }
    }
}

/* The same by the fewest instructions for addresses, for a loop that is bound by issue. */
TMM__DEVICE void tmm__load_chunk(float *x8, const float *x, long long stride, int left,
                                 bool vectors)
{
    if (vectors || left < 8) {
        tmm__load8(x8, x, stride, left, vectors);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float *one = x + (i & 1) * stride, *other;
        TMM__HIDE_POINTER(one);
        one += (i & 2) * stride;
        TMM__HIDE_POINTER(one);
        other = one + 4 * stride;
        x8[i] = *one, x8[4 + i] = *other;
    }
}

/* Whether an element of C is rejected: `p` is the product of the scales of its row and column, and
   [scale_min, scale_max] what its magnitude may be. */
TMM__DEVICE bool tmm__is_rejected(float p, float scale_min, float scale_max)
{
    return !((fabsf(p) >= scale_min) & (fabsf(p) <= scale_max)); /* no branch */
}

/* Whether an element of C is doubtful: a line is wide, and `sum`, before scaling, is small. */
TMM__DEVICE bool tmm__is_doubtful(float row_scale, float col_scale, float sum, float doubt_below)
{
    return ((row_scale < 0) | (col_scale < 0)) & !(fabsf(sum) >= doubt_below);
}

/* The bits of doubtful elements, 16 of a row to a word. Byte t belongs to the thread with lane % 4
   = t in a fragment of C. Its bits 0 to 3 are columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9. A warp writes
   all of its words if one of its lines is wide, else none. The same block reads a word if its row
   is wide, or one of its 16 columns. */
TMM__DEVICE unsigned *tmm__doubt_word(const tmm__float_job *job, int product, int row, int col)
{
    return job->doubt + (product * job->M + row) * job->doubt_pitch + col / 16;
}

/* The bit of a column. */
TMM__DEVICE int tmm__doubt_bit(int col)
{
    return col % 8 / 2 * 8 + col % 16 / 8 * 2 + col % 2;
}

/* Where the chunk of hi of a line lies, in bytes, k being a multiple of 8. That of lo is at ^
   64. */
TMM__DEVICE size_t tmm__chunk_at(const tmm__fp16_operand *x, int line, int k)
{
    size_t block = (size_t)(k / 32) * x->line_blocks + line / 64;
    return block * TMM__BLOCK_BYTES + line % 64 * 128 + (((k / 8 % 4) ^ line % 8) * 16);
}

/* Whether a quarter has so few doubtful elements that threads compute one each. For K = 4096 that
   takes a block some 3 microseconds an element. A tile of 64 x 64 by FP32 takes 280, one of 128 x
   128 by BF16x6 220. */
TMM__DEVICE bool tmm__is_sparse(const tmm__region *region, int quarter, bool bf16x6)
{
    const unsigned *doubtful = region->doubtful;
    if (bf16x6) return doubtful[0] + doubtful[1] + doubtful[2] + doubtful[3] <= TMM__SPARSE_BF16X6;
    return doubtful[quarter] <= TMM__SPARSE_FP32;
}
#endif
