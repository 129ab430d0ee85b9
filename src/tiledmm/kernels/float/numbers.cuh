/* src/tiledmm/kernels/float/numbers.cuh. Halves and pieces of a float; which elements of C need more.
   Uses: kernels/float/types.cuh. Used by: kernels/float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__PART_FLOAT_NUMBERS)
#define TMM__PART_FLOAT_NUMBERS
/* wgmma, mbarriers and bulk copies are for this one architecture. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TMM__WGMMA 1
#else
#define TMM__WGMMA 0
#endif

static __device__ __forceinline__ unsigned tmm__float_bits(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static __device__ __forceinline__ float tmm__bits_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* The bits of the half nearest to x, ties to even, as cvt.rn.f16.f32 gives them; and its value. */
static __device__ __forceinline__ unsigned tmm__to_half(float x)
{
    unsigned bits = tmm__float_bits(x), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (size > 0x7f800000u) return sign | 0x7e00u;
    if (size >= 0x47800000u) return sign | 0x7c00u; /* from 2^16 on */
    if (size < 0x38800000u)                         /* below 2^-14: multiples of 2^-24 */
        return sign | (tmm__float_bits(tmm__bits_float(size) + 0.5f) - 0x3f000000u);
    return sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
}

static __device__ __forceinline__ float tmm__from_half(unsigned half)
{
    unsigned sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
    if (size < 0x400u) {
        float small = (float)size * 5.9604644775390625e-8f; /* 2^-24 */
        return tmm__bits_float(sign | tmm__float_bits(small));
    }
    if (size >= 0x7c00u) return tmm__bits_float(sign | 0x7f800000u | size << 13);
    return tmm__bits_float(sign | ((size << 13) + 0x38000000u));
}

/* Splits two neighbours in three pieces of BF16 each, x = x1 + x2 + x3, the first neighbour in the
   lower 16 bits: the upper half of a float is a BF16, cut towards zero. Returns bits of which the
   lower 16 are 0 if that is exact: where x is 0 or |x| at least 2^-110. */
static __device__ __forceinline__ unsigned tmm__split_three(float x, float y, unsigned *pieces)
{
    unsigned bits_x = tmm__float_bits(x), bits_y = tmm__float_bits(y);
#pragma unroll
    for (int i = 0; i < 3; i++) {
#if defined(__CUDA_ARCH__)
        pieces[i] = __byte_perm(bits_x, bits_y, 0x7632);
#else
        pieces[i] = bits_x >> 16 | (bits_y & 0xffff0000u);
#endif
        if (i == 2) break;
        x -= tmm__bits_float(bits_x & 0xffff0000u), y -= tmm__bits_float(bits_y & 0xffff0000u);
        bits_x = tmm__float_bits(x), bits_y = tmm__float_bits(y);
    }
    return bits_x | bits_y;
}

/* Splits two neighbours: their halves hi and lo, the first one in the lower 16 bits. */
static __device__ __forceinline__ void tmm__split_two(float x, float y, unsigned *hi, unsigned *lo)
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

/* Whether 8 elements of a line, from a multiple of 8 on, can be loaded by 16 bytes. */
static __device__ __forceinline__ bool tmm__loads_wide(const tmm__lines *from)
{
    return from->k_stride == 1 && (size_t)from->X % 16 == 0 && from->line_stride % 4 == 0 &&
           from->product_stride % 4 == 0;
}

/* 8 elements from x on, `stride` apart, of which `left` exist; zeros for the others. `wide`: they
   can be loaded by 16 bytes. */
static __device__ __forceinline__ void tmm__load_eight(float *eight, const float *x,
                                                       long long stride, int left, bool wide)
{
    if (wide && left >= 8) {
        float4 first = *(const float4 *)x, second = *(const float4 *)(x + 4);
        eight[0] = first.x, eight[1] = first.y, eight[2] = first.z, eight[3] = first.w;
        eight[4] = second.x, eight[5] = second.y, eight[6] = second.z, eight[7] = second.w;
    } else {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            eight[i] = 0;
            tmm__load_if(&eight[i], x, 4, i < left);
            x += stride;
        }
    }
}

/* The same; with addresses that take the fewest instructions, for where all count. */
static __device__ __forceinline__ void tmm__load_chunk(float *eight, const float *x,
                                                       long long stride, int left, bool wide)
{
    if (wide || left < 8) {
        tmm__load_eight(eight, x, stride, left, wide);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float *one = x + (i & 1) * stride, *other;
        TMM__HIDE_POINTER(one);
        one += (i & 2) * stride;
        TMM__HIDE_POINTER(one);
        other = one + 4 * stride;
        eight[i] = *one, eight[4 + i] = *other;
    }
}

/* Whether the element of C where a row and a column meet is left to multiply-adds whatever it is:
   `p` is the product of their scales, [least, most] what its magnitude may be. */
static __device__ __forceinline__ bool tmm__is_strict(float p, float least, float most)
{
    return !((fabsf(p) >= least) & (fabsf(p) <= most)); /* no branch: it is asked often */
}

/* Whether it is left to them because of what its `sum` is, before scaling; one of the lines must be
   wide. */
static __device__ __forceinline__ bool tmm__is_unproven(float row_scale, float col_scale, float sum,
                                                        float proof)
{
    return ((row_scale < 0) | (col_scale < 0)) & !(fabsf(sum) >= proof);
}

/* Where the bits of 16 elements of a row of C are that are noted because of what they are. Byte t is
   of the thread with t = lane % 4 in a fragment of C, columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9, bits 0
   to 3. Written only by a warp that finds a wide line among its rows and columns, and then for all
   of them; read by the block that wrote it, where the row or one of the 16 columns is wide. */
static __device__ __forceinline__ unsigned *tmm__unproven_at(const tmm__float_job *job, int product,
                                                             int row, int col)
{
    return job->unproven + (product * job->M + row) * job->units + col / 16;
}

/* The bit of a column. */
static __device__ __forceinline__ int tmm__unproven_bit(int col)
{
    return col % 8 / 2 * 8 + col % 16 / 8 * 2 + col % 2;
}

/* Where the eight bytes of halves of line `line` and from k on lie: hi; those of lo are at ^ 64. */
static __device__ __forceinline__ size_t tmm__halves_at(const tmm__split *s, int line, int k)
{
    size_t block = (size_t)(k / 32) * s->line_blocks + line / 64;
    return block * TMM__BLOCK_BYTES + line % 64 * 128 + (((k / 8 % 4) ^ line % 8) * 16);
}

/* Whether elements that have been noted in a quarter are so few that threads compute one each. That
   takes a block some 3 microseconds an element for K = 4096; a tile of 64 x 64 takes 280, one of
   128 x 128 by tmm_float_six, if that is allowed, 220. */
static __device__ __forceinline__ bool tmm__are_few(const tmm__square *square, int quarter,
                                                    bool six)
{
    const unsigned *noted = square->noted;
    if (six) return noted[0] + noted[1] + noted[2] + noted[3] <= TMM__SIX_FEW;
    return noted[quarter] <= TMM__STRICT_FEW;
}
#endif
