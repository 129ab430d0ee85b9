/* Intrinsic functions of kernels but those that name a rounding (cucc_directed.h). Included by
 * cuda_runtime.h. */
#ifndef CUCC_INTRINSICS_H
#define CUCC_INTRINSICS_H

long long clock64();

/* clang-format off */

/* ---- loads and stores with a cache hint, which means nothing here ---------------------------- */

#define CUCC_LOAD(name) template <class T> T name(const T *address) { return *address; }
#define CUCC_STORE(name) template <class T, class V> void name(T *address, V value) { *address = value; }
CUCC_LOAD(__ldg)
CUCC_LOAD(__ldca)
CUCC_LOAD(__ldcg)
CUCC_LOAD(__ldcs)
CUCC_LOAD(__ldcv)
CUCC_LOAD(__ldlu)
CUCC_STORE(__stcg)
CUCC_STORE(__stcs)
CUCC_STORE(__stwb)
CUCC_STORE(__stwt)
#undef CUCC_LOAD
#undef CUCC_STORE

namespace cucc
{
void spin();

/* ld and st of PTX (ptx.h). A register holds the bits of a type as wide, and a narrower one extended.
 * Any ORDER but the first says that it meets those of other threads, for which loops wait. */
enum { alone = -1, relaxed = __ATOMIC_RELAXED, acquires = __ATOMIC_ACQUIRE, releases = __ATOMIC_RELEASE };
template <class type, class V> void special_set(V &to, type value)
{
    static_assert(sizeof(V) >= sizeof(type), "a register that is too narrow");
    if constexpr (sizeof(V) == sizeof(type))
        __builtin_memcpy((void *)&to, (const void *)&value, sizeof(type));
    else
        to = (V)value;
}
template <class type, int order, class... V> void special_ld(const char *from, V &...to)
{
    const type *at = (const type *)from;
    if constexpr (order != alone) spin();
    auto one = [&] {
        type value;
        if constexpr (order != alone)
            __atomic_load(at, &value, order);
        else
            value = *at;
        at++;
        return value;
    };
    (special_set<type>(to, one()), ...);
}
template <class type, int order, class... V> void special_st(char *to, const V &...values)
{
    type *at = (type *)to;
    auto one = [&](const auto &from) {
        static_assert(sizeof from >= sizeof(type), "a register that is too narrow");
        type value;
        if constexpr (sizeof from == sizeof(type))
            __builtin_memcpy(&value, (const void *)&from, sizeof(type));
        else
            value = (type)from;
        if constexpr (order != alone)
            __atomic_store(at, &value, order);
        else
            *at = value;
        at++;
    };
    (one(values), ...);
}
} // namespace cucc
inline size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
inline size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
inline void *__cvta_global_to_generic(size_t p) { return (void *)p; }
inline void *__cvta_shared_to_generic(size_t p) { return (void *)p; }
namespace cucc
{
bool inside_shared_memory(const void *address);
bool inside_global_memory(const void *address);
} // namespace cucc
inline unsigned int __isShared(const void *p) { return cucc::inside_shared_memory(p); }
inline unsigned int __isGlobal(const void *p) { return cucc::inside_global_memory(p); }

/* ---- bits ------------------------------------------------------------------------------------ */

namespace cucc
{
template <class To, class From> To same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits need the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace cucc
inline int __float_as_int(float a) { return cucc::same_bits<int>(a); }
inline unsigned int __float_as_uint(float a) { return cucc::same_bits<unsigned int>(a); }
inline float __int_as_float(int a) { return cucc::same_bits<float>(a); }
inline float __uint_as_float(unsigned int a) { return cucc::same_bits<float>(a); }
inline long long __double_as_longlong(double a) { return cucc::same_bits<long long>(a); }
inline double __longlong_as_double(long long a) { return cucc::same_bits<double>(a); }
inline int __double2hiint(double a) { return (int)(__double_as_longlong(a) >> 32); }
inline int __double2loint(double a) { return (int)__double_as_longlong(a); }
inline double __hiloint2double(int high, int low) { return __longlong_as_double((long long)((uint64_t)(unsigned int)high << 32 | (unsigned int)low)); }
inline int __popc(unsigned int a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline int __clz(int a) { return a ? __builtin_clz((unsigned int)a) : 32; }
inline int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
inline unsigned int __brev(unsigned int a)
{
    unsigned int result = 0;
    for (int i = 0; i < 32; i++) result |= (a >> i & 1) << (31 - i);
    return result;
}
inline unsigned long long __brevll(unsigned long long a)
{
    return (unsigned long long)__brev((unsigned int)a) << 32 | __brev((unsigned int)(a >> 32));
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) { return (unsigned int)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32); }
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) { return (unsigned int)(((uint64_t)high << 32 | low) >> (shift & 31)); }
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) { return shift >= 32 ? low : __funnelshift_l(low, high, shift); }
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) { return shift >= 32 ? high : __funnelshift_r(low, high, shift); }
/* Each of the four nibbles of SELECTOR picks one of the eight bytes of HIGH:LOW. */
inline unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector)
{
    uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned int result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned int nibble = selector >> 4 * i & 15;
        unsigned int byte = (unsigned int)(bytes >> 8 * (nibble & 7)) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* ---- whole numbers --------------------------------------------------------------------------- */

inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned int __uhadd(unsigned int a, unsigned int b) { return (unsigned int)(((uint64_t)a + b) >> 1); }
inline unsigned int __urhadd(unsigned int a, unsigned int b) { return (unsigned int)(((uint64_t)a + b + 1) >> 1); }
inline int __mul24(int a, int b) { return (int)((unsigned int)((int)((unsigned int)a << 8) >> 8) * (unsigned int)((int)((unsigned int)b << 8) >> 8)); }
inline unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)((uint64_t)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline unsigned int __sad(int a, int b, unsigned int c) { return c + (a > b ? (unsigned int)a - (unsigned int)b : (unsigned int)b - (unsigned int)a); }
inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a > b ? a - b : b - a); }
namespace cucc
{
template <class T> T least(T a, T b) { return b < a ? b : a; }
template <class T> T most(T a, T b) { return a < b ? b : a; }
template <class A, class B, class C> C dot_of_bytes(unsigned int a, unsigned int b, C c)
{
    for (int i = 0; i < 32; i += 8) c += (C)((int)(A)(a >> i) * (int)(B)(b >> i));
    return c;
}
} // namespace cucc
inline int __dp4a(int a, int b, int c) { return cucc::dot_of_bytes<signed char, signed char>((unsigned int)a, (unsigned int)b, c); }
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return cucc::dot_of_bytes<unsigned char, unsigned char>(a, b, c); }

/* Vectors of four bytes stand for the words that they fill. */
inline int __dp4a(char4 a, char4 b, int c)
{
    return c + (signed char)a.x * (signed char)b.x + (signed char)a.y * (signed char)b.y + (signed char)a.z * (signed char)b.z + (signed char)a.w * (signed char)b.w;
}
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

/* Two halves of the first word by two bytes of the second, the lower or the upper ones. */
#define CUCC_DP2A(name, at)                                                                   \
    inline int name(int a, int b, int c) { return c + (short)a * (signed char)(b >> at) + (a >> 16) * (signed char)(b >> (at + 8)); } \
    inline unsigned int name(unsigned int a, unsigned int b, unsigned int c) { return c + (a & 0xffff) * (b >> at & 0xff) + (a >> 16) * (b >> (at + 8) & 0xff); }
CUCC_DP2A(__dp2a_lo, 0)
CUCC_DP2A(__dp2a_hi, 16)
#undef CUCC_DP2A
inline int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * (signed char)b.x + a.y * (signed char)b.y; }
inline int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * (signed char)b.z + a.y * (signed char)b.w; }
inline unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) { return c + (unsigned int)a.x * b.x + (unsigned int)a.y * b.y; }
inline unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) { return c + (unsigned int)a.x * b.z + (unsigned int)a.y * b.w; }

/* The place of the OFFSET-th bit that is set, from bit BASE upwards, or downwards if it is negative; ~0 if
 * there are fewer. An offset of 0 asks for bit BASE itself. */
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset)
{
    int step = offset < 0 ? -1 : 1, left = offset == 0 ? 1 : abs(offset);
    for (int i = (int)base; i >= 0 && i < 32; i += step) {
        if (mask >> i & 1 && --left == 0) return (unsigned int)i;
        if (offset == 0) break;
    }
    return ~0u;
}

/* The least and the greatest of three, and of a sum and another. */
#define CUCC_OF_THREE(name, T, operation, which)                                                        \
    inline T __vi##operation##3_##name(T a, T b, T c) { return cucc::which(cucc::which(a, b), c); }  \
    inline T __viadd##operation##_##name(T a, T b, T c) { return cucc::which((T)((unsigned int)a + (unsigned int)b), c); }
CUCC_OF_THREE(s32, int, max, most)
CUCC_OF_THREE(s32, int, min, least)
CUCC_OF_THREE(u32, unsigned int, max, most)
CUCC_OF_THREE(u32, unsigned int, min, least)
#undef CUCC_OF_THREE

/* Each byte or each half of a word by itself. */
#define CUCC_LANES(name, bits, T, U, expression)                                \
    inline unsigned int name(unsigned int left, unsigned int right)             \
    {                                                                           \
        const unsigned int ones = bits == 8 ? 0xff : 0xffff;                    \
        unsigned int result = 0;                                                \
        for (int i = 0; i < 32; i += bits) {                                    \
            int a = (T)(left >> i), b = (T)(right >> i);                        \
            result |= ((unsigned int)(expression) & ones) << i;                 \
        }                                                                       \
        return result;                                                          \
    }
/* The sum of the absolute differences of all. */
#define CUCC_SUM(name, bits, T)                                                 \
    inline unsigned int name(unsigned int left, unsigned int right)             \
    {                                                                           \
        unsigned int sum = 0;                                                   \
        for (int i = 0; i < 32; i += bits) sum += (unsigned int)abs((T)(left >> i) - (T)(right >> i)); \
        return sum;                                                             \
    }
#define CUCC_LANES_OF(n, bits, S, U)                                            \
    CUCC_LANES(__vadd##n, bits, U, U, a + b)                                    \
    CUCC_LANES(__vsub##n, bits, U, U, a - b)                                    \
    CUCC_LANES(__vabsdiffu##n, bits, U, U, a > b ? a - b : b - a)               \
    CUCC_LANES(__vabsdiffs##n, bits, S, U, a > b ? a - b : b - a)               \
    CUCC_LANES(__vmaxu##n, bits, U, U, a > b ? a : b)                           \
    CUCC_LANES(__vminu##n, bits, U, U, a < b ? a : b)                           \
    CUCC_LANES(__vmaxs##n, bits, S, U, a > b ? a : b)                           \
    CUCC_LANES(__vmins##n, bits, S, U, a < b ? a : b)                           \
    CUCC_LANES(__vavgu##n, bits, U, U, (a + b + 1) >> 1)                        \
    CUCC_LANES(__vcmpeq##n, bits, U, U, a == b ? -1 : 0)                        \
    CUCC_LANES(__vcmpgtu##n, bits, U, U, a > b ? -1 : 0)                        \
    CUCC_LANES(__vcmpltu##n, bits, U, U, a < b ? -1 : 0)                        \
    CUCC_LANES(__vcmpne##n, bits, U, U, a != b ? -1 : 0)                        \
    CUCC_LANES(__vcmpgeu##n, bits, U, U, a >= b ? -1 : 0)                       \
    CUCC_LANES(__vcmpleu##n, bits, U, U, a <= b ? -1 : 0)                       \
    CUCC_LANES(__vcmpgts##n, bits, S, U, a > b ? -1 : 0)                        \
    CUCC_LANES(__vcmplts##n, bits, S, U, a < b ? -1 : 0)                        \
    CUCC_LANES(__vcmpges##n, bits, S, U, a >= b ? -1 : 0)                       \
    CUCC_LANES(__vcmples##n, bits, S, U, a <= b ? -1 : 0)                       \
    CUCC_LANES(__vhaddu##n, bits, U, U, (a + b) >> 1)                           \
    CUCC_LANES(__vaddus##n, bits, U, U, cucc::least(a + b, (int)ones))                  \
    CUCC_LANES(__vsubus##n, bits, U, U, cucc::most(a - b, 0))                   \
    CUCC_LANES(__vaddss##n, bits, S, U, cucc::least(cucc::most(a + b, -(int)(ones / 2) - 1), (int)(ones / 2))) \
    CUCC_LANES(__vsubss##n, bits, S, U, cucc::least(cucc::most(a - b, -(int)(ones / 2) - 1), (int)(ones / 2))) \
    CUCC_SUM(__vsadu##n, bits, U)                                               \
    CUCC_SUM(__vsads##n, bits, S)
CUCC_LANES_OF(4, 8, signed char, unsigned char)
CUCC_LANES_OF(2, 16, short, unsigned short)
#undef CUCC_LANES_OF
#undef CUCC_LANES
#undef CUCC_SUM

/* ---- functions ------------------------------------------------------------------------------- */

/* Fast functions of a GPU, here as exact as the others. glibc declares some for itself, noexcept, and
 * does not export them. */
inline float __expf(float a) noexcept { return expf(a); }
inline float __exp10f(float a) noexcept { return exp10f(a); }
inline float __logf(float a) noexcept { return logf(a); }
inline float __log2f(float a) noexcept { return log2f(a); }
inline float __log10f(float a) noexcept { return log10f(a); }
inline float __powf(float a, float b) noexcept { return powf(a, b); }
inline float __sinf(float a) noexcept { return sinf(a); }
inline float __cosf(float a) noexcept { return cosf(a); }
inline float __tanf(float a) noexcept { return tanf(a); }
inline float __tanhf(float a) noexcept { return tanhf(a); }
inline void __sincosf(float a, float *sine, float *cosine) noexcept { *sine = sinf(a), *cosine = cosf(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline double fdivide(double a, double b) { return a / b; }
inline float __saturatef(float a) { return fminf(fmaxf(a, 0.0f), 1.0f); }

inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
inline float rsqrt(float a) { return rsqrtf(a); }
inline float rcbrtf(float a) { return 1.0f / cbrtf(a); }
inline double rcbrt(double a) { return 1.0 / cbrt(a); }
inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
inline float rhypotf(float a, float b) { return (float)rhypot(a, b); }
inline double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
inline double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
inline float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
inline float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline float rnorm4df(float a, float b, float c, float d) { return (float)rnorm4d(a, b, c, d); }
inline double norm(int n, const double *a)
{
    double length = 0;
    for (int i = 0; i < n; i++) length = hypot(length, a[i]);
    return length;
}
inline float normf(int n, const float *a)
{
    double length = 0;
    for (int i = 0; i < n; i++) length = hypot(length, (double)a[i]);
    return (float)length;
}
inline double rnorm(int n, const double *a) { return 1.0 / norm(n, a); }
inline float rnormf(int n, const float *a) { return 1.0f / normf(n, a); }
/* exp(a^2) erfc(a). The square is split, for its rounding error grows with it; a large argument takes the
 * asymptotic series, where erfc itself would be 0. */
inline double erfcx(double a)
{
    if (a < 12) {
        double square = a * a;
        return a < -26.7 ? (double)INFINITY : exp(square) * erfc(a) * (1 + fma(a, a, -square));
    }
    double t = 1 / (2 * a * a), term = 1, sum = 1;
    for (int i = 1; i < 16; i++) sum += term *= -(2 * i - 1) * t;
    return sum / (a * 1.77245385090551602730);
}
inline float erfcxf(float a) { return (float)erfcx(a); }
#ifdef __cpp_lib_math_special_functions
inline double cyl_bessel_i0(double a) { return ::std::cyl_bessel_i(0.0, fabs(a)); }
inline double cyl_bessel_i1(double a) { return copysign(::std::cyl_bessel_i(1.0, fabs(a)), a); }
inline float cyl_bessel_i0f(float a) { return (float)cyl_bessel_i0(a); }
inline float cyl_bessel_i1f(float a) { return (float)cyl_bessel_i1(a); }
#endif
inline double sinpi(double a) { double r = remainder(a, 2); return fabs(r) == 1 ? 0.0 : sin(r * 3.14159265358979323846); }
inline double cospi(double a) { double r = fabs(remainder(a, 2)); return r == 0.5 ? 0.0 : cos(r * 3.14159265358979323846); }
inline float sinpif(float a) { return (float)sinpi(a); }
inline float cospif(float a) { return (float)cospi(a); }
inline void sincospi(double a, double *sine, double *cosine) { *sine = sinpi(a), *cosine = cospi(a); }
inline void sincospif(float a, float *sine, float *cosine) { *sine = sinpif(a), *cosine = cospif(a); }
inline void sincos(float a, float *sine, float *cosine) { sincosf(a, sine, cosine); }
inline double normcdf(double a) { return 0.5 * erfc(-a * 0.70710678118654752440); }
inline float normcdff(float a) { return (float)normcdf(a); }
/* By Newton's method on erfc, from a start that is right to two digits. */
inline double erfcinv(double a)
{
    if (isnan(a) || a < 0 || a > 2) return NAN;
    if (a == 0 || a == 2) return a == 0 ? INFINITY : -INFINITY;
    double tail = a < 1 ? a : 2 - a, t = sqrt(-2 * log(tail / 2));
    double x = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
    for (int i = 0; i < 3; i++) {
        double error = erfc(x) - tail;
        x += error / (1.12837916709551257 * exp(-x * x) - x * error);
    }
    return a < 1 ? x : -x;
}
inline double erfinv(double a) { return fabs(a) < 0.5 ? -erfcinv(1 + a) : erfcinv(1 - a); }
inline double normcdfinv(double a) { return -1.41421356237309504880 * erfcinv(2 * a); }
inline float erfcinvf(float a) { return (float)erfcinv(a); }
inline float erfinvf(float a) { return (float)erfinv(a); }
inline float normcdfinvf(float a) { return (float)normcdfinv(a); }

/* ---- the lesser and the greater -------------------------------------------------------------- */

#define CUCC_MIN_MAX(A, B, T)                                    \
    inline T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; } \
    inline T max(A a, B b) { return (T)a > (T)b ? (T)a : (T)b; }
#define CUCC_MIN_MAX_OF(S, U)      \
    CUCC_MIN_MAX(S, S, S)          \
    CUCC_MIN_MAX(U, U, U)          \
    CUCC_MIN_MAX(S, U, U)          \
    CUCC_MIN_MAX(U, S, U)
CUCC_MIN_MAX_OF(int, unsigned int)
CUCC_MIN_MAX_OF(long, unsigned long)
CUCC_MIN_MAX_OF(long long, unsigned long long)
#undef CUCC_MIN_MAX_OF
#undef CUCC_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin((double)a, b); }
inline double max(float a, double b) { return fmax((double)a, b); }
inline double min(double a, float b) { return fmin(a, (double)b); }
inline double max(double a, float b) { return fmax(a, (double)b); }
inline unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
inline unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
/* clang-format on */

#endif
