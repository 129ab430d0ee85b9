/* bench/accuracy.cu - how far the float or double products of tiledmm.cuh are from the exact ones,
   on data that is kind and data that is not, beside cuBLAS.

   Build   nvcc -O3 -arch=native bench/accuracy.cu -DWITH_CUBLAS -lcublas -o accuracy
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native;
           without the last two words: no rows by cuBLAS. cpu/cucc bench/accuracy.cu for the CPU)
           -DDOUBLE: products of double
   Run     ./accuracy                  all kinds of data, K from 1 to 100000; under a minute
           ./accuracy --kind spike_40 --k 4096
           ./accuracy --help           lists the kinds

   A row is one kind of data at one K, C = A B with M = N = --size. For every element of C
     error = (|C - Cref| - K 2^-150) / (|A||B|)_ij / u,    u = 2^-24, at least 0
   where Cref and |A||B| are summed in double: products of floats are exact there, and the sum is
   off by K 2^-53 (|A||B|)_ij at most, 0.0002 u at K = 100000. K 2^-150 is what K operations may
   lose where results are denormal. An element of C whose |A||B| is 0 must be 0.
   In double it is K 2^-1075 and u = 2^-53. Cref is the sum of two doubles there, off by less than
   K^2 2^-104 (|A||B|)_ij; A and B are scaled to the middle of the range for it, which is exact.
   The largest and the mean error of each contender are shown, in units of u:
     strict   TMM_AUTO, which sums by multiply-adds
     tensor   TMM_TENSOR, if the header has it for float and the device can; of double
              TMM_TENSOR_INT8
     SGEMM    cublasSgemm with a default handle, of double cublasDgemm
     TF32     cublasGemmEx with CUBLAS_COMPUTE_32F_FAST_TF32; of float alone
   The last rows are 4096 x 4096 x 4096, and timed: microseconds of each, five products in a row.
   The promise of the first two is an error of K + 2 (for integers, exactness): a row that breaks it
   is FAILED, and so is the run. The others promise nothing here; "above" says that they broke
   it. */
#define TMM_FLOAT_TENSOR 0 /* compiled, but taken only where it is asked for */
#ifdef DOUBLE
#define TMM_DOUBLE_TENSOR 0
#endif
#include "../tiledmm.cuh"
#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif
#define BENCH "accuracy"
#include "common.h"
#include <time.h>

#ifdef __CUCC__ /* on the CPU runner: to see that it works */
enum { ON_CPU = 1, SIZE = 48 };
#else
enum { ON_CPU = 0, SIZE = 1024 };
#endif

/* ---------------------------------- the type -------------------------------------------------- */
#ifdef DOUBLE
typedef double number;
#define GEMM        tmm_dgemm
#define GEMM_WITH   tmm_dgemm_with
#define GEMM_CHOICE tmm_dgemm_choice
#define CUBLAS_GEMM cublasDgemm
static const tmm_kernel TENSOR_KERNEL = TMM_TENSOR_INT8;
static const double ONE_OVER_U = 9007199254740992.0, LARGEST_NUMBER = 1.7976931348623157e308;
enum { IS_DOUBLE = 1, DENORMAL_STEP = -1075, SLIVER = -54, INTEGER_BITS = 53, WHOLE_BITS = 25 };
/* Powers of two of A and B where a kind of data has them. */
enum { DENORMAL_A = -1050, DENORMAL_B = 700, SMALL = -530, LARGE = 480, TINY = -470, MIXED = 900 };
#else
typedef float number;
#define GEMM        tmm_sgemm
#define GEMM_WITH   tmm_sgemm_with
#define GEMM_CHOICE tmm_sgemm_choice
#define CUBLAS_GEMM cublasSgemm
static const tmm_kernel TENSOR_KERNEL = TMM_TENSOR;
static const double ONE_OVER_U = 16777216.0, LARGEST_NUMBER = 3.4028234663852886e38;
enum { IS_DOUBLE = 0, DENORMAL_STEP = -150, SLIVER = -25, INTEGER_BITS = 24, WHOLE_BITS = 11 };
enum { DENORMAL_A = -130, DENORMAL_B = 100, SMALL = -72, LARGE = 55, TINY = -60, MIXED = 120 };
#endif

/* ---------------------------------- kinds of data --------------------------------------------- */
typedef enum kind {
    UNIFORM,
    POSITIVE,
    NORMAL,
    PHI_HALF,
    PHI_1,
    PHI_2,
    PHI_4,
    PHI_8,
    EQUAL,
    SLIVERS,
    SPIKE_20,
    SPIKE_40,
    GRADED,
    GRADED_K,
    WIDE_24,
    WIDE_30,
    WIDE_36,
    WIDE_60,
    CANCEL,
    DENORMAL,
    DENORMAL_C,
    HUGE_SCALE,
    TINY_SCALE,
    MIXED_SCALE,
    LARGEST,
    INTEGERS,
    KINDS
} kind;

static const struct {
    const char *name, *text;
} kinds[KINDS] = {
    {"uniform", "uniform in (-1, 1)"},
    {"positive", "uniform in (0, 1)"},
    {"normal", "normal, mean 0, deviation 1"},
    {"phi_0.5", "(u - 0.5) exp(0.5 z), u uniform in (0, 1), z normal"},
    {"phi_1", "(u - 0.5) exp(z)"},
    {"phi_2", "(u - 0.5) exp(2 z)"},
    {"phi_4", "(u - 0.5) exp(4 z)"},
    {"phi_8", "(u - 0.5) exp(8 z)"},
    {"equal", "one value to a row of A, one to a column of B: every rounding alike"},
    {"slivers", "A is 1 at every 64th k, else just under 2^-25 (double: 2^-54); B is 1"},
    {"spike_20", "uniform, an element of 2^20 in each row of A, which meets zeros of B"},
    {"spike_40", "the same with 2^40"},
    {"graded", "uniform, rows of A and columns of B by 2^-30 to 2^30"},
    {"graded_k", "uniform, column k of A by 2^-20 to 2^20 and row k of B by 2^20 to 2^-20"},
    {"wide_24", "both signs, exponents uniform from -24 to 0"},
    {"wide_30", "both signs, exponents uniform from -30 to 0"},
    {"wide_36", "both signs, exponents uniform from -36 to 0"},
    {"wide_60", "both signs, exponents uniform from -60 to 0"},
    {"cancel", "uniform, A = (X, X) and B = (Y; -Y): C is 0"},
    {"denormal", "uniform, A by 2^-130 and B by 2^100 (2^-1050, 2^700): A is denormal"},
    {"denormal_c", "uniform, A and B by 2^-72 (2^-530): C is denormal"},
    {"huge", "uniform by 2^55 (2^480)"},
    {"tiny", "uniform by 2^-60 (2^-470)"},
    {"mixed", "uniform, A by 2^120 and B by 2^-120 (2^900, 2^-900)"},
    {"largest", "uniform, A by the largest number and B by 2^-20"},
    {"integers", "whole numbers below 2^11 (2^25), |A||B| below 2^24 (2^53): C must be exact"},
};

/* In (0, 1), never 0 and never 1. */
static __device__ double fraction(u64 bits)
{
    return ((double)(bits >> 12) + 0.5) / 4503599627370496.0;
}

/* As a float, not away from zero: 1 - 2^-53 would be 1. */
static __device__ number shorten(double x)
{
#ifdef DOUBLE
    return x;
#else
    float y = (float)x;
    return fabs((double)y) > fabs(x) ? __int_as_float(__float_as_int(y) - 1) : y;
#endif
}

/* The power of two by which all of A, or B, is scaled. */
static __host__ __device__ int power_of(kind what, int of_B)
{
    switch (what) {
    case DENORMAL: return of_B ? DENORMAL_B : DENORMAL_A;
    case DENORMAL_C: return SMALL;
    case HUGE_SCALE: return LARGE;
    case TINY_SCALE: return TINY;
    case MIXED_SCALE: return of_B ? -MIXED : MIXED;
    default: return 0;
    }
}

static __device__ double normal(u64 bits)
{
    return sqrt(-2 * log(fraction(bits))) * cos(6.283185307179586 * fraction(mix(bits ^ 0x5bd1)));
}

/* Element k of row `line` of A, or of column `line` of B. */
static __device__ double element(kind what, int of_B, long long line, long long k, long long K,
                                 u64 seed)
{
    u64 side = mix(seed + (u64)of_B), bits = mix(side + (u64)line * 0x100000001b3ull + (u64)k);
    u64 more = mix(bits ^ 0xa5a5);
    double x = 2 * fraction(bits) - 1;
    switch (what) {
    case POSITIVE: return fraction(bits);
    case NORMAL: return normal(bits);
    case PHI_HALF: return 0.5 * x * exp(0.5 * normal(more));
    case PHI_1: return 0.5 * x * exp(normal(more));
    case PHI_2: return 0.5 * x * exp(2 * normal(more));
    case PHI_4: return 0.5 * x * exp(4 * normal(more));
    case PHI_8: return 0.5 * x * exp(8 * normal(more));
    case EQUAL: return 0.5 + 0.5 * fraction(mix(side + (u64)line));
    case SLIVERS: return of_B || k % 64 == 0 ? 1 : ldexp(0.9995, SLIVER);
    case SPIKE_20:
    case SPIKE_40:
        if (K <= 5) return x;
        if (of_B) return k % 16 == 5 ? 0 : x;
        return k == line % ((K + 10) / 16) * 16 + 5 ? ldexp(x, what == SPIKE_20 ? 20 : 40) : x;
    case GRADED: return ldexp(x, (int)(line * (of_B ? 11 : 7) % 61) - 30);
    case GRADED_K: {
        int power = K > 1 ? (int)(40 * k / (K - 1)) - 20 : 0;
        return ldexp(x, of_B ? -power : power);
    }
    case WIDE_24: return copysign(ldexp(1 + fabs(x), -(int)(more % 25)), x);
    case WIDE_30: return copysign(ldexp(1 + fabs(x), -(int)(more % 31)), x);
    case WIDE_36: return copysign(ldexp(1 + fabs(x), -(int)(more % 37)), x);
    case WIDE_60: return copysign(ldexp(1 + fabs(x), -(int)(more % 61)), x);
    case CANCEL: {
        long long half = K / 2, twin = k < half ? k : k - half;
        if (twin >= half) return 0; /* the odd one */
        x = 2 * fraction(mix(side + (u64)line * 0x100000001b3ull + (u64)twin)) - 1;
        return of_B && k >= half ? -(double)shorten(x) : x;
    }
    case LARGEST: return of_B ? ldexp(x, -20) : x * LARGEST_NUMBER;
    case INTEGERS: {
        /* (2^11 - 1) (2^13 - 1) < 2^24 */
        const double whole = (1 << WHOLE_BITS) - 1;
        const long long all = (1 << (INTEGER_BITS - WHOLE_BITS)) - 1;
        double most = of_B ? floor((double)all / (double)K) : whole;
        if (of_B && K > all) return k % (K / all + 1) == 0 ? (more % 2 ? 1 : -1) : 0;
        most = most > whole ? whole : most;
        return floor(x * (most + 0.5) + 0.5);
    }
    default: return ldexp(x, power_of(what, of_B));
    }
}

/* Fills a matrix of rows x cols. */
static __global__ void fill(kind what, int of_B, number *X, long long rows, long long cols,
                            long long K, u64 seed)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < rows * cols;
         at += step) {
        long long row = at / cols, col = at % cols;
        X[at] = shorten(element(what, of_B, of_B ? col : row, of_B ? row : col, K, seed));
    }
}

/* ---------------------------------- reference and errors -------------------------------------- */
enum { TILE = 64, DEPTH = 16, EACH = 4 };

/* Adds x y to the sum of two doubles (Dekker; Knuth): what is rounded away goes to `low`. */
static __device__ __forceinline__ void add_product(double x, double y, double *high, double *low)
{
#ifdef DOUBLE
    double product = x * y, rest = fma(x, y, -product);
    double sum = *high + product, part = sum - *high;
    *low += (*high - (sum - part)) + (product - part) + rest;
    *high = sum;
#else
    *high = fma(x, y, *high);
    (void)low;
#endif
}

/* What a reference is made of: A and B times 2^-power_A and 2^-power_B. */
typedef struct operands {
    const number *A, *B;
    int power_A, power_B;
} operands;

/* R + L = A B and S = |A||B|: 256 threads to a tile of 64 x 64, 4 x 4 elements each. */
static __global__ void reference(operands from, double *R, double *L, double *S, int M, int N,
                                 long long K)
{
    const number *A = from.A, *B = from.B;
    __shared__ double a[DEPTH][TILE + 1], b[DEPTH][TILE];
    int row0 = (int)blockIdx.y * TILE, col0 = (int)blockIdx.x * TILE, thread = (int)threadIdx.x;
    int i0 = thread / (TILE / EACH), j0 = thread % (TILE / EACH);
    double sum[EACH][EACH] = {{0}}, low[EACH][EACH] = {{0}}, size[EACH][EACH] = {{0}};
    for (long long k0 = 0; k0 < K; k0 += DEPTH) {
        for (int n = thread; n < TILE * DEPTH; n += 256) {
            int i = n / DEPTH, k = n % DEPTH;
            double x = row0 + i < M && k0 + k < K ? A[(row0 + i) * K + k0 + k] : 0;
            a[k][i] = IS_DOUBLE ? ldexp(x, -from.power_A) : x;
        }
        for (int n = thread; n < TILE * DEPTH; n += 256) {
            int k = n / TILE, j = n % TILE;
            double y = col0 + j < N && k0 + k < K ? B[(k0 + k) * N + col0 + j] : 0;
            b[k][j] = IS_DOUBLE ? ldexp(y, -from.power_B) : y;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) {
                    double x = a[k][i0 + i * (TILE / EACH)], y = b[k][j0 + j * (TILE / EACH)];
                    add_product(x, y, &sum[i][j], &low[i][j]);
                    size[i][j] = fma(fabs(x), fabs(y), size[i][j]);
                }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            int row = row0 + i0 + i * (TILE / EACH), col = col0 + j0 + j * (TILE / EACH);
            if (row >= M || col >= N) continue;
            R[(long long)row * N + col] = sum[i][j];
            if (IS_DOUBLE) L[(long long)row * N + col] = low[i][j];
            S[(long long)row * N + col] = size[i][j];
        }
}

enum { BLOCKS = 256, WARPS = BLOCKS * 8 };
typedef struct findings {
    u64 largest; /* the bits of a double, in units of u */
    double sums[WARPS];
} findings;

/* `power`: R, L and S are 2^-power of what C should be. */
static __global__ void compare(const number *C, const double *R, const double *L, const double *S,
                               long long count, int power, double allowed, findings *f)
{
    long long step = (long long)gridDim.x * blockDim.x;
    double largest = 0, sum = 0;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) {
        double is = IS_DOUBLE ? ldexp((double)C[at], -power) : (double)C[at];
        double off = fabs((is - R[at]) - (IS_DOUBLE ? L[at] : 0)) - allowed, error = 0;
        if (off > 0) error = off / S[at] * ONE_OVER_U;
        if (!isfinite(C[at]) || !(error <= 1e99) || (S[at] == 0 && C[at] != 0)) error = 1e99;
        largest = error > largest ? error : largest;
        sum += error;
    }
    for (int lane = 16; lane; lane /= 2) {
        double other = __shfl_xor_sync(~0u, largest, lane);
        largest = other > largest ? other : largest;
        sum += __shfl_xor_sync(~0u, sum, lane);
    }
    if (threadIdx.x % 32 != 0) return;
    f->sums[((int)blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
    atomicMax(&f->largest, (u64)__double_as_longlong(largest));
}

/* ---------------------------------- what is asked for ----------------------------------------- */
enum { MOST_K = 64 };
typedef struct options {
    int kinds[KINDS], any_kind, quick, ks;
    long long K[MOST_K], size;
    const char *csv;
    u64 seed;
} options;

static void print_help(void)
{
    printf("usage: accuracy [options]\n"
           "The error of products of tiledmm.cuh, and of cuBLAS, against sums of more bits.\n\n"
           "  --kind NAME   this kind of data only (repeatable); see below\n"
           "  --k K         this K only (repeatable)\n"
           "  --size N      C is N x N (default %d)\n"
           "  --quick       a few K, and C at most 256 x 256\n"
           "  --csv FILE    writes the rows to FILE as well\n"
           "  --seed S      repeats the data of another run\n"
           "  --help        this text\n\nkinds:\n",
           SIZE);
    for (int n = 0; n < KINDS; n++) printf("  %-11s %s\n", kinds[n].name, kinds[n].text);
}

static int parse_options(int count, char **words, options *o)
{
#ifdef DOUBLE
    static const int all[] = {1, 2, 15, 16, 31, 100, 1000, 1024, 4096, 16384, 65536};
#else
    static const int all[] = {1, 2, 3, 5, 8, 16, 31, 64, 100, 256, 1000, 1024, 4096, 10000, 100000};
#endif
    static const int few[] = {1, 31, 64, 1000};
    memset(o, 0, sizeof *o);
    o->seed = (u64)time(NULL);
    o->quick = ON_CPU;
    for (int n = 1; n < count; n++) {
        const char *word = words[n], *value = n + 1 < count ? words[n + 1] : NULL;
        const char *shown = value ? value : "nothing";
        long long number;
        if (strcmp(word, "--help") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--quick") == 0) {
            o->quick = 1;
            continue;
        } else if (strcmp(word, "--kind") == 0) {
            int found = 0;
            while (found < KINDS && !(value && strcmp(value, kinds[found].name) == 0)) found++;
            if (found == KINDS) return refuse("--kind: there is no kind '%s'", shown);
            o->kinds[found] = o->any_kind = 1;
        } else if (strcmp(word, "--k") == 0) {
            if (!parse_number(value, 0, 1, 1 << 24, &number))
                return refuse("--k is a whole number from 1 to 2^24, not '%s'", shown);
            if (o->ks == MOST_K) return refuse("%s: too many of them", word);
            o->K[o->ks++] = number;
        } else if (strcmp(word, "--size") == 0) {
            if (!parse_number(value, 0, 1, 32768, &o->size))
                return refuse("--size is a whole number from 1 to 32768, not '%s'", shown);
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
    for (int n = 0; n < KINDS && !o->any_kind; n++) o->kinds[n] = 1;
    int own_ks = o->ks;
    for (size_t n = 0; n < (o->quick ? sizeof few : sizeof all) / sizeof(int) && !own_ks; n++)
        o->K[o->ks++] = o->quick ? few[n] : all[n];
    if (!o->size) o->size = o->quick && SIZE > 256 ? 256 : SIZE;
    return 1;
}

/* ---------------------------------- the job --------------------------------------------------- */
typedef enum contender { STRICT, TENSOR, SGEMM, TF32, CONTENDERS } contender;
#ifdef DOUBLE
static const char *const names[CONTENDERS] = {"strict", "tensor_int8", "cublas_dgemm", ""};
static const char *const headings[CONTENDERS] = {"strict", "int8", "DGEMM", ""};
#else
static const char *const names[CONTENDERS] = {"strict", "tensor", "cublas_sgemm", "cublas_tf32"};
static const char *const headings[CONTENDERS] = {"strict", "tensor", "SGEMM", "TF32"};
#endif

typedef struct bench {
    options o;
    int has[CONTENDERS];
    number *A, *B, *C;
    double *R, *L, *S;
    findings *found, *copied;
    char device[256], versions[96], machine[400];
    const char *where; /* the columns that say on which machine, in the first row */
    FILE *csv;
    int rows, failures;
#ifdef WITH_CUBLAS
    cublasHandle_t cublas;
#endif
} bench;

/* C = A B by one of them; 0 if it does not do this. */
static int multiply(bench *w, contender who, int M, int N, long long K)
{
    switch (who) {
    case STRICT:
        if (GEMM_CHOICE(M, N, K, 1) == TENSOR_KERNEL) {
            fprintf(stderr,
                    "accuracy: TMM_AUTO takes tensor cores: that is not the strict kernel\n");
            exit(2);
        }
        return GEMM(TMM_OP_N, TMM_OP_N, M, N, K, 1, w->A, K, w->B, N, 0, w->C, N, 0) == TMM_OK;
    case TENSOR:
        return GEMM_WITH(TENSOR_KERNEL, TMM_OP_N, TMM_OP_N, M, N, K, 1, w->A, K, w->B, N, 0, w->C,
                         N, 0) == TMM_OK;
#ifdef WITH_CUBLAS /* column-major: C^T = B^T A^T */
    case SGEMM: {
        number one = 1, zero = 0;
        return CUBLAS_GEMM(w->cublas, CUBLAS_OP_N, CUBLAS_OP_N, N, M, (int)K, &one, w->B, N, w->A,
                           (int)K, &zero, w->C, N) == CUBLAS_STATUS_SUCCESS;
    }
    case TF32: {
        float one = 1, zero = 0;
        return cublasGemmEx(w->cublas, CUBLAS_OP_N, CUBLAS_OP_N, N, M, (int)K, &one, w->B,
                            CUDA_R_32F, N, w->A, CUDA_R_32F, (int)K, &zero, w->C, CUDA_R_32F, N,
                            CUBLAS_COMPUTE_32F_FAST_TF32,
                            CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
    }
#endif
    default: return 0;
    }
}

/* Microseconds of a product, one after the other, after one that warmed up: how long data take
   whose elements are not all computed alike. */
static double time_of(bench *w, contender who, int M, int N, long long K)
{
    enum { TIMES = 5 };
    cudaEvent_t begin, end;
    float ms = 0;
    must(cudaEventCreate(&begin), "an event");
    must(cudaEventCreate(&end), "an event");
    must(cudaEventRecord(begin, 0), "an event");
    for (int n = 0; n < TIMES; n++) multiply(w, who, M, N, K);
    must(cudaEventRecord(end, 0), "an event");
    must(cudaEventSynchronize(end), "the products that were timed");
    must(cudaEventElapsedTime(&ms, begin, end), "an event");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return ms * 1000 / TIMES;
}

static void run_point(bench *w, kind what, int size, long long K, int timed)
{
    double us[CONTENDERS] = {0};
    int M = size, N = size;
    u64 seed = mix(w->o.seed + mix((u64)what * 1000003u + (u64)K + (u64)size * 7919u));
    dim3 tiles((unsigned)((N - 1) / TILE + 1), (unsigned)((M - 1) / TILE + 1));
    fill<<<2048, 256>>>(what, 0, w->A, M, K, K, seed);
    fill<<<2048, 256>>>(what, 1, w->B, K, N, K, seed);
    const operands from = {w->A, w->B, power_of(what, 0), power_of(what, 1)};
    const int power = IS_DOUBLE ? from.power_A + from.power_B : 0;
    reference<<<tiles, 256>>>(from, w->R, w->L, w->S, M, N, K);
    must(cudaGetLastError(), "the reference");
    double promise = what == INTEGERS ? 0 : (double)K + 2;
    const char *verdict = "ok";
    printf("%-11s %6d %7lld %8.0f", kinds[what].name, size, K, promise);
    for (int who = 0; who < CONTENDERS; who++) {
        if (!w->has[who]) continue;
        must(cudaMemset(w->C, 0xff, (size_t)M * (size_t)N * sizeof(number)), "poison"); /* NaN */
        must(cudaMemset(w->found, 0, sizeof *w->found), "poison");
        if (!multiply(w, (contender)who, M, N, K)) {
            printf("  %9s %9s", "refused", "");
            if (who == STRICT) {
                fprintf(stderr, "accuracy: %s\n", tmm_last_error());
                w->failures++;
            }
            continue;
        }
        compare<<<BLOCKS, 256>>>(w->C, w->R, w->L, w->S, (long long)M * N, power,
                                 (double)K * ldexp(1, DENORMAL_STEP - power), w->found);
        must(cudaGetLastError(), "the comparison");
        must(cudaMemcpy(w->copied, w->found, sizeof *w->found, cudaMemcpyDeviceToHost),
             "the kernels that were checked");
        double largest, mean = 0;
        memcpy(&largest, &w->copied->largest, sizeof largest);
        for (int n = 0; n < WARPS; n++) mean += w->copied->sums[n];
        mean /= (double)M * N;
        int ours = who == STRICT || who == TENSOR, broken = !(largest <= promise);
        const char *result = !broken ? "ok" : ours ? "FAILED" : "above";
        if (broken && ours) w->failures++;
        if (broken && (ours || strcmp(verdict, "ok") == 0)) verdict = result;
        printf("  %9.3g %9.2g", largest, mean);
        char time[24] = "";
        if (timed) {
            us[who] = time_of(w, (contender)who, M, N, K);
            snprintf(time, sizeof time, "%.1f", us[who]);
        }
        if (w->csv)
            fprintf(w->csv, "%s,%d,%lld,%s,%s,%.4g,%.4g,%s,%s,%s\n", kinds[what].name, M, K,
                    names[who], who == STRICT ? tmm_kernel_string(GEMM_CHOICE(M, N, K, 1)) : "",
                    largest, mean, result, time, w->where);
        w->where = ",,,,"; /* once is enough */
    }
    printf("  %s", verdict);
    if (timed) printf("  us:");
    for (int who = 0; who < CONTENDERS && timed; who++)
        if (w->has[who]) printf(" %.0f", us[who]);
    printf("\n");
    fflush(stdout);
    w->rows++;
}

static void set_up(bench *w)
{
    cudaDeviceProp properties;
    cuda_versions v = get_versions();
    int device = 0, version = 0;
    must(cudaGetDevice(&device), "no CUDA device");
    must(cudaGetDeviceProperties(&properties, device), "no CUDA device");
    w->has[STRICT] = 1;
#ifdef WITH_CUBLAS
#ifndef _WIN32 /* settings that would let cuBLAS compute otherwise than strictly, or than in TF32 */
    unsetenv("NVIDIA_TF32_OVERRIDE");
    unsetenv("CUBLAS_EMULATE_SINGLE_PRECISION");
    unsetenv("CUBLAS_EMULATE_DOUBLE_PRECISION");
#endif
    must_cublas(cublasCreate(&w->cublas), "cublasCreate");
    cublasGetVersion(w->cublas, &version);
    w->has[SGEMM] = 1;
    w->has[TF32] = !IS_DOUBLE;
#endif
    snprintf(w->device, sizeof w->device, "%s", properties.name);
    snprintf(w->versions, sizeof w->versions, "%s,%s,%d.%d.%d", v.driver, v.toolkit,
             version / 10000, version % 10000 / 100, version % 100);
    snprintf(w->machine, sizeof w->machine, "\"%s\",%s,%llu", w->device, w->versions, w->o.seed);
    w->where = w->machine;
    w->csv = open_csv(w->o.csv);
    if (w->csv)
        fprintf(w->csv, "kind,M,K,kernel,choice,max_u,mean_u,result,us,device,driver,toolkit,"
                        "cublas,seed\n");
}

/* For operands and results of that many elements. */
static void get_memory(bench *w, long long most_operand, long long elements)
{
    must(cudaMalloc((void **)&w->A, (size_t)most_operand * sizeof(number)), "memory for A");
    must(cudaMalloc((void **)&w->B, (size_t)most_operand * sizeof(number)), "memory for B");
    must(cudaMalloc((void **)&w->C, (size_t)elements * sizeof(number)), "memory for C");
    must(cudaMalloc((void **)&w->R, (size_t)elements * sizeof(double)), "memory");
    if (IS_DOUBLE) must(cudaMalloc((void **)&w->L, (size_t)elements * sizeof(double)), "memory");
    must(cudaMalloc((void **)&w->S, (size_t)elements * sizeof(double)), "memory");
    must(cudaMalloc((void **)&w->found, sizeof *w->found), "memory");
    w->copied = (findings *)malloc(sizeof *w->copied);
    if (!w->copied) exit(2);
}

int main(int count, char **words)
{
    static bench state;
    bench *w = &state;
    static const kind squares[] = {UNIFORM, POSITIVE, NORMAL,   PHI_HALF, PHI_2,
                                   PHI_4,   PHI_8,    SPIKE_40, WIDE_36,  WIDE_60};
    if (!parse_options(count, words, &w->o)) return 2;
    set_up(w);
    /* the large squares: as other studies of such products have them; the last ones have elements
       that large tiles compute by six products */
    long long size = w->o.size, most = size, K = 0;
    int large = !w->o.quick && !w->o.any_kind && size == SIZE && w->o.ks > 1 ? 4096 : 0;
    for (int n = 0; n < w->o.ks; n++) K = w->o.K[n] > K ? w->o.K[n] : K;
    if (large > most) most = large;
    long long operand = K * size > most * large ? K * size : most * large, trial = 256;
    operand = operand > trial * trial ? operand : trial * trial;
    most = most > trial ? most : trial;
    get_memory(w, operand, most * most);
    /* has this header the tensor path for this type, and can this device do it? */
    fill<<<64, 256>>>(UNIFORM, 0, w->A, trial, trial, trial, 1);
    fill<<<64, 256>>>(UNIFORM, 1, w->B, trial, trial, trial, 1);
    w->has[TENSOR] = multiply(w, TENSOR, (int)trial, (int)trial, trial);
    must(cudaDeviceSynchronize(), "the first product");

    printf("%s; driver, CUDA, cuBLAS: %s; seed %llu\n", w->device, w->versions, w->o.seed);
    if (!w->has[TENSOR]) printf("no tensor path here: %s\n", tmm_last_error());
    printf("largest and mean error, in units of u (|A||B|)_ij\n%-11s %6s %7s %8s", "kind", "M = N",
           "K", "promise");
    for (int who = 0; who < CONTENDERS; who++)
        if (w->has[who]) printf("  %9s %9s", headings[who], "mean");
    printf("\n");
    for (int what = 0; what < KINDS; what++) {
        if (!w->o.kinds[what]) continue;
        for (int n = 0; n < w->o.ks; n++) run_point(w, (kind)what, (int)size, w->o.K[n], 0);
    }
    for (int n = 0; n < (int)(sizeof squares / sizeof *squares) && large; n++)
        run_point(w, squares[n], large, large, 1);
    if (!close_csv(w->csv, w->o.csv)) return 2;
    printf("%d rows, %d FAILED\n", w->rows, w->failures);
    return w->failures != 0;
}
