/* CUB for the runner: reductions over a block. The result is that of the first thread. Storage must not be
 * used again before a barrier, as on a GPU. */
#ifndef CUCC_CUB_BLOCK_REDUCE_CUH
#define CUCC_CUB_BLOCK_REDUCE_CUH
#include "../../cucc_set_aside.h"

#include "../warp/warp_reduce.cuh"
#include "block_shape.h"

namespace cub
{
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1, int ARCH = 0>
class BlockReduce
{
    typedef runner::block_shape<X, Y, Z> shape;
    struct storage {
        T of_warp[shape::warps];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockReduce() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockReduce(TempStorage &temp) : temp(temp.Alias())
    {
    }

    /* Of the first NUM_VALID threads' values. */
    template <class Op> T Reduce(T value, Op op, int num_valid)
    {
        int valid = num_valid - block.warp * 32;
        value = runner::reduce_lanes(block.mask, 0, block.lane, block.lanes,
                                     CUB_MIN(valid, block.lanes), value, op);
        if (block.lane == 0) temp.of_warp[block.warp] = value;
        cucc::barrier("cub::BlockReduce");
        if (block.thread == 0)
            for (int i = 1; i < shape::warps && i * 32 < num_valid; i++)
                value = op(value, temp.of_warp[i]);
        return value;
    }
    template <class Op> T Reduce(T value, Op op)
    {
        return Reduce(value, op, shape::threads);
    }
    template <int N, class Op> T Reduce(T (&values)[N], Op op)
    {
        return Reduce(cub::ThreadReduce(values, op), op);
    }

    T Sum(T value)
    {
        return Reduce(value, cub::Sum());
    }
    T Sum(T value, int num_valid)
    {
        return Reduce(value, cub::Sum(), num_valid);
    }
    template <int N> T Sum(T (&values)[N])
    {
        return Reduce(values, cub::Sum());
    }

  private:
    storage &temp;
    shape block;
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
