/* What kernels see: built-in variables, barriers, shared memory, warp functions, atomics and
 * intrinsics. Included by cuda_runtime.h. */
#ifndef CUCC_DEVICE_H
#define CUCC_DEVICE_H

#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(bytes)         __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __nv_pure__

/* Set by the runtime before each thread of a kernel is run or resumed. */
inline thread_local uint3 threadIdx = {0, 0, 0};
inline thread_local uint3 blockIdx = {0, 0, 0};
inline thread_local dim3 blockDim(1, 1, 1);
inline thread_local dim3 gridDim(1, 1, 1);
constexpr int warpSize = 32;

namespace cucc
{
/* Where a lambda has a constant copy of a thread_local variable, g++ 12 takes the value that this begins
 * with for it in the whole function; not if a function gives the value. */
template <class T> inline T value_of(const T &variable)
{
    return variable;
}

void barrier(const char *site);
int barrier(const char *site, int predicate); /* returns in how many threads it was not zero */

enum warp_function {
    warp_sync,
    warp_shuffle,
    warp_ballot,
    warp_match, /* lanes of the mask that gave the same value */
    warp_add,
    warp_and,
    warp_or,
    warp_xor,
    warp_min,
    warp_max,
    warp_min_signed,
    warp_max_signed,
    warp_table
};
uint64_t warp_exchange(warp_function function, unsigned int mask, uint64_t value, int source_lane);
/* The values of all lanes, until the warp calls it again. */
const uint64_t *warp_gather(unsigned int mask, uint64_t value);
void whole_warp(const char *function); /* a fault, where lanes of the warp are missing */
int lane_number();
unsigned int live_lanes(); /* of the warp: those that have not exited */
void in_step(int place);   /* waits until the lanes of the warp that can get here have come */
unsigned int converged(int place);      /* the same; which lanes have come */
void begin_thread(unsigned int number); /* in a loop over threads (loops.h) */

/* Of COUNT threads, how many have numbers of type T below BOUND. */
template <class T, class B> int threads_below(int count, B bound)
{
    typedef typename std::common_type<T, B>::type C;
    C end = (C)bound;
    return end <= (C)0 ? 0 : end < (C)count ? (int)end : count;
}

/* One more than the number of the thread that has the number BOUND, or 0. */
template <class T, class B> int threads_at(int count, B bound)
{
    typedef typename std::common_type<T, B>::type C;
    C number = (C)bound;
    return number < (C)0 || number >= (C)count ? 0 : (int)number + 1;
}
unsigned int thread_number(); /* of the current thread in its block */
unsigned int worker_number(); /* which stands for the multiprocessor */
unsigned int worker_count();
[[noreturn]] void trap(const char *sentence); /* ends the kernel with a fault */

/* A thread that waits for what others do lets them go on, and asks again. */
struct patience {
    unsigned int polls = 0;
    long since = 0;
    void yield(const char *waits_for);
};
template <class F> void wait_until(const char *waits_for, F condition)
{
    patience p;
    while (!condition()) p.yield(waits_for);
}

/* Grids and clusters. */
bool is_cooperative();
void grid_barrier();
void cluster_barrier();
unsigned int cluster_rank(); /* of the block */
dim3 cluster_dimensions();
void *map_shared_rank(const void *address, unsigned int rank);
unsigned int query_shared_rank(const void *address);
size_t dynamic_shared_size();
int barrier_at(const char *file, int line, int predicate);

/* Asynchronous copies are done at once. --check is told of each, and of what waits for it: OWNER is the
 * barrier or the pipeline that it was given, with the phase or stage; or null, the thread. */
#ifdef CUCC_CHECK
void copy_begins(const void *to, size_t size, const void *owner, uint32_t group);
void copies_commit();
void copies_wait_prior(size_t last);
void copies_arrived(const void *owner, uint32_t groups);
#else
inline void copy_begins(const void *, size_t, const void *, uint32_t)
{
}
inline void copies_commit()
{
}
inline void copies_wait_prior(size_t)
{
}
inline void copies_arrived(const void *, uint32_t)
{
}
#endif

int new_shared_slot();
void *shared_memory(const int &slot, size_t size, const char *name);
void *dynamic_shared_memory();

/* __shared__ variable number INDEX of the declaration that the rewriter turned into the struct
 * DECLARATION. */
template <class declaration, int index> struct shared_slot {
    static const int number;
};
template <class declaration, int index>
const int shared_slot<declaration, index>::number = new_shared_slot();

template <class declaration, int index, class T> T &shared_variable(const char *name)
{
    return *static_cast<T *>(
        shared_memory(shared_slot<declaration, index>::number, sizeof(T), name));
}

/* A __shared__ variable outside of functions is one thread_local variable for each worker, which runs
 * one block at a time. */
void register_shared(void *(*address)(), size_t size, const char *name);
struct file_shared {
    file_shared(void *(*address)(), size_t size, const char *name)
    {
        register_shared(address, size, name);
    }
};

/* extern __shared__ T name[] becomes T *name = dynamic_shared(); outside of functions it becomes
 * dynamic_shared_array<T> name. */
struct dynamic_shared {
    template <class T> operator T *() const
    {
        return static_cast<T *>(dynamic_shared_memory());
    }
};
template <class T> struct dynamic_shared_array {
    operator T *() const
    {
        return static_cast<T *>(dynamic_shared_memory());
    }
    template <class U> explicit operator U *() const
    {
        return reinterpret_cast<U *>(dynamic_shared_memory());
    }
};
} // namespace cucc

/* ---- barriers and fences. The rewriter adds the call site as first argument. ----------------- */

inline void __syncthreads(const char *site)
{
    cucc::barrier(site);
}
inline int __syncthreads_count(const char *site, int predicate)
{
    return cucc::barrier(site, predicate);
}
inline int __syncthreads_or(const char *site, int predicate)
{
    return cucc::barrier(site, predicate) > 0;
}
inline int __syncthreads_and(const char *site, int predicate)
{
    return cucc::barrier(site, !predicate) == 0;
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan" /* counting borrows the thread sanitizer's hooks only */
inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#pragma GCC diagnostic pop
inline void __threadfence_block()
{
    __threadfence();
}
inline void __threadfence_system()
{
    __threadfence();
}
inline void __trap()
{
    cucc::trap("__trap");
}
inline void __brkpt()
{
}
inline void __nanosleep(unsigned int)
{
}
inline void __prof_trigger(int)
{
}

#ifdef CUCC_CHECK
namespace cucc
{
void note_branch(bool taken);
/* Around the conditions of if, for and while (rewrite.cpp). */
__attribute__((always_inline)) constexpr bool took(bool condition)
{
    if (!__builtin_is_constant_evaluated()) note_branch(condition);
    return condition;
}
} // namespace cucc
#endif

/* ---- special registers, which programs read by PTX ---------------------------------------------- */

/* clang-format off */
long long clock64();
namespace cucc
{
inline unsigned int special_bfe(unsigned int a, unsigned int at, unsigned int bits)
{
    return bits == 0 || at > 31 ? 0 : a >> at & (bits > 31 ? ~0u : (1u << bits) - 1);
}
inline unsigned int special_bfi(unsigned int a, unsigned int b, unsigned int at, unsigned int bits)
{
    unsigned int mask = at > 31 ? 0 : (bits > 31 ? ~0u : (1u << bits) - 1) << at;
    return (b & ~mask) | (at > 31 ? 0 : a << at & mask);
}
inline unsigned int special_laneid() { return (unsigned int)lane_number(); }
inline unsigned int special_warpid() { return thread_number() / 32; }
inline unsigned int special_nwarpid() { return 32; }
inline unsigned int special_smid() { return worker_number(); }
inline unsigned int special_nsmid() { return worker_count(); }
inline unsigned int special_clock() { return (unsigned int)clock64(); }
inline unsigned long long special_clock64() { return (unsigned long long)clock64(); }
inline unsigned long long special_globaltimer() { return (unsigned long long)clock64(); }
inline unsigned int special_lanemask_eq() { return 1u << lane_number(); }
inline unsigned int special_lanemask_lt() { return special_lanemask_eq() - 1; }
inline unsigned int special_lanemask_le() { return special_lanemask_lt() | special_lanemask_eq(); }
inline unsigned int special_lanemask_gt() { return ~special_lanemask_le(); }
inline unsigned int special_lanemask_ge() { return ~special_lanemask_lt(); }
} // namespace cucc
/* clang-format on */

/* ---- warp functions -------------------------------------------------------------------------- */

inline void __syncwarp(unsigned int mask = 0xffffffffu)
{
    cucc::warp_exchange(cucc::warp_sync, mask, 0, 0);
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    return (unsigned int)cucc::warp_exchange(cucc::warp_ballot, mask, predicate != 0, 0);
}
inline int __any_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}
inline unsigned int __activemask(int place = __builtin_LINE())
{
    return cucc::converged(place);
}

/* Before CUDA 9 warp functions were done by the lanes that came there together. */
inline int __any(int predicate, int place = __builtin_LINE())
{
    return __any_sync(cucc::converged(place), predicate);
}
inline int __all(int predicate, int place = __builtin_LINE())
{
    return __all_sync(cucc::converged(place), predicate);
}
inline unsigned int __ballot(int predicate, int place = __builtin_LINE())
{
    return __ballot_sync(cucc::converged(place), predicate);
}

namespace cucc
{
template <class T> T shuffle(unsigned int mask, T value, int source_lane)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_exchange(warp_shuffle, mask, bits, source_lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}
} // namespace cucc

/* A lane whose source would leave its segment of WIDTH lanes keeps its own value. */
template <class T> T __shfl_sync(unsigned int mask, T value, int lane, int width = warpSize)
{
    int segment = cucc::lane_number() & ~(width - 1);
    return cucc::shuffle(mask, value, segment + (lane & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize)
{
    int self = cucc::lane_number(), source = self - (int)delta;
    return cucc::shuffle(mask, value, source < (self & ~(width - 1)) ? self : source);
}
template <class T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize)
{
    int self = cucc::lane_number(), source = self + (int)delta;
    return cucc::shuffle(mask, value, source > (self | (width - 1)) ? self : source);
}
template <class T>
T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = warpSize)
{
    int self = cucc::lane_number(), source = self ^ lane_mask;
    return cucc::shuffle(mask, value, source > (self | (width - 1)) ? self : source);
}

template <class T> T __shfl(T value, int lane, int width = warpSize, int place = __builtin_LINE())
{
    return __shfl_sync(cucc::converged(place), value, lane, width);
}
template <class T>
T __shfl_up(T value, unsigned int delta, int width = warpSize, int place = __builtin_LINE())
{
    return __shfl_up_sync(cucc::converged(place), value, delta, width);
}
template <class T>
T __shfl_down(T value, unsigned int delta, int width = warpSize, int place = __builtin_LINE())
{
    return __shfl_down_sync(cucc::converged(place), value, delta, width);
}
template <class T>
T __shfl_xor(T value, int lane_mask, int width = warpSize, int place = __builtin_LINE())
{
    return __shfl_xor_sync(cucc::converged(place), value, lane_mask, width);
}

namespace cucc
{
template <class T> uint64_t bits_of(T value)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a warp function takes at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
} // namespace cucc

template <class T> unsigned int __match_any_sync(unsigned int mask, T value)
{
    return (unsigned int)cucc::warp_exchange(cucc::warp_match, mask, cucc::bits_of(value), 0);
}
template <class T> unsigned int __match_all_sync(unsigned int mask, T value, int *all)
{
    unsigned int same = __match_any_sync(mask, value), present = __ballot_sync(mask, 1);
    *all = __all_sync(mask, same == present);
    return *all ? present : 0;
}

#define CUCC_REDUCE(name, T, function)                                                      \
    inline T __reduce_##name##_sync(unsigned int mask, T value)                             \
    {                                                                                       \
        return (T)cucc::warp_exchange(cucc::function, mask, (uint64_t)(int64_t)(value), 0); \
    }
CUCC_REDUCE(add, int, warp_add)
CUCC_REDUCE(add, unsigned int, warp_add)
CUCC_REDUCE(min, int, warp_min_signed)
CUCC_REDUCE(min, unsigned int, warp_min)
CUCC_REDUCE(max, int, warp_max_signed)
CUCC_REDUCE(max, unsigned int, warp_max)
CUCC_REDUCE(and, unsigned int, warp_and)
CUCC_REDUCE(or, unsigned int, warp_or)
CUCC_REDUCE(xor, unsigned int, warp_xor)
#undef CUCC_REDUCE

#endif
