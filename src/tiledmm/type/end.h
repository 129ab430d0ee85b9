/* src/tiledmm/type/end.h. Names of a type are undone.
   Uses: nothing. Used by: type/begin.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS)
#if TMM__FLOAT_TENSOR /* what types on tensor cores share, the first of them makes */
#define TMM__FLOAT_ONCE
#endif
#if TMM__DOUBLE_TENSOR
#define TMM__DOUBLE_ONCE
#endif
#if TMM__HALF_TENSOR
#define TMM__HALF_ONCE
#endif
#undef TMM_NAME
#undef TMM_TYPE
#undef TMM_SUM
#undef TMM_SCALAR
#undef TMM_OUT
#undef TMM__ONE_TILE
#undef TMM__IF_FLOAT
#undef TMM__ALL_TILES
#undef TMM__IF_ALL_TILES
#undef TMM__IF_FLOATING
#undef TMM__LEFT_OUT
#undef TMM__IF_FAST
#undef TMM__IF_PIPELINED
#undef TMM__IF_SMALL
#undef TMM__IF_FLOAT_FAST
#undef TMM__IF_TENSOR
#undef TMM__IF_INT8
#undef TMM__CONVERTS
#undef TMM__CONVERTING
#undef TMM__SHARED_TILE
#undef TMM__ASKED_TENSOR
#ifndef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif
