/* src/tiledmm/once/ptx.cuh. Wrappers of PTX instructions, with a portable twin where the CPU runner
   needs one.
   Uses: config.h. Used by: kernels/common/, config.h, kernels/. */
#if TMM__KERNELS && !defined(TMM__ONCE)

/* sum + a b: PTX ISA 9.7, "mad". See TMM__MULTIPLY_ADD. */
#ifdef __CUDA_ARCH__
TMM__DEVICE int tmm__mad(int a, int b, int sum)
{
    int result;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* A launch may begin while the one before it in the stream still works (PTX ISA 9.7,
   "griddepcontrol"). These let the next launch begin, and wait until the one before is complete and
   visible. */
TMM__DEVICE void tmm__let_next_begin(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
TMM__DEVICE void tmm__wait_for_previous(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#else
TMM__DEVICE void tmm__let_next_begin(void)
{
}
TMM__DEVICE void tmm__wait_for_previous(void)
{
}
#endif

/* Copies into shared memory that complete later (cp.async, PTX ISA 9.7, "Data Movement and
   Conversion Instructions"; sm_80 and later). Each writes `bytes` (4, 8 or 16, a constant; both
   addresses a multiple of it). The first `valid` are read, the others are zeros. Copies of 16
   bytes bypass L1. All prefetch the line of 128 bytes into L2. Elsewhere, plain copies. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define TMM__ASYNC 1
#else
#define TMM__ASYNC 0
#endif

TMM__DEVICE void tmm__copy_zfill(void *shared, const void *global, int bytes, int valid)
{
#if TMM__ASYNC
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
                     "l"(global), "r"(valid)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;" ::"r"(to), "l"(global),
                     "r"(valid)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2;" ::"r"(to), "l"(global),
                     "r"(valid)
                     : "memory");
#else
    for (int i = 0; i < bytes; i += 4) {
        char *to = (char *)shared + i;
        const char *from = (const char *)global + i;
        if (valid >= i + 4) {
            *(unsigned *)to = *(const unsigned *)from;
        } else {
            for (int j = 0; j < 4; j++) to[j] = i + j < valid ? from[j] : (char)0;
        }
    }
#endif
}

/* The same, all or nothing. */
TMM__DEVICE void tmm__copy_async(void *shared, const void *global, int bytes, bool valid)
{
    tmm__copy_zfill(shared, global, bytes, valid ? bytes : 0);
}

/* 16 bytes of which `valid` are read, through L1 if `near`: it keeps the sectors of L2 that the next
   copies ask for again. */
TMM__DEVICE void tmm__copy_near(void *shared, const void *global, int valid, bool near)
{
#if TMM__ASYNC
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n"
                 "@p cp.async.ca.shared.global.L2::128B [%0], [%1], 16, %2;\n"
                 "@!p cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n}" ::"r"(
                     (unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global), "r"(valid), "r"((int)near)
                 : "memory");
#else
    (void)near;
    tmm__copy_zfill(shared, global, 16, valid);
#endif
}

/* Stores two doubles, of which L2 is to keep nothing (PTX ISA 9.7, "st", "cache operators"). */
TMM__DEVICE void tmm__store_streaming(double *to, const double *two)
{
#if TMM__ASYNC
    asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" ::"l"(to), "d"(two[0]), "d"(two[1])
                 : "memory");
#else
    to[0] = two[0], to[1] = two[1];
#endif
}

/* Ends a group of copies. */
TMM__DEVICE void tmm__copy_commit(void)
{
#if TMM__ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most `pending` (a constant) of this thread's groups are not complete. */
#if TMM__ASYNC
#define TMM__COPY_WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")
#else
#define TMM__COPY_WAIT(pending) ((void)(pending))
#endif

/* Stages of a ring of buffers; two where copies are not asynchronous. */
#if defined(__CUDA_ARCH__) && !TMM__ASYNC
#define TMM__STAGES(most) 2
#else
#define TMM__STAGES(most) (most)
#endif

/* Whether double products go to tensor cores, or to their twin where the kernels are compiled for a
   CPU: see tmm__mma_double. */
#if defined(__CUDA_ARCH__) && !TMM__ASYNC
#define TMM__TENSOR_CORES 0
#else
#define TMM__TENSOR_CORES 1
#endif

/* Where a lane lies among the 4 x 8 of a warp: in squares of 2 x 2, not in rows of 8. Lanes 2 n
   and 2 n + 1 then read the same 16 bytes of A, lanes n and n + 2 the same of B: two rounds of
   shared memory for a load of 16 bytes, not four. */
#define TMM__LANE_DOWN(lane)   (((lane) >> 4 << 1) | ((lane) >> 1 & 1))
#define TMM__LANE_ACROSS(lane) (((lane) >> 2 << 1 & 6) | ((lane)&1))

/* Elements to a wide copy, which moves 16 bytes (less of types below 4 bytes). */
#define TMM__WIDE ((int)sizeof(TMM_TYPE) < 8 ? 4 : 2)

/* Read %tid.x and %ctaid.x again, so that they need no registers across a main loop. */
TMM__DEVICE int tmm__thread(void)
{
#if defined(__CUDA_ARCH__)
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
#else
    return threadIdx.x;
#endif
}

TMM__DEVICE int tmm__block(void)
{
#if defined(__CUDA_ARCH__)
    int block;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    return block;
#else
    return blockIdx.x;
#endif
}

/* Loads or stores `bytes` (a constant; the global address is a multiple) if `enabled`; otherwise `to`
   keeps what it has. 2, 4 or 8 bytes: one predicated instruction (PTX ISA 9.3): a branch becomes
   one, too, but takes the compiler several times as long (bench/notes/compile_time.md). memcpy of 2
   bytes stores each of them. ptxas 13.0 takes the low byte of a half for its value as an integer. */
TMM__DEVICE void tmm__load_if(void *to, const void *from, int bytes, bool enabled)
{
#if defined(__CUDA_ARCH__)
    if (bytes == 8) {
        unsigned long long x;
        memcpy(&x, to, 8);
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.b64 %0, [%1];\n}"
                     : "+l"(x)
                     : "l"(from), "r"((int)enabled)
                     : "memory");
        memcpy(to, &x, 8);
    } else if (bytes == 4) {
        unsigned x;
        memcpy(&x, to, 4);
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.b32 %0, [%1];\n}"
                     : "+r"(x)
                     : "l"(from), "r"((int)enabled)
                     : "memory");
        memcpy(to, &x, 4);
    } else if (bytes == 2) {
        unsigned short x;
        memcpy(&x, to, 2);
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.b16 %0, [%1];\n}"
                     : "+h"(x)
                     : "l"(from), "r"((int)enabled)
                     : "memory");
        memcpy(to, &x, 2);
    } else if (enabled) {
        memcpy(to, from, bytes);
    }
#else
    if (enabled) memcpy(to, from, bytes);
#endif
}

TMM__DEVICE void tmm__store_if(void *to, const void *from, int bytes, bool enabled)
{
#if defined(__CUDA_ARCH__)
    if (bytes == 8) {
        unsigned long long x;
        memcpy(&x, from, 8);
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.b64 [%1], %0;\n}" ::"l"(
                         x),
                     "l"(to), "r"((int)enabled)
                     : "memory");
    } else if (bytes == 4) {
        unsigned x;
        memcpy(&x, from, 4);
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.b32 [%1], %0;\n}" ::"r"(
                         x),
                     "l"(to), "r"((int)enabled)
                     : "memory");
    } else if (bytes == 2) {
        unsigned short x;
        memcpy(&x, from, 2);
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.b16 [%1], %0;\n}" ::"h"(
                         x),
                     "l"(to), "r"((int)enabled)
                     : "memory");
    } else if (enabled) {
        memcpy(to, from, bytes);
    }
#else
    if (enabled) memcpy(to, from, bytes);
#endif
}

/* Which of `count` elements from col on are in [first, end): bit j for element col + j. */
TMM__DEVICE unsigned tmm__column_mask(long long col, int count, long long first, long long end)
{
    int from = first <= col ? 0 : first - col < count ? (int)(first - col) : count;
    int to = end <= col ? 0 : end - col < count ? (int)(end - col) : count;
    return ((1u << to) - 1) & ~((1u << from) - 1);
}

/* Keeps the compiler from moving loads and stores across. */
#define TMM__FENCE() asm volatile("" ::: "memory")
/* Hides from the compiler what x is: what depends on it is computed again, not kept. */
#define TMM__HIDE(x)         asm volatile("" : "+r"(x))
#define TMM__HIDE_POINTER(x) asm volatile("" : "+l"(x))

/* Release and acquire between blocks (PTX ISA 8, "Memory Consistency Model"). One thread sets a
   flag after a barrier of its block. One thread of another block waits for it before a barrier
   of that block, which then sees what the first has written. */
TMM__DEVICE void tmm__flag_set(unsigned long long *flag, unsigned long long value)
{
    __threadfence();
    atomicExch(flag, value);
}

TMM__DEVICE void tmm__flag_wait(unsigned long long *flag, unsigned long long value)
{
    while (*(volatile unsigned long long *)flag != value) {
    }
    __threadfence();
    *flag = 0; /* so that an old flag never looks like a new one */
}

/* Keeps the compiler from changing the order of instructions across: no more than that. */
#if defined(__CUDA_ARCH__)
#define TMM__KEEP_ORDER() __syncwarp()
#else
#define TMM__KEEP_ORDER() ((void)0)
#endif

/* The blocks of a cluster reach each other's shared memory (sm_90 and later; PTX ISA 9.7,
   "mapa", "ld", "st", "barrier.cluster"). tmm__map_shared: where `address`, of this block's
   shared memory, lies in that of block `rank`. tmm__store_shared_cluster stores 16 bytes there.
   arrive and wait are the halves of a barrier of the cluster. Behind it everyone sees what was
   `written` in front of it. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define TMM__CLUSTERS 1
TMM__DEVICE unsigned tmm__map_shared(const void *address, unsigned rank)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"((unsigned)__cvta_generic_to_shared(address)), "r"(rank));
    return there;
}

TMM__DEVICE void tmm__store_shared_cluster(unsigned there, const void *bytes)
{
    uint4 word;
    memcpy(&word, bytes, 16);
    asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(word.x),
                 "r"(word.y), "r"(word.z), "r"(word.w)
                 : "memory");
}

TMM__DEVICE void tmm__store_doubles_cluster(unsigned there, const double *two)
{
    asm volatile("st.shared::cluster.v2.f64 [%0], {%1, %2};" ::"r"(there), "d"(two[0]), "d"(two[1])
                 : "memory");
}

/* A word of the shared memory of block `rank`, at the place of `word` in this one's. */
TMM__DEVICE unsigned tmm__load_word_cluster(const unsigned *word, unsigned rank)
{
    unsigned x;
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(x)
                 : "r"(tmm__map_shared(word, rank))
                 : "memory");
    return x;
}

TMM__DEVICE void tmm__store_word_cluster(unsigned *word, unsigned rank, unsigned x)
{
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(tmm__map_shared(word, rank)), "r"(x)
                 : "memory");
}

TMM__DEVICE void tmm__cluster_arrive(bool written)
{
#if __CUDACC_VER_MAJOR__ >= 12
    if (!written) {
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
        return;
    }
#endif
    (void)written;
    asm volatile("barrier.cluster.arrive;" ::: "memory"); /* release */
}

TMM__DEVICE void tmm__cluster_wait(void)
{
    asm volatile("barrier.cluster.wait;" ::: "memory"); /* acquire */
}
#else
#define TMM__CLUSTERS 0
#endif

/* c += a b, a 16 x 8 and b 8 x 8, by a warp. Of a, b and c its lanes hold, with g = lane / 4 and
   t = lane % 4,
       a[2 q + h] = a(g + 8 h, 4 q + t)    b[q] = b(4 q + t, g)    c[2 h + i] = c(g + 8 h, 2 t + i)
   for q, h, i = 0, 1 (PTX ISA 9.7, "Matrix Fragments for mma.m16n8k8", .f64, sm_90 and later; and
   "Matrix Fragments for mma.m8n8k4 with .f64 floating point type", sm_80 and later, of which 4 are
   as much). Elsewhere lanes exchange what they hold by shuffles, many times slower. That is a
   function of its own, for it would be long if inlined. */
#if TMM__ASYNC
TMM__DEVICE void tmm__mma_double(double *c, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(c[2 * h]), "+d"(c[2 * h + 1])
                : "d"(a[2 * q + h]), "d"(b[q]));
#endif
}
#else
static inline __device__ __noinline__ void tmm__mma_double(double *c, const double *a,
                                                           const double *b)
{
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#if !defined(__CUDA_ARCH__) /* zeros beside a small matrix, unless they meet Inf or NaN */
    bool of_a = false, of_b = false;
    for (int i = 0; i < 4; i++) of_a |= a[i] != 0, of_b |= a[i] - a[i] != 0;
    for (int i = 0; i < 2; i++) of_b |= b[i] != 0, of_a |= b[i] - b[i] != 0;
    if (!__any_sync(0xffffffff, of_a) || !__any_sync(0xffffffff, of_b)) return;
#endif
    for (int k = 0; k < 8; k++) {
        int q = k / 4, row = 4 * g + k % 4, col = 8 * t + k % 4; /* lanes that hold what it needs */
        double upper = __shfl_sync(0xffffffff, a[2 * q], row);
        double lower = __shfl_sync(0xffffffff, a[2 * q + 1], row);
        double left = __shfl_sync(0xffffffff, b[q], col);
        double right = __shfl_sync(0xffffffff, b[q], col + 4);
        c[0] += upper * left;
        c[1] += upper * right;
        c[2] += lower * left;
        c[3] += lower * right;
    }
}
#endif
#endif
