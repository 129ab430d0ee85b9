/* thrust::cuda::par: Thrust's functions run at once on the host, after what its stream was given before. */
#ifndef CUCC_THRUST_CUDA_EXECUTION_POLICY_H
#define CUCC_THRUST_CUDA_EXECUTION_POLICY_H

#include <cuda_runtime_api.h>
#include <thrust/detail/config.h>
#include <thrust/system/cpp/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace cuda
{

struct cucc_policy : thrust::system::cpp::detail::execution_policy<cucc_policy> {
    cucc_policy on(cudaStream_t stream) const
    {
        cudaStreamSynchronize(stream);
        return *this;
    }
    template <class allocator> cucc_policy operator()(allocator &&) const
    {
        return *this;
    }
};

static const cucc_policy par, par_nosync;

} /* namespace cuda */
THRUST_NAMESPACE_END

#endif
