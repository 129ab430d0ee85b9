/* Of a toolkit this is a part of cuda_runtime.h, which here is one header. */
#include "cuda_runtime.h"
