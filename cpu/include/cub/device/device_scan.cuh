/* CUB for the runner: prefix sums and the like of arrays; in place, too. */
#ifndef CUCC_CUB_DEVICE_SCAN_CUH
#define CUCC_CUB_DEVICE_SCAN_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DeviceScan {
    template <class In, class Out, class N, runner::if_number<N> = 0>
    static cudaError_t ExclusiveSum(void *temp, size_t &bytes, In in, Out out, N n,
                                    cudaStream_t stream = 0, bool = false)
    {
        return exclusive(temp, bytes, in, out, cub::Sum(), runner::value_of<In>{}, n, stream);
    }
    template <class In, class N, runner::if_number<N> = 0>
    static cudaError_t ExclusiveSum(void *temp, size_t &bytes, In data, N n,
                                    cudaStream_t stream = 0, bool = false)
    {
        return exclusive(temp, bytes, data, data, cub::Sum(), runner::value_of<In>{}, n, stream);
    }
    template <class In, class Out, class N, runner::if_number<N> = 0>
    static cudaError_t InclusiveSum(void *temp, size_t &bytes, In in, Out out, N n,
                                    cudaStream_t stream = 0, bool = false)
    {
        return inclusive(temp, bytes, in, out, cub::Sum(), n, stream);
    }
    template <class In, class N, runner::if_number<N> = 0>
    static cudaError_t InclusiveSum(void *temp, size_t &bytes, In data, N n,
                                    cudaStream_t stream = 0, bool = false)
    {
        return inclusive(temp, bytes, data, data, cub::Sum(), n, stream);
    }
    template <class In, class Out, class Op, class T, class N, runner::if_number<N> = 0>
    static cudaError_t ExclusiveScan(void *temp, size_t &bytes, In in, Out out, Op op, T initial,
                                     N n, cudaStream_t stream = 0, bool = false)
    {
        return exclusive(temp, bytes, in, out, op, initial, n, stream);
    }
    template <class In, class Op, class T, class N, runner::if_number<N> = 0>
    static cudaError_t ExclusiveScan(void *temp, size_t &bytes, In data, Op op, T initial, N n,
                                     cudaStream_t stream = 0, bool = false)
    {
        return exclusive(temp, bytes, data, data, op, initial, n, stream);
    }
    template <class In, class Out, class Op, class N, runner::if_number<N> = 0>
    static cudaError_t InclusiveScan(void *temp, size_t &bytes, In in, Out out, Op op, N n,
                                     cudaStream_t stream = 0, bool = false)
    {
        return inclusive(temp, bytes, in, out, op, n, stream);
    }
    template <class In, class Op, class N, runner::if_number<N> = 0>
    static cudaError_t InclusiveScan(void *temp, size_t &bytes, In data, Op op, N n,
                                     cudaStream_t stream = 0, bool = false)
    {
        return inclusive(temp, bytes, data, data, op, n, stream);
    }

    template <class In, class Out, class Op, class T, class N, runner::if_number<N> = 0>
    static cudaError_t InclusiveScanInit(void *temp, size_t &bytes, In in, Out out, Op op,
                                         T initial, N n, cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            runner::sum_of<Op, T, runner::value_of<In>> sum = initial;
            for (runner::whole<N> i = 0; i < n; i++) out[i] = sum = op(sum, in[i]);
        };
        return runner::device_work("cub::DeviceScan (inclusive)", stream, work, in, out);
    }

    /* From the initial value on anew where a key differs from the one before. */
    template <class Keys, class In, class Out, class N, class Equal = Equality,
              runner::if_number<N> = 0>
    static cudaError_t ExclusiveSumByKey(void *temp, size_t &bytes, Keys keys, In in, Out out, N n,
                                         Equal equal = {}, cudaStream_t stream = 0, bool = false)
    {
        return ExclusiveScanByKey(temp, bytes, keys, in, out, cub::Sum(), runner::value_of<In>{}, n,
                                  equal, stream);
    }
    template <class Keys, class In, class Out, class N, class Equal = Equality,
              runner::if_number<N> = 0>
    static cudaError_t InclusiveSumByKey(void *temp, size_t &bytes, Keys keys, In in, Out out, N n,
                                         Equal equal = {}, cudaStream_t stream = 0, bool = false)
    {
        return InclusiveScanByKey(temp, bytes, keys, in, out, cub::Sum(), n, equal, stream);
    }
    template <class Keys, class In, class Out, class Op, class T, class N, class Equal = Equality,
              runner::if_number<N> = 0>
    static cudaError_t ExclusiveScanByKey(void *temp, size_t &bytes, Keys keys, In in, Out out,
                                          Op op, T initial, N n, Equal equal = {},
                                          cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::sum_of<Op, T, runner::value_of<In>> A;
            A sum = (A)initial;
            for (runner::whole<N> i = 0; i < n; i++) {
                if (i > 0 && !equal(keys[i - 1], keys[i])) sum = (A)initial;
                A next = op(sum, in[i]); /* IN may be OUT */
                out[i] = sum;
                sum = next;
            }
        };
        return runner::device_work("cub::DeviceScan (by key)", stream, work, keys, in, out);
    }
    template <class Keys, class In, class Out, class Op, class N, class Equal = Equality,
              runner::if_number<N> = 0>
    static cudaError_t InclusiveScanByKey(void *temp, size_t &bytes, Keys keys, In in, Out out,
                                          Op op, N n, Equal equal = {}, cudaStream_t stream = 0,
                                          bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::value_of<In> T;
            for (runner::whole<N> i = 0; i < n;) {
                runner::sum_of<Op, T, T> sum = in[i];
                out[i] = sum;
                for (i++; i < n && equal(keys[i - 1], keys[i]); i++) out[i] = sum = op(sum, in[i]);
            }
        };
        return runner::device_work("cub::DeviceScan (by key)", stream, work, keys, in, out);
    }

  private:
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t exclusive(void *temp, size_t &bytes, In in, Out out, Op op, T initial, N n,
                                 cudaStream_t stream)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::sum_of<Op, T, runner::value_of<In>> A;
            A sum = (A)initial;
            for (runner::whole<N> i = 0; i < n; i++) {
                A next = op(sum, in[i]); /* IN may be OUT */
                out[i] = sum;
                sum = next;
            }
        };
        return runner::device_work("cub::DeviceScan (exclusive)", stream, work, in, out);
    }
    template <class In, class Out, class Op, class N>
    static cudaError_t inclusive(void *temp, size_t &bytes, In in, Out out, Op op, N n,
                                 cudaStream_t stream)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            typedef runner::value_of<In> T;
            if (n <= 0) return;
            runner::sum_of<Op, T, T> sum = in[0];
            out[0] = sum;
            for (runner::whole<N> i = 1; i < n; i++) out[i] = sum = op(sum, in[i]);
        };
        return runner::device_work("cub::DeviceScan (inclusive)", stream, work, in, out);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
