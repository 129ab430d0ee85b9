/* matmul.cu - one product C = A B by every kernel of tiledmm.cuh and by the CPU, timed and checked.

   It answers the questions of a first course. How much faster than the CPU is it? What do a tile in
   shared memory and registers gain, what do copies cost? How far is each from the device's limit?

   Build   nvcc demos/matmul.cu -o matmul            (add -arch=native for your own GPU's code,
           -O3 -Xcompiler -fopenmp                    these for CPU rows with all threads,
           -DWITH_CUBLAS -lcublas                     and these for a row by cuBLAS)
   Run     ./matmul                  1024 x 1024, float
           ./matmul 3000 --type double
           ./matmul 300 --why        how TMM_AUTO chooses; nothing is multiplied

   A, B and C are row-major. Times of kernels are medians by CUDA events; "end to end" is the wall
   time of allocation, copies, kernel, copy back and release. Sums of higher precision check all.

   Which unit binds? A multiprocessor of an H200 has 64 units of double to 128 of float, and tensor
   cores for double. One of a GeForce has 2: there every kernel of double ends at the same rate, and
   a tile gains nothing. Its tensor cores multiply bytes some hundred times as fast: tensor_int8. */
#define TMM_DOUBLE_TENSOR 0 /* compiled, but taken only where it is asked for */
#ifdef __CUCC__             /* compiled for the CPU runner: kernels run on the CPU */
enum { ON_CPU = 1, DEFAULT_SIZE = 192, DEFAULT_REPS = 3 };
#else
enum { ON_CPU = 0, DEFAULT_SIZE = 1024, DEFAULT_REPS = 10 };
#endif
#include "../tiledmm.cuh"
#include <errno.h>
#include <signal.h>
#include <time.h>
#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif
#ifndef _WIN32
#include <sys/stat.h>
#endif

enum { MAX_ROWS = 40, MAX_REPS = 1000, SAMPLES = 2000, ALL = -1, CUBLAS = -2 };

static long long M, N, K;
static tmm_type type;

/* ---------------------------------- the three types ------------------------------------------- */
/* The library has one function per type; these give them one face. C = A B, dense, of ROWS rows; by
   a kernel if THREADS is negative, else on the CPU: 0 is sequential. */
#define DEFINE_TYPE(letter, T)                                                                    \
    static tmm_status letter##_multiply(int kernel, int threads, long long rows, const void *A,   \
                                        const void *B, void *C)                                   \
    {                                                                                             \
        const T *a = (const T *)A, *b = (const T *)B;                                             \
        if (threads < 0)                                                                          \
            return tmm_##letter##gemm_with((tmm_kernel)kernel, TMM_OP_N, TMM_OP_N, rows, N, K, 1, \
                                           a, K, b, N, 0, (T *)C, N, 0);                          \
        if (threads > 0)                                                                          \
            return tmm_##letter##gemm_openmp(TMM_OP_N, TMM_OP_N, rows, N, K, 1, a, K, b, N, 0,    \
                                             (T *)C, N, threads);                                 \
        return tmm_##letter##gemm_cpu(TMM_OP_N, TMM_OP_N, rows, N, K, 1, a, K, b, N, 0, (T *)C,   \
                                      N);                                                         \
    }
DEFINE_TYPE(s, float)
DEFINE_TYPE(d, double)
DEFINE_TYPE(i, int)

static const struct type_functions {
    const char *name;
    size_t size;
    double unit; /* unit roundoff, 0 for integers */
    tmm_status (*multiply)(int, int, long long, const void *, const void *, void *);
    tmm_kernel (*choice)(long long, long long, long long, long long);
    tmm_status (*explain)(tmm_kernel, tmm_op, tmm_op, long long, long long, long long, long long,
                          const char *, char *, size_t);
} types[3] = {
    {"float", sizeof(float), 5.9604644775390625e-8, s_multiply, tmm_sgemm_choice,
     tmm_sgemm_explain},
    {"double", sizeof(double), 1.1102230246251565e-16, d_multiply, tmm_dgemm_choice,
     tmm_dgemm_explain},
    {"int", sizeof(int), 0, i_multiply, tmm_igemm_choice, tmm_igemm_explain},
};

/* ---------------------------------- options --------------------------------------------------- */
static int chosen = ALL, reps = DEFAULT_REPS; /* the first: a tmm_kernel */
static int with_cpu = 1; /* its rows: 0 none, 1 if they are quick, 2 in any case */
static int why;          /* nothing is multiplied: what TMM_AUTO compares is shown */
static const char *gpu;  /* for which GPU; NULL: this one */

static void print_help(void)
{
    printf("usage: matmul [N | M N K] [options]    (default: N = %d)\n"
           "Multiplies A (M x K) by B (K x N) by every kernel and the CPU, checks each result.\n\n"
           "  --type float|double|int  element type (default float)\n"
           "  --kernel NAME            only this one:",
           DEFAULT_SIZE);
    for (int n = 0; n < TMM_KERNEL_COUNT; n++)
        printf("%s %s", n % 5 ? "" : "\n                          ",
               tmm_kernel_string((tmm_kernel)n));
    printf(
        "\n                           (skinny: M or N of 16 at most; tensor_int8: double;\n"
        "                           tensor: double, and float if this program is\n"
        "                           compiled with -DTMM_FLOAT_TENSOR=0)\n"
        "  --reps R                 timings per row, of which the median is shown (default %d)\n"
        "  --cpu, --no-cpu          run the CPU rows, or not (default: up to 4096^3)\n"
        "  --why                    no product: the time that each kernel should take, its tile\n"
        "                           and what binds it, which is how TMM_AUTO chooses\n"
        "  --gpu WORD               the same for another GPU, by a word of its name: H100, H200\n"
        "  --csv FILE               write the table to FILE as well\n"
        "  -h, --help               this text\n",
        DEFAULT_REPS);
}

static int refuse(const char *why, const char *word)
{
    fprintf(stderr, "matmul: %s '%s'\nmatmul: --help lists what can be asked\n", why, word);
    return 0;
}

static int parse_number(const char *text, long long high, long long *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return *text && !*end && !errno && *number >= 1 && *number <= high;
}

/* The name of the CSV file goes to *csv_file. */
static int parse_options(int count, char **words, const char **csv_file)
{
    long long sizes[3], number;
    int given = 0;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        int n = 0, takes_value = 1;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--no-cpu") == 0 || strcmp(word, "--cpu") == 0) {
            with_cpu = word[2] == 'n' ? 0 : 2, takes_value = 0;
        } else if (strcmp(word, "--why") == 0) {
            why = 1, takes_value = 0;
        } else if (strcmp(word, "--gpu") == 0) {
            if (!*value || *value == '-') return refuse("--gpu needs a word of a name, not", value);
            why = 1, gpu = value;
        } else if (strcmp(word, "--type") == 0) {
            while (n < 3 && strcmp(value, types[n].name) != 0) n++;
            if (n == 3) return refuse("--type is float, double or int, not", value);
            type = (tmm_type)n;
        } else if (strcmp(word, "--kernel") == 0) {
            while (n < TMM_KERNEL_COUNT && strcmp(value, tmm_kernel_string((tmm_kernel)n))) n++;
            if (n == TMM_KERNEL_COUNT) return refuse("--kernel: none is called", value);
            chosen = n;
        } else if (strcmp(word, "--reps") == 0) {
            if (!parse_number(value, MAX_REPS, &number))
                return refuse("--reps must be a whole number from 1 to 1000, not", value);
            reps = (int)number;
        } else if (strcmp(word, "--csv") == 0) {
            if (!*value || *value == '-')
                return refuse("--csv needs the name of a file, not", value);
            *csv_file = value;
        } else if (word[0] == '-' && !(word[1] >= '0' && word[1] <= '9')) {
            return refuse("unknown option", word);
        } else {
            if (given == 3) return refuse("one size, or three: M N K; too many with", word);
            if (!parse_number(word, 1 << 30, &sizes[given]))
                return refuse("a size must be a whole number from 1 to 2^30, not", word);
            given++, takes_value = 0;
        }
        i += takes_value;
    }
    if (given == 2) return refuse("one size, or three: M N K; too few with", words[count - 1]);
    M = N = K = given ? sizes[0] : (long long)DEFAULT_SIZE;
    if (given == 3) N = sizes[1], K = sizes[2];
    return 1;
}

/* ---------------------------------- output ---------------------------------------------------- */
/* The CSV file appears whole or not at all: written beside its place, then renamed. A link is
   followed; what is no ordinary file, such as a pipe, is written to directly. */
static FILE *csv;
static char csv_path[4096], csv_beside[4100];
static int csv_direct;

/* Before the work to see whether it can be written, and after it. */
static int open_csv(const char *name, int try_only)
{
    int found = 0;
#ifndef _WIN32
    struct stat there;
    csv_direct = lstat(name, &there) == 0 && !(stat(name, &there) == 0 && S_ISREG(there.st_mode));
    found = !csv_direct && realpath(name, csv_path);
    if (csv_direct && try_only && !S_ISDIR(there.st_mode)) return 1;
#endif
    if (!found) snprintf(csv_path, sizeof csv_path, "%s", name);
    snprintf(csv_beside, sizeof csv_beside, csv_direct ? "%s" : "%s.tmp", csv_path);
    csv = fopen(csv_beside, "w");
    if (!csv) fprintf(stderr, "matmul: cannot write '%s'\n", name);
    if (csv && try_only) fclose(csv), remove(csv_beside);
    return csv != NULL;
}

static int close_csv(const char *name)
{
    int bad = ferror(csv), good = fclose(csv) == 0 && !bad;
#ifdef _WIN32
    if (good) remove(csv_path); /* Windows does not rename onto a file */
#endif
    if (good && !csv_direct) good = rename(csv_beside, csv_path) == 0;
    if (!good && !csv_direct) remove(csv_beside);
    if (!good) fprintf(stderr, "matmul: cannot write '%s'\n", name);
    return good;
}

/* Ends the program with a sentence, if it is no closed pipe that what was printed cannot go to. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("matmul: cannot write to standard output");
    _Exit(1);
}

/* 0 with a sentence if a call failed. */
static int succeeded(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) fprintf(stderr, "matmul: %s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

static double element(const void *X, long long i)
{
    if (type == TMM_FLOAT) return ((const float *)X)[i];
    if (type == TMM_DOUBLE) return ((const double *)X)[i];
    return ((const int *)X)[i];
}

/* Uniform in (-1, 1), or 16 bits of an int: of a linear congruence the upper half. */
static void fill_random(void *X, long long count)
{
    static unsigned long long state = 1;
    for (long long i = 0; i < count; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        int bits = (int)(state >> 32);
        double real = (bits + 0.5) / 2147483648.0;
        if (type == TMM_FLOAT) ((float *)X)[i] = (float)real;
        if (type == TMM_DOUBLE) ((double *)X)[i] = real;
        if (type == TMM_INT) ((int *)X)[i] = bits >> 16;
    }
}

static cudaDeviceProp device;
static double peak;                    /* operations a second */
static double units[3] = {128, 2, 64}; /* multiply-adds of float, double and int: see get_device */

static int get_device(void)
{
    int number = 0, kHz = 0;
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&device, number);
    if (error != cudaSuccess) {
        fprintf(stderr, "matmul: no usable CUDA device: %s; on the CPU: ./build.sh run matmul\n",
                cudaGetErrorString(error));
        return 0;
    }
    cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, number);
    /* Fused multiply-adds per clock and multiprocessor of the ordinary units (no tensor cores):
       CUDA C++ Programming Guide, "Arithmetic Instructions". */
    int v = 10 * device.major + device.minor;
    if (v == 60 || (v >= 70 && v <= 80)) units[TMM_FLOAT] = 64;
    if (v == 60 || v == 70 || v == 80) units[TMM_DOUBLE] = 32;
    if (v == 90 || v == 100) units[TMM_DOUBLE] = 64;
    if (v >= 120) units[TMM_INT] = 128;
    peak = 2e3 * units[type] * device.multiProcessorCount * kHz;
    return 1;
}

/* ---------------------------------- the product and its check --------------------------------- */
typedef struct matrices {
    void *A, *B, *C;
} matrices;
static matrices host;
static size_t bytesA, bytesB, bytesC;

/* What SAMPLES elements, or all, should be, and by how much they may differ. */
static long long checked, where[SAMPLES];
static double reference[SAMPLES], bound[SAMPLES];

typedef struct row {
    char method[48];
    const char *memory;
    int on_gpu, threads;
    double seconds, end_to_end; /* median of all timings; negative: not measured */
    double least, mean, most;   /* of the same timings */
    double abs_error, rel_error;
    int right;
} row;
static row rows[MAX_ROWS];
static int row_count;
static double sequential = -1, flops; /* seconds, negative if not measured; of a product */

/* Sums of higher precision for elements all over C. Of int they are exact, and taken modulo 2^32. */
static void make_reference(void)
{
    checked = M * N < SAMPLES ? M * N : (long long)SAMPLES;
    for (long long n = 0; n < checked; n++) {
        double turn = fmod((double)n * 0.6180339887498949, 1); /* the golden section spreads them */
        long long at = where[n] = checked == M * N ? n : (long long)(turn * (double)(M * N));
        long double sum = 0, absolute = 0;
        for (long long k = 0; k < K; k++) {
            long double term = element(host.A, at / N * K + k);
            term *= element(host.B, k * N + at % N);
            sum += term;
            absolute += fabsl(term);
        }
        reference[n] = type == TMM_INT ? (double)(int)(long long)sum : (double)sum;
        bound[n] = (double)((K + 2) * types[type].unit * absolute);
    }
}

/* Compares host.C with these; all of it must agree with A and B under random projections. */
static void check(row *r)
{
    double excess = HUGE_VAL;
    r->right =
        tmm_freivalds(type, M, N, K, host.A, K, host.B, N, host.C, N, 5, 1, &excess) == TMM_OK &&
        excess <= 1;
    for (long long n = 0; n < checked; n++) {
        double e = fabs(element(host.C, where[n]) - reference[n]);
        if (!(e <= bound[n])) r->right = 0;
        if (!(e <= r->abs_error)) r->abs_error = e;
        e /= fabs(reference[n]) + 1e-12;
        if (!(e <= r->rel_error)) r->rel_error = e;
    }
}

/* One product, on the device enqueued; 1 on success. If the kernel does not take such products, that
   is no failure of it, and nothing is said here. */
static int unsupported;
static int multiply(int kernel, int threads, matrices m)
{
#ifdef WITH_CUBLAS
    if (kernel == CUBLAS) { /* is column-major: our row-major C = A B is its C^T = B^T A^T */
        static cublasHandle_t cublas;
        const float f[2] = {1, 0};
        const double d[2] = {1, 0};
        const cublasOperation_t n = CUBLAS_OP_N;
        if (!cublas && cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) cublas = NULL;
        int failed = !cublas ? 1
                     : type == TMM_FLOAT
                         ? cublasSgemm_64(cublas, n, n, N, M, K, f, (float *)m.B, N, (float *)m.A,
                                          K, f + 1, (float *)m.C, N)
                         : cublasDgemm_64(cublas, n, n, N, M, K, d, (double *)m.B, N, (double *)m.A,
                                          K, d + 1, (double *)m.C, N);
        if (failed) fprintf(stderr, "matmul: cuBLAS error %d\n", failed);
        return !failed;
    }
#endif
    tmm_status status = types[type].multiply(kernel, threads, M, m.A, m.B, m.C);
    unsupported = status == TMM_ERROR_UNSUPPORTED;
    if (status != TMM_OK && !unsupported) fprintf(stderr, "matmul: %s\n", tmm_last_error());
    return status == TMM_OK;
}

/* Device memory for A, B and C, the first two with their values. */
static int copy_in(matrices *m)
{
    return succeeded(cudaMalloc(&m->A, bytesA), "device memory for A") &&
           succeeded(cudaMalloc(&m->B, bytesB), "device memory for B") &&
           succeeded(cudaMalloc(&m->C, bytesC), "device memory for C") &&
           succeeded(cudaMemcpy(m->A, host.A, bytesA, cudaMemcpyHostToDevice), "copy of A") &&
           succeeded(cudaMemcpy(m->B, host.B, bytesB, cudaMemcpyHostToDevice), "copy of B");
}

static void free_device(matrices *m)
{
    cudaFree(m->A), cudaFree(m->B), cudaFree(m->C);
    m->A = m->B = m->C = NULL;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The timings of a row, in seconds: their median, and what else is said of them. */
static void summarise(row *r, double *x, int count)
{
    for (int n = 0; n < count; n++) { /* sorts them */
        double t = x[n];
        int at = n;
        for (; at > 0 && x[at - 1] > t; at--) x[at] = x[at - 1];
        x[at] = t;
        r->mean += t / count;
    }
    r->seconds = 0.5 * (x[(count - 1) / 2] + x[count / 2]);
    r->least = x[0], r->most = x[count - 1];
}

/* Does the kernel asked for take such products? Tried before the CPU's rows, which may take minutes. */
static int is_taken(void)
{
    matrices m = {NULL, NULL, NULL};
    int good = copy_in(&m) && multiply(chosen, -1, m);
    free_device(&m);
    return good;
}

/* A row by a kernel, none if it does not take such products. Timed by events, in which one shorter
   than a millisecond is repeated: they resolve half a microsecond. Then as a whole: allocation,
   copies, product, copy back, release. */
static int add_device_row(int kernel)
{
    row *r = &rows[row_count++];
    matrices m = {NULL, NULL, NULL};
    double times[MAX_REPS], begin;
    cudaEvent_t start = NULL, stop = NULL;
    float ms = 0;
    int inner = 1;
    unsupported = 0, r->on_gpu = 1;
    snprintf(r->method, sizeof r->method, kernel == TMM_AUTO ? "%s = %s" : "%s",
             kernel == CUBLAS ? "cuBLAS" : tmm_kernel_string((tmm_kernel)kernel),
             tmm_kernel_string(types[type].choice(M, N, K, 1)));
    r->memory = kernel == CUBLAS                                  ? "library"
                : kernel == TMM_AUTO || kernel == TMM_AUTO_TENSOR ? "as chosen"
                : kernel == TMM_GLOBAL || kernel == TMM_DIRECT    ? "global"
                : kernel < TMM_REGISTER                           ? "shared"
                                                                  : "shared + registers";
    int good = copy_in(&m) && succeeded(cudaEventCreate(&start), "cudaEventCreate") &&
               succeeded(cudaEventCreate(&stop), "cudaEventCreate");
    for (int n = -2; n < reps && good; n++) { /* -2: warm-up; -1: how long does one take? */
        cudaEventRecord(start);
        for (int i = 0; i < inner && good; i++) good = multiply(kernel, -1, m);
        cudaEventRecord(stop);
        good = good && succeeded(cudaEventSynchronize(stop), "kernel");
        cudaEventElapsedTime(&ms, start, stop);
        if (n == -1 && ms < 1 && !ON_CPU) inner = ms > 0.005 ? (int)(1 / ms) + 1 : 200;
        if (n >= 0) times[n] = ms * 1e-3 / inner;
    }
    cudaEventDestroy(start), cudaEventDestroy(stop);
    if (good) summarise(r, times, reps);
    free_device(&m);
    if (unsupported) {
        memset(&rows[--row_count], 0, sizeof *r);
        return 1;
    }

    memset(host.C, 0xff, bytesC); /* NaN in float and double: what is never written shows */
    begin = now();
    good = good && copy_in(&m);
    r->end_to_end = now() - begin;
    good = good && succeeded(cudaMemset(m.C, 0xff, bytesC), "cudaMemset") &&
           succeeded(cudaDeviceSynchronize(), "cudaMemset"); /* ours: not timed */
    begin = now();
    good = good && multiply(kernel, -1, m) &&
           succeeded(cudaMemcpy(host.C, m.C, bytesC, cudaMemcpyDeviceToHost), "copy of C");
    free_device(&m);
    r->end_to_end += now() - begin;
    if (good) check(r);
    return good;
}

/* Sequential (0 threads), then with 1, 2, 4, ... and all; each repeats for half a second at most. */
static int add_cpu_rows(void)
{
    int most = 0;
#ifdef _OPENMP
    most = omp_get_max_threads();
#endif
    for (int threads = 0, last = 0; !last; threads = threads ? 2 * threads : 1) {
        row *r = &rows[row_count++];
        double times[MAX_REPS], begin = now(), start = begin;
        int n = 0;
        last = threads >= most;
        r->threads = last ? most : threads;
        snprintf(r->method, sizeof r->method, threads ? "OpenMP %d thread%s" : "sequential",
                 r->threads, r->threads > 1 ? "s" : "");
        r->memory = "CPU caches", r->end_to_end = -1;
        memset(host.C, 0xff, bytesC);
        for (; n < reps && begin - start < 0.5; begin = now()) {
            if (!multiply(0, r->threads, host)) return 0;
            times[n++] = now() - begin;
        }
        summarise(r, times, n);
        check(r);
        if (!threads) sequential = r->seconds;
    }
    return 1;
}

/* Is this kernel for such products, compiled, and for the device? A product of no rows asks. */
static int is_rung(int kernel)
{
    if (kernel == TMM_SHARED || kernel == TMM_REGISTER || kernel == TMM_AUTO_TENSOR) return 0;
    if (kernel == TMM_SKINNY && (type != TMM_FLOAT || (M > 16 && N > 16))) return 0;
    if (kernel == TMM_OUTER && K > 64) return 0;
    if (type != TMM_FLOAT && /* of double and int these stand for the largest tiles */
        (kernel == TMM_SHARED_8 || kernel == TMM_SHARED_16 || kernel == TMM_REGISTER_64))
        return 0;
    if (kernel == TMM_NARROW && (type != TMM_FLOAT || (M < 256 && N < 256))) return 0;
    if (kernel == (type == TMM_DOUBLE ? TMM_PIPELINED : TMM_TENSOR)) return 0; /* the other's */
    return types[type].multiply(kernel, -1, 0, NULL, NULL, NULL) != TMM_ERROR_UNSUPPORTED;
}

static int add_device_rows(void)
{
    int good = 1;
    for (int k = TMM_GLOBAL; k < TMM_KERNEL_COUNT && chosen == ALL && good; k++)
        if (is_rung(k)) good = add_device_row(k);
    if (good) good = add_device_row(chosen == ALL ? (int)TMM_AUTO : chosen);
#ifdef WITH_CUBLAS
    if (good && type != TMM_INT) good = add_device_row(CUBLAS);
#endif
    return good;
}

static void print_table(void)
{
    printf("\n%-22s %-18s %10s %10s %10s %10s %10s %10s %9s %9s  %s\n", "method", "memory",
           "time ms", "end to end", "GFLOP/s", "% peak", "speed-up", "effic.", "max abs", "max rel",
           "verdict");
    if (csv)
        fprintf(csv, "name,memory,type,M,N,K,device,real_time_ms,min_ms,mean_ms,max_ms,"
                     "end_to_end_ms,gflops,percent_of_peak,speed_up,efficiency,max_abs_error,"
                     "max_rel_error,verdict\n");
    for (const row *r = rows; r < rows + row_count; r++) {
        double rate = flops / r->seconds, gain = sequential > 0 ? sequential / r->seconds : -1;
        /* negative: not known; an empty field in the CSV file */
        const double figure[] = {r->end_to_end * 1e3, rate * 1e-9,
                                 r->on_gpu && !ON_CPU ? 100 * rate / peak : -1, gain,
                                 r->threads ? gain / r->threads : -1};
        printf("%-22s %-18s %10.4g", r->method, r->memory, r->seconds * 1e3);
        if (csv)
            fprintf(csv, "%s,%s,%s,%lld,%lld,%lld,\"%s\",%.6g,%.6g,%.6g,%.6g", r->method, r->memory,
                    types[type].name, M, N, K, r->on_gpu ? device.name : "CPU", r->seconds * 1e3,
                    r->least * 1e3, r->mean * 1e3, r->most * 1e3);
        for (int n = 0; n < 5; n++) {
            printf(figure[n] < 0 ? "          -" : " %10.4g", figure[n]);
            if (csv) fprintf(csv, figure[n] < 0 ? "," : ",%.6g", figure[n]);
        }
        printf(" %9.2e %9.2e  %s\n", r->abs_error, r->rel_error, r->right ? "ok" : "WRONG");
        if (csv)
            fprintf(csv, ",%.3e,%.3e,%s\n", r->abs_error, r->rel_error, r->right ? "ok" : "wrong");
    }
}

static int set_up(void)
{
    size_t size = types[type].size, free_bytes = 0, total = 0;
    double GB = 1e-9 * ((double)M * K + (double)K * N + (double)M * N) * size;
    flops = 2.0 * (double)M * (double)N * (double)K;
    bytesA = size * (size_t)(M * K), bytesB = size * (size_t)(K * N),
    bytesC = size * (size_t)(M * N);
    cudaMemGetInfo(&free_bytes, &total);
    int fits = GB <= 1e-9 * (double)free_bytes;
    if (fits) host.A = malloc(bytesA), host.B = malloc(bytesB), host.C = malloc(bytesC);
    if (host.A && host.B && host.C) {
        fill_random(host.A, M * K);
        fill_random(host.B, K * N);
        make_reference();
        return 1;
    }
    fprintf(stderr, "matmul: these matrices take %.3g GB, more than is free on the %s\n", GB,
            fits ? "host" : "device");
    return 0;
}

/* What TMM_AUTO compares for this product: --why. */
static int explain(void)
{
    char text[4096];
    const tmm_kernel kernel = chosen == TMM_AUTO_TENSOR ? TMM_AUTO_TENSOR : TMM_AUTO;
    if (types[type].explain(kernel, TMM_OP_N, TMM_OP_N, M, N, K, 1, gpu, text, sizeof text)) {
        fprintf(stderr, "matmul: %s\nmatmul: --help lists what can be asked\n", tmm_last_error());
        return 2;
    }
    printf("%s", text);
    return 0;
}

int main(int count, char **words)
{
    const char *csv_file = NULL;
    check_output();
    atexit(check_output);
    if (!parse_options(count, words, &csv_file)) return 2;
    if (why) return explain();
    if (!get_device()) return 2;
    if (csv_file && !open_csv(csv_file, 1)) return 2; /* before the work */
    printf("C (%lld x %lld) = A (%lld x %lld) times B (%lld x %lld), %s, row-major\n", M, N, M, K,
           K, N, types[type].name);
    if (ON_CPU)
        printf("device: %s; all times are CPU times and say nothing about a GPU\n", device.name);
    else
        printf("device: %s, compute capability %d.%d, peak without tensor cores %.2f TFLOP/s\n",
               device.name, device.major, device.minor, peak * 1e-12);
    if (!ON_CPU && type == TMM_DOUBLE)
        printf("units: %g of double in a multiprocessor, %g of float; %s\n", units[TMM_DOUBLE],
               units[TMM_FLOAT],
               units[TMM_DOUBLE] < 32
                   ? "the first bind all rows but tensor_int8, by bytes"
                   : "tensor has tensor cores for double, tensor_int8 for bytes");
    int good = set_up() && (chosen == ALL || is_taken());
    if (unsupported) {
        fprintf(stderr, "matmul: %s\nmatmul: --help lists what can be asked\n", tmm_last_error());
        free(host.A), free(host.B), free(host.C);
        return 2;
    }
    if (good)
        printf("checked: %lld elements, %s; all by random projection (Freivalds)\n", checked,
               type == TMM_INT ? "exactly" : "error at most (K + 2) u |A||B|");
    if (good && (with_cpu == 2 || (with_cpu == 1 && flops < 1.4e11))) good = add_cpu_rows();
    good = good && add_device_rows();
    signal(SIGINT, SIG_IGN), signal(SIGTERM, SIG_IGN); /* what is written now is written whole */
    if (good && csv_file) good = open_csv(csv_file, 0);
    if (good) print_table();
    if (good && csv_file) good = close_csv(csv_file);
    for (int n = 0; n < row_count; n++) good &= rows[n].right;
    free(host.A), free(host.B), free(host.C);
    printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}
