/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/, kernels/. Used by: callers. */
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
TMM__CHECK(TMM__HALF_LIST, 4) /* see TMM__HALF_COPIED */
TMM__CHECK(TMM__HALF_WGMMA_LIST, 5)
TMM__CHECK(TMM__WGMMA_LIST, 6)
TMM__CHECK(TMM__WGMMA_KERNEL_LIST, 6)
TMM__CHECK(TMM__MMA_LIST, 6)
TMM__CHECK(TMM__THIN_LIST, 6)
TMM__CHECK(TMM__INT8_MMA_LIST, 5)
#undef TMM__CHECK
#undef TMM__COUNT

/* Has this type an instance in the pass? To go through the file takes g++ 10 ms, and 30 from the 14th time on:
   then it has no numbers left for the columns of tokens. */
#define TMM__OF(list) (list(TMM__IN_PASS) 0)
#define TMM__HAS_INSTANCES                                                                     \
    (TMM__OF(TMM__SHARED_LIST) || TMM__OF(TMM__REGISTER_LIST) ||                               \
     (TMM__PIPELINES && TMM__OF(TMM__PIPELINED_LIST)) ||                                       \
     (TMM__SMALLS && TMM__OF(TMM__SMALL_LIST)) ||                                              \
     (TMM__FAST &&                                                                             \
      (TMM__OF(TMM__SKINNY_LIST) || TMM__OF(TMM__OUTER_LIST) || TMM__OF(TMM__NARROW_LIST))) || \
     (TMM__FAST && TMM__IS_DOUBLE && TMM__OF(TMM__TENSOR_LIST)) ||                             \
     (TMM__HALF_TENSOR && (TMM__OF(TMM__HALF_LIST) || TMM__OF(TMM__HALF_WGMMA_LIST))) ||       \
     (TMM__FLOAT_TENSOR && (TMM__OF(TMM__WGMMA_LIST) || TMM__OF(TMM__WGMMA_KERNEL_LIST) ||     \
                            TMM__OF(TMM__MMA_LIST) || TMM__OF(TMM__THIN_LIST))) ||             \
     (TMM__DOUBLE_TENSOR && TMM__OF(TMM__INT8_MMA_LIST)))

#define TMM__PASS 1
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 2
#if TMM__HAS_INSTANCES
#include TMM_HEADER
#endif
#undef TMM__PASS
#define TMM__PASS 3
#if TMM__HAS_INSTANCES
#include TMM_HEADER
#endif
#undef TMM__PASS
#define TMM__PASS 4
#if TMM__HAS_INSTANCES
#include TMM_HEADER
#endif
#undef TMM__PASS
#define TMM__PASS 5
#if TMM__HAS_INSTANCES
#include TMM_HEADER
#endif
#undef TMM__PASS
#define TMM__PASS 6
#if TMM__HAS_INSTANCES
#include TMM_HEADER
#endif
#undef TMM__PASS
#undef TMM__HAS_INSTANCES
#undef TMM__OF
#endif
