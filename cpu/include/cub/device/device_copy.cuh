/* CUB for the runner: many copies at once. */
#ifndef CUCC_CUB_DEVICE_COPY_CUH
#define CUCC_CUB_DEVICE_COPY_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DeviceCopy { /* of items */
    template <class From, class To, class Sizes>
    static cudaError_t Batched(void *temp, size_t &bytes, From from, To to, Sizes sizes,
                               int64_t ranges, cudaStream_t stream = 0)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            for (int64_t r = 0; r < ranges; r++)
                for (int64_t i = 0, n = (int64_t)sizes[r]; i < n; i++) to[r][i] = from[r][i];
        };
        return runner::device_work("cub::DeviceCopy", stream, work, from, to, sizes);
    }
};

struct DeviceMemcpy { /* of bytes */
    template <class From, class To, class Sizes>
    static cudaError_t Batched(void *temp, size_t &bytes, From from, To to, Sizes sizes,
                               int64_t buffers, cudaStream_t stream = 0)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            for (int64_t r = 0; r < buffers; r++)
                for (int64_t i = 0, n = (int64_t)sizes[r]; i < n; i++)
                    ((char *)to[r])[i] = ((const char *)from[r])[i];
        };
        return runner::device_work("cub::DeviceMemcpy", stream, work, from, to, sizes);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
