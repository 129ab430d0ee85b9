/* CUB for the runner: prefix sums and the like over the lanes of a warp. */
#ifndef CUCC_CUB_WARP_SCAN_CUH
#define CUCC_CUB_WARP_SCAN_CUH
#include "../../cucc_set_aside.h"

#include "../thread/thread_operators.cuh"
#include "../util_ptx.cuh"

namespace cub
{
namespace runner
{
/* The values of the lanes up to this one, which has the number LANE of those that begin at FIRST. */
template <class T, class Op>
T scan_lanes(unsigned int mask, int first, int lane, int width, T value, Op &op)
{
    for (int step = 1; step < width; step *= 2) {
        T other = shuffle(mask, value, first + (lane < step ? lane : lane - step));
        if (lane >= step) value = op(other, value);
    }
    return value;
}
} // namespace runner

/* The aggregates do not contain the initial value. Without one the first lane's exclusive result is what
 * it was. */
template <class T, int WIDTH = 32, int ARCH = 0> struct WarpScan {
    struct TempStorage : Uninitialized<NullType> {
    };

    WarpScan(TempStorage &)
    {
    }

    template <class Op> void InclusiveScan(T in, T &out, Op op)
    {
        out = runner::scan_lanes(warp.mask, warp.first, warp.lane, WIDTH, in, op);
    }
    template <class Op> void InclusiveScan(T in, T &out, Op op, T &aggregate)
    {
        InclusiveScan(in, out, op);
        aggregate = last(out);
    }
    void InclusiveSum(T in, T &out)
    {
        InclusiveScan(in, out, cub::Sum());
    }
    void InclusiveSum(T in, T &out, T &aggregate)
    {
        InclusiveScan(in, out, cub::Sum(), aggregate);
    }

    template <class Op> void ExclusiveScan(T in, T &out, Op op)
    {
        T inclusive;
        Scan(in, inclusive, out, op);
    }
    template <class Op> void ExclusiveScan(T in, T &out, Op op, T &aggregate)
    {
        T inclusive;
        Scan(in, inclusive, out, op);
        aggregate = last(inclusive);
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op)
    {
        T aggregate;
        ExclusiveScan(in, out, initial, op, aggregate);
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op, T &aggregate)
    {
        T inclusive = runner::scan_lanes(warp.mask, warp.first, warp.lane, WIDTH, in, op);
        T before = previous(inclusive);
        out = warp.lane ? (T)op(initial, before) : initial;
        aggregate = last(inclusive);
    }
    void ExclusiveSum(T in, T &out)
    {
        ExclusiveScan(in, out, T{}, cub::Sum());
    }
    void ExclusiveSum(T in, T &out, T &aggregate)
    {
        ExclusiveScan(in, out, T{}, cub::Sum(), aggregate);
    }

    template <class Op> void Scan(T in, T &inclusive, T &exclusive, Op op)
    {
        inclusive = runner::scan_lanes(warp.mask, warp.first, warp.lane, WIDTH, in, op);
        T before = previous(inclusive);
        if (warp.lane) exclusive = before;
    }
    template <class Op> void Scan(T in, T &inclusive, T &exclusive, T initial, Op op)
    {
        T until = runner::scan_lanes(warp.mask, warp.first, warp.lane, WIDTH, in, op);
        T before = previous(until);
        inclusive = op(initial, until);
        exclusive = warp.lane ? (T)op(initial, before) : initial;
    }
    void Sum(T in, T &inclusive, T &exclusive)
    {
        Scan(in, inclusive, exclusive, T{}, cub::Sum());
    }
    T Broadcast(T in, unsigned int lane)
    {
        return runner::shuffle(warp.mask, in, warp.first + (int)lane % WIDTH);
    }

  private:
    runner::logical_warp<WIDTH> warp;

    T previous(const T &value)
    {
        return runner::shuffle(warp.mask, value, warp.first + (warp.lane ? warp.lane - 1 : 0));
    }
    /* That of the last lane that is there: a block's last warp may be a part of one. */
    T last(const T &value)
    {
        unsigned int there = __ballot_sync(warp.mask, 1);
        return runner::shuffle(warp.mask, value, 31 - __clz((int)there));
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
