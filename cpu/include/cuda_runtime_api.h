/* The runtime API alone; the CPU runner has one header for both. */
#include "cuda_runtime.h"
