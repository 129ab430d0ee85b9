/* src/tiledmm/kernels/outer/sizes.h. Sizes of KERNEL OUTER, and its instances.
   Uses: once/passes.h. Used by: kernels/outer/. */
#if TMM__KERNELS && !defined(TMM__PART_OUTER_SIZES)
#define TMM__PART_OUTER_SIZES
/* KERNEL OUTER: columns of a thread, the most warps of a block, the most k that are read straight
   from L1, the most in shared memory, beyond which it is not thought of, and a multiple of which is
   there. */
enum { TMM__OUTER_COLS = 4, TMM__OUTER_WARPS = 8 };
enum { TMM__OUTER_DIRECT = 2, TMM__OUTER_MOST = 64, TMM__OUTER_STEP = 16 };

/* The instances: pass, name, rows of a thread, lanes of a warp side by side. */
#define TMM__OUTER_LIST(_) _(1, wide, 8, 32) _(2, narrow, 4, 8)
#define TMM__OUTER_ROWS    (TMM__OUTER_LIST(TMM__VALUE_1) 0)
#define TMM__OUTER_ACROSS  (TMM__OUTER_LIST(TMM__VALUE_2) 0)
#endif
