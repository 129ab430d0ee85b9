/* src/tiledmm/once/passes.h. How a kernel gets its instances.
   Uses: config.h. Used by: kernels/common/, type/instances.h, kernels/. */
#ifndef TMM__ONCE
/* An instance is a kernel with its tile, stages and the like as constants. Beside each kernel
   stands the list of its instances, a line each:
       #define TMM__SMALL_LIST(_)     the pass in which it is compiled, its name, its values
           _(2, 16x16, 16, 16)
           _(1, 16x32, 16, 32)
   For each type the file includes itself once a pass (type/instances.h). Pass P compiles each kernel
   with the values of line P, if its list has one. Launchers' tables are made from the same lines.
   Each instance costs every program some tenths of a second of compile time. */

/* For #if: #if TMM__SMALL_LIST(TMM__IN_PASS) 0 asks whether there is an instance in this pass. */
#define TMM__IN_PASS(pass, ...) TMM__PASS == pass ||

/* Value number 1, 2, ... of this pass's instance: (TMM__SMALL_LIST(TMM__VALUE_2) 0) is its
   columns. */
#define TMM__HEAD(a, ...)                      a
#define TMM__VALUE_1(pass, name, ...)          TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):
#define TMM__VALUE_2(pass, name, a, ...)       TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):
#define TMM__VALUE_3(pass, name, a, b, ...)    TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):
#define TMM__VALUE_4(pass, name, a, b, c, ...) TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):

/* The name of this pass's instance: TMM__INSTANCE(gemm_small_, SMALL) is tmm_sgemm_small_16x32 in
   pass 1 of float. Only where both numbers are the same does TMM__SAME_ put a second argument. */
#define TMM__SAME_11(name) , name
#define TMM__SAME_22(name) , name
#define TMM__SAME_33(name) , name
#define TMM__SAME_44(name) , name
#define TMM__SAME_55(name) , name
#define TMM__SAME_66(name) , name
#define TMM__NAME_IN_PASS(pass, ...) \
    TMM__SECOND(TMM__JOIN(TMM__SAME_##pass, TMM__PASS)(TMM__HEAD(__VA_ARGS__, 0)), , )
#define TMM__INSTANCE(function, kernel) \
    TMM__JOIN(TMM_FN(function), TMM__##kernel##_LIST(TMM__NAME_IN_PASS))

/* The first pass also compiles what a type has once. */
#define TMM__EMIT_TYPE (TMM__PASS == 1)
#endif
