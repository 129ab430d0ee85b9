/* CUB for the runner: an array in two parts: what is selected in its order, and the rest from the end on,
 * in the reverse order. */
#ifndef CUCC_CUB_DEVICE_PARTITION_CUH
#define CUCC_CUB_DEVICE_PARTITION_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DevicePartition {
    template <class In, class Out, class Count, class N, class Op>
    static cudaError_t If(void *temp, size_t &bytes, In in, Out out, Count num_selected, N n, Op op,
                          cudaStream_t stream = 0, bool = false)
    {
        return part(
            "cub::DevicePartition::If", temp, bytes, in, out, num_selected, n,
            [=](runner::whole<N> i) mutable { return (bool)op(in[i]); }, stream, in);
    }
    template <class In, class Flags, class Out, class Count, class N>
    static cudaError_t Flagged(void *temp, size_t &bytes, In in, Flags flags, Out out,
                               Count num_selected, N n, cudaStream_t stream = 0, bool = false)
    {
        return part(
            "cub::DevicePartition::Flagged", temp, bytes, in, out, num_selected, n,
            [=](runner::whole<N> i) { return (bool)flags[i]; }, stream, flags);
    }

  private:
    template <class In, class Out, class Count, class N, class Chosen, class Read>
    static cudaError_t part(const char *name, void *temp, size_t &bytes, In in, Out out,
                            Count num_selected, N n, Chosen chosen, cudaStream_t stream, Read read)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            runner::whole<N> selected = 0, end = n;
            for (runner::whole<N> i = 0; i < n; i++) out[chosen(i) ? selected++ : --end] = in[i];
            *num_selected = selected;
        };
        return runner::device_work(name, stream, work, in, out, num_selected, read);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
