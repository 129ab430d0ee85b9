/* src/tiledmm/once/set_aside.h. Macros of the caller that are words of this file are set aside; warnings.
   Uses: once/config.h. Used by: all parts, once/give_back.h. */
#if !defined(TMM__PASS) && !defined(TMM__MAKING_READY)
/* A program may have defined N, TILE or small before it includes this file. All words in capitals
   that this file has, letters, the names of BLAS, and words that windows.h defines are put away here;
   give_back.h puts them back. An inclusion of this file by itself leaves them alone. */
#ifdef __CUDACC_RTC__
#if defined(TMM_NAME) || !defined(TMM__ONCE)
#if defined(A) || defined(B) || defined(C) || defined(K) || defined(M) || defined(N) ||          \
    defined(As) || defined(Bs) || defined(DEPTH) || defined(TILE) || defined(i) || defined(j) || \
    defined(k) || defined(s) || defined(x) || defined(y) || defined(z) || defined(near) ||       \
    defined(alpha) || defined(beta)
#error "tiledmm.cuh: with NVRTC define macros such as N or TILE after the #include"
#endif
#endif
#else
/* Each word stands here twice, for a macro cannot undefine another. */
/* clang-format off */
#define TMM__WORDS(_) \
    _(A) _(ACROSS) _(AHEAD) _(ALIGNED_ROWS) _(ALIGNS) _(ALONG) _(ALONG_K) _(ANY) _(AREA) \
    _(AT_ONCE) _(As) _(B) _(BFLOAT16) _(BLOCK) _(BLOCKS_A) _(BLOCKS_B) _(BYTES) _(Bs) _(C) \
    _(CLUSTER) _(COLS) _(COPIES) _(COPY_AT) _(COUNT) _(D) _(DEEP) _(DEPTH) _(DOUBTFUL) \
    _(DOUBTFUL_SMALL) _(DOWN) _(EDGE) _(END) _(FEWER) _(FIRST) _(FLOAT) _(FLUSH) \
    _(FOURS) _(GRAIN) _(GROUPS) _(HALF) _(HALVES) _(K) _(K_GROUPS) _(L) _(LANES) _(LAST) _(LDA) \
    _(LDB) _(LDC) _(LDS) _(LINES) _(LINES_A) _(LINES_B) _(LINES_M) _(LINES_N) _(LIST) _(M) \
    _(MATRICES) _(N) _(P) _(PAIRS) _(PART) _(PASSES) _(PASSES_A) _(PIECES) _(PITCH) _(PITCH_A) \
    _(PITCH_B) _(PLAIN) _(PROMOTION_256B) _(Q) _(QUADS) _(R) _(REJECTED) _(REJECTED_SMALL) _(ROWS) \
    _(S) _(SIZE) _(SLOTS) _(SPARSE) _(SQUARE) _(STAGE) _(STAGED_ROWS) _(STAGES) _(STAGES_1) \
    _(STAGES_2) _(STAGE_A) _(STEP) _(STEPS) _(STILL) _(STORED) _(STORED_ROWS) _(STRIDE) _(SUMS) \
    _(SWIZZLE_128B) _(S_COPIES) _(THREADS) _(THROUGH) _(TILE) _(TILE_COLS) _(TILE_M) _(TILE_N) \
    _(TN) _(UNIT) _(UNROLL) _(VECTOR) _(VECTORS) _(WARPS) _(WARPS_ACROSS) _(WIDE) _(WIDE_PASSES) \
    _(WIDTH) _(X) _(a) _(alpha) _(b) _(batch) _(beta) _(bias) _(block) _(c) _(col) _(cols) \
    _(count) _(d) _(depth) _(e) _(g) _(gamma) _(h) _(half) _(i) _(j) _(k) _(l) _(lda) _(ldb) \
    _(ldc) _(m) _(max) _(min) _(n) _(near) _(o) _(p) _(q) _(r) _(row) _(rows) _(s) _(size) \
    _(small) _(steps) _(t) _(threads) _(tile) _(u) _(v) _(w) _(width) _(x) _(y) _(z)
/* clang-format on */
#ifdef _MSC_VER
#define TMM__PRAGMA(x) __pragma(x)
#else
#define TMM__PRAGMA(x) _Pragma(#x)
#endif
#define TMM__PUSH(word) TMM__PRAGMA(push_macro(#word))
#define TMM__POP(word)  TMM__PRAGMA(pop_macro(#word))
TMM__WORDS(TMM__PUSH)
#undef A
#undef ACROSS
#undef AHEAD
#undef ALIGNED_ROWS
#undef ALIGNS
#undef ALONG
#undef ALONG_K
#undef ANY
#undef AREA
#undef AT_ONCE
#undef As
#undef B
#undef BFLOAT16
#undef BLOCK
#undef BLOCKS_A
#undef BLOCKS_B
#undef BYTES
#undef Bs
#undef C
#undef CLUSTER
#undef COLS
#undef COPIES
#undef COPY_AT
#undef COUNT
#undef D
#undef DEEP
#undef DEPTH
#undef DOUBTFUL
#undef DOUBTFUL_SMALL
#undef DOWN
#undef EDGE
#undef END
#undef FEWER
#undef FIRST
#undef FLOAT
#undef FLUSH
#undef FOURS
#undef GRAIN
#undef GROUPS
#undef HALF
#undef HALVES
#undef K
#undef K_GROUPS
#undef L
#undef LANES
#undef LAST
#undef LDA
#undef LDB
#undef LDC
#undef LDS
#undef LINES
#undef LINES_A
#undef LINES_B
#undef LINES_M
#undef LINES_N
#undef LIST
#undef M
#undef MATRICES
#undef N
#undef P
#undef PAIRS
#undef PART
#undef PASSES
#undef PASSES_A
#undef PIECES
#undef PITCH
#undef PITCH_A
#undef PITCH_B
#undef PLAIN
#undef PROMOTION_256B
#undef Q
#undef QUADS
#undef R
#undef REJECTED
#undef REJECTED_SMALL
#undef ROWS
#undef S
#undef SIZE
#undef SLOTS
#undef SPARSE
#undef SQUARE
#undef STAGE
#undef STAGED_ROWS
#undef STAGES
#undef STAGES_1
#undef STAGES_2
#undef STAGE_A
#undef STEP
#undef STEPS
#undef STILL
#undef STORED
#undef STORED_ROWS
#undef STRIDE
#undef SUMS
#undef SWIZZLE_128B
#undef S_COPIES
#undef THREADS
#undef THROUGH
#undef TILE
#undef TILE_COLS
#undef TILE_M
#undef TILE_N
#undef TN
#undef UNIT
#undef UNROLL
#undef VECTOR
#undef VECTORS
#undef WARPS
#undef WARPS_ACROSS
#undef WIDE
#undef WIDE_PASSES
#undef WIDTH
#undef X
#undef a
#undef alpha
#undef b
#undef batch
#undef beta
#undef bias
#undef block
#undef c
#undef col
#undef cols
#undef count
#undef d
#undef depth
#undef e
#undef g
#undef gamma
#undef h
#undef half
#undef i
#undef j
#undef k
#undef l
#undef lda
#undef ldb
#undef ldc
#undef m
#undef max
#undef min
#undef n
#undef near
#undef o
#undef p
#undef q
#undef r
#undef row
#undef rows
#undef s
#undef size
#undef small
#undef steps
#undef t
#undef threads
#undef tile
#undef u
#undef v
#undef w
#undef width
#undef x
#undef y
#undef z
#endif

/* -Wconversion finds numbers of elements that become double, which is meant; the others are of taste,
   and programs that ask for them make errors of them. clang as the host compiler of nvcc sees
   functions of the device unused, and constants that nvcc has put in. */
#if TMM__HOST && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wself-assign"
#endif
#endif
#endif
