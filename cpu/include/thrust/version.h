/* Thrust's, after what it needs of the runner: this one may be the first of a program. */
#include <thrust/detail/config.h>
#include_next <thrust/version.h>
