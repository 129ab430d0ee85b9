/* src/tiledmm/kernels/outer/sizes.h. Sizes of KERNEL OUTER, and its instances.
   Uses: once/. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL OUTER: columns of a thread, and warps of a block at most. */
enum { TMM__OUTER_COLS = 4, TMM__OUTER_WARPS = 8 };
/* K up to which it reads straight from L1; K up to which TMM_AUTO thinks of it. Shared memory has
   room for a multiple of STEP k. */
enum { TMM__OUTER_DIRECT = 2, TMM__OUTER_MOST = 64, TMM__OUTER_STEP = 16 };

/* The instances: pass, name, rows of a thread, lanes of a warp side by side. */
#define TMM__OUTER_LIST(_) _(1, wide, 8, 32) TMM__IF_FLOATING(_(2, narrow, 4, 8))
#define TMM__OUTER_ROWS    (TMM__OUTER_LIST(TMM__VALUE_1) 0)
#define TMM__OUTER_ACROSS  (TMM__OUTER_LIST(TMM__VALUE_2) 0)
#endif
