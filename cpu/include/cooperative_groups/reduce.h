/* Sums and the like over the lanes of a group. */
#ifndef CUCC_COOPERATIVE_GROUPS_REDUCE_H
#define CUCC_COOPERATIVE_GROUPS_REDUCE_H
#include "../cucc_set_aside.h"

#include "../cooperative_groups.h"

namespace cooperative_groups
{
namespace details
{
/* Every lane gets the result: by exchanges in a butterfly where the group has them. */
template <class G, class T, class F> T reduce_lanes(const G &group, T value, F operation)
{
    unsigned int size = (unsigned int)__popc(group.cucc_mask() & cucc::live_lanes());
    lane_group lanes(group.cucc_mask() & cucc::live_lanes());
    if (!(size & (size - 1))) {
        for (unsigned int step = size / 2; step > 0; step /= 2)
            value = operation(value, lanes.shfl_xor(value, step));
        return value;
    }
    T result = lanes.shfl(value, 0);
    for (unsigned int rank = 1; rank < size; rank++)
        result = operation(result, lanes.shfl(value, rank));
    return result;
}
} // namespace details

template <class G, class T, class F> T reduce(const G &group, T value, F operation)
{
    if constexpr (details::has_warps<G>::value)
        return group.over_warps(reduce(tiled_partition<32>(group), value, operation), operation);
    else
        return details::reduce_lanes(group, value, operation);
}
template <class G, class T> T reduce(const G &group, T value)
{
    return reduce(group, value, plus<T>());
}
} // namespace cooperative_groups
#include "../cucc_give_back.h"

#endif
