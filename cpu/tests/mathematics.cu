/* expf, logf, sinf, cosf, tanhf and coshf in kernels, which the runner may do for eight threads at once: within the
 * bounds that the CUDA C++ Programming Guide states. */
#include "check.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { n = 1 << 16 };

#define KERNEL(name)                                                  \
    __global__ void of_##name(float *y, const float *from, int count) \
    {                                                                 \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                \
        if (i < count) {                                              \
            float x = from[i]; /* not the x of blockIdx */            \
            y[i] = name(x);                                           \
        }                                                             \
    }                                                                 \
    static double right_##name(double x)                              \
    {                                                                 \
        return name##_of_double(x);                                   \
    }
#define expf_of_double  exp
#define logf_of_double  log
#define sinf_of_double  sin
#define cosf_of_double  cos
#define tanhf_of_double tanh
#define coshf_of_double cosh
KERNEL(expf)
KERNEL(logf)
KERNEL(sinf)
KERNEL(cosf)
KERNEL(tanhf)
KERNEL(coshf)

/* In units in the last place of the right result; those of 0 are those of the smallest numbers. */
static double error_of(float got, double right)
{
    int exponent;
    if (isnan(right)) return isnan(got) ? 0 : HUGE_VAL;
    if (isinf((float)right)) return got == (float)right ? 0 : HUGE_VAL;
    frexp(right, &exponent);
    if (right == 0 || exponent < -125) exponent = -125;
    return fabs(got - right) / ldexp(1, exponent - 24);
}

static double worst_of(void (*kernel)(float *, const float *, int), double (*right)(double),
                       float *y, const float *x)
{
    double worst = 0;
    kernel<<<n / 256, 256>>>(y, x, n);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < n; i++) worst = fmax(worst, error_of(y[i], right(x[i])));
    return worst;
}

int main(void)
{
    float *x, *y;
    const float special[] = {0,     -0.0f, 1,  -1,     INFINITY, -INFINITY, NAN,   1e-40f, -1e-40f,
                             3e38f, 88.7f, 89, -87.3f, -103.9f,  -104.1f,   0.25f, 999999, 1000001};
    cudaMallocManaged(&x, n * sizeof *x);
    cudaMallocManaged(&y, n * sizeof *y);
    for (unsigned int i = 0; i < n / 2; i++) { /* all exponents */
        unsigned int word = i * 131071u + i;
        memcpy(x + i, &word, sizeof word);
    }
    for (int i = n / 2; i < n; i++) x[i] = (float)(i - 3 * n / 4) / (n / 400.0f);
    memcpy(x, special, sizeof special);
    CHECK(worst_of(of_expf, right_expf, y, x) <= 1);
    CHECK(worst_of(of_logf, right_logf, y, x) <= 1);
    CHECK(worst_of(of_sinf, right_sinf, y, x) <= 2);
    CHECK(worst_of(of_cosf, right_cosf, y, x) <= 2);
    CHECK(worst_of(of_tanhf, right_tanhf, y, x) <= 2);
    CHECK(worst_of(of_coshf, right_coshf, y, x) <= 2);
    printf("%d failures\n", failures);
    return failures != 0;
}
