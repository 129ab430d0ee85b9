/* src/tiledmm/kernels/tensor_float/ptx.cuh. Wrappers of the PTX instructions that floats on tensor cores
   take.
   Uses: kernels/common/tensor_ptx.cuh, once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
#if TMM__WGMMA
/* Waits for all groups but the last `pending`, 0 or 1. The `count` sums are then as wgmma has left
   them; before that the compiler must not touch them. */
TMM__DEVICE void tmm__wgmma_wait(float *c, int count, int pending)
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
TMM__DEVICE void tmm__wgmma(float *c, unsigned long long a, unsigned long long b, int columns,
                            int add)
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
TMM__DEVICE void tmm__wgmma_bfloat(float *c, unsigned long long a, unsigned long long b, int add)
{
    asm volatile(TMM__WGMMA_ASM("128", "bf16", TMM__NAMES_64, "64", "65", "66")
                 : TMM__C32(0), TMM__C32(32)
                 : "l"(a), "l"(b), "r"(add));
}

#endif /* TMM__WGMMA */

/* A barrier of 256 threads. `named`: the block has others, so it is named barrier 2. */
TMM__DEVICE void tmm__sync_256(bool named)
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
