/* CUB for the runner: items of a block's other threads. */
#ifndef CUCC_CUB_BLOCK_SHUFFLE_CUH
#define CUCC_CUB_BLOCK_SHUFFLE_CUH
#include "../../cucc_set_aside.h"

#include "block_shape.h"

namespace cub
{
/* A thread without a source keeps what its output was. */
template <class T, int X, int Y = 1, int Z = 1, int ARCH = 0> class BlockShuffle
{
    typedef runner::block_shape<X, Y, Z> shape;
    struct storage {
        T item[shape::threads];
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockShuffle() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockShuffle(TempStorage &temp) : temp(temp.Alias())
    {
    }

    void Offset(T input, T &output, int distance = 1)
    {
        publish(input);
        int source = block.thread + distance;
        if (source >= 0 && source < shape::threads) output = temp.item[source];
    }
    void Rotate(T input, T &output, unsigned int distance = 1)
    {
        publish(input);
        output = temp.item[((unsigned int)block.thread + distance) % shape::threads];
    }
    template <int N> void Up(T (&input)[N], T (&previous)[N])
    {
        publish(input[N - 1]);
        for (int i = N - 1; i > 0; i--) previous[i] = input[i - 1];
        if (block.thread > 0) previous[0] = temp.item[block.thread - 1];
    }
    template <int N> void Up(T (&input)[N], T (&previous)[N], T &block_suffix)
    {
        Up(input, previous);
        block_suffix = temp.item[shape::threads - 1];
    }
    template <int N> void Down(T (&input)[N], T (&next)[N])
    {
        publish(input[0]);
        for (int i = 0; i + 1 < N; i++) next[i] = input[i + 1];
        if (block.thread < shape::threads - 1) next[N - 1] = temp.item[block.thread + 1];
    }
    template <int N> void Down(T (&input)[N], T (&next)[N], T &block_prefix)
    {
        Down(input, next);
        block_prefix = temp.item[0];
    }

  private:
    storage &temp;
    shape block;

    void publish(const T &item)
    {
        temp.item[block.thread] = item;
        cucc::barrier("cub::BlockShuffle");
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
