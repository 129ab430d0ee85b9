/* CUB for the runner: all that there is of it. */
#ifndef CUCC_CUB_CUB_CUH
#define CUCC_CUB_CUB_CUH

#include "block/block_adjacent_difference.cuh"
#include "block/block_discontinuity.cuh"
#include "block/block_histogram.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_shuffle.cuh"
#include "block/block_store.cuh"
#include "device/device_for.cuh"
#include "device/device_histogram.cuh"
#include "device/device_partition.cuh"
#include "device/device_radix_sort.cuh"
#include "device/device_reduce.cuh"
#include "device/device_run_length_encode.cuh"
#include "device/device_scan.cuh"
#include "device/device_segmented_reduce.cuh"
#include "device/device_select.cuh"
#include "util_allocator.cuh"
#include "util_device.cuh"
#include "warp/warp_load.cuh"
#include "warp/warp_scan.cuh"

#endif
