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

/* ---- the atomics of CUDA 12.8, which name their order and scope ------------------------------------ */

#define __NV_ATOMIC_RELAXED       0
#define __NV_ATOMIC_CONSUME       1
#define __NV_ATOMIC_ACQUIRE       2
#define __NV_ATOMIC_RELEASE       3
#define __NV_ATOMIC_ACQ_REL       4
#define __NV_ATOMIC_SEQ_CST       5
#define __NV_THREAD_SCOPE_THREAD  0
#define __NV_THREAD_SCOPE_BLOCK   1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE  3
#define __NV_THREAD_SCOPE_SYSTEM  4

namespace cucc
{
/* The order of an atomic is that of fences around it, which the checks know. */
template <class F> auto in_order(int order, F act)
{
    if (order != __NV_ATOMIC_RELAXED) __threadfence();
    auto seen = act();
    if (order != __NV_ATOMIC_RELAXED) __threadfence();
    return seen;
}
} // namespace cucc
#define CUCC_NV_ATOMIC(name, new_value)                                                        \
    template <class T, class V>                                                                \
    T __nv_atomic_fetch_##name(T *address, V given, int order, int = __NV_THREAD_SCOPE_SYSTEM) \
    {                                                                                          \
        T value = (T)given;                                                                    \
        return cucc::in_order(order, [=] {                                                     \
            return cucc::atomic_update(address, [=](T old) { return (T)(new_value); });        \
        });                                                                                    \
    }
CUCC_NV_ATOMIC(add, old + value)
CUCC_NV_ATOMIC(sub, old - value)
CUCC_NV_ATOMIC(and, old &value)
CUCC_NV_ATOMIC(or, old | value)
CUCC_NV_ATOMIC(xor, old ^ value)
CUCC_NV_ATOMIC(max, old > value ? old : value)
CUCC_NV_ATOMIC(min, old < value ? old : value)
#undef CUCC_NV_ATOMIC
template <class T, class V>
T __nv_atomic_exchange_n(T *address, V value, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    return cucc::in_order(order, [=] { return cucc::exchange(address, (T)value); });
}
template <class T, class V>
bool __nv_atomic_compare_exchange_n(T *address, T *expected, V value, bool, int order, int,
                                    int = __NV_THREAD_SCOPE_SYSTEM)
{
    T was = *expected;
    *expected =
        cucc::in_order(order, [=] { return cucc::compare_and_swap(address, was, (T)value); });
    return !memcmp(expected, &was, sizeof was);
}
template <class T> T __nv_atomic_load_n(const T *address, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    return cucc::in_order(order, [=] {
        T seen;
        cucc::spin(); /* for a loop that waits */
        __atomic_load(address, &seen, __ATOMIC_RELAXED);
        return seen;
    });
}
template <class T, class V>
void __nv_atomic_store_n(T *address, V given, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    T value = (T)given;
    if (order != __NV_ATOMIC_RELAXED) __threadfence();
    __atomic_store(address, &value, __ATOMIC_RELAXED);
}
inline void __nv_atomic_thread_fence(int, int = __NV_THREAD_SCOPE_SYSTEM)
{
    __threadfence();
}

/* ---- launches that depend on the one before: it has ended here ------------------------------------- */

inline void cudaGridDependencySynchronize()
{
}
inline void cudaTriggerProgrammaticLaunchCompletion()
{
}
#ifndef __clang__
#define __builtin_assume(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
