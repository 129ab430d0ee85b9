/* expf, logf, sinf, cosf, tanhf and coshf of four or eight numbers at once, for loops over the threads of a block: the
 * names are those by which the compiler calls them in vectorised loops (the x86 vector function ABI). They are
 * computed in double, so that they are right to 0.51 units in the last place, as the C library's one at a time
 * (tanhf and coshf: 1.4) and within CUDA's bounds. */
#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#include <math.h>
#pragma GCC target("avx2,fma")

typedef __m256d four;

namespace
{
four all(double x)
{
    return _mm256_set1_pd(x);
}
four fma(four a, four b, four c)
{
    return _mm256_fmadd_pd(a, b, c);
}
four choose(four condition, four yes, four no)
{
    return _mm256_blendv_pd(no, yes, condition);
}
__m256i bits(four x)
{
    return _mm256_castpd_si256(x);
}

/* c[0] + c[1] x + c[2] x^2 ... */
template <int count> four polynomial(const double (&c)[count], four x)
{
    four sum = all(c[count - 1]);
    for (int i = count - 2; i >= 0; i--) sum = fma(sum, x, all(c[i]));
    return sum;
}

/* Added to a number, this leaves the nearest whole number in the low bits. */
const double to_whole = 0x1.8p52;
const double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;

/* e^x = 2^n e^r, with |r| <= ln(2) / 2. */
four exp_of(four x)
{
    static const double c[] = {1,        1,        1. / 2,    1. / 6,     1. / 24,
                               1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880};
    x = _mm256_min_pd(all(200), _mm256_max_pd(all(-200), x));
    four shifted = fma(x, all(1 / ln2), all(to_whole)), n = _mm256_sub_pd(shifted, all(to_whole));
    four r = fma(n, all(-ln2), x);
    r = fma(n, all(-ln2_rest), r);
    __m256i power =
        _mm256_slli_epi64(_mm256_add_epi64(bits(shifted), _mm256_set1_epi64x(1023)), 52);
    return _mm256_mul_pd(polynomial(c, r), _mm256_castsi256_pd(power));
}

/* ln(2^n m) = n ln(2) + 2 artanh((m - 1) / (m + 1)), with m around 1. */
four log_of(four x)
{
    static const double c[] = {2, 2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15};
    const __m256i mantissa = _mm256_set1_epi64x(0xfffffffffffff);
    __m256i exponent = _mm256_srli_epi64(bits(x), 52);
    four n = _mm256_sub_pd(_mm256_castsi256_pd(
                               _mm256_or_si256(exponent, _mm256_set1_epi64x(0x4330000000000000))),
                           all(0x1p52 + 1023));
    four m =
        _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(bits(x), mantissa), bits(all(1))));
    four large = _mm256_cmp_pd(m, all(M_SQRT2), _CMP_GT_OQ);
    m = choose(large, _mm256_mul_pd(m, all(0.5)), m);
    n = choose(large, _mm256_add_pd(n, all(1)), n);
    four s = _mm256_div_pd(_mm256_sub_pd(m, all(1)), _mm256_add_pd(m, all(1)));
    four result = fma(n, all(ln2), _mm256_mul_pd(s, polynomial(c, _mm256_mul_pd(s, s))));
    result = choose(_mm256_cmp_pd(x, all(0), _CMP_EQ_OQ), all(-INFINITY), result);
    result = choose(_mm256_cmp_pd(x, all(INFINITY), _CMP_EQ_OQ), x, result);
    return choose(_mm256_cmp_pd(x, all(0), _CMP_NGE_UQ), all(NAN), result);
}

/* sin(x + QUARTERS pi / 2), for |x| up to a million. */
four sin_of(four x, int quarters)
{
    static const double odd[] = {1,           -1. / 6,        1. / 120,       -1. / 5040,
                                 1. / 362880, -1. / 39916800, 1. / 6227020800};
    static const double even[] = {1,          -1. / 2,        1. / 24,         -1. / 720,
                                  1. / 40320, -1. / 3628800., 1. / 479001600., -1. / 87178291200.};
    four shifted = fma(x, all(M_2_PI), all(to_whole)), n = _mm256_sub_pd(shifted, all(to_whole));
    four r = fma(n, all(-0x1.921fb54442d18p0), x), r2;
    r = fma(n, all(-0x1.1a62633145c07p-54), r);
    r2 = _mm256_mul_pd(r, r);
    __m256i turn = _mm256_add_epi64(bits(shifted), _mm256_set1_epi64x(quarters));
    four is_odd = _mm256_castsi256_pd(_mm256_slli_epi64(turn, 63));
    four sign = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_srli_epi64(turn, 1), 63));
    four result = choose(is_odd, polynomial(even, r2), _mm256_mul_pd(r, polynomial(odd, r2)));
    return _mm256_xor_pd(result, sign);
}

four tanh_of(four x)
{
    static const double c[] = {1,          -1. / 3,         2. / 15,          -17. / 315,
                               62. / 2835, -1382. / 155925, 21844. / 6081075, -929569. / 638512875};
    const four sign = all(-0.0);
    four size = _mm256_andnot_pd(sign, x), x2 = _mm256_mul_pd(x, x);
    four power = exp_of(_mm256_add_pd(size, size));
    four large = _mm256_sub_pd(all(1), _mm256_div_pd(all(2), _mm256_add_pd(power, all(1))));
    large = _mm256_or_pd(large, _mm256_and_pd(sign, x));
    return choose(_mm256_cmp_pd(size, all(0.25), _CMP_LT_OQ), _mm256_mul_pd(x, polynomial(c, x2)),
                  large);
}

four cosh_of(four x)
{
    four power = exp_of(_mm256_andnot_pd(all(-0.0), x));
    return _mm256_mul_pd(all(0.5), _mm256_add_pd(power, _mm256_div_pd(all(1), power)));
}

/* Of numbers that are none of these the C library knows best. */
bool any_large(four x)
{
    four size = _mm256_andnot_pd(all(-0.0), x);
    return _mm256_movemask_pd(_mm256_cmp_pd(size, all(1e6), _CMP_NLE_UQ)) != 0;
}
four each(four x, float (*function)(float))
{
    double number[4];
    _mm256_storeu_pd(number, x);
    for (double &n : number) n = function((float)n);
    return _mm256_loadu_pd(number);
}
four sine(four x)
{
    return __builtin_expect(any_large(x), 0) ? each(x, sinf) : sin_of(x, 0);
}
four cosine(four x)
{
    return __builtin_expect(any_large(x), 0) ? each(x, cosf) : sin_of(x, 1);
}
} // namespace

#define FOUR_AND_EIGHT(name, function)                                     \
    extern "C" __m128 _ZGVbN4v_##name(__m128 x)                            \
    {                                                                      \
        return _mm256_cvtpd_ps(function(_mm256_cvtps_pd(x)));              \
    }                                                                      \
    extern "C" __m256 _ZGVdN8v_##name(__m256 x)                            \
    {                                                                      \
        __m128 low = _ZGVbN4v_##name(_mm256_castps256_ps128(x)),           \
               high = _ZGVbN4v_##name(_mm256_extractf128_ps(x, 1));        \
        return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1); \
    }
FOUR_AND_EIGHT(expf, exp_of)
FOUR_AND_EIGHT(logf, log_of)
FOUR_AND_EIGHT(sinf, sine)
FOUR_AND_EIGHT(cosf, cosine)
FOUR_AND_EIGHT(tanhf, tanh_of)
FOUR_AND_EIGHT(coshf, cosh_of)
#endif
