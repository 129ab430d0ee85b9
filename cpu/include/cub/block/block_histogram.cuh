/* CUB for the runner: histograms of a block's items, in memory of the program's. */
#ifndef CUCC_CUB_BLOCK_HISTOGRAM_CUH
#define CUCC_CUB_BLOCK_HISTOGRAM_CUH
#include "../../cucc_set_aside.h"

#include "block_shape.h"

namespace cub
{
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int X, int N, int BINS, BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT,
          int Y = 1, int Z = 1, int ARCH = 0>
class BlockHistogram
{
    typedef runner::block_shape<X, Y, Z> shape;

  public:
    struct TempStorage : Uninitialized<NullType> {
    };

    BlockHistogram()
    {
    }
    BlockHistogram(TempStorage &)
    {
    }

    template <class C> void InitHistogram(C (&bins)[BINS])
    {
        for (int i = block.thread; i < BINS; i += shape::threads) bins[i] = 0;
    }
    template <class C> void Composite(T (&items)[N], C (&bins)[BINS])
    {
        for (int i = 0; i < N; i++) __atomic_fetch_add(&bins[items[i]], 1, __ATOMIC_RELAXED);
    }
    template <class C> void Histogram(T (&items)[N], C (&bins)[BINS])
    {
        InitHistogram(bins);
        cucc::barrier("cub::BlockHistogram");
        Composite(items, bins);
    }

  private:
    shape block;
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
