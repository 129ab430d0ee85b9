/* src/tiledmm/kernels/tensor/sizes.h. Sizes of KERNEL TENSOR, and its instances.
   Uses: once/. Used by: kernels/tensor/, launch/product.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL TENSOR: depth of a step, and stages; bytes of all stages with tiles of m x n elements. */
enum { TMM__TENSOR_DEPTH = 16 };
enum { TMM__TENSOR_PITCH = 40 }; /* of 32 columns of C in shared memory: no bank conflicts */
#define TMM__TENSOR_STAGES(m, n) ((m) + (n) < 128 ? 4 : 3)
#define TMM__TENSOR_BYTES(m, n)  (TMM__TENSOR_STAGES(m, n) * TMM__TENSOR_DEPTH * ((m) + (n)) * 8)

/* The instances: pass, name, warps side by side, matrices of a warp above each other, elements to a
   copy, blocks to a multiprocessor. Two warps are above each other; a matrix is 16 x 8, and four are
   side by side. With 1 matrix the tile can be tall. */
#define TMM__TENSOR_LIST(_)   \
    _(1, 128x128, 4, 4, 2, 1) \
    _(2, 64x64, 2, 2, 2, 3)   \
    _(3, any, 2, 2, 1, 3)     \
    _(4, 32x64, 2, 1, 2, 4)   \
    _(5, 96x128, 4, 3, 2, 1)
#define TMM__TENSOR_WARPS  (TMM__TENSOR_LIST(TMM__VALUE_1) 0)
#define TMM__TENSOR_DOWN   (TMM__TENSOR_LIST(TMM__VALUE_2) 0)
#define TMM__TENSOR_WIDTH  (TMM__TENSOR_LIST(TMM__VALUE_3) 0)
#define TMM__TENSOR_BLOCKS (TMM__TENSOR_LIST(TMM__VALUE_4) 0)
/* The one that can begin the copies of its next tile before it stores: see KERNEL TENSOR. From so
   many tiles of each block on, so full in percent, and for steps of 16 k up to so many. */
#ifdef TMM_WITH_EPILOGUE /* takes its registers */
#define TMM__TENSOR_BEGINS(down, width) 0
#else
#define TMM__TENSOR_BEGINS(down, width) ((down) == 2 && (width) == 2)
#endif
#define TMM__TENSOR_AHEAD TMM__TENSOR_BEGINS(TMM__TENSOR_DOWN, TMM__TENSOR_WIDTH)
enum { TMM__AHEAD_TILES = 4, TMM__AHEAD_FULL = 93, TMM__AHEAD_STEPS = 16 };
#endif
