/* SPDX-License-Identifier: MIT */
/* float minimum, maximum, signs and classes. */

#define TESTP(what, type, c, value)                                                                \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("{\n\t.reg .pred p;\n\ttestp." what "." type " p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}"   \
            : "=r"(r_)                                                                             \
            : c(value));                                                                           \
        r_;                                                                                        \
    })

KERNEL(f32_minmax)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1);
    const double d = DOUBLE(1);

    PUT(F2("min.f32", a, b));
    PUT(F2("max.f32", a, b));
    PUT(F2("min.ftz.f32", a, b));
    PUT(F2("max.ftz.f32", a, b));
    PUT(F1("abs.f32", a));
    PUT(F1("neg.f32", a));
    PUT(F1("abs.ftz.f32", a));
    PUT(F1("neg.ftz.f32", a));
    PUT(F2("copysign.f32", a, b));
    PUT(TESTP("finite", "f32", "f", a) | TESTP("infinite", "f32", "f", a) << 1 |
        TESTP("number", "f32", "f", a) << 2 | TESTP("notanumber", "f32", "f", a) << 3 |
        TESTP("normal", "f32", "f", a) << 4 | TESTP("subnormal", "f32", "f", a) << 5);
    PUT(TESTP("finite", "f64", "d", d) | TESTP("infinite", "f64", "d", d) << 1 |
        TESTP("number", "f64", "d", d) << 2 | TESTP("notanumber", "f64", "d", d) << 3 |
        TESTP("normal", "f64", "d", d) << 4 | TESTP("subnormal", "f64", "d", d) << 5);
    PUT(float_bits(a < b ? a : b));
    PUT(float_bits(a > b ? a : b));
    PUT(float_bits(a < 0.0f ? -a : a));
}
