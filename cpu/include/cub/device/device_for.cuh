/* CUB for the runner: a function for each number or item. */
#ifndef CUCC_CUB_DEVICE_FOR_CUH
#define CUCC_CUB_DEVICE_FOR_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DeviceFor {
    template <class N, class Op> static cudaError_t Bulk(N n, Op op, cudaStream_t stream = nullptr)
    {
        auto work = [=]() mutable {
            for (N i = 0; i < n; i++) op(i);
        };
        return runner::device_work("cub::DeviceFor::Bulk", stream, work);
    }
    template <class I, class N, class Op>
    static cudaError_t ForEachN(I first, N n, Op op, cudaStream_t stream = nullptr)
    {
        auto work = [=]() mutable {
            for (N i = 0; i < n; i++) op(first[i]);
        };
        return runner::device_work("cub::DeviceFor::ForEachN", stream, work, first);
    }
    template <class I, class Op>
    static cudaError_t ForEach(I first, I end, Op op, cudaStream_t stream = nullptr)
    {
        return ForEachN(first, end - first, op, stream);
    }
    template <class I, class N, class Op>
    static cudaError_t ForEachCopyN(I first, N n, Op op, cudaStream_t stream = nullptr)
    {
        auto work = [=]() mutable {
            for (N i = 0; i < n; i++) {
                auto copy = first[i];
                op(copy);
            }
        };
        return runner::device_work("cub::DeviceFor::ForEachCopyN", stream, work, first);
    }
    template <class I, class Op>
    static cudaError_t ForEachCopy(I first, I end, Op op, cudaStream_t stream = nullptr)
    {
        return ForEachCopyN(first, end - first, op, stream);
    }

    /* With temporary memory, of which none is needed. */
    template <class N, class Op>
    static cudaError_t Bulk(void *temp, size_t &bytes, N n, Op op, cudaStream_t stream = nullptr)
    {
        return runner::asks_for_size(temp, bytes) ? cudaSuccess : Bulk(n, op, stream);
    }
    template <class I, class N, class Op>
    static cudaError_t ForEachN(void *temp, size_t &bytes, I first, N n, Op op,
                                cudaStream_t stream = nullptr)
    {
        return runner::asks_for_size(temp, bytes) ? cudaSuccess : ForEachN(first, n, op, stream);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
