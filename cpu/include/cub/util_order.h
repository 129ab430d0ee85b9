/* CUB for the runner: sorts of numbers of items, for all sorts that compare. Equal items stay in order. */
#ifndef CUCC_CUB_UTIL_ORDER_H
#define CUCC_CUB_UTIL_ORDER_H
#include "../cucc_set_aside.h"

#include <algorithm>
#include "util_type.cuh"

namespace cub
{
namespace runner
{
/* ORDER gets the numbers from 0 to COUNT, by the items that ITEMS gives for them. */
template <class O, class N, class Items, class Less>
void sort_order(O *order, N count, Items items, Less less)
{
    for (N i = 0; i < count; i++) order[i] = (O)i;
    std::sort(order, order + count, [&](O a, O b) {
        return less(items[a], items[b]) || (a < b && !less(items[b], items[a]));
    });
}

/* Parts of temporary memory, one behind the other. */
struct parts_of_memory {
    char *memory;
    size_t used = 0;

    template <class T> T *take(size_t count)
    {
        const size_t unit = 256, begin = used;
        used += (count * sizeof(T) + unit - 1) / unit * unit;
        return (T *)(memory + begin);
    }
};
} // namespace runner
} // namespace cub
#include "../cucc_give_back.h"

#endif
