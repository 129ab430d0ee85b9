/* src/tiledmm/kernels/skinny/sizes.h. Sizes of KERNEL SKINNY, and its instances.
   Uses: once/config.h. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* Rows or columns of a narrow C that KERNEL SKINNY takes at most; warps of a block; vectors of L that
   a thread copies a stage, and elements of L in a stage. */
enum {
    TMM__SKINNY_MOST = 16,
    TMM__SKINNY_WARPS = 8,
    TMM__SKINNY_COPIES = 4,
    TMM__SKINNY_L = 256 * TMM__SKINNY_COPIES * 4
};

/* The instances: pass, name, whether L is contiguous along k, and the width. bench/notes/skinny.md
   says what a width of 1 would gain. */
#define TMM__SKINNY_LIST(_) \
    TMM__IF_FLOAT(_(1, k_4, 1, 4) _(2, k_16, 1, 16) _(3, lines_4, 0, 4) _(4, lines_16, 0, 16))
#endif
