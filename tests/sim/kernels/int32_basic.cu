/* SPDX-License-Identifier: MIT */
/* 32-bit integers: what compilers make of C, and each instruction by name. */

KERNEL(int32_basic)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);

    PUT(a + b);
    PUT(a - b);
    PUT(a * b);
    PUT(a * b + c);
    PUT((u32)(((u64)a * b) >> 32));
    PUT((u32)(((s64)(s32)a * (s32)b) >> 32));
    PUT(R2("mul.hi.s32", a, b));
    PUT(R2("mul.hi.u32", a, b));
    PUT(R3("mad.lo.s32", a, b, c));
    PUT(R3("mad.lo.u32", a, b, c));
    PUT(R3("mad.hi.s32", a, b, c));
    PUT(R3("mad.hi.u32", a, b, c));
    PUT(R3("mad.hi.sat.s32", a, b, c));
    PUT(R3("sad.s32", a, b, c));
    PUT(R3("sad.u32", a, b, c));
    PUT(R1("abs.s32", a));
    PUT(R1("neg.s32", a));
    PUT(R2("min.s32", a, b));
    PUT(R2("max.s32", a, b));
    PUT(R2("min.u32", a, b));
    PUT(R2("max.u32", a, b));
    PUT(R2("add.sat.s32", a, b));
    PUT(R2("sub.sat.s32", a, b));
    PUT(R1("not.b32", a));
    PUT(R1("cnot.b32", a));
    PUT((s32)a < 0 ? 0u - a : a);
    PUT(a < b ? a : b);
    PUT((s32)a > (s32)b ? a : b);
    PUT((a & b) | (~a & c));
    PUT(a ^ b ^ c);
    PUT(a * 10u + b / 7u);
    PUT((u32)((s32)a / 16) + (u32)((s32)b % 32));
}
