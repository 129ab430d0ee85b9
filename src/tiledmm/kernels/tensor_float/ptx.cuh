/* src/tiledmm/kernels/tensor_float/ptx.cuh. Wrappers of the PTX instructions that floats on tensor cores
   take.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
#if TMM__WGMMA
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

/* c = a b + (add ? c : 0) by a warpgroup: a 64 x 16, b 16 x `columns` (32, 64 or 96), FP16 in
   shared memory. See PTX ISA 9.7, "wgmma.mma_async", and "Register Fragments for
   wgmma.mma_async.m64nNk16". Thread t has, with g = t / 32 * 16 + t % 32 / 4,
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

#endif /* TMM__WGMMA */

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
