/* curand_kernel.h of the CPU runner: the generators XORWOW and Philox4_32_10 with cuRAND's sequences.
 * XORWOW is Marsaglia's ("Xorshift RNGs", 2003), seeded as cuRAND does it; Philox is that of Salmon and
 * others ("Parallel Random Numbers: As Easy as 1, 2, 3", 2011). */
#ifndef CUCC_CURAND_KERNEL_H
#define CUCC_CURAND_KERNEL_H
#include "cucc_set_aside.h"

#include "cuda_runtime.h"
#include "curand.h"

/* ---- XORWOW ---------------------------------------------------------------------------------- */

typedef struct curandStateXORWOW {
    unsigned int d, v[5];
    int has_normal, has_normal_double; /* the second of a pair that was computed */
    float normal;
    double normal_double;
} curandStateXORWOW_t;
typedef curandStateXORWOW_t curandState_t, curandState;

namespace cucc
{
/* The five words STEPS * 2^SHIFT steps on (curand.cpp). */
void skip_xorwow(unsigned int *v, unsigned long long steps, int shift);
} // namespace cucc

inline unsigned int curand(curandStateXORWOW_t *state)
{
    unsigned int *v = state->v, t = v[0] ^ v[0] >> 2;
    for (int i = 0; i < 4; i++) v[i] = v[i + 1];
    v[4] = v[4] ^ v[4] << 4 ^ (t ^ t << 1);
    state->d += 362437;
    return v[4] + state->d;
}
inline void skipahead(unsigned long long n, curandStateXORWOW_t *state)
{
    cucc::skip_xorwow(state->v, n, 0);
    state->d += 362437 * (unsigned int)n;
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state)
{
    cucc::skip_xorwow(state->v, n, 67);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStateXORWOW_t *state)
{
    unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u;
    unsigned int high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    const unsigned int begin[5] = {123456789u + low, 362436069u ^ low, 521288629u + high,
                                   88675123u ^ high, 5783321u + low};
    memset((void *)state, 0, sizeof *state);
    memcpy(state->v, begin, sizeof begin);
    state->d = 6615241u + high + low;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

/* ---- Philox ---------------------------------------------------------------------------------- */

typedef struct curandStatePhilox4_32_10 {
    uint4 counter, output;
    uint2 key;
    unsigned int used; /* of the output */
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
} curandStatePhilox4_32_10_t;

namespace cucc
{
inline uint4 philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xd2511f53u * c.x, q = (uint64_t)0xcd9e8d57u * c.z;
        c = {(unsigned int)(q >> 32) ^ c.y ^ key.x, (unsigned int)q,
             (unsigned int)(p >> 32) ^ c.w ^ key.y, (unsigned int)p};
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}
/* The counter's lower or upper half goes on; the lower one carries. */
inline void count_philox(curandStatePhilox4_32_10_t *state, unsigned long long n, bool upper)
{
    uint4 &c = state->counter;
    uint64_t low = (uint64_t)c.y << 32 | c.x, high = (uint64_t)c.w << 32 | c.z;
    if (upper)
        high += n;
    else
        high += (low += n) < n;
    c = {(unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high,
         (unsigned int)(high >> 32)};
    state->output = philox(c, state->key);
}
} // namespace cucc

inline unsigned int curand(curandStatePhilox4_32_10_t *state)
{
    unsigned int result = (&state->output.x)[state->used++];
    if (state->used == 4) {
        cucc::count_philox(state, 1, false);
        state->used = 0;
    }
    return result;
}
inline uint4 curand4(curandStatePhilox4_32_10_t *state)
{
    uint4 before = state->output;
    cucc::count_philox(state, 1, false);
    const unsigned int all[8] = {before.x,        before.y,        before.z,
                                 before.w,        state->output.x, state->output.y,
                                 state->output.z, state->output.w};
    const unsigned int *from = all + state->used;
    return {from[0], from[1], from[2], from[3]};
}
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    state->used += (unsigned int)(n & 3);
    n /= 4;
    if (state->used > 3) {
        n++;
        state->used -= 4;
    }
    cucc::count_philox(state, n, false);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    cucc::count_philox(state, n, true);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10_t *state)
{
    memset((void *)state, 0, sizeof *state);
    state->key = {(unsigned int)seed, (unsigned int)(seed >> 32)};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

/* ---- distributions: uniform in (0, 1], normal by Box and Muller ------------------------------- */

namespace cucc
{
inline float uniform(unsigned int x)
{
    return (float)x * 2.3283064e-10f + 2.3283064e-10f / 2;
}
inline double uniform_double(unsigned int x, unsigned int y)
{
    uint64_t z = (uint64_t)x ^ (uint64_t)y << 21;
    return (double)z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}
inline float2 normal_pair(unsigned int x, unsigned int y)
{
    const float unit = 2.3283064e-10f * 6.2831855f;
    float length = sqrtf(-2.0f * logf(uniform(x))), angle = (float)y * unit + unit / 2;
    return {length * sinf(angle), length * cosf(angle)};
}
inline double2 normal_pair_double(unsigned int x0, unsigned int x1, unsigned int y0,
                                  unsigned int y1)
{
    uint64_t z = (uint64_t)y0 ^ (uint64_t)y1 << 21;
    double angle = (double)z * (1.1102230246251565e-16 * 2) + 1.1102230246251565e-16;
    double length = sqrt(-2.0 * log(uniform_double(x0, x1)));
    return {length * sinpi(angle), length * cospi(angle)};
}
} // namespace cucc

/* clang-format off */
#define CUCC_DISTRIBUTIONS(S)                                                                          \
    inline float curand_uniform(S *state) { return cucc::uniform(curand(state)); }                     \
    inline float2 curand_normal2(S *state)                                                             \
    {                                                                                                  \
        unsigned int x = curand(state), y = curand(state);                                             \
        return cucc::normal_pair(x, y);                                                                \
    }                                                                                                  \
    inline float curand_normal(S *state)                                                               \
    {                                                                                                  \
        state->has_normal = !state->has_normal;                                                        \
        if (!state->has_normal) return state->normal;                                                  \
        float2 pair = curand_normal2(state);                                                           \
        state->normal = pair.y;                                                                        \
        return pair.x;                                                                                 \
    }                                                                                                  \
    inline float curand_log_normal(S *state, float mean, float deviation) { return expf(mean + deviation * curand_normal(state)); } \
    inline double curand_normal_double(S *state)                                                       \
    {                                                                                                  \
        state->has_normal_double = !state->has_normal_double;                                          \
        if (!state->has_normal_double) return state->normal_double;                                    \
        double2 pair = curand_normal2_double(state);                                                   \
        state->normal_double = pair.y;                                                                 \
        return pair.x;                                                                                 \
    }                                                                                                  \
    inline double curand_log_normal_double(S *state, double mean, double deviation) { return exp(mean + deviation * curand_normal_double(state)); }
inline double curand_uniform_double(curandStateXORWOW_t *state)
{
    unsigned int x = curand(state), y = curand(state);
    return cucc::uniform_double(x, y);
}
inline double curand_uniform_double(curandStatePhilox4_32_10_t *state)
{
    return (double)curand(state) * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
inline double2 curand_normal2_double(curandStateXORWOW_t *state)
{
    unsigned int a = curand(state), b = curand(state), c = curand(state), d = curand(state);
    return cucc::normal_pair_double(a, b, c, d);
}
inline double2 curand_normal2_double(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    return cucc::normal_pair_double(x.x, x.y, x.z, x.w);
}
CUCC_DISTRIBUTIONS(curandStateXORWOW_t)
CUCC_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef CUCC_DISTRIBUTIONS
inline float4 curand_uniform4(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    return {cucc::uniform(x.x), cucc::uniform(x.y), cucc::uniform(x.z), cucc::uniform(x.w)};
}
inline float4 curand_normal4(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    float2 a = cucc::normal_pair(x.x, x.y), b = cucc::normal_pair(x.z, x.w);
    return {a.x, a.y, b.x, b.y};
}
/* clang-format on */
#include "cucc_give_back.h"

#endif
