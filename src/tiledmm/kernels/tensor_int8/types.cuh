/* src/tiledmm/kernels/tensor_int8/types.cuh. Doubles on INT8 tensor cores: the method, and what host and
   device share.
   Uses: once/. Used by: kernels/tensor_int8/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR && !defined(TMM__DOUBLE_ONCE)
/* ============================== KERNEL TENSOR INT8 ============================================ */
/* Products of double matrices on tensor cores that multiply bytes: the Ozaki scheme II, after
   Ozaki, Uchino and Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of floating-point matrix
   multiplication using an integer modular technique", 2025. Lines, rows of op(A) and columns of
   op(B), are scaled and rounded to integers. Their product is computed modulo L coprime numbers of
   at most 256, and put together by the Chinese remainder theorem. u is 2^-53 throughout.

   1. Scale.     a_s = 2^s a, exactly; s the largest integer with |a_s|_2 <= S(L)
   2. Integers.  a' = rint(a_s), |a'| < 2^63. |A'B'| < 0.49 P by Cauchy and Schwarz, P the product
                 of the L moduli: (S + sqrt(K) / 2)^2 <= 0.49 P
   3. Residues   of a' q_l and b' modulo p_l, a byte each; q_l = (P / p_l)^-1 mod p_l
   4. Products   y_l = sum a b mod p_l by tensor cores; exact in 32 bits up to K = 66048
   5. Sums.      A'B' = sum y_l P / p_l - q P in 128 bits, q = round(sum y_l / p_l); then rounded to
                 double: three roundings at most, none for integers; times 2^-(s_i + s_j)

   The bound. Rounding to integers changes an element by 1/2 at most, so with everything scaled
       |C - AB|_ij <= E (1 + 3 u) + 3 u (|a_s| |b_s|)_ij,   E = (|a_s|_1 + |b_s|_1) / 2 + K / 4
   which is at most (K + 2) u (|a_s| |b_s|)_ij, as of every other kernel, if
       (|a_s| |b_s|)_ij >= T_ij = E (1 + 1e-5) / ((K - 2) u)                                    (*)
   An element for which (*) is shown is `proved`. There are two ways to show it, both rigorous:
       |A'B'|_ij itself is T_ij or more
       the product of units is: of some blocks of 128 k, each |x| is cut down to a multiple of its
       line's unit, mean |x| / 32, and to 255 units at most. INT8 tensor cores multiply these bytes,
       too. Sums over some k of what is cut down are lower bounds of |a| |b|.
   All others are `open`, and computed again by FP64 multiply-adds in ascending k: lines with NaN,
   infinity or magnitudes beyond 2^+-800 make T NaN, so all of their elements are. A line of zeros
   has T = 0. For how many elements are open by data and L see bench/notes/tensor_int8.md.

   How many moduli. T depends on L by s alone, and s by the line's norm, which is kept. So the
   products of units come first, and tell of each element which L prove it. The device takes the L
   from 13 to 16, or FP64 for all, that costs least: see tmm__int8_decide. The host does not wait.
   Products whose bits must not depend on M, N or other lines (batches, blocks of host matrices)
   take 16.

   Prepared operands keep lines, units and planes of 16 moduli, as each L has its own s. Products
   with them take 16, or FP64 for all. Sums longer than 65536 are cut when they are prepared.

   Launches: norms, scales, units, products of units, choice, residues, products, sums, open
   elements; where FP64 has tensor cores, KERNEL TENSOR for the case of FP64 for all. Each ends at
   once if the choice leaves it nothing to do.

   Memory, in bytes: of A and B 16 for an element, and 1 for one of `every`; of C 17 and 1/8.
       planes of A and B   [modulus][k / 128][line / 64], blocks of 8 KB: 64 lines x 128 k. 16 bytes
                           from k on of line r lie at r * 128 + (k / 16 ^ r % 8) * 16, K-major with
                           128-byte swizzle (PTX ISA 9.7, "Asynchronous Warpgroup Level Matrix Shared
                           Memory Layout"). Lines that follow each other are contiguous for one
                           block of k, and plain copies bring them to shared memory as they are.
       planes of C         [row / 64][column / 32][plane], pieces of 2 KB: 64 x 32 elements in the
                           order of fragments. Thread t of 128 has 16 bytes at 16 t,
                               byte 4 j + 2 h + i = element (t / 32 * 16 + t % 32 / 4 + 8 h,
                                                             8 j + 2 (t % 4) + i)
                           Plane 16 has the products of units, as logarithms. */
enum {
    TMM__INT8_LEAST = 13, /* moduli */
    TMM__INT8_MOST = 16,
    TMM__INT8_CHOICES = TMM__INT8_MOST - TMM__INT8_LEAST + 1,
    TMM__INT8_UNITS = TMM__INT8_MOST, /* the plane of C with the products of units */
    TMM__INT8_PLANES = TMM__INT8_MOST + 1,
    TMM__INT8_GROUPS = 6, /* of up to three moduli: see tmm__int8_tables */
    TMM__INT8_K = 128,    /* of a block */
    TMM__INT8_LINES = 64,
    TMM__INT8_BLOCK = TMM__INT8_K * TMM__INT8_LINES,
    TMM__INT8_PIECE = 2048,   /* bytes of 64 x 32 elements of C */
    TMM__INT8_NORM_K = 256,   /* that a block of KERNEL NORMS adds up */
    TMM__INT8_EXPONENT = 800, /* of the largest magnitude of a line, at most */
    TMM__INT8_K_MOST = 65536, /* to a launch: 255^2 times it is below 2^32 */
    TMM__INT8_SPARSE = 64,    /* open elements of a tile of 64 x 64 that are computed one by one */
    TMM__INT8_BAND = 4        /* rows of tiles that are walked together */
};

/* An operand as it is given. */
typedef struct tmm__int8_lines {
    const double *X;
    long long lines, line_stride, k_stride; /* in elements */
} tmm__int8_lines;

/* What is kept of a line. Its 2-norm is at most 2^(size / 256); `one` and `unit` are in units of
   2^(size / 256, rounded down), e below. A line of zeros: all 0. One that is not to be used: `one`
   is NaN, the others 0. */
typedef struct alignas(16) tmm__int8_line {
    int size;
    float one;      /* |x|_1 */
    float unit;     /* of what proves the bound */
    float per_unit; /* a little less than 1 / unit */
} tmm__int8_line;

/* 1-norm, largest magnitude and sum of squares of a line's elements in a chunk of k. */
typedef struct tmm__int8_norm {
    double one, most, two;
} tmm__int8_norm;

/* An operand as the kernels make it. */
typedef struct tmm__int8_operand {
    tmm__int8_line *lines; /* 64 line_blocks of them */
    unsigned char *units;  /* one plane of every `every`-th block of k */
    unsigned char *planes;
    int pitch; /* blocks of 64 lines from one block of k to the next */
} tmm__int8_operand;

/* How a residue is computed: see tmm__xgemm_int8_bytes. */
typedef struct tmm__int8_modulus {
    unsigned weights[2]; /* of the eight bytes of x' + 2^63: 2^(8 i) mod p, signed bytes */
    unsigned first;      /* 1.5 * 2^23 as a float, plus what -2^63 gives */
} tmm__int8_modulus;

/* What depends on the moduli and K: made by the host, passed to kernels by value. Of four choices
   of L. Moduli go by groups of up to three: n = sum y_l Q / p_l is below 3 Q, Q their product.
   Group 0 to 2 have moduli 0 to 8, group 3: 9, 10, 13; group 4: 11, 12, 14; group 5: 15. */
typedef struct tmm__int8_residues {
    tmm__int8_modulus a[TMM__INT8_CHOICES][TMM__INT8_MOST], b[TMM__INT8_MOST];
    float reciprocal[TMM__INT8_MOST], minus_p[TMM__INT8_MOST], half[TMM__INT8_MOST];
    int limit[TMM__INT8_CHOICES]; /* 256 log2 S */
} tmm__int8_residues;

typedef struct tmm__int8_sums {
    /* Q / p_l of the three of a group: low and high bytes; 0: no such modulus. */
    unsigned low[TMM__INT8_CHOICES][TMM__INT8_GROUPS], high[TMM__INT8_CHOICES][TMM__INT8_GROUPS];
    unsigned weight[TMM__INT8_CHOICES][TMM__INT8_GROUPS][4]; /* P / Q, low word first */
    unsigned quotient[TMM__INT8_CHOICES][TMM__INT8_GROUPS];  /* 2^44 / Q; of group 5, 2^24 / p */
    unsigned minus_P[TMM__INT8_CHOICES][4];                  /* 2^128 - P */
    int limit[TMM__INT8_CHOICES];
    float kappa,
        half_K; /* T = kappa (one_i g_j + one_j g_i + half_K g_i g_j): tmm__int8_threshold */
} tmm__int8_sums;

/* What is decided on the device. `decided` comes last. */
typedef struct tmm__int8_state {
    unsigned long long failed[TMM__INT8_CHOICES]; /* elements that so many moduli leave open */
    unsigned long long looked;                    /* at so many elements */
    unsigned arrived;                             /* blocks that have counted */
    unsigned moduli;                              /* 0: FP64 for all */
    unsigned open;                                /* whether there are open elements */
    unsigned pace;                                /* see tmm__keep_pace */
} tmm__int8_state;

/* The products of bytes of a launch. */
typedef struct tmm__int8_products {
    const unsigned char *a, *b; /* planes */
    unsigned char *C;           /* planes */
    tmm__int8_state *state;     /* whose `moduli` says how many; NULL: the plane of units */
    int a_blocks, b_blocks;     /* of 64 lines, that there are */
    int a_pitch, b_pitch;       /* of them, from one block of k to the next */
    int k_blocks;
    int pieces_down, pieces_across; /* of C: 64 rows, 32 columns */
    int tiles_down, tiles_across;   /* of the kernel */
    int keep_pace;
    unsigned p[TMM__INT8_MOST], inverse[TMM__INT8_MOST]; /* floor(2^32 / p) */
} tmm__int8_products;

/* A product, as what comes after the products of bytes takes it. */
typedef struct tmm__int8_job {
    tmm__int8_lines from_a, from_b;
    tmm__int8_operand a, b;
    const unsigned char *planes; /* of C */
    unsigned short *open;        /* [piece][thread]: bit 4 j + 2 h + i */
    tmm__int8_state *state;
    double *C;
    long long ldc, K;
    int M, N, pieces_down, pieces_across;
    int fp64_elsewhere; /* whether KERNEL TENSOR computes all if FP64 is chosen */
    double alpha, beta;
#ifdef TMM_WITH_EPILOGUE
    tmm__after after;
#endif
} tmm__int8_job;
#endif
