/* src/tiledmm/kernels/tensor_half/align.cuh. Lines that TMA cannot take, copied so that it can.
   Uses: once/. Used by: costs.h, launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
#if !defined(TMM__HALF_ONCE)
/* Lines of `cols` elements of 16 bits, ld apart, `rows` of them in each of `items` products. */
typedef struct tmm__half_operand {
    const void *from;
    void *to;
    long long rows, cols, ld, stride, items, pitch;
} tmm__half_operand;
typedef struct tmm__half_copies {
    tmm__half_operand operands[2]; /* without rows: nothing to do */
    unsigned second;               /* the first block of B */
} tmm__half_copies;
#endif

/* KERNEL ALIGN. A thread copies 8 elements, neighbours those beside them, and the next lines:

       from   |e|w w|w w|w w|e|    off 4 bytes: an element, three words, an element
              |w w|w w|w w|w w|    else four words
       to     |v v v v v v v v|    16 bytes; lines `pitch` apart, a multiple of 8

   Nothing beside the line is read. What follows its last element, up to 8, becomes 0.
   2 bytes read and written an element, nothing computed: bound by memory, or L2 where both fit. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_half_align(const tmm__half_copies job)
{
    tmm__let_next_begin(); /* the product, which waits for all of this */
    tmm__wait_for_previous();
    const bool is_B = blockIdx.x >= job.second;
    const tmm__half_operand x = is_B ? job.operands[1] : job.operands[0];
    const long long at = (blockIdx.x - (is_B ? job.second : 0)) * 256ll + threadIdx.x;
    const long long rows = x.rows, vectors = (x.cols + 7) / 8, r = at / vectors;
    if (r >= rows * x.items) return;
    const long long col = (at - r * vectors) * 8, left = x.cols - col;
    const long long item = x.items > 1 ? r / rows : 0;
    const unsigned short *from =
        (const unsigned short *)x.from + item * x.stride + (r - item * rows) * x.ld + col;
    unsigned w[4] = {0, 0, 0, 0};
    if (left < 8) {
#pragma unroll
        for (int n = 0; n < 7; n++)
            if (n < left) w[n / 2] |= (unsigned)from[n] << n % 2 * 16;
    } else if ((size_t)from % 4 == 0) {
#pragma unroll
        for (int n = 0; n < 4; n++) w[n] = ((const unsigned *)from)[n];
    } else {
        unsigned words[5] = {(unsigned)from[0] << 16, 0, 0, 0, from[7]};
#pragma unroll
        for (int n = 0; n < 3; n++) words[n + 1] = ((const unsigned *)(from + 1))[n];
#pragma unroll
        for (int n = 0; n < 4; n++) w[n] = words[n] >> 16 | words[n + 1] << 16;
    }
    *(uint4 *)((unsigned short *)x.to + r * x.pitch + col) = make_uint4(w[0], w[1], w[2], w[3]);
}
#endif
