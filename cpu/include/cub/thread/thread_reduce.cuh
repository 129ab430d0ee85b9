/* CUB for the runner: the items of one thread, by OP, in their order. */
#ifndef CUCC_CUB_THREAD_REDUCE_CUH
#define CUCC_CUB_THREAD_REDUCE_CUH
#include "../../cucc_set_aside.h"

#include "thread_operators.cuh"

namespace cub
{
template <int N, class T, class Op> T ThreadReduce(const T (&items)[N], Op op)
{
    T sum = items[0];
    for (int i = 1; i < N; i++) sum = op(sum, items[i]);
    return sum;
}
template <int N, class T, class Op> T ThreadReduce(const T (&items)[N], Op op, T prefix)
{
    for (int i = 0; i < N; i++) prefix = op(prefix, items[i]);
    return prefix;
}

namespace internal /* where CUB has them, too, since its version 2.3 */
{
using cub::ThreadReduce;
}
} // namespace cub
#include "../../cucc_give_back.h"

#endif
