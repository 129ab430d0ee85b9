/* What kernels see: built-in variables, barriers, shared memory, warp functions, atomics and
 * intrinsics. Included by cuda_runtime.h. */
#ifndef CUCC_DEVICE_H
#define CUCC_DEVICE_H

#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

/* Set by the runtime before each thread of a kernel is run or resumed. */
inline thread_local uint3 threadIdx = {0, 0, 0};
inline thread_local uint3 blockIdx = {0, 0, 0};
inline thread_local dim3 blockDim(1, 1, 1);
inline thread_local dim3 gridDim(1, 1, 1);
constexpr int warpSize = 32;

namespace cucc
{
int barrier(const char *site, int predicate); /* returns in how many threads it was not zero */

enum warp_function { warp_sync, warp_shuffle, warp_ballot };
uint64_t warp_exchange(warp_function function, unsigned int mask, uint64_t value, int source_lane);
int lane_number();
void in_step(int place); /* waits until the lanes of the warp that can get here have come */
unsigned int live_lanes();

int new_shared_slot();
void *shared_memory(int slot, size_t size, const char *name);
void *dynamic_shared_memory();

/* __shared__ variable number INDEX of the declaration that the rewriter turned into the struct
 * DECLARATION. */
template <class declaration, int index> struct shared_slot {
    static const int number;
};
template <class declaration, int index>
const int shared_slot<declaration, index>::number = new_shared_slot();

template <class declaration, int index, class T> T &shared_variable(const char *name)
{
    return *static_cast<T *>(
        shared_memory(shared_slot<declaration, index>::number, sizeof(T), name));
}

/* extern __shared__ T name[] becomes T *name = dynamic_shared(). */
struct dynamic_shared {
    template <class T> operator T *() const
    {
        return static_cast<T *>(dynamic_shared_memory());
    }
};
} // namespace cucc

/* ---- barriers and fences. The rewriter adds the call site as first argument. ----------------- */

inline void __syncthreads(const char *site)
{
    cucc::barrier(site, 0);
}
inline int __syncthreads_count(const char *site, int predicate)
{
    return cucc::barrier(site, predicate);
}
inline int __syncthreads_or(const char *site, int predicate)
{
    return cucc::barrier(site, predicate) > 0;
}
inline int __syncthreads_and(const char *site, int predicate)
{
    return cucc::barrier(site, !predicate) == 0;
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan" /* counting borrows the thread sanitizer's hooks only */
inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#pragma GCC diagnostic pop
inline void __threadfence_block()
{
    __threadfence();
}

/* ---- warp functions -------------------------------------------------------------------------- */

inline void __syncwarp(unsigned int mask = 0xffffffffu)
{
    cucc::warp_exchange(cucc::warp_sync, mask, 0, 0);
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    return (unsigned int)cucc::warp_exchange(cucc::warp_ballot, mask, predicate != 0, 0);
}
inline int __any_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}
inline unsigned int __activemask()
{
    return cucc::live_lanes();
}

namespace cucc
{
template <class T> T shuffle(unsigned int mask, T value, int source_lane)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_exchange(warp_shuffle, mask, bits, source_lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}
} // namespace cucc

/* A lane whose source would leave its segment of WIDTH lanes keeps its own value. */
template <class T> T __shfl_sync(unsigned int mask, T value, int lane, int width = warpSize)
{
    int segment = cucc::lane_number() & ~(width - 1);
    return cucc::shuffle(mask, value, segment + (lane & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize)
{
    int self = cucc::lane_number(), source = self - (int)delta;
    return cucc::shuffle(mask, value, source < (self & ~(width - 1)) ? self : source);
}
template <class T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize)
{
    int self = cucc::lane_number(), source = self + (int)delta;
    return cucc::shuffle(mask, value, source > (self | (width - 1)) ? self : source);
}
template <class T>
T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = warpSize)
{
    int self = cucc::lane_number(), source = self ^ lane_mask;
    return cucc::shuffle(mask, value, source > (self | (width - 1)) ? self : source);
}

/* ---- atomics --------------------------------------------------------------------------------- */

namespace cucc
{
template <class T, class F> T atomic_update(T *address, F new_value)
{
    T seen, wanted;
    __atomic_load(address, &seen, __ATOMIC_RELAXED);
    do {
        wanted = new_value(seen);
    } while (!__atomic_compare_exchange(address, &seen, &wanted, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    return seen;
}
} // namespace cucc

#define CUCC_ATOMIC(name, T, new_value)                                             \
    inline T name(T *address, T value)                                              \
    {                                                                               \
        return cucc::atomic_update(address, [=](T old) { return (T)(new_value); }); \
    }
#define CUCC_ATOMICS(T)                    \
    CUCC_ATOMIC(atomicAdd, T, old + value) \
    CUCC_ATOMIC(atomicExch, T, ((void)old, value))
#define CUCC_INTEGER_ATOMICS(T)                                                                   \
    CUCC_ATOMICS(T)                                                                               \
    CUCC_ATOMIC(atomicMax, T, old > value ? old : value)                                          \
    CUCC_ATOMIC(atomicMin, T, old < value ? old : value)                                          \
    CUCC_ATOMIC(atomicOr, T, old | value)                                                         \
    CUCC_ATOMIC(atomicAnd, T, old &value)                                                         \
    inline T atomicCAS(T *address, T compare, T value)                                            \
    {                                                                                             \
        return cucc::atomic_update(address, [=](T old) { return old == compare ? value : old; }); \
    }
CUCC_INTEGER_ATOMICS(int)
CUCC_INTEGER_ATOMICS(unsigned int)
CUCC_INTEGER_ATOMICS(unsigned long long)
CUCC_ATOMICS(float)
CUCC_ATOMICS(double)
#undef CUCC_ATOMIC
#undef CUCC_ATOMICS
#undef CUCC_INTEGER_ATOMICS

/* ---- textures -------------------------------------------------------------------------------- */

namespace cucc
{
float fetch(unsigned long long texture, float x, float y);
}
template <class T> T tex2D(unsigned long long texture, float x, float y);
template <> inline float tex2D<float>(unsigned long long texture, float x, float y)
{
    return cucc::fetch(texture, x, y);
}

/* ---- intrinsics ------------------------------------------------------------------------------ */

template <class T> T __ldg(const T *address)
{
    return *address;
}
long long clock64();

/* User code is compiled with -ffp-contract=off, so the plain operators round once, to nearest. */
inline float __fadd_rn(float a, float b)
{
    return a + b;
}
inline float __fsub_rn(float a, float b)
{
    return a - b;
}
inline float __fmul_rn(float a, float b)
{
    return a * b;
}
inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
inline double __dadd_rn(double a, double b)
{
    return a + b;
}
inline double __dsub_rn(double a, double b)
{
    return a - b;
}
inline double __dmul_rn(double a, double b)
{
    return a * b;
}
inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}
inline float rsqrtf(float a)
{
    return 1.0f / sqrtf(a);
}
inline double rsqrt(double a)
{
    return 1.0 / sqrt(a);
}

/* Fast functions of a GPU, here as exact as the others. glibc declares some for itself, noexcept, and
 * does not export them. */
/* clang-format off */
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
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
inline float __saturatef(float a) { return fminf(fmaxf(a, 0.0f), 1.0f); }
/* clang-format on */

/* The rounding error of a sum is a float (Knuth's two-sum); it tells whether the sum rounded to
 * nearest lies further from zero than the exact one. */
inline float __fadd_rz(float a, float b)
{
    float sum = a + b;
    if (isinf(sum)) return isinf(a) || isinf(b) ? sum : copysignf(3.402823466e38f, sum);
    float b_part = sum - a;
    float error = (a - (sum - b_part)) + (b - b_part);
    bool too_far = (sum > 0 && error < 0) || (sum < 0 && error > 0);
    return too_far ? nextafterf(sum, 0.0f) : sum;
}

namespace cucc
{
/* Out of range saturates and NaN gives 0, as on a GPU. */
inline int to_int(float rounded)
{
    if (isnan(rounded)) return 0;
    if (rounded >= 2147483648.0f) return 2147483647;
    return rounded <= -2147483648.0f ? -2147483647 - 1 : (int)rounded;
}
template <class To, class From> To same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits need the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace cucc

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

/* clang-format off */
inline int __float2int_rn(float a) { return cucc::to_int(rintf(a)); }
inline int __float2int_rz(float a) { return cucc::to_int(truncf(a)); }
inline int __float2int_ru(float a) { return cucc::to_int(ceilf(a)); }
inline int __float2int_rd(float a) { return cucc::to_int(floorf(a)); }
inline int __float_as_int(float a) { return cucc::same_bits<int>(a); }
inline unsigned int __float_as_uint(float a) { return cucc::same_bits<unsigned int>(a); }
inline float __int_as_float(int a) { return cucc::same_bits<float>(a); }
inline float __uint_as_float(unsigned int a) { return cucc::same_bits<float>(a); }
inline long long __double_as_longlong(double a) { return cucc::same_bits<long long>(a); }
inline int __popc(unsigned int a) { return __builtin_popcount(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned int __uhadd(unsigned int a, unsigned int b) { return (unsigned int)(((uint64_t)a + b) >> 1); }
inline unsigned int __urhadd(unsigned int a, unsigned int b) { return (unsigned int)(((uint64_t)a + b + 1) >> 1); }
inline int __clz(int a) { return a ? __builtin_clz((unsigned int)a) : 32; }

#define CUCC_MIN_MAX(T)                              \
    inline T min(T a, T b) { return a < b ? a : b; } \
    inline T max(T a, T b) { return a > b ? a : b; }
CUCC_MIN_MAX(int)
CUCC_MIN_MAX(unsigned int)
CUCC_MIN_MAX(long)
CUCC_MIN_MAX(unsigned long)
CUCC_MIN_MAX(long long)
CUCC_MIN_MAX(unsigned long long)
#undef CUCC_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
/* clang-format on */

#endif
