/* CUB for the runner: the small types that its parts share. NVIDIA's documentation of CUB says what they
 * mean; the code is the runner's own. */
#ifndef CUCC_CUB_UTIL_TYPE_CUH
#define CUCC_CUB_UTIL_TYPE_CUH
#include "../cucc_set_aside.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <iterator>
#include <limits>
#include <type_traits>
#include "version.cuh"

#define CUB_CPP_DIALECT 2017
#define CUB_RUNTIME_FUNCTION
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) < (b)) ? (b) : (a))

namespace cub
{
struct NullType {
    template <class T> NullType &operator=(const T &)
    {
        return *this;
    }
    bool operator==(const NullType &) const
    {
        return true;
    }
    bool operator!=(const NullType &) const
    {
        return false;
    }
};

template <int A> struct Int2Type {
    enum { VALUE = A };
};

template <int N> struct PowerOfTwo {
    enum { VALUE = (N & (N - 1)) == 0 };
};

template <int N> struct Log2 { /* rounded up */
    enum { VALUE = N <= 1 ? 0 : 1 + Log2<(N + 1) / 2>::VALUE };
};
template <> struct Log2<1> {
    enum { VALUE = 0 };
};
template <> struct Log2<0> {
    enum { VALUE = 0 };
};

/* Memory for a T whose constructor does not run, so that it can be __shared__ and in a union. */
template <class T> struct Uninitialized {
    alignas(T) unsigned char storage[sizeof(T)];

    T &Alias()
    {
        return *reinterpret_cast<T *>(storage);
    }
};

template <class K, class V> struct KeyValuePair {
    typedef K Key;
    typedef V Value;
    Key key;
    Value value;

    KeyValuePair() = default;
    KeyValuePair(const Key &key, const Value &value) : key(key), value(value)
    {
    }
    bool operator==(const KeyValuePair &b) const
    {
        return value == b.value && key == b.key;
    }
    bool operator!=(const KeyValuePair &b) const
    {
        return !(*this == b);
    }
};

/* Two arrays that a function may use in turn; SELECTOR says which one holds what is valid. */
template <class T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector;

    DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0)
    {
    }
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0)
    {
    }
    T *Current()
    {
        return d_buffers[selector];
    }
    T *Alternate()
    {
        return d_buffers[selector ^ 1];
    }
};

enum CacheLoadModifier {
    LOAD_DEFAULT,
    LOAD_CA,
    LOAD_CG,
    LOAD_CS,
    LOAD_CV,
    LOAD_LDG,
    LOAD_VOLATILE
};
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

namespace runner /* what programs do not name */
{
template <class I> using value_of = typename std::iterator_traits<I>::value_type;

/* The type of what is written through OUT; if it has none, that of what is read through IN. */
template <class Out, class In>
using output_of = std::conditional_t<std::is_void_v<value_of<Out>>, value_of<In>, value_of<Out>>;

/* The type in which OP adds up values of type B, beginning with an A. */
template <class Op, class A, class B>
using sum_of = std::decay_t<decltype(std::declval<Op &>()(std::declval<A>(), std::declval<B>()))>;

/* Numbers of items are whole numbers or enumerators; what counts up to such a number is no enumerator. */
template <class N>
using if_number = std::enable_if_t<std::is_integral_v<N> || std::is_enum_v<N>, int>;
template <class N> using whole = std::conditional_t<std::is_enum_v<N>, int, N>;

template <class T> T highest()
{
    if constexpr (std::numeric_limits<T>::is_specialized)
        return std::numeric_limits<T>::max();
    else
        return T(65504.0f); /* half's */
}
template <class T> T lowest()
{
    if constexpr (std::numeric_limits<T>::is_specialized)
        return std::numeric_limits<T>::lowest();
    else
        return T(-65504.0f);
}

/* The items from BEGIN up to END by OP, in their order, as a tree: rounding errors grow as slowly as
 * on a GPU. There is at least one. */
template <class T, class In, class N, class Op> T reduce_range(In in, N begin, N end, Op &op)
{
    const N leaf = 32;
    if (end - begin <= leaf) {
        T sum = in[begin];
        for (N i = begin + 1; i < end; i++) sum = op(sum, in[i]);
        return sum;
    }
    N middle = begin + (end - begin) / 2;
    T left = reduce_range<T>(in, begin, middle, op);
    return op(left, reduce_range<T>(in, middle, end, op));
}
} // namespace runner
} // namespace cub
#include "../cucc_give_back.h"

#endif
