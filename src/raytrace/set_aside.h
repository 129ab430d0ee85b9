/* src/raytrace/set_aside.h. Macros of the caller that are words of this file are set aside; warnings.
   Uses: config.h, kernels/instances.h. Used by: callers. */
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
#pragma push_macro("EDGE")
#undef EDGE
#pragma push_macro("IN_FLIGHT")
#undef IN_FLIGHT
#pragma push_macro("LANE_H")
#undef LANE_H
#pragma push_macro("LANE_W")
#undef LANE_W
#pragma push_macro("REGIONS")
#undef REGIONS
#pragma push_macro("REGIONS_ACROSS")
#undef REGIONS_ACROSS
#pragma push_macro("REGION_H")
#undef REGION_H
#pragma push_macro("REGION_W")
#undef REGION_W
#pragma push_macro("WARPS")
#undef WARPS
#pragma push_macro("a")
#undef a
#pragma push_macro("b")
#undef b
#pragma push_macro("block")
#undef block
#pragma push_macro("c")
#undef c
#pragma push_macro("depth")
#undef depth
#pragma push_macro("g")
#undef g
#pragma push_macro("h")
#undef h
#pragma push_macro("height")
#undef height
#pragma push_macro("i")
#undef i
#pragma push_macro("k")
#undef k
#pragma push_macro("min")
#undef min
#pragma push_macro("n")
#undef n
#pragma push_macro("p")
#undef p
#pragma push_macro("r")
#undef r
#pragma push_macro("rows")
#undef rows
#pragma push_macro("s")
#undef s
#pragma push_macro("size")
#undef size
#pragma push_macro("tile")
#undef tile
#pragma push_macro("w")
#undef w
#pragma push_macro("width")
#undef width
#pragma push_macro("x")
#undef x
#pragma push_macro("y")
#undef y
#pragma push_macro("z")
#undef z
#endif

/* -Wconversion finds numbers of elements that become double, which is meant. clang as the host
   compiler of nvcc sees functions of the device unused, and constants that nvcc has put in. */
#if RAYT__HOST && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wself-assign"
#endif
#endif
#endif
