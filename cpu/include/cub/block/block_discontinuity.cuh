/* CUB for the runner: flags where neighbours of a block's items, in blocked arrangement, differ. */
#ifndef CUCC_CUB_BLOCK_DISCONTINUITY_CUH
#define CUCC_CUB_BLOCK_DISCONTINUITY_CUH
#include "../../cucc_set_aside.h"

#include "block_shape.h"

namespace cub
{
/* The first item of the block is a head and the last one a tail, unless a neighbour is given for it. */
template <class T, int X, int Y = 1, int Z = 1, int ARCH = 0> class BlockDiscontinuity
{
    typedef runner::block_shape<X, Y, Z> shape;
    struct storage {
        T first[shape::threads], last[shape::threads];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockDiscontinuity() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockDiscontinuity(TempStorage &temp) : temp(temp.Alias())
    {
    }

    template <int N, class F, class Op> void FlagHeads(F (&heads)[N], T (&items)[N], Op op)
    {
        publish(items);
        flag_heads(heads, items, op, nullptr);
    }
    template <int N, class F, class Op>
    void FlagHeads(F (&heads)[N], T (&items)[N], Op op, T predecessor)
    {
        publish(items);
        flag_heads(heads, items, op, &predecessor);
    }
    template <int N, class F, class Op> void FlagTails(F (&tails)[N], T (&items)[N], Op op)
    {
        publish(items);
        flag_tails(tails, items, op, nullptr);
    }
    template <int N, class F, class Op>
    void FlagTails(F (&tails)[N], T (&items)[N], Op op, T successor)
    {
        publish(items);
        flag_tails(tails, items, op, &successor);
    }
    template <int N, class F, class Op>
    void FlagHeadsAndTails(F (&heads)[N], F (&tails)[N], T (&items)[N], Op op)
    {
        publish(items);
        flag_heads(heads, items, op, nullptr);
        flag_tails(tails, items, op, nullptr);
    }

  private:
    storage &temp;
    shape block;

    template <int N> void publish(T (&items)[N])
    {
        temp.first[block.thread] = items[0];
        temp.last[block.thread] = items[N - 1];
        cucc::barrier("cub::BlockDiscontinuity");
    }
    template <int N, class F, class Op>
    void flag_heads(F (&heads)[N], T (&items)[N], Op &op, const T *predecessor)
    {
        for (int i = 1; i < N; i++) heads[i] = op(items[i - 1], items[i]);
        if (block.thread) predecessor = &temp.last[block.thread - 1];
        heads[0] = predecessor ? op(*predecessor, items[0]) : true;
    }
    template <int N, class F, class Op>
    void flag_tails(F (&tails)[N], T (&items)[N], Op &op, const T *successor)
    {
        for (int i = 0; i + 1 < N; i++) tails[i] = op(items[i], items[i + 1]);
        if (block.thread < shape::threads - 1) successor = &temp.first[block.thread + 1];
        tails[N - 1] = successor ? op(items[N - 1], *successor) : true;
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
