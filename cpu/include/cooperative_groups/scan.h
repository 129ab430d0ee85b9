/* Prefix sums and the like over the lanes of a group. */
#ifndef CUCC_COOPERATIVE_GROUPS_SCAN_H
#define CUCC_COOPERATIVE_GROUPS_SCAN_H
#include "../cucc_set_aside.h"

#include "../cooperative_groups.h"

namespace cooperative_groups
{
namespace details
{
template <class G, class T, class F> T scan_lanes(const G &group, T value, F operation)
{
    lane_group lanes(group.cucc_mask() & cucc::live_lanes());
    unsigned int rank = lanes.thread_rank(), size = lanes.size();
    for (unsigned int step = 1; step < size; step *= 2) {
        T other = lanes.shfl_up(value, step);
        if (rank >= step) value = operation(other, value);
    }
    return value;
}
} // namespace details

template <class G, class T, class F> T inclusive_scan(const G &group, T value, F operation)
{
    if constexpr (details::has_warps<G>::value) {
        T within = inclusive_scan(tiled_partition<32>(group), value, operation);
        T last = tiled_partition<32>(group).shfl(within, 31);
        T before = group.over_warps_before(last, operation);
        return group.thread_rank() < 32 ? within : operation(before, within);
    } else
        return details::scan_lanes(group, value, operation);
}
template <class G, class T> T inclusive_scan(const G &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
template <class G, class T, class F> T exclusive_scan(const G &group, T value, F operation)
{
    if constexpr (details::has_warps<G>::value) {
        T until = inclusive_scan(group, value, operation);
        T before = tiled_partition<32>(group).shfl_up(until, 1);
        T last = tiled_partition<32>(group).shfl(until, 31);
        T first = group.over_warps_before(last, [](T, T b) { return b; });
        if (group.thread_rank() == 0) return T();
        return group.thread_rank() % 32 ? before : first;
    } else {
        lane_group lanes(group.cucc_mask() & cucc::live_lanes());
        T before = lanes.shfl_up(inclusive_scan(group, value, operation), 1);
        return lanes.thread_rank() ? before : T();
    }
}
template <class G, class T> T exclusive_scan(const G &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}
} // namespace cooperative_groups
#include "../cucc_give_back.h"

#endif
