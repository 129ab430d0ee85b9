/* src/tiledmm/kernels/float/convert_tiles.cuh. KERNEL CONVERT TILES: a large operand becomes FP16.
   Uses: kernels/float/numbers.cuh. Used by: kernels/float/launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
#if TMM__WGMMA
/* Loads a warp's tile: lane l gets 32 k of one line. (line, at): where the tile begins; it has
   `lines` lines, 32 / lines times 32 k of each. Neighbouring lanes read neighbouring words, so each
   load is of 128 bytes, wherever they begin: along lines, then through `mine` to the lane that has
   the line; or across them, at one k of 32 lines (of 8, 32 bytes). Zeros stand for what is not
   there. */
static __device__ __forceinline__ void TMM_FN(tile_load)(float *v, const tmm__lines *from,
                                                         const float *x, int line, int at,
                                                         int log_lines, int K, float *mine)
{
    enum { PITCH = TMM__TILE_PITCH };
    const int lane = threadIdx.x % 32, mask = (1 << log_lines) - 1;
    const long long line_stride = from->line_stride, k_stride = from->k_stride;
    if (k_stride != 1) {
        line += lane & mask, at += lane >> log_lines << 5;
        int left = line < from->lines ? K - at : 0;
        x += line * line_stride + at * k_stride;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            v[i] = 0;
            tmm__load_if(&v[i], x, 4, i < left);
            x += k_stride;
        }
        return;
    }
#pragma unroll
    for (int g = 0; g < 32; g += 8) {
        int first = line + (g & mask), k = at + (g >> log_lines << 5) + lane;
        int left = k < K ? (int)(from->lines - first) : 0;
        const float *one = x + first * line_stride + k;
#pragma unroll
        for (int i = g; i < g + 8; i++) {
            v[i] = 0;
            tmm__load_if(&v[i], one, 4, i - g < left);
            one += line_stride;
        }
    }
#pragma unroll
    for (int i = 0; i < 32; i++) mine[i * PITCH + lane] = v[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 32; i++) v[i] = mine[lane * PITCH + i];
    __syncwarp();
}

/* Scales and converts a warp's tile, and stores it: each store is of 512 bytes, four lines of a
   block. *least becomes the size of its smallest element, less 1, so that zero is the largest. */
static __device__ __forceinline__ void TMM_FN(tile_store)(float *v, float scale, unsigned *least,
                                                          const tmm__fp16_operand *to,
                                                          unsigned char *blocks, int line, int at,
                                                          int log_lines, float *mine)
{
    const int lane = threadIdx.x % 32, lines = 1 << log_lines;
    uint4 *out = (uint4 *)mine + lane * 8;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        uint4 hi, lo;
        float *x = v + 8 * c;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            x[j] *= scale;
            unsigned size = (tmm__float_bits(x[j]) & 0x7fffffffu) - 1;
            *least = min(*least, size);
        }
        tmm__fp16_pair(x[0], x[1], &hi.x, &lo.x);
        tmm__fp16_pair(x[2], x[3], &hi.y, &lo.y);
        tmm__fp16_pair(x[4], x[5], &hi.z, &lo.z);
        tmm__fp16_pair(x[6], x[7], &hi.w, &lo.w);
        int place = c ^ lane % 8; /* the line is a multiple of 8 and that */
        out[place] = hi, out[place ^ 4] = lo;
    }
    __syncwarp();
    blocks += ((size_t)(at / 32) * to->line_blocks + line / 64) * TMM__BLOCK_BYTES;
    blocks += line % 64 * 128 + lane % 8 * 16;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = 4 * i + lane / 8, deeper = row >> log_lines;
        uint4 piece = ((const uint4 *)mine)[32 * i + lane];
        size_t block = (size_t)deeper * to->line_blocks * TMM__BLOCK_BYTES;
        if (at + 32 * deeper < 32 * to->k_blocks)
            *(uint4 *)(blocks + block + (row & (lines - 1)) * 128) = piece;
    }
    __syncwarp();
}
#endif

/* KERNEL CONVERT TILES. The same as KERNEL CONVERT, bit by bit, where operands are large: its pieces
   of 32 bytes, across memory, and stores of 64 are bound by the tags of L2. Here a warp has a tile,
   32 lines x 32 k or 8 lines x 128 k, 2^log_lines lines, which goes through shared memory:

       line    k ->                           a block: warps along k
         0    +----------+----------+---      a cluster: `ranks` blocks along k, with the same lines
         :    | warp 0   | warp 1   | ...     in memory: 4 KB of a block of 64 lines x 32 k
        31    +----------+----------+---

   A warp first finds the largest magnitudes, which gives scales once all of the cluster have told
   theirs. Longer lines than a cluster has are read twice. Moves 8 bytes an element, else 12; 4
   operations a byte or so: bound by memory, or by L2 where that holds the operand. */
TMM_KERNEL void __launch_bounds__(512, 2)
    TMM_FN(gemm_convert_tiles)(int K, float least_element, int groups_A, int ranks, int log_lines,
                               const tmm__lines a, const tmm__fp16_operand out_a,
                               const tmm__lines b, const tmm__fp16_operand out_b)
{
#if TMM__WGMMA
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    __shared__ unsigned top[32], small[32];
    const int lines = 1 << log_lines, depth = 1024 >> log_lines; /* of a tile */
    int group = (int)blockIdx.x / ranks, rank = (int)blockIdx.x % ranks;
    bool is_A = group < groups_A;
    const tmm__lines from = is_A ? a : b;
    const tmm__fp16_operand to = is_A ? out_a : out_b;
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int step = ranks * warps * depth, row = lane & (lines - 1), padded = 32 * to.k_blocks;
    int line = (group - (is_A ? 0 : groups_A)) << log_lines;
    int from_k = (rank * warps + warp) * depth;
    float *mine = (float *)tmm__memory + warp * (32 * TMM__TILE_PITCH);
    unsigned product = blockIdx.y;

    tmm__let_next_begin();
    tmm__wait_for_previous();
    if (product > 0 && from.product_stride == 0) return;
    if (threadIdx.x < 32) top[threadIdx.x] = small[threadIdx.x] = 0;
    __syncthreads();
    const float *x = from.X + product * from.product_stride;
    unsigned char *blocks =
        to.blocks + (size_t)product * to.k_blocks * to.line_blocks * TMM__BLOCK_BYTES;
    unsigned most = 0, least = 0xffffffffu, exponent = 127;
    float v[32];
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll 1
        for (int k = from_k; k < padded; k += step) {
            if (pass == 0 || padded > step)
                TMM_FN(tile_load)(v, &from, x, line, k, log_lines, K, mine);
            if (pass > 0) {
                TMM_FN(tile_store)
                (v, tmm__bits_float(exponent << 23), &least, &to, blocks, line, k, log_lines, mine);
                continue;
            }
#pragma unroll
            for (int i = 0; i < 32; i++) most = max(most, tmm__float_bits(v[i]) & 0x7fffffffu);
        }
        if (pass > 0) break;
        for (int i = lines; i < 32; i *= 2) most = max(most, __shfl_xor_sync(~0u, most, i));
        if (lane < lines) atomicMax(&top[row], most);
        __syncthreads();
        if (ranks > 1) {
            tmm__cluster_arrive(true);
            tmm__cluster_wait();
            for (int i = threadIdx.x; i < ranks * lines; i += blockDim.x)
                atomicMax(&top[i & (lines - 1)],
                          tmm__load_word_cluster(&top[i & (lines - 1)], i >> log_lines));
            __syncthreads();
        }
        most = top[row];
        exponent = tmm__scale_exponent(most);
    }
    bool wide = least < tmm__float_bits(least_element) - 1;
    if (ranks > 1) {
        if (wide) tmm__store_word_cluster(&small[row], 0, 1);
        tmm__cluster_arrive(true);
        tmm__cluster_wait();
        if (rank > 0) return;
    }
    if (wide) small[row] = 1; /* by any thread of the line */
    __syncthreads();
    if ((int)threadIdx.x < lines)
        to.scales[product * 64ll * to.line_blocks + line + row] =
            most < 0x7f800000u ? tmm__bits_float(small[row] << 31 | (254 - exponent) << 23) : 0.0f;
#else
    (void)K, (void)least_element, (void)groups_A, (void)ranks, (void)log_lines;
    (void)a, (void)out_a, (void)b, (void)out_b;
#endif
}
#endif
