/* An element of a device_vector that the host writes, after what the default stream was given before. */
#ifndef CUCC_THRUST_ASSIGN_VALUE_H
#define CUCC_THRUST_ASSIGN_VALUE_H

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system/detail/sequential/assign_value.h>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cpp
{
namespace detail
{

template <class policy, class pointer, class other>
void assign_value(execution_policy<policy> &, pointer to, other from)
{
    cudaStreamSynchronize(0);
    *thrust::raw_pointer_cast(to) = *thrust::raw_pointer_cast(from);
}

} /* namespace detail */
} /* namespace cpp */
} /* namespace system */
THRUST_NAMESPACE_END

#endif
