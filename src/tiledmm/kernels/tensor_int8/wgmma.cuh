/* src/tiledmm/kernels/tensor_int8/wgmma.cuh. Products of bytes by wgmma, for sm_90a.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
#ifndef TMM__DOUBLE_ONCE
/* A tile, which has two warpgroups; stages of 128 k; blocks of a cluster. */
enum {
    TMM__INT8_WGMMA_ROWS = 256,
    TMM__INT8_WGMMA_COLS = 192,
    TMM__INT8_WGMMA_STAGES = 4,
    TMM__INT8_WGMMA_CLUSTER = 2,
    TMM__INT8_WGMMA_DOWN = TMM__INT8_WGMMA_ROWS / 128,      /* times 64 rows of a warpgroup */
    TMM__INT8_WGMMA_SUMS = TMM__INT8_WGMMA_COLS / 2,        /* of a thread, in 64 rows */
    TMM__INT8_WGMMA_A = TMM__INT8_WGMMA_ROWS * TMM__INT8_K, /* bytes of a stage */
    TMM__INT8_WGMMA_B = TMM__INT8_WGMMA_COLS * TMM__INT8_K,
    TMM__INT8_WGMMA_STAGE = TMM__INT8_WGMMA_A + TMM__INT8_WGMMA_B,
    TMM__INT8_WGMMA_BYTES = TMM__INT8_WGMMA_STAGES * TMM__INT8_WGMMA_STAGE + 1024, /* to align */
    TMM__INT8_PACE = 4 /* blocks of k from one tmm__keep_pace to the next */
};

#if TMM__WGMMA
/* tmm__copy_bulk to the same place in the blocks of a cluster of which `blocks` has bits; the
   barriers of all of them count the bytes. */
TMM__DEVICE void tmm__copy_bulk_to(unsigned shared, const void *global, unsigned bytes,
                                   unsigned barrier, unsigned short blocks)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(barrier), "h"(blocks)
                 : "memory");
}

/* c = a b + (add ? c : 0) by a warpgroup, of bytes without sign: a 64 x 32, b 32 x 192. Of c its
   thread t has, with g = t / 32 * 16 + t % 32 / 4,
       c[4 j + 2 h + i] = c(g + 8 h, 8 j + 2 (t % 4) + i)
   (PTX ISA 9.7, "wgmma.mma_async", and "Register Fragments for wgmma.mma_async.m64nNk32"). */
#define TMM__R4(i)  "+r"(c[i]), "+r"(c[(i) + 1]), "+r"(c[(i) + 2]), "+r"(c[(i) + 3])
#define TMM__R16(i) TMM__R4(i), TMM__R4((i) + 4), TMM__R4((i) + 8), TMM__R4((i) + 12)
TMM__DEVICE void tmm__wgmma_bytes(unsigned *c, unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n192k32.s32.u8.u8 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                 "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
                 "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "
                 "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "
                 "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
                 "}, %96, %97, p;\n}"
                 : TMM__R16(0), TMM__R16(16), TMM__R16(32), TMM__R16(48), TMM__R16(64), TMM__R16(80)
                 : "l"(a), "l"(b), "r"(add));
}
#undef TMM__R4
#undef TMM__R16

/* What one thread of a block does: copies stage after stage, for all tiles of its cluster. Both
   blocks have the same columns, so each copies half of the lines of B to both. */
TMM__DEVICE void tmm__int8_copy(const tmm__int8_products *job, int units, unsigned stages,
                                unsigned fulls, unsigned empties)
{
    enum {
        CLUSTER = TMM__INT8_WGMMA_CLUSTER,
        HALF = TMM__INT8_WGMMA_B / CLUSTER,
        ROWS = TMM__INT8_WGMMA_ROWS / 64
    };
    const int tiles = job->tiles_down * job->tiles_across, rank = blockIdx.x % CLUSTER;
    const size_t step_a = (size_t)job->a_pitch * TMM__INT8_BLOCK;
    const size_t step_b = (size_t)job->b_pitch * TMM__INT8_BLOCK;
    int stage = 0;
    unsigned parity = 1, due = 0;
    bool paced = job->keep_pace;
    for (int unit = blockIdx.x / CLUSTER; unit < units; unit += gridDim.x / CLUSTER) {
        int modulus = unit / tiles, row, col;
        tmm__int8_find(unit - modulus * tiles, job->tiles_down, job->tiles_across, &row, &col);
        const unsigned char *a = job->a + modulus * job->k_blocks * step_a +
                                 (size_t)(row * CLUSTER + rank) * ROWS * TMM__INT8_BLOCK;
        const unsigned char *b = job->b + modulus * job->k_blocks * step_b +
                                 (size_t)col * TMM__INT8_WGMMA_B + rank * HALF;
        /* Blocks of lines that exist: no sum of the others is stored. */
        int blocks_a = job->a_blocks - (row * CLUSTER + rank) * ROWS;
        int lines_b = (job->b_blocks - col * (TMM__INT8_WGMMA_COLS / 64)) * 64;
        int bytes_a = (blocks_a < ROWS ? blocks_a : (int)ROWS) * TMM__INT8_BLOCK;
        int bytes_b = (lines_b < TMM__INT8_WGMMA_COLS ? lines_b : (int)TMM__INT8_WGMMA_COLS) * 128;
        int own_b = bytes_b - rank * HALF < HALF ? bytes_b - rank * HALF : HALF;
        if (bytes_a < 0) bytes_a = 0;
        for (int k = 0; k < job->k_blocks; k++, a += step_a, b += step_b) {
            unsigned to = stages + stage * TMM__INT8_WGMMA_STAGE, full = fulls + 8 * stage;
            if (paced && k % TMM__INT8_PACE == 0) {
                paced = tmm__keep_pace(&job->state->pace, due);
                due += gridDim.x;
            }
            tmm__barrier_wait(empties + 8 * stage, parity);
            tmm__barrier_expect(full, bytes_a + bytes_b);
            if (bytes_a > 0) tmm__copy_bulk(to, a, bytes_a, full);
            if (own_b > 0)
                tmm__copy_bulk_to(to + TMM__INT8_WGMMA_A + rank * HALF, b, own_b, full,
                                  (1 << CLUSTER) - 1);
            if (++stage == TMM__INT8_WGMMA_STAGES) stage = 0, parity ^= 1;
        }
    }
    if (job->keep_pace) atomicMax(&job->state->pace, 1u << 30); /* no more to wait for */
}

/* What a warpgroup does: multiplies stage after stage, and leaves bytes in the planes of C. */
TMM__DEVICE void tmm__int8_multiply(const tmm__int8_products *job, int units, unsigned stages,
                                    unsigned fulls, unsigned empties)
{
    enum { CLUSTER = TMM__INT8_WGMMA_CLUSTER, DOWN = TMM__INT8_WGMMA_DOWN };
    enum { SUMS = TMM__INT8_WGMMA_SUMS, PIECES = TMM__INT8_WGMMA_COLS / 32 };
    const int tiles = job->tiles_down * job->tiles_across, rank = blockIdx.x % CLUSTER;
    const int group = threadIdx.x / 128 - 1, t = threadIdx.x % 128, lane = t % 32;
    int stage = 0;
    unsigned parity = 0;
    for (int unit = blockIdx.x / CLUSTER; unit < units; unit += gridDim.x / CLUSTER) {
        unsigned c[DOWN][SUMS];
        int last = 0, row, col;
#pragma unroll 1
        for (int k = 0; k < job->k_blocks; k++) {
            unsigned at = stages + stage * TMM__INT8_WGMMA_STAGE;
            tmm__barrier_wait(fulls + 8 * stage, parity);
            unsigned long long a = tmm__descriptor(at + group * (DOWN * TMM__INT8_BLOCK));
            unsigned long long b = tmm__descriptor(at + TMM__INT8_WGMMA_A);
            TMM__WGMMA_BEGIN();
#pragma unroll
            for (int i = 0; i < TMM__INT8_K / 32; i++)
#pragma unroll
                for (int d = 0; d < DOWN; d++)
                    tmm__wgmma_bytes(c[d], a + 2 * i + d * (TMM__INT8_BLOCK / 16), b + 2 * i,
                                     k + i > 0);
            TMM__WGMMA_COMMIT();
            if (k > 0) { /* the stage before is read */
                TMM__WGMMA_WAIT(1);
                if (lane < CLUSTER) tmm__barrier_arrive_at(empties + 8 * last, lane);
            }
            last = stage;
            if (++stage == TMM__INT8_WGMMA_STAGES) stage = 0, parity ^= 1;
        }
        TMM__WGMMA_WAIT(0);
#pragma unroll
        for (int i = 0; i < DOWN * SUMS; i++)
            asm volatile("" : "+r"(c[i / SUMS][i % SUMS])::"memory");
        if (lane < CLUSTER) tmm__barrier_arrive_at(empties + 8 * last, lane);

        const int modulus = unit / tiles;
        const bool logs = job->state == NULL;
        const unsigned p = job->p[modulus], inverse = job->inverse[modulus];
        tmm__int8_find(unit - modulus * tiles, job->tiles_down, job->tiles_across, &row, &col);
        const int piece_row = ((row * CLUSTER + rank) * 2 + group) * DOWN;
        unsigned char *to = job->C +
                            tmm__int8_piece_at(piece_row, col * PIECES, job->pieces_across) +
                            (logs ? (int)TMM__INT8_UNITS : modulus) * TMM__INT8_PIECE + t * 16;
        const size_t next_row = tmm__int8_piece_at(1, 0, job->pieces_across);
#pragma unroll
        for (int m = 0; m < DOWN * PIECES; m++) {
            unsigned word[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                word[j] = tmm__int8_word(&c[m / PIECES][m % PIECES * 16 + 4 * j], p, inverse, logs);
            if (piece_row + m / PIECES < job->pieces_down &&
                col * PIECES + m % PIECES < job->pieces_across)
                __stcs((uint4 *)(to + m / PIECES * next_row +
                                 m % PIECES * (TMM__INT8_PLANES * TMM__INT8_PIECE)),
                       make_uint4(word[0], word[1], word[2], word[3]));
        }
    }
}
#endif
#endif

/* KERNEL TENSOR INT8 by wgmma. 384 threads, persistent, in clusters of two that are above each
   other in C and share what is copied of B. Of the first warpgroup one thread copies, two multiply.
   A unit is a plane of a cluster's tiles, modulus by modulus; a plane in bands of four.
                +----------------------+              copies          | s0 | s1 | s2 | s3 | s0 |
       block 0  |   256 x 192          |              warpgroup 1,2        | s0 | s1 | s2 | s3 |
                +----------------------+
       block 1  |   256 x 192          |   each warpgroup has 128 x 192 of it, as 2 wgmma of 64 x 192
                +----------------------+   with 192 sums of 232 registers a thread

   A stage is 128 k: 12.6 million operations, and 32 KB of A and 12 of B that the block has copied.
   So 280 operations a byte from L2. A multiprocessor does 8192 a clock, and would take 29 bytes;
   it reads 128 KB of shared memory in 1536 clocks of multiplication, two thirds of what that
   gives. Longer than some ms it is bound by the power that the device may draw: so blocks keep
   together along k (tmm__keep_pace), and what is copied twice is little. */
TMM_KERNEL void __launch_bounds__(384, 1)
    tmm__xgemm_int8_wgmma(const __grid_constant__ tmm__int8_products job)
{
#if TMM__WGMMA
    enum { STAGES = TMM__INT8_WGMMA_STAGES, CLUSTER = TMM__INT8_WGMMA_CLUSTER };
    extern __shared__ __align__(128) unsigned char tmm__int8_stages[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES];
    unsigned stages = ((unsigned)__cvta_generic_to_shared(tmm__int8_stages) + 1023) & ~1023u;
    unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
    unsigned empties = (unsigned)__cvta_generic_to_shared(empty);
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const int planes = job.state == NULL ? 1 : (int)job.state->moduli;
    const int units = planes * job.tiles_down * job.tiles_across;
    if (units == 0) return; /* FP64 for all */
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < STAGES; i++) {
            tmm__barrier_init(fulls + 8 * i, 1);
            tmm__barrier_init(empties + 8 * i, 8 * CLUSTER);
        }
        /* So that the other block and copies find the barriers (PTX ISA 9.7, "fence"). */
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    tmm__cluster_arrive(true);
    tmm__cluster_wait();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) tmm__int8_copy(&job, units, stages, fulls, empties);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        tmm__int8_multiply(&job, units, stages, fulls, empties);
    }
    __syncwarp();
    tmm__cluster_arrive(false); /* none leaves while the other may arrive at its barriers */
    tmm__cluster_wait();
#else
    (void)job;
#endif
}
#endif
