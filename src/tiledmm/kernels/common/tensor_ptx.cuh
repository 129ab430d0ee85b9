/* src/tiledmm/kernels/common/tensor_ptx.cuh. Wrappers of the PTX instructions that products on tensor
   cores share.
   Uses: once/. Used by: kernels/tensor_float/, kernels/tensor_half/, kernels/tensor_int8/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE &&                                                       \
    (TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR || TMM__HALF_TENSOR) && !defined(TMM__FLOAT_ONCE) && \
    !defined(TMM__DOUBLE_ONCE) && !defined(TMM__HALF_ONCE)
/* wgmma, mbarriers and bulk copies are for this one architecture. Not with nvcc -G, which has too few
   registers for them: debug builds take mma.sync. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUDACC_DEBUG__)
#define TMM__WGMMA 1
#else
#define TMM__WGMMA 0
#endif

#if TMM__WGMMA
/* Barriers in shared memory that count arrivals of threads and bytes of copies (PTX ISA 9.7,
   "mbarrier"). A phase ends when all `arrivals` and bytes are there; waiting is for the end of the
   phase of that parity, the first phase having parity 0. */
TMM__DEVICE void tmm__barrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

TMM__DEVICE void tmm__barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives at the barrier that lies here in block `rank` of the cluster (PTX ISA 9.7, "mapa",
   "mbarrier.arrive"). */
TMM__DEVICE void tmm__barrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

/* When all that the thread has copied by cp.async is there. */
TMM__DEVICE void tmm__barrier_arrive_copied(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

TMM__DEVICE void tmm__barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

TMM__DEVICE void tmm__barrier_wait(unsigned barrier, unsigned parity)
{
    unsigned done;
    do {
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!done);
}

/* Is this the one thread of a whole warp that shall copy (PTX ISA 9.7, "elect.sync")? Of a thread found by its
   number ptxas does not know that it is alone: it puts each bulk copy into a loop over lanes. */
TMM__DEVICE bool tmm__elected(void)
{
    unsigned elected;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(elected));
    return elected != 0;
}

/* Copies bytes, a multiple of 16, to shared memory; the barrier counts them (PTX ISA 9.7,
   "cp.async.bulk"). */
TMM__DEVICE void tmm__copy_bulk(unsigned shared, const void *global, unsigned bytes,
                                unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* Tensor cores multiply what a warpgroup, four warps, has in registers and shared memory, while the
   warps go on (PTX ISA 9.7, "wgmma"). BEGIN orders registers and memory before. COMMIT ends a group
   of multiplications. WAIT waits for all groups but the last `pending`. */
#define TMM__WGMMA_BEGIN()  asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define TMM__WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define TMM__WGMMA_WAIT(pending) \
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory")

/* The matrix descriptor of wgmma: address / 16; from bit 32 on the distance of groups of eight
   lines / 16; bit 62, the layout with 128-byte swizzle. */
TMM__DEVICE unsigned long long tmm__descriptor(unsigned address)
{
    return (address & 0x3ffffu) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

/* Keeps blocks at about the same k. Then those of a band read the same lines of A and B once from
   memory, and from L2 after that. Left alone blocks drift apart: copies run ahead, so a block whose
   lines come from memory is not slower, and gets no nearer to the others. Large products then read
   much more memory, which costs power, and with it clock. So the thread that copies counts itself
   in `pace`, every TMM__FLOAT_PACE blocks of 32 k. It waits until all blocks have counted as often
   but for this time, `due` in all. Not for ever, since not all need be on the device at once: false
   says that it gave up. */
TMM__DEVICE bool tmm__keep_pace(unsigned *pace, unsigned due)
{
    if (atomicAdd(pace, 1) >= due) return true;
#pragma unroll 1
    for (int i = 0; i < 128; i++) /* 50 microseconds or so */
        if (*(volatile unsigned *)pace >= due) return true;
    return false;
}
#endif /* TMM__WGMMA */

/* Loads four matrices of 8 x 8 FP16 from shared memory (PTX ISA 9.7, "ldmatrix"). Lane l gives the
   address of row l % 8 of matrix l / 8. fragment[i] gets the elements 2 (l % 4) and 2 (l % 4) + 1
   of row l / 4 of matrix i. */
TMM__DEVICE void tmm__load_matrices(unsigned *fragment, const void *row)
{
#if TMM__ASYNC
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
#else
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        size_t from = __shfl_sync(0xffffffffu, (unsigned long long)(size_t)row, 8 * i + lane / 4);
        fragment[i] = ((const unsigned *)from)[lane % 4];
    }
#endif
}

/* A float and its bits; the value of an FP16. */
TMM__DEVICE unsigned tmm__float_bits(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}

TMM__DEVICE float tmm__bits_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

TMM__DEVICE float tmm__from_half(unsigned half)
{
    unsigned sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
    if (size < 0x400u) {
        float small = (float)size * 5.9604644775390625e-8f; /* 2^-24 */
        return tmm__bits_float(sign | tmm__float_bits(small));
    }
    if (size >= 0x7c00u) return tmm__bits_float(sign | 0x7f800000u | size << 13);
    return tmm__bits_float(sign | ((size << 13) + 0x38000000u));
}

#if !TMM__ASYNC
/* What tmm__mma_16 does without the instruction. Out of line: KERNEL TENSOR HALF has some hundreds of these
   products in a stage, and bfloat16 for sm_75 took minutes to compile. */
static inline __device__ __noinline__ void tmm__mma_16_twin(float *c, const unsigned *a,
                                                            const unsigned *b, const bool bfloat)
{
    int lane = threadIdx.x % 32, g = lane / 4 * 4, t = lane % 4 * 8;
    const unsigned long long upper = (unsigned long long)a[2] << 32 | a[0];
    const unsigned long long lower = (unsigned long long)a[3] << 32 | a[1];
    const unsigned long long both = (unsigned long long)b[1] << 32 | b[0];
    unsigned long long of[4][4]; /* words of two rows and two columns, and those 8 k further on */
    for (int i = 0; i < 4; i++) {
        of[0][i] = __shfl_sync(0xffffffffu, upper, g + i);
        of[1][i] = __shfl_sync(0xffffffffu, lower, g + i);
        of[2][i] = __shfl_sync(0xffffffffu, both, t + i);
        of[3][i] = __shfl_sync(0xffffffffu, both, t + 4 + i);
    }
    for (int k = 0; k < 16; k++) {
        float x[4];
        for (int i = 0; i < 4; i++) {
            unsigned bits = of[i][k % 8 / 2] >> (k / 8 * 32 + k % 2 * 16) & 0xffff;
            x[i] = bfloat ? tmm__bits_float(bits << 16) : tmm__from_half(bits);
        }
        for (int i = 0; i < 4; i++) c[i] += x[i / 2] * x[2 + i % 2];
    }
}
#endif

/* c += a b by a warp on tensor cores, FP16 or BF16 with sums in float: a 16 x 16, b 16 x 8. For
   lane l, g = l / 4 and t = l % 4; each word of a and b is two neighbours along k (PTX ISA 9.7,
   "Matrix Fragments for mma.m16n8k16 with floating point type"):
       a[0] = a(g, 2t)  a[1] = a(g + 8, 2t)  a[2] = a(g, 2t + 8)  a[3] = a(g + 8, 2t + 8)
       b[0] = b(2t, g)  b[1] = b(2t + 8, g)
       c[0], c[1] = c(g, 2t), c(g, 2t + 1)   c[2], c[3] = c(g + 8, 2t), c(g + 8, 2t + 1) */
#define TMM__MMA_ASM(type)                                                                        \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, " \
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                  \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
TMM__DEVICE void tmm__mma_16(float *c, const unsigned *a, const unsigned *b, const bool bfloat)
{
#if TMM__ASYNC
    if (bfloat)
        TMM__MMA_ASM("bf16");
    else
        TMM__MMA_ASM("f16");
#else
    tmm__mma_16_twin(c, a, b, bfloat);
#endif
}
#endif
