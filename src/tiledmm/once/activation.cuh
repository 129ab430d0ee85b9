/* src/tiledmm/once/activation.cuh. What an epilogue of a call is for a kernel, and activations.
   Uses: config.h, types.h.
   Used by: kernels/common/finish.cuh, kernels/tensor_float/types.cuh, kernels/tensor_half/,
   kernels/tensor_int8/, type/. */
#if TMM__KERNELS && defined(TMM_WITH_EPILOGUE) && !defined(TMM__ONCE)
/* What comes after x = alpha op(A) op(B) + beta C: C = activation(x + biases) + gamma D. A part of
   kernels' parameters. Strides: from product to product. */
enum { TMM__TERMS = 7 };
typedef struct tmm__after {
    int active; /* 0: nothing comes after x */
    int activation;
    long long product;                   /* the number of the launch's first one in the batch */
    const void *row_bias, *col_bias, *D; /* NULL: none */
    long long row_stride, col_stride, strideD, ldd;
    double gamma;
    float gamma_float;
    float terms[TMM__TERMS]; /* see tmm__smooth_float */
} tmm__after;

/* SiLU and both GELU are x / (1 + 2^t) with t = x P(x^2), for sums in float. SiLU is x / (1 + e^-x).
   GELU by tanh is x / (1 + e^-2y), y = sqrt(2 / pi) (x + 0.044715 x^3). In exact GELU, x Phi(x), the
   t of Phi = 1 / (1 + 2^t) over x is even and smooth: a polynomial of degree 6 in x^2 for |x| below
   5.5, whose coefficients make the largest error of Phi least, 0.48 units of 2^-24 (Lawson's
   iteration; tests/epilogue.cu checks it against erfc). Beyond 5.5 P stays as it is there, and Phi
   or 1 - Phi is less than 2^-25. With rounding the error is at most 8 2^-24 |x|.
     -0 and NaN stay; minus infinity gives NaN, as x Phi(x) does in C. */
static inline const float *tmm__terms(int activation)
{
    static const float silu[TMM__TERMS] = {-1.44269504f};
    static const float by_tanh[TMM__TERMS] = {-2.30220826f, -0.102943243f};
    static const float by_erf[TMM__TERMS] = {-2.30220938f,    -0.104835123f,    9.40491955e-05f,
                                             1.59579955e-04f, -1.14398372e-05f, 3.81631565e-07f,
                                             -5.06724440e-09f};
    return activation == TMM_GELU_ERF ? by_erf : activation == TMM_GELU_TANH ? by_tanh : silu;
}

/* `count` of the terms are not 0. A square that is infinite does no harm to two. */
TMM__DEVICE float tmm__smooth_float(float x, const float *terms, const int count)
{
    float square = __fmul_rn(x, x), t = terms[count - 1];
    if (count > 2) square = fminf(square, 30.25f); /* 5.5^2; NaN comes back by x itself */
#pragma unroll
    for (int n = count - 2; n >= 0; n--) t = fmaf(t, square, terms[n]);
    t = __fmul_rn(x, t);
#if defined(__CUDA_ARCH__) && !defined(__CUCC__)
    /* 2^t or its inverse as 0 where it is below 2^-126, which changes less than x 2^-25. */
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
    return __fmul_rn(x, inverse);
#else
    return __fdividef(x, 1.0f + exp2f(t));
#endif
}

/* The same in double, also for the CPU: a few units of 2^-53 |x|. Not inlined: its code would be most
   of a kernel. */
static inline __host__ __device__ __noinline__ double tmm__smooth_double(double x, int activation)
{
    double y = x;
    if (activation == TMM_GELU_ERF) return 0.5 * x * erfc(-0.70710678118654752 * x);
    if (activation == TMM_GELU_TANH) y = 1.5957691216057308 * x * (1 + 0.044715 * x * x);
    return x / (1 + exp(-y));
}
#endif
