/* CUB for the runner: what its iterators have in common. D has get(n), the value N places on, move(n), and
 * place(), a number by which two of them are compared. */
#ifndef CUCC_CUB_RANDOM_ITERATOR_H
#define CUCC_CUB_RANDOM_ITERATOR_H
#include "../../cucc_set_aside.h"

#include "../thread/thread_load.cuh"

namespace cub
{
namespace runner
{
template <class D, class T, class O> struct random_iterator {
    typedef D self_type;
    typedef std::random_access_iterator_tag iterator_category;
    typedef T value_type;
    typedef O difference_type;
    typedef T reference;
    typedef T *pointer;

    T operator*() const
    {
        return self().get(0);
    }
    template <class N> T operator[](N n) const
    {
        return self().get(n);
    }
    D &operator++()
    {
        return *this += 1;
    }
    D operator++(int)
    {
        D before = self();
        *this += 1;
        return before;
    }
    D &operator--()
    {
        return *this += -1;
    }
    D operator--(int)
    {
        D before = self();
        *this += -1;
        return before;
    }
    template <class N> D &operator+=(N n)
    {
        D &d = static_cast<D &>(*this);
        d.move(n);
        return d;
    }
    template <class N> D &operator-=(N n)
    {
        return *this += -(O)n;
    }
    template <class N> D operator+(N n) const
    {
        D moved = self();
        moved.move(n);
        return moved;
    }
    template <class N, std::enable_if_t<std::is_integral_v<N>, int> = 0> D operator-(N n) const
    {
        return *this + -(O)n;
    }
    O operator-(const D &b) const
    {
        return (O)(self().place() - b.place());
    }
    bool operator==(const D &b) const
    {
        return self().place() == b.place();
    }
    bool operator!=(const D &b) const
    {
        return !(*this == b);
    }
    bool operator<(const D &b) const
    {
        return self().place() < b.place();
    }

  private:
    const D &self() const
    {
        return static_cast<const D &>(*this);
    }
};
} // namespace runner
} // namespace cub
#include "../../cucc_give_back.h"

#endif
