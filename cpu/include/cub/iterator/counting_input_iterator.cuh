/* CUB for the runner: iterators that need no memory, or change what they read. */
#ifndef CUCC_CUB_ITERATORS_CUH
#define CUCC_CUB_ITERATORS_CUH
#include "../../cucc_set_aside.h"

#include "random_iterator.h"

namespace cub
{
template <class T, class O = ptrdiff_t>
struct CountingInputIterator : runner::random_iterator<CountingInputIterator<T, O>, T, O> {
    explicit CountingInputIterator(const T &value) : value(value)
    {
    }
    template <class N> T get(N n) const
    {
        return (T)(value + (T)n);
    }
    template <class N> void move(N n)
    {
        value = (T)(value + (T)n);
    }
    T place() const
    {
        return value;
    }

  private:
    T value;
};

template <class T, class O = ptrdiff_t>
struct ConstantInputIterator : runner::random_iterator<ConstantInputIterator<T, O>, T, O> {
    explicit ConstantInputIterator(T value, O offset = 0) : value(value), offset(offset)
    {
    }
    template <class N> T get(N) const
    {
        return value;
    }
    template <class N> void move(N n)
    {
        offset += (O)n;
    }
    O place() const
    {
        return offset;
    }

  private:
    T value;
    O offset;
};

template <class T, class Op, class I, class O = ptrdiff_t>
struct TransformInputIterator : runner::random_iterator<TransformInputIterator<T, Op, I, O>, T, O> {
    TransformInputIterator(I input, Op op) : op(op), input(input)
    {
    }
    template <class N> T get(N n) const
    {
        return (T)op(input[(O)n]);
    }
    template <class N> void move(N n)
    {
        input += (O)n;
    }
    I place() const
    {
        return input;
    }

  private:
    mutable Op op;
    I input;
};

/* Pairs of an index and the value there. */
template <class I, class O = ptrdiff_t, class V = runner::value_of<I>>
struct ArgIndexInputIterator
    : runner::random_iterator<ArgIndexInputIterator<I, O, V>, KeyValuePair<O, V>, O> {
    ArgIndexInputIterator(I input, O offset = 0) : input(input), offset(offset)
    {
    }
    template <class N> KeyValuePair<O, V> get(N n) const
    {
        return KeyValuePair<O, V>(offset + (O)n, (V)input[offset + (O)n]);
    }
    template <class N> void move(N n)
    {
        offset += (O)n;
    }
    O place() const
    {
        return offset;
    }
    void normalize()
    {
        input += offset;
        offset = 0;
    }

  private:
    I input;
    O offset;
};

template <CacheLoadModifier MODIFIER, class T, class O = ptrdiff_t>
struct CacheModifiedInputIterator
    : runner::random_iterator<CacheModifiedInputIterator<MODIFIER, T, O>, T, O> {
    template <class Q> CacheModifiedInputIterator(Q *pointer) : pointer((const T *)pointer)
    {
    }
    template <class N> T get(N n) const
    {
        return ThreadLoad<MODIFIER>(pointer + n);
    }
    template <class N> void move(N n)
    {
        pointer += n;
    }
    const T *place() const
    {
        return pointer;
    }

  private:
    const T *pointer;
};

/* Takes what nobody wants. */
template <class O = ptrdiff_t> struct DiscardOutputIterator {
    typedef std::random_access_iterator_tag iterator_category;
    typedef void value_type;
    typedef O difference_type;
    typedef void reference;
    typedef void pointer;

    DiscardOutputIterator(O = 0)
    {
    }
    struct nowhere {
        template <class T> void operator=(const T &) const
        {
        }
    };
    nowhere operator*() const
    {
        return {};
    }
    template <class N> nowhere operator[](N) const
    {
        return {};
    }
    template <class N> DiscardOutputIterator operator+(N) const
    {
        return *this;
    }
    DiscardOutputIterator &operator++()
    {
        return *this;
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
