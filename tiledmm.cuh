/* Joined from the parts in src/tiledmm by `./build.sh join`: edit those, not this file. */
/* tiledmm.cuh - v0.1 - tiled matrix multiply for CUDA: one file, plain C style, nothing to link
   but the CUDA runtime. Licence: MIT No Attribution (text at the end): paste what you like.

   USE    #include "tiledmm.cuh"              in any .cu file; everything is static, no set-up
          tmm_smatmul(M, N, K, A, B, C);      host arrays: allocates, copies, multiplies, copies back
          tmm_sgemm(TMM_OP_N, TMM_OP_N, M, N, K, 1, dA, K, dB, N, 0, dC, N, stream);   device arrays

   API    Letters: s = float, d = double, i = int (exact modulo 2^32); on request h = half and
          b = bfloat16, hs and bs: the same with C in float (OPTIONS). Below, T is that type.

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
     tmm_sgemm_explain(kernel, opA, opB, M, N, K, batch, gpu, text, bytes)     why: a line a kernel
   With TMM_FLOAT_TENSOR, or TMM_DOUBLE_TENSOR for tmm_d... (OPTIONS): tensor cores with operands
   that are converted once for many products:
     tmm_sgemm_tensor(opA, ..., ldc, options, stream)    tmm_sgemm_with(TMM_TENSOR, ...), of double
                                              TMM_TENSOR_INT8; options: tmm_tensor_options or NULL
     tmm_sgemm_tensor_memory(M, N, K, options, &bytes)   what that takes of the device's memory
     tmm_sgemm_prepare_A(op, M, K, A, lda, memory, bytes, &prepared, stream)   converts op(A), and
     tmm_sgemm_prepare_B(op, K, N, B, ldb, memory, bytes, &prepared, stream)   op(B), for options
     tmm_sgemm_prepare_memory(lines, K, &bytes), tmm_sgemm_release(&prepared, stream)
   With TMM_WITH_SYRK (OPTIONS): half of a symmetric C, TMM_LOWER or TMM_UPPER, or TMM_BOTH:
     C = alpha * op(A) * op(A)^T + beta * C   op(A) is N x K, C is N x N
     tmm_ssyrk(fill, op, N, K, alpha, A, lda, beta, C, ldc, stream)
     tmm_ssyrk_with(kernel, ...), tmm_ssyrk_batched_with(kernel, ..., ldc, strideA, strideC, batch, stream)
     tmm_ssyrk_cpu(fill, ..., ldc)            host pointers: the reference
   Device pointers on several devices, complete when it returns:
     tmm_sgemm_multi(opA, opB, M, N, K, alpha, beta, parts, count, kernel)   rows of A, B and C
   Host pointers; complete when they return:
     tmm_smatmul(M, N, K, A, B, C)            C = A * B on the current device, the whole job
     tmm_sgemm_host(opA, ..., ldc, options)   of any size, also beyond device memory, on one or
                                              several devices; options: tmm_host_options or NULL
     tmm_host_release()                       gives back the memory that these keep (STATE)
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
                        (the edge of a block's tile; TMM_REGISTER takes the better one). Of both,
                        double and int have the largest tile alone, which the names of the others
                        stand for; your own types have all
     TMM_DIRECT         tiny products, and vectors: groups of 1 to 1024 threads, or of 8 blocks,
                        compute an element each, as a dot product from L1; right for K up to 2^31
   and, on devices from sm_80 on:
     TMM_PIPELINED      the same with asynchronous copies, larger blocks of C, and work shared out
                        evenly along k; takes memory for that from a pool of its own (below).
                        double: TMM_TENSOR where that is fast, else TMM_REGISTER
     TMM_TENSOR         on tensor cores. double: worth it where these are fast for double (sm_80,
                        sm_90, sm_100), elsewhere right but slow. float, with TMM_FLOAT_TENSOR
                        (OPTIONS): operands are split in halves of 16 bits, elements of C for which
                        these do not suffice are summed in float; so the error has the bound of
                        every kernel (MEASURED). Needs sm_90, compiled for sm_90a, to be fast, or
                        sm_80 on; elsewhere right but slow. On sm_90, with 2 to 512 rows or columns,
                        it may read the other operand once, and split it into three BF16 in
                        registers.
                        For K below 64, and on sm_90 for M or N above 2^24, as TMM_AUTO.
                        half and bfloat16 (OPTIONS): as they are, with sums in float; fast from sm_75
                        on, bfloat16 from sm_80 on
     TMM_TENSOR_INT8    double on tensor cores that multiply bytes, with TMM_DOUBLE_TENSOR (OPTIONS):
                        A and B are scaled, rounded to integers and split into residues modulo 13
                        to 16 numbers; elements of C for which the bound is not proved are summed
                        in double; so the error has the bound of every kernel (MEASURED). Needs
                        sm_90, compiled for sm_90a, or a device whose units of double are few, to
                        be fast. For K below 16 as TMM_AUTO. Takes up to a quarter of the
                        device's memory; where it gets none, as TMM_PIPELINED
     TMM_SMALL          for a small C, or many: tiles of 16 x 16 to 32 x 64, each by 1 to 8 warps
                        that share out k; double to 32 x 32, on tensor cores from sm_80 on
     TMM_SKINNY         for M or N of 16 at most, else TMM_ERROR_UNSUPPORTED: float, reads the
                        large operand once, at the speed of memory; of other types as TMM_DIRECT
     TMM_OUTER          for a short K, where writing C is most of the work: each thread adds up outer
                        products of 8 x 4 or 4 x 4 elements; right for K up to 2^31, and M to 4
                        million
     TMM_NARROW         float, for 17 to some 1500 rows or columns beside thousands; one product with M
                        or N of 256 at least, everything else as TMM_PIPELINED

   RULES that callers may rely on
     beta = 0 never reads C (it may hold NaN). alpha = 0 or K = 0 never reads A or B.
     M = 0, N = 0 or batch = 0 does nothing. Nothing is written outside the M x N part of C.
     NaN and infinity propagate. Dimensions and strides are 64-bit. The same input gives the same
     bits in every run. Sums in ascending k have the same bits in all kernels that have them:
                                    each product of a batch    a single product
       TMM_GLOBAL, TMM_SHARED,      ascending k                ascending k
       TMM_REGISTER, TMM_OUTER
       TMM_PIPELINED, TMM_NARROW,   ascending k                ascending k, or slices of k [1]
       TMM_DIRECT, double TMM_TENSOR
       TMM_SMALL, float TMM_SKINNY  slices of k [1]            slices of k [1]
       float TMM_TENSOR             its own, or slices [1]     its own; with few tiles slices [1]; [2]
       half, bfloat16 TMM_TENSOR    bits of its own            its own; with few tiles slices [1]
       TMM_TENSOR_INT8              bits of its own            its own; [3]
     [1] Slices depend on the shape, the ops, strides and alignment of A and B, the device, memory
         for partial sums (LIMITS), and how many products a batch has, but not on the position in it.
     [2] The bits depend on other elements of A and B, too, if those of a row or a column
         differ by more than 2^28; and on whether one of both is prepared.
     [3] The bits depend on all of A and B, by the number of moduli (16 with a prepared operand, or
         FP64 for all), but not on the blocks of tmm_?gemm_host.
     C must not overlap A or B, where these are read, nor the products of a batch each other: an
     element that both have is TMM_ERROR_ARGUMENT. C may lie in the gaps of A, in one matrix.
     Macros that the program has defined before the include, N, TILE, min or small, change nothing
     here and are as they were after it; for NVRTC define them after it. TMM_EPILOGUE may use them;
     TMM_TILE is a number, not the name of such a macro.

   OPTIONS, defined before the first include of a file
     TMM_IMPLEMENTATION  in one .cu file: emits the functions with C linkage, for C and C++ callers
     TMM_EXTERN          in a .cu file: declarations of those functions only. A .c or .cpp file
                         (no nvcc) gets declarations without asking
     TMM_HEADER          the name of this file in quotes, if you give it another: it includes itself
     TMM_NO_DOUBLE, TMM_NO_INT   no tmm_d..., no tmm_i... functions: half of the compile time,
                         if all you multiply is float
     TMM_NO_READY_MADE   no ready-made versions: only those you make yourself (below)
     TMM_SIMPLE          leaves out the kernels after TMM_REGISTER, and most of the compile time
     TMM_NO_HOST         leaves out tmm_?gemm_host and _multi
     TMM_FLOAT_TENSOR    compiles TMM_TENSOR for float, and lets TMM_AUTO take it where it is
                         faster; defined as 0: only TMM_AUTO_TENSOR does, or TMM_TENSOR by name. Not
                         defined: nothing of it is compiled, for float TMM_TENSOR is
                         TMM_ERROR_UNSUPPORTED and TMM_AUTO_TENSOR is TMM_AUTO. tmm_?gemm_host and
                         _multi take it when asked by name or with TMM_AUTO_TENSOR, then with the
                         same bits for all blocks
     TMM_DOUBLE_TENSOR   the same for double and TMM_TENSOR_INT8. Not defined: nothing of it is compiled,
                         TMM_TENSOR_INT8 is TMM_ERROR_UNSUPPORTED
     TMM_WITH_HALF       tmm_hgemm, tmm_hmatmul, ... for tmm_half, which is __half (in C a struct of
                         16 bits); sums, alpha and beta are float. tmm_hsgemm, ...: C is float, too
     TMM_WITH_BFLOAT16   the same for tmm_bfloat16, which is __nv_bfloat16: tmm_bgemm, tmm_bsgemm, ...
     TMM_WITH_SYRK       tmm_?syrk of all types. TMM_PIPELINED, and TMM_TENSOR of double and of 16 bits,
                         then know triangles; others compute C in strips, with more work than half.
                         Of TMM_LOWER and TMM_UPPER the other half is neither read nor written; of
                         TMM_BOTH the lower half is read, and both are equal. No TMM_EPILOGUE
     TMM_KERNEL          qualifiers of the kernels, default static __global__; under NVRTC
                         extern "C" __global__, so that names stay plain: tmm_sgemm_shared_16.
                         For PyCUDA, which wraps the source in extern "C", define it __global__
     TMM_EPILOGUE(value, row, col)  an expression applied to each finished element of C on the
                         device, e.g. a clamp or bias[col] with a __device__ or __constant__ bias

   YOUR OWN TYPE, TILE OR EPILOGUE in three lines, as often as you like (after it the macros are
   undefined again). This makes tmm_ugemm, tmm_umatmul, ... for unsigned:
          #define TMM_TYPE unsigned
          #define TMM_NAME u
          #include "tiledmm.cuh"
   and this tmm_s24gemm for float, whose TMM_SHARED has tiles of 24 x 24:
          #define TMM_NAME s24
          #define TMM_TILE 24
          #include "tiledmm.cuh"
   TMM_TYPE (default float) is the element: integers or floating point, of 8 bytes at most; __half
   and __nv_bfloat16 with TMM_SUM float. TMM_SUM (default TMM_TYPE) is what sums are kept in, a type
   of C++ itself. Of elements of 1 or 2 bytes alpha and beta may have another type, TMM_SCALAR, and C,
   TMM_OUT. Complex numbers and structs are refused.
   Under TMM_IMPLEMENTATION the same lines emit C functions.

   MEASURED   TFLOP/s on one NVIDIA H200, CUDA 13.0, square, bench/results/h200/gemm.csv: single
              products with pauses; sustained, TMM_TENSOR gives 54.4 at 4096 (gemm_cublas.csv).
              Float at 1024 was by an instance that is left out: 0.95 of it now, on an H100
                             float, N =                  double, N =
                          320   1024   4096   5120      320   1024   4096   5120
     TMM_GLOBAL           3.83   6.32   5.96   6.00     2.15   3.77   2.97   3.02
     TMM_SHARED_16        4.21   7.29   7.77   7.74        -      -      -      -
     TMM_SHARED_32        4.74   8.53   9.12   8.89     2.95   4.65   4.81   4.85
     TMM_REGISTER_64      4.24   29.2   30.9   31.5        -      -      -      -
     TMM_REGISTER_128     1.59   18.6   42.9   41.9     0.80   8.72   18.0   17.0
     TMM_PIPELINED        7.86   40.7   53.1   55.0        -      -      -      -
     TMM_SMALL            9.93   30.3   35.0   34.0     10.2      -      -      -
     TMM_TENSOR              -      -      -      -     6.93   53.6   61.1   63.1
     TMM_AUTO             9.94   40.9   54.4   54.9     10.2   53.5   61.3   63.1
     cuBLAS               3.71   37.6   51.2   46.8     5.08   51.2   58.8   60.4
   TMM_AUTO_TENSOR, float: 117 at 1024, 205 at 4096, 189 at 5120, splitting included, where cuBLAS
   gives 40 to 44 (gemm_cublas.csv; 300 ms a point, in turn with it).
   Largest error of 2000 random elements at 4096, with A and B uniform in (-1, 1): 1.3e-04 (float),
   5.5e-13 (double). The error of an element is at most (K + 2) u (|A||B|)_ij + K v for alpha = 1
   and beta = 0. float: u = 2^-24, v = 2^-150; double: u = 2^-53, v = 2^-1075; int is exact. half and
   bfloat16 as float, then C is rounded once to its type, also by tmm_?gemm_host for any K. K v is
   what products lose that are smaller than the smallest normal number.

   LIMITS   TMM_TYPE of 8 bytes at most, TMM_TILE of 32 at most, 2^31 - 1 tiles of C to a product.
   TMM_PIPELINED takes lda and ldb below 2^26 (8 bytes: 2^25), TMM_TENSOR for double below 2^24.
   Memory: TMM_PIPELINED and TMM_TENSOR take up to a partial tile of 64 KB for each block at work
   (128 KB, TMM_TENSOR with its largest tiles). For large products of float and double they also
   take copies of A and B in the form that they read best. TMM_SMALL and TMM_SKINNY take up to 32 x
   64 partial sums for each multiprocessor where K is long and C is small. Without that memory all
   do without, and sum in fewer slices. TMM_TENSOR is for TMM_TYPE double, on devices that give a
   block 52 KB of shared memory (all from sm_70 on; its largest tiles take 100 KB), and float.
   Compile for the device itself (nvcc -arch=native): code made for sm_80 uses the tensor cores of
   sm_90 at half their speed. For float it takes 4 bytes for each element of A and B, with M, N and
   K rounded up to 64, and a quarter of a byte for each of C; of batches 1 GiB at a time. Where tiles
   are few, parts of K take up to 256 KB a multiprocessor. Without memory it is TMM_PIPELINED.
   Elements of C for which FP16 does not suffice are summed in float, at a fraction of the speed.
   Their row of op(A) or column of op(B) has NaN or infinity; or it spans more than 2^28 (K = 64) to
   2^34 (K = 22250) in magnitude, zeros apart. Of the latter only elements below some 2^-23 of the
   largest possible product count. If many are like that, take TMM_PIPELINED.

   STATE   What a program keeps between calls, once for all files that include this one:
     device memory   Each of the devices 0 to 15 that was used has a pool, until the end of the
                     program. It keeps up to 64 MiB; after tmm_?gemm_host and _multi up to an
                     eighth of the device's memory more. Higher device numbers have none.
     pinned memory   Up to 128 MiB, of the last tmm_?gemm_host with pageable memory that succeeded.
     tmm_host_release() gives back the pinned memory, and the pools' but for 64 MiB; the end of the
     program does so, too, by atexit.
     peer access     tmm_?gemm_host and _multi let devices read each other's memory; that stays so.
   Of each thread, until it ends: the sentence of tmm_last_error(), what is known of devices and
   kernels, and its latest plans, some 110 KB. No thread, stream or event outlives a call; the current
   device stays.
   CUDA has one record a thread for its last error. An older one of the caller's is not blamed on a
   call of this header. It stays there unless a call of CUDA in it fails, or finds work not ready
   (tmm_?gemm_host). An error of a call in this header does not stay there.

   CONTENTS   in the order of src/tiledmm/PARTS; search for the words in capitals
     once/      what there is once: options, the list of kernels (kernels.h), types, statuses, devices,
                PTX, numbers measured on GPUs (tuning.h), names of what is made for each type
                (names.h)
     launch/    PLAN: how a product is launched, and how tiles and steps are divided
     host/      HOST MACHINERY of tmm_?gemm_host and _multi; CHECKS
     type/api.h declarations of what each type has
     kernels/   KERNEL GLOBAL, KERNEL SHARED, KERNEL REGISTER (each can be cut out and used alone),
                KERNEL PIPELINED, KERNEL SMALL, KERNEL SKINNY, KERNEL OUTER, KERNEL DIRECT,
                KERNEL NARROW, KERNEL TENSOR, KERNEL TENSOR FLOAT, KERNEL TENSOR HALF,
                KERNEL TENSOR INT8, and the PLAN and LAUNCHER of each
     type/      CHOICE of TMM_AUTO, calls on the device, HOST LAYER, CPU REFERENCE
     READY-MADE, licence */
/* src/tiledmm/once/config.h. What is compiled: modes, options, names, kinds of types.
   Uses: ptx.cuh.
   Used by: checks.h, ready_made.h, host/, kernels/common/, launch/, once/, type/, kernels/. */
#ifndef TMM__ONCE
#define TMM_VERSION 100 /* 10000 * major + 100 * minor + patch */

#ifndef TMM_HEADER /* the name by which this file includes itself */
#define TMM_HEADER "tiledmm.cuh"
#endif
#if defined(__has_include) && !defined(__CUDACC_RTC__) /* NVRTC 11 sees no headers in memory */
#if !__has_include(TMM_HEADER)
#error "tiledmm.cuh: this file has another name: define TMM_HEADER as that name, in quotes"
#endif
#endif

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

/* 0 where nvcc compiles the host's part of a program: long device code is left out there. */
#if defined(__NVCC__) && !defined(__CUDA_ARCH__)
#define TMM__BODIES 0
#else
#define TMM__BODIES 1
#endif

#ifdef TMM_SIMPLE
#define TMM__FAST 0
#else
#define TMM__FAST 1
#endif
#ifdef TMM_NO_HOST
#define TMM__HOST_LAYER 0
#else
#define TMM__HOST_LAYER 1
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
#if TMM__HOST_LAYER && !defined(_WIN32)
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#endif

/* Elements of 16 bits: CUDA's types, or in C and C++ without CUDA what has their size. */
#ifdef TMM_WITH_HALF
#ifdef __CUDACC__
#include <cuda_fp16.h>
typedef __half tmm_half;
#else
typedef struct tmm_half {
    unsigned short bits;
} tmm_half;
#endif
#endif
#ifdef TMM_WITH_BFLOAT16
#ifdef __CUDACC__
#include <cuda_bf16.h>
typedef __nv_bfloat16 tmm_bfloat16;
#else
typedef struct tmm_bfloat16 {
    unsigned short bits;
} tmm_bfloat16;
#endif
#endif

/* What a function of kernels begins with. */
#define TMM__DEVICE static __device__ __forceinline__

/* However the file is compiled: nvcc gives the host compiler no -O of its own. */
#if defined(__GNUC__) && !defined(__clang__)
#define TMM__OPTIMIZE __attribute__((optimize("O3")))
#else
#define TMM__OPTIMIZE
#endif

/* A product of two TMM_SUM, rounded once: compilers may contract a * b + c * d either way, each
   kernel its own. So the last step, alpha sum + beta C, has the same bits everywhere. */
#ifdef __CUDACC__
#define TMM__MUL(a, b)                                                   \
    (TMM__IS_INTEGER        ? (TMM_SUM)((a) * (b))                       \
     : sizeof(TMM_SUM) == 4 ? (TMM_SUM)__fmul_rn((float)(a), (float)(b)) \
                            : (TMM_SUM)__dmul_rn((double)(a), (double)(b)))
#endif

#define TMM__JOIN_(a, b) a##b
#define TMM__JOIN(a, b)  TMM__JOIN_(a, b)
#define TMM_FN(x)        TMM__JOIN(TMM__JOIN(tmm_, TMM_NAME), x) /* TMM_FN(gemm) is tmm_sgemm */

/* 1 if TMM_TYPE and TMM_SUM are the word double, or float, for #if: only then is there a second
   argument 1. */
#define TMM__SECOND_(a, b, ...) b
#define TMM__SECOND(...)        TMM__SECOND_(__VA_ARGS__)
#define TMM__WORD_double        , 1
#define TMM__IS_DOUBLE                                     \
    (TMM__SECOND(TMM__JOIN(TMM__WORD_, TMM_TYPE), 0, 0) && \
     TMM__SECOND(TMM__JOIN(TMM__WORD_, TMM_SUM), 0, 0))
#define TMM__WORD_FLOAT_float , 1
#define TMM__IS_FLOAT                                            \
    (TMM__SECOND(TMM__JOIN(TMM__WORD_FLOAT_, TMM_TYPE), 0, 0) && \
     TMM__SECOND(TMM__JOIN(TMM__WORD_FLOAT_, TMM_SUM), 0, 0))

/* Elements of 16 bits that tensor cores multiply: 1 for half, 2 for bfloat16, else 0. */
#define TMM__WORD_16_tmm_half      , 1
#define TMM__WORD_16___half        , 1
#define TMM__WORD_16_tmm_bfloat16  , 2
#define TMM__WORD_16___nv_bfloat16 , 2
#define TMM__HALF_TENSOR                                                  \
    (TMM__FAST && TMM__SECOND(TMM__JOIN(TMM__WORD_FLOAT_, TMM_SUM), 0, 0) \
         ? TMM__SECOND(TMM__JOIN(TMM__WORD_16_, TMM_TYPE), 0, 0)          \
         : 0)

#define TMM__WORD_INT_int , 1
/* sum += a b. For int by an instruction that the compiler does not look into: else it would
   reorder all sums, which takes time to compile and gains nothing. */
#ifdef __CUDA_ARCH__
#define TMM__MULTIPLY_ADD(sum, a, b)                                        \
    ((sum) = TMM__SECOND(TMM__JOIN(TMM__WORD_INT_, TMM_TYPE), 0, 0) == 1 && \
                     sizeof(TMM_SUM) == 4 && TMM__IS_INTEGER                \
                 ? (TMM_SUM)tmm__mad((int)(a), (int)(b), (int)(sum))        \
                 : (TMM_SUM)((sum) + (a) * (b)))
#else
#define TMM__MULTIPLY_ADD(sum, a, b) ((sum) += (a) * (b))
#endif

/* Are sums integers? */
#define TMM__IS_INTEGER ((TMM_SUM)0.5 == (TMM_SUM)0)

/* 0 for an option that is defined as 0, else 1. Of one defined as nothing 1 - - 1 is left. */
#define TMM__IS_ON(option) ((1 - option - 1) != 0)

/* Whether KERNEL TENSOR FLOAT is compiled, and whether TMM_AUTO may take it. */
#ifdef TMM_FLOAT_TENSOR
#define TMM__FLOAT_TENSOR (TMM__FAST && TMM__IS_FLOAT)
#define TMM__AUTO_TENSOR  TMM__IS_ON(TMM_FLOAT_TENSOR)
#else
#define TMM__FLOAT_TENSOR 0
#define TMM__AUTO_TENSOR  0
#endif

/* The same for KERNEL TENSOR INT8, of double, and TMM_DOUBLE_TENSOR. */
#ifdef TMM_DOUBLE_TENSOR
#define TMM__DOUBLE_TENSOR (TMM__FAST && TMM__IS_DOUBLE)
#define TMM__AUTO_INT8     TMM__IS_ON(TMM_DOUBLE_TENSOR)
#else
#define TMM__DOUBLE_TENSOR 0
#define TMM__AUTO_INT8     0
#endif

/* Options that this file was first included with: a later inclusion cannot ask for others. */
#ifdef TMM_IMPLEMENTATION
#define TMM__HAS_IMPLEMENTATION
#endif
#ifdef TMM_EXTERN
#define TMM__HAS_EXTERN
#endif
#ifdef TMM_FLOAT_TENSOR
#define TMM__HAS_FLOAT_TENSOR
#endif
#ifdef TMM_DOUBLE_TENSOR
#define TMM__HAS_DOUBLE_TENSOR
#endif
#ifdef TMM_WITH_HALF
#define TMM__HAS_HALF
#endif
#ifdef TMM_WITH_BFLOAT16
#define TMM__HAS_BFLOAT16
#endif
#ifdef TMM_WITH_SYRK
#define TMM__HAS_SYRK
#endif
#ifdef TMM_NO_READY_MADE
#define TMM__HAS_NO_READY_MADE
#endif
#ifdef TMM_NO_DOUBLE
#define TMM__HAS_NO_DOUBLE
#endif
#ifdef TMM_NO_INT
#define TMM__HAS_NO_INT
#endif
#elif !defined(TMM__PASS) && !defined(TMM__MAKING_READY)
#if defined(TMM_IMPLEMENTATION) && !defined(TMM__HAS_IMPLEMENTATION)
#error "tiledmm.cuh: TMM_IMPLEMENTATION must be defined before the first #include of this file"
#endif
#if defined(TMM_EXTERN) && !defined(TMM__HAS_EXTERN)
#error "tiledmm.cuh: TMM_EXTERN must be defined before the first #include of this file"
#endif
#if defined(TMM_SIMPLE) && TMM__FAST
#error "tiledmm.cuh: TMM_SIMPLE must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_HOST) && TMM__HOST_LAYER
#error "tiledmm.cuh: TMM_NO_HOST must be defined before the first #include of this file"
#endif
#if defined(TMM_FLOAT_TENSOR) && !defined(TMM__HAS_FLOAT_TENSOR)
#error "tiledmm.cuh: TMM_FLOAT_TENSOR must be defined before the first #include of this file"
#endif
#if defined(TMM_DOUBLE_TENSOR) && !defined(TMM__HAS_DOUBLE_TENSOR)
#error "tiledmm.cuh: TMM_DOUBLE_TENSOR must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_HALF) && !defined(TMM__HAS_HALF)
#error "tiledmm.cuh: TMM_WITH_HALF must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_BFLOAT16) && !defined(TMM__HAS_BFLOAT16)
#error "tiledmm.cuh: TMM_WITH_BFLOAT16 must be defined before the first #include of this file"
#endif
#if defined(TMM_WITH_SYRK) && !defined(TMM__HAS_SYRK)
#error "tiledmm.cuh: TMM_WITH_SYRK must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_READY_MADE) && !defined(TMM__HAS_NO_READY_MADE)
#error "tiledmm.cuh: TMM_NO_READY_MADE must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_DOUBLE) && !defined(TMM__HAS_NO_DOUBLE)
#error "tiledmm.cuh: TMM_NO_DOUBLE must be defined before the first #include of this file"
#endif
#if defined(TMM_NO_INT) && !defined(TMM__HAS_NO_INT)
#error "tiledmm.cuh: TMM_NO_INT must be defined before the first #include of this file"
#endif
#if (defined(TMM_TILE) || defined(TMM_SUM) || defined(TMM_SCALAR) || defined(TMM_OUT) || \
     defined(TMM_EPILOGUE)) &&                                                           \
    !defined(TMM_NAME)
#error \
    "tiledmm.cuh: TMM_TILE, TMM_SUM, TMM_SCALAR, TMM_OUT and TMM_EPILOGUE need a TMM_NAME after the first #include"
#endif
#endif
/* src/tiledmm/type/epilogue.cuh. TMM_EPILOGUE as a function, made while the caller's macros stand.
   Uses: once/config.h. Used by: callers. */
#if TMM__KERNELS && defined(TMM_EPILOGUE) && !defined(TMM__PASS) && !defined(TMM__MAKING_READY)
/* The expression may use macros of the caller, N for one, which once/set_aside.h puts away; and no
   variable of a kernel is meant by it. */
#define TMM__EPILOGUE(name, type)                                                    \
    static __device__ __forceinline__ type name(type tmm__value, long long tmm__row, \
                                                long long tmm__col)                  \
    {                                                                                \
        (void)tmm__row, (void)tmm__col;                                              \
        return (type)(TMM_EPILOGUE(tmm__value, tmm__row, tmm__col));                 \
    }
#if defined(TMM_NAME) && defined(TMM_OUT)
TMM__EPILOGUE(TMM_FN(epilogue), TMM_OUT)
#elif defined(TMM_NAME) && defined(TMM_TYPE)
TMM__EPILOGUE(TMM_FN(epilogue), TMM_TYPE)
#elif defined(TMM_NAME)
TMM__EPILOGUE(TMM_FN(epilogue), float)
#elif !defined(TMM_NO_READY_MADE)
TMM__EPILOGUE(tmm_sepilogue, float)
#ifndef TMM_NO_DOUBLE
TMM__EPILOGUE(tmm_depilogue, double)
#endif
#ifndef TMM_NO_INT
TMM__EPILOGUE(tmm_iepilogue, int)
#endif
#ifdef TMM_WITH_HALF
TMM__EPILOGUE(tmm_hepilogue, tmm_half)
TMM__EPILOGUE(tmm_hsepilogue, float)
#endif
#ifdef TMM_WITH_BFLOAT16
TMM__EPILOGUE(tmm_bepilogue, tmm_bfloat16)
TMM__EPILOGUE(tmm_bsepilogue, float)
#endif
#endif
#undef TMM__EPILOGUE
#undef TMM_EPILOGUE
#define TMM_EPILOGUE(value, row, col) TMM_FN(epilogue)(value, row, col)
#endif
/* src/tiledmm/once/set_aside.h. Macros of the caller that are words of this file are set aside; warnings.
   Uses: once/config.h. Used by: all parts, once/give_back.h. */
#if !defined(TMM__PASS) && !defined(TMM__MAKING_READY)
/* A program may have defined N, TILE or small before it includes this file. All words in capitals
   that this file has, letters, and words that windows.h defines are put away here; give_back.h puts
   them back. An inclusion of this file by itself leaves them alone. */
#ifdef __CUDACC_RTC__
#if defined(TMM_NAME) || !defined(TMM__ONCE)
#if defined(A) || defined(B) || defined(C) || defined(K) || defined(M) || defined(N) ||          \
    defined(As) || defined(Bs) || defined(DEPTH) || defined(TILE) || defined(i) || defined(j) || \
    defined(k) || defined(s) || defined(x) || defined(y) || defined(z) || defined(near)
#error "tiledmm.cuh: with NVRTC define macros such as N or TILE after the #include"
#endif
#endif
#else
/* Each word stands here twice, for a macro cannot undefine another. */
/* clang-format off */
#define TMM__WORDS(_) \
    _(A) _(ACROSS) _(AHEAD) _(ALIGNED_ROWS) _(ALIGNS) _(ALONG) _(ALONG_K) _(ANY) _(AREA) \
    _(AT_ONCE) _(As) _(B) _(BLOCK) _(BLOCKS_A) _(BLOCKS_B) _(BYTES) _(Bs) _(C) _(CLUSTER) _(COLS) \
    _(COPIES) _(COPY_AT) _(COUNT) _(DEEP) _(DEPTH) _(DOUBTFUL) _(DOUBTFUL_SMALL) _(DOWN) _(EDGE) \
    _(END) _(FIRST) _(FLUSH) _(FOURS) _(GRAIN) _(GROUPS) _(HALF) _(HALVES) _(K) _(K_GROUPS) _(L) \
    _(LANES) _(LAST) _(LDA) _(LDB) _(LDC) _(LDS) _(LINES) _(LINES_A) _(LINES_B) _(LINES_M) \
    _(LINES_N) _(LIST) _(M) _(MATRICES) _(N) _(P) _(PAIRS) _(PART) _(PASSES) _(PASSES_A) \
    _(PIECES) _(PITCH) _(PITCH_A) _(PITCH_B) _(Q) _(QUADS) _(R) _(REJECTED) _(REJECTED_SMALL) \
    _(ROWS) _(S) _(SIZE) _(SLOTS) _(SPARSE) _(SQUARE) _(STAGE) _(STAGED_ROWS) _(STAGES) \
    _(STAGES_1) _(STAGES_2) _(STAGE_A) _(STEP) _(STEPS) _(STILL) _(STORED) _(STORED_ROWS) \
    _(STRIDE) _(SUMS) _(S_COPIES) _(THREADS) _(THROUGH) _(TILE) _(TILE_COLS) _(TILE_M) _(TILE_N) \
    _(TN) _(UNIT) _(UNROLL) _(VECTOR) _(VECTORS) _(WARPS) _(WARPS_ACROSS) _(WIDE) _(WIDE_PASSES) \
    _(WIDTH) _(X) _(a) _(b) _(block) _(c) _(cols) _(d) _(depth) _(e) _(g) _(h) _(half) _(i) _(j) \
    _(k) _(l) _(m) _(max) _(min) _(n) _(near) _(o) _(p) _(q) _(r) _(rows) _(s) _(size) _(small) \
    _(t) _(threads) _(tile) _(u) _(v) _(w) _(width) _(x) _(y) _(z)
/* clang-format on */
#ifdef _MSC_VER
#define TMM__PRAGMA(x) __pragma(x)
#else
#define TMM__PRAGMA(x) _Pragma(#x)
#endif
#define TMM__PUSH(word) TMM__PRAGMA(push_macro(#word))
#define TMM__POP(word)  TMM__PRAGMA(pop_macro(#word))
TMM__WORDS(TMM__PUSH)
#undef A
#undef ACROSS
#undef AHEAD
#undef ALIGNED_ROWS
#undef ALIGNS
#undef ALONG
#undef ALONG_K
#undef ANY
#undef AREA
#undef AT_ONCE
#undef As
#undef B
#undef BLOCK
#undef BLOCKS_A
#undef BLOCKS_B
#undef BYTES
#undef Bs
#undef C
#undef CLUSTER
#undef COLS
#undef COPIES
#undef COPY_AT
#undef COUNT
#undef DEEP
#undef DEPTH
#undef DOUBTFUL
#undef DOUBTFUL_SMALL
#undef DOWN
#undef EDGE
#undef END
#undef FIRST
#undef FLUSH
#undef FOURS
#undef GRAIN
#undef GROUPS
#undef HALF
#undef HALVES
#undef K
#undef K_GROUPS
#undef L
#undef LANES
#undef LAST
#undef LDA
#undef LDB
#undef LDC
#undef LDS
#undef LINES
#undef LINES_A
#undef LINES_B
#undef LINES_M
#undef LINES_N
#undef LIST
#undef M
#undef MATRICES
#undef N
#undef P
#undef PAIRS
#undef PART
#undef PASSES
#undef PASSES_A
#undef PIECES
#undef PITCH
#undef PITCH_A
#undef PITCH_B
#undef Q
#undef QUADS
#undef R
#undef REJECTED
#undef REJECTED_SMALL
#undef ROWS
#undef S
#undef SIZE
#undef SLOTS
#undef SPARSE
#undef SQUARE
#undef STAGE
#undef STAGED_ROWS
#undef STAGES
#undef STAGES_1
#undef STAGES_2
#undef STAGE_A
#undef STEP
#undef STEPS
#undef STILL
#undef STORED
#undef STORED_ROWS
#undef STRIDE
#undef SUMS
#undef S_COPIES
#undef THREADS
#undef THROUGH
#undef TILE
#undef TILE_COLS
#undef TILE_M
#undef TILE_N
#undef TN
#undef UNIT
#undef UNROLL
#undef VECTOR
#undef VECTORS
#undef WARPS
#undef WARPS_ACROSS
#undef WIDE
#undef WIDE_PASSES
#undef WIDTH
#undef X
#undef a
#undef b
#undef block
#undef c
#undef cols
#undef d
#undef depth
#undef e
#undef g
#undef h
#undef half
#undef i
#undef j
#undef k
#undef l
#undef m
#undef max
#undef min
#undef n
#undef near
#undef o
#undef p
#undef q
#undef r
#undef rows
#undef s
#undef size
#undef small
#undef t
#undef threads
#undef tile
#undef u
#undef v
#undef w
#undef width
#undef x
#undef y
#undef z
#endif

/* -Wconversion finds numbers of elements that become double, which is meant. clang as the host
   compiler of nvcc sees functions of the device unused, and constants that nvcc has put in. */
#if TMM__HOST && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wself-assign"
#endif
#endif
#endif
/* src/tiledmm/once/kernels.h. The list of kernels.
   Uses: launch/product.h, kernels/. Used by: callers. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__ONCE)
/* A line for each value of tmm_kernel, in their order. The enumeration, tmm_kernel_string and each
   type's table of kernels are made from these lines. Programs may have stored values: a new kernel
   is the last line.
       NAME(value, string)                   stands for a kernel that tmm__xstands_for finds
       KERNEL(value, string, tile, takes, competes, plan, launch)
   `tile` is the least edge of its tiles of C; the functions are the members of tmm__xkernel. Where
   types and programs leave a kernel out, TMM__IF_FAST and its like give a row that refuses. */
#define TMM__KERNEL_LIST(NAME, KERNEL)                                                           \
    NAME(TMM_AUTO, "auto")                                                                       \
    KERNEL(TMM_GLOBAL, "global", 32, tmm__xall_taken, NULL, tmm__xglobal_plan, tmm__xtiles)      \
    KERNEL(TMM_SHARED, "shared", TMM__SHARED_TILE, tmm__xshared_takes, tmm__xshared_competes,    \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    KERNEL(TMM_SHARED_8, "shared_8", 8, tmm__xshared_takes, tmm__xshared_competes,               \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    KERNEL(TMM_SHARED_16, "shared_16", 16, tmm__xshared_takes, tmm__xshared_competes,            \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    KERNEL(TMM_SHARED_32, "shared_32", 32, tmm__xshared_takes, tmm__xshared_competes,            \
           tmm__xshared_plan, tmm__xtiles)                                                       \
    NAME(TMM_REGISTER, "register")                                                               \
    KERNEL(TMM_REGISTER_64, "register_64", 64, tmm__xall_taken, tmm__xregister_competes,         \
           tmm__xregister_plan, tmm__xtiles)                                                     \
    KERNEL(TMM_REGISTER_128, "register_128", 128, tmm__xall_taken, tmm__xregister_competes,      \
           tmm__xregister_plan, tmm__xtiles)                                                     \
    KERNEL(TMM_PIPELINED, "pipelined", 64,                                                       \
           TMM__IF_FAST_NOT_DOUBLE(tmm__xcheck_reach, tmm__xfast_competes, tmm__xpipelined_plan, \
                                   tmm__xdivided))                                               \
    KERNEL(TMM_SMALL, "small", 16,                                                               \
           TMM__IF_FAST(tmm__xcheck_k, tmm__xfast_competes, tmm__xsmall_plan, tmm__xsmall))      \
    KERNEL(TMM_SKINNY, "skinny", 16,                                                             \
           TMM__IF_FLOAT_FAST(tmm__xskinny_takes, tmm__xskinny_competes, tmm__xskinny_plan,      \
                              tmm__xskinny))                                                     \
    KERNEL(TMM_TENSOR, "tensor", 64,                                                             \
           TMM__IF_FAST(tmm__xtensor_takes,                                                      \
                        TMM__IF_TENSOR(tmm__xtensor_competes, tmm__xtensor_plan, tmm__xtensor))) \
    NAME(TMM_AUTO_TENSOR, "auto_tensor")                                                         \
    KERNEL(TMM_OUTER, "outer", 8,                                                                \
           TMM__IF_FAST(tmm__xcheck_k, tmm__xouter_competes, tmm__xouter_plan, tmm__xouter))     \
    KERNEL(TMM_TENSOR_INT8, "tensor_int8", 64,                                                   \
           TMM__IF_FAST(tmm__xint8_takes,                                                        \
                        TMM__IF_INT8(tmm__xint8_competes, tmm__xint8_plan, tmm__xsplit)))        \
    KERNEL(TMM_NARROW, "narrow", 24,                                                             \
           TMM__IF_FLOAT_FAST(tmm__xcheck_reach, tmm__xnarrow_competes, tmm__xnarrow_plan,       \
                              tmm__xnarrow))                                                     \
    KERNEL(TMM_DIRECT, "direct", 1,                                                              \
           TMM__IF_FAST(tmm__xcheck_k, tmm__xdirect_competes, tmm__xdirect_plan, tmm__xdirect))
#endif
/* src/tiledmm/once/types.h. Statuses, kernels, options of calls.
   Uses: nothing. Used by: checks.h, host/, launch/, once/, type/, kernels/. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__ONCE)
#include <stddef.h>

/* In C any int may arrive as an enum. With int beneath it C++ may read it before it is refused. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define TMM__INT : int
#else
#define TMM__INT
#endif

/* ============================== TYPES ========================================================= */
typedef enum tmm_status TMM__INT {
    TMM_OK = 0,
    TMM_ERROR_ARGUMENT,    /* null pointer, negative size, leading dimension too small, ... */
    TMM_ERROR_MEMORY,      /* host or device memory is used up */
    TMM_ERROR_DEVICE,      /* no CUDA device, or the program was not built for this one */
    TMM_ERROR_CUDA,        /* a launch or copy failed; tmm_last_error() has CUDA's words */
    TMM_ERROR_UNSUPPORTED, /* a tile or kernel that was not made, OpenMP left out of this build */
    TMM_ERROR_CANCELLED,   /* by the caller's progress function */
} tmm_status;

typedef enum tmm_op TMM__INT { TMM_OP_N = 0, TMM_OP_T = 1 } tmm_op;

#ifdef TMM_WITH_SYRK /* which half of a symmetric C; the diagonal is in both */
typedef enum tmm_fill TMM__INT { TMM_LOWER = 1, TMM_UPPER = 2, TMM_BOTH = 3 } tmm_fill;
#endif

#define TMM__NAME(value, string)              value,
#define TMM__KERNEL(value, string, tile, ...) value,
typedef enum tmm_kernel TMM__INT {
    TMM__KERNEL_LIST(TMM__NAME, TMM__KERNEL) /* TMM_AUTO = 0, TMM_GLOBAL, ... */
    TMM_KERNEL_COUNT                         /* not a kernel: how many there are */
} tmm_kernel;
#undef TMM__NAME
#undef TMM__KERNEL

typedef enum tmm_type TMM__INT { TMM_FLOAT = 0, TMM_DOUBLE, TMM_INT } tmm_type;

/* An operand that tmm_?gemm_prepare_A or _B has converted; its members are theirs. */
typedef struct tmm_prepared {
    const void *X; /* as given: it must stay as it is, for some elements may be needed */
    void *memory;  /* FP16 and scales, or bytes and norms */
    int owned;     /* from the pool */
    int is_B;
    tmm_op op;
    long long lines, K, ld; /* lines: rows of op(A), columns of op(B) */
    tmm_type type;
} tmm_prepared;

/* Options of tmm_?gemm_tensor. All zeros are the defaults. */
typedef struct tmm_tensor_options {
    const tmm_prepared *A, *B; /* operands that are prepared; NULL: converted now */
} tmm_tensor_options;

#ifdef __CUDACC__
typedef cudaStream_t tmm_stream;
#else
typedef struct CUstream_st *tmm_stream; /* what cudaStream_t is, without CUDA's headers */
#endif

/* Options of tmm_?gemm_host. All zeros are the defaults; in C: tmm_host_options o = {0}. */
typedef struct tmm_host_report tmm_host_report;
typedef struct tmm_host_options {
    /* How many devices, 64 at most; 0: the current one alone. Their numbers; NULL: 0, 1, 2, ...
       A device that is listed several times acts as several. */
    int device_count;
    const int *devices;
    /* Rows of C for each device, in order; they add up to M. NULL: by weights. */
    const long long *rows;
    /* Shares of the rows: finite, on any scale; a device of weight 0 does nothing. NULL: equal for
       devices of one kind, else in proportion to their speed in a short product. */
    const double *weights;
    /* Bytes of device memory for each device of the list, at most. 0: 9/10 of what is free. Then
       TMM_PIPELINED may take workspaces besides (LIMITS). */
    size_t memory;
    long long block;   /* rows and columns of a block of C, at most; 0: chosen */
    int streams;       /* that compute, for each device, 4 at most; 0: 2 */
    int threads;       /* that copy pageable memory, 16 at most; 0: one for each processor */
    tmm_kernel kernel; /* TMM_AUTO: chosen for each block, all with the same bits */
    /* Called in the calling thread with `context` as parts of C are complete. `done` is the
       finished part of C, from 0 to 1. Any result but 0 cancels the call. NULL: not called. */
    int (*progress)(void *context, double done);
    void *context;
    tmm_host_report *report; /* one for each device of the list, filled in; may be NULL */
} tmm_host_options;

/* What a device did. */
struct tmm_host_report {
    int device;                       /* its number */
    long long rows;                   /* of C */
    long long block_rows, block_cols; /* of a block of C */
    double seconds;                   /* from its first copy to the arrival of its last block */
    double bytes_in, bytes_peer;      /* copied from the host, from other devices */
    double bytes_out;                 /* copied to the host */
    size_t memory;                    /* bytes of device memory for parts of A and B, blocks of C */
};

/* What lies on one device: operands of tmm_?gemm_multi. With rows = 0, A, lda, C and ldc may be
   anything; with rows_B = 0, B and ldb. */
typedef struct tmm_part {
    int device;
    long long rows;   /* of op(A) and C */
    long long rows_B; /* of B as stored: rows of op(B) for TMM_OP_N, columns of it for TMM_OP_T */
    const void *A;    /* rows x K for TMM_OP_N, K x rows for TMM_OP_T */
    long long lda;
    const void *B; /* rows_B x N for TMM_OP_N, rows_B x K for TMM_OP_T */
    long long ldb;
    void *C; /* rows x N */
    long long ldc;
    double seconds; /* set by the call: how long this device took */
} tmm_part;
#endif
/* src/tiledmm/once/functions.h. Declarations of the functions that know no element type.
   Uses: once/. Used by: callers. */
#if !defined(__CUDACC_RTC__) && !defined(TMM__ONCE)
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
     does to row i. That is 8 sqrt(K + 2) u |a_i|_2 |B|_F with u the unit roundoff of the type.
     Above 1 the product is wrong. The bound treats rounding errors as independent (N. Higham and T. Mary,
     "A new approach to probabilistic rounding error analysis", 2019); on matrices of one repeated
     value, where they are not, a right product can exceed it: compare element by element then.
   Infinities and NaN, in A or B, too, make *excess infinite. Needs memory for N + K + 2 M
   doubles. */
TMM_API tmm_status tmm_freivalds(tmm_type type, long long M, long long N, long long K,
                                 const void *A, long long lda, const void *B, long long ldb,
                                 const void *C, long long ldc, int trials, unsigned long long seed,
                                 double *excess);

/* Gives back what tmm_?gemm_host, tmm_?gemm_multi and tmm_?matmul keep for their next call: pinned
   memory (up to 128 MiB) and device memory (up to an eighth of each device's). The end of the
   program does so, too. */
#if TMM__HOST_LAYER && (defined(TMM_IMPLEMENTATION) || !TMM__HOST) /* otherwise with its code */
TMM_API void tmm_host_release(void);
#endif
#endif
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

/* 16 bytes, through L1 if `near`: it keeps the sectors of L2 that the next copies ask for again. */
TMM__DEVICE void tmm__copy_near(void *shared, const void *global, bool valid, bool near)
{
#if TMM__ASYNC
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n"
                 "@p cp.async.ca.shared.global.L2::128B [%0], [%1], 16, %2;\n"
                 "@!p cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n}" ::"r"(
                     (unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global), "r"(valid ? 16 : 0), "r"((int)near)
                 : "memory");
#else
    (void)near;
    tmm__copy_async(shared, global, 16, valid);
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
   keeps what it has. 4 or 8 bytes: one predicated instruction (PTX ISA 9.3): a branch becomes
   one, too, but takes the compiler several times as long (bench/notes/compile_time.md). */
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
/* src/tiledmm/once/schedule.h. Which block computes what (stream-K), and constants of kernels and
   launchers.
   Uses: config.h. Used by: host/devices.h, kernels/common/, launch/, device.h, type/, kernels/. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* Blocks of a grid along y or z, at most. */
enum { TMM__MOST_GRID = 65535 };

/* What a launcher is allowed to do; or to know: it gets all of a batch, so that what it chooses is so
   for all products; an operand has been prepared. */
enum {
    TMM__CUT_K = 1,
    TMM__PACK = 2,
    TMM__SPLIT = 4,
    TMM__ALL_OF_BATCH = 8,
    TMM__READY_A = 16,
    TMM__READY_B = 32
};

/* How the k of a tile are divided: not at all; in slices, added up by a block of the tile, by
   KERNEL REDUCE or SUM, or by a cluster; in slices, but only tiles of a last, short round; in even
   shares (stream-K). */
enum {
    TMM__PLAN_WHOLE,
    TMM__PLAN_SLICES,
    TMM__PLAN_REDUCE,
    TMM__PLAN_CLUSTERS,
    TMM__PLAN_LAST_ROUND,
    TMM__PLAN_EVEN
};

/* How a tile of an operand is copied; KERNEL PIPELINED says what they mean. */
enum { TMM__ALONG_K, TMM__ALONG_LINES, TMM__VECTORS };

/* Rows of tiles that are walked together, by KERNEL PIPELINED and KERNEL TENSOR. */
enum { TMM__BAND = 4, TMM__TENSOR_BAND = 8 };

/* Blocks of a cluster that have the slices of a tile, at most: 2, 4 or this many. */
enum { TMM__MOST_CLUSTER = 8 };

enum { TMM__MOST_SLICES = 8 }; /* of a tile of the last wave */

/* Threads that add the parts of an element in KERNEL SUM where C is small. */
enum { TMM__SUM_GROUPS = 8 };

/* Which block computes what: see KERNEL PIPELINED. */
typedef struct tmm__schedule {
    int tiles_down, tiles_across; /* the tiles of C */
    int steps;                    /* steps along K for each */
    int streamk_tiles;            /* tiles whose steps are divided among blocks: the first ones */
    int streamk_blocks;           /* which these are: the last ones of the grid */
    int reduce;                   /* 1: KERNEL REDUCE adds all partial tiles */
    int packed_A, packed_B;       /* 1: KERNEL PACK has padded its lines to whole tiles */
    int is_tall;    /* tiles are 128 x 64, not 64 x 128: KERNEL PIPELINED, any operands; or 64 x 32,
                       not 32 x 64: KERNEL TENSOR */
    int cluster;    /* blocks of a cluster, which have the slices of one tile; 0: no clusters */
    void *partials; /* partial tiles, one for each block */
    unsigned long long *flags; /* flags[block] == ticket: its partial tile is ready */
    unsigned long long ticket; /* another one for every launch */
#ifdef TMM_DOUBLE_TENSOR
    const unsigned *unless; /* KERNEL TENSOR does nothing if this is not 0; NULL: it does */
#endif
#ifdef TMM_WITH_SYRK
    int triangle, squares, ratio_log2; /* see once/triangle.cuh */
#endif
} tmm__schedule;
#endif
/* src/tiledmm/once/triangle.cuh. The tiles and elements of a triangle of C, for syrk.
   Uses: config.h.
   Used by: kernels/common/, kernels/pipelined/, kernels/tensor/, kernels/tensor_half/, launch/,
   type/. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* C = alpha op(A) op(A)^T + beta C is symmetric. With TMM_WITH_SYRK kernels that have a schedule can
   compute the tiles of a triangle alone: what is told of it has a member `triangle`, 0 for all of C, or
   one of these. Tiles on the diagonal store what lies in the triangle. */
enum { TMM__LOWER = 1, TMM__UPPER = 2 };
#ifdef TMM_WITH_SYRK
#define TMM__TRIANGLE(of)          ((of)->triangle)
#define TMM__TRIANGLE_OF_ARGUMENTS , int triangle
#define TMM__TRIANGLE_ADDRESS(of)  , &(of)->triangle
#else
#define TMM__TRIANGLE(of) 0
#define TMM__TRIANGLE_OF_ARGUMENTS
#define TMM__TRIANGLE_ADDRESS(of)
#endif

/* Is element (row, col) in the triangle? */
TMM__DEVICE bool tmm__in_triangle(int triangle, long long row, long long col)
{
    return triangle == 0 || (triangle == TMM__LOWER ? col <= row : col >= row);
}

/* Of 32 neighbours in row `row` from column col on, those that `mask` has and the triangle. */
TMM__DEVICE unsigned tmm__triangle_mask(int triangle, unsigned mask, long long row, long long col)
{
    if (triangle == 0) return mask;
    const int before = row <= col ? 0 : row - col < 31 ? (int)(row - col) : 31; /* row's own bit */
    if (triangle == TMM__UPPER) return row - col > 31 ? 0 : mask & ~((1u << before) - 1);
    return row < col ? 0 : mask & ((2u << before) - 1);
}

/* The same for two groups of 4 columns, 32 apart. */
TMM__DEVICE unsigned tmm__triangle_masks(int triangle, unsigned mask, long long row, long long col)
{
    if (triangle == 0) return mask;
    return (tmm__triangle_mask(triangle, mask, row, col) & 15) |
           tmm__triangle_mask(triangle, mask >> 4, row, col + 32) << 4;
}

#ifdef TMM_WITH_SYRK
/* The triangle is cut in squares, so many along an edge, and these in tiles: one, or 2 that are above each
   other (ratio_log2 -1) or side by side (1). Its squares are folded to a rectangle, whose tiles blocks
   walk as they do those of any C. 4 squares along an edge become 5 x 2, 3 become 3 x 2:
       a                  h i           a               a f
       b e                a j           b d             b d
       c f h      -->     b e           c e f    -->    c e
       d g i j            c f
                          d g
   Finds tile (*down, *across) of that rectangle in C. */
TMM__DEVICE void tmm__triangle_tile(int triangle, int squares, int ratio_log2, int *down,
                                    int *across)
{
    const int i = ratio_log2 < 0 ? *down >> 1 : *down, j = ratio_log2 > 0 ? *across >> 1 : *across;
    const int rest = ratio_log2 < 0 ? *down & 1 : ratio_log2 > 0 ? *across & 1 : 0;
    const int even = 1 - squares % 2;
    const bool folded = i < j + even;
    const int low = folded ? j + squares / 2 : i - even;
    const int high = folded ? i + (squares + 1) / 2 : j;
    const int row = triangle == TMM__LOWER ? low : high, col = triangle == TMM__LOWER ? high : low;
    *down = ratio_log2 < 0 ? 2 * row + rest : row;
    *across = ratio_log2 > 0 ? 2 * col + rest : col;
}
#endif

#if TMM__HOST
/* How the tiles of C, or of its triangle, lie: as a rectangle of so many. */
typedef struct tmm__tiling {
    double down, across;
    int squares, ratio_log2; /* see tmm__triangle_tile */
} tmm__tiling;

static inline tmm__tiling tmm__tile(int triangle, long long M, long long N, int rows, int cols)
{
    const int edge = rows > cols ? rows : cols; /* twice the other at most */
    tmm__tiling t = {ceil((double)M / rows), ceil((double)N / cols), 0, 0};
    if (triangle == 0) return t;
    const double squares = ceil((double)N / edge), even = fmod(squares, 2) == 0;
    t.squares = (int)squares, t.ratio_log2 = (rows > cols) - (rows < cols);
    t.down = (squares + even) * (edge / rows), t.across = floor((squares + 1) / 2) * (edge / cols);
    return t;
}

/* A rectangle of C that has the last tiles of a triangle, `rest` or a few more, in the order of bands of
   band_rows rows. Tiles are squares, or two side by side are. tiles is 0 if there is none. */
typedef struct tmm__last_tiles {
    int tiles;
    long long row, rows, col, cols;
} tmm__last_tiles;

static inline tmm__last_tiles tmm__last_of_triangle(const tmm__tiling *t, int triangle, long long N,
                                                    int edge, int band_rows, int rest)
{
    tmm__last_tiles last = {0, 0, 0, 0, 0};
    const int down = (int)t->down, each = t->ratio_log2 > 0 ? 2 : 1, half = (int)t->across / each;
    const int high = (down - 1) % band_rows + 1, even = 1 - t->squares % 2;
    const int wide = ((rest - 1) / high / each + 1);                /* in squares */
    if (wide > half || down - high <= half - 1 + even) return last; /* on the diagonal, or folded */
    last.tiles = high * wide * each;
    last.row = (long long)(down - high - even) * edge, last.rows = N - last.row;
    last.col = (long long)(half - wide) * edge, last.cols = (long long)wide * edge;
    if (triangle == TMM__LOWER) return last;
    const tmm__last_tiles upper = {last.tiles, last.col, last.cols, last.row, last.rows};
    return upper;
}
#endif
#endif
/* src/tiledmm/kernels/pipelined/sizes.h. Sizes of KERNEL PIPELINED, and its instances.
   Uses: once/. Used by: kernels/pipelined/, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* Blocks of KERNEL PIPELINED for any operands to a multiprocessor, for elements of `size` bytes. */
#if defined(__CUDA_ARCH__) && !TMM__ASYNC
#define TMM__ANY_BLOCKS(size) 2
#else
#define TMM__ANY_BLOCKS(size) ((size) <= 4 ? 3 : 2)
#endif

/* KERNEL PIPELINED: k of a step, stages, threads of a block; lines that instance _any copies
   together; rows that _tn stores through shared memory at a time. */
enum { TMM__PIPELINED_DEPTH = 8, TMM__PIPELINED_STAGES = 3, TMM__PIPELINED_THREADS = 128 };
enum { TMM__PIPELINED_UNIT = 64, TMM__PIPELINED_STAGED_ROWS = 4 };

/* The instances: pass, name, blocks to a multiprocessor, rows of C that a thread owns: 8 in one for
   any operands, which alone takes matrices smaller than a tile; 16 in one for A^T B, and for packed
   operands. Double has none: see KERNEL TENSOR. */
#define TMM__PIPELINED_LIST(_)                       \
    _(1, _any, TMM__ANY_BLOCKS(sizeof(TMM_TYPE)), 8) \
    TMM__IF_FLOAT(_(2, _tn, 2, 16))
#define TMM__PIPELINED_BLOCKS (TMM__PIPELINED_LIST(TMM__VALUE_1) 0)
#define TMM__PIPELINED_ROWS   (TMM__PIPELINED_LIST(TMM__VALUE_2) 0)
#endif
/* src/tiledmm/kernels/small/sizes.h. Sizes of KERNEL SMALL, and its instances.
   Uses: once/. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL SMALL: warps of a block at most. */
enum { TMM__SMALL_WARPS_LOG2 = 3, TMM__SMALL_WARPS = 1 << TMM__SMALL_WARPS_LOG2 };

/* The instances: pass, name, rows and columns of the tile. Each computes every shape; what a type
   loses without one is in bench/notes/small.md. */
#define TMM__SMALL_LIST(_)                \
    TMM__IF_FLOATING(_(1, 16x16, 16, 16)) \
    _(2, 16x32, 16, 32)                   \
    TMM__IF_FLOATING(_(3, 32x32, 32, 32)) \
    TMM__IF_FLOAT(_(4, 32x64, 32, 64))
#define TMM__SMALL_ROWS (TMM__SMALL_LIST(TMM__VALUE_1) 0)
#define TMM__SMALL_COLS (TMM__SMALL_LIST(TMM__VALUE_2) 0)
/* What a lane has of a row of B, and of C, side by side. */
#define TMM__SMALL_WIDTH (TMM__SMALL_COLS < 32 ? 2 : 4)
/* Do tensor cores multiply? */
#define TMM__SMALL_DMMA (TMM__TENSOR_CORES && sizeof(TMM_SUM) == 8 && !TMM__IS_INTEGER)
#endif
/* src/tiledmm/kernels/skinny/sizes.h. Sizes of KERNEL SKINNY, and its instances.
   Uses: once/config.h. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* Rows or columns of a narrow C that KERNEL SKINNY takes at most; warps of a block; vectors of L that
   a thread copies a stage, and elements of L in a stage. */
enum {
    TMM__SKINNY_MOST = 16,
    TMM__SKINNY_WARPS = 8,
    TMM__SKINNY_COPIES = 4,
    TMM__SKINNY_L = 256 * TMM__SKINNY_COPIES * 4
};

/* The instances: pass, name, whether L is contiguous along k, and the width. bench/notes/skinny.md
   says what a width of 1 would gain. */
#define TMM__SKINNY_LIST(_) \
    TMM__IF_FLOAT(_(2, k_4, 1, 4) _(3, k_16, 1, 16) _(4, lines_4, 0, 4) _(5, lines_16, 0, 16))
#endif
/* src/tiledmm/kernels/outer/sizes.h. Sizes of KERNEL OUTER, and its instances.
   Uses: once/. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL OUTER: columns of a thread, and warps of a block at most. */
enum { TMM__OUTER_COLS = 4, TMM__OUTER_WARPS = 8 };
/* K up to which it reads straight from L1; K up to which TMM_AUTO thinks of it. Shared memory has
   room for a multiple of STEP k. */
enum { TMM__OUTER_DIRECT = 2, TMM__OUTER_MOST = 64, TMM__OUTER_STEP = 16 };

/* The instances: pass, name, rows of a thread, lanes of a warp side by side. */
#define TMM__OUTER_LIST(_) _(1, wide, 8, 32) TMM__IF_FLOATING(_(2, narrow, 4, 8))
#define TMM__OUTER_ROWS    (TMM__OUTER_LIST(TMM__VALUE_1) 0)
#define TMM__OUTER_ACROSS  (TMM__OUTER_LIST(TMM__VALUE_2) 0)
#endif
/* src/tiledmm/kernels/direct/sizes.h. Sizes of KERNEL DIRECT.
   Uses: once/config.h. Used by: kernel.cuh, launch.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL DIRECT: log2 of the threads of a block, and their largest number; k whose loads are all
   under way together. */
enum { TMM__DIRECT_BLOCK = 8, TMM__DIRECT_MOST = 1024, TMM__DIRECT_DEEP = 8 };
/* Threads that a multiprocessor has room for, with elements of 4 bytes and of 8. */
enum { TMM__DIRECT_RESIDENT = 2048, TMM__DIRECT_RESIDENT_8 = 1024 };
/* Multiply-adds up to which TMM_AUTO thinks of it: of any C; of one with few rows or columns, where
   nearly each element is read once; what is few. */
enum { TMM__DIRECT_WORK = 3000000, TMM__DIRECT_NARROW_WORK = 100000000, TMM__DIRECT_NARROW = 4 };
enum { TMM__MEMBERS, TMM__GROUPS }; /* which threads are neighbours: see KERNEL DIRECT */
/* Blocks of its clusters, as a power of two, groups of such a block at most; K that they are
   not thought of up to. */
enum { TMM__DIRECT_CLUSTER = 3, TMM__DIRECT_GROUPS = 64, TMM__DIRECT_CLUSTER_K = 256 };

#if TMM__HOST
/* Multiply-adds beyond which it is not thought of. */
static inline double tmm__direct_most(long long M, long long N)
{
    const int narrow = (M < N ? M : N) <= TMM__DIRECT_NARROW;
    return narrow ? (int)TMM__DIRECT_NARROW_WORK : (int)TMM__DIRECT_WORK;
}
#endif
#endif
/* src/tiledmm/kernels/narrow/sizes.h. Sizes of KERNEL NARROW, and its instances.
   Uses: once/config.h. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL NARROW: depth of a step, and stages; lines of Q and places of P in a row of a stage, and a
   row, which has 4 more against bank conflicts. The least K for which TMM_AUTO takes it: below, its
   time is that of storing C, which others do faster. */
enum {
    TMM__NARROW_LEAST = 16,
    TMM__NARROW_THREADS = 128,
    TMM__NARROW_DEPTH = 8,
    TMM__NARROW_STAGES = 3,
    TMM__NARROW_LINES = 512,
    TMM__NARROW_PLACES = 64,
    TMM__NARROW_PITCH = TMM__NARROW_PLACES + TMM__NARROW_LINES + 4
};

/* A tile of KERNEL NARROW, and how lines of C lie. */
typedef struct tmm__narrow {
    int down_log2; /* a tile has 1024 >> down_log2 lines of Q, and a group of P 4 << down_log2 */
    int tilesP;    /* along P */
    int turned;    /* lines of P are columns of C */
} tmm__narrow;

/* The instances: pass, name, groups of lines of P. */
#define TMM__NARROW_LIST(_) TMM__IF_FLOAT(_(4, 3, 3) _(5, 4, 4))
#endif
/* src/tiledmm/kernels/tensor/sizes.h. Sizes of KERNEL TENSOR, and its instances.
   Uses: once/. Used by: kernels/tensor/, launch/product.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL TENSOR: depth of a step, and stages; bytes of all stages with tiles of m x n elements. */
enum { TMM__TENSOR_DEPTH = 16 };
enum { TMM__TENSOR_PITCH = 40 }; /* of 32 columns of C in shared memory: no bank conflicts */
#define TMM__TENSOR_STAGES(m, n) ((m) + (n) < 128 ? 4 : 3)
#define TMM__TENSOR_BYTES(m, n)  (TMM__TENSOR_STAGES(m, n) * TMM__TENSOR_DEPTH * ((m) + (n)) * 8)

/* The instances: pass, name, warps side by side, matrices of a warp above each other, elements to a
   copy, blocks to a multiprocessor. Two warps are above each other; a matrix is 16 x 8, and four are
   side by side. With 1 matrix the tile can be tall. */
#define TMM__TENSOR_LIST(_)   \
    _(1, 128x128, 4, 4, 2, 1) \
    _(2, 64x64, 2, 2, 2, 3)   \
    _(3, any, 2, 2, 1, 3)     \
    _(4, 32x64, 2, 1, 2, 4)
#define TMM__TENSOR_WARPS  (TMM__TENSOR_LIST(TMM__VALUE_1) 0)
#define TMM__TENSOR_DOWN   (TMM__TENSOR_LIST(TMM__VALUE_2) 0)
#define TMM__TENSOR_WIDTH  (TMM__TENSOR_LIST(TMM__VALUE_3) 0)
#define TMM__TENSOR_BLOCKS (TMM__TENSOR_LIST(TMM__VALUE_4) 0)
#endif
/* src/tiledmm/once/status.h. The sentence of the last error, and names of statuses and kernels.
   Uses: config.h, types.h.
   Used by: checks.h, host/, launch/product.h, once/, type/, kernels/, callers. */
#if TMM__HOST && !defined(TMM__ONCE)
/* One buffer a thread and program: `inline` (not static) functions share their variables between
   files. */
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

/* 1 if this call of ours succeeded. If not, its error is removed from CUDA's record, where the
   caller would take it for his. An older error stays. */
static inline int tmm__succeeded(cudaError_t error)
{
    if (error == cudaSuccess) return 1;
    if (cudaPeekAtLastError() == error) (void)cudaGetLastError();
    return 0;
}

/* A CUDA error as a status; `what` is the call that returned it. */
static inline tmm_status tmm__cuda(cudaError_t error, const char *what)
{
    if (tmm__succeeded(error)) return TMM_OK;
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

/* Errors after which a device does no more work, by the CUDA Runtime API. Of some an operand may
   be the cause, that is host memory or too small: in this launch, or before. Others our kernels
   do not cause. */
static inline int tmm__is_of_memory(cudaError_t error)
{
    return error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress ||
           error == cudaErrorInvalidAddressSpace;
}

static inline int tmm__is_sticky(cudaError_t error)
{
    return tmm__is_of_memory(error) || error == cudaErrorLaunchTimeout ||
           error == cudaErrorHardwareStackError || error == cudaErrorIllegalInstruction ||
           error == cudaErrorInvalidPc || error == cudaErrorLaunchFailure ||
           error == cudaErrorAssert || error == cudaErrorECCUncorrectable;
}

/* What a launch returned, as a status. */
static inline tmm_status tmm__launched(cudaError_t error)
{
    if (!tmm__is_sticky(error)) return tmm__cuda(error, "kernel launch");
    if (tmm__is_of_memory(error))
        return tmm__fail(TMM_ERROR_CUDA,
                         "kernel launch: %s, in this launch or before it; is an operand host "
                         "memory, or smaller than its shape?",
                         cudaGetErrorString(error));
    return tmm__fail(TMM_ERROR_CUDA, "kernel launch: the device had failed before it: %s",
                     cudaGetErrorString(error));
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
    case TMM_ERROR_CANCELLED: return "TMM_ERROR_CANCELLED";
    }
    return "unknown tmm_status";
}

TMM_API const char *tmm_kernel_string(tmm_kernel kernel)
{
#define TMM__NAME(value, string) \
    case value:                  \
        return string;
#define TMM__KERNEL(value, string, tile, ...) TMM__NAME(value, string)
    switch (kernel) {
        TMM__KERNEL_LIST(TMM__NAME, TMM__KERNEL)
    case TMM_KERNEL_COUNT: break;
    }
#undef TMM__NAME
#undef TMM__KERNEL
    return NULL;
}

static inline long long tmm__min(long long a, long long b)
{
    return a < b ? a : b;
}
#endif
/* src/tiledmm/once/tuning.h. Every number that was measured on a GPU: of GPUs, and of blocks of
   kernels.
   Uses: config.h. Used by: launch/, costs.h, device.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* A GPU is described by what it does in a nanosecond (tmm__gpu), one that was not measured by
   its data sheet. A kernel is described by the clocks of its blocks (tmm__costs), those of an
   H200, which GPUs share as far as they share instructions. bench/notes/choice.md says how they
   were found. */

/* Types that have numbers of their own. */
enum { TMM__TUNED_AS_FLOAT, TMM__TUNED_AS_DOUBLE, TMM__TUNED_AS_OTHER, TMM__TUNED_TYPES };
enum { TMM__TUNED_AS_HALF = TMM__TUNED_TYPES }; /* for tmm__rate alone */

/* Kernels by what multiplies: see tmm__rate. */
typedef enum tmm__family {
    TMM__COST_SIMPLE, /* TMM_SHARED_16, TMM_REGISTER_64 and TMM_REGISTER_128 */
    TMM__COST_OUTER,
    TMM__COST_SMALL,
    TMM__COST_SKINNY,
    TMM__COST_PIPELINED,
    TMM__COST_TENSOR /* of double, or of float */
} tmm__family;

/* What a GPU does. */
typedef struct tmm__gpu {
    const char *device;
    int capability;  /* 10 major + minor */
    int bus_width;   /* of its memory, in bits: tells devices of one capability apart, */
    int processors;  /* as do its multiprocessors */
    double clock;    /* of a multiprocessor at work, in GHz */
    double launch;   /* of an empty kernel behind another, in nanoseconds */
    double memory;   /* bytes read in a nanosecond */
    double l2_bytes; /* that are read again faster than from memory */
} tmm__gpu;

/* The H200's as an earlier bench/tune.cu measured it, its L2 by times of arrays of all sizes. The
   H100's: launch and memory are those of bench/results/h100/shapes.csv and memory.csv, its clock is
   the H200's, its L2 in proportion. */
static const tmm__gpu tmm__gpus[] = {
    {"NVIDIA H200", 90, 6016, 132, 1.98, 550, 4590, 39e6},
    {"NVIDIA H100", 90, 5120, 132, 1.98, 890, 3110, 33e6},
};

/* Instances that have numbers of their own. */
enum {
    TMM__TUNED_OUTER = 2,
    TMM__TUNED_SMALL = 4,
    TMM__TUNED_SKINNY = 4,
    TMM__TUNED_PIPELINED = 2,
    TMM__TUNED_TENSOR = 4,
    TMM__TUNED_FLOAT = 4,
    TMM__TUNED_THIN = 4,
    TMM__TUNED_HALF = 2
};
/* Tiles of KERNEL PIPELINED: 64 x 128 or 128 x 64, and 128 x 128. */
enum { TMM__SMALL_TILE, TMM__LARGE_TILE, TMM__TILE_SIZES };
enum { TMM__MOST_RESIDENT = 3 }; /* blocks on a multiprocessor that are told apart */

/* Clocks of the blocks that a multiprocessor has. */
typedef struct tmm__block_costs {
    double first; /* once for a launch */
    double more;  /* each block but the first */
    /* Each k of a block that is alone, of each of two, of three, and of those beyond three. */
    double k[TMM__MOST_RESIDENT + 1];
    double along_k; /* part by which `more` and k rise if operands are contiguous along k, */
    double single;  /* or if they cannot be read by 16 bytes */
    double odd;     /* each block, if rows of C cannot be stored by 16 bytes */
} tmm__block_costs;

/* KERNEL SMALL, in clocks, of an instance. */
typedef struct tmm__small_costs {
    double warps;   /* for which a multiprocessor has registers */
    double first;   /* each round of tiles that are at work together, */
    double few;     /* divided by the warps of a tile, */
    double step;    /* and each step of 8 k of a warp */
    double tile;    /* each tile of a multiprocessor, */
    double warp;    /* each of its warps, */
    double work;    /* and each of its steps */
    double along_k; /* part by which steps take longer if operands are contiguous along k, */
    double single;  /* or if they cannot be read by 16 bytes */
    double odd;     /* each tile, if rows of C cannot be stored by 16 bytes */
} tmm__small_costs;

/* KERNEL OUTER, in clocks. Operands are read from L1, or copied to shared memory. */
typedef struct tmm__outer_costs {
    double direct;                     /* from L1: once, */
    double direct_each;                /* and each k but the first */
    double copy;                       /* by shared memory: once, */
    double copy_each;                  /* each element that a thread copies, */
    double copied;                     /* and for each warp each element that a lane copies */
    double odd;                        /* part by which C takes longer off sectors, */
    double apart;                      /* and times that memory and L2 do: see outer_guess */
    double batch;                      /* times that a batch takes longer */
    double warp[TMM__TUNED_OUTER];     /* for each warp of the busiest multiprocessor: C, */
    double k[TMM__TUNED_OUTER];        /* each k by shared memory, */
    double direct_k[TMM__TUNED_OUTER]; /* and each k from L1 */
} tmm__outer_costs;

/* KERNEL DIRECT, in clocks. */
typedef struct tmm__direct_costs {
    double first;   /* once */
    double halving; /* each halving of the sums of a warp */
    double round;   /* each round of TMM__DIRECT_DEEP k of a member but the first */
    double barrier; /* each halving of the sums of a block's warps, and one more */
    double warp;    /* each warp of a multiprocessor, */
    double load;    /* each of its k, */
    double line;    /* and each line of L1 that it reads for that */
    double byte;    /* each byte that comes from L2 */
    double cluster; /* to add the sums of a cluster's blocks */
    double memory;  /* times that memory takes longer if L2 does not hold A and B */
    double piece;   /* bytes of a line to a block with which memory takes twice as long */
    double share;   /* part by which it does for each group more that shares a row of A */
} tmm__direct_costs;

/* Clocks, if nothing else is said. */
typedef struct tmm__costs {
    double l2;      /* bytes that a multiprocessor copies from L2 in a clock, if all do */
    double write;   /* times that a byte of C takes longer than one that is read, beyond L2 */
    double cached;  /* times that L2 is faster than memory */
    double exposed; /* part that shows of the shorter: blocks' clocks, or bytes through memory */
    double host;    /* nanoseconds of the host for two launches and memory */
    double gain;    /* part of the time that may remain where SMALL or SKINNY cuts K */
    tmm__block_costs shared_16[TMM__TUNED_TYPES];
    tmm__block_costs register_64[TMM__TUNED_TYPES];
    tmm__block_costs register_128[TMM__TUNED_TYPES];
    struct {
        int rows, cols; /* of C that a warp of KERNEL OUTER has */
    } outer_warp[TMM__TUNED_OUTER];
    tmm__outer_costs outer[TMM__TUNED_TYPES];
    struct {
        int rows; /* of its tile */
        int cols;
        tmm__small_costs tile[TMM__TUNED_TYPES];
    } small_c[TMM__TUNED_SMALL];
    struct {
        int along_k; /* as in TMM__SKINNY_LIST */
        int width;
        tmm__block_costs block[2]; /* of float; copied one by one, by 16 bytes */
    } skinny[TMM__TUNED_SKINNY];
    double sum;      /* KERNEL SUM: once, */
    double sum_byte; /* and each byte that it reads */
    /* KERNEL PIPELINED of float. What a tile that is cut along K takes besides. */
    struct {
        tmm__block_costs block[TMM__TUNED_PIPELINED]; /* any, TN, NN */
        double cut;                                   /* few slices: once, */
        double cut_slice[TMM__TILE_SIZES];            /* and each slice */
        double reduce[TMM__TILE_SIZES];               /* with KERNEL REDUCE, */
        int reduce_from;                              /* for so many slices and more */
        double cluster;                               /* by a cluster, */
        double cluster_round[TMM__TILE_SIZES];        /* and each round of them */
        double even[TMM__TILE_SIZES];                 /* even shares (stream-K), */
        double even_partial[TMM__TILE_SIZES];         /* and each partial tile */
    } pipelined;
    /* KERNEL TENSOR of double, and the same. An element is one of a tile. */
    struct {
        struct {
            int tile_m;
            int tile_n;
            int width; /* elements to a copy */
            tmm__block_costs block;
        } instances[TMM__TUNED_TENSOR];
        double copied;            /* part of the bytes it copies that L2 counts */
        double slices;            /* slices that the first one's block adds: once, */
        double slice;             /* and each element of another slice */
        double reduce;            /* with KERNEL REDUCE: once, */
        double reduce_slice;      /* each slice, */
        double reduce_slice_wide; /* or that, where eight blocks add each part of a tile: */
        int reduce_wide_from;     /* from so many slices on */
        double last;              /* the tiles of a short last round cut: once, */
        double last_slice;        /* and each slice but the first */
        double even;              /* even shares: once, */
        double even_step;         /* times that k takes longer, */
        double even_partial;      /* each element of a partial tile, */
        double even_held;         /* and the part of L2 that goes by before a line is lost */
        double cluster;           /* by a cluster: once, */
        double cluster_round;     /* and each element of a round of blocks */
        double within;            /* part that L2 gives more of copies that begin within sectors */
        /* Power sets the clock of what keeps all units and more than half of L2 busy. */
        double power;      /* part by which a launch takes longer, were all of L2 busy, */
        double power_from; /* beyond so many nanoseconds */
    } tensor;
    /* KERNEL NARROW. */
    struct {
        /* A step of a tile, of two on a multiprocessor: Q along k, and along the lines; 3 and 4
           groups; tiles of 512 and of 256 lines of Q. */
        double step[2][2][2];
        double alone;    /* times that it takes longer where a tile is the only one */
        double launch;   /* once */
        double tile;     /* each tile, */
        double odd;      /* and more where rows of C cannot be stored by 16 bytes */
        double sum_byte; /* each byte of its sum */
        double most;     /* rows or columns of which TMM_AUTO was measured to take it */
    } narrow;
    tmm__direct_costs direct[TMM__TUNED_TYPES];
    double pack;      /* KERNEL PACK: once, */
    double pack_rate; /* and bytes read and written, as a part of memory's rate */
    /* KERNEL TENSOR FLOAT, each by wgmma, then by mma.sync; of an instance that has two blocks on
       a multiprocessor, of two tiles. */
    struct {
        int tile[2][TMM__TUNED_FLOAT][3];      /* rows, columns, warpgroups that share the k */
        double once[2];                        /* a launch */
        double window[2][TMM__TUNED_FLOAT];    /* 64 k of a tile, */
        double busy[2][TMM__TUNED_FLOAT];      /* more where all multiprocessors are at work */
        double tile_more[2][TMM__TUNED_FLOAT]; /* a tile besides */
        double odd[2];   /* each element, where rows of C begin within sectors, or 16 bytes */
        double part[2];  /* of tiles in parts, one to a block, then several: each, in a round, */
        double add[2];   /* and each to be added */
        double l2_bytes; /* of A and B from which blocks keep together in k */
        double convert;  /* KERNEL CONVERT: once, */
        double convert_round; /* each round of all blocks that fit, */
        double convert_rate;  /* and bytes in a nanosecond, as a part of memory's rate */
    } fp16;
    /* KERNEL THIN FLOAT. */
    struct {
        int cols[TMM__TUNED_THIN];    /* lines of the thin operand in a tile */
        double step[TMM__TUNED_THIN]; /* 32 k of a tile */
        double apart;                 /* times that it takes longer where copies are of 4 bytes */
        double once;                  /* nanoseconds of all launches */
        double again;                 /* a block of a batch that begins when another one ends */
        double read;  /* bytes of the large operand in a nanosecond, as a part of memory's rate */
        double split; /* times that a byte of the thin one, and of planes, takes by that rate, */
        double add;   /* and of partial tiles */
    } thin;
    /* KERNEL TENSOR HALF. */
    tmm__block_costs half[TMM__TUNED_HALF]; /* by mma.sync */
    /* By wgmma: once, a step of 64 k of a tile, and the tile. */
    double half_wgmma[TMM__TUNED_HALF][3];
    /* KERNEL TENSOR INT8. The device chooses by the first five, in products of bytes by one
       modulus; TMM_AUTO by the last four. `slow` is predicted: fp64_slow and each_slow where FP64
       has 1/64 of the rate of FP32, rate_slow by mma.sync. */
    struct {
        double fp64;  /* all elements by FP64 */
        double each;  /* all elements one by one, */
        double first; /* and the first one, times M N */
        double fp64_slow;
        double each_slow;
        double rate; /* multiply-adds of bytes of a multiprocessor in a clock, by wgmma */
        double rate_slow;
        double memory;   /* bytes of memory as a part of those read */
        double launches; /* nanoseconds of all launches */
    } int8;
} tmm__costs;

/* Of an H200. bench/fit/fit prints it anew, from times of plans. */
static const tmm__costs tmm__measured = {
    26.2,  /* l2 */
    1.08,  /* write */
    1.06,  /* cached */
    0.144, /* exposed */
    5000,  /* host */
    0.9,   /* gain */
    {
        /* shared_16: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {1680, 250, {39.7, 26, 16.4, 14.6}, 0.08, 0, 78.9},   /* float */
        {1770, 406, {43.5, 34.7, 26.9, 25.5}, 0.05, 0, 117},  /* double */
        {2610, 417, {62.5, 62.5, 62.5, 62.5}, 0.1, 0.1, 208}, /* other */
    },
    {
        /* register_64: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {3650, 1730, {78.2, 63.9, 73.7, 70.1}, 0, 0.194, 644}, /* float */
        {5780, 3780, {216, 210, 208, 200}, 0.02, 0.03, 2440},  /* double */
        {2610, 1040, {83.4, 83.4, 83.4, 83.4}, 0.1, 0.1, 521}, /* other */
    },
    {
        /* register_128: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {7740, 5640, {213, 183, 196, 186}, 0, 0.19, 3000},    /* float */
        {11300, 12600, {524, 528, 511, 495}, 0, 0.04, 13700}, /* double */
        {4170, 3130, {313, 313, 313, 313}, 0.1, 0.1, 1560},   /* other */
    },
    {
        /* outer_warp */
        {8, 128},
        {16, 32},
    },
    {
        /* outer */
        {
            /* float */
            1490,        /* direct */
            287,         /* direct_each */
            1880,        /* copy */
            45.1,        /* copy_each */
            8.39,        /* copied */
            0.763,       /* odd */
            2,           /* apart */
            1.15,        /* batch */
            {186, 129},  /* warp */
            {5.8, 2.72}, /* k */
            {39, 5.24},  /* direct_k */
        },
        {
            /* double */
            1380,         /* direct */
            142,          /* direct_each */
            2380,         /* copy */
            39.3,         /* copy_each */
            5.67,         /* copied */
            0.058,        /* odd */
            3,            /* apart */
            1.15,         /* batch */
            {415, 168},   /* warp */
            {17.7, 12.9}, /* k */
            {77.6, 61.4}, /* direct_k */
        },
        {
            /* other */
            1490,        /* direct */
            287,         /* direct_each */
            2220,        /* copy */
            53.6,        /* copy_each */
            9.35,        /* copied */
            0.182,       /* odd */
            2,           /* apart */
            1.15,        /* batch */
            {217, 124},  /* warp */
            {13.7, 5.7}, /* k */
            {39, 5.24},  /* direct_k */
        },
    },
    {
        /* small_c, of each: warps, first, few, step, tile, warp, work, along_k, single, odd */
        {
            16,                                                  /* rows */
            16,                                                  /* cols */
            {{20, 2320, 423, 422, 163, 0, 68.3, 0.09, 0.01, 0},  /* float */
             {24, 2330, 1760, 281, 107, 0, 55, 0.61, 0.13, 0},   /* double */
             {20, 2270, 423, 456, 158, 0, 65.7, 0.1, 0.1, 343}}, /* other */
        },
        {
            16,                                                          /* rows */
            32,                                                          /* cols */
            {{16, 1820, 2180, 468, 58.6, 62.2, 80.3, 0.18, 0.067, 33.5}, /* float */
             {16, 2090, 3820, 313, 105, 41, 77.5, 0.62, 0.14, 27.2},     /* double */
             {16, 1790, 1980, 539, 55.9, 55.5, 92.3, 0.1, 0.1, 529}},    /* other */
        },
        {
            32,                                                       /* rows */
            32,                                                       /* cols */
            {{16, 1490, 3580, 763, 200, 89, 131, 0.12, 0.07, 66.4},   /* float */
             {12, 1840, 7000, 541, 323, 64.9, 110, 0.38, 0.15, 23.2}, /* double */
             {16, 1430, 3540, 954, 200, 86.4, 167, 0.1, 0.1, 904}},   /* other */
        },
        {
            32,                                                        /* rows */
            64,                                                        /* cols */
            {{12, 1330, 7600, 927, 198, 170, 214, 0.216, 0.136, 69.1}, /* float */
             {8, 1190, 15500, 841, 0, 328, 161, 0.4, 0.12, 69.4},      /* double */
             {12, 1290, 7250, 1160, 198, 162, 273, 0.1, 0.1, 1650}},   /* other */
        },
    },
    {
        /* skinny, of each: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {
            1,                                                       /* along_k */
            4,                                                       /* width */
            {{2060, 374, {8.52, 9.15, 8.96, 8.87}, 0.01, 0.07, 417}, /* one by one */
             {3650, 286, {5.72, 7.38, 7.2, 6.66}, 0.03, 0, 299}},    /* by 16 bytes */
        },
        {
            1,                                                       /* along_k */
            16,                                                      /* width */
            {{3060, 642, {58.3, 58.9, 70.5, 63.7}, 0, 0.00233, 714}, /* one by one */
             {3220, 998, {39.7, 42.2, 47.7, 34.4}, 0, 0.02, 778}},   /* by 16 bytes */
        },
        {
            0,                                                       /* along_k */
            4,                                                       /* width */
            {{1370, 0.037, {19.9, 18, 22.7, 19.3}, 0, 0.00559, 102}, /* one by one */
             {1850, 545, {10.2, 12.5, 9.74, 10.6}, 0, 0.02, 377}},   /* by 16 bytes */
        },
        {
            0,                                                          /* along_k */
            16,                                                         /* width */
            {{3830, 1480, {29.9, 29.3, 29.1, 28.8}, 0, 0, 1470},        /* one by one */
             {8410, 5630, {18.5, 18.1, 18.1, 17.4}, 0.01, 0.01, 1930}}, /* by 16 bytes */
        },
    },
    3170,    /* sum */
    0.00209, /* sum_byte */
    {
        /* pipelined */
        {
            /* block: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
            {5230, 1810, {144, 105, 92.6, 92.3}, 0.057, 0.039, 2150}, /* any */
            {7300, 4880, {157, 148, 166, 146}, 0, 0, 1220},           /* TN */
        },
        2800,         /* cut */
        {1470, 2970}, /* cut_slice */
        {4910, 7650}, /* reduce */
        5,            /* reduce_from */
        2190,         /* cluster */
        {660, 4830},  /* cluster_round */
        {8070, 7180}, /* even */
        {1080, 1850}, /* even_partial */
    },
    {
        /* tensor */
        {
            /* instances, block: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
            {
                128,                                                 /* tile_m */
                128,                                                 /* tile_n */
                2,                                                   /* width */
                {10600, 9960, {130, 126, 134, 137}, 0, 0.05, 15000}, /* block */
            },
            {
                64,                                                      /* tile_m */
                64,                                                      /* tile_n */
                2,                                                       /* width */
                {3700, 1900, {42.5, 34.4, 37.7, 31.9}, 0.02, 0.1, 2280}, /* block */
            },
            {
                64,                                                /* tile_m */
                64,                                                /* tile_n */
                1,                                                 /* width */
                {4580, 2120, {47.5, 43.9, 45.4, 44.5}, 0, 0, 900}, /* block */
            },
            {
                32,                                                      /* tile_m */
                64,                                                      /* tile_n */
                2,                                                       /* width */
                {4120, 1340, {25.4, 18.7, 21.8, 19.4}, 0.02, 0.2, 1390}, /* block */
            },
        },
        0.72,  /* copied */
        7890,  /* slices */
        0.347, /* slice */
        6380,  /* reduce */
        375,   /* reduce_slice */
        101,   /* reduce_slice_wide */
        32,    /* reduce_wide_from */
        5290,  /* last */
        7980,  /* last_slice */
        12900, /* even */
        1.1,   /* even_step */
        0.2,   /* even_partial */
        0.1,   /* even_held */
        2500,  /* cluster */
        0.25,  /* cluster_round */
        1.5,   /* within */
        0.27,  /* power */
        1e5,   /* power_from */
    },
    {
        /* narrow */
        {{{1370, 1090}, {1560, 1350}}, {{1210, 1060}, {1460, 1340}}}, /* step */
        1.14,                                                         /* alone */
        3940,                                                         /* launch */
        4900,                                                         /* tile */
        204,                                                          /* odd */
        1.07e-3,                                                      /* sum_byte */
        1500,                                                         /* most */
    },
    {
        /* direct */
        {
            /* float */
            1040,    /* first */
            86.8,    /* halving */
            426,     /* round */
            146,     /* barrier */
            51,      /* warp */
            1.69,    /* load */
            0.417,   /* line */
            0.00318, /* byte */
            1090,    /* cluster */
            1.2,     /* memory */
            20,      /* piece */
            0.54,    /* share */
        },
        {
            /* double */
            1310,    /* first */
            74.5,    /* halving */
            405,     /* round */
            132,     /* barrier */
            34.8,    /* warp */
            1.48,    /* load */
            0.651,   /* line */
            0.00366, /* byte */
            1250,    /* cluster */
            1.08,    /* memory */
            20,      /* piece */
            0.335,   /* share */
        },
        {
            /* other */
            1040,    /* first */
            86.8,    /* halving */
            426,     /* round */
            146,     /* barrier */
            51,      /* warp */
            1.69,    /* load */
            0.417,   /* line */
            0.00318, /* byte */
            1090,    /* cluster */
            1.2,     /* memory */
            20,      /* piece */
            0.54,    /* share */
        },
    },
    3510,  /* pack */
    0.715, /* pack_rate */
    {
        /* fp16 */
        {{{256, 128, 1}, {128, 192, 1}, {128, 64, 1}, {64, 64, 2}},
         {{128, 128, 1}, {64, 64, 1}, {0, 0, 0}, {0, 0, 0}}}, /* tile */
        {1410, 0},                                            /* once */
        {{3500, 2330, 898, 667}, {4690, 2500, 0, 0}},         /* window */
        {{517, 702, 322, 90}, {0, 0, 0, 0}},                  /* busy */
        {{10600, 8420, 3610, 2040}, {3650, 1880, 0, 0}},      /* tile_more */
        {0.215, 0.438},                                       /* odd */
        {3380, 4160},                                         /* part */
        {602, 580},                                           /* add */
        6e7,                                                  /* l2_bytes */
        5770,                                                 /* convert */
        1240,                                                 /* convert_round */
        1.87,                                                 /* convert_rate */
    },
    {
        /* thin */
        {32, 64, 96, 128},        /* cols */
        {1380, 1520, 1720, 1970}, /* step */
        1.23,                     /* apart */
        5340,                     /* once */
        3000,                     /* again: estimated */
        0.915,                    /* read */
        0.233,                    /* split */
        0.931,                    /* add */
    },
    {
        /* half */
        {2000, 800, {11, 6.6, 6.5, 6.5}, 0, 0, 0},
        {1500, 300, {5.2, 3, 2.2, 1.8}, 0, 0, 0},
    },
    {
        /* half by wgmma */
        {3000, 560, 2500},
        {3000, 300, 1500},
    },
    {
        /* int8 */
        26,      /* fp64 */
        1600,    /* each */
        6500000, /* first */
        400,     /* fp64_slow */
        2000,    /* each_slow */
        2770,    /* rate */
        491,     /* rate_slow */
        0.74,    /* memory */
        30000,   /* launches */
    },
};

/* The row of a GPU, of which `sheet` has what the data sheet says; or that, if it has none. */
static inline tmm__gpu tmm__gpu_for(const tmm__gpu *sheet)
{
    const int count = (int)(sizeof tmm__gpus / sizeof *tmm__gpus);
    for (int n = 0; n < count; n++)
        if (tmm__gpus[n].capability == sheet->capability &&
            tmm__gpus[n].bus_width == sheet->bus_width &&
            tmm__gpus[n].processors == sheet->processors)
            return tmm__gpus[n];
    return *sheet;
}

/* The costs that predict: bench/fit tries others. */
#ifndef TMM__COSTS
#define TMM__COSTS (&tmm__measured)
#endif
static inline const tmm__costs *tmm__tuned(void)
{
    return TMM__COSTS;
}
#endif
/* src/tiledmm/once/device.h. What is known of a device; memory pools and workspaces.
   Uses: once/. Used by: host/, launch/, arguments.h, costs.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* What is known of a kernel on a device. CUDA takes up to a few tenths of a millisecond for an
   answer, so each question is asked once. */
typedef struct tmm__kernel_facts {
    const void *kernel; /* NULL: this place is free */
    int has_shared;     /* a launch may ask for as much shared memory as the device has */
    int has_carveout;   /* tmm__prefer_l1 has been asked for */
    int has_attributes, ptx_version, static_shared; /* cudaFuncAttributes */
    int has_clusters;
    int clusters[TMM__MOST_CLUSTER +
                 1]; /* how many clusters of n blocks fit on the device at once */
} tmm__kernel_facts;

/* What is known of a device. A thread keeps those of TMM__KNOWN devices, device n at place n %
   TMM__KNOWN. */
enum { TMM__KNOWN = 16, TMM__KNOWN_KERNELS = 64, TMM__KNOWN_CHOICES = 32 };
typedef struct tmm__device {
    int processors; /* multiprocessors; 1 if there is no device, for the launch to report that */
    int capability; /* 10 major + minor */
    int pools;      /* has memory pools, for stream-ordered allocation */
    int number;     /* as for cudaSetDevice; -1 if there is no device */
    int shared;     /* bytes of shared memory that a block can have, asked for */
    double bandwidth, arithmetic; /* by the data sheet: bytes and float operations a second */
    tmm__gpu gpu;                 /* what it does: see once/tuning.h */
    tmm__kernel_facts *kernels;   /* TMM__KNOWN_KERNELS of them, found by their address */
} tmm__device;

/* Attribute `what` of a device, or `otherwise` if CUDA does not tell. */
static inline int tmm__attribute(cudaDeviceAttr what, int device, int otherwise)
{
    int value = 0;
    return tmm__succeeded(cudaDeviceGetAttribute(&value, what, device)) ? value : otherwise;
}

/* What a device does: as measured, or by its data sheet, of which an H200 reaches the clock,
   0.95 of the memory's speed and 5/8 of L2. Clocks are in kHz, which not every device tells. */
static inline void tmm__find_gpu(tmm__device *known, int number)
{
    const int clock = tmm__attribute(cudaDevAttrClockRate, number, 0);
    const int memory = tmm__attribute(cudaDevAttrMemoryClockRate, number, 0);
    const int width = tmm__attribute(cudaDevAttrGlobalMemoryBusWidth, number, 0);
    const double hertz = 1e3 * (clock > 0 ? clock : 1.5e6);
    tmm__gpu sheet = tmm__gpus[0];
    known->arithmetic = 2.0 * 128 * known->processors * hertz;
    known->bandwidth =
        memory > 0 && width > 0 ? 2.0 * memory * 1e3 * (width / 8) : known->arithmetic / 20;
    sheet.device = "by its data sheet";
    sheet.capability = known->capability;
    sheet.bus_width = width, sheet.processors = known->processors;
    sheet.l2_bytes = 0.625 * tmm__attribute(cudaDevAttrL2CacheSize, number, 4 << 20);
    sheet.clock = 1e-9 * hertz, sheet.memory = 0.94e-9 * known->bandwidth;
    known->gpu = tmm__gpu_for(&sheet);
}

/* The device of the product that this thread makes, NULL outside of one: CUDA is asked once for a
   product, not for each plan. */
static inline tmm__device **tmm__device_of_product(void)
{
    static thread_local tmm__device *device;
    return &device;
}

static inline tmm__device *tmm__current_device(void)
{
    static thread_local tmm__device devices[TMM__KNOWN]; /* processors is 0: not known yet */
    static thread_local tmm__kernel_facts kernels[TMM__KNOWN][TMM__KNOWN_KERNELS];
    int number = 0;
    if (*tmm__device_of_product() != NULL) return *tmm__device_of_product();
    if (!tmm__succeeded(cudaGetDevice(&number))) number = -1;
    int place = number > 0 ? number % TMM__KNOWN : 0;
    tmm__device *known = &devices[place];
    if (known->processors > 0 && known->number == number && number >= 0) return known;
    int count = tmm__attribute(cudaDevAttrMultiProcessorCount, number, 0);
    int major = tmm__attribute(cudaDevAttrComputeCapabilityMajor, number, 0);
    int minor = tmm__attribute(cudaDevAttrComputeCapabilityMinor, number, 0);
    int shared = tmm__attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, number, 0);
    memset(kernels[place], 0, sizeof kernels[place]);
    known->kernels = kernels[place];
    known->number = count > 0 ? number : -1;
    known->processors = count > 0 ? count : 1;
    known->capability = 10 * major + minor;
    known->pools = tmm__attribute(cudaDevAttrMemoryPoolsSupported, number, 0);
    known->shared = shared > 49152 ? shared : 49152;
    tmm__find_gpu(known, number);
    return known;
}

/* The record of a kernel on the current device. If all places are taken, one that knows nothing. */
static inline tmm__kernel_facts *tmm__facts(const void *kernel)
{
    static thread_local tmm__kernel_facts none;
    tmm__kernel_facts *kernels = tmm__current_device()->kernels;
    size_t place = (size_t)kernel / 16 * 0x9E3779B1u;
    for (int tries = 0; tries < TMM__KNOWN_KERNELS; tries++, place++) {
        tmm__kernel_facts *facts = &kernels[place % TMM__KNOWN_KERNELS];
        if (facts->kernel == NULL) facts->kernel = kernel;
        if (facts->kernel == kernel) return facts;
    }
    memset(&none, 0, sizeof none);
    return &none;
}

/* As much L1 as there can be while a kernel runs: else it stays what the kernel before it left.
   Without it the kernel is only slower. */
static inline void tmm__prefer_l1(const void *kernel)
{
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_carveout) return;
    facts->has_carveout = 1;
    (void)tmm__succeeded(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
}

/* For which PTX version a kernel was compiled (90: sm_90), and its static shared memory. */
static inline const tmm__kernel_facts *tmm__compiled(const void *kernel)
{
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_attributes) return facts;
    cudaFuncAttributes attributes;
    facts->has_attributes = 1;
    facts->ptx_version = facts->static_shared = 0;
    if (tmm__succeeded(cudaFuncGetAttributes(&attributes, kernel))) {
        facts->ptx_version = attributes.ptxVersion;
        facts->static_shared = (int)attributes.sharedSizeBytes;
    }
    return facts;
}

/* Lets a kernel have more shared memory than the 48 KB that all may have. The limit is the
   kernel's, for all threads of the process, so it is the most that a block can have: a smaller
   one would refuse another thread's larger product. */
static inline tmm_status tmm__allow_shared(const void *kernel, int bytes)
{
    if (bytes <= 49152) return TMM_OK;
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_shared) return TMM_OK;
    const int most = tmm__current_device()->shared - tmm__compiled(kernel)->static_shared;
    tmm_status status =
        tmm__cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                  "cudaFuncSetAttribute");
    facts->has_shared = status == TMM_OK;
    return status;
}

/* CUDA's record may hold an error of before, which is no concern of this launch: its own status
   counts. */
static inline tmm_status tmm__launch(const void *kernel, dim3 grid, dim3 block, int bytes,
                                     void **arguments, tmm_stream stream)
{
    tmm_status status = tmm__allow_shared(kernel, bytes);
    if (status != TMM_OK) return status;
    return tmm__launched(cudaLaunchKernel(kernel, grid, block, arguments, (size_t)bytes, stream));
}

/* Whether attributes can be given to a launch, such as clusters: with nvcc from CUDA 11.8 on. */
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1108
#define TMM__CLUSTER_LAUNCH 1
#else
#define TMM__CLUSTER_LAUNCH 0
#endif

/* Can this kernel be launched in clusters? Not before sm_90, nor if it was compiled for an older
   device. */
static inline int tmm__has_clusters(const void *kernel)
{
    return TMM__CLUSTER_LAUNCH && tmm__current_device()->capability >= 90 &&
           tmm__compiled(kernel)->ptx_version >= 90;
}

/* Shared memory of a block of a cluster: `cluster` slices of its part of `vectors` x 128 items. */
static inline int tmm__cluster_bytes(int cluster, int vectors, int item)
{
    return cluster * ((vectors - 1) / cluster + 1) * 128 * item;
}

#if TMM__CLUSTER_LAUNCH
/* A launch with `cluster` blocks to a cluster. */
static inline cudaLaunchConfig_t tmm__cluster_config(cudaLaunchAttribute attributes[2], dim3 grid,
                                                     int threads, int cluster, int bytes,
                                                     tmm_stream stream)
{
    cudaLaunchConfig_t config = cudaLaunchConfig_t();
    memset(attributes, 0, 2 * sizeof *attributes);
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 1;
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = (unsigned)cluster;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    return config;
}
#endif

/* Launches a kernel with `cluster` blocks to a cluster, or 1. `early`: the kernel itself waits
   for the launch before it in the stream, so from sm_90 on it may begin while that one still
   works. */
static inline tmm_status tmm__launch_clusters(const void *kernel, dim3 grid, int threads,
                                              int cluster, int early, int bytes, void **arguments,
                                              tmm_stream stream)
{
#if TMM__CLUSTER_LAUNCH
    if ((early || cluster > 1) && tmm__has_clusters(kernel)) {
        cudaLaunchAttribute attributes[2];
        cudaLaunchConfig_t config =
            tmm__cluster_config(attributes, grid, threads, cluster, bytes, stream);
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        config.attrs = cluster > 1 ? attributes : attributes + 1;
        config.numAttrs = (cluster > 1) + (early != 0);
        const tmm_status status = tmm__allow_shared(kernel, bytes);
        if (status != TMM_OK) return status;
        return tmm__launched(cudaLaunchKernelExC(&config, kernel, arguments));
    }
#endif
    (void)cluster, (void)early;
    return tmm__launch(kernel, grid, dim3((unsigned)threads), bytes, arguments, stream);
}

/* How many clusters of n blocks of this kernel fit on the current device at once, n up to
   TMM__MOST_CLUSTER. A block has 128 threads and `base` bytes of shared memory besides. */
static inline const int *tmm__clusters(const void *kernel, int base, int vectors, int item)
{
    tmm__kernel_facts *facts = tmm__facts(kernel);
    if (facts->has_clusters) return facts->clusters;
    facts->has_clusters = 1;
    memset(facts->clusters, 0, sizeof facts->clusters);
#if TMM__CLUSTER_LAUNCH
    if (!tmm__has_clusters(kernel)) return facts->clusters;
    for (int n = 2; n <= TMM__MOST_CLUSTER; n++) {
        const int bytes = base + tmm__cluster_bytes(n, vectors, item);
        cudaLaunchAttribute attributes[2];
        const cudaLaunchConfig_t config =
            tmm__cluster_config(attributes, dim3((unsigned)n), 128, n, bytes, 0);
        if (tmm__allow_shared(kernel, bytes) != TMM_OK ||
            !tmm__succeeded(cudaOccupancyMaxActiveClusters(&facts->clusters[n], kernel, &config)))
            facts->clusters[n] = 0;
    }
#else
    (void)base, (void)vectors, (void)item;
#endif
    return facts->clusters;
}

/* The pool that workspaces of a device come from; NULL if there is none. C++ sees to it that one
   thread makes it, when first asked for, and that `inline` functions have one in all files of a
   program. What is not used goes back but for TMM__RELEASE_THRESHOLD bytes, or what
   tmm_?gemm_host asks for. */
#define TMM__RELEASE_THRESHOLD (64ull << 20)
inline cudaMemPool_t tmm__make_pool(int device)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool = NULL;
    unsigned long long keep = TMM__RELEASE_THRESHOLD;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    /* In another mode a first call that is captured would end the capture with an error. */
    const int exchanged = tmm__succeeded(cudaThreadExchangeStreamCaptureMode(&mode));
    if (!tmm__succeeded(cudaMemPoolCreate(&pool, &props))) pool = NULL;
    /* Refused, the pool only keeps less. */
    if (pool != NULL)
        (void)tmm__succeeded(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (exchanged) (void)cudaThreadExchangeStreamCaptureMode(&mode);
    return pool;
}

inline cudaMemPool_t tmm__pool(int device)
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
   there is none. The device's default pool would give it back to the system at every
   synchronisation. */
static inline void *tmm__workspace(size_t bytes, tmm_stream stream)
{
    const tmm__device *device = tmm__current_device();
    void *memory = NULL;
    if (!device->pools || device->number < 0) return NULL;
    cudaMemPool_t pool = tmm__pool(device->number);
    if (pool == NULL) return NULL;
    if (!tmm__succeeded(cudaMallocFromPoolAsync(&memory, bytes, pool, stream))) return NULL;
    return memory;
}

/* A number that memory does not hold by chance, another one for every launch of a thread.
   Launches of other threads have flags of their own. */
static inline unsigned long long tmm__ticket(void)
{
    static thread_local unsigned long long count;
    unsigned long long z = (size_t)&count * 0x9E3779B97F4A7C15ull + ++count;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull; /* splitmix64: one number for each, and no zero */
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) | 1;
}
#endif
/* src/tiledmm/once/costs.h. COSTS: how long a launch should take.
   Uses: once/. Used by: launch/, type/explain.h, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* What a launch has to do. */
typedef struct tmm__load {
    tmm__family family;
    int type;               /* TMM__TUNED_AS_FLOAT and so on */
    double processors;      /* multiprocessors that share them: */
    double blocks, k;       /* blocks of the launch, or tiles, and the k that each has */
    double area, copied;    /* of a block and each k: multiply-adds, and bytes that it copies */
    double bytes, a_bytes;  /* of A and B, and of A */
    double c_bytes;         /* of C */
    double along_k, single; /* parts of A and B that are contiguous along k, and not aligned */
    int even;               /* the last round may be short: stream-K */
    int odd;                /* rows of C cannot be stored by 16 bytes */
} tmm__load;

/* Multiply-adds of a multiprocessor in a clock, by the CUDA C++ Programming Guide's table of
   arithmetic throughput; of double by tensor cores, where the family has them. */
static inline double tmm__rate(int capability, tmm__family family, int type)
{
    const int many = capability == 80 || capability == 90 || capability == 100;
    const int tensor = family != TMM__COST_SIMPLE && family != TMM__COST_OUTER;
    if (type == TMM__TUNED_AS_FLOAT) return capability < 86 && capability != 61 ? 64 : 128;
    if (type == TMM__TUNED_AS_OTHER) return 64;
    if (type == TMM__TUNED_AS_HALF) /* by mma.sync; of wgmma sm_90 gives it some 0.62 */
        return capability == 80 ? 1024 : capability == 90 || capability == 100 ? 2560 : 512;
    if (capability == 60 || capability == 70) return 32;
    if (!many) return 2;
    return (capability == 90 ? 64 : 32) * (tensor ? 2 : 1);
}

/* Nanoseconds that memory needs at least, or L2 if it holds all of them. */
static inline double tmm__memory_time(const tmm__load *w)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    if (w->bytes + w->c_bytes < gpu->l2_bytes)
        return (w->bytes + w->c_bytes) / (t->cached * gpu->memory);
    return (w->bytes + t->write * w->c_bytes) / gpu->memory;
}

/* What a plan that takes two launches, or memory, is worth: it gains little where the device
   takes less time than the host. */
static inline double tmm__host_time(double time)
{
    const double host = tmm__tuned()->host;
    return time < host ? host - 0.1 * (host - time) : time;
}

/* Nanoseconds of multiplying and of memory, of which the longer hides most of the shorter. */
static inline double tmm__overlapped(double a, double b)
{
    return fmax(a, b) + tmm__tuned()->exposed * fmin(a, b);
}

/* Clocks for each k of a block that is alone on a multiprocessor; no fewer than its units need. */
static inline double tmm__k_clocks(const tmm__block_costs *c, const tmm__load *w)
{
    return fmax(c->k[0],
                w->area / tmm__rate(tmm__current_device()->capability, w->family, w->type));
}

/* Nanoseconds of a launch whose blocks share the multiprocessors, unless L2 or memory holds them
   up. No block multiplies faster than this device can, which need not be the one that `c` was
   measured on. */
static inline double tmm__launch_time(const tmm__block_costs *c, const tmm__load *w)
{
    const tmm__device *device = tmm__current_device();
    const tmm__gpu *gpu = &device->gpu;
    const double share = w->blocks / w->processors, rounds = w->even ? fmax(share, 1) : ceil(share);
    const int most = TMM__MOST_RESIDENT, resident = rounds < most ? (int)rounds : most;
    const double least = w->area / tmm__rate(device->capability, w->family, w->type);
    const double slower = 1 + c->along_k * w->along_k + c->single * w->single;
    double k = resident * c->k[resident > 0 ? resident - 1 : 0] + (rounds - resident) * c->k[most];
    k = fmax(k * slower, rounds * least);
    double clocks = c->first + (rounds - 1) * c->more * slower + k * w->k;
    if (w->odd) clocks += rounds * c->odd;
    clocks = fmax(clocks, w->copied * w->blocks * w->k / (tmm__tuned()->l2 * w->processors));
    return gpu->launch + tmm__overlapped(clocks / gpu->clock, tmm__memory_time(w));
}

/* Clocks of KERNEL SMALL for each k of a tile that is alone and has eight warps: see
   tmm__k_clocks. */
static inline double tmm__small_k_clocks(const tmm__small_costs *c, const tmm__load *w)
{
    const double steps = 8, warps = 8;
    return fmax(hypot(c->step / warps, c->work) / steps,
                w->area / tmm__rate(tmm__current_device()->capability, w->family, w->type));
}

/* Nanoseconds of a launch of KERNEL SMALL with `team` warps to each tile. Tiles that are at work
   together take as long as one; or as all of their multiprocessor in turn, if they wait for its
   units. */
static inline double tmm__small_time(const tmm__small_costs *c, const tmm__load *w, double team)
{
    const tmm__device *device = tmm__current_device();
    const double rate = tmm__rate(device->capability, w->family, w->type);
    const double tiles = ceil(w->blocks / w->processors), steps = ceil(w->k / 8);
    const double rounds = ceil(w->blocks / (w->processors * fmax(floor(c->warps / team), 1)));
    const double slower = 1 + c->along_k * w->along_k + c->single * w->single;
    const double alone = rounds * ceil(steps / team) * c->step * slower;
    const double all = tiles * fmax(steps * c->work * slower, w->k * w->area / rate);
    double clocks = rounds * (c->first + c->few / team) + hypot(alone, all);
    clocks += tiles * (c->tile + c->warp * team + c->odd * w->odd);
    clocks = fmax(clocks, w->copied * w->blocks * w->k / (tmm__tuned()->l2 * w->processors));
    return device->gpu.launch + tmm__overlapped(clocks / device->gpu.clock, tmm__memory_time(w));
}

/* Costs of a block with another area, if they go by that. */
static inline tmm__block_costs tmm__scaled(const tmm__block_costs *c, double area)
{
    tmm__block_costs scaled = {c->first * area, c->more * area, {0},
                               c->along_k,      c->single,      c->odd * area};
    for (int n = 0; n <= TMM__MOST_RESIDENT; n++) scaled.k[n] = c->k[n] * area;
    return scaled;
}

static inline double tmm__in_nanoseconds(double clocks)
{
    return clocks / tmm__current_device()->gpu.clock;
}

/* KERNEL PACK: what it leaves it has read, too. */
static inline double tmm__pack_time(double bytes)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    return gpu->launch + t->pack / gpu->clock + 2 * bytes / (t->pack_rate * gpu->memory);
}
#endif
/* src/tiledmm/once/arguments.h. Checks of arguments that all forms of GEMM share.
   Uses: once/. Used by: checks.h, host/devices.h, type/. */
#if TMM__HOST && !defined(TMM__ONCE)
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

/* What all forms of GEMM are called with, of any element type. */
typedef struct tmm__operands {
    tmm_op opA, opB;
    long long M, N, K;
    const void *A;
    long long lda;
    const void *B;
    long long ldb;
    const void *C;
    long long ldc;
    size_t element; /* bytes, of A and B */
    size_t element_C;
    int reads_AB; /* 0 where alpha is 0 */
} tmm__operands;

/* What all forms of GEMM ask of shapes, and of pointers that are read or written. */
static inline tmm_status tmm__check_sizes(const tmm__operands *o)
{
    const int nA = o->opA == TMM_OP_N, nB = o->opB == TMM_OP_N;
    if (!nA && o->opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opA is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opA);
    if (!nB && o->opB != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "opB is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opB);
    if (o->M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", o->M);
    if (o->N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", o->N);
    if (o->K < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "K is negative: %lld", o->K);
    /* Pointers that will not be read or written may be anything. */
    const void *unread = &unread;
    int works = o->M > 0 && o->N > 0;
    int reads = works && o->K > 0 && o->reads_AB;
    tmm_status status = tmm__check_matrix("A", "lda", reads ? o->A : unread, nA ? o->M : o->K,
                                          nA ? o->K : o->M, o->lda, o->element);
    if (status == TMM_OK)
        status = tmm__check_matrix("B", "ldb", reads ? o->B : unread, nB ? o->K : o->N,
                                   nB ? o->N : o->K, o->ldb, o->element);
    if (status == TMM_OK)
        status =
            tmm__check_matrix("C", "ldc", works ? o->C : unread, o->M, o->N, o->ldc, o->element_C);
    return status;
}

/* Elements in memory: `rows` rows of `cols` bytes that begin ld bytes apart. */
typedef struct tmm__area {
    size_t begin;
    long long rows, cols, ld;
} tmm__area;

static inline tmm__area tmm__area_of(const void *X, long long rows, long long cols, long long ld,
                                     size_t element)
{
    tmm__area area = {(size_t)X, rows, cols * (long long)element, ld * (long long)element};
    if (cols == ld) area.cols *= rows; /* without gaps it is one row */
    if (cols == ld || rows == 1) area.rows = 1, area.ld = area.cols;
    return area;
}

/* Operand A (0), B (1) or C (2), as it is stored. */
static inline tmm__area tmm__area_of_operand(const tmm__operands *o, int which)
{
    const int nA = o->opA == TMM_OP_N, nB = o->opB == TMM_OP_N;
    if (which == 0)
        return tmm__area_of(o->A, nA ? o->M : o->K, nA ? o->K : o->M, o->lda, o->element);
    if (which == 1)
        return tmm__area_of(o->B, nB ? o->K : o->N, nB ? o->N : o->K, o->ldb, o->element);
    return tmm__area_of(o->C, o->M, o->N, o->ldc, o->element_C);
}

static inline long long tmm__area_bytes(const tmm__area *a)
{
    return (a->rows - 1) * a->ld + a->cols;
}

/* Have two areas a byte in common? Matrices may lie within each other's gaps, which is never
   refused. Exact if both have one distance of rows, or one has no gaps; else the first 16 rows
   that may meet are looked at. Takes some ns. */
static inline int tmm__areas_meet(const tmm__area *a, const tmm__area *c)
{
    const long long d = (long long)(c->begin - a->begin);
    if (d >= tmm__area_bytes(a) || -d >= tmm__area_bytes(c)) return 0; /* nearly always */
    if (c->rows > a->rows) return tmm__areas_meet(c, a);
    if (a->ld == c->ld) { /* c begins in row `row` of a, at `col`, and may go on in the next one */
        const long long row = d >= 0 ? d / a->ld : -((-d - 1) / a->ld) - 1, col = d - row * a->ld;
        return (col < a->cols && row < a->rows && row + c->rows > 0) ||
               (col + c->cols > a->ld && row + 1 < a->rows && row + 1 + c->rows > 0);
    }
    const long long first = d + c->cols > 0 ? 0 : (-d - c->cols) / c->ld + 1;
    for (long long i = first; i < c->rows && i < first + 16; i++) {
        /* Where this row of c begins, and the first row of a that ends after that. */
        const long long from = d + i * c->ld;
        const long long row = from < a->cols ? 0 : (from - a->cols) / a->ld + 1;
        if (row < a->rows && row * a->ld < from + c->cols) return 1;
    }
    return 0;
}

static inline tmm_status tmm__fail_overlap(const char *X)
{
    return tmm__fail(
        TMM_ERROR_ARGUMENT,
        "C overlaps %s: each would be overwritten while it is read; no product is done "
        "in place",
        X);
}

/* An error if C has an element in common with A or B, where these are read. */
static inline tmm_status tmm__check_overlap(const tmm__operands *o)
{
    if (o->M == 0 || o->N == 0 || o->K == 0 || !o->reads_AB) return TMM_OK;
    const tmm__area C = tmm__area_of_operand(o, 2);
    for (int which = 0; which < 2; which++) {
        const tmm__area X = tmm__area_of_operand(o, which);
        if (tmm__areas_meet(&X, &C)) return tmm__fail_overlap(which == 0 ? "A" : "B");
    }
    return TMM_OK;
}

/* What all forms of GEMM ask of their arguments. */
static inline tmm_status tmm__check_gemm(const tmm__operands *o)
{
    const tmm_status status = tmm__check_sizes(o);
    return status != TMM_OK ? status : tmm__check_overlap(o);
}

/* The same for a batch: product b has X + b strides[0 or 1], in elements, and C + b strides[2].
   Looks at the first and the last X, and at what C has there. */
static inline tmm_status tmm__check_batch_overlap(const tmm__operands *o,
                                                  const long long strides[3], long long batch)
{
    if (o->M == 0 || o->N == 0 || o->K == 0 || !o->reads_AB) return TMM_OK;
    const tmm__area C = tmm__area_of_operand(o, 2);
    const long long strideC = strides[2] * (long long)o->element_C;
    for (int which = 0; which < 2; which++)
        for (int last = 0; last < 2; last++) {
            tmm__area X = tmm__area_of_operand(o, which);
            X.begin += last ? (size_t)(batch - 1) * (size_t)strides[which] *
                                  (which == 2 ? o->element_C : o->element)
                            : 0;
            const long long d = (long long)(X.begin - C.begin);
            if (d >= (batch - 1) * strideC + tmm__area_bytes(&C) || -d >= tmm__area_bytes(&X))
                continue;                          /* nearly always */
            long long b = d < 0 ? 0 : d / strideC; /* the product whose C begins before X */
            if (b > batch - 1) b = batch - 1;
            for (long long n = b; n <= b + 1 && n < batch; n++) {
                tmm__area at = C;
                at.begin += (size_t)n * (size_t)strideC;
                if (tmm__areas_meet(&X, &at)) return tmm__fail_overlap(which == 0 ? "A" : "B");
            }
        }
    return TMM_OK;
}

/* Must copies of this matrix pass through pinned memory? An error if it is device memory. */
static inline tmm_status tmm__is_staged(const char *name, const void *X, size_t bytes, int *staged)
{
    const char *ends[2] = {(const char *)X, (const char *)X + (bytes > 0 ? bytes - 1 : 0)};
    *staged = 0;
    if (X == NULL || bytes == 0) return TMM_OK;
    for (int n = 0; n < 2; n++) {
        cudaPointerAttributes attributes;
        if (!tmm__succeeded(cudaPointerGetAttributes(&attributes, ends[n]))) {
            *staged = 1; /* before CUDA 11, memory from malloc is an error */
        } else if (attributes.type == cudaMemoryTypeDevice) {
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%s is device memory, but must be host memory (tmm_?gemm and "
                             "tmm_?gemm_multi take device memory)",
                             name);
        } else if (attributes.type == cudaMemoryTypeUnregistered) {
            *staged = 1;
        }
    }
    return TMM_OK;
}

/* After a launch that failed for memory that it could not reach: names the operand that is host
   memory, as far as CUDA still answers. */
static inline tmm_status tmm__blame_operand(const tmm__operands *o, tmm_status status)
{
    const void *const matrices[3] = {o->C, o->A, o->B};
    const char *const names[3] = {"C", "A", "B"};
    int device = 0;
    if (!tmm__succeeded(cudaGetDevice(&device)) ||
        tmm__attribute(cudaDevAttrPageableMemoryAccess, device, 0))
        return status; /* this device reads host memory */
    for (int n = 0; n < (o->K > 0 && o->reads_AB ? 3 : 1); n++) {
        cudaPointerAttributes attributes;
        if (!tmm__succeeded(cudaPointerGetAttributes(&attributes, matrices[n]))) return status;
        if (attributes.type == cudaMemoryTypeUnregistered)
            return tmm__fail(status,
                             "kernel launch: the device cannot reach %s, which is host memory "
                             "(tmm_?gemm_host and tmm_?matmul take that)",
                             names[n]);
    }
    return status;
}
#endif
/* src/tiledmm/once/passes.h. How a kernel gets its instances.
   Uses: config.h. Used by: kernels/common/, kernels/. */
#ifndef TMM__ONCE
/* An instance is a kernel with its tile, stages and the like as constants. Beside each kernel
   stands the list of its instances, a line each:
       #define TMM__SMALL_LIST(_)     the pass in which it is compiled, its name, its values
           _(1, 16x16, 16, 16)
           _(2, 16x32, 16, 32)
   For each type the file includes itself once a pass (type/instances.h). Pass P compiles each kernel
   with the values of line P, if its list has one. Launchers' tables are made from the same lines.
   Each instance costs every program some tenths of a second of compile time. */

/* For #if: #if TMM__SMALL_LIST(TMM__IN_PASS) 0 asks whether there is an instance in this pass. */
#define TMM__IN_PASS(pass, ...) TMM__PASS == pass ||

/* Value number 1, 2, ... of this pass's instance: (TMM__SMALL_LIST(TMM__VALUE_2) 0) is its
   columns. */
#define TMM__HEAD(a, ...)                      a
#define TMM__VALUE_1(pass, name, ...)          TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):
#define TMM__VALUE_2(pass, name, a, ...)       TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):
#define TMM__VALUE_3(pass, name, a, b, ...)    TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):
#define TMM__VALUE_4(pass, name, a, b, c, ...) TMM__PASS == pass ? TMM__HEAD(__VA_ARGS__, 0):

/* The name of this pass's instance: TMM__INSTANCE(gemm_small_, SMALL) is tmm_sgemm_small_16x32 in
   pass 2 of float. Only where both numbers are the same does TMM__SAME_ put a second argument. */
#define TMM__SAME_11(name) , name
#define TMM__SAME_22(name) , name
#define TMM__SAME_33(name) , name
#define TMM__SAME_44(name) , name
#define TMM__SAME_55(name) , name
#define TMM__SAME_66(name) , name
#define TMM__NAME_IN_PASS(pass, ...) \
    TMM__SECOND(TMM__JOIN(TMM__SAME_##pass, TMM__PASS)(TMM__HEAD(__VA_ARGS__, 0)), , )
#define TMM__INSTANCE(function, kernel) \
    TMM__JOIN(TMM_FN(function), TMM__##kernel##_LIST(TMM__NAME_IN_PASS))

/* The first pass also compiles what a type has once. */
#define TMM__EMIT_TYPE (TMM__PASS == 1)
#endif
/* src/tiledmm/once/names.h. NAMES: what is made once for each type, and for each instance of a kernel.
   Uses: once/config.h, once/passes.h. Used by: kernels/, type/. */
#ifndef TMM__ONCE
/* Functions and structures of a type have a name at their definition and their calls that tools can
   see. x stands for the type's name, as in xGEMM: tmm__xchoice is tmm_sgemm__choice where TMM_NAME
   is s. */
#define tmm__xall_taken    TMM_FN(gemm__all_taken)
#define tmm__xallocate     TMM_FN(gemm__allocate)
#define tmm__xallowed      TMM_FN(gemm__allowed)
#define tmm__xallowed_with TMM_FN(gemm__allowed_with)
#define tmm__xarguments    TMM_FN(gemm__arguments)
#define tmm__xbatch        TMM_FN(gemm__batch)
#define tmm__xblock        TMM_FN(gemm__block)
#define tmm__xblock_kernel TMM_FN(gemm__block_kernel)

#define tmm__xcheck_batch    TMM_FN(gemm__check_batch)
#define tmm__xcheck_k        TMM_FN(gemm__check_k)
#define tmm__xcheck_part     TMM_FN(gemm__check_part)
#define tmm__xcheck_parts    TMM_FN(gemm__check_parts)
#define tmm__xcheck_prepared TMM_FN(gemm__check_prepared)
#define tmm__xcheck_reach    TMM_FN(gemm__check_reach)

#define tmm__xchoice          TMM_FN(gemm__choice)
#define tmm__xchoose          TMM_FN(gemm__choose)
#define tmm__xcompared        TMM_FN(gemm__compared)
#define tmm__xconvert         TMM_FN(gemm__convert)
#define tmm__xconvert_once    TMM_FN(gemm__convert_once)
#define tmm__xconvert_plan    TMM_FN(gemm__convert_plan)
#define tmm__xconvert_time    TMM_FN(gemm__convert_time)
#define tmm__xconverted       TMM_FN(gemm__converted)
#define tmm__xconverted_bytes TMM_FN(gemm__converted_bytes)
#define tmm__xconverted_fits  TMM_FN(gemm__converted_fits)
#define tmm__xconverted_most  TMM_FN(gemm__converted_most)
#define tmm__xcopy_one        TMM_FN(copy_one)
#define tmm__xcopy_pass       TMM_FN(copy_pass)
#define tmm__xcopy_tile       TMM_FN(copy_tile)
#define tmm__xcopy_unit       TMM_FN(copy_unit)
#define tmm__xcpu             TMM_FN(gemm__cpu)
#define tmm__xcpu_block       TMM_FN(gemm__cpu_block)

#define tmm__xdirect          TMM_FN(gemm__direct)
#define tmm__xdirect_bytes    TMM_FN(gemm__direct_bytes)
#define tmm__xdirect_competes TMM_FN(gemm__direct_competes)
#define tmm__xdirect_guess    TMM_FN(gemm__direct_guess)
#define tmm__xdirect_lines    TMM_FN(gemm__direct_lines)
#define tmm__xdirect_piece    TMM_FN(gemm__direct_piece)
#define tmm__xdirect_plan     TMM_FN(gemm__direct_plan)

#define tmm__xdivided       TMM_FN(gemm__divided)
#define tmm__xdmma          TMM_FN(dmma)
#define tmm__xdoubt_below   TMM_FN(gemm__doubt_below)
#define tmm__xdoubt_bytes   TMM_FN(gemm__doubt_bytes)
#define tmm__xouts2         TMM_FN(outs2)
#define tmm__xouts4         TMM_FN(outs4)
#define tmm__xelements4     TMM_FN(elements4)
#define tmm__xeligible      TMM_FN(gemm__eligible)
#define tmm__xfast_competes TMM_FN(gemm__fast_competes)
#define tmm__xfind_tile     TMM_FN(find_tile)
#define tmm__xfind_work     TMM_FN(find_work)
#define tmm__xfirst_launch  TMM_FN(gemm__first_launch)
#define tmm__xfits          TMM_FN(gemm__fits)

#define tmm__xfloat             TMM_FN(gemm__float)
#define tmm__xfloat_bytes       TMM_FN(gemm__float_bytes)
#define tmm__xfloat_clocks      TMM_FN(gemm__float_clocks)
#define tmm__xfloat_instance    TMM_FN(gemm__float_instance)
#define tmm__xfloat_instruction TMM_FN(gemm__float_instruction)
#define tmm__xfloat_kernel      TMM_FN(gemm__float_kernel)
#define tmm__xfloat_multiply    TMM_FN(gemm__float_multiply)
#define tmm__xfloat_odd         TMM_FN(gemm__float_odd)
#define tmm__xfloat_pieces      TMM_FN(gemm__float_pieces)
#define tmm__xfloat_place       TMM_FN(gemm__float_place)
#define tmm__xfloat_plan        TMM_FN(gemm__float_plan)

#define tmm__xfp16_operand TMM_FN(gemm__fp16_operand)

#define tmm__xgemm                TMM_FN(gemm)
#define tmm__xgemm_batched        TMM_FN(gemm_batched)
#define tmm__xgemm_batched_with   TMM_FN(gemm_batched_with)
#define tmm__xgemm_choice         TMM_FN(gemm_choice)
#define tmm__xgemm_convert        TMM_FN(gemm_convert)
#define tmm__xgemm_cpu            TMM_FN(gemm_cpu)
#define tmm__xgemm_direct         TMM_FN(gemm_direct)
#define tmm__xgemm_explain        TMM_FN(gemm_explain)
#define tmm__xgemm_float_portable TMM_FN(gemm_float_portable)
#define tmm__xgemm_global         TMM_FN(gemm_global)
#define tmm__xgemm_host           TMM_FN(gemm_host)

#define tmm__xgemm_int8_add       TMM_FN(gemm_int8_add)
#define tmm__xgemm_int8_bytes     TMM_FN(gemm_int8_bytes)
#define tmm__xgemm_int8_choice    TMM_FN(gemm_int8_choice)
#define tmm__xgemm_int8_element   TMM_FN(gemm_int8_element)
#define tmm__xgemm_int8_group     TMM_FN(gemm_int8_group)
#define tmm__xgemm_int8_integer   TMM_FN(gemm_int8_integer)
#define tmm__xgemm_int8_is_open   TMM_FN(gemm_int8_is_open)
#define tmm__xgemm_int8_load      TMM_FN(gemm_int8_load)
#define tmm__xgemm_int8_norms     TMM_FN(gemm_int8_norms)
#define tmm__xgemm_int8_open      TMM_FN(gemm_int8_open)
#define tmm__xgemm_int8_open_copy TMM_FN(gemm_int8_open_copy)
#define tmm__xgemm_int8_open_tile TMM_FN(gemm_int8_open_tile)
#define tmm__xgemm_int8_residues  TMM_FN(gemm_int8_residues)
#define tmm__xgemm_int8_scale     TMM_FN(gemm_int8_scale)
#define tmm__xgemm_int8_scales    TMM_FN(gemm_int8_scales)
#define tmm__xgemm_int8_store     TMM_FN(gemm_int8_store)
#define tmm__xgemm_int8_sums      TMM_FN(gemm_int8_sums)
#define tmm__xgemm_int8_wgmma     TMM_FN(gemm_int8_wgmma)

#define tmm__xgemm_multi          TMM_FN(gemm_multi)
#define tmm__xgemm_openmp         TMM_FN(gemm_openmp)
#define tmm__xgemm_prepare_A      TMM_FN(gemm_prepare_A)
#define tmm__xgemm_prepare_B      TMM_FN(gemm_prepare_B)
#define tmm__xgemm_prepare_memory TMM_FN(gemm_prepare_memory)
#define tmm__xgemm_reduce         TMM_FN(gemm_reduce)
#define tmm__xgemm_release        TMM_FN(gemm_release)
#define tmm__xgemm_shared_        TMM_FN(gemm_shared_)
#define tmm__xgemm_sum            TMM_FN(gemm_sum)
#define tmm__xgemm_tensor         TMM_FN(gemm_tensor)
#define tmm__xgemm_tensor_memory  TMM_FN(gemm_tensor_memory)
#define tmm__xgemm_thin_split     TMM_FN(gemm_thin_split)
#define tmm__xgemm_thin_sum       TMM_FN(gemm_thin_sum)
#define tmm__xgemm_with           TMM_FN(gemm_with)

#define tmm__xglobal_plan TMM_FN(gemm__global_plan)
#define tmm__xhalves      TMM_FN(gemm__halves)

#define tmm__xint8_best       TMM_FN(gemm__int8_best)
#define tmm__xint8_by_wgmma   TMM_FN(gemm__int8_by_wgmma)
#define tmm__xint8_competes   TMM_FN(gemm__int8_competes)
#define tmm__xint8_convert    TMM_FN(gemm__int8_convert)
#define tmm__xint8_fp64       TMM_FN(gemm__int8_fp64)
#define tmm__xint8_instance   TMM_FN(gemm__int8_instance)
#define tmm__xhalf__instance  TMM_FN(gemm__half_instance)
#define tmm__xhalf__wgmma     TMM_FN(gemm__half_wgmma_instance)
#define tmm__xhalf_align      TMM_FN(gemm__half_align)
#define tmm__xhalf_boxed      TMM_FN(gemm__half_boxed)
#define tmm__xhalf_by_wgmma   TMM_FN(gemm__half_by_wgmma)
#define tmm__xhalf_ld         TMM_FN(gemm__half_ld)
#define tmm__xhalf_make_map   TMM_FN(gemm__half_make_map)
#define tmm__xhalf_mma_plan   TMM_FN(gemm__half_mma_plan)
#define tmm__xhalf_run_wgmma  TMM_FN(gemm__half_run_wgmma)
#define tmm__xhalf_wgmma      TMM_FN(gemm__half_wgmma)
#define tmm__xhalf_wgmma_plan TMM_FN(gemm__half_wgmma_plan)
#define tmm__xmap_maker       TMM_FN(gemm__map_maker)
#define tmm__xhalf_begin      TMM_FN(half_begin)
#define tmm__xhalf_chunk      TMM_FN(half_chunk)
#define tmm__xhalf_copy       TMM_FN(half_copy)
#define tmm__xhalf_lines      TMM_FN(half_lines)
#define tmm__xhalf_load       TMM_FN(half_load)
#define tmm__xhalf_mma        TMM_FN(half_mma)
#define tmm__xint8_launch     TMM_FN(gemm__int8_launch)
#define tmm__xint8_multiply   TMM_FN(gemm__int8_multiply)
#define tmm__xint8_part       TMM_FN(int8_part)
#define tmm__xint8_parts      TMM_FN(gemm__int8_parts)
#define tmm__xint8_place      TMM_FN(gemm__int8_place)
#define tmm__xint8_plan       TMM_FN(gemm__int8_plan)
#define tmm__xint8_prepare    TMM_FN(gemm__int8_prepare)
#define tmm__xint8_products   TMM_FN(gemm__int8_products)
#define tmm__xint8_run        TMM_FN(gemm__int8_run)
#define tmm__xint8_takes      TMM_FN(gemm__int8_takes)

#define tmm__xkernel        TMM_FN(gemm__kernel)
#define tmm__xknown_plan    TMM_FN(gemm__known_plan)
#define tmm__xlda           TMM_FN(gemm__lda)
#define tmm__xldb           TMM_FN(gemm__ldb)
#define tmm__xleast_element TMM_FN(gemm__least_element)
#define tmm__xleft_out      TMM_FN(gemm__left_out)
#define tmm__xload          TMM_FN(gemm__load)
#define tmm__xload2         TMM_FN(load2)
#define tmm__xload4         TMM_FN(load4)
#define tmm__xload_if       TMM_FN(load_if)
#define tmm__xmake_product  TMM_FN(gemm__make_product)
#define tmm__xmatmul        TMM_FN(matmul)
#define tmm__xmemory        TMM_FN(gemm__memory)
#define tmm__xmirror        TMM_FN(syrk__mirror_launch)

#define tmm__xnarrow            TMM_FN(gemm__narrow)
#define tmm__xnarrow__operands  TMM_FN(narrow__operands)
#define tmm__xnarrow_competes   TMM_FN(gemm__narrow_competes)
#define tmm__xnarrow_fits       TMM_FN(gemm__narrow_fits)
#define tmm__xnarrow_operands   TMM_FN(gemm__narrow_operands)
#define tmm__xnarrow_parts_time TMM_FN(gemm__narrow_parts_time)
#define tmm__xnarrow_plan       TMM_FN(gemm__narrow_plan)
#define tmm__xnarrow_step       TMM_FN(gemm__narrow_step)

#define tmm__xno_options TMM_FN(gemm__no_options)

#define tmm__xouter           TMM_FN(gemm__outer)
#define tmm__xouter__instance TMM_FN(outer__instance)
#define tmm__xouter_competes  TMM_FN(gemm__outer_competes)
#define tmm__xouter_guess     TMM_FN(gemm__outer_guess)
#define tmm__xouter_measured  TMM_FN(gemm__outer_measured)
#define tmm__xouter_plan      TMM_FN(gemm__outer_plan)

#define tmm__xoverlaps      TMM_FN(gemm__overlaps)
#define tmm__xpack          TMM_FN(pack)
#define tmm__xpack_operands TMM_FN(gemm__pack)
#define tmm__xpartials      TMM_FN(gemm__partials)

#define tmm__xpipelined__instance    TMM_FN(pipelined__instance)
#define tmm__xpipelined_add_partials TMM_FN(pipelined_add_partials)
#define tmm__xpipelined_clear        TMM_FN(pipelined_clear)
#define tmm__xpipelined_copies       TMM_FN(pipelined_copies)
#define tmm__xpipelined_copy_advance TMM_FN(pipelined_copy_advance)
#define tmm__xpipelined_copy_begin   TMM_FN(pipelined_copy_begin)
#define tmm__xpipelined_copy_first   TMM_FN(pipelined_copy_first)
#define tmm__xpipelined_copy_next    TMM_FN(pipelined_copy_next)
#define tmm__xpipelined_fill         TMM_FN(pipelined_fill)
#define tmm__xpipelined_find_place   TMM_FN(pipelined_find_place)
#define tmm__xpipelined_find_work    TMM_FN(pipelined_find_work)
#define tmm__xpipelined_fragment     TMM_FN(pipelined_fragment)
#define tmm__xpipelined_instance     TMM_FN(gemm__pipelined_instance)
#define tmm__xpipelined_multiply     TMM_FN(pipelined_multiply)
#define tmm__xpipelined_place        TMM_FN(pipelined_place)
#define tmm__xpipelined_plan         TMM_FN(gemm__pipelined_plan)
#define tmm__xpipelined_send         TMM_FN(pipelined_send)
#define tmm__xpipelined_stage        TMM_FN(pipelined_stage)
#define tmm__xpipelined_store        TMM_FN(pipelined_store)
#define tmm__xpipelined_tiles        TMM_FN(gemm__pipelined_tiles)

#define tmm__xplan_by        TMM_FN(gemm__plan_by)
#define tmm__xplanned        TMM_FN(gemm__planned)
#define tmm__xprepare        TMM_FN(gemm__prepare)
#define tmm__xprepared_bytes TMM_FN(gemm__prepared_bytes)
#define tmm__xproduct        TMM_FN(gemm__product)
#define tmm__xreaches        TMM_FN(gemm__reaches)

#define tmm__xrecheck         TMM_FN(recheck)
#define tmm__xrecheck_add     TMM_FN(recheck_add)
#define tmm__xrecheck_copy    TMM_FN(recheck_copy)
#define tmm__xrecheck_count   TMM_FN(recheck_count)
#define tmm__xrecheck_element TMM_FN(recheck_element)
#define tmm__xrecheck_find    TMM_FN(recheck_find)
#define tmm__xrecheck_first   TMM_FN(recheck_first)
#define tmm__xrecheck_flush   TMM_FN(recheck_flush)
#define tmm__xrecheck_fp32    TMM_FN(recheck_fp32)
#define tmm__xrecheck_list    TMM_FN(recheck_list)
#define tmm__xrecheck_tile    TMM_FN(recheck_tile)

#define tmm__xregister_competes TMM_FN(gemm__register_competes)
#define tmm__xregister_plan     TMM_FN(gemm__register_plan)
#define tmm__xregister_tile     TMM_FN(gemm__register_tile)
#define tmm__xresolve           TMM_FN(gemm__resolve)
#define tmm__xrow               TMM_FN(gemm__row)
#define tmm__xrun               TMM_FN(gemm__run)
#define tmm__xscale_bounds      TMM_FN(gemm__scale_bounds)
#define tmm__xshared_competes   TMM_FN(gemm__shared_competes)
#define tmm__xshared_plan       TMM_FN(gemm__shared_plan)
#define tmm__xshared_takes      TMM_FN(gemm__shared_takes)
#define tmm__xsimple_competes   TMM_FN(gemm__simple_competes)

#define tmm__xskinny           TMM_FN(gemm__skinny)
#define tmm__xskinny__instance TMM_FN(skinny__instance)
#define tmm__xskinny_competes  TMM_FN(gemm__skinny_competes)
#define tmm__xskinny_costs     TMM_FN(gemm__skinny_costs)
#define tmm__xskinny_fits      TMM_FN(gemm__skinny_fits)
#define tmm__xskinny_plan      TMM_FN(gemm__skinny_plan)
#define tmm__xskinny_takes     TMM_FN(gemm__skinny_takes)

#define tmm__xsmall           TMM_FN(gemm__small)
#define tmm__xsmall__instance TMM_FN(small__instance)
#define tmm__xsmall_block     TMM_FN(gemm__small_block)
#define tmm__xsmall_costs     TMM_FN(gemm__small_costs)
#define tmm__xsmall_launch    TMM_FN(gemm__small_launch)
#define tmm__xsmall_least     TMM_FN(small_least)
#define tmm__xsmall_plan      TMM_FN(gemm__small_plan)
#define tmm__xsmall_take      TMM_FN(gemm__small_take)

#define tmm__xsplit      TMM_FN(gemm__split)
#define tmm__xsquare     TMM_FN(square)
#define tmm__xstands_for TMM_FN(gemm__stands_for)
#define tmm__xstore2     TMM_FN(store2)
#define tmm__xstore4     TMM_FN(store4)

#define tmm__xstore_if     TMM_FN(store_if)
#define tmm__xstore_masked TMM_FN(store_masked)
#define tmm__xstore_row    TMM_FN(store_row)
#define tmm__xstore_rows   TMM_FN(store_rows)
#define tmm__xstore_sums   TMM_FN(store_sums)

#define tmm__xsum      TMM_FN(gemm__sum)
#define tmm__xsum_time TMM_FN(gemm__sum_time)
#define tmm__xsums2    TMM_FN(sums2)
#define tmm__xsums4    TMM_FN(sums4)

#define tmm__xhas_triangles     TMM_FN(syrk__has_triangles)
#define tmm__xmatrices          TMM_FN(syrk__matrices)
#define tmm__xsome              TMM_FN(syrk__some)
#define tmm__xstrip             TMM_FN(syrk__strip)
#define tmm__xstrip_rows        TMM_FN(syrk__strip_rows)
#define tmm__xstrips            TMM_FN(syrk__strips)
#define tmm__xsyrk              TMM_FN(syrk)
#define tmm__xsyrk_batched_with TMM_FN(syrk_batched_with)
#define tmm__xsyrk_begin        TMM_FN(syrk__begin)
#define tmm__xsyrk_choice       TMM_FN(syrk__choice)
#define tmm__xsyrk_cpu          TMM_FN(syrk_cpu)
#define tmm__xsyrk_mirror       TMM_FN(syrk_mirror)
#define tmm__xsyrk_with         TMM_FN(syrk_with)

#define tmm__xtakes TMM_FN(gemm__takes)

#define tmm__xtensor            TMM_FN(gemm__tensor)
#define tmm__xtensor_competes   TMM_FN(gemm__tensor_competes)
#define tmm__xtensor_fits       TMM_FN(gemm__tensor_fits)
#define tmm__xtensor_lines_fit  TMM_FN(gemm__tensor_lines_fit)
#define tmm__xtensor_pays       TMM_FN(gemm__tensor_pays)
#define tmm__xtensor_plan       TMM_FN(gemm__tensor_plan)
#define tmm__xtensor_short_last TMM_FN(gemm__tensor_short_last)
#define tmm__xtensor_takes      TMM_FN(gemm__tensor_takes)
#define tmm__xtensor_tiles      TMM_FN(gemm__tensor_tiles)
#define tmm__xtensor_within     TMM_FN(gemm__tensor_within)

#define tmm__xthin          TMM_FN(gemm__thin)
#define tmm__xthin_bytes    TMM_FN(gemm__thin_bytes)
#define tmm__xthin_cols     TMM_FN(gemm__thin_cols)
#define tmm__xthin_fits     TMM_FN(gemm__thin_fits)
#define tmm__xthin_job      TMM_FN(gemm__thin_job)
#define tmm__xthin_kernel   TMM_FN(gemm__thin_kernel)
#define tmm__xthin_launch   TMM_FN(gemm__thin_launch)
#define tmm__xthin_plan     TMM_FN(gemm__thin_plan)
#define tmm__xthin_products TMM_FN(gemm__thin_products)
#define tmm__xthin_time     TMM_FN(gemm__thin_time)
#define tmm__xthin_tiles    TMM_FN(gemm__thin_tiles)
#define tmm__xthin_width    TMM_FN(gemm__thin_width)
#define tmm__xtiles         TMM_FN(gemm__tiles)
#define tmm__xtiles_plan    TMM_FN(gemm__tiles_plan)
#define tmm__xvalue         TMM_FN(value)
#define tmm__xvector        TMM_FN(vector)
#define tmm__xvector_sums   TMM_FN(vector_sums)

#define tmm__xwgmma_cols_       TMM_FN(wgmma_cols_)
#define tmm__xwgmma_copy_       TMM_FN(wgmma_copy_)
#define tmm__xwgmma_multiply_   TMM_FN(wgmma_multiply_)
#define tmm__xwgmma_place       TMM_FN(wgmma_place)
#define tmm__xwgmma_readers_    TMM_FN(wgmma_readers_)
#define tmm__xwgmma_ring        TMM_FN(wgmma_ring)
#define tmm__xwgmma_rows_       TMM_FN(wgmma_rows_)
#define tmm__xwgmma_scale_range TMM_FN(wgmma_scale_range)
#define tmm__xwgmma_scales      TMM_FN(wgmma_scales)
#define tmm__xwgmma_stages_     TMM_FN(wgmma_stages_)

#define tmm__xwrite_kernels TMM_FN(gemm__write_kernels)
#define tmm__xwrite_plan    TMM_FN(gemm__write_plan)

/* The same of the instance that is compiled in this pass: tmm__gemm_small is tmm_sgemm_small_16x32 in
   pass 2 of float. */
#define tmm__fetch_quad          TMM__INSTANCE(fetch_quad_, REGISTER)
#define tmm__gemm_float_mma      TMM__INSTANCE(gemm_float_mma_, MMA)
#define tmm__gemm_float_thin     TMM__INSTANCE(gemm_float_thin_, THIN)
#define tmm__gemm_float_wgmma    TMM__INSTANCE(gemm_float_wgmma_, WGMMA_KERNEL)
#define tmm__gemm_int8_mma       TMM__INSTANCE(gemm_int8_mma_, INT8_MMA)
#define tmm__gemm_int8_mma_bytes TMM__INSTANCE(gemm_int8_mma_bytes_, INT8_MMA)
#define tmm__gemm_int8_mma_copy  TMM__INSTANCE(gemm_int8_mma_copy_, INT8_MMA)

#define tmm__gemm_narrow      TMM__INSTANCE(gemm_narrow_, NARROW)
#define tmm__gemm_outer       TMM__INSTANCE(gemm_outer_, OUTER)
#define tmm__gemm_pipelined   TMM__INSTANCE(gemm_pipelined, PIPELINED)
#define tmm__gemm_register    TMM__INSTANCE(gemm_register_, REGISTER)
#define tmm__gemm_skinny      TMM__INSTANCE(gemm_skinny_, SKINNY)
#define tmm__gemm_small       TMM__INSTANCE(gemm_small_, SMALL)
#define tmm__gemm_half_wgmma  TMM__INSTANCE(gemm_half_wgmma_, HALF_WGMMA)
#define tmm__half_wgmma_bytes TMM__INSTANCE(half_wgmma_bytes_, HALF_WGMMA)
#define tmm__xhalf_sum        TMM_FN(half_sum)
#define tmm__gemm_half        TMM__INSTANCE(gemm_half_, HALF)
#define tmm__half_bytes       TMM__INSTANCE(half_bytes_, HALF)
#define tmm__gemm_tensor      TMM__INSTANCE(gemm_tensor_, TENSOR)

#define tmm__mma_copies  TMM__INSTANCE(mma_copies_, MMA)
#define tmm__mma_copy    TMM__INSTANCE(mma_copy_, MMA)
#define tmm__mma_edge    TMM__INSTANCE(mma_edge_, MMA)
#define tmm__mma_recheck TMM__INSTANCE(mma_recheck_, MMA)
#define tmm__mma_store   TMM__INSTANCE(mma_store_, MMA)

#define tmm__narrow_add    TMM__INSTANCE(narrow_add_, NARROW)
#define tmm__narrow_copy_P TMM__INSTANCE(narrow_copy_P_, NARROW)
#define tmm__narrow_copy_Q TMM__INSTANCE(narrow_copy_Q_, NARROW)
#define tmm__narrow_store  TMM__INSTANCE(narrow_store_, NARROW)

#define tmm__outer_bytes     TMM__INSTANCE(outer_bytes_, OUTER)
#define tmm__outer_cols      TMM__INSTANCE(outer_cols_, OUTER)
#define tmm__outer_copy      TMM__INSTANCE(outer_copy_, OUTER)
#define tmm__outer_lda       TMM__INSTANCE(outer_lda_, OUTER)
#define tmm__outer_ldb       TMM__INSTANCE(outer_ldb_, OUTER)
#define tmm__outer_warp_rows TMM__INSTANCE(outer_warp_rows_, OUTER)

#define tmm__put_quad TMM__INSTANCE(put_quad_, REGISTER)
#define tmm__quad     TMM__INSTANCE(quad_, REGISTER)

#define tmm__skinny_along_k    TMM__INSTANCE(skinny_along_k_, SKINNY)
#define tmm__skinny_bytes      TMM__INSTANCE(skinny_bytes_, SKINNY)
#define tmm__skinny_copy_L     TMM__INSTANCE(skinny_copy_L_, SKINNY)
#define tmm__skinny_depth      TMM__INSTANCE(skinny_depth_, SKINNY)
#define tmm__skinny_grain      TMM__INSTANCE(skinny_grain_, SKINNY)
#define tmm__skinny_k_step     TMM__INSTANCE(skinny_k_step_, SKINNY)
#define tmm__skinny_lanes      TMM__INSTANCE(skinny_lanes_, SKINNY)
#define tmm__skinny_least      TMM__INSTANCE(skinny_least_, SKINNY)
#define tmm__skinny_lines      TMM__INSTANCE(skinny_lines_, SKINNY)
#define tmm__skinny_pitch      TMM__INSTANCE(skinny_pitch_, SKINNY)
#define tmm__skinny_ring       TMM__INSTANCE(skinny_ring_, SKINNY)
#define tmm__skinny_share_sums TMM__INSTANCE(skinny_share_sums_, SKINNY)
#define tmm__skinny_stage      TMM__INSTANCE(skinny_stage_, SKINNY)
#define tmm__skinny_stages     TMM__INSTANCE(skinny_stages_, SKINNY)
#define tmm__skinny_store      TMM__INSTANCE(skinny_store_, SKINNY)
#define tmm__skinny_sums       TMM__INSTANCE(skinny_sums_, SKINNY)
#define tmm__skinny_width      TMM__INSTANCE(skinny_width_, SKINNY)

#define tmm__small_add        TMM__INSTANCE(small_add_, SMALL)
#define tmm__small_blocks     TMM__INSTANCE(small_blocks_, SMALL)
#define tmm__small_bytes      TMM__INSTANCE(small_bytes_, SMALL)
#define tmm__small_copy       TMM__INSTANCE(small_copy_, SMALL)
#define tmm__small_elements   TMM__INSTANCE(small_elements_, SMALL)
#define tmm__small_lda        TMM__INSTANCE(small_lda_, SMALL)
#define tmm__small_ldb        TMM__INSTANCE(small_ldb_, SMALL)
#define tmm__small_ldc        TMM__INSTANCE(small_ldc_, SMALL)
#define tmm__small_leave_sums TMM__INSTANCE(small_leave_sums_, SMALL)
#define tmm__small_part       TMM__INSTANCE(small_part_, SMALL)
#define tmm__small_ring       TMM__INSTANCE(small_ring_, SMALL)
#define tmm__small_stage      TMM__INSTANCE(small_stage_, SMALL)
#define tmm__small_sums       TMM__INSTANCE(small_sums_, SMALL)
#define tmm__small_warp       TMM__INSTANCE(small_warp_, SMALL)

#define tmm__tensor_add_partials  TMM__INSTANCE(tensor_add_partials_, TENSOR)
#define tmm__tensor_by_cluster    TMM__INSTANCE(tensor_by_cluster_, TENSOR)
#define tmm__tensor_clear         TMM__INSTANCE(tensor_clear_, TENSOR)
#define tmm__tensor_copied_k      TMM__INSTANCE(tensor_copied_k_, TENSOR)
#define tmm__tensor_copy          TMM__INSTANCE(tensor_copy_, TENSOR)
#define tmm__tensor_leave_sums    TMM__INSTANCE(tensor_leave_sums_, TENSOR)
#define tmm__tensor_load_A        TMM__INSTANCE(tensor_load_A_, TENSOR)
#define tmm__tensor_load_B        TMM__INSTANCE(tensor_load_B_, TENSOR)
#define tmm__tensor_move_up       TMM__INSTANCE(tensor_move_up_, TENSOR)
#define tmm__tensor_open          TMM__INSTANCE(tensor_open_, TENSOR)
#define tmm__tensor_send          TMM__INSTANCE(tensor_send_, TENSOR)
#define tmm__tensor_store_cluster TMM__INSTANCE(tensor_store_cluster_, TENSOR)
#define tmm__tensor_store_lines   TMM__INSTANCE(tensor_store_lines_, TENSOR)
#define tmm__tensor_store_part    TMM__INSTANCE(tensor_store_part_, TENSOR)
#define tmm__tensor_store_rows    TMM__INSTANCE(tensor_store_rows_, TENSOR)
#define tmm__tensor_store_tile    TMM__INSTANCE(tensor_store_tile_, TENSOR)

#define tmm__this_mma_bytes   TMM__INSTANCE(mma_bytes_, MMA)
#define tmm__thin_cols        TMM__INSTANCE(thin_cols_, THIN)
#define tmm__this_thin_bytes  TMM__INSTANCE(thin_bytes_, THIN)
#define tmm__this_wgmma_bytes TMM__INSTANCE(wgmma_bytes_, WGMMA)

#define tmm__wgmma_add           TMM__INSTANCE(wgmma_add_, WGMMA)
#define tmm__wgmma_add_parts     TMM__INSTANCE(wgmma_add_parts_, WGMMA)
#define tmm__wgmma_begin         TMM__INSTANCE(wgmma_begin_, WGMMA)
#define tmm__wgmma_cols          TMM__INSTANCE(wgmma_cols_, WGMMA)
#define tmm__wgmma_copy          TMM__INSTANCE(wgmma_copy_, WGMMA)
#define tmm__wgmma_count_part    TMM__INSTANCE(wgmma_count_part_, WGMMA)
#define tmm__wgmma_exchange      TMM__INSTANCE(wgmma_exchange_, WGMMA)
#define tmm__wgmma_finish        TMM__INSTANCE(wgmma_finish_, WGMMA)
#define tmm__wgmma_large         TMM__INSTANCE(wgmma_large_, WGMMA)
#define tmm__wgmma_multiply      TMM__INSTANCE(wgmma_multiply_, WGMMA)
#define tmm__wgmma_next_row      TMM__INSTANCE(wgmma_next_row_, WGMMA)
#define tmm__wgmma_readers       TMM__INSTANCE(wgmma_readers_, WGMMA)
#define tmm__wgmma_rows          TMM__INSTANCE(wgmma_rows_, WGMMA)
#define tmm__wgmma_small         TMM__INSTANCE(wgmma_small_, WGMMA)
#define tmm__wgmma_stages        TMM__INSTANCE(wgmma_stages_, WGMMA)
#define tmm__wgmma_store_checked TMM__INSTANCE(wgmma_store_checked_, WGMMA)
#define tmm__wgmma_store_row     TMM__INSTANCE(wgmma_store_row_, WGMMA)
#define tmm__wgmma_store_rows    TMM__INSTANCE(wgmma_store_rows_, WGMMA)
#define tmm__wgmma_sum_halves    TMM__INSTANCE(wgmma_sum_halves_, WGMMA)
#define tmm__wgmma_sum_pairs     TMM__INSTANCE(wgmma_sum_pairs_, WGMMA)
#endif
/* src/tiledmm/launch/hooks.h. What tests define otherwise, before a type is made: all of it is here.
   Uses: once/. Used by: plan.h, product.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* The predicted time of a plan, which has the number of its instance, how K is cut (TMM__PLAN_WHOLE
   and so on) and the slices of a tile. bench/shapes forces plans by it, one by one. */
#ifndef TMM__PLAN_GUESS
#define TMM__PLAN_GUESS(instance, cut, slices, time) (time)
#define TMM__REMEMBERS                               1
#else
#define TMM__REMEMBERS 0 /* the choice of TMM_AUTO, which such a guess may change */
#endif
#endif

#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* How many blocks KERNEL SMALL and SKINNY should have at least, and KERNEL THIN FLOAT at most: a test acts
   a large device. */
#ifndef TMM__BUSY
#define TMM__BUSY(processors) (processors)
#endif
/* Nanoseconds without packed operands and with them. A test packs always. */
#ifndef TMM__WORTH_PACKING
#define TMM__WORTH_PACKING(without, with) ((with) < (without))
#endif
/* What an instance of KERNEL TENSOR should take, by its number: a test prefers one. */
#ifndef TMM__TENSOR_GUESS
#define TMM__TENSOR_GUESS(M, instance, time) (time)
#endif
/* 1: the flags of partial tiles are cleared before each launch. They need no such thing, but
   compute-sanitizer's initcheck cannot know that. */
#ifndef TMM__CLEAR_FLAGS
#define TMM__CLEAR_FLAGS 0
#endif
/* KERNEL TENSOR FLOAT: what an instance should take, of which a test prefers one. By which
   instruction (tmm__float_instruction). Bytes of A and B from which blocks keep together. Whether
   doubtful elements may go by BF16x6. */
#ifndef TMM__FLOAT_GUESS
#define TMM__FLOAT_GUESS(instance, time) (time)
#endif
#ifndef TMM__FLOAT_INSTRUCTION
#define TMM__FLOAT_INSTRUCTION(instruction) (instruction)
#endif
/* Whether KERNEL THIN FLOAT competes: a test on the CPU runner takes it there. */
#ifndef TMM__FLOAT_THIN
#define TMM__FLOAT_THIN(by_wgmma) (by_wgmma)
#endif
#ifndef TMM__FLOAT_L2_BYTES
#define TMM__FLOAT_L2_BYTES tmm__tuned()->fp16.l2_bytes
#endif
#ifndef TMM__FLOAT_BF16X6
#define TMM__FLOAT_BF16X6(allowed) (allowed)
#endif
/* KERNEL TENSOR INT8: bytes of its workspace; k of a launch; moduli (0: the device chooses); the
   number of its instance; whether KERNEL TENSOR computes products for which FP64 was chosen. */
#ifndef TMM__INT8_BUDGET
#define TMM__INT8_BUDGET(bytes) (bytes)
#endif
#ifndef TMM__INT8_DEPTH
#define TMM__INT8_DEPTH(most) (most)
#endif
#ifndef TMM__INT8_FIXED
#define TMM__INT8_FIXED(moduli) (moduli)
#endif
#ifndef TMM__INT8_INSTANCE
#define TMM__INT8_INSTANCE(instance) (instance)
#endif
#ifndef TMM__INT8_FP64
#define TMM__INT8_FP64(pays) (pays)
#endif
/* syrk by kernels without a schedule for triangles: rows of a strip, bytes of the squares on the
   diagonal that are kept at once. */
#ifndef TMM__SYRK_ROWS
#define TMM__SYRK_ROWS(rows) (rows)
#endif
#ifndef TMM__SYRK_BYTES
#define TMM__SYRK_BYTES(most) (most)
#endif
#endif
/* src/tiledmm/launch/plan.h. PLAN: how a product is launched, and how tiles and steps are
   divided; the words of it.
   Uses: hooks.h, once/. Used by: product.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* What KERNEL SMALL takes if there is no memory for slices. */
typedef struct tmm__unsplit {
    const void *kernel;
    int tile_m, tile_n, bytes, team_log2;
} tmm__unsplit;

/* What a kernel's plan decides, and all that its launcher has to know besides the product. It
   has no pointer to operands or workspaces, so it serves every product of its sizes, strides and
   alignment. What a kernel does not need is 0. */
typedef struct tmm__plan {
    tmm_kernel value;
    int instance;       /* its number, as hooks have it */
    const void *kernel; /* the instance that is launched */
    double time;        /* nanoseconds that it should take */
    int cut, slices; /* how the k of a tile are divided, TMM__PLAN_WHOLE and so on, in how many */
    int tile_m, tile_n; /* of C, for each block; of a warp in SMALL; of an element in DIRECT */
    long long blocks;   /* of a product and slice; OUTER: along N */
    int threads, bytes; /* of a block: its shared memory, at most, where stages are fewer */
    int modeA, modeB;   /* PIPELINED, TENSOR: how operands are copied, TMM__ALONG_K and so on */
    int off_sectors;    /* TENSOR: what the instance is told of that, see tmm__xtensor_within */
    int team_log2;      /* SMALL: warps that divide the k of a tile; DIRECT: threads of a group */
    int cluster_log2, layout; /* DIRECT: blocks that have the k of the same groups; see there */
    int rest;                 /* TENSOR of 16 bits: tiles of a triangle that are left */
    int depth;                /* OUTER: k in shared memory, 0: none */
    int down;                 /* OUTER: blocks along M; NARROW: the tile, see tmm__narrow */
    int turned;               /* NARROW, SKINNY: C is narrow along N; along M */
    tmm__unsplit unsplit;     /* SMALL */
    long long pitchA, pitchB; /* PIPELINED, TENSOR: of operands that are packed; 0: it is not */
    tmm__schedule s;          /* PIPELINED, TENSOR, TENSOR FLOAT */
} tmm__plan;

#if TMM__FAST
/* What is to be divided, and among what. */
typedef struct tmm__division {
    int tiles_down, tiles_across, steps; /* the tiles of C, and the steps along K of each */
    int triangle, squares, ratio_log2;   /* see once/triangle.cuh */
    int processors, blocks;              /* multiprocessors, and blocks that fit on one */
    int large;                           /* tiles of 128 x 128, not half of that */
    int data_parallel;                   /* integers: whole tiles first, see KERNEL PIPELINED */
    int cut_k;                           /* whether a tile may be cut along K */
    const tmm__block_costs *costs;       /* of KERNEL PIPELINED */
    const int *clusters;                 /* how many of n blocks fit on the device at once */
    tmm__load load;                      /* with whole tiles */
} tmm__division;

/* Tiles of C, or of a triangle of it. */
static inline void tmm__divide(tmm__division *d, int triangle, long long M, long long N, int tile_m,
                               int tile_n)
{
    const tmm__tiling t = tmm__tile(triangle, M, N, tile_m, tile_n);
    d->tiles_down = (int)t.down, d->tiles_across = (int)t.across;
    d->triangle = triangle, d->squares = t.squares, d->ratio_log2 = t.ratio_log2;
}

/* Each block has whole tiles. Returns how many blocks that is, at most `most_blocks`. */
static inline int tmm__plan_whole(tmm__schedule *s, const tmm__division *d, int most_blocks)
{
    int tiles = d->tiles_down * d->tiles_across;
    memset(s, 0, sizeof *s);
    s->tiles_down = d->tiles_down;
    s->tiles_across = d->tiles_across;
    s->steps = d->steps;
#ifdef TMM_WITH_SYRK
    s->triangle = d->triangle, s->squares = d->squares, s->ratio_log2 = d->ratio_log2;
#endif
    return tiles < most_blocks ? tiles : most_blocks;
}

static inline double tmm__slices_time(const tmm__division *d, const tmm__block_costs *costs,
                                      int depth, int slices)
{
    tmm__load load = d->load;
    load.blocks *= slices;
    load.k = (double)depth * ((d->steps + slices - 1) / slices);
    return tmm__launch_time(costs, &load);
}

/* Is a division of instance plan->instance faster, in `time`, than the plan so far? Then it is
   the plan's. */
static inline int tmm__is_faster(tmm__plan *plan, int cut, int slices, double time)
{
    time = TMM__PLAN_GUESS(plan->instance, cut, slices, time);
    if (time >= plan->time) return 0;
    plan->time = time, plan->cut = cut, plan->slices = slices;
    return 1;
}
#endif

/* A text is written as far as there is room; `length` counts all of it. */
typedef struct tmm__text {
    char *text;
    size_t bytes, length;
} tmm__text;

static inline void tmm__write(tmm__text *t, const char *format, ...)
{
    const size_t room = t->length < t->bytes ? t->bytes - t->length : 0;
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(room > 0 ? t->text + t->length : NULL, room, format, arguments);
    va_end(arguments);
    if (written > 0) t->length += (size_t)written;
}

/* Which of the times that no kernel can do without is the longest: of the launch; of memory or
   L2 for all operands; of L2 for what tiles copy; of arithmetic. */
static inline const char *tmm__bound(const tmm__load *load)
{
    const tmm__device *device = tmm__current_device();
    const double processors = device->processors, steps = load->blocks * load->k;
    const double rate = tmm__rate(device->capability, load->family, load->type);
    const int cached = load->bytes + load->c_bytes < device->gpu.l2_bytes;
    const double operands = tmm__memory_time(load);
    const double copies =
        tmm__in_nanoseconds(load->copied * steps / (tmm__tuned()->l2 * processors));
    const double units = tmm__in_nanoseconds(load->area * steps / (rate * processors));
    const double most = fmax(fmax(device->gpu.launch, operands), fmax(copies, units));
    if (most == units) return "arithmetic";
    if (most == copies || (most == operands && cached)) return "L2";
    return most == operands ? "memory" : "launch";
}

/* How k is divided, by plan->cut. */
static inline void tmm__write_cut(tmm__text *t, const tmm__plan *plan)
{
    static const char *const cuts[] = {"threads",
                                       "slices, which a block adds",
                                       "slices, which a second launch adds",
                                       "slices of a cluster",
                                       "slices of the last tiles",
                                       "even shares for all blocks"};
    if (plan->cut == TMM__PLAN_EVEN)
        tmm__write(t, ", k in %s", cuts[plan->cut]);
    else if (plan->slices > 1)
        tmm__write(t, ", k in %d %s", plan->slices, cuts[plan->cut]);
    if (plan->pitchA + plan->pitchB > 0)
        tmm__write(t, ", %s packed", plan->pitchB == 0 ? "A" : plan->pitchA == 0 ? "B" : "A and B");
}

/* The current device, or the one of tmm__gpus whose name has the word `gpu` in it. 0 if there is
   none. */
static inline int tmm__pretend(const char *gpu, tmm__device *device, tmm__kernel_facts *kernels)
{
    const int count = (int)(sizeof tmm__gpus / sizeof *tmm__gpus);
    *device = *tmm__current_device();
    if (gpu == NULL) return 1;
    memset(kernels, 0, TMM__KNOWN_KERNELS * sizeof *kernels);
    device->kernels = kernels;
    for (int n = 0; n < count; n++) {
        if (strstr(tmm__gpus[n].device, gpu) == NULL) continue;
        device->gpu = tmm__gpus[n];
        device->processors = tmm__gpus[n].processors, device->capability = tmm__gpus[n].capability;
        /* Shared memory of a block, by the CUDA C++ Programming Guide. */
        device->shared = (device->capability >= 90 && device->capability < 120 ? 227
                          : device->capability == 80                           ? 163
                                                                               : 99) *
                         1024;
        device->pools = 1;
        return 1;
    }
    return 0;
}
#endif
/* src/tiledmm/kernels/pipelined/plan.h. PLAN of KERNEL PIPELINED: how tiles and steps are divided.
   Uses: launch/, once/. Used by: launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__ONCE)
/* As tmm__plan_whole, but with even shares of the tiles of the last rounds (stream-K), which takes memory for
   partial tiles. s->streamk_tiles is 0 if it would gain nothing. */
static inline int tmm__plan_even(tmm__schedule *s, const tmm__division *d, int most_blocks)
{
    int tiles = d->tiles_down * d->tiles_across, rest = tiles % most_blocks;
    int blocks = tmm__plan_whole(s, d, most_blocks);
    /* Little to gain where the last round is nearly full; and no steps cannot be shared out. */
    if (d->steps == 0 || rest == 0 || rest > 0.98 * most_blocks) return blocks;
    s->streamk_tiles = tiles < most_blocks ? tiles : most_blocks + rest;
    long long streamk_steps = (long long)s->streamk_tiles * d->steps;
    if (tiles < most_blocks) most_blocks = (int)tmm__min(most_blocks, streamk_steps / 8);
    if (streamk_steps <= INT_MAX && most_blocks > blocks - (tiles >= most_blocks))
        return most_blocks;
    s->streamk_tiles = 0;
    return blocks;
}

/* Takes the division that should be fastest: whole tiles, each tile in so many whole slices, by
   clusters or without, or even shares. Sets the schedule of plan->instance, the blocks to launch and
   the time. */
static inline void tmm__plan_pipelined(tmm__plan *plan, const tmm__division *d)
{
    const int depth = 8;
    const tmm__costs *t = tmm__tuned();
    const int per = d->blocks, large = d->large, steps = d->steps, processors = d->processors;
    const tmm__block_costs *costs = d->costs;
    const double tiles = (double)d->tiles_down * d->tiles_across, most = (double)per * processors;
    const double clock = tmm__in_nanoseconds(1);
    tmm__schedule *s = &plan->s;
    int blocks = tmm__plan_whole(s, d, (int)most);
    plan->time = HUGE_VAL, plan->cut = TMM__PLAN_WHOLE, plan->slices = 1;
    (void)tmm__is_faster(plan, TMM__PLAN_WHOLE, 1, tmm__slices_time(d, costs, depth, 1));
    for (int turns = 1; d->cut_k && turns <= per; turns++) {
        const int slices = (int)tmm__min((long long)(turns * processors / tiles), steps / 4);
        const int reduce = slices >= t->pipelined.reduce_from;
        if (slices < 2) continue;
        const double guess =
            tmm__slices_time(d, costs, depth, slices) +
            clock * (reduce ? t->pipelined.reduce[large]
                            : t->pipelined.cut + slices * t->pipelined.cut_slice[large]);
        (void)tmm__is_faster(plan, reduce ? TMM__PLAN_REDUCE : TMM__PLAN_SLICES, slices, guess);
    }
    /* Clusters of 3, 5, 6 or 7 blocks are not spread evenly over the multiprocessors, and of more
       than two large tiles were slow. */
    int most_slices = large ? 2 : TMM__MOST_CLUSTER;
    for (int slices = 2; d->cut_k && slices <= most_slices && steps >= 4 * slices; slices *= 2) {
        const double rounds = ceil(tiles * slices / processors);
        double guess = tmm__slices_time(d, costs, depth, slices) + clock * t->pipelined.cluster;
        guess += clock * rounds * t->pipelined.cluster_round[large] * (slices - 1) / slices;
        if (tiles > d->clusters[slices]) continue;
        if (tmm__is_faster(plan, TMM__PLAN_CLUSTERS, slices, guess)) s->cluster = slices;
    }
    if (plan->slices > 1) {
        s->streamk_tiles = (int)tiles;
        s->reduce = s->cluster > 0 || plan->slices >= t->pipelined.reduce_from;
        blocks = (int)tiles * plan->slices;
    }
    if (d->cut_k && tiles * steps >= 8 * most) {
        tmm__load load = d->load;
        load.blocks = fmax(tiles, most), load.k = tiles * steps * depth / load.blocks;
        load.even = 1;
        double guess = tmm__launch_time(costs, &load);
        guess +=
            clock * (t->pipelined.even[large] + t->pipelined.even_partial[large] * most / tiles);
        guess = TMM__PLAN_GUESS(plan->instance, TMM__PLAN_EVEN, 1, guess);
        tmm__schedule shares;
        int more = guess < plan->time ? tmm__plan_even(&shares, d, (int)most) : 0;
        if (more > 0 && shares.streamk_tiles > 0) {
            *s = shares, blocks = more;
            plan->time = guess, plan->cut = TMM__PLAN_EVEN, plan->slices = 1;
        }
    }
    /* Many tiles with few steps: one a block, so that some begin while others end. */
    if (s->streamk_tiles == 0 && !large && steps <= 32) blocks = (int)tiles;
    s->streamk_blocks = blocks;
    if (d->data_parallel && tiles >= 2 * most) {
        int rest = (int)tiles % (int)most, shared = rest > 0 && rest <= 0.9 * most;
        s->streamk_tiles = s->streamk_blocks = 0;
        blocks = (int)tiles;
        if (d->cut_k && steps > 0 && shared && (most + rest) * steps <= INT_MAX) {
            s->streamk_blocks = (int)most;
            s->streamk_tiles = s->streamk_blocks + rest;
            blocks -= rest;
        }
    }
    plan->blocks = blocks;
}
#endif
/* src/tiledmm/kernels/tensor/plan.h. PLAN of KERNEL TENSOR: how tiles and steps are divided.
   Uses: sizes.h, launch/plan.h, once/. Used by: launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__ONCE)
/* An instance of KERNEL TENSOR. */
typedef struct tmm__tensor_instance {
    int tile_m, tile_n, warps;
    int width;  /* elements to a copy */
    int blocks; /* to a multiprocessor */
    int turns;  /* its tile can be tile_n x tile_m, too */
    const void *kernel;
} tmm__tensor_instance;

/* Its costs. Of an instance that was not measured: of the first one, by the area. */
static inline tmm__block_costs tmm__tensor_costs(const tmm__tensor_instance *i)
{
    const tmm__costs *t = tmm__tuned();
    for (int n = 0; n < TMM__TUNED_TENSOR; n++)
        if (t->tensor.instances[n].tile_m == i->tile_m &&
            t->tensor.instances[n].tile_n == i->tile_n && t->tensor.instances[n].width == i->width)
            return t->tensor.instances[n].block;
    return tmm__scaled(&t->tensor.instances[0].block,
                       (double)i->tile_m * i->tile_n /
                           (t->tensor.instances[0].tile_m * t->tensor.instances[0].tile_n));
}

/* Bytes of A and B that memory gives again, since L2 has lost them. Tiles with the same rows or
   columns that begin at the same k read these at the same time: memory gives them once. Even shares
   begin anywhere. The n tiles of a row read a part of A at n times. These are spread over the launch
   like events of a Poisson process: the bytes that go by between two of them are more than L2 keeps
   with a chance of exp(-n kept / all). */
static inline double tmm__again(const tmm__division *d)
{
    const double A = d->load.a_bytes, B = d->load.bytes - A;
    const double kept = tmm__tuned()->tensor.even_held * tmm__current_device()->gpu.l2_bytes;
    const double each = kept / (A + B);
    return A * (d->tiles_across - 1) * exp(-d->tiles_across * each) +
           B * (d->tiles_down - 1) * exp(-d->tiles_down * each);
}

/* Nanoseconds that `work` multiply-adds take longer at the clock that power leaves, see tuning.h.
   L2 gives `copied` bytes for each tile and k, which has `area` multiply-adds. */
static inline double tmm__power_time(double work, double area, double copied)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const double rate = tmm__rate(device->capability, TMM__COST_TENSOR, TMM__TUNED_AS_DOUBLE);
    const double busy = fmin(1, copied * rate / (area * t->l2)); /* part of L2 */
    const double time = work / (rate * device->processors * device->gpu.clock);
    return t->tensor.power * fmax(0, 2 * busy - 1) * fmax(0, time - t->tensor.power_from);
}

/* Slices of each tile by clusters, if they should take less than the plan so far: as many as one or
   two blocks a multiprocessor allow. Clusters do not fill all of these, for the blocks of one are
   neighbours. */
static inline void tmm__plan_tensor_clusters(tmm__plan *plan, const tmm__division *d,
                                             const tmm__block_costs *costs)
{
    const tmm__costs *t = tmm__tuned();
    const int tiles = d->tiles_down * d->tiles_across, steps = d->steps;
    for (int per = 1; per <= 2 && (long long)tiles * steps <= INT_MAX; per++) {
        int n = (int)tmm__min(TMM__MOST_CLUSTER, steps / 4);
        while (n >= 2 && tiles > per * d->clusters[n]) n--;
        if (n < 2) continue;
        const int each = (steps + n - 1) / n;
        while (n > 2 && (steps + n - 2) / (n - 1) == each && tiles <= per * d->clusters[n - 1]) n--;
        tmm__division spread = *d;
        spread.load.processors = fmin(d->load.processors, (double)n * d->clusters[n]);
        const double sums = per * t->tensor.cluster_round * d->load.area * (n - 1) / n;
        const double guess = tmm__slices_time(&spread, costs, TMM__TENSOR_DEPTH, n) +
                             tmm__in_nanoseconds(t->tensor.cluster + sums);
        if (!tmm__is_faster(plan, TMM__PLAN_CLUSTERS, n, guess)) continue;
        plan->blocks = plan->s.streamk_blocks = tiles * n;
        plan->s.streamk_tiles = tiles;
        plan->s.cluster = n;
        plan->s.reduce = 0;
    }
}

/* How KERNEL TENSOR is to compute the tiles of `d`, each product in load.blocks / tiles: sets the
   schedule of plan->instance, the blocks to launch for each product and the time. */
static inline void tmm__plan_tensor(tmm__plan *plan, const tmm__tensor_instance *i,
                                    const tmm__division *d)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__block_costs costs = tmm__tensor_costs(i);
    const int processors = d->processors, steps = d->steps, depth = TMM__TENSOR_DEPTH;
    const double clock = tmm__in_nanoseconds(1);
    tmm__schedule *s = &plan->s;
    int slots = (i->blocks < 2 ? i->blocks : 2) * processors;
    int tiles = d->tiles_down * d->tiles_across;
    double area = (double)i->tile_m * i->tile_n;
    plan->blocks = tmm__plan_whole(s, d, INT_MAX);
    plan->time = HUGE_VAL, plan->cut = TMM__PLAN_WHOLE, plan->slices = 1;
    (void)tmm__is_faster(plan, TMM__PLAN_WHOLE, 1, tmm__slices_time(d, &costs, depth, 1));
    if (!d->cut_k || steps == 0) return;
    /* So many slices of each that one, two or more blocks a multiprocessor run at once, as few as have
       no more steps. The block with the first one adds up the others; or KERNEL REDUCE does, of small
       tiles. */
    const int small = i->tile_m <= 64 && i->tile_n <= 64;
    for (int per = 1; per <= i->blocks && (long long)tiles * steps <= INT_MAX; per++) {
        int n = (int)tmm__min(per * processors / tiles, steps / 4);
        if (n < 2) continue;
        const int each = (steps + n - 1) / n;
        n = (steps + each - 1) / each;
        const double split = tmm__slices_time(d, &costs, depth, n);
        for (int reduce = n > TMM__MOST_SLICES; reduce <= (small && n >= 4); reduce++) {
            double more = t->tensor.slices + t->tensor.slice * area * (n - 1);
            if (reduce)
                more = t->tensor.reduce + n * (n >= t->tensor.reduce_wide_from
                                                   ? t->tensor.reduce_slice_wide
                                                   : t->tensor.reduce_slice);
            if (!tmm__is_faster(plan, reduce ? TMM__PLAN_REDUCE : TMM__PLAN_SLICES, n,
                                split + clock * more))
                continue;
            plan->blocks = s->streamk_blocks = tiles * n;
            s->streamk_tiles = tiles;
            s->reduce = reduce;
        }
    }
    if (small) tmm__plan_tensor_clusters(plan, d, &costs);
    /* Whole tiles but for those of a last, short round: of these so many slices each that all run
       at once; the block with the first one adds up the others. */
    int rest = tiles % processors;
    int slices = rest > 0 ? (int)tmm__min(processors / rest, TMM__MOST_SLICES) : 1;
    if (i->blocks == 1 && tiles > processors && slices > 1 && steps >= 8 * slices &&
        (long long)rest * steps <= INT_MAX) {
        tmm__load load = d->load;
        load.blocks = tiles - rest;
        const double guess =
            tmm__launch_time(&costs, &load) +
            clock * (costs.k[TMM__MOST_RESIDENT] * depth * steps / slices + costs.more +
                     t->tensor.last + t->tensor.last_slice * (slices - 1));
        if (tmm__is_faster(plan, TMM__PLAN_LAST_ROUND, slices, guess)) {
            plan->blocks = tiles - rest + rest * slices;
            s->streamk_tiles = rest;
            s->streamk_blocks = rest * slices;
            s->reduce = s->cluster = 0;
        }
    }
    /* Even shares of the tiles of the last rounds. */
    int streamk_tiles = tiles < slots ? tiles : slots + tiles % slots;
    long long streamk_steps = (long long)streamk_tiles * steps;
    if (streamk_steps <= INT_MAX && streamk_steps / slots >= 8) {
        tmm__load load = d->load;
        load.blocks = tiles < slots ? slots : tiles, load.even = 1;
        load.k = t->tensor.even_step * tiles * steps * depth / load.blocks;
        if (slots % tiles != 0) load.bytes += tmm__again(d) * streamk_tiles / tiles;
        double guess = tmm__launch_time(&costs, &load);
        guess += clock * (t->tensor.even +
                          t->tensor.even_partial * area *
                              (tiles < slots ? (double)slots / tiles : (double)tiles / slots));
        if (tmm__is_faster(plan, TMM__PLAN_EVEN, 1, guess)) {
            plan->blocks = s->streamk_blocks = slots;
            s->streamk_tiles = streamk_tiles;
            s->reduce = s->cluster = 0;
        }
    }
}
#endif
/* src/tiledmm/host/job.h. HOST MACHINERY: how tmm_?gemm_host works; its structs.
   Uses: once/. Used by: host/, type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* What tmm_?gemm_host does, for elements of any type. The calling thread makes all calls to CUDA.
   Helper threads only copy host memory.

   Each device computes some rows of C, in blocks. A block C(i, j) is the sum of A(i, k) B(k, j)
   over the parts k of K, in ascending order:

                     B(k, j)                 Where K is cut (tmm__k_begin) depends on K and the size
                    +--+--+--+  FIRST        of an element alone, never on memory. Every kernel used
                    |  |##|  |               sums in ascending k. So the bits of an element depend
              K     +--+--+--+               on its row of A, its column of B and K alone.
                    |  |  |  |  DEPTH
          K         +--+--+--+
         +--+--+    +--+--+--+
   A(i,k)|##|  |    |  |##|  | C(i, j)       task = (i, j, k); each device has a list of tasks
         +--+--+    +--+--+--+

   No kernel starts before a part of B has arrived. So the first part of K is short
   (TMM__HOST_FIRST); its arithmetic lasts until the second has arrived. The last part is deep: C
   leaves the device while that part is multiplied.

   Two cursors go along the list of tasks:
     request   finds slots for the operands of a task and starts the copies into them. A part that a
               slot holds already stays there; otherwise the slot whose last use is oldest is taken.
     launch    starts the kernels of tasks whose copies have been started.
   Nothing beyond the request cursor is on any stream, so that cancelling is quick. It is at most
   4 TMM__AHEAD tasks ahead of the launch cursor, and that TMM__AHEAD ahead of what is complete.
   Streams of a device:

     in        A(0,0) B(0,0) | B(0,1) | A(1,0) | ...    ready: an event for each slot
     compute 0                | C(0,0) |        | C(1,0) ...    used: one for each slot and stream
     compute 1                         | C(0,1) |       ...     (the next owner waits for it)
     out                               | C(0,0) | C(0,1) ...    drained: the slot of C is free

   Order of the tasks, if A and B fit on the device: growing squares. Each new row or column of
   blocks uses all that has arrived. If C fits as well, one part of K follows the other. Half of the
   arithmetic can then be done with half of A and B, by squares alone a quarter. If A and B do not
   fit, a group of block rows of A stays while B passes, to and fro: the last columns serve twice.

   If several devices hold all of B, each uploads a share of its parts, and the others copy these
   from there. Parts are uploaded in the order in which tasks need them, by the devices in turn.

   Pageable memory passes through a ring of pinned chunks. Helper threads copy between it and the
   chunks while other chunks are copied to and from devices. */

/* Tests make these smaller. */
#ifndef TMM__HOST_PITCH
#define TMM__HOST_PITCH INT_MAX /* bytes from line to line in one copy, at most: CUDA's limit */
#endif
#ifndef TMM__HOST_DEPTH
#define TMM__HOST_DEPTH 4096 /* of a part of K, at most; the bits depend on it */
#endif
#ifndef TMM__HOST_FIRST
#define TMM__HOST_FIRST 1536 /* depth of a short first part; the bits depend on it */
#endif
#ifndef TMM__HOST_CHUNK
#define TMM__HOST_CHUNK (4 << 20) /* bytes of a pinned chunk */
#endif
#ifndef TMM__MULTI_COLUMNS
#define TMM__MULTI_COLUMNS 512 /* of B that tmm_?gemm_multi gathers at a time, at least */
#endif
enum { TMM__MAX_STREAMS = 4, TMM__MAX_THREADS = 16, TMM__MAX_DEVICES = 64, TMM__AHEAD = 8 };
enum { TMM__HOST_LINE = 65536 }; /* bytes of a line of a block of B and C, where N allows */

#ifdef _WIN32
#define TMM__THREADS      0 /* the calling thread copies */
#define TMM__YIELD()      ((void)0)
#define TMM__LOCK(lock)   ((void)0)
#define TMM__UNLOCK(lock) ((void)0)
#else
#define TMM__THREADS      1
#define TMM__YIELD()      ((void)sched_yield())
#define TMM__LOCK(lock)   ((void)pthread_mutex_lock(lock))
#define TMM__UNLOCK(lock) ((void)pthread_mutex_unlock(lock))
#endif

static inline tmm_status tmm__add_device(int device, tmm_status status)
{
    char text[256];
    if (status == TMM_OK) return status;
    memcpy(text, tmm__message(), sizeof text);
    return tmm__fail(status, "device %d: %s", device, text);
}

/* A CUDA error as a status that names the device; `what` is the call that returned it. */
static inline tmm_status tmm__device_error(int device, cudaError_t error, const char *what)
{
    if (tmm__succeeded(error)) return TMM_OK;
    if (error == cudaErrorInvalidDevice)
        return tmm__fail(TMM_ERROR_DEVICE, "device %d: %s: %s", device, what,
                         cudaGetErrorString(error));
    return tmm__add_device(device, tmm__cuda(error, what));
}

/* Words that have one meaning in host/:
     part       of K: A and B are cut along K in the same places; also A(i, k) or B(k, j) itself
     block      bm x bn elements of C
     slot       device memory for a part of A or B; a block slot is for a block of C
     worker     a device of the list, its rows of C and all that it works with
     group      block rows of A that stay on a device while B passes
     rank       number of a worker among those that share the upload of B
     transfer   a copy between host memory and a slot; staged: through chunks
     chunk      a piece of pinned memory in the ring
     helper     a thread that copies between pageable memory and chunks */

/* A product of device memory: C = alpha op(A) op(B) + (adds ? 1 : beta) C. */
typedef struct tmm__block_product {
    long long M, N, K;
    const void *A, *B;
    void *C;
    long long lda, ldb, ldc;
    int adds;
} tmm__block_product;

/* What the caller wants. */
typedef struct tmm__job {
    tmm_op opA, opB;
    long long M, N, K; /* K is 0 if A and B are not read */
    size_t size;       /* of an element of A and B */
    size_t size_C;
    long long depth; /* of a part of K, at most */
    const char *A, *B;
    char *C;
    long long lda, ldb, ldc;
    const void *alpha, *beta;
    int reads_C;
    tmm_kernel kernel;
    int allowed; /* TMM__PACK: kernels may take memory for packed operands */
    /* Enqueues a product with the job's type, ops, alpha, beta and kernel. */
    tmm_status (*launch)(const struct tmm__job *job, const tmm__block_product *block,
                         tmm_stream stream);
} tmm__job;

typedef struct tmm__transfer {
    struct tmm__transfer *next;
    char *device_memory, *host;
    size_t device_pitch, host_pitch, width, rows;
    size_t chunks;               /* that it takes; 0: not staged */
    size_t begun, started, done; /* chunks that have been assigned, are on a stream, are complete */
    cudaStream_t stream;
    cudaEvent_t event; /* recorded after the copy */
    int issued;        /* `event` has been recorded */
} tmm__transfer;

/* Device memory for a part of A or B. */
typedef struct tmm__slot {
    char *memory;
    long long holds;    /* number of the part, or -1 */
    long long last_use; /* the last task known to need it */
    tmm__transfer copy;
    cudaEvent_t used[TMM__MAX_STREAMS];
    int in_use; /* bit s: used[s] has been recorded */
} tmm__slot;

typedef enum tmm__block_state { TMM__FREE, TMM__FILLING, TMM__DRAINING } tmm__block_state;

/* Device memory for a block of C. */
typedef struct tmm__block_slot {
    char *memory;
    tmm__block_state state;
    long long i, j;
    tmm__transfer in, out;
    cudaEvent_t computed;
} tmm__block_slot;

typedef struct tmm__task {
    int i, j, k;
} tmm__task;

/* How a device works on its rows. */
typedef struct tmm__layout {
    long long rows;       /* of C */
    long long bm, bn;     /* rows and columns of a block */
    long long ni, nj, nk; /* block rows, block columns, parts of K */
    long long nA, nB, nC; /* slots */
    long long first_run;  /* parts of K in the first run over all of C; each other part has a run */
    long long group;      /* block rows; 0: all of A and B is resident, each part in its own slot */
    size_t bytesA, bytesB; /* of the largest part */
    size_t pitchC, bytesC; /* of a block */
    size_t bytes;          /* of all slots */
} tmm__layout;

typedef struct tmm__worker {
    int number;         /* in the list of devices */
    int device;         /* CUDA's number */
    int rank;           /* among the workers that share B */
    long long uploaded; /* parts of its share of B for which copies have been started */
    long long row;      /* the first of C */
    tmm__layout layout;
    char *memory;
    cudaMemPool_t pool; /* of the memory; NULL: it is from cudaMalloc */
    tmm__slot *A, *B;
    tmm__block_slot *C;
    long long *slot_of_A, *slot_of_B, *slot_of_C; /* of each part and block; -1: none */
    tmm__task *tasks;
    long long task_count, requested, launched, blocks_done;
    cudaStream_t in, peer, out, compute[TMM__MAX_STREAMS];
    cudaEvent_t start, launch_done[TMM__AHEAD]; /* a ring: of the last TMM__AHEAD tasks launched */
    int started;
    tmm__transfer *uploads, **uploads_end;     /* staged transfers that wait for chunks */
    tmm__transfer *downloads, **downloads_end; /* likewise; `end` is where the next is linked */
    long long issued[2], arrived[2];           /* chunks put on streams: down, up; complete */
    double seconds, bytes_in, bytes_peer, bytes_out;
} tmm__worker;

typedef enum tmm__chunk_state {
    TMM__IDLE,
    TMM__COPYING_IN, /* host memory to chunk, by a helper */
    TMM__GOING_UP,   /* chunk to device */
    TMM__GOING_DOWN, /* device to chunk */
    TMM__COPYING_OUT /* chunk to host memory, by a helper */
} tmm__chunk_state;

typedef struct tmm__chunk {
    char *memory;
    tmm__chunk_state state;
    int copied;       /* set by the helper when it has finished */
    long long number; /* among the worker's chunks in this direction, which complete in order */
    tmm__worker *worker;
    tmm__transfer *transfer;
    char *host, *device_memory;
    size_t width, rows;
    cudaEvent_t *events; /* one for each device, made when first used */
} tmm__chunk;

/* The helper threads and their queue. */
typedef struct tmm__helpers {
    int threads, quit;
    int first, waiting; /* in the queue */
    tmm__chunk *queue[2 * TMM__MAX_THREADS];
#if TMM__THREADS
    pthread_t thread[TMM__MAX_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t wake;
#endif
} tmm__helpers;

typedef struct tmm__host {
    tmm__job job;
    const tmm_host_options *options;
    int count; /* devices of the list */
    int peers; /* workers that share the upload of B; 0: each uploads all of it */
    int active[TMM__MAX_DEVICES]; /* list numbers of those that have rows, by rank */
    unsigned char reach[TMM__MAX_DEVICES][TMM__MAX_DEVICES]; /* [to][from] by peer copies */
    int streams;
    tmm__worker *workers;
    long long needed; /* position of the last part of B that some task has needed */
    int staged_A, staged_B, staged_C;
    char *pinned;
    size_t pinned_bytes;
    int chunk_count;
    int next_worker; /* that may get a chunk */
    tmm__chunk chunks[2 * TMM__MAX_THREADS];
    tmm__helpers helpers;
    double done; /* elements of C */
} tmm__host;
#endif
/* src/tiledmm/host/memory.h. Memory that is kept for the next call.
   Uses: job.h, once/. Used by: host/, callers. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* One record for the program, of pinned memory, which is slow to allocate. Device memory stays
   in the pools. */
typedef struct tmm__kept_memory {
    void *pinned;
    size_t bytes;
    int at_exit;    /* tmm_host_release will be called at the end of the program */
    unsigned pools; /* bit n: the pool of device n keeps more than TMM__RELEASE_THRESHOLD */
#if TMM__THREADS
    pthread_mutex_t lock;
#endif
} tmm__kept_memory;

inline tmm__kept_memory *tmm__kept(void)
{
#if TMM__THREADS
    static tmm__kept_memory kept = {NULL, 0, 0, 0, PTHREAD_MUTEX_INITIALIZER};
#else
    static tmm__kept_memory kept;
#endif
    return &kept;
}

TMM_API void tmm_host_release(void);

/* Pinned memory begins with a page that holds this number. cudaDeviceReset frees it without
   telling this header, and the address may then belong to somebody else. CUDA says whether
   memory there is pinned, the number whether it is ours. */
enum { TMM__PINNED_HEAD = 4096 };
static inline unsigned long long tmm__pinned_mark(const void *pinned)
{
    return (size_t)pinned ^ 0x9E3779B97F4A7C15ull;
}

static inline int tmm__still_pinned(const void *pinned)
{
    cudaPointerAttributes attributes;
    return pinned != NULL && tmm__succeeded(cudaPointerGetAttributes(&attributes, pinned)) &&
           attributes.type == cudaMemoryTypeHost &&
           *(const unsigned long long *)pinned == tmm__pinned_mark(pinned);
}

/* Bytes that a device's pool holds and nobody uses. */
static inline size_t tmm__pool_idle(int device)
{
    unsigned long long reserved = 0, used = 0;
    cudaMemPool_t pool = tmm__pool(device);
    if (pool == NULL ||
        !tmm__succeeded(
            cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved)) ||
        !tmm__succeeded(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used)))
        return 0;
    return reserved > used ? (size_t)(reserved - used) : 0;
}

static inline void *tmm__kept_exchange(void *pinned, size_t bytes, size_t *old_bytes)
{
    tmm__kept_memory *kept = tmm__kept();
    TMM__LOCK(&kept->lock);
    void *old = kept->pinned;
    *old_bytes = kept->bytes;
    kept->pinned = pinned;
    kept->bytes = bytes;
    if (pinned != NULL && !kept->at_exit) kept->at_exit = atexit(tmm_host_release) == 0;
    TMM__UNLOCK(&kept->lock);
    return old;
}

/* Lets a device's pool keep `bytes` more than TMM__RELEASE_THRESHOLD. 1 on success. */
static inline int tmm__pool_keep(int device, unsigned long long bytes)
{
    tmm__kept_memory *kept = tmm__kept();
    cudaMemPool_t pool = tmm__pool(device);
    bytes += TMM__RELEASE_THRESHOLD;
    if (pool == NULL ||
        !tmm__succeeded(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes)))
        return 0;
    TMM__LOCK(&kept->lock);
    kept->pools =
        bytes > TMM__RELEASE_THRESHOLD ? kept->pools | 1u << device : kept->pools & ~(1u << device);
    TMM__UNLOCK(&kept->lock);
    return 1;
}

TMM_API void tmm_host_release(void)
{
    tmm__kept_memory *kept = tmm__kept();
    size_t bytes;
    void *pinned = tmm__kept_exchange(NULL, 0, &bytes);
    if (tmm__still_pinned(pinned)) (void)tmm__succeeded(cudaFreeHost(pinned));
    TMM__LOCK(&kept->lock);
    unsigned pools = kept->pools;
    TMM__UNLOCK(&kept->lock);
    for (int device = 0; pools >> device != 0; device++)
        if (pools >> device & 1 && tmm__pool_keep(device, 0))
            (void)tmm__succeeded(cudaMemPoolTrimTo(tmm__pool(device), TMM__RELEASE_THRESHOLD));
}

/* Memory of the current device, in the order of `stream`; from *pool, the device's, if it has
   one. The pool keeps it for the next call, up to an eighth of the device's memory: mapping it
   anew is slow. */
static inline cudaError_t tmm__device_memory(char **memory, size_t bytes, cudaMemPool_t *pool,
                                             cudaStream_t stream)
{
    size_t free_bytes = 0, total = 0;
    int device = tmm__current_device()->number;
    *pool = tmm__current_device()->pools ? tmm__pool(device) : NULL;
    if (*pool != NULL) {
        if (tmm__pool_idle(device) < bytes) (void)tmm__succeeded(cudaMemPoolTrimTo(*pool, 0));
        if (tmm__succeeded(cudaMemGetInfo(&free_bytes, &total)) &&
            tmm__pool_keep(device, tmm__min((long long)bytes, (long long)(total / 8))) &&
            tmm__succeeded(cudaMallocFromPoolAsync((void **)memory, bytes, *pool, stream)))
            return cudaSuccess;
        *pool = NULL;
        *memory = NULL;
    }
    cudaError_t error = cudaMalloc((void **)memory, bytes);
    if (error != cudaSuccess) *memory = NULL;
    return error;
}

static inline void tmm__device_memory_free(char *memory, cudaMemPool_t pool, cudaStream_t stream)
{
    if (memory == NULL) return;
    if (pool == NULL) {
        (void)tmm__succeeded(cudaFree(memory));
        return;
    }
    (void)tmm__succeeded(cudaFreeAsync(memory, stream));
    (void)tmm__succeeded(cudaStreamSynchronize(stream));
}

/* An event without a time, and a stream, unless there was an error. */
static inline cudaError_t tmm__event_open(cudaError_t error, cudaEvent_t *event)
{
    return error != cudaSuccess ? error : cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

static inline cudaError_t tmm__stream_open(cudaError_t error, cudaStream_t *stream)
{
    return error != cudaSuccess ? error : cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

static inline void tmm__stream_close(cudaStream_t stream)
{
    if (stream != NULL) (void)tmm__succeeded(cudaStreamDestroy(stream));
}

static inline void tmm__event_close(cudaEvent_t event)
{
    if (event != NULL) (void)tmm__succeeded(cudaEventDestroy(event));
}
#endif
/* src/tiledmm/host/threads.h. Helper threads that copy between pageable memory and the pinned ring.
   Uses: job.h, once/config.h. Used by: devices.h, transfer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
static inline void tmm__copy_chunk(tmm__chunk *c)
{
    size_t pitch = c->transfer->host_pitch;
    for (size_t row = 0; row < c->rows; row++) {
        if (c->state == TMM__COPYING_IN)
            memcpy(c->memory + row * c->width, c->host + row * pitch, c->width);
        else
            memcpy(c->host + row * pitch, c->memory + row * c->width, c->width);
    }
}

#if TMM__THREADS
static inline void *tmm__helper_work(void *argument)
{
    tmm__helpers *helpers = (tmm__helpers *)argument;
    pthread_mutex_lock(&helpers->lock);
    for (;;) {
        /* Waking up takes as long as copying half a chunk: poll for a while before sleeping. */
        if (helpers->waiting == 0 && !helpers->quit) {
            pthread_mutex_unlock(&helpers->lock);
            for (int n = 0; n < 1000 && __atomic_load_n(&helpers->waiting, __ATOMIC_RELAXED) == 0;
                 n++)
                sched_yield();
            pthread_mutex_lock(&helpers->lock);
        }
        while (helpers->waiting == 0 && !helpers->quit)
            pthread_cond_wait(&helpers->wake, &helpers->lock);
        if (helpers->quit) break;
        tmm__chunk *chunk = helpers->queue[helpers->first];
        helpers->first = (helpers->first + 1) % (2 * TMM__MAX_THREADS);
        __atomic_store_n(&helpers->waiting, helpers->waiting - 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&helpers->lock);
        tmm__copy_chunk(chunk);
        __atomic_store_n(&chunk->copied, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&helpers->lock);
    }
    pthread_mutex_unlock(&helpers->lock);
    return NULL;
}
#endif

/* With none, the calling thread copies. */
static inline void tmm__helpers_start(tmm__helpers *helpers, int threads)
{
    helpers->threads = 0;
#if TMM__THREADS
    if (pthread_mutex_init(&helpers->lock, NULL) != 0) return;
    if (pthread_cond_init(&helpers->wake, NULL) != 0) {
        pthread_mutex_destroy(&helpers->lock);
        return;
    }
    while (helpers->threads < threads &&
           pthread_create(&helpers->thread[helpers->threads], NULL, tmm__helper_work, helpers) == 0)
        helpers->threads++;
    if (helpers->threads == 0) {
        pthread_cond_destroy(&helpers->wake);
        pthread_mutex_destroy(&helpers->lock);
    }
#else
    (void)threads;
#endif
}

static inline void tmm__helpers_stop(tmm__helpers *helpers)
{
    if (helpers->threads == 0) return;
#if TMM__THREADS
    pthread_mutex_lock(&helpers->lock);
    helpers->quit = 1;
    pthread_cond_broadcast(&helpers->wake);
    pthread_mutex_unlock(&helpers->lock);
    for (int n = 0; n < helpers->threads; n++) pthread_join(helpers->thread[n], NULL);
    pthread_cond_destroy(&helpers->wake);
    pthread_mutex_destroy(&helpers->lock);
#endif
    helpers->threads = 0;
}

/* tmm__chunk_copied says when the helper has copied it. */
static inline void tmm__helpers_copy(tmm__helpers *helpers, tmm__chunk *chunk)
{
    chunk->copied = 0;
    if (helpers->threads == 0) {
        tmm__copy_chunk(chunk);
        chunk->copied = 1;
        return;
    }
#if TMM__THREADS
    pthread_mutex_lock(&helpers->lock);
    helpers->queue[(helpers->first + helpers->waiting) % (2 * TMM__MAX_THREADS)] = chunk;
    __atomic_store_n(&helpers->waiting, helpers->waiting + 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&helpers->wake);
    pthread_mutex_unlock(&helpers->lock);
#endif
}

static inline int tmm__chunk_copied(const tmm__chunk *chunk)
{
#if TMM__THREADS
    return __atomic_load_n(&chunk->copied, __ATOMIC_ACQUIRE);
#else
    return chunk->copied;
#endif
}

/* How many helpers to start; 0: one for each processor. */
static inline int tmm__helpers_count(int threads)
{
    long processors = 1;
    if (threads > 0) return threads;
#if TMM__THREADS && defined(_SC_NPROCESSORS_ONLN)
    processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    if (processors > TMM__MAX_THREADS) processors = TMM__MAX_THREADS;
    return processors < 1 ? 1 : (int)processors;
}
#endif
/* src/tiledmm/host/transfer.h. Copies between host and device, staged ones in chunks.
   Uses: host/, once/. Used by: host/. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* 1 or 0, or -1 with a status. CUDA puts "not ready" on record as an error, in place of an older
   one, which is lost then. */
static inline int tmm__complete(const tmm__worker *w, cudaEvent_t event, tmm_status *status)
{
    cudaError_t error = cudaEventQuery(event);
    if (tmm__succeeded(error)) return 1;
    if (error == cudaErrorNotReady) return 0;
    *status = tmm__device_error(w->device, error, "kernel or copy");
    return -1;
}

/* In one piece if lines have no gaps, one by one if their pitch is too large for a 2D copy. */
static inline cudaError_t tmm__copy_lines(char *to, size_t to_pitch, const char *from,
                                          size_t from_pitch, size_t width, size_t rows,
                                          cudaMemcpyKind kind, cudaStream_t stream)
{
    if (rows == 1 || (to_pitch == width && from_pitch == width))
        return cudaMemcpyAsync(to, from, width * rows, kind, stream);
    if (to_pitch <= TMM__HOST_PITCH && from_pitch <= TMM__HOST_PITCH)
        return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, stream);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < rows && error == cudaSuccess; row++)
        error = cudaMemcpyAsync(to + row * to_pitch, from + row * from_pitch, width, kind, stream);
    return error;
}

/* Records the event after the copy. */
static inline tmm_status tmm__record(tmm__worker *w, tmm__transfer *t)
{
    t->issued = 1;
    return tmm__device_error(w->device, cudaEventRecord(t->event, t->stream), "cudaEventRecord");
}

/* Starts a copy to the device (up) or from it. A staged one is queued for tmm__pump. */
static inline tmm_status tmm__transfer_start(tmm__worker *w, tmm__transfer *t, int up, int staged)
{
    t->next = NULL;
    t->issued = 0;
    t->begun = t->started = t->done = t->chunks = 0;
    *(up ? &w->bytes_in : &w->bytes_out) += (double)t->width * (double)t->rows;
    if (!staged) {
        cudaError_t error =
            up ? tmm__copy_lines(t->device_memory, t->device_pitch, t->host, t->host_pitch,
                                 t->width, t->rows, cudaMemcpyHostToDevice, t->stream)
               : tmm__copy_lines(t->host, t->host_pitch, t->device_memory, t->device_pitch,
                                 t->width, t->rows, cudaMemcpyDeviceToHost, t->stream);
        if (error != cudaSuccess)
            return tmm__device_error(w->device, error,
                                     up ? "copy to the device" : "copy from the device");
        return tmm__record(w, t);
    }
    size_t lines = TMM__HOST_CHUNK / t->width;
    t->chunks = lines > 0 ? (t->rows + lines - 1) / lines
                          : t->rows * ((t->width + TMM__HOST_CHUNK - 1) / TMM__HOST_CHUNK);
    tmm__transfer ***end = up ? &w->uploads_end : &w->downloads_end;
    **end = t;
    *end = &t->next;
    return TMM_OK;
}

/* The next piece of a staged transfer: whole lines, or a piece of a line that is longer than a
   chunk. */
static inline void tmm__chunk_assign(tmm__transfer *t, tmm__chunk *c)
{
    size_t lines = TMM__HOST_CHUNK / t->width, row, offset = 0;
    if (lines > 0) {
        row = t->begun * lines;
        c->rows = t->rows - row < lines ? t->rows - row : lines;
        c->width = t->width;
    } else {
        size_t pieces = (t->width + TMM__HOST_CHUNK - 1) / TMM__HOST_CHUNK;
        row = t->begun / pieces;
        offset = t->begun % pieces * TMM__HOST_CHUNK;
        c->rows = 1;
        c->width = t->width - offset < TMM__HOST_CHUNK ? t->width - offset : TMM__HOST_CHUNK;
    }
    c->host = t->host + row * t->host_pitch + offset;
    c->device_memory = t->device_memory + row * t->device_pitch + offset;
    t->begun++;
}

static inline tmm_status tmm__chunk_issue(tmm__worker *w, tmm__chunk *c, int up)
{
    tmm__transfer *t = c->transfer;
    cudaError_t error = cudaSetDevice(w->device);
    if (error == cudaSuccess && c->events[w->number] == NULL)
        error = tmm__event_open(error, &c->events[w->number]);
    if (error == cudaSuccess)
        error = up ? tmm__copy_lines(c->device_memory, t->device_pitch, c->memory, c->width,
                                     c->width, c->rows, cudaMemcpyHostToDevice, t->stream)
                   : tmm__copy_lines(c->memory, c->width, c->device_memory, t->device_pitch,
                                     c->width, c->rows, cudaMemcpyDeviceToHost, t->stream);
    if (error == cudaSuccess) error = cudaEventRecord(c->events[w->number], t->stream);
    if (error != cudaSuccess)
        return tmm__device_error(w->device, error,
                                 up ? "copy to the device" : "copy from the device");
    c->number = w->issued[up]++;
    return ++t->started == t->chunks ? tmm__record(w, t) : TMM_OK;
}

/* Moves a busy chunk on as far as it can go. *moved is set if it has. */
static inline tmm_status tmm__chunk_advance(tmm__host *h, tmm__chunk *c, int *moved)
{
    tmm_status status = TMM_OK;
    int up = c->state == TMM__GOING_UP, complete;
    switch (c->state) {
    case TMM__IDLE: return TMM_OK;
    case TMM__COPYING_IN:
        if (!tmm__chunk_copied(c)) return TMM_OK;
        status = tmm__chunk_issue(c->worker, c, 1);
        if (status != TMM_OK) return status;
        c->state = TMM__GOING_UP;
        break;
    case TMM__GOING_UP:
    case TMM__GOING_DOWN:
        /* Only the oldest can be complete; a query takes a microsecond. */
        if (c->number != c->worker->arrived[up]) return TMM_OK;
        complete = tmm__complete(c->worker, c->events[c->worker->number], &status);
        if (complete != 1) return status;
        c->worker->arrived[up]++;
        if (up) {
            c->transfer->done++;
            c->state = TMM__IDLE;
        } else {
            c->state = TMM__COPYING_OUT;
            tmm__helpers_copy(&h->helpers, c);
        }
        break;
    case TMM__COPYING_OUT:
        if (!tmm__chunk_copied(c)) return TMM_OK;
        c->transfer->done++;
        c->state = TMM__IDLE;
        break;
    }
    *moved = 1;
    return TMM_OK;
}

/* For the first of the worker's downloads (up = 0) or uploads. */
static inline tmm_status tmm__chunk_start(tmm__host *h, tmm__worker *w, tmm__chunk *c, int up)
{
    tmm__transfer **head = up ? &w->uploads : &w->downloads, *t = *head;
    c->worker = w;
    c->transfer = t;
    tmm__chunk_assign(t, c);
    if (t->begun == t->chunks) {
        *head = t->next;
        if (*head == NULL) *(up ? &w->uploads_end : &w->downloads_end) = head;
    }
    if (up) {
        c->state = TMM__COPYING_IN;
        tmm__helpers_copy(&h->helpers, c);
        return TMM_OK;
    }
    c->state = TMM__GOING_DOWN;
    return tmm__chunk_issue(w, c, 0);
}

/* Idle chunks go to the workers in turn, to downloads first. Uploads leave one chunk idle for
   these. */
static inline tmm_status tmm__pump(tmm__host *h, int *moved)
{
    tmm_status status = TMM_OK;
    int idle = 0, without = 0; /* chunks; workers in a row that had no use for one */
    for (int n = 0; n < h->chunk_count && status == TMM_OK; n++) {
        status = tmm__chunk_advance(h, &h->chunks[n], moved);
        idle += h->chunks[n].state == TMM__IDLE;
    }
    for (int n = 0; status == TMM_OK && n < h->chunk_count && without < h->count;) {
        if (h->chunks[n].state != TMM__IDLE) {
            n++;
            continue;
        }
        tmm__worker *w = &h->workers[h->next_worker];
        h->next_worker = (h->next_worker + 1) % h->count;
        int up = w->downloads == NULL;
        without++;
        if (up && (w->uploads == NULL || idle < 2)) continue;
        without = 0;
        idle--;
        status = tmm__chunk_start(h, w, &h->chunks[n], up);
        *moved = 1;
    }
    return status;
}
#endif
/* src/tiledmm/host/layout.h. Parts of K, blocks and slots of a device, order of its tasks.
   Uses: job.h, once/. Used by: host/. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* How many parts K has. The last ones are job->depth deep, counted from the end of K, which is
   rounded up so that their lines stay aligned. *rest is what is in front of them, at least
   TMM__HOST_FIRST deep, in *front parts, one or two.
     Elements of 8 bytes take twice the time to arrive for the same arithmetic. A short first
   part would not help for long, so their rest is cut only if it is too deep. */
static inline long long tmm__k_parts(const tmm__job *job, int *front, long long *rest)
{
    long long depth = job->depth, first = TMM__HOST_FIRST, end = (job->K + 31) / 32 * 32;
    *front = 1;
    *rest = job->K;
    if (job->K <= depth) return 1;
    long long whole = (end - first) / depth;
    *rest = end - whole * depth;
    if (*rest > depth || (job->size <= 4 && *rest >= 2 * first)) *front = 2;
    return *front + whole;
}

static inline long long tmm__k_begin(const tmm__job *job, long long n)
{
    int front;
    long long rest, parts = tmm__k_parts(job, &front, &rest);
    if (n <= 0) return 0;
    if (n >= parts) return job->K;
    return n < front ? TMM__HOST_FIRST : rest + (n - front) * job->depth;
}

/* The edge of equal blocks that make up `all`, at most `limit`. */
static inline long long tmm__block_edge(long long all, long long limit)
{
    long long blocks = (all - 1) / limit + 1, edge = (all - 1) / blocks + 1;
    long long unit = edge >= 256 ? 128 : edge >= 32 ? 16 : 1;
    edge = (edge + unit - 1) / unit * unit;
    edge = edge < limit ? edge : limit;
    return edge < all ? edge : all;
}

/* The shape of the blocks of C for `rows` rows: about edge x edge elements, but wide. B has at
   least `parts` parts then (not counting a short first part of K).
     Copies of short lines that lie 64 KB or more apart are slow while kernels use memory. On an
   H200 lines of 16, 32 and 64 KB were copied with 30, 45 and 55 GB/s. */
static inline void tmm__block_shape(const tmm__job *job, long long rows, long long edge,
                                    long long parts, long long *bm, long long *bn)
{
    long long wide = TMM__HOST_LINE / (long long)job->size;
    *bn = tmm__block_edge(job->N, wide > edge ? wide : edge);
    while (*bn > 512 && ((job->N - 1) / *bn + 1) * ((job->K - 1) / job->depth + 1) < parts)
        *bn = tmm__block_edge(job->N, *bn / 2);
    long long high = edge * edge / *bn / 128 * 128;
    *bm = tmm__block_edge(rows, high < 256 ? 256 : high > edge ? edge : high);
}

/* Bytes of device memory for `depth` x `lines` elements of A or B, and their pitch. */
static inline size_t tmm__part_size(const tmm__job *job, int is_B, long long depth, long long lines,
                                    size_t *pitch)
{
    int k_along = is_B ? job->opB == TMM_OP_T : job->opA == TMM_OP_N;
    *pitch = ((size_t)(k_along ? depth : lines) * job->size + 15) / 16 * 16;
    return (*pitch * (size_t)(k_along ? lines : depth) + 255) / 256 * 256;
}

static inline size_t tmm__part_bytes(const tmm__job *job, const tmm__layout *l, int is_B,
                                     long long k, size_t *pitch)
{
    return tmm__part_size(job, is_B, tmm__k_begin(job, k + 1) - tmm__k_begin(job, k),
                          is_B ? l->bn : l->bm, pitch);
}

/* Fills in the bytes that follow from blocks and slots. */
static inline void tmm__layout_sizes(const tmm__job *job, tmm__layout *l)
{
    size_t pitch;
    long long depth = tmm__min(job->K, job->depth);
    l->bytesA = tmm__part_size(job, 0, depth, l->bm, &pitch);
    l->bytesB = tmm__part_size(job, 1, depth, l->bn, &pitch);
    l->pitchC = ((size_t)l->bn * job->size_C + 15) / 16 * 16;
    l->bytesC = (l->pitchC * (size_t)l->bm + 255) / 256 * 256;
    double all = (double)l->nC * (double)l->bytesC; /* exact up to 2^53 */
    if (l->group > 0 || job->K == 0) {
        all += (double)l->nA * (double)l->bytesA + (double)l->nB * (double)l->bytesB;
    } else {
        for (int is_B = 0; is_B < 2; is_B++) {
            double line = 0; /* the parts from the third to the last but one are alike */
            for (long long k = 0, alike; k < l->nk; k += alike) {
                alike = k == 2 && l->nk > 3 ? l->nk - 3 : 1;
                line += (double)alike * (double)tmm__part_bytes(job, l, is_B, k, &pitch);
            }
            all += line * (double)(is_B ? l->nj : l->ni);
        }
    }
    l->bytes = all > 1e15 ? (size_t)-1 : (size_t)all; /* -1: more than any memory */
}

static inline void tmm__layout_blocks(const tmm__job *job, tmm__layout *l, long long bm,
                                      long long bn)
{
    int front;
    long long rest;
    l->bm = bm;
    l->bn = bn;
    l->ni = (l->rows - 1) / bm + 1;
    l->nj = (job->N - 1) / bn + 1;
    l->nk = l->first_run = tmm__k_parts(job, &front, &rest);
}

/* A layout in which B and all rows of A stay on the device, with `by_parts` also all of C. */
static inline void tmm__layout_resident(const tmm__job *job, tmm__layout *l, long long bm,
                                        long long bn, int streams, int by_parts)
{
    tmm__layout_blocks(job, l, bm, bn);
    by_parts = by_parts && l->nk > 1;
    if (by_parts) {
        /* If C is read, it must arrive during the first run: that is made deep enough. */
        l->first_run = 1;
        while (job->reads_C && l->first_run < l->nk &&
               tmm__k_begin(job, l->first_run) < (long long)job->size * (TMM__HOST_DEPTH / 4))
            l->first_run++;
    }
    l->nA = job->K > 0 ? l->ni * l->nk : 0;
    l->nB = job->K > 0 ? l->nj * l->nk : 0;
    l->nC = by_parts ? l->ni * l->nj : tmm__min(l->ni * l->nj, 2 * streams + 2);
    l->group = 0;
    tmm__layout_sizes(job, l);
}

/* The seconds that a layout should take if A stays (`stays`) or passes once a block column. */
static inline double tmm__layout_time(const tmm__job *job, const tmm__layout *l, int stays)
{
    double rows = (double)l->rows, N = (double)job->N, K = (double)job->K;
    double passes = (double)((l->ni - 1) / l->group + 1); /* of B */
    double bytes = (double)job->size *
                   (rows * K * (double)(stays ? 1 : l->nj) + K * N * passes + rows * N * 2);
    double time = 2.0 * rows * N * K / tmm__current_device()->arithmetic *
                  (1 + 64.0 / (double)l->bm + 64.0 / (double)l->bn);
    return time < bytes / 50e9 ? bytes / 50e9 : time;
}

/* The layout of blocks of at most `edge` that should take the least time within `limit` bytes.
   TMM_ERROR_MEMORY if there is none. */
static inline tmm_status tmm__layout_find(const tmm__job *job, tmm__layout *best, long long rows,
                                          long long edge, int streams, size_t limit)
{
    tmm__layout l;
    double best_time = -1;
    size_t least = 0;
    memset(&l, 0, sizeof l);
    l.rows = rows;
    *best = l;
    for (; edge > 0; edge /= 2) {
        long long bm = tmm__block_edge(rows, edge), bn = tmm__block_edge(job->N, edge);
        for (int by_parts = 1; by_parts >= 0 && best_time < 0; by_parts--) {
            tmm__layout_resident(job, &l, bm, bn, streams, by_parts);
            if (l.bytes > limit) continue;
            *best = l;
            return TMM_OK;
        }
        tmm__layout_blocks(job, &l, bm, bn);
        if (job->K == 0) { /* blocks of C alone */
            l.nC = tmm__min(l.ni * l.nj, 2);
            l.group = 1;
            tmm__layout_sizes(job, &l);
            least = l.bytes;
            if (l.bytes > limit) continue;
            *best = l;
            return TMM_OK;
        }
        /* Block slots beyond the group's: the next block can begin while another drains. */
        long long spare = streams + 1;
        for (int stays = 1; stays >= 0; stays--) {
            size_t row_bytes = (size_t)l.nk * l.bytesA + (l.nk > 1 ? l.bytesC : 0);
            l.group = 1;
            l.nA = stays ? l.nk : 2;
            l.nB = 2;
            l.nC = tmm__min(l.ni * l.nj, stays ? 1 + spare : 2);
            tmm__layout_sizes(job, &l);
            least = l.bytes;
            if (l.bytes > limit) continue;
            if (stays) { /* as many block rows as there is memory for, then parts of B */
                l.group += tmm__min(l.ni - 1, (long long)((limit - l.bytes) / row_bytes));
                l.nA = l.group * l.nk;
                if (l.nk > 1) l.nC = tmm__min(l.ni * l.nj, l.group + spare);
                tmm__layout_sizes(job, &l);
            }
            l.nB = tmm__min(l.nj * l.nk, 2 + (long long)((limit - l.bytes) / l.bytesB));
            tmm__layout_sizes(job, &l);
            double time = tmm__layout_time(job, &l, stays);
            if (best_time < 0 || time < 0.98 * best_time) {
                best_time = time;
                *best = l;
            }
        }
    }
    if (best_time >= 0) return TMM_OK;
    return tmm__fail(
        TMM_ERROR_MEMORY,
        "%llu bytes of device memory are too few: even blocks of one element need %llu",
        (unsigned long long)limit, (unsigned long long)least);
}

/* Lists the tasks in their order and returns how many there are; tasks = NULL: only counts. */
static inline long long tmm__list_tasks(const tmm__layout *l, tmm__task *tasks)
{
    long long n = 0;
    if (tasks == NULL) return l->ni * l->nj * l->nk;
#define TMM__TASK(row, col, part) \
    tasks[n].i = (int)(row), tasks[n].j = (int)(col), tasks[n].k = (int)(part), n++
    if (l->group == 0) {
        for (long long k0 = 0, end = l->first_run; k0 < l->nk; k0 = end++) {
            for (long long rows = 0, cols = 0; rows < l->ni || cols < l->nj;) {
                if (cols == l->nj || (rows < l->ni && rows * l->nj <= cols * l->ni)) {
                    for (long long j = 0; j < cols; j++)
                        for (long long k = k0; k < end; k++) TMM__TASK(rows, j, k);
                    rows++;
                } else {
                    for (long long i = 0; i < rows; i++)
                        for (long long k = k0; k < end; k++) TMM__TASK(i, cols, k);
                    cols++;
                }
            }
        }
        return n;
    }
    for (long long first = 0, pass = 0; first < l->ni; first += l->group, pass++)
        for (long long step = 0; step < l->nj; step++)
            for (long long k = 0; k < l->nk; k++)
                for (long long i = first; i < l->ni && i < first + l->group; i++)
                    TMM__TASK(i, pass % 2 ? l->nj - 1 - step : step, k);
#undef TMM__TASK
    return n;
}

/* Parts of B are uploaded in the order in which tasks need them. The position of part (j, k): */
static inline long long tmm__upload_position(const tmm__layout *l, long long j, long long k)
{
    return k < l->first_run ? j * l->first_run + k : k * l->nj + j;
}

/* The part (j, k) at a position. */
static inline void tmm__upload_part(const tmm__layout *l, long long position, long long *j,
                                    long long *k)
{
    int in_first_run = position < l->nj * l->first_run;
    *j = in_first_run ? position / l->first_run : position % l->nj;
    *k = in_first_run ? position % l->first_run : position / l->nj;
}
#endif
/* src/tiledmm/host/one_device.h. One device: slots, requests, launches.
   Uses: host/, once/. Used by: devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* A slot for another part: an empty one, or the one whose last use is oldest and has been launched.
   NULL if tasks to come need all of them. */
static inline tmm__slot *tmm__slot_find(const tmm__worker *w, tmm__slot *slots, long long count)
{
    tmm__slot *found = NULL;
    for (long long n = 0; n < count; n++) {
        if (slots[n].holds < 0) return &slots[n];
        if (slots[n].last_use < w->launched &&
            (found == NULL || slots[n].last_use < found->last_use))
            found = &slots[n];
    }
    return found;
}

/* Makes a slot hold a part. The stream waits for the kernels that still read what it held. */
static inline tmm_status tmm__slot_take(const tmm__host *h, tmm__worker *w, tmm__slot *slots,
                                        tmm__slot *slot, long long *slot_of, long long part,
                                        cudaStream_t stream)
{
    if (slot->holds >= 0) slot_of[slot->holds] = -1;
    slot->holds = part;
    slot_of[part] = slot - slots;
    for (int s = 0; s < h->streams; s++) {
        if (!(slot->in_use >> s & 1)) continue;
        tmm_status status =
            tmm__device_error(w->device, cudaStreamWaitEvent(stream, slot->used[s], 0),
                              "cudaStreamWaitEvent");
        if (status != TMM_OK) return status;
    }
    slot->in_use = 0;
    return TMM_OK;
}

/* The worker that a part of B comes from: another device that uploads it and that this one can
   reach, or the worker itself, from the host. */
static inline tmm__worker *tmm__source_of_B(tmm__host *h, tmm__worker *w, long long j, long long k)
{
    if (h->peers < 2) return w;
    int number = h->active[tmm__upload_position(&w->layout, j, k) % h->peers];
    return h->reach[w->number][number] ? &h->workers[number] : w;
}

static inline tmm_status tmm__copy_from_peer(tmm__worker *w, tmm__slot *slot, size_t bytes,
                                             const tmm__worker *owner, const tmm__slot *source)
{
    slot->copy.issued = 0;
    cudaError_t error = cudaStreamWaitEvent(w->peer, source->copy.event, 0);
    if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(slot->memory, w->device, source->memory, owner->device, bytes,
                                    w->peer);
    w->bytes_peer += (double)bytes;
    tmm_status status = tmm__device_error(w->device, error, "copy of B from another device");
    return status == TMM_OK ? tmm__record(w, &slot->copy) : status;
}

/* The transfer of a part of A or B for block row i or block column j (`index`) from host memory. */
static inline void tmm__describe_part(const tmm__host *h, const tmm__worker *w, int is_B,
                                      long long index, long long k, tmm__slot *slot)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    tmm__transfer *t = &slot->copy;
    long long k0 = tmm__k_begin(job, k), depth = tmm__k_begin(job, k + 1) - k0;
    long long first = index * (is_B ? l->bn : l->bm);
    long long lines = tmm__min((is_B ? job->N : l->rows) - first, is_B ? l->bn : l->bm);
    if (!is_B) first += w->row;
    /* Lines are rows of A and columns of B. */
    int k_along = is_B ? job->opB == TMM_OP_T : job->opA == TMM_OP_N;
    long long ld = is_B ? job->ldb : job->lda;
    long long offset = k_along ? first * ld + k0 : k0 * ld + first;
    (void)tmm__part_bytes(job, l, is_B, k, &t->device_pitch);
    t->device_memory = slot->memory;
    t->host = (char *)(is_B ? job->B : job->A) + (size_t)offset * job->size;
    t->host_pitch = (size_t)ld * job->size;
    t->width = (size_t)(k_along ? depth : lines) * job->size;
    t->rows = (size_t)(k_along ? lines : depth);
}

/* Starts the copy of a part of A or B for block row i or block column j (`index`), unless a slot
   holds it. 1: it is there or on its way; 0: no slot is free yet; -1: *status. `task` needs it;
   -1: other devices do. */
static inline int tmm__request_part(tmm__host *h, tmm__worker *w, int is_B, long long index,
                                    long long k, long long task, tmm_status *status)
{
    const tmm__layout *l = &w->layout;
    tmm__slot *slots = is_B ? w->B : w->A;
    long long *slot_of = is_B ? w->slot_of_B : w->slot_of_A, part = index * l->nk + k;
    if (slot_of[part] >= 0) {
        tmm__slot *holder = &slots[slot_of[part]];
        if (holder->last_use < task) holder->last_use = task;
        return 1;
    }
    tmm__slot *slot = &slots[part], *source = NULL;
    if (l->group > 0) slot = tmm__slot_find(w, slots, is_B ? l->nB : l->nA);
    if (slot == NULL) return 0;
    tmm__worker *owner = is_B ? tmm__source_of_B(h, w, index, k) : w;
    if (owner != w) {
        if (owner->slot_of_B[part] < 0) return 0;
        source = &owner->B[owner->slot_of_B[part]];
        if (!source->copy.issued) return 0;
    }
    tmm__transfer *t = &slot->copy;
    t->stream = owner != w ? w->peer : w->in;
    *status = tmm__slot_take(h, w, slots, slot, slot_of, part, t->stream);
    if (*status != TMM_OK) return -1;
    slot->last_use = task;
    if (owner != w) {
        size_t pitch, bytes = tmm__part_bytes(&h->job, l, is_B, k, &pitch);
        *status = tmm__copy_from_peer(w, slot, bytes, owner, source);
    } else {
        tmm__describe_part(h, w, is_B, index, k, slot);
        *status = tmm__transfer_start(w, t, 1, is_B ? h->staged_B : h->staged_A);
    }
    return *status == TMM_OK ? 1 : -1;
}

/* The transfer of a block of C to or from its slot. */
static inline void tmm__describe_block(const tmm__host *h, const tmm__worker *w,
                                       const tmm__block_slot *c, tmm__transfer *t)
{
    const tmm__layout *l = &w->layout;
    long long row = c->i * l->bm, col = c->j * l->bn;
    t->device_memory = c->memory;
    t->device_pitch = l->pitchC;
    t->host = h->job.C + (size_t)((w->row + row) * h->job.ldc + col) * h->job.size_C;
    t->host_pitch = (size_t)h->job.ldc * h->job.size_C;
    t->width = (size_t)tmm__min(h->job.N - col, l->bn) * h->job.size_C;
    t->rows = (size_t)tmm__min(l->rows - row, l->bm);
}

/* Starts the copies for the next task. Returns 1, 0 (not yet) or -1, as above. */
static inline int tmm__request(tmm__host *h, tmm__worker *w, tmm_status *status)
{
    const tmm__layout *l = &w->layout;
    long long n = w->requested;
    const tmm__task *t = &w->tasks[n];
    long long *slot_of = &w->slot_of_C[t->i * l->nj + t->j];
    if (*slot_of < 0) {
        long long c = 0;
        while (c < l->nC && w->C[c].state != TMM__FREE) c++;
        if (c == l->nC) return 0;
        tmm__block_slot *block = &w->C[c];
        *slot_of = c;
        block->state = TMM__FILLING;
        block->i = t->i;
        block->j = t->j;
    }
    if (h->job.K > 0) {
        long long position = tmm__upload_position(l, t->j, t->k);
        if (position > h->needed) h->needed = position;
        int requested = tmm__request_part(h, w, 0, t->i, t->k, n, status);
        if (requested == 1) requested = tmm__request_part(h, w, 1, t->j, t->k, n, status);
        if (requested != 1) return requested;
    }
    if (h->job.reads_C && t->k == 0) {
        tmm__block_slot *block = &w->C[*slot_of];
        block->in.stream = w->in;
        tmm__describe_block(h, w, block, &block->in);
        *status = tmm__transfer_start(w, &block->in, 1, h->staged_C);
        if (*status != TMM_OK) return -1;
    }
    w->requested++;
    return 1;
}

/* The product of a task. A and B may be NULL. */
static inline tmm__block_product tmm__task_product(const tmm__host *h, const tmm__worker *w,
                                                   const tmm__task *t, const tmm__slot *A,
                                                   const tmm__slot *B, const tmm__block_slot *C)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    tmm__block_product block;
    size_t pitchA, pitchB;
    (void)tmm__part_bytes(job, l, 0, t->k, &pitchA);
    (void)tmm__part_bytes(job, l, 1, t->k, &pitchB);
    block.M = tmm__min(l->rows - t->i * l->bm, l->bm);
    block.N = tmm__min(job->N - t->j * l->bn, l->bn);
    block.K = tmm__k_begin(job, t->k + 1) - tmm__k_begin(job, t->k);
    block.A = A != NULL ? A->memory : NULL;
    block.B = B != NULL ? B->memory : NULL;
    block.C = C->memory;
    block.lda = A != NULL ? (long long)(pitchA / job->size) : 1;
    block.ldb = B != NULL ? (long long)(pitchB / job->size) : 1;
    block.ldc = (long long)(l->pitchC / job->size_C);
    block.adds = t->k > 0;
    return block;
}

/* Starts the kernel of the next task, and of a complete block the copy. Returns 1, 0 (not yet)
   or -1, as above. */
static inline int tmm__launch_next(tmm__host *h, tmm__worker *w, tmm_status *status)
{
    const tmm__job *job = &h->job;
    const tmm__layout *l = &w->layout;
    const tmm__task *t = &w->tasks[w->launched];
    long long c = w->slot_of_C[t->i * l->nj + t->j];
    tmm__block_slot *block = &w->C[c];
    tmm__slot *A = NULL, *B = NULL;
    int s = (int)(c % h->streams);
    cudaStream_t stream = w->compute[s];
    cudaError_t error = cudaSuccess;
    if (w->launched >= TMM__AHEAD) {
        int complete = tmm__complete(w, w->launch_done[w->launched % TMM__AHEAD], status);
        if (complete != 1) return complete;
    }
    if (job->K > 0) {
        A = &w->A[w->slot_of_A[t->i * l->nk + t->k]];
        B = &w->B[w->slot_of_B[t->j * l->nk + t->k]];
        if (!A->copy.issued || !B->copy.issued) return 0;
    }
    if (job->reads_C && t->k == 0) {
        if (!block->in.issued) return 0;
        error = cudaStreamWaitEvent(stream, block->in.event, 0);
    }
    if (A != NULL && error == cudaSuccess) error = cudaStreamWaitEvent(stream, A->copy.event, 0);
    if (B != NULL && error == cudaSuccess) error = cudaStreamWaitEvent(stream, B->copy.event, 0);
    *status = tmm__device_error(w->device, error, "cudaStreamWaitEvent");
    if (*status != TMM_OK) return -1;
    tmm__block_product product = tmm__task_product(h, w, t, A, B, block);
    *status = tmm__add_device(w->device, job->launch(job, &product, stream));
    if (*status != TMM_OK) return -1;
    error = cudaEventRecord(w->launch_done[w->launched % TMM__AHEAD], stream);
    if (A != NULL) {
        if (error == cudaSuccess) error = cudaEventRecord(A->used[s], stream);
        if (error == cudaSuccess) error = cudaEventRecord(B->used[s], stream);
        A->in_use |= 1 << s;
        B->in_use |= 1 << s;
    }
    if (t->k == l->nk - 1) {
        if (error == cudaSuccess) error = cudaEventRecord(block->computed, stream);
        if (error == cudaSuccess) error = cudaStreamWaitEvent(w->out, block->computed, 0);
        block->state = TMM__DRAINING;
        block->out.stream = w->out;
        tmm__describe_block(h, w, block, &block->out);
    }
    *status = tmm__device_error(w->device, error, "cudaEventRecord");
    if (*status == TMM_OK && block->state == TMM__DRAINING)
        *status = tmm__transfer_start(w, &block->out, 0, h->staged_C);
    w->launched++;
    return *status == TMM_OK ? 1 : -1;
}

static inline tmm_status tmm__retire(tmm__host *h, tmm__worker *w, int *moved)
{
    tmm_status status = TMM_OK;
    for (long long n = 0; n < w->layout.nC; n++) {
        tmm__block_slot *block = &w->C[n];
        if (block->state != TMM__DRAINING || !block->out.issued) continue;
        if (block->out.done < block->out.chunks) continue;
        int complete = tmm__complete(w, block->out.event, &status);
        if (complete < 0) return status;
        if (complete == 0) continue;
        float ms = 0;
        if (tmm__succeeded(cudaEventElapsedTime(&ms, w->start, block->out.event)) &&
            ms * 1e-3 > w->seconds)
            w->seconds = ms * 1e-3;
        block->state = TMM__FREE;
        w->blocks_done++;
        h->done += (double)(block->out.width / h->job.size_C) * (double)block->out.rows;
        *moved = 1;
    }
    return TMM_OK;
}

/* Uploads what others need of this worker's share of B, before its own next task. With the part
   that was needed last comes its whole round, one part of each worker. Parts of later runs wait,
   since they would delay A. */
static inline tmm_status tmm__upload_share(tmm__host *h, tmm__worker *w)
{
    tmm_status status = TMM_OK;
    long long run = w->requested < w->task_count ? w->tasks[w->requested].k : w->layout.nk;
    for (; w->uploaded <= h->needed / h->peers; w->uploaded++) {
        long long j, k, position = w->uploaded * h->peers + w->rank;
        if (position >= w->layout.nj * w->layout.nk) continue;
        tmm__upload_part(&w->layout, position, &j, &k);
        if (k > run && position > h->needed) break;
        if (tmm__request_part(h, w, 1, j, k, -1, &status) < 0) break;
    }
    return status;
}

static inline tmm_status tmm__launch_requested(tmm__host *h, tmm__worker *w, long long limit,
                                               int *moved)
{
    tmm_status status = TMM_OK;
    while (w->launched < w->requested && w->launched < limit) {
        if (tmm__launch_next(h, w, &status) != 1) break;
        *moved = 1;
    }
    return status;
}

/* Returns soon, so that complete blocks and progress are seen to. */
static inline tmm_status tmm__advance(tmm__host *h, tmm__worker *w, int *moved)
{
    tmm_status status = TMM_OK;
    long long limit = w->launched + 2;
    if (w->blocks_done == w->layout.ni * w->layout.nj) return TMM_OK;
    status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
    if (status == TMM_OK && !w->started) {
        w->started = 1;
        cudaError_t error = cudaEventRecord(w->start, w->in);
        for (int s = 0; s < h->streams && error == cudaSuccess; s++)
            error = cudaStreamWaitEvent(w->compute[s], w->start, 0);
        status = tmm__device_error(w->device, error, "cudaEventRecord");
    }
    if (status == TMM_OK) status = tmm__retire(h, w, moved);
    if (status == TMM_OK && h->peers > 1 && w->slot_of_A[0] >= 0) status = tmm__upload_share(h, w);
    while (status == TMM_OK && w->requested < w->task_count &&
           w->requested < w->launched + 4 * TMM__AHEAD && w->launched < limit) {
        if (tmm__request(h, w, &status) != 1) break;
        *moved = 1;
        /* Kernels follow at once: a later request may need the slots of this task. */
        status = tmm__launch_requested(h, w, limit, moved);
    }
    return status == TMM_OK ? tmm__launch_requested(h, w, limit, moved) : status;
}
#endif
/* src/tiledmm/host/shares.h. All devices: their options, the rows that each gets, and its blocks.
   Uses: host/, once/. Used by: devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* Checks the options that need no device. */
static inline tmm_status tmm__check_options(const tmm_host_options *o)
{
    if (o->device_count < 0 || o->device_count > TMM__MAX_DEVICES)
        return tmm__fail(TMM_ERROR_ARGUMENT, "device_count is %d, but must be 0 to %d",
                         o->device_count, (int)TMM__MAX_DEVICES);
    if (o->streams < 0 || o->streams > TMM__MAX_STREAMS)
        return tmm__fail(TMM_ERROR_ARGUMENT, "streams is %d, but must be 0 to %d", o->streams,
                         (int)TMM__MAX_STREAMS);
    if (o->threads < 0 || o->threads > TMM__MAX_THREADS)
        return tmm__fail(TMM_ERROR_ARGUMENT, "threads is %d, but must be 0 to %d", o->threads,
                         (int)TMM__MAX_THREADS);
    if (o->block < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "block is negative: %lld", o->block);
    if (tmm_kernel_string(o->kernel) == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel",
                         (int)o->kernel);
    return TMM_OK;
}

/* Checks the options and opens the devices. */
static inline tmm_status tmm__host_open(tmm__host *h, int current)
{
    const tmm_host_options *o = h->options;
    tmm_status status = tmm__check_options(o);
    if (status != TMM_OK) return status;
    h->count = o->device_count > 0 ? o->device_count : 1;
    h->streams = o->streams > 0 ? o->streams : 2;
    h->workers = (tmm__worker *)calloc((size_t)h->count, sizeof *h->workers);
    if (h->workers == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the devices");
    for (int n = 0; n < h->count && status == TMM_OK; n++) {
        tmm__worker *w = &h->workers[n];
        w->number = n;
        w->device = o->device_count == 0 ? current : o->devices != NULL ? o->devices[n] : n;
        w->uploads_end = &w->uploads;
        w->downloads_end = &w->downloads;
        status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
        /* An unusable device shows itself at the first call that needs it. */
        if (status == TMM_OK)
            status = tmm__device_error(w->device, cudaFree(NULL), "the first call to it");
    }
    return status;
}

/* Seconds of a small product on the current device. */
static inline tmm_status tmm__calibrate(const tmm__host *h, int device, double *seconds)
{
    tmm__job small = h->job;
    long long edge = tmm__min(1024, tmm__min(small.M, tmm__min(small.N, small.K)));
    size_t bytes = (size_t)(edge * edge) * (small.size > small.size_C ? small.size : small.size_C);
    char *memory = NULL;
    tmm__block_product block;
    cudaEvent_t begin = NULL, end = NULL;
    cudaStream_t stream = NULL;
    float ms = 0;
    *seconds = 1;
    small.allowed = 0;
    cudaError_t error = cudaMalloc((void **)&memory, 3 * bytes);
    if (error == cudaSuccess) error = cudaEventCreate(&begin);
    if (error == cudaSuccess) error = cudaEventCreate(&end);
    error = tmm__stream_open(error, &stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(memory, 0, 3 * bytes, stream);
    tmm_status status = tmm__device_error(device, error, "calibration");
    block.M = block.N = block.K = block.lda = block.ldb = block.ldc = edge;
    block.A = memory, block.B = memory + bytes, block.C = memory + 2 * bytes;
    block.adds = 1;
    for (int n = 0; n < 4 && status == TMM_OK; n++) { /* the first is a warm-up */
        if (n == 1) error = cudaEventRecord(begin, stream);
        status = tmm__add_device(device, small.launch(&small, &block, stream));
    }
    if (status == TMM_OK) {
        if (error == cudaSuccess) error = cudaEventRecord(end, stream);
        if (error == cudaSuccess) error = cudaEventSynchronize(end);
        if (error == cudaSuccess) error = cudaEventElapsedTime(&ms, begin, end);
        status = tmm__device_error(device, error, "calibration");
    }
    if (stream != NULL) (void)tmm__succeeded(cudaStreamSynchronize(stream));
    tmm__stream_close(stream);
    tmm__event_close(end);
    tmm__event_close(begin);
    (void)tmm__succeeded(cudaFree(memory));
    if (ms > 0) *seconds = ms * 1e-3;
    return status;
}

/* Are the devices of the list of one kind? Then their speed need not be measured. */
static inline int tmm__same_kind(const tmm__host *h)
{
    tmm__device first;
    memset(&first, 0, sizeof first);
    for (int n = 0; n < h->count; n++) {
        /* The calibration will meet this error again. */
        if (!tmm__succeeded(cudaSetDevice(h->workers[n].device))) return 0;
        const tmm__device *device = tmm__current_device();
        if (n == 0) first = *device;
        if (device->processors != first.processors || device->capability != first.capability ||
            device->arithmetic != first.arithmetic || device->bandwidth != first.bandwidth)
            return 0;
    }
    return 1;
}

/* Workers on one device share its weight. */
static inline tmm_status tmm__measure_weights(const tmm__host *h, double *weights)
{
    double fastest = 0, slowest = HUGE_VAL;
    for (int n = 0; n < h->count; n++) {
        int first = n, device = h->workers[n].device;
        for (int i = n - 1; i >= 0; i--)
            if (h->workers[i].device == device) first = i;
        if (first == n) {
            double seconds = 1;
            tmm_status status = tmm__device_error(device, cudaSetDevice(device), "cudaSetDevice");
            if (status == TMM_OK) status = tmm__calibrate(h, device, &seconds);
            if (status != TMM_OK) return status;
            weights[n] = 1 / seconds;
        } else {
            weights[n] = weights[first];
        }
        if (weights[n] < slowest) slowest = weights[n];
        if (weights[n] > fastest) fastest = weights[n];
    }
    for (int n = 0; n < h->count; n++) {
        int same = 0;
        for (int i = 0; i < h->count; i++) same += h->workers[i].device == h->workers[n].device;
        /* Devices of one kind measure within a few percent of one another. */
        if (slowest > 0.95 * fastest) weights[n] = 1;
        weights[n] /= same;
    }
    return TMM_OK;
}

/* Scaled: the largest becomes 1, so that their sum is finite. */
static inline tmm_status tmm__read_weights(const tmm__host *h, double *weights)
{
    double largest = 0;
    for (int n = 0; n < h->count; n++) {
        double weight = h->options->weights[n];
        if (!(weight >= 0 && weight < HUGE_VAL))
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "weights[%d] is %g, but must be finite and not negative", n, weight);
        if (weight > largest) largest = weight;
    }
    if (largest == 0) return tmm__fail(TMM_ERROR_ARGUMENT, "all weights are 0");
    for (int n = 0; n < h->count; n++) weights[n] = h->options->weights[n] / largest;
    return TMM_OK;
}

/* The caller's rows. */
static inline tmm_status tmm__read_rows(tmm__host *h)
{
    const long long *rows = h->options->rows;
    long long M = h->job.M, given = 0;
    for (int n = 0; n < h->count; n++) {
        if (rows[n] < 0 || rows[n] > M - given)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "rows[%d] is %lld: negative, or more than the %lld of C that are left",
                             n, rows[n], M - given);
        h->workers[n].layout.rows = rows[n];
        h->workers[n].row = given;
        given += rows[n];
    }
    if (given < M)
        return tmm__fail(TMM_ERROR_ARGUMENT, "rows adds up to %lld, but M is %lld", given, M);
    return TMM_OK;
}

/* Decides which rows each device gets. */
static inline tmm_status tmm__share_rows(tmm__host *h)
{
    long long M = h->job.M, given = 0;
    double weights[TMM__MAX_DEVICES], total = 0, sum = 0;
    tmm_status status = TMM_OK;
    if (h->options->rows != NULL) return tmm__read_rows(h);
    for (int n = 0; n < h->count; n++) weights[n] = 1;
    if (h->options->weights != NULL)
        status = tmm__read_weights(h, weights);
    else if (h->job.K > 0 && !tmm__same_kind(h))
        status = tmm__measure_weights(h, weights);
    if (status != TMM_OK) return status;
    for (int n = 0; n < h->count; n++) total += weights[n];
    long long unit = M >= 1024ll * h->count ? 128 : 1;
    for (int n = 0; n < h->count; n++) {
        sum += weights[n];
        long long end = n == h->count - 1 ? M : (long long)(M * (sum / total) / unit + 0.5) * unit;
        if (end > M) end = M;
        if (end < given) end = given;
        h->workers[n].row = given;
        h->workers[n].layout.rows = end - given;
        given = end;
    }
    /* What rounding left to last devices of weight 0 goes to one with a weight. */
    for (int n = h->count - 1; n > 0 && weights[n] == 0; n--) {
        tmm__worker *w = &h->workers[n];
        w[-1].layout.rows += w->layout.rows;
        w->row += w->layout.rows;
        w->layout.rows = 0;
    }
    return TMM_OK;
}

/* Bytes of device memory that a worker may take. */
static inline tmm_status tmm__memory_limit(const tmm__host *h, const tmm__worker *w, size_t *limit)
{
    size_t free_bytes = 0, total = 0;
    int same = 0;
    *limit = h->options->memory;
    if (*limit > 0) return TMM_OK;
    for (int n = 0; n < h->count; n++)
        same += h->workers[n].device == w->device && h->workers[n].layout.rows > 0;
    tmm_status status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
    if (status == TMM_OK)
        status =
            tmm__device_error(w->device, cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    if (status != TMM_OK) return status;
    free_bytes += tmm__pool_idle(w->device);
    *limit = free_bytes / 10 * 9 / (size_t)same;
    return TMM_OK;
}

/* Tries resident layouts for all workers (`by_parts`: with all of C), with at least two parts of
   B of one size for each. 1 if all are within their limits. */
static inline int tmm__try_resident(tmm__host *h, const size_t *limits, int ranks, int by_parts)
{
    const tmm__job *job = &h->job;
    long long edge = h->options->block > 0 ? h->options->block : 2048;
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        if (w->layout.rows == 0) continue;
        long long bm = tmm__block_edge(w->layout.rows, edge), bn = tmm__block_edge(job->N, edge);
        if (h->options->block == 0)
            tmm__block_shape(job, w->layout.rows, edge, ranks > 1 ? 2 * ranks : 1, &bm, &bn);
        tmm__layout_resident(job, &w->layout, bm, bn, h->streams, by_parts);
        if (w->layout.bytes > limits[n]) return 0;
    }
    return 1;
}

/* Decides on blocks and slots of each device. */
static inline tmm_status tmm__host_layout(tmm__host *h)
{
    size_t limits[TMM__MAX_DEVICES];
    int ranks = 0;
    tmm_status status = TMM_OK;
    for (int n = 0; n < h->count && status == TMM_OK; n++) {
        tmm__worker *w = &h->workers[n];
        limits[n] = 0;
        if (w->layout.rows == 0) continue;
        w->rank = ranks;
        h->active[ranks++] = n;
        status = tmm__memory_limit(h, w, &limits[n]);
    }
    if (status != TMM_OK) return status;
    int resident = tmm__try_resident(h, limits, ranks, 1) || tmm__try_resident(h, limits, ranks, 0);
    h->peers = resident && h->job.K > 0 ? ranks : 0;
    for (int n = 0; n < h->count; n++) {
        tmm__worker *w = &h->workers[n];
        if (w->layout.rows == 0) continue;
        if (!resident) {
            long long edge = h->options->block > 0 ? h->options->block : 4096;
            status = tmm__device_error(w->device, cudaSetDevice(w->device), "cudaSetDevice");
            if (status == TMM_OK)
                status =
                    tmm__add_device(w->device, tmm__layout_find(&h->job, &w->layout, w->layout.rows,
                                                                edge, h->streams, limits[n]));
            if (status != TMM_OK) return status;
        }
        w->task_count = tmm__list_tasks(&w->layout, NULL);
        if (w->task_count > 1ll << 26)
            return tmm__fail(TMM_ERROR_MEMORY,
                             "device %d: blocks of %lld x %lld are too many; give it more memory",
                             w->device, w->layout.bm, w->layout.bn);
    }
    return TMM_OK;
}
#endif
/* src/tiledmm/host/devices.h. All devices: slots, streams, the run from first to last copy.
   Uses: host/, once/. Used by: type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
static inline long long *tmm__new_slot_table(long long count)
{
    long long *slot_of = (long long *)malloc((size_t)(count + 1) * sizeof *slot_of);
    for (long long n = 0; n <= count && slot_of != NULL; n++) slot_of[n] = -1;
    return slot_of;
}

static inline cudaError_t tmm__slots_open(const tmm__host *h, tmm__worker *w)
{
    const tmm__layout *l = &w->layout;
    char *memory = w->memory;
    cudaError_t error = cudaSuccess;
    for (long long n = 0; n < l->nA + l->nB && error == cudaSuccess; n++) {
        int is_B = n >= l->nA;
        long long number = is_B ? n - l->nA : n;
        tmm__slot *slot = is_B ? &w->B[number] : &w->A[number];
        size_t pitch, bytes = is_B ? l->bytesB : l->bytesA;
        if (l->group == 0) bytes = tmm__part_bytes(&h->job, l, is_B, number % l->nk, &pitch);
        slot->memory = memory;
        memory += bytes;
        slot->holds = slot->last_use = -1;
        error = tmm__event_open(error, &slot->copy.event);
        for (int s = 0; s < h->streams && error == cudaSuccess; s++)
            error = tmm__event_open(error, &slot->used[s]);
    }
    for (long long n = 0; n < l->nC && error == cudaSuccess; n++) {
        tmm__block_slot *block = &w->C[n];
        block->memory = memory;
        memory += l->bytesC;
        error = tmm__event_open(error, &block->in.event);
        error = tmm__event_open(error, &block->computed);
        if (error == cudaSuccess) error = cudaEventCreate(&block->out.event);
    }
    return error;
}

/* Memory, streams and events of a device. */
static inline tmm_status tmm__worker_open(tmm__host *h, tmm__worker *w)
{
    const tmm__layout *l = &w->layout;
    w->A = (tmm__slot *)calloc((size_t)l->nA + 1, sizeof *w->A);
    w->B = (tmm__slot *)calloc((size_t)l->nB + 1, sizeof *w->B);
    w->C = (tmm__block_slot *)calloc((size_t)l->nC + 1, sizeof *w->C);
    w->slot_of_A = tmm__new_slot_table(l->ni * l->nk);
    w->slot_of_B = tmm__new_slot_table(l->nj * l->nk);
    w->slot_of_C = tmm__new_slot_table(l->ni * l->nj);
    w->tasks = (tmm__task *)malloc((size_t)w->task_count * sizeof *w->tasks);
    if (!w->A || !w->B || !w->C || !w->slot_of_A || !w->slot_of_B || !w->slot_of_C || !w->tasks)
        return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the list of %lld blocks",
                         w->task_count);
    (void)tmm__list_tasks(l, w->tasks);
    cudaError_t error = cudaSetDevice(w->device);
    error = tmm__stream_open(error, &w->in);
    if (error != cudaSuccess) return tmm__device_error(w->device, error, "cudaSetDevice or stream");
    error = tmm__device_memory(&w->memory, l->bytes, &w->pool, w->in);
    if (error != cudaSuccess) return tmm__device_error(w->device, error, "cudaMalloc");
    error = tmm__stream_open(error, &w->peer);
    error = tmm__stream_open(error, &w->out);
    for (int s = 0; s < h->streams && error == cudaSuccess; s++)
        error = tmm__stream_open(error, &w->compute[s]);
    if (error == cudaSuccess) error = cudaEventCreate(&w->start);
    for (int n = 0; n < TMM__AHEAD && error == cudaSuccess; n++)
        error = tmm__event_open(error, &w->launch_done[n]);
    if (error == cudaSuccess) error = tmm__slots_open(h, w);
    return tmm__device_error(w->device, error, "stream or event");
}

static inline void tmm__worker_close(tmm__host *h, tmm__worker *w)
{
    (void)tmm__succeeded(cudaSetDevice(w->device));
    for (long long n = 0; n < w->layout.nA + w->layout.nB; n++) {
        int is_B = n >= w->layout.nA;
        tmm__slot *slots = is_B ? w->B : w->A;
        if (slots == NULL) continue;
        tmm__slot *slot = &slots[is_B ? n - w->layout.nA : n];
        tmm__event_close(slot->copy.event);
        for (int s = 0; s < TMM__MAX_STREAMS; s++) tmm__event_close(slot->used[s]);
    }
    for (long long n = 0; n < w->layout.nC && w->C != NULL; n++) {
        tmm__event_close(w->C[n].in.event);
        tmm__event_close(w->C[n].computed);
        tmm__event_close(w->C[n].out.event);
    }
    for (int n = 0; n < h->chunk_count; n++)
        if (h->chunks[n].events != NULL) tmm__event_close(h->chunks[n].events[w->number]);
    tmm__event_close(w->start);
    for (int n = 0; n < TMM__AHEAD; n++) tmm__event_close(w->launch_done[n]);
    tmm__device_memory_free(w->memory, w->pool, w->in);
    tmm__stream_close(w->in);
    tmm__stream_close(w->peer);
    tmm__stream_close(w->out);
    for (int s = 0; s < TMM__MAX_STREAMS; s++) tmm__stream_close(w->compute[s]);
    free(w->A);
    free(w->B);
    free(w->C);
    free(w->slot_of_A);
    free(w->slot_of_B);
    free(w->slot_of_C);
    free(w->tasks);
}

/* Must copies of A, B and C pass through the pinned ring? */
static inline tmm_status tmm__find_staged(tmm__host *h)
{
    const tmm__job *job = &h->job;
    const int nA = job->opA == TMM_OP_N, nB = job->opB == TMM_OP_N;
    const long long rows[3] = {nA ? job->M : job->K, nB ? job->K : job->N, job->M};
    const long long cols[3] = {nA ? job->K : job->M, nB ? job->N : job->K, job->N};
    const long long ld[3] = {job->lda, job->ldb, job->ldc};
    const char *const matrices[3] = {job->A, job->B, job->C}, *const names[3] = {"A", "B", "C"};
    int *const staged[3] = {&h->staged_A, &h->staged_B, &h->staged_C};
    tmm_status status = TMM_OK;
    for (int n = job->K > 0 ? 0 : 2; n < 3 && status == TMM_OK; n++)
        status = tmm__is_staged(names[n], matrices[n],
                                (size_t)((rows[n] - 1) * ld[n] + cols[n]) * job->size, staged[n]);
    return status;
}

/* Takes the pinned memory that was kept, if it suffices. */
static inline tmm_status tmm__ring_open(tmm__host *h)
{
    int threads = tmm__helpers_count(h->options->threads);
    int chunks = threads > 1 ? 2 * threads : 4;
    size_t bytes = TMM__PINNED_HEAD + (size_t)chunks * TMM__HOST_CHUNK;
    h->pinned = (char *)tmm__kept_exchange(NULL, 0, &h->pinned_bytes);
    if (!tmm__still_pinned(h->pinned)) h->pinned = NULL;
    if (h->pinned != NULL && h->pinned_bytes < bytes) {
        (void)tmm__succeeded(cudaFreeHost(h->pinned));
        h->pinned = NULL;
    }
    if (h->pinned == NULL) {
        tmm_status status =
            tmm__cuda(cudaHostAlloc((void **)&h->pinned, bytes, cudaHostAllocPortable),
                      "cudaHostAlloc of pinned memory for staging");
        if (status != TMM_OK) {
            h->pinned = NULL;
            return status;
        }
        h->pinned_bytes = bytes;
        *(unsigned long long *)h->pinned = tmm__pinned_mark(h->pinned);
    }
    h->chunk_count = chunks;
    for (int n = 0; n < chunks; n++) {
        h->chunks[n].memory = h->pinned + TMM__PINNED_HEAD + (size_t)n * TMM__HOST_CHUNK;
        h->chunks[n].events = (cudaEvent_t *)calloc((size_t)h->count, sizeof(cudaEvent_t));
        if (h->chunks[n].events == NULL)
            return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the pinned ring");
    }
    tmm__helpers_start(&h->helpers, threads);
    return TMM_OK;
}

/* Lets device `to` read the memory of a worker of another device. 0 if it cannot: B then comes
   from the host. Access to a pool is its own matter. */
static inline int tmm__share_memory(const tmm__worker *from, int to)
{
    if (from->pool != NULL) {
        cudaMemAccessDesc access;
        memset(&access, 0, sizeof access);
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = to;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        return tmm__succeeded(cudaMemPoolSetAccess(from->pool, &access, 1));
    }
    cudaError_t error = cudaDeviceEnablePeerAccess(from->device, 0);
    return tmm__succeeded(error) || error == cudaErrorPeerAccessAlreadyEnabled;
}

/* Finds out which devices can copy from which directly. */
static inline tmm_status tmm__peers_open(tmm__host *h)
{
    for (int to = 0; to < h->count; to++) {
        for (int from = 0; from < h->count; from++) {
            int a = h->workers[to].device, b = h->workers[from].device, accessible = 0;
            if (h->workers[to].layout.rows == 0 || h->workers[from].layout.rows == 0) continue;
            h->reach[to][from] = a == b;
            if (a == b) continue;
            tmm_status status = tmm__device_error(a, cudaDeviceCanAccessPeer(&accessible, a, b),
                                                  "cudaDeviceCanAccessPeer");
            if (status != TMM_OK) return status;
            if (!accessible) continue;
            status = tmm__device_error(a, cudaSetDevice(a), "cudaSetDevice");
            if (status != TMM_OK) return status;
            h->reach[to][from] = (unsigned char)tmm__share_memory(&h->workers[from], a);
        }
    }
    return TMM_OK;
}

/* Waits until nothing of this call is under way, and frees what it had. */
static inline void tmm__host_close(tmm__host *h, tmm_status status)
{
    tmm__helpers_stop(&h->helpers);
    for (int n = 0; n < h->count && h->workers != NULL; n++) {
        const tmm__worker *w = &h->workers[n];
        if (w->tasks == NULL || !tmm__succeeded(cudaSetDevice(w->device))) continue;
        if (w->in != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->in));
        if (w->peer != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->peer));
        for (int s = 0; s < TMM__MAX_STREAMS; s++)
            if (w->compute[s] != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->compute[s]));
        if (w->out != NULL) (void)tmm__succeeded(cudaStreamSynchronize(w->out));
    }
    for (int n = 0; n < h->count && h->workers != NULL; n++) tmm__worker_close(h, &h->workers[n]);
    for (int n = 0; n < h->chunk_count; n++) free(h->chunks[n].events);
    void *pinned = h->pinned; /* kept for the next call, unless this one has failed */
    if (pinned != NULL && status == TMM_OK)
        pinned = tmm__kept_exchange(pinned, h->pinned_bytes, &h->pinned_bytes);
    if (pinned != NULL) (void)tmm__succeeded(cudaFreeHost(pinned));
    free(h->workers);
}

static inline tmm_status tmm__host_loop(tmm__host *h)
{
    const tmm_host_options *o = h->options;
    int staged = h->staged_A || h->staged_B || h->staged_C;
    double all = (double)h->job.M * (double)h->job.N, reported = -1;
    tmm_status status = TMM_OK;
    while (status == TMM_OK && h->done < all) {
        int moved = 0;
        if (staged) status = tmm__pump(h, &moved);
        for (int n = 0; n < h->count && status == TMM_OK; n++)
            if (h->workers[n].layout.rows > 0) status = tmm__advance(h, &h->workers[n], &moved);
        if (status == TMM_OK && o->progress != NULL && h->done > reported) {
            reported = h->done;
            if (o->progress(o->context, h->done / all) != 0 && h->done < all)
                status = tmm__fail(TMM_ERROR_CANCELLED, "cancelled by the progress callback");
        }
        if (!moved) TMM__YIELD();
    }
    return status;
}

static inline void tmm__host_report(const tmm__host *h)
{
    for (int n = 0; n < h->count && h->options->report != NULL && h->workers != NULL; n++) {
        const tmm__worker *w = &h->workers[n];
        tmm_host_report *r = &h->options->report[n];
        r->device = w->device;
        r->rows = w->layout.rows;
        r->block_rows = w->layout.bm;
        r->block_cols = w->layout.bn;
        r->seconds = w->seconds;
        r->bytes_in = w->bytes_in;
        r->bytes_peer = w->bytes_peer;
        r->bytes_out = w->bytes_out;
        r->memory = w->layout.rows > 0 ? w->layout.bytes : 0;
    }
}

/* The whole of tmm_?gemm_host for arguments that have been checked, and M, N > 0. */
static inline tmm_status tmm__host_run(tmm__job *job, const tmm_host_options *options)
{
    tmm_host_options defaults;
    tmm__host host, *h = &host;
    int current = 0;
    memset(&defaults, 0, sizeof defaults);
    memset(h, 0, sizeof *h);
    h->job = *job;
    h->options = options != NULL ? options : &defaults;
    h->job.kernel = h->options->kernel;
    h->job.allowed = h->options->memory == 0 ? TMM__PACK : 0;
    tmm_status status = tmm__cuda(cudaGetDevice(&current), "cudaGetDevice");
    if (status != TMM_OK) return status;
    status = tmm__host_open(h, current);
    if (status == TMM_OK) status = tmm__share_rows(h);
    if (status == TMM_OK) status = tmm__host_layout(h);
    if (status == TMM_OK) status = tmm__find_staged(h);
    if (status == TMM_OK && (h->staged_A || h->staged_B || h->staged_C)) status = tmm__ring_open(h);
    for (int n = 0; n < h->count && status == TMM_OK; n++)
        if (h->workers[n].layout.rows > 0) status = tmm__worker_open(h, &h->workers[n]);
    if (status == TMM_OK && h->peers > 1) status = tmm__peers_open(h);
    if (status == TMM_OK) status = tmm__host_loop(h);
    tmm__host_report(h);
    tmm__host_close(h, status);
    (void)tmm__succeeded(cudaSetDevice(current));
    return status;
}
#endif
/* src/tiledmm/host/multi.h. Operands that lie on several devices: tmm_?gemm_multi.
   Uses: host/, once/. Used by: type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* Each device gathers B, one column of blocks after the other, in buffers. Meanwhile it multiplies
   its rows of A with the columns that it has. */
enum { TMM__MULTI_BUFFERS = 3, TMM__MULTI_STREAMS = 2 };

/* A device that has rows of A and C, or of B. */
typedef struct tmm__member {
    char *buffers;      /* NULL: B is used in place, or not at all */
    cudaMemPool_t pool; /* of the buffers; NULL: they are from cudaMalloc */
    cudaStream_t copy, compute[TMM__MULTI_STREAMS];
    cudaEvent_t start, stop, join; /* join: the last product on stream 1 */
    cudaEvent_t ready[TMM__MULTI_BUFFERS], used[TMM__MULTI_BUFFERS];
} tmm__member;

/* One call of tmm_?gemm_multi. */
typedef struct tmm__multi {
    const tmm__job *job;
    tmm_part *parts;
    tmm__member *members; /* one for each part */
    int count;
    int gathers;         /* B is spread over several devices, and needed */
    long long bn, nj;    /* columns that are gathered at a time, and how often */
    size_t pitch, bytes; /* of a buffer */
} tmm__multi;

/* Lines to be copied between devices. */
typedef struct tmm__line_copy {
    const char *source;
    char *target;
    size_t source_pitch, target_pitch, width, rows;
} tmm__line_copy;

static inline cudaError_t tmm__copy_across(const tmm__line_copy *l, int from_device, int to_device,
                                           cudaStream_t stream)
{
    struct cudaMemcpy3DPeerParms p;
    size_t width = l->width;
    if (to_device == from_device)
        return tmm__copy_lines(l->target, l->target_pitch, l->source, l->source_pitch, width,
                               l->rows, cudaMemcpyDeviceToDevice, stream);
    if (l->rows == 1 || (l->target_pitch == width && l->source_pitch == width))
        return cudaMemcpyPeerAsync(l->target, to_device, l->source, from_device, width * l->rows,
                                   stream);
    if (l->target_pitch > TMM__HOST_PITCH || l->source_pitch > TMM__HOST_PITCH) {
        cudaError_t error = cudaSuccess; /* one by one, as in tmm__copy_lines */
        for (size_t row = 0; row < l->rows && error == cudaSuccess; row++)
            error =
                cudaMemcpyPeerAsync(l->target + row * l->target_pitch, to_device,
                                    l->source + row * l->source_pitch, from_device, width, stream);
        return error;
    }
    memset(&p, 0, sizeof p);
    p.srcPtr = make_cudaPitchedPtr((void *)l->source, l->source_pitch, width, l->rows);
    p.srcDevice = from_device;
    p.dstPtr = make_cudaPitchedPtr(l->target, l->target_pitch, width, l->rows);
    p.dstDevice = to_device;
    p.extent = make_cudaExtent(width, l->rows, 1);
    return cudaMemcpy3DPeerAsync(&p, stream);
}

static inline tmm_status tmm__gather(const tmm__multi *m, int to, char *buffer, long long n0,
                                     long long cols)
{
    const tmm__job *job = m->job;
    int transposed = job->opB == TMM_OP_T;
    for (int n = 0; n < m->count;
         n++) { /* each begins with itself: not all read from one at once */
        int from = (to + n) % m->count;
        const tmm_part *p = &m->parts[from];
        long long first = 0, rows = p->rows_B;
        for (int i = 0; i < from; i++) first += m->parts[i].rows_B;
        tmm__line_copy lines;
        lines.source = (const char *)p->B;
        lines.target = buffer;
        if (transposed) { /* rows of B are columns of op(B) */
            long long begin = first > n0 ? first : n0;
            long long end = tmm__min(first + rows, n0 + cols);
            if (begin >= end) continue;
            lines.source += (size_t)((begin - first) * p->ldb) * job->size;
            lines.target += (size_t)(begin - n0) * m->pitch;
            rows = end - begin;
        } else {
            lines.source += (size_t)n0 * job->size;
            lines.target += (size_t)first * m->pitch;
        }
        if (rows == 0) continue;
        lines.source_pitch = (size_t)p->ldb * job->size;
        lines.target_pitch = m->pitch;
        lines.width = (size_t)(transposed ? job->K : cols) * job->size;
        lines.rows = (size_t)rows;
        int device = m->parts[to].device;
        tmm_status status =
            tmm__device_error(device,
                              tmm__copy_across(&lines, p->device, device, m->members[to].copy),
                              "copy of B from another device");
        if (status != TMM_OK) return status;
    }
    return TMM_OK;
}

/* What the caller has enqueued on a device comes first. */
static inline tmm_status tmm__member_open(const tmm__multi *m, int n)
{
    tmm__member *member = &m->members[n];
    int device = m->parts[n].device;
    size_t buffers = (size_t)tmm__min(m->nj, TMM__MULTI_BUFFERS);
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    error = tmm__stream_open(error, &member->copy);
    if (error == cudaSuccess && m->gathers && m->parts[n].rows > 0)
        error =
            tmm__device_memory(&member->buffers, m->bytes * buffers, &member->pool, member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS && error == cudaSuccess; s++)
        error = tmm__stream_open(error, &member->compute[s]);
    if (error == cudaSuccess) error = cudaEventCreate(&member->start);
    if (error == cudaSuccess) error = cudaEventCreate(&member->stop);
    error = tmm__event_open(error, &member->join);
    for (int b = 0; b < TMM__MULTI_BUFFERS && error == cudaSuccess; b++) {
        error = tmm__event_open(error, &member->ready[b]);
        error = tmm__event_open(error, &member->used[b]);
    }
    return tmm__device_error(device, error, "memory, stream or event");
}

static inline void tmm__member_close(const tmm_part *p, tmm__member *member)
{
    (void)tmm__succeeded(cudaSetDevice(p->device));
    tmm__device_memory_free(member->buffers, member->pool, member->copy);
    tmm__stream_close(member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS; s++) tmm__stream_close(member->compute[s]);
    tmm__event_close(member->start);
    tmm__event_close(member->stop);
    tmm__event_close(member->join);
    for (int b = 0; b < TMM__MULTI_BUFFERS; b++) {
        tmm__event_close(member->ready[b]);
        tmm__event_close(member->used[b]);
    }
}

/* Enqueues column of blocks j on device number n. */
static inline tmm_status tmm__multi_step(const tmm__multi *m, int n, long long j)
{
    const tmm__job *job = m->job;
    const tmm_part *p = &m->parts[n];
    tmm__member *member = &m->members[n];
    long long n0 = j * m->bn, cols = tmm__min(job->N - n0, m->bn), size = (long long)job->size;
    int b = (int)(j % TMM__MULTI_BUFFERS), s = (int)(j % TMM__MULTI_STREAMS);
    int transA = job->opA == TMM_OP_T, transB = job->opB == TMM_OP_T;
    const char *A = (const char *)p->A, *B = (const char *)p->B;
    tmm__block_product block;
    block.M = p->rows, block.N = cols;
    block.lda = p->lda, block.ldb = p->ldb, block.ldc = p->ldc;
    block.C = (char *)p->C + (size_t)n0 * job->size_C;
    cudaError_t error = cudaSetDevice(p->device);
    tmm_status status = TMM_OK;
    if (member->buffers != NULL) {
        char *buffer = member->buffers + (size_t)b * m->bytes;
        if (error == cudaSuccess && j >= TMM__MULTI_BUFFERS)
            error = cudaStreamWaitEvent(member->copy, member->used[b], 0);
        status = tmm__device_error(p->device, error, "cudaStreamWaitEvent");
        if (status == TMM_OK) status = tmm__gather(m, n, buffer, n0, cols);
        if (status != TMM_OK) return status;
        error = cudaEventRecord(member->ready[b], member->copy);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(member->compute[s], member->ready[b], 0);
        B = buffer;
        block.ldb = (long long)m->pitch / size;
        n0 = 0;
    }
    status = tmm__device_error(p->device, error, "cudaStreamWaitEvent");
    for (long long k = 0, k0 = 0; status == TMM_OK && (k == 0 || k0 < job->K); k++) {
        long long end = tmm__k_begin(job, k + 1);
        block.A = A, block.B = B;
        if (job->K > 0) {
            block.A = A + (size_t)(transA ? k0 * block.lda : k0) * job->size;
            block.B = B + (size_t)(transB ? n0 * block.ldb + k0 : k0 * block.ldb + n0) * job->size;
        }
        block.K = end - k0;
        block.adds = k > 0;
        status = tmm__add_device(p->device, job->launch(job, &block, member->compute[s]));
        k0 = end;
    }
    if (status == TMM_OK)
        status = tmm__device_error(p->device, cudaEventRecord(member->used[b], member->compute[s]),
                                   "cudaEventRecord");
    return status;
}

/* Without access, the same copies go through the host. */
static inline tmm_status tmm__multi_access(const tmm__multi *m, int n)
{
    int to = m->parts[n].device;
    tmm_status status = tmm__device_error(to, cudaSetDevice(to), "cudaSetDevice");
    for (int i = 0; i < m->count && m->gathers && status == TMM_OK; i++) {
        int accessible = 0, from = m->parts[i].device;
        if (from == to) continue;
        status = tmm__device_error(to, cudaDeviceCanAccessPeer(&accessible, to, from),
                                   "cudaDeviceCanAccessPeer");
        if (status == TMM_OK && accessible)
            (void)tmm__succeeded(cudaDeviceEnablePeerAccess(from, 0));
    }
    return status;
}

/* Events around the work of a device, for its time. */
static inline tmm_status tmm__member_start(const tmm_part *p, tmm__member *member)
{
    cudaError_t error = cudaEventRecord(member->start, member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS && error == cudaSuccess; s++)
        error = cudaStreamWaitEvent(member->compute[s], member->start, 0);
    return tmm__device_error(p->device, error, "cudaEventRecord");
}

static inline tmm_status tmm__member_stop(const tmm_part *p, tmm__member *member)
{
    cudaError_t error = cudaEventRecord(member->join, member->compute[1]);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(member->compute[0], member->join, 0);
    if (error == cudaSuccess) error = cudaEventRecord(member->stop, member->compute[0]);
    return tmm__device_error(p->device, error, "cudaEventRecord");
}

/* Also after a failure: nothing may be under way in the caller's memory. */
static inline tmm_status tmm__member_wait(tmm_part *p, tmm__member *member, tmm_status status)
{
    float ms = 0;
    if (member->copy == NULL || !tmm__succeeded(cudaSetDevice(p->device))) return status;
    cudaError_t error = cudaStreamSynchronize(member->copy);
    for (int s = 0; s < TMM__MULTI_STREAMS; s++)
        if (member->compute[s] != NULL && error == cudaSuccess)
            error = cudaStreamSynchronize(member->compute[s]);
    if (!tmm__succeeded(error) && status == TMM_OK)
        status = tmm__device_error(p->device, error, "kernel or copy");
    if (status == TMM_OK && p->rows > 0 &&
        tmm__succeeded(cudaEventElapsedTime(&ms, member->start, member->stop)))
        p->seconds = ms * 1e-3;
    return status;
}

static inline tmm_status tmm__multi_run(const tmm__job *job, tmm_part *parts, int count)
{
    tmm__multi multi, *m = &multi;
    long long eighth = (job->N - 1) / 8 + 1;
    int current = 0;
    memset(m, 0, sizeof *m);
    m->job = job;
    m->parts = parts;
    m->count = count;
    m->gathers = job->K > 0 && count > 1;
    m->bn = job->N;
    if (m->gathers) {
        long long limit = eighth > TMM__MULTI_COLUMNS ? eighth : TMM__MULTI_COLUMNS;
        m->bn = tmm__block_edge(job->N, tmm__min(job->N, limit));
        m->bytes = tmm__part_size(job, 1, job->K, m->bn, &m->pitch);
    }
    m->nj = (job->N - 1) / m->bn + 1;
    tmm_status status = tmm__cuda(cudaGetDevice(&current), "cudaGetDevice");
    if (status != TMM_OK) return status;
    m->members = (tmm__member *)calloc((size_t)count, sizeof *m->members);
    if (m->members == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for the devices");
    for (int n = 0; n < count && status == TMM_OK; n++) {
        parts[n].seconds = 0;
        status = tmm__multi_access(m, n);
    }
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0 || parts[n].rows_B > 0) status = tmm__member_open(m, n);
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0) status = tmm__member_start(&parts[n], &m->members[n]);
    for (long long j = 0; j < m->nj; j++)
        for (int n = 0; n < count && status == TMM_OK; n++)
            if (parts[n].rows > 0) status = tmm__multi_step(m, n, j);
    for (int n = 0; n < count && status == TMM_OK; n++)
        if (parts[n].rows > 0) status = tmm__member_stop(&parts[n], &m->members[n]);
    for (int n = 0; n < count; n++) status = tmm__member_wait(&parts[n], &m->members[n], status);
    for (int n = 0; n < count; n++) tmm__member_close(&parts[n], &m->members[n]);
    free(m->members);
    (void)tmm__succeeded(cudaSetDevice(current));
    return status;
}
#endif
/* src/tiledmm/checks.h. CHECKS of results, for matrices of any type.
   Uses: once/. Used by: callers. */
#if TMM__HOST && !defined(TMM__ONCE)
/* Element number `index` of an array. */
static inline double tmm__element(tmm_type type, const void *X, long long index)
{
    switch (type) {
    case TMM_FLOAT: return ((const float *)X)[index];
    case TMM_DOUBLE: return ((const double *)X)[index];
    case TMM_INT: break;
    }
    return ((const int *)X)[index];
}

static inline size_t tmm__element_size(tmm_type type)
{
    return type == TMM_DOUBLE ? sizeof(double) : sizeof(float);
}

static inline tmm_status tmm__check_type(tmm_type type)
{
    if (type == TMM_FLOAT || type == TMM_DOUBLE || type == TMM_INT) return TMM_OK;
    return tmm__fail(TMM_ERROR_ARGUMENT, "type is %d, which is no tmm_type", (int)type);
}

/* What both errors ask of their arguments. */
static inline tmm_status tmm__check_error(tmm_type type, long long M, long long N, const void *X,
                                          long long ldx, const double *R, long long ldr,
                                          const double *error)
{
    tmm_status status = tmm__check_type(type);
    if (status != TMM_OK) return status;
    if (M < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "M is negative: %lld", M);
    if (N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", N);
    if (error == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "error is NULL");
    status = tmm__check_matrix("X", "ldx", X, M, N, ldx, tmm__element_size(type));
    if (status == TMM_OK) status = tmm__check_matrix("R", "ldr", R, M, N, ldr, sizeof(double));
    return status;
}

/* The largest error. Equal infinities and two NaN do not differ; any other NaN is infinite. */
static inline double tmm__largest_error(tmm_type type, long long M, long long N, const void *X,
                                        long long ldx, const double *R, long long ldr, int relative)
{
    double largest = 0;
    for (long long i = 0; i < M; i++)
        for (long long j = 0; j < N; j++) {
            double x = tmm__element(type, X, i * ldx + j), r = R[i * ldr + j];
            if (x == r || (x != x && r != r)) continue;
            double e = fabs(x - r);
            if (relative) e /= fabs(r) + 1e-12;
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    return largest;
}

TMM_API tmm_status tmm_max_abs_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error)
{
    tmm_status status = tmm__check_error(type, M, N, X, ldx, R, ldr, error);
    if (status == TMM_OK) *error = tmm__largest_error(type, M, N, X, ldx, R, ldr, 0);
    return status;
}

TMM_API tmm_status tmm_max_rel_error(tmm_type type, long long M, long long N, const void *X,
                                     long long ldx, const double *R, long long ldr, double *error)
{
    tmm_status status = tmm__check_error(type, M, N, X, ldx, R, ldr, error);
    if (status == TMM_OK) *error = tmm__largest_error(type, M, N, X, ldx, R, ldr, 1);
    return status;
}

/* y = X r for an M x N matrix X. Integers are taken modulo 2^32; doubles hold these exactly. */
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

/* The square of the Euclidean norm of `count` elements from `first` on. */
static inline double tmm__square_norm(tmm_type type, const void *X, long long first,
                                      long long count)
{
    double sum = 0;
    for (long long n = 0; n < count; n++) {
        double x = tmm__element(type, X, first + n);
        sum += x * x;
    }
    return sum;
}

/* Fills r with +1 and -1, one well mixed bit of splitmix64 each. */
static inline void tmm__random_signs(unsigned long long *seed, long long count, double *r)
{
    for (long long n = 0; n < count; n++) {
        unsigned long long z = (*seed += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        r[n] = (z >> 63) ? 1 : -1;
    }
}

TMM_API tmm_status tmm_freivalds(tmm_type type, long long M, long long N, long long K,
                                 const void *A, long long lda, const void *B, long long ldb,
                                 const void *C, long long ldc, int trials, unsigned long long seed,
                                 double *excess)
{
    tmm_status status = tmm__check_type(type);
    if (status != TMM_OK) return status;
    const tmm__operands operands = {TMM_OP_N,
                                    TMM_OP_N,
                                    M,
                                    N,
                                    K,
                                    A,
                                    lda,
                                    B,
                                    ldb,
                                    C,
                                    ldc,
                                    tmm__element_size(type),
                                    tmm__element_size(type),
                                    1};
    status = tmm__check_sizes(&operands); /* C is only read */
    if (status != TMM_OK) return status;
    if (trials < 1) return tmm__fail(TMM_ERROR_ARGUMENT, "trials is %d, not positive", trials);
    if (excess == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "excess is NULL");

    double numbers = (double)N + (double)K + 2.0 * (double)M, *r = NULL;
    if (numbers < 1e18) r = (double *)malloc((size_t)(N + K + 2 * M + 1) * sizeof(double));
    if (r == NULL) return tmm__fail(TMM_ERROR_MEMORY, "no host memory for %.0f doubles", numbers);
    double *of_B = r + N, *of_AB = of_B + K, *of_C = of_AB + M;

    double u = type == TMM_FLOAT ? 5.9604644775390625e-8 : 1.1102230246251565e-16;
    double normB = 0, largest = 0; /* normB: the Frobenius norm */
    for (long long k = 0; k < K && type != TMM_INT; k++)
        normB += tmm__square_norm(type, B, k * ldb, N);
    normB = sqrt(normB);
    for (int trial = 0; trial < trials; trial++) {
        tmm__random_signs(&seed, N, r);
        tmm__matvec(type, K, N, B, ldb, r, of_B);
        tmm__matvec(type, M, K, A, lda, of_B, of_AB);
        tmm__matvec(type, M, N, C, ldc, r, of_C);
        for (long long i = 0; i < M; i++) {
            double residual = fabs(of_C[i] - of_AB[i]), norm = 0;
            if (residual == 0) continue;
            if (type != TMM_INT) norm = sqrt(tmm__square_norm(type, A, i * lda, K));
            double e = residual / (8 * sqrt(K + 2.0) * u * norm * normB);
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    }
    free(r);
    *excess = largest;
    return TMM_OK;
}
#endif
/* src/tiledmm/type/begin.h. Per element type from here on: reached with TMM_NAME or TMM_TYPE set.
   Uses: once/. Used by: type/, kernels/. */
#define TMM__ONCE /* what does not depend on a type is read: a later inclusion leaves it out */
#if !defined(TMM__PASS) && (defined(TMM_NAME) || defined(TMM_TYPE))
#ifndef TMM_NAME
#error "tiledmm.cuh: TMM_TYPE is defined without TMM_NAME, the letters that go into tmm_NAMEgemm"
#endif
#ifndef TMM_TYPE
#define TMM_TYPE float
#endif
#ifndef TMM_SUM
#define TMM_SUM TMM_TYPE
#endif
#ifndef TMM_SCALAR /* of alpha and beta */
#define TMM_SCALAR TMM_TYPE
#endif
#ifndef TMM_OUT /* of an element of C */
#define TMM_OUT TMM_TYPE
#endif
#ifdef TMM_TILE                        /* TMM_SHARED has this tile alone */
#if !(TMM_TILE >= 1 && TMM_TILE <= 32) /* the name of a macro that was set aside is 0 here */
#error "tiledmm.cuh: TMM_TILE must be 1 to 32, a number and not the name of a macro"
#endif
#define TMM__ONE_TILE    1
#define TMM__SHARED_TILE TMM_TILE
#else
#define TMM__ONE_TILE    0
#define TMM__SHARED_TILE 32
#endif
/* For lists of instances: lines that only some types have. */
#if TMM__IS_FLOAT
#define TMM__IF_FLOAT(...) __VA_ARGS__
#else
#define TMM__IF_FLOAT(...)
#endif
#if TMM__IS_FLOAT || TMM__IS_DOUBLE
#define TMM__IF_FLOATING(...) __VA_ARGS__
#else
#define TMM__IF_FLOATING(...)
#endif
/* Double and int, as they come, have one tile of TMM_SHARED and of TMM_REGISTER: the largest. */
#if TMM__IS_FLOAT || !defined(TMM__MAKING_READY)
#define TMM__ALL_TILES         1
#define TMM__IF_ALL_TILES(...) __VA_ARGS__
#else
#define TMM__ALL_TILES 0
#define TMM__IF_ALL_TILES(...)
#endif
/* Whether TMM_AUTO may take tensor cores that split elements: see once/config.h. */
#if TMM__IS_DOUBLE
#define TMM__ASKED_TENSOR TMM__AUTO_INT8
#else
#define TMM__ASKED_TENSOR TMM__AUTO_TENSOR
#endif
/* For TMM__KERNEL_LIST: functions of a kernel that only some types and programs have. */
#define TMM__LEFT_OUT tmm__xleft_out, NULL, NULL, NULL
#if TMM__FAST
#define TMM__IF_FAST(...) __VA_ARGS__
#else
#define TMM__IF_FAST(...) TMM__LEFT_OUT
#endif
#if TMM__FAST && TMM__IS_FLOAT
#define TMM__IF_FLOAT_FAST(...) __VA_ARGS__
#else
#define TMM__IF_FLOAT_FAST(...) TMM__LEFT_OUT
#endif
#if TMM__FAST && !TMM__IS_DOUBLE /* of double it is a name for others: see tmm__xstands_for */
#define TMM__IF_FAST_NOT_DOUBLE(...) __VA_ARGS__
#else
#define TMM__IF_FAST_NOT_DOUBLE(...) TMM__LEFT_OUT
#endif
#if TMM__FLOAT_TENSOR || TMM__IS_DOUBLE || TMM__HALF_TENSOR
#define TMM__IF_TENSOR(...) __VA_ARGS__
#else
#define TMM__IF_TENSOR(...) NULL, NULL, NULL
#endif
#if TMM__DOUBLE_TENSOR
#define TMM__IF_INT8(...) __VA_ARGS__
#else
#define TMM__IF_INT8(...) NULL, NULL, NULL
#endif
/* The kernel that converts operands, where there is one. */
#if TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR
#define TMM__CONVERTS   1
#define TMM__CONVERTING (TMM__FLOAT_TENSOR ? TMM_TENSOR : TMM_TENSOR_INT8)
#else
#define TMM__CONVERTS 0
#endif
#if TMM__KERNELS /* before the errors that follow from another type */
static_assert(
    !__is_class(TMM_SUM) && !__is_union(TMM_SUM),
    "tiledmm.cuh: TMM_SUM, which is TMM_TYPE if not defined, must be an integer or floating "
    "type of C++ itself: for __half define it as float; complex numbers and structs cannot "
    "be multiplied");
static_assert(
    __is_constructible(TMM_SUM, TMM_TYPE) && __is_constructible(TMM_TYPE, TMM_SUM) &&
        __is_trivially_copyable(TMM_TYPE) && __is_constructible(TMM_SUM, TMM_OUT) &&
        __is_constructible(TMM_OUT, TMM_SUM) && __is_trivially_copyable(TMM_OUT),
    "tiledmm.cuh: TMM_TYPE must be an integer or floating type, or one such as __half that "
    "converts to TMM_SUM and back; complex numbers and structs cannot be multiplied");
static_assert(sizeof(TMM_TYPE) < 4 || (__is_constructible(TMM_OUT *, TMM_TYPE *) &&
                                       __is_constructible(TMM_SCALAR *, TMM_TYPE *)),
              "tiledmm.cuh: TMM_OUT and TMM_SCALAR other than TMM_TYPE are for elements of 1 or 2 "
              "bytes");
#endif
#endif
/* src/tiledmm/type/api.h. Declarations of what each element type has.
   Uses: once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && !defined(__CUDACC_RTC__)
/* C = alpha op(A) op(B) + beta C on the current device, enqueued on `stream`.
   A, B, C: device pointers. op(A) is M x K, op(B) is K x N, C is M x N, row-major.
   lda: at least K for TMM_OP_N, M for TMM_OP_T; ldb: at least N or K; ldc: at least N.
   Errors: TMM_ERROR_ARGUMENT (nothing is launched), TMM_ERROR_DEVICE, TMM_ERROR_CUDA (launch; a host
   pointer may only show at cudaDeviceSynchronize). */
TMM_API tmm_status tmm__xgemm(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                              TMM_SCALAR alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                              long long ldb, TMM_SCALAR beta, TMM_OUT *C, long long ldc,
                              tmm_stream stream);

/* The same by the kernel named. TMM_ERROR_UNSUPPORTED for a tile or kernel that this type or device
   does not have. */
TMM_API tmm_status tmm__xgemm_with(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                   long long N, long long K, TMM_SCALAR alpha, const TMM_TYPE *A,
                                   long long lda, const TMM_TYPE *B, long long ldb, TMM_SCALAR beta,
                                   TMM_OUT *C, long long ldc, tmm_stream stream);

/* `batch` products of one shape: number b uses A + b strideA, B + b strideB, C + b strideC
   (strides in elements, not negative; 0 for an operand that all share, but not for C). */
TMM_API tmm_status tmm__xgemm_batched(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                      TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                      const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                      long long ldc, long long strideA, long long strideB,
                                      long long strideC, long long batch, tmm_stream stream);
TMM_API tmm_status tmm__xgemm_batched_with(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                           long long N, long long K, TMM_SCALAR alpha,
                                           const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                           long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                           long long ldc, long long strideA, long long strideB,
                                           long long strideC, long long batch, tmm_stream stream);

/* The kernel that TMM_AUTO takes on the current device for dense A and B of this shape, both as
   stored (TMM_OP_N). For leading dimensions from 2^26 on (double: 2^24) or K above 2^34 it takes a
   TMM_REGISTER instead. */
TMM_API tmm_kernel tmm__xgemm_choice(long long M, long long N, long long K, long long batch);

/* Why: writes a line for each kernel to `text`, host memory of `bytes`; 4096 are enough. First the
   one that `kernel`, TMM_AUTO or TMM_AUTO_TENSOR, takes for dense A, B and C. A line has the
   predicted time, the tile, how K is divided, and what binds: the launch, memory, L2 or arithmetic;
   or why the kernel does not take the product. "Only by name": TMM_AUTO leaves it out. `gpu`: NULL
   for the current device, or a word such as "H100" of the name of one that the header has measured.
   Nothing is launched: that needs no GPU.
     Errors: TMM_ERROR_ARGUMENT; TMM_ERROR_MEMORY if `bytes` are too few, then the text is cut. */
TMM_API tmm_status tmm__xgemm_explain(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                      long long N, long long K, long long batch, const char *gpu,
                                      char *text, size_t bytes);

#if TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR
/* C = alpha op(A) op(B) + beta C with operands that may be prepared: float by TMM_TENSOR, with
   TMM_FLOAT_TENSOR; double by TMM_TENSOR_INT8, with TMM_DOUBLE_TENSOR. Device pointers, shapes and
   leading dimensions as for gemm. `options` as above, or NULL. A prepared operand has its own op,
   pointer and leading dimension.
     Bits: as gemm_with, but of float with a prepared operand where M or N is 512 at most, which may
   have others: there A and B are read as they are where that should be faster. Double with a
   prepared operand: as a product in a batch, whatever else A and B hold, unless the device finds
   FP64 to be faster.
     Errors: as gemm, TMM_ERROR_MEMORY if nothing could be allocated, TMM_ERROR_UNSUPPORTED if M,
   N or K is above 2^31 - 8193 (also of the functions below). */
TMM_API tmm_status tmm__xgemm_tensor(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                     TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                     const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                     long long ldc, const tmm_tensor_options *options,
                                     tmm_stream stream);

/* *bytes: what gemm_tensor takes from the device's pool for a product of this shape, at most, until it
   is complete. What is prepared and read so takes nothing more. 0 where the kernel stands for TMM_AUTO (short
   sums). Double takes a quarter of the current device's memory at most: larger products are done
   in parts. */
TMM_API tmm_status tmm__xgemm_tensor_memory(long long M, long long N, long long K,
                                            const tmm_tensor_options *options, size_t *bytes);

/* Converts op(A), M x K, or op(B), K x N, once for many products; enqueued on the stream. `memory`,
   aligned to 16 bytes, has the bytes that gemm_prepare_memory gives for M or N lines; NULL: it is
   allocated, until gemm_release. A and B must not change until then: products read them where the
   converted operand does not suffice for an element of C.
     An element takes 4 bytes in float, two halves; in double 17 for K from 2048 on: residues modulo
   16 numbers, the most that any data need, and units. Without a prepared operand the product may
   take 13 or 14: a prepared B pays for small M (bench/notes/tensor_int8.md).
     Errors: as gemm, TMM_ERROR_MEMORY; then *prepared is all zeros. */
TMM_API tmm_status tmm__xgemm_prepare_A(tmm_op op, long long M, long long K, const TMM_TYPE *A,
                                        long long lda, void *memory, size_t bytes,
                                        tmm_prepared *prepared, tmm_stream stream);
TMM_API tmm_status tmm__xgemm_prepare_B(tmm_op op, long long K, long long N, const TMM_TYPE *B,
                                        long long ldb, void *memory, size_t bytes,
                                        tmm_prepared *prepared, tmm_stream stream);
TMM_API tmm_status tmm__xgemm_prepare_memory(long long lines, long long K, size_t *bytes);

/* Frees what was allocated for it, when the work enqueued so far is complete; not for work in other
   streams. *prepared is all zeros then, for which this does nothing. */
TMM_API tmm_status tmm__xgemm_release(tmm_prepared *prepared, tmm_stream stream);
#endif

/* C = A B from host memory to host memory, dense (lda = K, ldb = N, ldc = N): allocates device
   memory, copies, multiplies, copies back, frees. From 64 MB of matrices on this is gemm_host
   (below) with its defaults, unless that is left out or there is a TMM_EPILOGUE. On an error C is
   unchanged unless the copy back itself failed. Errors: as above and TMM_ERROR_MEMORY. */
TMM_API tmm_status tmm__xmatmul(long long M, long long N, long long K, const TMM_TYPE *A,
                                const TMM_TYPE *B, TMM_OUT *C);

#if TMM__HOST_LAYER
/* C = alpha op(A) op(B) + beta C from host memory to host memory, on one or several devices;
   complete when it returns. A, B, C: host pointers, pinned (then copies are fastest), managed or
   pageable; shapes and leading dimensions as for gemm. The matrices may exceed device memory.
   `options`: see tmm_host_options; NULL: the current device, with all its memory.
     Bits: they depend on alpha, beta, the op, the element's row of A, its column of B and K alone,
   not on shares, devices, blocks or streams. For K up to 4096 they are those of TMM_REGISTER. A
   larger K is cut in parts of 4096 at most, each of which is added to C; not where C has 16 bits.
     Each device computes some rows of C and loads its rows of A. B is loaded once and passed on
   where devices can access each other (that access stays enabled), otherwise each loads it from the
   host.
     On an error or when cancelled, all is freed, no thread is left, and each element of C has its
   old or its final value. Windows: no threads, so the calling one stages pageable memory.
     Errors, and tmm_last_error names the device: TMM_ERROR_ARGUMENT, TMM_ERROR_DEVICE (cannot be
   used), TMM_ERROR_MEMORY (of a device or the host), TMM_ERROR_CUDA (a copy or a kernel failed),
   TMM_ERROR_CANCELLED (by `progress`). TMM_ERROR_UNSUPPORTED: a kernel that this type lacks;
   TMM_SMALL and TMM_SKINNY, whose bits depend on the shape; TMM_EPILOGUE, which would see rows
   and columns of blocks. */
TMM_API tmm_status tmm__xgemm_host(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                   TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                   const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                   long long ldc, const tmm_host_options *options);

/* C = alpha op(A) op(B) + beta C where the rows of op(A) and C, and those of B, are spread over
   `count` parts on devices, in order: `rows` add up to M, `rows_B` to K (to N for TMM_OP_T). The
   result stays in place. Parts may be on one device. `kernel`: TMM_AUTO, or the one to use.
     Each device gathers the columns of B that it works on, an eighth of B at a time (512 columns at
   least), in memory for three times that. The call waits for what has been enqueued on the devices
   before, and returns when all is complete; each part's `seconds` is set.
     Bits: as gemm_host. Errors: as gemm_host; after one, C is undefined. */
TMM_API tmm_status tmm__xgemm_multi(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                    TMM_SCALAR alpha, TMM_SCALAR beta, tmm_part *parts, int count,
                                    tmm_kernel kernel);
#endif /* TMM__HOST_LAYER */

#ifdef TMM_WITH_SYRK
/* C = alpha op(A) op(A)^T + beta C, a symmetric matrix, on the current device, enqueued on `stream`.
   A, C: device pointers. op(A) is N x K, C is N x N, row-major. lda: at least K for TMM_OP_N, N for
   TMM_OP_T; ldc: at least N.
     `fill`: of TMM_LOWER or TMM_UPPER no element of the other half is read or written. TMM_BOTH reads
   the lower half, and sets both: they are equal, bit by bit.
     `kernel`: TMM_PIPELINED, and TMM_TENSOR of double, half and bfloat16, compute the tiles of a
   triangle alone. By others it goes strip by strip, in memory for up to 4096 x 4096 elements of C.
     Errors: as gemm; TMM_ERROR_MEMORY; TMM_ERROR_UNSUPPORTED with a TMM_EPILOGUE. C must not
   overlap A, not with its other half either. */
TMM_API tmm_status tmm__xsyrk(tmm_fill fill, tmm_op op, long long N, long long K, TMM_SCALAR alpha,
                              const TMM_TYPE *A, long long lda, TMM_SCALAR beta, TMM_OUT *C,
                              long long ldc, tmm_stream stream);
TMM_API tmm_status tmm__xsyrk_with(tmm_kernel kernel, tmm_fill fill, tmm_op op, long long N,
                                   long long K, TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, tmm_stream stream);

/* `batch` of them, as of gemm_batched. */
TMM_API tmm_status tmm__xsyrk_batched_with(tmm_kernel kernel, tmm_fill fill, tmm_op op, long long N,
                                           long long K, TMM_SCALAR alpha, const TMM_TYPE *A,
                                           long long lda, TMM_SCALAR beta, TMM_OUT *C,
                                           long long ldc, long long strideA, long long strideC,
                                           long long batch, tmm_stream stream);

/* The reference: host pointers, one thread, as gemm_cpu. */
TMM_API tmm_status tmm__xsyrk_cpu(tmm_fill fill, tmm_op op, long long N, long long K,
                                  TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                  TMM_SCALAR beta, TMM_OUT *C, long long ldc);
#endif

/* C = alpha op(A) op(B) + beta C on the CPU, host pointers, one thread, blocked for the cache.
   Sums are kept in TMM_SUM, in ascending k. TMM_EPILOGUE is not applied. */
TMM_API tmm_status tmm__xgemm_cpu(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                  TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                  const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                  long long ldc);

/* The same over `threads` OpenMP threads (0: as many as OpenMP would take), with the same bits.
   TMM_ERROR_UNSUPPORTED when built without OpenMP (nvcc -Xcompiler -fopenmp). */
TMM_API tmm_status tmm__xgemm_openmp(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                     TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                     const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                     long long ldc, int threads);
#endif
/* src/tiledmm/kernels/simple/global.cuh. The kernel that teaches global memory.
   Uses: once/passes.h. Used by: launch.h. */
/* All kernels compute one M x N matrix C = alpha op(A) op(B) + beta C per blockIdx.z, where
       op(A)(i, k) = A[i * rsA + k * csA]     rs: row stride, cs: column stride, in elements;
       op(B)(k, j) = B[k * rsB + j * csB]     a transposed operand is the same memory with the
       C(i, j)     = C[i * ldc + j]           two strides exchanged
   and product number blockIdx.z starts at A + blockIdx.z * batchA, and so on. The tiles of C are
   numbered along the rows: 0 1 2 ... in the first row of tiles; blockIdx.x is that number. */

#if defined(TMM__PASS) && TMM__EMIT_TYPE
#define tmm_gemm_global tmm__xgemm_global
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

   Launch: blocks of T x T threads, any T, and ceil(M / T) ceil(N / T) of them in one dimension;
   gridDim.z: products of a batch.
   To paste: everything from here to the line that ends the kernel, below  #define TMM_TYPE float */
#ifndef TMM_KERNEL
#define TMM_KERNEL     __global__
#define TMM_SUM        TMM_TYPE
#define TMM_SCALAR     TMM_TYPE
#define TMM_OUT        TMM_TYPE
#define TMM__MUL(a, b) ((a) * (b))
#endif

TMM_KERNEL void tmm_gemm_global(long long M, long long N, long long K, TMM_SCALAR alpha,
                                const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                                long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                                long long csB, long long batchB, TMM_SCALAR beta,
                                TMM_OUT *__restrict__ C, long long ldc, long long batchC)
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
    if ((TMM_SUM)beta != 0)
        old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C); /* beta = 0 must not read C */
    TMM_OUT value = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum) + old);
#ifdef TMM_EPILOGUE
    value = TMM_EPILOGUE(value, row, col);
#endif
    *C = value;
}
/* END OF KERNEL */
#undef tmm_gemm_global
#endif
/* src/tiledmm/kernels/simple/shared.cuh. The kernel that teaches shared memory.
   Uses: once/. Used by: launch.h, type/instances.h. */
/* The instances: pass, and tile, which is its name. TMM_TILE, if the caller defines it, is the only
   one. */
#ifndef TMM__SHARED_LIST
#define TMM__SHARED_LIST(_) TMM__IF_ALL_TILES(_(1, 8) _(2, 16)) _(3, 32)
#endif

#ifdef TMM__PASS
#if TMM__ONE_TILE ? TMM__PASS == 1 : (TMM__SHARED_LIST(TMM__IN_PASS) 0)
#if !TMM__ONE_TILE
#define TMM_TILE TMM__SHARED_LIST(TMM__NAME_IN_PASS)
#endif
#define tmm_gemm_shared TMM__JOIN(tmm__xgemm_shared_, TMM_TILE)
/* ============================== KERNEL SHARED ================================================= */
/* A block computes a tile of C, TMM_TILE x TMM_TILE, one element a thread. It walks along k in
   steps of TMM_TILE. At each step all threads together copy one tile of A and one of B into shared
   memory. Then each thread takes its row and its column from there.

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

   To paste: everything from here to the line that ends the kernel, below  #define TMM_TYPE float
   and  #define TMM_TILE 16;  launch a block of (TMM_TILE, TMM_TILE) threads for each tile of C, in
   one dimension. */
#ifndef TMM_KERNEL
#define TMM_KERNEL     __global__
#define TMM_SUM        TMM_TYPE
#define TMM_SCALAR     TMM_TYPE
#define TMM_OUT        TMM_TYPE
#define TMM__MUL(a, b) ((a) * (b))
#endif

TMM_KERNEL void __launch_bounds__(TMM_TILE *TMM_TILE)
    tmm_gemm_shared(long long M, long long N, long long K, TMM_SCALAR alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC)
{
    static_assert(
        TMM_TILE >= 1 && TMM_TILE <= 32,
        "TMM_TILE must be 1 to 32: a block has TMM_TILE x TMM_TILE threads, 1024 at most");
    /* 16 bytes of padding a row keep the rows aligned for vector loads, and spread a column over
       the banks: a transposed tile is stored by columns. The store of a warp takes, in float,
           TMM_TILE           8        16        32
           along a row        2 (1)    2 (1)     1 (1)       passes over the banks;
           down a column      1 (2)    2 (8)     4 (32)      in brackets: without the padding
       So it costs a pass where nothing is transposed, and saves up to 28 where something is. */
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
    if ((TMM_SUM)beta != 0)
        old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C); /* beta = 0 must not read C */
    TMM_OUT value = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum) + old);
#ifdef TMM_EPILOGUE
    value = TMM_EPILOGUE(value, row, col);
#endif
    *C = value;
}
/* END OF KERNEL */
#undef tmm_gemm_shared
#if !TMM__ONE_TILE
#undef TMM_TILE
#endif
#endif
#endif
/* src/tiledmm/kernels/simple/register.cuh. The kernel that teaches registers.
   Uses: once/passes.h. Used by: launch.h, type/instances.h. */
/* The instances: pass, tile, which is its name, and TMM_BLOCK. */
#ifndef TMM__REGISTER_LIST
#define TMM__REGISTER_LIST(_) TMM__IF_ALL_TILES(_(1, 64, 4)) _(2, 128, 8)
#endif

#ifdef TMM__PASS
#if TMM__REGISTER_LIST(TMM__IN_PASS) 0
#define TMM_BLOCK         (TMM__REGISTER_LIST(TMM__VALUE_1) 0)
#define tmm_gemm_register tmm__gemm_register
#define tmm_quad          tmm__quad
#define tmm_fetch_quad    tmm__fetch_quad
#define tmm_put_quad      tmm__put_quad
/* ============================== KERNEL REGISTER =============================================== */
/* Each thread owns TMM_BLOCK x TMM_BLOCK elements of C (4 or 8) and keeps them in registers. So the
   2 TMM_BLOCK elements that it reads from shared memory serve TMM_BLOCK^2 multiply-adds. 256 threads
   own a tile of TILE = 16 TMM_BLOCK rows and columns (64 or 128).

   Tile of C, TMM_BLOCK 8: 8 warps of 32 rows x 64 columns. Within a warp, 4 x 8 lanes with four
   quads of 4 x 4 each (TMM_BLOCK 4: one quad, and everything below is half as large):
      +---------+---------+                     8 lanes across, 4 columns each
      | warp 0  | warp 1  |             +--+--+--+--+--+--+--+--+--+--   --+
      +---------+---------+             | 0| 1| 4| 5| 8| 9|12|13| 0| 1 ... |
      | warp 2  | warp 3  |             | 2| 3| 6| 7|10|11|14|15| 2|       |  4 lanes down,
      +---------+---------+             |16|17|20|21|24|25|28|29|16|       |  4 rows each
      | warp 4  | warp 5  |             |18|19|22|23|26|27|30|31|18|       |
      +---------+---------+             +--+--+--+--+--+--+--+--+--+--   --+
      | warp 6  | warp 7  |             | 0| 1| 4|                         |  ... and once more
      +---------+---------+
   Lanes side by side read neighbouring quads of shared memory with 128-bit loads, free of bank
   conflicts; lanes above each other read the same quad, which is broadcast. They lie in squares of
   2 x 2: where neighbours in pairs read the same, such a load takes two rounds, not four.

   Along k the block advances by DEPTH = 1024 / TILE (8 or 16). So each thread copies one quad of A
   and one of B. There are two buffers. The quads of the next step are fetched from global memory
   into registers before the arithmetic on this step. After it they are stored to the other buffer;
   one barrier a step. Both tiles lie in shared memory as [k][row] and [k][column].

   Global loads: 2 M N K / TILE elements, TILE / 4 FLOP per byte in float (32 for TILE 128).
   Shared loads: TMM_BLOCK / 4 FLOP per byte. What bounds it for TMM_BLOCK 8: the multiply-add
   units, less what address arithmetic, barriers and the latency of shared loads take from them.

   To paste: everything from here to the line that ends the kernel, below  #define TMM_TYPE float
   and  #define TMM_BLOCK 8;  launch a block of 256 threads for each tile of C, in one dimension. */
#ifndef TMM_KERNEL
#define TMM_KERNEL     __global__
#define TMM_SUM        TMM_TYPE
#define TMM_SCALAR     TMM_TYPE
#define TMM_OUT        TMM_TYPE
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
    tmm_gemm_register(long long M, long long N, long long K, TMM_SCALAR alpha,
                      const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                      long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                      long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
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
    int row0 = warp / 2 * (16 * QUADS) + (lane / 16 * 2 + lane / 2 % 2) * 4;
    int col0 = warp % 2 * (32 * QUADS) + (lane / 4 % 4 * 2 + lane % 2) * 4;

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

    /* One row after the other, each moved to the place of the first: registers have no index, and
       code for every row would be most of this kernel. */
    struct alignas(sizeof(TMM_OUT) < 4 ? 4 * sizeof(TMM_OUT) : 16) quad_of_C {
        TMM_OUT v[4];
    } quad;
    bool alignedC = ((size_t)C | ldc * sizeof(TMM_OUT)) % alignof(quad_of_C) == 0;
#pragma unroll 1
    for (int i = 0; i < TMM_BLOCK; i++) {
        long long row = tile_row + row0 + i / 4 * 16 + i % 4;
        if (row >= M) break;
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            long long col = tile_col + col0 + 32 * q;
            TMM_OUT *c = C + row * ldc + col;
            bool vector = alignedC && col + 4 <= N;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (col + j >= N) continue;
                TMM_SUM old = 0;
                if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)c[j]);
                quad.v[j] = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum[0][4 * q + j]) + old);
#ifdef TMM_EPILOGUE
                quad.v[j] = TMM_EPILOGUE(quad.v[j], row, (col + j));
#endif
                if (!vector) c[j] = quad.v[j];
            }
            if (vector) *(quad_of_C *)c = quad;
        }
#pragma unroll
        for (int h = 0; h < TMM_BLOCK - 1; h++)
#pragma unroll
            for (int j = 0; j < TMM_BLOCK; j++) sum[h][j] = sum[h + 1][j];
    }
}
/* END OF KERNEL */
#undef TMM_BLOCK
#undef tmm_gemm_register
#undef tmm_quad
#undef tmm_fetch_quad
#undef tmm_put_quad
#endif
#endif
/* src/tiledmm/kernels/common/store.cuh. Loading and storing elements of C.
   Uses: once/. Used by: kernels/common/, kernels/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* Terms:  mask    bit j is set if neighbour j is to be read or written
           vector  all bits are set, and C is aligned: one access, no predicates
           old     beta C, or zero if beta is 0: C is not read then
   Which function stores what:
       store4          4 neighbours                  partial tiles of PIPELINED, TENSOR FLOAT
       store_rows      rows of 2 x 4, with branches  KERNEL PIPELINED, all instances but TN
       store_row       1 row of 2 x 4, predicated    KERNEL PIPELINED, instance TN
       store2          2 neighbours                  KERNEL TENSOR, TENSOR FLOAT
       store_masked    1 to 4 elements, predicated   KERNEL SMALL, SKINNY, SUM, TENSOR FLOAT */

/* Four neighbouring elements of shared memory; four or two of C. */
typedef struct alignas(sizeof(TMM_TYPE) < 4 ? 4 * sizeof(TMM_TYPE) : 16) tmm__xelements4 {
    TMM_TYPE v[4];
} tmm__xelements4;

typedef struct alignas(sizeof(TMM_OUT) < 4 ? 4 * sizeof(TMM_OUT) : 16) tmm__xouts4 {
    TMM_OUT v[4];
} tmm__xouts4;

typedef struct alignas(2 * sizeof(TMM_OUT)) tmm__xouts2 {
    TMM_OUT v[2];
} tmm__xouts2;

/* Four sums of a partial tile. */
typedef struct alignas(16) tmm__xsums4 {
    TMM_SUM v[4];
} tmm__xsums4;

/* beta times four elements of C, or zeros if beta is 0. `mask`: see tmm__column_mask. All are read
   before others are stored. The compiler cannot know that they do not overlap, and would wait for
   each. */
TMM__DEVICE tmm__xsums4 tmm__xload4(const TMM_OUT *C, bool vector, unsigned mask, TMM_SCALAR beta)
{
    tmm__xsums4 old = {{0, 0, 0, 0}};
    if ((TMM_SUM)beta == 0) return old;
    tmm__xouts4 elements = {{0, 0, 0, 0}};
    if (vector) elements = *(const tmm__xouts4 *)C;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (!vector && (mask >> j & 1)) elements.v[j] = C[j];
        old.v[j] = TMM__MUL((TMM_SUM)beta, (TMM_SUM)elements.v[j]);
    }
    return old;
}

/* Stores alpha sum + old as four elements of row `row` of C, from column `col` on. C points there.
   `old` comes from load4 with the same `vector` and `mask`. */
TMM__DEVICE void tmm__xstore4(TMM_OUT *C, long long row, long long col, bool vector, unsigned mask,
                              TMM_SCALAR alpha, const TMM_SUM *old, const TMM_SUM *sum)
{
    tmm__xouts4 elements;
    (void)row, (void)col; /* only for the epilogue */
#pragma unroll
    for (int j = 0; j < 4; j++) {
        bool inside = vector || (mask >> j & 1);
        elements.v[j] = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old[j]);
#ifdef TMM_EPILOGUE
        if (inside) elements.v[j] = TMM_EPILOGUE(elements.v[j], row, (col + j));
#endif
        if (!vector && inside) C[j] = elements.v[j];
    }
    if (vector) *(tmm__xouts4 *)C = elements;
}

/* The same for `rows` rows (4 at most) of KERNEL PIPELINED, as far as they lie from first_row on
   and before `end`, and in the `triangle`, which has all of them with `vector`. Each has two vectors
   of four, 32 columns apart, and 8 bits of `mask`. With `vector`, bits 0 and 4 stand for all four.
   beta is compared once, not for each vector. */
TMM__DEVICE void tmm__xstore_rows(TMM_OUT *C, long long ldc, long long row, long long first_row,
                                  long long end, long long col, bool vector, unsigned mask,
                                  TMM_SCALAR alpha, TMM_SCALAR beta, const TMM_SUM (*sum)[8],
                                  const int rows, int triangle)
{
    tmm__xsums4 old[4][2];
#pragma unroll
    for (int h = 0; h < 2 * rows; h++)
#pragma unroll
        for (int j = 0; j < 4; j++) old[h / 2][h % 2].v[j] = 0;
    if ((TMM_SUM)beta != 0) {
#pragma unroll
        for (int h = 0; h < 2 * rows; h++) {
            bool enabled =
                row + h / 2 >= first_row && row + h / 2 < end && (mask >> h % 2 * 4 & 15);
            if (enabled)
                old[h / 2][h % 2] = tmm__xload4(C + h / 2 * ldc + h % 2 * 32, vector,
                                                tmm__triangle_mask(triangle, mask >> h % 2 * 4,
                                                                   row + h / 2, col + h % 2 * 32),
                                                beta);
        }
    }
#pragma unroll
    for (int h = 0; h < 2 * rows; h++) {
        if (row + h / 2 < first_row || row + h / 2 >= end) continue;
        if (vector && !(mask >> h % 2 * 4 & 1)) continue;
        tmm__xstore4(C + h / 2 * ldc + h % 2 * 32, row + h / 2, col + h % 2 * 32, vector,
                     tmm__triangle_mask(triangle, mask >> h % 2 * 4, row + h / 2, col + h % 2 * 32),
                     alpha, old[h / 2][h % 2].v, &sum[h / 2][h % 2 * 4]);
    }
}

/* Two elements of C, as far as the mask has them. `aligned`: C is, to two elements. They are read
   before others are stored: see load4. */
TMM__DEVICE tmm__xouts2 tmm__xload2(const TMM_OUT *C, bool aligned, unsigned mask)
{
    tmm__xouts2 elements = {{0, 0}};
    if (aligned && (mask & 3) == 3) return *(const tmm__xouts2 *)C;
    if (mask & 1) elements.v[0] = C[0];
    if (mask & 2) elements.v[1] = C[1];
    return elements;
}

/* The same as store4 for two elements, where C was `elements` before. */
TMM__DEVICE void tmm__xstore2(TMM_OUT *C, long long row, long long col, bool aligned, unsigned mask,
                              TMM_SCALAR alpha, TMM_SCALAR beta, tmm__xouts2 elements,
                              const TMM_SUM *sum)
{
    bool vector = aligned && (mask & 3) == 3;
    (void)row, (void)col; /* only for the epilogue */
#pragma unroll
    for (int j = 0; j < 2; j++) {
        bool inside = mask >> j & 1;
        TMM_SUM old = 0;
        if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)elements.v[j]);
        elements.v[j] = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum[j]) + old);
#ifdef TMM_EPILOGUE
        if (inside) elements.v[j] = TMM_EPILOGUE(elements.v[j], row, (col + j));
#endif
        if (inside && !vector) C[j] = elements.v[j];
    }
    if (vector) *(tmm__xouts2 *)C = elements;
}

/* One element of C from or to global memory; one that is not enabled is left as it is. */
TMM__DEVICE void tmm__xload_if(TMM_OUT *to, const TMM_OUT *from, bool enabled)
{
    tmm__load_if(to, from, sizeof(TMM_OUT), enabled);
}

TMM__DEVICE void tmm__xstore_if(TMM_OUT *to, TMM_OUT from, bool enabled)
{
    tmm__store_if(to, &from, sizeof(TMM_OUT), enabled);
}

/* An element of C, alpha sum + old, where old is beta C; if it is enabled, through the epilogue. */
TMM__DEVICE TMM_OUT tmm__xvalue(TMM_SUM sum, TMM_SCALAR alpha, TMM_SUM old, bool enabled,
                                long long row, long long col)
{
    TMM_OUT value = (TMM_OUT)(TMM__MUL((TMM_SUM)alpha, sum) + old);
    (void)enabled, (void)row, (void)col; /* only for the epilogue */
#ifdef TMM_EPILOGUE
    if (enabled) value = TMM_EPILOGUE(value, row, col);
#endif
    return value;
}

/* Stores alpha sum + beta C to `count` neighbours of row `row` of C, from column `col` on: those that
   the mask has. `count` is a constant, 4 at most. It has no branches. It serves single elements, C
   that is not aligned, and elements that are checked one by one. */
TMM__DEVICE void tmm__xstore_masked(TMM_OUT *C, long long row, long long col, const int count,
                                    unsigned mask, TMM_SCALAR alpha, TMM_SCALAR beta,
                                    const TMM_SUM *sum)
{
    TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    unsigned read = (TMM_SUM)beta == 0 ? 0 : mask;
    TMM_OUT elements[4] = {0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < count; j++) tmm__xload_if(&elements[j], C + j, read >> j & 1);
#pragma unroll
    for (int j = 0; j < count; j++) {
        TMM_SUM old = TMM__MUL(factor, (TMM_SUM)elements[j]);
        bool enabled = mask >> j & 1;
        tmm__xstore_if(C + j, tmm__xvalue(sum[j], alpha, old, enabled, row, col + j), enabled);
    }
}

/* Stores alpha sum + beta C as two vectors of row `row` of C, from columns `col` and col + 32 on.
   The mask has 8 bits. With `vector`, bits 0 and 4 stand for all four. C is read by single
   elements, so one code serves both cases. There is no branch for beta: the main loop of the kernel
   would pay for it. */
TMM__DEVICE void tmm__xstore_row(TMM_OUT *C, long long row, long long col, bool vector,
                                 unsigned mask, TMM_SCALAR alpha, TMM_SCALAR beta,
                                 const TMM_SUM *sum)
{
    TMM_SUM factor =
        (TMM_SUM)beta == 0 ? (TMM_SUM)0 : (TMM_SUM)beta; /* -0 would change the sign of zeros */
    unsigned read = (TMM_SUM)beta == 0 ? 0 : mask;
    tmm__xouts4 elements[2] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
#pragma unroll
    for (int j = 0; j < 8; j++)
        tmm__xload_if(&elements[j / 4].v[j % 4], C + j / 4 * 32 + j % 4, read >> j & 1);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        TMM_OUT *element = &elements[j / 4].v[j % 4];
        TMM_SUM old = TMM__MUL(factor, (TMM_SUM)*element);
        *element = tmm__xvalue(sum[j], alpha, old, mask >> j & 1, row, col + j / 4 * 32 + j % 4);
    }
    if (vector) {
        if (mask & 1) *(tmm__xouts4 *)C = elements[0];
        if (mask & 16) *(tmm__xouts4 *)(C + 32) = elements[1];
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
        tmm__xstore_if(C + j / 4 * 32 + j % 4, elements[j / 4].v[j % 4], mask >> j & 1);
}
#endif
/* src/tiledmm/kernels/common/streamk.cuh. Tiles and partial tiles of a schedule.
   Uses: store.cuh, once/.
   Used by: pack_reduce.cuh, kernels/pipelined/, kernels/tensor/, kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* Tile number `tile` of C: its first row and column, in units of tiles. Bands of band_rows
   rows of tiles are walked downwards, then across. */
TMM__DEVICE void tmm__xfind_tile(const tmm__schedule *s, int band_rows, int tile, int *down,
                                 int *across)
{
    int band = tile / (band_rows * s->tiles_across),
        rest = tile - band * band_rows * s->tiles_across;
    int high =
        s->tiles_down - band * band_rows < band_rows ? s->tiles_down - band * band_rows : band_rows;
    *across = rest / high;
    *down = band * band_rows + rest - *across * high;
#ifdef TMM_WITH_SYRK
    if (s->triangle != 0) tmm__triangle_tile(s->triangle, s->squares, s->ratio_log2, down, across);
#endif
}

/* Stores a vector of sums of KERNEL PIPELINED: number `number` of those that `thread` has of tile
   `tile`, in the order of a partial tile. A thread has `rows` rows; warps_down of the four warps
   are above each other. */
TMM__DEVICE void tmm__xstore_sums(long long M, long long N, TMM_SCALAR alpha, TMM_SCALAR beta,
                                  TMM_OUT *C, long long ldc, const tmm__schedule *s, int rows,
                                  int warps_down, int tile, int thread, int number,
                                  const tmm__xsums4 *swapped)
{
    int tile_m = 4 * rows * warps_down, warps_across = 4 / warps_down, tile_n = 64 * warps_across;
    int down, across, i = number / 2, j = number % 2;
    tmm__xfind_tile(s, TMM__BAND, tile, &down, &across);
    long long first_row = (long long)down * tile_m, first_col = (long long)across * tile_n;
    long long row = first_row, col = first_col;
    if (row > M - tile_m && !s->packed_A && M >= tile_m) row = M - tile_m;
    if (col > N - tile_n && !s->packed_B && N >= tile_n) col = N - tile_n;
    row += thread / 32 / warps_across * (4 * rows) + thread % 32 / 8 * 4 + i / 4 * 16 + i % 4;
    col += thread / 32 % warps_across * 64 + thread % 8 * 4 + j * 32;
    if (row < first_row || row >= M) return;
    TMM_SUM sum[4] = {swapped->v[1], swapped->v[0], swapped->v[3], swapped->v[2]};
    C += row * ldc + col;
    unsigned mask = tmm__column_mask(col, 4, first_col, N);
    mask = tmm__triangle_mask(TMM__TRIANGLE(s), mask, row, col);
    bool vector = (size_t)C % 16 == 0 && mask == 15;
    tmm__xstore4(C, row, col, vector, mask, alpha, tmm__xload4(C, vector, mask, beta).v, sum);
}
#endif
/* src/tiledmm/kernels/common/pack_reduce.cuh. What goes before and after KERNEL PIPELINED and TENSOR:
   packing operands, adding up partial tiles.
   Uses: store.cuh, streamk.cuh, once/. Used by: launch/product.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
#if TMM__IS_FLOAT || TMM__IS_DOUBLE
/* KERNEL PACK. Copies op(A) to [k][row] and op(B) to [k][column], the form that is copied best to
   shared memory later, with zeros up to `pitch` lines. blockIdx.z: 0 for A, 1 for B. A block of
   256 threads moves squares of 64 lines and 64 k, through shared memory so that it reads and
   writes along memory. Four elements go at once if they are neighbours in k and aligned to 16
   bytes. 8 bytes moved an element in float: bound by memory.

   Shared memory is [k][line] in vectors of four lines. Vector v of row k lies at v ^ (k / 4), so 8
   threads along k with 4 lines each write to 32 banks. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xpack(long long K, long long linesA, const TMM_TYPE *__restrict__ A, long long rsA,
               long long csA, TMM_TYPE *__restrict__ packedA, long long pitchA, long long linesB,
               const TMM_TYPE *__restrict__ B, long long rsB, long long csB,
               TMM_TYPE *__restrict__ packedB, long long pitchB)
{
    __shared__ tmm__xelements4 square[64][16];
    const TMM_TYPE *from = blockIdx.z == 0 ? A : B;
    TMM_TYPE *to = blockIdx.z == 0 ? packedA : packedB;
    long long lines = blockIdx.z == 0 ? linesA : linesB;
    long long pitch = blockIdx.z == 0 ? pitchA : pitchB;
    long long line_stride = blockIdx.z == 0 ? rsA : csB, k_stride = blockIdx.z == 0 ? csA : rsB;
    long long line0 = blockIdx.x * 64ll;
    if (line0 >= pitch) return; /* the other operand has more lines, or this is not to be packed */
    bool along_k = k_stride == 1;
    bool aligned = ((size_t)from | line_stride * sizeof(TMM_TYPE)) % 16 == 0;
    unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    /* Along k: 8 threads with 4 k each, twice, and 4 lines of each warp; four times, 16 lines
       apart. Along the lines: 64 threads with elements 4 k apart; four times, 16 k apart. */
    unsigned k1 = along_k ? lane % 8 * 4 + warp % 2 * 32 : thread / 64;
    unsigned line1 = along_k ? lane / 8 + warp / 2 * 4 : thread % 64;
    unsigned apart = along_k ? 1 : 4, lines_on = along_k ? 16 : 0, k_on = 16 - lines_on;
    for (long long k0 = blockIdx.y * 64ll; k0 < K; k0 += gridDim.y * 64ll) {
        tmm__xelements4 vectors[4];
        const TMM_TYPE *x = from + (line0 + line1) * line_stride + (k0 + k1) * k_stride;
#pragma unroll
        for (int i = 0; i < 4; i++) { /* four loads on their way before the first store */
            long long k_left = line0 + line1 + i * lines_on < lines ? K - k0 - k1 - i * k_on : 0;
            if (along_k && aligned && k_left >= 4) {
                vectors[i] = *(const tmm__xelements4 *)x;
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    vectors[i].v[j] = 0;
                    tmm__load_if(&vectors[i].v[j], x + j * apart * k_stride, sizeof *x,
                                 j * apart < k_left);
                }
            }
            x += lines_on * line_stride + k_on * k_stride;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                /* (line / 4) ^ (k / 4): one of them has 4 i more, the latter j, too, if it goes
                   along the lines; nothing carries. */
                unsigned column = (line1 / 4 ^ k1 / 4) ^ 4 * i ^ (along_k ? 0 : j);
                square[k1 + i * k_on + j * apart][column].v[line1 % 4] = vectors[i].v[j];
            }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 64; i += 16) {
            unsigned k = thread / 16 + i, column = thread % 16;
            if (k0 + k < K)
                *(tmm__xelements4 *)(to + (k0 + k) * pitch + line0 + column * 4) =
                    square[k][column ^ (k / 4)];
        }
        __syncthreads();
    }
}
#endif

/* KERNEL REDUCE. C = alpha (sum of `slices` partial tiles) + beta C, for the slices of k of each
   tile that KERNEL PIPELINED has left. 256 threads own groups of four sums of tile blockIdx.y;
   blockIdx.x says which. With few slices each thread adds up all of its group, in ascending k. With
   many, groups_k is 8: warp w adds up slices w / 8 to (w + 1) / 8 of them, and the first warp the
   eight results, always in this order. Each sum of each slice is read once: bound by L2. `tensor`:
   the slices come from KERNEL TENSOR, and rows is 4, or 2 with its smallest tiles. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_reduce(long long M, long long N, TMM_SCALAR alpha, TMM_SCALAR beta,
                      TMM_OUT *__restrict__ C, long long ldc, int rows, int warps_down, int slices,
                      int groups_k, int tensor, const tmm__schedule s)
{
    const int COLS = 8, vectors = rows * COLS / 4;
    __shared__ tmm__xsums4 sums[256];
    int groups = 256 / groups_k, part = threadIdx.x / groups;
    int group = blockIdx.x * groups + threadIdx.x % groups; /* number of the vector in the tile */
    int tile = blockIdx.y;
    const tmm__xsums4 *from =
        (const tmm__xsums4 *)s.partials + (long long)tile * slices * (vectors * 128) + group;
    tmm__xsums4 sum = {{0, 0, 0, 0}};
#pragma unroll 4
    for (int slice = slices * part / groups_k; slice < slices * (part + 1) / groups_k; slice++) {
        tmm__xsums4 more = from[(long long)slice * (vectors * 128)];
#pragma unroll
        for (int i = 0; i < 4; i++) sum.v[i] += more.v[i];
    }
    if (groups_k > 1) {
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (part > 0) return;
        for (int p = 1; p < groups_k; p++)
#pragma unroll
            for (int i = 0; i < 4; i++) sum.v[i] += sums[p * groups + threadIdx.x].v[i];
    }

    /* As in the kernel that left them: for other types than double, one that is known. */
    if (!TMM__IS_DOUBLE || !tensor) {
        tmm__xstore_sums(M, N, alpha, beta, C, ldc, &s, rows, warps_down, tile, group % 128,
                         group / 128, &sum);
        return;
    }
    int down, across;
    tmm__xfind_tile(&s, TMM__TENSOR_BAND, tile, &down, &across);
    /* A warp has 8 `rows` x 32 elements. Two are side by side, or all four above each other. */
    const int warps_across = s.is_tall ? 1 : 2, tile_m = 32 / warps_across * rows;
    const int thread = group % 128, matrix = group / 128;
    long long row = (long long)down * tile_m + thread / 32 / warps_across * (8 * rows);
    long long col = (long long)across * (32 * warps_across) + thread / 32 % warps_across * 32;
    row += matrix / 4 * 16 + thread % 32 / 4;
    col += matrix % 4 * 8 + thread % 4 * 2;
    for (int h = 0; h < 2; h++, row += 8)
        if (row < M) {
            unsigned mask = tmm__column_mask(col, 2, 0, N);
            mask = tmm__triangle_mask(TMM__TRIANGLE(&s), mask, row, col);
            TMM_OUT *c = C + row * ldc + col;
            tmm__xouts2 old = {{0, 0}};
            if ((TMM_SUM)beta != 0) old = tmm__xload2(c, false, mask);
            tmm__xstore2(c, row, col, false, mask, alpha, beta, old, &sum.v[2 * h]);
        }
}
#endif
/* src/tiledmm/kernels/pipelined/copy.cuh. Asynchronous copies of KERNEL PIPELINED to shared memory.
   Uses: sizes.h, once/. Used by: kernel.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST && !TMM__IS_DOUBLE
/* In the functions below `rows`, the rows of C that a thread owns, is a constant: 8 in the instance for
   any operands, 16 in others, which copy vectors alone.

   What a thread copies of A, of B and, of 8 rows, of the third unit, which is of A or of B. */
typedef struct tmm__xpipelined_copies {
    const char *fromA, *fromB, *from3; /* the first element of the next step */
    unsigned strideA, strideB;         /* bytes from one pass to the next */
    int toA, toB, to3;                 /* where the first element goes in a stage */
    int modeA, modeB, kA, kB;          /* kA, kB: the k of that element in a step */
    int rows_left, cols_left, left3;   /* lines that there are from it on */
    bool predicated, is_128x64;        /* C is smaller than a tile; the third unit is of A */
} tmm__xpipelined_copies;

/* Copies what this thread has to copy of a step of one operand, `lines` rows of A or columns of B.
   `to`, `from`: its first element in shared memory and in global memory. The elements of its next
   passes lie `stride` bytes further. With `unpredicated`, everything is copied if valid, else
   filled with zeros. Otherwise k from depth_left on are zeros, counted from the first element.
   `lines` and `unpredicated` are constants. */
TMM__DEVICE void tmm__xcopy_tile(TMM_TYPE *to, const char *from, unsigned stride, int lines,
                                 bool unpredicated, bool valid, int depth_left)
{
    enum { THREADS = TMM__PIPELINED_THREADS, DEPTH = TMM__PIPELINED_DEPTH };
    enum { VECTOR = 16 / sizeof(TMM_TYPE) };
    int pitch = lines + 4, deeper = (int)THREADS * VECTOR / lines; /* k from pass to pass */
#pragma unroll
    for (int i = 0; i < DEPTH / deeper; i++)
        tmm__copy_async(to + i * deeper * pitch, from + (unsigned long long)stride * i, 16,
                        unpredicated ? valid : i * deeper < depth_left);
}

/* The same of 8 rows, where modes are known at run time only, and of a unit of 64 lines. A
   thread copies 4 elements 16 lines apart, or vectors. `stride`: bytes of 16 lines. With
   predicates, lines from lines_left on, or all if not valid, are zeros. That is rare, so it is a
   loop. */
TMM__DEVICE void tmm__xcopy_unit(TMM_TYPE *to, const char *from, unsigned stride, int mode,
                                 bool unpredicated, int lines_left, bool valid)
{
    enum { SIZE = sizeof(TMM_TYPE), WIDE_PASSES = SIZE < 8 ? 1 : 2 };
    if (unpredicated && mode == TMM__VECTORS) {
#pragma unroll
        for (int i = 0; i < WIDE_PASSES; i++)
            tmm__copy_async(to + i * 32, from + (unsigned long long)stride * (2 * i), 16, true);
    } else if (unpredicated) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const char *element = from + (unsigned long long)stride * i;
            if (SIZE % 4 == 0)
                tmm__copy_async(to + i * 16, element, SIZE, true);
            else
                to[i * 16] = *(const TMM_TYPE *)element;
        }
    } else {
        int lines = mode == TMM__VECTORS ? 64 / WIDE_PASSES : 16;
#pragma unroll 1
        for (int i = 0; i < 64; i += lines) {
            bool inside = valid && i < lines_left;
            if (mode == TMM__VECTORS)
                tmm__copy_async(to + i, from, 16, inside);
            else if (SIZE % 4 == 0)
                tmm__copy_async(to + i, from, SIZE, inside);
            else
                to[i] = inside ? *(const TMM_TYPE *)from : (TMM_TYPE)0;
            from += (unsigned long long)stride * (lines / 16);
        }
    }
}

/* Where this thread copies from and to, for a tile from row `row` and column `col` of C and k
   on. */
TMM__DEVICE void tmm__xpipelined_copy_begin(tmm__xpipelined_copies *c, int thread, int modeA,
                                            int modeB, bool is_128x64, long long M, long long N,
                                            const TMM_TYPE *A, long long rsA, long long csA,
                                            const TMM_TYPE *B, long long rsB, long long csB,
                                            long long row, long long col, long long k,
                                            const int rows)
{
    enum { THREADS = TMM__PIPELINED_THREADS, DEPTH = TMM__PIPELINED_DEPTH };
    enum { SIZE = sizeof(TMM_TYPE), VECTOR = 16 / SIZE, UNIT = TMM__PIPELINED_UNIT };
    const bool any = rows == 8;
    const int LINES_A = any ? (int)UNIT : 8 * rows, LINES_B = any ? (int)UNIT : 128;
    const int PITCH_A = LINES_A + 4, PITCH_B = LINES_B + 4, PART = DEPTH * PITCH_A;
    const int TILE_M = is_128x64 ? 16 * rows : 8 * rows, TILE_N = is_128x64 ? 64 : 128;
    c->modeA = modeA, c->modeB = modeB, c->is_128x64 = is_128x64;
    int acrossA = any ? 16 : LINES_A / VECTOR, acrossB = any ? 16 : LINES_B / VECTOR;
    c->kA = modeA == TMM__ALONG_K ? thread % DEPTH : thread / acrossA;
    c->kB = modeB == TMM__ALONG_K ? thread % DEPTH : thread / acrossB;
    int lineA = modeA == TMM__ALONG_K ? thread / DEPTH : thread % acrossA;
    int lineB = modeB == TMM__ALONG_K ? thread / DEPTH : thread % acrossB;
    if (modeA == TMM__VECTORS) lineA *= VECTOR;
    if (modeB == TMM__VECTORS) lineB *= VECTOR;
    c->toA = c->kA * PITCH_A + lineA, c->toB = PART + c->kB * PITCH_B + lineB;
    c->strideA = (unsigned)(SIZE * (any ? 16 * rsA : (int)THREADS * VECTOR / LINES_A * csA));
    c->strideB = (unsigned)(SIZE * (any ? 16 * csB : (int)THREADS * VECTOR / LINES_B * rsB));
    /* The third unit, of A or B. */
    c->predicated = any && (M < TILE_M || N < TILE_N);
    c->rows_left = c->predicated ? (int)(M - row < TILE_M ? M - row : TILE_M) - lineA : TILE_M;
    c->cols_left = c->predicated ? (int)(N - col < TILE_N ? N - col : TILE_N) - lineB : TILE_N;
    c->left3 = (is_128x64 ? c->rows_left : c->cols_left) - UNIT;
    c->to3 = is_128x64 ? 2 * PART + c->toA : PART + c->toB;
    c->fromA = (const char *)(A + (row + lineA) * rsA + (k + c->kA) * csA);
    c->fromB = (const char *)(B + (col + lineB) * csB + (k + c->kB) * rsB);
    c->from3 = is_128x64 ? c->fromA + UNIT * rsA * SIZE : c->fromB + UNIT * csB * SIZE;
}

/* Copies a step of `depth` k with predicates: before the main loop. */
TMM__DEVICE void tmm__xpipelined_copy_first(const tmm__xpipelined_copies *c, TMM_TYPE *to,
                                            int depth, const int rows)
{
    if (rows == 8) {
        tmm__xcopy_unit(to + c->toA, c->fromA, c->strideA, c->modeA, false, c->rows_left,
                        c->kA < depth);
        tmm__xcopy_unit(to + c->toB, c->fromB, c->strideB, c->modeB, false, c->cols_left,
                        c->kB < depth);
        tmm__xcopy_unit(to + c->to3, c->from3, c->is_128x64 ? c->strideA : c->strideB,
                        c->is_128x64 ? c->modeA : c->modeB, false, c->left3,
                        (c->is_128x64 ? c->kA : c->kB) < depth);
    } else {
        tmm__xcopy_tile(to + c->toA, c->fromA, c->strideA, 8 * rows, false, true, depth - c->kA);
        tmm__xcopy_tile(to + c->toB, c->fromB, c->strideB, 128, false, true, depth - c->kB);
    }
}

/* Copies a whole step, or zeros: in the main loop. */
TMM__DEVICE void tmm__xpipelined_copy_next(const tmm__xpipelined_copies *c, TMM_TYPE *to, bool more,
                                           const int rows)
{
    if (rows != 8) {
        tmm__xcopy_tile(to + c->toA, c->fromA, c->strideA, 8 * rows, true, more, 0);
        tmm__xcopy_tile(to + c->toB, c->fromB, c->strideB, 128, true, more, 0);
    } else if (more) {
        tmm__xcopy_unit(to + c->toA, c->fromA, c->strideA, c->modeA, !c->predicated, c->rows_left,
                        true);
        tmm__xcopy_unit(to + c->toB, c->fromB, c->strideB, c->modeB, !c->predicated, c->cols_left,
                        true);
        tmm__xcopy_unit(to + c->to3, c->from3, c->is_128x64 ? c->strideA : c->strideB,
                        c->is_128x64 ? c->modeA : c->modeB, !c->predicated, c->left3, true);
    }
}

/* Moves on by `depth` k. */
TMM__DEVICE void tmm__xpipelined_copy_advance(tmm__xpipelined_copies *c, int depth, long long csA,
                                              long long rsB)
{
    enum { SIZE = sizeof(TMM_TYPE) };
    c->fromA += depth * csA * SIZE;
    c->fromB += depth * rsB * SIZE;
    c->from3 += depth * (c->is_128x64 ? csA : rsB) * SIZE;
}

/* Fills all stages but one. first_depth: the k of the first step; `left`: how many steps there
   are. */
TMM__DEVICE void tmm__xpipelined_fill(tmm__xpipelined_copies *c, TMM_TYPE *shared,
                                      const int stage_size, int left, int first_depth,
                                      long long csA, long long rsB, const int rows)
{
    enum { DEPTH = TMM__PIPELINED_DEPTH, STAGES = TMM__PIPELINED_STAGES };
#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; stage++) {
        int depth = stage == 0 ? first_depth : DEPTH;
        if (stage < left) tmm__xpipelined_copy_first(c, shared + stage * stage_size, depth, rows);
        tmm__xpipelined_copy_advance(c, depth, csA, rsB);
        tmm__copy_commit();
    }
}
#endif
/* src/tiledmm/kernels/pipelined/store.cuh. What becomes of the sums of KERNEL PIPELINED: partial
   tiles and C.
   Uses: kernels/common/, sizes.h, once/. Used by: kernel.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST && !TMM__IS_DOUBLE
/* A thread has rows x 8 sums, `rows` being a constant, 8 or 16. They go in vectors of four. Vector stores tie
   four sums to four registers in this order. Swapped in pairs, a sum never lies in the register
   bank of the element of B that is multiplied into it. */

/* Waits for the partial tiles that the blocks after block `share` have left of tile `tile`, and
   adds them in ascending k. */
TMM__DEVICE void tmm__xpipelined_add_partials(const tmm__schedule *s, int share, int streamk_blocks,
                                              long long streamk_steps, int tile, int thread,
                                              TMM_SUM (*sum)[8], const int rows)
{
    enum { COLS = 8, THREADS = TMM__PIPELINED_THREADS };
    const int VECTORS = rows * COLS / 4;
    long long last_step = (tile + 1ll) * s->steps;
    int others = 0;
    while (streamk_steps * (share + 1 + others) / streamk_blocks < last_step) others++;
    for (int other = thread; other < others; other += THREADS)
        tmm__flag_wait(s->flags + share + 1 + other, s->ticket);
    __syncthreads();
    for (int other = share + 1; other <= share + others; other++) {
        const tmm__xsums4 *from =
            (const tmm__xsums4 *)s->partials + (long long)other * ((int)VECTORS * THREADS) + thread;
#pragma unroll
        for (int q = 0; q < VECTORS; q++) {
            TMM_SUM *v = &sum[q / 2][q % 2 * 4];
            tmm__xsums4 swapped = from[q * THREADS];
            if (q % 8 == 7) TMM__FENCE(); /* 8 in flight: there are no registers for 32 */
            v[1] += swapped.v[0];
            v[0] += swapped.v[1];
            v[3] += swapped.v[2];
            v[2] += swapped.v[3];
        }
    }
}

/* Where a thread stores its sums: its first element, as far as rows lie in first_row .. M. */
typedef struct tmm__xpipelined_place {
    TMM_OUT *C;
    long long row, col, first_row;
    unsigned mask;
    bool aligned; /* and all of the tile is in the triangle of C */
} tmm__xpipelined_place;

/* Finds the place. It is computed anew: kept through the main loop, it would cost registers. */
TMM__DEVICE void tmm__xpipelined_find_place(tmm__xpipelined_place *place, const tmm__schedule *s,
                                            int tile, int thread, long long M, long long N,
                                            TMM_OUT *C, long long ldc, const int rows)
{
    enum { COLS = 8, SIZE = sizeof(TMM_OUT) };
    const bool any = rows == 8, is_128x64 = any && s->is_tall;
    const int TILE_M = is_128x64 ? 16 * rows : 8 * rows, TILE_N = is_128x64 ? 64 : 128;
    bool packed_A = !any && s->packed_A, packed_B = !any && s->packed_B;
    int down, across;
    int warp = thread / 32, lane = thread % 32;
    int row0 = (is_128x64 ? warp : warp / 2) * (4 * rows) + lane / 8 * 4;
    int col0 = (is_128x64 ? 0 : warp % 2 * 64) + lane % 8 * 4;
    tmm__xfind_tile(s, TMM__BAND, tile, &down, &across);
    long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
    long long row = first_row, col = first_col;
    if (row > M - TILE_M && !packed_A && (!any || M >= TILE_M)) row = M - TILE_M;
    if (col > N - TILE_N && !packed_B && (!any || N >= TILE_N)) col = N - TILE_N;
    bool aligned = ((size_t)(C + col) | ldc * SIZE) % 16 == 0;
#ifdef TMM_WITH_SYRK
    if (s->triangle == TMM__LOWER && first_col + TILE_N - 1 > first_row) aligned = false;
    if (s->triangle == TMM__UPPER && first_row + TILE_M - 1 > first_col) aligned = false;
#endif
    C += (row + row0) * ldc + col + col0;
    unsigned mask = 0;
#pragma unroll
    for (int q = 0; q < COLS / 4; q++)
        mask |= tmm__column_mask(col + col0 + 32 * q, 4, first_col, N) << 4 * q;
    place->C = C, place->row = row + row0, place->col = col + col0;
    place->first_row = first_row, place->mask = mask, place->aligned = aligned;
}

/* Registers have no index: STAGED_ROWS rows of a thread from i on go to shared memory, to a place
   of its own. */
TMM__DEVICE void tmm__xpipelined_stage(tmm__xsums4 *own, int i, const TMM_SUM (*sum)[8],
                                       const int rows)
{
    enum { STAGED_ROWS = TMM__PIPELINED_STAGED_ROWS, THREADS = TMM__PIPELINED_THREADS };
#pragma unroll
    for (int from = 0; from < rows; from += STAGED_ROWS) {
        if (from != i) continue;
#pragma unroll
        for (int q = 0; q < 2 * STAGED_ROWS; q++) {
            const TMM_SUM *v = &sum[from + q / 2][q % 2 * 4];
            tmm__xsums4 swapped = {{v[1], v[0], v[3], v[2]}};
            own[q * THREADS] = swapped;
        }
    }
}

/* Stores a thread's sums, some rows after the other. Each is moved to the place of the first, so
   that there is code for these alone. */
TMM__DEVICE void tmm__xpipelined_store(TMM_OUT *c0, long long ldc, long long r, long long first_row,
                                       long long end, long long c, bool vector, unsigned mask,
                                       TMM_SCALAR alpha, TMM_SCALAR beta, TMM_SUM (*sum)[8],
                                       const int rows, int triangle)
{
    enum { STORED_ROWS = 2, ALIGNED_ROWS = sizeof(TMM_TYPE) < 8 ? 4 : 2, COLS = 8 };
    if (vector) { /* all four columns are stored, or none */
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int i = 0; i < rows / 2; i += ALIGNED_ROWS) {
                int down = half * (2 * rows) + i / 4 * 16 + i % 4;
                tmm__xstore_rows(c0 + down * ldc, ldc, r + down, first_row, end, c, true, mask,
                                 alpha, beta, &sum[i], ALIGNED_ROWS, 0);
            }
#pragma unroll
            for (int h = 0; h < rows / 2; h++)
#pragma unroll
                for (int j = 0; j < COLS; j++) sum[h][j] = sum[h + rows / 2][j];
        }
        return;
    }
#pragma unroll 1
    for (int i = 0; i < rows; i += STORED_ROWS) {
        int down = i / 4 * 16 + i % 4;
        tmm__xstore_rows(c0 + down * ldc, ldc, r + down, first_row, end, c, false, mask, alpha,
                         beta, sum, STORED_ROWS, triangle);
#pragma unroll
        for (int h = 0; h < rows - STORED_ROWS; h++)
#pragma unroll
            for (int j = 0; j < COLS; j++) sum[h][j] = sum[h + STORED_ROWS][j];
    }
}

#if TMM__CLUSTERS
/* Sends a thread's sums to the blocks of its cluster, `part` vectors to each, as slice `rank`.
   `all`: the vectors that it is sent, as [slice][vector][thread]. */
TMM__DEVICE void tmm__xpipelined_send(tmm__xsums4 *all, const tmm__schedule *s, int part, int rank,
                                      const TMM_SUM (*sum)[8], const int rows)
{
    enum { COLS = 8, THREADS = TMM__PIPELINED_THREADS };
    const int VECTORS = rows * COLS / 4;
    int left = 0, other = 0;
    unsigned to = 0;
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        const TMM_SUM *v = &sum[q / 2][q % 2 * 4];
        if (q % (VECTORS / TMM__MOST_CLUSTER) == 0 && left == 0) {
            /* On to the block that has slice number `other`. */
            to = tmm__map_shared(all + rank * part * THREADS, s->cluster - 1 - other);
            left = part;
            other++;
        }
        tmm__xsums4 swapped = {{v[1], v[0], v[3], v[2]}};
#pragma unroll
        for (int i = 0; i < (int)sizeof swapped; i += 16)
            tmm__store_shared_cluster(to + i, (const char *)&swapped + i);
        to += THREADS * sizeof swapped;
        left--;
    }
}
#endif
#endif
/* src/tiledmm/kernels/pipelined/kernel.cuh. The kernel that teaches asynchronous copies.
   Uses: kernels/common/, kernels/pipelined/, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL PIPELINED ============================================== */
/* Like KERNEL REGISTER, with three differences. Copies of later steps are under way during the
   arithmetic. Each thread owns a larger block of C. No multiprocessor is without work at the end.

   Tile of C: 128 x 128, 4 warps of 64 x 64, 16 x 8 a thread:
      +---------+---------+        8 lanes across, twice 4 columns each
      | warp 0  | warp 1  |      +--+--+--+--+--+--+--+--+--+--   --+
      |         |         |      | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1 ... |  4 lanes down,
      +---------+---------+      | 8| 9|10|11|12|13|14|15| 8|       |  four times
      | warp 2  | warp 3  |      |16|17|18|19|20|21|22|23|16|       |  4 rows each
      |         |         |      |24|25|26|27|28|29|30|31|24|       |
      +---------+---------+      +--+--+--+--+--+--+--+--+--+--   --+
                                 | 0| 1| 2|       ... four times    |
   The instance for any operands is the only one for types other than float. It has half as many
   rows: 8 x 8 a thread, 64 x 128 in all. Three of its blocks (of 8 bytes: two) share a
   multiprocessor. Its tile may lie the other way, 128 x 64: four warps of 32 x 64 above each other.
   It copies units of 64 lines, three to a step: one of A and two of B, or two of A and one of B.

   Along k in steps of DEPTH = 8. STAGES = 3 buffers of shared memory form a ring, each as [k][row
   of A] and then [k][column of B]. While one is worked on, the others are being filled:
      step           0       1       2       3
      copies into    s2      s0      s1      s2     asynchronous, zeros beyond the end of K
      arithmetic on  s0      s1      s2      s0     one barrier a step
   Fragments, what a thread needs of A and B for one k, are double-buffered in registers. If DEPTH
   does not divide K, the first step is the short one, so the loop needs no predicate. A tile that
   would stick out is moved back inside. What it then computes a second time is not stored.

   A launch has as many blocks as fit at once, each with tile after tile. Tiles are numbered band by
   band, a band being 4 rows of tiles, and downwards in it. So blocks at work at a time share
   rows of A and columns of B in L2. Tiles rarely come out even: with 576 tiles and 264 blocks, the
   third wave would have 48. So the first tiles (here 264 + 48) are split along k: their steps, laid
   end to end, are divided into equal shares ("stream-K": M. Osama et al., "Stream-K: work-centric
   parallel decomposition for dense matrix-matrix multiplication on the GPU", 2023):
      tile     |    0     |    1     |    2     |     three tiles, four blocks: each 3/4 of a tile
      block    |   3   |   2   |   1   |   0   |
   The block with the first steps of a tile owns it. The others leave their sums as partial tiles,
   which the owner adds in ascending k. The last block has the first share, for a block may wait
   only for blocks that were started before it. Where all blocks can be at work with each tile in a
   few equal slices of k, it has that many: they are ready at the same time. Where there would be
   many (few tiles, long K), all become partial tiles, and KERNEL REDUCE adds them.

   Integers: multiply-adds run at half rate, so one warp nearly keeps a scheduler busy. Blocks then
   drift apart: one finishes early and leaves the others with too few warps to hide latency (seen;
   the cause is a guess). So from two waves on a whole tile has a block of its own, which begins
   when another has left. Only the last blocks, as many as fit at once, have shares (of 1000 tiles:
   396 blocks a tile each, 396 the others).

   From sm_90 on, few tiles are divided among clusters instead, of 2, 4 or 8 blocks. Each block has
   an equal slice of one tile. At the end it gets a part of the tile from all others, through shared
   memory, adds it up in ascending k and stores it. No memory, no flag, no second launch:
      sums of      block 0        block 1        block 2           were it three
      part 0       added up  <--  sent      <--  sent
      part 1       sent      -->  added up  <--  sent
      part 2       sent      -->  sent      -->  added up

   Global loads: (1 / 128 + 1 / 128) M N K elements, 32 FLOP per byte in float. Shared loads:
   16 + 8 elements for 128 multiply-adds, 2.7 FLOP per byte. What bounds it: issue. On sm_90a
   a step of TN has 1024 multiply-adds and 88 other instructions; see
   bench/notes/pipelined.md.

   The order of the main loop depends on all code around it. With other forms of the functions
   below TN was slower: bench/notes/pipelined.md.

   modeA and modeB say how the instance for any operands copies units; 128 threads, so many elements
   each and pass:
     ALONG_K      neighbours in k are neighbours in memory: 8 threads along k, 16 lines
     ALONG_LINES  neighbouring lines (rows of A, columns of B) are: 16 threads along the lines, 8 k
     VECTORS      the same with 16 bytes a thread, where addresses and sizes are multiples of 16 */

/* sum += a b for one k. Back and forth along the rows: of two multiply-adds in turn, the second
   finds one operand where the first has read it. */
TMM__DEVICE void tmm__xpipelined_multiply(const tmm__xelements4 *a, const tmm__xelements4 *b,
                                          TMM_SUM (*sum)[8], const int rows)
{
    enum { COLS = 8 };
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int jj = 0; jj < COLS; jj++) {
            int j = i % 2 ? COLS - 1 - jj : jj;
            TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)a[i / 4].v[i % 4], (TMM_SUM)b[j / 4].v[j % 4]);
        }
}

TMM__DEVICE void tmm__xpipelined_clear(TMM_SUM (*sum)[8], const int rows)
{
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = 0;
}

/* Finds number `work` of what a block has to do: steps *begin to *end of tile *tile. False: nothing
   is left. First comes its share of the stream-K tiles, steps `start` to `stop` of all of
   theirs. */
TMM__DEVICE bool tmm__xpipelined_find_work(const tmm__schedule *s, int work, int share, int blocks,
                                           int streamk_blocks, long long streamk_steps, int *tile,
                                           int *begin, int *end)
{
    int first = 0, streamk_works = 0, start = 0, stop = 0;
    if (!TMM__IS_INTEGER || share < streamk_blocks) {
        start = (int)(streamk_steps * share / streamk_blocks);
        stop = (int)(streamk_steps * (share + 1) / streamk_blocks);
    }
    if (start < stop) {
        first = start / s->steps;
        streamk_works = (stop - 1) / s->steps + 1 - first;
    }
    *tile = first + work;
    if (work < streamk_works) {
        if (*begin < start - *tile * s->steps) *begin = start - *tile * s->steps;
        if (*end > stop - *tile * s->steps) *end = stop - *tile * s->steps;
    } else {
        *tile = s->streamk_tiles + tmm__block() + (work - streamk_works) * blocks;
        if (*tile >= s->tiles_down * s->tiles_across) return false;
    }
    return true;
}

/* The first row and column that a thread owns in a stage. A unit of 8 rows has `part` elements. */
TMM__DEVICE void tmm__xpipelined_fragment(int thread, bool is_128x64, int *row0, int *col0,
                                          const int rows, const int part)
{
    int warp = thread / 32, lane = thread % 32;
    *row0 = warp / 2 * (4 * rows) + lane / 8 * 4;
    *col0 = part + warp % 2 * (rows == 8 ? part : 64) + lane % 8 * 4;
    if (is_128x64) {
        *row0 = warp / 2 * (2 * part) + warp % 2 * (4 * rows) + lane / 8 * 4;
        *col0 = part + lane % 8 * 4;
    }
}
#endif

#ifdef TMM__PASS
#if TMM__FAST && !TMM__IS_DOUBLE && (TMM__PIPELINED_LIST(TMM__IN_PASS) 0)
static_assert((TMM__PIPELINED_ROWS) == 8 || ((TMM__PIPELINED_ROWS) == 16 && TMM__IS_FLOAT),
              "TMM__PIPELINED_LIST: a thread has 8 rows, or 16 of float: copies, launchers and "
              "KERNEL REDUCE know these tiles");
static_assert((int)TMM__PIPELINED_THREADS == 128 && (int)TMM__PIPELINED_UNIT == 64 &&
                  (int)TMM__PIPELINED_DEPTH == 8,
              "TMM__PIPELINED_THREADS, _UNIT and _DEPTH must be 128, 64 and 8: a thread copies "
              "and owns a fixed part of them, and launchers count steps of 8");
static_assert(TMM__PIPELINED_BLOCKS >= 1,
              "TMM__PIPELINED_LIST: a multiprocessor has 1 block at least");

TMM_KERNEL void __launch_bounds__(128, TMM__PIPELINED_BLOCKS)
    tmm__gemm_pipelined(long long M, long long N, long long K, TMM_SCALAR alpha,
                        const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                        long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                        long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                        long long ldc, long long batchC, int modeA, int modeB,
                        const tmm__schedule s)
{
#if TMM__BODIES
    enum { ROWS = TMM__PIPELINED_ROWS, COLS = 8, VECTORS = ROWS * COLS / 4 }; /* a thread's */
    enum { ANY = ROWS == 8, TN = !ANY };
    enum { THREADS = TMM__PIPELINED_THREADS, DEPTH = TMM__PIPELINED_DEPTH };
    enum { STAGES = TMM__PIPELINED_STAGES, SIZE = sizeof(TMM_TYPE), UNIT = TMM__PIPELINED_UNIT };
    enum { LINES_A = ANY ? UNIT : 8 * ROWS, LINES_B = ANY ? UNIT : 128 };
    /* 4 more: fewer bank conflicts between copies along k. */
    enum { PITCH_A = LINES_A + 4, PITCH_B = LINES_B + 4 };
    enum { PART = (int)DEPTH * PITCH_A }; /* where those of B begin; of ANY the third unit, too */
    enum { STAGE = ANY ? 3 * PART : PART + (int)DEPTH * PITCH_B };
    enum { COPY_AT = TN ? 3 : 0 }; /* the k of a step at which copies start; found by trying */
    enum { STAGED_ROWS = TMM__PIPELINED_STAGED_ROWS };
    static_assert((int)STAGES >= 2 && (int)STAGES * STAGE * SIZE <= 49152,
                  "TMM__PIPELINED_STAGES must be 2 at least, and fit into the 48 KB of a block");
    static_assert(
        !TN || (4 % STAGED_ROWS == 0 && (int)STAGED_ROWS * COLS * THREADS * (int)sizeof(TMM_SUM) <=
                                            (int)STAGES * STAGE * SIZE),
        "TMM__PIPELINED_STAGED_ROWS must be 1, 2 or 4, of the four rows that lie below each "
        "other, and have room in the stages");
    static_assert(COPY_AT < DEPTH - 1, "by then the stage to be refilled is another one");
    __shared__ __align__(16) TMM_TYPE shared[(int)STAGES * STAGE];
    if (TN) modeA = modeB = TMM__VECTORS;
    const bool is_128x64 = ANY && s.is_tall;
    const int TILE_M = is_128x64 ? 16 * ROWS : 8 * ROWS, TILE_N = is_128x64 ? 64 : 128;

    /* Integers: blocks with a whole tile, then stream-K. */
    int blocks = gridDim.x, streamk_blocks = TMM__IS_INTEGER ? s.streamk_blocks : blocks;
    long long streamk_steps = (long long)s.streamk_tiles * s.steps;
    bool packed_A = TN && s.packed_A, packed_B = TN && s.packed_B;
    int first_depth = (int)(K - (s.steps - 1ll) * DEPTH); /* of the first step: 1 to DEPTH */
#if TMM__CLUSTERS
    if (s.cluster > 0)
        tmm__cluster_arrive(false); /* this block's shared memory may be written to */
#endif

    for (int work = 0;; work++) {
        int share = blocks - 1 - tmm__block(), begin = 0, end = s.steps, tile;
        if (!tmm__xpipelined_find_work(&s, work, share, blocks, streamk_blocks, streamk_steps,
                                       &tile, &begin, &end))
            break;
        int down, across;
        tmm__xfind_tile(&s, TMM__BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Moved back inside, unless what lies outside may be read. */
        if (row > M - TILE_M && !packed_A && (!ANY || M >= TILE_M)) row = M - TILE_M;
        if (col > N - TILE_N && !packed_B && (!ANY || N >= TILE_N)) col = N - TILE_N;
        int thread = tmm__thread();
        tmm__xpipelined_copies copies;
        int row0, col0;
        tmm__xpipelined_fragment(thread, is_128x64, &row0, &col0, ROWS, PART);
        TMM_SUM sum[ROWS][COLS];
        tmm__xpipelined_clear(sum, ROWS);

        long long k = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;
        tmm__xpipelined_copy_begin(&copies, thread, modeA, modeB, is_128x64, M, N,
                                   A + blockIdx.z * batchA, rsA, csA, B + blockIdx.z * batchB, rsB,
                                   csB, row, col, k, ROWS);
        int left = end - begin;
        tmm__xpipelined_fill(&copies, shared, STAGE, left, begin == 0 ? first_depth : DEPTH, csA,
                             rsB, ROWS);
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();

        if (TN) { /* or the compiler computes both anew in each step */
            TMM__HIDE(copies.strideA);
            TMM__HIDE(copies.strideB);
        }
        tmm__xelements4 a[2][ROWS / 4], b[2][COLS / 4];
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int q = 0; q < ROWS / 4; q++)
            a[0][q] = *(const tmm__xelements4 *)(shared + row0 + 16 * q);
#pragma unroll
        for (int q = 0; q < COLS / 4; q++)
            b[0][q] = *(const tmm__xelements4 *)(shared + col0 + 32 * q);
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
                    b[then][q] =
                        *(const tmm__xelements4 *)(shared + read + next * PITCH_B + col0 + 32 * q);
#pragma unroll
                for (int q = 0; q < ROWS / 4; q++)
                    a[then][q] =
                        *(const tmm__xelements4 *)(shared + read + next * PITCH_A + row0 + 16 * q);
                if (k == COPY_AT) { /* everyone has left the stage before this one: refill it */
                    TMM_TYPE *to = shared + (read == 0 ? (STAGES - 1) * STAGE : read - STAGE);
                    bool more = left >= STAGES;
                    tmm__xpipelined_copy_next(&copies, to, more, ROWS);
                    tmm__xpipelined_copy_advance(&copies, DEPTH, csA, rsB);
                    tmm__copy_commit();
                }
                tmm__xpipelined_multiply(a[now], b[now], sum, ROWS);
            }
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the copies of the next work may begin */

        thread = tmm__thread();
        share = blocks - 1 - tmm__block();
#if TMM__CLUSTERS
        if (s.cluster > 0) { /* a block gets a part of all slices, adds it up and stores it */
            /* [slice][vector][thread] */
            extern __shared__ __align__(16) unsigned char tmm__cluster_sums[];
            tmm__xsums4 *all = (tmm__xsums4 *)tmm__cluster_sums + thread;
            int part = VECTORS / s.cluster, rank = share % s.cluster;
            static_assert(VECTORS % TMM__MOST_CLUSTER == 0, "clusters are a power of 2");
            tmm__cluster_wait();
            tmm__xpipelined_send(all, &s, part, rank, sum, ROWS);
            tmm__cluster_arrive(true);
            tmm__cluster_wait();
#pragma unroll 1
            for (int n = 0; n < part; n++) {
                tmm__xsums4 total = all[n * THREADS];
                for (int p = 1; p < s.cluster; p++) {
                    tmm__xsums4 more = all[(p * part + n) * THREADS];
#pragma unroll
                    for (int i = 0; i < 4; i++) total.v[i] += more.v[i];
                }
                tmm__xstore_sums(M, N, alpha, beta, C, ldc, &s, ROWS, is_128x64 ? 4 : 2, tile,
                                 thread, rank * part + n, &total);
            }
            return;
        }
#endif
        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm__xsums4 *to =
                (tmm__xsums4 *)s.partials + (long long)share * ((int)VECTORS * THREADS) + thread;
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                const TMM_SUM *v = &sum[q / 2][q % 2 * 4];
                tmm__xsums4 swapped = {{v[1], v[0], v[3], v[2]}};
                to[q * THREADS] = swapped;
            }
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) { /* the owner: add what the others have left */
            tmm__xpipelined_add_partials(&s, share, streamk_blocks, streamk_steps, tile, thread,
                                         sum, ROWS);
        }
        tmm__xpipelined_place place;
        tmm__xpipelined_find_place(&place, &s, tile, thread, M, N, C + blockIdx.z * batchC, ldc,
                                   ROWS);
        if (TN) {
            /* STAGED_ROWS at a time go through shared memory, so that there is code for one row.
               The other instances are slower with this. */
            bool vector = place.aligned && N % 4 == 0; /* all four columns or none are stored */
            tmm__xsums4 *own = (tmm__xsums4 *)shared + thread;
#pragma unroll 1
            for (int i = 0; i < ROWS; i += STAGED_ROWS) {
                tmm__xpipelined_stage(own, i, sum, ROWS);
#pragma unroll 1
                for (int h = 0; h < STAGED_ROWS; h++) {
                    TMM_SUM row_sums[8];
#pragma unroll
                    for (int q = 0; q < 2; q++) {
                        tmm__xsums4 swapped = own[(2 * h + q) * THREADS];
#pragma unroll
                        for (int j = 0; j < 4; j++) row_sums[4 * q + j] = swapped.v[j ^ 1];
                    }
                    if (place.row >= place.first_row && place.row < M)
                        tmm__xstore_row(place.C, place.row, place.col, vector,
                                        tmm__triangle_masks(vector ? 0 : TMM__TRIANGLE(&s),
                                                            place.mask, place.row, place.col),
                                        alpha, beta, row_sums);
                    place.row++, place.C += ldc;
                }
                if ((i + STAGED_ROWS) % 4 == 0) place.row += 12, place.C += 12 * ldc;
            }
            __syncthreads(); /* the copies of the next work may begin */
            continue;
        }
        tmm__xpipelined_store(place.C, ldc, place.row, place.first_row, M, place.col,
                              place.aligned && N % 4 == 0, place.mask, alpha, beta, sum, ROWS,
                              TMM__TRIANGLE(&s));
    }
#endif
}
#endif
#endif
/* src/tiledmm/kernels/common/sum.cuh. What KERNEL SMALL and SKINNY share.
   Uses: store.cuh, once/.
   Used by: kernels/outer/kernel.cuh, kernels/skinny/kernel.cuh, kernels/small/kernel.cuh,
   launch/sum.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== SMALL AND SKINNY ============================================== */
/* What the kernels of the next two sections share. */

/* What one wide copy moves; so many sums; and two sums. */
typedef struct alignas(sizeof(TMM_TYPE) * TMM__WIDE) tmm__xvector {
    TMM_TYPE v[TMM__WIDE];
} tmm__xvector;
typedef struct alignas(sizeof(TMM_SUM) * TMM__WIDE < 16 ? sizeof(TMM_SUM) * TMM__WIDE
                                                        : 16) tmm__xvector_sums {
    TMM_SUM v[TMM__WIDE];
} tmm__xvector_sums;
typedef struct alignas(2 * sizeof(TMM_SUM)) tmm__xsums2 {
    TMM_SUM v[2];
} tmm__xsums2;

/* One element to shared memory, zero if not inside. */
TMM__DEVICE void tmm__xcopy_one(TMM_TYPE *to, const TMM_TYPE *from, bool inside)
{
    if (sizeof(TMM_TYPE) % 4 == 0)
        tmm__copy_async(to, from, sizeof(TMM_TYPE), inside);
    else
        *to = inside ? *from : (TMM_TYPE)0;
}

/* tmm__mma_double for kernels of any TMM_SUM, of which those for double alone call it: C += A B by
   a warp, A is 16 x 8, B 8 x 8, C 16 x 8. With g = lane / 4 and t = lane % 4, a lane has
      a0, a1: A(g, t), A(g + 8, t)          a2, a3: A(g, t + 4), A(g + 8, t + 4)
      b0, b1: B(t, g), B(t + 4, g)
      c[0], c[1]: C(g, 2 t), C(g, 2 t + 1)  c[2], c[3]: the same of row g + 8 */
TMM__DEVICE void tmm__xdmma(TMM_SUM *c, TMM_SUM a0, TMM_SUM a1, TMM_SUM a2, TMM_SUM a3, TMM_SUM b0,
                            TMM_SUM b1)
{
    double sums[4] = {(double)c[0], (double)c[1], (double)c[2], (double)c[3]};
    double a[4] = {(double)a0, (double)a1, (double)a2, (double)a3};
    double b[2] = {(double)b0, (double)b1};
    tmm__mma_double(sums, a, b);
#pragma unroll
    for (int i = 0; i < 4; i++) c[i] = (TMM_SUM)sums[i];
}

/* KERNEL SUM. For a product that was split along k over blocks: adds their partial sums, M x N
   matrices, always in this order, and computes C = alpha sum + beta C. A block
   of 256 threads has 32 neighbouring elements of C; each of its 8 warps adds an eighth of them:

      parts    0 .. p-1     p .. 2p-1     ...     7p .. 8p-1        p = parts / 8, rounded up
               warp 0       warp 1                warp 7            lane: element
                  \            |                    |
                   +-----------+---- shared memory -+-->  warp 0: in this order, then to C
   Loads M N parts elements once, coalesced, eight in flight to a thread. What bounds it: latency,
   two to five microseconds with its launch. KERNEL NARROW has few parts and a large C: its blocks are
   256 x 1, so that a thread adds all parts of its element. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_sum(long long M, long long N, int parts, TMM_SCALAR alpha,
                   const TMM_SUM *__restrict__ partials, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                   long long ldc, long long batchC TMM__TRIANGLE_OF_ARGUMENTS)
{
    __shared__ TMM_SUM sums[32 * TMM__SUM_GROUPS];
    const int group = threadIdx.y, groups = blockDim.y, lanes = blockDim.x;
    long long element = (long long)blockIdx.x * lanes + threadIdx.x;
    long long row = element / N, col = element - row * N;
    bool inside = element < M * N;
#ifdef TMM_WITH_SYRK
    inside = inside && tmm__in_triangle(triangle, row, col);
#endif
    int share = groups == 1 ? parts : (parts + TMM__SUM_GROUPS - 1) / TMM__SUM_GROUPS;
    int first = group * share;
    int last = first + share < parts ? first + share : parts;
    partials += ((long long)blockIdx.z * parts + first) * (M * N) + element;
    TMM_SUM sum = 0;
    if (inside) {
#pragma unroll 8
        for (int part = first; part < last; part++) {
            sum += *partials;
            partials += M * N;
        }
    }
    if (groups > 1) {
        sums[group * 32 + threadIdx.x] = sum;
        __syncthreads();
        if (group > 0) return;
#pragma unroll
        for (int g = 1; g < TMM__SUM_GROUPS; g++) sum += sums[g * 32 + threadIdx.x];
    }
    if (!inside) return;
    C += blockIdx.z * batchC + row * ldc + col;
    tmm__xstore_masked(C, row, col, 1, 1, alpha, beta, &sum);
}
#endif
/* src/tiledmm/kernels/common/mirror.cuh. KERNEL MIRROR: a triangle of C is copied, for syrk.
   Uses: once/. Used by: type/syrk.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && defined(TMM_WITH_SYRK)
/* Copies the triangle of N x N elements `from` to the same places of `to` (bit 0 of `places`), to those
   that are its mirror image (bit 1), or to both. `to` may be `from`. A block of 256 threads has a square
   of 64 x 64, which it turns in shared memory, so that it reads and writes along rows; a thread has 16
   elements in flight. What bounds it: memory, or its launch up to N = 1024 or so. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xsyrk_mirror(long long N, const TMM_OUT *from, long long ldfrom, long long batch_from,
                      TMM_OUT *to, long long ldto, long long batch_to, int triangle, int places)
{
    __shared__ TMM_OUT square[64][65];
    const int squares = (int)((N - 1) / 64 + 1), half = (squares + 1) / 2;
    const int r0 = threadIdx.x / 64, c = threadIdx.x % 64;
    int down = blockIdx.x / half, across = blockIdx.x % half;
    tmm__triangle_tile(triangle, squares, 0, &down, &across);
    from += blockIdx.z * batch_from, to += blockIdx.z * batch_to;
    TMM_OUT elements[16];
    long long row = down * 64ll + r0, col = across * 64ll + c;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const long long at = row + 4 * i;
        elements[i] = (TMM_OUT)0;
        if (at < N && col < N && tmm__in_triangle(triangle, at, col))
            elements[i] = from[at * ldfrom + col];
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const long long at = row + 4 * i;
        if ((places & 1) && at < N && col < N && tmm__in_triangle(triangle, at, col))
            to[at * ldto + col] = elements[i];
        square[r0 + 4 * i][c] = elements[i];
    }
    if (!(places & 2)) return;
    __syncthreads();
    row = across * 64ll + r0, col = down * 64ll + c;
#pragma unroll 4
    for (int i = 0; i < 16; i++) {
        const long long at = row + 4 * i;
        if (at < N && col < N && at != col && tmm__in_triangle(triangle, col, at))
            to[at * ldto + col] = square[c][r0 + 4 * i];
    }
}
#endif
/* src/tiledmm/kernels/small/kernel.cuh. The kernel for a small C.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && (TMM__SMALL_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL SMALL ================================================== */
/* For a small C, which has few tiles: each must be done fast. A block has ROWS x COLS elements of C
   (TMM__SMALL_ROWS, TMM__SMALL_COLS) and a team of 1 to 8 warps. These divide k (sliced-K): of 8,
   each computes the whole tile for every eighth step of 8 k, with a ring and sums of its own. No
   warp waits for another until all have finished. Then their partial tiles are added through shared
   memory.

        k ->  step: 0 1 2 3 4 5 6 7 8 9 ...          +---------+  B
             +-+-+-+-+-+-+-+-+-+-+-+-+               |w0       |  step 0: warp 0
        A    |w|w|w|w|w|w|w|w|w|w|w|w|  ROWS         |w1       |  step 1: warp 1   each 8 x COLS
             |0|1|2|3|4|5|6|7|0|1|2|3|               |w2       |
             +-+-+-+-+-+-+-+-+-+-+-+-+               | ...     |
              each ROWS x 8                          +---------+
        C tile = ((sums of w0 + those of w1) + ...) + those of w7: always in this order

   Within a warp 4 lanes lie down and 8 across, with 4 x 4 sums as in REGISTER (16 columns: 4 x 2).
   Double from sm_80 on takes tensor cores, see tmm_dmma:

        8 lanes across, 4 columns each              double: C in blocks of 16 x 8, for each of them
        +--+--+--+--+--+--+--+--+--  --+            the lanes
        | 0| 1| 4| 5| 8| 9|12|13| 0 ...|            +-----+-----+-----+-----+
        | 2| 3| 6| 7|10|11|14|15| 2    |  4 lanes   | 0 0 | 1 1 | 2 2 | 3 3 |  2 elements of 2 rows
        |16|17|20|21|24|25|28|29|16    |  down, 4   | 4 4 | 5 5 | 6 6 | 7 7 |  each, 8 rows apart
        |18|19|22|23|26|27|30|31|18    |  rows each |     ...               |
        +--+--+--+--+--+--+--+--+--  --+            +-----+-----+-----+-----+

   Terms:  line     a row of A or a column of B
           step     8 k; a warp has a ring of 3 steps of A and B in shared memory, as [k][line]
           team     the 2^team_log2 warps that divide the k of one tile; member: a warp of it
           parts    split-K: blockIdx.y numbers them; KERNEL SUM adds their sums
   cp.async fills the ring two steps ahead. Up to K = 128 all that a tile needs is in flight before
   the first multiply-add. An operand that is contiguous along k is transposed, by copies of single
   elements.

   Global loads: (1 / ROWS + 1 / COLS) M N K elements; 10.7 FLOP per byte in float for 32 x 64, 4
   for 16 x 16. Shared loads of a warp and k: ROWS + COLS elements, for ROWS COLS multiply-adds.
   What bounds it: up to 128 latency, of the launch, the first loads and the one barrier. At 512 it
   is copies and arithmetic, each about two thirds of the time, which overlap by half.

   A large team is fast where tiles are few. Where they are many a small one is: registers then hold
   all tiles at once, and fewer warps have to start and to add up. A block has one team; and several,
   each with its tile, where blocks are thousands. Tiles are numbered through all products of a
   batch.
   With more than one part, each leaves its plain sums in partials, an M x N matrix for each product
   and part. */

enum {
    tmm__small_lda = TMM__SMALL_ROWS + 4, /* 4 more: see REGISTER */
    tmm__small_ldb = TMM__SMALL_COLS + 4,
    tmm__small_ldc = TMM__SMALL_COLS + 8, /* pairs of doubles in two rows: other banks */
    tmm__small_stage = 8 * (tmm__small_lda + tmm__small_ldb),
    tmm__small_ring = TMM__STAGES(3) * tmm__small_stage * (int)sizeof(TMM_TYPE),
    tmm__small_part = TMM__SMALL_ROWS * tmm__small_ldc * (int)sizeof(TMM_SUM),
    /* Bytes of shared memory of a warp, whose partial tile takes the place of its ring; of a block. */
    tmm__small_warp = tmm__small_ring > tmm__small_part ? tmm__small_ring : tmm__small_part,
    tmm__small_bytes = TMM__SMALL_WARPS * tmm__small_warp,
    /* A multiprocessor has registers for two blocks of tiles of 4 KB of sums. */
    tmm__small_blocks = sizeof(TMM_SUM) * TMM__SMALL_ROWS * TMM__SMALL_COLS <= 4096 ? 2 : 1
};

typedef struct alignas(sizeof(TMM_TYPE) * TMM__SMALL_WIDTH < 16
                           ? sizeof(TMM_TYPE) * TMM__SMALL_WIDTH
                           : 16) tmm__small_elements {
    TMM_TYPE v[TMM__SMALL_WIDTH];
} tmm__small_elements;
typedef struct alignas(sizeof(TMM_SUM) * TMM__SMALL_WIDTH < 16 ? sizeof(TMM_SUM) * TMM__SMALL_WIDTH
                                                               : 16) tmm__small_sums {
    TMM_SUM v[TMM__SMALL_WIDTH];
} tmm__small_sums;

/* One warp copies one step of one operand to shared memory: `lines` (16, 32 or 64) by 8 k, to
   tile[k][line] with rows of ld. x and tile are this lane's first places. `step` leads from one of
   its copies to the next in memory. `full`: all of it exists; otherwise lines_left and k_left count
   what exists from the first place on, and the rest is filled with zeros. A lane copies
     VECTORS      wide copies along the lines, where they are contiguous and aligned
     ALONG_K      single elements, 8 lanes along k and 4 below each other: transposed
     ALONG_LINES  single elements, 16 lanes along the lines and 2 along k */
TMM__DEVICE void tmm__small_copy(TMM_TYPE *tile, int ld, int lines, const TMM_TYPE *x,
                                 long long step, int mode, bool full, int lines_left, int k_left)
{
    if (mode == TMM__VECTORS) {
        int across = lines / TMM__WIDE;
        int size = lines_left < 0 ? 0 : lines_left > TMM__WIDE ? TMM__WIDE : lines_left;
#pragma unroll
        for (int i = 0; i < 8 * across / 32; i++) {
            int k = i * 32 / across;
            int valid = full ? TMM__WIDE : k < k_left ? size : 0;
            tmm__copy_zfill(&tile[k * ld], x, TMM__WIDE * sizeof(TMM_TYPE),
                            valid * (int)sizeof(TMM_TYPE));
            x += step;
        }
    } else if (mode == TMM__ALONG_K) {
#pragma unroll
        for (int i = 0; i < lines / 4; i++) {
            tmm__xcopy_one(&tile[4 * i], x, full || (4 * i < lines_left && k_left > 0));
            x += step;
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < lines; j += 16)
                tmm__xcopy_one(&tile[2 * i * ld + j], x + j,
                               full || (j < lines_left && 2 * i < k_left));
            x += step;
        }
    }
}

#if TMM__BODIES
/* A lane's sums, to the partial tile of its warp in shared memory. */
TMM__DEVICE void tmm__small_leave_sums(TMM_SUM *tile, const TMM_SUM *sum, int lane)
{
    enum {
        ROWS = TMM__SMALL_ROWS,
        COLS = TMM__SMALL_COLS,
        DOWN = ROWS / 4,
        ACROSS = COLS / 8,
        LDC = tmm__small_ldc,
        WIDTH = TMM__SMALL_WIDTH
    };
    if (TMM__SMALL_DMMA) {
#pragma unroll
        for (int i = 0; i < ROWS / 8; i++)
#pragma unroll
            for (int j = 0; j < COLS / 8; j++) {
                const TMM_SUM *two = &sum[4 * (i / 2 * ACROSS + j) + i % 2 * 2];
                tmm__xsums2 pair = {{two[0], two[1]}};
                *(tmm__xsums2 *)&tile[(8 * i + lane / 4) * LDC + 8 * j + lane % 4 * 2] = pair;
            }
    } else {
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int q = 0; q < ACROSS / WIDTH; q++) {
                tmm__small_sums sums;
#pragma unroll
                for (int j = 0; j < WIDTH; j++) sums.v[j] = sum[i * ACROSS + WIDTH * q + j];
                *(tmm__small_sums *)&tile[(i / 4 * 16 + TMM__LANE_DOWN(lane) * 4 + i % 4) * LDC +
                                          32 * q + TMM__LANE_ACROSS(lane) * WIDTH] = sums;
            }
    }
}

/* The sum of the partial tiles of a team's first `members`, in this order: WIDE neighbours, those
   of its first warp at `first`. */
TMM__DEVICE tmm__xvector_sums tmm__small_add(const unsigned char *first, int members)
{
    enum { WARPS = TMM__SMALL_WARPS, WIDE = TMM__WIDE, HALF = WARPS / 2 };
    tmm__xvector_sums total;
#pragma unroll
    for (int j = 0; j < WIDE; j++) total.v[j] = 0;
#pragma unroll 1
    for (int half = 0; half < members; half += HALF) {
        tmm__xvector_sums part[HALF];
#pragma unroll
        for (int w = 0; w < HALF; w++) /* the first one's, if there is none */
            part[w] = *(const tmm__xvector_sums *)(first + (half + w < members ? half + w : 0) *
                                                               tmm__small_warp);
#pragma unroll
        for (int w = 0; w < HALF; w++)
#pragma unroll
            for (int j = 0; j < WIDE; j++)
                total.v[j] = half + w < members ? total.v[j] + part[w].v[j] : total.v[j];
    }
    return total;
}

#endif

static_assert(TMM__SMALL_WARPS_LOG2 >= 1 && TMM__SMALL_WARPS <= 8 &&
                  (int)TMM__SMALL_WARPS == 1 << TMM__SMALL_WARPS_LOG2,
              "TMM__SMALL_WARPS_LOG2 must be 1 to 3, and TMM__SMALL_WARPS 2 to it: a block has 256 "
              "threads at most");
TMM_KERNEL void __launch_bounds__(256, tmm__small_blocks)
    tmm__gemm_small(long long M, long long N, long long K, TMM_SCALAR alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                    unsigned batch, int team_log2, TMM_SUM *__restrict__ partials)
{
#if TMM__BODIES
    enum { ROWS = TMM__SMALL_ROWS, COLS = TMM__SMALL_COLS, WIDE = TMM__WIDE };
    enum { LDA = tmm__small_lda, LDB = tmm__small_ldb, LDC = tmm__small_ldc };
    enum { STAGE = tmm__small_stage, STAGES = TMM__STAGES(3) };
    enum { DOWN = ROWS / 4, ACROSS = COLS / 8, SUMS = DOWN * ACROSS, WIDTH = TMM__SMALL_WIDTH };
    enum { SIZE = sizeof(TMM_TYPE) };
    static_assert(
        ((int)ROWS == 16 || (int)ROWS == 32 || (int)ROWS == 64) &&
            ((int)COLS == 16 || (int)COLS == 32 || (int)COLS == 64),
        "TMM__SMALL_LIST: rows and columns of a tile must be 16, 32 or 64: a warp has 4 x 8 "
        "lanes, and its copies a power of two of places along the lines");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    TMM_TYPE *ring = (TMM_TYPE *)(tmm__memory + warp * tmm__small_warp);

    /* This warp's tile, and its place in the team. The divisions are unsigned and of 32 bits: those
       of 64 would take a tenth of the time of a small product. */
    int team = 1 << team_log2, member = warp & (team - 1);
    unsigned tile = (blockIdx.x * (blockDim.x / 32) + warp) >> team_log2, product = 0;
    unsigned tiles_across = (unsigned)((unsigned long long)(N + COLS - 1) / COLS);
    unsigned tiles = (unsigned)((unsigned long long)(M + ROWS - 1) / ROWS) * tiles_across;
    if (batch > 1) {
        product = tile / tiles;
        tile -= product * tiles;
    }
    bool idle = tile >= tiles || product >= batch; /* the last block may have too many teams */
    unsigned tile_down = tile / tiles_across;
    long long tile_row = (long long)tile_down * ROWS;
    long long tile_col = (long long)(tile - tile_down * tiles_across) * COLS;

    /* The steps of this split-K part, and the first of them; then those of this warp. */
    int steps = (int)((unsigned long long)(K + 7) / 8), first = 0;
    if (gridDim.y > 1) {
        int part = (steps + (int)gridDim.y - 1) / (int)gridDim.y;
        first = blockIdx.y * part;
        steps = steps > first + part ? part : steps > first ? steps - first : 0;
    }
    int members = steps < team ? steps : team; /* members who have something to do */
    first += member;
    steps = steps > member && !idle ? (steps - member + team - 1) >> team_log2 : 0;

    A += product * batchA;
    B += product * batchB;
    int rows_left = M - tile_row < ROWS ? (int)(M - tile_row) : ROWS;
    int cols_left = N - tile_col < COLS ? (int)(N - tile_col) : COLS;
    long long k_left = K - first * 8ll;
    bool full = rows_left == ROWS && cols_left == COLS;
    /* See tmm__small_copy: how this lane copies, its first places, and its steps. */
    bool alignedA = ((size_t)A | csA * SIZE) % (WIDE * (int)SIZE) == 0;
    bool alignedB = ((size_t)B | rsB * SIZE) % (WIDE * (int)SIZE) == 0;
    int modeA = csA == 1 ? TMM__ALONG_K : alignedA ? TMM__VECTORS : TMM__ALONG_LINES;
    int modeB = rsB == 1 ? TMM__ALONG_K : alignedB ? TMM__VECTORS : TMM__ALONG_LINES;
    int kA = lane / 16, lineA = lane % 16, kB = lane / 16, lineB = lane % 16;
    long long stepA = 2 * csA, stepB = 2 * rsB;
    if (modeA == TMM__ALONG_K) kA = lane % 8, lineA = lane / 8, stepA = 4 * rsA;
    if (modeB == TMM__ALONG_K) kB = lane % 8, lineB = lane / 8, stepB = 4 * csB;
    if (modeA == TMM__VECTORS) {
        kA = lane / (ROWS / WIDE), lineA = lane % (ROWS / WIDE) * WIDE;
        stepA = 32 / (ROWS / WIDE) * csA;
    }
    if (modeB == TMM__VECTORS) {
        kB = lane / (COLS / WIDE), lineB = lane % (COLS / WIDE) * WIDE;
        stepB = 32 / (COLS / WIDE) * rsB;
    }
    A += (tile_row + lineA) * rsA + (first * 8ll + kA) * csA;
    B += (tile_col + lineB) * csB + (first * 8ll + kB) * rsB;
    int toA = kA * LDA + lineA, toB = 8 * LDA + kB * LDB + lineB;
    long long nextA = 8ll * team * csA, nextB = 8ll * team * rsB;
    TMM__HIDE_POINTER(nextA);
    TMM__HIDE_POINTER(nextB); /* or the compiler multiplies anew in each step */

    TMM_SUM sum[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++) sum[i] = 0;

    TMM_TYPE *write = ring, *read = ring; /* where to copy to, and to compute from */
    /* The first STAGES - 1 rounds only copy. */
#pragma unroll 1
    for (int step = 1 - STAGES; step < steps; step++) {
        if (step >= 0) {
            TMM__COPY_WAIT(STAGES - 2); /* this lane's copies of this step are there, */
            __syncwarp(); /* the other lanes' too, and all have finished with the step before */
        }
        if (step + STAGES - 1 < steps) {
            if (full && k_left >= 8) {
                tmm__small_copy(write + toA, LDA, ROWS, A, stepA, modeA, true, 0, 0);
                tmm__small_copy(write + toB, LDB, COLS, B, stepB, modeB, true, 0, 0);
            } else {
                int k_now = k_left < 8 ? (int)k_left : 8;
                tmm__small_copy(write + toA, LDA, ROWS, A, stepA, modeA, false, rows_left - lineA,
                                k_now - kA);
                tmm__small_copy(write + toB, LDB, COLS, B, stepB, modeB, false, cols_left - lineB,
                                k_now - kB);
            }
            A += nextA;
            B += nextB;
            k_left -= 8 * team;
            write = write == ring + (STAGES - 1) * STAGE ? ring : write + STAGE;
        }
        tmm__copy_commit(); /* an empty group too: the wait counts groups */
        if (step < 0) continue;

        if (TMM__SMALL_DMMA) {
            const TMM_TYPE *a = read + lane % 4 * LDA + lane / 4;
            const TMM_TYPE *b = read + 8 * LDA + lane % 4 * LDB + lane / 4;
            TMM_SUM fa[2][ROWS / 8], fb[2][COLS / 8];
#pragma unroll
            for (int k = 0; k < 2; k++) {
#pragma unroll
                for (int i = 0; i < ROWS / 8; i++) fa[k][i] = (TMM_SUM)a[4 * k * LDA + 8 * i];
#pragma unroll
                for (int j = 0; j < COLS / 8; j++) fb[k][j] = (TMM_SUM)b[4 * k * LDB + 8 * j];
            }
#pragma unroll
            for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
                for (int j = 0; j < COLS / 8; j++)
                    tmm__xdmma(&sum[4 * (i * ACROSS + j)], fa[0][2 * i], fa[0][2 * i + 1],
                               fa[1][2 * i], fa[1][2 * i + 1], fb[0][j], fb[1][j]);
        } else {
            const TMM_TYPE *a = read + TMM__LANE_DOWN(lane) * 4;
            const TMM_TYPE *b = read + 8 * LDA + TMM__LANE_ACROSS(lane) * WIDTH;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                tmm__xelements4 fa[DOWN / 4];
                tmm__small_elements fb[ACROSS / WIDTH];
#pragma unroll
                for (int q = 0; q < DOWN / 4; q++)
                    fa[q] = *(const tmm__xelements4 *)&a[k * LDA + 16 * q];
#pragma unroll
                for (int q = 0; q < ACROSS / WIDTH; q++)
                    fb[q] = *(const tmm__small_elements *)&b[k * LDB + 32 * q];
#pragma unroll
                for (int i = 0; i < DOWN; i++)
#pragma unroll
                    for (int j = 0; j < ACROSS; j++)
                        TMM__MULTIPLY_ADD(sum[i * ACROSS + j], (TMM_SUM)fa[i / 4].v[i % 4],
                                          (TMM_SUM)fb[j / WIDTH].v[j % WIDTH]);
            }
        }
        read = read == ring + (STAGES - 1) * STAGE ? ring : read + STAGE;
    }

    /* This warp's partial tile, in place of its ring. */
    TMM__COPY_WAIT(0);
    __syncwarp();
    if (steps > 0) tmm__small_leave_sums((TMM_SUM *)ring, sum, lane);
    __syncthreads();
    if (idle) return;

    C += product * batchC + tile_row * ldc + tile_col;
    bool alignedC = ((size_t)C | ldc * SIZE) % alignof(tmm__xvector) == 0;
    /* The team's partial tiles begin with that of its member 0. */
    const unsigned char *team_memory = tmm__memory + (warp - member) * tmm__small_warp;
#pragma unroll 1
    for (int wide = member * 32 + lane; wide < ROWS * COLS / WIDE; wide += 32 * team) {
        int r = wide / (COLS / WIDE), c = wide % (COLS / WIDE) * WIDE;
        if (r >= rows_left || c >= cols_left) continue;
        int parts = gridDim.y, fits = alignedC;
        TMM__HIDE(parts);
        TMM__HIDE(fits); /* or there would be a loop for each */
        tmm__xvector_sums total =
            tmm__small_add(team_memory + (r * LDC + c) * sizeof(TMM_SUM), members);
        if (parts > 1) {
            long long matrix = product * (long long)parts + blockIdx.y;
            TMM_SUM *p = partials + (matrix * M + tile_row + r) * N + tile_col + c;
#pragma unroll
            for (int j = 0; j < WIDE; j++)
                if (c + j < cols_left) p[j] = total.v[j];
            continue;
        }
        TMM_OUT *out = C + r * ldc + c;
        if (!fits || c + WIDE > cols_left) {
            unsigned mask = c + WIDE > cols_left ? (1u << (cols_left - c)) - 1 : (1u << WIDE) - 1;
            tmm__xstore_masked(out, tile_row + r, tile_col + c, WIDE, mask, alpha, beta, total.v);
            continue;
        }
        tmm__xvector old;
#pragma unroll
        for (int j = 0; j < WIDE; j++) old.v[j] = 0;
        if ((TMM_SUM)beta != 0) old = *(const tmm__xvector *)out;
#pragma unroll
        for (int j = 0; j < WIDE; j++) {
            TMM_SUM more =
                (TMM_SUM)beta != 0 ? TMM__MUL((TMM_SUM)beta, (TMM_SUM)old.v[j]) : (TMM_SUM)0;
            old.v[j] = tmm__xvalue(total.v[j], alpha, more, true, tile_row + r, tile_col + c + j);
        }
        *(tmm__xvector *)out = old;
    }
#endif
}
#endif
#endif
/* src/tiledmm/kernels/skinny/kernel.cuh. The kernel for a narrow C.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && (TMM__SKINNY_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL SKINNY ================================================= */
/* For a C of float with at most 16 rows or columns, matrix-vector products among them. Reading the
   large operand once bounds it. Few columns and few rows are one problem:

        few columns:  L = op(A), lines = its rows       S = op(B)
        few rows:     L = op(B), lines = its columns    S = op(A)      C transposed
        C(line, j) = alpha sum_k L(line, k) S(k, j) + beta C(line, j)         j < width

          k ->   stages                   +-+
                                          | |  S  K x width
                                          +-+
        +-----+-----+-----+--  --+-----+  +-+
        |  0  |  1  |  2  |  ... |     |  | |  a block: LINES lines of C, with all of K
        +-----+-----+-----+--  --+-----+  +-+
                 L  lines x K              C

   Terms:  L, S     the large and the small operand
           line     a row of op(A), or a column of op(B) where C is transposed
           width    columns of S, rounded up to WIDTH = 4 or 16 in the kernel
           vector   4 elements of L, which one thread copies and multiplies (WIDE)
           stage    DEPTH k of L and S in shared memory; STAGES of them form a ring
   cp.async fills the ring STAGES - 1 stages ahead, so 32 to 64 KB of a block are in flight. Reading
   at full speed needs 34 KB an SM: 4.5 TB/s times 1 us, over 132 SMs.

   L CONTIGUOUS ALONG K (TMM__SKINNY_ALONG_K 1). 8 warps lie below each other. Each has 4 groups of
   8 lanes (WIDTH 16) or one of 32 (WIDTH 4). A lane has 4 lines, and one vector of each a stage:

        WIDTH 16                 k: 32 a stage              S: as [j][k], read by 16-byte loads:
          line 0, 4, 8, 12  |0...|1...|2...| ... |7...|     8 addresses, the same for all 4 groups;
          line 1, 5, 9, 13  |8...|9...|    lanes            4 + 16 loads for 256 multiply-adds
          line 2, ...       |16..|                          a lane and stage
          line 3, ...       |24..|
      At the end the lanes of a group add their sums by shuffles.
   L CONTIGUOUS ALONG THE LINES (0; WIDTH 4, 16). A vector has neighbouring lines. 16 lanes lie side
   by side and 2 along k. 8 warps lie along k, 8 k each a stage:

        k       |0...|1...|2...| ... |15..|   64 lines                S: as [k][j], broadcast
        k + 1   |16..|17..|    ...   |31..|
      At the end the two halves add by a shuffle, the eight warps through shared memory.
   Where L is not aligned to 16 bytes, single elements are copied. The elements of a vector then lie
   8, 16 or 32 apart, so neighbouring lanes still read neighbouring memory.

   Global loads: lines K elements of L once, and width K of S for each block. At WIDTH 16 that is
   8 FLOP per byte; at one column it is 0.5.
   What bounds it: memory. At WIDTH 16 shared memory is close behind.
   blockIdx.y numbers split-K parts (see SMALL), blockIdx.z the products of a batch. */

enum {
    tmm__skinny_along_k = (TMM__SKINNY_LIST(TMM__VALUE_1) 0),
    tmm__skinny_width = (TMM__SKINNY_LIST(TMM__VALUE_2) 0),
    /* Of a group, which lies along k or along the lines, as L is contiguous. */
    tmm__skinny_lanes = !tmm__skinny_along_k      ? 16
                        : tmm__skinny_width == 16 ? 8
                                                  : 32,
    tmm__skinny_lines = tmm__skinny_along_k
                            ? 32 / tmm__skinny_lanes * TMM__SKINNY_COPIES * TMM__SKINNY_WARPS
                            : tmm__skinny_lanes * TMM__WIDE,
    tmm__skinny_depth = tmm__skinny_along_k ? tmm__skinny_lanes * TMM__WIDE
                                            : TMM__SKINNY_WARPS * 2 * TMM__SKINNY_COPIES,
    /* Along the lines: neighbouring k of a lane. */
    tmm__skinny_grain = tmm__skinny_width == 16 ? 1 : 4,
    /* Vector n of a thread lies n times so many k from its vector 0; along k, 32 / lanes lines. */
    tmm__skinny_k_step = tmm__skinny_along_k      ? 0
                         : tmm__skinny_grain == 1 ? 2
                                                  : 1,
    /* The pitch of S in shared memory, [j][k] or [k][j]: padded against bank conflicts. */
    tmm__skinny_pitch = tmm__skinny_along_k ? tmm__skinny_depth + 4
                                            : tmm__skinny_width + (tmm__skinny_width == 16 ? 4 : 0),
    /* Elements of a stage; bytes of the ring, and of the sums that take its place. */
    tmm__skinny_stage =
        TMM__SKINNY_L +
        ((tmm__skinny_along_k ? tmm__skinny_width : tmm__skinny_depth) * tmm__skinny_pitch + 15) /
            16 * 16,
    tmm__skinny_stages = tmm__skinny_along_k ? TMM__STAGES(5) : TMM__STAGES(4),
    tmm__skinny_ring = tmm__skinny_stages * tmm__skinny_stage * (int)sizeof(TMM_TYPE),
    tmm__skinny_least = (tmm__skinny_along_k ? 1 : TMM__SKINNY_WARPS) * tmm__skinny_lines *
                        tmm__skinny_width * (int)sizeof(TMM_SUM), /* whatever the stages */
    tmm__skinny_bytes = tmm__skinny_ring > tmm__skinny_least ? tmm__skinny_ring : tmm__skinny_least,
    /* Of a lane. */
    tmm__skinny_sums = TMM__SKINNY_COPIES * tmm__skinny_width
};

#if TMM__BODIES
/* Copies this thread's vectors of a stage of L. Vector n comes from from[n]. `full`: all of them
   exist. Otherwise lines_left and k_left count what exists of the block and of the stage. */
TMM__DEVICE void tmm__skinny_copy_L(TMM_TYPE *stage, const int *to, const TMM_TYPE *const *from,
                                    int line0, int k0, int apart, bool wide, bool full,
                                    int lines_left, int k_left)
{
    enum { WIDE = TMM__WIDE, BYTES = WIDE * sizeof(TMM_TYPE) };
#pragma unroll
    for (int n = 0; n < TMM__SKINNY_COPIES; n++) {
        TMM_TYPE *place = stage + to[n];
        if (full) {
            tmm__copy_zfill(place, from[n], BYTES, BYTES);
            continue;
        }
        /* n / TMM__SKINNY_COPIES is 0: it keeps the compiler from computing this before the loop. */
        int valid = tmm__skinny_along_k                    ? k_left - (k0 + n / TMM__SKINNY_COPIES)
                    : k0 + n * tmm__skinny_k_step < k_left ? lines_left - line0
                                                           : 0;
        if (wide) {
            int size = valid < 0 ? 0 : valid > WIDE ? WIDE : valid;
            tmm__copy_zfill(place, from[n], BYTES, size * (int)sizeof(TMM_TYPE));
        } else {
#pragma unroll
            for (int v = 0; v < WIDE; v++)
                tmm__xcopy_one(place + v, from[n] + v * apart, v * apart < valid);
        }
    }
}

/* The lanes that have the same lines add their sums. What they then have goes to shared memory, as
   [line][j], along the lines as [warp along k][line][j]. */
TMM__DEVICE void tmm__skinny_share_sums(TMM_SUM *shared, TMM_SUM *sum, int line0, int apart,
                                        int thread)
{
    enum { WIDTH = tmm__skinny_width, LANES = tmm__skinny_lanes, SUMS = tmm__skinny_sums };
    int warp = thread / 32, lane = thread % 32;
    if (tmm__skinny_along_k) {
        /* Two lanes `other` apart: each hands over half of its sums and adds up the other half. The
           last sums, fewer than lanes, both add up. In the end sum[i] is number first + i. */
        int count = SUMS, first = 0, alike = 1;
#pragma unroll
        for (int other = LANES / 2; other > 0; other /= 2) {
            bool upper = lane & other;
            if (count > 1) {
                count /= 2;
                if (upper) first += count;
#pragma unroll
                for (int i = 0; i < SUMS / 2; i++) {
                    if (i >= count) continue; /* no other bound: loops must unroll from within */
                    TMM_SUM low = sum[i], high = sum[count + i], keep = upper ? high : low;
                    keep += (TMM_SUM)__shfl_xor_sync(0xffffffffu, upper ? low : high, other);
                    sum[i] = keep;
                }
            } else {
                sum[0] += (TMM_SUM)__shfl_xor_sync(0xffffffffu, sum[0], other);
                alike *= 2;
            }
        }
        if (lane % alike == 0) { /* one of those that have the same */
#pragma unroll
            for (int i = 0; i < SUMS; i++) {
                if (i >= count) continue;
                int n = first + i;
                shared[(line0 + n / WIDTH * (32 / LANES)) * WIDTH + n % WIDTH] = sum[i];
            }
        }
    } else {
        /* Of two lanes, one adds up the even sums, and the other the odd ones. */
        int upper = lane / LANES;
#pragma unroll
        for (int i = 0; i < SUMS; i += 2) {
            TMM_SUM even = sum[i], odd = sum[i + 1], total = upper ? odd : even;
            total += (TMM_SUM)__shfl_xor_sync(0xffffffffu, upper ? even : odd, LANES);
            shared[(warp * tmm__skinny_lines + line0 + i / WIDTH * apart) * WIDTH + i % WIDTH +
                   upper] = total;
        }
    }
}

/* Stores C, or this block's part of the sums for KERNEL SUM. */
TMM__DEVICE void tmm__skinny_store(const TMM_SUM *sums, long long lines, long long width,
                                   long long first_line, int lines_left, TMM_SCALAR alpha,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, int transposed,
                                   TMM_SUM *partials, int thread)
{
    enum { WIDTH = tmm__skinny_width, LINES = tmm__skinny_lines };
    /* Neighbouring threads write neighbours in C: 256 elements on are lines, or columns, further. */
    int parts = gridDim.y;
    int down = transposed ? 0 : 256 / WIDTH, right = transposed ? 256 / LINES : 0;
    int line = transposed ? thread % LINES : thread / WIDTH;
    int j = transposed ? thread / LINES : thread % WIDTH;
#pragma unroll 1
    for (; line < lines_left && j < width; line += down, j += right) {
        TMM__HIDE(parts); /* or there would be a loop for one and for many */
        TMM_SUM total = sums[line * WIDTH + j];
        if (!tmm__skinny_along_k) {
#pragma unroll
            for (int w = 1; w < TMM__SKINNY_WARPS; w++)
                total += sums[(w * LINES + line) * WIDTH + j];
        }
        long long row = transposed ? j : first_line + line,
                  col = transposed ? first_line + line : j;
        if (parts > 1) { /* left for KERNEL SUM */
            partials[(blockIdx.z * (long long)parts + blockIdx.y) * (lines * width) +
                     row * (transposed ? lines : width) + col] = total;
            continue;
        }
        tmm__xstore_masked(C + row * ldc + col, row, col, 1, 1, alpha, beta, &total);
    }
}
#endif

TMM_KERNEL void __launch_bounds__(256, 2)
    tmm__gemm_skinny(long long lines, long long width, long long K, TMM_SCALAR alpha,
                     const TMM_TYPE *__restrict__ L, long long line_strideL, long long k_strideL,
                     long long batchL, const TMM_TYPE *__restrict__ S, long long k_strideS,
                     long long j_strideS, long long batchS, TMM_SCALAR beta,
                     TMM_OUT *__restrict__ C, long long ldc, long long batchC, int transposed,
                     TMM_SUM *__restrict__ partials)
{
#if TMM__BODIES
    enum {
        ALONG_K = tmm__skinny_along_k,
        WIDTH = tmm__skinny_width,
        DEPTH = tmm__skinny_depth,
        LINES = tmm__skinny_lines,
        STAGES = tmm__skinny_stages,
        STAGE = tmm__skinny_stage,
        LANES = tmm__skinny_lanes,
        LDS = tmm__skinny_pitch,
        GRAIN = tmm__skinny_grain,
        WIDE = TMM__WIDE,
        COPIES = TMM__SKINNY_COPIES,
        S_COPIES = (WIDTH * DEPTH + 255) / 256 /* elements of S that a thread copies a stage */
    };
    static_assert(TMM__IS_FLOAT, "TMM__SKINNY_LIST: the instances are of float, TMM__IF_FLOAT");
    static_assert((int)ALONG_K == 0 || (int)ALONG_K == 1,
                  "TMM__SKINNY_LIST: whether L is contiguous along k must be 0 or 1");
    static_assert((int)WIDTH == 2 || (int)WIDTH == 4 || (int)WIDTH == 8 || (int)WIDTH == 16 ||
                      (ALONG_K && (int)WIDTH == 1),
                  "TMM__SKINNY_LIST: a width must be 2, 4, 8 or 16, or 1 along k: threads share S "
                  "and the sums of lines by powers of two");
    static_assert((int)TMM__SKINNY_WARPS == 8 && (int)COPIES == 4 &&
                      (int)TMM__SKINNY_L == 256 * COPIES * WIDE,
                  "TMM__SKINNY_WARPS, _COPIES and _L must be 8, 4 and 4096: each of 256 threads "
                  "copies 4 vectors, of neighbouring k");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    TMM_TYPE *ring = (TMM_TYPE *)tmm__memory;
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

    /* Where this block is: its lines, and the stages of its split-K part. */
    long long first_line = (long long)blockIdx.x * LINES;
    int lines_left = lines - first_line < LINES ? (int)(lines - first_line) : LINES;
    long long stages = (K + DEPTH - 1) / DEPTH, first = 0;
    if (gridDim.y > 1) {
        long long part = (stages + gridDim.y - 1) / gridDim.y;
        first = blockIdx.y * part;
        stages = stages > first + part ? part : stages > first ? stages - first : 0;
    }
    long long k_left = K - first * DEPTH; /* from the next stage to be copied on */
    L += blockIdx.z * batchL + first_line * line_strideL + first * DEPTH * k_strideL;
    S += blockIdx.z * batchS + first * DEPTH * k_strideS;
    C += blockIdx.z * batchC;

    /* Which vectors of L this thread copies: vector 0 has line line0 and k k0. Its elements lie
       `apart` from each other, along k or along the lines. */
    bool wide = ((size_t)L | (ALONG_K ? line_strideL : k_strideL) * sizeof(TMM_TYPE)) %
                    alignof(tmm__xvector) ==
                0;
    int line0, k0, apart;
    if (ALONG_K) {
        line0 = warp * ((int)LINES / TMM__SKINNY_WARPS) + lane / LANES;
        k0 = lane % LANES * (wide ? WIDE : 1);
    } else {
        line0 = lane % LANES * (wide ? WIDE : 1);
        k0 = warp * 2 * COPIES + lane / LANES * GRAIN;
    }
    apart = wide ? 1 : LANES;
    int to[COPIES]; /* where they lie in a stage */
#pragma unroll
    for (int n = 0; n < COPIES; n++) to[n] = WIDE * (n * 256 + thread);
    const TMM_TYPE *from[COPIES];
#pragma unroll
    for (int n = 0; n < COPIES; n++) {
        /* Along k the last line stands for those that do not exist: the loop needs no predicate. */
        int line = line0 + (ALONG_K ? n * (32 / LANES) : 0);
        if (ALONG_K && line >= lines_left) line = lines_left - 1;
        from[n] = L + line * line_strideL + (k0 + n * tmm__skinny_k_step) * k_strideL;
    }
    /* Which elements of S it copies: element n has column j0 + n j_step and k kS + n k_step.
       Neighbouring threads read neighbouring memory. The last column stands for those that do not
       exist. */
    int j0 = k_strideS == 1 ? thread / DEPTH : thread % WIDTH, kS;
    kS = k_strideS == 1 ? thread % DEPTH : thread / WIDTH;
    if (!ALONG_K && WIDTH == 16 && k_strideS == 1) { /* against bank conflicts: 4 columns of 8 k */
        j0 = warp / (DEPTH / 8) * 4 + lane / 8;
        kS = warp % (DEPTH / 8) * 8 + lane % 8;
    }
    int j_step = k_strideS == 1 ? 256 / DEPTH : 0, k_step = k_strideS == 1 ? 0 : 256 / WIDTH;
    const TMM_TYPE *fromS[S_COPIES];
    int toS[S_COPIES];
#pragma unroll
    for (int n = 0; n < S_COPIES; n++) {
        int j = j0 + n * j_step, k = kS + n * k_step;
        int in_row = k;
        if (ALONG_K && !wide) /* in the order in which the lanes have L */
            in_row = k / (LANES * WIDE) * (LANES * WIDE) + k % LANES * WIDE + k / LANES % WIDE;
        toS[n] = TMM__SKINNY_L + (ALONG_K ? j * LDS + in_row : k * LDS + j);
        fromS[n] = S + k * k_strideS + (j < width ? j : width - 1) * j_strideS;
    }
    bool copiesS = WIDTH * DEPTH >= 256 || thread < WIDTH * DEPTH;

    TMM_SUM sum[tmm__skinny_sums];
#pragma unroll
    for (int i = 0; i < tmm__skinny_sums; i++) sum[i] = 0;

    /* The first STAGES - 1 rounds only copy. */
    TMM_TYPE *write = ring, *read = ring; /* the stage to copy to, and to compute from */
#pragma unroll 1
    for (long long stage = 1 - STAGES; stage < stages; stage++) {
        if (stage >= 0) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads(); /* S is there, and all have finished with the stage before */
        }
        if (stage + STAGES - 1 < stages) {
            bool full = wide && k_left >= DEPTH && (ALONG_K || lines_left == LINES);
            int left = k_left < DEPTH ? (int)k_left : DEPTH;
            if (full)
                tmm__skinny_copy_L(write, to, from, line0, k0, apart, wide, true, 0, 0);
            else
                tmm__skinny_copy_L(write, to, from, line0, k0, apart, wide, false, lines_left,
                                   left);
            if (copiesS) {
#pragma unroll
                for (int n = 0; n < S_COPIES; n++)
                    tmm__xcopy_one(write + toS[n], fromS[n], full || kS + n * k_step < left);
            }
#pragma unroll
            for (int n = 0; n < COPIES; n++) from[n] += DEPTH * (ALONG_K ? 1 : k_strideL);
#pragma unroll
            for (int n = 0; n < S_COPIES; n++) fromS[n] += DEPTH * k_strideS;
            k_left -= DEPTH;
            write = write == ring + (STAGES - 1) * STAGE ? ring : write + STAGE;
        }
        tmm__copy_commit(); /* an empty group too: the wait counts groups */
        if (stage < 0) continue;

        const TMM_TYPE *now = read;
        read = read == ring + (STAGES - 1) * STAGE ? ring : read + STAGE;
        tmm__xvector x[COPIES];
#pragma unroll
        for (int n = 0; n < COPIES; n++) x[n] = *(const tmm__xvector *)&now[to[n]];
#if TMM__SKINNY_LIST(TMM__VALUE_1) 0
        const TMM_TYPE *s = now + TMM__SKINNY_L + lane % LANES * WIDE;
#pragma unroll
        for (int j = 0; j < WIDTH; j++) {
            tmm__xvector y = *(const tmm__xvector *)&s[j * LDS];
#pragma unroll
            for (int v = 0; v < WIDE; v++)
#pragma unroll
                for (int n = 0; n < COPIES; n++)
                    TMM__MULTIPLY_ADD(sum[n * WIDTH + j], (TMM_SUM)x[n].v[v], (TMM_SUM)y.v[v]);
        }
#else
        const TMM_TYPE *s =
            now + TMM__SKINNY_L + (thread / 32 * 2 * COPIES + lane / LANES * GRAIN) * LDS;
#pragma unroll
        for (int n = 0; n < COPIES; n += GRAIN) {
            tmm__xvector y[(int)GRAIN * WIDTH / WIDE];
#pragma unroll
            for (int i = 0; i < (int)GRAIN * WIDTH / WIDE; i++)
                y[i] = *(const tmm__xvector *)&s[n * 2 * LDS + i * WIDE];
#pragma unroll
            for (int g = 0; g < GRAIN; g++)
#pragma unroll
                for (int v = 0; v < WIDE; v++)
#pragma unroll
                    for (int j = 0; j < WIDTH; j++)
                        TMM__MULTIPLY_ADD(
                            sum[v * WIDTH + j], (TMM_SUM)x[n + g].v[v],
                            (TMM_SUM)y[(g * WIDTH + j) / WIDE].v[(g * WIDTH + j) % WIDE]);
        }
#endif
    }
    TMM__COPY_WAIT(0);
    __syncthreads(); /* all have finished with the ring: sums take its place */
    TMM_SUM *sums = (TMM_SUM *)tmm__memory;
    tmm__skinny_share_sums(sums, sum, line0, apart, thread);
    __syncthreads();

    tmm__skinny_store(sums, lines, width, first_line, lines_left, alpha, beta, C, ldc, transposed,
                      partials, thread);
#endif
}
#endif
#endif
/* src/tiledmm/kernels/outer/kernel.cuh. The kernel for a short K: C as a sum of few outer products.
   Uses: kernels/common/, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && (TMM__OUTER_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL OUTER ================================================== */
/* For a short K: writing C is most of the work. A block copies all k of its rows of A and columns
   of B at once and waits once. Each thread adds up K outer products of 8 or 4 rows and 4 columns:

                                       B  K x N   (narrow: 4 x 8 columns)
                             lane: 0 1 .. 31  0 1 .. 31  0 1 .. 31  0 1 .. 31
                                  +----------+----------+----------+----------+
                                  |          |          |          |          | k
                                  +----------+----------+----------+----------+
        A  M x K      warp 0 +-+  |                                           |
                             | |  |  8 rows (narrow: 4 times 4) of 128        |
                             +-+  |  columns, 32 columns apart for a thread   |
                      warp 1 +-+  +-------------------------------------------+
                             | |  |  ...                                      |
                             +-+  +-------------------------------------------+
                              k     1 to 8 warps, as M and the device need

   Neighbouring lanes have neighbouring columns, so that stores to C are coalesced whatever the
   alignment. Operands that are contiguous along k are transposed on their way to shared memory.
   Up to TMM__OUTER_DIRECT k are read straight from L1: shared memory would only add its wait.

   Global memory: M N elements written. L2: M N K (1 / rows + 1 / columns of a block) read. Shared
   memory, a warp and k: 4 reads of B, 1 or 2 of A, which all lanes share, for 32 or 16
   multiply-adds a lane. Arithmetic intensity: 2 K FLOP for each element of C. What bounds it: the
   writing of C for K below some 30, then multiply-adds. For a small C it is latency: of a launch, a
   round of copies and the stores. */
enum {
    tmm__outer_warp_rows = TMM__OUTER_ROWS * (32 / TMM__OUTER_ACROSS),
    tmm__outer_cols = TMM__OUTER_COLS * TMM__OUTER_ACROSS,
    tmm__outer_lda = TMM__OUTER_WARPS * tmm__outer_warp_rows + 4, /* 4 more: see REGISTER */
    /* Twice 32 columns at least: see tmm__outer_copy. */
    tmm__outer_ldb = (tmm__outer_cols < 64 ? 64 : tmm__outer_cols) + 4,
    /* Of shared memory for a k. */
    tmm__outer_bytes = (tmm__outer_lda + tmm__outer_ldb) * (int)sizeof(TMM_TYPE)
};

#if TMM__BODIES
/* A block copies `lines` rows of A or columns of B by `depth` k to panel[k][line], with rows of ld;
   x is the first element. lines_left and k_left say what exists; zeros take the place of the rest.
   Two lines and two k at a time are copied without a branch between them: a copy waits for the
   instructions of the one before. `depth` is a multiple of 16, and B has room for it. */
TMM__DEVICE void tmm__outer_copy(TMM_TYPE *panel, int ld, int lines, const TMM_TYPE *x,
                                 long long line_stride, long long k_stride, int lines_left,
                                 int k_left, int depth)
{
    enum { WIDE = TMM__WIDE, SIZE = sizeof(TMM_TYPE) };
    const unsigned thread = threadIdx.x, threads = blockDim.x;
    if (line_stride != 1) { /* 8 lanes along k, 4 below each other */
        const int step = (int)(threads / 8);
        const long long stride = step * line_stride;
        int line = (int)(thread / 8);
        x += line * line_stride + thread % 8;
        panel += thread % 8 * ld + line;
        k_left -= thread % 8;
        lines_left -= line;
#pragma unroll 1
        for (; line < lines; line += 2 * step) {
#pragma unroll 1
            for (int k = 0; k < depth; k += 16)
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    const int at = k + q % 2 * 8;
                    tmm__xcopy_one(&panel[at * ld + q / 2 * step], x + q / 2 * stride + at,
                                   q / 2 * step < lines_left && at < k_left);
                }
            x += 2 * stride;
            panel += 2 * step;
            lines_left -= 2 * step;
        }
        return;
    }
    /* Single elements where copies are not asynchronous: vectors would take too many registers. */
    const bool vector = TMM__STAGES(3) > 2 && ((size_t)x | k_stride * SIZE) % (WIDE * SIZE) == 0;
    /* Lanes lie side by side along the lines: 32, or as many as there are vectors. */
    const int across = vector ? lines / WIDE : 32, across_log2 = 31 - __clz(across);
    const int step = (int)(threads >> across_log2), side = (int)(thread & (across - 1));
    int k = (int)(thread >> across_log2);
    x += k * k_stride;
    panel += k * ld;
    k_left -= k;
    if (vector) {
        int left = lines_left - side * WIDE;
        left = (left < 0 ? 0 : left > WIDE ? (int)WIDE : left) * (int)SIZE;
        x += side * WIDE;
        panel += side * WIDE;
#pragma unroll 1
        for (; k < depth; k += step) {
            tmm__copy_zfill(panel, x, WIDE * SIZE, k_left > 0 ? left : 0);
            x += step * k_stride;
            panel += step * ld;
            k_left -= step;
        }
        return;
    }
    x += side;
    panel += side;
    lines_left -= side;
#pragma unroll 1
    for (; k < depth; k += 2 * step) {
#pragma unroll 1
        for (int line = 0; line < lines; line += 32)
#pragma unroll
            for (int q = 0; q < 2; q++)
                tmm__xcopy_one(&panel[q * step * ld + line], x + q * step * k_stride + line,
                               line < lines_left && q * step < k_left);
        x += 2 * step * k_stride;
        panel += 2 * step * ld;
        k_left -= 2 * step;
    }
}
#endif

TMM_KERNEL void __launch_bounds__(32 * TMM__OUTER_WARPS)
    tmm__gemm_outer(long long M, long long N, long long K, TMM_SCALAR alpha,
                    const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                    const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                    TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                    int depth)
{
#if TMM__BODIES
    enum { ROWS = TMM__OUTER_ROWS, ACROSS = TMM__OUTER_ACROSS, COLS = TMM__OUTER_COLS };
    enum {
        LDA = tmm__outer_lda,
        LDB = tmm__outer_ldb,
        TILE_COLS = tmm__outer_cols,
        UNROLL = 2,     /* k at a time */
        STORED_ROWS = 2 /* at a time */
    };
    enum { WARPS = TMM__OUTER_WARPS, STEP = TMM__OUTER_STEP };
    static_assert(ACROSS >= 1 && 32 % ACROSS == 0 && ROWS % 4 == 0 && (ROWS & (ROWS - 1)) == 0 &&
                      tmm__outer_warp_rows >= 8 && tmm__outer_warp_rows <= 64,
                  "TMM__OUTER_LIST: lanes must be a power of two up to 32, rows one from 4 on, and "
                  "rows 32 / lanes 8 to 64: the threads of a block share copies by powers of two");
    static_assert(
        ((int)COLS == 2 || (int)COLS == 4 || (int)COLS == 8) && (int)TILE_COLS >= 4 &&
            (int)ROWS * COLS <= 64,
        "TMM__OUTER_COLS must be 2, 4 or 8, and a thread of TMM__OUTER_LIST have 64 sums at "
        "most");
    static_assert((int)WARPS == 4 || (int)WARPS == 8,
                  "TMM__OUTER_WARPS must be 4 or 8: plans begin with 4, the copies end with 8");
    static_assert(
        (int)STEP % 16 == 0 && (int)STEP >= 16 &&
            (int)STEP * (LDA + LDB) * (int)sizeof(TMM_TYPE) <= 49152,
        "TMM__OUTER_STEP must be a multiple of 16, of which copies come together, and fit "
        "into the 48 KB that every block has");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    const int tile_rows = (int)(blockDim.x / 32) * tmm__outer_warp_rows;
    long long row = (long long)blockIdx.y * tile_rows;
    long long col = (long long)blockIdx.x * TILE_COLS;
    A += blockIdx.z * batchA + row * rsA;
    B += blockIdx.z * batchB + col * csB;
    int rows_left = M - row < tile_rows ? (int)(M - row) : tile_rows;
    int cols_left = N - col < TILE_COLS ? (int)(N - col) : (int)TILE_COLS;
    const int my_row = (int)(threadIdx.x / ACROSS) * ROWS, my_col = threadIdx.x % ACROSS;

    TMM_SUM sum[ROWS][COLS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++) sum[i][j] = 0;

    int left = (int)K;
    if (depth == 0) { /* straight from L1 */
        A += my_row * rsA;
        B += my_col * csB;
#pragma unroll 1
        do {
            TMM_TYPE a[ROWS], b[COLS];
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                b[j] = 0;
                tmm__load_if(&b[j], B + j * ACROSS * csB, sizeof(TMM_TYPE),
                             my_col + j * ACROSS < cols_left);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                a[i] = 0;
                tmm__load_if(&a[i], A + i * rsA, sizeof(TMM_TYPE), my_row + i < rows_left);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLS; j++)
                    TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)a[i], (TMM_SUM)b[j]);
            A += csA;
            B += rsB;
        } while (--left > 0);
    }
    TMM_TYPE *panelA = (TMM_TYPE *)tmm__memory, *panelB = panelA + depth * LDA;
#pragma unroll 1
    while (left > 0) {
#pragma unroll 1
        for (int o = 0; o < 2; o++) /* once for both: less to compile */
            tmm__outer_copy(o ? panelB : panelA, o ? (int)LDB : (int)LDA,
                            o ? (int)TILE_COLS : tile_rows, o ? B : A, o ? csB : rsA, o ? rsB : csA,
                            o ? cols_left : rows_left, left, depth);
        tmm__copy_commit();
        TMM__COPY_WAIT(0);
        __syncthreads();
        const TMM_TYPE *a = panelA + my_row, *b = panelB + my_col;
#pragma unroll 1
        for (int k = left < depth ? left : depth; k > 0; k -= UNROLL) { /* zeros after the last */
            tmm__xelements4 x[UNROLL][ROWS / 4];
            TMM_TYPE y[UNROLL][COLS];
#pragma unroll
            for (int d = 0; d < UNROLL; d++) {
#pragma unroll
                for (int q = 0; q < ROWS / 4; q++)
                    x[d][q] = *(const tmm__xelements4 *)&a[d * LDA + 4 * q];
#pragma unroll
                for (int j = 0; j < COLS; j++) y[d][j] = b[d * LDB + j * ACROSS];
            }
#pragma unroll
            for (int d = 0; d < UNROLL; d++)
#pragma unroll
                for (int i = 0; i < ROWS; i++)
#pragma unroll
                    for (int j = 0; j < COLS; j++)
                        TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)x[d][i / 4].v[i % 4],
                                          (TMM_SUM)y[d][j]);
            a += UNROLL * LDA;
            b += UNROLL * LDB;
        }
        A += depth * csA;
        B += depth * rsB;
        left -= depth;
        if (left > 0) __syncthreads();
    }

    rows_left -= my_row;
    cols_left -= my_col;
    row += my_row;
    col += my_col;
    C += blockIdx.z * batchC + row * ldc + col;
    bool inside[COLS];
#pragma unroll
    for (int j = 0; j < COLS; j++) inside[j] = j * ACROSS < cols_left;
        /* Two rows, then the next two in their place: less to compile. */
#pragma unroll 1
    for (int first = 0; first < ROWS; first += STORED_ROWS) {
#pragma unroll
        for (int i = 0; i < STORED_ROWS; i++) {
            if (first + i >= rows_left) return;
            TMM_SUM old[COLS];
#pragma unroll
            for (int j = 0; j < COLS; j++) old[j] = 0;
            if ((TMM_SUM)beta != 0) { /* all are read before any is stored: see load2 */
                TMM_OUT element[COLS];
#pragma unroll
                for (int j = 0; j < COLS; j++) {
                    element[j] = 0;
                    tmm__xload_if(&element[j], C + j * ACROSS, inside[j]);
                }
#pragma unroll
                for (int j = 0; j < COLS; j++)
                    old[j] = TMM__MUL((TMM_SUM)beta, (TMM_SUM)element[j]);
            }
#pragma unroll
            for (int j = 0; j < COLS; j++)
                tmm__xstore_if(C + j * ACROSS,
                               tmm__xvalue(sum[i][j], alpha, old[j], inside[j], row + first + i,
                                           col + j * ACROSS),
                               inside[j]);
            C += ldc;
        }
#pragma unroll
        for (int i = 0; i < ROWS - (int)STORED_ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) sum[i][j] = sum[i + STORED_ROWS][j];
    }
#endif
}
#endif
#endif
/* src/tiledmm/kernels/direct/kernel.cuh. The kernel for tiny products: dot products by groups of threads.
   Uses: kernels/common/store.cuh, sizes.h, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== KERNEL DIRECT ================================================= */
/* For a product so small that a launch and one way to memory and back take most of its time; and for
   vectors, of which each element is read once anyway. A group of G threads computes one element of C
   as a dot product. Its members have every G-th k. All loads of
   8 k are under way before the first multiply-add. Nothing goes through shared memory but the sums
   of a group whose members are in several warps.

              k ->  member: 0 1 2 3 0 1 2 3 0 1 2 3            B
             +-+-+-+-+-+-+-+-+-+-+-+-+                       +-+
        A    |0|1|2|3|0|1|2|3|0|1|2|3|  row i                |0|  column j
             +-+-+-+-+-+-+-+-+-+-+-+-+                       |1|
                                                             |2|
        C(i, j) = (sum of 0 + that of 1) + (2 + 3)           |3|
                                                             |0| ...

   Where that leaves multiprocessors idle, a cluster of eight blocks has the k of the same groups:
   each block adds up its part, and the first one adds these.

   Groups are numbered along the rows of C. There are two ways to give them threads:
     TMM__MEMBERS  members are neighbours: reads contiguous along k are coalesced
        thread 0 1 2 3 | 4 5 6 7 | ...          group 0: threads 0 to 3
     TMM__GROUPS   groups are neighbours: reads contiguous along the rows of op(B) are
        thread 0 1 2 ... 63 | 64 65 ...         group 0 of 64: threads 0, 64, 128 and 192
   Lanes add their sums by shuffles, warps through shared memory, blocks through shared memory of the
   first block of their cluster: in the same order in every run.

   Global loads: 2 K elements for each of C, most of them from L1: 0.25 FLOP a byte in float. What
   bounds it: the latency of a launch and of a load, and one more load for each further 8 G of k. Then
   it is the lines of L1 that its loads touch: no register serves two elements. With vectors it is
   memory: 32 to 64 KB of loads are under way on a multiprocessor.

   block_log2, group_log2, cluster_log2: threads of a block and of a group, blocks of a cluster, as
   powers of two. magic, magic_log2: n / N is (n + n magic / 2^32) >> magic_log2. beside, lanes:
   members that are lanes of a warp are so far apart, among so many lanes. apart_log2, warps_log2:
   the sums that are then left, so far apart, and how many. As members of a structure the last ten
   take more registers. */
TMM_KERNEL void __launch_bounds__(TMM__DIRECT_MOST)
    tmm__xgemm_direct(long long M, long long N, long long K, TMM_SCALAR alpha,
                      const TMM_TYPE *__restrict__ A, long long rsA, long long csA,
                      long long batchA, const TMM_TYPE *__restrict__ B, long long rsB,
                      long long csB, long long batchB, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                      long long ldc, long long batchC, int block_log2, int group_log2, int layout,
                      int cluster_log2, unsigned magic, int magic_log2, int beside, int lanes,
                      int apart_log2, int warps_log2)
{
    enum { DEEP = TMM__DIRECT_DEEP, CLUSTER = 1 << TMM__DIRECT_CLUSTER };
    static_assert((int)TMM__DIRECT_MOST >= 32 && (int)TMM__DIRECT_MOST <= 1024 &&
                      ((int)TMM__DIRECT_MOST & ((int)TMM__DIRECT_MOST - 1)) == 0,
                  "TMM__DIRECT_MOST must be a power of two, 32 to 1024: the threads of a block");
    static_assert((int)TMM__DIRECT_BLOCK >= 5 && 1 << TMM__DIRECT_BLOCK <= (int)TMM__DIRECT_MOST,
                  "TMM__DIRECT_BLOCK must be 5 at least, which is a warp, and 2 to it not be above "
                  "TMM__DIRECT_MOST");
    static_assert((int)TMM__DIRECT_CLUSTER >= 1 && (int)TMM__DIRECT_CLUSTER <= 3,
                  "TMM__DIRECT_CLUSTER must be 1 to 3: a cluster has 8 blocks at most");
    static_assert(
        (int)TMM__DIRECT_DEEP >= 1 && (int)TMM__DIRECT_GROUPS >= 1 &&
            ((int)TMM__DIRECT_MOST + CLUSTER * (int)TMM__DIRECT_GROUPS) * (int)sizeof(TMM_SUM) <=
                49152,
        "TMM__DIRECT_GROUPS: the sums of so many groups of a cluster's blocks must fit into "
        "the 48 KB of a block");
    __shared__ TMM_SUM sums[TMM__DIRECT_MOST];
    const int thread = threadIdx.x, group = 1 << group_log2, groups_log2 = block_log2 - group_log2;
    const bool members = layout == TMM__MEMBERS;
    const int groups = 1 << groups_log2; /* of the block */
    const int member = members ? thread & (group - 1) : thread >> groups_log2;
    const int place = members ? thread >> group_log2 : thread & (groups - 1);
    const unsigned rank = blockIdx.x & ((1u << cluster_log2) - 1); /* in the cluster */
    const int all_log2 = group_log2 + cluster_log2; /* members of a group in all blocks */
    /* 32 bits suffice: C has at most 2^31 - 1 elements. */
    const unsigned number = (blockIdx.x >> cluster_log2 << groups_log2) + place;
    const bool inside = number < (unsigned)M * (unsigned)N;
    /* number / N, without a division. */
    const unsigned row = (__umulhi(number, magic) + number) >> magic_log2;
    const unsigned col = number - row * (unsigned)N;
    TMM_SUM sum = 0;

    const unsigned first_k = member + (rank << group_log2);
    long long toA = blockIdx.z * batchA + row * rsA + first_k * csA;
    long long toB = blockIdx.z * batchB + col * csB + first_k * rsB;
    long long toC = sizeof(TMM_TYPE) > 4 ? blockIdx.z * batchC + row * ldc + col : 0;
    int stores = member == 0 && inside;
    TMM__HIDE_POINTER(toA);
    TMM__HIDE_POINTER(toB); /* or the compiler computes them twice, */
    TMM__HIDE(stores);      /* and these at the end, where nothing hides their latency */
    if (sizeof(TMM_TYPE) > 4) TMM__HIDE_POINTER(toC); /* float would take more registers */
    A += toA, B += toB;
    const long long stepA = csA << all_log2, stepB = rsB << all_log2;
    /* How many k this member has. */
    int left = (int)(((unsigned)K - first_k + (1u << all_log2) - 1) >> all_log2);
    if (!inside) left = 0;
    if ((int)K <= 1 << all_log2) {
        if (left > 0) TMM__MULTIPLY_ADD(sum, (TMM_SUM)*A, (TMM_SUM)*B);
        left = 0;
    }
#pragma unroll 1
    for (; left > 0; left -= DEEP) {
        TMM_TYPE x[DEEP], y[DEEP];
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            x[k] = 0;
            if (k < left) x[k] = *A;
            A += stepA;
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            y[k] = 0;
            if (k < left) y[k] = *B;
            B += stepB;
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) TMM__MULTIPLY_ADD(sum, (TMM_SUM)x[k], (TMM_SUM)y[k]);
    }

    /* First the sums of members that are lanes of a warp, then what is left, halved until it is one. */
    if (group_log2 > 0) {
        for (int other = beside; other < lanes; other *= 2)
            sum += (TMM_SUM)__shfl_xor_sync(0xffffffffu, sum, other);
        const int first = members ? member : thread; /* in the group, or of groups side by side */
        if (warps_log2 > 0) {
#if TMM__CLUSTERS
            if (cluster_log2 > 0) tmm__cluster_arrive(false); /* has begun */
#endif
            sums[thread] = sum;
#pragma unroll 1
            for (int half = warps_log2 - 1; half >= 0; half--) {
                const int other = 1 << half << apart_log2;
                __syncthreads();
                if (first < other) sums[thread] = sum += sums[thread + other];
            }
#if TMM__CLUSTERS
            if (cluster_log2 > 0) {
                __shared__ TMM_SUM parts[CLUSTER][TMM__DIRECT_GROUPS];
                tmm__cluster_wait(); /* all of its blocks have begun */
                if (member == 0) {
                    unsigned words[(sizeof sum + 3) / 4];
                    memcpy(words, &sum, sizeof sum);
#pragma unroll
                    for (int w = 0; w < (int)(sizeof sum / 4); w++)
                        tmm__store_word_cluster((unsigned *)&parts[rank][place] + w, 0, words[w]);
                }
                tmm__cluster_arrive(true);
                tmm__cluster_wait();
                if (rank > 0) return;
                sum = parts[0][place];
#pragma unroll
                for (int r = 1; r < CLUSTER; r++) sum += parts[r][place];
            }
#endif
        }
    }
    if (!stores) return;

    C += sizeof(TMM_TYPE) > 4 ? toC : blockIdx.z * batchC + row * ldc + col;
    TMM_SUM old = 0;
    if ((TMM_SUM)beta != 0) old = TMM__MUL((TMM_SUM)beta, (TMM_SUM)*C);
    *C = tmm__xvalue(sum, alpha, old, true, row, col);
}
#endif
/* src/tiledmm/kernels/narrow/kernel.cuh. The kernel for a narrow C: 17 to 128 rows or columns beside
   thousands.
   Uses: kernels/common/store.cuh, sizes.h, once/. Used by: launch.h. */
#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_FLOAT && (TMM__NARROW_LIST(TMM__IN_PASS) 0)
/* ============================== KERNEL NARROW ================================================= */
/* For a narrow C. P is the operand of few lines, Q that of many:

        upright   P = op(A), its lines are rows of C       Q = op(B), its lines are columns of C
        turned    P = op(B), its lines are columns of C    Q = op(A), its lines are rows of C

   Few multiply-adds may be wasted on lines that P does not have. So a tile has 24, 32, 48 or 64
   lines of P and 512 or 256 of Q, all by the same code. A thread has 3 or 4 groups of 4 lines of P,
   and twice 4 lines of Q. `down` = 2 or 4 lanes of a warp lie along P, the
   others along Q, and the four warps side by side:

      group 0   +-------+-------+-------+-------+   +-------+-------+-------+-------+   down = 4:
      group 1   | w0    | w1    | w2    | w3    |   | w0    | w1    | w2    | w3    |   64 x 256
      group 2   |       |       |       |       |   |       |       |       |       |   down = 2:
      group 3   +-------+-------+-------+-------+   +-------+-------+-------+-------+   32 x 512
                first fours of all threads          second fours

   In a warp's part of a group, 16 x 32 lines or 8 x 64, a lane has 4 x 4:
      +--+--+--+--+--+--+--+--+      +--+--+--+--+--+--   --+
      | 0| 1| 4| 5| 8| 9|12|13|      | 0| 1| 4| 5| 8|... 29|
      | 2| 3| 6| 7|10|11|14|15|      | 2| 3| 6| 7|10|... 31|
      |16|17| ...             |      +--+--+--+--+--+--   --+
      +--+--+--+--+--+--+--+--+

   Along k as in KERNEL PIPELINED: steps of 8, and STAGES = 3 buffers of shared memory. A row of a
   stage is one k: 64 places for P, 16 a group; and 512 for Q, 256 for the first fours and 256 for
   the second. Each half of a step copies half of the next one but one.
   k is cut into gridDim.y parts, so that every multiprocessor has as many blocks; KERNEL NARROW
   SUM adds them up.

   Copies are of single elements, for any strides; what is contiguous along k is so transposed. By
   16 bytes they were not faster. A tile that sticks out along Q is moved back inside.

   Global loads: (1 / (16 down) + down / 1024) M N K elements, 25.6 FLOP per byte of 64 x 256. Of n
   lines in one tile Q is read once: n / 2 FLOP per byte. Shared loads: 24 elements for 128
   multiply-adds. What bounds it: up to some 30 lines memory, then the issue of multiply-adds, of
   which (lines of P) / (lines of its tiles) are of use. */

#if TMM__BODIES
/* Copies what this thread has of P in half of a step, an element of each of two groups; zeros for
   those from number `valid` on. */
TMM__DEVICE void tmm__narrow_copy_P(TMM_TYPE *to, const char *from, unsigned stride, int valid)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        tmm__copy_async(to + 32 * i, from + (unsigned long long)stride * (unsigned)i, 4, i < valid);
}

/* Copies 8 elements of Q, 16 lines apart; zeros if not valid. */
TMM__DEVICE void tmm__narrow_copy_Q(TMM_TYPE *to, const char *from, unsigned stride, bool valid)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        tmm__copy_async(to + i * 16, from + (unsigned long long)stride * (unsigned)i, 4, valid);
}

/* Multiply-adds of one group, back and forth: see PIPELINED. */
TMM__DEVICE void tmm__narrow_add(TMM_SUM (*sum)[8], tmm__xelements4 p, const tmm__xelements4 *q)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int jj = 0; jj < 8; jj++) {
            int j = i % 2 ? 7 - jj : jj;
            TMM__MULTIPLY_ADD(sum[i][j], (TMM_SUM)p.v[i], (TMM_SUM)q[j / 4].v[j % 4]);
        }
}

/* Stores a group of a tile to C, or unchanged to the matrix of this part. The group lies in shared
   memory as [line of P][line of Q], neighbours along Q swapped. leftP, leftQ: lines that exist from
   the tile's first one on. Lines of Q before skipQ belong to another tile. A thread walks down rows
   of C, so that the next address takes a few additions. A warp has neighbours in a row. */
TMM__DEVICE void tmm__narrow_store(const TMM_SUM *sums, const tmm__narrow *s, int group,
                                   long long firstP, long long firstQ, int leftP, int leftQ,
                                   int skipQ, long long linesP, long long linesQ, TMM_SCALAR alpha,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, TMM_SUM *partials)
{
    enum { THREADS = TMM__NARROW_THREADS, PITCH = TMM__NARROW_LINES + 4, AT_ONCE = 8 };
    const int down_log2 = s->down_log2, lines = 4 << down_log2, first = group * lines;
    const bool split = gridDim.y > 1, turned = s->turned, reads = !split && (TMM_SUM)beta != 0;
    const long long ld = !split ? ldc : turned ? linesP : linesQ;
    TMM_TYPE *const to = split ? (TMM_TYPE *)partials + blockIdx.y * linesP * linesQ : C;
    const TMM_SUM factor = reads ? (TMM_SUM)beta : (TMM_SUM)0;
    if (split) alpha = 1;
    /* Turned: a thread has one line of P and each `step`th of Q. Upright: one line of Q, and all
       of P. */
    const int step = turned ? THREADS / 4 >> down_log2 : 1;
    const int rows = turned ? 2 * TMM__NARROW_LINES >> down_log2 : lines;
    const int next = turned ? step : PITCH; /* in shared memory */
#pragma unroll 1
    for (int n = threadIdx.x; n < (turned ? THREADS : 2 * TMM__NARROW_LINES >> down_log2);
         n += THREADS) {
        const int p = turned ? n & (lines - 1) : 0, q = turned ? n >> (2 + down_log2) : n;
        const bool exists = turned ? first + p < leftP : q < leftQ && q >= skipQ;
        const unsigned least = turned ? skipQ : 0, end = turned ? leftQ : leftP - first;
        const unsigned count = exists && (int)end > (int)least ? end - least : 0;
        unsigned line = (turned ? q : p) - least; /* wraps around before the first one */
        long long row = turned ? firstQ + q : firstP + first;
        const long long col = turned ? firstP + first + p : firstQ + q;
        const TMM_SUM *from = sums + p * PITCH + (q ^ 1);
        TMM_TYPE *at = to + row * ld + col;
#pragma unroll 1
        for (int left = rows; left > 0; left -= AT_ONCE * step) {
            /* All of C is read before any is stored, or each would wait for the one before. */
            TMM_TYPE old[AT_ONCE];
            TMM_TYPE *place = at;
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                old[u] = 0;
                tmm__xload_if(&old[u], place, reads && line + u * step < count);
                place += step * ld;
            }
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                const bool inside = line < count;
                TMM_OUT value = tmm__xvalue(*from, alpha, TMM__MUL(factor, (TMM_SUM)old[u]),
                                            inside && !split, row, col);
                tmm__xstore_if(at, value, inside);
                from += next, line += step, row += step, at += step * ld;
            }
        }
    }
}
#endif

TMM_KERNEL void __launch_bounds__(TMM__NARROW_THREADS, 2)
    tmm__gemm_narrow(long long linesP, long long linesQ, long long K, TMM_SCALAR alpha,
                     const TMM_TYPE *__restrict__ P, long long lineP, long long kP,
                     const TMM_TYPE *__restrict__ Q, long long lineQ, long long kQ, TMM_SCALAR beta,
                     TMM_OUT *__restrict__ C, long long ldc, TMM_SUM *__restrict__ partials,
                     const tmm__narrow s)
{
#if TMM__BODIES
    enum {
        GROUPS = (TMM__NARROW_LIST(TMM__VALUE_1) 0),
        DEPTH = TMM__NARROW_DEPTH,
        HALF = DEPTH / 2,
        STAGES = TMM__STAGES((int)TMM__NARROW_STAGES),
        LINES = TMM__NARROW_LINES,
        COLS = TMM__NARROW_PLACES, /* where those of Q begin in a row */
        PITCH = TMM__NARROW_PITCH,
        STAGE = DEPTH * PITCH,
        COPY_AT = 2, /* in a half: copies of Q, those of P are at 0; found by trying */
        SIZE = sizeof(TMM_TYPE)
    };
    static_assert(16 * (LINES + 4) <= 2 * STAGE, "a group of sums has room in the ring");
    static_assert(GROUPS >= 1 && 16 * GROUPS <= COLS,
                  "TMM__NARROW_LIST: at most 4 groups, of 16 of the TMM__NARROW_PLACES each");
    static_assert(
        (int)TMM__NARROW_THREADS == 128 && COLS == 64 && LINES == 512,
        "TMM__NARROW_THREADS, _PLACES and _LINES must be 128, 64 and 512: a thread copies "
        "and owns a fixed part of them");
    static_assert(16 * DEPTH == (int)TMM__NARROW_THREADS,
                  "TMM__NARROW_DEPTH must be 8: 16 threads copy each of its k");
    static_assert(
        PITCH >= COLS + LINES && PITCH % 4 == 0,
        "TMM__NARROW_PITCH must have room for a row, and be a multiple of 4: fragments are "
        "loaded by 16 bytes");
    static_assert((int)TMM__NARROW_STAGES >= 2 && 2 * STAGE * SIZE <= 49152 &&
                      (int)TMM__NARROW_STAGES * STAGE * SIZE <= 99 * 1024,
                  "TMM__NARROW_STAGES must be 2 at least, and fit into the 99 KB that a block has");
    extern __shared__ __align__(16) unsigned char tmm_memory[];
    TMM_TYPE *const ring = (TMM_TYPE *)tmm_memory;
    const int thread = threadIdx.x, lane = thread % 32;
    const int down_log2 = s.down_log2;
    /* This block's tile, and its steps: the first step of all is the short one. */
    const int tileP = GROUPS * 4 << down_log2, tileQ = 2 * LINES >> down_log2;
    const long long firstP = (long long)(blockIdx.x % (unsigned)s.tilesP) * tileP;
    long long firstQ = (long long)(blockIdx.x / (unsigned)s.tilesP) * tileQ;
    const int skipQ = firstQ > linesQ - tileQ ? (int)(firstQ + tileQ - linesQ) : 0;
    firstQ -= skipQ;
    const int leftP = linesP - firstP < tileP ? (int)(linesP - firstP) : tileP;
    const int leftQ = linesQ - firstQ < tileQ ? (int)(linesQ - firstQ) : tileQ;
    const int steps = (int)((K + DEPTH - 1) / DEPTH);
    const int begin = (int)((long long)steps * blockIdx.y / gridDim.y);
    int left = (int)((long long)steps * (blockIdx.y + 1) / gridDim.y) - begin;
    const int first_depth = (int)(K - (steps - 1ll) * DEPTH);
    const long long k0 = begin == 0 ? 0 : first_depth + (begin - 1ll) * DEPTH;

    /* Copies of P: for each half 4 threads along k and 32 along its places, or the other way round;
       of Q: 8 threads along k and 16 along the lines, and half of all lines for each half. A thread
       copies validP elements of P. From half to half of a step, and to the next step: nextQ
       bytes. */
    const int group = 4 << down_log2; /* lines */
    const int p_k = kP == 1 ? thread % HALF : thread / 32;
    const int place = kP == 1 ? thread / HALF : thread % 32,
              p_line = place / 16 * group + place % 16;
    const int validP = place % 16 < group ? (leftP - p_line + 2 * group - 1) >> (3 + down_log2) : 0;
    const int toP = p_k * PITCH + place;
    unsigned strideP = (unsigned)(2 * group * lineP * SIZE);
    const char *fromP = (const char *)(P + (firstP + p_line) * lineP + (k0 + p_k) * kP);
    const int q_k = kQ == 1 ? thread % DEPTH : thread / 16;
    const int q_line = kQ == 1 ? thread / DEPTH : thread % 16;
    const int toQ = COLS + q_k * PITCH + q_line;
    unsigned strideQ = (unsigned)(16 * lineQ * SIZE);
    const char *fromQ = (const char *)(Q + (firstQ + q_line) * lineQ + (k0 + q_k) * kQ);
    const long long secondQ = 128 * lineQ * SIZE; /* to the second half of 256 lines */
    const long long nextQ = tileQ / 2 * lineQ * SIZE;

    TMM_SUM sum[4 * GROUPS][8];
#pragma unroll
    for (int i = 0; i < 4 * GROUPS; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = 0;

            /* Fill all stages but one. */
#pragma unroll 1
    for (int n = 0; n < 2 * (STAGES - 1); n++) {
        const int half = n % 2, depth = n < 2 && begin == 0 ? first_depth : DEPTH;
        TMM_TYPE *to = ring + n / 2 * STAGE;
        if (n / 2 < left) {
            tmm__narrow_copy_P(to + toP + half * (HALF * PITCH), fromP, strideP,
                               p_k + HALF * half < depth ? validP : 0);
            to += toQ + half * (LINES / 2);
            tmm__narrow_copy_Q(to, fromQ + half * nextQ, strideQ, q_k < depth);
            if (down_log2 == 1)
                tmm__narrow_copy_Q(to + 128, fromQ + half * nextQ + secondQ, strideQ, q_k < depth);
        }
        fromP += (half ? depth - HALF : HALF) * kP * SIZE;
        if (half) {
            fromQ += depth * kQ * SIZE;
            tmm__copy_commit();
        }
    }
    TMM__COPY_WAIT(STAGES - 2);
    __syncthreads();

    /* Where this thread's fragments begin in a row; they are double-buffered, as in PIPELINED. */
    const int across_log2 = 5 - down_log2; /* lanes in squares of 2 x 2: see TMM__LANE_DOWN */
    const int down = down_log2 == 2 ? TMM__LANE_DOWN(lane) : lane >> 1 & 1;
    const int across = (lane >> 2 << 1 & ((1 << across_log2) - 1)) | (lane & 1);
    const int row0 = 4 * down, col0 = COLS + 4 * ((thread / 32 << across_log2) + across);
    tmm__xelements4 a[2][GROUPS], b[2][2];
    int read = 0; /* where the stage that is worked on begins */
#pragma unroll
    for (int g = 0; g < GROUPS; g++) a[0][g] = *(const tmm__xelements4 *)(ring + row0 + 16 * g);
#pragma unroll
    for (int h = 0; h < 2; h++) b[0][h] = *(const tmm__xelements4 *)(ring + col0 + LINES / 2 * h);
    TMM__HIDE(strideP); /* or both are computed anew in each step */
    TMM__HIDE(strideQ);
#pragma unroll 1
    for (; left > 0; left--) {
        const bool more = left >= STAGES;
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            const int now = k % 2, then = 1 - now, next = (k + 1) % DEPTH, half = k / HALF;
            if (next == 0) { /* on to the next stage, which must be complete */
                TMM__COPY_WAIT(STAGES - 2);
                __syncthreads();
                read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
            }
            const TMM_TYPE *row = ring + read + next * PITCH;
#pragma unroll
            for (int h = 0; h < 2; h++)
                b[then][h] = *(const tmm__xelements4 *)(row + col0 + LINES / 2 * h);
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                a[then][g] = *(const tmm__xelements4 *)(row + row0 + 16 * g);
            /* Everyone has left the stage that is filled now. Without branches, or the compiler
               would not mix copies and multiply-adds. */
            TMM_TYPE *const to = ring + (read == 0 ? (STAGES - 1) * STAGE : read - STAGE);
            if (k % HALF == 0) {
                tmm__narrow_copy_P(to + toP + half * (HALF * PITCH), fromP, strideP,
                                   more ? validP : 0);
                fromP += HALF * kP * SIZE;
            }
            if (k % HALF == COPY_AT) {
                tmm__narrow_copy_Q(to + toQ + half * (LINES / 2), fromQ, strideQ, more);
                if (down_log2 == 1)
                    tmm__narrow_copy_Q(to + toQ + half * (LINES / 2) + 128, fromQ + secondQ,
                                       strideQ, more);
                fromQ += half ? DEPTH * kQ * SIZE - nextQ : nextQ;
                if (half) tmm__copy_commit();
            }
#pragma unroll
            for (int g = 0; g < GROUPS; g++) tmm__narrow_add(&sum[4 * g], a[now][g], b[now]);
        }
    }
    TMM__COPY_WAIT(0);

    /* Group by group through shared memory, in the order of C. */
    TMM_SUM *const sums = (TMM_SUM *)ring;
    const int lane_place = row0 * (LINES + 4) + col0 - COLS;
#pragma unroll 1
    for (int g = 0; g < GROUPS; g++) {
        __syncthreads(); /* all have finished with the ring, or with the group before */
#pragma unroll
        for (int from = 0; from < GROUPS; from++) {
            if (from != g) continue;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const TMM_SUM *some = &sum[4 * from + i / 2][i % 2 * 4];
                tmm__xsums4 swapped = {
                    {some[1], some[0], some[3], some[2]}}; /* why: see PIPELINED */
                *(tmm__xsums4 *)&sums[lane_place + i / 2 * (LINES + 4) + i % 2 * (tileQ / 2)] =
                    swapped;
            }
        }
        __syncthreads();
        tmm__narrow_store(sums, &s, g, firstP, firstQ, leftP, leftQ, skipQ, linesP, linesQ, alpha,
                          beta, C, ldc, partials);
    }
#endif
}
#endif
#endif
/* src/tiledmm/kernels/tensor/tiles.cuh. Doubles on tensor cores.
   Uses: sizes.h, once/. Used by: kernel.cuh, store.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST && TMM__IS_DOUBLE
/* ============================== KERNEL TENSOR ================================================= */
/* Doubles on tensor cores, which round by IEEE 754. Each element of C is the same chain of
   multiply-adds, in ascending k, as in the other kernels.

   Tiles of C, and their warps; a warp has 4 x 4, 2 x 4 or 1 x 4 matrices of 16 x 8
   (tmm__mma_double). Of such a matrix a lane owns two neighbours in each of two rows; its four sums
   are c0 c1, c2 c3:
      128 x 128, for large C    64 x 64       a matrix; its lanes, L0 to L31
      +----+----+----+----+    +----+----+    columns  0 1   2 3   4 5   6 7
      | w0 | w1 | w2 | w3 | 32 | w0 | w1 |          0 | L0  | L1  | L2  | L3  | c0
   64 |    |    |    |    |    +----+----+    rows  : |  :  |  :  |  :  |  :  | c1
      |    |    |    |    |    | w2 | w3 |          7 | L28 | L29 | L30 | L31 |
      +----+----+----+----+    +----+----+          8 | L0  | L1  | L2  | L3  | c2
      | w4 | w5 | w6 | w7 |      32   32            : |  :  |  :  |  :  |  :  | c3
      |    |    |    |    |                        15 | L28 | L29 | L30 | L31 |
      |    |    |    |    |    32 x 64, or 64 x 32, for few or narrow tiles
      +----+----+----+----+    +----+----+         +----+
        32   32   32   32      | w0 | w1 | 16      | w0 | 16
                               +----+----+         +----+
                               | w2 | w3 | 16      |  : |
                               +----+----+         | w3 |
                                 32   32           +----+
   On a multiprocessor there is one block of the first, three of the second, and four of the third.
   Only the third's way is known at run time (tall).

   Along k in steps of DEPTH = 16. STAGES = 3 buffers of shared memory, 4 with the smallest tiles,
   form a ring, as in KERNEL PIPELINED. While a lane multiplies its fragments of 8 k, it loads
   the fragments of the next 8. They are 4 DOWN elements of A and 8 of B:
       first 8 k    multiply; load the second 8; copies for the step after the next, one at a time
       second 8     two multiplications; wait for the next step's copies, barrier; multiply on, and
                    load the next step's first 8
   Loads or copies in a burst would stall all warps of a scheduler at the same time.
   If K is not a multiple of DEPTH, the first step is short. With tiles of 32 x 64 the last one is,
   if else all others would begin within sectors of L2, of 32 bytes. The main loop ends before the
   copies of the short step, and goes on with other predicates. With 64 x 64 such copies go through
   L1, and so do lines that do not begin with a sector (off_sectors). L1 then keeps the part of a
   sector that the next copy needs.

   A stage holds A, then B, in squares of 16 lines x 16 k (lines: rows of A, columns of B). A square
   has 2 KB: 16 rows of 128 bytes. A row is a line if the operand is contiguous along k, else a k.
   So 128 contiguous bytes of memory stay contiguous, and eight lanes that copy them make one
   request to L2. cp.async makes one for each 128 bytes of shared memory that it writes (counted;
   bench/notes/tensor_double.md). The four chunks of 32 bytes of a row are swizzled:
       along k          row line % 16, chunk k / 4, at place (k / 4) ^ (line % 4)
       along the lines  row k, chunk line % 16 / 4, at place (line % 16 / 4) ^ (k % 4)
   A half-warp loads 4 lines x 4 k of a fragment, which lie in 16 different banks of 8 bytes. The
   next 4 k, or the next 8 lines, differ in some bits of the address, which are xored: along k 32 or
   64, and 1024; along the lines 512 or 1024, and 64.

   Tiles are divided, and their partial tiles added, as in KERNEL PIPELINED; but only large tiles
   are moved back inside; of others the lines that lie outside are not copied. Clusters have 2 to 8
   blocks, and small tiles. Or each block has a whole tile, and only those of a last, short wave are
   split along k, among the last s.streamk_blocks blocks. Bands have 8 rows of tiles: tiles at work
   at a time form about a square.

                                   128 x 128     64 x 64     32 x 64
       global loads, of M N K      1/64          1/32        3/64        elements
         FLOP per byte             16            8           5.3         of L2
       shared loads of a warp      96 x 16       64 x 16     48 x 16     elements a step
         FLOP per byte             5.3           4           2.7
       shared memory               96 KB         48 KB       48 KB       a block
       cycles a step               2048          512         256         of the tensor cores
         measured, one NVIDIA H200 2130          630         405         of a block that is alone
   What bounds it: with large tiles the tensor cores, 96% busy at 4096 x 4096 x 4096. They take
   16 x 8 x 8 multiply-adds in 32 cycles of a scheduler. With small tiles L2 bounds it, or, if a
   multiprocessor has only one, how long a copy takes: 2 or 3 steps. Beyond a few ms it is the power
   limit of the device. Before sm_80 there is nothing to gain: see tmm__mma_double.

   modeA and modeB are ALONG_K or ALONG_LINES, as the operand is contiguous. A launch needs
   TMM__TENSOR_BYTES of dynamic shared memory; a block of a cluster has what it is sent after them. */

/* Where in a square of 16 x 16 doubles element `at` of row `row` lies, in bytes. */
TMM__DEVICE int tmm__xsquare(int row, int at)
{
    return row * 128 + ((at / 4 ^ row % 4) * 4 + at % 4) * 8;
}

/* Copies `width` elements of an operand's tile, this thread's pass number `pass`. They lie `lines`
   (8, or a multiple of 16) lines from those of the pass before, in memory `stride` bytes. `from`,
   and `stage` + `to`: the place of pass 0. `half`: the bits that 8 lines change. Zeros if not
   valid. near: see tmm__copy_near; negative, if this instance does not ask. */
TMM__DEVICE void tmm__xcopy_pass(char *stage, int to, int half, const char *from, unsigned stride,
                                 int width, int lines, int pass, bool valid, int near)
{
    int place = lines == 8 ? (to ^ pass % 2 * half) + pass / 2 * 2048 : to + lines * 128 * pass;
    from += (unsigned long long)stride * pass;
    if (near < 0)
        tmm__copy_async(stage + place, from, 8 * width, valid);
    else
        tmm__copy_near(stage + place, from, valid, near);
}

/* Number `work` of what a block has to do: steps *begin to *end of the tile that is returned. A
   tile beyond the last one ends its work. First comes its share of the stream-K tiles, steps
   `start` to `stop` of all of theirs. Then come whole tiles. The last block has share 0. */
TMM__DEVICE int tmm__xfind_work(const tmm__schedule *s, int work, int share, int *begin, int *end)
{
    long long streamk_steps = (long long)s->streamk_tiles * s->steps;
    int first = 0, streamk_works = 0, start = 0, stop = 0;
    if (share < s->streamk_blocks) {
        start = (int)(streamk_steps * share / s->streamk_blocks);
        stop = (int)(streamk_steps * (share + 1) / s->streamk_blocks);
    }
    if (start < stop) {
        first = start / s->steps;
        streamk_works = (stop - 1) / s->steps + 1 - first;
    }
    int tile = first + work;
    *begin = 0, *end = s->steps;
    if (work >= streamk_works)
        return s->streamk_tiles + tmm__block() + (work - streamk_works) * (int)gridDim.x;
    if (*begin < start - tile * s->steps) *begin = start - tile * s->steps;
    if (*end > stop - tile * s->steps) *end = stop - tile * s->steps;
    return tile;
}
#endif

#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0)
#if TMM__BODIES
/* The k of what a thread copies of each step. */
TMM__DEVICE int tmm__tensor_copied_k(int mode, int thread)
{
    enum { DEPTH = TMM__TENSOR_DEPTH, ALONG = 64 * TMM__TENSOR_WARPS / DEPTH };
    return mode == TMM__ALONG_K ? thread * TMM__TENSOR_WIDTH % DEPTH : thread / ALONG;
}

/* Copies pass `pass` of a thread, of A and then of B: see copy_pass. rows and cols: how many lines
   exist from its first one on. If DOWN is 1, the first 32 lines are of A and the last 32 of B. The
   32 between are of A in a tall tile, else of B. */
TMM__DEVICE void tmm__tensor_copy(char *stage, int pass, int toA, int eightA, const char *fromA,
                                  unsigned strideA, int rows, int toB, int eightB,
                                  const char *fromB, unsigned strideB, int cols, bool tall,
                                  int near)
{
    enum { WIDTH = TMM__TENSOR_WIDTH, DOWN = TMM__TENSOR_DOWN, ANY = DOWN < 4 };
    enum {
        LINES = 64 * TMM__TENSOR_WARPS / TMM__TENSOR_DEPTH * WIDTH,
        PASSES_A = 32 * DOWN / LINES
    };
    if (pass < PASSES_A) {
        tmm__xcopy_pass(stage, toA, eightA, fromA, strideA, WIDTH, LINES, pass,
                        LINES * (ANY ? pass : 0) < rows, near);
    } else if (DOWN == 1 && pass < 2 * PASSES_A) {
        int skip = tall ? PASSES_A : 0;
        const char *from = tall ? fromA + (unsigned long long)strideA * PASSES_A : fromB;
        tmm__xcopy_pass(stage, (tall ? toA : toB) + skip * LINES * 128, tall ? eightA : eightB,
                        from, tall ? strideA : strideB, WIDTH, LINES, pass - PASSES_A,
                        LINES * (pass - PASSES_A + skip) < (tall ? rows : cols), near);
    } else {
        int done = DOWN == 1 ? 2 * PASSES_A : PASSES_A, skip = DOWN == 1 && !tall ? PASSES_A : 0;
        tmm__xcopy_pass(stage, toB + skip * LINES * 128, eightB,
                        fromB + (unsigned long long)strideB * skip, strideB, WIDTH, LINES,
                        pass - done, LINES * (ANY ? pass - done + skip : 0) < cols, near);
    }
}

TMM__DEVICE void tmm__tensor_clear(double (*sum)[4][4])
{
#pragma unroll
    for (int n = 0; n < 16 * TMM__TENSOR_DOWN; n++) sum[n / 16][n / 4 % 4][n % 4] = 0;
}

/* Moves the sums of each 16 rows to the place of the 16 above. */
TMM__DEVICE void tmm__tensor_move_up(double (*sum)[4][4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
#pragma unroll
    for (int d = 0; d < DOWN - 1; d++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) sum[d][j][e] = sum[d + 1][j][e];
}

/* Loads a lane's fragment of matrix i of A, or j of B, for 8 k, the half-th of a step. `first`:
   where its first element lies in the stage; `four`, `eight`: the bits of 4 k and 8 lines. */
TMM__DEVICE void tmm__tensor_load_A(double *a, const char *stage, int first, int half, int i,
                                    int four, int eight)
{
    enum { SQUARE = 16 * 8 * TMM__TENSOR_DEPTH };
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            a[2 * q + h] =
                *(const double *)(stage + SQUARE * i + (first ^ (2 * half + q) * four ^ h * eight));
}

TMM__DEVICE void tmm__tensor_load_B(double *b, const char *stage, int first, int half, int j,
                                    int four, int eight)
{
    enum { SQUARE = 16 * 8 * TMM__TENSOR_DEPTH };
#pragma unroll
    for (int q = 0; q < 2; q++)
        b[q] = *(const double *)(stage + SQUARE * (j / 2) +
                                 (first ^ (2 * half + q) * four ^ j % 2 * eight));
}
#endif
#endif
#endif
/* src/tiledmm/kernels/tensor/store.cuh. Doubles on tensor cores: partial tiles, and sums are stored.
   Uses: kernels/common/, sizes.h, tiles.cuh, once/. Used by: kernel.cuh. */
#ifdef TMM__PASS
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0) && TMM__BODIES
/* Leaves a thread's sums of a tile as the partial tile of block `share`. */
TMM__DEVICE void tmm__tensor_leave_sums(const tmm__schedule *s, int share, int thread,
                                        const double (*sum)[4][4])
{
    enum { WARPS_ACROSS = TMM__TENSOR_WARPS, THREADS = 64 * WARPS_ACROSS };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
    tmm__xsums4 *to =
        (tmm__xsums4 *)s->partials + (long long)share * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
    for (int q = 0; q < DOWN * ACROSS; q++) {
        const double *four = sum[q / ACROSS][q % ACROSS];
        tmm__xsums4 sums = {{four[0], four[1], four[2], four[3]}};
        to[q * THREADS] = sums;
    }
}

/* Waits for the partial tiles that the blocks after block `share` have left of tile `tile`, and
   adds them in ascending k. */
TMM__DEVICE void tmm__tensor_add_partials(const tmm__schedule *s, int share, int tile, int thread,
                                          double (*sum)[4][4])
{
    enum { WARPS_ACROSS = TMM__TENSOR_WARPS, THREADS = 64 * WARPS_ACROSS };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4 };
    long long last_step = (tile + 1ll) * s->steps;
    long long streamk_steps = (long long)s->streamk_tiles * s->steps;
    int others = 0;
    while (streamk_steps * (share + 1 + others) / s->streamk_blocks < last_step) others++;
    for (int other = thread; other < others; other += THREADS)
        tmm__flag_wait(s->flags + share + 1 + other, s->ticket);
    __syncthreads();
#pragma unroll 1
    for (int other = share + 1; other <= share + others; other++) {
        const tmm__xsums4 *from = (const tmm__xsums4 *)s->partials +
                                  (long long)other * (DOWN * ACROSS * THREADS) + thread;
#pragma unroll
        for (int q = 0; q < DOWN * ACROSS; q++) {
            tmm__xsums4 more = from[q * THREADS];
            if (q % 4 == 3) TMM__FENCE(); /* 4 in flight: there are no registers for 16 */
#pragma unroll
            for (int e = 0; e < 4; e++) sum[q / ACROSS][q % ACROSS][e] += more.v[e];
        }
    }
}

#if TMM__CLUSTERS && TMM__TENSOR_DOWN < 4
/* Sends a thread's sums to the blocks of its cluster, `part` vectors to each, as slice `rank`. `all`:
   the halves of vectors that it is sent, as [slice][vector][half][thread]. */
TMM__DEVICE void tmm__tensor_send(char *all, const tmm__schedule *s, int part, int rank,
                                  const double (*sum)[4][4])
{
    enum { THREADS = 64 * TMM__TENSOR_WARPS, ACROSS = 4, VECTORS = TMM__TENSOR_DOWN * ACROSS };
    int left = 0, other = s->cluster;
    unsigned to = 0;
    all += rank * part * (32 * THREADS);
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        if (left == 0) { /* on to the block that has the next slice */
            to = tmm__map_shared(all, --other);
            left = part;
        }
        left--;
        tmm__store_doubles_cluster(to, &sum[q / ACROSS][q % ACROSS][0]);
        tmm__store_doubles_cluster(to + 16 * THREADS, &sum[q / ACROSS][q % ACROSS][2]);
        to += 32 * THREADS;
    }
}

/* Adds up the slices of this block's part of a tile, in ascending k, and stores it. */
TMM__DEVICE void tmm__tensor_store_cluster(const tmm__schedule *s, const char *all, int part,
                                           int rank, int tile, bool tall, long long M, long long N,
                                           double alpha, double beta, double *C, long long ldc)
{
    enum { THREADS = 64 * TMM__TENSOR_WARPS, ACROSS = 4, DOWN = TMM__TENSOR_DOWN };
    const unsigned thread = tmm__thread(), lane = thread % 32, warp = thread / 32;
    const unsigned log2 = tall ? 0 : 1; /* of warps side by side */
    int down, across;
    tmm__xfind_tile(s, TMM__TENSOR_BAND, tile, &down, &across);
    const int left_warp = across << log2 | (warp & ((1u << log2) - 1));
    const int upper_warp = (down << (2 - log2)) + (int)(warp >> log2);
#pragma unroll 1
    for (int n = 0; n < part; n++, all += 32 * THREADS) {
        const unsigned q = rank * part + n;
        if (q >= DOWN * ACROSS) break;
        double total[4] = {0, 0, 0, 0};
        const char *from = all;
#pragma unroll 2
        for (int p = 0; p < s->cluster; p++, from += part * (32 * THREADS)) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                tmm__xouts2 two = *(const tmm__xouts2 *)(from + 16 * THREADS * h);
                total[2 * h] += two.v[0], total[2 * h + 1] += two.v[1];
            }
        }
        long long row = upper_warp * (16ll * DOWN) + (q / ACROSS * 16 + lane / 4);
        const long long col = left_warp * 32ll + (q % ACROSS * 8 + lane % 4 * 2);
#pragma unroll 1
        for (int h = 0; h < 2; h++, row += 8, total[0] = total[2], total[1] = total[3]) {
            double *c = C + row * ldc + col;
            if (row >= M) break;
#pragma unroll
            for (int e = 0; e < 2; e++) {
                double old = 0;
                const bool inside = col + e < N && tmm__in_triangle(TMM__TRIANGLE(s), row, col + e);
                tmm__xload_if(&old, c + e, beta != 0 && inside);
                old = beta != 0 ? TMM__MUL(beta, old) : 0;
                tmm__xstore_if(c + e, tmm__xvalue(total[e], alpha, old, inside, row, col + e),
                               inside);
            }
        }
    }
}
#endif

#if TMM__TENSOR_WIDTH == 1
/* Stores one of the 16 x 32 parts of a warp, from row `row` and column `col` on. Rows from M on and
   columns from N on are left out. C is not aligned to two elements: stores of the neighbours that a
   lane has would touch each sector twice, which holds L2 up. So the part goes through shared memory,
   to `own`, and the warp stores rows of 32. */
TMM__DEVICE void tmm__tensor_store_lines(double *C, long long ldc, long long row, long long M,
                                         long long col, long long N, double *own, double alpha,
                                         double beta, const double (*sum)[4], int triangle)
{
    enum { ACROSS = 4, ROWS = 16, BLOCK = 4, PITCH = TMM__TENSOR_PITCH };
    const int lane = tmm__thread() % 32;
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            tmm__xouts2 two = {{sum[j][2 * h], sum[j][2 * h + 1]}};
            *(tmm__xouts2 *)(own + (lane / 4 + 8 * h) * PITCH + lane % 4 * 2 + 8 * j) = two;
        }
    __syncwarp();
    col += lane, own += lane;
    C += row * ldc + col;
    const int left = M - row < ROWS ? (int)(M - row) : ROWS; /* of the 16; none, if negative */
    const int count = col < N ? left : 0;
#pragma unroll 1
    for (int first = 0; first < ROWS; first += BLOCK, own += BLOCK * PITCH) {
        double old[BLOCK];
#pragma unroll
        for (int r = 0; r < BLOCK; r++) {
            old[r] = 0;
            tmm__xload_if(&old[r], C + r * ldc,
                          beta != 0 && first + r < count &&
                              tmm__in_triangle(triangle, row + r, col));
        }
#pragma unroll
        for (int r = 0; r < BLOCK; r++, row++, C += ldc) {
            const bool enabled = first + r < count && tmm__in_triangle(triangle, row, col);
            const double before = beta != 0 ? TMM__MUL(beta, old[r]) : 0;
            tmm__xstore_if(C, tmm__xvalue(own[r * PITCH], alpha, before, enabled, row, col),
                           enabled);
        }
    }
    __syncwarp();
}
#endif

/* Stores one of the 16 x 32 parts of a warp. Of each matrix a lane has two neighbours in row `row`,
   and two 8 rows below. Rows before first_row, and from M on, are not stored. mask: see
   tmm__column_mask. */
TMM__DEVICE void tmm__tensor_store_rows(double *C, long long ldc, long long row, long long col,
                                        long long first_row, long long M, bool aligned,
                                        unsigned mask, double alpha, double beta,
                                        const double (*sum)[4], int triangle)
{
    enum { ACROSS = 4 };
    tmm__xouts2 old[2][ACROSS];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        long long r = row + 8 * h, c = col;
        unsigned row_mask = (TMM_SUM)beta != 0 && r >= first_row && r < M ? mask : 0;
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            old[h][j] = tmm__xload2(C + r * ldc + c + 8 * j, aligned,
                                    tmm__triangle_mask(triangle, row_mask >> 2 * j, r, c + 8 * j));
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        long long r = row + 8 * h, c = col;
        if (r < first_row || r >= M) continue;
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            tmm__xstore2(C + r * ldc + c + 8 * j, r, c + 8 * j, aligned,
                         tmm__triangle_mask(triangle, mask >> 2 * j, r, c + 8 * j), alpha, beta,
                         old[h][j], &sum[j][2 * h]);
    }
}

/* The one of these that suits C, where this lane's first element lies in row `row` and column
   `col`. shared: of the block, no longer in use. */
TMM__DEVICE void tmm__tensor_store_part(double *C, long long ldc, long long row,
                                        long long first_row, long long M, long long col,
                                        long long first_col, long long N, char *shared,
                                        double alpha, double beta, const double (*sum)[4],
                                        int triangle)
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, SIZE = 8, BYTES = 16 * TMM__TENSOR_PITCH * SIZE };
    const bool aligned = ((size_t)(C + col) | ldc * SIZE) % 16 == 0;
    const int thread = tmm__thread(), lane = thread % 32;
    (void)shared, (void)lane;
#if TMM__TENSOR_WIDTH == 1
    if (!aligned) {
        tmm__tensor_store_lines(C, ldc, row - lane / 4, M, col - lane % 4 * 2, N,
                                (double *)(shared + thread / 32 * BYTES), alpha, beta, sum,
                                triangle);
        return;
    }
#endif
    unsigned mask = 0;
#pragma unroll
    for (int j = 0; j < ACROSS; j++)
        mask |= tmm__column_mask(col + 8 * j, 2, DOWN < 4 ? 0 : first_col, N) << 2 * j;
    tmm__tensor_store_rows(C, ldc, row, col, DOWN < 4 ? row : first_row, M, aligned, mask, alpha,
                           beta, sum, triangle);
}

/* Stores a tile, 16 rows of a warp after the other, each moved to the place of the first: registers
   have no index. */
TMM__DEVICE void tmm__tensor_store_tile(const tmm__schedule *s, int tile, bool tall, long long M,
                                        long long N, double *C, long long ldc, char *shared,
                                        double alpha, double beta, double (*sum)[4][4])
{
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, ANY = DOWN < 4 };
    enum { LINES_M = 32 * DOWN, LINES_N = 32 * TMM__TENSOR_WARPS };
    const int WARPS_ACROSS = tall ? 1 : TMM__TENSOR_WARPS;
    const int TILE_M = tall ? LINES_N : LINES_M, TILE_N = tall ? LINES_M : LINES_N;
    int down, across, thread = tmm__thread(), lane = thread % 32;
    int row0 = thread / 32 / WARPS_ACROSS * (16 * DOWN) + lane / 4;
    int col0 = thread / 32 % WARPS_ACROSS * (8 * ACROSS) + lane % 4 * 2;
    tmm__xfind_tile(s, TMM__TENSOR_BAND, tile, &down, &across);
    long long first_row = (long long)down * TILE_M, first_col = (long long)across * TILE_N;
    long long row = first_row, col = first_col;
    if (!ANY && row > M - TILE_M && !s->packed_A) row = M - TILE_M;
    if (!ANY && col > N - TILE_N && !s->packed_B) col = N - TILE_N;
#pragma unroll 1
    for (int i = 0; i < DOWN; i++) {
        tmm__tensor_store_part(C, ldc, row + row0 + 16 * i, first_row, M, col + col0, first_col, N,
                               shared, alpha, beta, sum[0], TMM__TRIANGLE(s));
        tmm__tensor_move_up(sum);
    }
}

/* Before anything else: this block's shared memory may be written to. */
TMM__DEVICE void tmm__tensor_open(const tmm__schedule *s)
{
    (void)s;
#if TMM__CLUSTERS && TMM__TENSOR_DOWN < 4
    if (s->cluster > 0) tmm__cluster_arrive(false);
#endif
}

/* In a cluster a block gets a part of all slices, to `memory`, adds it up and stores it. */
TMM__DEVICE bool tmm__tensor_by_cluster(const tmm__schedule *s, char *memory, int share, int tile,
                                        bool tall, long long M, long long N, double alpha,
                                        double beta, double *C, long long ldc,
                                        const double (*sum)[4][4])
{
#if TMM__CLUSTERS && TMM__TENSOR_DOWN < 4
    if (s->cluster == 0) return false;
    char *all = memory + 16 * tmm__thread();
    const int part = (4 * TMM__TENSOR_DOWN - 1) / s->cluster + 1, rank = share % s->cluster;
    tmm__cluster_wait();
    tmm__tensor_send(all, s, part, rank, sum);
    tmm__cluster_arrive(true);
    tmm__cluster_wait();
    tmm__tensor_store_cluster(s, all, part, rank, tile, tall, M, N, alpha, beta, C, ldc);
    return true;
#else
    (void)s, (void)memory, (void)share, (void)tile, (void)tall, (void)M, (void)N, (void)alpha;
    (void)beta, (void)C, (void)ldc, (void)sum;
    return false;
#endif
}
#endif
#endif
/* src/tiledmm/kernels/tensor/kernel.cuh. Doubles on tensor cores: the kernel.
   Uses: kernels/common/streamk.cuh, kernels/tensor/, once/. Used by: launch.h. */
#ifdef TMM__PASS /* alone: declarations have no list */
#if TMM__FAST && TMM__IS_DOUBLE && (TMM__TENSOR_LIST(TMM__IN_PASS) 0)
static_assert((int)TMM__TENSOR_DEPTH == 16,
              "TMM__TENSOR_DEPTH must be 16: a stage has squares of 16 x 16");
static_assert(TMM__TENSOR_WARPS == 2 ||
                  (TMM__TENSOR_DOWN != 1 && (TMM__TENSOR_DOWN > 2 || TMM__TENSOR_WARPS > 2)),
              "TMM__TENSOR_LIST: a tile of 64 x 64 or less, or with one matrix above each other, "
              "must have 2 warps side by side, which KERNEL REDUCE and clusters know");
static_assert((int)TMM__TENSOR_PITCH >= 32 && (int)TMM__TENSOR_PITCH % 2 == 0 &&
                  (TMM__TENSOR_WIDTH == 2 ||
                   2 * TMM__TENSOR_WARPS * 16 * (int)TMM__TENSOR_PITCH * 8 <=
                       (int)TMM__TENSOR_BYTES(32 * TMM__TENSOR_DOWN, 32 * TMM__TENSOR_WARPS)),
              "TMM__TENSOR_PITCH must be even, 32 at least, and leave room for all warps' rows");
static_assert(TMM__TENSOR_BLOCKS >= 1 && TMM__TENSOR_DOWN >= 1,
              "TMM__TENSOR_LIST: a multiprocessor has 1 block at least, and a warp 1 matrix");

TMM_KERNEL void __launch_bounds__(64 * TMM__TENSOR_WARPS, TMM__TENSOR_BLOCKS)
    tmm__gemm_tensor(long long M, long long N, long long K, double alpha,
                     const double *__restrict__ A, long long rsA, long long csA, long long batchA,
                     const double *__restrict__ B, long long rsB, long long csB, long long batchB,
                     double beta, double *__restrict__ C, long long ldc, long long batchC,
                     int modeA, int modeB, const tmm__schedule s, int off_sectors)
{
#if TMM__BODIES
    enum { THREADS = 64 * TMM__TENSOR_WARPS, SIZE = 8, HALVES = TMM__TENSOR_DEPTH / 8 };
    enum { DOWN = TMM__TENSOR_DOWN, ACROSS = 4, MATRICES = DOWN * ACROSS }; /* of a warp */
    enum { LINES_M = 32 * DOWN, LINES_N = 32 * TMM__TENSOR_WARPS, ANY = DOWN < 4 };
    enum { DEPTH = TMM__TENSOR_DEPTH, STAGES = TMM__TENSOR_STAGES(LINES_M, LINES_N) };
    const bool tall = DOWN == 1 && s.is_tall; /* 64 x 32, not 32 x 64 */
    const int WARPS_ACROSS = tall ? 1 : TMM__TENSOR_WARPS;
    const int TILE_M = tall ? LINES_N : LINES_M, TILE_N = tall ? LINES_M : LINES_N;
    /* Threads along the lines, lines that a pass copies, and passes of a step. */
    enum { WIDTH = TMM__TENSOR_WIDTH, ALONG = (int)THREADS / DEPTH, LINES = ALONG * WIDTH };
    enum { PASSES = (LINES_M + LINES_N) / LINES };
    /* Copies start after so many multiplications, one by one: from FIRST on, in SLOTS of them. */
    enum { FIRST = DOWN > 1 ? 2 : 0, SLOTS = MATRICES * (HALVES - 1) - (DOWN == 4 ? 4 : FIRST) };
    /* Bytes of 16 lines, of A in a stage, and of a stage. */
    enum { SQUARE = 16 * DEPTH * SIZE, STAGE = (LINES_M + LINES_N) / 16 * SQUARE };
    const int STAGE_A = TILE_M / 16 * SQUARE;
    static_assert((int)STAGES >= 2 && (int)STAGES * STAGE == TMM__TENSOR_BYTES(LINES_M, LINES_N) &&
                      (int)STAGES * STAGE <= 99 * 1024,
                  "TMM__TENSOR_STAGES must be 2 at least, and fit into the 99 KB that a block has");
    static_assert(
        ((int)WIDTH == 1 || (int)WIDTH == 2) &&
            (LINES == 8 || ((int)LINES >= 16 && (int)LINES % 16 == 0)) &&
            (int)LINES_M % LINES == 0 && (int)LINES_N % LINES == 0,
        "TMM__TENSOR_LIST: a copy has 1 or 2 elements, and a pass of all threads 8 lines or "
        "a multiple of 16, by which both edges of the tile can be divided");
    extern __shared__ __align__(128) char tmm__tensor_stages[];
    char *shared = tmm__tensor_stages;
    tmm__tensor_open(&s);
#if TMM__DOUBLE_TENSOR
    if (s.unless != NULL && *s.unless != 0) return;
#endif
    enum { ALIGNS = DOWN == 1 };                         /* can the last step be the short one? */
    const int rest = (int)(K - (s.steps - 1ll) * DEPTH); /* of the short step: 1 to DEPTH */
    const bool short_last = ALIGNS && off_sectors;
    /* Do copies go through L1? Those of 8 bytes all do. */
    const int near = DOWN == 2 && WIDTH == 2 ? off_sectors != 0 : -1;
    /* Bits of `left`: the short step is still to be copied; steps before (no product has so many). A
       variable of its own would take more instructions. */
    enum { STILL = 1 << 30, STEPS = ALIGNS ? STILL - 1 : -1 };

    for (int work = 0;; work++) {
        int share = gridDim.x - 1 - tmm__block(), begin, end;
        int tile = tmm__xfind_work(&s, work, share, &begin, &end);
        if (tile >= s.tiles_down * s.tiles_across) break;
        int down, across;
        tmm__xfind_tile(&s, TMM__TENSOR_BAND, tile, &down, &across);
        long long row = (long long)down * TILE_M, col = (long long)across * TILE_N;
        /* Large tiles are moved back inside, unless what lies outside may be read. */
        if (!ANY && row > M - TILE_M && !s.packed_A) row = M - TILE_M;
        if (!ANY && col > N - TILE_N && !s.packed_B) col = N - TILE_N;

        /* What this thread copies: its first element (kA, lineA), where that goes in shared memory,
           and how far apart the elements of its passes are in memory. */
        int thread = tmm__thread(), pair = thread % ALONG * WIDTH, single = thread / ALONG;
        bool along_kA = modeA == TMM__ALONG_K, along_kB = modeB == TMM__ALONG_K;
        int kA = single, lineA = pair, kB = single, lineB = pair;
        if (along_kA) kA = thread * WIDTH % DEPTH, lineA = thread * WIDTH / DEPTH;
        if (along_kB) kB = thread * WIDTH % DEPTH, lineB = thread * WIDTH / DEPTH;
        int toA =
            along_kA ? tmm__xsquare(lineA, kA) : tmm__xsquare(kA, lineA % 16) + lineA / 16 * SQUARE;
        int toB =
            along_kB ? tmm__xsquare(lineB, kB) : tmm__xsquare(kB, lineB % 16) + lineB / 16 * SQUARE;
        toB += STAGE_A;
        /* The bits that 4 k and 8 lines change. */
        int fourA = along_kA ? 32 : 512, fourB = along_kB ? 32 : 512;
        int eightA = along_kA ? 1024 : 64, eightB = along_kB ? 1024 : 64;
        unsigned strideA = (unsigned)((int)LINES * SIZE * rsA);
        unsigned strideB = (unsigned)((int)LINES * SIZE * csB);

        /* Where this lane finds its element of the first fragments. */
        int lane = thread % 32, g = lane / 4, t = lane % 4;
        int firstA = along_kA ? tmm__xsquare(g, t) : tmm__xsquare(t, g);
        int firstB = along_kB ? tmm__xsquare(g, t) : tmm__xsquare(t, g);
        firstA += thread / 32 / WARPS_ACROSS * ((int)DOWN * SQUARE);
        firstB += thread / 32 % WARPS_ACROSS * (ACROSS / 2 * SQUARE) + STAGE_A;

        /* How many lines of what it copies exist, from its first on. */
        int rows_left = ANY && M - row < TILE_M ? (int)(M - row) - lineA : TILE_M;
        int cols_left = ANY && N - col < TILE_N ? (int)(N - col) - lineB : TILE_N;

        double sum[DOWN][ACROSS][4], a[2][DOWN][4], b[2][ACROSS][2];
        tmm__tensor_clear(sum);

        /* Fill all stages but one. */
        long long k = begin == 0 ? 0 : (short_last ? (int)DEPTH : rest) + (begin - 1ll) * DEPTH;
        const char *fromA =
            (const char *)(A + blockIdx.z * batchA + (row + lineA) * rsA + (k + kA) * csA);
        const char *fromB =
            (const char *)(B + blockIdx.z * batchB + (col + lineB) * csB + (k + kB) * rsB);
        int left = end - begin;
#pragma unroll 1
        for (int stage = 0; stage < STAGES - 1; stage++) {
            bool is_short = short_last ? begin + stage == s.steps - 1 : stage == 0 && begin == 0;
            int depth = is_short ? rest : DEPTH;
            if (stage < left) {
                int rows = kA < depth ? rows_left : 0, cols = kB < depth ? cols_left : 0;
#pragma unroll
                for (int i = 0; i < PASSES; i++)
                    tmm__tensor_copy(shared + stage * STAGE, i, toA, eightA, fromA, strideA, rows,
                                     toB, eightB, fromB, strideB, cols, tall, near);
            }
            fromA += depth * csA * SIZE;
            fromB += depth * rsB * SIZE;
            tmm__copy_commit();
        }
        TMM__COPY_WAIT(STAGES - 2);
        __syncthreads();
        int read = 0; /* where the stage that is worked on begins */
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            tmm__tensor_load_B(b[0][j], shared + read, firstB, 0, j, fourB, eightB);
#pragma unroll
        for (int i = 0; i < DOWN; i++)
            tmm__tensor_load_A(a[0][i], shared + read, firstA, 0, i, fourA, eightA);
        if (short_last && end == s.steps && left >= STAGES) left += (int)STILL - (int)STAGES;
#pragma unroll 1
        for (;;) { /* twice if the short step is still to be copied */
#pragma unroll 1
            for (; (left & STEPS) > 0; left--) {
                /* Everyone has left the stage before this one: refill it. */
                int write = read == 0 ? (STAGES - 1) * STAGE : read - STAGE;
                int rows = left >= STAGES ? rows_left : 0, cols = left >= STAGES ? cols_left : 0;
#pragma unroll
                for (int half = 0; half < HALVES; half++) { /* 8 k */
                    const bool last = half == HALVES - 1;
                    const int next = last ? 0 : half + 1;
#pragma unroll
                    for (int n = 0; n < MATRICES; n++) {
                        int i = n / ACROSS, j = n % ACROSS, slot = half * MATRICES + n;
                        int pair = n - (DOWN == 4 ? 3 : last ? 2 : 1);
                        tmm__mma_double(sum[i][j], a[half % 2][i], b[half % 2][j]);
                        if (last && n == 1) { /* on to the next stage, which must be complete */
                            TMM__COPY_WAIT(STAGES - 2);
                            __syncthreads();
                            read = read == (STAGES - 1) * STAGE ? 0 : read + STAGE;
                        }
                        if (DOWN < 4) TMM__KEEP_ORDER();
                        if (last && i == 0 ? n == 1 : j == 0)
                            tmm__tensor_load_A(a[next % 2][i], shared + read, firstA, next, i,
                                               fourA, eightA);
                        if (pair == 0 || pair == 1) {
                            tmm__tensor_load_B(b[next % 2][2 * pair], shared + read, firstB, next,
                                               2 * pair, fourB, eightB);
                            tmm__tensor_load_B(b[next % 2][2 * pair + 1], shared + read, firstB,
                                               next, 2 * pair + 1, fourB, eightB);
                        }
                        if (DOWN < 4) TMM__KEEP_ORDER();
#pragma unroll
                        for (int pass = 0; pass < PASSES; pass++)
                            if (slot == pass * SLOTS / PASSES + FIRST)
                                tmm__tensor_copy(shared + write, pass, toA, eightA, fromA, strideA,
                                                 rows, toB, eightB, fromB, strideB, cols, tall,
                                                 near);
                    }
                    if (half == HALVES - 2) {
                        tmm__copy_commit();
                        fromA += DEPTH * csA * SIZE;
                        fromB += DEPTH * rsB * SIZE;
                    }
                }
            }
            if (!ALIGNS || left == 0) break;
            left = STAGES, thread = tmm__thread();
            if (tmm__tensor_copied_k(modeA, thread) >= rest) rows_left = 0;
            if (tmm__tensor_copied_k(modeB, thread) >= rest) cols_left = 0;
        }
        TMM__COPY_WAIT(0);
        __syncthreads(); /* the copies of the next work may begin */
        thread = tmm__thread(), share = gridDim.x - 1 - tmm__block();
#if TMM__TENSOR_BLOCKS > 1 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900)
        /* Found anew: kept through the loop above, these would take a register too many. */
        TMM__HIDE(work);
        tile = tmm__xfind_work(&s, work, share, &begin, &end);
#endif
        if (tmm__tensor_by_cluster(&s, shared + (int)STAGES * STAGE, share, tile, tall, M, N, alpha,
                                   beta, C, ldc, sum))
            return;
        if (begin > 0 || s.reduce) { /* not the owner: leave the sums */
            tmm__tensor_leave_sums(&s, share, thread, sum);
            __syncthreads();
            if (thread == 0 && !s.reduce) tmm__flag_set(s.flags + share, s.ticket);
            continue;
        }
        if (end < s.steps) /* the owner: add what the others have left */
            tmm__tensor_add_partials(&s, share, tile, thread, sum);
        tmm__tensor_store_tile(&s, tile, tall, M, N, C + blockIdx.z * batchC, ldc, shared, alpha,
                               beta, sum);
#if TMM__TENSOR_WIDTH == 1
        __syncthreads(); /* the copies of the next work would overwrite what is stored */
#endif
    }
#endif
}
#endif
#endif
/* src/tiledmm/kernels/tensor_half/mma_sync.cuh. Elements of 16 bits on tensor cores by mma.sync.
   Uses: kernels/common/store.cuh, once/. Used by: launch.h, type/instances.h. */
/* The instances: pass, name, rows and columns of a tile, stages of 32 k, blocks on a
   multiprocessor. */
#ifndef TMM__HALF_LIST
#define TMM__HALF_LIST(_)         \
    _(1, 128x128, 128, 128, 4, 2) \
    _(2, 64x64, 64, 64, 4, 4)
#define TMM__HALF_ROWS   (TMM__HALF_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_COLS   (TMM__HALF_LIST(TMM__VALUE_2) 0)
#define TMM__HALF_STAGES (TMM__HALF_LIST(TMM__VALUE_3) 0)
#define TMM__HALF_BLOCKS (TMM__HALF_LIST(TMM__VALUE_4) 0)
/* Bytes of shared memory: the stages of both operands. */
#define TMM__HALF_BYTES(rows, cols, stages) (((rows) + (cols)) * 64 * (stages))
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR
/* Four matrices of 8 x 8 elements from shared memory (PTX ISA 9.7, "ldmatrix"). Lane l gives the
   address of row l % 8 of matrix l / 8. fragment[i] gets the elements 2 (l % 4) and 2 (l % 4) + 1 of
   row l / 4 of matrix i; or of its column l / 4, if they are `turned`, which lie elsewhere. One of
   two predicated instructions: a branch would keep loads and products apart. */
#define TMM__HALF_LOAD(fragment, lines, turns, turned)                                         \
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %6, 0;\n"                                   \
                 "@p ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%5];\n" \
                 "@!p ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n}"     \
                 : "=r"((fragment)[0]), "=r"((fragment)[1]), "=r"((fragment)[2]),              \
                   "=r"((fragment)[3])                                                         \
                 : "r"(lines), "r"(turns), "r"((int)(turned))                                  \
                 : "memory")
TMM__DEVICE void tmm__xhalf_load(unsigned *fragment, const unsigned char *stage, unsigned lines,
                                 unsigned turns, bool turned)
{
#if defined(__CUDA_ARCH__)
    const unsigned at = (unsigned)__cvta_generic_to_shared(stage);
    TMM__HALF_LOAD(fragment, at + lines, at + turns, turned);
#else
    const int lane = threadIdx.x % 32, two = lane % 4 * 2;
    const size_t row = (size_t)stage + (turned ? turns : lines);
    for (int i = 0; i < 4; i++) {
        const size_t at =
            (size_t)__shfl_sync(0xffffffffu, (unsigned long long)row, 8 * i + lane / 4);
        const size_t k0 = (size_t)__shfl_sync(0xffffffffu, (unsigned long long)row, 8 * i + two);
        const size_t k1 =
            (size_t)__shfl_sync(0xffffffffu, (unsigned long long)row, 8 * i + two + 1);
        const unsigned low = ((const unsigned short *)k0)[lane / 4];
        const unsigned high = ((const unsigned short *)k1)[lane / 4];
        fragment[i] = turned ? low | high << 16 : ((const unsigned *)at)[lane % 4];
    }
#endif
}
#undef TMM__HALF_LOAD

/* c += a b by a warp on tensor cores, with sums in float: a 16 x 16, b 16 x 8. For lane l, g = l / 4
   and t = l % 4; each word of a and b is two neighbours along k (PTX ISA 9.7, "Matrix Fragments for
   mma.m16n8k16 with floating point type"):
       a[0] = a(g, 2t)  a[1] = a(g + 8, 2t)  a[2] = a(g, 2t + 8)  a[3] = a(g + 8, 2t + 8)
       b[0] = b(2t, g)  b[1] = b(2t + 8, g)
       c[0], c[1] = c(g, 2t), c(g, 2t + 1)   c[2], c[3] = c(g + 8, 2t), c(g + 8, 2t + 1)
   sm_75 multiplies 8 k at a time, and has no bfloat16. */
#define TMM__MMA(shape, type, a, b)                                           \
    asm volatile("mma.sync.aligned.m16n8" shape ".row.col.f32." type "." type \
                 ".f32 {%0, %1, %2, %3}, {" a "}, {" b "}, {%0, %1, %2, %3};" \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])             \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))
TMM__DEVICE void tmm__xhalf_mma(float *c, const unsigned *x, const unsigned *y)
{
#if TMM__ASYNC && TMM__HALF_TENSOR == 1
    TMM__MMA("k16", "f16", "%4, %5, %6, %7", "%8, %9");
#elif TMM__ASYNC
    TMM__MMA("k16", "bf16", "%4, %5, %6, %7", "%8, %9");
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750 && TMM__HALF_TENSOR == 1
    TMM__MMA("k8", "f16", "%4, %5", "%8");
    TMM__MMA("k8", "f16", "%6, %7", "%9");
#else
    const int lane = threadIdx.x % 32;
    for (int k = 0; k < 16; k++) {
        float of[4]; /* two rows of a, two columns of b */
        for (int i = 0; i < 4; i++) {
            const unsigned *words = i < 2 ? x + i : y;
            const unsigned word = k < 8 ? words[0] : words[i < 2 ? 2 : 1];
            const int first = i < 2 ? lane / 4 : lane % 4 * 2 + i - 2;
            const unsigned both = __shfl_sync(0xffffffffu, word, first * 4 + k % 8 / 2);
            const unsigned short bits = (unsigned short)(both >> k % 2 * 16);
            TMM_TYPE element;
            memcpy((void *)&element, &bits, 2);
            of[i] = (float)element;
        }
        for (int i = 0; i < 4; i++) c[i] += of[i / 2] * of[2 + i % 2];
    }
#endif
}
#undef TMM__MMA

/* What a thread copies of the lines of an operand: chunks of 8 elements, from `from` on. */
typedef struct tmm__xhalf_lines {
    const TMM_TYPE *from;
    long long hop, step;  /* elements: to the next chunk of the stage, to the next stage */
    int place;            /* in bytes, in the stage */
    int along_k, align;   /* bytes that a copy may have: 16, 4 or 2 */
    int k;                /* of its first chunk, in the stage */
    int valid;            /* elements of a chunk that exist, if its lines and k do */
    int line, lines_left; /* of its first chunk if along k, else 0; lines of the tile */
} tmm__xhalf_lines;

/* Prepares that for `lines` lines, a constant, from X on, of which lines_left exist. */
TMM__DEVICE void tmm__xhalf_begin(tmm__xhalf_lines *s, const TMM_TYPE *X, long long line_stride,
                                  long long k_stride, long long lines_left, const int lines)
{
    const int thread = threadIdx.x, across = lines / 8;
    s->along_k = k_stride == 1;
    const size_t ends = (size_t)X | (size_t)(s->along_k ? line_stride : k_stride) * 2;
    s->align = ends % 16 == 0 ? 16 : ends % 4 == 0 ? 4 : 2;
    const int line = s->along_k ? thread / 4 : thread % across * 8;
    s->k = s->along_k ? thread % 4 * 8 : thread / across;
    s->hop = s->along_k ? 32 * line_stride : 128 / across * k_stride;
    s->step = 32 * k_stride;
    s->place = s->along_k ? line * 64 + (s->k / 8 ^ line / 2 % 4) * 16
                          : (s->k * across + (line / 8 ^ s->k % 8)) * 16;
    const long long left = lines_left - line;
    s->line = s->along_k ? line : 0, s->lines_left = lines_left < lines ? (int)lines_left : lines;
    s->valid = s->along_k || left >= 8 ? 8 : left > 0 ? (int)left : 0;
    s->from = X + (s->along_k || left > 0 ? line * line_stride : 0) + s->k * k_stride;
}

/* Copies `valid` elements of a chunk, and zeros. */
TMM__DEVICE void tmm__xhalf_chunk(unsigned char *to, const TMM_TYPE *from, int valid, int align)
{
    if (align == 16) {
        tmm__copy_zfill(to, from, 16, 2 * valid);
    } else if (align == 4) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int left = 2 * valid - 4 * j;
            tmm__copy_zfill(to + 4 * j, from + 2 * j, 4, left < 0 ? 0 : left < 4 ? left : 4);
        }
    } else {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            unsigned short bits = 0;
            if (j < valid) bits = ((const unsigned short *)from)[j];
            ((unsigned short *)to)[j] = bits;
        }
    }
}

/* Copies a stage, of which k_left k exist. What does not exist becomes zeros. */
TMM__DEVICE void tmm__xhalf_copy(tmm__xhalf_lines *s, unsigned char *stage, long long k_left,
                                 const int lines)
{
    const TMM_TYPE *from = s->from;
    unsigned char *to = stage + s->place;
    const int down = s->along_k ? 32 : 0;
    int line = s->line;
    if (s->align == 16 && k_left >= 32) {
#pragma unroll
        for (int i = 0; i < lines / 32; i++) {
            tmm__copy_zfill(to + 2048 * i, from, 16,
                            line + i * down < s->lines_left ? 2 * s->valid : 0);
            from += s->hop;
        }
    } else {
        int k = s->k;
#pragma unroll 1
        for (int i = 0; i < lines / 32; i++) {
            const long long more = k_left - k;
            int valid = line < s->lines_left && more > 0 ? s->valid : 0;
            if (s->along_k && valid > more) valid = more > 0 ? (int)more : 0;
            tmm__xhalf_chunk(to + 2048 * i, from, valid, s->align);
            from += s->hop;
            line += down, k += s->along_k ? 0 : 1024 / lines;
        }
    }
    s->from += s->step;
}
#endif

#if defined(TMM__PASS) && TMM__HALF_TENSOR && (TMM__HALF_LIST(TMM__IN_PASS) 0)
enum { tmm__half_bytes = TMM__HALF_BYTES(TMM__HALF_ROWS, TMM__HALF_COLS, TMM__HALF_STAGES) };
static_assert((TMM__HALF_ROWS == 64 || TMM__HALF_ROWS == 128) &&
                  (TMM__HALF_COLS == 64 || TMM__HALF_COLS == 128),
              "TMM__HALF_LIST: tiles have 64 or 128 rows and columns: 2 x 2 warps");
static_assert(TMM__HALF_STAGES >= 2, "TMM__HALF_LIST: one stage is copied while another is read");
static_assert(TMM__HALF_BLOCKS * tmm__half_bytes <= 227 * 1024,
              "TMM__HALF_LIST: the stages of all blocks must fit into a multiprocessor");

/* ============================== KERNEL TENSOR HALF ============================================ */
/* Elements of 16 bits on tensor cores, sums in float. 4 warps, 2 x 2, have a tile of C; each has a
   quarter of it in registers, as 16 x 8 parts:

             COLS / 2         COLS / 2
           +----------------+----------------+
           | warp 0         | warp 1         |   ROWS / 2      a stage: 32 k of the tile's lines
           +----------------+----------------+                 of A, then of B; STAGES of them go
           | warp 2         | warp 3         |   ROWS / 2      round
           +----------------+----------------+

   A stage has chunks of 8 elements, 16 bytes. An operand that is contiguous along k lies as
   [line][4 chunks], chunk c of line r at c ^ (r / 2 % 4); any other as [k][lines / 8 chunks], chunk c
   of row k at c ^ (k % 8). So ldmatrix, which reads 8 rows of 16 bytes, finds them in different
   banks, and turns the second kind around. Copies of 16 bytes do so, too.

   Blocks walk along bands of 8 rows of tiles. Where gridDim.y > 1, each has some steps of K, and
   leaves its sums in `partials` for KERNEL SUM.
   A step of 128 x 128 is 1,048,576 operations and 16 KB from L2: 64 a byte. Its warps read 32 KB of
   shared memory, copies store 16: 22 a byte, which bounds it on sm_90 (128 bytes a clock). Elsewhere
   tensor cores do. */
TMM_KERNEL void __launch_bounds__(128, TMM__HALF_BLOCKS)
    tmm__gemm_half(long long M, long long N, long long K, TMM_SCALAR alpha,
                   const TMM_TYPE *__restrict__ A, long long rsA, long long csA, long long batchA,
                   const TMM_TYPE *__restrict__ B, long long rsB, long long csB, long long batchB,
                   TMM_SCALAR beta, TMM_OUT *__restrict__ C, long long ldc, long long batchC,
                   float *__restrict__ partials TMM__TRIANGLE_OF_ARGUMENTS)
{
    enum {
        ROWS = TMM__HALF_ROWS,
        COLS = TMM__HALF_COLS,
        STAGES = TMM__STAGES(TMM__HALF_STAGES),
        DOWN = ROWS / 32,   /* parts of 16 rows of a warp, */
        ACROSS = COLS / 16, /* and of 8 columns */
        STAGE_A = ROWS * 64,
        STAGE = STAGE_A + COLS * 64
    };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
#ifdef TMM_WITH_SYRK
    enum { EDGE = ROWS > COLS ? ROWS : COLS };
    long long across = (N - 1) / COLS + 1, down = (M - 1) / ROWS + 1;
    const int squares = (int)((N - 1) / EDGE + 1);
    if (triangle != 0)
        across = (squares + 1) / 2 * (EDGE / COLS),
        down = (squares + 1 - squares % 2) * (EDGE / ROWS);
#else
    const int triangle = 0;
    const long long across = (N - 1) / COLS + 1, down = (M - 1) / ROWS + 1;
#endif
    const long long band = blockIdx.x / (8 * across), place = blockIdx.x % (8 * across);
    const long long high = down - band * 8 < 8 ? down - band * 8 : 8;
#ifdef TMM_WITH_SYRK
    int tile_down = (int)(band * 8 + place % high), tile_across = (int)(place / high);
    if (triangle != 0)
        tmm__triangle_tile(triangle, squares, (ROWS > COLS) - (ROWS < COLS), &tile_down,
                           &tile_across);
    const long long tile_row = tile_down * (long long)ROWS,
                    tile_col = tile_across * (long long)COLS;
#else
    const long long tile_row = (band * 8 + place % high) * ROWS, tile_col = place / high * COLS;
#endif

    const long long all = (K + 31) / 32;
    const long long step0 = all * blockIdx.y / gridDim.y, end = all * (blockIdx.y + 1) / gridDim.y;
    const long long k0 = step0 * 32;
    tmm__xhalf_lines a, b;
    tmm__xhalf_begin(&a, A + blockIdx.z * batchA + tile_row * rsA + k0 * csA, rsA, csA,
                     M - tile_row, ROWS);
    tmm__xhalf_begin(&b, B + blockIdx.z * batchB + tile_col * csB + k0 * rsB, csB, rsB,
                     N - tile_col, COLS);

    /* Where the lane's rows of matrices lie in a stage, see tmm__xhalf_load: of 16 lines and all k
       that are copied along k, or of 16 k and all lines. */
    const int row0 = warp / 2 * (ROWS / 2), col0 = warp % 2 * (COLS / 2), eight = lane % 8;
    const int rowA = row0 + lane % 16, kA = lane / 16 * 8 + eight;
    const int rowB = col0 + lane / 16 * 8 + eight, kB = lane / 8 % 2 * 8 + eight;
    const unsigned linesA = rowA * 64 + (lane / 16 ^ rowA / 2 % 4) * 16;
    const unsigned linesB = STAGE_A + rowB * 64 + (lane / 8 % 2 ^ rowB / 2 % 4) * 16;
    const unsigned turnsA = kA * (ROWS * 2) + ((row0 / 8 + lane / 8 % 2) ^ eight) * 16;
    const unsigned turnsB = STAGE_A + kB * (COLS * 2) + ((col0 / 8 + lane / 16) ^ eight) * 16;

    float sum[DOWN][ACROSS][4];
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int n = 0; n < 4; n++) sum[i][j][n] = 0;

    int steps = (int)(end - step0), next = 0; /* next: the step to copy */
    int write = 0, read = 0;
    long long k_left = K - k0;
#pragma unroll 1
    for (int step = 1 - STAGES; step < steps; step++) {
        if (step >= 0) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads(); /* all have read the stage that is written next */
        }
        if (next < steps) {
            unsigned char *stage = tmm__memory + write * STAGE;
            tmm__xhalf_copy(&a, stage, k_left, ROWS);
            tmm__xhalf_copy(&b, stage + STAGE_A, k_left, COLS);
            k_left -= 32, next++;
            write = write + 1 == STAGES ? 0 : write + 1;
        }
        tmm__copy_commit();
        if (step < 0) continue;
        const unsigned char *stage = tmm__memory + read * STAGE;
#pragma unroll
        for (int k = 0; k < 2; k++) { /* 16 of the stage's k */
            unsigned x[DOWN][4], y[ACROSS / 2][4];
#pragma unroll
            for (int i = 0; i < DOWN; i++)
                tmm__xhalf_load(x[i], stage, (linesA ^ 32 * k) + i * 1024,
                                (turnsA ^ 32 * i) + k * (ROWS * 32), !a.along_k);
#pragma unroll
            for (int j = 0; j < ACROSS / 2; j++)
                tmm__xhalf_load(y[j], stage, (linesB ^ 32 * k) + j * 1024,
                                (turnsB ^ 32 * j) + k * (COLS * 32), !b.along_k);
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++)
                    tmm__xhalf_mma(sum[i][j], x[i], &y[j / 2][j % 2 * 2]);
        }
        read = read + 1 == STAGES ? 0 : read + 1;
    }

    C += blockIdx.z * batchC;
    if (partials != NULL) partials += (blockIdx.z * gridDim.y + blockIdx.y) * (M * N);
    const bool aligned = ((size_t)C | (size_t)ldc * sizeof(TMM_OUT)) % (2 * sizeof(TMM_OUT)) == 0;
    const long long col1 = tile_col + col0 + lane % 4 * 2;
    /* 16 rows after 16 rows, each moved to the place of the first: code for these alone. */
#pragma unroll 1
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const long long row = tile_row + row0 + 16 * i + 8 * h + lane / 4;
            if (row >= M) return;
            /* Of the diagonal, as far as it counts. */
            const int below = row - col1 > 1024 ? 1024 : row < col1 ? -1 : (int)(row - col1);
            tmm__xouts2 old[ACROSS];
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                const long long col = col1 + 8 * j;
                const unsigned mask =
                    tmm__triangle_mask(triangle, tmm__column_mask(col, 2, 0, N), below, 8 * j);
                if (partials != NULL) {
                    for (int n = 0; n < 2; n++)
                        if (mask >> n & 1) partials[row * N + col + n] = sum[0][j][2 * h + n];
                } else if ((TMM_SUM)beta != 0) {
                    old[j] = tmm__xload2(C + row * ldc + col, aligned, mask);
                }
            }
            if (partials != NULL) continue;
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                const long long col = col1 + 8 * j;
                const unsigned mask =
                    tmm__triangle_mask(triangle, tmm__column_mask(col, 2, 0, N), below, 8 * j);
                tmm__xstore2(C + row * ldc + col, row, col, aligned, mask, alpha, beta, old[j],
                             &sum[0][j][2 * h]);
            }
        }
#pragma unroll
        for (int below = 1; below < DOWN; below++)
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
#pragma unroll
                for (int n = 0; n < 4; n++) sum[below - 1][j][n] = sum[below][j][n];
    }
}
#endif
/* src/tiledmm/kernels/common/tensor_ptx.cuh. Wrappers of the PTX instructions that products on tensor
   cores share.
   Uses: once/.
   Used by: kernels/tensor_float/, kernels/tensor_half/wgmma.cuh, kernels/tensor_int8/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE &&                                                       \
    (TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR || TMM__HALF_TENSOR) && !defined(TMM__FLOAT_ONCE) && \
    !defined(TMM__DOUBLE_ONCE) && !defined(TMM__HALF_ONCE)
/* wgmma, mbarriers and bulk copies are for this one architecture. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TMM__WGMMA 1
#else
#define TMM__WGMMA 0
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
#endif
/* src/tiledmm/kernels/tensor_half/wgmma.cuh. Elements of 16 bits by wgmma and TMA, for sm_90a.
   Uses: kernels/common/, once/. Used by: launch.h, type/instances.h. */
/* The instances: pass, name, columns of a tile, stages of 64 k. A tile has 128 rows. */
#ifndef TMM__HALF_WGMMA_LIST
#define TMM__HALF_WGMMA_LIST(_) \
    _(1, 128x256, 256, 4)       \
    _(2, 128x128, 128, 6)
#define TMM__HALF_WGMMA_COLS   (TMM__HALF_WGMMA_LIST(TMM__VALUE_1) 0)
#define TMM__HALF_WGMMA_STAGES (TMM__HALF_WGMMA_LIST(TMM__VALUE_2) 0)
/* Shared memory: the stages, to which 1024 bytes align, and 16 rows of 32 sums for each of 8 warps, 36
   apart, so that rows lie in different banks. */
#define TMM__HALF_WGMMA_BYTES(cols, stages) \
    ((stages) * (128 + (cols)) * 128 + 1024 + 8 * 16 * 36 * 4)
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
    float alpha, beta;
    float *partials;
    int turned_A, turned_B; /* operands that do not lie along k */
    int next_A, next_B;     /* 0: all products of the batch share it, else 1 */
    int pairs_down, across; /* tiles: those of a cluster lie above each other */
    int cluster, steps, slices, items;
#ifdef TMM_WITH_SYRK
    int triangle, squares, ratio_log2; /* of pairs of tiles, see once/triangle.cuh */
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
    int row, col, product, slice, first, steps;
} tmm__half_item;

TMM__DEVICE tmm__half_item tmm__half_find(const tmm__half_job *job, int item, int rank, int cols)
{
    tmm__half_item at;
    const int tiles = job->pairs_down * job->across, tile = item % tiles;
    const int band = tile / (8 * job->across), place = tile - band * 8 * job->across;
    const int high = min(8, job->pairs_down - band * 8);
    at.row = ((band * 8 + place % high) * job->cluster + rank) * 128;
    at.col = place / high * cols;
#ifdef TMM_WITH_SYRK
    if (job->triangle != 0) {
        int down = band * 8 + place % high, across = place / high;
        tmm__triangle_tile(job->triangle, job->squares, job->ratio_log2, &down, &across);
        at.row = (down * job->cluster + rank) * 128, at.col = across * cols;
    }
#endif
    at.product = item / tiles / job->slices, at.slice = item / tiles % job->slices;
    at.first = (int)((long long)job->steps * at.slice / job->slices);
    at.steps = (int)((long long)job->steps * (at.slice + 1) / job->slices) - at.first;
    return at;
}

#if TMM__WGMMA
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

/* Arrives at the barrier that is at this place in block `rank` of the cluster. */
TMM__DEVICE void tmm__half_arrive(unsigned barrier, int rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

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
#define TMM__HALF_PRODUCT(type, turns_a, turns_b)                                               \
    do {                                                                                        \
        if (cols == 256)                                                                        \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                             \
                         "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type           \
                         " {" TMM__H64_NAMES TMM__TEN(6) TMM__TEN(7) TMM__TEN(8) TMM__TEN(9)    \
                             TMM__TEN(10)                                                       \
                                 TMM__TEN(11) "%120, %121, %122, %123, %124, %125, "            \
                                              "%126, %127}, %128, %129, p, 1, 1, " turns_a      \
                                              ", " turns_b ";\n}"                               \
                         : TMM__H64(0), TMM__H64(64)                                            \
                         : "l"(a), "l"(b));                                                     \
        else                                                                                    \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                             \
                         "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type           \
                         " {" TMM__H64_NAMES "%60, %61, %62, %63}, %64, %65, p, 1, 1, " turns_a \
                         ", " turns_b ";\n}"                                                    \
                         : TMM__H64(0)                                                          \
                         : "l"(a), "l"(b));                                                     \
    } while (0)
#endif
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__HALF_TENSOR && TMM__WGMMA
#if TMM__HALF_TENSOR == 1
#define TMM__HALF_TYPE "f16"
#else
#define TMM__HALF_TYPE "bf16"
#endif
/* All steps of an item, into the sums of a warpgroup: rows 64 `group` on. Stages go round from *stage on,
   with *parity. The products of a stage run while the next one is awaited. */
TMM__DEVICE void tmm__xhalf_sum(float *c, int *stage, unsigned *parity, int steps, unsigned stages,
                                unsigned fulls, unsigned empties, int group, int cluster,
                                const int count, const int cols, const int turned_A,
                                const int turned_B)
{
    const int lane = threadIdx.x % 32;
    int before = -1;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const unsigned at = stages + *stage * ((128 + cols) * 128);
        tmm__barrier_wait(fulls + 8 * *stage, *parity);
        TMM__WGMMA_BEGIN();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const unsigned long long a =
                tmm__descriptor(at + group * 8192 + k * (turned_A ? 2048 : 32));
            const unsigned long long b =
                tmm__descriptor(at + 16384 + k * (turned_B ? 2048 : 32)) +
                (turned_B ? 511ull << 16 : 0); /* 64 columns further on: 8192 bytes */
            if (turned_A && turned_B)
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "1", "1");
            else if (turned_A)
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "1", "0");
            else if (turned_B)
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "0", "1");
            else
                TMM__HALF_PRODUCT(TMM__HALF_TYPE, "0", "0");
        }
        TMM__WGMMA_COMMIT();
        TMM__WGMMA_WAIT(1);
        if (before >= 0 && lane < cluster) tmm__half_arrive(empties + 8 * before, lane);
        before = *stage;
        if (++*stage == count) *stage = 0, *parity ^= 1;
    }
    TMM__WGMMA_WAIT(0);
    if (before >= 0 && lane < cluster) tmm__half_arrive(empties + 8 * before, lane);
#pragma unroll
    for (int i = 0; i < cols / 2; i++) asm volatile("" : "+f"(c[i])::"memory");
}
#undef TMM__HALF_TYPE
#endif

#if defined(TMM__PASS) && TMM__HALF_TENSOR && (TMM__HALF_WGMMA_LIST(TMM__IN_PASS) 0)
enum {
    tmm__half_wgmma_bytes = TMM__HALF_WGMMA_BYTES(TMM__HALF_WGMMA_COLS, TMM__HALF_WGMMA_STAGES)
};
static_assert(TMM__HALF_WGMMA_COLS == 128 || TMM__HALF_WGMMA_COLS == 256,
              "TMM__HALF_WGMMA_LIST: a tile has 128 or 256 columns");
static_assert(TMM__HALF_WGMMA_STAGES >= 2 && tmm__half_wgmma_bytes <= 227 * 1024 - 256,
              "TMM__HALF_WGMMA_LIST: stages must be 2 at least, and fit into 227 KB");
/* KERNEL TENSOR HALF by wgmma. 384 threads: one of the first warpgroup copies by TMA, two warpgroups
   multiply, 64 rows of the tile each. A stage is 64 k:
       A, 128 lines    [line][64 k], or two boxes of [64 k][64 lines] if it does not lie along k
       B, COLS lines   the same; two boxes of lines, or COLS / 64
   with the swizzle of 128 bytes. Two blocks of a cluster have the same columns, and copy half of B each,
   to both. Blocks are persistent: each takes tile after tile, in bands of 8 rows of pairs.

   A step of 128 x 256 is 4.2 million operations; a block copies 32 KB for it from L2: 131 a byte. Tensor
   cores read B once for 64 rows. They bound it where K is long; below, filling and storing count. */
TMM_KERNEL void __launch_bounds__(384, 1)
    tmm__gemm_half_wgmma(const TMM__GRID_CONSTANT tmm__half_map map_A,
                         const TMM__GRID_CONSTANT tmm__half_map map_B, TMM_OUT *__restrict__ C,
                         const tmm__half_job job)
{
#if TMM__WGMMA
    enum {
        COLS = TMM__HALF_WGMMA_COLS,
        STAGES = TMM__HALF_WGMMA_STAGES,
        STAGE = (128 + COLS) * 128,
        PITCH = 36
    };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tmm__memory), skip = -base & 1023;
    const unsigned stages = base + skip;
    const unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
    const unsigned empties = (unsigned)__cvta_generic_to_shared(empty);
    const int lane = threadIdx.x % 32, cluster = job.cluster;
    const int rank = blockIdx.x % cluster, count = gridDim.x / cluster;
    int stage = 0;
    unsigned parity = 0;
    if (threadIdx.x == 0) {
        for (int n = 0; n < STAGES; n++) {
            tmm__barrier_init(fulls + 8 * n, 1);
            tmm__barrier_init(empties + 8 * n, 8 * cluster);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                         : "memory");
    }
    __syncthreads();
    if (cluster > 1) TMM__CLUSTER_MEETS();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        const int mine = cluster == 1 ? 2 : 1, first = cluster == 1 ? 0 : rank; /* halves of B */
        for (int item = blockIdx.x / cluster; threadIdx.x == 0 && item < job.items; item += count) {
            const tmm__half_item at = tmm__half_find(&job, item, rank, COLS);
            const int zA = at.product * job.next_A, zB = at.product * job.next_B;
            for (int step = 0; step < at.steps; step++) {
                const unsigned to = stages + stage * STAGE, barrier = fulls + 8 * stage;
                const int k = (at.first + step) * 64;
                tmm__barrier_wait(empties + 8 * stage, parity ^ 1); /* at once, the first time */
                tmm__barrier_expect(barrier, STAGE);
                if (job.turned_A) {
                    tmm__half_box(to, &map_A, at.row, k, zA, barrier, 1);
                    tmm__half_box(to + 8192, &map_A, at.row + 64, k, zA, barrier, 1);
                } else {
                    tmm__half_box(to, &map_A, k, at.row, zA, barrier, 1);
                }
                for (int half = first; half < first + mine; half++) {
                    const unsigned toB = to + 16384 + half * (COLS * 64);
                    const int col = at.col + half * (COLS / 2);
                    for (int i = 0; job.turned_B && i < COLS / 128; i++)
                        tmm__half_box(toB + i * 8192, &map_B, col + i * 64, k, zB, barrier,
                                      (1 << cluster) - 1);
                    if (!job.turned_B)
                        tmm__half_box(toB, &map_B, k, col, zB, barrier, (1 << cluster) - 1);
                }
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int warp = threadIdx.x / 32 - 4, group = warp / 4;
        float *own = (float *)(tmm__memory + skip + STAGES * STAGE) + warp * (16 * PITCH);
        for (int item = blockIdx.x / cluster; item < job.items; item += count) {
            const tmm__half_item at = tmm__half_find(&job, item, rank, COLS);
            float sum[COLS / 2];
#pragma unroll
            for (int i = 0; i < COLS / 2; i++) sum[i] = 0;
            if (job.turned_A && job.turned_B)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 1, 1);
            else if (job.turned_A)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 1, 0);
            else if (job.turned_B)
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 0, 1);
            else
                tmm__xhalf_sum(sum, &stage, &parity, at.steps, stages, fulls, empties, group,
                               cluster, STAGES, COLS, 0, 0);
            /* 32 columns after 32 go through shared memory, so that a row's neighbours are stored
               together: 16 lanes for each of two rows. */
            const long long row0 = at.row + warp * 16, product = at.product;
            float *partials = job.partials;
            if (partials != NULL) partials += (product * job.slices + at.slice) * (job.M * job.N);
            TMM_OUT *c = C + product * job.batchC;
            const bool aligned =
                ((size_t)c | (size_t)job.ldc * sizeof(TMM_OUT)) % (2 * sizeof(TMM_OUT)) == 0;
#pragma unroll
            for (int part = 0; part < COLS / 32; part++) {
                __syncwarp();
#pragma unroll
                for (int j = 0; j < 4; j++)
#pragma unroll
                    for (int h = 0; h < 2; h++)
                        *(float2 *)&own[(lane / 4 + 8 * h) * PITCH + 8 * j + lane % 4 * 2] =
                            make_float2(sum[part * 16 + 4 * j + 2 * h],
                                        sum[part * 16 + 4 * j + 2 * h + 1]);
                __syncwarp();
                const long long col = at.col + part * 32 + lane % 16 * 2;
                const unsigned mask = tmm__column_mask(col, 2, 0, job.N);
#pragma unroll 4
                for (int r = lane / 16; r < 16; r += 2) {
                    const long long row = row0 + r, place = row * job.ldc + col;
                    if (row >= job.M || mask == 0) continue;
                    const unsigned stored = tmm__triangle_mask(TMM__TRIANGLE(&job), mask, row, col);
                    const float *two = &own[r * PITCH + lane % 16 * 2];
                    if (partials != NULL) {
                        for (int n = 0; n < 2; n++)
                            if (mask >> n & 1) partials[row * job.N + col + n] = two[n];
                        continue;
                    }
                    tmm__xouts2 old;
                    if (job.beta != 0) old = tmm__xload2(c + place, aligned, stored);
                    tmm__xstore2(c + place, row, col, aligned, stored, (TMM_SCALAR)job.alpha,
                                 (TMM_SCALAR)job.beta, old, two);
                }
            }
        }
    }
    __syncwarp();
    if (cluster > 1) TMM__CLUSTER_MEETS(); /* no block leaves while others may arrive there */
#else
    (void)map_A, (void)map_B, (void)C, (void)job;
#endif
}
#endif
/* src/tiledmm/kernels/tensor_float/types.cuh. Floats on tensor cores: the method, and what host and device
   share.
   Uses: once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
/* ============================== KERNEL TENSOR FLOAT =========================================== */
/* Products of float matrices on tensor cores, which multiply elements of 16 bits. KERNEL CONVERT
   makes two FP16 of each element. Three products of FP16 then give one of floats, after Ootomo and
   Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
   theoretical peak performance", 2022. The error is no larger than that of FP32 multiply-adds, in
   the worst case (K + 2) u (|A||B|)_ij. bench/notes/tensor_float.md derives it.

   An element x of A or B becomes
       x' = x 2^s      exact; the largest |x'| of the line is in [2^14, 2^15)
       hi = fp16(x')   11 bits, rounded to nearest; x' - hi is exact in float
       lo = fp16((x' - hi) 2^11)   the next 11 bits, or 12
   An element of C is, window by window,
       c    = sum lo_a hi_b + sum hi_a lo_b      on tensor cores; lo_a lo_b is left out
       c    = c 2^-11 + sum hi_a hi_b            the largest products come last
       sum += c                                  by FADD, which rounds; tensor cores cut off
       C    = alpha (sum 2^-(s_a + s_b)) + beta C

   Glossary:
     line       a row of op(A) or a column of op(B); its scale is 2^-s
     window     the 64 k (mma.sync and BF16: 32) that are added up before FADD
     wide       a line with small elements that FP16 cannot hold: below gemm__least_element, some
                2^-29 to 2^-35 of the largest, and not zero
     rejected   an element of C whose scales rule FP16 out: not finite, or their product is out of
                [scale_min, scale_max]; found by its row and column alone
     doubtful   an element of C with a wide line whose sum is below doubt_below, too small to prove
                the bound; the kernels leave a bit for it, and store the others
     BF16x6     six products of BF16 terms, without scales: recheck_bf16x6
     recheck    computes rejected and doubtful elements again: by FP32 multiply-adds in ascending k,
                or doubtful ones in large tiles by BF16x6
   What wide lines lack is less than K 2^-18 of a sum, which is 2^28 where large elements meet. So
   most of their elements are not doubtful. The bits of an element depend on its row, its column and
   K alone; with BF16x6 or K in parts, which are for one product only, also on M and N.

   KERNEL CONVERT leaves blocks of 8 KB, 64 lines x 32 k, ordered [k / 32][line / 64]. They are
   padded with zeros to whole blocks, and to an even number along k. A line has 128 bytes of a
   block, eight chunks of 8 FP16:
       chunk      0     1     2     3     4     5     6     7       chunk c of line r lies at place
       k        0-7  8-15 16-23 24-31   0-7  8-15 16-23 24-31      c ^ (r % 8)
               +-----------------------+-----------------------+
       line    |          hi           |          lo           |
               +-----------------------+-----------------------+
   wgmma calls this a K-major matrix with 128-byte swizzle (PTX ISA 9.7, "Asynchronous Warpgroup
   Level Matrix Shared Memory Layout"). Eight neighbouring lines, read at the same k, lie in
   different banks. Plain copies bring a block to shared memory as it is. */

/* An operand as it was given. */
typedef struct tmm__lines {
    const float *X;
    long long lines, line_stride, k_stride; /* in elements */
    long long product_stride;               /* 0: all products of a batch share it */
} tmm__lines;

/* An operand as KERNEL CONVERT leaves it. */
typedef struct tmm__fp16_operand {
    unsigned char *blocks; /* [product][k / 32][line / 64], 8 KB each */
    float *scales;         /* [product][line]: 2^-s; negative if the line is wide; 0: not finite */
    int line_blocks;       /* ceil(lines / 64) */
    int k_blocks;          /* 2 ceil(K / 64) */
} tmm__fp16_operand;

/* What the kernels after KERNEL CONVERT are to do: `batch` products; number p has C + p batchC. */
typedef struct tmm__float_job {
    long long M, N, K;
    tmm__lines from_a, from_b;
    tmm__fp16_operand a, b;
    float *C;
    long long ldc, batchC;
    float alpha, beta;
    float scale_min, scale_max; /* of the product of two scales: see tmm__is_rejected */
    float doubt_below;          /* see tmm__is_doubtful */
    unsigned *doubt;            /* [product][row][column / 16]: see tmm__doubt_word */
    int doubt_pitch;            /* ceil(N / 16) */
    int batch;
    tmm__schedule s;              /* the tiles of C */
    unsigned *pace;               /* a counter that is 0, or NULL: see tmm__keep_pace */
    int instance, tile_m, tile_n; /* instance: TMM__WGMMA_256x128 and the like */
    int bf16x6;                   /* whether doubtful elements may go by BF16x6 */
    int parts; /* of the k of each tile, s.steps blocks of 32 k each; see wgmma_add_parts */
} tmm__float_job;

enum { TMM__FLOAT_BAND = 8 };   /* rows of tiles that are walked together */
enum { TMM__FLOAT_PACE = 8 };   /* blocks of 32 k from one tmm__keep_pace to the next */
enum { TMM__FLOAT_PARTS = 32 }; /* of the k of a tile, at most */
enum { TMM__CONVERT_LINES = 8, TMM__BLOCK_BYTES = 8192 };

/* lo begins so many bits below hi: its factor is 2 to this power. */
enum { TMM__LO_SHIFT = 11 };

/* Up to so many doubtful elements are computed one by one: of a quarter of a region, or of all of
   it where BF16x6 may compute it. See tmm__is_sparse. */
enum { TMM__SPARSE_FP32 = 64, TMM__SPARSE_BF16X6 = 64 };

/* Shared memory of the recheck: a region, and two stages of 16 k of A and B, 128 lines each. PITCH:
   floats from one k to the next. STEP: floats of 16 k of one operand. */
enum { TMM__RECHECK_PITCH = 132, TMM__RECHECK_STEP = 16 * TMM__RECHECK_PITCH };
enum { TMM__REGION_BYTES = 1024, TMM__RECHECK_BYTES = TMM__REGION_BYTES + 16 * TMM__RECHECK_STEP };

/* Where the recheck of a block is: a region of 128 x 128 of C, and a tile of 64 x 64 or 128 x 128
   in it. Regions of rejected elements cover C and are distributed over all blocks. Those of
   doubtful elements, `own`, cover the tiles that the block itself has computed on tensor cores. */
typedef struct tmm__region {
    long long next;                 /* tile of the block, after this one */
    int pass, end;                  /* of the recheck: this one; one more than the last */
    int own;                        /* see above */
    int product, row, col;          /* of the tile */
    int row128, col128;             /* of the region */
    int row_end, col_end;           /* where what it may have ends */
    unsigned lowest[8], highest[8]; /* scales of 32 lines each, rows first */
    unsigned wide[8];               /* and which of these lines are wide */
    unsigned doubtful[4];           /* elements of each quarter */
    int inexact;                    /* see recheck_bf16x6 */
} tmm__region;
static_assert(sizeof(tmm__region) <= TMM__REGION_BYTES, "it has room");
#endif
/* src/tiledmm/kernels/tensor_float/numbers.cuh. FP16 and BF16 parts of a float; which elements of C need
   the recheck.
   Uses: types.cuh, once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
static __device__ __forceinline__ unsigned tmm__float_bits(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static __device__ __forceinline__ float tmm__bits_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* The bits of the FP16 nearest to x, ties to even, as cvt.rn.f16.f32 gives them. And its value. */
static __device__ __forceinline__ unsigned tmm__to_half(float x)
{
    unsigned bits = tmm__float_bits(x), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (size > 0x7f800000u) return sign | 0x7e00u;
    if (size >= 0x47800000u) return sign | 0x7c00u; /* from 2^16 on */
    if (size < 0x38800000u)                         /* below 2^-14: multiples of 2^-24 */
        return sign | (tmm__float_bits(tmm__bits_float(size) + 0.5f) - 0x3f000000u);
    return sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
}

static __device__ __forceinline__ float tmm__from_half(unsigned half)
{
    unsigned sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
    if (size < 0x400u) {
        float small = (float)size * 5.9604644775390625e-8f; /* 2^-24 */
        return tmm__bits_float(sign | tmm__float_bits(small));
    }
    if (size >= 0x7c00u) return tmm__bits_float(sign | 0x7f800000u | size << 13);
    return tmm__bits_float(sign | ((size << 13) + 0x38000000u));
}

static __device__ __forceinline__ float tmm__load_half(const unsigned char *at)
{
    return tmm__from_half(*(const unsigned short *)at);
}

/* Three BF16 terms of each of two neighbours, x = x1 + x2 + x3; x goes to the lower 16 bits. The
   upper 16 bits of a float are a BF16, cut towards zero. Of what is returned the lower 16 bits are
   0 if the terms are exact, which they are where x is 0 or |x| at least 2^-110. */
static __device__ __forceinline__ unsigned tmm__bf16_triple(float x, float y, unsigned *terms)
{
    unsigned bits_x = tmm__float_bits(x), bits_y = tmm__float_bits(y);
#pragma unroll
    for (int i = 0; i < 3; i++) {
#if defined(__CUDA_ARCH__)
        terms[i] = __byte_perm(bits_x, bits_y, 0x7632);
#else
        terms[i] = bits_x >> 16 | (bits_y & 0xffff0000u);
#endif
        if (i == 2) break;
        x -= tmm__bits_float(bits_x & 0xffff0000u), y -= tmm__bits_float(bits_y & 0xffff0000u);
        bits_x = tmm__float_bits(x), bits_y = tmm__float_bits(y);
    }
    return bits_x | bits_y;
}

/* hi and lo of two neighbours; x goes to the lower 16 bits. */
static __device__ __forceinline__ void tmm__fp16_pair(float x, float y, unsigned *hi, unsigned *lo)
{
    const float factor = (float)(1 << TMM__LO_SHIFT);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    /* PTX ISA 9.7, "cvt": the second source goes to the lower half. */
    float hi_x, hi_y;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*hi) : "f"(y), "f"(x));
    asm("{\n.reg .f16 low, high;\nmov.b32 {low, high}, %2;\n"
        "cvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
        : "=f"(hi_x), "=f"(hi_y)
        : "r"(*hi));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(*lo)
        : "f"((y - hi_y) * factor), "f"((x - hi_x) * factor));
#else
    unsigned hi_x = tmm__to_half(x), hi_y = tmm__to_half(y);
    *hi = hi_x | hi_y << 16;
    *lo = tmm__to_half((x - tmm__from_half(hi_x)) * factor);
    *lo |= tmm__to_half((y - tmm__from_half(hi_y)) * factor) << 16;
#endif
}

/* The scale of a line as the exponent of a float, by the bits of its largest magnitude: that is then
   in [2^14, 2^15), with 2^126 at most. A line of zeros, or one that is not finite, has scale 1. */
static __device__ __forceinline__ unsigned tmm__scale_exponent(unsigned most)
{
    unsigned exponent = 268 - (most >> 23);
    if (exponent > 253) exponent = 253;
    return most == 0 || most >= 0x7f800000u ? 127 : exponent;
}

/* Whether 8 elements of a line, from a multiple of 8 on, can be loaded by vectors of 16 bytes. */
static __device__ __forceinline__ bool tmm__vector_loads(const tmm__lines *from)
{
    return from->k_stride == 1 && (size_t)from->X % 16 == 0 && from->line_stride % 4 == 0 &&
           from->product_stride % 4 == 0;
}

/* 8 elements from x on, `stride` apart, of which `left` exist; zeros for the others. `vectors`: see
   tmm__vector_loads. */
static __device__ __forceinline__ void tmm__load8(float *x8, const float *x, long long stride,
                                                  int left, bool vectors)
{
    if (vectors && left >= 8) {
        float4 first = *(const float4 *)x, second = *(const float4 *)(x + 4);
        x8[0] = first.x, x8[1] = first.y, x8[2] = first.z, x8[3] = first.w;
        x8[4] = second.x, x8[5] = second.y, x8[6] = second.z, x8[7] = second.w;
    } else {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x8[i] = 0;
            tmm__load_if(&x8[i], x, 4, i < left);
            x += stride;
        }
    }
}

/* The same by the fewest instructions for addresses, for a loop that is bound by issue. */
static __device__ __forceinline__ void tmm__load_chunk(float *x8, const float *x, long long stride,
                                                       int left, bool vectors)
{
    if (vectors || left < 8) {
        tmm__load8(x8, x, stride, left, vectors);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float *one = x + (i & 1) * stride, *other;
        TMM__HIDE_POINTER(one);
        one += (i & 2) * stride;
        TMM__HIDE_POINTER(one);
        other = one + 4 * stride;
        x8[i] = *one, x8[4 + i] = *other;
    }
}

/* Whether an element of C is rejected: `p` is the product of the scales of its row and column, and
   [scale_min, scale_max] what its magnitude may be. */
static __device__ __forceinline__ bool tmm__is_rejected(float p, float scale_min, float scale_max)
{
    return !((fabsf(p) >= scale_min) & (fabsf(p) <= scale_max)); /* no branch */
}

/* Whether an element of C is doubtful: a line is wide, and `sum`, before scaling, is small. */
static __device__ __forceinline__ bool tmm__is_doubtful(float row_scale, float col_scale, float sum,
                                                        float doubt_below)
{
    return ((row_scale < 0) | (col_scale < 0)) & !(fabsf(sum) >= doubt_below);
}

/* The bits of doubtful elements, 16 of a row to a word. Byte t belongs to the thread with lane % 4
   = t in a fragment of C. Its bits 0 to 3 are columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9. A warp writes
   all of its words if one of its lines is wide, else none. The same block reads a word if its row
   is wide, or one of its 16 columns. */
static __device__ __forceinline__ unsigned *tmm__doubt_word(const tmm__float_job *job, int product,
                                                            int row, int col)
{
    return job->doubt + (product * job->M + row) * job->doubt_pitch + col / 16;
}

/* The bit of a column. */
static __device__ __forceinline__ int tmm__doubt_bit(int col)
{
    return col % 8 / 2 * 8 + col % 16 / 8 * 2 + col % 2;
}

/* Where the chunk of hi of a line lies, in bytes, k being a multiple of 8. That of lo is at ^
   64. */
static __device__ __forceinline__ size_t tmm__chunk_at(const tmm__fp16_operand *x, int line, int k)
{
    size_t block = (size_t)(k / 32) * x->line_blocks + line / 64;
    return block * TMM__BLOCK_BYTES + line % 64 * 128 + (((k / 8 % 4) ^ line % 8) * 16);
}

/* Whether a quarter has so few doubtful elements that threads compute one each. For K = 4096 that
   takes a block some 3 microseconds an element. A tile of 64 x 64 by FP32 takes 280, one of 128 x
   128 by BF16x6 220. */
static __device__ __forceinline__ bool tmm__is_sparse(const tmm__region *region, int quarter,
                                                      bool bf16x6)
{
    const unsigned *doubtful = region->doubtful;
    if (bf16x6) return doubtful[0] + doubtful[1] + doubtful[2] + doubtful[3] <= TMM__SPARSE_BF16X6;
    return doubtful[quarter] <= TMM__SPARSE_FP32;
}
#endif
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
/* src/tiledmm/kernels/tensor_float/convert.cuh. KERNEL CONVERT: an operand becomes FP16.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* KERNEL CONVERT. Makes hi and lo of op(A) and op(B). A cluster of `ranks` blocks, of 1024 threads
   at most, has 8 lines. The first groups_A clusters have those of A; blockIdx.y is the product.
   The blocks take turns along k, each as many k as its threads hold, and tell each other the largest
   magnitudes. Without wgmma `ranks` is 1. A warp has 8 lines x 32 k at a time:
       lane    0       8       16      24             of line lane % 8,
       k       0 - 7   8 - 15  16 - 23 24 - 31        + 32 for the next warp
   A block first finds the largest magnitude of each line, which gives its scale. Then it scales and
   converts. For K up to four times the cluster's threads the elements are in registers by then.
   Longer lines are read again, from L2 if that holds what all blocks read. Moves 8 bytes an element
   through memory, 12 if L2 is too small; 4 operations a byte or so: bound by memory.

   A line with an element that is not finite gets scale 0, and its hi and lo are never used. A wide
   line gets minus its scale: it has elements below least_element after scaling, and not zero. A
   line of zeros has scale 1. */
TMM_KERNEL void __launch_bounds__(1024)
    tmm__xgemm_convert(int K, float least_element, int groups_A, int ranks, const tmm__lines a,
                       const tmm__fp16_operand out_a, const tmm__lines b,
                       const tmm__fp16_operand out_b)
{
    enum { LINES = TMM__CONVERT_LINES, AHEAD = 4 }; /* AHEAD: loads of 8 elements under way */
    __shared__ unsigned top[LINES], small[LINES];
    const int depth = blockDim.x; /* k that all threads have at a time */
    if (!TMM__WGMMA) ranks = 1;
    int group = (int)blockIdx.x / ranks, rank = (int)blockIdx.x % ranks;
    bool is_A = group < groups_A;
    const tmm__lines from = is_A ? a : b;
    const tmm__fp16_operand to = is_A ? out_a : out_b;
    int r = threadIdx.x % LINES, k0 = threadIdx.x / LINES * 8;
    int line = (group - (is_A ? 0 : groups_A)) * LINES + r;
    int from_k = rank * AHEAD * depth, step = ranks * AHEAD * depth; /* of a block's turns */
    unsigned product = blockIdx.y;

    tmm__let_next_begin();
    tmm__wait_for_previous();
    if (product > 0 && from.product_stride == 0) return;
    if (threadIdx.x < LINES) top[threadIdx.x] = small[threadIdx.x] = 0;
    __syncthreads();

    const float *x = from.X + product * from.product_stride + line * from.line_stride;
    int here = line < from.lines ? K : 0; /* elements of this line */
    bool vectors = tmm__vector_loads(&from);
    float chunk[AHEAD][8];
    unsigned most = 0;
    for (int k = from_k; k < K; k += step) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            int at = k + k0 + i * depth;
            tmm__load8(chunk[i], x + at * from.k_stride, from.k_stride, here - at, vectors);
        }
#pragma unroll
        for (int i = 0; i < AHEAD * 8; i++) {
            unsigned size = tmm__float_bits(chunk[i / 8][i % 8]) & 0x7fffffffu;
            most = most > size ? most : size;
        }
    }
#pragma unroll
    for (int i = LINES; i < 32; i *= 2) {
        unsigned other = __shfl_xor_sync(0xffffffffu, most, i);
        most = most > other ? most : other;
    }
    if (threadIdx.x % 32 < LINES) atomicMax(&top[r], most);
    __syncthreads();

#if TMM__WGMMA
    if (ranks > 1) {
        tmm__cluster_arrive(true);
        tmm__cluster_wait();
        if (threadIdx.x < (unsigned)ranks * LINES) /* reads what others find, and may add its own */
            atomicMax(&top[r], tmm__load_word_cluster(&top[r], threadIdx.x / LINES));
        __syncthreads();
    }
#endif

    most = top[r];
    unsigned exponent = tmm__scale_exponent(most);
    float scale = tmm__bits_float(exponent << 23);
    unsigned char *blocks =
        to.blocks + (size_t)product * to.k_blocks * to.line_blocks * TMM__BLOCK_BYTES;
    int padded = 32 * to.k_blocks;
    unsigned least_bits = tmm__float_bits(least_element), least_size = 0xffffffffu;
    bool again = K > step;
    for (int k = from_k + k0; k < padded; k += step) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            int at = k + i * depth;
            if (again)
                tmm__load8(chunk[i], x + at * from.k_stride, from.k_stride, here - at, vectors);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            uint4 hi, lo;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                chunk[i][j] *= scale;
                /* Zero becomes the largest number there is. */
                unsigned size = (tmm__float_bits(chunk[i][j]) & 0x7fffffffu) - 1;
                least_size = least_size < size ? least_size : size;
            }
            tmm__fp16_pair(chunk[i][0], chunk[i][1], &hi.x, &lo.x);
            tmm__fp16_pair(chunk[i][2], chunk[i][3], &hi.y, &lo.y);
            tmm__fp16_pair(chunk[i][4], chunk[i][5], &hi.z, &lo.z);
            tmm__fp16_pair(chunk[i][6], chunk[i][7], &hi.w, &lo.w);
            if (k + i * depth < padded) {
                size_t chunk = tmm__chunk_at(&to, line, k + i * depth);
                *(uint4 *)(blocks + chunk) = hi;
                *(uint4 *)(blocks + (chunk ^ 64)) = lo;
            }
        }
    }
#if TMM__WGMMA
    if (ranks > 1) {
        if (least_size < least_bits - 1) tmm__store_word_cluster(&small[r], 0, 1);
        tmm__cluster_arrive(true);
        tmm__cluster_wait();
        if (rank > 0) return;
    }
#endif
    if (least_size < least_bits - 1) small[r] = 1; /* by any thread of the line */
    __syncthreads();
    if (threadIdx.x < LINES)
        to.scales[product * 64ll * to.line_blocks + line] =
            most < 0x7f800000u ? tmm__bits_float(small[r] << 31 | (254 - exponent) << 23) : 0.0f;
}
#endif
/* src/tiledmm/kernels/tensor_float/bf16x6.cuh. Doubtful elements of large tiles by six products of BF16
   terms.
   Uses: kernels/common/tensor_ptx.cuh, kernels/tensor_float/, once/.
   Used by: recheck.cuh, thin.cuh. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && TMM__BODIES && \
    !defined(TMM__FLOAT_ONCE)
/* A tile of 128 x 128 on tensor cores, from A and B again. BF16 has the exponents of float, so an
   element is the sum of three terms of 8 bits:
       x1 = x cut to 8 bits    x2 = x - x1 cut to 8 bits    x3 = x - x1 - x2
   An element of C is, over windows of 32 k,
       c    = sum a3 b1 + sum a1 b3 + sum a2 b2    the smallest products first
       c   += sum a2 b1 + sum a1 b2
       c   += sum a1 b1
       sum += c
   a2 b3, a3 b2 and a3 b3 are left out. bench/notes/tensor_float.md derives the bound, which needs
   no scales. Where some x3 is not exact (see tmm__bf16_triple), there is no result.

   A thread has four chunks of 8 k of a window at a time, two of A and two of B. Where an operand is
   contiguous along k, four lanes load a line. Else 32 lanes load one chunk each of as many lines.
   So neighbours in memory are loaded together. A stage of 64 KB holds A, then B: 128 lines of 128
   bytes (x1 | x2), then as many (x3 | nothing), chunks placed as by KERNEL CONVERT. There are two
   stages for wgmma, one for mma.sync:
       tensor cores  | window 0         | window 1         |      window 2 begins when window 1 is
       registers       terms of 1         terms of 2              complete and added
   A warp has 16 rows x 128 columns of C in either case, as in a fragment of wgmma.

   A window is 6.3 million operations, 1536 clocks of the tensor cores, and loads 32 KB: 192
   operations a byte. It takes some 2900 clocks. Converting and adding is 430 instructions for each
   of two warps a scheduler, which issue one in three clocks. So it is bound by latency; there are
   no registers for a third warp. */

/* Bytes: x1 | x2 or x3 of an operand, an operand, a stage. PITCH: elements of a row of sums. */
enum { TMM__BF16_THIRD = 128 * 128, TMM__BF16_OPERAND = 2 * TMM__BF16_THIRD };
enum { TMM__BF16_STAGE = 2 * TMM__BF16_OPERAND, TMM__BF16_PITCH = 136 };

/* Which terms of A and B are multiplied: a digit for each product, the first one on the right. */
enum { TMM__BF16_TERMS_A = 0x001102, TMM__BF16_TERMS_B = 0x010120 };

#if TMM__WGMMA
/* c = the products of a window, whose stage is at `address` in shared memory; enqueued. */
static __device__ __forceinline__ void tmm__bf16_multiply(float *c, unsigned address, int half)
{
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 12; i++) {
        int a = TMM__BF16_TERMS_A >> i / 2 * 4 & 3, b = TMM__BF16_TERMS_B >> i / 2 * 4 & 3;
        tmm__wgmma_bfloat(c,
                          tmm__descriptor(address + half * (64 * 128)) +
                              (a / 2 * TMM__BF16_THIRD + a % 2 * 64 + i % 2 * 32) / 16,
                          tmm__descriptor(address + TMM__BF16_OPERAND) +
                              (b / 2 * TMM__BF16_THIRD + b % 2 * 64 + i % 2 * 32) / 16,
                          i > 0);
    }
    TMM__WGMMA_COMMIT();
}
#else
/* total += the products of the window in `stage`. */
static __device__ __forceinline__ void tmm__bf16_multiply(float *total, const unsigned char *stage,
                                                          int thread)
{
    int lane = thread % 32, row_a = thread / 32 * 16 + lane % 16, chunk_a = lane / 16;
    int row_b = lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
    unsigned a[3][2][4], b[3][2][4];
#pragma unroll
    for (int i = 0; i < 6; i++) {
        int chunk = (i / 2 % 2 * 4 + i % 2 * 2 + chunk_a) ^ row_a % 8;
        tmm__load_matrices(a[i / 2][i % 2],
                           stage + i / 4 * TMM__BF16_THIRD + row_a * 128 + chunk * 16);
    }
#pragma unroll
    for (int j = 0; j < 8; j++) { /* 16 columns */
        float c[8];
#pragma unroll
        for (int i = 0; i < 8; i++) c[i] = 0;
#pragma unroll
        for (int i = 0; i < 6; i++) {
            int chunk = (i / 2 % 2 * 4 + i % 2 * 2 + chunk_b) ^ row_b % 8;
            tmm__load_matrices(b[i / 2][i % 2], stage + TMM__BF16_OPERAND +
                                                    i / 4 * TMM__BF16_THIRD +
                                                    (16 * j + row_b) * 128 + chunk * 16);
        }
#pragma unroll
        for (int i = 0; i < 12; i++) {
            const unsigned *from_a = a[TMM__BF16_TERMS_A >> i / 2 * 4 & 3][i % 2];
            const unsigned *from_b = b[TMM__BF16_TERMS_B >> i / 2 * 4 & 3][i % 2];
            tmm__mma_16(c, from_a, from_b, true);
            tmm__mma_16(c + 4, from_a, from_b + 2, true);
        }
#pragma unroll
        for (int i = 0; i < 8; i++) total[8 * j + i] += c[i];
    }
}
#endif

/* The sums of a thread go to the threads of recheck_tile that store them. */
static __device__ __forceinline__ void tmm__bf16_hand_over(unsigned char *stages, int thread,
                                                           bool named, const float *total,
                                                           float (*sum)[8])
{
    enum { PITCH = TMM__BF16_PITCH };
    float *tile = (float *)stages;
    float *to = tile + (thread / 32 * 16 + thread % 32 / 4) * PITCH + thread % 4 * 2;
    const float *own = tile + thread / 16 * 4 * PITCH + thread % 16 * 4;
#pragma unroll
    for (int i = 0; i < 32; i++)
        *(float2 *)(to + i % 2 * 8 * PITCH + i / 2 * 8) =
            make_float2(total[2 * i], total[2 * i + 1]);
    tmm__sync_256(named);
#pragma unroll
    for (int i = 0; i < 16; i++) {
        float4 v = *(const float4 *)(own + (i / 8 * 64 + i / 2 % 4) * PITCH + i % 2 * 64);
        float *row = sum[i / 2] + i % 2 * 4;
        row[0] = v.x, row[1] = v.y, row[2] = v.z, row[3] = v.w;
    }
}

/* The sums of the region, described above. False: some x3 is not exact. */
static __device__ __forceinline__ bool tmm__recheck_bf16x6(const tmm__float_job *job,
                                                           tmm__region *region,
                                                           unsigned char *stages, int thread,
                                                           bool named, float (*sum)[8])
{
    const int K = (int)job->K, half = thread / 128;
    /* Of A and B: this thread's first chunk in memory, and the distance of the second; elements
       that exist from each chunk on; the chunks' places in a stage. */
    const float *x[2];
    const long long stride[2] = {job->from_a.k_stride, job->from_b.k_stride};
    long long step[2];
    int left[2][2], place[2][2];
    bool vectors[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const tmm__lines *from = i == 0 ? &job->from_a : &job->from_b;
        bool along_k = stride[i] == 1;
        /* Lines that are 4 apart take turns: stored at a time, they lie in different banks. */
        int first = along_k ? thread / 32 * 8 + thread / 4 % 2 * 4 + thread / 8 % 4 : thread % 128;
        int chunk = along_k ? thread % 4 : 2 * half, at = (i == 0 ? region->row : region->col);
        step[i] = along_k ? 64 * from->line_stride : 8 * stride[i];
        x[i] = from->X + region->product * from->product_stride + (at + first) * from->line_stride +
               8 * chunk * stride[i];
        vectors[i] = tmm__vector_loads(from);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            bool exists =
                at + first + (along_k ? 64 * j : 0) < (i == 0 ? region->row_end : region->col_end);
            left[i][j] = exists ? K - 8 * chunk - (along_k ? 0 : 8 * j) : 0;
            place[i][j] = i * TMM__BF16_OPERAND + first * 128 + (chunk ^ first % 8) * 16;
        }
        place[i][1] = along_k ? place[i][0] + 64 * 128 : place[i][0] ^ 16;
    }
    float total[64], next[32];
    unsigned inexact = 0;
#if TMM__WGMMA
    const unsigned address = (unsigned)__cvta_generic_to_shared(stages);
    float c[64];
#pragma unroll
    for (int i = 0; i < 64; i++) c[i] = 0;
#endif
#pragma unroll
    for (int i = 0; i < 64; i++) total[i] = 0;
#pragma unroll
    for (int i = 0; i < 32; i++) next[i] = 0;
#pragma unroll 1
    for (int k = -32;; k += 32) { /* the first time only to load, the last one only to add */
        const int at = TMM__WGMMA ? (k & 32) * (TMM__BF16_STAGE / 32) : 0;
        if (!TMM__WGMMA) tmm__sync_256(named); /* all have read the stage */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned words[4][3];
#pragma unroll
            for (int j = 0; j < 4; j++)
                inexact |= tmm__bf16_triple(next[8 * i + 2 * j], next[8 * i + 2 * j + 1], words[j]);
            unsigned char *chunk = stages + at + place[i / 2][i % 2];
            *(uint4 *)chunk = make_uint4(words[0][0], words[1][0], words[2][0], words[3][0]);
            *(uint4 *)(chunk + TMM__BF16_THIRD) =
                make_uint4(words[0][2], words[1][2], words[2][2], words[3][2]);
            chunk = stages + at + (place[i / 2][i % 2] ^ 64);
            *(uint4 *)chunk = make_uint4(words[0][1], words[1][1], words[2][1], words[3][1]);
            tmm__load_chunk(next + 8 * i, x[i / 2] + i % 2 * step[i / 2], stride[i / 2],
                            left[i / 2][i % 2], vectors[i / 2]);
            left[i / 2][i % 2] -= 32;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) x[i] += 32 * stride[i];
#if TMM__WGMMA
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* wgmma sees what is stored */
        TMM__WGMMA_WAIT(0);
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("" : "+f"(c[i])::"memory");
#pragma unroll
        for (int i = 0; i < 64; i++) total[i] += c[i];
        if (k >= K) break;
        if (k < 0) continue;
        tmm__sync_256(named);
        tmm__bf16_multiply(c, address + at, half);
#else
        tmm__sync_256(named);
        if (k >= K) break;
        if (k < 0) continue;
        tmm__bf16_multiply(total, stages, thread);
#endif
    }
    if (inexact & 0xffff) region->inexact = 1;
    tmm__sync_256(named);
    if (region->inexact) return false;
    tmm__bf16_hand_over(stages, thread, named, total, sum);
    return true;
}
#endif
/* src/tiledmm/kernels/tensor_float/recheck.cuh. Elements of C for which FP16 does not suffice.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: kernels/tensor_float/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
#if TMM__BODIES
/* 256 threads copy 64 x `vectors` lines x 16 k to shared memory, as [k][line], with zeros beyond
   the `lines` and `depth` that are left. Element by element, which transposes. A thread begins with
   line *line and k *k, to which `at` points. */
static __device__ __forceinline__ void tmm__xrecheck_first(const tmm__lines *from, int vectors,
                                                           int thread, int *line, int *k)
{
    bool along_k = from->k_stride == 1;
    *line = along_k ? thread / 16 : thread % (64 * vectors);
    *k = along_k ? thread % 16 : thread / (64 * vectors);
}

static __device__ __forceinline__ void tmm__xrecheck_copy(float *to, const tmm__lines *from,
                                                          const float *at, int vectors, int lines,
                                                          int depth, int thread)
{
    int deeper = from->k_stride == 1 ? 0 : 4 / vectors, further = from->k_stride == 1 ? 16 : 0;
    long long stride = deeper * from->k_stride + further * from->line_stride;
    int line, k;
    tmm__xrecheck_first(from, vectors, thread, &line, &k);
    to += k * TMM__RECHECK_PITCH + line;
#pragma unroll 4
    for (int i = 0; i < 4 * vectors; i++) {
        bool exists = line < lines && k < depth;
        tmm__copy_async(to, exists ? at : from->X, 4, exists);
        at += stride, k += deeper, line += further;
        to += deeper * TMM__RECHECK_PITCH + further;
    }
}

/* One element of C by FP32 multiply-adds of one thread, with 24 loads of A and of B under way. */
static __device__ __forceinline__ void tmm__xrecheck_element(const tmm__float_job *job, int product,
                                                             int row, int col)
{
    const tmm__lines from_a = job->from_a, from_b = job->from_b;
    const float *a = from_a.X + product * from_a.product_stride + row * from_a.line_stride;
    const float *b = from_b.X + product * from_b.product_stride + col * from_b.line_stride;
    const int K = (int)job->K;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < K; k += 24) {
        float x[24], y[24];
#pragma unroll
        for (int i = 0; i < 24; i++) {
            x[i] = y[i] = 0;
            tmm__load_if(&x[i], a, 4, k + i < K);
            tmm__load_if(&y[i], b, 4, k + i < K);
            a += from_a.k_stride, b += from_b.k_stride;
        }
#pragma unroll
        for (int i = 0; i < 24; i++) sum += x[i] * y[i];
    }
    tmm__xstore_masked(job->C + product * job->batchC + row * job->ldc + col, row, col, 1, 1,
                       job->alpha, job->beta, &sum);
}

/* Finds tile `n` of a block, `edge` x `edge`; false: there is none. All threads then have the
   region in shared memory, with `doubtful` 0. `named`: there are other threads in the block. Of
   own tiles in `parts` it has stored those with a bit in `finished`: of others it finds nothing. */
static __device__ __forceinline__ bool tmm__xrecheck_find(const tmm__float_job *job,
                                                          tmm__region *to, long long n, int thread,
                                                          bool named, bool own, int edge,
                                                          int tile_m, int tile_n, int parts,
                                                          unsigned finished)
{
    const int across_own = (tile_n + edge - 1) / edge; /* of these, in a tile of the kernel */
    const int all_own = (tile_m + edge - 1) / edge * across_own;
    int M = (int)job->M, N = (int)job->N, row, col, row128, col128, row_end = M, col_end = N;
    int down = (M + edge - 1) / edge, across = (N + edge - 1) / edge;
    long long tile = blockIdx.x + n * gridDim.x;
    if (own) {
        down = job->s.tiles_down, across = job->s.tiles_across;
        tile = blockIdx.x + n / all_own * gridDim.x;
    }
    if (tile >= (long long)down * across * job->batch * (own ? parts : 1)) return false;
    int product = (int)(tile / (down * across)), rest = (int)(tile % (down * across));
    if (own) {
        int part = (int)(n % all_own), r, c;
        tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, rest, &r, &c);
        r *= tile_m, c *= tile_n;
        if (parts > 1) {
            if (!(finished >> n / all_own & 1)) row_end = 0;
            product = 0;
        }
        row = part / across_own * edge, col = part % across_own * edge;
        row128 = r + row / 128 * 128, col128 = c + col / 128 * 128;
        row += r, col += c;
        if (row_end - r > tile_m) row_end = r + tile_m;
        if (col_end - c > tile_n) col_end = c + tile_n;
    } else {
        row = rest / across * edge, col = rest % across * edge;
        row128 = row / 128 * 128, col128 = col / 128 * 128;
    }

    const int of_product = product;
    int line = thread < 128 ? row128 + thread : col128 + thread - 128;
    const tmm__fp16_operand *x = thread < 128 ? &job->a : &job->b;
    if ((thread < 128 ? job->from_a : job->from_b).product_stride == 0) product = 0;
    float scale = 1;
    unsigned lowest = 0x7f800000u, highest = 0;
    if (line < (thread < 128 ? row_end : col_end)) {
        scale = x->scales[product * 64ll * x->line_blocks + line];
        lowest = highest = tmm__float_bits(fabsf(scale));
    }
    unsigned wide = __ballot_sync(0xffffffffu, scale < 0);
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        unsigned low = __shfl_xor_sync(0xffffffffu, lowest, i);
        unsigned high = __shfl_xor_sync(0xffffffffu, highest, i);
        lowest = lowest < low ? lowest : low;
        highest = highest > high ? highest : high;
    }
    if (thread % 32 == 0)
        to->lowest[thread / 32] = lowest, to->highest[thread / 32] = highest,
                            to->wide[thread / 32] = wide;
    if (thread == 0) {
        to->own = own, to->next = n + 1, to->product = of_product, to->row = row, to->col = col;
        to->row128 = row128, to->col128 = col128, to->row_end = row_end, to->col_end = col_end;
    }
    if (thread < 4) to->doubtful[thread] = 0, to->inexact = 0;
    tmm__sync_256(named);
    return true;
}

/* Counts doubtful elements. A thread has half of a row of the region: the bits of its four times 16
   elements go to words[4]. Returns how many; all threads then have the region's `doubtful`. */
static __device__ __forceinline__ int tmm__xrecheck_count(const tmm__float_job *job,
                                                          tmm__region *in, int thread, bool named,
                                                          unsigned *words)
{
    int half = thread / 128, row = in->row128 + thread % 128, col = in->col128 + half * 64,
        count = 0;
    bool row_wide = in->wide[thread % 128 / 32] >> thread % 32 & 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned cols_wide = in->wide[4 + half * 2 + i / 2] >> i % 2 * 16 & 0xffff;
        words[i] = 0;
        if (row < in->row_end && col + 16 * i < in->col_end && (row_wide || cols_wide))
            words[i] = *tmm__doubt_word(job, in->product, row, col + 16 * i);
        count += __popc(words[i]);
    }
    if (count > 0) atomicAdd(&in->doubtful[thread % 128 / 64 * 2 + half], (unsigned)count);
    tmm__sync_256(named);
    return count;
}

/* Appends a thread's doubtful elements to a list in shared memory, if its quarter is sparse. The
   list is a count, and from word 4 on product, row and column of each. */
static __device__ __forceinline__ void tmm__xrecheck_list(const tmm__region *region, int thread,
                                                          bool bf16x6, int count,
                                                          const unsigned *words, int *list)
{
    int quarter = thread % 128 / 64 * 2 + thread / 128;
    if (count == 0 || !tmm__is_sparse(region, quarter, bf16x6)) return;
    int *to = list + 4 + 3 * atomicAdd(list, count);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll 1
        for (int j = 0; j < 16 && words[i]; j++)
            if (words[i] >> tmm__doubt_bit(j) & 1) {
                *to++ = region->product, *to++ = region->row128 + thread % 128;
                *to++ = region->col128 + thread / 128 * 64 + 16 * i + j;
            }
}

/* Computes the listed elements, one by each thread: when there are 256, or at the end, `last`. */
static __device__ __forceinline__ void tmm__xrecheck_flush(const tmm__float_job *job, int thread,
                                                           bool named, bool last, int *list)
{
    int count = *list, *entries = list + 4;
    tmm__sync_256(named);
    if (count < 256 && !last) return;
    for (int i = thread; i < count; i += 256)
        tmm__xrecheck_element(job, entries[3 * i], entries[3 * i + 1], entries[3 * i + 2]);
    if (thread == 0) *list = 0;
    tmm__sync_256(named);
}

/* Adds up `depth` k of A and B in shared memory, whose elements for this thread begin at a and
   b. */
static __device__ __forceinline__ void tmm__xrecheck_add(const float *a, const float *b, int depth,
                                                         const int vectors, float (*sum)[8])
{
#pragma unroll 2
    for (int k = 0; k < depth; k++) {
        float xs[8], ys[8];
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            float4 x = *(const float4 *)(a + k * TMM__RECHECK_PITCH + 64 * i);
            float4 y = *(const float4 *)(b + k * TMM__RECHECK_PITCH + 64 * i);
            xs[4 * i] = x.x, xs[4 * i + 1] = x.y, xs[4 * i + 2] = x.z, xs[4 * i + 3] = x.w;
            ys[4 * i] = y.x, ys[4 * i + 1] = y.y, ys[4 * i + 2] = y.z, ys[4 * i + 3] = y.w;
        }
#pragma unroll
        for (int i = 0; i < 4 * vectors; i++)
#pragma unroll
            for (int j = 0; j < 4 * vectors; j++) sum[i][j] += xs[i] * ys[j];
    }
}

/* Adds up a tile of 64 or 128 squared (`vectors` is 1 or 2) by FP32 multiply-adds, in ascending k
   as KERNEL GLOBAL. A thread has 4 x 4 or 8 x 8 elements of it:

               columns      4 (t % 16) ..           64 + 4 (t % 16) ..      vectors = 2, thread t
       rows               +-----------------------+-----------------------+
       4 (t / 16) ..      | sum[0..3][0..3]       | sum[0..3][4..7]       |  64
                          +-----------------------+-----------------------+
       64 + 4 (t / 16) .. | sum[4..7][0..3]       | sum[4..7][4..7]       |  64
                          +-----------------------+-----------------------+
   For one k of 128 x 128 a thread does 64 multiply-adds, 128 clocks of a multiprocessor. Its four
   loads of 16 bytes, of which many threads share each, take 48. Copies of the next 16 k are under
   way. */
static __device__ __forceinline__ void tmm__xrecheck_fp32(const tmm__float_job *job,
                                                          const tmm__region *region, float *memory,
                                                          int thread, bool named, int vectors,
                                                          float (*sum)[8])
{
    enum { STEP = TMM__RECHECK_STEP };
    const tmm__lines from_a = job->from_a, from_b = job->from_b;
    const int K = (int)job->K;
    int row0 = region->row, col0 = region->col, product = region->product, line, k_from;
    int row = thread / 16 * 4, col = thread % 16 * 4;
    int rows = region->row_end - row0, cols = region->col_end - col0;
    float *stage = memory; /* A, then B; the other stage is that of the next 16 k */
    tmm__xrecheck_first(&from_a, vectors, thread, &line, &k_from);
    const float *next_a = from_a.X + product * from_a.product_stride +
                          (row0 + line) * from_a.line_stride + k_from * from_a.k_stride;
    tmm__xrecheck_first(&from_b, vectors, thread, &line, &k_from);
    const float *next_b = from_b.X + product * from_b.product_stride +
                          (col0 + line) * from_b.line_stride + k_from * from_b.k_stride;
#pragma unroll 1
    for (int k0 = -16; k0 < K; k0 += 16) { /* the first time only to copy */
        const float *tile_a = stage + row, *tile_b = stage + STEP + col;
        TMM__COPY_WAIT(0);
        tmm__sync_256(named); /* all is here; and all have done with the other one */
        stage = stage == memory ? memory + 2 * STEP : memory;
        int left = K - k0;
        if (left > 16) {
            tmm__xrecheck_copy(stage, &from_a, next_a, vectors, rows, left - 16, thread);
            tmm__xrecheck_copy(stage + STEP, &from_b, next_b, vectors, cols, left - 16, thread);
        }
        tmm__copy_commit();
        next_a += 16 * from_a.k_stride;
        next_b += 16 * from_b.k_stride;
        int depth = k0 < 0 ? 0 : left < 16 ? left : 16;
        /* A call for each: in one loop for both, the compiler merges their additions, and no
           multiply-adds are left. */
        if (vectors == 2)
            tmm__xrecheck_add(tile_a, tile_b, depth, 2, sum);
        else
            tmm__xrecheck_add(tile_a, tile_b, depth, 1, sum);
    }
}

/* Computes a tile again, and stores its elements that are rejected, or doubtful and not sparse. A
   thread has the elements of recheck_fp32. */
static __device__ __forceinline__ void tmm__xrecheck_tile(const tmm__float_job *job,
                                                          tmm__region *region, float *memory,
                                                          int thread, bool named, int vectors)
{
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    int row = thread / 16 * 4, col = thread % 16 * 4;
    float sum[8][8];
    bool done = false;
#pragma unroll
    for (int i = 0; i < 64; i++) sum[i / 8][i % 8] = 0;
    if (vectors == 2 && region->own && job->bf16x6)
        done = tmm__recheck_bf16x6(job, region, (unsigned char *)memory, thread, named, sum);
    if (!done) tmm__xrecheck_fp32(job, region, memory, thread, named, vectors, sum);
    int row0 = region->row, col0 = region->col, product = region->product;
    const float *scale_a = job->a.scales, *scale_b = job->b.scales;
    if (job->from_a.product_stride) scale_a += product * 64ll * job->a.line_blocks;
    if (job->from_b.product_stride) scale_b += product * 64ll * job->b.line_blocks;
#pragma unroll 1
    for (int i = 0; i < 4 * vectors; i++) {
        /* Each row is moved to the place of the first, so that there is code for one row. */
        int r = row0 + row + i / 4 * 64 + i % 4;
        if (r >= region->row_end) break;
        float row_scale = scale_a[r];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            if (j == vectors) break;
            int c = col0 + col + 64 * j, at = c - region->col128;
            unsigned mask = tmm__column_mask(c, 4, 0, region->col_end);
            if (region->own) {
                int quarter = (r - region->row128) / 64 * 2 + at / 64;
                bool cols_wide = region->wide[4 + at / 32] >> at % 32 / 16 * 16 & 0xffff;
                if (tmm__is_sparse(region, quarter, vectors == 2 && job->bf16x6)) mask = 0;
                if (mask && (row_scale < 0 || cols_wide)) {
                    unsigned of_16 = *tmm__doubt_word(job, product, r, c);
                    of_16 >>= tmm__doubt_bit(c);
                    mask &= (of_16 & 3) | (of_16 >> 6 & 12);
                } else {
                    mask = 0;
                }
            } else {
#pragma unroll
                for (int m = 0; m < 4; m++)
                    if ((mask >> m & 1) &&
                        !tmm__is_rejected(row_scale * scale_b[c + m], scale_min, scale_max))
                        mask &= ~(1u << m);
            }
            float *to = job->C + product * job->batchC + r * job->ldc + c;
            tmm__xstore_masked(to, r, c, 4, mask, job->alpha, job->beta, &sum[0][4 * j]);
        }
#pragma unroll
        for (int j = 0; j < 56; j++) sum[j / 8][j % 8] = sum[j / 8 + 1][j % 8];
    }
}

/* Computes rejected and doubtful elements again, if there are such, by 256 threads of a block.
   `memory`: TMM__RECHECK_BYTES of shared memory, aligned to 16. Where tiles are large, for BF16x6:
   65 KB, for wgmma 129, aligned to 1024.

   Where three or four quarters of a region have rejected elements, a tile of 128 x 128 computes
   them, else tiles of 64 x 64. A large tile takes less than twice as long as a small one
   (measured). Small tiles spread single lines over more multiprocessors. Doubtful elements of large
   tiles go by BF16x6, if allowed; else as rejected ones. Where the kernel's own tiles are small, C
   is small: then there is no code for large ones. */
static __device__ __forceinline__ void tmm__xrecheck(const tmm__float_job *job, float *memory,
                                                     int self, bool named, bool rejected,
                                                     bool doubtful, const bool large_tiles,
                                                     int tile_m, int tile_n, int parts,
                                                     unsigned finished)
{
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    tmm__region *region = (tmm__region *)memory;
    memory += TMM__REGION_BYTES / 4;
    enum { REJECTED, REJECTED_SMALL, SPARSE, DOUBTFUL, DOUBTFUL_SMALL, END };
    const bool all_small = !large_tiles, bf16x6 = large_tiles && job->bf16x6;
    long long n = 0;
    int pass = !rejected ? SPARSE : all_small ? REJECTED_SMALL : REJECTED;
    if (self == 0)
        region->end = doubtful ? END : SPARSE, *(int *)memory = 0; /* elements of the list */
#pragma unroll 1
    for (;;) {
        int thread = self;
        TMM__HIDE(thread); /* nothing of it stays in registers across the loop */
        bool own = pass >= SPARSE, small = pass == REJECTED_SMALL || pass == DOUBTFUL_SMALL;
        if (thread == 0) region->pass = pass;
        bool more = tmm__xrecheck_find(job, region, n, thread, named, own, small ? 64 : 128, tile_m,
                                       tile_n, parts, finished);
        unsigned quarters = 0, words[4]; /* quarters: that need a tile */
        int count = own && more ? tmm__xrecheck_count(job, region, thread, named, words) : 0;
        if (pass == SPARSE) {
            tmm__xrecheck_list(region, thread, bf16x6, count, words, (int *)memory);
            tmm__sync_256(named);
            tmm__xrecheck_flush(job, thread, named, !more, (int *)memory);
        }
        if (!more) {
            pass += all_small && pass == SPARSE ? 2 : 1, n = 0;
            if (thread == 0) *(int *)memory = 0;
            tmm__sync_256(named);
            if (pass >= region->end) break;
            continue;
        }
        /* The product of two scales is smallest where both are smallest, largest where both are
           largest. Two warps had the scales of 64 lines. */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned *low = region->lowest, *high = region->highest;
            int r = i / 2 * 2, c = 4 + i % 2 * 2;
            unsigned low_a = low[r] < low[r + 1] ? low[r] : low[r + 1];
            unsigned low_b = low[c] < low[c + 1] ? low[c] : low[c + 1];
            unsigned high_a = high[r] > high[r + 1] ? high[r] : high[r + 1];
            unsigned high_b = high[c] > high[c + 1] ? high[c] : high[c + 1];
            float lowest = tmm__bits_float(low_a) * tmm__bits_float(low_b);
            float highest = tmm__bits_float(high_a) * tmm__bits_float(high_b);
            bool need = tmm__is_rejected(lowest, scale_min, scale_max) ||
                        tmm__is_rejected(highest, scale_min, scale_max);
            if (region->row128 + 32 * r >= region->row_end) need = false;
            if (region->col128 + 32 * (c - 4) >= region->col_end) need = false;
            if (own) need = region->doubtful[i] > 0 && !tmm__is_sparse(region, i, bf16x6);
            if (need) quarters |= 1u << i;
        }
        int quarter = (region->row - region->row128) / 64 * 2 + (region->col - region->col128) / 64;
        bool large = !all_small && __popc(quarters) >= (own && bf16x6 ? 1 : 3);
        bool here = small ? !large && (quarters >> quarter & 1) : large && pass != SPARSE;
        tmm__sync_256(named); /* before anything is written again */
        if (here)
            tmm__xrecheck_tile(job, region, memory, thread, named, all_small || small ? 1 : 2);
        n = region->next, pass = region->pass; /* did not stay in registers */
        tmm__sync_256(named);
    }
}
#endif
#endif
/* src/tiledmm/kernels/tensor_float/portable.cuh. Floats as FP16 for any device and for a CPU.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* KERNEL TENSOR FLOAT for devices before sm_80, and for a CPU: the same FP16, windows and sums, but
   their products by FP32 multiply-adds. 256 threads, tile 64 x 64, 4 x 4 elements a thread, 32 k at
   a time in shared memory. For each k a thread does 48 multiply-adds and 8 loads of 8 bytes: three
   times the work of REGISTER. It is there for right results everywhere. */
#ifndef TMM__FLOAT_ONCE
enum { TMM__PORTABLE_BYTES = 2 * 32 * 68 * 8 };
#endif
static_assert((int)TMM__RECHECK_BYTES <= TMM__PORTABLE_BYTES, "the recheck has room");
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_float_portable(const tmm__float_job job)
{
#if TMM__BODIES && !TMM__WGMMA
    const tmm__fp16_operand a = job.a, b = job.b;
    const tmm__lines from_a = job.from_a, from_b = job.from_b;
    const long long M = job.M, N = job.N, ldc = job.ldc;
    const float scale_min = job.scale_min, scale_max = job.scale_max, alpha = job.alpha,
                beta = job.beta;
    const tmm__schedule s = job.s;
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    float2(*pairs_a)[68] = (float2(*)[68])tmm__memory; /* [k][line]: hi and lo */
    float2(*pairs_b)[68] = pairs_a + 32;
    __shared__ int doubtful; /* whether there are such elements */
    int thread = threadIdx.x, row = thread / 16 * 4, col = thread % 16 * 4;
    if (thread == 0) doubtful = 0;
#pragma unroll 1
    for (long long tile = blockIdx.x; tile < (long long)s.tiles_down * s.tiles_across * job.batch;
         tile += gridDim.x) {
        int tiles = s.tiles_down * s.tiles_across, down, across;
        long long product = tile / tiles;
        tmm__xfind_tile(&s, TMM__FLOAT_BAND, (int)(tile % tiles), &down, &across);
        long long row0 = down * 64ll, col0 = across * 64ll;
        long long product_a = from_a.product_stride ? product : 0;
        long long product_b = from_b.product_stride ? product : 0;
        const unsigned char *blocks_a =
            a.blocks + product_a * a.k_blocks * a.line_blocks * TMM__BLOCK_BYTES;
        const unsigned char *blocks_b =
            b.blocks + product_b * b.k_blocks * b.line_blocks * TMM__BLOCK_BYTES;
        const float *scale_a = a.scales + product_a * 64 * a.line_blocks + row0;
        const float *scale_b = b.scales + product_b * 64 * b.line_blocks + col0;
        float sum[4][4], small[4][4], large[4][4];
        for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = 0;
        for (int block = 0; block < a.k_blocks; block++) {
            __syncthreads();
            for (int i = 0; i < 2; i++) { /* 4 k of one line of each: a thread has 2 such */
                int line = thread % 64, k = (thread / 64 * 2 + i) * 4;
                size_t at_a = tmm__chunk_at(&a, (int)row0 + line, 32 * block + k);
                size_t at_b = tmm__chunk_at(&b, (int)col0 + line, 32 * block + k);
                for (int j = 0; j < 4; j++) {
                    int of = (k % 8 + j) * 2;
                    pairs_a[k + j][line].x = tmm__load_half(blocks_a + at_a + of);
                    pairs_a[k + j][line].y = tmm__load_half(blocks_a + (at_a ^ 64) + of);
                    pairs_b[k + j][line].x = tmm__load_half(blocks_b + at_b + of);
                    pairs_b[k + j][line].y = tmm__load_half(blocks_b + (at_b ^ 64) + of);
                }
            }
            __syncthreads();
            if (block % 2 == 0)
                for (int i = 0; i < 16; i++) small[i / 4][i % 4] = large[i / 4][i % 4] = 0;
            for (int k = 0; k < 32; k++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++) {
                        float2 x = pairs_a[k][row + i], y = pairs_b[k][col + j];
                        small[i][j] += x.y * y.x;
                        small[i][j] += x.x * y.y;
                        large[i][j] += x.x * y.x;
                    }
            if (block % 2 == 1)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++)
                        sum[i][j] += small[i][j] * (1.0f / (1 << TMM__LO_SHIFT)) + large[i][j];
        }
        for (int i = 0; i < 4; i++) {
            long long r = row0 + row + i; /* there are scales of whole blocks of 64 */
            unsigned mask = r < M ? tmm__column_mask(col0 + col, 4, 0, N) : 0, doubt = 0;
            bool wide = scale_a[row + i] < 0;
            for (int j = 0; j < 4; j++) {
                float p = scale_a[row + i] * scale_b[col + j];
                wide |= scale_b[col + j] < 0;
                if (tmm__is_rejected(p, scale_min, scale_max))
                    mask &= ~(1u << j);
                else if (tmm__is_doubtful(scale_a[row + i], scale_b[col + j], sum[i][j],
                                          job.doubt_below))
                    doubt |= mask & 1u << j;
                sum[i][j] *= fabsf(p);
            }
            if (__any_sync(0xffffffffu, wide)) {
                unsigned bits = ((doubt & 3) | (doubt & 12) << 6) << tmm__doubt_bit(col);
                bits |= __shfl_xor_sync(0xffffffffu, bits, 1);
                bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
                if (thread % 4 == 0 && r < M && col0 + col < N)
                    *tmm__doubt_word(&job, (int)product, (int)r, (int)col0 + col) = bits;
                if (bits) doubtful = 1;
            }
            mask &= ~doubt;
            if (mask) {
                float *to = job.C + product * job.batchC + r * ldc + col0 + col;
                tmm__xstore4(to, r, col0 + col, false, mask, alpha,
                             tmm__xload4(to, false, mask, beta).v, sum[i]);
            }
        }
    }
    __syncthreads();
    tmm__xrecheck(&job, (float *)tmm__memory, thread, false, true, doubtful, false, 64, 64, 1, 0);
#else
    (void)job;
#endif
}
#endif
/* src/tiledmm/kernels/tensor_float/wgmma.cuh. Floats as FP16 by wgmma, for sm_90a: instances, and the sums of
   a tile.
   Uses: kernels/common/, ptx.cuh, types.cuh, once/.
   Used by: kernels/tensor_float/, type/instances.h. */
/* The instances: pass, name, 64 rows of a tile for each warpgroup, columns, stages of 32 k, and
   among how many warpgroups the k of a tile are distributed. Each takes 203 to 219 KB of shared
   memory. */
#ifndef TMM__WGMMA_LIST
#define TMM__WGMMA_LIST(_)      \
    _(1, 256x128, 2, 128, 4, 1) \
    _(2, 128x192, 1, 192, 5, 1) \
    _(3, 128x64, 1, 64, 8, 1)   \
    _(4, 64x64, 1, 64, 12, 2)
/* The kernels: pass, name, the two instances in each. One kernel for two is less to compile. One
   for all four would be slower: in small products code takes longer to arrive than to run. */
#define TMM__WGMMA_KERNEL_LIST(_) \
    _(2, large, 256x128, 128x192) \
    _(4, small, 128x64, 64x64)

#define TMM__WGMMA_DOWN     (TMM__WGMMA_LIST(TMM__VALUE_1) 0)
#define TMM__WGMMA_COLS     (TMM__WGMMA_LIST(TMM__VALUE_2) 0)
#define TMM__WGMMA_STAGES   (TMM__WGMMA_LIST(TMM__VALUE_3) 0)
#define TMM__WGMMA_K_GROUPS (TMM__WGMMA_LIST(TMM__VALUE_4) 0)
#define TMM__WGMMA_ROWS     (128 / TMM__WGMMA_K_GROUPS * TMM__WGMMA_DOWN)
#define TMM__WGMMA_SUMS     (TMM__WGMMA_COLS / 2) /* of a thread, in 64 rows */
/* Columns that a warpgroup stores, and pairs of neighbours in a row that a thread does. */
#define TMM__WGMMA_STORED  (TMM__WGMMA_COLS / TMM__WGMMA_K_GROUPS)
#define TMM__WGMMA_PAIRS   (TMM__WGMMA_STORED / 8)
#define TMM__WGMMA_THROUGH (TMM__WGMMA_STORED < 64 ? TMM__WGMMA_STORED : 64) /* see store_rows */
/* Whether all columns go at once, not one half after the other; columns of a wgmma. */
#define TMM__WGMMA_AT_ONCE (TMM__WGMMA_DOWN * TMM__WGMMA_COLS <= 64)
#define TMM__WGMMA_WIDTH   (TMM__WGMMA_AT_ONCE ? TMM__WGMMA_COLS : TMM__WGMMA_COLS / 2)
#define TMM__WGMMA_A_BYTES (TMM__WGMMA_ROWS / 64 * TMM__BLOCK_BYTES) /* of a stage */
#define TMM__WGMMA_B_BYTES (TMM__WGMMA_COLS / 64 * TMM__BLOCK_BYTES)
#define TMM__WGMMA_STAGE   (TMM__WGMMA_A_BYTES + TMM__WGMMA_B_BYTES)

/* TMM__WGMMA_1(name), TMM__WGMMA_2(name): a name that ends with the first or second instance of
   this pass's kernel. */
#define TMM__WGMMA_FIRST(pass, name, first, second)  TMM__NAME_IN_PASS(pass, first, second)
#define TMM__WGMMA_SECOND(pass, name, first, second) TMM__NAME_IN_PASS(pass, second, first)
#define TMM__WGMMA_1(name)                           TMM__JOIN(name, TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_FIRST))
#define TMM__WGMMA_2(name)                           TMM__JOIN(name, TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_SECOND))

/* Functions of this pass's instance. */

/* TMM__WGMMA_256x128 and so on, the first ones of all instances of KERNEL TENSOR FLOAT. */
#define TMM__ROW(pass, name, ...) TMM__WGMMA_##name,
enum { TMM__WGMMA_LIST(TMM__ROW) TMM__WGMMA_INSTANCES };
#undef TMM__ROW
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* A ring of stages, as a thread goes through it: addresses of its memory and barriers, the parity
   of the phase that is next, and its stage; the thread's lane. */
typedef struct tmm__xwgmma_ring {
    unsigned stages, fulls, empties, parity;
    int stage, lane;
} tmm__xwgmma_ring;

/* The tile of C of a thread that multiplies: the product, and the place of its first sum. */
typedef struct tmm__xwgmma_place {
    int product, row, col;
} tmm__xwgmma_place;

/* The place in C of a thread's first sum, and the scales of all of its columns and rows. Tiles are
   tile_m x tile_n; a warpgroup stores 64 `downs` x `cols` of one from (row, col) on. */
static __device__ __forceinline__ void tmm__xwgmma_scales(const tmm__float_job *job, int tile,
                                                          int tile_m, int tile_n, int row, int col,
                                                          int downs, int cols, int thread,
                                                          int *product, int *row0, int *col0,
                                                          float *col_scale, float *row_scale)
{
    int tiles = job->s.tiles_down * job->s.tiles_across, down, across, lane = thread % 32;
    *product = tile / tiles;
    tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, tile - *product * tiles, &down, &across);
    *row0 = down * tile_m + row + thread % 128 / 32 * 16 + lane / 4;
    *col0 = across * tile_n + col + lane % 4 * 2;
    const float *scale_a = job->a.scales, *scale_b = job->b.scales + *col0;
    /* Without signs, whose bits would stay in registers through the whole loop over tiles. */
    unsigned lines_a = 64u * (unsigned)job->a.line_blocks; /* at most TMM__WGMMA_LINES_MAX */
    unsigned lines_b = 64u * (unsigned)job->b.line_blocks;
    if (job->from_a.product_stride) scale_a += (size_t)(unsigned)*product * lines_a;
    if (job->from_b.product_stride) scale_b += (size_t)(unsigned)*product * lines_b;
#pragma unroll
    for (int j = 0; j < cols / 8; j++) {
        /* Columns of blocks that do not exist have those of the first, which does: no branch. */
        bool exists = (unsigned)*col0 + 8u * j < lines_b;
        float2 two = __ldg((const float2 *)(scale_b + (exists ? 8 * j : 0)));
        col_scale[2 * j] = two.x, col_scale[2 * j + 1] = two.y;
    }
#pragma unroll
    for (int i = 0; i < 2 * downs; i++) {
        int row = *row0 + 8 * i + i / 2 * 48;
        row_scale[i] = row < job->M ? __ldg(scale_a + row) : 1;
    }
}

#if TMM__WGMMA
/* Least and largest scales of A and B, without sign, by 96 threads. */
static __device__ __forceinline__ void tmm__xwgmma_scale_range(const tmm__float_job *job,
                                                               int thread, unsigned *lowest,
                                                               unsigned *highest)
{
    tmm__wait_for_previous();
    for (int i = 0; i < 2; i++) {
        const tmm__fp16_operand *x = i == 0 ? &job->a : &job->b;
        bool shared = (i == 0 ? &job->from_a : &job->from_b)->product_stride == 0;
        long long fours = (shared ? 1 : job->batch) * 16ll * x->line_blocks;
        unsigned low = 0xffffffffu, high = 0;
#pragma unroll 2
        for (long long j = thread; j < fours; j += 96) {
            uint4 four = ((const uint4 *)x->scales)[j];
            four.x &= 0x7fffffffu, four.y &= 0x7fffffffu;
            four.z &= 0x7fffffffu, four.w &= 0x7fffffffu;
            low = min(min(low, min(four.x, four.y)), min(four.z, four.w));
            high = max(max(high, max(four.x, four.y)), max(four.z, four.w));
        }
        atomicMin(&lowest[i], low);
        atomicMax(&highest[i], high);
    }
}
#endif
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0)
enum {
    tmm__wgmma_rows = TMM__WGMMA_ROWS,
    tmm__wgmma_cols = TMM__WGMMA_COLS,
    tmm__wgmma_stages = TMM__WGMMA_STAGES,
    tmm__wgmma_readers = 8 / TMM__WGMMA_K_GROUPS, /* warps that multiply a stage */
    tmm__this_wgmma_bytes = TMM__WGMMA_STAGES * TMM__WGMMA_STAGE + 1024 /* to align */
                            + 8 * 32 * (TMM__WGMMA_THROUGH + 8)
};
static_assert(
    TMM__WGMMA_COLS == 64 || TMM__WGMMA_COLS == 128 || TMM__WGMMA_COLS == 192,
    "TMM__WGMMA_LIST: a tile has 64, 128 or 192 columns: tmm__wgmma multiplies by 64 or by "
    "half of these");
static_assert((TMM__WGMMA_DOWN == 1 || TMM__WGMMA_DOWN == 2) &&
                  TMM__WGMMA_DOWN * TMM__WGMMA_COLS <= 256,
              "TMM__WGMMA_LIST: a warpgroup has 64 or 128 rows, and sums for 128 x 128 or 64 x 192 "
              "elements: these fill its registers");
static_assert(TMM__WGMMA_K_GROUPS == 1 ||
                  (TMM__WGMMA_K_GROUPS == 2 && TMM__WGMMA_DOWN == 1 && TMM__WGMMA_COLS == 64),
              "TMM__WGMMA_LIST: the k of a tile are for 1 warpgroup, or of 64 x 64 for 2");
static_assert(
    TMM__WGMMA_STAGES >= 2 * TMM__WGMMA_K_GROUPS &&
        (!TMM__WGMMA_AT_ONCE || TMM__WGMMA_STAGES % 4 == 0),
    "TMM__WGMMA_LIST: stages must be 2 at least, or where all columns go at once, as of 128 x "
    "64, a multiple of 4: two windows");
static_assert(tmm__this_wgmma_bytes <= 227 * 1024 - 512,
              "TMM__WGMMA_LIST: stages must fit into the 227 KB that a block has on sm_90a");

#if TMM__WGMMA
/* KERNEL TENSOR FLOAT by wgmma. What the two warpgroups do that multiply. Each has the upper or the
   lower half of a tile, 64 rows after 64 rows:

             columns  0 .. COLS / 2 - 1     COLS / 2 .. COLS - 1      a tile with DOWN = 2
                     +---------------------+---------------------+
       warpgroup 1   |  c0, sum[0]         |  c1, sum[0]         |   64 rows
                     |  c0, sum[1]         |  c1, sum[1]         |   64
                     +---------------------+---------------------+
       warpgroup 2   |  c0, sum[0]         |  c1, sum[0]         |   64
                     |  c0, sum[1]         |  c1, sum[1]         |   64
                     +---------------------+---------------------+
   In a window, for 64 rows after 64 rows (S: lo hi and hi lo, 8 wgmma; L: hi hi, 4 wgmma):
       tensor cores  | S of c0 | S of c1 | L of c0 | L of c1 | S of c0 ...
       registers               | c0 2^-11| c1 2^-11| sum+=c0 | sum+=c1
   Tensor cores always have the next group to do; between windows, that of the other warpgroup.

   In 128 x 64 and 64 x 64, half of the columns would be 32. A wgmma of 64 x 32 x 16 reads 3 KB of
   shared memory in 16 clocks, more than that gives. So all 64 columns go at once, and two windows
   take turns, c0 and c1:
       tensor cores  | S of c0 | S of c1 | L of c0 | L of c1 | S of c0 | S of c1 | L of c0 ...
       registers      sum+=c1   c0 2^-11  c1 2^-11  sum+=c0   sum+=c1   c0 2^-11

   With 64 x 64, which is taken if each tile or part has a multiprocessor, warpgroups have the same
   tile and every other window:
       warpgroup 1   | window 0 | window 2 | window 4 | ...      stores the left half of C
       warpgroup 2   | window 1 | window 3 | window 5 | ...      stores the right half */

/* Begins group S, c = lo_a hi_b + hi_a lo_b: 64 rows, `d` times 64 from row `rows` on, and WIDTH
   columns, `half` times WIDTH from the first on. `at`: the window's two stages. */
static __device__ __forceinline__ void tmm__wgmma_small(float *c, const unsigned *at, int rows,
                                                        int d, int half)
{
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned stage = at[i / 4];
        tmm__wgmma(c,
                   tmm__descriptor(stage + rows * 128) + d * (TMM__BLOCK_BYTES / 16) +
                       4 * (1 - i % 2) + 2 * (i / 2 % 2),
                   tmm__descriptor(stage + TMM__WGMMA_A_BYTES) + half * (TMM__WGMMA_WIDTH * 8) +
                       4 * (i % 2) + 2 * (i / 2 % 2),
                   TMM__WGMMA_WIDTH, i > 0);
    }
    TMM__WGMMA_COMMIT();
}

/* Begins group L, c = 2^-11 c + hi_a hi_b, of the same rows and columns. */
static __device__ __forceinline__ void tmm__wgmma_large(float *c, const unsigned *at, int rows,
                                                        int d, int half)
{
#pragma unroll
    for (int i = 0; i < TMM__WGMMA_WIDTH / 2; i++) c[i] *= 1.0f / (1 << TMM__LO_SHIFT);
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned stage = at[i / 2];
        tmm__wgmma(c,
                   tmm__descriptor(stage + rows * 128) + d * (TMM__BLOCK_BYTES / 16) + 2 * (i % 2),
                   tmm__descriptor(stage + TMM__WGMMA_A_BYTES) + half * (TMM__WGMMA_WIDTH * 8) +
                       2 * (i % 2),
                   TMM__WGMMA_WIDTH, 1);
    }
    TMM__WGMMA_COMMIT();
}

static __device__ __forceinline__ void tmm__wgmma_add(float *sum, const float *c)
{
#pragma unroll
    for (int i = 0; i < TMM__WGMMA_WIDTH / 2; i++) sum[i] += c[i];
}

/* Where all columns go at once: waits for the next window, begins its group S, and steps on. */
static __device__ __forceinline__ void tmm__wgmma_begin(tmm__xwgmma_ring *ring, unsigned *at,
                                                        float *c, int rows)
{
    at[0] = ring->stages + ring->stage * TMM__WGMMA_STAGE, at[1] = at[0] + TMM__WGMMA_STAGE;
    tmm__barrier_wait(ring->fulls + 8 * ring->stage, ring->parity);
    tmm__barrier_wait(ring->fulls + 8 * ring->stage + 8, ring->parity);
    tmm__wgmma_small(c, at, rows, 0, 0);
    ring->stage += 2 * TMM__WGMMA_K_GROUPS;
    if (ring->stage >= TMM__WGMMA_STAGES) ring->stage -= TMM__WGMMA_STAGES, ring->parity ^= 1;
}

/* There: waits for a window's group L, adds c to sum, and gives its two stages back; none if
   stage < 0. */
static __device__ __forceinline__ void tmm__wgmma_finish(const tmm__xwgmma_ring *ring, float *sum,
                                                         float *c, int pending, int stage)
{
    tmm__wgmma_wait(c, TMM__WGMMA_WIDTH / 2, pending);
    if (ring->lane == 0 && stage >= 0) {
        tmm__barrier_arrive(ring->empties + 8 * stage);
        tmm__barrier_arrive(ring->empties + 8 * stage + 8);
    }
    tmm__wgmma_add(sum, c);
}

/* All windows of a tile, two at a time. `block`: the first 32 k of this warpgroup, of `blocks`. */
static __device__ __forceinline__ void tmm__wgmma_sum_pairs(tmm__xwgmma_ring *ring, float *sum,
                                                            int rows, int block, int blocks)
{
    enum { STRIDE = 2 * TMM__WGMMA_K_GROUPS, HALF = TMM__WGMMA_WIDTH / 2 };
    float c0[HALF], c1[HALF];
    unsigned at0[2], at1[2];
    int stage0, stage1 = -1;
#pragma unroll
    for (int i = 0; i < HALF; i++) c1[i] = 0;
#pragma unroll 1
    for (; block + STRIDE < blocks; block += 2 * STRIDE) {
        stage0 = ring->stage;
        tmm__wgmma_begin(ring, at0, c0, rows);
        tmm__wgmma_finish(ring, sum, c1, 1, stage1);
        stage1 = ring->stage;
        tmm__wgmma_begin(ring, at1, c1, rows);
        tmm__wgmma_wait(c0, HALF, 1);
        tmm__wgmma_large(c0, at0, rows, 0, 0);
        tmm__wgmma_wait(c1, HALF, 1);
        tmm__wgmma_large(c1, at1, rows, 0, 0);
        tmm__wgmma_finish(ring, sum, c0, 1, stage0);
    }
    if (block < blocks) {
        stage0 = ring->stage;
        tmm__wgmma_begin(ring, at0, c0, rows);
        tmm__wgmma_finish(ring, sum, c1, 1, stage1);
        tmm__wgmma_wait(c0, HALF, 0);
        tmm__wgmma_large(c0, at0, rows, 0, 0);
        tmm__wgmma_finish(ring, sum, c0, 0, stage0);
    } else {
        tmm__wgmma_finish(ring, sum, c1, 0, stage1);
    }
}

/* All windows of a tile, for the two halves of its columns in turn. While the sums of one half are
   added up in registers, tensor cores multiply for the other. */
static __device__ __forceinline__ void tmm__wgmma_sum_halves(tmm__xwgmma_ring *ring,
                                                             float (*sum)[TMM__WGMMA_SUMS],
                                                             int rows, int blocks)
{
    enum { DOWN = TMM__WGMMA_DOWN, STAGES = TMM__WGMMA_STAGES, HALF = TMM__WGMMA_WIDTH / 2 };
#pragma unroll 1
    for (int block = 0; block < blocks; block += 2) {
        int stage = ring->stage, second = stage + 1 == STAGES ? 0 : stage + 1;
        unsigned second_parity = second == 0 ? ring->parity ^ 1 : ring->parity;
        unsigned at[2] = {ring->stages + stage * TMM__WGMMA_STAGE,
                          ring->stages + second * TMM__WGMMA_STAGE};
        tmm__barrier_wait(ring->fulls + 8 * stage, ring->parity);
        tmm__barrier_wait(ring->fulls + 8 * second, second_parity);
        float c0[HALF], c1[HALF];
#pragma unroll
        for (int d = 0; d < DOWN; d++) {
            tmm__wgmma_small(c0, at, rows, d, 0);
            if (d > 0) {
                tmm__wgmma_wait(c1, HALF, 1);
                tmm__wgmma_add(sum[d - 1] + HALF, c1);
            }
            tmm__wgmma_small(c1, at, rows, d, 1);
            tmm__wgmma_wait(c0, HALF, 1);
            tmm__wgmma_large(c0, at, rows, d, 0);
            tmm__wgmma_wait(c1, HALF, 1);
            tmm__wgmma_large(c1, at, rows, d, 1);
            tmm__wgmma_wait(c0, HALF, 1);
            tmm__wgmma_add(sum[d], c0);
        }
        tmm__wgmma_wait(c1, HALF, 0);
        if (ring->lane == 0) {
            tmm__barrier_arrive(ring->empties + 8 * stage);
            tmm__barrier_arrive(ring->empties + 8 * second);
        }
        tmm__wgmma_add(sum[DOWN - 1] + HALF, c1);
        ring->stage = second + 1, ring->parity = second_parity;
        if (ring->stage == STAGES) ring->stage = 0, ring->parity ^= 1;
    }
}
#endif
#endif
/* src/tiledmm/kernels/tensor_float/wgmma_store.cuh. Floats as FP16 by wgmma: sums of a tile are put together
   and stored.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: wgmma_tiles.cuh. */
#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0) && TMM__WGMMA
/* Where both warpgroups have the same tile: adds the other one's sums of the columns that this one
   stores, and moves them to the front. They go through stages that only the giver reads, and has
   read: no more copies come, for such a block has one tile. */
static __device__ __forceinline__ void tmm__wgmma_exchange(unsigned char *memory, float *sum,
                                                           int group)
{
    enum { SUMS = TMM__WGMMA_SUMS };
    int place = threadIdx.x % 128;
    float4 *out = (float4 *)(memory + 2 * group * TMM__WGMMA_STAGE) + place;
    float4 *in = (float4 *)(memory + (2 - 2 * group) * TMM__WGMMA_STAGE) + place;
#pragma unroll
    for (int i = 0; i < SUMS / 2; i += 4) {
        const float *left = &sum[i], *right = &sum[SUMS / 2 + i];
        out[i * 32] = group == 0 ? make_float4(right[0], right[1], right[2], right[3])
                                 : make_float4(left[0], left[1], left[2], left[3]);
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
#pragma unroll
    for (int i = 0; i < SUMS / 2; i += 4) {
        float4 four = in[i * 32];
        float *kept = &sum[i];
#pragma unroll
        for (int j = 0; j < 4; j++) kept[j] = group == 0 ? kept[j] : sum[SUMS / 2 + i + j];
        kept[0] += four.x, kept[1] += four.y, kept[2] += four.z, kept[3] += four.w;
    }
}

/* Counts a part of a tile that is stored; *is_last: all are there. A flag is the ticket of the launch,
   but its last 6 bits how many have arrived; 0 again when all have. By all threads that multiply. */
static __device__ __forceinline__ void tmm__wgmma_count_part(unsigned long long *flag,
                                                             unsigned long long ticket, int parts,
                                                             int thread, int *is_last)
{
    enum { COUNT = 64 };
    static_assert((int)COUNT > (int)TMM__FLOAT_PARTS, "it has room for them");
    asm volatile("bar.sync 2, 256;" ::: "memory");
    if (thread == 0) {
        unsigned long long none = ticket / COUNT * COUNT, seen = none, before;
        __threadfence();
        do {
            before = seen;
            seen = atomicCAS(flag, before, (before / COUNT * COUNT == none ? before : none) + 1);
        } while (seen != before);
        *is_last = before == none + parts - 1;
        if (*is_last) atomicExch(flag, 0);
        __threadfence();
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
}

/* Where the k of a tile are cut in parts, all tiles have their first part, then their second, as
   products of a batch do: `tile` counts on, and *product is the part; it becomes 0, of the only one.
   A part has 32 KB at most, which L2 holds; they are always added in the same order. True: this block
   has them all, and stores the tile.
   - Where each block has one part, the block with the last one waits for the others. All blocks run
     at once; and it waits only for blocks of lower numbers, which began before it.
   - Where blocks have several, none may wait: the one that arrives last adds all parts. This takes
     some 1.2 microseconds longer, for it stores its own one, too. */
static __device__ __forceinline__ bool tmm__wgmma_add_parts(const tmm__float_job *job, float *sum,
                                                            int tile, int *product, int *is_last,
                                                            int thread)
{
    enum { FOURS = TMM__WGMMA_STORED / 8 };
    const tmm__schedule *s = &job->s;
    const int tiles = s->tiles_down * s->tiles_across, last = job->parts - 1, part = *product;
    const bool counted = (unsigned)(tiles * job->parts) > gridDim.x;
    tile -= part * tiles, *product = 0;
    float4 *place = (float4 *)s->partials + (size_t)tile * FOURS * 256 + thread;
    const size_t apart = (size_t)tiles * FOURS * 256; /* from a part to the next */
    if (counted || part < last) {
#pragma unroll
        for (int i = 0; i < FOURS; i++)
            place[part * apart + i * 256] =
                make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
    }
    if (counted) {
        tmm__wgmma_count_part(s->flags + tile, s->ticket, job->parts, thread, is_last);
        if (!*is_last) return false;
#pragma unroll
        for (int i = 0; i < 4 * FOURS; i++) sum[i] = 0;
    } else if (part < last) {
        asm volatile("bar.sync 2, 256;" ::: "memory");
        if (thread == 0) tmm__flag_set(s->flags + part * tiles + tile, s->ticket);
        return false;
    } else {
        if (thread < last) tmm__flag_wait(s->flags + thread * tiles + tile, s->ticket);
        asm volatile("bar.sync 2, 256;" ::: "memory");
    }
#pragma unroll 2
    for (int n = 0; n < last + counted; n++) {
#pragma unroll
        for (int i = 0; i < FOURS; i++) {
            float4 four = __ldcg(place + i * 256); /* L1 may have what lay there before */
            sum[4 * i] += four.x, sum[4 * i + 1] += four.y;
            sum[4 * i + 2] += four.z, sum[4 * i + 3] += four.w;
        }
        place += apart;
    }
    return true;
}

/* Stores a row of C of which no element is rejected or doubtful: sum[2 PAIRS] holds it as pairs,
   `cols` elements exist from c on. */
static __device__ __forceinline__ void tmm__wgmma_store_row(const tmm__float_job *job, float *c,
                                                            int row, int col, int cols,
                                                            const float *sum, float row_scale,
                                                            const float *col_scale)
{
    enum { PAIRS = TMM__WGMMA_PAIRS, AHEAD = PAIRS < 8 ? PAIRS : 8 }; /* loads before stores */
    const float alpha = job->alpha, beta = job->beta;
#pragma unroll
    for (int first = 0; first < PAIRS; first += AHEAD) {
        tmm__xouts2 old[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) old[j].v[0] = old[j].v[1] = 0;
        if (beta != 0) {
#pragma unroll
            for (int j = 0; j < AHEAD; j++) {
                int at = 8 * (first + j);
                tmm__load_if(&old[j], c + at, 8, at < cols);
#pragma unroll
                for (int k = 0; k < 2; k++) old[j].v[k] = TMM__MUL(beta, old[j].v[k]);
            }
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            int pair = first + j;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float scale = row_scale * col_scale[2 * pair + k];
                old[j].v[k] = tmm__xvalue(sum[4 * pair + k] * scale, alpha, old[j].v[k],
                                          8 * pair < cols, row, col + 8 * pair + k);
            }
            tmm__store_if(c + 8 * pair, &old[j], 8, 8 * pair < cols);
        }
    }
}

/* Stores 8 rows of C of which no element is rejected or doubtful, by a warp: `rows` exist from c on,
   and `cols` columns; lane l has row l / 4. Where rows of C begin anywhere, pairs from registers would
   write parts of sectors of 32 bytes, which takes L2 several times as long. So rows go through
   shared memory, and lanes begin at a sector:
       sectors       |       |       |       |       |       |       |       |       |
       lanes     ... shift - 1   shift ..                                         31
       store 0   the last `shift` of 64 columns, then the first 32 - shift; store 1: the 32 between */
static __device__ __forceinline__ void tmm__wgmma_store_rows(const tmm__float_job *job, float *c,
                                                             int row, int col, int cols,
                                                             const float *sum, float row_scale,
                                                             const float *col_scale)
{
    enum { COLS = TMM__WGMMA_THROUGH, PITCH = COLS + 8 };
    const float alpha = job->alpha, beta = job->beta;
    const long long ldc = job->ldc;
    int thread = threadIdx.x - 128;
    TMM__HIDE(thread); /* nothing of it stays in registers through the loop over tiles */
    int lane = thread % 32;
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    float *through = (float *)(tmm__memory + TMM__WGMMA_STAGES * TMM__WGMMA_STAGE + 1024) +
                     thread / 32 * (8 * PITCH);
    /* from here on as the lane that has the first row and column */
    row -= lane / 4, col -= lane % 4 * 2, cols += lane % 4 * 2;
    c -= lane / 4 * ldc + lane % 4 * 2;
    int rows = min((int)job->M - row, 8);
    asm volatile("" : "+f"(row_scale));
#pragma unroll
    for (int first = 0; first < TMM__WGMMA_STORED; first += COLS) {
        float2 *place = (float2 *)(through + lane / 4 * PITCH + lane % 4 * 2);
#pragma unroll
        for (int j = 0; j < COLS / 8; j++) {
            int pair = first / 8 + j;
            place[4 * j] = make_float2(sum[4 * pair] * (row_scale * col_scale[2 * pair]),
                                       sum[4 * pair + 1] * (row_scale * col_scale[2 * pair + 1]));
        }
        __syncwarp();
#pragma unroll 4
        for (int r = 0; r < 8; r++) {
            float *to = c + r * ldc + first;
            int shift = (int)((size_t)to / 4 % 8);
            float old[COLS / 32];
#pragma unroll
            for (int h = 0; h < COLS / 32; h++) {
                int at = lane + 32 * h - shift;
                if (at < 0) at += COLS;
                old[h] = 0;
                if (beta != 0) {
                    tmm__load_if(&old[h], to + at, 4, (r < rows) & (first + at < cols));
                    old[h] = TMM__MUL(beta, old[h]);
                }
            }
#pragma unroll
            for (int h = 0; h < COLS / 32; h++) {
                int at = lane + 32 * h - shift;
                if (at < 0) at += COLS;
                bool in = (r < rows) & (first + at < cols);
                float x = tmm__xvalue(through[r * PITCH + at], alpha, old[h], in, row + r,
                                      col + first + at);
                tmm__store_if(to + at, &x, 4, in);
            }
        }
        __syncwarp();
    }
}

/* Stores a row element by element, but for those that are rejected or doubtful. Leaves the bits of
   doubtful ones, if a line of the warp is `wide`. Code for 32 columns: then
   the next 32 take their place, and they go to the end. */
static __device__ __forceinline__ void tmm__wgmma_store_checked(const tmm__float_job *job, float *c,
                                                                const tmm__xwgmma_place *place,
                                                                int row, int cols, float *sum,
                                                                float row_scale, float *col_scale,
                                                                bool wide, int *doubtful)
{
    enum { PAIRS = TMM__WGMMA_PAIRS };
    int lane = threadIdx.x % 32;
    unsigned char *bytes =
        (unsigned char *)tmm__doubt_word(job, place->product, row, place->col) + lane % 4;
#pragma unroll 1
    for (int first = 0; first < 8 * PAIRS; first += 32) {
        unsigned bits = 0; /* of 16 columns */
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int col = first + 8 * (j / 2) + j % 2;
            float x = sum[4 * (j / 2) + j % 2];
            float scale = fabsf(row_scale * col_scale[j]);
            bool fits = (col < cols) & !tmm__is_rejected(scale, job->scale_min, job->scale_max);
            bool doubt = fits & tmm__is_doubtful(row_scale, col_scale[j], x, job->doubt_below);
            if (doubt) bits |= 1u << j % 4;
            x *= scale;
            tmm__xstore_masked(c + col, row, place->col + col, 1, fits & !doubt, job->alpha,
                               job->beta, &x);
            if (j % 4 == 3) {
                if (wide && col - 9 < cols + lane % 4 * 2)
                    bytes[col / 16 * 4] = (unsigned char)bits;
                if (bits) *doubtful = 1;
                bits = 0;
            }
        }
#pragma unroll
        for (int j = 0; j < 8 && PAIRS > 4; j++) {
            float scale = col_scale[j];
#pragma unroll
            for (int k = j; k < 2 * PAIRS; k += 8) {
                int at = 4 * (k / 2) + k % 2;
                if (k + 8 < 2 * PAIRS) sum[at] = sum[at + 16];
                col_scale[k] = k + 8 < 2 * PAIRS ? col_scale[k + 8] : scale;
            }
        }
    }
}
#endif
/* src/tiledmm/kernels/tensor_float/wgmma_tiles.cuh. Floats as FP16 by wgmma: the tiles of a block, by those
   that multiply and by the one that copies.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: wgmma_kernel.cuh. */
#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__WGMMA_LIST(TMM__IN_PASS) 0) && TMM__WGMMA
/* Moves the sums and the scale of each row to the row before: so code for one row stores all of
   them. In 128 x 64, where that code is short, it is there for two rows. */
static __device__ __forceinline__ void tmm__wgmma_next_row(float (*sum)[TMM__WGMMA_SUMS],
                                                           float *row_scale)
{
    enum { LAST = TMM__WGMMA_DOWN - 1 };
#pragma unroll
    for (int j = 0; j < 2 * TMM__WGMMA_PAIRS; j++) {
        int at = 4 * (j / 2) + j % 2;
        sum[0][at] = sum[0][at + 2];
        sum[0][at + 2] = sum[LAST][at];
        sum[LAST][at] = sum[LAST][at + 2];
    }
    row_scale[0] = row_scale[1];
    row_scale[1] = row_scale[2 * LAST];
    row_scale[2 * LAST] = row_scale[2 * LAST + 1];
}

/* The tiles of a block, by the two warpgroups that multiply. `memory`, `fulls` and `empties`: the
   stages and their barriers. *doubtful becomes 1 if there are such elements. Where tiles are cut in
   parts, *finished gets a bit for each that the block has stored. The range and the rows of the
   store are computed here: a function of their own kept descriptors out of uniform registers. */
static __device__ __forceinline__ void tmm__wgmma_multiply(const tmm__float_job *job,
                                                           unsigned char *memory, unsigned fulls,
                                                           unsigned empties, int *doubtful,
                                                           int *is_last, unsigned *finished)
{
    enum {
        DOWN = TMM__WGMMA_DOWN,
        PAIRS = TMM__WGMMA_PAIRS,
        K_GROUPS = TMM__WGMMA_K_GROUPS,
        THROUGH = K_GROUPS == 1, /* rows may go through shared memory */
        SUMS = TMM__WGMMA_SUMS,
        STORED = TMM__WGMMA_STORED,
        COLS = TMM__WGMMA_COLS,
        UNROLL = TMM__WGMMA_AT_ONCE && K_GROUPS == 1 ? 2 : 1
    };
    const tmm__fp16_operand a = job->a;
    const long long M = job->M, N = job->N, ldc = job->ldc;
    const float scale_min = job->scale_min, scale_max = job->scale_max;
    const tmm__schedule s = job->s;
    const int batch = job->batch;
    unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    int thread = threadIdx.x - 128, lane = thread % 32, group = thread / 128;
    int tiles = s.tiles_down * s.tiles_across;
    const int parts = TMM__WGMMA_AT_ONCE ? job->parts : 1;
    /* Where in a tile this warpgroup's rows begin, and the columns that it stores. */
    int rows = K_GROUPS > 1 ? 0 : group * (64 * DOWN), stored_from = group * (COLS - STORED);
    int first = K_GROUPS > 1 ? 2 * group : 0;
    tmm__xwgmma_ring ring = {stages, fulls, empties, 0, first, lane};
    tmm__wait_for_previous();
    for (int tile = blockIdx.x; tile < tiles * batch * parts; tile += gridDim.x) {
        int product, row0, col0;
        float sum[DOWN][SUMS], col_scale[2 * PAIRS], row_scale[2 * DOWN];
        if (TMM__WGMMA_AT_ONCE) /* has the registers: now, while the first copies are under way */
            tmm__xwgmma_scales(job, tile, TMM__WGMMA_ROWS, COLS, rows, stored_from, DOWN, STORED,
                               thread, &product, &row0, &col0, col_scale, row_scale);
#pragma unroll
        for (int d = 0; d < DOWN; d++)
#pragma unroll
            for (int i = 0; i < SUMS; i++) sum[d][i] = 0;
        int blocks = parts > 1 ? min(s.steps, a.k_blocks - product * s.steps) : a.k_blocks;
        if (TMM__WGMMA_AT_ONCE)
            tmm__wgmma_sum_pairs(&ring, sum[0], rows, first, blocks);
        else
            tmm__wgmma_sum_halves(&ring, sum, rows, blocks);
        if (K_GROUPS > 1) tmm__wgmma_exchange(memory, sum[0], group);
        if (parts > 1) {
            if (!tmm__wgmma_add_parts(job, sum[0], tile, &product, is_last, thread)) continue;
            *finished |= 1u << tile / gridDim.x;
        }
        /* All scales are read before the first store: the compiler cannot know that they are not
           what is stored, and would wait. */
        if (!TMM__WGMMA_AT_ONCE)
            tmm__xwgmma_scales(job, tile, TMM__WGMMA_ROWS, COLS, rows, stored_from, DOWN, STORED,
                               thread, &product, &row0, &col0, col_scale, row_scale);
        tmm__xwgmma_place place = {product, row0, col0};
        float lowest = col_scale[0], highest = col_scale[0];
#pragma unroll
        for (int j = 1; j < 2 * PAIRS; j++) {
            lowest = fminf(lowest, col_scale[j]);
            highest = fmaxf(highest, col_scale[j]);
        }
        bool wide = lowest < 0;
        float row_lowest = row_scale[0], row_highest = row_scale[0];
#pragma unroll
        for (int i = 1; i < 2 * DOWN; i++) {
            row_lowest = fminf(row_lowest, row_scale[i]);
            row_highest = fmaxf(row_highest, row_scale[i]);
        }
        wide = __any_sync(0xffffffffu, wide || row_lowest < 0);
        float *to = job->C + place.product * job->batchC + place.col;
        int cols = (int)N - place.col; /* that exist, from place.col on */
        bool fast = !wide && !tmm__is_rejected(row_lowest * lowest, scale_min, scale_max) &&
                    !tmm__is_rejected(row_highest * highest, scale_min, scale_max);
        /* Pairs are stored at once if none is cut by the edge, and sectors of 32 bytes are filled. */
        const size_t begin = (size_t)to - (THROUGH ? lane % 4 * 8 : 0);
        bool pairs = (begin | (size_t)ldc * 4) % (THROUGH ? 32 : 8) == 0 &&
                     (N % 2 == 0 || cols >= 8 * PAIRS - 6);
        if (THROUGH) fast = __all_sync(0xffffffffu, fast), pairs = __all_sync(0xffffffffu, pairs);
#pragma unroll(UNROLL)
        for (int i = 0; i < 2 * DOWN; i++) {
            int row = place.row + 8 * i + i / 2 * 48;
            float *c = to + row * ldc;
            if (!__any_sync(0xffffffffu, row < M)) break;
            if (THROUGH && fast && !pairs)
                tmm__wgmma_store_rows(job, c, row, place.col, cols, sum[0], row_scale[0],
                                      col_scale);
            else if (fast && pairs)
                tmm__wgmma_store_row(job, c, row, place.col, row < M ? cols : 0, sum[0],
                                     row_scale[0], col_scale);
            else if (row < M)
                tmm__wgmma_store_checked(job, c, &place, row, cols, sum[0], row_scale[0], col_scale,
                                         wide, doubtful);
            tmm__wgmma_next_row(sum, row_scale);
        }
    }
}

/* The copies of a block's tiles, by one thread. */
static __device__ __forceinline__ void tmm__wgmma_copy(const tmm__float_job *job,
                                                       unsigned char *memory, unsigned fulls,
                                                       unsigned empties)
{
    enum { BLOCKS_A = TMM__WGMMA_ROWS / 64, BLOCKS_B = TMM__WGMMA_COLS / 64 };
    const tmm__fp16_operand a = job->a, b = job->b;
    const tmm__schedule s = job->s;
    const int parts = TMM__WGMMA_AT_ONCE ? job->parts : 1;
    const int tiles = s.tiles_down * s.tiles_across, all = tiles * job->batch * parts;
    const unsigned stages = (unsigned)__cvta_generic_to_shared(memory);
    unsigned parity = 1; /* all stages are empty to begin with */
    unsigned *pace = TMM__WGMMA_AT_ONCE ? NULL : job->pace, due = 0;
    int stage = 0;
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        int product = tile / tiles, down, across;
        tmm__xfind_tile(&s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
        int blocks_a = a.line_blocks - down * BLOCKS_A,
            blocks_b = b.line_blocks - across * BLOCKS_B;
        if (blocks_a > BLOCKS_A) blocks_a = BLOCKS_A;
        if (blocks_b > BLOCKS_B) blocks_b = BLOCKS_B;
        unsigned bytes_a = blocks_a * TMM__BLOCK_BYTES, bytes_b = blocks_b * TMM__BLOCK_BYTES;
        size_t step_a = (size_t)a.line_blocks * TMM__BLOCK_BYTES;
        size_t step_b = (size_t)b.line_blocks * TMM__BLOCK_BYTES;
        const unsigned char *next_a = a.blocks + down * (BLOCKS_A * TMM__BLOCK_BYTES);
        const unsigned char *next_b = b.blocks + across * (BLOCKS_B * TMM__BLOCK_BYTES);
        next_a += (job->from_a.product_stride ? product : 0) * a.k_blocks * step_a;
        next_b += (job->from_b.product_stride ? product : 0) * b.k_blocks * step_b;
        int from = 0, to = a.k_blocks;
        if (parts > 1) {
            from = product * s.steps;
            if (to > from + s.steps) to = from + s.steps;
            next_a += from * step_a, next_b += from * step_b;
        }
        /* Addresses are computed before the wait, not after it. */
        asm volatile("" : "+l"(next_a), "+l"(next_b), "+r"(bytes_a), "+r"(bytes_b));
        tmm__wait_for_previous();
        for (int block = from, end; block < to; block = end) {
            end = to;
            if (pace != NULL) {
                if (end > block + TMM__FLOAT_PACE) end = block + TMM__FLOAT_PACE;
                if (!tmm__keep_pace(pace, due)) pace = NULL;
                due += gridDim.x;
            }
            for (int i = block; i < end; i++) {
                unsigned there = stages + stage * TMM__WGMMA_STAGE, barrier = fulls + 8 * stage;
                tmm__barrier_wait(empties + 8 * stage, parity);
                tmm__barrier_expect(barrier, bytes_a + bytes_b);
                tmm__copy_bulk(there, next_a, bytes_a, barrier);
                tmm__copy_bulk(there + TMM__WGMMA_A_BYTES, next_b, bytes_b, barrier);
                next_a += step_a;
                next_b += step_b;
                if (++stage == TMM__WGMMA_STAGES) stage = 0, parity ^= 1;
            }
        }
    }
    /* Blocks without a tile in the last round count as if they had arrived. */
    if (pace != NULL && blockIdx.x > (unsigned)(all - 1) % gridDim.x)
        atomicAdd(pace, (a.k_blocks - 1) / TMM__FLOAT_PACE + 1);
}
#endif
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
/* src/tiledmm/kernels/tensor_float/mma_sync.cuh. Floats as FP16 by mma.sync, from sm_80 on.
   Uses: kernels/common/, kernels/tensor_float/, once/.
   Used by: launch.h, thin_launch.h, type/instances.h. */
/* The instances: pass, name, matrices of 16 x 8 of a warp above each other and side by side, stages
   of 32 k, blocks to a multiprocessor. */
#ifndef TMM__MMA_LIST
#define TMM__MMA_LIST(_)   \
    _(5, 128x128, 4, 3, 1) \
    _(6, 64x64, 2, 4, 2)
#define TMM__MMA_PARTS  (TMM__MMA_LIST(TMM__VALUE_1) 0)
#define TMM__MMA_STAGES (TMM__MMA_LIST(TMM__VALUE_2) 0)
#define TMM__MMA_EDGE   (32 * TMM__MMA_PARTS)     /* rows and columns of a tile */
#define TMM__MMA_STAGE  (2 * TMM__MMA_EDGE * 128) /* bytes */

/* Functions of this pass's instance. */

/* TMM__MMA_128x128 and so on, after the instances of wgmma; the portable kernel is the last instance. */
#define TMM__ROW(pass, name, ...) TMM__MMA_##name,
enum {
    TMM__MMA_BEFORE = TMM__WGMMA_INSTANCES - 1,
    TMM__MMA_LIST(TMM__ROW) TMM__PORTABLE_64x64,
    TMM__FLOAT_INSTANCES
};
#undef TMM__ROW
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__MMA_LIST(TMM__IN_PASS) 0)
/* KERNEL TENSOR FLOAT by mma.sync, for devices from sm_80 on, unless compiled for sm_90a, where
   wgmma is twice as fast. Tiles of 32 PARTS x 32 PARTS elements of C, 256 threads, a ring of stages
   of 32 k.

   Eight warps share a tile. Each has 16 PARTS x 8 PARTS of it, in parts of 16 x 8:
                   +----+----+----+----+                       +--+--+--+--+
                   | w0 | w1 | w2 | w3 |      of 128 x 128:    |  |  |  |  | 16
                   +----+----+----+----+      64 x 32,         +--+--+--+--+
                   | w4 | w5 | w6 | w7 |      4 x 4 parts      |  |  |  |  |
                   +----+----+----+----+                       :  :  :  :  :
   A stage holds the lines of A, then those of B, 128 bytes each, as KERNEL CONVERT leaves them. So
   the eight rows of a matrix that ldmatrix reads at a time lie in different banks.
       copies        | s2 | s0 | s1 | s2 |        all but one stage ahead, also into the next tile
       tensor cores  | s0 | s1 | s2 | s0 |
   A window is one stage: the tensor cores of sm_80 add 8 products at a time, those of sm_90 16, and
   cut off more. For the 32 k of a window and a part of 16 x 8
       c = lo hi + hi lo    4 mma        c = c 2^-11 + hi hi    2 mma        sum += c

   A stage of 128 x 128 is 3.1 million operations, 8 x 12 KB read from shared memory and 32 KB
   copied to it: 24 operations a byte. sm_80 has 2048 operations and 128 bytes a clock, 16 a byte:
   bound by tensor cores. Tiles of 64 x 64, with 12 a byte, are bound by shared memory. On sm_90
   latency bounds it: two warps for each tensor core have 4 mma under way each. */
enum { tmm__mma_edge = TMM__MMA_EDGE, tmm__this_mma_bytes = TMM__MMA_STAGES * TMM__MMA_STAGE };

#if TMM__BODIES && (TMM__ASYNC ? !TMM__WGMMA : !defined(__CUDA_ARCH__))
/* The next stage to be copied: its tile, its 32 k, and which of the ring it is. Where it lies in A
   and B, and how many blocks of lines of each there are from there on. */
typedef struct tmm__mma_copies {
    int tile, block, stage, blocks_a, blocks_b;
    const unsigned char *a, *b;
} tmm__mma_copies;

/* Begins to copy a stage, if there is one, and steps on. */
static __device__ __forceinline__ void tmm__mma_copy(tmm__mma_copies *next,
                                                     const tmm__float_job *job,
                                                     unsigned char *memory)
{
    enum { EDGE = TMM__MMA_EDGE, STAGE = TMM__MMA_STAGE, COPIES = STAGE / 4096 };
    const tmm__fp16_operand *a = &job->a, *b = &job->b;
    int thread = threadIdx.x, tiles = job->s.tiles_down * job->s.tiles_across;
    if (next->tile < tiles * job->batch) {
        size_t step_a = (size_t)a->line_blocks * TMM__BLOCK_BYTES;
        size_t step_b = (size_t)b->line_blocks * TMM__BLOCK_BYTES;
        if (next->block == 0) {
            int product = next->tile / tiles, down, across;
            tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, next->tile - product * tiles, &down, &across);
            next->blocks_a = a->line_blocks - down * (EDGE / 64);
            next->blocks_b = b->line_blocks - across * (EDGE / 64);
            next->a = a->blocks + down * (size_t)(EDGE / 64 * TMM__BLOCK_BYTES);
            next->b = b->blocks + across * (size_t)(EDGE / 64 * TMM__BLOCK_BYTES);
            next->a += (job->from_a.product_stride ? product : 0) * a->k_blocks * step_a;
            next->b += (job->from_b.product_stride ? product : 0) * b->k_blocks * step_b;
        }
        unsigned char *to = memory + next->stage * STAGE + thread * 16;
#pragma unroll
        for (int i = 0; i < COPIES; i++) {
            int at = i * 4096 < EDGE * 128 ? i * 4096 : i * 4096 - EDGE * 128;
            bool is_A = i * 4096 < EDGE * 128;
            bool exists = at / TMM__BLOCK_BYTES < (is_A ? next->blocks_a : next->blocks_b);
            const unsigned char *from = (is_A ? next->a : next->b) + (exists ? at : 0);
            tmm__copy_async(to + i * 4096, from + thread * 16, 16, exists);
        }
        next->a += step_a;
        next->b += step_b;
        if (++next->block == a->k_blocks) next->block = 0, next->tile += gridDim.x;
        if (++next->stage == TMM__MMA_STAGES) next->stage = 0;
    }
    tmm__copy_commit(); /* an empty group too: the wait counts groups */
}

/* Scales and stores a warp's part of tile number `tile`, but for rejected and doubtful elements,
   and leaves the bits of these. Returns whether this thread has doubtful ones. */
static __device__ __forceinline__ bool tmm__mma_store(const tmm__float_job *job, int tile,
                                                      int warp_row, int warp_col,
                                                      float (*sum)[TMM__MMA_PARTS][4])
{
    enum { DOWN = TMM__MMA_PARTS, COLS = TMM__MMA_PARTS };
    const long long M = job->M, N = job->N;
    int lane = threadIdx.x % 32, tiles = job->s.tiles_down * job->s.tiles_across;
    int product = tile / tiles, down, across;
    bool doubtful = false;
    tmm__xfind_tile(&job->s, TMM__FLOAT_BAND, tile - product * tiles, &down, &across);
    int row0 = down * TMM__MMA_EDGE + warp_row + lane / 4;
    int col0 = across * TMM__MMA_EDGE + warp_col + lane % 4 * 2;
    const float *scale_a =
        job->a.scales + (job->from_a.product_stride ? product : 0) * 64ll * job->a.line_blocks;
    const float *scale_b =
        job->b.scales + (job->from_b.product_stride ? product : 0) * 64ll * job->b.line_blocks;
    float col_scale[COLS][2];
    bool cols_wide = false;
#pragma unroll
    for (int j = 0; j < COLS * 2; j++) {
        int col = col0 + 8 * (j / 2) + j % 2;
        col_scale[j / 2][j % 2] = col < N ? scale_b[col] : 0;
        cols_wide |= col_scale[j / 2][j % 2] < 0;
    }
#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) {
        long long row = row0 + 8 * i;
        float row_scale = row < M ? scale_a[row] : 0;
        bool wide = __any_sync(0xffffffffu, cols_wide || row_scale < 0);
        float *C = job->C + product * job->batchC + row * job->ldc;
        bool aligned = ((size_t)(C + col0) & 7) == 0;
        tmm__xouts2 old[COLS];
        unsigned mask[COLS], bits = 0; /* what is stored; what is doubtful */
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            mask[j] = 0;
            for (int n = 0; n < 2; n++) {
                float p = fabsf(row_scale * col_scale[j][n]);
                float *x = &sum[i / 2][j][i % 2 * 2 + n];
                bool exists = row < M && col0 + 8 * j + n < N;
                if (exists && !tmm__is_rejected(p, job->scale_min, job->scale_max)) {
                    if (tmm__is_doubtful(row_scale, col_scale[j][n], *x, job->doubt_below))
                        bits |= 1u << (2 * j + n);
                    else
                        mask[j] |= 1u << n;
                }
                *x *= p;
            }
            old[j].v[0] = old[j].v[1] = 0;
            if (job->beta != 0) old[j] = tmm__xload2(C + col0 + 8 * j, aligned, mask[j]);
        }
        if (wide && row < M) {
            unsigned char *bytes =
                (unsigned char *)tmm__doubt_word(job, product, (int)row, col0) + lane % 4;
#pragma unroll
            for (int j = 0; j < COLS; j += 2)
                if (col0 - lane % 4 * 2 + 8 * j < N)
                    bytes[2 * j] = (unsigned char)(bits >> 2 * j & 15);
            doubtful |= bits != 0;
        }
#pragma unroll
        for (int j = 0; j < COLS; j++)
            tmm__xstore2(C + col0 + 8 * j, row, col0 + 8 * j, aligned, mask[j], job->alpha,
                         job->beta, old[j], &sum[i / 2][j][i % 2 * 2]);
    }
    return doubtful;
}

/* Behind all tiles: are there rejected elements, for the least and largest scales of A and B? Are
   there `doubtful` ones of any thread? Then they are computed again. */
static __device__ __forceinline__ void tmm__mma_recheck(const tmm__float_job *job,
                                                        unsigned char *memory, bool doubtful)
{
    int thread = threadIdx.x;
    unsigned *scales = (unsigned *)memory; /* A: least, largest; B: likewise; doubtful */
    if (thread < 2) scales[2 * thread] = 0xffffffffu, scales[2 * thread + 1] = scales[4] = 0;
    __syncthreads();
    if (doubtful) scales[4] = 1;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const tmm__fp16_operand *x = i == 0 ? &job->a : &job->b;
        bool shared = (i == 0 ? job->from_a.product_stride : job->from_b.product_stride) == 0;
        long long fours = (shared ? 1 : job->batch) * 16ll * x->line_blocks;
        unsigned lowest = 0xffffffffu, highest = 0;
        for (long long j = thread; j < fours; j += 256) {
            uint4 four = ((const uint4 *)x->scales)[j]; /* floats, without sign: */
            unsigned size[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                size[n] &= 0x7fffffffu;
                lowest = lowest < size[n] ? lowest : size[n];
                highest = highest > size[n] ? highest : size[n];
            }
        }
        atomicMin(&scales[2 * i], lowest);
        atomicMax(&scales[2 * i + 1], highest);
    }
    __syncthreads();
    float lowest = tmm__bits_float(scales[0]) * tmm__bits_float(scales[2]);
    float highest = tmm__bits_float(scales[1]) * tmm__bits_float(scales[3]);
    bool rejected = tmm__is_rejected(lowest, job->scale_min, job->scale_max) ||
                    tmm__is_rejected(highest, job->scale_min, job->scale_max);
    doubtful = scales[4] != 0;
    __syncthreads();
    if (rejected || doubtful)
        tmm__xrecheck(job, (float *)memory, thread, false, rejected, doubtful,
                      TMM__MMA_EDGE * TMM__MMA_EDGE > 128 * 64, TMM__MMA_EDGE, TMM__MMA_EDGE, 1, 0);
}
#endif

TMM_KERNEL void __launch_bounds__(256, TMM__MMA_LIST(TMM__VALUE_3) 0)
    tmm__gemm_float_mma(const tmm__float_job job)
{
#if TMM__BODIES && (TMM__ASYNC ? !TMM__WGMMA : !defined(__CUDA_ARCH__))
    enum { DOWN = TMM__MMA_PARTS, COLS = TMM__MMA_PARTS, STAGES = TMM__MMA_STAGES };
    static_assert(TMM__MMA_PARTS == 2 || TMM__MMA_PARTS == 4,
                  "TMM__MMA_LIST: a warp has 2 or 4 matrices above each other: a tile is made of "
                  "whole blocks, and its sums have to fit into registers");
    static_assert(
        STAGES >= 2 && STAGES * TMM__MMA_STAGE <= 99 * 1024,
        "TMM__MMA_LIST: stages must be 2 at least, and fit into the 99 KB that a block has");
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, stage = 0;
    int all = job.s.tiles_down * job.s.tiles_across * job.batch;
    bool doubtful = false;

    tmm__let_next_begin();
    tmm__wait_for_previous();
    tmm__mma_copies next = {(int)blockIdx.x, 0, 0, 0, 0, NULL, NULL};
    for (int i = 0; i < STAGES - 1; i++) tmm__mma_copy(&next, &job, tmm__memory);

    /* Rows of the matrices whose addresses this lane gives; and the chunk of the first 8 k of hi */
    int warp_row = warp / 4 * (16 * DOWN), warp_col = warp % 4 * (8 * COLS);
    int row_a = warp_row + lane % 16, chunk_a = lane / 16;
    int row_b = warp_col + lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        float sum[DOWN][COLS][4];
#pragma unroll
        for (int i = 0; i < DOWN * COLS * 4; i++) sum[i / (COLS * 4)][i / 4 % COLS][i % 4] = 0;
#pragma unroll 1
        for (int block = 0; block < job.a.k_blocks; block++) {
            TMM__COPY_WAIT(STAGES - 2);
            __syncthreads();
            const unsigned char *lines_a = tmm__memory + stage * TMM__MMA_STAGE;
            const unsigned char *lines_b = lines_a + TMM__MMA_EDGE * 128;
            if (++stage == STAGES) stage = 0;
            /* Chunk c of line r is at place c ^ (r % 8); tiles of 16 and 8 lines keep r % 8. lo is
               at place ^ 4. */
            unsigned hi_b[2][COLS][2], lo_b[2][COLS][2];
#pragma unroll
            for (int k = 0; k < 2; k++)
#pragma unroll
                for (int j = 0; j < COLS; j += 2) {
                    int place = ((2 * k + chunk_b) ^ (row_b % 8)) * 16;
                    const unsigned char *line = lines_b + (row_b + 8 * j) * 128;
                    tmm__load_matrices(&hi_b[k][j][0], line + place);
                    tmm__load_matrices(&lo_b[k][j][0], line + (place ^ 64));
                }
            tmm__mma_copy(&next, &job, tmm__memory);
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                unsigned hi_a[2][4], lo_a[2][4];
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    int place = ((2 * k + chunk_a) ^ (row_a % 8)) * 16;
                    const unsigned char *line = lines_a + (row_a + 16 * i) * 128;
                    tmm__load_matrices(hi_a[k], line + place);
                    tmm__load_matrices(lo_a[k], line + (place ^ 64));
                }
                float c[COLS][4];
#pragma unroll
                for (int j = 0; j < COLS * 4; j++) c[j / 4][j % 4] = 0;
#pragma unroll
                for (int k = 0; k < 2; k++) {
#pragma unroll
                    for (int j = 0; j < COLS; j++) tmm__mma_16(c[j], lo_a[k], hi_b[k][j], false);
#pragma unroll
                    for (int j = 0; j < COLS; j++) tmm__mma_16(c[j], hi_a[k], lo_b[k][j], false);
                }
#pragma unroll
                for (int j = 0; j < COLS * 4; j++) c[j / 4][j % 4] *= 1.0f / (1 << TMM__LO_SHIFT);
#pragma unroll
                for (int k = 0; k < 2; k++)
#pragma unroll
                    for (int j = 0; j < COLS; j++) tmm__mma_16(c[j], hi_a[k], hi_b[k][j], false);
#pragma unroll
                for (int j = 0; j < COLS * 4; j++) sum[i][j / 4][j % 4] += c[j / 4][j % 4];
            }
        }
        doubtful |= tmm__mma_store(&job, tile, warp_row, warp_col, sum);
    }
    TMM__COPY_WAIT(0);
    __syncthreads();
    tmm__mma_recheck(&job, tmm__memory, doubtful);
#else
    (void)job;
#endif
}
#endif
/* src/tiledmm/kernels/tensor_float/thin.cuh. Floats as BF16x6 where op(A) has few rows, or op(B) few columns:
   what the instances share.
   Uses: kernels/common/tensor_ptx.cuh, kernels/tensor_float/, once/.
   Used by: thin_kernel.cuh, thin_launch.h, type/instances.h. */
/* The instances: pass, name, lines of the thin operand in a tile, stages of 32 k. */
#ifndef TMM__THIN_LIST
#define TMM__THIN_LIST(_) \
    _(1, 128x32, 32, 6)   \
    _(2, 128x64, 64, 6)   \
    _(3, 128x96, 96, 6)   \
    _(4, 128x128, 128, 5)

#define TMM__ROW(pass, name, ...) TMM__THIN_##name,
enum { TMM__THIN_LIST(TMM__ROW) TMM__THIN_INSTANCES };
#undef TMM__ROW
#endif

#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR && !defined(TMM__FLOAT_ONCE)
/* KERNEL THIN FLOAT: a few lines times many, such as a small batch times weights. One operand is
   `thin`, of 512 lines at most; the other one, `large`, comes through memory once, as it is. Both
   become three BF16 terms of each element, as in recheck_bf16x6, whose products, windows of 32 k and
   error bound these are. Three launches:
       split      planes of the thin operand's terms, for wgmma
       multiply   equal shares of all (tile, 32 k) for all blocks: partial tiles
       sum        adds the partial tiles of each tile in ascending k, and stores C
   Which elements the bound does not hold for is found by lines alone: `bad` is a line with an element
   that is not finite or at least 2^limit, by which sums could overflow; or one below 2^-110 whose
   third term is not exact. Products of other lines are finite: |x y| K is below 2^126. Bad lines have
   scale 0, all others 1: so they are rejected, and the recheck computes their elements by FP32
   multiply-adds in ascending k. Bits depend on the shape, the strides and the device alone. Of a batch
   each product is shared out alike, so that they do not depend on its position.

   A plane stage is 32 k of `cols` lines, as wgmma reads them without swizzle:
       [16 k][term][8 lines][half of the 16 k][line][8 BF16]
   Slot s of half h is k = 4 (s / 2) + 2 h + s % 2. So the 4 neighbours along k that a lane copies of
   a line of the large operand are its slots 2 q, 2 q + 1 of both halves, q = lane % 4. */
enum { TMM__THIN_MOST = 512, TMM__THIN_LINES = 128, TMM__THIN_STAGE = 4 * TMM__THIN_LINES * 32 };

typedef struct tmm__thin_job {
    tmm__float_job c; /* the product, for the recheck: operands, C, scales */
    tmm__lines thin, large;
    unsigned char *planes;             /* [product][block of cols lines][32 k] */
    float *thin_scales, *large_scales; /* [product][line] */
    float *partials;                   /* [product][tile + share][line of thin][line of large] */
    /* The ticket where a line of the thin operand is bad: [product][line]; before them, if any is. */
    unsigned long long *marks, ticket;
    /* From one product to the next, 0 where all share the operand: bytes of planes; lines that have
       scales. Floats of partial tiles. Scales of the large operand in all. */
    long long next_planes, next_thin, next_large, next_partials, scales;
    long long units;    /* of a product: tiles times steps, which are shared out */
    unsigned shares;    /* the blocks that multiply a product */
    int tiles;          /* of a product */
    int steps, blocks;  /* of 32 k; of the thin operand */
    int cols;           /* of a block */
    int along_k, width; /* how the large operand is copied: along k or lines, by so many bytes */
    unsigned limit;     /* as the bits of a BF16 */
    int groups;         /* warps that share the partial tiles of an element: 1 or 8 */
    bool turned;        /* whether the thin operand is B */
} tmm__thin_job;

#if TMM__BODIES && (TMM__WGMMA || !defined(__CUDA_ARCH__))
/* The larger magnitude in each half of two pairs of BF16, whatever its sign; NaN if one is. */
static __device__ __forceinline__ unsigned tmm__bf16_most(unsigned x, unsigned y)
{
#if TMM__WGMMA
    /* PTX ISA 9.7, "max" */
    asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(x) : "r"(x), "r"(y));
    return x;
#else
    unsigned high = 0x7fff0000u, low = 0x7fffu;
    return ((x & high) > (y & high) ? x & high : y & high) |
           ((x & low) > (y & low) ? x & low : y & low);
#endif
}

/* Whether a line is bad: of its elements, the larger ones in pairs, and what bf16_triple returned. */
static __device__ __forceinline__ bool tmm__thin_is_bad(const tmm__thin_job *job, unsigned most,
                                                        unsigned inexact)
{
    return ((most & 0x7fffu) >= job->limit) | ((most >> 16 & 0x7fffu) >= job->limit) |
           ((inexact & 0xffffu) != 0);
}

/* 4 or 16 bytes to shared memory, the first `valid` of them, which are read once: L2 may keep
   other lines (PTX ISA 9.7, "cp.async", and the policy of "createpolicy"). */
static __device__ __forceinline__ void tmm__copy_once(float *shared, const float *global,
                                                      const int bytes, int valid,
                                                      unsigned long long policy)
{
#if TMM__WGMMA
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if (bytes == 16)
        asm volatile(
            "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(to),
            "l"(global), "r"(valid), "l"(policy)
            : "memory");
    else /* with a policy an H100 stops at these: "illegal instruction" */
        tmm__copy_zfill(shared, global, 4, valid);
#else
    (void)policy;
    tmm__copy_zfill(shared, global, bytes, valid);
#endif
}

/* Where the copies of a thread are. Each of the 256 threads that multiply has lines 2 g and 2 g + 1 of
   16 of its warp, g = lane / 4, and k = 4 q .. 4 q + 3 of each 16. Where lines lie along k a thread
   copies 16 bytes at a time for two of them, 128 apart; or one by one, then a warp has 32 neighbours of
   each of 32 lines. Else a warp has 8 k of all 128 lines. */
typedef struct tmm__thin_walk {
    const float *at;       /* the first of these elements in this step */
    int step, block, tile; /* of 32 k; of the thin operand; of 128 lines */
    int line, k;           /* of the first one in a tile */
} tmm__thin_walk;

static __device__ __forceinline__ void tmm__thin_find(const tmm__thin_job *job,
                                                      tmm__thin_walk *walk)
{
    walk->at = job->large.X + blockIdx.y * job->large.product_stride +
               (walk->tile * TMM__THIN_LINES + walk->line) * job->large.line_stride +
               (walk->step * 32 + walk->k) * job->large.k_stride;
}

static __device__ __forceinline__ void tmm__thin_begin(const tmm__thin_job *job,
                                                       tmm__thin_walk *walk, int thread)
{
    const int warp = thread / 32, lane = thread % 32;
    const bool vectors = job->width == 16;
    walk->line = vectors ? lane * 4 : lane, walk->k = warp * 8;
    if (job->along_k)
        walk->line = vectors ? warp * 16 + lane / 4 * 2 : warp * 32,
        walk->k = vectors ? lane % 4 * 4 : lane;
    tmm__thin_find(job, walk);
}

/* Copies 32 elements of a step to their places in a stage, and goes on. Along k each thread that
   multiplies has four chunks of 16 bytes there, 256 chunks apart, two to 16 k: its two lines. Else a
   stage is [k][line], chunk c of four lines at place c ^ k / 4 % 4 * 2: half a warp reads 8 bytes of
   four k each, from all 32 banks. */
static __device__ __forceinline__ void tmm__thin_copy(const tmm__thin_job *job,
                                                      tmm__thin_walk *walk, float *stage,
                                                      int thread, unsigned long long policy)
{
    const float *none = job->large.X, *at = walk->at;
    const long long line_stride = job->large.line_stride, k_stride = job->large.k_stride;
    const int left = (int)job->c.K - walk->step * 32 - walk->k, warp = thread / 32,
              lane = thread % 32;
    int exist = (int)job->large.lines - walk->tile * TMM__THIN_LINES - walk->line;
    float *to = stage + thread * 4;
    if (job->width == 16 && job->along_k) {
#pragma unroll 1
        for (int two = 0; two < 2; two++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int here = min(max(left - i / 2 * 16, 0), 4) * (i % 2 < exist ? 4 : 0);
                const float *from = at + i % 2 * line_stride + i / 2 * 16;
                tmm__copy_once(to + i * 1024, here > 0 ? from : none, 16, here, policy);
            }
            at += 64 * line_stride, exist -= 64, to += 512;
        }
    } else if (job->width == 16) {
        to = stage + warp * 1024;
#pragma unroll
        for (int j = 0; j < 8; j++, at += k_stride) {
            int here = j < left ? 4 * min(max(exist, 0), 4) : 0;
            tmm__copy_once(to + j * 128 + (lane ^ warp % 2 * 4 ^ j / 4 * 2) * 4,
                           here > 0 ? at : none, 16, here, policy);
        }
    } else if (job->along_k) {
        to = stage + lane / 16 * 2048 + warp * 256 + lane % 16;
#pragma unroll 8
        for (int j = 0; j < 32; j++, at += line_stride) {
            bool here = (left > 0) & (j < exist);
            tmm__copy_once(to + j % 2 * 1024 + j / 16 * 128 + j % 16 / 2 * 16, here ? at : none, 4,
                           here ? 4 : 0, policy);
        }
    } else {
        to = stage + warp * 1024 + lane % 4;
#pragma unroll 8
        for (int j = 0; j < 32; j++) {
            bool here = (j / 4 < left) & (j % 4 * 32 < exist);
            tmm__copy_once(to + j / 4 * 128 + j % 4 * 32 +
                               (lane / 4 ^ warp % 2 * 4 ^ j / 16 * 2) * 4,
                           here ? at + j % 4 * 32 + j / 4 * k_stride : none, 4, here ? 4 : 0,
                           policy);
        }
    }
    walk->at += 32 * k_stride;
    if (++walk->step < job->steps) return;
    walk->step = 0;
    if (++walk->block == job->blocks) walk->block = 0, walk->tile++;
    tmm__thin_find(job, walk);
}

/* Where a thread that multiplies has its first elements in a stage. */
static __device__ __forceinline__ int tmm__thin_place(const tmm__thin_job *job, int thread)
{
    const int g = thread / 4 % 8, q = thread % 4;
    return job->along_k ? thread * 4
                        : q * 512 + ((thread / 32 * 4 + g / 2) ^ q * 2) * 4 + g % 2 * 2;
}

/* A thread's terms of a stage, as the fragments of A of two k16: terms[k16][term][word]. Of its two
   lines, most and inexact: see thin_is_bad. */
static __device__ __forceinline__ void tmm__thin_split(const float *stage, bool along_k,
                                                       unsigned (*terms)[3][4], unsigned *most,
                                                       unsigned *inexact)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float4 x, y;
        if (along_k) {
            x = *(const float4 *)(stage + i * 2048), y = *(const float4 *)(stage + i * 2048 + 1024);
        } else {
            const float2 *of_k = (const float2 *)(stage + i * 2048); /* both lines */
            const float2 k0 = of_k[0], k1 = of_k[64], k2 = of_k[128], k3 = of_k[192];
            x = make_float4(k0.x, k1.x, k2.x, k3.x), y = make_float4(k0.y, k1.y, k2.y, k3.y);
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned words[3];
            float4 v = j % 2 ? y : x;
            inexact[j % 2] |= tmm__bf16_triple(j < 2 ? v.x : v.z, j < 2 ? v.y : v.w, words);
            most[j % 2] = tmm__bf16_most(most[j % 2], words[0]);
#pragma unroll
            for (int t = 0; t < 3; t++) terms[i][t][j] = words[t];
        }
    }
}

/* c = the products of a stage: 64 lines of the large operand by a warpgroup, in the order of
   bf16_multiply. Enqueued by wgmma, whose operand A is in registers (PTX ISA 9.7, "wgmma.mma_async");
   elsewhere computed by each warp. */
#if TMM__WGMMA
#define TMM__THIN_ASM(n, names, a, b, c, d, from, add)                                          \
    "{\n.reg .pred p;\nsetp.ne.b32 p, %" add ", 0;\n"                                           \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.bf16.bf16 {" names "}, {%" a ", %" b ", %" c \
    ", %" d "}, %" from ", p, 1, 1, 0;\n}"
static __device__ __forceinline__ void tmm__wgmma_thin(float *c, const unsigned *a,
                                                       unsigned long long b, const int cols,
                                                       const int add)
{
    if (cols == 32)
        asm volatile(TMM__THIN_ASM("32", TMM__NAMES_16, "16", "17", "18", "19", "20", "21")
                     : TMM__C16(0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else if (cols == 64)
        asm volatile(TMM__THIN_ASM("64", TMM__NAMES_32, "32", "33", "34", "35", "36", "37")
                     : TMM__C32(0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else if (cols == 96)
        asm volatile(TMM__THIN_ASM("96", TMM__NAMES_48, "48", "49", "50", "51", "52", "53")
                     : TMM__C32(0), TMM__C16(32)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else
        asm volatile(TMM__THIN_ASM("128", TMM__NAMES_64, "64", "65", "66", "67", "68", "69")
                     : TMM__C32(0), TMM__C32(32)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
#endif

static __device__ __forceinline__ void tmm__thin_products(float *c, const unsigned (*terms)[3][4],
                                                          const unsigned char *planes,
                                                          const int cols)
{
#if TMM__WGMMA
    /* The distance of the halves of 16 k, and of groups of eight lines. */
    const unsigned long long from =
        ((unsigned)__cvta_generic_to_shared(planes) & 0x3ffffu) >> 4 | 8ull << 16 | 16ull << 32;
    TMM__WGMMA_BEGIN();
#pragma unroll
    for (int i = 0; i < 12; i++) {
        int a = TMM__BF16_TERMS_A >> i / 2 * 4 & 3, b = TMM__BF16_TERMS_B >> i / 2 * 4 & 3;
        tmm__wgmma_thin(c, terms[i % 2][a], from + (i % 2 * 3 + b) * (cols * 2), cols, i > 0);
    }
    TMM__WGMMA_COMMIT();
#else
    const int lane = threadIdx.x % 32;
    float x[2][3][2][16]; /* [k16][term][line g, g + 8][slot], of four lanes */
    for (int i = 0; i < 2 * 3 * 4 * 4; i++) {
        int word = i / 4 % 4, from = i % 4, t = i / 16;
        unsigned two = __shfl_sync(0xffffffffu, terms[t / 3][t % 3][word], lane / 4 * 4 + from);
        float *to = &x[t / 3][t % 3][word % 2][word / 2 * 8 + from * 2];
        to[0] = tmm__bits_float(two << 16), to[1] = tmm__bits_float(two & 0xffff0000u);
    }
    for (int n = 0; n < cols / 2; n++) c[n] = 0;
    for (int i = 0; i < 12; i++) {
        int a = TMM__BF16_TERMS_A >> i / 2 * 4 & 3, b = TMM__BF16_TERMS_B >> i / 2 * 4 & 3;
        for (int n = 0; n < cols / 4; n++) { /* columns */
            int col = n / 2 * 8 + lane % 4 * 2 + n % 2;
            const unsigned char *y =
                planes + (i % 2 * 3 + b) * (cols * 32) + col / 8 * 256 + col % 8 * 16;
            for (int slot = 0; slot < 16; slot++) {
                unsigned bits = *(const unsigned short *)(y + slot / 8 * 128 + slot % 8 * 2);
                float z = tmm__bits_float(bits << 16);
                for (int h = 0; h < 2; h++)
                    c[n / 2 * 4 + 2 * h + n % 2] += x[i % 2][a][h][slot] * z;
            }
        }
    }
#endif
}

/* Waits until what is copied for a stage is there. Where no barriers count copies, all threads of a
   block meet instead, once a stage. */
#if TMM__WGMMA
static __device__ __forceinline__ void tmm__thin_wait(unsigned barrier, unsigned parity)
{
    tmm__barrier_wait(barrier, parity);
}
#else
static inline __device__ __noinline__ void tmm__thin_wait(unsigned barrier, unsigned parity)
{
    (void)barrier, (void)parity;
    __syncthreads();
}
#endif
#endif
#endif
/* src/tiledmm/kernels/tensor_float/thin_kernel.cuh. Floats as BF16x6 where one operand is thin: the kernels.
   Uses: kernels/common/, kernels/tensor_float/, once/. Used by: thin_launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FLOAT_TENSOR
/* KERNEL THIN FLOAT, split: planes of the thin operand, marks of its bad lines, scales of the large
   one. A thread has 16 k of a line; eight neighbours have eight lines. Products are along y. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_thin_split(const tmm__thin_job job)
{
#if TMM__BODIES && (TMM__WGMMA || !defined(__CUDA_ARCH__))
    const tmm__lines from = job.thin;
    const int halves = 2 * job.steps, cols = job.cols, K = (int)job.c.K;
    const long long self = blockIdx.x * 256ll + threadIdx.x;
    tmm__wait_for_previous();
    tmm__let_next_begin(); /* then what was before this launch is complete for the next one, too */
    if (self == 0 && blockIdx.y == 0) job.marks[0] = 0; /* a graph has the same ticket again */
    for (long long i = blockIdx.y * (gridDim.x * 256ll) + self; i < job.scales;
         i += gridDim.y * (gridDim.x * 256ll))
        job.large_scales[i] = 1;
    int group = (int)(self / 8 / halves), half = (int)(self / 8 % halves);
    int line = group * 8 + (int)self % 8, block = line / cols, in = line % cols;
    if (block >= job.blocks) return;
    float x[16];
    const bool vectors = tmm__vector_loads(&from);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int k = half * 16 + i * 8;
        tmm__load8(x + 8 * i,
                   from.X + blockIdx.y * from.product_stride + line * from.line_stride +
                       k * from.k_stride,
                   from.k_stride, line < from.lines ? K - k : 0, vectors);
    }
    unsigned words[3][2][4], most = 0, inexact = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned terms[3];
        int k = i % 4 * 4 + i / 4 * 2;
        inexact |= tmm__bf16_triple(x[k], x[k + 1], terms);
        most = tmm__bf16_most(most, terms[0]);
#pragma unroll
        for (int t = 0; t < 3; t++) words[t][i / 4][i % 4] = terms[t];
    }
    unsigned char *to = job.planes + blockIdx.y * job.next_planes +
                        ((long long)block * halves + half) * (cols * 96) + in / 8 * 256 +
                        in % 8 * 16;
#pragma unroll
    for (int i = 0; i < 6; i++) {
        const unsigned *w = words[i / 2][i % 2];
        *(uint4 *)(to + i / 2 * (cols * 32) + i % 2 * 128) = make_uint4(w[0], w[1], w[2], w[3]);
    }
    if (tmm__thin_is_bad(&job, most, inexact))
        job.marks[1 + blockIdx.y * job.next_thin + line] = job.ticket;
#else
    (void)job;
#endif
}

/* KERNEL THIN FLOAT, sum: a block has 128 lines of the large operand, and 8 of the thin one or one.
   Then 8 warps share the partial tiles of each element. Latency bounds it: partial tiles are in L2. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_thin_sum(const tmm__thin_job job)
{
#if TMM__BODIES && (TMM__WGMMA || !defined(__CUDA_ARCH__))
    __shared__ __align__(16) unsigned char memory[TMM__RECHECK_BYTES];
    enum { PITCH = TMM__THIN_LINES + 4 };
    float *sums = (float *)memory;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, cols = job.cols;
    const bool apart = job.groups > 1;
    const int rows = apart ? 1 : 8, pieces = cols / rows; /* of the thin operand in a block */
    const int tile = (int)blockIdx.x / pieces % job.tiles, in = (int)blockIdx.x % pieces * rows;
    const long long product = (int)blockIdx.x / pieces / job.tiles;
    const int line0 = tile / job.blocks * TMM__THIN_LINES, thin0 = tile % job.blocks * cols + in;
    const int lines = (int)job.large.lines, thins = (int)job.thin.lines;
    const long long first = ((long long)tile * job.steps + 1) * job.shares - 1;
    const long long last = ((tile + 1ll) * job.steps) * job.shares - 1;
    const int begin = (int)(first / job.units), count = (int)(last / job.units) - begin + 1;
    const int share = apart ? (count + 7) / 8 : count, from = apart ? warp * share : 0;
    const int end = min(from + share, count), row = apart ? 0 : warp;
    const size_t step = (size_t)cols * TMM__THIN_LINES;
    const float *part = job.partials + product * job.next_partials +
                        ((size_t)tile + begin + from) * step + (in + row) * TMM__THIN_LINES +
                        lane * 4;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool any = *(volatile unsigned long long *)job.marks == job.ticket;
    float4 sum = make_float4(0, 0, 0, 0);
    if (thin0 + row < thins) {
#pragma unroll 4
        for (int i = from; i < end; i++) {
            float4 x = __ldcg((const float4 *)part);
            sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
            part += step;
        }
    }
    *(float4 *)(sums + warp * PITCH + lane * 4) = sum;
    __syncthreads();
    if (apart && warp == 0) {
#pragma unroll
        for (int i = 1; i < 8; i++) {
            float4 x = *(const float4 *)(sums + i * PITCH + lane * 4);
            sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
        }
        *(float4 *)(sums + lane * 4) = sum;
    }
    if (apart) __syncthreads();
        /* Neighbours in a row of C by neighbouring threads. */
#pragma unroll 1
    for (int i = thread; i < rows * TMM__THIN_LINES; i += 256) {
        int l = job.turned ? i / rows : i % TMM__THIN_LINES, line = line0 + l;
        int t = job.turned ? i % rows : i / TMM__THIN_LINES, thin = thin0 + t;
        bool good = line < lines && thin < thins;
        if (any && good)
            good = job.large_scales[product * job.next_large + line] *
                       job.thin_scales[product * job.next_thin + thin] !=
                   0;
        int r = job.turned ? line : thin, c = job.turned ? thin : line;
        tmm__xstore_masked(job.c.C + product * job.c.batchC + r * job.c.ldc + c, r, c, 1, good,
                           job.c.alpha, job.c.beta, &sums[t * PITCH + l]);
    }
    __syncthreads();
    if (any) tmm__xrecheck(&job.c, sums, thread, false, true, false, false, 64, 64, 1, 0);
#else
    (void)job;
#endif
}
#endif

#if defined(TMM__PASS) && TMM__FLOAT_TENSOR && (TMM__THIN_LIST(TMM__IN_PASS) 0)
enum {
    tmm__thin_cols = (TMM__THIN_LIST(TMM__VALUE_1) 0),
    tmm__this_thin_bytes =
        (TMM__THIN_LIST(TMM__VALUE_2) 0) * (TMM__THIN_STAGE + 192 * tmm__thin_cols + 16)
};
static_assert(tmm__thin_cols == 32 || tmm__thin_cols == 64 || tmm__thin_cols == 96 ||
                  tmm__thin_cols == 128,
              "TMM__THIN_LIST: a tile has 32, 64, 96 or 128 lines of the thin operand: "
              "tmm__wgmma_thin multiplies by these");
static_assert((TMM__THIN_LIST(TMM__IN_PASS) 0) == 1,
              "TMM__THIN_LIST: each instance needs a pass of its own");
static_assert((TMM__THIN_LIST(TMM__VALUE_2) 0) >= 2, "TMM__THIN_LIST: stages must be 2 at least");
static_assert(tmm__this_thin_bytes <= 227 * 1024,
              "TMM__THIN_LIST: stages must fit into the 227 KB that a block has on sm_90a");

/* KERNEL THIN FLOAT, multiply: 128 lines of the large operand by `cols` of the thin one. 384 threads:
   two warpgroups multiply, 64 lines each; the third one copies both operands, STAGES steps ahead, also
   into the next tile. Terms of the next step are made while tensor cores multiply:
       copies        | s5 | s0 | s1 | s2 |        16 KB of the large operand a step, and planes
       registers     | terms of 1 | terms of 2 |
       tensor cores  | step 0     | step 1     |        12 wgmma
   Block b has units b T / G to (b + 1) T / G of the T, for G blocks of a product; products are along
   y. Its partial tile of tile t has place t + b, for each next partial tile has another tile, or
   another block, or both. No block waits for another one.

   A step, 128 x cols x 32 six times, takes tensor cores 12 clocks a column, 768 for 64. It brings
   16 KB from memory, of which a multiprocessor gets 24 KB in a microsecond: 1180 clocks. So memory
   bounds it up to 64 columns or so, tensor cores beyond. */
TMM_KERNEL void __launch_bounds__(384, 1) tmm__gemm_float_thin(const tmm__thin_job job)
{
#if TMM__BODIES && (TMM__WGMMA || !defined(__CUDA_ARCH__))
    enum { COLS = tmm__thin_cols, STAGES = (TMM__THIN_LIST(TMM__VALUE_2) 0), STAGE = 192 * COLS };
    extern __shared__ __align__(16) unsigned char tmm__memory[];
    /* Barriers come last: copies to addresses off 32 bytes read sectors twice. */
    unsigned char *planes = tmm__memory + STAGES * (int)TMM__THIN_STAGE;
    unsigned long long *full = (unsigned long long *)(planes + STAGES * STAGE);
    const int thread = threadIdx.x, lane = thread % 32, steps = job.steps;
    const long long begin = blockIdx.x * job.units / job.shares;
    const int count = (int)((blockIdx.x + 1) * job.units / job.shares - begin);
    const int tile = (int)(begin / steps), step = (int)(begin % steps);
    int stage = 0;
    const unsigned fulls = (unsigned)__cvta_generic_to_shared(full);
    unsigned parity = 0;
#if TMM__WGMMA
    const unsigned empties = fulls + 8 * STAGES;
    if (thread == 0) {
        for (int i = 0; i < STAGES; i++) {
            tmm__barrier_init(fulls + 8 * i, 129); /* 128 threads, and the bytes of planes */
            tmm__barrier_init(empties + 8 * i, 8);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
#endif
    tmm__let_next_begin();
    /* Each thread has 168 registers. What four warps give away is what eight take. */
    if (thread >= 256) {
        const int self = thread - 256;
        float *stages = (float *)tmm__memory;
        unsigned long long policy = 0;
        tmm__thin_walk walk = {NULL, step, tile % job.blocks, tile / job.blocks, 0, 0};
        const unsigned char *first = job.planes + blockIdx.y * job.next_planes;
        const unsigned char *from = first + ((long long)walk.block * steps + step) * STAGE;
#if TMM__WGMMA
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
        tmm__thin_begin(&job, &walk, self);
#pragma unroll 1
        for (int i = 0; i < count; i++) {
#if TMM__WGMMA
            if (i >= STAGES) tmm__barrier_wait(empties + 8 * stage, parity ^ 1);
#endif
            tmm__thin_copy(&job, &walk, stages + stage * (TMM__THIN_STAGE / 4), self, policy);
            if (i == 0 && self < 32) { /* what else there is to read comes from the launch before */
                tmm__wait_for_previous();
                const long long line = blockIdx.y * job.next_thin;
                const bool own = blockIdx.x == 0 && (blockIdx.y == 0 || line > 0);
                for (int j = lane; own && j < job.thin.lines; j += 32) {
                    const bool bad = job.marks[1 + line + j] == job.ticket;
                    job.thin_scales[line + j] = bad ? 0 : 1;
                    if (bad) job.marks[1 + line + j] = 0, job.marks[0] = job.ticket;
                }
            }
#if TMM__WGMMA
            tmm__barrier_arrive_copied(fulls + 8 * stage);
            if (self == 0) {
                tmm__barrier_expect(fulls + 8 * stage, STAGE);
                tmm__copy_bulk((unsigned)__cvta_generic_to_shared(planes + stage * STAGE), from,
                               STAGE, fulls + 8 * stage);
            }
            if (stage == STAGES - 1) parity ^= 1;
#else
            for (int j = self; j < STAGE / 16; j += 128)
                ((uint4 *)(planes + stage * STAGE))[j] = ((const uint4 *)from)[j];
            tmm__thin_wait(fulls, 0);
#endif
            if (++stage == STAGES) stage = 0;
            from += STAGE;
            if (walk.step == 0 && walk.block == 0) from = first;
        }
        return;
    }
#if TMM__WGMMA
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
#endif
    const float *mine = (const float *)tmm__memory + tmm__thin_place(&job, thread);
    float sum[COLS / 2], c[COLS / 2];
    unsigned terms[2][2][3][4], most[2] = {0, 0}, inexact[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < COLS / 2; i++) sum[i] = c[i] = 0;
    float *partial = job.partials + blockIdx.y * job.next_partials +
                     ((size_t)tile + blockIdx.x) * (COLS * (int)TMM__THIN_LINES) +
                     thread / 32 * 16 + lane / 4 * 2 + lane % 4 * (2 * TMM__THIN_LINES);
    int line = tile / job.blocks * TMM__THIN_LINES + thread / 32 * 16 + lane / 4 * 2;
    int block = tile % job.blocks, left = min(steps - step, count); /* steps of this tile */
    tmm__wait_for_previous();
    if (count > 0) {
        tmm__thin_wait(fulls, 0);
        tmm__thin_split(mine, job.along_k, terms[0], most, inexact);
    }
#pragma unroll 1
    for (int pair = 0; pair < count; pair += 2) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int i = pair + h;
            if (i >= count) break;
            tmm__thin_products(c, terms[h], planes + stage * STAGE, COLS);
            const bool ends = --left == 0;
            if (ends) { /* all terms of its lines have been made */
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const long long at = blockIdx.y * job.next_large + line + j;
                    if (tmm__thin_is_bad(&job, most[j], inexact[j]) && line + j < job.large.lines)
                        job.large_scales[at] = 0, job.marks[0] = job.ticket;
                    most[j] = inexact[j] = 0;
                }
            }
            const int next = stage + 1 < STAGES ? stage + 1 : 0;
            if (i + 1 < count) {
                tmm__thin_wait(fulls + 8 * next, parity ^ (next == 0));
                tmm__thin_split(mine + next * (TMM__THIN_STAGE / 4), job.along_k, terms[1 - h],
                                most, inexact);
            }
#if TMM__WGMMA
            tmm__wgmma_wait(c, COLS / 2, 0);
            if (lane == 0) tmm__barrier_arrive(empties + 8 * stage);
            if (next == 0) parity ^= 1;
#endif
            stage = next;
#pragma unroll
            for (int j = 0; j < COLS / 2; j++) sum[j] += c[j];
            if (!ends) continue;
#pragma unroll
            for (int j = 0; j < COLS / 4; j++) {
                int n = j / 2 * 4 + j % 2;
                *(float2 *)(partial + (j / 2 * 8 + j % 2) * TMM__THIN_LINES) =
                    make_float2(sum[n], sum[n + 2]);
                sum[n] = sum[n + 2] = 0;
            }
            partial += COLS * (int)TMM__THIN_LINES;
            left = min(steps, count - 1 - i);
            if (++block == job.blocks) block = 0, line += TMM__THIN_LINES;
        }
    }
#else
    (void)job;
#endif
}
#endif
/* src/tiledmm/kernels/tensor_int8/types.cuh. Doubles on INT8 tensor cores: the method, and what host and
   device share.
   Uses: once/. Used by: kernels/tensor_int8/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR && !defined(TMM__DOUBLE_ONCE)
/* ============================== KERNEL TENSOR INT8 ============================================ */
/* Products of double matrices on tensor cores that multiply bytes: the Ozaki scheme II, after
   Ozaki, Uchino and Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of floating-point matrix
   multiplication using an integer modular technique", 2025. Lines, rows of op(A) and columns of
   op(B), are scaled and rounded to integers. Their product is computed modulo L coprime numbers of
   at most 256, and put together by the Chinese remainder theorem. u is 2^-53 throughout.

   1. Scale.     a_s = 2^s a, exactly; s the largest integer with |a_s|_2 <= S(L)
   2. Integers.  a' = rint(a_s), |a'| < 2^63. |A'B'| < 0.49 P by Cauchy and Schwarz, P the product
                 of the L moduli: (S + sqrt(K) / 2)^2 <= 0.49 P
   3. Residues   of a' q_l and b' modulo p_l, a byte each; q_l = (P / p_l)^-1 mod p_l
   4. Products   y_l = sum a b mod p_l by tensor cores; exact in 32 bits up to K = 66048
   5. Sums.      A'B' = sum y_l P / p_l - q P in 128 bits, q = round(sum y_l / p_l); then rounded to
                 double: three roundings at most, none for integers; times 2^-(s_i + s_j)

   The bound. Rounding to integers changes an element by 1/2 at most, so with everything scaled
       |C - AB|_ij <= E (1 + 3 u) + 3 u (|a_s| |b_s|)_ij,   E = (|a_s|_1 + |b_s|_1) / 2 + K / 4
   which is at most (K + 2) u (|a_s| |b_s|)_ij, as of every other kernel, if
       (|a_s| |b_s|)_ij >= T_ij = E (1 + 1e-5) / ((K - 2) u)                                    (*)
   An element for which (*) is shown is `proved`. There are two ways to show it, both rigorous:
       |A'B'|_ij itself is T_ij or more
       the product of units is: of some blocks of 128 k, each |x| is cut down to a multiple of its
       line's unit, mean |x| / 32, and to 255 units at most. INT8 tensor cores multiply these bytes,
       too. Sums over some k of what is cut down are lower bounds of |a| |b|.
   All others are `open`, and computed again by FP64 multiply-adds in ascending k: lines with NaN,
   infinity or magnitudes beyond 2^+-800 make T NaN, so all of their elements are. A line of zeros
   has T = 0. For how many elements are open by data and L see bench/notes/tensor_int8.md.

   How many moduli. T depends on L by s alone, and s by the line's norm, which is kept. So the
   products of units come first, and tell of each element which L prove it. The device takes the L
   from 13 to 16, or FP64 for all, that costs least: see tmm__int8_decide. The host does not wait.
   Products whose bits must not depend on M, N or other lines (batches, blocks of host matrices)
   take 16.

   Prepared operands keep lines, units and planes of 16 moduli, as each L has its own s. Products
   with them take 16, or FP64 for all. Sums longer than 65536 are cut when they are prepared.

   Launches: norms, scales, units, products of units, choice, residues, products, sums, open
   elements; where FP64 has tensor cores, KERNEL TENSOR for the case of FP64 for all. Each ends at
   once if the choice leaves it nothing to do.

   Memory, in bytes: of A and B 16 for an element, and 1 for one of `every`; of C 17 and 1/8.
       planes of A and B   [modulus][k / 128][line / 64], blocks of 8 KB: 64 lines x 128 k. 16 bytes
                           from k on of line r lie at r * 128 + (k / 16 ^ r % 8) * 16, K-major with
                           128-byte swizzle (PTX ISA 9.7, "Asynchronous Warpgroup Level Matrix Shared
                           Memory Layout"). Lines that follow each other are contiguous for one
                           block of k, and plain copies bring them to shared memory as they are.
       planes of C         [row / 64][column / 32][plane], pieces of 2 KB: 64 x 32 elements in the
                           order of fragments. Thread t of 128 has 16 bytes at 16 t,
                               byte 4 j + 2 h + i = element (t / 32 * 16 + t % 32 / 4 + 8 h,
                                                             8 j + 2 (t % 4) + i)
                           Plane 16 has the products of units, as logarithms. */
enum {
    TMM__INT8_LEAST = 13, /* moduli */
    TMM__INT8_MOST = 16,
    TMM__INT8_CHOICES = TMM__INT8_MOST - TMM__INT8_LEAST + 1,
    TMM__INT8_UNITS = TMM__INT8_MOST, /* the plane of C with the products of units */
    TMM__INT8_PLANES = TMM__INT8_MOST + 1,
    TMM__INT8_GROUPS = 6, /* of up to three moduli: see tmm__int8_tables */
    TMM__INT8_K = 128,    /* of a block */
    TMM__INT8_LINES = 64,
    TMM__INT8_BLOCK = TMM__INT8_K * TMM__INT8_LINES,
    TMM__INT8_PIECE = 2048,   /* bytes of 64 x 32 elements of C */
    TMM__INT8_NORM_K = 256,   /* that a block of KERNEL NORMS adds up */
    TMM__INT8_EXPONENT = 800, /* of the largest magnitude of a line, at most */
    TMM__INT8_K_MOST = 65536, /* to a launch: 255^2 times it is below 2^32 */
    TMM__INT8_SPARSE = 64,    /* open elements of a tile of 64 x 64 that are computed one by one */
    TMM__INT8_BAND = 4        /* rows of tiles that are walked together */
};

/* An operand as it is given. */
typedef struct tmm__int8_lines {
    const double *X;
    long long lines, line_stride, k_stride; /* in elements */
} tmm__int8_lines;

/* What is kept of a line. Its 2-norm is at most 2^(size / 256); `one` and `unit` are in units of
   2^(size / 256, rounded down), e below. A line of zeros: all 0. One that is not to be used: `one`
   is NaN, the others 0. */
typedef struct alignas(16) tmm__int8_line {
    int size;
    float one;      /* |x|_1 */
    float unit;     /* of what proves the bound */
    float per_unit; /* a little less than 1 / unit */
} tmm__int8_line;

/* 1-norm, largest magnitude and sum of squares of a line's elements in a chunk of k. */
typedef struct tmm__int8_norm {
    double one, most, two;
} tmm__int8_norm;

/* An operand as the kernels make it. */
typedef struct tmm__int8_operand {
    tmm__int8_line *lines; /* 64 line_blocks of them */
    unsigned char *units;  /* one plane of every `every`-th block of k */
    unsigned char *planes;
    int pitch; /* blocks of 64 lines from one block of k to the next */
} tmm__int8_operand;

/* How a residue is computed: see tmm__xgemm_int8_bytes. */
typedef struct tmm__int8_modulus {
    unsigned weights[2]; /* of the eight bytes of x' + 2^63: 2^(8 i) mod p, signed bytes */
    unsigned first;      /* 1.5 * 2^23 as a float, plus what -2^63 gives */
} tmm__int8_modulus;

/* What depends on the moduli and K: made by the host, passed to kernels by value. Of four choices
   of L. Moduli go by groups of up to three: n = sum y_l Q / p_l is below 3 Q, Q their product.
   Group 0 to 2 have moduli 0 to 8, group 3: 9, 10, 13; group 4: 11, 12, 14; group 5: 15. */
typedef struct tmm__int8_residues {
    tmm__int8_modulus a[TMM__INT8_CHOICES][TMM__INT8_MOST], b[TMM__INT8_MOST];
    float reciprocal[TMM__INT8_MOST], minus_p[TMM__INT8_MOST], half[TMM__INT8_MOST];
    int limit[TMM__INT8_CHOICES]; /* 256 log2 S */
} tmm__int8_residues;

typedef struct tmm__int8_sums {
    /* Q / p_l of the three of a group: low and high bytes; 0: no such modulus. */
    unsigned low[TMM__INT8_CHOICES][TMM__INT8_GROUPS], high[TMM__INT8_CHOICES][TMM__INT8_GROUPS];
    unsigned weight[TMM__INT8_CHOICES][TMM__INT8_GROUPS][4]; /* P / Q, low word first */
    unsigned quotient[TMM__INT8_CHOICES][TMM__INT8_GROUPS];  /* 2^44 / Q; of group 5, 2^24 / p */
    unsigned minus_P[TMM__INT8_CHOICES][4];                  /* 2^128 - P */
    int limit[TMM__INT8_CHOICES];
    float kappa,
        half_K; /* T = kappa (one_i g_j + one_j g_i + half_K g_i g_j): tmm__int8_threshold */
} tmm__int8_sums;

/* What is decided on the device. `decided` comes last. */
typedef struct tmm__int8_state {
    unsigned long long failed[TMM__INT8_CHOICES]; /* elements that so many moduli leave open */
    unsigned long long looked;                    /* at so many elements */
    unsigned arrived;                             /* blocks that have counted */
    unsigned moduli;                              /* 0: FP64 for all */
    unsigned open;                                /* whether there are open elements */
    unsigned pace;                                /* see tmm__keep_pace */
} tmm__int8_state;

/* The products of bytes of a launch. */
typedef struct tmm__int8_products {
    const unsigned char *a, *b; /* planes */
    unsigned char *C;           /* planes */
    tmm__int8_state *state;     /* whose `moduli` says how many; NULL: the plane of units */
    int a_blocks, b_blocks;     /* of 64 lines, that there are */
    int a_pitch, b_pitch;       /* of them, from one block of k to the next */
    int k_blocks;
    int pieces_down, pieces_across; /* of C: 64 rows, 32 columns */
    int tiles_down, tiles_across;   /* of the kernel */
    int keep_pace;
    unsigned p[TMM__INT8_MOST], inverse[TMM__INT8_MOST]; /* floor(2^32 / p) */
} tmm__int8_products;

/* A product, as what comes after the products of bytes takes it. */
typedef struct tmm__int8_job {
    tmm__int8_lines from_a, from_b;
    tmm__int8_operand a, b;
    const unsigned char *planes; /* of C */
    unsigned short *open;        /* [piece][thread]: bit 4 j + 2 h + i */
    tmm__int8_state *state;
    double *C;
    long long ldc, K;
    int M, N, pieces_down, pieces_across;
    int fp64_elsewhere; /* whether KERNEL TENSOR computes all if FP64 is chosen */
    double alpha, beta;
} tmm__int8_job;
#endif
/* src/tiledmm/kernels/tensor_int8/numbers.cuh. Residues, 128-bit sums, and which elements of C are
   proved.
   Uses: types.cuh, once/. Used by: kernels/tensor_int8/. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR && !defined(TMM__DOUBLE_ONCE)
TMM__DEVICE float tmm__float_from(unsigned bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

TMM__DEVICE unsigned tmm__bits_from(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}

/* 2^n, n within the range of normal numbers. */
TMM__DEVICE double tmm__power_of_two(int n)
{
    unsigned long long bits = (unsigned long long)(1023 + n) << 52;
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* c + sum of four products of the bytes of a, unsigned, and of b, signed: PTX ISA 9.7, "dp4a". */
TMM__DEVICE unsigned tmm__dot_bytes(unsigned a, unsigned b, unsigned c)
{
#if defined(__CUDA_ARCH__)
    unsigned d;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
#else
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (unsigned)(int)(signed char)(b >> i);
    return c;
#endif
}

/* The same of unsigned bytes alone. */
TMM__DEVICE unsigned tmm__dot_unsigned(unsigned a, unsigned b)
{
#if defined(__CUDA_ARCH__)
    unsigned d;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));
    return d;
#else
    unsigned c = 0;
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
    return c;
#endif
}

/* The lowest bytes of four words, a's first. */
TMM__DEVICE unsigned tmm__low_bytes(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* The integer nearest to x, ties to even, |x| < 2^63. */
TMM__DEVICE long long tmm__nearest(double x)
{
#if defined(__CUDA_ARCH__)
    return __double2ll_rn(x);
#else
    return llrint(x);
#endif
}

/* What remains of a sum of products of bytes, in [0, 2^32): modulo p, inverse being floor(2^32 /
   p). The quotient found is right or 1 too small. */
TMM__DEVICE unsigned tmm__int8_remainder(unsigned x, unsigned p, unsigned inverse)
{
    x -= __umulhi(x, inverse) * p;
    unsigned less = x - p;
    return x < less ? x : less;
}

/* A byte for a sum of products of units: 8 times its logarithm, rounded down. Of what it was at
   least tmm__int8_from_log tells: 7/8 of it or more. 0 may be 0 or 1. */
TMM__DEVICE unsigned tmm__int8_log(unsigned x)
{
    /* To float by cutting off: 24 bits at most are left after that. */
    float cut = (float)(x >= 0x1000000u ? x & 0xffffff00u : x);
    return x == 0 ? 0 : (tmm__bits_from(cut) >> 20) - (127 << 3);
}

TMM__DEVICE float tmm__int8_from_log(unsigned code)
{
    return code == 0 ? 0 : tmm__float_from((code << 20) + (127u << 23));
}

/* How far a line is scaled for a choice of moduli: x' = rint(2^s x). */
TMM__DEVICE int tmm__int8_shift(int limit, int size)
{
    return (limit - size) >> 8;
}

/* g = 2^-(s + e), so that |x_s|_1 g = one; 0 for a line of zeros, which makes T = 0. */
TMM__DEVICE float tmm__int8_rest(int limit, const tmm__int8_line *line)
{
    int exponent = tmm__int8_shift(limit, line->size) + (line->size >> 8);
    return line->one == 0 ? 0 : tmm__float_from((unsigned)(127 - exponent) << 23);
}

/* T_ij for one line, to be put together by tmm__int8_threshold; all in units of 2^(e_i + e_j). */
typedef struct tmm__int8_part {
    float slope, own; /* T = slope g_j + own one_j */
} tmm__int8_part;

TMM__DEVICE tmm__int8_part tmm__int8_half(const tmm__int8_line *line, float g, float kappa,
                                          float half_K)
{
    tmm__int8_part part;
    part.own = kappa * g;
    part.slope = kappa * line->one + part.own * half_K;
    return part;
}

TMM__DEVICE float tmm__int8_threshold(tmm__int8_part row, float col_g, float col_one)
{
    return row.slope * col_g + row.own * col_one;
}

/* Which L from `least` on costs least, 0 for FP64, in units of a product of bytes. `fp64`: all
   elements by FP64; `each`: all one by one, if all were open; `first`: that there is one. */
TMM__DEVICE unsigned tmm__int8_decide(const volatile tmm__int8_state *state, int least, float fp64,
                                      float each, float first)
{
    unsigned best = 0;
    float lowest = fp64;
    double all = (double)state->looked;
    for (int i = least - TMM__INT8_LEAST; i < TMM__INT8_CHOICES; i++) {
        float cost = TMM__INT8_LEAST + i + each * (float)((double)state->failed[i] / all);
        if (state->failed[i] > 0) cost += first;
        if (cost < lowest) lowest = cost, best = TMM__INT8_LEAST + i;
    }
    return best;
}

/* c += a b by a warp, of bytes without sign: a 16 x 32, b 32 x 8, modulo 2^32. For lane l, g = l /
   4 and t = l % 4; each word of a and b is four neighbours along k (PTX ISA 9.7, "Matrix Fragments
   for mma.m16n8k32"; before sm_80 "mma.m8n8k16", four of which are as much):
       a[0] = a(g, 4t)  a[1] = a(g + 8, 4t)  a[2] = a(g, 4t + 16)  a[3] = a(g + 8, 4t + 16)
       b[0] = b(4t, g)  b[1] = b(4t + 16, g)
       c[0], c[1] = c(g, 2t), c(g, 2t + 1)   c[2], c[3] = c(g + 8, 2t), c(g + 8, 2t + 1) */
TMM__DEVICE void tmm__mma_bytes(unsigned *c, const unsigned *a, const unsigned *b)
{
#if TMM__ASYNC
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
#pragma unroll
    for (int i = 0; i < 4; i++)
        asm volatile(
            "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+r"(c[i % 2 * 2]), "+r"(c[i % 2 * 2 + 1])
            : "r"(a[i]), "r"(b[i / 2]));
#else
    int lane = threadIdx.x % 32, g = lane / 4 * 4, t = lane % 4 * 8;
    if (!__any_sync(0xffffffffu, (a[0] | a[1] | a[2] | a[3]) != 0)) return; /* padding */
    if (!__any_sync(0xffffffffu, (b[0] | b[1]) != 0)) return;
    const unsigned long long near_a = (unsigned long long)a[1] << 32 | a[0];
    const unsigned long long far_a = (unsigned long long)a[3] << 32 | a[2];
    const unsigned long long both_b = (unsigned long long)b[1] << 32 | b[0];
    for (int k = 0; k < 4; k++) { /* words along k, and those 16 k further on */
        unsigned long long two_a[2] = {__shfl_sync(0xffffffffu, near_a, g + k),
                                       __shfl_sync(0xffffffffu, far_a, g + k)};
        unsigned long long two_b[2] = {__shfl_sync(0xffffffffu, both_b, t + k),
                                       __shfl_sync(0xffffffffu, both_b, t + 4 + k)};
        for (int n = 0; n < 8; n++) /* bytes, of the near words first */
            for (int i = 0; i < 4; i++)
                c[i] += (unsigned)(two_a[n / 4] >> (i / 2 * 32 + n % 4 * 8) & 255) *
                        (unsigned)(two_b[i % 2] >> 8 * n & 255);
    }
#endif
}

/* Four sums of a thread as a word of a plane of C. */
TMM__DEVICE unsigned tmm__int8_word(const unsigned *c, unsigned p, unsigned inverse, bool units)
{
    return units ? tmm__low_bytes(tmm__int8_log(c[0]), tmm__int8_log(c[1]), tmm__int8_log(c[2]),
                                  tmm__int8_log(c[3]))
                 : tmm__low_bytes(tmm__int8_remainder(c[0], p, inverse),
                                  tmm__int8_remainder(c[1], p, inverse),
                                  tmm__int8_remainder(c[2], p, inverse),
                                  tmm__int8_remainder(c[3], p, inverse));
}

/* Where tile number `tile` of a plane is: bands of TMM__INT8_BAND rows, walked column by column. */
TMM__DEVICE void tmm__int8_find(int tile, int down, int across, int *row, int *col)
{
    int band = tile / (TMM__INT8_BAND * across), in = tile - band * TMM__INT8_BAND * across;
    int rows = down - band * TMM__INT8_BAND;
    if (rows > TMM__INT8_BAND) rows = TMM__INT8_BAND;
    *col = in / rows;
    *row = band * TMM__INT8_BAND + in - *col * rows;
}

/* A piece of C: where its planes are. */
TMM__DEVICE size_t tmm__int8_piece_at(int row, int col, int pieces_across)
{
    return ((size_t)row * pieces_across + col) * (TMM__INT8_PLANES * TMM__INT8_PIECE);
}
#endif
/* src/tiledmm/kernels/tensor_int8/norms.cuh. KERNEL NORMS, SCALES: how far each line is scaled. KERNEL
   CHOICE: how many moduli.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* KERNEL NORMS. 1-norm, largest magnitude and sum of squares of 64 lines in a chunk of 256 k. The
   first groups_A blocks along x have the lines of A; blockIdx.y is the chunk. 256 threads.
       k contiguous        warp w has lines 8 w to 8 w + 7, its lanes neighbours along k
       lines contiguous    thread t has line t % 64, and k = t / 64, t / 64 + 4, ...
   The order of additions depends on K and the op alone, and so do the scales. Reads 8 bytes an
   element, for 3 operations: bound by memory. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_int8_norms(long long K, int groups_A, const tmm__int8_lines a,
                          const tmm__int8_lines b, tmm__int8_norm *norms)
{
    __shared__ tmm__int8_norm of_threads[4][64];
    tmm__let_next_begin();
    tmm__wait_for_previous();
    bool is_A = (int)blockIdx.x < groups_A;
    const tmm__int8_lines from = is_A ? a : b;
    const int thread = threadIdx.x, lane = thread % 32;
    long long line0 = 64ll * ((int)blockIdx.x - (is_A ? 0 : groups_A));
    long long k0 = (long long)blockIdx.y * TMM__INT8_NORM_K;
    int left = K - k0 < TMM__INT8_NORM_K ? (int)(K - k0) : (int)TMM__INT8_NORM_K;
    tmm__int8_norm *to = norms + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * 64;
    if (from.k_stride == 1) {
#pragma unroll 1
        for (int i = 0; i < 8; i++) {
            int line = thread / 32 * 8 + i;
            double one = 0, most = 0, two = 0, x[TMM__INT8_NORM_K / 32];
            int here = line0 + line < from.lines ? left : 0;
            const double *at = from.X + (line0 + line) * from.line_stride + k0 + lane;
#pragma unroll
            for (int j = 0; j < TMM__INT8_NORM_K / 32; j++) {
                x[j] = 0;
                tmm__load_if(&x[j], at + 32 * j, 8, lane + 32 * j < here);
            }
#pragma unroll
            for (int j = 0; j < TMM__INT8_NORM_K / 32; j++) {
                one += fabs(x[j]), two += x[j] * x[j];
                most = fmax(most, fabs(x[j]));
            }
#pragma unroll
            for (int d = 16; d > 0; d /= 2) {
                one += __shfl_xor_sync(0xffffffffu, one, d);
                two += __shfl_xor_sync(0xffffffffu, two, d);
                most = fmax(most, __shfl_xor_sync(0xffffffffu, most, d));
            }
            if (lane == 0) to[line].one = one, to[line].most = most, to[line].two = two;
        }
        return;
    }
    int line = thread % 64, part = thread / 64;
    double one = 0, most = 0, two = 0;
    if (line0 + line >= from.lines) left = 0;
    const double *at = from.X + (line0 + line) * from.line_stride + (k0 + part) * from.k_stride;
#pragma unroll 1
    for (int k = part; k < left; k += 32) {
        double x[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            x[j] = 0;
            tmm__load_if(&x[j], at + 4 * j * from.k_stride, 8, k + 4 * j < left);
        }
        at += 32 * from.k_stride;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            one += fabs(x[j]), two += x[j] * x[j];
            most = fmax(most, fabs(x[j]));
        }
    }
    of_threads[part][line].one = one, of_threads[part][line].two = two;
    of_threads[part][line].most = most;
    __syncthreads();
    if (part > 0) return;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        one += of_threads[i][line].one, two += of_threads[i][line].two;
        most = fmax(most, of_threads[i][line].most);
    }
    to[line].one = one, to[line].most = most, to[line].two = two;
}

/* KERNEL SCALES. Puts the chunks together: a thread has a line. A norm is the smaller of
   sqrt(most * one), which cannot overflow, and sqrt(two), where squares neither overflow nor
   underflow; a little more, for what rounding did. A NaN or infinity is in `one`. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_int8_scales(long long K, int chunks, int lines_A, int lines_B,
                           const tmm__int8_norm *norms, tmm__int8_line *a, tmm__int8_line *b)
{
    int line = blockIdx.x * 256 + threadIdx.x;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    if (line >= lines_A + lines_B) return;
    double one = 0, most = 0, two = 0;
#pragma unroll 4
    for (int i = 0; i < chunks; i++) {
        tmm__int8_norm n = norms[(size_t)i * (lines_A + lines_B) + line];
        one += n.one, two += n.two, most = fmax(most, n.most);
    }
    tmm__int8_line to = {0, 0, 0, 0};
    if (one != 0) {
        double norm = sqrt(most) * sqrt(one);
        if (most > 1e-130 && most < 1e130) norm = fmin(norm, sqrt(two));
        unsigned long long bits;
        norm *= 1 + 1e-9;
        memcpy(&bits, &norm, 8);
        int exponent = (int)(bits >> 52) - 1023;
        bool usable = one < tmm__power_of_two(1023) &&
                      most < tmm__power_of_two(TMM__INT8_EXPONENT) &&
                      most > tmm__power_of_two(-TMM__INT8_EXPONENT);
        to.one = tmm__float_from(0x7fc00000u);
        if (usable) {
            float fraction = (float)(norm * tmm__power_of_two(-exponent));
            to.size = exponent * 256 + (int)ceilf(256 * log2f(fraction) + 0.01f);
            double unit = tmm__power_of_two(-(to.size >> 8));
            to.one = (float)(one * unit) * 1.000001f;
            to.unit = (float)(one * unit / (double)K) / 32;
            to.per_unit = (1 - 1e-6f) / to.unit;
        }
    }
    if (line < lines_A)
        a[line] = to;
    else
        b[line - lines_A] = to;
}

/* KERNEL CHOICE. Counts for each element how many moduli, `least` or more, prove it. It looks at
   all of C or, if that is large, at one piece of `every` on diagonals: the choice decides what
   is fastest, not what is right. The block that counts last decides. A byte an element: bound by
   latency. */
TMM_KERNEL void __launch_bounds__(128)
    tmm__xgemm_int8_choice(const tmm__int8_job job, const tmm__int8_sums tables, int every,
                           int least, float fp64, float each, float first)
{
    __shared__ unsigned of_warps[TMM__INT8_CHOICES + 1][4];
    const int lane = threadIdx.x % 32, t = threadIdx.x;
    unsigned count[TMM__INT8_CHOICES] = {0, 0, 0, 0}, looked = 0;
    const int across = (job.pieces_across + every - 1) / every, pieces = job.pieces_down * across;
    tmm__let_next_begin();
    tmm__wait_for_previous();
#pragma unroll 1
    for (int n = blockIdx.x; n < pieces; n += gridDim.x) {
        int piece_row = n / across,
            piece_col = (n - piece_row * across) * every + piece_row % every;
        if (piece_col >= job.pieces_across) continue;
        int row = piece_row * 64 + t / 32 * 16 + lane / 4, col = piece_col * 32 + lane % 4 * 2;
        uint4 codes = *(const uint4 *)(job.planes +
                                       tmm__int8_piece_at(piece_row, piece_col, job.pieces_across) +
                                       TMM__INT8_UNITS * TMM__INT8_PIECE + t * 16);
        tmm__int8_part parts[2][TMM__INT8_CHOICES];
        float unit[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            tmm__int8_line line = job.a.lines[row + 8 * h];
            unit[h] = line.unit * 0.9999f;
#pragma unroll
            for (int i = 0; i < TMM__INT8_CHOICES; i++)
                parts[h][i] = tmm__int8_half(&line, tmm__int8_rest(tables.limit[i], &line),
                                             tables.kappa, tables.half_K);
        }
#pragma unroll
        for (int j = 0; j < 8; j++) { /* columns */
            unsigned word = j < 2 ? codes.x : j < 4 ? codes.y : j < 6 ? codes.z : codes.w;
            int c = col + j / 2 * 8 + j % 2;
            tmm__int8_line line = job.b.lines[c];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                bool exists = row + 8 * h < job.M && c < job.N;
                float size = tmm__int8_from_log(word >> (16 * h + j % 2 * 8) & 255);
                size *= unit[h] * line.unit;
                if (exists) looked++;
#pragma unroll
                for (int i = 0; i < TMM__INT8_CHOICES; i++) {
                    float threshold =
                        tmm__int8_threshold(parts[h][i], tmm__int8_rest(tables.limit[i], &line),
                                            line.one);
                    if (exists && !(size >= threshold)) count[i]++;
                }
            }
        }
    }
    tmm__int8_state *state = job.state;
#pragma unroll
    for (int i = 0; i <= TMM__INT8_CHOICES; i++) {
        unsigned sum = i < TMM__INT8_CHOICES ? count[i] : looked;
#pragma unroll
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) of_warps[i][t / 32] = sum;
    }
    __syncthreads();
    if (t <= TMM__INT8_CHOICES) {
        unsigned long long sum = 0;
        for (int i = 0; i < 4; i++) sum += of_warps[t][i];
        atomicAdd(t < TMM__INT8_CHOICES ? &state->failed[t] : &state->looked, sum);
    }
    __threadfence();
    __syncthreads();
    if (t == 0 && atomicAdd(&state->arrived, 1u) == gridDim.x - 1) {
        __threadfence();
        state->moduli = tmm__int8_decide(state, least, fp64, each, first);
    }
}
#endif
/* src/tiledmm/kernels/tensor_int8/residues.cuh. KERNEL RESIDUES: an operand becomes bytes.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* 32 elements of a thread, of the 64 lines x 128 k of its block. If k is contiguous: 8 lines from
   thread / 32 * 8 on, of 4 k from thread % 32 * 4 on. Else line thread % 64, 32 k from thread / 64
   * 32 on. Zeros where there is no element. All loads of a thread are under way at once. */
TMM__DEVICE void tmm__xgemm_int8_load(const tmm__int8_lines from, long long line0, long long k0,
                                      long long K, double *x)
{
    const int thread = threadIdx.x;
    const bool along_k = from.k_stride == 1;
    bool pairs = along_k && ((size_t)from.X | (size_t)from.line_stride * 8) % 16 == 0;
    bool whole = line0 + 64 <= from.lines && k0 + TMM__INT8_K <= K;
    int line = along_k ? thread / 32 * 8 : thread % 64;
    int k = along_k ? thread % 32 * 4 : thread / 64 * 32;
    const double *at = from.X + (line0 + line) * from.line_stride + (k0 + k) * from.k_stride;
    if (whole && pairs) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            double2 two = *(const double2 *)(at + i / 2 * from.line_stride + i % 2 * 2);
            x[2 * i] = two.x, x[2 * i + 1] = two.y;
        }
    } else if (whole && !along_k) {
#pragma unroll
        for (int i = 0; i < 32; i++) x[i] = at[i * from.k_stride];
    } else {
#pragma unroll
        for (int i = 0; i < 32; i++) {
            int down = along_k ? i / 4 : 0, deep = along_k ? i % 4 : i;
            x[i] = 0;
            tmm__load_if(&x[i], at + down * from.line_stride + deep * from.k_stride, 8,
                         line0 + line + down < from.lines && k0 + k + deep < K);
        }
    }
}

/* Elements become integers of 64 bits, in two words, or (`units`) numbers of units in the lower
   one; zeros, of lines that are not to be used. */
TMM__DEVICE void tmm__xgemm_int8_scale(const tmm__int8_line *lines, bool along_k, int limit,
                                       bool units, const double *x, unsigned *lo, unsigned *hi)
{
    const int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 8; i++) { /* four elements */
        tmm__int8_line l = lines[along_k ? thread / 32 * 8 + i : thread % 64];
        double scale = tmm__power_of_two(units ? -(l.size >> 8) : tmm__int8_shift(limit, l.size));
#pragma unroll
        for (int j = 4 * i; j < 4 * i + 4; j++) {
            double scaled = l.one > 0 ? x[j] * scale : 0;
            if (units) {
                lo[j] = (unsigned)fminf((float)fabs(scaled) * l.per_unit, 255.0f), hi[j] = 0;
            } else {
                unsigned long long n = (unsigned long long)tmm__nearest(scaled);
                lo[j] = (unsigned)n, hi[j] = (unsigned)(n >> 32) ^ 0x80000000u;
            }
        }
    }
}

/* Residues of four elements. x' + 2^63 has eight bytes. Byte i times 2^(8 i) mod p, and the residue
   of -2^63, add up to 18 bits, the mantissa of a float. Adding 1.5 * 2^23 rounds the quotient. The
   remainder is the float's low byte. */
TMM__DEVICE unsigned tmm__xgemm_int8_bytes(const tmm__int8_modulus m, float reciprocal,
                                           float minus_p, float half, const unsigned *lo,
                                           const unsigned *hi)
{
    const float magic = 12582912.0f;
    unsigned residue[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned sum = tmm__dot_bytes(lo[j], m.weights[0], m.first);
        float s = tmm__float_from(tmm__dot_bytes(hi[j], m.weights[1], sum));
        float q = __fadd_rn(__fmaf_rn(__fsub_rn(s, half), reciprocal, magic), -magic);
        residue[j] = tmm__bits_from(__fmaf_rn(q, minus_p, s));
    }
    return tmm__low_bytes(residue[0], residue[1], residue[2], residue[3]);
}

/* KERNEL RESIDUES. A block of 256 threads has 64 lines x 128 k in registers, 32 elements a thread,
   and makes a block of 8 KB of each modulus, through a ring in shared memory:
       registers      | residues 0 | residues 1 | residues 2 | ...
       bulk copies                 | 0 to memory| 1 to memory|
   The first groups_A blocks along x have lines of A. `state`: says how many moduli; NULL: units of
   every `every`-th block of k. Reads 8 bytes an element and writes L, for 6 instructions each:
   bound by memory. */
TMM_KERNEL void __launch_bounds__(256, 2)
    tmm__xgemm_int8_residues(long long K, int groups_A, int every, const tmm__int8_lines a,
                             const tmm__int8_lines b, const tmm__int8_operand to_a,
                             const tmm__int8_operand to_b, const tmm__int8_state *state,
                             const tmm__int8_residues tables)
{
    enum { STAGES = 4 };
    __shared__ __align__(128) unsigned char ring[STAGES][TMM__INT8_BLOCK];
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool is_A = (int)blockIdx.x < groups_A, units = state == NULL;
    const int thread = threadIdx.x, group = (int)blockIdx.x - (is_A ? 0 : groups_A);
    const int moduli = units ? 1 : (int)state->moduli;
    if (moduli == 0) return; /* FP64 for all */
    const int choice = units ? 0 : moduli - TMM__INT8_LEAST;
    const tmm__int8_operand to = is_A ? to_a : to_b;
    const tmm__int8_lines from = is_A ? a : b;
    const bool along_k = from.k_stride == 1;
    unsigned lo[32], hi[32];
    double x[32];
    tmm__xgemm_int8_load(from, 64ll * group, (long long)blockIdx.y * every * TMM__INT8_K, K, x);
    tmm__xgemm_int8_scale(to.lines + 64 * group, along_k, tables.limit[choice], units, x, lo, hi);
    size_t step = (size_t)gridDim.y * to.pitch * TMM__INT8_BLOCK;
    unsigned char *out =
        (units ? to.units : to.planes) + ((size_t)blockIdx.y * to.pitch + group) * TMM__INT8_BLOCK;
#pragma unroll 1
    for (int l = 0; l < moduli; l++, out += step) {
        unsigned char *at = ring[l % STAGES];
        unsigned word[8];
        if (units) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                word[i] = tmm__low_bytes(lo[4 * i], lo[4 * i + 1], lo[4 * i + 2], lo[4 * i + 3]);
        } else {
            tmm__int8_modulus m = tables.b[l];
            if (is_A) m = tables.a[choice][l];
            const float reciprocal = tables.reciprocal[l], minus_p = tables.minus_p[l];
            const float half = tables.half[l];
#pragma unroll
            for (int i = 0; i < 8; i++)
                word[i] =
                    tmm__xgemm_int8_bytes(m, reciprocal, minus_p, half, lo + 4 * i, hi + 4 * i);
        }
        if (along_k) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                *(unsigned *)(at + (thread / 32 * 8 + i) * 128 + ((thread % 32 / 4) ^ i) * 16 +
                              thread % 4 * 4) = word[i];
        } else {
#pragma unroll
            for (int i = 0; i < 2; i++)
                *(uint4 *)(at + thread % 64 * 128 + ((thread / 64 * 2 + i) ^ thread % 8) * 16) =
                    make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
        }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        /* PTX ISA 9.7, "cp.async.bulk". All have stored block l; and block l + 1 - STAGES has been
           read, whose place block l + 1 takes. */
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        if (thread == 0)
            asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (thread == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                         "r"((unsigned)__cvta_generic_to_shared(at)), "r"((unsigned)TMM__INT8_BLOCK)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
#else
        __syncthreads();
        for (int i = thread; i < TMM__INT8_BLOCK / 16; i += 256)
            ((uint4 *)out)[i] = ((const uint4 *)at)[i];
#endif
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
#endif
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
/* Arrives at the barrier that lies here in block `rank` of the cluster (PTX ISA 9.7, "mapa",
   "mbarrier.arrive"). */
TMM__DEVICE void tmm__barrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

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
/* src/tiledmm/kernels/tensor_int8/mma_sync.cuh. Products of bytes by mma.sync, from sm_75 on.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/.
   Used by: launch.h, type/instances.h. */
/* The instances: pass, name, columns of a warp's part. */
#ifndef TMM__INT8_MMA_LIST
#define TMM__INT8_MMA_LIST(_) \
    _(1, 128x256, 64)         \
    _(2, 128x128, 32)
#define TMM__INT8_MMA_COLS  (TMM__INT8_MMA_LIST(TMM__VALUE_1) 0)
#define TMM__INT8_MMA_ROWS  128
#define TMM__INT8_MMA_STAGE ((TMM__INT8_MMA_ROWS + 4 * TMM__INT8_MMA_COLS) * TMM__INT8_K)
#endif

#if defined(TMM__PASS) && TMM__DOUBLE_TENSOR && (TMM__INT8_MMA_LIST(TMM__IN_PASS) 0)
/* KERNEL TENSOR INT8 by mma.sync, unless compiled for sm_90a, where wgmma is twice as fast. A block
   of 256 threads has a tile of 128 x 256 (128 x 128) of one plane of C. Each of its eight warps has
   64 x 64 (64 x 32) of it, as 4 x 8 (4 x 4) matrices of 16 x 8:
                   +----+----+----+----+        two stages of 128 k, filled by cp.async:
             64    | w0 | w2 | w4 | w6 |            copies        | s1 | s0 | s1 |
                   +----+----+----+----+            tensor cores  | s0 | s1 | s0 |
             64    | w1 | w3 | w5 | w7 |        lines of A, then of B, 128 bytes each, as KERNEL
                   +----+----+----+----+        RESIDUES leaves them: ldmatrix has no bank conflicts
   blockIdx.x counts tiles, modulus by modulus: L times the tiles, of 16 that are launched.

   A stage of 128 x 256 is 4.2 million multiply-adds. That is 87 for each byte that it loads from L2
   (48 KB), and 32 for each byte that it reads from shared memory (128 KB). sm_80 can do 1024 a
   clock and read 128 bytes of shared memory, 8 for a byte: bound by tensor cores. Each sum becomes
   a byte in registers. */
enum { tmm__gemm_int8_mma_bytes = 2 * TMM__INT8_MMA_STAGE };

#if TMM__BODIES && !TMM__WGMMA
TMM__DEVICE void tmm__gemm_int8_mma_copy(unsigned char *stage, const tmm__int8_products *job,
                                         int modulus, int row, int col, int k)
{
    enum { ROWS = TMM__INT8_MMA_ROWS / 64, COLS = 4 * TMM__INT8_MMA_COLS / 64 };
    size_t block = (size_t)modulus * job->k_blocks + k;
    const unsigned char *a = job->a + (block * job->a_pitch + row * ROWS) * TMM__INT8_BLOCK;
    const unsigned char *b = job->b + (block * job->b_pitch + col * COLS) * TMM__INT8_BLOCK;
    const int at = threadIdx.x * 16;
#pragma unroll
    for (int i = 0; i < 2 * (ROWS + COLS); i++) { /* half a block of 8 KB */
        bool is_A = i < 2 * ROWS;
        int n = is_A ? i : i - 2 * ROWS;
        bool exists =
            is_A ? row * ROWS + n / 2 < job->a_blocks : col * COLS + n / 2 < job->b_blocks;
        tmm__copy_async(stage + i * 4096 + at, exists ? (is_A ? a : b) + n * 4096 + at : job->a, 16,
                        exists);
    }
    tmm__copy_commit();
}
#endif

TMM_KERNEL void __launch_bounds__(256, 1) tmm__gemm_int8_mma(const tmm__int8_products job)
{
#if TMM__BODIES && !TMM__WGMMA
    enum { WIDE = TMM__INT8_MMA_COLS / 8, STAGE = TMM__INT8_MMA_STAGE };
    static_assert(TMM__INT8_MMA_COLS == 32 || TMM__INT8_MMA_COLS == 64,
                  "TMM__INT8_MMA_LIST: a warp's part has 32 or 64 columns: whole pieces of C, and "
                  "not more sums than registers");
    static_assert(TMM__INT8_MMA_ROWS == 128, "TMM__INT8_MMA_ROWS must be 128: two warps of 64");
    extern __shared__ __align__(128) unsigned char tmm__int8_stages[];
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 % 2, warp_col = threadIdx.x / 64;
    const int tiles = job.tiles_down * job.tiles_across, modulus = blockIdx.x / tiles;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool units = job.state == NULL;
    if (!units && modulus >= (int)job.state->moduli) return;
    int row, col;
    tmm__int8_find((int)blockIdx.x - modulus * tiles, job.tiles_down, job.tiles_across, &row, &col);
    unsigned c[4][WIDE][4];
#pragma unroll
    for (int i = 0; i < 16 * WIDE; i++) c[i / (4 * WIDE)][i / 4 % WIDE][i % 4] = 0;
    /* Where this lane's line and chunk are for ldmatrix: of A line lane % 16, chunk lane / 16; of B
       line lane % 8 + lane / 16 * 8, chunk lane / 8 % 2. Both lines are lane % 8 modulo 8. */
    const int line_a = warp_row * 64 + lane % 16, chunk_a = lane / 16;
    const int line_b =
        TMM__INT8_MMA_ROWS + warp_col * TMM__INT8_MMA_COLS + lane % 8 + lane / 16 * 8;
    const int chunk_b = lane / 8 % 2;
    tmm__gemm_int8_mma_copy(tmm__int8_stages, &job, modulus, row, col, 0);
#pragma unroll 1
    for (int k = 0; k < job.k_blocks; k++) {
        const unsigned char *stage = tmm__int8_stages + k % 2 * STAGE;
        TMM__COPY_WAIT(0);
        __syncthreads(); /* this stage is here, and all have read the other */
        if (k + 1 < job.k_blocks)
            tmm__gemm_int8_mma_copy(tmm__int8_stages + (k + 1) % 2 * STAGE, &job, modulus, row, col,
                                    k + 1);
#pragma unroll
        for (int s = 0; s < 4; s++) { /* 32 k */
            unsigned a[4][4], b[WIDE / 2][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                tmm__load_matrices(a[i], stage + (line_a + 16 * i) * 128 +
                                             ((2 * s + chunk_a) ^ lane % 8) * 16);
#pragma unroll
            for (int j = 0; j < WIDE / 2; j++)
                tmm__load_matrices(b[j], stage + (line_b + 16 * j) * 128 +
                                             ((2 * s + chunk_b) ^ lane % 8) * 16);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < WIDE; j++) tmm__mma_bytes(c[i][j], a[i], b[j / 2] + j % 2 * 2);
        }
    }
    const int piece_row = row * 2 + warp_row;
    const unsigned p = units ? 1 : job.p[modulus], inverse = units ? 0 : job.inverse[modulus];
#pragma unroll
    for (int m = 0; m < WIDE / 4; m++) { /* pieces */
        int piece_col = (col * 4 + warp_col) * (WIDE / 4) + m;
        if (piece_row >= job.pieces_down || piece_col >= job.pieces_across) continue;
        unsigned char *to = job.C + tmm__int8_piece_at(piece_row, piece_col, job.pieces_across) +
                            (units ? (int)TMM__INT8_UNITS : modulus) * TMM__INT8_PIECE + lane * 16;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned word[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                word[j] = tmm__int8_word(c[i][4 * m + j], p, inverse, units);
            __stcs((uint4 *)(to + i * 512), make_uint4(word[0], word[1], word[2], word[3]));
        }
    }
#else
    (void)job;
#endif
}
#endif
/* src/tiledmm/kernels/tensor_int8/sums.cuh. KERNEL SUMS: residues become elements of C.
   Uses: kernels/common/, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* Blocks of KERNEL SUMS to a multiprocessor: three leave 80 registers a thread, with which code for
   others than sm_90 spills. */
#ifndef TMM__INT8_SUMS_BLOCKS
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define TMM__INT8_SUMS_BLOCKS 3
#else
#define TMM__INT8_SUMS_BLOCKS 2
#endif
#endif

/* Adds a group of moduli, of which n is sum y_l Q / p_l, to the 128-bit sum and to the quotient,
   which has 12 bits after the point. Products of 32 bits go to sums of 64: less than 2^58 each. */
TMM__DEVICE void tmm__xgemm_int8_add(unsigned n, const unsigned *weight, unsigned for_quotient,
                                     unsigned quotient, unsigned long long *e, unsigned *top,
                                     unsigned *q)
{
#pragma unroll
    for (int i = 0; i < 3; i++) e[i] += (unsigned long long)n * weight[i];
    *top += n * weight[3];
    *q += __umulhi(for_quotient, quotient);
}

/* n of a group of three moduli. Their residues, byte number `byte` of three words, are put into one
   word and multiplied by dp4a: half of the instructions. */
TMM__DEVICE unsigned tmm__xgemm_int8_group(unsigned a, unsigned b, unsigned c, int byte,
                                           unsigned low, unsigned high)
{
    const unsigned pairs = __byte_perm(a, b, byte < 2 ? 0x5140 : 0x7362); /* of two elements */
    const unsigned y = __byte_perm(pairs, c, (byte % 2 ? 0x32 : 0x10) | (4 + byte) << 8);
    return tmm__dot_unsigned(y, low) + (tmm__dot_unsigned(y, high) << 8);
}

/* One element: its residues are byte number `byte` of words[0 to L - 1]. The integer A'B', as a
   double. For L = 16 there is a sixth group. */
TMM__DEVICE double tmm__xgemm_int8_integer(const unsigned *words, int byte,
                                           const tmm__int8_sums *tables, const int choice)
{
    static const int members[5][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 13}, {11, 12, 14}};
    unsigned n, q = 1u << 11, top = 0;
    unsigned long long e[3] = {0, 0, 0};
#pragma unroll
    for (int g = 0; g < 5; g++) {
        const int third = members[g][2];
        n = tmm__xgemm_int8_group(words[members[g][0]], words[members[g][1]],
                                  third < TMM__INT8_LEAST + choice ? words[third] : 0, byte,
                                  tables->low[choice][g], tables->high[choice][g]);
        tmm__xgemm_int8_add(n, tables->weight[choice][g], n, tables->quotient[choice][g], e, &top,
                            &q);
    }
    n = words[15] >> 8 * byte & 255;
    if (choice == TMM__INT8_CHOICES - 1)
        tmm__xgemm_int8_add(n, tables->weight[choice][5], n << 20, tables->quotient[choice][5], e,
                            &top, &q);
    q >>= 12;
#pragma unroll
    for (int i = 0; i < 3; i++) e[i] += (unsigned long long)q * tables->minus_P[choice][i];
    top += q * tables->minus_P[choice][3];
    e[1] += e[0] >> 32;
    e[2] += e[1] >> 32;
    top += (unsigned)(e[2] >> 32);
    unsigned long long low = (e[1] << 32) | (unsigned)e[0];
    unsigned long long high = ((unsigned long long)top << 32) | (unsigned)e[2];
    /* The lower half with a sign, too: then a small negative number has no bits to be rounded away,
       for the upper half is 0. */
    high += low >> 63;
    return (double)(long long)high * 18446744073709551616.0 + (double)(long long)low;
}

/* The 8 elements of a thread, of which `two` has the bytes: stores those that are proved, and
   gives bits of the others. `choice` is a constant, so that the tables' numbers are operands of
   instructions. */
TMM__DEVICE unsigned tmm__xgemm_int8_store(const tmm__int8_job *job, const tmm__int8_sums *tables,
                                           const uint2 *two, int row, int col, const int choice)
{
    const int limit = tables->limit[choice];
    tmm__int8_part parts[2];
    float row_g[2], row_unit[2];
    double row_scale[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        tmm__int8_line line = job->a.lines[row + 8 * h];
        row_g[h] = tmm__int8_rest(limit, &line), row_unit[h] = line.unit * 0.9999f;
        parts[h] = tmm__int8_half(&line, row_g[h], tables->kappa, tables->half_K);
        row_scale[h] = tmm__power_of_two(-tmm__int8_shift(limit, line.size));
    }
    double *C = job->C + row * job->ldc + col;
    const bool aligned = ((size_t)C | (size_t)job->ldc * 8) % 16 == 0;
    unsigned open = 0;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        unsigned words[TMM__INT8_PLANES];
#pragma unroll
        for (int l = 0; l < TMM__INT8_PLANES; l++) words[l] = j == 0 ? two[l].x : two[l].y;
        float col_g[2], col_one[2], col_unit[2];
        double col_scale[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            tmm__int8_line line = job->b.lines[col + 8 * j + i];
            col_g[i] = tmm__int8_rest(limit, &line), col_one[i] = line.one;
            col_unit[i] = line.unit;
            col_scale[i] = tmm__power_of_two(-tmm__int8_shift(limit, line.size));
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            double sum[2];
            unsigned proved = 0;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                double x = tmm__xgemm_int8_integer(words, 2 * h + i, tables, choice);
                float threshold = tmm__int8_threshold(parts[h], col_g[i], col_one[i]);
                float units = tmm__int8_from_log(words[TMM__INT8_UNITS] >> (16 * h + 8 * i) & 255);
                bool shown = fabsf((float)x) * row_g[h] * col_g[i] * 0.999f >= threshold;
                shown |= units * row_unit[h] * col_unit[i] >= threshold;
                bool exists = row + 8 * h < job->M && col + 8 * j + i < job->N;
                if (exists && shown) proved |= 1u << i;
                if (exists && !shown) open |= 1u << (4 * j + 2 * h + i);
                sum[i] = x * row_scale[h] * col_scale[i];
            }
            double *to = C + 8 * h * job->ldc + 8 * j;
            tmm__xouts2 old = {{0, 0}};
            if (job->beta != 0) old = tmm__xload2(to, aligned, proved);
            tmm__xstore2(to, row + 8 * h, col + 8 * j, aligned, proved, job->alpha, job->beta, old,
                         sum);
        }
    }
    return open;
}

/* KERNEL SUMS. 256 threads have a piece of 64 x 32 elements, 8 a thread: two have what
   kernels/tensor_int8/types.cuh says of one. A thread loads 8 bytes of each plane, all before the first
   is needed. Proved elements are stored; the others are left as they are, and a bit of each is set.
   Reads L + 1 bytes an element and writes 8 and 1/8, for some 160 instructions: bound by memory and
   instructions alike. */
TMM_KERNEL void __launch_bounds__(256, TMM__INT8_SUMS_BLOCKS)
    tmm__xgemm_int8_sums(const tmm__int8_job job, const tmm__int8_sums tables)
{
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const unsigned moduli = job.state->moduli;
    const int n = blockIdx.x, t = threadIdx.x / 2, half = threadIdx.x % 2, lane = t % 32;
    if (moduli == 0) return;
    const int piece_row = n / job.pieces_across, piece_col = n - piece_row * job.pieces_across;
    const int row = piece_row * 64 + t / 32 * 16 + lane / 4,
              col = piece_col * 32 + half * 16 + lane % 4 * 2;
    const unsigned char *from =
        job.planes + tmm__int8_piece_at(piece_row, piece_col, job.pieces_across) + threadIdx.x * 8;
    uint2 two[TMM__INT8_PLANES];
#pragma unroll
    for (int l = 0; l < TMM__INT8_PLANES; l++) {
        two[l] = make_uint2(0, 0);
        if (l < TMM__INT8_LEAST || l < (int)moduli || l == TMM__INT8_UNITS)
            two[l] = __ldcs((const uint2 *)(from + l * TMM__INT8_PIECE));
    }
    unsigned open = 0;
    switch (moduli) {
    case 13: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 0); break;
    case 14: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 1); break;
    case 15: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 2); break;
    default: open = tmm__xgemm_int8_store(&job, &tables, two, row, col, 3); break;
    }
    ((unsigned char *)job.open)[(size_t)n * 256 + threadIdx.x] = (unsigned char)open;
    if (open != 0) job.state->open = 1;
}
#endif
/* src/tiledmm/kernels/tensor_int8/open.cuh. KERNEL OPEN: elements of C that residues do not prove.
   Uses: kernels/common/, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* One element of C by a warp. It loads 128 k of A and of B while it adds up those before. All
   lanes do the same chain of multiply-adds in ascending k. `memory`: 256 doubles of the warp. */
TMM__DEVICE void tmm__xgemm_int8_element(const tmm__int8_job *job, int row, int col, double *memory)
{
    const int lane = threadIdx.x % 32;
    const long long step_a = 32 * job->from_a.k_stride, step_b = 32 * job->from_b.k_stride;
    const double *a = job->from_a.X + row * job->from_a.line_stride + lane * job->from_a.k_stride;
    const double *b = job->from_b.X + col * job->from_b.line_stride + lane * job->from_b.k_stride;
    double sum = 0, x[4], y[4];
#pragma unroll 1
    for (long long k0 = -128; k0 < job->K; k0 += 128) { /* the first time only to load */
        const int depth = k0 < 0 ? 0 : job->K - k0 < 128 ? (int)(job->K - k0) : 128;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 4 && k0 >= 0; i++)
            memory[lane + 32 * i] = x[i], memory[128 + lane + 32 * i] = y[i];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 4; i++) {
            bool exists = k0 + 128 + lane + 32 * i < job->K;
            x[i] = y[i] = 0;
            tmm__load_if(&x[i], a, 8, exists);
            tmm__load_if(&y[i], b, 8, exists);
            a += step_a, b += step_b;
        }
#pragma unroll 8
        for (int k = 0; k < depth; k++) sum += memory[k] * memory[128 + k];
    }
    tmm__xstore_masked(job->C + row * job->ldc + col, row, col, 1, lane == 0, job->alpha, job->beta,
                       &sum);
}

/* 256 threads copy 64 lines x 16 k to shared memory, as [k][line], with zeros where there is
   nothing. */
TMM__DEVICE void tmm__xgemm_int8_open_copy(double (*to)[66], const tmm__int8_lines *from, int line0,
                                           long long k0, long long K)
{
    const bool along_k = from->k_stride == 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int n = threadIdx.x + 256 * i, line = along_k ? n / 16 : n % 64,
            k = along_k ? n % 16 : n / 64;
        double x = 0;
        tmm__load_if(&x, from->X + (line0 + line) * from->line_stride + (k0 + k) * from->k_stride,
                     8, line0 + line < from->lines && k0 + k < K);
        to[k][line] = x;
    }
}

/* The bit of element (row, col) of a tile of 64 x 64 in its two pieces' words. */
TMM__DEVICE bool tmm__xgemm_int8_is_open(const tmm__int8_job *job, int tile_row, int tile_col,
                                         int row, int col)
{
    size_t piece = (size_t)tile_row * job->pieces_across + 2 * tile_col + col / 32;
    int thread = row / 16 * 32 + row % 8 * 4 + col % 8 / 2;
    int bit = col % 32 / 8 * 4 + row % 16 / 8 * 2 + col % 2;
    return job->open[piece * 128 + thread] >> bit & 1;
}

/* A tile of 64 x 64, of which a thread has 4 x 4: rows 4 (t / 16) .., columns t % 16, t % 16 + 16,
   ... Stores those elements that are open, or all. */
TMM__DEVICE void tmm__xgemm_int8_open_tile(const tmm__int8_job *job, int tile_row, int tile_col,
                                           bool all, double (*a)[66], double (*b)[66])
{
    const int row = threadIdx.x / 16 * 4, col = threadIdx.x % 16;
    double sum[4][4];
#pragma unroll
    for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = 0;
#pragma unroll 1
    for (long long k0 = 0; k0 < job->K; k0 += 16) {
        tmm__xgemm_int8_open_copy(a, &job->from_a, tile_row * 64, k0, job->K);
        tmm__xgemm_int8_open_copy(b, &job->from_b, tile_col * 64, k0, job->K);
        int depth = job->K - k0 < 16 ? (int)(job->K - k0) : 16;
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < depth; k++) {
            double x[4], y[4];
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = a[k][row + i], y[i] = b[k][col + 16 * i];
#pragma unroll
            for (int i = 0; i < 16; i++) sum[i / 4][i % 4] += x[i / 4] * y[i % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        int r = row + i / 4, c = col + i % 4 * 16;
        bool wanted = tile_row * 64 + r < job->M && tile_col * 64 + c < job->N;
        if (wanted && !all) wanted = tmm__xgemm_int8_is_open(job, tile_row, tile_col, r, c);
        double *to = job->C + (tile_row * 64ll + r) * job->ldc + tile_col * 64 + c;
        tmm__xstore_masked(to, tile_row * 64 + r, tile_col * 64 + c, 1, wanted, job->alpha,
                           job->beta, &sum[i / 4][i % 4]);
    }
}

/* KERNEL OPEN. Blocks of 256 threads go over tiles of 64 x 64 and count their open elements. A
   tile with few of them appends them to a list. Once the list is long, and at the end, each warp
   computes one element of it. A tile with many is computed as a whole. Either way an element is
   one chain of multiply-adds in ascending k, as of KERNEL GLOBAL. If FP64 was chosen and nothing
   else computes it, all elements are open. Bound by FP64 and shared memory in tiles, by latency
   in lists, by the launch if none is open. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_int8_open(const tmm__int8_job job)
{
    enum { FLUSH = 64, LIST = FLUSH + TMM__INT8_SPARSE };
    __shared__ double a[16][66], b[16][66];
    __shared__ int list[LIST][2], listed, counted;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool all = job.state->moduli == 0;
    if (all ? job.fp64_elsewhere : !job.state->open) return;
    const int thread = threadIdx.x, across = (job.pieces_across + 1) / 2;
    const int tiles = job.pieces_down * across;
    if (thread == 0) listed = counted = 0;
    __syncthreads();
#pragma unroll 1
    for (int tile = blockIdx.x;; tile += gridDim.x) {
        int tile_row = tile / across, tile_col = tile - tile_row * across, piece_col, here = 0;
        unsigned bits = 0;
        piece_col = 2 * tile_col + thread / 128;
        if (tile < tiles && !all && piece_col < job.pieces_across)
            bits =
                job.open[((size_t)tile_row * job.pieces_across + piece_col) * 128 + thread % 128];
        if (bits != 0) atomicAdd(&counted, __popc(bits));
        __syncthreads();
        here = counted;
        __syncthreads();
        if (thread == 0) counted = 0;
        if (tile < tiles && (all || here > TMM__INT8_SPARSE)) {
            tmm__xgemm_int8_open_tile(&job, tile_row, tile_col, all, a, b);
        } else if (bits != 0) {
            int place = atomicAdd(&listed, __popc(bits)), t = thread % 128, lane = t % 32;
            for (int i = 0; i < 16; i++)
                if (bits >> i & 1) {
                    list[place][0] = tile_row * 64 + t / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
                    list[place][1] = piece_col * 32 + i / 4 * 8 + lane % 4 * 2 + i % 2;
                    place++;
                }
        }
        __syncthreads();
        const int entries = listed;
        const bool last = tile >= tiles;
        if (entries >= FLUSH || last) {
            const int warp = thread / 32;
            double *own = &(warp < 4 ? a : b)[warp % 4 * 4][0]; /* 264 of them */
            for (int i = warp; i < entries; i += 8)
                tmm__xgemm_int8_element(&job, list[i][0], list[i][1], own);
            __syncthreads();
            if (thread == 0) listed = 0;
            __syncthreads();
        }
        if (last) break;
    }
}
#endif
/* src/tiledmm/type/instances.h. INSTANCES: the kernels above, compiled for this type.
   Uses: once/config.h, kernels/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__KERNELS
/* The kernels above, compiled for TMM_TYPE under names such as tmm_sgemm_shared_16. A byte counts the
   instances of each pass. */
#define TMM__COUNT(pass, ...) +(1ull << 8 * (pass))
#define TMM__CHECK(list, most)                                                               \
    static_assert(((0 list(TMM__COUNT)) & ~(0x01010101010101ull >> (48 - 8 * most))) == 0 && \
                      ((0 list(TMM__COUNT)) & 1) == 0,                                       \
                  "" #list ": each instance needs a pass of its own, of 1 to " #most);
TMM__CHECK(TMM__SHARED_LIST, 3) /* which TMM_SIMPLE has, too */
TMM__CHECK(TMM__REGISTER_LIST, 3)
TMM__CHECK(TMM__PIPELINED_LIST, 5)
TMM__CHECK(TMM__SMALL_LIST, 5)
TMM__CHECK(TMM__SKINNY_LIST, 5)
TMM__CHECK(TMM__OUTER_LIST, 5)
TMM__CHECK(TMM__NARROW_LIST, 5)
TMM__CHECK(TMM__TENSOR_LIST, 5)
TMM__CHECK(TMM__HALF_LIST, 5)
TMM__CHECK(TMM__HALF_WGMMA_LIST, 5)
TMM__CHECK(TMM__WGMMA_LIST, 6)
TMM__CHECK(TMM__WGMMA_KERNEL_LIST, 6)
TMM__CHECK(TMM__MMA_LIST, 6)
TMM__CHECK(TMM__THIN_LIST, 6)
TMM__CHECK(TMM__INT8_MMA_LIST, 5)
#undef TMM__CHECK
#undef TMM__COUNT

#define TMM__PASS 1
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 2
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 3
#include TMM_HEADER
#undef TMM__PASS
#if TMM__FAST
#define TMM__PASS 4
#include TMM_HEADER
#undef TMM__PASS
#define TMM__PASS 5
#include TMM_HEADER
#undef TMM__PASS
#endif
#if TMM__FLOAT_TENSOR
#define TMM__PASS 6
#include TMM_HEADER
#undef TMM__PASS
#endif
#endif
/* src/tiledmm/launch/product.h. One product, as all launchers take it.
   Uses: kernels/common/pack_reduce.cuh, kernels/tensor/sizes.h, hooks.h, plan.h, once/.
   Used by: sum.h, once/kernels.h, type/, kernels/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* `batch` products C = alpha op(A) op(B) + beta C with M, N > 0. Strides: from row to row, from
   column to column, from product to product. */
typedef struct tmm__xproduct {
    long long M, N, K;
    TMM_SCALAR alpha;
    const TMM_TYPE *A;
    long long rsA, csA, strideA;
    const TMM_TYPE *B;
    long long rsB, csB, strideB;
    TMM_SCALAR beta;
    TMM_OUT *C;
    long long ldc, strideC;
    unsigned batch; /* at most TMM__MOST_GRID */
    int allowed; /* TMM__CUT_K: tiles may be cut along K, which makes the bits depend on M and N and
                       the device; TMM__PACK: operands may be packed, in memory for copies of them;
                       TMM__SPLIT: TMM_AUTO may take kernels that split elements;
                       TMM__ALL_OF_BATCH: these are all products of a batch; TMM__READY_A, _B: that
                       operand is converted already */
    tmm_stream stream;
#if TMM__DOUBLE_TENSOR
    const unsigned *unless; /* see tmm__schedule */
#endif
#ifdef TMM_WITH_SYRK
    int triangle; /* of C, which is computed: then op(B) is op(A)^T, M is N */
#endif
} tmm__xproduct;

static inline tmm__xproduct tmm__xmake_product(tmm_op opA, tmm_op opB, long long M, long long N,
                                               long long K, long long lda, long long ldb)
{
    tmm__xproduct p;
    memset((void *)&p, 0, sizeof p);
    p.M = M, p.N = N, p.K = K;
    p.rsA = opA == TMM_OP_N ? lda : 1, p.csA = opA == TMM_OP_N ? 1 : lda;
    p.rsB = opB == TMM_OP_N ? ldb : 1, p.csB = opB == TMM_OP_N ? 1 : ldb;
    return p;
}

/* In a batch all positions have the same bits, also one that is alone in the last launch. */
static inline int tmm__xallowed(long long batch)
{
    if (batch <= 1) return TMM__CUT_K | TMM__PACK;
    return batch <= TMM__MOST_GRID ? (int)TMM__ALL_OF_BATCH : 0;
}

/* Which numbers of once/tuning.h are this type's. */
#define TMM__TUNED_AS                             \
    (TMM__IS_FLOAT    ? (int)TMM__TUNED_AS_FLOAT  \
     : TMM__IS_DOUBLE ? (int)TMM__TUNED_AS_DOUBLE \
                      : (int)TMM__TUNED_AS_OTHER)

static inline tmm__load tmm__xload(const tmm__xproduct *p, tmm__family family, int rows, int cols)
{
    const double M = (double)p->M, N = (double)p->N, K = (double)p->K, size = sizeof(TMM_TYPE);
    tmm__load load;
    load.family = family, load.type = TMM__TUNED_AS;
    load.processors = TMM__BUSY(tmm__current_device()->processors);
    const tmm__tiling tiles = tmm__tile(TMM__TRIANGLE(p), p->M, p->N, rows, cols);
    load.blocks = tiles.down * tiles.across * p->batch;
    load.k = K;
    load.area = (double)rows * cols, load.copied = (rows + cols) * size;
    load.bytes = size * (M + N) * K * p->batch, load.a_bytes = size * M * K * p->batch;
    load.c_bytes = (double)sizeof(TMM_OUT) * M * N * p->batch;
    if (TMM__TRIANGLE(p)) load.bytes = load.a_bytes, load.c_bytes /= 2;
    const int along_A = p->csA == 1 && p->rsA != 1, along_B = p->rsB == 1 && p->csB != 1;
    const size_t offA = (size_t)p->A | (size_t)(along_A ? p->rsA : p->csA) * sizeof(TMM_TYPE);
    const size_t offB = (size_t)p->B | (size_t)(along_B ? p->csB : p->rsB) * sizeof(TMM_TYPE);
    load.along_k = (double)(along_A * rows + along_B * cols) / (rows + cols);
    load.single = (double)((offA % 16 != 0) * rows + (offB % 16 != 0) * cols) / (rows + cols);
    load.even = 0;
    load.odd = (((size_t)p->C | (size_t)p->ldc * sizeof(TMM_OUT)) & 15) != 0;
    return load;
}

/* A kernel of this type: what its line in TMM__KERNEL_LIST gives. */
typedef struct tmm__xkernel {
    tmm_kernel value;
    int tile; /* the least edge of its tiles of C */
    /* Can it do this product on the current device, whatever the pointers? If not, the error. */
    tmm_status (*takes)(const tmm__xproduct *p, const struct tmm__xkernel *row);
    /* Does TMM_AUTO ask for its plan? NULL: never. */
    int (*competes)(const tmm__xproduct *p, const struct tmm__xkernel *row);
    /* How it is launched for a product that it takes, and the time of that: HUGE_VAL if no
       instance fits this device, of which `launch` tells. */
    void (*plan)(const tmm__xproduct *p, const struct tmm__xkernel *row, tmm__plan *plan);
    /* Launches it so. Where there is no memory for that it plans once more, without. */
    tmm_status (*launch)(const tmm__xproduct *p, const tmm__plan *plan);
} tmm__xkernel;

/* The row of a kernel; NULL for none, or a name that tmm__xstands_for replaces. The table is in
   type/choose.h: a launcher that launches another finds it there. */
static inline const tmm__xkernel *tmm__xrow(tmm_kernel kernel);

/* The plan of a kernel for a product that it takes. */
static inline void tmm__xplan_by(tmm_kernel kernel, const tmm__xproduct *p, tmm__plan *plan)
{
    const tmm__xkernel *row = tmm__xrow(kernel);
    memset(plan, 0, sizeof *plan);
    plan->value = kernel, plan->slices = 1;
    row->plan(p, row, plan);
}

/* Leading dimensions. */
static inline long long tmm__xlda(const tmm__xproduct *p)
{
    return p->csA == 1 ? p->rsA : p->csA;
}

static inline long long tmm__xldb(const tmm__xproduct *p)
{
    return p->csB == 1 ? p->rsB : p->csB;
}

/* The arguments that all kernels but SKINNY begin with. Returns how many. */
static inline int tmm__xarguments(tmm__xproduct *p, void **arguments)
{
    void *const list[] = {&p->M,    &p->N,       &p->K,   &p->alpha,  &p->A,   &p->rsA,
                          &p->csA,  &p->strideA, &p->B,   &p->rsB,    &p->csB, &p->strideB,
                          &p->beta, &p->C,       &p->ldc, &p->strideC};
    memcpy(arguments, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

/* Can KERNEL PIPELINED take this K and these leading dimensions, or TENSOR of double? Steps must
   fit in 32 bits, and so must the distance of the lines that a thread copies one after the
   other, 16 apart (32 at most in TENSOR). */
static inline int tmm__xreaches(tmm_kernel kernel, long long K, long long lda, long long ldb)
{
    long long lines = kernel == TMM_TENSOR && TMM__IS_DOUBLE ? 32 : 16;
    long long most = 0xFFFFFFFFll / (lines * (long long)sizeof(TMM_TYPE));
    return lda <= most && ldb <= most && K <= 8ll * INT_MAX - 8;
}

/* The number of tiles must fit in 32 bits, too. */
static inline int tmm__xfits(tmm_kernel kernel, const tmm__xproduct *p)
{
    return tmm__xreaches(kernel, p->K, tmm__xlda(p), tmm__xldb(p)) &&
           ceil(p->M / 64.0) * ceil(p->N / 64.0) <= INT_MAX;
}

/* The error if it does not reach. */
static inline tmm_status tmm__xcheck_reach(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const long long lda = tmm__xlda(p), ldb = tmm__xldb(p);
    if (tmm__xreaches(row->value, p->K, lda, ldb)) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel %s: K, lda or ldb (%lld, %lld, %lld) is too large for it",
                     tmm_kernel_string(row->value), p->K, lda, ldb);
}

/* The same for KERNEL SMALL, DIRECT and OUTER: K alone counts, or its steps of 8 in SMALL. */
static inline tmm_status tmm__xcheck_k(const tmm__xproduct *p, const tmm__xkernel *row)
{
    if (p->K <= (row->value == TMM_SMALL ? 8ll * INT_MAX - 8 : INT_MAX)) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel %s: K (%lld) is too large for it",
                     tmm_kernel_string(row->value), p->K);
}

#if TMM__FAST
/* What TMM_AUTO asks of all kernels with asynchronous copies. */
static inline int tmm__xfast_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__current_device()->capability >= 80 && sizeof(TMM_TYPE) >= 4 &&
           tmm__xfits(row->value, p);
}

/* Can KERNEL TENSOR of double run on the current device? And is it faster there than
   multiply-adds one by one? Others have few tensor-core units for double. */
static inline int tmm__xtensor_fits(void)
{
    return TMM__IS_DOUBLE && tmm__current_device()->shared >= TMM__TENSOR_BYTES(64, 64);
}

static inline int tmm__xtensor_pays(void)
{
    int capability = tmm__current_device()->capability;
    return tmm__xtensor_fits() && (capability == 80 || capability == 90 || capability == 100);
}

/* Memory of a launch of KERNEL PIPELINED or TENSOR: packed operands, partial tiles, flags. */
typedef struct tmm__xmemory {
    char *all; /* from the pool; NULL: none was needed, or there was none */
    size_t bytes;
    TMM_TYPE *packed_A, *packed_B;
} tmm__xmemory;

/* Operands of K times so many lines, and partial tiles of `tile` bytes, if the schedule needs
   them in memory. 0 if there is too little. */
static inline int tmm__xallocate(tmm__xmemory *memory, tmm__schedule *s, long long K,
                                 long long pitchA, long long pitchB, size_t tile, tmm_stream stream)
{
    size_t bytesA = (size_t)(K * pitchA) * sizeof(TMM_TYPE);
    size_t bytesB = (size_t)(K * pitchB) * sizeof(TMM_TYPE);
    size_t streamk_blocks = s->streamk_tiles > 0 && s->cluster == 0 ? (size_t)s->streamk_blocks : 0;
    size_t flags = streamk_blocks * sizeof *s->flags;
    memset(memory, 0, sizeof *memory);
    memory->bytes = bytesA + bytesB + streamk_blocks * tile + flags;
    if (memory->bytes == 0) return 1;
    memory->all = (char *)tmm__workspace(memory->bytes, stream);
    if (memory->all == NULL) return 0;
    memory->packed_A = (TMM_TYPE *)memory->all;
    memory->packed_B = memory->packed_A + K * pitchA;
    s->partials = memory->all + bytesA + bytesB;
    s->flags = (unsigned long long *)(memory->all + bytesA + bytesB + streamk_blocks * tile);
    s->ticket = tmm__ticket();
    if (TMM__CLEAR_FLAGS && flags > 0) (void)cudaMemsetAsync(s->flags, 0, flags, stream);
    return 1;
}

#if TMM__IS_FLOAT || TMM__IS_DOUBLE
/* For the operands that have a pitch; afterwards *p and *s are those of packed ones. */
static inline tmm_status tmm__xpack_operands(tmm__xproduct *p, tmm__schedule *s,
                                             const tmm__xmemory *memory, long long pitchA,
                                             long long pitchB)
{
    TMM_TYPE *packed_A = memory->packed_A, *packed_B = memory->packed_B;
    dim3 squares((unsigned)((pitchA > pitchB ? pitchA : pitchB) / 64),
                 (unsigned)tmm__min((p->K + 63) / 64, TMM__MOST_GRID), 2);
    void *arguments[] = {&p->K, &p->M, &p->A,   &p->rsA, &p->csA,   &packed_A, &pitchA,
                         &p->N, &p->B, &p->rsB, &p->csB, &packed_B, &pitchB};
    if (pitchA + pitchB == 0) return TMM_OK;
    tmm_status status =
        tmm__launch((const void *)tmm__xpack, squares, dim3(256), 0, arguments, p->stream);
    if (pitchA > 0) p->A = packed_A, p->rsA = 1, p->csA = pitchA, s->packed_A = 1;
    if (pitchB > 0) p->B = packed_B, p->csB = 1, p->rsB = pitchB, s->packed_B = 1;
    return status;
}
#endif

/* Launches KERNEL PIPELINED, or TENSOR of double, as planned: with KERNEL PACK before it and KERNEL
   REDUCE behind it where the plan has them. */
static inline tmm_status tmm__xdivided(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct product = *given, *p = &product;
    tmm__plan c = *plan;
    tmm__schedule *s = &c.s;
    tmm__xmemory memory;
    const long long pitchB = TMM__TRIANGLE(p) ? 0 : c.pitchB; /* then B is packed as A */
    const size_t tile = (size_t)(c.tile_m * c.tile_n) * sizeof(TMM_SUM);
    if (!tmm__xallocate(&memory, s, p->K, c.pitchA, pitchB, tile, p->stream)) {
        p->allowed = 0; /* a plan without cuts and packing needs no memory */
        tmm__xplan_by(plan->value, p, &c);
    }
    tmm_status status = TMM_OK;
#if TMM__IS_FLOAT || TMM__IS_DOUBLE
    status = tmm__xpack_operands(p, s, &memory, c.pitchA, TMM__TRIANGLE(p) ? 0 : c.pitchB);
    if (TMM__TRIANGLE(p) && c.pitchB > 0)
        p->B = p->A, p->csB = 1, p->rsB = c.pitchB, s->packed_B = 1;
#endif
#if TMM__DOUBLE_TENSOR
    s->unless = p->unless;
#endif
    void *arguments[20];
    int count = tmm__xarguments(p, arguments);
    arguments[count++] = &c.modeA, arguments[count++] = &c.modeB, arguments[count++] = s;
    arguments[count++] = &c.off_sectors; /* which PIPELINED does not look at */
    const int area = c.tile_m * c.tile_n, tiles = s->tiles_down * s->tiles_across;
    if (s->cluster > 0) c.bytes += tmm__cluster_bytes(s->cluster, area / 512, 4 * sizeof(TMM_SUM));
    if (status == TMM_OK)
        status = tmm__launch_clusters(c.kernel, dim3((unsigned)c.blocks, 1, p->batch), c.threads,
                                      s->cluster, 0, c.bytes, arguments, p->stream);
    if (status == TMM_OK && s->reduce && s->cluster == 0) {
        int tensor = plan->value == TMM_TENSOR, rows = area / 1024, slices = (int)c.blocks / tiles;
        int warps_down = s->is_tall && !tensor ? 4 : 2;
        int parts = slices >= tmm__tuned()->tensor.reduce_wide_from ? 8 : 1;
        void *of_reduce[] = {&p->M, &p->N,       &p->alpha, &p->beta, &p->C,   &p->ldc,
                             &rows, &warps_down, &slices,   &parts,   &tensor, s};
        status = tmm__launch((const void *)tmm__xgemm_reduce,
                             dim3((unsigned)(rows * parts), (unsigned)tiles), dim3(256), 0,
                             of_reduce, p->stream);
    }
    if (memory.all != NULL) (void)cudaFreeAsync(memory.all, p->stream);
    return status;
}
#endif
#endif
/* src/tiledmm/launch/sum.h. LAUNCHER of KERNEL SUM.
   Uses: kernels/common/sum.cuh, product.h, once/. Used by: kernels/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Nanoseconds of KERNEL SUM for `parts` parts of C. */
static inline double tmm__xsum_time(const tmm__xproduct *p, double parts)
{
    const tmm__costs *t = tmm__tuned();
    const double bytes = sizeof(TMM_SUM) * parts * p->M * p->N * p->batch;
    return tmm__in_nanoseconds(t->sum + t->sum_byte * bytes);
}

/* Memory for the sums of *parts parts of C. NULL if there is one, or no memory: then it is one. */
static inline void *tmm__xpartials(const tmm__xproduct *p, int *parts)
{
    const size_t elements = (size_t)(*parts * p->M * p->N * p->batch);
    void *sums = *parts > 1 ? tmm__workspace(elements * sizeof(TMM_SUM), p->stream) : NULL;
    if (sums == NULL) *parts = 1;
    return sums;
}

/* What follows a launch that went as `status` says: if there are parts, KERNEL SUM with `groups`
   threads to an element, and giving back the memory of their sums. */
static inline tmm_status tmm__xsum(tmm_status status, tmm__xproduct *p, int parts, void *partials,
                                   int groups)
{
    const int lanes = 256 / groups;
    void *arguments[] = {&p->M,     &p->N,     &parts,
                         &p->alpha, &partials, &p->beta,
                         &p->C,     &p->ldc,   &p->strideC TMM__TRIANGLE_ADDRESS(p)};
    if (partials == NULL) return status;
    if (status == TMM_OK)
        status = tmm__launch((const void *)tmm__xgemm_sum,
                             dim3((unsigned)((p->M * p->N - 1) / lanes + 1), 1, p->batch),
                             dim3((unsigned)lanes, (unsigned)groups), 0, arguments, p->stream);
    (void)cudaFreeAsync(partials, p->stream);
    return status;
}
#endif
/* src/tiledmm/kernels/simple/launch.h. LAUNCHERS of KERNEL GLOBAL, SHARED and REGISTER.
   Uses: kernels/simple/, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Kernels are found by the tile that their names have. */
#define TMM__NAMED(pass, name) +((name) == 8 || (name) == 16 || (name) == 32)
static_assert(
    TMM__ONE_TILE || (0 TMM__SHARED_LIST(TMM__NAMED)) == (TMM__ALL_TILES ? 3 : 1),
    "TMM__SHARED_LIST must have 8, 16 and 32: TMM_SHARED_8 and its like name these tiles");
#undef TMM__NAMED
#define TMM__NAMED(pass, name, block) +(((name) == 64 || (name) == 128) && (name) == 16 * (block))
static_assert(
    (0 TMM__REGISTER_LIST(TMM__NAMED)) == (TMM__ALL_TILES ? 2 : 1),
    "TMM__REGISTER_LIST must have 64, of TMM_BLOCK 4, and 128, of 8: a name is the tile, 16 "
    "TMM_BLOCK, and TMM_REGISTER_64 and _128 name these two");
#undef TMM__NAMED

/* A plan with a block of threads for each tile of C, of row->tile x row->tile elements. */
static inline void tmm__xtiles_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                    const void *kernel, double time, tmm__plan *plan)
{
    plan->kernel = kernel, plan->time = time;
    plan->tile_m = plan->tile_n = row->tile;
    plan->blocks = ((p->M - 1) / row->tile + 1) * ((p->N - 1) / row->tile + 1);
    plan->threads = row->tile > 32 ? 256 : row->tile * row->tile;
}

static inline tmm_status tmm__xtiles(const tmm__xproduct *product, const tmm__plan *plan)
{
    tmm__xproduct p = *product;
    const unsigned edge = (unsigned)plan->tile_m;
    const dim3 block = edge > 32 ? dim3((unsigned)plan->threads) : dim3(edge, edge);
    void *arguments[20];
    (void)tmm__xarguments(&p, arguments);
    return tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, 1, p.batch), block, 0, arguments,
                       p.stream);
}

static inline tmm_status tmm__xall_taken(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p, (void)row;
    return TMM_OK;
}

/* Its time is not looked at: it is always slower than TMM_SHARED. */
static inline void tmm__xglobal_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *plan)
{
    tmm__xtiles_plan(p, row, (const void *)tmm__xgemm_global, HUGE_VAL, plan);
}

static inline tmm_status tmm__xshared_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p;
    if (TMM__ONE_TILE && row->value != TMM_SHARED)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel %s was not made for this type: its TMM_TILE asks for one tile, "
                         "TMM_SHARED",
                         tmm_kernel_string(row->value));
    return TMM_OK;
}

/* Does TMM_AUTO look at KERNEL SHARED and REGISTER? Not where TMM_PIPELINED, or TMM_TENSOR of double,
   has the same large tiles. */
static inline int tmm__xsimple_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
#if TMM__FAST
    return !tmm__xfast_competes(p, row) || (TMM__IS_DOUBLE && !tmm__xtensor_pays());
#else
    (void)p, (void)row;
    return 1;
#endif
}

/* Tiles of 16; or of another edge, if that is the only one. */
static inline int tmm__xshared_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return row->value == (TMM__ONE_TILE || !TMM__ALL_TILES ? TMM_SHARED : TMM_SHARED_16) &&
           tmm__xsimple_competes(p, row);
}

static inline int tmm__xregister_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return (TMM__ALL_TILES || row->value == TMM_REGISTER_128) && tmm__xsimple_competes(p, row);
}

static inline void tmm__xshared_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *plan)
{
    const tmm__load load = tmm__xload(p, TMM__COST_SIMPLE, row->tile, row->tile);
    const tmm__block_costs costs =
        tmm__scaled(&tmm__tuned()->shared_16[TMM__TUNED_AS], load.area / (16 * 16));
    const void *kernel = NULL;
#if TMM__ONE_TILE
    kernel = (const void *)TMM__JOIN(tmm__xgemm_shared_, TMM_TILE);
#else
#define TMM__ROW(pass, name)                               \
    if (row->tile == name) {                               \
        kernel = (const void *)TMM_FN(gemm_shared_##name); \
    }
    TMM__SHARED_LIST(TMM__ROW)
#undef TMM__ROW
#endif
    tmm__xtiles_plan(p, row, kernel, tmm__launch_time(&costs, &load), plan);
}

static inline void tmm__xregister_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                       tmm__plan *plan)
{
    const tmm__load load = tmm__xload(p, TMM__COST_SIMPLE, row->tile, row->tile);
    const double time =
        tmm__launch_time(row->value == TMM_REGISTER_64 ? &tmm__tuned()->register_64[TMM__TUNED_AS]
                                                       : &tmm__tuned()->register_128[TMM__TUNED_AS],
                         &load);
    const void *kernel = NULL;
#define TMM__ROW(pass, name, ...)                            \
    if (row->tile == name) {                                 \
        kernel = (const void *)TMM_FN(gemm_register_##name); \
    }
    TMM__REGISTER_LIST(TMM__ROW)
#undef TMM__ROW
    tmm__xtiles_plan(p, row, kernel, time, plan);
}
#endif
/* src/tiledmm/kernels/pipelined/launch.h. LAUNCHER of KERNEL PIPELINED.
   Uses: kernels/common/store.cuh, kernels/pipelined/, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && !TMM__IS_DOUBLE
#define TMM__CHECK(pass, name, blocks, rows) 1 ? (rows):
static_assert((TMM__PIPELINED_LIST(TMM__CHECK) 0) == 8,
              "TMM__PIPELINED_LIST: the first instance must be _any, with 8 rows");
#undef TMM__CHECK

/* An instance of KERNEL PIPELINED; the first one is ANY. */
typedef struct tmm__xpipelined__instance {
    int blocks, any;
    const void *kernel;
} tmm__xpipelined__instance;

/* Instance number n, NULL after the last. */
static inline const tmm__xpipelined__instance *tmm__xpipelined_instance(int n)
{
#define TMM__ROW(pass, name, blocks, rows) \
    {blocks, rows == 8, (const void *)TMM_FN(gemm_pipelined##name)},
    static const tmm__xpipelined__instance instances[] = {TMM__PIPELINED_LIST(TMM__ROW)};
#undef TMM__ROW
    return n < (int)(sizeof instances / sizeof *instances) ? &instances[n] : NULL;
}

/* Its plan with an instance. Tiles are 128 x 128; those of ANY 64 x 128, or 128 x 64 if that makes
   fewer. `number`: for hooks. */
static inline void tmm__xpipelined_tiles(tmm__plan *c, const tmm__xproduct *p, int instance,
                                         int number)
{
    const long long M = p->M, N = p->N;
    const tmm__xpipelined__instance *i = tmm__xpipelined_instance(instance);
    const int any = i->any;
    long long wide = ((M - 1) / 64 + 1) * ((N - 1) / 128 + 1);
    long long tall = ((M - 1) / 128 + 1) * ((N - 1) / 64 + 1);
    if (TMM__TRIANGLE(p)) /* of tiles that lie so, fewer are outside of C */
        wide = TMM__TRIANGLE(p) == TMM__LOWER, tall = 1 - wide;
    tmm__division d;
    memset(&d, 0, sizeof d);
    c->instance = number, c->kernel = i->kernel;
    c->threads = TMM__PIPELINED_THREADS;
    c->tile_m = any && tall >= wide ? 64 : 128, c->tile_n = any && tall < wide ? 64 : 128;
    tmm__divide(&d, TMM__TRIANGLE(p), M, N, c->tile_m, c->tile_n);
    d.steps = (int)((p->K + 7) / 8);
    d.processors = tmm__current_device()->processors;
    d.blocks = i->blocks;
    d.large = !any, d.data_parallel = TMM__IS_INTEGER;
    d.cut_k = p->batch == 1 && (p->allowed & TMM__CUT_K);
    d.clusters = tmm__clusters(i->kernel, 0, any ? 16 : 32, sizeof(tmm__xsums4));
    d.costs = &tmm__tuned()->pipelined.block[!any];
    d.load = tmm__xload(p, TMM__COST_PIPELINED, c->tile_m, c->tile_n);
    if (N * sizeof(TMM_TYPE) % 16 != 0)
        d.load.odd = 1; /* it stores edges by fours, or one by one */
    tmm__plan_pipelined(c, &d);
    c->s.is_tall = any && tall < wide;
}

/* The instance and the plan that should be fastest. */
static inline void tmm__xpipelined_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                        tmm__plan *best)
{
    (void)row;
    enum { SIZE = sizeof(TMM_TYPE), TILE = 128 };
    const long long M = p->M, N = p->N;
    /* Copies of 16 bytes need lines in multiples of that, and everything else too; there are none
       of elements smaller than 4 bytes. */
    size_t offA = SIZE < 4 ? 1 : (size_t)p->A | p->csA * SIZE | p->strideA * SIZE | M * SIZE;
    size_t offB = SIZE < 4 ? 1 : (size_t)p->B | p->rsB * SIZE | p->strideB * SIZE | N * SIZE;
    best->modeA = p->csA == 1 ? TMM__ALONG_K : offA % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    best->modeB = p->rsB == 1 ? TMM__ALONG_K : offB % 16 == 0 ? TMM__VECTORS : TMM__ALONG_LINES;
    tmm__plan c = *best;
    tmm__xpipelined_tiles(best, p, 0, 0);
    const int vectors = c.modeA == TMM__VECTORS && c.modeB == TMM__VECTORS;
    const tmm__xpipelined__instance *i;
    int count = 1; /* of the instances */
    for (; (i = tmm__xpipelined_instance(count)) != NULL; count++) {
        if (!(i->any || vectors) || M < TILE || N < TILE) continue;
        tmm__xpipelined_tiles(&c, p, count, count);
        if (c.time < best->time) *best = c;
    }
#if TMM__IS_FLOAT
    int tn = count - 1; /* the instance for vectors of both operands; 0: there is none */
    while (tn > 0 && tmm__xpipelined_instance(tn)->any) tn--;
    /* Should operands be packed for it, which could use these in place? */
    const int inA = c.modeA == TMM__VECTORS && M >= TILE;
    const int inB = c.modeB == TMM__VECTORS && N >= TILE;
    if (tn > 0 && !(inA && inB) && p->batch == 1 && (p->allowed & TMM__PACK) && p->K > 0 &&
        tmm__xreaches(TMM_PIPELINED, p->K, M + TILE, N + TILE)) {
        c.pitchA = inA ? 0 : ((M - 1) / TILE + 1) * TILE;
        c.pitchB = inB ? 0 : ((N - 1) / TILE + 1) * TILE;
        tmm__xpipelined_tiles(&c, p, tn, count);
        c.time += tmm__pack_time(((double)c.pitchA + (TMM__TRIANGLE(p) ? 0 : c.pitchB)) * p->K *
                                 sizeof(TMM_TYPE));
        if (TMM__WORTH_PACKING(best->time, c.time)) *best = c;
    }
#endif
}
#endif
/* src/tiledmm/kernels/tensor/launch.h. LAUNCHER of KERNEL TENSOR.
   Uses: kernels/tensor/, launch/, once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
#if !TMM__HALF_TENSOR
static inline tmm_status tmm__xtensor_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    if (TMM__FLOAT_TENSOR) return TMM_OK;
    if (TMM__IS_FLOAT)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor is not in this program for float: define "
                         "TMM_FLOAT_TENSOR before tiledmm.cuh is included");
    if (!TMM__IS_DOUBLE)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor is for double, float and elements of 16 bits alone");
    if (!tmm__xtensor_fits())
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor needs %d bytes of shared memory a block, more than "
                         "this device has",
                         TMM__TENSOR_BYTES(64, 64));
    return tmm__xcheck_reach(p, row);
}
#endif

#if TMM__IS_DOUBLE
#define TMM__CHECK(pass, name, warps, down, width, blocks) \
    | ((warps) == 2 && (down) <= 2 ? 1 << (width) : 0)
static_assert(
    ((0 TMM__TENSOR_LIST(TMM__CHECK)) & 6) == 6,
    "TMM__TENSOR_LIST must have tiles of 64 x 64 or less for copies of 1 and of 2 elements: "
    "larger ones take no operands smaller than their tile");
#undef TMM__CHECK

/* Whether lines of an operand lie in memory as sectors of L2 do, of 32 bytes, and whether the steps
   after a short first one begin within them. */
static inline int tmm__xtensor_lines_fit(const void *operand, long long line)
{
    return ((size_t)operand | (size_t)line * sizeof(TMM_TYPE)) % 32 == 0;
}

/* Should the last step be the short one? So it is if an operand is copied along k, its lines begin
   with a sector, and steps after a short one would not. */
static inline int tmm__xtensor_short_last(const tmm__plan *c, const tmm__xproduct *p)
{
    const int A = c->modeA == TMM__ALONG_K && tmm__xtensor_lines_fit(p->A, p->rsA);
    const int B = c->modeB == TMM__ALONG_K && tmm__xtensor_lines_fit(p->B, p->csB);
    return (A || B) && p->K % 4 != 0;
}

/* The part of the copies of 16 bytes that begin within sectors, so that L2 has to give some twice:
   every other line, if they do not lie as sectors; or all of an operand, after a short step. */
static inline double tmm__xtensor_within(const tmm__plan *c, const tmm__xproduct *p, int short_last,
                                         double tile_m, double tile_n)
{
    const long long lineA = c->modeA == TMM__ALONG_K ? p->rsA : p->csA;
    const long long lineB = c->modeB == TMM__ALONG_K ? p->csB : p->rsB;
    const int short_first = !short_last && p->K % 4 != 0;
    double A = !tmm__xtensor_lines_fit(p->A, lineA)      ? 0.5
               : short_first && c->modeA == TMM__ALONG_K ? 1
                                                         : 0;
    double B = !tmm__xtensor_lines_fit(p->B, lineB)      ? 0.5
               : short_first && c->modeB == TMM__ALONG_K ? 1
                                                         : 0;
    if (c->pitchA > 0) A = 0;
    if (c->pitchB > 0) B = 0;
    return (A * tile_m + B * tile_n) / (tile_m + tile_n);
}

/* The instance that should be fastest, of those for copies of 16 bytes (`wide`) or for any
   operands; and its schedule. */
static inline void tmm__xtensor_tiles(tmm__plan *c, const tmm__xproduct *p, int wide)
{
#define TMM__ROW(pass, name, warps, down, width, blocks) \
    {32 * down,                                          \
     32 * warps,                                         \
     2 * warps,                                          \
     width,                                              \
     blocks,                                             \
     down == 1,                                          \
     (const void *)TMM_FN(gemm_tensor_##name)},
    static const tmm__tensor_instance instances[] = {TMM__TENSOR_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const int packed = c->pitchA + c->pitchB > 0;
    tmm__xproduct q = *p; /* with the operands as they are read */
    if (c->pitchA > 0) q.rsA = 1, q.csA = c->pitchA;
    if (c->pitchB > 0) q.csB = 1, q.rsB = c->pitchB;
    c->kernel = NULL;
    const int short_last = tmm__xtensor_short_last(c, p);
    enum { COUNT = (int)(sizeof instances / sizeof *instances), SIZE = 8 };
    for (int n = 0; n < 2 * COUNT; n++) {
        const int tall = n >= COUNT; /* the tile turned */
        const tmm__tensor_instance *i = &instances[n % COUNT];
        const int tile_m = tall ? i->tile_n : i->tile_m, tile_n = tall ? i->tile_m : i->tile_n;
        if (tall && !i->turns) continue;
        tmm__division d;
        tmm__plan one = *c;
        int large = tile_m > 64 || tile_n > 64; /* it takes no operands smaller than its tile */
        if ((i->width == 2) != wide || (large && (p->M < tile_m || p->N < tile_n))) continue;
        if (TMM__TENSOR_BYTES(tile_m, tile_n) > device->shared) continue;
        memset(&d, 0, sizeof d);
        tmm__divide(&d, TMM__TRIANGLE(p), p->M, p->N, tile_m, tile_n);
        d.steps = (int)((p->K + TMM__TENSOR_DEPTH - 1) / TMM__TENSOR_DEPTH);
        d.processors = device->processors;
        d.cut_k = p->batch == 1 && (p->allowed & TMM__CUT_K);
        one.instance = n + (packed ? 2 * COUNT : 0), one.kernel = i->kernel;
        one.tile_m = tile_m, one.tile_n = tile_n, one.threads = 32 * i->warps;
        one.bytes = TMM__TENSOR_BYTES(tile_m, tile_n);
        d.load = tmm__xload(&q, TMM__COST_TENSOR, tile_m, tile_n);
        if (!large && d.cut_k) /* a multiprocessor has one of their blocks */
            d.clusters =
                tmm__clusters(i->kernel, device->shared / 2, tile_m * tile_n / 512, 4 * SIZE);
        if (!large) /* what lies outside is not copied */
            d.load.copied =
                (int)SIZE * ((double)p->M / d.tiles_down + (double)p->N / d.tiles_across);
        d.load.copied *= tmm__tuned()->tensor.copied;
        /* 64 x 64 can copy through L1. */
        const double within =
            wide ? tmm__xtensor_within(c, p, i->turns && short_last, tile_m, tile_n) : 0;
        const int near = wide && !large && !i->turns && within > 0;
        if (wide) d.load.single = within;
        if (!near) d.load.copied *= 1 + tmm__tuned()->tensor.within * within;
        tmm__plan_tensor(&one, i, &d);
        one.time +=
            tmm__power_time((double)p->M * p->N * p->K * p->batch * (TMM__TRIANGLE(p) ? 0.5 : 1),
                            tile_m * tile_n, d.load.copied);
        one.time = TMM__TENSOR_GUESS(p->M, n, one.time);
        one.s.is_tall = tall, one.off_sectors = i->turns ? short_last : near;
        if (c->kernel == NULL || one.time < c->time) *c = one;
    }
}

/* The instance and the plan that should be fastest. */
static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *best)
{
    (void)row;
    enum { SIZE = 8, TILE = 128 };
    const long long M = p->M, N = p->N, K = p->K;
    /* Which way an operand is contiguous, and whether it can be copied by 16 bytes. */
    size_t along_A = (size_t)p->A | p->rsA * SIZE | p->strideA * SIZE | K * SIZE;
    size_t along_B = (size_t)p->B | p->csB * SIZE | p->strideB * SIZE | K * SIZE;
    size_t lines_A = (size_t)p->A | p->csA * SIZE | p->strideA * SIZE | M * SIZE;
    size_t lines_B = (size_t)p->B | p->rsB * SIZE | p->strideB * SIZE | N * SIZE;
    tmm__plan c = *best;
    c.modeA = p->csA == 1 && (p->rsA != 1 || along_A % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    c.modeB = p->rsB == 1 && (p->csB != 1 || along_B % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    const int wideA = (c.modeA == TMM__ALONG_K ? along_A : lines_A) % 16 == 0;
    const int wideB = (c.modeB == TMM__ALONG_K ? along_B : lines_B) % 16 == 0;
    *best = c;
    tmm__xtensor_tiles(best, p, wideA && wideB);
    if ((wideA && wideB) || p->batch > 1 || !(p->allowed & TMM__PACK) || K == 0 ||
        !tmm__xreaches(TMM_PIPELINED, K, M + TILE, N + TILE))
        return;
    if (!wideA) c.pitchA = (M + TILE - 1) / TILE * TILE, c.modeA = TMM__ALONG_LINES;
    if (!wideB) c.pitchB = (N + TILE - 1) / TILE * TILE, c.modeB = TMM__ALONG_LINES;
    tmm__xtensor_tiles(&c, p, 1);
    c.time += tmm__pack_time(((double)c.pitchA + (TMM__TRIANGLE(p) ? 0 : c.pitchB)) * K *
                             sizeof(TMM_TYPE));
    if (TMM__WORTH_PACKING(best->time, c.time)) *best = c;
}

static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__xtensor_pays() && tmm__xfast_competes(p, row);
}

static inline tmm_status tmm__xtensor(const tmm__xproduct *p, const tmm__plan *plan)
{
    return tmm__xdivided(p, plan);
}
#endif
#endif
/* src/tiledmm/kernels/tensor_half/launch.h. PLAN and LAUNCHER of KERNEL TENSOR HALF.
   Uses: mma_sync.cuh, wgmma.cuh, launch/, once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* An instance of KERNEL TENSOR HALF. */
typedef struct tmm__xhalf__instance {
    int rows, cols, bytes;
    const void *kernel;
} tmm__xhalf__instance;

static inline tmm_status tmm__xtensor_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const tmm__device *device = tmm__current_device();
    if (device->shared < TMM__HALF_BYTES(64, 64, 2))
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor needs %d bytes of shared memory a block, more than this "
                         "device has",
                         TMM__HALF_BYTES(64, 64, 2));
    return tmm__xcheck_k(p, row);
}

/* The driver's function that makes maps for TMA, without a library of its own; NULL: there is none. */
static inline tmm__map_maker tmm__xmap_maker(void)
{
    static thread_local void *found;
#if TMM__CLUSTER_LAUNCH && defined(CUDART_VERSION) && CUDART_VERSION >= 12000 && !defined(__CUCC__)
    cudaDriverEntryPointQueryResult result;
    if (found == NULL) {
        void *one = NULL;
#if CUDART_VERSION >= 12050
        const cudaError_t error =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &one, 12000,
                                             cudaEnableDefault, &result);
#else
        const cudaError_t error =
            cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &one, cudaEnableDefault, &result);
#endif
        if (tmm__succeeded(error) && result == cudaDriverEntryPointSuccess) found = one;
    }
#endif
    tmm__map_maker make;
    memcpy(&make, &found, sizeof make);
    return make;
}

/* An instance by wgmma. */
typedef struct tmm__xhalf__wgmma {
    int cols, bytes;
    const void *kernel;
} tmm__xhalf__wgmma;

static inline const tmm__xhalf__wgmma *tmm__xhalf_wgmma(int n)
{
#define TMM__ROW(pass, name, cols, stages) \
    {cols, TMM__HALF_WGMMA_BYTES(cols, stages), (const void *)TMM_FN(gemm_half_wgmma_##name)},
    static const tmm__xhalf__wgmma instances[] = {TMM__HALF_WGMMA_LIST(TMM__ROW)};
#undef TMM__ROW
    return n < (int)(sizeof instances / sizeof *instances) ? &instances[n] : NULL;
}

/* Lines and k of an operand as TMA takes them: 16 bytes from line to line, and where they begin. */
static inline int tmm__xhalf_boxed(const void *X, long long ld, long long stride, long long batch)
{
    return ((size_t)X | (size_t)ld * 2 | (batch > 1 ? (size_t)stride * 2 : 0)) % 16 == 0;
}

/* Elements from line to line of op(A) or op(B). A line that is alone may have a leading dimension below
   its length, as that of a column vector is 1: then what TMA and copies take. */
static inline long long tmm__xhalf_ld(const tmm__xproduct *p, int is_B)
{
    const long long lines = is_B ? p->N : p->M, ld = is_B ? tmm__xldb(p) : tmm__xlda(p);
    const int turned = (is_B ? p->rsB : p->csA) != 1;
    return (turned ? p->K : lines) > 1 ? ld : ((turned ? lines : p->K) + 7) / 8 * 8;
}

/* Is there a kernel by wgmma in this program, for this device, and the driver's function? Kernels for
   other devices have no barriers in shared memory. */
static inline int tmm__xhalf_by_wgmma(const tmm__xproduct *p)
{
    const tmm__device *device = tmm__current_device();
    const tmm__xhalf__wgmma *i = tmm__xhalf_wgmma(0);
    /* Not for part of a batch, or of a product from host memory: mma.sync may have other bits than
       wgmma, and would do what TMA cannot read. */
    const int whole = p->allowed & (TMM__CUT_K | TMM__ALL_OF_BATCH);
    return whole && device->capability == 90 && device->shared >= i->bytes &&
           tmm__compiled(i->kernel)->static_shared > 0 && p->M <= INT_MAX - 256 &&
           p->N <= INT_MAX - 256 && p->K > 0 && p->K <= INT_MAX - 64 && tmm__xlda(p) <= 1ll << 36 &&
           tmm__xldb(p) <= 1ll << 36 &&
           (p->batch == 1 || (tmm__xhalf_boxed(p->A, tmm__xhalf_ld(p, 0), p->strideA, p->batch) &&
                              tmm__xhalf_boxed(p->B, tmm__xhalf_ld(p, 1), p->strideB, p->batch))) &&
           tmm__xmap_maker() != NULL;
}

/* Has the device tensor cores for this type? Else it is right, but slow. */
static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const int capability = tmm__current_device()->capability;
    return capability >= (TMM__HALF_TENSOR == 1 ? 75 : 80) && p->K <= INT_MAX &&
           tmm__xtensor_takes(p, row) == TMM_OK;
}

#ifdef TMM_WITH_SYRK
/* The rectangle of C that has the last tiles of its triangle, as a product of its own. Returns how many
   tiles that are; 0: none. */
static inline int tmm__xhalf_rest(const tmm__xproduct *p, int cols, int rest, tmm__xproduct *q)
{
    const tmm__tiling t = tmm__tile(p->triangle, p->M, p->N, 256, cols);
    const tmm__last_tiles last = tmm__last_of_triangle(&t, p->triangle, p->N, 256, 8, rest);
    *q = *p;
    q->triangle = 0, q->M = last.rows, q->N = last.cols;
    q->A += last.row * q->rsA, q->B += last.col * q->csB, q->C += last.row * q->ldc + last.col;
    return last.tiles;
}
#endif

/* The instance by wgmma that should be fastest, if that is below c->time. Blocks are persistent: the
   busiest has so many rounds. Operands off 16 bytes are copied first, if CUDA copies such lines. */
static inline void tmm__xhalf_wgmma_plan(const tmm__xproduct *p, tmm__plan *c)
{
    const tmm__device *device = tmm__current_device();
    const double steps = ceil(p->K / 64.0), down = ceil(p->M / 128.0);
    const tmm__xhalf__wgmma *i;
    const long long lda = tmm__xhalf_ld(p, 0), ldb = tmm__xhalf_ld(p, 1);
    const int copies_A = !tmm__xhalf_boxed(p->A, lda, 0, 1);
    const int copies_B = !tmm__xhalf_boxed(p->B, ldb, 0, 1);
    const long long most = (INT_MAX - 16) / 2; /* of a line that CUDA copies */
    double copies = 0;
    if (copies_A) copies += tmm__pack_time(2.0 * p->M * p->K);
    if (copies_B && !TMM__TRIANGLE(p)) copies += tmm__pack_time(2.0 * p->N * p->K);
    if (copies > 0 && (!(p->allowed & TMM__PACK) || !device->pools || (copies_A && lda > most) ||
                       (copies_B && ldb > most)))
        return;
    for (int n = 0; (i = tmm__xhalf_wgmma(n)) != NULL; n++) {
        tmm__load load = tmm__xload(p, TMM__COST_TENSOR, 128, i->cols);
        const tmm__tiling by_pairs = tmm__tile(TMM__TRIANGLE(p), p->M, p->N, 256, i->cols);
        const double pairs = 2 * by_pairs.down * by_pairs.across * p->batch;
        if (pairs > INT_MAX - 65536) continue; /* items are counted in 32 bits */
        for (int slices = 1; slices <= 32; slices *= 2) {
            if (slices > 1 && (!(p->allowed & TMM__CUT_K) || !device->pools ||
                               pairs * slices > load.processors || slices * 4 > steps))
                break;
            const double rounds = ceil((down > 1 ? pairs : load.blocks) * slices / load.processors);
            const double *costs = tmm__tuned()->half_wgmma[n < TMM__TUNED_HALF ? n : 0];
            const double clocks = costs[0] + rounds * (ceil(steps / slices) * costs[1] + costs[2]);
            double time = device->gpu.launch +
                          tmm__overlapped(tmm__in_nanoseconds(clocks), tmm__memory_time(&load)) +
                          copies;
            if (slices > 1) time = tmm__host_time(time + tmm__xsum_time(p, slices));
            const int cut = slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
            time = TMM__PLAN_GUESS(8 + n, cut, slices, time);
            if (time >= c->time) continue;
            c->time = time, c->instance = 8 + n, c->kernel = i->kernel, c->bytes = i->bytes;
            c->tile_m = 128, c->tile_n = i->cols, c->slices = slices, c->cut = cut, c->rest = 0;
        }
#ifdef TMM_WITH_SYRK
        /* Of a triangle, the tiles of a short last round as a product whose k is cut. */
        const double most = floor(load.processors / 2), whole = floor(pairs / 2 / most);
        const int rest = (int)(pairs / 2 - whole * most);
        tmm__xproduct q;
        tmm__plan last;
        memset(&last, 0, sizeof last);
        last.time = HUGE_VAL;
        if (p->triangle == 0 || p->batch > 1 || !(p->allowed & TMM__CUT_K) || down < 2 ||
            whole < 1 || rest == 0 || tmm__xhalf_rest(p, i->cols, rest, &q) == 0)
            continue;
        tmm__xhalf_wgmma_plan(&q, &last);
        const double *costs = tmm__tuned()->half_wgmma[n < TMM__TUNED_HALF ? n : 0];
        const double clocks = costs[0] + whole * (steps * costs[1] + costs[2]);
        double time = device->gpu.launch +
                      tmm__overlapped(tmm__in_nanoseconds(clocks), tmm__memory_time(&load)) +
                      copies + last.time;
        time = TMM__PLAN_GUESS(8 + n, TMM__PLAN_LAST_ROUND, last.slices, time);
        if (time >= c->time) continue;
        c->time = time, c->instance = 8 + n, c->kernel = i->kernel, c->bytes = i->bytes;
        c->tile_m = 128, c->tile_n = i->cols, c->slices = 1, c->cut = TMM__PLAN_LAST_ROUND;
        c->rest = tmm__xhalf_rest(p, i->cols, rest, &q);
#endif
    }
}

/* By mma.sync: takes the tile that should be fastest, and shares out k where few tiles have long sums. */
static inline void tmm__xhalf_mma_plan(const tmm__xproduct *p, tmm__plan *c)
{
#define TMM__ROW(pass, name, rows, cols, stages, blocks) \
    {rows, cols, TMM__HALF_BYTES(rows, cols, stages), (const void *)TMM_FN(gemm_half_##name)},
    static const tmm__xhalf__instance instances[] = {TMM__HALF_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const int count = (int)(sizeof instances / sizeof *instances);
    const double steps = ceil(p->K / 32.0);
    c->time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        const tmm__xhalf__instance *i = &instances[n];
        tmm__load load = tmm__xload(p, TMM__COST_TENSOR, i->rows, i->cols);
        const double tiles = load.blocks;
        load.type = TMM__TUNED_AS_HALF;
        if (i->bytes > device->shared) continue;
        for (int slices = 1; slices <= 32; slices *= 2) {
            if (slices > 1 && (!(p->allowed & TMM__CUT_K) || !device->pools ||
                               tiles * slices > 4 * load.processors || slices * 4 > steps))
                break;
            load.blocks = tiles * slices, load.k = 32 * ceil(steps / slices);
            double time = tmm__launch_time(&tmm__tuned()->half[n < TMM__TUNED_HALF ? n : 0], &load);
            if (slices > 1) time = tmm__host_time(time + tmm__xsum_time(p, slices));
            time =
                TMM__PLAN_GUESS(n, slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE, slices, time);
            if (time >= c->time) continue;
            c->time = time, c->instance = n, c->kernel = i->kernel, c->bytes = i->bytes;
            c->tile_m = i->rows, c->tile_n = i->cols, c->slices = slices;
            c->cut = slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
        }
    }
}

static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
{
    (void)row;
    tmm__xhalf_mma_plan(p, c);
    if (tmm__xhalf_by_wgmma(p)) tmm__xhalf_wgmma_plan(p, c);
}

/* The map of op(A) or op(B), which lies at X: lines by k of each product, in boxes of 64 elements that are
   neighbours in memory, and `high` of the other kind. 0 if the driver refuses. */
static inline int tmm__xhalf_make_map(tmm__half_map *map, const tmm__xproduct *p, int is_B,
                                      const TMM_TYPE *X, long long ld, int high)
{
    enum { HALF = 6, BFLOAT16 = 9, SWIZZLE_128B = 3, PROMOTION_256B = 3 }; /* of cuda.h */
    const long long lines = is_B ? p->N : p->M, stride = is_B ? p->strideB : p->strideA;
    const int turned = (is_B ? p->rsB : p->csA) != 1, next = p->batch > 1 && stride > 0;
    const unsigned long long sizes[] = {(unsigned long long)(turned ? lines : p->K),
                                        (unsigned long long)(turned ? p->K : lines),
                                        next ? p->batch : 1};
    const unsigned long long strides[] = {2ull * ld, next ? 2ull * stride : 2ull * ld * sizes[1]};
    const unsigned box[] = {64, (unsigned)high, 1}, steps[] = {1, 1, 1};
    return tmm__xmap_maker()(map, TMM__HALF_TENSOR == 1 ? HALF : BFLOAT16, 3, (void *)X, sizes,
                             strides, box, steps, 0, SWIZZLE_128B, PROMOTION_256B, 0) == 0;
}

/* An operand off 16 bytes, copied so that its lines are not: to `memory`. */
static inline tmm_status tmm__xhalf_align(const TMM_TYPE **X, long long *ld, long long rows,
                                          long long cols, char *memory, tmm_stream stream)
{
    const size_t pitch = (size_t)(cols * 2 + 15) / 16 * 16;
    const cudaError_t error =
        cudaMemcpy2DAsync(memory, pitch, *X, (size_t)*ld * 2, (size_t)cols * 2, (size_t)rows,
                          cudaMemcpyDeviceToDevice, stream);
    *X = (const TMM_TYPE *)memory, *ld = (long long)pitch / 2;
    return error == cudaSuccess ? TMM_OK : tmm__cuda(error, "cudaMemcpy2DAsync");
}

/* By wgmma. *missing: there was no memory for aligned copies, or no map; then nothing is done. */
static inline tmm_status tmm__xhalf_run_wgmma(tmm__xproduct *p, const tmm__plan *plan, int *missing)
{
    const tmm__device *device = tmm__current_device();
    const int turned_A = p->csA != 1, turned_B = p->rsB != 1;
    const long long down = (p->M - 1) / 128 + 1, across = (p->N - 1) / plan->tile_n + 1;
    const TMM_TYPE *A = p->A, *B = p->B;
    long long lda = tmm__xhalf_ld(p, 0), ldb = tmm__xhalf_ld(p, 1);
    const long long rowsA = turned_A ? p->K : p->M, colsA = turned_A ? p->M : p->K;
    const long long rowsB = turned_B ? p->K : p->N, colsB = turned_B ? p->N : p->K;
    const size_t bytesA = tmm__xhalf_boxed(A, lda, 0, 1) ? 0 : (size_t)(rowsA * (colsA + 7)) * 2;
    const int same = TMM__TRIANGLE(p) != 0; /* B is A */
    const size_t bytesB =
        same || tmm__xhalf_boxed(B, ldb, 0, 1) ? 0 : (size_t)(rowsB * (colsB + 7)) * 2;
    char *memory = NULL;
    tmm_status status = TMM_OK;
    tmm__half_map maps[2];
    tmm__half_job job;
    int slices = plan->slices;
    if (bytesA + bytesB > 0)
        memory = (char *)tmm__workspace((bytesA + 255) / 256 * 256 + bytesB, p->stream);
    *missing = bytesA + bytesB > 0 && memory == NULL;
    if (*missing) return TMM_OK;
    if (bytesA > 0) status = tmm__xhalf_align(&A, &lda, rowsA, colsA, memory, p->stream);
    if (bytesB > 0 && status == TMM_OK)
        status = tmm__xhalf_align(&B, &ldb, rowsB, colsB, memory + (bytesA + 255) / 256 * 256,
                                  p->stream);
    if (same) B = A, ldb = lda;
    memset(&job, 0, sizeof job);
    job.M = p->M, job.N = p->N, job.ldc = p->ldc, job.batchC = p->strideC;
    job.alpha = (float)p->alpha, job.beta = (float)p->beta;
    job.turned_A = turned_A, job.turned_B = turned_B;
    job.next_A = p->batch > 1 && p->strideA > 0, job.next_B = p->batch > 1 && p->strideB > 0;
    job.cluster = down > 1 ? 2 : 1;
    job.pairs_down = (int)((down - 1) / job.cluster + 1), job.across = (int)across;
    job.steps = (int)((p->K + 63) / 64);
#ifdef TMM_WITH_SYRK
    if (p->triangle != 0) {
        const tmm__tiling t = tmm__tile(p->triangle, p->M, p->N, 128 * job.cluster, plan->tile_n);
        job.pairs_down = (int)t.down, job.across = (int)t.across;
        job.triangle = p->triangle, job.squares = t.squares, job.ratio_log2 = t.ratio_log2;
    }
#endif
    *missing = !tmm__xhalf_make_map(&maps[0], p, 0, A, lda, turned_A ? 64 : 128) ||
               !tmm__xhalf_make_map(&maps[1], p, 1, B, ldb, turned_B ? 64 : plan->tile_n / 2);
    if (status == TMM_OK && !*missing) {
        void *partials = tmm__xpartials(p, &slices);
        job.slices = slices, job.partials = (float *)partials;
        job.items = (int)((long long)job.pairs_down * job.across * slices * p->batch) - plan->rest;
        const long long most = device->processors / job.cluster;
        const unsigned blocks = (unsigned)(job.cluster * tmm__min(job.items, most > 0 ? most : 1));
        void *arguments[] = {&maps[0], &maps[1], &p->C, &job};
        status = tmm__launch_clusters(plan->kernel, dim3(blocks), 384, job.cluster, 0, plan->bytes,
                                      arguments, p->stream);
        status = tmm__xsum(status, p, slices, partials, TMM__SUM_GROUPS);
    }
    if (memory != NULL) (void)cudaFreeAsync(memory, p->stream);
    return status;
}

static inline tmm_status tmm__xtensor(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    tmm__plan by_mma;
    int slices, missing = 0;
    if (plan->kernel != NULL && plan->instance >= 8) {
        const tmm_status status = tmm__xhalf_run_wgmma(&p, plan, &missing);
#ifdef TMM_WITH_SYRK
        if (!missing && status == TMM_OK && plan->rest > 0) {
            tmm__plan last;
            (void)tmm__xhalf_rest(given, plan->tile_n, plan->rest, &p);
            tmm__xplan_by(TMM_TENSOR, &p, &last);
            return tmm__xtensor(&p, &last);
        }
#endif
        if (!missing) return status;
        memset(&by_mma, 0, sizeof by_mma);
        by_mma.value = TMM_TENSOR;
        tmm__xhalf_mma_plan(&p, &by_mma);
        plan = &by_mma;
    }
    slices = plan->slices;
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor: no instance fits the shared memory of this device");
    void *partials = tmm__xpartials(&p, &slices);
    const tmm__tiling tiles = tmm__tile(TMM__TRIANGLE(&p), p.M, p.N, plan->tile_m, plan->tile_n);
    void *arguments[20];
    int count = tmm__xarguments(&p, arguments);
    arguments[count++] = &partials;
#ifdef TMM_WITH_SYRK
    arguments[count++] = &p.triangle;
#endif
    const tmm_status status =
        tmm__launch(plan->kernel,
                    dim3((unsigned)(tiles.down * tiles.across), (unsigned)slices, p.batch),
                    dim3(128), plan->bytes, arguments, p.stream);
    return tmm__xsum(status, &p, slices, partials, TMM__SUM_GROUPS);
}
#endif
/* src/tiledmm/kernels/small/launch.h. PLAN and LAUNCHER of KERNEL SMALL.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* The first instance stands in where a device has little shared memory. */
#define TMM__FIRST(pass, name, rows, cols) 1 ? (rows) * (cols):
enum { tmm__xsmall_least = (TMM__SMALL_LIST(TMM__FIRST) 0) };
#undef TMM__FIRST
#define TMM__CHECK(pass, name, rows, cols)                                                      \
    static_assert((rows) * (cols) >= (int)tmm__xsmall_least,                                    \
                  "TMM__SMALL_LIST: the first instance must have the smallest tile: it is for " \
                  "devices with little shared memory");
TMM__SMALL_LIST(TMM__CHECK)
#undef TMM__CHECK

/* An instance of KERNEL SMALL. */
typedef struct tmm__xsmall__instance {
    int rows, cols, bytes;
    const void *kernel;
} tmm__xsmall__instance;

/* Costs of an instance; of one that was not measured: by its area, of the last. */
static inline tmm__small_costs tmm__xsmall_costs(const tmm__xsmall__instance *i)
{
    const tmm__costs *t = tmm__tuned();
    int n = 0;
    while (n < TMM__TUNED_SMALL - 1 &&
           (t->small_c[n].rows != i->rows || t->small_c[n].cols != i->cols))
        n++;
    tmm__small_costs c = t->small_c[n].tile[TMM__TUNED_AS];
    const double area = (double)i->rows * i->cols / (t->small_c[n].rows * t->small_c[n].cols);
    c.few *= area, c.step *= area, c.tile *= area, c.work *= area, c.odd *= area;
    /* Warps that there is shared memory for. */
    const double room =
        floor((double)tmm__current_device()->shared * (1 << TMM__SMALL_WARPS_LOG2) / i->bytes);
    c.warps = fmin(c.warps / area, room);
    return c;
}

/* The warps of a block, as a power of two. A block of several teams is a coarse share: some
   multiprocessors would have two of them while others have one. So a block has one team; but more
   where each multiprocessor has so many blocks that one more or less does not count. */
static inline int tmm__xsmall_block(int team_log2, double tiles)
{
    const double many = 16, processors = TMM__BUSY(tmm__current_device()->processors);
    int warps_log2 = team_log2;
    while (warps_log2 < TMM__SMALL_WARPS_LOG2 &&
           tiles / (2 << (warps_log2 - team_log2)) >= many * processors)
        warps_log2++;
    return warps_log2;
}

/* A division that is faster than the plan so far, or as fast: tiles of instance *i, each by a team. */
static inline void tmm__xsmall_take(tmm__plan *c, const tmm__xsmall__instance *i, int team_log2,
                                    double time)
{
    c->time = time, c->kernel = i->kernel, c->tile_m = i->rows, c->tile_n = i->cols;
    c->bytes = i->bytes, c->team_log2 = team_log2;
}

/* Takes the tile and the warps for it that should be fastest; and shares out k where few tiles have
   long sums, in parts of 16 steps at least, two for each warp; one, where units are slow. */
static inline void tmm__xsmall_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
{
#define TMM__ROW(pass, name, rows, cols) \
    {rows, cols, TMM_FN(small_bytes_##name), (const void *)TMM_FN(gemm_small_##name)},
    static const tmm__xsmall__instance instances[] = {TMM__SMALL_LIST(TMM__ROW)};
#undef TMM__ROW
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    const int count = (int)(sizeof instances / sizeof *instances);
    double whole = HUGE_VAL;
    (void)row;
    c->time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        const tmm__xsmall__instance *i = &instances[n];
        const tmm__small_costs costs = tmm__xsmall_costs(i);
        tmm__load load = tmm__xload(p, TMM__COST_SMALL, i->rows, i->cols);
        const double tiles = load.blocks, steps = ceil(load.k / 8);
        if (n > 0 && i->bytes > device->shared) continue;
        double time = HUGE_VAL;
        for (int team_log2 = 0; team_log2 <= (int)TMM__SMALL_WARPS_LOG2; team_log2++) {
            const int team = 1 << team_log2;
            if (team > 1 && team / 2 >= steps) break; /* half of them would have nothing to do */
            const double one =
                TMM__PLAN_GUESS(n, TMM__PLAN_WHOLE, team, tmm__small_time(&costs, &load, team));
            time = fmin(time, one);
            if (one <= whole) {
                const tmm__unsplit unsplit = {i->kernel, i->rows, i->cols, i->bytes, team_log2};
                whole = one, c->unsplit = unsplit;
            }
            if (one > c->time) continue;
            tmm__xsmall_take(c, i, team_log2, one);
            c->instance = n, c->cut = TMM__PLAN_WHOLE, c->slices = 1;
        }
        if (time < t->host || !device->pools) continue;
        /* More parts than this would take longer to add up than they save. */
        const double each = tmm__xsum_time(p, 1) - tmm__xsum_time(p, 0);
        const double clocks = tmm__small_k_clocks(&costs, &load);
        const double best = sqrt(tmm__in_nanoseconds(clocks * p->K) / each);
        const double slow = load.area / tmm__rate(device->capability, load.family, load.type);
        const double most_parts = floor(steps / (clocks > slow ? 16 : 8));
        for (int turns = 1; turns <= 2; turns++) {
            const double fit = floor(turns * load.processors / tiles);
            const double parts = floor(fmin(fmin(fit, best), most_parts));
            if (parts < 2) continue;
            load.blocks = tiles * parts, load.k = p->K / parts;
            time = tmm__small_time(&costs, &load, 1 << TMM__SMALL_WARPS_LOG2) +
                   tmm__xsum_time(p, parts);
            time = TMM__PLAN_GUESS(n, TMM__PLAN_REDUCE, (int)parts, tmm__host_time(time));
            if (time >= c->time || time >= t->gain * whole) continue;
            tmm__xsmall_take(c, i, TMM__SMALL_WARPS_LOG2, time);
            c->instance = n, c->cut = TMM__PLAN_REDUCE, c->slices = (int)parts;
        }
    }
    /* Two stages, which kernels before sm_80 have. */
    if (c->unsplit.bytes / 3 * 2 > device->shared) c->kernel = NULL, c->time = HUGE_VAL;
}

/* As many products as tiles fit in 32 bits. */
static inline tmm_status tmm__xsmall_launch(tmm__xproduct *p, const tmm__plan *plan)
{
    tmm__plan c = *plan;
    const tmm__device *device = tmm__current_device();
    if (c.kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel small takes %d bytes of shared memory, this device has %d for a "
                         "block",
                         c.unsplit.bytes / 3 * 2, device->shared);
    void *partials = tmm__xpartials(p, &c.slices);
    if (partials == NULL) {
        c.kernel = c.unsplit.kernel, c.tile_m = c.unsplit.tile_m, c.tile_n = c.unsplit.tile_n;
        c.bytes = c.unsplit.bytes, c.team_log2 = c.unsplit.team_log2;
    }
    const long long tiles = ((p->M - 1) / c.tile_m + 1) * ((p->N - 1) / c.tile_n + 1) * p->batch;
    /* Devices that have less shared memory have no asynchronous copies, and kernels compiled for
       them need less. */
    const int warps_log2 = tmm__xsmall_block(c.team_log2, (double)tiles * (double)c.slices);
    int bytes = (int)tmm__min(c.bytes >> ((int)TMM__SMALL_WARPS_LOG2 - warps_log2), device->shared);
    void *arguments[20];
    int count = tmm__xarguments(p, arguments);
    arguments[count++] = &p->batch, arguments[count++] = &c.team_log2,
    arguments[count++] = &partials;
    const long long blocks = ((tiles << c.team_log2) + (1 << warps_log2) - 1) >> warps_log2;
    const tmm_status status = tmm__launch(c.kernel, dim3((unsigned)blocks, (unsigned)c.slices),
                                          dim3(32u << warps_log2), bytes, arguments, p->stream);
    return tmm__xsum(status, p, c.slices, partials, TMM__SUM_GROUPS);
}

/* The same for any number of products: tiles are numbered through all of a launch. */
static inline tmm_status tmm__xsmall(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    tmm__plan part = *plan;
    long long tiles = ((p.M - 1) / 16 + 1) * ((p.N - 1) / 16 + 1); /* INT_MAX at most */
    long long most = INT_MAX / tiles, batch = p.batch;
    tmm_status status = TMM_OK;
    for (long long first = 0; first < batch && status == TMM_OK; first += most) {
        p.batch = (unsigned)tmm__min(batch - first, most);
        if (batch > most) tmm__xplan_by(TMM_SMALL, &p, &part);
        status = tmm__xsmall_launch(&p, &part);
        p.A += most * p.strideA, p.B += most * p.strideB, p.C += most * p.strideC;
    }
    return status;
}
#endif
/* src/tiledmm/kernels/skinny/launch.h. LAUNCHER of KERNEL SKINNY.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Of other types than float, TMM_SKINNY is then a name for TMM_DIRECT. */
static inline int tmm__xskinny_fits(const tmm__xproduct *p)
{
    return p->M <= TMM__SKINNY_MOST || p->N <= TMM__SKINNY_MOST;
}

#if TMM__IS_FLOAT
static inline tmm_status tmm__xskinny_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)row;
    if (tmm__xskinny_fits(p)) return TMM_OK;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel skinny: M x N is %lld x %lld, but one of them must be %d at most",
                     p->M, p->N, TMM__SKINNY_MOST);
}

/* An instance of KERNEL SKINNY: as in the list, bytes of shared memory, and of its sums alone,
   lines of a block and k of a stage. */
typedef struct tmm__xskinny__instance {
    int along_k, width, bytes, least, lines, depth;
    const void *kernel;
} tmm__xskinny__instance;

#define TMM__CHECK(pass, name, along_k, width) | ((width) >= TMM__SKINNY_MOST ? 1 << (along_k) : 0)
static_assert(
    (0 TMM__SKINNY_LIST(TMM__CHECK)) == 3,
    "TMM__SKINNY_LIST must have a width of TMM__SKINNY_MOST along k, and along the lines");
#undef TMM__CHECK

/* Costs of an instance; of one that was not measured: by its area, of that of width 16. */
static inline tmm__block_costs tmm__xskinny_costs(const tmm__xskinny__instance *i, int aligned)
{
    const tmm__costs *t = tmm__tuned();
    const double area = 16.0 * (i->along_k ? 128 : 64); /* its width, and lines */
    const tmm__block_costs *wide = NULL;
    for (int n = 0; n < TMM__TUNED_SKINNY; n++) {
        const tmm__block_costs *c = &t->skinny[n].block[aligned];
        if (t->skinny[n].along_k != i->along_k) continue;
        if (t->skinny[n].width == i->width) return *c;
        if (t->skinny[n].width == 16) wide = c;
    }
    return tmm__scaled(wide, (double)i->lines * i->width / area);
}

/* Takes the narrowest instance that is wide enough, and cuts K so that each multiprocessor has
   nearly as many stages as the others. */
static inline void tmm__xskinny_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *c)
{
#define TMM__ROW(pass, name, along_k, width) \
    {along_k,                                \
     width,                                  \
     TMM_FN(skinny_bytes_##name),            \
     TMM_FN(skinny_least_##name),            \
     TMM_FN(skinny_lines_##name),            \
     TMM_FN(skinny_depth_##name),            \
     (const void *)TMM_FN(gemm_skinny_##name)},
    static const tmm__xskinny__instance instances[] = {TMM__SKINNY_LIST(TMM__ROW)};
#undef TMM__ROW
    const int most_parts = 64, most_turns = 6;
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    const int turned = p->M < p->N; /* L is the large operand */
    const long long lines = turned ? p->N : p->M, width = turned ? p->M : p->N;
    const TMM_TYPE *L = turned ? p->B : p->A;
    const long long lineL = turned ? p->csB : p->rsA, kL = turned ? p->rsB : p->csA;
    (void)row;
    const tmm__xskinny__instance *best = NULL;
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++) {
        const tmm__xskinny__instance *i = &instances[n];
        if (i->along_k != (kL == 1) || i->width < width) continue;
        if (best == NULL || i->width < best->width) best = i;
    }
    c->instance = best->width, c->kernel = best->kernel, c->turned = turned;
    c->tile_m = turned ? best->width : best->lines, c->tile_n = turned ? best->lines : best->width;
    c->blocks = (lines - 1) / best->lines + 1;
    c->threads = 256, c->bytes = (int)tmm__min(best->bytes, device->shared); /* as for SMALL */
    const int aligned = ((size_t)L | (kL == 1 ? lineL : kL) * sizeof(TMM_TYPE)) % 16 == 0;
    const tmm__block_costs costs = tmm__xskinny_costs(best, aligned);
    tmm__load load = tmm__xload(p, TMM__COST_SKINNY, best->lines, best->width);
    const double blocks = (double)c->blocks * p->batch, stages = ceil((double)p->K / best->depth);
    load.blocks = blocks, load.k = stages * best->depth, load.copied = 0;
    c->time = TMM__PLAN_GUESS(best->width, TMM__PLAN_WHOLE, 1, tmm__launch_time(&costs, &load));
    if (best->least > device->shared) /* its sums do not fit */
        c->kernel = NULL, c->time = HUGE_VAL, c->bytes = best->least;
    if (c->kernel == NULL) return;
    /* Two launches would take the host longer. */
    if (c->time <= t->host || !device->pools) return;
    const double whole = c->time;
    const double each = tmm__xsum_time(p, 1) - tmm__xsum_time(p, 0);
    const double rounds = ceil(blocks / load.processors);
    const double most =
        fmin(fmin(stages, most_parts),
             sqrt(tmm__in_nanoseconds(rounds * tmm__k_clocks(&costs, &load) * p->K) / each));
    for (int turns = 1; turns <= most_turns; turns++) {
        const double parts = floor(fmin(most, turns * load.processors / blocks));
        if (parts < 2 || parts == c->slices) continue;
        load.blocks = blocks * parts, load.k = ceil(stages / parts) * best->depth;
        double time = tmm__launch_time(&costs, &load) + tmm__xsum_time(p, parts);
        time = TMM__PLAN_GUESS(best->width, TMM__PLAN_REDUCE, (int)parts, tmm__host_time(time));
        if (time < c->time && whole - time > fmin((1 - t->gain) * whole, t->host))
            c->time = time, c->cut = TMM__PLAN_REDUCE, c->slices = (int)parts;
    }
}

static inline int tmm__xskinny_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__xskinny_fits(p) && tmm__xfast_competes(p, row);
}

/* L is the large operand, S the narrow one. */
static inline tmm_status tmm__xskinny(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct product = *given, *p = &product;
    int narrow_m = plan->turned, parts = plan->slices;
    long long lines = narrow_m ? p->N : p->M, width = narrow_m ? p->M : p->N;
    const TMM_TYPE *L = narrow_m ? p->B : p->A, *S = narrow_m ? p->A : p->B;
    long long lineL = narrow_m ? p->csB : p->rsA, kL = narrow_m ? p->rsB : p->csA;
    long long kS = narrow_m ? p->csA : p->rsB, jS = narrow_m ? p->rsA : p->csB;
    long long strideL = narrow_m ? p->strideB : p->strideA;
    long long strideS = narrow_m ? p->strideA : p->strideB;
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel skinny: its sums take %d bytes of shared memory, this device has "
                         "%d for a block",
                         plan->bytes, tmm__current_device()->shared);
    void *partials = tmm__xpartials(p, &parts);
    void *arguments[] = {&lines,   &width,   &p->K,   &p->alpha,   &L,        &lineL,
                         &kL,      &strideL, &S,      &kS,         &jS,       &strideS,
                         &p->beta, &p->C,    &p->ldc, &p->strideC, &narrow_m, &partials};
    tmm_status status =
        tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, (unsigned)parts, p->batch),
                    dim3((unsigned)plan->threads), plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, parts, partials, TMM__SUM_GROUPS);
}
#endif
#endif
/* src/tiledmm/kernels/outer/launch.h. PLAN and LAUNCHER of KERNEL OUTER.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* An instance of KERNEL OUTER. */
typedef struct tmm__xouter__instance {
    int warp_rows, cols, bytes; /* of C that a warp computes; for each k that is copied */
    const void *kernel;
} tmm__xouter__instance;

/* The number under which an instance was measured. Others go by the area of a warp, of the first. */
static inline int tmm__xouter_measured(const tmm__xouter__instance *i, double *area)
{
    const tmm__costs *t = tmm__tuned();
    int n = TMM__TUNED_OUTER - 1;
    while (n > 0 && (t->outer_warp[n].rows != i->warp_rows || t->outer_warp[n].cols != i->cols))
        n--;
    *area = (double)i->warp_rows * i->cols / (t->outer_warp[n].rows * t->outer_warp[n].cols);
    return n;
}

/* Nanoseconds of a plan with an instance: the blocks of the busiest multiprocessor, or memory. */
static inline double tmm__xouter_guess(const tmm__plan *c, const tmm__xouter__instance *i,
                                       const tmm__xproduct *p)
{
    double area;
    const int n = tmm__xouter_measured(i, &area), warps = c->threads / 32;
    const tmm__outer_costs *t = &tmm__tuned()->outer[TMM__TUNED_AS];
    const tmm__load load = tmm__xload(p, TMM__COST_OUTER, 1, 1);
    const double K = (double)p->K;
    const size_t sector = 32;
    const double blocks = ceil((double)c->down * (double)c->blocks * p->batch / load.processors);
    /* Elements that a thread copies. */
    const double copies = K * (i->warp_rows + (double)i->cols / warps) / 32;
    const int apart =
        (size_t)p->ldc * sizeof(TMM_TYPE) % sector != 0 && i->cols == 32 && c->blocks > 1;
    double clocks = warps * area * t->warp[n] * (apart ? 1 + t->odd : 1);
    clocks += warps * area * K * (c->depth > 0 ? t->k[n] : t->direct_k[n]);
    if (c->depth > 0) clocks += warps * copies * t->copied;
    clocks *= blocks;
    clocks += c->depth > 0 ? t->copy + copies * t->copy_each
                           : t->direct + t->direct_each * fmax(K - 1, 0);
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    double memory = tmm__memory_time(&load);
    if (apart) memory *= t->apart;
    return gpu->launch + (p->batch > 1 ? t->batch : 1) * fmax(clocks / gpu->clock, memory);
}

/* The instance and block that should be fastest. */
static inline void tmm__xouter_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                    tmm__plan *best)
{
#define TMM__ROW(pass, name, rows, lanes)                                           \
    {rows * (32 / lanes), TMM__OUTER_COLS * lanes, (int)TMM_FN(outer_bytes_##name), \
     (const void *)TMM_FN(gemm_outer_##name)},
    static const tmm__xouter__instance instances[] = {TMM__OUTER_LIST(TMM__ROW)};
#undef TMM__ROW
    const int count = (int)(sizeof instances / sizeof *instances);
    const int direct = p->K > 0 && p->K <= TMM__OUTER_DIRECT, least = direct ? 2 : 4;
    tmm__plan c = *best;
    (void)row;
    best->time = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        const tmm__xouter__instance *i = &instances[n];
        const int most = tmm__current_device()->shared / i->bytes / (int)TMM__OUTER_STEP;
        const int steps =
            (int)((tmm__min(p->K, TMM__OUTER_MOST) + TMM__OUTER_STEP - 1) / TMM__OUTER_STEP);
        c.instance = n, c.kernel = i->kernel;
        c.depth = direct ? 0 : (steps < 1 ? 1 : steps < most ? steps : most) * (int)TMM__OUTER_STEP;
        c.bytes = c.depth * i->bytes;
        for (int warps = least; warps <= (int)TMM__OUTER_WARPS; warps *= 2) {
            const double down = ceil((double)p->M / (warps * i->warp_rows));
            if (down > (int)TMM__MOST_GRID) continue;
            c.tile_m = warps * i->warp_rows, c.tile_n = i->cols, c.threads = 32 * warps;
            c.down = (int)down, c.blocks = (p->N - 1) / i->cols + 1;
            c.time = tmm__xouter_guess(&c, i, p);
            c.time = TMM__PLAN_GUESS(n, TMM__PLAN_WHOLE, warps, c.time);
            if (c.time < best->time) *best = c;
        }
    }
}

static inline int tmm__xouter_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return p->K <= TMM__OUTER_MOST && tmm__xfast_competes(p, row);
}

static inline tmm_status tmm__xouter(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    int depth = plan->depth;
    void *arguments[20];
    if (plan->kernel == NULL)
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel outer: M (%lld) is too large for it", p.M);
    arguments[tmm__xarguments(&p, arguments)] = &depth;
    return tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, (unsigned)plan->down, p.batch),
                       dim3((unsigned)plan->threads), plan->bytes, arguments, p.stream);
}
#endif
/* src/tiledmm/kernels/direct/launch.h. PLAN and LAUNCHER of KERNEL DIRECT.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Lines of L1 that a load of a warp touches: `along` places in one direction, `step` elements from
   each other, for each of `across` in the other. Where places share lines in one direction, those
   in the other are taken to lie apart. */
static inline double tmm__xdirect_lines(double along, long long along_step, double across,
                                        long long across_step)
{
    const double line = 128.0 / sizeof(TMM_TYPE);
    const double along_lines = fmax(1, along * fmin(1, (double)along_step / line));
    const double across_lines = fmax(1, across * fmin(1, (double)across_step / line));
    return fmin(across * along_lines, along * across_lines);
}

/* Bytes that come from L2 for each k of a block with so many groups; at least a sector of 32. */
static inline double tmm__xdirect_bytes(double groups, const tmm__xproduct *p)
{
    const double size = sizeof(TMM_TYPE), sector = 32;
    const double cols = fmin(groups, (double)p->N), rows = fmax(1, groups / (double)p->N);
    const int along_B = p->rsB == 1 && p->csB != 1;
    return fmax(rows * size, p->csA == 1 ? 0 : sector) + fmax(cols * size, along_B ? 0 : sector);
}

/* Bytes of a line of the larger operand that a block with so many groups reads, where lines lie
   across k; HUGE_VAL where they lie along k. */
static inline double tmm__xdirect_piece(double groups, const tmm__xproduct *p)
{
    const double size = sizeof(TMM_TYPE), cols = fmin(groups, (double)p->N);
    if (p->M > p->N) return p->csA == 1 && p->rsA != 1 ? HUGE_VAL : fmax(1, groups / cols) * size;
    return p->rsB == 1 && p->csB != 1 ? HUGE_VAL : cols * size;
}

/* Nanoseconds with groups of 2^team_log2 threads in each block. `load`: of the product, with a
   block for each element. */
static inline double tmm__xdirect_guess(tmm__plan *c, const tmm__xproduct *p, const tmm__load *load)
{
    const tmm__direct_costs *t = &tmm__tuned()->direct[TMM__TUNED_AS];
    const double group = 1 << c->team_log2, K = (double)p->K, cluster = 1 << c->cluster_log2;
    const double member_k = ceil(K / (group * cluster));
    c->threads = 1 << (c->team_log2 > TMM__DIRECT_BLOCK ? c->team_log2 : (int)TMM__DIRECT_BLOCK);
    const double threads = c->threads;
    const double blocks = ceil((double)p->M * p->N * group / threads) * cluster;
    c->blocks = (long long)blocks;
    /* What a warp has: members of a group, groups in `rows` rows and `cols` columns of C. */
    const int members = c->layout == TMM__MEMBERS;
    const double groups = members ? 32 / fmin(group, 32) : fmin(threads / group, 32);
    const double member = 32 / groups, cols = fmin(groups, (double)p->N), rows = groups / cols;
    const double lines = tmm__xdirect_lines(member, p->csA, rows, p->rsA) +
                         tmm__xdirect_lines(member, p->rsB, cols, p->csB);
    const double warps = ceil(blocks * p->batch / load->processors) * threads / 32;
    const double bytes = tmm__xdirect_bytes(threads / group, p);
    double clocks = t->first + t->halving * log2(member);
    clocks += t->round * (ceil(K / (group * cluster * (int)TMM__DIRECT_DEEP)) - 1);
    if (group > member) clocks += t->barrier * (1 + log2(group / member));
    if (cluster > 1) clocks += t->cluster;
    /* Blocks that find no room wait for that long, once more. */
    const double resident = sizeof(TMM_TYPE) > 4 ? TMM__DIRECT_RESIDENT_8 : TMM__DIRECT_RESIDENT;
    const double room = load->processors * floor(resident / threads);
    if (p->batch == 1) clocks *= ceil(blocks / room);
    clocks += warps * (t->warp + member_k * (t->load + t->line * lines));
    clocks += t->byte * bytes * K / cluster * warps / (threads / 32);
    const tmm__device *device = tmm__current_device();
    const double rate = tmm__rate(device->capability, load->family, load->type);
    clocks = fmax(clocks, load->blocks * K / (rate * load->processors));
    /* Groups that share a row of A have fewer bytes of it under way. */
    double memory = tmm__memory_time(load) * (1 + t->share * (p->M > p->N ? cols - 1 : 0));
    if (load->bytes > device->gpu.l2_bytes)
        memory *= t->memory * (1 + pow(t->piece / tmm__xdirect_piece(threads / group, p), 1.5));
    return device->gpu.launch + tmm__overlapped(tmm__in_nanoseconds(clocks), memory);
}

/* The group that should be fastest. In a batch it is one thread, so that all products have the
   same bits, whatever their number. */
static inline void tmm__xdirect_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *best)
{
    tmm__plan c = *best;
    const int cut = (p->allowed & TMM__CUT_K) != 0;
    (void)row;
    c.kernel = (const void *)tmm__xgemm_direct, c.tile_m = c.tile_n = 1;
    const int clusters = cut && p->K > TMM__DIRECT_CLUSTER_K && sizeof(TMM_SUM) % 4 == 0 &&
                         tmm__has_clusters(c.kernel);
    tmm__load load = tmm__xload(p, TMM__COST_SIMPLE, 1, 1);
    /* Each row of C reads all of B, from memory if L2 cannot hold it. */
    const double B = load.bytes - load.a_bytes;
    if (B > tmm__current_device()->gpu.l2_bytes) load.bytes += (double)(p->M - 1) * B;
    best->time = HUGE_VAL;
    for (int layout = TMM__MEMBERS; layout <= TMM__GROUPS; layout++) {
        for (int n = layout == TMM__GROUPS;
             n == 0 || (cut && 1 << n <= TMM__DIRECT_MOST && 1 << n < p->K); n++) {
            c.instance = c.layout = layout, c.team_log2 = n, c.cluster_log2 = 0;
            c.cut = TMM__PLAN_WHOLE, c.slices = 1 << n;
            c.time = tmm__xdirect_guess(&c, p, &load);
            c.time = TMM__PLAN_GUESS(layout, TMM__PLAN_WHOLE, 1 << n, c.time);
            if (c.time < best->time) *best = c;
            c.cluster_log2 = TMM__DIRECT_CLUSTER, c.cut = TMM__PLAN_CLUSTERS;
            if (!clusters || n > TMM__DIRECT_BLOCK ||
                1 << (TMM__DIRECT_BLOCK - n) > TMM__DIRECT_GROUPS ||
                (layout == TMM__MEMBERS && n <= 5) || p->K >> (n + c.cluster_log2) == 0)
                continue;
            c.time = tmm__xdirect_guess(&c, p, &load);
            c.time = TMM__PLAN_GUESS(layout, TMM__PLAN_CLUSTERS, 1 << n, c.time);
            if (c.time < best->time && c.blocks <= INT_MAX) *best = c;
        }
    }
}

static inline int tmm__xdirect_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const double work = (double)p->M * p->N * p->K * p->batch;
    (void)row;
    return p->K <= INT_MAX && work <= tmm__direct_most(p->M, p->N);
}

static inline tmm_status tmm__xdirect(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    tmm__plan c = *plan;
    void *arguments[26];
    int block_log2 = c.team_log2 > TMM__DIRECT_BLOCK ? c.team_log2 : (int)TMM__DIRECT_BLOCK;
    int count = tmm__xarguments(&p, arguments);
    arguments[count++] = &block_log2, arguments[count++] = &c.team_log2;
    arguments[count++] = &c.layout, arguments[count++] = &c.cluster_log2;
    /* x / N is (x + x magic / 2^32) / 2^magic_log2 for x below 2^31. */
    int magic_log2 = 0;
    while (1ll << magic_log2 < p.N) magic_log2++;
    const unsigned long long N = (unsigned long long)p.N;
    unsigned magic = (unsigned)((((1ull << magic_log2) - N) << 32) / N) + 1;
    /* Which members add their sums by shuffles, and how far apart the others are: see there. */
    const int groups_log2 = block_log2 - c.team_log2, members = c.layout == TMM__MEMBERS;
    int beside = members ? 1 : 1 << groups_log2;
    int lanes = members && c.team_log2 < 5 ? 1 << c.team_log2 : 32;
    int apart_log2 = members || groups_log2 < 5 ? 5 : groups_log2;
    int warps_log2 = (members ? c.team_log2 : block_log2) - apart_log2;
    arguments[count++] = &magic, arguments[count++] = &magic_log2;
    arguments[count++] = &beside, arguments[count++] = &lanes;
    arguments[count++] = &apart_log2, arguments[count++] = &warps_log2;
    return tmm__launch_clusters(c.kernel, dim3((unsigned)c.blocks, 1, p.batch), c.threads,
                                1 << c.cluster_log2, 0, 0, arguments, p.stream);
}
#endif
/* src/tiledmm/kernels/narrow/launch.h. PLAN and LAUNCHER of KERNEL NARROW.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h, type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Can it compute this product? If not, TMM_NARROW is a name for other kernels: see
   tmm__xstands_for. */
static inline int tmm__xnarrow_fits(const tmm__xproduct *p, long long batch)
{
    const long long wide = p->M > p->N ? p->M : p->N;
    return TMM__IS_FLOAT && batch == 1 && wide >= TMM__NARROW_LINES / 2 && p->K <= INT_MAX &&
           tmm__xreaches(TMM_NARROW, p->K, tmm__xlda(p), tmm__xldb(p));
}

#if TMM__IS_FLOAT
/* Its operands, P with few lines and Q with many, and how these are in memory. */
typedef struct tmm__xnarrow__operands {
    int turned; /* lines of P are columns of C */
    long long linesP, lineP, kP, linesQ, lineQ, kQ;
    const TMM_TYPE *P, *Q;
} tmm__xnarrow__operands;

static inline tmm__xnarrow__operands tmm__xnarrow_operands(const tmm__xproduct *p)
{
    tmm__xnarrow__operands o;
    o.turned = p->N < p->M;
    o.linesP = o.turned ? p->N : p->M, o.linesQ = o.turned ? p->M : p->N;
    o.P = o.turned ? p->B : p->A, o.Q = o.turned ? p->A : p->B;
    o.lineP = o.turned ? p->csB : p->rsA, o.kP = o.turned ? p->rsB : p->csA;
    o.lineQ = o.turned ? p->rsA : p->csB, o.kQ = o.turned ? p->csA : p->rsB;
    return o;
}

/* Clocks of a step, which were measured of 3 and of 4 groups; of others: by the area, of 4. */
static inline double tmm__xnarrow_step(int groups, int down_log2, long long kQ)
{
    const int measured = groups == 3 ? 0 : 1;
    const double area = measured ? groups / 4.0 : 1;
    return area * tmm__tuned()->narrow.step[kQ != 1][measured][down_log2 - 1];
}

/* Nanoseconds of a plan's tiles and parts. Blocks that share a multiprocessor in pairs take as
   long as one after the other; one that is alone, longer. Pairs end together and are followed by
   pairs: of an odd number of rounds beyond one the last is half full, and takes as long as two. */
static inline double tmm__xnarrow_parts_time(const tmm__plan *c, int groups, const tmm__xproduct *p)
{
    const tmm__costs *t = tmm__tuned();
    const double rounds = ceil((double)c->blocks * c->slices / tmm__current_device()->processors);
    const int tileP = c->turned ? c->tile_n : c->tile_m;
    const int tileQ = c->turned ? c->tile_m : c->tile_n;
    const long long kQ = c->turned ? p->csA : p->rsB;
    const double rate =
        tmm__rate(tmm__current_device()->capability, TMM__COST_PIPELINED, TMM__TUNED_AS_FLOAT);
    const double step = fmax(tmm__xnarrow_step(groups, c->down, kQ),
                             (double)tileP * tileQ * (int)TMM__NARROW_DEPTH / rate);
    const double turns = rounds == 1 ? t->narrow.alone : rounds + fmod(rounds, 2);
    const double area = (double)p->M * p->N;
    const tmm__load load = tmm__xload(p, TMM__COST_PIPELINED, 1, 1);
    double clocks = ceil(ceil((double)p->K / (int)TMM__NARROW_DEPTH) / c->slices) * step * turns;
    clocks += t->narrow.launch + (t->narrow.tile + load.odd * t->narrow.odd) * rounds;
    if (c->slices > 1) clocks += t->narrow.sum_byte * sizeof(TMM_SUM) * (c->slices + 1) * area;
    const double copied = (double)(tileP + tileQ) * sizeof(TMM_TYPE) * c->blocks * p->K;
    clocks = fmax(clocks, copied / (t->l2 * tmm__current_device()->processors));
    return tmm__overlapped(tmm__in_nanoseconds(clocks),
                           tmm__current_device()->gpu.launch + tmm__memory_time(&load));
}

/* The tile that wastes the least, and as many parts of k as should be fastest. */
static inline void tmm__xnarrow_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *best)
{
#define TMM__ROW(pass, name, groups) {groups, (const void *)TMM_FN(gemm_narrow_##name)},
    static const struct {
        int groups;
        const void *kernel;
    } instances[] = {TMM__NARROW_LIST(TMM__ROW)};
#undef TMM__ROW
    const int most_parts = 64, least_steps = 4, most_rounds = 8;
    const tmm__device *device = tmm__current_device();
    const int cut_k = (p->allowed & TMM__CUT_K) && device->pools;
    const tmm__xnarrow__operands o = tmm__xnarrow_operands(p);
    /* Devices that have less shared memory have no asynchronous copies, and need two stages. */
    const int stage = TMM__NARROW_DEPTH * TMM__NARROW_PITCH * (int)sizeof(TMM_TYPE);
    tmm__plan c = *best;
    (void)row;
    c.turned = o.turned, c.threads = TMM__NARROW_THREADS;
    c.bytes = (int)tmm__min(TMM__NARROW_STAGES * stage, device->shared);
    for (int n = 0; n < (int)(sizeof instances / sizeof *instances); n++)
        for (int down_log2 = 1; down_log2 <= 2; down_log2++) {
            const int groups = instances[n].groups;
            const int tileP = 4 * groups << down_log2, tileQ = 2 * TMM__NARROW_LINES >> down_log2;
            if (o.linesQ < tileQ) continue;
            c.instance = 2 * n + down_log2 - 1, c.kernel = instances[n].kernel, c.down = down_log2;
            c.tile_m = o.turned ? tileQ : tileP, c.tile_n = o.turned ? tileP : tileQ;
            c.blocks = ((o.linesP - 1) / tileP + 1) * ((o.linesQ - 1) / tileQ + 1);
            const long long deepest = p->K / ((int)TMM__NARROW_DEPTH * least_steps);
            const long long most = !cut_k || deepest < 1 ? 1 : tmm__min(deepest, most_parts);
            int last = 0;
            for (int rounds = 0; rounds <= most_rounds; rounds++) { /* 0: not cut */
                const long long parts =
                    rounds == 0 ? 1 : rounds * (long long)device->processors / c.blocks;
                c.slices = (int)tmm__min(parts, most);
                if (c.slices <= last) continue;
                last = c.slices;
                c.cut = c.slices > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
                c.time = TMM__PLAN_GUESS(c.instance, c.cut, c.slices,
                                         tmm__xnarrow_parts_time(&c, groups, p));
                if (best->kernel == NULL || c.time < best->time) *best = c;
            }
        }
}

static inline int tmm__xnarrow_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return tmm__xnarrow_fits(p, p->batch) && p->K >= TMM__NARROW_LEAST &&
           tmm__min(p->M, p->N) <= tmm__tuned()->narrow.most && tmm__xfast_competes(p, row);
}

static inline tmm_status tmm__xnarrow(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct product = *given, *p = &product;
    tmm__xnarrow__operands o = tmm__xnarrow_operands(p);
    int parts = plan->slices;
    void *partials = tmm__xpartials(p, &parts);
    tmm__narrow s;
    s.down_log2 = plan->down, s.turned = o.turned;
    s.tilesP = (int)((o.linesP - 1) / (o.turned ? plan->tile_n : plan->tile_m) + 1);
    void *arguments[] = {&o.linesP, &o.linesQ, &p->K,    &p->alpha, &o.P,    &o.lineP,  &o.kP, &o.Q,
                         &o.lineQ,  &o.kQ,     &p->beta, &p->C,     &p->ldc, &partials, &s};
    tmm_status status =
        tmm__launch(plan->kernel, dim3((unsigned)plan->blocks, (unsigned)parts),
                    dim3((unsigned)plan->threads), plan->bytes, arguments, p->stream);
    return tmm__xsum(status, p, parts, partials, 1);
}
#endif
#endif
/* src/tiledmm/kernels/tensor_float/launch.h. LAUNCHER of floats on tensor cores.
   Uses: kernels/tensor_float/, launch/, once/. Used by: thin_launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__FLOAT_TENSOR
#ifndef TMM__FLOAT_ONCE
enum {
    TMM__CONVERT_HELD_K = 4096,       /* KERNEL CONVERT keeps so many k of its lines in registers */
    TMM__FLOAT_LEAST_K = 64,          /* the bound does not hold for shorter sums */
    TMM__FLOAT_PACE_BYTES = 16,       /* of the workspace, for one counter */
    TMM__FLOAT_PARTS_AREA = 128 * 64, /* of tiles that may be cut */
    TMM__FLOAT_PART_WINDOWS = 2,      /* of 64 k of a part, at least */
    TMM__FLOAT_ROUNDS = 8,            /* of parts, that a block has, at most */
    TMM__FLOAT_SIZE_MAX = INT_MAX - 8192,
    TMM__WGMMA_LINES_MAX = 1 << 24 /* M and N: 2^31 bytes of blocks for 32 k */
};

/* By which instruction products of FP16 are computed. */
typedef enum tmm__float_instruction {
    TMM__BY_MULTIPLY_ADD, /* the portable kernel */
    TMM__BY_MMA_SYNC,
    TMM__BY_WGMMA
} tmm__float_instruction;

#define TMM__CHECK(pass, name, first, second) \
    +(1 << TMM__WGMMA_##first) + (1 << TMM__WGMMA_##second)
static_assert((0 TMM__WGMMA_KERNEL_LIST(TMM__CHECK)) == (1 << TMM__WGMMA_INSTANCES) - 1,
              "TMM__WGMMA_KERNEL_LIST: each instance of TMM__WGMMA_LIST must be in one kernel");
#undef TMM__CHECK

/* An instance of KERNEL TENSOR FLOAT; k_groups: warpgroups that share the k of a tile; blocks: on a
   multiprocessor. */
typedef struct tmm__float_instance {
    const char *name;
    int instruction, tile_m, tile_n, k_groups, bytes, threads, blocks, stages;
} tmm__float_instance;

/* How operands are converted: blocks of a cluster; threads of a block. */
typedef struct tmm__convert_plan {
    int ranks, threads;
} tmm__convert_plan;

/* Where KERNEL TENSOR FLOAT has its workspace; its bytes. */
typedef struct tmm__float_memory {
    tmm__fp16_operand operands[2];
    unsigned *doubt, *pace;
    void *partials;
    unsigned long long *flags;
    size_t bytes;
} tmm__float_memory;
#endif

/* Instance number n, TMM__WGMMA_256x128 and the like. */
static inline const tmm__float_instance *tmm__xfloat_instance(int n)
{
#define TMM__WGMMA_ROW(pass, name, down, cols, stages, k_groups) \
    {#name,                                                      \
     TMM__BY_WGMMA,                                              \
     TMM_FN(wgmma_rows_##name),                                  \
     cols,                                                       \
     k_groups,                                                   \
     TMM_FN(wgmma_bytes_##name),                                 \
     384,                                                        \
     1,                                                          \
     stages},
#define TMM__MMA_ROW(pass, name, parts, stages, blocks) \
    {#name,                                             \
     TMM__BY_MMA_SYNC,                                  \
     TMM_FN(mma_edge_##name),                           \
     TMM_FN(mma_edge_##name),                           \
     1,                                                 \
     TMM_FN(mma_bytes_##name),                          \
     256,                                               \
     blocks,                                            \
     stages},
    static const tmm__float_instance instances[] = {TMM__WGMMA_LIST(TMM__WGMMA_ROW) TMM__MMA_LIST(
        TMM__MMA_ROW){"64x64", TMM__BY_MULTIPLY_ADD, 64, 64, 1, TMM__PORTABLE_BYTES, 256, 2, 1}};
#undef TMM__WGMMA_ROW
#undef TMM__MMA_ROW
    return &instances[n];
}

static inline const void *tmm__xfloat_kernel(int n)
{
#define TMM__WGMMA_CASE(pass, name, first, second) \
    case TMM__WGMMA_##first:                       \
    case TMM__WGMMA_##second:                      \
        return (const void *)TMM_FN(gemm_float_wgmma_##name);
#define TMM__MMA_CASE(pass, name, ...) \
    case TMM__MMA_##name: return (const void *)TMM_FN(gemm_float_mma_##name);
    switch (n) {
        TMM__WGMMA_KERNEL_LIST(TMM__WGMMA_CASE)
        TMM__MMA_LIST(TMM__MMA_CASE)
    }
#undef TMM__WGMMA_CASE
#undef TMM__MMA_CASE
    return (const void *)tmm__xgemm_float_portable;
}

/* The most shared memory that an instance of the same kernel takes. */
static inline int tmm__xfloat_bytes(int n)
{
    int most = 0;
    for (int other = 0; other < TMM__FLOAT_INSTANCES; other++)
        if (tmm__xfloat_kernel(other) == tmm__xfloat_kernel(n) &&
            tmm__xfloat_instance(other)->bytes > most)
            most = tmm__xfloat_instance(other)->bytes;
    return most;
}

/* By which instruction, on this device and in this program? Kernels for wgmma are compiled for
   sm_90a; for others they are empty, and then without the static shared memory of their barriers.
   Kernels for mma.sync are in code for sm_80 or later that is not for sm_90a. */
static inline int tmm__xfloat_instruction(void)
{
    const tmm__device *device = tmm__current_device();
    const tmm__kernel_facts *facts = tmm__compiled(tmm__xfloat_kernel(0));
    if (facts->static_shared > 0)
        return device->capability == 90 && device->shared >= tmm__xfloat_bytes(0)
                   ? TMM__BY_WGMMA
                   : TMM__BY_MULTIPLY_ADD;
    return device->capability >= 80 && facts->ptx_version >= 80 &&
                   device->shared >= tmm__xfloat_bytes(TMM__WGMMA_INSTANCES)
               ? TMM__BY_MMA_SYNC
               : TMM__BY_MULTIPLY_ADD;
}

/* The least magnitude that an element which is not zero may have after scaling, for its line not to
   be wide. */
static inline float tmm__xleast_element(long long K)
{
    /* The largest t with 40.2 + 16.2 2^t + 5 4^t + n - 1 <= K + 2, n = K / 32 for windows of 32 k, or
       of 64 k that are added in parts: bench/notes/tensor_float.md. */
    static const int from[] = {93, 188, 503, 1628, 5860, 22250};
    int t = 0;
    while (t < (int)(sizeof from / sizeof *from) && K >= from[t]) t++;
    return ldexpf(1, -14 - t);
}

/* The bounds of the product of the scales of a row and a column. */
static inline void tmm__xscale_bounds(long long K, float *scale_min, float *scale_max)
{
    int log = 0;
    while (K > 1ll << log) log++;
    *scale_min = ldexpf(1, -120);
    *scale_max = ldexpf(1, 97 - log);
}

/* What the sum of an element with wide lines must be at least, before it is scaled back, for the
   bound to hold: bench/notes/tensor_float.md derives it. About 40 for long sums. */
static inline float tmm__xdoubt_below(long long K)
{
    double windows = ceil(K / 32.0);
    double least = (37.0 * K + 322) / (K + 2 - 48.2 - (windows - 1));
    return (float)(1.01 * least * (1 + (K + 2) / 16777216.0));
}

/* Describes `lines` lines of `products` products, as KERNEL CONVERT will leave them in memory from
   *offset on, which is moved behind them. */
static inline tmm__fp16_operand tmm__xfp16_operand(char *memory, size_t *offset, long long lines,
                                                   long long K, long long products)
{
    tmm__fp16_operand x;
    x.line_blocks = (int)((lines + 63) / 64);
    x.k_blocks = (int)((K + 63) / 64 * 2);
    size_t blocks = (size_t)products * x.k_blocks * x.line_blocks * TMM__BLOCK_BYTES;
    x.blocks = (unsigned char *)memory + *offset;
    x.scales = (float *)(memory + *offset + blocks);
    *offset += blocks + ((size_t)products * x.line_blocks * 256 + 1023) / 1024 * 1024;
    return x;
}

/* Bytes for the bits of doubtful elements: see tmm__doubt_word. */
static inline size_t tmm__xdoubt_bytes(long long M, long long N)
{
    return ((size_t)M * (size_t)((N + 15) / 16) * 4 + 15) / 16 * 16;
}

/* How `groups` of 8 lines are converted: a block has as many threads as hold its lines in registers,
   or twice as many where all blocks fit at once. Longer lines are shared by clusters. */
static inline tmm__convert_plan tmm__xconvert_plan(long long K, int groups)
{
    const int wgmma = tmm__xfloat_instruction() == TMM__BY_WGMMA;
    tmm__convert_plan plan = {1, 128};
    if (wgmma && K > TMM__CONVERT_HELD_K && K <= 4 * TMM__CONVERT_HELD_K) {
        plan.ranks = TMM__MOST_CLUSTER;
        plan.threads =
            (int)(K - 1) / (4 * plan.ranks) / 32 * 32 + 32; /* with 32 k of a line each */
        return plan;
    }
    while (plan.threads < 1024 && 4 * plan.threads < K) plan.threads *= 2;
    if (plan.threads < 512 && 2 * groups * plan.threads <= 1024 * tmm__current_device()->processors)
        plan.threads *= 2;
    return plan;
}

/* Nanoseconds of KERNEL CONVERT for operands that are not ready: rounds of all blocks that fit at once,
   each with what a block waits for; and 12 bytes an element, those that the product reads among them.
   What L2 does not hold takes twice as long; lines that are read twice are 4 bytes more. */
static inline double tmm__xconvert_time(const tmm__xproduct *p)
{
    const double most_threads = 1024; /* on a multiprocessor */
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    tmm__xproduct of = *p;
    if (p->allowed & TMM__READY_A) of.M = 0;
    if (p->allowed & TMM__READY_B) of.N = 0;
    if (of.M + of.N == 0) return 0;
    const int groups = (int)(8 * (ceil(of.M / 64.0) + ceil(of.N / 64.0)));
    const tmm__convert_plan plan = tmm__xconvert_plan(p->K, groups);
    const double rounds =
        (double)groups * plan.ranks * p->batch * plan.threads / (most_threads * device->processors);
    const tmm__load load = tmm__xload(&of, TMM__COST_TENSOR, (int)p->M, (int)p->N);
    const int again = p->K > 32ll * plan.threads / 8 * plan.ranks;
    double bytes = 12 / sizeof(TMM_TYPE) * load.bytes * (again ? 4 / 3.0 : 1);
    bytes += fmax(bytes - device->gpu.l2_bytes, 0);
    return device->gpu.launch +
           tmm__in_nanoseconds(t->fp16.convert + fmax(rounds, 1) * t->fp16.convert_round) +
           bytes / (t->fp16.convert_rate * device->gpu.memory);
}

/* Launches KERNEL CONVERT for op(A) and op(B); groups of 8 lines each, none: that one is there
   already. */
static inline tmm_status tmm__xconvert(long long K, const tmm__lines from[2],
                                       const tmm__fp16_operand to[2], const int groups[2],
                                       unsigned batch, tmm_stream stream)
{
    const int all = groups[0] + groups[1];
    if (all == 0) return TMM_OK;
    tmm__convert_plan plan = tmm__xconvert_plan(K, all);
    tmm__lines from_a = from[0], from_b = from[1];
    tmm__fp16_operand to_a = to[0], to_b = to[1];
    int depth = (int)K, groups_A = groups[0];
    float least_element = tmm__xleast_element(K);
    const void *kernel = (const void *)tmm__xgemm_convert;
    void *arguments[] = {&depth,  &least_element, &groups_A, &plan.ranks,
                         &from_a, &to_a,          &from_b,   &to_b};
    /* Loads under way need room in L1, of which the multiplication leaves 28 KB. */
    const int instruction = tmm__xfloat_instruction(), early = instruction != TMM__BY_MULTIPLY_ADD;
    if (instruction == TMM__BY_WGMMA) tmm__prefer_l1(kernel);
    return tmm__launch_clusters(kernel, dim3(all * plan.ranks, batch), plan.threads, plan.ranks,
                                early, 0, arguments, stream);
}

/* Rows of C that do not begin at a sector of 32 bytes, or by mma.sync, cannot be stored by 16. */
static inline int tmm__xfloat_odd(const TMM_OUT *C, long long ldc, int instruction)
{
    const int bytes = instruction == TMM__BY_WGMMA ? 32 : 16;
    return (((size_t)C | (size_t)ldc * sizeof(TMM_TYPE)) & (bytes - 1)) != 0;
}

/* Clocks of `tiles` tiles in `parts` parts of so many windows by an instance. One that was not
   measured is given the numbers of the first, by the area. */
static inline double tmm__xfloat_clocks(const tmm__float_instance *i, double tiles, int parts,
                                        double windows, int odd)
{
    const tmm__costs *t = tmm__tuned();
    const int by = i->instruction == TMM__BY_MMA_SYNC;
    const double processors = tmm__current_device()->processors;
    const double area = (double)i->tile_m * i->tile_n, share = tiles * parts / processors;
    const double rounds = ceil(share / i->blocks);
    const int(*tile)[3] = t->fp16.tile[by];
    int n = TMM__TUNED_FLOAT - 1;
    while (n >= 0 &&
           (tile[n][0] != i->tile_m || tile[n][1] != i->tile_n || tile[n][2] != i->k_groups))
        n--;
    const double more = n >= 0 ? 1 : i->blocks * area / (tile[0][0] * tile[0][1]);
    if (n < 0) n = 0;
    const double window = t->fp16.window[by][n] + t->fp16.busy[by][n] * fmin(share, 1);
    double each = more * (windows * window + t->fp16.tile_more[by][n]);
    if (odd) each += i->blocks * area * t->fp16.odd[by];
    double time = t->fp16.once[by] + rounds * each;
    const double several = 1.15; /* what parts of a block must gain at least: the model errs */
    if (parts > 1 && rounds > 1)
        time = several * (time + rounds * t->fp16.part[1] + parts * t->fp16.add[1]);
    else if (parts > 1)
        time += t->fp16.part[0] + (parts - 1) * t->fp16.add[0];
    return time;
}

/* The instance for this instruction that takes least time, and in how many parts the k of each tile
   are cut, of plan->s.steps blocks of 32 k each. Returns nanoseconds. Parts are for one product, by
   wgmma where all columns go at once; where warpgroups share k, a block has no second one. */
static inline double tmm__xfloat_plan(const tmm__xproduct *p, int instruction, tmm__plan *best)
{
    const long long M = p->M, N = p->N, K = p->K, batch = p->batch;
    const int cut = (p->allowed & TMM__CUT_K) != 0;
    const int odd = tmm__xfloat_odd(p->C, p->ldc, instruction);
    const double processors = tmm__current_device()->processors, windows = ceil(K / 64.0);
    double least = 0;
    best->instance = TMM__PORTABLE_64x64;
    for (int n = 0; n < TMM__PORTABLE_64x64; n++) {
        const tmm__float_instance *i = tmm__xfloat_instance(n);
        if (i->instruction != instruction) continue;
        double area = (double)i->tile_m * i->tile_n;
        double tiles = ceil((double)M / i->tile_m) * ceil((double)N / i->tile_n) * batch;
        /* Blocks whose warpgroups share k have one tile each. */
        if (i->k_groups > 1 && (!cut || batch > 1 || tiles > processors)) continue;
        const int small = instruction == TMM__BY_WGMMA && area <= (int)TMM__FLOAT_PARTS_AREA;
        const int most = small && cut && batch == 1 ? TMM__FLOAT_PARTS : 1;
        for (int parts = 1; parts <= most; parts++) {
            const double of_part = ceil(windows / parts), rounds = tiles * parts / processors;
            if (parts > 1 && (of_part < (int)TMM__FLOAT_PART_WINDOWS ||
                              rounds > (i->k_groups > 1 ? 1 : (int)TMM__FLOAT_ROUNDS)))
                break;
            if (of_part * (parts - 1) >= windows) continue; /* the last would have no k */
            double time = tmm__xfloat_clocks(i, tiles, parts, of_part, odd);
            time = TMM__FLOAT_GUESS(n, time);
            time = TMM__PLAN_GUESS(n, parts > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE, parts, time);
            if (best->instance != TMM__PORTABLE_64x64 && time >= least) continue;
            least = time;
            best->instance = n, best->slices = parts, best->s.steps = (int)(2 * of_part);
            best->cut = parts > 1 ? TMM__PLAN_REDUCE : TMM__PLAN_WHOLE;
        }
    }
    const tmm__float_instance *i = tmm__xfloat_instance(best->instance);
    best->kernel = tmm__xfloat_kernel(best->instance);
    best->tile_m = i->tile_m, best->tile_n = i->tile_n;
    best->threads = i->threads, best->bytes = i->bytes;
    return tmm__in_nanoseconds(least);
}

/* What KERNEL TENSOR FLOAT can do: not short sums, for which the bound would not hold, nor sizes
   beyond 32 bits. */
static inline int tmm__xconverted_fits(long long M, long long N, long long K)
{
    long long most = TMM__WGMMA_LINES_MAX;
    if ((M > most || N > most) && tmm__xfloat_instruction() == TMM__BY_WGMMA) return 0;
    return K >= TMM__FLOAT_LEAST_K && M <= TMM__FLOAT_SIZE_MAX && N <= TMM__FLOAT_SIZE_MAX &&
           K <= TMM__FLOAT_SIZE_MAX && ceil(M / 64.0) * ceil(N / 64.0) <= INT_MAX;
}

/* It has to be asked for. By mma.sync only where FP16 with sums in FP32 has its full rate, unlike on
   devices for displays. */
static inline int tmm__xtensor_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const int instruction = tmm__xfloat_instruction();
    const int capability = tmm__current_device()->capability;
    return (p->allowed & TMM__SPLIT) && (TMM_SUM)p->alpha != 0 &&
           tmm__xconverted_fits(p->M, p->N, p->K) &&
           (instruction == TMM__BY_WGMMA ||
            (instruction == TMM__BY_MMA_SYNC &&
             (capability == 80 || capability == 90 || capability == 100))) &&
           tmm__xfast_competes(p, row);
}

/* In type/dispatch.h. */
static inline tmm_status tmm__xsplit(const tmm__xproduct *p, const tmm__plan *plan);

static inline tmm_status tmm__xtensor(const tmm__xproduct *p, const tmm__plan *plan)
{
    return tmm__xsplit(p, plan);
}

/* Multiplies operands that are converted: all of `job` is set but its instance, tiles and
   bounds. */
static inline tmm_status tmm__xfloat_multiply(tmm__float_job job, const tmm__plan *plan,
                                              tmm_stream stream)
{
    const long long M = job.M, N = job.N, K = job.K;
    double processors = tmm__current_device()->processors;
    const tmm__float_instance *i = tmm__xfloat_instance(plan->instance);
    job.instance = plan->instance, job.tile_m = i->tile_m, job.tile_n = i->tile_n;
    job.parts = plan->slices, job.s.steps = plan->s.steps;
    job.s.tiles_down = (int)((M - 1) / i->tile_m + 1);
    job.s.tiles_across = (int)((N - 1) / i->tile_n + 1);
    double tiles = (double)job.s.tiles_down * job.s.tiles_across * job.batch * job.parts;
    double places = i->blocks * processors;
    int blocks = (int)(tiles < places ? tiles : places);
    tmm__xscale_bounds(K, &job.scale_min, &job.scale_max);
    job.doubt_below = tmm__xdoubt_below(K);
    /* Blocks keep together where they have several large tiles and L2 does not hold all they
       read. */
    if (i->instruction == TMM__BY_WGMMA && i->tile_m * i->tile_n > 128 * 64 && tiles > processors &&
        4.0 * (M + N) * K > TMM__FLOAT_L2_BYTES) {
        cudaError_t error = cudaMemsetAsync(job.pace, 0, TMM__FLOAT_PACE_BYTES, stream);
        if (error != cudaSuccess) return tmm__cuda(error, "cudaMemsetAsync");
    } else {
        job.pace = NULL;
    }
    void *arguments[] = {&job};
    const int early = tmm__xfloat_instruction() != TMM__BY_MULTIPLY_ADD;
    return tmm__launch_clusters(tmm__xfloat_kernel(job.instance), dim3(blocks), i->threads, 1,
                                early, i->bytes, arguments, stream);
}

/* Parts in all, if tiles are cut, which is for one product; else 0. */
static inline size_t tmm__xfloat_pieces(const tmm__xproduct *p, const tmm__plan *plan)
{
    const long long tiles = ((p->M - 1) / plan->tile_m + 1) * ((p->N - 1) / plan->tile_n + 1);
    return plan->slices > 1 ? (size_t)(plan->slices * tiles) : 0;
}

/* What so many products at a time take: operands that are not ready, from `memory` on, bits of
   doubtful elements, a counter, parts of tiles and a flag for each. */
static inline tmm__float_memory tmm__xfloat_place(const tmm__xproduct *p,
                                                  const tmm__fp16_operand *const *ready,
                                                  const tmm__plan *plan, unsigned products,
                                                  char *memory)
{
    tmm__float_memory place;
    memset(&place, 0, sizeof place);
    for (int i = 0; i < 2; i++) {
        const long long lines = i == 0 ? p->M : p->N, stride = i == 0 ? p->strideA : p->strideB;
        if (ready != NULL && ready[i] != NULL)
            place.operands[i] = *ready[i];
        else
            place.operands[i] = tmm__xfp16_operand(memory, &place.bytes, lines, p->K,
                                                   p->batch > 1 && stride ? products : 1);
    }
    const size_t doubt = tmm__xdoubt_bytes(p->M, p->N) * products;
    const size_t pieces = tmm__xfloat_pieces(p, plan);
    place.doubt = (unsigned *)(memory + place.bytes);
    place.pace = (unsigned *)(memory + place.bytes + doubt);
    place.bytes += doubt + TMM__FLOAT_PACE_BYTES;
    place.partials = memory + place.bytes;
    place.bytes += pieces * plan->tile_m * plan->tile_n * sizeof(float);
    place.flags = (unsigned long long *)(memory + place.bytes);
    place.bytes += pieces * sizeof *place.flags;
    return place;
}

/* `batch` products, 65535 at most, with KERNEL TENSOR FLOAT. `ready`: op(A) and op(B) as they are
   converted already, or NULL. *missing: the bytes of a workspace that the pool could not give, then
   nothing is done; else 0. */
static inline tmm_status tmm__xfloat(const tmm__xproduct *p, const tmm__plan *plan,
                                     const tmm__fp16_operand *const *ready, size_t *missing)
{
    const long long M = p->M, N = p->N, K = p->K;
    const unsigned batch = p->batch;
    tmm_stream stream = p->stream;
    tmm__lines from[2] = {{p->A, M, p->rsA, p->csA, batch > 1 ? p->strideA : 0},
                          {p->B, N, p->csB, p->rsB, batch > 1 ? p->strideB : 0}};
    /* Products at a time: all that take 1 GiB, or one. */
    size_t each = tmm__xdoubt_bytes(M, N);
    for (int i = 0; i < 2; i++) (void)tmm__xfp16_operand(NULL, &each, from[i].lines, K, 1);
    unsigned most = (unsigned)tmm__min(batch, (long long)((1ull << 30) / each) + 1);
    const size_t bytes = tmm__xfloat_place(p, ready, plan, most, NULL).bytes;
    char *memory = (char *)tmm__workspace(bytes, stream);
    *missing = memory == NULL ? bytes : 0;
    if (memory == NULL) return TMM_OK;
    const tmm__float_memory place = tmm__xfloat_place(p, ready, plan, most, memory);
    int groups[2];
    for (int i = 0; i < 2; i++)
        groups[i] = ready != NULL && ready[i] != NULL ? 0 : 8 * place.operands[i].line_blocks;
    tmm_status status = TMM_OK;
    for (unsigned first = 0; first < batch && status == TMM_OK; first += most) {
        unsigned products = (unsigned)tmm__min(batch - first, most);
        from[0].X = p->A + first * from[0].product_stride;
        from[1].X = p->B + first * from[1].product_stride;
        tmm__float_job job;
        memset(&job, 0, sizeof job);
        job.M = M, job.N = N, job.K = K;
        job.from_a = from[0], job.from_b = from[1];
        job.a = place.operands[0], job.b = place.operands[1];
        job.C = p->C + first * p->strideC, job.ldc = p->ldc, job.batchC = p->strideC;
        job.alpha = p->alpha, job.beta = p->beta, job.batch = (int)products;
        job.doubt = place.doubt, job.doubt_pitch = (int)((N + 15) / 16);
        job.pace = place.pace, job.bf16x6 = TMM__FLOAT_BF16X6(p->allowed & TMM__CUT_K);
        job.s.partials = place.partials, job.s.flags = place.flags, job.s.ticket = tmm__ticket();
        if (TMM__CLEAR_FLAGS && plan->slices > 1)
            (void)cudaMemsetAsync(job.s.flags, 0, tmm__xfloat_pieces(p, plan) * sizeof *job.s.flags,
                                  stream);
        status = tmm__xconvert(K, from, place.operands, groups, products, stream);
        if (status == TMM_OK) status = tmm__xfloat_multiply(job, plan, stream);
    }
    (void)cudaFreeAsync(memory, stream);
    return status;
}

/* What type/ asks of a kernel that converts operands, here of KERNEL TENSOR FLOAT: the most lines or
   k; bytes of what is kept of an operand; its conversion; a product. */
enum { tmm__xconverted_most = TMM__FLOAT_SIZE_MAX };

static inline size_t tmm__xprepared_bytes(long long lines, long long K)
{
    size_t bytes = 0;
    (void)tmm__xfp16_operand(NULL, &bytes, lines, K, 1);
    return bytes;
}

static inline tmm_status tmm__xconvert_once(const tmm_prepared *request, char *memory,
                                            tmm_stream stream)
{
    const int along_k = (request->op == TMM_OP_N) != request->is_B;
    const long long ld = request->ld;
    const tmm__lines from = {(const float *)request->X, request->lines, along_k ? ld : 1,
                             along_k ? 1 : ld, 0};
    size_t offset = 0;
    const tmm__fp16_operand to = tmm__xfp16_operand(memory, &offset, request->lines, request->K, 1);
    const tmm__lines both[2] = {from, from};
    const tmm__fp16_operand operands[2] = {to, to};
    const int groups[2] = {8 * to.line_blocks, 0};
    return tmm__xconvert(request->K, both, operands, groups, 1, stream);
}

/* Operands as tmm_?gemm_prepare_A and _B left them, or NULL. */
static inline void tmm__xhalves(const tmm_prepared *const *prepared, long long K,
                                tmm__fp16_operand halves[2], const tmm__fp16_operand *ready[2])
{
    for (int i = 0; i < 2; i++) {
        const tmm_prepared *from = prepared == NULL ? NULL : prepared[i];
        size_t offset = 0;
        ready[i] = from == NULL ? NULL : &halves[i];
        if (from == NULL) continue;
        halves[i] = tmm__xfp16_operand((char *)from->memory, &offset, from->lines, K, 1);
    }
}
#endif
/* src/tiledmm/kernels/tensor_float/thin_launch.h. LAUNCHER of floats on tensor cores where one operand is
   thin; the choice between that and the others.
   Uses: kernels/tensor_float/, launch/, once/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__FLOAT_TENSOR
#ifndef TMM__FLOAT_ONCE
/* The instances of KERNEL THIN FLOAT, for hooks and plans, follow all others. */
enum { TMM__THIN_FIRST = TMM__FLOAT_INSTANCES, TMM__THIN_LEAST = 2 };

/* Rounds of blocks that a batch is shared out to, at most. */
enum { TMM__THIN_ROUNDS = 8 };
#endif

static inline const void *tmm__xthin_kernel(int n)
{
#define TMM__THIN_KERNEL(pass, name, ...) (const void *)TMM_FN(gemm_float_thin_##name),
    static const void *const kernels[] = {TMM__THIN_LIST(TMM__THIN_KERNEL)};
#undef TMM__THIN_KERNEL
    return kernels[n];
}

/* Lines of the thin operand in a tile, and shared memory, of instance n. */
static inline int tmm__xthin_cols(int n)
{
#define TMM__THIN_ROW(pass, name, cols, ...) cols,
    static const int cols[] = {TMM__THIN_LIST(TMM__THIN_ROW)};
#undef TMM__THIN_ROW
    return cols[n];
}

static inline int tmm__xthin_bytes(int n)
{
#define TMM__THIN_ROW(pass, name, ...) TMM_FN(thin_bytes_##name),
    static const int bytes[] = {TMM__THIN_LIST(TMM__THIN_ROW)};
#undef TMM__THIN_ROW
    return bytes[n];
}

/* Tiles of an instance that has `cols` lines of the thin operand in each. */
static inline double tmm__xthin_tiles(const tmm__xproduct *p, int cols)
{
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    return ceil(large / (int)TMM__THIN_LINES) * ceil(thin / cols);
}

/* Can KERNEL THIN FLOAT do this? Products whose bits may depend on M, N, the device and how many they are,
   and for which there may be copies of operands. */
static inline int tmm__xthin_fits(const tmm__xproduct *p, int instruction)
{
    const long long thin = tmm__min(p->M, p->N);
    const double steps = ceil(p->K / 32.0), tiles = tmm__xthin_tiles(p, 32) * p->batch;
    const int one = TMM__CUT_K | TMM__PACK;
    return TMM__FLOAT_THIN(instruction == TMM__BY_WGMMA) &&
           ((p->allowed & one) == one || (p->allowed & TMM__ALL_OF_BATCH)) &&
           thin >= TMM__THIN_LEAST && thin <= TMM__THIN_MOST &&
           tiles * (int)TMM__THIN_LINES <= INT_MAX && steps * 2 * (int)TMM__THIN_MOST <= INT_MAX;
}

/* Bytes of a copy of the large operand. */
static inline int tmm__xthin_width(const tmm__xproduct *p, int turned)
{
    const size_t base = (size_t)(turned ? p->A : p->B);
    const long long line = turned ? p->rsA : p->csB, k = turned ? p->csA : p->rsB;
    const long long next = p->batch == 1 ? 0 : turned ? p->strideA : p->strideB;
    return base % 16 == 0 && (k == 1 || line == 1) && k * line % 4 == 0 && next % 4 == 0 ? 16 : 4;
}

/* Products whose planes are in memory: one where all of a batch share the thin operand. */
static inline long long tmm__xthin_products(const tmm__xproduct *p)
{
    return (p->N < p->M ? p->strideB : p->strideA) == 0 ? 1 : p->batch;
}

/* Nanoseconds of instance n, by so many shares of each product. Blocks that find no place begin when
   others end. HUGE_VAL: a batch would take more than 1 GiB. */
static inline double tmm__xthin_time(const tmm__xproduct *p, int n, double shares)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const double thin = (double)tmm__min(p->M, p->N), large = (double)(p->M + p->N) - thin;
    const double steps = ceil(p->K / 32.0), rate = device->gpu.memory, batch = p->batch;
    const double own = (double)tmm__xthin_products(p);
    const int cols = tmm__xthin_cols(n), width = tmm__xthin_width(p, p->N < p->M);
    int i = TMM__TUNED_THIN - 1;
    while (i > 0 && t->thin.cols[i] != cols) i--;
    const double tiles = tmm__xthin_tiles(p, cols), part = (double)cols * (int)TMM__THIN_LINES;
    const double memory = own * ceil(thin / cols) * steps * cols * 192 +
                          4 * batch * (tiles + shares) * part; /* planes, partial tiles */
    if (p->batch > 1 && memory > 1 << 30) return HUGE_VAL;
    const double rounds = ceil(shares * batch / TMM__BUSY(device->processors));
    const double each = ceil(tiles * steps / shares) * t->thin.step[i];
    const double multiply = tmm__in_nanoseconds(rounds * each);
    const double read = 4 * batch * large * p->K / (t->thin.read * rate);
    const double split = (4 * own + 6 * batch * ceil(large / (int)TMM__THIN_LINES)) * thin * p->K;
    /* Planes of a batch that L2 does not hold go through memory. */
    const int in_memory = p->batch > 1 && 6 * own * thin * p->K > device->gpu.l2_bytes;
    const double parts = batch * ((tiles + shares) * part * 8 + 8 * thin * large);
    return t->thin.once + tmm__in_nanoseconds((rounds - 1) * t->thin.again) +
           fmax(multiply, read) * (width < 16 ? t->thin.apart : 1) +
           (in_memory ? 1 : t->thin.split) * split / rate + t->thin.add * parts / rate;
}

/* The instance of least time, if that is below plan->time. Each block has equal shares, of four or
   eight steps at least: more partial tiles take longer to add up than is gained. A batch is shared out
   to blocks for some rounds, so that few of them idle in the last one. */
static inline void tmm__xthin_plan(const tmm__xproduct *p, tmm__plan *plan)
{
    const double processors = TMM__BUSY(tmm__current_device()->processors);
    for (int i = 0; i < TMM__THIN_INSTANCES * TMM__THIN_ROUNDS; i++) {
        const int n = i / TMM__THIN_ROUNDS, rounds = i % TMM__THIN_ROUNDS + 1;
        if (rounds > 1 && p->batch == 1) continue;
        const int cols = tmm__xthin_cols(n);
        const double units = tmm__xthin_tiles(p, cols) * ceil(p->K / 32.0);
        const double most = floor(rounds * processors / p->batch);
        const double shares = fmax(fmin(floor(units / (cols < 64 ? 4 : 8)), most), 1);
        double time = tmm__xthin_time(p, n, shares);
        time = TMM__FLOAT_GUESS(TMM__THIN_FIRST + n, time);
        time = TMM__PLAN_GUESS(TMM__THIN_FIRST + n, TMM__PLAN_EVEN, rounds, time);
        if (time >= plan->time) continue;
        plan->time = time, plan->instance = TMM__THIN_FIRST + n;
        plan->kernel = tmm__xthin_kernel(n);
        plan->cut = TMM__PLAN_EVEN, plan->slices = 1, plan->blocks = (long long)shares;
        plan->turned = p->N < p->M;
        plan->tile_m = plan->turned ? (int)TMM__THIN_LINES : cols;
        plan->tile_n = plan->turned ? cols : (int)TMM__THIN_LINES;
        plan->threads = 384, plan->bytes = tmm__xthin_bytes(n);
    }
}

/* With KERNEL CONVERT; or KERNEL THIN FLOAT, which reads operands as they are, also prepared ones. */
static inline void tmm__xtensor_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *plan)
{
    (void)row;
    const int instruction = TMM__FLOAT_INSTRUCTION(tmm__xfloat_instruction());
    const double time = tmm__xfloat_plan(p, instruction, plan);
    plan->time = tmm__xconvert_time(p) + tmm__current_device()->gpu.launch + time;
    if (plan->instance == TMM__PORTABLE_64x64) plan->time = HUGE_VAL; /* nobody measured it */
    if (tmm__xthin_fits(p, instruction)) tmm__xthin_plan(p, plan);
}

/* All of the job but its ticket, with a workspace that begins at `memory`. Returns the bytes of that. */
static inline size_t tmm__xthin_job(const tmm__xproduct *p, const tmm__plan *plan, char *memory,
                                    tmm__thin_job *job)
{
    enum { BYTES = 256 };
    const long long K = p->K, batch = p->batch, several = batch > 1;
    int log = 0;
    memset((void *)job, 0, sizeof *job);
    const tmm__lines a = {p->A, p->M, p->rsA, p->csA, several * p->strideA},
                     b = {p->B, p->N, p->csB, p->rsB, several * p->strideB};
    tmm__float_job *c = &job->c;
    c->M = p->M, c->N = p->N, c->K = K, c->from_a = a, c->from_b = b;
    c->a.line_blocks = (int)((p->M - 1) / 64 + 1), c->b.line_blocks = (int)((p->N - 1) / 64 + 1);
    c->C = p->C, c->ldc = p->ldc, c->batchC = p->strideC, c->batch = (int)batch;
    c->alpha = p->alpha, c->beta = p->beta;
    c->scale_min = 0.5f, c->scale_max = 2; /* that of bad lines is 0, all others 1 */
    job->turned = plan->turned;
    job->thin = job->turned ? b : a, job->large = job->turned ? a : b;
    job->cols = job->turned ? plan->tile_n : plan->tile_m;
    job->steps = (int)((K + 31) / 32);
    job->blocks = (int)((job->thin.lines - 1) / job->cols + 1);
    const long long tiles = ((job->large.lines - 1) / TMM__THIN_LINES + 1) * job->blocks;
    job->tiles = (int)tiles, job->units = tiles * job->steps, job->shares = (unsigned)plan->blocks;
    /* So many partial tiles are too many for a thread of KERNEL THIN FLOAT, sum. */
    job->groups = job->shares > 8 * tiles ? 8 : 1;
    job->along_k = job->large.k_stride == 1, job->width = tmm__xthin_width(p, job->turned);
    while (K > 1ll << log) log++;
    job->limit = (unsigned)(127 + (126 - log) / 2) << 7;
    /* Of one product; then of all that have some of their own. */
    const long long planes = (long long)job->blocks * job->steps * job->cols * 192;
    const long long thin = 64ll * (job->turned ? c->b.line_blocks : c->a.line_blocks);
    const long long large = 64ll * (job->turned ? c->a.line_blocks : c->b.line_blocks);
    const long long of_thin = job->thin.product_stride ? batch : 1;
    const long long of_large = job->large.product_stride ? batch : 1;
    job->next_partials = (tiles + job->shares) * job->cols * TMM__THIN_LINES;
    if (of_thin > 1) job->next_planes = planes, job->next_thin = thin;
    if (of_large > 1) job->next_large = large;
    job->scales = of_large * large;
    const size_t scales = (size_t)(of_thin * planes + BYTES - 1) / BYTES * BYTES;
    const size_t marks = scales + (size_t)(of_thin * thin + job->scales) * 4;
    const size_t partials = marks + ((size_t)(of_thin * thin + 1) * 8 + BYTES - 1) / BYTES * BYTES;
    job->planes = (unsigned char *)memory;
    job->large_scales = (float *)(memory + scales);
    job->thin_scales = job->large_scales + job->scales;
    c->a.scales = job->turned ? job->large_scales : job->thin_scales;
    c->b.scales = job->turned ? job->thin_scales : job->large_scales;
    job->marks = (unsigned long long *)(memory + marks);
    job->partials = (float *)(memory + partials);
    return partials + (size_t)(batch * job->next_partials) * 4;
}

static inline tmm_status tmm__xthin_launch(tmm__thin_job job, const tmm__plan *plan,
                                           tmm_stream stream)
{
    void *arguments[] = {&job};
    const long long halves = 2ll * job.steps * job.blocks * job.cols;
    const unsigned batch = (unsigned)job.c.batch;
    const dim3 split((unsigned)((halves - 1) / 256 + 1), job.next_thin > 0 ? batch : 1);
    const unsigned sums = batch * job.tiles * (job.cols / (job.groups > 1 ? 1 : 8));
    tmm_status status = tmm__launch_clusters((const void *)tmm__xgemm_thin_split, split, 256, 1, 1,
                                             0, arguments, stream);
    if (status == TMM_OK)
        status = tmm__launch_clusters(plan->kernel, dim3(job.shares, batch), plan->threads, 1, 1,
                                      plan->bytes, arguments, stream);
    if (status == TMM_OK)
        status = tmm__launch_clusters((const void *)tmm__xgemm_thin_sum, dim3(sums), 256, 1, 1, 0,
                                      arguments, stream);
    return status;
}

/* Products by KERNEL THIN FLOAT; *missing as in gemm__float. */
static inline tmm_status tmm__xthin(const tmm__xproduct *p, const tmm__plan *plan, size_t *missing)
{
    tmm__thin_job job;
    const size_t bytes = tmm__xthin_job(p, plan, NULL, &job);
    char *memory = (char *)tmm__workspace(bytes, p->stream);
    *missing = memory == NULL ? bytes : 0;
    if (memory == NULL) return TMM_OK;
    (void)tmm__xthin_job(p, plan, memory, &job);
    job.ticket = tmm__ticket();
    if (TMM__CLEAR_FLAGS)
        (void)cudaMemsetAsync(job.marks, 0, (size_t)((char *)job.partials - (char *)job.marks),
                              p->stream);
    const tmm_status status = tmm__xthin_launch(job, plan, p->stream);
    (void)cudaFreeAsync(memory, p->stream);
    return status;
}

/* Products, as gemm__float. `prepared`: operands of one that are prepared, or NULL. */
static inline tmm_status tmm__xconverted(const tmm__xproduct *p, const tmm__plan *plan,
                                         const tmm_prepared *const *prepared, size_t *missing)
{
    tmm__fp16_operand halves[2];
    const tmm__fp16_operand *ready[2];
    if (plan->instance >= (int)TMM__THIN_FIRST) return tmm__xthin(p, plan, missing);
    tmm__xhalves(prepared, p->K, halves, ready);
    return tmm__xfloat(p, plan, ready, missing);
}

/* Bytes of the workspace of such a product. */
static inline size_t tmm__xconverted_bytes(const tmm__xproduct *p, const tmm__plan *plan,
                                           const tmm_prepared *const *prepared)
{
    tmm__fp16_operand halves[2];
    const tmm__fp16_operand *ready[2];
    tmm__thin_job job;
    if (plan->instance >= (int)TMM__THIN_FIRST) return tmm__xthin_job(p, plan, NULL, &job);
    tmm__xhalves(prepared, p->K, halves, ready);
    return tmm__xfloat_place(p, ready, plan, 1, NULL).bytes;
}
#endif
/* src/tiledmm/kernels/tensor_int8/tables.h. What KERNEL TENSOR INT8 must know of its moduli; its
   workspace.
   Uses: types.cuh, launch/hooks.h, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__DOUBLE_TENSOR && \
    !defined(TMM__DOUBLE_ONCE)
/* Pairwise coprime, the largest there are. The product of the first 13 has 102.5 bits, of 14 110.2,
   of 15 117.8, of 16 125.4. */
static const int tmm__int8_moduli[TMM__INT8_MOST] = {256, 255, 253, 251, 247, 241, 239, 233,
                                                     229, 227, 223, 217, 211, 199, 197, 193};
/* The group of each: see tmm__int8_sums. */
static const int tmm__int8_group[TMM__INT8_MOST] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 3, 4, 5};

static inline int tmm__int8_inverse(int a, int p)
{
    for (int i = 1; i < p; i++)
        if (a * i % p == 1) return i;
    return 0;
}

/* What remains of a, in [-p / 2, p / 2). */
static inline int tmm__int8_centred(long long a, int p)
{
    int r = (int)((a % p + p) % p);
    return r >= (p + 1) / 2 ? r - p : r;
}

/* How an element times `factor` is taken modulo p. */
static inline tmm__int8_modulus tmm__int8_make_modulus(int p, int factor)
{
    tmm__int8_modulus m = {{0, 0}, 0};
    long long power = factor;
    for (int i = 0; i < 8; i++) {
        m.weights[i / 4] |= (unsigned)(tmm__int8_centred(power, p) & 255) << i % 4 * 8;
        if (i == 7) /* minus 2^63 */
            m.first = 0x4b400000u + (unsigned)tmm__int8_centred(-power * 128, p);
        power = power * 256 % p;
    }
    return m;
}

/* A number of four words, low word first, times a small one. */
static inline void tmm__int8_multiply(unsigned *words, unsigned factor)
{
    unsigned long long carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (unsigned long long)words[i] * factor;
        words[i] = (unsigned)carry;
        carry >>= 32;
    }
}

/* The tables for sums of K products. */
static inline void tmm__int8_make_tables(tmm__int8_residues *r, tmm__int8_sums *s, long long K)
{
    const int *p = tmm__int8_moduli;
    memset(r, 0, sizeof *r);
    memset(s, 0, sizeof *s);
    for (int l = 0; l < TMM__INT8_MOST; l++) {
        r->b[l] = tmm__int8_make_modulus(p[l], 1);
        r->reciprocal[l] = 1.0f / (float)p[l];
        r->minus_p[l] = -(float)p[l];
        r->half[l] = 12582912.0f + (float)((p[l] - 1) / 2);
    }
    for (int c = 0; c < TMM__INT8_CHOICES; c++) {
        const int count = TMM__INT8_LEAST + c;
        unsigned Q[TMM__INT8_GROUPS] = {1, 1, 1, 1, 1, 1}, P[4] = {1, 0, 0, 0};
        int place[TMM__INT8_GROUPS] = {0, 0, 0, 0, 0, 0};
        double bits = 0;
        for (int g = 0; g < TMM__INT8_GROUPS; g++) s->weight[c][g][0] = 1;
        for (int l = 0; l < count; l++) {
            Q[tmm__int8_group[l]] *= (unsigned)p[l];
            bits += log2(p[l]);
            tmm__int8_multiply(P, (unsigned)p[l]);
            for (int g = 0; g < TMM__INT8_GROUPS; g++)
                if (g != tmm__int8_group[l]) tmm__int8_multiply(s->weight[c][g], (unsigned)p[l]);
        }
        for (int l = 0; l < count; l++) {
            int rest = 1;
            for (int j = 0; j < count; j++)
                if (j != l) rest = rest * p[j] % p[l];
            r->a[c][l] = tmm__int8_make_modulus(p[l], tmm__int8_inverse(rest, p[l]));
            const int g = tmm__int8_group[l];
            const unsigned factor = Q[g] / (unsigned)p[l];
            s->low[c][g] |= (factor & 255) << 8 * place[g];
            s->high[c][g] |= factor >> 8 << 8 * place[g]++;
        }
        for (int g = 0; g < TMM__INT8_GROUPS; g++) {
            unsigned long long one = 1ull << (g == TMM__INT8_GROUPS - 1 ? 24 : 44);
            s->quotient[c][g] = Q[g] == 1 ? 0 : (unsigned)((one + Q[g] / 2) / Q[g]);
        }
        unsigned long long carry = 1; /* of the complement */
        for (int i = 0; i < 4; i++) {
            carry += ~P[i];
            s->minus_P[c][i] = (unsigned)carry;
            carry >>= 32;
        }
        double norm = sqrt(0.49) * exp2(bits / 2) - sqrt((double)K) / 2;
        r->limit[c] = s->limit[c] = (int)floor(256 * log2(norm) - 0.01);
    }
    s->kappa = (float)((1 + 1e-5) * 4503599627370496.0 / ((double)K - 2)); /* 2^52 */
    s->half_K = (float)K / 2;
}

/* How K is cut: blocks, and of those every how many has units. */
typedef struct tmm__int8_depth {
    int k_blocks, unit_blocks, every;
    int chunks; /* of KERNEL NORMS */
} tmm__int8_depth;

static inline tmm__int8_depth tmm__int8_cut(long long K)
{
    tmm__int8_depth d;
    d.k_blocks = (int)((K - 1) / TMM__INT8_K + 1);
    d.every = d.k_blocks >= 16 ? 8 : d.k_blocks >= 8 ? 4 : d.k_blocks >= 4 ? 2 : 1;
    d.unit_blocks = (d.k_blocks - 1) / d.every + 1;
    d.chunks = (int)((K - 1) / TMM__INT8_NORM_K + 1);
    return d;
}

/* An operand: its lines, units and planes lie one after the other, from memory + *at to the new
   *at. */
static inline tmm__int8_operand tmm__int8_operand_at(char *memory, size_t *at, long long lines,
                                                     const tmm__int8_depth *depth)
{
    tmm__int8_operand o;
    o.pitch = (int)((lines - 1) / 64 + 1);
    const size_t padded = 64 * (size_t)o.pitch, to = *at + padded * sizeof(tmm__int8_line);
    const size_t units = padded * (size_t)depth->unit_blocks * TMM__INT8_K;
    o.lines = (tmm__int8_line *)(memory + *at);
    o.units = (unsigned char *)memory + to;
    o.planes = o.units + units;
    *at = to + units + padded * (size_t)depth->k_blocks * TMM__INT8_K * TMM__INT8_MOST;
    return o;
}

enum {
    TMM__INT8_A = 1, /* operands that are prepared */
    TMM__INT8_B = 2,
    TMM__INT8_STATE_BYTES = 256
};
static_assert(sizeof(tmm__int8_state) <= TMM__INT8_STATE_BYTES, "it has room");

/* Offsets in the workspace of a product of M x K and K x N. What is `ready` lies elsewhere. */
typedef struct tmm__int8_layout {
    size_t operands[2], C, open, norms, bytes; /* the state is at 0 */
    int line_blocks[2], pieces_down, pieces_across, ready;
    tmm__int8_depth depth;
} tmm__int8_layout;

static inline tmm__int8_layout tmm__int8_plan(long long M, long long N, long long K, int ready)
{
    tmm__int8_layout l;
    memset(&l, 0, sizeof l);
    l.line_blocks[0] = (int)((M - 1) / 64 + 1), l.line_blocks[1] = (int)((N - 1) / 64 + 1);
    l.pieces_down = l.line_blocks[0], l.pieces_across = (int)((N - 1) / 32 + 1);
    l.depth = tmm__int8_cut(K), l.ready = ready;
    size_t at = TMM__INT8_STATE_BYTES, pieces = (size_t)l.pieces_down * l.pieces_across, norms = 0;
    for (int i = 0; i < 2; i++) {
        l.operands[i] = at;
        if (ready >> i & 1) continue;
        (void)tmm__int8_operand_at(NULL, &at, i == 0 ? M : N, &l.depth);
        norms += 64 * (size_t)l.line_blocks[i] * l.depth.chunks * sizeof(tmm__int8_norm);
    }
    l.C = at, at += pieces * TMM__INT8_PLANES * TMM__INT8_PIECE;
    l.open = at, at += pieces * 128 * sizeof(unsigned short);
    l.norms = at, at += norms;
    l.bytes = at;
    return l;
}

/* A quarter of the device's memory: larger products are done in parts of M, N or K. */
static inline size_t tmm__int8_budget(void)
{
    static thread_local size_t known[TMM__KNOWN];
    static thread_local int numbers[TMM__KNOWN];
    int number = tmm__current_device()->number, place = number > 0 ? number % TMM__KNOWN : 0;
    if (known[place] == 0 || numbers[place] != number) {
        size_t left = 0, all = 0;
        if (!tmm__succeeded(cudaMemGetInfo(&left, &all))) all = 0;
        known[place] = all / 4, numbers[place] = number;
    }
    return known[place];
}

/* The k of a launch at most, the same for all but the last. */
static inline long long tmm__int8_part_of_k(long long K)
{
    long long parts = (K - 1) / TMM__INT8_DEPTH(TMM__INT8_K_MOST) + 1;
    return ((K - 1) / parts / TMM__INT8_K + 1) * TMM__INT8_K;
}

/* What is kept of a prepared operand: a state, then an operand for each part of k. Returns that
   of the part from k0 on; *bytes is where it ends. */
static inline tmm__int8_operand tmm__int8_prepared(char *memory, size_t *bytes, long long lines,
                                                   long long K, long long k0)
{
    const long long k = tmm__int8_part_of_k(K);
    tmm__int8_operand o;
    memset((void *)&o, 0, sizeof o);
    *bytes = TMM__INT8_STATE_BYTES;
    for (long long from = 0; from <= k0; from += k) {
        const tmm__int8_depth depth = tmm__int8_cut(tmm__min(k, K - from));
        o = tmm__int8_operand_at(memory, bytes, lines, &depth);
    }
    return o;
}

/* The largest parts of a product that stay within so many bytes. */
static inline void tmm__int8_parts(long long *M, long long *N, long long *K, int cut_k, int ready,
                                   size_t budget)
{
    *K = tmm__int8_part_of_k(*K);
    while (tmm__int8_plan(*M, *N, *K, ready).bytes > budget) {
        if (*M > 512 && *M >= *N)
            *M = ((*M - 1) / 2 / 512 + 1) * 512;
        else if (*N > 384)
            *N = ((*N - 1) / 2 / 384 + 1) * 384;
        else if (*M > 512)
            *M = ((*M - 1) / 2 / 512 + 1) * 512;
        else if (*K > 1024 && cut_k)
            *K = ((*K - 1) / 2 / TMM__INT8_K + 1) * TMM__INT8_K;
        else
            break;
    }
}
#endif
/* src/tiledmm/kernels/tensor_int8/launch.h. LAUNCHER of KERNEL TENSOR INT8.
   Uses: kernels/tensor_int8/, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
static inline tmm_status tmm__xint8_takes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p, (void)row;
    if (TMM__DOUBLE_TENSOR) return TMM_OK;
    if (TMM__IS_DOUBLE)
        return tmm__fail(TMM_ERROR_UNSUPPORTED,
                         "kernel tensor_int8 is not in this program: define TMM_DOUBLE_TENSOR "
                         "before tiledmm.cuh is included");
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel tensor_int8 is for double alone");
}

#if TMM__DOUBLE_TENSOR
#ifndef TMM__DOUBLE_ONCE
enum {
    TMM__INT8_K_LEAST = 16,              /* shorter sums have no room for a proof */
    TMM__INT8_SIZE_MAX = INT_MAX - 8192, /* of M, N */
    TMM__INT8_LOOKS = 256                /* pieces of C that the choice of moduli looks at */
};

/* An instance of KERNEL TENSOR INT8 by mma.sync: columns of its tile, bytes of shared memory. */
typedef struct tmm__int8_instance {
    int cols, bytes;
    const void *kernel;
} tmm__int8_instance;
#endif

/* A product, or a part of one that is done at a time, and its workspace. */
typedef struct tmm__xint8_part {
    tmm__xproduct p;
    tmm__int8_layout layout;
    char *memory;
    tmm__int8_norm *norms;
    tmm__int8_lines from[2];
    tmm__int8_operand operands[2];
    tmm__int8_residues residues;
    tmm__int8_sums sums;
} tmm__xint8_part;

/* All kernels of this family wait themselves for the launch before them. */
static inline tmm_status tmm__xint8_launch(const void *kernel, dim3 grid, int threads,
                                           void **arguments, tmm_stream stream)
{
    return tmm__launch_clusters(kernel, grid, threads, 1, 1, 0, arguments, stream);
}

/* Instance number n, NULL behind the last. */
static inline const tmm__int8_instance *tmm__xint8_instance(int n)
{
#define TMM__ROW(pass, name, cols) \
    {4 * cols, (int)TMM_FN(gemm_int8_mma_bytes_##name), (const void *)TMM_FN(gemm_int8_mma_##name)},
    static const tmm__int8_instance instances[] = {TMM__INT8_MMA_LIST(TMM__ROW)};
#undef TMM__ROW
    return n < (int)(sizeof instances / sizeof *instances) ? &instances[n] : NULL;
}

/* The instance whose rounds over all multiprocessors take least; NULL: none has the shared
   memory. A tile of 128 columns takes 1.15 / 2 of the time of one of 256. */
static inline const tmm__int8_instance *tmm__xint8_best(double down, double pieces_across,
                                                        double planes)
{
    const tmm__device *device = tmm__current_device();
    const tmm__int8_instance *i;
    double least = HUGE_VAL;
    int best = -1;
    for (int n = 0; (i = tmm__xint8_instance(n)) != NULL; n++) {
        if (i->bytes > device->shared) continue;
        const double tiles = down * ceil(pieces_across / (i->cols / 32.0)) * planes;
        const double each = i->cols * (i->cols < 256 ? 1.15 : 1);
        const double time = ceil(tiles / device->processors) * each;
        if (time <= least) least = time, best = n;
    }
    return best < 0 ? NULL : tmm__xint8_instance(TMM__INT8_INSTANCE(best));
}

static inline int tmm__xconverted_fits(long long M, long long N, long long K)
{
#ifdef TMM_EPILOGUE /* which is for finished elements */
    if (K > TMM__INT8_K_MOST) return 0;
#endif
    return K >= TMM__INT8_K_LEAST && M <= TMM__INT8_SIZE_MAX && N <= TMM__INT8_SIZE_MAX &&
           tmm__xint8_best(1, 1, 1) != NULL;
}

/* Norms, scales and units, or residues, of operands that are not ready: `state` is NULL for
   units. */
static inline tmm_status tmm__xint8_convert(tmm__xint8_part *part, const tmm__int8_state *state)
{
    const tmm__int8_layout *l = &part->layout;
    tmm__int8_lines *from = part->from;
    tmm__int8_operand *to = part->operands;
    long long K = part->p.K;
    int groups_A = l->ready & TMM__INT8_A ? 0 : l->line_blocks[0];
    int groups_B = l->ready & TMM__INT8_B ? 0 : l->line_blocks[1];
    int every = state == NULL ? l->depth.every : 1, chunks = l->depth.chunks;
    unsigned groups = (unsigned)(groups_A + groups_B);
    int lines_A = 64 * groups_A, lines_B = 64 * groups_B;
    tmm_status status = TMM_OK;
    if (groups == 0) return TMM_OK;
    if (state == NULL) {
        void *of_norms[] = {&K, &groups_A, &from[0], &from[1], &part->norms};
        void *of_scales[] = {&K,           &chunks,      &lines_A,    &lines_B,
                             &part->norms, &to[0].lines, &to[1].lines};
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_norms,
                                   dim3(groups, (unsigned)chunks), 256, of_norms, part->p.stream);
        if (status == TMM_OK)
            status = tmm__xint8_launch((const void *)tmm__xgemm_int8_scales, dim3(groups / 4 + 1),
                                       256, of_scales, part->p.stream);
    }
    void *arguments[] = {&K,     &groups_A, &every, &from[0],       &from[1],
                         &to[0], &to[1],    &state, &part->residues};
    int k_blocks = state == NULL ? l->depth.unit_blocks : l->depth.k_blocks;
    if (status == TMM_OK)
        status =
            tmm__xint8_launch((const void *)tmm__xgemm_int8_residues,
                              dim3(groups, (unsigned)k_blocks), 256, arguments, part->p.stream);
    return status;
}

/* Whether this program's code for this device multiplies by wgmma: in other code the kernel is
   empty, without static shared memory. */
static inline int tmm__xint8_by_wgmma(void)
{
    const tmm__device *device = tmm__current_device();
    return tmm__compiled((const void *)tmm__xgemm_int8_wgmma)->static_shared > 0 &&
           device->capability == 90 && device->shared >= TMM__INT8_WGMMA_BYTES;
}

/* It has to be asked for. By mma.sync only where FP64 has 1/32 or 1/64 of the rate of FP32. */
static inline int tmm__xint8_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    return (p->allowed & TMM__SPLIT) && (TMM_SUM)p->alpha != 0 &&
           tmm__xconverted_fits(p->M, p->N, p->K) && tmm__xfits(row->value, p) &&
           (tmm__xint8_by_wgmma() ||
            (tmm__current_device()->capability >= 75 && !tmm__xtensor_pays()));
}

/* 14 products of bytes, 31 bytes of memory for an element of A and B, 40 for one of C, and the
   launches. */
static inline void tmm__xint8_plan(const tmm__xproduct *p, const tmm__xkernel *row, tmm__plan *plan)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const int wgmma = tmm__xint8_by_wgmma();
    /* Tiles are filled up: those of a cluster by wgmma. */
    const double rows = wgmma ? TMM__INT8_WGMMA_ROWS * TMM__INT8_WGMMA_CLUSTER : 128;
    const double cols = wgmma ? TMM__INT8_WGMMA_COLS : 128, depth = wgmma ? TMM__INT8_K : 64;
    const double M = ceil(p->M / rows) * rows, N = ceil(p->N / cols) * cols;
    const double K = ceil(p->K / depth) * depth;
    (void)row;
    const double clocks = 14.125 * M * N * K / (wgmma ? t->int8.rate : t->int8.rate_slow);
    const double lines = (double)p->M + p->N;
    const double bytes = 31 * lines * p->K + 40.0 * p->M * p->N;
    plan->tile_m = (int)rows, plan->tile_n = (int)cols;
    plan->time = (clocks / (device->processors * device->gpu.clock) +
                  bytes / (t->int8.memory * device->gpu.memory) + t->int8.launches) *
                 p->batch;
}

/* The products of bytes: of units if `state` is NULL. */
static inline tmm_status tmm__xint8_multiply(const tmm__xint8_part *part, tmm__int8_state *state)
{
    const tmm__int8_layout *l = &part->layout;
    const tmm__device *device = tmm__current_device();
    const tmm__costs *t = tmm__tuned();
    tmm__int8_products job;
    memset(&job, 0, sizeof job);
    job.a = state == NULL ? part->operands[0].units : part->operands[0].planes;
    job.b = state == NULL ? part->operands[1].units : part->operands[1].planes;
    job.C = (unsigned char *)part->memory + l->C;
    job.state = state;
    job.a_blocks = l->line_blocks[0], job.b_blocks = l->line_blocks[1];
    job.a_pitch = part->operands[0].pitch, job.b_pitch = part->operands[1].pitch;
    job.k_blocks = state == NULL ? l->depth.unit_blocks : l->depth.k_blocks;
    job.pieces_down = l->pieces_down, job.pieces_across = l->pieces_across;
    for (int i = 0; i < TMM__INT8_MOST; i++) {
        job.p[i] = (unsigned)tmm__int8_moduli[i];
        job.inverse[i] = (unsigned)(0x100000000ull / job.p[i]);
    }
    void *arguments[] = {&job};
    if (tmm__xint8_by_wgmma()) {
        double bytes =
            64.0 * ((double)job.a_blocks + job.b_blocks) * job.k_blocks * (int)TMM__INT8_K;
        job.tiles_down =
            (l->pieces_down - 1) / (TMM__INT8_WGMMA_ROWS * TMM__INT8_WGMMA_CLUSTER / 64) + 1;
        job.tiles_across = (l->pieces_across - 1) / (TMM__INT8_WGMMA_COLS / 32) + 1;
        job.keep_pace = state != NULL && bytes > t->fp16.l2_bytes;
        unsigned clusters = (unsigned)device->processors / TMM__INT8_WGMMA_CLUSTER;
        return tmm__launch_clusters((const void *)tmm__xgemm_int8_wgmma,
                                    dim3(clusters * TMM__INT8_WGMMA_CLUSTER), 384,
                                    TMM__INT8_WGMMA_CLUSTER, 1, TMM__INT8_WGMMA_BYTES, arguments,
                                    part->p.stream);
    }
    const tmm__int8_instance *i = tmm__xint8_best(ceil(l->pieces_down / 2.0), l->pieces_across,
                                                  state == NULL ? 1 : TMM__INT8_LEAST + 1);
    job.tiles_down = (l->pieces_down - 1) / 2 + 1;
    job.tiles_across = (l->pieces_across - 1) / (i->cols / 32) + 1;
    unsigned tiles = (unsigned)job.tiles_down * (unsigned)job.tiles_across;
    return tmm__launch_clusters(i->kernel, dim3(tiles * (state == NULL ? 1 : TMM__INT8_MOST)), 256,
                                1, 1, i->bytes, arguments, part->p.stream);
}

static inline int tmm__xint8_fp64(const tmm__xproduct *p)
{
    return TMM__INT8_FP64(tmm__xtensor_pays()) && tmm__xtensor_fits() && tmm__xfits(TMM_TENSOR, p);
}

/* All launches of a part. `moduli`: so many; 0: the device chooses. */
static inline tmm_status tmm__xint8_run(tmm__xint8_part *part, int moduli)
{
    const tmm__int8_layout *l = &part->layout;
    const tmm__xproduct *p = &part->p;
    const tmm__costs *t = tmm__tuned();
    const unsigned pieces = (unsigned)l->pieces_down * (unsigned)l->pieces_across;
    unsigned processors = (unsigned)tmm__current_device()->processors, pairs = (pieces + 1) / 2;
    int pays = tmm__xtensor_pays();
    float fp64 = (float)(pays ? t->int8.fp64 : t->int8.fp64_slow);
    float each = (float)(pays ? t->int8.each : t->int8.each_slow);
    float first = (float)(t->int8.first / ((double)p->M * (double)p->N));
    tmm__int8_state *state = (tmm__int8_state *)part->memory;
    tmm__int8_job job;
    memset(&job, 0, sizeof job);
    job.from_a = part->from[0], job.from_b = part->from[1];
    job.a = part->operands[0], job.b = part->operands[1];
    job.planes = (const unsigned char *)part->memory + l->C;
    job.open = (unsigned short *)(part->memory + l->open);
    job.state = state;
    job.C = p->C, job.ldc = p->ldc, job.K = p->K, job.M = (int)p->M, job.N = (int)p->N;
    job.pieces_down = l->pieces_down, job.pieces_across = l->pieces_across;
    job.fp64_elsewhere = moduli == 0 && tmm__xint8_fp64(p);
    job.alpha = p->alpha, job.beta = p->beta;
    tmm__int8_make_tables(&part->residues, &part->sums, p->K);

    tmm_status status =
        tmm__cuda(cudaMemsetAsync(state, 0, TMM__INT8_STATE_BYTES, p->stream), "cudaMemsetAsync");
    if (status == TMM_OK && moduli > 0) /* the lowest byte: no device here is big-endian */
        status =
            tmm__cuda(cudaMemsetAsync(&state->moduli, moduli, 1, p->stream), "cudaMemsetAsync");
    if (status == TMM_OK) status = tmm__xint8_convert(part, NULL);
    if (status == TMM_OK) status = tmm__xint8_multiply(part, NULL);
    int least = l->ready ? TMM__INT8_MOST : TMM__INT8_LEAST;
    int looks = (int)(pieces / TMM__INT8_LOOKS); /* at one piece of so many */
    if (looks < 1 || looks > l->pieces_across) looks = looks < 1 ? 1 : l->pieces_across;
    void *of_choice[] = {&job, &part->sums, &looks, &least, &fp64, &each, &first};
    if (status == TMM_OK && moduli == 0)
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_choice,
                                   dim3(pieces < 2 * processors ? pieces : 2 * processors), 128,
                                   of_choice, p->stream);
    if (status == TMM_OK) status = tmm__xint8_convert(part, state);
    if (status == TMM_OK) status = tmm__xint8_multiply(part, state);
    void *of_sums[] = {&job, &part->sums}, *of_open[] = {&job};
    if (status == TMM_OK)
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_sums, dim3(pieces), 256, of_sums,
                                   p->stream);
    if (status == TMM_OK)
        status = tmm__xint8_launch((const void *)tmm__xgemm_int8_open,
                                   dim3(pairs < 4 * processors ? pairs : 4 * processors), 256,
                                   of_open, p->stream);
    if (status == TMM_OK && job.fp64_elsewhere) {
        tmm__xproduct all = *p;
        tmm__plan plan;
        all.allowed = 0, all.unless = &state->moduli;
        tmm__xplan_by(TMM_TENSOR, &all, &plan);
        status = tmm__xrow(TMM_TENSOR)->launch(&all, &plan);
    }
    return status;
}

/* Lines, units and residues of all moduli of an operand, A or B. `memory` has what
   tmm__int8_prepared says. */
static inline tmm_status tmm__xint8_prepare(const tmm__int8_lines *from, long long K, int is_B,
                                            char *memory, tmm_stream stream)
{
    const long long k = tmm__int8_part_of_k(K), lines = from->lines;
    tmm__int8_state *state = (tmm__int8_state *)memory;
    tmm__xint8_part part;
    memset((void *)&part, 0, sizeof part);
    part.p.stream = stream, part.from[is_B] = *from;
    tmm_status status =
        tmm__cuda(cudaMemsetAsync(state, 0, TMM__INT8_STATE_BYTES, stream), "cudaMemsetAsync");
    if (status == TMM_OK)
        status = tmm__cuda(cudaMemsetAsync(&state->moduli, TMM__INT8_MOST, 1, stream),
                           "cudaMemsetAsync");
    for (long long k0 = 0; k0 < K && status == TMM_OK; k0 += k) {
        size_t end = 0;
        part.p.K = tmm__min(k, K - k0);
        part.from[is_B].X = from->X + k0 * from->k_stride;
        part.layout = tmm__int8_plan(lines, lines, part.p.K, is_B ? TMM__INT8_A : TMM__INT8_B);
        part.operands[is_B] = tmm__int8_prepared(memory, &end, lines, K, k0);
        part.norms = (tmm__int8_norm *)part.operands[is_B].planes; /* before residues come there */
        tmm__int8_make_tables(&part.residues, &part.sums, part.p.K);
        status = tmm__xint8_convert(&part, NULL);
        if (status == TMM_OK) status = tmm__xint8_convert(&part, state);
    }
    return status;
}

/* The sizes of the parts that a product is done in, and their workspace. `ready`: prepared
   operands, whose k is cut as they are. */
static inline tmm__int8_layout tmm__xint8_parts(long long *M, long long *N, long long *K, int ready)
{
    int cut_k = !ready;
#ifdef TMM_EPILOGUE
    cut_k = 0;
#endif
    tmm__int8_parts(M, N, K, cut_k, ready, TMM__INT8_BUDGET(tmm__int8_budget()));
    return tmm__int8_plan(*M, *N, *K, ready);
}

/* Operand number i of a part, from its first line and k on: from where, and where it is. */
static inline void tmm__xint8_place(tmm__xint8_part *part, int i, const tmm_prepared *ready,
                                    long long line0, long long k0)
{
    const tmm__xproduct *q = &part->p;
    const tmm__int8_lines of_A = {q->A, q->M, q->rsA, q->csA};
    const tmm__int8_lines of_B = {q->B, q->N, q->csB, q->rsB};
    tmm__int8_operand *o = &part->operands[i];
    size_t at = part->layout.operands[i];
    part->from[i] = i == 0 ? of_A : of_B;
    if (ready == NULL) {
        *o = tmm__int8_operand_at(part->memory, &at, part->from[i].lines, &part->layout.depth);
        return;
    }
    *o = tmm__int8_prepared((char *)ready->memory, &at, ready->lines, ready->K, k0);
    o->lines += line0;
    o->units += line0 / 64 * TMM__INT8_BLOCK, o->planes += line0 / 64 * TMM__INT8_BLOCK;
}

/* Products, one after the other. `prepared`: operands of a single product, or NULL. *missing:
   the bytes of a workspace that the pool could not give, then nothing is done; else 0. */
static inline tmm_status tmm__xint8_products(const tmm__xproduct *p,
                                             const tmm_prepared *const *prepared, size_t *missing)
{
    const tmm_prepared *none[2] = {NULL, NULL}, *const *ready = prepared ? prepared : none;
    int moduli = p->allowed & TMM__CUT_K ? 0 : TMM__INT8_MOST;
    int is_ready = (ready[0] ? TMM__INT8_A : 0) | (ready[1] ? TMM__INT8_B : 0);
    long long m = p->M, n = p->N, k = p->K;
    const size_t bytes = tmm__xint8_parts(&m, &n, &k, is_ready).bytes;
    tmm__xint8_part part;
    memset((void *)&part, 0, sizeof part);
    part.memory = (char *)tmm__workspace(bytes, p->stream);
    *missing = part.memory == NULL ? bytes : 0;
    if (part.memory == NULL) return TMM_OK;
    tmm_status status = TMM_OK;
    for (long long b = 0; b < p->batch; b++)
        for (long long k0 = 0; k0 < p->K; k0 += k)
            for (long long m0 = 0; m0 < p->M; m0 += m)
                for (long long n0 = 0; n0 < p->N && status == TMM_OK; n0 += n) {
                    tmm__xproduct *q = &part.p;
                    *q = *p;
                    q->batch = 1, q->strideA = q->strideB = q->strideC = 0;
                    q->M = tmm__min(m, p->M - m0), q->N = tmm__min(n, p->N - n0);
                    q->K = tmm__min(k, p->K - k0);
                    q->A += b * p->strideA + m0 * p->rsA + k0 * p->csA;
                    q->B += b * p->strideB + n0 * p->csB + k0 * p->rsB;
                    q->C += b * p->strideC + m0 * p->ldc + n0;
                    if (k0 > 0) q->beta = 1;
                    part.layout = tmm__int8_plan(q->M, q->N, q->K, is_ready);
                    part.norms = (tmm__int8_norm *)(part.memory + part.layout.norms);
                    tmm__xint8_place(&part, 0, ready[0], m0, k0);
                    tmm__xint8_place(&part, 1, ready[1], n0, k0);
                    status = tmm__xint8_run(&part, TMM__INT8_FIXED(moduli));
                }
    (void)cudaFreeAsync(part.memory, p->stream);
    return status;
}

/* What type/ asks of a kernel that converts operands: the most lines or k; bytes of what is kept
   of an operand; its conversion; a product. */
enum { tmm__xconverted_most = TMM__INT8_SIZE_MAX };

static inline size_t tmm__xprepared_bytes(long long lines, long long K)
{
    size_t bytes = 0;
    (void)tmm__int8_prepared(NULL, &bytes, lines, K, K - 1);
    return bytes;
}

static inline tmm_status tmm__xconvert_once(const tmm_prepared *request, char *memory,
                                            tmm_stream stream)
{
    const int along_k = (request->op == TMM_OP_N) != request->is_B;
    const long long ld = request->ld;
    const tmm__int8_lines from = {(const double *)request->X, request->lines, along_k ? ld : 1,
                                  along_k ? 1 : ld};
    return tmm__xint8_prepare(&from, request->K, request->is_B, memory, stream);
}

static inline tmm_status tmm__xconverted(const tmm__xproduct *p, const tmm__plan *plan,
                                         const tmm_prepared *const *prepared, size_t *missing)
{
    (void)plan;
    return tmm__xint8_products(p, prepared, missing);
}

/* Bytes of the workspace of such a product. */
static inline size_t tmm__xconverted_bytes(const tmm__xproduct *p, const tmm__plan *plan,
                                           const tmm_prepared *const *prepared)
{
    long long M = p->M, N = p->N, K = p->K;
    const int ready = (prepared[0] ? TMM__INT8_A : 0) | (prepared[1] ? TMM__INT8_B : 0);
    (void)plan;
    return tmm__xint8_parts(&M, &N, &K, ready).bytes;
}
#endif
#endif
/* src/tiledmm/type/choose.h. CHOICE: the rule of TMM_AUTO.
   Uses: launch/, once/. Used by: type/, callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* A kernel that is left out of this program. */
static inline tmm_status tmm__xleft_out(const tmm__xproduct *p, const tmm__xkernel *row)
{
    (void)p;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "kernel %s is not in this program: it was compiled with TMM_SIMPLE, or the "
                     "kernel is not for elements of this type and size of C",
                     tmm_kernel_string(row->value));
}

#if TMM__CONVERTS
static inline tmm_status tmm__xsplit(const tmm__xproduct *p, const tmm__plan *plan);
#endif

static inline const tmm__xkernel *tmm__xrow(tmm_kernel kernel)
{
#define TMM__NAME(value, string)              {value, 0, NULL, NULL, NULL, NULL},
#define TMM__KERNEL(value, string, tile, ...) {value, tile, __VA_ARGS__},
    static const tmm__xkernel rows[] = {TMM__KERNEL_LIST(TMM__NAME, TMM__KERNEL)};
#undef TMM__NAME
#undef TMM__KERNEL
    if (kernel < 0 || kernel >= TMM_KERNEL_COUNT || rows[kernel].takes == NULL) return NULL;
    return &rows[kernel];
}

/* May TMM_AUTO take this kernel? */
static inline int tmm__xeligible(const tmm__xkernel *row, const tmm__xproduct *p)
{
    const double most = INT_MAX, tile = row->tile;
    return ceil(p->M / tile) * ceil(p->N / tile) <= most && row->competes(p, row);
}

/* A product as its plans are compared: not empty, all of a batch at once. `tensor`: elements may be
   split. */
static inline tmm__xproduct tmm__xcompared(const tmm__xproduct *given, long long batch, int tensor)
{
    tmm__xproduct p = *given;
    p.M = p.M > 0 ? p.M : 1, p.N = p.N > 0 ? p.N : 1, p.K = p.K > 0 ? p.K : 0;
    p.batch = (unsigned)(batch < 1 ? 1 : tmm__min(batch, INT_MAX));
    p.allowed = tmm__xallowed(batch) | (tensor ? TMM__SPLIT : 0);
    return p;
}

/* The rule of TMM_AUTO: the plan that should take the least time; of equal ones, the first of
   the list. */
static inline void tmm__xchoose(const tmm__xproduct *given, long long batch, int tensor,
                                tmm__plan *best)
{
    const tmm__xproduct p = tmm__xcompared(given, batch, tensor);
    tmm__plan plan;
    best->value = TMM_AUTO, best->time = HUGE_VAL;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm__xkernel *row = tmm__xrow((tmm_kernel)k);
        if (row == NULL || row->competes == NULL || !tmm__xeligible(row, &p)) continue;
        tmm__xplan_by(row->value, &p, &plan);
        if (plan.time < best->time) *best = plan;
    }
    if (best->value == TMM_AUTO) tmm__xplan_by(TMM_REGISTER_128, &p, best);
}

static inline tmm_kernel tmm__xchoice(const tmm__xproduct *given, long long batch, int tensor)
{
    tmm__plan plan;
    tmm__xchoose(given, batch, tensor, &plan);
    return plan.value;
}

/* What a launcher gets for the first launch of a batch. */
static inline tmm__xproduct tmm__xfirst_launch(const tmm__xproduct *given, long long batch)
{
    tmm__xproduct p = *given;
    /* A and B are not read when alpha or K is 0: no steps along k, and no offsets to pointers
       that may be NULL. */
    if ((TMM_SUM)p.alpha == 0) p.K = 0;
    if (p.K == 0) {
        p.alpha = 0;
        p.rsA = p.csA = p.strideA = p.rsB = p.csB = p.strideB = 0;
    }
    p.allowed = tmm__xallowed(batch);
    p.batch = (unsigned)tmm__min(batch, TMM__MOST_GRID);
    return p;
}

/* The plan of a kernel, or of TMM_AUTO, for the first launch of a batch that is not empty; valid
   until the next call. A thread keeps its latest plans: making all of them takes as long as a
   launch. The key is all that a plan may depend on. */
static inline const tmm__plan *tmm__xknown_plan(tmm_kernel kernel, const tmm__xproduct *p,
                                                long long batch)
{
    static thread_local struct {
        long long key[16];
        tmm__plan plan;
    } known[TMM__KNOWN_CHOICES];
    const size_t line = 127; /* of the address, what may count */
    const long long flags = (long long)(((size_t)p->A & line) << 32 | ((size_t)p->B & line) << 24 |
                                        ((size_t)p->C & line) << 16) |
                            (long long)TMM__TRIANGLE(p) << 10 | (long long)kernel << 2 |
                            ((TMM_SUM)p->alpha == 0) << 1 | ((TMM_SUM)p->beta == 0);
    const tmm__device *d = tmm__current_device();
    const long long key[] = {p->M,   p->N,      p->K,          p->rsA,       p->csA,     p->strideA,
                             p->rsB, p->csB,    p->strideB,    p->ldc,       p->strideC, batch,
                             flags,  d->number, d->capability, d->processors};
    size_t hash = 0;
    for (int n = 0; n < 16; n++) hash = hash * 31 + (size_t)key[n];
    const size_t place = (hash ^ hash >> 7) % TMM__KNOWN_CHOICES;
    tmm__plan *plan = &known[place].plan;
    if (TMM__REMEMBERS && memcmp(known[place].key, key, sizeof key) == 0) return plan;
    const tmm__xproduct first = tmm__xfirst_launch(p, batch);
    const int chooses = kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR;
    if (chooses) {
        tmm__xchoose(p, batch, kernel == TMM_AUTO_TENSOR || TMM__ASKED_TENSOR, plan);
        kernel = plan->value;
    }
    /* Chosen was for the K and the batch that were given. */
    if (!chooses || first.K == 0 || batch > TMM__MOST_GRID) tmm__xplan_by(kernel, &first, plan);
    memcpy(known[place].key, key, sizeof key);
    return plan;
}

TMM_API tmm_kernel tmm__xgemm_choice(long long M, long long N, long long K, long long batch)
{
    tmm__xproduct p = tmm__xmake_product(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    p.alpha = 1, p.ldc = N;
    return tmm__xchoice(&p, batch, TMM__ASKED_TENSOR);
}
#endif
/* src/tiledmm/type/dispatch.h. tmm_?gemm and its kin: checks, choice, launch.
   Uses: kernels/narrow/launch.h, kernels/skinny/launch.h, launch/, once/, choose.h.
   Used by: type/, callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Do products of a batch overlap in C? Rows of two products, s apart, overlap if these begin less
   than N elements from each other. Looks at 4096 values of s at most. */
static inline int tmm__xoverlaps(long long M, long long N, long long ldc, long long strideC,
                                 long long batch)
{
    for (long long s = 1; s < batch && s <= 4096; s++) {
        long long offset = s * strideC, rows = offset / ldc;
        if (rows <= M - 1 && offset - rows * ldc < N) return 1;
        if (rows + 1 <= M - 1 && (rows + 1) * ldc - offset < N) return 1;
        if (rows > M - 1) return 0;
    }
    return 0;
}

/* Checks what a batch adds to one product. */
static inline tmm_status tmm__xcheck_batch(const tmm__operands *o, const long long strides[3],
                                           long long batch)
{
    const long long M = o->M, N = o->N, ldc = o->ldc;
    if (batch < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "batch is negative: %lld", batch);
    for (int n = 0; n < 3; n++) {
        if (strides[n] < 0)
            return tmm__fail(TMM_ERROR_ARGUMENT, "stride%c is negative: %lld", 'A' + n, strides[n]);
        if (batch > 0 && strides[n] > LLONG_MAX /
                                          (long long)(n == 2 ? sizeof(TMM_OUT) : sizeof(TMM_TYPE)) /
                                          batch)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "stride%c (%lld, batch %lld) exceeds 64-bit addresses", 'A' + n,
                             strides[n], batch);
    }
    if (M == 0 || N == 0 || batch < 2) return TMM_OK;
    if (strides[2] == 0)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is 0: the products would overwrite each other");
    if (tmm__xoverlaps(M, N, ldc, strides[2], batch))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "strideC is %lld: products of %lld x %lld with ldc %lld would overwrite "
                         "each other",
                         strides[2], M, N, ldc);
    return tmm__check_batch_overlap(o, strides, batch);
}

/* The tile with which TMM_REGISTER should be faster. */
static inline tmm_kernel tmm__xregister_tile(const tmm__xproduct *given, long long batch)
{
    if (!TMM__ALL_TILES) return TMM_REGISTER_128;
    tmm__xproduct p = *given;
    tmm__plan small, large;
    p.batch = (unsigned)tmm__min(batch, INT_MAX);
    tmm__xplan_by(TMM_REGISTER_64, &p, &small);
    tmm__xplan_by(TMM_REGISTER_128, &p, &large);
    return small.time < large.time ? TMM_REGISTER_64 : TMM_REGISTER_128;
}

/* What stands behind a name: TMM_AUTO for a conversion that cannot be used, others for kernels
   that this type or product does not have, the better tile of TMM_REGISTER. */
static inline tmm_kernel tmm__xstands_for(tmm_kernel kernel, const tmm__xproduct *p,
                                          long long batch)
{
#if TMM__CONVERTS
    if (kernel == TMM__CONVERTING &&
        ((TMM_SUM)p->alpha == 0 || !tmm__xconverted_fits(p->M, p->N, p->K)))
        return TMM_AUTO;
#endif
#if TMM__FAST
    if (kernel == TMM_SKINNY && !TMM__IS_FLOAT && tmm__xskinny_fits(p)) kernel = TMM_DIRECT;
    if (kernel == TMM_NARROW && !tmm__xnarrow_fits(p, batch)) kernel = TMM_PIPELINED;
    /* KERNEL TENSOR of double has such a pipeline, too, and the same chains of multiply-adds. Where
       it does not pay, units of double bound every kernel. */
    if (kernel == TMM_PIPELINED && TMM__IS_DOUBLE)
        kernel = tmm__xtensor_pays() && tmm__xfits(TMM_TENSOR, p) ? TMM_TENSOR : TMM_REGISTER;
#endif
    if (!TMM__ALL_TILES && kernel == TMM_REGISTER_64) kernel = TMM_REGISTER;
    if (!TMM__ALL_TILES && !TMM__ONE_TILE && kernel >= TMM_SHARED_8 && kernel <= TMM_SHARED_32)
        kernel = TMM_SHARED;
    if (kernel == TMM_REGISTER) kernel = tmm__xregister_tile(p, batch);
    return kernel;
}

/* The same, and the choice of TMM_AUTO for a batch that is not empty. */
static inline tmm_kernel tmm__xresolve(tmm_kernel kernel, const tmm__xproduct *p, long long batch)
{
    kernel = tmm__xstands_for(kernel, p, batch);
    if (kernel != TMM_AUTO && kernel != TMM_AUTO_TENSOR) return kernel;
    return tmm__xknown_plan(kernel, p, batch)->value;
}

/* Is this kernel in the program, and can it do this product on this device? */
static inline tmm_status tmm__xtakes(tmm_kernel kernel, const tmm__xproduct *p)
{
    const tmm__xkernel *row = tmm__xrow(kernel);
    const long long M = p->M, N = p->N;
    if (row == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel", (int)kernel);
    tmm_status status = row->takes(p, row);
    if (status == TMM_OK && M > 0 && N > 0 &&
        (M - 1) / row->tile + 1 > INT_MAX / ((N - 1) / row->tile + 1))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "M x N is %lld x %lld: more than 2^31 - 1 tiles of %d x %d, the most that "
                         "one launch can have",
                         M, N, row->tile, row->tile);
    return status;
}

/* Products of one launch, by a kernel that takes them. */
static inline tmm_status tmm__xrun(tmm_kernel kernel, const tmm__xproduct *p)
{
    tmm__plan plan;
    tmm__xplan_by(kernel, p, &plan);
    return tmm__xrow(kernel)->launch(p, &plan);
}

#if TMM__CONVERTS
/* KERNEL TENSOR FLOAT or INT8; strictly, if there is no memory for its operands. */
static inline tmm_status tmm__xsplit(const tmm__xproduct *p, const tmm__plan *plan)
{
    size_t missing = 0;
    tmm_status status = tmm__xconverted(p, plan, NULL, &missing);
    if (missing == 0 || status != TMM_OK) return status;
    tmm_kernel kernel = tmm__xfits(TMM_PIPELINED, p) ? TMM_PIPELINED : TMM_REGISTER;
    kernel = tmm__xstands_for(kernel, p, p->batch);
    status = tmm__xtakes(kernel, p);
    return status != TMM_OK ? status : tmm__xrun(kernel, p);
}
#endif

/* Products of a batch whose arguments have been checked. */
static inline tmm_status tmm__xbatch(tmm_kernel kernel, const tmm__xproduct *given, long long batch)
{
    kernel = tmm__xstands_for(kernel, given, batch);
    const int chooses = kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR;
    const int empty = given->M == 0 || given->N == 0 || batch == 0;
    tmm__plan next;
    tmm_status status = chooses ? TMM_OK : tmm__xtakes(kernel, given);
    if (status != TMM_OK || empty) return status;
    const tmm__plan *plan = tmm__xknown_plan(kernel, given, batch);
    if (chooses) status = tmm__xtakes(plan->value, given);
    tmm__xproduct p = tmm__xfirst_launch(given, batch);
    for (long long first = 0; first < batch && status == TMM_OK; first += TMM__MOST_GRID) {
        p.A = given->A + first * p.strideA, p.B = given->B + first * p.strideB;
        p.C = given->C + first * p.strideC;
        p.batch = (unsigned)tmm__min(batch - first, TMM__MOST_GRID);
        if (first > 0) { /* their number and alignment may be others */
            tmm__xplan_by(plan->value, &p, &next);
            plan = &next;
        }
        status = tmm__xrow(plan->value)->launch(&p, plan);
    }
    return status;
}

TMM_API tmm_status tmm__xgemm_batched_with(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                           long long N, long long K, TMM_SCALAR alpha,
                                           const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                           long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                           long long ldc, long long strideA, long long strideB,
                                           long long strideC, long long batch, tmm_stream stream)
{
    const long long strides[3] = {strideA, strideB, strideC};
    const int reads_AB = !((TMM_SUM)alpha == 0);
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    tmm_status status = tmm__check_sizes(&operands);
    if (status == TMM_OK) status = tmm__xcheck_batch(&operands, strides, batch);
    if (status == TMM_OK && batch == 1) status = tmm__check_overlap(&operands);
    if (status != TMM_OK) return status;
    tmm__xproduct p = tmm__xmake_product(opA, opB, M, N, K, lda, ldb);
    p.alpha = alpha, p.beta = beta, p.ldc = ldc, p.stream = stream;
    p.strideA = strideA, p.strideB = strideB, p.strideC = strideC;
    p.A = A, p.B = B, p.C = C; /* whose alignment counts for the choice */
    *tmm__device_of_product() = tmm__current_device();
    status = tmm__xbatch(kernel, &p, batch);
    *tmm__device_of_product() = NULL;
    if (status == TMM_ERROR_CUDA && tmm__is_of_memory(cudaPeekAtLastError()))
        return tmm__blame_operand(&operands, status);
    return status;
}

TMM_API tmm_status tmm__xgemm_batched(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                      TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                      const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                      long long ldc, long long strideA, long long strideB,
                                      long long strideC, long long batch, tmm_stream stream)
{
    return tmm__xgemm_batched_with(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                   strideA, strideB, strideC, batch, stream);
}

TMM_API tmm_status tmm__xgemm_with(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                   long long N, long long K, TMM_SCALAR alpha, const TMM_TYPE *A,
                                   long long lda, const TMM_TYPE *B, long long ldb, TMM_SCALAR beta,
                                   TMM_OUT *C, long long ldc, tmm_stream stream)
{
    return tmm__xgemm_batched_with(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                                   0, 0, 0, 1, stream);
}

TMM_API tmm_status tmm__xgemm(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                              TMM_SCALAR alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                              long long ldb, TMM_SCALAR beta, TMM_OUT *C, long long ldc,
                              tmm_stream stream)
{
    return tmm__xgemm_with(TMM_AUTO, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc,
                           stream);
}
#endif
/* src/tiledmm/type/explain.h. What TMM_AUTO compares, in words.
   Uses: launch/, once/, choose.h, dispatch.h. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* What a launch by a plan has to do, for its bound: see there. */
static inline tmm__load tmm__xplanned(const tmm__xproduct *p, const tmm__plan *plan)
{
    const int simple = plan->value <= TMM_REGISTER_128 || plan->value == TMM_DIRECT;
    tmm__load load = tmm__xload(p,
                                simple                     ? TMM__COST_SIMPLE
                                : plan->value == TMM_OUTER ? TMM__COST_OUTER
                                                           : TMM__COST_TENSOR,
                                plan->tile_m, plan->tile_n);
    if (plan->value == TMM_DIRECT) load.copied = 0; /* neighbours find most of it in L1 */
#if TMM__CONVERTS
    /* Tensor cores multiply 2048 pairs of FP16 in a clock (1024 before sm_90), of which a
       product of floats takes three. Bytes are in tuning.h; a product of doubles takes 14. */
    const int capability = tmm__current_device()->capability;
    const double rate = TMM__IS_DOUBLE     ? tmm__tuned()->int8.rate / 14.125
                        : capability >= 90 ? 2048 / 3.0
                                           : 1024 / 3.0;
    if (plan->value == TMM__CONVERTING)
        load.area *= tmm__rate(capability, load.family, load.type) / rate;
#endif
    return load;
}

static inline void tmm__xwrite_plan(tmm__text *t, const tmm__xproduct *p, const tmm__plan *plan,
                                    int chosen)
{
    const tmm__load load = tmm__xplanned(p, plan);
    const tmm__xkernel *row = tmm__xrow(plan->value);
    tmm__write(t, "%c %-13s", chosen ? '*' : ' ', tmm_kernel_string(plan->value));
    if (plan->time < HUGE_VAL)
        tmm__write(t, "%10.2f us", 1e-3 * plan->time);
    else
        tmm__write(t, "  no estimate");
    tmm__write(t, "  tile %d x %d, instance %d", plan->tile_m, plan->tile_n, plan->instance);
    tmm__write_cut(t, plan);
    tmm__write(t, "; bound by %s", tmm__bound(&load));
    if (row->competes == NULL || !tmm__xeligible(row, p)) tmm__write(t, "; only by name");
    tmm__write(t, "\n");
}

/* A line for each kernel: the chosen one, others by predicted time, then those that refuse. */
static inline void tmm__xwrite_kernels(tmm__text *t, const tmm__xproduct *p, tmm_kernel chosen)
{
    tmm__plan plans[TMM_KERNEL_COUNT];
    int count = 0;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        if (tmm__xrow((tmm_kernel)k) == NULL || tmm__xtakes((tmm_kernel)k, p) != TMM_OK ||
            tmm__xstands_for((tmm_kernel)k, p, p->batch) != (tmm_kernel)k)
            continue;
        tmm__plan plan;
        tmm__xplan_by((tmm_kernel)k, p, &plan);
        int at = count++;
        for (; at > 0 && plans[at - 1].value != chosen &&
               (plan.value == chosen || plan.time < plans[at - 1].time);
             at--)
            plans[at] = plans[at - 1];
        plans[at] = plan;
    }
    for (int n = 0; n < count; n++) tmm__xwrite_plan(t, p, &plans[n], n == 0);
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm_kernel kernel = (tmm_kernel)k, other = tmm__xstands_for(kernel, p, p->batch);
        if (tmm__xrow(kernel) == NULL) continue;
        if (other != kernel)
            tmm__write(t, "  %-13s  no: it stands for %s here\n", tmm_kernel_string(kernel),
                       tmm_kernel_string(other));
        else if (tmm__xtakes(kernel, p) != TMM_OK)
            tmm__write(t, "  %-13s  no: %s\n", tmm_kernel_string(kernel), tmm__message());
    }
}

TMM_API tmm_status tmm__xgemm_explain(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                      long long N, long long K, long long batch, const char *gpu,
                                      char *text, size_t bytes)
{
    const int tensor = kernel == TMM_AUTO_TENSOR || TMM__ASKED_TENSOR;
    const long long lda = opA == TMM_OP_N ? K : M, ldb = opB == TMM_OP_N ? N : K;
    tmm__text t = {text, bytes, 0};
    tmm__device device;
    tmm__kernel_facts kernels[TMM__KNOWN_KERNELS];
    char message[256];
    if (text == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "text is NULL");
    if (kernel != TMM_AUTO && kernel != TMM_AUTO_TENSOR)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, neither TMM_AUTO nor TMM_AUTO_TENSOR",
                         (int)kernel);
    if (M < 1 || N < 1 || K < 1 || batch < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is less than 1",
                         M < 1   ? "M"
                         : N < 1 ? "N"
                         : K < 1 ? "K"
                                 : "batch");
    const tmm__operands sizes = {opA, opB, M, N, K, text, lda, text, ldb, text, N, 1, 1, 0};
    const tmm_status status = tmm__check_sizes(&sizes);
    if (status != TMM_OK) return status;
    if (!tmm__pretend(gpu, &device, kernels))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "gpu is '%s': no GPU that this header has measured has that in its name",
                         gpu);
    memcpy(message, tmm__message(), sizeof message);
    tmm__xproduct p = tmm__xmake_product(opA, opB, M, N, K, lda, ldb);
    tmm__plan best;
    p.alpha = 1, p.ldc = N;
    if (batch > 1) p.strideA = M * K, p.strideB = K * N, p.strideC = M * N;
    *tmm__device_of_product() = &device;
    tmm__xchoose(&p, batch, tensor, &best);
    p = tmm__xcompared(&p, batch, tensor);
    tmm__write(&t, "%lld x %lld x %lld, batch %lld, on %s%s, sm_%d with %d multiprocessors: %s\n",
               M, N, K, batch, strncmp(device.gpu.device, "by ", 3) == 0 ? "a GPU " : "",
               device.gpu.device, device.capability, device.processors,
               tmm_kernel_string(best.value));
    tmm__xwrite_kernels(&t, &p, best.value);
    if (device.capability >= 90 && !TMM__CLUSTER_LAUNCH)
        tmm__write(&t, "Without clusters, which this program was not compiled for.\n");
    *tmm__device_of_product() = NULL;
    memcpy(tmm__message(), message, sizeof message);
    if (t.length < bytes) return TMM_OK;
    return tmm__fail(TMM_ERROR_MEMORY, "text has room for %zu bytes: %zu are needed", bytes,
                     t.length + 1);
}
#endif
/* src/tiledmm/type/prepared.h. Products on tensor cores whose operands are converted once: of float
   in halves, of double in residues.
   Uses: launch/, once/, dispatch.h. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && \
    (TMM__FLOAT_TENSOR || TMM__DOUBLE_TENSOR)
TMM_API tmm_status tmm__xgemm_prepare_memory(long long lines, long long K, size_t *bytes)
{
    const long long most = tmm__xconverted_most, elements = 1ll << 58; /* in size_t */
    if (bytes == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    if (lines < 0 || K < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is negative", K < 0 ? "K" : "lines");
    if (lines > most || K > most || (K > 0 && lines > elements / K))
        return tmm__fail(TMM_ERROR_UNSUPPORTED, "kernel %s: %lld x %lld is too large for it",
                         tmm_kernel_string(TMM__CONVERTING), lines, K);
    if (lines > 0 && K > 0) *bytes = tmm__xprepared_bytes(lines, K);
    return TMM_OK;
}

/* Prepares what `request` says, whose memory has `bytes` or is NULL. */
static inline tmm_status tmm__xprepare(const tmm_prepared *request, size_t bytes,
                                       tmm_prepared *prepared, tmm_stream stream)
{
    const int is_B = request->is_B;
    const tmm_op op = request->op;
    const long long lines = request->lines, K = request->K, ld = request->ld;
    const TMM_TYPE *X = (const TMM_TYPE *)request->X;
    void *memory = request->memory;
    if (prepared == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "prepared is NULL");
    memset(prepared, 0, sizeof *prepared);
    size_t needed = 0;
    /* As if C had no rows, or no columns. */
    const tmm__operands as_A = {op, TMM_OP_N, lines, 0, K,         X,         ld,
                                X,  1,        X,     1, sizeof *X, sizeof *X, 0};
    const tmm__operands as_B = {TMM_OP_N, op, 0, lines,     K,         X,         LLONG_MAX,
                                X,        ld, X, LLONG_MAX, sizeof *X, sizeof *X, 0};
    tmm_status status = tmm__check_gemm(is_B ? &as_B : &as_A);
    if (status == TMM_OK) status = tmm__xgemm_prepare_memory(lines, K, &needed);
    if (status != TMM_OK) return status;
    if (needed > 0 && X == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is NULL", is_B ? "B" : "A");
    if (memory != NULL && (bytes < needed || (size_t)memory % 16 != 0))
        return tmm__fail(bytes < needed ? TMM_ERROR_MEMORY : TMM_ERROR_ARGUMENT,
                         "memory is %p with %zu bytes: %zu are needed, aligned to 16", memory,
                         bytes, needed);
    const tmm__area to = tmm__area_of(memory, 1, (long long)needed, (long long)needed, 1);
    const tmm__area from = tmm__area_of(X, (op == TMM_OP_N) != is_B ? lines : K,
                                        (op == TMM_OP_N) != is_B ? K : lines, ld, sizeof *X);
    if (memory != NULL && needed > 0 && tmm__areas_meet(&from, &to))
        return tmm__fail(TMM_ERROR_ARGUMENT, "memory overlaps %s", is_B ? "B" : "A");
    int owned = memory == NULL && needed > 0;
    if (owned) memory = tmm__workspace(needed, stream);
    if (owned && memory == NULL)
        return tmm__fail(TMM_ERROR_MEMORY, "no memory to prepare an operand: %zu bytes", needed);
    if (needed > 0) status = tmm__xconvert_once(request, (char *)memory, stream);
    if (status != TMM_OK) {
        if (owned) (void)cudaFreeAsync(memory, stream);
        return status;
    }
    *prepared = *request;
    prepared->memory = memory, prepared->owned = owned;
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_prepare_A(tmm_op op, long long M, long long K, const TMM_TYPE *A,
                                        long long lda, void *memory, size_t bytes,
                                        tmm_prepared *prepared, tmm_stream stream)
{
    const tmm_type type = TMM__FLOAT_TENSOR ? TMM_FLOAT : TMM_DOUBLE;
    const tmm_prepared request = {A, memory, 0, 0, op, M, K, lda, type};
    return tmm__xprepare(&request, bytes, prepared, stream);
}

TMM_API tmm_status tmm__xgemm_prepare_B(tmm_op op, long long K, long long N, const TMM_TYPE *B,
                                        long long ldb, void *memory, size_t bytes,
                                        tmm_prepared *prepared, tmm_stream stream)
{
    const tmm_type type = TMM__FLOAT_TENSOR ? TMM_FLOAT : TMM_DOUBLE;
    const tmm_prepared request = {B, memory, 0, 1, op, N, K, ldb, type};
    return tmm__xprepare(&request, bytes, prepared, stream);
}

TMM_API tmm_status tmm__xgemm_release(tmm_prepared *prepared, tmm_stream stream)
{
    if (prepared == NULL) return TMM_OK;
    cudaError_t error = cudaSuccess;
    if (prepared->owned) error = cudaFreeAsync(prepared->memory, stream);
    memset(prepared, 0, sizeof *prepared);
    return tmm__cuda(error, "cudaFreeAsync");
}

/* An error if the product is too large, or if what is prepared does not fit it. */
static inline tmm_status tmm__xcheck_prepared(long long M, long long N, long long K,
                                              const tmm_tensor_options *options)
{
    const tmm_type type = TMM__FLOAT_TENSOR ? TMM_FLOAT : TMM_DOUBLE;
    if (M < 0 || N < 0 || K < 0)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is negative", M < 0 ? "M" : N < 0 ? "N" : "K");
    for (int is_B = 0; is_B < 2; is_B++) {
        const tmm_prepared *ready = is_B ? options->B : options->A;
        long long lines = is_B ? N : M;
        size_t bytes = 0;
        if (ready == NULL) {
            tmm_status status = tmm__xgemm_prepare_memory(lines, K, &bytes);
            if (status != TMM_OK) return status;
        } else if (ready->ld == 0) { /* all zeros */
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%c is not prepared: it was released, or its preparation failed",
                             is_B ? 'B' : 'A');
        } else if (ready->is_B != is_B || ready->lines != lines || ready->K != K) {
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "%c was prepared as %c with %lld lines of %lld elements, but has %lld "
                             "of %lld here",
                             is_B ? 'B' : 'A', ready->is_B ? 'B' : 'A', ready->lines, ready->K,
                             lines, K);
        } else if (ready->type != type) {
            return tmm__fail(TMM_ERROR_ARGUMENT, "%c was not prepared for products of %s",
                             is_B ? 'B' : 'A', TMM__FLOAT_TENSOR ? "float" : "double");
        }
    }
    return TMM_OK;
}

/* What options are if there are none. */
static const tmm_tensor_options tmm__xno_options = {NULL, NULL};

/* What a product with such operands may do. */
static inline int tmm__xallowed_with(const tmm_tensor_options *options)
{
    return TMM__CUT_K | TMM__PACK | (options->A != NULL ? (int)TMM__READY_A : 0) |
           (options->B != NULL ? (int)TMM__READY_B : 0);
}

TMM_API tmm_status tmm__xgemm_tensor_memory(long long M, long long N, long long K,
                                            const tmm_tensor_options *options, size_t *bytes)
{
    if (bytes == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    if (options == NULL) options = &tmm__xno_options;
    tmm_status status = tmm__xcheck_prepared(M, N, K, options);
    if (status != TMM_OK || M == 0 || N == 0 || !tmm__xconverted_fits(M, N, K)) return status;
    const tmm_prepared *const prepared[2] = {options->A, options->B};
    tmm__xproduct p = tmm__xmake_product(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    tmm__plan plan;
    p.batch = 1;
    for (int i = 0; i < 2; i++) { /* ops and alignment may decide whether copies of operands pay */
        p.allowed = tmm__xallowed_with(options) & ~(i == 0 ? (int)TMM__PACK : 0);
        tmm__xplan_by(TMM__CONVERTING, &p, &plan);
        const size_t takes = tmm__xconverted_bytes(&p, &plan, prepared);
        if (takes > *bytes) *bytes = takes;
    }
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_tensor(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                     TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                     const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                     long long ldc, const tmm_tensor_options *options,
                                     tmm_stream stream)
{
    if (options == NULL) options = &tmm__xno_options;
    tmm_status status = tmm__xcheck_prepared(M, N, K, options);
    if (status != TMM_OK) return status;
    if (options->A != NULL)
        opA = options->A->op, A = (const TMM_TYPE *)options->A->X, lda = options->A->ld;
    if (options->B != NULL)
        opB = options->B->op, B = (const TMM_TYPE *)options->B->X, ldb = options->B->ld;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), alpha != 0};
    status = tmm__check_gemm(&operands);
    for (int is_B = 0; is_B < 2 && status == TMM_OK; is_B++) {
        const tmm_prepared *ready = is_B ? options->B : options->A;
        if (ready == NULL || M == 0 || N == 0 || K == 0 || !operands.reads_AB) continue;
        const long long bytes = (long long)tmm__xprepared_bytes(ready->lines, K);
        const tmm__area memory = tmm__area_of(ready->memory, 1, bytes, bytes, 1);
        const tmm__area area = tmm__area_of_operand(&operands, 2);
        if (bytes > 0 && tmm__areas_meet(&memory, &area))
            return tmm__fail_overlap(is_B ? "the memory of the prepared B"
                                          : "the memory of the prepared A");
    }
    if (status != TMM_OK) return status;
    if (M == 0 || N == 0) return TMM_OK;
    if ((TMM_SUM)alpha == 0 || !tmm__xconverted_fits(M, N, K))
        return tmm__xgemm_with(TMM__CONVERTING, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C,
                               ldc, stream);
    const tmm_prepared *const prepared[2] = {options->A, options->B};
    size_t missing = 0;
    tmm__xproduct p = tmm__xmake_product(opA, opB, M, N, K, lda, ldb);
    p.alpha = alpha, p.A = A, p.B = B, p.beta = beta, p.C = C, p.ldc = ldc;
    p.batch = 1, p.stream = stream;
    p.allowed = tmm__xallowed_with(options);
    tmm__plan plan;
    tmm__xplan_by(TMM__CONVERTING, &p, &plan);
    status = tmm__xconverted(&p, &plan, prepared, &missing);
    if (status == TMM_OK && missing > 0)
        return tmm__fail(TMM_ERROR_MEMORY, "no memory to convert A and B: %zu bytes", missing);
    return status;
}
#endif
/* src/tiledmm/type/host_layer.h. HOST LAYER: products from host memory.
   Uses: host/, launch/, once/, choose.h, dispatch.h. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
TMM_API tmm_status tmm__xmatmul(long long M, long long N, long long K, const TMM_TYPE *A,
                                const TMM_TYPE *B, TMM_OUT *C)
{
    const tmm__operands operands = {TMM_OP_N,
                                    TMM_OP_N,
                                    M,
                                    N,
                                    K,
                                    A,
                                    K > 1 ? K : 1,
                                    B,
                                    N > 1 ? N : 1,
                                    C,
                                    N > 1 ? N : 1,
                                    sizeof(TMM_TYPE),
                                    sizeof(TMM_OUT),
                                    1};
    tmm_status status = tmm__check_gemm(&operands);
    if (status != TMM_OK || M == 0 || N == 0) return status;
#if TMM__HOST_LAYER && !defined(TMM_EPILOGUE)
    /* Several threads stage large matrices faster than cudaMemcpy does. */
    if (((double)M * K + (double)K * N + (double)M * N) * sizeof(TMM_TYPE) >= 6.4e7)
        return tmm__xgemm_host(TMM_OP_N, TMM_OP_N, M, N, K, (TMM_SCALAR)1, A, K > 1 ? K : 1, B, N,
                               (TMM_SCALAR)0, C, N, NULL);
#endif
    static const char *const names[3] = {"A", "B", "C"};
    static const char *const calls[3] = {"cudaMalloc for A", "cudaMalloc for B",
                                         "cudaMalloc for C"};
    const void *const from[3] = {A, B, C};
    const size_t bytes[3] = {(size_t)(M * K) * sizeof(TMM_TYPE), (size_t)(K * N) * sizeof(TMM_TYPE),
                             (size_t)(M * N) * sizeof(TMM_OUT)};
    void *device[3] = {NULL, NULL, NULL};
    int staged = 0;
    for (int n = 0; n < 3 && status == TMM_OK; n++)
        status = tmm__is_staged(names[n], from[n], bytes[n], &staged);
    /* With K = 0 there is no A and no B: cudaMalloc of 0 bytes gives NULL. */
    for (int n = 0; n < 3 && status == TMM_OK; n++)
        status = tmm__cuda(cudaMalloc(&device[n], bytes[n]), calls[n]);
    for (int n = 0; n < 2 && status == TMM_OK; n++)
        status = tmm__cuda(cudaMemcpy(device[n], from[n], bytes[n], cudaMemcpyHostToDevice),
                           n == 0 ? "copy of A to the device" : "copy of B to the device");
    if (status == TMM_OK)
        status = tmm__xgemm(TMM_OP_N, TMM_OP_N, M, N, K, (TMM_SCALAR)1, (TMM_TYPE *)device[0],
                            K > 1 ? K : 1, (TMM_TYPE *)device[1], N, (TMM_SCALAR)0,
                            (TMM_OUT *)device[2], N, 0);
    if (status == TMM_OK)
        status = tmm__cuda(cudaMemcpy(C, device[2], bytes[2], cudaMemcpyDeviceToHost),
                           "multiplication, or copy of C to the host");
    /* cudaFree(NULL) does nothing. An error here would only repeat an earlier one. */
    for (int n = 0; n < 3; n++) (void)tmm__succeeded(cudaFree(device[n]));
    return status;
}

#if TMM__HOST_LAYER
/* The kernel for a product of blocks. It sums in ascending k, whatever the shape of the block, so
   that the bits do not depend on the blocks: TMM_REGISTER where no other such kernel fits. */
static inline tmm_kernel tmm__xblock_kernel(tmm_kernel kernel, const tmm__xproduct *p)
{
#if TMM__CONVERTS
    tmm__xproduct square = tmm__xmake_product(TMM_OP_N, TMM_OP_N, 4096, 4096, p->K, p->K, 4096);
    square.alpha = 1, square.ldc = 4096;
    if (kernel == TMM_AUTO_TENSOR)
        kernel = tmm__xchoice(&square, 1, 1) == TMM__CONVERTING ? TMM__CONVERTING : TMM_AUTO;
    if (kernel == TMM__CONVERTING && tmm__xconverted_fits(p->M, p->N, p->K)) return kernel;
    if (kernel == TMM__CONVERTING) kernel = TMM_AUTO; /* K is small: so it is for all blocks */
#endif
    if (kernel == TMM_AUTO_TENSOR) kernel = TMM_AUTO;
#if TMM__FAST
    if (kernel == TMM_AUTO && tmm__xtensor_pays() && tmm__xfits(TMM_TENSOR, p)) kernel = TMM_TENSOR;
    if (kernel == TMM_AUTO && sizeof(TMM_TYPE) >= 4 && p->M >= 128 && p->N >= 128 &&
        tmm__xfits(TMM_PIPELINED, p))
        kernel = TMM_PIPELINED;
#endif
    return tmm__xresolve(kernel == TMM_AUTO ? TMM_REGISTER : kernel, p, 1);
}

/* One product of blocks, for tmm__host_run and tmm__multi_run. */
static inline tmm_status tmm__xblock(const tmm__job *job, const tmm__block_product *block,
                                     tmm_stream stream)
{
    const long long M = block->M, N = block->N, K = block->K;
    const TMM_SCALAR beta = block->adds ? (TMM_SCALAR)1 : *(const TMM_SCALAR *)job->beta;
    TMM_OUT *C = (TMM_OUT *)block->C;
    if (job->kernel == TMM_SMALL || job->kernel == TMM_SKINNY)
        return tmm__fail(
            TMM_ERROR_UNSUPPORTED,
            "kernel %s sums in slices of k that depend on the shape: the bits would depend "
            "on the blocks",
            tmm_kernel_string(job->kernel));
    if (K <= 0)
        return tmm__xgemm_with(TMM_REGISTER, TMM_OP_N, TMM_OP_N, M, N, 0, (TMM_SCALAR)0, NULL, 1,
                               NULL, N, beta, C, block->ldc, stream);
    tmm__xproduct p = tmm__xmake_product(job->opA, job->opB, M, N, K, block->lda, block->ldb);
    p.alpha = *(const TMM_SCALAR *)job->alpha, p.beta = beta, p.stream = stream;
    p.A = (const TMM_TYPE *)block->A, p.B = (const TMM_TYPE *)block->B;
    p.C = C, p.ldc = block->ldc, p.batch = 1;
    const tmm_kernel kernel = tmm__xblock_kernel(job->kernel, &p);
#if TMM__CONVERTS
    if (kernel == TMM__CONVERTING) {
        size_t missing = 0;
        tmm__plan plan;
        tmm__xplan_by(kernel, &p, &plan);
        tmm_status status = tmm__xconverted(&p, &plan, NULL, &missing);
        if (status == TMM_OK && missing > 0)
            return tmm__fail(TMM_ERROR_MEMORY,
                             "kernel %s: no memory to convert blocks of A and B: %zu bytes",
                             tmm_kernel_string(kernel), missing);
        return status;
    }
#endif
    p.allowed = job->allowed;
    tmm_status status = tmm__xtakes(kernel, &p);
    return status != TMM_OK ? status : tmm__xrun(kernel, &p);
}

TMM_API tmm_status tmm__xgemm_host(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                   TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                   const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                   long long ldc, const tmm_host_options *options)
{
    const int reads_AB = (TMM_SUM)alpha != 0;
    const tmm__operands operands = {
        opA, opB, M, N, K, A, lda, B, ldb, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads_AB};
    tmm_status status = tmm__check_gemm(&operands);
    if (status != TMM_OK) return status;
#ifdef TMM_EPILOGUE
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "tmm_?gemm_host cannot be used with a TMM_EPILOGUE");
#endif
    if (M == 0 || N == 0) return TMM_OK;
    tmm__job job;
    memset(&job, 0, sizeof job);
    job.opA = opA, job.opB = opB;
    job.M = M, job.N = N, job.K = reads_AB ? K : 0;
    job.size = sizeof(TMM_TYPE), job.size_C = sizeof(TMM_OUT);
    /* An element of C with fewer bits than a sum is rounded once: its k are one part. */
    job.depth = sizeof(TMM_OUT) < sizeof(TMM_SUM) ? LLONG_MAX : TMM__HOST_DEPTH;
    job.A = (const char *)A, job.B = (const char *)B, job.C = (char *)C;
    job.lda = lda, job.ldb = ldb, job.ldc = ldc;
    job.alpha = &alpha, job.beta = &beta;
    job.reads_C = (TMM_SUM)beta != 0;
    job.launch = tmm__xblock;
    return tmm__host_run(&job, options);
}

/* The arguments of tmm_?gemm_multi that concern one part. `reads`: A and B are read. */
static inline tmm_status tmm__xcheck_part(tmm_op opA, tmm_op opB, const tmm_part *p, long long M,
                                          long long N, long long K, int reads)
{
    const void *unread = &unread;
    long long a = opA == TMM_OP_N ? K : M, lda = a > 1 ? a : 1, ldc = N > 1 ? N : 1;
    if (p->rows > 0) lda = p->lda, ldc = p->ldc; /* else it has neither A nor C */
    const tmm__operands operands = {
        opA, TMM_OP_N,         p->rows,         N,    K, p->A, lda, unread, N > 1 ? N : 1, p->C,
        ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads};
    tmm_status status = tmm__check_sizes(&operands);
    if (status == TMM_OK && p->rows_B > 0)
        status = tmm__check_matrix("B", "ldb", reads ? p->B : unread, p->rows_B,
                                   opB == TMM_OP_N ? N : K, p->ldb, sizeof(TMM_TYPE));
    return status;
}

/* An error if C of a part has an element in common with A or B of any. */
static inline tmm_status tmm__xcheck_parts(const tmm__job *job, const tmm_part *parts, int count)
{
    const int nA = job->opA == TMM_OP_N, nB = job->opB == TMM_OP_N;
    const long long N = job->N, K = job->K;
    const size_t size = sizeof(TMM_TYPE);
    for (int n = 0; n < count && K > 0; n++) {
        const tmm_part *p = &parts[n];
        const tmm__area C = tmm__area_of(p->C, p->rows, N, p->ldc, sizeof(TMM_OUT));
        for (int m = 0; m < count && p->rows > 0; m++) {
            const tmm_part *q = &parts[m];
            const tmm__area A =
                tmm__area_of(q->A, nA ? q->rows : K, nA ? K : q->rows, q->lda, size);
            const tmm__area B = tmm__area_of(q->B, q->rows_B, nB ? N : K, q->ldb, size);
            const int at_A = q->rows > 0 && tmm__areas_meet(&A, &C);
            if (at_A || (q->rows_B > 0 && tmm__areas_meet(&B, &C)))
                return tmm__fail(TMM_ERROR_ARGUMENT, "C of parts[%d] overlaps %c of parts[%d]", n,
                                 at_A ? 'A' : 'B', m);
        }
    }
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_multi(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                    TMM_SCALAR alpha, TMM_SCALAR beta, tmm_part *parts, int count,
                                    tmm_kernel kernel)
{
    const void *unread = &unread;
    long long rows = 0, rows_B = 0;
    int reads = M > 0 && N > 0 && K > 0 && (TMM_SUM)alpha != 0;
    if (tmm_kernel_string(kernel) == NULL)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, which is no tmm_kernel", (int)kernel);
    if (count < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "count is %d, but must be 1 at least", count);
    if (parts == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "parts is NULL");
    long long a = opA == TMM_OP_N ? K : M, b = opB == TMM_OP_N ? N : K;
    const tmm__operands sizes = {
        opA,    opB,           M, N, K, unread, a > 1 ? a : 1, unread, b > 1 ? b : 1,
        unread, N > 1 ? N : 1, 1, 1, 0};
    tmm_status status = tmm__check_gemm(&sizes);
    if (status != TMM_OK) return status;
    for (int n = 0; n < count; n++) {
        const tmm_part *p = &parts[n];
        if (p->rows < 0 || p->rows_B < 0 || p->rows > M - rows ||
            p->rows_B > (opB == TMM_OP_N ? K : N) - rows_B)
            return tmm__fail(TMM_ERROR_ARGUMENT,
                             "parts[%d]: rows or rows_B is negative or too large", n);
        rows += p->rows;
        rows_B += p->rows_B;
        status = tmm__xcheck_part(opA, opB, p, M, N, K, reads);
        if (status != TMM_OK) {
            char text[256];
            memcpy(text, tmm__message(), sizeof text);
            return tmm__fail(status, "parts[%d]: %s", n, text);
        }
    }
    if (rows != M || rows_B != (opB == TMM_OP_N ? K : N))
        return tmm__fail(
            TMM_ERROR_ARGUMENT,
            "the parts have %lld rows of C and %lld of B, but M is %lld and %s is %lld", rows,
            rows_B, M, opB == TMM_OP_N ? "K" : "N", opB == TMM_OP_N ? K : N);
#ifdef TMM_EPILOGUE
    return tmm__fail(TMM_ERROR_UNSUPPORTED, "tmm_?gemm_multi cannot be used with a TMM_EPILOGUE");
#endif
    if (M == 0 || N == 0) return TMM_OK;
    tmm__job job;
    memset(&job, 0, sizeof job);
    job.opA = opA, job.opB = opB;
    job.M = M, job.N = N, job.K = reads ? K : 0;
    job.size = sizeof(TMM_TYPE), job.size_C = sizeof(TMM_OUT);
    /* An element of C with fewer bits than a sum is rounded once: its k are one part. */
    job.depth = sizeof(TMM_OUT) < sizeof(TMM_SUM) ? LLONG_MAX : TMM__HOST_DEPTH;
    job.alpha = &alpha, job.beta = &beta;
    job.kernel = kernel;
    job.allowed = TMM__PACK;
    job.launch = tmm__xblock;
    status = tmm__xcheck_parts(&job, parts, count);
    return status != TMM_OK ? status : tmm__multi_run(&job, parts, count);
}
#endif /* TMM__HOST_LAYER */
#endif
/* src/tiledmm/type/cpu.h. CPU REFERENCE.
   Uses: launch/product.h, once/. Used by: syrk.h, callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* Computes rows i0 .. i0 + 31 and columns j0 .. j0 + 127 of C. These sums stay in the L1 cache
   while k advances by 128. The part of op(B) in use is copied to rows of 128. So the innermost loop
   runs over neighbouring elements for every op, and becomes vector instructions. */
static inline TMM__OPTIMIZE void tmm__xcpu_block(const tmm__xproduct *p, long long i0, long long j0)
{
    TMM_SUM sum[TMM__CPU_ROWS][TMM__CPU_COLS], b[TMM__CPU_DEPTH][TMM__CPU_COLS];
    const TMM_SUM alpha = (TMM_SUM)p->alpha, beta = (TMM_SUM)p->beta;
    const long long csA = p->csA;
    int rows = (int)tmm__min(p->M - i0, TMM__CPU_ROWS);
    int cols = (int)tmm__min(p->N - j0, TMM__CPU_COLS);
    memset(sum, 0, sizeof sum);
    memset(b, 0, sizeof b); /* the columns beyond N */
    for (long long k0 = 0; k0 < p->K; k0 += TMM__CPU_DEPTH) {
        int depth = (int)tmm__min(p->K - k0, TMM__CPU_DEPTH);
        for (int k = 0; k < depth; k++)
            for (int j = 0; j < cols; j++)
                b[k][j] = (TMM_SUM)p->B[(k0 + k) * p->rsB + (j0 + j) * p->csB];
        for (int i = 0; i < rows; i++) {
            const TMM_TYPE *a = p->A + (i0 + i) * p->rsA + k0 * csA;
            TMM_SUM *s = sum[i];
            int k = 0;
            for (; k + 4 <= depth; k += 4) { /* a sum is loaded and stored once for four k */
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
            TMM_OUT *c = p->C + (i0 + i) * p->ldc + j0 + j;
            TMM_SUM value = alpha * sum[i][j];
            const long long below = i0 + i - j0 - j; /* the diagonal */
            if (TMM__TRIANGLE(p) == TMM__LOWER ? below < 0
                                               : TMM__TRIANGLE(p) == TMM__UPPER && below > 0)
                continue;
            if (beta != (TMM_SUM)0) value += beta * (TMM_SUM)*c;
            *c = (TMM_OUT)value;
        }
}

/* Checks the arguments and computes all blocks of C, with OpenMP on so many threads. */
static inline tmm_status tmm__xcpu(const tmm__operands *o, TMM_SCALAR alpha, TMM_SCALAR beta,
                                   TMM_OUT *C, int threads)
{
    tmm_status status = tmm__check_gemm(o);
    if (status != TMM_OK || o->M == 0 || o->N == 0) return status;
    const long long K = o->reads_AB ? o->K : 0;
    tmm__xproduct p = tmm__xmake_product(o->opA, o->opB, o->M, o->N, K, o->lda, o->ldb);
    p.alpha = K > 0 ? alpha : (TMM_SCALAR)0; /* which may be infinite */
    p.A = (const TMM_TYPE *)o->A, p.B = (const TMM_TYPE *)o->B;
    p.beta = beta, p.C = C, p.ldc = o->ldc;
    long long across = (p.N - 1) / TMM__CPU_COLS + 1, down = (p.M - 1) / TMM__CPU_ROWS + 1;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long long block = 0; block < across * down; block++)
        tmm__xcpu_block(&p, block / across * TMM__CPU_ROWS, block % across * TMM__CPU_COLS);
    return TMM_OK;
}

TMM_API tmm_status tmm__xgemm_cpu(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                  TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                  const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                  long long ldc)
{
    const tmm__operands operands = {opA,
                                    opB,
                                    M,
                                    N,
                                    K,
                                    A,
                                    lda,
                                    B,
                                    ldb,
                                    C,
                                    ldc,
                                    sizeof(TMM_TYPE),
                                    sizeof(TMM_OUT),
                                    (TMM_SUM)alpha != 0};
    return tmm__xcpu(&operands, alpha, beta, C, 1);
}

TMM_API tmm_status tmm__xgemm_openmp(tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                                     TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                     const TMM_TYPE *B, long long ldb, TMM_SCALAR beta, TMM_OUT *C,
                                     long long ldc, int threads)
{
    if (threads < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "threads is negative: %d", threads);
    const tmm__operands operands = {opA,
                                    opB,
                                    M,
                                    N,
                                    K,
                                    A,
                                    lda,
                                    B,
                                    ldb,
                                    C,
                                    ldc,
                                    sizeof(TMM_TYPE),
                                    sizeof(TMM_OUT),
                                    (TMM_SUM)alpha != 0};
#ifdef _OPENMP
    return tmm__xcpu(&operands, alpha, beta, C, threads > 0 ? threads : omp_get_max_threads());
#else
    (void)operands, (void)beta;
    return tmm__fail(TMM_ERROR_UNSUPPORTED,
                     "built without OpenMP: compile with nvcc -Xcompiler -fopenmp");
#endif
}
#endif
/* src/tiledmm/type/syrk.h. tmm_?syrk and its kin: C = alpha op(A) op(A)^T + beta C, half of the work.
   Uses: kernels/common/mirror.cuh, launch/, once/, type/. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && defined(TMM_WITH_SYRK)
/* Has this kernel a schedule for the tiles of a triangle? */
static inline int tmm__xhas_triangles(tmm_kernel kernel)
{
    const int tensor = TMM__IS_DOUBLE || TMM__HALF_TENSOR != 0;
    return TMM__FAST &&
           ((kernel == TMM_PIPELINED && !TMM__IS_DOUBLE) || (kernel == TMM_TENSOR && tensor));
}

/* Square matrices in memory, one for each product of a batch. */
typedef struct tmm__xmatrices {
    TMM_OUT *X;
    long long ld, stride;
} tmm__xmatrices;

/* KERNEL MIRROR for `batch` matrices of N x N. */
static inline tmm_status tmm__xmirror(const tmm__xproduct *p, long long N, long long batch,
                                      const tmm__xmatrices *from, const tmm__xmatrices *to,
                                      int places)
{
    const tmm__tiling squares = tmm__tile(p->triangle, N, N, 64, 64);
    tmm__xmatrices x = *from, y = *to;
    int triangle = p->triangle;
    tmm_status status = TMM_OK;
    for (long long first = 0; first < batch && status == TMM_OK; first += TMM__MOST_GRID) {
        const unsigned count = (unsigned)tmm__min(batch - first, TMM__MOST_GRID);
        void *arguments[] = {&N,    &x.X,      &x.ld,     &x.stride, &y.X,
                             &y.ld, &y.stride, &triangle, &places};
        status = tmm__launch((const void *)tmm__xsyrk_mirror,
                             dim3((unsigned)(squares.down * squares.across), 1, count), dim3(256),
                             0, arguments, p->stream);
        x.X += count * x.stride, y.X += count * y.stride;
    }
    return status;
}

/* Rows of a strip, for kernels without such a schedule: see tmm__xstrips. */
static inline long long tmm__xstrip_rows(long long N)
{
    long long rows = (N / 8 + 127) / 128 * 128;
    rows = N <= 1024 ? N : rows < 512 ? 512 : rows > 4096 ? 4096 : rows;
    return TMM__SYRK_ROWS(rows);
}

/* `count` products of a batch, those of a strip. All batches are treated alike, however they are
   divided: see tmm__xbatch. */
static inline tmm_status tmm__xsome(tmm_kernel kernel, const tmm__xproduct *given, long long count,
                                    long long batch)
{
    if (count == batch) return tmm__xbatch(kernel, given, batch);
    kernel = tmm__xresolve(kernel, given, batch);
    tmm_status status = tmm__xtakes(kernel, given);
    if (status != TMM_OK) return status;
    tmm__xproduct p = tmm__xfirst_launch(given, batch);
    p.batch = (unsigned)count, p.allowed = 0;
    return tmm__xrun(kernel, &p);
}

/* Strip `row` to row + rows of the triangle of `count` products, of a batch, by any kernel: the square on
   the diagonal through `square`, memory for count rows x rows, for the kernel knows no triangle; what
   is left of it, or above, as any other product. */
static inline tmm_status tmm__xstrip(tmm_kernel kernel, const tmm__xproduct *given, long long row,
                                     long long rows, TMM_OUT *square, long long count,
                                     long long batch)
{
    const tmm__xmatrices squares = {square, rows, rows * rows};
    const tmm__xmatrices diagonal = {given->C + row * given->ldc + row, given->ldc, given->strideC};
    tmm__xproduct p = *given;
    tmm_status status = TMM_OK;
    p.triangle = 0;
    p.M = p.N = rows, p.A = given->A + row * p.rsA, p.B = given->B + row * p.csB;
    p.C = square, p.ldc = rows, p.strideC = squares.stride;
    if (!((TMM_SUM)p.beta == 0)) status = tmm__xmirror(given, rows, count, &diagonal, &squares, 3);
    if (status == TMM_OK) status = tmm__xsome(kernel, &p, count, batch);
    if (status == TMM_OK) status = tmm__xmirror(given, rows, count, &squares, &diagonal, 1);
    if (status != TMM_OK || row == 0) return status;
    p.ldc = given->ldc, p.strideC = given->strideC;
    if (given->triangle == TMM__LOWER)
        p.N = row, p.B = given->B, p.C = given->C + row * p.ldc;
    else
        p.M = row, p.A = given->A, p.C = given->C + row;
    return tmm__xsome(kernel, &p, count, batch);
}

/* A batch by a kernel without a schedule for triangles: strip after strip. Where the first strips find no
   memory, they are halved. */
static inline tmm_status tmm__xstrips(tmm_kernel kernel, const tmm__xproduct *given,
                                      long long batch)
{
    const long long most = TMM__SYRK_BYTES(64 << 20); /* if there is a choice */
    tmm__xproduct p = *given;
    long long rows = tmm__xstrip_rows(p.N), count;
    TMM_OUT *square = NULL;
    tmm_status status = TMM_OK;
    if (p.K == 0 || (TMM_SUM)p.alpha == 0) /* A is not read, and may be NULL: no offsets to it */
        p.K = 0, p.alpha = (TMM_SCALAR)0, p.rsA = p.csA = p.rsB = p.csB = p.strideA = p.strideB = 0;
    for (;; rows = (rows + 1) / 2) {
        const long long bytes = rows * rows * (long long)sizeof(TMM_OUT);
        count = tmm__min(tmm__min(batch, TMM__MOST_GRID), bytes < most ? most / bytes : 1);
        square = (TMM_OUT *)tmm__workspace((size_t)(count * bytes), p.stream);
        if (square != NULL) break;
        if (rows <= 64)
            return tmm__fail(TMM_ERROR_MEMORY, "no memory for a block of C: %lld bytes", bytes);
    }
    for (long long first = 0; first < batch && status == TMM_OK; first += count) {
        const long long some = tmm__min(batch - first, count);
        p.A = p.K > 0 ? given->A + first * p.strideA : NULL, p.B = p.A;
        p.C = given->C + first * p.strideC;
        for (long long row = 0; row < p.N && status == TMM_OK; row += rows)
            status = tmm__xstrip(kernel, &p, row, tmm__min(rows, p.N - row), square, some, batch);
    }
    (void)cudaFreeAsync(square, p.stream);
    return status;
}

/* The kernel for TMM_AUTO or TMM_AUTO_TENSOR: one with a schedule for triangles, or else what is given,
   to choose for each strip. */
static inline tmm_kernel tmm__xsyrk_choice(tmm_kernel kernel, const tmm__xproduct *p,
                                           long long batch)
{
    const int tensor = TMM__IS_DOUBLE || TMM__HALF_TENSOR != 0;
    const tmm_kernel by_tiles = tensor ? TMM_TENSOR : TMM_PIPELINED;
    const tmm__xkernel *row = tmm__xrow(by_tiles);
    const tmm__xproduct compared = tmm__xcompared(p, batch, 0);
    if (row == NULL || row->competes == NULL || !tmm__xeligible(row, &compared)) return kernel;
    tmm__xproduct all = *p;
    all.triangle = 0;
    const double time = tmm__xknown_plan(by_tiles, p, batch)->time;
    const double whole = tmm__xknown_plan(kernel, &all, batch)->time;
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    const double rows = (double)tmm__xstrip_rows(p->N), strips = ceil((double)p->N / rows);
    const double copies = (TMM_SUM)p->beta == 0 ? 1 : 2;
    const double bytes = (double)sizeof(TMM_OUT) * rows * p->N * (double)batch;
    const double by_strips = whole * (strips + 1) / (2 * strips) +
                             (strips * (copies + 2) - 2) * gpu->launch +
                             copies * 1.5 * bytes / gpu->memory;
    return time <= by_strips ? by_tiles : kernel;
}

/* The checks of all forms, and the product. */
static inline tmm_status tmm__xsyrk_begin(tmm__operands *o, tmm__xproduct *p, tmm_fill fill)
{
    if (fill != TMM_LOWER && fill != TMM_UPPER && fill != TMM_BOTH)
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "fill is %d, neither TMM_LOWER, TMM_UPPER nor TMM_BOTH", (int)fill);
    if (o->opA != TMM_OP_N && o->opA != TMM_OP_T)
        return tmm__fail(TMM_ERROR_ARGUMENT, "op is %d, neither TMM_OP_N nor TMM_OP_T",
                         (int)o->opA);
    if (o->N < 0) return tmm__fail(TMM_ERROR_ARGUMENT, "N is negative: %lld", o->N);
    o->opB = o->opA == TMM_OP_N ? TMM_OP_T : TMM_OP_N;
    o->M = o->N, o->B = o->A, o->ldb = o->lda;
    *p = tmm__xmake_product(o->opA, o->opB, o->N, o->N, o->K, o->lda, o->lda);
    p->A = p->B = (const TMM_TYPE *)o->A;
    p->ldc = o->ldc;
    p->triangle = fill == TMM_UPPER ? TMM__UPPER : TMM__LOWER;
    return tmm__check_sizes(o);
}

TMM_API tmm_status tmm__xsyrk_batched_with(tmm_kernel kernel, tmm_fill fill, tmm_op op, long long N,
                                           long long K, TMM_SCALAR alpha, const TMM_TYPE *A,
                                           long long lda, TMM_SCALAR beta, TMM_OUT *C,
                                           long long ldc, long long strideA, long long strideC,
                                           long long batch, tmm_stream stream)
{
    const long long strides[3] = {strideA, strideA, strideC};
    tmm__operands operands = {op,
                              op,
                              N,
                              N,
                              K,
                              A,
                              lda,
                              A,
                              lda,
                              C,
                              ldc,
                              sizeof(TMM_TYPE),
                              sizeof(TMM_OUT),
                              !((TMM_SUM)alpha == 0)};
    tmm__xproduct p;
    tmm_status status = tmm__xsyrk_begin(&operands, &p, fill);
    if (status == TMM_OK) status = tmm__xcheck_batch(&operands, strides, batch);
    if (status == TMM_OK && batch == 1) status = tmm__check_overlap(&operands);
#ifdef TMM_EPILOGUE
    if (status == TMM_OK)
        status = tmm__fail(TMM_ERROR_UNSUPPORTED, "tmm_?syrk cannot be used with a TMM_EPILOGUE");
#endif
    if (status != TMM_OK) return status;
    p.alpha = alpha, p.beta = beta, p.C = C, p.stream = stream;
    p.strideA = p.strideB = strideA, p.strideC = strideC;
    *tmm__device_of_product() = tmm__current_device();
    kernel = tmm__xstands_for(kernel, &p, batch);
    const int chooses = kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR;
    if (!chooses) status = tmm__xtakes(kernel, &p);
    if (status == TMM_OK && N > 0 && batch > 0) {
        if (chooses) kernel = tmm__xsyrk_choice(kernel, &p, batch);
        status = tmm__xhas_triangles(kernel) ? tmm__xbatch(kernel, &p, batch)
                                             : tmm__xstrips(kernel, &p, batch);
        const tmm__xmatrices all = {C, ldc, strideC};
        if (status == TMM_OK && fill == TMM_BOTH)
            status = tmm__xmirror(&p, N, batch, &all, &all, 2);
    }
    *tmm__device_of_product() = NULL;
    if (status == TMM_ERROR_CUDA && tmm__is_of_memory(cudaPeekAtLastError()))
        return tmm__blame_operand(&operands, status);
    return status;
}

TMM_API tmm_status tmm__xsyrk_with(tmm_kernel kernel, tmm_fill fill, tmm_op op, long long N,
                                   long long K, TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                   TMM_SCALAR beta, TMM_OUT *C, long long ldc, tmm_stream stream)
{
    return tmm__xsyrk_batched_with(kernel, fill, op, N, K, alpha, A, lda, beta, C, ldc, 0, 0, 1,
                                   stream);
}

TMM_API tmm_status tmm__xsyrk(tmm_fill fill, tmm_op op, long long N, long long K, TMM_SCALAR alpha,
                              const TMM_TYPE *A, long long lda, TMM_SCALAR beta, TMM_OUT *C,
                              long long ldc, tmm_stream stream)
{
    return tmm__xsyrk_with(TMM_AUTO, fill, op, N, K, alpha, A, lda, beta, C, ldc, stream);
}

TMM_API tmm_status tmm__xsyrk_cpu(tmm_fill fill, tmm_op op, long long N, long long K,
                                  TMM_SCALAR alpha, const TMM_TYPE *A, long long lda,
                                  TMM_SCALAR beta, TMM_OUT *C, long long ldc)
{
    const int reads = (TMM_SUM)alpha != 0;
    tmm__operands operands = {
        op, op, N, N, K, A, lda, A, lda, C, ldc, sizeof(TMM_TYPE), sizeof(TMM_OUT), reads};
    tmm__xproduct p;
    tmm_status status = tmm__xsyrk_begin(&operands, &p, fill);
    if (status == TMM_OK) status = tmm__check_overlap(&operands);
    if (status != TMM_OK || N == 0) return status;
    if (!reads) p.K = 0;
    p.alpha = p.K > 0 ? alpha : (TMM_SCALAR)0; /* which may be infinite */
    p.beta = beta, p.C = C;
    for (long long i = 0; i < N; i += TMM__CPU_ROWS)
        for (long long j = 0; j < N; j += TMM__CPU_COLS)
            if (p.triangle == TMM__LOWER ? j < i + TMM__CPU_ROWS : j + TMM__CPU_COLS > i)
                tmm__xcpu_block(&p, i, j);
    for (long long i = 0; fill == TMM_BOTH && i < N; i++)
        for (long long j = 0; j < i; j++) C[j * ldc + i] = C[i * ldc + j];
    return TMM_OK;
}
#endif
/* src/tiledmm/type/end.h. Names of a type are undone.
   Uses: nothing. Used by: type/begin.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS)
#if TMM__FLOAT_TENSOR /* what types on tensor cores share, the first of them makes */
#define TMM__FLOAT_ONCE
#endif
#if TMM__DOUBLE_TENSOR
#define TMM__DOUBLE_ONCE
#endif
#if TMM__HALF_TENSOR
#define TMM__HALF_ONCE
#endif
#undef TMM_NAME
#undef TMM_TYPE
#undef TMM_SUM
#undef TMM_SCALAR
#undef TMM_OUT
#undef TMM__ONE_TILE
#undef TMM__IF_FLOAT
#undef TMM__ALL_TILES
#undef TMM__IF_ALL_TILES
#undef TMM__IF_FLOATING
#undef TMM__LEFT_OUT
#undef TMM__IF_FAST
#undef TMM__IF_FAST_NOT_DOUBLE
#undef TMM__IF_FLOAT_FAST
#undef TMM__IF_TENSOR
#undef TMM__IF_INT8
#undef TMM__CONVERTS
#undef TMM__CONVERTING
#undef TMM__SHARED_TILE
#undef TMM__ASKED_TENSOR
#ifndef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif
/* src/tiledmm/ready_made.h. READY-MADE: float, double and int; half and bfloat16 on request.
   Uses: once/config.h. Used by: callers. */
#if !defined(TMM__PASS) && !defined(TMM__READY_MADE)
#define TMM__READY_MADE
#ifndef TMM_NO_READY_MADE
#define TMM__MAKING_READY /* they share the caller's TMM_TILE and TMM_EPILOGUE */
#define TMM_TYPE          float
#define TMM_NAME          s
#include TMM_HEADER
#ifndef TMM_NO_DOUBLE
#define TMM_TYPE double
#define TMM_NAME d
#include TMM_HEADER
#endif
#ifndef TMM_NO_INT
#define TMM_TYPE int
#define TMM_SUM  unsigned /* signed sums that overflow are undefined in C, these wrap */
#define TMM_NAME i
#include TMM_HEADER
#endif
#ifdef TMM_WITH_HALF
#define TMM_TYPE   tmm_half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   h
#include TMM_HEADER
#define TMM_TYPE   tmm_half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_OUT    float
#define TMM_NAME   hs
#include TMM_HEADER
#endif
#ifdef TMM_WITH_BFLOAT16
#define TMM_TYPE   tmm_bfloat16
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   b
#include TMM_HEADER
#define TMM_TYPE   tmm_bfloat16
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_OUT    float
#define TMM_NAME   bs
#include TMM_HEADER
#endif
#undef TMM__MAKING_READY
#undef TMM_TILE
#undef TMM_EPILOGUE
#endif
#endif
/* src/tiledmm/once/give_back.h. Macros of the caller are as they were.
   Uses: once/set_aside.h. Used by: callers. */
#if !defined(TMM__PASS) && !defined(TMM__MAKING_READY) && !defined(__CUDACC_RTC__)
TMM__WORDS(TMM__POP)
#if TMM__HOST && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
/* ============================== HISTORY =======================================================
   0.1  kernels: global, shared, register, pipelined, small, skinny, tensor (double, float by
        halves); float, double, int and types of your own; batches; CPU reference; checks; from host
        memory and over several devices.

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
