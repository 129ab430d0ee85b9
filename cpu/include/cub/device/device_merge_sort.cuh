/* CUB for the runner: sorts of arrays by any comparison. Equal keys stay in order. */
#ifndef CUCC_CUB_DEVICE_MERGE_SORT_CUH
#define CUCC_CUB_DEVICE_MERGE_SORT_CUH
#include "../../cucc_set_aside.h"

#include "../util_order.h"
#include "device_work.h"

namespace cub
{
struct DeviceMergeSort {
    template <class Keys, class Items, class N, class Less>
    static cudaError_t SortPairs(void *temp, size_t &bytes, Keys keys, Items items, N n, Less less,
                                 cudaStream_t stream = 0, bool = false)
    {
        return sort(temp, bytes, keys, items, keys, items, n, less, stream);
    }
    template <class KeysIn, class ItemsIn, class Keys, class Items, class N, class Less>
    static cudaError_t SortPairsCopy(void *temp, size_t &bytes, KeysIn keys_in, ItemsIn items_in,
                                     Keys keys, Items items, N n, Less less,
                                     cudaStream_t stream = 0, bool = false)
    {
        return sort(temp, bytes, keys_in, items_in, keys, items, n, less, stream);
    }
    template <class Keys, class N, class Less>
    static cudaError_t SortKeys(void *temp, size_t &bytes, Keys keys, N n, Less less,
                                cudaStream_t stream = 0, bool = false)
    {
        NullType *none = nullptr;
        return sort(temp, bytes, keys, none, keys, none, n, less, stream);
    }
    template <class KeysIn, class Keys, class N, class Less>
    static cudaError_t SortKeysCopy(void *temp, size_t &bytes, KeysIn keys_in, Keys keys, N n,
                                    Less less, cudaStream_t stream = 0, bool = false)
    {
        NullType *none = nullptr;
        return sort(temp, bytes, keys_in, none, keys, none, n, less, stream);
    }
    template <class... A>
    static cudaError_t StableSortPairs(void *temp, size_t &bytes, const A &...more)
    {
        return SortPairs(temp, bytes, more...);
    }
    template <class... A>
    static cudaError_t StableSortKeys(void *temp, size_t &bytes, const A &...more)
    {
        return SortKeys(temp, bytes, more...);
    }
    template <class... A>
    static cudaError_t StableSortKeysCopy(void *temp, size_t &bytes, const A &...more)
    {
        return SortKeysCopy(temp, bytes, more...);
    }

  private:
    template <class KeysIn, class ItemsIn, class Keys, class Items, class N, class Less>
    static cudaError_t sort(void *temp, size_t &bytes, KeysIn keys_in, ItemsIn items_in, Keys keys,
                            Items items, N n, Less less, cudaStream_t stream)
    {
        typedef runner::value_of<KeysIn> K;
        typedef runner::value_of<ItemsIn> V;
        constexpr bool pairs = !std::is_same_v<V, NullType>;
        const size_t count = n > 0 ? (size_t)n : 0;
        runner::parts_of_memory parts = {(char *)temp};
        size_t *order = parts.take<size_t>(count);
        K *key = parts.take<K>(count);
        V *value = parts.take<V>(pairs ? count : 0);
        if (runner::asks_for_size(temp, bytes, parts.used + 1)) return cudaSuccess;
        if (bytes < parts.used) return cudaErrorInvalidValue;
        auto work = [=]() mutable {
            for (size_t i = 0; i < count; i++) {
                key[i] = keys_in[i];
                if constexpr (pairs) value[i] = items_in[i];
            }
            runner::sort_order(order, count, key, less);
            for (size_t i = 0; i < count; i++) {
                keys[i] = key[order[i]];
                if constexpr (pairs) items[i] = value[order[i]];
            }
        };
        return runner::device_work("cub::DeviceMergeSort", stream, work, keys_in, items_in, keys,
                                   items, temp);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
