/* The vector types, their makers and dim3. Included by cuda_runtime.h. */
#ifndef CUCC_VECTORS_H
#define CUCC_VECTORS_H

#ifdef __cplusplus
#define CUCC_MADE(type, ...)                \
    constexpr type make_##type(__VA_ARGS__) \
    {                                       \
        return
#define CUCC_OR(value) = value /* what an argument is if it is left out */
#else
#define CUCC_MADE(type, ...)                    \
    static inline type make_##type(__VA_ARGS__) \
    {                                           \
        return (type)
#define CUCC_OR(value)
#endif
#define CUCC_ALIGNED(bytes) __attribute__((aligned(bytes)))

/* clang-format off */
#define CUCC_VECTOR_TYPES(base, name, align2, align4)                             \
    typedef struct name##1 { base x; } name##1;                                   \
    typedef struct CUCC_ALIGNED(align2) name##2 { base x, y; } name##2;           \
    typedef struct name##3 { base x, y, z; } name##3;                             \
    typedef struct CUCC_ALIGNED(align4) name##4 { base x, y, z, w; } name##4;     \
    CUCC_MADE(name##1, base x) {x}; }                                             \
    CUCC_MADE(name##2, base x, base y) {x, y}; }                                  \
    CUCC_MADE(name##3, base x, base y, base z) {x, y, z}; }                       \
    CUCC_MADE(name##4, base x, base y, base z, base w) {x, y, z, w}; }

/* CUDA 13's names, which say the alignment. */
#define CUCC_VECTORS_OF_FOUR(base, name)                                                        \
    typedef struct CUCC_ALIGNED(16) name##4_16a { base x, y, z, w; } name##4_16a;               \
    typedef struct CUCC_ALIGNED(32) name##4_32a { base x, y, z, w; } name##4_32a;               \
    CUCC_MADE(name##4_16a, base x, base y, base z, base w) {x, y, z, w}; }                      \
    CUCC_MADE(name##4_32a, base x, base y, base z, base w) {x, y, z, w}; }
/* clang-format on */

CUCC_VECTOR_TYPES(signed char, char, 2, 4)
CUCC_VECTOR_TYPES(unsigned char, uchar, 2, 4)
CUCC_VECTOR_TYPES(short, short, 4, 8)
CUCC_VECTOR_TYPES(unsigned short, ushort, 4, 8)
CUCC_VECTOR_TYPES(int, int, 8, 16)
CUCC_VECTOR_TYPES(unsigned int, uint, 8, 16)
CUCC_VECTOR_TYPES(long, long, 16, 16)
CUCC_VECTOR_TYPES(unsigned long, ulong, 16, 16)
CUCC_VECTOR_TYPES(long long, longlong, 16, 16)
CUCC_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
CUCC_VECTOR_TYPES(float, float, 8, 16)
CUCC_VECTOR_TYPES(double, double, 16, 16)
CUCC_VECTORS_OF_FOUR(long, long)
CUCC_VECTORS_OF_FOUR(unsigned long, ulong)
CUCC_VECTORS_OF_FOUR(long long, longlong)
CUCC_VECTORS_OF_FOUR(unsigned long long, ulonglong)
CUCC_VECTORS_OF_FOUR(double, double)
#undef CUCC_VECTORS_OF_FOUR
#undef CUCC_VECTOR_TYPES
#undef CUCC_MADE
#undef CUCC_ALIGNED

typedef struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return {x, y, z};
    }
#endif
} dim3;

#endif
