/* Atomics: those of the scopes _block and _system are the same here. Included by cuda_runtime.h. */
#ifndef CUCC_ATOMICS_H
#define CUCC_ATOMICS_H

namespace cucc
{
void spin(); /* a compare-and-swap failed: lets another thread of the block run now and then */

#ifdef CUCC_CHECK /* CUDA's atomics order nothing: that is what fences are for */
enum { atomic_order = __ATOMIC_RELAXED };
#else
enum { atomic_order = __ATOMIC_SEQ_CST };
#endif

#ifdef CUCC_COUNT
void count_atomic(const void *address); /* --count */
#else
inline void count_atomic(const void *)
{
}
#endif

template <class T, class F> T atomic_update(T *address, F new_value)
{
    count_atomic((const void *)address);
    T seen, wanted;
    __atomic_load(address, &seen, __ATOMIC_RELAXED);
    do {
        wanted = new_value(seen);
    } while (
        !__atomic_compare_exchange(address, &seen, &wanted, true, atomic_order, __ATOMIC_RELAXED));
    return seen;
}
template <class T> T compare_and_swap(T *address, T compare, T value)
{
    count_atomic((const void *)address);
    T seen = compare;
    __atomic_compare_exchange(address, &seen, &value, false, atomic_order, __ATOMIC_RELAXED);
    if (memcmp(&seen, &compare, sizeof seen)) spin();
    return seen;
}
template <class T> T exchange(T *address, T value)
{
    count_atomic((const void *)address);
    T seen;
    __atomic_exchange(address, &value, &seen, atomic_order);
    if (!memcmp(&seen, &value, sizeof seen)) spin(); /* as a lock that is taken */
    return seen;
}
} // namespace cucc

/* clang-format off */
#define CUCC_ATOMIC_(name, T, new_value) \
    inline T name(T *address, T value) { return cucc::atomic_update(address, [=](T old) { return (T)(new_value); }); }
#define CUCC_ATOMIC(name, T, new_value)         \
    CUCC_ATOMIC_(name, T, new_value)            \
    CUCC_ATOMIC_(name##_block, T, new_value)    \
    CUCC_ATOMIC_(name##_system, T, new_value)
#define CUCC_EXCHANGE(T)                                                                          \
    inline T atomicExch(T *address, T value) { return cucc::exchange(address, value); }            \
    inline T atomicExch_block(T *address, T value) { return cucc::exchange(address, value); }      \
    inline T atomicExch_system(T *address, T value) { return cucc::exchange(address, value); }
#define CUCC_SWAP(T)                                                                                                \
    inline T atomicCAS(T *address, T compare, T value) { return cucc::compare_and_swap(address, compare, value); }   \
    inline T atomicCAS_block(T *address, T compare, T value) { return cucc::compare_and_swap(address, compare, value); } \
    inline T atomicCAS_system(T *address, T compare, T value) { return cucc::compare_and_swap(address, compare, value); }
#define CUCC_ORDERED(T)                                    \
    CUCC_ATOMIC(atomicMax, T, old > value ? old : value)   \
    CUCC_ATOMIC(atomicMin, T, old < value ? old : value)
#define CUCC_LOGICAL(T)                     \
    CUCC_ATOMIC(atomicOr, T, old | value)   \
    CUCC_ATOMIC(atomicAnd, T, old & value)  \
    CUCC_ATOMIC(atomicXor, T, old ^ value)

CUCC_ATOMIC(atomicAdd, int, (unsigned int)old + (unsigned int)value)
CUCC_ATOMIC(atomicAdd, unsigned int, old + value)
CUCC_ATOMIC(atomicAdd, unsigned long long, old + value)
CUCC_ATOMIC(atomicAdd, float, old + value)
CUCC_ATOMIC(atomicAdd, double, old + value)
CUCC_ATOMIC(atomicAdd, float2, (float2{old.x + value.x, old.y + value.y}))
CUCC_ATOMIC(atomicSub, int, (unsigned int)old - (unsigned int)value)
CUCC_ATOMIC(atomicSub, unsigned int, old - value)
CUCC_ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1)
CUCC_ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)
CUCC_ORDERED(int)
CUCC_ORDERED(unsigned int)
CUCC_ORDERED(long long)
CUCC_ORDERED(unsigned long long)
CUCC_LOGICAL(int)
CUCC_LOGICAL(unsigned int)
CUCC_LOGICAL(long long)
CUCC_LOGICAL(unsigned long long)
CUCC_EXCHANGE(int)
CUCC_EXCHANGE(unsigned int)
CUCC_EXCHANGE(unsigned long long)
CUCC_EXCHANGE(float)
CUCC_SWAP(int)
CUCC_SWAP(unsigned int)
CUCC_SWAP(unsigned long long)
CUCC_SWAP(unsigned short)
#undef CUCC_ATOMIC
#undef CUCC_ATOMIC_
#undef CUCC_EXCHANGE
#undef CUCC_SWAP
#undef CUCC_ORDERED
#undef CUCC_LOGICAL
/* clang-format on */

#endif
