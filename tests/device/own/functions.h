/* SPDX-License-Identifier: MIT */
/* The functions whose error is measured, and the most that docs/kernel-functions.md states of each:
 * in units of the last place (ulp) of the exact result. Read by the kernels and by the program. */
#ifndef TESTS_OWN_FUNCTIONS_H
#define TESTS_OWN_FUNCTIONS_H

/* Single precision: the name, the reference, the error. Of all floats. */
#define FLOAT_FUNCTIONS(ONE)                                                                       \
    ONE(expf, exp, 1.1)                                                                            \
    ONE(exp2f, exp2, 1.1)                                                                          \
    ONE(exp10f, exact_exp10, 1.1)                                                                  \
    ONE(expm1f, expm1, 0.51)                                                                       \
    ONE(logf, log, 1.1)                                                                            \
    ONE(log2f, log2, 1.3)                                                                          \
    ONE(log10f, log10, 1.3)                                                                        \
    ONE(log1pf, log1p, 0.51)                                                                       \
    ONE(sinf, sin, 1.7)                                                                            \
    ONE(cosf, cos, 1.7)                                                                            \
    ONE(tanf, tan, 4)                                                                              \
    ONE(sinpif, exact_sinpi, 1.7)                                                                  \
    ONE(cospif, exact_cospi, 1.7)                                                                  \
    ONE(asinf, asin, 2)                                                                            \
    ONE(acosf, acos, 1.2)                                                                          \
    ONE(atanf, atan, 1.5)                                                                          \
    ONE(sinhf, sinh, 0.51)                                                                         \
    ONE(coshf, cosh, 0.51)                                                                         \
    ONE(tanhf, tanh, 1.7)                                                                          \
    ONE(asinhf, asinh, 0.51)                                                                       \
    ONE(acoshf, acosh, 0.51)                                                                       \
    ONE(atanhf, atanh, 0.51)                                                                       \
    ONE(sqrtf, sqrt, 0.5)                                                                          \
    ONE(rsqrtf, exact_rsqrt, 1.5)                                                                  \
    ONE(cbrtf, cbrt, 0.51)                                                                         \
    ONE(rcbrtf, exact_rcbrt, 0.51)                                                                 \
    ONE(erff, erf, 0.6)                                                                            \
    ONE(erfcf, erfc, 0.51)                                                                         \
    ONE(normcdff, exact_normcdf, 0.51)                                                             \
    ONE(tgammaf, tgamma, 0.51)                                                                     \
    ONE(lgammaf, lgamma, 0.6)                                                                      \
    ONE(floorf, floor, 0)                                                                          \
    ONE(ceilf, ceil, 0)                                                                            \
    ONE(truncf, trunc, 0)                                                                          \
    ONE(roundf, round, 0)                                                                          \
    ONE(rintf, rint, 0)                                                                            \
    ONE(fabsf, fabs, 0)

/* Of two floats. */
#define PAIR_FUNCTIONS(TWO)                                                                        \
    TWO(powf, pow, 1.2)                                                                            \
    TWO(atan2f, atan2, 1.5)                                                                        \
    TWO(hypotf, hypot, 0.51)                                                                       \
    TWO(fmodf, fmod, 0)                                                                            \
    TWO(remainderf, remainder, 0)                                                                  \
    TWO(fdividef, exact_quotient, 0.5)                                                             \
    TWO(fminf, fmin, 0)                                                                            \
    TWO(fmaxf, fmax, 0)                                                                            \
    TWO(fdimf, fdim, 0.5)                                                                          \
    TWO(copysignf, copysign, 0)

/* Double precision: the name, the reference, the error, and between which numbers. */
#define DOUBLE_FUNCTIONS(ONE)                                                                      \
    ONE(exp, expl, 1.2, -745, 710)                                                                 \
    ONE(exp2, exp2l, 1.2, -1075, 1024)                                                             \
    ONE(exp10, exact_exp10l, 1.5, -323, 308.3)                                                     \
    ONE(expm1, expm1l, 2, -40, 709)                                                                \
    ONE(log, logl, 1.0, 0, 4)                                                                      \
    ONE(log2, log2l, 0.6, 0, 4)                                                                    \
    ONE(log10, log10l, 0.6, 0, 4)                                                                  \
    ONE(log1p, log1pl, 1.8, -1, 3)                                                                 \
    ONE(sin, sinl, 1.0, -1e300, 1e300)                                                             \
    ONE(cos, cosl, 1.0, -1e300, 1e300)                                                             \
    ONE(tan, tanl, 2.5, -1e300, 1e300)                                                             \
    ONE(asin, asinl, 3, -1, 1)                                                                     \
    ONE(acos, acosl, 3, -1, 1)                                                                     \
    ONE(atan, atanl, 1.8, -10, 10)                                                                 \
    ONE(sinh, sinhl, 3, -710, 710)                                                                 \
    ONE(cosh, coshl, 3, -710, 710)                                                                 \
    ONE(tanh, tanhl, 3, -20, 20)                                                                   \
    ONE(asinh, asinhl, 2.5, -10, 10)                                                               \
    ONE(acosh, acoshl, 3, 1, 10)                                                                   \
    ONE(atanh, atanhl, 2.5, -1, 1)                                                                 \
    ONE(sqrt, sqrtl, 0.5, 0, 1e300)                                                                \
    ONE(cbrt, cbrtl, 1.0, -1e300, 1e300)                                                           \
    ONE(rcbrt, exact_rcbrtl, 2, -1e300, 1e300)                                                     \
    ONE(rsqrt, exact_rsqrtl, 1.5, 0, 1e300)                                                        \
    ONE(sinpi, exact_sinpil, 1.0, -1000, 1000)                                                     \
    ONE(cospi, exact_cospil, 1.0, -1000, 1000)

/* The same of two numbers, both from this range. */
#define DOUBLE_PAIR_FUNCTIONS(TWO)                                                                 \
    TWO(pow, powl, 1.2, 0, 300)                                                                    \
    TWO(atan2, atan2l, 2.5, -10, 10)                                                               \
    TWO(hypot, hypotl, 1.5, -10, 10)

#endif
