/* Prefix sums and the like over the lanes of a group. */
#ifndef CUCC_COOPERATIVE_GROUPS_SCAN_H
#define CUCC_COOPERATIVE_GROUPS_SCAN_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{
template <class G, class T, class F> T inclusive_scan(const G &group, T value, F operation)
{
    lane_group lanes(group.cucc_mask() & cucc::live_lanes());
    unsigned int rank = lanes.thread_rank(), size = lanes.size();
    for (unsigned int step = 1; step < size; step *= 2) {
        T other = lanes.shfl_up(value, step);
        if (rank >= step) value = operation(other, value);
    }
    return value;
}
template <class G, class T> T inclusive_scan(const G &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
template <class G, class T, class F> T exclusive_scan(const G &group, T value, F operation)
{
    lane_group lanes(group.cucc_mask() & cucc::live_lanes());
    T before = lanes.shfl_up(inclusive_scan(group, value, operation), 1);
    return lanes.thread_rank() ? before : T();
}
template <class G, class T> T exclusive_scan(const G &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}
} // namespace cooperative_groups

#endif
