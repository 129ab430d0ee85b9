/* bench/gemm.cu - the products of tiledmm.cuh beside cuBLAS, and both beside what the device's
   units and memory were measured to give in the same run.

   Build   nvcc -O3 -arch=native bench/gemm.cu -lcublas -lcublasLt -o gemm
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native)
   Run     ./gemm                    the whole list: float, double, int; about two minutes
           ./gemm --type float --shape 4096,4096,4096 --kernel auto --kernel register_128
           ./gemm --help

   A row is one kernel of ours at one shape:
   - Inputs are new for each shape: uniform in (-1, 1) with a full significand, or all 32 bits of an
     int; with --phi P (u - 0.5) exp(P z), u uniform in (0, 1) and z normal: the wider, the more a
     product of bytes needs. Whatever lies between and around the matrices is NaN.
   - C is poisoned before the call that is checked. Then every element must have been written and
     nothing outside the M x N part. At least 4096 elements (all, or about 65536 spread evenly over
     C) are compared with a sum in twice the precision of double: the column "error" is the largest
     |C - Cref| / (|A||B|)_ij, and must keep (K + 2) u. It must also keep 32 u, which every strict
     order of summation does by far on such inputs, and TF32 does not. All elements are compared
     with those of cuBLAS (int: of TMM_SHARED_32). With --phi the bound alone is asked: cuBLAS's own
     error passes 32 u there. A call after the timing must give the same bits.
   - Times: at least --ms milliseconds of each contender, in slices of about 25 ms of calls back to
     back, ours and theirs in turn, so that they share clocks and power; the median of the slices,
     per call. Of ours a call that does not count begins each slice. Below 100 us per call also the
     time in a CUDA graph of 20 calls, replayed.
   - Theirs are cublas?gemm with a default handle (strict: no TF32, no emulation); of the first
     eight algorithms that cublasLt proposes the fastest that is strict; for one row or column also
     cublas?gemv. "ratio" is the time of cublas?gemm over ours: above 1, ours is faster.
   - TMM_AUTO_TENSOR, for float and large products of double, TMM_TENSOR of float and
     TMM_TENSOR_INT8 are each timed beside cublas?gemm alone, --tensor-ms milliseconds each: a row
     of their own, with a time of cuBLAS of its own. For float its limit of
     arithmetic is a third of what cuBLAS reaches with halves, since it takes three products of
     halves for one of floats. For double, by products of bytes, no limit was measured.
     "prepared_B", at one size: TMM_TENSOR where B was prepared beforehand.
   - The limit is whatever takes longest: 2 M N K operations by the fastest arithmetic loop of that
     type (tensor cores included where they are exact: double), A, B and C once through memory at
     the rate of a reading kernel, or an empty launch. For int, which cuBLAS does not have, the
     arithmetic loop takes its turn beside ours at each shape, so that both share the clock.
   "textbook" is the kernel of 32 x 32 tiles in shared memory that every course shows. */
#define TMM_FLOAT_TENSOR  0 /* compiled, but taken only where they are asked for */
#define TMM_DOUBLE_TENSOR 0
#include "../tiledmm.cuh"
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#define BENCH "gemm"
#include "check.h"
#include "probe.h"
#include <time.h>
#ifdef _WIN32
#include <io.h>
#define is_terminal(stream) _isatty(_fileno(stream))
#else
#include <unistd.h>
#define is_terminal(stream) isatty(fileno(stream))
#endif

static const char *const type_names[3] = {"float", "double", "int"};
static const char *const op_names[4] = {"nn", "nt", "tn", "tt"};

/* ---------------------------------- what is asked for ----------------------------------------- */
enum { MOST_POINTS = 256, MOST_KERNELS = 16, MOST_ROWS = 4096, MOST_PHI = 8, GRAPH_CALLS = 20 };
static const double GRAPH_BELOW = 100; /* microseconds */
static const double SLICE = 25e3;      /* microseconds */

/* Listed points make the means and are what the goals are about. */
typedef struct point {
    long long M, N, K, batch;
    int op; /* 2 if A is transposed + 1 if B is */
    int pad, offset;
    int listed;
    double phi; /* of the data; 0: uniform */
} point;

typedef struct options {
    int types[3]; /* which */
    point points[MOST_POINTS];
    int count;
    tmm_kernel kernels[MOST_KERNELS];
    int kernel_count;
    double ms, tensor_ms;
    double phi[MOST_PHI];
    int phi_count;
    int quick, whole_list, no_lt;
    const char *csv;
    u64 seed;
} options;

static void print_help(void)
{
    printf(
        "usage: gemm [options]\n"
        "Times the products of tiledmm.cuh beside cuBLAS, with checks, and measures the limits of\n"
        "the device. Without options: a list of shapes, in float, double and int.\n\n"
        "  --type float|double|int  only this type (repeatable)\n"
        "  --shape M,N,K            this shape instead of the list (repeatable; N alone: a "
        "square)\n"
        "  --op nn|nt|tn|tt         A and B as stored (n) or transposed (t) (repeatable)\n"
        "  --batch B                that many products at a time, for each --shape\n"
        "  --ld-pad P               leading dimensions P longer than needed\n"
        "  --offset E               matrices that begin E elements behind an aligned address\n"
        "  --phi P                  data (u - 0.5) exp(P z), P from 0 to 8, 0: uniform "
        "(repeatable)\n"
        "  --kernel NAME            this kernel of ours (repeatable; default auto):\n"
        "                          ");
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const char *name = tmm_kernel_string((tmm_kernel)k);
        printf("%s %s", k && k % 6 == 0 ? "\n                          " : "", name ? name : "");
    }
    printf("\n"
           "  --ms T                   milliseconds of each contender at each shape (default 200)\n"
           "  --tensor-ms T            the same for auto_tensor, tensor of float and tensor_int8\n"
           "                           (default 300)\n"
           "  --no-lt                  without the algorithms of cublasLt\n"
           "  --quick                  a short list, 60 and 100 ms\n"
           "  --csv FILE               writes the rows to FILE as well\n"
           "  --seed S                 repeats the inputs of another run\n"
           "  --help                   this text\n");
}

/* The kernel of that name, or -1: auto_tensor is not in every version of the header. */
static int find_kernel(const char *word)
{
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const char *name = tmm_kernel_string((tmm_kernel)k);
        if (word && name && strcmp(name, word) == 0) return k;
    }
    return -1;
}
static int is_auto_tensor(int kernel)
{
    return kernel >= 0 && kernel == find_kernel("auto_tensor");
}

static int find_word(const char *word, const char *const *words, int count)
{
    for (int n = 0; n < count; n++)
        if (word && words[n] && strcmp(word, words[n]) == 0) return n;
    return -1;
}

static void add_point(options *o, long long M, long long N, long long K, int op, int listed)
{
    point p = {M, N, K, 1, op, 0, 0, listed, 0};
    if (o->count < MOST_POINTS) o->points[o->count++] = p;
}

/* A number from 0 to 8 in decimal digits. */
static int parse_phi(const char *value, double *phi)
{
    char *rest = NULL;
    if (!value || strspn(value, "0123456789.") != strlen(value) || !*value) return 0;
    *phi = strtod(value, &rest);
    return *rest == 0 && *phi <= 8;
}

/* Every point with every --phi, all shapes of one before the next. */
static void spread_points(options *o)
{
    int count = o->count;
    for (int f = 0; f < o->phi_count; f++)
        for (int n = 0; n < count && (f == 0 || o->count < MOST_POINTS); n++) {
            if (f > 0) o->points[o->count++] = o->points[n];
            o->points[f == 0 ? n : o->count - 1].phi = o->phi[f];
        }
}

static void add_default_points(options *o)
{
    static const short unlisted[3] = {32, 64, 128};
    static const short squares[20] = {256,  320,  384,  512,   768,   1000, 1024,
                                      1536, 2048, 3000, 3072,  4096,  5000, 5120,
                                      6144, 7777, 8192, 10000, 12288, 16384};
    static const int others[10][3] = {{4099, 4097, 4095}, {8192, 8192, 128},  {128, 128, 65536},
                                      {16384, 16, 16384}, {16384, 64, 16384}, {1, 8192, 8192},
                                      {8192, 1, 8192},    {100000, 64, 64},   {64, 100000, 64},
                                      {2048, 2048, 20000}};
    static const short turned[3] = {1024, 5000, 8192};
    static const short batches[3][2] = {{16, 10000}, {64, 1000}, {128, 200}};
    for (int n = 0; n < 3; n++) add_point(o, unlisted[n], unlisted[n], unlisted[n], 0, 0);
    for (int n = 0; n < 20; n++) add_point(o, squares[n], squares[n], squares[n], 0, 1);
    for (int n = 0; n < 10; n++) add_point(o, others[n][0], others[n][1], others[n][2], 0, 1);
    for (int n = 0; n < 3; n++)
        for (int op = 1; op < 4; op++) add_point(o, turned[n], turned[n], turned[n], op, 1);
    add_point(o, 4096, 4096, 4096, 0, 1); /* ld 4097, one element behind an aligned address */
    o->points[o->count - 1].pad = o->points[o->count - 1].offset = 1;
    for (int n = 0; n < 3; n++) {
        add_point(o, batches[n][0], batches[n][0], batches[n][0], 0, 0);
        o->points[o->count - 1].batch = batches[n][1];
    }
}

static void add_quick_points(options *o)
{
    static const short squares[5] = {64, 256, 1024, 3072, 4096};
    for (int n = 0; n < 5; n++) add_point(o, squares[n], squares[n], squares[n], 0, 1);
    add_point(o, 4099, 4097, 4095, 0, 1);
    add_point(o, 16384, 16, 16384, 0, 1);
    add_point(o, 1, 8192, 8192, 0, 1);
    add_point(o, 1024, 1024, 1024, 3, 1);
    add_point(o, 64, 64, 64, 0, 0);
    o->points[o->count - 1].batch = 1000;
}

static int parse_options(int count, char **words, options *o)
{
    int ops[4] = {0, 0, 0, 0}, any_op = 0, any_type = 0, shapes = 0;
    long long shape[64][3], number, batch = 0, pad = -1, offset = -1;
    memset(o, 0, sizeof *o);
    o->seed = (u64)time(NULL);
    for (int n = 1; n < count; n++) {
        const char *word = words[n], *value = n + 1 < count ? words[n + 1] : NULL, *rest;
        const char *shown = value ? value : "nothing";
        int found;
        if (strcmp(word, "--help") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--quick") == 0 || strcmp(word, "--no-lt") == 0) {
            *(word[2] == 'q' ? &o->quick : &o->no_lt) = 1;
            continue;
        } else if (strcmp(word, "--phi") == 0) {
            if (o->phi_count == MOST_PHI) return refuse("%s can be given 8 times", word);
            if (!parse_phi(value, &o->phi[o->phi_count++]))
                return refuse("--phi is a number from 0 to 8, not '%s'", shown);
        } else if (strcmp(word, "--type") == 0) {
            found = find_word(value, type_names, 3);
            if (found < 0) return refuse("--type is float, double or int, not '%s'", shown);
            o->types[found] = any_type = 1;
        } else if (strcmp(word, "--op") == 0) {
            found = find_word(value, op_names, 4);
            if (found < 0) return refuse("--op is nn, nt, tn or tt, not '%s'", shown);
            ops[found] = any_op = 1;
        } else if (strcmp(word, "--shape") == 0) {
            if (shapes == 64) return refuse("%s can be given 64 times", word);
            long long *s = shape[shapes++];
            rest = parse_number(value, ',', 1, 1 << 30, &s[0]);
            if (rest && !*rest && rest[-1] != ',') { /* one number: a square */
                s[1] = s[2] = s[0];
            } else {
                if (rest) rest = parse_number(rest, ',', 1, 1 << 30, &s[1]);
                if (!rest || rest[-1] != ',' || !parse_number(rest, 0, 1, 1 << 30, &s[2]))
                    return refuse("--shape is M,N,K or N, each from 1 to 2^30, not '%s'", shown);
            }
        } else if (strcmp(word, "--kernel") == 0) {
            found = find_kernel(value);
            if (found < 0) return refuse("--kernel: no kernel is called '%s'", shown);
            if (o->kernel_count == MOST_KERNELS) return refuse("%s: too many of them", word);
            o->kernels[o->kernel_count++] = (tmm_kernel)found;
        } else if (strcmp(word, "--batch") == 0) {
            if (!parse_number(value, 0, 1, 1 << 24, &batch))
                return refuse("--batch is a whole number from 1 to 2^24, not '%s'", shown);
        } else if (strcmp(word, "--ld-pad") == 0) {
            if (!parse_number(value, 0, 0, 65536, &pad))
                return refuse("--ld-pad is a whole number from 0 to 65536, not '%s'", shown);
        } else if (strcmp(word, "--offset") == 0) {
            if (!parse_number(value, 0, 0, 65536, &offset))
                return refuse("--offset is a whole number from 0 to 65536, not '%s'", shown);
        } else if (strcmp(word, "--ms") == 0) {
            if (!parse_number(value, 0, 1, 10000, &number))
                return refuse("--ms is a whole number from 1 to 10000, not '%s'", shown);
            o->ms = (double)number;
        } else if (strcmp(word, "--tensor-ms") == 0) {
            if (!parse_number(value, 0, 1, 10000, &number))
                return refuse("--tensor-ms is a whole number from 1 to 10000, not '%s'", shown);
            o->tensor_ms = (double)number;
        } else if (strcmp(word, "--seed") == 0) {
            if (!parse_number(value, 0, 0, LLONG_MAX, &number))
                return refuse("--seed is a whole number, not '%s'", shown);
            o->seed = (u64)number;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || value[0] == '-') return refuse("%s needs the name of a file", word);
            o->csv = value;
        } else {
            return refuse("'%s' is not understood", word);
        }
        n++;
    }
    if (!any_type) o->types[0] = o->types[1] = o->types[2] = 1;
    o->whole_list = !shapes && !o->quick && !any_op && !o->phi_count && pad < 0 && offset < 0;
    if (!any_op) ops[0] = 1;
    if (o->kernel_count == 0) {
        o->kernels[o->kernel_count++] = TMM_AUTO;
        if (find_kernel("auto_tensor") >= 0)
            o->kernels[o->kernel_count++] = (tmm_kernel)find_kernel("auto_tensor");
    }
    if (o->ms == 0) o->ms = o->quick ? 60 : 200;
    if (o->tensor_ms == 0) o->tensor_ms = o->quick ? 100 : 300;
    if (batch && !shapes) return refuse("%s needs a --shape", "--batch");
    for (int s = 0; s < shapes; s++)
        for (int op = 0; op < 4; op++)
            if (ops[op]) {
                add_point(o, shape[s][0], shape[s][1], shape[s][2], op, 1);
                if (batch) o->points[o->count - 1].batch = batch;
            }
    if (!shapes) {
        point list[MOST_POINTS];
        if (o->quick)
            add_quick_points(o);
        else
            add_default_points(o);
        int listed = o->count;
        memcpy(list, o->points, sizeof list);
        for (int op = o->count = 0; op < 4 && any_op;
             op++) /* the list's NN shapes with these ops */
            for (int n = 0; ops[op] && n < listed; n++)
                if (list[n].op == 0 && o->count < MOST_POINTS) {
                    o->points[o->count] = list[n];
                    o->points[o->count++].op = op;
                }
        if (!any_op) {
            memcpy(o->points, list, sizeof list);
            o->count = listed;
        }
    }
    for (int n = 0; n < o->count; n++) {
        if (pad >= 0) o->points[n].pad = (int)pad;
        if (offset >= 0) o->points[n].offset = (int)offset;
    }
    spread_points(o);
    return 1;
}

/* ---------------------------------- the product ----------------------------------------------- */
typedef struct problem {
    point p;
    tmm_type type;
    tmm_op opA, opB;
    matrix A, B, C, D; /* C is ours, D theirs */
    u64 seed;
} problem;

/* Sizes of all four; placed one behind the other in `pool` if there is one. Returns the bytes. */
static size_t lay_out(problem *q, const point *p, tmm_type type, void *pool)
{
    matrix *all[4] = {&q->A, &q->B, &q->C, &q->D};
    size_t used = 0;
    q->p = *p;
    q->type = type;
    q->opA = p->op & 2 ? TMM_OP_T : TMM_OP_N;
    q->opB = p->op & 1 ? TMM_OP_T : TMM_OP_N;
    q->A.rows = q->opA == TMM_OP_T ? p->K : p->M, q->A.cols = q->opA == TMM_OP_T ? p->M : p->K;
    q->B.rows = q->opB == TMM_OP_T ? p->N : p->K, q->B.cols = q->opB == TMM_OP_T ? p->K : p->N;
    q->C.rows = q->D.rows = p->M, q->C.cols = q->D.cols = p->N;
    for (int n = 0; n < 4; n++) {
        all[n]->ld = all[n]->cols + p->pad;
        all[n]->first = GUARD + p->offset;
        all[n]->batch = p->batch;
        all[n]->start = pool ? (char *)pool + used : NULL;
        used += matrix_bytes(all[n], type);
    }
    return used;
}

static double flops(const point *p)
{
    return 2.0 * (double)p->M * (double)p->N * (double)p->K * (double)p->batch;
}
static double bytes_moved(const problem *q)
{
    const point *p = &q->p;
    return ((double)p->M * (double)p->K + (double)p->K * (double)p->N +
            (double)p->M * (double)p->N) *
           (double)p->batch * (double)type_size(q->type);
}

/* ---------------------------------- limits of the device -------------------------------------- */
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

/* Elements uniform in (-1, 1) become (u - 0.5) exp(phi z), z by Box and Muller. */
static __global__ void spread(tmm_type type, matrix m, long long cells, double phi, u64 seed)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x; c < cells; c += step) {
        if (!inside(&m, c)) continue;
        u64 bits = mix(seed + (u64)c);
        double radius = sqrt(-2 * log(((double)(bits >> 32) + 0.5) / 4294967296.0));
        double z = radius * cospi((double)(bits & 0xffffffffu) / 2147483648.0);
        double x = 0.5 * load(type, m.start, c) * exp(phi * z);
        if (type == TMM_FLOAT) ((float *)m.start)[c] = (float)x;
        if (type == TMM_DOUBLE) ((double *)m.start)[c] = x;
    }
}

typedef struct limits {
    char device[256], cublas[32];
    cuda_versions v;
    int major, minor, processors, compiled_for;
    double arithmetic[3];          /* operations per second, the best of each type */
    double ffma, dfma, imad, dmma; /* what they are made of */
    int dmma_shape;
    double half;                 /* cuBLAS, FP16 with FP32 sums */
    double read, copy;           /* bytes per second */
    double launch, launch_graph; /* microseconds */
} limits;

/* ---------------------------------- the contenders -------------------------------------------- */
typedef enum contender_kind {
    OURS,
    PEER, /* of int, which cuBLAS has not: TMM_SHARED_32, writing to D */
    CUBLAS,
    CUBLAS_LT,
    CUBLAS_GEMV,
    LIMIT
} contender_kind;
enum { MOST_SLICES = 2048, PREPARED = 8192 }; /* the size where B is prepared, too */

typedef struct contender {
    contender_kind kind;
    tmm_kernel kernel; /* of ours */
    int prepared;      /* B was prepared beforehand: TMM_TENSOR of float */
    int limit;         /* which of the loops */
    double share;      /* of --ms */
    cublasLtMatmulAlgo_t algo;
    int calls; /* per slice */
    int slices, wanted;
    double *times; /* microseconds per call */
    double us, graph_us, error;
    cudaGraphExec_t graph;
    const char *result;
    u64 checksum;
} contender;

typedef struct bench {
    options o;
    limits l;
    cudaStream_t stream;
    cudaEvent_t from, to;
    cublasHandle_t cublas;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t lt_job;
    cublasLtMatrixLayout_t lt_first, lt_second, lt_result;
    void *lt_workspace;
    findings *found; /* device */
    void *pool;
    size_t pool_bytes;
    problem q;
    tmm_prepared prepared_B;
    FILE *csv;
    int failures;
} bench;
static const size_t LT_WORKSPACE = (size_t)64 << 20;
static bench state;

/* cuBLAS is column-major: it is asked for C^T = op(B)^T op(A)^T. */
#define DEFINE_TYPE(letter, T)                                                                     \
    static tmm_status letter##_ours(tmm_kernel kernel, const problem *q, cudaStream_t stream)      \
    {                                                                                              \
        const point *p = &q->p;                                                                    \
        const T *A = (const T *)matrix_data(&q->A, q->type);                                       \
        const T *B = (const T *)matrix_data(&q->B, q->type);                                       \
        T *C = (T *)matrix_data(&q->C, q->type);                                                   \
        if (p->batch == 1 && kernel == TMM_AUTO)                                                   \
            return tmm_##letter##gemm(q->opA, q->opB, p->M, p->N, p->K, 1, A, q->A.ld, B, q->B.ld, \
                                      0, C, q->C.ld, stream);                                      \
        if (p->batch == 1)                                                                         \
            return tmm_##letter##gemm_with(kernel, q->opA, q->opB, p->M, p->N, p->K, 1, A,         \
                                           q->A.ld, B, q->B.ld, 0, C, q->C.ld, stream);            \
        return tmm_##letter##gemm_batched_with(kernel, q->opA, q->opB, p->M, p->N, p->K, 1, A,     \
                                               q->A.ld, B, q->B.ld, 0, C, q->C.ld,                 \
                                               q->A.rows * q->A.ld, q->B.rows * q->B.ld,           \
                                               q->C.rows * q->C.ld, p->batch, stream);             \
    }
#define DEFINE_CUBLAS(letter, L, T)                                                                \
    static cublasStatus_t letter##_gemm(const bench *w, const problem *q)                          \
    {                                                                                              \
        static const T one = 1, zero = 0;                                                          \
        const point *p = &q->p;                                                                    \
        cublasOperation_t opA = q->opA == TMM_OP_T ? CUBLAS_OP_T : CUBLAS_OP_N;                    \
        cublasOperation_t opB = q->opB == TMM_OP_T ? CUBLAS_OP_T : CUBLAS_OP_N;                    \
        const T *A = (const T *)matrix_data(&q->A, q->type);                                       \
        const T *B = (const T *)matrix_data(&q->B, q->type);                                       \
        T *D = (T *)matrix_data(&q->D, q->type);                                                   \
        int M = (int)p->M, N = (int)p->N, K = (int)p->K;                                           \
        int lda = (int)q->A.ld, ldb = (int)q->B.ld, ldd = (int)q->D.ld;                            \
        if (p->batch == 1)                                                                         \
            return cublas##L##gemm(w->cublas, opB, opA, N, M, K, &one, B, ldb, A, lda, &zero, D,   \
                                   ldd);                                                           \
        return cublas##L##gemmStridedBatched(w->cublas, opB, opA, N, M, K, &one, B, ldb,           \
                                             q->B.rows * q->B.ld, A, lda, q->A.rows * q->A.ld,     \
                                             &zero, D, ldd, q->D.rows * q->D.ld, (int)p->batch);   \
    }                                                                                              \
    /* One row or one column: the other operand, as stored by rows, is the transposed matrix. */   \
    static cublasStatus_t letter##_gemv(const bench *w, const problem *q)                          \
    {                                                                                              \
        static const T one = 1, zero = 0;                                                          \
        const point *p = &q->p;                                                                    \
        int row = p->M == 1;                                                                       \
        const matrix *m = row ? &q->B : &q->A, *v = row ? &q->A : &q->B;                           \
        int turned = row ? q->opB == TMM_OP_T : q->opA == TMM_OP_N;                                \
        int vector_turned = row ? q->opA == TMM_OP_T : q->opB == TMM_OP_N;                         \
        return cublas##L##gemv(w->cublas, turned ? CUBLAS_OP_T : CUBLAS_OP_N, (int)m->cols,        \
                               (int)m->rows, &one, (const T *)matrix_data(m, q->type), (int)m->ld, \
                               (const T *)matrix_data(v, q->type), vector_turned ? (int)v->ld : 1, \
                               &zero, (T *)matrix_data(&q->D, q->type), row ? 1 : (int)q->D.ld);   \
    }
DEFINE_TYPE(s, float)
DEFINE_TYPE(d, double)
DEFINE_TYPE(i, int)
DEFINE_CUBLAS(s, S, float)
DEFINE_CUBLAS(d, D, double)

static tmm_kernel choice(const problem *q)
{
    const point *p = &q->p;
    if (q->type == TMM_FLOAT) return tmm_sgemm_choice(p->M, p->N, p->K, p->batch);
    if (q->type == TMM_DOUBLE) return tmm_dgemm_choice(p->M, p->N, p->K, p->batch);
    return tmm_igemm_choice(p->M, p->N, p->K, p->batch);
}

enum {
    LOOP_FFMA,
    LOOP_DFMA,
    LOOP_IMAD,
    LOOP_DMMA,
    LOOP_READ,
    LOOP_COPY,
    LOOP_EMPTY,
    LOOP_HALF,
    LOOPS
};
enum { LOOP_ROUNDS = 4096, DMMA_ROUNDS = 2048, HALF_SIZE = 8192 };

static void enqueue_loop(bench *w, int limit)
{
    double *sink = (double *)w->found;
    int blocks = w->l.processors * 4, *shape = (int *)(w->found + 1);
    size_t half = w->pool_bytes / 2;
    switch (limit) {
    case LOOP_FFMA:
        loop_ffma<<<blocks, 512, 0, w->stream>>>(0.999f, 0.001f, (float *)sink, LOOP_ROUNDS);
        break;
    case LOOP_DFMA:
        loop_dfma<<<blocks, 512, 0, w->stream>>>(0.999, 0.001, sink, LOOP_ROUNDS / 16);
        break;
    case LOOP_IMAD:
        loop_imad<<<blocks, 512, 0, w->stream>>>(69069u, 12347u, (unsigned *)sink, LOOP_ROUNDS);
        break;
    case LOOP_DMMA:
        loop_dmma<<<w->l.processors * 2, 256, 0, w->stream>>>(0.01237, sink, DMMA_ROUNDS, shape);
        break;
    case LOOP_READ:
        read_all<<<(unsigned)(w->pool_bytes / READ_BYTES), 256, 0, w->stream>>>((uint4 *)w->pool,
                                                                                (unsigned *)sink);
        break;
    case LOOP_COPY:
        must(cudaMemcpyAsync(w->pool, (char *)w->pool + half, half, cudaMemcpyDeviceToDevice,
                             w->stream),
             "copy");
        break;
    case LOOP_EMPTY: empty<<<1, 32, 0, w->stream>>>(); break;
    case LOOP_HALF: {
        static const float one = 1, zero = 0;
        size_t cells = (size_t)HALF_SIZE * HALF_SIZE;
        __half *x = (__half *)w->pool;
        must_cublas(cublasGemmEx(w->cublas, CUBLAS_OP_N, CUBLAS_OP_N, HALF_SIZE, HALF_SIZE,
                                 HALF_SIZE, &one, x, CUDA_R_16F, HALF_SIZE, x + cells, CUDA_R_16F,
                                 HALF_SIZE, &zero, x + 2 * cells, CUDA_R_16F, HALF_SIZE,
                                 CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                    "cublasGemmEx");
        break;
    }
    }
}

/* One call of a contender; 0 if it does not do this. */
static int enqueue(bench *w, const contender *c)
{
    const problem *q = &w->q;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    tmm_status mine = TMM_OK;
    if (c->graph) {
        must(cudaGraphLaunch(c->graph, w->stream), "launch of a graph");
        return 1;
    }
    switch (c->kind) {
    case PEER: {
        problem other = *q;
        other.C = q->D;
        return i_ours(TMM_SHARED_32, &other, w->stream) == TMM_OK;
    }
    case OURS:
        if (c->prepared) {
            tmm_tensor_options options;
            memset(&options, 0, sizeof options);
            options.B = &w->prepared_B;
            return tmm_sgemm_tensor(q->opA, q->opB, q->p.M, q->p.N, q->p.K, 1,
                                    (const float *)matrix_data(&q->A, q->type), q->A.ld,
                                    (const float *)matrix_data(&q->B, q->type), q->B.ld, 0,
                                    (float *)matrix_data(&q->C, q->type), q->C.ld, &options,
                                    w->stream) == TMM_OK;
        }
        if (q->type == TMM_FLOAT) mine = s_ours(c->kernel, q, w->stream);
        if (q->type == TMM_DOUBLE) mine = d_ours(c->kernel, q, w->stream);
        if (q->type == TMM_INT) mine = i_ours(c->kernel, q, w->stream);
        return mine == TMM_OK;
    case CUBLAS: status = q->type == TMM_FLOAT ? s_gemm(w, q) : d_gemm(w, q); break;
    case CUBLAS_GEMV: status = q->type == TMM_FLOAT ? s_gemv(w, q) : d_gemv(w, q); break;
    case CUBLAS_LT: {
        static const float one = 1, zero = 0;
        static const double one_d = 1, zero_d = 0;
        int d = q->type == TMM_DOUBLE;
        void *D = matrix_data(&q->D, q->type);
        status =
            cublasLtMatmul(w->lt, w->lt_job, d ? (const void *)&one_d : &one,
                           matrix_data(&q->B, q->type), w->lt_first, matrix_data(&q->A, q->type),
                           w->lt_second, d ? (const void *)&zero_d : &zero, D, w->lt_result, D,
                           w->lt_result, &c->algo, w->lt_workspace, LT_WORKSPACE, w->stream);
        break;
    }
    case LIMIT: enqueue_loop(w, c->limit); break;
    }
    return status == CUBLAS_STATUS_SUCCESS;
}

/* Microseconds per call of `calls` calls back to back; negative if one was refused. A call that
   does not count comes before: the first behind a synchronisation gets memory anew, of gigabytes
   some milliseconds, which those behind it keep. */
static double time_calls(bench *w, const contender *c, int calls)
{
    float ms = 0;
    int good = c->kind != OURS || c->graph || enqueue(w, c);
    must(cudaEventRecord(w->from, w->stream), "event");
    for (int n = 0; n < calls; n++) good &= enqueue(w, c);
    must(cudaEventRecord(w->to, w->stream), "event");
    must(cudaEventSynchronize(w->to), "the kernels that were timed");
    must(cudaGetLastError(), "launch");
    must(cudaEventElapsedTime(&ms, w->from, w->to), "event");
    return good ? ms * 1e3 / calls : -1;
}

/* Times the contenders in turn, slice by slice, `ms` milliseconds of each (times its share), at
   least three slices; leaves the median of each in us. */
static void race(bench *w, contender *c, int count, double ms)
{
    for (int n = 0; n < count; n++) {
        double us = time_calls(w, &c[n], 1); /* a warm-up; a long call tells enough by itself */
        for (int calls = 4; us > 0 && us * calls < 4e3; calls *= 4)
            us = time_calls(w, &c[n], calls);
        c[n].wanted = c[n].slices = 0;
        if (us <= 0) continue;
        double share = ms * 1e3 * c[n].share, slice = share / 3 < SLICE ? share / 3 : SLICE;
        c[n].calls = (int)(slice / us) > 1 ? (int)(slice / us) : 1;
        double wanted = ceil(share / (us * c[n].calls) - 0.2);
        c[n].wanted = wanted < 3 ? 3 : wanted > MOST_SLICES ? MOST_SLICES : (int)wanted;
        c[n].times = (double *)malloc((size_t)c[n].wanted * sizeof(double));
        if (!c[n].times) exit(2);
    }
    for (int more = 1; more;) {
        more = 0;
        for (int n = 0; n < count; n++) {
            if (c[n].slices == c[n].wanted) continue;
            c[n].times[c[n].slices++] = time_calls(w, &c[n], c[n].calls);
            more |= c[n].slices < c[n].wanted;
        }
    }
    for (int n = 0; n < count; n++) {
        if (c[n].wanted == 0) continue;
        *(c[n].graph ? &c[n].graph_us : &c[n].us) =
            median(c[n].times, c[n].slices) / (c[n].graph ? GRAPH_CALLS : 1);
        free(c[n].times);
        c[n].times = NULL;
    }
}

/* A graph of GRAPH_CALLS calls; NULL if one of them does not let itself be captured. */
static cudaGraphExec_t capture(bench *w, const contender *c)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    int good = 1;
    must(cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeRelaxed), "begin of capture");
    for (int n = 0; n < GRAPH_CALLS && good; n++) good = enqueue(w, c);
    if (cudaStreamEndCapture(w->stream, &graph) != cudaSuccess) good = 0;
    if (good && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = NULL;
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError(); /* a failed capture is no failure of what follows */
    return ready;
}

static void race_graphs(bench *w, contender *c, int count, double ms)
{
    for (int n = 0; n < count; n++) c[n].graph = capture(w, &c[n]);
    contender able[MOST_KERNELS + 4];
    int who[MOST_KERNELS + 4], ready = 0;
    for (int n = 0; n < count; n++)
        if (c[n].graph) able[ready] = c[n], who[ready++] = n;
    race(w, able, ready, ms);
    for (int n = 0; n < ready; n++) {
        c[who[n]].graph_us = able[n].graph_us;
        must(cudaGraphExecDestroy(able[n].graph), "end of a graph");
    }
    for (int n = 0; n < count; n++) c[n].graph = NULL;
}

/* ---------------------------------- measured limits ------------------------------------------- */
/* Operations per second of a loop of multiply-adds that took `us` microseconds. */
static double loop_rate(const bench *w, int limit, double us)
{
    double rounds = limit == LOOP_DFMA ? LOOP_ROUNDS / 16 : LOOP_ROUNDS;
    return 2.0 * 4 * w->l.processors * 512 * 128 * rounds / (us * 1e-6);
}

static void measure_limits(bench *w)
{
    limits *l = &w->l;
    double ms = w->o.quick ? 60 : 200;
    int *shape = (int *)(w->found + 1);
    must(cudaMemset(shape, 0, sizeof *shape), "memory");
    for (int n = 0; n < LOOPS; n++) {
        contender c;
        memset(&c, 0, sizeof c);
        c.kind = LIMIT, c.limit = n, c.share = 1;
        if (n == LOOP_DMMA) { /* which instruction does this build have? */
            loop_dmma<<<1, 32, 0, w->stream>>>(1, (double *)w->found, 0, shape);
            must(cudaStreamSynchronize(w->stream), "kernel");
            must(cudaMemcpy(&l->dmma_shape, shape, sizeof(int), cudaMemcpyDeviceToHost), "copy");
            if (l->dmma_shape == 0) continue;
        }
        if (n == LOOP_HALF) { /* only where it is compared with something */
            long long cells = 2ll * HALF_SIZE * HALF_SIZE;
            if (w->o.kernel_count < 2 && !is_auto_tensor(w->o.kernels[0])) continue;
            if (!w->o.types[TMM_FLOAT] || w->pool_bytes < (size_t)cells * 3) continue;
            fill_halves<<<2048, 256, 0, w->stream>>>((__half *)w->pool, cells, w->o.seed);
        }
        race(w, &c, 1, ms);
        if (n == LOOP_FFMA) l->ffma = loop_rate(w, n, c.us);
        if (n == LOOP_DFMA) l->dfma = loop_rate(w, n, c.us);
        if (n == LOOP_IMAD) l->imad = loop_rate(w, n, c.us);
        if (n == LOOP_DMMA)
            l->dmma = (l->dmma_shape == 16 ? 4096.0 : 512.0) * 32 * DMMA_ROUNDS * l->processors *
                      2 * 8 / (c.us * 1e-6);
        if (n == LOOP_HALF) l->half = 2.0 * HALF_SIZE * HALF_SIZE * HALF_SIZE / (c.us * 1e-6);
        if (n == LOOP_READ)
            l->read = (double)(w->pool_bytes / READ_BYTES * READ_BYTES) / (c.us * 1e-6);
        if (n == LOOP_COPY) l->copy = (double)(w->pool_bytes / 2 * 2) / (c.us * 1e-6);
        if (n == LOOP_EMPTY) {
            l->launch = c.us;
            race_graphs(w, &c, 1, ms / 4);
            l->launch_graph = c.graph_us;
        }
    }
    l->arithmetic[TMM_FLOAT] = l->ffma;
    l->arithmetic[TMM_DOUBLE] = l->dmma > l->dfma ? l->dmma : l->dfma;
    l->arithmetic[TMM_INT] = l->imad;
}

/* ---------------------------------- checking a contender -------------------------------------- */
static findings look(bench *w)
{
    findings f;
    must(cudaMemcpyAsync(&f, w->found, sizeof f, cudaMemcpyDeviceToHost, w->stream), "findings");
    must(cudaStreamSynchronize(w->stream), "the kernels that were checked");
    return f;
}

/* Poisons its C and lets it run once. */
static int run_once(bench *w, const contender *c)
{
    matrix *m = c->kind == OURS ? &w->q.C : &w->q.D;
    must(cudaMemsetAsync(m->start, 0xff, matrix_bytes(m, w->q.type), w->stream), "poison");
    must(cudaMemsetAsync(w->found, 0, sizeof *w->found, w->stream), "poison");
    if (!enqueue(w, c)) return 0;
    long long cells = matrix_cells(m);
    check_cells<<<2048, 256, 0, w->stream>>>(w->q.type, *m, cells, w->found);
    return 1;
}

/* Runs it once and leaves error, checksum and result: "ok" or what is wrong. */
static void check(bench *w, contender *c, int has_peer)
{
    const problem *q = &w->q;
    const matrix *m = c->kind == OURS ? &q->C : &q->D;
    double bound = ((double)q->p.K + 2) * type_unit[q->type], strict = 32 * type_unit[q->type];
    c->result = "refused";
    c->error = 0;
    if (!run_once(w, c)) {
        if (c->kind == OURS)
            fprintf(stderr, "gemm: %s: %s\n", tmm_kernel_string(c->kernel), tmm_last_error());
        must(cudaGetLastError(), "launch");
        return;
    }
    /* squares of such an edge that about 65536 fill C */
    double rows = (double)(m->batch * m->rows), cols = (double)m->cols;
    int edge = (int)ceil(sqrt(rows * cols / 65536));
    if (edge < 1) edge = 1;
    long long samples = (long long)(ceil(rows / edge) * ceil(cols / edge));
    operands given = {q->type, q->opA, q->opB, q->A, q->B, q->seed};
    check_samples<<<(unsigned)((samples + 7) / 8), 256, 0, w->stream>>>(given, *m, edge, samples, 0,
                                                                        w->found);
    if (q->p.phi > 0) has_peer = 0, strict = bound;
    if (has_peer) /* a sum of K products in (-1, 1) never strays this far, an element left out does */
        check_peer<<<2048, 256, 0, w->stream>>>(q->type, *m, q->D, matrix_cells(m),
                                                64 * type_unit[q->type] * (double)q->p.K, w->found);
    must(cudaGetLastError(), "launch of the checks");
    findings f = look(w);
    c->checksum = f.checksum;
    memcpy(&c->error, &f.error, sizeof c->error);
    if (q->type == TMM_INT && f.unwritten > 0 && f.unwritten <= LISTED) {
        /* one in 2^32 ints equals the poison by right */
        check_samples<<<(unsigned)((f.unwritten + 7) / 8), 256, 0, w->stream>>>(
            given, *m, edge, (long long)f.unwritten, f.unwritten, w->found);
        u64 wrong = f.wrong;
        f = look(w);
        f.unwritten = f.wrong - wrong;
        f.wrong = wrong;
    }
    c->result = "ok";
    if (c->error > strict) c->result = "IMPRECISE";
    if (c->error > bound || f.wrong || f.differing) c->result = "WRONG";
    if (f.infinite) c->result = "NOT FINITE";
    if (f.unwritten) c->result = "UNWRITTEN";
    if (f.outside) c->result = "OUTSIDE C";
    if (strcmp(c->result, "ok") != 0)
        fprintf(stderr,
                "gemm: %s %s %lld,%lld,%lld: %s: error %.2e (bound %.2e), %llu samples wrong, %llu "
                "elements unlike the peer's, %llu not finite, %llu not written, %llu cells outside "
                "C changed\n",
                type_names[q->type], op_names[q->p.op], q->p.M, q->p.N, q->p.K,
                c->kind == OURS ? tmm_kernel_string(c->kernel) : "its peer", c->error, bound,
                f.wrong, f.differing, f.infinite, f.unwritten, f.outside);
}

/* ---------------------------------- cublasLt -------------------------------------------------- */
/* The fastest of the proposed algorithms that computes strictly. 0: none. */
static int choose_lt(bench *w, contender *best)
{
    const problem *q = &w->q;
    const point *p = &q->p;
    int d = q->type == TMM_DOUBLE, batch = (int)p->batch, found = 0;
    cudaDataType_t type = d ? CUDA_R_64F : CUDA_R_32F;
    cublasOperation_t opA = q->opA == TMM_OP_T ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t opB = q->opB == TMM_OP_T ? CUBLAS_OP_T : CUBLAS_OP_N;
    const matrix *m[3] = {&q->B, &q->A, &q->D};
    cublasLtMatrixLayout_t *layout[3] = {&w->lt_first, &w->lt_second, &w->lt_result};
    static const cublasLtMatmulPreferenceAttributes_t alignments[4] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t proposed[8];
    must_cublas(cublasLtMatmulDescCreate(&w->lt_job, d ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                         type),
                "cublasLt");
    must_cublas(cublasLtMatmulDescSetAttribute(w->lt_job, CUBLASLT_MATMUL_DESC_TRANSA, &opB,
                                               sizeof opB),
                "cublasLt");
    must_cublas(cublasLtMatmulDescSetAttribute(w->lt_job, CUBLASLT_MATMUL_DESC_TRANSB, &opA,
                                               sizeof opA),
                "cublasLt");
    must_cublas(cublasLtMatmulPreferenceCreate(&preference), "cublasLt");
    must_cublas(cublasLtMatmulPreferenceSetAttribute(preference,
                                                     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                     &LT_WORKSPACE, sizeof LT_WORKSPACE),
                "cublasLt");
    for (int n = 0; n < 4; n++) {
        const matrix *x = m[n < 3 ? n : 2];
        size_t address = (size_t)matrix_data(x, q->type) | 256;
        unsigned alignment = (unsigned)(address & (~address + 1));
        must_cublas(cublasLtMatmulPreferenceSetAttribute(preference, alignments[n], &alignment,
                                                         sizeof alignment),
                    "cublasLt");
        if (n == 3) break;
        long long stride = x->rows * x->ld;
        must_cublas(cublasLtMatrixLayoutCreate(layout[n], type, (uint64_t)x->cols,
                                               (uint64_t)x->rows, x->ld),
                    "cublasLt");
        must_cublas(cublasLtMatrixLayoutSetAttribute(*layout[n], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                     &batch, sizeof batch),
                    "cublasLt");
        must_cublas(cublasLtMatrixLayoutSetAttribute(*layout[n],
                                                     CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                     &stride, sizeof stride),
                    "cublasLt");
    }
    int count = 0;
    if (cublasLtMatmulAlgoGetHeuristic(w->lt, w->lt_job, w->lt_first, w->lt_second, w->lt_result,
                                       w->lt_result, preference, 8, proposed,
                                       &count) != CUBLAS_STATUS_SUCCESS)
        count = 0;
    cublasLtMatmulPreferenceDestroy(preference);
    for (int n = 0; n < count; n++) {
        contender c;
        memset(&c, 0, sizeof c);
        c.kind = CUBLAS_LT, c.share = 1, c.algo = proposed[n].algo;
        if (proposed[n].state != CUBLAS_STATUS_SUCCESS) continue;
        c.us = time_calls(w, &c, 1);
        if (c.us > 0 && c.us < 20e3) c.us = time_calls(w, &c, 1);
        for (int calls = 4; c.us > 0 && c.us * calls < 4e3; calls *= 4)
            c.us = time_calls(w, &c, calls);
        if (c.us <= 0 || (found && c.us >= best->us)) continue;
        check(w, &c, 0);
        if (strcmp(c.result, "ok") != 0) continue;
        *best = c;
        found = 1;
    }
    return found;
}

static void drop_lt(bench *w)
{
    cublasLtMatmulDescDestroy(w->lt_job);
    cublasLtMatrixLayoutDestroy(w->lt_first);
    cublasLtMatrixLayoutDestroy(w->lt_second);
    cublasLtMatrixLayoutDestroy(w->lt_result);
}

/* ---------------------------------- rows ------------------------------------------------------ */
typedef struct row {
    char name[32], picked[32], shape[48];
    point p;
    tmm_type type;
    int ours; /* asked for, not the textbook's */
    double us, cublas, lt, gemv, graph, cublas_graph;
    double tflops, gbytes, ratio, percent, error, cublas_error, bound;
    const char *limit, *result;
} row;
static row rows[MOST_ROWS];
static int row_count;

static void heading(const bench *w)
{
    printf("\n%-6s %-2s %-22s %-26s %10s %10s %10s %8s %6s %6s %5s %-10s %-13s %8s  %s\n", "type",
           "op", "shape", "kernel", "us", "cuBLAS", "Lt best", "TFLOP/s", "ratio", "to Lt", "%",
           "of", "graph us", "error", "result");
    if (w->csv)
        fprintf(w->csv,
                "name,choice,type,op,M,N,K,batch,lda,ldb,ldc,offset,real_time_us,cublas_us,"
                "cublaslt_us,cublas_gemv_us,graph_us,cublas_graph_us,tflops,gbytes_per_s,ratio,"
                "ratio_cublaslt,percent_of_limit,limit,error,cublas_error,bound,result,device,"
                "driver,toolkit,cublas,compiled_for,seed,phi\n");
}

static void csv_number(FILE *f, double x, const char *format)
{
    fputc(',', f);
    if (x > 0) fprintf(f, format, x);
}
static void csv_machine(const bench *w, const char *phi)
{
    fprintf(w->csv, ",\"%s\",%s,%s,%s,%d,%llu,%s\n", w->l.device, w->l.v.driver, w->l.v.toolkit,
            w->l.cublas, w->l.compiled_for, w->o.seed, phi);
    fflush(w->csv); /* what is there stays there, whatever happens to the rest */
}

/* A limit in the columns that it fits: rate in TFLOP/s or GB/s, time in us. */
static void limit_row(const bench *w, const char *name, const char *type, double us, double graph,
                      double tflops, double gbytes)
{
    if (!w->csv) return;
    fprintf(w->csv, "limit_%s,,%s,,,,,,,,,", name, type);
    csv_number(w->csv, us, "%.6g");
    fprintf(w->csv, ",,,");
    csv_number(w->csv, graph, "%.6g");
    fprintf(w->csv, ",");
    csv_number(w->csv, tflops * 1e-12, "%.6g");
    csv_number(w->csv, gbytes * 1e-9, "%.6g");
    fprintf(w->csv, ",,,,,,,,");
    csv_machine(w, "");
}

static void print_limits(const bench *w)
{
    const limits *l = &w->l;
    printf("limits measured: FFMA %.1f, DFMA %.1f, IMAD %.1f, ", l->ffma * 1e-12, l->dfma * 1e-12,
           l->imad * 1e-12);
    if (l->dmma > 0)
        printf("DMMA (%s) %.1f TFLOP/s;\n", l->dmma_shape == 16 ? "m16n8k16" : "m8n8k4",
               l->dmma * 1e-12);
    else
        printf("no DMMA;\n");
    if (l->half > 0)
        printf("cuBLAS with halves %.0f TFLOP/s, a third of it %.0f;\n", l->half * 1e-12,
               l->half / 3 * 1e-12);
    printf("memory: read %.0f, copy %.0f GB/s; an empty launch: %.2f us on a stream, %.2f us in a "
           "graph\n",
           l->read * 1e-9, l->copy * 1e-9, l->launch, l->launch_graph);
}
static void csv_limits(const bench *w)
{
    const limits *l = &w->l;
    limit_row(w, "ffma", "float", 0, 0, l->ffma, 0);
    limit_row(w, "dfma", "double", 0, 0, l->dfma, 0);
    limit_row(w, "imad", "int", 0, 0, l->imad, 0);
    if (l->dmma > 0)
        limit_row(w, l->dmma_shape == 16 ? "dmma_m16n8k16" : "dmma_m8n8k4", "double", 0, 0, l->dmma,
                  0);
    if (l->half > 0) limit_row(w, "cublas_half", "float", 0, 0, l->half, 0);
    limit_row(w, "read", "", 0, 0, 0, l->read);
    limit_row(w, "copy", "", 0, 0, 0, l->copy);
    limit_row(w, "launch", "", l->launch, l->launch_graph, 0, 0);
}

static void shape_text(const point *p, char *text, size_t size)
{
    int n;
    if (p->M == p->N && p->N == p->K)
        n = snprintf(text, size, "%lld", p->M);
    else
        n = snprintf(text, size, "%lld,%lld,%lld", p->M, p->N, p->K);
    if (p->batch > 1) n += snprintf(text + n, size - (size_t)n, " x %lld", p->batch);
    if (p->pad) n += snprintf(text + n, size - (size_t)n, " ld+%d", p->pad);
    if (p->offset) n += snprintf(text + n, size - (size_t)n, " at+%d", p->offset);
    if (p->phi > 0) snprintf(text + n, size - (size_t)n, " phi %g", p->phi);
}

/* Does it take products of halves? auto_tensor takes them where it differs from auto, which only it
   knows: what is faster than the units of float is one that does. */
static int on_halves(const contender *c, const problem *q)
{
    if (c->kind != OURS || q->type != TMM_FLOAT || !(c->us > 0)) return 0;
    if (c->kernel == TMM_TENSOR) return 1;
    return is_auto_tensor(c->kernel) && flops(&q->p) / c->us * 1e6 > state.l.ffma;
}

/* Does it take products of bytes? As with halves. */
static int on_bytes(const contender *c, const problem *q)
{
    if (c->kind != OURS || q->type != TMM_DOUBLE || !(c->us > 0)) return 0;
    if (c->kernel == TMM_TENSOR_INT8) return 1;
    return is_auto_tensor(c->kernel) && flops(&q->p) / c->us * 1e6 > state.l.arithmetic[TMM_DOUBLE];
}

static void print_number(double x, int width, int decimals)
{
    if (x > 0)
        printf(" %*.*f", width, decimals, x);
    else
        printf(" %*s", width, "-");
}

static void add_row(bench *w, const contender *c, const char *name, int ours,
                    const contender *cublas, const contender *lt, const contender *gemv)
{
    const problem *q = &w->q;
    const point *p = &q->p;
    const limits *l = &w->l;
    row r;
    char shown[80], graphs[32] = "-";
    memset(&r, 0, sizeof r);
    snprintf(r.name, sizeof r.name, "%s", name);
    if (c->kernel == TMM_AUTO || !ours) {
        const char *picked = tmm_kernel_string(c->kernel == TMM_AUTO ? choice(q) : c->kernel);
        snprintf(r.picked, sizeof r.picked, "%s", picked ? picked : "?");
        snprintf(shown, sizeof shown, "%s = %s", r.name, r.picked);
    } else {
        snprintf(shown, sizeof shown, "%s", r.name);
    }
    shape_text(p, r.shape, sizeof r.shape);
    r.p = *p, r.type = q->type, r.ours = ours, r.result = c->result;
    r.us = c->us, r.graph = c->graph_us, r.error = c->error;
    r.bound = ((double)p->K + 2) * type_unit[q->type];
    if (cublas)
        r.cublas = cublas->us, r.cublas_graph = cublas->graph_us, r.cublas_error = cublas->error;
    if (lt) r.lt = lt->us;
    if (gemv) r.gemv = gemv->us;
    if (r.us > 0) {
        double fastest = l->arithmetic[q->type];
        if (on_halves(c, q)) fastest = l->half / 3;
        double arithmetic = fastest > 0 ? flops(p) / fastest * 1e6 : 0;
        double memory = bytes_moved(q) / l->read * 1e6;
        double least = arithmetic > memory ? arithmetic : memory;
        r.limit = arithmetic > memory ? "arithmetic" : "memory";
        if (l->launch > least) least = l->launch, r.limit = "launch";
        r.tflops = flops(p) / r.us * 1e-6;
        r.gbytes = bytes_moved(q) / r.us * 1e-3;
        r.percent = 100 * least / r.us;
        if (on_bytes(c, q)) r.limit = "bytes", r.percent = 0;
        if (r.cublas > 0) r.ratio = r.cublas / r.us;
    } else {
        r.limit = "";
    }
    if (row_count < MOST_ROWS) rows[row_count++] = r;
    if (strcmp(r.result, "ok") != 0 && (strcmp(r.result, "refused") != 0 || c->kernel == TMM_AUTO))
        w->failures++;

    printf("%-6s %-2s %-22s %-26s", type_names[r.type], op_names[p->op], r.shape, shown);
    print_number(r.us, 10, r.us < 1e3 ? 2 : 0);
    print_number(r.cublas, 10, r.cublas < 1e3 ? 2 : 0);
    print_number(r.lt, 10, r.lt < 1e3 ? 2 : 0);
    print_number(r.tflops, 8, r.tflops < 10 ? 3 : 1);
    print_number(r.ratio, 6, 3);
    print_number(r.lt > 0 && r.us > 0 ? r.lt / r.us : 0, 6, 3);
    print_number(r.percent, 5, 1);
    if (r.graph > 0 && r.cublas_graph > 0)
        snprintf(graphs, sizeof graphs, "%.2f / %.2f", r.graph, r.cublas_graph);
    else if (r.graph > 0)
        snprintf(graphs, sizeof graphs, "%.2f", r.graph);
    else if (c->graph_us < 0)
        snprintf(graphs, sizeof graphs, "no capture");
    printf(" %-10s %-13s %8.1e  %s\n", r.limit, graphs, r.error, r.result);
    if (r.gemv > 0)
        printf("%-9s cublas%cgemv takes %.2f us, %.0f GB/s; ours %.0f GB/s\n", "",
               r.type == TMM_FLOAT ? 'S' : 'D', r.gemv, bytes_moved(q) / r.gemv * 1e-3, r.gbytes);
    fflush(stdout);
    if (!w->csv) return;
    fprintf(w->csv, "%s,%s,%s,%s,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%d", r.name, r.picked,
            type_names[r.type], op_names[p->op], p->M, p->N, p->K, p->batch, q->A.ld, q->B.ld,
            q->C.ld, p->offset);
    csv_number(w->csv, r.us, "%.6g");
    csv_number(w->csv, r.cublas, "%.6g");
    csv_number(w->csv, r.lt, "%.6g");
    csv_number(w->csv, r.gemv, "%.6g");
    csv_number(w->csv, r.graph, "%.6g");
    csv_number(w->csv, r.cublas_graph, "%.6g");
    csv_number(w->csv, r.tflops, "%.6g");
    csv_number(w->csv, r.gbytes, "%.6g");
    csv_number(w->csv, r.ratio, "%.4f");
    csv_number(w->csv, r.us > 0 ? r.lt / r.us : 0, "%.4f");
    csv_number(w->csv, r.percent, "%.4g");
    fprintf(w->csv, ",%s", r.limit);
    csv_number(w->csv, r.error, "%.3e");
    csv_number(w->csv, r.cublas_error, "%.3e");
    csv_number(w->csv, r.bound, "%.3e");
    fprintf(w->csv, ",%s", r.result);
    snprintf(shown, sizeof shown, "%g", p->phi);
    csv_machine(w, shown);
}

/* ---------------------------------- one point ------------------------------------------------- */
static void progress(int done, int count, const problem *q)
{
    char shape[48];
    if (!is_terminal(stderr)) return;
    if (!q) {
        fprintf(stderr, "\r%-60s\r", "");
        return;
    }
    shape_text(&q->p, shape, sizeof shape);
    fprintf(stderr, "\r[%d/%d] %s %s %-30s\r", done, count, type_names[q->type], op_names[q->p.op],
            shape);
}

static void fill(bench *w, const matrix *m, u64 seed)
{
    must(cudaMemsetAsync(m->start, 0xff, matrix_bytes(m, w->q.type), w->stream), "poison");
    fill_random<<<2048, 256, 0, w->stream>>>(w->q.type, *m, matrix_cells(m), seed);
    if (w->q.p.phi > 0 && w->q.type != TMM_INT)
        spread<<<2048, 256, 0, w->stream>>>(w->q.type, *m, matrix_cells(m), w->q.p.phi, mix(~seed));
}

/* Is it timed beside cuBLAS alone? */
static int apart(const problem *q, const contender *c)
{
    if (c->kind != OURS || q->type == TMM_INT) return 0;
    return is_auto_tensor(c->kernel) ||
           c->kernel == (q->type == TMM_FLOAT ? TMM_TENSOR : TMM_TENSOR_INT8);
}

/* For which products is auto_tensor another than auto? Double: where it may be. */
static int has_auto_tensor(const problem *q)
{
    const point *p = &q->p;
    return q->type == TMM_FLOAT ||
           (q->type == TMM_DOUBLE && p->batch == 1 && p->M >= 1024 && p->N >= 1024 && p->K >= 1024);
}

static void run_point(bench *w)
{
    problem *q = &w->q;
    const point *p = &q->p;
    contender c[MOST_KERNELS + 4], *cublas = NULL, *lt = NULL, *gemv = NULL, *loop = NULL;
    int count = 0, ours = 0, made_lt = 0, has_peer = 0;
    memset(c, 0, sizeof c);
    fill(w, &q->A, q->seed);
    fill(w, &q->B, mix(q->seed));
    must(cudaGetLastError(), "filling the matrices");

    for (int n = 0; n < w->o.kernel_count; n++) {
        if (!has_auto_tensor(q) && n > 0 && is_auto_tensor(w->o.kernels[n])) continue;
        c[count].kind = OURS, c[count++].kernel = w->o.kernels[n], ours++;
    }
    if (p->M == p->N && p->N == p->K && p->K <= 4096 && p->op == 0 && p->batch == 1 && p->pad == 0)
        c[count].kind = OURS, c[count++].kernel = TMM_SHARED_32; /* the textbook's */
    /* what is left of a product of halves where the same B serves many */
    if (q->type == TMM_FLOAT && p->M == PREPARED && p->N == PREPARED && p->K == PREPARED &&
        p->op == 0 && p->batch == 1 && p->pad == 0 && is_auto_tensor(c[ours - 1].kernel) &&
        tmm_sgemm_prepare_B(q->opB, p->K, p->N, (const float *)matrix_data(&q->B, q->type), q->B.ld,
                            NULL, 0, &w->prepared_B, w->stream) == TMM_OK)
        c[count].kind = OURS, c[count].kernel = TMM_TENSOR, c[count++].prepared = 1;
    int own = count;
    for (int n = 0; n < own; n++) c[n].share = n < ours ? 1 : 0.25;
    if (q->type != TMM_INT) {
        contender best;
        memset(&best, 0, sizeof best);
        if ((p->M == 1 || p->N == 1) && p->batch == 1) {
            contender *v = &c[count];
            v->kind = CUBLAS_GEMV, v->share = 1;
            check(w, v, 0);
            if (strcmp(v->result, "ok") == 0) gemv = v, count++;
        }
        made_lt = !w->o.no_lt;
        if (made_lt && choose_lt(w, &best)) {
            lt = &c[count++];
            *lt = best;
        }
        cublas = &c[count++]; /* the last to write D: it is what ours is compared with */
        cublas->kind = CUBLAS, cublas->share = 1;
        check(w, cublas, 0);
        if (strcmp(cublas->result, "refused") == 0) {
            fprintf(stderr, "gemm: cuBLAS does not do this shape\n");
            cublas = NULL, count--;
        }
        has_peer = cublas != NULL;
        w->failures += has_peer && strcmp(cublas->result, "ok") != 0;
    } else {
        contender peer;
        memset(&peer, 0, sizeof peer);
        peer.kind = PEER;
        check(w, &peer, 0);
        has_peer = strcmp(peer.result, "ok") == 0;
        loop = &c[count++];
        loop->kind = LIMIT, loop->limit = LOOP_IMAD, loop->share = 1, loop->result = "";
    }
    for (int n = 0; n < own; n++) check(w, &c[n], has_peer);

    /* those that refused take no part */
    contender able[MOST_KERNELS + 4];
    int who[MOST_KERNELS + 4], racing = 0;
    for (int n = 0; n < count; n++)
        if (strcmp(c[n].result, "refused") != 0 && !(cublas && apart(q, &c[n])))
            able[racing] = c[n], who[racing++] = n;
    race(w, able, racing, w->o.ms);
    for (int n = 0; n < racing; n++) c[who[n]].us = able[n].us;
    if (loop) w->l.arithmetic[TMM_INT] = loop_rate(w, LOOP_IMAD, loop->us);

    /* products of halves draw the most power: each beside cuBLAS alone */
    contender beside[MOST_KERNELS + 4];
    for (int n = 0; n < own && cublas; n++) {
        beside[n] = *cublas;
        if (strcmp(c[n].result, "refused") == 0 || !apart(q, &c[n])) continue;
        able[0] = c[n], able[1] = *cublas;
        race(w, able, 2, w->o.tensor_ms);
        c[n].us = able[0].us, beside[n].us = able[1].us;
    }

    /* graphs: ours that were asked for, and cublas?gemm */
    int graphed = 0;
    for (int n = 0; n < count; n++)
        if ((n < ours || &c[n] == cublas) && c[n].us > 0 && c[n].us < GRAPH_BELOW)
            able[graphed] = c[n], who[graphed++] = n;
    race_graphs(w, able, graphed, w->o.ms / 2);
    for (int n = 0; n < graphed; n++)
        c[who[n]].graph_us = able[n].graph_us > 0 ? able[n].graph_us : -1;

    for (int n = 0; n < own && cublas; n++) beside[n].graph_us = cublas->graph_us;
    for (int n = 0; n < own; n++) {
        if (strcmp(c[n].result, "ok") == 0 && run_once(w, &c[n]) &&
            look(w).checksum != c[n].checksum)
            c[n].result = "VARIES";
        const char *name = c[n].prepared ? "prepared_B"
                           : n < ours    ? tmm_kernel_string(c[n].kernel)
                                         : "textbook";
        add_row(w, &c[n], name, n < ours || c[n].prepared, cublas ? &beside[n] : NULL, lt, gemv);
        if (c[n].prepared) (void)tmm_sgemm_release(&w->prepared_B, w->stream);
    }
    if (made_lt) drop_lt(w);
}

/* ---------------------------------- goals ----------------------------------------------------- */
/* For one NVIDIA H200. Ratios to cublas?gemm that a shape, NN and dense, should reach. */
static const struct {
    tmm_type type;
    int M, N, K;
    double ratio;
} goals[] = {
    {TMM_FLOAT, 256, 256, 256, 1.3},         {TMM_FLOAT, 320, 320, 320, 1.25},
    {TMM_FLOAT, 512, 512, 512, 1.2},         {TMM_FLOAT, 1024, 1024, 1024, 1.03},
    {TMM_FLOAT, 3072, 3072, 3072, 1.15},     {TMM_FLOAT, 5120, 5120, 5120, 1.12},
    {TMM_FLOAT, 5000, 5000, 5000, 1.08},     {TMM_FLOAT, 128, 128, 65536, 1.15},
    {TMM_FLOAT, 16384, 16, 16384, 1.5},      {TMM_DOUBLE, 8192, 8192, 8192, 0.95},
    {TMM_DOUBLE, 16384, 16384, 16384, 0.95},
};

/* The same of TMM_AUTO_TENSOR. */
static const struct {
    tmm_type type;
    int M, N, K;
    double ratio;
} tensor_goals[] = {
    {TMM_FLOAT, 512, 512, 512, 1.4},    {TMM_FLOAT, 1024, 1024, 1024, 2.8},
    {TMM_FLOAT, 2048, 2048, 2048, 3.3}, {TMM_FLOAT, 3072, 3072, 3072, 3.4},
    {TMM_FLOAT, 4096, 4096, 4096, 3.5}, {TMM_FLOAT, 4099, 4097, 4095, 3.4},
    {TMM_FLOAT, 5000, 5000, 5000, 3.4}, {TMM_FLOAT, 5120, 5120, 5120, 3.4},
    {TMM_FLOAT, 8192, 8192, 8192, 3.7}, {TMM_FLOAT, 16384, 16384, 16384, 3.7},
};

/* Double by products of bytes, squares: TMM_TENSOR_INT8, or TMM_AUTO_TENSOR where that takes it.
   Where the bound is proved by few moduli, by more, and hardly anywhere: then by FP64. */
static const struct {
    int N;
    double phi, ratio;
} int8_goals[] = {
    {2048, 0, 1.05},   {4096, 0, 1.48},   {8192, 0, 1.7},   {16384, 0, 1.88},   {32768, 0, 2},
    {2048, 0.5, 1.05}, {4096, 0.5, 1.48}, {8192, 0.5, 1.7}, {16384, 0.5, 1.88}, {2048, 1, 1},
    {4096, 1, 1.3},    {8192, 1, 1.48},   {16384, 1, 1.55}, {2048, 2, 1},       {4096, 2, 1.3},
    {8192, 2, 1.48},   {16384, 2, 1.55},  {2048, 4, 0.9},   {4096, 4, 0.9},     {8192, 4, 0.9},
    {16384, 4, 0.9},
};

static int missed;

static void goal(const char *what, double reached, double wanted, const char *unit)
{
    if (!(reached > 0)) return; /* not measured */
    int met = reached >= wanted;
    missed += !met;
    printf("  %-52s at least %6.3g%s  %7.3f%s  %s\n", what, wanted, unit, reached, unit,
           met ? "met" : "MISSED");
}

static const row *find_row_by(const char *kernel, tmm_type type, long long M, long long N,
                              long long K, double phi)
{
    for (int n = 0; n < row_count; n++) {
        const row *r = &rows[n];
        if (r->ours && strcmp(r->name, kernel) == 0 && r->type == type && r->p.M == M &&
            r->p.N == N && r->p.K == K && r->p.op == 0 && r->p.batch == 1 && r->p.pad == 0 &&
            r->p.offset == 0 && r->p.phi == phi)
            return r;
    }
    return NULL;
}

static const row *find_row_of(const char *kernel, tmm_type type, long long M, long long N,
                              long long K)
{
    return find_row_by(kernel, type, M, N, K, 0);
}

static const row *find_row(tmm_type type, long long M, long long N, long long K)
{
    return find_row_of("auto", type, M, N, K);
}

typedef struct mean {
    double logs, logs_nn;
    int count, count_nn;
    const row *worst;
} mean;

static mean mean_ratio(const char *kernel, tmm_type type)
{
    mean m;
    memset(&m, 0, sizeof m);
    for (int n = 0; n < row_count; n++) {
        const row *r = &rows[n];
        if (!r->ours || !r->p.listed || r->type != type || strcmp(r->name, kernel) != 0) continue;
        if (!(r->ratio > 0) || strcmp(r->result, "ok") != 0) continue;
        m.logs += log(r->ratio), m.count++;
        if (r->p.op == 0) m.logs_nn += log(r->ratio), m.count_nn++;
        if (!m.worst || r->ratio < m.worst->ratio) m.worst = r;
    }
    return m;
}

static void print_means(const bench *w)
{
    printf("\nratio to cublas?gemm, geometric mean%s:\n",
           w->o.whole_list ? " over the list (without 32, 64, 128 and batches)" : "");
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < w->o.kernel_count; k++) {
            const char *kernel = tmm_kernel_string(w->o.kernels[k]);
            mean m = mean_ratio(kernel, (tmm_type)t);
            if (m.count == 0) continue;
            printf("  %-6s %-16s %.3f over %d points (NN alone: %.3f over %d); worst %.3f at %s "
                   "%s\n",
                   type_names[t], kernel, exp(m.logs / m.count), m.count,
                   m.count_nn ? exp(m.logs_nn / m.count_nn) : 0, m.count_nn, m.worst->ratio,
                   op_names[m.worst->p.op], m.worst->shape);
        }
}

/* TMM_AUTO_TENSOR is never slower than TMM_AUTO: by their times in a graph, which has no launches
   of the host in it, for small products; by their ratios to cuBLAS, each measured in its own race,
   for those so long that clocks change meanwhile. 3% is what such ratios vary. */
static void lowest_gain(const bench *w)
{
    double lowest = 0;
    char what[96];
    const row *worst = NULL;
    for (int a = 0; a < row_count && w->o.types[TMM_FLOAT]; a++) {
        const row *tensor = &rows[a];
        if (!tensor->ours || strcmp(tensor->name, "auto_tensor") != 0 || !(tensor->ratio > 0) ||
            tensor->type != TMM_FLOAT)
            continue;
        for (int b = 0; b < row_count; b++) {
            const row *r = &rows[b];
            if (!r->ours || strcmp(r->name, "auto") != 0 || r->type != TMM_FLOAT ||
                memcmp(&r->p, &tensor->p, sizeof r->p) != 0 || !(r->ratio > 0))
                continue;
            int graphs = r->graph > 0 && tensor->graph > 0;
            double gain = graphs ? r->graph / tensor->graph : tensor->ratio / r->ratio;
            if (!worst || gain < lowest) lowest = gain, worst = tensor;
        }
    }
    if (!worst) return;
    snprintf(what, sizeof what, "float, auto_tensor to auto, lowest: %s %s", op_names[worst->p.op],
             worst->shape);
    goal(what, lowest, 0.97, "");
}

static void int8_reached(const bench *w)
{
    char what[96];
    if (w->l.compiled_for < 90) return; /* not by wgmma */
    for (size_t n = 0; n < sizeof int8_goals / sizeof *int8_goals; n++) {
        const int N = int8_goals[n].N;
        const double phi = int8_goals[n].phi;
        const row *r = find_row_by("tensor_int8", TMM_DOUBLE, N, N, N, phi);
        if (!r) r = find_row_by("auto_tensor", TMM_DOUBLE, N, N, N, phi);
        if (!r || (strcmp(r->name, "auto_tensor") == 0 && strcmp(r->limit, "bytes") != 0)) continue;
        snprintf(what, sizeof what, "double, %s, ratio at %d, phi %g", r->name, N, phi);
        goal(what, r->ratio, int8_goals[n].ratio, "");
    }
}

static void print_goals(const bench *w)
{
    char what[96];
    static const int small[4] = {32, 64, 128, 256};
    static const int thin[3][3] = {{16384, 16, 16384}, {1, 8192, 8192}, {8192, 1, 8192}};
    printf("\ngoals for one NVIDIA H200, TMM_AUTO unless said otherwise, as far as they were "
           "measured:\n");
    for (int t = 0; t < 2; t++) {
        mean m = mean_ratio("auto", (tmm_type)t);
        if (!w->o.types[t] || !w->o.whole_list) continue;
        snprintf(what, sizeof what, "%s, geometric mean of the ratio", type_names[t]);
        goal(what, m.count ? exp(m.logs / m.count) : 0, t ? 1.02 : 1.1, "");
        snprintf(what, sizeof what, "%s, lowest ratio%s%s %s", type_names[t], m.worst ? ": " : "",
                 m.worst ? op_names[m.worst->p.op] : "", m.worst ? m.worst->shape : "");
        goal(what, m.worst ? m.worst->ratio : 0, t ? 0.97 : 0.98, "");
    }
    for (size_t n = 0; n < sizeof goals / sizeof *goals; n++) {
        const row *r = find_row(goals[n].type, goals[n].M, goals[n].N, goals[n].K);
        if (!w->o.types[goals[n].type]) continue;
        snprintf(what, sizeof what, "%s, ratio at %d,%d,%d", type_names[goals[n].type], goals[n].M,
                 goals[n].N, goals[n].K);
        goal(what, r ? r->ratio : 0, goals[n].ratio, "");
    }
    for (size_t n = 0; n < sizeof tensor_goals / sizeof *tensor_goals; n++) {
        int M = tensor_goals[n].M, N = tensor_goals[n].N, K = tensor_goals[n].K;
        const tmm_type type = tensor_goals[n].type;
        const row *r = find_row_of("auto_tensor", type, M, N, K);
        snprintf(what, sizeof what, "%s, auto_tensor, ratio at %d,%d,%d", type_names[type], M, N,
                 K);
        goal(what, r ? r->ratio : 0, tensor_goals[n].ratio, "");
    }
    const row *prepared = find_row_of("prepared_B", TMM_FLOAT, PREPARED, PREPARED, PREPARED);
    snprintf(what, sizeof what, "float, prepared B, ratio at %d", PREPARED);
    goal(what, prepared ? prepared->ratio : 0, 4, "");
    lowest_gain(w);
    int8_reached(w);
    for (int t = 0; t < 2; t++) {
        if (!w->o.types[t]) continue;
        for (int n = 0; n < 4; n++) {
            const row *r = find_row((tmm_type)t, small[n], small[n], small[n]);
            snprintf(what, sizeof what, "%s, %d on a stream: ratio (0.75 of the time)",
                     type_names[t], small[n]);
            goal(what, r ? r->ratio : 0, 1 / 0.75, "");
            snprintf(what, sizeof what, "%s, %d in a graph: ratio", type_names[t], small[n]);
            goal(what, r && r->graph > 0 ? r->cublas_graph / r->graph : 0, 1, "");
        }
        for (int n = 0; n < 3; n++) {
            const row *r = find_row((tmm_type)t, thin[n][0], thin[n][1], thin[n][2]);
            snprintf(what, sizeof what, "%s, %d,%d,%d: of the read bandwidth", type_names[t],
                     thin[n][0], thin[n][1], thin[n][2]);
            goal(what, r ? 100 * r->gbytes * 1e9 / w->l.read : 0, 85, "%");
        }
    }
    for (int n = 0; n < row_count; n++) {
        const row *r = &rows[n];
        if (r->type != TMM_INT || r->p.M < 4096 || r != find_row(TMM_INT, r->p.M, r->p.M, r->p.M))
            continue;
        snprintf(what, sizeof what, "int, %s: of the IMAD loop", r->shape);
        goal(what, r->percent, 80, "%");
    }
    printf("  %d missed\n", missed);
}

/* ---------------------------------- the job --------------------------------------------------- */
static void get_device(bench *w)
{
    limits *l = &w->l;
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int device = 0, version = 0;
    must(cudaGetDevice(&device), "no CUDA device");
    must(cudaGetDeviceProperties(&properties, device), "no CUDA device");
    must(cudaFuncGetAttributes(&attributes, (const void *)empty),
         "the program was not built for this device");
    snprintf(l->device, sizeof l->device, "%s", properties.name);
    l->major = properties.major, l->minor = properties.minor;
    l->processors = properties.multiProcessorCount;
    l->compiled_for = attributes.ptxVersion;
    l->v = get_versions();
    must(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&w->from), "event");
    must(cudaEventCreate(&w->to), "event");
    must_cublas(cublasCreate(&w->cublas), "cublasCreate");
    must_cublas(cublasSetStream(w->cublas, w->stream), "cublasSetStream");
    must_cublas(cublasLtCreate(&w->lt), "cublasLtCreate");
    must_cublas(cublasGetVersion(w->cublas, &version), "cublasGetVersion");
    snprintf(l->cublas, sizeof l->cublas, "%d.%d.%d", version / 10000, version % 10000 / 100,
             version % 100);
    must(cudaMalloc((void **)&w->found, 2 * sizeof *w->found), "memory");
    must(cudaMalloc(&w->lt_workspace, LT_WORKSPACE), "memory");
}

/* Memory for the largest of the points and for the measuring of bandwidth. */
static void get_memory(bench *w)
{
    size_t free_bytes, total, most;
    must(cudaMemGetInfo(&free_bytes, &total), "memory");
    most = free_bytes / 10 * 9;
    w->pool_bytes = (size_t)4 << 30;
    if (w->pool_bytes > most) w->pool_bytes = most;
    for (int t = 0; t < 3; t++)
        for (int n = 0; n < w->o.count && w->o.types[t]; n++) {
            size_t bytes = lay_out(&w->q, &w->o.points[n], (tmm_type)t, NULL);
            if (bytes <= most && bytes > w->pool_bytes) w->pool_bytes = bytes;
        }
    w->pool_bytes = w->pool_bytes / 65536 * 65536 + (w->pool_bytes % 65536 ? 65536 : 0);
    must(cudaMalloc(&w->pool, w->pool_bytes), "memory for the matrices");
}

int main(int count, char **words)
{
    bench *w = &state;
    if (!parse_options(count, words, &w->o)) return 2;
    strict_cublas();
    get_device(w);
    w->csv = open_csv(w->o.csv);
    get_memory(w);
    printf("%s, compute capability %d.%d, built for %d; driver %s, CUDA %s, cuBLAS %s; seed %llu\n",
           w->l.device, w->l.major, w->l.minor, w->l.compiled_for, w->l.v.driver, w->l.v.toolkit,
           w->l.cublas, w->o.seed);
    matrix m = {w->pool, 0, 1, (long long)(w->pool_bytes / 4), (long long)(w->pool_bytes / 4), 1};
    fill_random<<<2048, 256, 0, w->stream>>>(TMM_INT, m, m.cols, w->o.seed);
    must(cudaStreamSynchronize(w->stream), "kernel");
    measure_limits(w);
    print_limits(w);
    heading(w);
    if (w->csv) csv_limits(w);
    int points = 0, done = 0, left_out = 0;
    for (int t = 0; t < 3; t++) points += w->o.types[t] * w->o.count;
    for (int t = 0; t < 3; t++)
        for (int n = 0; n < w->o.count && w->o.types[t]; n++) {
            done++;
            if (lay_out(&w->q, &w->o.points[n], (tmm_type)t, w->pool) > w->pool_bytes) {
                left_out++;
                continue;
            }
            progress(done, points, &w->q);
            w->q.seed = mix(w->o.seed + mix((u64)done));
            run_point(w);
        }
    progress(0, 0, NULL);
    print_means(w);
    if (strstr(w->l.device, "H200") && w->o.kernels[0] == TMM_AUTO) print_goals(w);
    if (left_out) printf("\n%d points left out: this device has too little memory\n", left_out);
    if (!close_csv(w->csv, w->o.csv)) return 2;
    printf("\n%s\n", w->failures ? "some results were WRONG" : "all results are right");
    return w->failures != 0;
}
