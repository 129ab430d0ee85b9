/* CUB for the runner: differences of neighbours in an array; in place, too. An item without a neighbour is copied. */
#ifndef CUCC_CUB_DEVICE_ADJACENT_DIFFERENCE_CUH
#define CUCC_CUB_DEVICE_ADJACENT_DIFFERENCE_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DeviceAdjacentDifference {
    template <class In, class Out, class N, class Op = Difference, runner::if_number<N> = 0>
    static cudaError_t SubtractLeftCopy(void *temp, size_t &bytes, In in, Out out, N n, Op op = {},
                                        cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            for (runner::whole<N> i = n; i-- > 0;) /* from behind: OUT may be IN */
                out[i] = i ? op(in[i], in[i - 1]) : in[i];
        };
        return runner::device_work("cub::DeviceAdjacentDifference", stream, work, in, out);
    }
    template <class In, class Out, class N, class Op = Difference, runner::if_number<N> = 0>
    static cudaError_t SubtractRightCopy(void *temp, size_t &bytes, In in, Out out, N n, Op op = {},
                                         cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            for (runner::whole<N> i = 0; i < n; i++)
                out[i] = i < n - 1 ? op(in[i], in[i + 1]) : in[i];
        };
        return runner::device_work("cub::DeviceAdjacentDifference", stream, work, in, out);
    }
    template <class In, class N, class Op = Difference>
    static cudaError_t SubtractLeft(void *temp, size_t &bytes, In data, N n, Op op = {},
                                    cudaStream_t stream = 0, bool = false)
    {
        return SubtractLeftCopy(temp, bytes, data, data, n, op, stream);
    }
    template <class In, class N, class Op = Difference>
    static cudaError_t SubtractRight(void *temp, size_t &bytes, In data, N n, Op op = {},
                                     cudaStream_t stream = 0, bool = false)
    {
        return SubtractRightCopy(temp, bytes, data, data, n, op, stream);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
