/* SPDX-License-Identifier: MIT */
/* The mathematical functions that are an instruction or a few, in both precisions, and the names
 * that C++ gives to all: sqrt(float) is sqrtf, and sqrt(int) is sqrt(double). */
#ifndef CUSHIM_SUBSET_NAMES_H
#define CUSHIM_SUBSET_NAMES_H

#define CUSHIM_ONE(name, in_float, in_double)                                                      \
    CUSHIM_NAME float name##f(float x)                                                             \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CUSHIM_NAME double name(double x)                                                              \
    {                                                                                              \
        return in_double;                                                                          \
    }
#define CUSHIM_TWO(name, in_float, in_double)                                                      \
    CUSHIM_NAME float name##f(float x, float y)                                                    \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CUSHIM_NAME double name(double x, double y)                                                    \
    {                                                                                              \
        return in_double;                                                                          \
    }
#define CUSHIM_ROUND(result, name, in_float, in_double)                                            \
    CUSHIM_NAME result name##f(float x)                                                            \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CUSHIM_NAME result name(double x)                                                              \
    {                                                                                              \
        return in_double;                                                                          \
    }
#define CUSHIM_SAME(kind, name, expression) kind(name, expression, expression)

CUSHIM_SAME(CUSHIM_ONE, sqrt, cushim_::root(x))
CUSHIM_SAME(CUSHIM_ONE, fabs, cushim_::magnitude(x))
CUSHIM_SAME(CUSHIM_ONE, trunc, cushim_::cut(x))
CUSHIM_SAME(CUSHIM_ONE, rint, cushim_::whole(x))
CUSHIM_SAME(CUSHIM_ONE, nearbyint, cushim_::whole(x))
CUSHIM_SAME(CUSHIM_ONE, round, cushim_::round_any(x))
CUSHIM_SAME(CUSHIM_ONE, logb, cushim_::logb_any(x))
CUSHIM_ONE(floor, __nvvm_floor_f(x), __nvvm_floor_d(x))
CUSHIM_ONE(ceil, __nvvm_ceil_f(x), __nvvm_ceil_d(x))
CUSHIM_TWO(fmin, __nvvm_fmin_f(x, y), __nvvm_fmin_d(x, y))
CUSHIM_TWO(fmax, __nvvm_fmax_f(x, y), __nvvm_fmax_d(x, y))
CUSHIM_SAME(CUSHIM_TWO, fdim, x <= y ? 0 : cushim_::sub(x, y))
CUSHIM_SAME(CUSHIM_TWO, copysign, cushim_::with_sign(x, y))
CUSHIM_SAME(CUSHIM_TWO, fmod, cushim_::fmod_any(x, y))
CUSHIM_SAME(CUSHIM_TWO, nextafter, cushim_::nextafter_any(x, y))
CUSHIM_ROUND(int, ilogb, cushim_::ilogb_any(x), cushim_::ilogb_any(x))
CUSHIM_ROUND(long, lrint, __nvvm_f2ll_rn(x), __nvvm_d2ll_rn(x))
CUSHIM_ROUND(long long, llrint, __nvvm_f2ll_rn(x), __nvvm_d2ll_rn(x))
CUSHIM_ROUND(long, lround, __nvvm_f2ll_rz(cushim_::round_any(x)),
             __nvvm_d2ll_rz(cushim_::round_any(x)))
CUSHIM_ROUND(long long, llround, __nvvm_f2ll_rz(cushim_::round_any(x)),
             __nvvm_d2ll_rz(cushim_::round_any(x)))

#define CUSHIM_REST(T, suffix)                                                                     \
    CUSHIM_NAME T fma##suffix(T x, T y, T z)                                                       \
    {                                                                                              \
        return cushim_::fma(x, y, z);                                                              \
    }                                                                                              \
    CUSHIM_NAME T remquo##suffix(T x, T y, int *quotient)                                          \
    {                                                                                              \
        return cushim_::remquo_any(x, y, quotient);                                                \
    }                                                                                              \
    CUSHIM_NAME T remainder##suffix(T x, T y)                                                      \
    {                                                                                              \
        int quotient;                                                                              \
        return cushim_::remquo_any(x, y, &quotient);                                               \
    }                                                                                              \
    CUSHIM_NAME T scalbn##suffix(T x, int n)                                                       \
    {                                                                                              \
        return cushim_::scalbn_any(x, n);                                                          \
    }                                                                                              \
    CUSHIM_NAME T ldexp##suffix(T x, int n)                                                        \
    {                                                                                              \
        return cushim_::scalbn_any(x, n);                                                          \
    }                                                                                              \
    CUSHIM_NAME T scalbln##suffix(T x, long n)                                                     \
    {                                                                                              \
        return cushim_::scalbn_any(x, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n);               \
    }                                                                                              \
    CUSHIM_NAME T frexp##suffix(T x, int *exponent)                                                \
    {                                                                                              \
        return cushim_::frexp_any(x, exponent);                                                    \
    }                                                                                              \
    CUSHIM_NAME T modf##suffix(T x, T *part)                                                       \
    {                                                                                              \
        return cushim_::modf_any(x, part);                                                         \
    }                                                                                              \
    CUSHIM_NAME T nan##suffix(const char *)                                                        \
    {                                                                                              \
        return cushim_::nothing<T>();                                                              \
    }                                                                                              \
    static inline __device__ bool isnan(T x)                                                       \
    {                                                                                              \
        return x != x;                                                                             \
    }                                                                                              \
    static inline __device__ bool isinf(T x)                                                       \
    {                                                                                              \
        return cushim_::magnitude(x) == cushim_::infinity<T>();                                    \
    }                                                                                              \
    static inline __device__ bool isfinite(T x)                                                    \
    {                                                                                              \
        return cushim_::finite(x);                                                                 \
    }                                                                                              \
    static inline __device__ bool signbit(T x)                                                     \
    {                                                                                              \
        return cushim_::negative(x);                                                               \
    }
CUSHIM_REST(float, f)
CUSHIM_REST(double, )

CUSHIM_NAME float fdividef(float x, float y)
{
    return cushim_::div(x, y);
}

/* For functions of one number: that of float, and that of double for whole numbers. */
namespace cushim_
{
template <bool Is, class T> struct only {
};
template <class T> struct only<true, T> {
    typedef T type;
};
/* double for a whole number; for two types that are neither both float nor both double. */
template <class T> struct of_whole : only<__is_integral(T), double> {
};
template <class T, class U>
struct of_mixed
    : only<__is_arithmetic(T) && __is_arithmetic(U) && (!__is_same(T, U) || __is_integral(T)),
           double> {
};
/* What x + y is. */
template <bool Is, class T, class U> struct sum_if {
};
template <class T, class U> struct sum_if<true, T, U> {
    typedef decltype(T() + U()) type;
};
template <class T, class U> struct of_sum : sum_if<__is_arithmetic(T) && __is_arithmetic(U), T, U> {
};
} // namespace cushim_

#define CUSHIM_WHOLE(name)                                                                         \
    template <class T> static inline __device__ typename cushim_::of_whole<T>::type name(T x)      \
    {                                                                                              \
        return name((double)x);                                                                    \
    }
#define CUSHIM_SHORT(name)                                                                         \
    static inline __device__ float name(float x)                                                   \
    {                                                                                              \
        return name##f(x);                                                                         \
    }                                                                                              \
    CUSHIM_WHOLE(name)
#define CUSHIM_PAIR(name)                                                                          \
    static inline __device__ float name(float x, float y)                                          \
    {                                                                                              \
        return name##f(x, y);                                                                      \
    }                                                                                              \
    template <class T, class U>                                                                    \
    static inline __device__ typename cushim_::of_mixed<T, U>::type name(T x, U y)                 \
    {                                                                                              \
        return name((double)x, (double)y);                                                         \
    }

CUSHIM_SHORT(sqrt)
CUSHIM_SHORT(rsqrt)
CUSHIM_SHORT(cbrt)
CUSHIM_SHORT(rcbrt)
CUSHIM_SHORT(fabs)
CUSHIM_SHORT(floor)
CUSHIM_SHORT(ceil)
CUSHIM_SHORT(trunc)
CUSHIM_SHORT(round)
CUSHIM_SHORT(rint)
CUSHIM_SHORT(nearbyint)
CUSHIM_SHORT(logb)
CUSHIM_SHORT(exp)
CUSHIM_SHORT(exp2)
CUSHIM_SHORT(exp10)
CUSHIM_SHORT(expm1)
CUSHIM_SHORT(log)
CUSHIM_SHORT(log2)
CUSHIM_SHORT(log10)
CUSHIM_SHORT(log1p)
CUSHIM_SHORT(sin)
CUSHIM_SHORT(cos)
CUSHIM_SHORT(tan)
CUSHIM_SHORT(sinpi)
CUSHIM_SHORT(cospi)
CUSHIM_SHORT(asin)
CUSHIM_SHORT(acos)
CUSHIM_SHORT(atan)
CUSHIM_SHORT(sinh)
CUSHIM_SHORT(cosh)
CUSHIM_SHORT(tanh)
CUSHIM_SHORT(asinh)
CUSHIM_SHORT(acosh)
CUSHIM_SHORT(atanh)
CUSHIM_PAIR(pow)
CUSHIM_PAIR(atan2)
CUSHIM_PAIR(hypot)
CUSHIM_PAIR(fmin)
CUSHIM_PAIR(fmax)
CUSHIM_PAIR(fdim)
CUSHIM_PAIR(fmod)
CUSHIM_PAIR(remainder)
CUSHIM_PAIR(copysign)
CUSHIM_PAIR(nextafter)

#define CUSHIM_FLOAT(result, name, parameters, arguments)                                          \
    static inline __device__ result name parameters                                                \
    {                                                                                              \
        return name##f arguments;                                                                  \
    }
CUSHIM_FLOAT(float, fma, (float x, float y, float z), (x, y, z))
CUSHIM_FLOAT(float, ldexp, (float x, int n), (x, n))
CUSHIM_FLOAT(float, scalbn, (float x, int n), (x, n))
CUSHIM_FLOAT(float, frexp, (float x, int *exponent), (x, exponent))
CUSHIM_FLOAT(float, modf, (float x, float *part), (x, part))
CUSHIM_FLOAT(float, remquo, (float x, float y, int *quotient), (x, y, quotient))
CUSHIM_FLOAT(void, sincos, (float x, float *sine, float *cosine), (x, sine, cosine))
CUSHIM_FLOAT(void, sincospi, (float x, float *sine, float *cosine), (x, sine, cosine))
/* Those that have no double form here: an error, not less accuracy. */
#define CUSHIM_FLOAT_ONLY(name)                                                                    \
    CUSHIM_FLOAT(float, name, (float x), (x))                                                      \
    __device__ double name(double) = delete;
CUSHIM_FLOAT_ONLY(erf)
CUSHIM_FLOAT_ONLY(erfc)
CUSHIM_FLOAT_ONLY(erfcx)
CUSHIM_FLOAT_ONLY(normcdf)
CUSHIM_FLOAT_ONLY(tgamma)
CUSHIM_FLOAT_ONLY(lgamma)
CUSHIM_FLOAT(int, ilogb, (float x), (x))
CUSHIM_FLOAT(long, lrint, (float x), (x))
CUSHIM_FLOAT(long, lround, (float x), (x))
CUSHIM_FLOAT(long long, llrint, (float x), (x))
CUSHIM_FLOAT(long long, llround, (float x), (x))

/* The instructions that approximate, by the names that CUDA gives them. */
#define CUSHIM_FAST(name, expression)                                                              \
    static inline __device__ float name(float x)                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }
CUSHIM_FAST(__sinf, __nvvm_sin_approx_f(x))
CUSHIM_FAST(__cosf, __nvvm_cos_approx_f(x))
CUSHIM_FAST(__tanf, __nvvm_sin_approx_f(x) / __nvvm_cos_approx_f(x))
CUSHIM_FAST(__expf, __nvvm_ex2_approx_f(cushim_::mul(x, 0x1.715476p+0f)))
CUSHIM_FAST(__exp10f, __nvvm_ex2_approx_f(cushim_::mul(x, 0x1.a934f0p+1f)))
CUSHIM_FAST(__log2f, __nvvm_lg2_approx_f(x))
CUSHIM_FAST(__logf, cushim_::mul(__nvvm_lg2_approx_f(x), 0x1.62e430p-1f))
CUSHIM_FAST(__log10f, cushim_::mul(__nvvm_lg2_approx_f(x), 0x1.344136p-2f))
CUSHIM_FAST(__frcp_rn, cushim_::div(1.0f, x))
CUSHIM_FAST(__fsqrt_rn, cushim_::root(x))
CUSHIM_FAST(__frsqrt_rn, (float)cushim_::div(1.0, cushim_::root((double)x)))
CUSHIM_FAST(__saturatef, x > 0 ? x < 1 ? x : 1.0f : 0.0f)

static inline __device__ void __sincosf(float x, float *sine, float *cosine)
{
    *sine = __sinf(x);
    *cosine = __cosf(x);
}

static inline __device__ float __powf(float x, float y)
{
    return __nvvm_ex2_approx_f(cushim_::mul(y, __nvvm_lg2_approx_f(x)));
}

static inline __device__ float __fdividef(float x, float y)
{
    return __nvvm_div_approx_f(x, y);
}

#define CUSHIM_ROUNDED(mode, nvvm)                                                                 \
    static inline __device__ float __fadd_##mode(float x, float y)                                 \
    {                                                                                              \
        return __nvvm_add_##nvvm##_f(x, y);                                                        \
    }                                                                                              \
    static inline __device__ float __fsub_##mode(float x, float y)                                 \
    {                                                                                              \
        return __nvvm_add_##nvvm##_f(x, -y);                                                       \
    }                                                                                              \
    static inline __device__ float __fmul_##mode(float x, float y)                                 \
    {                                                                                              \
        return __nvvm_mul_##nvvm##_f(x, y);                                                        \
    }                                                                                              \
    static inline __device__ float __fdiv_##mode(float x, float y)                                 \
    {                                                                                              \
        return __nvvm_div_##nvvm##_f(x, y);                                                        \
    }                                                                                              \
    static inline __device__ float __fmaf_##mode(float x, float y, float z)                        \
    {                                                                                              \
        return __nvvm_fma_##nvvm##_f(x, y, z);                                                     \
    }                                                                                              \
    static inline __device__ double __dadd_##mode(double x, double y)                              \
    {                                                                                              \
        return __nvvm_add_##nvvm##_d(x, y);                                                        \
    }                                                                                              \
    static inline __device__ double __dmul_##mode(double x, double y)                              \
    {                                                                                              \
        return __nvvm_mul_##nvvm##_d(x, y);                                                        \
    }                                                                                              \
    static inline __device__ double __fma_##mode(double x, double y, double z)                     \
    {                                                                                              \
        return __nvvm_fma_##nvvm##_d(x, y, z);                                                     \
    }
CUSHIM_ROUNDED(rn, rn)
CUSHIM_ROUNDED(rz, rz)
CUSHIM_ROUNDED(ru, rp)
CUSHIM_ROUNDED(rd, rm)

#endif
