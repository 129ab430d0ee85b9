/* src/tiledmm/kernels/direct/sizes.h. Sizes of KERNEL DIRECT.
   Uses: once/passes.h. Used by: kernels/direct/. */
#if TMM__KERNELS && !defined(TMM__PART_DIRECT_SIZES)
#define TMM__PART_DIRECT_SIZES
/* KERNEL DIRECT: threads of a block, as a power of two, and at most; k of which all loads are under
   way together; multiply-adds beyond which it is not thought of, more where C has so few rows or
   columns that nearly each element is read once. What neighbouring threads are: see there. */
enum { TMM__DIRECT_BLOCK = 8, TMM__DIRECT_MOST = 1024, TMM__DIRECT_DEEP = 8 };
/* Threads that a multiprocessor has room for, with elements of 4 bytes and of 8. */
enum { TMM__DIRECT_RESIDENT = 2048, TMM__DIRECT_RESIDENT_8 = 1024 };
enum { TMM__DIRECT_WORK = 3000000, TMM__DIRECT_NARROW_WORK = 100000000, TMM__DIRECT_NARROW = 4 };
enum { TMM__MEMBERS, TMM__GROUPS };
/* Blocks of its clusters, as a power of two, groups of such a block at most; K that they are
   not thought of up to. */
enum { TMM__DIRECT_CLUSTER = 3, TMM__DIRECT_GROUPS = 64, TMM__DIRECT_CLUSTER_K = 256 };
#endif
