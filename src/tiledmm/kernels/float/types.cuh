/* src/tiledmm/kernels/float/types.cuh. Floats on tensor cores: the method, and what host and device share.
   Uses: once/schedule.h. Used by: kernels/float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__PART_FLOAT_TYPES)
#define TMM__PART_FLOAT_TYPES
/* ============================== KERNEL TENSOR FLOAT =========================================== */
/* Products of float matrices on tensor cores, which multiply elements of 16 bits: each operand is
   split in a high and a low half, and three products of halves are added. The error is no larger
   than that of multiply-adds in float, (K + 2) u (|A||B|)_ij in the worst case; elements of C for
   which that does not hold are found beforehand and computed by multiply-adds.

   Where a number goes. Of an element x of A or B:
       x' = x 2^s       exact; s is such that the largest |x'| of the line, a row of op(A) or a
                        column of op(B), is in [2^14, 2^15)
       hi = half(x')    11 bits, rounded to nearest; x' - hi is exact in float
       lo = half((x' - hi) 2^11)       the next 11 bits, or 12
   An element of C is, over windows of 64 k,
       c    = sum lo_a hi_b + sum hi_a lo_b      on tensor cores, in float; lo_a lo_b is left out
       c    = c 2^-11 + sum hi_a hi_b            the largest products come last
       sum += c                                  by an ordinary addition, which rounds to nearest;
                                                 tensor cores cut off
       C    = alpha (sum 2^-(s_a + s_b)) + beta C
   after Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing
   the FP32 theoretical peak performance", 2022. bench/NOTES.md derives the bound.

   What does not fit is left to multiply-adds: lines with an element that is not finite; elements of
   C that 2^-(s_a + s_b) could make overflow, or tiny; and some of wide lines. A line is wide if it
   has elements that are not zero but so small (below 2^-29 to 2^-35 of the largest, see
   gemm__float_least) that their halves lack bits. What they lack is less than K 2^-18 in the sum of
   an element of C before it is scaled back, which is 2^28 where large elements meet. So of wide
   lines each element of C is judged by itself: from gemm__float_proof on, about 40, its size proves
   the bound; smaller ones are noted. In all this row and column decide, so the bits of an element
   depend on its row, its column and K alone. What is noted is computed once more, by the block that
   noted it: by multiply-adds; or, where its tiles are large, K may be shared out, too, and a square
   has many, from A and B again by six products of pieces in BF16, without scales (tmm_float_six).

   KERNEL SPLIT leaves each operand in blocks of 8 KB, 64 lines x 32 k, ordered [k / 32][line / 64],
   with zeros up to whole blocks and an even number of them along k. A line has 128 bytes of a
   block, eight chunks of 8 halves:
       chunk      0     1     2     3     4     5     6     7       chunk c of line r lies at place
       k        0-7  8-15 16-23 24-31   0-7  8-15 16-23 24-31      c ^ (r % 8)
               +-----------------------+-----------------------+
       line    |          hi           |          lo           |
               +-----------------------+-----------------------+
   which is what wgmma calls a K-major matrix with 128-byte swizzle (PTX ISA 9.7, "Asynchronous
   Warpgroup Level Matrix Shared Memory Layout"): eight neighbouring lines, read at the same k, lie
   in different banks. As memory holds it like this, plain copies bring it to shared memory. */

/* An operand as it was given: lines are rows of op(A) or columns of op(B). */
typedef struct tmm__lines {
    const float *X;
    long long lines, line_stride, k_stride; /* in elements */
    long long product_stride;               /* 0: all products of a batch share it */
} tmm__lines;

/* An operand as KERNEL SPLIT leaves it. */
typedef struct tmm__split {
    unsigned char *blocks; /* [product][k / 32][line / 64], 8 KB each */
    float *scales;         /* [product][line]: 2^-s; negative if the line is wide; 0: not finite */
    int line_blocks;       /* ceil(lines / 64) */
    int k_blocks;          /* 2 ceil(K / 64) */
} tmm__split;

/* Shared memory of the kernel for wgmma. */
#define TMM__FLOAT_BYTES(m, n, stages) ((stages) * ((m) + (n)) * 128 + 1024)

/* What the kernels behind KERNEL SPLIT are to do: `batch` products; number p has C + p batchC. */
typedef struct tmm__float_job {
    long long M, N, K;
    tmm__lines from_a, from_b;
    tmm__split a, b;
    float *C;
    long long ldc, batchC;
    float alpha, beta;
    float least, most;  /* of the product of two scales: see tmm__is_strict */
    float proof;        /* see tmm__is_unproven */
    unsigned *unproven; /* [product][row][column / 16]: see tmm__unproven_at */
    int units;          /* ceil(N / 16) */
    int batch;
    tmm__schedule s;          /* the tiles of C */
    unsigned *pace;           /* to one 0, or NULL: see tmm__keep_pace */
    int form, tile_m, tile_n; /* of large tiles, for wgmma */
    int six;                  /* whether noted elements may go by tmm_float_six */
} tmm__float_job;

enum { TMM__FLOAT_BAND = 8 }; /* rows of tiles that are walked together */
enum { TMM__FLOAT_PACE = 8 }; /* times 32 k: after so many a block asks where the others are */
enum { TMM__SPLIT_LINES = 8, TMM__BLOCK_BYTES = 8192 };

/* Bits of lo below those of hi: the factor of lo is 2 to this power. */
enum { TMM__LO_SHIFT = 11 };

/* Elements of C that are left to multiply-adds: floats from one k to the next of a tile in shared
   memory, and of its 16 k; shared memory for what 8 warps find and two stages of A and B. */
/* Of a quarter of 128 x 128, or of all of it where tmm_float_six may compute it: tmm__are_few. */
enum { TMM__STRICT_FEW = 64, TMM__SIX_FEW = 64 };
enum { TMM__STRICT_PITCH = 132, TMM__STRICT_STEP = 16 * TMM__STRICT_PITCH };
enum { TMM__STRICT_SQUARE = 1024 };
#define TMM__STRICT_BYTES (TMM__STRICT_SQUARE + 16 * TMM__STRICT_STEP)

/* Elements of C that are left to multiply-adds, by 256 threads of a block: those that their row and
   column leave to them, which are looked for in all of C, shared out over all blocks; then, `own`,
   those that have been noted in the tiles of tile_m x tile_n that the block itself has computed by
   tensor cores. Both by tiles, `edge` x `edge`, 64 or 128, each in one of the squares of 128 x 128
   that cover C, or such a tile. */
typedef struct tmm__square {
    long long next;                 /* tile of the block */
    int pass, end;                  /* of tmm_float_strict: this one, behind the last */
    int own;                        /* see above */
    int product, row, col;          /* of the tile */
    int row128, col128;             /* of the square */
    int row_end, col_end;           /* where what it may have ends */
    unsigned lowest[8], highest[8]; /* of 32 lines each, rows first: scales */
    unsigned wide[8];               /* and which lines are wide */
    unsigned noted[4];              /* in each quarter: how many */
    int inexact;                    /* see tmm_float_six */
} tmm__square;
static_assert(sizeof(tmm__square) <= TMM__STRICT_SQUARE, "it has room");
#endif
