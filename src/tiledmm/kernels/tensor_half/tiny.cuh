/* src/tiledmm/kernels/tensor_half/tiny.cuh. Batches of tiny products of 16 bits: a tile of C is a warp's.
   Uses: kernels/common/, mma_sync.cuh, once/. Used by: tiny_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
#ifndef TMM__HALF_ONCE
/* KERNEL TINY HALF: warps of a block, rows and columns of a warp's tile; the largest leading dimension, so
   that 32 lines and a multiple of it fit in 32 bits; the largest K of a product without a batch. */
enum {
    TMM__HALF_TINY_WARPS = 4,
    TMM__HALF_TINY_EDGE = 32,
    TMM__HALF_TINY_LD = 1 << 24,
    TMM__HALF_TINY_K = 128
};
#endif

/* What a lane loads of an operand, of every 16 k: 4 times 4 neighbours in memory. */
typedef struct tmm__xhalf_tiny_lines {
    const TMM_TYPE *from;
    int hop, step; /* from 4 to the next 4, from 16 k to the next, in elements */
    int exist;     /* lines that exist */
    int turned;    /* are neighbours of other lines? */
    int wide;      /* bytes at once: 8, 4, 2 */
} tmm__xhalf_tiny_lines;

/* Of a tile from X on, of whose `lines` lines_left exist. A lane has the lines first, first + 2^apart_log2
   and so on; neighbours where they are of other lines. */
TMM__DEVICE tmm__xhalf_tiny_lines tmm__xhalf_tiny_begin(const TMM_TYPE *X, int line_stride,
                                                        int k_stride, int lines, int lines_left,
                                                        int K, int first, int apart_log2)
{
    const int k = threadIdx.x % 4 * 4, left = lines_left < 32 ? lines_left : 32;
    const int exist = (left - first + (1 << apart_log2) - 1) >> apart_log2;
    tmm__xhalf_tiny_lines s;
    s.turned = k_stride != 1;
    s.hop = s.turned ? k_stride : line_stride << apart_log2, s.step = 16 * k_stride;
    s.exist = exist < 4 ? exist : 4;
    s.from = X + ((exist > 0 ? first * line_stride : 0) + k * k_stride);
    const int ld = s.turned ? k_stride : line_stride, length = s.turned ? lines : K;
    const unsigned ends = (unsigned)(size_t)X | (unsigned)(ld | length) * 2;
    s.wide = ends % 8 == 0 ? 8 : ends % 4 == 0 ? 4 : 2;
    return s;
}

/* Loads the next 16 k, of which k_left exist from this lane's first on. x[2 i] and x[2 i + 1]: hop i. What
   does not exist becomes 0. */
TMM__DEVICE void tmm__xhalf_tiny_load(unsigned *x, tmm__xhalf_tiny_lines *s, int k_left)
{
    TMM__HIDE(s->turned); /* or there would be a loop for each kind */
    const int count = s->turned ? k_left : s->exist, side = s->turned ? s->exist : k_left;
    if (s->wide == 8) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint2 word = make_uint2(0, 0);
            if (i < count && side > 0) word = *(const uint2 *)(s->from + i * s->hop);
            x[2 * i] = word.x, x[2 * i + 1] = word.y;
        }
    } else if (s->wide == 4) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x[i] = 0;
            if (i / 2 < count && i % 2 * 2 < side)
                x[i] = *(const unsigned *)(s->from + i / 2 * s->hop + i % 2 * 2);
        }
    } else {
        const unsigned short *from = (const unsigned short *)s->from;
        unsigned short bits[16];
#pragma unroll
        for (int i = 0; i < 16; i++) {
            bits[i] = 0;
            if (i / 4 < count && i % 4 < side) bits[i] = from[i / 4 * s->hop + i % 4];
        }
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = bits[2 * i] | (unsigned)bits[2 * i + 1] << 16;
    }
    s->from += s->step;
}

/* 4 k of 4 lines become 4 lines of 4 k. */
TMM__DEVICE void tmm__xhalf_tiny_turn(unsigned *x)
{
    unsigned y[8];
#pragma unroll
    for (int i = 0; i < 8; i++) { /* line i / 2, its k i % 2 * 2 and the next */
        const unsigned a = x[i % 2 * 4 + i / 4], b = x[i % 2 * 4 + 2 + i / 4];
        y[i] = __byte_perm(a, b, i / 2 % 2 == 0 ? 0x5410 : 0x7632);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = y[i];
}

/* Stores a tile of which rows and cols exist, any C, with all that comes after. Its sums lie in `own` by rows.
   Lanes have 8, 16 or 32 columns side by side, since L2 takes longer for parts of a sector. 4 elements of what C
   was are asked for at once. */
TMM__DEVICE void tmm__xhalf_tiny_store(const float *own, const int pitch, TMM_OUT *C, int ldc,
                                       long long row, long long col, int rows, int cols,
                                       TMM__ALPHA alpha, TMM_SCALAR beta)
{
    const int lane = threadIdx.x % 32, log2 = cols > 16 ? 5 : cols > 8 ? 4 : 3;
    const int c = lane & ((1 << log2) - 1), at_once = 32 >> log2;
    C += c;
#pragma unroll 1
    for (int r = lane >> log2; r < rows; r += 4 * at_once) {
        TMM_OUT old[4];
        bool inside[4];
#pragma unroll
        for (int i = 0; i < 4; i++) inside[i] = c < cols && r + i * at_once < rows, old[i] = 0;
        if ((TMM_SUM)beta != 0)
#pragma unroll
            for (int i = 0; i < 4; i++)
                tmm__xload_if(&old[i], C + (r + i * at_once) * ldc, inside[i]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = inside[i] ? r + i * at_once : r;
            tmm__xstore_if(C + at * ldc,
                           tmm__xvalue(own[at * pitch + c], alpha,
                                       TMM__MUL((TMM_SUM)beta, (TMM_SUM)old[i]), inside[i],
                                       row + at, col + c),
                           inside[i]);
        }
    }
}

/* ============================== KERNEL TINY HALF ============================================== */
/* Batches of products of 16 bits, up to some 32 x 32, on tensor cores. A warp has a tile of 32 x 32 of C;
   its operands go from memory straight to registers, without shared memory and barriers.
   mma.sync multiplies 16 x 16 by 16 x 8. Which line of memory is which of its lines, and which k is
   which, is free, as long as A and B agree. For lane l, g = l / 4 and t = l % 4:

       k     4 t to 4 t + 3 of every 16: neighbours where a line lies along k
       B     lines 4 g to 4 g + 3, one for each part of 8 columns: neighbours where it does not
       A     lines g, g + 8, g + 16, g + 24; or as those of B where it does not lie along k
       C     so these rows, and columns 8 t to 8 t + 7

            8 t: 0 .. 7 | 8 .. 15 | 16 .. 23 | 24 .. 31
           +-----------+---------+----------+----------+
       g 0 | lane 0    | lane 1  | lane 2   | lane 3   |   4 neighbours are a word of 8 bytes, two of 4,
         1 | lane 4    | lane 5  | lane 6   | lane 7   |   or four elements; of other lines, 4 of them are
           | ...                                       |   transposed in registers
   C leaves by 16 or 8 bytes; else, or with beta or an epilogue, through shared memory, row by row.
   Two times 16 k are on their way at once; what more must be hidden, other warps hide.
   2 (M + N) K + 2 M N bytes a product, and 2 M N K operations: 8 a byte at 24 x 24 x 24. What bounds it:
   memory; below 16 x 16 x 16 instructions; with single elements L1. */
TMM_KERNEL void __launch_bounds__(32 * TMM__HALF_TINY_WARPS, 16 / TMM__HALF_TINY_WARPS)
    tmm__xgemm_half_tiny(long long M, long long N, long long K, TMM__ALPHA alpha,
                         const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                         long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                         long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                         long long ldc, long long batchC, unsigned batch)
{
    enum { EDGE = TMM__HALF_TINY_EDGE, WARPS = TMM__HALF_TINY_WARPS, PITCH = EDGE + 4 };
    __shared__ alignas(16) float tiles_of_C[WARPS][EDGE * PITCH];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    /* Tiles are numbered through all products. Of sizes and strides 32 bits count: see the plan. */
    const unsigned across = ((unsigned)N - 1) / EDGE + 1,
                   tiles = (((unsigned)M - 1) / EDGE + 1) * across;
    unsigned tile = blockIdx.x * WARPS + threadIdx.x / 32, product = tile, down = 0;
    if (tiles > 1)
        product = tile / tiles, tile -= product * tiles, down = tile / across;
    else
        tile = 0;
    if (product >= batch) return;
    const int row0 = (int)(down * EDGE), col0 = (int)((tile - down * across) * EDGE);
    const int rows = (int)M - row0, cols = (int)N - col0, ld = (int)ldc;

    const int row = csA == 1 ? g : 4 * g, apart_log2 = csA == 1 ? 3 : 0, apart = 1 << apart_log2;
    A += product * batchA + (long long)row0 * (int)rsA;
    B += product * batchB + (long long)col0 * (int)csB;
    tmm__xhalf_tiny_lines a =
        tmm__xhalf_tiny_begin(A, (int)rsA, (int)csA, (int)M, rows, (int)K, row, apart_log2);
    tmm__xhalf_tiny_lines b =
        tmm__xhalf_tiny_begin(B, (int)csB, (int)rsB, (int)N, cols, (int)K, 4 * g, 0);
    float sum[2][4][4]; /* parts of 16 x 8 */
#pragma unroll
    for (int i = 0; i < 32; i++) sum[i / 16][i / 4 % 4][i % 4] = 0;
#pragma unroll 1
    for (int left = (int)K; left > 0; left -= 32) {
        unsigned x[2][8], y[2][8];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            if (left <= 16 * s) break;
            tmm__xhalf_tiny_load(x[s], &a, left - 16 * s - 4 * t);
            tmm__xhalf_tiny_load(y[s], &b, left - 16 * s - 4 * t);
        }
#pragma unroll
        for (int s = 0; s < 2; s++) {
            if (left <= 16 * s) break;
            if (a.turned) tmm__xhalf_tiny_turn(x[s]);
            if (b.turned) tmm__xhalf_tiny_turn(y[s]);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const unsigned lines[4] = {x[s][4 * i], x[s][4 * i + 2], x[s][4 * i + 1],
                                           x[s][4 * i + 3]};
#pragma unroll
                for (int j = 0; j < 4; j++) tmm__xhalf_mma(sum[i][j], lines, &y[s][2 * j]);
            }
        }
    }

    /* Row i of this lane, columns 8 t to 8 t + 7. */
    float v[4][8];
#pragma unroll
    for (int i = 0; i < 32; i++) v[i / 8][i % 8] = sum[i / 16][i % 4][i / 8 % 2 * 2 + i % 8 / 4];
    C += product * batchC + (long long)row0 * ld + col0;
    const int size = (int)sizeof(TMM_OUT);
    const unsigned ends = (unsigned)(size_t)C | (unsigned)(ld | (int)N) * size;
    const bool by_8 = ends % 16 == 0; /* neighbours, not 4 */
    bool by_4 = (TMM_SUM)beta == 0 && ends % (4 * size) == 0;
#ifdef TMM_WITH_EPILOGUE
    by_4 = by_4 && !alpha.after.active;
#endif
#ifdef TMM_EPILOGUE
    by_4 = false;
#endif
    if (by_4) {
        const TMM_SUM factor = (TMM_SUM)TMM__FACTOR(alpha);
        C += row * ld + 8 * t;
#pragma unroll
        for (int i = 0; i < 4; i++, C += apart * ld) {
            unsigned words[2 * sizeof(TMM_OUT)];
#pragma unroll
            for (int j = 0; j < 8; j += 2) { /* with 0 added, so that -0 is 0 */
                const tmm__xouts2 two = {
                    {(TMM_OUT)fmaf(factor, v[i][j], 0), (TMM_OUT)fmaf(factor, v[i][j + 1], 0)}};
                memcpy(&words[j * size / 4], &two, sizeof two);
            }
            const int left = row + i * apart < rows ? cols - 8 * t : 0;
#pragma unroll
            for (int n = 0; n < 2; n++) {
                const unsigned *w = &words[n * size];
                if (size == 4 && 4 * n < left)
                    __stwb((uint4 *)C + n, make_uint4(w[0], w[1], w[2], w[3]));
                if (size == 2 && n == 0 && by_8 && left > 0)
                    __stwb((uint4 *)C, make_uint4(w[0], w[1], w[2], w[3]));
                if (size == 2 && !by_8 && 4 * n < left)
                    __stwb((uint2 *)C + n, make_uint2(w[0], w[1]));
            }
        }
        return;
    }
    float *own = tiles_of_C[threadIdx.x / 32];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int n = 0; n < 8; n += 4)
            *(float4 *)&own[(row + i * apart) * PITCH + 8 * t + n] =
                make_float4(v[i][n], v[i][n + 1], v[i][n + 2], v[i][n + 3]);
    __syncwarp();
    tmm__xhalf_tiny_store(own, PITCH, C, ld, row0, col0, rows < EDGE ? rows : (int)EDGE,
                          cols < EDGE ? cols : (int)EDGE, TMM__OF_PRODUCT(alpha, product), beta);
}
#endif
