/* src/tiledmm/kernels/float/ptx.cuh. Wrappers of the PTX instructions that floats on tensor cores take.
   Uses: once/ptx.cuh. Used by: kernels/float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__PART_FLOAT_PTX)
#define TMM__PART_FLOAT_PTX
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* A launch may begin while the one before it in the stream still works (PTX ISA 9.7,
   "griddepcontrol"). These let the next launch begin, and wait until the one before is complete and
   visible. */
static __device__ __forceinline__ void tmm__let_next_begin(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
static __device__ __forceinline__ void tmm__wait_for_previous(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#else
static __device__ __forceinline__ void tmm__let_next_begin(void)
{
}
static __device__ __forceinline__ void tmm__wait_for_previous(void)
{
}
#endif

#if TMM__WGMMA
/* Barriers in shared memory that count arrivals of threads and bytes of copies (PTX ISA 9.7,
   "mbarrier"). A phase ends when all `arrivals` and bytes are there; waiting is for the end of the
   phase of that parity, the first phase having parity 0. */
static __device__ __forceinline__ void tmm__barrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

static __device__ __forceinline__ void tmm__barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

static __device__ __forceinline__ void tmm__barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void tmm__barrier_wait(unsigned barrier, unsigned parity)
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

/* Copies bytes, a multiple of 16, to shared memory; the barrier counts them (PTX ISA 9.7,
   "cp.async.bulk"). */
static __device__ __forceinline__ void tmm__copy_bulk(unsigned shared, const void *global,
                                                      unsigned bytes, unsigned barrier)
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

/* Waits for all groups but the last `pending`, 0 or 1. The `count` sums are then as wgmma has left
   them; before that the compiler must not touch them. */
static __device__ __forceinline__ void tmm__wgmma_wait(float *c, int count, int pending)
{
    if (pending == 0)
        TMM__WGMMA_WAIT(0);
    else
        TMM__WGMMA_WAIT(1);
#pragma unroll
    for (int i = 0; i < count; i++) asm volatile("" : "+f"(c[i])::"memory");
}

/* The matrix descriptor of wgmma: address / 16; from bit 32 on the distance of groups of eight lines
   / 16; bit 62, the layout with 128-byte swizzle. */
static __device__ __forceinline__ unsigned long long tmm__descriptor(unsigned address)
{
    return (address & 0x3ffffu) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

/* c = a b + (add ? c : 0) by a warpgroup: a 64 x 16, b 16 x `columns` (32, 64 or 96), FP16 in shared
   memory. See PTX ISA 9.7, "wgmma.mma_async", and "Register Fragments for wgmma.mma_async.m64nNk16".
   Thread t has, with g = t / 32 * 16 + t % 32 / 4,
       c[4 j + 2 h + i] = c(g + 8 h, 8 j + 2 (t % 4) + i) */
#define TMM__C4(i)    "+f"(c[i]), "+f"(c[(i) + 1]), "+f"(c[(i) + 2]), "+f"(c[(i) + 3])
#define TMM__C16(i)   TMM__C4(i), TMM__C4((i) + 4), TMM__C4((i) + 8), TMM__C4((i) + 12)
#define TMM__C32(i)   TMM__C16(i), TMM__C16((i) + 16)
#define TMM__NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TMM__NAMES_48                                                              \
    TMM__NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, " \
                  "%44, %45, %46, %47"
#define TMM__NAMES_32                                                                  \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, " \
    "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TMM__NAMES_64                                                              \
    TMM__NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, " \
                  "%60, %61, %62, %63"
#define TMM__WGMMA_ASM(n, type, names, a, b, add)                                              \
    "{\n.reg .pred p;\nsetp.ne.b32 p, %" add ", 0;\n"                                          \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" names "}, %" a ", %" b \
    ", p, 1, 1, 0, 0;\n}"
static __device__ __forceinline__ void tmm__wgmma(float *c, unsigned long long a,
                                                  unsigned long long b, int columns, int add)
{
    if (columns == 32)
        asm volatile(TMM__WGMMA_ASM("32", "f16", TMM__NAMES_16, "16", "17", "18")
                     : TMM__C16(0)
                     : "l"(a), "l"(b), "r"(add));
    else if (columns == 96)
        asm volatile(TMM__WGMMA_ASM("96", "f16", TMM__NAMES_48, "48", "49", "50")
                     : TMM__C32(0), TMM__C16(32)
                     : "l"(a), "l"(b), "r"(add));
    else
        asm volatile(TMM__WGMMA_ASM("64", "f16", TMM__NAMES_32, "32", "33", "34")
                     : TMM__C32(0)
                     : "l"(a), "l"(b), "r"(add));
}

/* The same for a and b in BF16, and 128 columns. */
static __device__ __forceinline__ void tmm__wgmma_bfloat(float *c, unsigned long long a,
                                                         unsigned long long b, int add)
{
    asm volatile(TMM__WGMMA_ASM("128", "bf16", TMM__NAMES_64, "64", "65", "66")
                 : TMM__C32(0), TMM__C32(32)
                 : "l"(a), "l"(b), "r"(add));
}

/* Keeps blocks at about the same k. Then those of a band read the same lines of A and B once from
   memory, and from L2 after that. Left alone blocks drift apart: copies run ahead, so one whose lines
   come from memory is not slower and gets no nearer to the others. At N = 16384 they read 2.9 TB/s of
   memory then, and took a fifth longer, bound by the power that the device may draw.
   So the thread that copies counts itself in `pace`, every TMM__FLOAT_PACE blocks of 32 k. It waits
   until all blocks have counted as often but for this time, `due` in all. Not for ever, since not
   all need be on the device at once: false says that it gave up. */
static __device__ __forceinline__ bool tmm__keep_pace(unsigned *pace, unsigned due)
{
    if (atomicAdd(pace, 1) >= due) return true;
#pragma unroll 1
    for (int i = 0; i < 128; i++) /* 50 microseconds or so */
        if (*(volatile unsigned *)pace >= due) return true;
    return false;
}
#endif /* TMM__WGMMA */

/* Loads four matrices of 8 x 8 FP16 from shared memory (PTX ISA 9.7, "ldmatrix"). Lane l gives the
   address of row l % 8 of matrix l / 8. fragment[i] gets the elements 2 (l % 4) and 2 (l % 4) + 1 of
   row l / 4 of matrix i. */
static __device__ __forceinline__ void tmm__load_matrices(unsigned *fragment, const void *row)
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
static __device__ __forceinline__ void tmm__mma_16(float *c, const unsigned *a, const unsigned *b,
                                                   const bool bfloat)
{
#if TMM__ASYNC
    if (bfloat)
        TMM__MMA_ASM("bf16");
    else
        TMM__MMA_ASM("f16");
#else
    int lane = threadIdx.x % 32, g = lane / 4 * 4, t = lane % 4 * 8;
    for (int k = 0; k < 16; k++) {
        int from = k % 8 / 2, shift = k % 2 * 16;
        unsigned of[4] = {__shfl_sync(0xffffffffu, a[k / 8 * 2], g + from),
                          __shfl_sync(0xffffffffu, a[k / 8 * 2 + 1], g + from),
                          __shfl_sync(0xffffffffu, b[k / 8], t + from),
                          __shfl_sync(0xffffffffu, b[k / 8], t + 4 + from)};
        float x[4];
        for (int i = 0; i < 4; i++) {
            unsigned bits = of[i] >> shift & 0xffff;
            x[i] = bfloat ? tmm__bits_float(bits << 16) : tmm__from_half(bits);
        }
        for (int i = 0; i < 4; i++) c[i] += x[i / 2] * x[2 + i % 2];
    }
#endif
}

/* A barrier of 256 threads. `named`: the block has others, so it is named barrier 2. */
static __device__ __forceinline__ void tmm__sync_256(bool named)
{
#if TMM__WGMMA
    if (named) {
        asm volatile("bar.sync 2, 256;" ::: "memory");
        return;
    }
#endif
    (void)named;
    __syncthreads();
}
#endif
