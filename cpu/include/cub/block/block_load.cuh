/* CUB for the runner: loads of a block's tile, with a bound and a value for what lies behind it. */
#ifndef CUCC_CUB_BLOCK_LOAD_CUH
#define CUCC_CUB_BLOCK_LOAD_CUH
#include "../../cucc_set_aside.h"

#include "block_exchange.cuh"

namespace cub
{
/* Where item I lies: from thread THREAD's FIRST on in steps. What is at VALID or behind is left alone. */
namespace runner
{
template <class T, int N, class I>
void load_items(int first, int step, I from, T (&items)[N], int valid)
{
    for (int i = 0; i < N; i++)
        if (first + i * step < valid) items[i] = from[first + i * step];
}
template <class T, int N, class O>
void store_items(int first, int step, O to, T (&items)[N], int valid)
{
    for (int i = 0; i < N; i++)
        if (first + i * step < valid) to[first + i * step] = items[i];
}
template <class T, int N, class U> void fill(T (&items)[N], const U &value)
{
    for (int i = 0; i < N; i++) items[i] = value;
}
inline int warp_first(int thread, int n)
{
    return thread / 32 * 32 * n + thread % 32;
}
const int everything = std::numeric_limits<int>::max();
} // namespace runner

/* The functions for threads that know their number. */
template <class T, int N, class I>
void LoadDirectBlocked(int thread, I from, T (&items)[N], int valid = runner::everything)
{
    runner::load_items(thread * N, 1, from, items, valid);
}
template <class T, int N, class I, class U>
void LoadDirectBlocked(int thread, I from, T (&items)[N], int valid, U otherwise)
{
    runner::fill(items, otherwise);
    runner::load_items(thread * N, 1, from, items, valid);
}
template <class T, int N> void LoadDirectBlockedVectorized(int thread, T *from, T (&items)[N])
{
    runner::load_items(thread * N, 1, from, items, runner::everything);
}
template <int THREADS, class T, int N, class I>
void LoadDirectStriped(int thread, I from, T (&items)[N], int valid = runner::everything)
{
    runner::load_items(thread, THREADS, from, items, valid);
}
template <int THREADS, class T, int N, class I, class U>
void LoadDirectStriped(int thread, I from, T (&items)[N], int valid, U otherwise)
{
    runner::fill(items, otherwise);
    runner::load_items(thread, THREADS, from, items, valid);
}
template <class T, int N, class I>
void LoadDirectWarpStriped(int thread, I from, T (&items)[N], int valid = runner::everything)
{
    runner::load_items(runner::warp_first(thread, N), 32, from, items, valid);
}
template <class T, int N, class I, class U>
void LoadDirectWarpStriped(int thread, I from, T (&items)[N], int valid, U otherwise)
{
    runner::fill(items, otherwise);
    runner::load_items(runner::warp_first(thread, N), 32, from, items, valid);
}

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

/* Gives a blocked arrangement, and a striped one with BLOCK_LOAD_STRIPED. */
template <class T, int X, int N, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int Y = 1,
          int Z = 1, int ARCH = 0>
class BlockLoad
{
    typedef runner::block_shape<X, Y, Z> shape;
    typedef BlockExchange<T, X, N, false, Y, Z> exchange;
    enum {
        transposes = ALGORITHM == BLOCK_LOAD_TRANSPOSE,
        warp_transposes = ALGORITHM == BLOCK_LOAD_WARP_TRANSPOSE ||
                          ALGORITHM == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
    };
    static_assert(!warp_transposes || shape::threads % 32 == 0, "whole warps transpose");
    typedef std::conditional_t<transposes || warp_transposes, typename exchange::TempStorage,
                               NullType>
        storage;

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockLoad() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockLoad(TempStorage &temp) : temp(temp.Alias())
    {
    }

    template <class I> void Load(I from, T (&items)[N])
    {
        Load(from, items, runner::everything);
    }
    template <class I> void Load(I from, T (&items)[N], int valid)
    {
        if constexpr (transposes) {
            LoadDirectStriped<shape::threads>(block.thread, from, items, valid);
            exchange(temp).StripedToBlocked(items);
        } else if constexpr (warp_transposes) {
            LoadDirectWarpStriped(block.thread, from, items, valid);
            exchange(temp).WarpStripedToBlocked(items);
        } else if constexpr (ALGORITHM == BLOCK_LOAD_STRIPED)
            LoadDirectStriped<shape::threads>(block.thread, from, items, valid);
        else
            LoadDirectBlocked(block.thread, from, items, valid);
    }
    template <class I, class U> void Load(I from, T (&items)[N], int valid, U otherwise)
    {
        runner::fill(items, otherwise);
        Load(from, items, valid);
    }

  private:
    storage &temp;
    shape block;
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
