/* cuda_fp16.h and cuda_bf16.h: every pattern and every middle between two, arithmetic against sums and
 * products in 113 bits, in kernels and in shared memory. A line for each failure. */
#include <cuda_bf16.h>
#include <math.h>
#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition) && failures++ < 20) printf("line %d: %s\n", __LINE__, #condition); \
    } while (0)

#ifdef __SIZEOF_FLOAT128__
typedef __float128 wide;
#else
typedef long double wide; /* of aarch64 */
#endif

/* What a pattern means, by the definition of the format. */
static double meaning(unsigned int bits, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    int fraction = (int)bits & ((1 << fraction_bits) - 1);
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static unsigned int random_bits(void)
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned int)(state >> 33);
}

static bool same(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

#define FORMAT         __half
#define RAW            __half_raw
#define BITS           10
#define NAME(name)     name##_half
#define WIDEN          __half2float
#define NARROW(how)    __float2half##how
#define NARROW_DOUBLE  __double2half
#define TO_INT(how)    __half2int##how
#define TO_LONG        __half2ll_rn
#define FROM_LONG(how) __ll2half##how
#include "float16_checks.h"
#define FORMAT         __nv_bfloat16
#define RAW            __nv_bfloat16_raw
#define BITS           7
#define NAME(name)     name##_bfloat16
#define WIDEN          __bfloat162float
#define NARROW(how)    __float2bfloat16##how
#define NARROW_DOUBLE  __double2bfloat16
#define TO_INT(how)    __bfloat162int##how
#define TO_LONG        __bfloat162ll_rn
#define FROM_LONG(how) __ll2bfloat16##how
#include "float16_checks.h"

static void check_pairs(void)
{
    __half2 a = __floats2half2_rn(1, 2), b = __half2half2(__float2half(3)), c = a + b;
    CHECK(__low2float(c) == 4 && __high2float(c) == 5 && sizeof a == 4);
    float2 both = __half22float2(__hfma2(a, b, __float22half2_rn(make_float2(10, 20))));
    CHECK(both.x == 13 && both.y == 26);
    CHECK(__hbeq2(__lowhigh2highlow(a), __halves2half2(__high2half(a), __low2half(a))));
    CHECK((float)__heq2(a, a).y == 1 && __hlt2_mask(a, __float2half2_rn(2)) == 0xffff);
    CHECK(a != b && a < b && a == +a && (float)(-a).x == -1 && (float)(a++).x == 1);
    __nv_bfloat162 d = __float22bfloat162_rn(make_float2(-1, 8)), e = __bfloat162bfloat162(d.y);
    CHECK((float)(d * e).x == -8 && (float)h2sqrt(e * __float2bfloat162_rn(2)).x == 4);
    CHECK((float)__hmax2(d, __hneg2(d)).x == 1 && __bfloat1622float2(__habs2(d)).x == 1);
    CHECK((float)__half(d.y) == 8 && (float)__nv_bfloat16(a.x) == 2);
    CHECK(__hadd(7, 4) == 5 && __rhadd(-7, 4) == -1);
}

int main(void)
{
    check_half();
    check_bfloat16();
    check_pairs();
    printf("%d failures\n", failures);
    return failures > 0;
}
