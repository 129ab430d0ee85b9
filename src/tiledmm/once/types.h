/* src/tiledmm/once/types.h. Statuses, kernels, options of calls.
   Uses: nothing.
   Used by: checks.h, ready_made.h, host/, kernels/common/finish.cuh, launch/, once/, type/,
   kernels/. */
#ifndef TMM__ONCE
/* Elements of 16 bits: CUDA's types, or in C and C++ without CUDA what has their size. Included here,
   where macros of the caller are set aside: CUDA's headers have words such as half and width. */
#ifdef TMM_WITH_HALF
#ifdef __CUDACC__
#if defined(__CUDA_NO_HALF_CONVERSIONS__) && !defined(TMM_EXTERN) /* PyTorch's builds define it */
#error "tiledmm.cuh: TMM_WITH_HALF converts __half: compile with -U__CUDA_NO_HALF_CONVERSIONS__"
#endif
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
#if defined(__CUDA_NO_BFLOAT16_CONVERSIONS__) && !defined(TMM_EXTERN)
#error "tiledmm.cuh: TMM_WITH_BFLOAT16: compile with -U__CUDA_NO_BFLOAT16_CONVERSIONS__"
#endif
#include <cuda_bf16.h>
typedef __nv_bfloat16 tmm_bfloat16;
#else
typedef struct tmm_bfloat16 {
    unsigned short bits;
} tmm_bfloat16;
#endif
#endif
#endif

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

/* Of 16 bits for the checks of results: the last two have A and B of 16 bits and C in float. */
typedef enum tmm_type TMM__INT {
    TMM_FLOAT = 0,
    TMM_DOUBLE,
    TMM_INT,
    TMM_HALF,
    TMM_BFLOAT16,
    TMM_HALF_FLOAT,
    TMM_BFLOAT16_FLOAT
} tmm_type;

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

#ifdef TMM_WITH_EPILOGUE
typedef enum tmm_activation TMM__INT {
    TMM_IDENTITY = 0, /* none */
    TMM_RELU,         /* 0 where x < 0, else x */
    TMM_GELU_TANH,    /* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
    TMM_GELU_ERF,     /* x / 2 (1 + erf(x / sqrt(2))) */
    TMM_SILU          /* x / (1 + exp(-x)) */
} tmm_activation;

/* What tmm_?gemm_epilogue does with a product: C = activation(alpha op(A) op(B) + beta C + row_bias
   + col_bias) + gamma D. In C: tmm_epilogue e = {0}. Biases and D are of C's type, on the device
   (tmm_?gemm_cpu_epilogue: on the host), and have no element in common with C. */
typedef struct tmm_epilogue {
    const void *row_bias; /* M elements, one for each row of C; NULL: none */
    const void *col_bias; /* N elements, one for each column of C; NULL: none */
    tmm_activation activation;
    double gamma;  /* 0: D is not read */
    const void *D; /* M x N */
    long long ldd; /* N at least */
    /* In a batch, from product to product, in elements; 0: shared. */
    long long row_bias_stride, col_bias_stride, strideD;
} tmm_epilogue;
#endif

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
