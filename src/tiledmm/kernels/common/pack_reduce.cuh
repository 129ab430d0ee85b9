/* src/tiledmm/kernels/common/pack_reduce.cuh. What goes before and after KERNEL PIPELINED and TENSOR:
   packing operands, adding up partial tiles.
   Uses: store.cuh, streamk.cuh, once/. Used by: launch/product.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST && !TMM__HALF_TENSOR
#if TMM__IS_FLOAT || TMM__IS_DOUBLE
/* KERNEL PACK. Copies op(A) to [k][row] and op(B) to [k][column], the form that is copied best to
   shared memory later, with zeros up to `pitch` lines. blockIdx.z: 0 for A, 1 for B. A block of
   256 threads moves squares of 64 lines and 64 k, through shared memory so that it reads and
   writes along memory. Four elements go at once if they are neighbours in k and aligned to 16
   bytes. 8 bytes moved an element in float: bound by memory.

   Shared memory is [k][line] in vectors of four lines. Vector v of row k lies at v ^ (k / 4), so 8
   threads along k with 4 lines each write to 32 banks. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xpack(long long K, long long linesA, const TMM_TYPE *__restrict__ A, long long rsA,
               long long csA, TMM_TYPE *__restrict__ packedA, long long pitchA, long long linesB,
               const TMM_TYPE *__restrict__ B, long long rsB, long long csB,
               TMM_TYPE *__restrict__ packedB, long long pitchB)
{
    __shared__ tmm__xelements4 square[64][16];
    const TMM_TYPE *from = blockIdx.z == 0 ? A : B;
    TMM_TYPE *to = blockIdx.z == 0 ? packedA : packedB;
    long long lines = blockIdx.z == 0 ? linesA : linesB;
    long long pitch = blockIdx.z == 0 ? pitchA : pitchB;
    long long line_stride = blockIdx.z == 0 ? rsA : csB, k_stride = blockIdx.z == 0 ? csA : rsB;
    long long line0 = blockIdx.x * 64ll;
    if (line0 >= pitch) return; /* the other operand has more lines, or this is not to be packed */
    bool along_k = k_stride == 1;
    bool aligned = ((size_t)from | line_stride * sizeof(TMM_TYPE)) % 16 == 0;
    unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    /* Along k: 8 threads with 4 k each, twice, and 4 lines of each warp; four times, 16 lines
       apart. Along the lines: 64 threads with elements 4 k apart; four times, 16 k apart. */
    unsigned k1 = along_k ? lane % 8 * 4 + warp % 2 * 32 : thread / 64;
    unsigned line1 = along_k ? lane / 8 + warp / 2 * 4 : thread % 64;
    unsigned apart = along_k ? 1 : 4, lines_on = along_k ? 16 : 0, k_on = 16 - lines_on;
    for (long long k0 = blockIdx.y * 64ll; k0 < K; k0 += gridDim.y * 64ll) {
        tmm__xelements4 vectors[4];
        const TMM_TYPE *x = from + (line0 + line1) * line_stride + (k0 + k1) * k_stride;
#pragma unroll
        for (int i = 0; i < 4; i++) { /* four loads on their way before the first store */
            long long k_left = line0 + line1 + i * lines_on < lines ? K - k0 - k1 - i * k_on : 0;
            if (along_k && aligned && k_left >= 4) {
                vectors[i] = *(const tmm__xelements4 *)x;
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    vectors[i].v[j] = 0;
                    tmm__load_if(&vectors[i].v[j], x + j * apart * k_stride, sizeof *x,
                                 j * apart < k_left);
                }
            }
            x += lines_on * line_stride + k_on * k_stride;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                /* (line / 4) ^ (k / 4): one of them has 4 i more, the latter j, too, if it goes
                   along the lines; nothing carries. */
                unsigned column = (line1 / 4 ^ k1 / 4) ^ 4 * i ^ (along_k ? 0 : j);
                square[k1 + i * k_on + j * apart][column].v[line1 % 4] = vectors[i].v[j];
            }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 64; i += 16) {
            unsigned k = thread / 16 + i, column = thread % 16;
            if (k0 + k < K)
                *(tmm__xelements4 *)(to + (k0 + k) * pitch + line0 + column * 4) =
                    square[k][column ^ (k / 4)];
        }
        __syncthreads();
    }
}
#endif

/* KERNEL REDUCE. C = alpha (sum of `slices` partial tiles) + beta C, for the slices of k of each
   tile that KERNEL PIPELINED has left. 256 threads own groups of four sums of tile blockIdx.y;
   blockIdx.x says which. With few slices each thread adds up all of its group, in ascending k. With
   many, groups_k is 8: warp w adds up slices w / 8 to (w + 1) / 8 of them, and the first warp the
   eight results, always in this order. Each sum of each slice is read once: bound by L2. `tensor`:
   the slices come from KERNEL TENSOR, and rows is 4, or 2 with its smallest tiles. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_reduce(long long M, long long N, TMM__ALPHA alpha, TMM_SCALAR beta,
                      TMM_OUT *__restrict__ C, long long ldc, int rows, int warps_down, int slices,
                      int groups_k, int tensor, const tmm__schedule s)
{
    const int COLS = 8, vectors = rows * COLS / 4;
    __shared__ tmm__xsums4 sums[256];
    int groups = 256 / groups_k, part = threadIdx.x / groups;
    int group = blockIdx.x * groups + threadIdx.x % groups; /* number of the vector in the tile */
    int tile = blockIdx.y;
    const tmm__xsums4 *from =
        (const tmm__xsums4 *)s.partials + (long long)tile * slices * (vectors * 128) + group;
    tmm__xsums4 sum = {{0, 0, 0, 0}};
#pragma unroll 4
    for (int slice = slices * part / groups_k; slice < slices * (part + 1) / groups_k; slice++) {
        tmm__xsums4 more = from[(long long)slice * (vectors * 128)];
#pragma unroll
        for (int i = 0; i < 4; i++) sum.v[i] += more.v[i];
    }
    if (groups_k > 1) {
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (part > 0) return;
        for (int p = 1; p < groups_k; p++)
#pragma unroll
            for (int i = 0; i < 4; i++) sum.v[i] += sums[p * groups + threadIdx.x].v[i];
    }

    /* As in the kernel that left them: for other types than double, one that is known. */
    if (!TMM__IS_DOUBLE || !tensor) {
        tmm__xstore_sums(M, N, alpha, beta, C, ldc, &s, rows, warps_down, tile, group % 128,
                         group / 128, &sum);
        return;
    }
    int down, across;
    tmm__xfind_tile(&s, TMM__TENSOR_BAND, tile, &down, &across);
    /* A warp has 8 `rows` x 32 elements. Two are side by side, or all four above each other. */
    const int warps_across = s.is_tall ? 1 : 2, tile_m = 32 / warps_across * rows;
    const int thread = group % 128, matrix = group / 128;
    long long row = (long long)down * tile_m + thread / 32 / warps_across * (8 * rows);
    long long col = (long long)across * (32 * warps_across) + thread / 32 % warps_across * 32;
    row += matrix / 4 * 16 + thread % 32 / 4;
    col += matrix % 4 * 8 + thread % 4 * 2;
    for (int h = 0; h < 2; h++, row += 8)
        if (row < M) {
            unsigned mask = tmm__column_mask(col, 2, 0, N);
            mask = tmm__triangle_mask(TMM__TRIANGLE(&s), mask, row, col);
            TMM_OUT *c = C + row * ldc + col;
            tmm__xouts2 old = {{0, 0}};
            if ((TMM_SUM)beta != 0) old = tmm__xload2(c, false, mask);
            tmm__xstore2(c, row, col, false, mask, alpha, beta, old, &sum.v[2 * h]);
        }
}
#endif
