/* The same under their newer name. */
#include "../nvToolsExtCudaRt.h"
