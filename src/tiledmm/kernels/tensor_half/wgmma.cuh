/* src/tiledmm/kernels/tensor_half/wgmma.cuh. Elements of 16 bits by wgmma and TMA, for sm_90a.
   Uses: kernels/common/tensor_ptx.cuh, once/. Used by: kernels/tensor_half/, type/instances.h. */
/* The instances: pass, name, rows and columns of a tile, stages of 64 k, and the fewer columns that a plan may choose
   at run time. Tiles of 192 rows store alpha A B by TMA alone: their threads have few registers. 192 x 224 has room
   for 256 columns in its stages, and registers for 224. */
#ifndef TMM__HALF_WGMMA_LIST
#ifdef __CUDACC_RDC__ /* nvcc -rdc=true: ptxas leaves out setmaxnreg, and 128 registers do not hold its sums */
#define TMM__HALF_WGMMA_LARGEST(_)
#else
#define TMM__HALF_WGMMA_LARGEST(_) _(5, 192x224, 192, 256, 3, 224)
#endif
#define TMM__HALF_WGMMA_LIST(_)     \
    _(1, 128x256, 128, 256, 4, 224) \
    _(2, 128x128, 128, 128, 6, 128) \
    _(3, 128x192, 128, 192, 4, 160) \
    _(4, 192x192, 192, 192, 4, 192) \
    TMM__HALF_WGMMA_LARGEST(_)
#define TMM__HALF_WGMMA_ROWS   (TMM__HALF_WGMMA_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_WGMMA_COLS   (TMM__HALF_WGMMA_LIST(TMM__VALUE_2) 0)
#define TMM__HALF_WGMMA_STAGES (TMM__HALF_WGMMA_LIST(TMM__VALUE_3) 0)
#define TMM__HALF_WGMMA_FEWER  (TMM__HALF_WGMMA_LIST(TMM__VALUE_4) 0)
/* Two blocks of a cluster copy half of B each: lines; or, if B does not lie along k and half of its columns
   are no whole boxes of 64, half of the k. */
#define TMM__HALF_WGMMA_BY_K(cols) ((cols) % 128 != 0)
/* Shared memory: the stages, to which 1024 bytes align, and what each warp stores its 16 rows through: two boxes of
   2 KB, or one, so that 192 x 192 has four stages. */
#define TMM__HALF_WGMMA_STORE(rows) ((rows) == 192 ? 2048 : 4096)
#define TMM__HALF_WGMMA_BYTES(rows, cols, stages) \
    ((stages) * ((rows) + (cols)) * 128 + 1024 + (rows) / 16 * TMM__HALF_WGMMA_STORE(rows))
/* Tiles of which C turned has others. */
#define TMM__HALF_CAN_TURN(rows, cols) ((rows) != (cols) && sizeof(TMM_OUT) == 2)
/* Parts of columns that blocks store of the rows of a warp, where they have parts of k. */
#define TMM__HALF_HALVES(job, cols) \
    ((cols) == 128 ? 2 : (cols) == 192 || (job)->width != (cols) ? 1 : 2)
/* The columns that a warp stores. */
#define TMM__HALF_STORED(job, cols)                            \
    (((job)->parts > 1 && TMM__HALF_HALVES(job, cols) == 2) || \
             ((cols) == 128 && (job)->rows == 64)              \
         ? (cols) / 2                                          \
         : (job)->width)
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && !defined(TMM__HALF_ONCE)
/* What TMA knows of an operand: a CUtensorMap of the driver. And the product; K in slices. */
#ifdef __CUCC__ /* for which g++ notes that an ABI has changed; it has no TMA */
#define TMM__MAP_ALIGN 16
#else
#define TMM__MAP_ALIGN 64
#endif
typedef struct alignas(TMM__MAP_ALIGN) tmm__half_map {
    unsigned long long words[16];
} tmm__half_map;
typedef struct tmm__half_job {
    long long M, N, ldc, batchC;
    long long part_row, part_col, part_rows, part_cols; /* of C: of what there are partial sums */
    float alpha, beta;
#ifdef TMM_WITH_EPILOGUE
    tmm__after after;
#endif
    float *partials;
    int boxed_C;            /* TMA can store C */
    int turned_A, turned_B; /* operands that do not lie along k */
    int turned_C;           /* rows of the product are columns of C */
    int next_A, next_B;     /* 0: all products of the batch share it, else 1 */
    int rows, width;        /* of a tile */
    int pairs_down, across; /* tiles of clusters */
    /* The shape of a cluster, 1 or 2 each but parts, of 4 at most: `down` blocks above each other share B, `beside`
       side by side share A, and `parts` have the same tile, each a part of its k. */
    int down, beside, parts;
    int steps, items,
        part_steps;          /* part_steps: of a part of a cluster, the last one having fewer */
    int band;                /* rows of pairs that are walked together */
    int whole, rest, slices; /* items from `whole` on are slices, of the last `rest` tiles */
#ifdef TMM_WITH_SYRK
    int triangle, squares, ratio_log2; /* of pairs of tiles, see once/triangle.cuh */
    tmm__stairs stairs;                /* if squares is 0 */
#endif
} tmm__half_job;
/* cuTensorMapEncodeTiled, which makes a map. */
typedef int (*tmm__map_maker)(void *map, int type, unsigned rank, void *address,
                              const unsigned long long *sizes, const unsigned long long *strides,
                              const unsigned *box, const unsigned *steps, int interleave,
                              int swizzle, int promotion, int fill);
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107
#define TMM__GRID_CONSTANT __grid_constant__ /* has an address that TMA can read */
#else
#define TMM__GRID_CONSTANT
#endif

/* An item of a block's list: a tile of a product, and a part of its k. */
typedef struct tmm__half_item {
    int row, col, product, part, first, steps; /* part: the number of its partial sums; -1: none */
} tmm__half_item;

/* Where a block lies in its cluster. */
typedef struct tmm__half_block {
    int row, col, part;
} tmm__half_block;

/* A special register: the rank in the cluster, or the number of a cluster. Computed, they would be divisions, for
   which each block waits before its first copy. */
#define TMM__CLUSTER_SPECIAL(to, name) asm("mov.u32 %0, %%" name ";" : "=r"(to))

/* Where the block of this rank lies: ranks go down, then to the side, then to the next part of k. */
TMM__DEVICE tmm__half_block tmm__half_block_of(int rank, int down, int beside)
{
    const int place = rank >> down / 2; /* 1 or 2 of both */
    const tmm__half_block block = {rank & (down - 1), place & (beside - 1), place >> beside / 2};
    return block;
}

/* What item number `item` is. Items are the tiles of the first product, then of the second; the rows of a band go
   down, then to the right:    band 0   0 2 4 6      From item job->whole on they are slices of k of the last
                                        1 3 5 7      job->rest tiles: the first slice of all of these, then the
                               band 1   8 10 ...     second. A number counts for all blocks of a cluster. */
TMM__DEVICE tmm__half_item tmm__half_find(const tmm__half_job *job, int item,
                                          const tmm__half_block *block)
{
    tmm__half_item at;
    /* Divisions take long, and the first copy waits for them: 32 bits without signs, none by 1. */
    const bool cut = item >= job->whole;
    const unsigned number = cut ? item - job->whole : item, wide = job->band * job->across;
    const unsigned tiles = cut ? job->rest : job->pairs_down * job->across;
    const unsigned turn = number < tiles ? 0 : number / tiles;
    const unsigned tile = (cut ? job->whole : 0) + (number - turn * tiles);
    const unsigned band = tile < wide ? 0 : tile / wide, place = tile - band * wide;
    const unsigned high = min((unsigned)job->band, job->pairs_down - band * job->band),
                   right = place / high;
    const unsigned slices = cut ? job->slices : 1;
    int down = band * job->band + (place - right * high), across = right;
#ifdef TMM_WITH_SYRK
    if (job->triangle != 0 && job->squares == 0)
        tmm__stairs_tile(&job->stairs, job->triangle, &down, &across);
    else if (job->triangle != 0)
        tmm__triangle_tile(job->triangle, job->squares, job->ratio_log2, &down, &across);
#endif
    at.row = (down * job->down + block->row) * job->rows;
    at.col = (across * job->beside + block->col) * job->width;
    at.product = slices == 1 ? turn : turn / slices, at.part = cut ? (int)turn : -1;
    /* There are 2^25 steps and 32 slices at most. */
    const unsigned steps = job->steps, slice = turn - at.product * slices;
    at.first = cut ? steps * slice / slices : block->part * job->part_steps;
    at.steps = cut ? steps * (slice + 1) / slices - at.first
                   : min((unsigned)job->part_steps, steps - at.first);
    return at;
}

#if TMM__WGMMA
/* Sums are divided among blocks that have parts of k: each stores some of the rows of warps, or, where the columns
   are two times whole boxes, of their halves, so that all warps have some to store. A block's first ones. */
TMM__DEVICE int tmm__half_first_unit(int part, int parts, int units)
{
    const unsigned all = part * units + parts - 1; /* there are 4 parts at most */
    return parts == 2 ? all / 2 : parts == 3 ? all / 3 : all / 4;
}

/* Bytes of sums that it gets from the other parts. */
TMM__DEVICE unsigned tmm__half_got(const tmm__half_job *job, int part, const int warps,
                                   const int cols)
{
    const int parts = job->parts, halves = TMM__HALF_HALVES(job, cols), units = halves * warps;
    const int own =
        tmm__half_first_unit(part + 1, parts, units) - tmm__half_first_unit(part, parts, units);
    return own * (parts - 1) * (job->width / halves) * 64;
}

/* The half of a warp's columns that a block stores, of 1 or 2; or -1. */
TMM__DEVICE int tmm__half_own(const tmm__half_job *job, int part, int warp, const int warps,
                              const int cols)
{
    const int halves = TMM__HALF_HALVES(job, cols);
    const int first = warp * job->parts / (halves * warps);
    const int second = (warp + warps) * job->parts / (halves * warps);
    return part == first ? 0 : halves == 2 && part == second ? 1 : -1;
}

/* Sends the sums of a warp's 16 rows to the blocks of the cluster that store them (PTX ISA 9.7, "st.async").
   Those that this block stores it adds up, always in the same order, and leaves in the first ones of sum:
   true, if there are any. A lane has 16 bytes of each 8 columns. Stages must be free. */
TMM__DEVICE bool tmm__half_gather(float *sum, const tmm__half_job *job,
                                  const tmm__half_block *block, int warp, unsigned stages,
                                  unsigned gathered, const int warps, const int cols)
{
    const int parts = job->parts, halves = TMM__HALF_HALVES(job, cols);
    const int width = job->width / halves, bytes = width * 64, units = halves * warps;
    unsigned own = 0, step = 0;
    TMM__HIDE(warp); /* or what follows from it takes registers before */
    const int mine = tmm__half_own(job, block->part, warp, warps, cols);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int unit = halves == 2 && half == 1 ? warps + warp : warp;
        const int owner = unit * parts / units, first = tmm__half_first_unit(owner, parts, units);
        const int count = tmm__half_first_unit(owner + 1, parts, units) - first;
        const unsigned at = stages + (unit - first) * bytes + threadIdx.x % 32 * 16;
        if (owner == block->part) {
            own = at, step = count * bytes;
            continue;
        }
        const int slot = block->part - (block->part > owner);
        const int rank = (owner * job->beside + block->col) * job->down + block->row;
        unsigned to, barrier;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(to)
            : "r"(at + slot * count * bytes), "r"(rank));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(gathered), "r"(rank));
        if (halves == 2) to -= half * (cols / 16) * 512;
#pragma unroll
        for (int i = half * (cols / 16); i < (half + 1) * (cols / 16); i++)
            if (i * 8 < job->width)
                asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                             "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(to + i * 512),
                             "f"(sum[4 * i]), "f"(sum[4 * i + 1]), "f"(sum[4 * i + 2]),
                             "f"(sum[4 * i + 3]), "r"(barrier)
                             : "memory");
    }
    if (mine < 0) return false;
    if (mine == 1) {
#pragma unroll
        for (int i = 0; i < cols / 4; i++) sum[i] = sum[i + cols / 4];
    }
    tmm__barrier_wait(gathered, 0);
#pragma unroll 1
    for (int slot = 0; slot < parts - 1; slot++) {
#pragma unroll
        for (int i = 0; i < cols / (cols == 128 ? 16 : 8); i++) {
            float x[4];
            if (i * 8 >= width) continue;
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
                         : "r"(own + slot * step + i * 512)
                         : "memory");
#pragma unroll
            for (int j = 0; j < 4; j++) sum[4 * i + j] += x[j];
        }
    }
    return true;
}

/* The sums of two warps of the same 16 rows, added: each has those of half of the columns then, the first ones. Theirs
   lie 16 KB apart, of a warp the 4 KB of its boxes. */
TMM__DEVICE void tmm__half_exchange(float *sum, unsigned boxes, int warp, const int cols)
{
    const unsigned lane = threadIdx.x % 32 * 16, mine = boxes + warp * 4096 + lane;
    const unsigned other = boxes + (warp ^ 4) * 4096 + lane;
#pragma unroll
    for (int i = 0; i < cols / 16; i++) {
        float x[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float first = sum[4 * i + j], second = sum[4 * i + j + cols / 4];
            x[j] = warp < 4 ? second : first, sum[4 * i + j] = warp < 4 ? first : second;
        }
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(other + i * 512), "f"(x[0]),
                     "f"(x[1]), "f"(x[2]), "f"(x[3])
                     : "memory");
    }
    asm volatile("bar.sync 1, 256;" ::: "memory");
#pragma unroll
    for (int i = 0; i < cols / 16; i++) {
        float x[4];
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
                     : "r"(mine + i * 512)
                     : "memory");
#pragma unroll
        for (int j = 0; j < 4; j++) sum[4 * i + j] += x[j];
    }
}

/* Copies a box of a map to shared memory, to the blocks of the cluster of which `blocks` has bits; zeros
   beyond the edges. Barriers there count (PTX ISA 9.7, "cp.async.bulk.tensor"). */
TMM__DEVICE void tmm__half_box(unsigned to, const tmm__half_map *map, int x, int y, int z,
                               unsigned barrier, int blocks)
{
    if (blocks == 1)
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
            "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
            "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"((short)blocks)
            : "memory");
}

/* Registers go from the warps that copy to those that multiply; sums of 128 columns take few. */
#define TMM__HALF_GIVE_REGISTERS(cols)                           \
    do {                                                         \
        if ((cols) == 128)                                       \
            asm volatile("setmaxnreg.dec.sync.aligned.u32 56;"); \
        else                                                     \
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); \
    } while (0)
#define TMM__HALF_TAKE_REGISTERS(rows, cols)                      \
    do {                                                          \
        if ((rows) == 192)                                        \
            asm volatile("setmaxnreg.inc.sync.aligned.u32 152;"); \
        else if ((cols) == 128)                                   \
            asm volatile("setmaxnreg.inc.sync.aligned.u32 216;"); \
        else                                                      \
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); \
    } while (0)

/* Loads a word that nobody needs; ptxas cannot know. */
TMM__DEVICE void tmm__half_touch(const void *at)
{
    asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, %0, 0x7fedcba9;\n@p nanosleep.u32 0;\n}" ::"r"(
        *(const unsigned *)at));
}

TMM__DEVICE void tmm__half_prefetch(const tmm__half_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Stores a box of shared memory, as far as it lies in C. A group of such stores is complete when its
   boxes have been read. */
TMM__DEVICE void tmm__half_box_out(const tmm__half_map *map, unsigned from, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], "
                 "[%4];\ncp.async.bulk.commit_group;" ::"l"(map),
                 "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
}
#define TMM__HALF_BOXES_WAIT(pending) \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory")
/* Waits for a place for the next box: the first of a tile for all boxes before, as their number is odd or
   even. */
TMM__DEVICE void tmm__half_boxes_wait(bool first)
{
    if (first)
        TMM__HALF_BOXES_WAIT(0);
    else
        TMM__HALF_BOXES_WAIT(1);
}

/* Columns of a tile that are whole boxes of 64. */
#define TMM__HALF_WHOLE(job, cols) (TMM__HALF_STORED(job, cols) & ~63)

/* Halves of a barrier of the cluster. TMM__CLUSTER_MEETS also lets everyone see what was written in front of it, for
   which it waits a thousand clocks. */
#define TMM__CLUSTER_ARRIVES() asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define TMM__CLUSTER_WAITS()   asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define TMM__CLUSTER_MEETS()                                 \
    asm volatile("barrier.cluster.arrive.release.aligned;\n" \
                 "barrier.cluster.wait.acquire.aligned;" ::  \
                     : "memory")

/* c += a b by a warpgroup, 64 x `cols` x 16 from shared memory; operands that do not lie along k are
   `turned`. Fragments of c: see tmm__wgmma. */
#define TMM__TEN(t)                                                                              \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, " \
    "%" #t "9, "
#define TMM__H4(i)     "+f"(c[i]), "+f"(c[(i) + 1]), "+f"(c[(i) + 2]), "+f"(c[(i) + 3])
#define TMM__H16(i)    TMM__H4(i), TMM__H4((i) + 4), TMM__H4((i) + 8), TMM__H4((i) + 12)
#define TMM__H64(i)    TMM__H16(i), TMM__H16((i) + 16), TMM__H16((i) + 32), TMM__H16((i) + 48)
#define TMM__H64_NAMES TMM__TEN() TMM__TEN(1) TMM__TEN(2) TMM__TEN(3) TMM__TEN(4) TMM__TEN(5)
/* One instruction: its columns, the names of its sums, the numbers of the descriptors behind them, the sums. */
#define TMM__HALF_MULTIPLY(n, names, first, second, type, turns_a, turns_b, ...)           \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                                \
                 "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" names \
                 "}, %" first ", %" second ", p, 1, 1, " turns_a ", " turns_b ";\n}"       \
                 : __VA_ARGS__                                                             \
                 : "l"(a), "l"(b))
#define TMM__H64_TO_100 TMM__H64_NAMES TMM__TEN(6) TMM__TEN(7) TMM__TEN(8) TMM__TEN(9)
#define TMM__HALF_PRODUCT(type, ta, tb)                                                            \
    do {                                                                                           \
        if (cols == 256)                                                                           \
            TMM__HALF_MULTIPLY("256",                                                              \
                               TMM__H64_TO_100 TMM__TEN(10) TMM__TEN(11) "%120, %121, %122, "      \
                                                                         "%123, %124, %125, "      \
                                                                         "%126, %127",             \
                               "128", "129", type, ta, tb, TMM__H64(0), TMM__H64(64));             \
        else if (cols == 224)                                                                      \
            TMM__HALF_MULTIPLY("224", TMM__H64_TO_100 TMM__TEN(10) "%110, %111", "112", "113",     \
                               type, ta, tb, TMM__H64(0), TMM__H16(64), TMM__H16(80),              \
                               TMM__H16(96));                                                      \
        else if (cols == 192)                                                                      \
            TMM__HALF_MULTIPLY("192",                                                              \
                               TMM__H64_NAMES TMM__TEN(6) TMM__TEN(7)                              \
                                   TMM__TEN(8) "%90, %91, %92, %93, %94, %95",                     \
                               "96", "97", type, ta, tb, TMM__H64(0), TMM__H16(64), TMM__H16(80)); \
        else if (cols == 160)                                                                      \
            TMM__HALF_MULTIPLY("160",                                                              \
                               TMM__H64_NAMES TMM__TEN(6) "%70, %71, %72, %73, %74, %75, %76, "    \
                                                          "%77, %78, %79",                         \
                               "80", "81", type, ta, tb, TMM__H64(0), TMM__H16(64));               \
        else if (cols == 96)                                                                       \
            TMM__HALF_MULTIPLY("96",                                                               \
                               TMM__TEN() TMM__TEN(1) TMM__TEN(2) TMM__TEN(3) "%40, %41, %42, "    \
                                                                              "%43, %44, %45, "    \
                                                                              "%46, %47",          \
                               "48", "49", type, ta, tb, TMM__H16(0), TMM__H16(16), TMM__H16(32)); \
        else if (cols == 16)                                                                       \
            TMM__HALF_MULTIPLY("16", "%0, %1, %2, %3, %4, %5, %6, %7", "8", "9", type, ta, tb,     \
                               TMM__H4(0), TMM__H4(4));                                            \
        else if (cols == 64)                                                                       \
            TMM__HALF_MULTIPLY("64", TMM__TEN() TMM__TEN(1) TMM__TEN(2) "%30, %31", "32", "33",    \
                               type, ta, tb, TMM__H16(0), TMM__H16(16));                           \
        else                                                                                       \
            TMM__HALF_MULTIPLY("128", TMM__H64_NAMES "%60, %61, %62, %63", "64", "65", type, ta,   \
                               tb, TMM__H64(0));                                                   \
    } while (0)
#endif
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && TMM__WGMMA
#if TMM__HALF_TENSOR == 1
#define TMM__HALF_TYPE "f16"
#else
#define TMM__HALF_TYPE "bf16"
#endif
/* c += a b: see TMM__HALF_PRODUCT. */
TMM__DEVICE void tmm__xhalf_multiply(float *c, unsigned long long a, unsigned long long b,
                                     const int cols, const int turned_A, const int turned_B)
{
    if (turned_A && turned_B)
        TMM__HALF_PRODUCT(TMM__HALF_TYPE, "1", "1");
    else if (turned_A)
        TMM__HALF_PRODUCT(TMM__HALF_TYPE, "1", "0");
    else if (turned_B)
        TMM__HALF_PRODUCT(TMM__HALF_TYPE, "0", "1");
    else
        TMM__HALF_PRODUCT(TMM__HALF_TYPE, "0", "0");
}

/* The products of a stage of 64 k, which is at `at`: rows 64 `group` on, `cols` columns. */
TMM__DEVICE void tmm__xhalf_step(float *c, unsigned at, int group, const int rows, const int cols,
                                 const int turned_A, const int turned_B)
{
    /* Descriptors of the four times 16 k differ in the low word alone: adding to it saves a tenth of a step's
       instructions. Of a `turned` B (MN-major) the next 64 columns lie 8192 bytes on: 511 + 1 units of 16. */
    const unsigned long long all = tmm__descriptor(0) - (1ull << 16);
    const unsigned first_A = (unsigned)tmm__descriptor(at + group * 8192);
    const unsigned first_B =
        (unsigned)tmm__descriptor(at + rows * 128) + (turned_B ? 511u << 16 : 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const unsigned long long a = all | (first_A + k * (turned_A ? 128 : 2));
        const unsigned long long b = all | (first_B + k * (turned_B ? 128 : 2));
        /* Of a block of 512 threads ptxas lets an instruction have 128 registers; 224 columns would need 138. */
        const int first = cols == 224 && rows == 192 ? 128 : cols;
        tmm__xhalf_multiply(c, a, b, first, turned_A, turned_B);
        if (first < cols)
            tmm__xhalf_multiply(c + first / 2, a, b + first * 8, cols - first, turned_A, turned_B);
    }
}

/* All steps of an item, into the sums of a warpgroup: rows 64 `group` on. Stages go round from *stage on,
   with *parity. The products of a stage run while the next one is awaited. writer: a block that this lane tells
   of free stages, or -1.
   If there are items behind this one, group 0 runs two steps `ahead` of the others, which it wakes up: so
   each stores its sums while the other one multiplies. Items need as many steps as there are stages: then
   they have left the item before when they are woken up again. */
TMM__DEVICE void tmm__xhalf_sum(float *c, int *stage, unsigned *parity, int steps, unsigned stages,
                                unsigned fulls, unsigned empties, int group, int writer, bool ahead,
                                bool turns, const int count, const int stage_bytes, const int rows,
                                const int cols, const int turned_A, const int turned_B)
{
    int before = -1;
    int rows_of = turns ? 0 : group, stride = turns ? 2 : 1;
    if (cols == 128) {
        TMM__HIDE(rows_of); /* or each step asks again */
        TMM__HIDE(stride);
    }
    ahead = ahead && !turns && steps >= count;
    if (turns) *stage = group; /* such blocks have one item */
    if (ahead && group > 0) asm volatile("bar.sync 1, %0;" ::"r"(2 * rows) : "memory");
#pragma unroll 1
    for (int step = turns ? group : 0; step < steps; step += stride) {
        const unsigned at = stages + *stage * stage_bytes;
        tmm__barrier_wait(fulls + 8 * *stage, *parity);
        TMM__WGMMA_BEGIN();
        tmm__xhalf_step(c, at, rows_of, rows, cols, turned_A, turned_B);
        TMM__WGMMA_COMMIT();
        if (ahead && group == 0 && step == 1)
            asm volatile("bar.arrive 1, %0;" ::"r"(2 * rows) : "memory");
        TMM__WGMMA_WAIT(1);
        if (before >= 0 && writer >= 0) tmm__barrier_arrive_at(empties + 8 * before, writer);
        before = *stage;
        if ((*stage += stride) >= count) *stage -= count, *parity ^= 1;
    }
    TMM__WGMMA_WAIT(0);
    if (before >= 0 && writer >= 0) tmm__barrier_arrive_at(empties + 8 * before, writer);
#pragma unroll
    for (int i = 0; i < cols / 2; i++) asm volatile("" : "+f"(c[i])::"memory");
}

/* Two sums, rounded: neighbours in C. */
TMM__DEVICE unsigned tmm__xhalf_two(float low, float high)
{
    unsigned two;
    asm("cvt.rn." TMM__HALF_TYPE "x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
    return two;
}

#undef TMM__HALF_TYPE
#endif
