/* The tag and the policies of Thrust's C++ backend. A function of Thrust that gets to memory of the device makes
 * a tag first: here it waits for the default stream, in which the function would run on a GPU. */
#ifndef CUCC_THRUST_EXECUTION_POLICY_H
#define CUCC_THRUST_EXECUTION_POLICY_H

#include <cuda_runtime_api.h>
#include <thrust/detail/config.h>
#include <thrust/system/detail/sequential/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cpp
{
namespace detail
{

struct tag;
template <class policy> struct execution_policy;
template <>
struct execution_policy<tag> : thrust::system::detail::sequential::execution_policy<tag> {
};

struct tag : execution_policy<tag> {
    tag()
    {
        cudaStreamSynchronize(0);
    }
};

template <class policy>
struct execution_policy : thrust::system::detail::sequential::execution_policy<policy> {
    typedef tag tag_type;
    operator tag() const
    {
        return tag();
    }
};

} /* namespace detail */

using detail::execution_policy;
using detail::tag;

} /* namespace cpp */
} /* namespace system */

namespace cpp
{
using thrust::system::cpp::execution_policy;
using thrust::system::cpp::tag;
} /* namespace cpp */
THRUST_NAMESPACE_END

#endif
