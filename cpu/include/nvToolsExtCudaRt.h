/* Names for streams and events, which nobody reads. */
#include "nvToolsExt.h"
