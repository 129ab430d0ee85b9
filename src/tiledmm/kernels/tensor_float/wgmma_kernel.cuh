/* src/tiledmm/kernels/tensor_float/wgmma_kernel.cuh. Floats as FP16 by wgmma, for sm_90a: the kernels.
   Uses: kernels/common/tensor_ptx.cuh, kernels/tensor_float/, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_KERNEL_LIST(TMM__IN_PASS) 0)
/* KERNEL TENSOR FLOAT by wgmma. 384 threads: in the first warpgroup one thread copies, and three
   warps look for rejected elements; two warpgroups multiply.

   A stage is 32 k of a tile: blocks of A, then blocks of B. A window is two stages. They go round:
       copies        | s0 | s1 | s2 | s3 | s0 | s1 |        a thread waits until `empty`, copies,
       warpgroup 1        [ window    ][ window    ]        which makes the stage `full`
       warpgroup 2          [ window    ][ window    ]      when both are through, it is `empty`
   Blocks are persistent: each takes tile after tile, in bands as KERNEL TENSOR.

   A window of 256 x 128 is 12.6 million operations and 96 KB copied from L2: 128 operations a byte.
   A wgmma of 64 x 64 x 16 reads 4 KB of shared memory and takes the tensor cores 32 clocks: 128
   bytes a clock, all that shared memory gives. For longer than some ms, what bounds it on an H200
   is the power that the device may draw. Reads of memory take more than reads of L2, so blocks keep
   together along k (tmm__keep_pace). */
TMM_KERNEL void __launch_bounds__(384, 1) tmm__gemm_float_wgmma(const tmm__float_job job)
{
#if TMM__WGMMA
    enum {
        STAGES_1 = TMM__WGMMA_1(tmm__xwgmma_stages_),
        STAGES_2 = TMM__WGMMA_2(tmm__xwgmma_stages_),
        STAGES = (int)STAGES_1 > (int)STAGES_2 ? (int)STAGES_1 : (int)STAGES_2,
        AREA = TMM__WGMMA_1(tmm__xwgmma_rows_) * TMM__WGMMA_1(tmm__xwgmma_cols_)
    };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES];
    __shared__ unsigned scales_lowest[2], scales_highest[2]; /* of A and B */
    __shared__ int doubtful;                                 /* whether there are such elements */
    __shared__ int is_last;                                  /* see wgmma_add_parts */
    unsigned skip = -(unsigned)__cvta_generic_to_shared(tmm__memory) & 1023;
    unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
    unsigned empties = (unsigned)__cvta_generic_to_shared(empty);

    if (threadIdx.x == 0) {
        const int readers = job.instance == TMM__WGMMA_1(TMM__WGMMA_)
                                ? (int)TMM__WGMMA_1(tmm__xwgmma_readers_)
                                : (int)TMM__WGMMA_2(tmm__xwgmma_readers_);
#pragma unroll
        for (int i = 0; i < STAGES; i++) {
            tmm__barrier_init(fulls + 8 * i, 1);
            tmm__barrier_init(empties + 8 * i, readers);
        }
        for (int i = 0; i < 2; i++) scales_lowest[i] = 0xffffffffu, scales_highest[i] = 0;
        doubtful = 0;
        /* So that copies find the barriers (PTX ISA 9.7, "membar / fence", "Async proxy"). */
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    tmm__let_next_begin();

    /* Each of the 384 threads has 168 registers. What 128 of them give away is what 256 take, or
       these would wait for ever. */
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x >= 32) {
            tmm__xwgmma_scale_range(&job, threadIdx.x - 32, scales_lowest, scales_highest);
            asm volatile("bar.arrive 1, 352;" ::: "memory");
        } else if (threadIdx.x == 0) {
            if (job.instance == TMM__WGMMA_1(TMM__WGMMA_)) {
                TMM__WGMMA_1(tmm__xwgmma_copy_)(&job, tmm__memory + skip, fulls, empties);
            } else {
                TMM__WGMMA_2(tmm__xwgmma_copy_)(&job, tmm__memory + skip, fulls, empties);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        unsigned char *memory = tmm__memory + skip;
        unsigned finished = 0;
        if (job.instance == TMM__WGMMA_1(TMM__WGMMA_)) {
            TMM__WGMMA_1(tmm__xwgmma_multiply_)
            (&job, memory, fulls, empties, &doubtful, &is_last, &finished);
        } else {
            TMM__WGMMA_2(tmm__xwgmma_multiply_)
            (&job, memory, fulls, empties, &doubtful, &is_last, &finished);
        }
        asm volatile("bar.sync 1, 352;" ::: "memory");
        float lowest = __uint_as_float(scales_lowest[0]) * __uint_as_float(scales_lowest[1]);
        float highest = __uint_as_float(scales_highest[0]) * __uint_as_float(scales_highest[1]);
        bool rejected = tmm__is_rejected(lowest, job.scale_min, job.scale_max) ||
                        tmm__is_rejected(highest, job.scale_min, job.scale_max);
        if (rejected || doubtful)
            tmm__xrecheck(&job, (float *)(tmm__memory + skip), threadIdx.x - 128, true, rejected,
                          doubtful, AREA > 128 * 64, job.tile_m, job.tile_n,
                          AREA > 128 * 64 ? 1 : job.parts, finished);
    }
#else
    (void)job;
#endif
}
#endif
