/* src/tiledmm/kernels/tensor_float/types.cuh. Floats on tensor cores: the method, and what host and device
   share.
   Uses: once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
/* ============================== KERNEL TENSOR FLOAT =========================================== */
/* Products of float matrices on tensor cores, which multiply elements of 16 bits. KERNEL CONVERT
   makes two FP16 of each element. Three products of FP16 then give one of floats, after Ootomo and
   Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
   theoretical peak performance", 2022. The error is no larger than that of FP32 multiply-adds, in
   the worst case (K + 2) u (|A||B|)_ij. bench/notes/tensor_float.md derives it.

   An element x of A or B becomes
       x' = x 2^s      exact; the largest |x'| of the line is in [2^14, 2^15)
       hi = fp16(x')   11 bits, rounded to nearest; x' - hi is exact in float
       lo = fp16((x' - hi) 2^11)   the next 11 bits, or 12
   An element of C is, window by window,
       c    = sum lo_a hi_b + sum hi_a lo_b      on tensor cores; lo_a lo_b is left out
       c    = c 2^-11 + sum hi_a hi_b            the largest products come last
       sum += c                                  by FADD, which rounds; tensor cores cut off
       C    = alpha (sum 2^-(s_a + s_b)) + beta C

   Glossary:
     line       a row of op(A) or a column of op(B); its scale is 2^-s
     window     the 64 k (mma.sync and BF16: 32) that are added up before FADD
     wide       a line with small elements that FP16 cannot hold: below gemm__least_element, some
                2^-29 to 2^-35 of the largest, and not zero
     rejected   an element of C whose scales rule FP16 out: not finite, or their product is out of
                [scale_min, scale_max]; found by its row and column alone
     doubtful   an element of C with a wide line whose sum is below doubt_below, too small to prove
                the bound; the kernels leave a bit for it, and store the others
     BF16x6     six products of BF16 terms, without scales: recheck_bf16x6
     recheck    computes rejected and doubtful elements again: by FP32 multiply-adds in ascending k,
                or doubtful ones in large tiles by BF16x6
   What wide lines lack is less than K 2^-18 of a sum, which is 2^28 where large elements meet. So
   most of their elements are not doubtful. The bits of an element depend on its row, its column and
   K alone; with BF16x6 or K in parts, which are for one product only, also on M and N.

   KERNEL CONVERT leaves blocks of 8 KB, 64 lines x 32 k, ordered [k / 32][line / 64]. They are
   padded with zeros to whole blocks, and to an even number along k. A line has 128 bytes of a
   block, eight chunks of 8 FP16:
       chunk      0     1     2     3     4     5     6     7       chunk c of line r lies at place
       k        0-7  8-15 16-23 24-31   0-7  8-15 16-23 24-31      c ^ (r % 8)
               +-----------------------+-----------------------+
       line    |          hi           |          lo           |
               +-----------------------+-----------------------+
   wgmma calls this a K-major matrix with 128-byte swizzle (PTX ISA 9.7, "Asynchronous Warpgroup
   Level Matrix Shared Memory Layout"). Eight neighbouring lines, read at the same k, lie in
   different banks. Plain copies bring a block to shared memory as it is. */

/* An operand as it was given. */
typedef struct tmm__lines {
    const float *X;
    long long lines, line_stride, k_stride; /* in elements */
    long long product_stride;               /* 0: all products of a batch share it */
} tmm__lines;

/* An operand as KERNEL CONVERT leaves it. */
typedef struct tmm__fp16_operand {
    unsigned char *blocks; /* [product][k / 32][line / 64], 8 KB each */
    float *scales;         /* [product][line]: 2^-s; negative if the line is wide; 0: not finite */
    int line_blocks;       /* ceil(lines / 64) */
    int k_blocks;          /* 2 ceil(K / 64) */
} tmm__fp16_operand;

/* What the kernels after KERNEL CONVERT are to do: `batch` products; number p has C + p batchC. */
typedef struct tmm__float_job {
    long long M, N, K;
    tmm__lines from_a, from_b;
    tmm__fp16_operand a, b;
    float *C;
    long long ldc, batchC;
    float alpha, beta;
#ifdef TMM_WITH_EPILOGUE
    tmm__after after;
#endif
    float scale_min, scale_max; /* of the product of two scales: see tmm__is_rejected */
    float doubt_below;          /* see tmm__is_doubtful */
    unsigned *doubt;            /* [product][row][column / 16]: see tmm__doubt_word */
    int doubt_pitch;            /* ceil(N / 16) */
    int batch;
    tmm__schedule s;              /* the tiles of C */
    unsigned *pace;               /* a counter that is 0, or NULL: see tmm__keep_pace */
    int instance, tile_m, tile_n; /* instance: TMM__WGMMA_256x128 and the like */
    int bf16x6;                   /* whether doubtful elements may go by BF16x6 */
    int parts; /* of the k of each tile, s.steps blocks of 32 k each; see wgmma_add_parts */
} tmm__float_job;

enum { TMM__FLOAT_BAND = 8 };   /* rows of tiles that are walked together */
enum { TMM__FLOAT_PACE = 8 };   /* blocks of 32 k from one tmm__keep_pace to the next */
enum { TMM__FLOAT_PARTS = 32 }; /* of the k of a tile, at most */
enum { TMM__CONVERT_LINES = 8, TMM__BLOCK_BYTES = 8192 };

/* lo begins so many bits below hi: its factor is 2 to this power. */
enum { TMM__LO_SHIFT = 11 };

/* Up to so many doubtful elements are computed one by one: of a quarter of a region, or of all of
   it where BF16x6 may compute it. See tmm__is_sparse. */
enum { TMM__SPARSE_FP32 = 64, TMM__SPARSE_BF16X6 = 64 };

/* Shared memory of the recheck: a region, and two stages of 16 k of A and B, 128 lines each. PITCH:
   floats from one k to the next. STEP: floats of 16 k of one operand. */
enum { TMM__RECHECK_PITCH = 132, TMM__RECHECK_STEP = 16 * TMM__RECHECK_PITCH };
enum { TMM__REGION_BYTES = 1024, TMM__RECHECK_BYTES = TMM__REGION_BYTES + 16 * TMM__RECHECK_STEP };

/* Where the recheck of a block is: a region of 128 x 128 of C, and a tile of 64 x 64 or 128 x 128
   in it. Regions of rejected elements cover C and are distributed over all blocks. Those of
   doubtful elements, `own`, cover the tiles that the block itself has computed on tensor cores. */
typedef struct tmm__region {
    long long next;                 /* tile of the block, after this one */
    int pass, end;                  /* of the recheck: this one; one more than the last */
    int own;                        /* see above */
    int product, row, col;          /* of the tile */
    int row128, col128;             /* of the region */
    int row_end, col_end;           /* where what it may have ends */
    unsigned lowest[8], highest[8]; /* scales of 32 lines each, rows first */
    unsigned wide[8];               /* and which of these lines are wide */
    unsigned doubtful[4];           /* elements of each quarter */
    int inexact;                    /* see recheck_bf16x6 */
} tmm__region;
static_assert(sizeof(tmm__region) <= TMM__REGION_BYTES, "it has room");
#endif
