/* Operands other than uniform ones, for bench/accuracy.cu and bench/gemm.cu. Included after
   tiledmm.cuh. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H
#include "check.h"

/* With a number p for A and one for B. z is normal, mean 0 and deviation 1. */
enum {
    UNIFORM,  /* in (-1, 1), times p */
    POSITIVE, /* uniform in (0, 1) */
    NORMAL,   /* z */
    PHI,      /* (u - 0.5) exp(p z), u uniform in (0, 1) */
    EQUAL,    /* a value to a row of A, one to a column of B */
    SLIVERS,  /* B is 1, A at every 64th k, else p */
    SPIKE,    /* uniform, 2^p once in each row of A, which meets zeros of B */
    GRADED,   /* uniform, rows of A and columns of B by 2^-30 to 2^30 */
    BY_K,     /* uniform, along k A by 2^-20 to 2^20 and B by 2^20 to 2^-20 */
    WIDE,     /* both signs, exponents uniform from -p to 0 */
    CANCEL,   /* uniform, A = (X, X) and B = (Y; -Y) */
    WHOLE     /* numbers whose sums are exact */
};

/* In (0, 1), never 0 and never 1. */
static __device__ double fraction(u64 bits)
{
    return ((double)(bits >> 12) + 0.5) / 4503599627370496.0;
}
static __device__ double normal(u64 bits)
{
    return sqrt(-2 * log(fraction(bits))) * cos(6.283185307179586 * fraction(mix(bits ^ 0x5bd1)));
}

/* Element k of row `line` of A, or of column `line` of B; `p` is of the form. */
static __device__ double element(tmm_type type, int form, double p, int of_B, long long line,
                                 long long k, long long K, u64 seed)
{
    u64 side = mix(seed + (u64)of_B), bits = mix(side + (u64)line * 0x100000001b3ull + (u64)k);
    u64 more = mix(bits ^ 0xa5a5);
    double x = 2 * fraction(bits) - 1;
    switch (form) {
    case POSITIVE: return fraction(bits);
    case NORMAL: return normal(bits);
    case PHI: return 0.5 * x * exp(p * normal(more));
    case EQUAL: return 0.5 + 0.5 * fraction(mix(side + (u64)line));
    case SLIVERS: return of_B || k % 64 == 0 ? 1 : p;
    case SPIKE:
        if (K <= 5) return x;
        if (of_B) return k % 16 == 5 ? 0 : x;
        return k == line % ((K + 10) / 16) * 16 + 5 ? ldexp(x, (int)p) : x;
    case GRADED: return ldexp(x, (int)(line * (of_B ? 11 : 7) % 61) - 30);
    case BY_K: {
        int power = K > 1 ? (int)(40 * k / (K - 1)) - 20 : 0;
        return ldexp(x, of_B ? -power : power);
    }
    case WIDE: return copysign(ldexp(1 + fabs(x), -(int)(more % (u64)(p + 1))), x);
    case CANCEL: {
        long long half = K / 2, twin = k < half ? k : k - half;
        if (twin >= half) return 0; /* the odd one */
        x = 2 * fraction(mix(side + (u64)line * 0x100000001b3ull + (u64)twin)) - 1;
        return of_B && k >= half ? -x : x;
    }
    case WHOLE: {
        /* (2^11 - 1) (2^13 - 1) < 2^24; (2^25 - 1) (2^28 - 1) < 2^53 */
        const double whole = (1 << (type == TMM_DOUBLE ? 25 : 11)) - 1;
        const long long all = (1 << (type == TMM_DOUBLE ? 28 : 13)) - 1;
        double most = of_B ? floor((double)all / (double)K) : whole;
        if (of_B && K > all) return k % (K / all + 1) == 0 ? (more % 2 ? 1 : -1) : 0;
        most = most > whole ? whole : most;
        return floor(x * (most + 0.5) + 0.5);
    }
    default: return x * p;
    }
}

/* Fills A, or B. A float is not rounded away from zero: 1 - 2^-53 would be 1. */
static __global__ void fill_form(tmm_type type, int form, double p, int of_B, matrix m,
                                 long long cells, long long K, u64 seed)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x; c < cells; c += step) {
        if (!inside(&m, c)) continue;
        long long row = (c - m.first) / m.ld, col = (c - m.first) % m.ld;
        double x = element(type, form, p, of_B, of_B ? col : row, of_B ? row : col, K, seed);
        float y = (float)x;
        if (fabs((double)y) > fabs(x)) y = nextafterf(y, 0);
        if (type == TMM_DOUBLE)
            ((double *)m.start)[c] = x;
        else
            ((float *)m.start)[c] = y;
    }
}
#endif
