/* CUB for the runner: differences of neighbours of a block's items, in blocked arrangement. */
#ifndef CUCC_CUB_BLOCK_ADJACENT_DIFFERENCE_CUH
#define CUCC_CUB_BLOCK_ADJACENT_DIFFERENCE_CUH
#include "../../cucc_set_aside.h"

#include "block_shape.h"

namespace cub
{
/* An item without a neighbour, or behind those that are valid, is copied. */
template <class T, int X, int Y = 1, int Z = 1, int ARCH = 0> class BlockAdjacentDifference
{
    typedef runner::block_shape<X, Y, Z> shape;
    struct storage {
        T first[shape::threads], last[shape::threads];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockAdjacentDifference() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockAdjacentDifference(TempStorage &temp) : temp(temp.Alias())
    {
    }

    template <int N, class D, class Op> void SubtractLeft(T (&items)[N], D (&out)[N], Op op)
    {
        left(items, out, op, shape::threads * N, nullptr);
    }
    template <int N, class D, class Op>
    void SubtractLeft(T (&items)[N], D (&out)[N], Op op, T predecessor)
    {
        left(items, out, op, shape::threads * N, &predecessor);
    }
    template <int N, class D, class Op>
    void SubtractLeftPartialTile(T (&items)[N], D (&out)[N], Op op, int valid)
    {
        left(items, out, op, valid, nullptr);
    }
    template <int N, class D, class Op>
    void SubtractLeftPartialTile(T (&items)[N], D (&out)[N], Op op, int valid, T predecessor)
    {
        left(items, out, op, valid, &predecessor);
    }
    template <int N, class D, class Op> void SubtractRight(T (&items)[N], D (&out)[N], Op op)
    {
        right(items, out, op, shape::threads * N, nullptr);
    }
    template <int N, class D, class Op>
    void SubtractRight(T (&items)[N], D (&out)[N], Op op, T successor)
    {
        right(items, out, op, shape::threads * N, &successor);
    }
    template <int N, class D, class Op>
    void SubtractRightPartialTile(T (&items)[N], D (&out)[N], Op op, int valid)
    {
        right(items, out, op, valid, nullptr);
    }

  private:
    storage &temp;
    shape block;

    template <int N> void publish(T (&items)[N])
    {
        temp.first[block.thread] = items[0];
        temp.last[block.thread] = items[N - 1];
        cucc::barrier("cub::BlockAdjacentDifference");
    }
    /* From the last item on, for ITEMS and OUT may be the same. */
    template <int N, class D, class Op>
    void left(T (&items)[N], D (&out)[N], Op &op, int valid, const T *predecessor)
    {
        publish(items);
        if (block.thread > 0) predecessor = &temp.last[block.thread - 1];
        for (int i = N - 1; i >= 0; i--) {
            const T *before = i > 0 ? &items[i - 1] : predecessor;
            out[i] =
                before && block.thread * N + i < valid ? (D)op(items[i], *before) : (D)items[i];
        }
    }
    template <int N, class D, class Op>
    void right(T (&items)[N], D (&out)[N], Op &op, int valid, const T *successor)
    {
        publish(items);
        if (block.thread < shape::threads - 1) successor = &temp.first[block.thread + 1];
        for (int i = 0; i < N; i++) {
            int at = block.thread * N + i;
            const T *behind = i < N - 1 ? &items[i + 1] : successor;
            bool has =
                behind && (at + 1 < valid || (at + 1 == valid && valid == shape::threads * N));
            out[i] = has ? (D)op(items[i], *behind) : (D)items[i];
        }
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
