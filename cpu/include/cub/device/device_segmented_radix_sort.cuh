/* With DeviceSegmentedSort. */
#include "device_segmented_sort.cuh"
