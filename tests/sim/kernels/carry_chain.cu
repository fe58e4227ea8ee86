/* SPDX-License-Identifier: MIT */
/* Carry and borrow from one instruction to the next: 128-bit sums and products. */

KERNEL(carry_chain)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2), d = WORD(3);
    const u64 e = WIDE(2), f = WIDE(3);
    u32 r0, r1, r2, r3;
    u64 w0, w1, w2;

    asm("add.cc.u32 %0, %4, %5;\n\taddc.cc.u32 %1, %6, %7;\n\taddc.cc.s32 %2, %4, %7;\n\t"
        "addc.u32 %3, %5, %6;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : "r"(a), "r"(b), "r"(c), "r"(d));
    PUT(r0);
    PUT(r1);
    PUT(r2);
    PUT(r3);
    asm("sub.cc.u32 %0, %4, %5;\n\tsubc.cc.u32 %1, %6, %7;\n\tsubc.cc.s32 %2, %4, %7;\n\t"
        "subc.u32 %3, %5, %6;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : "r"(a), "r"(b), "r"(c), "r"(d));
    PUT(r0);
    PUT(r1);
    PUT(r2);
    PUT(r3);
    /* (b:a) * (d:c), 128 bits of it. */
    asm("mul.lo.u32 %0, %4, %6;\n\tmul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\tmadc.hi.u32 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\tmadc.hi.cc.u32 %2, %5, %6, %2;\n\taddc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\tmadc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : "r"(a), "r"(b), "r"(c), "r"(d));
    PUT(r0);
    PUT(r1);
    PUT(r2);
    PUT(r3);
    asm("mad.hi.cc.s32 %0, %3, %4, %5;\n\tmadc.lo.cc.s32 %1, %4, %5, %3;\n\t"
        "madc.hi.s32 %2, %3, %5, %4;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2)
        : "r"(a), "r"(b), "r"(c));
    PUT(r0);
    PUT(r1);
    PUT(r2);
    asm("add.cc.u64 %0, %3, %4;\n\taddc.cc.u64 %1, %3, %3;\n\taddc.u64 %2, %4, 0;"
        : "=&l"(w0), "=&l"(w1), "=&l"(w2)
        : "l"(e), "l"(f));
    PUT64(w0);
    PUT64(w1);
    PUT64(w2);
    asm("sub.cc.u64 %0, %3, %4;\n\tsubc.cc.u64 %1, %4, %3;\n\tsubc.u64 %2, %4, 0;"
        : "=&l"(w0), "=&l"(w1), "=&l"(w2)
        : "l"(e), "l"(f));
    PUT64(w0);
    PUT64(w1);
    PUT64(w2);
    asm("mad.lo.cc.u64 %0, %2, %3, %2;\n\tmadc.hi.u64 %1, %2, %3, 0;"
        : "=&l"(w0), "=&l"(w1)
        : "l"(e), "l"(f));
    PUT64(w0);
    PUT64(w1);
}
