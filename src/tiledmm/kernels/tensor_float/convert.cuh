/* src/tiledmm/kernels/tensor_float/convert.cuh. KERNEL CONVERT: an operand becomes FP16.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* KERNEL CONVERT. Makes hi and lo of op(A) and op(B). A cluster of `ranks` blocks, of 1024 threads
   at most, has 8 lines. The first groups_A clusters have those of A; blockIdx.y is the product.
   The blocks take turns along k, each as many k as its threads hold, and tell each other the largest
   magnitudes. Without wgmma `ranks` is 1. A warp has 8 lines x 32 k at a time:
       lane    0       8       16      24             of line lane % 8,
       k       0 - 7   8 - 15  16 - 23 24 - 31        + 32 for the next warp
   A block first finds the largest magnitude of each line, which gives its scale. Then it scales and
   converts. For K up to four times the cluster's threads the elements are in registers by then.
   Longer lines are read again, from L2 if that holds what all blocks read. Moves 8 bytes an element
   through memory, 12 if L2 is too small; 4 operations a byte or so: bound by memory.

   A line with an element that is not finite gets scale 0, and its hi and lo are never used. A wide
   line gets minus its scale: it has elements below least_element after scaling, and not zero. A
   line of zeros has scale 1. */
TMM_KERNEL void __launch_bounds__(1024)
    tmm__xgemm_convert(int K, float least_element, int groups_A, int ranks, const tmm__lines a,
                       const tmm__fp16_operand out_a, const tmm__lines b,
                       const tmm__fp16_operand out_b)
{
    enum { LINES = TMM__CONVERT_LINES, AHEAD = 4 }; /* AHEAD: loads of 8 elements under way */
    __shared__ unsigned top[LINES], small[LINES];
    const int depth = blockDim.x; /* k that all threads have at a time */
    if (!TMM__WGMMA) ranks = 1;
    int group = (int)blockIdx.x / ranks, rank = (int)blockIdx.x % ranks;
    bool is_A = group < groups_A;
    const tmm__lines from = is_A ? a : b;
    const tmm__fp16_operand to = is_A ? out_a : out_b;
    int r = threadIdx.x % LINES, k0 = threadIdx.x / LINES * 8;
    int line = (group - (is_A ? 0 : groups_A)) * LINES + r;
    int from_k = rank * AHEAD * depth, step = ranks * AHEAD * depth; /* of a block's turns */
    unsigned product = blockIdx.y;

    tmm__let_next_begin();
    tmm__wait_for_previous();
    if (product > 0 && from.product_stride == 0) return;
    if (threadIdx.x < LINES) top[threadIdx.x] = small[threadIdx.x] = 0;
    __syncthreads();

    const float *x = from.X + product * from.product_stride + line * from.line_stride;
    int here = line < from.lines ? K : 0; /* elements of this line */
    bool vectors = tmm__vector_loads(&from);
    float chunk[AHEAD][8];
    unsigned most = 0;
    for (int k = from_k; k < K; k += step) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            int at = k + k0 + i * depth;
            tmm__load8(chunk[i], x + at * from.k_stride, from.k_stride, here - at, vectors);
        }
#pragma unroll
        for (int i = 0; i < AHEAD * 8; i++) {
            unsigned size = tmm__float_bits(chunk[i / 8][i % 8]) & 0x7fffffffu;
            most = most > size ? most : size;
        }
    }
#pragma unroll
    for (int i = LINES; i < 32; i *= 2) {
        unsigned other = __shfl_xor_sync(0xffffffffu, most, i);
        most = most > other ? most : other;
    }
    if (threadIdx.x % 32 < LINES) atomicMax(&top[r], most);
    __syncthreads();

#if TMM__WGMMA
    if (ranks > 1) {
        tmm__cluster_arrive(true);
        tmm__cluster_wait();
        if (threadIdx.x < (unsigned)ranks * LINES) /* reads what others find, and may add its own */
            atomicMax(&top[r], tmm__load_word_cluster(&top[r], threadIdx.x / LINES));
        __syncthreads();
    }
#endif

    most = top[r];
    unsigned exponent = tmm__scale_exponent(most);
    float scale = tmm__bits_float(exponent << 23);
    unsigned char *blocks =
        to.blocks + (size_t)product * to.k_blocks * to.line_blocks * TMM__BLOCK_BYTES;
    int padded = 32 * to.k_blocks;
    unsigned least_bits = tmm__float_bits(least_element), least_size = 0xffffffffu;
    bool again = K > step;
    for (int k = from_k + k0; k < padded; k += step) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            int at = k + i * depth;
            if (again)
                tmm__load8(chunk[i], x + at * from.k_stride, from.k_stride, here - at, vectors);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            uint4 hi, lo;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                chunk[i][j] *= scale;
                /* Zero becomes the largest number there is. */
                unsigned size = (tmm__float_bits(chunk[i][j]) & 0x7fffffffu) - 1;
                least_size = least_size < size ? least_size : size;
            }
            tmm__fp16_pair(chunk[i][0], chunk[i][1], &hi.x, &lo.x);
            tmm__fp16_pair(chunk[i][2], chunk[i][3], &hi.y, &lo.y);
            tmm__fp16_pair(chunk[i][4], chunk[i][5], &hi.z, &lo.z);
            tmm__fp16_pair(chunk[i][6], chunk[i][7], &hi.w, &lo.w);
            if (k + i * depth < padded) {
                size_t chunk = tmm__chunk_at(&to, line, k + i * depth);
                *(uint4 *)(blocks + chunk) = hi;
                *(uint4 *)(blocks + (chunk ^ 64)) = lo;
            }
        }
    }
#if TMM__WGMMA
    if (ranks > 1) {
        if (least_size < least_bits - 1) tmm__store_word_cluster(&small[r], 0, 1);
        tmm__cluster_arrive(true);
        tmm__cluster_wait();
        if (rank > 0) return;
    }
#endif
    if (least_size < least_bits - 1) small[r] = 1; /* by any thread of the line */
    __syncthreads();
    if (threadIdx.x < LINES)
        to.scales[product * 64ll * to.line_blocks + line] =
            most < 0x7f800000u ? tmm__bits_float(small[r] << 31 | (254 - exponent) << 23) : 0.0f;
}
#endif
