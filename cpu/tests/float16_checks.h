/* The checks of float16.cu for one type. */

/* Sums of a block in shared memory, in the type itself, and one atomic sum. */
static __global__ void NAME(sums)(const FORMAT *in, FORMAT *out, FORMAT *total)
{
    __shared__ FORMAT part[64];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int n = 32; n > 0; n /= 2) {
        if (t < n) part[t] += part[t + n];
        __syncthreads();
    }
    if (t < 32) out[t] = __shfl_xor_sync(0xffffffffu, part[0] - in[t], 1);
    atomicAdd(total, in[t]);
}

static FORMAT NAME(pattern)(unsigned int bits)
{
    RAW raw;
    raw.x = (unsigned short)bits;
    return raw;
}

static double NAME(value)(FORMAT a)
{
    return meaning(((RAW)a).x, BITS);
}

/* The nearest of the type, ties to even, found among its neighbours of the exact result. */
static bool NAME(nearest)(FORMAT got, wide exact)
{
    unsigned int bits = ((RAW)got).x, infinity = ((1u << (15 - BITS)) - 1) << BITS;
    if (exact != exact) return bits == 0x7fff;
    bool negative = exact < 0;
    wide magnitude = negative ? -exact : exact;
    if (magnitude > 0 && negative != (bits >> 15 == 1)) return false;
    bits &= 0x7fff;
    if (bits > infinity) return false;
    /* infinity stands where the next number would be */
    wide step = (wide)meaning(infinity - 1, BITS) - (wide)meaning(infinity - 2, BITS);
    wide top = (wide)meaning(infinity - 1, BITS) + step;
    wide here = bits == infinity ? top : (wide)meaning(bits, BITS);
    wide off = magnitude > here ? magnitude - here : here - magnitude;
    if (magnitude >= top) return bits == infinity;
    if (bits < infinity) {
        wide above = bits + 1 == infinity ? top : (wide)meaning(bits + 1, BITS);
        wide other = above > magnitude ? above - magnitude : magnitude - above;
        if (other < off || (other == off && bits & 1)) return false;
    }
    if (bits == 0) return true;
    wide below = (wide)meaning(bits - 1, BITS);
    wide other = magnitude > below ? magnitude - below : below - magnitude;
    return !(other < off || (other == off && bits & 1));
}

static void NAME(check)(void)
{
    const unsigned int infinity = ((1u << (15 - BITS)) - 1) << BITS;
    for (unsigned int bits = 0; bits < 65536; bits++) {
        FORMAT a = NAME(pattern)(bits);
        double exact = meaning(bits, BITS);
        CHECK(same(WIDEN(a), exact) && same((float)a, exact));
        CHECK(((RAW)NARROW(_rn)(WIDEN(a))).x == (exact != exact ? 0x7fff : bits));
        CHECK(((RAW)NARROW_DOUBLE(exact)).x == (exact != exact ? 0x7fff : bits));
        CHECK((bool)a == (exact != 0) && __hisnan(a) == (exact != exact));
        CHECK(((RAW)-a).x == (bits ^ 0x8000) && ((RAW)__habs(a)).x == (bits & 0x7fff));
        if ((bits & 0x7fff) >= infinity - 1) continue;
        /* the middle of this one and the next one away from zero, and just beside it */
        double next = meaning(bits + 1, BITS), middle = (exact + next) / 2;
        bool positive = bits < 0x8000;
        FORMAT b = NAME(pattern)(bits + 1), even = bits & 1 ? b : a;
        FORMAT lower = positive ? a : b, upper = positive ? b : a;
        CHECK(((RAW)NARROW_DOUBLE(middle)).x == ((RAW)even).x);
        CHECK(((RAW)NARROW_DOUBLE(nextafter(middle, exact))).x == bits);
        CHECK(((RAW)NARROW_DOUBLE(nextafter(middle, next))).x == bits + 1);
        if ((double)(float)middle != middle) continue;
        CHECK(((RAW)NARROW(_rn)((float)middle)).x == ((RAW)even).x);
        CHECK(((RAW)NARROW(_rz)((float)middle)).x == bits);
        CHECK(((RAW)NARROW(_rd)((float)middle)).x == ((RAW)lower).x);
        CHECK(((RAW)NARROW(_ru)((float)middle)).x == ((RAW)upper).x);
        CHECK((a < b) == positive && a != b && !(a == b) && (a <= b) == positive);
        CHECK(__hlt(lower, upper) && __hgtu(upper, lower) && !__hge(lower, upper));
        CHECK(((RAW)__hmax(a, b)).x == ((RAW)upper).x && ((RAW)__hmin(a, b)).x == ((RAW)lower).x);
        if (fabs(exact) < 1e9) {
            CHECK(TO_INT(_rz)(a) == (int)exact && (int)a == (int)exact);
            CHECK(TO_INT(_rn)(a) == (int)rint(exact) && TO_INT(_rd)(a) == (int)floor(exact));
        }
    }
    FORMAT nan = NAME(pattern)(0x7fff), one = 1, top = NAME(pattern)(infinity - 1);
    FORMAT beyond = NAME(pattern)(infinity), least = NAME(pattern)(1);
    CHECK(((RAW)(top + top)).x == infinity && ((RAW)NARROW(_rz)(3e38f * 2)).x == infinity);
    CHECK(((RAW)NARROW(_rz)(3.4028e38f)).x == infinity - 1);
    CHECK(((RAW)NARROW(_ru)(-3.4028e38f)).x == (0x8000 | (infinity - 1)));
    CHECK(((RAW)NARROW_DOUBLE(1e-300)).x == 0 && ((RAW)NARROW(_ru)(1e-45f)).x == 1);
    CHECK(nan != nan && !(nan == nan) && !(nan < one) && __hltu(nan, one) && !__hne(nan, one));
    CHECK((float)__hmax(nan, one) == 1 && __hisnan(__hmax_nan(one, nan)));
    CHECK(__hisinf(-beyond) == -1 && __hisinf(beyond) == 1 && !__hisinf(top));
    CHECK(TO_INT(_rn)(nan) == 0 && TO_LONG(beyond) == 0x7fffffffffffffff);
    CHECK(TO_LONG(nan) == -0x7fffffffffffffff - 1 && TO_LONG(-one) == -1);
    CHECK((float)__hadd_sat(one, one) == 1 && (float)__hfma_relu(one, -one, -one) == 0);
    CHECK((float)hsqrt(FORMAT(2.25f)) == 1.5f && (float)hrcp(FORMAT(-4)) == -0.25f);
    CHECK(same((float)hfloor(FORMAT(-1.5f)), -2) && same((float)hexp2(FORMAT(-3)), 0.125));
    /* just beside the middle of two numbers, by less than a double holds: 259 and 273 have 9 bits */
    FORMAT half_ulp = ldexp(1.0, -BITS - 1), odd = 1 + ldexp(1.0, -BITS), seven = 7;
    CHECK((float)__hfma(seven, 37, -least) == (BITS == 10 ? 259 : 258));
    CHECK((float)__hfma(seven, 39, least) == (BITS == 10 ? 273 : 274));
    CHECK((float)(seven * FORMAT(37)) == (BITS == 10 ? 259 : 260));
    CHECK(((RAW)__hfma(half_ulp, odd, one)).x == ((RAW)one).x + 1);
    CHECK(((RAW)FROM_LONG(_rn)((1LL << 60) + (1LL << (59 - BITS)) + 1)).x ==
          (BITS == 10 ? infinity : ((127 + 60) << 7) + 1));
    CHECK(((RAW)FROM_LONG(_rn)((1LL << 60) + (1LL << (59 - BITS)))).x ==
          (BITS == 10 ? infinity : (127 + 60) << 7));

    for (int n = 0; n < 300000; n++) { /* numbers near one another, so that 113 bits are enough */
        unsigned int mask = BITS == 10 ? 0xffff : 0x87ff, base = BITS == 10 ? 0 : 0x3c00;
        FORMAT x = NAME(pattern)((random_bits() & mask) + base);
        FORMAT y = NAME(pattern)((random_bits() & mask) + base);
        FORMAT z = NAME(pattern)((random_bits() & mask) + base);
        wide a = NAME(value)(x), b = NAME(value)(y), c = NAME(value)(z);
        CHECK(NAME(nearest)(x + y, a + b) && NAME(nearest)(x - y, a - b));
        CHECK(NAME(nearest)(x * y, a * b) && NAME(nearest)(__hfma(x, y, z), a * b + c));
        CHECK(NAME(nearest)(x / y, a / b));
    }
    for (int n = 0; n < 100000; n++) { /* results that are not normal */
        FORMAT x = NAME(pattern)(random_bits() % (8 << BITS)),
               y = NAME(pattern)(random_bits() % infinity);
        wide a = NAME(value)(x), b = NAME(value)(y);
        CHECK(NAME(nearest)(x * y, a * b) && NAME(nearest)(x - y, a - b));
        CHECK(NAME(nearest)(x / y, a / b));
    }

    FORMAT *in, *out;
    CHECK(!cudaMallocManaged(&in, 65 * sizeof *in) && !cudaMallocManaged(&out, 32 * sizeof *out));
    for (int n = 0; n < 64; n++) in[n] = n;
    in[64] = 0;
    NAME(sums)<<<1, 64>>>(in, out, in + 64);
    CHECK(!cudaDeviceSynchronize());
    /* small whole numbers: exact in a half, and what is lost in bfloat16 is lost in order */
    double sum[64];
    for (int n = 0; n < 64; n++) sum[n] = n;
    for (int n = 32; n > 0; n /= 2)
        for (int t = 0; t < n; t++) sum[t] = (float)FORMAT(sum[t] + sum[t + n]);
    for (int n = 0; n < 32; n++) CHECK((float)out[n] == (float)FORMAT(sum[0] - (n ^ 1)));
    CHECK((float)in[64] > 1900 && (float)in[64] < 2100 && (BITS != 10 || (float)in[64] == 2016));
    cudaFree(in);
    cudaFree(out);
}

#undef FORMAT
#undef RAW
#undef BITS
#undef NAME
#undef WIDEN
#undef NARROW
#undef NARROW_DOUBLE
#undef TO_INT
#undef TO_LONG
#undef FROM_LONG
