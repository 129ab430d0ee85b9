/* With WarpLoad. */
#include "warp_load.cuh"
