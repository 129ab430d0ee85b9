/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/config.h, kernels/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. A byte counts the
   instances of each pass. */
#define TMM__COUNT(pass, ...) +(1ull << 8 * (pass))
#define TMM__CHECK(list, most)                                                               \
    static_assert(((0 list(TMM__COUNT)) & ~(0x01010101010101ull >> (48 - 8 * most))) == 0 && \
                      ((0 list(TMM__COUNT)) & 1) == 0,                                       \
                  "" #list ": each instance needs a pass of its own, of 1 to " #most);
TMM__CHECK(TMM__SHARED_LIST, 3) /* which TMM_SIMPLE has, too */
TMM__CHECK(TMM__REGISTER_LIST, 3)
TMM__CHECK(TMM__PIPELINED_LIST, 5)
TMM__CHECK(TMM__SMALL_LIST, 5)
TMM__CHECK(TMM__SKINNY_LIST, 5)
TMM__CHECK(TMM__OUTER_LIST, 5)
TMM__CHECK(TMM__NARROW_LIST, 5)
TMM__CHECK(TMM__TENSOR_LIST, 5)
TMM__CHECK(TMM__HALF_LIST, 3) /* see TMM__HALF_COPIED and TMM__HALF_TINY */
TMM__CHECK(TMM__HALF_WGMMA_LIST, 5)
TMM__CHECK(TMM__WGMMA_LIST, 6)
TMM__CHECK(TMM__WGMMA_KERNEL_LIST, 6)
TMM__CHECK(TMM__MMA_LIST, 6)
TMM__CHECK(TMM__THIN_LIST, 6)
TMM__CHECK(TMM__INT8_MMA_LIST, 5)
#undef TMM__CHECK
#undef TMM__COUNT

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
