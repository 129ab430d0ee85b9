/* CUB for the runner: the items of an array that are selected, in their order; in place, too. */
#ifndef CUCC_CUB_DEVICE_SELECT_CUH
#define CUCC_CUB_DEVICE_SELECT_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DeviceSelect {
    template <class In, class Out, class Count, class N, class Op, runner::if_number<N> = 0>
    static cudaError_t If(void *temp, size_t &bytes, In in, Out out, Count num_selected, N n, Op op,
                          cudaStream_t stream = 0, bool = false)
    {
        return select(
            "cub::DeviceSelect::If", temp, bytes, in, out, num_selected, n,
            [=](runner::whole<N> i) mutable { return (bool)op(in[i]); }, stream, in);
    }
    template <class In, class Count, class N, class Op, runner::if_number<N> = 0>
    static cudaError_t If(void *temp, size_t &bytes, In data, Count num_selected, N n, Op op,
                          cudaStream_t stream = 0, bool = false)
    {
        return If(temp, bytes, data, data, num_selected, n, op, stream);
    }
    template <class In, class Flags, class Out, class Count, class N, runner::if_number<N> = 0>
    static cudaError_t Flagged(void *temp, size_t &bytes, In in, Flags flags, Out out,
                               Count num_selected, N n, cudaStream_t stream = 0, bool = false)
    {
        return select(
            "cub::DeviceSelect::Flagged", temp, bytes, in, out, num_selected, n,
            [=](runner::whole<N> i) { return (bool)flags[i]; }, stream, flags);
    }
    template <class In, class Flags, class Count, class N, runner::if_number<N> = 0>
    static cudaError_t Flagged(void *temp, size_t &bytes, In data, Flags flags, Count num_selected,
                               N n, cudaStream_t stream = 0, bool = false)
    {
        return Flagged(temp, bytes, data, flags, data, num_selected, n, stream);
    }

    template <class In, class Flags, class Out, class Count, class N, class Op,
              runner::if_number<N> = 0>
    static cudaError_t FlaggedIf(void *temp, size_t &bytes, In in, Flags flags, Out out,
                                 Count num_selected, N n, Op op, cudaStream_t stream = 0)
    {
        return select(
            "cub::DeviceSelect::FlaggedIf", temp, bytes, in, out, num_selected, n,
            [=](runner::whole<N> i) mutable { return (bool)op(flags[i]); }, stream, flags);
    }
    template <class In, class Flags, class Count, class N, class Op, runner::if_number<N> = 0>
    static cudaError_t FlaggedIf(void *temp, size_t &bytes, In data, Flags flags,
                                 Count num_selected, N n, Op op, cudaStream_t stream = 0)
    {
        return FlaggedIf(temp, bytes, data, flags, data, num_selected, n, op, stream);
    }

    /* The first of each run of equal items. */
    template <class In, class Out, class Count, class N>
    static cudaError_t Unique(void *temp, size_t &bytes, In in, Out out, Count num_selected, N n,
                              cudaStream_t stream = 0, bool = false)
    {
        return select(
            "cub::DeviceSelect::Unique", temp, bytes, in, out, num_selected, n,
            [=](runner::whole<N> i) { return i == 0 || !(in[i - 1] == in[i]); }, stream, in);
    }
    template <class Keys, class In, class KeysOut, class Out, class Count, class N>
    static cudaError_t UniqueByKey(void *temp, size_t &bytes, Keys keys, In in, KeysOut keys_out,
                                   Out out, Count num_selected, N n, cudaStream_t stream = 0,
                                   bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            runner::whole<N> selected = 0;
            for (runner::whole<N> i = 0; i < n; i++) {
                if (i > 0 && keys[i - 1] == keys[i]) continue;
                keys_out[selected] = keys[i];
                out[selected++] = in[i];
            }
            *num_selected = selected;
        };
        return runner::device_work("cub::DeviceSelect::UniqueByKey", stream, work, keys, in,
                                   keys_out, out, num_selected);
    }

  private:
    template <class In, class Out, class Count, class N, class Chosen, class Read>
    static cudaError_t select(const char *name, void *temp, size_t &bytes, In in, Out out,
                              Count num_selected, N n, Chosen chosen, cudaStream_t stream,
                              Read read)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            runner::whole<N> selected = 0;
            for (runner::whole<N> i = 0; i < n; i++)
                if (chosen(i)) out[selected++] = in[i];
            *num_selected = selected;
        };
        return runner::device_work(name, stream, work, in, out, num_selected, read);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
