/* Every kernel of both headers once, for ./build.sh test --quick: three products by each kernel and
   type against sums in long double, a picture by each kind of memory against that of the CPU.
   Thread orders, more shapes, rounding, errors and faults are what the other tests look at.

   The file includes itself once for each type. */
#ifndef T
#define TMM_FLOAT_TENSOR  0 /* both are compiled, TMM_AUTO does not take them */
#define TMM_DOUBLE_TENSOR 0
#include "../tap.h"
#include "../../tiledmm.cuh"
#include "../../raytrace.cuh"

/* Whole tiles in rows that vectors fit; then odd sizes of transposed operands, with a gap behind
   each row and C added; then long sums of few elements, which threads and blocks share. */
static const struct {
    tmm_op op;
    int M, N, K, pad;
    int alpha, beta;
} products[] = {{TMM_OP_N, 128, 128, 64, 0, 1, 0},
                {TMM_OP_T, 67, 45, 83, 3, 2, -1},
                {TMM_OP_N, 5, 3, 2100, 1, 1, 0}};
enum { PRODUCTS = sizeof products / sizeof *products };

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TMM(x)      JOIN(JOIN(tmm_, LETTER), x) /* the library's: tmm_sgemm_with */
#define F(x)        JOIN(JOIN(LETTER, _), x)    /* ours */
#define STRING_(x)  #x
#define STRING(x)   STRING_(x)

#define T      float
#define LETTER s
#define UNIT   5.9604644775390625e-8L /* unit roundoff; 0 for integers: exact */
#include "kernels.cu"
#undef T
#undef LETTER
#undef UNIT
#define T      double
#define LETTER d
#define UNIT   1.1102230246251565e-16L
#include "kernels.cu"
#undef T
#undef LETTER
#undef UNIT
#define T      int
#define LETTER i
#define UNIT   0.0L
#include "kernels.cu"

static void pictures(void)
{
    enum { WIDTH = 70, HEIGHT = 50, COUNT = 40, BYTES = 4 * WIDTH * HEIGHT };
    static rayt_sphere spheres[COUNT];
    static unsigned char expected[BYTES], image[BYTES];
    int good = rayt_random_scene(spheres, COUNT, tap_bits(), WIDTH, HEIGHT, 3, 20) == RAYT_OK &&
               rayt_render_cpu(spheres, COUNT, expected, WIDTH, HEIGHT) == RAYT_OK,
        lit = 0;
    for (int n = 0; n < BYTES; n++) lit += n % 4 != 3 && expected[n] != 0;
    tap_ok(good && lit > BYTES / 10, "a picture by the CPU");
    for (int where = 0; where < RAYT_WHERE_COUNT; where++) {
        memset(image, 0xA5, BYTES);
        rayt_status status =
            rayt_render_host((rayt_where)where, spheres, COUNT, image, WIDTH, HEIGHT, NULL, NULL);
        if (status != RAYT_OK) tap_note("%s", rayt_last_error());
        tap_ok(status == RAYT_OK && memcmp(image, expected, BYTES) == 0,
               "rays, %s: the picture of the CPU", rayt_where_string((rayt_where)where));
    }
}

int main(void)
{
    tap_seed(44);
    s_kernels();
    d_kernels();
    i_kernels();
    pictures();
    return tap_done();
}

#else /* ---- for each type -------------------------------------------------------------------- */

/* rows x cols at random, with `pad` elements behind each row; and a copy on the device. */
static T *F(make)(int rows, int cols, int pad, T **device)
{
    const size_t count = (size_t)rows * (cols + pad);
    T *host = (T *)malloc(count * sizeof(T));
    for (size_t n = 0; n < count; n++) host[n] = (T)(tap_uniform() * (UNIT == 0 ? 1000 : 1));
    if (cudaMalloc((void **)device, count * sizeof(T)) ||
        cudaMemcpy(*device, host, count * sizeof(T), cudaMemcpyHostToDevice))
        tap_ok(0, "memory on the device: %s", cudaGetErrorString(cudaGetLastError()));
    return host;
}

/* Elements that are not alpha op(A) op(B) + beta C, or not as before behind the rows of C; -1 if
   the kernel does not take the product. */
static int F(wrong)(tmm_kernel kernel, int which)
{
    const int transposed = products[which].op == TMM_OP_T, pad = products[which].pad;
    const int M = products[which].M, K = products[which].K;
    const int N = kernel == TMM_SKINNY && which < 2 ? 9 : products[which].N;
    const int lda = (transposed ? M : K) + pad, ldb = (transposed ? K : N) + pad, ldc = N + pad;
    T *dA, *dB, *dC, *A = F(make)(transposed ? K : M, transposed ? M : K, pad, &dA);
    T *B = F(make)(transposed ? N : K, transposed ? K : N, pad, &dB), *C = F(make)(M, N, pad, &dC);
    T *after = (T *)malloc((size_t)M * ldc * sizeof(T));
    int wrong = 0;
    tmm_status status = TMM(gemm_with)(kernel, products[which].op, products[which].op, M, N, K,
                                       (T)products[which].alpha, dA, lda, dB, ldb,
                                       (T)products[which].beta, dC, ldc, 0);
    if (status != TMM_OK && status != TMM_ERROR_UNSUPPORTED)
        tap_note("%s", tmm_last_error()), wrong++;
    if (cudaMemcpy(after, dC, (size_t)M * ldc * sizeof(T), cudaMemcpyDeviceToHost)) wrong++;
    for (int n = 0; n < M * ldc && status == TMM_OK; n++) {
        const int i = n / ldc, j = n % ldc;
        long double sum = 0, size = 0;
        for (int k = 0; k < K && j < N; k++) {
            const long double product = (long double)A[transposed ? k * lda + i : i * lda + k] *
                                        B[transposed ? j * ldb + k : k * ldb + j];
            sum += product, size += fabsl(product);
        }
        sum = products[which].alpha * sum + products[which].beta * (long double)C[n];
        size = products[which].alpha * size + fabsl((long double)C[n]);
        if (j >= N) sum = C[n], size = 0;
        wrong += !(fabsl(after[n] - sum) <= (K + 3) * UNIT * size);
    }
    free(A), free(B), free(C), free(after);
    cudaFree(dA), cudaFree(dB), cudaFree(dC);
    return status == TMM_ERROR_UNSUPPORTED ? -1 : wrong;
}

static void F(kernels)(void)
{
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm_kernel kernel = (tmm_kernel)k;
        const int none =
            (kernel == TMM_TENSOR_INT8 && sizeof(T) != 8) || (kernel == TMM_TENSOR && UNIT == 0);
        int bad = 0;
        for (int n = 0; n < PRODUCTS; n++) {
            const int wrong = F(wrong)(kernel, n);
            if (wrong == (none ? -1 : 0)) continue;
            tap_note("%d x ... x %d: %d wrong elements", products[n].M, products[n].K, wrong);
            bad = 1;
        }
        tap_ok(!bad, "tmm_%cgemm, %s%s", STRING(LETTER)[0], tmm_kernel_string(kernel),
               none ? ": not for this type, and says so" : "");
    }
}
#endif
