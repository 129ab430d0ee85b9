/* CUB for the runner: moves the items of a warp's lanes between arrangements. Item I of lane L is blocked L * N + I,
 * striped I * WIDTH + L. */
#ifndef CUCC_CUB_WARP_EXCHANGE_CUH
#define CUCC_CUB_WARP_EXCHANGE_CUH
#include "../../cucc_set_aside.h"

#include "../util_ptx.cuh"

namespace cub
{
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

/* The fourth argument is an architecture or an algorithm, which are of no meaning here. */
template <class T, int N, int WIDTH = 32, int ALGORITHM = 0> class WarpExchange
{
    struct storage {
        T items[WIDTH * N];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    WarpExchange(TempStorage &temp) : temp(temp.Alias())
    {
    }

    template <class U> void BlockedToStriped(const T (&in)[N], U (&out)[N])
    {
        for (int i = 0; i < N; i++) temp.items[warp.lane * N + i] = in[i];
        take_striped(out);
    }
    template <class U> void StripedToBlocked(const T (&in)[N], U (&out)[N])
    {
        for (int i = 0; i < N; i++) temp.items[i * WIDTH + warp.lane] = in[i];
        __syncwarp(warp.mask);
        for (int i = 0; i < N; i++) out[i] = temp.items[warp.lane * N + i];
    }
    template <class U, class R>
    void ScatterToStriped(const T (&in)[N], U (&out)[N], const R (&ranks)[N])
    {
        for (int i = 0; i < N; i++) temp.items[ranks[i]] = in[i];
        take_striped(out);
    }
    template <class R> void ScatterToStriped(T (&items)[N], const R (&ranks)[N])
    {
        ScatterToStriped(items, items, ranks);
    }

  private:
    storage &temp;
    runner::logical_warp<WIDTH> warp;

    template <class U> void take_striped(U (&out)[N])
    {
        __syncwarp(warp.mask);
        for (int i = 0; i < N; i++) out[i] = temp.items[i * WIDTH + warp.lane];
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
