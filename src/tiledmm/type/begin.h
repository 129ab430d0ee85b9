/* src/tiledmm/type/begin.h. Per element type from here on: reached with TMM_NAME or TMM_TYPE set.
   Uses: once/. Used by: type/, kernels/. */
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
#endif
