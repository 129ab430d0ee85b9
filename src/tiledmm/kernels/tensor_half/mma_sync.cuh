/* src/tiledmm/kernels/tensor_half/mma_sync.cuh. Elements of 16 bits on tensor cores by mma.sync.
   Uses: kernels/common/, once/. Used by: kernels/tensor_half/, type/instances.h. */
/* The instances: pass, name, rows and columns of a tile, stages of 32 k, blocks on a
   multiprocessor. */
#ifndef TMM__HALF_LIST
#define TMM__HALF_LIST(_)         \
    _(1, 128x256, 128, 256, 3, 1) \
    _(2, 128x128, 128, 128, 3, 2) \
    _(3, 64x64, 64, 64, 3, 4)
#define TMM__HALF_ROWS   (TMM__HALF_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_COLS   (TMM__HALF_LIST(TMM__VALUE_2) 0)
#define TMM__HALF_STAGES (TMM__HALF_LIST(TMM__VALUE_3) 0)
#define TMM__HALF_BLOCKS (TMM__HALF_LIST(TMM__VALUE_4) 0)
/* Bytes of shared memory: the stages of both operands. A warp has rows / 2 rows and columns. */
#define TMM__HALF_BYTES(rows, cols, stages) (((rows) + (cols)) * 64 * (stages))
#define TMM__HALF_THREADS(rows, cols)       ((cols) / ((rows) / 2) * 64)
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
/* An address in shared memory, as instructions of PTX take it. */
#if defined(__CUDA_ARCH__)
typedef unsigned tmm__xhalf_place;
TMM__DEVICE tmm__xhalf_place tmm__xhalf_place_of(unsigned char *memory)
{
    return (unsigned)__cvta_generic_to_shared(memory);
}
TMM__DEVICE unsigned char *tmm__xhalf_at(tmm__xhalf_place place)
{
    return (unsigned char *)__cvta_shared_to_generic(place);
}
#else
typedef size_t tmm__xhalf_place;
TMM__DEVICE tmm__xhalf_place tmm__xhalf_place_of(unsigned char *memory)
{
    return (size_t)memory;
}
TMM__DEVICE unsigned char *tmm__xhalf_at(tmm__xhalf_place place)
{
    return (unsigned char *)place;
}
#endif

/* Four matrices of 8 x 8 elements from shared memory (PTX ISA 9.7, "ldmatrix"). Lane l gives the
   place of row l % 8 of matrix l / 8. fragment[i] gets the elements 2 (l % 4) and 2 (l % 4) + 1 of
   row l / 4 of matrix i; or of its column l / 4, if they are `turned`. */
#define TMM__HALF_LOAD(turned)                                                                \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" turned ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3]) \
                 : "r"(row)                                                                   \
                 : "memory")
TMM__DEVICE void tmm__xhalf_load(unsigned *fragment, tmm__xhalf_place row, const int turned)
{
#if defined(__CUDA_ARCH__)
    if (turned)
        TMM__HALF_LOAD(".trans");
    else
        TMM__HALF_LOAD("");
#else
    const int lane = threadIdx.x % 32, two = lane % 4 * 2;
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

/* c += a b by a warp, see tmm__mma_16. sm_75 multiplies 8 k at a time, and has no bfloat16. */
TMM__DEVICE void tmm__xhalf_mma(float *c, const unsigned *a, const unsigned *b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750 && !TMM__ASYNC && TMM__HALF_TENSOR == 1
#pragma unroll
    for (int k = 0; k < 2; k++)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
#else
    tmm__mma_16(c, a, b, TMM__HALF_TENSOR == 2);
#endif
}

/* What a thread copies of the lines of an operand: chunks of 8 elements, from `from` on. */
typedef struct tmm__xhalf_lines {
    const unsigned char *from;
    long long hop, step; /* bytes: to the next chunk of the stage, to the next stage */
    tmm__xhalf_place to; /* of its first chunk in the first stage */
    unsigned exist;      /* bit i: the lines of chunk i */
    int valid, align;    /* elements of a chunk that exist; bytes that a copy may have: 16, 4, 2 */
    int whole;           /* 16, and all chunks are whole or not there, in all of the block */
    int last; /* number of the chunks with the operand's last line, or -1; turned: lines exist in part? */
    int k, next_k; /* of its first chunk in the stage; on to the next one's */
} tmm__xhalf_lines;

/* Prepares that for `lines` lines, a constant, from X on, of which lines_left exist. turned: lines
   are not contiguous along k. may_end: memory may, with the operand. */
TMM__DEVICE void tmm__xhalf_begin(tmm__xhalf_lines *s, const TMM_TYPE *X, long long line_stride,
                                  long long k_stride, long long lines_left, tmm__xhalf_place to,
                                  const int lines, const int threads, const int turned, int may_end)
{
    const int thread = threadIdx.x, across = lines / 8, down = turned ? 0 : threads / 4;
    const size_t ends = (size_t)X | (size_t)(turned ? k_stride : line_stride) * 2;
    const int line = turned ? thread % across * 8 : thread / 4;
    const long long left = lines_left - line;
    s->align = ends % 16 == 0 ? 16 : ends % 4 == 0 ? 4 : 2;
    s->k = turned ? thread / across : thread % 4 * 8, s->next_k = turned ? threads / across : 0;
    s->hop = 2 * (down * line_stride + s->next_k * k_stride), s->step = 64 * k_stride;
    TMM__HIDE_POINTER(s->hop); /* or the main loop would compute it again */
    s->to = to + (turned ? (s->k * across + (line / 8 ^ s->k % 8)) * 16
                         : line * 64 + (s->k / 8 ^ line / 2 % 4) * 16);
    s->valid = !turned || left >= 8 ? 8 : left > 0 ? (int)left : 0;
    s->whole = s->align == 16 && (!turned || lines_left >= lines || lines_left % 8 == 0);
    s->last = -!turned;
    if (may_end && lines_left <= lines)
        s->last =
            turned ? (lines_left & (s->align / 2 - 1)) != 0 : (int)(lines_left - 1) / (threads / 4);
    s->exist = 0;
    for (int i = 0; i < lines * 4 / threads; i++) s->exist |= (unsigned)(i * down < left) << i;
    s->from = (const unsigned char *)(X + (left > 0 ? line * line_stride : 0) + s->k * k_stride);
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

/* Copies 16 bytes, or zeros (PTX ISA 9.7, "cp.async": ignore-src). */
TMM__DEVICE void tmm__xhalf_copy_16(tmm__xhalf_place to, const void *from, unsigned exists)
{
#if TMM__ASYNC
    asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, %2, 0;\n"
                 "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, p;\n}" ::"r"(to),
                 "l"(from), "r"(exists)
                 : "memory");
#else
    tmm__copy_zfill(tmm__xhalf_at(to), from, 16, exists ? 16 : 0);
#endif
}

/* Copies a stage whose chunks are whole, or have no line. */
TMM__DEVICE void tmm__xhalf_copy_whole(tmm__xhalf_lines *s, unsigned stage, const int lines,
                                       const int threads)
{
#pragma unroll
    for (int i = 0; i < lines * 4 / threads; i++)
        tmm__xhalf_copy_16(s->to + stage + i * threads * 16, s->from + i * s->hop,
                           s->exist >> i & 1);
    s->from += s->step;
}

/* Copies any stage, of which k_left k exist; more than 32, unless it is the last one. What does not exist
   becomes zeros. Where memory may end, by elements: compute-sanitizer takes all bytes of a cp.async for read,
   also those that it fills with zeros. All threads do so: branches of single ones would move what the
   main loop has from uniform registers. */
TMM__DEVICE void tmm__xhalf_copy_any(tmm__xhalf_lines *s, unsigned stage, int k_left,
                                     const int lines, const int threads)
{
    const unsigned char *from = s->from;
    int k = s->k, end = -1; /* the number of chunks with the end */
    if (k_left <= 32)
        end = s->next_k > 0 ? (s->last ? (k_left - 1) / (threads / (lines / 8)) : -1)
                            : (k_left & (s->align / 2 - 1) ? s->last : -1);
#pragma unroll 1
    for (int i = 0; i < lines * 4 / threads; i++) {
        const int more = k_left - k, valid = s->next_k > 0 || more >= 8 ? s->valid : more;
        tmm__xhalf_chunk(tmm__xhalf_at(s->to + stage + i * threads * 16), (const TMM_TYPE *)from,
                         more > 0 && (s->exist >> i & 1) ? valid : 0, i == end ? 2 : s->align);
        from += s->hop, k += s->next_k;
    }
    s->from += s->step;
}
#endif

#if defined(TMM__PASS) && TMM__HALF_TENSOR && (TMM__HALF_LIST(TMM__IN_PASS) 0)
enum {
    tmm__half_bytes = TMM__HALF_BYTES(TMM__HALF_ROWS, TMM__HALF_COLS, TMM__HALF_STAGES),
    tmm__half_threads = TMM__HALF_THREADS(TMM__HALF_ROWS, TMM__HALF_COLS)
};
static_assert(
    (TMM__HALF_ROWS == 64 || TMM__HALF_ROWS == 128) &&
        (TMM__HALF_COLS == TMM__HALF_ROWS || TMM__HALF_COLS == 2 * TMM__HALF_ROWS),
    "TMM__HALF_LIST: tiles have 64 or 128 rows, and as many columns or twice as many: 2 x 2 "
    "or 2 x 4 warps");
static_assert(TMM__HALF_STAGES >= 2, "TMM__HALF_LIST: one stage is copied while another is read");
static_assert(tmm__half_threads / 32 * 16 * (TMM__HALF_ROWS / 2 + 8) * 4 <=
                  TMM__HALF_BYTES(TMM__HALF_ROWS, TMM__HALF_COLS, 2),
              "TMM__HALF_LIST: 16 rows of each warp's sums must fit into two stages");
static_assert(TMM__HALF_BLOCKS * tmm__half_bytes <= 227 * 1024,
              "TMM__HALF_LIST: the stages of all blocks must fit into a multiprocessor");

/* What a thread of KERNEL TENSOR HALF keeps through its main loop. */
typedef struct tmm__half_warp {
    float sum[TMM__HALF_ROWS / 32][TMM__HALF_ROWS / 16][4]; /* parts of 16 x 8 of C */
    unsigned x[2][TMM__HALF_ROWS / 32][4];                  /* fragments of A for 16 k, twice, */
    unsigned y[2][TMM__HALF_ROWS / 32][4];                  /* and of B */
    tmm__xhalf_lines a, b;
    tmm__xhalf_place memory; /* the ring of stages */
    unsigned from_A, from_B; /* of the lane's first row of matrices in a stage, in bytes */
    unsigned write, read;    /* the stages that are copied to and read next, in bytes */
    int next;                /* the step to copy */
} tmm__half_warp;

/* Loads fragments number k, 0 or 1, of the stage that is read. Of an operand that is copied along k,
   matrices have 16 lines and all of its 16 k; of any other, 16 k and all of these lines. */
TMM__DEVICE void tmm__half_fragments(tmm__half_warp *w, const int k, const int turned_A,
                                     const int turned_B)
{
    enum { ROWS = TMM__HALF_ROWS, COLS = TMM__HALF_COLS };
    const tmm__xhalf_place stage = w->memory + w->read;
#pragma unroll
    for (int i = 0; i < ROWS / 32; i++)
        tmm__xhalf_load(w->x[k][i],
                        stage + (turned_A ? (w->from_A ^ 32 * i) + k * (ROWS * 32)
                                          : (w->from_A ^ 32 * k) + i * 1024),
                        turned_A);
#pragma unroll
    for (int j = 0; j < ROWS / 32; j++)
        tmm__xhalf_load(w->y[k][j],
                        stage + ROWS * 64 +
                            (turned_B ? (w->from_B ^ 32 * j) + k * (COLS * 32)
                                      : (w->from_B ^ 32 * k) + j * 1024),
                        turned_B);
}

/* Multiplies them: the products of one of two diagonals, 1 or 2, each of which takes all fragments, or the
   others, 0. */
TMM__DEVICE void tmm__half_multiply(tmm__half_warp *w, const int k, const int diagonal)
{
    enum { DOWN = TMM__HALF_ROWS / 32 };
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < 2 * DOWN; j++)
            if (diagonal == (j / 2 == i ? 2 : j / 2 == (i + 1) % DOWN ? 1 : 0))
                tmm__xhalf_mma(w->sum[i][j], w->x[k][i], &w->y[k][j / 2][j % 2 * 2]);
}

/* Goes on from the stage that is read to the next, and copies another one to its place, if there is one: see
   the drawing. The ring is filled by steps below 0. The copies of the first `whole` steps are whole in all of
   the block; fast, a constant: so is this one.
   A warp has six scoreboards, by which products wait for ldmatrix. ptxas gives a load the one of a load
   before, if that is still waited for; then a product waits for both. So a diagonal of the products of new
   fragments, which waits for all of them, comes before one of the old ones: these are still needed, hence
   the next loads come after both. A branch around the copies and the end of the loop keep the diagonals
   far behind the loads. */
TMM__DEVICE void tmm__half_stage(tmm__half_warp *w, const int step, int steps, int whole, int tail,
                                 const int fast, const int turned_A, const int turned_B)
{
    enum {
        ROWS = TMM__HALF_ROWS,
        COLS = TMM__HALF_COLS,
        STAGES = TMM__STAGES(TMM__HALF_STAGES),
        STAGE = (ROWS + COLS) * 64
    };
    if (step >= 0) tmm__half_multiply(w, 1, 1), tmm__half_multiply(w, 0, 1);
    if (step >= -1) {
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();
        if (step >= 0) w->read = w->read == (STAGES - 1) * STAGE ? 0 : w->read + STAGE;
        tmm__half_fragments(w, 0, turned_A, turned_B);
        if (step >= 0) tmm__half_multiply(w, 1, 0);
    }
    if (w->next < whole) {
        tmm__xhalf_copy_whole(&w->a, w->write, ROWS, tmm__half_threads);
        tmm__xhalf_copy_whole(&w->b, w->write, COLS, tmm__half_threads);
        w->write = w->write == (STAGES - 1) * STAGE ? 0 : w->write + STAGE;
    } else if (!fast && w->next < steps) {
        const int k_left = w->next < steps - 1 ? 64 : tail;
        tmm__xhalf_copy_any(&w->a, w->write, k_left, ROWS, tmm__half_threads);
        tmm__xhalf_copy_any(&w->b, w->write, k_left, COLS, tmm__half_threads);
        w->write = w->write == (STAGES - 1) * STAGE ? 0 : w->write + STAGE;
    }
    tmm__copy_commit();
    w->next++;
    if (step < -1) return;
    tmm__half_multiply(w, 0, 2);
    if (step >= 0) tmm__half_multiply(w, 1, 2);
    tmm__half_fragments(w, 1, turned_A, turned_B);
    tmm__half_multiply(w, 0, 0);
}

/* The same for `more` steps whose copies are whole. The operands' layouts are constants here: else there
   would be a branch at each load, which keeps loads and products apart. */
TMM__DEVICE void tmm__half_stages(tmm__half_warp *w, int more, int whole, const int turned_A,
                                  const int turned_B)
{
#pragma unroll 1
    do {
        tmm__half_stage(w, 0, whole, whole, 32, 1, turned_A, turned_B);
    } while (--more > 0);
}

/* Stores a warp's sums, as C or, raw, as `partial` ones, a constant, where 16 bytes align all rows; C: the
   first element, rows and cols: those that exist, if whole 16 bytes of a row do. 16 rows at a time go through
   shared memory, where they lie 4 or 8 banks apart, so that a row gets 128 bytes or more at once: of fragments
   it would get 16. */
TMM__DEVICE void tmm__half_store(tmm__half_warp *w, unsigned char *memory, void *C, long long ldc,
                                 long long rows, long long cols, TMM_SUM factor, const int partial)
{
    enum { PART = TMM__HALF_ROWS / 2 };
    const int size = partial ? 4 : (int)sizeof(TMM_OUT), pitch = (PART + 8) * size;
    const int chunks = PART * size / 16, at_once = 32 / chunks; /* of 16 bytes, of a row; rows */
    const int lane = threadIdx.x % 32, row = lane / chunks, chunk = lane % chunks;
    unsigned char *own = memory + threadIdx.x / 32 * (16 * pitch);
    unsigned char *put = own + lane / 4 * pitch + lane % 4 * (2 * size);
    const unsigned char *get = own + row * pitch + chunk * 16;
    unsigned char *to = (unsigned char *)C + row * ldc * size + chunk * 16;
    const int left =
        chunk * (16 / size) >= cols ? 0 : (int)(rows < (int)PART ? rows : (int)PART) - row;
#pragma unroll
    for (int i = 0; i < PART / 16; i++) {
#pragma unroll
        for (int j = 0; j < PART / 4; j++) {
            const float *sum = &w->sum[i][j / 2][j % 2 * 2];
            unsigned char *at = put + j % 2 * 8 * pitch + j / 2 * (8 * size);
            tmm__xouts2 x;
            for (int n = 0; n < 2; n++) x.v[n] = (TMM_OUT)(TMM__MUL(factor, sum[n]) + 0);
            if (partial)
                *(float2 *)at = make_float2(sum[0], sum[1]);
            else
                *(tmm__xouts2 *)at = x;
        }
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 16; n += at_once, to += at_once * ldc * size)
            if (16 * i + n < left) *(uint4 *)to = *(const uint4 *)(get + n * pitch);
        __syncwarp();
    }
}

/* beta times 4 x 4 elements of C, 4 rows that are `hop` apart. All are asked for before one is waited for, which a
   branch between them would do: 33 thousand clocks for a tile of 128 x 256. */
TMM__DEVICE void tmm__half_old(tmm__xsums4 *old, const TMM_OUT *C, long long hop, bool aligned,
                               const unsigned *masks, TMM_SCALAR beta)
{
    const bool vector = aligned && (masks[0] & masks[1] & masks[2] & masks[3]) == 15;
    tmm__xouts4 was[4];
    if (vector) {
#pragma unroll
        for (int r = 0; r < 4; r++) was[r] = *(const tmm__xouts4 *)(C + r * hop);
    } else {
#pragma unroll
        for (int n = 0; n < 16; n++) {
            was[n / 4].v[n % 4] = 0;
            tmm__xload_if(&was[n / 4].v[n % 4], C + n / 4 * hop + n % 4, masks[n / 4] >> n % 4 & 1);
        }
    }
#pragma unroll
    for (int n = 0; n < 16; n++)
        old[n / 4].v[n % 4] = TMM__MUL((TMM_SUM)beta, (TMM_SUM)was[n / 4].v[n % 4]);
}

/* The same for any C, beta, epilogue, triangle and for partial sums of any N: from row `row` and column `col`
   on, 4 neighbours of a row to a lane. What C was is asked for 4 rows at a time. */
TMM__DEVICE void tmm__half_store_any(tmm__half_warp *w, unsigned char *memory, TMM_OUT *C,
                                     long long ldc, long long row, long long col, long long M,
                                     long long N, TMM__ALPHA alpha, TMM_SCALAR beta,
                                     float *partials, const int triangle)
{
    enum {
        PART = TMM__HALF_ROWS / 2,
        PITCH = PART + 8,
        LANES = PART / 4, /* of a row */
        AT_ONCE = 32 / LANES
    };
    const int lane = threadIdx.x % 32;
    float *own = (float *)memory + threadIdx.x / 32 * (16 * PITCH);
    float *put = own + lane / 4 * PITCH + lane % 4 * 2;
    const float *get = own + lane / LANES * PITCH + lane % LANES * 4;
    row += lane / LANES, col += lane % LANES * 4;
    const unsigned columns = tmm__column_mask(col, 4, 0, N);
    const bool aligned = ((size_t)C | (size_t)ldc * sizeof(TMM_OUT)) % sizeof(tmm__xouts4) == 0;
    /* 16 rows after 16 rows, each moved to the place of the first: code for these alone. */
#pragma unroll 1
    for (int i = 0; i < PART / 16; i++) {
#pragma unroll
        for (int j = 0; j < PART / 4; j++)
            *(float2 *)(put + j % 2 * 8 * PITCH + j / 2 * 8) =
                make_float2(w->sum[0][j / 2][j % 2 * 2], w->sum[0][j / 2][j % 2 * 2 + 1]);
        __syncwarp();
#pragma unroll 1
        for (int n = 0; n < 16; n += 4 * AT_ONCE, row += 4 * AT_ONCE) {
            tmm__xsums4 old[4];
            unsigned masks[4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const long long at = row + r * AT_ONCE;
                const tmm__xsums4 zeros = {{0, 0, 0, 0}};
                masks[r] = at < M ? tmm__triangle_mask(triangle, columns, at, col) : 0;
                old[r] = zeros;
            }
            TMM_OUT *const to = C + row * ldc + col;
            if (partials == NULL && (TMM_SUM)beta != 0)
                tmm__half_old(old, to, AT_ONCE * ldc, aligned, masks, beta);
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const long long at = row + r * AT_ONCE;
                const tmm__xsums4 x = *(const tmm__xsums4 *)(get + (n + r * AT_ONCE) * PITCH);
                if (partials == NULL)
                    tmm__xstore4(to + r * (AT_ONCE * ldc), at, col, aligned && masks[r] == 15,
                                 masks[r], alpha, old[r].v, x.v);
                else
                    for (int j = 0; j < 4; j++)
                        if (masks[r] >> j & 1) partials[at * N + col + j] = x.v[j];
            }
        }
        __syncwarp();
#pragma unroll
        for (int below = 1; below < PART / 16; below++)
#pragma unroll
            for (int j = 0; j < PART / 2; j++)
                w->sum[below - 1][j / 4][j % 4] = w->sum[below][j / 4][j % 4];
    }
}

/* ============================== KERNEL TENSOR HALF ============================================ */
/* Elements of 16 bits on tensor cores, sums in float. 2 x 4 warps, or 2 x 2, have a tile of C; each has
   64 x 64 of it, or 32 x 32, in registers, as 16 x 8 parts:

             64        64        64        64
           +---------+---------+---------+---------+
           | warp 0  | warp 1  | warp 2  | warp 3  |  64      a stage: 32 k of the tile's lines
           +---------+---------+---------+---------+          of A, then of B; STAGES of them go
           | warp 4  | warp 5  | warp 6  | warp 7  |  64      round
           +---------+---------+---------+---------+

   A stage has chunks of 8 elements, 16 bytes. An operand that is contiguous along k lies as
   [line][4 chunks], chunk c of line r at c ^ (r / 2 % 4); any other as [k][lines / 8 chunks], chunk c
   of row k at c ^ (k % 8). So ldmatrix, which reads 8 rows of 16 bytes, finds them in different
   banks, and transposes the second kind. Copies of 16 bytes store to different banks, too.

   Fragments for 16 k, a or b, are loaded while the ones before are multiplied, also across stages:
       copies               | s3          | s4          | s5     to the place of s0, s1, s2
       ldmatrix      | s0 b | s1 a | s1 b | s2 a | s2 b | s3 a |
       tensor cores  | s0 a | s0 b | s1 a | s1 b | s2 a | s2 b |
                            |             |             |          barriers: s1, s2, s3 have arrived;
                                                                   s0, s1, s2 may be copied to
   Blocks walk along bands of 8 rows of tiles. Where gridDim.y > 1, each has some steps of K, and
   leaves its sums in `partials` for KERNEL SUM. Bit 0 of `ends`: memory may end with A; bit 1: with B.
   A step of 128 x 256 is 2,097,152 operations and 24 KB from L2: 85 a byte; of 128 x 128, 64. Its warps
   read 64 KB of shared memory, copies store 24: 23 a byte. What bounds it: tensor cores, which on sm_90 do
   some 1300 multiply-adds a clock by mma.sync, 0.6 of what wgmma gets from them. */
TMM_KERNEL void __launch_bounds__(tmm__half_threads, TMM__HALF_BLOCKS)
    tmm__gemm_half(long long M, long long N, long long K, TMM__ALPHA alpha,
                   const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                   const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                   TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                   float *__restrict__ partials, int ends TMM__TRIANGLE_OF_ARGUMENTS)
{
    enum {
        ROWS = TMM__HALF_ROWS,
        COLS = TMM__HALF_COLS,
        STAGES = TMM__STAGES(TMM__HALF_STAGES),
        PART = ROWS / 2,  /* a warp's rows and columns: */
        DOWN = PART / 16, /* parts of 16 x 8 */
        ACROSS = PART / 8
    };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
#ifdef TMM_WITH_SYRK
    enum { EDGE = ROWS > COLS ? ROWS : COLS };
    unsigned across = (unsigned)((N - 1) / COLS + 1), down = (unsigned)((M - 1) / ROWS + 1);
    const int squares = (int)((N - 1) / EDGE + 1);
    if (triangle != 0)
        across = (squares + 1) / 2 * ((int)EDGE / COLS),
        down = (squares + 1 - squares % 2) * ((int)EDGE / ROWS);
#else
    const int triangle = 0;
    const unsigned across = (unsigned)((N - 1) / COLS + 1), down = (unsigned)((M - 1) / ROWS + 1);
#endif
    /* Tiles are counted in 32 bits, since gridDim is. */
    const unsigned of_band = (down < 8 ? down : 8) * across;
    const unsigned band = blockIdx.x / of_band, place = blockIdx.x % of_band;
    const unsigned high = down - band * 8 < 8 ? down - band * 8 : 8;
#ifdef TMM_WITH_SYRK
    int tile_down = (int)(band * 8 + place % high), tile_across = (int)(place / high);
    if (triangle != 0)
        tmm__triangle_tile(triangle, squares, (ROWS > COLS) - (ROWS < COLS), &tile_down,
                           &tile_across);
    const long long tile_row = tile_down * (long long)ROWS,
                    tile_col = tile_across * (long long)COLS;
#else
    const long long tile_row = (band * 8 + place % high) * (long long)ROWS,
                    tile_col = place / high * (long long)COLS;
#endif

    /* Slices of K, the first ones a step longer. K is below 2^31. */
    const unsigned all = (unsigned)((K + 31) / 32), each = all / gridDim.y,
                   longer = all % gridDim.y;
    const unsigned step0 = each * blockIdx.y + (blockIdx.y < longer ? blockIdx.y : longer);
    const unsigned end = step0 + each + (blockIdx.y < longer);
    const long long k0 = step0 * 32ll;
    const int turned_A = csA != 1, turned_B = rsB != 1;
    tmm__half_warp w;
    w.memory = tmm__xhalf_place_of(tmm__memory);
    tmm__xhalf_begin(&w.a, A + blockIdx.z * batchA + tile_row * rsA + k0 * csA, rsA, csA,
                     M - tile_row, w.memory, ROWS, tmm__half_threads, turned_A, ends & 1);
    tmm__xhalf_begin(&w.b, B + blockIdx.z * batchB + tile_col * csB + k0 * rsB, csB, rsB,
                     N - tile_col, w.memory + ROWS * 64, COLS, tmm__half_threads, turned_B,
                     ends & 2);
    const int row0 = warp / (COLS / PART) * PART, col0 = warp % (COLS / PART) * PART;
    const int eight = lane % 8, rowA = row0 + lane % 16, rowB = col0 + lane / 16 * 8 + eight;
    const int kA = lane / 16 * 8 + eight, kB = lane / 8 % 2 * 8 + eight;
    w.from_A = turned_A ? kA * (ROWS * 2) + ((row0 / 8 + lane / 8 % 2) ^ eight) * 16
                        : rowA * 64 + (lane / 16 ^ rowA / 2 % 4) * 16;
    w.from_B = turned_B ? kB * (COLS * 2) + ((col0 / 8 + lane / 16) ^ eight) * 16
                        : rowB * 64 + (lane / 8 % 2 ^ rowB / 2 % 4) * 16;
    w.write = w.read = 0, w.next = 0;
#pragma unroll
    for (int i = 0; i < DOWN * ACROSS * 4; i++) w.sum[i / (ACROSS * 4)][i / 4 % ACROSS][i % 4] = 0;

    const int steps = (int)(end - step0), tail = end == all ? (int)(K - (end - 1) * 32ll) : 32;
    const int whole = !w.a.whole || !w.b.whole ? 0 : tail == 32 ? steps : steps - 1;
#pragma unroll 1
    for (int step = -STAGES; step < steps - 1; step++) {
        /* Steps from here on whose copies are whole; or all, if there is nothing else to copy. */
        const int last = whole == steps || w.next >= steps,
                  more = last ? steps - 1 - step : whole - w.next;
        if (step < 0 || more <= 0) {
            tmm__half_stage(&w, step, steps, whole, tail, 0, turned_A, turned_B);
            continue;
        }
        step += more - 1;
        if (!turned_A && !turned_B)
            tmm__half_stages(&w, more, whole, 0, 0);
        else if (!turned_A)
            tmm__half_stages(&w, more, whole, 0, 1);
        else if (!turned_B)
            tmm__half_stages(&w, more, whole, 1, 0);
        else
            tmm__half_stages(&w, more, whole, 1, 1);
    }
    if (steps > 0) { /* else there are no fragments */
        tmm__half_multiply(&w, 1, 1), tmm__half_multiply(&w, 0, 1);
        tmm__half_multiply(&w, 1, 0), tmm__half_multiply(&w, 1, 2);
    }

    C += blockIdx.z * batchC;
    if (partials != NULL) partials += (blockIdx.z * gridDim.y + blockIdx.y) * (M * N);
    const long long row1 = tile_row + row0, col0_of = tile_col + col0;
    const int partial = partials != NULL, size = partial ? 4 : (int)sizeof(TMM_OUT);
    bool rows_of_16 = triangle == 0 && N * size % 16 == 0 &&
                      (partial || ((size_t)C | (size_t)ldc * sizeof(TMM_OUT)) % 16 == 0) &&
                      (partial || (TMM_SUM)beta == 0);
#ifdef TMM_WITH_EPILOGUE
    rows_of_16 = rows_of_16 && (partial || !alpha.after.active);
#endif
#ifdef TMM_EPILOGUE
    rows_of_16 = rows_of_16 && partial;
#endif
    __syncthreads(); /* all have read their last fragments */
    if (!rows_of_16)
        tmm__half_store_any(&w, tmm__memory, C, ldc, row1, col0_of, M, N, alpha, beta, partials,
                            triangle);
    else if (partial)
        tmm__half_store(&w, tmm__memory, partials + row1 * N + col0_of, N, M - row1, N - col0_of, 1,
                        1);
    else
        tmm__half_store(&w, tmm__memory, C + row1 * ldc + col0_of, ldc, M - row1, N - col0_of,
                        (TMM_SUM)TMM__FACTOR(alpha), 0);
}
#endif
