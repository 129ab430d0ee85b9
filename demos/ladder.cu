/* ladder.cu - the textbook versions of the first three rungs, next to those of tiledmm.cuh.

   C = alpha A B + beta C, row-major: A is M x K, B is K x N, C is M x N. Each rung keeps more of
   its operands nearer to the arithmetic units: in caches, in shared memory, in registers.

   Build   nvcc -O3 -arch=native demos/ladder.cu -o ladder        (-DTMM_SIMPLE compiles faster)
   Run     ./ladder                  1000 x 900 x 800
           ./ladder --help                                                                       */
#define TMM_NO_DOUBLE
#define TMM_NO_INT
#include "../tiledmm.cuh"
#include <errno.h>

enum { TILE = 16, BLOCK = 4, WIDE = TILE * BLOCK };

/* Element (i, j) of a matrix, zero beyond its edges: zeros add nothing to a sum. */
static __device__ float load(const float *X, int rows, int columns, int i, int j)
{
    return i < rows && j < columns ? X[(size_t)i * columns + j] : 0;
}

/* C is not read if beta = 0: it may hold NaN. */
static __device__ void store(float *C, int M, int N, int i, int j, float value, float beta)
{
    if (i >= M || j >= N) return;
    float *c = C + (size_t)i * N + j;
    *c = beta == 0 ? value : value + beta * *c;
}

/* One thread, one element: a row of A times a column of B, from global memory. Threads of a warp
   share the word of A and read neighbours of B. Grid N/16 x M/16, blocks of 16 x 16. */
__global__ void matmul_global(int M, int N, int K, float alpha, const float *A, const float *B,
                              float beta, float *C)
{
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    if (i >= M || j >= N) return;
    for (int k = 0; k < K; k++) sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
    store(C, M, N, i, j, alpha * sum, beta);
}

/* The same grid. A block walks along k: its threads copy a tile of A and a tile of B, one element
   each, and all of them use both. All threads meet the barriers, also those beyond the edges. */
__global__ void matmul_shared(int M, int N, int K, float alpha, const float *A, const float *B,
                              float beta, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[ty][tx] = load(A, M, K, i, k0 + tx);
        b[ty][tx] = load(B, K, N, k0 + ty, j);
        __syncthreads(); /* the tiles are complete */
        for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads(); /* nobody reads them any more */
    }
    store(C, M, N, i, j, alpha * sum, beta);
}

/* Grid N/64 x M/64, blocks of 16 x 16. A thread keeps 4 x 4 elements of C, 16 apart, in registers:
   8 words from the tiles serve 16 multiply-adds. */
__global__ void matmul_register(int M, int N, int K, float alpha, const float *A, const float *B,
                                float beta, float *C)
{
    __shared__ float a[WIDE][TILE], b[TILE][WIDE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * WIDE + ty, j = blockIdx.x * WIDE + tx;
    float sum[BLOCK][BLOCK] = {{0}}, x[BLOCK], y[BLOCK];
    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int r = 0; r < WIDE; r += TILE) {
            a[ty + r][tx] = load(A, M, K, i + r, k0 + tx);
            b[ty][tx + r] = load(B, K, N, k0 + ty, j + r);
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            for (int r = 0; r < BLOCK; r++) x[r] = a[ty + r * TILE][k], y[r] = b[k][tx + r * TILE];
            for (int r = 0; r < BLOCK; r++)
                for (int s = 0; s < BLOCK; s++) sum[r][s] += x[r] * y[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < BLOCK; r++)
        for (int s = 0; s < BLOCK; s++)
            store(C, M, N, i + r * TILE, j + s * TILE, alpha * sum[r][s], beta);
}

/* ---------------------------------- the harness ----------------------------------------------- */
#ifdef __CUCC__ /* compiled for the CPU runner: kernels run, on the CPU */
enum { ON_CPU = 1, REPS = 3, DEFAULT_M = 200, DEFAULT_N = 180, DEFAULT_K = 160 };
#else
enum { ON_CPU = 0, REPS = 21, DEFAULT_M = 1000, DEFAULT_N = 900, DEFAULT_K = 800 };
#endif
enum { SAMPLES = 4000, GUARD = 1024, MOST = 16384, RUNGS = 7 };
static const char *const names[RUNGS] = {"matmul_global", "TMM_GLOBAL",      "matmul_shared",
                                         "TMM_SHARED_16", "matmul_register", "TMM_REGISTER",
                                         "TMM_AUTO"};
static int M = DEFAULT_M, N = DEFAULT_N, K = DEFAULT_K;
static float *A, *B, *C0, *C, *dA, *dB, *dC0, *dC; /* C0: C before a product with beta */
static cudaEvent_t start, stop;
static size_t c_count; /* C has GUARD more, which nobody may write */

#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, "ladder: %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

/* Enqueues a product by the rung of names[]. */
static void multiply(int rung, float alpha, float beta)
{
    static const tmm_kernel kernels[] = {TMM_GLOBAL, TMM_SHARED_16, TMM_REGISTER, TMM_AUTO};
    dim3 block(TILE, TILE), fine((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    dim3 coarse((N + WIDE - 1) / WIDE, (M + WIDE - 1) / WIDE);
    if (rung == 0)
        matmul_global<<<fine, block>>>(M, N, K, alpha, dA, dB, beta, dC);
    else if (rung == 2)
        matmul_shared<<<fine, block>>>(M, N, K, alpha, dA, dB, beta, dC);
    else if (rung == 4)
        matmul_register<<<coarse, block>>>(M, N, K, alpha, dA, dB, beta, dC);
    else if (tmm_sgemm_with(kernels[rung / 2], TMM_OP_N, TMM_OP_N, M, N, K, alpha, dA, K, dB, N,
                            beta, dC, N, NULL) != TMM_OK)
        fprintf(stderr, "ladder: %s: %s\n", names[rung], tmm_last_error()), exit(2);
    CHECK(cudaGetLastError());
}

static unsigned random_number(void)
{
    static unsigned state = 1;
    return (state = state * 1664525u + 1013904223u) >> 8; /* below 2^24 */
}

/* The largest error over (K + 2) 2^-24 (|alpha| |A||B| + |beta C|), of all elements or of random
   ones, half of them in the last row or column; infinity if one is NaN, or one after C is not. */
static double largest_error(double alpha, double beta)
{
    int all = c_count <= 10 * SAMPLES;
    double largest = 0;
    for (size_t n = 0; n < c_count + GUARD; n++)
        if ((C[n] != C[n]) != (n >= c_count)) return INFINITY;
    for (size_t n = 0; n < (all ? c_count : (size_t)SAMPLES); n++) {
        size_t i = all ? n / N : n % 4 == 0 ? M - 1 : random_number() % M;
        size_t j = all ? n % N : n % 4 == 1 ? N - 1 : random_number() % N;
        double sum = 0, size = 0, before = beta == 0 ? 0 : beta * C0[i * N + j];
        for (size_t k = 0; k < (size_t)K; k++) {
            double term = (double)A[i * K + k] * B[k * N + j];
            sum += term, size += fabs(term);
        }
        double bound = (K + 2) * ldexp(fabs(alpha) * size + fabs(before), -24);
        double off = fabs(C[i * N + j] - (alpha * sum + before));
        if (off > largest * bound) largest = bound > 0 ? off / bound : INFINITY;
    }
    return largest;
}

/* Times C = A B, with C full of NaN before each run, and checks it, and C = 1.5 A B - 0.5 C. Gives
   the larger error over its bound. */
static double measure(int rung, float *median)
{
    float times[REPS + 1];
    size_t bytes = (c_count + GUARD) * sizeof(float);
    for (int n = REPS; n >= 0; n--) { /* the first run loads the kernel: it does not count */
        CHECK(cudaMemset(dC, 0xff, bytes)), CHECK(cudaEventRecord(start));
        multiply(rung, 1, 0);
        CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&times[n], start, stop));
    }
    for (int n = 0; n < REPS; n++) { /* the median has as many below as above it */
        int below = 0, above = 0;
        for (int m = 0; m < REPS; m++) below += times[m]<times[n], above += times[m]> times[n];
        if (below <= REPS / 2 && above <= REPS / 2) *median = times[n];
    }
    CHECK(cudaMemcpy(C, dC, bytes, cudaMemcpyDeviceToHost));
    double first = largest_error(1, 0);
    CHECK(cudaMemcpy(dC, dC0, c_count * sizeof(float), cudaMemcpyDeviceToDevice));
    multiply(rung, 1.5f, -0.5f);
    CHECK(cudaMemcpy(C, dC, bytes, cudaMemcpyDeviceToHost));
    return fmax(first, largest_error(1.5, -0.5));
}

/* Random numbers in (-1, 1) in host memory, and a copy in device memory. */
static void make(float **host, float **on_device, size_t count)
{
    *host = (float *)malloc(count * sizeof(float));
    if (!*host) fprintf(stderr, "ladder: no host memory for %zu numbers\n", count), exit(2);
    for (size_t n = 0; n < count; n++) (*host)[n] = (float)random_number() / (1 << 23) - 1;
    CHECK(cudaMalloc(on_device, count * sizeof(float)));
    CHECK(cudaMemcpy(*on_device, *host, count * sizeof(float), cudaMemcpyHostToDevice));
}

/* Ends the program if what it has printed cannot be written. A closed pipe needs no words. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("ladder: standard output");
    _Exit(1);
}

int main(int argc, char **argv)
{
    int *sizes[] = {&M, &N, &K}, given = 0, failures = 0;
    char *end, *path = NULL;
    check_output(), atexit(check_output);
    for (int n = 1; n < argc; n++) {
        long size = strtol(argv[n], &end, 10);
        if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h"))
            exit(printf("usage: ladder [M N K] [--csv FILE]     (default: %d %d %d)\n"
                        "Times textbook versions of the first rungs next to tiledmm.cuh.\n",
                        M, N, K) < 0);
        if (!strcmp(argv[n], "--csv") && n + 1 < argc)
            path = argv[++n];
        else if (given < 3 && end != argv[n] && *end == 0 && size >= 1 && size <= MOST)
            *sizes[given++] = (int)size;
        else
            return fprintf(stderr, "ladder: cannot use '%s'; see --help\n", argv[n]), 2;
    }
    if (given % 3 != 0) return fprintf(stderr, "ladder: give all of M N K, or none\n"), 2;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    FILE *file = path ? fopen(path, "wx") : NULL; /* before the work, not after it */
    if (file) remove(path); /* a new one appears when it is whole; an older one stays until then */
    if (path && !file) file = fopen(path, "a");
    if (path && !file) return fprintf(stderr, "ladder: cannot write '%s'\n", path), 2;
    static char rows[4096], *csv = rows; /* its text, written at the end */
    csv += sprintf(csv, "kernel,M,N,K,median_ms,gflops,times_first,error,verdict\n");
    CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop));
    c_count = (size_t)M * N;
    make(&A, &dA, (size_t)M * K), make(&B, &dB, (size_t)K * N);
    make(&C, &dC, c_count + GUARD), make(&C0, &dC0, c_count);
    printf("%s: C (%d x %d) = A (%d x %d) times B (%d x %d), float, row-major%s\n\n"
           "kernel             median ms     GFLOP/s   x first   error/bound   result\n",
           device.name, M, N, M, K, K, N, ON_CPU ? "; times are CPU times" : "");
    float ms[RUNGS];
    for (int rung = 0; rung < RUNGS; rung++) {
        double error = measure(rung, &ms[rung]), gflops = 2e-6 * M * N * K / ms[rung];
        const char *verdict = error <= 1 ? "ok" : (failures++, "WRONG");
        printf("%-16s%12.4f%12.1f%10.2f%14.4f%9s\n", names[rung], ms[rung], gflops,
               ms[0] / ms[rung], error, verdict);
        csv += sprintf(csv, "%s,%d,%d,%d,%.4f,%.1f,%.2f,%.4f,%s\n", names[rung], M, N, K, ms[rung],
                       gflops, ms[0] / ms[rung], error, verdict);
    }
    printf("\nWords that a thread loads for a multiply-add, and what bounds the kernel:\n"
           "                    global    shared\n"
           "matmul_global       2         0         loads through caches\n"
           "matmul_shared       2/%-8d2         loads from shared memory\n"
           "matmul_register     2/%-8d2/%-8dthe same, and the wait for each tile\n"
           "TMM_AUTO, here %s, is the goal.\n",
           TILE, WIDE, BLOCK, tmm_kernel_string(tmm_sgemm_choice(M, N, K, 1)));
    if (ON_CPU)
        printf("\nTimes of a CPU rank nothing: the runner makes loops of kernels as simple as\n"
               "matmul_shared, several threads at a time, and runs others, such as TMM_SHARED_16,\n"
               "thread by thread.\n");
    CHECK(cudaDeviceReset()), free(A), free(B), free(C), free(C0);
    if (file && (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0))
        failures++, fprintf(stderr, "ladder: cannot write '%s'\n", path);
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
