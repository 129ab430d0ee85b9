/* CUB for the runner: what the parts for blocks have in common. */
#ifndef CUCC_CUB_BLOCK_SHAPE_H
#define CUCC_CUB_BLOCK_SHAPE_H
#include "../../cucc_set_aside.h"

#include "../thread/thread_operators.cuh"
#include "../thread/thread_reduce.cuh"
#include "../util_ptx.cuh"

namespace cub
{
namespace runner
{
/* A block of X by Y by Z threads, in warps of 32, the last one perhaps a part. */
template <int X, int Y, int Z> struct block_shape {
    enum { threads = X * Y * Z, warps = (threads + 31) / 32 };
    int thread, warp, lane, lanes;
    unsigned int mask;

    block_shape() : thread(RowMajorTid(X, Y, Z)), warp(thread / 32), lane(thread % 32)
    {
        lanes = CUB_MIN(32, threads - warp * 32);
        mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    }
};

/* The shared memory of those who give none. */
template <class Storage> Storage &private_storage()
{
    return cucc::shared_variable<Storage, 0, Storage>("storage of cub");
}
} // namespace runner
} // namespace cub
#include "../../cucc_give_back.h"

#endif
