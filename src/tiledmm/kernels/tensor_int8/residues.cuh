/* src/tiledmm/kernels/tensor_int8/residues.cuh. KERNEL RESIDUES: an operand becomes bytes.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* 32 elements of a thread, of the 64 lines x 128 k of its block. If k is contiguous: 8 lines from
   thread / 32 * 8 on, of 4 k from thread % 32 * 4 on. Else line thread % 64, 32 k from thread / 64
   * 32 on. Zeros where there is no element. All loads of a thread are under way at once. */
TMM__DEVICE void tmm__xgemm_int8_load(const tmm__int8_lines from, long long line0, long long k0,
                                      long long K, double *x)
{
    const int thread = threadIdx.x;
    const bool along_k = from.k_stride == 1;
    bool pairs = along_k && ((size_t)from.X | (size_t)from.line_stride * 8) % 16 == 0;
    bool whole = line0 + 64 <= from.lines && k0 + TMM__INT8_K <= K;
    int line = along_k ? thread / 32 * 8 : thread % 64;
    int k = along_k ? thread % 32 * 4 : thread / 64 * 32;
    const double *at = from.X + (line0 + line) * from.line_stride + (k0 + k) * from.k_stride;
    if (whole && pairs) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            double2 two = *(const double2 *)(at + i / 2 * from.line_stride + i % 2 * 2);
            x[2 * i] = two.x, x[2 * i + 1] = two.y;
        }
    } else if (whole && !along_k) {
#pragma unroll
        for (int i = 0; i < 32; i++) x[i] = at[i * from.k_stride];
    } else {
#pragma unroll
        for (int i = 0; i < 32; i++) {
            int down = along_k ? i / 4 : 0, deep = along_k ? i % 4 : i;
            x[i] = 0;
            tmm__load_if(&x[i], at + down * from.line_stride + deep * from.k_stride, 8,
                         line0 + line + down < from.lines && k0 + k + deep < K);
        }
    }
}

/* Elements become integers of 64 bits, in two words, or (`units`) numbers of units in the lower
   one; zeros, of lines that are not to be used. */
TMM__DEVICE void tmm__xgemm_int8_scale(const tmm__int8_line *lines, bool along_k, int limit,
                                       bool units, const double *x, unsigned *lo, unsigned *hi)
{
    const int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 8; i++) { /* four elements */
        tmm__int8_line l = lines[along_k ? thread / 32 * 8 + i : thread % 64];
        double scale = tmm__power_of_two(units ? -(l.size >> 8) : tmm__int8_shift(limit, l.size));
#pragma unroll
        for (int j = 4 * i; j < 4 * i + 4; j++) {
            double scaled = l.one > 0 ? x[j] * scale : 0;
            if (units) {
                lo[j] = (unsigned)fminf((float)fabs(scaled) * l.per_unit, 255.0f), hi[j] = 0;
            } else {
                unsigned long long n = (unsigned long long)tmm__nearest(scaled);
                lo[j] = (unsigned)n, hi[j] = (unsigned)(n >> 32) ^ 0x80000000u;
            }
        }
    }
}

/* Residues of four elements. x' + 2^63 has eight bytes. Byte i times 2^(8 i) mod p, and the residue
   of -2^63, add up to 18 bits, the mantissa of a float. Adding 1.5 * 2^23 rounds the quotient. The
   remainder is the float's low byte. */
TMM__DEVICE unsigned tmm__xgemm_int8_bytes(const tmm__int8_modulus m, float reciprocal,
                                           float minus_p, float half, const unsigned *lo,
                                           const unsigned *hi)
{
    const float magic = 12582912.0f;
    unsigned residue[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned sum = tmm__dot_bytes(lo[j], m.weights[0], m.first);
        float s = tmm__bits_float(tmm__dot_bytes(hi[j], m.weights[1], sum));
        float q = __fadd_rn(__fmaf_rn(__fsub_rn(s, half), reciprocal, magic), -magic);
        residue[j] = tmm__float_bits(__fmaf_rn(q, minus_p, s));
    }
    return tmm__low_bytes(residue[0], residue[1], residue[2], residue[3]);
}

/* KERNEL RESIDUES. A block of 256 threads has 64 lines x 128 k in registers, 32 elements a thread,
   and makes a block of 8 KB of each modulus, through a ring in shared memory:
       registers      | residues 0 | residues 1 | residues 2 | ...
       bulk copies                 | 0 to memory| 1 to memory|
   The first groups_A blocks along x have lines of A. `state`: says how many moduli; NULL: units of
   every `every`-th block of k. Reads 8 bytes an element and writes L, for 6 instructions each:
   bound by memory. */
TMM_KERNEL void __launch_bounds__(256, 2)
    tmm__xgemm_int8_residues(long long K, int groups_A, int every, const tmm__int8_lines a,
                             const tmm__int8_lines b, const tmm__int8_operand to_a,
                             const tmm__int8_operand to_b, const tmm__int8_state *state,
                             const tmm__int8_residues tables)
{
    enum { STAGES = 4 };
    __shared__ __align__(128) unsigned char ring[STAGES][TMM__INT8_BLOCK];
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool is_A = (int)blockIdx.x < groups_A, units = state == NULL;
    const int thread = threadIdx.x, group = (int)blockIdx.x - (is_A ? 0 : groups_A);
    const int moduli = units ? 1 : (int)state->moduli;
    if (moduli == 0) return; /* FP64 for all */
    const int choice = units ? 0 : moduli - TMM__INT8_LEAST;
    const tmm__int8_operand to = is_A ? to_a : to_b;
    const tmm__int8_lines from = is_A ? a : b;
    const bool along_k = from.k_stride == 1;
    unsigned lo[32], hi[32];
    double x[32];
    tmm__xgemm_int8_load(from, 64ll * group, (long long)blockIdx.y * every * TMM__INT8_K, K, x);
    tmm__xgemm_int8_scale(to.lines + 64 * group, along_k, tables.limit[choice], units, x, lo, hi);
    size_t step = (size_t)gridDim.y * to.pitch * TMM__INT8_BLOCK;
    unsigned char *out =
        (units ? to.units : to.planes) + ((size_t)blockIdx.y * to.pitch + group) * TMM__INT8_BLOCK;
#pragma unroll 1
    for (int l = 0; l < moduli; l++, out += step) {
        unsigned char *at = ring[l % STAGES];
        unsigned word[8];
        if (units) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                word[i] = tmm__low_bytes(lo[4 * i], lo[4 * i + 1], lo[4 * i + 2], lo[4 * i + 3]);
        } else {
            tmm__int8_modulus m = tables.b[l];
            if (is_A) m = tables.a[choice][l];
            const float reciprocal = tables.reciprocal[l], minus_p = tables.minus_p[l];
            const float half = tables.half[l];
#pragma unroll
            for (int i = 0; i < 8; i++)
                word[i] =
                    tmm__xgemm_int8_bytes(m, reciprocal, minus_p, half, lo + 4 * i, hi + 4 * i);
        }
        if (along_k) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                *(unsigned *)(at + (thread / 32 * 8 + i) * 128 + ((thread % 32 / 4) ^ i) * 16 +
                              thread % 4 * 4) = word[i];
        } else {
#pragma unroll
            for (int i = 0; i < 2; i++)
                *(uint4 *)(at + thread % 64 * 128 + ((thread / 64 * 2 + i) ^ thread % 8) * 16) =
                    make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
        }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        /* PTX ISA 9.7, "cp.async.bulk". All have stored block l; and block l + 1 - STAGES has been
           read, whose place block l + 1 takes. */
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        if (thread == 0)
            asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (thread == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                         "r"((unsigned)__cvta_generic_to_shared(at)), "r"((unsigned)TMM__INT8_BLOCK)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
#else
        __syncthreads();
        for (int i = thread; i < TMM__INT8_BLOCK / 16; i += 256)
            ((uint4 *)out)[i] = ((const uint4 *)at)[i];
#endif
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
#endif
