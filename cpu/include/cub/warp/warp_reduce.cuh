/* CUB for the runner: reductions over the lanes of a warp. The result is that of the first lane. */
#ifndef CUCC_CUB_WARP_REDUCE_CUH
#define CUCC_CUB_WARP_REDUCE_CUH
#include "../../cucc_set_aside.h"

#include "../thread/thread_operators.cuh"
#include "../util_ptx.cuh"

namespace cub
{
namespace runner
{
/* The values of lanes from LANE up to END of the lanes that begin at FIRST, in their order. A lane at END
 * or behind takes part, and keeps its value. */
template <class T, class Op>
T reduce_lanes(unsigned int mask, int first, int lane, int width, int end, T value, Op &op)
{
    for (int step = 1; step < width; step *= 2) {
        bool within = lane + step < width;
        T other = shuffle(mask, value, first + (within ? lane + step : lane));
        if (lane + step < end) value = op(value, other);
    }
    return value;
}
} // namespace runner

template <class T, int WIDTH = 32, int ARCH = 0> struct WarpReduce {
    struct TempStorage : Uninitialized<NullType> {
    };

    WarpReduce(TempStorage &)
    {
    }
    template <class Op> T Reduce(T value, Op op)
    {
        return Reduce(value, op, WIDTH);
    }
    template <class Op> T Reduce(T value, Op op, int valid_items)
    {
        return runner::reduce_lanes(warp.mask, warp.first, warp.lane, WIDTH, valid_items, value,
                                    op);
    }
    T Sum(T value)
    {
        return Reduce(value, cub::Sum());
    }
    T Sum(T value, int valid_items)
    {
        return Reduce(value, cub::Sum(), valid_items);
    }

    /* In segments that begin where a flag is set, or end there; in the first lane of each. */
    template <class Flag, class Op> T HeadSegmentedReduce(T value, Flag flag, Op op)
    {
        unsigned int heads = __ballot_sync(warp.mask, flag ? 1 : 0) >> warp.first;
        return Reduce(value, op, next(heads, warp.lane + 1, WIDTH));
    }
    template <class Flag, class Op> T TailSegmentedReduce(T value, Flag flag, Op op)
    {
        unsigned int tails = __ballot_sync(warp.mask, flag ? 1 : 0) >> warp.first;
        return Reduce(value, op, next(tails, warp.lane, WIDTH - 1) + 1);
    }
    template <class Flag> T HeadSegmentedSum(T value, Flag flag)
    {
        return HeadSegmentedReduce(value, flag, cub::Sum());
    }
    template <class Flag> T TailSegmentedSum(T value, Flag flag)
    {
        return TailSegmentedReduce(value, flag, cub::Sum());
    }

  private:
    runner::logical_warp<WIDTH> warp;

    static int next(unsigned int flags, int lane, int end)
    {
        while (lane < end && !(flags >> lane & 1)) lane++;
        return lane;
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
