/* src/tiledmm/kernels/direct/sizes.h. Sizes of KERNEL DIRECT.
   Uses: once/config.h. Used by: kernel.cuh, launch.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL DIRECT: log2 of the threads of a block, and their largest number; k whose loads are all
   under way together. */
enum { TMM__DIRECT_BLOCK = 8, TMM__DIRECT_MOST = 1024, TMM__DIRECT_DEEP = 8 };
/* Threads that a multiprocessor has room for, with elements of 4 bytes and of 8. */
enum { TMM__DIRECT_RESIDENT = 2048, TMM__DIRECT_RESIDENT_8 = 1024 };
/* Multiply-adds up to which TMM_AUTO thinks of it: of any C; of one with few rows or columns, where
   nearly each element is read once; what is few. */
enum { TMM__DIRECT_WORK = 3000000, TMM__DIRECT_NARROW_WORK = 100000000, TMM__DIRECT_NARROW = 4 };
enum { TMM__MEMBERS, TMM__GROUPS }; /* which threads are neighbours: see KERNEL DIRECT */
/* Blocks of its clusters, as a power of two, groups of such a block at most; K that they are
   not thought of up to. */
enum { TMM__DIRECT_CLUSTER = 3, TMM__DIRECT_GROUPS = 64, TMM__DIRECT_CLUSTER_K = 256 };

#if TMM__HOST
/* Multiply-adds beyond which it is not thought of. */
static inline double tmm__direct_most(long long M, long long N)
{
    const int narrow = (M < N ? M : N) <= TMM__DIRECT_NARROW;
    return narrow ? (int)TMM__DIRECT_NARROW_WORK : (int)TMM__DIRECT_WORK;
}
#endif
#endif
