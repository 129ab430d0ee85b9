/* src/tiledmm/kernels/tensor_float/thin.cuh. Floats as BF16x6 where op(A) has few rows, or op(B) few columns:
   what the instances share.
   Uses: kernels/common/tensor_ptx.cuh, kernels/tensor_float/, once/.
   Used by: thin_kernel.cuh, thin_launch.h, type/instances.h. */
/* The instances: pass, name, lines of the thin operand in a tile, stages of 32 k. */
#ifndef TMM__THIN_LIST
#define TMM__THIN_LIST(_) \
    _(1, 128x32, 32, 6)   \
    _(2, 128x64, 64, 6)   \
    _(3, 128x96, 96, 6)   \
    _(4, 128x128, 128, 5)

#define TMM__ROW(pass, name, ...) TMM__THIN_##name,
enum { TMM__THIN_LIST(TMM__ROW) TMM__THIN_INSTANCES };
#undef TMM__ROW
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
/* KERNEL THIN FLOAT: a few lines times many, such as a small batch times weights. One operand is
   `thin`, of 512 lines at most; the other one, `large`, comes through memory once, as it is. Both
   become three BF16 terms of each element, as in recheck_bf16x6, whose products, windows of 32 k and
   error bound these are. Three launches:
       split      planes of the thin operand's terms, for wgmma or ldmatrix
       multiply   equal shares of all (tile, 32 k) for all blocks: partial tiles
       sum        adds the partial tiles of each tile in ascending k, and stores C
   Which elements the bound does not hold for is found by lines alone: `bad` is a line with an element
   that is not finite or at least 2^limit, by which sums could overflow; or one below 2^-110 whose
   third term is not exact. Products of other lines are finite: |x y| K is below 2^126. Bad lines have
   scale 0, all others 1: so they are rejected, and the recheck computes their elements by FP32
   multiply-adds in ascending k. Bits depend on the shape, the strides and the device alone. Of a batch
   each product is shared out alike, so that they do not depend on its position.

   A plane stage is 32 k of `cols` lines, as wgmma reads them without swizzle:
       [16 k][term][8 lines][half of the 16 k][line][8 BF16]
   Slot s of half h is k = 4 (s / 2) + 2 h + s % 2. So the 4 neighbours along k that a lane copies of
   a line of the large operand are its slots 2 q, 2 q + 1 of both halves, q = lane % 4. */
enum { TMM__THIN_MOST = 512, TMM__THIN_LINES = 128 };
/* Floats of a row where lines are not aligned to 16 bytes: up to three before the first; bytes of a stage. */
enum { TMM__THIN_ROW = TMM__THIN_LINES + 4, TMM__THIN_STAGE = 4 * TMM__THIN_ROW * 32 };
/* By mma.sync: stages, and how many steps copies are ahead of where all threads meet, who may still read
   the two stages before. The most lines of a tile for a compute capability: with more there are registers
   too few. */
enum { TMM__THIN_MMA_STAGES = 4, TMM__THIN_AHEAD = TMM__THIN_MMA_STAGES - 2 };
#define TMM__THIN_MMA_MOST(capability) ((capability) < 100 ? 96 : 64)

typedef struct tmm__thin_job {
    tmm__float_job c; /* the product, for the recheck: operands, C, scales */
    tmm__lines thin, large;
    unsigned char *planes;             /* [product][block of cols lines][32 k] */
    float *thin_scales, *large_scales; /* [product][line] */
    float *partials;                   /* [product][tile + share][line of thin][line of large] */
    /* The ticket where a line of the thin operand is bad: [product][line]; before them, if any is. */
    unsigned long long *marks, ticket;
    /* From one product to the next, 0 where all share the operand: bytes of planes; lines that have
       scales. Floats of partial tiles. Scales of the large operand in all. */
    long long next_planes, next_thin, next_large, next_partials, scales;
    long long units;    /* of a product: tiles times steps, which are shared out */
    unsigned shares;    /* the blocks that multiply a product */
    int tiles;          /* of a product */
    int steps, blocks;  /* of 32 k; of the thin operand */
    int cols;           /* of a block */
    int along_k, width; /* how the large operand is copied: along k or lines, by so many bytes */
    unsigned limit;     /* as the bits of a BF16 */
    int groups;         /* warps that share the partial tiles of an element: 1 or 8 */
    bool turned;        /* whether the thin operand is B */
} tmm__thin_job;

#if TMM__BODIES && (TMM__ASYNC || !defined(__CUDA_ARCH__))
/* The larger magnitude in each half of two pairs of BF16, whatever its sign; NaN if one is. */
TMM__DEVICE unsigned tmm__bf16_most(unsigned x, unsigned y)
{
#if TMM__WGMMA
    /* PTX ISA 9.7, "max" */
    asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(x) : "r"(x), "r"(y));
    return x;
#else
    unsigned high = 0x7fff0000u, low = 0x7fffu;
    return ((x & high) > (y & high) ? x & high : y & high) |
           ((x & low) > (y & low) ? x & low : y & low);
#endif
}

/* Whether a line is bad: of its elements, the larger ones in pairs, and what bf16_triple returned. */
TMM__DEVICE bool tmm__thin_is_bad(const tmm__thin_job *job, unsigned most, unsigned inexact)
{
    return ((most & 0x7fffu) >= job->limit) | ((most >> 16 & 0x7fffu) >= job->limit) |
           ((inexact & 0xffffu) != 0);
}

/* 4 or 16 bytes to shared memory, the first `valid` of them, which are read once: L2 may keep
   other lines (PTX ISA 9.7, "cp.async", and the policy of "createpolicy"). Where a line has 128 bytes
   along k in a step, L2 may fetch those of the next step, too. */
TMM__DEVICE void tmm__copy_once(float *shared, const float *global, const int bytes, int valid,
                                unsigned long long policy, const bool along_k)
{
#if TMM__WGMMA
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if (bytes == 16 && along_k)
        asm volatile(
            "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%0], [%1], 16, %2, %3;" ::"r"(to),
            "l"(global), "r"(valid), "l"(policy)
            : "memory");
    else if (bytes == 16)
        asm volatile(
            "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(to),
            "l"(global), "r"(valid), "l"(policy)
            : "memory");
    else /* with a policy an H100 stops at these: "illegal instruction" */
        tmm__copy_zfill(shared, global, 4, valid);
#else
    (void)policy, (void)along_k;
    tmm__copy_zfill(shared, global, bytes, valid);
#endif
}

/* Where the copies of a thread are. Each of the 256 threads that multiply has lines 2 g and 2 g + 1 of
   16 of its warp, g = lane / 4, and k = 4 q .. 4 q + 3 of each 16. Where lines lie along k a thread
   copies 16 bytes at a time for two of them, 128 apart; or one by one, then a warp has 32 neighbours of
   each of 32 lines. Else a warp has 8 k of all 128 lines. */
typedef struct tmm__thin_walk {
    const float *at;       /* the first of these elements in this step */
    int step, block, tile; /* of 32 k; of the thin operand; of 128 lines */
    int line, k;           /* of the first one in a tile */
} tmm__thin_walk;

TMM__DEVICE void tmm__thin_find(const tmm__thin_job *job, tmm__thin_walk *walk)
{
    walk->at = job->large.X + blockIdx.y * job->large.product_stride +
               (walk->tile * TMM__THIN_LINES + walk->line) * job->large.line_stride +
               (walk->step * 32 + walk->k) * job->large.k_stride;
}

TMM__DEVICE void tmm__thin_begin(const tmm__thin_job *job, tmm__thin_walk *walk, int thread)
{
    const int warp = thread / 32, lane = thread % 32;
    const bool vectors = job->width == 16;
    walk->line = lane * 4, walk->k = warp * 8;
    if (job->along_k)
        walk->line = vectors ? warp * 16 + lane / 4 * 2 : warp * 32,
        walk->k = vectors ? lane % 4 * 4 : lane;
    tmm__thin_find(job, walk);
}

/* Floats from the last address at a multiple of 16 bytes to this one. Of the large operand it depends on
   k % 4 alone, for a tile has 128 lines. */
TMM__DEVICE int tmm__thin_shift(const float *at)
{
    return (int)((size_t)at / sizeof *at % 4);
}

/* Bytes of a chunk of which `here` elements or more exist. `whole`: all or none, which is known when the
   program is compiled: then a copy and its address are 3 instructions, of other sizes 18. */
TMM__DEVICE int tmm__thin_bytes(int here, const bool whole)
{
    return whole ? (here > 0 ? 16 : 0) : 4 * min(max(here, 0), 4);
}

/* Lines along k: each thread that multiplies has four chunks of 16 bytes in a stage, 256 chunks apart, two
   to 16 k: its two lines. */
TMM__DEVICE void tmm__thin_copy_lines(const tmm__thin_job *job, const float *at, float *to,
                                      int exist, int left, unsigned long long policy,
                                      const bool whole)
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int line = i / 4 * 64 + i % 2, k = i / 2 % 2 * 16;
        const int here = line < exist ? (whole ? 4 : left - k) : 0;
        tmm__copy_once(to + i / 4 * 512 + i % 4 * 1024, at + line * job->large.line_stride + k, 16,
                       tmm__thin_bytes(here, whole), policy, true);
    }
}

/* Else a stage is [k][line], chunk c of four lines at place c ^ k / 4 % 4 * 2: half a warp reads 8 bytes of
   four k each, from all 32 banks. `shifted`, off 16 bytes, a row begins with what lies before its first
   line in the same 16 bytes, see thin_shift; so up to 12 bytes before the operand are read, but not used.
   A warp has 8 rows. */
TMM__DEVICE void tmm__thin_copy_rows(const tmm__thin_job *job, const float *at, float *to,
                                     int exist, int left, unsigned long long policy,
                                     const bool shifted, const bool whole)
{
    const int lane = threadIdx.x % 32, place = lane ^ threadIdx.x / 32 % 2 * 4;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float *from = at + j * job->large.k_stride;
        const int shift = shifted ? tmm__thin_shift(from) : 0;
        const int here = whole || j < left ? exist + shift : 0;
        float *row = to + j * (shifted ? (int)TMM__THIN_ROW : (int)TMM__THIN_LINES);
        tmm__copy_once(row + (shifted ? lane : place ^ j / 4 * 2) * 4, from - shift, 16,
                       tmm__thin_bytes(here, whole), policy, false);
    }
    if (!shifted || lane >= 8) return; /* the last lines of row `lane` */
    at += TMM__THIN_LINES - lane * 4 + lane * job->large.k_stride;
    const int shift = tmm__thin_shift(at);
    exist += lane * 4 - (int)TMM__THIN_LINES;
    const int here = lane < left ? min(exist + shift, shift) : 0;
    tmm__copy_once(to + lane * TMM__THIN_ROW + TMM__THIN_LINES, at - shift, 16,
                   tmm__thin_bytes(here, whole), policy, false);
}

/* Copies 32 elements of a step to their places in a stage, and goes on. But in the last step chunks are
   read whole where they begin: what lies behind the last line is padding or the next row. */
TMM__DEVICE void tmm__thin_copy(const tmm__thin_job *job, tmm__thin_walk *walk, float *stage,
                                int thread, unsigned long long policy)
{
    const float *at = walk->at;
    const int left = (int)job->c.K - walk->step * 32 - walk->k, warp = thread / 32;
    const int exist = (int)job->large.lines - walk->tile * TMM__THIN_LINES - walk->line;
    const bool vectors = job->width == 16;
    const int more = job->along_k || (vectors && job->large.lines % 4 == 0) ? 32 : 33;
    const bool whole = walk->step * 32 + more <= (int)job->c.K;
    if (vectors && job->along_k) {
        if (whole)
            tmm__thin_copy_lines(job, at, stage + thread * 4, exist, left, policy, true);
        else
            tmm__thin_copy_lines(job, at, stage + thread * 4, exist, left, policy, false);
    } else if (vectors) {
        if (whole)
            tmm__thin_copy_rows(job, at, stage + warp * 1024, exist, left, policy, false, true);
        else
            tmm__thin_copy_rows(job, at, stage + warp * 1024, exist, left, policy, false, false);
    } else if (job->along_k) {
        float *to = stage + thread % 32 / 16 * 2048 + warp * 256 + thread % 16;
#pragma unroll 8
        for (int j = 0; j < 32; j++, at += job->large.line_stride)
            tmm__copy_once(to + j % 2 * 1024 + j / 16 * 128 + j % 16 / 2 * 16, at, 4,
                           (left > 0) & (j < exist) ? 4 : 0, policy, true);
    } else {
        float *to = stage + warp * (8 * TMM__THIN_ROW);
        if (whole)
            tmm__thin_copy_rows(job, at, to, exist, left, policy, true, true);
        else
            tmm__thin_copy_rows(job, at, to, exist, left, policy, true, false);
    }
    walk->at += 32 * job->large.k_stride;
    if (++walk->step < job->steps) return;
    walk->step = 0;
    if (++walk->block == job->blocks) walk->block = 0, walk->tile++;
    tmm__thin_find(job, walk);
}

/* Where a thread that multiplies has its first elements in a stage. */
TMM__DEVICE int tmm__thin_place(const tmm__thin_job *job, int thread)
{
    const int g = thread / 4 % 8, q = thread % 4;
    if (job->along_k) return thread * 4;
    return job->width == 16 ? q * 512 + ((thread / 32 * 4 + g / 2) ^ q * 2) * 4 + g % 2 * 2
                            : q * (4 * TMM__THIN_ROW) + thread / 32 * 16 + g * 2;
}

/* Where rows are not aligned to 16 bytes, shifts of k % 4 = 0 to 3, four bits each; else -1. */
TMM__DEVICE int tmm__thin_shifts(const tmm__thin_job *job)
{
    const float *first = job->large.X + blockIdx.y * job->large.product_stride;
    int shifts = 0;
    if (job->along_k || job->width == 16) return -1;
    for (int i = 0; i < 4; i++) shifts |= tmm__thin_shift(first + i * job->large.k_stride) << 4 * i;
    return shifts;
}

/* What a thread has of a stage: of its two lines, four k of each 16. */
TMM__DEVICE void tmm__thin_load(const float *stage, bool along_k, int shifts, float (*x)[2][4])
{
    if (along_k) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float4 v = *(const float4 *)(stage + i * 1024);
            float *to = x[i / 2][i % 2];
            to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        }
    } else if (shifts < 0) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const float2 v = *(const float2 *)(stage + i / 4 * 2048 + i % 4 * TMM__THIN_LINES);
            x[i / 4][0][i % 4] = v.x, x[i / 4][1][i % 4] = v.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float *from = stage + (shifts >> 4 * i & 3) + i * TMM__THIN_ROW;
#pragma unroll
            for (int j = 0; j < 4; j++)
                x[j / 2][j % 2][i] = from[j / 2 * (16 * TMM__THIN_ROW) + j % 2];
        }
    }
}

/* A thread's terms of a stage, as the fragments of A of two k16: terms[k16][term][word]. Of its two
   lines, most and inexact: see thin_is_bad. */
TMM__DEVICE void tmm__thin_split(const float *stage, bool along_k, int shifts,
                                 unsigned (*terms)[3][4], unsigned *most, unsigned *inexact)
{
    float x[2][2][4];
    tmm__thin_load(stage, along_k, shifts, x);
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned words[3];
            const float *v = x[i][j % 2] + j / 2 * 2;
            inexact[j % 2] |= tmm__bf16_triple(v[0], v[1], words);
            most[j % 2] = tmm__bf16_most(most[j % 2], words[0]);
#pragma unroll
            for (int t = 0; t < 3; t++) terms[i][t][j] = words[t];
        }
    }
}

/* c = the products of a stage: 64 lines of the large operand by a warpgroup, in the order of
   bf16_multiply. Enqueued by wgmma, whose operand A is in registers (PTX ISA 9.7, "wgmma.mma_async").
   By mma.sync each warp adds those of its 16 lines to sum, 32 columns after the other, four accumulators
   at once: fragments of A and C are the same, those of B are rows of 16 bytes, as ldmatrix reads them. */
#if TMM__WGMMA
#define TMM__THIN_ASM(n, names, a, b, c, d, from, add)                                          \
    "{\n.reg .pred p;\nsetp.ne.b32 p, %" add ", 0;\n"                                           \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.bf16.bf16 {" names "}, {%" a ", %" b ", %" c \
    ", %" d "}, %" from ", p, 1, 1, 0;\n}"
TMM__DEVICE void tmm__wgmma_thin(float *c, const unsigned *a, unsigned long long b, const int cols,
                                 const int add)
{
    if (cols == 32)
        asm volatile(TMM__THIN_ASM("32", TMM__NAMES_16, "16", "17", "18", "19", "20", "21")
                     : TMM__C16(0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else if (cols == 64)
        asm volatile(TMM__THIN_ASM("64", TMM__NAMES_32, "32", "33", "34", "35", "36", "37")
                     : TMM__C32(0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else if (cols == 96)
        asm volatile(TMM__THIN_ASM("96", TMM__NAMES_48, "48", "49", "50", "51", "52", "53")
                     : TMM__C32(0), TMM__C16(32)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else
        asm volatile(TMM__THIN_ASM("128", TMM__NAMES_64, "64", "65", "66", "67", "68", "69")
                     : TMM__C32(0), TMM__C32(32)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
#endif

#if TMM__WGMMA
TMM__DEVICE void tmm__thin_products(float *c, const unsigned (*terms)[3][4],
                                    const unsigned char *planes, const int cols)
{
    /* The distance of the halves of 16 k, and of groups of eight lines. */
    const unsigned long long from =
        ((unsigned)__cvta_generic_to_shared(planes) & 0x3ffffu) >> 4 | 8ull << 16 | 16ull << 32;
    /* What was in c is not read: so that nothing moves it. */
#pragma unroll
    for (int i = 0; i < cols / 2; i++) asm volatile("" : "=f"(c[i]));
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 12; i++) {
        int a = TMM__BF16_TERMS_A >> i / 2 * 4 & 3, b = TMM__BF16_TERMS_B >> i / 2 * 4 & 3;
        tmm__wgmma_thin(c, terms[i % 2][a], from + (i % 2 * 3 + b) * (cols * 2), cols, i > 0);
    }
    TMM__WGMMA_COMMIT();
}
#else
TMM__DEVICE void tmm__thin_products(float *sum, const unsigned (*terms)[3][4],
                                    const unsigned char *planes, const int cols)
{
    planes += threadIdx.x % 32 * 16;
#pragma unroll
    for (int j = 0; j < cols / 32; j++) {
        float c[16];
        unsigned b[3][2][2][4]; /* [term][k16][16 columns] */
#pragma unroll
        for (int i = 0; i < 16; i++) c[i] = 0;
#pragma unroll
        for (int i = 0; i < 12; i++)
            tmm__load_matrices(b[i / 2 % 3][i % 2][i / 6],
                               planes + (i % 2 * 3 + i / 2 % 3) * (cols * 32) +
                                   (2 * j + i / 6) * 512);
#pragma unroll
        for (int i = 0; i < 48; i++) {
            const int k16 = i / 4 % 2, product = i / 8 * 4, n8 = i % 4;
            tmm__mma_16(c + 4 * n8, terms[k16][TMM__BF16_TERMS_A >> product & 3],
                        b[TMM__BF16_TERMS_B >> product & 3][k16][n8 / 2] + n8 % 2 * 2, true);
        }
#pragma unroll
        for (int i = 0; i < 16; i++) sum[16 * j + i] += c[i];
        TMM__KEEP_ORDER(); /* or fragments of many columns would be in registers at once */
    }
}
#endif

/* Waits until what is copied for a stage is there. Where no barriers count copies, all threads of a
   block meet instead, once a stage. */
#if TMM__WGMMA
TMM__DEVICE void tmm__thin_wait(unsigned barrier, unsigned parity)
{
    tmm__barrier_wait(barrier, parity);
}
#elif defined(__CUDA_ARCH__)
TMM__DEVICE void tmm__thin_wait(unsigned barrier, unsigned parity)
{
    (void)barrier, (void)parity;
    asm volatile("bar.sync 1, 384;" ::: "memory");
}
#else
static inline __device__ __noinline__ void tmm__thin_wait(unsigned barrier, unsigned parity)
{
    (void)barrier, (void)parity;
    __syncthreads();
}
#endif

/* What a thread that multiplies has of its block's stages, and of its two lines. */
typedef struct tmm__thin_side {
    const float *mine; /* its first elements in a stage */
    const unsigned char *planes;
    unsigned fulls, parity; /* barriers, those of empty stages behind; of the next stage */
    int stage, shifts;      /* the next one; see thin_shifts */
    int line;               /* the first of the two */
    unsigned most[2], inexact[2];
} tmm__thin_side;

/* Terms of the stage, when it is full. */
TMM__DEVICE void tmm__thin_terms(const tmm__thin_job *job, tmm__thin_side *side,
                                 unsigned (*terms)[3][4])
{
    tmm__thin_wait(side->fulls + 8 * side->stage, side->parity);
    tmm__thin_split(side->mine + side->stage * (TMM__THIN_STAGE / 4), job->along_k, side->shifts,
                    terms, side->most, side->inexact);
}

/* A step: its products, which are added to `sum`, and meanwhile the terms of the next one, if there are
   more. `ends`: all terms of the two lines have been made. */
TMM__DEVICE void tmm__thin_step(const tmm__thin_job *job, tmm__thin_side *side, float *sum,
                                const unsigned (*terms)[3][4], unsigned (*next)[3][4], bool more,
                                bool ends, const int cols, const int stages)
{
    const int stage = side->stage;
#if TMM__WGMMA
    float c[64];
#else
    float *c = sum;
#endif
    tmm__thin_products(c, terms, side->planes + stage * (cols * 192), cols);
    if (++side->stage == stages) side->stage = 0, side->parity ^= 1;
    if (ends) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int line = side->line + j;
            if (tmm__thin_is_bad(job, side->most[j], side->inexact[j]) && line < job->large.lines)
                job->large_scales[blockIdx.y * job->next_large + line] = 0,
                                                                 job->marks[0] = job->ticket;
            side->most[j] = side->inexact[j] = 0;
        }
    }
    if (more) tmm__thin_terms(job, side, next);
#if TMM__WGMMA
    tmm__wgmma_wait(c, cols / 2, 0);
    /* Each thread for itself: an arrival orders no other thread's reads. */
    tmm__barrier_arrive(side->fulls + 8 * (stages + stage));
#pragma unroll
    for (int i = 0; i < cols / 2; i++) sum[i] += c[i];
#endif
}
#endif
#endif
