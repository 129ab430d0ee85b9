/* prepared.cu - one B for many products, as in inference: B is converted once, not every time.

   Tensor cores multiply float by three products of halves, so each operand is split into halves
   first. With a small A and a large B, the weights, splitting B is much of the work. But B stays
   the same from call to call: tmm_sgemm_prepare_B splits it once.

   Build   nvcc -O3 -gencode arch=compute_90a,code=sm_90a demos/prepared.cu -o prepared    (Hopper)
           nvcc -O3 -arch=native demos/prepared.cu -o prepared          (others, sm_80 or later)
   Run     ./prepared                256 x 4096 x 4096, 16 of A
           ./prepared --help                                                                      */
#define TMM_FLOAT_TENSOR 0 /* compiled, but TMM_AUTO stays strict float */
#define TMM_NO_DOUBLE
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
static const char *const names[ROWS] = {"strict float", "B split each time", "B prepared",
                                        "preparing B, once"};

static int M = DEFAULT_M, N = DEFAULT_N, K = DEFAULT_K, count = DEFAULT_COUNT;
static float *A, *B, *C, *split, *dA, *dB, *dC; /* A and C: one after the other */
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

/* Enqueues what a row of the table is about: all products, or one preparation. */
static void run_row(int row)
{
    tmm_kernel kernel = row == STRICT ? TMM_AUTO : TMM_TENSOR;
    tmm_status status = TMM_OK;
    if (row == PREPARE) {
        check_status(tmm_sgemm_release(&prepared, NULL), row); /* of the run before, if any */
        status = tmm_sgemm_prepare_B(TMM_OP_N, K, N, dB, N, NULL, 0, &prepared, NULL);
    }
    for (int n = 0; n < count && row != PREPARE && status == TMM_OK; n++) {
        const float *a = dA + (size_t)n * M * K;
        float *c = dC + (size_t)n * M * N;
        if (row == PREPARED)
            status = tmm_sgemm_tensor(TMM_OP_N, TMM_OP_N, M, N, K, 1, a, K, dB, N, 0, c, N,
                                      &options, NULL);
        else
            status =
                tmm_sgemm_with(kernel, TMM_OP_N, TMM_OP_N, M, N, K, 1, a, K, dB, N, 0, c, N, NULL);
    }
    check_status(status, row);
}

/* Median time, C full of NaN before each run; the first run loads the kernels and does not
   count. */
static float measure(int row)
{
    float times[REPS + 1], median = 0;
    for (int n = REPS; n >= 0; n--) {
        CHECK(cudaMemset(dC, 0xff, (size_t)count * M * N * sizeof(float)));
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

/* The largest error of random elements over (K + 2) 2^-24 |A||B|; infinity if any of C is NaN. */
static double largest_error(void)
{
    double largest = 0;
    for (size_t n = 0; n < (size_t)count * M * N; n++)
        if (C[n] != C[n]) return INFINITY;
    for (int n = 0; n < SAMPLES; n++) {
        size_t i = n % 4 == 0 ? (size_t)count * M - 1 : random_number() % ((unsigned)count * M);
        size_t j = n % 4 == 1 ? N - 1 : random_number() % N;
        double sum = 0, size = 0;
        for (size_t k = 0; k < (size_t)K; k++) {
            double term = (double)A[i * K + k] * B[k * N + j];
            sum += term, size += fabs(term);
        }
        double bound = (K + 2) * ldexp(size, -24), off = fabs(C[i * N + j] - sum);
        if (off > largest * bound) largest = bound > 0 ? off / bound : INFINITY;
    }
    return largest;
}

/* Random numbers in (-1, 1) in host memory, and a copy in device memory. */
static void make(float **host, float **on_device, size_t size)
{
    *host = (float *)malloc(size * sizeof(float));
    if (!*host) fprintf(stderr, "prepared: no host memory for %zu numbers\n", size), exit(2);
    for (size_t n = 0; n < size; n++) (*host)[n] = (float)random_number() / (1 << 23) - 1;
    CHECK(cudaMalloc(on_device, size * sizeof(float)));
    CHECK(cudaMemcpy(*on_device, *host, size * sizeof(float), cudaMemcpyHostToDevice));
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
            exit(printf("usage: prepared [M N K] [--count COUNT] [--csv FILE]\n"
                        "Multiplies COUNT matrices A (M x K) by one B (K x N), prepared once.\n"
                        "Default: %d %d %d --count %d\n",
                        M, N, K, count) < 0);
        if (!strcmp(argv[n], "--csv") && n + 1 < argc) {
            path = argv[++n];
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
    FILE *csv = path ? fopen(path, "w") : NULL; /* before the work, not after it */
    if (path && !csv) return fprintf(stderr, "prepared: cannot write '%s'\n", path), 2;
    if (csv) fprintf(csv, "name,M,N,K,count,median_ms,gflops,error,verdict\n");
    size_t c_count = (size_t)count * M * N;
    CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop));
    make(&A, &dA, (size_t)count * M * K);
    make(&B, &dB, (size_t)K * N);
    make(&C, &dC, c_count);
    split = (float *)malloc(c_count * sizeof(float));
    if (!split) return fprintf(stderr, "prepared: no host memory for C\n"), 2;
    printf("%s: %d products C (%d x %d) = A (%d x %d) times one B (%d x %d), float%s\n\n",
           device.name, count, M, N, M, K, K, N, ON_CPU ? "; times are CPU times" : "");
    printf("%-20s%14s%12s%10s%14s%9s\n", "", "ms a product", "GFLOP/s", "x strict", "error/bound",
           "result");
    float ms[ROWS];
    ms[PREPARE] = measure(PREPARE);
    options.B = &prepared;
    for (int row = STRICT; row < PREPARE; row++) {
        ms[row] = measure(row) / count;
        CHECK(cudaMemcpy(C, dC, c_count * sizeof(float), cudaMemcpyDeviceToHost));
        if (row == SPLIT) memcpy(split, C, c_count * sizeof(float));
        double error = largest_error(), gflops = 2e-6 * M * N * K / ms[row];
        int differs = row == PREPARED && memcmp(split, C, c_count * sizeof(float)) != 0;
        const char *verdict = error <= 1 && !differs ? "ok" : (failures++, "WRONG");
        printf("%-20s%14.4f%12.1f%10.2f%14.4f%9s\n", names[row], ms[row], gflops,
               ms[STRICT] / ms[row], error, verdict);
        if (csv)
            fprintf(csv, "%s,%d,%d,%d,%d,%.4f,%.1f,%.4f,%s\n", names[row], M, N, K, count, ms[row],
                    gflops, error, verdict);
    }
    printf("%-20s%14.4f\n", names[PREPARE], ms[PREPARE]);
    if (csv) fprintf(csv, "%s,%d,%d,%d,1,%.4f,,,\n", names[PREPARE], M, N, K, ms[PREPARE]);
    printf(
        "\nBoth on tensor cores must have the same bits. Splitting B reads and writes all of it,\n"
        "for %d multiply-adds an element; preparation leaves only A to split.\n",
        M);
    if (!ON_CPU && ms[SPLIT] > ms[PREPARED])
        printf("It pays from %.0f products on.\n", ceil(ms[PREPARE] / (ms[SPLIT] - ms[PREPARED])));
    check_status(tmm_sgemm_release(&prepared, NULL), PREPARE);
    for (int n = 0; n < 3; n++) CHECK(cudaFree(n == 0 ? dA : n == 1 ? dB : dC));
    for (int n = 0; n < 2; n++) CHECK(cudaEventDestroy(n ? stop : start));
    free(A), free(B), free(C), free(split);
    if (csv && (ferror(csv) | fclose(csv)))
        failures++, fprintf(stderr, "prepared: cannot write '%s'\n", path);
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
