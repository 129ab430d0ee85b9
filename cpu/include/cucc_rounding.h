/* Conversions of the types of 16 bits in cuda_fp16.h and cuda_bf16.h: a sign, then the bits of an
 * exponent, then those of a fraction; rounded as IEEE 754 says. */
#ifndef CUCC_ROUNDING_H
#define CUCC_ROUNDING_H

#include "cuda_runtime.h"

namespace cucc
{
template <int fraction_bits> float widen(unsigned short bits)
{
    constexpr int exponent_bits = 15 - fraction_bits;
    if (exponent_bits == 8) return same_bits<float>((unsigned int)bits << 16); /* the upper half */
    constexpr unsigned int infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    unsigned int magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
    if (magnitude >= infinity) /* or NaN, which becomes a quiet one where its form changes */
        magnitude = 0x7f800000u | (magnitude - infinity) << (23 - fraction_bits) |
                    (magnitude > infinity ? 0x400000u : 0);
    else /* another bias, and numbers that are not normal any more */
        magnitude = same_bits<unsigned int>(
            same_bits<float>(magnitude << (23 - fraction_bits)) *
            same_bits<float>((254u - (1u << (exponent_bits - 1)) + 1) << 23));
    return same_bits<float>(sign | magnitude);
}

/* Rounds once, so what is rounded has to be exact or rounded to odd. NaN has one pattern. */
template <int fraction_bits> unsigned short narrow(double value, rounding how = to_nearest)
{
    constexpr int least_exponent = 2 - (1 << (14 - fraction_bits)); /* of normal numbers */
    constexpr unsigned int infinity = ((1u << (15 - fraction_bits)) - 1) << fraction_bits;
    uint64_t bits = same_bits<uint64_t>(value);
    unsigned int sign = (unsigned int)(bits >> 63) << 15;
    double magnitude = fabs(value);
    if (isnan(value)) return 0x7fff;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < least_exponent) exponent = least_exponent;
    if (how == downwards)
        how = sign ? upwards : to_zero;
    else if (how == upwards && sign)
        how = to_zero;
    unsigned int result = infinity;
    if (exponent < 1 << (14 - fraction_bits)) {
        /* in units of the last place; a carry out of the fraction belongs into the exponent */
        double units =
            magnitude * same_bits<double>((uint64_t)(1023 - exponent + fraction_bits) << 52);
        double whole = how == to_nearest ? rint(units)
                       : how == to_zero  ? floor(units)
                                         : ceil(units);
        result = ((unsigned int)(exponent - least_exponent) << fraction_bits) + (unsigned int)whole;
    }
    if (result >= infinity && how == to_zero && !isinf(value)) result = infinity - 1;
    return (unsigned short)(sign | (result > infinity ? infinity : result));
}

/* The same of a float to the nearest, in whole numbers and without branches, so that loops over it are
 * vectors. */
template <int fraction_bits> inline unsigned short narrow_float(float value)
{
    constexpr unsigned int dropped = 23 - fraction_bits, infinity = 0x7f800000u;
    unsigned int bits = same_bits<unsigned int>(value), sign = bits >> 16 & 0x8000u;
    unsigned int magnitude = bits & 0x7fffffffu, result;
    if (fraction_bits == 7) { /* the exponents are the same */
        result = (magnitude + 0x7fffu + (magnitude >> 16 & 1)) >> 16;
    } else {
        constexpr unsigned int bias = 112u << 23, least_normal = bias + (1u << 23);
        unsigned int units = magnitude - bias; /* below the least normal number, of 2^-24 */
        unsigned int normal =
            (units + (1u << (dropped - 1)) - 1 + (units >> dropped & 1)) >> dropped;
        float below = same_bits<float>(magnitude < least_normal ? magnitude : 0) + 0.5f;
        unsigned int small = same_bits<unsigned int>(below) - same_bits<unsigned int>(0.5f);
        result = magnitude < least_normal ? small : normal;
        result = magnitude >= 143u << 23 ? 0x7c00u : result;
    }
    return (unsigned short)(magnitude > infinity ? 0x7fffu : sign | result);
}
template <int fraction_bits> inline unsigned short narrow_float(float value, rounding how)
{
    return how == to_nearest ? narrow_float<fraction_bits>(value)
                             : narrow<fraction_bits>((double)value, how);
}

/* a * b + c, rounded to odd: what is rounded again comes out as if it had been rounded once. The
 * product is exact, and a sum and its error are two doubles (Knuth's two-sum). */
inline double fused(double a, double b, double c)
{
    double product = a * b, sum = product + c;
    double part = sum - product, error = (product - (sum - part)) + (c - part);
    bool odd = same_bits<uint64_t>(sum) & 1;
    if (odd || !(error > 0 || error < 0)) return sum;
    return nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

/* A whole number as a double, to odd: as many bits as a fraction of 7 or 10 could ever need. */
template <class T> double whole(T value)
{
    bool negative = value < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)value : (uint64_t)value;
    if (magnitude >> 53) magnitude = (magnitude >> 11 | ((magnitude & 2047) != 0)) << 11;
    return negative ? -(double)magnitude : (double)magnitude;
}

/* To a whole number: out of range saturates; NaN is 0, but of 64 bits the top bit alone. */
template <class T> T to_whole(float value, rounding how)
{
    constexpr bool has_sign = (T)-1 < (T)0;
    constexpr T top = (T)((uint64_t)1 << (8 * sizeof(T) - 1));
    constexpr T most = has_sign ? (T)~top : (T)-1, least = has_sign ? top : (T)0;
    if (isnan(value)) return sizeof(T) == 8 ? top : 0;
    double rounded = how == to_nearest  ? rint(value)
                     : how == to_zero   ? trunc(value)
                     : how == downwards ? floor(value)
                                        : ceil(value);
    double above = ldexp(1.0, (int)(8 * sizeof(T)) - has_sign); /* most + 1 */
    return rounded >= above ? most : rounded <= (has_sign ? -above : 0.0) ? least : (T)rounded;
}
} // namespace cucc

#endif
