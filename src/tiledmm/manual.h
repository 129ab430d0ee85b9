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
   With TMM_WITH_EPILOGUE (OPTIONS): what comes after the product, in the kernel that stores C:
     tmm_sgemm_epilogue(kernel, opA, ..., ldc, epilogue, stream)   epilogue: tmm_epilogue or NULL
     tmm_sgemm_batched_epilogue(kernel, opA, ..., batch, epilogue, stream)
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
     tmm_sgemm_cpu_epilogue(opA, ..., ldc, epilogue)     with TMM_WITH_EPILOGUE
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
                        double, half, bfloat16: TMM_TENSOR where that is fast, else TMM_REGISTER
     TMM_TENSOR         on tensor cores. double: worth it where these are fast for double (sm_80,
                        sm_90, sm_100), elsewhere right but slow. float, with TMM_FLOAT_TENSOR
                        (OPTIONS): operands are split in halves of 16 bits, elements of C for which
                        these do not suffice are summed in float; so the error has the bound of
                        every kernel (MEASURED). Needs sm_90, compiled for sm_90a, to be fast, or
                        sm_80 on; elsewhere right but slow. With 2 to 512 rows or columns it may
                        read the other operand once, and split it into three BF16 in registers.
                        For K below 64, and on sm_90 for M or N above 2^24, as TMM_AUTO.
                        half and bfloat16 (OPTIONS): as they are, with sums in float; fast from sm_75
                        on, bfloat16 from sm_80 on, on sm_90 compiled for sm_90a
     TMM_TENSOR_INT8    double on tensor cores that multiply bytes, with TMM_DOUBLE_TENSOR (OPTIONS):
                        A and B are scaled, rounded to integers and split into residues modulo 13
                        to 16 numbers; elements of C for which the bound is not proved are summed
                        in double; so the error has the bound of every kernel (MEASURED). Needs
                        sm_90, compiled for sm_90a, or a device whose units of double are few, to
                        be fast. For K below 16 as TMM_AUTO. Takes up to a quarter of the
                        device's memory; where it gets none, as TMM_PIPELINED
     TMM_SMALL          for a small C, or many: tiles of 16 x 16 to 32 x 64, each by 1 to 8 warps
                        that share out k; double to 32 x 32, on tensor cores from sm_80 on; of 16
                        bits as TMM_PIPELINED
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
     Of half and bfloat16 TMM_PIPELINED, TMM_NARROW and TMM_SMALL have the bits of TMM_TENSOR where
     that stands for them.
     [1] Slices depend on the shape, the ops, strides and alignment of A and B, the device, memory
         for partial sums (LIMITS), and how many products a batch has, but not on the position in it.
     [2] The bits depend on other elements of A and B, too, if those of a row or a column
         differ by more than 2^28; and on whether one of both is prepared.
     [3] The bits depend on all of A and B, by the number of moduli (16 with a prepared operand, or
         FP64 for all), but not on the blocks of tmm_?gemm_host.
     C must not overlap A or B, where these are read, nor the products of a batch each other: an
     element that both have is TMM_ERROR_ARGUMENT. C may lie in the gaps of A, in one matrix.
     Macros that the program has defined before the include change nothing here and are as they were
     after it: names in capitals, letters, alpha, lda, tile, min, small and others (once/set_aside.h).
     For NVRTC define them after it. TMM_EPILOGUE may use them;
     TMM_TILE is a number, not the name of such a macro.

   OPTIONS, defined before the first include of a file
     TMM_IMPLEMENTATION  in one .cu file: emits the functions with C linkage, for C and C++ callers
     TMM_EXTERN          in a .cu file: declarations of those functions only. A .c or .cpp file
                         (no nvcc) gets declarations without asking
     TMM_HEADER          the name of this file in quotes, if you give it another: it includes itself
     TMM_NO_DOUBLE, TMM_NO_INT   no tmm_d..., no tmm_i... functions: half of the compile time,
                         if all you multiply is float
     TMM_NO_FLOAT_C      no tmm_hs..., no tmm_bs...: half of what the types of 16 bits take to compile
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
                         16 `bits`); sums, alpha and beta are float. tmm_hsgemm, ...: C is float, too.
                         NVRTC then needs the folder of CUDA's own headers, by -I
     TMM_WITH_BFLOAT16   the same for tmm_bfloat16, which is __nv_bfloat16: tmm_bgemm, tmm_bsgemm, ...
                         Of both, tmm_?gemm_host and _multi take TMM_TENSOR with TMM_AUTO_TENSOR alone,
                         for its bits are those of one kind of device; tmm_?matmul does
     TMM_WITH_EPILOGUE   tmm_?gemm_epilogue, for every kernel and type:
                           C = activation(alpha op(A) op(B) + beta C + row_bias + col_bias) + gamma D
                         with M biases of rows, N of columns, TMM_RELU, TMM_GELU_TANH, TMM_GELU_ERF
                         or TMM_SILU, and D, M x N, for a residual, all three of C's type; what is NULL
                         or 0 is left out, and not read. A column-major caller swaps row_bias and
                         col_bias with A and B. It is computed as the sums are, and C is rounded once.
                         Without this option kernels are as they were. Not for host pointers and
                         several devices, operands that are prepared, and NVRTC; integers have
                         TMM_RELU alone
     TMM_WITH_SYRK       tmm_?syrk of all types. TMM_PIPELINED, and TMM_TENSOR of double and of 16 bits,
                         then know triangles; others compute C in strips, with more work than half.
                         Of TMM_LOWER and TMM_UPPER the other half is neither read nor written; of
                         TMM_BOTH the lower half is read, and both are equal. No TMM_EPILOGUE
     TMM_KERNEL          qualifiers of the kernels, default static __global__; under NVRTC
                         extern "C" __global__, so that names stay plain: tmm_sgemm_shared_16.
                         For PyCUDA, which wraps the source in extern "C", define it __global__
     TMM_EPILOGUE(value, row, col)  an expression applied to each finished element of C on the
                         device, after it is rounded and last of all: e.g. a clamp, or bias[col] with a
                         __device__ or __constant__ bias

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
   what products lose that are smaller than the smallest normal number. TMM_TENSOR of both: v =
   2^-149, and in |A| and |B| a half below 2^-14 that is not 0 counts as 2^-14, as in cuBLAS.

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
                KERNEL NARROW, KERNEL TENSOR, KERNEL TENSOR HALF, KERNEL THIN HALF, KERNEL TINY HALF,
                KERNEL ALIGN, KERNEL TENSOR FLOAT, KERNEL TENSOR INT8, and the PLAN and LAUNCHER of each
                The sizes of tiles are in lists of instances: search for _LIST(_)
     type/      CHOICE of TMM_AUTO, calls on the device, HOST LAYER, CPU REFERENCE
     READY-MADE, licence */
