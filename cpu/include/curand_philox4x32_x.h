/* Of a toolkit this is a part of curand_kernel.h, which here is one header. */
#include "curand_kernel.h"
