/* bench/accuracy.cu - the errors of the float or double products of tiledmm.cuh, on data that is
   kind and data that is not, beside cuBLAS.

   Build   nvcc -O3 -arch=native bench/accuracy.cu -DWITH_CUBLAS -lcublas -o accuracy
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native;
           without the last two words: no rows by cuBLAS. cpu/cucc bench/accuracy.cu for the CPU)
           -DDOUBLE: products of double
   Run     ./accuracy                  all kinds of data, K from 1 to 100000; under a minute
           ./accuracy --kind spike_40 --k 4096
           ./accuracy --help           lists the kinds

   A row is one kind of data at one K, C = A B with M = N = --size. For every element of C
     error = (|C - Cref| - K 2^-150) / (|A||B|)_ij / u,    u = 2^-24, at least 0
   where Cref is the sum of two doubles (check.h), off by less than K^2 2^-104 (|A||B|)_ij. K 2^-150
   is what K operations may lose where results are denormal. An element of C whose |A||B| is 0 must
   be 0. In double it is K 2^-1075 and u = 2^-53; where products are denormal A is scaled for Cref,
   which is exact. The largest and the mean error of each contender are shown, in units of u:
     strict   TMM_AUTO, which sums by multiply-adds
     tensor   TMM_TENSOR, if the header has it for float and the device can; of double
              TMM_TENSOR_INT8
     SGEMM    cublasSgemm with a default handle, of double cublasDgemm
     TF32     cublasSgemm with CUBLAS_TF32_TENSOR_OP_MATH; of float alone
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
#include "data.h"
#include "race.h"

#ifdef __CUCC__ /* on the CPU runner: to see that it works */
enum { ON_CPU = 1, SIZE = 48 };
#else
enum { ON_CPU = 0, SIZE = 1024 };
#endif
enum { STRICT, TENSOR, CUBLAS, TF32, CONTENDERS };
#ifdef DOUBLE
enum { IS_DOUBLE = 1, DENORMAL_STEP = -1075 };
static const double LARGEST = 0x1.fffffffffffffp1023;
static const int depths[] = {1, 2, 15, 16, 31, 100, 1000, 1024, 4096, 16384, 65536};
static const char *const names[CONTENDERS] = {"strict", "tensor_int8", "cublas_dgemm"};
static const char *const headings[CONTENDERS] = {"strict", "int8", "DGEMM"};
#define OF_TYPE(in_float, in_double) in_double
#else
enum { IS_DOUBLE = 0, DENORMAL_STEP = -150 };
static const double LARGEST = 0x1.fffffep127;
static const int depths[] = {1, 2, 3, 5, 8, 16, 31, 64, 100, 256, 1000, 1024, 4096, 10000, 100000};
static const char *const names[CONTENDERS] = {"strict", "tensor", "cublas_sgemm", "cublas_tf32"};
static const char *const headings[CONTENDERS] = {"strict", "tensor", "SGEMM", "TF32"};
#define OF_TYPE(in_float, in_double) in_float
#endif
static const tmm_type TYPE = OF_TYPE(TMM_FLOAT, TMM_DOUBLE);
static const tmm_kernel TENSOR_KERNEL = OF_TYPE(TMM_TENSOR, TMM_TENSOR_INT8);

/* ---------------------------------- kinds of data --------------------------------------------- */
static const double DENORMAL_A = OF_TYPE(0x1p-130, 0x1p-1050),
                    DENORMAL_B = OF_TYPE(0x1p100, 0x1p700);
static const double SLIVER = OF_TYPE(0.9995 * 0x1p-25, 0.9995 * 0x1p-54);
static const double SMALL = OF_TYPE(0x1p-72, 0x1p-530), LARGE = OF_TYPE(0x1p55, 0x1p480);
static const double TINY = OF_TYPE(0x1p-60, 0x1p-470), MIXED = OF_TYPE(0x1p120, 0x1p900);

static const struct {
    const char *name;
    int form;
    double a, b; /* what the form asks of A and of B */
    int squares; /* among the large squares, too */
    const char *text;
} data[] = {
    {"uniform", UNIFORM, 1, 1, 1, "uniform in (-1, 1)"},
    {"positive", POSITIVE, 0, 0, 1, "uniform in (0, 1)"},
    {"normal", NORMAL, 0, 0, 1, "normal, mean 0, deviation 1"},
    {"phi_0.5", PHI, 0.5, 0.5, 1, "(u - 0.5) exp(0.5 z), u uniform in (0, 1), z normal"},
    {"phi_1", PHI, 1, 1, 0, "(u - 0.5) exp(z)"},
    {"phi_2", PHI, 2, 2, 1, "(u - 0.5) exp(2 z)"},
    {"phi_4", PHI, 4, 4, 1, "(u - 0.5) exp(4 z)"},
    {"phi_8", PHI, 8, 8, 1, "(u - 0.5) exp(8 z)"},
    {"equal", EQUAL, 0, 0, 0, "a value to a row of A, one to a column of B: roundings alike"},
    {"slivers", SLIVERS, SLIVER, 1, 0, "A is 1 at every 64th k, else just under u/2; B is 1"},
    {"spike_20", SPIKE, 20, 20, 0, "uniform, 2^20 once in each row of A, which meets zeros of B"},
    {"spike_40", SPIKE, 40, 40, 1, "the same with 2^40"},
    {"graded", GRADED, 0, 0, 0, "uniform, rows of A and columns of B by 2^-30 to 2^30"},
    {"graded_k", BY_K, 0, 0, 0, "uniform, along k A by 2^-20 to 2^20 and B by 2^20 to 2^-20"},
    {"wide_24", WIDE, 24, 24, 0, "both signs, exponents uniform from -24 to 0"},
    {"wide_30", WIDE, 30, 30, 0, "both signs, exponents uniform from -30 to 0"},
    {"wide_36", WIDE, 36, 36, 1, "both signs, exponents uniform from -36 to 0"},
    {"wide_60", WIDE, 60, 60, 1, "both signs, exponents uniform from -60 to 0"},
    {"cancel", CANCEL, 0, 0, 0, "uniform, A = (X, X) and B = (Y; -Y): C is 0"},
    {"denormal", UNIFORM, DENORMAL_A, DENORMAL_B, 0, "uniform, A denormal: by 2^-130 (2^-1050)"},
    {"denormal_c", UNIFORM, SMALL, SMALL, 0, "uniform by 2^-72 (2^-530): C is denormal"},
    {"huge", UNIFORM, LARGE, LARGE, 0, "uniform by 2^55 (2^480)"},
    {"tiny", UNIFORM, TINY, TINY, 0, "uniform by 2^-60 (2^-470)"},
    {"mixed", UNIFORM, MIXED, 1 / MIXED, 0, "uniform, A by 2^120 (2^900), B by its inverse"},
    {"largest", UNIFORM, LARGEST, 0x1p-20, 0, "uniform, A by the largest number, B by 2^-20"},
    {"integers", WHOLE, 0, 0, 0, "whole numbers, |A||B| below 2^24 (2^53): C must be exact"},
};
enum { KINDS_OF_DATA = sizeof data / sizeof *data };

/* ---------------------------------- errors ---------------------------------------------------- */
/* What each contender has made of C; a start of NULL: nothing. */
typedef struct results {
    matrix of[CONTENDERS];
} results;

/* Of one of them, in units of u. */
typedef struct errors {
    u64 largest; /* the bits of a double */
    double sum;
} errors;

/* Each element is summed once, for all of them. `scale` is that of sum_products, `allowed` what is
   no error. */
static __global__ void compare(operands from, results all, double unit, double scale,
                               double allowed, errors *found)
{
    const matrix m = all.of[STRICT];
    const long long step = (long long)gridDim.x * blockDim.x, count = m.rows * m.cols;
    double largest[CONTENDERS] = {0}, sum[CONTENDERS] = {0};
    for (long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x; c < count; c += step) {
        const long long row = c / m.cols, col = c % m.cols;
        const chain at = chain_of(&from, m.rows, row, col);
        const exact_sum right = sum_products(&from, &at, 0, 1, scale);
        for (int n = 0; n < (int)CONTENDERS; n++) {
            if (!all.of[n].start) continue;
            double is = scale * load(TYPE, all.of[n].start, m.first + row * m.ld + col), error = 0;
            double off = fabs((is - right.hi) - right.lo) - allowed;
            if (off > 0) error = off / right.size / unit;
            if (!isfinite(is) || !(error <= 1e99) || (right.size == 0 && is != 0)) error = 1e99;
            largest[n] = fmax(largest[n], error), sum[n] += error;
        }
    }
    for (int n = 0; n < (int)CONTENDERS; n++) {
        for (int lane = 16; lane; lane /= 2) {
            largest[n] = fmax(largest[n], __shfl_xor_sync(~0u, largest[n], lane));
            sum[n] += __shfl_xor_sync(~0u, sum[n], lane);
        }
        if (threadIdx.x % 32 != 0) continue;
        atomicMax(&found[n].largest, (u64)__double_as_longlong(largest[n]));
        atomicAdd(&found[n].sum, sum[n]);
    }
}

/* ---------------------------------- what is asked for ----------------------------------------- */
typedef struct options {
    int kinds[KINDS_OF_DATA], any_kind, quick;
    number_list K;
    long long size, seed;
    const char *csv;
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
    for (int n = 0; n < (int)KINDS_OF_DATA; n++) printf("  %-11s %s\n", data[n].name, data[n].text);
}

static int parse_kind(const option *known, const char *value)
{
    options *o = (options *)known->to;
    int found = 0;
    for (int n = 0; n < (int)KINDS_OF_DATA && value; n++)
        if (strcmp(value, data[n].name) == 0) o->kinds[n] = o->any_kind = found = 1;
    return found;
}

static int parse_options(int count, char **words, options *o)
{
    static const int few[] = {1, 31, 64, 1000};
    const option known[] = {
        {"--kind", parse_kind, o, "--kind: there is no kind '%s'", 0, 0},
        {"--k", parse_numbers, &o->K, "--k is a whole number from 1 to 2^24, not '%s'", 1, 1 << 24},
        {"--size", parse_whole, &o->size, "--size is a whole number from 1 to 32768, not '%s'", 1,
         32768},
        {"--quick", NULL, &o->quick, NULL, 0, 0},
        {"--csv", parse_path, &o->csv, NEEDS_FILE, 0, 0},
        {"--seed", parse_whole, &o->seed, NEEDS_SEED, 0, LLONG_MAX},
    };
    memset(o, 0, sizeof *o);
    o->seed = (long long)time(NULL), o->quick = ON_CPU;
    if (!parse_words(count, words, known, sizeof known / sizeof *known, print_help)) return 0;
    for (int n = 0; n < (int)KINDS_OF_DATA && !o->any_kind; n++) o->kinds[n] = 1;
    const int own = o->K.count, all = (int)((o->quick ? sizeof few : sizeof depths) / sizeof *few);
    for (int n = 0; n < all && !own; n++) o->K.at[o->K.count++] = o->quick ? few[n] : depths[n];
    if (!o->size) o->size = o->quick && SIZE > 256 ? 256 : SIZE;
    return 1;
}

/* ---------------------------------- a point --------------------------------------------------- */
typedef struct bench {
    options o;
    device d;
    problem q;
    device_race race;
    contender c[CONTENDERS]; /* without a call: not here */
    results all;
    char machine[400]; /* the columns that say where, in the first row */
    FILE *csv;
    int rows, failures;
} bench;

/* Into the matrix that `how` is. */
static int call_ours(const device_race *r, const contender *c, int number)
{
    (void)number;
    return multiply(r->q, c->kernel, 0, (const matrix *)c->how, r->d->stream) == TMM_OK;
}
static int call_theirs(const device_race *r, const contender *c, int number)
{
    problem q = *r->q;
    q.D = *(const matrix *)c->how;
#ifdef WITH_CUBLAS
    must_cublas(cublasSetMathMode(r->d->cublas, c->number == TF32 ? CUBLAS_TF32_TENSOR_OP_MATH
                                                                  : CUBLAS_DEFAULT_MATH),
                "cublasSetMathMode");
#endif
    (void)number;
    return multiply_theirs(r->d, &q, 0, 0);
}

/* The bytes of a problem and all its results; with a pool they are laid out there. */
static size_t set_problem(bench *w, long long size, long long K)
{
    const shape s = {'N', 'N', size, size, K, K, size, size, 1, 0};
    size_t bytes = lay_out(&w->q, &s, TYPE, w->d.pool);
    for (int n = 0; n < (int)CONTENDERS; n++) {
        w->all.of[n] = w->q.C, w->c[n].how = &w->all.of[n];
        w->all.of[n].start = w->d.pool ? (char *)w->d.pool + bytes : NULL;
        bytes += matrix_bytes(&w->q.C, TYPE);
    }
    return bytes;
}

/* The products of all contenders, of data number `what`, and their errors. */
static void multiply_all(bench *w, int what, size_t bytes, errors *found)
{
    const problem *q = &w->q;
    const cudaStream_t stream = w->d.stream;
    const double a = data[what].a, b = data[what].b;
    const double scale = data[what].form == UNIFORM && a * b < 0x1p-1000 ? 1 / a : 1;
    const double allowed = (double)q->s.K * ldexp(scale, DENORMAL_STEP);
    const operands from = {TYPE, q->opA, q->opB, q->A, q->B, 0};
    errors *on_device = (errors *)w->d.found;
    results made = w->all;
    const u64 at = mix((u64)what * 1000003u + (u64)q->s.K + (u64)q->s.M * 7919u);
    must(cudaMemsetAsync(w->d.pool, 0xff, bytes, stream), "poison"); /* NaN */
    for (int n = 0; n < 2; n++) {
        const matrix m = n ? q->B : q->A;
        const long long cells = matrix_cells(&m);
        fill_form<<<blocks_for(cells), 256, 0, stream>>>(TYPE, data[what].form, n ? b : a, n, m,
                                                         cells, q->s.K, mix((u64)w->o.seed + at));
    }
    for (int n = 0; n < (int)CONTENDERS; n++) {
        contender *c = &w->c[n];
        if (c->call) c->result = c->call(&w->race, c, 0) ? NULL : "refused";
        if (c->result && n == STRICT) fprintf(stderr, BENCH ": %s\n", tmm_last_error());
        w->failures += c->result && n == STRICT;
        if (!c->call || c->result) made.of[n].start = NULL;
    }
    must(cudaMemsetAsync(on_device, 0, CONTENDERS * sizeof *found, stream), "errors");
    compare<<<blocks_for(q->s.M * q->s.N), 256, 0, stream>>>(from, made, type_unit[TYPE], scale,
                                                             allowed, on_device);
    must(cudaGetLastError(), "the comparison");
    must(cudaMemcpyAsync(found, on_device, CONTENDERS * sizeof *found, cudaMemcpyDeviceToHost,
                         stream),
         "errors");
    must(cudaStreamSynchronize(stream), "the kernels that were checked");
}

static void run_point(bench *w, int what, long long size, long long K, int timed)
{
    enum { TIMES = 5 };
    const size_t bytes = set_problem(w, size, K);
    const double promise = data[what].form == WHOLE ? 0 : (double)K + 2;
    const tmm_kernel chosen = chosen_for(&w->q, TMM_AUTO);
    const char *verdict = "ok";
    errors found[CONTENDERS];
    if (chosen == TENSOR_KERNEL) {
        fprintf(stderr, BENCH ": TMM_AUTO takes tensor cores: that is not the strict kernel\n");
        exit(2);
    }
    multiply_all(w, what, bytes, found);
    printf("%-11s %6lld %7lld %8.0f", data[what].name, size, K, promise);
    for (int n = 0; n < (int)CONTENDERS; n++) {
        contender *c = &w->c[n];
        if (!c->call) continue;
        c->us = 0;
        if (c->result) {
            printf("  %9s %9s", c->result, "");
            continue;
        }
        memcpy(&c->error, &found[n].largest, sizeof c->error);
        const double mean = found[n].sum / (double)(size * size);
        const int ours = n == STRICT || n == TENSOR, broken = !(c->error <= promise);
        const char *result = !broken ? "ok" : ours ? "FAILED" : "above";
        char time[24] = "";
        w->failures += broken && ours;
        if (broken && (ours || strcmp(verdict, "ok") == 0)) verdict = result;
        printf("  %9.3g %9.2g", c->error, mean);
        if (timed) c->us = time_calls(&w->race, c, TIMES);
        if (timed) snprintf(time, sizeof time, "%.1f", c->us);
        if (w->csv)
            fprintf(w->csv, "%s,%lld,%lld,%s,%s,%.4g,%.4g,%s,%s,%s\n", data[what].name, size, K,
                    names[n], n == STRICT ? tmm_kernel_string(chosen) : "", c->error, mean, result,
                    time, w->machine);
        snprintf(w->machine, sizeof w->machine, ",,,,"); /* once is enough */
    }
    printf("  %s%s", verdict, timed ? "  us:" : "");
    for (int n = 0; n < (int)CONTENDERS && timed; n++)
        if (w->c[n].call) printf(" %.0f", w->c[n].us);
    printf("\n");
    fflush(stdout);
    w->rows++;
}

/* ---------------------------------- the job --------------------------------------------------- */
static void set_up(bench *w)
{
    device *d = &w->d;
    open_device(d);
    w->race.d = d, w->race.q = &w->q;
    for (int n = 0; n < (int)CONTENDERS; n++) {
        const int ours = n == STRICT || n == TENSOR, here = HAS_THEIRS && (n != TF32 || !IS_DOUBLE);
        w->c[n].call = ours ? call_ours : here ? call_theirs : NULL, w->c[n].number = n;
    }
    w->c[STRICT].kernel = TMM_AUTO, w->c[TENSOR].kernel = TENSOR_KERNEL;
    if (!HAS_THEIRS) snprintf(d->cublas_version, sizeof d->cublas_version, "0.0.0");
    snprintf(w->machine, sizeof w->machine, "\"%s\",%s,%s,%s,%lld", d->name, d->v.driver,
             d->v.toolkit, d->cublas_version, w->o.seed);
    w->csv = open_csv(w->o.csv);
    if (w->csv)
        fprintf(w->csv, "kind,M,K,kernel,choice,max_u,mean_u,result,us,device,driver,toolkit,"
                        "cublas,seed\n");
    printf("%s; driver, CUDA, cuBLAS: %s,%s,%s; seed %lld\n", d->name, d->v.driver, d->v.toolkit,
           d->cublas_version, w->o.seed);
}

int main(int count, char **words)
{
    enum { SQUARE = 4096 };
    static bench state;
    bench *w = &state;
    if (!parse_options(count, words, &w->o)) return 2;
    set_up(w);
    const options *o = &w->o;
    const int squares = !o->quick && !o->any_kind && o->size == SIZE && o->K.count > 1;
    size_t most = squares ? set_problem(w, SQUARE, SQUARE) : 0;
    for (int n = 0; n < o->K.count; n++) {
        const size_t bytes = set_problem(w, o->size, o->K.at[n]);
        most = bytes > most ? bytes : most;
    }
    get_pool(&w->d, most);
    printf("largest and mean error, in units of u (|A||B|)_ij\n%-11s %6s %7s %8s", "kind", "M = N",
           "K", "promise");
    for (int n = 0; n < (int)CONTENDERS; n++)
        if (w->c[n].call) printf("  %9s %9s", headings[n], "mean");
    printf("\n");
    for (int what = 0; what < (int)KINDS_OF_DATA; what++)
        for (int n = 0; n < o->K.count && o->kinds[what]; n++)
            run_point(w, what, o->size, o->K.at[n], 0);
    /* as other studies of such products have them */
    for (int what = 0; what < (int)KINDS_OF_DATA && squares; what++)
        if (data[what].squares) run_point(w, what, SQUARE, SQUARE, 1);
    close_device(&w->d);
    if (!close_csv(w->csv, w->o.csv)) return 2;
    printf("%d rows, %d FAILED\n", w->rows, w->failures);
    return w->failures != 0;
}
