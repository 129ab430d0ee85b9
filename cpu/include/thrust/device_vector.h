/* Thrust's, with the execution policies that come along where the backend is CUDA's. */
#ifndef CUCC_THRUST_DEVICE_VECTOR_H
#define CUCC_THRUST_DEVICE_VECTOR_H

#include_next <thrust/device_vector.h>
#include <thrust/execution_policy.h>

#endif
