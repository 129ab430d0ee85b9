/* half [FILE.csv]: times tmm_hgemm and tmm_bgemm by TMM_TENSOR beside cublasGemmEx with sums in float, in
   turn, MS milliseconds each, at shapes of all kinds: squares, sizes off
   16 bytes, a small batch times weights, a short and a long sum. A row for each to FILE.csv.

   half cold [FILE.csv]: those of a small batch, with other weights each time, which come from memory.

   half syrk [FILE.csv]: tmm_?syrk, the lower half, of float, double, half and bfloat16, beside our gemm
   and cublasSsyrk or cublasDsyrk, which cuBLAS has no other of.

     nvcc -O3 -arch=native bench/half.cu -o half -lcublas && ./half half.csv && ./half syrk syrk.csv */
#define TMM_WITH_HALF
#define TMM_WITH_BFLOAT16
#define TMM_WITH_SYRK
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
    int syrk; /* then bfloat is FLOAT to BFLOAT */
    int cold; /* the larger operand is another one each time, of as many as are in its memory */
    void *A, *B, *C;
    cublasHandle_t cublas;
} product;

static const long long room = 2 * 8192ll * 8192; /* elements of A and of B */

/* Enqueues it: by us, or by cuBLAS, for which row-major operands change places. */
static void run(const product *given, int ours, int number)
{
    product copy = *given, *p = &copy;
    const long long larger = (long long)(p->M > p->N ? p->M : p->N) * p->K;
    if (p->cold && p->M > p->N) p->A = (short *)p->A + number % (room / larger) * larger;
    if (p->cold && p->M <= p->N) p->B = (short *)p->B + number % (room / larger) * larger;
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

/* C = A A^T: by syrk of ours (1) or of cuBLAS (0), or by our gemm (2). M is N. */
enum { FLOAT, DOUBLE, HALF, BFLOAT };
static int run_syrk(const product *p, int ours)
{
    const int N = p->N, K = p->K, ld = p->tA ? N : K;
    const tmm_op op = p->tA ? TMM_OP_T : TMM_OP_N, other = p->tA ? TMM_OP_N : TMM_OP_T;
    const cublasOperation_t theirs = p->tA ? CUBLAS_OP_N : CUBLAS_OP_T;
    const cublasFillMode_t half = CUBLAS_FILL_MODE_UPPER; /* of columns */
    const float one = 1, zero = 0;
    const double one_d = 1, zero_d = 0;
#define OURS(letter, type)                                                                     \
    (ours == 1                                                                                 \
         ? tmm_##letter##syrk(TMM_LOWER, op, N, K, 1, (type *)p->A, ld, 0, (type *)p->C, N, 0) \
         : tmm_##letter##gemm(op, other, N, N, K, 1, (type *)p->A, ld, (type *)p->A, ld, 0,    \
                              (type *)p->C, N, 0))
    if (p->bfloat == HALF) return OURS(h, tmm_half);
    if (p->bfloat == BFLOAT) return OURS(b, tmm_bfloat16);
    if (p->bfloat == FLOAT && ours) return OURS(s, float);
    if (ours) return OURS(d, double);
    if (p->bfloat == FLOAT)
        return cublasSsyrk(p->cublas, half, theirs, N, K, &one, (float *)p->A, ld, &zero,
                           (float *)p->C, N);
    return cublasDsyrk(p->cublas, half, theirs, N, K, &one_d, (double *)p->A, ld, &zero_d,
                       (double *)p->C, N);
#undef OURS
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
        for (int i = 0; i < count; i++)
            if (p->syrk)
                must(!run_syrk(p, ours), "syrk");
            else
                run(p, ours, i);
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

/* Random numbers near 0 of any of these types. */
static void fill_type(void *to, long long count, int type)
{
    if (type >= HALF) {
        fill(to, count, type == BFLOAT, 1);
        return;
    }
    const size_t bytes = type == FLOAT ? 4 : 8;
    unsigned seed = 1;
    void *x = malloc(count * bytes);
    must(x != NULL, "host memory");
    for (long long n = 0; n < count; n++) {
        seed = seed * 1664525u + 1013904223u;
        const double value = (double)(seed >> 8) / 8388608.0 - 1;
        if (type == FLOAT)
            ((float *)x)[n] = (float)value;
        else
            ((double *)x)[n] = value;
    }
    must(!cudaMemcpy(to, x, count * bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    free(x);
}

static void bench_syrk(product *p, FILE *csv, const char *device)
{
    static const char *const types[] = {"float", "double", "half", "bfloat16"};
    static const int sizes[][2] = {{512, 512},   {1000, 1000},  {1024, 1024},
                                   {2048, 2048}, {4096, 4096},  {4100, 4100},
                                   {8192, 8192}, {1024, 16384}, {8192, 256}};
    const long long most = 8192ll * 8192;
    must(!cudaMalloc(&p->A, 8 * most) && !cudaMalloc(&p->C, 8 * most), "device memory");
    if (csv)
        fprintf(csv, "type,op,N,K,us,gemm_us,cublas_us,gemm_ratio,cublas_ratio,device,toolkit\n");
    for (p->bfloat = FLOAT; p->bfloat <= BFLOAT; p->bfloat++) {
        fill_type(p->A, most, p->bfloat);
        for (size_t n = 0; n < 2 * (sizeof sizes / sizeof *sizes); n++) {
            p->M = p->N = sizes[n / 2][0], p->K = sizes[n / 2][1], p->tA = n % 2;
            const double gemm = time_of(p, 2, MS), ours = time_of(p, 1, MS);
            const double theirs = p->bfloat < HALF ? time_of(p, 0, MS) : 0;
            printf("%-8s %c %5d %5d %9.2f us, gemm %9.2f: %.3f times as fast; cublas %9.2f: %.3f\n",
                   types[p->bfloat], "NT"[p->tA], p -> N, p -> K, ours, gemm, gemm / ours, theirs,
                   theirs / ours);
            if (csv)
                fprintf(csv, "%s,%c,%d,%d,%.2f,%.2f,%.2f,%.4f,%.4f,\"%s\",%d.%d\n",
                        types[p->bfloat], "NT"[p->tA], p -> N, p -> K, ours, gemm, theirs,
                        gemm / ours, theirs / ours, device, CUDART_VERSION / 1000,
                        CUDART_VERSION % 1000 / 10);
        }
    }
}

int main(int count, char **words)
{
    static const int shapes[][5] = {
        {1024, 1024, 1024, 0, 0}, {1024, 1024, 1024, 0, 1}, {1024, 1024, 1024, 1, 0},
        {2048, 2048, 2048, 0, 0}, {2048, 2048, 2048, 0, 1}, {2048, 2048, 2048, 1, 0},
        {4096, 4096, 4096, 0, 0}, {4096, 4096, 4096, 0, 1}, {4096, 4096, 4096, 1, 0},
        {8192, 8192, 8192, 0, 0}, {8192, 8192, 8192, 0, 1}, {8192, 8192, 8192, 1, 0},
        {1000, 1000, 1000, 0, 1}, {4100, 4100, 4100, 0, 0}, {4099, 4099, 4099, 0, 0},
        {512, 512, 512, 0, 0},    {512, 6144, 4096, 0, 1},  {64, 12544, 147, 0, 0},
        {128, 128, 65536, 1, 0},  {1, 6144, 4096, 0, 1},    {8, 6144, 4096, 0, 1},
        {16, 6144, 4096, 0, 1},   {32, 6144, 4096, 0, 1},   {64, 6144, 4096, 0, 1},
        {128, 6144, 4096, 0, 1},  {16, 6144, 4096, 0, 0},   {128, 6144, 4096, 0, 0},
        {6144, 1, 4096, 0, 0},    {6144, 32, 4096, 0, 0},   {6144, 128, 4096, 0, 0},
        {16, 4096, 14336, 0, 1},  {64, 14336, 4096, 0, 1},  {128, 4096, 14336, 0, 1},
        {16, 768, 7168, 0, 1},    {64, 2048, 1408, 0, 1},   {128, 1024, 4096, 0, 1}};
    cudaDeviceProp device;
    product p;
    p.syrk = count > 1 && strcmp(words[1], "syrk") == 0;
    p.cold = count > 1 && strcmp(words[1], "cold") == 0;
    if (p.syrk || p.cold) count--, words++;
    FILE *csv = count > 1 ? fopen(words[1], "w") : NULL;
    if (count > 2 || (count > 1 && csv == NULL)) {
        fprintf(stderr, "usage: half [syrk | cold] [FILE.csv]: %s\n",
                count > 2 ? words[2] : strerror(errno));
        return 2;
    }
    must(!cudaGetDeviceProperties(&device, 0), "device");
    must(!cublasCreate(&p.cublas), "cublasCreate");
    if (p.syrk) {
        bench_syrk(&p, csv, device.name);
        if (csv && (ferror(csv) | fclose(csv))) must(0, "the file cannot be written");
        return 0;
    }
    must(!cudaMalloc(&p.A, 2 * room) && !cudaMalloc(&p.B, 2 * room) && !cudaMalloc(&p.C, room),
         "device memory");
    if (csv) fprintf(csv, "type,opA,opB,M,N,K,us,cublas_us,ratio,tflops,device,toolkit\n");
    for (p.bfloat = 0; p.bfloat < 2; p.bfloat++) {
        fill(p.A, room / 2, p.bfloat, 1), fill(p.B, room / 2, p.bfloat, 2);
        must(!cudaMemcpy((char *)p.A + room, p.A, room, cudaMemcpyDeviceToDevice) &&
                 !cudaMemcpy((char *)p.B + room, p.B, room, cudaMemcpyDeviceToDevice),
             "cudaMemcpy");
        for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
            p.M = shapes[n][0], p.N = shapes[n][1], p.K = shapes[n][2];
            p.tA = shapes[n][3], p.tB = shapes[n][4];
            if (p.cold && (p.M > 128) == (p.N > 128)) continue;
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
