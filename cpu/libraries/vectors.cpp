/* expf, logf, sinf, cosf, tanhf and coshf of four or eight numbers at once, for loops over the threads of a block: the
 * names are those by which the compiler calls them in vectorised loops (the x86 vector function ABI). logf, sinf and
 * cosf are computed in double, so that they are right to 0.51 units in the last place, as the C library's one at a
 * time; the others in float, right to 0.9 (expf) and 1.4 units (tanhf, coshf). All are within CUDA's bounds. */
#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#include <math.h>
#pragma GCC target("avx2,fma")

typedef __m256d four;
typedef __m256 eight;

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

/* ---- in float -------------------------------------------------------------------------------- */

eight all_eight(float x)
{
    return _mm256_set1_ps(x);
}

/* c[0] + c[1] x + c[2] x^2 ... */
template <int count> eight polynomial(const float (&c)[count], eight x)
{
    eight sum = all_eight(c[count - 1]);
    for (int i = count - 2; i >= 0; i--) sum = _mm256_fmadd_ps(sum, x, all_eight(c[i]));
    return sum;
}

/* e^x = 2^n e^r, with |r| <= ln(2) / 2: returns e^r. X is between -150 and 150, or NaN. */
eight exp_of_rest(eight x, __m256i &n)
{
    static const float c[] = {1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
    const eight one = all_eight(1), to_whole = all_eight(0x1.8p23f);
    eight whole = _mm256_sub_ps(_mm256_fmadd_ps(x, all_eight(0x1.715476p0f), to_whole), to_whole);
    eight r = _mm256_fmadd_ps(whole, all_eight(-0x1.62e4p-1f), x);
    r = _mm256_fmadd_ps(whole, all_eight(-0x1.7f7d1cp-20f), r);
    n = _mm256_cvtps_epi32(whole); /* of NaN the lowest number, whose last bits are 0 */
    eight sum = _mm256_add_ps(one, r);
    eight lost = _mm256_sub_ps(r, _mm256_sub_ps(sum, one)); /* of r in this sum */
    return _mm256_add_ps(sum, _mm256_fmadd_ps(_mm256_mul_ps(r, r), polynomial(c, r), lost));
}

/* x 2^n, which is a normal number, or NaN for NaN. */
eight times_power(eight x, __m256i n)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(n, 23)));
}

eight within(float low, float high, eight x) /* NaN stays NaN */
{
    return _mm256_min_ps(all_eight(high), _mm256_max_ps(all_eight(low), x));
}

/* In two steps, as 2^n alone may be no float. */
eight exp_of(eight x)
{
    __m256i n;
    eight rest = exp_of_rest(within(-110, 100, x), n);
    __m256i half = _mm256_srai_epi32(n, 1), other = _mm256_sub_epi32(n, half);
    return _mm256_mul_ps(times_power(rest, half), times_power(all_eight(1), other));
}

/* 1 - 2 / (e^2x + 1); around 0, where that loses digits, a polynomial. */
eight tanh_of(eight x)
{
    static const float c[] = {-0x1.555556p-2f, 0x1.1110eap-3f,  -0x1.ba0914p-5f,
                              0x1.64addep-6f,  -0x1.1183b6p-7f, 0x1.2cec42p-9f};
    const eight sign = all_eight(-0.0f);
    eight size = _mm256_andnot_ps(sign, x), x2 = _mm256_mul_ps(x, x);
    __m256i n;
    eight rest = exp_of_rest(_mm256_min_ps(all_eight(20), _mm256_add_ps(size, size)), n);
    eight power = times_power(rest, n);
    eight large = _mm256_sub_ps(all_eight(1),
                                _mm256_div_ps(all_eight(2), _mm256_add_ps(power, all_eight(1))));
    large = _mm256_or_ps(large, _mm256_and_ps(sign, x));
    eight small = _mm256_fmadd_ps(_mm256_mul_ps(x, x2), polynomial(c, x2), x);
    return _mm256_blendv_ps(large, small, _mm256_cmp_ps(size, all_eight(0.625f), _CMP_LT_OQ));
}

/* e^x / 2 + e^-x / 2, the second of which is a quarter of what the first is divided by. */
eight cosh_of(eight x)
{
    const eight size = _mm256_andnot_ps(all_eight(-0.0f), x);
    __m256i n;
    eight rest = exp_of_rest(_mm256_min_ps(all_eight(0x1.65a9f8p6f), size), n);
    eight half = times_power(_mm256_mul_ps(rest, all_eight(0.5f)), n);
    eight sum = _mm256_add_ps(half, _mm256_div_ps(all_eight(0.25f), half));
    return _mm256_blendv_ps(sum, all_eight(INFINITY),
                            _mm256_cmp_ps(size, all_eight(0x1.65a9f8p6f), _CMP_GT_OQ));
}

/* ---- what takes doubles ------------------------------------------------------------------------ */

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
FOUR_AND_EIGHT(logf, log_of)
FOUR_AND_EIGHT(sinf, sine)
FOUR_AND_EIGHT(cosf, cosine)

#define EIGHT_AND_FOUR(name, function)                                      \
    extern "C" __m256 _ZGVdN8v_##name(__m256 x)                             \
    {                                                                       \
        return function(x);                                                 \
    }                                                                       \
    extern "C" __m128 _ZGVbN4v_##name(__m128 x)                             \
    {                                                                       \
        return _mm256_castps256_ps128(function(_mm256_zextps128_ps256(x))); \
    }
EIGHT_AND_FOUR(expf, exp_of)
EIGHT_AND_FOUR(tanhf, tanh_of)
EIGHT_AND_FOUR(coshf, cosh_of)
#endif
