/* CUB for the runner: histograms of samples, in bins of one width or between given levels. */
#ifndef CUCC_CUB_DEVICE_HISTOGRAM_CUH
#define CUCC_CUB_DEVICE_HISTOGRAM_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
/* N levels bound N - 1 bins, which contain their lower level and not the upper one. Samples outside of all
 * do not count. Rows are STRIDE bytes apart; a pixel has CHANNELS samples, of which the first ACTIVE ones
 * have histograms. */
struct DeviceHistogram {
    template <class In, class C, class L, class N>
    static cudaError_t HistogramEven(void *temp, size_t &bytes, In samples, C *bins, int levels,
                                     L lower, L upper, N n, cudaStream_t stream = 0, bool = false)
    {
        return HistogramEven(temp, bytes, samples, bins, levels, lower, upper, n, (N)1,
                             (size_t)n * sizeof(runner::value_of<In>), stream);
    }
    template <class In, class C, class L, class N>
    static cudaError_t HistogramEven(void *temp, size_t &bytes, In samples, C *bins, int levels,
                                     L lower, L upper, N n, N rows, size_t stride,
                                     cudaStream_t stream = 0, bool = false)
    {
        C *all_bins[1] = {bins};
        int all_levels[1] = {levels};
        L all_lower[1] = {lower}, all_upper[1] = {upper};
        return MultiHistogramEven<1, 1>(temp, bytes, samples, all_bins, all_levels, all_lower,
                                        all_upper, n, rows, stride, stream);
    }
    template <class In, class C, class L, class N>
    static cudaError_t HistogramRange(void *temp, size_t &bytes, In samples, C *bins, int levels,
                                      const L *bounds, N n, cudaStream_t stream = 0, bool = false)
    {
        return HistogramRange(temp, bytes, samples, bins, levels, bounds, n, (N)1,
                              (size_t)n * sizeof(runner::value_of<In>), stream);
    }
    template <class In, class C, class L, class N>
    static cudaError_t HistogramRange(void *temp, size_t &bytes, In samples, C *bins, int levels,
                                      const L *bounds, N n, N rows, size_t stride,
                                      cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto bin = [=](runner::value_of<In> sample) {
            int low = 0, high = levels; /* the number of bounds that are not above it */
            while (low < high) {
                int middle = (low + high) / 2;
                if (sample < bounds[middle])
                    high = middle;
                else
                    low = middle + 1;
            }
            return low - 1;
        };
        auto work = [=]() mutable { count<1>(samples, bins, levels - 1, n, rows, stride, bin); };
        return runner::device_work("cub::DeviceHistogram::HistogramRange", stream, work, samples,
                                   bins, bounds);
    }

    template <int CHANNELS, int ACTIVE, class In, class C, class L, class N>
    static cudaError_t MultiHistogramEven(void *temp, size_t &bytes, In samples, C *bins[ACTIVE],
                                          const int levels[ACTIVE], const L lower[ACTIVE],
                                          const L upper[ACTIVE], N n, cudaStream_t stream = 0,
                                          bool = false)
    {
        return MultiHistogramEven<CHANNELS, ACTIVE>(temp, bytes, samples, bins, levels, lower,
                                                    upper, n, (N)1,
                                                    (size_t)n * CHANNELS *
                                                        sizeof(runner::value_of<In>),
                                                    stream);
    }
    template <int CHANNELS, int ACTIVE, class In, class C, class L, class N>
    static cudaError_t MultiHistogramEven(void *temp, size_t &bytes, In samples, C *bins[ACTIVE],
                                          const int levels[ACTIVE], const L lower[ACTIVE],
                                          const L upper[ACTIVE], N n, N rows, size_t stride,
                                          cudaStream_t stream = 0, bool = false)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        for (int channel = 0; channel < ACTIVE; channel++) {
            C *to = bins[channel];
            int number = levels[channel] - 1;
            L low = lower[channel], high = upper[channel];
            auto bin = [=](runner::value_of<In> sample) {
                return even_bin(sample, low, high, number);
            };
            auto work = [=]() mutable {
                count<CHANNELS>(samples + channel, to, number, n, rows, stride, bin);
            };
            if (cudaError_t error = runner::device_work("cub::DeviceHistogram::HistogramEven",
                                                        stream, work, samples, to))
                return error;
        }
        return cudaSuccess;
    }

  private:
    template <class S, class L> static int even_bin(S sample, L lower, L upper, int bins)
    {
        typedef std::common_type_t<S, L> T;
        if (!((T)sample >= (T)lower && (T)sample < (T)upper)) return -1;
        if constexpr (std::is_integral_v<T>)
            return (int)((uint64_t)((T)sample - (T)lower) * (uint64_t)bins /
                         (uint64_t)((T)upper - (T)lower));
        else
            return CUB_MIN((int)(((T)sample - (T)lower) * ((T)bins / ((T)upper - (T)lower))),
                           bins - 1);
    }

    template <int CHANNELS, class In, class C, class N, class Bin>
    static void count(In samples, C *bins, int number, N n, N rows, size_t stride, Bin &bin)
    {
        for (int i = 0; i < number; i++) bins[i] = 0;
        const size_t step = stride / sizeof(runner::value_of<In>);
        for (runner::whole<N> row = 0; row < rows; row++)
            for (runner::whole<N> i = 0; i < n; i++) {
                int at = bin(samples[(size_t)row * step + (size_t)i * CHANNELS]);
                if (at >= 0 && at < number) bins[at]++;
            }
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
