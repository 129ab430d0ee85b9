/* src/tiledmm/once/passes.h. Which instances of the kernels a pass through this file makes.
   Uses: once/config.h. Used by: kernels/, type/instances.h. */
#if !defined(TMM__PART_PASSES)
#define TMM__PART_PASSES
/* The kernels of a type are emitted in six passes through this file, TMM__PASS 1 to 6, each with
   one more instance of every kernel that has any left; what a type has once is in the first one.

     pass                    1          2          3         4         5         6
     SHARED                  8          16         32        (or TMM_TILE alone)
     REGISTER                64         128
     PIPELINED               any        as A^T B   as A B    (operands; packed: as A^T B)
     SMALL                   16 x 16    16 x 32    32 x 32   32 x 64
     SKINNY: along, width    k, 1       k, 4       k, 16     lines, 4  lines, 16
     TENSOR                  128 x 128  64 x 64    any
     TENSOR FLOAT            256 x 128  128 x 192  128 x 64  64 x 64   (tiles for wgmma)
       kernel for wgmma                 large                small
       kernel for mma.sync                                             128       64

   Each instance costs every program that includes this file some tenths of a second of compile
   time. So PIPELINED has three for float alone, one for other types and none for double, which has
   TENSOR; and SMALL two of four, by TMM__FEW_FORMS, for all types but float and double. These compute
   every shape, but some take longer (on an H200 int at 320 10.1 us for 7.2, A B of 2048 7% longer,
   of 4096 1%). Of SKINNY along the lines a width of 1 would gain 2% at most; of TENSOR tiles of
   128 x 64 nothing. */
#define TMM__EMIT_TYPE        (TMM__PASS == 1)
#define TMM__EMIT_SHARED      (TMM__PASS <= (TMM__ONE_TILE ? 1 : 3))
#define TMM__EMIT_REGISTER    (TMM__PASS <= 2)
#define TMM__EMIT_PIPELINED   (TMM__FAST && TMM__PASS <= (TMM__IS_FLOAT ? 3 : TMM__IS_DOUBLE ? 0 : 1))
#define TMM__EMIT_SMALL       (TMM__FAST && TMM__PASS <= 4 && !(TMM__FEW_FORMS && TMM__PASS % 2 == 1))
#define TMM__EMIT_SKINNY      (TMM__FAST && TMM__PASS <= 5)
#define TMM__EMIT_TENSOR      (TMM__FAST && TMM__IS_DOUBLE && TMM__PASS <= 3)
#define TMM__EMIT_FLOAT_TILES (TMM__FLOAT_TENSOR && TMM__PASS <= 4)
#define TMM__EMIT_FLOAT       (TMM__FLOAT_TENSOR && (TMM__PASS == 2 || TMM__PASS == 4))
#define TMM__EMIT_FLOAT_MMA   (TMM__FLOAT_TENSOR && TMM__PASS >= 5)

/* What the instances are called: in pass 1 of float TMM__INSTANCE(gemm_small_, SMALL) is
   tmm_sgemm_small_16x16. */
#define TMM__INSTANCE(name, kernel) TMM__JOIN(TMM_FN(name), TMM__JOIN(TMM__##kernel##_, TMM__PASS))
#define TMM__REGISTER_1             64
#define TMM__REGISTER_2             128
#define TMM__PIPELINED_1
#define TMM__PIPELINED_2 _tn
#define TMM__PIPELINED_3 _nn
#define TMM__SMALL_1     16x16
#define TMM__SMALL_2     16x32
#define TMM__SMALL_3     32x32
#define TMM__SMALL_4     32x64
#define TMM__SKINNY_1    k_1
#define TMM__SKINNY_2    k_4
#define TMM__SKINNY_3    k_16
#define TMM__SKINNY_4    lines_4
#define TMM__SKINNY_5    lines_16
#define TMM__TENSOR_1    128x128
#define TMM__TENSOR_2    64x64
#define TMM__TENSOR_3    any
#define TMM__TILES_1     256x128
#define TMM__TILES_2     128x192
#define TMM__TILES_3     128x64
#define TMM__TILES_4     64x64
#define TMM__FLOAT_2     large
#define TMM__FLOAT_4     small
#define TMM__FLOAT_MMA_5 128
#define TMM__FLOAT_MMA_6 64

/* And what they are made of; each kernel says what these are. Of PIPELINED: */
#define TMM__BLOCKS (TMM__PASS == 1 ? TMM__ANY_BLOCKS(sizeof(TMM_TYPE)) : 2)
#define TMM__ROWS   (TMM__PASS > 1 ? 16 : 8)
#define TMM__MODE_A (TMM__PASS == 1 ? -1 : TMM__PASS == 2 ? (int)TMM__VECTORS : (int)TMM__ALONG_K)
#define TMM__MODE_B (TMM__PASS == 1 ? -1 : (int)TMM__VECTORS)
/* SMALL: */
#define TMM__SMALL_ROWS (TMM__PASS <= 2 ? 16 : 32)
#define TMM__SMALL_COLS (TMM__PASS == 1 ? 16 : TMM__PASS == 4 ? 64 : 32)
/* SKINNY: */
#define TMM__ALONG (TMM__PASS <= 3)
#define TMM__WIDTH (TMM__PASS == 1 ? 1 : TMM__PASS % 2 == 0 ? 4 : 16)
/* TENSOR: */
#define TMM__WARPS_ACROSS  (TMM__PASS == 1 ? 4 : 2)
#define TMM__TENSOR_DOWN   (TMM__PASS == 1 ? 4 : 2)
#define TMM__TENSOR_WIDTH  (TMM__PASS == 3 ? 1 : 2)
#define TMM__TENSOR_BLOCKS (TMM__PASS == 1 ? 1 : 3)
/* TENSOR FLOAT by wgmma, whose kernels have barriers for the longer ring of their two forms: */
#define TMM__DOWN        (TMM__PASS == 1 ? 2 : 1)
#define TMM__COLS        (TMM__PASS == 1 ? 128 : TMM__PASS == 2 ? 192 : 64)
#define TMM__RING        (TMM__PASS == 1 ? 4 : TMM__PASS == 2 ? 5 : TMM__PASS == 3 ? 8 : 12)
#define TMM__SHARED_K    (TMM__PASS == 4)
#define TMM__LARGE_TILES (TMM__PASS == 2)
#define TMM__READERS     (TMM__PASS == 2 || job.form == 2 ? 8 : 4)
#define TMM__FIRST_2     TMM__TILES_1 /* the form of the pass before */
#define TMM__FIRST_4     TMM__TILES_3
#define TMM__FORMS(what, arguments)                                                      \
    if (job.form == (TMM__PASS == 2 ? 0 : 2))                                            \
        TMM__JOIN(TMM_FN(float_##what##_), TMM__JOIN(TMM__FIRST_, TMM__PASS)) arguments; \
    else                                                                                 \
        tmm_float_##what arguments
/* by mma.sync: */
#define TMM__MMA_PARTS (TMM__PASS == 5 ? 4 : 2)
#define TMM__MMA_RING  (TMM__PASS == 5 ? 3 : 4)
#endif
