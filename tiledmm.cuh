/* tiledmm.cuh - v0.1 - tiled matrix multiply for CUDA: one file, plain C style, nothing to link
   but the CUDA runtime. Licence: MIT No Attribution (text at the end): paste what you like.

   USE    #include "tiledmm.cuh"              in any .cu file; everything is static, no set-up
          tmm_smatmul(M, N, K, A, B, C);      host arrays: allocates, copies, multiplies, copies back
          tmm_sgemm(TMM_OP_N, TMM_OP_N, M, N, K, 1, dA, K, dB, N, 0, dC, N, stream);   device arrays

   API    Letters: s = float, d = double, i = int (exact modulo 2^32). Below, T is that type.

   Matrices are ROW-MAJOR: element (i, j) of a matrix X with leading dimension ldx is
   X[i * ldx + j]. A column-major caller swaps the operands: C^T = B^T A^T, that is
   tmm_sgemm(opB, opA, N, M, K, alpha, B, ldb, A, lda, beta, C, ldc, stream).

     C = alpha * op(A) * op(B) + beta * C     op(A) is M x K, op(B) is K x N, C is M x N
     op is TMM_OP_N (as stored) or TMM_OP_T (transposed: A is stored K x M, B is stored N x K)

   Device pointers; enqueued on the stream, returns at once:
     tmm_sgemm(opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, stream)
     tmm_sgemm_batched(opA, ..., ldc, strideA, strideB, strideC, batch, stream)
                                              product b uses A + b * strideA, and so on
     tmm_sgemm_with(kernel, opA, ..., stream) the same with a kernel of your choice
     tmm_sgemm_batched_with(kernel, opA, ..., batch, stream)
     tmm_sgemm_choice(M, N, K, batch)         the kernel that TMM_AUTO picks for this shape
   Host pointers; complete when they return:
     tmm_smatmul(M, N, K, A, B, C)            C = A * B on the current device, the whole job
     tmm_sgemm_cpu(opA, ..., ldc)             blocked, one thread: the reference
     tmm_sgemm_openmp(opA, ..., ldc, threads) the same over threads (0: all); needs -fopenmp
   Checks, host pointers:
     tmm_max_abs_error(type, M, N, X, ldx, reference, ldr, &error)       reference is double
     tmm_max_rel_error(type, M, N, X, ldx, reference, ldr, &error)
     tmm_freivalds(type, M, N, K, A, lda, B, ldb, C, ldc, trials, seed, &excess)   is C = A B?
   Every call returns a tmm_status, TMM_OK (0) on success; tmm_status_string(status) names it,
   tmm_last_error() says which argument or CUDA call was at fault, in the calling thread.
   Nothing here prints or exits. tmm_kernel_string(kernel) gives a kernel's name.

   KERNELS, from the simplest to the fastest: TMM_AUTO chooses among
     TMM_GLOBAL         one thread, one element; everything from global memory
     TMM_SHARED         tiles in shared memory, TMM_SHARED_8, _16, _32 (TMM_SHARED is _32)
     TMM_REGISTER       tiles in shared memory, blocks of C in registers: TMM_REGISTER_64, _128
                        (the edge of a block's tile; TMM_REGISTER takes the better one)
   and, not yet chosen by TMM_AUTO:
     TMM_PIPELINED      the same with asynchronous copies, larger blocks of C, and work shared out
                        evenly along k; takes memory for that from a pool of its own (below)
     TMM_TENSOR         the same on tensor cores, so far for double; worth it where these are fast
                        for double (sm_80, sm_90, sm_100), elsewhere right but slow

   RULES that callers may rely on
     beta = 0 never reads C (it may hold NaN). alpha = 0 or K = 0 never reads A or B.
     M = 0, N = 0 or batch = 0 does nothing. Nothing is written outside the M x N part of C.
     NaN and infinity propagate. Dimensions and strides are 64-bit. The same input gives the same
     bits in every run; and in every kernel up to TMM_REGISTER, which sum each element in ascending
     k. TMM_PIPELINED and TMM_TENSOR do that, too, within each product of a batch; a single product
     they may sum in several pieces, which depend on the shape and the device only.
     C must not overlap A or B, nor the products of a batch each other.

   OPTIONS, defined before the include
     TMM_IMPLEMENTATION  in one .cu file: emits the functions with C linkage, for C and C++ callers
     TMM_EXTERN          in a .cu file: declarations of those functions only. A .c or .cpp file
                         (no nvcc) gets declarations without asking
     TMM_NO_READY_MADE   no float, double and int versions: only those you make yourself (below)
     TMM_KERNEL          qualifiers of the kernels, default static __global__; under NVRTC
                         extern "C" __global__, so that names stay plain: tmm_sgemm_shared_16.
                         For PyCUDA, which wraps the source in extern "C", define it __global__
     TMM_EPILOGUE(value, row, col)  an expression applied to each finished element of C on the
                         device, e.g. a clamp or bias[col] with a __device__ or __constant__ bias

     TMM_CLEAR_FLAGS     clears the flags of TMM_PIPELINED and TMM_TENSOR before each launch. They
                         need no such thing, but compute-sanitizer's initcheck cannot know that

   YOUR OWN TYPE, TILE OR EPILOGUE in three lines, as often as you like (after it the macros are
   undefined again). This makes tmm_ugemm, tmm_umatmul, ... for unsigned:
          #define TMM_TYPE unsigned
          #define TMM_NAME u
          #include "tiledmm.cuh"
   and this tmm_s24gemm for float, whose TMM_SHARED has tiles of 24 x 24:
          #define TMM_NAME s24
          #define TMM_TILE 24
          #include "tiledmm.cuh"
   TMM_TYPE (default float) is the element, TMM_SUM (default TMM_TYPE) what sums are kept in.
   Under TMM_IMPLEMENTATION the same lines emit C functions.

   MEASURED   TFLOP/s on one NVIDIA H200, CUDA 13.0, square, bench/results/h200/gemm.csv
                             float, N =                  double, N =
                          320   1024   4096   5120      320   1024   4096   5120
     TMM_GLOBAL          3.87   6.33   5.83   5.86     2.14   3.77   2.89   2.93
     TMM_SHARED_16       4.26   7.29   7.73   7.74     2.82   4.42   4.57   4.58
     TMM_SHARED_32       4.81   8.54   9.17   8.85     2.93   4.66   4.81   4.85
     TMM_REGISTER_64     4.34   28.9   30.7   31.4     1.71   9.80   10.1   10.3
     TMM_REGISTER_128    1.59   18.4   42.3   38.7     0.78   8.61   17.8   17.1
     cuBLAS              4.85   37.4   51.0   46.9     4.93   51.7   61.0   61.5
   Largest error of 2000 random elements at 4096, with A and B uniform in (-1, 1): 1.5e-04 (float),
   5.5e-13 (double). The error of an element is at most (K + 2) u (|A||B|)_ij for alpha = 1 and
   beta = 0, with u = 2^-24 or 2^-53; int is exact.

   LIMITS   TMM_TYPE of 8 bytes at most, TMM_TILE of 32 at most, 2^31 - 1 tiles of C to a product.
   One device; matrices in its memory. TMM_PIPELINED and TMM_TENSOR take up to a partial tile of
   64 KB for each block at work, and for large products copies of A and B in the form that they read
   best; without that memory they do without. TMM_TENSOR is for TMM_TYPE double alone, on devices
   that give a block 76 KB of shared memory (all from sm_80 on). Compile for the device itself (nvcc
   -arch=native): code made for sm_80 uses the tensor cores of sm_90 at half their speed.

   CONTENTS   search for the words in capitals
     CONFIGURATION, LINKAGE, TYPES, DECLARATIONS, STATUS
     KERNEL GLOBAL, KERNEL SHARED, KERNEL REGISTER    each can be cut out and used alone
     BUILDING BLOCKS, KERNEL PIPELINED (and REDUCE, PACK), KERNEL TENSOR
     INSTANCES, LAUNCHERS, CHOICE, HOST LAYER, CPU REFERENCE, CHECKS, READY-MADE, HISTORY */

/* ============================== CONFIGURATION ================================================= */
/* The file includes itself: with TMM__EMIT set to pass through one kernel only (1 global,
   2 shared, 3 register, 4 and 5 pipelined, 8 and 9 tensor), and with TMM_NAME set to make the
   functions of one element type. */
#ifndef TMM__EMIT
#ifndef TMM_VERSION
#define TMM_VERSION 100 /* 10000 * major + 100 * minor + patch */

/* ============================== LINKAGE ======================================================= */
#if defined(__CUDACC_RTC__)
#define TMM__KERNELS 1 /* NVRTC: kernels only, no host code */
#define TMM__HOST    0
#ifndef TMM_KERNEL
#define TMM_KERNEL extern "C" __global__
#endif
#elif defined(__CUDACC__) && !defined(TMM_EXTERN)
#define TMM__KERNELS 1
#define TMM__HOST    1
#ifndef TMM_KERNEL
#define TMM_KERNEL static __global__
#endif
#else
#define TMM__KERNELS 0 /* C or C++ without nvcc, or TMM_EXTERN: declarations only */
#define TMM__HOST    0
#endif

#if defined(TMM_IMPLEMENTATION) || !TMM__HOST
#ifdef __cplusplus
#define TMM_API extern "C"
#else
#define TMM_API extern
#endif
#else
#define TMM_API static inline
#endif

#if TMM__HOST
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#endif

/* The CPU reference is meant to be as fast as plain C can be, however the file is compiled: nvcc
   gives the host compiler no -O of its own. */
#if defined(__GNUC__) && !defined(__clang__)
#define TMM__OPTIMIZE __attribute__((optimize("O3")))
#else
#define TMM__OPTIMIZE
#endif

/* A product of two TMM_SUM, rounded once. Compilers may contract a * b + c * d into a multiply-add
   of either product, and choose differently from kernel to kernel; this keeps the last step,
   alpha sum + beta C, the same bits everywhere. */
#ifdef __CUDACC__
#define TMM__MUL(a, b)                                                   \
    ((TMM_SUM)0.5 == 0      ? (TMM_SUM)((a) * (b))                       \
     : sizeof(TMM_SUM) == 4 ? (TMM_SUM)__fmul_rn((float)(a), (float)(b)) \
                            : (TMM_SUM)__dmul_rn((double)(a), (double)(b)))
#endif

#define TMM__JOIN_(a, b) a##b
#define TMM__JOIN(a, b)  TMM__JOIN_(a, b)
#define TMM_FN(x)        TMM__JOIN(TMM__JOIN(tmm_, TMM_NAME), x) /* TMM_FN(gemm) is tmm_sgemm */

/* 1 if TMM_TYPE and TMM_SUM are the word double, for #if: only then is there a second argument 1. */
#define TMM__SECOND_(a, b, ...) b
#define TMM__SECOND(...)        TMM__SECOND_(__VA_ARGS__)
#define TMM__WORD_double        , 1
#define TMM__IS_DOUBLE                                     \
    (TMM__SECOND(TMM__JOIN(TMM__WORD_, TMM_TYPE), 0, 0) && \
     TMM__SECOND(TMM__JOIN(TMM__WORD_, TMM_SUM), 0, 0))

#ifndef __CUDACC_RTC__
/* ============================== TYPES ========================================================= */
typedef enum tmm_status {
    TMM_OK = 0,
    TMM_ERROR_ARGUMENT,    /* null pointer, negative size, leading dimension too small, ... */
    TMM_ERROR_MEMORY,      /* host or device memory is used up */
    TMM_ERROR_DEVICE,      /* no CUDA device, or the program was not built for this one */
    TMM_ERROR_CUDA,        /* a launch or copy failed; tmm_last_error() has CUDA's words */
    TMM_ERROR_UNSUPPORTED, /* a tile or kernel that was not made, OpenMP left out of this build */
} tmm_status;

typedef enum tmm_op { TMM_OP_N = 0, TMM_OP_T = 1 } tmm_op;

typedef enum tmm_kernel {
    TMM_AUTO = 0,
    TMM_GLOBAL,
    TMM_SHARED,
    TMM_SHARED_8,
    TMM_SHARED_16,
    TMM_SHARED_32,
    TMM_REGISTER,
    TMM_REGISTER_64,
    TMM_REGISTER_128,
    TMM_PIPELINED,
    TMM_TENSOR,
    TMM_KERNEL_COUNT /* not a kernel: how many there are */
} tmm_kernel;

typedef enum tmm_type { TMM_FLOAT = 0, TMM_DOUBLE, TMM_INT } tmm_type;

#ifdef __CUDACC__
typedef cudaStream_t tmm_stream;
#else
typedef struct CUstream_st *tmm_stream; /* what cudaStream_t is, without CUDA's headers */
#endif

/* ============================== DECLARATIONS ================================================== */
/* The name of a status: "TMM_OK", ... Never NULL. */
TMM_API const char *tmm_status_string(tmm_status status);

/* What went wrong in this thread's last call that did not return TMM_OK: one sentence that names
   the argument or the CUDA call. "" if nothing has. Valid until the next failure. */
TMM_API const char *tmm_last_error(void);

/* The name of a kernel as written on command lines: "auto", "global", "shared_16", ... NULL for a
   value that is none, so that a program can go through TMM_AUTO .. TMM_KERNEL_COUNT - 1. */
TMM_API const char *tmm_kernel_string(tmm_kernel kernel);

/* *error = max |X(i,j) - R(i,j)| over an M x N matrix X of the given type (leading dimension ldx)
   and a reference R in double (ldr), host memory. Equal infinities, and NaN against NaN, count as
   no difference; any other difference that is not a number makes *error infinite. */
TMM_API tmm_status tmm_max_abs_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error);

/* The same for |X - R| / (|R| + 1e-12), element by element. */
TMM_API tmm_status tmm_max_rel_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error);

/* Is C = A B? Freivalds' check: compares C r with A (B r) for random vectors r of +1 and -1, in
   O(MK + KN + MN) instead of O(MNK) work (R. Freivalds, "Probabilistic machines can use less
   running time", 1977). A is M x K, B is K x N, C is M x N, host memory. One trial lets a wrong C
   pass with probability 1/2 at most, so `trials` of them with 2^-trials.
     TMM_INT: exact modulo 2^32. *excess is 0 if every trial agrees, infinite otherwise.
     TMM_FLOAT, TMM_DOUBLE: *excess is the largest |C r - A B r|_i over a bound for what rounding
     does to row i, 8 sqrt(K + 2) u |a_i|_2 |B|_F with u the unit roundoff of the type; above 1 the
     product is wrong. The bound treats rounding errors as independent (N. Higham and T. Mary,
     "A new approach to probabilistic rounding error analysis", 2019); on matrices of one repeated
     value, where they are not, a right product can exceed it: compare element by element then.
   Needs memory for (2 K + M + N) doubles. */
TMM_API tmm_status tmm_freivalds(tmm_type type, long long M, long long N, long long K,
                                 const void *A, long long lda, const void *B, long long ldb,
                                 const void *C, long long ldc, int trials, unsigned long long seed,
                                 double *excess);
#endif /* !__CUDACC_RTC__ */

#if TMM__KERNELS
/* ============================== BUILDING BLOCKS =============================================== */
/* What the fast kernels share: asynchronous copies, flags between blocks, multiply-adds of small
   matrices, and the schedule. */

/* Copies into shared memory that pass by the registers and complete later (cp.async, PTX ISA 9.7,
   "Data Movement and Conversion Instructions"; sm_80 and later). Each copies `bytes` (4, 8 or 16,
   a constant; both addresses a multiple of it), or writes zeros when not `valid`, in which case
   the global address is not read. 16 bytes go by the second-level cache alone; smaller copies of a
   line of 128 bytes come in turn, so those ask for the whole line. Elsewhere, plain copies. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define TMM__ASYNC 1
#else
#define TMM__ASYNC 0
#endif

static __device__ __forceinline__ void tmm__copy_async(void *shared, const void *global, int bytes,
                                                       bool valid)
{
#if TMM__ASYNC
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
                     "l"(global), "r"(valid ? 16 : 0)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;" ::"r"(to), "l"(global),
                     "r"(valid ? 8 : 0)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2;" ::"r"(to), "l"(global),
                     "r"(valid ? 4 : 0)
                     : "memory");
#else
    for (int i = 0; i < bytes / 4; i++)
        ((unsigned *)shared)[i] = valid ? ((const unsigned *)global)[i] : 0;
#endif
}

/* Ends a group of copies. */
static __device__ __forceinline__ void tmm__copy_commit(void)
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

/* Keeps the compiler from moving loads and stores across. */
#define TMM__FENCE() asm volatile("" ::: "memory")

/* One thread of a block tells another block that what its block has written to global memory is
   there, or waits for that; both after, or before, a barrier of their blocks (release and acquire,
   PTX ISA 8, "Memory Consistency Model"). */
static __device__ __forceinline__ void tmm__flag_set(unsigned long long *flag,
                                                     unsigned long long value)
{
    __threadfence();
    atomicExch(flag, value);
}

static __device__ __forceinline__ void tmm__flag_wait(unsigned long long *flag,
                                                      unsigned long long value)
{
    while (*(volatile unsigned long long *)flag != value) {
    }
    __threadfence();
    *flag = 0; /* so that an old flag never looks like a new one */
}

/* c += a b, a 16 x 16 and b 16 x 8, by a warp. Of a, b and c its lanes hold, with g = lane / 4 and
   t = lane % 4,
       a[2 q + h] = a(g + 8 h, 4 q + t)    b[q] = b(4 q + t, g)    c[2 h + i] = c(g + 8 h, 2 t + i)
   for q = 0 .. 3; h, i = 0, 1 (PTX ISA 9.7, "Matrix Fragments for mma.m16n8k16 with floating point
   type", .f64, sm_90 and later; and "Matrix Fragments for mma.m8n8k4 with .f64 floating point
   type", sm_80 and later, of which 8 are as much). Elsewhere lanes tell each other what they hold:
   many times slower, in a function of its own, for it would be long if repeated. */
#if TMM__ASYNC
static __device__ __forceinline__ void tmm__mma_double(double *c, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int q = 0; q < 4; q++)
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
    for (int k = 0; k < 16; k++) {
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

/* How a tile of an operand is copied: see KERNEL PIPELINED and, for K_VECTORS, KERNEL TENSOR. */
enum { TMM__ALONG_K, TMM__ALONG_LINES, TMM__VECTORS, TMM__K_VECTORS };

/* Rows of tiles that are walked together, by KERNEL PIPELINED and KERNEL TENSOR. */
enum { TMM__BAND = 4, TMM__TENSOR_BAND = 8 };

/* Elements of a plane, and bytes of all stages, of KERNEL TENSOR. */
#define TMM__PLANE(lines) (4 * (lines) + 20)
#define TMM__TENSOR_BYTES (3 * 4 * (TMM__PLANE(128) + TMM__PLANE(64)) * 8)

/* Which block computes what: see KERNEL PIPELINED. */
typedef struct tmm__schedule {
    int tiles_down, tiles_across; /* the tiles of C */
    int steps;                    /* steps along K for each */
    int split_tiles;              /* so many tiles are shared out in steps, not whole */
    int reduce;                   /* all pieces become partial tiles, for KERNEL REDUCE */
    int packed_A, packed_B;       /* by KERNEL PACK: lines padded to whole tiles */
    void *partials;               /* a tile of sums for each block */
    unsigned long long *flags;    /* one for each block: its partial tile is ready, */
    unsigned long long ticket;    /* when it holds this number, no other launch's */
} tmm__schedule;
#endif

#if TMM__HOST
/* ============================== STATUS ======================================================== */
/* One buffer a thread and program: `inline` (not static) functions share their variables between
   the files that include this one. */
inline char *tmm__message(void)
{
    static thread_local char message[256];
    return message;
}

static inline tmm_status tmm__fail(tmm_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tmm__message(), 256, format, arguments);
    va_end(arguments);
    return status;
}

/* A CUDA error as a status; `what` is the call that returned it. */
static inline tmm_status tmm__cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return TMM_OK;
    (void)cudaGetLastError(); /* take it from the record, so that later calls do not find it */
    if (error == cudaErrorMemoryAllocation)
        return tmm__fail(TMM_ERROR_MEMORY, "%s: out of device memory", what);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        return tmm__fail(TMM_ERROR_DEVICE, "%s: no usable CUDA device: %s", what,
                         cudaGetErrorString(error));
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion)
        return tmm__fail(TMM_ERROR_DEVICE,
                         "%s: the program was compiled for other devices than this one; "
                         "rebuild with nvcc -arch=native",
                         what);
    return tmm__fail(TMM_ERROR_CUDA, "%s: %s", what, cudaGetErrorString(error));
}

TMM_API const char *tmm_last_error(void)
{
    return tmm__message();
}

TMM_API const char *tmm_status_string(tmm_status status)
{
    switch (status) {
    case TMM_OK: return "TMM_OK";
    case TMM_ERROR_ARGUMENT: return "TMM_ERROR_ARGUMENT";
    case TMM_ERROR_MEMORY: return "TMM_ERROR_MEMORY";
    case TMM_ERROR_DEVICE: return "TMM_ERROR_DEVICE";
    case TMM_ERROR_CUDA: return "TMM_ERROR_CUDA";
    case TMM_ERROR_UNSUPPORTED: return "TMM_ERROR_UNSUPPORTED";
    }
    return "unknown tmm_status";
}

TMM_API const char *tmm_kernel_string(tmm_kernel kernel)
{
    switch (kernel) {
    case TMM_AUTO: return "auto";
    case TMM_GLOBAL: return "global";
    case TMM_SHARED: return "shared";
    case TMM_SHARED_8: return "shared_8";
    case TMM_SHARED_16: return "shared_16";
    case TMM_SHARED_32: return "shared_32";
    case TMM_REGISTER: return "register";
    case TMM_REGISTER_64: return "register_64";
    case TMM_REGISTER_128: return "register_128";
    case TMM_PIPELINED: return "pipelined";
    case TMM_TENSOR: return "tensor";
    case TMM_KERNEL_COUNT: break;
    }
    return NULL;
}

static inline long long tmm__min(long long a, long long b)
{
    return a < b ? a : b;
}

/* What the launchers ask of the current device, remembered for the thread's last one. */
typedef struct tmm__device {
    int processors; /* multiprocessors; 1 if there is no device, for the launch to report that */
    int capability; /* 10 major + minor */
    int pools;      /* has memory pools, for stream-ordered allocation */
    int shared;     /* bytes of shared memory that a block can have */
    double bandwidth, arithmetic; /* by the data sheet: bytes and float operations a second */
} tmm__device;

static inline const tmm__device *tmm__current_device(void)
{
    static thread_local tmm__device known;
    static thread_local int known_device = -1;
    int device = 0, major = 0, minor = 0, count = 0, pools = 0, clock = 0, memory = 0, width = 0;
    int shared = INT_MAX; /* no device: as above */
    if (cudaGetDevice(&device) == cudaSuccess && device == known_device) return &known;
    if (cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess ||
        cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device) != cudaSuccess) {
        (void)cudaGetLastError();
        device = -1;
    }
    known.processors = count > 0 ? count : 1;
    known.capability = 10 * major + minor;
    known.pools = pools;
    known.shared = shared;
    /* For rules of thumb; clocks in kHz, which not every device tells, width in bits. */
    (void)cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
    (void)cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device);
    (void)cudaDeviceGetAttribute(&width, cudaDevAttrGlobalMemoryBusWidth, device);
    (void)cudaGetLastError();
    known.arithmetic = 2.0 * 128 * known.processors * (clock > 0 ? clock : 1.5e6) * 1e3;
    known.bandwidth =
        memory > 0 && width > 0 ? 2.0 * memory * 1e3 * (width / 8) : known.arithmetic / 20;
    known_device = device;
    return &known;
}

/* The pool that workspaces of a device come from; NULL if there is none. Made when first asked for,
   by one thread at a time: C++ sees to that for static variables. */
static inline cudaMemPool_t tmm__make_pool(int device)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool = NULL;
    unsigned long long keep = 64u << 20; /* more than that goes back when it is not used */
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    if (cudaMemPoolCreate(&pool, &props) != cudaSuccess ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return pool;
}

static inline cudaMemPool_t tmm__pool(int device)
{
    switch (device) {
#define TMM__POOL(n)                                      \
    case n: {                                             \
        static cudaMemPool_t pool##n = tmm__make_pool(n); \
        return pool##n;                                   \
    }
        TMM__POOL(0);
        TMM__POOL(1);
        TMM__POOL(2);
        TMM__POOL(3);
        TMM__POOL(4);
        TMM__POOL(5);
        TMM__POOL(6);
        TMM__POOL(7);
        TMM__POOL(8);
        TMM__POOL(9);
        TMM__POOL(10);
        TMM__POOL(11);
        TMM__POOL(12);
        TMM__POOL(13);
        TMM__POOL(14);
        TMM__POOL(15);
#undef TMM__POOL
    }
    return NULL;
}

/* Device memory for one launch, to be given back with cudaFreeAsync on the same stream; NULL if
   there is none. It comes from a pool of this header's own, one a device, that keeps what it has
   once got: the device's default pool would give it back at every synchronisation. */
static inline void *tmm__workspace(size_t bytes, tmm_stream stream)
{
    int device = 0;
    void *memory = NULL;
    if (!tmm__current_device()->pools || cudaGetDevice(&device) != cudaSuccess) return NULL;
    cudaMemPool_t pool = tmm__pool(device);
    if (pool == NULL) return NULL;
    if (cudaMallocFromPoolAsync(&memory, bytes, pool, stream) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

/* A number that no other launch of this program uses, nor what memory holds by chance. */
static inline unsigned long long tmm__ticket(void)
{
    static thread_local unsigned long long count;
    unsigned long long z = (size_t)&count * 0x9E3779B97F4A7C15ull + ++count;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull; /* splitmix64: one number for each, and no zero */
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) | 1;
}

/* Divides tiles_down x tiles_across tiles of C with `steps` steps each among at most `most_blocks`
   blocks, as KERNEL PIPELINED explains. Returns how many blocks there are to be. `split`: whether
   tiles may be cut along K, which needs memory for partial tiles. */
static inline int tmm__plan(tmm__schedule *s, int tiles_down, int tiles_across, int steps,
                            int most_blocks, int split)
{
    int tiles = tiles_down * tiles_across, rest = tiles % most_blocks;
    memset(s, 0, sizeof *s);
    s->tiles_down = tiles_down;
    s->tiles_across = tiles_across;
    s->steps = steps;
    int blocks = tiles < most_blocks ? tiles : most_blocks;
    /* Little to gain where the last round is nearly full; and no steps cannot be shared out. */
    if (!split || steps == 0 || rest == 0 || rest > 0.98 * most_blocks) return blocks;
#ifndef TMM__REDUCE_FROM
#define TMM__REDUCE_FROM 3
#endif
    if (most_blocks / tiles >= TMM__REDUCE_FROM) {
        /* So many partial tiles of one tile that adding them up must be shared out too. */
        int pieces = (int)tmm__min(most_blocks / tiles, steps / 4);
        if (pieces < 2) return blocks;
        s->split_tiles = tiles;
        s->reduce = 1;
        return tiles * pieces;
    }
    s->split_tiles = tiles < most_blocks ? tiles : most_blocks + rest;
    long long split_steps = (long long)s->split_tiles * steps;
    if (tiles < most_blocks) most_blocks = (int)tmm__min(most_blocks, split_steps / 8);
    if (split_steps <= INT_MAX && most_blocks > blocks - (tiles >= most_blocks)) return most_blocks;
    s->split_tiles = 0;
    return blocks;
}

/* Is a rows x cols matrix with this leading dimension possible, and its size within 64 bits? */
static inline tmm_status tmm__check_matrix(const char *name, const char *ld_name,
                                           const void *pointer, long long rows, long long cols,
                                           long long ld, size_t element)
{
    if (ld < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is %lld, but must be 1 at least", ld_name, ld);
    if (ld < cols)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is %lld, but a row of %s has %lld elements",
                         ld_name, ld, name, cols);
    if (rows > 0 && ld > (LLONG_MAX / (long long)element - cols) / rows)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s (%lld rows, %s %lld) exceeds 64-bit addresses",
                         name, rows, ld_name, ld);
    if (pointer == NULL && rows > 0 && cols > 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is NULL", name);
    return TMM_OK;
}

/* The block of C that the CPU reference works on, and its steps along k. */
enum { TMM__CPU_ROWS = 32, TMM__CPU_COLS = 128, TMM__CPU_DEPTH = 128 };

/* What all forms of GEMM ask of their arguments; `reads_AB` is 0 when alpha is. */
static inline tmm_status tmm__check_gemm(tmm_op opA, tmm_op opB, long long M, long long N,
                                         long long K, int reads_AB, const void *A, long long lda,
                                         const void *B, long long ldb, const void *C, long long ldc,
                                         size_t element)
{
    if (opA != TMM_OP_N && opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opA is %d, neither TMM_OP_N nor TMM_OP_T", (int)opA);
    if (opB != TMM_OP_N && opB != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opB is %d, neither TMM_OP_N nor TMM_OP_T", (int)opB);
    if (M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", M);
    if (N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", N);
    if (K < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "K is negative: %lld", K);
    /* Pointers that will not be read or written may be anything. */
    const void *unread = &unread;
    int works = M > 0 && N > 0;
    int reads = works && K > 0 && reads_AB;
    tmm_status status = tmm__check_matrix("A", "lda", reads ? A : unread, opA == TMM_OP_N ? M : K,
                                          opA == TMM_OP_N ? K : M, lda, element);
    if (status == TMM_OK)
        status = tmm__check_matrix("B", "ldb", reads ? B : unread, opB == TMM_OP_N ? K : N,
                                   opB == TMM_OP_N ? N : K, ldb, element);
    if (status == TMM_OK)
        status = tmm__check_matrix("C", "ldc", works ? C : unread, M, N, ldc, element);
    return status;
}
#endif /* TMM__HOST */
#endif /* TMM_VERSION */

/* ---- per element type: reached with TMM_NAME or TMM_TYPE set --------------------------------- */
#if defined(TMM_NAME) || defined(TMM_TYPE)
#ifndef TMM_NAME
#error "tiledmm.cuh: TMM_TYPE is defined without TMM_NAME, the letters that go into tmm_NAMEgemm"
#endif
#ifndef TMM_TYPE
#define TMM_TYPE float
#endif
#ifndef TMM_SUM
#define TMM_SUM TMM_TYPE
#endif

#ifndef __CUDACC_RTC__
/* C = alpha op(A) op(B) + beta C on the current device, enqueued on `stream`.
   A, B, C: device pointers. op(A) is M x K, op(B) is K x N, C is M x N, row-major.
   lda: at least K for TMM_OP_N, M for TMM_OP_T; ldb: at least N or K; ldc: at least N.
   Errors: TMM_ERROR_ARGUMENT (nothing is launched), TMM_ERROR_DEVICE, TMM_ERROR_CUDA (launch). */
TMM_API tmm_status TMM_FN(gemm)(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                TMM_TYPE alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                long long ldb, TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                tmm_stream stream);

/* The same by the kernel named. TMM_ERROR_UNSUPPORTED for a tile or kernel that this type or device
   does not have. */
TMM_API tmm_status TMM_FN(gemm_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                     long long N, long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                     long long lda, const TMM_TYPE *B, long long ldb, TMM_TYPE beta,
                                     TMM_TYPE *C, long long ldc, tmm_stream stream);

/* `batch` products of one shape: number b uses A + b strideA, B + b strideB, C + b strideC
   (strides in elements, not negative; 0 for an operand that all share, but not for C). */
TMM_API tmm_status TMM_FN(gemm_batched)(tmm_op opA, tmm_op opB, long long M, long long N,
                                        long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                        long long lda, const TMM_TYPE *B, long long ldb,
                                        TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                        long long strideA, long long strideB, long long strideC,
                                        long long batch, tmm_stream stream);
TMM_API tmm_status TMM_FN(gemm_batched_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                             long long N, long long K, TMM_TYPE alpha,
                                             const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                             long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                             long long ldc, long long strideA, long long strideB,
                                             long long strideC, long long batch, tmm_stream stream);

/* The kernel that TMM_AUTO takes for this shape on the current device. */
TMM_API tmm_kernel TMM_FN(gemm_choice)(long long M, long long N, long long K, long long batch);

/* C = A B from host memory to host memory, dense (lda = K, ldb = N, ldc = N): allocates device
   memory, copies, multiplies, copies back, frees. On an error C is unchanged unless the copy
   back itself failed. Errors: as above and TMM_ERROR_MEMORY. */
TMM_API tmm_status TMM_FN(matmul)(long long M, long long N, long long K, const TMM_TYPE *A,
                                  const TMM_TYPE *B, TMM_TYPE *C);

/* C = alpha op(A) op(B) + beta C on the CPU, host pointers, one thread, blocked for the cache.
   Sums are kept in TMM_SUM, in ascending k. TMM_EPILOGUE is not applied. */
TMM_API tmm_status TMM_FN(gemm_cpu)(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                    TMM_TYPE alpha, const TMM_TYPE *A, long long lda,
                                    const TMM_TYPE *B, long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                    long long ldc);

/* The same over `threads` OpenMP threads (0: as many as OpenMP would take), with the same bits.
   TMM_ERROR_UNSUPPORTED when built without OpenMP (nvcc -Xcompiler -fopenmp). */
TMM_API tmm_status TMM_FN(gemm_openmp)(tmm_op opA, tmm_op opB, long long M, long long N,
                                       long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                       long long lda, const TMM_TYPE *B, long long ldb,
                                       TMM_TYPE beta, TMM_TYPE *C, long long ldc, int threads);
#endif /* !__CUDACC_RTC__ */
#endif /* TMM_NAME */
#endif /* !TMM__EMIT */

/* All kernels compute one M x N matrix C = alpha op(A) op(B) + beta C per blockIdx.z, where
       op(A)(i, k) = A[i * rsA + k * csA]     rs: row stride, cs: column stride, in elements;
       op(B)(k, j) = B[k * rsB + j * csB]     a transposed operand is the same memory with the
       C(i, j)     = C[i * ldc + j]           two strides exchanged
   and product number blockIdx.z starts at A + blockIdx.z * batchA, and so on. The tiles of C are
   numbered along the rows: 0 1 2 ... in the first row of tiles; blockIdx.x is that number. */

#if defined(TMM__EMIT) && TMM__EMIT == 1
/* ============================== KERNEL GLOBAL ================================================= */
/* One thread computes one element of C and reads all it needs from global memory.

            k ->                      j                       block of 32 x 32 threads:
        +-----------+            +----|------+           +-----------+
      i |===========| row of A   |    |      |  column   |    . j    |   thread (tx, ty) owns
        |           |            |    |      |  of B     |....X i    |   row    i = tile row + ty
        +-----------+          k v    |      |           |           |   column j = tile col + tx
           A  M x K              +-----------+           +-----------+
                                    B  K x N                C  M x N
   Neighbours in x share row i of A (one address, broadcast) and read neighbouring elements of B
   (one 128-byte line a warp): both accesses are coalesced.
   Loads: 2 M N K elements, 2 FLOP for each 2 elements: 0.25 FLOP per byte in float. Caches serve
   most of them, and the load units, two loads to one multiply-add, are what bounds it.

   To paste: everything from here to END OF KERNEL, below  #define TMM_TYPE float */
#ifndef TMM_KERNEL
#define TMM_KERNEL     __global__
#define TMM_SUM        TMM_TYPE
#define TMM__MUL(a, b) ((a) * (b))
#endif

TMM_KERNEL void tmm_gemm_global(long long M, long long N, long long K, TMM_TYPE alpha,
                                const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                                long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                                long long csB, long long batchB, TMM_TYPE beta,
                                TMM_TYPE *__restrict__ C, long long ldc, long long batchC)
{
    long long tiles_across = (N + blockDim.x - 1) / blockDim.x;
    long long row = blockIdx.x / tiles_across * blockDim.y + threadIdx.y;
    long long col = blockIdx.x % tiles_across * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    A += blockIdx.z * batchA + row * rsA; /* the start of row `row` of op(A) */
    B += blockIdx.z * batchB + col * csB; /* the start of column `col` of op(B) */
    C += blockIdx.z * batchC + row * ldc + col;

    TMM_SUM sum = 0;
    for (; K > 0; K--) {
        sum += (TMM_SUM)*A * (TMM_SUM)*B;
        A += csA;
        B += rsB;
    }

    TMM_SUM old = 0;
    if (beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C); /* beta = 0 must not read C */
    TMM_TYPE value = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum) + old);
#ifdef TMM_EPILOGUE
    value = TMM_EPILOGUE(value, row, col);
#endif
    *C = value;
}
/* END OF KERNEL */
#endif

#if defined(TMM__EMIT) && TMM__EMIT == 2
/* ============================== KERNEL SHARED ================================================= */
/* A block computes a tile of C, TMM_TILE x TMM_TILE, one element a thread. It walks along k in
   steps of TMM_TILE; at each step all threads together copy one tile of A and one of B into
   shared memory, and then each thread takes its row and its column from there.

                                   +--+--+--+--+  B
                                   |  |B0|  |  |        step 0: C += A0 B0
                                   +--+--+--+--+        step 1: C += A1 B1   ...
                                   |  |B1|  |  |
                                   +--+--+--+--+
              +--+--+              +--+--+--+--+
              |  |  |              |  |  |  |  |
              +--+--+              +--+--+--+--+        each square: TMM_TILE x TMM_TILE
          A   |A0|A1|              |  |C |  |  |  C     where a tile sticks out of the matrix
              +--+--+              +--+--+--+--+        it is filled with zeros
   Global loads: each element of A and B is read once per tile instead of once per thread:
   2 M N K / TMM_TILE, so TMM_TILE / 4 FLOP per byte in float (8 for tile 32).
   What bounds it: shared memory, which must give one element of B and a quarter of a vector load
   of A for every multiply-add. Each thread owning more than one element mends that: see REGISTER.

   To paste: everything from here to END OF KERNEL, below  #define TMM_TYPE float
   and  #define TMM_TILE 16;  launch with blocks of (TMM_TILE, TMM_TILE) threads. */
#ifndef TMM_KERNEL
#define TMM_KERNEL     __global__
#define TMM_SUM        TMM_TYPE
#define TMM__MUL(a, b) ((a) * (b))
#endif

TMM_KERNEL void __launch_bounds__(TMM_TILE *TMM_TILE)
    tmm_gemm_shared(long long M, long long N, long long K, TMM_TYPE alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_TYPE beta, TMM_TYPE *__restrict__ C, long long ldc, long long batchC)
{
    static_assert(
        TMM_TILE >= 1 && TMM_TILE <= 32,
        "TMM_TILE must be 1 to 32: a block has TMM_TILE x TMM_TILE threads, 1024 at most");
    /* 16 bytes of padding a row: a transposed tile is stored by columns, and without the padding
       all elements of a column would lie in one bank. */
    __shared__ TMM_TYPE As[TMM_TILE][TMM_TILE + 16 / sizeof(TMM_TYPE)];
    __shared__ TMM_TYPE Bs[TMM_TILE][TMM_TILE + 16 / sizeof(TMM_TYPE)];

    int tx = threadIdx.x, ty = threadIdx.y;
    long long tiles_across = (N + TMM_TILE - 1) / TMM_TILE;
    long long tile_row = blockIdx.x / tiles_across * TMM_TILE;
    long long tile_col = blockIdx.x % tiles_across * TMM_TILE;

    /* The element that this thread copies, (rowA, colA) of each tile of A and (rowB, colB) of B:
       neighbours in x must read neighbours in memory, which lie along a row (column stride 1) or,
       in a transposed operand, along a column. */
    int rowA = csA == 1 ? ty : tx, colA = csA == 1 ? tx : ty;
    int rowB = csB == 1 ? ty : tx, colB = csB == 1 ? tx : ty;
    bool insideA = tile_row + rowA < M, insideB = tile_col + colB < N;
    A += blockIdx.z * batchA + (tile_row + rowA) * rsA + colA * csA;
    B += blockIdx.z * batchB + (tile_col + colB) * csB + rowB * rsB;

    TMM_SUM sum = 0;
    for (; K > 0; K -= TMM_TILE) { /* K: what is left of it */
        TMM_TYPE a = 0, b = 0;
        if (insideA && colA < K) a = *A;
        if (insideB && rowB < K) b = *B;
        As[rowA][colA] = a;
        Bs[rowB][colB] = b;
        __syncthreads(); /* the tiles are complete before anyone reads them */
#pragma unroll
        for (int k = 0; k < TMM_TILE; k++) sum += (TMM_SUM)As[ty][k] * (TMM_SUM)Bs[k][tx];
        __syncthreads(); /* everyone has read them before they are overwritten */
        A += TMM_TILE * csA;
        B += TMM_TILE * rsB;
    }

    long long row = tile_row + ty, col = tile_col + tx;
    if (row >= M || col >= N) return;
    C += blockIdx.z * batchC + row * ldc + col;
    TMM_SUM old = 0;
    if (beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C); /* beta = 0 must not read C */
    TMM_TYPE value = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum) + old);
#ifdef TMM_EPILOGUE
    value = TMM_EPILOGUE(value, row, col);
#endif
    *C = value;
}
/* END OF KERNEL */
#endif

#if defined(TMM__EMIT) && TMM__EMIT == 3
/* ============================== KERNEL REGISTER =============================================== */
/* Each thread owns TMM_BLOCK x TMM_BLOCK elements of C (4 or 8) and keeps them in registers, so
   that what it reads from shared memory, 2 TMM_BLOCK elements, serves TMM_BLOCK^2 multiply-adds.
   256 threads own a tile of TILE = 16 TMM_BLOCK rows and columns (64 or 128).

   Tile of C, TMM_BLOCK 8: 8 warps of 32 rows x 64 columns. Within a warp, 4 x 8 lanes with four
   quads of 4 x 4 each (TMM_BLOCK 4: one quad, and everything below is half as large):
      +---------+---------+                     8 lanes across, 4 columns each
      | warp 0  | warp 1  |             +--+--+--+--+--+--+--+--+--+--   --+
      +---------+---------+             | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1 ... |
      | warp 2  | warp 3  |             | 8| 9|10|11|12|13|14|15| 8|       |  4 lanes down,
      +---------+---------+             |16|17|18|19|20|21|22|23|16|       |  4 rows each
      | warp 4  | warp 5  |             |24|25|26|27|28|29|30|31|24|       |
      +---------+---------+             +--+--+--+--+--+--+--+--+--+--   --+
      | warp 6  | warp 7  |             | 0| 1| 2|                         |  ... and once more
      +---------+---------+
   Lanes side by side read neighbouring quads of shared memory with 128-bit loads, free of bank
   conflicts; lanes above each other read the same quad, which is broadcast.

   Along k the block advances by DEPTH = 1024 / TILE (8 or 16), so that each thread copies just
   one quad of A and one of B. Two buffers: the quads of the next step are fetched from global
   memory into registers before the arithmetic on this step, and stored to the other buffer after
   it; one barrier a step. Both tiles lie in shared memory as [k][row] and [k][column].

   Global loads: 2 M N K / TILE elements, TILE / 4 FLOP per byte in float (32 for TILE 128).
   Shared loads: TMM_BLOCK / 4 FLOP per byte. What bounds it for TMM_BLOCK 8: the multiply-add
   units, less what address arithmetic, barriers and the latency of shared loads take from them.

   To paste: everything from here to END OF KERNEL, below  #define TMM_TYPE float
   and  #define TMM_BLOCK 8;  launch with blocks of 256 threads. */
#ifndef TMM_KERNEL
#define TMM_KERNEL     __global__
#define TMM_SUM        TMM_TYPE
#define TMM__MUL(a, b) ((a) * (b))
#endif

/* Four neighbouring elements, moved by the widest loads that the type allows. */
typedef struct alignas(sizeof(TMM_TYPE) < 4 ? 4 * sizeof(TMM_TYPE) : 16) tmm_quad {
    TMM_TYPE v[4];
} tmm_quad;

/* Global memory to registers: the quad at x, which runs along k or along the lines (rows of A,
   columns of B), whichever is contiguous. What lies beyond the matrix reads as zero: lines_left
   and k_left count what is left of it from x on. */
static __device__ __forceinline__ tmm_quad tmm_fetch_quad(const TMM_TYPE *x, bool along_k,
                                                          long long lines_left, long long k_left,
                                                          bool aligned)
{
    tmm_quad quad = {{0, 0, 0, 0}};
    long long inside = lines_left <= 0 || k_left <= 0 ? 0 : along_k ? k_left : lines_left;
    if (aligned && inside >= 4) return *(const tmm_quad *)x;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < inside) quad.v[i] = x[i];
    return quad;
}

/* Registers to shared memory: tile[k][line] onwards. A quad along k is spread over four rows. */
static __device__ __forceinline__ void tmm_put_quad(TMM_TYPE (*tile)[16 * TMM_BLOCK + 4], int k,
                                                    int line, bool along_k, tmm_quad quad)
{
    if (along_k) {
#pragma unroll
        for (int i = 0; i < 4; i++) tile[k + i][line] = quad.v[i];
    } else {
        *(tmm_quad *)&tile[k][line] = quad;
    }
}

TMM_KERNEL void __launch_bounds__(256, sizeof(TMM_TYPE) * TMM_BLOCK <= 32 ? 2 : 1)
    tmm_gemm_register(long long M, long long N, long long K, TMM_TYPE alpha,
                      const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                      long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                      long long csB, long long batchB, TMM_TYPE beta, TMM_TYPE *__restrict__ C,
                      long long ldc, long long batchC)
{
    static_assert(TMM_BLOCK == 4 || TMM_BLOCK == 8,
                  "TMM_BLOCK must be 4 or 8: the rows and columns of C that one thread owns");
    static_assert(sizeof(TMM_TYPE) <= 8, "TMM_TYPE must have 8 bytes at most: larger elements "
                                         "do not fit the registers of a block");
    enum { QUADS = TMM_BLOCK / 4, TILE = 16 * TMM_BLOCK, DEPTH = 1024 / TILE };
    /* 4 elements of padding keep the quads aligned and spread the stores of a quad along k. */
    __shared__ __align__(16) TMM_TYPE As[2][DEPTH][TILE + 4];
    __shared__ __align__(16) TMM_TYPE Bs[2][DEPTH][TILE + 4];

    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    long long tiles_across = (N + TILE - 1) / TILE;
    long long tile_row = blockIdx.x / tiles_across * TILE;
    long long tile_col = blockIdx.x % tiles_across * TILE;

    /* The quads that this thread copies: at (lineA, kA) of each tile of A, (kB, lineB) of B. */
    bool along_kA = csA == 1, along_kB = rsB == 1;
    int lineA = along_kA ? thread / (DEPTH / 4) : thread % (TILE / 4) * 4;
    int lineB = along_kB ? thread / (DEPTH / 4) : thread % (TILE / 4) * 4;
    int kA = along_kA ? thread % (DEPTH / 4) * 4 : thread / (TILE / 4);
    int kB = along_kB ? thread % (DEPTH / 4) * 4 : thread / (TILE / 4);
    A += blockIdx.z * batchA;
    B += blockIdx.z * batchB;
    C += blockIdx.z * batchC;
    bool alignedA =
        ((size_t)A | (along_kA ? rsA : csA) * sizeof(TMM_TYPE)) % alignof(tmm_quad) == 0;
    bool alignedB =
        ((size_t)B | (along_kB ? csB : rsB) * sizeof(TMM_TYPE)) % alignof(tmm_quad) == 0;
    A += (tile_row + lineA) * rsA + kA * csA;
    B += (tile_col + lineB) * csB + kB * rsB;
    long long rows_left = M - tile_row - lineA, cols_left = N - tile_col - lineB;

    /* The first row and column that this thread owns in the tile; its quads lie 16 rows and 32
       columns apart. */
    int row0 = warp / 2 * (16 * QUADS) + lane / 8 * 4;
    int col0 = warp % 2 * (32 * QUADS) + lane % 8 * 4;

    TMM_SUM sum[TMM_BLOCK][TMM_BLOCK] = {{0}};
    tmm_quad quadA = tmm_fetch_quad(A, along_kA, rows_left, K - kA, alignedA);
    tmm_quad quadB = tmm_fetch_quad(B, along_kB, cols_left, K - kB, alignedB);
    int buffer = 0;
    for (long long k_left = K; k_left > 0; k_left -= DEPTH) {
        tmm_put_quad(As[buffer], kA, lineA, along_kA, quadA);
        tmm_put_quad(Bs[buffer], kB, lineB, along_kB, quadB);
        __syncthreads(); /* this buffer is complete, and everyone has finished with the other */
        A += DEPTH * csA;
        B += DEPTH * rsB;
        quadA = tmm_fetch_quad(A, along_kA, rows_left, k_left - DEPTH - kA, alignedA);
        quadB = tmm_fetch_quad(B, along_kB, cols_left, k_left - DEPTH - kB, alignedB);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            tmm_quad a[QUADS], b[QUADS];
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                a[q] = *(const tmm_quad *)&As[buffer][k][row0 + 16 * q];
                b[q] = *(const tmm_quad *)&Bs[buffer][k][col0 + 32 * q];
            }
#pragma unroll
            for (int i = 0; i < TMM_BLOCK; i++)
#pragma unroll
                for (int j = 0; j < TMM_BLOCK; j++)
                    sum[i][j] += (TMM_SUM)a[i / 4].v[i % 4] * (TMM_SUM)b[j / 4].v[j % 4];
        }
        buffer = 1 - buffer;
    }

    bool alignedC = ((size_t)C | ldc * sizeof(TMM_TYPE)) % alignof(tmm_quad) == 0;
#pragma unroll
    for (int i = 0; i < TMM_BLOCK; i++) {
        long long row = tile_row + row0 + i / 4 * 16 + i % 4;
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            long long col = tile_col + col0 + 32 * q;
            TMM_TYPE *c = C + row * ldc + col;
            tmm_quad quad;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (row >= M || col + j >= N) continue;
                TMM_SUM old = 0;
                if (beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)c[j]);
                quad.v[j] = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum[i][4 * q + j]) + old);
#ifdef TMM_EPILOGUE
                quad.v[j] = TMM_EPILOGUE(quad.v[j], row, (col + j));
#endif
                if (!alignedC || col + 4 > N) c[j] = quad.v[j];
            }
            if (row < M && alignedC && col + 4 <= N) *(tmm_quad *)c = quad;
        }
    }
}
/* END OF KERNEL */
#endif

#if defined(TMM__EMIT) && TMM__EMIT == 4
/* ============================== KERNEL PIPELINED ============================================== */
/* Like KERNEL REGISTER, but the copies of later steps are under way during the arithmetic, each
   thread owns a larger block of C, and no multiprocessor is left without work at the end.

   Tile of C: 128 x 128 (also 256 x 64 and 64 x 256), 4 warps of 64 x 64, 16 x 8 a thread:
      +---------+---------+        8 lanes across, twice 4 columns each
      | warp 0  | warp 1  |      +--+--+--+--+--+--+--+--+--+--   --+
      |         |         |      | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1 ... |  4 lanes down,
      +---------+---------+      | 8| 9|10|11|12|13|14|15| 8|       |  four times
      | warp 2  | warp 3  |      |16|17|18|19|20|21|22|23|16|       |  4 rows each
      |         |         |      |24|25|26|27|28|29|30|31|24|       |
      +---------+---------+      +--+--+--+--+--+--+--+--+--+--   --+
                                 | 0| 1| 2|       ... four times    |
   Elements of 8 bytes: half as many rows, 8 x 8 a thread, 64 x 128 in all.

   Along k in steps of DEPTH = 8. STAGES = 3 buffers of shared memory, [k][row of A] and then
   [k][column of B], go round: while one is worked on, the others are being filled:
      step           0       1       2       3
      copies into    s2      s0      s1      s2     asynchronous, zeros beyond the end of K
      arithmetic on  s0      s1      s2      s0     one barrier a step
   The fragments of A and B, what a thread needs for one k, are double-buffered likewise in
   registers. If DEPTH does not divide K, the first step is the short one, so that the loop need
   not ask. A tile that would stick out is moved back inside; what it computes a second time is
   not stored.

   A launch has as many blocks as fit at once, each with tile after tile, band by band: tiles of
   BAND = 4 rows of tiles are walked downwards, so that blocks at work at a time share rows of A
   and columns of B in the second-level cache. Tiles rarely come out even: with 576 tiles and 264
   blocks, the third round would have 48. So the first tiles (here 264 + 48) are not given out
   whole: their steps, laid end to end, are cut into equal shares ("stream-K": M. Osama et al.,
   "Stream-K: work-centric parallel decomposition for dense matrix-matrix multiplication on the
   GPU", 2023):
      tile     |    0     |    1     |    2     |     three tiles, four blocks: each 3/4 of a tile
      share    |   3   |   2   |   1   |   0   |
   Whoever has the first steps of a tile owns it; the others leave their sums as partial tiles,
   which the owner adds in ascending k. Shares are numbered backwards, for a block may wait only
   for blocks that were started before it. Where a tile would have many owners' helpers (few tiles,
   long K), all pieces become partial tiles and KERNEL REDUCE adds them up.

   Global loads: (1 / 128 + 1 / 128) M N K elements, 32 FLOP per byte in float. Shared loads:
   16 + 8 elements for 128 multiply-adds, 2.7 FLOP per byte. What bounds it: issuing 1024
   multiply-adds and about 110 other instructions a step, at two registers read per bank and
   clock; see bench/NOTES.md.

   modeA and modeB say how a tile is copied; 128 threads, so many elements each and pass:
     ALONG_K      neighbours in k are neighbours in memory: 8 threads along k, 16 lines
     ALONG_LINES  neighbouring lines (rows of A, columns of B) are: 128 threads along the lines
     VECTORS      the same with 16 bytes a thread, where addresses and sizes are multiples of 16 */

/* Four neighbouring elements of shared memory or C. */
typedef struct alignas(sizeof(TMM_TYPE) < 4 ? 4 * sizeof(TMM_TYPE) : 16) tmm_four {
    TMM_TYPE v[4];
} tmm_four;

typedef struct alignas(2 * sizeof(TMM_TYPE)) tmm_two {
    TMM_TYPE v[2];
} tmm_two;

/* Four sums of a partial tile. */
typedef struct alignas(16) tmm_sums {
    TMM_SUM v[4];
} tmm_sums;

/* Copies what this thread has to copy of one step's tile of an operand, `lines` rows of A or
   columns of B, to shared memory. `to`, `from`: its first element there and here; the elements of
   its next passes lie `stride` bytes further. With `whole`, everything if valid, else zeros.
   Otherwise the lines from lines_left on and the depths from depth_left on (both counted from
   this thread's first element) are filled with zeros. `mode`, `lines` and `whole` are constants
   wherever speed matters. */
static __device__ __forceinline__ void tmm_copy_tile(TMM_TYPE *to, const char *from,
                                                     unsigned stride, int mode, int lines,
                                                     bool whole, bool valid, int lines_left,
                                                     int depth_left)
{
    enum { THREADS = 128, DEPTH = 8, SIZE = sizeof(TMM_TYPE), VECTOR = 16 / SIZE };
    int pitch = lines + 4;
    if (mode == TMM__VECTORS) {
        int deeper = THREADS * VECTOR / lines; /* a pass advances by so many k */
#pragma unroll
        for (int i = 0; i < DEPTH / deeper; i++)
            tmm__copy_async(to + i * deeper * pitch, from + (unsigned long long)stride * i, 16,
                            whole ? valid : i * deeper < depth_left && lines_left > 0);
        return;
    }
#pragma unroll
    for (int i = 0; i < DEPTH * lines / THREADS; i++) {
        int k = mode == TMM__ALONG_K ? 0 : i * THREADS / lines;
        int line = mode == TMM__ALONG_K ? i * (THREADS / DEPTH) : i * THREADS % lines;
        const char *element = from + (unsigned long long)stride * (mode == TMM__ALONG_K ? i : k) +
                              (mode == TMM__ALONG_K ? 0 : line * SIZE);
        bool inside = whole ? valid : k < depth_left && line < lines_left;
        if (SIZE % 4 == 0)
            tmm__copy_async(to + k * pitch + line, element, SIZE, inside);
        else
            to[k * pitch + line] = inside ? *(const TMM_TYPE *)element : (TMM_TYPE)0;
    }
}

/* Stores four elements of row `row` of C, from column `col` on, of which those from first_col to
   N - 1 are wanted. C is at that place; `aligned`: to 16 bytes. */
static __device__ __forceinline__ void tmm_store_four(TMM_TYPE *C, long long row, long long col,
                                                      long long first_col, long long N,
                                                      bool aligned, TMM_TYPE alpha, TMM_TYPE beta,
                                                      const TMM_SUM *sum)
{
    tmm_four four;
    (void)row; /* only for the epilogue */
#pragma unroll
    for (int j = 0; j < 4; j++) {
        bool inside = col + j >= first_col && col + j < N;
        TMM_SUM old = 0;
        if (beta != 0 && inside) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)C[j]);
        four.v[j] = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old);
#ifdef TMM_EPILOGUE
        if (inside) four.v[j] = TMM_EPILOGUE(four.v[j], row, (col + j));
#endif
    }
    if (aligned && col >= first_col && col + 4 <= N) {
        *(tmm_four *)C = four;
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (col + j >= first_col && col + j < N) C[j] = four.v[j];
    }
}

/* The same for two elements. */
static __device__ __forceinline__ void tmm_store_two(TMM_TYPE *C, long long row, long long col,
                                                     long long first_col, long long N, bool aligned,
                                                     TMM_TYPE alpha, TMM_TYPE beta,
                                                     const TMM_SUM *sum)
{
    tmm_two two;
    (void)row; /* only for the epilogue */
#pragma unroll
    for (int j = 0; j < 2; j++) {
        bool inside = col + j >= first_col && col + j < N;
        TMM_SUM old = 0;
        if (beta != 0 && inside) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)C[j]);
        two.v[j] = (TMM_TYPE)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old);
#ifdef TMM_EPILOGUE
        if (inside) two.v[j] = TMM_EPILOGUE(two.v[j], row, (col + j));
#endif
        if (inside && !(aligned && col >= first_col && col + 2 <= N)) C[j] = two.v[j];
    }
    if (aligned && col >= first_col && col + 2 <= N) *(tmm_two *)C = two;
}

/* Tile number `tile` of C: its first row and column, in units of tiles. Bands of BAND rows of tiles
   are walked downwards, then across. */
static __device__ __forceinline__ void tmm_find_tile(const tmm__schedule *s, int BAND, int tile,
                                                     int *down, int *across)
{
    int band = tile / (BAND * s->tiles_across), rest = tile - band * BAND * s->tiles_across;
    int high = s->tiles_down - band * BAND < BAND ? s->tiles_down - band * BAND : BAND;
    *across = rest / high;
    *down = band * BAND + rest - *across * high;
}

/* KERNEL PACK. Copies op(A) to [k][row] and op(B) to [k][column], the form that is copied best to
   shared memory later, with zeros up to `pitch` lines. blockIdx.z: 0 for A, 1 for B. A block of
   256 threads moves squares of 64 lines and 64 k, through shared memory so that it reads and
   writes along memory. 8 bytes moved an element in float: bound by memory. */
TMM_KERNEL void __launch_bounds__(256)
    tmm_pack(long long K, long long linesA, const TMM_TYPE *__restrict__ A, long long rsA,
             long long csA, TMM_TYPE *__restrict__ packedA, long long pitchA, long long linesB,
             const TMM_TYPE *__restrict__ B, long long rsB, long long csB,
             TMM_TYPE *__restrict__ packedB, long long pitchB)
{
    __shared__ TMM_TYPE square[64][65]; /* [k][line] */
    const TMM_TYPE *from = blockIdx.z == 0 ? A : B;
    TMM_TYPE *to = blockIdx.z == 0 ? packedA : packedB;
    long long lines = blockIdx.z == 0 ? linesA : linesB;
    long long pitch = blockIdx.z == 0 ? pitchA : pitchB;
    long long line_stride = blockIdx.z == 0 ? rsA : csB, k_stride = blockIdx.z == 0 ? csA : rsB;
    long long line0 = blockIdx.x * 64ll;
    if (line0 >= pitch) return; /* the other operand has more lines, or this is not to be packed */
    int x = threadIdx.x % 64, y = threadIdx.x / 64;
    for (long long k0 = blockIdx.y * 64ll; k0 < K; k0 += gridDim.y * 64ll) {
#pragma unroll
        for (int i = 0; i < 64; i += 4) {
            int k = k_stride == 1 ? x : y + i, line = k_stride == 1 ? y + i : x;
            TMM_TYPE value = 0;
            if (k0 + k < K && line0 + line < lines)
                value = from[(line0 + line) * line_stride + (k0 + k) * k_stride];
            square[k][line] = value;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 64; i += 4)
            if (k0 + y + i < K) to[(k0 + y + i) * pitch + line0 + x] = square[y + i][x];
        __syncthreads();
    }
}

/* KERNEL REDUCE. C = alpha (sum of `pieces` partial tiles) + beta C, for the pieces that KERNEL
   PIPELINED left of each tile. 256 threads own groups of four sums of tile blockIdx.y; blockIdx.x
   says which. Few pieces: each thread adds up all of its group, in ascending k. Many: with `parts`
   = 8, warp w adds up every eighth of the pieces, from pieces w / 8 to pieces (w + 1) / 8, and the
   first warp the eight results; always in this order. Reads 4 bytes a sum and piece, once: bound
   by the second-level cache. `tensor`: the pieces come from KERNEL TENSOR, and rows is 8. */
TMM_KERNEL void __launch_bounds__(256)
    tmm_gemm_reduce(long long M, long long N, TMM_TYPE alpha, TMM_TYPE beta,
                    TMM_TYPE *__restrict__ C, long long ldc, int rows, int warps_down, int pieces,
                    int parts, int tensor, const tmm__schedule s)
{
    const int COLS = 8, fours = rows * COLS / 4;
    __shared__ tmm_sums sums[256];
    int groups = 256 / parts, part = threadIdx.x / groups;
    int group = blockIdx.x * groups + threadIdx.x % groups; /* number of the four in the tile */
    int tile = blockIdx.y;
    const tmm_sums *from =
        (const tmm_sums *)s.partials + (long long)tile * pieces * (fours * 128) + group;
    tmm_sums sum = {{0, 0, 0, 0}};
#pragma unroll 4
    for (int piece = pieces * part / parts; piece < pieces * (part + 1) / parts; piece++) {
        tmm_sums more = from[(long long)piece * (fours * 128)];
#pragma unroll
        for (int i = 0; i < 4; i++) sum.v[i] += more.v[i];
    }
    if (parts > 1) {
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (part > 0) return;
        for (int p = 1; p < parts; p++)
#pragma unroll
            for (int i = 0; i < 4; i++) sum.v[i] += sums[p * groups + threadIdx.x].v[i];
    }

    /* Whose four sums these are, and where they belong: as in the kernel that left them. */
    int thread = group % 128, four = group / 128, i = four / (COLS / 4), j = four % (COLS / 4);
    int warps_across = 4 / warps_down, tile_m = 4 * rows * warps_down, tile_n = 64 * warps_across;
    int band = TMM__BAND, down, across;
    if (tensor) tile_m = 128, tile_n = 64, band = TMM__TENSOR_BAND;
    tmm_find_tile(&s, band, tile, &down, &across);
    long long first_row = (long long)down * tile_m, first_col = (long long)across * tile_n;
    long long row = first_row, col = first_col;
    if (row > M - tile_m && !s.packed_A && M >= tile_m) row = M - tile_m;
    if (col > N - tile_n && !s.packed_B && N >= tile_n) col = N - tile_n;
    if (tensor) {
        row += thread / 64 * 64 + four / 4 * 16 + thread % 32 / 4;
        col += thread / 32 % 2 * 32 + four % 4 * 8 + thread % 4 * 2;
        for (int h = 0; h < 2; h++, row += 8)
            if (row >= first_row && row < M)
                tmm_store_two(C + row * ldc + col, row, col, first_col, N, false, alpha, beta,
                              &sum.v[2 * h]);
        return;
    }
    row += thread / 32 / warps_across * (4 * rows) + thread % 32 / 8 * 4 + i / 4 * 16 + i % 4;
    col += thread / 32 % warps_across * 64 + thread % 8 * 4 + j * 32;
    if (row < first_row || row >= M) return;
    TMM_SUM ordered[4] = {sum.v[1], sum.v[0], sum.v[3], sum.v[2]};
    tmm_store_four(C + row * ldc + col, row, col, first_col, N, false, alpha, beta, ordered);
}
#endif

#if defined(TMM__EMIT) && TMM__EMIT == 5
/* One instance of the kernel, with TMM__WARPS_DOWN x (4 / TMM__WARPS_DOWN) warps. TMM__MODES:
   modeA and modeB as constants, or -1 for any, known at run time; these alone take matrices smaller
   than a tile, and 64-bit strides. */
TMM_KERNEL void __launch_bounds__(128, 2)
    tmm_gemm_pipelined(long long M, long long N, long long K, TMM_TYPE alpha,
                       const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                       long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                       long long csB, long long batchB, TMM_TYPE beta, TMM_TYPE *__restrict__ C,
                       long long ldc, long long batchC, int modeA, int modeB, const tmm__schedule s)
{
    enum {
        ROWS = TMM__ROWS, /* of C that a thread owns */
        COLS = 8,
        THREADS = 128,
        WARPS_ACROSS = 4 / TMM__WARPS_DOWN,
        TILE_M = 4 * ROWS * TMM__WARPS_DOWN,
        TILE_N = 64 * WARPS_ACROSS,
        DEPTH = 8,
        STAGES = 3,
        PITCH_A = TILE_M + 4, /* 4 more: fewer bank conflicts between copies along k */
        PITCH_B = TILE_N + 4,
        STAGE = DEPTH * (PITCH_A + PITCH_B),
        SIZE = sizeof(TMM_TYPE),
        VECTOR = 16 / SIZE,
        FOURS = ROWS * COLS / 4,
        COPY_AT = TMM__MODE_A == TMM__VECTORS ? 4 : 0, /* when in a step; found by trying */
        ANY = TMM__MODE_A < 0
    };
    __shared__ __align__(16) TMM_TYPE shared[STAGES * STAGE];
    if (!ANY) {
        modeA = TMM__MODE_A;
        modeB = TMM__MODE_B;
    }

    /* What this thread copies: its first element of a tile of A (kA, lineA) and of B, where they go
       in shared memory, and how far apart those of its passes are in memory. */
    int thread = threadIdx.x;
    int elementA = modeA == TMM__VECTORS ? thread * VECTOR : thread;
    int elementB = modeB == TMM__VECTORS ? thread * VECTOR : thread;
    int kA = modeA == TMM__ALONG_K ? thread % DEPTH : elementA / TILE_M;
    int kB = modeB == TMM__ALONG_K ? thread % DEPTH : elementB / TILE_N;
    int lineA = modeA == TMM__ALONG_K ? thread / DEPTH : elementA % TILE_M;
    int lineB = modeB == TMM__ALONG_K ? thread / DEPTH : elementB % TILE_N;
    int toA = kA * PITCH_A + lineA, toB = DEPTH * PITCH_A + kB * PITCH_B + lineB;
    unsigned strideA = (unsigned)(SIZE * (modeA == TMM__ALONG_K   ? THREADS / DEPTH * rsA
                                          : modeA == TMM__VECTORS ? THREADS * VECTOR / TILE_M * csA
                                                                  : csA));
    unsigned strideB = (unsigned)(SIZE * (modeB == TMM__ALONG_K   ? THREADS / DEPTH * csB
                                          : modeB == TMM__VECTORS ? THREADS * VECTOR / TILE_N * rsB
                                                                  : rsB));
    /* The first row and column that this thread owns in a tile. */
    int warp = thread / 32, lane = thread % 32;
    int row0 = warp / WARPS_ACROSS * (4 * ROWS) + lane / 8 * 4;
    int col0 = warp % WARPS_ACROSS * 64 + lane % 8 * 4;

    /* This block's share of the split tiles, as steps numbered through all of them. */
    int blocks = gridDim.x, share = blocks - 1 - blockIdx.x;
    long long split_steps = (long long)s.split_tiles * s.steps;
    int step = (int)(split_steps * share / blocks);
    int share_end = (int)(split_steps * (share + 1) / blocks);
    int next_tile = s.split_tiles + blockIdx.x;
    bool packed_A = (ANY || TMM__MODE_A == TMM__VECTORS) && s.packed_A;
    bool packed_B = (ANY || TMM__MODE_A == TMM__VECTORS) && s.packed_B;
    int first_depth = (int)(K - (s.steps - 1ll) * DEPTH); /* of the first step: 1 to DEPTH */

    for (;;) {
        /* The next piece of work: steps `begin` to `end` of a tile. */
        int tile = next_tile, begin = 0, end = s.steps;
        if (step < share_end) {
            tile = step / s.steps;
            begin = step - tile * s.steps;
            if (end > begin + share_end - step) end = begin + share_end - step;
            step += end - begin;
        } else {
            if (tile >= s.tiles_down * s.tiles_across) break;
            next_tile += blocks;
        }
        int down, across;
        tmm_find_tile(&s, TMM__BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Moved back inside, unless what lies outside may be read. */
        if (row > M - TILE_M && !packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        int rows_left = ANY && M < TILE_M ? (int)M - lineA : TILE_M;
        int cols_left = ANY && N < TILE_N ? (int)N - lineB : TILE_N;

        TMM_SUM sum[ROWS][COLS];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) sum[i][j] = 0;

        /* Fill all stages but one. */
        long long k = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;
        const char *fromA =
            (const char *)(A + blockIdx.z * batchA + (row + lineA) * rsA + (k + kA) * csA);
        const char *fromB =
            (const char *)(B + blockIdx.z * batchB + (col + lineB) * csB + (k + kB) * rsB);
        int left = end - begin;
#pragma unroll 1
        for (int stage = 0; stage < STAGES - 1; stage++) {
            int depth = stage == 0 && begin == 0 ? first_depth : DEPTH;
            if (stage < left) {
                tmm_copy_tile(shared + stage * STAGE + toA, fromA, strideA, modeA, TILE_M, false,
                              true, rows_left, depth - kA);
                tmm_copy_tile(shared + stage * STAGE + toB, fromB, strideB, modeB, TILE_N, false,
                              true, cols_left, depth - kB);
            }
            fromA += depth * csA * SIZE;
            fromB += depth * rsB * SIZE;
            tmm__copy_commit();
        }
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();

        tmm_four a[2][ROWS / 4], b[2][COLS / 4];
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int q = 0; q < ROWS / 4; q++) a[0][q] = *(const tmm_four *)(shared + row0 + 16 * q);
#pragma unroll
        for (int q = 0; q < COLS / 4; q++)
            b[0][q] = *(const tmm_four *)(shared + DEPTH * PITCH_A + col0 + 32 * q);
#pragma unroll 1
        for (; left > 0; left--) {
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                int now = k % 2, then = 1 - now, next = (k + 1) % DEPTH;
                if (next == 0) { /* on to the next stage, which must be complete */
                    TMM__COPY_WAIT(STAGES - 2);
                    __syncthreads();
                    read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
                }
#pragma unroll
                for (int q = 0; q < COLS / 4; q++)
                    b[then][q] = *(const tmm_four *)(shared + read + DEPTH * PITCH_A +
                                                     next * PITCH_B + col0 + 32 * q);
#pragma unroll
                for (int q = 0; q < ROWS / 4; q++)
                    a[then][q] =
                        *(const tmm_four *)(shared + read + next * PITCH_A + row0 + 16 * q);
                if (k == COPY_AT) { /* everyone has left the stage before this one: refill it */
                    int write = read == 0 ? (STAGES - 1) * STAGE : read - STAGE;
                    bool more = left >= STAGES;
                    tmm_copy_tile(shared + write + toA, fromA, strideA, modeA, TILE_M, !ANY, more,
                                  more ? rows_left : 0, DEPTH - kA);
                    tmm_copy_tile(shared + write + toB, fromB, strideB, modeB, TILE_N, !ANY, more,
                                  more ? cols_left : 0, DEPTH - kB);
                    fromA += DEPTH * csA * SIZE;
                    fromB += DEPTH * rsB * SIZE;
                    tmm__copy_commit();
                }
                /* Back and forth along the rows: of two multiply-adds in a row, the second finds
                   one operand where the first has read it. */
#pragma unroll
                for (int i = 0; i < ROWS; i++)
#pragma unroll
                    for (int jj = 0; jj < COLS; jj++) {
                        int j = i % 2 ? COLS - 1 - jj : jj;
                        sum[i][j] +=
                            (TMM_SUM)a[now][i / 4].v[i % 4] * (TMM_SUM)b[now][j / 4].v[j % 4];
                    }
            }
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the next piece's copies may begin */

        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm_sums *to = (tmm_sums *)s.partials + (long long)share * (FOURS * THREADS) + thread;
#pragma unroll
            for (int q = 0; q < FOURS; q++) {
                const TMM_SUM *four = &sum[q / 2][q % 2 * 4];
                tmm_sums swapped = {{four[1], four[0], four[3], four[2]}};
                to[q * THREADS] = swapped;
            }
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) { /* the owner: add what the others have left */
            long long last_step = (tile + 1ll) * s.steps;
            int others = 0;
            while (split_steps * (share + 1 + others) / blocks < last_step) others++;
            for (int other = thread; other < others; other += THREADS)
                tmm__flag_wait(s.flags + share + 1 + other, s.ticket);
            __syncthreads();
            for (int other = share + 1; other <= share + others; other++) {
                const tmm_sums *from =
                    (const tmm_sums *)s.partials + (long long)other * (FOURS * THREADS) + thread;
#pragma unroll
                for (int q = 0; q < FOURS; q++) {
                    TMM_SUM *four = &sum[q / 2][q % 2 * 4];
                    tmm_sums swapped = from[q * THREADS];
                    if (q % 8 == 7) TMM__FENCE(); /* 8 in flight: there are no registers for 32 */
                    four[1] += swapped.v[0];
                    four[0] += swapped.v[1];
                    four[3] += swapped.v[2];
                    four[2] += swapped.v[3];
                }
            }
        }
        /* Afresh: kept through the loop above, these would cost it registers. */
        tmm_find_tile(&s, TMM__BAND, tile, &down, &across);
        long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
        row = first_row, col = first_col;
        if (row > M - TILE_M && !packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        TMM_TYPE *c0 = C + blockIdx.z * batchC;
        bool aligned = ((size_t)(c0 + col + col0) | ldc * SIZE) % 16 == 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            long long r = row + row0 + i / 4 * 16 + i % 4;
            if (r < first_row || r >= M) continue;
#pragma unroll
            for (int q = 0; q < COLS / 4; q++) {
                long long c = col + col0 + 32 * q;
                tmm_store_four(c0 + r * ldc + c, r, c, first_col, N, aligned, alpha, beta,
                               &sum[i][4 * q]);
            }
        }
    }
}
#endif

#if defined(TMM__EMIT) && TMM__EMIT == 8
/* ============================== KERNEL TENSOR ================================================= */
/* Doubles on tensor cores, which multiply and add small matrices by the rules of IEEE 754: each
   element of C is the same chain of multiply-adds, in ascending k, as in the other kernels.

   Tile of C: 128 x 64, 4 warps of 64 x 32, each 4 x 4 matrices of 16 x 8 (tmm__mma_double). Of such
   a matrix a lane owns two neighbours in each of two rows; its four sums are c0 c1, c2 c3:
       +--------+--------+     +----+----+----+----+       columns   0 1   2 3   4 5   6 7
       | warp 0 | warp 1 |     |    |    |    |    | 16          0 | L0  | L1  | L2  | L3  | c0 c1
       |        |        |     +----+----+----+----+             1 | L4  | L5  | L6  | L7  |
    64 |        |        |     |    |    |    |    |             : |  :  |  :  |  :  |  :  |
       +--------+--------+     +----+----+----+----+     rows    7 | L28 | L29 | L30 | L31 |
       | warp 2 | warp 3 |     |    |    |    |    |             8 | L0  | L1  | L2  | L3  | c2 c3
       |        |        |     +----+----+----+----+             : |  :  |  :  |  :  |  :  |
       |        |        |     |    |    |    |    |            15 | L28 | L29 | L30 | L31 |
       +--------+--------+     +----+----+----+----+
           32       32            8    8    8    8

   Along k in steps of DEPTH = 16; STAGES = 3 buffers of shared memory go round as in KERNEL
   PIPELINED. From there a lane takes 8 elements of A for each 16 rows and 4 of B for each 8
   columns, its part of a matrix 16 deep:
       rows 0 .. 2   of matrices: multiply; load the A of the next row; start copies for the step
                     after the next, one after each multiplication
       barrier       every warp has in registers what it needs of this stage
       last row      multiply; load B and the first A of the next step

   A stage holds, for A and then for B, four planes of 4 k each. Loads of a fragment take 4 lines x
   4 k a half-warp, and both forms of a plane put these into 16 different banks of 8 bytes:
       copied along the lines    element (k, line) at (lines + 4) k + line
       copied along k            element (k, line) at 4 line + k
   4 more elements a plane do the same for the copies along k, which write to all four planes.

   The tiles are shared out, moved back inside, and their partial sums added as in KERNEL PIPELINED.
   Bands of 8 rows of tiles: the 264 tiles at work on 132 multiprocessors form a square of sorts.

   Global loads: (1 / 64 + 1 / 128) M N K elements, 10.7 FLOP per byte, mostly from the second-level
   cache. Shared loads: 16 (64 + 32) elements a warp for 16 x 64 x 32 multiply-adds, 5.3 FLOP per
   byte. What bounds it: the tensor cores, 16 x 8 x 16 multiply-adds in 64 cycles of a scheduler,
   two warps each, which leave them idle when both wait; and, for longer than a few ms, the power
   that the device may take. Before sm_80 there is nothing to gain: see tmm__mma_double.

   modeA and modeB are those of KERNEL PIPELINED, and
     K_VECTORS    as ALONG_K with 16 bytes a thread, 8 threads along k
   with 16 threads along k in ALONG_K. A launch needs TMM__TENSOR_BYTES of dynamic shared memory. */

/* Copies one pass of what this thread has to copy of a tile of `lines` lines and 16 k. Arguments as
   for tmm_copy_tile; `mode`, `lines`, `pass` and `whole` are constants. */
static __device__ __forceinline__ void tmm_copy_pass(double *to, const char *from, unsigned stride,
                                                     int mode, int lines, int pass, bool whole,
                                                     bool valid, int lines_left, int depth_left)
{
    int width = mode == TMM__VECTORS || mode == TMM__K_VECTORS ? 2 : 1;
    int k = 128 * width / lines * pass, line = 128 * width / 16 * pass; /* one of them advances */
    bool along_k = mode == TMM__ALONG_K || mode == TMM__K_VECTORS;
    bool inside = along_k ? line < lines_left && depth_left > 0 : k < depth_left && lines_left > 0;
    to += along_k ? 4 * line : k / 4 * TMM__PLANE(lines) + k % 4 * (lines + 4);
    tmm__copy_async(to, from + (unsigned long long)stride * pass, 8 * width,
                    whole ? valid : inside);
}

/* All passes. `mode` need not be a constant. */
static __device__ __forceinline__ void tmm_copy_passes(double *to, const char *from,
                                                       unsigned stride, int mode, int lines,
                                                       int lines_left, int depth_left)
{
#define TMM__PASSES(mode, count)                               \
    _Pragma("unroll") for (int pass = 0; pass < count; pass++) \
        tmm_copy_pass(to, from, stride, mode, lines, pass, false, true, lines_left, depth_left)
    if (mode == TMM__ALONG_K)
        TMM__PASSES(TMM__ALONG_K, lines / 8);
    else if (mode == TMM__ALONG_LINES)
        TMM__PASSES(TMM__ALONG_LINES, lines / 8);
    else if (mode == TMM__VECTORS)
        TMM__PASSES(TMM__VECTORS, lines / 16);
    else
        TMM__PASSES(TMM__K_VECTORS, lines / 16);
#undef TMM__PASSES
}
#endif

#if defined(TMM__EMIT) && TMM__EMIT == 9
/* One instance of the kernel. TMM__MODE_A and TMM__MODE_B: as for KERNEL PIPELINED. */
TMM_KERNEL void __launch_bounds__(128, 2)
    tmm_gemm_tensor(long long M, long long N, long long K, double alpha,
                    const double *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const double *__restrict__ B, long long rsB, long long csB, long long batchB,
                    double beta, double *__restrict__ C, long long ldc, long long batchC, int modeA,
                    int modeB, const tmm__schedule s)
{
    enum {
        THREADS = 128,
        TILE_M = 128,
        TILE_N = 64,
        DEPTH = 16,
        STAGES = 3,
        DOWN = 4, /* matrices of a warp */
        ACROSS = 4,
        PLANE_A = TMM__PLANE(TILE_M),
        PLANE_B = TMM__PLANE(TILE_N),
        STAGE = 4 * (PLANE_A + PLANE_B),
        SIZE = 8,
        ANY = TMM__MODE_A < 0
    };
    static_assert(STAGES * STAGE * SIZE == TMM__TENSOR_BYTES, "what the launcher asks for");
    extern __shared__ __align__(16) double tmm__tensor_stages[];
    double *shared = tmm__tensor_stages;
    if (!ANY) {
        modeA = TMM__MODE_A;
        modeB = TMM__MODE_B;
    }

    /* What this thread copies: as in KERNEL PIPELINED. */
    int thread = threadIdx.x;
    bool along_kA = modeA == TMM__ALONG_K || modeA == TMM__K_VECTORS;
    bool along_kB = modeB == TMM__ALONG_K || modeB == TMM__K_VECTORS;
    int widthA = modeA == TMM__VECTORS || modeA == TMM__K_VECTORS ? 2 : 1;
    int widthB = modeB == TMM__VECTORS || modeB == TMM__K_VECTORS ? 2 : 1;
    int elementA = thread * widthA, elementB = thread * widthB;
    int kA = along_kA ? elementA % DEPTH : elementA / TILE_M;
    int kB = along_kB ? elementB % DEPTH : elementB / TILE_N;
    int lineA = along_kA ? elementA / DEPTH : elementA % TILE_M;
    int lineB = along_kB ? elementB / DEPTH : elementB % TILE_N;
    int toA = kA / 4 * PLANE_A + (along_kA ? 4 * lineA + kA % 4 : kA % 4 * (TILE_M + 4) + lineA);
    int toB = kB / 4 * PLANE_B + (along_kB ? 4 * lineB + kB % 4 : kB % 4 * (TILE_N + 4) + lineB);
    toB += 4 * PLANE_A;
    unsigned strideA =
        (unsigned)(SIZE * widthA * (along_kA ? THREADS / DEPTH * rsA : THREADS / TILE_M * csA));
    unsigned strideB =
        (unsigned)(SIZE * widthB * (along_kB ? THREADS / DEPTH * csB : THREADS / TILE_N * rsB));

    /* Where this lane finds its element of the first fragments, and the first row and column of
       what it owns in a tile. */
    int lane = thread % 32, g = lane / 4, t = lane % 4;
    int row0 = thread / 64 * (16 * DOWN) + g, col0 = thread / 32 % 2 * (8 * ACROSS) + g;
    int stepA = along_kA ? 4 : 1, stepB = along_kB ? 4 : 1; /* from line to line */
    int firstA = row0 * stepA + t * (along_kA ? 1 : TILE_M + 4);
    int firstB = 4 * PLANE_A + col0 * stepB + t * (along_kB ? 1 : TILE_N + 4);
    col0 += 2 * t - g;

    /* This block's share of the split tiles, as steps numbered through all of them. */
    int blocks = gridDim.x, share = blocks - 1 - blockIdx.x;
    long long split_steps = (long long)s.split_tiles * s.steps;
    int step = (int)(split_steps * share / blocks);
    int share_end = (int)(split_steps * (share + 1) / blocks);
    int next_tile = s.split_tiles + blockIdx.x;
    int first_depth = (int)(K - (s.steps - 1ll) * DEPTH); /* of the first step: 1 to DEPTH */

    for (;;) {
        /* The next piece of work: steps `begin` to `end` of a tile. */
        int tile = next_tile, begin = 0, end = s.steps;
        if (step < share_end) {
            tile = step / s.steps;
            begin = step - tile * s.steps;
            if (end > begin + share_end - step) end = begin + share_end - step;
            step += end - begin;
        } else {
            if (tile >= s.tiles_down * s.tiles_across) break;
            next_tile += blocks;
        }
        int down, across;
        tmm_find_tile(&s, TMM__TENSOR_BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Moved back inside, unless what lies outside may be read. */
        if (row > M - TILE_M && !s.packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !s.packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        int rows_left = ANY && M < TILE_M ? (int)M - lineA : TILE_M;
        int cols_left = ANY && N < TILE_N ? (int)N - lineB : TILE_N;

        double sum[DOWN][ACROSS][4], a[2][8], b[ACROSS][4];
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) sum[i][j][e] = 0;

        /* Fill all stages but one. */
        long long k = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;
        const char *fromA =
            (const char *)(A + blockIdx.z * batchA + (row + lineA) * rsA + (k + kA) * csA);
        const char *fromB =
            (const char *)(B + blockIdx.z * batchB + (col + lineB) * csB + (k + kB) * rsB);
        int left = end - begin;
#pragma unroll 1
        for (int stage = 0; stage < STAGES - 1; stage++) {
            int depth = stage == 0 && begin == 0 ? first_depth : DEPTH;
            if (stage < left) {
                tmm_copy_passes(shared + stage * STAGE + toA, fromA, strideA, modeA, TILE_M,
                                rows_left, depth - kA);
                tmm_copy_passes(shared + stage * STAGE + toB, fromB, strideB, modeB, TILE_N,
                                cols_left, depth - kB);
            }
            fromA += depth * csA * SIZE;
            fromB += depth * rsB * SIZE;
            tmm__copy_commit();
        }
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();

        int read = 0; /* where the stage that is worked on begins */
#define TMM__LOAD_A(buffer, i)                                                                  \
    _Pragma("unroll") for (int q = 0; q < 4; q++) _Pragma("unroll") for (int h = 0; h < 2; h++) \
        a[buffer][2 * q + h] = shared[read + firstA + q * PLANE_A + (16 * (i) + 8 * h) * stepA]
#define TMM__LOAD_B(j)                                      \
    _Pragma("unroll") for (int q = 0; q < 4; q++) b[j][q] = \
        shared[read + firstB + q * PLANE_B + 8 * (j)*stepB]
#pragma unroll
        for (int j = 0; j < ACROSS; j++) TMM__LOAD_B(j);
        TMM__LOAD_A(0, 0);
#pragma unroll 1
        for (; left > 0; left--) {
            /* Everyone has left the stage before this one: refill it. */
            int write = read == 0 ? (STAGES - 1) * STAGE : read - STAGE;
            bool more = left >= STAGES;
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                if (i < DOWN - 1) {
                    TMM__LOAD_A((i + 1) % 2, i + 1);
                } else { /* on to the next stage, which must be complete */
                    tmm__copy_commit();
                    TMM__COPY_WAIT(STAGES - 2);
                    __syncthreads();
                    read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
                }
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    int pass = i * ACROSS + j - TILE_M / 16;
                    tmm__mma_double(sum[i][j], a[i % 2], b[j]);
                    if (i == DOWN - 1) {
                        TMM__LOAD_B(j);
                        if (j == 0) TMM__LOAD_A(0, 0);
                    } else if (!ANY && pass < 0) {
                        tmm_copy_pass(shared + write + toA, fromA, strideA, TMM__MODE_A, TILE_M,
                                      pass + TILE_M / 16, true, more, 0, 0);
                    } else if (!ANY) {
                        tmm_copy_pass(shared + write + toB, fromB, strideB, TMM__MODE_B, TILE_N,
                                      pass, true, more, 0, 0);
                    } else if (i + j == 0) {
                        tmm_copy_passes(shared + write + toA, fromA, strideA, modeA, TILE_M,
                                        more ? rows_left : 0, DEPTH - kA);
                        tmm_copy_passes(shared + write + toB, fromB, strideB, modeB, TILE_N,
                                        more ? cols_left : 0, DEPTH - kB);
                    }
                }
            }
            fromA += DEPTH * csA * SIZE;
            fromB += DEPTH * rsB * SIZE;
        }
#undef TMM__LOAD_A
#undef TMM__LOAD_B
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the next piece's copies may begin */

        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm_sums *to =
                (tmm_sums *)s.partials + (long long)share * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
            for (int q = 0; q < DOWN * ACROSS; q++) {
                const double *four = sum[q / ACROSS][q % ACROSS];
                tmm_sums sums = {{four[0], four[1], four[2], four[3]}};
                to[q * THREADS] = sums;
            }
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) { /* the owner: add what the others have left */
            long long last_step = (tile + 1ll) * s.steps;
            int others = 0;
            while (split_steps * (share + 1 + others) / blocks < last_step) others++;
            for (int other = thread; other < others; other += THREADS)
                tmm__flag_wait(s.flags + share + 1 + other, s.ticket);
            __syncthreads();
            for (int other = share + 1; other <= share + others; other++) {
                const tmm_sums *from = (const tmm_sums *)s.partials +
                                       (long long)other * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
                for (int q = 0; q < DOWN * ACROSS; q++) {
                    tmm_sums more = from[q * THREADS];
                    if (q % 4 == 3) TMM__FENCE(); /* 4 in flight: there are no registers for 16 */
#pragma unroll
                    for (int e = 0; e < 4; e++) sum[q / ACROSS][q % ACROSS][e] += more.v[e];
                }
            }
        }
        /* Afresh: kept through the loop above, these would cost it registers. */
        tmm_find_tile(&s, TMM__TENSOR_BAND, tile, &down, &across);
        long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
        row = first_row, col = first_col;
        if (row > M - TILE_M && !s.packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !s.packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        double *c0 = C + blockIdx.z * batchC;
        bool aligned = ((size_t)(c0 + col + col0) | ldc * SIZE) % 16 == 0;
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                long long r = row + row0 + 16 * i + 8 * h;
                if (r < first_row || r >= M) continue;
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    long long c = col + col0 + 8 * j;
                    tmm_store_two(c0 + r * ldc + c, r, c, first_col, N, aligned, alpha, beta,
                                  &sum[i][j][2 * h]);
                }
            }
    }
}
#endif

#ifndef TMM__EMIT
#if defined(TMM_NAME)
/* ============================== INSTANCES ===================================================== */
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. TMM_SHARED
   comes with three tiles, or with the one that TMM_TILE asks for. */
#if TMM__KERNELS
#define tmm_gemm_global   TMM_FN(gemm_global)
#define tmm_gemm_shared   TMM__JOIN(TMM_FN(gemm_shared_), TMM_TILE)
#define tmm_gemm_register TMM__JOIN(TMM_FN(gemm_register_), TMM__EDGE)
#define tmm_quad          TMM__JOIN(TMM_FN(quad_), TMM__EDGE)
#define tmm_fetch_quad    TMM__JOIN(TMM_FN(fetch_quad_), TMM__EDGE)
#define tmm_put_quad      TMM__JOIN(TMM_FN(put_quad_), TMM__EDGE)
#define tmm_four          TMM_FN(four)
#define tmm_two           TMM_FN(two)
#define tmm_sums          TMM_FN(sums)
#define tmm_copy_tile     TMM_FN(copy_tile)
#define tmm_store_four    TMM_FN(store_four)
#define tmm_store_two     TMM_FN(store_two)
#define tmm_find_tile     TMM_FN(find_tile)
#define tmm_gemm_reduce   TMM_FN(gemm_reduce)
#define tmm_pack          TMM_FN(pack)
#define tmm_copy_pass     TMM_FN(copy_pass)
#define tmm_copy_passes   TMM_FN(copy_passes)

#define TMM__EMIT 1
#include "tiledmm.cuh"
#undef TMM__EMIT

#define TMM__EMIT 2
#ifdef TMM_TILE
#define TMM__ONE_TILE 1
#include "tiledmm.cuh"
#else
#define TMM__ONE_TILE 0
#define TMM_TILE      8
#include "tiledmm.cuh"
#undef TMM_TILE
#define TMM_TILE 16
#include "tiledmm.cuh"
#undef TMM_TILE
#define TMM_TILE 32
#include "tiledmm.cuh"
#undef TMM_TILE
#endif
#undef TMM__EMIT

#define TMM__EMIT 3
#define TMM__EDGE 64
#define TMM_BLOCK 4
#include "tiledmm.cuh"
#undef TMM__EDGE
#undef TMM_BLOCK
#define TMM__EDGE 128
#define TMM_BLOCK 8
#include "tiledmm.cuh"
#undef TMM__EDGE
#undef TMM_BLOCK
#undef TMM__EMIT

#define TMM__EMIT 4
#include "tiledmm.cuh"
#undef TMM__EMIT

/* KERNEL PIPELINED for any operands; for operands as in A^T B, or packed; for those of A B; and
   these with other tiles, for narrow C. */
#define TMM__EMIT          5
#define TMM__WARPS_DOWN    2
#define TMM__ROWS          (sizeof(TMM_TYPE) <= 4 ? 8 : 4)
#define TMM__MODE_A        -1
#define TMM__MODE_B        -1
#define tmm_gemm_pipelined TMM_FN(gemm_pipelined)
#include "tiledmm.cuh"
#undef tmm_gemm_pipelined
#undef TMM__MODE_A
#undef TMM__MODE_B
#undef TMM__ROWS
#define TMM__ROWS          (sizeof(TMM_TYPE) <= 4 ? 16 : 8)
#define TMM__MODE_A        TMM__ALONG_K
#define TMM__MODE_B        TMM__VECTORS
#define tmm_gemm_pipelined TMM_FN(gemm_pipelined_nn)
#include "tiledmm.cuh"
#undef tmm_gemm_pipelined
#undef TMM__MODE_A
#undef TMM__MODE_B
#define TMM__MODE_A        TMM__VECTORS
#define TMM__MODE_B        TMM__VECTORS
#define tmm_gemm_pipelined TMM_FN(gemm_pipelined_tn)
#include "tiledmm.cuh"
#undef tmm_gemm_pipelined
#undef TMM__MODE_A
#undef TMM__WARPS_DOWN
#ifdef TMM__NARROW_TILES
#define TMM__WARPS_DOWN    4
#define TMM__MODE_A        TMM__ALONG_K
#define tmm_gemm_pipelined TMM_FN(gemm_pipelined_nn_tall)
#include "tiledmm.cuh"
#undef tmm_gemm_pipelined
#undef TMM__WARPS_DOWN
#define TMM__WARPS_DOWN    1
#define tmm_gemm_pipelined TMM_FN(gemm_pipelined_nn_wide)
#include "tiledmm.cuh"
#undef tmm_gemm_pipelined
#undef TMM__WARPS_DOWN
#endif
#undef TMM__MODE_A
#undef TMM__MODE_B
#undef TMM__ROWS
#undef TMM__EMIT

/* KERNEL TENSOR for any operands; for those of A B; and as in A^T B, or packed. */
#if TMM__IS_DOUBLE
#define TMM__EMIT 8
#include "tiledmm.cuh"
#undef TMM__EMIT
#define TMM__EMIT       9
#define TMM__MODE_A     -1
#define TMM__MODE_B     -1
#define tmm_gemm_tensor TMM_FN(gemm_tensor)
#include "tiledmm.cuh"
#undef tmm_gemm_tensor
#undef TMM__MODE_A
#undef TMM__MODE_B
#define TMM__MODE_A     TMM__K_VECTORS
#define TMM__MODE_B     TMM__VECTORS
#define tmm_gemm_tensor TMM_FN(gemm_tensor_nn)
#include "tiledmm.cuh"
#undef tmm_gemm_tensor
#undef TMM__MODE_A
#define TMM__MODE_A     TMM__VECTORS
#define tmm_gemm_tensor TMM_FN(gemm_tensor_tn)
#include "tiledmm.cuh"
#undef tmm_gemm_tensor
#undef TMM__MODE_A
#undef TMM__MODE_B
#undef TMM__EMIT
#endif
#endif

#if TMM__HOST
/* ============================== CHOICE ======================================================== */
/* 64 or 128: the edge of the tile with which TMM_REGISTER should be faster. The time of a launch
   is that of the busiest multiprocessor: its number of tiles times the work in one, where a small
   tile needs more time for its quarter of the work, since it reads shared memory twice as often. */
static inline int TMM_FN(gemm__register_tile)(long long M, long long N, long long batch)
{
    int processors = tmm__current_device()->processors;
    double small_tiles = ceil(M / 64.0) * ceil(N / 64.0) * batch;
    double large_tiles = ceil(M / 128.0) * ceil(N / 128.0) * batch;
    double small_cost = 1.4 * ceil(small_tiles / processors);
    double large_cost = 4.0 * ceil(large_tiles / processors);
    return small_cost < large_cost ? 64 : 128;
}

TMM_API tmm_kernel TMM_FN(gemm_choice)(long long M, long long N, long long K, long long batch)
{
    (void)K;
    if ((double)M * N * batch <= 900.0 * tmm__current_device()->processors) {
        /* Tiles of 64 would leave most multiprocessors without work: smaller ones share it out.
           On one NVIDIA H200 both were level at 320 x 320 for float, and for double between 384
           and 512. */
#if TMM__ONE_TILE
        return TMM_SHARED;
#else
        return TMM_SHARED_16;
#endif
    }
    return TMM_FN(gemm__register_tile)(M, N, batch) == 64 ? TMM_REGISTER_64 : TMM_REGISTER_128;
}

/* ============================== LAUNCHERS ===================================================== */
/* Seconds: two launches' time must be saved, too. */
#ifndef TMM__WORTH_PACKING
#define TMM__WORTH_PACKING(packing, saving) ((packing) + 4e-6 < (saving))
#endif

/* What KERNEL PIPELINED and TENSOR cannot do: strides and numbers of tiles and steps beyond 32
   bits. */
static inline int TMM_FN(gemm__pipelined_fits)(long long M, long long N, long long K,
                                               long long stride_A, long long stride_B)
{
    long long most = 0xFFFFFFFFll / (16 * (long long)sizeof(TMM_TYPE));
    double tiles = ceil(M / 64.0) * ceil(N / 64.0);
    return stride_A <= most && stride_B <= most && tiles <= INT_MAX && K <= 8ll * INT_MAX - 8;
}

/* `batch` products by KERNEL PIPELINED or TENSOR (at most 65535; M, N > 0). Strides as in the
   kernels. */
static inline tmm_status TMM_FN(gemm__pipelined)(int tensor, long long M, long long N, long long K,
                                                 TMM_TYPE alpha, const TMM_TYPE *A, long long rsA,
                                                 long long csA, long long strideA,
                                                 const TMM_TYPE *B, long long rsB, long long csB,
                                                 long long strideB, TMM_TYPE beta, TMM_TYPE *C,
                                                 long long ldc, long long strideC, unsigned batch,
                                                 tmm_stream stream)
{
    enum { SIZE = sizeof(TMM_TYPE), MOST_ROWS = SIZE <= 4 ? 16 : 8 };
    const tmm__device *device = tmm__current_device();
    /* Copies of 16 bytes need lines in multiples of that, and everything else too; there are none
       of elements smaller than 4 bytes. */
    size_t offA = SIZE < 4 ? 1 : (size_t)A | csA * SIZE | strideA * SIZE | M * SIZE;
    size_t offB = SIZE < 4 ? 1 : (size_t)B | rsB * SIZE | strideB * SIZE | N * SIZE;
    int modeA = csA == 1 ? TMM__ALONG_K : offA % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    int modeB = rsB == 1 ? TMM__ALONG_K : offB % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    if (tensor && csA == 1 && ((size_t)A | rsA * SIZE | strideA * SIZE | K * SIZE) % 16 == 0)
        modeA = TMM__K_VECTORS;
    if (tensor && rsB == 1 && ((size_t)B | csB * SIZE | strideB * SIZE | K * SIZE) % 16 == 0)
        modeB = TMM__K_VECTORS;

    /* The instance of the kernel. The tile of PIPELINED is 4 rows x warps_down by 256 / warps_down,
       in form ANY half as high. */
    enum { ANY, TN, NN, TALL, WIDE, TENSOR } form = ANY;
    int rows = MOST_ROWS, warps_down = 2, depth = tensor ? 16 : 8;
    int most_m = tensor ? 128 : 8 * MOST_ROWS, most_n = tensor ? 64 : 128;
    int inA = modeA == TMM__VECTORS && M >= most_m; /* TN could use it in place */
    int inB = modeB == TMM__VECTORS && N >= most_n;
    int nn = modeA == (tensor ? TMM__K_VECTORS : TMM__ALONG_K) && M >= most_m && inB;
    if (nn) form = NN;
    if (inA && inB) form = TN;
#ifdef TMM__NARROW_TILES
    if (modeA == TMM__ALONG_K && modeB == TMM__VECTORS && !tensor) {
        if (M >= 16 * MOST_ROWS && N >= 64 && N <= 96) form = TALL, warps_down = 4;
        if (M >= 4 * MOST_ROWS && M <= 6 * MOST_ROWS && N >= 256) form = WIDE, warps_down = 1;
    }
#endif

    /* Should operands be packed for TN? That costs time in proportion to M K and N K, and saves a
       part of what M N K costs. */
    long long pitchA = 0, pitchB = 0;
    double packing = (inA ? 0.0 : M) + (inB ? 0.0 : N);
    packing *= 2.0 * K * SIZE / device->bandwidth;
    double saving = (form != NN ? 0.15 : tensor ? 0.01 : 0.06) * 2 * M * N * K / device->arithmetic;
    if ((form == ANY || form == NN) && batch == 1 && K > 0 && SIZE >= 4 &&
        TMM__WORTH_PACKING(packing, saving) &&
        TMM_FN(gemm__pipelined_fits)(M, N, K, M + 128, N + 128)) {
        form = TN;
        if (!inA) pitchA = ((M - 1) / most_m + 1) * most_m;
        if (!inB) pitchB = ((N - 1) / most_n + 1) * most_n;
    }

    /* Who computes what, and the memory for that. */
    tmm__schedule s;
    char *memory = NULL;
    int blocks = 0;
    for (int split = batch == 1; blocks == 0; split = 0) {
        if (form == ANY && !tensor) rows = MOST_ROWS / 2;
        int tile_m = tensor ? 128 : 4 * rows * warps_down, tile_n = tensor ? 64 : 256 / warps_down;
        blocks = tmm__plan(&s, (int)((M - 1) / tile_m + 1), (int)((N - 1) / tile_n + 1),
                           (int)((K + depth - 1) / depth), 2 * device->processors, split);
        size_t bytesA = (size_t)(K * pitchA) * SIZE, bytesB = (size_t)(K * pitchB) * SIZE;
        size_t partials = 0, flags = 0;
        if (s.split_tiles > 0) {
            partials = (size_t)blocks * tile_m * tile_n * sizeof(TMM_SUM);
            flags = blocks * sizeof *s.flags;
        }
        if (bytesA + bytesB + partials == 0) break;
        memory = (char *)tmm__workspace(bytesA + bytesB + partials + flags, stream);
        if (memory == NULL) { /* then without */
            if (pitchA + pitchB > 0) form = nn ? NN : ANY;
            blocks = 0;
            pitchA = pitchB = 0;
            continue;
        }
        s.partials = memory + bytesA + bytesB;
        s.flags = (unsigned long long *)(memory + bytesA + bytesB + partials);
        s.ticket = tmm__ticket();
#ifdef TMM_CLEAR_FLAGS
        if (flags > 0) (void)cudaMemsetAsync(s.flags, 0, flags, stream);
#endif
    }

    if (pitchA + pitchB > 0) {
        TMM_TYPE *packed_A = (TMM_TYPE *)memory, *packed_B = packed_A + K * pitchA;
        dim3 squares((unsigned)((pitchA > pitchB ? pitchA : pitchB) / 64),
                     (unsigned)tmm__min((K + 63) / 64, 65535), 2);
        tmm_pack<<<squares, 256, 0, stream>>>(K, M, A, rsA, csA, packed_A, pitchA, N, B, rsB, csB,
                                              packed_B, pitchB);
        if (pitchA > 0) A = packed_A, rsA = 1, csA = pitchA, s.packed_A = 1;
        if (pitchB > 0) B = packed_B, csB = 1, rsB = pitchB, s.packed_B = 1;
    }
    dim3 grid(blocks, 1, batch);
#define TMM__LAUNCH(name, bytes)                                                                  \
    TMM_FN(name)<<<grid, 128, bytes, stream>>>(M, N, K, alpha, A, rsA, csA, strideA, B, rsB, csB, \
                                               strideB, beta, C, ldc, strideC, modeA, modeB, s)
#if TMM__IS_DOUBLE
#define TMM__LAUNCH_TENSOR(name)                                                              \
    do {                                                                                      \
        (void)cudaFuncSetAttribute(TMM_FN(name), cudaFuncAttributeMaxDynamicSharedMemorySize, \
                                   TMM__TENSOR_BYTES);                                        \
        TMM__LAUNCH(name, TMM__TENSOR_BYTES);                                                 \
    } while (0)
#endif
    switch (form + (tensor ? TENSOR : 0)) {
    case TN: TMM__LAUNCH(gemm_pipelined_tn, 0); break;
    case NN: TMM__LAUNCH(gemm_pipelined_nn, 0); break;
#ifdef TMM__NARROW_TILES
    case TALL: TMM__LAUNCH(gemm_pipelined_nn_tall, 0); break;
    case WIDE: TMM__LAUNCH(gemm_pipelined_nn_wide, 0); break;
#endif
#if TMM__IS_DOUBLE
    case TENSOR + TN: TMM__LAUNCH_TENSOR(gemm_tensor_tn); break;
    case TENSOR + NN: TMM__LAUNCH_TENSOR(gemm_tensor_nn); break;
    case TENSOR: TMM__LAUNCH_TENSOR(gemm_tensor); break;
#undef TMM__LAUNCH_TENSOR
#endif
    default: TMM__LAUNCH(gemm_pipelined, 0); break;
    }
#undef TMM__LAUNCH
    if (s.reduce) {
        int tiles = s.tiles_down * s.tiles_across;
        int pieces = blocks / tiles, parts = pieces >= 32 ? 8 : 1;
        tmm_gemm_reduce<<<dim3(rows * parts, tiles), 256, 0, stream>>>(M, N, alpha, beta, C, ldc,
                                                                       rows, warps_down, pieces,
                                                                       parts, tensor, s);
    }
    tmm_status status = tmm__cuda(cudaGetLastError(), "kernel launch");
    if (memory != NULL) (void)cudaFreeAsync(memory, stream);
    return status;
}

TMM_API tmm_status TMM_FN(gemm_batched_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                             long long N, long long K, TMM_TYPE alpha,
                                             const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                             long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                             long long ldc, long long strideA, long long strideB,
                                             long long strideC, long long batch, tmm_stream stream)
{
    tmm_status status =
        tmm__check_gemm(opA, opB, M, N, K, !(alpha == 0), A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE));
    if (status != TMM_OK) return status;
    if (batch < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "batch is negative: %lld", batch);
    if (strideA < 0 || strideB < 0 || strideC < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is negative",
                         strideA < 0   ? "strideA"
                         : strideB < 0 ? "strideB"
                                       : "strideC");
    if (batch > 1 && strideC == 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "strideC is 0: the products would overwrite another");
    if (kernel == TMM_AUTO) kernel = TMM_FN(gemm_choice)(M, N, K, batch);
    if (kernel == TMM_REGISTER)
        kernel =
            TMM_FN(gemm__register_tile)(M, N, batch) == 64 ? TMM_REGISTER_64 : TMM_REGISTER_128;
    long long tile; /* the edge of the tile of C that a block computes */
    switch (kernel) {
#if TMM__ONE_TILE
    case TMM_SHARED: tile = TMM_TILE; break;
#else
    case TMM_SHARED_8: tile = 8; break;
    case TMM_SHARED_16: tile = 16; break;
    case TMM_SHARED:
    case TMM_SHARED_32: tile = 32; break;
#endif
    case TMM_GLOBAL: tile = 32; break;
    case TMM_REGISTER_64: tile = 64; break;
    case TMM_REGISTER_128: tile = 128; break;
    case TMM_TENSOR:
        if (!TMM__IS_DOUBLE)
            return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel tensor is for double alone");
        if (tmm__current_device()->shared < TMM__TENSOR_BYTES)
            return tmm__fail(TMM_ERROR_UNSUPPORTED,
                             "kernel tensor needs %d bytes of shared memory a block, more than "
                             "this device has",
                             TMM__TENSOR_BYTES);
        tile = 64;
        break;
    case TMM_PIPELINED: tile = 64; break;
    default:
        if (tmm_kernel_string(kernel) == NULL)
            return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel",
                             (int)kernel);
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s was not made for this type: its TMM_TILE asks for one tile, "
                         "TMM_SHARED",
                         tmm_kernel_string(kernel));
    }
    if (kernel >= TMM_PIPELINED && !TMM_FN(gemm__pipelined_fits)(M, N, K, lda, ldb))
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s: K, lda or ldb (%lld, %lld, %lld) is too large for it",
                         tmm_kernel_string(kernel), K, lda, ldb);
    if (M == 0 || N == 0 || batch == 0) return TMM_OK;
    long long tiles_down = (M - 1) / tile + 1, tiles_across = (N - 1) / tile + 1;
    if (tiles_down > INT_MAX / tiles_across)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "M x N is %lld x %lld: more than 2^31 - 1 tiles of %lld x %lld, the most "
                         "that one launch can have",
                         M, N, tile, tile);

    /* A and B are not read when alpha or K is 0: no steps along k, and no offsets to pointers
       that may be NULL. */
    if (alpha == 0) K = 0;
    long long rsA = opA == TMM_OP_N ? lda : 1, csA = opA == TMM_OP_N ? 1 : lda;
    long long rsB = opB == TMM_OP_N ? ldb : 1, csB = opB == TMM_OP_N ? 1 : ldb;
    if (K == 0) {
        alpha = 0;
        rsA = csA = strideA = rsB = csB = strideB = 0;
    }
    for (long long first = 0; first < batch; first += 65535) { /* the limit of gridDim.z */
        dim3 grid((unsigned)(tiles_down * tiles_across), 1,
                  (unsigned)tmm__min(batch - first, 65535));
        const TMM_TYPE *a = A + first * strideA, *b = B + first * strideB;
        TMM_TYPE *c = C + first * strideC;
#define TMM__LAUNCH(function, threads_x, threads_y)                                                \
    function<<<grid, dim3(threads_x, threads_y), 0, stream>>>(M, N, K, alpha, a, rsA, csA,         \
                                                              strideA, b, rsB, csB, strideB, beta, \
                                                              c, ldc, strideC)
        switch (kernel) {
        case TMM_GLOBAL: TMM__LAUNCH(tmm_gemm_global, 32, 32); break;
#if TMM__ONE_TILE
        default: TMM__LAUNCH(tmm_gemm_shared, TMM_TILE, TMM_TILE); break;
#else
        case TMM_SHARED_8: TMM__LAUNCH(TMM_FN(gemm_shared_8), 8, 8); break;
        case TMM_SHARED_16: TMM__LAUNCH(TMM_FN(gemm_shared_16), 16, 16); break;
        default: TMM__LAUNCH(TMM_FN(gemm_shared_32), 32, 32); break;
#endif
        case TMM_REGISTER_64: TMM__LAUNCH(TMM_FN(gemm_register_64), 256, 1); break;
        case TMM_REGISTER_128: TMM__LAUNCH(TMM_FN(gemm_register_128), 256, 1); break;
        case TMM_PIPELINED:
        case TMM_TENSOR:
            status = TMM_FN(gemm__pipelined)(kernel == TMM_TENSOR, M, N, K, alpha, a, rsA, csA,
                                             strideA, b, rsB, csB, strideB, beta, c, ldc, strideC,
                                             grid.z, stream);
            break;
        }
#undef TMM__LAUNCH
        if (status == TMM_OK) status = tmm__cuda(cudaGetLastError(), "kernel launch");
        if (status != TMM_OK) return status;
    }
    return TMM_OK;
}

TMM_API tmm_status TMM_FN(gemm_batched)(tmm_op opA, tmm_op opB, long long M, long long N,
                                        long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                        long long lda, const TMM_TYPE *B, long long ldb,
                                        TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                        long long strideA, long long strideB, long long strideC,
                                        long long batch, tmm_stream stream)
{
    return TMM_FN(gemm_batched_with)(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C,
                                     ldc, strideA, strideB, strideC, batch, stream);
}

TMM_API tmm_status TMM_FN(gemm_with)(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                     long long N, long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                     long long lda, const TMM_TYPE *B, long long ldb, TMM_TYPE beta,
                                     TMM_TYPE *C, long long ldc, tmm_stream stream)
{
    return TMM_FN(gemm_batched_with)(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                     0, 0, 0, 1, stream);
}

TMM_API tmm_status TMM_FN(gemm)(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                TMM_TYPE alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                long long ldb, TMM_TYPE beta, TMM_TYPE *C, long long ldc,
                                tmm_stream stream)
{
    return TMM_FN(gemm_with)(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                             stream);
}

/* ============================== HOST LAYER ==================================================== */
TMM_API tmm_status TMM_FN(matmul)(long long M, long long N, long long K, const TMM_TYPE *A,
                                  const TMM_TYPE *B, TMM_TYPE *C)
{
    tmm_status status = tmm__check_gemm(TMM_OP_N, TMM_OP_N, M, N, K, 1, A, K > 1 ? K : 1, B,
                                        N > 1 ? N : 1, C, N > 1 ? N : 1, sizeof(TMM_TYPE));
    if (status != TMM_OK || M == 0 || N == 0) return status;
    size_t bytesA = (size_t)(M * K) * sizeof(TMM_TYPE), bytesB = (size_t)(K * N) * sizeof(TMM_TYPE);
    size_t bytesC = (size_t)(M * N) * sizeof(TMM_TYPE);
    TMM_TYPE *dA = NULL, *dB = NULL, *dC = NULL;
    /* K = 0 needs no A and B, and cudaMalloc of 0 bytes gives NULL: fine. */
    status = tmm__cuda(cudaMalloc((void **)&dA, bytesA), "cudaMalloc for A");
    if (status == TMM_OK) status = tmm__cuda(cudaMalloc((void **)&dB, bytesB), "cudaMalloc for B");
    if (status == TMM_OK) status = tmm__cuda(cudaMalloc((void **)&dC, bytesC), "cudaMalloc for C");
    if (status == TMM_OK)
        status =
            tmm__cuda(cudaMemcpy(dA, A, bytesA, cudaMemcpyHostToDevice), "copy of A to the device");
    if (status == TMM_OK)
        status =
            tmm__cuda(cudaMemcpy(dB, B, bytesB, cudaMemcpyHostToDevice), "copy of B to the device");
    if (status == TMM_OK)
        status =
            TMM_FN(gemm)(TMM_OP_N, TMM_OP_N, M, N, K, 1, dA, K > 1 ? K : 1, dB, N, 0, dC, N, 0);
    if (status == TMM_OK)
        status = tmm__cuda(cudaMemcpy(C, dC, bytesC, cudaMemcpyDeviceToHost),
                           "multiplication, or copy of C to the host");
    cudaFree(dA); /* of NULL: nothing; an error here would only repeat an earlier one */
    cudaFree(dB);
    cudaFree(dC);
    return status;
}

/* ============================== CPU REFERENCE ================================================= */
/* Computes the rows i0 .. i0 + 31 and columns j0 .. j0 + 127 of C. The block of sums stays in the
   first-level cache while k advances by 128; the part of op(B) in use is copied to rows of 128,
   so that the innermost loop runs over neighbouring elements for every op and becomes vector
   instructions. */
static inline TMM__OPTIMIZE void TMM_FN(gemm__cpu_block)(long long i0, long long j0, long long M,
                                                         long long N, long long K, TMM_TYPE alpha,
                                                         const TMM_TYPE *A, long long rsA,
                                                         long long csA, const TMM_TYPE *B,
                                                         long long rsB, long long csB,
                                                         TMM_TYPE beta, TMM_TYPE *C, long long ldc)
{
    TMM_SUM sum[TMM__CPU_ROWS][TMM__CPU_COLS], b[TMM__CPU_DEPTH][TMM__CPU_COLS];
    int rows = (int)tmm__min(M - i0, TMM__CPU_ROWS);
    int cols = (int)tmm__min(N - j0, TMM__CPU_COLS);
    memset(sum, 0, sizeof sum);
    memset(b, 0, sizeof b); /* the columns beyond N */
    for (long long k0 = 0; k0 < K; k0 += TMM__CPU_DEPTH) {
        int depth = (int)tmm__min(K - k0, TMM__CPU_DEPTH);
        for (int k = 0; k < depth; k++)
            for (int j = 0; j < cols; j++) b[k][j] = (TMM_SUM)B[(k0 + k) * rsB + (j0 + j) * csB];
        for (int i = 0; i < rows; i++) {
            const TMM_TYPE *a = A + (i0 + i) * rsA + k0 * csA;
            TMM_SUM *s = sum[i];
            int k = 0;
            for (; k + 4 <= depth; k += 4) { /* four at once: a sum is loaded and stored once */
                TMM_SUM a0 = (TMM_SUM)a[k * csA], a1 = (TMM_SUM)a[(k + 1) * csA];
                TMM_SUM a2 = (TMM_SUM)a[(k + 2) * csA], a3 = (TMM_SUM)a[(k + 3) * csA];
                for (int j = 0; j < TMM__CPU_COLS; j++)
                    s[j] = s[j] + a0 * b[k][j] + a1 * b[k + 1][j] + a2 * b[k + 2][j] +
                           a3 * b[k + 3][j];
            }
            for (; k < depth; k++)
                for (int j = 0; j < TMM__CPU_COLS; j++) s[j] += (TMM_SUM)a[k * csA] * b[k][j];
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            TMM_TYPE *c = C + (i0 + i) * ldc + j0 + j;
            TMM_SUM value = (TMM_SUM)alpha * sum[i][j];
            if (beta != 0) value += (TMM_SUM)beta * (TMM_SUM)*c;
            *c = (TMM_TYPE)value;
        }
}

/* All blocks of C; with threads > 0 and OpenMP, spread over that many threads. */
static inline tmm_status TMM_FN(gemm__cpu)(tmm_op opA, tmm_op opB, long long M, long long N,
                                           long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                           long long lda, const TMM_TYPE *B, long long ldb,
                                           TMM_TYPE beta, TMM_TYPE *C, long long ldc, int threads)
{
    tmm_status status =
        tmm__check_gemm(opA, opB, M, N, K, !(alpha == 0), A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE));
    if (status != TMM_OK || M == 0 || N == 0) return status;
    if (alpha == 0) K = 0;
    if (K == 0) alpha = 0;
    long long rsA = opA == TMM_OP_N ? lda : 1, csA = opA == TMM_OP_N ? 1 : lda;
    long long rsB = opB == TMM_OP_N ? ldb : 1, csB = opB == TMM_OP_N ? 1 : ldb;
    long long across = (N - 1) / TMM__CPU_COLS + 1, down = (M - 1) / TMM__CPU_ROWS + 1;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long long block = 0; block < across * down; block++) TMM_FN(gemm__cpu_block)
    (block / across * TMM__CPU_ROWS, block % across * TMM__CPU_COLS, M, N, K, alpha, A, rsA, csA, B,
     rsB, csB, beta, C, ldc);
    return TMM_OK;
}

TMM_API tmm_status TMM_FN(gemm_cpu)(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                    TMM_TYPE alpha, const TMM_TYPE *A, long long lda,
                                    const TMM_TYPE *B, long long ldb, TMM_TYPE beta, TMM_TYPE *C,
                                    long long ldc)
{
    return TMM_FN(gemm__cpu)(opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, 1);
}

TMM_API tmm_status TMM_FN(gemm_openmp)(tmm_op opA, tmm_op opB, long long M, long long N,
                                       long long K, TMM_TYPE alpha, const TMM_TYPE *A,
                                       long long lda, const TMM_TYPE *B, long long ldb,
                                       TMM_TYPE beta, TMM_TYPE *C, long long ldc, int threads)
{
    if (threads < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "threads is negative: %d", threads);
#ifdef _OPENMP
    if (threads == 0) threads = omp_get_max_threads();
    return TMM_FN(gemm__cpu)(opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, threads);
#else
    (void)opA, (void)opB, (void)M, (void)N, (void)K, (void)alpha, (void)A, (void)lda, (void)B;
    (void)ldb, (void)beta, (void)C, (void)ldc;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "built without OpenMP: compile with nvcc -Xcompiler -fopenmp");
#endif
}
#endif /* TMM__HOST */

#undef TMM_NAME
#undef TMM_TYPE
#undef TMM_SUM
#if TMM__KERNELS
#undef tmm_gemm_global
#undef tmm_gemm_shared
#undef tmm_gemm_register
#undef tmm_quad
#undef tmm_fetch_quad
#undef tmm_put_quad
#undef tmm_four
#undef tmm_two
#undef tmm_sums
#undef tmm_copy_tile
#undef tmm_store_four
#undef tmm_store_two
#undef tmm_find_tile
#undef tmm_gemm_reduce
#undef tmm_pack
#undef tmm_copy_pass
#undef tmm_copy_passes
#undef TMM__ONE_TILE
#endif
#ifndef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif /* TMM_NAME */

#ifndef TMM__ONCE
#define TMM__ONCE
#if TMM__HOST
/* ============================== CHECKS ======================================================== */
static inline double tmm__element(tmm_type type, const void *X, long long index)
{
    switch (type) {
    case TMM_FLOAT: return ((const float *)X)[index];
    case TMM_DOUBLE: return ((const double *)X)[index];
    case TMM_INT: break;
    }
    return ((const int *)X)[index];
}

static inline size_t tmm__size(tmm_type type)
{
    return type == TMM_DOUBLE ? sizeof(double) : sizeof(float);
}

static inline tmm_status tmm__check_type(tmm_type type)
{
    if (type == TMM_FLOAT || type == TMM_DOUBLE || type == TMM_INT) return TMM_OK;
    return tmm__fail(TMM_ERROR_ARGUMENT, "type is %d, which is no tmm_type", (int)type);
}

static inline tmm_status tmm__max_error(tmm_type type, long long M, long long N, const void *X,
                                        long long ldx, const double *R, long long ldr, int relative,
                                        double *error)
{
    tmm_status status = tmm__check_type(type);
    if (status != TMM_OK) return status;
    if (M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", M);
    if (N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", N);
    if (error == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "error is NULL");
    status = tmm__check_matrix("X", "ldx", X, M, N, ldx, tmm__size(type));
    if (status == TMM_OK) status = tmm__check_matrix("R", "ldr", R, M, N, ldr, sizeof(double));
    if (status != TMM_OK) return status;
    double largest = 0;
    for (long long i = 0; i < M; i++)
        for (long long j = 0; j < N; j++) {
            double x = tmm__element(type, X, i * ldx + j), r = R[i * ldr + j];
            if (x == r || (x != x && r != r)) continue;
            double e = fabs(x - r);
            if (relative) e /= fabs(r) + 1e-12;
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    *error = largest;
    return TMM_OK;
}

TMM_API tmm_status tmm_max_abs_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error)
{
    return tmm__max_error(type, M, N, X, ldx, R, ldr, 0, error);
}

TMM_API tmm_status tmm_max_rel_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error)
{
    return tmm__max_error(type, M, N, X, ldx, R, ldr, 1, error);
}

/* y = X r for an M x N matrix X; integers modulo 2^32, which doubles hold exactly. */
static inline void tmm__matvec(tmm_type type, long long M, long long N, const void *X,
                               long long ldx, const double *r, double *y)
{
    for (long long i = 0; i < M; i++) {
        if (type == TMM_INT) {
            unsigned sum = 0;
            for (long long j = 0; j < N; j++)
                sum += (unsigned)((const int *)X)[i * ldx + j] * (unsigned)(long long)r[j];
            y[i] = sum;
        } else {
            double sum = 0;
            for (long long j = 0; j < N; j++) sum += tmm__element(type, X, i * ldx + j) * r[j];
            y[i] = sum;
        }
    }
}

TMM_API tmm_status tmm_freivalds(tmm_type type, long long M, long long N, long long K,
                                 const void *A, long long lda, const void *B, long long ldb,
                                 const void *C, long long ldc, int trials, unsigned long long seed,
                                 double *excess)
{
    tmm_status status = tmm__check_type(type);
    if (status != TMM_OK) return status;
    status =
        tmm__check_gemm(TMM_OP_N, TMM_OP_N, M, N, K, 1, A, lda, B, ldb, C, ldc, tmm__size(type));
    if (status != TMM_OK) return status;
    if (trials < 1) return tmm__fail(TMM_ERROR_ARGUMENT, "trials is %d, not positive", trials);
    if (excess == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "excess is NULL");

    double *r = (double *)malloc((size_t)(N + K + 2 * M + 1) * sizeof(double));
    if (r == NULL)
        return tmm__fail(TMM_ERROR_MEMORY, "no host memory for %lld doubles", N + K + 2 * M);
    double *Br = r + N, *ABr = Br + K, *Cr = ABr + M;

    double normB = 0; /* Frobenius norm */
    for (long long k = 0; k < K && type != TMM_INT; k++)
        for (long long j = 0; j < N; j++) {
            double b = tmm__element(type, B, k * ldb + j);
            normB += b * b;
        }
    normB = sqrt(normB);
    double u = type == TMM_FLOAT ? 5.9604644775390625e-8 : 1.1102230246251565e-16, largest = 0;
    for (int trial = 0; trial < trials; trial++) {
        for (long long j = 0; j < N; j++) { /* splitmix64: one well mixed bit each */
            unsigned long long z = (seed += 0x9E3779B97F4A7C15ull);
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
            r[j] = (z >> 63) ? 1 : -1;
        }
        tmm__matvec(type, K, N, B, ldb, r, Br);
        tmm__matvec(type, M, K, A, lda, Br, ABr);
        tmm__matvec(type, M, N, C, ldc, r, Cr);
        for (long long i = 0; i < M; i++) {
            double residual = fabs(Cr[i] - ABr[i]), bound = 0;
            if (residual == 0) continue;
            for (long long k = 0; k < K && type != TMM_INT; k++) {
                double a = tmm__element(type, A, i * lda + k);
                bound += a * a;
            }
            double e = residual / (8 * sqrt(K + 2.0) * u * sqrt(bound) * normB);
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    }
    free(r);
    *excess = largest;
    return TMM_OK;
}
#endif /* TMM__HOST */

/* ============================== READY-MADE ==================================================== */
#ifndef TMM_NO_READY_MADE
#define TMM__MAKING_READY /* they share the caller's TMM_TILE and TMM_EPILOGUE */
#define TMM_TYPE          float
#define TMM_NAME          s
#define TMM__NARROW_TILES
#include "tiledmm.cuh"
#undef TMM__NARROW_TILES
#define TMM_TYPE double
#define TMM_NAME d
#include "tiledmm.cuh"
#define TMM_TYPE int
#define TMM_SUM  unsigned /* signed sums that overflow are undefined in C, these wrap */
#define TMM_NAME i
#include "tiledmm.cuh"
#undef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif /* TMM__ONCE */
#endif /* !TMM__EMIT */

/* ============================== HISTORY =======================================================
   0.1  global, shared and register kernels; float, double, int and types of your own; batches;
        CPU reference; checks.

   MIT No Attribution. Copyright (c) 2026 the tiledmm and raytrace authors.
   Permission is hereby granted, free of charge, to any person obtaining a copy of this software
   and associated documentation files (the "Software"), to deal in the Software without
   restriction, including without limitation the rights to use, copy, modify, merge, publish,
   distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
   Software is furnished to do so.
   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
   BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
   NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
   DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
