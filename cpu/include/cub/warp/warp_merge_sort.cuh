/* CUB for the runner: sorts of the items of a warp's lanes by any comparison. */
#ifndef CUCC_CUB_WARP_MERGE_SORT_CUH
#define CUCC_CUB_WARP_MERGE_SORT_CUH
#include "../../cucc_set_aside.h"

#include "../block/block_merge_sort.cuh"

namespace cub
{
namespace runner
{
template <int WIDTH> struct warp_to_sort : logical_warp<WIDTH> {
    enum { threads = WIDTH };
    int thread = this->lane;

    void wait()
    {
        __syncwarp(this->mask);
    }
};
} // namespace runner

template <class K, int N, int WIDTH = 32, class V = NullType, int ARCH = 0>
class WarpMergeSort : public BlockMergeSortStrategy<K, V, N, runner::warp_to_sort<WIDTH>>
{
    typedef BlockMergeSortStrategy<K, V, N, runner::warp_to_sort<WIDTH>> strategy;

  public:
    using strategy::strategy;
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
