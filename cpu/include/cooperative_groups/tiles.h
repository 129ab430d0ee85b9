/* Tiles of more than a warp, up to a block. Included by cooperative_groups.h. */
#ifndef CUCC_COOPERATIVE_GROUPS_TILES_H
#define CUCC_COOPERATIVE_GROUPS_TILES_H
#include "../cucc_set_aside.h"

namespace cooperative_groups
{
/* What a program sets aside for such tiles. The runner has its own memory for them. */
template <unsigned int threads = 1024> struct block_tile_memory {
};
template <unsigned int threads> thread_block this_thread_block(block_tile_memory<threads> &)
{
    return thread_block();
}

namespace details
{
/* How often threads of each tile have come to a sync of it, and a word of each thread for others. */
struct tile_memory {
    unsigned int arrived[16]; /* tiles of at least 64 threads */
    uint64_t words[1024];
};
/* All threads of a block come here before they use it. */
inline tile_memory *memory_of_tiles()
{
    tile_memory &memory = cucc::shared_variable<tile_memory, 0, tile_memory>("of large tiles");
    cucc::barrier_at(__FILE__, __LINE__, 0);
    if (cucc::thread_number() < 16) memory.arrived[cucc::thread_number()] = 0;
    cucc::barrier_at(__FILE__, __LINE__, 0);
    return &memory;
}

template <unsigned int tile_size> class tile_of_warps
{
    tile_memory *memory;
    unsigned int rank, groups;

  public:
    explicit tile_of_warps(tile_memory *memory)
        : memory(memory), rank(cucc::thread_number() / tile_size),
          groups((thread_block::size() + tile_size - 1) / tile_size)
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
        return cucc::thread_number() % tile_size;
    }
    unsigned int meta_group_rank() const
    {
        return rank;
    }
    unsigned int meta_group_size() const
    {
        return groups;
    }
    void sync() const
    {
        unsigned int *arrived = &memory->arrived[rank];
        unsigned int before = __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
        unsigned int all = (before / tile_size + 1) * tile_size;
        cucc::wait_until("a tile of several warps", [=] {
            return (int)(__atomic_load_n(arrived, __ATOMIC_SEQ_CST) - all) >= 0;
        });
    }
    template <class T> T shfl(T value, unsigned int from) const
    {
        constexpr size_t words = (sizeof(T) + 7) / 8;
        uint64_t bits[words] = {};
        memcpy(bits, (const void *)&value, sizeof value);
        for (uint64_t &word : bits) {
            memory->words[cucc::thread_number()] = word;
            sync();
            word = memory->words[rank * tile_size + from % tile_size];
            sync();
        }
        T result;
        memcpy((void *)&result, bits, sizeof result);
        return result;
    }
    int any(int predicate) const
    {
        return over_warps(__any_sync(~0u, predicate), [](int a, int b) { return a | b; });
    }
    int all(int predicate) const
    {
        return over_warps(__all_sync(~0u, predicate), [](int a, int b) { return a & b; });
    }
    /* The warps' values together, in order. */
    template <class T, class F> T over_warps(T value, F operation) const
    {
        T result = shfl(value, 0);
        for (unsigned int first = 32; first < tile_size; first += 32)
            result = operation(result, shfl(value, first));
        return result;
    }
    /* Those of the warps before the caller's together; for the first warp, any value. */
    template <class T, class F> T over_warps_before(T value, F operation) const
    {
        T result = shfl(value, 0);
        for (unsigned int first = 32; first < tile_size; first += 32) {
            T other = shfl(value, first);
            if (first < thread_rank() / 32 * 32) result = operation(result, other);
        }
        return result;
    }
};

template <class G> struct has_warps : std::false_type {
};
} // namespace details

/* As the base of one class for both, so that a function can deduce the size. */
template <unsigned int tile_size, class parent = void>
class thread_block_tile
    : public std::conditional_t<(tile_size > 32), details::tile_of_warps<tile_size>,
                                details::tile_of_lanes<tile_size>>
{
    using base = std::conditional_t<(tile_size > 32), details::tile_of_warps<tile_size>,
                                    details::tile_of_lanes<tile_size>>;

  public:
    using base::base;
    explicit thread_block_tile(const base &tile) : base(tile)
    {
    }
    /* A tile of the same threads is one of another parent, too. */
    template <class other>
    thread_block_tile(const thread_block_tile<tile_size, other> &t) : base((const base &)t)
    {
    }
};

namespace details
{
template <unsigned int tile_size, class parent>
struct has_warps<thread_block_tile<tile_size, parent>> : std::bool_constant<(tile_size > 32)> {
};
} // namespace details
} // namespace cooperative_groups
#include "../cucc_give_back.h"

#endif
