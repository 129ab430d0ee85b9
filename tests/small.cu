/* TMM_SMALL in float by every tile and team that it has, not only by those that it would take: all
   ops, odd sizes and leading dimensions, alpha and beta, batches, k in parts. Against sums in
   double. And that each kernel plans once a call. */
#include <float.h>
#include <time.h>
#include "tap.h"
#include "../bench/plans.h"
static int guesses; /* of plans: how often the hook was asked */
#undef TMM__PLAN_GUESS
#define TMM__PLAN_GUESS(instance, cut, slices, time) \
    (guesses++, plan_guess(instance, cut, slices, time))
#define TMM_NO_INT
#define TMM_NO_DOUBLE
#define TMM_FLOAT_TENSOR 0
#include "../tiledmm.cuh"

enum { BATCH = 3, GUARD = 64, MOST = 110 };

typedef struct operand {
    long long rows, cols, ld, size; /* size: of one product, with what lies between and behind */
    float *host, *device;
} operand;

/* Random inside of the matrices; NaN between and around them. */
static operand make(long long rows, long long cols, int pad)
{
    operand x;
    x.rows = rows, x.cols = cols, x.ld = cols + pad, x.size = rows * x.ld + GUARD, x.device = NULL;
    const size_t bytes = (size_t)(BATCH * x.size + GUARD) * sizeof(float);
    x.host = (float *)malloc(bytes);
    for (long long n = 0; n < BATCH * x.size + GUARD; n++) x.host[n] = NAN;
    for (int b = 0; b < BATCH; b++)
        for (long long i = 0; i < rows; i++)
            for (long long j = 0; j < cols; j++)
                x.host[GUARD + b * x.size + i * x.ld + j] = (float)tap_uniform();
    if (cudaMalloc((void **)&x.device, bytes) ||
        cudaMemcpy(x.device, x.host, bytes, cudaMemcpyHostToDevice))
        tap_ok(0, "memory on the device: %s", cudaGetErrorString(cudaGetLastError()));
    return x;
}

static void drop(operand *x)
{
    cudaFree(x->device);
    free(x->host);
}

static float at(const operand *x, int product, int transposed, long long row, long long col)
{
    const long long i = transposed ? col : row, j = transposed ? row : col;
    return x->host[GUARD + product * x->size + i * x->ld + j];
}

/* Elements of `after` that are not alpha op(A) op(B) + beta C, or that should be as before. */
static int wrong_in(const float *after, const operand *A, const operand *B, const operand *C,
                    const int *transposed, float alpha, float beta, int batch)
{
    const long long K = transposed[0] ? A->rows : A->cols;
    int wrong = 0;
    for (long long n = 0; n < BATCH * C->size + GUARD; n++) {
        const long long place = n - GUARD, in = place % C->size;
        const int b = (int)(place / C->size);
        const long long row = in / C->ld, col = in % C->ld;
        if (place < 0 || b >= batch || row >= C->rows || col >= C->cols) {
            wrong += memcmp(&after[n], &C->host[n], sizeof(float)) != 0;
            continue;
        }
        double sum = 0, size = 0;
        for (long long k = 0; k < K; k++) {
            const double one =
                (double)at(A, b, transposed[0], row, k) * at(B, b, transposed[1], k, col);
            sum += one, size += fabs(one);
        }
        const double old = beta == 0 ? 0 : (double)beta * C->host[n];
        const double bound = ((double)K + 4) * FLT_EPSILON / 2 * (fabs(alpha) * size + fabs(old));
        wrong += !(fabs(after[n] - (alpha * sum + old)) <= bound);
    }
    return wrong;
}

/* One shape by all plans. */
static void test_shape(int M, int N, int K, int ops, int pad, int batch)
{
    const int transposed[2] = {ops / 2, ops % 2};
    const tmm_op opA = transposed[0] ? TMM_OP_T : TMM_OP_N;
    const tmm_op opB = transposed[1] ? TMM_OP_T : TMM_OP_N;
    const float alpha = ops == 1 ? -2.5f : 1, beta = ops == 2 ? 0.5f : 0;
    operand A = make(transposed[0] ? K : M, transposed[0] ? M : K, pad);
    operand B = make(transposed[1] ? N : K, transposed[1] ? K : N, pad), C = make(M, N, pad);
    const size_t bytes = (size_t)(BATCH * C.size + GUARD) * sizeof(float);
    float *after = (float *)malloc(bytes);
    plan_list list;
    tmm_sgemm__product p = tmm_sgemm__make_product(opA, opB, M, N, K, A.ld, B.ld);
    p.alpha = alpha, p.ldc = C.ld, p.batch = (unsigned)batch, p.allowed = TMM__CUT_K;
    tmm__plan plan;
    list_plans(&list);
    tmm_sgemm__plan_by(TMM_SMALL, &p, &plan);
    list_plans(NULL);
    int wrong = 0, failed = 0;
    for (int n = 0; n < list.count; n++) {
        char name[PLAN_NAME];
        name_plan(&list.plans[n], name);
        failed += cudaMemcpy(C.device, C.host, bytes, cudaMemcpyHostToDevice) != cudaSuccess;
        force_plan(&list.plans[n]);
        const tmm_status status =
            tmm_sgemm_batched_with(TMM_SMALL, opA, opB, M, N, K, alpha, A.device + GUARD, A.ld,
                                   B.device + GUARD, B.ld, beta, C.device + GUARD, C.ld, A.size,
                                   B.size, C.size, batch, 0);
        force_plan(NULL);
        failed += status != TMM_OK || cudaMemcpy(after, C.device, bytes, cudaMemcpyDeviceToHost);
        const int here = wrong_in(after, &A, &B, &C, transposed, alpha, beta, batch);
        if (here) tap_note("plan %s: %d elements", name, here);
        wrong += here > 0;
    }
    tap_ok(wrong == 0 && failed == 0 && list.count >= 2,
           "(%d,%d,%d) %c%c, lines %d longer, batch of %d: %d plans", M, N, K, "NT"[transposed[0]],
           "NT"[transposed[1]], pad, batch, list.count);
    free(after);
    drop(&A);
    drop(&B);
    drop(&C);
}

/* A call makes each plan once: it asks the hook as often as the plan of its kernel, or as TMM_AUTO's
   comparison of all, does alone. */
static void test_plans_once(void)
{
    static const tmm_kernel kernels[] = {TMM_AUTO,  TMM_SMALL,     TMM_DIRECT,
                                         TMM_OUTER, TMM_PIPELINED, TMM_SKINNY};
    enum { M = 40, N = 16, K = 24 };
    operand A = make(M, K, 0), B = make(K, N, 0), C = make(M, N, 0);
    tmm_sgemm__product p = tmm_sgemm__make_product(TMM_OP_N, TMM_OP_N, M, N, K, K, N);
    p.alpha = 1, p.ldc = N, p.batch = 1, p.allowed = TMM__CUT_K | TMM__PACK;
    p.A = A.device + GUARD, p.B = B.device + GUARD, p.C = C.device + GUARD;
    for (int n = 0; n < (int)(sizeof kernels / sizeof *kernels); n++) {
        tmm__plan plan;
        guesses = 0;
        if (kernels[n] == TMM_AUTO)
            tmm_sgemm__choose(&p, 1, 0, &plan);
        else
            tmm_sgemm__plan_by(kernels[n], &p, &plan);
        const int alone = guesses;
        guesses = 0;
        const tmm_status status = tmm_sgemm_with(kernels[n], TMM_OP_N, TMM_OP_N, M, N, K, 1, p.A, K,
                                                 p.B, N, 0, p.C, N, 0);
        tap_ok(status == TMM_OK && alone > 0 && guesses == alone,
               "%s: %d guesses of its plan, %d of a call", tmm_kernel_string(kernels[n]), alone,
               guesses);
    }
    drop(&A);
    drop(&B);
    drop(&C);
}

int main(void)
{
    tap_seed((unsigned long long)time(NULL));
    for (int n = 0; n < 24; n++) {
        int size[3];
        for (int s = 0; s < 3; s++) {
            size[s] = 1 + (int)(tap_bits() % MOST);
            if (n % 3 == 0) size[s] = (size[s] + 15) / 16 * 16; /* aligned */
        }
        test_shape(size[0], size[1], size[2], n % 4, n % 3 == 2 ? 1 + 2 * (n % 5) : n % 3 * 4,
                   n % 6 == 5 ? (int)BATCH : 1);
    }
    for (int ops = 0; ops < 4; ops++) test_shape(33, 31, 1500 + ops, ops, 4 * (ops / 2), 1);
    test_plans_once();
    return tap_done();
}
