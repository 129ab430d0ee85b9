/* CUB for the runner: reductions of arrays. */
#ifndef CUCC_CUB_DEVICE_REDUCE_CUH
#define CUCC_CUB_DEVICE_REDUCE_CUH
#include "../../cucc_set_aside.h"

#include "../iterator/transform_input_iterator.cuh"
#include "device_work.h"

namespace cub
{
struct DeviceReduce {
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t Reduce(void *temp, size_t &bytes, In in, Out out, N n, Op op, T initial,
                              cudaStream_t stream = 0, bool = false)
    {
        return reduce("cub::DeviceReduce::Reduce", temp, bytes, in, out, n, op, initial, stream);
    }
    template <class In, class Out, class N>
    static cudaError_t Sum(void *temp, size_t &bytes, In in, Out out, N n, cudaStream_t stream = 0,
                           bool = false)
    {
        return reduce("cub::DeviceReduce::Sum", temp, bytes, in, out, n, cub::Sum(),
                      runner::output_of<Out, In>{}, stream);
    }
    template <class In, class Out, class N>
    static cudaError_t Min(void *temp, size_t &bytes, In in, Out out, N n, cudaStream_t stream = 0,
                           bool = false)
    {
        return reduce("cub::DeviceReduce::Min", temp, bytes, in, out, n, cub::Min(),
                      runner::highest<runner::value_of<In>>(), stream);
    }
    template <class In, class Out, class N>
    static cudaError_t Max(void *temp, size_t &bytes, In in, Out out, N n, cudaStream_t stream = 0,
                           bool = false)
    {
        return reduce("cub::DeviceReduce::Max", temp, bytes, in, out, n, cub::Max(),
                      runner::lowest<runner::value_of<In>>(), stream);
    }

    /* The index and the value of the first smallest or largest item; index 1 where there is none. */
    template <class In, class Out, class N, runner::if_number<N> = 0>
    static cudaError_t ArgMin(void *temp, size_t &bytes, In in, Out out, N n,
                              cudaStream_t stream = 0, bool = false)
    {
        return arg("cub::DeviceReduce::ArgMin", temp, bytes, in, out, n, cub::ArgMin(),
                   runner::highest<runner::value_of<In>>(), stream);
    }
    template <class In, class Out, class N, runner::if_number<N> = 0>
    static cudaError_t ArgMax(void *temp, size_t &bytes, In in, Out out, N n,
                              cudaStream_t stream = 0, bool = false)
    {
        return arg("cub::DeviceReduce::ArgMax", temp, bytes, in, out, n, cub::ArgMax(),
                   runner::lowest<runner::value_of<In>>(), stream);
    }

    /* Of what TRANSFORM gives for each item. */
    template <class In, class Out, class N, class Op, class Transform, class T>
    static cudaError_t TransformReduce(void *temp, size_t &bytes, In in, Out out, N n, Op op,
                                       Transform transform, T initial, cudaStream_t stream = 0,
                                       bool = false)
    {
        typedef std::decay_t<decltype(transform(in[0]))> value;
        return Reduce(temp, bytes, TransformInputIterator<value, Transform, In>(in, transform), out,
                      n, op, initial, stream);
    }

    /* Of each run of equal keys, the key and the values by OP. */
    template <class Keys, class Unique, class In, class Out, class Runs, class Op, class N>
    static cudaError_t ReduceByKey(void *temp, size_t &bytes, Keys keys, Unique unique, In in,
                                   Out out, Runs num_runs, Op op, N n, cudaStream_t stream = 0,
                                   bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::sum_of<Op, runner::value_of<In>, runner::value_of<In>> T;
            runner::whole<N> runs = 0;
            for (runner::whole<N> i = 0; i < n; runs++) {
                runner::value_of<Keys> key = keys[i];
                T sum = in[i];
                for (i++; i < n && key == keys[i]; i++) sum = op(sum, in[i]);
                unique[runs] = key;
                out[runs] = sum;
            }
            *num_runs = runs;
        };
        return runner::device_work("cub::DeviceReduce::ReduceByKey", stream, work, keys, unique, in,
                                   out, num_runs);
    }

  private:
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t reduce(const char *name, void *temp, size_t &bytes, In in, Out out, N n,
                              Op op, T initial, cudaStream_t stream)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::sum_of<Op, T, runner::value_of<In>> A;
            A sum = (A)initial;
            if (n > 0)
                sum = op(sum,
                         runner::reduce_range<A>(in, (runner::whole<N>)0, (runner::whole<N>)n, op));
            *out = sum;
        };
        return runner::device_work(name, stream, work, in, out);
    }
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t arg(const char *name, void *temp, size_t &bytes, In in, Out out, N n, Op op,
                           T if_empty, cudaStream_t stream)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef KeyValuePair<int, runner::value_of<In>> pair;
            ArgIndexInputIterator<In, int> pairs(in);
            pair best(1, if_empty);
            if (n > 0)
                best =
                    runner::reduce_range<pair>(pairs, (runner::whole<N>)0, (runner::whole<N>)n, op);
            *out = best;
        };
        return runner::device_work(name, stream, work, in, out);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
