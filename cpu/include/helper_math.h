/* helper_math.h of the CPU runner: arithmetic of the vector types, element by element, as NVIDIA's
 * samples have it. */
#ifndef HELPER_MATH_H
#define HELPER_MATH_H
#include "cucc_set_aside.h"

#include "cuda_runtime.h"

typedef unsigned int uint;
typedef unsigned short ushort;

/* clang-format off */
#define CUCC_OPERATOR(V, T, each, sign)                                           \
    inline V operator sign(V a, V b) { return CUCC_VV_##each(V, sign); }          \
    inline V operator sign(V a, T b) { return CUCC_VS_##each(V, sign); }          \
    inline V operator sign(T a, V b) { return CUCC_SV_##each(V, sign); }          \
    inline void operator sign##=(V &a, V b) { a = a sign b; }                     \
    inline void operator sign##=(V &a, T b) { a = a sign b; }
#define CUCC_VV_2(V, s) V{a.x s b.x, a.y s b.y}
#define CUCC_VS_2(V, s) V{a.x s b, a.y s b}
#define CUCC_SV_2(V, s) V{a s b.x, a s b.y}
#define CUCC_VV_3(V, s) V{a.x s b.x, a.y s b.y, a.z s b.z}
#define CUCC_VS_3(V, s) V{a.x s b, a.y s b, a.z s b}
#define CUCC_SV_3(V, s) V{a s b.x, a s b.y, a s b.z}
#define CUCC_VV_4(V, s) V{a.x s b.x, a.y s b.y, a.z s b.z, a.w s b.w}
#define CUCC_VS_4(V, s) V{a.x s b, a.y s b, a.z s b, a.w s b}
#define CUCC_SV_4(V, s) V{a s b.x, a s b.y, a s b.z, a s b.w}
#define CUCC_OPERATORS(V, T, each)   \
    CUCC_OPERATOR(V, T, each, +)     \
    CUCC_OPERATOR(V, T, each, -)     \
    CUCC_OPERATOR(V, T, each, *)
CUCC_OPERATORS(float2, float, 2)
CUCC_OPERATORS(float3, float, 3)
CUCC_OPERATORS(float4, float, 4)
CUCC_OPERATORS(int2, int, 2)
CUCC_OPERATORS(int3, int, 3)
CUCC_OPERATORS(int4, int, 4)
CUCC_OPERATORS(uint2, uint, 2)
CUCC_OPERATORS(uint3, uint, 3)
CUCC_OPERATORS(uint4, uint, 4)
CUCC_OPERATOR(float2, float, 2, /)
CUCC_OPERATOR(float3, float, 3, /)
CUCC_OPERATOR(float4, float, 4, /)
inline float2 operator-(float2 a) { return {-a.x, -a.y}; }
inline float3 operator-(float3 a) { return {-a.x, -a.y, -a.z}; }
inline float4 operator-(float4 a) { return {-a.x, -a.y, -a.z, -a.w}; }
inline int2 operator-(int2 a) { return {-a.x, -a.y}; }
inline int3 operator-(int3 a) { return {-a.x, -a.y, -a.z}; }
inline int4 operator-(int4 a) { return {-a.x, -a.y, -a.z, -a.w}; }

/* Makers from one number, from shorter and longer vectors and from other types. */
#define CUCC_MAKERS(T, t)                                                                          \
    inline t##2 make_##t##2(T s) { return {s, s}; }                                                \
    inline t##2 make_##t##2(t##3 a) { return {a.x, a.y}; }                                         \
    inline t##2 make_##t##2(t##4 a) { return {a.x, a.y}; }                                         \
    inline t##3 make_##t##3(T s) { return {s, s, s}; }                                             \
    inline t##3 make_##t##3(t##2 a) { return {a.x, a.y, 0}; }                                      \
    inline t##3 make_##t##3(t##2 a, T z) { return {a.x, a.y, z}; }                                 \
    inline t##3 make_##t##3(t##4 a) { return {a.x, a.y, a.z}; }                                    \
    inline t##4 make_##t##4(T s) { return {s, s, s, s}; }                                          \
    inline t##4 make_##t##4(t##3 a) { return {a.x, a.y, a.z, 0}; }                                 \
    inline t##4 make_##t##4(t##3 a, T w) { return {a.x, a.y, a.z, w}; }
CUCC_MAKERS(float, float)
CUCC_MAKERS(int, int)
CUCC_MAKERS(uint, uint)
inline float2 make_float2(int2 a) { return {(float)a.x, (float)a.y}; }
inline float3 make_float3(int3 a) { return {(float)a.x, (float)a.y, (float)a.z}; }
inline float4 make_float4(int4 a) { return {(float)a.x, (float)a.y, (float)a.z, (float)a.w}; }
inline int2 make_int2(float2 a) { return {(int)a.x, (int)a.y}; }
inline int3 make_int3(float3 a) { return {(int)a.x, (int)a.y, (int)a.z}; }

inline float lerp(float a, float b, float t) { return a + t * (b - a); }
inline float clamp(float v, float a, float b) { return fmaxf(a, fminf(v, b)); }
inline int clamp(int v, int a, int b) { return max(a, min(v, b)); }
inline uint clamp(uint v, uint a, uint b) { return max(a, min(v, b)); }
inline float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline int dot(int2 a, int2 b) { return a.x * b.x + a.y * b.y; }
inline int dot(int3 a, int3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline float3 cross(float3 a, float3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline float fracf(float v) { return v - floorf(v); }
#define CUCC_FLOATS(V, each)                                                      \
    inline V lerp(V a, V b, float t) { return a + t * (b - a); }                  \
    inline float length(V a) { return sqrtf(dot(a, a)); }                         \
    inline V normalize(V a) { return a * rsqrtf(dot(a, a)); }                     \
    inline V reflect(V i, V n) { return i - 2.0f * n * dot(n, i); }               \
    CUCC_MAP(V, fabs, each, fabsf)                                                \
    CUCC_MAP(V, floorf, each, ::floorf)                                           \
    CUCC_MAP(V, fracf, each, fracf)                                               \
    CUCC_MAP_2(V, fminf, each, ::fminf)                                           \
    CUCC_MAP_2(V, fmaxf, each, ::fmaxf)                                           \
    inline V clamp(V v, V a, V b) { return fmaxf(a, fminf(v, b)); }
#define CUCC_MAP(V, name, each, f) inline V name(V a) { return CUCC_MAP_##each##_(V, f); }
#define CUCC_MAP_2_(V, f) V{f(a.x), f(a.y)}
#define CUCC_MAP_3_(V, f) V{f(a.x), f(a.y), f(a.z)}
#define CUCC_MAP_4_(V, f) V{f(a.x), f(a.y), f(a.z), f(a.w)}
#define CUCC_MAP_2(V, name, each, f) inline V name(V a, V b) { return CUCC_PAIRS_##each(V, f); }
#define CUCC_PAIRS_2(V, f) V{f(a.x, b.x), f(a.y, b.y)}
#define CUCC_PAIRS_3(V, f) V{f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)}
#define CUCC_PAIRS_4(V, f) V{f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)}
CUCC_FLOATS(float2, 2)
CUCC_FLOATS(float3, 3)
CUCC_FLOATS(float4, 4)
inline float3 clamp(float3 v, float a, float b) { return {clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b)}; }
inline float4 clamp(float4 v, float a, float b) { return {clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b)}; }
/* clang-format on */
#include "cucc_give_back.h"

#endif
