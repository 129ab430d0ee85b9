/* The same marks under their newer name. */
#include "../nvToolsExt.h"
