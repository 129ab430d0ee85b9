/* CUB for the runner: its function objects. */
#ifndef CUCC_CUB_THREAD_OPERATORS_CUH
#define CUCC_CUB_THREAD_OPERATORS_CUH
#include "../../cucc_set_aside.h"

#include "../util_type.cuh"

namespace cub
{
/* clang-format off */
struct Equality { template <class T, class U> bool operator()(T &&a, U &&b) const { return a == b; } };
struct Inequality { template <class T, class U> bool operator()(T &&a, U &&b) const { return a != b; } };
struct Sum { template <class T, class U> auto operator()(const T &a, const U &b) const { return a + b; } };
struct Difference { template <class T, class U> auto operator()(const T &a, const U &b) const { return a - b; } };
struct Division { template <class T, class U> auto operator()(const T &a, const U &b) const { return a / b; } };
/* clang-format on */

struct Max {
    template <class T, class U> std::common_type_t<T, U> operator()(const T &a, const U &b) const
    {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T, class U> std::common_type_t<T, U> operator()(const T &a, const U &b) const
    {
        return b < a ? b : a;
    }
};

/* Of pairs of an index and a value; of equal values the one with the smaller index. */
struct ArgMax {
    template <class T, class O>
    KeyValuePair<O, T> operator()(const KeyValuePair<O, T> &a, const KeyValuePair<O, T> &b) const
    {
        return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class T, class O>
    KeyValuePair<O, T> operator()(const KeyValuePair<O, T> &a, const KeyValuePair<O, T> &b) const
    {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

template <class B> struct CastOp {
    template <class A> B operator()(A &&a) const
    {
        return (B)a;
    }
};

template <class Op> struct InequalityWrapper {
    Op op;

    InequalityWrapper(Op op) : op(op)
    {
    }
    template <class T, class U> bool operator()(T &&a, U &&b)
    {
        return !op(a, b);
    }
};

template <class Op> struct SwizzleScanOp {
    Op op;

    SwizzleScanOp(Op op) : op(op)
    {
    }
    template <class T> T operator()(const T &a, const T &b)
    {
        return op(b, a);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
