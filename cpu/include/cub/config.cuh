/* Every header of CUB includes this one first. */
#error "CUB's functions for warps are PTX, and need a GPU (Thrust's functions do the same)"
