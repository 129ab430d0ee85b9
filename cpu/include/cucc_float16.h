/* A type of 16 bits, its pair and their functions. cuda_fp16.h and cuda_bf16.h include this, each
 * with its own CUCC_TYPE, CUCC_WORD (in the names of functions), CUCC_FRACTION_BITS, CUCC_OTHER (the
 * other type) and what is wanted: CUCC_CONVERSIONS, CUCC_OPERATORS, CUCC_OPERATORS_2.
 *
 * Results are computed in double, from which they are rounded once. Sums, quotients and roots are
 * not exact there, but have more than twice the digits, so that they do not fall on a middle. */
#include "cucc_rounding.h"

#define CUCC_JOIN_(a, b, c, d) a##b##c##d
#define CUCC_JOIN(a, b, c, d)  CUCC_JOIN_(a, b, c, d)
#define CUCC_TO(from, how)     CUCC_JOIN(__, from##2, CUCC_WORD, how) /* __float2half_rn */
#define CUCC_FROM(to, how)     CUCC_JOIN(__, CUCC_WORD, 2##to, how)   /* __half2int_rz */
#define CUCC_RAW               CUCC_JOIN(CUCC_TYPE, _raw, , )
#define CUCC_PAIR              CUCC_JOIN(CUCC_TYPE, 2, , )
#define CUCC_RAW_PAIR          CUCC_JOIN(CUCC_TYPE, 2_raw, , )
#define CUCC_MAKE(value)       CUCC_TYPE(CUCC_RAW{cucc::narrow<CUCC_FRACTION_BITS>(value)})
#define CUCC_BITS(a)           ((CUCC_RAW)(a)).x
#define CUCC_VALUE(a)          cucc::widen<CUCC_FRACTION_BITS>(CUCC_BITS(a))

/* ---- the types ------------------------------------------------------------------------------- */

struct alignas(2) CUCC_RAW {
    unsigned short x;
};
struct alignas(4) CUCC_RAW_PAIR {
    unsigned short x, y;
};

/* With the conversions that nvcc's type has, implicit or not, what is ambiguous there is here. */
struct alignas(2) CUCC_TYPE {
    CUCC_TYPE() = default;
    constexpr CUCC_TYPE(const CUCC_RAW &raw) : __x(raw.x)
    {
    }
    operator CUCC_RAW() const
    {
        return {__x};
    }
    operator CUCC_RAW() const volatile
    {
        return {__x};
    }
#ifdef CUCC_CONVERSIONS
    explicit CUCC_TYPE(CUCC_OTHER a);
    constexpr operator bool() const
    {
        return (__x & 0x7fff) != 0;
    }
/* clang-format off */
#define CUCC_CONVERTED(T, value) \
    CUCC_TYPE(T a) : __x(cucc::narrow<CUCC_FRACTION_BITS>(value)) {}
#define CUCC_ASSIGNED(T, value)  \
    CUCC_CONVERTED(T, value)     \
    CUCC_TYPE &operator=(T a) { return *this = CUCC_TYPE(a); }
#define CUCC_WHOLE(T)                                                               \
    operator T() const                                                              \
    {                                                                               \
        return cucc::to_whole<T>(cucc::widen<CUCC_FRACTION_BITS>(__x), cucc::to_zero); \
    }
    CUCC_TYPE(float a) : __x(cucc::narrow_float<CUCC_FRACTION_BITS>(a)) {}
    CUCC_TYPE &operator=(float a) { return *this = CUCC_TYPE(a); }
    CUCC_ASSIGNED(double, a)
    CUCC_ASSIGNED(short, a)
    CUCC_ASSIGNED(unsigned short, a)
    CUCC_ASSIGNED(int, a)
    CUCC_ASSIGNED(unsigned int, a)
    CUCC_CONVERTED(long, cucc::whole(a))
    CUCC_CONVERTED(unsigned long, cucc::whole(a))
    CUCC_ASSIGNED(long long, cucc::whole(a))
    CUCC_ASSIGNED(unsigned long long, cucc::whole(a))
    operator float() const { return cucc::widen<CUCC_FRACTION_BITS>(__x); }
    CUCC_WHOLE(char)
    CUCC_WHOLE(signed char)
    CUCC_WHOLE(unsigned char)
    CUCC_WHOLE(short)
    CUCC_WHOLE(unsigned short)
    CUCC_WHOLE(int)
    CUCC_WHOLE(unsigned int)
    CUCC_WHOLE(long)
    CUCC_WHOLE(unsigned long)
    CUCC_WHOLE(long long)
    CUCC_WHOLE(unsigned long long)
/* clang-format on */
#undef CUCC_CONVERTED
#undef CUCC_ASSIGNED
#undef CUCC_WHOLE
#endif
  protected:
    unsigned short __x;
};

struct alignas(4) CUCC_PAIR {
    CUCC_TYPE x, y;
    CUCC_PAIR() = default;
    constexpr CUCC_PAIR(const CUCC_TYPE &x, const CUCC_TYPE &y) : x(x), y(y)
    {
    }
    CUCC_PAIR(const CUCC_RAW_PAIR &raw) : x(CUCC_RAW{raw.x}), y(CUCC_RAW{raw.y})
    {
    }
    operator CUCC_RAW_PAIR() const
    {
        return {CUCC_BITS(x), CUCC_BITS(y)};
    }
};

namespace cucc
{
template <> inline constexpr bool is_plain<CUCC_TYPE> = true;
template <> inline constexpr bool is_plain<CUCC_PAIR> = true;
} // namespace cucc

/* clang-format off */

/* ---- conversions ----------------------------------------------------------------------------- */

#define CUCC_ROUNDED(T, word, how, mode)                                                        \
    inline CUCC_TYPE CUCC_TO(word, how)(T a)                                                    \
    {                                                                                           \
        return CUCC_RAW{cucc::narrow<CUCC_FRACTION_BITS>(cucc::whole(a), cucc::mode)};          \
    }                                                                                           \
    inline T CUCC_FROM(word, how)(CUCC_TYPE a) { return cucc::to_whole<T>(CUCC_VALUE(a), cucc::mode); }
#define CUCC_WHOLE(T, word)                \
    CUCC_ROUNDED(T, word, _rn, to_nearest) \
    CUCC_ROUNDED(T, word, _rz, to_zero)    \
    CUCC_ROUNDED(T, word, _rd, downwards)  \
    CUCC_ROUNDED(T, word, _ru, upwards)
CUCC_WHOLE(short, short)
CUCC_WHOLE(unsigned short, ushort)
CUCC_WHOLE(int, int)
CUCC_WHOLE(unsigned int, uint)
CUCC_WHOLE(long long, ll)
CUCC_WHOLE(unsigned long long, ull)
#undef CUCC_WHOLE
#undef CUCC_ROUNDED
inline signed char CUCC_FROM(char, _rz)(CUCC_TYPE a) { return cucc::to_whole<signed char>(CUCC_VALUE(a), cucc::to_zero); }
inline unsigned char CUCC_FROM(uchar, _rz)(CUCC_TYPE a) { return cucc::to_whole<unsigned char>(CUCC_VALUE(a), cucc::to_zero); }

#define CUCC_ROUNDED(how, mode) \
    inline CUCC_TYPE CUCC_TO(float, how)(float a) { return CUCC_RAW{cucc::narrow_float<CUCC_FRACTION_BITS>(a, cucc::mode)}; }
CUCC_ROUNDED(, to_nearest)
CUCC_ROUNDED(_rn, to_nearest)
CUCC_ROUNDED(_rz, to_zero)
CUCC_ROUNDED(_rd, downwards)
CUCC_ROUNDED(_ru, upwards)
#undef CUCC_ROUNDED
inline CUCC_TYPE CUCC_TO(double, )(double a) { return CUCC_MAKE(a); }
inline float CUCC_FROM(float, )(CUCC_TYPE a) { return CUCC_VALUE(a); }
inline unsigned short CUCC_JOIN(__, CUCC_WORD, _as_ushort, )(CUCC_TYPE a) { return CUCC_BITS(a); }
inline short CUCC_JOIN(__, CUCC_WORD, _as_short, )(CUCC_TYPE a) { return (short)CUCC_BITS(a); }
inline CUCC_TYPE CUCC_JOIN(__ushort_as_, CUCC_WORD, , )(unsigned short a) { return CUCC_RAW{a}; }
inline CUCC_TYPE CUCC_JOIN(__short_as_, CUCC_WORD, , )(short a) { return CUCC_RAW{(unsigned short)a}; }

inline CUCC_PAIR CUCC_JOIN(__float2, CUCC_WORD, 2_rn, )(float a) { return {CUCC_MAKE(a), CUCC_MAKE(a)}; }
inline CUCC_PAIR CUCC_JOIN(__floats2, CUCC_WORD, 2_rn, )(float a, float b) { return {CUCC_MAKE(a), CUCC_MAKE(b)}; }
inline float2 CUCC_JOIN(__, CUCC_WORD, 22float2, )(CUCC_PAIR a) { return {CUCC_VALUE(a.x), CUCC_VALUE(a.y)}; }
inline float __low2float(CUCC_PAIR a) { return CUCC_VALUE(a.x); }
inline float __high2float(CUCC_PAIR a) { return CUCC_VALUE(a.y); }
inline CUCC_TYPE CUCC_JOIN(__low2, CUCC_WORD, , )(CUCC_PAIR a) { return a.x; }
inline CUCC_TYPE CUCC_JOIN(__high2, CUCC_WORD, , )(CUCC_PAIR a) { return a.y; }
inline CUCC_PAIR CUCC_JOIN(__, CUCC_WORD, 2, CUCC_JOIN(CUCC_WORD, 2, , ))(CUCC_TYPE a) { return {a, a}; }
inline CUCC_PAIR CUCC_JOIN(__halves2, CUCC_WORD, 2, )(CUCC_TYPE a, CUCC_TYPE b) { return {a, b}; }
inline CUCC_PAIR CUCC_JOIN(__low2, CUCC_WORD, 2, )(CUCC_PAIR a) { return {a.x, a.x}; }
inline CUCC_PAIR CUCC_JOIN(__high2, CUCC_WORD, 2, )(CUCC_PAIR a) { return {a.y, a.y}; }
inline CUCC_PAIR CUCC_JOIN(__lows2, CUCC_WORD, 2, )(CUCC_PAIR a, CUCC_PAIR b) { return {a.x, b.x}; }
inline CUCC_PAIR CUCC_JOIN(__highs2, CUCC_WORD, 2, )(CUCC_PAIR a, CUCC_PAIR b) { return {a.y, b.y}; }
inline CUCC_PAIR __lowhigh2highlow(CUCC_PAIR a) { return {a.y, a.x}; }

/* ---- arithmetic: each function for the type, and for the pair with a 2 in its name ------------ */

#define CUCC_ONE(name, pair_name, value)                                              \
    inline CUCC_TYPE name(CUCC_TYPE lane) { return value; }                           \
    inline CUCC_PAIR pair_name(CUCC_PAIR a) { return {name(a.x), name(a.y)}; }
#define CUCC_TWO(name, pair_name, value)                                              \
    inline CUCC_TYPE name(CUCC_TYPE left, CUCC_TYPE right)                            \
    {                                                                                 \
        double a = CUCC_VALUE(left), b = CUCC_VALUE(right);                           \
        return CUCC_MAKE(value);                                                      \
    }                                                                                 \
    inline CUCC_PAIR pair_name(CUCC_PAIR a, CUCC_PAIR b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define CUCC_THREE(name, pair_name, change)                                           \
    inline CUCC_TYPE name(CUCC_TYPE left, CUCC_TYPE right, CUCC_TYPE added)           \
    {                                                                                 \
        return CUCC_MAKE(change(cucc::fused(CUCC_VALUE(left), CUCC_VALUE(right), CUCC_VALUE(added)))); \
    }                                                                                 \
    inline CUCC_PAIR pair_name(CUCC_PAIR a, CUCC_PAIR b, CUCC_PAIR c)                 \
    {                                                                                 \
        return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                            \
    }
/* to [0, 1], NaN to 0; and negative numbers to 0, NaN as it is */
#define CUCC_SATURATED(value) fmin(fmax(value, 0.0), 1.0)
#define CUCC_RELU(value)      [](double v) { return v <= 0 ? 0.0 : v; }(value)
#define CUCC_SAME(value)      value
CUCC_TWO(__hadd, __hadd2, a + b)
CUCC_TWO(__hsub, __hsub2, a - b)
CUCC_TWO(__hmul, __hmul2, a *b)
CUCC_TWO(__hdiv, __h2div, a / b)
CUCC_TWO(__hadd_rn, __hadd2_rn, a + b)
CUCC_TWO(__hsub_rn, __hsub2_rn, a - b)
CUCC_TWO(__hmul_rn, __hmul2_rn, a *b)
CUCC_TWO(__hadd_sat, __hadd2_sat, CUCC_SATURATED(a + b))
CUCC_TWO(__hsub_sat, __hsub2_sat, CUCC_SATURATED(a - b))
CUCC_TWO(__hmul_sat, __hmul2_sat, CUCC_SATURATED(a *b))
/* of zeros, +0 is the larger one */
CUCC_TWO(__hmax, __hmax2, a == b ? (signbit(a) ? b : a) : fmax(a, b))
CUCC_TWO(__hmin, __hmin2, a == b ? (signbit(a) ? a : b) : fmin(a, b))
CUCC_TWO(__hmax_nan, __hmax2_nan, isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? b : a) : fmax(a, b))
CUCC_TWO(__hmin_nan, __hmin2_nan, isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? a : b) : fmin(a, b))
CUCC_THREE(__hfma, __hfma2, CUCC_SAME)
CUCC_THREE(__hfma_sat, __hfma2_sat, CUCC_SATURATED)
CUCC_THREE(__hfma_relu, __hfma2_relu, CUCC_RELU)
CUCC_ONE(__hneg, __hneg2, (CUCC_RAW{(unsigned short)(CUCC_BITS(lane) ^ 0x8000)}))
CUCC_ONE(__habs, __habs2, (CUCC_RAW{(unsigned short)(CUCC_BITS(lane) & 0x7fff)}))
#define CUCC_MATH(name, pair_name, function) \
    CUCC_ONE(name, pair_name, CUCC_MAKE(function((double)CUCC_VALUE(lane))))
CUCC_MATH(hceil, h2ceil, ceil)
CUCC_MATH(hfloor, h2floor, floor)
CUCC_MATH(htrunc, h2trunc, trunc)
CUCC_MATH(hrint, h2rint, rint)
CUCC_MATH(hsqrt, h2sqrt, sqrt)
CUCC_MATH(hrsqrt, h2rsqrt, 1 / sqrt)
CUCC_MATH(hrcp, h2rcp, 1 /)
CUCC_MATH(hlog, h2log, log)
CUCC_MATH(hlog2, h2log2, log2)
CUCC_MATH(hlog10, h2log10, log10)
CUCC_MATH(hexp, h2exp, exp)
CUCC_MATH(hexp2, h2exp2, exp2)
CUCC_MATH(hexp10, h2exp10, [](double a) { return pow(10, a); })
CUCC_MATH(hsin, h2sin, sin)
CUCC_MATH(hcos, h2cos, cos)
CUCC_MATH(htanh, h2tanh, tanh)
#undef CUCC_MATH
#undef CUCC_ONE
#undef CUCC_TWO
#undef CUCC_THREE
#undef CUCC_SATURATED
#undef CUCC_RELU
#undef CUCC_SAME

/* ---- comparisons: with NaN those without a u are false, those with it true -------------------- */

inline bool __hisnan(CUCC_TYPE a) { return isnan(CUCC_VALUE(a)); }
inline int __hisinf(CUCC_TYPE a) { return !isinf(CUCC_VALUE(a)) ? 0 : CUCC_VALUE(a) > 0 ? 1 : -1; }
inline CUCC_PAIR __hisnan2(CUCC_PAIR a) { return {CUCC_MAKE(__hisnan(a.x)), CUCC_MAKE(__hisnan(a.y))}; }
#define CUCC_COMPARE_AS(name, condition)                                                             \
    inline bool __h##name(CUCC_TYPE left, CUCC_TYPE right)                                           \
    {                                                                                                \
        float a = CUCC_VALUE(left), b = CUCC_VALUE(right);                                           \
        return condition;                                                                            \
    }                                                                                                \
    inline bool __hb##name##2(CUCC_PAIR a, CUCC_PAIR b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
    inline CUCC_PAIR __h##name##2(CUCC_PAIR a, CUCC_PAIR b)                                          \
    {                                                                                                \
        return {CUCC_MAKE(__h##name(a.x, b.x)), CUCC_MAKE(__h##name(a.y, b.y))};                     \
    }                                                                                                \
    inline unsigned int __h##name##2_mask(CUCC_PAIR a, CUCC_PAIR b)                                  \
    {                                                                                                \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);        \
    }
#define CUCC_COMPARE(name, sign)                        \
    CUCC_COMPARE_AS(name, !isunordered(a, b) && a sign b) \
    CUCC_COMPARE_AS(name##u, isunordered(a, b) || a sign b)
CUCC_COMPARE(eq, ==)
CUCC_COMPARE(ne, !=)
CUCC_COMPARE(lt, <)
CUCC_COMPARE(le, <=)
CUCC_COMPARE(gt, >)
CUCC_COMPARE(ge, >=)
#undef CUCC_COMPARE
#undef CUCC_COMPARE_AS

/* ---- operators and atomics -------------------------------------------------------------------- */

#define CUCC_ARITHMETIC(T, sign, function)                                   \
    inline T operator sign(const T &a, const T &b) { return function(a, b); } \
    inline T &operator sign##=(T &a, const T &b) { return a = function(a, b); }
#define CUCC_ALL_OPERATORS(T, add, sub, mul, div, neg, eq, neu, lt, le, gt, ge, one)    \
    CUCC_ARITHMETIC(T, +, add)                                                          \
    CUCC_ARITHMETIC(T, -, sub)                                                          \
    CUCC_ARITHMETIC(T, *, mul)                                                          \
    CUCC_ARITHMETIC(T, /, div)                                                          \
    inline T operator+(const T &a) { return a; }                                        \
    inline T operator-(const T &a) { return neg(a); }                                   \
    inline T &operator++(T &a) { return a = add(a, one); }                              \
    inline T &operator--(T &a) { return a = sub(a, one); }                              \
    inline T operator++(T &a, int) { T before = a; a = add(a, one); return before; }    \
    inline T operator--(T &a, int) { T before = a; a = sub(a, one); return before; }    \
    inline bool operator==(const T &a, const T &b) { return eq(a, b); }                 \
    inline bool operator!=(const T &a, const T &b) { return neu(a, b); }                \
    inline bool operator<(const T &a, const T &b) { return lt(a, b); }                  \
    inline bool operator<=(const T &a, const T &b) { return le(a, b); }                 \
    inline bool operator>(const T &a, const T &b) { return gt(a, b); }                  \
    inline bool operator>=(const T &a, const T &b) { return ge(a, b); }
#ifdef CUCC_OPERATORS
CUCC_ALL_OPERATORS(CUCC_TYPE, __hadd, __hsub, __hmul, __hdiv, __hneg, __heq, __hneu, __hlt, __hle, __hgt,
                   __hge, CUCC_MAKE(1.0))
#endif
#ifdef CUCC_OPERATORS_2
CUCC_ALL_OPERATORS(CUCC_PAIR, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, __hbeq2, __hbneu2, __hblt2,
                   __hble2, __hbgt2, __hbge2, (CUCC_PAIR{CUCC_MAKE(1.0), CUCC_MAKE(1.0)}))
#endif
#undef CUCC_ALL_OPERATORS
#undef CUCC_ARITHMETIC

inline CUCC_TYPE atomicAdd(CUCC_TYPE *address, CUCC_TYPE value)
{
    return cucc::atomic_update(address, [=](CUCC_TYPE old) { return __hadd(old, value); });
}
inline CUCC_PAIR atomicAdd(CUCC_PAIR *address, CUCC_PAIR value)
{
    return cucc::atomic_update(address, [=](CUCC_PAIR old) { return __hadd2(old, value); });
}
/* clang-format on */

#if defined(CUCC_CONVERSIONS) && CUCC_FRACTION_BITS == 7 /* the other type is complete */
inline CUCC_TYPE::CUCC_TYPE(CUCC_OTHER a) : CUCC_TYPE(__half2float(a))
{
}
#endif

#undef CUCC_JOIN_
#undef CUCC_JOIN
#undef CUCC_TO
#undef CUCC_FROM
#undef CUCC_RAW
#undef CUCC_PAIR
#undef CUCC_RAW_PAIR
#undef CUCC_MAKE
#undef CUCC_BITS
#undef CUCC_VALUE
#undef CUCC_TYPE
#undef CUCC_WORD
#undef CUCC_FRACTION_BITS
#undef CUCC_OTHER
#undef CUCC_CONVERSIONS
#undef CUCC_OPERATORS
#undef CUCC_OPERATORS_2
