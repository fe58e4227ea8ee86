/* SPDX-License-Identifier: MIT */
/* Comparisons of integers, predicates combined, and selection. */

/* setp with its two results, as bits 0 and 1. */
#define SETP(text, ca, a, cb, b, other)                                                            \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("{\n\t.reg .pred p, q, c;\n\t.reg .u32 t;\n\tsetp.ne.u32 c, %3, 0;\n\t" text           \
            ", %1, %2, c;\n\tselp.u32 %0, 1, 0, p;\n\tselp.u32 t, 2, 0, q;\n\t"                    \
            "or.b32 %0, %0, t;\n\t}"                                                               \
            : "=&r"(r_)                                                                            \
            : ca(a), cb(b), "r"(other));                                                           \
        r_;                                                                                        \
    })
#define SET(op, type, ca, a, cb, b)                                                                \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("set." op ".u32." type " %0, %1, %2;" : "=r"(r_) : ca(a), cb(b));                      \
        r_;                                                                                        \
    })
#define COMPARE(op, type, c, a, b) (SET(op, type, c, a, c, b) & 1u)

KERNEL(predicates)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), other = WORD(2) & 1;
    const u64 c = WIDE(2), d = WIDE(3) & 1 ? WIDE(2) : WIDE(3);
    const u16 e = HALF(2), f = HALF(3);

    PUT(COMPARE("eq", "s32", "r", a, b) | COMPARE("ne", "s32", "r", a, b) << 1 |
        COMPARE("lt", "s32", "r", a, b) << 2 | COMPARE("le", "s32", "r", a, b) << 3 |
        COMPARE("gt", "s32", "r", a, b) << 4 | COMPARE("ge", "s32", "r", a, b) << 5 |
        COMPARE("lo", "u32", "r", a, b) << 6 | COMPARE("ls", "u32", "r", a, b) << 7 |
        COMPARE("hi", "u32", "r", a, b) << 8 | COMPARE("hs", "u32", "r", a, b) << 9);
    PUT(COMPARE("eq", "u64", "l", c, d) | COMPARE("lt", "s64", "l", c, d) << 1 |
        COMPARE("le", "s64", "l", c, d) << 2 | COMPARE("gt", "u64", "l", c, d) << 3 |
        COMPARE("ge", "u64", "l", c, d) << 4 | COMPARE("ne", "b64", "l", c, d) << 5 |
        COMPARE("lt", "s16", "h", e, f) << 6 | COMPARE("ge", "u16", "h", e, f) << 7 |
        COMPARE("eq", "b16", "h", e, f) << 8);
    PUT(SET("lt", "s32", "r", a, "r", b));
    PUT(float_bits(ASM2("set.ge.f32.u32", float, "f", "r", a, "r", b)));
    PUT(SETP("setp.lt.and.s32 p|q", "r", a, "r", b, other));
    PUT(SETP("setp.ge.or.u32 p|q", "r", a, "r", b, other));
    PUT(SETP("setp.ne.xor.b32 p|q", "r", a, "r", b, other));
    PUT(SETP("setp.gt.xor.s64 p|q", "l", c, "l", d, other));
    PUT(({
        u32 r;
        asm("{\n\t.reg .pred p, q, s;\n\tsetp.lt.u32 p, %1, %2;\n\tsetp.eq.u32 q, %3, 0;\n\t"
            "setp.ge.and.s32 s, %2, %1, !q;\n\txor.pred p, p, s;\n\tnot.pred q, q;\n\t"
            "and.pred s, p, q;\n\tor.pred p, s, p;\n\tselp.b32 %0, %1, %2, p;\n\t"
            "@!s add.u32 %0, %0, 1;\n\t@q xor.b32 %0, %0, 0x55;\n\t}"
            : "=&r"(r)
            : "r"(a), "r"(b), "r"(other));
        r;
    }));
    PUT(ASM3("slct.u32.s32", u32, "r", "r", a, "r", b, "r", WORD(2)));
    PUT(ASM3("slct.b32.f32", u32, "r", "r", a, "r", b, "f", FLOAT(2)));
    PUT(ASM3("slct.ftz.s32.f32", u32, "r", "r", a, "r", b, "f", FLOAT(2)));
    PUT64(ASM3("slct.u64.s32", u64, "l", "l", c, "l", d, "r", WORD(2)));
    PUT((a < b) + 2u * (a == b) + 4u * ((s32)a <= (s32)b) + 8u * (c > d) + 16u * ((s64)c < (s64)d));
    PUT(a < b && (c == d || other) ? a : b);
    PUT(({
        u32 r;
        asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\tselp.u32 %0, %1, %2, p;\n\t}"
            : "=r"(r)
            : "r"(a), "r"(b), "r"(other));
        r;
    }));
}
