/* half [FILE.csv]: times tmm_hgemm and tmm_bgemm by TMM_TENSOR beside cublasGemmEx with sums in float, in
   turn, MS milliseconds each, at shapes of all kinds: squares, sizes off
   16 bytes, a small batch times weights, a short and a long sum. A row for each to FILE.csv.

     nvcc -O3 -arch=native bench/half.cu -o half -lcublas && ./half half.csv */
#define TMM_WITH_HALF
#define TMM_WITH_BFLOAT16
#define TMM_NO_DOUBLE
#define TMM_NO_INT
#include "../tiledmm.cuh"
#include <cublas_v2.h>
#include <errno.h>

#define MS 200.0f
static void must(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "half: %s: %s\n", what, tmm_last_error());
    exit(1);
}

typedef struct product {
    int bfloat, M, N, K, tA, tB;
    void *A, *B, *C;
    cublasHandle_t cublas;
} product;

/* Enqueues it: by us, or by cuBLAS, for which row-major operands change places. */
static void run(const product *p, int ours)
{
    const int M = p->M, N = p->N, K = p->K, lda = p->tA ? M : K, ldb = p->tB ? K : N;
    const tmm_op opA = p->tA ? TMM_OP_T : TMM_OP_N, opB = p->tB ? TMM_OP_T : TMM_OP_N;
    const cudaDataType type = p->bfloat ? CUDA_R_16BF : CUDA_R_16F;
    const float one = 1, zero = 0;
    if (!ours)
        must(!cublasGemmEx(p->cublas, p->tB ? CUBLAS_OP_T : CUBLAS_OP_N,
                           p->tA ? CUBLAS_OP_T : CUBLAS_OP_N, N, M, K, &one, p->B, type, ldb, p->A,
                           type, lda, &zero, p->C, type, N, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT),
             "cublasGemmEx");
    else if (p->bfloat)
        must(!tmm_bgemm_with(TMM_TENSOR, opA, opB, M, N, K, 1, (tmm_bfloat16 *)p->A, lda,
                             (tmm_bfloat16 *)p->B, ldb, 0, (tmm_bfloat16 *)p->C, N, 0),
             "tmm_bgemm");
    else
        must(!tmm_hgemm_with(TMM_TENSOR, opA, opB, M, N, K, 1, (tmm_half *)p->A, lda,
                             (tmm_half *)p->B, ldb, 0, (tmm_half *)p->C, N, 0),
             "tmm_hgemm");
}

/* Microseconds of one, of as many in a row as take `ms`. */
static double time_of(const product *p, int ours, float ms)
{
    cudaEvent_t begin, end;
    float took = 0;
    int count = 1;
    must(!cudaEventCreate(&begin) && !cudaEventCreate(&end), "cudaEventCreate");
    for (int n = 0; n < 3; n++) { /* a warm-up, then how many, then these */
        must(!cudaEventRecord(begin), "cudaEventRecord");
        for (int i = 0; i < count; i++) run(p, ours);
        must(!cudaEventRecord(end) && !cudaEventSynchronize(end), "the product");
        must(!cudaEventElapsedTime(&took, begin, end), "cudaEventElapsedTime");
        if (n == 1) count = took > 0 && ms / took < 20000 ? (int)(ms / took) + 1 : 20000;
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return 1e3 * took / count;
}

/* Sums of four uniform numbers, nearly normal, as half or bfloat16. */
static void fill(void *to, long long count, int bfloat, unsigned seed)
{
    unsigned short *x = (unsigned short *)malloc(count * 2);
    must(x != NULL, "host memory");
    for (long long n = 0; n < count; n++) {
        float sum = 0;
        for (int i = 0; i < 4; i++)
            seed = seed * 1664525u + 1013904223u, sum += (float)(seed >> 8) / 8388608.0f - 1;
        const tmm_half h = __float2half(sum);
        const tmm_bfloat16 b = __float2bfloat16(sum);
        memcpy(&x[n], bfloat ? (const void *)&b : (const void *)&h, 2);
    }
    must(!cudaMemcpy(to, x, count * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
    free(x);
}

int main(int count, char **words)
{
    static const int shapes[][5] = {{1024, 1024, 1024, 0, 0}, {1024, 1024, 1024, 0, 1},
                                    {1024, 1024, 1024, 1, 0}, {2048, 2048, 2048, 0, 0},
                                    {2048, 2048, 2048, 0, 1}, {2048, 2048, 2048, 1, 0},
                                    {4096, 4096, 4096, 0, 0}, {4096, 4096, 4096, 0, 1},
                                    {4096, 4096, 4096, 1, 0}, {8192, 8192, 8192, 0, 0},
                                    {8192, 8192, 8192, 0, 1}, {8192, 8192, 8192, 1, 0},
                                    {1000, 1000, 1000, 0, 1}, {4100, 4100, 4100, 0, 0},
                                    {4099, 4099, 4099, 0, 0}, {512, 512, 512, 0, 0},
                                    {16, 6144, 4096, 0, 1},   {64, 6144, 4096, 0, 1},
                                    {128, 6144, 4096, 0, 1},  {512, 6144, 4096, 0, 1},
                                    {64, 12544, 147, 0, 0},   {128, 128, 65536, 1, 0}};
    const long long most = 8192ll * 8192;
    cudaDeviceProp device;
    product p;
    FILE *csv = count > 1 ? fopen(words[1], "w") : NULL;
    if (count > 2 || (count > 1 && csv == NULL)) {
        fprintf(stderr, "usage: half [FILE.csv]: %s\n", count > 2 ? words[2] : strerror(errno));
        return 2;
    }
    must(!cudaGetDeviceProperties(&device, 0), "device");
    must(!cublasCreate(&p.cublas), "cublasCreate");
    must(!cudaMalloc(&p.A, 2 * most) && !cudaMalloc(&p.B, 2 * most) && !cudaMalloc(&p.C, 2 * most),
         "device memory");
    if (csv) fprintf(csv, "type,opA,opB,M,N,K,us,cublas_us,ratio,tflops,device,toolkit\n");
    for (p.bfloat = 0; p.bfloat < 2; p.bfloat++) {
        fill(p.A, most, p.bfloat, 1), fill(p.B, most, p.bfloat, 2);
        for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
            p.M = shapes[n][0], p.N = shapes[n][1], p.K = shapes[n][2];
            p.tA = shapes[n][3], p.tB = shapes[n][4];
            const double theirs = time_of(&p, 0, MS), ours = time_of(&p, 1, MS);
            const double tflops = 2e-6 * p.M * p.N * p.K / ours;
            const char *type = p.bfloat ? "bfloat16" : "half", ops[] = "NT";
            printf("%-8s %c%c %5d %5d %5d %9.2f %9.2f us %6.3f times cuBLAS %6.1f TFLOP/s\n", type,
                   ops[p.tA], ops[p.tB], p.M, p.N, p.K, ours, theirs, theirs / ours, tflops);
            if (csv)
                fprintf(csv, "%s,%c,%c,%d,%d,%d,%.2f,%.2f,%.4f,%.2f,\"%s\",%d.%d\n", type,
                        ops[p.tA], ops[p.tB], p.M, p.N, p.K, ours, theirs, theirs / ours, tflops,
                        device.name, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
        }
    }
    if (csv && (ferror(csv) | fclose(csv))) must(0, "the file cannot be written");
    return 0;
}
