/* cooperative_groups.h of the CPU runner. Groups of lanes are masks of a warp; larger tiles are in
 * cooperative_groups/tiles.h. */
#ifndef CUCC_COOPERATIVE_GROUPS_H
#define CUCC_COOPERATIVE_GROUPS_H
#include "cucc_set_aside.h"

#include "cuda_runtime.h"
#include <type_traits>

namespace cooperative_groups
{
namespace details
{
/* A value of any size, eight bytes at a time. */
template <class T> T shuffle(unsigned int mask, const T &value, int lane)
{
    constexpr size_t words = (sizeof(T) + 7) / 8;
    uint64_t bits[words] = {};
    memcpy(bits, (const void *)&value, sizeof value);
    for (uint64_t &word : bits) word = cucc::shuffle(mask, word, lane);
    T result;
    memcpy((void *)&result, bits, sizeof result);
    return result;
}
inline unsigned long long rank_in(uint3 at, dim3 all)
{
    return ((unsigned long long)at.z * all.y + at.y) * all.x + at.x;
}
} // namespace details

/* ---- the block ------------------------------------------------------------------------------- */

/* What functions take that do not care which group it is. */
class thread_group
{
  public:
    enum kind_of_group { lanes, block, grid, cluster };

  protected:
    kind_of_group kind;
    unsigned int mask; /* of lanes */

  public:
    thread_group(kind_of_group kind, unsigned int mask) : kind(kind), mask(mask)
    {
    }
    unsigned long long size() const
    {
        unsigned long long threads = (unsigned long long)blockDim.x * blockDim.y * blockDim.z;
        dim3 c = cucc::cluster_dimensions();
        if (kind == lanes) return (unsigned long long)__popc(mask);
        if (kind == cluster) return threads * c.x * c.y * c.z;
        return kind == block ? threads : threads * gridDim.x * gridDim.y * gridDim.z;
    }
    unsigned long long num_threads() const
    {
        return size();
    }
    unsigned long long thread_rank() const
    {
        unsigned long long threads = (unsigned long long)blockDim.x * blockDim.y * blockDim.z;
        if (kind == lanes) return (unsigned long long)__popc(mask & cucc::special_lanemask_lt());
        if (kind == cluster) return cucc::cluster_rank() * threads + cucc::thread_number();
        if (kind == block) return cucc::thread_number();
        return details::rank_in(blockIdx, gridDim) * threads + cucc::thread_number();
    }
    void sync(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
    {
        if (kind == lanes)
            __syncwarp(mask);
        else if (kind == block)
            cucc::barrier_at(file, line, 0);
        else if (kind == grid)
            cucc::grid_barrier();
        else
            cucc::cluster_barrier();
    }
    bool is_valid() const
    {
        return kind != grid || cucc::is_cooperative();
    }
    unsigned int cucc_mask() const
    {
        return mask;
    }
};

class thread_block : public thread_group
{
  public:
    thread_block() : thread_group(block, 0)
    {
    }
    static unsigned int size()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    static unsigned int num_threads()
    {
        return size();
    }
    static unsigned int thread_rank()
    {
        return cucc::thread_number();
    }
    static dim3 group_index()
    {
        return blockIdx;
    }
    static dim3 thread_index()
    {
        return threadIdx;
    }
    static dim3 group_dim()
    {
        return blockDim;
    }
    static dim3 dim_threads()
    {
        return blockDim;
    }
    struct arrival_token {
    };
    arrival_token barrier_arrive() const
    {
        return {};
    }
    void barrier_wait(arrival_token, const char *file = __builtin_FILE(),
                      int line = __builtin_LINE()) const
    {
        cucc::barrier_at(file, line, 0);
    }
};
inline thread_block this_thread_block()
{
    return thread_block();
}

/* ---- the cluster and the grid ---------------------------------------------------------------- */

class cluster_group : public thread_group
{
  public:
    cluster_group() : thread_group(cluster, 0)
    {
    }
    static unsigned int block_rank()
    {
        return cucc::cluster_rank();
    }
    static dim3 dim_blocks()
    {
        return cucc::cluster_dimensions();
    }
    static unsigned int num_blocks()
    {
        dim3 c = dim_blocks();
        return c.x * c.y * c.z;
    }
    static dim3 block_index()
    {
        dim3 c = dim_blocks();
        unsigned int rank = block_rank();
        return dim3(rank % c.x, rank / c.x % c.y, rank / c.x / c.y);
    }
    static dim3 dim_threads()
    {
        dim3 c = dim_blocks();
        return dim3(c.x * blockDim.x, c.y * blockDim.y, c.z * blockDim.z);
    }
    template <class T> static T *map_shared_rank(T *address, int rank)
    {
        return (T *)cucc::map_shared_rank((const void *)address, (unsigned int)rank);
    }
    static unsigned int query_shared_rank(const void *address)
    {
        return cucc::query_shared_rank(address);
    }
    struct arrival_token {
    };
    /* All that arrive also wait, so the whole barrier is in the wait. */
    static arrival_token barrier_arrive()
    {
        return {};
    }
    static void barrier_wait(arrival_token)
    {
        cucc::cluster_barrier();
    }
    static void barrier_wait()
    {
        cucc::cluster_barrier();
    }
    static void sync()
    {
        cucc::cluster_barrier();
    }
};
inline cluster_group this_cluster()
{
    return cluster_group();
}

class grid_group : public thread_group
{
  public:
    grid_group() : thread_group(grid, 0)
    {
    }
    static unsigned long long block_rank()
    {
        return details::rank_in(blockIdx, gridDim);
    }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static dim3 dim_blocks()
    {
        return gridDim;
    }
    static dim3 group_dim()
    {
        return gridDim;
    }
    static dim3 block_index()
    {
        return blockIdx;
    }
    static void sync()
    {
        cucc::grid_barrier();
    }
};
inline grid_group this_grid()
{
    return grid_group();
}

/* ---- lanes ----------------------------------------------------------------------------------- */

class lane_group : public thread_group
{
  public:
    explicit lane_group(unsigned int mask) : thread_group(lanes, mask)
    {
    }
    unsigned int size() const
    {
        return (unsigned int)__popc(mask);
    }
    unsigned int num_threads() const
    {
        return size();
    }
    unsigned int thread_rank() const
    {
        return (unsigned int)__popc(mask & cucc::special_lanemask_lt());
    }
    void sync() const
    {
        __syncwarp(mask);
    }
    template <class T> T shfl(T value, unsigned int rank) const
    {
        return details::shuffle(mask, value, lane_of(rank % size()));
    }
    template <class T> T shfl_up(T value, unsigned int delta) const
    {
        unsigned int rank = thread_rank();
        return details::shuffle(mask, value, lane_of(rank < delta ? rank : rank - delta));
    }
    template <class T> T shfl_down(T value, unsigned int delta) const
    {
        unsigned int rank = thread_rank();
        return details::shuffle(mask, value, lane_of(rank + delta >= size() ? rank : rank + delta));
    }
    template <class T> T shfl_xor(T value, unsigned int lanes_mask) const
    {
        unsigned int rank = thread_rank(), other = rank ^ lanes_mask;
        return details::shuffle(mask, value, lane_of(other >= size() ? rank : other));
    }
    int any(int predicate) const
    {
        return __any_sync(mask, predicate);
    }
    int all(int predicate) const
    {
        return __all_sync(mask, predicate);
    }
    unsigned int ballot(int predicate) const
    {
        return ranks_of(__ballot_sync(mask, predicate));
    }
    template <class T> unsigned int match_any(T value) const
    {
        return ranks_of(__match_any_sync(mask, value));
    }
    template <class T> unsigned int match_all(T value, int &all) const
    {
        return ranks_of(__match_all_sync(mask, value, &all));
    }

  private:
    int lane_of(unsigned int rank) const
    {
        unsigned int left = mask;
        while (rank--) left &= left - 1;
        return __ffs((int)left) - 1;
    }
    unsigned int ranks_of(unsigned int lanes_set) const
    {
        unsigned int result = 0, bit = 1;
        for (unsigned int left = mask; left; left &= left - 1, bit <<= 1)
            if (lanes_set & (left & -left)) result |= bit;
        return result;
    }
};

class coalesced_group : public lane_group
{
    unsigned int rank_of_group, groups;

  public:
    explicit coalesced_group(unsigned int mask, unsigned int rank = 0, unsigned int groups = 1)
        : lane_group(mask), rank_of_group(rank), groups(groups)
    {
    }
    unsigned int meta_group_rank() const
    {
        return rank_of_group;
    }
    unsigned int meta_group_size() const
    {
        return groups;
    }
};
/* The lanes that come here together. */
inline coalesced_group coalesced_threads(int place = __builtin_LINE())
{
    return coalesced_group(cucc::converged(place));
}

namespace details
{
template <unsigned int tile_size> class tile_of_lanes : public coalesced_group
{
  public:
    tile_of_lanes(unsigned int mask, unsigned int rank, unsigned int groups)
        : coalesced_group(mask, rank, groups)
    {
    }
    static constexpr unsigned int size()
    {
        return tile_size;
    }
    static constexpr unsigned int num_threads()
    {
        return tile_size;
    }
    unsigned int thread_rank() const
    {
        return (unsigned int)cucc::lane_number() % tile_size;
    }
    template <class T> T shfl(T value, unsigned int rank) const
    {
        int base = cucc::lane_number() & ~(int)(tile_size - 1);
        return details::shuffle(mask, value, base + (int)(rank % tile_size));
    }
    template <class T> T shfl_up(T value, unsigned int delta) const
    {
        return shfl(value, thread_rank() < delta ? thread_rank() : thread_rank() - delta);
    }
    template <class T> T shfl_down(T value, unsigned int delta) const
    {
        unsigned int other = thread_rank() + delta;
        return shfl(value, other >= tile_size ? thread_rank() : other);
    }
    template <class T> T shfl_xor(T value, unsigned int lanes_mask) const
    {
        return shfl(value, thread_rank() ^ lanes_mask);
    }
};
} // namespace details
} // namespace cooperative_groups

#include "cooperative_groups/tiles.h"

namespace cooperative_groups
{
/* ---- partitions ------------------------------------------------------------------------------ */

namespace details
{
inline unsigned int mask_of_tile(unsigned int tile_size)
{
    unsigned int base = (unsigned int)cucc::lane_number() & ~(tile_size - 1);
    return (tile_size == 32 ? ~0u : (1u << tile_size) - 1) << base;
}
/* The lanes of GROUP whose rank in it belongs to the same tile as the caller's. */
inline unsigned int lanes_of_tile(const lane_group &group, unsigned int tile_size)
{
    unsigned int first = group.thread_rank() / tile_size * tile_size, result = 0, rank = 0;
    for (unsigned int left = group.cucc_mask(); left; left &= left - 1, rank++)
        if (rank >= first && rank < first + tile_size) result |= left & -left;
    return result;
}
} // namespace details

template <unsigned int tile_size, class G>
thread_block_tile<tile_size, G> tiled_partition(const G &group)
{
    static_assert(tile_size > 0 && tile_size <= 1024 && !(tile_size & (tile_size - 1)),
                  "cucc: tiles have 1, 2, 4, ... or 1024 threads");
    if constexpr (tile_size > 32) {
        static_assert(std::is_same_v<G, thread_block>,
                      "cucc: tiles of more than 32 threads are parts of a thread_block");
        return thread_block_tile<tile_size, G>(details::memory_of_tiles());
    } else {
        unsigned int rank = (unsigned int)group.thread_rank();
        unsigned int groups = ((unsigned int)group.size() + tile_size - 1) / tile_size;
        return thread_block_tile<tile_size, G>(details::mask_of_tile(tile_size), rank / tile_size,
                                               groups);
    }
}
inline coalesced_group tiled_partition(const coalesced_group &group, unsigned int tile_size)
{
    return coalesced_group(details::lanes_of_tile(group, tile_size),
                           group.thread_rank() / tile_size,
                           (group.size() + tile_size - 1) / tile_size);
}
inline thread_group tiled_partition(const thread_group &group, unsigned int tile_size)
{
    if (tile_size > 32) cucc::trap("tiles have at most 32 threads");
    if (group.cucc_mask()) return tiled_partition(coalesced_group(group.cucc_mask()), tile_size);
    return thread_group(thread_group::lanes, details::mask_of_tile(tile_size));
}
inline coalesced_group binary_partition(const lane_group &group, bool predicate)
{
    unsigned int yes = __ballot_sync(group.cucc_mask(), predicate);
    return coalesced_group(predicate ? yes : group.cucc_mask() & ~yes, predicate, 2);
}
template <class T> coalesced_group labeled_partition(const lane_group &group, T label)
{
    return coalesced_group(__match_any_sync(group.cucc_mask(), label));
}

template <class G>
void sync(const G &group, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    if constexpr (std::is_same_v<G, thread_block> || std::is_same_v<G, thread_group>)
        group.sync(file, line);
    else
        group.sync();
}
template <class G, class F> void invoke_one(const G &group, F function)
{
    if (group.thread_rank() == 0) function();
}

template <class T> struct plus {
    T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <class T> struct less {
    T operator()(T a, T b) const
    {
        return b < a ? b : a;
    }
};
template <class T> struct greater {
    T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};
template <class T> struct bit_and {
    T operator()(T a, T b) const
    {
        return a & b;
    }
};
template <class T> struct bit_or {
    T operator()(T a, T b) const
    {
        return a | b;
    }
};
template <class T> struct bit_xor {
    T operator()(T a, T b) const
    {
        return a ^ b;
    }
};
} // namespace cooperative_groups
#include "cucc_give_back.h"

#endif
