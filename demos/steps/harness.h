/* harness.h - the second half of each step: is the product right, and how fast is it?

   A step defines in_t, the elements of A and B, out_t, those of C, alpha, beta and sums, and
       void multiply(int M, int N, int K, out_t alpha, const in_t *A, const in_t *B, out_t beta,
                     out_t *C);
   which enqueues C = alpha A B + beta C in stream 0, all on the device, row-major without gaps. Its
   last line includes this file: nvcc STEP.cu builds the program. nvcc -DWITH_CUBLAS STEP.cu -lcublas
   times cuBLAS beside it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, SIZES = 8 };
#else
enum { ON_CPU = 0, SIZES = 11 };
#endif
#ifdef B_BY_COLUMNS /* of an exercise */
#define B_AT(k, j) ((j) * (size_t)K + (k))
#else
#define B_AT(k, j) ((k) * (size_t)N + (j))
#endif
enum { PAD = 64, SAMPLES = 1000, MOST = 32768 }; /* elements of NaN before and after a matrix */

/* The last three are large enough to be worth timing. */
static const int default_sizes[][3] = {{1, 1, 1},          {3, 5, 7},         {37, 53, 29},
                                       {128, 256, 64},     {131, 260, 75},    {260, 131, 196},
                                       {100, 36, 1000},    {264, 136, 72},    {1024, 1024, 1024},
                                       {2048, 2048, 2048}, {4096, 4096, 4096}};

static const char *program;           /* its name */
static char rows[16384], *csv = rows; /* the text of the CSV file, written at the end */

#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, "%s: %s: %s\n", program, call, cudaGetErrorString(error)), exit(2);
}

typedef void (*product)(int M, int N, int K, out_t alpha, const in_t *A, const in_t *B, out_t beta,
                        out_t *C);

#ifdef WITH_CUBLAS
#include <cublas_v2.h>
/* cuBLAS stores by columns, so it computes C^T = B^T A^T. Strict FP32 for float. */
static void cublas(int M, int N, int K, out_t alpha, const in_t *A, const in_t *B, out_t beta,
                   out_t *C)
{
    static cublasHandle_t handle;
    cudaDataType_t in = sizeof(in_t) == 2   ? CUDA_R_16F
                        : sizeof(in_t) == 4 ? CUDA_R_32F
                                            : CUDA_R_64F;
    cudaDataType_t out = sizeof(out_t) == 4 ? CUDA_R_32F : CUDA_R_64F;
    cublasComputeType_t sums = sizeof(out_t) == 4 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F;
    int status = handle ? 0 : cublasCreate(&handle);
    if (!status)
        status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &alpha, B, in, N, A, in, K,
                              &beta, C, out, N, sums, CUBLAS_GEMM_DEFAULT);
    if (status) fprintf(stderr, "%s: cuBLAS: status %d\n", program, status), exit(2);
}
static product other = cublas;
#else
static product other = NULL;
#endif

static double random_number(void) /* from -1 to 1 */
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(long long)state * 1.08420217248550443e-19; /* 2^-63 */
}

static void *host_memory(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) fprintf(stderr, "%s: no host memory for %zu bytes\n", program, bytes), exit(2);
    return memset(p, 0xff, bytes); /* NaN */
}

/* Milliseconds of C = A B: the mean of so many that they take 300 ms, at the clock that the device
   holds. On the CPU runner, where times mean nothing, of one. */
static double time_of(product multiply, int M, int N, int K, const in_t *A, const in_t *B, out_t *C)
{
    cudaEvent_t start, stop;
    float ms = 0;
    int count = 1;
    if (!multiply) return NAN;
    CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop));
    for (;; count = (int)(count * 400 / fmaxf(ms, 0.1f)) + 1) {
        CHECK(cudaEventRecord(start));
        for (int n = 0; n < count; n++) multiply(M, N, K, 1, A, B, 0, C);
        CHECK(cudaGetLastError()), CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (ON_CPU || ms >= 300) break;
    }
    CHECK(cudaEventDestroy(start)), CHECK(cudaEventDestroy(stop));
    return ms / count;
}

/* Of first = A B and second = 1.5 A B - 0.5 first, each with PAD elements before and after it: the
   largest error as a part of its bound, (K + 2) u (|A||B| + |C|), u half a unit in the last place.
   Infinity if an element is NaN, or if one around them is not any more. Looks at all elements for
   NaN, and computes all in long double, or SAMPLES of many, half of them in the last row or
   column. */
static double largest_error(int M, int N, int K, const in_t *A, const in_t *B, const out_t *first,
                            const out_t *second)
{
    size_t count = (size_t)M * N, few = count <= 40000 ? count : (size_t)SAMPLES;
    double worst = 0, unit = (K + 2) * ldexp(1, sizeof(out_t) == 4 ? -24 : -53);
    for (size_t n = 0; n < count + 2 * PAD; n++) {
        bool outside = n < PAD || n >= count + PAD;
        if ((first[n] != first[n]) != outside || (second[n] != second[n]) != outside)
            return INFINITY;
    }
    for (size_t n = 0; n < few; n++) {
        size_t i = few == count ? n / N : n % 4 == 0 ? M - 1 : (size_t)(fabs(random_number()) * M);
        size_t j = few == count ? n % N : n % 4 == 1 ? N - 1 : (size_t)(fabs(random_number()) * N);
        long double sum = 0, size = 0, x = first[PAD + i * N + j], y = second[PAD + i * N + j];
        for (size_t k = 0; k < (size_t)K; k++) {
            long double term = (long double)(out_t)A[i * K + k] * (out_t)B[B_AT(k, j)];
            sum += term, size += fabsl(term);
        }
        long double of_y = 1.5 * size + 0.5 * fabsl(x);
        worst = fmax(worst, (double)(fabsl(x - sum) / (unit * size)));
        worst = fmax(worst, (double)(fabsl(y - (1.5 * sum - 0.5 * x)) / (unit * of_y)));
    }
    return worst;
}

/* Checks and times products of one size, and prints a line. True if all is right. */
static bool measure(int M, int N, int K)
{
    size_t a = (size_t)M * K, b = (size_t)K * N, c = (size_t)M * N + 2 * PAD;
    size_t to_b = (a / PAD + 2) * PAD, bytes_in = (to_b + b + 2 * PAD) * sizeof(in_t);
    in_t *in = (in_t *)host_memory(bytes_in), *A = in + PAD, *B = A + to_b, *d_in;
    out_t *out = (out_t *)host_memory(2 * c * sizeof(out_t)), *d_out;
    for (size_t n = 0; n < a; n++) A[n] = (in_t)(out_t)random_number();
    for (size_t n = 0; n < b; n++) B[n] = (in_t)(out_t)random_number();
    CHECK(cudaMalloc(&d_in, bytes_in)), CHECK(cudaMalloc(&d_out, c * sizeof(out_t)));
    CHECK(cudaMemcpy(d_in, in, bytes_in, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0xff, c * sizeof(out_t)));
    const in_t *dA = d_in + PAD, *dB = dA + to_b;
    out_t *dC = d_out + PAD;
    for (int n = 0; n < 2; n++) {
        multiply(M, N, K, n ? 1.5 : 1, dA, dB, n ? -0.5 : 0, dC);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out + n * c, d_out, c * sizeof(out_t), cudaMemcpyDeviceToHost));
    }
    double error = largest_error(M, N, K, A, B, out, out + c);
    double ms = time_of(multiply, M, N, K, dA, dB, dC), rate = 2e-9 * M * N * K / ms;
    double part = time_of(other, M, N, K, dA, dB, dC) / ms;
    bool right = error <= 1;
    printf("%6d%6d%6d%12.4f%11.3f%11.4f", M, N, K, ms, rate, error);
    if (other) printf("%11.3f", part);
    printf("%8s\n", right ? "ok" : "WRONG");
    fflush(stdout); /* the next size may take long */
    csv += sprintf(csv, "%s,%d,%d,%d,%.5f,%.4f,%.4f,%.4f,%s\n", program, M, N, K, ms, rate, error,
                   part, right ? "ok" : "WRONG");
    CHECK(cudaFree(d_in)), CHECK(cudaFree(d_out)), free(in), free(out);
    return right;
}

/* Ends the program; with status 1 if what it has printed cannot be written. */
static int end(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    return fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno)), 1;
}

int main(int argc, char **argv)
{
    int given[3], count = 0, wrong = 0;
    program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    const char *path = NULL;
    if (ftell(stdout) < 0 && errno == EBADF) return perror("standard output"), 1;
    for (int n = 1; n < argc; n++) {
        char *rest;
        long size = strtol(argv[n], &rest, 10);
        if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h")) {
            printf("usage: %s [M N K] [--csv FILE]\n"
                   "Checks C = alpha A B + beta C by %s at %d sizes or at one, and times it.\n",
                   argv[0], program, SIZES);
            return end(0);
        }
        if (!strcmp(argv[n], "--csv") && n + 1 < argc) {
            path = argv[++n];
        } else if (count < 3 && rest != argv[n] && *rest == 0 && size >= 1 && size <= MOST) {
            given[count++] = (int)size;
        } else {
            return fprintf(stderr, "%s: cannot use '%s'; see --help\n", argv[0], argv[n]), 2;
        }
    }
    if (count % 3) return fprintf(stderr, "%s: give all of M N K, or none\n", argv[0]), 2;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    FILE *file = path ? fopen(path, "wx") : NULL; /* before the work, not after it */
    if (file) remove(path); /* a new one appears when it is whole; an older one stays until then */
    if (path && !file) file = fopen(path, "a");
    if (path && !file) return perror(path), 2;
    csv += sprintf(csv, "step,M,N,K,ms,tflops,error,of_cublas,verdict\n");
    printf("%s on %s%s\n     M     N     K          ms    TFLOP/s      error%s  result\n", program,
           device.name, ON_CPU ? "; times are CPU times" : "", other ? "  of cuBLAS" : "");
    if (count)
        wrong = !measure(given[0], given[1], given[2]);
    else
        for (const int(*s)[3] = default_sizes; s < default_sizes + SIZES; s++)
            wrong += !measure((*s)[0], (*s)[1], (*s)[2]);
    CHECK(cudaDeviceReset());
    if (file && (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0))
        wrong++, perror(path);
    printf("Test %s\n", wrong ? "FAILED" : "PASSED");
    return end(wrong > 0);
}
