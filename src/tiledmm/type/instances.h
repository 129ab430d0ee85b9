/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/passes.h, kernels/. Used by: type/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. */
#define tmm_two            TMM_FN(elements2)
#define tmm_load_four      TMM_FN(load_four)
#define tmm_store_four     TMM_FN(store_four)
#define tmm_load_two       TMM_FN(load_two)
#define tmm_store_two      TMM_FN(store_two)
#define tmm_store_some     TMM_FN(store_masked)
#define tmm_value          TMM_FN(value)
#define tmm_find_tile      TMM_FN(find_tile)
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
