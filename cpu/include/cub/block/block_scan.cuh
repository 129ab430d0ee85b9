/* CUB for the runner: prefix sums and the like over a block, of one item a thread or several in blocked
 * arrangement. Storage must not be used again before a barrier, as on a GPU. */
#ifndef CUCC_CUB_BLOCK_SCAN_CUH
#define CUCC_CUB_BLOCK_SCAN_CUH
#include "../../cucc_set_aside.h"

#include "../warp/warp_scan.cuh"
#include "block_shape.h"

namespace cub
{
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

/* The aggregates contain neither the initial value nor what a callback gives. Without an initial value the
 * first thread's first exclusive result is what it was. A callback is called by all lanes of the first warp
 * with the aggregate; what the first lane's returns goes before all. */
template <class T, int X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int ARCH = 0>
class BlockScan
{
    typedef runner::block_shape<X, Y, Z> shape;
    struct storage {
        T of_warp[shape::warps], prefix;
    };

  public:
    struct TempStorage : Uninitialized<storage> {
    };

    BlockScan() : temp(runner::private_storage<TempStorage>().Alias())
    {
    }
    BlockScan(TempStorage &temp) : temp(temp.Alias())
    {
    }

    /* One item, as an array of one. */
    template <class... A> void InclusiveSum(T in, T &out, A &&...more)
    {
        T items[1] = {in};
        InclusiveSum(items, items, more...);
        out = items[0];
    }
    template <class... A> void ExclusiveSum(T in, T &out, A &&...more)
    {
        T items[1] = {in};
        ExclusiveSum(items, items, more...);
        out = items[0];
    }
    template <class Op, class... A> void InclusiveScan(T in, T &out, Op op, A &&...more)
    {
        T items[1] = {in};
        InclusiveScan(items, items, op, more...);
        out = items[0];
    }
    template <class Op> void ExclusiveScan(T in, T &out, Op op)
    {
        T items[1] = {in}, results[1] = {out};
        ExclusiveScan(items, results, op);
        out = results[0];
    }
    template <class Op> void ExclusiveScan(T in, T &out, Op op, T &aggregate)
    {
        T items[1] = {in}, results[1] = {out};
        ExclusiveScan(items, results, op, aggregate);
        out = results[0];
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op)
    {
        T items[1] = {in};
        ExclusiveScan(items, items, initial, op);
        out = items[0];
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op, T &aggregate)
    {
        T items[1] = {in};
        ExclusiveScan(items, items, initial, op, aggregate);
        out = items[0];
    }
    template <class Op, class Callback> void ExclusiveScan(T in, T &out, Op op, Callback &callback)
    {
        T items[1] = {in};
        ExclusiveScan(items, items, op, callback);
        out = items[0];
    }

    template <int N> void InclusiveSum(T (&in)[N], T (&out)[N])
    {
        InclusiveScan(in, out, cub::Sum());
    }
    template <int N> void InclusiveSum(T (&in)[N], T (&out)[N], T &aggregate)
    {
        InclusiveScan(in, out, cub::Sum(), aggregate);
    }
    template <int N, class Callback> void InclusiveSum(T (&in)[N], T (&out)[N], Callback &callback)
    {
        InclusiveScan(in, out, cub::Sum(), callback);
    }
    template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N])
    {
        ExclusiveScan(in, out, T{}, cub::Sum());
    }
    template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], T &aggregate)
    {
        ExclusiveScan(in, out, T{}, cub::Sum(), aggregate);
    }
    template <int N, class Callback> void ExclusiveSum(T (&in)[N], T (&out)[N], Callback &callback)
    {
        ExclusiveScan(in, out, cub::Sum(), callback);
    }

    template <int N, class Op> void InclusiveScan(T (&in)[N], T (&out)[N], Op op)
    {
        T aggregate;
        InclusiveScan(in, out, op, aggregate);
    }
    template <int N, class Op> void InclusiveScan(T (&in)[N], T (&out)[N], Op op, T &aggregate)
    {
        T before = in[0];
        bool any = before_thread(cub::ThreadReduce(in, op), before, op, aggregate);
        inclusive(in, out, op, any, before);
    }
    template <int N, class Op, class Callback>
    void InclusiveScan(T (&in)[N], T (&out)[N], Op op, Callback &callback)
    {
        inclusive(in, out, op, true, after_callback(cub::ThreadReduce(in, op), op, callback));
    }
    template <int N, class Op> void ExclusiveScan(T (&in)[N], T (&out)[N], Op op)
    {
        T aggregate;
        ExclusiveScan(in, out, op, aggregate);
    }
    template <int N, class Op> void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, T &aggregate)
    {
        T before = in[0];
        bool any = before_thread(cub::ThreadReduce(in, op), before, op, aggregate);
        exclusive(in, out, op, any, before);
    }
    template <int N, class Op> void ExclusiveScan(T (&in)[N], T (&out)[N], T initial, Op op)
    {
        T aggregate;
        ExclusiveScan(in, out, initial, op, aggregate);
    }
    template <int N, class Op>
    void ExclusiveScan(T (&in)[N], T (&out)[N], T initial, Op op, T &aggregate)
    {
        T before = in[0];
        bool any = before_thread(cub::ThreadReduce(in, op), before, op, aggregate);
        exclusive(in, out, op, true, any ? (T)op(initial, before) : initial);
    }
    template <int N, class Op, class Callback>
    void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, Callback &callback)
    {
        exclusive(in, out, op, true, after_callback(cub::ThreadReduce(in, op), op, callback));
    }

  private:
    storage &temp;
    shape block;

    /* What the threads before this one have, by OP, and the AGGREGATE of all; false: there is none before. */
    template <class Op> bool before_thread(T partial, T &before, Op &op, T &aggregate)
    {
        T until = runner::scan_lanes(block.mask, 0, block.lane, block.lanes, partial, op);
        before = runner::shuffle(block.mask, until, block.lane ? block.lane - 1 : 0);
        if (block.lane == block.lanes - 1) temp.of_warp[block.warp] = until;
        cucc::barrier("cub::BlockScan");
        T warps = aggregate = temp.of_warp[0];
        for (int i = 1; i < shape::warps; i++) {
            if (i == block.warp) warps = aggregate;
            aggregate = op(aggregate, temp.of_warp[i]);
        }
        if (block.warp) before = block.lane ? (T)op(warps, before) : warps;
        return block.thread > 0;
    }

    template <class Op, class Callback> T after_callback(T partial, Op &op, Callback &callback)
    {
        T before = partial, aggregate;
        bool any = before_thread(partial, before, op, aggregate);
        if (block.warp == 0) {
            T prefix = callback(aggregate);
            if (block.lane == 0) temp.prefix = prefix;
        }
        cucc::barrier("cub::BlockScan");
        return any ? (T)op(temp.prefix, before) : temp.prefix;
    }

    template <int N, class Op>
    static void inclusive(T (&in)[N], T (&out)[N], Op &op, bool any, T running)
    {
        for (int i = 0; i < N; i++) {
            running = any || i ? (T)op(running, in[i]) : in[i];
            out[i] = running;
        }
    }
    template <int N, class Op>
    static void exclusive(T (&in)[N], T (&out)[N], Op &op, bool any, T running)
    {
        for (int i = 0; i < N; i++) {
            T item = in[i];
            if (any || i) out[i] = running;
            running = any || i ? (T)op(running, item) : item;
        }
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
