/* src/raytrace/set_aside.h. Macros of the caller that are words of this file are set aside; warnings.
   Uses: config.h, kernels/instances.h. Used by: give_back.h. */
#if !defined(RAYT__EMIT)
/* A program may have defined N, TILE or small before it includes this file. All words in capitals
   that this file has, letters, and words that windows.h defines are put away here; give_back.h puts
   them back. An inclusion of this file by itself leaves them alone. */
#ifdef __CUDACC_RTC__
#if !defined(RAYT__PART_INSTANCES)
#if defined(WARPS) || defined(width) || defined(height) || defined(rows) || defined(size) ||   \
    defined(depth) || defined(tile) || defined(i) || defined(k) || defined(n) || defined(x) || \
    defined(y) || defined(z) || defined(min)
#error "raytrace.cuh: with NVRTC define macros such as width or n after the #include"
#endif
#endif
#else
/* Each word stands here twice, for a macro cannot undefine another. */
/* clang-format off */
#define RAYT__WORDS(_) \
    _(EDGE) _(FIRST) _(IN_FLIGHT) _(LANE_H) _(LANE_W) _(REGIONS) _(REGIONS_ACROSS) _(REGION_H) \
    _(REGION_W) _(ROUNDS) _(SMALL) _(WARPS) _(a) _(b) _(block) _(c) _(count) _(d) _(depth) _(e) \
    _(g) _(gamma) _(h) _(half) _(height) _(i) _(k) _(l) _(min) _(n) _(p) _(q) _(r) _(row) _(rows) \
    _(s) _(size) _(steps) _(t) _(tile) _(w) _(width) _(x) _(y) _(z)
/* clang-format on */
#ifdef _MSC_VER
#define RAYT__PRAGMA(x) __pragma(x)
#else
#define RAYT__PRAGMA(x) _Pragma(#x)
#endif
#define RAYT__PUSH(word) RAYT__PRAGMA(push_macro(#word))
#define RAYT__POP(word)  RAYT__PRAGMA(pop_macro(#word))
RAYT__WORDS(RAYT__PUSH)
#undef EDGE
#undef FIRST
#undef IN_FLIGHT
#undef LANE_H
#undef LANE_W
#undef REGIONS
#undef REGIONS_ACROSS
#undef REGION_H
#undef REGION_W
#undef ROUNDS
#undef SMALL
#undef WARPS
#undef a
#undef b
#undef block
#undef c
#undef count
#undef d
#undef depth
#undef e
#undef g
#undef gamma
#undef h
#undef half
#undef height
#undef i
#undef k
#undef l
#undef min
#undef n
#undef p
#undef q
#undef r
#undef row
#undef rows
#undef s
#undef size
#undef steps
#undef t
#undef tile
#undef w
#undef width
#undef x
#undef y
#undef z
#endif

/* -Wconversion finds numbers of elements that become double, which is meant; the others are of taste,
   and programs that ask for them make errors of them. clang as the host compiler of nvcc sees
   functions of the device unused, and constants that nvcc has put in. */
#if RAYT__HOST && defined(__GNUC__)
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
