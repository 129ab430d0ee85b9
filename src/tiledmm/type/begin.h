/* src/tiledmm/type/begin.h. Per element type from here on: reached with TMM_NAME or TMM_TYPE set.
   Uses: once/. Used by: type/, kernels/. */
#define TMM__ONCE /* what does not depend on a type is read: a later inclusion leaves it out */
#if !defined(TMM__PASS) && (defined(TMM_NAME) || defined(TMM_TYPE))
#ifndef TMM_NAME
#error "tiledmm.cuh: TMM_TYPE is defined without TMM_NAME, the letters that go into tmm_NAMEgemm"
#endif
#ifndef TMM_TYPE
#define TMM_TYPE float
#endif
#ifndef TMM_SUM
#define TMM_SUM TMM_TYPE
#endif
#ifndef TMM_SCALAR /* of alpha and beta */
#define TMM_SCALAR TMM_TYPE
#endif
#ifndef TMM_OUT /* of an element of C */
#define TMM_OUT TMM_TYPE
#endif
#ifdef TMM_TILE                        /* TMM_SHARED has this tile alone */
#if !(TMM_TILE >= 1 && TMM_TILE <= 32) /* the name of a macro that was set aside is 0 here */
#error "tiledmm.cuh: TMM_TILE must be 1 to 32, a number and not the name of a macro"
#endif
#define TMM__ONE_TILE    1
#define TMM__SHARED_TILE TMM_TILE
#else
#define TMM__ONE_TILE    0
#define TMM__SHARED_TILE 32
#endif
/* For lists of instances: lines that only some types have. */
#if TMM__IS_FLOAT
#define TMM__IF_FLOAT(...) __VA_ARGS__
#else
#define TMM__IF_FLOAT(...)
#endif
#if TMM__IS_FLOAT || TMM__IS_DOUBLE
#define TMM__IF_FLOATING(...) __VA_ARGS__
#else
#define TMM__IF_FLOATING(...)
#endif
/* Double and int, as they come, have one tile of TMM_SHARED and of TMM_REGISTER: the largest. */
#if TMM__IS_FLOAT || !defined(TMM__MAKING_READY)
#define TMM__ALL_TILES         1
#define TMM__IF_ALL_TILES(...) __VA_ARGS__
#else
#define TMM__ALL_TILES 0
#define TMM__IF_ALL_TILES(...)
#endif
/* Whether TMM_AUTO may take tensor cores that split elements: see once/config.h. */
#if TMM__IS_DOUBLE
#define TMM__ASKED_TENSOR TMM__AUTO_INT8
#else
#define TMM__ASKED_TENSOR TMM__AUTO_TENSOR
#endif
/* For TMM__KERNEL_LIST: functions of a kernel that only some types and programs have. */
#define TMM__LEFT_OUT tmm__xleft_out, NULL, NULL, NULL
#if TMM__FAST
#define TMM__IF_FAST(...) __VA_ARGS__
#else
#define TMM__IF_FAST(...) TMM__LEFT_OUT
#endif
#if TMM__FAST && TMM__IS_FLOAT
#define TMM__IF_FLOAT_FAST(...) __VA_ARGS__
#else
#define TMM__IF_FLOAT_FAST(...) TMM__LEFT_OUT
#endif
#if TMM__PIPELINES /* else it is a name for others: see tmm__xstands_for */
#define TMM__IF_PIPELINED(...) __VA_ARGS__
#else
#define TMM__IF_PIPELINED(...) TMM__LEFT_OUT
#endif
#if TMM__SMALLS
#define TMM__IF_SMALL(...) __VA_ARGS__
#else
#define TMM__IF_SMALL(...) TMM__LEFT_OUT
#endif
#if TMM__FLOAT_TENSOR || TMM__IS_DOUBLE || TMM__HALF_TENSOR
#define TMM__IF_TENSOR(...) __VA_ARGS__
#else
#define TMM__IF_TENSOR(...) NULL, NULL, NULL
#endif
#if TMM__DOUBLE_TENSOR
#define TMM__IF_INT8(...) __VA_ARGS__
#else
#define TMM__IF_INT8(...) NULL, NULL, NULL
#endif
/* The kernel that converts operands, where there is one. */
#if TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR
#define TMM__CONVERTS   1
#define TMM__CONVERTING (TMM__FLOAT_TENSOR ? TMM_TENSOR : TMM_TENSOR_INT8)
#else
#define TMM__CONVERTS 0
#endif
#if TMM__KERNELS /* before the errors that follow from another type */
static_assert(
    !__is_class(TMM_SUM) && !__is_union(TMM_SUM),
    "tiledmm.cuh: TMM_SUM, which is TMM_TYPE if not defined, must be an integer or floating "
    "type of C++ itself: for __half define it as float; complex numbers and structs cannot "
    "be multiplied");
static_assert(
    __is_constructible(TMM_SUM, TMM_TYPE) && __is_constructible(TMM_TYPE, TMM_SUM) &&
        __is_trivially_copyable(TMM_TYPE) && __is_constructible(TMM_SUM, TMM_OUT) &&
        __is_constructible(TMM_OUT, TMM_SUM) && __is_trivially_copyable(TMM_OUT),
    "tiledmm.cuh: TMM_TYPE must be an integer or floating type, or one such as __half that "
    "converts to TMM_SUM and back; complex numbers and structs cannot be multiplied");
static_assert(sizeof(TMM_TYPE) < 4 || (__is_constructible(TMM_OUT *, TMM_TYPE *) &&
                                       __is_constructible(TMM_SCALAR *, TMM_TYPE *)),
              "tiledmm.cuh: TMM_OUT and TMM_SCALAR other than TMM_TYPE are for elements of 1 or 2 "
              "bytes");
#endif
#endif
