/* What a device's units and memory give at most, measured by loops of nothing else. Included after
   tiledmm.cuh and cublas_v2.h. */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H
#include "race.h"
#include <cuda_fp16.h>

#ifdef __CUCC__ /* whose threads take turns: as little as can be */
enum { LOOP_ROUNDS = 16, DMMA_ROUNDS = 1, HALF_SIZE = 32, EACH_PROCESSOR = 1, DMMA_EACH = 1 };
static const size_t LEAST_POOL = (size_t)1 << 20;
#else
enum {
    LOOP_ROUNDS = 4096,
    DMMA_ROUNDS = 2048,
    HALF_SIZE = 8192,
    EACH_PROCESSOR = 4,
    DMMA_EACH = 2
};
static const size_t LEAST_POOL = (size_t)4 << 30; /* so that reading it is not L2's */
#endif
enum { LOOP_THREADS = 512, DMMA_THREADS = 256 };

/* Eight sums in registers a thread: multiply-adds and nothing else. */
#define DEFINE_LOOP(NAME, T, MULTIPLY_ADD)                                          \
    static __global__ void NAME(T x, T y, T *sink, int rounds)                      \
    {                                                                               \
        T sum[8], all = 0;                                                          \
        for (int n = 0; n < 8; n++) sum[n] = x * (T)(threadIdx.x + (unsigned)n);    \
        for (int r = 0; r < rounds; r++)                                            \
            _Pragma("unroll") for (int u = 0; u < 128; u++) sum[u % 8] =            \
                MULTIPLY_ADD(sum[u % 8], x, y);                                     \
        for (int n = 0; n < 8; n++) all += sum[n];                                  \
        if (all == (T)12345) *sink = all; /* never, but the compiler cannot know */ \
    }
#define WRAPPING(a, b, c) ((a) * (b) + (c))
DEFINE_LOOP(loop_ffma, float, __fmaf_rn)
DEFINE_LOOP(loop_dfma, double, __fma_rn)
DEFINE_LOOP(loop_imad, unsigned, WRAPPING)

/* Exact double products on the tensor cores: per warp 2 x 16 x 8 x 16 operations in one instruction
   from sm_90 on, 2 x 8 x 8 x 4 on sm_80. *shape says which this build has; 0: none. */
static __global__ void loop_dmma(double x, double *sink, int rounds, int *shape)
{
    double sum[4][4], all = 0, a[8], b[4];
    for (int n = 0; n < 8; n++) a[n] = x * (threadIdx.x + n);
    for (int n = 0; n < 4; n++) b[n] = x * (threadIdx.x + 31 * n);
    for (int n = 0; n < 16; n++) sum[n / 4][n % 4] = x * n;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int u = 0; u < 32; u++) {
            double *s = sum[u % 4];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                         "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                         : "+d"(s[0]), "+d"(s[1]), "+d"(s[2]), "+d"(s[3])
                         : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]),
                           "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, "
                         "{%0,%1};"
                         : "+d"(s[u / 4 % 2 * 2]), "+d"(s[u / 4 % 2 * 2 + 1])
                         : "d"(a[u % 8]), "d"(b[u % 4]));
#else
            s[0] += a[u % 8] * b[u % 4];
#endif
        }
    for (int n = 0; n < 16; n++) all += sum[n / 4][n % 4];
    if (all == 12345) *sink = all;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        *shape = 16;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        *shape = 8;
#else
        *shape = 0;
#endif
    }
}

/* Halves uniform in (-1, 1). */
static __global__ void fill_halves(__half *x, long long count, u64 seed)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step)
        x[n] = __float2half((float)((double)(long long)mix(seed + (u64)n) / 9223372036854775808.0));
}

typedef enum loop {
    LOOP_FFMA,
    LOOP_DFMA,
    LOOP_IMAD,
    LOOP_DMMA,
    LOOP_READ,
    LOOP_COPY,
    LOOP_HALF, /* by cuBLAS: FP16 with FP32 sums */
    LOOPS
} loop;

/* Operations or bytes in a second; 0: not measured. */
typedef struct limits {
    double rate[LOOPS];
    int dmma_shape;
    double launch[2]; /* microseconds of an empty kernel: on a stream, in a graph */
} limits;

static inline int call_loop(const device_race *r, const contender *c, int number)
{
    const device *d = r->d;
    double *sink = (double *)d->found;
    const unsigned blocks = (unsigned)(d->processors * EACH_PROCESSOR);
    const size_t half = d->pool_bytes / 2;
    (void)number;
    switch ((loop)c->number) {
    case LOOP_FFMA:
        loop_ffma<<<blocks, LOOP_THREADS, 0, d->stream>>>(0.999f, 0.001f, (float *)sink,
                                                          LOOP_ROUNDS);
        break;
    case LOOP_DFMA:
        loop_dfma<<<blocks, LOOP_THREADS, 0, d->stream>>>(0.999, 0.001, sink, LOOP_ROUNDS / 16);
        break;
    case LOOP_IMAD:
        loop_imad<<<blocks, LOOP_THREADS, 0, d->stream>>>(69069u, 12347u, (unsigned *)sink,
                                                          LOOP_ROUNDS);
        break;
    case LOOP_DMMA:
        loop_dmma<<<(unsigned)(d->processors * DMMA_EACH), DMMA_THREADS, 0, d->stream>>>(
            0.01237, sink, DMMA_ROUNDS, (int *)(d->found + 1));
        break;
    case LOOP_READ:
        read_all<<<(unsigned)(d->pool_bytes / READ_BYTES), 256, 0, d->stream>>>((uint4 *)d->pool,
                                                                                (unsigned *)sink);
        break;
    case LOOP_COPY:
        must(cudaMemcpyAsync(d->pool, (char *)d->pool + half, half, cudaMemcpyDeviceToDevice,
                             d->stream),
             "copy");
        break;
    default: {
        static const float one = 1, zero = 0;
        const size_t cells = (size_t)HALF_SIZE * HALF_SIZE;
        __half *x = (__half *)d->pool;
        return cublasGemmEx(d->cublas, CUBLAS_OP_N, CUBLAS_OP_N, HALF_SIZE, HALF_SIZE, HALF_SIZE,
                            &one, x, CUDA_R_16F, HALF_SIZE, x + cells, CUDA_R_16F, HALF_SIZE, &zero,
                            x + 2 * cells, CUDA_R_16F, HALF_SIZE, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
    }
    }
    return 1;
}

/* Operations, or bytes, of one call. */
static inline double amount_of(const device *d, const limits *l, loop n)
{
    const double threads = (double)d->processors * EACH_PROCESSOR * LOOP_THREADS;
    switch (n) {
    case LOOP_DFMA: return 2 * threads * 128 * (LOOP_ROUNDS / 16);
    case LOOP_DMMA:
        return (l->dmma_shape == 16 ? 4096.0 : 512.0) * 32 * DMMA_ROUNDS * d->processors *
               DMMA_EACH * DMMA_THREADS / 32;
    case LOOP_READ: return (double)(d->pool_bytes / READ_BYTES * READ_BYTES);
    case LOOP_COPY: return (double)(d->pool_bytes / 2 * 2);
    case LOOP_HALF: return 2.0 * HALF_SIZE * HALF_SIZE * HALF_SIZE;
    default: return 2 * threads * 128 * LOOP_ROUNDS;
    }
}

static inline contender loop_contender(loop n)
{
    contender c;
    memset(&c, 0, sizeof c);
    c.call = call_loop, c.number = (int)n;
    return c;
}

/* All limits; that of halves only if it is wanted. */
static inline void measure_limits(const device_race *r, limits *l, int halves)
{
    const device *d = r->d;
    const long long cells = 2ll * HALF_SIZE * HALF_SIZE;
    int *shape = (int *)(d->found + 1);
    memset(l, 0, sizeof *l);
    must(cudaMemset(d->found, 0, 2 * sizeof *d->found), "memory");
    loop_dmma<<<1, 32, 0, d->stream>>>(1, (double *)d->found, 0, shape);
    must(cudaStreamSynchronize(d->stream), "kernel");
    must(cudaMemcpy(&l->dmma_shape, shape, sizeof(int), cudaMemcpyDeviceToHost), "copy");
    if (SLICE > 0) measure_launch(d->stream, d->processors, l->launch);
    for (int n = 0; n < (int)LOOPS; n++) {
        contender c = loop_contender((loop)n);
        if (n == (int)LOOP_DMMA && l->dmma_shape == 0) continue;
        if (n == (int)LOOP_HALF) {
            if (!halves || d->pool_bytes < (size_t)cells * 3) continue;
            fill_halves<<<2048, 256, 0, d->stream>>>((__half *)d->pool, cells, 1);
        }
        (void)race(r, &c, 1, ON_STREAM);
        if (c.us > 0) l->rate[n] = amount_of(d, l, (loop)n) / (c.us * 1e-6);
    }
}
#endif
