/* Thrust's, and what comes along (cucc_along.h). */
#if defined(CUCC_THRUST_WITHIN) || __INCLUDE_LEVEL__ > 3
#include_next <thrust/for_each.h>
#else
#define CUCC_THRUST_WITHIN
#include_next <thrust/for_each.h>
#undef CUCC_THRUST_WITHIN
#include "cucc_along.h"
#endif
