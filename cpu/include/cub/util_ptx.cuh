/* CUB for the runner: numbers of lanes and warps, and shuffles of values of any size. */
#ifndef CUCC_CUB_UTIL_PTX_CUH
#define CUCC_CUB_UTIL_PTX_CUH
#include "../cucc_set_aside.h"

#include "util_type.cuh"

#define CUB_PTX_WARP_THREADS       32
#define CUB_PTX_LOG_WARP_THREADS   5
#define CUB_WARP_THREADS(arch)     32
#define CUB_LOG_WARP_THREADS(arch) 5

namespace cub
{
inline unsigned int LaneId()
{
    return (unsigned int)cucc::lane_number();
}
inline unsigned int WarpId()
{
    return cucc::thread_number() / 32;
}
inline unsigned int LaneMaskLt()
{
    return cucc::special_lanemask_lt();
}
inline unsigned int LaneMaskLe()
{
    return cucc::special_lanemask_le();
}
inline unsigned int LaneMaskGt()
{
    return cucc::special_lanemask_gt();
}
inline unsigned int LaneMaskGe()
{
    return cucc::special_lanemask_ge();
}
inline void ThreadExit()
{
    cucc::trap("cub::ThreadExit");
}
inline void ThreadTrap()
{
    cucc::trap("cub::ThreadTrap");
}

/* The thread's number in a block of X by Y threads and so on. */
inline int RowMajorTid(int x, int y, int)
{
    return (int)((threadIdx.z * y + threadIdx.y) * x + threadIdx.x);
}

namespace runner
{
template <class T> T shuffle(unsigned int mask, const T &value, int source)
{
    const int size = (sizeof(T) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    uint64_t words[size] = {};
    memcpy(words, (const void *)&value, sizeof value);
    for (int i = 0; i < size; i++) words[i] = cucc::shuffle(mask, words[i], source);
    T result = value;
    memcpy((void *)&result, words, sizeof result);
    return result;
}

/* Where a logical warp of WIDTH lanes lies in its warp, and who takes part in its functions. */
template <int WIDTH> struct logical_warp {
    static_assert(WIDTH >= 1 && WIDTH <= 32, "a logical warp has 1 to 32 lanes");
    int number, lane, first;
    unsigned int mask;

    logical_warp()
    {
        int self = cucc::lane_number();
        number = self / WIDTH;
        lane = self % WIDTH;
        first = self - lane;
        mask = (unsigned int)(((1ull << WIDTH) - 1) << first);
    }
};
} // namespace runner

/* From a lane that is OFFSET before or behind, or has the number LANE, in a logical warp of WIDTH lanes;
 * FIRST and LAST are the lanes at its ends. A lane without a source keeps its value. */
template <int WIDTH, class T> T ShuffleUp(T value, int offset, int first, unsigned int mask)
{
    runner::logical_warp<WIDTH> warp;
    int source = warp.lane - offset;
    return runner::shuffle(mask, value, warp.first + (source < first ? warp.lane : source));
}
template <int WIDTH, class T> T ShuffleDown(T value, int offset, int last, unsigned int mask)
{
    runner::logical_warp<WIDTH> warp;
    int source = warp.lane + offset;
    return runner::shuffle(mask, value, warp.first + (source > last ? warp.lane : source));
}
template <int WIDTH, class T> T ShuffleIndex(T value, int lane, unsigned int mask)
{
    runner::logical_warp<WIDTH> warp;
    return runner::shuffle(mask, value, warp.first + lane % WIDTH);
}
} // namespace cub
#include "../cucc_give_back.h"

#endif
