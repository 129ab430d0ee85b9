/* CUB for the runner: reductions of segments, which begin and end at given offsets. */
#ifndef CUCC_CUB_DEVICE_SEGMENTED_REDUCE_CUH
#define CUCC_CUB_DEVICE_SEGMENTED_REDUCE_CUH
#include "../../cucc_set_aside.h"

#include "../iterator/arg_index_input_iterator.cuh"
#include "device_work.h"

namespace cub
{
struct DeviceSegmentedReduce {
    template <class In, class Out, class Begin, class End, class Op, class T>
    static cudaError_t Reduce(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                              End end, Op op, T initial, cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::sum_of<Op, T, runner::value_of<In>> A;
            for (int s = 0; s < segments; s++) {
                int64_t from = begin[s], to = end[s];
                A sum = (A)initial;
                if (from < to) sum = op(sum, runner::reduce_range<A>(in, from, to, op));
                out[s] = sum;
            }
        };
        return runner::device_work("cub::DeviceSegmentedReduce", stream, work, in, out, begin, end);
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Sum(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                           End end, cudaStream_t stream = 0, bool = false)
    {
        return Reduce(temp, bytes, in, out, segments, begin, end, cub::Sum(),
                      runner::output_of<Out, In>{}, stream);
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Min(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                           End end, cudaStream_t stream = 0, bool = false)
    {
        return Reduce(temp, bytes, in, out, segments, begin, end, cub::Min(),
                      runner::highest<runner::value_of<In>>(), stream);
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Max(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                           End end, cudaStream_t stream = 0, bool = false)
    {
        return Reduce(temp, bytes, in, out, segments, begin, end, cub::Max(),
                      runner::lowest<runner::value_of<In>>(), stream);
    }

    /* The index in its segment and the value; of an empty segment 1 and the bound of the values. */
    template <class In, class Out, class Begin, class End>
    static cudaError_t ArgMin(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                              End end, cudaStream_t stream = 0, bool = false)
    {
        return arg(temp, bytes, in, out, segments, begin, end, cub::ArgMin(),
                   runner::highest<runner::value_of<In>>(), stream);
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t ArgMax(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                              End end, cudaStream_t stream = 0, bool = false)
    {
        return arg(temp, bytes, in, out, segments, begin, end, cub::ArgMax(),
                   runner::lowest<runner::value_of<In>>(), stream);
    }

  private:
    template <class In, class Out, class Begin, class End, class Op>
    static cudaError_t arg(void *temp, size_t &bytes, In in, Out out, int segments, Begin begin,
                           End end, Op op, runner::value_of<In> bound, cudaStream_t stream)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef KeyValuePair<int, runner::value_of<In>> pair;
            for (int s = 0; s < segments; s++) {
                const int64_t from = begin[s], to = end[s];
                ArgIndexInputIterator<In, int> pairs(in + from);
                pair best(1, bound);
                if (from < to) best = runner::reduce_range<pair>(pairs, (int64_t)0, to - from, op);
                out[s] = best;
            }
        };
        return runner::device_work("cub::DeviceSegmentedReduce", stream, work, in, out, begin, end);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
