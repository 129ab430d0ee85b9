/* src/tiledmm/kernels/tensor_int8/numbers.cuh. Residues, 128-bit sums, and which elements of C are
   proved.
   Uses: kernels/common/tensor_ptx.cuh, types.cuh, once/. Used by: kernels/tensor_int8/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR && !defined(TMM__DOUBLE_ONCE)
/* 2^n, n within the range of normal numbers. */
TMM__DEVICE double tmm__power_of_two(int n)
{
    unsigned long long bits = (unsigned long long)(1023 + n) << 52;
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* c + sum of four products of the bytes of a, unsigned, and of b, signed: PTX ISA 9.7, "dp4a". */
TMM__DEVICE unsigned tmm__dot_bytes(unsigned a, unsigned b, unsigned c)
{
#if defined(__CUDA_ARCH__)
    unsigned d;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
#else
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (unsigned)(int)(signed char)(b >> i);
    return c;
#endif
}

/* The same of unsigned bytes alone. */
TMM__DEVICE unsigned tmm__dot_unsigned(unsigned a, unsigned b)
{
#if defined(__CUDA_ARCH__)
    unsigned d;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));
    return d;
#else
    unsigned c = 0;
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
    return c;
#endif
}

/* The lowest bytes of four words, a's first. */
TMM__DEVICE unsigned tmm__low_bytes(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* The integer nearest to x, ties to even, |x| < 2^63. */
TMM__DEVICE long long tmm__nearest(double x)
{
#if defined(__CUDA_ARCH__)
    return __double2ll_rn(x);
#else
    return llrint(x);
#endif
}

/* What remains of a sum of products of bytes, in [0, 2^32): modulo p, inverse being floor(2^32 /
   p). The quotient found is right or 1 too small. */
TMM__DEVICE unsigned tmm__int8_remainder(unsigned x, unsigned p, unsigned inverse)
{
    x -= __umulhi(x, inverse) * p;
    unsigned less = x - p;
    return x < less ? x : less;
}

/* A byte for a sum of products of units: 8 times its logarithm, rounded down. Of what it was at
   least tmm__int8_from_log tells: 7/8 of it or more. 0 may be 0 or 1. */
TMM__DEVICE unsigned tmm__int8_log(unsigned x)
{
    /* To float by cutting off: 24 bits at most are left after that. */
    float cut = (float)(x >= 0x1000000u ? x & 0xffffff00u : x);
    return x == 0 ? 0 : (tmm__float_bits(cut) >> 20) - (127 << 3);
}

TMM__DEVICE float tmm__int8_from_log(unsigned code)
{
    return code == 0 ? 0 : tmm__bits_float((code << 20) + (127u << 23));
}

/* How far a line is scaled for a choice of moduli: x' = rint(2^s x). */
TMM__DEVICE int tmm__int8_shift(int limit, int size)
{
    return (limit - size) >> 8;
}

/* g = 2^-(s + e), so that |x_s|_1 g = one; 0 for a line of zeros, which makes T = 0. */
TMM__DEVICE float tmm__int8_rest(int limit, const tmm__int8_line *line)
{
    int exponent = tmm__int8_shift(limit, line->size) + (line->size >> 8);
    return line->one == 0 ? 0 : tmm__bits_float((unsigned)(127 - exponent) << 23);
}

/* T_ij for one line, to be put together by tmm__int8_threshold; all in units of 2^(e_i + e_j). */
typedef struct tmm__int8_part {
    float slope, own; /* T = slope g_j + own one_j */
} tmm__int8_part;

TMM__DEVICE tmm__int8_part tmm__int8_half(const tmm__int8_line *line, float g, float kappa,
                                          float half_K)
{
    tmm__int8_part part;
    part.own = kappa * g;
    part.slope = kappa * line->one + part.own * half_K;
    return part;
}

TMM__DEVICE float tmm__int8_threshold(tmm__int8_part row, float col_g, float col_one)
{
    return row.slope * col_g + row.own * col_one;
}

/* Which L from `least` on costs least, 0 for FP64, in units of a product of bytes. `fp64`: all
   elements by FP64; `each`: all one by one, if all were open; `first`: that there is one. */
TMM__DEVICE unsigned tmm__int8_decide(const volatile tmm__int8_state *state, int least, float fp64,
                                      float each, float first)
{
    unsigned best = 0;
    float lowest = fp64;
    double all = (double)state->looked;
    for (int i = least - TMM__INT8_LEAST; i < TMM__INT8_CHOICES; i++) {
        float cost = TMM__INT8_LEAST + i + each * (float)((double)state->failed[i] / all);
        if (state->failed[i] > 0) cost += first;
        if (cost < lowest) lowest = cost, best = TMM__INT8_LEAST + i;
    }
    return best;
}

/* c += a b by a warp, of bytes without sign: a 16 x 32, b 32 x 8, modulo 2^32. For lane l, g = l /
   4 and t = l % 4; each word of a and b is four neighbours along k (PTX ISA 9.7, "Matrix Fragments
   for mma.m16n8k32"; before sm_80 "mma.m8n8k16", four of which are as much):
       a[0] = a(g, 4t)  a[1] = a(g + 8, 4t)  a[2] = a(g, 4t + 16)  a[3] = a(g + 8, 4t + 16)
       b[0] = b(4t, g)  b[1] = b(4t + 16, g)
       c[0], c[1] = c(g, 2t), c(g, 2t + 1)   c[2], c[3] = c(g + 8, 2t), c(g + 8, 2t + 1) */
TMM__DEVICE void tmm__mma_bytes(unsigned *c, const unsigned *a, const unsigned *b)
{
#if TMM__ASYNC
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
#pragma unroll
    for (int i = 0; i < 4; i++)
        asm volatile(
            "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+r"(c[i % 2 * 2]), "+r"(c[i % 2 * 2 + 1])
            : "r"(a[i]), "r"(b[i / 2]));
#else
    int lane = threadIdx.x % 32, g = lane / 4 * 4, t = lane % 4 * 8;
    if (!__any_sync(0xffffffffu, (a[0] | a[1] | a[2] | a[3]) != 0)) return; /* padding */
    if (!__any_sync(0xffffffffu, (b[0] | b[1]) != 0)) return;
    const unsigned long long near_a = (unsigned long long)a[1] << 32 | a[0];
    const unsigned long long far_a = (unsigned long long)a[3] << 32 | a[2];
    const unsigned long long both_b = (unsigned long long)b[1] << 32 | b[0];
    for (int k = 0; k < 4; k++) { /* words along k, and those 16 k further on */
        unsigned long long two_a[2] = {__shfl_sync(0xffffffffu, near_a, g + k),
                                       __shfl_sync(0xffffffffu, far_a, g + k)};
        unsigned long long two_b[2] = {__shfl_sync(0xffffffffu, both_b, t + k),
                                       __shfl_sync(0xffffffffu, both_b, t + 4 + k)};
        for (int n = 0; n < 8; n++) /* bytes, of the near words first */
            for (int i = 0; i < 4; i++)
                c[i] += (unsigned)(two_a[n / 4] >> (i / 2 * 32 + n % 4 * 8) & 255) *
                        (unsigned)(two_b[i % 2] >> 8 * n & 255);
    }
#endif
}

/* Four sums of a thread as a word of a plane of C. */
TMM__DEVICE unsigned tmm__int8_word(const unsigned *c, unsigned p, unsigned inverse, bool units)
{
    return units ? tmm__low_bytes(tmm__int8_log(c[0]), tmm__int8_log(c[1]), tmm__int8_log(c[2]),
                                  tmm__int8_log(c[3]))
                 : tmm__low_bytes(tmm__int8_remainder(c[0], p, inverse),
                                  tmm__int8_remainder(c[1], p, inverse),
                                  tmm__int8_remainder(c[2], p, inverse),
                                  tmm__int8_remainder(c[3], p, inverse));
}

/* Where tile number `tile` of a plane is: bands of TMM__INT8_BAND rows, walked column by column. */
TMM__DEVICE void tmm__int8_find(int tile, int down, int across, int *row, int *col)
{
    int band = tile / (TMM__INT8_BAND * across), in = tile - band * TMM__INT8_BAND * across;
    int rows = down - band * TMM__INT8_BAND;
    if (rows > TMM__INT8_BAND) rows = TMM__INT8_BAND;
    *col = in / rows;
    *row = band * TMM__INT8_BAND + in - *col * rows;
}

/* A piece of C: where its planes are. */
TMM__DEVICE size_t tmm__int8_piece_at(int row, int col, int pieces_across)
{
    return ((size_t)row * pieces_across + col) * (TMM__INT8_PLANES * TMM__INT8_PIECE);
}
#endif
