/* CUB for the runner: moves the items of a block's threads between arrangements, through shared memory. Item
 * I of thread T is blocked T * N + I, striped I * threads + T; warp-striped is striped within a warp. */
#ifndef CUCC_CUB_BLOCK_EXCHANGE_CUH
#define CUCC_CUB_BLOCK_EXCHANGE_CUH
#include "../../cucc_set_aside.h"

#include "block_shape.h"

namespace cub
{
template <class T, int X, int N, bool TIME_SLICED = false, int Y = 1, int Z = 1, int ARCH = 0>
class BlockExchange
{
    typedef runner::block_shape<X, Y, Z> shape;
    struct storage {
        T items[shape::threads * N];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockExchange() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockExchange(TempStorage &temp) : temp(temp.Alias())
    {
    }

    template <class U> void StripedToBlocked(const T (&in)[N], U (&out)[N])
    {
        for (int i = 0; i < N; i++) temp.items[striped(i)] = in[i];
        cucc::barrier("cub::BlockExchange");
        for (int i = 0; i < N; i++) out[i] = temp.items[blocked(i)];
    }
    template <class U> void BlockedToStriped(const T (&in)[N], U (&out)[N])
    {
        for (int i = 0; i < N; i++) temp.items[blocked(i)] = in[i];
        cucc::barrier("cub::BlockExchange");
        for (int i = 0; i < N; i++) out[i] = temp.items[striped(i)];
    }
    template <class U> void WarpStripedToBlocked(const T (&in)[N], U (&out)[N])
    {
        for (int i = 0; i < N; i++) temp.items[warp_striped(i)] = in[i];
        __syncwarp(block.mask);
        for (int i = 0; i < N; i++) out[i] = temp.items[blocked(i)];
    }
    template <class U> void BlockedToWarpStriped(const T (&in)[N], U (&out)[N])
    {
        for (int i = 0; i < N; i++) temp.items[blocked(i)] = in[i];
        __syncwarp(block.mask);
        for (int i = 0; i < N; i++) out[i] = temp.items[warp_striped(i)];
    }
    template <class U, class R>
    void ScatterToBlocked(const T (&in)[N], U (&out)[N], const R (&ranks)[N])
    {
        for (int i = 0; i < N; i++) temp.items[ranks[i]] = in[i];
        cucc::barrier("cub::BlockExchange");
        for (int i = 0; i < N; i++) out[i] = temp.items[blocked(i)];
    }
    template <class U, class R>
    void ScatterToStriped(const T (&in)[N], U (&out)[N], const R (&ranks)[N])
    {
        for (int i = 0; i < N; i++) temp.items[ranks[i]] = in[i];
        cucc::barrier("cub::BlockExchange");
        for (int i = 0; i < N; i++) out[i] = temp.items[striped(i)];
    }

    void StripedToBlocked(T (&items)[N])
    {
        StripedToBlocked(items, items);
    }
    void BlockedToStriped(T (&items)[N])
    {
        BlockedToStriped(items, items);
    }
    void WarpStripedToBlocked(T (&items)[N])
    {
        WarpStripedToBlocked(items, items);
    }
    void BlockedToWarpStriped(T (&items)[N])
    {
        BlockedToWarpStriped(items, items);
    }
    template <class R> void ScatterToBlocked(T (&items)[N], const R (&ranks)[N])
    {
        ScatterToBlocked(items, items, ranks);
    }
    template <class R> void ScatterToStriped(T (&items)[N], const R (&ranks)[N])
    {
        ScatterToStriped(items, items, ranks);
    }

  private:
    storage &temp;
    shape block;

    int blocked(int i) const
    {
        return block.thread * N + i;
    }
    int striped(int i) const
    {
        return i * shape::threads + block.thread;
    }
    int warp_striped(int i) const
    {
        return block.warp * 32 * N + i * block.lanes + block.lane;
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
