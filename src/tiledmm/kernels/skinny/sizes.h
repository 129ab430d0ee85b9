/* src/tiledmm/kernels/skinny/sizes.h. Sizes of KERNEL SKINNY, and its instances.
   Uses: once/config.h, once/passes.h.
   Used by: kernels/skinny/kernel.cuh, kernels/skinny/launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__PART_SKINNY_SIZES)
#define TMM__PART_SKINNY_SIZES
/* Rows or columns of a narrow C that KERNEL SKINNY takes at most. */
enum { TMM__SKINNY_MOST = 16 };

/* The instances: pass, name, whether L is contiguous along k, and the width. bench/notes/skinny.md
   says what a width of 1 would gain. */
#define TMM__SKINNY_LIST(_) \
    TMM__IF_FLOAT(_(2, k_4, 1, 4) _(3, k_16, 1, 16) _(4, lines_4, 0, 4) _(5, lines_16, 0, 16))
#define TMM__SKINNY_ALONG_K (TMM__SKINNY_LIST(TMM__VALUE_1) 0)
#define TMM__SKINNY_WIDTH   (TMM__SKINNY_LIST(TMM__VALUE_2) 0)
#endif
