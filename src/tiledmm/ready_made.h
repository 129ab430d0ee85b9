/* src/tiledmm/ready_made.h. READY-MADE: float, double and int; half and bfloat16 on request.
   Uses: once/. Used by: callers. */
#if !defined(TMM__PASS) && !defined(TMM__READY_MADE)
#define TMM__READY_MADE
#ifndef TMM_NO_READY_MADE
#define TMM__MAKING_READY /* they share the caller's TMM_TILE and TMM_EPILOGUE */
#define TMM_TYPE          float
#define TMM_NAME          s
#include TMM_HEADER
#ifndef TMM_NO_DOUBLE
#define TMM_TYPE double
#define TMM_NAME d
#include TMM_HEADER
#endif
#ifndef TMM_NO_INT
#define TMM_TYPE int
#define TMM_SUM  unsigned /* signed sums that overflow are undefined in C, these wrap */
#define TMM_NAME i
#include TMM_HEADER
#endif
#ifdef TMM_WITH_HALF
#define TMM_TYPE   tmm_half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   h
#include TMM_HEADER
#ifndef TMM_NO_FLOAT_C
#define TMM_TYPE   tmm_half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_OUT    float
#define TMM_NAME   hs
#include TMM_HEADER
#endif
#endif
#ifdef TMM_WITH_BFLOAT16
#define TMM_TYPE   tmm_bfloat16
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   b
#include TMM_HEADER
#ifndef TMM_NO_FLOAT_C
#define TMM_TYPE   tmm_bfloat16
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_OUT    float
#define TMM_NAME   bs
#include TMM_HEADER
#endif
#endif
#undef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif
