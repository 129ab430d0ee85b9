/* src/tiledmm/kernels/pipelined/sizes.h. Sizes of KERNEL PIPELINED, and its instances.
   Uses: once/. Used by: kernels/pipelined/, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* Blocks of KERNEL PIPELINED for any operands to a multiprocessor, for elements of `size` bytes. */
#if defined(__CUDA_ARCH__) && !TMM__ASYNC
#define TMM__ANY_BLOCKS(size) 2
#else
#define TMM__ANY_BLOCKS(size) ((size) <= 4 ? 3 : 2)
#endif

/* KERNEL PIPELINED: k of a step, stages, threads of a block; lines that instance _any copies
   together; rows that _tn stores through shared memory at a time. */
enum { TMM__PIPELINED_DEPTH = 8, TMM__PIPELINED_STAGES = 3, TMM__PIPELINED_THREADS = 128 };
enum { TMM__PIPELINED_UNIT = 64, TMM__PIPELINED_STAGED_ROWS = 4 };

/* The instances: pass, name, blocks to a multiprocessor, rows of C that a thread owns: 8 in one for
   any operands, which alone takes matrices smaller than a tile; 16 in one for A^T B, and for packed
   operands. Double has none: see KERNEL TENSOR. */
#define TMM__PIPELINED_LIST(_)                       \
    _(1, _any, TMM__ANY_BLOCKS(sizeof(TMM_TYPE)), 8) \
    TMM__IF_FLOAT(_(2, _tn, 2, 16))
#define TMM__PIPELINED_BLOCKS (TMM__PIPELINED_LIST(TMM__VALUE_1) 0)
#define TMM__PIPELINED_ROWS   (TMM__PIPELINED_LIST(TMM__VALUE_2) 0)
#endif
