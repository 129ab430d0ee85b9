/* CUB for the runner: loads and stores of a warp's tile. How the items travel is of no meaning here; their
 * places are. */
#ifndef CUCC_CUB_WARP_LOAD_CUH
#define CUCC_CUB_WARP_LOAD_CUH
#include "../../cucc_set_aside.h"

#include "../block/block_store.cuh"

namespace cub
{
enum WarpLoadAlgorithm {
    WARP_LOAD_DIRECT,
    WARP_LOAD_STRIPED,
    WARP_LOAD_VECTORIZE,
    WARP_LOAD_TRANSPOSE
};
enum WarpStoreAlgorithm {
    WARP_STORE_DIRECT,
    WARP_STORE_STRIPED,
    WARP_STORE_VECTORIZE,
    WARP_STORE_TRANSPOSE
};

template <class T, int N, WarpLoadAlgorithm ALGORITHM = WARP_LOAD_DIRECT, int WIDTH = 32,
          int ARCH = 0>
struct WarpLoad {
    struct TempStorage : Uninitialized<NullType> {
    };

    WarpLoad() = default;
    WarpLoad(TempStorage &)
    {
    }
    template <class I> void Load(I from, T (&items)[N], int valid = runner::everything)
    {
        const bool striped = ALGORITHM == WARP_LOAD_STRIPED;
        runner::load_items(striped ? warp.lane : warp.lane * N, striped ? WIDTH : 1, from, items,
                           valid);
    }
    template <class I, class U> void Load(I from, T (&items)[N], int valid, U otherwise)
    {
        runner::fill(items, otherwise);
        Load(from, items, valid);
    }

  private:
    runner::logical_warp<WIDTH> warp;
};

template <class T, int N, WarpStoreAlgorithm ALGORITHM = WARP_STORE_DIRECT, int WIDTH = 32,
          int ARCH = 0>
struct WarpStore {
    struct TempStorage : Uninitialized<NullType> {
    };

    WarpStore() = default;
    WarpStore(TempStorage &)
    {
    }
    template <class O> void Store(O to, T (&items)[N], int valid = runner::everything)
    {
        const bool striped = ALGORITHM == WARP_STORE_STRIPED;
        runner::store_items(striped ? warp.lane : warp.lane * N, striped ? WIDTH : 1, to, items,
                            valid);
    }

  private:
    runner::logical_warp<WIDTH> warp;
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
