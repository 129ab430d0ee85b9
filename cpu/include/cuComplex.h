/* cuComplex.h of the CPU runner: complex numbers as pairs, and their functions in both precisions. */
#ifndef CUCC_CUCOMPLEX_H
#define CUCC_CUCOMPLEX_H
#include "cucc_set_aside.h"

#include "cuda_runtime.h"

typedef float2 cuFloatComplex, cuComplex;
typedef double2 cuDoubleComplex;

/* name, type, type of a part and its functions; f is the letter of float or nothing */
#define CUCC_COMPLEX(make, C, T, f, real, imag, conj, add, sub, mul, div, abs, fma_name) \
    static inline C make(T x, T y)                                                       \
    {                                                                                    \
        C made = {x, y};                                                                 \
        return made;                                                                     \
    }                                                                                    \
    static inline T real(C a)                                                            \
    {                                                                                    \
        return a.x;                                                                      \
    }                                                                                    \
    static inline T imag(C a)                                                            \
    {                                                                                    \
        return a.y;                                                                      \
    }                                                                                    \
    static inline C conj(C a)                                                            \
    {                                                                                    \
        return make(a.x, -a.y);                                                          \
    }                                                                                    \
    static inline C add(C a, C b)                                                        \
    {                                                                                    \
        return make(a.x + b.x, a.y + b.y);                                               \
    }                                                                                    \
    static inline C sub(C a, C b)                                                        \
    {                                                                                    \
        return make(a.x - b.x, a.y - b.y);                                               \
    }                                                                                    \
    static inline C mul(C a, C b)                                                        \
    {                                                                                    \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                       \
    }                                                                                    \
    static inline C div(C a, C b) /* scaled, so that squares do not overflow */          \
    {                                                                                    \
        T s = fabs##f(b.x) + fabs##f(b.y);                                               \
        C p = {a.x / s, a.y / s}, q = {b.x / s, b.y / s};                                \
        T square = q.x * q.x + q.y * q.y;                                                \
        return make((p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square); \
    }                                                                                    \
    static inline T abs(C a)                                                             \
    {                                                                                    \
        return hypot##f(a.x, a.y);                                                       \
    }                                                                                    \
    static inline C fma_name(C a, C b, C c)                                              \
    {                                                                                    \
        return add(mul(a, b), c);                                                        \
    }
CUCC_COMPLEX(make_cuFloatComplex, cuFloatComplex, float, f, cuCrealf, cuCimagf, cuConjf, cuCaddf,
             cuCsubf, cuCmulf, cuCdivf, cuCabsf, cuCfmaf)
CUCC_COMPLEX(make_cuDoubleComplex, cuDoubleComplex, double, , cuCreal, cuCimag, cuConj, cuCadd,
             cuCsub, cuCmul, cuCdiv, cuCabs, cuCfma)
#undef CUCC_COMPLEX
static inline cuComplex make_cuComplex(float x, float y)
{
    return make_cuFloatComplex(x, y);
}
#include "cucc_give_back.h"

#endif
