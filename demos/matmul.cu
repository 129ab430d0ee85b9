/* matmul.cu - one product C = A B by every kernel of tiledmm.cuh and by the CPU, timed and checked.

   It answers the questions of a first course on GPU programming: how much faster than the CPU, how
   much a tile in shared memory gains over global memory, how much registers gain over that, what
   the copies cost, how far each is from the limit of the device, and which limit that is.

   Build   nvcc demos/matmul.cu -o matmul            (add -arch=native for your own GPU's code,
           -O3 -Xcompiler -fopenmp                    these for CPU rows with all threads,
           -DWITH_CUBLAS -lcublas                     and these for a row by cuBLAS)
   Run     ./matmul                  1024 x 1024, float
           ./matmul 3000 --type double
           ./matmul --help

   A, B and C are row-major. Times of kernels are medians by CUDA events; "end to end" is the wall
   time of allocation, copies, kernel, copy back and release, as one who has his matrices in host
   memory sees it. Every result is checked against sums of higher precision. */
#include "../tiledmm.cuh"
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif
#ifdef _WIN32
#include <io.h>
#define is_terminal(stream) _isatty(_fileno(stream))
#else
#include <sys/stat.h>
#include <unistd.h>
#define is_terminal(stream) isatty(fileno(stream))
#endif

#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, DEFAULT_SIZE = 192, DEFAULT_REPS = 3 };
#else
enum { ON_CPU = 0, DEFAULT_SIZE = 1024, DEFAULT_REPS = 10 };
#endif

/* ---------------------------------- what is asked for ----------------------------------------- */
typedef enum check_mode { CHECK_AUTO, CHECK_FULL, CHECK_SAMPLE, CHECK_NONE } check_mode;

typedef struct options {
    long long M, N, K;
    tmm_type type;
    int kernel; /* a tmm_kernel, or -1 for all */
    int tile;   /* of TMM_SHARED, or 0 for all */
    int reps, identity, cpu;
    check_mode check;
    const char *csv;
    unsigned long long seed;
} options;

static void print_help(void)
{
    printf("usage: matmul [N | M N K] [options]\n"
           "Multiplies A (M x K) by B (K x N) with every kernel of tiledmm.cuh and on the CPU,\n"
           "checks each result and prints a table. Default: N = %d.\n\n"
           "  --type float|double|int   element type (default float)\n"
           "  --kernel NAME             only this kernel: global, shared, register, pipelined,\n"
           "                            small, skinny (M or N of 16 at most), tensor (double),\n"
           "                            auto, auto_tensor, or with its tile: shared_8, _16, _32,\n"
           "                            register_64, _128\n"
           "  --tile 8|16|32            only this tile of the shared-memory kernel\n"
           "  --reps R                  timings per row, of which the median is shown (default "
           "%d)\n"
           "  --identity                B = I: the product must be A, to the bit\n"
           "  --check full|sample|none  every element, 2000 of them and a random projection of\n"
           "                            the whole, or nothing (default: full for small sizes)\n"
           "  --cpu, --no-cpu           run the CPU rows however long they take, or not at all\n"
           "                            (default: each if it takes 10 s or less)\n"
           "  --seed S                  another filling of the matrices (default 1)\n"
           "  --csv FILE                write the table to FILE as well\n"
           "  --help                    this text\n",
           DEFAULT_SIZE, DEFAULT_REPS);
}

static int refuse(const char *format, const char *argument)
{
    fprintf(stderr, "matmul: ");
    fprintf(stderr, format, argument);
    fprintf(stderr, "\nmatmul: --help lists what can be asked\n");
    return 0;
}

/* A whole number in [low, high], or 0 with a sentence. */
static int parse_number(const char *name, const char *text, long long low, long long high,
                        long long *number)
{
    char *end, message[160];
    errno = 0;
    *number = text ? strtoll(text, &end, 10) : 0;
    if (text && *text && !*end && !errno && *number >= low && *number <= high) return 1;
    snprintf(message, sizeof message, "%s must be a whole number from %lld to %lld, not '%%s'",
             name, low, high);
    return refuse(message, text ? text : "nothing");
}

/* TMM_SKINNY is for few rows or few columns only. */
static int fits_skinny(const options *o)
{
    return o->M <= 16 || o->N <= 16;
}

static int parse_options(int count, char **words, options *o)
{
    long long sizes[3], number;
    int given = 0;
    memset(o, 0, sizeof *o);
    o->kernel = -1, o->reps = DEFAULT_REPS, o->cpu = 1, o->seed = 1;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        int takes_value = 1;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--identity") == 0) {
            o->identity = 1, takes_value = 0;
        } else if (strcmp(word, "--no-cpu") == 0) {
            o->cpu = 0, takes_value = 0;
        } else if (strcmp(word, "--cpu") == 0) {
            o->cpu = 2, takes_value = 0;
        } else if (strcmp(word, "--type") == 0) {
            const char *names[3] = {"float", "double", "int"};
            int t = 0;
            while (t < 3 && (!value || strcmp(value, names[t]) != 0)) t++;
            if (t == 3)
                return refuse("--type is float, double or int, not '%s'", value ? value : "");
            o->type = (tmm_type)t;
        } else if (strcmp(word, "--kernel") == 0) {
            int k = 0;
            while (k < TMM_KERNEL_COUNT &&
                   (!value || strcmp(value, tmm_kernel_string((tmm_kernel)k)) != 0))
                k++;
            if (k == TMM_KERNEL_COUNT)
                return refuse("--kernel: no kernel is called '%s'", value ? value : "");
            o->kernel = k;
        } else if (strcmp(word, "--tile") == 0) {
            if (!parse_number(word, value, 1, 32, &number)) return 0;
            if (number != 8 && number != 16 && number != 32)
                return refuse("--tile is 8, 16 or 32 (other tiles: see YOUR OWN TYPE, TILE in "
                              "tiledmm.cuh), not '%s'",
                              value);
            o->tile = (int)number;
        } else if (strcmp(word, "--reps") == 0) {
            if (!parse_number(word, value, 1, 1000, &number)) return 0;
            o->reps = (int)number;
        } else if (strcmp(word, "--seed") == 0) {
            if (!parse_number(word, value, 0, INT64_MAX, &number)) return 0;
            o->seed = (unsigned long long)number;
        } else if (strcmp(word, "--check") == 0) {
            const char *names[4] = {"", "full", "sample", "none"};
            int c = 1;
            while (c < 4 && (!value || strcmp(value, names[c]) != 0)) c++;
            if (c == 4)
                return refuse("--check is full, sample or none, not '%s'", value ? value : "");
            o->check = (check_mode)c;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || !*value || *value == '-')
                return refuse("%s needs the name of a file", word);
            o->csv = value;
        } else if (word[0] == '-' && !(word[1] >= '0' && word[1] <= '9')) {
            return refuse("unknown option '%s'", word);
        } else {
            if (given == 3) return refuse("one size, or three: M N K; '%s' is too many", word);
            if (!parse_number("a size", word, 1, 1 << 30, &sizes[given])) return 0;
            given++, takes_value = 0;
        }
        i += takes_value;
    }
    if (given == 2) return refuse("one size, or three: M N K%s", "");
    o->M = given ? sizes[0] : (long long)DEFAULT_SIZE;
    o->N = given == 3 ? sizes[1] : o->M;
    o->K = given == 3 ? sizes[2] : o->M;
    if (o->identity && o->N != o->K) return refuse("--identity needs a square B, N = K%s", "");
    if (o->tile && o->kernel >= 0) return refuse("--tile and --kernel exclude each other%s", "");
    if (o->kernel == TMM_SKINNY && !fits_skinny(o))
        return refuse("--kernel skinny needs M or N of 16 at most%s", "");
    if (o->kernel == TMM_TENSOR && o->type != TMM_DOUBLE)
        return refuse("--kernel tensor needs --type double%s", "");
    return 1;
}

/* ---------------------------------- the three types ------------------------------------------- */
/* The library has one function per type; these give them one face. C = A B, dense. */
#define DEFINE_TYPE(letter, T)                                                                   \
    static tmm_status letter##_gemm(tmm_kernel kernel, const options *o, const void *A,          \
                                    const void *B, void *C)                                      \
    {                                                                                            \
        return tmm_##letter##gemm_with(kernel, TMM_OP_N, TMM_OP_N, o->M, o->N, o->K, 1,          \
                                       (const T *)A, o->K, (const T *)B, o->N, 0, (T *)C, o->N,  \
                                       0);                                                       \
    }                                                                                            \
    static tmm_status letter##_cpu(const options *o, const void *A, const void *B, void *C,      \
                                   int threads)                                                  \
    {                                                                                            \
        if (threads == 0)                                                                        \
            return tmm_##letter##gemm_cpu(TMM_OP_N, TMM_OP_N, o->M, o->N, o->K, 1, (const T *)A, \
                                          o->K, (const T *)B, o->N, 0, (T *)C, o->N);            \
        return tmm_##letter##gemm_openmp(TMM_OP_N, TMM_OP_N, o->M, o->N, o->K, 1, (const T *)A,  \
                                         o->K, (const T *)B, o->N, 0, (T *)C, o->N, threads);    \
    }
DEFINE_TYPE(s, float)
DEFINE_TYPE(d, double)
DEFINE_TYPE(i, int)

typedef struct type_functions {
    const char *name;
    size_t size;
    double unit; /* unit roundoff, 0 for integers */
    tmm_status (*gemm)(tmm_kernel, const options *, const void *, const void *, void *);
    tmm_status (*cpu)(const options *, const void *, const void *, void *, int threads);
    tmm_kernel (*choice)(long long, long long, long long, long long);
} type_functions;

static const type_functions types[3] = {
    {"float", sizeof(float), 5.9604644775390625e-8, s_gemm, s_cpu, tmm_sgemm_choice},
    {"double", sizeof(double), 1.1102230246251565e-16, d_gemm, d_cpu, tmm_dgemm_choice},
    {"int", sizeof(int), 0, i_gemm, i_cpu, tmm_igemm_choice},
};

/* ---------------------------------- the device ------------------------------------------------ */
typedef struct device_limits {
    char name[256];
    int major, minor, processors;
    double clock;        /* Hz, the highest */
    double peak[3];      /* operations per second for float, double, int; fused multiply-add is 2 */
    double bandwidth;    /* bytes per second of device memory */
    size_t memory, free; /* bytes */
} device_limits;

/* Fused multiply-adds per clock and multiprocessor of the ordinary units (no tensor cores), for
   float, double and int: CUDA C++ Programming Guide, "Arithmetic Instructions". */
static void rates_per_clock(int major, int minor, double rate[3])
{
    double fp32 = 128, fp64 = 2, int32 = 64;
    if (major == 6) fp32 = minor == 0 ? 64 : 128, fp64 = minor == 0 ? 32 : 4;
    if (major == 7) fp32 = 64, fp64 = minor == 0 ? 32 : 2;
    if (major == 8 && minor == 0) fp32 = 64, fp64 = 32;
    if (major == 9) fp64 = 64;
    if (major == 10) fp64 = minor == 0 ? 64 : 2;
    if (major >= 12) int32 = 128;
    rate[TMM_FLOAT] = fp32, rate[TMM_DOUBLE] = fp64, rate[TMM_INT] = int32;
}

static int get_device(device_limits *d)
{
    cudaDeviceProp properties;
    int device = 0, clock = 0, memory_clock = 0, bus = 0;
    size_t total;
    double rate[3];
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) error = cudaMemGetInfo(&d->free, &total);
    if (error != cudaSuccess) {
        fprintf(stderr, "matmul: no usable CUDA device: %s; on the CPU: ./build.sh run matmul\n",
                cudaGetErrorString(error));
        return 0;
    }
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
    cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, device);
    cudaDeviceGetAttribute(&bus, cudaDevAttrGlobalMemoryBusWidth, device);
    snprintf(d->name, sizeof d->name, "%s", properties.name);
    d->major = properties.major, d->minor = properties.minor;
    d->processors = properties.multiProcessorCount;
    d->memory = total;
    d->clock = clock * 1e3;
    d->bandwidth = 2 * memory_clock * 1e3 * bus / 8; /* double data rate */
    rates_per_clock(d->major, d->minor, rate);
    for (int t = 0; t < 3; t++) d->peak[t] = 2 * rate[t] * d->processors * d->clock;
    return 1;
}

/* ---------------------------------- matrices and checks --------------------------------------- */
static unsigned long long random_state;

static unsigned long long random_bits(void) /* splitmix64 */
{
    unsigned long long z = (random_state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static double element(tmm_type type, const void *X, long long i)
{
    if (type == TMM_FLOAT) return ((const float *)X)[i];
    if (type == TMM_DOUBLE) return ((const double *)X)[i];
    return ((const int *)X)[i];
}

static void set_element(tmm_type type, void *X, long long i, double value)
{
    if (type == TMM_FLOAT) ((float *)X)[i] = (float)value;
    if (type == TMM_DOUBLE) ((double *)X)[i] = value;
    if (type == TMM_INT) ((int *)X)[i] = (int)value;
}

/* Uniform in (-1, 1), or all 32 bits of an int. */
static void fill_random(tmm_type type, void *X, long long count)
{
    for (long long i = 0; i < count; i++) {
        long long bits = (long long)random_bits();
        set_element(type, X, i,
                    type == TMM_INT ? (double)(int)bits
                                    : ((bits >> 11) + 0.5) / 4503599627370496.0);
    }
}

typedef struct problem {
    options o;
    const type_functions *t;
    void *A, *B, *C;           /* host */
    void *dA, *dB, *dC;        /* device */
    long long checked;         /* elements compared with the reference */
    long long *where;          /* their positions in C; NULL: all, in order */
    double *reference, *bound; /* what they should be, and by how much they may differ */
} problem;

/* Sums of higher precision for the elements to be checked, once; all rows use them. */
static int make_reference(problem *p, int progress)
{
    const options *o = &p->o;
    long long elements = o->M * o->N;
    p->checked = o->check == CHECK_FULL ? elements : o->check == CHECK_SAMPLE ? 2000 : 0;
    if (p->checked > elements) p->checked = elements;
    if (p->checked == 0) return 1;
    p->reference = (double *)malloc((size_t)p->checked * sizeof(double));
    p->bound = (double *)malloc((size_t)p->checked * sizeof(double));
    if (p->checked < elements)
        p->where = (long long *)malloc((size_t)p->checked * sizeof(long long));
    if (!p->reference || !p->bound || (p->checked < elements && !p->where)) return 0;
    for (long long n = 0; n < p->checked; n++) {
        if (p->where) p->where[n] = (long long)(random_bits() % (unsigned long long)elements);
        long long at = p->where ? p->where[n] : n, i = at / o->N, j = at % o->N;
        long double sum = 0, absolute = 0;
        unsigned wrapped = 0;
        for (long long k = 0; k < o->K; k++) {
            double a = element(o->type, p->A, i * o->K + k),
                   b = element(o->type, p->B, k * o->N + j);
            sum += (long double)a * b;
            absolute += fabsl((long double)a * b);
            if (o->type == TMM_INT) wrapped += (unsigned)(int)a * (unsigned)(int)b;
        }
        p->reference[n] = o->type == TMM_INT ? (double)(int)wrapped : (double)sum;
        p->bound[n] = (double)((o->K + 2) * p->t->unit * absolute);
        if (progress && n % 4096 == 0)
            fprintf(stderr, "\rreference: %lld of %lld elements ", n, p->checked);
    }
    if (progress) fprintf(stderr, "\r%60s\r", "");
    return 1;
}

typedef struct row {
    char method[48];
    const char *memory;
    int on_gpu, threads;
    double seconds, end_to_end; /* median of all timings; negative: not measured */
    double least, mean, most;   /* of the same timings */
    double abs_error, rel_error;
    int verdict; /* 1 right, 0 wrong, -1 unchecked */
} row;

/* Compares p->C with the reference; the elements that are not compared must at least have been
   written, and agree with A and B under a random projection. */
static void check(problem *p, row *r)
{
    const options *o = &p->o;
    r->abs_error = r->rel_error = 0;
    r->verdict = -1;
    if (o->check == CHECK_NONE) return;
    r->verdict = 1;
    for (long long n = 0; n < p->checked; n++) {
        double x = element(o->type, p->C, p->where ? p->where[n] : n), y = p->reference[n];
        double e = fabs(x - y);
        if (!(e <= p->bound[n])) r->verdict = 0;
        if (!(e <= r->abs_error)) r->abs_error = e;
        if (!(e / (fabs(y) + 1e-12) <= r->rel_error)) r->rel_error = e / (fabs(y) + 1e-12);
    }
    if (p->where) {
        double excess = HUGE_VAL;
        tmm_status status = tmm_freivalds(o->type, o->M, o->N, o->K, p->A, o->K, p->B, o->N, p->C,
                                          o->N, 5, random_bits(), &excess);
        if (status != TMM_OK || !(excess <= 1)) r->verdict = 0;
    }
    if (o->identity && memcmp(p->C, p->A, (size_t)(o->M * o->N) * p->t->size) != 0) r->verdict = 0;
}

/* ---------------------------------- timing ---------------------------------------------------- */
static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The timings of a row, in seconds: their median, and what else is said of them. */
static void summarise(row *r, double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, by_value);
    r->seconds = count % 2 ? x[count / 2] : (x[count / 2 - 1] + x[count / 2]) / 2;
    r->least = x[0], r->most = x[count - 1], r->mean = 0;
    for (int n = 0; n < count; n++) r->mean += x[n] / count;
}

typedef int (*multiply)(problem *p, int variant); /* enqueues one product; 1 on success */

static int multiply_kernel(problem *p, int variant)
{
    tmm_status status = p->t->gemm((tmm_kernel)variant, &p->o, p->dA, p->dB, p->dC);
    if (status != TMM_OK) fprintf(stderr, "matmul: %s\n", tmm_last_error());
    return status == TMM_OK;
}

#ifdef WITH_CUBLAS
static cublasHandle_t cublas;

static int multiply_cublas(problem *p, int variant)
{
    const options *o = &p->o;
    cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
    (void)variant;
    /* cuBLAS is column-major: our row-major C = A B is its C^T = B^T A^T. */
    if (o->type == TMM_FLOAT) {
        float one = 1, zero = 0;
        status =
            cublasSgemm_64(cublas, CUBLAS_OP_N, CUBLAS_OP_N, o->N, o->M, o->K, &one, (float *)p->dB,
                           o->N, (float *)p->dA, o->K, &zero, (float *)p->dC, o->N);
    } else if (o->type == TMM_DOUBLE) {
        double one = 1, zero = 0;
        status = cublasDgemm_64(cublas, CUBLAS_OP_N, CUBLAS_OP_N, o->N, o->M, o->K, &one,
                                (double *)p->dB, o->N, (double *)p->dA, o->K, &zero,
                                (double *)p->dC, o->N);
    }
    if (status != CUBLAS_STATUS_SUCCESS) fprintf(stderr, "matmul: cuBLAS error %d\n", (int)status);
    return status == CUBLAS_STATUS_SUCCESS;
}
#endif

/* Fails with a sentence if a CUDA call did. */
static int succeeded(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) fprintf(stderr, "matmul: %s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

/* Seconds of one product, by events. A product shorter than a millisecond is repeated within one
   measurement, since an event has a resolution of half a microsecond. */
static int time_on_device(problem *p, multiply run, int variant, row *r)
{
    double times[1000];
    cudaEvent_t start, stop;
    float ms = 0;
    int good = succeeded(cudaEventCreate(&start), "cudaEventCreate");
    if (!good) return 0;
    good = succeeded(cudaEventCreate(&stop), "cudaEventCreate");
    if (!good) {
        cudaEventDestroy(start);
        return 0;
    }
    int inner = 1;
    for (int n = -2; n < p->o.reps && good; n++) { /* -2: warm-up; -1: how long does one take? */
        cudaEventRecord(start);
        for (int i = 0; i < inner && good; i++) good = run(p, variant);
        cudaEventRecord(stop);
        good = good && succeeded(cudaEventSynchronize(stop), "kernel");
        cudaEventElapsedTime(&ms, start, stop);
        if (n == -1 && ms < 1 && !ON_CPU) inner = ms > 0.005 ? (int)(1 / ms) + 1 : 200;
        if (n >= 0) times[n] = ms * 1e-3 / inner;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    if (good) summarise(r, times, p->o.reps);
    return good;
}

/* Allocation, copies to the device, product, copy back, release: leaves the result in p->C, which
   is poisoned before, so that an element never written shows. */
static int end_to_end(problem *p, multiply run, int variant, double *seconds)
{
    const options *o = &p->o;
    size_t a = (size_t)(o->M * o->K) * p->t->size, b = (size_t)(o->K * o->N) * p->t->size;
    size_t c = (size_t)(o->M * o->N) * p->t->size;
    problem q = *p; /* with device matrices of its own */
    q.dA = q.dB = q.dC = NULL;
    memset(p->C, 0xff, c); /* NaN in float and double */
    if (!succeeded(cudaDeviceSynchronize(), "kernel")) return 0;
    double start = now();
    int good = succeeded(cudaMalloc(&q.dA, a), "device memory for A") &&
               succeeded(cudaMalloc(&q.dB, b), "device memory for B") &&
               succeeded(cudaMalloc(&q.dC, c), "device memory for C") &&
               succeeded(cudaMemcpy(q.dA, p->A, a, cudaMemcpyHostToDevice), "copy of A") &&
               succeeded(cudaMemcpy(q.dB, p->B, b, cudaMemcpyHostToDevice), "copy of B");
    double before_poison = now();
    good = good && succeeded(cudaMemset(q.dC, 0xff, c), "cudaMemset") &&
           succeeded(cudaDeviceSynchronize(), "cudaMemset");
    start += now() - before_poison; /* the poison is ours, not the method's */
    good = good && run(&q, variant) &&
           succeeded(cudaMemcpy(p->C, q.dC, c, cudaMemcpyDeviceToHost), "copy of C");
    cudaFree(q.dA);
    cudaFree(q.dB);
    cudaFree(q.dC);
    *seconds = now() - start;
    return good;
}

/* ---------------------------------- the table ------------------------------------------------- */
enum { MAX_ROWS = 40 };

typedef struct table {
    row rows[MAX_ROWS];
    int count;
    double sequential; /* seconds, negative if not measured */
} table;

/* "12.3" in a width, with as many digits as are worth showing; "-" if there is no value. */
static void cell(int width, double value)
{
    if (value < 0 || value != value)
        printf(" %*s", width, value < 0 ? "-" : "nan");
    else if (value == 0 || (value >= 1e-3 && value < 1e7))
        printf(" %*.*f", width, value >= 1000 ? 0 : value >= 10 ? 2 : 4, value);
    else
        printf(" %*.2e", width, value);
}

static double flops(const options *o)
{
    return 2.0 * (double)o->M * (double)o->N * (double)o->K;
}

static double speed_up(const table *t, const row *r)
{
    return t->sequential > 0 ? t->sequential / r->seconds : -1;
}

static void print_table(const table *t, const options *o, const device_limits *d)
{
    printf("\n%-22s %-18s %10s %10s %10s %7s %9s %7s %9s %9s  %s\n", "method", "memory", "time ms",
           "end to end", "GFLOP/s", "% peak", "speed-up", "effic.", "max abs", "max rel",
           "verdict");
    for (int n = 0; n < t->count; n++) {
        const row *r = &t->rows[n];
        double rate = flops(o) / r->seconds;
        printf("%-22s %-18s", r->method, r->memory);
        cell(10, r->seconds * 1e3);
        cell(10, r->end_to_end < 0 ? -1 : r->end_to_end * 1e3);
        cell(10, rate * 1e-9);
        if (r->on_gpu && !ON_CPU)
            printf(" %7.1f", 100 * rate / d->peak[o->type]);
        else
            printf(" %7s", "-");
        cell(9, speed_up(t, r));
        if (r->threads && t->sequential > 0)
            printf(" %7.2f", speed_up(t, r) / r->threads);
        else
            printf(" %7s", "-");
        if (r->verdict < 0)
            printf(" %9s %9s  unchecked\n", "-", "-");
        else
            printf(" %9.2e %9.2e  %s\n", r->abs_error, r->rel_error, r->verdict ? "ok" : "WRONG");
    }
}

/* The CSV file appears whole or not at all: it is written beside its place, renamed at the end, and
   removed if the program is interrupted. A link is followed; what is no ordinary file, such as a
   pipe, is written to directly. */
static FILE *csv;
static char csv_path[4096], csv_beside[4100]; /* the latter: empty if there is nothing to rename */

static void interrupted(int number)
{
    if (csv_beside[0]) remove(csv_beside);
    signal(number, SIG_DFL);
    raise(number);
}

static int open_csv(const char *path)
{
    int direct = 0;
#ifdef _WIN32
    static const int ends[] = {SIGINT, SIGTERM};
    snprintf(csv_path, sizeof csv_path, "%s", path);
#else
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct stat there;
    int is_there = lstat(path, &there) == 0;
    direct = is_there && !(stat(path, &there) == 0 && S_ISREG(there.st_mode));
    if (!is_there || direct || !realpath(path, csv_path))
        snprintf(csv_path, sizeof csv_path, "%s", path);
#endif
    for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) /* what is ignored stays so */
        if (signal(ends[n], interrupted) == SIG_IGN) signal(ends[n], SIG_IGN);
    if (!direct) snprintf(csv_beside, sizeof csv_beside, "%s.tmp", csv_path);
    csv = fopen(direct ? csv_path : csv_beside, "w");
    if (!csv) fprintf(stderr, "matmul: cannot write '%s'\n", path);
    return csv != NULL;
}

static int close_csv(int keep)
{
    int good = !ferror(csv);
    good &= fclose(csv) == 0;
#ifdef _WIN32
    if (good && keep) remove(csv_path); /* Windows does not rename onto a file */
#endif
    if (csv_beside[0] && !(good && keep && rename(csv_beside, csv_path) == 0)) {
        remove(csv_beside);
        good &= !keep;
    }
    csv_beside[0] = 0;
    if (!good) fprintf(stderr, "matmul: cannot write '%s'\n", csv_path);
    return good;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "matmul: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

static void print_csv(const table *t, const options *o, const device_limits *d)
{
    fprintf(csv,
            "name,memory,type,M,N,K,device,real_time_ms,min_ms,mean_ms,max_ms,end_to_end_ms,"
            "gflops,percent_of_peak,speed_up,efficiency,max_abs_error,max_rel_error,verdict\n");
    for (int n = 0; n < t->count; n++) {
        const row *r = &t->rows[n];
        double rate = flops(o) / r->seconds;
        fprintf(csv, "%s,%s,%s,%lld,%lld,%lld,\"%s\",%.6g,%.6g,%.6g,%.6g,", r->method, r->memory,
                types[o->type].name, o->M, o->N, o->K, r->on_gpu ? d->name : "CPU",
                r->seconds * 1e3, r->least * 1e3, r->mean * 1e3, r->most * 1e3);
        if (r->end_to_end >= 0) fprintf(csv, "%.6g", r->end_to_end * 1e3);
        fprintf(csv, ",%.6g,", rate * 1e-9);
        if (r->on_gpu && !ON_CPU) fprintf(csv, "%.4g", 100 * rate / d->peak[o->type]);
        fprintf(csv, ",");
        if (t->sequential > 0) fprintf(csv, "%.6g", speed_up(t, r));
        fprintf(csv, ",");
        if (t->sequential > 0 && r->threads) fprintf(csv, "%.4g", speed_up(t, r) / r->threads);
        if (r->verdict < 0)
            fprintf(csv, ",,,unchecked\n");
        else
            fprintf(csv, ",%.3e,%.3e,%s\n", r->abs_error, r->rel_error,
                    r->verdict ? "ok" : "wrong");
    }
}

/* ---------------------------------- what the figures say -------------------------------------- */
static const row *find_row(const table *t, const char *method)
{
    for (int n = 0; n < t->count; n++)
        if (strcmp(t->rows[n].method, method) == 0) return &t->rows[n];
    return NULL;
}

/* Which limit binds, computed from the figures above. */
static void explain(const table *t, const options *o, const device_limits *d)
{
    const row *global = find_row(t, "global"), *shared = NULL, *best = NULL;
    for (int n = 0; n < t->count; n++) {
        const row *r = &t->rows[n];
        if (!r->on_gpu || strcmp(r->method, "cuBLAS") == 0) continue;
        if (best && strncmp(r->method, "auto", 4) == 0) continue; /* it is one of the others */
        if (strncmp(r->method, "shared", 6) == 0 && (!shared || r->seconds < shared->seconds))
            shared = r;
        if (!best || r->seconds < best->seconds) best = r;
    }
    if (!best) return;
    printf("\n");
    if (ON_CPU) {
        printf("These are CPU times of the real kernels, run without a GPU: they show that the\n"
               "results are right and say nothing about how fast a GPU would be.\n");
        return;
    }
    double peak = d->peak[o->type], share = flops(o) / best->seconds / peak;
    double slower = d->peak[TMM_FLOAT] / peak;
    const char *type = types[o->type].name;
    double blocks = ceil(o->M / 32.0) * ceil(o->N / 32.0);

    if (best->seconds < 20e-6)
        printf(
            "Launch: the product takes %.1f microseconds; some 3 of them pass before any kernel\n"
            "starts. At this size the limit is latency, not arithmetic and not memory.\n",
            best->seconds * 1e6);
    else if (blocks < 2.0 * d->processors)
        printf("Occupancy: tiles of 32 x 32 make %.0f blocks for %d multiprocessors; too few to\n"
               "keep them busy. Larger matrices will show higher rates.\n",
               blocks, d->processors);
    if (global && shared && global->seconds >= shared->seconds * 1.1)
        printf(
            "Shared memory: %s is %.2f times as fast as global. It reads each element of A and B\n"
            "from global memory once per tile instead of once per element of C.\n",
            shared->method, global->seconds / shared->seconds);
    else if (global && shared && slower < 8)
        printf("Shared memory: %s is %.2f times as fast as global, little or no gain: the caches\n"
               "already serve most of what global reads at this size.\n",
               shared->method, global->seconds / shared->seconds);
    if (o->type == TMM_DOUBLE && slower >= 8) {
        const row *r = shared ? shared : best;
        double reached = flops(o) / r->seconds / peak;
        printf("Arithmetic: double runs at 1/%.0f of float on this GPU, %.3f TFLOP/s at most, and\n"
               "%s is at %.0f%% of that limit",
               slower, peak * 1e-12, r->method, 100 * reached);
        printf(reached > 0.7 ? ", so no memory optimisation can help.\n" : ".\n");
    } else if (share > 1) {
        printf("Arithmetic: %s and all that is above 100%% use the tensor cores, which the peak\n"
               "above leaves out.\n",
               best->method);
    } else if (share > 0.5) {
        printf(
            "Arithmetic: %s reaches %.0f%% of the %.1f TFLOP/s that the %s units can give: they\n"
            "are the limit now.\n",
            best->method, 100 * share, peak * 1e-12, type);
    } else if (best->seconds >= 20e-6) {
        double bytes = (double)(o->M * o->K + o->K * o->N + o->M * o->N) * types[o->type].size;
        double floor_memory = bytes / d->bandwidth, floor_arithmetic = flops(o) / peak;
        if (floor_memory > floor_arithmetic)
            printf(
                "Memory: reading A and B and writing C once takes %.3f ms at %.0f GB/s, more than\n"
                "the arithmetic (%.3f ms): this shape is bound by memory, whatever the kernel.\n",
                floor_memory * 1e3, d->bandwidth * 1e-9, floor_arithmetic * 1e3);
        else
            printf("Distance: %s is at %.0f%% of the %.1f TFLOP/s of the %s units; device memory\n"
                   "could deliver the matrices %.0f times in the time it takes, so the limit lies\n"
                   "between: in shared memory, latency and instruction issue.\n",
                   best->method, 100 * share, peak * 1e-12, type, best->seconds / floor_memory);
    }
    const row *cublas_row = find_row(t, "cuBLAS");
    if (share <= 1 && cublas_row && flops(o) / cublas_row->seconds > peak)
        printf(
            "cuBLAS is above 100%%: it uses the tensor cores, which the peak above leaves out.\n");
    if (best->end_to_end > 2 * best->seconds)
        printf("Copies: end to end, %s takes %.1f times as long as the kernel alone. Work that\n"
               "stays on the device between products avoids that.\n",
               best->method, best->end_to_end / best->seconds);

    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, (const void *)tmm_sgemm_shared_32) == cudaSuccess &&
        attributes.ptxVersion < 10 * d->major + d->minor)
        printf("Build: compiled for compute capability %d.%d, this device has %d.%d. Rebuild with\n"
               "nvcc -arch=sm_%d%d for its own instructions.\n",
               attributes.ptxVersion / 10, attributes.ptxVersion % 10, d->major, d->minor, d->major,
               d->minor);
}

/* ---------------------------------- the job --------------------------------------------------- */
static void show_progress(const char *what)
{
    if (is_terminal(stderr)) fprintf(stderr, "\r%-60s\r", what);
}

static int add_device_row(problem *p, table *t, const char *method, const char *memory,
                          multiply run, int variant)
{
    row *r = &t->rows[t->count];
    show_progress(method);
    memset(r, 0, sizeof *r);
    snprintf(r->method, sizeof r->method, "%s", method);
    r->memory = memory, r->on_gpu = 1;
    /* The first call loads the kernel, and cuBLAS itself: not what the row is about. */
    if (!run(p, variant) || !succeeded(cudaDeviceSynchronize(), "kernel")) return 0;
    if (!end_to_end(p, run, variant, &r->end_to_end)) return 0;
    check(p, r);
    if (!time_on_device(p, run, variant, r)) return 0;
    t->count++;
    return 1;
}

/* threads 0: sequential. Repeats for half a second at most. */
static int add_cpu_row(problem *p, table *t, int threads)
{
    row *r = &t->rows[t->count];
    double times[1000], start = now();
    int n = 0;
    memset(r, 0, sizeof *r);
    if (threads)
        snprintf(r->method, sizeof r->method, "OpenMP %d thread%s", threads,
                 threads > 1 ? "s" : "");
    else
        snprintf(r->method, sizeof r->method, "sequential");
    show_progress(r->method);
    r->memory = "CPU caches", r->threads = threads, r->end_to_end = -1;
    memset(p->C, 0xff, (size_t)(p->o.M * p->o.N) * p->t->size);
    do {
        double begin = now();
        tmm_status status = p->t->cpu(&p->o, p->A, p->B, p->C, threads);
        times[n++] = now() - begin;
        if (status != TMM_OK) {
            fprintf(stderr, "matmul: %s\n", tmm_last_error());
            return 0;
        }
    } while (n < p->o.reps && now() - start < 0.5);
    summarise(r, times, n);
    check(p, r);
    if (!threads) t->sequential = r->seconds;
    t->count++;
    return 1;
}

/* Seconds that the sequential product is going to take, from a small part of it. */
static double predict_cpu(problem *p)
{
    problem small = *p;
    double begin = now();
    if (small.o.M > 32) small.o.M = 32; /* one row of blocks */
    if (p->t->cpu(&small.o, p->A, p->B, p->C, 0) != TMM_OK) return 0;
    return (now() - begin) * (double)p->o.M / (double)small.o.M;
}

static int add_cpu_rows(problem *p, table *t)
{
    if (p->o.cpu == 0) return 1;
    double seconds = predict_cpu(p);
    if (p->o.cpu == 1 && seconds > 10) {
        printf("CPU rows left out: one product would take about %.0f s; --cpu runs them.\n",
               seconds);
        return 1;
    }
    if (!add_cpu_row(p, t, 0)) return 0;
#ifdef _OPENMP
    int most = omp_get_max_threads();
    for (int threads = 1; threads < most && t->count < 12; threads *= 2)
        if (!add_cpu_row(p, t, threads)) return 0;
    if (!add_cpu_row(p, t, most)) return 0;
#endif
    return 1;
}

/* Is this kernel compiled (TMM_SIMPLE leaves some out), and can the device do it? A product of no
   rows asks. */
static int has_kernel(const problem *p, tmm_kernel kernel)
{
    options none = p->o;
    none.M = 0;
    if (kernel == TMM_TENSOR && p->o.type != TMM_DOUBLE) return 0;
    return p->t->gemm(kernel, &none, NULL, NULL, NULL) != TMM_ERROR_UNSUPPORTED;
}

static int add_device_rows(problem *p, table *t)
{
    static const struct {
        tmm_kernel kernel;
        const char *memory;
        int tile;
    } rungs[] = {
        {TMM_GLOBAL, "global", 0},
        {TMM_SHARED_8, "shared", 8},
        {TMM_SHARED_16, "shared", 16},
        {TMM_SHARED_32, "shared", 32},
        {TMM_REGISTER_64, "shared + registers", 0},
        {TMM_REGISTER_128, "shared + registers", 0},
        {TMM_PIPELINED, "shared + registers", 0},
        {TMM_SMALL, "shared + registers", 0},
        {TMM_SKINNY, "shared + registers", 0},
        {TMM_TENSOR, "shared + registers", 0},
    };
    const options *o = &p->o;
    int all = o->kernel < 0, listed = 0;
    for (size_t n = 0; n < sizeof rungs / sizeof *rungs; n++) {
        tmm_kernel kernel = rungs[n].kernel;
        if (all ? o->tile && o->tile != rungs[n].tile : kernel != o->kernel) continue;
        if (all && ((kernel == TMM_SKINNY && !fits_skinny(o)) || !has_kernel(p, kernel))) continue;
        if (all && kernel == TMM_PIPELINED && o->type == TMM_DOUBLE) continue; /* TMM_TENSOR */
        if (!add_device_row(p, t, tmm_kernel_string(kernel), rungs[n].memory, multiply_kernel,
                            kernel))
            return 0;
        listed = 1;
    }
    if (all ? !o->tile : !listed) { /* those that choose among the others */
        tmm_kernel kernel = all ? TMM_AUTO : (tmm_kernel)o->kernel;
        char method[48];
        if (kernel == TMM_AUTO)
            snprintf(method, sizeof method, "auto = %s",
                     tmm_kernel_string(p->t->choice(o->M, o->N, o->K, 1)));
        else
            snprintf(method, sizeof method, "%s", tmm_kernel_string(kernel));
        if (!add_device_row(p, t, method, "as chosen", multiply_kernel, kernel)) return 0;
    }
#ifdef WITH_CUBLAS
    if (o->type != TMM_INT) {
        if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) {
            fprintf(stderr, "matmul: cublasCreate failed\n");
            return 0;
        }
        int good = add_device_row(p, t, "cuBLAS", "library", multiply_cublas, 0);
        cublasDestroy(cublas);
        if (!good) return 0;
    }
#endif
    return 1;
}

static void release(problem *p)
{
    free(p->A);
    free(p->B);
    free(p->C);
    free(p->where);
    free(p->reference);
    free(p->bound);
    cudaFree(p->dA);
    cudaFree(p->dB);
    cudaFree(p->dC);
}

/* Host and device matrices, filled. */
static int set_up(problem *p, const device_limits *d)
{
    options *o = &p->o;
    double bytes = ((double)o->M * o->K + (double)o->K * o->N + (double)o->M * o->N) * p->t->size;
    if (2 * bytes > (double)d->free) { /* one set for the timing, one for end to end */
        fprintf(stderr,
                "matmul: two sets of these matrices take %.3g GB, more than the %.3g GB that are "
                "free on the device\n",
                2 * bytes * 1e-9, (double)d->free * 1e-9);
        return 0;
    }
    size_t a = (size_t)(o->M * o->K) * p->t->size, b = (size_t)(o->K * o->N) * p->t->size;
    size_t c = (size_t)(o->M * o->N) * p->t->size;
    p->A = malloc(a), p->B = malloc(b), p->C = malloc(c);
    if (!p->A || !p->B || !p->C) {
        fprintf(stderr, "matmul: no host memory for %.3g GB of matrices\n", bytes * 1e-9);
        return 0;
    }
    random_state = o->seed;
    fill_random(o->type, p->A, o->M * o->K);
    if (o->identity)
        for (long long i = 0; i < o->K * o->N; i++)
            set_element(o->type, p->B, i, i / o->N == i % o->N);
    else
        fill_random(o->type, p->B, o->K * o->N);
    if (o->check == CHECK_AUTO)
        o->check = (double)o->M * o->N * o->K <= 1.4e8 ? CHECK_FULL : CHECK_SAMPLE;
    if (!make_reference(p, o->check == CHECK_FULL && is_terminal(stderr))) {
        fprintf(stderr, "matmul: no host memory for the reference\n");
        return 0;
    }
    return succeeded(cudaMalloc(&p->dA, a), "device memory for A") &&
           succeeded(cudaMalloc(&p->dB, b), "device memory for B") &&
           succeeded(cudaMalloc(&p->dC, c), "device memory for C") &&
           succeeded(cudaMemcpy(p->dA, p->A, a, cudaMemcpyHostToDevice), "copy of A") &&
           succeeded(cudaMemcpy(p->dB, p->B, b, cudaMemcpyHostToDevice), "copy of B");
}

int main(int count, char **words)
{
    static problem p;
    static table t;
    device_limits d;
    check_output();
    atexit(check_output);
    if (!parse_options(count, words, &p.o)) return 2;
    if (!get_device(&d)) return 2;
    const options *o = &p.o;
    if (o->csv && !open_csv(o->csv)) return 2; /* before the work, not after it */
    p.t = &types[o->type];
    t.sequential = -1;
    printf("C (%lld x %lld) = A (%lld x %lld) times B (%lld x %lld%s), %s, row-major\n", o->M, o->N,
           o->M, o->K, o->K, o->N, o->identity ? ", the identity" : "", p.t->name);
    if (ON_CPU)
        printf("device: %s, %d threads; all times are CPU times\n", d.name, d.processors);
    else
        printf("device: %s, compute capability %d.%d, %d multiprocessors at %.0f MHz; peak %.2f "
               "TFLOP/s\nfor %s without tensor cores, %.0f GB/s device memory\n",
               d.name, d.major, d.minor, d.processors, d.clock * 1e-6, d.peak[o->type] * 1e-12,
               p.t->name, d.bandwidth * 1e-9);
    int good = set_up(&p, &d);
    if (good && o->check != CHECK_NONE)
        printf("checked: %lld element%s against sums of higher precision, %s%s%s\n", p.checked,
               p.checked > 1 ? "s" : "",
               o->type == TMM_INT ? "exactly (modulo 2^32)" : "error at most (K + 2) u |A||B|",
               p.where ? "; all by random projection (Freivalds)" : "",
               o->identity ? "; equal to A to the bit" : "");
    good = good && add_cpu_rows(&p, &t) && add_device_rows(&p, &t);
    show_progress("");
    int passed = good;
    if (good) {
        print_table(&t, o, &d);
        explain(&t, o, &d);
        for (int n = 0; n < t.count; n++) passed &= t.rows[n].verdict != 0;
        if (o->csv) print_csv(&t, o, &d);
    }
    if (o->csv) good &= close_csv(good);
    release(&p);
    printf("\nTest %s\n", passed && good ? "PASSED" : "FAILED");
    return passed && good ? 0 : 1;
}
