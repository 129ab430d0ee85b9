/* src/tiledmm/kernels/tensor_int8/sums.cuh. KERNEL SUMS: residues become elements of C.
   Uses: kernels/common/, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* Blocks of KERNEL SUMS to a multiprocessor: three leave 80 registers a thread, with which code for
   others than sm_90 spills, and code with epilogues of calls. */
#ifndef TMM__INT8_SUMS_BLOCKS
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900 && !defined(TMM_WITH_EPILOGUE)
#define TMM__INT8_SUMS_BLOCKS 3
#else
#define TMM__INT8_SUMS_BLOCKS 2
#endif
#endif

/* Adds a group of moduli, of which n is sum y_l Q / p_l, to the 128-bit sum and to the quotient,
   which has 12 bits after the point. Products of 32 bits go to sums of 64: less than 2^58 each. */
TMM__DEVICE void tmm__xgemm_int8_add(unsigned n, const unsigned *weight, unsigned for_quotient,
                                     unsigned quotient, unsigned long long *e, unsigned *top,
                                     unsigned *q)
{
#pragma unroll
    for (int i = 0; i < 3; i++) e[i] += (unsigned long long)n * weight[i];
    *top += n * weight[3];
    *q += __umulhi(for_quotient, quotient);
}

/* n of a group of three moduli. Their residues, byte number `byte` of three words, are put into one
   word and multiplied by dp4a: half of the instructions. */
TMM__DEVICE unsigned tmm__xgemm_int8_group(unsigned a, unsigned b, unsigned c, int byte,
                                           unsigned low, unsigned high)
{
    const unsigned pairs = __byte_perm(a, b, byte < 2 ? 0x5140 : 0x7362); /* of two elements */
    const unsigned y = __byte_perm(pairs, c, (byte % 2 ? 0x32 : 0x10) | (4 + byte) << 8);
    return tmm__dot_unsigned(y, low) + (tmm__dot_unsigned(y, high) << 8);
}

/* One element: its residues are byte number `byte` of words[0 to L - 1]. The integer A'B', as a
   double. For L = 16 there is a sixth group. */
TMM__DEVICE double tmm__xgemm_int8_integer(const unsigned *words, int byte,
                                           const tmm__int8_sums *tables, const int choice)
{
    static const int members[5][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 13}, {11, 12, 14}};
    unsigned n, q = 1u << 11, top = 0;
    unsigned long long e[3] = {0, 0, 0};
#pragma unroll
    for (int g = 0; g < 5; g++) {
        const int third = members[g][2];
        n = tmm__xgemm_int8_group(words[members[g][0]], words[members[g][1]],
                                  third < TMM__INT8_LEAST + choice ? words[third] : 0, byte,
                                  tables->low[choice][g], tables->high[choice][g]);
        tmm__xgemm_int8_add(n, tables->weight[choice][g], n, tables->quotient[choice][g], e, &top,
                            &q);
    }
    n = words[15] >> 8 * byte & 255;
    if (choice == TMM__INT8_CHOICES - 1)
        tmm__xgemm_int8_add(n, tables->weight[choice][5], n << 20, tables->quotient[choice][5], e,
                            &top, &q);
    q >>= 12;
#pragma unroll
    for (int i = 0; i < 3; i++) e[i] += (unsigned long long)q * tables->minus_P[choice][i];
    top += q * tables->minus_P[choice][3];
    e[1] += e[0] >> 32;
    e[2] += e[1] >> 32;
    top += (unsigned)(e[2] >> 32);
    unsigned long long low = (e[1] << 32) | (unsigned)e[0];
    unsigned long long high = ((unsigned long long)top << 32) | (unsigned)e[2];
    /* The lower half with a sign, too: then a small negative number has no bits to be rounded away,
       for the upper half is 0. */
    high += low >> 63;
    return (double)(long long)high * 18446744073709551616.0 + (double)(long long)low;
}

/* The 8 elements of a thread, of which `two` has the bytes: stores those that are proved, and
   gives bits of the others. `choice` is a constant, so that the tables' numbers are operands of
   instructions. */
TMM__DEVICE unsigned tmm__xgemm_int8_store(const tmm__int8_job *job, const tmm__int8_sums *tables,
                                           const uint2 *two, int row, int col, const int choice)
{
    const int limit = tables->limit[choice];
    tmm__int8_part parts[2];
    float row_g[2], row_unit[2];
    double row_scale[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        tmm__int8_line line = job->a.lines[row + 8 * h];
        row_g[h] = tmm__int8_rest(limit, &line), row_unit[h] = line.unit * 0.9999f;
        parts[h] = tmm__int8_half(&line, row_g[h], tables->kappa, tables->half_K);
        row_scale[h] = tmm__power_of_two(-tmm__int8_shift(limit, line.size));
    }
    double *C = job->C + row * job->ldc + col;
    const bool aligned = ((size_t)C | (size_t)job->ldc * 8) % 16 == 0;
    unsigned open = 0;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        unsigned words[TMM__INT8_PLANES];
#pragma unroll
        for (int l = 0; l < TMM__INT8_PLANES; l++) words[l] = j == 0 ? two[l].x : two[l].y;
        float col_g[2], col_one[2], col_unit[2];
        double col_scale[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            tmm__int8_line line = job->b.lines[col + 8 * j + i];
            col_g[i] = tmm__int8_rest(limit, &line), col_one[i] = line.one;
            col_unit[i] = line.unit;
            col_scale[i] = tmm__power_of_two(-tmm__int8_shift(limit, line.size));
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            double sum[2];
            unsigned proved = 0;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                double x = tmm__xgemm_int8_integer(words, 2 * h + i, tables, choice);
                float threshold = tmm__int8_threshold(parts[h], col_g[i], col_one[i]);
                float units = tmm__int8_from_log(words[TMM__INT8_UNITS] >> (16 * h + 8 * i) & 255);
                bool shown = fabsf((float)x) * row_g[h] * col_g[i] * 0.999f >= threshold;
                shown |= units * row_unit[h] * col_unit[i] >= threshold;
                bool exists = row + 8 * h < job->M && col + 8 * j + i < job->N;
                if (exists && shown) proved |= 1u << i;
                if (exists && !shown) open |= 1u << (4 * j + 2 * h + i);
                sum[i] = x * row_scale[h] * col_scale[i];
            }
            double *to = C + 8 * h * job->ldc + 8 * j;
            tmm__xouts2 old = {{0, 0}};
            if (job->beta != 0) old = tmm__xload2(to, aligned, proved);
            tmm__xstore2(to, row + 8 * h, col + 8 * j, aligned, proved,
                         TMM__OF_JOB(job->alpha, *job, 0), job->beta, old, sum);
        }
    }
    return open;
}

/* KERNEL SUMS. 256 threads have a piece of 64 x 32 elements, 8 a thread: two have what
   kernels/tensor_int8/types.cuh says of one. A thread loads 8 bytes of each plane, all before the first
   is needed. Proved elements are stored; the others are left as they are, and a bit of each is set.
   Reads L + 1 bytes an element and writes 8 and 1/8, for some 160 instructions: bound by memory and
   instructions alike. */
TMM_KERNEL void __launch_bounds__(256, TMM__INT8_SUMS_BLOCKS)
    tmm__xgemm_int8_sums(const tmm__int8_job job, const tmm__int8_sums tables)
{
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const unsigned moduli = job.state->moduli;
    const int n = blockIdx.x, t = threadIdx.x / 2, half = threadIdx.x % 2, lane = t % 32;
    if (moduli == 0) return;
    const int piece_row = n / job.pieces_across, piece_col = n - piece_row * job.pieces_across;
    const int row = piece_row * 64 + t / 32 * 16 + lane / 4,
              col = piece_col * 32 + half * 16 + lane % 4 * 2;
    const unsigned char *from =
        job.planes + tmm__int8_piece_at(piece_row, piece_col, job.pieces_across) + threadIdx.x * 8;
    uint2 two[TMM__INT8_PLANES];
#pragma unroll
    for (int l = 0; l < TMM__INT8_PLANES; l++) {
        two[l] = make_uint2(0, 0);
        if (l < TMM__INT8_LEAST || l < (int)moduli || l == TMM__INT8_UNITS)
            two[l] = __ldcs((const uint2 *)(from + l * TMM__INT8_PIECE));
    }
    unsigned open = 0;
    switch (moduli) {
    case 13: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 0); break;
    case 14: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 1); break;
    case 15: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 2); break;
    default: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 3); break;
    }
    ((unsigned char *)job.open)[(size_t)n * 256 + threadIdx.x] = (unsigned char)open;
    if (open != 0) job.state->open = 1;
}
#endif
