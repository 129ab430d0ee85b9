/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/passes.h, kernels/. Used by: type/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. */
#define tmm_two                 TMM_FN(elements2)
#define tmm_load_four           TMM_FN(load_four)
#define tmm_store_four          TMM_FN(store_four)
#define tmm_load_two            TMM_FN(load_two)
#define tmm_store_two           TMM_FN(store_two)
#define tmm_store_some          TMM_FN(store_masked)
#define tmm_value               TMM_FN(value)
#define tmm_find_tile           TMM_FN(find_tile)
#define tmm_gemm_convert        TMM_FN(gemm_convert)
#define tmm_gemm_float_portable TMM_FN(gemm_float_portable)
#define tmm_wgmma_scale_range   TMM_FN(wgmma_scale_range)
#define tmm_recheck             TMM_FN(recheck)
#define tmm_recheck_first       TMM_FN(recheck_first)
#define tmm_recheck_copy        TMM_FN(recheck_copy)
#define tmm_recheck_element     TMM_FN(recheck_element)
#define tmm_recheck_find        TMM_FN(recheck_find)
#define tmm_recheck_count       TMM_FN(recheck_count)
#define tmm_recheck_list        TMM_FN(recheck_list)
#define tmm_recheck_flush       TMM_FN(recheck_flush)
#define tmm_recheck_bf16x6      TMM_FN(recheck_bf16x6)
#define tmm_recheck_add         TMM_FN(recheck_add)
#define tmm_recheck_fp32        TMM_FN(recheck_fp32)
#define tmm_recheck_tile        TMM_FN(recheck_tile)
#define tmm_wgmma_small         TMM__INSTANCE(wgmma_small_, WGMMA)
#define tmm_wgmma_large         TMM__INSTANCE(wgmma_large_, WGMMA)
#define tmm_wgmma_add           TMM__INSTANCE(wgmma_add_, WGMMA)
#define tmm_wgmma_begin         TMM__INSTANCE(wgmma_begin_, WGMMA)
#define tmm_wgmma_finish        TMM__INSTANCE(wgmma_finish_, WGMMA)
#define tmm_wgmma_sum_pairs     TMM__INSTANCE(wgmma_sum_pairs_, WGMMA)
#define tmm_wgmma_sum_halves    TMM__INSTANCE(wgmma_sum_halves_, WGMMA)
#define tmm_wgmma_exchange      TMM__INSTANCE(wgmma_exchange_, WGMMA)
#define tmm_wgmma_scales        TMM_FN(wgmma_scales)
#define tmm_wgmma_store_row     TMM__INSTANCE(wgmma_store_row_, WGMMA)
#define tmm_wgmma_store_checked TMM__INSTANCE(wgmma_store_checked_, WGMMA)
#define tmm_wgmma_multiply      TMM__INSTANCE(wgmma_multiply_, WGMMA)
#define tmm_wgmma_copy          TMM__INSTANCE(wgmma_copy_, WGMMA)
#define tmm_mma_copy            TMM__INSTANCE(mma_copy_, MMA)
#define tmm_mma_store           TMM__INSTANCE(mma_store_, MMA)
#define tmm_mma_recheck         TMM__INSTANCE(mma_recheck_, MMA)
#define tmm_gemm_float_wgmma    TMM__INSTANCE(gemm_float_wgmma_, WGMMA_KERNEL)
#define tmm_gemm_float_mma      TMM__INSTANCE(gemm_float_mma_, MMA)
#define tmm_int8_norms          TMM_FN(gemm_int8_norms)
#define tmm_int8_scales         TMM_FN(gemm_int8_scales)
#define tmm_int8_choice         TMM_FN(gemm_int8_choice)
#define tmm_int8_load           TMM_FN(gemm_int8_load)
#define tmm_int8_scale          TMM_FN(gemm_int8_scale)
#define tmm_int8_bytes          TMM_FN(gemm_int8_bytes)
#define tmm_int8_residues       TMM_FN(gemm_int8_residues)
#define tmm_int8_wgmma          TMM_FN(gemm_int8_wgmma)
#define tmm_int8_mma_copy       TMM__INSTANCE(gemm_int8_mma_copy_, INT8_MMA)
#define tmm_int8_mma            TMM__INSTANCE(gemm_int8_mma_, INT8_MMA)
#define tmm_int8_add            TMM_FN(gemm_int8_add)
#define tmm_int8_integer        TMM_FN(gemm_int8_integer)
#define tmm_int8_store          TMM_FN(gemm_int8_store)
#define tmm_int8_sums           TMM_FN(gemm_int8_sums)
#define tmm_int8_element        TMM_FN(gemm_int8_element)
#define tmm_int8_open_copy      TMM_FN(gemm_int8_open_copy)
#define tmm_int8_is_open        TMM_FN(gemm_int8_is_open)
#define tmm_int8_open_tile      TMM_FN(gemm_int8_open_tile)
#define tmm_int8_open           TMM_FN(gemm_int8_open)

#define TMM__PASS 1
#include "tiledmm.cuh"
#undef TMM__PASS
#define TMM__PASS 2
#include "tiledmm.cuh"
#undef TMM__PASS
#define TMM__PASS 3
#include "tiledmm.cuh"
#undef TMM__PASS
#if TMM__FAST
#define TMM__PASS 4
#include "tiledmm.cuh"
#undef TMM__PASS
#define TMM__PASS 5
#include "tiledmm.cuh"
#undef TMM__PASS
#endif
#if TMM__FLOAT_TENSOR
#define TMM__PASS 6
#include "tiledmm.cuh"
#undef TMM__PASS
#endif
#endif
