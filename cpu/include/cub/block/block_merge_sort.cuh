/* CUB for the runner: sorts of the items of a block's or a warp's threads by any comparison. The first thread sorts
 * their numbers; equal keys stay in order. */
#ifndef CUCC_CUB_BLOCK_MERGE_SORT_CUH
#define CUCC_CUB_BLOCK_MERGE_SORT_CUH
#include "../../cucc_set_aside.h"

#include "../util_order.h"
#include "block_shape.h"

namespace cub
{
/* GROUP has the number of threads, that of this one, and a barrier. Items from VALID on become OTHERWISE, which no key
 * comes behind. */
template <class K, class V, int N, class Group> class BlockMergeSortStrategy
{
    enum { count = Group::threads * N };
    static_assert(count <= 65536, "items are numbered with 16 bits");
    static_assert(PowerOfTwo<Group::threads>::VALUE, "the number of threads is a power of two");
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

    BlockMergeSortStrategy(TempStorage &temp) : temp(temp.Alias())
    {
    }
    template <class Less> void Sort(K (&keys)[N], Less less)
    {
        sort(keys, less);
    }
    template <class Less> void Sort(K (&keys)[N], Less less, int valid, K otherwise)
    {
        cut(keys, valid, otherwise);
        sort(keys, less);
    }
    template <class Less> void Sort(K (&keys)[N], V (&values)[N], Less less)
    {
        sort(keys, less);
        group.wait(); /* the keys have been taken */
        move(temp.values, values);
    }
    template <class Less> void Sort(K (&keys)[N], V (&values)[N], Less less, int valid, K otherwise)
    {
        cut(keys, valid, otherwise);
        Sort(keys, values, less);
    }
    template <class... A> void StableSort(K (&keys)[N], A &&...more)
    {
        Sort(keys, more...);
    }

  private:
    storage &temp;
    Group group;

    void cut(K (&keys)[N], int valid, const K &otherwise)
    {
        for (int i = 0; i < N; i++)
            if (group.thread * N + i >= valid) keys[i] = otherwise;
    }
    template <class Less> void sort(K (&keys)[N], Less less)
    {
        for (int i = 0; i < N; i++) temp.keys[group.thread * N + i] = keys[i];
        group.wait();
        if (group.thread == 0) runner::sort_order(temp.order, (int)count, temp.keys, less);
        group.wait();
        for (int i = 0; i < N; i++) keys[i] = temp.keys[temp.order[group.thread * N + i]];
    }
    void move(V *through, V (&values)[N])
    {
        for (int i = 0; i < N; i++) through[group.thread * N + i] = values[i];
        group.wait();
        for (int i = 0; i < N; i++) values[i] = through[temp.order[group.thread * N + i]];
    }
};

namespace runner
{
template <int X, int Y, int Z> struct block_to_sort : block_shape<X, Y, Z> {
    void wait()
    {
        cucc::barrier("cub::BlockMergeSort");
    }
};
} // namespace runner

template <class K, int X, int N, class V = NullType, int Y = 1, int Z = 1>
class BlockMergeSort : public BlockMergeSortStrategy<K, V, N, runner::block_to_sort<X, Y, Z>>
{
    typedef BlockMergeSortStrategy<K, V, N, runner::block_to_sort<X, Y, Z>> strategy;

  public:
    typedef typename strategy::TempStorage TempStorage;

    BlockMergeSort() : strategy(runner::private_storage<TempStorage>())
    {
    }
    BlockMergeSort(TempStorage &temp) : strategy(temp)
    {
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
