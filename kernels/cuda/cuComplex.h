/* SPDX-License-Identifier: MIT */
/* Complex numbers by the names of CUDA's header: of single precision (a letter f) and of double. */
#ifndef CUSHIM_SUBSET_COMPLEX_H
#define CUSHIM_SUBSET_COMPLEX_H

#include "subset.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* A quotient is scaled, so that it overflows only if it is too large itself. */
#define CUSHIM_COMPLEX(f, Type, T, make, abs, hypot)                                               \
    CUSHIM_BOTH_SIDES T cuCreal##f(Type z)                                                         \
    {                                                                                              \
        return z.x;                                                                                \
    }                                                                                              \
    CUSHIM_BOTH_SIDES T cuCimag##f(Type z)                                                         \
    {                                                                                              \
        return z.y;                                                                                \
    }                                                                                              \
    CUSHIM_BOTH_SIDES Type make(T real, T imaginary)                                               \
    {                                                                                              \
        return {real, imaginary};                                                                  \
    }                                                                                              \
    CUSHIM_BOTH_SIDES Type cuConj##f(Type z)                                                       \
    {                                                                                              \
        return {z.x, -z.y};                                                                        \
    }                                                                                              \
    CUSHIM_BOTH_SIDES Type cuCadd##f(Type a, Type b)                                               \
    {                                                                                              \
        return {a.x + b.x, a.y + b.y};                                                             \
    }                                                                                              \
    CUSHIM_BOTH_SIDES Type cuCsub##f(Type a, Type b)                                               \
    {                                                                                              \
        return {a.x - b.x, a.y - b.y};                                                             \
    }                                                                                              \
    CUSHIM_BOTH_SIDES Type cuCmul##f(Type a, Type b)                                               \
    {                                                                                              \
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                     \
    }                                                                                              \
    CUSHIM_BOTH_SIDES Type cuCfma##f(Type a, Type b, Type c)                                       \
    {                                                                                              \
        return cuCadd##f(cuCmul##f(a, b), c);                                                      \
    }                                                                                              \
    static inline __device__ T cuCabs##f(Type z)                                                   \
    {                                                                                              \
        return hypot(z.x, z.y);                                                                    \
    }                                                                                              \
    static inline __device__ Type cuCdiv##f(Type a, Type b)                                        \
    {                                                                                              \
        const T scale = 1 / (abs(b.x) + abs(b.y)), x = b.x * scale, y = b.y * scale;               \
        const T real = a.x * scale, imaginary = a.y * scale, part = 1 / (x * x + y * y);           \
        return {(real * x + imaginary * y) * part, (imaginary * x - real * y) * part};             \
    }
CUSHIM_COMPLEX(f, cuFloatComplex, float, make_cuFloatComplex, fabsf, hypotf)
CUSHIM_COMPLEX(, cuDoubleComplex, double, make_cuDoubleComplex, fabs, hypot)

CUSHIM_BOTH_SIDES cuComplex make_cuComplex(float real, float imaginary)
{
    return {real, imaginary};
}
CUSHIM_BOTH_SIDES cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return {z.x, z.y};
}
CUSHIM_BOTH_SIDES cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return {(float)z.x, (float)z.y};
}

#endif
