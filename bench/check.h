/* Matrices on the device with guards around them, and the checks of products: what bench/gemm.cu
   and bench/shapes.cu share. Included after tiledmm.cuh, and as common.h needs it. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H
#include "common.h"

static const double type_unit[3] = {5.9604644775390625e-8, 1.1102230246251565e-16, 0}; /* u */
static size_t type_size(tmm_type type)
{
    return type == TMM_DOUBLE ? sizeof(double) : 4;
}

/* ---------------------------------- matrices on the device ------------------------------------ */
/* A matrix with all that surrounds it: guard cells, then `batch` times rows x cols with leading
   dimension ld, then guard cells again. */
enum { GUARD = 1024 };
typedef struct matrix {
    void *start;     /* of the first guard; 512-byte aligned */
    long long first; /* cells before the matrix: GUARD + offset */
    long long rows, cols, ld, batch;
} matrix;

static long long matrix_cells(const matrix *m)
{
    return m->first + m->batch * m->rows * m->ld + GUARD;
}
static size_t matrix_bytes(const matrix *m, tmm_type type)
{
    return ((size_t)matrix_cells(m) * type_size(type) + 511) / 512 * 512;
}
static void *matrix_data(const matrix *m, tmm_type type)
{
    return (char *)m->start + (size_t)m->first * type_size(type);
}

static __device__ int inside(const matrix *m, long long cell)
{
    long long at = cell - m->first;
    return at >= 0 && at < m->batch * m->rows * m->ld && at % m->ld < m->cols;
}

/* Elements uniform in (-1, 1), never 0 and never 1, or any int; all other cells keep what they
   hold. 1 - 2^-53 would be 1 as a float: the nearest below 1 is taken. */
static __global__ void fill_random(tmm_type type, matrix m, long long cells, u64 seed)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x; c < cells; c += step) {
        if (!inside(&m, c)) continue;
        long long bits = (long long)mix(seed + (u64)c);
        double x = ((double)(bits >> 11) + 0.5) / 4503599627370496.0;
        if (type == TMM_FLOAT)
            ((float *)m.start)[c] = fminf(fmaxf((float)x, -0.99999994f), 0.99999994f);
        if (type == TMM_DOUBLE) ((double *)m.start)[c] = x;
        if (type == TMM_INT) ((int *)m.start)[c] = (int)bits;
    }
}

static __device__ double load(tmm_type type, const void *x, long long at)
{
    return type == TMM_FLOAT ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

/* ---------------------------------- checks on the device -------------------------------------- */
enum { LISTED = 64 };
typedef struct findings {
    u64 unwritten; /* elements of C that still hold the poison */
    u64 outside;   /* cells around C that do not */
    u64 infinite;  /* elements that are infinite or no number */
    u64 differing; /* elements too far from the peer's */
    u64 wrong;     /* ints that are not the reference */
    u64 checksum;
    u64 error;            /* largest |C - Cref| / (|A||B|), the bits of a double */
    long long at[LISTED]; /* where ints equal to the poison are: they may be right */
} findings;

static __device__ int poisoned(tmm_type type, const void *x, long long at)
{
    return type == TMM_DOUBLE ? ((const u64 *)x)[at] == ~0ull : ((const unsigned *)x)[at] == ~0u;
}

/* Every cell of C: written inside, untouched outside; and a sum over its bits. */
static __global__ void check_cells(tmm_type type, matrix m, long long cells, findings *f)
{
    long long step = (long long)gridDim.x * blockDim.x;
    u64 sum = 0;
    for (long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x; c < cells; c += step) {
        int untouched = poisoned(type, m.start, c);
        if (!inside(&m, c)) {
            if (!untouched) atomicAdd(&f->outside, 1ull);
            continue;
        }
        if (untouched) {
            u64 n = atomicAdd(&f->unwritten, 1ull);
            if (n < LISTED) f->at[n] = c - m.first;
        } else if (type != TMM_INT && !isfinite(load(type, m.start, c))) {
            atomicAdd(&f->infinite, 1ull);
        }
        u64 bits = type == TMM_DOUBLE ? ((const u64 *)m.start)[c] : ((const unsigned *)m.start)[c];
        sum += mix(bits + mix((u64)c));
    }
    for (int lane = 16; lane; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(&f->checksum, sum);
}

/* Every element against the peer's. */
static __global__ void check_peer(tmm_type type, matrix m, matrix peer, long long cells,
                                  double tolerance, findings *f)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x; c < cells; c += step) {
        if (!inside(&m, c)) continue;
        if (type == TMM_INT
                ? ((const int *)m.start)[c] != ((const int *)peer.start)[c]
                : !(fabs(load(type, m.start, c) - load(type, peer.start, c)) <= tolerance))
            atomicAdd(&f->differing, 1ull);
    }
}

/* What was multiplied, as the checks read it. */
typedef struct operands {
    tmm_type type;
    tmm_op opA, opB;
    matrix A, B;
    u64 seed; /* of the samples */
} operands;

/* Where the operands of one element of C lie: cells of A and B at k = 0, and from one k to the
   next. */
typedef struct chain {
    long long a, b, aStep, bStep, K;
} chain;

/* Of row `row` of a matrix C, counted over the batch, whose products have `rows` each. */
static __device__ chain chain_of(const operands *q, long long rows, long long row, long long col)
{
    const int turnA = q->opA == TMM_OP_T, turnB = q->opB == TMM_OP_T;
    const long long batch = row / rows, i = row % rows;
    chain c;
    c.aStep = turnA ? q->A.ld : 1, c.bStep = turnB ? 1 : q->B.ld;
    c.a = q->A.first + batch * q->A.rows * q->A.ld + i * (turnA ? 1 : q->A.ld);
    c.b = q->B.first + batch * q->B.rows * q->B.ld + col * (turnB ? q->B.ld : 1);
    c.K = turnA ? q->A.rows : q->A.cols;
    return c;
}

/* hi + lo is a sum with a rounding error of lo alone, size the sum of magnitudes. */
typedef struct exact_sum {
    double hi, lo, size;
} exact_sum;

/* s += x (two-sum). */
static __device__ void add_exact(exact_sum *s, double x)
{
    double sum = __dadd_rn(s->hi, x), b = __dsub_rn(sum, s->hi);
    s->lo = __dadd_rn(s->lo, __dadd_rn(__dsub_rn(s->hi, __dsub_rn(sum, b)), __dsub_rn(x, b)));
    s->hi = sum;
}

/* The products of k = first, first + step and so on (two-product). A is multiplied by `scale`, a
   power of two that keeps them from underflowing. */
static __device__ exact_sum sum_products(const operands *q, const chain *c, long long first,
                                         long long step, double scale)
{
    exact_sum s = {0, 0, 0};
    for (long long k = first; k < c->K; k += step) {
        const double x = scale * load(q->type, q->A.start, c->a + k * c->aStep);
        const double y = load(q->type, q->B.start, c->b + k * c->bStep);
        const double product = __dmul_rn(x, y);
        add_exact(&s, product);
        s.lo = __dadd_rn(s.lo, __fma_rn(x, y, -product));
        s.size += fabs(product);
    }
    return s;
}

/* A warp per sample. C is cut into squares of `edge` and a random element of each is taken;
   with `listed` it is the elements f->at[0 .. listed) instead. */
static __global__ void check_samples(operands q, matrix m, int edge, long long samples, u64 listed,
                                     findings *f)
{
    long long sample = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (sample >= samples) return;
    long long row, col, rows = m.batch * m.rows, across = (m.cols - 1) / edge + 1;
    if (listed) {
        row = f->at[sample] / m.ld;
        col = f->at[sample] % m.ld;
    } else {
        u64 h = mix(q.seed + (u64)sample);
        long long i0 = sample / across * edge, j0 = sample % across * edge;
        row = i0 + (long long)((h >> 32) % (u64)(rows - i0 < edge ? rows - i0 : edge));
        col = j0 + (long long)((h & 0xffffffffu) % (u64)(m.cols - j0 < edge ? m.cols - j0 : edge));
    }
    const chain at = chain_of(&q, m.rows, row, col);
    const long long c = m.first + row * m.ld + col;
    if (q.type == TMM_INT) {
        unsigned sum = 0;
        for (long long k = lane; k < at.K; k += 32)
            sum += ((const unsigned *)q.A.start)[at.a + k * at.aStep] *
                   ((const unsigned *)q.B.start)[at.b + k * at.bStep];
        for (int n = 16; n; n /= 2) sum += __shfl_xor_sync(~0u, sum, n);
        if (lane == 0 && sum != ((const unsigned *)m.start)[c]) atomicAdd(&f->wrong, 1ull);
        return;
    }
    exact_sum s = sum_products(&q, &at, lane, 32, 1);
    for (int n = 16; n; n /= 2) {
        double other = __shfl_xor_sync(~0u, s.hi, n), rest = __shfl_xor_sync(~0u, s.lo, n);
        s.size += __shfl_xor_sync(~0u, s.size, n);
        add_exact(&s, other);
        s.lo = __dadd_rn(s.lo, rest);
    }
    if (lane != 0) return;
    double error = fabs(__dsub_rn(__dsub_rn(load(q.type, m.start, c), s.hi), s.lo)) / s.size;
    if (!(error <= 1e300)) error = 1e300;
    atomicMax(&f->error, (u64)__double_as_longlong(error));
}
#endif
