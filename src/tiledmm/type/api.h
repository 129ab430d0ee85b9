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

#ifdef TMM_WITH_EPILOGUE
/* C = activation(alpha op(A) op(B) + beta C + row_bias + col_bias) + gamma D, in the precision of the
   sums, TMM_SUM, rounded once to C; then TMM_EPILOGUE, if there is one. See tmm_epilogue; NULL: as
   gemm_with. K = 0 and alpha = 0 have it, too: C = activation(beta C + biases) + gamma D.
     The activation itself is within 8 2^-24 |x| in float, half and bfloat16, 8 2^-53 |x| in double.
   It passes on errors of x times 1.13 at most. All kernels give the same bits for the same x.
     Errors: as gemm_with; TMM_ERROR_ARGUMENT: no tmm_activation, gamma without D, ldd below N, a
   bias or D that has an element of C, gamma that is none of the integers' numbers;
   TMM_ERROR_UNSUPPORTED: GELU or SiLU of integers. */
TMM_API tmm_status tmm__xgemm_epilogue(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                       long long N, long long K, TMM_SCALAR alpha,
                                       const TMM_TYPE *A, long long lda, const TMM_TYPE *B,
                                       long long ldb, TMM_SCALAR beta, TMM_OUT *C, long long ldc,
                                       const tmm_epilogue *epilogue, tmm_stream stream);
TMM_API tmm_status tmm__xgemm_batched_epilogue(
    tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M, long long N, long long K,
    TMM_SCALAR alpha, const TMM_TYPE *A, long long lda, const TMM_TYPE *B, long long ldb,
    TMM_SCALAR beta, TMM_OUT *C, long long ldc, long long strideA, long long strideB,
    long long strideC, long long batch, const tmm_epilogue *epilogue, tmm_stream stream);

/* The same on the CPU, host pointers, as gemm_cpu; activations by way of double. TMM_EPILOGUE is not
   applied. */
TMM_API tmm_status tmm__xgemm_cpu_epilogue(tmm_op opA, tmm_op opB, long long M, long long N,
                                           long long K, TMM_SCALAR alpha, const TMM_TYPE *A,
                                           long long lda, const TMM_TYPE *B, long long ldb,
                                           TMM_SCALAR beta, TMM_OUT *C, long long ldc,
                                           const tmm_epilogue *epilogue);
#endif

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
