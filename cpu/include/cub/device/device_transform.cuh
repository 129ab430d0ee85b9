/* CUB for the runner: a function of one item of each of some arrays. */
#ifndef CUCC_CUB_DEVICE_TRANSFORM_CUH
#define CUCC_CUB_DEVICE_TRANSFORM_CUH
#include "../../cucc_set_aside.h"

#include <tuple>
#include "device_work.h"

namespace cub
{
struct DeviceTransform {
    template <class... In, class Out, class N, class Op>
    static cudaError_t Transform(std::tuple<In...> in, Out out, N n, Op op,
                                 cudaStream_t stream = nullptr)
    {
        return std::apply(
            [&](const In &...from) {
                auto work = [=]() mutable {
                    for (runner::whole<N> i = 0; i < n; i++) out[i] = op(from[i]...);
                };
                return runner::device_work("cub::DeviceTransform", stream, work, out, from...);
            },
            in);
    }
    template <class In, class Out, class N, class Op>
    static cudaError_t Transform(In in, Out out, N n, Op op, cudaStream_t stream = nullptr)
    {
        return Transform(std::tuple<In>(in), out, n, op, stream);
    }

    /* With temporary memory, of which none is needed. */
    template <class In, class Out, class N, class Op>
    static cudaError_t Transform(void *temp, size_t &bytes, In in, Out out, N n, Op op,
                                 cudaStream_t stream = nullptr)
    {
        return runner::asks_for_size(temp, bytes) ? cudaSuccess : Transform(in, out, n, op, stream);
    }
    template <class... A> static cudaError_t TransformStableArgumentAddresses(A &&...all)
    {
        return Transform(all...);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
