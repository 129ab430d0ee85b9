/* src/tiledmm/type/end.h. Names of a type are undone.
   Uses: nothing. Used by: type/begin.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS)
#undef TMM_NAME
#undef TMM_TYPE
#undef TMM_SUM
#undef TMM__ONE_TILE
#undef TMM__IF_FLOAT
#undef TMM__IF_DOUBLE
#undef TMM__IF_FLOATING
#undef TMM__IF_FAST
#undef TMM__IF_FAST_NOT_DOUBLE
#undef TMM__SHARED_TILE
#if TMM__KERNELS
#undef tmm_two
#undef tmm_load_four
#undef tmm_store_four
#undef tmm_load_two
#undef tmm_store_two
#undef tmm_store_some
#undef tmm_find_tile
#undef tmm_value
#undef tmm_split
#undef tmm_float_load
#undef tmm_float_begin
#undef tmm_float_scales
#undef tmm_float_strict
#undef tmm_float_tile
#undef tmm_float_gather
#undef tmm_float_single
#undef tmm_float_find
#undef tmm_float_noted
#undef tmm_float_few
#undef tmm_float_six
#undef tmm_float_depth
#undef tmm_float_sums
#undef tmm_float_look
#undef tmm_gemm_float_any
#undef tmm_float_tiles
#undef tmm_float_copies
#undef tmm_gemm_float
#undef tmm_gemm_float_mma
#endif
#ifndef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif
