/* src/tiledmm/kernels/small/sizes.h. Sizes of KERNEL SMALL, and its instances.
   Uses: once/. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL SMALL: warps of a block at most. */
enum { TMM__SMALL_WARPS_LOG2 = 3, TMM__SMALL_WARPS = 1 << TMM__SMALL_WARPS_LOG2 };

/* The instances: pass, name, rows and columns of the tile. Each computes every shape; what a type
   loses without one is in bench/notes/small.md. */
#define TMM__SMALL_LIST(_)                \
    TMM__IF_FLOATING(_(2, 16x16, 16, 16)) \
    _(1, 16x32, 16, 32)                   \
    TMM__IF_FLOATING(_(3, 32x32, 32, 32)) \
    TMM__IF_FLOAT(_(4, 32x64, 32, 64))
#define TMM__SMALL_ROWS (TMM__SMALL_LIST(TMM__VALUE_1) 0)
#define TMM__SMALL_COLS (TMM__SMALL_LIST(TMM__VALUE_2) 0)
/* What a lane has of a row of B, and of C, side by side. */
#define TMM__SMALL_WIDTH (TMM__SMALL_COLS < 32 ? 2 : 4)
/* Do tensor cores multiply? */
#define TMM__SMALL_DMMA (TMM__TENSOR_CORES && sizeof(TMM_SUM) == 8 && !TMM__IS_INTEGER)
#endif
