/* The same under their newer name. */
#include "../nvToolsExtCuda.h"
