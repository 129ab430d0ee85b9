/* CUB for the runner: sorts of segments of arrays, which begin and end at given offsets. Equal keys stay in order. What
 * lies in no segment is left as it is. */
#ifndef CUCC_CUB_DEVICE_SEGMENTED_SORT_CUH
#define CUCC_CUB_DEVICE_SEGMENTED_SORT_CUH
#include "../../cucc_set_aside.h"

#include "../util_keys.h"
#include "../util_order.h"
#include "device_work.h"

namespace cub
{
namespace runner
{
template <class K, class V> struct segments_to_sort {
    const K *keys;
    K *sorted;
    const V *values;
    V *sorted_values;
};

/* By the bits from FIRST up to LAST of the keys. */
template <class K, class V, class N, class Begin, class End>
cudaError_t sort_segments(const char *name, void *temp, size_t &bytes, segments_to_sort<K, V> a,
                          N n, int segments, Begin begin, End end, int first, int last,
                          bool descending, cudaStream_t stream)
{
    parts_of_memory parts = {(char *)temp};
    size_t *order = parts.take<size_t>(n > 0 ? (size_t)n : 0);
    if (asks_for_size(temp, bytes, parts.used + 1)) return cudaSuccess;
    if (bytes < parts.used) return cudaErrorInvalidValue;
    auto work = [=]() mutable {
        for (int s = 0; s < segments; s++) {
            const int64_t from = begin[s], count = end[s] - from;
            if (count <= 0) continue;
            sort_order(order, count, a.keys + from, [=](const K &x, const K &y) {
                return key_digits(x, first, last, descending) <
                       key_digits(y, first, last, descending);
            });
            for (int64_t i = 0; i < count; i++) {
                a.sorted[from + i] = a.keys[from + (int64_t)order[i]];
                if constexpr (!std::is_same_v<V, NullType>)
                    a.sorted_values[from + i] = a.values[from + (int64_t)order[i]];
            }
        }
    };
    return device_work(name, stream, work, a.keys, a.sorted, a.values, a.sorted_values, begin, end,
                       temp);
}

template <class K> segments_to_sort<K, NullType> keys_alone(const K *keys, K *sorted)
{
    return {keys, sorted, nullptr, nullptr};
}

/* From the buffers that are valid to the others, which are after the second call. */
template <class K, class V>
segments_to_sort<K, V> in_turn(void *temp, DoubleBuffer<K> &keys, DoubleBuffer<V> &values)
{
    segments_to_sort<K, V> a = {keys.Current(), keys.Alternate(), values.Current(),
                                values.Alternate()};
    if (temp) {
        keys.selector ^= 1;
        values.selector ^= 1;
    }
    return a;
}
} // namespace runner

#define CUCC_CUB_BITS , int first = 0, int last = 8 * sizeof(K)
#define CUCC_CUB_SORTS(owner, suffix, descending, of_bits, first, last)                            \
    template <class K, class N, class Begin, class End>                                            \
    static cudaError_t SortKeys##suffix(void *temp, size_t &bytes, const K *keys, K *sorted, N n,  \
                                        int segments, Begin begin, End end of_bits,                \
                                        cudaStream_t stream = 0, bool = false)                     \
    {                                                                                              \
        return runner::sort_segments("cub::" owner, temp, bytes, runner::keys_alone(keys, sorted), \
                                     n, segments, begin, end, first, last, descending, stream);    \
    }                                                                                              \
    template <class K, class N, class Begin, class End>                                            \
    static cudaError_t SortKeys##suffix(void *temp, size_t &bytes, DoubleBuffer<K> &keys, N n,     \
                                        int segments, Begin begin, End end of_bits,                \
                                        cudaStream_t stream = 0, bool = false)                     \
    {                                                                                              \
        DoubleBuffer<NullType> none;                                                               \
        return runner::sort_segments("cub::" owner, temp, bytes,                                   \
                                     runner::in_turn(temp, keys, none), n, segments, begin, end,   \
                                     first, last, descending, stream);                             \
    }                                                                                              \
    template <class K, class V, class N, class Begin, class End>                                   \
    static cudaError_t SortPairs##suffix(void *temp, size_t &bytes, const K *keys, K *sorted,      \
                                         const V *values, V *sorted_values, N n, int segments,     \
                                         Begin begin, End end of_bits, cudaStream_t stream = 0,    \
                                         bool = false)                                             \
    {                                                                                              \
        runner::segments_to_sort<K, V> all = {keys, sorted, values, sorted_values};                \
        return runner::sort_segments("cub::" owner, temp, bytes, all, n, segments, begin, end,     \
                                     first, last, descending, stream);                             \
    }                                                                                              \
    template <class K, class V, class N, class Begin, class End>                                   \
    static cudaError_t SortPairs##suffix(void *temp, size_t &bytes, DoubleBuffer<K> &keys,         \
                                         DoubleBuffer<V> &values, N n, int segments, Begin begin,  \
                                         End end of_bits, cudaStream_t stream = 0, bool = false)   \
    {                                                                                              \
        return runner::sort_segments("cub::" owner, temp, bytes,                                   \
                                     runner::in_turn(temp, keys, values), n, segments, begin, end, \
                                     first, last, descending, stream);                             \
    }

struct DeviceSegmentedRadixSort {
    CUCC_CUB_SORTS("DeviceSegmentedRadixSort", , false, CUCC_CUB_BITS, first, last)
    CUCC_CUB_SORTS("DeviceSegmentedRadixSort", Descending, true, CUCC_CUB_BITS, first, last)
};

struct DeviceSegmentedSort {
    CUCC_CUB_SORTS("DeviceSegmentedSort", , false, , 0, 8 * (int)sizeof(K))
    CUCC_CUB_SORTS("DeviceSegmentedSort", Descending, true, , 0, 8 * (int)sizeof(K))
#define CUCC_CUB_STABLE(name)                                                                     \
    template <class... A> static cudaError_t Stable##name(void *temp, size_t &bytes, A &&...more) \
    {                                                                                             \
        return name(temp, bytes, more...);                                                        \
    }
    CUCC_CUB_STABLE(SortKeys)
    CUCC_CUB_STABLE(SortKeysDescending)
    CUCC_CUB_STABLE(SortPairs)
    CUCC_CUB_STABLE(SortPairsDescending)
};
#undef CUCC_CUB_BITS
#undef CUCC_CUB_SORTS
#undef CUCC_CUB_STABLE
} // namespace cub
#include "../../cucc_give_back.h"

#endif
