/* Thrust's, and what comes along (cucc_along.h). */
#if defined(CUCC_THRUST_WITHIN) || __INCLUDE_LEVEL__ > 3
#include_next <thrust/sort.h>
#else
#define CUCC_THRUST_WITHIN
#include_next <thrust/sort.h>
#undef CUCC_THRUST_WITHIN
#include "cucc_along.h"
#include <thrust/extrema.h>
#include <thrust/sequence.h>
#include <thrust/transform_reduce.h>
#endif
