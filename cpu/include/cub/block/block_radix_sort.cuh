/* CUB for the runner: sorts of the items of a block. The first thread sorts their numbers; equal keys stay
 * in order. */
#ifndef CUCC_CUB_BLOCK_RADIX_SORT_CUH
#define CUCC_CUB_BLOCK_RADIX_SORT_CUH
#include "../../cucc_set_aside.h"

#include <algorithm>
#include "../util_keys.h"
#include "block_scan.cuh"

namespace cub
{
template <class K, int X, int N, class V = NullType, int RADIX_BITS = 4, bool MEMOIZE = true,
          BlockScanAlgorithm INNER = BLOCK_SCAN_WARP_SCANS, int BANKS = 0, int Y = 1, int Z = 1,
          int ARCH = 0>
class BlockRadixSort
{
    typedef runner::block_shape<X, Y, Z> shape;
    enum { count = shape::threads * N, bits = 8 * sizeof(K) };
    static_assert(count <= 65536, "items are numbered with 16 bits");
    struct storage {
        union {
            K keys[count];
            V values[count];
        };
        uint16_t order[count];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockRadixSort() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockRadixSort(TempStorage &temp) : temp(temp.Alias())
    {
    }

    void Sort(K (&keys)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, false, false);
    }
    void Sort(K (&keys)[N], V (&values)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, false, false);
        move(temp.values, values, false);
    }
    void SortDescending(K (&keys)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, true, false);
    }
    void SortDescending(K (&keys)[N], V (&values)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, true, false);
        move(temp.values, values, false);
    }
    void SortBlockedToStriped(K (&keys)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, false, true);
    }
    void SortBlockedToStriped(K (&keys)[N], V (&values)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, false, true);
        move(temp.values, values, true);
    }
    void SortDescendingBlockedToStriped(K (&keys)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, true, true);
    }
    void SortDescendingBlockedToStriped(K (&keys)[N], V (&values)[N], int begin = 0, int end = bits)
    {
        sort(keys, begin, end, true, true);
        move(temp.values, values, true);
    }

  private:
    storage &temp;
    shape block;

    void sort(K (&keys)[N], int begin, int end, bool descending, bool striped)
    {
        for (int i = 0; i < N; i++) temp.keys[block.thread * N + i] = keys[i];
        cucc::barrier("cub::BlockRadixSort");
        if (block.thread == 0) {
            const K *all = temp.keys;
            for (int i = 0; i < count; i++) temp.order[i] = (uint16_t)i;
            std::sort(temp.order, temp.order + count, [=](uint16_t a, uint16_t b) {
                auto x = runner::key_digits(all[a], begin, end, descending),
                     y = runner::key_digits(all[b], begin, end, descending);
                return x < y || (x == y && a < b);
            });
        }
        cucc::barrier("cub::BlockRadixSort");
        take(temp.keys, keys, striped);
    }
    template <class T> void take(const T *from, T (&items)[N], bool striped)
    {
        for (int i = 0; i < N; i++)
            items[i] = from[temp.order[striped ? i * shape::threads + block.thread
                                               : block.thread * N + i]];
    }
    void move(V *through, V (&values)[N], bool striped)
    {
        cucc::barrier("cub::BlockRadixSort"); /* the keys have been taken */
        for (int i = 0; i < N; i++) through[block.thread * N + i] = values[i];
        cucc::barrier("cub::BlockRadixSort");
        take(through, values, striped);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
