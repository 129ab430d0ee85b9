/* Warp functions of kernels that are loops over the threads of a block (loops_expand.h): each lane puts its
 * value where a later loop finds those of others. Included by cuda_runtime.h. */
#ifndef CUCC_LANES_H
#define CUCC_LANES_H

struct cucc_exchange {
    alignas(64) unsigned char values[1024 * sizeof(uint64_t)];
    unsigned int
        lanes[32]; /* of each warp: those that have put something, where not all threads come */
};

/* Who comes there: all threads; those that have not exited; those that take a branch. What another branch
 * may answer, and masks that name others, are done again by fibers, which know more. */
enum cucc_way_all { cucc_all };
enum cucc_way_alive { cucc_alive };
enum cucc_way_branch { cucc_branch };

namespace cucc
{
[[noreturn]] void leave_loops(); /* the block is done again by fibers; it has stored nothing yet */

/* threadIdx between the loops: whatever names it there does not compile, and the file goes without loops. */
struct no_thread {
};

/* Of a type that a kernel does not name (loops_list.h): whether what is done with it runs no code that waits, or asks
 * which thread runs. */
template <class T>
constexpr bool is_plain = std::is_scalar_v<T> ||
                          (std::is_trivially_copyable_v<T> && std::is_aggregate_v<T>);

/* A parameter that each thread divides by (loops_chunks.h): a product with its inverse, which the compiler does
 * for several threads at once. Half more than the number is at least 1 / (2 value) away from where the quotient
 * changes, and a double errs by 2^-20 / value at most. */
template <class T> struct whole_divisor {
    T value;
    double inverse;
    explicit whole_divisor(T value) : value(value), inverse(1 / (double)value)
    {
        if (__builtin_expect(value <= 0, 0)) leave_loops();
    }
    operator T() const
    {
        return value;
    }
};
/* A parameter that numbers are taken modulo of in a thread's own loop: most are below it already, as in
 * i = (i + 1) % n, and each waits for the last one. */
template <class T> struct ring_of {
    T size;
};
template <class T> inline ring_of<T> ring(T size)
{
    return {size};
}
template <class A, class T> inline auto operator%(const A &a, ring_of<T> by)
{
    typedef decltype(a % by.size) result;
    if constexpr (std::is_integral_v<A> && std::is_integral_v<T>) {
        const result number = (result)a, size = (result)by.size;
        return __builtin_expect(number >= 0 && number < size, 1) ? number : number % size;
    } else {
        return a % by.size;
    }
}
template <class T> inline T divisor(T value)
{
    return value;
}
inline whole_divisor<int> divisor(int value)
{
    return whole_divisor<int>(value);
}
inline whole_divisor<unsigned int> divisor(unsigned int value)
{
    return whole_divisor<unsigned int>(value);
}
inline int quotient(int a, double inverse)
{
    return (int)((a + (a < 0 ? -0.5 : 0.5)) * inverse);
}
inline unsigned int quotient(unsigned int a, double inverse)
{
    return (unsigned int)(int)(floor((a + 0.5) * inverse) - 0x1p31) + 0x80000000u;
}
template <class A, class T> inline auto operator/(const A &a, whole_divisor<T> by)
{
    typedef decltype(a / by.value) result;
    if constexpr (std::is_same_v<result, int> || std::is_same_v<result, unsigned int>)
        return quotient((result)a, by.inverse);
    else
        return a / by.value;
}
template <class A, class T> inline auto operator%(const A &a, whole_divisor<T> by)
{
    typedef decltype(a % by.value) result;
    if constexpr (std::is_same_v<result, int> || std::is_same_v<result, unsigned int>)
        return (result)a - quotient((result)a, by.inverse) * (result)by.value;
    else
        return a % by.value;
}

inline unsigned int present_lanes(int thread, dim3 block)
{
    int left = (int)(block.x * block.y * block.z) - (thread & ~31);
    return left >= 32 ? ~0u : (1u << left) - 1;
}

template <class W> inline unsigned int lanes_here(W, const cucc_exchange &x, int thread, dim3 block)
{
    if constexpr (std::is_same_v<W, cucc_way_all>) return present_lanes(thread, block);
    return x.lanes[thread / 32];
}

/* Of MASK, or of all if it is -1. */
template <class W>
inline unsigned int lanes_of(W way, const cucc_exchange &x, int thread, dim3 block, long long mask)
{
    unsigned int here = lanes_here(way, x, thread, block);
    if (mask == -1) return here;
    bool wrong = !((unsigned int)mask >> (thread & 31) & 1);
    if constexpr (std::is_same_v<W, cucc_way_branch>)
        wrong |= ((unsigned int)mask & present_lanes(thread, block) & ~here) != 0;
    if (__builtin_expect(wrong, 0)) leave_loops();
    return here & (unsigned int)mask;
}

template <class T> inline T value_of(const cucc_exchange &x, int thread)
{
    return ((const T *)x.values)[thread];
}

template <class W, class T>
inline T from_lane(W way, const cucc_exchange &x, int thread, dim3 block, long long mask,
                   int source)
{
    unsigned int lanes = lanes_of(way, x, thread, block, mask);
    source &= 31;
    T value = value_of<T>(x, (thread & ~31) + source);
    return lanes >> source & 1 ? value : T();
}

/* In a butterfly if as many lanes as a power of two take part, as the group's reduce does it. */
template <class W, class T, class F>
inline T reduced(W way, const cucc_exchange &x, int thread, dim3 block, long long mask, F operation)
{
    T value[32];
    int count = 0;
    for (unsigned int left = lanes_of(way, x, thread, block, mask); left; left &= left - 1)
        value[count++] = value_of<T>(x, (thread & ~31) + __builtin_ctz(left));
    if (count & (count - 1)) {
        for (int i = 1; i < count; i++) value[0] = operation(value[0], value[i]);
        return value[0];
    }
    for (int step = count / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++) value[i] = operation(value[i], value[i + step]);
    return value[0];
}
} // namespace cucc

template <class W> inline void cucc_clear(W, cucc_exchange &x, int thread)
{
    if constexpr (!std::is_same_v<W, cucc_way_all>) x.lanes[thread / 32] = 0;
}
template <class W, class T> inline void cucc_put(W, cucc_exchange &x, int thread, T value)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a warp function takes at most 8 bytes");
    ((T *)x.values)[thread] = value;
    if constexpr (!std::is_same_v<W, cucc_way_all>) x.lanes[thread / 32] |= 1u << thread % 32;
}

template <class W>
inline void cucc_check_mask(W way, const cucc_exchange &x, int thread, dim3 block, long long mask)
{
    cucc::lanes_of(way, x, thread, block, mask);
}

#define CUCC_LANES(name, source_lane, ...)                                               \
    template <class W, class T>                                                          \
    inline T name(W way, const cucc_exchange &x, int thread, dim3 block, long long mask, \
                  const T &, __VA_ARGS__, int width = 32)                                \
    {                                                                                    \
        int self = thread & 31, source = source_lane;                                    \
        return cucc::from_lane<W, T>(way, x, thread, block, mask, source);               \
    }
CUCC_LANES(cucc_shfl, (self & ~(width - 1)) + (lane & (width - 1)), int lane)
CUCC_LANES(cucc_shfl_up, self - (int)delta < (self & ~(width - 1)) ? self : self - (int)delta,
           unsigned int delta)
CUCC_LANES(cucc_shfl_down, self + (int)delta > (self | (width - 1)) ? self : self + (int)delta,
           unsigned int delta)
CUCC_LANES(cucc_shfl_xor, (self ^ lane) > (self | (width - 1)) ? self : self ^ lane, int lane)
#undef CUCC_LANES

template <class W, class T>
inline unsigned int cucc_ballot(W way, const cucc_exchange &x, int thread, dim3 block,
                                long long mask, const T &)
{
    unsigned int result = 0;
    for (unsigned int left = cucc::lanes_of(way, x, thread, block, mask); left; left &= left - 1)
        if ((int)cucc::value_of<T>(x, (thread & ~31) + __builtin_ctz(left)) != 0)
            result |= left & -left;
    return result;
}
template <class W, class T>
inline int cucc_any(W way, const cucc_exchange &x, int thread, dim3 block, long long mask,
                    const T &value)
{
    return cucc_ballot(way, x, thread, block, mask, value) != 0;
}
template <class W, class T>
inline int cucc_all_of(W way, const cucc_exchange &x, int thread, dim3 block, long long mask,
                       const T &value)
{
    return cucc_ballot(way, x, thread, block, mask, value) ==
           cucc::lanes_of(way, x, thread, block, mask);
}

#define CUCC_REDUCED(name, T_of_value, expression)                                                \
    template <class W, class T>                                                                   \
    inline T_of_value name(W way, const cucc_exchange &x, int thread, dim3 block, long long mask, \
                           const T &)                                                             \
    {                                                                                             \
        return (T_of_value)cucc::reduced<W, T>(way, x, thread, block, mask,                       \
                                               [](T a, T b) -> T { return expression; });         \
    }
CUCC_REDUCED(cucc_plus, T, a + b)
CUCC_REDUCED(cucc_less, T, b < a ? b : a)
CUCC_REDUCED(cucc_greater, T, a < b ? b : a)
CUCC_REDUCED(cucc_reduce_add, T, a + b)
CUCC_REDUCED(cucc_reduce_min, T, b < a ? b : a)
CUCC_REDUCED(cucc_reduce_max, T, a < b ? b : a)
#undef CUCC_REDUCED

#endif
