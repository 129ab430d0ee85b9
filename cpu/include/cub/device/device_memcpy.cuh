/* With DeviceCopy. */
#include "device_copy.cuh"
