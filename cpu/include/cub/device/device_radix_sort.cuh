/* CUB for the runner: radix sorts of arrays, by bytes from the least significant on. Equal keys stay in
 * order. */
#ifndef CUCC_CUB_DEVICE_RADIX_SORT_CUH
#define CUCC_CUB_DEVICE_RADIX_SORT_CUH
#include "../../cucc_set_aside.h"

#include "../util_keys.h"
#include "device_work.h"

namespace cub
{
namespace runner
{
const int digit_bits = 8;

inline int sort_passes(int begin, int end)
{
    return (end - begin + digit_bits - 1) / digit_bits;
}

/* Sorts by one digit. V may be NullType, then there are no values. */
template <class K, class V, class N>
void sort_pass(const K *keys, K *sorted, const V *values, V *sorted_values, N n, int begin, int end,
               bool descending)
{
    N place[1 << digit_bits] = {};
    for (N i = 0; i < n; i++) place[key_digits(keys[i], begin, end, descending)]++;
    N sum = 0;
    for (N &p : place) {
        N count = p;
        p = sum;
        sum += count;
    }
    for (runner::whole<N> i = 0; i < n; i++) {
        N to = place[key_digits(keys[i], begin, end, descending)]++;
        sorted[to] = keys[i];
        if constexpr (!std::is_same_v<V, NullType>) sorted_values[to] = values[i];
    }
}
} // namespace runner

struct DeviceRadixSort {
    template <class K, class V, class N, runner::if_number<N> = 0>
    static cudaError_t SortPairs(void *temp, size_t &bytes, const K *keys, K *sorted,
                                 const V *values, V *sorted_values, N n, int begin = 0,
                                 int end = 8 * sizeof(K), cudaStream_t stream = 0, bool = false)
    {
        return apart(temp, bytes, keys, sorted, values, sorted_values, n, begin, end, stream,
                     false);
    }
    template <class K, class V, class N, runner::if_number<N> = 0>
    static cudaError_t SortPairsDescending(void *temp, size_t &bytes, const K *keys, K *sorted,
                                           const V *values, V *sorted_values, N n, int begin = 0,
                                           int end = 8 * sizeof(K), cudaStream_t stream = 0,
                                           bool = false)
    {
        return apart(temp, bytes, keys, sorted, values, sorted_values, n, begin, end, stream, true);
    }
    template <class K, class N, runner::if_number<N> = 0>
    static cudaError_t SortKeys(void *temp, size_t &bytes, const K *keys, K *sorted, N n,
                                int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = 0,
                                bool = false)
    {
        const NullType *none = nullptr;
        return apart(temp, bytes, keys, sorted, none, (NullType *)nullptr, n, begin, end, stream,
                     false);
    }
    template <class K, class N, runner::if_number<N> = 0>
    static cudaError_t SortKeysDescending(void *temp, size_t &bytes, const K *keys, K *sorted, N n,
                                          int begin = 0, int end = 8 * sizeof(K),
                                          cudaStream_t stream = 0, bool = false)
    {
        const NullType *none = nullptr;
        return apart(temp, bytes, keys, sorted, none, (NullType *)nullptr, n, begin, end, stream,
                     true);
    }

    template <class K, class V, class N>
    static cudaError_t SortPairs(void *temp, size_t &bytes, DoubleBuffer<K> &keys,
                                 DoubleBuffer<V> &values, N n, int begin = 0,
                                 int end = 8 * sizeof(K), cudaStream_t stream = 0, bool = false)
    {
        return in_turn(temp, bytes, keys, values, n, begin, end, stream, false);
    }
    template <class K, class V, class N>
    static cudaError_t SortPairsDescending(void *temp, size_t &bytes, DoubleBuffer<K> &keys,
                                           DoubleBuffer<V> &values, N n, int begin = 0,
                                           int end = 8 * sizeof(K), cudaStream_t stream = 0,
                                           bool = false)
    {
        return in_turn(temp, bytes, keys, values, n, begin, end, stream, true);
    }
    template <class K, class N>
    static cudaError_t SortKeys(void *temp, size_t &bytes, DoubleBuffer<K> &keys, N n,
                                int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = 0,
                                bool = false)
    {
        DoubleBuffer<NullType> none;
        return in_turn(temp, bytes, keys, none, n, begin, end, stream, false);
    }
    template <class K, class N>
    static cudaError_t SortKeysDescending(void *temp, size_t &bytes, DoubleBuffer<K> &keys, N n,
                                          int begin = 0, int end = 8 * sizeof(K),
                                          cudaStream_t stream = 0, bool = false)
    {
        DoubleBuffer<NullType> none;
        return in_turn(temp, bytes, keys, none, n, begin, end, stream, true);
    }

  private:
    /* From KEYS, which stay, to SORTED, with a second array of keys and of values in TEMP: the passes go
     * between these two so that the last one ends in SORTED. */
    template <class K, class V, class N>
    static cudaError_t apart(void *temp, size_t &bytes, const K *keys, K *sorted, const V *values,
                             V *sorted_values, N n, int begin, int end, cudaStream_t stream,
                             bool descending)
    {
        const size_t unit = 256, pairs = n > 0 ? (size_t)n : 0;
        size_t of_keys = (pairs * sizeof(K) + unit - 1) / unit * unit;
        size_t wanted = of_keys + (std::is_same_v<V, NullType> ? 0 : pairs * sizeof(V));
        if (runner::asks_for_size(temp, bytes, wanted + 1)) return cudaSuccess;
        if (bytes < wanted) return cudaErrorInvalidValue;
        K *other = (K *)temp;
        V *other_values = (V *)((char *)temp + of_keys);
        auto work = [=] {
            const K *from = keys;
            const V *from_values = values;
            for (int left = runner::sort_passes(begin, end), at = begin; left > 0; left--) {
                int last = CUB_MIN(at + runner::digit_bits, end);
                K *to = left % 2 ? sorted : other;
                V *to_values = left % 2 ? sorted_values : other_values;
                runner::sort_pass(from, to, from_values, to_values, (runner::whole<N>)n, at, last,
                                  descending);
                from = to;
                from_values = to_values;
                at = last;
            }
            if (from != keys) return;
            for (runner::whole<N> i = 0; i < n; i++) { /* no bits, no passes */
                sorted[i] = keys[i];
                if constexpr (!std::is_same_v<V, NullType>) sorted_values[i] = values[i];
            }
        };
        return runner::device_work("cub::DeviceRadixSort", stream, work, keys, sorted, values,
                                   sorted_values, temp);
    }

    template <class K, class V, class N>
    static cudaError_t in_turn(void *temp, size_t &bytes, DoubleBuffer<K> &keys,
                               DoubleBuffer<V> &values, N n, int begin, int end,
                               cudaStream_t stream, bool descending)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        int passes = runner::sort_passes(begin, end);
        K *key[2] = {keys.Current(), keys.Alternate()};
        V *value[2] = {values.Current(), values.Alternate()};
        auto work = [=] {
            for (int i = 0; i < passes; i++) {
                int first = begin + i * runner::digit_bits;
                runner::sort_pass(key[i % 2], key[(i + 1) % 2], value[i % 2], value[(i + 1) % 2],
                                  (runner::whole<N>)n, first,
                                  CUB_MIN(first + runner::digit_bits, end), descending);
            }
        };
        keys.selector ^= passes & 1;
        values.selector ^= passes & 1;
        return runner::device_work("cub::DeviceRadixSort", stream, work, key[0], key[1], value[0],
                                   value[1]);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
