/* SPDX-License-Identifier: MIT */
/* Atomic sums of float and double: any bits on a word of its own, whole numbers on a common one. */

#define ATOM(op, type, c, address, value)                                                          \
    ({                                                                                             \
        type r_;                                                                                   \
        asm volatile("atom." op " %0, [%1], %2;" : "=" c(r_) : "l"(address), c(value) : "memory"); \
        r_;                                                                                        \
    })
#define RED(op, c, address, value)                                                                 \
    asm volatile("red." op " [%0], %1;" ::"l"(address), c(value) : "memory")

KERNEL(atomics_float)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1);
    const double c = DOUBLE(1), d = DOUBLE(2);
    float *cell = (float *)&out[12 * n + i], *common = (float *)&out[15 * n];
    double *wide = (double *)&out[13 * n] + i, *wide_common = (double *)&out[15 * n + 8];

    *cell = a;
    *wide = c;
    PUT(float_bits(ATOM("global.add.f32", float, "f", cell, b)));
    PUT(float_bits(*(volatile float *)cell));
    PUT(float_bits(ATOM("add.f32", float, "f", cell, 0.1f)));
    PUT(float_bits(ATOM("global.exch.b32", float, "f", cell, b)));
    RED("global.add.f32", "f", cell, 1.0f);
    PUT64(double_bits(ATOM("global.add.f64", double, "d", wide, d)));
    PUT64(double_bits(ATOM("add.f64", double, "d", wide, 0.1)));
    RED("global.add.f64", "d", wide, 3.0);
    PUT64(double_bits(*(volatile double *)wide));
    RED("global.add.f32", "f", common, (float)(s32)(WORD(7) & 0xff) - 100.0f);
    ATOM("global.add.f32", float, "f", common + 1, (float)(WORD(6) & 0xf));
    RED("global.add.f64", "d", wide_common, (double)(s32)WORD(7));
    ATOM("global.add.f64", double, "d", wide_common + 1, (double)(WORD(6) & 0xffff));
}
