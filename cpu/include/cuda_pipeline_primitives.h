/* The functions of cuda_pipeline.h alone. */
#include "cuda_pipeline.h"
