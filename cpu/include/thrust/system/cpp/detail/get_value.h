/* An element of a device_vector that the host reads: as the copy that it is on a GPU, it waits for the default
 * stream. */
#ifndef CUCC_THRUST_GET_VALUE_H
#define CUCC_THRUST_GET_VALUE_H

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system/detail/sequential/get_value.h>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cpp
{
namespace detail
{

template <class policy, class pointer>
typename thrust::iterator_value<pointer>::type get_value(execution_policy<policy> &, pointer from)
{
    cudaStreamSynchronize(0);
    return *thrust::raw_pointer_cast(from);
}

} /* namespace detail */
} /* namespace cpp */
} /* namespace system */
THRUST_NAMESPACE_END

#endif
