/* half [FILE.csv]: times tmm_hgemm and tmm_bgemm by TMM_TENSOR beside cublasGemmEx with sums in float, in
   turn, MS milliseconds each, at shapes of all kinds: squares, sizes off
   16 bytes, a small batch times weights, a short and a long sum. A row for each to FILE.csv.

   half cold [FILE.csv]: those of a small batch, with other weights each time, which come from memory.

   half drawn [FILE.csv] and half list SHAPES.csv [FILE.csv]: by TMM_AUTO, at 200 shapes drawn as
   bench/shapes.cu draws them, with M, N and K from 64 on, or at those of a list such as bench/work.csv, 20
   milliseconds each; and the plan that was chosen.

   half syrk [FILE.csv]: tmm_?syrk, the lower half, of float, double, half and bfloat16, beside our gemm
   and cublasSsyrk or cublasDsyrk, which cuBLAS has no other of.

     nvcc -O3 -arch=native bench/half.cu -o half -lcublas && ./half half.csv && ./half syrk syrk.csv */
#define TMM_WITH_HALF
#define TMM_WITH_BFLOAT16
#define TMM_WITH_SYRK
#define TMM_NO_INT
#include "../tiledmm.cuh"
#include <cublas_v2.h>
#define BENCH "half"
#include "draw.h"

#define MS       200.0f
#define MS_LISTS 20.0f
static void demand(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "half: %s: %s\n", what, tmm_last_error());
    exit(1);
}

typedef struct product {
    int bfloat, M, N, K, tA, tB;
    const shape *s; /* one of a list, which has all that; else NULL */
    int syrk;       /* then bfloat is FLOAT to BFLOAT */
    int cold; /* the larger operand is another one each time, of as many as are in its memory */
    void *A, *B, *C;
    cublasHandle_t cublas;
} product;

static const long long room = 16384ll * 16384; /* elements of A and of B */

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
        demand(!cublasGemmEx(p->cublas, p->tB ? CUBLAS_OP_T : CUBLAS_OP_N,
                             p->tA ? CUBLAS_OP_T : CUBLAS_OP_N, N, M, K, &one, p->B, type, ldb,
                             p->A, type, lda, &zero, p->C, type, N, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT),
               "cublasGemmEx");
    else if (p->bfloat)
        demand(!tmm_bgemm_with(TMM_TENSOR, opA, opB, M, N, K, 1, (tmm_bfloat16 *)p->A, lda,
                               (tmm_bfloat16 *)p->B, ldb, 0, (tmm_bfloat16 *)p->C, N, 0),
               "tmm_bgemm");
    else
        demand(!tmm_hgemm_with(TMM_TENSOR, opA, opB, M, N, K, 1, (tmm_half *)p->A, lda,
                               (tmm_half *)p->B, ldb, 0, (tmm_half *)p->C, N, 0),
               "tmm_hgemm");
}

/* One of a list: by TMM_AUTO, or by cuBLAS. */
static void run_listed(const product *p, int ours)
{
    const shape *s = p->s;
    const int tA = s->opA == 'T', tB = s->opB == 'T', batch = (int)s->batch;
    const long long strideA = rows_A(s) * s->lda, strideB = rows_B(s) * s->ldb;
    const long long strideC = s->M * s->ldc;
    const float one = 1, zero = 0;
    if (ours)
        demand(!tmm_hgemm_batched(tA ? TMM_OP_T : TMM_OP_N, tB ? TMM_OP_T : TMM_OP_N, s->M, s->N,
                                  s->K, 1, (tmm_half *)p->A, s->lda, (tmm_half *)p->B, s->ldb, 0,
                                  (tmm_half *)p->C, s->ldc, strideA, strideB, strideC, batch, 0),
               "tmm_hgemm_batched");
    else if (batch == 1)
        demand(!cublasGemmEx(p->cublas, tB ? CUBLAS_OP_T : CUBLAS_OP_N,
                             tA ? CUBLAS_OP_T : CUBLAS_OP_N, (int)s->N, (int)s->M, (int)s->K, &one,
                             p->B, CUDA_R_16F, (int)s->ldb, p->A, CUDA_R_16F, (int)s->lda, &zero,
                             p->C, CUDA_R_16F, (int)s->ldc, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT),
               "cublasGemmEx");
    else
        demand(!cublasGemmStridedBatchedEx(p->cublas, tB ? CUBLAS_OP_T : CUBLAS_OP_N,
                                           tA ? CUBLAS_OP_T : CUBLAS_OP_N, (int)s->N, (int)s->M,
                                           (int)s->K, &one, p->B, CUDA_R_16F, (int)s->ldb, strideB,
                                           p->A, CUDA_R_16F, (int)s->lda, strideA, &zero, p->C,
                                           CUDA_R_16F, (int)s->ldc, strideC, batch,
                                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
               "cublasGemmStridedBatchedEx");
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

/* Milliseconds of `count` in a row. */
static float time_calls(const product *p, int ours, int count)
{
    cudaEvent_t begin, end;
    float took = 0;
    demand(!cudaEventCreate(&begin) && !cudaEventCreate(&end), "cudaEventCreate");
    demand(!cudaEventRecord(begin), "cudaEventRecord");
    for (int i = 0; i < count; i++)
        if (p->s)
            run_listed(p, ours);
        else if (p->syrk)
            demand(!run_syrk(p, ours), "syrk");
        else
            run(p, ours, i);
    demand(!cudaEventRecord(end) && !cudaEventSynchronize(end), "the product");
    demand(!cudaEventElapsedTime(&took, begin, end), "cudaEventElapsedTime");
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return took;
}

/* How many take `ms`, after a warm-up. */
static int count_for(const product *p, int ours, float ms)
{
    (void)time_calls(p, ours, 1);
    const float took = time_calls(p, ours, 1);
    return took > 0 && ms / took < 20000 ? (int)(ms / took) + 1 : 20000;
}

/* Microseconds of one, of as many in a row as take `ms`. */
static double time_of(const product *p, int ours, float ms)
{
    const int count = count_for(p, ours, ms);
    return 1e3 * time_calls(p, ours, count) / count;
}

/* Of ours (us[1]) and theirs, in turn, `ms` each in all: short slices find the same clock. Forth and
   back, since clocks fall under load; for the same reason one slice comes before that does not count. */
static void time_in_turn(const product *p, double *us, float ms)
{
    enum { TURNS = 4 }; /* even */
    const int counts[2] = {count_for(p, 0, ms / TURNS), count_for(p, 1, ms / TURNS)};
    us[0] = us[1] = 0;
    (void)time_calls(p, 0, counts[0]);
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        const int ours = (turn + 1) / 2 % 2;
        us[ours] += 1e3 * time_calls(p, ours, counts[ours]) / counts[ours] / TURNS;
    }
}

/* Sums of four uniform numbers, nearly normal, as half or bfloat16. */
static void fill(void *to, long long count, int bfloat, unsigned seed)
{
    unsigned short *x = (unsigned short *)malloc(count * 2);
    demand(x != NULL, "host memory");
    for (long long n = 0; n < count; n++) {
        float sum = 0;
        for (int i = 0; i < 4; i++)
            seed = seed * 1664525u + 1013904223u, sum += (float)(seed >> 8) / 8388608.0f - 1;
        const tmm_half h = __float2half(sum);
        const tmm_bfloat16 b = __float2bfloat16(sum);
        memcpy(&x[n], bfloat ? (const void *)&b : (const void *)&h, 2);
    }
    demand(!cudaMemcpy(to, x, count * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
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
    demand(x != NULL, "host memory");
    for (long long n = 0; n < count; n++) {
        seed = seed * 1664525u + 1013904223u;
        const double value = (double)(seed >> 8) / 8388608.0 - 1;
        if (type == FLOAT)
            ((float *)x)[n] = (float)value;
        else
            ((double *)x)[n] = value;
    }
    demand(!cudaMemcpy(to, x, count * bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    free(x);
}

static void bench_syrk(product *p, FILE *csv, const char *device)
{
    static const char *const types[] = {"float", "double", "half", "bfloat16"};
    static const int sizes[][2] = {{512, 512},   {1000, 1000},  {1024, 1024},
                                   {2048, 2048}, {4096, 4096},  {4100, 4100},
                                   {8192, 8192}, {1024, 16384}, {8192, 256}};
    const long long most = 8192ll * 8192;
    demand(!cudaMalloc(&p->A, 8 * most) && !cudaMalloc(&p->C, 8 * most), "device memory");
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

/* Elements that A, B and C have. */
static void room_of(const shape *s, long long sizes[3])
{
    sizes[0] = rows_A(s) * s->lda * s->batch, sizes[1] = rows_B(s) * s->ldb * s->batch;
    sizes[2] = s->M * s->ldc * s->batch;
}

/* What TMM_AUTO takes. */
static const tmm__plan *plan_of(const product *p)
{
    const shape *s = p->s;
    const tmm_op opA = s->opA == 'T' ? TMM_OP_T : TMM_OP_N;
    tmm_hgemm__product q = tmm_hgemm__make_product(opA, s->opB == 'T' ? TMM_OP_T : TMM_OP_N, s->M,
                                                   s->N, s->K, s->lda, s->ldb);
    q.A = (tmm_half *)p->A, q.B = (tmm_half *)p->B, q.C = (tmm_half *)p->C, q.ldc = s->ldc;
    q.alpha = 1;
    if (s->batch > 1)
        q.strideA = rows_A(s) * s->lda, q.strideB = rows_B(s) * s->ldb, q.strideC = s->M * s->ldc;
    return tmm_hgemm__known_plan(TMM_AUTO, &q, s->batch);
}

static void bench_lists(product *p, const char *list, FILE *csv)
{
    static const char *const cuts[] = {"whole", "slices", "reduce", "clusters", "last", "even"};
    static shape shapes[MOST_SHAPES];
    static double ratios[MOST_SHAPES];
    enum { DRAWN = 200, SEED = 48 };
    long long most[3] = {0, 0, 0}, sizes[3];
    double product_of_all = 0;
    int count = 0;
    if (list) count = read_shapes(list, NULL, shapes);
    for (int n = 0; !list && count < DRAWN; n++) {
        shapes[count] = draw_shape(SEED, n, -1);
        const shape *s = &shapes[count];
        count += s->M >= 64 && s->N >= 64 && s->K >= 64;
    }
    for (int n = 0; n < count; n++) {
        room_of(&shapes[n], sizes);
        for (int i = 0; i < 3; i++)
            if (sizes[i] > most[i]) most[i] = sizes[i];
    }
    void **to[3] = {&p->A, &p->B, &p->C};
    for (int i = 0; i < 3; i++) demand(!cudaMalloc(to[i], 2 * most[i] + 256), "device memory");
    const long long first = 1 << 24;
    for (int i = 0; i < 2; i++) {
        fill(*to[i], most[i] < first ? most[i] : first, 0, 1 + i);
        for (long long n = first; n < most[i]; n += first)
            demand(!cudaMemcpy((short *)*to[i] + n, *to[i],
                               2 * (most[i] - n < first ? most[i] - n : first),
                               cudaMemcpyDeviceToDevice),
                   "cudaMemcpy");
    }
    if (csv) fprintf(csv, "opA,opB,M,N,K,lda,ldb,ldc,batch,us,cublas_us,plan\n");
    for (int n = 0; n < count; n++) {
        const shape *s = p->s = &shapes[n];
        double us[2];
        time_in_turn(p, us, MS_LISTS);
        const tmm__plan *plan = plan_of(p);
        ratios[n] = us[0] / us[1], product_of_all += log(ratios[n]);
        printf("%c%c %6lld %6lld %6lld of %lld %9.2f %9.2f us %6.3f times cuBLAS; %s %d %s %d, "
               "predicted %.2f\n",
               s->opA, s->opB, s->M, s->N, s->K, s->batch, us[1], us[0], ratios[n],
               tmm_kernel_string(plan->value), plan->instance, cuts[plan->cut], plan->slices,
               1e-3 * plan->time);
        if (csv)
            fprintf(csv, "%c,%c,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%.2f,%.2f,%s %d %s %d\n", s->opA,
                    s->opB, s->M, s->N, s->K, s->lda, s->ldb, s->ldc, s->batch, us[1], us[0],
                    tmm_kernel_string(plan->value), plan->instance, cuts[plan->cut], plan->slices);
    }
    p->s = NULL;
    qsort(ratios, (size_t)count, sizeof *ratios, ascending);
    if (count > 0)
        printf("%d shapes: %.3f times cuBLAS in the geometric mean, 5th percentile %.3f, least "
               "%.3f\n",
               count, exp(product_of_all / count), ratios[count / 20], ratios[0]);
}

int main(int count, char **words)
{
    static const int shapes[][5] = {
        {1024, 1024, 1024, 0, 0},    {1024, 1024, 1024, 0, 1}, {1024, 1024, 1024, 1, 0},
        {2048, 2048, 2048, 0, 0},    {2048, 2048, 2048, 0, 1}, {2048, 2048, 2048, 1, 0},
        {3072, 3072, 3072, 0, 0},    {3072, 3072, 3072, 0, 1}, {3072, 3072, 3072, 1, 0},
        {4096, 4096, 4096, 0, 0},    {4096, 4096, 4096, 0, 1}, {4096, 4096, 4096, 1, 0},
        {8192, 8192, 8192, 0, 0},    {8192, 8192, 8192, 0, 1}, {8192, 8192, 8192, 1, 0},
        {16384, 16384, 16384, 0, 1}, {1000, 1000, 1000, 0, 1}, {4100, 4100, 4100, 0, 0},
        {4099, 4099, 4099, 0, 0},    {512, 512, 512, 0, 0},    {512, 6144, 4096, 0, 1},
        {64, 12544, 147, 0, 0},      {128, 128, 65536, 1, 0},  {1, 6144, 4096, 0, 1},
        {8, 6144, 4096, 0, 1},       {16, 6144, 4096, 0, 1},   {32, 6144, 4096, 0, 1},
        {64, 6144, 4096, 0, 1},      {128, 6144, 4096, 0, 1},  {16, 6144, 4096, 0, 0},
        {128, 6144, 4096, 0, 0},     {6144, 1, 4096, 0, 0},    {6144, 32, 4096, 0, 0},
        {6144, 128, 4096, 0, 0},     {16, 4096, 14336, 0, 1},  {64, 14336, 4096, 0, 1},
        {128, 4096, 14336, 0, 1},    {16, 768, 7168, 0, 1},    {64, 2048, 1408, 0, 1},
        {128, 1024, 4096, 0, 1}};
    cudaDeviceProp device;
    product p;
    p.syrk = count > 1 && strcmp(words[1], "syrk") == 0;
    p.cold = count > 1 && strcmp(words[1], "cold") == 0;
    const int drawn = count > 1 && strcmp(words[1], "drawn") == 0;
    const int listed = count > 1 && strcmp(words[1], "list") == 0;
    const char *list = listed && count > 2 ? words[2] : NULL;
    p.s = NULL;
    if (p.syrk || p.cold || drawn || list) count--, words++;
    if (list) count--, words++;
    const int lacks = listed && list == NULL; /* "list" is no file to write */
    const int unknown = lacks || count > 2 || (count > 1 && words[1][0] == '-');
    FILE *csv = count > 1 && !unknown ? fopen(words[1], "w") : NULL;
    if (unknown || (count > 1 && csv == NULL)) {
        fprintf(stderr, "usage: half [syrk | cold | drawn | list SHAPES.csv] [FILE.csv]: %s: %s\n",
                words[count - 1],
                lacks     ? "needs SHAPES.csv"
                : unknown ? "not understood"
                          : strerror(errno));
        return 2;
    }
    demand(!cudaGetDeviceProperties(&device, 0), "device");
    demand(!cublasCreate(&p.cublas), "cublasCreate");
    if (p.syrk || drawn || list) {
        if (p.syrk)
            bench_syrk(&p, csv, device.name);
        else
            bench_lists(&p, list, csv);
        if (csv && (ferror(csv) | fclose(csv))) demand(0, "the file cannot be written");
        return 0;
    }
    demand(!cudaMalloc(&p.A, 2 * room) && !cudaMalloc(&p.B, 2 * room) &&
               !cudaMalloc(&p.C, 2 * room),
           "device memory");
    if (csv) fprintf(csv, "type,opA,opB,M,N,K,us,cublas_us,ratio,tflops,device,toolkit\n");
    for (p.bfloat = 0; p.bfloat < 2; p.bfloat++) {
        fill(p.A, room / 4, p.bfloat, 1), fill(p.B, room / 4, p.bfloat, 2);
        for (int n = 1; n < 4; n++)
            demand(!cudaMemcpy((char *)p.A + n * (room / 2), p.A, room / 2,
                               cudaMemcpyDeviceToDevice) &&
                       !cudaMemcpy((char *)p.B + n * (room / 2), p.B, room / 2,
                                   cudaMemcpyDeviceToDevice),
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
    if (csv && (ferror(csv) | fclose(csv))) demand(0, "the file cannot be written");
    return 0;
}
