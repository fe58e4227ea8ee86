/* SPDX-License-Identifier: MIT */
/* Comparisons of floating numbers, ordered and unordered. */

#define SET(op, type, c, a, b)                                                                     \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("set." op ".u32." type " %0, %1, %2;" : "=r"(r_) : c(a), c(b));                        \
        r_ & 1u;                                                                                   \
    })
#define HALF_SET(op, a, b)                                                                         \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("{\n\t.reg .pred p;\n\tsetp." op ".f16 p, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"       \
            : "=r"(r_)                                                                             \
            : "h"(a), "h"(b));                                                                     \
        r_;                                                                                        \
    })
#define ALL(type, c, a, b)                                                                         \
    PUT(SET("eq", type, c, a, b) | SET("ne", type, c, a, b) << 1 | SET("lt", type, c, a, b) << 2 | \
        SET("le", type, c, a, b) << 3 | SET("gt", type, c, a, b) << 4 |                            \
        SET("ge", type, c, a, b) << 5 | SET("equ", type, c, a, b) << 6 |                           \
        SET("neu", type, c, a, b) << 7 | SET("ltu", type, c, a, b) << 8 |                          \
        SET("leu", type, c, a, b) << 9 | SET("gtu", type, c, a, b) << 10 |                         \
        SET("geu", type, c, a, b) << 11 | SET("num", type, c, a, b) << 12 |                        \
        SET("nan", type, c, a, b) << 13)

KERNEL(predicates_float)
{
    ELEMENT
    const float a = FLOAT(0), b = WORD(7) & 1 ? FLOAT(1) : FLOAT(0);
    const double c = DOUBLE(1), d = WORD(7) & 2 ? DOUBLE(2) : DOUBLE(1);
    const u16 e = HALF(0), f = HALF(1);

    ALL("f32", "f", a, b);
    ALL("f64", "d", c, d);
    PUT(({
        u32 r;
        asm("{\n\t.reg .pred p, q;\n\t.reg .u32 t;\n\tsetp.lt.ftz.f32 p, %1, %2;\n\t"
            "setp.geu.and.f32 p|q, %1, %2, !p;\n\tselp.u32 %0, 1, 0, p;\n\tselp.u32 t, 2, 0, q;\n\t"
            "add.u32 %0, %0, t;\n\t}"
            : "=&r"(r)
            : "f"(a), "f"(b));
        r;
    }));
    PUT(HALF_SET("eq", e, f) | HALF_SET("ne", e, f) << 1 | HALF_SET("lt", e, f) << 2 |
        HALF_SET("le", e, f) << 3 | HALF_SET("gtu", e, f) << 4 | HALF_SET("geu", e, f) << 5 |
        HALF_SET("nan", e, f) << 6 | HALF_SET("num", e, f) << 7 | HALF_SET("neu.ftz", e, f) << 8);
    PUT(({
        u32 r;
        asm("{\n\t.reg .pred p, q;\n\t.reg .u32 t;\n\tsetp.lt.f16x2 p|q, %1, %2;\n\t"
            "selp.u32 %0, 1, 0, p;\n\tselp.u32 t, 2, 0, q;\n\tadd.u32 %0, %0, t;\n\t}"
            : "=&r"(r)
            : "r"(WORD(0)), "r"(WORD(1)));
        r;
    }));
    PUT(R2("set.ge.f16x2.f16x2", WORD(0), WORD(1)));
    PUT(R2("set.neu.ftz.f16x2.f16x2", WORD(0), WORD(1)));
    PUT(ASM2("set.lt.u32.f16", u32, "r", "h", e, "h", f));
    PUT(float_bits(ASM2("set.le.f32.f32", float, "f", "f", a, "f", b)));
    PUT(float_bits(ASM2("set.gt.ftz.f32.f32", float, "f", "f", a, "f", b)));
    PUT((a < b) + 2u * (a <= b) + 4u * (a == b) + 8u * (a != b) + 16u * !(a > b) + 32u * (c >= d) +
        64u * !(c < d));
}
