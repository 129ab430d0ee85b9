/* Arithmetic and conversions with a rounding that is named: _rn to nearest, _rz to zero, _rd down and
 * _ru up. Included by cuda_runtime.h.
 *
 * The exact result is a double and a rest smaller than half its last place, so the nearest value and
 * the sign of what it lacks tell each directed one. */
#ifndef CUCC_DIRECTED_H
#define CUCC_DIRECTED_H

namespace cucc
{
enum rounding { to_nearest, to_zero, downwards, upwards };

template <class T> T largest();
template <> inline float largest<float>()
{
    return 3.402823466e38f;
}
template <> inline double largest<double>()
{
    return 1.7976931348623157e308;
}
inline float next(float from, float to)
{
    return nextafterf(from, to);
}
inline double next(double from, double to)
{
    return nextafter(from, to);
}

/* VALUE is the nearest; the exact result lies on the side of it that the sign of REST says. */
template <class T> T toward(T value, double rest, rounding how, bool exact_is_infinite = false)
{
    const T infinity = (T)INFINITY;
    if (isnan(value) || how == to_nearest || exact_is_infinite) return value;
    if (isinf(value)) { /* by rounding: the exact result is finite */
        bool stays = how == upwards ? value > 0 : how == downwards ? value < 0 : false;
        return stays ? value : copysign(largest<T>(), value);
    }
    if (how == to_zero) how = value > 0 || (value == 0 && rest > 0) ? downwards : upwards;
    if (how == downwards && rest < 0) return next(value, -infinity);
    if (how == upwards && rest > 0) return next(value, infinity);
    return value;
}

/* A double and its rest as a float: what the nearest float lacks of both. */
inline float to_float(double value, double rest, rounding how)
{
    float nearest = (float)value;
    double lacking = isinf(nearest) ? 0 : value - (double)nearest;
    return toward(nearest, lacking != 0 ? lacking : rest, how, isinf(value));
}

/* The error of a sum (Knuth's two-sum), of a product, of a quotient and of a root, as to its sign. */
inline double sum_rest(double a, double b, double sum)
{
    double part = sum - a;
    double rest = (a - (sum - part)) + (b - part);
    return isnan(rest) ? 0 : rest;
}
inline double quotient_rest(double a, double b, double quotient)
{
    double rest = fma(-quotient, b, a);
    return isnan(rest) ? 0 : b < 0 ? -rest : rest;
}
inline double root_rest(double a, double root)
{
    double rest = fma(-root, root, a);
    return isnan(rest) ? 0 : rest;
}
inline double add(double a, double b, rounding how)
{
    double sum = a + b;
    return toward(sum, sum_rest(a, b, sum), how, isinf(a) || isinf(b));
}
inline double multiply(double a, double b, rounding how)
{
    double product = a * b;
    return toward(product, isfinite(product) ? fma(a, b, -product) : 0, how, isinf(a) || isinf(b));
}
inline double divide(double a, double b, rounding how)
{
    double quotient = a / b;
    return toward(quotient, quotient_rest(a, b, quotient), how, isinf(a) || b == 0);
}
inline double root(double a, rounding how)
{
    double result = sqrt(a);
    return toward(result, root_rest(a, result), how, isinf(a));
}
/* The rest of a double is left over in a type with 113 digits: on aarch64 that is long double. */
#ifdef __SIZEOF_FLOAT128__
using quadruple = __float128;
#else
using quadruple = long double;
static_assert(__LDBL_MANT_DIG__ == 113,
              "no type has the 113 digits that __fma_rd and its like need");
#endif
inline double multiply_add(double a, double b, double c, rounding how)
{
    double result = fma(a, b, c);
    if (how == to_nearest || !isfinite(result))
        return toward(result, 0, how, isinf(a) || isinf(b) || isinf(c));
    quadruple rest = (quadruple)a * b - result + c;
    return toward(result, rest > 0 ? 1.0 : rest < 0 ? -1.0 : 0.0, how);
}
inline float add(float a, float b, rounding how)
{
    double sum = (double)a + b;
    return to_float(sum, sum_rest(a, b, sum), how);
}
inline float multiply(float a, float b, rounding how)
{
    return to_float((double)a * b, 0, how);
}
inline float divide(float a, float b, rounding how)
{
    double quotient = (double)a / b;
    if (how == to_nearest) return a / b;
    return to_float(quotient, quotient_rest(a, b, quotient), how);
}
inline float root(float a, rounding how)
{
    double result = sqrt((double)a);
    if (how == to_nearest) return sqrtf(a);
    return to_float(result, root_rest(a, result), how);
}
inline float multiply_add(float a, float b, float c, rounding how)
{
    if (how == to_nearest) return fmaf(a, b, c);
    double product = (double)a * b, sum = product + c;
    return to_float(sum, sum_rest(product, c, sum), how);
}

/* Whole numbers: out of range saturates; NaN is 0, or the far end of 64 bits, as on a GPU. */
inline double rounded(double a, rounding how)
{
    return how == to_nearest ? rint(a)
           : how == to_zero  ? trunc(a)
           : how == upwards  ? ceil(a)
                             : floor(a);
}
template <class I> I whole_number(double a, rounding how)
{
    constexpr I least = (I)-1 < 0 ? (I)((I)1 << (8 * sizeof(I) - 1)) : 0, most = (I)~least;
    if (isnan(a)) return sizeof(I) < 8 ? 0 : (I)((uint64_t)1 << 63);
    a = rounded(a, how);
    if (a <= (double)least) return least;
    return a >= (double)most ? most : (I)a;
}
template <class I> double double_of(I a, rounding how)
{
    double nearest = (double)a;
    __int128 rest = (__int128)a - (__int128)nearest;
    return toward(nearest, (double)rest, how);
}
template <class I> float float_of(I a, rounding how)
{
    float nearest = (float)a;
    __int128 rest = (__int128)a - (__int128)nearest;
    return toward(nearest, (double)rest, how);
}
} // namespace cucc

/* clang-format off */
#define CUCC_ROUNDED(how, mode)                                                                       \
    inline float __fadd##how(float a, float b) { return cucc::add(a, b, cucc::mode); }                \
    inline float __fsub##how(float a, float b) { return cucc::add(a, -b, cucc::mode); }               \
    inline float __fmul##how(float a, float b) { return cucc::multiply(a, b, cucc::mode); }           \
    inline float __fdiv##how(float a, float b) { return cucc::divide(a, b, cucc::mode); }             \
    inline float __frcp##how(float a) { return cucc::divide(1.0f, a, cucc::mode); }                   \
    inline float __fsqrt##how(float a) { return cucc::root(a, cucc::mode); }                          \
    inline float __fmaf##how(float a, float b, float c) { return cucc::multiply_add(a, b, c, cucc::mode); } \
    inline double __dadd##how(double a, double b) { return cucc::add(a, b, cucc::mode); }             \
    inline double __dsub##how(double a, double b) { return cucc::add(a, -b, cucc::mode); }            \
    inline double __dmul##how(double a, double b) { return cucc::multiply(a, b, cucc::mode); }        \
    inline double __ddiv##how(double a, double b) { return cucc::divide(a, b, cucc::mode); }          \
    inline double __drcp##how(double a) { return cucc::divide(1.0, a, cucc::mode); }                  \
    inline double __dsqrt##how(double a) { return cucc::root(a, cucc::mode); }                        \
    inline double __fma##how(double a, double b, double c) { return cucc::multiply_add(a, b, c, cucc::mode); } \
    inline float __double2float##how(double a) { return cucc::to_float(a, 0, cucc::mode); }           \
    inline float __int2float##how(int a) { return cucc::float_of(a, cucc::mode); }                    \
    inline float __uint2float##how(unsigned int a) { return cucc::float_of(a, cucc::mode); }          \
    inline float __ll2float##how(long long a) { return cucc::float_of(a, cucc::mode); }               \
    inline float __ull2float##how(unsigned long long a) { return cucc::float_of(a, cucc::mode); }     \
    inline double __ll2double##how(long long a) { return cucc::double_of(a, cucc::mode); }            \
    inline double __ull2double##how(unsigned long long a) { return cucc::double_of(a, cucc::mode); }  \
    inline int __float2int##how(float a) { return cucc::whole_number<int>(a, cucc::mode); }           \
    inline unsigned int __float2uint##how(float a) { return cucc::whole_number<unsigned int>(a, cucc::mode); } \
    inline long long __float2ll##how(float a) { return cucc::whole_number<long long>(a, cucc::mode); } \
    inline unsigned long long __float2ull##how(float a) { return cucc::whole_number<unsigned long long>(a, cucc::mode); } \
    inline int __double2int##how(double a) { return cucc::whole_number<int>(a, cucc::mode); }         \
    inline unsigned int __double2uint##how(double a) { return cucc::whole_number<unsigned int>(a, cucc::mode); } \
    inline long long __double2ll##how(double a) { return cucc::whole_number<long long>(a, cucc::mode); } \
    inline unsigned long long __double2ull##how(double a) { return cucc::whole_number<unsigned long long>(a, cucc::mode); }
CUCC_ROUNDED(_rz, to_zero)
CUCC_ROUNDED(_rd, downwards)
CUCC_ROUNDED(_ru, upwards)

/* To nearest is what the operators do, since user code is compiled with -ffp-contract=off. */
#define CUCC_NEAREST(T, f, d, one)                                                     \
    inline T __##f##add_rn(T a, T b) { return a + b; }                                  \
    inline T __##f##sub_rn(T a, T b) { return a - b; }                                  \
    inline T __##f##mul_rn(T a, T b) { return a * b; }                                  \
    inline T __##f##div_rn(T a, T b) { return a / b; }                                  \
    inline T __##f##rcp_rn(T a) { return one / a; }                                     \
    inline int __##d##2int_rn(T a) { return cucc::whole_number<int>(a, cucc::to_nearest); } \
    inline unsigned int __##d##2uint_rn(T a) { return cucc::whole_number<unsigned int>(a, cucc::to_nearest); } \
    inline long long __##d##2ll_rn(T a) { return cucc::whole_number<long long>(a, cucc::to_nearest); } \
    inline unsigned long long __##d##2ull_rn(T a) { return cucc::whole_number<unsigned long long>(a, cucc::to_nearest); } \
    inline T __int2##d##_rn(int a) { return (T)a; }                                     \
    inline T __uint2##d##_rn(unsigned int a) { return (T)a; }                           \
    inline T __ll2##d##_rn(long long a) { return (T)a; }                                \
    inline T __ull2##d##_rn(unsigned long long a) { return (T)a; }
CUCC_NEAREST(float, f, float, 1.0f)
CUCC_NEAREST(double, d, double, 1.0)
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __double2float_rn(double a) { return (float)a; }
inline float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
#undef CUCC_ROUNDED
#undef CUCC_NEAREST
/* clang-format on */

#endif
