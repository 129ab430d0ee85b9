/* layer.cu - a layer of a network, C = GELU(A B + bias), with one kernel and with two.

   A is a batch of inputs, one a row, B the weights, bias one number for each column. Two kernels write
   A B to memory and read it again, only to add a number and bend a curve. tmm_?gemm_epilogue does
   both while the sums are still in registers: C is written once, and in half it is rounded once, too.
   What that saves is 2 x 4 bytes of memory traffic for an element of C (float), whatever K is: so it
   is worth most where K is small.

   Build   nvcc -O3 -arch=native demos/layer.cu -o layer
           nvcc -O3 -gencode arch=compute_90a,code=sm_90a demos/layer.cu -o layer     (Hopper)
           (-DWITH_CUBLAS -lcublasLt for a row by cublasLt with the same epilogue)
   Run     ./layer                   4096 x 4096 x 1024, half
           ./layer 512 512 64 --type float
           ./layer --help                                                                         */
#define TMM_WITH_EPILOGUE
#define TMM_WITH_HALF
#define TMM_NO_DOUBLE
#define TMM_NO_INT
#include "../tiledmm.cuh"
#include <errno.h>
#if defined(WITH_CUBLAS) && !defined(__CUCC__)
#include <cublasLt.h>
#endif

#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, REPS = 1, DEFAULT_M = 96, DEFAULT_N = 128, DEFAULT_K = 64 };
#else
enum { ON_CPU = 0, REPS = 11, DEFAULT_M = 4096, DEFAULT_N = 4096, DEFAULT_K = 1024 };
#endif
enum { MOST = 16384, SAMPLES = 2000 };
enum { FUSED, TWO, CUBLASLT, ROWS };
static const char *const names[ROWS] = {"one kernel", "two kernels", "cublasLt, one kernel"};

static int M = DEFAULT_M, N = DEFAULT_N, K = DEFAULT_K, is_half = 1;
static void *A, *B, *C, *bias, *dA, *dB, *dC, *d_bias;
static cudaEvent_t start, stop;

#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, "layer: %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static size_t element(void)
{
    return is_half ? sizeof(tmm_half) : sizeof(float);
}

/* The second of two kernels: a thread has an element of C, which is M x N without gaps. */
static __device__ float gelu(float x)
{
    return 0.5f * x * (1 + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
}

static __global__ void add_bias_float(float *c, const float *of_columns, long long count, int width)
{
    const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) c[n] = gelu(c[n] + of_columns[n % width]);
}

static __global__ void add_bias_half(tmm_half *c, const tmm_half *of_columns, long long count,
                                     int width)
{
    const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count)
        c[n] = __float2half(gelu(__half2float(c[n]) + __half2float(of_columns[n % width])));
}

/* The layer by one kernel, or the product of a layer by two. */
static void multiply(const tmm_epilogue *epilogue)
{
    tmm_status status;
    if (is_half)
        status = tmm_hgemm_epilogue(TMM_AUTO, TMM_OP_N, TMM_OP_N, M, N, K, 1, (tmm_half *)dA, K,
                                    (tmm_half *)dB, N, 0, (tmm_half *)dC, N, epilogue, NULL);
    else
        status = tmm_sgemm_epilogue(TMM_AUTO, TMM_OP_N, TMM_OP_N, M, N, K, 1, (float *)dA, K,
                                    (float *)dB, N, 0, (float *)dC, N, epilogue, NULL);
    if (status) fprintf(stderr, "layer: %s\n", tmm_last_error()), exit(2);
}

#if defined(WITH_CUBLAS) && !defined(__CUCC__)
/* cublasLt is column-major, so it computes C^T = B^T A^T: N x M, and its bias by rows is ours by
   columns. */
static cublasLtHandle_t lt;
static cublasLtMatmulDesc_t job;
static cublasLtMatrixLayout_t layouts[3]; /* of B, A and C */
static cublasLtMatmulHeuristicResult_t how;
static void *workspace;
static const size_t workspace_bytes = (size_t)64 << 20;

static void check_lt(cublasStatus_t status, const char *call)
{
    if (status) fprintf(stderr, "layer: %s: cuBLAS status %d\n", call, (int)status), exit(2);
}
#define CHECK_LT(call) check_lt(call, #call)

static void open_lt(void)
{
    const cudaDataType_t type = is_half ? CUDA_R_16F : CUDA_R_32F;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    cublasLtMatmulPreference_t preference;
    int found = 0;
    CHECK_LT(cublasLtCreate(&lt));
    CHECK_LT(cublasLtMatmulDescCreate(&job, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK_LT(cublasLtMatmulDescSetAttribute(job, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                            sizeof epilogue));
    CHECK_LT(cublasLtMatmulDescSetAttribute(job, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d_bias,
                                            sizeof d_bias));
    CHECK_LT(cublasLtMatrixLayoutCreate(&layouts[0], type, N, K, N));
    CHECK_LT(cublasLtMatrixLayoutCreate(&layouts[1], type, K, M, K));
    CHECK_LT(cublasLtMatrixLayoutCreate(&layouts[2], type, N, M, N));
    CHECK_LT(cublasLtMatmulPreferenceCreate(&preference));
    CHECK_LT(cublasLtMatmulPreferenceSetAttribute(preference,
                                                  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &workspace_bytes, sizeof workspace_bytes));
    CHECK_LT(cublasLtMatmulAlgoGetHeuristic(lt, job, layouts[0], layouts[1], layouts[2], layouts[2],
                                            preference, 1, &how, &found));
    CHECK_LT(cublasLtMatmulPreferenceDestroy(preference));
    if (found == 0) fprintf(stderr, "layer: cublasLt has no algorithm for this\n"), exit(2);
    CHECK(cudaMalloc(&workspace, workspace_bytes));
}

static void run_lt(void)
{
    const float one = 1, zero = 0;
    CHECK_LT(cublasLtMatmul(lt, job, &one, dB, layouts[0], dA, layouts[1], &zero, dC, layouts[2],
                            dC, layouts[2], &how.algo, workspace, workspace_bytes, NULL));
}

static void close_lt(void)
{
    for (int n = 0; n < 3; n++) CHECK_LT(cublasLtMatrixLayoutDestroy(layouts[n]));
    CHECK_LT(cublasLtMatmulDescDestroy(job));
    CHECK_LT(cublasLtDestroy(lt));
    CHECK(cudaFree(workspace));
}
enum { TIMED = ROWS };
#else
static void open_lt(void)
{
}
static void run_lt(void)
{
}
static void close_lt(void)
{
}
enum { TIMED = CUBLASLT };
#endif

/* Enqueues the layer as a row of the table says. */
static void run_row(int row)
{
    tmm_epilogue epilogue;
    memset(&epilogue, 0, sizeof epilogue);
    epilogue.col_bias = d_bias, epilogue.activation = TMM_GELU_TANH;
    if (row == CUBLASLT) {
        run_lt();
        return;
    }
    multiply(row == FUSED ? &epilogue : NULL);
    if (row == FUSED) return;
    const long long count = (long long)M * N;
    const unsigned blocks = (unsigned)((count + 255) / 256);
    if (is_half)
        add_bias_half<<<blocks, 256>>>((tmm_half *)dC, (const tmm_half *)d_bias, count, N);
    else
        add_bias_float<<<blocks, 256>>>((float *)dC, (const float *)d_bias, count, N);
    CHECK(cudaGetLastError());
}

/* Median time, C full of NaN before each run; the first run loads the kernels and does not
   count. */
static float measure(int row)
{
    float times[REPS + 1], median = 0;
    for (int n = REPS; n >= 0; n--) {
        CHECK(cudaMemset(dC, 0xff, (size_t)M * N * element()));
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
static double at(const void *X, size_t n)
{
    return is_half ? (double)__half2float(((const tmm_half *)X)[n]) : (double)((const float *)X)[n];
}

static unsigned random_number(void)
{
    static unsigned state = 1;
    return (state = state * 1664525u + 1013904223u) >> 8; /* below 2^24 */
}

/* The largest error of random elements over its bound; infinity if any of C is NaN. The bound: that
   of the sum, (K + 4) 2^-24 |A||B|, which GELU passes on 1.13 times at most; 8 2^-24 |x| for GELU,
   and 16 for the one of the second kernel and of cublasLt; roundings of C to half, of which two
   kernels have a second one, of x. */
static double largest_error(int row)
{
    const double u = ldexp(1, -24), rounding = is_half ? ldexp(1, -11) : u;
    double largest = 0;
    for (size_t n = 0; n < (size_t)M * N; n++)
        if (at(C, n) != at(C, n)) return INFINITY;
    for (int n = 0; n < SAMPLES; n++) {
        const size_t i = n % 4 == 0 ? (size_t)M - 1 : random_number() % (unsigned)M;
        const size_t j = n % 4 == 1 ? (size_t)N - 1 : random_number() % (unsigned)N;
        double x = at(bias, j), size = fabs(x), product = 0;
        for (size_t k = 0; k < (size_t)K; k++) {
            const double term = at(A, i * K + k) * at(B, k * N + j);
            product += term, size += fabs(term);
        }
        x += product;
        const double y = x / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
        double bound = 1.13 * (K + 4) * u * size + (row == FUSED ? 8 : 16) * u * fabs(x);
        if (row == TWO) bound += 1.13 * rounding * fabs(product);
        bound += 1.01 * rounding * (fabs(y) + bound) + ldexp(1, -24);
        largest = fmax(largest, fabs(at(C, i * N + j) - y) / bound);
    }
    return largest;
}

/* Random numbers in (-size, size) in host memory, and a copy in device memory. */
static void make(void **host, void **on_device, size_t count, double size)
{
    *host = malloc(count * element());
    if (!*host) fprintf(stderr, "layer: no host memory for %zu numbers\n", count), exit(2);
    for (size_t n = 0; n < count; n++) {
        const float x = (float)(size * ((double)random_number() / (1 << 23) - 1));
        if (is_half)
            ((tmm_half *)*host)[n] = __float2half(x);
        else
            ((float *)*host)[n] = x;
    }
    CHECK(cudaMalloc(on_device, count * element()));
    CHECK(cudaMemcpy(*on_device, *host, count * element(), cudaMemcpyHostToDevice));
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("layer: standard output");
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
        if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h"))
            exit(printf("usage: layer [M N K] [--type half|float] [--csv FILE]\n"
                        "C = GELU(A B + bias), A M x K, B K x N, by one kernel and by two.\n"
                        "Default: %d %d %d --type half\n",
                        M, N, K) < 0);
        if (!strcmp(argv[n], "--csv") && n + 1 < argc) {
            path = argv[++n];
            continue;
        }
        if (!strcmp(argv[n], "--type") && n + 1 < argc) {
            is_half = !strcmp(argv[++n], "half");
            if (!is_half && strcmp(argv[n], "float") != 0)
                return fprintf(stderr, "layer: --type is half or float, not '%s'\n", argv[n]), 2;
            continue;
        }
        long size = strtol(argv[n], &end, 10);
        if (given == 3 || end == argv[n] || *end || size < 1 || size > MOST)
            return fprintf(stderr, "layer: cannot use '%s'; see --help\n", argv[n]), 2;
        *sizes[given++] = (int)size;
    }
    if (given % 3 != 0) return fprintf(stderr, "layer: give all of M N K, or none\n"), 2;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    FILE *file = path ? fopen(path, "wx") : NULL; /* before the work, not after it */
    if (file) remove(path); /* a new one appears when it is whole; an older one stays until then */
    if (path && !file) file = fopen(path, "a");
    if (path && !file) return fprintf(stderr, "layer: cannot write '%s'\n", path), 2;
    static char rows[4096], *csv = rows; /* its text, written at the end */
    csv += sprintf(csv, "name,type,M,N,K,median_ms,gflops,error,verdict\n");
    CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop));
    make(&A, &dA, (size_t)M * K, 1);
    make(&B, &dB, (size_t)K * N, sqrt(3.0 / K)); /* so that elements of A B are of size 1 */
    make(&bias, &d_bias, (size_t)N, 1);
    make(&C, &dC, (size_t)M * N, 1);
    open_lt();
    printf("%s: C = GELU(A B + bias), A %d x %d, B %d x %d, %s%s\n\n", device.name, M, K, K, N,
           is_half ? "half" : "float", ON_CPU ? "; times are CPU times" : "");
    printf("%-22s%12s%12s%14s%14s%9s\n", "", "ms", "GFLOP/s", "x two kernels", "error/bound",
           "result");
    float ms[ROWS];
    ms[TWO] = measure(TWO);
    for (int row = FUSED; row < TIMED; row++) {
        ms[row] = measure(row);
        CHECK(cudaMemcpy(C, dC, (size_t)M * N * element(), cudaMemcpyDeviceToHost));
        const double error = largest_error(row), gflops = 2e-6 * M * N * K / ms[row];
        const char *verdict = error <= 1 ? "ok" : (failures++, "WRONG");
        printf("%-22s%12.4f%12.1f%14.2f%14.4f%9s\n", names[row], ms[row], gflops, ms[TWO] / ms[row],
               error, verdict);
        csv += sprintf(csv, "\"%s\",%s,%d,%d,%d,%.4f,%.1f,%.4f,%s\n", names[row],
                       is_half ? "half" : "float", M, N, K, ms[row], gflops, error, verdict);
    }
    printf("\nThe second kernel reads and writes C once more, %.2f MB; the bias comes from L2.\n",
           2e-6 * M * N * (double)element());
    if ((int)TIMED < (int)ROWS)
        printf(
            "With -DWITH_CUBLAS -lcublasLt there is a row by cublasLt, with the same epilogue.\n");
    close_lt();
    CHECK(cudaFree(dA)), CHECK(cudaFree(dB)), CHECK(cudaFree(dC)), CHECK(cudaFree(d_bias));
    CHECK(cudaEventDestroy(start)), CHECK(cudaEventDestroy(stop));
    free(A), free(B), free(C), free(bias);
    if (file && (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0))
        failures++, fprintf(stderr, "layer: cannot write '%s'\n", path);
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
