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

/* What stands for Reduce where a kernel is loops over its threads (loops_cub.h), of values of at most 8 bytes. The
 * first thread comes first, and does the steps of all warps; the others find what these have left for them. */
template <class T> inline void cucc_block_put(cucc_exchange &x, int thread, T value)
{
    if constexpr (sizeof(T) <= sizeof(uint64_t)) ((T *)x.values)[thread] = value;
}
namespace cub
{
namespace runner
{
template <class T, class Op>
T reduce_block(cucc_exchange &x, int thread, dim3 block, int valid, Op op)
{
    if constexpr (sizeof(T) <= sizeof(uint64_t)) {
        T *values = (T *)x.values;
        const int threads = (int)(block.x * block.y * block.z);
        if (thread) return values[thread];
        for (int first = 0; first < threads; first += 32) {
            T *of_warp = values + first;
            const int lanes = CUB_MIN(32, threads - first), end = CUB_MIN(valid - first, lanes);
            for (int step = 1; step < lanes; step *= 2)
                for (int lane = 0; lane + step < end; lane++)
                    of_warp[lane] = op(of_warp[lane], of_warp[lane + step]);
        }
        T sum = values[0];
        for (int i = 32; i < threads && i < valid; i += 32) sum = op(sum, values[i]);
        return sum;
    }
    return T();
}
} // namespace runner
} // namespace cub
#define CUCC_OF_BLOCK(name, Op)                                                                \
    template <class T> inline const T &cucc_items_##name(const T &item)                        \
    {                                                                                          \
        return item;                                                                           \
    }                                                                                          \
    template <class T, int N> inline T cucc_items_##name(T(&items)[N])                         \
    {                                                                                          \
        return cub::ThreadReduce(items, cub::Op());                                            \
    }                                                                                          \
    template <class T>                                                                         \
    inline T cucc_block_##name(cucc_exchange &x, int thread, dim3 block, const T &, int valid) \
    {                                                                                          \
        return cub::runner::reduce_block<T>(x, thread, block, valid, cub::Op());               \
    }
CUCC_OF_BLOCK(sum, Sum)
CUCC_OF_BLOCK(max, Max)
CUCC_OF_BLOCK(min, Min)
#undef CUCC_OF_BLOCK
#include "../../cucc_give_back.h"

#endif
