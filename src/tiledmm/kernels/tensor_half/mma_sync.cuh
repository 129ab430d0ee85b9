/* src/tiledmm/kernels/tensor_half/mma_sync.cuh. Elements of 16 bits on tensor cores by mma.sync.
   Uses: kernels/common/store.cuh, once/. Used by: launch.h, type/instances.h. */
/* The instances: pass, name, rows and columns of a tile, stages of 32 k, blocks on a
   multiprocessor. */
#ifndef TMM__HALF_LIST
#define TMM__HALF_LIST(_)         \
    _(1, 128x128, 128, 128, 4, 2) \
    _(2, 64x64, 64, 64, 4, 4)
#define TMM__HALF_ROWS   (TMM__HALF_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_COLS   (TMM__HALF_LIST(TMM__VALUE_2) 0)
#define TMM__HALF_STAGES (TMM__HALF_LIST(TMM__VALUE_3) 0)
#define TMM__HALF_BLOCKS (TMM__HALF_LIST(TMM__VALUE_4) 0)
/* Bytes of shared memory: the stages of both operands. */
#define TMM__HALF_BYTES(rows, cols, stages) (((rows) + (cols)) * 64 * (stages))
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
/* Four matrices of 8 x 8 elements from shared memory (PTX ISA 9.7, "ldmatrix"). Lane l gives the
   address of row l % 8 of matrix l / 8. fragment[i] gets the elements 2 (l % 4) and 2 (l % 4) + 1 of
   row l / 4 of matrix i; or of its column l / 4, if they are `turned`, which lie elsewhere. One of
   two predicated instructions: a branch would keep loads and products apart. */
#define TMM__HALF_LOAD(fragment, lines, turns, turned)                                         \
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %6, 0;\n"                                   \
                 "@p ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%5];\n" \
                 "@!p ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n}"     \
                 : "=r"((fragment)[0]), "=r"((fragment)[1]), "=r"((fragment)[2]),              \
                   "=r"((fragment)[3])                                                         \
                 : "r"(lines), "r"(turns), "r"((int)(turned))                                  \
                 : "memory")
TMM__DEVICE void tmm__xhalf_load(unsigned *fragment, const unsigned char *stage, unsigned lines,
                                 unsigned turns, bool turned)
{
#if defined(__CUDA_ARCH__)
    const unsigned at = (unsigned)__cvta_generic_to_shared(stage);
    TMM__HALF_LOAD(fragment, at + lines, at + turns, turned);
#else
    const int lane = threadIdx.x % 32, two = lane % 4 * 2;
    const size_t row = (size_t)stage + (turned ? turns : lines);
    for (int i = 0; i < 4; i++) {
        const size_t at =
            (size_t)__shfl_sync(0xffffffffu, (unsigned long long)row, 8 * i + lane / 4);
        const size_t k0 = (size_t)__shfl_sync(0xffffffffu, (unsigned long long)row, 8 * i + two);
        const size_t k1 =
            (size_t)__shfl_sync(0xffffffffu, (unsigned long long)row, 8 * i + two + 1);
        const unsigned low = ((const unsigned short *)k0)[lane / 4];
        const unsigned high = ((const unsigned short *)k1)[lane / 4];
        fragment[i] = turned ? low | high << 16 : ((const unsigned *)at)[lane % 4];
    }
#endif
}
#undef TMM__HALF_LOAD

/* c += a b by a warp on tensor cores, with sums in float: a 16 x 16, b 16 x 8. For lane l, g = l / 4
   and t = l % 4; each word of a and b is two neighbours along k (PTX ISA 9.7, "Matrix Fragments for
   mma.m16n8k16 with floating point type"):
       a[0] = a(g, 2t)  a[1] = a(g + 8, 2t)  a[2] = a(g, 2t + 8)  a[3] = a(g + 8, 2t + 8)
       b[0] = b(2t, g)  b[1] = b(2t + 8, g)
       c[0], c[1] = c(g, 2t), c(g, 2t + 1)   c[2], c[3] = c(g + 8, 2t), c(g + 8, 2t + 1)
   sm_75 multiplies 8 k at a time, and has no bfloat16. */
#define TMM__MMA(shape, type, a, b)                                           \
    asm volatile("mma.sync.aligned.m16n8" shape ".row.col.f32." type "." type \
                 ".f32 {%0, %1, %2, %3}, {" a "}, {" b "}, {%0, %1, %2, %3};" \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])             \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))
TMM__DEVICE void tmm__xhalf_mma(float *c, const unsigned *x, const unsigned *y)
{
#if TMM__ASYNC && TMM__HALF_TENSOR == 1
    TMM__MMA("k16", "f16", "%4, %5, %6, %7", "%8, %9");
#elif TMM__ASYNC
    TMM__MMA("k16", "bf16", "%4, %5, %6, %7", "%8, %9");
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750 && TMM__HALF_TENSOR == 1
    TMM__MMA("k8", "f16", "%4, %5", "%8");
    TMM__MMA("k8", "f16", "%6, %7", "%9");
#else
    const int lane = threadIdx.x % 32;
    for (int k = 0; k < 16; k++) {
        float of[4]; /* two rows of a, two columns of b */
        for (int i = 0; i < 4; i++) {
            const unsigned *words = i < 2 ? x + i : y;
            const unsigned word = k < 8 ? words[0] : words[i < 2 ? 2 : 1];
            const int first = i < 2 ? lane / 4 : lane % 4 * 2 + i - 2;
            const unsigned both = __shfl_sync(0xffffffffu, word, first * 4 + k % 8 / 2);
            const unsigned short bits = (unsigned short)(both >> k % 2 * 16);
            TMM_TYPE element;
            memcpy((void *)&element, &bits, 2);
            of[i] = (float)element;
        }
        for (int i = 0; i < 4; i++) c[i] += of[i / 2] * of[2 + i % 2];
    }
#endif
}
#undef TMM__MMA

/* What a thread copies of the lines of an operand: chunks of 8 elements, from `from` on. */
typedef struct tmm__xhalf_lines {
    const TMM_TYPE *from;
    long long hop, step;  /* elements: to the next chunk of the stage, to the next stage */
    int place;            /* in bytes, in the stage */
    int along_k, align;   /* bytes that a copy may have: 16, 4 or 2 */
    int k;                /* of its first chunk, in the stage */
    int valid;            /* elements of a chunk that exist, if its lines and k do */
    int line, lines_left; /* of its first chunk if along k, else 0; lines of the tile */
} tmm__xhalf_lines;

/* Prepares that for `lines` lines, a constant, from X on, of which lines_left exist. */
TMM__DEVICE void tmm__xhalf_begin(tmm__xhalf_lines *s, const TMM_TYPE *X, long long line_stride,
                                  long long k_stride, long long lines_left, const int lines)
{
    const int thread = threadIdx.x, across = lines / 8;
    s->along_k = k_stride == 1;
    const size_t ends = (size_t)X | (size_t)(s->along_k ? line_stride : k_stride) * 2;
    s->align = ends % 16 == 0 ? 16 : ends % 4 == 0 ? 4 : 2;
    const int line = s->along_k ? thread / 4 : thread % across * 8;
    s->k = s->along_k ? thread % 4 * 8 : thread / across;
    s->hop = s->along_k ? 32 * line_stride : 128 / across * k_stride;
    s->step = 32 * k_stride;
    s->place = s->along_k ? line * 64 + (s->k / 8 ^ line / 2 % 4) * 16
                          : (s->k * across + (line / 8 ^ s->k % 8)) * 16;
    const long long left = lines_left - line;
    s->line = s->along_k ? line : 0, s->lines_left = lines_left < lines ? (int)lines_left : lines;
    s->valid = s->along_k || left >= 8 ? 8 : left > 0 ? (int)left : 0;
    s->from = X + (s->along_k || left > 0 ? line * line_stride : 0) + s->k * k_stride;
}

/* Copies `valid` elements of a chunk, and zeros. */
TMM__DEVICE void tmm__xhalf_chunk(unsigned char *to, const TMM_TYPE *from, int valid, int align)
{
    if (align == 16) {
        tmm__copy_zfill(to, from, 16, 2 * valid);
    } else if (align == 4) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int left = 2 * valid - 4 * j;
            tmm__copy_zfill(to + 4 * j, from + 2 * j, 4, left < 0 ? 0 : left < 4 ? left : 4);
        }
    } else {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            unsigned short bits = 0;
            if (j < valid) bits = ((const unsigned short *)from)[j];
            ((unsigned short *)to)[j] = bits;
        }
    }
}

/* Copies a stage, of which k_left k exist. What does not exist becomes zeros. */
TMM__DEVICE void tmm__xhalf_copy(tmm__xhalf_lines *s, unsigned char *stage, long long k_left,
                                 const int lines)
{
    const TMM_TYPE *from = s->from;
    unsigned char *to = stage + s->place;
    const int down = s->along_k ? 32 : 0;
    int line = s->line;
    if (s->align == 16 && k_left >= 32) {
#pragma unroll
        for (int i = 0; i < lines / 32; i++) {
            tmm__copy_zfill(to + 2048 * i, from, 16,
                            line + i * down < s->lines_left ? 2 * s->valid : 0);
            from += s->hop;
        }
    } else {
        int k = s->k;
#pragma unroll 1
        for (int i = 0; i < lines / 32; i++) {
            const long long more = k_left - k;
            int valid = line < s->lines_left && more > 0 ? s->valid : 0;
            if (s->along_k && valid > more) valid = more > 0 ? (int)more : 0;
            tmm__xhalf_chunk(to + 2048 * i, from, valid, s->align);
            from += s->hop;
            line += down, k += s->along_k ? 0 : 1024 / lines;
        }
    }
    s->from += s->step;
}
#endif

#if defined(TMM__PASS) && TMM__HALF_TENSOR && (TMM__HALF_LIST(TMM__IN_PASS) 0)
enum { tmm__half_bytes = TMM__HALF_BYTES(TMM__HALF_ROWS, TMM__HALF_COLS, TMM__HALF_STAGES) };
static_assert((TMM__HALF_ROWS == 64 || TMM__HALF_ROWS == 128) &&
                  (TMM__HALF_COLS == 64 || TMM__HALF_COLS == 128),
              "TMM__HALF_LIST: tiles have 64 or 128 rows and columns: 2 x 2 warps");
static_assert(TMM__HALF_STAGES >= 2, "TMM__HALF_LIST: one stage is copied while another is read");
static_assert(TMM__HALF_BLOCKS * tmm__half_bytes <= 227 * 1024,
              "TMM__HALF_LIST: the stages of all blocks must fit into a multiprocessor");

/* ============================== KERNEL TENSOR HALF ============================================ */
/* Elements of 16 bits on tensor cores, sums in float. 4 warps, 2 x 2, have a tile of C; each has a
   quarter of it in registers, as 16 x 8 parts:

             COLS / 2         COLS / 2
           +----------------+----------------+
           | warp 0         | warp 1         |   ROWS / 2      a stage: 32 k of the tile's lines
           +----------------+----------------+                 of A, then of B; STAGES of them go
           | warp 2         | warp 3         |   ROWS / 2      round
           +----------------+----------------+

   A stage has chunks of 8 elements, 16 bytes. An operand that is contiguous along k lies as
   [line][4 chunks], chunk c of line r at c ^ (r / 2 % 4); any other as [k][lines / 8 chunks], chunk c
   of row k at c ^ (k % 8). So ldmatrix, which reads 8 rows of 16 bytes, finds them in different
   banks, and turns the second kind around. Copies of 16 bytes do so, too.

   Blocks walk along bands of 8 rows of tiles. Where gridDim.y > 1, each has some steps of K, and
   leaves its sums in `partials` for KERNEL SUM.
   A step of 128 x 128 is 1,048,576 operations and 16 KB from L2: 64 a byte. Its warps read 32 KB of
   shared memory, copies store 16: 22 a byte, which bounds it on sm_90 (128 bytes a clock). Elsewhere
   tensor cores do. */
TMM_KERNEL void __launch_bounds__(128, TMM__HALF_BLOCKS)
    tmm__gemm_half(long long M, long long N, long long K, TMM__ALPHA alpha,
                   const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                   const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                   TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                   float *__restrict__ partials TMM__TRIANGLE_OF_ARGUMENTS)
{
    enum {
        ROWS = TMM__HALF_ROWS,
        COLS = TMM__HALF_COLS,
        STAGES = TMM__STAGES(TMM__HALF_STAGES),
        DOWN = ROWS / 32,   /* parts of 16 rows of a warp, */
        ACROSS = COLS / 16, /* and of 8 columns */
        STAGE_A = ROWS * 64,
        STAGE = STAGE_A + COLS * 64
    };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
#ifdef TMM_WITH_SYRK
    enum { EDGE = ROWS > COLS ? ROWS : COLS };
    long long across = (N - 1) / COLS + 1, down = (M - 1) / ROWS + 1;
    const int squares = (int)((N - 1) / EDGE + 1);
    if (triangle != 0)
        across = (squares + 1) / 2 * (EDGE / COLS),
        down = (squares + 1 - squares % 2) * (EDGE / ROWS);
#else
    const int triangle = 0;
    const long long across = (N - 1) / COLS + 1, down = (M - 1) / ROWS + 1;
#endif
    const long long band = blockIdx.x / (8 * across), place = blockIdx.x % (8 * across);
    const long long high = down - band * 8 < 8 ? down - band * 8 : 8;
#ifdef TMM_WITH_SYRK
    int tile_down = (int)(band * 8 + place % high), tile_across = (int)(place / high);
    if (triangle != 0)
        tmm__triangle_tile(triangle, squares, (ROWS > COLS) - (ROWS < COLS), &tile_down,
                           &tile_across);
    const long long tile_row = tile_down * (long long)ROWS,
                    tile_col = tile_across * (long long)COLS;
#else
    const long long tile_row = (band * 8 + place % high) * ROWS, tile_col = place / high * COLS;
#endif

    const long long all = (K + 31) / 32;
    const long long step0 = all * blockIdx.y / gridDim.y, end = all * (blockIdx.y + 1) / gridDim.y;
    const long long k0 = step0 * 32;
    tmm__xhalf_lines a, b;
    tmm__xhalf_begin(&a, A + blockIdx.z * batchA + tile_row * rsA + k0 * csA, rsA, csA,
                     M - tile_row, ROWS);
    tmm__xhalf_begin(&b, B + blockIdx.z * batchB + tile_col * csB + k0 * rsB, csB, rsB,
                     N - tile_col, COLS);

    /* Where the lane's rows of matrices lie in a stage, see tmm__xhalf_load: of 16 lines and all k
       that are copied along k, or of 16 k and all lines. */
    const int row0 = warp / 2 * (ROWS / 2), col0 = warp % 2 * (COLS / 2), eight = lane % 8;
    const int rowA = row0 + lane % 16, kA = lane / 16 * 8 + eight;
    const int rowB = col0 + lane / 16 * 8 + eight, kB = lane / 8 % 2 * 8 + eight;
    const unsigned linesA = rowA * 64 + (lane / 16 ^ rowA / 2 % 4) * 16;
    const unsigned linesB = STAGE_A + rowB * 64 + (lane / 8 % 2 ^ rowB / 2 % 4) * 16;
    const unsigned turnsA = kA * (ROWS * 2) + ((row0 / 8 + lane / 8 % 2) ^ eight) * 16;
    const unsigned turnsB = STAGE_A + kB * (COLS * 2) + ((col0 / 8 + lane / 16) ^ eight) * 16;

    float sum[DOWN][ACROSS][4];
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int n = 0; n < 4; n++) sum[i][j][n] = 0;

    int steps = (int)(end - step0), next = 0; /* next: the step to copy */
    int write = 0, read = 0;
    long long k_left = K - k0;
#pragma unroll 1
    for (int step = 1 - STAGES; step < steps; step++) {
        if (step >= 0) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads(); /* all have read the stage that is written next */
        }
        if (next < steps) {
            unsigned char *stage = tmm__memory + write * STAGE;
            tmm__xhalf_copy(&a, stage, k_left, ROWS);
            tmm__xhalf_copy(&b, stage + STAGE_A, k_left, COLS);
            k_left -= 32, next++;
            write = write + 1 == STAGES ? 0 : write + 1;
        }
        tmm__copy_commit();
        if (step < 0) continue;
        const unsigned char *stage = tmm__memory + read * STAGE;
#pragma unroll
        for (int k = 0; k < 2; k++) { /* 16 of the stage's k */
            unsigned x[DOWN][4], y[ACROSS / 2][4];
#pragma unroll
            for (int i = 0; i < DOWN; i++)
                tmm__xhalf_load(x[i], stage, (linesA ^ 32 * k) + i * 1024,
                                (turnsA ^ 32 * i) + k * (ROWS * 32), !a.along_k);
#pragma unroll
            for (int j = 0; j < ACROSS / 2; j++)
                tmm__xhalf_load(y[j], stage, (linesB ^ 32 * k) + j * 1024,
                                (turnsB ^ 32 * j) + k * (COLS * 32), !b.along_k);
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++)
                    tmm__xhalf_mma(sum[i][j], x[i], &y[j / 2][j % 2 * 2]);
        }
        read = read + 1 == STAGES ? 0 : read + 1;
    }

    C += blockIdx.z * batchC;
    if (partials != NULL) partials += (blockIdx.z * gridDim.y + blockIdx.y) * (M * N);
    const bool aligned = ((size_t)C | (size_t)ldc * sizeof(TMM_OUT)) % (2 * sizeof(TMM_OUT)) == 0;
    const long long col1 = tile_col + col0 + lane % 4 * 2;
    /* 16 rows after 16 rows, each moved to the place of the first: code for these alone. */
#pragma unroll 1
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const long long row = tile_row + row0 + 16 * i + 8 * h + lane / 4;
            if (row >= M) return;
            /* Of the diagonal, as far as it counts. */
            const int below = row - col1 > 1024 ? 1024 : row < col1 ? -1 : (int)(row - col1);
            tmm__xouts2 old[ACROSS];
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                const long long col = col1 + 8 * j;
                const unsigned mask =
                    tmm__triangle_mask(triangle, tmm__column_mask(col, 2, 0, N), below, 8 * j);
                if (partials != NULL) {
                    for (int n = 0; n < 2; n++)
                        if (mask >> n & 1) partials[row * N + col + n] = sum[0][j][2 * h + n];
                } else if ((TMM_SUM)beta != 0) {
                    old[j] = tmm__xload2(C + row * ldc + col, aligned, mask);
                }
            }
            if (partials != NULL) continue;
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                const long long col = col1 + 8 * j;
                const unsigned mask =
                    tmm__triangle_mask(triangle, tmm__column_mask(col, 2, 0, N), below, 8 * j);
                tmm__xstore2(C + row * ldc + col, row, col, aligned, mask, alpha, beta, old[j],
                             &sum[0][j][2 * h]);
            }
        }
#pragma unroll
        for (int below = 1; below < DOWN; below++)
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
#pragma unroll
                for (int n = 0; n < 4; n++) sum[below - 1][j][n] = sum[below][j][n];
    }
}
#endif
