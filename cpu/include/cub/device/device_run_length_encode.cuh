/* CUB for the runner: the runs of equal items in an array. */
#ifndef CUCC_CUB_DEVICE_RUN_LENGTH_ENCODE_CUH
#define CUCC_CUB_DEVICE_RUN_LENGTH_ENCODE_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
struct DeviceRunLengthEncode {
    template <class In, class Unique, class Lengths, class Runs, class N>
    static cudaError_t Encode(void *temp, size_t &bytes, In in, Unique unique, Lengths lengths,
                              Runs num_runs, N n, cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            runner::whole<N> runs = 0;
            for (runner::whole<N> i = 0, end; i < n; i = end, runs++) {
                end = run_end(in, i, (runner::whole<N>)n);
                unique[runs] = in[i];
                lengths[runs] = end - i;
            }
            *num_runs = runs;
        };
        return runner::device_work("cub::DeviceRunLengthEncode::Encode", stream, work, in, unique,
                                   lengths, num_runs);
    }

    /* Those of two and more, by their offsets. */
    template <class In, class Offsets, class Lengths, class Runs, class N>
    static cudaError_t NonTrivialRuns(void *temp, size_t &bytes, In in, Offsets offsets,
                                      Lengths lengths, Runs num_runs, N n, cudaStream_t stream = 0,
                                      bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            runner::whole<N> runs = 0;
            for (runner::whole<N> i = 0, end; i < n; i = end) {
                end = run_end(in, i, (runner::whole<N>)n);
                if (end - i < 2) continue;
                offsets[runs] = i;
                lengths[runs++] = end - i;
            }
            *num_runs = runs;
        };
        return runner::device_work("cub::DeviceRunLengthEncode::NonTrivialRuns", stream, work, in,
                                   offsets, lengths, num_runs);
    }

  private:
    template <class In, class N> static N run_end(In in, N i, N n)
    {
        N end = i + 1;
        while (end < n && in[i] == in[end]) end++;
        return end;
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
