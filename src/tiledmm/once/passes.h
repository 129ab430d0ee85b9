/* src/tiledmm/once/passes.h. How a kernel gets its instances.
   Uses: once/config.h. Used by: kernels/, type/instances.h. */
#if !defined(TMM__PART_PASSES)
#define TMM__PART_PASSES
/* An instance is a kernel with its tile, stages and the like as constants. Beside each kernel stands
   the list of its instances, a line each:
       #define TMM__SMALL_LIST(_)     the pass in which it is compiled, its name, its values
           _(1, 16x16, 16, 16)
           _(2, 16x32, 16, 32)
   For each type the file includes itself once a pass, with TMM__PASS 1 to 6 (type/instances.h). In
   pass P each kernel is compiled with the values of line P, if its list has one. The tables of the
   launchers and the names that tests look for are made from the same lines. Each instance costs
   every program that includes this file some tenths of a second of compile time. */

/* For #if: #if TMM__SMALL_LIST(TMM__IN_PASS) 0 asks whether there is an instance in this pass. */
#define TMM__IN_PASS(pass, ...) TMM__PASS == pass ||

/* Value number 1, 2, ... of this pass's instance: (TMM__SMALL_LIST(TMM__VALUE_2) 0) is its columns. */
#define TMM__ARGUMENT_1(a, ...)          a
#define TMM__ARGUMENT_2(a, b, ...)       b
#define TMM__ARGUMENT_3(a, b, c, ...)    c
#define TMM__ARGUMENT_4(a, b, c, d, ...) d
#define TMM__VALUE_1(pass, name, ...)    TMM__PASS == pass ? TMM__ARGUMENT_1(__VA_ARGS__, 0):
#define TMM__VALUE_2(pass, name, ...)    TMM__PASS == pass ? TMM__ARGUMENT_2(__VA_ARGS__, 0, 0):
#define TMM__VALUE_3(pass, name, ...)    TMM__PASS == pass ? TMM__ARGUMENT_3(__VA_ARGS__, 0, 0, 0):
#define TMM__VALUE_4(pass, name, ...)    TMM__PASS == pass ? TMM__ARGUMENT_4(__VA_ARGS__, 0, 0, 0, 0):

/* The name of this pass's instance: TMM__INSTANCE(gemm_small_, SMALL) is tmm_sgemm_small_16x32 in
   pass 2 of float. Only where both numbers are the same does TMM__SAME_ put a second argument. */
#define TMM__SAME_11(name)                 , name
#define TMM__SAME_22(name)                 , name
#define TMM__SAME_33(name)                 , name
#define TMM__SAME_44(name)                 , name
#define TMM__SAME_55(name)                 , name
#define TMM__SAME_66(name)                 , name
#define TMM__NAME_IF_(pass, now, name)     TMM__SECOND(TMM__SAME_##pass##now(name), , )
#define TMM__NAME_IF(pass, now, name)      TMM__NAME_IF_(pass, now, name)
#define TMM__NAME_IN_PASS(pass, name, ...) TMM__NAME_IF(pass, TMM__PASS, name)
#define TMM__INSTANCE(function, kernel) \
    TMM__JOIN(TMM_FN(function), TMM__##kernel##_LIST(TMM__NAME_IN_PASS))

#define TMM__EMIT_TYPE         (TMM__PASS == 1)
#define TMM__EMIT_FLOAT_TILES  (TMM__FLOAT_TENSOR && TMM__PASS <= 4)
#define TMM__EMIT_FLOAT        (TMM__FLOAT_TENSOR && (TMM__PASS == 2 || TMM__PASS == 4))
#define TMM__EMIT_FLOAT_MMA    (TMM__FLOAT_TENSOR && TMM__PASS >= 5)
#define TMM__TILES_LIST(_)     _(1, 256x128) _(2, 128x192) _(3, 128x64) _(4, 64x64)
#define TMM__FLOAT_LIST(_)     _(2, large) _(4, small)
#define TMM__FLOAT_MMA_LIST(_) _(5, 128) _(6, 64)
#define TMM__TILES_1           256x128
#define TMM__TILES_3           128x64
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
