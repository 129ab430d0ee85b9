/* prepared.cu - one B for many products, as in inference: B is converted once, not every time.

   Tensor cores multiply float by three products of halves, so each operand is split into halves
   first; double by 13 to 16 products of bytes, residues of integers. With a small A and a large B,
   the weights, converting B is much of the work. But B stays the same from call to call:
   tmm_sgemm_prepare_B converts it once.

   Build   nvcc -O3 -gencode arch=compute_90a,code=sm_90a demos/prepared.cu -o prepared    (Hopper)
           nvcc -O3 -arch=native demos/prepared.cu -o prepared          (others, sm_80 or later)
   Run     ./prepared                256 x 4096 x 4096, 16 of A
           ./prepared --type double
           ./prepared --help                                                                      */
#define TMM_FLOAT_TENSOR  0 /* compiled, but TMM_AUTO stays strict float */
#define TMM_DOUBLE_TENSOR 0
#define TMM_NO_INT
#undef TMM_SIMPLE /* which leaves the tensor cores out */
#include "../tiledmm.cuh"
#include <errno.h>

#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, REPS = 3, DEFAULT_M = 32, DEFAULT_N = 96, DEFAULT_K = 128, DEFAULT_COUNT = 3 };
#else
enum { ON_CPU = 0, REPS = 11, DEFAULT_COUNT = 16 };
enum { DEFAULT_M = 256, DEFAULT_N = 4096, DEFAULT_K = 4096 };
#endif
enum { MOST = 16384, MOST_COUNT = 256, SAMPLES = 1000 };
enum { STRICT, SPLIT, PREPARED, PREPARE, ROWS };
static const char *const names[ROWS] = {"strict", "B converted each time", "B prepared",
                                        "preparing B once"};

static int M = DEFAULT_M, N = DEFAULT_N, K = DEFAULT_K, count = DEFAULT_COUNT;
static tmm_type type; /* TMM_FLOAT or TMM_DOUBLE */
static size_t element = sizeof(float);
static char *A, *B, *C, *split, *dA, *dB, *dC; /* A and C: one after the other */
static tmm_tensor_options options;
static tmm_prepared prepared;
static cudaEvent_t start, stop;

#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, "prepared: %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static void check_status(tmm_status status, int row)
{
    if (status) fprintf(stderr, "prepared: %s: %s\n", names[row], tmm_last_error()), exit(2);
}

static unsigned random_number(void)
{
    static unsigned state = 1;
    return (state = state * 1664525u + 1013904223u) >> 8; /* below 2^24 */
}

/* Float in this row: prepares B, or computes product n. */
static tmm_status run_float(int row, size_t n)
{
    const float *a = (const float *)dA + n * M * K, *b = (const float *)dB;
    float *c = (float *)dC + n * M * N;
    if (row == PREPARE) return tmm_sgemm_prepare_B(TMM_OP_N, K, N, b, N, NULL, 0, &prepared, NULL);
    if (row == PREPARED)
        return tmm_sgemm_tensor(TMM_OP_N, TMM_OP_N, M, N, K, 1, a, K, b, N, 0, c, N, &options,
                                NULL);
    return tmm_sgemm_with(row == STRICT ? TMM_AUTO : TMM_TENSOR, TMM_OP_N, TMM_OP_N, M, N, K, 1, a,
                          K, b, N, 0, c, N, NULL);
}

/* The same for double. */
static tmm_status run_double(int row, size_t n)
{
    const double *a = (const double *)dA + n * M * K, *b = (const double *)dB;
    double *c = (double *)dC + n * M * N;
    if (row == PREPARE) return tmm_dgemm_prepare_B(TMM_OP_N, K, N, b, N, NULL, 0, &prepared, NULL);
    if (row == PREPARED)
        return tmm_dgemm_tensor(TMM_OP_N, TMM_OP_N, M, N, K, 1, a, K, b, N, 0, c, N, &options,
                                NULL);
    return tmm_dgemm_with(row == STRICT ? TMM_AUTO : TMM_TENSOR_INT8, TMM_OP_N, TMM_OP_N, M, N, K,
                          1, a, K, b, N, 0, c, N, NULL);
}

/* Enqueues what a row of the table is about: all products, or one preparation. */
static void run_row(int row)
{
    tmm_status (*run)(int row, size_t n) = type == TMM_FLOAT ? run_float : run_double;
    if (row == PREPARE) /* what the run before has prepared, if any */
        check_status(type == TMM_FLOAT ? tmm_sgemm_release(&prepared, NULL)
                                       : tmm_dgemm_release(&prepared, NULL),
                     row);
    for (int n = 0; n < (row == PREPARE ? 1 : count); n++) check_status(run(row, (size_t)n), row);
}

/* Prints how much device memory B takes, prepared, and a product, with B converted each time and
   prepared. */
static void print_memory(void)
{
    size_t kept = 0, bytes[2] = {0, 0};
    for (int n = 0; n < 2; n++) {
        const tmm_tensor_options *with = n ? &options : NULL;
        tmm_status status = type == TMM_FLOAT ? tmm_sgemm_tensor_memory(M, N, K, with, &bytes[n])
                                              : tmm_dgemm_tensor_memory(M, N, K, with, &bytes[n]);
        check_status(status, n ? PREPARED : SPLIT);
    }
    check_status(type == TMM_FLOAT ? tmm_sgemm_prepare_memory(N, K, &kept)
                                   : tmm_dgemm_prepare_memory(N, K, &kept),
                 PREPARE);
    printf("\nB, %.2f MB, takes %.2f MB more when it is prepared. While a product is under way it\n"
           "takes %.2f MB of device memory, with B prepared %.2f MB.\n",
           1e-6 * (double)element * K * N, 1e-6 * (double)kept, 1e-6 * (double)bytes[0],
           1e-6 * (double)bytes[1]);
}

/* Median time, C full of NaN before each run; the first run loads the kernels and does not
   count. */
static float measure(int row)
{
    float times[REPS + 1], median = 0;
    for (int n = REPS; n >= 0; n--) {
        CHECK(cudaMemset(dC, 0xff, (size_t)count * M * N * element));
        CHECK(cudaEventRecord(start));
        run_row(row);
        CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&times[n], start, stop));
    }
    for (int n = 0; n < REPS; n++) { /* the median has at most half of the times on either side */
        int below = 0, above = 0;
        for (int m = 0; m < REPS; m++) below += times[m]<times[n], above += times[m]> times[n];
        if (below <= REPS / 2 && above <= REPS / 2) median = times[n];
    }
    return median;
}

/* Element n of a host matrix. */
static double at(const char *X, size_t n)
{
    return type == TMM_FLOAT ? ((const float *)X)[n] : ((const double *)X)[n];
}

/* The largest error of random elements over (K + 2) u |A||B|, u = 2^-24 or 2^-53; infinity if any
   of C is NaN. The reference has 64 bits or more. */
static double largest_error(void)
{
    const double u = type == TMM_FLOAT ? ldexp(1, -24) : ldexp(1, -53);
    double largest = 0;
    for (size_t n = 0; n < (size_t)count * M * N; n++)
        if (at(C, n) != at(C, n)) return INFINITY;
    for (int n = 0; n < SAMPLES; n++) {
        size_t i = n % 4 == 0 ? (size_t)count * M - 1 : random_number() % ((unsigned)count * M);
        size_t j = n % 4 == 1 ? N - 1 : random_number() % N;
        long double sum = 0, size = 0;
        for (size_t k = 0; k < (size_t)K; k++) {
            long double term = (long double)at(A, i * K + k) * at(B, k * N + j);
            sum += term, size += fabsl(term);
        }
        double bound = (K + 2) * (double)size * u, off = (double)fabsl(at(C, i * N + j) - sum);
        if (off > largest * bound) largest = bound > 0 ? off / bound : INFINITY;
    }
    return largest;
}

/* Random numbers in (-1, 1) in host memory, and a copy in device memory. */
static void make(char **host, char **on_device, size_t size)
{
    *host = (char *)malloc(size * element);
    if (!*host) fprintf(stderr, "prepared: no host memory for %zu numbers\n", size), exit(2);
    for (size_t n = 0; n < size; n++) {
        double high = (double)random_number() / (1 << 23) - 1;
        if (type == TMM_FLOAT) ((float *)*host)[n] = (float)high;
        if (type == TMM_DOUBLE) ((double *)*host)[n] = high + ldexp(random_number(), -47);
    }
    CHECK(cudaMalloc(on_device, size * element));
    CHECK(cudaMemcpy(*on_device, *host, size * element, cudaMemcpyHostToDevice));
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("prepared: standard output");
    _Exit(1);
}

int main(int argc, char **argv)
{
    int *sizes[] = {&M, &N, &K}, given = 0, failures = 0;
    const char *path = NULL;
    check_output(); /* before a file is opened in its place */
    atexit(check_output);
    for (int n = 1; n < argc; n++) {
        char *end;
        int counts = !strcmp(argv[n], "--count") && n + 1 < argc;
        if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h"))
            exit(printf("usage: prepared [M N K] [--type float|double] [--count COUNT] "
                        "[--csv FILE]\n"
                        "Multiplies COUNT matrices A (M x K) by one B (K x N), prepared once.\n"
                        "Default: %d %d %d --type float --count %d\n",
                        M, N, K, count) < 0);
        if (!strcmp(argv[n], "--csv") && n + 1 < argc) {
            path = argv[++n];
            continue;
        }
        if (!strcmp(argv[n], "--type") && n + 1 < argc) {
            type = !strcmp(argv[++n], "double") ? TMM_DOUBLE : TMM_FLOAT;
            if (type == TMM_FLOAT && strcmp(argv[n], "float") != 0)
                return fprintf(stderr, "prepared: --type is float or double, not '%s'\n", argv[n]),
                       2;
            continue;
        }
        n += counts;
        long size = strtol(argv[n], &end, 10), most = counts ? MOST_COUNT : MOST;
        if ((given == 3 && !counts) || end == argv[n] || *end || size < 1 || size > most)
            return fprintf(stderr, "prepared: cannot use '%s'; see --help\n", argv[n]), 2;
        *(counts ? &count : sizes[given++]) = (int)size;
    }
    if (given % 3 != 0) return fprintf(stderr, "prepared: give all of M N K, or none\n"), 2;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    FILE *file = path ? fopen(path, "wx") : NULL; /* before the work, not after it */
    if (file) remove(path); /* a new one appears when it is whole; an older one stays until then */
    if (path && !file) file = fopen(path, "a");
    if (path && !file) return fprintf(stderr, "prepared: cannot write '%s'\n", path), 2;
    static char rows[4096], *csv = rows; /* its text, written at the end */
    csv += sprintf(csv, "name,M,N,K,count,median_ms,gflops,error,verdict\n");
    if (type == TMM_DOUBLE) element = sizeof(double);
    size_t c_count = (size_t)count * M * N;
    CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop));
    make(&A, &dA, (size_t)count * M * K);
    make(&B, &dB, (size_t)K * N);
    make(&C, &dC, c_count);
    split = (char *)malloc(c_count * element);
    if (!split) return fprintf(stderr, "prepared: no host memory for C\n"), 2;
    printf("%s: %d products C (%d x %d) = A (%d x %d) times one B (%d x %d), %s%s\n\n", device.name,
           count, M, N, M, K, K, N, type == TMM_FLOAT ? "float" : "double",
           ON_CPU ? "; times are CPU times" : "");
    printf("%-22s%14s%12s%10s%14s%9s\n", "", "ms a product", "GFLOP/s", "x strict", "error/bound",
           "result");
    float ms[ROWS];
    ms[PREPARE] = measure(PREPARE);
    options.B = &prepared;
    for (int row = STRICT; row < PREPARE; row++) {
        ms[row] = measure(row) / count;
        CHECK(cudaMemcpy(C, dC, c_count * element, cudaMemcpyDeviceToHost));
        if (row == SPLIT) memcpy(split, C, c_count * element);
        double error = largest_error(), gflops = 2e-6 * M * N * K / ms[row];
        int differs =
            row == PREPARED && type == TMM_FLOAT && memcmp(split, C, c_count * element) != 0;
        const char *verdict = error <= 1 && !differs ? "ok" : (failures++, "WRONG");
        printf("%-22s%14.4f%12.1f%10.2f%14.4f%9s\n", names[row], ms[row], gflops,
               ms[STRICT] / ms[row], error, verdict);
        csv += sprintf(csv, "%s,%d,%d,%d,%d,%.4f,%.1f,%.4f,%s\n", names[row], M, N, K, count,
                       ms[row], gflops, error, verdict);
    }
    printf("%-22s%14.4f\n", names[PREPARE], ms[PREPARE]);
    csv += sprintf(csv, "%s,%d,%d,%d,1,%.4f,,,\n", names[PREPARE], M, N, K, ms[PREPARE]);
    print_memory();
    if (type == TMM_FLOAT) printf("\nBoth on tensor cores must have the same bits.");
    printf(
        "\nConverting B reads and writes all of it, for %d multiply-adds an element; preparation\n"
        "leaves only A to convert.\n",
        M);
    if (type == TMM_DOUBLE)
        printf(
            "Prepared, B has residues modulo 16 numbers, for any A. Where 13 or 14 suffice, the\n"
            "products of bytes take more time so, and for a large A that is more than is saved.\n");
    if (!ON_CPU && ms[SPLIT] > ms[PREPARED])
        printf("It pays from %.0f products on.\n", ceil(ms[PREPARE] / (ms[SPLIT] - ms[PREPARED])));
    check_status(type == TMM_FLOAT ? tmm_sgemm_release(&prepared, NULL)
                                   : tmm_dgemm_release(&prepared, NULL),
                 PREPARE);
    for (int n = 0; n < 3; n++) CHECK(cudaFree(n == 0 ? dA : n == 1 ? dB : dC));
    for (int n = 0; n < 2; n++) CHECK(cudaEventDestroy(n ? stop : start));
    free(A), free(B), free(C), free(split);
    if (file && (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0))
        failures++, fprintf(stderr, "prepared: cannot write '%s'\n", path);
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
