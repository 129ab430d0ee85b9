/* Of a toolkit this is a part of cublas_v2.h, which here is one header. */
#include "cublas_v2.h"
