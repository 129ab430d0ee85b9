/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/passes.h, kernels/. Used by: type/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. TMM_SHARED
   comes with three tiles, or with the one that TMM_TILE asks for. */
#define tmm_gemm_global    TMM_FN(gemm_global)
#define tmm_gemm_shared    TMM__JOIN(TMM_FN(gemm_shared_), TMM_TILE)
#define TMM_BLOCK          (TMM__PASS == 1 ? 4 : 8)
#define tmm_gemm_register  TMM__INSTANCE(gemm_register_, REGISTER)
#define tmm_quad           TMM__INSTANCE(quad_, REGISTER)
#define tmm_fetch_quad     TMM__INSTANCE(fetch_quad_, REGISTER)
#define tmm_put_quad       TMM__INSTANCE(put_quad_, REGISTER)
#define tmm_gemm_pipelined TMM__INSTANCE(gemm_pipelined, PIPELINED)
#define tmm_four           TMM_FN(four)
#define tmm_two            TMM_FN(two)
#define tmm_sums           TMM_FN(sums)
#define tmm_copy_tile      TMM_FN(copy_tile)
#define tmm_copy_unit      TMM_FN(copy_unit)
#define tmm_load_if        TMM_FN(load_if)
#define tmm_store_if       TMM_FN(store_if)
#define tmm_load_four      TMM_FN(load_four)
#define tmm_store_four     TMM_FN(store_four)
#define tmm_store_row      TMM_FN(store_row)
#define tmm_store_rows     TMM_FN(store_rows)
#define tmm_load_two       TMM_FN(load_two)
#define tmm_store_two      TMM_FN(store_two)
#define tmm_store_some     TMM_FN(store_some)
#define tmm_find_tile      TMM_FN(find_tile)
#define tmm_store_sums     TMM_FN(store_sums)
#define tmm_gemm_reduce    TMM_FN(gemm_reduce)
#define tmm_pack           TMM_FN(pack)
#define tmm_wide           TMM_FN(wide)
#define tmm_wide_sums      TMM_FN(wide_sums)
#define tmm_pair           TMM_FN(pair)
#define tmm_copy_one       TMM_FN(copy_one)
#define tmm_value          TMM_FN(value)
#define tmm_dmma           TMM_FN(dmma)
#define tmm_gemm_sum       TMM_FN(gemm_sum)
#define tmm_small_bytes    TMM__INSTANCE(small_bytes_, SMALL)
#define tmm_small_piece    TMM__INSTANCE(small_piece_, SMALL)
#define tmm_small_sums     TMM__INSTANCE(small_sums_, SMALL)
#define tmm_small_fetch    TMM__INSTANCE(small_fetch_, SMALL)
#define tmm_gemm_small     TMM__INSTANCE(gemm_small_, SMALL)
#define tmm_skinny_bytes   TMM__INSTANCE(skinny_bytes_, SKINNY)
#define tmm_skinny_least   TMM__INSTANCE(skinny_least_, SKINNY)
#define tmm_skinny_lines   TMM__INSTANCE(skinny_lines_, SKINNY)
#define tmm_skinny_depth   TMM__INSTANCE(skinny_depth_, SKINNY)
#define tmm_gemm_skinny    TMM__INSTANCE(gemm_skinny_, SKINNY)
#define tmm_gemm_tensor    TMM__INSTANCE(gemm_tensor_, TENSOR)
#define tmm_copy_pass      TMM_FN(copy_pass)
#define tmm_square         TMM_FN(square)
#define tmm_find_piece     TMM_FN(find_piece)
#define tmm_split          TMM_FN(split)
#define tmm_float_load     TMM_FN(float_load)
#define tmm_float_begin    TMM_FN(float_begin)
#define tmm_float_scales   TMM_FN(float_scales)
#define tmm_float_strict   TMM_FN(float_strict)
#define tmm_float_tile     TMM_FN(float_tile)
#define tmm_float_gather   TMM_FN(float_gather)
#define tmm_float_single   TMM_FN(float_single)
#define tmm_float_find     TMM_FN(float_find)
#define tmm_float_noted    TMM_FN(float_noted)
#define tmm_float_few      TMM_FN(float_few)
#define tmm_float_six      TMM_FN(float_six)
#define tmm_float_depth    TMM_FN(float_depth)
#define tmm_float_sums     TMM_FN(float_sums)
#define tmm_float_look     TMM_FN(float_look)
#define tmm_gemm_float_any TMM_FN(gemm_float_any)
#define tmm_float_tiles    TMM__INSTANCE(float_tiles_, TILES)
#define tmm_float_copies   TMM__INSTANCE(float_copies_, TILES)
#define tmm_gemm_float     TMM__INSTANCE(gemm_float_, FLOAT)
#define tmm_gemm_float_mma TMM__INSTANCE(gemm_float_mma_, FLOAT_MMA)

#ifdef TMM_TILE
#define TMM__ONE_TILE 1
#else
#define TMM__ONE_TILE 0
#define TMM_TILE      8
#endif
#define TMM__PASS 1
#include "tiledmm.cuh"
#undef TMM__PASS
#if !TMM__ONE_TILE
#undef TMM_TILE
#define TMM_TILE 16
#endif
#define TMM__PASS 2
#include "tiledmm.cuh"
#undef TMM__PASS
#if !TMM__ONE_TILE
#undef TMM_TILE
#define TMM_TILE 32
#endif
#define TMM__PASS 3
#include "tiledmm.cuh"
#undef TMM__PASS
#if !TMM__ONE_TILE
#undef TMM_TILE
#endif
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
