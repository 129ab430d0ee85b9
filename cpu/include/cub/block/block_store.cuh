/* CUB for the runner: stores of a block's tile, with a bound. */
#ifndef CUCC_CUB_BLOCK_STORE_CUH
#define CUCC_CUB_BLOCK_STORE_CUH
#include "../../cucc_set_aside.h"

#include "block_load.cuh"

namespace cub
{
template <class T, int N, class O>
void StoreDirectBlocked(int thread, O to, T (&items)[N], int valid = runner::everything)
{
    runner::store_items(thread * N, 1, to, items, valid);
}
template <class T, int N> void StoreDirectBlockedVectorized(int thread, T *to, T (&items)[N])
{
    runner::store_items(thread * N, 1, to, items, runner::everything);
}
template <int THREADS, class T, int N, class O>
void StoreDirectStriped(int thread, O to, T (&items)[N], int valid = runner::everything)
{
    runner::store_items(thread, THREADS, to, items, valid);
}
template <class T, int N, class O>
void StoreDirectWarpStriped(int thread, O to, T (&items)[N], int valid = runner::everything)
{
    runner::store_items(runner::warp_first(thread, N), 32, to, items, valid);
}

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

/* Of a blocked arrangement, or a striped one with BLOCK_STORE_STRIPED. */
template <class T, int X, int N, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int Y = 1,
          int Z = 1, int ARCH = 0>
class BlockStore
{
    typedef runner::block_shape<X, Y, Z> shape;
    typedef BlockExchange<T, X, N, false, Y, Z> exchange;
    enum {
        transposes = ALGORITHM == BLOCK_STORE_TRANSPOSE,
        warp_transposes = ALGORITHM == BLOCK_STORE_WARP_TRANSPOSE ||
                          ALGORITHM == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
    };
    static_assert(!warp_transposes || shape::threads % 32 == 0, "whole warps transpose");
    typedef std::conditional_t<transposes || warp_transposes, typename exchange::TempStorage,
                               NullType>
        storage;

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockStore() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockStore(TempStorage &temp) : temp(temp.Alias())
    {
    }

    template <class O> void Store(O to, T (&items)[N])
    {
        Store(to, items, runner::everything);
    }
    template <class O> void Store(O to, T (&items)[N], int valid)
    {
        if constexpr (transposes) {
            exchange(temp).BlockedToStriped(items);
            StoreDirectStriped<shape::threads>(block.thread, to, items, valid);
        } else if constexpr (warp_transposes) {
            exchange(temp).BlockedToWarpStriped(items);
            StoreDirectWarpStriped(block.thread, to, items, valid);
        } else if constexpr (ALGORITHM == BLOCK_STORE_STRIPED)
            StoreDirectStriped<shape::threads>(block.thread, to, items, valid);
        else
            StoreDirectBlocked(block.thread, to, items, valid);
    }

  private:
    storage &temp;
    shape block;
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
