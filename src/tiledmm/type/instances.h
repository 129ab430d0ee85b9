/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/passes.h, kernels/. Used by: type/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. */

#define TMM__PASS 1
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 2
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 3
#include TMM_HEADER
#undef TMM__PASS
#if TMM__FAST
#define TMM__PASS 4
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 5
#include TMM_HEADER
#undef TMM__PASS
#endif
#if TMM__FLOAT_TENSOR
#define TMM__PASS 6
#include TMM_HEADER
#undef TMM__PASS
#endif
#endif
