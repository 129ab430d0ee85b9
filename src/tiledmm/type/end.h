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
#undef tmm_gemm_convert
#undef tmm_gemm_float_portable
#undef tmm_wgmma_scale_range
#undef tmm_recheck
#undef tmm_recheck_first
#undef tmm_recheck_copy
#undef tmm_recheck_element
#undef tmm_recheck_find
#undef tmm_recheck_count
#undef tmm_recheck_list
#undef tmm_recheck_flush
#undef tmm_recheck_bf16x6
#undef tmm_recheck_add
#undef tmm_recheck_fp32
#undef tmm_recheck_tile
#undef tmm_wgmma_small
#undef tmm_wgmma_large
#undef tmm_wgmma_add
#undef tmm_wgmma_begin
#undef tmm_wgmma_finish
#undef tmm_wgmma_sum_pairs
#undef tmm_wgmma_sum_halves
#undef tmm_wgmma_exchange
#undef tmm_wgmma_scales
#undef tmm_wgmma_store_row
#undef tmm_wgmma_store_checked
#undef tmm_wgmma_multiply
#undef tmm_wgmma_copy
#undef tmm_mma_copy
#undef tmm_mma_store
#undef tmm_mma_recheck
#undef tmm_gemm_float_wgmma
#undef tmm_gemm_float_mma
#endif
#ifndef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif
